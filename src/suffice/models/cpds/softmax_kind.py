"""Softmax nodes: how multinomial logistic regressions are fitted from distinct rows, and proven.

Parameters    a_dk, b_dk for each configuration d of the discrete parents and state k          `SoftmaxCPD`
Statistics    the distinct rows (parents, child) with their weights                            `Distinct(scope)`
Fitting       Newton's method; states that do not occur with d have probability zero there     `SoftmaxKind.mle`
Proof         Σ w (1[y = k] − p_k) (1, x) = 0, row by row                                      `SoftmaxKind.residual`
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.errors import EstimationError, Remedy, Text, listing, made, require_choice
from suffice.inference.dependence import combination
from suffice.models.cpds.kind import Given, NodeFamily, NodeKind
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.softmax import SoftmaxCPD, SoftmaxPenalty
from suffice.models.cpds.softmax_distance import distance_of
from suffice.models.cpds.softmax_proof import residual_of
from suffice.models.cpds.softmax_search import NodeObjective, SoftmaxParameters, WeightedCases, minimise
from suffice.models.cpds.softmax_trouble import Direction, collinear, separated
from suffice.models.cpds.tabular import describe_configuration
from suffice.optimise.distance import Distance
from suffice.settings import settings
from suffice.stats.needs import Distinct
from suffice.stats.rows import Rows
from suffice.text import in_bytes, plural
from suffice.types import Floats, Ints

TIES = ("none", "slopes")


@dataclass(frozen=True)
class SoftmaxKind(NodeKind[SoftmaxCPD, Rows, SoftmaxPenalty]):
    """How softmax regressions on continuous parents, one for each configuration of the discrete ones, are fitted.

    Attributes
    ----------
    tied : {"none", "slopes"}
        What the configurations of the discrete parents share: nothing, or the coefficients b.

    Notes
    -----
    A state that does not occur with a configuration has probability zero there: the limit of the likelihood, reached
    exactly by an intercept of −inf. States that the parents separate have no such limit within the family, and are an
    error.
    """

    name: ClassVar[str] = "softmax"
    cpd_type: ClassVar[type[SoftmaxCPD]] = SoftmaxCPD
    closed_form: ClassVar[bool] = False
    tied: str = "none"

    def __post_init__(self) -> None:
        require_choice("tied", self.tied, TIES, "setting")

    def refuses(self, family: NodeFamily) -> str | None:
        """Refuse continuous children, children of fewer than two states, and families without continuous parents."""
        name = family.child.name
        if not family.child.is_discrete:
            return Text(
                f"{name!r} is continuous, and a softmax needs states. If it is discrete, declare it: ",
                Remedy("schema", {name: made("categorical")}),
                ".",
            )
        if family.child.n_states < 2:
            return f"{name!r} has fewer than two states, so there is nothing to tell apart."
        if not family.continuous:
            return f"{name!r} has no continuous parent; a table says the same with discrete ones."
        return None

    def refuses_em(self, family: NodeFamily, latent: Container[str]) -> str | None:
        """Refuse families with latent variables."""
        gone = [name for name in family.scope if name in latent]
        return needs_family(family.child.name, gone) if gone else None

    def need(self, family: NodeFamily) -> Distinct:
        """Ask for the family's distinct rows, parents first."""
        return Distinct(family.scope)

    # Fitting --------------------------------------------------------------------------------------------------

    def mle(self, family: NodeFamily, statistic: Rows) -> SoftmaxCPD:
        """Return the maximum-likelihood regressions; NaN for configurations without rows.

        Raises
        ------
        EstimationError
            When parents are collinear or separate the states; it names configuration, columns and ways out.
        """
        return self._fit(family, statistic, SoftmaxPenalty(math.inf, math.inf))

    def penalised(self, family: NodeFamily, statistic: Rows, width: float, main: float) -> SoftmaxCPD:
        """Return the mode under normal priors, as `SoftmaxPenalty` describes them.

        Parameters
        ----------
        family : NodeFamily
        statistic : Rows
        width : float
            The standard deviation of the coefficients' prior.
        main : float
            That of the intercepts' prior; inf leaves them free.
        """
        return self._fit(family, statistic, SoftmaxPenalty(width, main))

    def _fit(self, family: NodeFamily, statistic: Rows, penalty: SoftmaxPenalty) -> SoftmaxCPD:
        _require_room(family)
        row, x, weights = _inputs(family, statistic)
        n_rows, r = math.prod(parent.n_states for parent in family.discrete), family.child.n_states
        start = np.nan if math.isinf(penalty.main) else 0.0  # a proper prior alone is uniform over the states
        intercept, slopes = np.full((n_rows, r), start), np.full((n_rows, r, x.shape[1]), start)
        seen = np.unique(row)
        for rows in [seen] if self.tied == "slopes" and len(seen) else seen[:, None]:
            which = np.isin(row, rows)
            place = np.searchsorted(rows, row[which])
            occurs = np.zeros((len(rows), r), bool)
            np.logical_or.at(occurs, place, weights[which] > 0)
            allowed = occurs if math.isinf(penalty.main) else np.ones_like(occurs)
            cases = WeightedCases(place, x[which], weights[which], allowed)
            found = _solved(family, cases, penalty, None if self.tied == "slopes" else int(rows[0]))
            intercept[rows], slopes[rows] = found.intercept, found.slopes
            if self.tied == "slopes" and math.isfinite(penalty.main):
                slopes[:] = found.slopes
        return SoftmaxCPD(family, intercept, slopes)

    # The rest of the protocol ---------------------------------------------------------------------------------

    def whole(self, family: NodeFamily, given: Given) -> SoftmaxCPD:
        """Return the distribution that an expert gave."""
        return SoftmaxCPD.from_given(family, given)

    def fix(self, cpd: SoftmaxCPD, given: Given) -> tuple[SoftmaxCPD, Ints]:
        """Put a given distribution in place; also return its configurations of the discrete parents, all of them."""
        return SoftmaxCPD.from_given(cpd.family, given), all_configurations(cpd._sizes)

    def complete(self, cpd: SoftmaxCPD, policy: str) -> tuple[SoftmaxCPD, tuple[str, ...]]:
        """Apply ``unseen_parents`` to configurations without rows, and remark on impossible states."""
        name, unknown, remarks = cpd.family.child.name, cpd.unknown, list[str]()
        never = np.argwhere(np.isneginf(cpd.intercept))
        if len(never):
            row, state = never[0]
            where = f" with {cpd.describe_row(int(row))}" if cpd.family.discrete else ""
            remarks.append(
                f"{name}: probability zero for {plural(len(never), 'state')} that did not occur (first: "
                f"{cpd.family.child.labels[state]!r}{where})."
            )
        if not unknown.any():
            return cpd, tuple(remarks)
        example = cpd.describe_row(int(np.argmax(unknown)))
        what = f"{plural(int(unknown.sum()), 'configuration')} of its discrete parents without data (first: {example})"
        if policy == "error":
            raise EstimationError(
                f"Node {name!r} has {what}, so their regressions are not determined. Pass ",
                Remedy("unseen_parents", "uniform"),
                " or ",
                Remedy("unseen_parents", "nan"),
                ", or ",
                _prior(name),
                ".",
            )
        if policy == "nan":
            return cpd, (*remarks, f"{name}: {what}; their parameters are NaN.")
        intercept = np.where(unknown[:, None], 0.0, cpd.intercept)
        slopes = np.where(unknown[:, None, None], 0.0, cpd.coefficients)
        completed = SoftmaxCPD(cpd.family, intercept, slopes)
        return completed, (*remarks, f"{name}: {what}; they were set uniform.")

    def n_free(self, family: NodeFamily, n_fixed: int = 0) -> int:
        """Return (r − 1)(q + 1) for each configuration; with tied slopes (r − 1)(rows + q)."""
        if n_fixed:
            return 0
        rows, q = math.prod(parent.n_states for parent in family.discrete), len(family.continuous)
        return (family.child.n_states - 1) * (rows + q if self.tied == "slopes" else rows * (q + 1))

    def n_free_adjusted(self, family: NodeFamily, statistic: Rows, fixed: Ints | None = None) -> int:
        """Return the number of parameters of the states that occur, by configuration."""
        if fixed is not None:
            return 0
        row, x, weights = _inputs(family, statistic)
        seen, place = np.unique(row, return_inverse=True)
        if not len(seen):
            return 0
        occurs = np.zeros((len(seen), weights.shape[1]), bool)
        np.logical_or.at(occurs, place, weights > 0)
        n_intercepts, q = int(np.count_nonzero(occurs)) - len(seen), len(family.continuous)
        if self.tied == "none":
            return n_intercepts * (1 + q)
        return n_intercepts + q * int(np.count_nonzero(WeightedCases(place, x, weights, occurs).sloped))

    def residual(
        self, cpd: SoftmaxCPD, statistic: Rows, pseudo: SoftmaxPenalty | None = None, fixed: Ints | None = None
    ) -> float:
        """Return the largest component of the gradient, per row and standard deviation of its column."""
        return 0.0 if fixed is not None else residual_of(cpd, statistic, pseudo, self.tied == "slopes")

    def distance(
        self,
        cpd: SoftmaxCPD,
        statistic: Rows,
        pseudo: SoftmaxPenalty | None = None,
        fixed: Ints | None = None,
        point: str = "mle",
    ) -> Distance:
        """Return by how many nats a Newton step would still raise the objective."""
        return Distance() if fixed is not None else distance_of(cpd, statistic, pseudo, self.tied == "slopes")

    def log_likelihood(self, cpd: SoftmaxCPD, statistic: Rows) -> float:
        """Return the distribution's own sum."""
        return cpd.log_likelihood(statistic)

    def log_likelihood_terms(self, cpd: SoftmaxCPD, statistic: Rows) -> list[float]:
        """Return w · log p of every distinct row."""
        columns = {v.name: column for v, column in zip(statistic.variables, statistic.columns, strict=True)}
        terms: list[float] = (statistic.weights * cpd.log_prob(columns)).tolist()
        return terms

    def normalisation(self, cpd: SoftmaxCPD) -> float:
        """Return max |Σ p − 1| over all configurations, at a few points of the continuous parents."""
        rows = all_configurations(cpd._sizes)
        gaps = [0.0]
        for value in (0.0, 1.0, -3.0):
            columns = {v.name: rows[:, place] for place, v in enumerate(cpd.family.discrete)}
            columns |= {v.name: np.full(len(rows), value) for v in cpd.family.continuous}
            totals = [math.fsum(row) for row in cpd.probabilities(columns).tolist()]
            gaps += [abs(total - 1) for total in totals if not math.isnan(total)]
        return max(gaps)


def _require_room(family: NodeFamily) -> None:
    size = 8 * (1 + len(family.continuous)) * math.prod(v.n_states for v in (*family.discrete, family.child))
    if size > settings().memory:
        raise EstimationError(
            f"The parameters of node {family.child.name!r}, for each configuration of its discrete parents, take "
            f"{in_bytes(size)}, and {in_bytes(settings().memory)} may be used. Give the node fewer discrete parents."
        )


def _inputs(family: NodeFamily, statistic: Rows) -> tuple[Ints, Floats, Floats]:
    """Return row of parameters (n,), continuous parents (n, q) and weight by state (n, r) of every distinct input."""
    n = statistic.n_rows
    held = {v.name: column for v, column in zip(statistic.variables, statistic.columns, strict=True)}
    row = np.zeros(n, np.int64)
    for parent in family.discrete:
        row = row * parent.n_states + held[parent.name]
    x = np.stack([held[parent.name] for parent in family.continuous], axis=1).astype(np.float64)
    for parent, column in zip(family.continuous, x.T, strict=True):
        if not np.isfinite(column).all():
            raise EstimationError(
                f"Node {family.child.name!r}: the column of its parent {parent.name!r} holds infinite values, for "
                "which there is no regression. Remove these rows."
            )
    order = np.lexsort((*x.T[::-1], row))
    row, x = row[order], x[order]
    new = np.ones(n, bool)
    new[1:] = (row[1:] != row[:-1]) | (x[1:] != x[:-1]).any(axis=1)
    weights = np.zeros((int(new.sum()), family.child.n_states))
    np.add.at(weights, (np.cumsum(new) - 1, held[family.child.name][order]), statistic.weights[order])
    return row[new], x[new], weights


def _solved(family: NodeFamily, cases: WeightedCases, penalty: SoftmaxPenalty, row: int | None) -> SoftmaxParameters:
    """Return the parameters of one configuration, or of all that share slopes."""
    where = _where(family, row)
    transform = np.diag(1 / cases.spread)
    if math.isinf(penalty.width) and cases.has_slopes:
        flat = collinear(cases)
        if flat is not None:
            raise EstimationError(
                f"Node {family.child.name!r}{where}: {_says(family, flat)} does not vary"
                + (" there" if where else "")
                + Text(
                    f" ({plural(len(cases.x), 'different input')}), so the coefficients are not determined. Leave a "
                    "parent out, or pass ",
                    _prior(family.child.name),
                    ".",
                )
            )
        root = np.linalg.qr(cases.centred / cases.spread * np.sqrt(cases.per_input / cases.total)[:, None], mode="r")
        transform = np.linalg.inv(root) / cases.spread[:, None]

    def doubt() -> None:
        found = separated(cases)
        if found is not None:
            state, other = family.child.labels[found.state], family.child.labels[found.other]
            raise EstimationError(
                f"Node {family.child.name!r}{where}: {_says(family, found)} separates {state!r} from {other!r} without "
                "fail, so the likelihood has no maximum and coefficients run to infinity. Pass ",
                _prior(family.child.name),
                ", or leave the column out.",
            )

    found = minimise(NodeObjective(cases, transform, penalty.width, penalty.main), doubt)
    if not found.converged:
        raise EstimationError(
            f"Node {family.child.name!r}{where}: no maximum of the likelihood was found; states may be separated, or "
            "nearly so, by the continuous parents. Pass ",
            _prior(family.child.name),
            ".",
        )
    return found


def _prior(node: str) -> str:
    """Return a prior for this node alone, as it is passed."""
    return Text(Remedy("prior", {node: made("Gaussian", 10)}))


def _where(family: NodeFamily, row: int | None) -> str:
    if row is None or not family.discrete:
        return ""
    codes = all_configurations([parent.n_states for parent in family.discrete])[row]
    return f", {describe_configuration(family.discrete, codes)}"


def _says(family: NodeFamily, direction: Direction) -> str:
    names = [parent.name for parent in family.continuous]
    terms = [(float(c), name) for c, name in zip(direction.coefficients, names, strict=True) if c]
    return f"column {terms[0][1]!r}" if len(terms) == 1 else combination(terms)


def needs_family(node: str, gone: Iterable[str]) -> str:
    """Say why a softmax node needs its family observed."""
    return (
        f"Node {node!r} is a softmax of continuous parents, and {listing(sorted(gone))} of its family is missing: "
        "expected statistics of such a node are not of a finite kind. Leave out the rows that lack these columns, fill "
        "them in, or turn the edge around, so that the continuous variables are children."
    )


KIND = SoftmaxKind()
