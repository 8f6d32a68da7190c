"""The derivatives of an observed likelihood by a network's parameters, from expected statistics: Fisher's identity.

The derivative of log p(observed) is the expected derivative of log p(everything), given what was observed. For a table
it is m̄(x, pa) − m̄(pa) θ(x | pa), by log-odds; for a regression with residual e, in standardised columns x, they are
Σ E[e] / √v, Σ E[e x] / √v and ½ Σ (E[e²] / v − 1), by intercept, slopes and log v. All are divided by the rows' weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.constraints import constraint_violation
from suffice.certify.violation import Violation
from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily, Nodes, given_in, nodes_of
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.linear_gaussian_prior import RegressionPseudo
from suffice.models.cpds.tabular import describe_configuration, whole_values
from suffice.optimise.distance import Distance, beyond, quadratic_loss, shortfall, table_losses
from suffice.priors.binding import bound, prior_of
from suffice.stats.counts import Counts
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.structures.dag import DAG

Units = Mapping[str, float]
EPS = 2.0**-52


def worst_of(
    claim: Claim[DAG, BayesianNetwork], expected: Mapping[str, Floats], centres: Units, spreads: Units, weight: float
) -> tuple[Violation, Distance]:
    """Return the largest derivative a row and where it is, and the decrement, with complete-data curvature."""
    nodes = nodes_of(claim.structure, claim.statistics.schema)
    prior = None if claim.prior is None else bound(claim.prior, claim.structure, claim.statistics)
    worst, distance = Violation(), Distance()
    for group in claim.structure.groups:
        if (broken := constraint_violation(claim, group, nodes)) is not None:
            worst = worst.or_larger(broken.size, broken.where)
        if any(node in claim.fixed for node in group) and nodes[group[0]][0].name != "tabular":
            continue
        kind, family = nodes[group[0]]
        mine = None if prior is None else prior_of(prior, kind, family)
        if kind.name == "linear_gaussian":
            products = _in_units_of_first(group, nodes, expected, centres, spreads)
            found, nats = _of_regression(claim, kind, family, products, mine, centres, spreads, weight)
        elif kind.name == "tabular":
            counts = np.add.reduce([expected[node].reshape(-1, family.child.n_states) for node in group])
            found, nats = _of_table(claim, family, counts, mine, _given(claim, group, nodes), weight)
        else:
            statistic, cpd = claim.statistics[kind.need(family)], claim.model.cpd(group[0])
            if kind.name != "softmax":
                statistic = Counts.dense(family.variables, np.add.reduce([expected[node] for node in group]))
            pseudo = None if mine is None else mine.pseudo(family, claim.point)
            found = Violation().or_larger(kind.residual(cpd, statistic, pseudo), group[0])
            nats = kind.distance(cpd, statistic, pseudo, point=claim.point)
        worst = worst.or_larger(found.size, found.where)
        distance += nats.inside(f"node {group[0]!r}")
    return worst, distance


def _given(claim: Claim[DAG, BayesianNetwork], group: tuple[str, ...], nodes: Nodes) -> Any:
    """Return the parent configurations of a table that an expert gave, shape (k, n_parents); None without any."""
    given = given_in(group, claim.fixed, nodes)
    if given is None:
        return None
    kind, _ = nodes[group[0]]
    return kind.fix(claim.model.cpd(group[0]), given)[1]


def _of_table(
    claim: Claim[DAG, BayesianNetwork], family: NodeFamily, counts: Floats, prior: Any, given: Any, weight: float
) -> tuple[Violation, Distance]:
    theta = whole_values(claim.model.cpd(family.child.name)).reshape(counts.shape)
    if prior is not None:
        counts = counts + (prior.alpha(family).reshape(-1, counts.shape[1]) - (claim.point == "map"))
    gaps = np.abs(counts - counts.sum(axis=1, keepdims=True) * theta) / weight
    losses = table_losses(counts, theta)
    gaps[np.abs(counts).sum(axis=1) == 0] = 0.0
    if given is not None:
        rows = np.zeros(len(given), np.int64)
        for axis, parent in enumerate(family.parents):
            rows = rows * parent.n_states + given[:, axis]
        gaps[rows] = losses[rows] = 0.0
    size = float(gaps.max(initial=0.0)) if not np.isnan(gaps).any() else float("nan")
    found = Violation().or_larger(size, f"the table of {family.child.name}")
    return found, Distance.of_rows(losses, lambda row: _row_name(family.parents, row))


def _row_name(parents: tuple[Variable, ...], row: int) -> str:
    """Name a row by the states of discrete parents."""
    sizes = [parent.n_states for parent in parents]
    return describe_configuration(parents, np.unravel_index(row, sizes)) if parents else ""


# Regressions --------------------------------------------------------------------------------------------------


def _in_units_of_first(
    group: tuple[str, ...],
    nodes: Nodes,
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


def _columns(family: NodeFamily) -> tuple[str, ...]:
    return (*(parent.name for parent in family.continuous), family.child.name)


def _of_regression(
    claim: Claim[DAG, BayesianNetwork],
    kind: Any,
    family: NodeFamily,
    products: Floats,
    prior: Any,
    centres: Units,
    spreads: Units,
    weight: float,
) -> tuple[Violation, Distance]:
    name, cpd = family.child.name, claim.model.cpd(family.child.name, LinearGaussianCPD)
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
        last_digit = 2 * EPS * size / spreads[name]
        rounding = np.where(held, last_digit / np.sqrt(v), 0.0) * products[:, 0, 0]
    misses = _Misses(products, cross, v, held, last_digit, squares / 2 + squares_of_prior, powers)
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
    return worst, misses.distance(kind.tied, lambda row: _row_name(family.discrete, row))


@dataclass(frozen=True, eq=False)
class _Misses:
    """What regressions miss, in standardised columns and by configuration of the discrete parents.

    Attributes
    ----------
    products : array, shape (k, 2 + q, 2 + q)
        Σ z zᵀ of z = (1, parents, child).
    cross : array, shape (k, 2 + q)
        Σ z e.
    v : array, shape (k,)
        The variances.
    held : array, shape (k,)
        Which configurations are determined.
    last_digit : array, shape (k,)
        What rounding may do to the level.
    squares, powers : array, shape (k,)
        The objective has the terms −powers · log v − squares / v.
    """

    products: Floats
    cross: Floats
    v: Floats
    held: NDArray[np.bool_]
    last_digit: Floats
    squares: Floats
    powers: Floats

    def distance(self, tied: str, name: Callable[[int], str]) -> Distance:
        """Return the decrement of levels, slopes and variances; what is tied is one block."""
        rows = np.flatnonzero(self.held)
        if not len(rows):
            return Distance()
        v, powers, squares = self.v[rows], self.powers[rows], self.squares[rows]
        if not (v > 0).all():
            return Distance.in_nats(math.inf, "a variance that is not positive")

        def of_row(place: int) -> str:
            return name(int(rows[place]))

        parts = [self._parts(int(row)) for row in rows]
        found = Distance.of_rows(np.array([level for level, *_ in parts]), of_row)
        if tied in ("variance", "both"):
            if (v != v[0]).any():
                return Distance.in_nats(math.inf, "variances that are tied and differ")
            total = powers.sum()
            found += Distance.in_nats(total * shortfall(squares.sum() / v[0] / total - 1), "the tied variance")
        else:
            found += Distance.of_rows(powers * shortfall(squares / v / powers - 1), of_row)
        if tied in ("slopes", "both"):
            slope, curvature = sum(part[1] for part in parts), sum(part[2] for part in parts)
            noise = math.sqrt(math.fsum(part[3] ** 2 for part in parts))
            nats = quadratic_loss(np.asarray(slope), np.asarray(curvature), noise)
            return found + Distance.in_nats(nats, "the tied slopes")
        return found + Distance.of_rows(np.array([quadratic_loss(*part[1:]) for part in parts]), of_row)

    def _parts(self, row: int) -> tuple[float, Floats, Floats, float]:
        """Return the loss of the level at the mean of the parents; slopes, curvature and rounding around that mean."""
        products, cross, v = self.products[row], self.cross[row], float(self.v[row])
        n, q = float(products[0, 0]), len(products) - 2
        if not n > 0:
            return 0.0, np.zeros(q), np.zeros((q, q)), 0.0
        centre = products[0, 1:] / n
        scatter = products[1:, 1:] - n * np.outer(centre, centre)
        level = float(beyond(cross[0] / n, float(self.last_digit[row])))
        slope = cross[1:-1] - centre[:-1] * cross[0]
        rounding = 8 * EPS * math.sqrt(max(float(products[-1, -1]), 0.0) / v)
        return n * level * level / v / 2, slope / v, scatter[:-1, :-1] / v, rounding


def standardised(cpd: Any, node: str, centres: Units, spreads: Units) -> tuple[Floats, Floats, Floats]:
    """Return intercepts, slopes and variances of a node in centres and spreads."""
    intercept = cpd.intercept.astype(np.longdouble) - centres[node]
    slopes = np.array(cpd.coefficients)
    for axis, parent in enumerate(cpd.family.continuous):
        intercept = intercept + cpd.coefficients[:, axis].astype(np.longdouble) * centres[parent.name]
        slopes[:, axis] *= spreads[parent.name] / spreads[node]
    return (intercept / spreads[node]).astype(np.float64), slopes, cpd.variance / spreads[node] ** 2


def _pseudo_products(pseudo: RegressionPseudo, family: NodeFamily, centres: Units, spreads: Units) -> Floats:
    """Return Σ z zᵀ of the rows that the prior stands for: of its level, and of its slopes."""
    columns = _columns(family)
    centre, spread = (np.array([unit[name] for name in columns]) for unit in (centres, spreads))
    level = np.append(1.0, (np.append(pseudo.centre, pseudo.level) - centre) / spread)
    found = pseudo.weight * np.outer(level, level)
    along = np.vstack([np.eye(len(columns) - 1), pseudo.slopes[None, :]]) / spread[:, None]
    found[1:, 1:] += along @ pseudo.scatter @ along.T
    return found
