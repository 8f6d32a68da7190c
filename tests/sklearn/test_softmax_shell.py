"""SoftmaxRegression against scikit-learn's LogisticRegression, and what it says of its weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from tests.sklearn.shell_cases import blobs, people

import suffice as sf


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("strength", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_strength_is_one_over_c(k: int, strength: float, intercept: bool) -> None:
    x, y = blobs(120, k=k)
    own = sf.SoftmaxRegression("l2", strength=strength, intercept=intercept, tol=1e-10).fit(x, y)
    peer = LogisticRegression(C=1 / strength, fit_intercept=intercept, tol=1e-10, max_iter=10_000).fit(x, y)
    assert own.fit_.certificate.ok
    np.testing.assert_allclose(own.coef_, peer.coef_, atol=2e-5)
    np.testing.assert_allclose(own.predict_proba(x), peer.predict_proba(x), atol=2e-5)
    assert own.coef_.shape == peer.coef_.shape
    assert own.intercept_.shape == peer.intercept_.shape
    if intercept and k == 2:
        np.testing.assert_allclose(own.intercept_, peer.intercept_, atol=2e-5)


@pytest.mark.parametrize("k", [2, 3])
def test_the_absolute_penalty_gives_the_optimum_of_its_formula(k: int) -> None:
    x, y = blobs(120, k=k)
    strength = 8.0

    def objective(clf: object) -> float:
        weights = np.abs(clf.coef_).sum()
        return -np.log(clf.predict_proba(x)[np.arange(len(y)), y]).sum() + strength * weights

    own = sf.SoftmaxRegression("l1", strength=strength).fit(x, y)
    peer = LogisticRegression(C=1 / strength, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=100_000).fit(x, y)
    assert objective(own) <= objective(peer) * (1 + 1e-7)
    np.testing.assert_allclose(own.predict_proba(x), peer.predict_proba(x), atol=1e-3)
    assert (own.coef_ == 0).any()


def test_without_a_penalty_it_is_the_maximum_of_the_likelihood() -> None:
    x, y = blobs(200, k=2)
    own = sf.SoftmaxRegression().fit(x, y)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(x, y)
    np.testing.assert_allclose(own.coef_, peer.coef_, rtol=1e-4)
    log_p = own.predict_log_proba(x)[np.arange(200), y]
    assert own.deviance_ == pytest.approx(-2 * log_p.sum(), rel=1e-12)
    share = np.bincount(y) / 200
    assert own.null_deviance_ == pytest.approx(-2 * np.log(share)[y].sum(), rel=1e-12)
    assert own.null_deviance_ > own.deviance_
    assert own.n_iter_ >= 1


def test_factors_have_treatment_contrasts() -> None:
    frame, y = people(200)
    clf = sf.SoftmaxRegression().fit(frame, y)  # of grades a, b and c no row has c
    assert clf.terms_ == ["age", "town=Graz", "town=Linz", "smokes=True", "grade=b", "visits"]
    dummies = pd.get_dummies(frame.astype({"grade": str}), drop_first=True).astype(float)
    peer = sf.SoftmaxRegression().fit(dummies, y)
    np.testing.assert_allclose(np.sort(clf.coef_), np.sort(peer.coef_), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(clf.predict_proba(frame), peer.predict_proba(dummies), atol=1e-8)
    with pytest.raises(sf.DataError, match=r"'grade', row 1: state 'c' .* No class had it in training"):
        clf.predict(frame.head(1).assign(grade="c"))


def test_weights_of_several_classes_sum_to_zero() -> None:
    x, y = blobs(120)
    clf = sf.SoftmaxRegression().fit(x, y)
    np.testing.assert_allclose(clf.coef_.sum(0), 0, atol=1e-10)
    np.testing.assert_allclose(clf.intercept_.sum(), 0, atol=1e-10)
    scores = x @ clf.coef_.T + clf.intercept_
    p = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(p / p.sum(1, keepdims=True), clf.predict_proba(x), atol=1e-10)


def test_the_reference_is_the_class_to_compare_with() -> None:
    x, y = blobs(200)
    first = sf.SoftmaxRegression().fit(x, y)
    last = sf.SoftmaxRegression(reference=2).fit(x, y)
    np.testing.assert_allclose(first.predict_proba(x), last.predict_proba(x), atol=1e-8)
    shown = last.coefficients_.to_frame("pandas")
    against = last.coef_[0] - last.coef_[2]
    own = shown[(shown["class"].astype(str) == "0") & (shown["term"] == "x1")]
    assert float(own["estimate"].iloc[0]) == pytest.approx(against[1], rel=1e-6)


def test_coefficients_have_standard_errors_without_a_penalty_only() -> None:
    x, y = blobs(200, k=2)
    shown = sf.SoftmaxRegression().fit(x, y).coefficients_.to_frame("pandas")
    p = sf.SoftmaxRegression().fit(x, y).predict_proba(x)[:, 1]
    design = np.column_stack([np.ones(200), x])
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ (design * (p * (1 - p))[:, None]))))
    np.testing.assert_allclose(shown["se"], errors, rtol=1e-5)
    with pytest.raises(sf.SufficeError):
        _ = sf.SoftmaxRegression("l2").fit(x, y).coefficients_


def test_separated_classes_are_named() -> None:
    x, y = blobs(k=2)
    x[:, 0] = 10 * y + x[:, 1] / 10
    notes = sf.SoftmaxRegression().fit(x, y).fit_.notes
    assert any("does not exist" in note.text for note in notes)


def test_large_fits_take_the_rows_once_more_for_standard_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs(200, k=3)
    w = 1 + np.arange(200) % 5
    at_once = sf.SoftmaxRegression().fit(x, y, w)
    monkeypatch.setattr("suffice.learn.softmax_regression.MOST_PRODUCTS", 0)
    later = sf.SoftmaxRegression().fit(x, y, w)
    with pytest.raises(sf.SufficeError, match=r"coefficients\(X, y\)"):
        later.coefficients()
    assert not hasattr(later, "coefficients_")
    table = later.coefficients(x, y, w, level=0.9, reference=2)
    np.testing.assert_allclose(table.se, at_once.coefficients(level=0.9, reference=2).se, rtol=1e-9)
    with pytest.raises(sf.SufficeError, match="rows of the fit"):
        later.coefficients(x, y)


def test_a_search_that_ends_early_warns() -> None:
    x, y = blobs(k=3)
    with pytest.warns(ConvergenceWarning, match="Not certified"):
        early = sf.SoftmaxRegression(max_iter=1, tol=1e-10).fit(x, y)
    (said,) = [note.text for note in early.fit_.notes if note.text.startswith("Not converged")]
    assert "allow more by max_iter=…." in said
    assert "start from this point" not in said


def test_notes_and_priors_are_said_in_the_words_of_the_shell() -> None:
    x, y = blobs(k=2)
    under = sf.SoftmaxRegression("l2").fit(x, y).fit_
    assert any(note.text.startswith("The penalty is on the slopes") for note in under.notes)
    assert "inf" not in str(under.prior)
    x[:, 0] = 10 * y
    text = str(sf.SoftmaxRegression().fit(x, y).fit_)
    assert "penalty='l2'" in text
    assert "prior" not in text
