"""Predictions: the states of one variable in every row of a table, and how sure the model is of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.variable import Variable
from suffice.inference.log_tables import first_of_greatest
from suffice.models.imputation import labelled
from suffice.models.predicted_table import SHOWN_ROWS, Cells, PredictedTable
from suffice.models.prediction_scores import StateScores, observed_of
from suffice.text import probability
from suffice.types import Array, Floats, Ints
from suffice.values import Label

WIDE = 8
"""States up to which each has a column in print."""


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(PredictedTable):
    """p(target | row) of every row of a table, and the most likely state.

    Attributes
    ----------
    target : Variable
    probabilities : array, shape (n_rows, n_states)
        NaN in rows that are impossible under the model.
    observed : array of codes, shape (n_rows,), or None
        What the table itself had of the target, −1 where it had nothing: no evidence, but something to compare with.
    notes : tuple of str
        What was ignored, summed out and taken as missing.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
    >>> found = fit.model.predict("A", {"B": ["u", "v", None], "A": ["x", "y", "y"]})
    >>> print(found)
    row  predicted  p(x)    p(y)    observed
    ---  ---------  ------  ------  --------
    1    x               1       0  x
    2    y          0.3333  0.6667  y
    3    x          0.5000  0.5000  y
    >>> found.labels
    array(['x', 'y', 'x'], dtype=object)
    >>> print(found.score())
    rows               3
    accuracy           0.6667
    log-loss of a row  0.3662
    Brier score        0.2407
    """

    target: Variable
    probabilities: Floats = field(repr=False)
    observed: Ints | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.probabilities, self.observed):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.probabilities)

    # Answers --------------------------------------------------------------------------------------------------

    @property
    def states(self) -> tuple[Label, ...]:
        """The states of the target, in the order of the columns of `probabilities`."""
        return self.target.labels

    @cached_property
    def codes(self) -> Ints:
        """The number of the most likely state of each row, the first of several; −1 where there is no answer."""
        known = ~np.isnan(self.probabilities).any(axis=1)
        found = np.full(len(self), -1, np.int64)
        found[known] = first_of_greatest(self.probabilities[known])
        found.flags.writeable = False
        return found

    @property
    def labels(self) -> Array:
        """The most likely state of each row; None where there is no answer."""
        table = np.empty(len(self.states) + 1, object)
        table[:-1] = self.states
        return np.asarray(table[self.codes])

    @property
    def confidence(self) -> Floats:
        """The probability of the most likely state of each row; NaN where there is no answer."""
        return np.asarray(self.probabilities.max(axis=1), np.float64)

    def score(self, observed: Any = None) -> StateScores:
        """Return accuracy, log-loss and Brier score.

        Parameters
        ----------
        observed : sequence of labels, optional
            One a row, None where it is not known. Without it, what the table had of the target.
        """
        seen = observed_of(self.target, observed, self.observed, len(self))
        return StateScores.of(self.probabilities, self.codes, seen)

    # Tables ---------------------------------------------------------------------------------------------------

    def to_numpy(self) -> Floats:
        """Return the probabilities as a new array; shape (n_rows, n_states)."""
        return self.probabilities.copy()

    def columns(self, probabilities: bool = True) -> dict[str, Any]:
        """Return the columns of a table: ``predicted``, and ``p_…`` of every state where that is wanted."""
        found: dict[str, Any] = {"predicted": labelled(self.target, self.codes)}
        for code, label in enumerate(self.states if probabilities else ()):
            found[f"p_{label}"] = self.probabilities[:, code]
        return found

    def _cells(self) -> Cells:
        wide = len(self.states) <= WIDE
        header = ["row", "predicted", *([f"p({label})" for label in self.states] if wide else ["p"])]
        numbers = self.probabilities[:SHOWN_ROWS] if wide else self.confidence[:SHOWN_ROWS, None]
        labels = self.labels[:SHOWN_ROWS]
        rows = []
        for row, (label, values) in enumerate(zip(labels, numbers.tolist(), strict=True)):
            rows.append([str(row + 1), "-" if self.codes[row] < 0 else str(label), *map(probability, values)])
        align = "<<" + ">" * numbers.shape[1]
        if self.observed is not None:
            header.append("observed")
            for cells, code in zip(rows, self.observed.tolist(), strict=False):
                cells.append("-" if code < 0 else str(self.states[code]))
            align += "<"
        return header, rows, align
