"""Tabular nodes: how conditional tables are fitted and proven.

Parameters    θ(x_v | x_pa), rows that sum to one                                              `TabularCPD`
Statistics    m(x_pa, x_v)                                                                     `Count(scope)`
Fitting       θ̂ = m(x_pa, x_v) / m(x_pa)                                                       `TabularKind.mle`
Proof         max |m(x_pa, x_v)/m(x_pa) − θ| over rows with data                               `TabularKind.residual`
              Σ m log(m(x_pa, x_v) / (m(x_pa) θ)), in nats                                     `TabularKind.distance`
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.errors import EstimationError, Passed, Remedy, Text, made
from suffice.models.cpds.kind import Given, NodeFamily, NodeKind, Pseudo, terms_of_counts
from suffice.models.cpds.rows import all_configurations, among, given_rows, put_rows, row_keys
from suffice.models.cpds.tabular import TabularCPD, describe_configuration
from suffice.optimise.distance import Distance, table_deviations, table_losses
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.text import plural
from suffice.types import Bools, Floats, Ints


@dataclass(frozen=True)
class TabularKind(NodeKind[TabularCPD, Counts, Pseudo]):
    """How tables are fitted and proven."""

    name: ClassVar[str] = "tabular"
    cpd_type: ClassVar[type[TabularCPD]] = TabularCPD

    def refuses(self, family: NodeFamily) -> str | None:
        """Refuse continuous variables and children without states."""
        for variable in family.variables:
            if not variable.is_discrete:
                return Text(
                    f"{variable.name!r} is continuous, and a table needs discrete variables. If it is discrete, "
                    "declare it: ",
                    Remedy("schema", {variable.name: made("categorical")}),
                    ".",
                )
        return None

    def need(self, family: NodeFamily) -> Count:
        """Ask for the family's joint counts, parents first."""
        return Count(family.scope)

    def mle(self, family: NodeFamily, statistic: Counts) -> TabularCPD:
        """Return θ̂ = m(x_pa, x_v) / m(x_pa); NaN where m(x_pa) = 0."""
        configurations, m = statistic.rows()
        with np.errstate(invalid="ignore"):
            theta = m / m.sum(axis=1, keepdims=True)  # eq bn-mle
        if configurations is None:
            return TabularCPD(family, theta)
        return TabularCPD(family, theta, configurations, np.full(family.child.n_states, np.nan))

    def fix(self, cpd: TabularCPD, given: Given) -> tuple[TabularCPD, Ints]:
        """Put given rows, or a whole given table, in place; also return their parent configurations."""
        configurations, rows = given_rows(cpd.family, given)
        values, stored = put_rows(cpd.values, cpd.configurations, cpd._sizes, configurations, rows)
        return TabularCPD(cpd.family, values, stored, cpd.default_row), configurations

    def complete(self, cpd: TabularCPD, policy: str) -> tuple[TabularCPD, tuple[str, ...]]:
        """Apply ``unseen_parents`` to the rows that are still unknown."""
        unknown: Bools = np.asarray(np.isnan(cpd.values).any(axis=1))
        rest = cpd.default_row is not None and bool(np.isnan(cpd.default_row).any())
        n_unknown = int(unknown.sum()) + (math.prod(cpd._sizes) - len(cpd.values) if rest else 0)
        if not n_unknown:
            return cpd, ()
        name = cpd.family.child.name
        example = cpd.describe_row(int(np.argmax(unknown))) if unknown.any() else "those that do not occur"
        what = f"{name}: {plural(n_unknown, 'parent configuration')} without data (first: {example})"
        if policy == "error":
            raise EstimationError(
                f"Node {name!r} has {plural(n_unknown, 'parent configuration')} without data (first: {example}), so "
                "their rows are not determined. Pass ",
                Remedy("unseen_parents", "uniform"),
                " or ",
                Remedy("unseen_parents", "nan"),
                ", or use a prior such as ",
                made("BDeu", 10),
                " with its posterior mean (",
                Passed("prior", [made("BDeu", 10), None]),
                " beside nodes of other kinds).",
            )
        if policy == "nan":
            return cpd, (f"{what}; their rows are NaN.",)
        flat = np.full(cpd.family.child.n_states, 1 / cpd.family.child.n_states)
        values = np.where(unknown[:, None], flat, cpd.values)
        default = None if cpd.default_row is None else (flat if rest else cpd.default_row)
        return TabularCPD(cpd.family, values, cpd.configurations, default), (f"{what}; their rows were set uniform.",)

    def n_free(self, family: NodeFamily, n_fixed: int = 0) -> int:
        """Return (n_states − 1) · (number of parent configurations that are not given)."""
        n_rows = math.prod(parent.n_states for parent in family.parents)
        return max(family.child.n_states - 1, 0) * (n_rows - n_fixed)

    def n_free_adjusted(self, family: NodeFamily, statistic: Counts, fixed: Ints | None = None) -> int:
        """Return Σ (states with a count − 1) over free rows with data: the dimension of the face the MLE lies on."""
        configurations, m = statistic.rows()
        seen = m > 0
        if fixed is not None:
            above = all_configurations([parent.n_states for parent in family.parents])
            seen = seen[~among(above if configurations is None else configurations, fixed)]
        return int(np.count_nonzero(seen)) - int(np.count_nonzero(seen.any(axis=1)))

    def residual(
        self, cpd: TabularCPD, statistic: Counts, pseudo: Pseudo | None = None, fixed: Ints | None = None
    ) -> float:
        """Return max |m(x_pa, x_v)/m(x_pa) − θ(x_v | x_pa)| over rows with (pseudo-)data that were not given.

        Rows whose pseudo-counts cancel (a flat prior without data has no single mode) are left to ``unseen_parents``.
        """
        above, expected, free = self._expected(cpd, statistic, pseudo, fixed)
        totals = expected.sum(axis=1, dtype=np.longdouble).astype(np.float64)
        free &= totals > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            expected /= totals[:, None]
        gaps = cpd.probabilities(above)  # rows of its own, so that they may be written over
        np.abs(np.subtract(expected, gaps, out=gaps), out=gaps)
        widest = float((gaps if free.all() else gaps[free]).max(initial=0.0))  # NaN where any is
        return max(math.inf if math.isnan(widest) else widest, self._default_residual(cpd, pseudo))

    def distance(
        self,
        cpd: TabularCPD,
        statistic: Counts,
        pseudo: Pseudo | None = None,
        fixed: Ints | None = None,
        point: str = "mle",
    ) -> Distance:
        """Return Σ m log(m / (n θ)) over the rows of `residual`; of a posterior mean, the deviation of θ from it."""
        above, expected, free = self._expected(cpd, statistic, pseudo, fixed)
        of_mean = pseudo is not None and point == "mean"
        found = (table_deviations if of_mean else table_losses)(expected[free], cpd.probabilities(above[free]))
        rows = np.flatnonzero(free)

        def name(row: int) -> str:
            return describe_configuration(cpd.family.parents, above[rows[row]]) if cpd.family.parents else ""

        return Distance.of_rows(found, name, of_mean)

    @staticmethod
    def _expected(
        cpd: TabularCPD, statistic: Counts, pseudo: Pseudo | None, fixed: Ints | None
    ) -> tuple[Ints, Floats, Bools]:
        """Return the parent configurations to prove, their counts with what the prior adds, and which were not given.

        θ is looked up by parent configuration, as `TabularCPD.log_prob` does it, not taken from the rows that `mle`
        filled; the counts are grouped cell by cell.
        """
        cells, m = statistic.nonzero()
        if pseudo is not None and cpd.configurations is None:
            above = all_configurations(cpd._sizes)  # a proper prior determines rows without data, too
            position = row_keys(cells[:, :-1], cpd._sizes)
        else:
            keys = row_keys(cells[:, :-1], cpd._sizes)
            begins = np.append(True, keys[1:] != keys[:-1])[
                : len(keys)
            ]  # cells come in order, so equal keys are neighbours
            above, position = cells[begins, :-1], np.cumsum(begins) - 1
        free = np.ones(len(above), bool) if fixed is None else ~among(above, fixed)
        r = cpd.family.child.n_states
        expected = np.zeros((len(above), r)) if pseudo is None else np.array(pseudo(above), np.float64)
        expected[position, cells[:, -1]] += m  # every cell is listed once
        return above, expected, free

    @staticmethod
    def _default_residual(cpd: TabularCPD, pseudo: Pseudo | None) -> float:
        """Return how far the row of configurations without data is from what the prior alone says."""
        if pseudo is None or cpd.default_row is None or len(cpd.values) == math.prod(cpd._sizes):
            return 0.0
        alpha = pseudo(np.zeros((1, len(cpd._sizes)), np.int64))[0]
        if not math.fsum(alpha) > 0:
            return 0.0
        gap = float(np.abs(alpha / math.fsum(alpha) - cpd.default_row).max(initial=0.0))
        return math.inf if math.isnan(gap) else gap

    def log_likelihood(self, cpd: TabularCPD, statistic: Counts) -> float:
        """Return the distribution's own sum."""
        return cpd.log_likelihood(statistic)

    def log_likelihood_terms(self, cpd: TabularCPD, statistic: Counts) -> list[float]:
        """Return m · log p of every cell that occurs."""
        return terms_of_counts(cpd, statistic)

    def normalisation(self, cpd: TabularCPD) -> float:
        """Return max |Σ θ − 1| over known rows."""
        rows = [*cpd.values.tolist(), *([] if cpd.default_row is None else [cpd.default_row.tolist()])]
        gaps = (abs(math.fsum(row) - 1) for row in rows)
        return max((gap for gap in gaps if not math.isnan(gap)), default=0.0)


KIND = TabularKind()
