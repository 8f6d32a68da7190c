"""Proof of a log-linear model's fit: the expectations of its features against those wanted.

Features are evaluated anew by their rules. Expectations are summed over all configurations while these are few;
otherwise they come from marginals along another elimination order than the fitter's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify import conditional, density, pseudo_likelihood, sampled
from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim, is_of
from suffice.certify.cliques import largest_fall
from suffice.certify.feature_members import ByTree, Enumerated, member_of
from suffice.certify.feature_values import matrix_at
from suffice.certify.judgement import judged
from suffice.certify.near_interior import is_near_interior
from suffice.certify.weight_decrement import WeightCurvature, decrement_at
from suffice.certify.weight_residual import newton_distance, prior_slopes, residual_of
from suffice.inference.moment_hull import face
from suffice.models.conditional_log_linear import ConditionalLogLinear
from suffice.models.log_linear import LogLinear
from suffice.models.log_linear_density import LogLinearDensity
from suffice.priors.penalty import Laplace, Penalty
from suffice.stats.needs import Count
from suffice.structures.feature_rules import Feature, main_effects
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.feature_design import FeatureModel
    from suffice.structures.features import Features

MOST_PRODUCTS = 200_000_000
"""Up to so many products, covariances are taken apart in full."""
FACE_CELLS = 1 << 14
"""Models of up to so many configurations have their hull looked at."""
STEADY = ("gis", "ipf")
"""The methods of which every step raises the likelihood."""


def certify(claim: Claim[Features, FeatureModel]) -> Certificate:
    """Examine a log-linear fit by the objective that it claims to optimise."""
    if is_of(claim, ConditionalLogLinear):
        return conditional.certify(claim)
    if is_of(claim, LogLinearDensity):
        return density.certify(claim)
    assert is_of(claim, LogLinear)
    if claim.method == "pseudo_likelihood":
        return pseudo_likelihood.certify(claim)
    if claim.method == "stochastic":
        return sampled.certify(claim)
    return _certify(claim)


def _certify(claim: Claim[Features, LogLinear]) -> Certificate:
    seen = ExaminedFeatures(claim)
    if seen.malformed:
        measured = Measured(claim_of(claim, "yes"), math.inf, seen.malformed, math.nan, math.nan, "undecided")
        return verdict(measured, claim.log_likelihood, claim.tol, claim.interrupted)
    exists = seen.exists
    residual, worst = seen.residual
    decrement, decrement_worst = seen.decrement
    gaps = np.abs(seen.expected - seen.targets)
    return judged(
        claim,
        Measured(
            claim=claim_of(claim, exists),
            residual=residual,
            worst=worst,
            log_likelihood=seen.log_likelihood,
            normalisation=seen.member.normalisation,
            exists=exists,
            condition="the first-order condition" if claim.prior is not None else "the match of expectations",
            moment_gap=None if claim.prior is not None else float(gaps.max(initial=0.0)),
            kl=seen.kl,
            pythagoras=seen.pythagoras,
            descent=largest_fall(claim.trace, seen.rounding) if claim.method in STEADY else None,
            boundary=seen.boundary,
            rounding=seen.rounding,
            dual=seen.dual,
            duality_gap=None if seen.dual is None else abs(float(seen.weights.dot(seen.expected - seen.targets))),
            decrement=decrement,
            decrement_worst=decrement_worst,
        ),
    )


def claim_of(claim: Claim[Features, LogLinear], exists: str) -> str:
    """Say what the fit claims to be."""
    if claim.point == "mle" and not claim.statistics.n_read:
        return "least divergence from the base measure" if claim.base else "maximum entropy"
    if claim.point == "mle":
        return "maximum likelihood, in the limit on the boundary" if exists == "no" else "maximum likelihood"
    return "posterior mode of the weights"


@dataclass(frozen=True, eq=False)
class ExaminedFeatures:
    """A model looked at anew."""

    claim: Claim[Features, LogLinear]

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The features, their states known."""
        found: tuple[Feature, ...] = self.claim.structure.resolved(self.claim.statistics.schema)
        return found

    @cached_property
    def malformed(self) -> str:
        """What is wrong with the model before any number can be looked at."""
        model, schema = self.claim.model, self.claim.statistics.schema
        if tuple(feature.name for feature in self.features) != tuple(model.weights):
            return "the weights, which are not those of the features"
        for name in self.claim.structure.columns:
            if name not in model.schema or not model.schema[name].has_states_of(schema[name]):
                return f"{name!r}, whose states are not those of the statistics"
        same = len(model.base) == len(self.claim.base) and all(
            a.names == b.names and np.array_equal(a.values, b.values)
            for a, b in zip(self.claim.base, model.base, strict=True)
        )
        return "" if same else "the base measure, which is not the one that was given"

    @cached_property
    def limits(self) -> NDArray[np.bool_]:
        """The weights that ran away."""
        return np.asarray(~np.isfinite(self.claim.model.weights.to_numpy()), bool)

    @cached_property
    def weights(self) -> Floats:
        """The weights; zero in place of those that ran away, whose work a support does."""
        return np.where(self.limits, 0.0, self.claim.model.weights.to_numpy())

    @cached_property
    def member(self) -> Enumerated | ByTree:
        """The model, looked at anew."""
        return member_of(self.claim, self.features, self.weights)

    @property
    def expected(self) -> Floats:
        """The model's expectations."""
        return self.member.expected

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """The data's means of features, and about their variances."""
        if not self.claim.statistics.weight:  # a penalty alone: no target is better than the base measure's own
            found = member_of(self.claim, self.features, np.zeros(len(self.features))).expected
            return found, np.abs(found)
        return self.member.moments()

    @property
    def targets(self) -> Floats:
        """The expectations wanted."""
        return self.moments[0]

    @cached_property
    def residual(self) -> tuple[float, str]:
        """The largest violation of the first-order condition, and where it is."""
        fault = self.fault_of_support
        if fault:
            return math.inf, fault
        main, gaps = main_effects(self.features), self.expected - self.targets
        found = residual_of(self.claim, self.names, self.weights, gaps, self.member.unit, self.moments[1], main)
        distance = self._distance(gaps, main)
        return (distance, "a combination of features that vary little") if distance > found[0] else found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def _deviations(self) -> Floats | None:
        """Rows whose squares sum to the covariance of the features, where they are few."""
        member, n = self.member, len(self.features)
        if not isinstance(member, Enumerated) or math.prod(member.sizes) * n**2 > MOST_PRODUCTS:
            return None
        return np.asarray((member.values - member.expected) * np.sqrt(member.joint[0])[:, None])

    @property
    def decrement(self) -> tuple[float, str]:
        """How much a Newton step would gain, in nats, and where."""
        return self.decrement_of(self.expected - self.targets, self.moments[1])

    def decrement_of(self, gaps: Floats, variance: Floats) -> tuple[float, str]:
        """Return how much a Newton step would gain where expectations have some gaps, in nats, and where."""
        member, rows = self.member, self._deviations
        curvature = WeightCurvature(member.size, None if rows is None else rows.T @ rows, member.curvature, variance)
        main = main_effects(self.features)
        return decrement_at(self.claim, self.names, self.weights, self.limits, gaps, main, curvature)

    def _distance(self, gaps: Floats, main: NDArray[np.bool_]) -> float:
        """Return how far the optimum is, in whatever direction, where all features are written out."""
        member, deviations = self.member, self._deviations
        if not isinstance(member, Enumerated) or deviations is None or isinstance(self.claim.prior, Laplace):
            return 0.0
        slopes, rows = prior_slopes(self.claim, self.weights, main)
        free = ~self.limits
        total = self.claim.statistics.weight or 1.0
        size = np.abs(member.values).max(axis=0)[free]
        return newton_distance(np.vstack([deviations, rows])[:, free], (gaps + slopes)[free], total, size)

    @cached_property
    def fault_of_support(self) -> str:
        """Whether the support is the face on which the targets lie, where that can be told."""
        supports = self.claim.model.support
        if not supports and not self.limits.any():
            return ""
        if self.claim.prior is not None:
            return "the support, which a prior leaves no room for"
        member = self.member
        if isinstance(member, Enumerated) and self.on_face is not None and self.on_face.support is not None:
            held = np.isfinite(member.log_base)
            wanted = np.zeros(len(held), bool)
            wanted[member.possible] = self.on_face.support
            return "" if np.array_equal(held, wanted) else "the support, which is not the face that holds the targets"
        return ""

    @cached_property
    def on_face(self) -> Any:
        """The face of the moments' hull that holds the targets, for small models."""
        member = self.member
        if not isinstance(member, Enumerated) or math.prod(member.sizes) > FACE_CELLS:
            return None
        return face(member.values[member.possible], self.targets)

    @cached_property
    def exists(self) -> str:
        """Whether the estimate exists."""
        if self.claim.prior is not None:
            penalty: Penalty = self.claim.prior
            return "yes" if penalty.main != math.inf else "undecided"
        if self.limits.any() or self.claim.model.support:
            return "no"
        gap = self.targets - self.expected
        if is_near_interior(gap, self.member.curvature, self._rough_inverse, self.member.spread):
            return "yes"
        return "undecided" if self.on_face is None else str(self.on_face.exists)

    @cached_property
    def _rough_inverse(self) -> Callable[[Floats], Floats]:
        """About Cov⁻¹, to be applied: from whole rows of data where they were counted, else from variances."""
        k, need = len(self.features), Count(self.claim.structure.variables)
        variance = np.maximum(self.moments[1], 1e-12 * self.member.spread**2 + 1e-300)
        if need not in self.claim.statistics or k > 1000:
            return lambda gap: gap / variance
        codes, counts = self.claim.statistics[need].nonzero()
        every = 1 + len(counts) * k // 600_000  # some of the rows will do
        codes, counts = codes[::every], counts[::every]
        rows = matrix_at(self.features, dict(zip(self.claim.structure.variables, codes.T, strict=True)))
        shares = np.asarray(counts, np.float64) / counts.sum()
        centred = rows - shares @ rows
        covariance = centred.T @ (centred * shares[:, None])
        inverse = np.linalg.inv(covariance + np.diag(1e-3 * variance))
        return lambda gap: inverse @ gap

    @cached_property
    def log_likelihood(self) -> float:
        """Σ log (p/h) over the data; h is the base measure, one without it."""
        weight = self.claim.statistics.weight
        return weight * (float(self.weights.dot(self.targets)) - self.member.log_z) if weight else 0.0

    @property
    def dual(self) -> float | None:
        """w·α − log Z, with h scaled to a distribution; None where its total is not known."""
        total = self.member.log_base_total
        if self.claim.prior is not None or not self.claim.statistics.weight or total is None:
            return None
        return float(self.weights.dot(self.targets)) - self.member.log_z + total  # eq maxent-dual

    @cached_property
    def _data_entropy(self) -> float | None:
        need = Count(self.claim.structure.variables)
        if need not in self.claim.statistics or self.claim.base or not self.claim.statistics.weight:
            return None
        m = np.asarray(self.claim.statistics[need].values, np.float64)
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
        entropy = self.member.entropy
        if self.kl is None or self.claim.prior is not None or self._data_entropy is None or entropy is None:
            return None
        return abs(self.kl - (entropy - self._data_entropy))

    @property
    def rounding(self) -> float:
        """What rounding alone may change a log-likelihood by."""
        return 1e-14 * self.claim.statistics.weight * max(1.0, abs(self.member.log_z))

    @property
    def boundary(self) -> str:
        """What runs away when the estimate does not exist."""
        names = [feature.name for feature, runs in zip(self.features, self.limits, strict=True) if runs]
        if not names:
            return "a combination of features is at the end of its range" if self.claim.model.support else ""
        return f"weights run away: {'; '.join(names[:3])}{'; …' if len(names) > 3 else ''}"
