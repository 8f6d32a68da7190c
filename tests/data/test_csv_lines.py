"""CSV files with lines before the table, without names, and with blanks around the fields."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import lzma
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import suffice as sf
from suffice.data import table as tables
from suffice.data.readers import csv_file, loose_lines
from suffice.data.readers.loose_lines import put_right
from suffice.errors import DataError

BLANKS = " \t"


def rows_of(source: Any) -> list[list[str | None]]:
    """Return all fields of a file as they are handed on, None where missing."""
    stream = csv_file.open_table(source)
    found: list[list[str | None]] = []
    for batch in stream.batches(stream.names):
        columns = [batch.column(name).column.to_pylist() for name in stream.names]
        found += [list(row) for row in zip(*columns, strict=True)]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


# Against Python's csv module ----------------------------------------------------------------------------------

texts = st.text(st.sampled_from("ab, \t;\"'\r\né日😀"), max_size=6)
plain = st.text(st.sampled_from("ab \t'é日?😀."), max_size=6)
pads = st.text(st.sampled_from(BLANKS), max_size=3)
ends = st.sampled_from(["\n", "\r\n", "\r"])
lines = st.text(st.sampled_from('a,;" \té|'), max_size=8)


def quoted(text: str) -> str:
    """Write a field in quotes, by the csv module."""
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="").writerow([text])
    return written.getvalue()


@st.composite
def fields(draw: st.DrawFn, separator: str) -> tuple[str, str]:
    """Return a field as it is written, and as it is read when it is trimmed."""
    pad = [draw(pads).replace(separator, "") for _ in range(2)]
    if draw(st.booleans()):
        inner = draw(texts)
        return pad[0] + quoted(inner) + pad[1], inner
    inner = draw(plain).replace(separator, "")
    return pad[0] + inner + pad[1], inner.strip(BLANKS)


@given(st.data(), st.sampled_from(",;\t|"), ends, st.integers(1, 40))
def test_blanks_outside_quotes_are_trimmed_and_none_inside(folder, data, separator, end, piece):
    drawn = data.draw(st.lists(st.tuples(*[fields(separator)] * 3), min_size=1, max_size=6))
    file = folder / "trimmed.csv"
    file.write_bytes(end.join(separator.join(written for written, _ in row) for row in drawn).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loose_lines, "PIECE_CHARACTERS", piece)
        found = rows_of(sf.CSV(file, separator, na_values=[], names=["a", "b", "c"], trim=True))
    assert found == [[inner for _, inner in row] for row in drawn]


@given(st.text(st.sampled_from('ab,; \t"\r\né'), max_size=40), st.sampled_from(",;\t"), st.integers(1, 12))
@example('a, "b\r', ",", 3)
@example('"a"",b\n', ",", 6)
@example(' a\t ;\r\n "x ""; y" ;"', ";", 1)
def test_any_text_is_trimmed_alike_whatever_the_pieces(text, separator, piece):
    whole = put_right(io.BytesIO(text.encode()), "text", "utf-8", separator, trim=True).read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loose_lines, "PIECE_CHARACTERS", piece)
        in_pieces = put_right(io.BytesIO(text.encode()), "text", "utf-8", separator, trim=True).read()
    assert in_pieces == whole
    if '"' not in text:
        parts = re.split(f"([{separator}\r\n])", text)
        assert whole.decode() == "".join(part if part in (separator, *"\r\n") else part.strip(BLANKS) for part in parts)


@given(
    st.lists(st.tuples(lines, ends), max_size=5),
    st.lists(st.tuples(plain.filter(bool), plain.filter(bool)), min_size=1, max_size=4),
    ends,
)
def test_skipped_lines_are_those_that_python_reads(folder, junk, rows, end):
    file = folder / "skipped.csv"
    text = "".join(map("".join, junk)) + end.join(",".join(row) for row in [("x", "y"), *rows])
    file.write_bytes(text.encode())
    with open(file, encoding="utf-8", newline="") as reading:
        n_lines = sum(1 for _ in io.StringIO("".join(map("".join, junk)), newline=""))
        _, *expected = csv.reader(itertools.islice(reading, n_lines, None))
    found = rows_of(sf.CSV(file, skip=n_lines, na_values=[]))
    assert found == expected == [list(row) for row in rows]


# What is trimmed ----------------------------------------------------------------------------------------------


def test_trimmed_fields_are_missing_and_typed_as_if_written_so(path):
    path.write_text("name , sex\t, age\n Ann, ?, 40\nBob ,m ,\t7\n")
    opened = tables.open_table(sf.CSV(path, trim=True), ["sex", "age"], schema={"age": sf.continuous()}, missing="drop")
    (block,) = opened.blocks()
    assert block.columns["age"].tolist() == [7.0]
    assert block.n_dropped == 1
    assert opened.settled().schema["sex"].states == ("m",)


def test_whole_numbers_after_blanks_are_whole_numbers(path):
    path.write_text("x, y\na, 1\nb, 2\n")
    opened = tables.open_table(sf.CSV(path, trim=True), ["y"])
    list(opened.blocks())
    assert opened.settled().schema["y"].states == (1, 2)


def test_without_trim_blanks_are_kept(path):
    path.write_text("x, y\na, ?\n")
    assert csv_file.open_table(path).names == ("x", " y")
    assert rows_of(path) == [["a", " ?"]]


def test_names_in_quotes_keep_their_blanks(path):
    path.write_text('" x" , y \na,b\n')
    assert csv_file.open_table(sf.CSV(path, trim=True)).names == (" x", "y")


def test_lines_of_blanks_are_empty_lines(path):
    path.write_text("x,y\n  \na, b\n\t\n \n")
    assert rows_of(sf.CSV(path, trim=True)) == [["a", "b"]]


def test_line_of_blanks_in_a_file_of_one_column_is_a_missing_value(path):
    path.write_text("x\na\n  \nb\n")
    assert rows_of(sf.CSV(path, trim=True)) == [["a"], [None], ["b"]]


def test_long_runs_of_blanks_and_long_fields_are_trimmed(path):
    inner = "a" + " " * 5000 + "b"
    path.write_text(f'x,y\n{" " * 5000}{inner}{chr(9) * 5000},"{" " * 5000}"\n')
    assert rows_of(sf.CSV(path, trim=True)) == [[inner, " " * 5000]]


def test_tab_that_separates_is_no_blank(tmp_path):
    file = tmp_path / "t.tsv"
    file.write_text("x\ty\n a \t\n\t b\n")
    assert rows_of(sf.CSV(file, trim=True)) == [["a", None], [None, "b"]]


def test_quote_left_open_is_refused_also_when_trimmed(path):
    path.write_text('x,y\n"a,b\nc,d\n')
    with pytest.raises(DataError):
        rows_of(sf.CSV(path, trim=True))


# What is skipped ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_compressed_files_have_lines_too(path, pack, end):
    path.write_bytes(pack(end.join(['a "title', "", "x, y", "1 ,2", "3, ?", "", ""]).encode()))
    assert rows_of(sf.CSV(path, skip=2, trim=True)) == [["1", "2"], ["3", None]]


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig", "latin-1", "utf-16", "utf-32-be"])
def test_other_encodings_have_lines_too(path, encoding):
    path.write_bytes("Größen\nx, ä\n1 ,é\n".encode(encoding))
    source = sf.CSV(path, skip=1, trim=True, encoding=encoding)
    assert csv_file.open_table(source).names == ("x", "ä")
    assert rows_of(source) == [["1", "é"]]


@pytest.mark.parametrize("options", [{"trim": True}, {"skip": 1}])
def test_byte_order_mark_is_no_part_of_a_name(path, options):
    path.write_bytes(b"\xef\xbb\xbf" + b"title\n" * options.get("skip", 0) + b"x,y\na,b\n")
    assert csv_file.open_table(sf.CSV(path, **options)).names == ("x", "y")


def test_lines_are_skipped_in_each_file_of_a_glob(tmp_path):
    for number in range(3):
        (tmp_path / f"part{number}.csv").write_text(f"part {number}\n a{number}, b\n")
    source = sf.CSV(tmp_path / "part*.csv", names=["x", "y"], skip=1, trim=True)
    assert rows_of(source) == [["a0", "b"], ["a1", "b"], ["a2", "b"]]


def test_file_of_names_has_as_many_rows_as_lines(path):
    path.write_text("a,b\nc,d\n")
    assert rows_of(sf.CSV(path, names=["x", "y"])) == [["a", "b"], ["c", "d"]]
    assert rows_of(sf.CSV(path, names=["x", "y"], skip=1)) == [["c", "d"]]
    assert rows_of(sf.CSV(path, names=["x", "y"], skip=2)) == []


@pytest.mark.parametrize("skip", [np.int64(1), 1])
def test_skip_may_be_any_whole_number(skip):
    assert sf.CSV("t.csv", skip=skip).skip == 1


@pytest.mark.parametrize("skip", [-1, 1.0, True, "1", None])
def test_skip_must_be_a_whole_number(skip):
    with pytest.raises(sf.ArgumentError, match="'skip' argument must be a whole number, at least 0"):
        sf.CSV("t.csv", skip=skip)


@pytest.mark.parametrize("content", ["x,y\na,b", "x,y\na,b\n", "x,y\r\na,b\r\n"])
@pytest.mark.parametrize("names", [None, ["x", "y"]])
def test_more_lines_than_there_are_cannot_be_skipped(path, content, names):
    path.write_bytes(content.encode())
    with pytest.raises(DataError, match=r"table\.csv' has 2 lines, so skip=3 is more"):
        csv_file.open_table(sf.CSV(path, names=names, skip=3))


# Rows in errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [None, ["x", "y"]], ids=["header", "names"])
@pytest.mark.parametrize("skip", [0, 2])
@pytest.mark.parametrize("trim", [False, True])
@pytest.mark.parametrize("n_before", [0, 3, 5000])
def test_rows_are_counted_from_the_first_of_the_table(path, monkeypatch, names, skip, trim, n_before):
    monkeypatch.setattr(csv_file, "PIECE_BYTES", 4096)
    head = 'title, and "more\n' * skip + ("" if names else "x,y\n") + "a,b\n" * n_before
    source = sf.CSV(path, names=names, skip=skip, trim=trim)
    path.write_text(head + "a,b,c\n")
    with pytest.raises(DataError, match=f"row {n_before + 1}: expected 2 fields, found 3: 'a,b,c'"):
        rows_of(source)
    path.write_text(head + "?,b\n")
    with pytest.raises(DataError, match=f"Column 'x', row {n_before + 1}: the value is missing"):
        sf.collect(sf.DAG("x"), source)


def test_title_read_as_names_is_answered_by_skip(path):
    path.write_text("a title\nx,y\na,b\n")
    with pytest.raises(DataError, match=r"row 1: expected 1 fields.*its first line is no.*sf\.CSV\(path, skip=1\)"):
        rows_of(path)
    path.write_text("a title\nand more\nx,y\na,b\n")
    with pytest.raises(DataError, match=r"row 1: expected 1 fields.*If line 2 is no.*sf\.CSV\(path, skip=2\)"):
        rows_of(sf.CSV(path, skip=1))


def test_damage_after_the_skipped_lines_is_an_error_that_names_the_file(path):
    path.write_bytes(b"title\nx,y\n" + b"a,b\n" * 500_000 + b"\xff,b\n")
    with pytest.raises(DataError, match=r"table\.csv' is not text in utf-8"):
        rows_of(sf.CSV(path, skip=1, trim=True))
    path.write_bytes(gzip.compress(b"title\nx,y\n" + b"a,b\n" * 500_000)[:-9])
    with pytest.raises(DataError, match="not complete"):
        rows_of(sf.CSV(path, skip=1))


def test_name_given_twice_is_not_blamed_on_the_file(path):
    path.write_text("a,b\n")
    with pytest.raises(DataError, match="column 'x' occurs more than once in 'names'"):
        csv_file.open_table(sf.CSV(path, names=["x", "x"]))
