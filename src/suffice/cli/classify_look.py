"""A look at a file before a classifier is learnt from it: what its columns are, and how many classes there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.cli.classify_options import require_column
from suffice.errors import ArgumentError, DataError, shown

if TYPE_CHECKING:
    from suffice.data.raw import RawColumn
    from suffice.data.readers.csv_file import CSV
    from suffice.data.schema import Declaration, Schema
    from suffice.structures.structure import Structure
    from suffice.values import Label


@dataclass(frozen=True)
class Look:
    """What can be known of a file before the pass that a fit makes.

    Attributes
    ----------
    cases : table
    declared : dict of str to Declaration
        What was said of columns.
    """

    cases: str | CSV
    declared: Mapping[str, Declaration]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file."""
        from suffice.data.readers import open_raw

        return open_raw(self.cases).names

    def schema(self, structure: Structure) -> Schema:
        """Return the variables of a structure as far as the first piece of the file shows them."""
        from suffice.data.stream import KEEP
        from suffice.data.table import open_table

        known = {**structure.declared, **self.declared}
        return open_table(
            self.cases, structure.columns, schema=known, continuous=structure.continuous, missing=KEEP
        ).schema

    def n_classes(self, target: str) -> int:
        """Count the classes, in a pass over their column."""
        from suffice.data.schema import categorical
        from suffice.data.stream import KEEP
        from suffice.data.table import open_table

        known = {target: self.declared.get(target, categorical())}
        table = open_table(self.cases, [target], schema=known, missing=KEEP, unknown_states="missing")
        for _ in table.blocks():
            pass
        return table.settled().schema[target].n_states

    def measured(self, names: Sequence[str]) -> dict[str, Declaration]:
        """Declare continuous those columns whose values are numbers in the first piece, unless something was said."""
        from suffice.data.schema import continuous

        asked = [name for name in names if name not in self.declared]
        found = self._first(asked)
        return {name: continuous() for name in asked if found[name].all_numbers}

    def require_rows(self, target: str) -> None:
        """Refuse a file without rows."""
        if not self._first([target]):
            from suffice.data.readers import open_raw

            raise DataError(
                f"The {open_raw(self.cases).description} has no rows, so that there is nothing to learn from."
            )

    def require_numbers(self, names: Sequence[str], model: str) -> None:
        """Refuse inputs that are no numbers or were declared discrete, for a model that takes nothing but numbers."""
        found = self._first(names)
        discrete = [name for name in names if name in self.declared and self.declared[name].kind == "discrete"]
        odd = [name for name in names if name in discrete or (name not in self.declared and found[name].no_numbers)]
        if odd:
            name = odd[0]
            holds = (
                "was declared discrete" if name in discrete else f"holds values such as {shown(found[name].example)}"
            )
            raise ArgumentError(
                f"Column {name!r} {holds}, and --model {model} takes numbers. Leave out what is no number, --exclude "
                f"{','.join(odd)!r}, or use --model naive, which takes both."
            )

    def require_weights(self, name: str) -> None:
        """Refuse a column of weights that is not there or has no number."""
        require_column(name, self.names, "--weights")
        found = self._first([name])
        if found and found[name].no_numbers:
            raise ArgumentError(
                f"The option --weights names the column {name!r}, which holds values such as "
                f"{shown(found[name].example)}. It takes one with a number for each row."
            )

    def _first(self, names: Sequence[str]) -> dict[str, Glimpse]:
        """Return what columns hold in the first piece; nothing where the file has no rows."""
        from suffice.data.readers import open_raw

        raw: Any = open_raw(self.cases)  # whose batches are generators, which can be closed
        with closing(raw.batches(list(names))) as batches:
            for batch in batches:
                if batch.n_rows:
                    return {name: Glimpse.of(batch.column(name), raw.text) for name in names}
        return {}


class Glimpse(NamedTuple):
    """What the first piece of a column holds.

    Attributes
    ----------
    all_numbers, no_numbers : bool
        Whether all values are numbers, as a file writes them or by their type; whether there are values, and none is.
    example : label or None
        Its first value.
    """

    all_numbers: bool
    no_numbers: bool
    example: Label | None

    @classmethod
    def of(cls, column: RawColumn, text: bool) -> Glimpse:
        """Look at a column; ``text`` means that its values are as a file wrote them."""
        from suffice.data.raw import is_number

        if not text and column.origin in ("integer", "float"):
            return cls(True, False, None)
        labels = list(column.labels)
        numbers = [isinstance(label, Number) or (text and is_number(label)) for label in labels]
        example = labels[0] if labels else None
        return cls(text and bool(labels) and all(numbers), bool(labels) and not any(numbers), example)
