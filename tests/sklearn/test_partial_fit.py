"""partial_fit adds statistics: over any split it gives what one fit gives."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.sklearn.shell_cases import COVARIANCES, blobs, people, states

import suffice as sf

SHELLS: dict[str, tuple[Any, Any]] = {
    **{f"gaussian {covariance}": (sf.GaussianBayes(covariance), blobs()) for covariance in COVARIANCES},
    "gaussian shrunk": (sf.GaussianBayes("full", shrinkage=0.2, divisor="n-1"), blobs()),
    "gaussian oas": (sf.GaussianBayes("tied", shrinkage="oas"), blobs()),
    "gaussian bayes": (sf.GaussianBayes("full", bayes=True), blobs()),
    "naive numbers": (sf.NaiveBayes(), blobs()),
    "naive states": (sf.NaiveBayes(), states()),
    "naive both": (sf.NaiveBayes(smoothing=0.5), people()),
    "joint": (sf.JointBayes(), states()),
}
CUTS = st.lists(st.integers(0, 60), max_size=4).map(lambda cuts: sorted({0, *cuts, 60}))


def pieces(table: Any, cuts: list[int]) -> list[Any]:
    rows = table.iloc if hasattr(table, "iloc") else table
    return [rows[low:high] for low, high in pairwise(cuts)]


@pytest.mark.parametrize("name", SHELLS)
@given(cuts=CUTS, weighted=st.booleans(), told=st.booleans(), order=st.randoms(use_true_random=False))
@settings(max_examples=8, deadline=None)
def test_parts_equal_the_whole(name: str, cuts: list[int], weighted: bool, told: bool, order: Any) -> None:
    shell, (x, y) = SHELLS[name]
    weights = np.random.default_rng(1).integers(1, 4, 60) if weighted else np.ones(60)
    whole, parts = clone(shell).fit(x, y, sample_weight=weights), clone(shell)
    cut = list(zip(pieces(x, cuts), pieces(y, cuts), pieces(weights, cuts), strict=True))
    order.shuffle(cut)
    for some_x, some_y, some_weights in cut:
        parts.partial_fit(some_x, some_y, classes=np.unique(y) if told else None, sample_weight=some_weights)
    assert parts.classes_.tolist() == whole.classes_.tolist()
    assert parts.fit_.certificate.ok
    assert whole.fit_.certificate.ok
    expected = pytest.approx(whole.fit_.log_likelihood, rel=1e-9, nan_ok=True)  # bayes=True has none
    assert parts.fit_.log_likelihood == expected
    np.testing.assert_allclose(parts.predict_log_proba(x), whole.predict_log_proba(x), rtol=1e-8, atol=1e-8)


def test_early_parts_need_not_determine_the_estimate() -> None:
    x, y = blobs()
    clf = sf.GaussianBayes().partial_fit(x[:2], y[:2], classes=[0, 1, 2])
    with pytest.raises(sf.EstimationError):
        clf.predict(x)
    clf.partial_fit(x[2:], y[2:])
    np.testing.assert_allclose(clf.predict_proba(x), sf.GaussianBayes().fit(x, y).predict_proba(x), atol=1e-10)


def test_classes_that_are_told_stay_even_when_no_row_has_them() -> None:
    x, y = states()
    clf = sf.NaiveBayes().partial_fit(x, y, classes=[0, 1, 7])
    assert clf.classes_.tolist() == [0, 1, 7]
    assert (clf.predict_proba(x)[:, 2] == 0).all()
    smoothed = sf.NaiveBayes(class_prior=1.0).partial_fit(x, y, classes=[0, 1, 7])
    assert (smoothed.predict_proba(x)[:, 2] > 0).all()


def test_classes_and_states_that_are_not_told_join_as_they_appear() -> None:
    clf = sf.NaiveBayes().partial_fit([["b"], ["b"]], ["v", "v"]).partial_fit([["a"], ["c"]], ["u", "w"])
    whole = sf.NaiveBayes().fit([["b"], ["b"], ["a"], ["c"]], ["v", "v", "u", "w"])
    assert clf.classes_.tolist() == ["u", "v", "w"]
    assert clf.model_.schema["x0"].states == ("a", "b", "c")
    rows = [["a"], ["b"], ["c"]]
    np.testing.assert_allclose(clf.predict_proba(rows), whole.predict_proba(rows), rtol=1e-12)


def test_a_fit_can_be_continued_and_a_new_fit_forgets() -> None:
    x, y = blobs()
    clf = sf.GaussianBayes("tied").fit(x[:30], y[:30]).partial_fit(x[30:], y[30:])
    whole = sf.GaussianBayes("tied").fit(x, y)
    np.testing.assert_allclose(clf.predict_proba(x), whole.predict_proba(x), atol=1e-10)
    assert clf.fit(x[:30], y[:30]).fit_.n == 30


def test_a_class_outside_those_told_is_refused() -> None:
    x, y = states()
    clf = sf.NaiveBayes().partial_fit(x, y, classes=[0, 1])
    with pytest.raises(sf.DataError, match=r"class 2, .* \[0, 1\] only"):
        clf.partial_fit(x, y + 1)


def test_what_needs_the_rows_once_more_needs_fit() -> None:
    clf = sf.GaussianBayes("tied", shrinkage="ledoit_wolf").partial_fit(*blobs())
    with pytest.raises(sf.ArgumentError, match=r"which are not kept: use fit. Or pass shrinkage='oas'"):
        clf.predict(blobs()[0])


def test_softmax_regression_has_no_statistics_to_add() -> None:
    assert not hasattr(sf.SoftmaxRegression(), "partial_fit")
