"""Which columns are discrete, with which states, before anything is declared; and what a declaration changes."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.data.table import open_table
from suffice.errors import DataError, SchemaError


def variable(column, **options):
    """Return the variable that one column becomes."""
    return open_table({"x": column}, ["x"], **options).schema["x"]


def labels_of(table, name):
    """Return a column of an encoded table as labels again."""
    states = table.schema[name].states
    return [states[code] for code in table.columns[name]]


# Inference ----------------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=5), min_size=1))
def test_text_is_discrete_with_sorted_states_and_decodes_to_itself(column):
    table = open_table({"x": column}, ["x"])
    assert table.schema["x"].states == tuple(sorted(set(column)))
    assert not table.schema["x"].declared
    assert labels_of(table, "x") == column


@pytest.mark.parametrize("column", [[True, False], [True, True], [False]])
def test_bools_have_both_states_false_first(column):
    found = variable(column)
    assert found.states == (False, True)
    assert [type(state) for state in found.states] == [bool, bool]
    assert open_table({"x": column}, ["x"]).columns["x"].tolist() == [int(value) for value in column]


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, unique=True, max_size=20), st.data())
def test_up_to_twenty_integers_are_discrete_with_a_remark(values, data):
    column = values + data.draw(st.lists(st.sampled_from(values)))
    table = open_table({"x": column}, ["x"])
    assert table.schema["x"].states == tuple(sorted(values))
    assert labels_of(table, "x") == column
    assert [remark for remark in table.remarks if remark.startswith("x: whole numbers")]


def test_more_than_twenty_integers_are_an_error_that_shows_the_line_to_write():
    with pytest.raises(SchemaError) as caught:
        variable(list(range(21)))
    assert "Column 'x'" in str(caught.value)
    assert "21 distinct" in str(caught.value)
    assert "schema={'x': sf.categorical()}" in str(caught.value)
    assert "schema={'x': sf.continuous()}" in str(caught.value)


def test_the_line_that_the_error_shows_works():
    assert variable(list(range(30)), schema={"x": sf.categorical()}).states == tuple(range(30))
    assert variable(list(range(30)), schema={"x": sf.continuous()}).states is None


def test_twenty_integers_in_many_rows_are_still_discrete():
    assert variable(list(range(20)) * 50).n_states == 20


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_floats_without_gaps_are_continuous_whatever_their_values(column):
    table = open_table({"x": np.array(column)}, ["x"])
    assert table.schema["x"].states is None
    assert table.columns["x"].tolist() == column


@given(st.lists(st.integers(-50, 50), min_size=1, unique=True, max_size=20), st.sampled_from(["nan", "null"]))
def test_float_column_of_whole_numbers_with_gaps_is_refused_unless_declared(values, gap):
    column = [float(value) for value in values]
    gapped = pl.DataFrame({"x": pl.Series([*column, float("nan") if gap == "nan" else None])})
    with pytest.raises(SchemaError, match=r"{'x': sf\.categorical\(\)} or schema={'x': sf\.continuous\(\)}"):
        open_table(gapped, ["x"], missing="drop")
    states = open_table(gapped, ["x"], missing="drop", schema={"x": sf.categorical()}).schema["x"].states
    assert states == tuple(sorted(values))
    assert {type(state) for state in states} == {int}
    assert open_table(gapped, ["x"], missing="drop", schema={"x": sf.continuous()}).columns["x"].tolist() == column


@pytest.mark.parametrize("column", [[1.0, 2.5, None], [1.0, float("inf"), None], [float("-inf"), 2.0, float("nan")]])
def test_float_column_with_gaps_and_other_numbers_is_continuous(column):
    assert variable(column, missing="drop").states is None


def test_both_zeros_of_a_float_column_with_gaps_are_one_state():
    table = open_table({"x": [0.0, -0.0, 1.0, None]}, ["x"], missing="drop", schema={"x": sf.categorical()})
    assert table.schema["x"].states == (0, 1)
    assert table.columns["x"].tolist() == [0, 0, 1]


def test_nullable_integers_are_integers():
    frame = pd.DataFrame({"x": pd.array([3, None, 1], dtype="Int64")})
    assert open_table(frame, ["x"], missing="drop").schema["x"].states == (1, 3)


LEVELS = ["low", "mid", "high", "never"]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": pd.Categorical(["high", "low"], categories=LEVELS)}),
        pd.DataFrame({"x": pd.Categorical(["high", "low"], categories=LEVELS, ordered=True)}),
        pl.DataFrame({"x": pl.Series(["high", "low"], dtype=pl.Enum(LEVELS))}),
        pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(LEVELS))}),
        {"x": pd.Categorical(["high", "low"], categories=LEVELS)},
        {"x": pd.Series(pd.Categorical(["high", "low"], categories=LEVELS))},
        {"x": pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(LEVELS))},
        {"x": pl.Series(["high", "low"], dtype=pl.Enum(LEVELS))},
    ],
    ids=["pandas", "ordered", "polars", "arrow", "dict categorical", "dict series", "dict arrow", "dict enum"],
)
def test_levels_are_kept_whole_and_in_order(table):
    encoded = open_table(table, ["x"])
    assert encoded.schema["x"].states == tuple(LEVELS)
    assert encoded.schema["x"].declared
    assert encoded.columns["x"].tolist() == [2, 0]


@pytest.mark.parametrize("wrap", [lambda series: pl.DataFrame({"x": series}), lambda series: {"x": series}])
def test_polars_categoricals_are_inferred_and_sorted_whatever_else_the_process_has_seen(wrap):
    pl.Series(["a", "zebra"], dtype=pl.Categorical)
    encoded = open_table(wrap(pl.Series(["c", "b", "c"], dtype=pl.Categorical)), ["x"])
    assert encoded.schema["x"].states == ("b", "c")
    assert not encoded.schema["x"].declared


def test_levels_that_are_numbers_are_not_bound_by_the_integer_rule():
    frame = pd.DataFrame({"x": pd.Categorical([3, 1], categories=list(range(50, -1, -1)))})
    assert open_table(frame, ["x"]).schema["x"].states == tuple(range(50, -1, -1))


def test_levels_of_arrow_chunks_unite_in_order_of_appearance():
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["c", "b"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "b"])),
    ]
    encoded = open_table(pa.table({"x": pa.chunked_array(chunks)}), ["x"])
    assert encoded.schema["x"].states == ("c", "b", "a")
    assert encoded.columns["x"].tolist() == [0, 1, 2, 1]


def test_missing_value_among_levels_is_refused():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))
    with pytest.raises(DataError, match=r"'x'.*categories contain a missing value"):
        open_table(pa.table({"x": column}), ["x"])


def test_nan_among_levels_is_no_state():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1.0, float("nan")]))
    with pytest.raises(DataError):
        open_table(pa.table({"x": column}), ["x"])


@pytest.mark.parametrize(
    "column",
    [
        [datetime.date(2020, 1, 1)],
        pd.Series(pd.to_datetime(["2020-01-01"])),
        [[1], [2]],
        [b"x"],
    ],
    ids=["date", "timestamp", "list", "bytes"],
)
def test_unsupported_type_names_the_column_and_the_remedy(column):
    with pytest.raises(DataError, match=r"Column 'x' has type .*Convert it"):
        variable(column)


@pytest.mark.parametrize("wrap", [dict, pa.table, lambda columns: pa.table(columns).to_reader()])
def test_decimals_are_numbers_and_without_digits_behind_the_point_whole_ones(wrap):
    prices, counts = pa.array([1.5, 2.25, 2.25]).cast(pa.decimal128(30, 2)), pa.array([1, 2, 2]).cast(pa.decimal128(38))
    huge = pa.array([decimal.Decimal(10) ** 30, decimal.Decimal(1), decimal.Decimal(1)])
    found = open_table(wrap({"x": prices, "n": counts, "huge": huge}), ["x", "n", "huge"])
    list(found.blocks())
    schema = found.settled().schema
    assert (schema["x"].states, schema["n"].states, schema["huge"].states) == (None, (1, 2), None)


def test_levels_that_are_intervals_are_refused_with_the_column():
    frame = pd.DataFrame({"x": pd.cut(pd.Series([1.0, 2.0, 3.0]), 2)})
    with pytest.raises(DataError, match="Column 'x' has categories of type"):
        open_table(frame, ["x"])


@pytest.mark.parametrize("values", [["a", 1], [1, "a"], [True, 1], [True, "a"], [1.5, "a"]])
@pytest.mark.parametrize("wrap", [dict, lambda d: pd.DataFrame({"x": pd.Series(d["x"], dtype=object)})])
def test_mixed_types_name_the_column_and_the_remedy(values, wrap):
    with pytest.raises(DataError, match=r"Column 'x' mixes values of different types.*Convert it"):
        open_table(wrap({"x": values}), ["x"])


@pytest.mark.parametrize(
    "name", ["M. Work", "a->b", "[x|y]", "😀", "日本", "a\nb", '"quoted"', "it's", " ", "x,y;z", "1"]
)
def test_names_may_contain_anything(name):
    for table in ({name: ["u", "v"]}, pd.DataFrame({name: ["u", "v"]}), pl.DataFrame({name: ["u", "v"]})):
        assert open_table(table, [name]).schema[name].states == ("u", "v")


@given(st.lists(st.sampled_from(["NA", "null", "nan", "yes", "."]), min_size=1))
def test_states_spelled_like_a_missing_value_are_kept_with_a_remark(column):
    table = open_table({"x": column}, ["x"])
    assert labels_of(table, "x") == column
    assert any("kept as a state" in remark for remark in table.remarks) is (set(column) != {"yes"})


# Declarations -------------------------------------------------------------------------------------------------


@given(st.permutations(["a", "b", "c", "d"]))
def test_declared_states_are_kept_whole_and_in_order(states):
    table = open_table({"x": ["a", "c", "a"]}, ["x"], schema={"x": sf.categorical(states)})
    assert table.schema["x"].states == tuple(states)
    assert table.schema["x"].declared
    assert labels_of(table, "x") == ["a", "c", "a"]


@pytest.mark.parametrize(
    "entry",
    [sf.categorical(["b", "a"]), ["b", "a"], ("b", "a"), sf.Variable("x", ("b", "a")), np.array(["b", "a"])],
    ids=["categorical", "list", "tuple", "variable", "numpy"],
)
def test_states_may_be_declared_in_any_of_these_ways(entry):
    table = open_table({"x": ["a", "b"]}, ["x"], schema={"x": entry})
    assert table.schema["x"].states == ("b", "a")
    assert table.columns["x"].tolist() == [1, 0]


def test_declared_states_may_be_numpy_integers():
    table = open_table({"x": [1, 3]}, ["x"], schema={"x": sf.categorical(np.arange(5))})
    assert table.schema["x"].states == (0, 1, 2, 3, 4)
    assert table.columns["x"].tolist() == [1, 3]


def test_declarations_may_be_written_without_parentheses():
    assert variable([1.5, 2.0], schema={"x": sf.categorical}).states == (1.5, 2)
    assert variable([1, 2], schema={"x": sf.continuous}).states is None


def test_categorical_without_states_takes_those_found():
    assert variable([2.5, 1.0, 2.5], schema={"x": sf.categorical()}).states == (1, 2.5)
    assert variable(["b", "a"], schema={"x": sf.categorical()}).states == ("a", "b")


def test_structure_that_needs_a_continuous_column_makes_it_so():
    assert variable([1, 2, 3], continuous={"x"}).states is None
    assert variable([1, 2, 3], continuous={"x"}, schema={"x": sf.categorical()}).states == (1, 2, 3)


def test_levels_in_the_data_may_go_beyond_the_declaration_when_no_row_uses_them():
    column = pd.Categorical(["a"], categories=["z", "a"])
    assert variable(column, schema={"x": ["a", "b"]}).states == ("a", "b")


def test_text_in_a_continuous_column_names_the_row():
    with pytest.raises(DataError, match="Column 'x', row 3: 'many' is not a number"):
        variable(["1", "2.5", "many"], schema={"x": sf.continuous()})


def test_numbers_written_as_text_become_numbers_when_declared_continuous():
    assert open_table({"x": ["1", "2.5"]}, ["x"], schema={"x": sf.continuous()}).columns["x"].tolist() == [1.0, 2.5]


def test_schema_of_a_column_that_does_not_exist_is_an_error_with_a_suggestion():
    with pytest.raises(SchemaError, match=r"declares 'smokng'.*Did you mean 'smoking'"):
        open_table({"smoking": ["a"]}, ["smoking"], schema={"smokng": ["a"]})


def test_schema_of_a_column_outside_the_structure_is_allowed():
    assert open_table({"x": ["a"], "y": ["b"]}, ["x"], schema={"y": ["b"]}).schema["x"].states == ("a",)


@pytest.mark.parametrize("schema", [["x"], "x", 3])
def test_schema_must_be_a_mapping(schema):
    with pytest.raises(SchemaError, match="'schema' argument must be a mapping"):
        variable(["a"], schema=schema)


@pytest.mark.parametrize("entry", ["ab", 3, None, {"a": 1}])
def test_entry_of_a_schema_must_be_a_declaration(entry):
    with pytest.raises(SchemaError, match="entry for 'x'"):
        variable(["a"], schema={"x": entry})


def test_states_given_as_one_text_are_refused():
    with pytest.raises(SchemaError, match="list of labels"):
        sf.categorical("ab")


COLUMNS = {
    "text": ["b", "a", "b"],
    "bool": [True, False, True],
    "integer": [3, 1, 3],
    "gapped": [3, None, 1],
    "levels": pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_table_can_be_read_again_with_the_schema_it_led_to(kind):
    data = {"x": COLUMNS[kind]}
    first = open_table(data, ["x"], missing="drop")
    again = open_table(data, ["x"], missing="drop", schema=first.schema)
    assert again.schema["x"].states == first.schema["x"].states
    assert np.array_equal(again.columns["x"], first.columns["x"])


@settings(max_examples=20)
@given(st.sampled_from([126, 127, 128, 129, 32766, 32767, 32768, 32769]))
def test_codes_do_not_overflow_at_the_borders_of_their_types(n_states):
    states = list(range(n_states))
    column = [0, n_states - 1, n_states // 2, None]
    table = open_table({"x": column}, ["x"], schema={"x": sf.categorical(states)}, missing="drop")
    assert table.columns["x"].tolist() == column[:3]
