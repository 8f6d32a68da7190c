"""A look at a file before a classifier is learnt from it: what its columns are, and how many classes there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Look:
    """What can be known of a file before the pass that a fit makes.

    Attributes
    ----------
    cases : table
    declared : dict of str to Declaration
        What was said of columns.
    """

    cases: Any
    declared: Mapping[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file."""
        from suffice.data.readers import open_raw

        return open_raw(self.cases).names

    def schema(self, structure: Any) -> Any:
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

    def measured(self, names: Sequence[str]) -> dict[str, Any]:
        """Declare continuous those columns whose values are numbers in the first piece, unless something was said."""
        from suffice.data.readers import open_raw
        from suffice.data.schema import continuous

        raw: Any = open_raw(self.cases)
        asked = [name for name in names if name not in self.declared]
        with closing(raw.batches(asked)) as batches:
            for batch in batches:
                if batch.n_rows:
                    return {name: continuous() for name in asked if _holds_numbers(batch.column(name), raw.text)}
        return {}


def _holds_numbers(column: Any, text: bool) -> bool:
    """Whether all values of a column are numbers, as a file writes them or by its type."""
    from suffice.data.raw import is_number

    if not text:
        return column.origin in ("integer", "float")
    return bool(column.labels) and all(map(is_number, column.labels))
