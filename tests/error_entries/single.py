"""Errors of single variables, multivariate normals and their conjugate prior."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, M, S, U, entry

import suffice as sf
from suffice.models.multivariate_t import MultivariateT

PAIR = sf.MultivariateNormal(["x", "y"])
NUMBERS = {"x": [1.0, 2.0, 4.0], "y": [3.0, 1.0, 2.0]}
ONE = sf.JointNormal(["x"], [0.0], covariance=[[1.0]])


def pair(*arguments: Any, **options: Any) -> sf.Fit:
    prior = sf.NormalInverseWishart(*(arguments or (0.0, 1.0, 3.0, 1.0)))
    return sf.fit(options.pop("structure", PAIR), options.pop("data", NUMBERS), prior=prior, **options)


entry("variable of no name", S, lambda w: sf.Normal(["x"]), "'variable' argument", "one column", "Got ['x']")
entry("variables of no names", S, lambda w: sf.MultivariateNormal("xy"), "'variables' argument", "['x', 'y']", "'xy'")
entry("unknown divisor", A, lambda w: sf.Normal("x", divisor="n-p"), "'divisor'", "['n', 'n-1']", "Got 'n-p'")
entry("Bernoulli of three states", S, lambda w: sf.Bernoulli("x", [0, 1, 2]), "two states", "[0, 1, 2]",
      "sf.Categorical('x', …)")  # fmt: skip
entry("Bernoulli of other data", S, lambda w: sf.fit(sf.Bernoulli("x"), {"x": [1, 2, 3]}), "'x' has [1, 2, 3]",
      "sf.Bernoulli('x', [failure, success])", "sf.Categorical('x')")  # fmt: skip
entry("Bernoulli of one state", S, lambda w: sf.fit(sf.Bernoulli("x"), {"x": ["a"]}), "'x' has ['a']",
      "sf.Bernoulli('x', [failure, success])")  # fmt: skip
entry("infinite state", S, lambda w: sf.Categorical("x", [1.0, np.inf]), "state inf of 'x'", "as text")
entry("unbiased variance of one row", E_, lambda w: sf.fit(sf.Normal("x", divisor="n-1"), {"x": [1.0]}),
      "more than one row", "there is 1 row", "Collect more")  # fmt: skip
entry("distribution function of two variables", A, lambda w: sf.fit(PAIR, NUMBERS).model.cdf(0.0), "['x', 'y']",
      "model.marginal('x')")  # fmt: skip
entry("quantile beyond one", A, lambda w: ONE.quantile(1.5), "'p' argument", "from 0 to 1", "Got 1.5")
entry("distribution function at text", A, lambda w: ONE.cdf("x"), "'values' argument", "a number", "Got 'x'")
entry("Wishart of a flat mean", A, lambda w: sf.NormalInverseWishart(None, 1, 3, 1.0), "'mean' argument", "Got None",
      "sf.HyperInverseWishart(dof, scale)")  # fmt: skip
entry("Wishart of a graph with zeros", A, lambda w: pair(structure=sf.GaussianMarkov("x + y")), "'x' and 'y'",
      "no edge", "sf.HyperInverseWishart", "sf.MultivariateNormal")  # fmt: skip
entry("Wishart of too few degrees of freedom", A, lambda w: pair(0.0, 1.0, 1.0, 1.0), "'dof' argument", "exceed 1",
      "Got 1.0")  # fmt: skip
entry("normal with another prior", A, lambda w: sf.fit(PAIR, NUMBERS, prior=sf.K2()), "sf.NormalInverseWishart",
      "Got K2()")  # fmt: skip
entry("no mean of a covariance matrix", E_, lambda w: pair(0.0, 1.0, 1.5, 1.0, data={"x": [1.0], "y": [1.0]}),
      "freedom are 2.5", "exceed 3", "point='map'")  # fmt: skip
entry("unknown parameter", U, lambda w: pair().posterior.intervals()["mean of z"], "'mean of z'",
      "Did you mean 'mean of")  # fmt: skip
entry("t without degrees of freedom", A, lambda w: MultivariateT(["x"], [0.0], [[1.0]], -1), "'dof' argument",
      "Got -1")  # fmt: skip
entry("t without a covariance matrix", M, lambda w: MultivariateT(["x"], [0.0], [[1.0]], 2).covariance, "more than 2",
      "This one has 2", "intervals")  # fmt: skip
