"""How predictions compare with what was observed: accuracy, log-loss and Brier score, or the errors of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.readers import open_raw
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ArgumentError
from suffice.models.row_pieces import RowReader, pieces_of
from suffice.text import fixed, html_table, number, plain_facts
from suffice.types import Array, Floats, Ints

Facts = list[tuple[str, str]]


@dataclass(frozen=True)
class StateScores:
    """How predicted states compare with those that were observed.

    Attributes
    ----------
    n : int
        The rows whose state was observed.
    n_unanswered : int
        Those of them that are impossible under the model. They count as errors, and play no part in the two losses.
    accuracy : float
        The part of the rows whose most likely state is the one observed.
    log_loss : float
        The mean of −log p(observed state), in nats; infinite where a state was observed that had no probability.
    brier : float
        The mean of Σ (p(state) − [state was observed])², between 0 and 2.
    """

    n: int
    n_unanswered: int
    accuracy: float
    log_loss: float
    brier: float

    @classmethod
    def of(cls, probabilities: Floats, predicted: Ints, observed: Ints) -> StateScores:
        """Compare rows of probabilities with codes, below zero where nothing was observed."""
        known = np.flatnonzero(observed >= 0)
        right = float((predicted[known] == observed[known]).mean()) if len(known) else np.nan
        held = known[predicted[known] >= 0]
        own = np.take_along_axis(probabilities[held], observed[held][:, None], axis=1)[:, 0]
        with np.errstate(divide="ignore"):
            log_loss = float(-np.log(own).mean()) + 0.0 if len(held) else np.nan
        squares = (probabilities[held] ** 2).sum(axis=1) - 2 * own + 1
        brier = float(squares.mean()) if len(held) else np.nan
        return cls(len(known), len(known) - len(held), right, log_loss, brier)

    @classmethod
    def total(cls, parts: Sequence[StateScores]) -> StateScores:
        """Return the scores of all rows from those of parts of them."""
        n, unanswered = sum(part.n for part in parts), sum(part.n_unanswered for part in parts)
        accuracy = _mean([(part.accuracy, part.n) for part in parts])
        held = [(part, part.n - part.n_unanswered) for part in parts]
        log_loss = _mean([(part.log_loss, weight) for part, weight in held])
        brier = _mean([(part.brier, weight) for part, weight in held])
        return cls(n, unanswered, accuracy, log_loss, brier)

    def facts(self) -> Facts:
        """List the numbers as (name, value)."""
        return [
            *_counted(self.n, self.n_unanswered),
            ("accuracy", fixed(self.accuracy)),
            ("log-loss of a row", fixed(self.log_loss)),
            ("Brier score", fixed(self.brier)),
        ]

    def __str__(self) -> str:
        return plain_facts(self.facts())

    def _repr_html_(self) -> str:
        return html_table(["", ""], [list(fact) for fact in self.facts()], "<>")


@dataclass(frozen=True)
class NumberScores:
    """How predicted numbers compare with those that were observed.

    Attributes
    ----------
    n : int
        The rows whose number was observed.
    n_unanswered : int
        Those of them that are impossible under the model, which are left out below.
    rmse, mae : float
        The root of the mean squared error, and the mean absolute error.
    coverage : float
        The part of the rows whose number lies in its interval; near ``level`` where the model is right.
    level : float
    """

    n: int
    n_unanswered: int
    rmse: float
    mae: float
    coverage: float
    level: float

    @classmethod
    def of(cls, found: Floats, observed: Floats, level: float) -> NumberScores:
        """Compare rows of mean, standard deviation and interval with numbers, NaN where nothing was observed."""
        known = ~np.isnan(observed)
        held = known & ~np.isnan(found[:, 0])
        n, unanswered = int(known.sum()), int((known & ~held).sum())
        if not held.any():
            return cls(n, unanswered, np.nan, np.nan, np.nan, level)
        error = found[held, 0] - observed[held]
        inside = (found[held, 2] <= observed[held]) & (observed[held] <= found[held, 3])
        rmse, mae = float(np.sqrt(np.mean(error**2))), float(np.abs(error).mean())
        return cls(n, unanswered, rmse, mae, float(inside.mean()), level)

    @classmethod
    def total(cls, parts: Sequence[NumberScores]) -> NumberScores:
        """Return the scores of all rows from those of parts of them."""
        n, unanswered = sum(part.n for part in parts), sum(part.n_unanswered for part in parts)
        held = [(part, part.n - part.n_unanswered) for part in parts]
        square = _mean([(part.rmse**2, weight) for part, weight in held])
        mae = _mean([(part.mae, weight) for part, weight in held])
        coverage = _mean([(part.coverage, weight) for part, weight in held])
        return cls(n, unanswered, float(np.sqrt(square)), mae, coverage, parts[0].level)

    def facts(self) -> Facts:
        """List the numbers as (name, value)."""
        return [
            *_counted(self.n, self.n_unanswered),
            ("root mean squared error", number(self.rmse)),
            ("mean absolute error", number(self.mae)),
            (f"inside the {100 * self.level:g} % interval", fixed(self.coverage)),
        ]

    def __str__(self) -> str:
        return plain_facts(self.facts())

    def _repr_html_(self) -> str:
        return html_table(["", ""], [list(fact) for fact in self.facts()], "<>")


def _mean(weighed: Sequence[tuple[float, int]]) -> float:
    """Return the mean of values that stand for so many rows each; NaN without rows."""
    held = [(value, weight) for value, weight in weighed if weight]
    return sum(value * weight for value, weight in held) / sum(weight for _, weight in held) if held else np.nan


def _counted(n: int, unanswered: int) -> Facts:
    without = [("  of them without an answer", number(unanswered, 12))] if unanswered else []
    return [("rows", number(n, 12)), *without]


def observed_of(variable: Variable, observed: Any, own: Array | None, n: int) -> Array:
    """Return what to compare with as codes or numbers: what a user says, or the column that the table had."""
    if observed is None:
        if own is None:
            raise ArgumentError(
                f"The table had no column {variable.name!r} to compare with. Pass what was observed: "
                "predictions.score(observed)."
            )
        return own
    raw = open_raw({variable.name: observed})
    reader = RowReader(Schema((variable,)), raw.names, raw.description)
    (piece,) = pieces_of(raw, reader.names)
    if piece.n_rows != n:
        raise ArgumentError(f"The 'observed' argument has {piece.n_rows:,} values for {n:,} rows. Give one a row.")
    return reader.read(piece)[variable.name]
