"""Planes through the inputs of a classifier: the grid, what is held, tables of the same kind, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

import suffice as sf
from suffice.report.class_axis import Axis
from suffice.report.class_inputs import inputs_of
from suffice.report.class_plane import ClassPlane, class_plane, held, typical

ROWS = {
    "height": [1.0, 2.0, 3.0, 6.0],
    "age": [3, 1, 9, 9],
    "kind": ["a", "b", "b", "c"],
    "width": [0.5, 1.5, 2.5, 3.5],
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


class Seen:
    """A classifier that keeps what it was asked."""

    classes_ = ("no", "yes")

    def predict_proba(self, table: Any) -> np.ndarray[Any, Any]:
        self.table = table
        return np.full((len(table), 2), 0.5)


@pytest.mark.parametrize("kind", FRAMES)
def test_the_classifier_is_asked_with_a_frame_of_the_same_kind(kind: str) -> None:
    frame, seen = FRAMES[kind](ROWS), Seen()
    plane = class_plane(seen, inputs_of(frame, seen), ("width", "height"), grid=5)
    assert type(seen.table) is type(frame)
    asked = pa.table({name: np.asarray(seen.table[name]) for name in ROWS}).to_pydict()
    assert set(asked["age"]) == {3}  # the lower median, which is observed
    assert set(asked["kind"]) == {"b"}
    assert asked["width"] == np.tile(plane.across.ticks, 5).tolist()
    assert asked["height"] == np.repeat(plane.up.ticks, 5).tolist()
    assert (plane.across.name, plane.up.name) == ("width", "height")


@pytest.mark.parametrize("kind", FRAMES)
def test_marginal_leaves_the_other_columns_missing(kind: str) -> None:
    seen = Seen()
    class_plane(seen, inputs_of(FRAMES[kind](ROWS), seen), ("width", "height"), "marginal", grid=3)
    for name in ("age", "kind"):
        assert pd.isna(np.asarray(seen.table[name], object)).all()
    assert not pd.isna(np.asarray(seen.table["width"])).any()


def test_values_are_held_where_they_are_told_to_be() -> None:
    seen = Seen()
    told = {"kind": "c", "age": 4.5}
    class_plane(seen, inputs_of(pd.DataFrame(ROWS), seen), ("width", "height"), told, grid=3)
    assert set(seen.table["kind"]) == {"c"}
    assert set(seen.table["age"]) == {4.5}


def test_categories_of_a_frame_are_kept() -> None:
    frame, seen = pd.DataFrame(ROWS).astype({"kind": "category"}), Seen()
    class_plane(seen, inputs_of(frame, seen), ("width", "height"), grid=3)
    assert seen.table["kind"].dtype == frame["kind"].dtype


def test_gaps_of_a_frame_are_missing_however_pandas_writes_them() -> None:
    frame, seen = pd.DataFrame(ROWS), Seen()
    frame["told"] = pd.array([True, None, None, True], "boolean")
    frame["grade"] = pd.array([None, 1, 2, None], "Int64")
    frame["group"] = pd.Categorical([None, "u", "v", "v"])
    inputs = inputs_of(frame, seen)
    assert held(inputs, (0, 3), None) == {1: 3, 2: "b", 4: True, 5: 1.5, 6: "v"}
    class_plane(seen, inputs, (0, 3), grid=3)
    assert seen.table["told"].dtype == "boolean"
    assert seen.table["group"].tolist() == ["v"] * 9
    class_plane(seen, inputs, (0, 3), "marginal", grid=3)
    assert seen.table[["told", "grade", "group"]].isna().all().all()


def test_arrays_are_asked_as_arrays_of_floats() -> None:
    rows, seen = np.arange(12.0).reshape(4, 3), Seen()
    plane = class_plane(seen, inputs_of(rows.tolist(), seen), (2, 0), grid=4)
    assert seen.table.dtype == np.float64
    assert set(seen.table[:, 1]) == {rows[:, 1].mean()}
    np.testing.assert_array_equal(seen.table[:, 2], np.tile(plane.across.ticks, 4))
    assert (plane.across.name, plane.up.name) == ("x2", "x0")
    class_plane(seen, inputs_of(rows, seen), (-1, 0), "marginal", grid=4)
    assert np.isnan(seen.table[:, 1]).all()


def test_names_are_those_that_the_classifier_was_fitted_with() -> None:
    frame = pd.DataFrame({"a": [0.0, 1, 2, 5], "b": [1.0, 0, 3, 1], "c": [2.0, 2, 0, 1]})
    fitted = LinearDiscriminantAnalysis(solver="lsqr").fit(frame, [0, 0, 1, 1])
    assert inputs_of(frame, fitted).names == ("a", "b", "c")
    assert inputs_of(frame.to_numpy(), fitted).names == ("a", "b", "c")
    assert inputs_of(frame.to_numpy()[:, :2], fitted).names == ("x0", "x1")


def test_the_grid_covers_the_points_and_ignores_gaps() -> None:
    rows, seen = np.array([[0.0, 5.0], [10.0, 5.0], [np.nan, np.nan]]), Seen()
    plane = class_plane(seen, inputs_of(rows, seen), (0, 1), grid=7)
    assert plane.across.limits[0] < 0
    assert plane.across.limits[1] > 10
    assert plane.up.limits[0] < 5 < plane.up.limits[1]  # a constant column has an axis, too
    assert plane.log_p.shape == (7, 7, 2)


# States -------------------------------------------------------------------------------------------------------

COUNTED = {"size": [3, 1, 1, 7, 3, 1], "kind": ["b", "a", "c", "a", "b", "b"], "up": [True, False] * 3}
CLASSES = ["no", "yes", "no", "yes", "yes", "no"]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("features", [("size", "kind"), ("kind", "up"), ("up", "size")])
def test_every_pair_of_states_has_the_probabilities_of_its_row(kind: str, features: tuple[str, str]) -> None:
    frame = FRAMES[kind](COUNTED)
    fitted = sf.NaiveBayes().fit(frame, CLASSES)
    plane = class_plane(fitted, inputs_of(frame, fitted), features, "marginal")
    assert [sorted(set(COUNTED[name])) for name in features] == [list(plane.across.states), list(plane.up.states)]
    assert plane.log_p.shape == (len(plane.up.states), len(plane.across.states), 2)
    for i, high in enumerate(plane.up.states):
        for j, wide in enumerate(plane.across.states):
            wanted = fitted.model_.query("class", dict(zip(features, (wide, high), strict=True))).to_numpy()
            np.testing.assert_allclose(np.exp(plane.log_p[i, j]), wanted, rtol=1e-12)


def test_states_beside_numbers_and_in_arrays() -> None:
    rows = np.array([[0.5, "b"], [1.5, "a"], [2.5, None], [0.0, "b"]], object)
    seen = Seen()
    plane = class_plane(seen, inputs_of(rows, seen), (0, 1), grid=4)
    assert plane.across.states == ()
    assert plane.up.states == ("a", "b")
    assert seen.table.tolist() == [[x, state] for state in "ab" for x in plane.across.ticks.tolist()]
    assert np.round(plane.points[:, 1]).tolist()[:2] == [1.0, 0.0]
    assert np.isnan(plane.points[2, 1])
    assert plane.up.limits == (-0.5, 1.5)


def test_states_are_in_the_order_of_the_classifier() -> None:
    kind = pd.Categorical(["low", "mid", "high", "mid"], ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 5.0], "kind": kind})
    fitted = sf.NaiveBayes().fit(frame, ["no", "yes", "yes", "no"])
    assert class_plane(fitted, inputs_of(frame, fitted), None, grid=3).up.states == ("low", "mid", "high")


def test_axes_are_the_first_columns_of_numbers_unless_told() -> None:
    frame, seen = pd.DataFrame(ROWS)[["kind", "height", "age", "width"]], Seen()
    assert class_plane(seen, inputs_of(frame, seen), None, grid=3).axes == (1, 2)
    assert class_plane(seen, inputs_of(frame[["kind", "width"]], seen), None, grid=3).axes == (0, 1)


@given(st.lists(st.one_of(st.none(), st.sampled_from("abc")), max_size=12))
def test_the_typical_text_is_the_most_frequent(values: list[str | None]) -> None:
    found = typical(np.array(values, object))
    known = [value for value in values if value is not None]
    assert (found is None) == (not known)
    if known:
        assert known.count(found) == max(map(known.count, known))


def test_a_column_without_values_is_held_missing() -> None:
    assert np.isnan(typical(np.full(3, np.nan)))
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0], "c": [None, None]})
    assert held(inputs_of(frame, Seen()), (0, 1), None) == {2: None}


# Probabilities ------------------------------------------------------------------------------------------------


def plane_of(p: Any) -> ClassPlane:
    log_p = np.log(np.asarray(p, float))
    across, up = (Axis(place, name, np.arange(2.0), np.zeros(1)) for place, name in enumerate("ab"))
    return ClassPlane(across, up, log_p.reshape(2, 2, -1))


@given(st.lists(st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3), min_size=4, max_size=4))
def test_leads_and_odds_are_those_of_the_probabilities(weights: list[list[float]]) -> None:
    p = np.array(weights) / np.sum(weights, axis=1, keepdims=True)
    plane = plane_of(p)
    np.testing.assert_array_equal(plane.winners.ravel(), p.argmax(axis=1))
    for row, one in enumerate(p):
        place = divmod(row, 2)
        for k in range(3):
            others = max(one[j] for j in range(3) if j != k)
            assert plane.lead(k)[place] == pytest.approx(np.log(one[k] / others), abs=1e-12)
        assert plane.log_odds()[place] == pytest.approx(np.log(one.max() / (1 - one.max())), abs=1e-9)


def test_places_that_are_impossible_under_every_class_have_no_winner() -> None:
    plane = plane_of([[0.2, 0.8], [np.nan, np.nan], [0.6, 0.4], [0.5, 0.5]])
    assert plane.winners.ravel().tolist() == [1, -1, 0, 0]


def test_probabilities_over_the_grid_are_those_of_the_classifier() -> None:
    noise = np.random.default_rng(0)
    rows, y = noise.normal(size=(60, 2)), np.arange(60) % 3
    rows += y[:, None]
    fitted = QuadraticDiscriminantAnalysis().fit(rows, y)
    plane = class_plane(fitted, inputs_of(rows, fitted), (0, 1), grid=6)
    for i, j in ((0, 0), (2, 5), (5, 1)):
        expected = fitted.predict_proba([[plane.across.ticks[j], plane.up.ticks[i]]])[0]
        np.testing.assert_allclose(np.exp(plane.log_p[i, j]), expected, rtol=1e-9)
