"""Errors of fits to incomplete rows with continuous columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import E_, T, World, entry
from tests.error_entries.em import em, patched

import suffice as sf
from suffice.stats.gap_moments import GapMoment, GapMoments
from suffice.stats.gap_rows import GapRow, GapRows

PAIR = sf.MultivariateNormal(["x", "y"])
NUMBERS = {"x": [1.0, None, 2.0, 4.0, 4.5, 3.0], "y": [2.0, 2.5, None, 7.0, 6.5, 4.0]}
MIXED = {"A": ["u", "v", "u", "v", None, None], "x": [1.0, 3.0, 1.5, 3.5, 2.0, 3.0]}
SOFTMAX = {"x": [0.5, 1.5, None, 2.5, 2.0], "y": ["lo", "hi", "lo", "hi", "lo"]}
X, Y = sf.Variable("x"), sf.Variable("y")


def network(p: Any = (0.5, 0.5), sd: Any = 1.0) -> sf.BayesianNetwork:
    """Return A -> x."""
    tables = {"A": p, "x": {"intercept": [1.0, 3.0], "sd": sd}}
    return sf.BayesianNetwork(sf.DAG("A -> x"), tables, schema={"A": ["u", "v"], "x": sf.continuous()})


def line(sd: float) -> sf.BayesianNetwork:
    """Return x -> y, close to a line."""
    y = {"intercept": 0.0, "coefficients": {"x": 2.0}, "sd": sd}
    return sf.BayesianNetwork(sf.DAG("x -> y"), {"x": {"intercept": 3.0, "sd": 1.0}, "y": y})


def many(n: int) -> dict[str, Any]:
    """Return columns, in whose last row all discrete ones are missing."""
    columns: dict[str, Any] = {f"A{i}": [0, 1, 0, 1, None] for i in range(n)}
    return {**columns, "x": [1.0, 2.0, 4.0, 3.0, 2.5]}


def star(w: World, memory: int, **limits: Any) -> sf.Fit:
    """Fit a column with several parents, with less memory."""
    dag = sf.DAG("A0 -> A1 -> A2 -> A3 -> x")
    told = {f"learn.mixed_chunks.{name}": value for name, value in limits.items()}
    return w.within(memory, lambda: patched(told, lambda: em(dag, many(4))))


def moments(*variables: sf.Variable) -> GapMoments:
    return GapMoments.of_rows(variables, np.array([[1.0, np.nan], [2.0, 3.0]])[:, : len(variables)])


def damaged() -> GapMoments:
    arrays = moments(X, Y).to_arrays()
    return GapMoments.from_arrays(GapMoment(("x", "y")), sf.Schema((X, Y)), arrays | {"weight": arrays["weight"] * -1})


def misshapen() -> GapMoments:
    arrays = moments(X, Y).to_arrays()
    return GapMoments((X, Y), **(arrays | {"mean": arrays["mean"][:1]}))


# Columns ------------------------------------------------------------------------------------------------------

entry("continuous column without a value", E_, lambda w: em(PAIR, {**NUMBERS, "y": [None] * 6}), "Column 'y'",
      "no values at all", "Leave it out")  # fmt: skip
entry("constant column with gaps", E_, lambda w: em(PAIR, {**NUMBERS, "y": [2.0] * 5 + [None]}), "Column 'y'",
      "constant", "Leave it out")  # fmt: skip
entry("softmax of a parent with gaps", E_, lambda w: em("x -> y", SOFTMAX), "'y' is a softmax", "['x']",
      "Leave out the rows", "turn the edge around")  # fmt: skip

# Priors -------------------------------------------------------------------------------------------------------

entry("BGe with gaps", E_, lambda w: em("A -> x", MIXED, prior=[sf.Dirichlet(2.0), sf.BGe()]), "sf.NormalInverseGamma",
      "not BGe")  # fmt: skip
entry("posterior means with gaps", E_, lambda w: em("A -> x", MIXED, prior=[sf.Dirichlet(2.0),
      sf.NormalInverseGamma(2, 1.0)]), "Posterior means", "Pass point='map'")  # fmt: skip

# Where the likelihood has no maximum --------------------------------------------------------------------------

entry("variance that runs to zero", E_, lambda w: em("A -> x", MIXED, init=network(sd=1e-9)), "Node 'x', A='u'",
      "runs to zero", "fewer latent states", "sf.NormalInverseGamma")  # fmt: skip
entry("singular start", E_, lambda w: em("x -> y", NUMBERS, init=line(1e-12)), "singular", "Leave one", "prior")

# Where EM begins ----------------------------------------------------------------------------------------------

entry("unknown start beside values", E_, lambda w: em("A -> x", MIXED, init=network([np.nan, np.nan])), "['A']",
      "not determined")  # fmt: skip
entry("start that rules out values", E_, lambda w: em("B -> A -> x", {**MIXED, "B": ["u", "u", "v", "v", "u", "v"]}, 
      fixed={"B": [1.0, 0.0]}), "['A']", "impossible", "'fixed' or 'init'")  # fmt: skip

# Room ---------------------------------------------------------------------------------------------------------

entry("configurations of a row without room", E_, lambda w: star(w, 1000), "configurations", "sf.config(memory=")
entry("sums over a row without room", E_, lambda w: star(w, 20_000, LISTED=1), "cannot be summed out",
      "sf.config(memory=")  # fmt: skip
entry("moments of patterns without room", T, lambda w: w.within(100, lambda: moments(X, Y)), "2 different ways",
      "2 columns", "100 B", "sf.config(memory=")  # fmt: skip

# Statistics ---------------------------------------------------------------------------------------------------

entry("moments of other columns with gaps", T, lambda w: moments(X, Y) + moments(X), "cannot be added")
entry("damaged moments with gaps", T, lambda w: damaged(), "('x', 'y')")
entry("moments with gaps of another shape", T, lambda w: misshapen(), "'mean'", "shape (1, 2)", "(2, 2)")
entry("rows of other columns with gaps", T, lambda w: GapRows.zero(GapRow(("x",), 5), sf.Schema((X, Y)))
      + GapRows.zero(GapRow(("y",), 5), sf.Schema((X, Y))), "cannot be added")  # fmt: skip
