"""Codes of whole numbers that lie in a matrix, row after row."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


@overload
def encode_small(x: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')], present: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

@overload
def encode_small(x: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')], present: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

@overload
def encode_small(x: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')], present: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

@overload
def encode_small(x: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')], present: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

@overload
def encode_small(x: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')], present: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

@overload
def encode_small(x: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')], present: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> bool: ...

@overload
def encode_small(x: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')], present: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
    """
    Copy numbers from 0 to 126 into codes, and mark those that occur in each column.

    Return whether all numbers were such ones; where one was not, what was written is of no use.

    Parameters
    ----------
    x : array of integers, shape (n, p)
    codes : array of int8, shape (n, p)
        Output.
    present : array of bool, shape (p, 127)
        Output.
    """

@overload
def encode_known(x: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu')]) -> int: ...

@overload
def encode_known(x: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Fill the codes of numbers whose states are known; return how many are no states, whose code is −1.

    Parameters
    ----------
    x : array of integers, shape (n, p)
    low : array of int64, shape (p,)
        The least state of each column.
    tables : array of int8, int16 or int32, shape (p, width)
        The code of the number ``low[j] + c`` is ``tables[j, c]``, −1 where there is no such state.
    codes : array of the same type, shape (n, p)
        Output.
    """
