r"""Files: atomic writes, and one container for named arrays.

The container holds statistics, checkpoints and large models. Nothing in it is executable. Its bytes are

====================  =====================================================================
``SUFFICE\n``         eight bytes that name the format
container version     4 bytes, little-endian unsigned
header length         8 bytes, little-endian unsigned
header                UTF-8 JSON: ``kind``, ``version``, ``meta`` and, per array, name, dtype and shape
arrays                the arrays' bytes in C order, little-endian, in the header's order
SHA-256               32 bytes over all that precedes
====================  =====================================================================

so that any flipped byte is found before a number is used.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.util
import json
import math
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from suffice.errors import ArgumentError, FileAccessError, FileFormatError, SufficeError, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOCKS: Any = importlib.import_module("fcntl") if importlib.util.find_spec("fcntl") else None
"""The module of file locks, which Windows has not."""
MAGIC = b"SUFFICE\n"
CONTAINER_VERSION = 1
DTYPES = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float64", "bool"}
MAX_AXES, MAX_SIZE = 32, 1 << 60
"""The most axes and elements of an array, whatever the version of NumPy."""


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file beside ``path`` for writing and rename it into place when the block ends well.

    When the block raises, whatever stood at ``path`` before still stands there. A symbolic link is followed: the file
    that it points to is replaced, and the link stays. Pipes, character devices and open descriptors such as
    ``/dev/stdout`` are written to directly, since nothing can be renamed into their place.

    While it is written, the file is called ``.name.xxxxxxxxxxxx.part``, twelve hexadecimal digits, and it is locked. A
    process that is killed leaves such a file behind; the next write to the same path removes it.
    """
    given = Path(path)
    try:
        handle, target, beside = _open_direct(given, binary) or _open_beside(given, binary)
    except (OSError, ValueError) as error:  # a ValueError says that the name is none
        raise _cannot_write(given, error) from None
    try:
        with handle:
            yield handle
            handle.flush()
            if beside is not None:
                os.fsync(handle.fileno())
                _keep_mode(target, beside)
                if LOCKS is None:  # only a closed file can be renamed there
                    handle.close()
                os.replace(beside, target)
    except BaseException as error:
        if beside is not None:
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, SufficeError):
            raise _cannot_write(given, error, "Nothing" if beside is not None else "No file") from None
        raise


Opened = tuple[IO[Any], Path, Path | None]
"""A file open for writing, the path that is meant, and, where it is renamed into place, the path it has until then."""


def _open_direct(path: Path, binary: bool) -> Opened | None:
    """Open what cannot be replaced: an open descriptor, a pipe or a device. None for all others."""
    descriptor = _descriptor(os.fspath(path))
    if descriptor is None:
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if stat.S_ISBLK(mode):
            raise OSError(errno.EINVAL, "it is a disk, whose contents would be overwritten")
        if stat.S_ISREG(mode):
            return None
        descriptor = os.open(path, os.O_WRONLY)
    else:
        for stream in (sys.stdout, sys.stderr):  # what was printed before comes first
            if stream is not None:
                stream.flush()
        descriptor = os.dup(descriptor)
    return _opened(descriptor, binary), path, None


def _descriptor(path: str) -> int | None:
    """Return the number of an open descriptor of this process that a path such as ``/dev/stdout`` stands for."""
    for _ in range(40):  # as many links in a row as systems follow
        folder, name = os.path.split(path)
        own = ("/dev/fd", f"/proc/{os.getpid()}/fd")
        if name.isascii() and name.isdigit() and os.path.realpath(folder) in own:
            return int(name)
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


def _open_beside(path: Path, binary: bool) -> Opened:
    """Open a new file beside the one that is meant, locked while this process lives."""
    target = Path(os.path.realpath(path))
    _remove_leftovers(target)
    while True:
        beside = _beside(target)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if LOCKS is not None:
            with contextlib.suppress(OSError):  # some file systems have no locks
                LOCKS.flock(descriptor, LOCKS.LOCK_EX)
        if os.path.exists(beside):  # another writer may have taken it for a leftover before it was locked
            return _opened(descriptor, binary), target, beside
        os.close(descriptor)


def _opened(descriptor: int, binary: bool) -> IO[Any]:
    return open(descriptor, "wb") if binary else open(descriptor, "w", encoding="utf-8", newline="")


def _beside(target: Path) -> Path:
    """Name a file that stands beside ``target`` while it is written, short enough for any file system."""
    return target.with_name(f"{_beginning(target)}{secrets.token_hex(6)}.part")


def _beginning(target: Path) -> str:
    start = os.fsencode(target.name)[:100].decode("utf-8", "ignore")
    return f".{start}."


def _remove_leftovers(target: Path) -> None:
    """Remove what writers of ``target`` left behind that were killed: nobody holds the lock of such a file."""
    if LOCKS is None:
        return
    name = re.compile(re.escape(_beginning(target)) + r"[0-9a-f]{12}\.part")
    with contextlib.suppress(OSError):
        for entry in os.listdir(target.parent):
            if name.fullmatch(entry):
                _remove_unlocked(target.with_name(entry))


def _remove_unlocked(path: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            LOCKS.flock(descriptor, LOCKS.LOCK_EX | LOCKS.LOCK_NB)
            path.unlink()
        finally:
            os.close(descriptor)


def _keep_mode(target: Path, beside: Path) -> None:
    with contextlib.suppress(OSError):
        os.chmod(beside, target.stat().st_mode & 0o7777)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _cannot_write(target: Path, error: OSError | ValueError, changed: str = "Nothing") -> FileAccessError:
    return FileAccessError(
        f"Cannot write {str(target)!r}: {_reason(error)}. {changed} was changed; choose a path in a folder that exists "
        "and that you may write to."
    )


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a whole file, with an error that names it."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise FileAccessError(f"Cannot read {str(path)!r}: {_reason(error)}. Check the path.") from None


def json_bytes(content: Any, indent: int | None = None) -> bytes:
    """Return strict JSON in UTF-8, with an error for what it cannot hold."""
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent).encode()
    except ValueError as error:
        raise ArgumentError(
            f"A name, a state or a number cannot be written to a file: {error}. Files hold Unicode text and finite "
            "numbers; rename it."
        ) from None


def write_arrays(
    path: str | os.PathLike[str], kind: str, version: int, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write named arrays and JSON-able ``meta`` to one checksummed file, atomically."""
    import numpy as np

    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.name not in DTYPES:
            raise TypeError(f"array {name!r} has dtype {array.dtype}, which the container does not hold")
    header = {
        "kind": kind,
        "version": version,
        "meta": dict(meta),
        "arrays": [[name, array.dtype.name, list(array.shape)] for name, array in plain.items()],
    }
    text = json_bytes(header)
    digest = hashlib.sha256()
    with atomic_write(path, binary=True) as file:
        little = [array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in plain.values()]
        for part in (MAGIC, CONTAINER_VERSION.to_bytes(4, "little"), len(text).to_bytes(8, "little"), text, *little):
            digest.update(part)
            file.write(part)
        file.write(digest.digest())


def read_arrays(
    path: str | os.PathLike[str], kind: str, version: int
) -> tuple[dict[str, Any], dict[str, NDArray[np.generic]]]:
    """Read what `write_arrays` wrote: ``(meta, arrays)``.

    Raises
    ------
    FileFormatError
        When the file is of another kind, damaged, or newer than ``version``.
    """
    data = read_bytes(path)
    named = repr(str(path))
    if not data.startswith(MAGIC):
        raise FileFormatError(f"{named} is not a suffice array file (it does not begin with the format's name).")
    if len(data) < len(MAGIC) + 12 + 32:
        raise FileFormatError(f"{named} is cut off after {len(data)} bytes. Write or copy it again.")
    if int.from_bytes(data[8:12], "little") > CONTAINER_VERSION:
        # A newer version may place its checksum elsewhere, so this comes first.
        raise _newer(named, int.from_bytes(data[8:12], "little"), CONTAINER_VERSION)
    if hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise FileFormatError(f"{named} is damaged: its checksum does not match its content. Write or copy it again.")
    header, offset = _header(data, named)
    if header["kind"] != kind:
        raise FileFormatError(f"{named} holds {header['kind']!r}, where {kind!r} was expected.")
    if header["version"] > version:
        raise _newer(named, header["version"], version)
    return header["meta"], _arrays(data[offset:-32], header["arrays"], named)


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of a file of arrays; None where its header does not tell, for reasons that reading it gives."""
    data = read_bytes(path)
    try:
        return str(_header(data, repr(str(path)))[0]["kind"]) if data.startswith(MAGIC) else None
    except FileFormatError:
        return None


def _header(data: bytes, named: str) -> tuple[dict[str, Any], int]:
    """Return the header, and where the arrays begin."""
    end = 20 + int.from_bytes(data[12:20], "little")
    try:
        header: Any = json.loads(data[20:end]) if end <= len(data) - 32 else None
    except (ValueError, RecursionError):
        header = None
    match header:
        case {"kind": str(), "version": int(version), "meta": dict(), "arrays": list(arrays)} if (
            not isinstance(version, bool)
            and version > 0
            and all(map(_is_entry, arrays))
            and len({name for name, _, _ in arrays}) == len(arrays)
        ):
            return dict(header), end
    raise FileFormatError(f"{named} is damaged: its header does not describe arrays. Write or copy it again.")


def _is_entry(entry: object) -> bool:
    """Whether a header's entry is a name, a dtype and a shape."""
    match entry:
        case [str(), str(dtype), list(shape)]:
            whole = all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in shape)
            # NumPy also refuses an empty array whose other sizes exceed its range.
            return dtype in DTYPES and whole and len(shape) <= MAX_AXES and math.prod(filter(None, shape)) < MAX_SIZE
    return False


def _arrays(body: bytes, entries: list[tuple[str, str, list[int]]], named: str) -> dict[str, NDArray[np.generic]]:
    import numpy as np

    arrays = {}
    offset = 0
    needed = sum(math.prod(shape) * np.dtype(dtype).itemsize for _, dtype, shape in entries)
    if needed != len(body):
        raise FileFormatError(
            f"{named} is damaged: its header describes {needed:,} bytes of arrays, and {len(body):,} are there. "
            "Write or copy it again."
        )
    for name, dtype, shape in entries:
        stored = np.frombuffer(body, np.dtype(dtype).newbyteorder("<"), math.prod(shape), offset)
        own = np.require(stored.astype(dtype, copy=False), requirements="A")  # as kernels need it
        own.flags.writeable = False
        arrays[name] = own.reshape(shape)
        offset += stored.nbytes
    return arrays


def _newer(named: str, found: int, known: int) -> FileFormatError:
    return FileFormatError(
        f"{named} was written in format version {shown(found)}; this version of suffice reads up to {known}. "
        "Upgrade suffice to read it."
    )
