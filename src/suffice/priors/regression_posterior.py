"""The posterior of linear-Gaussian nodes: for each configuration of the discrete parents a normal inverse gamma.

======  =============================================================================
β, σ²   intercept and slopes, and the variance around the line
κ, u    weight and centre: rows of prior and data, and the mean of their parents
P       scatter of the parents around u, prior and data together; P⁻¹ = F Fᵀ
a, b    shape and scale: σ² ~ InverseGamma(a, b), and β | σ² is normal
======  =============================================================================

Prior and data are both moments, and add up as moments do: first the scatters, through one Cholesky factor; then, as a
change of rank one, the distance between the two centres. Nothing is measured from the origin, so data with a mean of
10⁹ keeps its digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.errors import EstimationError, ModelError, Remedy, is_number, require_fraction, require_seed, shown
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.least_squares import left_over
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.linear_gaussian_prior import RegressionPseudo, shape_after
from suffice.models.cpds.tabular import describe_configuration
from suffice.models.sampling import require_draws
from suffice.priors.dirichlet_rows import log_rising
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import SampledModels, log_predictive_of_rows, warn_of_old_form
from suffice.priors.regression_prediction import StudentT, log_predictive_together, student
from suffice.stats.moments import Moments
from suffice.stats.source import BlockSource
from suffice.types import Bools, Columns, Floats, TableLike

if TYPE_CHECKING:
    from suffice.priors.normal_inverse_gamma import NormalInverseGammaRows
    from suffice.types import Entry

SINGULAR = 1e-14
"""Relative to its own squares, what the other parents must leave of a parent."""
NEARLY_NONE = 1e-6
"""Squares that a line leaves are summed anew if they are less than this part of those around the prior's line."""
ARRAYS = ("weight", "centre", "level", "slopes", "spread", "shape", "scale")


class RegressionDraws(NamedTuple):
    """Parameters drawn from a posterior: shapes (n, n_rows), (n, n_rows, n_continuous) and (n, n_rows)."""

    intercept: Floats
    coefficients: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class RegressionPosterior:
    """Posterior of the regressions of one node, a row for each configuration of its discrete parents.

    Attributes
    ----------
    family : NodeFamily
    weight, level, shape, scale : array, shape (n_rows,)
        κ; the posterior mean of the child where its parents are at the centre; a and b of σ² ~ InverseGamma(a, b).
    centre, slopes : array, shape (n_rows, q)
        u, and the posterior means of the slopes.
    spread : array, shape (n_rows, q, q)
        F: the slopes have the covariance matrix σ² F Fᵀ; the level, independent of them, has the variance σ² / κ.
    log_marginal_likelihood : float or None
        log p(data of the family), the parameters integrated out; None under a prior that leaves intercepts free.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
    >>> prior = sf.NormalInverseGamma(shape=2, scale=1, precision=0.01)
    >>> effect = sf.fit(sf.DAG("dose -> effect"), data, prior=prior).posterior["effect"]
    >>> print(effect.intervals(0.9))
    parameter        median     lower     upper
    -------------  --------  --------  --------
    intercept       1.14767  0.281645   2.01369
    slope of dose   1.89964   1.43632   2.36296
    sd             0.583363  0.401458  0.956351
    0.9 credible intervals, equal-tailed
    >>> location, scale, dof = effect.predictive({"dose": 10.0})
    >>> location.round(3), dof
    (array([20.144]), array([8.]))
    """

    family: NodeFamily
    weight: Floats = field(repr=False)
    centre: Floats = field(repr=False)
    level: Floats = field(repr=False)
    slopes: Floats = field(repr=False)
    spread: Floats = field(repr=False)
    shape: Floats = field(repr=False)
    scale: Floats = field(repr=False)
    log_marginal_likelihood: float | None

    def __post_init__(self) -> None:
        n_rows, q = math.prod(v.n_states for v in self.family.discrete), len(self.family.continuous)
        inner = {"centre": (q,), "slopes": (q,), "spread": (q, q)}
        for name, array in self._arrays().items():
            frozen = np.array(array, np.float64).reshape((n_rows, *inner.get(name, ())))
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)

    def _arrays(self) -> dict[str, Floats]:
        arrays = (self.weight, self.centre, self.level, self.slopes, self.spread, self.shape, self.scale)
        return dict(zip(ARRAYS, arrays, strict=True))

    @classmethod
    def from_moments(cls, family: NodeFamily, prior: RegressionPseudo, moments: Moments) -> RegressionPosterior:
        """Add the prior's pseudo-rows and the data's rows."""
        q = len(prior.centre)
        n = moments.weight.reshape(-1)
        mean, rest = moments.mean.reshape(-1, q + 1), moments.rest.reshape(-1, q + 1)
        scatter = moments.scatter.reshape(-1, q + 1, q + 1)
        lower = _factor(family, prior.scatter + scatter[:, :q, :q])
        upward = np.asarray(np.linalg.solve(lower, np.broadcast_to(np.eye(q), lower.shape)), np.float64)  # L⁻¹
        # Around each centre by itself, the slopes measured from their prior means.
        direction = np.append(-prior.slopes, 1.0)
        cross = scatter @ direction
        s = _times(upward, cross[:, :q])
        squares = np.maximum(cross @ direction - (s**2).sum(axis=1), 0.0)
        # Then the distance between the centres, one more row of weight w.
        gap = np.where(n[:, None] > 0, mean - np.append(prior.centre, prior.level) + rest, 0.0)
        total = prior.weight + n
        with np.errstate(invalid="ignore"):
            share = np.where(total > 0, n / total, 0.0)
        w = prior.weight * share
        t = _times(upward, gap[:, :q])
        growth = 1 + w * (t**2).sum(axis=1)
        miss = gap @ direction - (t * s).sum(axis=1)
        downward = np.swapaxes(upward, 1, 2)
        turned = (w / (growth + np.sqrt(growth)))[:, None, None] * t[:, :, None] * t[:, None, :]
        slopes = prior.slopes + _times(downward, s + (w * miss / growth)[:, None] * t)  # eq nig-mean
        added = (squares + w * miss**2 / growth) / 2
        before = cross @ direction + w * (gap @ direction) ** 2
        for row in np.flatnonzero((n > 0) & (2 * added <= NEARLY_NONE * before)):  # a difference without its digits
            added[row] = _squares_around(slopes[row], prior, scatter[row], gap[row], w[row]) / 2
        found = cls(
            family,
            weight=total,
            centre=prior.centre + share[:, None] * gap[:, :q],
            level=prior.level + share * gap[:, q],
            slopes=slopes,
            spread=downward @ (np.eye(q) - turned),  # F = L⁻ᵀ (I + w t tᵀ)^(−1/2)
            shape=shape_after(prior, n),
            scale=prior.scale + added,  # eq nig-scale
            log_marginal_likelihood=None,
        )
        if not prior.weight > 0:
            return found
        log_det = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1) + np.log(growth)
        log_det += np.log1p(n / prior.weight) - np.linalg.slogdet(prior.scatter)[1]  # of Λ after over Λ before
        terms = (
            log_rising(np.full(len(n), prior.shape), n / 2)
            - n / 2 * np.log(2 * math.pi * found.scale)
            - prior.shape * np.log1p(added / prior.scale)
            - log_det / 2
        )
        return replace(found, log_marginal_likelihood=math.fsum(np.where(n > 0, terms, 0.0).tolist()))

    @classmethod
    def from_rows(cls, family: NodeFamily, priors: Sequence[RegressionPseudo], moments: Moments) -> RegressionPosterior:
        """Add the data's rows to the pseudo-rows of every configuration, each of which has a prior of its own."""
        alone = NodeFamily(family.child, family.continuous)
        p = len(moments.variables)
        weight, scatter = moments.weight.reshape(-1), moments.scatter.reshape(-1, p, p)
        mean, rest = moments.mean.reshape(-1, p), moments.rest.reshape(-1, p)
        found = [
            cls.from_moments(
                alone, prior, Moments(moments.variables, (), weight[row], mean[row], rest[row], scatter[row])
            )
            for row, prior in enumerate(priors)
        ]
        arrays = {name: np.concatenate([one._arrays()[name] for one in found]) for name in ARRAYS}
        parts = [one.log_marginal_likelihood for one in found]
        evidence = None if None in parts else math.fsum(part for part in parts if part is not None)
        return cls(family, **arrays, log_marginal_likelihood=evidence)

    def renamed(self, family: NodeFamily) -> RegressionPosterior:
        """Return the same posterior for a tied family."""
        return replace(self, family=family)

    @property
    def unknown(self) -> Bools:
        """The rows that neither prior nor data determine: without data under a free intercept; shape (n_rows,)."""
        unknown: Bools = ~((self.weight > 0) & (self.shape > 0))
        return unknown

    @property
    def intercept(self) -> Floats:
        """Posterior means of the intercepts; shape (n_rows,)."""
        found: Floats = self.level - (self.slopes * self.centre).sum(axis=1)
        return found

    # Summaries ------------------------------------------------------------------------------------------------

    def mean(self) -> LinearGaussianCPD:
        """Return the posterior means of intercept and slopes, and E[σ²] = b / (a − 1).

        Raises
        ------
        EstimationError
            When some a ≤ 1, so that σ² has no mean.
        """
        low = ~self.unknown & ~(self.shape > 1)
        if low.any():
            row = int(np.argmax(low))
            raise EstimationError(
                f"Node {self.family.child.name!r}: the variance has no posterior mean{self._where(row)}, since the "
                f"shape of its inverse gamma distribution is {self.shape[row]:g} and must exceed 1. Use ",
                Remedy("point", "map"),
                ", or a prior with a larger 'shape'.",
            )
        return self._cpd(self.shape - 1)

    def mode(self) -> LinearGaussianCPD:
        """Return the mode of the joint density of coefficients and σ²: σ² = b / (a + 1 + (q + 1)/2)."""
        return self._cpd(self.shape + 1 + (len(self.family.continuous) + 1) / 2)

    def _cpd(self, divisor: Floats) -> LinearGaussianCPD:
        known = ~self.unknown
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = np.where(known, self.scale / divisor, np.nan)
        return LinearGaussianCPD(
            self.family,
            np.where(known, self.intercept, np.nan),
            np.where(known[:, None], self.slopes, np.nan),
            variance,
        )

    def _where(self, row: int) -> str:
        return f" for {self._configuration(row)}" if self.family.discrete else ""

    def _configuration(self, row: int) -> str:
        codes = np.unravel_index(row, [v.n_states for v in self.family.discrete])
        return describe_configuration(self.family.discrete, codes)

    def interval(self, level: float = 0.95) -> ParameterIntervals:
        """Return what `intervals` does; deprecated."""
        warn_of_old_form("interval(level)", "intervals(level)")
        return self.intervals(level)

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return medians and equal-tailed credible intervals of intercepts, slopes and standard deviations.

        Coefficients are Student t distributed with 2a degrees of freedom, the precision 1/σ² is gamma distributed.
        """
        from scipy.special import gammaincinv, stdtrit

        tails = (0.5, (1 - require_fraction("level", level)) / 2, (1 + level) / 2)
        means = np.column_stack([self.intercept, self.slopes])
        reach = np.einsum("rij,ri->rj", self.spread, self.centre)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_intercept = 1 / self.weight + (reach**2).sum(axis=1)
            spreads = np.column_stack([of_intercept, (self.spread**2).sum(axis=2)])
            units = np.sqrt(spreads * (self.scale / self.shape)[:, None])
            coefficients = [means + stdtrit(2 * self.shape, tail)[:, None] * units for tail in tails]
            sds = [np.sqrt(self.scale / gammaincinv(self.shape, 1 - tail))[:, None] for tail in tails]
        values = np.stack([np.concatenate(pair, axis=1) for pair in zip(coefficients, sds, strict=True)], axis=2)
        values[self.unknown] = np.nan
        parameters = ("intercept", *(f"slope of {parent.name}" for parent in self.family.continuous), "sd")
        names = [f"{name}{self._given(row)}" for row in range(len(values)) for name in parameters]
        return ParameterIntervals(tuple(names), values.reshape(-1, 3), level)

    def _given(self, row: int) -> str:
        return f" | {self._configuration(row)}" if self.family.discrete else ""

    # New cases ------------------------------------------------------------------------------------------------

    @overload
    def predictive(self) -> RegressionPredictive: ...

    @overload
    def predictive(self, parents: Mapping[str, Any] | TableLike) -> StudentT: ...

    def predictive(self, parents: Mapping[str, Any] | TableLike | None = None) -> RegressionPredictive | StudentT:
        """Return the distribution of the child in new cases, all parameters integrated out: Student's t.

        Parameters
        ----------
        parents : mapping or table, optional
            Values of the parents: one number or state each, or a table with a row for each case. Without them, what is
            returned is the distribution given parents yet to be named.
        """
        if parents is None:
            return RegressionPredictive(self)
        names = self.family.scope[:-1]
        if not names:
            return student(self, {}, 1)
        if isinstance(parents, Mapping):
            single = {name: is_number(value) or isinstance(value, str | bool) for name, value in parents.items()}
            parents = {name: [value] if single[name] else value for name, value in parents.items()}
        table = open_table(parents, names, schema=Schema(self.family.parents))
        parts = list(BlockSource(table).each(lambda block: student(self, block.columns, block.n_rows)))
        return StudentT(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def log_predictive(self, data: TableLike) -> Floats:
        """Return log p(child | parents, data) of every row of a table of states by itself; shape (n_rows,)."""
        return log_predictive_of_rows(self, data)

    def log_predictive_of(self, columns: Columns) -> Floats:
        """Return log p(child | parents, data) of every row of columns, in codes, by itself; shape (n_rows,)."""
        return log_predictive_together([self], columns)

    def as_prior(self) -> NormalInverseGammaRows:
        """Return this posterior as the prior of further fits."""
        from suffice.priors.normal_inverse_gamma import NormalInverseGammaRows
        from suffice.priors.prior import Origin

        upward = np.linalg.inv(self.spread)
        scatter = np.swapaxes(upward, 1, 2) @ upward  # P, of which the spread F has P⁻¹ = F Fᵀ
        numbers = (self.weight, self.centre, scatter, self.level, self.slopes, self.shape, self.scale)
        prior = NormalInverseGammaRows(self.family.scope, *numbers)
        return prior.learnt_from(Origin(self.family.variables, {self.family.child.name: self.family.scope[:-1]}))

    def sample(self, n: int, *, seed: int | None = None) -> tuple[LinearGaussianCPD, ...]:
        """Draw ``n`` distributions from the posterior."""
        draws = self.draws(n, seed=seed)
        return SampledModels.of((LinearGaussianCPD(self.family, *rows) for rows in zip(*draws, strict=True)), draws)

    def draws(self, n: int, *, seed: int | None = None) -> RegressionDraws:
        """Draw ``n`` times intercepts, slopes and variances of every row: the parameters of what `sample` draws."""
        stream = np.random.Generator(np.random.Philox(require_seed(seed)))
        n_rows, q = len(self.weight), len(self.family.continuous)
        size = (require_draws(n, 4 * 8 * max(n_rows, 1) * (q + 2), "draws"), n_rows)
        known = ~self.unknown
        gamma = stream.standard_gamma(np.broadcast_to(np.where(known, self.shape, 1.0), size))
        variance = np.where(known, self.scale / gamma, np.nan)
        sd = np.sqrt(variance)
        normal = stream.standard_normal((*size, q + 1))
        slopes = self.slopes + sd[..., None] * np.einsum("rij,nrj->nri", self.spread, normal[..., 1:])
        level = self.level + sd * normal[..., 0] / np.sqrt(np.where(known, self.weight, 1.0))
        return RegressionDraws(level - (slopes * self.centre).sum(axis=-1), slopes, variance)

    def sample_table(self, *, seed: int | None = None) -> LinearGaussianCPD:
        """Draw one distribution from the posterior; deprecated, for ``sample(1)[0]``."""
        warn_of_old_form("sample_table(seed=…)", "sample(1, seed=…)[0]")
        return self.sample(1, seed=seed)[0]

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the posterior as JSON-able data, its family left out."""
        return {**self._arrays(), "log_marginal_likelihood": self.log_marginal_likelihood}

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: Entry) -> RegressionPosterior:
        """Rebuild from `to_dict`'s data."""
        evidence = entry["log_marginal_likelihood"]
        weight, centre, level, slopes, spread, shape, scale = (np.array(entry[name], np.float64) for name in ARRAYS)
        known = None if evidence is None else float(evidence)
        found = cls(family, weight, centre, level, slopes, spread, shape, scale, known)
        proper = all(np.isfinite(array).all() for array in found._arrays().values())
        if not (proper and (found.weight >= 0).all() and (found.scale > 0).all()):
            raise ModelError(
                f"Node {family.child.name!r}: the posterior must consist of finite numbers, with weights of zero or "
                f"more and positive scales. Got {shown({name: entry[name] for name in ('weight', 'scale')})}."
            )
        return found


@dataclass(frozen=True, eq=False)
class RegressionPredictive:
    """The distribution of a node given its parents, all parameters integrated out.

    Attributes
    ----------
    posterior : RegressionPosterior
    """

    posterior: RegressionPosterior

    def log_prob(self, data: TableLike) -> Floats:
        """Return log p(child | parents, data) of every row of a table of states by itself; shape (n_rows,)."""
        return self.posterior.log_predictive(data)

    def __iter__(self) -> Iterator[Floats]:
        """Yield location, scale and degrees of freedom where there are no parents; deprecated."""
        warn_of_old_form("predictive() as a triple", "predictive({})")
        return iter(self.posterior.predictive({}))


def _times(matrices: Floats, vectors: Floats) -> Floats:
    """Return a matrix times a vector, row by row; shapes (n_rows, q, q) and (n_rows, q)."""
    found: Floats = (matrices @ vectors[:, :, None])[:, :, 0]
    return found


def _squares_around(slopes: Floats, prior: RegressionPseudo, scatter: Floats, gap: Floats, w: float) -> float:
    """Return the squares of data and prior around a line; ``gap`` is between their centres, with the weight ``w``."""
    wide = slopes.astype(np.longdouble)
    apart, off = wide - prior.slopes, gap[-1] - gap[:-1] @ wide
    return left_over(scatter, slopes) + float(apart @ prior.scatter @ apart + w * off * off)


def _factor(family: NodeFamily, matrices: Floats) -> Floats:
    """Return the Cholesky factors of prior and data scatters; shape (n_rows, q, q)."""
    roots = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    try:
        lower = np.asarray(np.linalg.cholesky(matrices / roots[:, :, None] / roots[:, None, :]), np.float64)
    except np.linalg.LinAlgError:
        lower = np.zeros_like(matrices)
    if matrices.size and not (np.diagonal(lower, axis1=1, axis2=2) ** 2 > SINGULAR).all():
        raise EstimationError(
            f"Node {family.child.name!r}: its parents are combinations of each other, up to rounding, and the prior is "
            "too weak to tell their coefficients apart. Use a larger 'precision', or leave a parent out."
        )
    factors: Floats = lower * roots[:, :, None]
    return factors
