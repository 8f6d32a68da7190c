"""The derivatives of an observed likelihood by a network's parameters, from expected statistics: Fisher's identity.

The derivative of log p(observed) is the expected derivative of log p(everything), given what was observed. For a table
it is m̄(x, pa) − m̄(pa) θ(x | pa), by log-odds; for a regression with residual e, in standardised columns x, they are
Σ E[e] / √v, Σ E[e x] / √v and ½ Σ (E[e²] / v − 1), by intercept, slopes and log v. All are divided by the rows' weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.violation import Violation
from suffice.models.cpds import Family, NodeKind, given_in, nodes_of
from suffice.models.cpds.linear_gaussian_prior import RegressionPseudo
from suffice.models.cpds.tabular import whole_values
from suffice.priors.binding import bound, prior_of
from suffice.stats.counts import Counts

Floats = NDArray[np.float64]
Units = Mapping[str, float]
EPS = 2.0**-52


def worst_of(claim: Claim, expected: Mapping[str, Floats], centres: Units, spreads: Units, weight: float) -> Violation:
    """Return the largest derivative a row, and where it is."""
    nodes = nodes_of(claim.structure, claim.statistics.schema)
    prior = None if claim.prior is None else bound(claim.prior, claim.structure, claim.statistics)
    worst = Violation()
    for group in claim.structure.groups:
        if any(node in claim.fixed for node in group) and nodes[group[0]][0].name != "tabular":
            continue
        kind, family = nodes[group[0]]
        mine = None if prior is None else prior_of(prior, kind, family)
        if kind.name == "linear_gaussian":
            products = _in_units_of_first(group, nodes, expected, centres, spreads)
            found = _of_regression(claim, kind, family, products, mine, centres, spreads, weight)
        elif kind.name == "tabular":
            counts = np.add.reduce([expected[node].reshape(-1, family.child.n_states) for node in group])
            found = _of_table(claim, family, counts, mine, _given(claim, group, nodes), weight)
        else:
            statistic = claim.statistics[kind.need(family)]
            if kind.name != "softmax":
                statistic = Counts.dense(family.variables, np.add.reduce([expected[node] for node in group]))
            found = Violation().or_larger(kind.residual(claim.model.cpd(group[0]), statistic), group[0])
        worst = worst.or_larger(found.size, found.where)
    return worst


def _given(claim: Claim, group: tuple[str, ...], nodes: Mapping[str, tuple[NodeKind, Family]]) -> Any:
    """Return the parent configurations of a table that an expert gave, shape (k, n_parents); None without any."""
    given = given_in(group, claim.fixed, nodes)
    if given is None:
        return None
    kind, _ = nodes[group[0]]
    return kind.fix(claim.model.cpd(group[0]), given)[1]


def _of_table(claim: Claim, family: Family, counts: Floats, prior: Any, given: Any, weight: float) -> Violation:
    theta = whole_values(claim.model.cpd(family.child.name)).reshape(counts.shape)
    if prior is not None:
        counts = counts + (prior.alpha(family).reshape(-1, counts.shape[1]) - (claim.point == "map"))
    gaps = np.abs(counts - counts.sum(axis=1, keepdims=True) * theta) / weight
    gaps[~(np.abs(counts).sum(axis=1) > 0)] = 0.0
    if given is not None:
        rows = np.zeros(len(given), np.int64)
        for axis, parent in enumerate(family.parents):
            rows = rows * parent.n_states + given[:, axis]
        gaps[rows] = 0.0
    size = float(gaps.max(initial=0.0)) if not np.isnan(gaps).any() else float("nan")
    return Violation().or_larger(size, f"the table of {family.child.name}")


# Regressions --------------------------------------------------------------------------------------------------


def _in_units_of_first(
    group: tuple[str, ...],
    nodes: Mapping[str, tuple[NodeKind, Family]],
    expected: Mapping[str, Floats],
    centres: Units,
    spreads: Units,
) -> Floats:
    """Add up the products of tied nodes, all measured as the first one's columns are."""
    first, total = _columns(nodes[group[0]][1]), np.zeros_like(expected[group[0]])
    for node in group:
        own = _columns(nodes[node][1])
        move = np.eye(1 + len(own))
        for at, (to, of) in enumerate(zip(first, own, strict=True), 1):
            move[at, at] = spreads[of] / spreads[to]
            move[at, 0] = (centres[of] - centres[to]) / spreads[to]
        total += move @ expected[node] @ move.T
    return total


def _columns(family: Family) -> tuple[str, ...]:
    return (*(parent.name for parent in family.continuous), family.child.name)


def _of_regression(
    claim: Claim,
    kind: Any,
    family: Family,
    products: Floats,
    prior: Any,
    centres: Units,
    spreads: Units,
    weight: float,
) -> Violation:
    name, cpd = family.child.name, claim.model.cpd(family.child.name)
    intercept, slopes, v = standardised(cpd, name, centres, spreads)
    held = products[:, 0, 0] > 0
    rows = products[:, 0, 0].copy()
    squares_of_prior, powers = np.zeros(len(rows)), rows / 2
    if prior is not None:
        pseudo: RegressionPseudo = prior.regression(family)
        products = products + _pseudo_products(pseudo, family, centres, spreads)
        k = slopes.shape[1] + (pseudo.weight > 0)
        squares_of_prior = np.full(len(rows), pseudo.scale / spreads[name] ** 2)
        powers, held = powers + pseudo.shape + 1 + k / 2, np.ones(len(rows), bool)
    direction = np.concatenate([-intercept[:, None], -slopes, np.ones((len(rows), 1))], axis=1)
    cross = np.einsum("rij,rj->ri", products, direction)  # Σ E[e], Σ E[e x], Σ E[e y]
    squares = np.einsum("ri,ri->r", cross, direction)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_intercept = np.where(held, cross[:, 0] / np.sqrt(v), 0.0)
        of_slopes = np.where(held[:, None], cross[:, 1:-1] / v[:, None], 0.0)
        of_variance = np.where(held, (squares / 2 + squares_of_prior) / v - powers, 0.0)
        parts = cpd.coefficients * np.array([centres[parent.name] for parent in family.continuous])
        size = np.abs(cpd.intercept) + np.abs(parts).sum(axis=1)
        rounding = np.where(held, 2 * EPS * size / spreads[name] / np.sqrt(v), 0.0) * products[:, 0, 0]
    root = np.sqrt(np.where(held, v, 0.0).max(initial=0.0))
    if kind.tied in ("slopes", "both"):
        of_slopes = of_slopes.sum(axis=0, keepdims=True) * root
    else:
        of_slopes = np.where(held[:, None], of_slopes * np.sqrt(v)[:, None], 0.0)
    if kind.tied in ("variance", "both"):
        of_variance = of_variance.sum(keepdims=True)
    worst = Violation()
    for sizes, what in (
        (np.maximum(np.abs(of_intercept) - rounding, 0.0), "intercept"),
        (np.abs(of_slopes), "slopes"),
        (np.abs(of_variance), "variance"),
    ):
        largest = float("nan") if np.isnan(sizes).any() else float(sizes.max(initial=0.0))
        worst = worst.or_larger(largest / weight, f"the {what} of {name}")
    return worst


def standardised(cpd: Any, node: str, centres: Units, spreads: Units) -> tuple[Floats, Floats, Floats]:
    """Return intercepts, slopes and variances of a node in centres and spreads."""
    intercept = cpd.intercept.astype(np.longdouble) - centres[node]
    slopes = np.array(cpd.coefficients)
    for axis, parent in enumerate(cpd.family.continuous):
        intercept = intercept + cpd.coefficients[:, axis].astype(np.longdouble) * centres[parent.name]
        slopes[:, axis] *= spreads[parent.name] / spreads[node]
    return (intercept / spreads[node]).astype(np.float64), slopes, cpd.variance / spreads[node] ** 2


def _pseudo_products(pseudo: RegressionPseudo, family: Family, centres: Units, spreads: Units) -> Floats:
    """Return Σ z zᵀ of the rows that the prior stands for: of its level, and of its slopes."""
    columns = _columns(family)
    centre, spread = (np.array([unit[name] for name in columns]) for unit in (centres, spreads))
    level = np.append(1.0, (np.append(pseudo.centre, pseudo.level) - centre) / spread)
    found = pseudo.weight * np.outer(level, level)
    along = np.vstack([np.eye(len(columns) - 1), pseudo.slopes[None, :]]) / spread[:, None]
    found[1:, 1:] += along @ pseudo.scatter @ along.T
    return found
