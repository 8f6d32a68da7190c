"""Simulation-based calibration of the normal-inverse-Wishart posterior (Talts et al., 2018).

Parameters are drawn from the prior by scipy, rows given them, and parameters again from the posterior of these rows.
The rank of the true value among the draws is then uniform, for every parameter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy import stats

import suffice as sf
from suffice.data.variable import Variable
from suffice.priors.niw_posterior import NormalInverseWishartPosterior
from suffice.stats.moments import Moments

pytestmark = pytest.mark.slow

REPLICATES, DRAWS, BINS, LEVEL = 1000, 63, 16, 0.001
NAMES = ("x", "y", "z")
MEAN, WEIGHT, DOF = np.array([1.0, -2.0, 0.5]), 1.5, 6.0
SCALE = np.array([[2.0, 0.8, -0.3], [0.8, 1.5, 0.2], [-0.3, 0.2, 1.0]])

Change = Callable[[NormalInverseWishartPosterior], NormalInverseWishartPosterior]


def quantities(means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Return the means, the entries of the covariance matrix, its log-determinant and a correlation, side by side."""
    p = means.shape[-1]
    upper = np.triu_indices(p)
    parts = [means, covariances[..., upper[0], upper[1]], np.linalg.slogdet(covariances)[1][..., None]]
    if p > 1:
        root = np.sqrt(covariances[..., 0, 0] * covariances[..., 1, 1])
        parts.append((covariances[..., 0, 1] / root)[..., None])
    return np.concatenate(parts, axis=-1)


@cache
def simulated(p: int, n: int) -> list[tuple[np.ndarray, NormalInverseWishartPosterior]]:
    """Return the true quantities and their posterior, again and again."""
    mean, scale = MEAN[:p], SCALE[:p, :p]
    prior = sf.NormalInverseWishart(mean, WEIGHT, DOF, scale)
    structure = sf.MultivariateNormal(NAMES[:p])
    variables = [Variable(name) for name in NAMES[:p]]
    draw = np.random.default_rng(20261116)
    covariances = np.reshape(stats.invwishart(DOF, scale).rvs(REPLICATES, random_state=draw), (REPLICATES, p, p))
    found = []
    for covariance in covariances:
        truth = draw.multivariate_normal(mean, covariance / WEIGHT)
        rows = draw.multivariate_normal(truth, covariance, size=n)
        found.append((quantities(truth, covariance), prior.posterior(structure, Moments.of_rows(variables, rows))))
    return found


def least_p_value(p: int, n: int, change: Change = lambda posterior: posterior) -> float:
    """Return the least p-value of χ² tests of uniform ranks, times their number."""
    ranks = []
    for replicate, (truth, posterior) in enumerate(simulated(p, n)):
        drawn = quantities(*change(posterior).draws(DRAWS, seed=replicate))
        ranks.append((drawn < truth).sum(axis=0))
    counts = [np.bincount(column * BINS // (DRAWS + 1), minlength=BINS) for column in np.array(ranks).T]
    return float(min(stats.chisquare(count).pvalue for count in counts) * len(counts))


@pytest.mark.parametrize(("p", "n"), [(1, 4), (3, 5)])
def test_ranks_are_uniform(p: int, n: int) -> None:
    assert least_p_value(p, n) > LEVEL


def with_wider_scale(posterior: NormalInverseWishartPosterior) -> NormalInverseWishartPosterior:
    return NormalInverseWishartPosterior(dataclasses.replace(posterior.hyper, scale=posterior.scale * 1.2))


def with_surer_mean(posterior: NormalInverseWishartPosterior) -> NormalInverseWishartPosterior:
    return NormalInverseWishartPosterior(dataclasses.replace(posterior.hyper, mean_weight=posterior.mean_weight * 1.44))


@pytest.mark.parametrize(
    ("p", "n", "change"), [(1, 4, with_wider_scale), (3, 5, with_wider_scale), (3, 5, with_surer_mean)]
)
def test_ranks_reveal_a_scale_that_is_off_by_a_fifth(p: int, n: int, change: Change) -> None:
    """The test above would notice."""
    assert least_p_value(p, n, change) < LEVEL
