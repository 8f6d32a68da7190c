"""Bernoulli columns: bits and counts, dense or sparse, constant or not, as scikit-learn's BernoulliNB reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import suffice as sf

FORMS = (np.asarray, csr_array, csr_matrix, csc_matrix, coo_array)


def counts(n: int = 40, p: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.poisson(0.7, (n, p)).astype(float)
    x[:, 0] = 0.0
    return x, np.arange(n) % 3


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(
    n=st.integers(6, 60), p=st.integers(1, 8), seed=st.integers(0, 999), t=st.sampled_from([0.0, 0.5, 1.0, 2.5]),
    data=st.data(),
)  # fmt: skip
def test_probabilities_are_those_of_scikit_learn(form: Any, n: int, p: int, seed: int, t: float, data: Any) -> None:
    x, y = counts(n, p, seed)
    rng = np.random.default_rng(seed)
    weights = data.draw(st.sampled_from([None, rng.integers(1, 3, n), rng.random(n) + 0.1]))
    mine = sf.NaiveBayes("bernoulli", binarize=t).fit(form(x), y, sample_weight=weights)
    theirs = BernoulliNB(binarize=t).fit(x, y, sample_weight=weights)
    assert mine.fit_.certificate.ok
    for other in (form(x), x, csr_array(x)):
        np.testing.assert_allclose(mine.predict_log_proba(other), theirs.predict_log_proba(x), rtol=0, atol=1e-12)


@settings(max_examples=15)
@given(n=st.integers(9, 60), p=st.integers(1, 8), seed=st.integers(0, 999))
def test_the_other_kinds_are_those_of_scikit_learn(n: int, p: int, seed: int) -> None:
    x, y = counts(n, p, seed)
    z = np.random.default_rng(seed).normal(size=(n, p)) + y[:, None]
    for mine, theirs, table in (
        (sf.NaiveBayes("multinomial"), MultinomialNB(), x),
        (sf.NaiveBayes("gaussian"), GaussianNB(var_smoothing=0), z),
    ):
        here, there = mine.fit(table, y).predict_proba(table), theirs.fit(table, y).predict_proba(table)
        np.testing.assert_allclose(here, there, rtol=0, atol=1e-12)


def test_negative_thresholds_and_fractions() -> None:
    x = np.random.default_rng(1).normal(size=(50, 4))
    y = np.arange(50) % 2
    mine, theirs = sf.NaiveBayes("bernoulli", binarize=-0.5).fit(x, y), BernoulliNB().fit(x + 0.5, y)
    np.testing.assert_allclose(mine.predict_log_proba(x), theirs.predict_log_proba(x + 0.5), rtol=0, atol=1e-12)
    with pytest.raises(sf.DataError, match=r"one threshold of 0.0 or more.*'binarize' argument is -0.5"):
        sf.NaiveBayes("bernoulli", binarize=-0.5).fit(csr_array(x), y)


def test_a_column_that_is_constant_knows_both_states() -> None:
    clf = sf.NaiveBayes("bernoulli").fit([[0, 1], [0, 1], [0, 0], [0, 1]], ["a", "b", "a", "b"])
    assert clf.model_.schema["x0"].states == (0, 1)
    assert clf.predict_proba([[1, 1]]).round(4).tolist() == [[0.4, 0.6]]


def test_frames_of_counts_bools_and_text() -> None:
    frame = pd.DataFrame({"n": [0, 3, 1, 0], "b": [True, True, True, True], "t": ["no", "yes", "no", "no"]})
    clf = sf.NaiveBayes("bernoulli").fit(frame, [0, 1, 1, 0])
    assert {v.name: v.states for v in clf.model_.inputs} == {"n": (0, 1), "b": (False, True), "t": ("no", "yes")}
    assert clf.predict(pd.DataFrame({"n": [9], "b": [False], "t": ["yes"]})).tolist() == [1]


def test_missing_values_are_left_out() -> None:
    x, y = counts()
    x[3, 2] = x[5, 1] = np.nan
    clf = sf.NaiveBayes("bernoulli").fit(x, y)
    assert "Values missing, of 40 rows: x1 1, x2 1" in str(clf.fit_)
    whole = sf.NaiveBayes("bernoulli").fit(np.nan_to_num(x), y)
    stored = csr_array(np.where(np.isnan(x), 1.0, x))
    stored.data[np.isnan(x[np.repeat(np.arange(40), np.diff(stored.indptr)), stored.indices])] = np.nan
    np.testing.assert_allclose(whole.predict_proba(stored), whole.predict_proba(x), rtol=0, atol=1e-12)
    with pytest.raises(sf.DataError, match="NaN"):
        clf.fit(stored, y)


def test_parts_may_be_sparse_or_dense() -> None:
    x, y = counts(60)
    parts = sf.NaiveBayes("bernoulli").partial_fit(csr_array(x[:20]), y[:20]).partial_fit(x[20:35], y[20:35])
    parts = parts.partial_fit(csr_array(x[35:]), y[35:])
    np.testing.assert_allclose(
        parts.predict_proba(x), sf.NaiveBayes("bernoulli").fit(x, y).predict_proba(x), rtol=0, atol=1e-12
    )


def test_without_smoothing_a_bit_rules_classes_out() -> None:
    x = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    clf = sf.NaiveBayes("bernoulli", smoothing=0.0).fit(csr_array(x), [0, 1, 0, 1])
    for form in (np.asarray, csr_array):
        assert clf.predict_proba(form([[1.0, 0.0, 5.0]])).tolist() == [[1.0, 0.0]]
        with pytest.raises(sf.ModelError, match=r"Row 2 of X is impossible"):
            clf.predict(form([[1.0, 0.0, 5.0], [1.0, 1.0, 0.0]]))


def test_rows_without_weight_stay_sparse() -> None:
    x, y = counts(60)
    weights = np.where(np.arange(60) < 30, 1, 0)
    mine = sf.NaiveBayes("bernoulli").fit(csr_array(x), y, sample_weight=weights)
    alone = sf.NaiveBayes("bernoulli").fit(x[:30], y[:30])
    np.testing.assert_allclose(mine.predict_proba(x), alone.predict_proba(x), rtol=0, atol=1e-12)


def test_two_numbers_above_the_threshold_are_remarked() -> None:
    x, y = np.array([[1], [2], [1], [2]]), [0, 1, 0, 1]
    assert "x0: all values are above binarize=0" in str(sf.NaiveBayes("bernoulli").fit(x, y).fit_)
    for clf in (sf.NaiveBayes("bernoulli", binarize=None), sf.NaiveBayes("bernoulli", binarize=1)):
        fitted = clf.fit(x, y)
        assert fitted.predict(x).tolist() == y
        assert "binarize" not in str(fitted.fit_)


def test_text_goes_through_a_pipeline() -> None:
    mails = ["win money money now", "win a prize now", "see you at lunch", "lunch at noon"]
    pipe = make_pipeline(CountVectorizer(), sf.NaiveBayes("bernoulli")).fit(mails, ["spam", "spam", "ham", "ham"])
    assert pipe.predict(["money prize", "noon lunch"]).tolist() == ["spam", "ham"]


def test_many_words_take_no_dense_matrix() -> None:
    n, p = 3000, 2000
    rng = np.random.default_rng(5)
    x = csr_array((np.ones(5 * n), (np.repeat(np.arange(n), 5), rng.integers(0, p, 5 * n))), shape=(n, p))
    clf = sf.NaiveBayes("bernoulli").fit(x, np.arange(n) % 2)
    assert clf.fit_.certificate.ok
    theirs = BernoulliNB().fit(x, np.arange(n) % 2)
    np.testing.assert_allclose(clf.predict_log_proba(x), theirs.predict_log_proba(x), rtol=0, atol=1e-10)
