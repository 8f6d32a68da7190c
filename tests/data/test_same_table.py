"""The same table in every shape gives the same bits."""

from __future__ import annotations

import csv
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive

import suffice as sf

DAG = sf.DAG("a -> b <- c")
STATES = {"a": ["no", "yes"], "b": ["high", "low", "mid"], "c": ["u", "v", "ü"]}

tables = st.lists(st.tuples(*(st.sampled_from(states) for states in STATES.values())), min_size=1, max_size=25)


def columns_of(rows):
    return {name: [row[j] for row in rows] for j, name in enumerate(STATES)}


def same_bits(first, second):
    """Assert that two statistics have the same needs, states, dtypes and numbers."""
    assert first.schema.variables == second.schema.variables
    assert set(first) == set(second)
    for need in first:
        assert first[need].values.dtype == second[need].values.dtype
        assert np.array_equal(first[need].table(), second[need].table())
    assert first.weight == second.weight


def shapes_of(columns, folder):
    """Yield the table in every shape that holds plain rows."""
    yield "pandas", pd.DataFrame(columns)
    yield "pandas object", pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    yield "Polars", pl.DataFrame(columns)
    yield "PyArrow", pa.table(columns)
    yield "record batch", pa.record_batch(columns)
    yield "NumPy", {name: np.array(values) for name, values in columns.items()}
    yield "column order", dict(reversed(columns.items()))
    yield "chunks", pa.concat_tables([pa.table(columns).slice(0, 1), pa.table(columns).slice(1)])
    path = folder / "same.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    yield "CSV", path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("same")


@settings(max_examples=40)
@given(tables)
def test_every_kind_of_table_gives_the_same_bits(folder, rows):
    columns = columns_of(rows)
    reference = sf.collect(DAG, columns)
    shapes = dict(shapes_of(columns, folder))
    assert len(shapes) == 9
    for kind, table in shapes.items():
        try:
            same_bits(sf.collect(DAG, table), reference)
        except AssertionError as error:
            raise AssertionError(kind) from error


@settings(max_examples=40)
@given(tables)
def test_declared_levels_weights_and_contingency_arrays_give_the_same_bits(rows):
    columns = columns_of(rows)
    reference = sf.collect(DAG, columns, schema=STATES)
    tallies = naive.distinct(columns, list(STATES))
    weighted = columns_of(list(tallies)) | {"w": list(tallies.values())}
    array = np.zeros([len(states) for states in STATES.values()], int)
    for row, tally in tallies.items():
        array[tuple(STATES[name].index(value) for name, value in zip(STATES, row, strict=True))] = tally
    frame = pd.DataFrame({name: pd.Categorical(values, categories=STATES[name]) for name, values in columns.items()})
    enums = pl.DataFrame({n: pl.Series(values, dtype=pl.Enum(STATES[n])) for n, values in columns.items()})
    same_bits(sf.collect(DAG, frame), reference)
    same_bits(sf.collect(DAG, enums), reference)
    same_bits(sf.collect(DAG, enums.to_arrow()), reference)
    same_bits(sf.collect(DAG, sf.Contingency(array, STATES)), reference)
    same_bits(sf.collect(DAG, sf.Contingency(array.astype(float), STATES)), reference)
    same_bits(sf.collect(DAG, weighted, weights="w", schema=STATES), reference)
    same_bits(sf.collect(DAG, pd.DataFrame(weighted), weights="w", schema=STATES), reference)
    without = {name: weighted[name] for name in STATES}
    same_bits(sf.collect(DAG, without, weights=weighted["w"], schema=STATES), reference)
    same_bits(sf.collect(DAG, without, weights=np.array(weighted["w"], float), schema=STATES), reference)


@settings(max_examples=40)
@given(tables, st.randoms(use_true_random=False))
def test_counts_do_not_depend_on_row_order(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    same_bits(sf.collect(DAG, columns_of(shuffled)), sf.collect(DAG, columns_of(rows)))


@settings(max_examples=40)
@given(tables, st.data())
def test_chunks_added_in_any_order_and_grouping_give_the_bits_of_the_whole(rows, data):
    n_parts = data.draw(st.integers(1, 4))
    home = data.draw(st.lists(st.integers(0, n_parts - 1), min_size=len(rows), max_size=len(rows)))
    parts = [[row for row, part in zip(rows, home, strict=True) if part == index] for index in range(n_parts)]
    collected = [sf.collect(DAG, columns_of(part)) for part in data.draw(st.permutations(parts))]
    left = collected[0]
    for part in collected[1:]:
        left = left + part
    right = collected[-1]
    for part in collected[-2::-1]:
        right = part + right
    whole = sf.collect(DAG, columns_of(rows))
    same_bits(left, whole)
    same_bits(right, whole)


@settings(max_examples=30)
@given(tables)
def test_counts_are_those_of_a_plain_loop(rows):
    columns = columns_of(rows)
    statistics = sf.collect(DAG, columns)
    assert len(statistics) == len(DAG.nodes)
    for need, counts in statistics.items():
        expected = naive.counts(columns, need.scope)
        for codes in itertools.product(*(range(v.n_states) for v in counts.variables)):
            labels = tuple(v.states[code] for v, code in zip(counts.variables, codes, strict=True))
            assert counts.values[codes] == expected.get(labels, 0)


def test_declared_categories_that_do_not_occur_are_kept_in_order():
    frame = pd.DataFrame({"x": pd.Categorical(["b", "b"], categories=["z", "b", "a"])})
    for table in (frame, pl.DataFrame({"x": pl.Series(["b", "b"], dtype=pl.Enum(["z", "b", "a"]))})):
        counts = sf.collect(sf.DAG("x"), table)[sf.Count(("x",))]
        assert counts.variables[0].states == ("z", "b", "a")
        assert counts.values.tolist() == [0, 2, 0]


@pytest.mark.parametrize(
    ("column", "schema"),
    [([True, False, True], None), ([3, 1, 3], None), ([3.0, None, 1.0], {"x": sf.categorical()})],
    ids=["bools", "integers", "whole numbers with gaps"],
)
def test_typed_columns_give_the_same_bits_in_every_frame(column, schema):
    reference = sf.collect(sf.DAG("x"), {"x": column}, missing="drop", schema=schema)
    for table in (pd.DataFrame({"x": column}), pl.DataFrame({"x": column}), pa.table({"x": column})):
        same_bits(sf.collect(sf.DAG("x"), table, missing="drop", schema=schema), reference)


def test_file_of_bools_adds_to_a_frame_of_bools(tmp_path):
    (tmp_path / "part.csv").write_text("x\nTRUE\nFALSE\nTRUE\n")
    from_file = sf.collect(sf.DAG("x"), tmp_path / "part.csv")
    from_frame = sf.collect(sf.DAG("x"), {"x": [True, False]})
    for total in (from_file + from_frame, from_frame + from_file):
        assert total.schema["x"].states == (False, True)
        assert total[sf.Count(("x",))].values.tolist() == [2, 3]
