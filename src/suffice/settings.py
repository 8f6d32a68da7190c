"""Settings of the whole library: threads and memory."""

from __future__ import annotations

import functools
import os
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from suffice.errors import ArgumentError, Mention, Remedy, is_number, require_whole

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
MOST_GIGABYTES = 1024
"""More than this no remedy asks for."""


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
    changes = {}
    if threads is not None:
        changes["threads"] = require_whole("threads", threads, 1)
    if memory is not None:
        changes["memory"] = _bytes(memory)
    _current = replace(_current, **changes)
    return _current


def more_memory(need: int) -> Remedy | Mention:
    """Return the remedy of what takes so many bytes: the next power of two of gigabytes, where a machine may have it.

    >>> print(more_memory(5 * 10**9))
    sf.config(memory='8GB')
    >>> print(more_memory(10**15))
    sf.config(memory=…)
    """
    if need > MOST_GIGABYTES * 10**9:
        return Mention("memory", "sf.config(memory=…)")
    size = 1
    while size * 10**9 < need:
        size *= 2
    return Remedy("memory", f"{size}GB", call="sf.config(…)")


def _bytes(memory: object) -> int:
    match = re.fullmatch(r"\s*([0-9]{0,15}\.?[0-9]{1,15})\s*([A-Za-z]*)\s*", str(memory)) if _sized(memory) else None
    unit = UNITS.get(match[2].upper()) if match else None
    if match is None or unit is None or float(match[1]) * unit < 1:
        shown = repr(memory) if _sized(memory) else type(memory).__name__
        raise ArgumentError(
            f"The 'memory' argument must be a size such as '4GB' or a number of bytes. Got {shown} instead."
        )
    return int(float(match[1]) * unit)


def _sized(memory: object) -> bool:
    """Whether a value could be a size: text, or a number that is not absurdly long."""
    return isinstance(memory, str) or (is_number(memory) and abs(memory) < 1e18)


def one_blas_thread() -> AbstractContextManager[object]:
    """Let linear algebra run on one thread for a while.

    Fits call it on small matrices, often; waking other threads then takes more time than they save.
    """
    limited: AbstractContextManager[object] = _blas().limit(limits=1, user_api="blas")
    return limited


@functools.cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
