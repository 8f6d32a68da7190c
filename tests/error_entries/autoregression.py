"""Errors of autoregressions."""

from __future__ import annotations

import numpy as np
from tests.error_catalogue import E_, A, D, M, S, entry

import suffice as sf

NOISE = np.random.default_rng(5).normal(size=(40, 2))
WALK = sf.AutoregressiveModel(["x"], [0.0], [[[1.0]]], [[1.0]])

# Structures ---------------------------------------------------------------------------------------------------

entry("intercept of no bool", A, lambda w: sf.Autoregression(1, intercept=1), "'intercept' argument", "True or False",
      "Got 1 instead")  # fmt: skip
entry("column of two roles", S, lambda w: sf.Autoregression(1, ["x", "y"], id="y"), "'y' is named twice",
      "variables, id and time", "name it once")  # fmt: skip
entry("first values of order zero", S, lambda w: sf.Autoregression(0, initial="normal"), "order=0",
      "Leave initial='normal' out")  # fmt: skip
entry("autoregression of no columns", A, lambda w: sf.Autoregression(1, []), "'variables' argument", "['x', 'y']",
      "Got [] instead")  # fmt: skip

entry("sequences of other variables", D, lambda w: sf.fit(sf.Autoregression(1, "x"), sf.Sequences([NOISE[:, 0]],
      variable="y")), "['x']", "['y']", "in one place")  # fmt: skip

# Fits ---------------------------------------------------------------------------------------------------------

entry("autoregression with given parameters", A, lambda w: sf.fit(sf.Autoregression(1), [NOISE], fixed={"x": 1}),
      "'fixed' argument must be left out", "{'x': 1}")  # fmt: skip
entry("autoregression read with a prior on tables", sf.ArgumentError, lambda w: _checked(sf.K2()),
      "'prior' argument", "sf.NormalInverseGamma(2, 1.0)", "Got K2() instead")  # fmt: skip
entry("autoregression with a prior on tables", E_, lambda w: sf.fit(sf.Autoregression(1), [NOISE], prior=sf.K2()),
      "the prior of an autoregression", "sf.NormalInverseGamma(2, 1.0)", "Got K2() instead")  # fmt: skip
entry("prior of several variables", E_, lambda w: sf.fit(sf.Autoregression(1), [NOISE],
      prior=sf.NormalInverseGamma(2, 1.0)), "one variable", "['x1', 'x2']", "Fit each by itself")  # fmt: skip
entry("constant sequence", E_, lambda w: sf.fit(sf.Autoregression(1), [[3.0] * 9]), "'x[-1]'", "constant",
      "Leave its variable out")  # fmt: skip
entry("collinear lags", E_, lambda w: sf.fit(sf.Autoregression(3), [np.sin(np.arange(40.0))]), "'x[-3]'",
      "['x[-1]', 'x[-2]']", "Lower the order")  # fmt: skip
entry("sequence without errors", E_, lambda w: sf.fit(sf.Autoregression(2), [np.sin(np.arange(40.0))]), "'x'",
      "exact function of the values before it", "lower the order")  # fmt: skip
entry("collinear errors", E_, lambda w: sf.fit(sf.Autoregression(1), [NOISE[:5]]), "error of 'x2'", "['x1']",
      "only 4 windows for 3 coefficients")  # fmt: skip
entry("windows too few for the divisor", E_, lambda w: sf.fit(sf.Autoregression(1, divisor="n-p"), [NOISE[:20, 0]],
      weights=[0.1]), "divisor='n-p'", "2 coefficients", "1.9 windows", "use divisor='n'")  # fmt: skip
entry("too few first values", E_, lambda w: sf.fit(sf.Autoregression(2, initial="normal"), [NOISE, NOISE]),
      "4 first values", "more than 4 sequences", "There are 2 sequences", "initial='given'")  # fmt: skip

# Models -------------------------------------------------------------------------------------------------------

entry("start of other variables", M, lambda w: sf.AutoregressiveModel(["x"], [0], [[[1]]], [[1]], start=3),
      "'start' argument", "['x[-1]']", "Got 3 instead")  # fmt: skip
entry("stationary distribution of a random walk", M, lambda w: WALK.stationary, "spectral radius is 1",
      "start=…")  # fmt: skip
entry("history of no numbers", A, lambda w: WALK.forecast([]), "'history' argument", "at least 1 row", "['x']",
      "Got [] instead")  # fmt: skip


def _checked(prior: object) -> None:
    from suffice.learn.autoregression import check

    check(sf.Autoregression(1), prior, {})
