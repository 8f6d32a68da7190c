"""EM of joint normal distributions: multivariate normals, Gaussian Markov fields, and networks of regressions alone.

The rows enter by the moments of each pattern of missing values, which are collected once
(`suffice.stats.gap_moments`); each E-step is one factorisation a pattern (`suffice.learn.normal_gaps`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import EstimationError
from suffice.learn import gaussian_markov
from suffice.learn.em import EM
from suffice.learn.em_init import require_normal
from suffice.learn.expectation import largest_change
from suffice.learn.expected_vector import ExpectedVector
from suffice.learn.method import Method, Problem
from suffice.learn.mixed_priors import NetworkLogPrior
from suffice.learn.network_gain import network_gain
from suffice.learn.normal_gaps import NormalGaps
from suffice.learn.normal_start import normal_start
from suffice.learn.regression_gaps import largest_slope, standardised
from suffice.learn.taming import tamed
from suffice.models.cpds import nodes_of
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.optimise.distance import EPS, beyond, mean_loss, sparse_matrix_loss
from suffice.priors.normal_inverse_wishart import NormalInverseWishart
from suffice.stats.gap_moments import GapMoment
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment, Need
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.models.joint_normal import JointNormal

FEW = 4
"""So many pairs of columns are named one by one."""
Joint = tuple[Floats, Floats]
"""Mean and covariance matrix, in centres and spreads."""


class NormalExpectation:
    """The E-step of a joint normal distribution.

    Parameters
    ----------
    problem : Problem
    variables : sequence of str
        All columns, in the order of the joint distribution.
    needs : sequence of Moment
        What the M-step asks for.
    joint : callable
        From a model, centres and spreads to the mean and covariance matrix in these.
    log_prior : callable, optional
        From a model to what the prior adds.
    """

    def __init__(
        self,
        problem: Problem[GaussianMarkov | DAG],
        variables: Sequence[str],
        needs: Sequence[Need],
        joint: Callable[[Any, Floats, Floats], Joint],
        log_prior: NetworkLogPrior | _LogPrior | None = None,
    ) -> None:
        assert problem.source is not None
        self.problem, self.variables = problem, tuple(variables)
        self.centres, self.spreads = units_of(problem.statistics, self.variables)
        named = [dict(zip(self.variables, array.tolist(), strict=True)) for array in (self.centres, self.spreads)]
        self.layout = ExpectedVector(needs, problem.schema, *named)
        self.units, self._joint, self._log_prior = self.layout.units, joint, log_prior
        need = GapMoment(self.variables)
        self.moments = problem.source.reduce(need)[need]
        self.gaps = NormalGaps(self.moments, self.centres, self.spreads)
        self.n = self.gaps.weight
        place = {name: at for at, name in enumerate(self.variables)}
        structure, fixed = problem.structure, problem.fixed
        self._free = free_regressions(structure, problem.schema, fixed) if isinstance(structure, DAG) else None
        self._places = {need: [place[name] for name in need.columns] for need in self.layout.needs}

    def at(self, model: Any) -> tuple[float, Floats]:
        """Return the observed log-likelihood at a model, and the statistics that it expects, shape (size,)."""
        log_likelihood, sums, products = self.gaps.at(*self._joint(model, self.centres, self.spreads))
        return log_likelihood, self._vector(sums, products)

    def _vector(self, sums: Floats, products: Floats) -> Floats:
        sums, products = sums * self.spreads, products * self.spreads[:, None] * self.spreads
        vector = np.empty(self.layout.size)
        for need, at in self._places.items():
            vector[self.layout.place(need)] = [self.n, *sums[at], *products[np.ix_(at, at)].reshape(-1)]
        return vector

    def statistics(self, vector: Floats) -> Statistics:
        """Return a vector as statistics, which the M-step is made from."""
        told = self.problem.statistics
        return self.layout.statistics(vector, told.weight, told.n_read, told.n_dropped)

    def tamed(self, candidate: Floats, plain: Floats) -> Floats | None:
        """Return an extrapolated vector as one that statistics can have, or None."""
        return tamed(self.layout, candidate, plain)

    def started(self, chance: np.random.Generator | None) -> Floats:
        """Return where to begin: means and covariances of the rows that have them, or chance ones."""
        mean, covariance = normal_start(self.moments, self.centres, self.spreads, chance)
        return self._vector(self.n * mean, self.n * (covariance + np.outer(mean, mean)))

    def distance(self, model: Any, vector: Floats, expected: Floats) -> tuple[float, float]:
        """Return the largest derivative by a regression's parameters, or change of the moments, a row, and the gain."""
        gap = largest_change(vector, expected, self.units, self.n)
        if self._free is not None and self.problem.prior is None:
            models = {need: (kind, model.cpd(family.child.name)) for need, (kind, family) in self._free.items()}
            gap = max(gap, largest_slope(models, self.layout, expected) / self.n)
        return gap, math.inf if gap > self.problem.tol else self._gain(model, expected)

    def _gain(self, model: Any, expected: Floats) -> float:
        """Return what the next M-step would add, in nats."""
        structure = self.problem.structure
        if isinstance(structure, DAG):
            nodes = nodes_of(structure, self.problem.schema)
            return network_gain(self.problem.about(structure), nodes, model, self.statistics(expected))
        roots = np.sqrt(np.diag(model.covariance))
        _, sums, products = (part[0] for part in self.layout.parts(Moment(self.variables), expected))
        mean, centre = sums / self.n, model.mean - self.centres
        apart = np.outer(mean, centre)
        shifts, gaps = mean - centre, products / self.n - apart - apart.T + np.outer(centre, centre) - model.covariance
        if isinstance(self._log_prior, _LogPrior):
            more = self._log_prior.slopes(model)
            shifts, gaps = shifts + more[0] / self.n, gaps + more[1] / self.n
        shifts = beyond(shifts / roots, 2 * EPS * np.abs(model.mean) / roots)
        correlations, gaps = (matrix / roots[:, None] / roots for matrix in (model.covariance, gaps))
        place = {name: at for at, name in enumerate(self.variables)}
        free = np.eye(len(place), dtype=bool)
        for first, second in structure.edges:
            free[place[first], place[second]] = free[place[second], place[first]] = True
        return mean_loss(self.n, correlations, shifts) + sparse_matrix_loss(self.n, correlations, gaps, free)

    def parameters(self, model: Any, vector: Floats) -> dict[str, Floats]:
        """Return the expected statistics, a row, of each family."""
        return self.layout.shares(vector, self.n)

    def log_prior(self, model: Any) -> float:
        """Return what the prior adds to the objective, up to a constant: zero without one."""
        return 0.0 if self._log_prior is None else self._log_prior(model)

    def remarks(self, model: Any) -> tuple[str, ...]:
        """Say how much is missing."""
        gone = self.moments.missing
        if not gone.any():
            return ("No value is missing: the estimate is that of complete rows.",)
        n, weight = self.n, self.moments.weight
        lacking, empty = float(weight @ gone.any(axis=1)), float(weight @ gone.all(axis=1))
        tail = f" Of these, {empty:,g} have none at all, and tell nothing." if empty else ""
        said = f"EM: {plural(lacking, 'row')} of {n:,g} lack values, in {plural(len(weight), 'pattern')}.{tail}"
        return (said, *self._never_together())

    def _never_together(self) -> tuple[str, ...]:
        """Name the pairs of columns, of those that the structure joins, that no row has both of."""
        seen = (~self.moments.missing).astype(np.float64)
        together = (seen * self.moments.weight[:, None]).T @ seen
        joined = {(a, b) for need in self.layout.needs for a, b in itertools.combinations(self._places[need], 2)}
        if edges := self.problem.structure.edges:
            place = {name: at for at, name in enumerate(self.variables)}
            joined &= {(place[a], place[b]) for a, b in edges} | {(place[b], place[a]) for a, b in edges}
        apart = [f"{self.variables[a]} and {self.variables[b]}" for a, b in sorted(joined) if together[a, b] == 0]
        if not apart or self.problem.prior is not None:
            return ()
        more = f" and {len(apart) - FEW:,} more pairs" if len(apart) > FEW else ""
        return (
            f"No row has {'; '.join(apart[:FEW])}{more} together: unless other columns tell, how they hang together is "
            "where EM began.",
        )


def units_of(statistics: Statistics, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the means and standard deviations of columns, each of the rows that have it; refuse empty columns."""
    centres, spreads = np.zeros(len(names)), np.ones(len(names))
    for place, name in enumerate(names):
        moments: Moments = statistics[Moment((name,))]
        if not float(moments.weight) > 0:
            raise EstimationError(
                f"Column {name!r} has no values at all, so nothing can be learnt of it. Leave it out of the structure; "
                "what is never observed may be a discrete variable of its own: latent={…: 3}."
            )
        centres[place] = moments.mean[0]
        spread = float(np.sqrt(moments.covariance[0, 0]))
        if not spread > 0:
            raise EstimationError(
                f"Column {name!r} is constant in the rows that have it. Its variance would be zero, where the "
                "likelihood has no maximum. Leave it out, or collect more rows."
            )
        spreads[place] = spread
    return centres, spreads


def free_regressions(dag: DAG, schema: Schema, fixed: Mapping[str, Any]) -> dict[Need, tuple[Any, Any]]:
    """Return the kind and the family of every regression whose parameters are its own, by its need."""
    tied = {node for group in dag.tie for node in group}
    return {
        kind.need(family): (kind, family)
        for node, (kind, family) in nodes_of(dag, schema).items()
        if kind.name == "linear_gaussian" and node not in tied and node not in fixed
    }


def single_needs(names: Sequence[str]) -> tuple[Need, ...]:
    """Ask for the moments of every continuous column by itself: what `units_of` is made from."""
    return tuple(Moment((name,)) for name in names)


# Normal distributions and Gaussian Markov fields ----------------------------------------------------------------


def _joint_of_normal(model: JointNormal, centres: Floats, spreads: Floats) -> Joint:
    return (model.mean - centres) / spreads, model.covariance / spreads[:, None] / spreads


def joint_of_network(variables: Sequence[str]) -> Callable[[BayesianNetwork, Floats, Floats], Joint]:
    """Return how a network of regressions becomes a joint normal distribution over some order of its variables."""
    place = {name: at for at, name in enumerate(variables)}

    def joint(model: BayesianNetwork, centres: Floats, spreads: Floats) -> Joint:
        p = len(variables)
        mean, root = np.zeros(p), np.zeros((p, p))
        for node in model.dag.order:
            cpd = model.cpd(node, LinearGaussianCPD)
            above, at = [place[parent.name] for parent in cpd.family.continuous], place[node]
            intercept, slopes, variance = standardised(cpd, centres[above], spreads[above], centres[at], spreads[at])
            mean[at] = intercept[0] + slopes[0] @ mean[above]
            root[at] = slopes[0] @ root[above]
            root[at, at] = np.sqrt(variance[0])
        return mean, root @ root.T

    return joint


def _needs(structure: GaussianMarkov, schema: Schema) -> tuple[Need, ...]:
    return (Moment(structure.variables), *single_needs(structure.variables))


def _refuses(structure: GaussianMarkov, schema: Schema) -> str | None:
    if structure.divisor != "n":
        return f"it maximises the likelihood, whose divisor is n; leave out divisor={structure.divisor!r}."
    return gaussian_markov.accepts(structure, schema)


def _refuses_prior(structure: GaussianMarkov, prior: Any) -> str | None:
    if prior is not None and not structure.is_chordal:
        return "a prior needs a chordal graph; leave the prior out, or add edges."
    return None


def _inner(problem: Problem[GaussianMarkov]) -> Method[GaussianMarkov, JointNormal]:
    return gaussian_markov.CLOSED_FORM if problem.structure.is_chordal else gaussian_markov.NEWTON


def _expectation(problem: Problem[GaussianMarkov]) -> NormalExpectation:
    require_normal(problem)
    structure = problem.structure
    prior = None if problem.prior is None else _LogPrior(structure, problem.prior)
    return NormalExpectation(problem, structure.variables, [Moment(structure.variables)], _joint_of_normal, prior)


class _LogPrior:
    """The log-density whose mode the conjugate priors take: of μ and Σ, or of μ and K = Σ⁻¹ under a graph."""

    def __init__(self, structure: GaussianMarkov, prior: Any) -> None:
        p = len(structure.variables)
        self.scale, self.mean = prior.scale_of(structure), prior.mean_of(structure)
        # exponents of |K|: −(ν + p + 1)/2 of |Σ|, or (δ − 2)/2 of |K|
        is_of_covariance = isinstance(prior, NormalInverseWishart)
        self.power = (prior.dof + p + 1) / 2 if is_of_covariance else (prior.dof - 2) / 2
        self.mean_weight = prior.mean_weight if self.mean is not None else 0.0

    def __call__(self, model: Any) -> float:
        log_det = float(np.linalg.slogdet(model.precision)[1])
        found = self.power * log_det - 0.5 * float((model.precision * self.scale).sum())
        if self.mean is not None:
            apart = model.mean - self.mean
            found += 0.5 * log_det - 0.5 * self.mean_weight * float(apart @ model.precision @ apart)
        return float(found)

    def slopes(self, model: Any) -> Joint:
        """Return Σ times the derivative by μ, and −2 times that by the entries of K, as the data have theirs."""
        of_precision = 2 * self.power * model.covariance - self.scale
        if self.mean is None:
            return np.zeros(len(self.scale)), -of_precision
        apart = model.mean - self.mean
        of_precision = of_precision + model.covariance - self.mean_weight * np.outer(apart, apart)
        return -self.mean_weight * apart, -of_precision


def _check(structure: GaussianMarkov, prior: Any, fixed: Mapping[str, Any]) -> None:
    gaussian_markov.check(structure, prior, fixed)


METHOD = EM(_expectation, _inner, _refuses, _needs, _check, _refuses_prior).method()
