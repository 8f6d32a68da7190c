"""Proof of a Markov random field's fit: the margins of the model against those wanted.

The margins are summed from the joint table while that is small; otherwise along another elimination order than the
fitter's. Beside them: whether the estimate exists, whether every step went up, whether Z was kept, and Pythagoras.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.judgement import judged
from suffice.certify.subgradient import decrement_under_penalty, residual_under_penalty
from suffice.data.variable import Variable
from suffice.inference.brute_force import log_joint
from suffice.inference.clique_family import TABLE_CELLS, FamilyPoint, Layout, TableFamily
from suffice.inference.facial import Face, facial_set
from suffice.inference.interactions import Interactions
from suffice.inference.interior import has_positive_match
from suffice.inference.product import Factor, Product, possible_cells
from suffice.inference.scaled_gaps import scaled_gaps
from suffice.inference.tree_family import TreeFamily
from suffice.models.clique_layout import factors_over, layout_of
from suffice.models.cpds.tabular import describe_configuration
from suffice.optimise.decrement import Decrement, decrement_by_products
from suffice.priors.dirichlet import BDeu
from suffice.priors.expert import Expert
from suffice.priors.penalty import Penalty
from suffice.priors.pseudo_margins import pseudo_margin
from suffice.stats.needs import Count
from suffice.types import Array, Floats

if TYPE_CHECKING:
    from suffice.learn.method import Step
    from suffice.models.markov_net import MarkovNetwork
    from suffice.structures.cliques import Cliques

ROUNDING = 1e-15
"""Margins are known to this relative accuracy."""
JOINT_CELLS = 1 << 14
"""Joint tables up to this size are written out."""
LARGE = 1 << 20
"""Trees with more cells than this are worth a second and a third look for a smaller one."""
STEADY = ("ipf", "adaptive")
"""The methods of which every step raises the likelihood."""


def certify(claim: Claim[Cliques, MarkovNetwork]) -> Certificate:
    """Measure the model's margins, and everything that follows from them."""
    seen = ExaminedCliques(claim)
    if seen.malformed:
        measured = Measured(_claim(claim, "yes"), math.inf, seen.malformed, math.nan, math.nan, "undecided")
        return verdict(measured, claim.log_likelihood, claim.tol, claim.interrupted)
    residual, worst = seen.residual
    exists, face = seen.existence
    decrement = seen.decrement if claim.point != "mean" and math.isfinite(residual) else None
    return judged(
        claim,
        Measured(
            claim=_claim(claim, exists),
            residual=residual,
            worst=worst,
            log_likelihood=seen.log_likelihood,
            normalisation=abs(float(seen.expected[: math.prod(seen.layout.shapes[0])].sum()) - 1),
            exists=exists,
            condition="the first-order condition" if claim.prior is not None else "the match of margins",
            # eq moment-matching
            moment_gap=None if isinstance(claim.prior, Penalty) else float(np.abs(seen.expected - seen.targets).max()),
            kl=seen.kl,
            pythagoras=seen.pythagoras,
            descent=largest_fall(claim.trace, seen.rounding) if claim.method in STEADY else None,
            z_drift=seen.z_drift,
            boundary="" if face is None else boundary_of(seen.variables, face),
            rounding=seen.rounding,
            decrement=None if decrement is None else decrement.size,
            decrement_worst="" if decrement is None else seen.named(decrement.place),
            deviation=seen.deviation if claim.point == "mean" else None,
        ),
    )


def _claim(claim: Claim[Cliques, MarkovNetwork], exists: str) -> str:
    if claim.point == "mle" and not claim.statistics.n_read:
        return "least divergence from the base measure" if claim.base else "maximum entropy"
    if claim.point == "mle":
        return "maximum likelihood, in the limit on the boundary" if exists == "no" else "maximum likelihood"
    if isinstance(claim.prior, Penalty):
        return "posterior mode of the u-terms"
    return "posterior mean" if claim.point == "mean" else "posterior mode of the log-potentials"


@dataclass(frozen=True, eq=False)
class ExaminedCliques:
    """A model looked at anew."""

    claim: Claim[Cliques, MarkovNetwork]

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in the order of the structure."""
        return tuple(self.claim.statistics.schema[name] for name in self.claim.structure.variables)

    @cached_property
    def layout(self) -> Layout:
        """The tables of the cliques."""
        return layout_of(self.claim.structure, self.claim.statistics.schema)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The model's tables; those of the cliques come first."""
        return factors_over(self.claim.model.factors, self.claim.structure.variables)

    @property
    def extra(self) -> tuple[Factor, ...]:
        """The model's tables beyond those of the cliques: the base measure, and the support of an extended estimate."""
        return self.factors[len(self.layout.scopes) :]

    @cached_property
    def theta(self) -> Floats:
        """The logarithms of the cliques' potentials."""
        with np.errstate(divide="ignore"):
            return np.log(self.layout.flat([factor.values for factor in self.factors[: len(self.layout.scopes)]]))

    @cached_property
    def is_small(self) -> bool:
        """Whether the joint table can be written out."""
        return math.prod(self.layout.sizes) <= JOINT_CELLS and len(self.layout.sizes) <= 30

    @cached_property
    def joint(self) -> tuple[Floats, float]:
        """The joint table p, and log Z."""
        names = tuple(variable.name for variable in self.variables)
        log_p = log_joint(Product(names, self.layout.sizes, self.factors))
        top = float(log_p.max())
        p = np.exp(log_p - top)
        return p / p.sum(), top + math.log(float(p.sum()))

    @cached_property
    def point(self) -> FamilyPoint:
        """The model as a member of a family along another elimination order than the fitter's."""
        names = [variable.name for variable in self.variables]
        arguments = (names, self.layout.sizes, self.layout.scopes, self.extra)
        tiny = self.is_small and math.prod(self.layout.sizes) <= TABLE_CELLS
        return (TableFamily(*arguments) if tiny else other_tree(*arguments)).at(self.theta)

    @cached_property
    def expected(self) -> Floats:
        """The model's margins, flat."""
        if not self.is_small:
            return self.point.expected
        held = {frozenset(range(len(self.layout.sizes))): self.joint[0]}
        tables = []
        for scope in self.layout.scopes:
            ranked = sorted(scope)
            tables.append(_margin(held, frozenset(scope)).transpose([ranked.index(v) for v in scope]))
        return self.layout.flat(tables)

    @cached_property
    def log_z(self) -> float:
        """The logarithm of the sum of all products of tables."""
        return self.joint[1] if self.is_small else self.point.log_z

    @cached_property
    def counts(self) -> Floats:
        """The counts of the cliques, flat."""
        return self.layout.flat(
            [self.claim.statistics[Count(clique)].table() for clique in self.claim.structure.cliques]
        )

    @cached_property
    def total(self) -> float:
        """N, pseudo-counts included; one where a penalty stands alone."""
        prior = self.claim.prior
        return self.claim.statistics.weight + (prior.ess if isinstance(prior, BDeu | Expert) else 0.0) or 1.0

    @cached_property
    def targets(self) -> Floats:
        """The margins wanted, flat."""
        if self.claim.statistics.weight == 0 and isinstance(self.claim.prior, Penalty):
            return self.layout.flat([np.full(shape, 1 / math.prod(shape)) for shape in self.layout.shapes])
        if self.claim.prior is None or isinstance(self.claim.prior, Penalty):
            return self.counts / self.claim.statistics.weight
        schema, prior = self.claim.statistics.schema, self.claim.prior
        pseudo = [pseudo_margin(prior, [schema[n] for n in clique]) for clique in self.claim.structure.cliques]
        return (self.counts + self.layout.flat(pseudo)) / self.total

    # What is measured -----------------------------------------------------------------------------------------

    @cached_property
    def residual(self) -> tuple[float, str]:
        """The largest violation of the first-order condition, and where it is."""
        fault = self.structural_fault
        if fault:
            return math.inf, fault
        if not np.isfinite(self.slopes).all():
            return math.inf, "a margin that is not finite"
        sizes = scaled_gaps(self.slopes, self.targets, self.total)
        position = int(np.argmax(sizes))
        return float(sizes[position]), self.named(position)

    @cached_property
    def slopes(self) -> Floats:
        """The derivatives of one row's objective by the parameters of the cells, flat."""
        gaps = self.expected - self.targets
        if isinstance(self.claim.prior, Penalty):
            return residual_under_penalty(self.claim.prior, self.layout, self.theta, gaps, self.total)
        return np.asarray(gaps)

    def named(self, position: int) -> str:
        """Name a cell of a clique's table by its place in the flat array."""
        number = int(np.searchsorted(self.layout.starts, position, "right")) - 1
        codes = np.unravel_index(position - int(self.layout.starts[number]), self.layout.shapes[number])
        where = describe_configuration(tuple(self.variables[v] for v in self.layout.scopes[number]), codes)
        return f"the margin of {':'.join(self.claim.structure.cliques[number])}, {where}"

    @cached_property
    def decrement(self) -> Decrement:
        """How much a Newton step would gain, in nats, and the cell with the largest part in it."""
        total, point, p = self.total, self.point, self.expected
        noise = ROUNDING * total * p
        if isinstance(self.claim.prior, Penalty):
            gaps = p - self.targets
            return decrement_under_penalty(self.claim.prior, self.layout, self.theta, gaps, point, total, noise)
        variance = total * p * (1 - p)
        return decrement_by_products(total * self.slopes, lambda v: total * point.curvature(v), variance, noise=noise)

    @property
    def deviation(self) -> float:
        """How far margins are from their posterior means, in posterior standard deviations."""
        t = self.targets
        spread = np.sqrt(np.maximum(t * (1 - t), 1e-300) / (self.total + 1))
        missed = np.maximum(np.abs(self.expected - t) - ROUNDING * t, 0.0)
        return float((missed / spread).max(initial=0.0))

    @cached_property
    def malformed(self) -> str:
        """What is wrong with the model before any number can be looked at."""
        wanted, factors = self.claim.structure.cliques, self.claim.model.factors
        if tuple(factor.names for factor in factors[: len(wanted)]) != wanted:
            return "the potentials, which are not those of the cliques"
        for variable in self.variables:
            held = self.claim.model.schema
            if variable.name not in held or not held[variable.name].has_states_of(variable):
                return f"{variable.name!r}, whose states are not those of the statistics"
        return ""

    @cached_property
    def structural_fault(self) -> str:
        """What is wrong with the tables that are not those of the cliques."""
        wanted, factors = self.claim.structure.cliques, self.claim.model.factors
        base, extra = self.claim.base, factors[len(wanted) :]
        same = len(extra) >= len(base) and all(
            a.names == b.names and np.array_equal(a.values, b.values) for a, b in zip(base, extra, strict=False)
        )
        if not same or len(extra) > len(base) + 1:
            return "the base measure, which is not the one that was given"
        if len(extra) == len(base) + 1:
            return self._fault_of_support(extra[-1])
        return ""

    def _fault_of_support(self, table: Any) -> str:
        """Whether the cells that the model rules out are those that the margins rule out."""
        face = self.existence[1]
        if face is None or face.support is None or table.names != self.claim.structure.variables:
            return "the support, which the margins do not ask for"
        return "" if np.array_equal(table.values > 0, face.support) else "the support, which is not the facial set"

    @cached_property
    def log_likelihood(self) -> float:
        """Σ m log (p/h), from the model's potentials and Z; h is the base measure, one without it."""
        seen = self.counts != 0
        return float(self.counts[seen].dot(self.theta[seen])) - self.claim.statistics.weight * self.log_z

    @cached_property
    def existence(self) -> tuple[str, Face | None]:
        """Whether the estimate exists, and the face it lies on if not."""
        if isinstance(self.claim.prior, Penalty) and self.claim.prior.main == math.inf:
            singles = [table for table in Interactions(self.layout).margins(self.targets) if table.ndim == 1]
            return ("yes" if all((table > 0).all() for table in singles) else "no"), None
        if self.claim.prior is not None:
            return "yes", None
        counts = self.joint_counts
        if counts is not None and not self.claim.base and (counts > 0).all():
            return "yes", None  # the data itself is a positive table with these margins
        if all((factor.values > 0).all() for factor in self.extra) and (self.targets > 0).all():
            near = JointSums(self.expected, self.joint[0]) if self.is_small else self.point
            if has_positive_match(near, self.layout, self.targets):
                return "yes", None
        face = facial_set(
            self.layout.sizes,
            self.layout.scopes,
            self.layout.tables(self.counts),
            allowed=self._allowed,
            observed=None if counts is None else counts > 0,
        )
        return face.exists, None if face.exists == "yes" else face

    @property
    def _allowed(self) -> NDArray[np.bool_] | None:
        """The cells that the base measure leaves."""
        if not self.claim.base or not self.is_small:
            return None
        return possible_cells(factors_over(self.claim.base, self.claim.structure.variables), self.layout.sizes)

    @cached_property
    def joint_counts(self) -> Array | None:
        """The counts of the whole table, if they were collected and can be written out."""
        need = Count(self.claim.structure.variables)
        if need not in self.claim.statistics or self.claim.statistics[need].cells is not None:
            return None
        table: Array = self.claim.statistics[need].table()
        return table

    @cached_property
    def _data_entropy(self) -> float | None:
        need = Count(self.claim.structure.variables)
        if need not in self.claim.statistics or self.claim.base or not self.claim.statistics.weight:
            return None
        m = self.claim.statistics[need].values
        m = m[m > 0] / self.claim.statistics.weight
        return -float((m * np.log(m)).sum())

    @cached_property
    def kl(self) -> float | None:
        """KL(p̃‖p), where the distinct rows were collected."""
        if self._data_entropy is None:
            return None
        return max(0.0, -self._data_entropy - self.log_likelihood / self.claim.statistics.weight)

    @cached_property
    def pythagoras(self) -> float | None:
        """How far KL(p̃‖u) is from KL(p̃‖p) + KL(p‖u), u being uniform; zero at the unpenalised optimum p."""
        if self.kl is None or self.claim.prior is not None or self._data_entropy is None or not self.is_small:
            return None
        p = self.joint[0]
        held = p[p > 0]
        entropy = -float((held * np.log(held)).sum())
        return abs(self.kl - (entropy - self._data_entropy))  # eq pythagoras

    @property
    def rounding(self) -> float:
        """What rounding alone may change a log-likelihood by: it is a difference of numbers of size N log Z."""
        return 1e-14 * self.claim.statistics.weight * max(1.0, abs(self.log_z))

    @cached_property
    def z_drift(self) -> float | None:
        """By how much log Z changed from the start of proportional fitting, whose steps keep it."""
        start = self.claim.diagnostics.get("log_z")
        return None if start is None else abs(self.log_z - start)


@dataclass(frozen=True, eq=False)
class JointSums:
    """What is known of a model whose joint table was written out."""

    expected: Floats
    p: Floats

    def least(self) -> list[tuple[tuple[int, ...], float]]:
        """Return all variables as one clique, with the least probability of a configuration."""
        return [(tuple(range(self.p.ndim)), float(self.p.min()))]


def _margin(held: dict[frozenset[int], Floats], wanted: frozenset[int]) -> Floats:
    """Return a margin, axes ascending, summing one variable at a time out of the smallest table at hand; keep them."""
    start = min((scope for scope in held if wanted <= scope), key=lambda scope: held[scope].size)
    for variable in sorted(start - wanted, reverse=True):
        table = held[start].sum(axis=sorted(start).index(variable))
        start = start - {variable}
        held[start] = table
    return held[start]


def largest_fall(trace: Sequence[Step], rounding: float) -> float:
    """Return the largest fall of the objective in one step, relative to its size; zero when every step went up."""
    values = np.array([step.objective for step in trace])
    falls = values[:-1] - values[1:] - rounding
    return float(max(0.0, falls.max(initial=0.0))) / max(1.0, float(np.abs(values).max(initial=0.0)))


def other_tree(names: Any, sizes: Any, scopes: Any, base: Any) -> TreeFamily:
    """Return the family along an elimination order other than the fitter's, which begins by least weighted fill-in.

    Where both orders lead to the same cliques, as they must for chordal graphs, the tree still hangs from its other
    end, so that every message goes the other way.
    """
    plans = [TreeFamily.plan_of(names, sizes, scopes, base, "min_degree")]
    if plans[0].cells > LARGE:
        plans += [TreeFamily.plan_of(names, sizes, scopes, base, rule) for rule in ("min_fill", "min_table")]
    best = min(plans, key=lambda plan: plan.cells)
    return TreeFamily(names, sizes, scopes, base, plan=best.rooted_at(0))


def boundary_of(variables: tuple[Variable, ...], face: Face) -> str:
    """Name the first cells and parameters that run away."""
    lost = face.lost or ()
    cells = [describe_configuration(variables, codes) for _, codes in (face.lost.first(3) if face.lost else ())]
    margins = [
        describe_configuration(tuple(variables[v] for v in face.scopes[number]), codes)
        for number, codes in face.zero_margins.first(3)
    ]
    parts = []
    if lost:
        parts.append(f"{len(lost):,} fitted cells are zero ({'; '.join(cells)}{'; …' if len(lost) > 3 else ''})")
    if margins:
        more = "; …" if len(face.zero_margins) > 3 else ""
        parts.append(f"{len(face.zero_margins):,} margins are zero ({'; '.join(margins)}{more})")
    return ", ".join(parts)
