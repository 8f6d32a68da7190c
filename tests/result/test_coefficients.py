"""Coefficients with standard errors, against R's lm on data sets that R ships.

R 4.2.2: ``summary(lm(dist ~ speed, cars))`` (Ezekiel, 1930) and lm on ToothGrowth (Bliss, 1952), by supplement and with
a common slope.
"""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf

SPEED = "4,4,7,7,8,9,10,10,10,11,11,12,12,12,12,13,13,13,13,14,14,14,14,15,15,15,16,16,17,17,17,18,18,18,18,19,19,19,20"
SPEED += ",20,20,20,20,22,23,24,24,24,24,25"
DIST = "2,10,4,22,16,10,18,26,34,17,28,14,20,24,28,26,34,34,46,26,36,60,80,20,26,54,32,40,32,40,50,42,56,76,84,36,46,68"
DIST += ",32,48,52,56,64,66,54,70,92,93,120,85"
LEN = "4.2,11.5,7.3,5.8,6.4,10,11.2,11.2,5.2,7,16.5,16.5,15.2,17.3,22.5,17.3,13.6,14.5,18.8,15.5,23.6,18.5,33.9,25.5"
LEN += ",26.4,32.5,26.7,21.5,23.3,29.5,15.2,21.5,17.6,9.7,14.5,10,8.2,9.4,16.5,9.7,19.7,23.3,23.6,26.4,20,25.2,25.8"
LEN += ",21.2,14.5,27.3,25.5,26.4,22.4,24.5,24.8,30.9,26.4,27.3,29.4,23"
CARS = {"speed": [float(x) for x in SPEED.split(",")], "dist": [float(x) for x in DIST.split(",")]}
TEETH = {
    "len": [float(x) for x in LEN.split(",")],
    "supp": ["VC"] * 30 + ["OJ"] * 30,
    "dose": np.tile(np.repeat([0.5, 1.0, 2.0], 10), 2),
}


def rows(table):
    return np.stack([table.estimate, table.se, table.z, table.p], axis=1)


@pytest.mark.parametrize("divisor", ["n", "n-p"])
def test_a_regression(divisor: str) -> None:
    table = sf.fit(sf.DAG("speed -> dist", divisor=divisor), CARS).coefficients("dist")
    expected = [
        [-17.57909489051089, 6.758440169379234, -2.60105800302225, 1.23188161538090e-02],
        [3.93240875912409, 0.415512776657122, 9.46398999029837, 1.48983649629509e-12],
    ]
    np.testing.assert_allclose(rows(table), expected, rtol=1e-10)
    np.testing.assert_allclose(table.lower, [-31.16784960238858, 3.09696432814032], rtol=1e-10)
    np.testing.assert_allclose(table.upper, [-3.99034017863321, 4.76785319010785], rtol=1e-10)
    assert table.df.tolist() == [48.0, 48.0]
    assert table.to_frame("pyarrow").column("term").to_pylist() == ["(intercept)", "speed"]


def test_one_regression_for_each_configuration() -> None:
    table = sf.fit(sf.DAG("supp -> len; dose -> len"), TEETH).coefficients("len")
    expected = [
        [11.54999999999999, 1.72195094326767, 6.70750815820692, 2.78878445584044e-07],
        [7.81142857142857, 1.30167256163981, 6.00107031647648, 1.82480076059576e-06],
        [3.29499999999999, 1.42706013810039, 2.30894263810499, 2.85420057771172e-02],
        [11.71571428571429, 1.07875606609918, 10.86039249640444, 1.50936879363883e-11],
    ]
    np.testing.assert_allclose(rows(table), expected, rtol=1e-10)
    assert table.configurations[0] == "supp='OJ'"
    assert "supp='VC'" in str(table)


def test_shared_slopes_and_variance() -> None:
    fit = sf.fit(sf.DAG("supp -> len; dose -> len", kinds={"len": {"tied": "both"}}), TEETH)
    table = fit.coefficients("len")
    expected = [
        [9.27250000000000, 1.282364945230839, 7.23078093680333, 1.31233452929288e-09],
        [9.76357142857143, 0.876834290340831, 11.13502464048968, 6.31351904531970e-16],
        [5.57250000000000, 1.282364945230837, 4.34548684500799, 5.78666108801516e-05],
        [9.76357142857143, 0.876834290340831, 11.13502464048968, 6.31351904531970e-16],
    ]
    np.testing.assert_allclose(rows(table), expected, rtol=1e-9)
    assert fit.local["len"] == pytest.approx(-170.207766459455, rel=1e-12)
    assert "<table>" in table._repr_html_()
