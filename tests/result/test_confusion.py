"""Confusion: counts of answers against observed classes, and what follows from them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import suffice as sf
from suffice.data.variable import Variable
from suffice.result.confusion import NO_CLASS, Confusion, predicted_classes

Row = tuple[int, int, float]


def answers(k: int, rows: list[Row], seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return observed codes, log-posteriors whose largest is the predicted class, and weights."""
    observed = np.array([row[0] for row in rows], np.int64)
    p = np.random.default_rng(seed).dirichlet(np.ones(k), len(rows)).reshape(len(rows), k)
    for place, (_, predicted, _) in enumerate(rows):
        p[place, predicted] += 1
    p /= p.sum(axis=1, keepdims=True)
    for place, (_, predicted, _) in enumerate(rows):
        if predicted == NO_CLASS:
            p[place] = np.nan
    return observed, np.log(p), np.array([row[2] for row in rows])


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, list[Row], int]:
    k = draw(st.integers(1, 4))
    row = st.tuples(st.integers(-1, k - 1), st.integers(-1, k - 1), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
    return k, draw(st.lists(row, max_size=12)), draw(st.integers(0, 1000))


def target(k: int) -> Variable:
    return Variable("y", tuple("abcdefghijklmnop"[:k]))


@settings(deadline=None)
@given(cases(), st.integers(0, 12))
def test_counts_are_those_of_a_loop_and_parts_add_up(case: tuple[int, list[Row], int], cut: int) -> None:
    k, rows, seed = case
    observed, log_p, weights = answers(k, rows, seed)
    predicted = np.array([row[1] for row in rows], np.int64)
    whole = Confusion.of(target(k), observed, predicted, log_p, weights)

    pairs: Counter[tuple[int, int]] = Counter()
    loss = 0.0
    for place, (y, guess, w) in enumerate(rows):
        if y >= 0:
            pairs[y, guess] += w  # type: ignore[assignment]
            loss += -w * log_p[place, y] if guess >= 0 and w else 0.0
    for y in range(k):
        assert whole.unanswered[y] == pairs[y, NO_CLASS]
        for guess in range(k):
            assert whole.counts[y, guess] == pairs[y, guess]
    n = sum(pairs.values())
    wrong = sum(w for (y, guess), w in pairs.items() if y != guess)
    assert (whole.n, whole.n_wrong) == (n, wrong)
    assert math.isnan(whole.error_rate) if not n else whole.error_rate == wrong / n
    assert whole.loss == pytest.approx(loss, abs=1e-12)

    parts = [(observed[:cut], predicted[:cut], log_p[:cut], weights[:cut])]
    parts += [(observed[cut:], predicted[cut:], log_p[cut:], weights[cut:])]
    added = sum((Confusion.of(target(k), *part) for part in parts), Confusion.empty(target(k)))
    assert (added.counts == whole.counts).all()
    assert (added.unanswered == whole.unanswered).all()
    assert added.loss == pytest.approx(whole.loss)


def test_prediction_is_the_largest_score_and_none_where_all_are_impossible() -> None:
    scores = np.array([[-1.0, -2.0], [-np.inf, -5.0], [-np.inf, -np.inf], [-3.0, -3.0], [np.nan, np.nan]])
    assert predicted_classes(scores).tolist() == [0, 1, NO_CLASS, 0, NO_CLASS]
    assert predicted_classes(np.zeros((0, 3))).tolist() == []


def test_impossible_class_has_an_infinite_loss_unless_its_rows_have_no_weight() -> None:
    log_p = np.array([[0.0, -np.inf]])
    found = Confusion.of(target(2), np.array([1]), np.array([0]), log_p)
    assert found.log_loss == math.inf
    assert ("log-loss of a row", "inf") in found.facts()
    assert Confusion.of(target(2), np.array([1]), np.array([0]), log_p, np.zeros(1)).loss == 0
    nothing = np.full((1, 2), np.nan)  # impossible but under a class that has no probability
    assert Confusion.of(target(2), np.array([1]), np.array([1]), nothing).log_loss == math.inf


def test_without_rows_rates_are_not_numbers_and_it_prints() -> None:
    found = Confusion.empty(target(2))
    assert math.isnan(found.error_rate)
    assert math.isnan(found.log_loss)
    assert "error rate         -" in str(found)


def test_rows_without_answer_have_a_column_of_their_own() -> None:
    log_p = np.log(np.array([[0.5, 0.5], [np.nan, np.nan]]))
    found = Confusion.of(target(2), np.array([0, 1]), np.array([0, NO_CLASS]), log_p)
    header, rows, _ = found.cells()
    assert header == ["observed", "a", "b", "none", "rows", "errors", "error rate"]
    assert rows == [["a", "1", "0", "0", "1", "0", "0.0000"], ["b", "0", "0", "1", "1", "1", "1.0000"]]
    assert ("  of them impossible under every class", "1") in found.facts()
    assert found.n_wrong == 1


def test_wide_tables_become_lists_of_the_pairs_that_are_confused_most() -> None:
    k = 40
    y = Variable("y", tuple(range(k)))
    counts = np.diag(np.full(k, 5.0))
    counts[3, 7], counts[9, 1] = 4, 6
    found = Confusion(y, counts, np.zeros(k))
    assert found.cells()[1] == [["9", "1", "6", "11"], ["3", "7", "4", "9"]]
    counts[np.arange(k), (np.arange(k) + 1) % k] += 1
    listed = Confusion(y, counts, np.zeros(k)).cells()[1]
    assert listed[-1][0] == "… 22 more pairs"
    assert max(map(len, str(found).splitlines())) <= 100


def test_html_escapes_the_names_of_classes() -> None:
    y = Variable("y", ("<b>", "c"))
    assert "&lt;b&gt;" in Confusion.empty(y)._repr_html_()


def test_answers_about_different_classes_are_not_added() -> None:
    with pytest.raises(sf.ArgumentError, match="not the same classes"):
        Confusion.empty(target(2)) + Confusion.empty(target(3))
    with pytest.raises(TypeError):
        Confusion.empty(target(2)) + 1  # type: ignore[operator]


def test_dictionary_holds_all_numbers() -> None:
    log_p = np.log(np.array([[0.75, 0.25], [0.75, 0.25]]))
    found = Confusion.of(target(2), np.array([0, 1]), np.array([0, 0]), log_p, np.array([2, 1])).to_dict()
    assert found == {
        "n": 3.0,
        "n_wrong": 1.0,
        "error_rate": 1 / 3,
        "log_loss": pytest.approx(-(2 * math.log(0.75) + math.log(0.25)) / 3),
        "classes": ["a", "b"],
        "confusion": [[2.0, 0.0], [1.0, 0.0]],
        "unanswered": [0.0, 0.0],
    }
