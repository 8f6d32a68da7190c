"""A skeleton for a new node kind: copy it to ``src/suffice/models/cpds/`` and add one line to ``KINDS``.

The example is a noisy copy: the child repeats its one parent, except with probability ε, when it takes one of the other
states at random. It has one parameter, where a table would have one a cell.

Parameters    ε = p(child ≠ parent)                                                            `NoisyCopy`
Statistics    m(x_pa, x_v)                                                                     `Count(scope)`
Fitting       ε̂ = Σ_{x_v ≠ x_pa} m(x_pa, x_v) / N                                              `NoisyCopyKind.mle`
Proof         |share of mismatches − ε|                                                        `NoisyCopyKind.residual`
              Σ m log(m / (n p)) over matches and mismatches, in nats                          `NoisyCopyKind.distance`
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.errors import ArgumentError, EstimationError
from suffice.models.cpds.kind import Given, NodeFamily, NodeKind, Pseudo, terms_of_counts
from suffice.optimise.distance import Distance, table_losses
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.types import Columns, Floats, Ints, Json, JsonObject


@dataclass(frozen=True)
class NoisyCopy:
    """p(child | parent): 1 − ε where they agree, ε shared by the other states."""

    kind: ClassVar[str] = "noisy_copy"
    family: NodeFamily
    error: float

    def log_prob(self, columns: Columns) -> Floats:
        """Return log p(child | parent) of every row of codes; shape (n_rows,)."""
        parent, child = (np.asarray(columns[name]) for name in self.family.scope)
        other = self.error / (self.family.child.n_states - 1)
        with np.errstate(divide="ignore"):
            log_p: Floats = np.log(np.where(parent == child, 1 - self.error, other))
        return log_p

    def sample(self, columns: Columns, uniform: Floats) -> Ints:
        """Draw the child of every row from one uniform number; shape (n_rows,)."""
        parent = np.asarray(columns[self.family.parents[0].name], np.int64)
        r = self.family.child.n_states
        step = np.minimum(np.floor(uniform / max(self.error, 1e-300) * (r - 1)), r - 2).astype(np.int64)
        return np.where(uniform < self.error, (parent + 1 + step) % r, parent)

    def log_likelihood(self, statistic: Counts) -> float:
        """Return Σ m log p from the family's counts."""
        table = statistic.table()
        same = float(np.trace(table))
        rest = float(table.sum()) - same
        other = self.error / (self.family.child.n_states - 1)
        return _xlogy(same, 1 - self.error) + _xlogy(rest, other)

    def renamed(self, family: NodeFamily) -> NoisyCopy:
        """Return the same distribution for a tied family."""
        return NoisyCopy(family, self.error)

    def to_dict(self) -> dict[str, Json]:
        """Return the parameters as JSON-able data."""
        return {"error": self.error}

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: JsonObject) -> NoisyCopy:
        """Rebuild from `to_dict`'s data."""
        return cls(family, float(np.array(entry["error"], np.float64)))


@dataclass(frozen=True)
class NoisyCopyKind(NodeKind[NoisyCopy, Counts, Pseudo]):
    """How noisy copies are recognised, fitted and proven."""

    name: ClassVar[str] = "noisy_copy"
    cpd_type: ClassVar[type[NoisyCopy]] = NoisyCopy

    def refuses(self, family: NodeFamily) -> str | None:
        """Ask for exactly one parent with the child's states."""
        if len(family.parents) != 1:
            return f"a noisy copy has exactly one parent; {family.child.name!r} has {len(family.parents)}."
        if family.child.states is None or family.parents[0].states != family.child.states or family.child.n_states < 2:
            return f"{family.child.name!r} and its parent must be discrete, with the same two or more states."
        return None

    def need(self, family: NodeFamily) -> Count:
        """Ask for the family's joint counts, the parent first."""
        return Count(family.scope)

    def mle(self, family: NodeFamily, statistic: Counts) -> NoisyCopy:
        """Return the share of mismatches; NaN without data."""
        total = statistic.total
        return NoisyCopy(family, (total - float(np.trace(statistic.table()))) / total if total else math.nan)

    def fix(self, cpd: NoisyCopy, given: Given) -> tuple[NoisyCopy, Ints]:
        """Put an expert's ε in place; every parent state counts as given."""
        if not isinstance(given, int | float) or not 0 <= given <= 1:
            raise ArgumentError(f"fixed[{cpd.family.child.name!r}] must be a probability. Got {given!r} instead.")
        return NoisyCopy(cpd.family, float(given)), np.arange(cpd.family.child.n_states)[:, None]

    def complete(self, cpd: NoisyCopy, policy: str) -> tuple[NoisyCopy, tuple[str, ...]]:
        """Apply ``unseen_parents`` when there was no data at all."""
        if not math.isnan(cpd.error) or policy == "nan":
            return cpd, ()
        if policy == "error":
            raise EstimationError(
                f"Node {cpd.family.child.name!r} has no data. Pass unseen_parents='uniform' or 'nan'."
            )
        r = cpd.family.child.n_states
        return NoisyCopy(cpd.family, (r - 1) / r), (f"{cpd.family.child.name}: no data; set uniform.",)

    def n_free(self, family: NodeFamily, n_fixed: int = 0) -> int:
        """Return one, or none when ε was given."""
        return 0 if n_fixed else 1

    def n_free_adjusted(self, family: NodeFamily, statistic: Counts, fixed: Ints | None = None) -> int:
        """Return one when both outcomes occur."""
        cells, _ = statistic.nonzero()
        return 0 if fixed is not None else int(len(set((cells[:, 0] == cells[:, 1]).tolist())) == 2)

    def residual(
        self, cpd: NoisyCopy, statistic: Counts, pseudo: Pseudo | None = None, fixed: Ints | None = None
    ) -> float:
        """Return |share of mismatches − ε|, cell by cell and through log_prob; other code than `mle`'s."""
        cells, m = statistic.nonzero()
        if fixed is not None or not len(m):
            return 0.0
        rest = math.fsum(float(weight) for cell, weight in zip(cells, m, strict=True) if cell[0] != cell[1])
        parent, child = cpd.family.scope
        agree = math.exp(cpd.log_prob({parent: np.array([0]), child: np.array([0])})[0])
        return abs(rest / math.fsum(m.tolist()) - (1 - agree))

    def distance(
        self,
        cpd: NoisyCopy,
        statistic: Counts,
        pseudo: Pseudo | None = None,
        fixed: Ints | None = None,
        point: str = "mle",
    ) -> Distance:
        """Return the nats that ε loses: matches and mismatches are one row of a table."""
        cells, m = statistic.nonzero()
        if fixed is not None or not len(m):
            return Distance()
        agree = cells[:, 0] == cells[:, 1]
        counts = np.array([[m[agree].sum(), m[~agree].sum()]], np.float64)
        return Distance.of_rows(table_losses(counts, np.array([[1 - cpd.error, cpd.error]])), lambda _: "")

    def log_likelihood(self, cpd: NoisyCopy, statistic: Counts) -> float:
        """Return the distribution's own sum."""
        return cpd.log_likelihood(statistic)

    def log_likelihood_terms(self, cpd: NoisyCopy, statistic: Counts) -> list[float]:
        """Return m · log p of every cell that occurs."""
        return terms_of_counts(cpd, statistic)

    def normalisation(self, cpd: NoisyCopy) -> float:
        """Return the largest |Σ p(child | parent) − 1|."""
        r = cpd.family.child.n_states
        parent, child = cpd.family.scope
        if math.isnan(cpd.error):
            return 0.0
        rows = [np.exp(cpd.log_prob({parent: np.full(r, state), child: np.arange(r)})) for state in range(r)]
        return max(abs(math.fsum(row) - 1) for row in rows)


def _xlogy(m: float, p: float) -> float:
    return 0.0 if m == 0 else m * math.log(p) if p > 0 else -math.inf


KIND = NoisyCopyKind()
