"""One axis of a plane: a range of numbers, or the states of a discrete input side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, DataError, is_number
from suffice.models.capabilities import FittedEstimator
from suffice.models.class_model import Posteriors
from suffice.models.naive import NaiveModel
from suffice.report.class_inputs import Classifier, ClassInputs, FromRows
from suffice.types import Array, Floats
from suffice.values import Label

MARGIN = 0.06  # of the range of the points, left free around them
MOST_STATES = 200
SCATTER = 0.3  # how far points of a state, which would hide each other, are moved from its middle at most


@dataclass(frozen=True, eq=False)
class Axis:
    """One input over its values.

    Attributes
    ----------
    place : int
        Which column it is.
    name : str
    ticks : array, shape (n_ticks,)
        Where the grid is; 0, 1, … of states.
    points : array, shape (n_rows,)
        Where the data are; NaN where the value is missing.
    states : tuple
        The values that the ticks stand for; empty for numbers, which stand for themselves.
    rows : array, shape (n_states,)
        A row of the data that has each state.
    """

    place: int
    name: str
    ticks: Floats
    points: Floats
    states: tuple[Label, ...] = ()
    rows: NDArray[np.int64] | None = None

    @property
    def limits(self) -> tuple[float, float]:
        """Where the axis begins and ends."""
        if self.states:
            return -0.5, len(self.states) - 0.5
        return float(self.ticks[0]), float(self.ticks[-1])

    @property
    def edges(self) -> Floats:
        """Where the cells of the ticks begin and end, shape (n_ticks + 1,)."""
        return np.linspace(*self.limits, len(self.ticks) + 1)

    def over(self, repeat: Callable[[Array, int], Array], times: int) -> Floats | FromRows:
        """Return the values of the ticks for the rows of a table, repeated in one way or another."""
        return repeat(self.ticks, times) if self.rows is None else FromRows(repeat(self.rows, times))


def axis_of(inputs: ClassInputs, place: int, classifier: Classifier, grid: int) -> Axis:
    """Return the axis of a column: its range, or its states where it holds no numbers or the classifier counts it."""
    labels = _counted(classifier, place)
    if labels is None and inputs.holds_numbers(place):
        model = classifier.model_ if isinstance(classifier, FittedEstimator) else None
        is_count = isinstance(model, NaiveModel) and model.inputs[place].name in model.count_columns
        return _of_numbers(inputs, place, grid, 0.0 if is_count else -np.inf)
    return _of_states(inputs, place, labels or ())


def _counted(classifier: Classifier, place: int) -> tuple[Label, ...] | None:
    """Return the states of an input, where a classifier of this library says that it is discrete."""
    model = classifier.model_ if isinstance(classifier, FittedEstimator) else None
    told = model.inputs if isinstance(model, Posteriors) else ()
    return tuple(told[place].labels) if place < len(told) and told[place].is_discrete else None


def _of_numbers(inputs: ClassInputs, place: int, grid: int, least: float) -> Axis:
    name, points = str(inputs.names[place]), np.asarray(inputs.columns[place], np.float64)
    known = points[np.isfinite(points)]
    if not len(known):
        raise DataError(f"Column {name!r} has no number, so that its axis has no range. Choose another of 'features'.")
    low, high = float(known.min()), float(known.max())
    margin = MARGIN * (high - low) or max(abs(low), 1.0) * MARGIN
    return Axis(place, name, np.linspace(max(low - margin, least), high + margin, grid), points)


def _of_states(inputs: ClassInputs, place: int, labels: tuple[Label, ...]) -> Axis:
    name, first = str(inputs.names[place]), inputs.first_rows(place)
    if not first:
        raise DataError(f"Column {name!r} has no value, so that its axis has no states. Choose another of 'features'.")
    if len(first) > MOST_STATES:
        raise ArgumentError(
            f"Column {name!r} has {len(first):,} states, and a picture has room for {MOST_STATES}. Choose another of "
            "'features'."
        )
    order = {label: code for code, label in enumerate(labels)}
    # Those of the classifier in its order, then others as numbers or texts go.
    states = sorted(first, key=lambda state: (order.get(state, len(order)), not is_number(state), _rank(state)))
    code = {state: float(tick) for tick, state in enumerate(states)}
    noise = np.random.default_rng(place).uniform(-SCATTER, SCATTER, inputs.n_rows)
    points = np.array([code.get(value, np.nan) for value in inputs.columns[place].tolist()]) + noise
    rows = np.array([first[state] for state in states], np.int64)
    return Axis(place, name, np.arange(len(states), dtype=np.float64), points, tuple(states), rows)


def _rank(state: Label) -> Label:
    return state if is_number(state) else str(state)
