"""Weights are frequencies: a weight of three is a row three times, a weight of zero no row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sklearn.shell_cases import COVARIANCES, blobs, people, states

import suffice as sf

NUMBERS = [*(sf.GaussianBayes(covariance) for covariance in COVARIANCES), sf.NaiveBayes(), sf.SoftmaxRegression("l2")]
WEIGHTS = st.lists(st.integers(0, 3), min_size=60, max_size=60)


def same_with_repeated_rows(shell: Any, x: Any, y: Any, weights: list[int]) -> None:
    times = np.array(weights)
    times[:24] += 1  # enough rows of every class
    rows = np.repeat(np.arange(len(times)), times)
    weighted = shell.fit(x, y, sample_weight=times).predict_log_proba(x[:24])
    repeated = shell.fit(_taken(x, rows), _taken(y, rows)).predict_log_proba(x[:24])
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-7)


def _taken(table: Any, rows: np.ndarray) -> Any:
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


@pytest.mark.parametrize("shell", NUMBERS, ids=str)
@given(WEIGHTS)
@settings(max_examples=8, deadline=None)
def test_weights_of_rows_of_numbers_are_repetitions(shell: Any, weights: list[int]) -> None:
    same_with_repeated_rows(shell, *blobs(), weights)


@pytest.mark.parametrize("shell", [sf.NaiveBayes(), sf.JointBayes(), sf.JointBayes(0.0)], ids=str)
@given(WEIGHTS)
@settings(max_examples=8, deadline=None)
def test_weights_of_rows_of_states_are_repetitions(shell: Any, weights: list[int]) -> None:
    same_with_repeated_rows(shell, *states(), weights)


@pytest.mark.parametrize("shell", [sf.NaiveBayes(), sf.SoftmaxRegression("l2")], ids=str)
@given(WEIGHTS)
@settings(max_examples=8, deadline=None)
def test_weights_of_rows_of_both_are_repetitions(shell: Any, weights: list[int]) -> None:
    same_with_repeated_rows(shell, *people(), weights)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [1, 2, 3], [0.5, 1.5, 2.5]])
def test_rows_of_weight_zero_bring_neither_classes_nor_states(labels: Any) -> None:
    x, y = np.array(labels)[:, None], ["u", "v", "w"]
    clf = sf.NaiveBayes("categorical").fit(x, y, sample_weight=[1, 2, 0])
    assert clf.classes_.tolist() == ["u", "v"]
    assert list(clf.model_.schema["x0"].states) == labels[:2]
    assert clf.fit_.n == 3


def test_weights_are_not_changed_and_one_number_is_for_all_rows() -> None:
    x, y = states()
    weights = np.full(60, 2.0)
    clf = sf.NaiveBayes().fit(x, y, sample_weight=weights)
    assert (weights == 2.0).all()
    np.testing.assert_array_equal(clf.predict_proba(x), sf.NaiveBayes().fit(x, y, sample_weight=2).predict_proba(x))
