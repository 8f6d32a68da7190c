"""Errors of normal classes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, D, M, S, entry

import suffice as sf
from suffice.structures.class_gaussian import ClassGaussian

XY = ["x", "y"]
ROWS: dict[str, Any] = {
    "x": [1.0, 2.0, 4.0, 3.0, 5.0, 9.0, 8.0, 7.0],
    "y": [0.0, 1.0, 1.5, 7.0, 2.0, 1.0, 4.0, 3.0],
    "k": list("aaaabbbb"),
}
MORE = {"k": sf.categorical(list("abc"))}
PAIR = {"x": [1.0, 2.0, 4.0, 3.0, 9.0], "y": [0.0, 1.0, 1.5, 7.0, 1.0], "k": list("aaabb")}


def made(**options: Any) -> ClassGaussian:
    return ClassGaussian("k", XY, **options)


def fitted(data: Any = ROWS, **options: Any) -> sf.Fit:
    return sf.fit(made(**options), data)


def unseen() -> Any:
    return sf.fit(made(), ROWS, schema=MORE).model


def changed(**changes: Any) -> Any:
    return dataclasses.replace(fitted().model, **changes)


entry("class of no name", S, lambda w: ClassGaussian(["k"], XY), "'target' argument", "not empty", "Got ['k']")
entry("normal inputs of no names", S, lambda w: ClassGaussian("k", "xy"), "'inputs' argument", "['x', 'z']", "'xy'")
entry("class among its inputs", S, lambda w: ClassGaussian("x", XY), "'x'", "among the inputs", "Leave it out")
entry("graph of a full covariance", A, lambda w: made(graph="x:y"), "'graph' argument", "'sparse'", "Leave it out")
entry(
    "graph of other inputs",
    S,
    lambda w: made(covariance="sparse", graph="x:z"),
    "['x', 'y']",
    "['z']",
)
entry("sparse without zeros", A, lambda w: made(covariance="sparse"), "graph=…", "alpha=…", "'x:y + y:z'")
entry("alpha of a full covariance", A, lambda w: made(alpha=1.0), "'alpha' argument", "without a graph", "'full'")
entry("alpha of nothing", A, lambda w: made(covariance="sparse", alpha=-1), "'alpha' argument", "positive", "Got -1")
entry("shrinkage beyond one", A, lambda w: made(shrinkage=2), "'shrinkage' argument", "from 0 to 1", "Got 2")
entry("shrinkage of a sphere", A, lambda w: made(shrinkage=0.1, covariance="spherical"), "spherical", "Leave the")
entry("oas of a diagonal", A, lambda w: made(shrinkage="oas", covariance="diagonal"), "'oas'", "Give a number")
entry("bayes of a number", A, lambda w: made(bayes=2), "'bayes' argument", "True or False", "Got 2")
entry("bayes with shrinkage", A, lambda w: made(bayes=True, shrinkage=0.1), "bayes=True", "shrinkage", "Leave one")
entry("prior of normal classes", A, lambda w: sf.fit(made(), ROWS, prior=sf.K2()), "'prior' argument", "shrinkage=…",
      "Got K2()")  # fmt: skip
entry("fixed of normal classes", A, lambda w: sf.fit(made(), ROWS, fixed={"x": 1}), "'fixed' argument", "class_prior=…",
      "Got ['x']")  # fmt: skip
entry("class without rows", E_, lambda w: sf.fit(made(class_prior="uniform"), ROWS, schema=MORE), "class 'c'",
      "no rows", "class_prior='counted'")  # fmt: skip
entry("probability of a class without rows", M, lambda w: unseen().with_class_priors("uniform"), "Class 'c' of 'k'",
      "no rows", "Give it none")  # fmt: skip
entry("distribution of a class without rows", M, lambda w: unseen().given("c"), "Class 'c' of 'k'", "no rows",
      "another class")  # fmt: skip
entry("graph of numbers", S, lambda w: made(covariance="sparse", graph=3), "'graph' argument", "'x:y'", "Got 3")
entry("unbiased divisor of less than a row", E_, lambda w: sf.fit(made(divisor="n-1"), ROWS, weights=[0.125] * 8),
      "class 'a' has 0.5", "divisor='n'")  # fmt: skip
entry("class of one row", E_, lambda w: fitted({**PAIR, "k": list("aaaab")}), "Class 'b'", "only one row",
      "covariance='tied'")  # fmt: skip
entry("column constant in a class", E_, lambda w: fitted({**ROWS, "y": [1.0] * 4 + [1.0, 2, 3, 4]}), "'y'",
      "class 'a'", "shrinkage=0.1")  # fmt: skip
entry("class of too few rows", E_, lambda w: fitted(PAIR), "2 columns", "at least 3 rows", "class 'b' has 2",
      "shrinkage='oas'")  # fmt: skip
entry("columns that follow from others", E_, lambda w: fitted({**ROWS, "y": [2 * x for x in ROWS["x"]]}), "'y'",
      "combination", "Leave it out")  # fmt: skip
entry("singular clique of a class", E_, lambda w: fitted(PAIR, covariance="sparse", graph="x:y"), "['x', 'y']",
      "class 'b'", "shrinkage=0.1")  # fmt: skip
entry("improper posterior of a class", E_, lambda w: fitted(PAIR, bayes=True), "at least 3 rows", "class 'b' has 2",
      "bayes=False")  # fmt: skip
entry("Ledoit and Wolf without data", A, lambda w: sf.estimate(made(shrinkage="ledoit_wolf"),
      sf.collect(made(shrinkage="ledoit_wolf"), ROWS)), "pass data=…", "shrinkage='oas'")  # fmt: skip
entry("parameters of another shape", M, lambda w: changed(means=np.zeros((3, 2))), "'means'", "(2, 2)", "Got (3, 2)")
entry("class probabilities beyond one", M, lambda w: changed(class_prior=np.array([0.5, 0.6])), "[0.5, 0.6]",
      "sum to 1")  # fmt: skip
entry("a model of no rows", M, lambda w: changed(n=0.0), "'n'", "positive", "Got 0.0")
entry("freedom of normal classes", M, lambda w: changed(dof=np.ones(2)), "bayes=True", "[1. 1.]")
entry("covariances that are none", M, lambda w: changed(spread=-np.ones((2, 2, 2))), "positive definite", "-1.0")
entry("infinite input of a class", D, lambda w: fitted().model.log_likelihoods_of(
      {"x": np.array([0.0, np.inf]), "y": np.zeros(2)}, 2), "Column 'x', row 2: inf", "Correct it")  # fmt: skip
entry("covariance of a wide t", M, lambda w: fitted(bayes=True).model.covariance("a"), "class 'a'", "2 degrees",
      "more rows")  # fmt: skip
entry("joint t of columns", M, lambda w: fitted(bayes=True, covariance="diagonal").model.given("a"), "of its own",
      "model.means")  # fmt: skip
entry("softmax of t", M, lambda w: fitted(bayes=True).model.to_softmax(), "Student's t", "bayes=False")
entry("directions of a quadratic classifier", M, lambda w: fitted().model.discriminants, "covariance='tied'")
