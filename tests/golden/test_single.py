"""Numbers from print for single variables and multivariate normals, typed in, each with its citation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

import suffice as sf

# Sleep --------------------------------------------------------------------------------------------------------
# Student (1908), The probable error of a mean, Biometrika 6, 1-25, section IX: additional hours of sleep of ten
# patients under two drugs. The means are +0.75, +2.33 and, of the differences, +1.58; the S.D., with divisor n, are
# 1.70, 1.90 and 1.17.
SLEEP = {
    "dextro": [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    "laevo": [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
}
GAINS = {**SLEEP, "difference": [second - first for first, second in zip(*SLEEP.values(), strict=True)]}


@pytest.mark.parametrize(
    ("name", "mean", "sd"), [("dextro", 0.75, 1.70), ("laevo", 2.33, 1.90), ("difference", 1.58, 1.17)]
)
def test_students_sleep(name: str, mean: float, sd: float) -> None:
    model = sf.fit(sf.Normal(name), GAINS).model
    assert model.mean[0] == pytest.approx(mean, abs=1e-12)
    assert model.sd[0] == pytest.approx(sd, abs=0.005)


def test_sleep_by_r() -> None:
    """R's data set ``sleep`` by ``var`` and ``cor``."""
    fit = sf.fit(sf.MultivariateNormal(["dextro", "laevo"], divisor="n-1"), SLEEP)
    np.testing.assert_allclose(np.diag(fit.model.covariance), [3.200556, 4.009000], atol=5e-7)
    assert fit.model.correlations[0, 1] == pytest.approx(0.7951702, abs=5e-8)


# Cork ---------------------------------------------------------------------------------------------------------
# C. R. Rao (1948), Tests of significance in multivariate analysis, Biometrika 35, 58-79: centigrams of cork borings
# from the north, east, south and west of 28 trees. Mardia, Kent & Bibby (1979), Multivariate Analysis, print their mean
# and covariance matrix, with divisor n.
CORK = """
72 66 76 77  60 53 66 63  56 57 64 58  41 29 36 38  32 32 35 36  30 35 34 26  39 39 31 27
42 43 31 25  37 40 31 25  33 29 27 36  32 30 34 28  63 45 74 63  54 46 60 52  47 51 52 43
91 79 100 75 56 68 47 50  79 65 70 61  81 80 68 58  78 55 67 60  46 38 37 38  39 35 34 37
32 30 30 32  60 50 67 54  35 37 48 39  39 36 39 31  50 34 37 40  43 37 39 50  48 54 57 43
"""
SIDES = ("north", "east", "south", "west")


def cork() -> dict[str, np.ndarray]:
    return dict(zip(SIDES, np.array(CORK.split(), float).reshape(28, 4).T, strict=True))


def test_cork_borings() -> None:
    model = sf.fit(sf.MultivariateNormal(SIDES), cork()).model
    np.testing.assert_allclose(model.mean, [50.536, 46.179, 49.679, 45.179], atol=5e-4)
    published = [280.034, 215.761, 278.136, 218.190, 212.075, 220.879, 165.254, 337.504, 250.272, 217.932]
    np.testing.assert_allclose(model.covariance[np.triu_indices(4)], published, atol=5e-4)


# Midges -------------------------------------------------------------------------------------------------------


def test_midge_wing_lengths() -> None:
    """P. D. Hoff (2009), A First Course in Bayesian Statistical Methods, section 5.3.

    Prior: μ0 = 1.9, κ0 = 1, σ0² = 0.01, ν0 = 1. Posterior: κn = 10, νn = 10, μn = 1.814, and σn² = 0.015 as
    (0.010 + 0.135 + 0.008) / 10. In our form Ψ = ν σ².
    """
    wings = {"length": [1.64, 1.70, 1.72, 1.74, 1.82, 1.82, 1.82, 1.90, 2.08]}
    prior = sf.NormalInverseWishart(mean=1.9, mean_weight=1, dof=1, scale=1 * 0.01)
    posterior = sf.fit(sf.Normal("length"), wings, prior=prior).posterior
    assert (posterior.mean_weight, posterior.dof) == (10, 10)
    assert posterior.centre[0] == pytest.approx(1.814, abs=5e-4)
    assert posterior.scale[0, 0] == pytest.approx(0.010 + 0.135 + 0.008, abs=1e-3)
    assert posterior.scale[0, 0] / posterior.dof == pytest.approx(0.015, abs=5e-4)


# Births -------------------------------------------------------------------------------------------------------


def test_births_in_paris() -> None:
    """Laplace on the births of 1745 to 1770, as in Gelman et al. (2013), Bayesian Data Analysis, section 2.4.

    Of 493,472 children 241,945 were girls; under a flat prior P(θ ≥ 1/2) = 1.15 · 10⁻⁴².
    """
    births = {"child": ["boy", "girl"]}
    fit = sf.fit(sf.Bernoulli("child"), births, weights=[251_527, 241_945], prior=sf.Dirichlet(1.0))
    boys, girls = fit.posterior["child"].concentration[0]
    assert fit.model.query("child")[{"child": "girl"}] == pytest.approx(241_946 / 493_474, rel=1e-14)
    assert f"{beta(girls, boys).sf(0.5):.2e}" == "1.15e-42"
