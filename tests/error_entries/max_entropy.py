"""Errors of maximum entropy: targets, base measures, contradictions, and densities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, C, M, S, U, entry

import suffice as sf
from suffice.models.log_linear_density import LogLinearDensity

LINE = (-math.inf, math.inf)
DICE = {"points": [1, 2, 3, 4, 5, 6]}
POINTS = sf.Features([sf.product("points")])
ON_UNIT = sf.Features([sf.product("x")], support={"x": (0, 1)})
ON_LINE = sf.Features([sf.product("x"), sf.product("x", "x")], support={"x": LINE})
GROUPED = sf.Features([sf.product("x"), sf.indicator(c="a")], support={"x": (0, 1)})


def dice(targets: Any = 4.5, structure: sf.Features = POINTS, **options: Any) -> sf.Fit:
    return sf.maxent(structure, targets, **{"over": DICE, **options})


def stranger() -> sf.LabelledTable:
    """Return a base measure over one variable too many."""
    variables = sf.Variable("points", tuple(DICE["points"]), True), sf.Variable("B", ("u", "v"), True)
    return sf.LabelledTable(variables, np.ones((6, 2)))


def frustrated(size: int) -> sf.Fit:
    """Ask for spins on a grid of which three neighbours agree and the fourth does not."""
    pairs = [(f"s{i}{j}", f"s{i}{j + 1}") for i in range(size) for j in range(size - 1)]
    pairs += [(f"s{i}{j}", f"s{i + 1}{j}") for i in range(size - 1) for j in range(size)]
    wanted = {"s00·s01": 0.9, "s01·s11": 0.9, "s10·s11": 0.9, "s00·s10": -0.9}
    targets = [wanted.get("·".join(pair), 0.0) for pair in pairs]
    over = {f"s{i}{j}": [-1, 1] for i in range(size) for j in range(size)}
    return sf.maxent(sf.Features([sf.product(*pair) for pair in pairs]), targets, over=over)


entry("maxent of features given inputs", A,
      lambda w: sf.maxent(sf.Features([sf.product("x", sf.indicators("y"))], given=["x"]), 1, over={"y": "ab"}),
      "needs their data", "sf.fit(structure, data)", "Leave the inputs out")  # fmt: skip
entry("maxent, states and a support", C, lambda w: sf.maxent(ON_UNIT, 0.5, over={"x": [0, 1]}), "'x' has states and a",
      "Leave it out of over=")  # fmt: skip
entry("maxent over a continuous variable", C, lambda w: dice(over={"points": sf.continuous()}),
      "states of 'points' are not known", "support={'points': (0, 1)}")  # fmt: skip
entry("maxent of features without states", C, lambda w: dice(over=None), "states of 'points' are not known",
      "over={'points'", "a base that has them")  # fmt: skip
entry("target of no feature", U, lambda w: dice({"pionts": 4.5}), "'pionts', which is no feature",
      "['points']", "Did you mean 'points'?")  # fmt: skip
entry("feature without a target", A, lambda w: dice({"points": 4.5}, sf.Features([sf.product("points"),
      sf.indicator(points=6)])), "no target for the feature 'points=6'", "for ['points']")  # fmt: skip
entry("too many expectations", A, lambda w: dice([4.5, 1]), "must hold 1 finite numbers", "['points']",
      "Got [4.5, 1] instead")  # fmt: skip
entry("an expectation that is not finite", A, lambda w: dice(math.nan), "1 finite numbers", "Got nan instead")
entry("expectations of a discrete model", A, lambda w: sf.maxent(ON_UNIT, dice().model), "discrete variables only",
      "['x']", "as numbers")  # fmt: skip
entry("expectations of a model with other states", A,
      lambda w: dice(dice().model, over={"points": [6, 5, 4, 3, 2, 1]}), "The model has the states", "order included",
      )  # fmt: skip
entry("array as base of a density", A, lambda w: sf.maxent(ON_UNIT, 0.5, base=[1, 2]), "base measure over ['x']",
      "a function of these", "Got [1, 2] instead")  # fmt: skip
entry("base as a function over too many cells", A, lambda w: sf.maxent(sf.Features([sf.product(f"x{i}")
      for i in range(21)]), [0.5] * 21, over={f"x{i}": [0, 1] for i in range(21)}, base=lambda *x: 1.0),
      "2,097,152 configurations", "at most 1,048,576 are allowed", "base=[…]")  # fmt: skip
entry("base of features, zero everywhere", A, lambda w: dice(base=lambda x: 0.0), "over ['points'] is zero everywhere",
      "Allow")  # fmt: skip
entry("base of a density, negative somewhere", A, lambda w: sf.maxent(ON_UNIT, 0.5, base=lambda x: x - 0.5),
      "a function of ['x']", "negative nowhere", "Got values from -0.5 to 0.5")  # fmt: skip
entry("base of features over a stranger", U, lambda w: dice(base=stranger()), "'B'", "no variable of these features",
      "variables=…")  # fmt: skip
entry("data outside a support", E_, lambda w: sf.fit(ON_UNIT, {"x": [0.5, 2.0]}), "column 'x' has the value 2",
      "from 0 to 1", "Widen the support")  # fmt: skip
entry("mean at the end of a support", E_, lambda w: sf.maxent(ON_UNIT, 0.0), "target 0 of the feature 'x'",
      "no density has the mean of an end", "Correct the target")  # fmt: skip
entry("moments without a variance", E_, lambda w: sf.maxent(ON_LINE, [2, 4]), "the mean 2 and the mean square 4",
      "no variance is left", "Correct one")  # fmt: skip
entry("density without an end", E_, lambda w: sf.maxent(sf.Features([sf.product("x")],
      support={"x": LINE}), 1.0), "no density of this form", "cannot be normalised",
      "Bound the support of 'x'")  # fmt: skip
entry("too many continuous variables", S, lambda w: sf.maxent(sf.Features([sf.product(name) for name in "tuvxy"],
      support=dict.fromkeys("tuvxy", (0, 1))), [0.5] * 5), "['t', 'u', 'v', 'x', 'y']", "configurations of quadrature",
      "Model fewer variables together")  # fmt: skip
entry("density of weights beyond all numbers", M, lambda w: LogLinearDensity(ON_LINE, [0, 1e308],
      schema=sf.maxent(ON_LINE, [0, 1]).model.schema).log_prob({"x": [0.0]}), "cannot be normalised", "1e+308",
      "Check the weights")  # fmt: skip
entry("query of nothing of a density", A, lambda w: sf.maxent(ON_UNIT, 0.5).model.query([]), "a discrete variable",
      "Got [] instead")  # fmt: skip
entry("evidence for a density", A, lambda w: sf.maxent(GROUPED, [0.5, 0.3], over={"c": ["a", "b"]}).model.query(
      "c", {"x": 0.5}), "not supported where variables are continuous", "Leave given= out")  # fmt: skip
entry("query of a continuous variable", A, lambda w: sf.maxent(ON_UNIT, 0.5).model.query("x"), "'x' is continuous",
      "model.log_prob", "model.expected")  # fmt: skip
entry("file of a density with a base", A, lambda w: sf.write(sf.maxent(ON_UNIT, 0.5, base=lambda x: x).model,
      w.path("model.json")), "cannot be written to a file", "Keep the code")  # fmt: skip
entry("mean at the end of its range under a prior that leaves it free", E_, lambda w: sf.fit(POINTS,
      {"points": [6, 6]}, schema=DICE, prior=sf.Gaussian(1.0, main=math.inf)), "'points' is at the end of its",
      "would run away", "main=10")  # fmt: skip
entry("expectation out of reach", E_, lambda w: dice(7), "target 7 of the feature 'points'", "between 1 and 6",
      "Correct the target")  # fmt: skip
entry("expectations that contradict each other", E_, lambda w: sf.maxent(sf.Features([sf.indicator(A="x"),
      sf.indicator(B="u"), sf.indicator(A="x", B="u")]), [0.9, 0.9, 0.5], over={"A": ["x", "y"], "B": ["u", "v"]}),
      "[A=x] + [B=u] − [A=x & B=u] is at most 1", "the targets give 1.3", "Change one of them")  # fmt: skip
entry("expectations that contradict each other on a large graph", E_, lambda w: frustrated(5),
      "No distribution has these expectations", "[s00·s10]", "Change one of them")  # fmt: skip
