"""Errors of what is said of log-linear fits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, U, cells, entry, limited

import suffice as sf


def logs(*specs: Any, **options: Any) -> sf.Fit:
    table = sf.Contingency([[3, 4], [5, 6]], {"A": ["x", "y"], "B": ["u", "v"]})
    features = specs or (sf.indicator(A="y"), sf.indicator(B="v"))
    return sf.fit(sf.Features(list(features), variables=["A", "B"]), table, **options)


def given_x(**options: Any) -> sf.Fit:
    rows = {"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "a", "b"]}
    return sf.fit(sf.Features([sf.product("x", sf.indicator(y="b"))], given=["x"]), rows, **options)


def wide_logs() -> sf.Fit:
    rows = {f"v{n}": [0, 1, 1, 0, 1] for n in range(40)}
    fit = sf.fit(sf.Boltzmann(list(rows)), rows, method="pseudo_likelihood", prior=sf.Gaussian(1.0))
    return dataclasses.replace(fit, method="stochastic")


def density(high: float) -> sf.Fit:
    return sf.fit(sf.Features([sf.product("x")], support={"x": (0, high)}), {"x": [0.2, 0.4]})


def with_base() -> sf.Fit:
    fit = logs()
    held = sf.LabelledTable((fit.model.schema["A"],), np.array([1.0, 2.0]), "h")
    model = sf.LogLinear(fit.structure, np.zeros(2), schema=fit.model.schema, base=[held])
    return dataclasses.replace(fit, model=model)


entry("weights of a DAG", sf.AbsentError, lambda w: w.fit().weights(), "sf.Features", "sf.DAG")
entry("weights of cliques", sf.AbsentError, lambda w: cells().weights(), "sf.Cliques", "fit.u_terms()")
entry("weights, level=2", A, lambda w: logs().weights(2), "'level'", "Got 2 instead")
entry("weights under a kink", E_, lambda w: logs(prior=sf.Laplace(1.0)).weights(), "kink", "sf.Gaussian",
      "fit.model.weights")  # fmt: skip
entry("weights, too many", E_, lambda w: limited("weights.MAX_WEIGHTS", 1, lambda: logs().weights()), "2 weights",
      "up to 1", "fit.model.weights")  # fmt: skip
entry("weights without rows", E_, lambda w: dataclasses.replace(logs(), statistics=logs().statistics * 0).weights(),
      "singular", "sf.Gaussian(1.0)")  # fmt: skip
entry("weights of a wide graph", E_, lambda w: wide_logs().weights(), "out of reach", "method='pseudo_likelihood'",
      "fit.model.weights")  # fmt: skip
entry("weights, unknown", U, lambda w: logs().weights()["A=x"], "no feature 'A=x'", "'A=y'")
entry("geometry of a DAG", sf.AbsentError, lambda w: w.fit().geometry(), "sf.Cliques and sf.Features", "sf.DAG")
entry("geometry of a pseudo-likelihood", E_, lambda w: logs(method="pseudo_likelihood").geometry(),
      "'pseudo_likelihood' climbs the pseudo-likelihood", "'lbfgs'")  # fmt: skip
entry("geometry under a prior", E_, lambda w: logs(prior=sf.Gaussian(1.0)).geometry(), "prior", "Gaussian(",
      "without a prior")  # fmt: skip
entry("geometry of a closed form", E_, lambda w: cells().geometry(), "'closed_form' takes no steps", "method='ipf'")
entry("goodness given inputs", sf.AbsentError, lambda w: given_x().goodness, "sf.Features with inputs")
entry("expected of a density", A, lambda w: density(1).expected(), "sf.Features with continuous variables")
entry("expected, adjusted under pseudo-likelihood", A,
      lambda w: logs(method="pseudo_likelihood").expected("adjusted"), "is by 'pseudo_likelihood'",
      "'pearson' or 'deviance'")  # fmt: skip
entry("expected, too large a matrix of features", A,
      lambda w: limited("expected.MAX_DESIGN", 7, lambda: logs().expected("adjusted")), "4 cells by 2 features",
      "'pearson' or 'deviance'")  # fmt: skip
entry("likelihood_ratio of a pseudo-likelihood", E_,
      lambda w: sf.likelihood_ratio(logs(method="pseudo_likelihood"), logs()), "'small'", "no likelihood", "'lbfgs'",
      "fit.weights()")  # fmt: skip
entry("likelihood_ratio, undecided", A,
      lambda w: limited("feature_cells.uniform_covariance", lambda layout, matrix: None,
                        lambda: sf.likelihood_ratio(logs(sf.indicator(A="x")), logs())), "could not be decided",
      "written in the same way")  # fmt: skip
entry("likelihood_ratio, other base", A, lambda w: sf.likelihood_ratio(logs(), with_base()), "same base measure",
      "base=")  # fmt: skip
entry("likelihood_ratio, other support", A, lambda w: sf.likelihood_ratio(density(1), density(2)), "same support",
      "(0.0, 1.0)", "(0.0, 2.0)")  # fmt: skip
entry("likelihood_ratio of features over other variables", A,
      lambda w: sf.likelihood_ratio(sf.fit(sf.Features([sf.indicator(A="y")]), {"A": ["x", "y"]}), logs()),
      "same variables", "variables=[…]")  # fmt: skip
entry("posterior as a prior, other states", A,
      lambda w: sf.fit(sf.DAG("A"), {"A": ["c", "d"]},
                       prior=sf.fit(sf.DAG("A"), {"A": ["a", "c"]}, prior=sf.BDeu(1)).posterior.as_prior()),
      "'A' had the states ['a', 'c']", "schema={'A': ['a', 'c']}")  # fmt: skip
entry("posterior as a prior, other parents", A,
      lambda w: sf.fit(sf.DAG("B -> C; A -> C"), {"A": ["a"], "B": ["b"], "C": ["c"]},
                       prior=sf.fit(sf.DAG("A -> C; B -> C"), {"A": ["a"], "B": ["b"], "C": ["c"]},
                                    prior=sf.BDeu(1)).posterior.as_prior()),
      "'C' had the parents ['A', 'B']", "Use the structure")  # fmt: skip
entry("posterior as a prior, other columns", A,
      lambda w: sf.fit(sf.MultivariateNormal(["y", "x"]), {"x": [0.0, 1.0, 3.0], "y": [1.0, 0.0, 2.0]},
                       prior=sf.fit(sf.MultivariateNormal(["x", "y"]), {"x": [0.0, 1.0, 3.0], "y": [1.0, 0.0, 2.0]},
                                    prior=sf.NormalInverseWishart(mean=0, mean_weight=1, dof=5, scale=1))
                       .posterior.as_prior()),
      "['x', 'y'], in this order", "Use the structure")  # fmt: skip
