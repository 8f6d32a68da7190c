"""Sums and products of long vectors, in one reading of them."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


@overload
def add_then_dot(result: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], factor: float, row: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], other: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

@overload
def add_then_dot(result: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], factor: float, row: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], other: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """
    Add ``factor`` times ``row`` to ``result``, and return its product with ``other`` then.
    """
