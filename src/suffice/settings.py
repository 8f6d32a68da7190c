"""Settings of the whole library: threads and memory."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

from suffice.errors import ArgumentError

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True)
class Settings:
    """What `config` sets.

    Attributes
    ----------
    threads : int
        Threads that kernels may use. Results do not depend on it.
    memory : int
        Bytes that tables may take before a structure is refused as too large.
    """

    threads: int
    memory: int


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_current = Settings(threads=_cores(), memory=4 * 10**9)


def settings() -> Settings:
    """Return the settings in force."""
    return _current


def config(*, threads: int | None = None, memory: int | str | None = None) -> Settings:
    """Change settings of the whole library, and return those in force.

    Parameters
    ----------
    threads : int, optional
        Threads that kernels may use; all cores by default. Results do not depend on it.
    memory : int or str, optional
        Bytes that tables may take, such as ``"4GB"`` (the default) or ``"512MiB"``.

    Examples
    --------
    >>> import suffice as sf
    >>> sf.config(memory="2GB").memory
    2000000000
    >>> sf.config(memory="4GB").memory
    4000000000
    """
    global _current  # noqa: PLW0603
    if threads is not None:
        if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
            raise ArgumentError(f"The 'threads' argument must be a whole number, at least 1. Got {threads!r} instead.")
        _current = replace(_current, threads=threads)
    if memory is not None:
        _current = replace(_current, memory=_bytes(memory))
    return _current


def _bytes(memory: int | str) -> int:
    match = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", str(memory))
    try:
        size = float(match[1]) * UNITS[match[2].upper()] if match else 0.0
    except (KeyError, ValueError):
        size = 0.0
    if size < 1:
        raise ArgumentError(
            f"The 'memory' argument must be a size such as '4GB' or a number of bytes. Got {memory!r} instead."
        )
    return int(size)
