"""How kernels are compiled: lazily, cached on disk where that is possible, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function when it is first called.

    No signatures (read-only arrays are a type of their own), no ``fastmath`` (log space needs its infinities), no
    ``parallel`` (threads are a pool over fixed ranges, so that results do not depend on their number).
    """
    try:
        compiled: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to write a cache
        compiled = numba.njit(nogil=True)(function)
    return compiled  # type: ignore[no-any-return]
