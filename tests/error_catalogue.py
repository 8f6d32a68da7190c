"""The catalogue of errors: the world that its entries spoil, and how an entry is made."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

import suffice as sf
from suffice.io.network_file import FileNode
from suffice.io.network_file import network as file_network
from suffice.io.text_file import TextFile
from suffice.models.cpds import NodeFamily

S, C, D, X = sf.StructureError, sf.SchemaError, sf.DataError, sf.FileAccessError
T, A, E_, M = sf.StatisticsError, sf.ArgumentError, sf.EstimationError, sf.ModelError
F, U = sf.FileFormatError, sf.UnknownNameError
NOTHING = {"A": "x", "B": "v"}  # which the network of World.network holds impossible


class World:
    """The small things that the entries of the catalogue spoil, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dag = sf.DAG("A -> B")
        self.data = {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}
        self.schema = {"A": ["x", "y"], "B": ["u", "v"]}
        self.hypotheses = sf.Hypotheses({"even": [2, 4], "odd": [1, 3]}, over="n")

    def fit(self, **options: Any) -> sf.Fit:
        return sf.fit(self.dag, self.data, **options)

    def stats(self) -> sf.Statistics:
        return sf.collect(self.dag, self.data)

    def hypothesis_fit(self, **options: Any) -> sf.Fit:
        return sf.fit(self.hypotheses, {"n": [2, 4]}, **options)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def file(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def csv(self, content: str | bytes) -> str:
        return self.file("table.csv", content)

    def fit_entry(self, **options: Any) -> dict[str, Any]:
        sf.write(self.fit(**options), self.path("whole.json"))
        return json.loads((self.folder / "whole.json").read_text(encoding="utf-8"))

    def edited(self, change: Callable[[dict[str, Any]], Any], **options: Any) -> str:
        entry = self.fit_entry(**options)
        change(entry)
        return self.file("edited.json", json.dumps(entry))

    def cramped(self) -> None:
        self.within(1, self.stats)

    def parquet(self, name: str, **columns: Any) -> str:
        write_table(pa.table(columns), self.path(f"{name}.parquet"))
        return self.path(f"{name}.parquet")

    def damaged_parquet(self) -> str:
        content = Path(self.parquet("t", A=["x", "y"] * 100)).read_bytes()
        return self.file("t.parquet", content[:4] + 40 * b"\xff" + content[44:])

    def fit_in_pieces(self, content: str) -> Any:
        """Fit A from a CSV file that is read a few rows at a time."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("suffice.data.readers.csv_file.PIECE_BYTES", 32)
            return sf.fit(sf.DAG("A"), self.csv(content))

    def batches(self, *columns: list[Any]) -> pa.RecordBatchReader:
        schema = pa.schema({"A": pa.float64()})
        pieces = [pa.RecordBatch.from_pydict({"A": values}, schema=schema) for values in columns]
        return pa.RecordBatchReader.from_batches(schema, pieces)

    def bad_codes(self) -> pa.RecordBatchReader:
        column = pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int8()), pa.array(["x"]), safe=False)
        return self._reader(column)

    def bad_text(self) -> pa.RecordBatchReader:
        return self._reader(pa.array([b"x", b"\xff"]).view(pa.string()))

    @staticmethod
    def _reader(column: pa.Array) -> pa.RecordBatchReader:
        batch = pa.RecordBatch.from_arrays([column], ["A"])
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])

    def twice(self) -> pa.RecordBatchReader:
        batch = pa.RecordBatch.from_arrays([pa.array(["x"]), pa.array(["y"])], ["A", "A"])
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])

    def forbidden_parquet(self) -> Any:
        def refuse(path: Path, **options: Any) -> Any:
            raise PermissionError(13, "Permission denied", str(path))

        path = self.parquet("t", A=["x"], B=["u"])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pyarrow.parquet.ParquetFile", refuse)
            return sf.fit(self.dag, path)

    def unreadable_folder(self) -> Any:
        def refuse(path: Any) -> Any:
            raise PermissionError(13, "Permission denied", str(path))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("os.scandir", refuse)
            return sf.fit(self.dag, str(self.folder))

    def lake(self, mark: str) -> sf.Fit:
        """Read a folder of CSV files that has the mark of a table of a lake."""
        for name in ("lake/part.csv", f"lake/{mark}"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("A,B\nx,u\n", encoding="utf-8")
        return sf.fit(self.dag, self.path("lake"))

    def stats_bytes(self) -> bytes:
        sf.write(self.stats(), self.path("whole.stats"))
        return (self.folder / "whole.stats").read_bytes()

    def big(self, **options: Any) -> sf.Fit:
        """A table too large to hold: 33⁴ cells, a handful of them seen."""
        names = ("a", "b", "c", "d")
        states = [f"s{i}" for i in range(33)]
        columns = {name: ["s0", "s1", "s2"] for name in names}
        return sf.fit(sf.DAG({"d": ["a", "b", "c"]}), columns, schema=dict.fromkeys(names, states), **options)

    def big_family(self) -> NodeFamily:
        return self.big(unseen_parents="nan").model.cpd("d").family

    def hidden(self) -> sf.BayesianNetwork:
        """A network of which a row is unknown."""
        rows = {"A": ["x", "x"], "B": ["u", "u"]}
        how: dict[str, Any] = {"schema": self.schema, "fixed": {"A": [0.5, 0.5]}, "unseen_parents": "nan"}
        return sf.fit(self.dag, rows, **how).model

    def markov(self, *factors: Any, **schema: Any) -> sf.MarkovNetwork:
        return sf.MarkovNetwork(factors or [(("A", "B"), np.ones((2, 2)))], schema={**self.schema, **schema})

    def file_nodes(self, *nodes: tuple[Any, ...]) -> sf.BayesianNetwork:
        """Join nodes, each with its name, states, parents and rows, as the readers of files do."""
        found = [
            FileNode(name, states, parents, np.array(rows, float), at)
            for at, (name, states, parents, rows) in enumerate(nodes)
        ]
        return file_network(TextFile("x.net", "some\ntext"), found, {})

    def bomb(self) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("suffice.io.text_file.MAX_UNPACKED", 100)
            return sf.read(self.file("x.bif.gz", gzip.compress(200 * b" ")))

    def within(self, memory: int, call: Callable[[], Any]) -> Any:
        """Call with less memory allowed."""
        before = sf.config().memory
        try:
            sf.config(memory=memory)
            return call()
        finally:
            sf.config(memory=before)

    def pgmpy(self, kind: str = "DiscreteBayesianNetwork", tables: Any = (), nodes: Any = "A", edges: Any = ()) -> Any:
        """Something that looks like a model of pgmpy."""
        above = {node: [parent for parent, child in edges if child == node] for node in nodes}
        methods = {
            "nodes": lambda self: list(nodes),
            "predecessors": lambda self, node: above[node],
            "get_cpds": lambda self: list(tables),
            "get_factors": lambda self: list(tables),
            "latents": set(),
        }
        return type(kind, (), {"__module__": "pgmpy.models", **methods})()

    def network(self, **tables: Any) -> sf.BayesianNetwork:
        return sf.BayesianNetwork(self.dag, {"A": [0.5, 0.5], "B": [[1, 0], [0, 1]], **tables}, schema=self.schema)


@dataclass(frozen=True)
class Entry:
    """One way to go wrong, and what the message must say."""

    name: str
    call: Callable[[World], Any]
    error: type[Exception]
    says: tuple[str, ...]


CATALOGUE: list[Entry] = []
_PLACES: set[tuple[str, str, int]] = set()


def entry(name: str, error: type[Exception], call: Callable[[World], Any], *says: str) -> None:
    assert says, "an entry must look at the message"
    place = (name, call.__code__.co_filename, call.__code__.co_firstlineno)
    if place in _PLACES:
        return  # its module was imported before, under another name
    _PLACES.add(place)
    CATALOGUE.append(Entry(name, call, error, says))


def cells(model: str = "A:B", counts: Any = ((3, 4), (5, 7)), **options: Any) -> sf.Fit:
    """Fit cliques to a table of two variables."""
    return sf.fit(sf.Cliques(model), sf.Contingency(counts, {"A": ["x", "y"], "B": ["u", "v"]}), **options)


def limited(name: str, value: Any, call: Callable[[], Any]) -> Any:
    """Call with a smaller limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"suffice.result.{name}", value)
        return call()
