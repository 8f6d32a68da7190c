"""Every error a user can meet: its class, what was wrong with which value, where, and what to do about it."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import datetime
import gzip
import hashlib
import importlib
import importlib.util
import itertools
import json
import os
import pkgutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow.dataset import dataset
from tests import error_entries
from tests.error_catalogue import CATALOGUE, E_, NOTHING, A, C, D, Entry, F, M, S, T, U, World, X, cells, entry, limited

import suffice
import suffice as sf
from suffice.data.schema import Schema
from suffice.files import write_arrays
from suffice.inference import brute_force
from suffice.inference.facial import facial_set
from suffice.inference.inquiry import Inquiry
from suffice.io.interop import network_in, proper_factors, whole_tables
from suffice.io.rows_file import require_ending
from suffice.io.structure_file import read_structure
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.gaussian_deviance import deviance
from suffice.models.hypothesis_mixture import HypothesisMixture
from suffice.optimise.gradient import gradient_descent
from suffice.result.goodness import goodness
from suffice.stats.moments import Moments

SOURCE = Path(suffice.__file__).parent

# Structures ---------------------------------------------------------------------------------------------------
entry("cycle", S, lambda w: sf.DAG("A -> B -> C -> A"), "cycle: A -> B -> C -> A", "remove one of these edges")
entry("self-loop", S, lambda w: sf.DAG("A -> A"), "cycle: A -> A", "remove")
entry("cycle with odd names", S, lambda w: sf.DAG([("M. Work", "B"), ("B", "M. Work")]), "'M. Work' -> B -> 'M. Work'")
entry("edge twice", S, lambda w: sf.DAG("A -> B; A -> B"), "A -> B", "twice")
entry("no nodes", S, lambda w: sf.DAG(""), "no nodes", "sf.DAG('A -> B')")
entry("kind of no node", sf.UnknownNameError, lambda w: sf.DAG("Rain", kinds={"Rian": "tabular"}),
      "no node 'Rian'", "['Rain']", "Did you mean 'Rain'?")  # fmt: skip
entry("latent of no node", sf.UnknownNameError, lambda w: sf.DAG("A", latent={"H": 2}), "no node 'H'", "['A']")
entry("latent without states", S, lambda w: sf.DAG("H -> A", latent={"H": 0}), "'H'", "at least 1", "Got 0 instead")
entry("tie of one", S, lambda w: sf.DAG("A; B", tie=[("A",)]), "('A',)", "two or more", "tie=[('B', 'C'), …]")
entry("tied twice", S, lambda w: sf.DAG("A; B; C", tie=[("A", "B"), ("B", "C")]), "('B', 'C')", "one tie only")
entry("tied parents differ", S, lambda w: sf.DAG("A -> B; C", tie=[("B", "C")]), "same number of parents",
      "{'B': 1, 'C': 0}")  # fmt: skip
entry("bnlearn signs", S, lambda w: sf.DAG(["a|b"]).to_bnlearn(), "'a|b'", "bnlearn")
entry("undirected networkx", S, lambda w: sf.DAG(networkx.Graph([("A", "B")])), "undirected", "networkx.DiGraph")
entry("not a graph", S, lambda w: sf.DAG(3), "'A -> B'", "list of edges", "Got int instead")
entry("parents as text", S, lambda w: sf.DAG({"B": "A"}), "parents of 'B'", "{'B': ['A']}")
entry("edge of three", S, lambda w: sf.DAG([("A", "B", "C")]), "pair of names", "Got ('A', 'B', 'C') instead")
entry("empty bracket", S, lambda w: sf.DAG("[A][|A]"), "empty name", "'[|A]'", "character 4")
entry("bracket twice", S, lambda w: sf.DAG("[A][A]"), "'A'", "described twice")
entry("bracket rubbish", S, lambda w: sf.DAG("[A]B"), "character 4: 'B'", "[A][B|A:C]")
entry("bracket parent unknown", S, lambda w: sf.DAG("[B|A]"), "'B' has the parent 'A'", "add [A]")
entry("names without arrow", S, lambda w: sf.DAG("M. Work -> B"), "Two names", "'Work' at character 4", "in quotes")
entry("arrow without name", S, lambda w: sf.DAG("A -> -> B"), "missing before '->' at character 6")
entry("arrow both ways", S, lambda w: sf.DAG("A <-> B"), "'<->' at character 3", "Use -> or <-")
entry("open end", S, lambda w: sf.DAG("A ->"), "ends after '->'", "a name must follow")
entry("open quote", S, lambda w: sf.DAG("A -> 'B"), "character 6", '"\'B"', "quote left open")
entry("hypothesis as text", S, lambda w: sf.Hypotheses({"h": "abc"}), "'h'", "set of outcomes", "'abc'")
entry("hypothesis without outcomes", S, lambda w: sf.Hypotheses({"h": []}), "'h'", "no outcomes")
entry("infinite outcome", S, lambda w: sf.Hypotheses({"h": [1.0, float("inf")]}), "'h'", "inf", "Leave it out")
entry("probability that is none", S, lambda w: sf.Hypotheses({"h": {1: 1.5, 2: -0.5}}), "'h'", "probability of 2",
      "-0.5", "[1, 2]")  # fmt: skip
entry("probabilities that do not sum to one", S, lambda w: sf.Hypotheses({"h": {1: 0.5, 2: 0.4}}), "'h'",
      "sum to 0.9", "[1, 2]")  # fmt: skip
entry("no hypotheses", S, lambda w: sf.Hypotheses({}), "no hypotheses", "at least one")
entry("unknown hypothesis", sf.UnknownNameError, lambda w: w.hypotheses.outcomes("evne"), "'evne'",
      "['even', 'odd']", "Did you mean 'even'?")  # fmt: skip
entry("name of a node", S, lambda w: sf.DAG({"A": [3.5]}), "name of a node", "Got 3.5 instead")
entry("parents that are no list", S, lambda w: sf.DAG({"A": 3}), "parents of 'A'", "list of names", "Got 3")
entry("tie of no groups", S, lambda w: sf.DAG("A", tie=[3]), "'tie' argument", "tie=[('B', 'C'), …]", "Got [3]")
entry("latent of no mapping", sf.ArgumentError, lambda w: sf.DAG("A", latent=3), "'latent' argument", "{'A': 3}",
      "Got 3")  # fmt: skip
entry("kind of no text", sf.ArgumentError, lambda w: sf.DAG("A", kinds={"A": []}), "kinds['A']", "text", "Got []")
entry("arrow among cliques", S, lambda w: sf.Cliques("A -> B"), "'->' at character 3", "sf.DAG", "':'")
entry("star among cliques", S, lambda w: sf.Cliques("A*B"), "'*' at character 2", "Write A:B")
entry("bar among cliques", S, lambda w: sf.Cliques("A|B"), "'|' at character 2", "sf.DAG")
entry("names of a clique without sign", S, lambda w: sf.Cliques("M. Work:B"), "Two names", "'Work' at character 4",
      "in quotes")  # fmt: skip
entry("sign without name", S, lambda w: sf.Cliques("A + :B"), "missing before ':' at character 5", "Add it")
entry("cliques with an open end", S, lambda w: sf.Cliques("A:B +"), "character 5", "after '+'", "a name must follow")
entry("empty name among cliques", S, lambda w: sf.Cliques("A:''"), "empty name at character 3")
entry("open quote among cliques", S, lambda w: sf.Cliques("A:'B"), "character 3", "quote left open")
entry("name twice in a written clique", S, lambda w: sf.Cliques("A:B:A"), "'A' at character 5", "A:B", "Name it once")
entry("name twice in a clique", S, lambda w: sf.Cliques([("A", "A")]), "('A', 'A')", "twice", "Name it once")
entry("clique twice", S, lambda w: sf.Cliques("A:B + B:A"), "B:A is given twice", "first as A:B", "Give it once")
entry("no cliques", S, lambda w: sf.Cliques(""), "no cliques", "sf.Cliques('A:B + C')")
entry("not cliques", S, lambda w: sf.Cliques(3), "'A:B + B:C'", "networkx.Graph", "Got int instead")
entry("clique of no names", S, lambda w: sf.Cliques([3.5]), "tuple of names", "Got 3.5 instead")
entry("name of a variable", S, lambda w: sf.Cliques([("A", 3.5)]), "name of a variable", "Got 3.5 instead")
entry("take of no graph", S, lambda w: sf.Cliques("A:B", take="pairwise"), "'take' argument", "'A:B'", "Leave it out")
entry("unknown take", sf.ArgumentError, lambda w: sf.Cliques({"A": "B"}, take="edges"), "'take' argument",
      "['maximal', 'pairwise']", "Got 'edges'")  # fmt: skip
entry("neighbours as text", S, lambda w: sf.Cliques({"B": "A"}), "neighbours of 'B'", "{'B': ['A']}")
entry("neighbours that are no list", S, lambda w: sf.Cliques({"B": 3}), "neighbours of 'B'", "Got 3 instead")
entry("own neighbour", S, lambda w: sf.Cliques({"A": ["A"]}), "'A' is its own neighbour", "Leave out")
entry("nodes of one name", S, lambda w: sf.Cliques(networkx.Graph([(1, "1")])), "same name as text", "Rename")
entry("cliques of a latent variable", S, lambda w: sf.Cliques(sf.DAG("H -> A", latent={"H": 2})), "latent variables",
      "{'H': 2}", "sf.DAG(dag.parents)")  # fmt: skip
entry("too many terms in a clique", S, lambda w: sf.Cliques([[f"x{i}" for i in range(20)]]).terms, "20 variables",
      "2^20", "100,000", "'n_free'")  # fmt: skip
entry("too many terms", S, lambda w: sf.Cliques([[f"x{i}{j}" for i in range(16)] for j in "ab"]).terms, "2 cliques",
      "more than 100,000", "'n_free'")  # fmt: skip
entry("parameters without a schema", sf.SchemaError, lambda w: sf.Cliques("A:B").n_free(3), "'schema' argument",
      "Got 3 instead")  # fmt: skip
entry("DAG of a ring", S, lambda w: sf.Cliques("A:B + B:C + C:D + D:A").to_dag(), "A - B - C - D - A", "no chord",
      "fit the cliques as they are")  # fmt: skip
entry("DAG of pairs", S, lambda w: sf.Cliques("A:B + B:C + A:C").to_dag(), "['A', 'B', 'C']", "Add the clique A:B:C")
entry("variables of other cliques", S, lambda w: sf.Cliques.from_dict({"cliques": [["A"]], "variables": ["B"]}),
      "['A']", "['B']", "must name")  # fmt: skip
entry("not a structure", sf.ArgumentError, lambda w: sf.fit("A -> B", w.data), "sf.DAG, ", "sf.Hypotheses", "'A -> B'")

# Variables and schemas ----------------------------------------------------------------------------------------

entry("schema of no variables", C, lambda w: sf.Schema((3,)), "tuple of variables", "Got (3,)")
entry("schema united with none", C, lambda w: w.fit().model.schema.unite(3), "another schema", "Got 3")
entry("whole numbers, then fractions", C, lambda w: w.fit_in_pieces("A\n" + 40 * "1\n" + "0.5\n"),
      "'A'", "fractions later", "sf.categorical()", "sf.continuous()")  # fmt: skip
entry("numbers after gaps", C, lambda w: sf.fit(sf.DAG("A"), w.batches([None], [0.5]), missing="drop"),
      "'A'", "no values before row 2", "sf.continuous()")  # fmt: skip
entry("nameless variable", C, lambda w: sf.Variable(""), "non-empty string", "Got '' instead")
entry("state of odd type", C, lambda w: sf.Variable("A", ((1, 2),)), "'A'", "(1, 2)", "tuple", "convert")
entry("states of mixed types", C, lambda w: w.fit(schema={"A": ["x", 1]}), "'A'", "['x', 1]", "as text")
entry("state listed twice", C, lambda w: w.fit(schema={"A": ["x", "y", "x"]}), "'A'", "'x'", "more than once")
entry("states of a continuous variable", C, lambda w: sf.Variable("age").n_states, "'age' is continuous",
      "schema={'age': sf.categorical()}")  # fmt: skip
entry("unknown state", sf.UnknownNameError, lambda w: w.fit().model.schema["A"].code("xx"), "'A' has no state 'xx'",
      "['x', 'y']")  # fmt: skip
entry("unknown variable", sf.UnknownNameError, lambda w: w.fit().model.schema["C"], "no variable 'C'", "['A', 'B']")
entry("variable twice", C, lambda w: sf.Schema((sf.Variable("A"), sf.Variable("A"))), "'A' occurs twice")
entry("states as text", C, lambda w: sf.categorical("yes"), "list of labels", "Got 'yes' instead")
entry("schema of the wrong type", C, lambda w: w.fit(schema=5), "'schema' argument", "sf.categorical", "Got int")
entry("schema entry of the wrong type", C, lambda w: w.fit(schema={"A": 3}), "'A'", "sf.continuous()", "Got 3")
entry("schema of no column", C, lambda w: w.fit(schema={"C": ["x"]}), "declares 'C'", "no such column", "['A', 'B']")
entry("many whole numbers", C, lambda w: sf.fit(sf.DAG("age"), {"age": list(range(21))}), "'age'",
      "21 distinct values", "schema={'age': sf.categorical()}", "schema={'age': sf.continuous()}")  # fmt: skip
entry("empty table, states unknown", C, lambda w: sf.fit(w.dag, {"A": ["x"], "B": [None]}, missing="drop",
      prior=sf.K2()), "no rows", "'B'", "Declare")  # fmt: skip

# Tables -------------------------------------------------------------------------------------------------------

entry("not a table", D, lambda w: sf.fit(w.dag, 5), "int '5'", "sf.CSV", "dict of columns", "pandas")
entry("missing column", D, lambda w: sf.fit(sf.DAG("Smoking -> Cancer"), {"Smokin": ["x"], "Cancer": ["y"]}),
      "'Smoking'", "no such column in the dict", "['Smokin', 'Cancer']", "Did you mean 'Smokin'?")  # fmt: skip
entry("misspelt state", D, lambda w: sf.fit(sf.DAG("smoke"), {"smoke": ["no", "mabye"]},
      schema={"smoke": ["no", "maybe"]}), "Column 'smoke', row 2: state 'mabye' is not one of ['no', 'maybe']",
      "Did you mean 'maybe'?", "Add it to the schema", "unknown_states='missing'")  # fmt: skip
entry("None", D, lambda w: sf.fit(w.dag, {"A": ["x", None, None], "B": ["u", "v", "u"]}), "Column 'A', row 2",
      "missing", "2 missing values", "missing='drop'")  # fmt: skip
entry("NaN", D, lambda w: sf.fit(sf.DAG("A"), {"A": [1.0, 2.0, float("nan")]}), "Column 'A', row 3", "missing='drop'")
entry("NaN in pandas", D, lambda w: sf.fit(sf.DAG("A"), pd.DataFrame({"A": ["x", np.nan]})), "Column 'A', row 2",
      "1 missing value ")  # fmt: skip
entry("field of a CSV missing", D, lambda w: sf.fit(w.dag, w.csv("A,B\nx,u\n?,v\n")), "Column 'A', row 2")
entry("empty table", D, lambda w: sf.fit(w.dag, w.csv("A,B\n")), "nothing to learn from", "0 rows", "a prior")
entry("empty columns", D, lambda w: sf.fit(w.dag, {"A": [], "B": []}), "nothing to learn from", "0 rows", "a prior")
entry("nothing left", D, lambda w: sf.fit(w.dag, {"A": ["x", None], "B": [None, "u"]}, missing="drop"),
      "nothing to learn from", "2 rows, 2 of them dropped")  # fmt: skip
entry("weight zero", D, lambda w: w.fit(weights=[0, 0, 0]), "3 rows", "total weight of zero")
entry("unknown weights", D, lambda w: w.fit(weights="freq"), "'weights' argument", "'freq'", "['A', 'B']")
entry("too few weights", D, lambda w: w.fit(weights=[1]), "'weights' argument", "shape (3,)", "Got shape (1,)")
entry("negative weight", D, lambda w: w.fit(weights=[1, -2, 1]), "Weight -2", "'weights' argument, row 2",
      "finite and not negative")  # fmt: skip
entry("negative weight in a column", D, lambda w: sf.fit(sf.DAG("A"), {"A": ["x", "y"], "w": [1, -3]}, weights="w"),
      "Weight -3 in column 'w', row 2")  # fmt: skip
entry("weight NaN", D, lambda w: w.fit(weights=[1, 1, float("nan")]), "Weight nan", "row 3")
entry("weights of a contingency table", D, lambda w: sf.fit(sf.DAG("A"), sf.Contingency([1, 2], {"A": ["x", "y"]}),
      weights=[1, 2]), "carries its own weights", "left out")  # fmt: skip
entry("negative cell", D, lambda w: sf.fit(sf.DAG("A"), sf.Contingency([1, -2], {"A": ["x", "y"]})), "Weight -2",
      "contingency table")  # fmt: skip
entry("contingency of text", D, lambda w: sf.Contingency(["a"], {"A": ["x"]}), "must hold numbers", "dtype <U1")
entry("contingency of another shape", C, lambda w: sf.Contingency([1, 2, 3], {"A": ["x", "y"]}), "shape (3,)",
      "shape (2,)", "('A',)")  # fmt: skip
entry("columns of different lengths", D, lambda w: sf.fit(w.dag, {"A": ["x"], "B": ["u", "v"]}), "'A' has 1 rows",
      "'B' has 2", "same number")  # fmt: skip
entry("column name of no text", D, lambda w: sf.fit(w.dag, {1: ["x"]}), "must be strings", "Got 1")
entry("column of no list", D, lambda w: sf.fit(w.dag, {"A": "xy", "B": ["u"]}), "Column 'A'", "list", "Got 'xy'")
entry("column of two dimensions", D, lambda w: sf.fit(w.dag, {"A": np.zeros((2, 2))}), "'A'", "shape (2, 2)")
entry("column of mixed types", D, lambda w: sf.fit(w.dag, {"A": ["x", 1], "B": ["u", "v"]}), "'A' mixes", "to text")
entry("column of mixed types in pandas", D, lambda w: sf.fit(sf.DAG("A"), pd.DataFrame({"A": ["x", 1]})), "'A' mixes")
entry("column of dates", D, lambda w: sf.fit(sf.DAG("A"), {"A": np.array(["2020-01-01"], "M8[D]")}), "'A'", "date32",
      "Convert it")  # fmt: skip
entry("text in a continuous column", D, lambda w: w.fit(schema={"A": sf.continuous()}), "Column 'A', row 1: 'x'",
      "not a number", "schema={'A': sf.categorical()}")  # fmt: skip
entry("category None", D, lambda w: sf.fit(sf.DAG("A"), pa.table(
      {"A": pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["x", None]))})), "'A'",
      "categories contain a missing value")  # fmt: skip
entry("column twice in pandas", D, lambda w: sf.fit(sf.DAG("A"), pd.DataFrame([["x", "y"]], columns=["A", "A"])),
      "Column 'A' occurs more than once", "Rename")  # fmt: skip
entry("column twice as text", D, lambda w: sf.fit(sf.DAG("1"), pd.DataFrame([["x", "y"]], columns=[1, "1"])),
      "Column '1' occurs more than once", "Rename")  # fmt: skip
entry("unreadable CSV", sf.FileAccessError, lambda w: sf.fit(w.dag, w.path("nope.csv")), "nope.csv", "No such file")
entry("CSV folder", sf.FileAccessError, lambda w: (os.mkdir(w.path("d.csv")), sf.fit(w.dag, w.path("d.csv"))),
      "d.csv", "holds no files")  # fmt: skip
entry("CSV empty", D, lambda w: sf.fit(w.dag, w.csv("")), "table.csv", "is empty", "first line")
entry("CSV column twice", D, lambda w: sf.fit(w.dag, w.csv("A,A\nx,y\n")), "column 'A'", "more than once")
entry("CSV row too short", D, lambda w: sf.fit(w.dag, w.csv("A,B\nx,u\ny\n")), "table.csv", "row 2",
      "expected 2 fields, found 1", "'y'", "separator=';'")  # fmt: skip
entry("CSV header not UTF-8", D, lambda w: sf.fit(w.dag, w.csv(b"\xff,B\nx,u\n")), "not text in utf-8",
      "encoding='latin-1'")  # fmt: skip
entry("CSV body not UTF-8", D, lambda w: sf.fit(w.dag, w.csv(b"A,B\nx,u\n" + 9000 * b"x,u\n" + b"\xff,u\n")),
      "not text in utf-8", "encoding='latin-1'")  # fmt: skip
entry("CSV cut off", D, lambda w: sf.fit(w.dag, w.csv(gzip.compress(b"A,B\nx,u\n")[:-9])), "not complete")
entry("na_values as text", D, lambda w: sf.CSV("x.csv", na_values="NA"), "'na_values' argument", "Got 'NA'")
entry("separator too long", D, lambda w: sf.CSV("x.csv", separator=";;"), "one ASCII character", "Got ';;'")
entry("CSV with many whole numbers", C, lambda w: sf.fit(sf.DAG("age"), w.csv("age\n" + "\n".join(map(str,
      range(21))))), "'age'", "21 distinct values", "schema={'age': sf.categorical()}")  # fmt: skip
entry("text categories in a continuous column", D, lambda w: sf.fit(sf.DAG("A"), pd.DataFrame(
      {"A": pd.Categorical(["x"])}), schema={"A": sf.continuous()}), "Column 'A', row 1: 'x'")  # fmt: skip
entry("categories of dates", D, lambda w: sf.fit(sf.DAG("A"), pa.table({"A": pa.DictionaryArray.from_arrays(
      pa.array([0]), pa.array([datetime.date(2020, 1, 1)]))})), "'A'", "date32", "convert")  # fmt: skip
entry("CSV with NUL", D, lambda w: sf.fit(w.dag, w.csv(b"A\0,B\nx,u\n")), "table.csv", "NUL")
entry("CSV with a name without end", D, lambda w: sf.fit(w.dag, w.csv(200_000 * "A")), "table.csv", "first line")
entry("CSV in no encoding", D, lambda w: sf.CSV("x.csv", encoding="nope"), "'nope'", "'latin-1'")
entry("CSV not packed", X, lambda w: sf.fit(w.dag, w.file("t.csv.bz2", b"BZh9nonsense")), "t.csv.bz2", "Invalid data")
entry("CSV files that differ", D, lambda w: (w.file("t1.csv", "A,B\nx,u\n"), w.file("t2.csv", "A\nx\n"),
      sf.fit(w.dag, w.path("t*.csv"))), "t2.csv", "no column 'B'", "['A']")  # fmt: skip
entry("no file of a pattern", X, lambda w: sf.fit(w.dag, w.path("no*.csv")), "no*.csv")
entry("weights of a file as a list", D, lambda w: sf.fit(w.dag, w.csv("A,B\nx,u\n"), weights=[1]), "name the column")
entry("weights of a file too large", D, lambda w: sf.fit(sf.DAG("A"), w.csv("A,w\nx,1e17\n"), weights="w"),
      "column 'w'", "2**53")  # fmt: skip
entry("codes beyond the dictionary", sf.DataError, lambda w: sf.fit(sf.DAG("A"), w.bad_codes()), "'A'",
      "beyond its dictionary", "damaged")  # fmt: skip
entry("text that is no text", sf.DataError, lambda w: sf.fit(sf.DAG("A"), w.bad_text()), "'A'", "not UTF-8", "damaged")
entry(
    "column twice in a reader",
    sf.DataError,
    lambda w: sf.fit(sf.DAG("A"), w.twice()),
    "'A'",
    "more than once",
    "Rename",
)
entry("lazy frame of an absent file", sf.DataError, lambda w: sf.fit(w.dag, pl.scan_parquet(w.path("no.parquet"))),
      "lazy frame cannot be read", "no.parquet")  # fmt: skip
entry(
    "ragged contingency",
    sf.DataError,
    lambda w: sf.Contingency([[1], [1, 2]], {"A": ["x"]}),
    "full array",
    "[[1], [1, 2]]",
)
entry("CSV path of no kind", sf.DataError, lambda w: sf.CSV(3), "path of a CSV file", "Got 3 instead")
entry("CSV marks that are no text", sf.DataError, lambda w: sf.CSV("t.csv", na_values=[3]), "'na_values'", "texts only")
entry("ragged weights", sf.DataError, lambda w: w.fit(weights=[[1], [1, 2]]), "'weights'", "one number a row")
entry(
    "folder that cannot be read",
    sf.FileAccessError,
    lambda w: w.unreadable_folder(),
    "Cannot read the folder",
    "denied",
)
entry("floats that could be codes", sf.SchemaError,
      lambda w: sf.fit(sf.DAG("a; b"), {"a": [1.0, None, 2.0], "b": [0.0, 1.0, None]}, missing="drop"), "['a', 'b']",
      "schema={'a': sf.categorical(), 'b': sf.categorical()}",
      "schema={'a': sf.continuous(), 'b': sf.continuous()}")  # fmt: skip
entry("folder of a Delta table", sf.DataError, lambda w: w.lake("_delta_log/0.json"), "lake", "Delta table",
      "to_pyarrow_dataset()")  # fmt: skip
entry("folder of an Iceberg table", sf.DataError, lambda w: w.lake("metadata/1.metadata.json"), "lake", "Iceberg table",
      "scan().to_arrow()")  # fmt: skip
entry("Parquet file that may not be read", sf.FileAccessError, lambda w: w.forbidden_parquet(), "t.parquet", "denied")
entry("whole numbers, then points", sf.SchemaError, lambda w: w.fit_in_pieces("A\n" + 40 * "1\n" + "2.0\n"), "'A'",
      "decimal point", "sf.categorical()", "sf.continuous()")  # fmt: skip
entry("folder of several kinds", sf.DataError, lambda w: (w.csv("A,B\nx,u\n"), w.parquet("t", A=["x"], B=["u"]),
      sf.fit(w.dag, str(w.folder))), "several kinds", "['csv', 'parquet']", "glob")  # fmt: skip
entry(
    "ending of no kind", sf.DataError, lambda w: sf.fit(w.dag, w.file("t.xyz", "A,B\n")), "t.xyz", ".parquet", "sf.CSV("
)
entry("another separator", sf.DataError, lambda w: sf.fit(w.dag, w.csv("A;B\nx;u\n")), "['A;B']", "separator=';'")
entry("prior of a later tied node", sf.StructureError, lambda w: sf.fit(sf.DAG("A; B", tie=[("A", "B")]), w.data,
      prior=sf.Dirichlet({"B": 1}, rest=1)), "('A', 'B')", "under the first of them, 'A'")  # fmt: skip
entry("too many cells for BDeu", sf.ArgumentError, lambda w: sf.fit(sf.DAG({"c": [f"p{i}" for i in range(1100)]}),
      {**{f"p{i}": ["x", "y"] for i in range(1100)}, "c": ["u", "v"]}, prior=sf.BDeu(1)),
      "'c'", "too many cells")  # fmt: skip
entry("Parquet file absent", X, lambda w: sf.fit(w.dag, w.path("no.parquet")), "no.parquet", "no such file")
entry("Parquet file of another kind", sf.DamagedError, lambda w: sf.fit(w.dag, w.file("x.parquet", b"nonsense")),
      "x.parquet")  # fmt: skip
entry("Parquet files that differ", D, lambda w: (w.parquet("t1", A=["x"], B=["u"]), w.parquet("t2", A=["x"]),
      sf.fit(w.dag, w.path("t*.parquet"))), "t2.parquet", "no column 'B'", "['A']")  # fmt: skip
entry("Parquet file damaged", sf.DamagedError, lambda w: sf.fit(sf.DAG("A"), w.damaged_parquet()), "t.parquet")
entry("dataset damaged", D, lambda w: sf.fit(w.dag, dataset(w.csv("A,B\nx,u\n" + 9**6 * "x,u\n" + "y\n"),
      format="csv")), "cannot be read")  # fmt: skip
entry("stream read twice", D, lambda w: sf.fit(w.dag, pa.table(w.data).to_reader(), certify="data"), "only once",
      "Pass a file")  # fmt: skip
entry("missing policy", sf.ArgumentError, lambda w: w.fit(missing="skip"), "'missing'", "'drop', 'em'",
      "Got 'skip' instead")  # fmt: skip
entry("unknown_states policy", sf.ArgumentError, lambda w: w.fit(unknown_states="x"), "['error', 'missing']")
entry("frame backend", sf.ArgumentError, lambda w: w.fit().model.sample(1, backend="dask"), "'backend'", "polars")

# Statistics ---------------------------------------------------------------------------------------------------

entry("statistic not collected", T, lambda w: w.stats()[sf.Count(("B", "C"))], "Count(scope=('B', 'C'))",
      "They contain", "sf.collect(structure, data")  # fmt: skip
entry("statistics of other structures", T, lambda w: w.stats() + sf.collect(sf.DAG("B -> A"), w.data),
      "different structures", "Count(scope=('A',))", "same structure")  # fmt: skip
entry("declared states differ", T, lambda w: sf.collect(w.dag, w.data, schema=w.schema)
      + sf.collect(w.dag, w.data, schema={**w.schema, "A": ["y", "x"]}), "'A'", "['x', 'y']", "['y', 'x']",
      "same schema")  # fmt: skip
entry("undeclared state", T, lambda w: sf.collect(w.dag, w.data, schema=w.schema)
      + sf.collect(w.dag, {"A": ["z"], "B": ["u"]}), "'A'", "['x', 'y']", "['z']", "Add them")  # fmt: skip
entry("parts over other variables", C, lambda w: w.fit().model.schema.unite(sf.Schema((sf.Variable("A"),))),
      "different variables", "['B']")  # fmt: skip
entry("continuous here, discrete there", C, lambda w: sf.Schema((sf.Variable("A"),)).unite(
      sf.Schema((sf.Variable("A", ("x",)),))), "'A' is continuous in one part", "sf.categorical()")  # fmt: skip
entry("marginal over no variable", T, lambda w: w.stats()[sf.Count(("A",))].marginal(("Z",)), "('A',)", "'Z'")
entry("threads", sf.ArgumentError, lambda w: sf.config(threads=0), "'threads' argument", "at least 1", "Got 0")
entry("memory", sf.ArgumentError, lambda w: sf.config(memory="much"), "'memory' argument", "'4GB'", "Got 'much'")
entry("counts beyond the memory", T, lambda w: w.cramped(), "allowed", "('A', 'B')", "sf.config(memory='1GB')")
entry("negative factor", T, lambda w: w.stats() * -1, "not negative", "Got -1 instead")
entry("NaN factor", T, lambda w: w.stats() * float("nan"), "Got nan instead")
entry("counts of another shape", T, lambda w: sf.Counts.dense((sf.Variable("A", ("x",)),), np.array([1, 2])),
      "shape (2,)", "(1,)")  # fmt: skip
entry("counts of no codes", T, lambda w: sf.Counts.sparse((sf.Variable("A", ("x",)),), np.array([[1]]), np.array([2])),
      "configurations of 'A'", "from 0 to 0", "Got 1 instead")  # fmt: skip
entry("counts over other scopes", T, lambda w: w.stats()[sf.Count(("A",))] + w.stats()[sf.Count(("A", "B"))],
      "('A',)", "('A', 'B')")  # fmt: skip
entry("table too large to hold", T, lambda w: sf.Counts.sparse(
      [sf.Variable(c, tuple(range(100))) for c in "abcde"], np.zeros((1, 5)), np.ones(1)).table(),
      "10,000,000,000 cells", "75 GiB", "nonzero()")  # fmt: skip

# Calls of fit and estimate ------------------------------------------------------------------------------------

entry("estimate from data", A, lambda w: sf.estimate(w.dag, w.data), "sf.collect(…)", "Got dict", "sf.fit")
entry("estimate without the variable", A, lambda w: sf.estimate(sf.DAG("A -> C"), w.stats()), "'C'", "['A', 'B']",
      "sf.collect")  # fmt: skip
entry("certify the data without it", A, lambda w: sf.estimate(w.dag, w.stats(), certify="data"), "pass data=…")
entry("point without prior", A, lambda w: w.fit(point="map"), "point='map'", "such as prior=sf.BDeu(10)", "sf.BDeu(10)")
entry("unknown point", A, lambda w: w.fit(point="mode", prior=sf.K2()), "'point'", "['mean', 'map']", "Got 'mode'")
entry("unknown certify", A, lambda w: w.fit(certify="yes"), "'certify'", "['statistics', 'data']", "Got 'yes'")
entry("unknown unseen_parents", A, lambda w: w.fit(unseen_parents="x"), "['error', 'uniform', 'nan']", "Got 'x'")
entry("tol", A, lambda w: w.fit(tol=-1), "'tol' argument", "between 0 and 1", "Got -1 instead")
entry("unknown method", sf.UnknownNameError, lambda w: w.fit(method="closed"), "no method 'closed' for sf.DAG",
      "['auto', 'closed_form', 'newton', 'em', 'observed_lbfgs']", "Did you mean 'closed_form'?")  # fmt: skip
entry("unknown option", A, lambda w: w.fit(options={"step": 1}), "'closed_form' has no option 'step'", "It has none")
entry("whole number", A, lambda w: w.fit(max_iter=-1), "'max_iter' argument", "at least 0", "Got -1 instead")
entry("number", A, lambda w: w.fit(tol="x"), "'tol' argument", "must be a number", "Got 'x' instead")
entry("progress", A, lambda w: w.fit(progress="x"), "'progress' argument", "begin, update and end", "Got 'x'")
entry("what is no prior", A, lambda w: w.fit(prior=sf.BDeu), "'prior' argument", "sf.BDeu(10)", "Got <class")
entry("prior of no node", sf.UnknownNameError, lambda w: sf.fit(sf.DAG("Rain"), {"Rain": ["x"]},
      prior=sf.Dirichlet({"Rian": 1}, rest=1)), "'Rian'", "['Rain']", "Did you mean 'Rain'?")  # fmt: skip
entry("fixed hypotheses", A, lambda w: w.hypothesis_fit(fixed={"n": [1]}), "'fixed' argument", "prior={…}")
entry("latent variable by name", E_, lambda w: sf.fit(sf.DAG("H -> A", latent={"H": 2}), w.data,
      method="closed_form"), "'closed_form' cannot", "'H' is latent")  # fmt: skip
entry("unseen parents", E_, lambda w: w.fit(schema={"A": ["x", "y", "z"]}), "Node 'B'",
      "1 parent configuration without data (first: A='z')", "unseen_parents='uniform'", "unseen_parents='nan'",
      "sf.BDeu(10)")  # fmt: skip
entry("unknown kind", sf.UnknownNameError, lambda w: sf.fit(sf.DAG("A", kinds={"A": "tabulr"}), w.data),
      "no node kind 'tabulr'", "Did you mean 'tabular'?")  # fmt: skip
entry("kind that does not fit", S, lambda w: sf.fit(sf.DAG("A", kinds={"A": "tabular"}), {"A": [0.5, 1.5]}),
      "'A' cannot be of kind 'tabular'", "'A' is continuous")  # fmt: skip
entry("no kind fits", S, lambda w: sf.fit(sf.DAG("x -> A"), {"x": [0.5, 1.5], "A": ["k", "k"]}),
      "No node kind fits 'A'", "continuous")  # fmt: skip
entry("tied states differ", T, lambda w: sf.fit(sf.DAG("A; B", tie=[("A", "B")]), w.data), "'A' and 'B' are tied",
      "['x', 'y']", "['u', 'v']", "schema={'A': […], 'B': […]}")  # fmt: skip
entry("fixed of no node", sf.UnknownNameError, lambda w: w.fit(fixed={"C": [1]}), "'fixed' argument", "'C'",
      "['A', 'B']")  # fmt: skip
entry("fixed for two tied nodes", S, lambda w: sf.fit(sf.DAG("A; B", tie=[("A", "B")]), {"A": ["x"], "B": ["x"]},
      fixed={"A": [1], "B": [1]}), "('A', 'B') share one table", "one of them only")  # fmt: skip
entry("fixed of another shape", A, lambda w: w.fit(fixed={"B": [0.5, 0.5]}), "fixed['B']", "shape (2, 2)",
      "('A',)", "Got shape (2,)", "mapping")  # fmt: skip
entry("fixed key of another length", A, lambda w: w.fit(fixed={"B": {("x", "x"): [1, 0]}}), "fixed['B']",
      "('x', 'x')", "('A',)")  # fmt: skip
entry("fixed row of another length", A, lambda w: w.fit(fixed={"B": {"x": [1]}}), "fixed['B']", "2 probabilities",
      "Got [1] instead")  # fmt: skip
entry("fixed without a state", A, lambda w: w.fit(fixed={"A": {"x": 1}}), "fixed['A']", "'y' has no probability")
entry("fixed row without a state", A, lambda w: w.fit(fixed={"B": {"x": {"u": 1}}}), "fixed['B']",
      "'v' has no probability")  # fmt: skip
entry("fixed that does not sum", A, lambda w: w.fit(fixed={"A": [0.5, 0.6]}), "fixed['A']", "[0.5, 0.6]",
      "its sum is 1.1")  # fmt: skip
entry("fixed without a row", A, lambda w: w.fit(fixed={"B": {}}), "fixed['B']", "no rows", "leave the node out")
entry("fixed of no numbers", A, lambda w: w.fit(fixed={"A": ["a", "b"]}), "fixed['A']", "array of numbers",
      "['a', 'b']")  # fmt: skip
entry("fixed twice", A, lambda w: w.fit(fixed={"B": {"x": [1, 0], ("x",): [0, 1]}}), "fixed['B']", "twice")
entry("fixed table of other variables", A, lambda w: w.fit(fixed={"B": w.fit().model.cpd("A").table}), "fixed['B']",
      "('A',)", "('A', 'B')")  # fmt: skip
entry("fixed table of other states", A, lambda w: w.fit(fixed={"A": sf.fit(sf.DAG("A"), {"A": ["x", "z"]}).model
      .cpd("A").table}), "fixed['A']", "['x', 'z']", "['x', 'y']")  # fmt: skip
entry("fixed of a state too many", sf.UnknownNameError, lambda w: w.fit(fixed={"A": {"x": 0.5, "y": 0.5, "z": 0.7}}),
      "'A' has no state 'z'", "['x', 'y']")  # fmt: skip
entry("fixed of an unknown state", sf.UnknownNameError, lambda w: w.fit(fixed={"B": {"z": [1, 0]}}), "'A'", "'z'")

# Priors -------------------------------------------------------------------------------------------------------

entry("size of a prior", A, lambda w: sf.BDeu(-1), "'ess'", "positive and finite", "Got -1 instead")
entry("alpha as text", A, lambda w: sf.Dirichlet("one"), "'alpha'", "Got 'one'")
entry("alpha of a node", A, lambda w: sf.Dirichlet({"A": [1, 0]}), "alpha['A']", "Got [1, 0]")
entry("prior without a node", A, lambda w: w.fit(prior=sf.Dirichlet({"A": 1})), "node 'B'", "['A']", "rest=1.0")
entry("prior of the wrong shape", A, lambda w: w.fit(prior=sf.Dirichlet({"B": [1, 2, 3]}, rest=1)), "node 'B'",
      "shape (2, 2)", "('A',)", "Got shape (3,) instead")  # fmt: skip
entry("no interior mode", E_, lambda w: w.fit(prior=sf.Dirichlet(0.5), point="map"), "Node 'B'",
      "no interior posterior mode", "A='y'", "α + m is 0.5", "point='mean'", "at least 1")  # fmt: skip
entry("no interior mode, sparse", E_, lambda w: w.big(prior=sf.Dirichlet(0.5), point="map"),
      "no interior posterior mode", "point='mean'")  # fmt: skip
entry("credible level", A, lambda w: w.fit(prior=sf.K2()).posterior["A"].intervals(95), "'level'", "Got 95 instead")
entry("posterior of no node", sf.UnknownNameError, lambda w: w.fit(prior=sf.K2()).posterior["C"], "'C'", "['A', 'B']")
entry("prior of hypotheses", A, lambda w: w.hypothesis_fit(prior=3), "'uniform'", "{'even': 0.5, …}", "Got 3")
entry("prior of one hypothesis", A, lambda w: w.hypothesis_fit(prior={"even": 1}), "['even', 'odd']", "'odd'")
entry("prior of no hypothesis", A, lambda w: w.hypothesis_fit(prior={"even": 1, "odd": 1, "eve": 1}), "'eve'",
      "Did you mean 'even'?")  # fmt: skip
entry("prior weights", A, lambda w: w.hypothesis_fit(prior={"even": -1, "odd": 1}), "not negative", "'even': -1")
entry("no hypothesis fits", E_, lambda w: sf.fit(w.hypotheses, {"n": [1, 2]}), "No hypothesis contains",
      "'even' lacks 1", "'odd' lacks 2", "Add a hypothesis")  # fmt: skip
entry("prior excludes the data", E_, lambda w: w.hypothesis_fit(prior={"even": 0, "odd": 1}), "weight zero",
      "consistent with the data")  # fmt: skip
entry("schema of hypotheses", E_, lambda w: w.hypothesis_fit(schema={"n": [2, 4]}), "'n'", "leave it out")
entry("posterior of no hypothesis", sf.UnknownNameError, lambda w: w.hypothesis_fit(prior="uniform").posterior["x"],
      "'x'", "['even', 'odd']")  # fmt: skip

# Models -------------------------------------------------------------------------------------------------------

entry("table of no node", sf.UnknownNameError, lambda w: w.network(C=[1]), "'C'", "not a node", "['A', 'B']")
entry("node without table", M, lambda w: sf.BayesianNetwork(w.dag, {"A": [1]}, schema=w.schema), "'B' has no table")
entry("network of no graph", A, lambda w: sf.BayesianNetwork("A", {}), "'dag' argument", "sf.DAG('A -> B')", "Got 'A'")
FRAME = {"A": ["x", "y"], "p": [0.5, 0.5]}
entry("frame without a column", M, lambda w: w.network(A=pd.DataFrame({"p": [1]})), "'A'", "no column 'A'", "['p']")
entry("frame with a column too many", M, lambda w: w.network(A=pd.DataFrame({**FRAME, "q": [1, 2]})), "'A'",
      "exactly one column", "['p', 'q']")  # fmt: skip
entry("frame with a row twice", M, lambda w: w.network(A=pd.DataFrame({**FRAME, "A": ["x", "x"]})), "'A'", "twice",
      "row 2")  # fmt: skip
entry("frame without a row", M, lambda w: w.network(A=pd.DataFrame({"A": ["x"], "p": [1.0]})), "'A'", "no row", "'y'")
entry("table without schema", C, lambda w: sf.BayesianNetwork(sf.DAG("A"), {"A": [1]}), "states of 'A'", "schema={'A'")
entry("table of another shape", A, lambda w: w.network(B=[0.5, 0.5]), "'B'", "shape (2, 2)", "Got shape (2,)")
entry("row that does not sum", M, lambda w: w.network(B=[[1, 0], [0.5, 0.6]]), "Node 'B'", "A='y'", "[0.5, 0.6]",
      "1.1", "must sum to 1")  # fmt: skip
entry("row half NaN", M, lambda w: w.network(A=[float("nan"), 1]), "Node 'A'", "no parents", "nan")
entry("weights of hypotheses", M, lambda w: HypothesisMixture(w.hypotheses, np.array([0.5, 0.6])), "['even', 'odd']",
      "must sum to 1", "Got [0.5, 0.6]")  # fmt: skip
entry("configuration outside the states", M, lambda w: TabularCPD(w.big_family(), np.full((1, 33), 1 / 33),
      np.array([[0, 0, 33]])), "Node 'd'", "[0, 0, 33]", "outside")  # fmt: skip
entry("configurations in disorder", M, lambda w: TabularCPD(w.big_family(), np.full((2, 33), 1 / 33),
      np.array([[0, 0, 1], [0, 0, 0]])), "Node 'd'", "in order", "Sort them")  # fmt: skip
entry("table of another network", M, lambda w: sf.BayesianNetwork(w.dag, {"A": w.fit().model.cpd("A"),
      "B": sf.fit(sf.DAG("B"), w.data).model.cpd("B")}), "'B'", "('A', 'B')", "order of the graph")  # fmt: skip
entry("unknown node", sf.UnknownNameError, lambda w: w.fit().model.cpd("C"), "no node 'C'", "['A', 'B']")
entry("rows to sample", A, lambda w: w.fit().model.sample(2.5), "whole number", "Got 2.5 instead")
entry("seed", A, lambda w: w.fit().model.sample(2, seed=-1), "'seed' argument", "2**64 - 1", "Got -1 instead")
entry("sampling the unknown", M, lambda w: sf.fit(w.dag, {**w.data, "A": ["x", "x", "x"]}, schema={"A": ["x", "y"]},
      unseen_parents="nan", fixed={"A": [0, 1]}).model.sample(9), "Cannot sample 'B'", "A='y'", "NaN",
      "unseen_parents='uniform'")  # fmt: skip
entry("log_prob without a column", D, lambda w: w.fit().model.log_prob({"A": ["x"]}), "'B'", "no such column")
entry("log_prob of a new state", D, lambda w: w.fit().model.log_prob({"A": ["z"], "B": ["u"]}), "row 1", "'z'",
      "['x', 'y']")  # fmt: skip
entry("whole table of a sparse one", M, lambda w: w.big(unseen_parents="nan").model.cpd("d").table, "'d'",
      "35,937 parent configurations", "rows()")  # fmt: skip
entry("axis of a table", sf.UnknownNameError, lambda w: w.fit().model.cpd("B").table[{"C": "x"}], "'C'", "['A', 'B']")
entry("state of a table", sf.UnknownNameError, lambda w: w.fit().model.cpd("B").table[{"A": "z"}], "'z'", "['x', 'y']")

# Files --------------------------------------------------------------------------------------------------------

NEXT = 2


def newer(content: bytes, place: slice) -> bytes:
    return content[: place.start] + NEXT.to_bytes(4, "little") + content[place.stop :]


def sealed(header: bytes) -> bytes:
    return resealed(b"SUFFICE\n" + (1).to_bytes(4, "little") + len(header).to_bytes(8, "little") + header + bytes(32))


def resealed(content: bytes) -> bytes:
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


entry("path of no type", A, lambda w: sf.read(5), "path", "Got 5")
entry("ending of no format", sf.UnknownNameError, lambda w: sf.write(w.fit(), w.path("x.xyz")), "x.xyz", ".json",
      ".stats")  # fmt: skip
entry("no such file", X, lambda w: sf.read(w.path("no.json")), "no.json", "No such file")
entry("no such statistics", X, lambda w: sf.read(w.path("no.stats")), "no.stats", "No such file")
entry("JSON of the wrong thing", A, lambda w: sf.write(w.stats(), w.path("x.json")), "fit or a model", "Got Statistics")
entry(
    "statistics of the wrong thing",
    A,
    lambda w: sf.write(w.fit(), w.path("x.stats")),
    "sf.collect(…)",
    "Got NetworkFit",
)
entry("JSON cut off", F, lambda w: sf.read(w.file("x.json", '{"format": "suffice", ')), "x.json", "line 1, column 23",
      "cut off")  # fmt: skip
entry("JSON not UTF-8", F, lambda w: sf.read(w.file("x.json", b'"\xff"')), "x.json", "not valid JSON")
entry("JSON nested too deeply", F, lambda w: sf.read(w.file("x.json", 100_000 * "[")), "x.json", "not valid JSON")
entry("foreign JSON", F, lambda w: sf.read(w.file("x.json", '{"a": 1}')), "x.json", '"format": "suffice"')
entry("JSON of the future", F, lambda w: sf.read(w.edited(lambda e: e.update(version=NEXT))), "edited.json",
      "format version 2", "up to 1", "Upgrade suffice")  # fmt: skip
entry("JSON without an entry", F, lambda w: sf.read(w.edited(lambda e: e["content"].pop("notes"))), "edited.json",
      "'notes' is missing", "again")  # fmt: skip
entry("JSON with a wrong sum", F, lambda w: sf.read(w.edited(
      lambda e: e["content"]["model"]["cpds"][0].update(values=[[0.5, 0.6]]))), "edited.json", "Node 'A'",
      "[0.5, 0.6]", "1.1")  # fmt: skip
entry("JSON with a negative count", F, lambda w: sf.read(w.edited(
      lambda e: e["content"]["statistics"]["arrays"].update({"0.values": [-1, 4]}))), "('A',)",
      "at least zero")  # fmt: skip
entry("JSON of no version", F, lambda w: sf.read(w.edited(lambda e: e.update(version=0))), "edited.json", "version 0")
entry("JSON with text for a flag", F, lambda w: sf.read(w.edited(lambda e: e["content"]["certificate"].update(ok="x"))),
      "edited.json", "'ok'", "true or false", "Got 'x'")  # fmt: skip
entry("JSON of other states", F, lambda w: sf.read(w.edited(
    lambda e: e["content"]["statistics"]["meta"]["schema"][0].update(states=["p", "q"]))), "edited.json",
    "states of 'A'", "in the statistics than in the model")  # fmt: skip
entry("JSON of two structures", F, lambda w: sf.read(w.edited(lambda e: e["content"]["structure"].update(
      parents=[["A", []], ["B", []]]))), "edited.json", "another structure")  # fmt: skip
entry("JSON with a negative concentration", F, lambda w: sf.read(w.edited(
      lambda e: e["content"]["posterior"]["nodes"][0].update(concentration=[[-1, 2]]), prior=sf.K2())), "edited.json",
      "Node 'A'", "positive and finite", "[[-1, 2]]")  # fmt: skip
entry("JSON with too many rows dropped", F, lambda w: sf.read(w.edited(
      lambda e: e["content"]["statistics"]["meta"].update(n_dropped=4))), "edited.json", "Of 3 rows 4")  # fmt: skip
entry("text that no file holds", A, lambda w: sf.write(sf.fit(sf.DAG(["\ud800"]), {"\ud800": ["x"]}),
      w.path("x.json")), "cannot be written", "Unicode", "rename")  # fmt: skip
entry("path that is none", X, lambda w: sf.write(w.fit(), w.path("a\0b.json")), "a\\x00b.json", "null byte")
entry("foreign statistics", F, lambda w: sf.read(w.file("x.stats", b"PK\3\4")), "x.stats", "not a suffice array file")
entry("statistics cut off", F, lambda w: sf.read(w.file("x.stats", w.stats_bytes()[:40])), "cut off after 40 bytes",
      "copy it again")  # fmt: skip
entry("statistics damaged", F, lambda w: sf.read(w.file("x.stats", w.stats_bytes().replace(b'"x"', b'"X"'))),
      "x.stats", "checksum", "copy it again")  # fmt: skip
entry("container of the future", F, lambda w: sf.read(w.file("x.stats", newer(w.stats_bytes(), slice(8, 12)))),
      "x.stats", "format version 2", "up to 1", "Upgrade suffice")  # fmt: skip
entry("statistics of the future", F, lambda w: sf.read(w.file("x.stats", resealed(
      w.stats_bytes().replace(b'"version": 1', b'"version": 2')))), "format version 2", "Upgrade suffice")  # fmt: skip
entry("container of another kind", F, lambda w: (write_arrays(w.path("x.stats"), "checkpoint", 1, {}, {}),
      sf.read(w.path("x.stats"))), "'checkpoint'", "'statistics' was expected")  # fmt: skip
entry("container without a header", F, lambda w: sf.read(w.file("x.stats", sealed(b"{}"))), "x.stats", "header",
      "copy it again")  # fmt: skip
entry("container with too few bytes", F, lambda w: sf.read(w.file("x.stats", sealed(
      b'{"kind": "statistics", "version": 1, "meta": {}, "arrays": [["a", "int8", [3]]]}'))), "x.stats",
      "3 bytes of arrays, and 0 are there")  # fmt: skip
entry("statistics without an entry", F, lambda w: (write_arrays(w.path("x.stats"), "statistics", 1, {}, {}),
      sf.read(w.path("x.stats"))), "x.stats", "'schema'")  # fmt: skip
entry("output in no folder", X, lambda w: sf.write(w.fit(), w.path("no/x.json")), "no/x.json", "No such file",
      "Nothing was changed", "folder that exists")  # fmt: skip
entry("output of a name too long", X, lambda w: sf.write(w.fit(), w.path(400 * "x" + ".json")), "too long",
      "Nothing was changed")  # fmt: skip
entry("rows to no format", A, lambda w: require_ending("x.txt"), ".csv", "Got 'x.txt'")
entry("output is a folder", X, lambda w: (os.mkdir(w.path("d.json")), sf.write(w.fit(), w.path("d.json"))),
      "d.json", "Nothing was changed")  # fmt: skip
entry("output beneath a file", X, lambda w: sf.write(w.stats(), w.file("f", "") + "/x.stats"), "x.stats",
      "Not a directory", "Nothing was changed")  # fmt: skip
entry("structure file damaged", F, lambda w: read_structure(w.file("x.toml", "type = ")), "x.toml", "not valid TOML")
entry("structure file without type", F, lambda w: read_structure(w.file("x.toml", "a = 1")), "x.toml",
      "'Cliques', 'DAG', 'Features'", "Got None")  # fmt: skip
entry("structure file with an unknown entry", S, lambda w: read_structure(w.file("x.toml",
      'type = "DAG"\ngraph = "A"\ncolour = 3')), "x.toml", "DAG", "colour")  # fmt: skip
entry("structure file without an entry", S, lambda w: read_structure(w.file("x.toml", 'type = "DAG"')), "x.toml",
      "'graph' is missing")  # fmt: skip
entry("structure file with a cycle", S, lambda w: read_structure(w.file("x.toml", 'type = "DAG"\ngraph = "A -> A"')),
      "x.toml", "cycle: A -> A")  # fmt: skip
entry("structure of statistics", S, lambda w: (sf.write(w.stats(), w.path("x.stats")),
      read_structure(w.path("x.stats"))), "Statistics has no structure")  # fmt: skip

# Answers ------------------------------------------------------------------------------------------------------

entry("interval of a model", A, lambda w: w.network().query("A", interval=0.9), "numbers are certain", "with a prior",
      "fit.query(…, interval=0.95)")  # fmt: skip
entry("targets of no names", A, lambda w: w.network().query(3), "name or a list of names", "Got 3")
entry("no target", A, lambda w: w.network().query([]), "No target was named", "marginals")
entry("unknown target", U, lambda w: w.network().query("a"), "no variable 'a'", "['A', 'B']")
entry("target twice", A, lambda w: w.network().query(["A", "A"]), "['A', 'A']", "twice", "Name each once")
entry("target that is given", A, lambda w: w.network().query("A", {"A": "x"}), "'A'", "asked for and given", "Leave it")
entry("evidence of no mapping", A, lambda w: w.network().query("A", 3), "'given' argument", "{'A': 'yes'}", "Got 3")
entry("evidence of no state", U, lambda w: w.network().query("A", {"B": "w"}), "'B' has no state 'w'", "['u', 'v']")
entry("likelihood that is none", A, lambda w: w.network().query("A", {"B": {"u": -1}}), "soft evidence on 'B'",
      "not negative", "Got -1 for 'u'")  # fmt: skip
entry("likelihoods of zero", A, lambda w: w.network().query("A", {"B": {"u": 0}}), "'B'", "leaves no state possible",
      "['u', 'v']")  # fmt: skip
entry("impossible evidence", M, lambda w: w.network(A=[1, 0]).query("B", {"A": "y"}), "impossible", "A='y' by itself",
      "zero", "with a prior")  # fmt: skip
entry("impossible soft and hard evidence", M, lambda w: w.network().marginals({"A": {"x": 1}, "B": "v"}), "B='v'",
      "soft evidence on A", "zero")  # fmt: skip
entry("impossible soft evidence", M, lambda w: w.network(A=[1, 0]).map({"A": {"y": 1}}), "soft evidence on A", "zero",
      "Correct it")  # fmt: skip
entry("entropy of nothing", M, lambda w: w.network().entropy(NOTHING), "B='v' together with A='x'", "Correct it")
entry("sampling given nothing", M, lambda w: w.network().sample(3, given=NOTHING), "B='v' together with A='x'", "zero")
entry("sensitivity given nothing", M, lambda w: w.network(A=[1, 0]).sensitivity({"B": "u"}, {"A": "y"}), "A='y'",
      "zero")  # fmt: skip
entry("model that is nothing", M, lambda w: w.markov((("A",), [0, 0])).query("B"), "probability zero to everything")
entry("event of nothing", A, lambda w: w.network().sensitivity({}), "'event' argument", "no variable", "{'A': 'yes'}")
entry("event of no mapping", A, lambda w: w.network().sensitivity("A"), "'event' argument", "{'A': 'yes'}", "Got 'A'")
entry("unknown rows asked for", M, lambda w: w.hidden().query("B"), "depends on 'B'", "NaN", "unseen_parents='uniform'")
entry("rows of evidence on no variable", A, lambda w: w.network().query_rows("A", {"Q": ["x"]}), "['Q']",
      "['A', 'B']", "Remove or rename")  # fmt: skip
entry("rows without evidence", A, lambda w: w.network().query_rows("A", {"A": ["x"]}), "no column of evidence",
      "Ask query")  # fmt: skip
entry("divergence from no model", A, lambda w: w.network().kl(3), "another discrete model", "Got 3")
entry("divergence over other variables", M, lambda w: w.network().kl(sf.fit(sf.DAG("A"), w.data).model), "['B']",
      "one of them only")  # fmt: skip
entry("divergence over other states", M, lambda w: w.network().kl(w.markov(A=["x", "y"], B=["v", "u"])), "'B'",
      "['u', 'v']", "['v', 'u']", "order included")  # fmt: skip
entry("assignment of no variable", U, lambda w: w.network().map()["a"], "no variable 'a'", "['A', 'B']")
entry("too large to answer", M, lambda w: w.within(50, lambda: w.network().query("B")), "Exact inference would",
      "use 50 B", "['A', 'B']", "4 cells", "sf.config(memory=")  # fmt: skip
entry("answer too large", M, lambda w: w.within(8, lambda: w.network().query(["A", "B"])), "The answer", "2 variables",
      "4 cells", "use 8 B", "fewer at a time", "sf.config(memory=")  # fmt: skip
entry("answer of too many axes", M, lambda w: sf.fit(sf.DAG([f"v{i}" for i in range(33)]), {f"v{i}": ["x"] for i in
      range(33)}).model.query([f"v{i}" for i in range(33)]), "33 variables", "the 32 of a table", "fewer")  # fmt: skip
entry("nothing possible", M, lambda w: sf.MarkovNetwork([(("A",), [0, 0])], schema={"A": ["x", "y"]}).log_evidence(),
      "zero to everything", "no configuration")  # fmt: skip
entry("too large to write out", M, lambda w: w.within(10**6, lambda: w.big(prior=sf.K2()).model.query("d")), "'d'",
      "1,185,921 cells", "fewer parents", "sf.config")  # fmt: skip
entry("table of too many axes", M, lambda w: sf.fit(sf.DAG({"d": [f"p{i}" for i in range(40)]}), {"d": ["x"],
      **{f"p{i}": ["y"] for i in range(40)}}).model.query("d"), "'d'", "over 41 variables", "fewer")  # fmt: skip
entry("brute force on too much", M, lambda w: brute_force.log_joint(Inquiry(sf.fit(sf.DAG([f"v{i}" for i in range(23)]),
      {f"v{i}": ["x", "y"] for i in range(23)}).model._product()).product), "8,388,608 cells", "Use query")  # fmt: skip
entry("brute force on nothing", M, lambda w: brute_force.marginal(w.network()._product(), [0], {0: 0, 1: 1}),
      "impossible", "no configuration")  # fmt: skip
entry("brute force for the most likely of nothing", M, lambda w: brute_force.most_likely(w.network()._product(),
      {0: 0, 1: 1}), "impossible", "no configuration")  # fmt: skip

# Markov networks ----------------------------------------------------------------------------------------------

PAIR = "(('A', 'B'), [[3, 1], [1, 3]])"
entry(
    "factors of no list", A, lambda w: sf.MarkovNetwork("AB", schema=w.schema), "'factors' argument", PAIR, "Got 'AB'"
)
entry("factor that is none", A, lambda w: w.markov(3), "Factor 0", PAIR, "Got 3")
entry("factor of no variable", U, lambda w: w.markov((("A", "b"), np.ones((2, 2)))), "Factor 0", "'b'", "['A', 'B']")
entry("factor that repeats", M, lambda w: w.markov((("A", "A"), np.ones((2, 2)))), "Factor 0", "twice", "['A', 'A']")
entry("factor of text", M, lambda w: w.markov((("A",), ["p", "q"])), "Factor 0", "['A']", "not an array of numbers")
entry("factor of another shape", M, lambda w: w.markov((("A",), [1, 2, 3])), "Factor 0", "['A']", "(2,)", "Got (3,)")
entry("factor below zero", M, lambda w: w.markov((("A",), [1, 1]), (("B",), [1, -2])), "Factor 1", "['B']", "-2.0",
      "not negative")  # fmt: skip
entry("factor of other states", M, lambda w: w.markov(w.fit().model.query("A"), A=["y", "x"]), "Factor 0", "'A'",
      "['x', 'y']", "['y', 'x']", "order included")  # fmt: skip
entry("states that are not known", C, lambda w: w.markov(A=sf.categorical()), "states of 'A'", "{'A': ['no', 'yes']}")
entry("variable without states", C, lambda w: sf.MarkovNetwork([], schema=sf.Schema((sf.Variable("A", ()),))), "'A'",
      "no states", "at least one")  # fmt: skip

# Beliefs and intervals ----------------------------------------------------------------------------------------

entry("expert without a network", A, lambda w: sf.Expert(3), "'network' of an expert's prior", "sf.read('expert.bif')",
      "Got 3")  # fmt: skip
entry("expert worth nothing", A, lambda w: sf.Expert(w.network(), 0), "'ess'", "positive", "Got 0")
entry("expert too uniform", A, lambda w: sf.Expert(w.network(), 1, 1.5), "'uniform'", "between 0 and 1", "Got 1.5")
entry("expert on other variables", A, lambda w: w.fit(prior=sf.Expert(sf.fit(sf.DAG("A; BB"), {"A": ["x", "y"],
      "BB": ["u", "v"]}).model)), "no variable 'B'", "['A', 'BB']", "Did you mean 'BB'?")  # fmt: skip
entry("expert on other states", A, lambda w: w.fit(prior=sf.Expert(w.network()), schema={"A": ["x", "y", "z"]}),
      "['x', 'y']", "'A'", "['x', 'y', 'z']", "in any order", "schema=")  # fmt: skip
entry("expert of the impossible", A, lambda w: w.fit(prior=sf.Expert(w.network())), "A='x', B='v'", "impossible",
      "uniform=0.01")  # fmt: skip
entry("interval of hypotheses", A, lambda w: w.hypothesis_fit(prior="uniform").query("n", interval=0.9),
      "posterior of a Bayesian network's tables", "Fit a network")  # fmt: skip
entry("interval without a posterior", A, lambda w: w.fit().query("A", interval=0.9), "this fit has none",
      "prior=sf.BDeu(10)")  # fmt: skip
entry("interval of no level", A, lambda w: w.fit(prior=sf.K2()).query("A", interval=1), "'interval' argument",
      "between 0 and 1", "Got 1")  # fmt: skip
entry("interval by no method", A, lambda w: w.fit(prior=sf.K2()).query("A", interval=0.9, interval_method="exact"),
      "'interval_method'", "['draws', 'delta']", "Got 'exact'")  # fmt: skip
entry("interval of one draw", A, lambda w: w.fit(prior=sf.K2()).query("A", interval=0.9, draws=1), "'draws'",
      "at least 2", "Got 1")  # fmt: skip
entry("interval where floats end", M, lambda w: w.fit(prior=sf.Dirichlet({"A": [1e-5, 1e-5]}, rest=1), schema={"A":
      ["w", "z"], "B": ["u", "v"]}, unknown_states="missing", missing="drop").query("B", {"A": "w"}, interval=0.9),
      "of 1,000 tables", "too small for floats", "larger", "interval_method='delta'")  # fmt: skip
entry("interval from too large a table", M, lambda w: w.within(10**6, w.big(prior=sf.K2()).posterior["d"].whole),
      "'d'", "1,185,921 cells", "fewer parents", "sf.config")  # fmt: skip


def pgmpy_table(*variables: str, **states: list[Any]) -> Any:
    """Something that looks like a table of pgmpy, of two states a variable."""
    sizes = [2] * len(variables)
    return SimpleNamespace(
        variable=variables[0],
        variables=list(variables),
        cardinality=sizes,
        state_names=states,
        values=np.full(sizes, 0.5),
    )


# Networks of other programs -----------------------------------------------------------------------------------

entry("file without nodes", F, lambda w: w.file_nodes(), "'x.net', line 2, column 5", "no variables", "Add")
entry("file with a nameless node", F, lambda w: w.file_nodes(("", ("x",), (), [[1]])), "line 1, column 1", "no name")
entry("file with a node twice", F, lambda w: w.file_nodes(*2 * [("A", ("x",), (), [[1]])]), "column 2", "'A'",
      "given already", "Remove")  # fmt: skip
entry(
    "file with a node without states", F, lambda w: w.file_nodes(("A", (), (), [[]])), "'A' has no states", "at least"
)
entry("file with a state twice", F, lambda w: w.file_nodes(("A", ("x", "x"), (), [[1, 0]])), "'A'", "'x'", "once")
entry("file with an unknown parent", F, lambda w: w.file_nodes(("Ann", ("x",), ("An",), [[1]])), "'Ann'", "'An'",
      "['Ann']", "Did you mean 'Ann'?")  # fmt: skip
entry("file with its own parent", F, lambda w: w.file_nodes(("A", ("x",), ("A",), [[1]])), "parent 'A'", "once each")
entry("file with a cycle", F, lambda w: w.file_nodes(("A", ("x",), ("B",), [[1]]), ("B", ("x",), ("A",), [[1]])),
      "x.net", "cycle", "remove one of these edges")  # fmt: skip
entry("file with an improper row", F, lambda w: w.file_nodes(("A", ("x", "y"), (), [[0.5, 0.5]]), ("B", ("u", "v"),
      ("A",), [[1, 0], [0.2, 0.2]])), "'B'", "A='y'", "[0.2, 0.2]", "0.05", "Correct")  # fmt: skip
entry("hypotheses in a file of networks", A, lambda w: sf.write(w.hypothesis_fit(), w.path("x.net")), "A .net file",
      "Got HypothesisMixture", ".json")  # fmt: skip
entry("sparse table in a file of networks", A, lambda w: sf.write(w.big(prior=sf.K2()), w.path("x.net")), "'d'",
      "only some rows", ".json")  # fmt: skip
entry("unknown row in a file of networks", A, lambda w: sf.write(w.hidden(), w.path("x.net")), "'B'", "A='y'", "NaN",
      "unseen_parents='uniform'", ".json")  # fmt: skip
entry("JSON with other raw numbers", F, lambda w: sf.read(w.edited(lambda e: e["content"]["model"]["cpds"][0].update(
      raw=[[0.1, 0.9]]))), "edited.json", "raw numbers of 'A'")  # fmt: skip
entry("gzip cut off", F, lambda w: sf.read(w.file("x.bif.gz", gzip.compress(b"network")[:-9])), "x.bif.gz",
      "proper gzip file", "again")  # fmt: skip
entry("gzip that unpacks without end", F, lambda w: w.bomb(), "x.bif.gz", "more than 100 bytes", "Unpack it")
entry("name that no text holds", A, lambda w: sf.write(sf.fit(sf.DAG(["\ud800"]), {"\ud800": ["x"]}),
      w.path("x.bif")), "'\\ud800'", "UTF-8")  # fmt: skip

entry(
    "handing over hypotheses",
    A,
    lambda w: network_in(w.hypothesis_fit(), "pgmpy"),
    "pgmpy takes",
    "Bayesian or a Markov network",
    "Got Hyp",
)
entry("handing over an unknown row", M, lambda w: whole_tables(w.hidden(), "pgmpy"), "'B'", "A='y'", "pgmpy cannot",
      "unseen_parents='uniform'")  # fmt: skip
entry("handing over no variables", A, lambda w: proper_factors(sf.MarkovNetwork([], schema={}), "pyAgrum", once=True),
      "pyAgrum takes", "at least one variable")  # fmt: skip
entry("handing over a product too large", M, lambda w: proper_factors(w.markov(*2 * [(("A",), [1e200, 1])]), "pyAgrum",
      once=True), "['A']", "range of floats", "Scale")  # fmt: skip
entry("taking what is not of pgmpy", A, lambda w: sf.from_pgmpy(3), "DiscreteBayesianNetwork", "Got int")
entry("taking a continuous model", A, lambda w: sf.from_pgmpy(w.pgmpy("LinearGaussianBayesianNetwork")),
      "LinearGaussianBayesianNetwork", "continuous", "discrete ones")  # fmt: skip
entry("taking names that become the same", M, lambda w: sf.from_pgmpy(w.pgmpy(nodes=["1", 1])), "['1', 1]", "Rename")
entry("taking a node without its table", M, lambda w: sf.from_pgmpy(w.pgmpy()), "'A' has no table", "add_cpds")
entry("taking a table of other parents", M, lambda w: sf.from_pgmpy(w.pgmpy(tables=[pgmpy_table("A"),
      pgmpy_table("B")], nodes="AB", edges=["AB"])), "'B'", "[]", "['A']", "the same")  # fmt: skip
entry("taking a node without factors", M, lambda w: sf.from_pgmpy(w.pgmpy("DiscreteMarkovNetwork")), "'A'",
      "states are not known", "factor of ones")  # fmt: skip
entry("taking states that differ", M, lambda w: sf.from_pgmpy(w.pgmpy("DiscreteMarkovNetwork", [pgmpy_table("A"),
      pgmpy_table("A", A=["x", "y"])])), "Factor 1", "['x', 'y']", "'A'", "[0, 1]", "the same")  # fmt: skip
entry("taking what is not of pyAgrum", A, lambda w: sf.from_pyagrum(3), "BayesNet", "MarkovRandomField", "Got int")

# Optimisers ---------------------------------------------------------------------------------------------------


def descend(value: float = 1.0, **options: Any) -> Any:
    evaluate = lambda x: (value * float(x @ x), 2 * x)  # noqa: E731
    return gradient_descent(evaluate, [1.0], done=lambda *_: False, steps=range(3), **options)


entry("start outside the domain", sf.EstimationError, lambda w: descend(float("nan")), "nan at the starting point",
      "where it is finite")  # fmt: skip
entry("step size too large", sf.EstimationError, lambda w: descend(step=2.5), "step size 2.5", "at step 1",
      "such as 0.25", "step=None")  # fmt: skip
entry("step size of zero", sf.ArgumentError, lambda w: descend(step=0), "'step' argument", "positive", "Got 0 instead")

# The existence of estimates -----------------------------------------------------------------------------------

PAIRS = [(0, 1), (0, 2), (1, 2)]
entry("scope of no variable", A, lambda w: facial_set((2, 2), [(0, 2)], [[[1, 1], [1, 1]]]), "'scopes'", "from 0 to 1",
      "Got (0, 2) instead")  # fmt: skip
entry("no scopes", A, lambda w: facial_set((2, 2), [], []), "'scopes'", "at least one scope", "[(0, 1)]")
entry("margins missing", A, lambda w: facial_set((2, 2), [(0,), (1,)], [[1, 1]]), "'margins'", "each of the 2 scopes",
      "Got 1 instead")  # fmt: skip
entry("margin of another shape", A, lambda w: facial_set((2, 3), [(1,)], [[1, 1]]), "'margins'", "shape (3,)", "(1,)",
      "Got shape (2,) instead")  # fmt: skip
entry("negative margin", A, lambda w: facial_set((2,), [(0,)], [[1, -1]]), "'margins'", "not negative", "-1.0 instead")
entry("mask of another shape", A, lambda w: facial_set((2,), [(0,)], [[1, 1]], allowed=[True]), "'allowed'",
      "shape (2,)", "Got a table of bool, of shape (1,)")  # fmt: skip
entry("margins that disagree", T, lambda w: facial_set((2, 2), [(0,), (0, 1)], [[1, 3], [[1, 1], [1, 1]]]),
      "No table has these margins", "[(0,), (0, 1)] do not agree", "infeasibility")  # fmt: skip
entry("observed where nothing can be", T, lambda w: facial_set((2,), [(0,)], [[1, 0]], observed=[True, True]),
      "cell (1,) was observed", "same table")  # fmt: skip
entry("margins where no cell is allowed", T, lambda w: facial_set((2,), [(0,)], [[1, 1]], allowed=[True, False]),
      "No table has these margins", "positive at (1,)")  # fmt: skip
entry("margins that agree in pairs only", T, lambda w: facial_set((2, 2, 2), PAIRS, [[[0.1, 0.4], [0.4, 0.1]]] * 3),
      "No table has these margins", "two by two", "infeasibility")  # fmt: skip

# Gaussian Markov random fields --------------------------------------------------------------------------------

NUMBERS = {"A": [1.0, 2.0, 4.0, 3.0], "B": [2.0, 1.0, 3.0, 5.0]}
PAIR = sf.GaussianMarkov("A:B")
NORMAL = sf.JointNormal(["A", "B"], [0, 0], covariance=np.eye(2))
WISHART = sf.HyperInverseWishart(3, 1.0)


def moments_of(*names: str) -> Moments:
    return Moments.of_rows([sf.Variable(name) for name in names], np.eye(len(names)))


def normal(**matrices: Any) -> sf.JointNormal:
    return sf.JointNormal(["A", "B"], [0, 0], **matrices)


def gaussian(prior: Any = None, **changes: Any) -> sf.Fit:
    return sf.fit(PAIR, {**NUMBERS, **changes}, prior=prior)


entry("moments of the wrong shape", T,
      lambda w: Moments((sf.Variable("A"),), (), np.ones(()), np.zeros(2), np.zeros(1), np.ones((1, 1))),
      "'mean' has shape (2,)", "(1,)")  # fmt: skip
entry("moments of squares that overflow", sf.DataError, lambda w: gaussian(A=[1e200, -1e200, 0.0, 1.0]), "Column 'A'",
      "overflow", "Divide")  # fmt: skip
entry("moments with an infinite value", sf.DataError, lambda w: gaussian(B=[1.0, float("inf"), 0.0, 1.0]),
      "Column 'B', row 2", "inf", "Correct it")  # fmt: skip
entry("moments of other columns added", T, lambda w: moments_of("A") + moments_of("B"), "('A',)", "('B',)",
      "cannot be added")  # fmt: skip
entry("moments that are not finite in a file", T,
      lambda w: Moments.from_arrays(sf.Moment(("A",)), Schema((sf.Variable("A"),)),
                                    {**moments_of("A").to_arrays(), "mean": np.array([np.nan])}),
      "('A',)", "not proper", "finite")  # fmt: skip
entry("marginal moments of a stranger", T, lambda w: moments_of("A").marginal(["B"]), "no marginal over 'B'")
entry("moments of too many configurations", T,
      lambda w: Moments.zero(sf.Moment(("A",), tuple("abcdef")),
                             Schema((sf.Variable("A"), *(sf.Variable(n, tuple(range(40))) for n in "abcdef")))),
      "4,096,000,000 configurations", "too many", "fewer")  # fmt: skip
entry(
    "Gaussian edges outside the variables",
    sf.StructureError,
    lambda w: sf.GaussianMarkov.from_dict({"variables": ["A"], "edges": [["A", "B"]]}),
    "['B']",
    "'variables'",
)
entry("normal without a matrix", A, lambda w: normal(), "'precision'", "'covariance'", "exactly one")
entry("normal that is not positive definite", M, lambda w: normal(precision=[[1, 2], [2, 1]]), "precision matrix",
      "['A', 'B']", "not positive definite", "left out")  # fmt: skip
entry("normal with everything given", A, lambda w: NORMAL.condition({"A": 1, "B": 2}), "All variables are given",
      "Leave one out")  # fmt: skip
entry("normal with a target given", A, lambda w: NORMAL.query("A", given={"A": 1}), "'A'", "Leave it out")
entry("normal divergence from no normal", A, lambda w: NORMAL.kl(3), "another normal distribution", "Got 3")
entry("normal divergence from other variables", M, lambda w: NORMAL.kl(NORMAL.marginal("A")), "['B']")
entry("normal of an unknown variable", sf.UnknownNameError, lambda w: NORMAL.marginal("AA"), "'AA'", "['A', 'B']",
      "Did you mean 'A'")  # fmt: skip
entry("normal targets that are no names", A, lambda w: NORMAL.query(3), "'targets'", "list of names", "Got 3")
entry("normal targets named twice", A, lambda w: NORMAL.query(["A", "A"]), "'targets'", "each once")
entry("normal given text", A, lambda w: NORMAL.condition({"A": "x"}), "'A'", "finite number", "Got 'x'")
entry("normal names that are none", A, lambda w: sf.JointNormal("AB", [0, 0], covariance=np.eye(2)), "'names'", "'AB'")
entry("normal matrix of text", M, lambda w: normal(covariance="x"), "'covariance'", "not an array", "Got 'x'")
entry("normal matrix of the wrong shape", M, lambda w: normal(covariance=np.eye(3)), "'covariance'", "(2, 2)", "(3, 3)")
entry("normal matrix with gaps", M, lambda w: normal(covariance=[[1, np.nan], [np.nan, 1]]), "'covariance'", "finite")
entry("normal matrix that is not symmetric", M, lambda w: normal(covariance=[[1, 0.5], [0, 1]]), "symmetric", "0.5")
entry("singular clique", E_, lambda w: gaussian(B=[2.0, 4.0, 8.0, 6.0]), "['A', 'B']", "singular",
      "prior=sf.HyperInverseWishart")  # fmt: skip
entry("constant column", E_, lambda w: gaussian(B=[2.0] * 4), "Column 'B' is constant", "Leave it out")
entry("deviance without a saturated model", E_,
      lambda w: deviance(NORMAL, sf.collect(PAIR, {**NUMBERS, "B": [2.0, 4.0, 8.0, 6.0]})), "saturated", "['A', 'B']",
      "more rows")  # fmt: skip
entry("Wishart without degrees of freedom", A, lambda w: sf.HyperInverseWishart(0, 1.0), "'dof'", "positive", "Got 0")
entry("Wishart scale of text", A, lambda w: sf.HyperInverseWishart(3, "x"), "'scale'", "a number", "Got 'x'")
entry("Wishart scale of the wrong shape", A, lambda w: gaussian(sf.HyperInverseWishart(3, np.eye(3))), "'scale'",
      "(2, 2)", "['A', 'B']", "(3, 3)")  # fmt: skip
entry("Wishart scale that is not positive definite", A, lambda w: gaussian(sf.HyperInverseWishart(3, -1.0)), "'scale'",
      "positive definite")  # fmt: skip
entry("Wishart mean for other variables", A, lambda w: gaussian(sf.HyperInverseWishart(3, 1.0, mean={"A": 1.0})),
      "'mean'", "['A', 'B']", "['A']")  # fmt: skip
entry("Wishart mean of the wrong shape", A, lambda w: gaussian(sf.HyperInverseWishart(3, 1.0, mean=[1.0])),
      "'mean'", "(2,)", "(1,)")  # fmt: skip
entry("Wishart with a flat mean and no data", E_,
      lambda w: WISHART.posterior(PAIR, moments_of("A", "B").scaled(0)), "flat prior", "mean=0.0")  # fmt: skip
entry("Wishart without a mode", E_,
      lambda w: sf.HyperInverseWishart(0.5, 1.0, mean=0.0).posterior(PAIR, moments_of("A", "B").scaled(0)).mode(),
      "no mode", "0.5", "point='mean'")  # fmt: skip
entry("Gaussian field with a table given", A, lambda w: sf.fit(PAIR, NUMBERS, fixed={"A": [1]}), "'fixed'", "left out")
entry("Gaussian field with another prior", A, lambda w: gaussian(sf.BDeu(1)), "sf.HyperInverseWishart", "BDeu")
entry("Gaussian field with a start", A, lambda w: sf.fit(PAIR, NUMBERS, init=1), "'init'", "left out", "iterative")

# Markov random fields -----------------------------------------------------------------------------------------

RING = sf.Cliques("A:B + B:C + C:D + D:A")
MANY = {f"v{number}": ["x", "y"] for number in range(11)}
VERY_MANY = {f"v{number}": ["x", "y"] for number in range(40)}
RING_ROWS = {"A": list("xxyyxy"), "B": list("uvuvuu"), "C": list("sststt"), "D": list("010110")}


def ring(**options: Any) -> sf.Fit:
    return sf.fit(RING, RING_ROWS, **options)


def start_with(**tables: Any) -> dict[str, Any]:
    """Return potentials of one for the ring's cliques, some of them replaced."""
    return {name: tables.get(name.replace(":", ""), np.ones((2, 2))) for name in ("A:B", "B:C", "C:D", "D:A")}


entry("unknown word for a start", A, lambda w: ring(init="uniform"), "'init' argument", "'random'", "Got 'uniform'")
entry("start that is none", A, lambda w: ring(init=3), "'init' argument", "a MarkovNetwork", "Got 3 instead")
entry("start without a table", A, lambda w: ring(init={"A:B": np.ones((2, 2))}), "no table for the clique B:C",
      "['A:B']",
      "one a clique")  # fmt: skip
entry("start with a table too many", A, lambda w: ring(init={**start_with(), "A:C": 1}), "a table for A:C",
      "none of the cliques", "Leave it out")  # fmt: skip
entry("start with a zero", A, lambda w: ring(init=start_with(AB=[[0, 1], [1, 1]])), "'init' table of A:B", "positive",
      "shape (2, 2)", "[[0, 1], [1, 1]]")  # fmt: skip
entry("start without mass", E_, lambda w: ring(method="ipf", init=start_with(AB=[[1e-300] * 2, [1, 1]],
      DA=[[1e-300, 1], [1e-300, 1]])), "no mass", "init=None", "method='newton'")  # fmt: skip
entry("prior of nodes on cliques", A, lambda w: ring(prior=sf.K2()), "'prior' argument", "one joint distribution",
      "sf.BDeu(10)", "sf.Gaussian(1.0)", "K2()")  # fmt: skip
entry("fixed tables of cliques", A, lambda w: ring(fixed={"A": [0.5, 0.5]}), "'fixed' argument", "cliques have none",
      "sf.maxent")  # fmt: skip
entry("simultaneous as text", A, lambda w: ring(method="ipf", options={"simultaneous": "yes"}), "'simultaneous'",
      "True or False", "Got 'yes'")  # fmt: skip
entry(
    "step of nothing", A, lambda w: ring(method="gradient", options={"step": 0}), "'step'", "positive", "Got 0 instead"
)
entry("diverging step", E_, lambda w: ring(method="gradient", options={"step": 100.0}), "step size 100",
      "such as 10", "step=None")  # fmt: skip
entry("penalty in ψ", A, lambda w: ring(method="gradient", options={"space": "psi"}, prior=sf.Gaussian()), "u-terms",
      "options={'space': 'log'}")  # fmt: skip
entry("mean by Newton", A, lambda w: ring(method="newton", prior=sf.BDeu(1), point="mean"), "'newton'",
      "['mle', 'map']", "not 'mean'")  # fmt: skip
entry("penalty by proportional fitting", E_, lambda w: ring(method="ipf", prior=sf.Gaussian()), "'ipf'", "a penalty",
      "Use 'newton'")  # fmt: skip
entry("kink by Newton", E_, lambda w: ring(method="newton", prior=sf.Laplace()), "'newton'", "derivatives",
      "Use 'proximal'")  # fmt: skip
entry("closed form of a ring", E_, lambda w: ring(method="closed_form"), "not decomposable", "A - B - C - D - A",
      "no chord")  # fmt: skip
entry("too wide a graph", E_, lambda w: sf.fit(
      sf.Cliques({f"x{i}": [f"x{j}" for j in range(i)] for i in range(1, 50)}, take="pairwise"),
      {f"x{i}": [0, 1] for i in range(50)}), "too wide", "TB, and may use", "narrower")  # fmt: skip
entry("width of no penalty", A, lambda w: sf.Gaussian(0), "'width' of a penalty", "positive", "Got 0 instead")
entry("penalty without an end", A, lambda w: sf.Laplace(float("inf")), "'width'", "between", "leave the prior out")
entry("penalty of a free state without data", E_, lambda w: sf.fit(sf.Cliques("A:B"), w.data, schema={"A": list("xyz")},
      prior=sf.Gaussian(1.0, main=float("inf"))), "State 'z' of 'A' never occurs", "main=10")  # fmt: skip
entry("penalty on too many terms", E_, lambda w: sf.fit(sf.Cliques([tuple(MANY)]), MANY, prior=sf.Gaussian(1.0)),
      "2,048", "at most 1,024", "sf.BDeu")  # fmt: skip
entry("clique too large for its table", E_, lambda w: sf.fit(sf.Cliques([tuple(VERY_MANY)]), VERY_MANY),
      "40 variables", "1,099,511,627,776 cells", "smaller cliques")  # fmt: skip
entry("margin of a variable twice", A, lambda w: sf.fit(sf.Cliques("A:B + B:C"), RING_ROWS, prior=sf.BDeu(1)).posterior
      .concentration(["A", "A"]), "twice", "['A', 'A']")  # fmt: skip
entry("goodness of targets", sf.AbsentError, lambda w: sf.maxent("A", {"A": [1, 1]}, over={"A": ["x", "y"]}).goodness,
      "target margins", "certificate")  # fmt: skip
entry("standard errors of targets", A, lambda w: sf.maxent("A", {"A": [1, 1]}, over={"A": ["x", "y"]}).u_terms(),
      "no sampling error", "fit.model.u_terms()")  # fmt: skip
entry("margin without a law", A, lambda w: sf.fit(sf.Cliques("A:B + B:C"), RING_ROWS, prior=sf.BDeu(1)).posterior
      .intervals(margin=["A", "C"]), "No clique holds ['A', 'C'] together", "A:B + B:C")  # fmt: skip

# Maximum entropy ----------------------------------------------------------------------------------------------

BITS = {"A": ["x", "y"], "B": ["u", "v"]}
HALVES = {"A": [0.5, 0.5], "B": [0.5, 0.5]}
TRIANGLE = "A:B + B:C + A:C"


def table_over(values: Any, **states: Any) -> sf.LabelledTable:
    return sf.LabelledTable(
        tuple(sf.Variable(name, tuple(s)) for name, s in states.items()), np.array(values, float), "p"
    )


entry("largest of numbers that are not known", sf.ModelError,
      lambda w: table_over([0.5, np.nan], A=["x", "y"]).argmax(), "['A']", "not known",
      "unseen_parents='uniform'")  # fmt: skip
entry(
    "targets without states", C, lambda w: sf.maxent("A + B", HALVES), "states of 'A'", "over={'A'", "labelled tables"
)
entry("fewer targets than cliques", A, lambda w: sf.maxent("A + B", [[0.5, 0.5]], over=BITS), "2 cliques and 1 targets",
      "one table a clique")  # fmt: skip
entry("targets that are none", A, lambda w: sf.maxent("A + B", 3, over=BITS), "'targets' argument", "a model", "Got 3")
entry("clique without a target", A, lambda w: sf.maxent("A + B", {"A": [1, 1]}, over=BITS), "no target for the",
      "clique B", "['A']")  # fmt: skip
entry("target of no clique", sf.UnknownNameError, lambda w: sf.maxent("A", HALVES, over=BITS), "a target for B",
      "none of the cliques A")  # fmt: skip
entry(
    "target under a number", A, lambda w: sf.maxent("A", {3: [1, 1]}, over=BITS), "named by its clique", "Got 3 instead"
)
entry("target of nothing", A, lambda w: sf.maxent("A", {"A": [0, 0]}, over=BITS), "target of A", "zero everywhere",
      "positive, finite total")  # fmt: skip
entry("target given twice", A, lambda w: sf.maxent("A:B", {"A:B": np.ones((2, 2)), "B:A": np.ones((2, 2))}, over=BITS),
      "two targets for", "'A', 'B'", "Give one")  # fmt: skip
entry("target over other variables", A, lambda w: sf.maxent("A:B", {"A:B": table_over([1, 2], A="xy")}, over=BITS),
      "target of A:B", "over ['A']", "its own variables")  # fmt: skip
entry("base of zeros", A, lambda w: sf.maxent("A", {"A": [1, 1]}, base=[0, 0], over=BITS), "zero everywhere", "Allow")
entry("base that rules out a target", E_, lambda w: sf.maxent("A", {"A": [1, 1]}, base=[0, 1], over=BITS),
      "rules out A=", "target of A gives it mass", "Change the target")  # fmt: skip
entry("base that is none", A, lambda w: sf.maxent("A", {"A": [1, 1]}, base="flat", over=BITS), "'base' argument",
      "axis for each of ['A']", "Got 'flat'")  # fmt: skip
entry("target of another shape", A, lambda w: sf.maxent("A", {"A": [1, 1, 1]}, over=BITS), "target of A", "shape (2,)",
      "Got the shape (3,)")  # fmt: skip
entry("negative target", A, lambda w: sf.maxent("A", {"A": [1, -1]}, over=BITS), "target of A", "not negative",
      "-1.0 at (1,)")  # fmt: skip
entry("targets with different states", A,
      lambda w: sf.maxent("A", [table_over([1, 2], A="xy")], over={"A": list("yx")}),
      "target of A", "['x', 'y'] of 'A'", "['y', 'x']", "order included")  # fmt: skip
entry("base over a stranger", sf.UnknownNameError, lambda w: sf.maxent("A", {"A": [1, 1]}, base=table_over(
      np.ones((2, 2)), A="xy", B="uv")), "'B'", "no variable of A", "Sum it out")  # fmt: skip
entry("targets of different totals", E_, lambda w: sf.maxent("A + B", {"A": [1, 1], "B": [1, 2]}, over=BITS),
      "targets of A and B", "different totals, 2.0 and 3.0", "as probabilities")  # fmt: skip
entry("targets that contradict each other", E_, lambda w: sf.maxent("A:B + B:C", [[[1, 1], [1, 1]], [[1, 2], [1, 0]]],
      over={**BITS, "C": ["s", "t"]}), "targets of A:B and B:C", "contradict", "Correct one")  # fmt: skip
entry("targets that agree in pairs only", E_, lambda w: sf.maxent(TRIANGLE, [[[0.1, 0.4], [0.4, 0.1]]] * 3,
      over={**BITS, "C": ["s", "t"]}), "No distribution", "two by two", "Change one")  # fmt: skip
entry("base against the targets", E_, lambda w: sf.maxent([(f"x{i}", f"x{i + 1}") for i in range(17)],
      [np.full((2, 2), 0.25)] * 17, base=[table_over([[1, 0], [1, 1]], x0="ab", x1="ab")],
      over={f"x{i}": ["a", "b"] for i in range(18)}), "base table rules out x0='a', x1='b'",
      "Change the target")  # fmt: skip

# Fits of cliques ----------------------------------------------------------------------------------------------


def long_cells(n: int, n_states: int = 2) -> sf.Fit:
    """Fit a chain of many variables to a few rows that hold every pair of states."""
    names = [f"v{number:02}" for number in range(n)]
    columns = {name: [(row // n_states ** (number % 2)) % n_states for row in range(n_states**2)]
               for number, name in enumerate(names)}  # fmt: skip
    return sf.fit(sf.Cliques(list(itertools.pairwise(names))), columns)


entry("u-terms, unknown", U, lambda w: w.markov().u_terms()["A", "C"], "no term ('A', 'C')", "'A:B'", "terms['A', 'B']")
entry("u-terms, total", A, lambda w: w.markov().u_terms(total=0), "'total'", "positive number", "Got 0 instead")
entry("u-terms, zero", M, lambda w: w.markov((("A", "B"), [[1, 0], [1, 1]])).u_terms(),
      "['A', 'B'] is zero at A='x', B='v'",
      "infinite", "boundary", "sf.BDeu(1)")  # fmt: skip
entry("to_markov_network, unknown rows", M, lambda w: w.hidden().to_markov_network(), "'B' has 1 unknown row (NaN)",
      "A='y'", "unseen_parents='uniform'")  # fmt: skip
entry("fit of another type", A, lambda w: sf.CliquesFit(**{part.name: getattr(w.fit(), part.name)
      for part in dataclasses.fields(sf.Fit)}), "no fit of sf.DAG", "NetworkFit", "Make a sf.Fit")  # fmt: skip
entry("goodness of a DAG", sf.AbsentError, lambda w: w.fit().goodness, "sf.Cliques, sf.GaussianMarkov", "sf.DAG")
entry("goodness, statistics", A, lambda w: goodness(cells(), 3), "'statistics'", "sf.collect(", "Got 3 instead")  # type: ignore[arg-type]
entry("goodness of many variables", sf.AbsentError, lambda w: long_cells(9).goodness, "9 variables were not collected",
      "up to 8", "sf.collect(sf.Cliques([fit.structure.variables]), data)")  # fmt: skip
entry("expected of a DAG", sf.AbsentError, lambda w: w.fit().expected(), "sf.Cliques", "sf.DAG")
entry("expected, unknown column", U, lambda w: cells().expected(None)["pearson"], "no column 'pearson'",
      "['observed', 'expected']", "fit.expected(residuals='adjusted')")  # fmt: skip
entry("expected, residuals=3", A, lambda w: cells().expected(3), "'residuals'", "'pearson', 'deviance', 'adjusted'",
      "Got 3 instead")  # fmt: skip
entry("expected, adjusted under a prior", A, lambda w: cells(prior=sf.BDeu(1)).expected("adjusted"),
      "maximum likelihood",
      "prior", "'pearson' or 'deviance'")  # fmt: skip
entry("expected, too many cells", A, lambda w: long_cells(21).expected(), "2,097,152 cells", "1,048,576", "query")
entry("expected, too many leverages", A,
      lambda w: limited("expected.MAX_DESIGN", 11, lambda: cells().expected("adjusted")),
      "4 cells by 3 free parameters", "11 numbers", "'pearson' or 'deviance'")  # fmt: skip
entry("u-terms of a DAG", sf.AbsentError, lambda w: w.fit().u_terms(), "sf.Cliques", "sf.DAG")
entry("u-terms of many parameters", A, lambda w: limited("wald.MAX_FREE", 2, lambda: cells().u_terms()),
      "3 free parameters", "up to 2", "fit.model.u_terms()")  # fmt: skip
entry("u-terms, large covariance", A, lambda w: limited("wald.MAX_COVARIANCE", 7, lambda: cells().u_terms().covariance),
      "8 rows", "64 numbers", "at most 7", "constraint='corner'")  # fmt: skip
entry("u-terms on the boundary", E_, lambda w: cells(counts=[[3, 0], [1, 2]]).u_terms(), "boundary", "infinite",
      "A='x', B='v'", "sf.Gaussian(1.0)")  # fmt: skip
entry("u-terms under a kink", E_, lambda w: dataclasses.replace(cells(), prior=sf.Laplace(1.0)).u_terms(),
      "Laplace(width=1.0", "kink at zero", "sf.Gaussian(…)")  # fmt: skip
entry("u-terms without information", E_,
      lambda w: dataclasses.replace(cells(), statistics=cells().statistics * 0).u_terms(), "singular",
      "sf.Gaussian(1.0)")  # fmt: skip
entry(
    "likelihood_ratio of no fit", A, lambda w: sf.likelihood_ratio(cells(), 3), "'large'", "sf.fit(…)", "Got 3 instead"
)  # type: ignore[arg-type]
entry("likelihood_ratio of a DAG", A, lambda w: sf.likelihood_ratio(w.fit(), cells()), "'small'",
      "sf.Cliques, sf.GaussianMarkov", "sf.DAG")  # fmt: skip
entry("likelihood_ratio under a prior", E_, lambda w: sf.likelihood_ratio(cells("A + B", prior=sf.BDeu(1)), cells()),
      "'small' fit is not by maximum likelihood", "without a prior")  # fmt: skip
entry("likelihood_ratio of two kinds", A,
      lambda w: sf.likelihood_ratio(cells(), sf.fit(sf.GaussianMarkov("x"), {"x": [1.0, 2.0]})), "same kind",
      "sf.Cliques and sf.GaussianMarkov")  # fmt: skip
entry("likelihood_ratio of other variables", A, lambda w: sf.likelihood_ratio(cells("A"), cells()), "same variables",
      "['A'] and ['A', 'B']", "cliques by themselves")  # fmt: skip
entry("likelihood_ratio, not nested", A, lambda w: sf.likelihood_ratio(cells("A:B"), cells("A + B")),
      "A:B is not inside A + B", "exchange them")  # fmt: skip
entry("likelihood_ratio, other N", A, lambda w: sf.likelihood_ratio(cells("A + B"), cells(counts=[[1, 2], [3, 4]])),
      "same data", "N = 19 and N = 10")  # fmt: skip
entry("likelihood_ratio, other states", A,
      lambda w: sf.likelihood_ratio(
          cells("A + B"),
          sf.fit(sf.Cliques("A:B"), sf.Contingency([[3, 4], [5, 7]], {"A": ["x", "y"], "B": ["u", "w"]})),
      ), "same data", "'B'", "['u', 'w']")  # fmt: skip
entry("likelihood_ratio, other counts", A,
      lambda w: sf.likelihood_ratio(cells("A + B"), cells(counts=[[4, 3], [5, 7]])),
      "same data", "counts of ['", "differ")  # fmt: skip


for module in pkgutil.iter_modules(error_entries.__path__):
    importlib.import_module(f"tests.error_entries.{module.name}")  # registers its entries


def in_catalogue(selected: list[Entry]) -> Any:
    return pytest.mark.parametrize("case", selected, ids=lambda case: case.name.replace(" ", "-"))


def places(error: BaseException | None) -> set[tuple[str, int]]:
    """Where an error was raised, and the errors that it replaced."""
    found = set()
    while error is not None:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is not None:
            found.add((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        error = error.__context__
    return found


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the outcomes of entries, which all processes of a run share."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "outcomes_of_entries"
    folder.mkdir(exist_ok=True)
    return folder


def outcome(case: Entry, outcomes: Path, folder: Path) -> tuple[str, str, list[tuple[str, int]]]:
    """Return the class, message and places of an entry's error, from an earlier test of this run if there was one."""
    kept = outcomes / hashlib.sha256(case.name.encode()).hexdigest()
    if not kept.exists():
        folder.mkdir(exist_ok=True)
        with pytest.raises(sf.SufficeError) as caught:
            case.call(World(folder))
        error = caught.value
        whole = folder / kept.name  # moved when complete, since others may read it
        whole.write_text(json.dumps([full_name(type(error)), str(error), sorted(places(error))]), encoding="utf-8")
        whole.replace(kept)
    name, message, found = json.loads(kept.read_text(encoding="utf-8"))
    return name, message, [(path, line) for path, line in found]


def full_name(kind: type[BaseException]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@in_catalogue(CATALOGUE)
def test_message_says_what_where_and_what_to_do(case: Entry, outcomes: Path, tmp_path: Path) -> None:
    error, message, _ = outcome(case, outcomes, tmp_path)
    assert error == full_name(case.error), message
    for part in case.says:
        assert part in message
    assert message[0] != '"', "a KeyError must not show the repr of its message"
    assert message.rstrip()[-1] in ".?", message


def test_names_of_the_catalogue_are_different() -> None:
    assert len({case.name for case in CATALOGUE}) == len(CATALOGUE)


UNREACHABLE = (
    "The sums {self.need}",  # sums are added inside one reduce, of one task
    "is not a function of the rows",  # no structure needs a sum
    "The table is encoded already",  # the public API never hands an encoded table out
    "Exact answers need tables",  # networks with other kinds of nodes are asked in other ways
    "are known only after a pass",  # fit makes the pass first
    "are not the same.",  # unite() is only called on variables of one name
    "raise _cannot_write(given, error, ",  # tested below, with a rename that fails
    "is not installed",  # tested below, with the backends hidden
    "_own_error(error)",  # tested in tests/engines, with Spark
    "an edge must join two different nodes",  # tested in tests/report, since structures have no such edges
    "cannot be read: {error}",  # whatever else Arrow may complain about in a CSV file
)


FOREIGN = ("bif", "dsl", "hugin_net", "syntax", "uai", "xdsl", "xmlbif")  # folders of src/suffice/io
INTERNAL = ("TypeError", "AttributeError", "KeyboardInterrupt", "NotImplementedError", "_Lost")
INTERNAL += ("RequestError", "SupersededError")  # answers of a server to its page, tested in tests/explore


def test_every_raise_of_the_library_is_in_the_catalogue(outcomes: Path, tmp_path: Path) -> None:
    reached: set[tuple[str, int]] = set()
    for number, case in enumerate(CATALOGUE):
        with contextlib.suppress(Exception, pytest.fail.Exception):  # which the entry's own test tells
            reached.update(outcome(case, outcomes, tmp_path / str(number))[2])
    missing = []
    for path in sorted(SOURCE.rglob("*.py")):
        if "cli" in path.parts or path.parent.name in FOREIGN:
            continue  # the commands' own errors are tested in tests/cli, those of other programs' formats in tests/io
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Raise) or node.exc is None:
                continue
            said = ast.get_source_segment(text, node) or ""
            if any(f"raise {name}" in said for name in INTERNAL):
                continue
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            hit = any((str(path), line) in reached for line in lines)
            if not hit and not any(words in said for words in UNREACHABLE):
                missing.append(f"{path.relative_to(SOURCE)}:{node.lineno}: {said.splitlines()[0]}")
    assert not missing, "\n".join(missing)


def test_backend_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = World(tmp_path).fit().model
    monkeypatch.setattr("suffice.data.frame.importlib.util.find_spec", lambda name: None)
    with pytest.raises(sf.ArgumentError, match="'polars' is not installed"):
        model.sample(1, backend="polars")


# The errors themselves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        ("ArgumentError", ValueError),
        ("DataError", ValueError),
        ("SchemaError", ValueError),
        ("StructureError", ValueError),
        ("StatisticsError", ValueError),
        ("EstimationError", ValueError),
        ("ModelError", ValueError),
        ("FileFormatError", ValueError),
        ("FileAccessError", OSError),
        ("UnknownNameError", KeyError),
    ],
)
def test_errors_are_also_the_builtin_error_that_a_python_reader_expects(error: str, builtin: type[Exception]) -> None:
    assert issubclass(getattr(sf, error), sf.SufficeError)
    assert issubclass(getattr(sf, error), builtin)


def test_unknown_name_shows_its_message_and_not_the_repr_of_it() -> None:
    assert str(sf.UnknownNameError("no 'x'")) == "no 'x'"
    assert str(sf.UnknownNameError()) == ""


# Unwritable outputs change nothing ----------------------------------------------------------------------------


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every path beneath a folder, with the bytes of files."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def no_folder(folder: Path, ending: str) -> Path:
    return folder / "absent" / f"x{ending}"


def a_folder(folder: Path, ending: str) -> Path:
    (folder / f"x{ending}").mkdir()
    (folder / f"x{ending}" / "kept.txt").write_text("kept")
    return folder / f"x{ending}"


def beneath_a_file(folder: Path, ending: str) -> Path:
    (folder / "file").write_text("kept")
    return folder / "file" / f"x{ending}"


def name_too_long(folder: Path, ending: str) -> Path:
    return folder / (400 * "x" + ending)


def behind_a_dangling_folder_link(folder: Path, ending: str) -> Path:
    (folder / "link").symlink_to(folder / "gone")
    return folder / "link" / f"x{ending}"


@pytest.mark.parametrize("ending", [".json", ".stats"])
@pytest.mark.parametrize("target", [no_folder, a_folder, beneath_a_file, name_too_long, behind_a_dangling_folder_link])
def test_unwritable_output_changes_nothing(tmp_path: Path, target: Callable[[Path, str], Path], ending: str) -> None:
    world = World(tmp_path)
    thing = world.fit() if ending == ".json" else world.stats()
    path = target(tmp_path, ending)
    before = snapshot(tmp_path)
    with pytest.raises(sf.FileAccessError, match="Nothing was changed"):
        sf.write(thing, path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("ending", [".json", ".stats"])
@pytest.mark.parametrize("failing", ["os.replace", "os.fsync"])
def test_failing_rename_or_flush_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, ending: str
) -> None:
    world = World(tmp_path)
    thing = world.fit() if ending == ".json" else world.stats()
    path = tmp_path / f"x{ending}"
    path.write_bytes(b"old")
    before = snapshot(tmp_path)

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(failing, fail)
    with pytest.raises(sf.FileAccessError, match="No space left on device"):
        sf.write(thing, path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ["x.json", "x.stats"])
def test_writing_the_wrong_thing_keeps_the_old_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(sf.ArgumentError):
        sf.write(3, tmp_path / name)
    assert snapshot(tmp_path) == {name: b"old"}


# Bad arguments never escape as raw errors ---------------------------------------------------------------------

BAD_CALLS: dict[str, Callable[[World], Any]] = {
    "fit(cliques, None)": lambda w: sf.fit(RING, None),
    "fit(cliques), init=[]": lambda w: ring(init=[]),
    "fit(cliques), init={3: 4}": lambda w: ring(init={3: 4}),
    "fit(cliques), init=array": lambda w: ring(init=np.ones(3)),
    "fit(cliques), prior=[]": lambda w: ring(prior=[]),
    "fit(cliques), step=None of text": lambda w: ring(method="gradient", options={"step": []}),
    "fit(cliques), space=3": lambda w: ring(method="gradient", options={"space": 3}),
    "fit(cliques), fixed=3": lambda w: ring(fixed=3),
    "Gaussian(None)": lambda w: sf.Gaussian(None),
    "Gaussian([])": lambda w: sf.Gaussian([]),
    "Laplace(main='x')": lambda w: sf.Laplace(1.0, main="x"),
    "maxent(None)": lambda w: sf.maxent(None),
    "maxent, targets=None": lambda w: sf.maxent("A", over=BITS),
    "maxent, targets of None": lambda w: sf.maxent("A", {"A": None}, over=BITS),
    "maxent, base=3": lambda w: sf.maxent("A", {"A": [1, 1]}, over=BITS, base=3),
    "maxent, over=3": lambda w: sf.maxent("A", {"A": [1, 1]}, over=3),
    "Cliques(None)": lambda w: sf.Cliques(None),
    "Cliques([None])": lambda w: sf.Cliques([None]),
    "Cliques([[]])": lambda w: sf.Cliques([[]]),
    "Cliques([[[]]])": lambda w: sf.Cliques([[[]]]),
    "Cliques({})": lambda w: sf.Cliques({}),
    "Cliques({3.5: []})": lambda w: sf.Cliques({3.5: []}),
    "Cliques({'A': [3.5]})": lambda w: sf.Cliques({"A": [3.5]}),
    "Cliques, take=[]": lambda w: sf.Cliques("A", take=[]),
    "cliques.n_free(None)": lambda w: sf.Cliques("A").n_free(None),
    "cliques.is_nested_in(3)": lambda w: sf.Cliques("A").is_nested_in(3),
    "fit(None, None)": lambda w: sf.fit(None, None),
    "fit(dag, None)": lambda w: sf.fit(w.dag, None),
    "fit(dag, 5)": lambda w: sf.fit(w.dag, 5),
    "fit(dag, [1, 2])": lambda w: sf.fit(w.dag, [1, 2]),
    "fit(dag, array)": lambda w: sf.fit(w.dag, np.zeros((3, 2))),
    "fit(dag, 'nope')": lambda w: sf.fit(w.dag, "nope"),
    "data={'A': 3}": lambda w: sf.fit(w.dag, {"A": 3, "B": 4}),
    "data={'A': [[1]]}": lambda w: sf.fit(w.dag, {"A": [[1]], "B": [1]}),
    "data={'A': [object()]}": lambda w: sf.fit(w.dag, {"A": [object()], "B": ["x"]}),
    "data={'A': [b'x']}": lambda w: sf.fit(w.dag, {"A": [b"x"], "B": ["x"]}),
    "data={'A': [1j]}": lambda w: sf.fit(w.dag, {"A": [1j], "B": ["x"]}),
    "data={'A': [2**70]}": lambda w: sf.fit(w.dag, {"A": [2**70], "B": ["x"]}),
    "data={'A': 0-d}": lambda w: sf.fit(w.dag, {"A": np.array(3), "B": ["x"]}),
    "data={'A': []}": lambda w: sf.fit(w.dag, {"A": [], "B": []}),
    "data={'A': []}, prior": lambda w: sf.fit(w.dag, {"A": [], "B": []}, prior=sf.K2()),
    "data='a\\0b.csv'": lambda w: sf.fit(w.dag, "a\0b.csv"),
    "data=CSV(3)": lambda w: sf.fit(w.dag, sf.CSV(3)),
    "data=CSV(None)": lambda w: sf.fit(w.dag, sf.CSV(None)),
    "prior=3": lambda w: w.fit(prior=3),
    "prior='bdeu'": lambda w: w.fit(prior="bdeu"),
    "prior=BDeu": lambda w: w.fit(prior=sf.BDeu),
    "prior={}": lambda w: w.fit(prior={}),
    "prior='uniform'": lambda w: w.fit(prior="uniform"),
    "hypotheses, prior=K2()": lambda w: w.hypothesis_fit(prior=sf.K2()),
    "hypotheses, prior of text": lambda w: w.hypothesis_fit(prior={"even": "x", "odd": 1}),
    "hypotheses, prior None": lambda w: w.hypothesis_fit(prior={"even": None, "odd": 1}),
    "hypotheses, schema=5": lambda w: w.hypothesis_fit(schema=5),
    "hypotheses, fixed": lambda w: w.hypothesis_fit(fixed={"n": [1, 0, 0, 0]}),
    "point='x'": lambda w: w.fit(point="x"),
    "point=array": lambda w: w.fit(point=np.array([1, 2])),
    "point without prior": lambda w: w.fit(point="mean"),
    "tol=-1": lambda w: w.fit(tol=-1),
    "tol=nan": lambda w: w.fit(tol=float("nan")),
    "tol='x'": lambda w: w.fit(tol="x"),
    "tol=None": lambda w: w.fit(tol=None),
    "method='x'": lambda w: w.fit(method="x"),
    "method=None": lambda w: w.fit(method=None),
    "method=[]": lambda w: w.fit(method=[]),
    "options={'a': 1}": lambda w: w.fit(options={"a": 1}),
    "options=5": lambda w: w.fit(options=5),
    "options='a'": lambda w: w.fit(options="a"),
    "max_iter=-1": lambda w: w.fit(max_iter=-1),
    "max_iter='x'": lambda w: w.fit(max_iter="x"),
    "seed='x'": lambda w: w.fit(seed="x"),
    "seed=-1": lambda w: w.fit(seed=-1),
    "fixed=3": lambda w: w.fit(fixed=3),
    "fixed='A'": lambda w: w.fit(fixed="A"),
    "fixed={'A': 'x'}": lambda w: w.fit(fixed={"A": "x"}),
    "fixed={'A': None}": lambda w: w.fit(fixed={"A": None}),
    "fixed={'A': object()}": lambda w: w.fit(fixed={"A": object()}),
    "fixed={'A': [0.5, 'x']}": lambda w: w.fit(fixed={"A": [0.5, "x"]}),
    "fixed={'A': ragged}": lambda w: w.fit(fixed={"A": [[0.5, 0.5], [0.5]]}),
    "fixed={'A': {'x': 'a'}}": lambda w: w.fit(fixed={"A": {"x": "a", "y": "b"}}),
    "fixed={'A': {unknown state}}": lambda w: w.fit(fixed={"A": {"x": 0.5, "y": 0.5, "z": 0.7}}),
    "fixed={'B': {}}": lambda w: w.fit(fixed={"B": {}}),
    "fixed={'B': {'x': 3}}": lambda w: w.fit(fixed={"B": {"x": 3}}),
    "fixed={'B': {'x': ['a', 'b']}}": lambda w: w.fit(fixed={"B": {"x": ["a", "b"]}}),
    "fixed={'B': {'x': {'u': 'p'}}}": lambda w: w.fit(fixed={"B": {"x": {"u": "p", "v": 1}}}),
    "fixed={'B': {'z': …}}": lambda w: w.fit(fixed={"B": {"z": [1, 0]}}),
    "weights='nope'": lambda w: w.fit(weights="nope"),
    "weights='A'": lambda w: w.fit(weights="A"),
    "weights=[1]": lambda w: w.fit(weights=[1]),
    "weights=3": lambda w: w.fit(weights=3),
    "weights=['a', …]": lambda w: w.fit(weights=["a", "b", "c"]),
    "weights=ragged": lambda w: w.fit(weights=[1, [2], 3]),
    "weights=[None]": lambda w: w.fit(weights=[1, None, 3]),
    "weights too large for whole numbers": lambda w: w.fit(weights=[2**62, 2**62, 2**62 + 1]),
    "weights whose sum wraps around": lambda w: sf.fit(
        sf.DAG("A"), {"A": 3 * ["x"]}, weights=[2**63 - 1, 2**63 - 1, 5]
    ),
    "weights too large for floats": lambda w: w.fit(weights=[1e308, 1e308, 1e308]),
    "schema=5": lambda w: w.fit(schema=5),
    "schema='A'": lambda w: w.fit(schema="A"),
    "schema={'A': 3}": lambda w: w.fit(schema={"A": 3}),
    "schema={'A': None}": lambda w: w.fit(schema={"A": None}),
    "schema={'A': [[1]]}": lambda w: w.fit(schema={"A": [[1], [2]]}),
    "schema={'A': []}": lambda w: w.fit(schema={"A": []}),
    "missing=None": lambda w: w.fit(missing=None),
    "missing=[]": lambda w: w.fit(missing=[]),
    "certify=True": lambda w: w.fit(certify=True),
    "progress='x'": lambda w: w.fit(progress="x"),
    "progress=None": lambda w: w.fit(progress=None),
    "collect(None)": lambda w: sf.collect(None, w.data),
    "collect(dag, None)": lambda w: sf.collect(w.dag, None),
    "estimate(dag, data)": lambda w: sf.estimate(w.dag, w.data),
    "estimate(None, stats)": lambda w: sf.estimate(None, w.stats()),
    "estimate, data=5": lambda w: sf.estimate(w.dag, w.stats(), certify="data", data=5),
    "stats * 'x'": lambda w: w.stats() * "x",
    "stats * None": lambda w: w.stats() * None,
    "stats * inf": lambda w: w.stats() * float("inf"),
    "counts.marginal('Z')": lambda w: w.stats()[sf.Count(("A", "B"))].marginal(("Z",)),
    "counts.scaled(-1)": lambda w: w.stats()[sf.Count(("A",))].scaled(-1),
    "read(5)": lambda w: sf.read(5),
    "read(None)": lambda w: sf.read(None),
    "read('.')": lambda w: sf.read("."),
    "read NUL": lambda w: sf.read("a\0b.json"),
    "read NUL statistics": lambda w: sf.read("a\0b.stats"),
    "read surrogate": lambda w: sf.read("\ud800.json"),
    "write(3)": lambda w: sf.write(3, w.path("x.json")),
    "write(fit, 'x.unknown')": lambda w: sf.write(w.fit(), w.path("x.unknown")),
    "write(fit, 5)": lambda w: sf.write(w.fit(), 5),
    "write NUL": lambda w: sf.write(w.fit(), w.path("a\0b.json")),
    "write NUL statistics": lambda w: sf.write(w.stats(), w.path("a\0b.stats")),
    "write surrogate": lambda w: sf.write(w.fit(), w.path("\ud800.json")),
    "sample(-1)": lambda w: w.fit().model.sample(-1),
    "sample(2.5)": lambda w: w.fit().model.sample(2.5),
    "sample('x')": lambda w: w.fit().model.sample("x"),
    "sample(True)": lambda w: w.fit().model.sample(True),
    "sample, seed=-1": lambda w: w.fit().model.sample(3, seed=-1),
    "sample, seed='x'": lambda w: w.fit().model.sample(3, seed="x"),
    "sample, backend=3": lambda w: w.fit().model.sample(3, backend=3),
    "log_prob(None)": lambda w: w.fit().model.log_prob(None),
    "log_prob, missing column": lambda w: w.fit().model.log_prob({"A": ["x"]}),
    "cpd('nope')": lambda w: w.fit().model.cpd("nope"),
    "cpd(None)": lambda w: w.fit().model.cpd(None),
    "cpd([])": lambda w: w.fit().model.cpd([]),
    "posterior['nope']": lambda w: w.fit(prior=sf.K2()).posterior["nope"],
    "interval('x')": lambda w: w.fit(prior=sf.K2()).posterior["A"].intervals("x"),
    "posterior.sample(-1)": lambda w: w.fit(prior=sf.K2()).posterior["A"].sample(-1),
    "posterior.sample('x')": lambda w: w.fit(prior=sf.K2()).posterior["A"].sample("x"),
    "posterior.sample, seed=-1": lambda w: w.fit(prior=sf.K2()).posterior["A"].sample(2, seed=-1),
    "posterior.sample, seed='x'": lambda w: w.fit(prior=sf.K2()).posterior.sample(1, seed="x"),
    "network posterior.sample, seed=-1": lambda w: w.fit(prior=sf.K2()).posterior.sample(1, seed=-1),
    "log_predictive(None)": lambda w: w.fit(prior=sf.K2()).posterior.log_predictive(None),
    "table[{'nope': 1}]": lambda w: w.fit().model.cpd("B").table[{"nope": 1}],
    "table['A']": lambda w: w.fit().model.cpd("B").table["A"],
    "table[3]": lambda w: w.fit().model.cpd("B").table[3],
    "table[{'A': []}]": lambda w: w.fit().model.cpd("B").table[{"A": []}],
    "schema[[]]": lambda w: w.fit().model.schema[[]],
    "schema.unite(3)": lambda w: w.fit().model.schema.unite(3),
    "DAG(None)": lambda w: sf.DAG(None),
    "DAG(bytes)": lambda w: sf.DAG(b"A -> B"),
    "DAG([1.5, 2])": lambda w: sf.DAG([1.5, 2]),
    "DAG({'A': 3})": lambda w: sf.DAG({"A": 3}),
    "DAG({'A': [3.5]})": lambda w: sf.DAG({"A": [3.5]}),
    "DAG({'A': [[]]})": lambda w: sf.DAG({"A": [["B"]]}),
    "DAG({1.5: ['A']})": lambda w: sf.DAG({1.5: ["A"]}),
    "DAG({'': []})": lambda w: sf.DAG({"": []}),
    "DAG(multigraph)": lambda w: sf.DAG(networkx.MultiDiGraph([("A", "B"), ("A", "B")])),
    "latent=3": lambda w: sf.DAG("A", latent=3),
    "latent=['A']": lambda w: sf.DAG("A", latent=["A"]),
    "kinds=3": lambda w: sf.DAG("A", kinds=3),
    "kinds={'A': 'nope'}": lambda w: sf.fit(sf.DAG("A", kinds={"A": "nope"}), w.data),
    "kinds={'A': []}": lambda w: sf.fit(sf.DAG("A", kinds={"A": []}), w.data),
    "tie=3": lambda w: sf.DAG("A", tie=3),
    "tie=[3]": lambda w: sf.DAG("A", tie=[3]),
    "tie='AB'": lambda w: sf.DAG("A; B", tie="AB"),
    "latent variable, init=3": lambda w: sf.fit(sf.DAG("H -> A", latent={"H": 2}), w.data, init=3),
    "latent variable, restarts=0": lambda w: sf.fit(sf.DAG("H -> A", latent={"H": 2}), w.data, restarts=0),
    "normal with gaps, init=3": lambda w: sf.fit(sf.Normal("x"), {"x": [1.0, None, 2.5]}, missing="em", init=3),
    "options={'memory': 'x'}": lambda w: w.fit(missing="em", options={"memory": "x"}),
    "checkpoint=3": lambda w: w.fit(missing="em", method="em", checkpoint=3),
    "checkpoint in no folder": lambda w: w.fit(missing="em", method="em", checkpoint=w.path("no/x")),
    "Hypotheses(None)": lambda w: sf.Hypotheses(None),
    "Hypotheses([1])": lambda w: sf.Hypotheses([1]),
    "Hypotheses({'a': 3})": lambda w: sf.Hypotheses({"a": 3}),
    "Hypotheses({'a': [[1]]})": lambda w: sf.Hypotheses({"a": [[1]]}),
    "Hypotheses({'a': [None, 1]})": lambda w: sf.Hypotheses({"a": [None, 1]}),
    "Hypotheses({3: [1]})": lambda w: sf.Hypotheses({3: [1]}),
    "Hypotheses(over=3)": lambda w: sf.Hypotheses({"a": [1]}, over=3),
    "BDeu(0)": lambda w: sf.BDeu(0),
    "BDeu('x')": lambda w: sf.BDeu("x"),
    "BDeu([1])": lambda w: sf.BDeu([1]),
    "BDeu(1j)": lambda w: sf.BDeu(1j),
    "Dirichlet(None)": lambda w: sf.Dirichlet(None),
    "Dirichlet([1, 2])": lambda w: sf.Dirichlet([1, 2]),
    "Dirichlet(ragged)": lambda w: sf.Dirichlet({"A": [[1], [1, 2]]}),
    "Dirichlet of no node": lambda w: w.fit(prior=sf.Dirichlet({"nope": 1}, rest=1)),
    "Dirichlet(1e308)": lambda w: w.fit(prior=sf.Dirichlet(1e308)),
    "CSV(separator='')": lambda w: sf.CSV("x.csv", separator=""),
    "CSV(separator=3)": lambda w: sf.CSV("x.csv", separator=3),
    "CSV(na_values=3)": lambda w: sf.CSV("x.csv", na_values=3),
    "CSV(na_values=[3])": lambda w: sf.fit(w.dag, sf.CSV(w.csv("A,B\nx,u\n"), na_values=[3])),
    "CSV(separator='ä')": lambda w: sf.fit(w.dag, sf.CSV(w.csv("AäB\nxäu\n"), separator="ä")),
    "CSV(separator='\\n')": lambda w: sf.fit(w.dag, sf.CSV(w.csv("A,B\nx,u\n"), separator="\n")),
    "Contingency(None, None)": lambda w: sf.Contingency(None, None),
    "Contingency, states=3": lambda w: sf.Contingency([1, 2], {"A": 3}),
    "Contingency(ragged)": lambda w: sf.Contingency([[1], [1, 2]], {"A": ["x"]}),
    "Contingency, states as text": lambda w: sf.Contingency([1, 2], {"A": "xy"}),
    "Variable('A', 3)": lambda w: sf.Variable("A", 3),
    "Variable('A', 'xy')": lambda w: sf.Variable("A", "xy"),
    "Schema(3)": lambda w: sf.Schema(3),
    "Schema((3,))": lambda w: sf.Schema((3,)),
    "categorical(3)": lambda w: sf.categorical(3),
    "BayesianNetwork(None, None)": lambda w: sf.BayesianNetwork(None, None),
    "BayesianNetwork(dag, None)": lambda w: sf.BayesianNetwork(w.dag, None),
    "BayesianNetwork('A -> B')": lambda w: sf.BayesianNetwork("A -> B", {"A": [1], "B": [[1]]}, schema=w.schema),
    "BayesianNetwork, table of text": lambda w: w.network(A=["a", "b"]),
    "BayesianNetwork, ragged table": lambda w: w.network(A=[[1], [1, 2]]),
    "BayesianNetwork, table None": lambda w: w.network(A=None),
    "BayesianNetwork, infinite": lambda w: w.network(A=[np.inf, -np.inf]),
    "BayesianNetwork, schema=5": lambda w: sf.BayesianNetwork(w.dag, {"A": [1], "B": [[1]]}, schema=5),
    "query(None)": lambda w: w.network().query(None),
    "query(3)": lambda w: w.network().query(3),
    "query([3])": lambda w: w.network().query([3]),
    "query([['A']])": lambda w: w.network().query([["A"]]),
    "query([None])": lambda w: w.network().query([None]),
    "query([{}])": lambda w: w.network().query([{}]),
    "query({})": lambda w: w.network().query({}),
    "query([])": lambda w: w.network().query([]),
    "query(bytes)": lambda w: w.network().query(b"A"),
    "query('')": lambda w: w.network().query(""),
    "query(np.array)": lambda w: w.network().query(np.zeros((2, 2))),
    "query, given=[]": lambda w: w.network().query("A", []),
    "query, given='B'": lambda w: w.network().query("A", "B=u"),
    "query, given=[('B', 'u')]": lambda w: w.network().query("A", [("B", "u")]),
    "query, given={3: 'u'}": lambda w: w.network().query("A", {3: "u"}),
    "query, given={None: None}": lambda w: w.network().query("A", {None: None}),
    "query, given={('B',): 'u'}": lambda w: w.network().query("A", {("B",): "u"}),
    "query, given={'B': None}": lambda w: w.network().query("A", {"B": None}),
    "query, given={'B': NaN}": lambda w: w.network().query("A", {"B": float("nan")}),
    "query, given={'B': []}": lambda w: w.network().query("A", {"B": []}),
    "query, given={'B': {}}": lambda w: w.network().query("A", {"B": {}}),
    "query, given={'B': [[]]}": lambda w: w.network().query("A", {"B": [[]]}),
    "query, given={'B': [{}]}": lambda w: w.network().query("A", {"B": [{}]}),
    "query, given={'B': ['u', ['v']]}": lambda w: w.network().query("A", {"B": ["u", ["v"]]}),
    "query, given={'B': array}": lambda w: w.network().query("A", {"B": np.array(["u", "v"])}),
    "query, given={'B': object}": lambda w: w.network().query("A", {"B": object()}),
    "query, given={'B': {'u': 'x'}}": lambda w: w.network().query("A", {"B": {"u": "x"}}),
    "query, given={'B': {'u': None}}": lambda w: w.network().query("A", {"B": {"u": None}}),
    "query, given={'B': {'u': []}}": lambda w: w.network().query("A", {"B": {"u": []}}),
    "query, given={'B': {'u': NaN}}": lambda w: w.network().query("A", {"B": {"u": float("nan")}}),
    "query, given={'B': {'u': inf}}": lambda w: w.network().query("A", {"B": {"u": float("inf")}}),
    "query, given={'B': {'u': 1j}}": lambda w: w.network().query("A", {"B": {"u": 1j}}),
    "query, given={'B': {'w': 1}}": lambda w: w.network().query("A", {"B": {"w": 1}}),
    "query, given={'B': {None: 1}}": lambda w: w.network().query("A", {"B": {None: 1}}),
    "query, interval=0.9": lambda w: w.network().query("A", interval=0.9),
    "query, interval=[]": lambda w: w.network().query("A", interval=[]),
    "marginal(None)": lambda w: w.network().marginal(None),
    "marginals(3)": lambda w: w.network().marginals(3),
    "marginals([])": lambda w: w.network().marginals([]),
    "map(3)": lambda w: w.network().map(3),
    "map([])": lambda w: w.network().map([]),
    "map('A')": lambda w: w.network().map("A"),
    "map({'A': [[]]})": lambda w: w.network().map({"A": [[]]}),
    "map({'A': {'x': {}}})": lambda w: w.network().map({"A": {"x": {}}}),
    "map()[[]]": lambda w: w.network().map()[[]],
    "map()[None]": lambda w: w.network().map()[None],
    "log_evidence(3)": lambda w: w.network().log_evidence(3),
    "log_evidence({'A': None})": lambda w: w.network().log_evidence({"A": None}),
    "entropy([])": lambda w: w.network().entropy([]),
    "complexity(3)": lambda w: w.network().complexity(3),
    "kl(None)": lambda w: w.network().kl(None),
    "kl(hypotheses)": lambda w: w.network().kl(w.hypothesis_fit().model),
    "query_rows('A', None)": lambda w: w.network().query_rows("A", None),
    "query_rows('A', 3)": lambda w: w.network().query_rows("A", 3),
    "query_rows('A', {})": lambda w: w.network().query_rows("A", {}),
    "query_rows('A', [])": lambda w: w.network().query_rows("A", []),
    "query_rows('A', {'B': 3})": lambda w: w.network().query_rows("A", {"B": 3}),
    "query_rows('A', {'B': ['w']})": lambda w: w.network().query_rows("A", {"B": ["w"]}),
    "query_rows('A', {'B': [[]]})": lambda w: w.network().query_rows("A", {"B": [["u"]]}),
    "query_rows([[]], data)": lambda w: w.network().query_rows([[]], {"B": ["u"]}),
    "sample, given=3": lambda w: w.network().sample(2, given=3),
    "sample, given=[('A', 'x')]": lambda w: w.network().sample(2, given=[("A", "x")]),
    "sample, given={'A': [[]]}": lambda w: w.network().sample(2, given={"A": [[]]}),
    "sample, given={'C': 'x'}": lambda w: w.network().sample(2, given={"C": "x"}),
    "sample, given={'A': {}}": lambda w: w.network().sample(2, given={"A": {}}),
    "sample(-1), given": lambda w: w.network().sample(-1, given={"A": "x"}),
    "sample, seed='x', given": lambda w: w.network().sample(2, given={"A": "x"}, seed="x"),
    "sensitivity(None)": lambda w: w.network().sensitivity(None),
    "sensitivity(3)": lambda w: w.network().sensitivity(3),
    "sensitivity([])": lambda w: w.network().sensitivity([]),
    "sensitivity({})": lambda w: w.network().sensitivity({}),
    "sensitivity({3: 'x'})": lambda w: w.network().sensitivity({3: "x"}),
    "sensitivity({'A': None})": lambda w: w.network().sensitivity({"A": None}),
    "sensitivity({'A': ['x']})": lambda w: w.network().sensitivity({"A": ["x"]}),
    "sensitivity({'A': [[]]})": lambda w: w.network().sensitivity({"A": [[]]}),
    "sensitivity({'A': {'x': 1}})": lambda w: w.network().sensitivity({"A": {"x": 1}}),
    "sensitivity, given the same": lambda w: w.network().sensitivity({"A": "x"}, {"A": "x"}),
    "sensitivity, given=3": lambda w: w.network().sensitivity({"A": "x"}, 3),
    "sensitivity, given={'B': [[]]}": lambda w: w.network().sensitivity({"A": "x"}, {"B": [[]]}),
    "Expert(None)": lambda w: sf.Expert(None),
    "Expert(3)": lambda w: sf.Expert(3),
    "Expert([])": lambda w: sf.Expert([]),
    "Expert({})": lambda w: sf.Expert({}),
    "Expert({'dag': 3})": lambda w: sf.Expert({"dag": 3}),
    "Expert('x.bif')": lambda w: sf.Expert("x.bif"),
    "Expert(fit)": lambda w: sf.Expert(w.fit()),
    "Expert, ess=None": lambda w: sf.Expert(w.network(), None),
    "Expert, ess='x'": lambda w: sf.Expert(w.network(), "x"),
    "Expert, ess=[1]": lambda w: sf.Expert(w.network(), [1]),
    "Expert, ess=-1": lambda w: sf.Expert(w.network(), -1),
    "Expert, ess=inf": lambda w: sf.Expert(w.network(), float("inf")),
    "Expert, ess=NaN": lambda w: sf.Expert(w.network(), float("nan")),
    "Expert, uniform=None": lambda w: sf.Expert(w.network(), 1, None),
    "Expert, uniform=[]": lambda w: sf.Expert(w.network(), 1, []),
    "Expert, uniform=-0.1": lambda w: sf.Expert(w.network(), 1, -0.1),
    "Expert, uniform=NaN": lambda w: sf.Expert(w.network(), 1, float("nan")),
    "Expert, unknown rows": lambda w: w.fit(prior=sf.Expert(w.hidden(), uniform=0.5)),
    "MarkovNetwork(None)": lambda w: sf.MarkovNetwork(None, schema=w.schema),
    "MarkovNetwork(3)": lambda w: sf.MarkovNetwork(3, schema=w.schema),
    "MarkovNetwork([3])": lambda w: sf.MarkovNetwork([3], schema=w.schema),
    "MarkovNetwork([None])": lambda w: sf.MarkovNetwork([None], schema=w.schema),
    "MarkovNetwork([[]])": lambda w: sf.MarkovNetwork([[]], schema=w.schema),
    "MarkovNetwork({})": lambda w: sf.MarkovNetwork({}, schema=w.schema),
    "MarkovNetwork, scope as text": lambda w: w.markov(("A", [1, 2])),
    "MarkovNetwork, scope of lists": lambda w: w.markov(([["A"]], [1, 2])),
    "MarkovNetwork, scope of numbers": lambda w: w.markov(((0,), [1, 2])),
    "MarkovNetwork, ragged": lambda w: w.markov((("A", "B"), [[1], [1, 2]])),
    "MarkovNetwork, None inside": lambda w: w.markov((("A",), None)),
    "MarkovNetwork, NaN": lambda w: w.markov((("A",), [1, np.nan])),
    "MarkovNetwork, infinite": lambda w: w.markov((("A",), [1, np.inf])),
    "MarkovNetwork, complex": lambda w: w.markov((("A",), [1, 1j])),
    "MarkovNetwork, transposed": lambda w: w.markov((("A", "B"), np.ones((2, 3)))),
    "MarkovNetwork, schema=3": lambda w: sf.MarkovNetwork([], schema=3),
    "MarkovNetwork, schema=[]": lambda w: sf.MarkovNetwork([], schema=[]),
    "MarkovNetwork, schema={'A': 3}": lambda w: w.markov(A=3),
    "MarkovNetwork, schema={'A': []}": lambda w: w.markov(A=[]),
    "MarkovNetwork, continuous": lambda w: w.markov(A=sf.continuous()),
    "MarkovNetwork, continuous schema": lambda w: sf.MarkovNetwork([], schema=sf.Schema((sf.Variable("A"),))),
    "markov.query([[]])": lambda w: w.markov().query([[]]),
    "markov.query, given=3": lambda w: w.markov().query("A", 3),
    "markov.map([])": lambda w: w.markov().map([]),
    "markov.sample, given={'A': [[]]}": lambda w: w.markov().sample(2, given={"A": [[]]}),
    "markov.log_prob(None)": lambda w: w.markov().log_prob(None),
    "fit.query(None)": lambda w: w.fit().query(None),
    "fit.query(None), interval": lambda w: w.fit(prior=sf.K2()).query(None, interval=0.9),
    "fit.query([[]]), interval": lambda w: w.fit(prior=sf.K2()).query([[]], interval=0.9),
    "fit.query, given=3, interval": lambda w: w.fit(prior=sf.K2()).query("A", 3, interval=0.9),
    "fit.query, interval='x'": lambda w: w.fit(prior=sf.K2()).query("A", interval="x"),
    "fit.query, interval=[]": lambda w: w.fit(prior=sf.K2()).query("A", interval=[]),
    "fit.query, interval=True": lambda w: w.fit(prior=sf.K2()).query("A", interval=True),
    "fit.query, interval=0": lambda w: w.fit(prior=sf.K2()).query("A", interval=0),
    "fit.query, interval=NaN": lambda w: w.fit(prior=sf.K2()).query("A", interval=float("nan")),
    "fit.query, method=3": lambda w: w.fit(prior=sf.K2()).query("A", interval=0.9, interval_method=3),
    "fit.query, method=[]": lambda w: w.fit(prior=sf.K2()).query("A", interval=0.9, interval_method=[]),
    "fit.query, draws=None": lambda w: w.fit(prior=sf.K2()).query("A", interval=0.9, draws=None),
    "fit.query, draws=2.5": lambda w: w.fit(prior=sf.K2()).query("A", interval=0.9, draws=2.5),
    "fit.query, seed='x'": lambda w: w.fit(prior=sf.K2()).query("A", interval=0.9, seed="x"),
    "fit.query, seed=-1": lambda w: w.fit(prior=sf.K2()).query("A", interval=0.9, seed=-1),
    "fit.query of hypotheses, interval": lambda w: w.hypothesis_fit(prior="uniform").query("n", interval=0.9),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_arguments_raise_only_errors_of_the_library(name: str, tmp_path: Path) -> None:
    with pytest.raises(sf.SufficeError):
        BAD_CALLS[name](World(tmp_path))
