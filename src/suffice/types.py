"""Types that all rooms share: arrays, values of variables, tables and JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from suffice.data.block import Table
    from suffice.data.labelled_graphs import Graph
    from suffice.data.readers.contingency import Contingency
    from suffice.data.readers.csv_file import CSV
    from suffice.data.readers.sql import SQL
    from suffice.data.sequences import Sequences
    from suffice.engines.parts import Parts
    from suffice.structures.cliques import Cliques
    from suffice.structures.dag import DAG
    from suffice.values import Label

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.integer[Any]]
"""States as small whole numbers, of whatever width suffices; −1 where a value is missing."""
Array = NDArray[Any]
"""An array whose dtype depends on the data: codes of a discrete variable, or values of a continuous one."""
Columns = Mapping[str, Array]
"""Codes and values of a block of rows, by variable; arrays of shape (n_rows,)."""


PathLike = str | os.PathLike[str]

Json: TypeAlias = "str | int | float | bool | Array | Sequence[Json] | Mapping[str, Json] | None"
"""What JSON can hold, lists of numbers as arrays; ``to_dict`` of every structure, prior and model returns such data."""
JsonObject = Mapping[str, Json]
Entry = Mapping[str, Any]
"""An object that was read from JSON, its values not yet looked at; ``from_dict`` takes such data."""


class Frame(Protocol):
    """A table with named columns: of pandas, Polars, PyArrow, Dask, Spark or DuckDB."""

    @property
    def columns(self) -> Iterable[Any]:
        """The columns, or their names."""


class ArrowStream(Protocol):
    """Whatever exports itself as a stream of Arrow batches."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export the stream as a capsule."""


class Described(Protocol):
    """A table that is read in pieces: a PyArrow dataset or reader, a scan, statements in a database."""

    @property
    def schema(self) -> Any:
        """The names and types of its columns."""


Foreign = (
    Frame | ArrowStream | Described | Mapping[str, Any] | Sequence[Mapping[str, Any]] | Sequence[Frame] | NDArray[Any]
)
"""Tables of other libraries, and of Python itself."""
Own: TypeAlias = "Contingency | CSV | SQL | Sequences | Sequence[Graph] | Table | Parts"
"""Tables of types that are the library's own."""
TableLike: TypeAlias = "Foreign | PathLike | Sequence[PathLike] | Own"
"""What the library reads as a table of one row per case."""
SequencesLike: TypeAlias = "TableLike | Sequence[Sequence[Label | None] | Array]"
"""What the library reads as sequences: tables of one row per position, and lists of sequences."""


class NetworkxGraph(Protocol):
    """A graph of networkx, or of whatever has the same methods."""

    @property
    def nodes(self) -> Iterable[object]:
        """The nodes."""

    @property
    def edges(self) -> Callable[[], Iterable[tuple[object, object]]]:
        """A function that returns the edges."""

    def is_directed(self) -> bool:
        """Return whether its edges have directions."""


NodeName = str | SupportsIndex
"""A node's name; whole numbers become text."""
Neighbours = Mapping[str, Iterable[NodeName]] | Mapping[int, Iterable[NodeName]]
"""The parents, or the neighbours, of each node."""
DirectedGraph: TypeAlias = "str | DAG | NetworkxGraph | Neighbours | Iterable[NodeName | Sequence[NodeName]]"
"""What `suffice.DAG` reads: text, parents by child, edges as pairs, with lone nodes, or a graph of networkx."""
UndirectedGraph: TypeAlias = (
    "str | Cliques | DAG | NetworkxGraph | Neighbours | Iterable[NodeName | Collection[NodeName]]"
)
"""What `suffice.Cliques` reads: text, neighbours by node, cliques, or a graph of networkx."""
GivenLabel: TypeAlias = "Label | np.generic"
"""A label as a user gives it: of Python or of NumPy."""
Function = Callable[..., SupportsFloat]
"""A user's function of the values of some variables, as many as are named with it; arrays go for whole columns."""
Values: TypeAlias = "Mapping[Label | tuple[Label, ...], SupportsFloat]"
"""A table of values by configuration."""
