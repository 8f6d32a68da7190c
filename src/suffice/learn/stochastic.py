"""Stochastic maximum likelihood: expectations from Gibbs chains in place of exact ones, for graphs of any width.

    w ← w + η_t M (ᾱ_t − Ê_t[f]),    η_t = η₀ / (1 + t / t₀)^0.6,

ᾱ_t being the mean of the features over the data or a minibatch, Ê_t over chains that persist from step to step (or are
started anew at rows of the data, contrastive divergence), and M about the inverse of the features' covariance. The
estimate is the average of the later weights (Polyak and Juditsky, 1992), whose error falls with all samples drawn: to
first order, its expectations miss the data's by the mean of all the errors ξ_t of ᾱ_t − Ê_t[f].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, Mention, ModelError, Text, require_number, require_whole, shown
from suffice.inference.clique_family import Layout
from suffice.inference.gibbs import Gibbs
from suffice.inference.tree_family import TreeFamily
from suffice.learn.feature_setting import METRIC_NUMBERS, MOST_METRIC, FeatureSetting
from suffice.learn.features import model_of, rank_of
from suffice.learn.method import Problem, Solution
from suffice.learn.pseudo_likelihood import PseudoSetting
from suffice.learn.weight_remarks import no_estimate
from suffice.learn.weights import lbfgs
from suffice.models.feature_design import data_covariance
from suffice.models.sampling import stream_key
from suffice.optimise.outcome import Stop
from suffice.priors.penalty import Gaussian
from suffice.text import plural
from suffice.types import Array, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from suffice.models.log_linear import LogLinear
    from suffice.priors.prior import Prior
    from suffice.structures.features import Features

LARGEST_BATCH = 1_000_000
OPTIONS = ("chains", "sweeps", "step", "delay", "batch", "start", "error")
FEW_CELLS = 1 << 20
"""Junction trees of up to so many cells are used for an exact log-likelihood beside the estimate."""
START_TOL, START_STEPS = 1e-5, 200
"""How closely, and in how many steps at most, the pseudo-likelihood's estimate is found, where steps begin."""
WARM_UP = 100
"""Sweeps before the first step."""
GROUPS = 64
"""Chains are put into so many groups, which know nothing of each other: their differences tell Monte-Carlo errors."""
EVERY, LEAST_STEPS = 20, 100
"""Errors are looked at every so many steps, and steps end after so many with averages at the earliest."""
SNAPSHOTS, SAMPLES_A_WEIGHT = 4, 8
"""States of all chains, and samples, that the covariance of the features is made of at least."""


@dataclass(frozen=True)
class StochasticSettings:
    """How to sample.

    Attributes
    ----------
    chains : int
        How many run side by side.
    sweeps : int
        Sweeps of every chain a step, after which its state counts; the k of CD-k.
    step : float
        η₀; in units of the inverse covariance, one is Newton's step.
    delay : float
        t₀, after which steps become smaller.
    batch : int or None
        Rows of a minibatch; None takes the whole data's mean, which is known exactly.
    start : {"persistent", "data"}
        Whether chains go on from step to step, or begin anew at rows of the data (contrastive divergence).
    error : float
        The steps end when the Monte-Carlo error of the expectations is below this, in units of a feature's range; for
        one that is a sum of n terms, of their summed ranges divided by √n, as sums of independent terms vary.
    """

    chains: int = 1024
    sweeps: int = 10
    step: float = 0.5
    delay: float = 20.0
    batch: int | None = None
    start: str = "persistent"
    error: float = 7e-4

    @classmethod
    def of(cls, options: Any) -> StochasticSettings:
        """Check a user's options."""
        found = cls(**options)
        require_whole("chains", found.chains, 2, place="option")  # one has nothing to tell its error by
        require_whole("sweeps", found.sweeps, 1, place="option")
        if found.batch is not None:
            require_whole("batch", found.batch, 1, place="option")
            if found.batch > LARGEST_BATCH:
                raise ArgumentError(
                    f"The 'batch' option must be at most {LARGEST_BATCH:,}, or None for the whole data. Got "
                    f"{found.batch:,} instead."
                )
        for name, value in (("step", found.step), ("delay", found.delay), ("error", found.error)):
            if not 0 < require_number(name, value, place="option") < math.inf:
                raise ArgumentError(f"The {name!r} option must be a positive number. Got {shown(value)} instead.")
        if found.start not in ("persistent", "data"):
            raise ArgumentError(f"The 'start' option must be 'persistent' or 'data'. Got {shown(found.start)} instead.")
        return found


def refuses(structure: Any, schema: Any) -> str | None:
    """Refuse inputs and continuous variables."""
    if structure.given or structure.continuous:
        return "it draws discrete variables, without inputs. Use 'lbfgs'."
    return None


def refuses_prior(structure: Any, prior: Prior | None) -> str | None:
    """Refuse penalties with kinks."""
    if prior is not None and not isinstance(prior, Gaussian):
        return f"it follows gradients, and {prior.describe()} has none at zero. Use 'pseudo_likelihood' or sf.Gaussian."
    return None


def solve(problem: Problem[Features]) -> Solution[LogLinear]:
    """Follow estimated gradients, and average."""
    settings = StochasticSettings.of(problem.options)
    setting: Any = PseudoSetting.of(problem)
    if problem.prior is None:
        setting = setting.on_extremes()
    matching = setting.matching()
    if problem.init is None:  # the pseudo-likelihood's estimate, which need not be exact
        rough = replace(problem, tol=max(problem.tol, START_TOL), max_iter=START_STEPS)
        begin = lbfgs(replace(matching, problem=rough)).weights
    else:
        begin = matching.weights(matching.start)
    climb = StochasticClimb(setting, settings, stream_key(problem.seed), begin)
    n_steps = climb.run()
    rank, remarks = rank_of(setting)
    weights = climb.average
    log_likelihood = exact_log_likelihood(setting, weights)
    remarks += climb.remarks(n_steps)
    if math.isnan(log_likelihood):
        remarks.append("The log-likelihood is not known: the graph is too wide for its normaliser.")
    ran_away = np.flatnonzero(setting.limits)
    remarks += no_estimate(setting.names, ran_away)
    return Solution(
        model=model_of(setting, weights),
        log_likelihood=log_likelihood,
        n_free=rank,
        n_free_adjusted=max(rank - len(ran_away), 0),
        remarks=tuple(remarks),
        stop=Stop.CONVERGED if climb.is_settled else Stop.OUT_OF_STEPS,
        interrupted=problem.watch.interrupted,
        explains_boundary=bool(len(ran_away)),
    )


def exact_log_likelihood(setting: FeatureSetting, weights: Floats) -> float:
    """Return the log-likelihood where a junction tree is small; NaN elsewhere."""
    layout, names = setting.design.layout, list(setting.design.names)
    try:
        if TreeFamily.plan_of(names, layout.sizes, layout.scopes, setting.base).cells > FEW_CELLS:
            return math.nan
        exact = FeatureSetting.of(setting.problem)
        exact = replace(exact, allowed=setting.allowed, limits=setting.limits)
        log_z = exact.family.at(weights).log_z
    except ModelError:
        return math.nan
    return setting.problem.statistics.weight * (float(weights.dot(setting.moments[0])) - log_z)


class StochasticClimb:
    """The steps, and the average of what they visit."""

    def __init__(self, setting: Any, settings: StochasticSettings, key: int, begin: Floats) -> None:
        self.setting, self.settings, self.key = setting, settings, key
        self.problem: Problem[Features] = setting.problem
        self.layout = setting.design.layout
        matching = setting.matching()
        self.free, self.precision = matching.free, matching.precision
        low, high = setting.design.bounds()
        self.unit = np.where(high > low, high - low, 1.0) / np.sqrt(setting.design.n_terms)
        self.weights, self.error = np.array(begin), math.inf
        self.chains = Gibbs(self.layout.sizes, self.layout.scopes, self._theta())
        self.states = self.chains.start(settings.chains, key)
        self.rng = np.random.Generator(np.random.Philox(key=np.array([key, 1], np.uint64)))
        self.n_groups = min(GROUPS, settings.chains)
        self._group = np.arange(settings.chains) * self.n_groups // settings.chains
        self._strides, self._swept = _strides(self.layout), 0
        self._sum, self._counts, self._collected = np.zeros_like(self.weights), np.zeros(0), 0

    def _theta(self) -> Floats:
        return np.where(self.setting.allowed, self.setting.design.theta(self.weights), -np.inf)

    @property
    def average(self) -> Floats:
        """The average of the later weights; the last ones while there are none."""
        return self._sum / self._collected if self._collected else self.weights

    @property
    def is_settled(self) -> bool:
        """Whether the Monte-Carlo error is as small as was asked for."""
        return self.error <= self.settings.error

    def run(self) -> int:
        """Step until the Monte-Carlo error is small enough; return how many steps were made."""
        settings, n_steps = self.settings, 0
        self._sweep(WARM_UP)
        preconditioned = self._preconditioner()
        for number in self.problem.watch.steps("stochastic steps", self.problem.max_iter):
            counts = self._visited()
            found = self.setting.design.moments(counts.sum(axis=1) / settings.chains)
            slope = (self._target() - found)[self.free] - self.precision * self.weights[self.free]
            rate = settings.step / (1 + number / settings.delay) ** 0.6
            self.weights[self.free] += rate * preconditioned(slope, rate)  # eq stochastic-step
            n_steps = number
            if number > settings.delay and self._collect(counts):
                break
        if self._collected:
            self.error = self._error()
        return n_steps

    def _collect(self, counts: Floats) -> bool:
        """Add a step to the average; return whether the error is small enough."""
        self._sum += self.weights
        self._counts = self._counts + counts if self._collected else counts
        self._collected += 1
        if self._collected % EVERY:
            return False
        self.error = self._error()
        self.problem.watch.info = f"Monte-Carlo error {self.error:.1e}"
        return self._collected >= LEAST_STEPS and self.is_settled

    def _error(self) -> float:
        """Return the largest standard error of the mean of all ᾱ_t − Ê_t[f], in units of a feature's range.

        Slopes themselves would tell too little: steps follow them, so that their mean vanishes whatever the errors.
        """
        design, n_steps = self.setting.design, self._collected
        sizes = np.bincount(self._group) * n_steps
        means = design.moments(self._counts) / sizes
        variance = means.var(axis=1, ddof=1) / self.n_groups
        if self.settings.batch is not None:
            variance = variance + self.setting.moments[1] / (self.settings.batch * n_steps)
        return float((np.sqrt(variance) / self.unit)[self.free].max(initial=0.0))

    def remarks(self, n_steps: int) -> list[str]:
        """Say how much was sampled, and whether it was enough."""
        settings = self.settings
        how = "persistent chains" if settings.start == "persistent" else "chains started at the data"
        drawn = f"{plural(n_steps, 'step')} of {plural(settings.sweeps, 'sweep')} of {settings.chains:,} {how}"
        if not self._collected:
            return [
                Text(
                    f"{drawn}: too few to average, so that the weights are the last ones. Allow more by ",
                    Mention("max_iter", "max_iter=…"),
                    ".",
                )
            ]
        said = [f"{drawn}; the Monte-Carlo error of the expectations is about {self.error:.2g} of their range."]
        if not self.is_settled and not self.problem.watch.interrupted:
            said.append(
                Text(
                    f"The steps ended before the error asked for, {settings.error:g}, was reached; allow more by ",
                    Mention("max_iter", "max_iter=…"),
                    ", or more chains by options={'chains': …}.",
                )
            )
        return said

    # Samples --------------------------------------------------------------------------------------------------

    def _sweep(self, sweeps: int) -> None:
        self.chains.run(self.states, sweeps, self.key, self._swept)
        self._swept += sweeps

    def _visited(self) -> Floats:
        """Return how many chains of each group are in each cell after one step's sweeps; shape (n, n_groups)."""
        self.chains = self.chains.with_theta(self._theta())
        if self.settings.start == "data":
            self.states[:] = self._rows(self.settings.chains)
        self._sweep(self.settings.sweeps)
        return self._counted(self.states, self._group, self.n_groups)

    def _counted(self, codes: Array, group: NDArray[np.int64], n_groups: int) -> Floats:
        places = self._cells(codes) * n_groups + group
        counts = np.bincount(places.reshape(-1), minlength=self.layout.n * n_groups)
        return counts.reshape(-1, n_groups).astype(np.float64)

    def _cells(self, codes: Array) -> NDArray[np.int64]:
        """Return where the cells of rows of codes lie in the flat tables; shape (n_scopes, n_rows)."""
        return np.asarray(self._strides @ codes.T.astype(np.int64) + self.layout.starts[:-1, None], np.int64)

    def _rows(self, n: int) -> Array:
        codes, shares = self.setting.whole_rows
        return np.asarray(codes[self.rng.choice(len(codes), n, p=shares)])

    def _target(self) -> Floats:
        """Return the mean of the features over the data, or over a minibatch."""
        n = self.settings.batch
        if n is None:
            known: Floats = self.setting.moments[0]
            return known
        counts = self._counted(self._rows(n), np.zeros(n, np.int64), 1)[:, 0]
        means: Floats = self.setting.design.moments(counts / n)
        return means

    # The preconditioner ---------------------------------------------------------------------------------------

    def _preconditioner(self) -> Callable[[Floats, float], Floats]:
        """Return how to multiply a slope by M: the inverse of C + ρ D, D holding the squares of the features' ranges.

        C is the covariance of the features in the data's rows and the chains' states together: rows alone may be fewer
        than weights, and chains alone may be stuck. Where weights are many it is a multiple of its diagonal. Along
        directions that hardly vary, with n chains, steps follow little but noise; ρ = 5 η / n keeps them small.
        """
        design, free, n_chains = self.setting.design, self.free, self.settings.chains
        unit = self.unit[free]
        precision = self.precision / unit**2
        codes = self._snapshots(SAMPLES_A_WEIGHT * design.n_weights if design.n_weights <= MOST_METRIC else 0)
        if design.n_weights <= MOST_METRIC:
            held = self._covariance(codes)[np.ix_(free, free)] / np.outer(unit, unit)
            sizes, axes = np.linalg.eigh(held + np.diag(precision))
            sizes = np.maximum(sizes, 0.0)
        else:
            variance = np.maximum(self.setting.moments[1][free] / unit**2, 1e-12)
            values = (self._one_hot(codes) @ design.matrix)[:, np.flatnonzero(free)] / unit
            sizes = variance * max(1.0, _largest(values, variance) / 2) + precision  # no direction may be overshot
            axes = None

        def preconditioned(slope: Floats, rate: float) -> Floats:
            curved = sizes + 5 * rate / n_chains
            slope = slope / unit
            moved = slope / curved if axes is None else axes @ ((axes.T @ slope) / curved)
            return np.asarray(moved / unit, np.float64)

        return preconditioned

    def _snapshots(self, n_samples: int) -> Array:
        """Return states of the chains at several times, one row each."""
        drawn = []
        for _ in range(max(SNAPSHOTS, -(-n_samples // self.settings.chains))):
            self._sweep(self.settings.sweeps)
            drawn.append(self.states.copy())
        return np.concatenate(drawn)

    def _covariance(self, codes: Array) -> Floats:
        """Return the covariance of the features in rows of codes and in the data together."""
        design, total, n = self.setting.design, self.problem.statistics.weight, len(codes)
        rows, shares = self.setting.whole_rows
        if len(rows) * design.n_weights > METRIC_NUMBERS:
            return data_covariance(design, codes, np.full(n, 1 / n), n)
        parts = np.concatenate([shares * total, np.ones(n)]) / (total + n)
        return data_covariance(design, np.concatenate([rows, codes]), parts, total + n)

    def _one_hot(self, codes: Array) -> csr_array:
        from scipy.sparse import csr_array

        cells = self._cells(codes).T
        each = np.arange(0, cells.size + 1, cells.shape[1])
        return csr_array((np.ones(cells.size), cells.reshape(-1), each), shape=(len(codes), self.layout.n))


def _strides(layout: Layout) -> csr_array:
    """Return how far a state of each variable moves the cell within each table; shape (n_scopes, n_variables)."""
    from scipy.sparse import csr_array

    steps = [math.prod(shape[k + 1 :]) for shape in layout.shapes for k in range(len(shape))]
    members = [v for scope in layout.scopes for v in scope]
    each = np.cumsum([0, *map(len, layout.scopes)])
    return csr_array((np.array(steps, np.int64), members, each), shape=(len(layout.scopes), len(layout.sizes)))


def _largest(values: csr_array, variance: Floats) -> float:
    """Return the largest eigenvalue of the values' covariance, each divided by its standard deviation."""
    root, mean = np.sqrt(variance), np.asarray(values.mean(axis=0)).reshape(-1)
    v, size = np.sqrt(np.arange(1.0, len(root) + 1)), 0.0
    for _ in range(30):
        v /= np.linalg.norm(v)
        seen = values @ (v / root)
        v = (values.T @ seen / len(seen) - mean * seen.mean()) / root
        size = float(np.linalg.norm(v))
        if not size:
            break
    return size
