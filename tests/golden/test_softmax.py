"""Softmax nodes against R: the regressions that ``glm`` fits, of two states and of three.

Tooth growth of 60 guinea pigs under three doses of vitamin C in two forms, OJ and VC: R's data set ``ToothGrowth``,
from C. I. Bliss (1952), The Statistics of Bioassay. The numbers were computed by R 4.2.2 with ``glm`` to an epsilon of
1e-14: two states by family ``binomial``, three by ``poisson`` with one intercept for every animal, which has the same
estimates.
"""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from tests.conftest import DATA

import suffice as sf

LENGTH = [
    4.2, 11.5, 7.3, 5.8, 6.4, 10, 11.2, 11.2, 5.2, 7, 16.5, 16.5, 15.2, 17.3, 22.5, 17.3, 13.6, 14.5, 18.8, 15.5, 23.6,
    18.5, 33.9, 25.5, 26.4, 32.5, 26.7, 21.5, 23.3, 29.5, 15.2, 21.5, 17.6, 9.7, 14.5, 10, 8.2, 9.4, 16.5, 9.7, 19.7,
    23.3, 23.6, 26.4, 20, 25.2, 25.8, 21.2, 14.5, 27.3, 25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23,
]  # fmt: skip
TEETH = {
    "length": LENGTH,
    "form": ["VC"] * 30 + ["OJ"] * 30,
    "dose": (["0.5"] * 10 + ["1"] * 10 + ["2"] * 10) * 2,
}


def fitted(graph: str, **settings: str) -> tuple[sf.Fit, str]:
    node = graph.split(" <- ", maxsplit=1)[0]
    fit = sf.fit(sf.DAG(graph, kinds={node: settings} if settings else {}), TEETH)
    assert fit.certificate.ok, fit.certificate.verdict
    return fit, node


def test_dose_by_length_has_the_coefficients_of_r() -> None:
    fit, node = fitted("dose <- length")
    cpd = fit.model.cpd(node)
    np.testing.assert_allclose(cpd.intercept[0], [0, -6.882528824981951, -15.655108103097943], rtol=1e-9)
    np.testing.assert_allclose(cpd.coefficients[0, :, 0], [0, 0.457415358283350, 0.836438052728433], rtol=1e-9)
    assert fit.local[node] == pytest.approx(-32.677790559147, rel=1e-12)


def test_dose_by_length_and_form_with_shared_slopes() -> None:
    fit, node = fitted("dose <- length, form", tied="slopes")
    cpd = fit.model.cpd(node)
    np.testing.assert_allclose(cpd.intercept[0], [0, -13.568620257917447, -26.560001209878394], rtol=1e-9)
    np.testing.assert_allclose(cpd.intercept[1] - cpd.intercept[0], [0, 4.185255653586512, 6.3411359768024], rtol=1e-8)
    np.testing.assert_allclose(cpd.coefficients[1, :, 0], [0, 0.737920204112838, 1.264335499649195], rtol=1e-9)
    assert fit.local[node] == pytest.approx(-25.5450008701512, rel=1e-12)


def test_under_vc_the_lengths_of_the_lower_doses_do_not_overlap() -> None:
    with pytest.raises(sf.EstimationError, match=r"form='VC': column 'length' separates '1' from '0.5'"):
        fitted("dose <- length, form")
    oj = {name: column[30:] for name, column in TEETH.items()}
    cpd = sf.fit(sf.DAG("dose <- length"), oj).model.cpd("dose")
    np.testing.assert_allclose(cpd.intercept[0], [0, -8.754415939219939, -18.206624680369103], rtol=1e-9)
    np.testing.assert_allclose(cpd.coefficients[0, :, 0], [0, 0.477438419740266, 0.862464605714156], rtol=1e-9)


def test_form_by_length_and_dose_with_and_without_shared_slopes() -> None:
    fit, node = fitted("form <- length, dose", tied="slopes")
    cpd = fit.model.cpd(node)
    np.testing.assert_allclose(cpd.intercept[:, 1], [2.732396967019433, 5.17714995506504, 6.869365215414545], rtol=1e-9)
    np.testing.assert_allclose(cpd.coefficients[:, 1, 0], -0.263862078018038, rtol=1e-9)
    assert -2 * fit.local[node] == pytest.approx(69.9675301673126, rel=1e-12)
    fit, node = fitted("form <- length, dose")
    cpd = fit.model.cpd(node)
    expected = [4.76249517011479551, 9.53270024967673457, -0.15431785970946246]
    np.testing.assert_allclose(cpd.intercept[:, 1], expected, rtol=1e-9)
    expected = [-0.47012348256024900, -0.49032336590804027, 0.00591257036870048]
    np.testing.assert_allclose(cpd.coefficients[:, 1, 0], expected, rtol=1e-8)
    assert -2 * fit.local[node] == pytest.approx(62.6050879380057, rel=1e-12)


@pytest.mark.data
def test_south_african_heart_disease_of_the_elements_of_statistical_learning() -> None:
    """Hastie, Tibshirani and Friedman (2009), Table 4.2; the digits are those of R's ``glm``."""
    reference = json.loads((DATA / "classification_reference" / "R_reference.json").read_text())["SAheart"]
    with (DATA / "classification" / "SAheart.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = ["sbp", "tobacco", "ldl", "obesity", "alcohol", "age"]
    data = {name: [float(row[name]) for row in rows] for name in names}
    data |= {name: [row[name] for row in rows] for name in ("famhist", "chd")}
    dag = sf.DAG({"chd": [*names, "famhist"]}, kinds={"chd": {"tied": "slopes"}})
    fit = sf.fit(dag, data)
    cpd, expected = fit.model.cpd("chd"), reference["coef"]
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(cpd.coefficients[0, 1], [expected[name] for name in names], rtol=1e-6)
    assert cpd.intercept[0, 1] == pytest.approx(expected["(Intercept)"], rel=1e-7)
    assert cpd.intercept[1, 1] - cpd.intercept[0, 1] == pytest.approx(expected["famhistPresent"], rel=1e-7)
    assert -2 * fit.local["chd"] == pytest.approx(reference["deviance"], rel=1e-12)
