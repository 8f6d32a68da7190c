"""Features of positions given as matrices, one a sequence and a row a position."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from suffice.data.attribute_names import in_rows
from suffice.data.attributes import Attributes, Vocabulary, bucket, no_attributes, offsets_of
from suffice.errors import DataError, shown
from suffice.text import plural
from suffice.types import Array


class CompressedRows(Protocol):
    """A matrix or array of scipy.sparse that is compressed by rows."""

    @property
    def data(self) -> Array:
        """The values that are stored."""

    @property
    def indices(self) -> Array:
        """The column of each of them."""

    @property
    def indptr(self) -> Array:
        """Where each row begins among them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and of columns."""

    def toarray(self) -> Array:
        """Return the matrix with its zeros."""


class SparseMatrix(Protocol):
    """A matrix or array of scipy.sparse, in any of its forms."""

    def tocsr(self) -> CompressedRows:
        """Return the matrix compressed by rows."""


def is_sparse(value: object) -> TypeGuard[SparseMatrix]:
    """Whether a value is a matrix of scipy.sparse."""
    return hasattr(value, "tocsr")


def is_matrix(sequence: Any) -> bool:
    """Whether a sequence is a matrix of numbers, dense or sparse.

    >>> is_matrix(np.ones((2, 3))), is_matrix([[1, 2]]), is_matrix(np.array([["a", "b"]]))
    (True, False, False)
    """
    return is_sparse(sequence) or (
        isinstance(sequence, np.ndarray) and sequence.ndim == 2 and sequence.dtype.kind in "biuf"
    )


def read_matrices(
    sequences: list[Any], vocabulary: Vocabulary | None, n_buckets: int, name: str
) -> tuple[NDArray[np.int64], Attributes, Vocabulary]:
    """Return the offsets of sequences, their attributes, and the vocabulary.

    Columns are called ``0``, ``1`` and so on, unless a vocabulary names them.

    Examples
    --------
    >>> offsets, states, vocabulary = read_matrices([np.eye(2), np.array([[0, 7]])], None, 0, "X")
    >>> offsets.tolist(), states.codes.tolist(), vocabulary.names
    ([0, 2, 3], [0, 1, 1], ('0', '1'))
    """
    width = _width(sequences, name)
    offsets = offsets_of(0 if isinstance(matrix, list | tuple) else matrix.shape[0] for matrix in sequences)
    states = _stacked([matrix for matrix in sequences if not isinstance(matrix, list | tuple)], width)
    if states.values is not None and not np.isfinite(states.values).all():
        at = int(np.flatnonzero(~np.isfinite(states.values))[0])
        row = int(np.searchsorted(states.starts, at, "right")) - 1
        sequence = int(np.searchsorted(offsets, row, "right")) - 1
        raise DataError(
            f"Sequence {sequence + 1:,}, position {row - int(offsets[sequence]) + 1:,} of {name!r}: column "
            f"{int(states.codes[at])} holds {states.values[at]}. Values must be finite; write 0 where there is none."
        )
    if vocabulary is None:
        vocabulary = Vocabulary(() if n_buckets else tuple(map(str, range(width))), n_buckets)
    if vocabulary.is_hashed:
        table = np.array([bucket(str(column), len(vocabulary)) for column in range(width)], np.int32)
        states = Attributes(states.starts, table[states.codes], states.values, len(vocabulary))
    elif len(vocabulary) != width and len(states.starts) > 1:
        raise DataError(
            f"The matrices of {name!r} have {plural(width, 'column')}, but the vocabulary has {len(vocabulary):,}. "
            "Give the columns that were there in training."
        )
    return offsets, Attributes(states.starts, states.codes, states.values, len(vocabulary)), vocabulary


def _width(sequences: list[Any], name: str) -> int:
    """Return the number of columns, after checking that all have it."""
    width: int | None = None
    for number, matrix in enumerate(sequences, 1):
        if isinstance(matrix, list | tuple) and not matrix:
            continue
        if not is_matrix(matrix) or matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise DataError(
                f"Sequence {number:,} of {name!r} must be a matrix of numbers, as others are. Got {shown(matrix)} "
                "instead; give all sequences in one way."
            )
        if width not in (None, matrix.shape[1]):
            raise DataError(
                f"Sequence {number:,} of {name!r} has {plural(matrix.shape[1], 'column')}, but those before have "
                f"{width:,}. All matrices must have the same columns."
            )
        width = int(matrix.shape[1])
    return width or 0


def _stacked(matrices: list[Any], width: int) -> Attributes:
    """Return the rows of all matrices, without zeros."""
    from scipy.sparse import csr_array

    if not any(map(is_sparse, matrices)) and matrices:
        matrices = [np.concatenate(matrices)]
    # Put together by hand: scipy's vstack looks at each matrix for long, and sequences are many.
    rows = [matrix.tocsr() if is_sparse(matrix) else csr_array(matrix) for matrix in matrices]
    if not sum(matrix.shape[0] for matrix in rows):
        return no_attributes(0, width)
    data = np.concatenate([matrix.data[: matrix.indptr[-1]] for matrix in rows]).astype(np.float64, copy=False)
    codes = np.concatenate([matrix.indices[: matrix.indptr[-1]] for matrix in rows])
    codes = np.where(data == 0, -1, codes).astype(np.int32, copy=False)
    return in_rows(codes, data, np.concatenate([np.diff(matrix.indptr) for matrix in rows]), width)
