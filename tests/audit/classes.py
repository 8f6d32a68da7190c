"""Chains and classifiers with closed forms: Markov chains, naive Bayes, joint tables and normal classes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from tests.audit.exact import (
    decimal,
    difference,
    exact,
    inverse_and_determinant,
    log_of,
    normal_objective,
    row_cost,
    row_deviation,
)
from tests.audit.family import AuditFamily
from tests.audit.regressions import numbers, shifted, squares_of
from tests.audit.tables import move_row, weights_of

import suffice as sf
from suffice.certify.claim import Claim
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.naive_parts import parts_of
from suffice.stats.needs import Count, Moment
from suffice.structures.class_gaussian import ClassGaussian
from suffice.structures.joint_classes import JointClasses
from suffice.structures.naive import Naive


def with_alpha(claim: Claim, family: NodeFamily, counts: Any) -> Any:
    """Add what a Dirichlet prior adds to counts."""
    priors = () if claim.prior is None else getattr(claim.prior, "priors", (claim.prior,))
    mine = next((prior for prior in priors if "tabular" in prior.kinds), None)
    if mine is None:
        return counts
    return counts + np.broadcast_to(np.asarray(mine.alpha(family)), counts.shape) - (claim.point == "map")


def cost_of_rows(claim: Claim, counts: Any, rows: Any) -> float:
    """Return nats of all rows of a table, or the largest number of standard deviations."""
    costs = [(row_deviation if claim.point == "mean" else row_cost)(m, p) for m, p in zip(counts, rows, strict=True)]
    return max(costs) if claim.point == "mean" else sum(costs)


def under(rng: np.random.Generator, point: str) -> dict[str, Any]:
    """Draw a prior on tables for an estimate."""
    return {} if point == "mle" else {"prior": sf.Dirichlet(float(rng.choice([1.5, 2.0, 5.0]))), "point": point}


# Markov chains ------------------------------------------------------------------------------------------------


def draw_chain(rng: np.random.Generator, point: str) -> Callable[[], Any]:
    """Draw weighted sequences of three symbols, one of which is rare."""
    sequences = [
        rng.choice(list("abc"), int(rng.integers(20, 60)), p=[0.5, 0.4, 0.1]).tolist()
        for _ in range(int(rng.integers(2, 6)))
    ]
    structure = sf.MarkovChain(int(rng.integers(1, 3)))
    keywords = {"weights": weights_of(rng, len(sequences)), "unseen_parents": "uniform"}
    return partial(sf.fit, structure, sequences, **keywords, **under(rng, point))


def perturb_chain(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change one probability of one of the tables."""
    tables = list(claim.model.tables)
    place = int(rng.integers(len(tables)))
    table = tables[place]
    row = int(rng.integers(len(table.values)))
    moved = move_row(rng, table.values[row])
    if moved is None:
        return None
    values = np.array(table.values)
    values[row] = moved
    tables[place] = TabularCPD(table.family, values, table.configurations, table.default_row)
    said = f"{table.title}, row {row}: {table.values[row]} to {moved}"
    return dataclasses.replace(claim.model, tables=tuple(tables)), said


def cost_of_chain(claim: Claim, model: Any) -> float:
    """Count windows again by their depth, and compare every row of every table."""
    counts = next(claim.statistics[need] for need in claim.statistics if isinstance(need, Count))
    symbols = [str(label) for label in model.variable.labels]
    columns, m = counts.columns()
    labels = [[str(v.labels[code]) for code in column] for v, column in zip(counts.variables, columns, strict=True)]
    costs = []
    for known, table in enumerate(model.tables):
        k = len(symbols)
        total = np.zeros((k**known, k))
        for *past, now, weight in zip(*labels, m, strict=True):
            seen = [symbol for symbol in past if symbol in symbols]
            if len(seen) == known:
                row = 0
                for symbol in seen:
                    row = row * k + symbols.index(symbol)
                total[row, symbols.index(now)] += weight
        costs.append(cost_of_rows(claim, with_alpha(claim, table.family, total), table.values.reshape(-1, k)))
    return max(costs) if claim.point == "mean" else sum(costs)


# Class probabilities ------------------------------------------------------------------------------------------


def moved_classes(rng: np.random.Generator, model: Any) -> tuple[Any, str] | None:
    """Change one class probability."""
    moved = move_row(rng, model.class_prior)
    said = f"the class probabilities {model.class_prior} to {moved}"
    return None if moved is None else (dataclasses.replace(model, class_prior=moved), said)


# Naive Bayes --------------------------------------------------------------------------------------------------


def draw_naive(rng: np.random.Generator) -> Callable[[], Any]:
    """Draw a class, some of whose values are rare, and columns of three kinds."""
    n = int(rng.integers(30, 60))
    y = rng.choice(list("pqr"), n, p=[0.6, 0.3, 0.1])
    y[:9] = list("pqr" * 3)
    data = {"y": y.tolist(), "c": rng.choice(list("st"), n).tolist(), "d": rng.choice(list("uvw"), n).tolist()}
    data |= {"x": numbers(rng, n)[0], "z": numbers(rng, n)[0]}
    structure = Naive("y", ["c", "d", "x", "z"], kinds={"z": "tied_gaussian"}, divisor=str(rng.choice(["n", "n-1"])))
    return partial(sf.fit, structure, data, weights=weights_of(rng, n))


def perturb_naive(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change a class probability, a probability of a column, a mean or a variance."""
    model, place = claim.model, int(rng.integers(5))
    if place == 4:
        return moved_classes(rng, model)
    cpd = model.cpds[place]
    if isinstance(cpd, TabularCPD):
        values, row = np.array(cpd.values), int(rng.integers(3))
        moved = move_row(rng, values[row])
        if moved is None:
            return None
        values[row] = moved
        other: Any = TabularCPD(cpd.family, values)
    else:
        a, v, row = np.array(cpd.intercept), np.array(cpd.variance), int(rng.integers(3))
        if rng.random() < 0.5:
            a[row] = shifted(rng, a[row], math.sqrt(v[row]))
        else:
            v[slice(None) if place == 3 else row] *= math.exp(shifted(rng, 0.0, 1.0))
        other = LinearGaussianCPD(cpd.family, a, cpd.coefficients, v)
    cpds = tuple(other if at == place else one for at, one in enumerate(model.cpds))
    return dataclasses.replace(model, cpds=cpds), f"{cpd.to_dict()} to {other.to_dict()}"


def cost_of_naive(claim: Claim, model: Any) -> float:
    """Add up the costs of the class and of all columns."""
    m = np.asarray(claim.statistics[Count(("y",))].table(), np.float64)
    total = row_cost(m, model.class_prior)
    for name, part in parts_of(claim.structure, claim.statistics.schema).items():
        cpd, statistic = model.cpd(name), part.statistic(claim.statistics)
        if isinstance(cpd, TabularCPD):
            counts = np.asarray(statistic.table(), np.float64)
            total += sum(row_cost(row, p) for row, p in zip(counts, cpd.values, strict=True))
            continue
        spent = Fraction(0 if claim.structure.divisor == "n" else 1)

        def objective(one: Any, statistic: Any = statistic, spent: Fraction = spent) -> Decimal:
            rows = [(Fraction(float(one.variance[row])), n, q) for row, n, q in squares_of(one, statistic)]
            return -sum(((decimal(n - spent) * log_of(v) + decimal(q / v)) / 2 for v, n, q in rows), Decimal(0))

        total += difference(objective, claim.model.cpd(name), cpd)
    return total


# Joint tables of inputs ---------------------------------------------------------------------------------------


def draw_joint(rng: np.random.Generator, point: str) -> Callable[[], Any]:
    """Draw a class and two inputs."""
    n = int(rng.integers(15, 40))
    data = {"a": rng.choice(list("uv"), n), "b": rng.choice(list("rst"), n), "y": rng.choice(list("pq"), n)}
    listed = {name: column.tolist() for name, column in data.items()}
    schema = {"a": ["u", "v"], "b": ["r", "s", "t"], "y": ["p", "q"]}
    return partial(
        sf.fit, JointClasses("y", ("a", "b")), listed, schema=schema, weights=weights_of(rng, n), **under(rng, point)
    )


def perturb_joint(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change one probability of a configuration given a class, or a class probability."""
    model = claim.model
    if rng.random() < 0.2:
        return moved_classes(rng, model)
    code, values = int(rng.integers(2)), np.array(model.values)
    moved = move_row(rng, values[:, code])
    if moved is None:
        return None
    values[:, code] = moved
    return dataclasses.replace(model, values=values), f"class {code}: {model.values[:, code]} to {moved}"


def cost_of_joint(claim: Claim, model: Any) -> float:
    """Compare every class's table with its counts, and the class probabilities with theirs."""
    counts = np.asarray(claim.statistics[Count(("a", "b", "y"))].table(), np.float64).reshape(-1, 2)
    classes = row_cost(counts.sum(axis=0), model.class_prior)
    extra = 0.0
    if claim.prior is not None:
        extra = float(np.asarray(claim.prior.alpha(NodeFamily(model.target))).reshape(-1)[0]) - (claim.point == "map")
    tables = cost_of_rows(claim, (counts + extra).T, model.values.T)
    if claim.point != "mean":
        return classes + tables
    return max(tables, math.inf if classes > 1e-3 else 0.0)


# Normal classes -----------------------------------------------------------------------------------------------

FORMS = ("full", "tied", "diagonal", "tied_diagonal", "spherical", "tied_spherical", "graph")


def draw_normal_classes(rng: np.random.Generator) -> Callable[[], Any]:
    """Draw two classes, one of them rare, with correlated inputs that may lie far from zero."""
    n = int(rng.integers(40, 80))
    y = np.array(["p"] * (n - 12) + ["q"] * 12)
    x = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)) + (y == "q")[:, None]
    x = (x + rng.choice([0.0, 1e3, 1e6]) * rng.normal(size=3)) * 10.0 ** rng.uniform(-3, 3, 3)
    form = FORMS[rng.integers(len(FORMS))]
    options: dict[str, Any] = {"covariance": form}
    if form == "graph":
        options = {"covariance": "sparse", "graph": "a:b + b:c"}
    options["divisor"] = str(rng.choice(["n", "n-1"])) if form != "graph" else "n"
    structure = ClassGaussian("y", list("abc"), **options)
    data = {"y": y.tolist(), **{name: x[:, place] for place, name in enumerate("abc")}}
    return partial(sf.fit, structure, data, weights=weights_of(rng, n))


def perturb_normal_classes(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change a class probability, a mean, or an entry of a covariance or precision matrix."""
    model, way = claim.model, rng.random()
    if way < 0.2:
        return moved_classes(rng, model)
    if way < 0.5:
        means, at = np.array(model.means), (int(rng.integers(2)), int(rng.integers(3)))
        spread = model.spread[min(at[0], len(model.spread) - 1)]
        variance = spread[at[1], at[1]] if np.ndim(spread) == 2 else np.broadcast_to(spread, 3)[at[1]]
        means[at] = shifted(rng, means[at], math.sqrt(float(variance)))
        return dataclasses.replace(model, means=means), f"mean {at}: {model.means[at]} to {means[at]}"
    spread = np.array(model.spread)
    group = int(rng.integers(len(spread)))
    if model.precisions is not None:
        k = np.array(model.precisions)
        i, j = [(0, 0), (1, 1), (0, 1), (1, 2)][rng.integers(4)]
        k[group, i, j] = k[group, j, i] = shifted(rng, k[group, i, j], math.sqrt(k[group, i, i] * k[group, j, j]))
        if np.linalg.eigvalsh(k[group])[0] <= 0:
            return None
        spread[group] = np.linalg.inv(k[group])
        said = f"precision {group, i, j}: {model.precisions[group, i, j]} to {k[group, i, j]}"
        return dataclasses.replace(model, precisions=k, spread=spread), said
    before = spread[group].copy()
    if np.ndim(spread[group]) == 2:
        i, j = sorted(rng.integers(3, size=2).tolist())
        size = math.sqrt(before[i, i] * before[j, j])
        spread[group, i, j] = spread[group, j, i] = shifted(rng, before[i, j], size)
        roots = np.sqrt(np.abs(np.diag(spread[group]))) + 1e-300
        if np.linalg.eigvalsh(spread[group] / np.outer(roots, roots))[0] <= 1e-6:
            return None
    else:
        at = int(rng.integers(max(np.size(before), 1)))
        spread[group].reshape(-1)[at] *= math.exp(shifted(rng, 0.0, 1.0))
        if np.ndim(before) == 0:
            spread[group] = before * math.exp(shifted(rng, 0.0, 1.0))
    return dataclasses.replace(model, spread=spread), f"group {group}: {before} to {spread[group]}"


def cost_of_normal_classes(claim: Claim, model: Any) -> float:
    """Return the fall of the log-likelihood, with rows less those lost to means where covariances are unbiased."""
    moments = claim.statistics[Moment(("a", "b", "c"), by=("y",))]
    structure = claim.structure

    def objective(one: Any) -> Decimal:
        total = Decimal(0)
        for code in range(2):
            n = Fraction(float(moments.weight[code]))
            off = exact(moments.mean[code]) + exact(moments.rest[code]) - exact(one.means[code])
            spread = one.spread[min(code, len(one.spread) - 1)]
            matrix = exact(spread if np.ndim(spread) == 2 else np.eye(3) * spread)
            power = n - (0 if structure.divisor == "n" else 1)
            if one.precisions is not None:
                matrix = inverse_and_determinant(exact(one.precisions[code]))[0]
            total += normal_objective(power, exact(moments.scatter[code]) + n * np.outer(off, off), matrix)
        return total

    return row_cost(moments.weight, model.class_prior) + difference(objective, claim.model, model)


CLASSES = (
    AuditFamily("Markov chains", partial(draw_chain, point="mle"), perturb_chain, cost_of_chain),
    AuditFamily("Markov chains, posterior mean", partial(draw_chain, point="mean"), perturb_chain, cost_of_chain),
    AuditFamily("naive Bayes", draw_naive, perturb_naive, cost_of_naive),
    AuditFamily("joint classes", partial(draw_joint, point="mle"), perturb_joint, cost_of_joint),
    AuditFamily("joint classes, posterior mode", partial(draw_joint, point="map"), perturb_joint, cost_of_joint),
    AuditFamily("joint classes, posterior mean", partial(draw_joint, point="mean"), perturb_joint, cost_of_joint),
    AuditFamily("normal classes", draw_normal_classes, perturb_normal_classes, cost_of_normal_classes),
)
