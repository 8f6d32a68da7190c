"""Errors of softmax regression: its structure, its fits, its model and its coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.error_catalogue import E_, A, D, M, S, U, entry

import suffice as sf
from suffice.data.sparse_matrix import SparseTable
from suffice.data.variable import Variable
from suffice.learn.softmax_regression import check
from suffice.models.basis import Linear
from suffice.models.softmax_model import SoftmaxModel
from suffice.result.softmax_coefficients import softmax_coefficients
from suffice.structures.softmax_regression import SoftmaxClasses

ONE = SoftmaxClasses("y", ["x"])
ROWS = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": ["a", "a", "b", "a", "b", "b"]}
Y, X = Variable("y", ("a", "b")), Variable("x")


def _model(**changes: Any) -> SoftmaxModel:
    values: dict[str, Any] = {"weights": np.zeros((1, 2)), "intercept": np.zeros(2), "terms": (Linear("x"),), **changes}
    return SoftmaxModel(Y, (X,), **values)


def _sparse(matrix: Any = None, **rest: Any) -> SparseTable:
    return SparseTable(csr_array(np.eye(2)) if matrix is None else matrix, (X, Variable("z")), **rest)


def _large() -> Any:
    """Ask for the standard errors of a fit that left the information out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.learn.softmax_regression.MOST_PRODUCTS", 0)
        return softmax_coefficients(sf.fit(ONE, ROWS))


def _many() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.result.softmax_coefficients.MOST", 1)
        return softmax_coefficients(sf.fit(ONE, ROWS))


def _singular() -> Any:
    fit = sf.fit(ONE, ROWS)
    fit.model.information[...] = 0.0
    return softmax_coefficients(fit)


# Structures ---------------------------------------------------------------------------------------------------

entry("softmax intercept of no bool", A, lambda w: SoftmaxClasses("y", ["x"], intercept=1),  # type: ignore[arg-type]
      "'intercept' argument", "True or False", "Got 1 instead")  # fmt: skip
entry("softmax inputs that are no names", S, lambda w: SoftmaxClasses("y", 3),  # type: ignore[arg-type]
      "'inputs' argument", "['x', 'z']", "Got 3 instead")  # fmt: skip
entry("softmax class among the inputs", S, lambda w: SoftmaxClasses("y", ["x", "y"]),
      "'y' is the class", "Leave it out")  # fmt: skip
entry("softmax input twice", S, lambda w: SoftmaxClasses("y", ["x", "x"]), "'inputs' argument", "each once")
entry("softmax of nothing", S, lambda w: SoftmaxClasses("y", [], intercept=False), "nothing to learn",
      "Name some inputs")  # fmt: skip

# Fits ---------------------------------------------------------------------------------------------------------

entry("softmax with given weights", A, lambda w: sf.fit(ONE, ROWS, fixed={"x": 1.0}),
      "'fixed' argument must be left out", "{'x': 1.0}")  # fmt: skip
entry("softmax read with a prior on tables", A, lambda w: check(ONE, sf.K2(), {}), "'prior' argument",
      "sf.Gaussian(10)", "Got K2() instead")  # fmt: skip
entry("softmax with a prior on tables", E_, lambda w: sf.fit(ONE, ROWS, prior=sf.K2()), "a prior on the weights",
      "sf.Laplace(1.0)", "Got K2() instead")  # fmt: skip
entry("softmax with a prior on intercepts", E_, lambda w: sf.fit(ONE, ROWS, prior=sf.Gaussian(1.0, main=2.0)),
      "intercepts", "leave 'main' out")  # fmt: skip
entry("softmax under a kink by Newton", E_, lambda w: sf.fit(ONE, ROWS, prior=sf.Laplace(1.0), method="newton"),
      "kink at zero", "method='proximal'")  # fmt: skip
entry("softmax without a kink by proximal steps", E_, lambda w: sf.fit(ONE, ROWS, method="proximal"),
      "prior=sf.Laplace(…)", "method='newton'")  # fmt: skip
entry("softmax of a continuous class", E_, lambda w: sf.fit(ONE, {"x": [1.0, 2.0], "y": [0.5, 1.5]},
      schema={"y": sf.continuous()}), "'y' is continuous", "sf.categorical()")  # fmt: skip
entry("softmax against no class", U, lambda w: sf.fit(SoftmaxClasses("y", ["x"], reference="q"), ROWS),
      "'reference' argument", "'q'", "['a', 'b']")  # fmt: skip
entry("softmax of a class without rows", E_, lambda w: sf.fit(ONE, ROWS, schema={"y": ["a", "b", "c"]}), "['c'] of 'y'",
      "sf.categorical")  # fmt: skip
entry("softmax of one class", E_, lambda w: sf.fit(ONE, {"x": [1.0, 2.0], "y": ["a", "a"]}), "same class of 'y', ['a']",
      "at least two classes")  # fmt: skip
entry("softmax of collinear inputs", E_, lambda w: sf.fit(SoftmaxClasses("y", ["x", "z"]), {**ROWS, "z": [1.0] * 6}),
      "'z' has the same value in all rows", "Leave an input out", "prior=sf.Gaussian(10)")  # fmt: skip

# Models -------------------------------------------------------------------------------------------------------

entry("softmax weights of another shape", M, lambda w: _model(weights=np.zeros((2, 2))), "'weights'", "(1, 2)",
      "Got (2, 2) instead")  # fmt: skip
entry("softmax weights that are no numbers", M, lambda w: _model(intercept=np.array([0.0, np.nan])), "'intercept'",
      "−inf, not NaN")  # fmt: skip
entry("softmax term of no input", M, lambda w: _model(terms=(Linear("q"),)), "'q'", "['x']")
entry("log-odds of a class and itself", A, lambda w: _model().log_odds("a", "a"), "two different classes", "['a', 'b']")
entry("log-odds of no class", U, lambda w: _model().log_odds("q", "a"), "no class 'q' of 'y'", "['a', 'b']")
entry("softmax of a missing input", D, lambda w: _model().log_scores_of({"x": np.array([np.nan])}, 1), "'x', row 0",
      "missing", "sf.GaussianBayes")  # fmt: skip

# Sparse tables ------------------------------------------------------------------------------------------------

entry("sparse table of a dense matrix", D, lambda w: _sparse(np.eye(2)), "scipy.sparse matrix of 2 columns")
entry("sparse table with gaps", D, lambda w: _sparse(csr_array(np.array([[1.0, np.nan]]))), "NaN or infinity",
      "leave such rows out")  # fmt: skip
entry("sparse table with classes missing", D, lambda w: _sparse(beside={"y": np.array([0, -1])}, others=(Y,)), "'y'",
      "2 codes, none missing")  # fmt: skip

# Penalties of the classifier ----------------------------------------------------------------------------------

entry("penalty of another name", A, lambda w: sf.SoftmaxRegression("none").fit([[0.0], [1.0]], [0, 1]),
      "'penalty' argument", "'l2', 'l1' or None", "Got 'none' instead")  # fmt: skip
entry("penalty beyond all measure", A, lambda w: sf.SoftmaxRegression("l1", strength=1e8).fit([[0.0], [1.0]], [0, 1]),
      "'strength' argument", "between 1e-06 and 1e+04", "penalty='l1'", "Got 100000000.0 instead")  # fmt: skip

# Coefficients -------------------------------------------------------------------------------------------------

entry("coefficients of a large softmax", A, lambda w: _large(), "second derivatives", "data=…")
entry("softmax coefficients by other data", A, lambda w: softmax_coefficients(sf.fit(ONE, ROWS),
      data={"x": [0.0, 1.0, 2.0], "y": ["a", "a", "b"]}), "must be the data of the fit", "3 of 'a', 3 of 'b'",
      "2 of 'a', 1 of 'b'")  # fmt: skip
entry("coefficients beyond counting", A, lambda w: _many(), "2 coefficients", "at most 1", "fit.model.weights")
entry("softmax coefficients of a network", A, lambda w: softmax_coefficients(w.fit()), "softmax regression", "DAG")
entry("softmax coefficients under a prior", E_, lambda w: softmax_coefficients(sf.fit(ONE, ROWS,
      prior=sf.Gaussian(1.0))), "maximum likelihood", "Fit without a prior")  # fmt: skip
entry("softmax coefficients of separated classes", E_, lambda w: softmax_coefficients(sf.fit(ONE, {"x": [0.0, 1.0, 2.0,
      3.0], "y": list("aabb")})), "does not exist", "sf.Gaussian(10)")  # fmt: skip
entry("softmax coefficients of a singular information", E_, lambda w: _singular(), "information is singular",
      "Leave an input out")  # fmt: skip
