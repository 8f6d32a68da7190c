"""Errors of what models do with incomplete rows."""

from __future__ import annotations

import numpy as np
from tests.error_catalogue import A, D, M, entry
from tests.error_entries.mixed import mixed

import suffice as sf

GAP = {"A": ["x", None], "B": ["u", "v"]}


def certain() -> sf.BayesianNetwork:
    tables = {"A": [0.5, 0.5], "B": [[1.0, 0.0], [np.nan, np.nan]], "C": [0.5, 0.5]}
    schema = {"A": ["x", "y"], "B": ["u", "v"], "C": ["p", "q"]}
    return sf.BayesianNetwork(sf.DAG("A -> B; C"), tables, schema=schema)


# Log-probabilities --------------------------------------------------------------------------------------------

entry("log-probability of a gap", D, lambda w: w.fit().model.log_prob(GAP), "Column 'A', row 2",
      "missing='marginalise'")  # fmt: skip
entry("unknown policy of gaps", A, lambda w: w.fit().model.log_prob(GAP, missing="em"), "'missing' argument",
      "['error', 'marginalise']", "Got 'em'")  # fmt: skip
entry("table of no variable", D, lambda w: w.fit().model.log_prob({"C": [1]}, missing="marginalise"),
      "dict of columns has no column", "['A', 'B']", "['C']")  # fmt: skip

# Filling gaps -------------------------------------------------------------------------------------------------

entry("imputation of no variable", D, lambda w: w.fit().model.impute({"C": [1]}), "no column", "['A', 'B']", "['C']")
entry("unknown method of imputation", A, lambda w: w.fit().model.impute(GAP, method="mean"), "'method' argument",
      "['mode', 'marginal', 'sample']", "Got 'mean'")  # fmt: skip
entry("many tables of the most likely", A, lambda w: w.fit().model.impute(GAP, n=5), "'n' argument is for draws",
      "method='sample'")  # fmt: skip
entry("seed of the most likely", A, lambda w: w.fit().model.impute(GAP, seed=1), "'seed' argument is for draws",
      "method='mode'")  # fmt: skip
entry("no table", A, lambda w: w.fit().model.impute(GAP, method="sample", n=0), "'n' argument", "at least 1", "Got 0")
entry("latent of no bool", A, lambda w: w.fit().model.impute(GAP, latent="H"), "'latent' argument", "True or False",
      "Got 'H'")  # fmt: skip
entry("gaps of a contingency table", D, lambda w: sf.fit(sf.DAG("A"), {"A": ["x", "y"]}).model.impute(
      sf.Contingency([1, 2], {"A": ["x", "y"]})), "contingency table", "no gaps", "Pass rows")  # fmt: skip
entry("impossible row", M, lambda w: certain().impute({"A": ["x", "x"], "B": ["u", "v"], "C": ["p", None]}),
      "Row 2", "B='v' together with A='x'", "probability zero", "fit with a prior")  # fmt: skip
entry("row of an unknown table", M, lambda w: certain().impute({"A": ["y"], "B": [None], "C": ["p"]}), "Row 1", "'B'",
      "NaN", "unseen_parents='uniform'")  # fmt: skip
entry("impossible row beside values", M, lambda w: mixed(p=[1, 0]).impute({"A": ["v"], "x": [None], "y": [1.0],
      "B": ["q"]}), "Row 1", "A='v' by itself")  # fmt: skip
entry("endless value in an incomplete row", D, lambda w: mixed().impute({"A": ["u"], "x": [None], "y": [np.inf]}),
      "Column 'y', row 1", "finite", "Got inf")  # fmt: skip
