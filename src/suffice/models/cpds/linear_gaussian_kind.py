"""Linear-Gaussian nodes: how regressions are fitted from moments, and proven.

Parameters    a_d, b_d, v_d for each configuration d of the discrete parents        `LinearGaussianCPD`
Statistics    weight, mean and scatter of (parents, child), by d                    `Moment(xs, by)`
Fitting       T_xx b = T_xy; a = ȳ − b · x̄; v = (T_yy − b · T_xy) / W or W − p      `LinearGaussianKind.mle`
Proof         the normal equations and the variance, in exact fractions             `LinearGaussianKind.residual`
              their Newton decrement, in nats                                       `LinearGaussianKind.distance`
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.errors import (
    EstimationError,
    Passed,
    Remedy,
    StructureError,
    Text,
    is_number,
    listing,
    made,
    require_choice,
    shown,
)
from suffice.models.cpds.exact_regression import exact_distance, exact_residual, exact_terms
from suffice.models.cpds.kind import Given, NodeFamily, NodeKind
from suffice.models.cpds.least_squares import (
    SINGULAR,
    constant_columns,
    left_over,
    shortest_slopes,
    slopes,
    trouble_with,
)
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD, Wide, rows_of_moments
from suffice.models.cpds.linear_gaussian_prior import RegressionPseudo, posterior_distance, posterior_residual
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import describe_configuration
from suffice.optimise.distance import Distance
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment
from suffice.text import plural
from suffice.types import Floats, Ints

DIVISORS = ("n", "n-p")
TIES = ("none", "variance", "slopes", "both")
ROUNDS, SETTLED = 10_000, 1e-15


@dataclass(frozen=True)
class LinearGaussianKind(NodeKind[LinearGaussianCPD, Moments, RegressionPseudo]):
    """How regressions on continuous parents, one for each configuration of the discrete ones, are fitted and proven.

    Attributes
    ----------
    divisor : {"n", "n-p"}
        Residual squares are divided by the rows (maximum likelihood), or by rows less coefficients (unbiased).
    tied : {"none", "variance", "slopes", "both"}
        What the configurations of the discrete parents share.
    singular : {"error", "minimum_norm"}
        What to do with parents that are combinations of each other: name them, or take the shortest coefficients.
    ridge : float
        Penalty: the slopes minimise the squares + ridge · Σ b². Intercepts are free.
    """

    name: ClassVar[str] = "linear_gaussian"
    cpd_type: ClassVar[type[LinearGaussianCPD]] = LinearGaussianCPD
    divisor: str = "n"
    tied: str = "none"
    singular: str = "error"
    ridge: float = 0.0

    def __post_init__(self) -> None:
        require_choice("divisor", self.divisor, DIVISORS, "setting")
        require_choice("tied", self.tied, TIES, "setting")
        require_choice("singular", self.singular, ("error", "minimum_norm"), "setting")
        if not is_number(self.ridge) or not 0 <= self.ridge < math.inf:
            raise StructureError(f"The 'ridge' setting must be a number of zero or more. Got {shown(self.ridge)}.")

    def is_closed_form(self) -> bool:
        """Return whether there is a formula: shared slopes with variances of their own need a search."""
        return self.tied != "slopes"

    def departs(self) -> str | None:
        """Say in which way the estimate is not the maximum of the likelihood."""
        ways = ["variances divided by n − p"] * (self.divisor == "n-p") + [f"ridge {self.ridge:g}"] * (self.ridge > 0)
        if self.tied == "slopes":
            ways.append("slopes tied without variances, of whose several maxima this is the best that was found")
        return " and ".join(ways) or None

    def refuses(self, family: NodeFamily) -> str | None:
        """Refuse discrete children."""
        if family.child.is_discrete:
            return Text(
                f"{family.child.name!r} is discrete, and a normal distribution needs numbers. If it is a number, "
                "declare it: ",
                Remedy("schema", {family.child.name: made("continuous")}),
                ".",
            )
        return None

    def refuses_em(self, family: NodeFamily, latent: Container[str]) -> str | None:
        """Refuse settings that depart from maximum likelihood."""
        if self.divisor == "n" and not self.ridge > 0:
            return None
        setting = f"divisor={self.divisor!r}" if self.divisor != "n" else f"ridge={self.ridge:g}"
        return (
            f"it maximises the likelihood, and node {family.child.name!r} has the setting {setting}, which departs "
            "from it."
        )

    def need(self, family: NodeFamily) -> Moment:
        """Ask for the moments of the continuous parents and the child, by the discrete parents."""
        names = tuple(variable.name for variable in (*family.continuous, family.child))
        return Moment(names, tuple(parent.name for parent in family.discrete))

    # Fitting --------------------------------------------------------------------------------------------------

    def mle(self, family: NodeFamily, statistic: Moments) -> LinearGaussianCPD:
        """Return the least-squares regressions; NaN where there are no rows.

        Raises
        ------
        EstimationError
            When parents are collinear or constant, or nothing is left around the line; it names columns, rows and ways
            out.
        """
        weight, means, scatter = rows_of_moments(statistic)
        seen = weight > 0
        b, squares = np.full((len(weight), scatter.shape[1] - 1), np.nan), np.full(len(weight), np.nan)
        if self.tied in ("slopes", "both"):
            b[:] = self._shared_slopes(family, weight, means, scatter)
        for row in np.flatnonzero(seen):
            if self.tied not in ("slopes", "both"):
                b[row] = self._slopes(family, weight[row], means[row], scatter[row], int(row))
            squares[row] = left_over(scatter[row], b[row])
        variance = self._variances(family, weight, squares, scatter)
        a = (means[:, -1] - np.einsum("rj,rj->r", means[:, :-1], b)).astype(np.float64)  # eq regression-intercept
        return LinearGaussianCPD(family, np.where(seen, a, np.nan), b, variance)

    def _slopes(self, family: NodeFamily, weight: float, means: Wide, scatter: Floats, row: int | None) -> Floats:
        inner, cross = scatter[:-1, :-1], scatter[:-1, -1]
        still = constant_columns(weight, means[:-1], inner)
        found = None if still and not self.ridge else slopes(inner, cross, self.ridge)
        if found is not None:
            return found
        if self.singular == "minimum_norm":
            inner, cross = inner.copy(), cross.copy()
            inner[still], inner[:, still], cross[still] = 0.0, 0.0, 0.0
            return shortest_slopes(inner, cross)
        raise EstimationError(self._says_why(family, weight, inner, still, row))

    def _shared_slopes(self, family: NodeFamily, weight: Floats, means: Wide, scatter: Floats) -> Floats:
        """Return slopes that all configurations share, each configuration weighted by one over its variance.

        With variances of their own the likelihood may have several maxima: the search begins at the slopes of all rows
        together and at those of each configuration, and the best end is taken.
        """
        seen = np.flatnonzero(weight > 0)
        if not len(seen):
            return np.full(scatter.shape[1] - 1, np.nan)
        typical = np.abs(means[seen]).max(axis=0)

        def at(precision: Floats) -> Floats:
            together = np.einsum("r,rij->ij", precision, scatter[seen])
            return self._slopes(family, float(weight.sum()), typical, together, None)

        pooled = at(np.ones(len(seen)))
        if self.tied == "both" or not len(pooled):
            return pooled
        own = [slopes(t[:-1, :-1], t[:-1, -1], self.ridge) for t in scatter[seen]]
        divisors = self.divisors(weight, len(pooled))[seen]
        ends = []
        for start in [pooled, *(found for found in own if found is not None)]:
            cost, b, before = math.inf, start, start + math.inf
            for _ in range(ROUNDS):
                squares = np.array([left_over(scatter[row], b) for row in seen])
                self._require_spread(family, weight, squares, scatter, seen)
                cost = float(weight[seen] @ np.log(squares / divisors))  # −2ℓ, but for a constant
                if np.abs(b - before).max() <= SETTLED * np.abs(b).max():
                    break
                precision = divisors / squares
                before, b = b, at(precision / precision.max())
            ends.append((cost, b))
        return min(ends, key=lambda end: end[0])[1]

    def _variances(self, family: NodeFamily, weight: Floats, squares: Floats, scatter: Floats) -> Floats:
        seen = np.flatnonzero(weight > 0)
        divisors = self.divisors(weight, scatter.shape[1] - 1)
        if self.tied in ("variance", "both"):
            total = np.array([squares[seen].sum()])
            self._require_spread(family, weight[seen].sum()[None], total, scatter[seen].sum(axis=0)[None], [0], True)
            self._require_divisor(family, weight[seen].sum()[None], divisors[:1], [0])
            return np.full(len(weight), float(total[0] / divisors[0]))  # eq tied-variance
        self._require_spread(family, weight, squares[seen], scatter, seen)
        self._require_divisor(family, weight, divisors, seen)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(weight > 0, squares / divisors, np.nan)

    def divisors(self, weight: Floats, q: int) -> Floats:
        """Return what residual squares are divided by, of every row; with a tied variance all are alike."""
        rows = int(np.count_nonzero(weight > 0))
        if self.tied in ("variance", "both"):
            spent: float = rows + (q if self.tied == "both" else q * rows)
            return np.full(len(weight), weight.sum() - (spent if self.divisor == "n-p" else 0))
        spent = 1 + (q / max(rows, 1) if self.tied == "slopes" else q)
        return weight - spent if self.divisor == "n-p" else weight.copy()

    # What can go wrong ----------------------------------------------------------------------------------------

    def _says_why(self, family: NodeFamily, weight: float, inner: Floats, still: list[int], row: int | None) -> str:
        names = [parent.name for parent in family.continuous]
        trouble = trouble_with(inner, still)
        where = self._where(family, row)
        prior = self._prior(family)
        ways = Text(
            "Leave it out of the parents, or ask for one of many solutions: ",
            Remedy("kinds", {family.child.name: {"kind": self.name, "singular": "minimum_norm"}}),
            " or {'ridge': 1.0}",
            Text("; a prior decides, too: ", prior, ".") if prior else ".",
        )
        if trouble is not None and trouble.constant:
            return Text(
                f"Node {family.child.name!r}{where}: its parent {names[trouble.constant[0]]!r} is constant, so its "
                "coefficient is not determined. ",
                ways,
            )
        place = len(names) - 1 if trouble is None or trouble.dependent is None else trouble.dependent
        others = names[:place] if trouble is None else [names[other] for other in trouble.others]
        few = f" There are only {plural(weight, 'row')}." if weight <= len(names) + 1 else ""
        return Text(
            f"Node {family.child.name!r}{where}: its parent {names[place]!r} is a combination of {listing(others)}, so "
            f"their coefficients are not determined.{few} ",
            ways,
        )

    def _prior(self, family: NodeFamily) -> str:
        """Return a prior for the node alone, as it is passed; nothing where its settings are for estimates without."""
        plain = self == type(self)()
        return Text(Remedy("prior", {family.child.name: made("NormalInverseGamma", 2, 1.0)})) if plain else ""

    @staticmethod
    def _where(family: NodeFamily, row: int | None) -> str:
        if row is None or not family.discrete:
            return ""
        codes = all_configurations([v.n_states for v in family.discrete])[row]
        return f", {describe_configuration(family.discrete, codes)}"

    def _require_spread(self, family: NodeFamily, weight: Floats, squares: Floats, scatter: Floats,
                        rows: Iterable[int] | Ints, tied: bool = False) -> None:  # fmt: skip
        """Refuse a child that does not vary around its line: the likelihood has no maximum."""
        name = family.child.name
        for row, left in zip(rows, squares, strict=True):
            total = scatter[row][-1, -1]
            if left > SINGULAR * total:
                continue
            where = "" if tied else self._where(family, int(row))
            what = "is constant" if total == 0 or not family.continuous else "is an exact function of its parents"
            few = weight[row] <= len(family.continuous) + 1
            reason = f"has only {plural(float(weight[row]), 'row')}, so {name!r} {what}" if few else f"{what}"
            subject = f"Node {name!r}{where}: it" if few else f"Node {name!r}{where}: the column"
            ways = "Collect more rows, or leave it out."
            if prior := self._prior(family):
                ways = Text("Collect more rows, leave it out, or pass ", prior, ".")
            if family.discrete and not tied:
                ways += Text(
                    " Or let configurations share a variance: ", Remedy("kinds", {name: {"tied": "variance"}}), "."
                )
            raise EstimationError(
                f"{subject} {reason}. Its variance would be zero, where the likelihood has no maximum. ", ways
            )

    def _require_divisor(
        self, family: NodeFamily, weight: Floats, divisors: Floats, rows: Iterable[int] | Ints
    ) -> None:
        for row in rows:
            if not divisors[row] > 0:
                raise EstimationError(
                    f"Node {family.child.name!r}{self._where(family, int(row))}: {plural(float(weight[row]), 'row')} "
                    "are no more than its coefficients, so nothing is left to divide by under ",
                    Passed("divisor", "n-p"),
                    ". Collect more rows, or use ",
                    Remedy("divisor", "n"),
                    ".",
                )

    # The rest of the protocol ---------------------------------------------------------------------------------

    def whole(self, family: NodeFamily, given: Given) -> LinearGaussianCPD:
        """Return the distribution that an expert gave."""
        return LinearGaussianCPD.from_given(family, given)

    def fix(self, cpd: LinearGaussianCPD, given: Given) -> tuple[LinearGaussianCPD, Ints]:
        """Put a given distribution in place; also return its configurations of the discrete parents, all of them."""
        found = LinearGaussianCPD.from_given(cpd.family, given)
        return found, all_configurations(cpd._sizes)

    def complete(self, cpd: LinearGaussianCPD, policy: str) -> tuple[LinearGaussianCPD, tuple[str, ...]]:
        """Apply ``unseen_parents`` to configurations without rows; there is no uniform distribution of numbers."""
        unknown = cpd.unknown
        if not unknown.any():
            return cpd, ()
        name, example = cpd.family.child.name, cpd.describe_row(int(np.argmax(unknown)))
        what = f"{plural(int(unknown.sum()), 'configuration')} of its discrete parents without data (first: {example})"
        if policy != "nan":
            uniform = " Numbers have no uniform distribution." if policy == "uniform" else ""
            raise EstimationError(
                Text(
                    f"Node {name!r} has {what}, so their regressions are not determined.{uniform} Pass ",
                    Remedy("unseen_parents", "nan"),
                )
                + (Text(", or ", prior, ".") if (prior := self._prior(cpd.family)) else ".")
            )
        return cpd, (f"{name}: {what}; their regressions are NaN.",)

    def n_free(self, family: NodeFamily, n_fixed: int = 0) -> int:
        """Return the number of intercepts, slopes and variances that are not given."""
        if n_fixed:
            return 0
        rows, q = math.prod(parent.n_states for parent in family.discrete), len(family.continuous)
        slopes_ = q if self.tied in ("slopes", "both") else q * rows
        return rows + slopes_ + (1 if self.tied in ("variance", "both") else rows)

    def n_free_adjusted(self, family: NodeFamily, statistic: Moments, fixed: Ints | None = None) -> int:
        """Return the number of parameters of configurations with rows."""
        rows, q = int(np.count_nonzero(statistic.weight > 0)), len(family.continuous)
        if fixed is not None or not rows:
            return 0
        slopes_ = q if self.tied in ("slopes", "both") else q * rows
        return rows + slopes_ + (1 if self.tied in ("variance", "both") else rows)

    def residual(
        self,
        cpd: LinearGaussianCPD,
        statistic: Moments,
        pseudo: RegressionPseudo | None = None,
        fixed: Ints | None = None,
    ) -> float:
        """Return how far the normal equations and the variances miss, in correlations and relative to the variance."""
        if fixed is not None:
            return 0.0
        if pseudo is not None:
            return posterior_residual(cpd, statistic, pseudo)
        return exact_residual(cpd, statistic, self)

    def distance(
        self,
        cpd: LinearGaussianCPD,
        statistic: Moments,
        pseudo: RegressionPseudo | None = None,
        fixed: Ints | None = None,
        point: str = "mle",
    ) -> Distance:
        """Return the decrement of levels, slopes and variances; of a posterior mean, its deviation from the formula."""
        if fixed is not None:
            return Distance()
        if pseudo is not None:
            return posterior_distance(cpd, statistic, pseudo)
        return exact_distance(cpd, statistic, self)

    def log_likelihood(self, cpd: LinearGaussianCPD, statistic: Moments) -> float:
        """Return the distribution's own sum."""
        return cpd.log_likelihood(statistic)

    def log_likelihood_terms(self, cpd: LinearGaussianCPD, statistic: Moments) -> list[float]:
        """Return the terms of every configuration, squares summed in exact fractions."""
        return exact_terms(cpd, statistic)

    def normalisation(self, cpd: LinearGaussianCPD) -> float:
        """Return zero: a normal density integrates to one whatever its parameters."""
        return 0.0


KIND = LinearGaussianKind()
