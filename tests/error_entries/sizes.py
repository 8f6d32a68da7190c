"""Errors of sizes that are estimated first, and of files whose checksum is right and whose contents are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.error_catalogue import A, C, D, F, S, T, World, X, entry

import suffice as sf
from suffice.files import read_arrays, write_arrays
from suffice.io.structure_file import read_structure

TWO = {"A": ["x", "y", "x"], "B": ["u", "v", "v"]}
RING = {f"n{i}": [f"n{j}" for j in range(i + 1, 12) if j // 3 != i // 3] for i in range(11)}


def resumed(w: World, change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Any:
    """Go on from a checkpoint of EM whose contents were changed."""
    path = w.path("x.checkpoint")

    def call() -> sf.Fit:
        data = {**TWO, "A": ["x", None, "y"]}
        return sf.fit(w.dag, data, missing="em", checkpoint=path, unseen_parents="uniform")

    call()
    meta, arrays = read_arrays(path, "em checkpoint", 1)
    change(meta, arrays)
    write_arrays(path, "em checkpoint", 1, meta, arrays)
    return call()


def changed(w: World, arrays: dict[str, Any] | None = None, **meta: Any) -> Any:
    """Read statistics of which some parts were changed."""
    facts, own = w.stats().to_parts()
    write_arrays(w.path("x.stats"), "statistics", 1, facts | meta, own | (arrays or {}))
    return sf.read(w.path("x.stats"))


def few_cliques() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.graph.undirected.MOST_CLIQUES", 5)
        return sf.Cliques(RING)


def chain(w: World, **structure: Any) -> Any:
    """Read a Markov chain whose structure was edited."""
    sf.write(sf.fit(sf.MarkovChain(order=1), [list("abab")]).model, w.path("chain.json"))
    found = json.loads((w.folder / "chain.json").read_text(encoding="utf-8"))
    found["content"]["structure"].update(structure)
    return sf.read(w.file("edited.json", json.dumps(found)))


def unknown_lag(w: World) -> Any:
    """Estimate a chain from statistics with a state before that the symbols do not have."""
    structure = sf.MarkovChain(order=1)
    facts, own = sf.collect(structure, [list("abab")]).to_parts()
    facts["schema"][0]["states"][1] = "z"
    write_arrays(w.path("x.stats"), "statistics", 1, facts, own)
    return sf.estimate(structure, sf.read(w.path("x.stats")))


def sparse_counts(w: World) -> Any:
    """Read counts of configurations with an axis too many."""
    return changed(w, {"0.cells": np.zeros((2, 1), np.int64), "0.values": np.ones((2, 1))})


def disk(w: World) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.files.stat.S_ISBLK", lambda mode: True)
        return sf.write(w.fit(), w.file("x.json", "old"))


def too_far(columns: Any) -> Any:
    return np.array([10**400])


entry("latent states beyond memory", C, lambda w: sf.fit(sf.DAG("L -> A", latent={"L": 10**9}), TWO, missing="em"),
      "'L'", "1000000000 states", "1 TB", "4 GB", "sf.config(memory=")  # fmt: skip
entry("hidden states beyond memory", S, lambda w: sf.fit(sf.MarkovChain(latent={"s": 10**9}), [list("ab")]), "'s'",
      "transitions", "TB", "sf.config(memory=")  # fmt: skip
entry("rows beyond memory", T, lambda w: w.within(10**6, lambda: sf.fit(w.dag,
      {"A": list(range(1100)), "B": list(range(1100))}, schema={"A": sf.categorical(), "B": sf.categorical()})),
      "'B' given ['A']", "1,100 rows", "29 MB", "sf.config(memory=")  # fmt: skip
entry("draws beyond memory", A, lambda w: w.fit().model.sample(10**12), "'n' argument", "1000000000000 rows", "4 TB",
      "at most 1,000,000,000 at a time", "sf.config(memory=")  # fmt: skip
entry("columns of a normal beyond memory", S, lambda w: sf.MultivariateNormal([f"x{i}" for i in range(20_000)]),
      "20,000 columns", "50 GB", "sf.GaussianMarkov", "sf.config(memory=")  # fmt: skip
entry("order of a chain beyond memory", S, lambda w: sf.MarkovChain(order=10**8), "order 100000000", "TB",
      "Lower the order")  # fmt: skip
entry("order of an autoregression beyond memory", S, lambda w: sf.Autoregression(order=10**8), "order 100000000",
      "100000001 columns", "TB", "Lower the order")  # fmt: skip
entry("chain with too few tables", F, lambda w: chain(w, order=3), "edited.json", "order 3", "4 tables")
entry("cliques beyond number", S, lambda w: few_cliques(), "12 nodes", "maximal cliques", "take='pairwise'")
entry("keys of many parts", F, lambda w: read_structure(w.file("x.toml", "type='DAG'\n" + ".".join("a" * 60) + " = 1")),
      "x.toml", "more than 50 parts")  # fmt: skip
entry("climbs that are none", F, lambda w: resumed(w, lambda m, a: m.update(done=5)), "x.checkpoint", "list of climbs",
      "Remove it")  # fmt: skip
entry("climbs whose ends are none", F, lambda w: resumed(w, lambda m, a: m.update(stops=["LATER"])), "x.checkpoint",
      "list of stops", "Remove it")  # fmt: skip
entry("climb without statistics", F, lambda w: resumed(w, lambda m, a: a.pop("vector_0")), "x.checkpoint", "'vector_0'",
      "6 finite numbers")  # fmt: skip
entry("climb without a trace", F, lambda w: resumed(w, lambda m, a: a.update(trace_0=np.array([np.nan]))), "'trace_0'",
      "NaN")  # fmt: skip
entry("statistics with an infinite weight", F, lambda w: changed(w, weight="inf"), "x.stats", "'weight'", "Got inf")
entry("statistics that dropped more than they read", F, lambda w: changed(w, n_dropped=4), "x.stats", "4 rows", "of 3")
entry("statistics with numbers as remarks", F, lambda w: changed(w, remarks=[1]), "x.stats", "'remarks'", "Got [1]")
entry("statistics with numbers as traits", F, lambda w: changed(w, traits=[[1]]), "x.stats", "'traits'", "Got [[1]]")
entry("counts with an axis too many", F, sparse_counts, "x.stats", "one number each", "(2, 1)")
entry("state before that is none", T, unknown_lag, "'z'", "'x[-1]'", "Collect them again")
entry("name of a file that is none", X, lambda w: sf.fit(w.dag, ["a\0.csv", "b.csv"]), "a\\x00.csv", "NUL", "Check the")
entry("missing value that is no text", D, lambda w: sf.CSV("x.csv", na_values=["\ud800"]), "'na_values'", "Unicode")
entry("name of a column with a NUL", D, lambda w: sf.CSV("x.csv", names=["a\0"]), "'names'", "NUL", "rename")
entry("state that is not Unicode", D, lambda w: sf.fit(w.dag, {"A": ["\ud800"], "B": ["u"]}), "'A'", "not Unicode")
entry("frame of states that are not Unicode", A, lambda w: sf.fit(sf.DAG("A"), {"A": ["x"]},
      schema={"A": ["x", "\ud800"]}).model.sample(1), "\\ud800", "frame", "Rename it")  # fmt: skip
entry("query that is not Unicode", A, lambda w: sf.SQL("SELECT '\ud800'"), "'query'", "Unicode")
entry("query that writes", D, lambda w: sf.fit(w.dag, sf.SQL(f"COPY (SELECT 1 AS A) TO '{w.path('out.csv')}'")),
      "one SELECT", "['COPY']", "only reads")  # fmt: skip
entry("vectorised function that fails", S, lambda w: sf.fit(sf.Features([sf.feature(too_far, "x", vectorised=True)],
      support={"x": (0, 1)}), {"x": [0.1, 0.2]}), "declared vectorised", "OverflowError", "whole columns")  # fmt: skip
entry("output is a disk", X, disk, "x.json", "a disk", "Nothing was changed")
