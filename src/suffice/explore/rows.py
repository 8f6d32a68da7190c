"""Rows of a table as evidence, one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from suffice.data.encode import MARK, UNKNOWN
from suffice.data.readers import open_raw
from suffice.data.schema import Schema
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.errors import ArgumentError, listing
from suffice.report.page.entries import Spec
from suffice.stats.source import BlockSource
from suffice.types import Array, TableLike

MOST_ROWS = 100_000
MOST_AT_ONCE = 1_000


@dataclass(frozen=True, eq=False)
class EvidenceRows:
    """The rows of a table that are kept, column by column.

    Attributes
    ----------
    columns : dict of int to array, shape (n_rows,)
        By node: codes, −1 where the value is missing and −2 where it is no state; numbers, NaN where it is missing.
    n_rows : int
    notes : list of str
        What was left out.
    """

    columns: dict[int, Array] = field(repr=False)
    n_rows: int
    notes: list[str]

    @classmethod
    def read(cls, data: TableLike, schema: Schema, names: Sequence[str]) -> EvidenceRows:
        """Read a table, up to 100,000 rows of it.

        Parameters
        ----------
        data : table
            Anything that `suffice.fit` reads.
        schema : Schema
            That of the model.
        names : sequence of str
            By node.
        """
        columns = open_raw(data).names
        known = [name for name in columns if name in schema]
        if not known:
            raise ArgumentError(
                f"The table has no column of evidence: its columns are {listing(columns, 12)}, and the variables of "
                f"the model {listing(list(schema), 12)}."
            )
        others = [name for name in columns if name not in schema]
        notes = [f"Columns that are no variables of the model are left out: {listing(others, 6)}."] if others else []
        table = open_table(data, known, schema=schema.select(known), missing=KEEP, unknown_states=MARK)
        blocks, n_rows = [], 0
        with closing(BlockSource(table).each(lambda block: block)) as source:  # type: ignore[type-var]
            for block in source:
                blocks.append(block)
                n_rows += block.n_rows
                if n_rows > MOST_ROWS:
                    notes.append(f"Only the first {MOST_ROWS:,} rows are here.")
                    break
        node = {name: place for place, name in enumerate(names)}
        if not blocks:
            return cls({}, 0, notes)
        held = {node[name]: np.concatenate([block.columns[name] for block in blocks])[:MOST_ROWS] for name in known}
        return cls(held, min(n_rows, MOST_ROWS), notes)

    def some(self, start: int, count: int) -> list[Spec]:
        """Return rows as evidence by node, ``hard`` and ``values``, and nodes that are ``missing`` or ``unknown``."""
        end = min(self.n_rows, start + min(count, MOST_AT_ONCE))
        rows: list[Spec] = [{"hard": {}, "values": {}} for _ in range(start, end)]
        for node, column in self.columns.items():
            part = "values" if column.dtype.kind == "f" else "hard"
            for row, value in zip(rows, column[start:end].tolist(), strict=True):
                if (value == UNKNOWN and part == "hard") or math.isinf(value):
                    row.setdefault("unknown", []).append(node)
                elif math.isnan(value) or (part == "hard" and value < 0):
                    row.setdefault("missing", []).append(node)
                else:
                    row[part][node] = value
        return rows
