"""Drawing sequences from a Markov chain."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


@overload
def walk(steps: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], stored: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], wrap: int, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], uniform: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], out: Annotated[NDArray[numpy.int8], dict(shape=(None, None), device='cpu')]) -> int: ...

@overload
def walk(steps: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], stored: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], wrap: int, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], uniform: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], out: Annotated[NDArray[numpy.int16], dict(shape=(None, None), device='cpu')]) -> int: ...

@overload
def walk(steps: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], stored: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], wrap: int, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], uniform: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], out: Annotated[NDArray[numpy.int32], dict(shape=(None, None), device='cpu')]) -> int:
    """
    Draw the next symbols of several sequences; return the first sequence whose row is unknown, or −1.

    Parameters
    ----------
    steps : array, shape (n_states, n_rows)
        The distribution function of every row, state by state.
    stored : array of int64, shape (n_stored,)
        The contexts that have rows, as rising keys; empty when all of them do, and the key is the row.
    wrap : int
        n_states to the power of the order less one: what is left of a key when its oldest symbol goes.
    keys : array of int64, shape (n_sequences,)
        The context of each sequence; changed in place.
    uniform : array of float64, shape (n_steps, n_sequences)
        Any strides.
    out : array of int8, int16 or int32, shape (n_sequences, n_steps)
        The drawn codes; any strides.
    """
