"""Errors of plots."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import A, D, T, U, entry

import suffice as sf
from suffice import report
from suffice.data.variable import Variable
from suffice.result.confusion import Confusion

TABLE = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
NUMBERS = {"x": [0.0, 1.0, 2.0, 4.0], "y": [1.0, 3.5, 4.5, 7.0]}


def _network(**settings: Any) -> Any:
    return sf.fit(sf.DAG("A -> B"), TABLE, **settings)


def _cliques() -> Any:
    return sf.fit(sf.Cliques("A + B"), TABLE)


def _regression(**settings: Any) -> Any:
    return sf.fit(sf.DAG("x -> y"), NUMBERS, **settings)


def _five() -> Any:
    states = {name: ["x", "y"] for name in "ABCDE"}
    return sf.fit(sf.Cliques("A + B + C + D + E"), sf.Contingency(np.ones((2,) * 5), states))


def _large() -> Any:
    states = {name: [f"s{i}" for i in range(80)] for name in "AB"}
    return sf.fit(sf.Cliques("A + B"), sf.Contingency(np.ones((80, 80)), states))


def _given() -> Any:
    """Return a fit of which one table was given."""
    return _network(prior=sf.K2(), fixed={"A": [0.5, 0.5]})


def _sparse() -> Any:
    """Return a fit of a table that is stored by the rows that occur."""
    names = [f"a{i}" for i in range(8)]
    data = {name: ["x", "y"] * 3 for name in names} | {"b": ["u", "v", "u"] * 2}
    schema = {name: sf.categorical([f"s{i}" for i in range(14)] + ["x", "y"]) for name in names}
    return sf.fit(sf.DAG({"b": names}), data, prior=sf.K2(), schema=schema)


def _certain() -> Any:
    return sf.fit(sf.DAG("A"), {"A": ["x"]}, prior=sf.K2())


def _scores(**scores: Any) -> Any:
    return report.learning_curves_plot([10, 100], scores)


entry("plot on no axes", A, lambda w: report.cpt_heatmap(_network(), "B", ax=3), "'ax' argument", "plt.subplots()",
      "Got 3 instead")  # fmt: skip
entry("graph of no graph", A, lambda w: report.graph_plot(3), "must have a graph", "sf.Cliques", "Got 3 instead")
entry("graph of very many nodes", A, lambda w: report.graph_plot(sf.DAG({f"n{i}": [] for i in range(201)})),
      "201 nodes", "room for 200", "fit.report(")  # fmt: skip
entry("heat map of no table", A, lambda w: report.cpt_heatmap(3, "B"), "model.cpd('A')", "Got 3 instead")
entry("heat map of a regression", A, lambda w: report.cpt_heatmap(_regression(), "y"), "'y'", "'linear_gaussian'",
      "posterior_plot")  # fmt: skip
entry("bars without a posterior", A, lambda w: report.cpt_bars(_network(), "B"), "conjugate prior",
      "prior=sf.BDeu(10)", "cpt_heatmap")  # fmt: skip
entry("bars of a regression", A,
      lambda w: report.cpt_bars(_regression(prior=sf.NormalInverseGamma(2, 1.0)), "y"), "'y' is no table",
      "posterior_plot")  # fmt: skip
entry("convergence without steps", A, lambda w: report.convergence_plot(_network()), "no steps", "fit.certificate")
entry("moments of no model", A, lambda w: report.moments_plot(sf.fit(sf.MarkovChain(order=1), ["ab"])),
      "sf.Cliques", "This one is of sf.MarkovChain")  # fmt: skip
entry("moments of no rows", T, lambda w: report.moments_plot(sf.fit(sf.Cliques("A"), {"A": []}, prior=sf.Gaussian(1.0),
      schema={"A": ["x", "y"]})), "no rows", "no averages")  # fmt: skip
entry("mosaic of no fit", A, lambda w: report.mosaic_plot(3), "sf.fit", "Got 3 instead")
entry("mosaic of many variables", A, lambda w: report.mosaic_plot(_five()), "1 to 4 variables", "has 5",
      "fit.expected()")  # fmt: skip
entry("mosaic of other variables", A, lambda w: report.mosaic_plot(_cliques(), ["A", "C"]), "'variables' argument",
      "['A', 'B']", "Got ['A', 'C'] instead")  # fmt: skip
entry("mosaic of very many cells", A, lambda w: report.mosaic_plot(_large()), "6,400 cells", "room for 4,000",
      "fit.expected()")  # fmt: skip
entry("posterior of none", A, lambda w: report.posterior_plot(_network(), "B"), "conjugate prior", "prior=sf.BDeu(10)")
entry("posterior of one state", A, lambda w: report.posterior_plot(_certain(), "A"), "'A' has one state only")
entry("posterior of what was given", A, lambda w: report.posterior_plot(_given(), "A"), "'A'", "given and not learnt")
entry("posterior given too little", A, lambda w: report.posterior_plot(_network(prior=sf.K2()), "B", given={}),
      "'given' argument", "parent of 'B'", "['A']", "Got []")  # fmt: skip
entry("posterior of a row that is not there", A,
      lambda w: report.posterior_plot(_sparse(), "b", given={f"a{i}": "s3" for i in range(8)}), "No row of 'b'",
      "no data", "another of 'given'")  # fmt: skip
entry("posterior of an unknown parameter", U,
      lambda w: report.posterior_plot(_regression(prior=sf.NormalInverseGamma(2, 1.0)), "y", parameter="slope of z"),
      "'slope of z'", "['intercept', 'slope of x', 'sd']", "Did you mean 'slope of x'?")  # fmt: skip
entry("too many weights in a plot", A, lambda w: report.weights_plot(_cliques(), n=61), "at most 60", "Got 61 instead")
entry("weights plot of no weights", A, lambda w: report.weights_plot(_cliques()), "sf.Features",
      "weights_plot(fit, 'node')")  # fmt: skip
entry("softmax weights against no class", U,
      lambda w: report.weights_plot(_softmax(), reference="maybe"), "'maybe'")  # fmt: skip
entry("learning curves of no sizes", A, lambda w: report.learning_curves_plot("ab", {"a": [1, 2]}), "'sizes' argument",
      "[10, 100]", "Got 'ab' instead")  # fmt: skip
entry("learning curves of negative sizes", A, lambda w: report.learning_curves_plot([-1, 2], {"a": [1, 2]}),
      "'sizes' argument", "Got [-1, 2] instead")  # fmt: skip
entry("learning curves without curves", A, lambda w: _scores(), "1 to 10 curves", "Got 0 instead")
entry("learning curves of other lengths", A, lambda w: _scores(naive=[0.5]), "'naive'", "the 2 sizes", "Got [0.5]")
entry("learning curves of text", A, lambda w: _scores(naive=["a", "b"]), "'naive'", "the 2 sizes", "Got ['a', 'b']")
entry("confusion twice", A, lambda w: report.confusion_plot(Confusion.empty(Variable("y", ("a", "b"))), ["a"]),
      "Leave 'predicted' out")  # fmt: skip
entry("confusion without predictions", A, lambda w: report.confusion_plot(["a", "b"]), "'predicted' argument",
      "Got ['a', 'b']")  # fmt: skip
entry("confusion of other lengths", D, lambda w: report.confusion_plot(["a", "b"], ["a"]), "one class a row",
      "Got 2 and 1 classes")  # fmt: skip


def _softmax() -> Any:
    from suffice.structures.softmax_regression import SoftmaxClasses

    rows = {"dose": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "ill": ["no", "no", "yes", "no", "yes", "yes"]}
    return sf.fit(SoftmaxClasses("ill", ["dose"]), rows)
