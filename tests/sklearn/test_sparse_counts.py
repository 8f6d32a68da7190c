"""Counts in a sparse matrix, such as those of words, are learnt and classified as if they were written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import suffice as sf

FORMS = (csr_array, csr_matrix, csc_matrix, coo_array)


def words(n: int = 40, p: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.poisson(0.7, (n, p)).astype(float), np.arange(n) % 3


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(n=st.integers(6, 60), p=st.integers(1, 8), seed=st.integers(0, 999), data=st.data())
def test_a_sparse_matrix_is_the_dense_one(form: Any, n: int, p: int, seed: int, data: Any) -> None:
    x, y = words(n, p, seed)
    rng = np.random.default_rng(seed)
    weights = data.draw(st.sampled_from([None, rng.integers(1, 3, n), rng.integers(0, 2, n) * (y > 0) + (y == 0)]))
    dense = sf.NaiveBayes("multinomial").fit(x, y, sample_weight=weights)
    sparse = sf.NaiveBayes("multinomial").fit(form(x), y, sample_weight=weights)
    assert sparse.fit_.certificate.ok
    assert sparse.fit_.log_likelihood == pytest.approx(dense.fit_.log_likelihood, rel=1e-12)
    for mine in (sparse.predict_proba(form(x)), sparse.predict_proba(x), dense.predict_proba(form(x))):
        np.testing.assert_allclose(mine, dense.predict_proba(x), rtol=1e-10)


def test_answers_are_those_of_scikit_learn() -> None:
    x, y = words(200, 30)
    mine = sf.NaiveBayes("multinomial").fit(csr_array(x), y)
    np.testing.assert_allclose(
        mine.predict_log_proba(csr_array(x)), MultinomialNB().fit(x, y).predict_log_proba(x), rtol=1e-9, atol=1e-9
    )


def test_parts_may_be_sparse_or_dense() -> None:
    x, y = words(60)
    parts = sf.NaiveBayes("multinomial").partial_fit(csr_array(x[:20]), y[:20]).partial_fit(x[20:35], y[20:35])
    parts = parts.partial_fit(csr_array(x[35:]), y[35:])
    whole = sf.NaiveBayes("multinomial").fit(x, y)
    np.testing.assert_allclose(parts.predict_proba(x), whole.predict_proba(x), rtol=1e-10)


def test_without_smoothing_a_word_rules_classes_out() -> None:
    x = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    clf = sf.NaiveBayes("multinomial", smoothing=0.0).fit(csr_array(x), [0, 1, 0, 1])
    assert clf.predict_proba(csr_array([[1.0, 0.0, 5.0]])).tolist() == [[1.0, 0.0]]
    with pytest.raises(sf.ModelError, match=r"Row 2 of X is impossible .*smoothing=1.0"):
        clf.predict(csr_array([[1.0, 0.0, 5.0], [1.0, 1.0, 0.0]]))


def test_stored_missing_values_are_refused_as_those_of_the_dense_matrix() -> None:
    x, y = words()
    clf = sf.NaiveBayes("multinomial").fit(csr_array(x), y)
    x[3, 2] = x[5, 0] = np.nan
    for form in (csr_array, np.asarray):
        with pytest.raises(sf.DataError, match="Column 'x2', row 4: the count is missing"):
            clf.predict_proba(form(x))


def test_text_goes_through_a_pipeline() -> None:
    mails = ["win money now", "win a prize now", "see you at lunch", "lunch at noon"]
    pipe = make_pipeline(CountVectorizer(), sf.NaiveBayes("multinomial")).fit(mails, ["spam", "spam", "ham", "ham"])
    assert pipe.predict(["money prize", "noon lunch"]).tolist() == ["spam", "ham"]


def test_many_words_take_no_dense_matrix() -> None:
    n, p = 3000, 5000
    rng = np.random.default_rng(5)
    x = csr_array((np.ones(5 * n), (np.repeat(np.arange(n), 5), rng.integers(0, p, 5 * n))), shape=(n, p))
    clf = sf.NaiveBayes("multinomial").fit(x, np.arange(n) % 2)
    assert clf.statistics_.n_bytes < n * p
    assert clf.fit_.certificate.ok


@pytest.mark.parametrize("form", FORMS)
def test_other_kinds_say_that_they_need_a_dense_array(form: Any) -> None:
    x, y = words()
    for clf in (sf.NaiveBayes(), sf.NaiveBayes("gaussian"), sf.NaiveBayes({"x0": "multinomial"})):
        with pytest.raises(sf.DataError, match=r"kinds='multinomial' or kinds='bernoulli'.*X.toarray\(\)"):
            clf.fit(form(x), y)
    with pytest.raises(sf.DataError, match="counts or bits only"):
        sf.NaiveBayes("gaussian").fit(x, y).predict(form(x))


def test_negative_counts_are_named() -> None:
    x, y = words()
    clf = sf.NaiveBayes("multinomial").fit(csr_array(x), y)
    x[7, 4] = -2
    for act in (lambda: clf.predict(csr_array(x)), lambda: clf.fit(csr_array(x), y)):
        with pytest.raises(sf.DataError, match="Column 'x4', row 8: the count is -2"):
            act()
