"""The distribution of a correlation under an inverse Wishart matrix: Fisher's distribution of the sample correlation.

======  ==========================================================
n       degrees of freedom of the 2 × 2 block, n > 1
ρ, ζ    correlation of the scale matrix, and artanh ρ
z       artanh of the correlation, over which we integrate
======  ==========================================================

The block's inverse is a Wishart matrix with n degrees of freedom, and inverting a 2 × 2 matrix turns the sign of its
correlation, in the scale as in the draw. Hotelling (1953), New light on the correlation coefficient and its transforms,
eq 25, in terms of z: p(z) ∝ cosh(z)^½ cosh(z − ζ)^(½ − n) F(½, ½; n + ½; (1 + ρ tanh z)/2).
"""

from __future__ import annotations

import math

import numpy as np

from suffice.types import Floats

POINTS = 4001
NEGLIGIBLE = 45.0
"""What lies beyond exp(−45) of the density's height is left out."""


def correlation_quantiles(rho: float, n: float, p: Floats) -> Floats:
    """Return the correlations below which the probability is p.

    >>> correlation_quantiles(0.5, 20.0, np.array([0.025, 0.5, 0.975])).round(4)
    array([0.1005, 0.5099, 0.7718])
    """
    largest = 1 - 2.0**-53  # a correlation that rounds to one is less than one
    zeta = math.atanh(min(max(rho, -largest), largest))
    # Steps grow away from the middle, where few degrees of freedom leave long tails.
    unit = 1 / math.sqrt(n)
    end = math.asinh((NEGLIGIBLE / (n - 1) + 10 * unit) / unit)
    u = np.linspace(-end, end, POINTS)
    z = zeta + unit * np.sinh(u)
    log_density = _log_density(z, zeta, rho, n) + np.log(np.cosh(u))
    density = np.exp(log_density - log_density.max())
    step = u[1] - u[0]
    slope = np.gradient(density, step, edge_order=2)
    # The trapezoidal rule with its correction for the slopes at the ends of each step
    areas = 0.5 * step * (density[1:] + density[:-1]) - step**2 / 12 * (slope[1:] - slope[:-1])
    below = np.concatenate([[0.0], np.cumsum(areas)])
    return np.asarray(np.tanh(zeta + unit * np.sinh(_inverse(u, below / below[-1], density / below[-1], p))))


def _log_density(z: Floats, zeta: float, rho: float, n: float) -> Floats:
    from scipy.special import hyp2f1

    series = hyp2f1(0.5, 0.5, n + 0.5, (1 + rho * np.tanh(z)) / 2)
    found: Floats = 0.5 * _log_cosh(z) - (n - 0.5) * _log_cosh(z - zeta) + np.log(series)
    return found


def _log_cosh(x: Floats) -> Floats:
    found: Floats = np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))) - math.log(2)
    return found


def _inverse(u: Floats, below: Floats, density: Floats, p: Floats) -> Floats:
    """Return where a distribution function has the values p, its density being linear between points."""
    place = np.clip(np.searchsorted(below, p) - 1, 0, len(u) - 2)
    step, height, rise = u[1] - u[0], density[place], density[place + 1] - density[place]
    wanted = p - below[place]
    # h t + (r / 2s) t² = wanted, in the form that loses no digits
    root = np.sqrt(np.maximum(height**2 + 2 * rise / step * wanted, 0.0))
    found: Floats = u[place] + np.clip(2 * wanted / np.maximum(height + root, 1e-300), 0.0, step)
    return found
