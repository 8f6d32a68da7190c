"""Errors of conjugate priors on regressions, of several priors together, and of their posteriors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, F, M, World, entry

import suffice as sf

NUMBERS = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 3.5, 4.5, 7.0]}
MIXED = {"d": ["u", "v", "v", "u"], **NUMBERS}
NIG, BGE = sf.NormalInverseGamma, sf.BGe


def line(prior: Any, data: Any = None, graph: str = "x -> y", **options: Any) -> sf.Fit:
    return sf.fit(sf.DAG(graph), data or NUMBERS, prior=prior, **options)


def several_rows() -> Any:
    """Return the posterior of a regression for each state of a discrete parent."""
    return line([sf.K2(), NIG(2, 1.0)], MIXED, "d -> y").posterior["y"]


def damaged_posterior(world: World) -> Any:
    """Read a fit whose posterior has a negative scale."""
    sf.write(line(NIG(2, 1.0)), world.path("line.json"))
    document = json.loads(Path(world.path("line.json")).read_text(encoding="utf-8"))
    document["content"]["posterior"]["nodes"][0]["scale"] = [-1.0]
    return sf.read(world.file("damaged.json", json.dumps(document)))


# Normal inverse gamma -----------------------------------------------------------------------------------------

entry("shape of zero", A, lambda w: NIG(0, 1.0), "'shape' argument", "positive, finite number", "Got 0 instead")
entry("scale as text", A, lambda w: NIG(2, "x"), "'scale' argument", "Got 'x' instead")
entry("shape of a node", A, lambda w: NIG({"y": -1}, 1.0), "\"shape['y']\" argument", "Got -1 instead")
entry("mean as a list for all nodes", A, lambda w: NIG(2, 1.0, mean=[1, 2]), "'mean' argument", "finite number",
      "a mapping from nodes", "Got [1, 2] instead")  # fmt: skip
entry("mean of a node as text", A, lambda w: NIG(2, 1.0, mean={"y": "one"}), "mean['y']", "the intercept's first",
      "Got 'one' instead")  # fmt: skip
entry("infinite precision of a node", A, lambda w: NIG(2, 1.0, precision={"y": [1, np.inf]}), "precision['y']",
      "or a matrix of them", "inf")  # fmt: skip
entry("negative weight of an intercept", A, lambda w: NIG(2, 1.0, intercept_precision=-1), "'intercept_precision'",
      "zero or more", "Got -1 instead")  # fmt: skip
entry("regression prior without a node", A, lambda w: line(NIG({"y": 2}, 1.0)), "'shape' argument", "node 'x'", "['y']",
      "one number for all nodes")  # fmt: skip
entry("mean of another length", A, lambda w: line(NIG(2, 1.0, mean={"x": 0, "y": [1, 2, 3]})), "mean['y']",
      "shape (2,)", "['intercept', 'x']", "Got shape (3,) instead")  # fmt: skip
entry("precision twice", A, lambda w: line(NIG(2, 1.0, precision={"x": 1, "y": [1, 2]}, intercept_precision=1)),
      "'precision'", "'y'", "leave out 'intercept_precision'")  # fmt: skip
entry("a slope without precision", A, lambda w: line(NIG(2, 1.0, precision={"x": 1, "y": [1, 0]})), "precision['y']",
      "positive for every slope", "[1.0, 0.0]")  # fmt: skip
entry("indefinite precision", A, lambda w: line(NIG(2, 1.0, precision={"x": 1, "y": [[1, 2], [2, 1]]})),
      "precision['y']", "positive definite", "[[1.0, 2.0], [2.0, 1.0]]")  # fmt: skip
entry("prior on regressions for a table", E_, lambda w: w.fit(prior=NIG(2, 1.0)), "prior on regressions", "'A'",
      "'tabular'", "prior=[sf.BDeu(10), sf.NormalInverseGamma(2, 1.0)]")  # fmt: skip
entry("prior on tables for a regression", E_, lambda w: line(sf.BDeu(1)), "prior on tables", "'x'",
      "'linear_gaussian'", "prior=[sf.BDeu(10), sf.NormalInverseGamma(2, 1.0)]")  # fmt: skip
entry("variance without a mean", E_, lambda w: line(sf.Priors(sf.K2(), NIG(0.25, 1.0)), {"d": ["u"], "y": [1.0]},
                                                     "d -> y"),
      "'y'", "no posterior mean for d='u'", "0.75", "point='map'", "larger 'shape'")  # fmt: skip
entry("collinear parents under a weak prior", E_,
      lambda w: line(NIG(2, 1.0, precision=1e-30), {**NUMBERS, "z": NUMBERS["x"]}, "x -> y <- z"), "'y'",
      "combinations of each other", "larger 'precision'")  # fmt: skip
entry("posterior with a negative scale", F, damaged_posterior, "'x'", "positive scales", "[-1.0]")
entry("credible answer of a mixed network", M,
      lambda w: line(sf.Priors(sf.K2(), NIG(2, 1.0)), MIXED, "d -> y").query("d", interval=0.9), "networks of tables",
      "'y'", "'linear_gaussian'", "fit.posterior.intervals()", "fit.posterior.sample(n, seed=…)")  # fmt: skip

# Posteriors as priors -------------------------------------------------------------------------------------------

entry("mode of a decomposable field", E_,
      lambda w: sf.fit(sf.Cliques("d:e"), {"d": ["u", "v"], "e": ["u", "v"]}, prior=sf.BDeu(2)).posterior.mode(),
      "no mode of its own", "Use mean()")  # fmt: skip
entry("prior of a given node alone", E_,
      lambda w: line(line(NIG(2, 1.0), fixed={"y": {"intercept": 0, "coefficients": {"x": 2}, "sd": 1}})
                     .posterior.as_prior()), "'y' was given", "fixed={'y': …}")  # fmt: skip
entry("prior of a regression on other parents", A,
      lambda w: line([NIG(2, 1.0), {"y": line(NIG(2, 1.0)).posterior["y"].as_prior().learnt_from(None)}],
                     graph="x; y"), "['x']",
      "Got node 'y' with the parents []")  # fmt: skip
entry("one prior of several configurations", E_, lambda w: several_rows().as_prior().regression(several_rows().family),
      "'y'", "differs between the configurations", "sf.NormalInverseGamma(2, 1.0)")  # fmt: skip
entry("prior of another chain", A,
      lambda w: sf.fit(sf.MarkovChain(2), ["abab"],
                       prior=sf.fit(sf.MarkovChain(1), ["abab"], prior=sf.K2()).posterior.as_prior()),
      "Markov chain of order 1", "use it for the same chain")  # fmt: skip

# BGe ----------------------------------------------------------------------------------------------------------

entry("BGe without weight", A, lambda w: BGE(0), "'mean_weight' argument", "Got 0 instead")
entry("BGe with dof as text", A, lambda w: BGE(1, "many"), "'dof' argument", "Got 'many' instead")
entry("BGe with a list of means", A, lambda w: BGE(mean=[0, 1]), "'mean' argument", "a mapping from every node",
      "Got [0, 1] instead")  # fmt: skip
entry("BGe with a ragged scale", A, lambda w: BGE(scale=[[1], [1, 2]]), "'scale' argument", "or a matrix")
entry("BGe with too few degrees of freedom", E_, lambda w: line(BGE(1, 3)), "'dof' of BGe", "exceed 3",
      "unless 'scale' is given", "Got 3 instead")  # fmt: skip
entry("BGe with too few for any scale", E_, lambda w: line(BGE(1, 1, scale=1.0)), "exceed 1", "less one")
entry("BGe with a small matrix", A, lambda w: line(BGE(scale=[[1.0]])), "'scale'", "shape (2, 2)", "['x', 'y']",
      "Got shape (1, 1) instead")  # fmt: skip
entry("BGe with an indefinite matrix", A, lambda w: line(BGE(scale=[[1, 2], [2, 1]])), "'scale'", "positive definite")
entry("BGe with a mean for one", A, lambda w: line(BGE(mean={"x": 1.0})), "'mean'", "['x', 'y']", "no other",
      "Got ['x'] instead")  # fmt: skip
entry("BGe of a mixed network", E_, lambda w: line(BGE(), MIXED, "d -> y"), "all continuous", "'d' is discrete",
      "sf.NormalInverseGamma")  # fmt: skip
entry("BGe of a node alone", E_, lambda w: BGE().pseudo(line(BGE()).model.cpd("y").family, "mean"),
      "whole network", "'y'", "prior.bound(dag, statistics)")  # fmt: skip

# Several priors -----------------------------------------------------------------------------------------------

entry("no priors", A, lambda w: sf.Priors(), "at least one", "sf.BDeu(10)")
entry("a part that is no prior", A, lambda w: sf.Priors(sf.BDeu(1), 3), "must be a prior on nodes", "Got 3 instead")
entry("a part that is no prior on nodes", A, lambda w: sf.Priors(sf.Laplace(1.0)), "must be a prior on nodes",
      "Laplace")  # fmt: skip
entry("two priors on tables", A, lambda w: sf.Priors(sf.BDeu(1), sf.K2()), "BDeu(ess=1.0) and K2()", "'tabular'",
      "one for each kind")  # fmt: skip
entry("a node's prior twice", A, lambda w: sf.Priors({"A": sf.BDeu(1)}, {"A": sf.K2()}), "two entries", "node 'A'",
      "Leave one of them out")  # fmt: skip
entry("a node's prior under a number", A, lambda w: sf.Priors({1: sf.BDeu(1)}), "by its name", "{'A': sf.BDeu(10)}",
      "Got 1 instead")  # fmt: skip
entry("priors on none of the nodes", E_, lambda w: line([sf.Gaussian(10), None]), "none of the nodes",
      "['linear_gaussian']", "Leave it out for maximum likelihood")  # fmt: skip
entry("no prior on regressions", E_, lambda w: line(sf.Priors(sf.BDeu(1))), "'x'", "'linear_gaussian'", "['tabular']",
      "sf.NormalInverseGamma(2, 1.0)")  # fmt: skip


def half_coded() -> Any:
    """Ask with numbers that could be states of one column, and can only be codes of the other."""
    fit = sf.fit(sf.DAG("A -> B"), {"A": [1, 1, 2, 2], "B": ["u", "v", "u", "v"]}, prior=sf.BDeu(1))
    return fit.posterior["B"].log_predictive({"A": np.array([1, 1]), "B": np.array([0, 1])})


entry("states beside codes", A, lambda w: half_coded(), "['A']", "states or their codes", "log_predictive_of(columns)")
