"""Errors of sequences and Markov chains."""

from __future__ import annotations

import datetime
import gzip
from typing import Any

import numpy as np
import pytest
from tests.error_catalogue import A, C, D, M, S, U, X, entry

import suffice as sf
from suffice.data.sequences import open_windows
from suffice.data.windows import START
from suffice.models import markov_long_run

LONG = {"site": [1, 1, 2], "day": [1, 2, 1], "rain": ["no", "yes", "no"]}
BY_SITE = sf.MarkovChain(1, variable="rain", id="site", time="day")


def chain(data: Any = ("abab", "ba"), order: int = 1, **options: Any) -> sf.Fit:
    """Fit a chain, of the order 1 unless said otherwise."""
    return sf.fit(sf.MarkovChain(order), list(data), **options)


def spoilt(**columns: Any) -> sf.Fit:
    return sf.fit(BY_SITE, {**LONG, **columns})


def text(world: Any, content: str | bytes, name: str = "text.txt", **options: Any) -> sf.Fit:
    return sf.fit(sf.MarkovChain(1), sf.Sequences(text=world.file(name, content)), **options)


def few_blocks() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markov_long_run, "MOST_BLOCKS", 1)
        return chain().model.stationary


def cramped_beginning() -> Any:
    before = sf.config().memory
    model = chain().model
    sf.config(memory=1)
    try:
        return model.initial
    finally:
        sf.config(memory=before)


def deep_walk() -> Any:
    words = [[f"w{number}" for number in range(40)] * 2]
    return chain(words, order=12, prior=sf.Dirichlet(1.0)).model.sample(1, length=20, seed=0)


# Sequences ------------------------------------------------------------------------------------------------------

entry("sequences of nothing", A, lambda w: sf.Sequences(), "one of 'data'", "'text'")
entry("sequences of two things", A, lambda w: sf.Sequences(["ab"], text="x.txt"), "one of 'data'")
entry(
    "sequences, unknown level", A, lambda w: sf.Sequences(text="x.txt", level="pages"), "'level'", "'lines'", "'pages'"
)
entry("sequences, level of lists", A, lambda w: sf.Sequences(["ab"], level="lines"), "for text files", "Leave them out")
entry("sequences, id of lists", A, lambda w: sf.Sequences(["ab"], id="site"), "'id'", "columns of a table")
entry("sequences, id of no text", A, lambda w: sf.Sequences(LONG, id=3), "'id'", "name of a column", "Got 3")
entry("sequences, no variable", A, lambda w: sf.Sequences(LONG, variable=[]), "'variable'", "Got [] instead")
entry("sequences, text file as data", A, lambda w: sf.Sequences("book.txt"), "text='book.txt'")
entry("sequences, missing='drop'", A, lambda w: chain(missing="drop"), "missing='drop'", "neighbours")
entry("sequences, a value alone", D, lambda w: chain([1, 2, 1]), "Got 1 at place 1", "[[…]]")
entry("sequences of two kinds", D, lambda w: chain(["ab", b"ab"]), "one kind", "bytes and text")
entry("sequences of an odd array", D, lambda w: sf.fit(sf.MarkovChain(), np.zeros((2, 2, 2))), "shape (2, 2, 2)",
      "[array]")  # fmt: skip
entry("sequences of one variable", D, lambda w: open_windows(["ab"], ["x", "y"], 1, pad=True), "2 variables were asked")
entry("sequences of bytes beyond ASCII", D, lambda w: chain([b"\xff"]), "ASCII", "Decode them")
entry("vectors of two widths", D,
      lambda w: open_windows([np.ones((3, 2)), np.ones((3, 1))], None, 1, pad=False, continuous=True),
      "same number of columns", "[1, 2]")  # fmt: skip
entry("vectors with too few names", D,
      lambda w: open_windows([np.ones((3, 2))], ["x"], 1, pad=False, continuous=True), "2 columns",
      "['x']")  # fmt: skip
entry("sequences, gap", D, lambda w: chain([["a", "b"], ["a", None]]), "sequence 2, position 2", "missing", "cut")
entry("sequences, infinite", D, lambda w: open_windows([[1.0, np.inf]], ["x"], 1, pad=False, continuous=True),
      "sequence 1, position 2", "inf")  # fmt: skip
entry("sequences, unknown state", D, lambda w: chain(["ab", "axb"], schema={"x": ["a", "b"]}),
      "sequence 2, position 2", "'x' is not one of ['a', 'b']")  # fmt: skip
entry("sequences, schema of others", C, lambda w: chain(schema={"y": ["a", "b"]}), "declares 'y'", "['x']")
entry("sequences, state like the start", D, lambda w: chain([[START, "a"]]), START, "Rename it")
entry("sequences, weights by column", D, lambda w: chain(weights="w"), "one number for each of the 2 sequences", "'w'")
entry("sequences, too few weights", D, lambda w: chain(weights=[1.0]), "shape (2,)", "Got [1.0]")
entry("sequences, ragged weights", D, lambda w: chain(weights=[[1.0], [1.0, 2.0]]), "shape (2,)")

# Long tables ----------------------------------------------------------------------------------------------------

entry("long table without a column", D, lambda w: sf.fit(sf.MarkovChain(1, variable="rian"), LONG), "no column 'rian'",
      "Did you mean 'rain'?")  # fmt: skip
entry("long table, which variable", D, lambda w: sf.fit(sf.MarkovChain(1, id="site"), LONG), "['day', 'rain']",
      "variable='…'")  # fmt: skip
entry("long table, contingency", D, lambda w: sf.fit(sf.MarkovChain(1, variable="A"),
      sf.Contingency([1, 2], {"A": ["x", "y"]})), "no order of rows")  # fmt: skip
entry("long table, no id", D, lambda w: spoilt(site=["p", None, "q"]), "Column 'site', row 2", "no sequence")
entry(
    "long table, time twice", D, lambda w: spoilt(day=[1, 1, 1]), "'day'", "the time 1 of sequence 1", "more than once"
)
entry("long table, no time", D, lambda w: spoilt(day=[1, None, 1]), "Column 'day', row 2", "time is missing")
entry("long table, no date", D, lambda w: spoilt(day=[datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 2)]),
      "Column 'day', row 2", "time is missing")  # fmt: skip

# Text files -----------------------------------------------------------------------------------------------------

entry("text that is continuous", C, lambda w: text(w, "abab", schema={"x": sf.continuous()}), "cannot be continuous")
entry("text, numbers wanted", D,
      lambda w: open_windows(sf.Sequences(text=w.file("t.txt", "ab")), None, 1, pad=False, continuous=True),
      "holds symbols, where numbers")  # fmt: skip
entry("text with weights", D, lambda w: text(w, "abab", weights=[1]), "streamed", "Leave them out")
entry("text that is not UTF-8", D, lambda w: text(w, b"ab\xff\xfe"), "not UTF-8", "byte 2")
entry("text that is cut off", D, lambda w: text(w, gzip.compress(b"abab" * 100)[:-10], "text.txt.gz"), "cut off")
entry("text that is not there", X, lambda w: sf.fit(sf.MarkovChain(1), w.path("none.txt")), "Cannot read", "Check")
entry("text with an unknown symbol", D, lambda w: text(w, "abcab", schema={"x": ["a", "b"]}), "symbol 3", "'c'")

# Markov chains --------------------------------------------------------------------------------------------------

entry("chain of a negative order", S, lambda w: sf.MarkovChain(-1), "at least 0", "Got -1")
entry("chain, letters='yes'", S, lambda w: sf.MarkovChain(letters="yes"), "true or false", "'yes'")
entry(
    "chain of a table and a text", S, lambda w: sf.MarkovChain(level="lines", id="site"), "'level'", "'id'", "Leave one"
)
entry("chain of other sequences", D, lambda w: sf.fit(sf.MarkovChain(variable="y"), sf.Sequences(["ab"], variable="x")),
      "The chain is of 'y'", "['x']")  # fmt: skip
entry("chain, prior by node", A, lambda w: chain(prior=sf.Dirichlet({"x": 1.0})), "same for all rows", "sf.K2()")
entry("chain, fixed", A, lambda w: chain(fixed={"x": [0.5, 0.5]}), "'fixed'", "['x']")
entry("chain with wrong tables", M, lambda w: sf.MarkovChainModel(sf.MarkovChain(2), chain().model.variable,
      chain().model.tables), "needs 3 tables")  # fmt: skip
entry("chain, beginnings too many", M, lambda w: cramped_beginning(), "first 1 symbols", "factors")
entry("chain, query of others", A, lambda w: chain().model.query("y"), "next symbol, 'x'", "Got 'y'")
entry("chain, query given others", U, lambda w: chain().model.query("x", {"y": "a"}), "['x[-1]']", "not on 'y'")
entry("chain, query given too little", A, lambda w: chain().model.query("x"), "'x[-1]' is not given")
entry("chain, transition of a number", A, lambda w: chain().model.transition(3), "'previous'", "Got 3")
entry("chain, perplexity of nothing", A, lambda w: chain().model.perplexity([]), "no symbols")
entry("chain of order 0, classes", M, lambda w: chain(order=0).model.classes, "order 0")
entry("chain with several classes, period", M, lambda w: chain(["aaa", "bbb"]).model.period, "not irreducible")
entry("chain with several classes, stationary", M, lambda w: chain(["aaa", "bbb"]).model.stationary,
      "2 closed classes", "['a']", "['b']")  # fmt: skip
entry("chain that ends, stationary", M, lambda w: chain(["ab"]).model.stationary, "What follows ['b'] is unknown",
      "unseen_parents='uniform'")  # fmt: skip
entry("chain that ends, sample", M, lambda w: chain(["ab"]).model.sample(1, length=4, seed=0), "Cannot go on",
      "x[-1]='b'", "unseen_parents='uniform'")  # fmt: skip
entry("chain of too many blocks", M, lambda w: few_blocks(), "more than the 1", "lower order")
entry("chain too deep to draw", M, lambda w: deep_walk(), "too many contexts", "lower order")
entry("orders of nothing", A, lambda w: sf.chain_orders([]), "no symbols")


# Lists of tables, and arrays that are divided -----------------------------------------------------------------

RAIN = sf.MarkovChain(1, variable="rain")
entry("table without the column", D, lambda w: sf.fit(RAIN, [{"rain": ["no"]}, {"snow": ["no"]}]), "Sequence 2 of 2",
      "'rain'", "['snow']")  # fmt: skip
entry("tables of other columns", D, lambda w: sf.fit(sf.MarkovChain(1), [{"rain": ["no"]}, {"snow": ["no"]}]),
      "Sequence 2 of 2", "['snow']", "['rain']", "variable='…'")  # fmt: skip
entry("tables of other types", D, lambda w: sf.fit(RAIN, [{"rain": ["no"]}, {"rain": [1]}]), "'rain'",
      "different types", "Convert it")  # fmt: skip
entry("tables with a column of sequences", A, lambda w: sf.fit(BY_SITE, [LONG, LONG]), "'id'", "one sequence",
      "left out")  # fmt: skip
entry("lengths of a list", A, lambda w: sf.Sequences(["ab"], lengths=[2]), "'lengths'", "one row per position",
      "Got list", "leave it out")  # fmt: skip
entry("lengths that are none", A, lambda w: sf.Sequences(np.arange(3), lengths=[4, -1]), "'lengths'", "[4, -1]",
      "such as [3, 5]")  # fmt: skip
entry("lengths of another array", A, lambda w: sf.Sequences(np.arange(3), lengths=[1, 1]), "'lengths'",
      "3 positions", "sum of 2")  # fmt: skip
