"""Errors of log-linear models: features, designs, fits and models."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, C, D, M, S, U, World, entry

import suffice as sf
from suffice.data.schema import Schema
from suffice.models.feature_design import design_of
from suffice.structures.feature_files import spec_from_dict
from suffice.structures.feature_structures import features_from_dict

# Log-linear models ----------------------------------------------------------------------------------------------

VERY_MANY = {f"v{number}": ["x", "y"] for number in range(40)}
X_ROWS = {"x": [0.25, 0.5, 0.75], "y": ["a", "b", "b"]}
GIVEN_X = sf.Features([sf.indicator(y="b"), sf.product("x", sf.indicator(y="b"))], given=["x"])
ON_UNIT = sf.Features([sf.product("x")], support={"x": (0, 1)})
MANY_NUMBERS = {f"v{number}": [0, 1] for number in range(15)}
MANY_SPINS = {f"v{number}": [0, 1] for number in range(18)}
IN_ORDER = sf.Features([sf.indicator(A="x"), sf.indicator(A="x", B="u")])


def wide(w: World) -> sf.Fit:
    return w.within(400_000, lambda: sf.fit(sf.Boltzmann(list(MANY_SPINS)), MANY_SPINS, max_iter=2))


def featured(*specs: Any, rows: Any = None, structure: dict[str, Any] | None = None, **options: Any) -> sf.Fit:
    """Fit features, to the world's two columns unless there are others."""
    data = {"A": ["x", "x", "y"], "B": ["u", "v", "v"], "n": [0, 1, 2]} if rows is None else rows
    return sf.fit(sf.Features(list(specs), **(structure or {})), data, **options)


def logistic(**options: Any) -> sf.Fit:
    return sf.fit(GIVEN_X, X_ROWS, **options)


def cramped_features(memory: str, *specs: Any) -> Any:
    """Fit under little memory."""
    before = sf.config().memory
    sf.config(memory=memory)
    try:
        names = {name for spec in specs for name in spec.variables}
        return sf.fit(sf.Features(list(specs)), {name: [0, 1] for name in names})
    finally:
        sf.config(memory=before)


def cramped_design(*specs: Any) -> Any:
    """Tabulate features under little memory."""
    before = sf.config().memory
    sf.config(memory="1kB")
    try:
        structure = sf.Features(list(specs))
        return design_of(structure, Schema(tuple(sf.Variable(name, (0, 1)) for name in structure.variables)))
    finally:
        sf.config(memory=before)


def cramped_inputs() -> Any:
    before = sf.config().memory
    sf.config(memory="20kB")
    try:
        rows = {"x": np.arange(500.0), "y": np.arange(500) % 2}
        return sf.fit(sf.Features([sf.product("x", sf.indicator(y=1))], given="x"), rows)
    finally:
        sf.config(memory=before)


def log_linear(weights: Any = (0.5, 1.0)) -> sf.LogLinear:
    schema = Schema((sf.Variable("A", ("x", "y")), sf.Variable("B", ("u", "v"))))
    return sf.LogLinear(IN_ORDER, weights, schema=schema)


entry("no features", S, lambda w: sf.Features([]), "no features", "sf.Features([sf.indicator(A='yes', B='no')])")
entry("features of no list", S, lambda w: sf.Features(3), "Features are a list", "Got 3 instead")
entry("feature that is a name", S, lambda w: sf.Features(["A"]), "made by sf.indicator", "Got 'A' instead")
entry("input in no feature", U, lambda w: sf.Features([sf.indicator(A="x")], given=["B"]), "'B' is in no feature",
      "['A']", "Leave it out of given=")  # fmt: skip
entry("nothing but inputs", S, lambda w: sf.Features([sf.indicator(A="x")], given=["A"]), "inputs alone",
      "leave it out")  # fmt: skip
entry("input twice", S, lambda w: sf.Features([sf.indicator(A="x")], given=["A", "A"]), "'given'", "twice",
      "['A', 'A']")  # fmt: skip
entry("two features of one name", S, lambda w: featured(sf.indicator(A="x"), sf.indicators("A")),
      "Two features are called 'A=x'", "name=…")  # fmt: skip
entry("tie of no feature", U, lambda w: featured(sf.indicators("A"), structure={"tie": [["A=x", "A=z"]]}),
      "member 'A=z'", "['A=x', 'A=y']")  # fmt: skip
entry("tie of one feature", S, lambda w: sf.Features([sf.indicator(A="x")], tie=[["A=x"]]), "at least two",
      "Got ['A=x']")  # fmt: skip
entry("tie with a feature twice", S, lambda w: sf.Features([sf.indicator(A="x")], tie=[["A=x", "A=x"]]), "twice")
entry("support of no variable", U, lambda w: sf.Features([sf.product("x")], support={"z": (0, 1)}), "support for 'z'",
      "['x']")  # fmt: skip
entry("support of no interval", S, lambda w: sf.Features([sf.product("x")], support={"x": (1, 0)}), "support of 'x'",
      "(0, math.inf)", "Got (1, 0)")  # fmt: skip
entry("indicator as text", S, lambda w: sf.indicator("A"), "sf.indicator(A='yes')", "Got 'A'")
entry("indicator of nothing", S, lambda w: sf.indicator(), "at least one state", "sf.indicator(A='yes')")
entry("product of nothing", S, lambda w: sf.product(), "at least one variable", "sf.product('u', 'v')")
entry("product of words", S, lambda w: featured(sf.product("A")), "'A' has the states ['x', 'y']", "sf.indicator")
entry("scope of nothing", S, lambda w: sf.indicators(), "at least one variable", "sf.indicators('A', 'B')")
entry("scope with a name twice", S, lambda w: sf.indicators("A", "A"), "names a variable twice")
entry("variable of no text", S, lambda w: sf.indicators("A", 3), "named by text", "Got 3 instead")
entry("feature's name of no text", S, lambda w: sf.indicator(A="x", name=3), "must be text", "Got 3 instead")
entry("indicator of a number", S, lambda w: featured(sf.indicator(x=1), rows=X_ROWS,
                                                 structure={"support": {"x": (0, 1)}}),
      "'x' is continuous", "sf.feature", "sf.categorical()")  # fmt: skip
entry("configurations beyond count", S,
      lambda w: featured(sf.indicators(*VERY_MANY), rows=VERY_MANY), "weights, more than the 1,000,000",
      "List those that matter")  # fmt: skip
entry("feature of no function", S, lambda w: sf.feature(3, over="A"), "a function or a table", "Got 3 instead")
entry("feature's table of another scope", S, lambda w: featured(sf.feature({("x", "u"): 1.0}, over="A")),
      "('x', 'u')", "one state for each of ['A']")  # fmt: skip
entry("feature's function fails", S, lambda w: featured(sf.feature(lambda n: 1 / n, over="n", name="inverse")),
      "'inverse' raised ZeroDivisionError at n=0", "Let it return a number")  # fmt: skip
entry("feature that is not finite", S, lambda w: featured(sf.feature(lambda n: float("nan"), over="n", name="f")),
      "'f' must be a finite number", "nan at n=0", "0 where it says nothing")  # fmt: skip
entry("vectorised feature of another shape", S,
      lambda w: featured(sf.feature(lambda x: 1.0, over="x", name="one", vectorised=True), rows=X_ROWS,
                         structure={"support": {"x": (0, 1)}}),
      "'one' is declared vectorised", "one number a row")  # fmt: skip
entry("sliding over text", S, lambda w: sf.windows(["ab"], over="c1"), "a list of variables", "'c1'")
entry("windows without width", S, lambda w: sf.windows(over=["c1", "c2"]), "'width'", "from 1 to 2", "Got None")
entry("patterns as text", S, lambda w: sf.windows("ab", over=["c1", "c2"]), "['ing', 'ion']", "Got 'ab'")
entry("pattern that is too long", S, lambda w: sf.windows(["abc"], over=["c1", "c2"]), "'abc'", "1 to 2 states")
entry("no patterns", S, lambda w: sf.windows([], over=["c1", "c2"]), "at least one pattern")
entry("pattern that fits nowhere", U, lambda w: featured(sf.windows(["z"], over=["A", "B"])), "fits nowhere", "'z'",
      "['x', 'y']", "schema")  # fmt: skip
entry("windows over different states", S, lambda w: featured(sf.windows(over=["A", "B"], width=2)),
      "positions with the same states", "'B' has ['u', 'v']", "list the patterns")  # fmt: skip
entry("function of windows in a file", S, lambda w: sf.windows(max, over=["c1"], width=1).to_dict(), "'max'",
      "List the patterns")  # fmt: skip
entry("function in a file", S, lambda w: sf.feature(max, over="A").to_dict(), "Python function", "sf.feature({")
entry("feature of a file without kind", S, lambda w: spec_from_dict({"A": 1}), "one of the entries", "'indicator'")
entry("feature of a file with a strange entry", S, lambda w: spec_from_dict({"indicators": ["A"], "z": 1}), "'z'")
entry("feature of a file without list", S, lambda w: spec_from_dict({"indicators": {}}), "'indicators'", "a list")
entry("table of other numbers of states", S,
      lambda w: featured(spec_from_dict(
          {"tables": [{"scope": ["A"], "sizes": [3], "places": [0], "values": [1.0]}], "name": "f"})),
      "'f'", "shape (3,)", "Tabulate it anew")  # fmt: skip
entry("structure of features of no kind", S, lambda w: features_from_dict({"type": "Hopfield"}), "'Ising'",
      "'Hopfield'")  # fmt: skip
entry("spin of three states", S, lambda w: sf.fit(sf.Ising("n:A"), {"n": [0, 1, 2], "A": ["x", "x", "y"]}),
      "two states", "[0, 1, 2]", "sf.Potts")  # fmt: skip
entry("Potts with different states", S, lambda w: sf.fit(sf.Potts("A:B"), w.data), "share their states", "'B' has",
      "declare one list")  # fmt: skip
entry("nodes that are not those of the edges", S,
      lambda w: features_from_dict({"type": "Boltzmann", "nodes": ["a"], "edges": [["a", "b"]]}), "['a']",
      "['a', 'b']")  # fmt: skip
entry("units of one name", S, lambda w: sf.Boltzmann(["a", "a"]), "different names", "['a', 'a']")
entry("edge of three spins", S, lambda w: sf.Ising("a:b:c"), "pairs of names", "['a', 'b', 'c']")
entry("values that do not rise", S, lambda w: sf.Ising("a:b", values=(1, 1)), "two rising numbers", "Got (1, 1)")
entry("tie of no kind", A, lambda w: sf.Ising("a:b", tie="all"), "'tie'", "'couplings'", "'all'")
entry("feature over too many variables", S,
      lambda w: cramped_features("1kB", sf.indicator({f"v{i}": 1 for i in range(6)})), "over 6 variables", "64 cells",
      "sf.config(memory=")  # fmt: skip
entry("scopes beyond the memory", S,
      lambda w: cramped_design(*(sf.indicators(f"v{i}", f"v{i + 1}") for i in range(12))), "all 12 scopes",
      "sf.config(memory=")  # fmt: skip
entry("product of continuous variables beyond floats", S,
      lambda w: featured(sf.product(*["x"] * 20), rows={"x": [1.0, 2.0]},
          structure={"support": {"x": (0, float("inf"))}}),
      "'x'", "finite")  # fmt: skip
entry("product of inputs beyond floats", S,
      lambda w: featured(sf.product("x", "x", sf.indicator(y="b")), rows={"x": [1e200, 1.0], "y": ["a", "b"]},
                         structure={"given": ["x"]}),
      "x·x·(y=b)", "x=1e+200", "less than 1e100")  # fmt: skip
entry("inputs beyond the memory", S, lambda w: cramped_inputs(), "500 inputs with 2 outputs", "sf.config(memory=")
entry("continuous output", S,
      lambda w: sf.ConditionalLogLinear(GIVEN_X, [0, 0], schema=Schema((sf.Variable("y"), sf.Variable("x")))),
      "'y' is continuous", "sf.categorical()")  # fmt: skip
entry("too many outputs", S,
      lambda w: featured(*(sf.product("x", name) for name in MANY_NUMBERS), rows={**MANY_NUMBERS, "x": [0.5, 1.5]},
                         structure={"given": ["x"]}),
      "32,768 configurations", "Model fewer")  # fmt: skip
entry("weight of no feature", U, lambda w: log_linear().weights["A=z"], "no feature 'A=z'", "'A=x'")
entry("fields of other features", M, lambda w: log_linear().fields, "sf.Ising", "model.weights")
entry("weight for no feature", U, lambda w: log_linear({"A=x": 1, "A=x & B=u": 1, "C": 1}), "'C'", "'A=x'")
entry("feature without weight", M, lambda w: log_linear({"A=x": 1}), "'A=x & B=u'", "0 where it says nothing")
entry("wrong number of weights", M, lambda w: log_linear([1.0]), "2 features", "one number each")
entry("asked for no output", U, lambda w: logistic().model.query("z", given={"x": 0.5}), "'z'", "['y', 'x']")
entry("asked for an input", A, lambda w: logistic().model.query("x", given={"x": 0.5}), "'x' is given", "y")
entry("input that is not given", A, lambda w: logistic().model.query("y"), "'x' is not given", "given={'x': …}")
entry("input that is no number", A, lambda w: logistic().model.query("y", given={"x": "much"}), "'x'", "Got 'much'")
entry("rows asked for an input", U, lambda w: logistic().model.query_rows("x", {"x": [0.5]}), "'x'", "['y']")
entry("evidence that is impossible given inputs", M,
      lambda w: sf.ConditionalLogLinear(
          sf.Features([sf.indicator(u="b"), sf.product("x", sf.indicator(v="b"))], given=["x"]), [np.inf, 0],
          schema=Schema((sf.Variable("u", ("a", "b")), sf.Variable("v", ("a", "b")), sf.Variable("x"))),
      ).query("v", given={"x": 1.0, "u": "a"}),
      "impossible", "Correct it")  # fmt: skip
entry("density of no variable", U, lambda w: sf.fit(ON_UNIT, X_ROWS).model.expected(abs, over="z"), "'z'", "['x']")
entry("density given evidence", A, lambda w: sf.fit(ON_UNIT, X_ROWS).model.query("x", given={"x": 0.5}), "Evidence",
      "given=")  # fmt: skip
entry("table of a density", A, lambda w: sf.fit(ON_UNIT, X_ROWS).model.query("x"), "'x' is continuous",
      "model.log_prob")  # fmt: skip
entry("value outside its support", E_, lambda w: sf.fit(ON_UNIT, {"x": [0.5, 2.0]}), "'x' has the value 2",
      "from 0 to 1", "Widen")  # fmt: skip
entry("features too wide for exact fits", E_, wide, "too wide", "cells. Allow more: sf.config(",
      "Or pass method='pseudo_likelihood' or method='stochastic'")  # fmt: skip
entry("init of no kind", A, lambda w: featured(sf.product("n"), init="zeros"), "'random' or weights", "'zeros'")
entry("init of another length", A, lambda w: featured(sf.product("n"), init=[1.0, 2.0]), "1 finite number",
      "[1.0, 2.0]")  # fmt: skip
entry("init of no feature", A, lambda w: featured(sf.product("n"), init={"m": 1.0}), "'m'", "['n']")
entry("init of no number", A, lambda w: featured(sf.product("n"), init={"n": "one"}), "'n'", "Got 'one'")
entry("prior on tables for features", A, lambda w: featured(sf.product("n"), prior=sf.BDeu(1)), "sf.Gaussian(1.0)",
      "BDeu")  # fmt: skip
entry("fixed features", A, lambda w: featured(sf.product("n"), fixed={"n": [0.5, 0.5]}), "'fixed'", "sf.maxent")
entry("step of no size", A, lambda w: featured(sf.product("n"), method="gradient", options={"step": 0}), "'step'",
      "Got 0")  # fmt: skip
entry("ipf of products", E_, lambda w: featured(sf.product("n"), method="ipf"), "whole tables", "sf.indicators")
entry("scaling without bounds", E_,
      lambda w: sf.fit(sf.Features([sf.product("x")], support={"x": (0, float("inf"))}), X_ROWS, method="gis"),
      "bounded features", "method='lbfgs'")  # fmt: skip
entry("names of no list", S, lambda w: sf.Features([sf.indicator(A="x")], given=3), "'given' argument", "Got 3 instead")
entry("support of no mapping", S, lambda w: sf.Features([sf.product("x")], support=3), "{'x': (0, 1)}", "Got 3")
entry("tie of no lists", S, lambda w: sf.Features([sf.product("x")], tie=3), "'tie' argument", "Got 3 instead")
entry("tie of another's name", S, lambda w: featured(sf.indicators("n"), structure={"tie": {"n=2": ["n=0", "n=1"]}}),
      "'n=2'", "another name")  # fmt: skip
entry("scope of no list", S, lambda w: sf.feature(len, over=3), "a list of names", "Got 3")
entry("variable without support", C, lambda w: featured(sf.product("x"), rows=X_ROWS), "'x' is continuous",
      "support={'x': (0, 1)}", "given=['x']")  # fmt: skip
entry("too many quadrature nodes", S,
      lambda w: featured(*map(sf.product, "wxyz"), rows={name: [0.25, 0.5] for name in "wxyz"},
                         structure={"support": dict.fromkeys("wxyz", (0, 1))}),
      "quadrature nodes", "given=['w']")  # fmt: skip
entry("targets given inputs of no names", A, lambda w: logistic().model.query(None), "'targets' argument", "Got None")
entry("targets of a density", A, lambda w: sf.fit(ON_UNIT, X_ROWS).model.query(None), "'targets' argument", "Got None")
entry("density with infinite weights", M,
      lambda w: sf.LogLinearDensity(ON_UNIT, [float("inf")], schema=Schema((sf.Variable("x"),))).log_prob({"x": [0.5]}),
      "cannot be normalised", "['inf']")  # fmt: skip
entry("density with a base in a file", A,
      lambda w: sf.maxent(ON_UNIT, [0.3], base=lambda x: 1 + x).model.to_dict(), "base measure",
      "Keep the code")  # fmt: skip
entry("base below zero", A, lambda w: sf.maxent(ON_UNIT, [0.3], base=lambda x: -1.0), "base measure", "from -1 to -1")
entry("density that does not fall off", E_,
      lambda w: sf.maxent(sf.Features([sf.product("x")], support={"x": (-np.inf, np.inf)}), [0.3]),
      "cannot be normalised", "sf.product('x', 'x')")  # fmt: skip
entry("density's target out of reach", E_,
      lambda w: sf.maxent(sf.Features([sf.product("x")], support={"x": (0, np.inf)}), [-1.0]), "target -1",
      "out of reach")  # fmt: skip
entry("no variance left", E_,
      lambda w: sf.maxent(sf.Features([sf.product("x"), sf.product("x", "x")], support={"x": (-np.inf, np.inf)}),
          [2.0, 4.0]),
      "mean 2", "no variance")  # fmt: skip
entry("main effect that runs away", E_,
      lambda w: featured(sf.product("n"), rows={"n": [0, 0]}, schema={"n": [0, 1]},
          prior=sf.Gaussian(1.0, main=np.inf)),
      "'n' is at the end of its range", "main=10")  # fmt: skip
entry("target out of reach", E_, lambda w: sf.maxent(sf.Features([sf.product("n")]), [3.0], over={"n": [0, 1, 2]}),
      "target 3", "between 0 and 2")  # fmt: skip
entry("targets that contradict", E_,
      lambda w: sf.maxent(sf.Features([sf.product("n"), sf.product("n", "n")]), [1.0, 0.5], over={"n": [0, 1, 2]}),
      "No distribution has these expectations", "Change one of them")  # fmt: skip
entry("targets that contradict among many variables", E_,
      lambda w: sf.maxent(
          sf.Ising([("v0", "v2"), *itertools.pairwise(f"v{i}" for i in range(24))], fields=False),
          [-0.9, 0.9, 0.9, *[0.0] * 21], over={f"v{i}": [0, 1] for i in range(24)}),
      "No distribution has these expectations", "[v0:v2]")  # fmt: skip
entry("indicator of a list of states", S, lambda w: sf.indicator(A=["x", "y"]), "one state a variable",
      "Got ['x', 'y']")  # fmt: skip
entry("name of patterns", S, lambda w: sf.windows(["ab"], over=["c1", "c2"], name="n"), "name='n'", "Leave it out")
entry("base of a stranger to proportional fitting", E_,
      lambda w: sf.maxent(sf.Features([sf.indicators("A")], variables=["A", "B"]), {"A=x": 0.5, "A=y": 0.5},
                          over={"A": ["x", "y"], "B": ["u", "v"]}, base=[[1, 2], [2, 1]], method="ipf"),
      "base measure is over 'B'", "Use method='lbfgs'")  # fmt: skip
entry("density of no rows", E_, lambda w: sf.fit(ON_UNIT, {"x": np.array([])}, prior=sf.Gaussian(1.0)),
      "without rows", "at least one row")  # fmt: skip
entry("targets by hand for a method that looks at rows", A,
      lambda w: sf.maxent(sf.Features([sf.indicator(A="x")]), [0.5], over={"A": ["x", "y"]}, method="stochastic"),
      "'stochastic' looks at rows", "method='auto'")  # fmt: skip
entry("stochastic steps backwards", A, lambda w: sf.fit(sf.Boltzmann(["A", "B"]), w.data, method="stochastic",
      options={"step": -1}), "'step' option", "positive number", "Got -1 instead")  # fmt: skip
entry("chains that start nowhere", A, lambda w: sf.fit(sf.Boltzmann(["A", "B"]), w.data, method="stochastic",
      options={"start": "random"}), "'start' option", "'persistent' or 'data'", "Got 'random' instead")  # fmt: skip
entry("one chain", A, lambda w: sf.fit(sf.Boltzmann(["A", "B"]), w.data, method="stochastic", options={"chains": 1}),
      "'chains' option", "at least 2", "Got 1 instead")  # fmt: skip
entry("infinite weight without a support", M,
      lambda w: sf.LogLinear(sf.Features([sf.indicator(A="x")]), [math.inf], schema={"A": ["x", "y"]}),
      "'A=x' is infinite", "support=[…]")  # fmt: skip
entry("feature beyond what can be squared", S,
      lambda w: featured(sf.feature(lambda a: 1e200 * (a == "x"), over="A")), "reaches 1e+200", "Scale it")  # fmt: skip
entry("batch beyond all data", A, lambda w: sf.fit(sf.Boltzmann(["A", "B"]), w.data, method="stochastic",
      options={"batch": 10**9}), "'batch' option", "at most 1,000,000")  # fmt: skip

# Predictions given inputs ---------------------------------------------------------------------------------------

BY_LEVEL = sf.Features([sf.indicator(y="b"), sf.product("level", sf.indicator(y="b"))], given=["level"])


def by_level() -> Any:
    return sf.fit(BY_LEVEL, {"level": [0, 1, 2, 1], "y": list("abba")}, prior=sf.Gaussian(1.0)).model


entry("prediction of an input", A, lambda w: logistic().model.predict("x", {"y": ["a"]}), "predicts what it models",
      "['y']", "not ['x']")  # fmt: skip
entry("prediction without an input", D, lambda w: logistic().model.predict("y", {"y": ["a"]}), "'x', row 1",
      "the input is missing", "Fill it in")  # fmt: skip
entry("prediction at an unknown number", D, lambda w: by_level().predict("y", {"level": [7]}, unknown_states="missing"),
      "'level'", "none of the model's states", "is no indicator", "sf.categorical([…])")  # fmt: skip
entry("probability of an unknown output", D,
      lambda w: by_level().log_prob({"level": [1], "y": ["?"]}, unknown_states="missing"), "'y', row 1",
      "no state of the model", "['a', 'b']", "Leave such rows out")  # fmt: skip
