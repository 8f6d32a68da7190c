"""Proof of a log-linear model's fit: the expectations of its features against those wanted.

Features are evaluated anew by their rules. Expectations are summed over all configurations while these are few;
otherwise they come from marginals along another elimination order than the fitter's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify import conditional, density, pseudo_likelihood, sampled
from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.cliques import largest_fall, other_tree
from suffice.certify.feature_values import data_moments, matrix_at, on_grid, term_table
from suffice.certify.recount import recount_gap
from suffice.certify.weight_residual import residual_of
from suffice.inference.clique_family import Layout, Point
from suffice.inference.moment_hull import face
from suffice.models.clique_layout import factors_over
from suffice.priors.penalty import Penalty
from suffice.stats.needs import Count
from suffice.structures.feature_rules import Feature

Floats = NDArray[np.float64]
MOST_NUMBERS = 20_000_000
"""Tables of all features at all configurations are written out up to this size."""
STEADY = ("gis", "ipf")
"""The methods of which every step raises the likelihood."""
CG_STEPS = 60


def certify(claim: Claim) -> Certificate:
    """Examine a log-linear fit by the objective that it claims to optimise."""
    if claim.structure.given:
        return conditional.certify(claim)
    if claim.structure.continuous:
        return density.certify(claim)
    if claim.method == "pseudo_likelihood":
        return pseudo_likelihood.certify(claim)
    if claim.method == "stochastic":
        return sampled.certify(claim)
    return _certify(claim)


def _certify(claim: Claim) -> Certificate:
    seen = Examined(claim)
    if seen.malformed:
        measured = Measured(claim_of(claim, "yes"), math.inf, seen.malformed, math.nan, math.nan, "undecided")
        return verdict(measured, claim.log_likelihood, claim.tol, claim.interrupted)
    exists = seen.exists
    residual, worst = seen.residual
    data_gap, data_worst = (None, "") if claim.source is None else recount_gap(claim.source, claim.statistics)
    gaps = np.abs(seen.expected - seen.targets)
    return verdict(
        Measured(
            claim=claim_of(claim, exists),
            residual=residual,
            worst=worst,
            log_likelihood=seen.log_likelihood,
            normalisation=seen.normalisation,
            exists=exists,
            condition="the first-order condition" if claim.prior is not None else "the match of expectations",
            data_gap=data_gap,
            data_worst=data_worst,
            moment_gap=None if claim.prior is not None else float(gaps.max(initial=0.0)),
            kl=seen.kl,
            pythagoras=seen.pythagoras,
            descent=largest_fall(claim, seen.rounding) if claim.method in STEADY else None,
            boundary=seen.boundary,
            rounding=seen.rounding,
            dual=seen.dual,
            duality_gap=None if seen.dual is None else abs(float(seen.weights.dot(seen.expected - seen.targets))),
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )


def claim_of(claim: Claim, exists: str) -> str:
    """Say what the fit claims to be."""
    if claim.point == "mle" and not claim.statistics.n_read:
        return "least divergence from the base measure" if claim.base else "maximum entropy"
    if claim.point == "mle":
        return "maximum likelihood, in the limit on the boundary" if exists == "no" else "maximum likelihood"
    return "posterior mode of the weights"


@dataclass(frozen=True, eq=False)
class Examined:
    """A model looked at anew."""

    claim: Claim

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
    def names(self) -> tuple[str, ...]:
        """The variables."""
        found: tuple[str, ...] = self.claim.structure.variables
        return found

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Their numbers of states."""
        return tuple(self.claim.statistics.schema[name].n_states for name in self.names)

    @cached_property
    def limits(self) -> NDArray[np.bool_]:
        """The weights that ran away."""
        return np.asarray(~np.isfinite(self.claim.model.weights.to_numpy()), bool)

    @cached_property
    def weights(self) -> Floats:
        """The weights; zero in place of those that ran away, whose work a support does."""
        values = self.claim.model.weights.to_numpy()
        return np.where(self.limits, 0.0, values)

    # By enumeration -------------------------------------------------------------------------------------------

    @cached_property
    def is_small(self) -> bool:
        """Whether all features at all configurations can be written out."""
        cells = math.prod(self.sizes)
        return cells * max(len(self.features), len(self.names), 1) <= MOST_NUMBERS and len(self.sizes) <= 60

    @cached_property
    def values(self) -> Floats:
        """f(x) of every configuration; shape (configurations, n_weights)."""
        return matrix_at(self.features, on_grid(self.names, self.sizes))

    @cached_property
    def log_base(self) -> Floats:
        """Log h of every configuration, supports included."""
        index, place = np.unravel_index(np.arange(math.prod(self.sizes)), self.sizes), list(self.names)
        total = np.zeros(math.prod(self.sizes))
        with np.errstate(divide="ignore"):
            for table in (*self.claim.model.base, *self.claim.model.support):
                total += np.log(table.values[tuple(index[place.index(name)] for name in table.names)])
        return total

    @cached_property
    def joint(self) -> tuple[Floats, float]:
        """p(x) of every configuration, and log Z."""
        log_p = self.values @ self.weights + self.log_base
        top = float(log_p.max())
        p = np.exp(log_p - top)
        return p / p.sum(), top + math.log(float(p.sum()))

    # Along another tree ---------------------------------------------------------------------------------------

    @cached_property
    def layout(self) -> Layout:
        """The scopes of the features' terms, as tables."""
        place = {name: position for position, name in enumerate(self.names)}
        scopes = dict.fromkeys(tuple(place[n] for n in term.scope) for f in self.features for term in f.terms)
        return Layout(self.sizes, tuple(scopes))

    @cached_property
    def point(self) -> Point:
        """The model as a member of a family along another elimination order than the fitter's."""
        extra = factors_over((*self.claim.model.base, *self.claim.model.support), self.names)
        return other_tree(list(self.names), self.sizes, self.layout.scopes, extra).at(self.theta)

    @cached_property
    def tables(self) -> list[list[tuple[int, Floats]]]:
        """For every feature, its terms: the number of the scope, and the values over it."""
        place = {name: position for position, name in enumerate(self.names)}
        number = {scope: position for position, scope in enumerate(self.layout.scopes)}
        sizes = dict(zip(self.names, self.sizes, strict=True))
        return [
            [(number[tuple(place[n] for n in term.scope)], term_table(term, sizes)) for term in feature.terms]
            for feature in self.features
        ]

    def combined(self, weights: Floats) -> Floats:
        """Return Σ w f over every scope, flat."""
        flat = np.zeros(self.layout.n)
        views = self.layout.tables(flat)
        for weight, terms in zip(weights, self.tables, strict=True):
            for scope, table in terms:
                views[scope] += weight * table
        return flat

    def summed(self, cells: Floats) -> Floats:
        """Return Σ cells · f of every feature."""
        views = self.layout.tables(cells)
        return np.array([sum(float((views[s] * table).sum()) for s, table in terms) for terms in self.tables])

    @cached_property
    def theta(self) -> Floats:
        """The log-potentials of all scopes."""
        return self.combined(self.weights)

    # What is measured -----------------------------------------------------------------------------------------

    @cached_property
    def log_z(self) -> float:
        """The logarithm of Z."""
        return self.joint[1] if self.is_small else self.point.log_z

    @cached_property
    def expected(self) -> Floats:
        """The model's expectations."""
        if self.is_small:
            return np.asarray(self.joint[0] @ self.values, np.float64)
        return self.summed(self.point.expected)

    @cached_property
    def normalisation(self) -> float:
        """How far the total probability is from one, as the model itself gives it."""
        if self.is_small:
            rows = np.arange(min(len(self.values), 4096))
            columns = on_grid(self.names, self.sizes)
            own = self.claim.model.log_prob_of({name: column[rows] for name, column in columns.items()}, len(rows))
            return float(np.abs(np.exp(own) - self.joint[0][rows]).max(initial=0.0))
        return abs(float(self.layout.tables(self.point.expected)[0].sum()) - 1)

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """The data's means of features, and of their squares."""
        means, squares = data_moments(self.claim, self.features)
        if not self.claim.statistics.weight:
            zero = Examined(self.claim)
            object.__setattr__(zero, "weights", np.zeros(len(self.features)))
            return zero.expected, np.abs(zero.expected)
        return means, squares

    @property
    def targets(self) -> Floats:
        """The expectations wanted."""
        return self.moments[0]

    @cached_property
    def spread(self) -> Floats:
        """The largest minus the least value of each feature, or a bound on it."""
        if self.is_small:
            return np.asarray(self.values.max(axis=0) - self.values.min(axis=0), np.float64)
        return np.array([sum(float(np.ptp(table)) for _, table in terms) for terms in self.tables])

    @cached_property
    def residual(self) -> tuple[float, str]:
        """The largest violation of the first-order condition, and where it is."""
        fault = self.fault_of_support
        if fault:
            return math.inf, fault
        main = np.array([len(feature.variables) == 1 for feature in self.features], bool)
        variance = np.maximum(self.moments[1] - self.targets**2, self.moments[1] / 1000)
        names = tuple(feature.name for feature in self.features)
        return residual_of(self.claim, names, self.weights, self.expected - self.targets, self.spread, variance, main)

    @cached_property
    def fault_of_support(self) -> str:
        """Whether the support is the face on which the targets lie, where that can be told."""
        supports = self.claim.model.support
        if not supports and not self.limits.any():
            return ""
        if self.claim.prior is not None:
            return "the support, which a prior leaves no room for"
        if self.is_small and self.on_face is not None and self.on_face.support is not None:
            held = np.isfinite(self.log_base)
            possible = self.possible
            wanted = np.zeros(len(held), bool)
            wanted[possible] = self.on_face.support
            return "" if np.array_equal(held, wanted) else "the support, which is not the face that holds the targets"
        return ""

    @cached_property
    def possible(self) -> NDArray[np.intp]:
        """The configurations that the base measure allows."""
        index, place = np.unravel_index(np.arange(math.prod(self.sizes)), self.sizes), list(self.names)
        held = np.ones(math.prod(self.sizes), bool)
        for table in self.claim.base:
            held &= table.values[tuple(index[place.index(name)] for name in table.names)] > 0
        return np.flatnonzero(held)

    @cached_property
    def on_face(self) -> Any:
        """The face of the moments' hull that holds the targets."""
        return face(self.values[self.possible], self.targets) if math.prod(self.sizes) <= 1 << 14 else None

    @cached_property
    def exists(self) -> str:
        """Whether the estimate exists."""
        if self.claim.prior is not None:
            penalty: Penalty = self.claim.prior
            return "yes" if penalty.main != math.inf else "undecided"
        if self.limits.any() or self.claim.model.support:
            return "no"
        if self._near_interior():
            return "yes"
        return "undecided" if self.on_face is None or not self.is_small else str(self.on_face.exists)

    def _near_interior(self) -> bool:
        """Whether p can be changed a little, staying positive everywhere, to have the targets to rounding error.

        With v = Cov⁺ (α − E), p (1 + v·(f − E)) has the moments α and is positive where Σ |v_j| spread_j < 1. The
        system is solved by conjugate gradients; the features' covariance in the data makes them quick.
        """
        left = self.targets - self.expected
        if not np.abs(left).max(initial=0.0) > 0:
            return True
        rough = self._rough_inverse
        v, towards = np.zeros_like(left), rough(left)
        direction, size = towards, float(left.dot(towards))
        start = float(left.dot(left))
        for _ in range(CG_STEPS):
            image = self._curvature(direction)
            slope = float(direction.dot(image))
            if slope <= 0:
                break
            v = v + size / slope * direction
            left = left - size / slope * image
            if float(left.dot(left)) <= 1e-6 * start:
                return float(np.abs(v).dot(self.spread)) < 0.5
            towards = rough(left)
            before, size = size, float(left.dot(towards))
            direction = towards + size / before * direction
        return False

    @cached_property
    def _rough_inverse(self) -> Callable[[Floats], Floats]:
        """About Cov⁻¹, to be applied: from whole rows of data where they were counted, else from variances."""
        k, need = len(self.features), Count(self.names)
        variance = np.maximum(self.moments[1] - self.targets**2, 1e-6 * self.moments[1] + 1e-300)
        if need not in self.claim.statistics or k > 1000:
            return lambda gap: gap / variance
        codes, counts = self.claim.statistics[need].nonzero()
        if len(counts) * k > MOST_NUMBERS:
            return lambda gap: gap / variance
        rows = matrix_at(self.features, dict(zip(self.names, codes.T, strict=True)))
        shares = np.asarray(counts, np.float64) / counts.sum()
        centred = rows - shares @ rows
        covariance = centred.T @ (centred * shares[:, None])
        inverse = np.linalg.inv(covariance + np.diag(1e-3 * variance))
        return lambda gap: inverse @ gap

    def _curvature(self, direction: Floats) -> Floats:
        if self.is_small:
            along = self.values @ direction
            p = self.joint[0]
            return np.asarray((p * (along - float(p.dot(along)))) @ self.values, np.float64)
        return self.summed(self.point.curvature(self.combined(direction)))

    @cached_property
    def log_likelihood(self) -> float:
        """Σ log (p/h) over the data; h is the base measure, one without it."""
        return self.claim.statistics.weight * (float(self.weights.dot(data_moments(self.claim, self.features)[0]))
                                               - self.log_z)  # fmt: skip

    @property
    def dual(self) -> float | None:
        """w·α − log Z, with h scaled to a distribution where its total is known."""
        if self.claim.prior is not None or not self.claim.statistics.weight:
            return None
        value = float(self.weights.dot(self.targets)) - self.log_z
        if not self.is_small:
            return value + self._log_base_total if self._log_base_total is not None else None
        log_h = self.log_base if not self.claim.model.support else self._log_h
        top = float(log_h.max())
        return value + top + math.log(float(np.exp(log_h - top).sum()))

    @cached_property
    def _log_h(self) -> Floats:
        held = np.full(math.prod(self.sizes), -math.inf)
        index, place = np.unravel_index(self.possible, self.sizes), list(self.names)
        held[self.possible] = 0.0
        for table in self.claim.base:
            held[self.possible] += np.log(table.values[tuple(index[place.index(name)] for name in table.names)])
        return held

    @property
    def _log_base_total(self) -> float | None:
        return None if self.claim.base else float(np.log(np.array(self.sizes, np.float64)).sum())

    @cached_property
    def _data_entropy(self) -> float | None:
        need = Count(self.names)
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
        if self.kl is None or self.claim.prior is not None or self._data_entropy is None or not self.is_small:
            return None
        held = self.joint[0][self.joint[0] > 0]
        return abs(self.kl - (-float((held * np.log(held)).sum()) - self._data_entropy))

    @property
    def rounding(self) -> float:
        """What rounding alone may change a log-likelihood by."""
        return 1e-14 * self.claim.statistics.weight * max(1.0, abs(self.log_z))

    @property
    def boundary(self) -> str:
        """What runs away when the estimate does not exist."""
        names = [feature.name for feature, runs in zip(self.features, self.limits, strict=True) if runs]
        if not names:
            return "a combination of features is at the end of its range" if self.claim.model.support else ""
        return f"weights run away: {'; '.join(names[:3])}{'; …' if len(names) > 3 else ''}"
