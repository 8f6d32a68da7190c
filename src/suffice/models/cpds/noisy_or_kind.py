"""Noisy-OR nodes: how the strengths of causes are fitted from counts, and proven.

Parameters    leak and one strength for each cause, a state of a parent beyond its first       `NoisyOrCPD`
Statistics    m(x_pa, x_v)                                                                     `Count(scope)`
Fitting       a concave function of −log(1 − strength) ≥ 0, exact where strengths are 0 or 1   `NoisyOrKind.mle`
Proof         its slopes: zero inside, not upwards at 0, no failure at 1                       `NoisyOrKind.residual`
              their Newton decrement, in nats                                                  `NoisyOrKind.distance`
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.errors import EstimationError, Mention, Remedy, StructureError, Text, listing, made, shown
from suffice.models.cpds.kind import Given, NodeFamily, NodeKind, terms_of_counts
from suffice.models.cpds.noisy_or import NoisyOrCPD, causes, n_causes
from suffice.models.cpds.noisy_or_search import Trials, certain_causes, maximise, undetermined
from suffice.optimise.distance import EPS, Distance, quadratic_loss
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.text import plural
from suffice.types import Bools, Floats, Ints


@dataclass(frozen=True)
class NoisyOrKind(NodeKind[NoisyOrCPD, Counts, None]):
    """How noisy-ORs are recognised, fitted and proven. A node is of this kind only when its kind is named.

    Attributes
    ----------
    leak : bool
        Whether the effect may occur without any of its causes.

    Notes
    -----
    A cause with which the effect never failed has strength one, the limit of the likelihood, which is reached. A cause
    that does not occur, or only together with ones that are certain, is unknown (NaN) and left to ``unseen_parents``,
    where "uniform" means a strength of one half. Causes whose strengths can be exchanged, such as two that always occur
    together, are an error.
    """

    name: ClassVar[str] = "noisy_or"
    cpd_type: ClassVar[type[NoisyOrCPD]] = NoisyOrCPD
    closed_form: ClassVar[bool] = False
    only_named: ClassVar[bool] = True
    leak: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.leak, bool):
            raise StructureError(f"The 'leak' setting must be True or False. Got {shown(self.leak)} instead.")

    def refuses(self, family: NodeFamily) -> str | None:
        """Refuse continuous variables, and children that have not two states."""
        for variable in family.variables:
            if not variable.is_discrete:
                return Text(
                    f"{variable.name!r} is continuous, and a noisy-OR needs discrete variables. If it is discrete, "
                    "declare it: ",
                    Remedy("schema", {variable.name: made("categorical")}),
                    ".",
                )
        if family.child.n_states != 2:
            return (
                f"{family.child.name!r} has {plural(family.child.n_states, 'state')}, and the effect of a noisy-OR has "
                "two: absent, then present."
            )
        return None

    def need(self, family: NodeFamily) -> Count:
        """Ask for the family's joint counts, parents first."""
        return Count(family.scope)

    # Fitting --------------------------------------------------------------------------------------------------

    def mle(self, family: NodeFamily, statistic: Counts) -> NoisyOrCPD:
        """Return the maximum-likelihood strengths; NaN for causes of which the data says nothing.

        Raises
        ------
        EstimationError
            When the strengths of some causes can be exchanged, or the effect occurs without any cause and leak.
        """
        trials = self._trials(family, statistic)
        strengths, names = np.full(trials.z.shape[1], np.nan), ["leak", *(f"{p}={s}" for p, s in causes(family))]
        self._require_causes(family, trials)
        sure = certain_causes(trials)
        if sure.conflict:
            raise EstimationError(
                f"Node {family.child.name!r}: {listing([names[cause] for cause in sure.conflict])} occur together, "
                "always with the effect, and the data does not tell which of them is certain to produce it. Leave one "
                "out, or give the strengths: ",
                Mention("fixed", "fixed={…}"),
                ".",
            )
        strengths[sure.forced] = 1.0
        rows = np.asarray(~(trials.z & (sure.forced | sure.open)).any(axis=1))
        columns = trials.z.any(axis=0) & ~sure.forced & ~sure.open
        part = trials.part(rows, columns)
        lam, settled = maximise(part)
        if not settled:
            raise EstimationError(
                f"Node {family.child.name!r}: no maximum of the likelihood was found; its counts may be of very "
                "different sizes. Give the strengths: ",
                Mention("fixed", "fixed={…}"),
                ", or use a table: ",
                Remedy("kinds", {family.child.name: "tabular"}),
                ".",
            )
        exchanged = undetermined(part, lam)
        if exchanged:
            known = [name for name, kept in zip(names, columns, strict=True) if kept]
            raise EstimationError(
                f"Node {family.child.name!r}: the strengths of {listing([known[cause] for cause in exchanged])} can be "
                "exchanged without changing the likelihood, because these causes do not vary by themselves. Leave one "
                "out, or give the strengths: ",
                Mention("fixed", "fixed={…}"),
                ".",
            )
        strengths[columns] = -np.expm1(-lam)
        if not self.leak:
            strengths[0] = 0.0
        return NoisyOrCPD(family, float(strengths[0]), strengths[1:])

    def _trials(self, family: NodeFamily, statistic: Counts) -> Trials:
        """Return the configurations that occur, with the causes that are present; the leak is the first cause."""
        cells, m = statistic.nonzero()
        width = 1 + n_causes(family)
        z = np.zeros((len(cells), width), bool)
        z[:, 0] = self.leak
        start = 1
        for place, parent in enumerate(family.parents):
            present = np.flatnonzero(cells[:, place] > 0)
            z[present, start + cells[present, place] - 1] = True
            start += parent.n_states - 1
        # Cells come in order, the child last: both outcomes of a configuration are neighbours.
        new = np.ones(len(cells), bool)
        new[1:] = (cells[1:, :-1] != cells[:-1, :-1]).any(axis=1)
        outcomes = np.zeros((int(new.sum()), 2))
        outcomes[np.cumsum(new) - 1, cells[:, -1]] = m
        return Trials(z[new], outcomes[:, 0], outcomes[:, 1])

    def _require_causes(self, family: NodeFamily, trials: Trials) -> None:
        causeless = float(trials.m1[~trials.z.any(axis=1)].sum())
        if causeless:
            raise EstimationError(
                f"Node {family.child.name!r}: the effect {family.child.labels[1]!r} occurs {plural(causeless, 'time')} "
                "without any of its causes, which a noisy-OR without a leak rules out. Allow one: ",
                Remedy("kinds", {family.child.name: {"kind": "noisy_or", "leak": True}}),
                ".",
            )

    # The rest of the protocol ---------------------------------------------------------------------------------

    def whole(self, family: NodeFamily, given: Given) -> NoisyOrCPD:
        """Return the distribution that an expert gave."""
        return NoisyOrCPD.from_given(family, given)

    def fix(self, cpd: NoisyOrCPD, given: Given) -> tuple[NoisyOrCPD, Ints]:
        """Put given strengths in place, all of them; also return their numbers, the leak's being zero."""
        return NoisyOrCPD.from_given(cpd.family, given), np.arange(1 + n_causes(cpd.family))[:, None]

    def complete(self, cpd: NoisyOrCPD, policy: str) -> tuple[NoisyOrCPD, tuple[str, ...]]:
        """Apply ``unseen_parents`` to the strengths that are still unknown; "uniform" sets them to one half."""
        if not cpd.unknown.any():
            return cpd, ()
        name, names = cpd.family.child.name, ["leak", *(f"{p}={s}" for p, s in causes(cpd.family))]
        what = listing([label for label, unknown in zip(names, cpd.unknown, strict=True) if unknown])
        if policy == "error":
            raise EstimationError(
                f"Node {name!r}: the data does not determine the strengths of {what}, which do not occur, or only with "
                "causes that are certain. Pass ",
                Remedy("unseen_parents", "uniform"),
                " for one half or ",
                Remedy("unseen_parents", "nan"),
                ", or give the strengths: ",
                Mention("fixed", "fixed={…}"),
                ".",
            )
        if policy == "nan":
            return cpd, (f"{name}: the strengths of {what} are not determined; they are NaN.",)
        leak = 0.5 if math.isnan(cpd.leak) else cpd.leak
        completed = NoisyOrCPD(cpd.family, leak, np.where(np.isnan(cpd.strengths), 0.5, cpd.strengths))
        return completed, (f"{name}: the strengths of {what} are not determined; they were set to one half.",)

    def n_free(self, family: NodeFamily, n_fixed: int = 0) -> int:
        """Return the number of causes, and one for the leak."""
        return 0 if n_fixed else n_causes(family) + self.leak

    def n_free_adjusted(self, family: NodeFamily, statistic: Counts, fixed: Ints | None = None) -> int:
        """Return the number of strengths that the data does not bring to zero or one: causes with both outcomes."""
        trials = self._trials(family, statistic)
        both = trials.z[trials.m0 > 0].any(axis=0) & trials.z[trials.m1 > 0].any(axis=0)
        return 0 if fixed is not None else int(np.count_nonzero(both))

    def residual(self, cpd: NoisyOrCPD, statistic: Counts, pseudo: None = None, fixed: Ints | None = None) -> float:
        """Return the largest slope that is not as it must be, per weight of the configurations that hold the cause.

        By −log(1 − strength) the slope is Σ m₁ p(absent)/p(present) − m₀. It must be zero, or not positive where the
        strength is zero; a strength of one must not have failed. Unknown strengths, or those set by
        ``unseen_parents``, count only where they change a probability.
        """
        if fixed is not None:
            return 0.0
        found = 0.0
        terms, m, _, pairs = self._slopes(cpd, statistic)
        for strength, held in pairs:
            if not held.any():
                continue
            if np.isinf(terms[held]).any():
                return math.inf
            slope = math.fsum(terms[held].tolist()) / math.fsum(m[held].tolist())
            found = max(found, abs(slope) if strength > 0 else slope)
        return found

    def distance(
        self, cpd: NoisyOrCPD, statistic: Counts, pseudo: None = None, fixed: Ints | None = None, point: str = "mle"
    ) -> Distance:
        """Return the Newton decrement by λ = −log(1 − strength).

        Strengths at zero whose slope is not positive, and those of one, are where they must be. A strength near zero
        that has to fall can gain its slope times λ at most, which counts where it is less than its Newton step gains.
        """
        if fixed is not None:
            return Distance()
        terms, _, curvature, pairs = self._slopes(cpd, statistic)
        pairs = [(strength, held) for strength, held in pairs if held.any()]
        if any(np.isinf(terms[held]).any() for _, held in pairs):
            return Distance.in_nats(math.inf, "an outcome that has no probability")
        g = np.array([math.fsum(terms[held].tolist()) for _, held in pairs])
        sizes = np.array([math.fsum(np.abs(terms[held]).tolist()) for _, held in pairs])
        z = np.array([held for _, held in pairs], np.float64).reshape(len(pairs), len(terms))
        h = (z * curvature) @ z.T
        strengths = np.array([strength for strength, _ in pairs])
        free = (strengths > 0) & (strengths < 1) | (strengths == 0) & (g > 0) | np.isnan(strengths) & (g != 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            fall = np.where(g < 0, g * np.log1p(-strengths), math.inf)
            bounded = free & (fall < g * g / np.diag(h) / 2)
        free &= ~bounded
        roots = np.sqrt(np.diag(h)[free])
        rounding = 8 * EPS * float((sizes[free] / np.where(roots > 0, roots, 1.0)).max(initial=0.0))
        gain = float(fall[bounded].sum())
        return Distance.in_nats(gain + quadratic_loss(g[free], h[np.ix_(free, free)], rounding), "")

    def _slopes(self, cpd: NoisyOrCPD, statistic: Counts) -> tuple[Floats, Floats, Floats, list[tuple[float, Bools]]]:
        """Return each cell's slope by Σ λ, its weight and its curvature; and strengths with the cells that hold them.

        The slope is m₁ p(absent)/p(present) or −m₀, infinite where the model rules out what occurs.
        """
        cells, m = statistic.nonzero()
        scope = cpd.family.scope
        columns = {name: cells[:, place] for place, name in enumerate(scope)}
        absent, present = (
            np.exp(cpd.log_prob({**columns, scope[-1]: np.full(len(cells), outcome)})) for outcome in (0, 1)
        )
        failed = cells[:, -1] == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = m * np.where(failed, -1.0, absent / present)
            curvature = np.where(failed, 0.0, m * absent / present / present)
        terms = np.where(failed & (absent == 0) | ~failed & (present == 0) | np.isnan(absent), math.inf, terms)
        pairs: list[tuple[float, Bools]] = [(cpd.leak, np.full(len(cells), self.leak))]
        for place, parent in enumerate(cpd.family.parents):
            pairs += [
                (cpd.strength(parent.name, label), cells[:, place] == code)
                for code, label in enumerate(parent.labels)
                if code
            ]
        return terms, m, curvature, pairs

    def log_likelihood(self, cpd: NoisyOrCPD, statistic: Counts) -> float:
        """Return the distribution's own sum."""
        return cpd.log_likelihood(statistic)

    def log_likelihood_terms(self, cpd: NoisyOrCPD, statistic: Counts) -> list[float]:
        """Return m · log p of every cell that occurs."""
        return terms_of_counts(cpd, statistic)

    def normalisation(self, cpd: NoisyOrCPD) -> float:
        """Return |Σ p − 1| of each cause alone and of all together, as far as they are known."""
        sizes = [parent.n_states for parent in cpd.family.parents]
        rows = [np.zeros(len(sizes), np.int64), np.array(sizes, np.int64) - 1]
        rows += [np.eye(len(sizes), dtype=np.int64)[place] * code for place, n in enumerate(sizes) for code in range(n)]
        totals = [math.fsum(row) for row in cpd.probabilities(np.array(rows)).tolist()]
        return max((abs(total - 1) for total in totals if not math.isnan(total)), default=0.0)


KIND = NoisyOrKind()
