"""Labelled tables: numbers by label, as frames, and on paper."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.data.frame import to_native
from suffice.data.labelled import LabelledTable
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, UnknownNameError

shapes = st.lists(st.integers(1, 3), min_size=1, max_size=3)


def table_of(shape):
    variables = tuple(Variable(f"v{j}", tuple(f"s{i}" for i in range(n))) for j, n in enumerate(shape))
    return LabelledTable(variables, np.arange(np.prod(shape), dtype=float).reshape(shape), "count")


@settings(max_examples=40)
@given(shapes)
def test_full_and_partial_labels_pick_the_same_numbers(shape):
    table = table_of(shape)
    assert table.values.shape == tuple(shape)
    for codes in itertools.product(*map(range, shape)):
        where = {f"v{j}": f"s{i}" for j, i in enumerate(codes)}
        assert table[where] == table.values[codes]
        one_by_one = table
        for name, label in where.items():
            one_by_one = one_by_one[{name: label}]
        assert one_by_one == table.values[codes]


@settings(max_examples=20)
@given(shapes, st.sampled_from(["pandas", "polars", "pyarrow"]))
def test_frame_has_one_row_a_configuration(shape, backend):
    table = table_of(shape)
    frame = table.to_frame(backend)
    kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
    assert isinstance(frame, kinds[backend])
    rows = frame.to_pylist() if backend == "pyarrow" else pl.DataFrame(frame).to_dicts()
    assert len(rows) == table.values.size
    for row in rows:
        assert table[{name: row[name] for name in table.names}] == row["count"]


def test_numbers_may_be_named_like_a_variable():
    frame = LabelledTable((Variable("p", ("a", "b")),), np.array([0.25, 0.75])).to_frame("pandas")
    assert frame["p"].tolist() == ["a", "b"]
    assert frame["p_"].tolist() == [0.25, 0.75]


def test_unknown_variable_and_state_are_answered_with_those_that_exist():
    table = table_of([2, 2])
    with pytest.raises(UnknownNameError, match=r"no variable 'v9'.*\['v0', 'v1'\]"):
        table[{"v9": "s0"}]
    with pytest.raises(UnknownNameError, match="'v0' has no state 'zz'"):
        table[{"v0": "zz"}]


def test_values_are_a_read_only_copy():
    values = np.array([0.5, 0.5])
    table = LabelledTable((Variable("x", ("a", "b")),), values)
    values[0] = 9
    assert table.values.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 1
    copy = table.to_numpy()
    copy[0] = 7
    assert table.values.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("shape", "hidden"), [([100], 40), ([100, 2], 40), ([5, 50], 190), ([30, 10], 240)])
def test_long_tables_say_how_many_rows_are_hidden(shape, hidden):
    lines = str(table_of(shape)).splitlines()
    assert lines[-1].startswith(f"… {hidden} more rows")
    assert len(lines) == 2 + 60 + 1 + (shape[1:] == [2])  # the last variable's name, where its states go across


def test_unknown_backend_lists_the_backends():
    with pytest.raises(ArgumentError, match=r"'backend' argument must be one of .*'pandas'"):
        to_native({"x": [1]}, "excel")


@settings(max_examples=40)
@given(shapes, st.integers(0, 10**6))
def test_the_largest_number_is_found_by_its_labels(shape, seed):
    table = table_of(shape)
    table = LabelledTable(table.variables, np.random.default_rng(seed).permutation(table.values.size).reshape(shape))
    found = table.argmax()
    assert tuple(found) == table.names
    assert table[found] == table.values.max()


def test_of_equal_numbers_the_first_is_taken():
    states = (Variable("A", ("x", "y")), Variable("B", (0, 1)))
    assert LabelledTable(states, np.array([[0.2, 0.3], [0.3, 0.2]])).argmax() == {"A": "x", "B": 1}
