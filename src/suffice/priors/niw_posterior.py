"""The posterior of a multivariate normal's mean and covariance matrix, which is normal-inverse-Wishart again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import EstimationError, Remedy, require_seed
from suffice.models.joint_normal import JointNormal
from suffice.models.multivariate_t import MultivariateT
from suffice.models.sampling import require_draws
from suffice.priors.hyper_inverse_wishart import HyperInverseWishartPosterior
from suffice.priors.parameter_intervals import ParameterIntervals
from suffice.priors.posterior import SampledModels, warn_of_old_form
from suffice.priors.prior import Origin
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.types import Floats, TableLike

if TYPE_CHECKING:
    from suffice.priors.normal_inverse_wishart import NormalInverseWishart


@dataclass(frozen=True, eq=False)
class NormalInverseWishartPosterior:
    """p(μ, Σ | data) of a multivariate normal: μ given Σ is N(m, Σ/κ), and Σ is inverse Wishart with ν and Ψ.

    Attributes
    ----------
    hyper : HyperInverseWishartPosterior
        The same posterior, with the degrees of freedom δ = ν − p + 1 and in terms of the precision matrix.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"x": [1.0, 2.0, 6.0, 4.0], "y": [2.0, 2.0, 5.0, 1.0]}
    >>> prior = sf.NormalInverseWishart(mean=0.0, mean_weight=1, dof=4, scale=1.0)
    >>> posterior = sf.fit(sf.MultivariateNormal(["x", "y"]), data, prior=prior).posterior
    >>> print(posterior.predictive())
    variable  location    scale       sd
    --------  --------  -------  -------
    x              2.6   2.0368  2.40998
    y                2  1.60357  1.89737
    Student's t, 7 degrees of freedom
    """

    hyper: HyperInverseWishartPosterior

    # What it is -----------------------------------------------------------------------------------------------

    @property
    def structure(self) -> GaussianMarkov:
        """The structure whose parameters these are."""
        return self.hyper.structure

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.structure.variables

    @property
    def dof(self) -> float:
        """ν after the data."""
        return self.hyper.dof + len(self.variables) - 1

    @property
    def scale(self) -> Floats:
        """Ψ after the data; shape (p, p)."""
        return self.hyper.scale

    @property
    def centre(self) -> Floats:
        """The posterior mean of the variables' means, m after the data; shape (p,)."""
        return self.hyper.centre

    @property
    def mean_weight(self) -> float:
        """κ after the data."""
        return self.hyper.mean_weight

    @property
    def log_marginal_likelihood(self) -> float | None:
        """The log-probability of the data, all parameters integrated out."""
        return self.hyper.log_marginal_likelihood

    # Estimates ------------------------------------------------------------------------------------------------

    def mean(self) -> JointNormal:
        """Return the normal distribution with the posterior means, E[μ] = m and E[Σ] = Ψ / (ν − p − 1)."""
        surplus = self.dof - len(self.variables) - 1
        if not surplus > 0:
            raise EstimationError(
                f"The covariance matrix has no posterior mean: the degrees of freedom are {self.dof:g}, and must "
                f"exceed {len(self.variables) + 1}. Ask for ",
                Remedy("point", "map"),
                ", give the prior more, or collect more rows.",
            )
        return JointNormal(self.variables, self.centre, covariance=self.scale / surplus)

    def mode(self) -> JointNormal:
        """Return the normal distribution at the mode of the joint density of μ and Σ; Σ = Ψ / (ν + p + 2).

        The density of μ and Σ⁻¹, of which `HyperInverseWishartPosterior` gives the mode, has it at Ψ / (ν − p).
        """
        total = self.dof + len(self.variables) + 2
        return JointNormal(self.variables, self.centre, covariance=self.scale / total)

    # What is known of the parameters --------------------------------------------------------------------------

    def intervals(self, level: float = 0.95) -> ParameterIntervals:
        """Return the posterior median and the credible interval of every mean, sd, variance and correlation.

        Parameters
        ----------
        level : float
            The probability of each interval by itself; its tails are equal.

        Notes
        -----
        A mean has Student's t distribution with δ = ν − p + 1 degrees of freedom, a variance σ_ii is inverse gamma with
        shape δ/2 and rate ψ_ii/2, and a correlation is distributed as that of a sample with δ + 1 degrees of freedom,
        from a population with the correlation of Ψ. Nothing is drawn.

        Examples
        --------
        >>> import suffice as sf
        >>> data = {"x": [1.0, 2.0, 6.0, 4.0], "y": [2.0, 2.0, 5.0, 1.0]}
        >>> prior = sf.NormalInverseWishart(mean=0.0, mean_weight=1, dof=4, scale=1.0)
        >>> print(sf.fit(sf.MultivariateNormal(["x", "y"]), data, prior=prior).posterior.intervals(0.9))
        parameter              median     lower     upper
        -------------------  --------  --------  --------
        mean of x                 2.6   1.02462   4.17538
        mean of y                   2  0.759707   3.24029
        sd of x               1.95283   1.31161   3.34151
        sd of y               1.53745   1.03263   2.63076
        variance of x         3.81354   1.72032   11.1657
        variance of y         2.36376   1.06631   6.92089
        correlation of x, y  0.758639  0.329925  0.928897
        0.9 credible intervals, equal-tailed
        """
        return self.hyper.intervals(level)

    def predictive(self) -> MultivariateT:
        """Return the distribution of a new row, all parameters integrated out: Student's t.

        Its degrees of freedom are δ = ν − p + 1, its location is m, and its scale matrix Ψ (κ + 1) / (κ δ).
        """
        delta, kappa = self.hyper.dof, self.mean_weight
        # eq niw-predictive
        return MultivariateT(self.variables, self.centre, self.scale * ((kappa + 1) / (kappa * delta)), delta)

    # Draws ----------------------------------------------------------------------------------------------------

    def sample(self, n: int, *, seed: int | None = None) -> tuple[JointNormal, ...]:
        """Draw ``n`` normal distributions, mean and covariance matrix of each from their joint posterior."""
        draws = self.draws(n, seed=seed)
        rows = zip(*draws, strict=True)
        models = (JointNormal(self.variables, mean, covariance=covariance) for mean, covariance in rows)
        return SampledModels.of(models, draws)

    def draws(self, n: int, *, seed: int | None = None) -> tuple[Floats, Floats]:
        """Draw means, shape (n, p), and covariance matrices, shape (n, p, p), exactly and independently."""
        p = len(self.variables)
        size = require_draws(n, 8 * 8 * p * p, "draws")
        seeds = np.random.SeedSequence(require_seed(seed)).generate_state(2, np.uint64)
        roots = np.sqrt(np.diag(self.scale))
        units = np.outer(roots, roots)
        precisions = self.hyper.draws(size, seed=int(seeds[0])) * units
        covariances = np.linalg.inv(precisions)
        normal = np.random.default_rng(int(seeds[1])).standard_normal((size, p, 1))
        lower = np.linalg.cholesky(precisions)
        shifts = np.linalg.solve(np.swapaxes(lower, 1, 2), normal)[:, :, 0] / np.sqrt(self.mean_weight)
        symmetric = (covariances + np.swapaxes(covariances, 1, 2)) / 2
        return self.centre + shifts * roots, symmetric * units

    def sample_models(self, n: int, *, seed: int | None = None) -> list[JointNormal]:
        """Draw ``n`` normal distributions; deprecated, for `sample`."""
        warn_of_old_form("sample_models(n)", "sample(n)")
        return list(self.sample(n, seed=seed))

    # Further data ---------------------------------------------------------------------------------------------

    def log_predictive(self, data: TableLike) -> Floats:
        """Return log p(row | data) of every new row by itself, all parameters integrated out; shape (n_rows,)."""
        return self.predictive().log_prob(data)

    def as_prior(self) -> NormalInverseWishart:
        """Return this posterior as the prior of further fits."""
        from suffice.priors.normal_inverse_wishart import NormalInverseWishart

        prior = NormalInverseWishart(self.centre, self.mean_weight, self.dof, self.scale)
        return prior.learnt_from(Origin((), columns=self.structure.columns))

    # Rendering ------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"NormalInverseWishartPosterior({self.structure!r}, dof {self.dof:g})"

    def __str__(self) -> str:
        return str(self.intervals())

    def _repr_html_(self) -> str:
        return self.intervals()._repr_html_()
