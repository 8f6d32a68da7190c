"""Errors of the arithmetic beneath log-linear models, and of distinct rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from tests.error_catalogue import E_, A, T, entry

import suffice as sf
from suffice.inference.clique_family import Layout
from suffice.inference.dependence import dependence
from suffice.inference.moment_hull import interior_proof, separation
from suffice.inference.pseudo_family import PseudoFamily
from suffice.inference.quadrature import rule_for
from suffice.inference.quadrature_draws import draws

# Distinct rows ------------------------------------------------------------------------------------------------


def rows_of(*columns: Any, weights: Any = None) -> sf.Rows:
    """Rows of a discrete variable A, and of a continuous one x where a second column is given."""
    variables = (sf.Variable("A", ("u", "v")), sf.Variable("x"))[: max(len(columns), 1)]
    return sf.Rows.of_rows(variables, columns, weights)


entry("rows of other shapes", T, lambda w: rows_of([0, 1], [0.5]), "['A', 'x']", "one array a variable",
      "[(2,), (1,), (2,)]")  # fmt: skip
entry("rows of no code", T, lambda w: rows_of([0, 2]), "column 'A'", "whole numbers from 0 to 1", "Got 2 instead")
entry("rows with a gap", T, lambda w: rows_of([0], [np.nan]), "column 'x'", "none of them missing", "Got nan instead")
entry("rows of negative weight", T, lambda w: rows_of([0], weights=[-1.0]), "weights", "not negative",
      "Got -1.0 instead")  # fmt: skip
entry("rows over other columns", T, lambda w: rows_of([0]) + rows_of([0], [0.5]), "('A',)", "('A', 'x')",
      "cannot be added")  # fmt: skip
entry("rows beyond the memory", T, lambda w: w.within(17, lambda: rows_of([0]) + rows_of([1])), "2 distinct rows",
      "1 column ['A']", "18 B", "more than the 17 B", "sf.config(memory='1GB')", "fewer columns")  # fmt: skip
entry("rows without the column", sf.UnknownNameError, lambda w: rows_of([0]).marginal(["a"]), "no column 'a'", "['A']")
entry("numbers of text states", T, lambda w: rows_of([0]).values("A"), "['u', 'v']", "'A'", "not numbers",
      "codes(['A'])")  # fmt: skip

# Quadrature ---------------------------------------------------------------------------------------------------

entry("support upside down", sf.ArgumentError, lambda w: rule_for(1, 0), "'high' argument", "larger than 'low' = 1.0",
      "Got 0.0 instead", "Exchange the two")  # fmt: skip
entry("third variant of a rule", sf.ArgumentError, lambda w: rule_for(0, 1, variant=2), "'variant' argument",
      "0, for fitting, or 1, for checking", "Got 2 instead")  # fmt: skip
entry("infinite centre", sf.ArgumentError, lambda w: rule_for(0, 1, centre=float("inf")), "'centre' argument",
      "Got inf instead", "such as the mean")  # fmt: skip
entry("scale of zero", sf.ArgumentError, lambda w: rule_for(0, 1, scale=0), "'scale' argument", "Got 0.0 instead",
      "such as the standard deviation")  # fmt: skip
entry("support too narrow for its numbers", sf.ArgumentError, lambda w: rule_for(1e9, 1e9 + 1), "'high' argument",
      "a millionth", "high = 1000000001.0", "Subtract a typical value")  # fmt: skip
entry("log-density of the wrong shape", sf.ArgumentError,
      lambda w: draws(rule_for(0, 1), np.zeros(3), np.array([0.5])), "'log_density' argument", "228 points",
      "Got the shape (3,) instead")  # fmt: skip
entry("log-density that is no number", sf.ArgumentError,
      lambda w: draws(rule_for(0, 1), lambda x: np.nan * x, np.array([0.5])), "'log_density' argument",
      "Got nan instead", "division by zero")  # fmt: skip
entry("log-density without mass", sf.ModelError,
      lambda w: draws(rule_for(0, 1), np.full(228, -np.inf), np.array([0.5])), "between 0.0 and 1.0",
      "nothing can be drawn", "contradicts the model")  # fmt: skip

# Moments and their features -----------------------------------------------------------------------------------

entry("features that are no table", A, lambda w: separation([1.0, 2.0], [1.0]), "'features'", "one row a cell",
      "Got shape (2,) instead")  # fmt: skip
entry("features without cells", A, lambda w: separation(np.zeros((0, 2)), [1.0, 1.0]), "'features'", "at least one",
      "Got shape (0, 2) instead")  # fmt: skip
entry("features that are not finite", A, lambda w: separation([[1.0], [np.inf]], [1.0]), "'features'", "numbers",
      "Got shape (2, 1) with inf instead")  # fmt: skip
entry("targets for other features", A, lambda w: separation([[1.0, 2.0]], [1.0]), "'targets'", "each of the 2 features",
      "Got [1.0] instead")  # fmt: skip
entry("moments of other shapes", A, lambda w: interior_proof([1.0], [[1.0]], [1.0, 2.0], [1.0]), "'expected'",
      "'covariance' (k, k)", "Got (1,), (2,), (1,), (1, 1) instead")  # fmt: skip
entry("covariance that is not square", A, lambda w: dependence([[1.0, 2.0]]), "'covariance'", "square",
      "Got shape (1, 2) instead")  # fmt: skip
entry("covariance that is not finite", A, lambda w: dependence([[np.nan]]), "'covariance'", "finite",
      "Got shape (1, 1) with nan instead")  # fmt: skip
entry("scale of other features", A, lambda w: dependence(np.eye(2), scale=[1.0, -2.0]), "'scale'",
      "each of the 2 features", "Got shape (2,) with -2.0 instead")  # fmt: skip

# Pseudo-likelihood --------------------------------------------------------------------------------------------


def pseudo(design: Any = ((0.0,), (1.0,)), codes: Any = ((0,), (1,)), weights: Any = (1, 1), offset: Any = None) -> Any:
    return PseudoFamily(Layout((2,), ((0,),)), csr_array(np.array(design)), codes, weights, offset)


entry("design without a row for each cell", A, lambda w: pseudo(design=[[1.0]]), "'design' argument", "each of the 2",
      "Got shape (1, 1)")  # fmt: skip
entry("design that is not finite", A, lambda w: pseudo(design=[[1.0], [np.inf]]), "'design' argument",
      "1 entries that are not finite")  # fmt: skip
entry("codes of other columns", A, lambda w: pseudo(codes=[[0, 1]], weights=[1]), "'codes' argument", "1 columns",
      "shape (1, 2)")  # fmt: skip
entry("codes that are no numbers of states", A, lambda w: pseudo(codes=[[0.5], [1.0]]), "'codes' argument",
      "whole numbers", "float64")  # fmt: skip
entry("codes beyond the states", A, lambda w: pseudo(codes=[[0], [2]]), "'codes' argument", "variable 0 from 0 to 1",
      "from 0 to 2 instead")  # fmt: skip
entry("negative weight of a row", A, lambda w: pseudo(weights=[1, -1]), "'weights' argument", "not negative", "2 rows",
      "Got [1.0, -1.0]")  # fmt: skip
entry("offset of another length", A, lambda w: pseudo(offset=[0.0]), "'offset' argument", "each of the 2 cells",
      "Got [0.0] instead")  # fmt: skip
entry("no rows with weight", E_, lambda w: pseudo(weights=[0, 0]), "rows with positive weights", "Add some")
entry("observed but impossible", E_, lambda w: pseudo(offset=[0.0, -np.inf]), "Row 1 of the data", "codes [1]",
      "offset -inf", "leave the row out")  # fmt: skip
entry("sandwich beyond the memory", E_, lambda w: w.within(10, lambda: pseudo().sandwich(np.zeros(1))),
      "sandwich covariance over 1 weights", "64 B", "10 B", "sf.config(memory='1GB')")  # fmt: skip
