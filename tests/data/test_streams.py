"""Streams: read in pieces of any size, they give the bits of the table in memory, in bounded memory."""

from __future__ import annotations

import bz2
import csv
import gzip
import importlib
import lzma
import re

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.command_line import run

import suffice as sf
from suffice.data import table as tables
from suffice.data.encode import ColumnEncoder
from suffice.data.readers import arrow_csv, batches, csv_file, parquet
from suffice.data.table import open_table
from suffice.errors import DataError, FileAccessError, SchemaError, SufficeError
from suffice.stats.source import BlockSource

DAG = sf.DAG("a -> b <- c")
NEEDS = [sf.Count(("a",)), sf.Count(("c",)), sf.Count(("a", "c", "b"))]


def same_bits(found, expected):
    """Assert that two statistics are over the same states and have the same numbers and dtypes."""
    assert found.schema == expected.schema
    assert set(found) == set(expected)
    for need in expected:
        assert found[need].values.dtype == expected[need].values.dtype
        assert np.array_equal(found[need].values, expected[need].values)
    assert (found.weight, found.n_read, found.n_dropped) == (expected.weight, expected.n_read, expected.n_dropped)


def example(n_rows=2000):
    """Return a table whose last rows hold states that sort before all others."""
    generator = np.random.default_rng(5)
    columns = {
        "b": generator.integers(3, 7, n_rows),
        "a": generator.choice(["x", "y", "zz", "ü,\"'\n"], n_rows).astype(object),
        "c": generator.choice(["u", "v"], n_rows).astype(object),
        "w": generator.integers(0, 9, n_rows),
        "other": generator.random(n_rows),
    }
    columns["a"][-1], columns["b"][-2], columns["c"][-3] = "aa", -4, "A late one"
    return pa.table(columns)


TABLE = example()


def write_csv(table, path):
    opener = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "wt", newline="", encoding="utf-8") as file:
        rows = zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)
        csv.writer(file).writerows([table.column_names, *rows])
    return path


def write_parts(table, folder, ending, n_parts=4):
    """Write the rows to several files, the columns of each in another order."""
    folder.mkdir()
    size = -(-table.num_rows // n_parts)
    for number in range(n_parts):
        names = table.column_names[number:] + table.column_names[:number]
        part = table.slice(number * size, size).select(names)
        path = folder / f"part-{number}{ending}"
        if ending == ".parquet":
            pq.write_table(part, path, row_group_size=300)
        else:
            write_csv(part, path)
    return folder


def parquet_of(row_group_size):
    def write(table, folder):
        pq.write_table(table, folder / "t.parquet", row_group_size=row_group_size)
        return folder / "t.parquet"

    return write


def dataset_of(table, folder):
    return ds.dataset(write_parts(table, folder / "dataset", ".parquet"))


def relation_of(table, folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(table)


SHAPES = {
    "Parquet, one row group": parquet_of(10**6),
    "Parquet, row groups of 1000": parquet_of(1000),
    "Parquet, row groups of 77": parquet_of(77),
    "folder of Parquet": lambda table, folder: write_parts(table, folder / "parts", ".parquet"),
    "folder of Parquet as text": lambda table, folder: str(write_parts(table, folder / "parts", ".parquet")),
    "glob of Parquet": lambda table, folder: str(write_parts(table, folder / "p", ".parquet") / "part-*.parquet"),
    "CSV": lambda table, folder: write_csv(table, folder / "t.csv"),
    "CSV gz": lambda table, folder: write_csv(table, folder / "t.csv.gz"),
    "CSV xz": lambda table, folder: write_csv(table, folder / "t.csv.xz"),
    "CSV bz2": lambda table, folder: write_csv(table, folder / "t.csv.bz2"),
    "folder of CSV": lambda table, folder: write_parts(table, folder / "parts", ".csv"),
    "glob of CSV": lambda table, folder: str(write_parts(table, folder / "parts", ".csv.gz") / "part-*.csv.gz"),
    "dataset": dataset_of,
    "dataset in memory": lambda table, folder: ds.dataset(table),
    "reader": lambda table, folder: table.to_reader(max_chunksize=100),
    "lazy frame": lambda table, folder: pl.from_arrow(table).lazy(),
    "lazy frame of Parquet": lambda table, folder: pl.scan_parquet(parquet_of(300)(table, folder)),
    "DuckDB relation": relation_of,
}
NUMBERED = {name: shape for name, shape in SHAPES.items() if name != "DuckDB relation"}
"""Tables whose rows have numbers; those of a database have none."""


@pytest.fixture(params=["pieces as usual", "small pieces"])
def pieces(request, monkeypatch):
    """Run a test with the usual pieces, which hold the whole table, and with small ones."""
    if request.param == "small pieces":
        monkeypatch.setattr(csv_file, "PIECE_BYTES", 500)
        monkeypatch.setattr(parquet, "BATCH_ROWS", 64)
        monkeypatch.setattr(batches, "BATCH_ROWS", 64)


# The same bits ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weights", [None, "w"])
def test_counts_are_those_of_the_table_in_memory(tmp_path, shape, weights):
    expected = sf.collect(DAG, TABLE, weights=weights)
    found = sf.collect(DAG, SHAPES[shape](TABLE, tmp_path), weights=weights)
    same_bits(found, expected)
    assert found.schema["a"].states == ("aa", "x", "y", "zz", "ü,\"'\n")
    assert found.schema["b"].states == (-4, 3, 4, 5, 6)
    assert found.schema["c"].states == ("A late one", "u", "v")
    assert any("ignored" in remark and "'other'" in remark for remark in found.remarks)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
def test_fits_have_the_same_parameters_and_proof(tmp_path, shape):
    options = {"unseen_parents": "nan", "missing": "drop"}
    expected = sf.fit(DAG, TABLE, **options)
    found = sf.fit(DAG, SHAPES[shape](TABLE, tmp_path), **options)
    assert found.log_likelihood == expected.log_likelihood
    assert found.certificate.ok
    for node in DAG.nodes:
        assert np.array_equal(found.model.cpd(node).values, expected.model.cpd(node).values, equal_nan=True)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "reader"])
def test_the_pass_can_be_repeated_for_the_certificate(tmp_path, shape):
    data = SHAPES[shape](TABLE, tmp_path)
    fit = sf.fit(DAG, data, weights="w", unseen_parents="nan", certify="data")
    assert fit.certificate.ok
    same_bits(sf.collect(DAG, data, weights="w"), fit.statistics)


def with_gaps():
    """Return a table with gaps in two columns, and its first row that has one (counted from one)."""
    a, c = TABLE.column("a").to_pylist(), TABLE.column("c").to_pylist()
    for row in range(1234, 2000, 50):
        a[row] = None
    c[1500] = c[1999] = None
    return TABLE.set_column(1, "a", pa.array(a)).set_column(2, "c", pa.array(c)), 1235


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
def test_incomplete_rows_are_dropped_alike(tmp_path, shape):
    table, _ = with_gaps()
    expected = sf.collect(DAG, table, weights="w", missing="drop")
    assert expected.n_dropped == 18
    same_bits(sf.collect(DAG, SHAPES[shape](table, tmp_path), weights="w", missing="drop"), expected)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", NUMBERED)
def test_a_missing_value_is_named_by_its_row_in_the_whole_table(tmp_path, shape):
    table, row = with_gaps()
    with pytest.raises(DataError, match=rf"Column 'a', row {row}: the value is missing.*missing='drop'"):
        sf.collect(DAG, SHAPES[shape](table, tmp_path))


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", NUMBERED)
def test_an_undeclared_state_is_named_by_its_row_in_the_whole_table(tmp_path, shape):
    schema = {"a": ["x", "y", "zz", "ü,\"'\n"]}
    data = SHAPES[shape](TABLE, tmp_path)
    with pytest.raises(DataError, match=r"Column 'a', row 2000: state 'aa' is not one of"):
        sf.collect(DAG, data, schema=schema)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
def test_declared_states_keep_their_order(tmp_path, shape):
    schema = {"c": ["v", "u", "never", "A late one"], "b": sf.categorical([7, 6, 5, 4, 3, -4])}
    expected = sf.collect(DAG, TABLE, schema=schema)
    same_bits(sf.collect(DAG, SHAPES[shape](TABLE, tmp_path), schema=schema), expected)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
def test_unknown_states_may_be_taken_as_missing(tmp_path, shape):
    options = {"schema": {"a": ["x", "y"]}, "unknown_states": "missing", "missing": "drop"}
    expected = sf.collect(DAG, TABLE, **options)
    found = sf.collect(DAG, SHAPES[shape](TABLE, tmp_path), **options)
    same_bits(found, expected)
    assert [re.sub(r" \((first|such as).*\)", "", remark) for remark in found.remarks] == [
        re.sub(r" \(first.*\)", "", remark) for remark in expected.remarks
    ]


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", NUMBERED)
@pytest.mark.parametrize(("weight", "words"), [(-1.0, "Weight -1 in column 'w', row 1801"), (None, "Weight nan")])
def test_a_weight_that_is_none_is_named_by_its_row(tmp_path, shape, weight, words):
    weights = [1.5] * 2000
    weights[1800] = weight
    table = TABLE.set_column(3, "w", pa.array(weights))
    with pytest.raises(DataError, match=rf"{words}.*not a frequency") as caught:
        sf.collect(DAG, SHAPES[shape](table, tmp_path), weights="w")
    assert "row 1801" in str(caught.value)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
def test_real_weights_are_streamed_exactly(tmp_path, shape):
    weights = np.ones(2000)
    weights[1000:] = np.random.default_rng(1).integers(0, 99, 1000) / 8  # the first pieces are whole
    table = TABLE.set_column(3, "w", pa.array(weights))
    expected = sf.collect(DAG, table, weights="w")
    same_bits(sf.collect(DAG, SHAPES[shape](table, tmp_path), weights="w"), expected)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
def test_the_weights_may_be_a_variable_of_the_structure(tmp_path, shape):
    dag = sf.DAG("a -> w")
    expected = sf.collect(dag, TABLE, weights="w")
    same_bits(sf.collect(dag, SHAPES[shape](TABLE, tmp_path), weights="w"), expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_that_are_too_large_together_are_refused(tmp_path, shape, monkeypatch):
    monkeypatch.setattr(csv_file, "PIECE_BYTES", 32)
    monkeypatch.setattr(parquet, "BATCH_ROWS", 1)
    monkeypatch.setattr(batches, "BATCH_ROWS", 1)
    table = TABLE.select(["a", "b", "c"]).slice(0, 4).append_column("w", pa.array([2**52] * 4))
    with pytest.raises(DataError, match=r"'w' add up to .*2\*\*53"):
        sf.collect(DAG, table, weights="w")
    data = table.to_reader(max_chunksize=1) if shape == "reader" else SHAPES[shape](table, tmp_path)
    with pytest.raises(DataError, match=r"'w' add up to .*2\*\*53"):
        sf.collect(DAG, data, weights="w")


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path, shape):
    data = SHAPES[shape](TABLE, tmp_path)
    with pytest.raises(DataError, match=r"'absent'.*no such column.*'other'"):
        sf.collect(sf.DAG("a -> absent"), data)
    with pytest.raises(DataError, match=r"'absent'.*has only.*'other'"):
        sf.collect(DAG, data, weights="absent")


@pytest.mark.parametrize("shape", NUMBERED)
def test_weights_given_row_by_row_are_refused_for_streams(tmp_path, shape):
    with pytest.raises(DataError, match="streamed; name the column"):
        sf.collect(DAG, SHAPES[shape](TABLE, tmp_path), weights=[1] * 2000)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
def test_too_many_whole_numbers_ask_for_a_declaration(tmp_path, shape):
    table = TABLE.set_column(0, "b", pa.array([row % 300 for row in range(2000)]))
    with pytest.raises(SchemaError, match=r"'b' holds whole numbers with \d+ distinct.*sf\.categorical\(\)"):
        sf.collect(DAG, SHAPES[shape](table, tmp_path))


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", SHAPES)
def test_too_many_whole_numbers_can_be_declared_discrete(tmp_path, shape):
    table = TABLE.set_column(0, "b", pa.array([7 * row % 300 for row in range(2000)]))
    expected = sf.collect(DAG, table, schema={"b": sf.categorical()})
    same_bits(sf.collect(DAG, SHAPES[shape](table, tmp_path), schema={"b": sf.categorical()}), expected)


# Where the pieces end -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("streams")


labels = st.sampled_from(["x", "yy", "3", "03", "TRUE", "a\nb", 'q"', "ü"])


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(labels, st.integers(-2, 3), labels), min_size=1, max_size=30),
    cut=st.integers(1, 12),
    piece=st.integers(48, 120),
)
def test_counts_do_not_depend_on_where_the_pieces_end(folder, rows, cut, piece):
    columns = {name: [row[j] for row in rows] for j, name in enumerate("abc")}
    table = pa.table(columns)
    expected = sf.collect(DAG, table)
    same_bits(sf.collect(DAG, table.to_reader(max_chunksize=cut)), expected)
    pq.write_table(table, folder / "p.parquet", row_group_size=cut)
    written = write_csv(table, folder / "p.csv")
    whole_csv = sf.collect(DAG, written)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "BATCH_ROWS", cut)
        patch.setattr(csv_file, "PIECE_BYTES", piece)
        same_bits(sf.collect(DAG, folder / "p.parquet"), expected)
        same_bits(sf.collect(DAG, written), whole_csv)


def pieces_of(tmp_path, monkeypatch, text, piece=24):
    """Write a CSV file that will be read in pieces of a few rows."""
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(csv_file, "PIECE_BYTES", piece)
    return path


TWO = sf.DAG("a -> b")
PAIR = sf.Count(("a", "b"))


def test_whole_numbers_followed_by_text_are_text(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "10,u\n2,v\n" * 20 + "x,v\n")
    found = sf.collect(TWO, path)
    assert found.schema["a"].states == ("10", "2", "x")
    assert found[PAIR].table().tolist() == [[20, 0], [0, 20], [0, 1]]
    monkeypatch.undo()
    same_bits(found, sf.collect(TWO, path))


def test_whole_numbers_are_sorted_as_numbers_at_the_end(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "10,u\n2,v\n" * 20 + "-3,v\n")
    found = sf.collect(TWO, path)
    assert found.schema["a"].states == (-3, 2, 10)
    assert found[PAIR].table().tolist() == [[0, 1], [0, 20], [20, 0]]


def test_codes_with_leading_zeros_in_a_late_piece_keep_all_as_text(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "7,u\n" * 20 + "007,v\n")
    found = sf.collect(TWO, path)
    assert found.schema["a"].states == ("007", "7")
    assert found[PAIR].table().tolist() == [[0, 1], [20, 0]]


def test_text_followed_by_whole_numbers_is_text(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "x,u\n" * 20 + "7,v\n")
    assert sf.collect(TWO, path).schema["a"].states == ("7", "x")


def test_more_than_the_allowed_whole_numbers_in_late_pieces_ask_for_a_declaration(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "1,u\n" * 20 + "".join(f"{k},v\n" for k in range(2, 40)))
    with pytest.raises(SchemaError, match=r"'a' holds whole numbers with 39 distinct.*sf\.categorical\(\)"):
        sf.collect(TWO, path)


def test_many_codes_that_are_text_in_the_end_need_no_declaration(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "".join(f"{k},v\n" for k in range(100)) + "x,u\n")
    assert sf.collect(TWO, path).schema["a"].n_states == 101


def test_a_column_without_values_at_first_is_decided_by_its_first_value(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "?,u\n" * 20 + "2,v\n1,u\n")
    found = sf.collect(TWO, path, missing="drop")
    assert found.schema["a"].states == (1, 2)
    assert found.n_dropped == 20


def test_numbers_followed_by_text_name_column_row_and_remedy(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "0.5,u\n" * 20 + "x,v\n")
    table = tables.open_table(path, ("a", "b"))
    assert not table.schema["a"].is_discrete
    with pytest.raises(DataError, match=r"Column 'a', row 21: 'x' is not a number.*schema={'a': sf\.categorical\(\)}"):
        list(table.blocks())
    found = sf.collect(TWO, path, schema={"a": sf.categorical()})
    assert found.schema["a"].states == ("0.5", "x")


def test_a_column_of_numbers_in_a_table_of_states_names_column_and_remedy(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "0.5,u\n" * 20 + "x,v\n")
    with pytest.raises(SufficeError, match=r"'a' is continuous.*sf\.categorical\(\)"):
        sf.collect(TWO, path)


def outcome(collect):
    """Return the statistics, or the class of error that names the column."""
    try:
        return collect()
    except SufficeError as error:
        assert "'a'" in str(error)  # noqa: PT017
        return None


LATE_TURNS = {  # whether it can be read in pieces, and at once
    "whole numbers, then fractions": (["1"] * 20 + ["0.5"], False, False),
    "whole numbers with gaps, then fractions": (["1", ""] * 10 + ["0.5"], False, False),
    "whole numbers with a point, then a gap": (["1.0"] * 20 + [""], False, False),
    "gaps, then whole numbers with a point": ([""] * 20 + ["1.0", "2.0"], False, False),
    "fractions, then gaps": (["0.5"] * 20 + [""], False, False),
}


@pytest.mark.parametrize(("values", "in_pieces_too", "at_all"), LATE_TURNS.values(), ids=LATE_TURNS)
def test_csv_pieces_never_change_what_a_column_is_taken_for(tmp_path, monkeypatch, values, in_pieces_too, at_all):
    """In pieces the answer is that of the file at once, or an error: never another answer."""
    text = "a,b\n" + "".join(f"{value},u\n" for value in values)
    in_pieces = outcome(lambda: sf.collect(TWO, pieces_of(tmp_path, monkeypatch, text), missing="drop"))
    monkeypatch.undo()
    at_once = outcome(lambda: sf.collect(TWO, tmp_path / "t.csv", missing="drop"))
    assert [in_pieces is not None, at_once is not None] == [in_pieces_too, at_all]
    if in_pieces_too:
        same_bits(in_pieces, at_once)


@pytest.mark.parametrize(("values", "in_pieces_too", "at_all"), LATE_TURNS.values(), ids=LATE_TURNS)
def test_batches_never_change_what_a_column_is_taken_for(values, in_pieces_too, at_all):
    numbers = [float(value) if value else None for value in values]
    table = pa.table({"a": pa.array(numbers), "b": ["u"] * len(numbers)})
    in_pieces = outcome(lambda: sf.collect(TWO, table.to_reader(max_chunksize=4), missing="drop"))
    at_once = outcome(lambda: sf.collect(TWO, table, missing="drop"))
    assert [in_pieces is not None, at_once is not None] == [in_pieces_too, at_all]
    if in_pieces_too:
        same_bits(in_pieces, at_once)


def test_a_first_batch_of_gaps_does_not_decide_what_a_column_is():
    table = pa.table({"a": pa.array([None] * 8 + [1, 2]), "b": ["u"] * 10})
    expected = sf.collect(TWO, table, missing="drop")
    assert expected.schema["a"].states == (1, 2)
    same_bits(sf.collect(TWO, table.to_reader(max_chunksize=4), missing="drop"), expected)


def test_a_row_with_too_few_fields_in_a_late_piece_is_named(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "x,u\n" * 50 + "y\n" + "x,v\n" * 5)
    with pytest.raises(DataError, match=r"t\.csv', row 51: expected 2 fields, found 1: 'y'"):
        sf.collect(TWO, path)


def test_a_row_that_is_wrong_in_the_second_file_names_that_file(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\nx,u\n")
    (tmp_path / "2.csv").write_text("b,a\nv,y\nv\n")
    with pytest.raises(DataError, match=r"2\.csv', row 2: expected 2 fields, found 1"):
        sf.collect(TWO, tmp_path)


def test_fields_with_line_breaks_across_pieces_are_whole(tmp_path, monkeypatch):
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + '"one\n\ntwo",u\n' * 30, 32)
    found = sf.collect(TWO, path)
    assert found.schema["a"].states == ("one\n\ntwo",)
    assert found.n_read == 30


# What Arrow holds ---------------------------------------------------------------------------------------------


class Loans:
    """Everything of Python's that Arrow was lent during a test, and every reading that was begun."""

    def __init__(self, monkeypatch):
        self.held, self.readings = [], []

        def lend(file, held):
            self.held.append(held)
            return was_lent(file, held)

        def batches(*args, **options):
            self.readings.append(begin(*args, **options))
            return self.readings[-1]

        was_lent, begin = arrow_csv.Lent, csv_file.batches
        monkeypatch.setattr(arrow_csv, "Lent", lend)
        monkeypatch.setattr(csv_file, "batches", batches)

    def all_given_back(self):
        assert self.readings
        return all(reading.gi_frame is None for reading in self.readings) and not any(
            thing() is not None for held in self.held for thing in held
        )


HELD = {"t.csv": "utf-8", "t.csv.gz": "utf-8", "t.csv.xz": "UTF8", "t.csv.bz2": "utf-8", "latin.csv": "latin-1"}


@pytest.fixture(params=HELD)
def held(request, tmp_path, monkeypatch):
    """Return what makes a file of two columns from lines of text, to be read in small pieces, and the loans."""
    monkeypatch.setattr(csv_file, "PIECE_BYTES", 64)
    path, encoding = tmp_path / request.param, HELD[request.param]
    opener = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}.get(path.suffix, open)

    def write(lines):
        with opener(path, "wt", encoding=encoding) as file:
            file.write("a,b\n" + lines)
        return sf.CSV(path, encoding=encoding)

    return write, Loans(monkeypatch)


def test_a_file_is_given_back_after_use(held):
    write, loans = held
    assert sf.collect(TWO, write("x,ü\ny,v\n" * 100)).n_read == 200
    assert loans.all_given_back()


@pytest.mark.parametrize("fault", ["y\n", ",v\n"], ids=["too few fields", "missing value"])
@pytest.mark.parametrize("before", [1, 100])
def test_a_file_is_given_back_after_an_error_while_its_traceback_lives(held, fault, before):
    write, loans = held
    with pytest.raises(DataError) as caught:
        sf.collect(TWO, write("x,u\n" * before + fault + "x,u\n" * 100))
    assert caught.tb is not None
    assert loans.all_given_back()


def test_a_file_that_is_refused_for_its_first_rows_is_given_back(held):
    write, loans = held
    with pytest.raises(DataError, match="row 1: state 'x'") as caught:
        sf.collect(TWO, write("x,u\n" * 100), schema={"a": sf.categorical(["y"])})
    assert caught.tb is not None
    assert loans.all_given_back()


def test_a_file_that_is_half_read_is_given_back_when_the_process_ends(held):
    write, loans = held
    half_read = csv_file.open_table(write("x,u\n" * 5000)).batches(["a"])
    next(half_read)
    assert not loans.all_given_back()
    arrow_csv._close_all()
    assert loans.all_given_back()


def test_plain_files_are_read_without_any_python_object(held):
    write, loans = held
    source = write("x,u\n")
    sf.collect(TWO, source)
    assert bool(loans.held) == (source.path.name != "t.csv")


def test_a_wrong_row_that_speaks_of_encodings_is_a_wrong_row(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,u\ninvalid UTF8 data\n")
    with pytest.raises(DataError, match="row 2: expected 2 fields, found 1: 'invalid UTF8 data'"):
        sf.collect(TWO, tmp_path / "t.csv")


# Several files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_column_missing_in_the_second_file_is_named_with_the_file(tmp_path, ending):
    for name, table in (("1", {"a": ["x"], "b": ["u"]}), ("2", {"a": ["x"], "B": ["u"]})):
        if ending == ".csv":
            write_csv(pa.table(table), tmp_path / f"{name}.csv")
        else:
            pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    with pytest.raises(DataError, match=rf"2\{ending}' has no column 'b'\. It has \['a', 'B'\]"):
        sf.collect(TWO, str(tmp_path / f"*{ending}"))


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_file_that_vanishes_before_it_is_read_is_named(tmp_path, ending):
    parts = write_parts(TABLE, tmp_path / "parts", ending)

    class Remover:
        def begin(self, label, total, unit):
            (parts / f"part-2{ending}").unlink()

        def update(self, done, info):
            pass

        def end(self):
            pass

    with pytest.raises(FileAccessError, match=rf"part-2\{ending}"):
        sf.collect(DAG, str(parts / f"*{ending}"), progress=Remover())


@pytest.mark.parametrize("pattern", ["*.csv", "*.parquet", "nothing/*.csv", "absent.parquet", "absent.csv"])
def test_no_such_file_is_an_error_that_names_what_was_asked_for(tmp_path, pattern):
    with pytest.raises(FileAccessError, match=pattern.split("/")[-1].replace("*", r"\*")):
        sf.collect(DAG, str(tmp_path / pattern))


def test_a_folder_without_tables_is_an_error_that_names_it(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.txt").write_text("no table")
    with pytest.raises(SufficeError, match="empty"):
        sf.collect(DAG, tmp_path / "empty")


def test_marks_of_other_programs_in_a_folder_are_left_out(tmp_path):
    parts = write_parts(TABLE, tmp_path / "parts", ".parquet")
    for name in ("_metadata.parquet", ".part-0.parquet", "_SUCCESS"):
        (parts / name).write_bytes(b"not a table")
    (parts / "later").mkdir()
    (parts / "part-3.parquet").rename(parts / "later" / "part-3.parquet")
    same_bits(sf.collect(DAG, parts), sf.collect(DAG, TABLE))


def test_whole_numbers_in_one_file_and_text_in_another_are_text(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,u\n2,u\n")
    (tmp_path / "2.csv").write_text("a,b\nx,u\n")
    assert sf.collect(TWO, tmp_path).schema["a"].states == ("1", "2", "x")


def test_a_file_without_rows_among_others_changes_nothing(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n")
    (tmp_path / "2.csv").write_text("b,a\nu,1\nv,2\n")
    (tmp_path / "3.csv").write_text("a,b")
    found = sf.collect(TWO, tmp_path)
    assert found.schema["a"].states == (1, 2)
    assert found.n_read == 2


# Readers, lazy frames, relations ------------------------------------------------------------------------------


def test_a_reader_is_read_once_and_says_so():
    with pytest.raises(DataError, match=r"can be read only once.*Pass a file, a dataset or a frame"):
        sf.fit(DAG, TABLE.to_reader(), unseen_parents="nan", certify="data")


def test_a_reader_of_no_batches_has_no_rows():
    found = sf.collect(TWO, pa.RecordBatchReader.from_batches(pa.schema({"a": pa.string(), "b": pa.int64()}), []))
    assert (found.n_read, found.weight) == (0, 0.0)
    assert found[PAIR].table().shape == (0, 0)


def test_empty_batches_change_nothing():
    batch = pa.record_batch({"a": ["x", "y"], "b": [True, False]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch.slice(0, 0), batch, batch.slice(2), batch])
    same_bits(sf.collect(TWO, reader), sf.collect(TWO, pa.Table.from_batches([batch, batch])))


def test_levels_of_a_categorical_are_declared_also_when_batches_are_empty():
    levels = pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), pa.array(["z", "y", "x"]))
    batch = pa.record_batch({"a": levels, "b": ["u", "v"]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch.slice(0, 0), batch, batch.slice(0, 0)])
    found = sf.collect(TWO, reader)
    assert found.schema["a"].states == ("z", "y", "x")
    assert found.schema["a"].declared


def test_dictionaries_that_change_from_batch_to_batch_unite_in_order():
    def batch(codes, values):
        return pa.record_batch({"a": pa.DictionaryArray.from_arrays(codes, values), "b": ["u"] * len(codes)})

    parts = [batch([0, 1], ["y", "z"]), batch([1, 0], ["y", "x"]), batch([1, None], ["z", "y"])]
    reader = pa.RecordBatchReader.from_batches(parts[0].schema, parts)
    found = sf.collect(TWO, reader, missing="drop")
    assert found.schema["a"].states == ("x", "y", "z")
    assert found[PAIR].table().reshape(-1).tolist() == [1, 3, 1]


def test_codes_beyond_the_dictionary_are_an_error_of_ours():
    indices = pa.array([0, 1, 7], pa.int32())
    broken = pa.DictionaryArray.from_arrays(indices, pa.array(["x", "y"]), safe=False)
    batch = pa.record_batch({"a": broken, "b": ["u"] * 3})
    with pytest.raises(DataError, match="'a'"):
        sf.collect(TWO, pa.RecordBatchReader.from_batches(batch.schema, [batch]))


def test_columns_with_the_same_name_in_a_reader_are_named():
    batch = pa.record_batch([pa.array(["x"]), pa.array(["y"]), pa.array(["u"])], names=["a", "a", "b"])
    with pytest.raises(DataError, match="'a' occurs more than once"):
        sf.collect(TWO, pa.RecordBatchReader.from_batches(batch.schema, [batch]))


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_lazy_frames_are_those_of_frames(kind):
    dtype = pl.Categorical() if kind == "Categorical" else pl.Enum(["z", "y", "x", "never"])
    frame = pl.DataFrame({"a": pl.Series(["y", "x", "y"], dtype=dtype), "b": [True, False, True]})
    same_bits(sf.collect(TWO, frame.lazy()), sf.collect(TWO, frame))


def test_what_goes_wrong_in_a_lazy_frame_is_an_error_of_ours(tmp_path):
    path = parquet_of(100)(TABLE, tmp_path)
    raw = bytearray(path.read_bytes())
    lazy = pl.scan_parquet(path)
    lazy.collect_schema()
    raw[100:400] = bytes(300)
    path.write_bytes(raw)
    with pytest.raises(SufficeError):
        sf.collect(DAG, lazy)


def test_a_lazy_frame_whose_file_is_absent_is_an_error_of_ours(tmp_path):
    with pytest.raises(SufficeError, match=r"absent\.parquet"):
        sf.collect(DAG, pl.scan_parquet(tmp_path / "absent.parquet"))


def test_a_relation_that_fails_while_it_is_read_is_an_error_of_ours():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().sql("SELECT 'x' AS a, CAST(v AS INTEGER) AS b FROM (VALUES ('1'), ('no')) t(v)")
    with pytest.raises(SufficeError):
        sf.collect(TWO, relation)


def test_what_is_wrong_in_a_relation_is_shown_by_a_row(tmp_path):
    table, _ = with_gaps()
    with pytest.raises(DataError, match=r"Column 'a' lacks \d+ values .*such as in a row of b=.*missing='drop'"):
        sf.collect(DAG, relation_of(table, tmp_path))
    with pytest.raises(DataError, match=r"Column 'a': state 'aa' is not one of"):
        sf.collect(DAG, relation_of(TABLE, tmp_path), schema={"a": ["x", "y", "zz", "ü,\"'\n"]})
    table = TABLE.set_column(3, "w", pa.array([1.5] * 1800 + [-1.0] * 200))
    with pytest.raises(DataError, match=r"Column 'w' is to hold weights, but in 200 rows .*in a row of a='"):
        sf.collect(sf.DAG("a -> b"), relation_of(table, tmp_path), weights="w")


def test_only_aggregates_of_a_relation_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "open_table", lambda data: pytest.fail("rows were streamed"))
    same_bits(sf.collect(DAG, relation_of(TABLE, tmp_path)), sf.collect(DAG, TABLE))


def test_frames_of_narwhals_are_read_as_what_they_wrap(tmp_path):
    nw = pytest.importorskip("narwhals")
    for own in (pl.from_arrow(TABLE), pl.from_arrow(TABLE).lazy(), TABLE, relation_of(TABLE, tmp_path)):
        same_bits(sf.collect(DAG, nw.from_native(own)), sf.collect(DAG, TABLE))


def test_relations_with_quotes_in_their_names_and_levels_are_read():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TYPE level AS ENUM ('high', 'low', 'never')")
    query = """SELECT v::level AS "a ""b""\", v AS "c.d" FROM (VALUES ('low'), ('high')) t(v)"""
    relation = connection.sql(query)
    found = sf.collect(sf.DAG([('a "b"', "c.d")]), relation)
    assert found.schema['a "b"'].states == ("high", "low", "never")
    assert found[sf.Count(('a "b"', "c.d"))].table().tolist() == [[1, 0], [0, 1], [0, 0]]


def test_batches_of_many_columns_have_fewer_rows(tmp_path, monkeypatch):
    table = pa.table({f"x{i}": ["u", "v", "u", "w"] * 50 for i in range(40)})
    pq.write_table(table, tmp_path / "wide.parquet")
    sizes = []
    reading = parquet.batches_of

    def seen(*arguments):
        for batch in reading(*arguments):
            sizes.append(batch.n_rows)
            yield batch

    monkeypatch.setattr(parquet, "batches_of", seen)
    monkeypatch.setattr(parquet, "BATCH_VALUES", 800)
    monkeypatch.setattr(parquet, "LEAST_ROWS", 7)
    dag = sf.DAG({f"x{i}": [f"x{i - 1}"] if i else [] for i in range(40)})
    same_bits(sf.collect(dag, tmp_path / "wide.parquet"), sf.collect(dag, table))
    assert sizes == [20] * 10
    sizes.clear()
    sf.collect(sf.DAG("x0 -> x1"), tmp_path / "wide.parquet")
    assert sizes == [200]


def test_a_dataset_of_csv_files_is_read(tmp_path):
    write_csv(TABLE, tmp_path / "t.csv")
    options = ds.CsvFileFormat(parse_options=pa.csv.ParseOptions(newlines_in_values=True))
    found = sf.collect(DAG, ds.dataset(tmp_path / "t.csv", format=options))
    same_bits(found, sf.collect(DAG, TABLE))


# Memory, progress, interruption -------------------------------------------------------------------------------


class Recorder:
    """A display that keeps what it is told."""

    def __init__(self, fail_at=None):
        self.total, self.done, self.ended, self.fail_at = "not begun", [], 0, fail_at

    def begin(self, label, total, unit):
        self.label, self.total, self.unit = label, total, unit

    def update(self, done, info):
        self.done.append(done)
        if self.fail_at is not None and len(self.done) > self.fail_at:
            raise KeyboardInterrupt

    def end(self):
        self.ended += 1


def test_a_long_stream_is_never_held_as_a_whole():
    n_batches, n_rows = 300, 5000
    held, made, display = [], [], Recorder()
    schema = pa.schema({"a": pa.string(), "b": pa.string()})

    def batches_made():
        for number in range(n_batches):
            held.append(pa.total_allocated_bytes())
            made.append((number, len(display.done)))
            values = pa.array([f"state {row % 7}" for row in range(n_rows)])
            yield pa.record_batch([values, values], schema=schema)

    one = pa.array([f"state {row % 7}" for row in range(n_rows)]).nbytes
    before = pa.total_allocated_bytes()
    found = sf.collect(TWO, pa.RecordBatchReader.from_batches(schema, batches_made()), progress=display)
    assert found.n_read == n_batches * n_rows
    assert max(held) - before < 10 * one
    assert all(number - reported <= 3 for number, reported in made)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("shape", NUMBERED)
def test_a_display_hears_of_every_row(tmp_path, shape):
    table, _ = with_gaps()
    display = Recorder()
    sf.collect(DAG, SHAPES[shape](table, tmp_path), missing="drop", progress=display)
    assert display.done == sorted(display.done)
    assert display.done[-1] == 2000
    assert display.total in (None, 2000)
    assert (display.unit, display.ended) == ("rows", 1)
    assert display.total == 2000 or "Parquet" not in shape or "lazy" in shape


def test_a_display_hears_no_more_rows_than_it_was_promised():
    table, _ = with_gaps()
    display = Recorder()
    sf.collect(DAG, table, missing="drop", progress=display)
    assert display.done[-1] == display.total == 2000


@pytest.mark.parametrize("shape", SHAPES)
def test_an_interrupt_during_a_pass_goes_through_and_the_display_ends(tmp_path, shape, monkeypatch):
    for module, name, size in (
        (csv_file, "PIECE_BYTES", 500),
        (parquet, "BATCH_ROWS", 64),
        (batches, "BATCH_ROWS", 64),
    ):
        monkeypatch.setattr(module, name, size)
    display = Recorder(fail_at=1)
    with pytest.raises(KeyboardInterrupt):
        sf.fit(DAG, SHAPES[shape](TABLE, tmp_path), unseen_parents="nan", progress=display)
    assert display.ended == 1
    assert display.done[-1] < 2000


def test_an_interrupted_command_writes_nothing(tmp_path, monkeypatch):
    parts = write_parts(TABLE, tmp_path / "parts", ".parquet")
    monkeypatch.setattr(importlib.import_module("suffice.cli.fit"), "bar", lambda quiet: Recorder(fail_at=2))
    before = sorted(tmp_path.rglob("*"))
    arguments = ["--out", tmp_path / "model.json", "--out-fit", tmp_path / "fit.json"]
    result = run("fit", "a -> b <- c", parts, "--unseen-parents", "nan", *arguments)
    assert result.exit_code == 130
    assert "nothing was written" in result.stderr
    assert result.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before
    monkeypatch.undo()
    result = run("fit", "a -> b <- c", parts, "--unseen-parents", "nan", *arguments)
    assert result.exit_code == 0
    assert (tmp_path / "model.json").exists()


@pytest.mark.parametrize("piece", [24, 1000])
def test_every_piece_of_a_file_is_encoded_once(tmp_path, monkeypatch, piece):
    encoded, encode = [], ColumnEncoder.encode

    def counted(encoder, raw, first_row=0):
        encoded.append((encoder.name, first_row))
        return encode(encoder, raw, first_row)

    monkeypatch.setattr(ColumnEncoder, "encode", counted)
    path = pieces_of(tmp_path, monkeypatch, "a,b\n" + "x,u\ny,v\n" * 30, piece)
    source = BlockSource(open_table(path, ("a", "b")))
    assert list(source.schema) == ["a", "b"]
    assert source.gather([PAIR])[PAIR].total == 60
    rows = {first_row for _, first_row in encoded}
    assert (len(rows) > 1) == (piece < 1000)
    assert len(encoded) == len(set(encoded)) == 2 * len(rows)
