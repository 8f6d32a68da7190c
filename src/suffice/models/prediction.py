"""Prediction: one variable's distribution given each row of a table, whatever the row lacks, exactly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np

from suffice.data.encode import UNKNOWN, missing_in
from suffice.data.raw import RawStream, RawTable
from suffice.data.readers import open_raw
from suffice.data.schema import Schema
from suffice.data.table import UNKNOWN_POLICIES
from suffice.data.variable import Variable
from suffice.errors import (
    DataError,
    Mention,
    ModelError,
    Remedy,
    Text,
    listing,
    require_choice,
    require_fraction,
    suggestion,
)
from suffice.models.evidence import Targets, targets_of
from suffice.models.numeric_predictions import NumericPredictions
from suffice.models.predictions import Predictions
from suffice.models.row_pieces import Piece, RowReader, pieces_of
from suffice.text import plural
from suffice.types import Columns, Floats, TableLike

AnyPredictions: TypeAlias = Predictions | NumericPredictions
IMPOSSIBLE_POLICIES = ("error", "nan")


@dataclass(frozen=True, eq=False)
class Answered:
    """What is said about some rows.

    Attributes
    ----------
    piece : Piece
        The rows as the table has them.
    found : mapping from str to array
        Of each target what `Prediction._predicted` returns.
    observed : mapping from str to array
        Of each target what the rows themselves have; targets without a column are left out.
    """

    piece: Piece
    found: Mapping[str, Floats]
    observed: Columns


@dataclass(frozen=True, eq=False)
class Predictor:
    """How rows are answered.

    Attributes
    ----------
    model : Prediction
    targets : tuple of Variable
    level : float
    impossible : {"error", "nan"}
    unknown_states : {"error", "missing"}
    """

    model: Prediction
    targets: tuple[Variable, ...]
    level: float = 0.95
    impossible: str = "error"
    unknown_states: str = "error"

    @classmethod
    def checked(
        cls, model: Prediction, targets: Targets, level: float, impossible: str, unknown_states: str
    ) -> Predictor:
        """Check what a user says."""
        require_choice("impossible", impossible, IMPOSSIBLE_POLICIES)
        require_choice("unknown_states", unknown_states, UNKNOWN_POLICIES)
        wanted = tuple(model.schema.variables[place] for place in targets_of(model.schema, targets))
        return cls(model, wanted, require_fraction("level", level), impossible, unknown_states)

    def answer(self, columns: Columns, n_rows: int, start: int) -> dict[str, Floats]:
        """Answer for rows of codes and values, of which the first is row ``start`` of the table."""
        own = {target.name for target in self.targets}
        evidence = {name: column for name, column in columns.items() if name not in own}
        found = self.model._predicted(self.targets, evidence, n_rows, start, self.level)
        unanswered = np.flatnonzero(np.any([np.isnan(rows).any(axis=1) for rows in found], axis=0))
        if len(unanswered) and self.impossible == "error":
            row = int(unanswered[0])
            reason = self.model._unanswered(evidence, row, start)
            raise ModelError(
                f"Row {start + row + 1}: {reason} Or pass ", Remedy("impossible", "nan"), ": such rows have no answer."
            )
        return {target.name: rows for target, rows in zip(self.targets, found, strict=True)}

    def results(self, parts: list[Answered], notes: tuple[str, ...]) -> dict[str, AnyPredictions]:
        """Return the predictions of each target, parts of the table put together."""
        return {target.name: self.result(target, parts, notes) for target in self.targets}

    def result(
        self, target: Variable, parts: list[Answered], notes: tuple[str, ...] = ()
    ) -> Predictions | NumericPredictions:
        """Return the predictions of one target."""
        found = np.concatenate([np.zeros((0, n_numbers(target))), *(part.found[target.name] for part in parts)])
        own = [part.observed[target.name] for part in parts if target.name in part.observed]
        if target.is_discrete:
            return Predictions(target, found, np.concatenate(own).astype(np.int64) if own else None, notes)
        mean, sd, lower, upper = found.T.copy()
        observed = np.concatenate(own).astype(np.float64) if own else None
        return NumericPredictions(target, mean, sd, lower, upper, self.level, observed, notes)


class PredictedRows:
    """One pass over a table: iterate for what is said about its rows, then ask for the notes.

    Parameters
    ----------
    predictor : Predictor
    raw : RawTable or RawStream
    keep : tuple of str
        Further columns that pieces are to have.
    """

    def __init__(self, predictor: Predictor, raw: RawTable | RawStream, keep: tuple[str, ...] = ()) -> None:
        if isinstance(raw, RawTable) and raw.weights is not None:
            raise DataError("A contingency table counts rows, of which each cell would have one answer. Pass rows.")
        self.predictor, self.raw = predictor, raw
        own = {target.name for target in predictor.targets}
        text = isinstance(raw, RawStream) and raw.text
        schema = predictor.model.schema
        marked = predictor.model._marked
        self._reader = RowReader(schema, raw.names, raw.description, predictor.unknown_states, text, own, marked)
        absent = [name for name in keep if name not in raw.names]
        if absent:
            raise DataError(
                f"The {raw.description} has no column {absent[0]!r} to keep. Its columns are {listing(raw.names, 12)}."
                + suggestion(absent[0], raw.names)
            )
        self._keep = keep
        self.n_rows = self.n_with_gaps = self.n_unanswered = 0

    def __iter__(self) -> Iterator[Answered]:
        own = [target.name for target in self.predictor.targets]
        for piece in pieces_of(self.raw, tuple(dict.fromkeys((*self._reader.names, *self._keep)))):
            columns = self._reader.read(piece)
            observed = {name: columns[name] for name in own if name in columns}
            found = self.predictor.answer(columns, piece.n_rows, piece.start)
            self.n_rows += piece.n_rows
            gaps = [missing_in(column) & (column != UNKNOWN) for name, column in columns.items() if name not in own]
            self.n_with_gaps += int(np.any(gaps, axis=0).sum()) if gaps else 0
            self.n_unanswered += int(np.any([np.isnan(rows).any(axis=1) for rows in found.values()], axis=0).sum())
            yield Answered(piece, found, observed)

    def notes(self) -> tuple[str, ...]:
        """Say what was ignored, summed out and taken as missing, once all rows have passed."""
        schema, own = self.predictor.model.schema, [target.name for target in self.predictor.targets]
        extra = [name for name in self.raw.names if name not in schema and name not in self._keep]
        absent = [name for name in schema if name not in self._reader.names and name not in own]
        present = [name for name in own if name in self._reader.names]
        notes = []
        if extra:
            notes.append(f"Ignored, being no variables of the model: {listing(extra)}.")
        if absent:
            notes.append(f"Summed or integrated out in all rows, having no column: {listing(absent)}.")
        if self.n_with_gaps:
            notes.append(f"{plural(self.n_with_gaps, 'row')} with missing values, which were summed or integrated out.")
        if present:
            compares = Mention("score()", "; score() compares with it")
            notes.append(Text(f"No evidence, being what is predicted: {listing(present)}", compares, "."))
        if self.n_unanswered:
            notes.append(f"{plural(self.n_unanswered, 'row')} impossible under the model, without an answer.")
        return (*notes, *self._reader.remarks())


class Prediction:
    """What a model says about one variable in every row of a table."""

    if TYPE_CHECKING:

        @property
        def schema(self) -> Schema:
            """The variables with their states."""

    @property
    def _marked(self) -> tuple[str, ...]:
        """Variables whose unknown states the model tells from missing values: none, where both are summed out."""
        return ()

    @overload
    def predict(
        self,
        target: str,
        data: TableLike,
        *,
        level: float = 0.95,
        impossible: str = "error",
        unknown_states: str = "error",
    ) -> AnyPredictions: ...
    @overload
    def predict(
        self,
        target: list[str] | tuple[str, ...],
        data: TableLike,
        *,
        level: float = 0.95,
        impossible: str = "error",
        unknown_states: str = "error",
    ) -> dict[str, AnyPredictions]: ...
    def predict(
        self,
        target: Targets,
        data: TableLike,
        *,
        level: float = 0.95,
        impossible: str = "error",
        unknown_states: str = "error",
    ) -> AnyPredictions | dict[str, AnyPredictions]:
        """Return p(target | row) and the most likely state, or mean and interval, for every row of a table, exactly.

        Parameters
        ----------
        target : str or sequence of str
            The variable to predict. Several are predicted each by itself; the states that are jointly most likely are
            what `map` and `impute` give.
        data : table
            What is known. Variables without a column and missing values are summed or integrated out. Columns that are
            no variables of the model are ignored, with a note. The targets' own columns are never evidence; where there
            are some, ``predictions.score()`` compares with them. Files are read a piece at a time.
        level : float
            Of continuous targets: the probability of the central interval.
        impossible : {"error", "nan"}
            What to do with rows that the model gives the probability zero: with ``"nan"`` they have no answer.
        unknown_states : {"error", "missing"}
            What to do with values that are no states of the model. ``"missing"`` takes them for missing values; given
            inputs, `ConditionalLogLinear`, indicators of the input are zero there.

        Returns
        -------
        Predictions or NumericPredictions
            Of a discrete target labels and probabilities; of a continuous one means, standard deviations and intervals.
            Of several targets a dict of them, by name.

        Raises
        ------
        ModelError
            When a row is impossible under the model, unless ``impossible="nan"``.

        See Also
        --------
        query : One answer for evidence by hand, of several variables jointly.
        impute : A whole table without gaps.

        Examples
        --------
        >>> import suffice as sf
        >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
        >>> print(fit.model.predict("A", {"B": ["u", "v", None]}))
        row  predicted    p(x)    p(y)
        ---  ---------  ------  ------
        1    x               1       0
        2    y          0.3333  0.6667
        3    x          0.5000  0.5000
        """
        predictor = Predictor.checked(self, target, level, impossible, unknown_states)
        rows = PredictedRows(predictor, open_raw(data))
        parts = list(rows)
        found = predictor.results(parts, rows.notes())
        return found[predictor.targets[0].name] if isinstance(target, str) else found

    @abstractmethod
    def _predicted(
        self, targets: tuple[Variable, ...], columns: Columns, n_rows: int, start: int, level: float
    ) -> list[Floats]:
        """Return what rows of codes and values say about targets that they do not have.

        Of each target the probabilities of its states, or mean, standard deviation and the ends of its interval; NaN in
        impossible rows. The first row is row ``start`` of the table.
        """

    @abstractmethod
    def _unanswered(self, columns: Columns, row: int, start: int) -> ModelError:
        """Return the error for a row that is impossible, or about which nothing is known.

        ``row`` is its place in the columns, of which the first row is row ``start`` of the table.
        """


def n_numbers(target: Variable) -> int:
    """Return how many numbers say what a row knows of a target."""
    return target.n_states if target.is_discrete else 4
