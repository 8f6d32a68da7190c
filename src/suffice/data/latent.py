"""Latent variables as columns: a table with columns more in which every value is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from suffice.data.block import Block, SettledTable, Table, code_dtype
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import SchemaError, shown
from suffice.settings import more_memory, settings
from suffice.text import in_bytes

MISSING = -1
"""The code of a value that is missing."""
STATE_BYTES = 1000
"""What a latent state takes at least: its label and how it is found, and expected counts, of which EM holds many."""


@dataclass(frozen=True)
class LatentTable:
    """A table with latent variables beside its columns.

    Attributes
    ----------
    table : Table
    latent : tuple of Variable
        Their states are the whole numbers from zero.
    """

    table: Table
    latent: tuple[Variable, ...]

    @classmethod
    def of(cls, table: Table, latent: Mapping[str, int]) -> LatentTable:
        """Add variables, given with their numbers of states, to a table."""
        for name, n_states in latent.items():
            need, allowed = STATE_BYTES * n_states, settings().memory
            if need > allowed:
                raise SchemaError(
                    f"The latent variable {name!r} has {shown(n_states)} states, whose labels and expected counts "
                    f"would take at least {in_bytes(need)}, more than the {in_bytes(allowed)} that are allowed. Give "
                    "it fewer states, or allow more: ",
                    more_memory(need),
                    ".",
                )
        return cls(table, tuple(Variable(name, tuple(range(n)), True) for name, n in latent.items()))

    @property
    def schema(self) -> Schema:
        """The variables of the table, then the latent ones."""
        return self._with_latent(self.table.schema)

    def _with_latent(self, schema: Schema) -> Schema:
        return Schema((*schema.variables, *self.latent))

    @property
    def description(self) -> str:
        """What the table itself says."""
        return self.table.description

    @property
    def n_expected(self) -> int | None:
        """The number of rows, where it is known beforehand."""
        return self.table.n_expected

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order."""
        for block in self.table.blocks():
            columns = dict(block.columns)
            for variable in self.latent:
                columns[variable.name] = np.full(block.n_rows, MISSING, code_dtype(variable.n_states))
            yield replace(block, schema=self._with_latent(block.schema), columns=columns)

    def settled(self) -> SettledTable:
        """Return, after a pass, the variables with their states in final order."""
        found = self.table.settled()
        return replace(found, schema=self._with_latent(found.schema))

    def with_schema(self, schema: Schema) -> LatentTable:
        """Return the same table read against a known schema."""
        own = [name for name in schema if name not in {variable.name for variable in self.latent}]
        return LatentTable(self.table.with_schema(schema.select(own)), self.latent)
