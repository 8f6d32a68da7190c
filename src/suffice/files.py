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
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from suffice.errors import FileAccessError, FileFormatError

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
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        handle: IO[Any] = open(beside, "xb") if binary else open(beside, "x", encoding="utf-8", newline="")  # noqa: SIM115
    except OSError as error:
        raise _cannot_write(target, error) from None
    try:
        with handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        _keep_mode(target, beside)
        os.replace(beside, target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise _cannot_write(target, error) from None
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _keep_mode(target: Path, beside: Path) -> None:
    with contextlib.suppress(OSError):
        os.chmod(beside, target.stat().st_mode & 0o7777)


def _cannot_write(target: Path, error: OSError) -> FileAccessError:
    reason = error.strerror or str(error)
    return FileAccessError(
        f"Cannot write {str(target)!r}: {reason}. Nothing was changed; choose a path in a folder that exists "
        "and that you may write to."
    )


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a whole file, with an error that names it."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FileAccessError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from None


def write_arrays(
    path: str | os.PathLike[str], kind: str, version: int, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write named arrays and JSON-able ``meta`` to one checksummed file, atomically."""
    import numpy as np

    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.name not in DTYPES:
            raise TypeError(f"array {name!r} has dtype {array.dtype}, which the container does not hold")
    header = {
        "kind": kind,
        "version": version,
        "meta": dict(meta),
        "arrays": [[name, array.dtype.name, list(array.shape)] for name, array in plain.items()],
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
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
    length = int.from_bytes(data[12:20], "little")
    header = json.loads(data[20 : 20 + length])
    if header["kind"] != kind:
        raise FileFormatError(f"{shown} holds {header['kind']!r}, where {kind!r} was expected.")
    if header["version"] > version:
        raise _newer(shown, header["version"], version)
    return header["meta"], _arrays(data, 20 + length, header["arrays"])


def _arrays(data: bytes, offset: int, entries: list[tuple[str, str, list[int]]]) -> dict[str, NDArray[np.generic]]:
    import numpy as np

    arrays = {}
    for name, dtype, shape in entries:
        size = int(np.prod(shape, dtype=np.int64))
        stored = np.frombuffer(data, np.dtype(dtype).newbyteorder("<"), size, offset)
        arrays[name] = stored.astype(dtype, copy=False).reshape(shape)
        offset += stored.nbytes
    return arrays


def _newer(shown: str, found: int, known: int) -> FileFormatError:
    return FileFormatError(
        f"{shown} was written in format version {found}; this version of suffice reads up to {known}. "
        "Upgrade suffice to read it."
    )
