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
import json
import math
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from suffice.errors import ArgumentError, FileAccessError, FileFormatError, SufficeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"SUFFICE\n"
CONTAINER_VERSION = 1
DTYPES = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float64", "bool"}


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file beside ``path`` for writing and rename it into place when the block ends well.

    When the block raises, whatever stood at ``path`` before still stands there.
    """
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        beside = _beside(target)
        handle: IO[Any] = open(beside, "xb") if binary else open(beside, "x", encoding="utf-8", newline="")  # noqa: SIM115
    except (OSError, ValueError) as error:  # a ValueError says that the name is none
        raise _cannot_write(target, error) from None
    try:
        with handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        _keep_mode(target, beside)
        os.replace(beside, target)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, SufficeError):
            raise _cannot_write(target, error) from None
        raise


def _beside(target: Path) -> Path:
    """Name a file that stands beside ``target`` while it is written, short enough for any file system."""
    start = os.fsencode(target.name)[:100].decode("utf-8", "ignore")
    return target.with_name(f".{start}.{secrets.token_hex(6)}.part")


def _keep_mode(target: Path, beside: Path) -> None:
    with contextlib.suppress(OSError):
        os.chmod(beside, target.stat().st_mode & 0o7777)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _cannot_write(target: Path, error: OSError | ValueError) -> FileAccessError:
    return FileAccessError(
        f"Cannot write {str(target)!r}: {_reason(error)}. Nothing was changed; choose a path in a folder that exists "
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
    shown = repr(str(path))
    if not data.startswith(MAGIC):
        raise FileFormatError(f"{shown} is not a suffice array file (it does not begin with the format's name).")
    if len(data) < len(MAGIC) + 12 + 32:
        raise FileFormatError(f"{shown} is cut off after {len(data)} bytes. Write or copy it again.")
    if int.from_bytes(data[8:12], "little") > CONTAINER_VERSION:
        # A newer version may place its checksum elsewhere, so this comes first.
        raise _newer(shown, int.from_bytes(data[8:12], "little"), CONTAINER_VERSION)
    if hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise FileFormatError(f"{shown} is damaged: its checksum does not match its content. Write or copy it again.")
    header, offset = _header(data, shown)
    if header["kind"] != kind:
        raise FileFormatError(f"{shown} holds {header['kind']!r}, where {kind!r} was expected.")
    if header["version"] > version:
        raise _newer(shown, header["version"], version)
    return header["meta"], _arrays(data[offset:-32], header["arrays"], shown)


def _header(data: bytes, shown: str) -> tuple[dict[str, Any], int]:
    """Return the header, and where the arrays begin."""
    end = 20 + int.from_bytes(data[12:20], "little")
    try:
        header: Any = json.loads(data[20:end]) if end <= len(data) - 32 else None
    except (ValueError, RecursionError):
        header = None
    match header:
        case {"kind": str(), "version": int(), "meta": dict(), "arrays": list(arrays)} if all(map(_is_entry, arrays)):
            return dict(header), end
    raise FileFormatError(f"{shown} is damaged: its header does not describe arrays. Write or copy it again.")


def _is_entry(entry: object) -> bool:
    """Whether a header's entry is a name, a dtype and a shape."""
    match entry:
        case [str(), str(dtype), list(shape)]:
            return dtype in DTYPES and all(isinstance(size, int) and size >= 0 for size in shape)
    return False


def _arrays(body: bytes, entries: list[tuple[str, str, list[int]]], shown: str) -> dict[str, NDArray[np.generic]]:
    import numpy as np

    arrays = {}
    offset = 0
    needed = sum(math.prod(shape) * np.dtype(dtype).itemsize for _, dtype, shape in entries)
    if needed != len(body):
        raise FileFormatError(
            f"{shown} is damaged: its header describes {needed:,} bytes of arrays, and {len(body):,} are there. "
            "Write or copy it again."
        )
    for name, dtype, shape in entries:
        stored = np.frombuffer(body, np.dtype(dtype).newbyteorder("<"), math.prod(shape), offset)
        arrays[name] = stored.astype(dtype, copy=False).reshape(shape)
        offset += stored.nbytes
    return arrays


def _newer(shown: str, found: int, known: int) -> FileFormatError:
    return FileFormatError(
        f"{shown} was written in format version {found}; this version of suffice reads up to {known}. "
        "Upgrade suffice to read it."
    )
