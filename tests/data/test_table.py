"""Opening a table: missing values, unknown states, weights, and columns that are or are not there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.table import open_table
from suffice.errors import ArgumentError, DataError

gapped = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None])), max_size=12)


# Missing values -----------------------------------------------------------------------------------------------


@given(gapped)
def test_dropping_keeps_exactly_the_complete_rows_in_order(rows):
    data = {"x": [x for x, _ in rows], "y": [y for _, y in rows]}
    table = open_table(data, ["x", "y"], missing="drop", schema={"x": ["a", "b"], "y": [1, 2]})
    complete = [row for row in rows if None not in row]
    decoded = [("ab"[x], [1, 2][y]) for x, y in zip(table.columns["x"], table.columns["y"], strict=True)]
    assert decoded == complete
    assert (table.n_read, table.n_dropped, table.n_rows) == (len(rows), len(rows) - len(complete), len(complete))


@given(gapped)
def test_by_default_the_first_missing_value_is_an_error_with_column_and_row(rows):
    data = {"x": [x for x, _ in rows], "y": [y for _, y in rows]}
    options = {"schema": {"x": ["a", "b"], "y": [1, 2]}}
    for position, name in enumerate(("x", "y")):
        gaps = [index for index, row in enumerate(rows) if row[position] is None]
        if gaps:
            with pytest.raises(DataError, match=f"Column '{name}', row {gaps[0] + 1}: the value is missing"):
                open_table(data, ["x", "y"], **options)
            return
    assert open_table(data, ["x", "y"], **options).n_dropped == 0


def test_missing_values_outside_the_structure_do_not_matter():
    assert open_table({"x": ["a", "b"], "y": [None, 1]}, ["x"]).n_rows == 2


@pytest.mark.parametrize("gap", [None, float("nan"), np.nan, pd.NA], ids=["None", "nan", "numpy", "NA"])
def test_every_mark_of_a_missing_value_is_missing(gap):
    frame = pd.DataFrame({"x": pd.Series(["a", gap, "b"], dtype=object)})
    assert open_table(frame, ["x"], missing="drop").columns["x"].tolist() == [0, 1]
    with pytest.raises(DataError, match="row 2"):
        open_table(frame, ["x"])


def test_nan_and_null_of_one_column_are_both_missing():
    frame = pl.DataFrame({"x": [1.5, float("nan"), None, 2.5]})
    table = open_table(frame, ["x"], missing="drop")
    assert table.columns["x"].tolist() == [1.5, 2.5]
    assert table.n_dropped == 2


def test_masked_arrays_are_missing_where_masked():
    table = open_table({"x": np.ma.masked_array([1, 2, 3], [False, True, False])}, ["x"], missing="drop")
    assert table.schema["x"].states == (1, 3)


def test_column_without_a_single_value_is_missing_from_row_one():
    with pytest.raises(DataError, match=r"'x', row 1: .*3 missing values"):
        open_table({"x": [None, None, None]}, ["x"])
    assert open_table({"x": [None, None]}, ["x"], missing="drop").n_rows == 0


def test_state_that_occurs_only_in_dropped_rows_is_still_a_state():
    table = open_table({"x": ["a", "b"], "y": ["u", None]}, ["x", "y"], missing="drop")
    assert table.schema["x"].states == ("a", "b")


@pytest.mark.parametrize("argument", ["missing", "unknown_states"])
def test_unknown_policy_lists_the_words(argument):
    with pytest.raises(ArgumentError, match=f"'{argument}' argument must be one of .*'error'.*Got 'ignore'"):
        open_table({"x": ["a"]}, ["x"], **{argument: "ignore"})


# Unknown states -----------------------------------------------------------------------------------------------


def test_unknown_state_is_an_error_with_column_row_states_and_remedy():
    with pytest.raises(DataError) as caught:
        open_table(
            {"smoke": ["no", "yes", "mabye"]}, ["smoke"], schema={"smoke": ["no", "yes"]}, unknown_states="error"
        )
    assert "Column 'smoke', row 3: state 'mabye' is not one of ['no', 'yes']." in str(caught.value)
    assert "unknown_states='missing'" in str(caught.value)


def test_errors_propose_only_what_the_call_takes():
    model = sf.fit(sf.DAG("A"), {"A": ["x", "y"]}).model
    with pytest.raises(DataError) as unknown:
        model.log_prob({"A": ["z"]})
    assert not unknown.value.remedies
    with pytest.raises(DataError) as lacking:
        model.log_prob({"A": ["x", None]})
    assert [remedy.value for remedy in lacking.value.remedies] == ["marginalise"]
    with pytest.raises(DataError) as checked:
        sf.check(sf.DAG("A -> B"), {"A": ["x", None], "B": ["u", "v"]})
    assert [remedy.value for remedy in checked.value.remedies] == ["drop"]


def test_unknown_states_may_count_as_missing_and_are_remarked():
    options = {"schema": {"x": ["a", "b"]}, "unknown_states": "missing"}
    table = open_table({"x": ["a", "z", "b", "y"]}, ["x"], missing="drop", **options)
    assert table.columns["x"].tolist() == [0, 1]
    assert any("2 values outside the declared states" in remark and "'z'" in remark for remark in table.remarks)
    with pytest.raises(DataError, match="row 2: the value is missing"):
        open_table({"x": ["a", "z"]}, ["x"], **options)


def test_missing_and_unknown_are_told_apart():
    with pytest.raises(DataError, match="row 2: state 'z'"):
        open_table({"x": [None, "z"]}, ["x"], schema={"x": ["a"]}, missing="drop")


# Columns ------------------------------------------------------------------------------------------------------


def test_columns_outside_the_structure_are_ignored_with_a_remark():
    table = open_table({"x": ["a"], "y": ["b"], "z": ["c"]}, ["x"])
    assert list(table.columns) == ["x"]
    assert "Columns outside the structure were ignored: ['y', 'z']." in table.remarks


def test_no_remark_when_every_column_is_used():
    assert open_table({"x": ["a"], "w": [2]}, ["x"], weights="w").remarks == ()


def test_unused_column_may_be_of_any_type():
    frame = pd.DataFrame({"x": ["a"], "when": pd.to_datetime(["2020-01-01"])})
    assert open_table(frame, ["x"]).n_rows == 1


def test_missing_column_is_answered_with_the_columns_and_a_suggestion():
    with pytest.raises(DataError, match=r"variable 'smokng'.*\['smoking', 'age'\].*Did you mean 'smoking'"):
        open_table({"smoking": ["a"], "age": [1]}, ["smokng"])


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([["u", "v"]], columns=["x", "x"]),
        pa.table([pa.array(["u"]), pa.array(["v"])], names=["x", "x"]),
        pd.DataFrame([["u", "v"]], columns=[1, "1"]),
    ],
    ids=["pandas", "arrow", "1 and '1'"],
)
def test_repeated_columns_are_refused_and_named(table):
    with pytest.raises(DataError, match=r"x|1"):
        open_table(table, [str(table.columns[0]) if isinstance(table, pd.DataFrame) else "x"])


def test_columns_of_different_length_name_both():
    with pytest.raises(DataError, match="'x' has 1 rows, 'y' has 3"):
        open_table({"x": ["a"], "y": ["b"] * 3}, ["x"])


@pytest.mark.parametrize("column", ["abc", 5, np.zeros((2, 2)), np.array(3.0)], ids=["text", "number", "2d", "0d"])
def test_what_is_no_column_is_refused_by_name(column):
    with pytest.raises(DataError, match="Column 'x'"):
        open_table({"x": column}, ["x"])


def test_names_of_columns_must_be_text():
    with pytest.raises(DataError, match="must be strings"):
        open_table({1: ["a"]}, ["1"])


@pytest.mark.parametrize("data", [None, 3, np.zeros((2, 2)), [1, 2]])
def test_what_is_no_table_is_answered_with_the_kinds_of_tables(data):
    with pytest.raises(DataError, match=r"Cannot read a table from .*pandas"):
        open_table(data, ["x"])


def test_the_callers_table_is_left_alone():
    frame = pd.DataFrame({"x": ["a", None], "w": [1.0, 2.0]})
    before, weights = frame.copy(deep=True), np.array([1.0, 2.0])
    open_table(frame, ["x"], weights=weights, missing="drop")
    pd.testing.assert_frame_equal(frame, before)
    assert weights.flags.writeable
    assert weights.tolist() == [1.0, 2.0]


# Tables without rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(
            {
                "level": pd.Categorical([], categories=["v", "u"]),
                "flag": pd.Series([], dtype=bool),
                "real": pd.Series([], dtype=float),
                "text": pd.Series([], dtype=str),
            }
        ),
        pl.DataFrame(schema={"level": pl.Enum(["v", "u"]), "flag": pl.Boolean, "real": pl.Float64, "text": pl.String}),
    ],
    ids=["pandas", "polars"],
)
def test_table_without_rows_keeps_what_its_types_say(table):
    encoded = open_table(table, ["level", "flag", "real", "text"])
    assert encoded.n_rows == 0
    states = {name: encoded.schema[name].states for name in encoded.schema}
    assert states == {"level": ("v", "u"), "flag": (False, True), "real": None, "text": ()}


@pytest.mark.parametrize(
    "table",
    [
        {"x": []},
        pa.table({"x": pa.chunked_array([], pa.string())}),
        pa.table({"x": pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))}),
        pa.schema({"x": pa.int64()}).empty_table(),
    ],
    ids=["dict", "no chunks", "no chunks of levels", "integers"],
)
def test_table_without_rows_can_be_declared(table):
    encoded = open_table(table, ["x"], schema={"x": ["a", "b"]})
    assert encoded.schema["x"].states == ("a", "b")
    assert [block.n_rows for block in encoded.blocks()] == [0]


def test_statistics_of_no_rows_add_nothing():
    dag = sf.DAG("x")
    some = sf.collect(dag, {"x": ["a", "b", "a"]})
    none = sf.collect(dag, {"x": []})
    for total in (some + none, none + some):
        assert total[sf.Count(("x",))].values.tolist() == [2, 1]
        assert total.weight == 3


# Weights ------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 10**12)), min_size=1))
def test_whole_weights_stay_whole_whatever_type_they_come_in(rows):
    column, weights = [x for x, _ in rows], [w for _, w in rows]
    for given_weights in (weights, np.array(weights), np.array(weights, float), pd.Series(weights)):
        table = open_table({"x": column}, ["x"], weights=given_weights)
        assert table.weights.dtype == np.int64
        assert table.weights.tolist() == weights


def test_weights_that_are_not_all_whole_are_real():
    table = open_table({"x": ["a", "b"]}, ["x"], weights=[1, 0.25])
    assert table.weights.dtype == np.float64
    assert table.weights.tolist() == [1.0, 0.25]


def test_weights_go_with_their_rows_when_rows_are_dropped():
    table = open_table({"x": ["a", None, "b"], "w": [1, 2, 3]}, ["x"], weights="w", missing="drop")
    assert table.weights.tolist() == [1, 3]


@pytest.mark.parametrize("where", ["column", "array"])
def test_weights_too_large_to_be_exact_are_exact_or_refused(where):
    weights = [2**53 + 1, 2**60 + 1]
    data = {"x": ["a", "b"], "w": weights}
    try:
        table = open_table(data, ["x"], weights="w" if where == "column" else weights)
    except DataError:
        return
    assert table.weights.tolist() == weights


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("where", ["column", "array"])
def test_bad_weight_is_an_error_with_its_row(bad, where):
    weights = [1.0, 2.0, bad]
    data = {"x": ["a", "b", "a"], "w": weights}
    with pytest.raises(DataError, match=r"Weight -?\w+ in .*row 3.*finite and not negative"):
        open_table(data, ["x"], weights="w" if where == "column" else weights)


def test_missing_weight_in_a_column_is_an_error_with_its_row():
    with pytest.raises(DataError, match="column 'w', row 2"):
        open_table({"x": ["a", "b"], "w": [1, None]}, ["x"], weights="w")


@pytest.mark.parametrize("weights", [[1], [1, 2, 3], [[1, 2]], 3, ["a", "b"], [None, 1]])
def test_weights_must_be_one_number_a_row(weights):
    with pytest.raises(DataError, match=r"one number a row, shape \(2,\)"):
        open_table({"x": ["a", "b"]}, ["x"], weights=weights)


def test_weights_column_that_does_not_exist_is_an_error_with_a_suggestion():
    with pytest.raises(DataError, match=r"column 'weigth'.*Did you mean 'weight'"):
        open_table({"x": ["a"], "weight": [1]}, ["x"], weights="weigth")


def test_weights_column_of_text_is_an_error_with_its_row():
    with pytest.raises(DataError, match="Column 'w', row 2: 'many' is not a number"):
        open_table({"x": ["a", "b"], "w": ["1", "many"]}, ["x"], weights="w")


def test_counts_beyond_the_range_of_integers_are_not_silently_wrong():
    weights = [2**62] * 3
    try:
        counted = sf.collect(sf.DAG("x"), {"x": ["a"] * 3}, weights=weights)[sf.Count(("x",))].values
    except DataError:
        return
    assert counted[0] == pytest.approx(3 * 2.0**62)


def test_unsigned_weights_beyond_the_range_of_integers_are_not_silently_wrong():
    weights = np.array([2**63 + 2**11], np.uint64)
    try:
        counted = open_table({"x": ["a"]}, ["x"], weights=weights).weights
    except DataError:
        return
    assert counted[0] == pytest.approx(2.0**63)
