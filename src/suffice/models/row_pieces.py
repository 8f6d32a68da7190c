"""The rows of any table as codes and values, a piece at a time: what models read that fill gaps or predict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np

from suffice.data.encode import MARK, REFUSE, ColumnEncoder
from suffice.data.raw import RawColumn, RawStream, RawTable
from suffice.data.schema import Schema, declarations
from suffice.data.variable import Variable
from suffice.errors import DataError
from suffice.models.incomplete_rows import no_variable
from suffice.types import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows of a table, or all of them.

    Attributes
    ----------
    names : tuple of str
    column : callable
        From a name to its `RawColumn`.
    n_rows, start : int
        How many rows there are, and how many came before.
    text : bool
        The values are text as a file wrote it.
    """

    names: tuple[str, ...]
    column: Callable[[str], RawColumn]
    n_rows: int
    start: int = 0
    text: bool = False


def pieces_of(raw: RawTable | RawStream, names: tuple[str, ...]) -> Iterator[Piece]:
    """Yield some columns of a table: all rows at once where they are in memory, otherwise as they are read."""
    if isinstance(raw, RawTable):
        yield Piece(names, raw.column, raw.n_rows)
        return
    start = 0
    for batch in raw.batches(names):
        yield Piece(names, batch.column, batch.n_rows, start, raw.text)
        start += batch.n_rows


class RowReader:
    """Reads the variables of a model from the pieces of one table.

    Parameters
    ----------
    schema : Schema
    names : sequence of str
        The columns that the table has.
    description : str
        The table in a few words, for errors.
    unknown_states : {"error", "missing", "refuse"}
    text : bool
        The values are text as a file wrote it.
    lenient : collection of str
        Columns whose unknown states are missing values in any case.
    marked : collection of str
        Columns whose unknown states, where they are allowed, are told from missing values, as the code −2.
    """

    def __init__(
        self,
        schema: Schema,
        names: Collection[str],
        description: str,
        unknown_states: str = REFUSE,
        text: bool = False,
        lenient: Collection[str] = (),
        marked: Collection[str] = (),
    ) -> None:
        self.names = tuple(name for name in schema if name in names)
        if not self.names:
            raise no_variable(schema, tuple(names), description)
        declared = declarations(schema)

        def policy(name: str) -> str:
            if name in marked and unknown_states == "missing":
                return MARK
            return "missing" if name in lenient else unknown_states

        self._encoders = {name: ColumnEncoder(name, declared[name], False, policy(name), text) for name in self.names}

    def read(self, piece: Piece) -> dict[str, Array]:
        """Return the variables that a piece has as codes and values, −1 and NaN in gaps."""
        return {name: encoder.encode(piece.column(name), piece.start) for name, encoder in self._encoders.items()}

    def remarks(self) -> list[str]:
        """Say what was taken as missing so far."""
        return [remark for encoder in self._encoders.values() for remark in encoder.remarks()]


def require_finite(variables: tuple[Variable, ...], values: Floats, rows: Ints) -> None:
    """Refuse infinite evidence; ``rows`` are the rows' numbers in the table."""
    bad = np.isinf(values)
    if bad.any():
        row, place = (int(at) for at in np.argwhere(bad)[0])
        raise DataError(
            f"Column {variables[place].name!r}, row {rows[row] + 1}: evidence must be finite. Got {values[row, place]} "
            "instead; leave the value out if it is not known."
        )
