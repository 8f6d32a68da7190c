"""CSV files: text as written, typed afterwards, and refused with the row when a row is wrong."""

from __future__ import annotations

import csv
import gzip
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.data import table as tables
from suffice.data.readers import csv_file
from suffice.errors import DataError, FileAccessError, SchemaError


def open_table(data, columns, **options):
    """Open a file and read all of it, as codes of the final states."""
    opened = tables.open_table(data, columns, **options)
    blocks = list(opened.blocks())
    settled = opened.settled()
    schema, remarks = settled.schema, settled.remarks
    again = list(opened.with_schema(schema).blocks())
    n_dropped = sum(block.n_dropped for block in blocks)
    n_rows = sum(block.n_rows for block in blocks)
    return SimpleNamespace(
        schema=schema,
        remarks=remarks,
        columns={name: np.concatenate([block.columns[name] for block in again]) for name in columns},
        n_rows=n_rows,
        n_dropped=n_dropped,
        n_read=n_rows + n_dropped,
        description=opened.description,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("csv")


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a file and opens some of its columns."""

    def read(content, columns, name="table.csv", **options):
        settings_of_file = {key: options.pop(key) for key in ("separator", "na_values") if key in options}
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return open_table(sf.CSV(path, **settings_of_file) if settings_of_file else path, columns, **options)

    return read


def labels_of(table, name):
    states = table.schema[name].states
    return [states[code] for code in table.columns[name]]


# Whatever is written is read ----------------------------------------------------------------------------------

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
fields = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6).filter(
    lambda text: text != "?"
)


@given(st.data())
def test_every_field_comes_back_as_written(folder, data):
    header = data.draw(st.lists(names, unique=True, min_size=1, max_size=3))
    rows = data.draw(st.lists(st.tuples(*[fields] * len(header)), min_size=1, max_size=4))
    separator = data.draw(st.sampled_from(",;\t|"))
    path = folder / "property.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows([header, *rows])
    declared = {name: sorted({row[j] for row in rows}) for j, name in enumerate(header)}
    table = open_table(sf.CSV(path, separator=separator), header, schema=declared)
    assert [labels_of(table, name) for name in header] == [list(column) for column in zip(*rows, strict=True)]


@given(st.lists(st.integers(-(10**17), 10**17), min_size=1, max_size=20))
def test_whole_numbers_are_integers(folder, values):
    path = folder / "integers.csv"
    path.write_text("x\n" + "".join(f"{value}\n" for value in values))
    table = open_table(path, ["x"])
    assert labels_of(table, "x") == values
    assert {type(state) for state in table.schema["x"].states} == {int}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20).filter(bool))
def test_floats_are_continuous_and_exact(folder, values):
    path = folder / "floats.csv"
    path.write_text("x\n" + "".join(f"{value!r}\n" for value in values))
    table = open_table(path, ["x"])
    assert table.schema["x"].states is None
    assert table.columns["x"].tolist() == values


@given(st.lists(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=3), min_size=1, max_size=5))
def test_every_column_of_text_can_be_opened_without_a_declaration(folder, values):
    path = folder / "undeclared.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["x"], *([value] for value in values)])
    table = open_table(path, ["x"], missing="drop")
    assert table.n_read == len(values)
    assert table.n_rows == sum(value != "?" for value in values)


# Types --------------------------------------------------------------------------------------------------------


def test_codes_with_leading_zeros_stay_text(read):
    table = read("x,y\n007,a\n010,b\n", ["x"])
    assert table.schema["x"].states == ("007", "010")


def test_codes_with_leading_zeros_stay_text_when_declared_categorical(read):
    table = read("x,y\n007,a\n010,b\n", ["x"], schema={"x": sf.categorical()})
    assert table.schema["x"].states == ("007", "010")


def test_one_code_with_leading_zeros_makes_a_column_text(read):
    assert read("x\n7\n007\n", ["x"]).schema["x"].states == ("007", "7")


@pytest.mark.parametrize("spelling", [("FALSE", "TRUE"), ("False", "True"), ("false", "true")])
def test_truth_values_stay_as_written(read, spelling):
    table = read("x\n{1}\n{0}\n{1}\n".format(*spelling), ["x"])
    assert table.schema["x"].states == spelling
    assert not table.schema["x"].declared


@pytest.mark.parametrize("spelling", [("FALSE", "TRUE"), ("False", "True"), ("false", "true")])
def test_truth_values_as_written_match_declared_bools(read, spelling):
    table = read("x\n{1}\n{0}\n{1}\n".format(*spelling), ["x"], schema={"x": [False, True]})
    assert table.columns["x"].tolist() == [1, 0, 1]


def test_whole_numbers_with_gaps_are_discrete(read):
    assert read("x,y\n1,a\n?,b\n3,c\n", ["x"], missing="drop").schema["x"].states == (1, 3)


def test_whole_numbers_written_as_floats_with_gaps_are_refused_unless_declared(read):
    text = "x,y\n1.0,a\n,b\n3.0,c\n"
    with pytest.raises(SchemaError, match="'x' holds whole numbers as floats, with values missing"):
        read(text, ["x"], missing="drop")
    assert read(text, ["x"], missing="drop", schema={"x": sf.categorical()}).schema["x"].states == (1, 3)
    assert read(text, ["x"], missing="drop", schema={"x": sf.continuous()}).columns["x"].tolist() == [1.0, 3.0]


def test_one_number_written_in_two_ways_is_one_state(read):
    table = read("x,y\n1,a\n1.0,b\n2,c\n,d\n", ["x"], missing="drop", schema={"x": sf.categorical()})
    assert table.schema["x"].states == (1, 2)
    assert table.columns["x"].tolist() == [0, 0, 1]


def test_file_can_be_read_again_with_the_schema_it_led_to(read):
    text = "x,y\n1,a\n,b\n3,c\n"
    first = read(text, ["x"], missing="drop")
    again = read(text, ["x"], missing="drop", schema=first.schema)
    assert np.array_equal(again.columns["x"], first.columns["x"])


def test_more_than_twenty_whole_numbers_are_an_error(read):
    with pytest.raises(SchemaError, match="21 distinct"):
        read("x\n" + "".join(f"{i}\n" for i in range(21)), ["x"])


def test_blanks_around_numbers_are_no_crash(read):
    table = read("x,y\n1, 1\n2, 2\n", ["y"], schema={"y": sf.continuous()})
    assert table.columns["y"].tolist() == [1.0, 2.0]


def test_blanks_around_whole_numbers_are_read_somehow(read):
    table = read("x,y\n1, 1\n2, 2\n", ["y"])
    assert table.n_rows == 2
    assert len(set(table.columns["y"].tolist())) == 2


@pytest.mark.parametrize("values", [("١", "٢"), ("１.5", "２.5"), (" 1.5", " 2.5")])
def test_what_only_python_takes_for_a_number_is_no_crash(read, values):
    table = read("x\n{}\n{}\n".format(*values), ["x"])
    assert table.n_rows == 2


@pytest.mark.parametrize("value", ["1_000", "0x10", "1,5", "12a"])
def test_what_is_no_number_makes_a_column_text(read, value):
    assert value in read(f'x\n"{value}"\n1.5\n', ["x"]).schema["x"].states


def test_text_in_a_continuous_column_names_the_row(read):
    with pytest.raises(DataError, match="'x', row 2: 'abc' is not a number"):
        read("x\n1\nabc\n", ["x"], schema={"x": sf.continuous()})


# Pieces -------------------------------------------------------------------------------------------------------

ROWS = [(["u", "v", "w"][i % 3], i % 4, ["no", "yes"][i % 2]) for i in range(60)] + [("late", 9, "yes")]
DAG = sf.DAG("a -> b <- c")


@pytest.mark.parametrize("piece", [16, 17, 50, 200, 10_000])
def test_statistics_of_a_file_do_not_depend_on_how_it_is_cut_into_pieces(tmp_path, monkeypatch, piece):
    path = tmp_path / "long.csv"
    path.write_text("a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS))
    monkeypatch.setattr(csv_file, "PIECE_BYTES", piece)
    streamed = sf.collect(DAG, path)
    whole = sf.collect(DAG, {"a": [r[0] for r in ROWS], "b": [r[1] for r in ROWS], "c": [r[2] for r in ROWS]})
    assert streamed.schema == whole.schema
    assert (streamed.weight, streamed.n_read, streamed.remarks) == (whole.weight, whole.n_read, whole.remarks)
    for need in whole:
        assert np.array_equal(streamed[need].values, whole[need].values)
        assert streamed[need].values.dtype == whole[need].values.dtype


@pytest.mark.parametrize("late", ["x", "007", "1.5", "TRUE"])
def test_later_piece_may_turn_whole_numbers_into_text(tmp_path, monkeypatch, late):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,u\n2,v\n" * 20 + f"{late},u\n")
    monkeypatch.setattr(csv_file, "PIECE_BYTES", 24)
    in_pieces = sf.collect(sf.DAG("a"), path, schema={"a": sf.categorical()})
    monkeypatch.undo()
    at_once = sf.collect(sf.DAG("a"), path, schema={"a": sf.categorical()})
    assert in_pieces.schema == at_once.schema
    assert in_pieces[sf.Count(("a",))].values.tolist() == at_once[sf.Count(("a",))].values.tolist()
    assert in_pieces.weight == 41


@pytest.mark.parametrize("piece", [24, 10_000])
def test_errors_name_the_row_of_the_file_not_of_the_piece(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(csv_file, "PIECE_BYTES", piece)
    path = tmp_path / "long.csv"
    path.write_text("a,w\n" + "u,1\n" * 50 + ",1\n")
    with pytest.raises(DataError, match="Column 'a', row 51: the value is missing"):
        sf.collect(sf.DAG("a"), path)
    path.write_text("a,w\n" + "u,1\n" * 50 + "z,1\n")
    with pytest.raises(DataError, match="Column 'a', row 51: state 'z'"):
        sf.collect(sf.DAG("a"), path, schema={"a": ["u"]})
    path.write_text("a,w\n" + "u,1\n" * 50 + "u,-1\n")
    with pytest.raises(DataError, match="column 'w', row 51"):
        sf.collect(sf.DAG("a"), path, weights="w")
    path.write_text("a,w\n" + "u,1\n" * 50 + "u,1,1\n")
    with pytest.raises(DataError, match="row 51: expected 2 fields"):
        sf.collect(sf.DAG("a"), path)


@pytest.mark.parametrize("piece", [24, 10_000])
def test_weights_of_a_file_are_the_same_bits_in_pieces(tmp_path, monkeypatch, piece):
    path = tmp_path / "weights.csv"
    path.write_text("a,w\n" + "u,1\nv,0.5\n" * 20)
    monkeypatch.setattr(csv_file, "PIECE_BYTES", piece)
    statistics = sf.collect(sf.DAG("a"), path, weights="w")
    reference = sf.collect(sf.DAG("a"), {"a": ["u", "v"] * 20, "w": [1, 0.5] * 20}, weights="w")
    assert statistics[sf.Count(("a",))].values.tolist() == [20, 10]
    assert statistics[sf.Count(("a",))].values.dtype == reference[sf.Count(("a",))].values.dtype


# Missing values -----------------------------------------------------------------------------------------------


def test_empty_fields_and_question_marks_are_missing(read):
    table = read('x,y\na,1\n,2\n?,3\n"",4\nb,5\n', ["x"], missing="drop")
    assert labels_of(table, "x") == ["a", "b"]
    assert (table.n_read, table.n_dropped) == (5, 3)


def test_missing_field_is_an_error_with_its_row(read):
    with pytest.raises(DataError, match="Column 'x', row 2: the value is missing"):
        read("x,y\na,1\n?,2\n", ["x"])


def test_na_values_replace_the_usual_marks(read):
    table = read("x,y\na,1\nNA,2\n?,3\n", ["x"], na_values=["NA"], missing="drop")
    assert labels_of(table, "x") == ["a", "?"]


def test_without_na_values_every_field_is_a_value(read):
    assert read("x,y\n,1\n?,2\n", ["x"], na_values=[]).schema["x"].states == ("", "?")


def test_na_values_given_as_one_text_are_refused():
    with pytest.raises(DataError, match="'na_values' argument must be a list"):
        sf.CSV("table.csv", na_values="NA")


def test_state_spelled_like_a_missing_value_is_remarked(read):
    table = read("x\nNA\nyes\n", ["x"])
    assert table.schema["x"].states == ("NA", "yes")
    assert any("na_values" in remark for remark in table.remarks)


# The shape of the file ----------------------------------------------------------------------------------------


def test_quoted_fields_may_hold_separators_quotes_and_line_breaks(read):
    table = read('x,"y, z"\n"one\ntwo","say ""hi"", twice"\nthree,four\n', ["x", "y, z"])
    assert labels_of(table, "x") == ["one\ntwo", "three"]
    assert labels_of(table, "y, z") == ['say "hi", twice', "four"]


def test_header_may_hold_line_breaks(read):
    assert labels_of(read('"a\nb",c\nx,y\nu,v\n', ["a\nb", "c"]), "a\nb") == ["x", "u"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(read, end):
    table = read(end.join(["x,y", "a,b", "c,d", ""]), ["x", "y"])
    assert (labels_of(table, "x"), labels_of(table, "y")) == (["a", "c"], ["b", "d"])


def test_last_line_needs_no_end(read):
    assert labels_of(read("x,y\na,b\nc,d", ["y"]), "y") == ["b", "d"]


def test_empty_lines_between_rows_are_skipped(read):
    assert labels_of(read("x,y\n\na,b\n\n\nc,d\n\n", ["y"]), "y") == ["b", "d"]


def test_empty_line_in_a_file_of_one_column_is_a_missing_value(read):
    table = read("x\na\n\nb\n", ["x"], missing="drop")
    assert labels_of(table, "x") == ["a", "b"]
    assert table.n_dropped == 1


def test_byte_order_mark_is_no_part_of_the_first_name(read):
    assert labels_of(read(b"\xef\xbb\xbfx,y\na,b\n", ["x"]), "x") == ["a"]
    assert labels_of(read(b'\xef\xbb\xbf"x, z",y\na,b\n', ["x, z"]), "x, z") == ["a"]


def test_names_and_values_in_any_script(read):
    table = read("größe,😀\nñandú,日本\n", ["größe", "😀"])
    assert labels_of(table, "größe") == ["ñandú"]
    assert labels_of(table, "😀") == ["日本"]


def test_null_character_in_the_header_is_refused_in_words(read):
    with pytest.raises(DataError, match="NUL character in its first line"):
        read(b"a\0,b\nx,y\nu,v\n", ["b"])


def test_compressed_files_are_read(read):
    content = gzip.compress(b"x,y\na,b\n")
    assert labels_of(read(content, ["x"], name="table.csv.gz"), "x") == ["a"]
    assert labels_of(read(content, ["x"], name="named_wrongly.csv"), "x") == ["a"]


def test_tabs_separate_a_tsv(read):
    assert labels_of(read("x\ty\na,1\tb\n", ["x"], name="table.tsv"), "x") == ["a,1"]
    assert labels_of(read(gzip.compress(b"x\ty\na,1\tb\n"), ["x"], name="t.tsv.gz"), "x") == ["a,1"]


def test_separator_can_be_named(read):
    assert labels_of(read("x;y\na,1;b\n", ["x"], separator=";"), "x") == ["a,1"]


@pytest.mark.parametrize("separator", ["", ";;", "ab"])
def test_separator_must_be_one_character(separator):
    with pytest.raises(DataError, match="'separator' argument must be one ASCII character"):
        sf.CSV("table.csv", separator=separator)


def test_separator_beyond_ascii_is_refused_in_words(read):
    with pytest.raises(DataError, match="separator"):
        read("x；y\na；b\n", ["x"], separator="；")


def test_path_may_be_text_or_an_object(tmp_path):
    path = tmp_path / "TABLE.CSV"
    path.write_text("x\na\n")
    assert open_table(str(path), ["x"]).n_rows == open_table(path, ["x"]).n_rows == 1
    assert "TABLE.CSV" in open_table(path, ["x"]).description


# Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "row", "found"),
    [
        ("x,y\na,b\nc\n", 2, 1),
        ("x,y\na,b\nc,d\ne,f,g\n", 3, 3),
        ('x,y\n"a\na",b\nc,d\ne,f,g\n', 3, 3),
        ("x,y\na,b,c\n", 1, 3),
    ],
    ids=["too few", "too many", "after a field of two lines", "first row"],
)
def test_row_with_another_number_of_fields_is_named(read, text, row, found):
    with pytest.raises(DataError, match=f"row {row}: expected 2 fields, found {found}.*separator"):
        read(text, ["x"])


@settings(max_examples=5)
@given(st.integers(0, 100_000))
def test_row_far_down_is_named_too(folder, n_before):
    path = folder / "long.csv"
    path.write_text("x,y\n" + "a,b\n" * n_before + "a,b,c\n")
    with pytest.raises(DataError, match=f"row {n_before + 1}: expected 2 fields, found 3"):
        open_table(path, ["x"])


@pytest.mark.parametrize("content", ["", "\n", "\ufeff"])
def test_empty_file_is_refused(read, content):
    with pytest.raises(DataError, match="is empty"):
        read(content, ["x"])


@pytest.mark.parametrize("content", ["x,y\n", "x,y\r\n", "x,y", "x\n", "x"])
def test_file_of_a_header_alone_has_no_rows(read, content):
    table = read(content, ["x"], schema={"x": ["a", "b"]})
    assert table.n_rows == 0
    assert table.schema["x"].states == ("a", "b")


@pytest.mark.parametrize(
    "content",
    [b"x,y\na,\xff\n", b"x,y,\xe9\na,b,c\n", b"x,y\n" + b"a,b\n" * 5000 + b"a,\xe9\n", "x,y\na,b\n".encode("utf-16")],
    ids=["first row", "header", "far down", "utf-16"],
)
def test_other_encodings_are_refused_in_words(read, content):
    with pytest.raises(DataError, match=r"(?i)utf-?8"):
        read(content, ["x", "y"])


def test_repeated_name_in_the_header_is_refused(read):
    with pytest.raises(DataError, match="column 'x' occurs more than once"):
        read("x,y,x\na,b,c\n", ["y"])


def test_quote_left_open_is_refused(read):
    with pytest.raises(DataError):
        read('x,y\n"a,b\nc,d\n', ["x"])


def test_header_of_one_very_long_name_is_refused_in_words(read):
    with pytest.raises(DataError, match="first line cannot be read"):
        read("x," + "y" * 200_000 + "\na,b\n", ["x"])


def test_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(FileAccessError, match=r"absent\.csv.*No such file"):
        open_table(tmp_path / "absent.csv", ["x"])


def test_folder_is_no_file(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileAccessError, match=r"folder\.csv"):
        open_table(tmp_path / "folder.csv", ["x"])


def test_damage_anywhere_in_a_compressed_file_is_an_error_of_ours_or_harmless(tmp_path):
    rows = "x,y\n" + "".join(f"a{i % 7},b\n" for i in range(40))
    whole = gzip.compress(rows.encode(), mtime=0)
    path = tmp_path / "damaged.csv.gz"
    path.write_bytes(whole)
    sound = open_table(path, ["x"]).columns["x"].tolist()
    assert len(sound) == 40
    for position in range(2, len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            found = open_table(path, ["x"]).columns["x"].tolist()
        except DataError:
            continue
        assert found == sound, f"byte {position} changed the data silently"


def test_truncated_compressed_file_is_refused(read):
    content = gzip.compress(b"x,y\n" + b"a,b\n" * 100)
    assert len(content) > 2
    for length in range(2, len(content)):
        with pytest.raises(DataError, match="not complete"):
            read(content[:length], ["x"], name="cut.csv.gz")
