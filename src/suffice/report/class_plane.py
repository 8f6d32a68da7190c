"""A plane through the inputs of a classifier: two of them vary over a grid, the others are held or left open.

Any object with ``classes_`` and ``predict_proba`` is a classifier here; it is asked with a table of the kind that X
is, an array or a frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from suffice.errors import (
    ArgumentError,
    DataError,
    UnknownNameError,
    is_number,
    is_whole,
    listing,
    require_whole,
    shown,
    suggestion,
)

Floats = NDArray[np.float64]
MARGINAL = "marginal"
MARGIN = 0.06  # of the range of the points, left free around them
FLOOR = -700.0  # of log p: below it a contour has nothing left to interpolate


@dataclass(frozen=True, eq=False)
class Inputs:
    """A table of inputs, an array or a frame.

    Attributes
    ----------
    names : tuple of str
    columns : tuple of array
        The values of each, shape (n_rows,).
    frame : frame of narwhals, or None
        What a frame came as; None of an array.
    """

    names: tuple[Any, ...]
    columns: tuple[NDArray[Any], ...]
    frame: Any = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    def place(self, feature: Any, argument: str) -> int:
        """Return which column a position or a name means."""
        if is_whole(feature) and -len(self.names) <= feature < len(self.names):
            return int(feature) % len(self.names)
        if feature in self.names:
            return self.names.index(feature)
        raise UnknownNameError(
            f"The {argument!r} argument names the column {shown(feature)}, but the columns are "
            f"{listing(self.names, 12)}.{suggestion(feature, self.names)}"
        )

    def numbers(self, place: int) -> Floats:
        """Return a column as numbers, NaN where one is missing."""
        try:
            return np.asarray(self.columns[place], np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"The 'features' argument must name columns of numbers. {self.names[place]!r} has values such as "
                f"{shown(self.columns[place][0])}."
            ) from None

    def table(self, values: Mapping[int, Any], n: int) -> Any:
        """Return n rows of given values, an array or one number a column, as a table of the same kind."""
        if self.frame is None:
            kind = object if any(not _numeric(column) for column in self.columns) else np.float64
            found = np.empty((n, len(self.names)), kind)
            for place, value in values.items():
                found[:, place] = value
            return found
        return nw.from_dict(
            {name: self._series(place, values[place], n) for place, name in enumerate(self.names)}
        ).to_native()

    def _series(self, place: int, value: Any, n: int) -> Any:
        name, backend = self.names[place], self.frame.implementation
        if isinstance(value, np.ndarray):
            return nw.new_series(name, value, nw.Float64(), backend=backend)
        dtype = self.frame[name].dtype
        is_gap = is_missing(value)
        if dtype.is_numeric() and (is_gap or not is_whole(value)):
            gap = None if is_gap and not backend.is_pandas() else np.nan
            return nw.new_series(name, [gap if is_gap else float(value)] * n, nw.Float64(), backend=backend)
        rows = np.flatnonzero(self.columns[place] == value)
        if len(rows):  # taken from the column itself, which keeps its categories
            return self.frame[name][np.full(n, rows[0]).tolist()]
        return nw.new_series(name, [None if is_gap else value] * n, dtype, backend=backend)


def inputs_of(X: Any, classifier: Any) -> Inputs:  # noqa: N803 - the name that scikit-learn gives it
    """Read a table of inputs of a classifier."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        names = tuple(frame.columns)
        columns = tuple(frame[name].to_arrow().to_numpy(zero_copy_only=False) for name in names)
    else:
        matrix, frame = np.asarray(X), None
        if matrix.ndim != 2:
            raise ArgumentError(
                "The 'X' argument must be a frame, or an array with a row for each case and a column for each input. "
                f"Got {shown(X)} instead."
            )
        columns = tuple(matrix.T)
        names = _told_names(classifier, len(columns))
    if len(columns) < 2:
        raise ArgumentError(
            f"The 'X' argument must have two columns or more, which become the axes. Got {len(columns)}."
        )
    return Inputs(names, columns, frame)


def _told_names(classifier: Any, n: int) -> tuple[str, ...]:
    told = getattr(classifier, "feature_names_in_", None)
    return tuple(told) if told is not None and len(told) == n else tuple(f"x{place}" for place in range(n))


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and np.isnan(value))


def _numeric(column: NDArray[Any]) -> bool:
    return column.dtype.kind in "biuf"


# Where the others are held ------------------------------------------------------------------------------------


def held(inputs: Inputs, axes: tuple[int, int], at: Any) -> dict[int, Any]:
    """Return the value of every column that is no axis; None is missing."""
    others = [place for place in range(len(inputs.names)) if place not in axes]
    if isinstance(at, str) and at == MARGINAL:
        return {place: np.nan if _numeric(inputs.columns[place]) else None for place in others}
    if at is not None and not isinstance(at, Mapping):
        raise ArgumentError(
            f"The 'at' argument must be a mapping from columns to values, 'marginal', or None. Got {shown(at)} instead."
        )
    told = {inputs.place(feature, "at"): value for feature, value in (at or {}).items()}
    for place in axes:
        if place in told:
            raise ArgumentError(f"The 'at' argument holds {inputs.names[place]!r}, which is an axis. Leave it out.")
    return {place: told[place] if place in told else typical(inputs.columns[place]) for place in others}


def typical(column: NDArray[Any]) -> Any:
    """Return a column's mean, an observed median of whole numbers, or the most frequent of other values.

    >>> typical(np.array([1.0, 2.0, np.nan, 6.0])), typical(np.array([1, 2, 9])), typical(np.array(["a", "b", "b"]))
    (3.0, 2, 'b')
    """
    if column.dtype.kind == "f":
        known = column[~np.isnan(column)]
        return float(known.mean()) if len(known) else np.nan
    if column.dtype.kind in "iu":
        return int(np.sort(column)[(len(column) - 1) // 2])
    seen: dict[Any, int] = {}
    for value in column.tolist():
        if not is_missing(value):
            seen[value] = seen.get(value, 0) + 1
    return max(seen, key=seen.__getitem__) if seen else None


# The plane ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassPlane:
    """Class probabilities over a grid of two inputs.

    Attributes
    ----------
    axes : pair of int
        Which columns are the axes.
    names : pair of str
        What they are called.
    across, up : array, shape (grid,)
        Where the grid is.
    log_p : array, shape (grid, grid, n_classes)
        log p(class | inputs) by up, across and class; NaN where the inputs are impossible under every class.
    points : array, shape (n_rows, 2)
        The data on these axes.
    """

    axes: tuple[int, int]
    names: tuple[str, str]
    across: Floats
    up: Floats
    log_p: Floats
    points: Floats

    @property
    def winners(self) -> NDArray[np.int64]:
        """The most likely class of every place, −1 where there is none; shape (grid, grid)."""
        found = np.asarray(np.where(np.isnan(self.log_p), -np.inf, self.log_p).argmax(axis=-1), np.int64)
        return np.where(np.isnan(self.log_p).any(axis=-1), -1, found)

    def lead(self, k: int) -> Floats:
        """Return log p_k − log max p_j over the other classes: zero is the boundary of k's region."""
        return np.asarray(self.log_p[..., k] - np.delete(self.log_p, k, axis=-1).max(axis=-1), np.float64)

    def log_odds(self) -> Floats:
        """Return the log-odds of the most likely class against all others together."""
        top = self.log_p.max(axis=-1)
        rest = np.sort(self.log_p, axis=-1)[..., :-1]
        with np.errstate(invalid="ignore"):
            return np.asarray(top - np.logaddexp.reduce(rest, axis=-1), np.float64)


def class_plane(classifier: Any, inputs: Inputs, features: Any, at: Any = None, grid: int = 200) -> ClassPlane:
    """Ask a classifier for the classes over a grid of two inputs."""
    grid = require_whole("grid", grid, 2)
    axes = _axes(inputs, features)
    points = np.column_stack([inputs.numbers(place) for place in axes])
    across, up = (_ticks(points[:, i], inputs.names[place], grid) for i, place in enumerate(axes))
    values = held(inputs, axes, at)
    # Order of the columns: an array's follow from their places, a frame's from their names.
    values |= {axes[0]: np.tile(across, grid), axes[1]: np.repeat(up, grid)}
    log_p = np.maximum(_log_proba(classifier, inputs.table(values, grid * grid)), FLOOR)
    names = (str(inputs.names[axes[0]]), str(inputs.names[axes[1]]))
    return ClassPlane(axes, names, across, up, log_p.reshape(grid, grid, -1), points)


def _axes(inputs: Inputs, features: Any) -> tuple[int, int]:
    if isinstance(features, str) or not isinstance(features, Sequence | np.ndarray) or len(features) != 2:
        raise ArgumentError(f"The 'features' argument must be two columns, (0, 1). Got {shown(features)} instead.")
    first, second = (inputs.place(feature, "features") for feature in features)
    if first == second:
        raise ArgumentError(
            f"The 'features' argument must be two different columns. Got {inputs.names[first]!r} twice."
        )
    return first, second


def _ticks(values: Floats, name: Any, grid: int) -> Floats:
    known = values[np.isfinite(values)]
    if not len(known):
        raise DataError(f"Column {name!r} has no number, so that its axis has no range. Choose another of 'features'.")
    low, high = float(known.min()), float(known.max())
    margin = MARGIN * (high - low) or max(abs(low), 1.0) * MARGIN
    return np.linspace(low - margin, high + margin, grid)


def _log_proba(classifier: Any, table: Any) -> Floats:
    if hasattr(classifier, "predict_log_proba"):
        return np.asarray(classifier.predict_log_proba(table), np.float64)
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(classifier.predict_proba(table), np.float64))


def require_levels(levels: Any) -> list[float]:
    """Return probabilities between 0 and 1, in order."""
    listed = [levels] if is_number(levels) or isinstance(levels, str) or not np.iterable(levels) else list(levels)
    found = {float(level) for level in listed if is_number(level) and 0 < level < 1}
    if len(found) < len(set(map(repr, listed))):
        raise ArgumentError(
            f"The 'levels' argument must be probabilities between 0 and 1, [0.9]. Got {shown(levels)} instead."
        )
    return sorted(found)
