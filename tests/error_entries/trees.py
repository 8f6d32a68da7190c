"""Errors of trees that are looked for in data."""

from __future__ import annotations

import pytest
from tests.error_catalogue import A, D, S, U, entry

import suffice as sf
from suffice.structures import chow_liu

NUMBERS = {"x": [0.5, 1.5, 2.0], "y": [1.0, 0.5, 2.5]}


def _with_few_pairs(data: dict[str, list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chow_liu, "MOST_PAIRS", 2)
        sf.chow_liu(data)


entry("tree of text", A, lambda w: sf.chow_liu(w.data, "AB"), "'variables' argument", "['A', 'B']",
      "Got 'AB' instead")  # fmt: skip
entry("tree of a repeated column", A, lambda w: sf.chow_liu(w.data, ["A", "A"]), "'variables' argument", "each once",
      "Got ['A', 'A'] instead")  # fmt: skip
entry("tree of too many pairs", S, lambda w: _with_few_pairs({**w.data, "C": ["s", "t", "t"]}), "3 variables",
      "3 pairs", "more than the 2", "variables=[…]")  # fmt: skip
entry("tree with a negative alpha", A, lambda w: sf.chow_liu(w.data, alpha=-1), "'alpha' argument", "at least zero",
      "Got -1 instead")  # fmt: skip
entry("tree with another root", U, lambda w: sf.chow_liu(w.data, root="AA"), "'root' argument", "['A', 'B']",
      "Got 'AA' instead", "Did you mean 'A'?")  # fmt: skip
entry("tree of both kinds", D, lambda w: sf.chow_liu({**w.data, **NUMBERS}), "['A', 'B'] and ['x', 'y']",
      "variables=[…]", "sf.categorical()")  # fmt: skip
entry("tree of numbers with alpha", A, lambda w: sf.chow_liu(NUMBERS, alpha=1), "'alpha' argument must be left out",
      "Got 1")  # fmt: skip
entry("tree of no rows", D, lambda w: sf.chow_liu(w.data, weights=[0, 0, 0]), "3 rows", "at least one row")  # fmt: skip
entry("tree of too little information", S, lambda w: sf.DependenceTree({"A": None, "B": "A"}, [], [2, 2]),
      "2 variables and 1 edges", "Got [] and [2, 2] instead")  # fmt: skip
entry("pseudo-counts of zero", A, lambda w: sf.chow_liu(w.data).pseudo_counts(0), "'alpha' argument", "above zero",
      "Got 0 instead", "leave the prior out")  # fmt: skip
entry("pseudo-counts of numbers", S, lambda w: sf.chow_liu(NUMBERS).pseudo_counts(1), "continuous",
      "sf.NormalInverseGamma(2, 1.0)")  # fmt: skip
