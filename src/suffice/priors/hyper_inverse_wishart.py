"""The hyper inverse Wishart prior: conjugate for Gaussian Markov random fields with a chordal graph.

======  ====================================================================
δ       degrees of freedom, in the form that is the same for every clique
Φ       scale matrix; the covariance matrix of a clique C has the inverse
        Wishart density ∝ |Σ_C|^(−(δ + 2|C|)/2) exp(−tr(Σ_C⁻¹ Φ_C)/2)
m, κ    the mean given Σ is N(m, Σ/κ); κ = 0 is a flat prior
======  ====================================================================

Dawid and Lauritzen (1993), Hyper Markov laws in the statistical analysis of decomposable graphical models.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.block import Block
from suffice.data.table import open_table
from suffice.errors import (
    ArgumentError,
    EstimationError,
    Mention,
    Remedy,
    is_number,
    listing,
    require_fraction,
    require_seed,
    shown,
)
from suffice.models.gaussian_regressions import precision_of, regressions_of
from suffice.models.joint_normal import JointNormal
from suffice.models.multivariate_t import MultivariateT
from suffice.models.sampling import require_draws
from suffice.priors.correlation_law import correlation_quantiles
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import SampledModels, warn_of_old_form
from suffice.priors.prior import ComparedByContent, Origin
from suffice.stats.moments import Moments
from suffice.stats.source import BlockSource
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.text import plural
from suffice.types import Floats, TableLike

if TYPE_CHECKING:
    from suffice.types import Entry

NumbersOfVariables = float | Mapping[str, float] | Sequence[float] | Sequence[Sequence[float]] | Floats
"""One number for all variables, numbers by variable, or an array in the order of the variables."""
Kept = float | dict[str, float] | Floats
"""The same as it is kept."""


@dataclass(frozen=True, init=False, eq=False)
class HyperInverseWishart(ComparedByContent):
    """A conjugate prior on the mean and covariance of a Gaussian Markov random field with a chordal graph.

    Parameters
    ----------
    dof : float
        δ > 0. The prior counts like so many rows; a larger number is a stronger prior. With δ > 2 the prior mean of
        every clique's covariance matrix is Φ_C / (δ − 2).
    scale : number, mapping or array
        Φ: a number for that multiple of the identity, a mapping from variables to numbers for a diagonal matrix, or a
        positive definite matrix, shape (p, p), in the order of the structure's variables.
    mean : number, mapping or array, optional
        The prior mean of the variables. Without it the prior on the mean is flat, and there is no marginal likelihood.
    mean_weight : float
        κ > 0: so many rows does the prior mean count for. Not used without ``mean``.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"x": [1.0, 2.0, 4.0], "y": [1.0, 3.0, 3.0]}
    >>> fit = sf.fit(sf.GaussianMarkov("x:y"), data, prior=sf.HyperInverseWishart(3, 1.0, mean=0.0))
    >>> fit.certificate.ok
    True
    >>> fit.model.mean
    array([1.75, 1.75])
    """

    dof: float
    scale: Kept
    mean: Kept | None = None
    mean_weight: float = 1.0

    def __init__(
        self, dof: float, scale: NumbersOfVariables, mean: NumbersOfVariables | None = None, mean_weight: float = 1.0
    ) -> None:
        for name, value in (("dof", dof), ("mean_weight", mean_weight)):
            if not is_number(value) or not 0 < value < math.inf:
                raise ArgumentError(
                    f"The {name!r} argument must be a positive, finite number. Got {shown(value)} instead."
                )
        object.__setattr__(self, "dof", float(dof))
        object.__setattr__(self, "scale", _kept("scale", scale))
        object.__setattr__(self, "mean", None if mean is None else _kept("mean", mean))
        object.__setattr__(self, "mean_weight", float(mean_weight))

    def check(self, structure: GaussianMarkov) -> None:
        """Raise unless the prior is one for the structure."""
        self.scale_of(structure)
        self.mean_of(structure)

    def scale_of(self, structure: GaussianMarkov) -> Floats:
        """Return Φ in the order of the structure's variables; shape (p, p)."""
        p = len(structure.variables)
        if isinstance(self.scale, np.ndarray) and self.scale.ndim:
            matrix = self.scale
            if matrix.shape != (p, p) or not np.allclose(matrix, matrix.T, rtol=0, atol=1e-8 * np.abs(matrix).max()):
                raise ArgumentError(
                    f"The 'scale' argument must be a symmetric matrix of shape {(p, p)}, in the order of the variables "
                    f"{listing(structure.variables, 12)}. Got shape {matrix.shape} instead."
                )
            matrix = (matrix + matrix.T) / 2
        else:
            matrix = np.diag(_vector("scale", self.scale, structure))
        roots = np.sqrt(np.abs(np.diag(matrix)))
        if not ((np.diag(matrix) > 0).all() and np.linalg.eigvalsh(matrix / roots[:, None] / roots)[0] > 1e-12):
            raise ArgumentError(
                f"The 'scale' argument must be positive definite. Got {shown(matrix.tolist())} instead."
            )
        return matrix

    def mean_of(self, structure: GaussianMarkov) -> Floats | None:
        """Return the prior mean in the order of the structure's variables, shape (p,), or None when it is flat."""
        return None if self.mean is None else _vector("mean", self.mean, structure)

    def posterior(self, structure: GaussianMarkov, moments: Moments) -> HyperInverseWishartPosterior:
        """Return the posterior after some data, given by its moments."""
        scale, mean = self.scale_of(structure), self.mean_of(structure)
        n = float(moments.weight)
        if mean is None:
            if not n > 0:
                raise EstimationError(
                    "Without data, a flat prior on the mean leaves it undetermined. Give the prior a mean: ",
                    Mention("HyperInverseWishart", "sf.HyperInverseWishart(dof, scale, mean=0.0)"),
                    ".",
                )
            after = scale + moments.scatter
            return HyperInverseWishartPosterior(structure, self.dof + n - 1, after, moments.mean, n, None)
        kappa = self.mean_weight
        gap = moments.mean + moments.rest - mean
        after = scale + moments.scatter + (kappa * n / (kappa + n)) * np.outer(gap, gap)  # eq niw-scale
        centre = mean + (n / (kappa + n)) * gap
        evidence = (
            _log_normaliser(structure, self.dof, scale)
            - _log_normaliser(structure, self.dof + n, after)
            + 0.5 * len(mean) * (math.log(kappa / (kappa + n)) - n * math.log(2 * math.pi))
        )
        return HyperInverseWishartPosterior(structure, self.dof + n, after, centre, kappa + n, evidence)

    def describe(self) -> str:
        """Say in a few words what the prior is."""
        return f"hyper inverse Wishart, {self._numbers}"

    @property
    def _numbers(self) -> str:
        """The hyperparameters, in words."""
        kinds = {True: "diagonal", False: "full"}
        scale = f"{self.scale:g}" if isinstance(self.scale, float) else kinds[isinstance(self.scale, dict)]
        mean = "flat on the mean" if self.mean is None else f"mean counting for {plural(self.mean_weight, 'row')}"
        return f"dof {self.dof:g}, scale {scale}, {mean}"

    def __repr__(self) -> str:
        return f"HyperInverseWishart({self._numbers})"

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {
            "type": "HyperInverseWishart",
            "dof": self.dof,
            "scale": self.scale,
            "mean": self.mean,
            "mean_weight": self.mean_weight,
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> HyperInverseWishart:
        """Rebuild the prior from `to_dict`'s data."""
        return cls(entry["dof"], entry["scale"], entry["mean"], entry["mean_weight"])


@dataclass(frozen=True, eq=False)
class HyperInverseWishartPosterior:
    """p(μ, K | data) of a Gaussian Markov random field with a chordal graph.

    Attributes
    ----------
    structure : GaussianMarkov
    dof : float
        δ after the data.
    scale : array, shape (p, p)
        Φ after the data; only its entries on the diagonal and on edges count.
    centre : array, shape (p,)
        Posterior mean of the variables' means.
    mean_weight : float
        κ after the data.
    log_marginal_likelihood : float or None
        log p(data), all parameters integrated out; None under a flat prior on the mean.
    """

    structure: GaussianMarkov
    dof: float
    scale: Floats = field(repr=False)
    centre: Floats = field(repr=False)
    mean_weight: float
    log_marginal_likelihood: float | None

    def __post_init__(self) -> None:
        for name, array in (("scale", self.scale), ("centre", self.centre)):
            frozen = np.array(array, np.float64)
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)

    def mean(self) -> JointNormal:
        """Return the normal distribution with the posterior means of μ and of the precision matrix K.

        E[K] has the zeros of the structure, and its inverse is the estimate of the covariance matrix that minimises
        the expected Stein loss. (E[Σ] itself would not be Markov to the graph.)
        """
        p = len(self.centre)
        precision = np.zeros((p, p))
        for regression in regressions_of(self.structure, self.scale):
            members = [regression.place, *regression.later]
            vector = np.array([1.0, *-regression.coefficients])
            expected = (self.dof + len(regression.later)) / regression.residual  # 1/s_v is gamma distributed
            precision[np.ix_(members, members)] += expected * np.outer(vector, vector)
            precision[np.ix_(regression.later, regression.later)] += regression.inner_inverse()
        return JointNormal(self.structure.variables, self.centre, precision=precision)

    def mode(self) -> JointNormal:
        """Return the normal distribution at the mode of the joint density of μ and K; Σ_C = Φ_C / (δ − 1)."""
        if not self.dof > 1:
            raise EstimationError(
                f"The posterior has no mode: its degrees of freedom are {self.dof:g}, and must exceed 1. Ask for ",
                Remedy("point", "mean"),
                ", or give the prior more.",
            )
        regressions = regressions_of(self.structure, self.scale / (self.dof - 1))
        precision = precision_of(len(self.centre), regressions)
        return JointNormal(self.structure.variables, self.centre, precision=precision)

    # What is known of the parameters --------------------------------------------------------------------------

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return the posterior median and the credible interval of every mean, sd, variance and correlation.

        Of the correlations, those of variables that share an edge; the others follow from them.

        Notes
        -----
        The covariance matrix of a clique is inverse Wishart distributed, whatever the other cliques are. A mean has
        Student's t distribution with δ degrees of freedom, a variance σ_ii is inverse gamma with shape δ/2 and rate
        φ_ii/2, and a correlation is distributed as that of a sample with δ + 1 degrees of freedom, from a population
        with the correlation of Φ. Nothing is drawn.
        """
        tails = np.array([0.5, (1 - require_fraction("level", level)) / 2, (1 + level) / 2])
        names, graph = self.structure.variables, self.structure.graph
        variances = self._variances(tails)
        values = [*self._means(tails), *np.sqrt(variances), *variances]
        labels = [f"{what} of {name}" for what in ("mean", "sd", "variance") for name in names]
        for first, second in itertools.combinations(range(len(names)), 2):
            if names[second] in graph[names[first]]:
                rho = float(self.scale[first, second] / np.sqrt(self.scale[first, first] * self.scale[second, second]))
                values.append(correlation_quantiles(rho, self.dof + 1, tails))
                labels.append(f"correlation of {names[first]}, {names[second]}")
        return ParameterIntervals(tuple(labels), np.array(values), level)

    def _means(self, tails: Floats) -> Floats:
        from scipy.special import stdtrit

        spread = np.sqrt(np.diag(self.scale) / (self.mean_weight * self.dof))
        found: Floats = self.centre[:, None] + spread[:, None] * stdtrit(self.dof, tails)
        return found

    def _variances(self, tails: Floats) -> Floats:
        from scipy.special import gammainccinv

        found: Floats = np.diag(self.scale)[:, None] / 2 / gammainccinv(self.dof / 2, tails)
        return found

    # New cases and further data -------------------------------------------------------------------------------

    def predictive(self) -> HyperT:
        """Return the distribution of a new row, all parameters integrated out: Student's t on every clique.

        On each clique its degrees of freedom are δ, its location is m, and its scale matrix Φ_C (κ + 1) / (κ δ); like
        the normal distributions that it is a mixture of, it is Markov to the graph.
        """
        kappa, names = self.mean_weight, self.structure.variables
        scale = self.scale * ((kappa + 1) / (kappa * self.dof))

        def law(places: list[int]) -> MultivariateT:
            inner = scale[np.ix_(places, places)]
            return MultivariateT([names[place] for place in places], self.centre[places], inner, self.dof)

        found = regressions_of(self.structure, self.scale)
        return HyperT(
            names,
            tuple(law([one.place, *one.later]) for one in found),
            tuple(law(one.later) for one in found if one.later),
        )

    def log_predictive(self, data: TableLike) -> Floats:
        """Return log p(row | data) of every new row by itself, all parameters integrated out; shape (n_rows,)."""
        return self.predictive().log_prob(data)

    def as_prior(self) -> HyperInverseWishart:
        """Return this posterior as the prior of further fits."""
        prior = HyperInverseWishart(self.dof, self.scale, self.centre, self.mean_weight)
        return prior.learnt_from(Origin((), columns=self.structure.columns))

    # Draws ----------------------------------------------------------------------------------------------------

    def sample(self, n: int, *, seed: int | None = None) -> tuple[JointNormal, ...]:
        """Draw ``n`` normal distributions, mean and precision matrix of each from their joint posterior."""
        stream = np.random.default_rng(require_seed(seed))
        precisions = self._draw(require_draws(n, self._draw_bytes, "draws"), stream)
        models = []
        for precision in precisions:
            lower = np.linalg.cholesky(self.mean_weight * precision)
            shift = np.linalg.solve(lower.T, stream.standard_normal(len(self.centre)))
            models.append(JointNormal(self.structure.variables, self.centre + shift, precision=precision))
        return SampledModels.of(models, precisions)

    def draws(self, n: int, *, seed: int | None = None) -> Floats:
        """Return ``n`` precision matrices, those of what `sample` draws; shape (n, p, p)."""
        return self._draw(require_draws(n, self._draw_bytes, "draws"), np.random.default_rng(require_seed(seed)))

    def sample_models(self, n: int, *, seed: int | None = None) -> list[JointNormal]:
        """Draw ``n`` normal distributions; deprecated, for `sample`."""
        warn_of_old_form("sample_models(n)", "sample(n)")
        return list(self.sample(n, seed=seed))

    @property
    def _draw_bytes(self) -> int:
        """What one matrix takes while it is drawn."""
        return 4 * 8 * len(self.centre) ** 2

    def _draw(self, n: int, stream: np.random.Generator) -> Floats:
        """Draw the regressions, which are independent: residual variances, then coefficients given them."""
        p = len(self.centre)
        found = np.zeros((n, p, p))
        for regression in regressions_of(self.structure, self.scale):
            k = len(regression.later)
            inverse_residual = stream.chisquare(self.dof + k, n) / regression.residual
            normal = stream.standard_normal((n, k)) / np.sqrt(inverse_residual)[:, None]
            slopes = regression.coefficients + normal @ np.linalg.inv(regression.inner)
            vectors = np.concatenate([np.ones((n, 1)), -slopes], axis=1)
            members = np.ix_(range(n), [regression.place, *regression.later], [regression.place, *regression.later])
            found[members] += inverse_residual[:, None, None] * vectors[:, :, None] * vectors[:, None, :]
        return found

    def __repr__(self) -> str:
        return f"HyperInverseWishartPosterior({self.structure!r}, dof {self.dof:g})"


@dataclass(frozen=True, eq=False)
class HyperT:
    """The hyper-T law of a row whose normal distribution has a hyper inverse Wishart posterior.

    p(x) = Π p(x_v, x_L) / Π p(x_L), the variables v in a perfect order, each with its later neighbours L; all of these
    distributions are Student's t (Dawid and Lauritzen, 1993, section 7.3).

    Attributes
    ----------
    variables : tuple of str
    families, later : tuple of MultivariateT
        Those of each variable with its later neighbours, and of the later neighbours alone.
    """

    variables: tuple[str, ...]
    families: tuple[MultivariateT, ...] = field(repr=False)
    later: tuple[MultivariateT, ...] = field(repr=False)

    def log_prob(self, data: TableLike) -> Floats:
        """Return the log-density of every row of a table; shape (n_rows,)."""
        table = open_table(data, self.variables, continuous=self.variables)
        return np.concatenate(list(BlockSource(table).each(self._log_prob_of)))

    def _log_prob_of(self, block: Block) -> Floats:
        total = np.zeros(block.n_rows)
        for law in self.families:
            total += law.log_prob_of(block.columns, block.n_rows)
        for law in self.later:
            total -= law.log_prob_of(block.columns, block.n_rows)
        return total


def _log_normaliser(structure: GaussianMarkov, dof: float, scale: Floats) -> float:
    """Return log of the constant of the density: Σ over cliques less Σ over separators (Dawid and Lauritzen, eq 42).

    Along a perfect order both sums fall apart into one term a variable, its clique less its later neighbours.
    """
    from scipy.special import multigammaln

    def term(size: int, log_det: float) -> float:
        nu = dof + size - 1
        return 0.5 * nu * (log_det - size * math.log(2)) - (float(multigammaln(nu / 2, size)) if size else 0.0)

    total = 0.0
    for regression in regressions_of(structure, scale):
        size = len(regression.later)
        inner = 2 * float(np.log(np.diag(regression.inner)).sum())
        total += term(size + 1, inner + math.log(regression.residual)) - term(size, inner)
    return total


def _kept(argument: str, value: NumbersOfVariables) -> Kept:
    """Return a number, a mapping of numbers, or a frozen array."""
    if isinstance(value, Mapping):
        bad = [entry for entry in value.values() if not is_number(entry) or not math.isfinite(entry)]
        found: Kept | None = {name: float(entry) for name, entry in value.items()} if not bad else None
    elif is_number(value):
        found = float(value) if math.isfinite(value) else None
    else:
        try:
            found = np.array(value, np.float64)
            found.flags.writeable = False
        except (TypeError, ValueError):
            found = None
        if found is not None and not (found.ndim and np.isfinite(found).all()):
            found = None
    if found is None:
        raise ArgumentError(
            f"The {argument!r} argument must be a number, a mapping from variables to numbers, or an array of finite "
            f"numbers. Got {shown(value)} instead."
        )
    return found


def _vector(argument: str, value: Kept, structure: GaussianMarkov) -> Floats:
    names = structure.variables
    if isinstance(value, dict):
        if set(value) != set(names):
            raise ArgumentError(
                f"The {argument!r} argument must give a number to each of {listing(names, 12)}, and to no other. "
                f"Got {listing(value, 12)} instead."
            )
        return np.array([value[name] for name in names])
    if isinstance(value, float):
        return np.full(len(names), value)
    if value.shape != (len(names),):
        raise ArgumentError(
            f"The {argument!r} argument must have the shape ({len(names)},), in the order of the variables "
            f"{listing(names, 12)}. Got shape {value.shape} instead."
        )
    return np.array(value)
