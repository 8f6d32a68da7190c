"""The normal-inverse-Wishart prior: conjugate for the mean and covariance matrix of a multivariate normal.

======  ==================================================================
m, κ    the mean given Σ is N(m, Σ/κ); m counts for κ rows
ν, Ψ    Σ has the inverse Wishart distribution of ν degrees of freedom:
        density ∝ |Σ|^(−(ν + p + 1)/2) exp(−tr(Σ⁻¹ Ψ)/2), ν > p − 1
======  ==================================================================

The form is that of Gelman et al. (2013), Bayesian Data Analysis, section 3.6, and of Murphy (2007), Conjugate Bayesian
analysis of the Gaussian distribution, section 9. For one variable it is the normal-inverse-gamma with shape a = ν/2
and scale b = Ψ/2, `sf.NormalInverseGamma`. It is the hyper inverse Wishart prior of a complete graph, whose degrees
of freedom are δ = ν − p + 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.errors import ArgumentError, Mention, shown
from suffice.priors.hyper_inverse_wishart import HyperInverseWishart, Kept, NumbersOfVariables
from suffice.priors.niw_posterior import NormalInverseWishartPosterior
from suffice.priors.prior import ComparedByContent
from suffice.stats.moments import Moments
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.types import Entry


@dataclass(frozen=True, init=False, eq=False)
class NormalInverseWishart(ComparedByContent):
    """A conjugate prior on the mean and the covariance matrix of `Normal` and `MultivariateNormal`.

    Parameters
    ----------
    mean : number, mapping or array
        m, the prior mean of the variables: one number for all, numbers by variable, or an array of shape (p,).
    mean_weight : float
        κ > 0: so many rows does the prior mean count for.
    dof : float
        ν > p − 1: so many rows does Ψ count for. E[Σ] = Ψ / (ν − p − 1) exists for ν > p + 1.
    scale : number, mapping or array
        Ψ: a number for that multiple of the identity, a mapping from variables to numbers for a diagonal matrix, or a
        positive definite matrix of shape (p, p).

    Examples
    --------
    >>> import suffice as sf
    >>> prior = sf.NormalInverseWishart(mean=1.9, mean_weight=1, dof=1, scale=0.01)
    >>> wings = {"wing": [1.64, 1.70, 1.72, 1.74, 1.82, 1.82, 1.82, 1.90, 2.08]}
    >>> fit = sf.fit(sf.Normal("wing"), wings, prior=prior)
    >>> print(fit.posterior.intervals())
    parameter            median       lower      upper
    ----------------  ---------  ----------  ---------
    mean of wing          1.814     1.72678    1.90122
    sd of wing         0.128077   0.0864943   0.217243
    variance of wing  0.0164037  0.00748126  0.0471947
    0.95 credible intervals, equal-tailed
    """

    mean: Kept
    mean_weight: float
    dof: float
    scale: Kept

    def __init__(self, mean: NumbersOfVariables, mean_weight: float, dof: float, scale: NumbersOfVariables) -> None:
        if mean is None:
            raise ArgumentError(
                "The 'mean' argument must be a number, a mapping from variables to numbers, or an array. Got None "
                "instead; a flat prior on the mean is ",
                Mention("HyperInverseWishart(dof, scale)", "sf.HyperInverseWishart(dof, scale)"),
                ".",
            )
        checked = HyperInverseWishart(dof, scale, mean, mean_weight)  # which checks all but what needs p
        object.__setattr__(self, "mean", checked.mean)
        object.__setattr__(self, "mean_weight", checked.mean_weight)
        object.__setattr__(self, "dof", checked.dof)
        object.__setattr__(self, "scale", checked.scale)

    def check(self, structure: GaussianMarkov) -> None:
        """Raise unless the prior is one for the structure."""
        self._hyper(structure).check(structure)

    def scale_of(self, structure: GaussianMarkov) -> Floats:
        """Return Ψ in the order of the structure's variables; shape (p, p)."""
        return self._hyper(structure).scale_of(structure)

    def mean_of(self, structure: GaussianMarkov) -> Floats | None:
        """Return m in the order of the structure's variables; shape (p,)."""
        return self._hyper(structure).mean_of(structure)

    def posterior(self, structure: GaussianMarkov, moments: Moments) -> NormalInverseWishartPosterior:
        """Return the posterior after some data, given by its moments."""
        return NormalInverseWishartPosterior(self._hyper(structure).posterior(structure, moments))

    def _hyper(self, structure: GaussianMarkov) -> HyperInverseWishart:
        """Return the same prior as a hyper inverse Wishart, whose degrees of freedom are counted otherwise."""
        p = len(structure.variables)
        for first, near in structure.graph.items():
            if len(near) < p - 1:
                other = next(name for name in structure.variables if name not in (first, *near))
                raise ArgumentError(
                    "A normal-inverse-Wishart prior is for a covariance matrix without zeros in its inverse, and "
                    f"{first!r} and {other!r} have no edge. Use ",
                    Mention("HyperInverseWishart(dof, scale, mean)", "sf.HyperInverseWishart(dof, scale, mean)"),
                    ", or fit ",
                    Mention("MultivariateNormal", "sf.MultivariateNormal([…])"),
                    ".",
                )
        if not self.dof > p - 1:
            raise ArgumentError(
                f"The 'dof' argument must exceed {p - 1}, the number of variables less one, for the prior to be "
                f"proper. Got {shown(self.dof)} instead."
            )
        return HyperInverseWishart(self.dof - p + 1, self.scale, self.mean, self.mean_weight)

    def describe(self) -> str:
        """Say in a few words what the prior is."""
        return f"normal-inverse-Wishart, {self._numbers}"

    @property
    def _numbers(self) -> str:
        """The hyperparameters, in words."""
        kinds = {True: "diagonal", False: "full"}
        scale = f"{self.scale:g}" if isinstance(self.scale, float) else kinds[isinstance(self.scale, dict)]
        mean = f" {self.mean:g}" if isinstance(self.mean, float) else ""
        weight = plural(self.mean_weight, "row")
        return f"dof {self.dof:g}, scale {scale}, mean{mean} counting for {weight}"

    def __repr__(self) -> str:
        return f"NormalInverseWishart({self._numbers})"

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {
            "type": "NormalInverseWishart",
            "mean": self.mean,
            "mean_weight": self.mean_weight,
            "dof": self.dof,
            "scale": self.scale,
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> NormalInverseWishart:
        """Rebuild the prior from `to_dict`'s data."""
        return cls(entry["mean"], entry["mean_weight"], entry["dof"], entry["scale"])
