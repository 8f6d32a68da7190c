"""Parquet: types, levels and dictionaries as written; damaged files are refused by name, never misread by accident."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice as sf
from suffice.data.readers import parquet
from suffice.errors import DataError, FileAccessError, SufficeError

DAG = sf.DAG("a -> b")
PAIR = sf.Count(("a", "b"))


def same_bits(found, expected):
    assert found.schema == expected.schema
    for need in expected:
        assert found[need].values.dtype == expected[need].values.dtype
        assert np.array_equal(found[need].values, expected[need].values)
    assert (found.weight, found.n_read, found.n_dropped) == (expected.weight, expected.n_read, expected.n_dropped)


@pytest.fixture(params=[1, 2, 3, 100], ids=lambda n: f"batches of {n}")
def batch_rows(request, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_ROWS", request.param)
    return request.param


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a table and returns the path."""

    def write(columns, name="t.parquet", **options):
        table = pa.Table.from_pandas(columns) if isinstance(columns, pd.DataFrame) else columns
        pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), tmp_path / name, **options)
        return tmp_path / name

    return write


# Types --------------------------------------------------------------------------------------------------------

TYPES = {
    "text": pa.array(["y", "x", "y", "w", "x"]),
    "large text": pa.array(["y", "x", "y", "w", "x"], pa.large_string()),
    "whole-number text": pa.array(["10", "9", "10", "007", "9"]),
    "int8": pa.array([3, -1, 3, 2, -1], pa.int8()),
    "int64": pa.array([3, -1, 3, 2**60, -1], pa.int64()),
    "uint64": pa.array([3, 1, 3, 2**63 + 1, 1], pa.uint64()),
    "bool": pa.array([True, True, True, False, True]),
    "one bool": pa.array([True] * 5),
    "dictionary": pa.array(["y", "x", "y", "w", "x"]).dictionary_encode(),
    "text with gaps": pa.array([None, "x", "y", None, "w"]),
    "ints with gaps": pa.array([None, 2, 3, None, -7]),
    "bools with gaps": pa.array([None, True, None, None, False]),
    "all gaps": pa.nulls(5),
    "all gaps in text": pa.nulls(5, pa.string()),
    "all gaps in ints": pa.nulls(5, pa.int64()),
}


@pytest.mark.parametrize("values", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize("row_group_size", [1, 2, 100])
def test_types_are_those_of_the_table_in_memory(written, values, row_group_size):
    table = pa.table({"a": values, "b": ["u", "v", "v", "u", "v"]})
    path = written(table, row_group_size=row_group_size)
    same_bits(sf.collect(DAG, path, missing="drop"), sf.collect(DAG, table, missing="drop"))


@pytest.mark.usefixtures("batch_rows")
@pytest.mark.parametrize("name", [name for name in TYPES if name != "dictionary"])
def test_types_do_not_depend_on_the_size_of_batches(written, name):
    table = pa.table({"a": TYPES[name], "b": ["u", "v", "v", "u", "v"]})
    path = written(table, row_group_size=2)
    same_bits(sf.collect(DAG, path, missing="drop"), sf.collect(DAG, table, missing="drop"))


@pytest.mark.parametrize("options", [{"use_dictionary": False}, {"compression": "zstd"}, {"version": "1.0"}])
def test_how_a_file_is_encoded_changes_nothing(written, options):
    table = pa.table({"a": ["z", "x", "y", "x"] * 50, "b": [1, 2, 3, 2] * 50})
    same_bits(sf.collect(DAG, written(table, row_group_size=30, **options)), sf.collect(DAG, table))


def test_text_beyond_the_size_of_a_dictionary_page_is_read(written):
    generator = np.random.default_rng(0)
    states = [f"state {k:04d} {'x' * 40}" for k in range(500)]
    table = pa.table({"a": generator.choice(states, 3000), "b": ["u", "v", "v"] * 1000})
    path = written(table, row_group_size=1000, dictionary_pagesize_limit=2000)
    same_bits(sf.collect(DAG, path), sf.collect(DAG, table))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pa.array([{"p": 1}, {"p": 2}]), "struct"),
        (pa.array([["x"], ["y"]]), "list"),
        (pa.array([1, 2], pa.timestamp("us")), "timestamp"),
        (pa.array([1, 2], pa.date32()), "date32"),
        (pa.array([b"x", b"y"]), "binary"),
    ],
)
def test_types_that_are_neither_states_nor_numbers_are_named(written, values, words):
    path = written({"a": values, "b": ["u", "v"]})
    with pytest.raises(DataError, match=rf"Column 'a' has type {words}.*neither discrete nor numeric.*Convert"):
        sf.collect(DAG, path)
    assert sf.collect(sf.DAG("b"), path).n_read == 2  # as long as the structure does not name it, it may be there


def test_fractions_in_a_table_of_states_name_column_and_remedy(written):
    with pytest.raises(SufficeError, match=r"'a' is continuous.*sf\.categorical\(\)"):
        sf.collect(sf.DAG(DAG, kinds={"a": "tabular"}), written({"a": [0.5, 1.5], "b": ["u", "v"]}))


def test_fractions_can_be_declared_states(written, batch_rows):
    table = pa.table({"a": [0.5, 1.5, 0.5, 2.0], "b": ["u", "v", "v", "v"]})
    schema = {"a": sf.categorical()}
    same_bits(sf.collect(DAG, written(table), schema=schema), sf.collect(DAG, table, schema=schema))


def test_names_with_dots_are_names_and_not_paths(written):
    path = written({"a": ["x", "y"], "a.b": ["k", "l"], "b": ["u", "v"], "s": [{"a": 1}, {"a": 2}]})
    assert sf.collect(sf.DAG([("a", "a.b")]), path)[sf.Count(("a", "a.b"))].table().tolist() == [[1, 0], [0, 1]]


def test_columns_with_the_same_name_are_named(written):
    table = pa.table([pa.array(["x"]), pa.array(["y"]), pa.array(["u"])], names=["a", "a", "b"])
    with pytest.raises(DataError, match="'a' occurs more than once"):
        sf.collect(DAG, written(table))


# Levels and dictionaries --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("batch_rows")
@pytest.mark.parametrize("row_group_size", [1, 2, 100])
def test_levels_of_pandas_categoricals_are_kept_whole_and_in_order(written, row_group_size):
    frame = pd.DataFrame(
        {
            "a": pd.Categorical(["y", None, "x", "y", "y"], categories=["z", "y", "x", "never"]),
            "b": pd.Categorical(["lo", "hi", "hi", "lo", "hi"], categories=["lo", "hi"], ordered=True),
        }
    )
    found = sf.collect(DAG, written(frame, row_group_size=row_group_size), missing="drop")
    same_bits(found, sf.collect(DAG, frame, missing="drop"))
    assert found.schema["a"].states == ("z", "y", "x", "never")
    assert found.schema["a"].declared


def test_levels_that_begin_with_gaps_only_are_kept(written, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_ROWS", 2)
    frame = pd.DataFrame({"a": pd.Categorical([None, None, "x", "y"], categories=list("zyx")), "b": list("uvuv")})
    found = sf.collect(DAG, written(frame, row_group_size=2), missing="drop")
    same_bits(found, sf.collect(DAG, frame, missing="drop"))


def test_whole_numbers_as_categories_become_plain_whole_numbers_in_a_file(written, batch_rows):
    """Parquet does not keep a list of levels that are numbers; then nothing was declared, and states are sorted."""
    frame = pd.DataFrame({"a": pd.Categorical([3, 1, 3, 2], categories=[5, 3, 2, 1]), "b": list("uvuv")})
    found = sf.collect(DAG, written(frame, row_group_size=2))
    assert found.schema["a"].states == (1, 2, 3)
    assert found[PAIR].table().tolist() == [[0, 1], [0, 1], [2, 0]]


@pytest.mark.usefixtures("batch_rows")
def test_files_with_the_same_levels_have_them_declared(written, tmp_path):
    levels = ["z", "y", "x"]
    for number, values in enumerate([["y", "y"], ["x"], []]):
        frame = pd.DataFrame({"a": pd.Categorical(values, categories=levels), "b": ["u"] * len(values)})
        written(frame.astype({"b": "str"}), f"{number}.parquet")
    found = sf.collect(DAG, tmp_path)
    assert found.schema["a"] == sf.Variable("a", ("z", "y", "x"), True)
    assert found[PAIR].table().tolist() == [[0], [2], [1]]


@pytest.mark.usefixtures("batch_rows")
def test_files_with_different_levels_have_sorted_states(written, tmp_path):
    for number, levels in enumerate([["z", "y"], ["x", "z"], ["w"]]):
        frame = pd.DataFrame({"a": pd.Categorical(levels, categories=levels), "b": ["u"] * len(levels)})
        written(frame, f"{number}.parquet")
    found = sf.collect(DAG, tmp_path)
    assert found.schema["a"] == sf.Variable("a", ("w", "x", "y", "z"))
    assert found[PAIR].table().reshape(-1).tolist() == [1, 1, 1, 2]


@pytest.mark.usefixtures("batch_rows")
def test_dictionaries_that_change_between_row_groups_give_the_same_states(written):
    values = ["c", "b", "c", "a", "b", "a", "d", "d", "0"]
    table = pa.table({"a": values, "b": ["u", "v", "w"] * 3})
    same_bits(sf.collect(DAG, written(table, row_group_size=3)), sf.collect(DAG, table))


@pytest.mark.usefixtures("batch_rows")
def test_whole_numbers_in_one_file_and_whole_floats_in_another_are_the_same_states(written, tmp_path):
    written({"a": [1, 2], "b": ["u", "v"]}, "1.parquet")
    written({"a": [2.0, None], "b": ["u", "v"]}, "2.parquet")
    written({"a": pa.nulls(1), "b": ["u"]}, "3.parquet")
    found = sf.fit(DAG, tmp_path, missing="drop", certify="data")
    assert found.statistics.schema["a"].states == (1, 2)
    assert found.statistics[PAIR].table().tolist() == [[1, 0], [1, 1]]
    assert found.statistics.n_dropped == 2
    assert found.certificate.ok


def test_text_in_one_file_and_numbers_in_another_name_the_column(written, tmp_path):
    written({"a": [1, 2], "b": ["u", "v"]}, "1.parquet")
    written({"a": ["1", "x"], "b": ["u", "v"]}, "2.parquet")
    with pytest.raises(SufficeError, match=r"'a'"):
        sf.collect(DAG, tmp_path)


# Without rows -------------------------------------------------------------------------------------------------


def empty_file(path, row_groups):
    schema = pa.schema({"a": pa.string(), "b": pa.int64()})
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(row_groups):
            writer.write_table(pa.table({"a": [], "b": []}, schema=schema))
    assert pq.ParquetFile(path).metadata.num_rows == 0
    return path


@pytest.mark.parametrize("row_groups", [0, 1, 3])
def test_a_file_without_rows_has_statistics_of_nothing(tmp_path, row_groups):
    path = empty_file(tmp_path / "t.parquet", row_groups)
    found = sf.collect(DAG, path)
    assert (found.n_read, found.weight) == (0, 0.0)
    with pytest.raises(DataError, match="nothing to learn from: the table has 0 rows"):
        sf.fit(DAG, path)
    schema = {"a": ["x", "y"], "b": [1, 2]}
    assert sf.fit(DAG, path, prior=sf.BDeu(2), schema=schema).certificate.ok


@pytest.mark.parametrize("name", ["0.parquet", "2.parquet"])
@pytest.mark.parametrize("row_groups", [0, 1])
def test_files_without_rows_among_others_change_nothing(written, tmp_path, name, row_groups):
    path = written({"a": ["x", "y"], "b": [1, 2]}, "1.parquet")
    expected = sf.collect(DAG, path)
    empty_file(tmp_path / name, row_groups)
    same_bits(sf.collect(DAG, tmp_path), expected)


# Damage -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    return pa.table({"a": generator.choice(["x", "y", "zz"], 60), "b": generator.integers(0, 3, 60)})


@pytest.mark.parametrize("tenths", range(10))
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_a_file_that_is_cut_off_is_refused_by_name(written, table, tenths, compression):
    path = written(table, row_group_size=20, compression=compression)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) * tenths // 10])
    with pytest.raises(DataError, match=r"t\.parquet' is damaged or cut off.*copy it again"):
        sf.collect(DAG, path)


@pytest.mark.parametrize("missing", [1, 4, 8, 9, 100])
def test_a_file_that_lacks_its_last_bytes_is_refused_by_name(written, table, missing):
    path = written(table, row_group_size=20)
    path.write_bytes(path.read_bytes()[:-missing])
    with pytest.raises(DataError, match=r"t\.parquet' is damaged or cut off"):
        sf.collect(DAG, path)


def test_a_file_of_another_kind_is_refused_by_name(tmp_path):
    (tmp_path / "t.parquet").write_text("a,b\nx,u\n" * 100)
    with pytest.raises(DataError, match=r"t\.parquet' is damaged or cut off"):
        sf.collect(DAG, tmp_path / "t.parquet")


def test_a_damaged_file_among_others_is_refused_by_name(written, table, tmp_path):
    for name in "123":
        path = written(table, f"{name}.parquet", row_group_size=20, compression="snappy")
    raw = bytearray((tmp_path / "2.parquet").read_bytes())
    raw[4:200] = bytes(196)
    (tmp_path / "2.parquet").write_bytes(raw)
    assert path.exists()
    with pytest.raises(DataError, match=r"2\.parquet' is damaged or cut off"):
        sf.collect(DAG, tmp_path)


@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_flipped_bits_give_an_error_of_ours_or_counts_of_as_many_rows(written, table, compression):
    """Without checksums another letter may well be another state; but nothing may break, and no row get lost."""
    path = written(table, row_group_size=20, compression=compression)
    raw = path.read_bytes()
    surprises = {}
    for position in range(0, len(raw), 1 if compression == "none" else 7):
        for bit in (0, 7) if position % 2 and position < 300 else (6,) if position < 300 or position % 7 == 0 else ():
            damaged = bytearray(raw)
            damaged[position] ^= 1 << bit
            path.write_bytes(damaged)
            try:
                found = sf.collect(DAG, path, missing="drop")
                if found[PAIR].total + found.n_dropped != found.n_read:
                    surprises[position, bit] = f"{found[PAIR].total} of {found.n_read} rows"
            except SufficeError:
                pass
            except Exception as error:
                surprises[position, bit] = repr(error)[:100]
    assert surprises == {}


def fails_its_checksum(path):
    """Whether Arrow itself, told to look, finds a page whose checksum is wrong."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            file.read()
    except OSError as error:
        return "CRC" in str(error)
    except (pa.ArrowException, ValueError):
        pass
    return False


def test_flipped_bits_that_a_checksum_finds_are_refused(written, table):
    path = written(table, row_group_size=20, compression="none", write_page_checksum=True)
    raw = path.read_bytes()
    accepted, n_found = [], 0
    for position in range(4, len(raw) - 8, 3):
        damaged = bytearray(raw)
        damaged[position] ^= 1 << (position % 8)
        path.write_bytes(damaged)
        if not fails_its_checksum(path):
            continue
        n_found += 1
        try:
            sf.collect(DAG, path, missing="drop")
            accepted.append(position)
        except SufficeError as refusal:
            assert "t.parquet" in str(refusal)  # noqa: PT017
    assert n_found > 10
    assert accepted == []


def test_a_folder_that_is_named_like_a_file_is_read_or_named(written, table, tmp_path):
    """Other programs write folders called t.parquet."""
    (tmp_path / "t.parquet").mkdir()
    written(table, "t.parquet/part-0.parquet")
    same_bits(sf.collect(DAG, tmp_path / "t.parquet"), sf.collect(DAG, table))
    try:
        same_bits(sf.collect(DAG, str(tmp_path / "*.parquet")), sf.collect(DAG, table))
    except SufficeError as error:
        assert "t.parquet" in str(error)  # noqa: PT017
        assert "damaged" not in str(error)  # noqa: PT017


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_may_not_be_read_is_named(written, table, tmp_path, what):
    path = written(table)
    locked = path if what == "file" else tmp_path
    locked.chmod(0)
    try:
        with pytest.raises((DataError, FileAccessError), match=r"ermission"):
            sf.collect(DAG, locked)
    finally:
        locked.chmod(0o755)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_refusal_of_the_system_is_no_damage(written, table, tmp_path, monkeypatch, what):
    path = written(table)

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied", str(path))

    if what == "file":
        monkeypatch.setattr(pq, "ParquetFile", refuse)
    else:
        monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(FileAccessError, match=r"[Pp]ermission denied"):
        sf.collect(DAG, path if what == "file" else tmp_path)
