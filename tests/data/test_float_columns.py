"""Columns of measurements: taken as they stand, without a copy and without a list of their distinct values."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.data import encode, float_kinds
from suffice.data.raw import ArrowColumn
from suffice.data.table import open_table
from suffice.errors import SchemaError

WRAPS = {
    "pandas": lambda x: pd.DataFrame({"x": x}),
    "pandas Series": lambda x: {"x": pd.Series(x)},
    "NumPy": lambda x: {"x": x},
    "Polars": lambda x: pl.DataFrame({"x": x}),
    "PyArrow": lambda x: pa.table({"x": x}),
}
values = st.lists(st.sampled_from([1.0, 2.0, -0.0, 2.5, math.inf, math.nan]), min_size=1, max_size=9)


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))
def test_floats_are_not_copied(wrap) -> None:
    x = np.random.default_rng(1).normal(size=5000)
    held = wrap(x)
    first, again = (open_table(held, ("x",)).columns["x"] for _ in range(2))
    np.testing.assert_array_equal(first, x)
    assert np.shares_memory(first, again)


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))
def test_distinct_values_of_measurements_are_never_listed(wrap, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(column: ArrowColumn) -> None:
        raise AssertionError("a list of distinct measurements is of no use")

    monkeypatch.setattr(ArrowColumn, "_dictionary", property(refuse))
    x = np.random.default_rng(2).normal(size=3000)
    x[1500] = np.nan
    table = open_table(wrap(x), ("x",), missing="drop")
    assert not table.schema["x"].is_discrete
    np.testing.assert_array_equal(table.columns["x"], np.delete(x, 1500))


def test_distinct_values_of_whole_numbers_that_are_declared_continuous_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ArrowColumn, "_dictionary", property(lambda column: pytest.fail("values were listed")))
    table = open_table({"x": np.arange(3000)}, ("x",), continuous=("x",))
    np.testing.assert_array_equal(table.columns["x"], np.arange(3000.0))


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))
@pytest.mark.parametrize("sample", [1, 3, 1000])
@given(x=values)
def test_the_rule_does_not_depend_on_how_many_values_are_looked_at_first(wrap, sample: int, x: list[float]) -> None:
    present = [value for value in x if not math.isnan(value)]
    whole = all(math.isfinite(value) and value == int(value) for value in present)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encode, "SAMPLE_ROWS", sample)
        patch.setattr(float_kinds, "SAMPLE_ROWS", sample)
        if whole and 0 < len(present) < len(x):
            with pytest.raises(SchemaError, match="could be discrete or continuous"):
                open_table(wrap(np.array(x)), ("x",), missing="drop")
            return
        table = open_table(wrap(np.array(x)), ("x",), missing="drop")
    assert table.schema["x"].is_discrete == (not present)
    np.testing.assert_array_equal(table.columns["x"], np.array(present))


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))
def test_a_late_gap_makes_whole_numbers_ambiguous(wrap) -> None:
    x = np.arange(5000.0)
    assert not open_table(wrap(x), ("x",)).schema["x"].is_discrete
    x[4999] = np.nan
    with pytest.raises(SchemaError, match="could be discrete or continuous"):
        open_table(wrap(x), ("x",), missing="drop")


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_narrow_and_strided_floats_become_the_same_numbers(kind) -> None:
    wide = np.random.default_rng(3).normal(size=(50, 3)).astype(kind)
    frame = pd.DataFrame(wide, columns=list("xyz"))
    table = open_table(frame, ("y",))
    np.testing.assert_array_equal(table.columns["y"], wide[:, 1].astype(np.float64))
    assert table.columns["y"].dtype == np.float64
    sliced = open_table({"y": np.repeat(wide[:, 1].astype(np.float64), 2)[::2]}, ("y",))
    np.testing.assert_array_equal(sliced.columns["y"], wide[:, 1].astype(np.float64))
