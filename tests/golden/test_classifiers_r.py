"""Classifiers against R 4.2.2: ``lda`` and ``qda`` of MASS, ``naiveBayes`` of e1071, ``glm``.

Iris is scikit-learn's copy, which has the rows 35 and 38 of R's table (Fisher's paper of 1936 differs there in two
values each); Fisher's discriminant analysis of it is the example of MASS. Crabs, Pima and birthwt: Venables and Ripley
(2002), Modern Applied Statistics with S. SAheart: Hastie, Tibshirani and Friedman (2009), Table 4.2. HouseVotes84:
mlbench, from the UCI repository. The other tables are in the shared data, and so are R's numbers.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from tests.conftest import DATA

import suffice as sf

pytestmark = pytest.mark.data
SHOWN = [70, 83, 133]  # rows 71, 84 and 134 of R, the least clear ones
LENGTHS = ["FL", "RW", "CL", "CW", "BD"]


@cache
def reference(name: str) -> dict[str, Any]:
    return json.loads((DATA / "classification_reference" / "R_reference.json").read_text())[name]


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(DATA / "classification" / f"{name}.csv")


def certified(classifier: Any) -> Any:
    assert classifier.fit_.certificate.ok, classifier.fit_.certificate.verdict
    return classifier


def errors_of(predicted: Any, y: Any) -> int:
    return int((np.asarray(predicted) != np.asarray(y)).sum())


def coefficients(classifier: Any) -> dict[str, float]:
    """Return what ``glm`` calls coefficients: the log-odds of the second of two classes."""
    first, second = classifier.classes_
    constant, weights = certified(classifier).log_odds(second, first).expanded
    return {"(Intercept)": constant, **{str(term): weight for term, weight in weights.items()}}


# Iris ---------------------------------------------------------------------------------------------------------

IRIS = load_iris(return_X_y=True)


def test_iris_is_the_table_of_r() -> None:
    x, y = IRIS
    assert x[34].tolist() == [4.9, 3.1, 1.5, 0.2]
    assert x[37].tolist() == [4.9, 3.6, 1.4, 0.1]
    assert np.bincount(y).tolist() == [50, 50, 50]


@pytest.mark.parametrize(("divisor", "suffix"), [("n-1", ""), ("n", "_mle")])
@pytest.mark.parametrize(("covariance", "name"), [("tied", "lda"), ("full", "qda")])
def test_iris_posteriors_under_both_divisors(covariance: str, name: str, divisor: str, suffix: str) -> None:
    x, y = IRIS
    classifier = certified(sf.GaussianBayes(covariance=covariance, divisor=divisor).fit(x, y))
    expected = reference("iris")[f"{name}{suffix}_post_row71_84_134"]
    np.testing.assert_allclose(classifier.predict_proba(x[SHOWN]), expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(classifier.predict_log_proba(x[SHOWN])), expected, rtol=1e-12)


@pytest.mark.parametrize(("covariance", "name"), [("tied", "lda"), ("full", "qda")])
def test_iris_errors_on_the_rows_themselves_and_with_one_left_out(covariance: str, name: str) -> None:
    x, y = IRIS
    # MASS keeps the class probabilities of all rows when it leaves one out.
    classifier = sf.GaussianBayes(covariance=covariance, divisor="n-1", class_prior="uniform")
    assert errors_of(classifier.fit(x, y).predict(x), y) == reference("iris")[f"{name}_resub_errors"]
    left_out = cross_val_predict(classifier, x, y, cv=LeaveOneOut())
    assert errors_of(left_out, y) == reference("iris")[f"{name}_loo_errors"]


def test_iris_discriminants_have_the_singular_values_of_lda() -> None:
    x, y = IRIS
    model = sf.GaussianBayes(covariance="tied", divisor="n-1").fit(x, y).model_
    found = model.discriminants.singular_values
    np.testing.assert_allclose(found, reference("iris")["scaling_singular_values"], rtol=1e-10)


def test_iris_errors_of_naive_bayes() -> None:
    x, y = IRIS
    expected = reference("iris")["gnb_errors"]
    naive = certified(sf.NaiveBayes(kinds="gaussian", divisor="n-1").fit(x, y))
    assert errors_of(naive.predict(x), y) == expected
    diagonal = certified(sf.GaussianBayes(covariance="diagonal", divisor="n-1").fit(x, y))
    np.testing.assert_allclose(naive.predict_log_proba(x), diagonal.predict_log_proba(x), atol=1e-10)


# Crabs and Pima -----------------------------------------------------------------------------------------------


def test_crabs_of_two_species_and_two_sexes() -> None:
    crabs = table("crabs")
    x, y = crabs[LENGTHS], crabs["sp"] + crabs["sex"]
    expected = reference("crabs")
    for covariance, name in (("tied", "lda_resub"), ("full", "qda_resub")):
        classifier = certified(sf.GaussianBayes(covariance=covariance, divisor="n-1").fit(x, y))
        assert errors_of(classifier.predict(x), y) == expected[name]
    tied = sf.GaussianBayes(covariance="tied", divisor="n-1", class_prior="uniform")
    assert errors_of(cross_val_predict(tied, x.to_numpy(), y, cv=LeaveOneOut()), y) == expected["lda_loo"]


def pima() -> tuple[pd.DataFrame, pd.Series, pd.DataFrame, pd.Series]:
    women = table("Pima_tr_te")
    is_train = women["set"] == "train"
    x, y = women.drop(columns=["type", "set"]).astype(float), women["type"]
    assert (is_train.sum(), (~is_train).sum()) == (200, 332)
    return x[is_train], y[is_train], x[~is_train], y[~is_train]


def test_pima_coefficients_and_deviance_of_glm() -> None:
    x, y, *_ = pima()
    classifier = sf.SoftmaxRegression(penalty=None).fit(x, y)
    expected = reference("Pima")["glm_coef"]
    found = coefficients(classifier)
    assert list(found) == list(expected)
    np.testing.assert_allclose(list(found.values()), list(expected.values()), rtol=1e-7)
    assert classifier.deviance_ == pytest.approx(reference("Pima")["glm_deviance"], rel=1e-10)


def test_pima_errors_on_the_women_of_the_test_set() -> None:
    x, y, x_test, y_test = pima()
    classifiers = {
        "glm": sf.SoftmaxRegression(penalty=None),
        "lda": sf.GaussianBayes(covariance="tied", divisor="n-1"),
        "qda": sf.GaussianBayes(covariance="full", divisor="n-1"),
    }
    found = {name: errors_of(one.fit(x, y).predict(x_test), y_test) / 332 for name, one in classifiers.items()}
    assert found == pytest.approx(reference("Pima")["test_err"], rel=1e-12)


# Logistic regressions with factors ----------------------------------------------------------------------------

HEART = ["sbp", "tobacco", "ldl", "famhist", "obesity", "alcohol", "age"]


def heart(columns: list[str]) -> sf.SoftmaxRegression:
    men = table("SAheart")
    x = men[columns].astype({name: float for name in columns if name != "famhist"})
    return sf.SoftmaxRegression(penalty=None).fit(x, men["chd"])


def in_words_of_r(found: dict[str, float]) -> dict[str, float]:
    return {name.replace("=", ""): value for name, value in found.items()}


def test_south_african_hearts_have_the_coefficients_and_deviances_of_glm() -> None:
    classifier = heart(HEART)
    expected, found = reference("SAheart")["coef"], in_words_of_r(coefficients(classifier))
    assert set(found) == set(expected)
    np.testing.assert_allclose([found[name] for name in expected], list(expected.values()), rtol=1e-7)
    assert classifier.deviance_ == pytest.approx(reference("SAheart")["deviance"], rel=1e-12)
    assert classifier.null_deviance_ == pytest.approx(reference("SAheart")["null"], rel=1e-12)


def test_south_african_hearts_have_the_standard_errors_of_glm() -> None:
    expected = reference("SAheart")["se"]
    found = standard_errors(heart(HEART))
    assert set(found) == set(expected)
    np.testing.assert_allclose([found[name] for name in expected], list(expected.values()), rtol=1e-7)


def standard_errors(classifier: Any) -> dict[str, float]:
    shown = classifier.coefficients_.to_frame("pandas")
    names = [name.replace("(intercept)", "(Intercept)").replace("=", "") for name in shown["term"]]
    return dict(zip(names, shown["se"], strict=True))


def test_south_african_hearts_on_all_nine_columns() -> None:
    columns = [name for name in table("SAheart").columns if name != "chd"]
    assert len(columns) == 9
    classifier = heart(columns)
    expected, found = reference("SAheart_all9")["coef"], in_words_of_r(coefficients(classifier))
    assert set(found) == set(expected)
    # R stops its search earlier here: the deviance agrees to the last digit.
    np.testing.assert_allclose([found[name] for name in expected], list(expected.values()), rtol=2e-6)
    assert classifier.deviance_ == pytest.approx(reference("SAheart_all9")["deviance"], rel=1e-12)


def test_low_birth_weights_with_race_as_a_factor() -> None:
    births = table("birthwt")
    x = births[["age", "lwt", "smoke", "ht", "ui"]].astype(float)
    x.insert(2, "race", births["race"].astype(str))
    x.insert(4, "ptd", (births["ptl"] > 0).astype(float))
    classifier = sf.SoftmaxRegression(penalty=None).fit(x, births["low"])
    expected, found = reference("birthwt")["coef"], in_words_of_r(coefficients(classifier))
    assert set(found) == set(expected)
    np.testing.assert_allclose([found[name] for name in expected], list(expected.values()), rtol=1e-7)
    assert classifier.deviance_ == pytest.approx(reference("birthwt")["deviance"], rel=1e-12)


# Votes with gaps ----------------------------------------------------------------------------------------------


def votes() -> tuple[pd.DataFrame, pd.Series]:
    rows = table("HouseVotes84")
    assert len(rows) == 435
    return rows.drop(columns="Class"), rows["Class"]


@pytest.mark.parametrize("smoothing", [0, 3])
def test_house_votes_leave_missing_ones_out_as_e1071_does(smoothing: int) -> None:
    x, y = votes()
    assert int(x.isna().to_numpy().sum()) == 392
    classifier = certified(sf.NaiveBayes(smoothing=float(smoothing)).fit(x, y))
    expected = reference("HouseVotes84")
    predicted = classifier.predict(x)
    assert errors_of(predicted, y) / len(y) == pytest.approx(expected[f"resub_err_laplace{smoothing}"], rel=1e-12)
    if not smoothing:
        parties = ["democrat", "republican"]
        confusion = [[int(((predicted == found) & (y == true)).sum()) for true in parties] for found in parties]
        assert confusion == expected["confusion_laplace0"]


def test_house_votes_on_the_first_question_have_the_table_of_e1071() -> None:
    x, y = votes()
    expected = reference("HouseVotes84")["V1"]
    cpd = sf.NaiveBayes(smoothing=0.0).fit(x, y).model_.cpd("V1")
    assert (cpd.family.scope, list(cpd.family.child.labels)) == (("Class", "V1"), expected["cols"])
    np.testing.assert_allclose(cpd.values, expected["values"], rtol=1e-13)


def test_house_votes_smoothed_are_pseudo_counts_of_every_answer() -> None:
    x, y = votes()
    classifier = sf.NaiveBayes(smoothing=3.0).fit(x, y)
    log_p = np.tile(np.log(y.value_counts(normalize=True).sort_index().to_numpy()), (len(x), 1))
    for name in x:
        counts = pd.crosstab(y, x[name]).to_numpy() + 3.0
        shares = np.log(counts / counts.sum(axis=1, keepdims=True))
        for code, answer in enumerate(["n", "y"]):
            log_p[(x[name] == answer).to_numpy()] += shares[:, code]
    log_p -= np.logaddexp.reduce(log_p, axis=1, keepdims=True)
    np.testing.assert_allclose(classifier.predict_log_proba(x), log_p, atol=1e-10)
