"""A matrix of whole numbers as codes: each column a discrete variable, its distinct numbers the states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import EXACT, code_dtype
from suffice.data.class_codes import class_codes
from suffice.data.encode import MAX_INTEGER_STATES, REFUSE, above, remark_on_numbers, unknown_state
from suffice.data.schema import Declaration, SchemaLike, declarations
from suffice.data.variable import Variable
from suffice.native.codes import encode_known, encode_small
from suffice.types import Array, Codes

WIDTH = 1 << 12
"""States that span no more than this are looked up in tables."""


def suits_codes(matrix: Array) -> bool:
    """Whether an array is such a matrix: two axes, whole numbers or bools of at most 64 bits with a sign."""
    return (
        isinstance(matrix, np.ndarray)
        and matrix.ndim == 2
        and matrix.dtype.kind in "iub"
        and matrix.dtype != np.uint64
        and matrix.dtype.isnative
    )


def states_of_matrix(
    matrix: Array, names: Sequence[str], schema: SchemaLike | None = None, unknown_states: str = REFUSE
) -> tuple[Codes, tuple[Variable, ...], tuple[str, ...]] | None:
    """Read a matrix as the columns of a table would be read, all columns at once.

    It holds whole numbers or bools; or any numbers, where each column is compared with the same threshold.

    Returns
    -------
    codes : array, shape (n_rows, p)
    variables : tuple of Variable
    remarks : tuple of str
        Which columns were taken as discrete though nobody said so.

    None where the columns are of several kinds, or such as have to be read one by one.
    """
    declared = declarations(schema)
    said = [declared.get(name) for name in names]
    thresholds = {None if entry is None else entry.threshold for entry in said}
    if len(thresholds) == 1 and None not in thresholds and matrix.dtype.kind in "iuf":
        return above(matrix, *thresholds), tuple(_binary(name, declared[name]) for name in names), ()
    others = any(entry is not None and entry.kind != "discrete" for entry in said)
    if others or len(thresholds) > 1 or not suits_codes(matrix):
        return None
    given = [entry is not None and entry.states is not None for entry in said]
    if all(given):
        variables = tuple(Variable(name, declared[name].states, True) for name in names)
        fits = have_whole_states(variables)
        return (known_matrix(matrix, variables, unknown_states), variables, ()) if fits else None
    if any(given):
        return None
    codes, variables = encoded_matrix(matrix, names)
    unsaid = [v for v, entry in zip(variables, said, strict=True) if entry is None and not v.declared]
    if any(v.n_states > MAX_INTEGER_STATES for v in unsaid):
        return None
    return codes, variables, tuple(remark_on_numbers(v.name) for v in unsaid)


def _binary(name: str, entry: Declaration) -> Variable:
    assert entry.threshold is not None
    return entry.variable(name) or Variable.binary(name, entry.threshold)


def encoded_matrix(matrix: Array, names: Sequence[str]) -> tuple[Codes, tuple[Variable, ...]]:
    """Return the codes of a matrix of whole numbers or bools, shape (n_rows, p), and its variables.

    Examples
    --------
    >>> codes, (x, z) = encoded_matrix(np.array([[5, 0], [9, 1], [5, 1]]), ("x", "z"))
    >>> codes.tolist(), x.states, z.states
    ([[0, 0], [1, 1], [0, 1]], (5, 9), (0, 1))
    """
    if matrix.dtype.kind == "b":
        return matrix.view(np.int8), tuple(Variable(name, (False, True), True) for name in names)
    small = _small(matrix, names)
    if small is not None:
        return small
    columns = [class_codes(np.ascontiguousarray(column)) for column in matrix.T]
    variables = tuple(Variable(name, tuple(s.tolist())) for name, (s, _) in zip(names, columns, strict=True))
    codes = np.empty(matrix.shape, _dtype_for(variables))
    for place, (_, column) in enumerate(columns):
        codes[:, place] = column
    return codes, variables


def _small(matrix: Array, names: Sequence[str]) -> tuple[Codes, tuple[Variable, ...]] | None:
    """Encode numbers from 0 to 126 in one pass over them; None where there are others."""
    x = np.ascontiguousarray(matrix)
    codes, present = np.empty(x.shape, np.int8), np.zeros((x.shape[1], 127), np.bool_)
    if not encode_small(x, codes, present):
        return None
    n_states = present.sum(axis=1)
    gaps = n_states <= 126 - present[:, ::-1].argmax(axis=1)  # some number below the largest never occurs
    if gaps.any():
        codes = _recoded(codes, np.where(present, np.cumsum(present, axis=1) - 1, -1).astype(np.int8))
    labels = (np.flatnonzero(row).astype(matrix.dtype).tolist() for row in present)
    return codes, tuple(Variable(name, tuple(states)) for name, states in zip(names, labels, strict=True))


def _recoded(codes: NDArray[np.int8], tables: NDArray[np.int8]) -> NDArray[np.int8]:
    found = np.empty_like(codes)
    encode_known(codes, np.zeros(codes.shape[1], np.int64), tables, found)
    return found


def known_matrix(matrix: Array, variables: Sequence[Variable], unknown_states: str = REFUSE) -> Codes:
    """Return the codes of a matrix of whole numbers or bools whose variables are known.

    Parameters
    ----------
    matrix : array, shape (n_rows, p)
    variables : sequence of p discrete variables
        For which `have_whole_states` holds.
    unknown_states : {"error", "missing", "refuse"}
        What to do with numbers that are no states; missing ones have the code −1.

    Examples
    --------
    >>> known_matrix(np.array([[9], [7]]), [Variable("x", (5, 9))], "missing").tolist()
    [[1], [-1]]
    """
    numbers = [_states(variable) for variable in variables]
    narrow = all(not len(states) or int(states.max()) - int(states.min()) < WIDTH for states in numbers)
    if narrow:
        codes, n_unknown = _by_tables(matrix, numbers, _dtype_for(variables))
    else:
        codes, n_unknown = _by_search(matrix, numbers, _dtype_for(variables))
    if n_unknown and unknown_states in ("error", REFUSE):
        row, place = np.argwhere(codes < 0)[0].tolist()
        raise unknown_state(variables[place], matrix[row, place].item(), row, unknown_states == "error")
    return codes


def have_whole_states(variables: Sequence[Variable]) -> bool:
    """Whether all states are whole numbers or bools, so that `known_matrix` can find them."""
    return all(isinstance(state, int) and -EXACT < state < EXACT for v in variables for state in v.states or (0.5,))


def _states(variable: Variable) -> NDArray[np.int64]:
    return np.array([int(state) for state in variable.labels], np.int64)


def _by_tables(matrix: Array, numbers: Sequence[NDArray[np.int64]], dtype: type[np.signedinteger]) -> tuple[Codes, int]:
    low = np.array([states.min(initial=2**62) for states in numbers], np.int64)
    width = max((int(states.max()) - int(states.min()) + 1 for states in numbers if len(states)), default=1)
    tables = np.full((len(numbers), width), -1, dtype)
    for row, least, states in zip(tables, low, numbers, strict=True):
        row[states - least] = np.arange(len(states))
    codes = np.empty(matrix.shape, dtype)
    x = np.ascontiguousarray(matrix.view(np.uint8) if matrix.dtype.kind == "b" else matrix)
    return codes, encode_known(x, low, tables, codes)


def _by_search(matrix: Array, numbers: Sequence[NDArray[np.int64]], dtype: type[np.signedinteger]) -> tuple[Codes, int]:
    codes = np.full(matrix.shape, -1, dtype)
    for place, states in enumerate(numbers):
        if len(states):
            order = np.argsort(states)
            column = matrix[:, place].astype(np.int64)
            near = np.minimum(np.searchsorted(states, column, sorter=order), len(states) - 1)
            codes[:, place] = np.where(states[order][near] == column, order[near], -1)
    return codes, int((codes < 0).sum())


def _dtype_for(variables: Sequence[Variable]) -> type[np.int8] | type[np.int16] | type[np.int32]:
    return code_dtype(max((variable.n_states for variable in variables), default=1))
