"""The E-step of products of potentials, p(x) ∝ Π ψ_S(x_S): expected counts of cliques and of features' scopes.

Given what was seen in a row, what is missing has the distribution of the potentials that it touches alone. So the
observed log-likelihood is

    Σ_(scopes, complete rows) m log ψ  +  Σ_situations w log Σ_(what is missing) Π ψ  −  N log Z.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import EstimationError, ModelError, listing
from suffice.inference.clique_family import CliqueFamily, Layout, family_of
from suffice.inference.facial import facial_set
from suffice.inference.facial_design import marginal
from suffice.inference.gap_sums import GapSums
from suffice.learn.expectation import RuledOutError, largest_change
from suffice.learn.expected_vector import ExpectedVector
from suffice.learn.method import Problem
from suffice.learn.potential_priors import PotentialPrior, no_prior
from suffice.models.markov_net import MarkovNetwork
from suffice.optimise.decrement import decrement_by_products
from suffice.stats.gaps import Gaps
from suffice.stats.needs import Count, Gap
from suffice.stats.statistics import Statistics
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.structures.cliques import Cliques
    from suffice.structures.features import Features

Scopes = tuple[tuple[str, ...], ...]
LEAST = 0.05
"""An extrapolated count stays above this part of the one that it is extrapolated from."""
COLLAPSED = 1e-9
"""A state of a latent variable with less than this share of the rows is as good as gone."""
ROUNDING = 1e-15
"""Margins are known to this relative accuracy."""
STEEPEST = 600.0
"""By so much the logarithms of one table may differ to keep completions off a support, and be far from underflow."""


class UndirectedExpectation:
    """The E-step of a product of potentials, its data bound; see `Expectation`.

    Parameters
    ----------
    problem : Problem
    scopes : tuple of tuple of str
        What the counts are of, in the order of their axes. Every potential lies in one of them.
    prior : PotentialPrior
        What the prior adds to the objective.
    given : callable
        Makes a model of the argument ``init``.
    """

    def __init__(
        self,
        problem: Problem[Cliques | Features],
        scopes: Scopes,
        prior: PotentialPrior,
        given: Callable[[], MarkovNetwork],
    ) -> None:
        self.problem, self.scopes, self._prior, self._given = problem, scopes, prior, given
        statistics = problem.statistics
        self.vector = ExpectedVector([Count(scope) for scope in scopes], statistics.schema)
        self.units, self.n = self.vector.units, statistics.weight
        self.gaps: Gaps = statistics[Gap(scopes)]
        names = [variable.name for variable in self.gaps.variables]
        place = {name: position for position, name in enumerate(names)}
        self.layout = Layout(
            tuple(variable.n_states for variable in self.gaps.variables),
            tuple(tuple(place[name] for name in scope) for scope in scopes),
        )
        self._counts = self.vector.vector(statistics)
        self._sums = GapSums(self.layout.sizes, self.layout.scopes, self.gaps)
        self._homes: dict[tuple[str, ...], int | None] = {}
        self._penalties: dict[tuple[tuple[str, ...], bytes], dict[int, Floats]] = {}

    @property
    def _names(self) -> list[str]:
        return [variable.name for variable in self.gaps.variables]

    # The E-step -----------------------------------------------------------------------------------------------

    def at(self, model: Any) -> tuple[float, Floats]:
        """Return the observed log-likelihood at a model, and the counts of all scopes that it expects."""
        if model is self.problem.init and model is not None:
            model = self._given()
        tables, log_scale = self._tables(model)
        return self._summed(tables, log_scale - self._log_z(model, tables, log_scale))

    def _summed(self, tables: Floats, log_share: float) -> tuple[float, Floats]:
        """Return both from the tables; ``log_share`` is what every row's logarithm lacks."""
        seen = self._counts > 0
        if not (tables[seen] > 0).all():
            raise RuledOutError(
                "The model gives a row that was observed the probability zero. Begin elsewhere: leave out 'init'."
            )
        summed = self._sums.run(tables)
        ruled_out = np.flatnonzero(summed.log_sums == -math.inf)
        if len(ruled_out):
            raise RuledOutError(
                f"The model rules out what was observed in {plural(len(ruled_out), 'situation')}: "
                f"{self.gaps.described(int(ruled_out[0]))}. Begin elsewhere: leave out 'init'."
            )
        complete = float(self._counts[seen].dot(np.log(tables[seen])))
        log_likelihood = complete + self._sums.total(summed) + self.n * log_share  # eq undirected-em
        return log_likelihood, self._counts + summed.expected

    def _tables(self, model: MarkovNetwork) -> tuple[Floats, float]:
        """Return the potentials of all scopes, each table's largest being one, and the logarithm of what was taken out.

        Tables in no scope are supports. An estimator takes minute expected counts for zero, so that completions of a
        row may lie outside; the tables of scopes are lowered there instead.
        """
        flat, log_scale = np.ones(self.vector.size), 0.0
        tables = self.layout.tables(flat)
        for factor in model.factors:
            home = self._home(factor.names)
            top = float(factor.values.max())
            if not top > 0:
                continue
            if home is None:
                for number, penalty in self._penalties_outside(factor.names, factor.values > 0).items():
                    tables[number][...] *= np.exp(penalty - penalty.max())
                    log_scale += float(penalty.max())
                continue
            tables[home][...] *= _over(self.scopes[home], factor.names, factor.values / top)
            log_scale += math.log(top)
        return flat, log_scale

    def _penalties_outside(self, names: tuple[str, ...], support: NDArray[np.bool_]) -> dict[int, Floats]:
        """Return what to add to the logarithms of scopes' tables: in sum zero on the support, far below zero off it."""
        key = names, support.tobytes()
        if key not in self._penalties:
            inside = [number for number, scope in enumerate(self.scopes) if set(scope) <= set(names)]
            scopes = [tuple(names.index(name) for name in self.scopes[number]) for number in inside]
            margins = [marginal(support, tuple(range(len(names))), scope) for scope in scopes]
            direction = facial_set(support.shape, scopes, margins, observed=support).direction
            if direction is None:  # too many cells to tell: completions off the support stay
                self._penalties[key] = {}
            else:
                steepness = STEEPEST / max(float(np.ptp(table)) for table in direction)
                self._penalties[key] = {n: -steepness * table for n, table in zip(inside, direction, strict=True)}
        return self._penalties[key]

    def _home(self, names: tuple[str, ...]) -> int | None:
        """Return the number of a scope that holds some variables; None if there is none."""
        if names not in self._homes:
            inside = set(names)
            found = (number for number, scope in enumerate(self.scopes) if inside <= set(scope))
            self._homes[names] = next(found, None)
        return self._homes[names]

    def _log_z(self, model: MarkovNetwork, tables: Floats, log_scale: float) -> float:
        """Return log Z along a tree that is planned once; models with a support of their own are asked themselves."""
        if any(self._home(factor.names) is None for factor in model.factors):
            return float(model.log_z)
        with np.errstate(divide="ignore"):
            return self._family.at(np.log(tables)).log_z + log_scale

    @cached_property
    def _family(self) -> CliqueFamily:
        try:
            return family_of(self._names, self.layout.sizes, self.layout.scopes)
        except ModelError as error:
            raise EstimationError(
                "This graph is too wide for exact expectations. ",
                error.message,
                " Leave out interactions, or merge variables, so that the graph becomes narrower.",
            ) from None

    # Statistics as a vector -----------------------------------------------------------------------------------

    def statistics(self, vector: Floats) -> Statistics:
        """Return expected counts as statistics."""
        given = self.problem.statistics
        return self.vector.statistics(vector, self.n, given.n_read, given.n_dropped)

    def tamed(self, candidate: Floats, plain: Floats) -> Floats | None:
        """Return the point nearest to an extrapolated one at which counts are well above zero.

        All of the way is shortened alike, so that counts of scopes that overlap go on to agree.
        """
        step = candidate - plain
        if not np.isfinite(step).all():
            return None
        falls = step < 0
        most = ((1 - LEAST) * plain[falls] / -step[falls]).min(initial=1.0)
        found: Floats = plain + most * step
        found[plain == 0] = 0.0
        return found

    def started(self, chance: np.random.Generator | None) -> Floats:
        """Return what is expected under independence, every margin from the rows that have it; or at random nearby."""
        flat = np.ones(self.vector.size)
        tables = self.layout.tables(flat)
        for name in self._names:
            home = self._home((name,))
            assert home is not None
            counts = np.asarray(self.problem.statistics[Count((name,))].table(), np.float64)
            margin = (counts + 1 / len(counts)) / (counts.sum() + 1)
            tables[home][...] *= _over(self.scopes[home], (name,), margin)
        if chance is not None:
            flat *= np.exp(chance.standard_normal(len(flat)))
        return self._summed(flat, 0.0)[1]

    # What else there is to know -------------------------------------------------------------------------------

    def distance(self, model: Any, vector: Floats, expected: Floats) -> tuple[float, float]:
        """Return the largest change of the expected counts, a row, and what the next step would add.

        At M(S) the counts of the model, with what the prior adds, are S. So S − F(S) is the slope that is left, and the
        curvature that of complete rows, N times the covariance of the cells.
        """
        gap = largest_change(vector, expected, self.units, self.n)
        if gap > self.problem.tol:
            return gap, math.inf
        with np.errstate(divide="ignore"):
            point = self._family.at(np.log(self._tables(model)[0]))
        p = point.expected
        slopes = np.where(p > 0, vector - expected, 0.0)
        found = decrement_by_products(
            slopes, lambda v: self.n * point.curvature(v), self.n * p * (1 - p), noise=ROUNDING * self.n * p
        )
        return gap, found.size

    def parameters(self, model: Any, vector: Floats) -> dict[str, Floats]:
        """Return the expected statistics, a row, of each family."""
        return self.vector.shares(vector, self.n)

    def log_prior(self, model: Any) -> float:
        """Return what the prior adds to the objective."""
        return self._prior(model)

    def remarks(self, model: Any) -> tuple[str, ...]:
        """Say how much is missing; name variables never seen, and latent states that lost all rows."""
        found, expected = [], self.statistics(self.at(model)[1])
        if self.gaps.n:
            found.append(
                f"Rows that lack values make up {plural(self.gaps.n, 'different situation')}; the likelihood is that "
                "of what was observed."
            )
        latent = dict(self.problem.structure.latent)
        unseen = [n for n in self._names if n not in latent and not self.problem.statistics[Count((n,))].table().any()]
        if unseen:
            found.append(
                f"No row has a value of {listing(unseen, 6)}: what the model says of it comes from where EM began."
            )
        apart = [
            ":".join(scope)
            for scope in self.scopes
            if not (self._prior is not no_prior or latent.keys() & set(scope) or set(unseen) & set(scope))
            and len(scope) > 1
            and not self.problem.statistics[Count(scope)].total
        ]
        if apart:
            found.append(
                f"No row has all of {listing(apart, 6)}: unless other cliques tell, how these hang together is where "
                "EM began."
            )
        for name in latent:
            shares = np.asarray(expected[Count((name,))].table(), np.float64) / max(self.n, 1e-300)
            gone = np.flatnonzero(shares < COLLAPSED)
            if len(gone):
                found.append(
                    f"{plural(len(gone), 'state')} of the latent variable {name!r} lost all rows; fewer states would "
                    f"do: latent={{{name!r}: {len(shares) - len(gone)}}}."
                )
        return tuple(found)


def _over(scope: tuple[str, ...], names: tuple[str, ...], table: Floats) -> Floats:
    """Return a table over some of a scope's variables for broadcasting: one axis a variable of the scope."""
    order = [names.index(name) for name in scope if name in names]
    shape = [table.shape[names.index(name)] if name in names else 1 for name in scope]
    return table.transpose(order).reshape(shape)
