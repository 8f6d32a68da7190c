"""Coefficients of a softmax regression: standard errors from differences of gradients, references, deviances, R."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.conftest import DATA

import suffice as sf
from suffice.result.softmax_coefficients import SoftmaxCoefficients, softmax_coefficients
from suffice.structures.softmax_regression import SoftmaxClasses


def data(seed: int = 0, n: int = 200, k: int = 3, shift: float = 0.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = np.argmax(x @ rng.normal(size=(2, k)) + rng.gumbel(size=(n, k)), axis=1)
    return {"x": x[:, 0] + shift, "z": x[:, 1], "y": [f"c{code}" for code in y]}


def naive_covariance(rows: dict[str, Any], theta: Any, k: int) -> Any:
    """Return the inverse of −∂²ℓ by differences of ℓ's gradient; ``theta`` has a row a class but the first."""
    f = np.column_stack([np.ones(len(rows["x"])), rows["x"], rows["z"]])
    own = np.eye(k)[[int(label[1]) for label in rows["y"]]]

    def gradient(flat: Any) -> Any:
        scores = np.column_stack([np.zeros(len(f)), f @ flat.reshape(k - 1, 3).T])
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return ((own - p)[:, 1:].T @ f).reshape(-1)

    h, flat = 1e-5, np.asarray(theta).reshape(-1)
    steps = np.eye(len(flat)) * h
    hessian = np.array([(gradient(flat + step) - gradient(flat - step)) / (2 * h) for step in steps])
    return np.linalg.inv(-hessian)


@pytest.mark.parametrize(("k", "shift"), [(2, 0.0), (3, 0.0), (4, 0.0), (3, 5000.0)])
def test_standard_errors_are_those_of_the_information(k: int, shift: float) -> None:
    rows = data(1, 300, k, shift)
    table = softmax_coefficients(sf.fit(SoftmaxClasses("y", ["x", "z"]), rows, tol=1e-10))
    if shift:
        slopes = [place for place, term in enumerate(table.terms) if term != "(intercept)"]
        plain = softmax_coefficients(sf.fit(SoftmaxClasses("y", ["x", "z"]), data(1, 300, k), tol=1e-10))
        np.testing.assert_allclose(table.se[slopes], plain.se[slopes], rtol=1e-6)
        np.testing.assert_allclose(table.estimate[slopes], plain.estimate[slopes], rtol=1e-6)
        at_zero = plain.estimate[0] - shift * plain.estimate[1]
        assert table.estimate[0] == pytest.approx(at_zero, rel=1e-6)
        step = np.array([1.0, -shift, 0.0])
        assert table.se[0] == pytest.approx(np.sqrt(step @ plain.covariance[:3, :3] @ step), rel=1e-6)
        return
    np.testing.assert_allclose(table.covariance, naive_covariance(rows, table.estimate, k), rtol=1e-6, atol=1e-9)
    assert table.classes == tuple(np.repeat([f"c{code}" for code in range(1, k)], 3))


def test_another_reference_changes_signs_and_the_data_once_more_nothing() -> None:
    rows = data(2)
    fit = sf.fit(SoftmaxClasses("y", ["x", "z"], reference="c1"), rows)
    table = fit.coefficients()
    assert isinstance(table, SoftmaxCoefficients)
    assert table.reference == "c1"
    assert table.classes[0] == "c0"
    first = fit.coefficients(reference="c0")
    np.testing.assert_allclose(first.estimate[:3], -table.estimate[:3], atol=1e-12)
    np.testing.assert_allclose(first.se[:3], table.se[:3], rtol=1e-10)
    again = fit.coefficients(data=rows)
    np.testing.assert_allclose(again.se, table.se, rtol=1e-10)
    w = np.full(200, 4)
    heavy = sf.fit(SoftmaxClasses("y", ["x", "z"]), rows, weights=w).coefficients(data=rows, weights=w)
    np.testing.assert_allclose(2 * heavy.se, first.se, rtol=1e-6)


def test_without_an_intercept_there_is_none_in_the_table() -> None:
    fit = sf.fit(SoftmaxClasses("y", ["x", "z"], intercept=False), data(3))
    table = softmax_coefficients(fit, level=0.9)
    assert table.terms == ("x", "z", "x", "z")
    assert table.null_deviance == pytest.approx(2 * 200 * np.log(3))
    assert table.residual_df == 396
    frame = table.to_frame("pandas")
    assert list(frame.columns) == ["class", "term", "estimate", "se", "z", "p", "lower", "upper"]
    np.testing.assert_allclose(frame["upper"] - frame["estimate"], 1.6448536269514722 * frame["se"])


def test_printing_cuts_long_tables() -> None:
    rng = np.random.default_rng(0)
    rows = {**{f"x{j}": rng.normal(size=400) for j in range(70)}, "y": rng.choice(["a", "b"], 400)}
    table = softmax_coefficients(sf.fit(SoftmaxClasses("y", [f"x{j}" for j in range(70)]), rows))
    assert "… 11 more rows" in str(table)
    assert "log-odds against y=a" in table._repr_html_()


# R ------------------------------------------------------------------------------------------------------------


@pytest.mark.data
def test_south_african_heart_disease_by_glm() -> None:
    """Hastie, Tibshirani and Friedman (2009), Table 4.2: ``glm(chd ~ ., binomial)`` of R 4.2.2."""
    expected = json.loads((DATA / "classification_reference" / "R_reference.json").read_text())["SAheart"]
    table = pd.read_csv(DATA / "classification" / "SAheart.csv")
    inputs = ["sbp", "tobacco", "ldl", "famhist", "obesity", "alcohol", "age"]
    schema = {name: sf.continuous() for name in inputs if name != "famhist"}
    fit = sf.fit(SoftmaxClasses("chd", inputs), table, schema=schema)
    assert fit.certificate.ok
    assert fit.certificate.exists == "yes"
    found = softmax_coefficients(fit)
    np.testing.assert_allclose(found.estimate, list(expected["coef"].values()), rtol=1e-7)
    np.testing.assert_allclose(found.se, list(expected["se"].values()), rtol=1e-7)
    assert found.deviance == pytest.approx(expected["deviance"], rel=1e-10)
    assert found.null_deviance == pytest.approx(expected["null"], rel=1e-10)
    assert (found.residual_df, found.null_df) == (454, 461)
