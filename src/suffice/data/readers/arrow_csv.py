"""CSV text read by Arrow, whose threads give back what belongs to Python before a process can end.

Arrow reads ahead on a thread of its own. When that thread lets go of a Python object, such as a file that decompresses
or a function that is called for odd rows, it waits for the interpreter; if the process ends just then, the C++ runtime
aborts it. So plain files in UTF-8 are read without any Python object, and whatever else is lent is waited for.
"""

from __future__ import annotations

import atexit
import codecs
import io
import time
import weakref
from collections.abc import Generator
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Held = list[weakref.ref[Any]]
PATIENCE = 10.0
"""Seconds to wait for a file that was lent; Arrow needs as long as its thread reads one more piece."""


def batches(file: BinaryIO, read_options: Any, **options: Any) -> Generator[pa.RecordBatch, None, None]:
    """Return the record batches of an open file; it is Arrow's until the last one is read, or the generator closed."""
    reading = _batches(file, read_options, **options)
    _READING.add(reading)
    return reading


def _batches(file: BinaryIO, read_options: Any, **options: Any) -> Generator[pa.RecordBatch, None, None]:
    from pyarrow import csv

    held: Held = []
    lent = None if _is_plain(file, read_options.encoding) else Lent(file, held)
    reader: Any = None
    try:
        reader = csv.open_csv(
            pa.OSFile(file.name) if lent is None else pa.PythonFile(lent, mode="r"),
            read_options=read_options,
            **options,
        )
        yield from reader
    finally:
        if reader is not None:
            reader.close()
            reader = None  # the frame lives on in the traceback of an error, and Arrow's reader must not
        lent = None
        _wait_until_gone(held)


def _is_plain(file: BinaryIO, encoding: str) -> bool:
    """Whether Arrow can read the file by itself: neither Python's decompressors nor its decoders are needed."""
    is_file = isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO)
    return is_file and codecs.lookup(encoding) == codecs.lookup("utf-8")


class Lent:
    """A Python file in the hands of Arrow; it and the pieces that it gave can be seen to go.

    ``read`` is a function and no method: the traceback of an error in it would keep the file alive.
    """

    __slots__ = ("__weakref__", "closed", "read")

    def __init__(self, file: BinaryIO, held: Held) -> None:
        def read(size: int = -1) -> NDArray[np.uint8]:
            piece = np.frombuffer(file.read(size), np.uint8)  # which, unlike bytes, can be seen to go
            held[:] = [other for other in held if other() is not None] + [weakref.ref(piece)]
            return piece

        self.read = read
        self.closed = False
        held.append(weakref.ref(self))


def _wait_until_gone(held: Held) -> None:
    patient_until = time.monotonic() + PATIENCE
    while any(thing() is not None for thing in held) and time.monotonic() < patient_until:
        time.sleep(1e-4)


_READING: weakref.WeakSet[Generator[pa.RecordBatch, None, None]] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Close what an error, or a caller who wanted the first rows only, has left half read."""
    for reading in list(_READING):
        with suppress(ValueError):  # another thread is reading it at this moment
            reading.close()
