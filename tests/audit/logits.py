"""Softmax regressions and softmax nodes, with rare classes and rows of very different weights."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from tests.audit.family import AuditFamily
from tests.audit.multinomial import moved_weight, newton_decrement, perturb_by
from tests.audit.tables import weights_of

import suffice as sf
from suffice.certify.claim import Claim
from suffice.models.cpds import nodes_of
from suffice.models.cpds.softmax import SoftmaxCPD
from suffice.priors.penalty import Gaussian, Laplace
from suffice.stats.needs import Distinct


def draw_inputs(rng: np.random.Generator, k: int, collinear: float = 0.2) -> tuple[Any, Any, Any]:
    """Draw inputs, classes and weights; every class stands with every input, so that optima exist, at times rarely."""
    n, t = int(rng.integers(2, 6)), int(rng.integers(1, 3))
    x = rng.normal(size=(n, t)).round(2) if rng.random() < 0.5 else rng.integers(-2, 3, (n, t)).astype(float)
    if rng.random() < collinear and t > 1:
        x[:, 1] = x[:, 0] + 1e-4 * x[:, 1]  # nearly collinear
    if rng.random() < 0.2:
        x[:, 0] += 100
    scores = rng.normal(size=(n, k)) + rng.normal(size=k) * rng.choice([1, 5])
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    w = np.maximum(np.rint(p * weights_of(rng, n)[:, None]), 1.0).reshape(-1)
    return np.repeat(x, k, axis=0), np.tile(np.arange(k), n), w


def draw_regression(rng: np.random.Generator, penalty: str | None) -> Callable[[], Any]:
    """Draw a softmax regression; under L1 without inputs that are nearly collinear, of which searches make little."""
    k, collinear = int(rng.integers(2, 5)), 0.0 if penalty == "l1" else 0.2
    x, y, w = draw_inputs(rng, k, collinear)
    while np.linalg.matrix_rank(x - x.mean(axis=0), tol=1e-6) < x.shape[1]:
        x, y, w = draw_inputs(rng, k, collinear)
    shell = sf.SoftmaxRegression(penalty, strength=float(10 ** rng.uniform(-3, 2)), tol=float(rng.choice([1e-8, 1e-5])))
    return partial(shell.fit, x, y, sample_weight=w)


def regression_weights(model: Any) -> Any:
    """Return intercepts and weights."""
    return np.concatenate([model.intercept[None], model.weights])


def with_regression_weights(model: Any, weights: Any) -> Any:
    """Return the model with other parameters."""
    return dataclasses.replace(model, intercept=weights[0], weights=weights[1:], information=None)


def logit_cases(x: Any, y: Any, w: Any, k: int) -> Iterator[tuple[Any, Any]]:
    """Yield one case a row: the features of the classes, a column a term and a class, and the class seen."""
    for row, own, weight in zip(np.concatenate([np.ones((len(x), 1)), x], axis=1), y, w, strict=True):
        features = np.zeros((k, len(row), k))
        features[np.arange(k), :, np.arange(k)] = row
        yield features.reshape(k, -1), weight * (np.arange(k) == own)


def regression_cases(claim: Claim) -> Iterator[tuple[Any, Any]]:
    """Yield the cases of a claim."""
    model = claim.model
    blocks = list(claim.source.each(lambda block: block))  # type: ignore[union-attr]
    columns = [np.concatenate([np.asarray(block.columns[v.name], float) for block in blocks]) for v in model.inputs]
    x = np.stack(columns, axis=1) - [model.centre.get(v.name, 0.0) for v in model.inputs]
    y = np.concatenate([block.columns[model.target.name] for block in blocks])
    w = np.concatenate([np.ones(block.n_rows) if block.weights is None else block.weights for block in blocks])
    return logit_cases(x, y, np.asarray(w, float), model.target.n_states)


def cost_of_regression(claim: Claim, model: Any) -> float:
    """Return the decrement of a softmax regression, term by term and class by class."""
    free = (np.arange(1 + len(model.weights)) > 0)[:, None] * np.ones(model.target.n_states)
    ridge = free.reshape(-1) / claim.prior.width**2 if isinstance(claim.prior, Gaussian) else 0.0
    price = free.reshape(-1) / claim.prior.width if isinstance(claim.prior, Laplace) else 0.0
    return newton_decrement(regression_cases(claim), regression_weights(model).reshape(-1), ridge=ridge, price=price)


# Nodes --------------------------------------------------------------------------------------------------------


def draw_node(rng: np.random.Generator, prior: bool) -> Callable[[], Any]:
    """Draw a node with a discrete and continuous parents."""
    k = int(rng.integers(2, 4))
    x, y, w = draw_inputs(rng, k)
    while np.linalg.matrix_rank(x - x.mean(axis=0), tol=1e-6) < x.shape[1]:
        x, y, w = draw_inputs(rng, k)
    both = rng.random() < 0.5
    data: dict[str, Any] = {f"x{j}": np.tile(column, 1 + both) for j, column in enumerate(x.T)}
    data["y"] = np.tile(np.array(list("abc"))[y], 1 + both).tolist()
    parents = list(data)[:-1]
    if both:
        data["d"] = ["p"] * len(y) + ["q"] * len(y)
        parents.append("d")
        w = np.concatenate([w, w[rng.permutation(len(w))]])
    kinds = {"y": {"tied": "slopes"}} if both and rng.random() < 0.5 else None
    keywords: dict[str, Any] = {"weights": w}
    if prior:
        own = sf.Gaussian(float(10 ** rng.uniform(-1, 2)), main=float(rng.choice([1.0, 10.0])))
        keywords |= {"prior": [sf.Dirichlet(2.0), sf.NormalInverseGamma(2.0, 1.0), own], "point": "map"}
    schema = {f"x{j}": sf.continuous() for j in range(x.shape[1])}
    dag = sf.DAG({"y": parents}, kinds=kinds)
    return partial(sf.fit, dag, data, schema=schema, fixed=_given(parents), **keywords)


def _given(parents: list[str]) -> dict[str, Any]:
    return {name: [0.5, 0.5] if name == "d" else {"intercept": 0.0, "sd": 1.0} for name in parents}


def _is_tied(claim: Claim) -> bool:
    kind: Any = nodes_of(claim.structure, claim.statistics.schema)["y"][0]
    return bool(kind.tied == "slopes")


def perturb_node(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change one intercept or coefficient; where slopes are tied, of all configurations."""
    cpd = claim.model.cpd("y")
    tied = _is_tied(claim)
    intercept, slopes = np.array(cpd.intercept), np.array(cpd.coefficients)
    if rng.random() < 0.5:
        intercept, said = moved_weight(rng, intercept)
    else:
        row, said = moved_weight(rng, slopes[0] if tied else slopes)
        slopes = np.broadcast_to(row, slopes.shape) if tied else row
    moved = SoftmaxCPD(cpd.family, intercept, slopes)
    cpds = {name: moved if name == "y" else claim.model.cpd(name) for name in claim.model.variables}
    return sf.BayesianNetwork(claim.model.dag, cpds), said


def cost_of_node(claim: Claim, model: Any) -> float:
    """Return the decrement of a node's regressions."""
    cpd = model.cpd("y")
    rows = claim.statistics[Distinct(cpd.family.scope)]
    held = {v.name: column for v, column in zip(rows.variables, rows.columns, strict=True)}
    x = np.stack([held[v.name] for v in cpd.family.continuous], axis=1).astype(float)
    group = held["d"].astype(int) if "d" in held else np.zeros(len(x), int)
    k, g = cpd.family.child.n_states, len(cpd.intercept)
    tied = _is_tied(claim)
    own = None if claim.prior is None else claim.prior.priors[-1]
    width, main = (math.inf, math.inf) if own is None else (own.width, own.main)
    total = 0.0
    for numbers in [list(range(g))] if tied else [[number] for number in range(g)]:
        here = np.isin(group, numbers)
        start = (group[here][:, None] == numbers).astype(float)
        cases = list(_node_cases(np.concatenate([start, x[here]], axis=1), held["y"][here], rows.weights[here], k))
        a, b = cpd.intercept[numbers].T, cpd.coefficients[numbers[0]]
        theta = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)], axis=1).T
        ridge = np.array([1 / main**2] * len(numbers) + [1 / width**2] * x.shape[1])[:, None] * np.ones(k)
        total += newton_decrement(cases, theta.reshape(-1), ridge=ridge.reshape(-1))
    return total


def _node_cases(terms: Any, y: Any, w: Any, k: int) -> Iterator[tuple[Any, Any]]:
    for row, own, weight in zip(terms, y, w, strict=True):
        features = np.zeros((k, len(row), k))
        features[np.arange(k), :, np.arange(k)] = row
        yield features.reshape(k, -1), weight * (np.arange(k) == own)


MOVE = perturb_by(regression_weights, with_regression_weights)
SHIFT = perturb_by(regression_weights, with_regression_weights, regression_cases)
LOGITS = (
    AuditFamily("softmax regression", partial(draw_regression, penalty=None), MOVE, cost_of_regression),
    AuditFamily("softmax regression, L2", partial(draw_regression, penalty="l2"), MOVE, cost_of_regression),
    AuditFamily("softmax regression, L1", partial(draw_regression, penalty="l1"), SHIFT, cost_of_regression),
    AuditFamily("softmax nodes", partial(draw_node, prior=False), perturb_node, cost_of_node),
    AuditFamily("softmax nodes, posterior mode", partial(draw_node, prior=True), perturb_node, cost_of_node),
)
