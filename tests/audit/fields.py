"""Markov random fields, log-linear features, Ising and Potts models: joint, conditional and by pseudo-likelihood."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from tests.audit.family import AuditFamily
from tests.audit.multinomial import moved_weight, newton_decrement, perturb_by

import suffice as sf
from suffice.certify.claim import Claim
from suffice.priors.penalty import Gaussian, Laplace
from suffice.stats.needs import Count, Distinct
from suffice.structures.feature_rules import main_effects

STATES = {"A": "xyz", "B": "uv", "C": "pqr", "D": "uv"}
ZERO = 1e-8
"""Interactions smaller than this are at the kink."""
CYCLE, CHAIN = "A:B + B:C + C:D + D:A", "A:B:C + C:D"


def draw_counts(rng: np.random.Generator, states: dict[str, str]) -> tuple[dict[str, list[str]], Any]:
    """Draw a positive count of every configuration, from one to about 10¹²."""
    cells = list(itertools.product(*states.values()))
    spread = [rng.normal(size=len(cells)), rng.normal(size=len(cells)) * 4][rng.integers(2)]
    for axis, labels in enumerate(states.values()):  # some states are rare
        rare = rng.normal(size=len(labels)) * 4
        spread = spread + [rare[labels.index(cell[axis])] for cell in cells]
    share = np.exp(spread - spread.max())
    w = np.maximum(np.rint(share * 10.0 ** rng.uniform(1, 12)), 1.0)
    return {name: [cell[axis] for cell in cells] for axis, name in enumerate(states)}, w


def prior_of(rng: np.random.Generator, kind: str | None) -> dict[str, Any]:
    """Return a prior of some width, if any."""
    width = float(10 ** rng.uniform(-1, 2))
    return {} if kind is None else {"prior": (sf.Gaussian if kind == "Gaussian" else sf.Laplace)(width)}


# Cliques ------------------------------------------------------------------------------------------------------


def draw_cliques(rng: np.random.Generator, text: str, kind: str | None) -> Callable[[], Any]:
    """Draw a Markov random field."""
    states = dict.fromkeys(STATES, "uv") if kind == "Laplace" else STATES
    data, w = draw_counts(rng, states)
    return partial(sf.fit, sf.Cliques(text), data, weights=w, max_iter=20_000, **prior_of(rng, kind))


def perturb_cliques(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Multiply one potential by a random factor."""
    tables = [(factor.names, np.array(factor.values)) for factor in claim.model.factors]
    number = int(rng.integers(len(tables)))
    moved, said = moved_weight(rng, np.log(tables[number][1]))
    tables[number] = (tables[number][0], np.exp(moved))
    return sf.MarkovNetwork(tables, schema=claim.model.schema), f"table {number}, {said}"


def _contrasts(n: int) -> Any:
    """Return an orthonormal basis of the vectors that sum to zero; shape (n, n − 1)."""
    return np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]


def cost_of_cliques(claim: Claim, model: Any) -> float:
    """Return the decrement by the interactions, from the joint table; priors are on those that sum to zero.

    Between two states each, Σ |u| over the cells of a term of n variables is √2ⁿ times its one coordinate.
    """
    names = claim.structure.variables
    sizes = [claim.statistics.schema[name].n_states for name in names]
    terms = {term for clique in claim.structure.cliques for n in range(1, len(clique) + 1)
             for term in itertools.combinations([name for name in names if name in clique], n)}  # fmt: skip
    columns, ridge, price = [], [], []
    for term in sorted(terms, key=lambda term: (len(term), term)):
        part = np.ones((1, 1))
        for name, size in zip(names, sizes, strict=True):
            part = np.kron(part, _contrasts(size) if name in term else np.ones((size, 1)))
        columns.append(part)
        ridge += [1 / claim.prior.width**2 if isinstance(claim.prior, Gaussian) else 0.0] * part.shape[1]
        price += [2 ** (len(term) / 2) / claim.prior.width if isinstance(claim.prior, Laplace) else 0.0] * part.shape[1]
    features = np.concatenate(columns, axis=1)
    log_p = sum(np.log(factor.values.transpose(np.argsort([names.index(n) for n in factor.names])))
                .reshape([s if n in factor.names else 1 for n, s in zip(names, sizes, strict=True)])
                for factor in model.factors).reshape(-1)  # fmt: skip
    theta = np.linalg.lstsq(np.column_stack([features, np.ones(len(features))]), log_p, rcond=None)[0][:-1]
    counts = np.asarray(claim.statistics[Count(names)].table(), np.float64).reshape(-1)
    theta = np.where((np.array(price) > 0) & (np.abs(theta) < ZERO), 0.0, theta)
    return newton_decrement([(features, counts)], theta, ridge=np.array(ridge), price=np.array(price))


# Features -----------------------------------------------------------------------------------------------------


FEATURES = [
    sf.Features(
        [sf.indicators("A", reference=True), sf.indicators("B", "C", reference=True), sf.indicator(A="x", D="u")]
    ),
    sf.Features([sf.indicator(A="x"), sf.indicator(B="u"), sf.indicator(A="y", B="v"), sf.indicators("C", "D")]),
    sf.Potts("B:D", tie="fields"),
    sf.Ising("B:D"),
]
GIVEN = sf.Features(
    [sf.indicator(B="u"), sf.product("x", sf.indicator(B="u")), sf.indicator(C="p"), sf.indicator(B="u", C="q")],
    given=["x"],
)


def draw_features(rng: np.random.Generator, kind: str | None, method: str = "auto") -> Callable[[], Any]:
    """Draw a log-linear model."""
    structure = FEATURES[rng.integers(len(FEATURES))]
    data, w = draw_counts(rng, {name: STATES[name] for name in structure.variables})
    more = {} if kind == "Laplace" and method == "auto" else {"method": method}
    return partial(sf.fit, structure, data, weights=w, max_iter=20_000, **more, **prior_of(rng, kind))


def draw_given(rng: np.random.Generator, kind: str | None) -> Callable[[], Any]:
    """Draw a conditional log-linear model, every outcome standing with every input."""
    x = rng.normal(size=int(rng.integers(2, 5))).round(2)
    parts = [draw_counts(rng, {"B": "uv", "C": "pqr"}) for _ in x]
    data = {name: [state for part, _ in parts for state in part[name]] for name in ("B", "C")}
    data["x"] = np.repeat(x, 6)
    w = np.concatenate([weights for _, weights in parts])
    return partial(
        sf.fit, GIVEN, data, weights=w, max_iter=20_000, schema={"x": sf.continuous()}, **prior_of(rng, kind)
    )


def feature_weights(model: Any) -> Any:
    """Return the weights."""
    return model.weights.to_numpy()


def with_feature_weights(model: Any, weights: Any) -> Any:
    """Return the model with other weights."""
    if isinstance(model, sf.ConditionalLogLinear):
        return type(model)(model.features, weights, schema=model.schema)
    return type(model)(model.features, weights, schema=model.schema, base=model.base, support=model.support)


def _rows(claim: Claim, names: tuple[str, ...]) -> tuple[dict[str, Any], Any]:
    """Return the distinct rows and their weights."""
    need = Distinct(names)
    if need in claim.statistics:
        rows = claim.statistics[need]
        return {v.name: column for v, column in zip(rows.variables, rows.columns, strict=True)}, rows.weights
    table = np.asarray(claim.statistics[Count(names)].table(), np.float64)
    return dict(zip(names, np.indices(table.shape).reshape(table.ndim, -1), strict=True)), table.reshape(-1)


def cases_of(claim: Claim, features: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the outcomes of all variables, or of one given the others, with the features' values."""
    structure, schema = claim.structure, claim.statistics.schema
    columns, weights = _rows(claim, structure.columns)
    free = [(name,) for name in structure.variables] if claim.method == "pseudo_likelihood" else [structure.variables]
    for names in free:
        states = list(itertools.product(*(range(schema[name].n_states) for name in names)))
        if not structure.given and len(names) == len(structure.variables):
            grid = {name: np.array(states)[:, axis] for axis, name in enumerate(names)}
            order = np.ravel_multi_index([columns[n] for n in names], [schema[n].n_states for n in names])
            yield _values(features, grid), np.bincount(order, weights, len(states))
            continue
        for row, weight in enumerate(weights):
            grid = {name: np.repeat(column[row], len(states)) for name, column in columns.items()}
            grid |= {name: np.array(states)[:, axis] for axis, name in enumerate(names)}
            own = states.index(tuple(int(columns[name][row]) for name in names))
            yield _values(features, grid), weight * (np.arange(len(states)) == own)


def _values(features: Any, grid: dict[str, Any]) -> Any:
    return np.column_stack([feature.at(grid) for feature in features])


def cost_of_features(claim: Claim, model: Any) -> float:
    """Return the decrement of the weights of features."""
    features = claim.structure.resolved(claim.statistics.schema)
    ridge, price = 0.0, 0.0
    if claim.prior is not None:
        widths = claim.prior.widths_of(main_effects(features, claim.structure.given))
        ridge = 1 / widths**2 if isinstance(claim.prior, Gaussian) else 0.0
        price = 1 / widths if isinstance(claim.prior, Laplace) else 0.0
    return newton_decrement(cases_of(claim, features), feature_weights(model), ridge=ridge, price=price)


def feature_cases(claim: Claim) -> Iterator[tuple[Any, Any]]:
    """Yield the cases of a claim."""
    return cases_of(claim, claim.structure.resolved(claim.statistics.schema))


MOVE = perturb_by(feature_weights, with_feature_weights)
SHIFT = perturb_by(feature_weights, with_feature_weights, feature_cases)
FIELDS = (
    AuditFamily(
        "cliques, decomposable", partial(draw_cliques, text=CHAIN, kind=None), perturb_cliques, cost_of_cliques
    ),
    AuditFamily("cliques", partial(draw_cliques, text=CYCLE, kind=None), perturb_cliques, cost_of_cliques),
    AuditFamily(
        "cliques, normal prior", partial(draw_cliques, text=CYCLE, kind="Gaussian"), perturb_cliques, cost_of_cliques
    ),
    AuditFamily(
        "cliques, Laplace prior", partial(draw_cliques, text=CYCLE, kind="Laplace"), perturb_cliques, cost_of_cliques
    ),
    AuditFamily("features", partial(draw_features, kind=None), MOVE, cost_of_features),
    AuditFamily("features, normal prior", partial(draw_features, kind="Gaussian"), MOVE, cost_of_features),
    AuditFamily("features, Laplace prior", partial(draw_features, kind="Laplace"), SHIFT, cost_of_features),
    AuditFamily(
        "pseudo-likelihood", partial(draw_features, kind=None, method="pseudo_likelihood"), MOVE, cost_of_features
    ),
    AuditFamily("features given inputs", partial(draw_given, kind=None), MOVE, cost_of_features),
    AuditFamily("features given inputs, normal prior", partial(draw_given, kind="Gaussian"), MOVE, cost_of_features),
    AuditFamily("features given inputs, Laplace prior", partial(draw_given, kind="Laplace"), SHIFT, cost_of_features),
)
