"""Handing tables back: to pandas, Polars or PyArrow, whichever the user has or names."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suffice.errors import ArgumentError, require_choice, shown
from suffice.types import Array, Frame
from suffice.values import Label

BACKENDS = ("pandas", "polars", "pyarrow")


@contextlib.contextmanager
def unicode_required() -> Iterator[None]:
    """Explain, where a frame is made, that it cannot hold text that is not Unicode."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"The name or state {shown(error.object)} is not Unicode: it has half of a surrogate pair, so no frame can "
            "hold it. Rename it."
        ) from None


def has_columns(data: Any) -> bool:
    """Whether data is a frame, of any kind: pandas, Polars, PyArrow, Dask, Spark."""
    return hasattr(data, "columns")


def to_native(columns: Mapping[str, Array | Sequence[Label | None]], backend: str | None = None) -> Frame:
    """Build a frame from columns (lists, NumPy arrays or Arrow arrays).

    Parameters
    ----------
    columns : mapping from str to column
    backend : {"pandas", "polars", "pyarrow"}, optional
        The first of them that is installed, unless named.
    """
    import pyarrow as pa

    if backend is None:
        backend = next(name for name in BACKENDS if importlib.util.find_spec(name))
    require_choice("backend", backend, BACKENDS)
    if not importlib.util.find_spec(backend):
        raise ArgumentError(f"The backend {backend!r} is not installed. Install it, or choose another of {BACKENDS}.")
    with unicode_required():
        table = pa.table(dict(columns))
    if backend == "pandas":
        frame: Frame = table.to_pandas()
        return frame
    if backend == "polars":
        import polars

        in_polars = polars.from_arrow(table)
        assert isinstance(in_polars, polars.DataFrame)
        return in_polars
    in_arrow: Frame = table
    return in_arrow
