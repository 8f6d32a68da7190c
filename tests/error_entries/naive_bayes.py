"""Errors of naive Bayes, and of learning from what columns have."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, D, M, S, U, entry

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.naive import NaiveModel
from suffice.structures.naive import Naive

MIXED = {"c": ["u", "v", "v", "u"], "x": [1.0, 2.0, 4.0, 7.0], "n": [1, 0, 2, 3], "y": ["a", "a", "b", "b"]}


def _fit(naive: Naive, prior: Any = None, **changed: Any) -> sf.Fit:
    return sf.fit(naive, {**MIXED, **changed}, prior=prior, missing="available")


def _counts() -> Naive:
    return Naive("y", ["n"], kinds={"n": "multinomial"})


def _tied() -> Naive:
    return Naive("y", ["x"], kinds={"x": "tied_gaussian"})


def _cut(threshold: float) -> Naive:
    return Naive("y", ["c"], kinds={"c": "bernoulli"}, binarize=threshold)


def _model(class_prior: Any = (0.5, 0.5), of: str = "c") -> NaiveModel:
    y, c = Variable("y", ("a", "b")), Variable("c", ("u", "v"))
    cpd = TabularCPD(NodeFamily(Variable(of, ("u", "v")), (y,)), np.full((2, 2), 0.5))
    return NaiveModel(Naive("y", ["c"]), y, (c,), np.array(class_prior), (cpd,))


def _without_spread() -> NaiveModel:
    y, x = Variable("y", ("a", "b")), Variable("x")
    cpd = LinearGaussianCPD(NodeFamily(x, (y,)), np.zeros(2), np.zeros((2, 0)), np.array([1.0, 0.0]))
    return NaiveModel(Naive("y", ["x"]), y, (x,), np.array([0.5, 0.5]), (cpd,))


def _unseen_class() -> Any:
    fit = sf.fit(Naive("y", ["c"]), {"c": ["u"], "y": ["a"]}, schema={"y": ["a", "b"]})
    return fit.model.with_class_priors("uniform")


entry("naive Bayes of no class", S, lambda w: Naive("", ["x"]), "'target' argument", "Got '' instead")
entry("inputs as text", S, lambda w: Naive("y", "x"), "'inputs' argument", "['x', 'z']", "Got 'x' instead")
entry(
    "input of a classifier twice",
    S,
    lambda w: Naive("y", ["x", "x"]),
    "'inputs' argument",
    "each once",
    "Got ['x', 'x'] instead",
)
entry("class among the inputs", S, lambda w: Naive("y", ["x", "y"]), "'y' is the class", "Leave it out")
entry("kind of no input", U, lambda w: Naive("y", ["age"], kinds={"aeg": "gaussian"}), "'kinds' argument", "'aeg'",
      "['age']", "Did you mean 'age'?")  # fmt: skip
entry("unknown kind of an input", A, lambda w: Naive("y", ["x"], kinds={"x": "normal"}), "kinds['x']",
      "'tied_gaussian'", "Got 'normal' instead")  # fmt: skip
entry("row without a class", D, lambda w: _fit(Naive("y", ["c"]), y=["a", None, "b", "b"]), "Column 'y', row 2",
      "the class is missing", "Leave such rows out", "EM")  # fmt: skip
entry("negative count", D, lambda w: _fit(_counts(), n=[1, 0, -2, 3]), "Column 'n', row 3", "the count is -2",
      "Negative values in data", "kinds={'n': 'gaussian'}")  # fmt: skip
entry("missing count", D, lambda w: _fit(_counts(), n=[1, None, 2, 3]), "Column 'n', row 2", "is missing (NaN)",
      "Correct it")  # fmt: skip
entry("threshold that is no number", A, lambda w: Naive("y", ["x"], binarize="high"), "'binarize' argument",
      "a finite number", "Got 'high' instead")  # fmt: skip
entry("parts of other thresholds", sf.StatisticsError,
      lambda w: sf.collect(_cut(0), {**MIXED, "c": [1, 2, 0, 3]}) + sf.collect(_cut(1), {**MIXED, "c": [1, 2, 0, 3]}),
      "'c'", "the threshold 0.0", "with 1.0", "the same threshold")  # fmt: skip
entry("infinite number in a Bernoulli column", D,
      lambda w: _fit(Naive("y", ["c"], kinds={"c": "bernoulli"}), c=[0.0, 1.0, float("inf"), 0.0]), "Column 'c', row 3",
      "inf is not a finite number", "Correct it")  # fmt: skip
entry("negative count to classify", D, lambda w: _fit(_counts()).model.query("y", {"n": -1}), "Column 'n', row 1",
      "the count is -1", "Correct it")  # fmt: skip
entry("gaps in another structure", A, lambda w: sf.fit(sf.Cliques("A:B"), w.data, missing="available"),
      "missing='available'", "Cliques",
      "missing='drop'")  # fmt: skip
entry("Bernoulli column of three states", S,
      lambda w: _fit(Naive("y", ["c"], kinds={"c": "bernoulli"}), c=["u", "v", "w", "u"]), "'c' has ['u', 'v', 'w']",
      "Let it be 'categorical'", "schema=")  # fmt: skip
entry("Bernoulli column of one state", S,
      lambda w: _fit(Naive("y", ["c"], kinds={"c": "bernoulli"}), c=["u"] * 4), "'c' has ['u']",
      "declare them by schema=")  # fmt: skip
entry("input of another kind", E_, lambda w: sf.fit(_tied(), MIXED, schema={"x": sf.categorical()}), "'x'",
      "'tied_gaussian'", "its column is discrete", "schema={'x': sf.continuous()}")  # fmt: skip
entry("continuous class", E_, lambda w: sf.fit(Naive("x", ["c"]), MIXED, schema={"x": sf.continuous()}),
      "the class 'x' is continuous", "schema={'x': sf.categorical()}")  # fmt: skip
entry("column without values", E_, lambda w: _fit(Naive("y", ["c"]), c=[None] * 4), "Column 'c' has no values",
      "Leave it out")  # fmt: skip
entry("column of naive Bayes constant in a class", E_, lambda w: _fit(Naive("y", ["x"]), x=[1.0, 1.0, 2.0, 3.0]),
      "Column 'x' does not vary within the class 'a', of 2 rows", "kinds={'x': 'tied_gaussian'}",
      "prior=sf.NormalInverseGamma(2, 1.0)")  # fmt: skip
entry("column constant in all classes", E_, lambda w: _fit(_tied(), x=[1.0, 1.0, 2.0, 2.0]),
      "Column 'x' does not vary within any class",
      "Leave it out; or pass a prior: prior=sf.NormalInverseGamma(2, 1.0) and kinds={'x': 'gaussian'}")  # fmt: skip
entry("column without values in a class", E_, lambda w: _fit(Naive("y", ["x"]), x=[1, 2, None, None]),
      "Column 'x' has no values in the class 'b'", "Leave the column out", "prior=sf.Dirichlet(1.0)")  # fmt: skip
entry("class without rows that has a probability", E_,
      lambda w: sf.fit(Naive("y", ["c", "x"], class_prior=1.0), MIXED, schema={"y": ["a", "b", "z"]}),
      "class 'z' of 'y' has no rows", "class_prior='counted'",
      "prior=[sf.Dirichlet(1.0), sf.NormalInverseGamma(2, 1.0)]")  # fmt: skip
entry("shared variance with a prior", E_, lambda w: _fit(_tied(), sf.NormalInverseGamma(2, 1.0)), "'x'",
      "one variance for all classes", "Leave one of them out")  # fmt: skip
entry("unbiased variance with a prior", E_,
      lambda w: _fit(Naive("y", ["x"], divisor="n-1"), sf.NormalInverseGamma(2, 1.0)), "'x'", "unbiased variances",
      "Leave one of them out")  # fmt: skip
entry("prior of something else", A, lambda w: _fit(Naive("y", ["c"]), sf.Gaussian(1.0)), "'prior' argument",
      "sf.Dirichlet(1.0)", "sf.NormalInverseGamma(2, 1.0)", "Got Gaussian")  # fmt: skip
entry("prior of the class", U, lambda w: _fit(Naive("y", ["c"]), sf.Dirichlet({"y": 1.0}, rest=1.0)), "'y'", "['c']",
      "class_prior")  # fmt: skip
entry("prior of one count", U, lambda w: _fit(_counts(), sf.Dirichlet({"n": 1.0}, rest=1.0)), "'n'", "['column']")
entry("given parameters of naive Bayes", A, lambda w: sf.fit(Naive("y", ["c"]), MIXED, fixed={"c": [0.5, 0.5]}),
      "'fixed' argument must be left out", "Got ['c']", "class_prior")  # fmt: skip
entry("class probabilities of no sum", M, lambda w: _model((0.5, 0.6)), "'class_prior'", "['a', 'b']",
      "Got [0.5, 0.6] instead")  # fmt: skip
entry("distribution of another input", M, lambda w: _model(of="d"), "p(x | y) of every input", "('y', 'd')", "['c']")
entry("variance of zero in a class", M, lambda w: _without_spread(), "above zero", "Correct them")
entry("distribution of no input", U, lambda w: _model().cpd("d"), "no distribution of 'd'", "['y', 'c']")
entry("probability for a class that never occurred", M, lambda w: _unseen_class(), "'b' never occurred",
      "must be zero", "prior=sf.Dirichlet(1.0)")  # fmt: skip
entry("draws of counts", M, lambda w: _fit(_counts()).model.sample(3), "['n']", "how many draws", "cpd('column')")
entry("network of counts", M, lambda w: _fit(_counts()).model.network, "['n']", "no node", "query_rows")
