"""Gaussian Markov random fields: maximum likelihood with known zeros in the precision matrix, or its conjugate twin.

======  ======================================================
S       covariance matrix of the data, divisor N
K, Σ    precision matrix of the model and its inverse
======  ======================================================

ℓ(μ, K) = N/2 (log det K − tr(K S) − p log 2π) at μ = x̄. Its maximum is where Σ_ij = S_ij on the diagonal and on every
edge, and K_ij = 0 elsewhere (Dempster, 1972). Iterations run on correlations, so the scale of a column means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, Mention, Remedy, Text, made, shown, the_argument
from suffice.graph.undirected import chordless_cycle
from suffice.learn.gaussian_steps import GaussianPoint, nats_left, newton_steps, scaling_steps
from suffice.learn.method import Method, Problem, Solution, Step
from suffice.models.gaussian_regressions import clique_factor, precision_of, regressions_of, require_spread
from suffice.models.joint_normal import JointNormal
from suffice.optimise.decrement import LEFT
from suffice.optimise.outcome import Stop
from suffice.priors.hyper_inverse_wishart import HyperInverseWishart
from suffice.priors.normal_inverse_wishart import NormalInverseWishart
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment, Need
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.single import MultivariateNormal
from suffice.text import plural
from suffice.types import Floats

PATIENCE = 50
"""So many steps without getting closer mean that only rounding is left."""
Steps = Callable[[Floats, GaussianMarkov], Iterator[GaussianPoint]]


def accepts(structure: GaussianMarkov, schema: Schema) -> str | None:
    """Refuse columns that were declared discrete."""
    for name in structure.variables:
        if schema[name].is_discrete:
            return f"column {name!r} is discrete, and a normal distribution needs numbers; leave it out of the schema."
    return None


def accepts_chordal(structure: GaussianMarkov, schema: Schema) -> str | None:
    """Refuse graphs that are not chordal, which have no closed form."""
    if not structure.is_chordal:
        cycle = chordless_cycle(structure.graph) or []
        return f"the cycle {' - '.join([*cycle, *cycle[:1]])} of its graph has no chord; 'newton' can fit it."
    return accepts(structure, schema)


def needs(structure: GaussianMarkov, schema: Schema) -> tuple[Need, ...]:
    """Ask for the moments of all variables."""
    return (Moment(structure.variables),)


def check(structure: GaussianMarkov, prior: Any, fixed: Mapping[str, Any]) -> None:
    """Refuse what is no prior on a normal distribution, and given parameters."""
    if fixed:
        raise ArgumentError(
            "A normal distribution has no tables that could be given, so the 'fixed' argument must be left out. To "
            "favour some values, pass ",
            Mention("HyperInverseWishart", "prior=sf.HyperInverseWishart(…)"),
            ".",
        )
    if prior is None:
        return
    if not isinstance(prior, HyperInverseWishart | NormalInverseWishart):
        raise ArgumentError(
            the_argument("prior"),
            " of a normal distribution must be ",
            made("HyperInverseWishart", 3, 1.0),
            ", or without a graph ",
            made("NormalInverseWishart", mean=0.0, mean_weight=1.0, dof=3, scale=1.0),
            f". Got {shown(prior)} instead.",
        )
    prior.check(structure)


# Closed form --------------------------------------------------------------------------------------------------


def solve_closed_form(problem: Problem[GaussianMarkov]) -> Solution[JointNormal]:
    """Fit a chordal graph by the regressions of a perfect order, or its posterior under a conjugate prior."""
    structure, moments = _given(problem)
    if problem.prior is not None:
        posterior = problem.prior.posterior(structure, moments)
        model = posterior.mode() if problem.point == "map" else posterior.mean()
        return _solution(structure, model, moments, posterior=posterior)
    covariance, remarks = _covariance(structure, moments)
    precision = precision_of(len(structure.variables), regressions_of(structure, covariance))
    model = JointNormal(structure.variables, moments.mean, precision=precision)
    return _solution(structure, model, moments, remarks=remarks)


def _covariance(structure: GaussianMarkov, moments: Moments) -> tuple[Floats, tuple[str, ...]]:
    """Return the covariance matrix of the data with the divisor asked for, and what to remark on it."""
    if not isinstance(structure, MultivariateNormal) or structure.divisor == "n":
        return moments.covariance, ()
    weight = float(moments.weight)
    if not weight > 1:
        raise EstimationError(
            f"The divisor n - 1 needs more than one row, and there {'is' if weight == 1 else 'are'} "
            f"{plural(weight, 'row')}. Collect more, or pass a prior: ",
            Remedy("prior", made("HyperInverseWishart", 3, 1.0)),
            ".",
        )
    remark = (
        "The covariance matrix is unbiased, with divisor n - 1; the log-likelihood is the model's, not the maximum."
    )
    return moments.scatter / (weight - 1), (remark,)


# Iterations ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Iterative:
    """The solver of one kind of steps."""

    label: str
    steps: Steps

    def __call__(self, problem: Problem[GaussianMarkov]) -> Solution[JointNormal]:
        """Step until model and data agree on the diagonal and on every edge, within a tenth of ``tol``.

        Of very many rows even that is worth nats; then steps go on while they lead closer.
        """
        structure, moments = _given(problem)
        covariance = moments.covariance
        roots = np.sqrt(np.diag(covariance))
        require_spread(structure.variables, roots)
        place = {name: position for position, name in enumerate(structure.variables)}
        correlations = covariance / roots[:, None] / roots
        try:
            clique_factor(structure.variables, range(len(place)), correlations)  # then those of all cliques exist
        except EstimationError:
            for clique in structure.cliques:
                clique_factor(structure.variables, [place[name] for name in clique], correlations)
        walk = self._walk(correlations, problem, float(moments.weight), roots)
        precision = walk.point.precision / roots[:, None] / roots
        return _solution(
            structure,
            JointNormal(structure.variables, moments.mean, precision=precision),
            moments,
            trace=tuple(walk.trace),
            interrupted=problem.watch.interrupted,
            stop=walk.stop,
            remarks=walk.remarks(problem),
        )

    def _walk(self, correlations: Floats, problem: Problem[GaussianMarkov], weight: float, roots: Floats) -> _Path:
        points = self.steps(correlations, problem.structure)
        here = best = next(points)
        waited = 0
        trace: list[Step] = []
        for step in problem.watch.steps(self.label, problem.max_iter):
            if best.gap <= problem.tol / 10 and (
                waited or nats_left(here, correlations, problem.structure, weight) <= LEFT
            ):
                break
            if waited == PATIENCE:
                return _Path(best, trace, Stop.NO_BETTER)
            here = next(points)
            best, waited = (here, 0) if here.gap < best.gap else (best, waited + 1)
            trace.append(Step(step, _log_likelihood(weight, here, float(np.log(roots).sum()))))
        end = best if best.gap <= problem.tol / 10 else here
        return _Path(end, trace, Stop.CONVERGED if end.gap <= problem.tol else Stop.OUT_OF_STEPS)


@dataclass(frozen=True)
class _Path:
    """Where the steps led."""

    point: GaussianPoint
    trace: list[Step]
    stop: Stop

    def remarks(self, problem: Problem[GaussianMarkov]) -> tuple[str, ...]:
        """Say why the steps ended before their goal, where they did."""
        if problem.watch.interrupted or self.stop is Stop.CONVERGED:
            return ()
        end = f"with a gap of {self.point.gap:.3g} between the correlations of data and model"
        if self.stop is Stop.NO_BETTER:
            return (
                f"Stopped after {len(self.trace)} steps {end}: rounding hides what is left, as some columns are nearly "
                "combinations of others.",
            )
        return (
            Text(
                f"Stopped after {len(self.trace)} of at most {problem.max_iter} steps {end}. Raise ",
                Mention("max_iter", "max_iter"),
                "; with fewer rows than variables the estimate may not exist.",
            ),
        )


def _log_likelihood(weight: float, point: GaussianPoint, log_scale: float) -> float:
    p = len(point.precision)
    return -0.5 * weight * (p * math.log(2 * math.pi) + 2 * log_scale + point.objective)


def _given(problem: Problem[GaussianMarkov]) -> tuple[GaussianMarkov, Moments]:
    structure: GaussianMarkov = problem.structure
    moments: Moments = problem.statistics[Moment(structure.variables)]
    return structure, moments


def _solution(structure: GaussianMarkov, model: JointNormal, moments: Moments, **facts: Any) -> Solution[JointNormal]:
    local = chain_log_likelihoods(model, moments)
    posterior = facts.get("posterior")
    return Solution(
        model=model,
        log_likelihood=math.fsum(local.values()),
        n_free=structure.n_free,
        n_free_adjusted=structure.n_free,
        local=local,
        log_marginal_likelihood=None if posterior is None else posterior.log_marginal_likelihood,
        **facts,
    )


def chain_log_likelihoods(model: JointNormal, moments: Moments) -> dict[str, float]:
    """Return the log-likelihood of each variable given those before it; they add up to the whole."""
    from scipy.linalg import solve_triangular

    gap = moments.mean + moments.rest - model.mean
    weight = float(moments.weight)
    seen = moments.scatter + weight * np.outer(gap, gap)
    roots = np.sqrt(np.diag(model.covariance))
    lower = np.linalg.cholesky(model.covariance / roots[:, None] / roots)
    white = solve_triangular(lower, seen / roots[:, None] / roots, lower=True)
    squares = np.einsum("ij,ij->i", solve_triangular(lower, np.eye(len(roots)), lower=True), white)
    log_sd = np.log(roots) + np.log(np.diag(lower))
    terms = -weight * (0.5 * math.log(2 * math.pi) + log_sd) - 0.5 * squares
    return dict(zip(model.names, terms.tolist(), strict=True))


def refuses_prior(structure: GaussianMarkov, prior: Any) -> str | None:
    """Refuse every prior: conjugate ones have closed forms, and need chordal graphs."""
    if prior is None:
        return None
    return "it gives maximum likelihood only; a prior needs a chordal graph and the method 'closed_form'."


CLOSED_FORM: Method[GaussianMarkov, JointNormal] = Method(
    refuses=accepts_chordal, needs=needs, solve=solve_closed_form, check=check
)
NEWTON: Method[GaussianMarkov, JointNormal] = Method(
    refuses=accepts,
    needs=needs,
    solve=_Iterative("Newton steps", newton_steps),
    check=check,
    refuses_prior=refuses_prior,
    points=("mle",),
)
SCALING: Method[GaussianMarkov, JointNormal] = Method(
    refuses=accepts,
    needs=needs,
    solve=_Iterative("sweeps of scaling", scaling_steps),
    check=check,
    refuses_prior=refuses_prior,
    points=("mle",),
)
