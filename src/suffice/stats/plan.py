"""Size planning: what statistics will take, before anything is allocated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suffice.data.schema import Schema
from suffice.errors import StatisticsError
from suffice.settings import more_memory, settings
from suffice.stats import counts
from suffice.stats.needs import Count, Need
from suffice.text import in_bytes, plain_table

CELL_BYTES = 8


@dataclass(frozen=True)
class Storage:
    """How one table of counts will be held.

    Attributes
    ----------
    scope : tuple of str
    n_cells : int
        Size of the joint state space.
    dense : bool
        A full table; otherwise only the configurations that occur are kept.
    """

    scope: tuple[str, ...]
    n_cells: int
    dense: bool

    @property
    def n_bytes(self) -> int:
        """Memory of a dense table; a sparse one grows with what occurs, and counts as nothing here."""
        return self.n_cells * CELL_BYTES if self.dense else 0


@dataclass(frozen=True)
class CountPlan:
    """How all tables of counts will be held.

    Examples
    --------
    >>> from suffice.data.variable import Variable
    >>> schema = Schema((Variable("A", ("x", "y")), Variable("B", tuple(range(600_000)))))
    >>> print(plan([Count(("A",)), Count(("A", "B"))], schema))
    scope      cells  memory  held as
    -----  ---------  ------  -------
    A              2    16 B  dense
    A, B   1,200,000       -  sparse
    """

    tables: tuple[Storage, ...]

    @property
    def n_cells(self) -> int:
        """Cells of all joint state spaces."""
        return sum(table.n_cells for table in self.tables)

    @property
    def n_bytes(self) -> int:
        """Memory of all dense tables."""
        return sum(table.n_bytes for table in self.tables)

    def require_memory(self) -> None:
        """Refuse, with numbers, what does not fit the memory that `suffice.config` allows."""
        allowed = settings().memory
        if self.n_bytes > allowed:
            largest = max(self.tables, key=lambda table: table.n_bytes)
            raise StatisticsError(
                f"The tables of counts would take {in_bytes(self.n_bytes)}, more than the {in_bytes(allowed)} that are "
                f"allowed. The largest is over {largest.scope}, with {largest.n_cells:,} cells. Allow more, with ",
                more_memory(self.n_bytes),
                ", or use variables with fewer states.",
            )

    def cells(self, most: int = 60) -> tuple[list[str], list[list[str]], str]:
        """Lay out the largest tables for printing."""
        ordered = (
            sorted(self.tables, key=lambda table: -table.n_cells)[:most] if len(self.tables) > most else self.tables
        )
        rows = [
            [
                ", ".join(table.scope),
                f"{table.n_cells:,}",
                in_bytes(table.n_bytes) if table.dense else "-",
                "dense" if table.dense else "sparse",
            ]
            for table in ordered
        ]
        return ["scope", "cells", "memory", "held as"], rows, "<>><"

    def __str__(self) -> str:
        return plain_table(*self.cells())


def plan(needs: Iterable[Need], schema: Schema) -> CountPlan:
    """Plan how the counts among ``needs`` will be held."""
    tables = []
    for need in needs:
        if isinstance(need, Count):
            n_cells = counts.n_cells([schema[name] for name in need.scope])
            tables.append(Storage(need.scope, n_cells, n_cells <= counts.DENSE_CELLS))
    return CountPlan(tuple(tables))
