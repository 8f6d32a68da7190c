"""Errors of answers about networks with continuous variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import A, D, M, U, entry

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.softmax import SoftmaxCPD

LINE = {"intercept": 0.0, "coefficients": {"x": 1.0}, "sd": 1.0}


def mixed(sd: Any = 1.0, p: Any = (0.5, 0.5), variance: Any = None) -> sf.BayesianNetwork:
    """A -> x -> y, and A -> B."""
    spread = {"sd": sd} if variance is None else {"variance": variance}
    tables = {"A": p, "B": [[0.5, 0.5], [0.0, 1.0]], "x": {"intercept": [0.0, 1.0], **spread}, "y": LINE}
    return sf.BayesianNetwork(sf.DAG("A -> x -> y; A -> B"), tables, schema={"A": ["u", "v"], "B": ["p", "q"]})


def gaussian() -> sf.BayesianNetwork:
    return sf.BayesianNetwork(sf.DAG("x -> y"), {"x": {"intercept": 0.0, "sd": 1.0}, "y": LINE})


class Fixed:
    """A distribution of a kind that the library does not have: all of it at one number."""

    kind = "fixed"
    family = NodeFamily(Variable("n"))

    def log_prob(self, columns: Any) -> Any:
        return np.where(columns["n"] == 3, 0.0, -np.inf)

    def sample(self, columns: Any, uniform: Any) -> Any:
        return np.full(len(uniform), 3.0)

    def renamed(self, family: NodeFamily) -> Fixed:
        return self

    def to_dict(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: Any) -> Fixed:
        return cls()


def unknown_table() -> sf.BayesianNetwork:
    """The same with an unknown row in the table of A's child, of which x is a child."""
    rows = {"A": ["u"] * 4, "B": ["p", "p", "q", "q"], "x": [0.0, 2.0, 1.0, 3.0]}
    schema: dict[str, Any] = {"A": ["u", "v"], "B": ["p", "q"]}
    return sf.fit(sf.DAG("A -> B -> x"), rows, schema=schema, fixed={"A": [0.5, 0.5]}, unseen_parents="nan").model


def softmax() -> sf.BayesianNetwork:
    y, x = sf.Variable("Y", ("lo", "hi"), True), sf.Variable("x")
    cpd = SoftmaxCPD(NodeFamily(y, (x,)), [[0.0, 1.0]], [[[0.0], [2.0]]])
    return sf.BayesianNetwork(sf.DAG("x -> Y"), {"x": {"intercept": 0.0, "sd": 1.0}, "Y": cpd})


# Evidence -----------------------------------------------------------------------------------------------------

entry("state of a continuous variable", A, lambda w: mixed().query("A", {"x": "high"}), "'x'", "finite number",
      "Got 'high' instead")  # fmt: skip
entry("value both asked for and given", A, lambda w: mixed().query("x", {"x": 1.0}), "'x'", "asked for and given")
entry("impossible state beside values", M, lambda w: mixed(p=[1.0, 0.0]).query("x", {"A": "v", "y": 1.0}),
      "A='v' by itself", "probability zero", "fit with a prior")  # fmt: skip
entry("impossible states beside values", M, lambda w: mixed().query("x", {"A": "v", "B": "p"}),
      "B='p' together with A='v'", "probability zero")  # fmt: skip
entry("impossible soft evidence beside values", M, lambda w: mixed(p=[1, 0]).query("x", {"A": ["v"], "y": 1.0}),
      "y=1, soft evidence on A", "probability zero")  # fmt: skip
entry("values beyond any density", M, lambda w: mixed().query("A", {"y": 1e200}), "density of y=1e+200", "zero",
      "units")  # fmt: skip
entry("marginals given the impossible", M, lambda w: mixed(p=[1, 0]).marginals({"A": "v"}), "A='v' by itself")
entry("most likely given the impossible", M, lambda w: mixed(p=[1, 0]).map({"A": "v"}), "A='v' by itself")
entry("draws given the impossible", M, lambda w: mixed(p=[1, 0]).sample(2, given={"A": "v"}), "A='v' by itself")

# What an answer needs -----------------------------------------------------------------------------------------

entry("answer of no spread", M, lambda w: mixed(sd=[0.0, 1.0]).query("y"), "'x'", "degenerate for A='u'",
      "variance is zero", "positive variance")  # fmt: skip
entry("answer of an unknown table beside values", M, lambda w: unknown_table().query("x"), "'B'", "NaN",
      "unseen_parents='uniform'")  # fmt: skip
entry("parts beyond the memory", M, lambda w: w.within(50, lambda: mixed().query("y")), "64 B", "50 B", "['y', 'x']",
      "['A']", "2 configurations", "method='sampling'")  # fmt: skip
entry("mixture beyond the memory", M, lambda w: w.within(60, lambda: mixed().query("x", {})), "2 normal distributions",
      "['A']", "96 B", "60 B", "Ask for fewer")  # fmt: skip
entry("mode of a mixture", M, lambda w: mixed().map(targets="y"), "'y'", "['A'] summed out", "no closed form",
      "to the targets")  # fmt: skip
entry("softmax of what was not observed", M, lambda w: softmax().query("x", {"Y": "hi"}), "p(Y | x) is a softmax",
      "['x']", "no closed form", "method='sampling'")  # fmt: skip

# Refusals -----------------------------------------------------------------------------------------------------

entry("draws of an exact answer", A, lambda w: mixed().query("A", draws=10), "'draws'", "method='sampling'")
entry("unknown method of a query", A, lambda w: mixed().query("A", method="gibbs"), "'method' argument",
      "['exact', 'sampling']", "Got 'gibbs'")  # fmt: skip
entry("tables of continuous variables", M, lambda w: mixed().to_markov_network(), "['x', 'y']", "continuous",
      "to_joint_normal")  # fmt: skip
entry("Gibbs sampling of continuous variables", M, lambda w: mixed().sample(2, method="gibbs"), "['x', 'y']",
      "method='exact'")  # fmt: skip
entry("sensitivity with continuous variables", M, lambda w: mixed().sensitivity({"A": "u"}), "['x', 'y']")
entry("entropy of both sorts", M, lambda w: mixed().entropy(), "['A', 'B'] are discrete", "no closed form", "log_prob")
entry("divergence from something else", A, lambda w: gaussian().kl(3), "another network", "Got 3 instead")
entry("divergence between both sorts", M, lambda w: gaussian().kl(mixed()), "['A', 'B'] are discrete", "log_prob")

# Rows of evidence ---------------------------------------------------------------------------------------------

entry("rows for both sorts", A, lambda w: mixed().query_rows(["A", "x"], {"y": [1.0]}), "discrete targets or", "apart")
entry("rows of no variables of a network", A, lambda w: mixed().query_rows("A", {"z": [1.0]}), "['z']",
      "['x', 'y', 'B']")  # fmt: skip
entry("rows of targets alone", A, lambda w: mixed().query_rows("A", {"A": ["u"]}), "no column of evidence",
      "['x', 'y', 'B']")  # fmt: skip
entry("rows of infinite evidence", D, lambda w: mixed().query_rows("A", {"y": [1.0, np.inf]}), "'y'", "row 2",
      "Got inf")  # fmt: skip

# Mixtures -----------------------------------------------------------------------------------------------------

entry("unknown name of components", U, lambda w: mixed().query("x")[{"a": "u"}], "'a'", "['A']")
entry("component of probability zero", M, lambda w: mixed(p=[1, 0]).query("x")[{"A": "v"}], "A='v' is zero",
      "another configuration")  # fmt: skip
entry("marginal of no names", A, lambda w: mixed().query("x").marginal(3), "'names' argument", "Got 3 instead")
entry("marginal of others", A, lambda w: mixed().query("x").marginal("y"), "'names' argument", "['x']", "Got 'y'")

# Sampling -----------------------------------------------------------------------------------------------------


def sampled(network: sf.BayesianNetwork, target: str = "x", given: Any = None, draws: int = 200) -> Any:
    return network.query(target, given, method="sampling", draws=draws, seed=0)


entry("draws without weight", M, lambda w: sampled(mixed(p=[1, 0]), given={"A": "v"}), "200 draws given A='v'",
      "impossible or very rare", "draws=2000")  # fmt: skip
entry("draws of little worth", M, lambda w: sampled(mixed(), given={"y": 9.0}), "few carry all the weight", "needs 30",
      "observe less")  # fmt: skip
entry("draws of an observed point", M, lambda w: sampled(mixed(sd=0.0), "A", {"x": 1.0}), "degenerate", "variance")
entry("draws of unknown rows", M, lambda w: sampled(unknown_table(), "A", {"B": "p"}), "NaN", "unseen_parents")
entry("unknown name of draws", U, lambda w: sampled(mixed(), "A")[{"a": "u"}], "'a'", "['A']")
entry("query of a variable that is neither discrete nor normal", M,
      lambda w: sf.BayesianNetwork(sf.DAG("n"), {"n": Fixed()}).query("n"), "'n'", "neither discrete nor normal",
      "method='sampling'")  # fmt: skip
