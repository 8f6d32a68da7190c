"""Statistics on disk: read back with equal bits, or not at all."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
import suffice.stats.counts as counts_module
from suffice.errors import FileAccessError, FileFormatError
from suffice.files import atomic_write, read_arrays, write_arrays

DAG = sf.DAG("a -> b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def small(tmp_path):
    """Return the path of a small file of statistics."""
    path = tmp_path / "small.stats"
    sf.collect(sf.DAG("a"), {"a": ["u", "v", "u"]}).save(path)
    return path


def same(first, second):
    assert first.schema == second.schema
    assert first.weight == second.weight
    assert (first.n_read, first.n_dropped, first.remarks) == (second.n_read, second.n_dropped, second.remarks)
    assert list(first) == list(second)
    for need in first:
        assert first[need].values.dtype == second[need].values.dtype
        assert first[need].values.tobytes() == second[need].values.tobytes()
        assert first[need].values.shape == second[need].values.shape
        if first[need].cells is not None:
            assert np.array_equal(first[need].cells, second[need].cells)


def resealed(content, change):
    """Return a file with another header and a checksum that fits it."""
    length = int.from_bytes(content[12:20], "little")
    header = json.loads(content[20 : 20 + length])
    change(header)
    text = json.dumps(header).encode()
    body = content[:12] + len(text).to_bytes(8, "little") + text + content[20 + length : -32]
    return body + hashlib.sha256(body).digest()


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), st.sampled_from([True, False])),
        min_size=1,
        max_size=8,
    ),
    st.data(),
    st.booleans(),
)
def test_statistics_come_back_with_equal_bits(folder, rows, data, sparse):
    weights = data.draw(st.none() | st.lists(st.floats(0, 1e9), min_size=len(rows), max_size=len(rows)))
    with pytest.MonkeyPatch.context() as patch:
        if sparse:
            patch.setattr(counts_module, "DENSE_CELLS", -1)
        table = {"a": [a for a, _ in rows], "b": [b for _, b in rows], "é": ["ignored"] * len(rows)}
        statistics = sf.collect(DAG, table, weights=weights)
        statistics.save(folder / "round.stats")
        same(sf.Statistics.load(folder / "round.stats"), statistics)


def test_statistics_go_through_read_and_write(tmp_path):
    statistics = sf.collect(DAG, {"a": [1, 2], "b": [True, False]})
    sf.write(statistics, tmp_path / "part.stats")
    same(sf.read(tmp_path / "part.stats"), statistics)


def test_loaded_parts_still_add(tmp_path):
    part = sf.collect(DAG, {"a": ["u"], "b": ["x"]})
    part.save(tmp_path / "part.stats")
    other = sf.collect(DAG, {"a": ["v"], "b": ["x"]})
    same(sf.Statistics.load(tmp_path / "part.stats") + other, part + other)


def test_file_without_rows_comes_back(tmp_path):
    statistics = sf.collect(DAG, {"a": [], "b": []})
    statistics.save(tmp_path / "none.stats")
    same(sf.Statistics.load(tmp_path / "none.stats"), statistics)


def test_flipped_byte_anywhere_is_refused(small):
    content = small.read_bytes()
    assert content
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x01
        small.write_bytes(damaged)
        with pytest.raises(FileFormatError):
            sf.Statistics.load(small)


def test_file_cut_off_anywhere_is_refused(small):
    content = small.read_bytes()
    assert content
    for length in range(len(content)):
        small.write_bytes(content[:length])
        with pytest.raises(FileFormatError):
            sf.Statistics.load(small)


def test_file_with_something_added_is_refused(small):
    small.write_bytes(small.read_bytes() + b"\0")
    with pytest.raises(FileFormatError, match="damaged"):
        sf.Statistics.load(small)


def test_newer_container_asks_for_an_upgrade(small):
    content = bytearray(small.read_bytes())
    content[8:12] = (2).to_bytes(4, "little")
    small.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"version 2.*reads up to 1.*Upgrade"):
        sf.Statistics.load(small)


def test_newer_statistics_ask_for_an_upgrade(small):
    small.write_bytes(resealed(small.read_bytes(), lambda header: header.update(version=7)))
    with pytest.raises(FileFormatError, match=r"version 7.*reads up to 1.*Upgrade"):
        sf.Statistics.load(small)


def test_another_kind_of_content_is_refused_by_name(small):
    write_arrays(small, "checkpoint", 1, {}, {"x": np.zeros(2)})
    with pytest.raises(FileFormatError, match="holds 'checkpoint', where 'statistics' was expected"):
        sf.Statistics.load(small)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"SUFFICE", b"\x93NUMPY" + b"\0" * 100])
def test_foreign_file_is_refused(small, content):
    small.write_bytes(content)
    with pytest.raises(FileFormatError, match="not a suffice array file"):
        sf.Statistics.load(small)


@pytest.mark.parametrize("entry", ["schema", "needs", "weight", "n_read", "remarks"])
def test_file_that_lacks_an_entry_is_refused(small, entry):
    small.write_bytes(resealed(small.read_bytes(), lambda header: header["meta"].pop(entry)))
    with pytest.raises(FileFormatError, match=entry):
        sf.Statistics.load(small)


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["arrays"].clear(),
        lambda header: header["arrays"][0].__setitem__(2, [99]),
        lambda header: header["arrays"][0].__setitem__(1, "object"),
        lambda header: header["meta"].update(weight="heavy"),
        lambda header: header["meta"]["needs"][0].update(kind="novel"),
        lambda header: header["meta"]["schema"][0].update(states=["u"]),
        lambda header: header.update(meta=[]),
    ],
    ids=["no arrays", "too long", "objects", "weight", "kind", "fewer states", "meta"],
)
def test_contradictory_file_is_an_error_of_ours(small, change):
    small.write_bytes(resealed(small.read_bytes(), change))
    with pytest.raises(sf.SufficeError):
        sf.Statistics.load(small)


def test_missing_file_and_folder_are_named(tmp_path):
    with pytest.raises(FileAccessError, match=r"absent\.stats"):
        sf.Statistics.load(tmp_path / "absent.stats")
    with pytest.raises(FileAccessError, match="nowhere"):
        sf.collect(sf.DAG("a"), {"a": ["u"]}).save(tmp_path / "nowhere" / "part.stats")


# The container ------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
        st.sampled_from([np.int8, np.uint64, np.float64, np.bool_]).flatmap(
            lambda kind: st.lists(st.integers(0, 100), max_size=6).map(lambda v: np.array(v, kind))
        ),
        max_size=4,
    )
)
def test_container_keeps_names_types_and_bits(folder, arrays):
    write_arrays(folder / "container.bin", "test", 1, {"é": [1, None]}, arrays)
    meta, again = read_arrays(folder / "container.bin", "test", 1)
    assert meta == {"é": [1, None]}
    assert list(again) == list(arrays)
    for name, array in arrays.items():
        assert again[name].dtype == array.dtype
        assert again[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (2, 3), (1, 1, 1)])
def test_container_keeps_shapes_and_byte_order(tmp_path, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(">f8")
    write_arrays(tmp_path / "x.bin", "test", 1, {}, {"x": array, "y": np.asfortranarray(array)})
    _, again = read_arrays(tmp_path / "x.bin", "test", 1)
    assert again["x"].shape == shape
    assert np.array_equal(again["x"], array)
    assert np.array_equal(again["y"], np.asfortranarray(array))


def test_arrays_that_are_read_are_aligned_and_cannot_be_changed(tmp_path):
    arrays = {"bytes": np.arange(3, dtype=np.uint8), "longs": np.arange(4), "floats": np.arange(2.0)}
    write_arrays(tmp_path / "x.bin", "test", 1, {}, arrays)
    _, again = read_arrays(tmp_path / "x.bin", "test", 1)
    assert {name: (array.flags.aligned, array.flags.writeable) for name, array in again.items()} == dict.fromkeys(
        arrays, (True, False)
    )
    np.testing.assert_array_equal(again["longs"], arrays["longs"])


def test_failed_write_leaves_the_old_file_and_nothing_beside(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("old")

    def fail():
        with atomic_write(path) as file:
            file.write("new")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fail()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.txt"]


def test_write_replaces_the_old_file_and_keeps_its_mode(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("old")
    path.chmod(0o600)
    with atomic_write(path) as file:
        file.write("né\n")
    assert path.read_bytes() == "né\n".encode()
    assert path.stat().st_mode & 0o777 == 0o600
