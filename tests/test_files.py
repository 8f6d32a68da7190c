"""Atomic writes, and the container of named arrays."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from suffice.errors import FileAccessError, FileFormatError
from suffice.files import DTYPES, atomic_write, kind_of, read_arrays, read_bytes, write_arrays

# atomic_write -------------------------------------------------------------------------------------------------


def listing_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("binary", [False, True])
def test_write_appears_whole_at_the_end_of_the_block(tmp_path: Path, binary: bool) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with atomic_write(path, binary=binary) as file:
        file.write(b"new" if binary else "new")
        assert path.read_bytes() == b"old", "nothing may change while the block runs"
    assert listing_of(tmp_path) == {"x": b"new"}


@pytest.mark.parametrize("error", [RuntimeError, OSError, KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("old", [None, b"old"])
def test_failure_inside_the_block_keeps_what_was_there(
    tmp_path: Path, error: type[BaseException], old: bytes | None
) -> None:
    path = tmp_path / "x"
    if old is not None:
        path.write_bytes(old)
    before = listing_of(tmp_path)
    expected = FileAccessError if error is OSError else error

    def interrupted() -> None:
        with atomic_write(path) as file:
            file.write("half of it")
            raise error("inside")

    with pytest.raises(expected):
        interrupted()
    assert listing_of(tmp_path) == before


def test_library_error_inside_the_block_is_passed_on_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="of its own"), atomic_write(tmp_path / "x"):
        raise FileFormatError("of its own")


def test_access_error_of_another_file_inside_the_block_keeps_its_own_message(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=r"^Cannot read '.*other'"), atomic_write(tmp_path / "x"):
        read_bytes(tmp_path / "other")
    assert listing_of(tmp_path) == {}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_permissions_of_the_old_file_are_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(mode)
    with atomic_write(path) as file:
        file.write("new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_new_file_has_the_permissions_that_open_would_give(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with atomic_write(tmp_path / "atomic") as file:
        file.write("")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_text_is_utf8_with_the_line_ends_that_were_written(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "x") as file:
        file.write("ä→😀\r\nb\n")
    assert (tmp_path / "x").read_bytes() == "ä→😀\r\nb\n".encode()


def test_long_names_can_be_written(tmp_path: Path) -> None:
    name = 240 * "x" + ".json"
    with atomic_write(tmp_path / name) as file:
        file.write("new")
    assert listing_of(tmp_path) == {name: b"new"}


def test_long_names_of_wide_characters_can_be_written(tmp_path: Path) -> None:
    name = 80 * "漢" + ".json"  # 245 bytes of at most 255
    with atomic_write(tmp_path / name) as file:
        file.write("new")
    assert listing_of(tmp_path) == {name: b"new"}


def test_link_to_a_file_stays_a_link_or_is_replaced_without_harm(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with atomic_write(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").read_text() == "new"
    assert sorted(listing_of(tmp_path)) == ["link", "target"]


@pytest.mark.parametrize("relative", [True, False])
def test_link_is_followed_and_stays(tmp_path: Path, relative: bool) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "target").write_text("old")
    (folder / "target").chmod(0o640)
    (tmp_path / "link").symlink_to("elsewhere/target" if relative else folder / "target")
    (tmp_path / "second").symlink_to("link")
    with atomic_write(tmp_path / "second") as file:
        file.write("new")
        assert (folder / "target").read_text() == "old", "nothing may change while the block runs"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert listing_of(folder) == {"target": b"new"}
    assert stat.S_IMODE((folder / "target").stat().st_mode) == 0o640


def test_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    with atomic_write(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


@pytest.mark.parametrize("points_to", ["link", "folder", "absent/target"])
def test_link_that_leads_nowhere_is_refused_and_stays(tmp_path: Path, points_to: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(points_to)
    with (
        pytest.raises(FileAccessError, match=r"Cannot write .*link.*Nothing was changed"),
        atomic_write(tmp_path / "link"),
    ):
        raise AssertionError("nothing was opened")
    assert (tmp_path / "link").is_symlink()
    assert os.listdir(tmp_path / "folder") == []


def test_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    with atomic_write(tmp_path / "pipe", binary=True) as file:
        file.write(b"new")
    reader.join(30)
    assert got == [b"new"]
    assert (tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_pipe_whose_reader_has_gone_is_an_error_of_access(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        with pytest.raises(FileAccessError, match="No file was changed"), atomic_write(f"/dev/fd/{write}") as file:
            file.write("new")
    finally:
        os.close(write)


def test_device_is_written_to_and_stays(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/null")
    with atomic_write(tmp_path / "link") as file:
        file.write("new")
    assert os.readlink(tmp_path / "link") == "/dev/null"
    assert Path("/dev/null").is_char_device()


def test_open_descriptor_is_written_to_where_it_stands(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        log.write("before, ")
        log.flush()
        with atomic_write(f"/dev/fd/{log.fileno()}") as file:
            file.write("new")
        log.write(", after")
    assert listing_of(tmp_path) == {"log": b"before, new, after"}


def test_leftovers_of_killed_writers_are_removed_by_the_next_write(tmp_path: Path) -> None:
    left = [f".x.{digit * 12}.part" for digit in "0af"]
    others = [".x.y.000000000000.part", ".x.part", ".x.00000000000.part", ".X.000000000000.part", "x.000000000000.part"]
    for name in (*left, *others):
        (tmp_path / name).write_text("half")
    with atomic_write(tmp_path / "x") as file:
        file.write("new")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "x"])


def test_file_of_a_writer_at_work_is_no_leftover(tmp_path: Path) -> None:
    words = (
        "import sys; from suffice.files import atomic_write\n"
        "with atomic_write(sys.argv[1]) as file:\n"
        "    print('open', flush=True); sys.stdin.readline(); file.write('of the other process')\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", words, str(tmp_path / "x")], **pipes) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with atomic_write(tmp_path / "x") as file:
            file.write("new")
        assert (tmp_path / "x").read_text() == "new"
        assert len(os.listdir(tmp_path)) == 2
        other.communicate("\n")
    assert listing_of(tmp_path) == {"x": b"of the other process"}


def test_writers_at_the_same_time_leave_one_whole_file(tmp_path: Path) -> None:
    texts = [str(number) * 50_000 for number in range(8)]
    start = threading.Barrier(len(texts))
    failures: list[BaseException] = []

    def write(text: str) -> None:
        try:
            start.wait()
            for _ in range(5):
                with atomic_write(tmp_path / "x") as file:
                    file.write(text)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert os.listdir(tmp_path) == ["x"]
    assert (tmp_path / "x").read_text() in texts


def test_two_open_writers_do_not_mix(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "x") as first, atomic_write(tmp_path / "x") as second:
        first.write("first")
        second.write("second")
    assert listing_of(tmp_path) == {"x": b"first"}, "the one that ends last wins"


# The container ------------------------------------------------------------------------------------------------


def round_trip(folder: Path, arrays: dict[str, Any], meta: dict[str, Any] | None = None) -> dict[str, Any]:
    write_arrays(folder / "x", "test", 1, meta or {}, arrays)
    found_meta, found = read_arrays(folder / "x", "test", 1)
    assert found_meta == (meta or {})
    return found


def same(first: Any, second: Any) -> bool:
    """Equal in type, shape and bits."""
    a, b = np.asarray(first), np.asarray(second)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


SHAPES = [(), (0,), (1,), (3,), (0, 2), (2, 0), (2, 3), (2, 0, 3), (2, 3, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_every_dtype_and_shape_is_read_back_with_equal_bits(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    found = round_trip(tmp_path, {"a": values})["a"]
    assert same(found, values)


@pytest.mark.parametrize("dtype", sorted(DTYPES - {"bool", "float64"}))
def test_extreme_integers_are_read_back(tmp_path: Path, dtype: str) -> None:
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max], dtype)
    assert same(round_trip(tmp_path, {"a": values})["a"], values)


def test_extreme_floats_are_read_back_with_equal_bits(tmp_path: Path) -> None:
    values = np.array([0.0, -0.0, 5e-324, 1.7976931348623157e308, np.inf, -np.inf, np.nan, -np.nan, 0.1])
    assert same(round_trip(tmp_path, {"a": values})["a"], values)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[::2],
        lambda a: a[:, ::-1],
        np.asfortranarray,
        lambda a: np.broadcast_to(a[0], a.shape),
        lambda a: a.astype(a.dtype.newbyteorder(">")),
    ],
    ids=["transposed", "strided", "reversed", "fortran", "broadcast", "big-endian"],
)
def test_arrays_in_any_memory_order_are_written_by_value(tmp_path: Path, view: Any) -> None:
    values = view(np.arange(12.0).reshape(3, 4))
    found = round_trip(tmp_path, {"a": values})["a"]
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, values)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        arrays_of.arrays(
            st.sampled_from([np.dtype(name) for name in sorted(DTYPES)]),
            arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
        ),
        max_size=4,
    )
)
def test_any_named_arrays_are_read_back_in_order(tmp_path_factory: pytest.TempPathFactory, arrays: Any) -> None:
    found = round_trip(tmp_path_factory.mktemp("arrays"), arrays)
    assert list(found) == list(arrays)
    for name, values in arrays.items():
        assert same(found[name], values)


def test_meta_is_read_back(tmp_path: Path) -> None:
    meta = {"text": "ä\0\n😀", "number": 0.1, "list": [1, None, True], "nested": {"a": {}}}
    round_trip(tmp_path, {}, meta)


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    for name in ("x", "y"):
        write_arrays(tmp_path / name, "test", 1, {"a": 1}, {"b": np.arange(3)})
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_bytes_are_laid_out_as_documented(tmp_path: Path) -> None:
    write_arrays(tmp_path / "x", "test", 3, {"a": 1}, {"b": np.array([1, -1], np.int16)})
    content = (tmp_path / "x").read_bytes()
    length = int.from_bytes(content[12:20], "little")
    header = json.loads(content[20 : 20 + length])
    assert content[:12] == b"SUFFICE\n\x01\0\0\0"
    assert header == {"kind": "test", "version": 3, "meta": {"a": 1}, "arrays": [["b", "int16", [2]]]}
    assert content[20 + length : -32] == b"\x01\0\xff\xff"
    assert content[-32:] == hashlib.sha256(content[:-32]).digest()


@pytest.mark.parametrize(
    "values", [np.array(["a"]), np.array([object()]), np.array([1j]), np.zeros(1, np.float32), np.zeros(1, "M8[D]")]
)
def test_arrays_that_the_container_does_not_hold_are_refused_before_anything_is_written(
    tmp_path: Path, values: Any
) -> None:
    with pytest.raises(TypeError, match="'bad'"):
        write_arrays(tmp_path / "x", "test", 1, {}, {"bad": values})
    assert listing_of(tmp_path) == {}


@pytest.fixture
def container(tmp_path: Path) -> Path:
    write_arrays(tmp_path / "x", "test", 1, {"text": "ä"}, {"a": np.arange(3), "b": np.array([[0.5, np.nan]])})
    return tmp_path / "x"


def test_every_flipped_byte_is_refused(container: Path) -> None:
    content = container.read_bytes()
    assert content
    for position in range(len(content)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(content)
            damaged[position] ^= flip
            container.write_bytes(damaged)
            with pytest.raises(FileFormatError):
                read_arrays(container, "test", 1)


def test_every_truncation_is_refused(container: Path) -> None:
    content = container.read_bytes()
    assert content
    for length in range(len(content)):
        container.write_bytes(content[:length])
        with pytest.raises(FileFormatError):
            read_arrays(container, "test", 1)


def test_appended_bytes_are_refused(container: Path) -> None:
    content = container.read_bytes()
    for more in (b"\0", b"x", content, bytes(32)):
        container.write_bytes(content + more)
        with pytest.raises(FileFormatError):
            read_arrays(container, "test", 1)


def sealed(header: Any, body: bytes = b"", length: int | None = None) -> bytes:
    """A container with a right checksum around a header that someone made up."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(text) if length is None else length
    content = b"SUFFICE\n" + (1).to_bytes(4, "little") + size.to_bytes(8, "little") + text + body
    return content + hashlib.sha256(content).digest()


GOOD = {"kind": "test", "version": 1, "meta": {}, "arrays": []}


@pytest.mark.parametrize(
    "content",
    [
        sealed(b"{"),
        sealed(b"\xff"),
        sealed(b""),
        sealed([]),
        sealed(None),
        sealed({}),
        sealed({**GOOD, "version": None}),
        sealed({**GOOD, "version": "1"}),
        sealed({**GOOD, "arrays": 3}),
        sealed({**GOOD, "arrays": [["a", "int64"]]}),
        sealed({**GOOD, "arrays": [["a", "object", [1]]]}, bytes(8)),
        sealed({**GOOD, "arrays": [["a", "nope", [1]]]}, bytes(8)),
        sealed({**GOOD, "arrays": [["a", "int64", [2]]]}, bytes(8)),
        sealed({**GOOD, "arrays": [["a", "int64", [-1]]]}, bytes(8)),
        sealed({**GOOD, "arrays": [["a", "int64", [1 << 62]]]}, bytes(8)),
        sealed({**GOOD, "arrays": [["a", "int64", ["x"]]]}, bytes(8)),
        sealed({**GOOD, "arrays": [["a", "int64", [0, 1 << 62]]]}),
        sealed({**GOOD, "arrays": [["a", "int64", [1] * 70]]}, bytes(8)),
        sealed({**GOOD, "arrays": [["a", "int64", [True]]]}, bytes(8)),
        sealed({**GOOD, "arrays": [["a", "int8", [1]], ["a", "int8", [1]]]}, bytes(2)),
        sealed({**GOOD, "version": True}),
        sealed({**GOOD, "version": 0}),
        sealed({**GOOD, "version": 10**400}),
        sealed({**GOOD, "arrays": [["a", "int64", [1]]]}, bytes(16)),
        sealed(GOOD, length=1 << 40),
        sealed(10_000 * b"["),
    ],
    ids=[
        "not-json", "not-utf8", "empty-header", "list", "null", "no-entries", "version-null", "version-text",
        "arrays-number", "entry-of-two", "object-dtype", "unknown-dtype", "too-few-bytes", "negative-size", "huge-size",
        "size-of-text", "empty-and-huge", "70-axes", "size-of-bool", "name-twice", "version-bool", "version-zero",
        "version-huge", "bytes-left-over", "header-past-the-end", "deep",
    ],
)  # fmt: skip
def test_made_up_container_with_a_right_checksum_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FileFormatError, match="x'"):
        read_arrays(tmp_path / "x", "test", 1)


def test_the_helper_that_seals_makes_files_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(sealed({**GOOD, "arrays": [["a", "int64", [1]]]}, (7).to_bytes(8, "little")))
    _, found = read_arrays(tmp_path / "x", "test", 1)
    assert found["a"].tolist() == [7]


def test_other_kind_and_newer_versions_are_named(container: Path) -> None:
    with pytest.raises(FileFormatError, match="holds 'test', where 'other' was expected"):
        read_arrays(container, "other", 1)
    with pytest.raises(FileFormatError, match=r"format version 1; this version of suffice reads up to 0.*Upgrade"):
        read_arrays(container, "test", 0)


def test_older_version_is_read(container: Path) -> None:
    meta, _ = read_arrays(container, "test", 2)
    assert meta == {"text": "ä"}


@pytest.mark.parametrize("name", ["absent", "folder", "file/beneath"])
def test_unreadable_paths_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(FileAccessError, match=f"Cannot read .*{name}"):
        read_bytes(tmp_path / name)


def test_the_kind_of_a_file_is_known_without_its_arrays_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_arrays(path, "test", 3, {}, {"b": np.arange(3)})
    assert kind_of(path) == "test"
    whole = path.read_bytes()
    for other in (b"", b"{}", whole[:8], whole[:30]):
        path.write_bytes(other)
        assert kind_of(path) is None
    with pytest.raises(FileAccessError):
        kind_of(tmp_path / "none")
