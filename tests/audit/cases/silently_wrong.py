"""Data that were read otherwise than meant, and results that differed without a word."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tests.audit.cases import Case

import suffice as sf

REFUSED = sf.SufficeError
LETTERS = list("abababab")


# Sequences ----------------------------------------------------------------------------------------------------


def list_of(make: Callable[[dict[str, Any]], Any]) -> Callable[[], Any]:
    def run() -> Any:
        fit = sf.fit(sf.MarkovChain(1, variable="o"), [make({"o": LETTERS})])
        return fit.n, list(fit.model.schema["o"].labels)

    return run


def hidden_list() -> Any:
    structure = sf.MarkovChain(latent={"s": 2}, variable="o")
    frames = [pd.DataFrame({"o": list("aabbaabbab")}), pd.DataFrame({"o": list("bbaab")})]
    plain = [list("aabbaabbab"), list("bbaab")]
    return [sf.fit(structure, data, seed=0).log_likelihood for data in (frames, plain)]


def frames_are_sequences() -> Any:
    framed, plain = hidden_list()
    return framed == plain


def one_column_is_one_sequence() -> Any:
    column = np.array([0, 1, 0, 1, 1, 0, 1, 0])[:, None]
    schema = {"x": [0, 1]}
    try:
        found = sf.fit(sf.MarkovChain(1, variable="x"), column, schema=schema)
    except sf.SufficeError:
        return True  # refused: nothing is read otherwise than meant
    return found.log_likelihood == sf.fit(sf.MarkovChain(1, variable="x"), [column[:, 0]], schema=schema).log_likelihood


# Files and tables ---------------------------------------------------------------------------------------------


def folder(hidden: str) -> Callable[[], Any]:
    def run() -> Any:
        rows = pa.table({"A": ["x", "y"] * 250})
        Path("lake", hidden).mkdir(parents=True)
        pq.write_table(rows, "lake/part-0.parquet")
        pq.write_table(rows, f"lake/{hidden}/part-1.parquet")
        return sf.fit(sf.DAG("A"), "lake").n

    return run


def delta_folder() -> Any:
    Path("lake/_delta_log").mkdir(parents=True)
    Path("lake/_delta_log/00000000000000000000.json").write_text("{}")
    pq.write_table(pa.table({"A": ["x", "y"]}), "lake/part-0.parquet")
    return sf.fit(sf.DAG("A"), "lake")


def iceberg_folder() -> Any:
    Path("lake/metadata").mkdir(parents=True)
    Path("lake/data").mkdir()
    Path("lake/metadata/v1.metadata.json").write_text("{}")
    pq.write_table(pa.table({"A": ["x", "y"]}), "lake/data/part-0.parquet")
    return sf.fit(sf.DAG("A"), "lake")


def whole_floats(read: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: sf.fit(sf.DAG("A -> B"), read(), missing="drop")


def csv_of_whole_numbers() -> Any:
    Path("t.csv").write_text("A,B\n1,x\n2,y\n,x\n1,y\n")
    fit = sf.fit(sf.DAG("A -> B"), "t.csv", missing="drop")
    return fit.model.schema["A"].labels


def nullable_whole_numbers() -> Any:
    frame = pd.DataFrame({"A": pd.array([1, 2, None, 1], "Int64"), "B": ["x", "y", "x", "y"]})
    return sf.fit(sf.DAG("A -> B"), frame, missing="drop").model.schema["A"].labels


FLOATS = {"A": [1.0, 2.0, float("nan"), 1.0], "B": ["x", "y", "x", "y"]}


def sqlite_of_floats() -> Any:
    with sqlite3.connect("t.db") as connection:
        connection.execute("CREATE TABLE t (A REAL, B TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1.0, "x"), (2.0, "y"), (None, "x"), (1.0, "y")])
    connection.close()
    import ibis

    return ibis.sqlite.connect("t.db").table("t")


# Models -------------------------------------------------------------------------------------------------------


def loaded_die() -> Any:
    spaces = {"fair": {1: 0.5, 2: 0.5}, "loaded": {1: 0.9, 2: 0.1}}
    try:
        fit = sf.fit(sf.Hypotheses(spaces), {"x": [1, 1, 1, 2]})
    except sf.SufficeError:
        return True  # refused: no probability is dropped without a word
    return bool(np.isclose(fit.log_likelihood, np.log(0.9**3 * 0.1)))


def row_with_nan() -> Any:
    words = np.array([[2, 0, 1], [0, 3, 1], [1, 1, 0], [0, 2, 2]], float)
    found = sf.NaiveBayes(kinds="multinomial").fit(words, ["a", "b", "a", "b"])
    return found.predict_proba(np.array([[1.0, np.nan, 0.0]]))


CASES = (
    Case("sequences: list of data frames", list_of(pd.DataFrame), (8.0, ["a", "b"])),
    Case("sequences: list of dicts", list_of(dict), (8.0, ["a", "b"])),
    Case("sequences: list of Arrow tables", list_of(pa.table), (8.0, ["a", "b"])),
    Case("sequences: list of data frames, hidden states", frames_are_sequences, True),
    Case("sequences: array of one column", one_column_is_one_sequence, True),
    Case("folder with _temporary", folder("_temporary"), 500.0),
    Case("folder with .staging", folder(".staging"), 500.0),
    Case("folder of a Delta table", delta_folder, REFUSED, ("Delta",)),
    Case("folder of an Iceberg table", iceberg_folder, REFUSED, ("Iceberg",)),
    Case("hypotheses with probabilities", loaded_die, True),
    Case("multinomial naive Bayes: NaN in a row", row_with_nan, ValueError, ("NaN",)),
    Case("whole floats with a NaN: dict", whole_floats(lambda: FLOATS), REFUSED, ("'A'", "continuous")),
    Case("whole floats with a NaN: frame", whole_floats(lambda: pd.DataFrame(FLOATS)), REFUSED, ("'A'", "continuous")),
    Case("whole floats with a NaN: SQLite", whole_floats(sqlite_of_floats), REFUSED, ("'A'", "continuous")),
    Case("whole numbers with an empty cell: CSV", csv_of_whole_numbers, (1, 2)),
    Case("whole numbers with a missing value: Int64", nullable_whole_numbers, (1, 2)),
)
