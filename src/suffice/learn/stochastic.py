"""Stochastic maximum likelihood: expectations from Gibbs chains in place of exact ones, for graphs of any width.

    w ← w + η_t M (ᾱ_t − Ê_t[f]),    η_t = η₀ / (1 + t / t₀)^0.6,

ᾱ_t being the mean of the features over the data or a minibatch, Ê_t over chains that persist from step to step (or are
started anew at rows of the data, contrastive divergence), and M about the inverse of the features' covariance. The
estimate is the average of the later weights (Polyak and Juditsky, 1992), whose error falls with all samples drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, ModelError, require_number, require_whole, shown
from suffice.inference.feature_family import cells_of
from suffice.inference.gibbs import Gibbs
from suffice.inference.tree_family import TreeFamily
from suffice.learn.feature_setting import FeatureSetting
from suffice.learn.features import rank_of, supports
from suffice.learn.method import Problem, Solution
from suffice.learn.pseudo_likelihood import PseudoSetting
from suffice.learn.weights import lbfgs
from suffice.models.log_linear import LogLinear
from suffice.models.sampling import stream_key
from suffice.priors.penalty import Gaussian
from suffice.text import plural

Floats = NDArray[np.float64]
OPTIONS = ("chains", "sweeps", "step", "delay", "batch", "start", "error")
FEW_CELLS = 1 << 20
"""Junction trees of up to so many cells are used for an exact log-likelihood beside the estimate."""


@dataclass(frozen=True)
class Settings:
    """How to sample.

    Attributes
    ----------
    chains : int
        How many run side by side.
    sweeps : int
        Sweeps of every chain a step; the k of CD-k.
    step : float
        η₀; in units of the inverse covariance, one is Newton's step.
    delay : float
        t₀, after which steps become smaller.
    batch : int or None
        Rows of a minibatch; None takes the whole data's mean, which is known exactly.
    start : {"persistent", "data"}
        Whether chains go on from step to step, or begin anew at rows of the data (contrastive divergence).
    error : float
        The steps end when the Monte-Carlo error of the expectations is below this, in units of a feature's range.
    """

    chains: int = 512
    sweeps: int = 5
    step: float = 0.5
    delay: float = 20.0
    batch: int | None = None
    start: str = "persistent"
    error: float = 5e-4

    @classmethod
    def of(cls, options: Any) -> Settings:
        """Check a user's options."""
        found = cls(**options)
        for name in ("chains", "sweeps"):
            if require_whole(name, getattr(found, name), place="option") < 1:
                raise ArgumentError(f"The option '{name}' must be at least 1. Got {getattr(found, name)} instead.")
        if found.batch is not None and require_whole("batch", found.batch, place="option") < 1:
            raise ArgumentError(f"The option 'batch' must be at least 1, or None. Got {found.batch} instead.")
        for name in ("step", "delay", "error"):
            if not 0 < require_number(name, getattr(found, name)) < math.inf:
                raise ArgumentError(
                    f"The option '{name}' must be a positive number. Got {getattr(found, name)} instead."
                )
        if found.start not in ("persistent", "data"):
            raise ArgumentError(f"The option 'start' must be 'persistent' or 'data'. Got {shown(found.start)} instead.")
        return found


def refuses(structure: Any, schema: Any) -> str | None:
    """Refuse inputs and continuous variables."""
    if structure.given or structure.continuous:
        return "it draws discrete variables, without inputs. Use 'lbfgs'."
    return None


def refuses_prior(structure: Any, prior: Any) -> str | None:
    """Refuse penalties with kinks."""
    if prior is not None and not isinstance(prior, Gaussian):
        return f"it follows gradients, and {prior.describe()} has none at zero. Use 'pseudo_likelihood' or sf.Gaussian."
    return None


def solve(problem: Problem) -> Solution:
    """Follow estimated gradients, and average."""
    settings = Settings.of(problem.options)
    setting: Any = PseudoSetting.of(problem)
    if problem.prior is None:
        setting = setting.on_extremes()
    matching = setting.matching()
    begin = lbfgs(matching).weights if problem.init is None else matching.weights(matching.start)
    climb = Climb(setting, settings, stream_key(problem.seed), begin)
    n_steps = climb.run()
    rank, remarks = rank_of(setting)
    weights = climb.average
    schema = problem.schema.select(problem.structure.columns)
    log_likelihood = exact_log_likelihood(setting, weights)
    samples = n_steps * settings.chains * settings.sweeps
    how = "persistent chains" if settings.start == "persistent" else "chains started at the data"
    remarks.append(
        f"{plural(n_steps, 'step')} of {settings.sweeps} sweeps of {settings.chains:,} {how}, {samples:,} samples; the "
        f"Monte-Carlo error of the expectations is about {climb.error:.2g} of their range."
    )
    if climb.error > settings.error:
        remarks.append("The steps ended before the error asked for was reached; allow more by max_iter=….")
    if math.isnan(log_likelihood):
        remarks.append("The log-likelihood is not known: the graph is too wide for its normaliser.")
    ran_away = np.flatnonzero(setting.limits)
    if len(ran_away):
        named = ", ".join(setting.names[w] for w in ran_away[:6])
        remarks.append(f"The estimate does not exist: means at the end of their range let weights run away: {named}.")
    return Solution(
        model=LogLinear(
            problem.structure,
            np.where(setting.limits != 0, setting.limits, weights),
            schema=schema,
            support=supports(setting, schema),
            design=setting.design,
        ),
        log_likelihood=log_likelihood,
        n_free=rank,
        n_free_adjusted=max(rank - len(ran_away), 0),
        remarks=tuple(remarks),
        interrupted=problem.watch.interrupted,
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


class Climb:
    """The steps, and the average of what they visit."""

    def __init__(self, setting: Any, settings: Settings, key: int, begin: Floats) -> None:
        self.setting, self.settings, self.key = setting, settings, key
        self.problem: Problem = setting.problem
        matching = setting.matching()
        self.free, self.precision = matching.free, matching.precision
        self.weights = np.array(begin)
        self.chains = Gibbs(setting.design.layout.sizes, setting.design.layout.scopes, self._theta())
        self.states = self.chains.start(settings.chains, key)
        self.rng = np.random.Generator(np.random.Philox(key=np.array([key, 1], np.uint64)))
        self.average, self.error = self.weights.copy(), math.inf
        self._swept = 0

    def _theta(self) -> Floats:
        return np.where(self.setting.allowed, self.setting.design.theta(self.weights), -np.inf)

    @cached_property
    def inverse(self) -> Any:
        """About the inverse covariance of the free features, to be applied to a gradient."""
        metric = self.setting.data_metric
        precision = self.precision
        if metric is None:
            variance = np.maximum(self.setting.moments[1][self.free], 1e-12) + precision
            return lambda gap: gap / variance
        held = np.linalg.inv(metric[np.ix_(self.free, self.free)] + np.diag(precision))
        return lambda gap: held @ gap

    def run(self) -> int:
        """Step until the Monte-Carlo error is small enough; return how many steps were made."""
        total, collected, n_steps = np.zeros_like(self.weights), 0, 0
        block: list[Floats] = []
        self.chains.run(self.states, 10 * self.settings.sweeps, self.key)
        self._swept = 10 * self.settings.sweeps
        unit = np.where(self.setting.spread > 0, self.setting.spread, 1.0)[self.free]
        for number in self.problem.watch.steps("stochastic steps", self.problem.max_iter):
            found = self._expected()
            rate = self.settings.step / (1 + number / self.settings.delay) ** 0.6
            gap = self._target() - found
            slope = gap[self.free] - self.precision * self.weights[self.free]
            self.weights[self.free] += rate * self.inverse(slope)
            n_steps = number
            if number > self.settings.delay:  # the first steps only find the way
                total, collected = total + self.weights, collected + 1
                self.average = total / collected
                block.append(slope / unit)
                if collected % 20 == 0:
                    self.error = _mean_error(np.array(block))
                    self.problem.watch.info = f"Monte-Carlo error {self.error:.1e}"
                    if self.error <= self.settings.error:
                        break
        return n_steps

    def _expected(self) -> Floats:
        """Return the mean of the features over one step's sweeps."""
        settings = self.settings
        self.chains = self.chains.with_theta(self._theta())
        if settings.start == "data":
            codes, shares = self.setting.whole_rows
            self.states[:] = codes[self.rng.choice(len(codes), settings.chains, p=shares)]
        visits = self.chains.visits(self.states, settings.sweeps, self.key, self._swept)
        self._swept += settings.sweeps
        found: Floats = self.setting.design.moments(visits.sum(axis=0) / (settings.chains * settings.sweeps))
        return found

    def _target(self) -> Floats:
        """Return the mean of the features over the data, or over a minibatch."""
        if self.settings.batch is None:
            found: Floats = self.setting.moments[0]
            return found
        codes, shares = self.setting.whole_rows
        chosen = codes[self.rng.choice(len(codes), self.settings.batch, p=shares)]
        cells = cells_of(self.setting.design.layout, list(chosen.T))
        counts = np.bincount(cells.reshape(-1), minlength=self.setting.design.layout.n)
        means: Floats = self.setting.design.moments(counts / self.settings.batch)
        return means


def _mean_error(slopes: Floats) -> float:
    """Return the largest standard error of the mean of slopes over steps, from means of batches of them."""
    n_batches = max(4, int(math.sqrt(len(slopes))))
    size = len(slopes) // n_batches
    means = slopes[len(slopes) - size * n_batches :].reshape(n_batches, size, -1).mean(axis=1)
    return float(means.std(axis=0, ddof=1).max(initial=0.0)) / math.sqrt(n_batches)
