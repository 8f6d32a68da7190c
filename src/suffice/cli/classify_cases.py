"""The cases of a file as a classifier takes them, a piece at a time, with what stands beside the inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from suffice.cli.classify_options import require_column
from suffice.cli.shared import as_read
from suffice.errors import ArgumentError, DataError, listing, suggestion

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.data.encode import ColumnEncoder
    from suffice.data.raw import Batch, RawStream, RawTable
    from suffice.data.readers.csv_file import CSV
    from suffice.data.stream import Policies
    from suffice.models.class_model import Posteriors
    from suffice.progress import Watch
    from suffice.types import Bools, Columns, Floats
    from suffice.values import Label

PIECE_ROWS = 1 << 16
"""So many rows are classified at a time at most, whatever the pieces of a file are."""


@dataclass(frozen=True)
class FileCases:
    """Some rows of a file.

    Attributes
    ----------
    columns : dict of str to array
        Codes and numbers of the inputs, and of the class where the file has it; −1 or NaN where a value is missing, or
        a class is not one that the model knows. Shape (n_rows,) each.
    n_rows : int
    weights : array, shape (n_rows,), or None
    kept : dict of str to Arrow array
        Columns as the file has them.
    """

    columns: Columns
    n_rows: int
    weights: Floats | None = None
    kept: Mapping[str, pa.Array] = field(default_factory=dict)

    def at(self, rows: slice | Bools, n_rows: int) -> FileCases:
        """Return some of the rows; ``rows`` is a slice, or a mask of rows that have nothing kept beside them."""
        weights = None if self.weights is None else self.weights[rows]
        columns = {name: values[rows] for name, values in self.columns.items()}
        return FileCases(columns, n_rows, weights, {name: values[rows] for name, values in self.kept.items()})

    def split(self) -> Iterator[FileCases]:
        """Yield the rows in order, at most `PIECE_ROWS` at a time."""
        for low in range(0, self.n_rows, PIECE_ROWS):
            high = min(low + PIECE_ROWS, self.n_rows)
            yield self.at(slice(low, high), high - low)


@dataclass
class CaseTally:
    """What a pass over the cases met besides values: whatever a person should hear of.

    Attributes
    ----------
    n_rows, n_with_gaps : int
        All rows, and those that lack an input.
    n_without_class, n_unknown_class : int
        Rows whose class is missing, and rows of a class that the model does not know.
    unknown_class : label or None
        The first such class.
    remarks : list of str
        What was decided about the inputs.
    """

    n_rows: int = 0
    n_with_gaps: int = 0
    n_without_class: int = 0
    n_unknown_class: int = 0
    unknown_class: Label | None = None
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CaseFile:
    """A file that is read against the variables of a classifier.

    Attributes
    ----------
    model : Posteriors
    stream : RawStream
    policies : Policies
        How the inputs are read.
    keep : tuple of str
        Columns to hand over as they are.
    drops : bool
        Rows that lack an input or the class are left out.
    target : str
        The column of the class in the file.
    """

    model: Posteriors
    stream: RawStream
    policies: Policies
    keep: tuple[str, ...] = ()
    drops: bool = False
    target: str = ""

    @classmethod
    def open(
        cls,
        model: Posteriors,
        data: str | CSV,
        *,
        weights: str | None = None,
        keep: tuple[str, ...] = (),
        drops: bool = False,
        unknown_states: str = "error",
        target: str | None = None,
    ) -> CaseFile:
        """Open a file; its columns are checked now, its rows are read later."""
        from suffice.data.readers import open_raw
        from suffice.data.stream import KEEP, StreamedTable
        from suffice.data.table import open_table

        inputs, schema = model.variables[:-1], model.schema
        raw = open_raw(data)
        _require_inputs(model, inputs, raw)
        if target is not None:
            _require_target(target, inputs, raw)
        table = open_table(
            data, inputs, schema=schema.select(inputs), weights=weights, missing=KEEP, unknown_states=unknown_states
        )
        assert isinstance(table, StreamedTable)  # as those of files are
        for name in keep:
            if name not in table.stream.names:
                raise DataError(
                    f"There is no column {name!r} to keep in the {table.description}. Its columns are "
                    f"{listing(table.stream.names, 12)}.{suggestion(name, table.stream.names)}"
                )
        return cls(model, table.stream, table.policies, tuple(dict.fromkeys(keep)), drops, target or model.target.name)

    @property
    def has_target(self) -> bool:
        """Whether the file has the column of the class."""
        return self.target in self.stream.names

    def read(self, watch: Watch, tally: CaseTally) -> Iterator[FileCases]:
        """Yield all rows in order, and note in ``tally`` what was met."""
        encoders = {name: self.policies.encoder(name, self.stream.text) for name in self.policies.columns}
        classes = self._class_encoder() if self.has_target else None
        weights = self.policies.weights
        names = [*encoders, *([self.target] if classes else []), *([weights] if weights else []), *self.keep]
        with watch.work(f"reading {self.stream.description}", self.stream.n_rows, "rows"):
            for batch in self.stream.batches(list(dict.fromkeys(names))):
                yield from self._cases(batch, encoders, classes, tally).split()
                tally.n_rows += batch.n_rows
                watch.advance(batch.n_rows)
        tally.remarks += [remark for encoder in encoders.values() for remark in encoder.remarks()]

    def _class_encoder(self) -> ColumnEncoder:
        """Return the encoder of the class; classes that the model does not know are counted, and no error."""
        from suffice.data.schema import declarations

        (declared,) = declarations(self.model.schema.select([self.model.target.name])).values()
        policies = replace(self.policies, declared={self.target: declared}, unknown_states="missing")
        return policies.encoder(self.target, self.stream.text)

    def _cases(
        self, batch: Batch, encoders: Mapping[str, ColumnEncoder], classes: ColumnEncoder | None, tally: CaseTally
    ) -> FileCases:
        from suffice.data.stream import checked_weights

        start, weights = tally.n_rows, None
        columns = {name: encoder.encode(batch.column(name), start) for name, encoder in encoders.items()}
        self._note_gaps(columns, tally)
        if classes is not None:
            columns[self.model.target.name] = codes = classes.encode(batch.column(self.target), start)
            tally.n_without_class += int((codes < 0).sum()) - (classes.n_unknown - tally.n_unknown_class)
            tally.n_unknown_class, tally.unknown_class = classes.n_unknown, classes.first_unknown
        if self.policies.weights:
            numbers = batch.column(self.policies.weights).numbers(start)
            weights = checked_weights(numbers, f"column {self.policies.weights!r}", start)
        kept = {name: _plain(as_read(batch.column(name))) for name in self.keep}
        return self._without_gaps(FileCases(columns, batch.n_rows, weights, kept))

    def _note_gaps(self, columns: Columns, tally: CaseTally) -> None:
        from suffice.data.stream import complete_rows

        whole = complete_rows(columns, "drop")
        if whole is None:
            return
        tally.n_with_gaps += int((~whole).sum())
        if not self.drops and not self.model.takes_gaps:
            raise self._refused(columns, tally.n_rows)

    def _refused(self, columns: Columns, start: int) -> DataError:
        from suffice.data.encode import missing_in

        gaps = {name: missing_in(values) for name, values in columns.items()}
        name, row = min(((name, int(mask.argmax())) for name, mask in gaps.items() if mask.any()), key=lambda at: at[1])
        return DataError(
            f"Column {name!r}, row {start + row + 1}: the value is missing. A {type(self.model).__name__} models the "
            "class given the inputs and knows nothing of how inputs are distributed, so it cannot do without one. "
            "Fill it in, leave the row out, or fit a classifier that can: --model naive, joint or gaussian."
        )

    def _without_gaps(self, cases: FileCases) -> FileCases:
        from suffice.data.stream import complete_rows

        whole = complete_rows(cases.columns, "drop") if self.drops else None
        return cases if whole is None else cases.at(whole, int(whole.sum()))


def _require_inputs(model: Posteriors, inputs: Sequence[str], raw: RawTable | RawStream) -> None:
    for name in inputs:
        if name not in raw.names:
            gap = " Add the column, empty where its values are not known." if model.takes_gaps else ""
            raise DataError(
                f"The classifier needs the column {name!r}, which is not in the {raw.description}. Its columns are "
                f"{listing(raw.names, 12)}.{suggestion(name, raw.names)}{gap}"
            )


def _require_target(target: str, inputs: Sequence[str], raw: RawTable | RawStream) -> None:
    if target in inputs:
        raise ArgumentError(f"{target!r} is an input of the classifier. Name the column of the class by --target.")
    require_column(target, raw.names, "--target")


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """Return a column of a piece as one Arrow array, dictionary codes as what they stand for."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
