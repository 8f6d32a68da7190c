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


def chain(w: World, n: int, memory: int, **limits: Any) -> sf.Fit:
    """Fit a chain of discrete variables, all of which the last row lacks, and a continuous one at its end."""
    names = [f"A{i}" for i in range(n)]
    rows = {name: [0, 1, 0, 1, None] for name in names} | {"x": [1.0, 2.0, 4.0, 3.0, 2.5]}
    told = {f"learn.{name.replace('__', '.')}": value for name, value in limits.items()}
    return w.within(memory, lambda: patched(told, lambda: em(" -> ".join([*names, "x"]), rows)))


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

entry("BGe with gaps", E_, lambda w: em("A -> x", MIXED, prior=[sf.Dirichlet(2.0), sf.BGe()]), "cannot use this prior",
      "sf.NormalInverseGamma", "not BGe", "Pass one of these")  # fmt: skip
entry("posterior means with gaps", E_, lambda w: em("A -> x", MIXED, prior=[sf.Dirichlet(2.0),
      sf.NormalInverseGamma(2, 1.0)]), "Posterior means", "Pass point='map'")  # fmt: skip

# Where the likelihood has no maximum --------------------------------------------------------------------------

entry("variance that runs to zero", E_, lambda w: em("A -> x", MIXED, init=network(sd=1e-9)), "Node 'x', A='u'",
      "runs to zero", "fewer latent states", "sf.NormalInverseGamma")  # fmt: skip
entry("singular start", E_, lambda w: em("x -> y", NUMBERS, init=line(1e-12)), "singular", "Leave one", "prior")

# Where EM begins ----------------------------------------------------------------------------------------------

entry("unknown start beside values", E_, lambda w: em("A -> x", MIXED, init=network([np.nan, np.nan])), "['A']",
      "not known", "leave out 'init'")  # fmt: skip
entry("complete rows that a table beside values rules out", E_, lambda w: em("A -> x", MIXED, fixed={"A": [1.0, 0.0]}),
      "impossible under the table of 'A'", "'fixed' or 'init'")  # fmt: skip
entry("rows with gaps that a table beside values rules out", E_, lambda w: em("B <- A -> x", {**MIXED, "B": ["p", "p",
      "p", "p", "q", "p"]}, fixed={"B": 2 * [[1.0, 0.0]]}), "['A']", "1 of 2 rows", "'fixed' or 'init'")  # fmt: skip

# What is known of complete rows only ---------------------------------------------------------------------------

entry("coefficients of rows with gaps", T, lambda w: em("x -> y", NUMBERS).coefficients("y"), "complete rows",
      "lack values", "standard_errors(data)")  # fmt: skip

# Room ---------------------------------------------------------------------------------------------------------

entry(
    "configurations of a row without room", E_, lambda w: chain(w, 9, 20_000), "512 configurations", "sf.config(memory="
)
entry("sums over a row without room", E_, lambda w: chain(w, 20, 300, mixed_chunks__LISTED=1,
      expected_vector__COPIES=0), "cannot be summed out",
      "sf.config(memory=")  # fmt: skip
entry("moments of patterns without room", T, lambda w: w.within(100, lambda: moments(X, Y)), "2 different ways",
      "2 columns", "100 B", "sf.config(memory=")  # fmt: skip

# Statistics ---------------------------------------------------------------------------------------------------

entry("moments of other columns with gaps", T, lambda w: moments(X, Y) + moments(X), "cannot be added")
entry("damaged moments with gaps", T, lambda w: damaged(), "('x', 'y')", "weights not negative")
entry("moments with gaps of another shape", T, lambda w: misshapen(), "'mean'", "shape (1, 2)", "(2, 2)")
entry("rows of other columns with gaps", T, lambda w: GapRows.zero(GapRow(("x",), 5), sf.Schema((X, Y)))
      + GapRows.zero(GapRow(("y",), 5), sf.Schema((X, Y))), "cannot be added")  # fmt: skip
