"""How kernels are compiled: lazily, cached on disk where that is possible, without the interpreter lock.

Kernels may call those of other files. Numba's cache looks at a function's own file only, so that an edit elsewhere
would go unseen; the cache therefore lies in a folder named after the contents of all kernel files.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba

HERE = Path(__file__).parent


def fingerprint(folder: Path = HERE) -> str:
    """Return a name for the contents of all files of kernels."""
    content = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        content.update(path.read_bytes())
    return content.hexdigest()[:16]


FINGERPRINT = fingerprint()


@contextlib.contextmanager
def _cache_of_these_files() -> Iterator[None]:
    """Let functions that are decorated meanwhile keep their cache in the folder of the fingerprint."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str((Path(before) if before else HERE / "__pycache__") / f"kernels-{FINGERPRINT}")
    try:
        yield
    finally:
        config.CACHE_DIR = before


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function when it is first called.

    No signatures (read-only arrays are a type of their own), no ``fastmath`` (log space needs its infinities), no
    ``parallel`` (threads are a pool over fixed ranges, so that results do not depend on their number).
    """
    try:
        with _cache_of_these_files():
            compiled: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to write a cache
        compiled = numba.njit(nogil=True)(function)
    return compiled  # type: ignore[no-any-return]
