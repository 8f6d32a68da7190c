"""Scores of rows under classes agree with a loop over rows, missing values, ties and layouts included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.models import class_scoring
from suffice.models.class_scoring import (
    ClassScores,
    DiagonalScores,
    LinearScores,
    TableScores,
    WhitenedScores,
    best_class,
)

KINDS = ("diagonal", "linear", "whitened", "triangular", "table")


def form_of(kind: str, p: int, n_classes: int, rng: np.random.Generator) -> ClassScores:
    start, mean = rng.normal(size=n_classes), rng.normal(size=(n_classes, p))
    if kind == "diagonal":
        return DiagonalScores(mean, rng.random((n_classes, p)), rng.normal(size=(n_classes, p)), start)
    if kind == "linear":
        return LinearScores(rng.normal(size=p), mean.T.copy(), start)
    if kind == "whitened":
        return WhitenedScores(rng.normal(size=p), rng.normal(size=(n_classes, p, p)), mean, start)
    if kind == "triangular":
        return WhitenedScores(rng.normal(size=p), np.tril(rng.normal(size=(n_classes, p, p))), mean, start)
    tables = rng.normal(size=(3 * p, n_classes))
    tables[0, 0] = -np.inf
    return TableScores(np.arange(p) * 3, tables, start)


def one_row(form: Any, x: np.ndarray, k: int) -> float:
    """Return the score of one row under one class, term by term."""
    total = float(form.start[k])
    if isinstance(form, WhitenedScores):
        z = form.factors[k] @ (x - form.centre) - form.shift[k]
        return total - 0.5 * float(z @ z)
    for j, value in enumerate(x.tolist()):
        if isinstance(form, LinearScores):
            total += form.weights[j, k] * (value - form.centre[j])
        elif isinstance(form, DiagonalScores) and not np.isnan(value):
            total += form.height[k, j] - 0.5 * form.precision[k, j] * (value - form.mean[k, j]) ** 2
        elif isinstance(form, TableScores) and value >= 0:
            total += form.tables[form.first[j] + int(value), k]
    return total


def rows_for(kind: str, n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "table":
        return rng.integers(-1, 3, (n, p)).astype(np.int8)
    x = rng.normal(size=(n, p))
    if kind == "diagonal":
        x[rng.random((n, p)) < 0.05] = np.nan
    return x


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("few", [0, 64])
@given(
    n=st.integers(0, 150), p=st.integers(1, 9), n_classes=st.integers(1, 9), seed=st.integers(0, 999), data=st.data()
)
def test_scores_and_winners_are_those_of_each_row_alone(kind, few, n, p, n_classes, seed, data) -> None:
    rng = np.random.default_rng(seed)
    form, x = form_of(kind, p, n_classes, rng), rows_for(kind, n, p, rng)
    x = data.draw(st.sampled_from([x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_scoring, "FEW_INPUTS", few)
        patch.setattr(class_scoring, "PIECE_ROWS", data.draw(st.sampled_from([1, 37, 4096])))
        scores, best = form.scores(x), form.best(x)
    expected = np.array([[one_row(form, row, k) for k in range(n_classes)] for row in x]).reshape(n, n_classes)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(best, scores.argmax(axis=1))
    assert best.dtype == np.int64


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    form, x = form_of(kind, 5, 4, rng), rows_for(kind, 5000, 5, rng)
    monkeypatch.setattr(class_scoring, "RANGE_ROWS", 1000)
    before, found = sf.config().threads, []
    try:
        for threads in (1, 3):
            sf.config(threads=threads)
            found.append((form.scores(x), form.best(x)))
    finally:
        sf.config(threads=before)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_of_equal_scores_the_first_wins() -> None:
    scores = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [-np.inf, -np.inf, -np.inf], [-np.inf, -1.0, -1.0]])
    many = np.tile(scores, (2000, 1))
    for given_rows in (scores, many, np.asfortranarray(many)):
        np.testing.assert_array_equal(best_class(given_rows), given_rows.argmax(axis=1))


@pytest.mark.parametrize("few", [0, 64])
def test_numbers_far_from_zero_keep_their_digits(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_scoring, "FEW_INPUTS", few)
    rng = np.random.default_rng(5)
    near = rng.normal(size=(200, 3)).round(6)
    forms = [form_of(kind, 3, 2, rng) for kind in KINDS[:3]]
    assert len(forms) == 3
    for form in forms:
        far = near + 2.0**30
        if isinstance(form, DiagonalScores):
            moved: ClassScores = DiagonalScores(form.mean + 2.0**30, form.precision, form.height, form.start)
        elif isinstance(form, LinearScores):
            moved = LinearScores(form.centre + 2.0**30, form.weights, form.start)
        else:
            assert isinstance(form, WhitenedScores)
            moved = WhitenedScores(form.centre + 2.0**30, form.factors, form.shift, form.start)
        np.testing.assert_allclose(moved.scores(far), form.scores(near), rtol=1e-5, atol=1e-5)
