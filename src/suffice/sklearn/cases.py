"""Cases: rows of inputs with their classes and weights, which is what a classifier learns from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from suffice.data.block import code_dtype
from suffice.data.class_codes import class_codes
from suffice.data.matrix import MatrixColumns, MatrixTable
from suffice.data.sparse_matrix import SparseColumns, SparseTable
from suffice.data.stream import checked_weights
from suffice.data.variable import Variable
from suffice.errors import DataError, listing, shown
from suffice.sklearn.inputs import Inputs
from suffice.sklearn.tables import LabelsLike
from suffice.types import Array, Codes, Floats, Ints
from suffice.values import Label

NOTHING = ("NAType", "NaTType")


@dataclass(frozen=True)
class Cases:
    """Rows to learn from.

    Attributes
    ----------
    inputs : Inputs
    target : Variable
        The class.
    classes : array, shape (n_classes,)
        Its labels as they were given, in order.
    codes : array, shape (n_rows,)
        The class of each row.
    weights : array, shape (n_rows,), or None
    """

    inputs: Inputs
    target: Variable
    classes: Array
    codes: Codes
    weights: Floats | None

    def table(self) -> MatrixTable:
        """Return the rows in the form that `suffice.fit` reads: numbers as a matrix, or else codes."""
        held, target = self.inputs, self.target
        others: tuple[Variable, ...] = ()
        if isinstance(held.columns, SparseColumns):
            beside = {target.name: self.codes}
            return SparseTable(held.columns.matrix, held.variables, beside, (target,), self.weights, "sparse matrix")
        if isinstance(held.columns, MatrixColumns):
            matrix, inside = held.columns.matrix, held.variables
        else:
            numbers = tuple(variable for variable in held.variables if not variable.is_discrete)
            inside = numbers or held.variables
            others = tuple(variable for variable in held.variables if variable not in inside)
            matrix = np.column_stack([held.columns[variable.name] for variable in inside])
        beside = {variable.name: held.columns[variable.name] for variable in others} | {target.name: self.codes}
        return MatrixTable(matrix, inside, beside, (*others, target), self.weights, "table", held.remarks)


def read_cases(
    inputs: Inputs,
    y: LabelsLike | None,
    sample_weight: ArrayLike | None,
    *,
    name: str,
    classes: LabelsLike | None = None,
) -> Cases:
    """Put the classes and the weights beside the inputs; rows of weight zero count as absent.

    Parameters
    ----------
    name : str
        What the class is called.
    classes : array, optional
        All classes that there are, where more than those of y are known.
    """
    labels = _labels(y, inputs.n_rows)
    weights = _weights(sample_weight, inputs.n_rows)
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        inputs, labels, weights = inputs.rows(kept).as_if_alone(), labels[kept], weights[kept]
    known, codes = class_codes(labels) if classes is None else _coded_by(labels, classes)
    target = Variable(name, tuple(known.tolist()), classes is not None)
    return Cases(inputs, target, known, codes.astype(code_dtype(target.n_states)), weights)


def name_of(y: LabelsLike | None, inputs: tuple[str, ...]) -> str:
    """Return what the class is called: the name of y, where it has one, else ``class``; none of the inputs' names.

    >>> name_of([0, 1], ("x0", "class"))
    'class_'
    """
    named = getattr(y, "name", None)
    name = named if isinstance(named, str) and named else "class"
    while name in inputs:
        name += "_"
    return name


def _labels(y: LabelsLike | None, n_rows: int) -> Array:
    if y is None:
        raise DataError("A classifier requires y to be passed, but the target y is None. Pass the class of every row.")
    if isinstance(y, list | tuple):
        _refuse_gaps(y)  # beside text, NumPy would make NaN the text "nan"
    labels = _plain(column_or_1d(_without_mask(y), warn=True))
    if len(labels) != n_rows:
        raise DataError(f"X has {n_rows:,} rows, but y has {len(labels):,}. Each row needs one class.")
    if not _is_discrete(labels):  # others can be no classes at all, which takes long to find out
        if labels.dtype.kind == "f":
            _refuse_gaps(labels)
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
    return np.asarray(labels)


def _is_discrete(labels: Array) -> bool:
    return labels.dtype.kind in "iubUS" or (labels.dtype.kind == "O" and set(map(type, labels.tolist())) == {str})


def _without_mask(y: Any) -> LabelsLike:
    """Return a pandas column of nullable whole numbers or bools as NumPy's, which scikit-learn would make floats."""
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    masked = kind is not None and kind.kind in "iub" and not y.isna().any()
    found: LabelsLike = y.to_numpy(kind) if masked else y
    return found


def _plain(labels: Array) -> Array:
    """Return labels in an array of objects as bools or numbers where all of them are."""
    if labels.dtype.kind != "O":
        return labels
    listed = labels.tolist()
    _refuse_gaps(listed)
    kinds = set(map(type, listed))
    if len(kinds) == 1 and issubclass(kinds.pop(), bool | int | float | np.generic):
        return np.array(listed)
    return labels


def _refuse_gaps(labels: Array | Sequence[Label | None]) -> None:
    if isinstance(labels, np.ndarray):
        gaps = np.isnan(labels)
    elif not set(map(type, labels)) - {str, bool, int}:
        return
    else:
        gaps = np.array([_is_gap(label) for label in labels], bool)
    if gaps.any():
        raise DataError(
            f"y, row {int(np.argmax(gaps)) + 1}: the class is missing. Leave such rows out: to learn from them, too, "
            "takes expectation maximisation (EM), which is not there yet."
        )


def _is_gap(label: object) -> bool:
    """Whether a label is None, NaN, or the missing value of pandas, which need not be installed."""
    return label is None or (isinstance(label, float) and math.isnan(label)) or type(label).__name__ in NOTHING


def _coded_by(labels: Array, classes: LabelsLike) -> tuple[Array, Ints]:
    """Return classes that are given, in order, and the place of each row's among them."""
    known = np.unique(column_or_1d(classes))
    own, codes = class_codes(labels)
    odd = [label for label in own.tolist() if label not in set(known.tolist())]
    if odd:
        raise DataError(
            f"y holds the class {shown(odd[0])}, but the 'classes' argument has {listing(known.tolist())} only. Name "
            "all classes there in the first call."
        )
    return known, np.searchsorted(known, own)[codes]


def _weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        weights = np.empty((0, 0))
    weights = np.full(n_rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n_rows,):
        raise DataError(
            f"The 'sample_weight' argument must hold one number a row, {n_rows:,} in all. Got {shown(sample_weight)} "
            "instead."
        )
    if not weights.any():
        raise DataError("The 'sample_weight' argument must have a weight that is not zero. Got zeros only.")
    return checked_weights(weights, "'sample_weight'")
