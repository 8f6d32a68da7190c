"""Errors of linear-Gaussian nodes, and of the settings of node kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, M, S, entry

import suffice as sf
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD

X, Y, G = sf.Variable("x"), sf.Variable("y"), sf.Variable("g", ("a", "b"))
ROWS = {"x": [0.0, 1.0, 2.0, 4.0], "y": [1.0, 0.5, 2.0, 2.5], "g": ["a", "a", "b", "b"]}


def given(entry: Any, *parents: sf.Variable) -> LinearGaussianCPD:
    return LinearGaussianCPD.from_given(NodeFamily(Y, parents), entry)


def fit(graph: str, rows: dict[str, Any] = ROWS, **options: Any) -> sf.Fit:
    settings = {key: options.pop(key) for key in ("kinds", "divisor", "tie") if key in options}
    return sf.fit(sf.DAG(graph, **settings), rows, **options)


entry("linear_gaussian, shapes", M,
      lambda w: LinearGaussianCPD(NodeFamily(Y, (X,)), np.zeros(1), np.zeros(2), np.ones(1)),
      "'y'", "coefficients must have the shape (1, 1)", "Got (2,)")  # fmt: skip
entry("linear_gaussian, negative variance", M, lambda w: LinearGaussianCPD(NodeFamily(Y), [0.0], [], [-1.0]), "'y'",
      "not negative")  # fmt: skip
entry("linear_gaussian, unknown parameter", A, lambda w: given({"intercept": 1, "slope": 2, "sd": 1}, X), "'y'",
      "'slope'", "'coefficients'")  # fmt: skip
entry("linear_gaussian, no spread", A, lambda w: given({"intercept": 1}), "'y'", "one of 'sd' and 'variance'")
entry("linear_gaussian, negative sd", A, lambda w: given({"intercept": 1, "sd": -2}), "'y'", "negative", "-2")
entry("linear_gaussian, no intercept", A, lambda w: given({"sd": 1}), "'y'", "'intercept'")
entry("linear_gaussian, an intercept too many", A, lambda w: given({"intercept": [1, 2], "sd": 1}), "'intercept'",
      "Got [1, 2]")  # fmt: skip
entry("linear_gaussian, a coefficient too few", A, lambda w: given({"intercept": 1, "coefficients": [], "sd": 1}, X),
      "'coefficients'", "'x'")  # fmt: skip
entry("linear_gaussian, other coefficients", A,
      lambda w: given({"intercept": 1, "coefficients": {"z": 1}, "sd": 1}, X), "'x'", "'z'")  # fmt: skip
entry("linear_gaussian, a configuration too few", A, lambda w: given({"a": {"intercept": 1, "sd": 1}}, G), "g='b'")
entry("linear_gaussian, key of no configuration", A,
      lambda w: given({("a", "b"): {"intercept": 1, "sd": 1}}, G), "('a', 'b')", "'g'")  # fmt: skip
entry("linear_gaussian, sample an unknown row", M,
      lambda w: fit("g -> y", schema={"g": sf.categorical(["a", "b", "c"])}, unseen_parents="nan").model.cpd("y")
      .sample({"g": np.array([2])}, np.array([0.5])), "'y'", "g='c'", "NaN")  # fmt: skip
entry("linear_gaussian, ridge=-1", S, lambda w: fit("x -> y", kinds={"y": {"ridge": -1}}), "'ridge'", "-1")
entry("linear_gaussian, divisor='n-1'", A, lambda w: fit("x -> y", kinds={"y": {"divisor": "n-1"}}), "'divisor'",
      "'n-p'", "'n-1'")  # fmt: skip
entry("linear_gaussian of a discrete child", S, lambda w: fit("x -> g", kinds={"g": "linear_gaussian"},
      schema={"g": sf.categorical()}), "'g'", "is discrete", "sf.continuous()")  # fmt: skip
entry("linear_gaussian, collinear", E_,
      lambda w: fit("x -> y; z -> y", {**ROWS, "z": [1.0, 3.0, 5.0, 9.0]}), "'z' is a combination of ['x']",
      "minimum_norm", "ridge")  # fmt: skip
entry("linear_gaussian, constant child", E_, lambda w: fit("y", {"y": [2.0, 2.0, 2.0]}), "'y'", "constant",
      "sf.NormalInverseGamma")  # fmt: skip
entry("linear_gaussian, few rows", E_, lambda w: fit("g -> y; x -> y"), "g='a'", "only 2 rows", "'tied': 'variance'")
entry("linear_gaussian, nothing to divide by", E_,
      lambda w: fit("x -> y", divisor="n-p", weights=[0.5, 0.5, 0.5, 0.4]), "'y'", "1.9 rows",
      "divisor='n'")  # fmt: skip
entry("linear_gaussian, unseen", E_, lambda w: fit("g -> y", schema={"g": sf.categorical(["a", "b", "c"])}), "g='c'",
      "unseen_parents='nan'")  # fmt: skip
entry("kinds, unknown setting", S, lambda w: fit("x -> y", kinds={"y": {"tie": "variance"}}), "'tie'", "'tied'")
entry("kinds, setting of a table", S, lambda w: sf.fit(sf.DAG("A", kinds={"A": {"tied": "x"}}), {"A": ["x"]}),
      "'A'", "'tied'", "It has none")  # fmt: skip
entry("tie, other parents", S, lambda w: sf.DAG("A -> B; C -> D", tie=[{"B": ["A"], "D": ["A"]}]), "'D'", "['C']")
entry("fit, a penalty on tables", E_, lambda w: w.fit(prior=sf.Gaussian(1.0)), "Gaussian(", "'A'", "'tabular'",
      "sf.BDeu")  # fmt: skip
entry("coefficients of a table", A, lambda w: w.fit().coefficients("A"), "'A'", "sf.DAG")
entry("coefficients under ridge", E_, lambda w: fit("x -> y", kinds={"y": {"ridge": 1.0}}).coefficients("y"), "'y'",
      "fit.posterior['y']")  # fmt: skip
entry("tie, different kinds", S,
      lambda w: fit("x -> y; x -> g", tie=[("y", "g")]), "'y' and 'g'", "different kinds")  # fmt: skip
entry("fit, a setting beside a prior", E_,
      lambda w: fit("x -> y", kinds={"y": {"ridge": 1.0}}, prior=sf.NormalInverseGamma(2, 1.0)), "'y'", "ridge=1.0",
      "Leave one of them out")  # fmt: skip
entry("tie, parents of different types", S,
      lambda w: fit("x -> y; g -> y; h -> z; x -> z", {**ROWS, "z": ROWS["x"], "h": ROWS["g"]}, tie=[("y", "z")]),
      "'x' of 'y' and 'h' of 'z'", "tie=[{'y'")  # fmt: skip
entry("tie, different settings", S,
      lambda w: fit("x -> y; x -> z", {**ROWS, "z": ROWS["y"]}, tie=[("y", "z")], kinds={"y": {"ridge": 1.0}}),
      "'y' and 'z'", "settings of the kind 'linear_gaussian'")  # fmt: skip
entry("fixed=None for a node", A, lambda w: w.fit(fixed={"B": None}), "fixed['B']", "leave it out")
entry("csv, a text among measurements", sf.SchemaError,
      lambda w: sf.fit(sf.DAG("x"), w.csv("x\n" + "\n".join(f"{n}.5" for n in range(30)) + "\nNA\n")), "'x'",
      "30 different numbers", "'NA'", "na_values", "sf.categorical()")  # fmt: skip
entry("point='mean' under a penalty", A,
      lambda w: sf.fit(sf.DAG("x -> c"), {"x": [0.5, 1.5, 2.5, 3.0], "c": list("abab")}, prior=sf.Gaussian(1.0),
                       point="mean"), "Gaussian(", "['map']", "'mean'")  # fmt: skip
entry("coefficients that were given", E_,
      lambda w: fit("x -> y", fixed={"y": {"intercept": 0, "coefficients": {"x": 1}, "sd": 1}}).coefficients("y"),
      "'y' were given", "'fixed'")  # fmt: skip
entry("kinds, a setting of no use", S, lambda w: sf.DAG("x -> y", kinds={"y": {"ridge": {}}}), "'ridge'", "'y'", "{}")
entry("kinds, a setting with lists in a list", S, lambda w: sf.DAG("A -> B", kinds={"B": {"order": [["a"]]}}),
      "'order'", "'B'", "text, a number, or a list of these", "[['a']]")  # fmt: skip
entry("linear_gaussian, sd out of range", A, lambda w: given({"intercept": 0, "sd": 1e200}), "'y'", "out of range")
entry("forecast of too many steps", M,
      lambda w: sf.fit(sf.Autoregression(1), [[0.5, 1.5, 1.0, 2.0, 0.7]]).model.forecast([1.0], 10_000_000),
      "10,000,000 steps", "sf.config")  # fmt: skip
entry("a regression in a file of tables", A, lambda w: sf.write(fit("x -> y").model, w.path("m.bif")), "'x'", ".json")
entry("intervals by sampling", A,
      lambda w: w.fit(prior=sf.K2()).query("A", interval=0.9, method="sampling"), "['method']", "exact")  # fmt: skip
entry("moments, squares underflow", sf.DataError, lambda w: sf.fit(sf.DAG("x"), {"x": [1e-200, 2e-200, 4e-200]}), "'x'",
      "underflow", "Multiply")  # fmt: skip
entry("markov chain, a text alone", sf.DataError, lambda w: sf.fit(sf.MarkovChain(1), "abab"), "['abab']", "words.txt")
