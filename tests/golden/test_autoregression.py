"""Autoregressions of published series, against R."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf

# Luteinizing hormone in blood samples at 10-minute intervals from a human female, 48 samples.
# P.J. Diggle (1990), "Time Series: A Biostatistical Introduction", Oxford, table A.1, series 3; R's dataset ``lh``.
LH = [
    2.4, 2.4, 2.4, 2.2, 2.1, 1.5, 2.3, 2.3, 2.5, 2.0, 1.9, 1.7, 2.2, 1.8, 3.2, 3.2, 2.7, 2.2, 2.2, 1.9, 1.9, 1.8, 2.7,
    3.0, 2.3, 2.0, 2.0, 2.9, 2.9, 2.7, 2.7, 2.3, 2.6, 2.4, 1.8, 1.7, 1.5, 1.4, 2.1, 3.3, 3.5, 3.5, 3.1, 2.6, 2.1, 3.4,
    3.0, 2.9,
]  # fmt: skip

# Level of Lake Huron in feet, 1875-1972. P.J. Brockwell & R.A. Davis (1991), "Time Series: Theory and Methods", second
# edition, Springer, series A, page 555; R's dataset ``LakeHuron``.
HURON = [
    580.38, 581.86, 580.97, 580.80, 579.79, 580.39, 580.42, 580.82, 581.40, 581.32, 581.44, 581.68, 581.17, 580.53,
    580.01, 579.91, 579.14, 579.16, 579.55, 579.67, 578.44, 578.24, 579.10, 579.09, 579.35, 578.82, 579.32, 579.01,
    579.00, 579.80, 579.83, 579.72, 579.89, 580.01, 579.37, 578.69, 578.19, 578.67, 579.55, 578.92, 578.09, 579.37,
    580.13, 580.14, 579.51, 579.24, 578.66, 578.86, 578.05, 577.79, 576.75, 576.75, 577.82, 578.64, 580.58, 579.48,
    577.38, 576.90, 576.94, 576.24, 576.84, 576.85, 576.90, 577.79, 578.18, 577.51, 577.23, 578.42, 579.61, 579.05,
    579.26, 579.22, 579.38, 579.10, 577.95, 578.12, 579.75, 580.85, 580.41, 579.96, 579.61, 578.76, 578.18, 577.21,
    577.13, 579.10, 578.25, 577.91, 576.89, 575.96, 576.80, 577.68, 578.38, 578.52, 579.74, 579.31, 579.89, 579.96,
]  # fmt: skip

# Monthly deaths from bronchitis, emphysema and asthma in the UK, men and women, 1974-1979. Diggle (1990), table A.3;
# R's datasets ``mdeaths`` and ``fdeaths``.
MEN = [
    2134, 1863, 1877, 1877, 1492, 1249, 1280, 1131, 1209, 1492, 1621, 1846, 2103, 2137, 2153, 1833, 1403, 1288, 1186,
    1133, 1053, 1347, 1545, 2066, 2020, 2750, 2283, 1479, 1189, 1160, 1113, 970, 999, 1208, 1467, 2059, 2240, 1634,
    1722, 1801, 1246, 1162, 1087, 1013, 959, 1179, 1229, 1655, 2019, 2284, 1942, 1423, 1340, 1187, 1098, 1004, 970,
    1140, 1110, 1812, 2263, 1820, 1846, 1531, 1215, 1075, 1056, 975, 940, 1081, 1294, 1341,
]  # fmt: skip
WOMEN = [
    901, 689, 827, 677, 522, 406, 441, 393, 387, 582, 578, 666, 830, 752, 785, 664, 467, 438, 421, 412, 343, 440, 531,
    771, 767, 1141, 896, 532, 447, 420, 376, 330, 357, 445, 546, 764, 862, 660, 663, 643, 502, 392, 411, 348, 387, 385,
    411, 638, 796, 853, 737, 546, 530, 446, 431, 362, 387, 430, 425, 679, 821, 785, 727, 612, 478, 429, 405, 379, 393,
    411, 487, 574,
]  # fmt: skip

# The numbers below are those that R 4.2.2 prints for the calls named in each test, to 12 digits.


def test_luteinizing_hormone_by_ar_ols() -> None:
    """``ar.ols(lh, order.max = 3, aic = FALSE, demean = FALSE, intercept = TRUE)`` and ``logLik`` of the same by lm."""
    fit = sf.fit(sf.Autoregression(3, "lh"), {"lh": LH})
    assert fit.certificate.ok, fit.certificate.verdict
    slopes = [0.6578237753054, -0.0658132239699, -0.2348354659452]
    np.testing.assert_allclose(fit.model.coefficients[:, 0, 0], slopes, rtol=1e-11)
    assert fit.model.intercept[0] == pytest.approx(1.53752119201, rel=1e-11)
    assert fit.model.covariance[0, 0] == pytest.approx(0.190469228823, rel=1e-11)
    assert fit.log_likelihood == pytest.approx(-26.5412799104, rel=1e-11)
    assert fit.n_free == 5
    unbiased = sf.fit(sf.Autoregression(3, "lh", divisor="n-p"), {"lh": LH})
    assert unbiased.model.errors.sd[0] == pytest.approx(0.457221601208, rel=1e-11)


def test_forecasts_of_luteinizing_hormone() -> None:
    """``predict(ar.ols(…), n.ahead = 3)``: means and standard errors."""
    forecast = sf.fit(sf.Autoregression(3, "lh"), {"lh": LH}).model.forecast(LH, 3)
    np.testing.assert_allclose(forecast.mean[:, 0], [2.44932988428, 2.25338387611, 2.17762953312], rtol=1e-11)
    np.testing.assert_allclose(forecast.sd[:, 0], [0.436427804824, 0.522390066793, 0.546382791013], rtol=1e-11)


def test_lake_huron_by_lm() -> None:
    """``lm`` of a value on the two before, its ``logLik`` and AIC, and ``ARMAacf`` of the coefficients."""
    fit = sf.fit(sf.Autoregression(2), np.array(HURON))
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(fit.model.coefficients[:, 0, 0], [1.021731582516, -0.237574215079], rtol=1e-10)
    assert fit.model.intercept[0] == pytest.approx(124.949943386032, rel=1e-10)
    assert fit.log_likelihood == pytest.approx(-98.3109104966, rel=1e-11)
    assert fit.aic == pytest.approx(204.621820993, rel=1e-11)
    correlations = [1.0, 0.825592170608, 0.605959379909, 0.422988424267, 0.288220308061]
    np.testing.assert_allclose(fit.model.autocorrelation(4)[:, 0, 0], correlations, rtol=1e-10)


def test_deaths_of_men_and_women_by_ar_ols() -> None:
    """``ar.ols(ts.union(mdeaths, fdeaths), order.max = 2, aic = FALSE, demean = FALSE, intercept = TRUE)``."""
    fit = sf.fit(sf.Autoregression(2, ["men", "women"]), {"men": MEN, "women": WOMEN})
    assert fit.certificate.ok, fit.certificate.verdict
    first = [[0.961014557532, 0.333955107333], [0.3390885830078, 0.261683772621]]
    second = [[0.114893727137, -1.337869034181], [-0.0601319028963, -0.269124098624]]
    np.testing.assert_allclose(fit.model.coefficients, [first, second], rtol=1e-10)
    np.testing.assert_allclose(fit.model.intercept, [443.849244061, 145.054579668], rtol=1e-11)
    covariance = [[58128.1200272, 23161.1629619], [23161.1629619, 10513.9370261]]
    np.testing.assert_allclose(fit.model.covariance, covariance, rtol=1e-11)
    forecast = fit.model.forecast({"men": MEN, "women": WOMEN}, 2)
    np.testing.assert_allclose(
        forecast.mean, [[1421.39026059, 541.104736588], [1376.66632928, 533.516003492]], rtol=1e-11
    )
