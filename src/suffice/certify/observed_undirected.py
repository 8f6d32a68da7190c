"""What is measured of a product of potentials that was learnt from rows with gaps: observed likelihood and gradient.

By Fisher's identity the gradient of the observed log-likelihood is E[f | observed] − N E[f], here for the cells of
cliques or for features. The first is summed over the rows anew, each of them as evidence in the whole network; the
second comes from the joint table, or along another elimination order than the fitter's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.certify import cliques, features
from suffice.certify.claim import Claim
from suffice.certify.feature_members import ByTree
from suffice.certify.observed_discrete import CountTally, ExpectedCounts, Observed
from suffice.certify.observed_rows import ObservedRows
from suffice.certify.subgradient import decrement_under_penalty, residual_under_penalty
from suffice.certify.weight_residual import residual_of
from suffice.data.variable import Variable
from suffice.errors import StatisticsError
from suffice.inference.clique_family import Layout, family_of
from suffice.inference.facial import facial_set
from suffice.inference.product import Factor
from suffice.models.clique_layout import factors_over
from suffice.models.cpds.tabular import describe_configuration
from suffice.optimise.decrement import decrement_by_products
from suffice.optimise.distance import Distance
from suffice.priors.penalty import Penalty
from suffice.priors.pseudo_margins import pseudo_margin
from suffice.structures.cliques import Cliques
from suffice.structures.feature_rules import main_effects
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.log_linear import LogLinear
    from suffice.models.markov_net import MarkovNetwork
    from suffice.structures.features import Features

LIFT = 1e-9
"""What zeros are replaced by, beside the largest of their table, to see whether the likelihood rises with them."""
ROUNDING = 1e-15
"""Margins are known to this relative accuracy."""
RISES = ", where the potential is zero and the likelihood rises with it"


def measured_cliques(claim: Claim[Cliques, MarkovNetwork]) -> Observed:
    """Read the rows again, and measure the observed likelihood of a Markov random field and its gradient, a row."""
    return _Cliques(claim).observed


def measured_features(claim: Claim[Features, LogLinear]) -> Observed:
    """Read the rows again, and measure the observed likelihood of a log-linear model and its gradient, a row."""
    return _Features(claim).observed


@dataclass(frozen=True, eq=False)
class _Tables:
    """Tables one after another, over which rows are summed.

    Attributes
    ----------
    claim : Claim
    layout : Layout
        Of the tables whose expected counts are asked for.
    theta : array
        Their logarithms.
    extra : tuple of Factor
        Other tables: supports, and ones for variables that have no table.
    """

    claim: Claim[Cliques | Features, MarkovNetwork]
    layout: Layout
    theta: Floats
    extra: tuple[Factor, ...]

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in the order of the structure."""
        return tuple(self.claim.statistics.schema[name] for name in self.claim.structure.variables)

    @cached_property
    def tally(self) -> CountTally:
        """The sums over all rows; their log-likelihood lacks N log Z alone."""
        assert self.claim.source is not None
        inside = {v for scope in (*self.layout.scopes, *(f.scope for f in self.extra)) for v in scope}
        lonely = [Factor((v,), np.ones(n)) for v, n in enumerate(self.layout.sizes) if v not in inside]
        others = (*self.extra, *lonely)
        network = ObservedRows(
            tuple(variable.name for variable in self.variables),
            self.layout.sizes,
            (*self.layout.scopes, *(factor.scope for factor in others)),
        )
        network.require_room()
        tops = [float(table.max()) for table in self.layout.tables(self.theta)]
        tops = [top if top > -math.inf else 0.0 for top in tops]
        scaled = [np.exp(table - top) for table, top in zip(self.layout.tables(self.theta), tops, strict=True)]
        values = np.concatenate([self.layout.flat(scaled), *(factor.values.reshape(-1) for factor in others)])
        task = ExpectedCounts(network, self.variables, values)
        found = self.claim.source.reduce(task)[task.need].values
        n = len(self.variables)
        head, counts = found[:3], found[3 + n : 3 + n + self.layout.n]
        log_likelihood = float(head[0]) + math.fsum(tops) * (float(head[2]) - float(head[1]))
        return CountTally(log_likelihood, float(head[1]), float(head[2]), found[3 : 3 + n], counts)

    @property
    def impossible(self) -> Observed | None:
        """What is said where the tables rule rows out."""
        weight = self.tally.impossible
        if not weight:
            return None
        rows = plural(int(weight), "row") if weight == int(weight) else f"rows of weight {weight:g}"
        return Observed(-math.inf, math.inf, f"{rows} that the potentials rule out")

    def remarks(self) -> Iterator[str]:
        """Say what the data leave open."""
        latent = dict(self.claim.structure.latent)
        for variable, seen in zip(self.variables, self.tally.seen, strict=True):
            if seen == 0 and variable.name not in latent and self.tally.weight > 0:
                yield f"{variable.name!r} is missing in every row"
        for name, n in latent.items():
            if n > 1 and isinstance(self.claim.structure, Cliques):
                yield f"the states of {name!r} have no order, and exchanging them gives the same likelihood"


# Cliques ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Cliques:
    """A Markov random field looked at anew."""

    claim: Claim[Cliques, MarkovNetwork]

    @cached_property
    def seen(self) -> cliques.ExaminedCliques:
        """The model's own margins, and Z."""
        return cliques.ExaminedCliques(self.claim)

    @cached_property
    def tables(self) -> _Tables:
        """The potentials, to be summed over rows."""
        return _Tables(self.claim, self.seen.layout, self.seen.theta, self.seen.extra)

    @property
    def observed(self) -> Observed:
        """All that is measured."""
        if self.seen.malformed:
            return Observed(math.nan, math.inf, self.seen.malformed)
        if (impossible := self.tables.impossible) is not None:
            return impossible
        tally = self.tables.tally
        log_likelihood = tally.log_likelihood - tally.weight * self.seen.log_z
        size, where = self._residual()
        distance = self._distance() if math.isfinite(size) else Distance()
        return Observed(log_likelihood, size, where, tuple(self.tables.remarks()), distance=distance)

    def _distance(self) -> Distance:
        """Return the Newton decrement with complete-data curvature, N times the covariance of the cells."""
        tally, seen, prior = self.tables.tally, self.seen, self.claim.prior
        p, n = seen.expected, max(tally.weight, 1e-300)
        if isinstance(prior, Penalty):
            gaps = p - tally.counts / n
            found = decrement_under_penalty(prior, seen.layout, seen.theta, gaps, seen.point, n, ROUNDING * n * p)
        else:
            n += 0.0 if prior is None else float(self._pseudo[: seen.layout.starts[1]].sum())
            slope, variance = n * p - tally.counts - self._pseudo, n * p * (1 - p)
            found = decrement_by_products(
                slope, lambda v: n * seen.point.curvature(v), variance, noise=ROUNDING * n * p
            )
        distance = Distance.in_nats(found.size, seen.named(found.place))
        zero = seen.theta == -math.inf
        if zero.any() and (tally.seen < tally.weight).any():
            slopes, units = (n * values for values in self._slopes_at_zero(zero))
            gains = np.where(zero & (slopes > 0), slopes**2 / np.maximum(units, 1e-300) / 2, 0.0)
            distance += Distance.of_rows(gains, lambda place: seen.named(place) + RISES)
        return distance

    @cached_property
    def _pseudo(self) -> Floats:
        """What a prior of pseudo-counts adds to the margins."""
        seen, prior = self.seen, self.claim.prior
        if prior is None:
            return np.zeros(seen.layout.n)
        found: Floats = seen.layout.flat(
            [pseudo_margin(prior, [seen.variables[v] for v in scope]) for scope in seen.layout.scopes]
        )
        return found

    def _residual(self) -> tuple[float, str]:
        """Return the largest gap of a margin, a row, and where it is."""
        tally, seen, prior = self.tables.tally, self.seen, self.claim.prior
        n = max(tally.weight, 1e-300)
        if seen.extra and (fault := self._fault_of_support()):
            return math.inf, fault
        if isinstance(prior, Penalty):
            gaps = residual_under_penalty(prior, seen.layout, seen.theta, seen.expected - tally.counts / n, n)
        elif prior is not None:
            more = float(self._pseudo[: seen.layout.starts[1]].sum())
            gaps = seen.expected * (n + more) / n - (tally.counts + self._pseudo) / n
        else:
            gaps = seen.expected - tally.counts / n
        if not np.isfinite(gaps).all():
            return math.inf, "a margin that is not finite"
        found = self._where(gaps, "")
        zero = seen.theta == -math.inf
        if zero.any() and (tally.seen < tally.weight).any():
            found = max(found, self._where(np.where(zero, self._slopes_at_zero(zero)[0], 0.0), RISES))
        return found

    def _where(self, gaps: Floats, more: str) -> tuple[float, str]:
        """Return the largest of the gaps, and name it."""
        layout = self.seen.layout
        position = int(np.argmax(np.abs(gaps)))
        number = int(np.searchsorted(layout.starts, position, "right")) - 1
        codes = np.unravel_index(position - int(layout.starts[number]), layout.shapes[number])
        said = describe_configuration(tuple(self.seen.variables[v] for v in layout.scopes[number]), codes)
        clique = ":".join(self.claim.structure.cliques[number])
        return float(np.abs(gaps[position])), f"the margin of {clique}, {said}{more}"

    def _slopes_at_zero(self, zero: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return by how much the likelihood of a row rises with each potential that is zero, where it does.

        Also return how much probability a unit of each potential takes.
        """
        seen = self.seen
        tops = np.repeat([table.max() for table in seen.layout.tables(seen.theta)], np.diff(seen.layout.starts))
        lifted = np.where(zero, tops + math.log(LIFT), seen.theta)
        tally = _Tables(self.claim, seen.layout, lifted, seen.extra).tally
        names = [variable.name for variable in seen.variables]
        margins = family_of(names, seen.layout.sizes, seen.layout.scopes, seen.extra).at(lifted).expected
        return np.maximum(tally.counts / max(tally.weight, 1e-300) - margins, 0.0) / LIFT, margins / LIFT

    def _fault_of_support(self) -> str:
        """Whether the cells that the model rules out are those that the expected margins rule out."""
        seen = self.seen
        if len(seen.extra) > 1 or seen.extra[0].scope != tuple(range(len(seen.layout.sizes))):
            return "the support, which is not one table of all variables"
        try:
            face = facial_set(seen.layout.sizes, seen.layout.scopes, seen.layout.tables(self.tables.tally.counts))
        except StatisticsError:  # expected margins agree to rounding error, which is not enough for every program
            return ""
        if face.support is None:
            return ""
        same = np.array_equal(seen.extra[0].values > 0, face.support)
        return "" if same else "the support, which is not the facial set"


# Features -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Features:
    """A log-linear model looked at anew, its features evaluated by their rules."""

    claim: Claim[Features, LogLinear]

    @cached_property
    def seen(self) -> features.ExaminedFeatures:
        """The model's own expectations, and Z."""
        return features.ExaminedFeatures(self.claim)

    @cached_property
    def scopes(self) -> ByTree:
        """The features as tables."""
        seen = self.seen
        sizes = tuple(self.claim.statistics.schema[name].n_states for name in self.claim.structure.variables)
        return ByTree(self.claim, seen.features, sizes, seen.weights)

    @cached_property
    def tables(self) -> _Tables:
        """The potentials, to be summed over rows."""
        model = self.claim.model
        extra = factors_over((*model.base, *model.support), self.claim.structure.variables)
        return _Tables(self.claim, self.scopes.layout, self.scopes.matrix @ self.seen.weights, extra)

    @property
    def observed(self) -> Observed:
        """All that is measured."""
        seen = self.seen
        if seen.malformed:
            return Observed(math.nan, math.inf, seen.malformed)
        if (impossible := self.tables.impossible) is not None:
            return impossible
        tally = self.tables.tally
        n = max(tally.weight, 1e-300)
        gaps = seen.expected - np.asarray(self.scopes.matrix.T @ tally.counts, np.float64) / n
        names, unit = [feature.name for feature in seen.features], seen.member.unit
        size, where = residual_of(self.claim, names, seen.weights, gaps, unit, unit**2, main_effects(seen.features))
        log_likelihood = tally.log_likelihood - tally.weight * seen.member.log_z
        distance = Distance.in_nats(*seen.decrement_of(gaps, unit**2)) if math.isfinite(size) else Distance()
        return Observed(log_likelihood, size, where, tuple(self.tables.remarks()), distance=distance)
