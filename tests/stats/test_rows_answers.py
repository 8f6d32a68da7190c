"""Distinct rows: what they answer, how they are looked at and kept, and what they refuse."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stats.rows_twin import NEED, SCOPE, A, B, X, collect, gather, listed, same, source_of, tables

import suffice as sf
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.settings import settings as library_settings
from suffice.stats.needs import Count, Distinct
from suffice.stats.rows import Rows
from suffice.stats.source import BlockSource
from suffice.stats.statistics import Statistics


@pytest.fixture
def memory_restored() -> Iterator[None]:
    before = library_settings().memory
    yield
    sf.config(memory=before)


# Answering other needs ----------------------------------------------------------------------------------------

SCOPES = [scope for size in range(4) for scope in itertools.permutations(SCOPE, size)]


@given(tables, st.sampled_from(SCOPES), st.booleans())
def test_narrower_rows_are_answered_by_wider_ones(table, scope, weighted):
    weights = [k % 3 for k in range(len(table))] if weighted else None
    statistics = source_of(table, weights).gather([NEED])
    direct = source_of(table, weights).gather([Distinct(scope)])[Distinct(scope)]
    assert same(statistics[Distinct(scope)], direct)
    assert (Distinct(scope) in statistics) == (scope == SCOPE)


@given(tables, st.sampled_from([(), ("a",), ("b",), ("a", "b"), ("b", "a")]), st.booleans())
def test_counts_are_answered_by_rows(table, scope, weighted):
    weights = [k % 5 / 4 for k in range(len(table))] if weighted else None
    source = source_of(table, weights)
    direct = source.gather([Count(scope)])[Count(scope)]
    found = source.gather([NEED])[Count(scope)]
    assert found.variables == direct.variables
    assert found.values.dtype == direct.values.dtype
    assert found.values.tobytes() == direct.values.tobytes()


def test_sparse_counts_are_answered_by_rows():
    data = {name: np.random.default_rng(j).integers(0, 400, 500).astype(str) for j, name in enumerate("pqr")}
    source = BlockSource(open_table(data, tuple("pqr")))
    found, direct = (
        source.gather([need])[Count(("r", "p", "q"))] for need in (Distinct(tuple("pqr")), Count(("r", "p", "q")))
    )
    assert found.cells is not None
    assert np.array_equal(found.cells, direct.cells)
    assert np.array_equal(found.values, direct.values)


def test_a_count_that_is_there_is_preferred_to_rows_of_as_many_columns(monkeypatch):
    statistics = source_of([("u", 0.5, 1)]).gather([Distinct(("a", "b")), Count(("b", "a"))])
    monkeypatch.setattr(Rows, "counts", lambda self, scope: pytest.fail("counted again"))
    assert statistics[Count(("a",))].table().tolist() == [1]


def test_rows_do_not_answer_what_they_lack():
    statistics = source_of([("u", 0.5, 1)]).gather([Distinct(("a", "x")), Count(("a", "b"))])
    for need in (Distinct(("a", "b")), Count(("b", "z")), sf.Moment(("x",))):
        with pytest.raises(sf.StatisticsError, match="do not contain"):
            statistics[need]
    with pytest.raises(sf.SchemaError, match="'x' is continuous"):
        statistics[Count(("x",))]


# Files --------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(table=tables, data=st.data())
def test_a_saved_file_has_equal_bits(tmp_path_factory, table, data):
    path = tmp_path_factory.getbasetemp() / "rows.stats"
    statistics = gather(table, data.draw(st.lists(st.floats(0, 1e9), min_size=len(table), max_size=len(table))))
    statistics.save(path)
    again = Statistics.load(path)
    assert list(again) == [NEED]
    assert same(again[NEED], statistics[NEED])


def spoilt(name, values):
    arrays = Rows.of_rows((A, X), ([0, 2], [0.5, 1.5])).to_arrays()
    return Rows.from_arrays(Distinct(("a", "x")), Schema((A, X)), {**arrays, name: np.array(values)})


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("column_0", [0, 3], r"'a' must hold codes, whole numbers from 0 to 2\. Got 3 instead"),
        ("column_0", [-1, 0], r"from 0 to 2\. Got -1 instead"),
        ("column_0", [0.0, 1.0], r"from 0 to 2\. Got 0\.0 instead"),
        ("column_0", ["u", "v"], r"from 0 to 2\. Got 'u' instead"),
        ("column_1", [0.5, np.nan], r"'x' must hold numbers, none of them missing\. Got nan instead"),
        ("column_1", ["1", "2"], r"'x' must hold numbers.*Got '1' instead"),
        ("weights", [1.0, -1.0], r"weights must be finite and not negative\. Got -1\.0 instead"),
        ("weights", [1.0, np.inf], r"weights must be.*Got inf instead"),
        ("weights", ["1", "2"], r"weights must be.*Got '1' instead"),
        ("weights", [1.0], r"one length\. Got arrays of shapes \[\(2,\), \(2,\), \(1,\)\] instead"),
        ("column_1", [[0.5, 1.5]], r"shapes \[\(2,\), \(1, 2\), \(2,\)\]"),
    ],
)
def test_improper_arrays_are_refused(name, values, says):
    with pytest.raises(sf.StatisticsError, match=says):
        spoilt(name, values)


def test_arrays_out_of_order_and_with_repeated_rows_are_put_right():
    found = spoilt("column_0", [2, 0])
    assert listed(found) == [((0, 1.5), 1.0), ((2, 0.5), 1.0)]
    assert spoilt("weights", [0, 2]).n_rows == 1


def test_a_column_too_few_is_refused():
    with pytest.raises(sf.StatisticsError, match=r"\['a', 'x'\] are one array a variable"):
        Rows.of_rows((A, X), ([0, 1],))
    with pytest.raises(sf.StatisticsError, match=r"\['a'\] are one array a variable"):
        Rows.of_rows((A,), ([0, 1], [0, 1]))


# Memory -------------------------------------------------------------------------------------------------------


def test_more_rows_than_memory_are_refused_with_numbers(memory_restored):
    table = [("u", float(i), 1) for i in range(100)]
    part, other = collect(table[:60]), collect(table[60:])
    sf.config(memory=1800)  # a row takes 1 + 8 + 1 + 8 bytes
    assert collect(table * 3).n_rows == 100
    assert (part + other).n_bytes == 1800
    sf.config(memory=1799)
    says = (
        r"The 100 distinct rows of 3 columns \['a', 'x', 'b'\] take 1\.8 kB, more than the 1\.8 kB.*sf\.config\(memory="
    )
    with pytest.raises(sf.StatisticsError, match=says):
        collect(table)
    with pytest.raises(sf.StatisticsError, match=says):
        _ = part + other


# Looking ------------------------------------------------------------------------------------------------------


def test_codes_and_values_are_columns():
    rows = Rows.of_rows((A, X, B), ([2, 0], [0.5, 1.5], [1, 2]))
    assert rows.codes(["b", "a"]).tolist() == [[2, 0], [1, 2]]
    assert rows.codes(["b", "a"]).dtype == np.int64
    assert rows.codes([]).shape == (2, 0)
    assert rows.values("x").tolist() == [1.5, 0.5]
    assert rows.values("b").tolist() == [3, 2]  # the states, not their codes
    flags = Rows.of_rows((Variable("f", (False, True)),), ([1],))
    assert flags.values("f").tolist() == [1]


def test_what_is_no_column_or_no_number_is_named():
    rows = Rows.of_rows((A, X), ([2, 0], [0.5, 1.5]))
    with pytest.raises(
        sf.StatisticsError, match=r"\['u', 'v', 'w'\] of variable 'a' are not numbers.*codes\(\['a'\]\)"
    ):
        rows.values("a")
    with pytest.raises(sf.SchemaError, match="'x' is continuous"):
        rows.codes(["x"])
    for look in (rows.marginal, rows.counts, rows.codes):
        with pytest.raises(sf.UnknownNameError, match=r"no column 'aa'.*\['a', 'x'\].*Did you mean 'a'"):
            look(["aa"])


def test_a_frame_shows_labels_values_and_weights():
    weight = Variable("weight", ("light", "heavy"))
    frame = Rows.of_rows((weight, X), ([1, 0, 1], [0.5, 1.5, 0.5])).to_frame(backend="polars")
    assert frame.to_dict(as_series=False) == {"weight": ["light", "heavy"], "x": [1.5, 0.5], "weight_": [1.0, 2.0]}


def test_repr_tells_size_and_weight():
    assert repr(Rows.of_rows((A, X), ([2, 2], [0.5, 0.5]))) == "Rows(1 distinct row of ['a', 'x'], weight 2)"


def test_arrays_are_frozen_copies():
    column, weights = np.array([0.5, 1.5]), np.ones(2)
    direct, built = Rows((X,), (column,), weights), Rows.of_rows((X,), (column,), weights)
    column[0] = weights[0] = 7
    for rows in (direct, built, built + built, built.scaled(2), built.marginal(["x"])):
        assert rows.values("x")[0] == 0.5
        for array in rows.to_arrays().values():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            rows.weights = weights
