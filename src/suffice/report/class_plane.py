"""A plane through the inputs of a classifier: two of them vary over a grid, the others are held or left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, is_number, require_whole, shown
from suffice.report.class_axis import Axis, axis_of
from suffice.report.class_inputs import Classifier, ClassInputs, Filled, Value, has, is_missing, is_numeric
from suffice.types import Array, Floats, TableLike
from suffice.values import Label

Held: TypeAlias = "Mapping[str | int, Label | None] | str | None"
"""Where the inputs are held that are no axes: values by column, or ``"marginal"``."""
Features: TypeAlias = "Sequence[str | int] | Array | None"
"""The columns of the axes."""

MARGINAL = "marginal"
FLOOR = -700.0  # of log p: below it a contour has nothing left to interpolate


# Where the others are held ------------------------------------------------------------------------------------


def held(inputs: ClassInputs, axes: tuple[int, int], at: Held) -> dict[int, Filled]:
    """Return the value of every column that is no axis; None is missing."""
    others = [place for place in range(len(inputs.names)) if place not in axes]
    if isinstance(at, str) and at == MARGINAL:
        return {place: np.nan if is_numeric(inputs.columns[place]) else None for place in others}
    if at is not None and not isinstance(at, Mapping):
        raise ArgumentError(
            f"The 'at' argument must be a mapping from columns to values, 'marginal', or None. Got {shown(at)} instead."
        )
    told = {inputs.place(feature, "at"): value for feature, value in (at or {}).items()}
    for place in axes:
        if place in told:
            raise ArgumentError(f"The 'at' argument holds {inputs.names[place]!r}, which is an axis. Leave it out.")
    return {place: told[place] if place in told else typical(inputs.columns[place]) for place in others}


def typical(column: Array) -> Value:
    """Return a column's mean, an observed median of whole numbers, or the most frequent of other values.

    >>> typical(np.array([1.0, 2.0, np.nan, 6.0])), typical(np.array([1, 2, 9])), typical(np.array(["a", "b", "b"]))
    (3.0, 2, 'b')
    """
    if column.dtype.kind == "f":
        known = column[~np.isnan(column)]
        return float(known.mean()) if len(known) else np.nan
    if column.dtype.kind in "iu":
        return int(np.sort(column)[(len(column) - 1) // 2])
    seen: dict[Value, int] = {}
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
    across, up : Axis
    log_p : array, shape (n_up, n_across, n_classes)
        log p(class | inputs) by up, across and class; NaN where the inputs are impossible under every class.
    """

    across: Axis
    up: Axis
    log_p: Floats

    @property
    def axes(self) -> tuple[int, int]:
        """Which columns are the axes."""
        return self.across.place, self.up.place

    @property
    def points(self) -> Floats:
        """The data on these axes, shape (n_rows, 2)."""
        return np.column_stack([self.across.points, self.up.points])

    @property
    def has_states(self) -> bool:
        """Whether an axis has states, between which there is nothing."""
        return bool(self.across.states or self.up.states)

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


def class_plane(
    classifier: Classifier, inputs: ClassInputs, features: Features = None, at: Held = None, grid: int = 200
) -> ClassPlane:
    """Ask a classifier for the classes over a grid of two inputs."""
    grid = require_whole("grid", grid, 2)
    axes = _axes(inputs, features)
    across, up = (axis_of(inputs, place, classifier, grid) for place in axes)
    n_across, n_up = len(across.ticks), len(up.ticks)
    values = held(inputs, axes, at)
    values |= {axes[0]: across.over(np.tile, n_up), axes[1]: up.over(np.repeat, n_across)}
    log_p = np.maximum(_log_proba(classifier, inputs.table(values, n_across * n_up)), FLOOR)
    return ClassPlane(across, up, log_p.reshape(n_up, n_across, -1))


def _axes(inputs: ClassInputs, features: Features) -> tuple[int, int]:
    if features is None:
        numbers = [place for place in range(len(inputs.names)) if inputs.holds_numbers(place)]
        return (numbers[0], numbers[1]) if len(numbers) > 1 else (0, 1)
    if isinstance(features, str) or not isinstance(features, Sequence | np.ndarray) or len(features) != 2:
        raise ArgumentError(f"The 'features' argument must be two columns, (0, 1). Got {shown(features)} instead.")
    first, second = (inputs.place(feature, "features") for feature in features)
    if first == second:
        raise ArgumentError(
            f"The 'features' argument must be two different columns. Got {inputs.names[first]!r} twice."
        )
    return first, second


def _log_proba(classifier: Any, table: TableLike) -> Floats:
    if has(classifier, "predict_log_proba"):
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
