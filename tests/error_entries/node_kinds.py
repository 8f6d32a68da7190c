"""Errors of softmax and noisy-OR nodes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.error_catalogue import E_, A, M, S, World, entry

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds.kind import NodeFamily
from suffice.models.cpds.noisy_or import NoisyOrCPD
from suffice.models.cpds.softmax import SoftmaxCPD
from suffice.models.cpds.softmax_kind import KIND
from suffice.stats.rows import Rows

ROWS: dict[str, list[Any]] = {
    "x": [1.0, 2.0, 3.0, 2.5],
    "z": [2.0, 4.0, 6.0, 5.0],
    "d": list("uuuv"),
    "y": list("abba"),
}
Y, D, X = Variable("y", ("a", "b")), Variable("d", ("u", "v")), Variable("x")
SOFT, FORKED = NodeFamily(Y, (X,)), NodeFamily(Y, (D, X))
EFFECT = {"C": list("nynyn"), "D": list("nnyyn"), "E": list("nynyn")}
FEVER = NodeFamily(Variable("E", ("n", "y")), (Variable("C", ("n", "y")), Variable("G", ("n", "m", "s"))))


def softly(graph: str = "y <- x", rows: dict[str, Any] | None = None, setting: Any = None, **options: Any) -> sf.Fit:
    """Fit a softmax node, of all rows unless there are others."""
    kinds = {} if setting is None else {"y": {"tied": setting}}
    return sf.fit(sf.DAG(graph, kinds=kinds), {**ROWS, **(rows or {})}, **options)


def noisily(rows: dict[str, Any] | None = None, leak: Any = True, **options: Any) -> sf.Fit:
    """Fit a noisy-OR node."""
    dag = sf.DAG("C -> E <- D", kinds={"E": {"kind": "noisy_or", "leak": leak}})
    return sf.fit(dag, {**EFFECT, **(rows or {})}, **options)


def with_limit(name: str, value: float, call: Callable[[], Any]) -> Any:
    """Call while a search is given too little."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"suffice.models.cpds.{name}", value)
        return call()


def softmax_within(world: World, memory: int) -> Any:
    rows = Rows.of_rows((X, Y), ([1.0], [0]))
    return world.within(memory, lambda: KIND.mle(SOFT, rows))


# Softmax ------------------------------------------------------------------------------------------------------

entry("softmax setting", A, lambda w: softly(setting="both"), "'tied' setting", "['none', 'slopes']", "Got 'both'")
entry("softmax of a continuous child", S, lambda w: sf.fit(sf.DAG("x <- z", kinds={"x": "softmax"}), ROWS),
      "'x' is continuous", "sf.categorical()")  # fmt: skip
entry("softmax without a continuous parent", S, lambda w: sf.fit(sf.DAG("y <- d", kinds={"y": "softmax"}), ROWS),
      "'y' has no continuous parent", "table")  # fmt: skip
entry("softmax, shape", M, lambda w: SoftmaxCPD(SOFT, np.zeros(3), np.zeros((1, 2, 1))), "intercept", "(1, 2)",
      "Got (3,) instead")  # fmt: skip
entry("softmax, infinite", M, lambda w: SoftmaxCPD(FORKED, [[0, 1], [-math.inf] * 2], np.zeros((2, 2, 1))), "'y'",
      "d='v'", "one state at least must be possible")  # fmt: skip
entry("softmax of an unknown row", M,
      lambda w: SoftmaxCPD.unknown_of(FORKED).sample({"d": np.array([1]), "x": np.zeros(1)}, np.zeros(1)), "'y'",
      "d='v'", "unseen_parents='uniform'")  # fmt: skip
entry("softmax given a number", A, lambda w: softly(fixed={"y": 3}), "'y'", "mapping", "Got 3 instead")
entry("softmax given half", A, lambda w: softly(fixed={"y": {"intercpt": 1}}), "['intercept', 'coefficients']",
      "Got ['intercpt'] instead", "Did you mean 'intercept'?")  # fmt: skip
entry("softmax given another parent", A,
      lambda w: SoftmaxCPD.from_given(SOFT, {"intercept": {}, "coefficients": {"b": {"xx": 1}}}),
      "no continuous parent 'xx'", "['x']", "Did you mean 'x'?")  # fmt: skip
entry("softmax given text", A, lambda w: SoftmaxCPD.from_given(FORKED, {"intercept": {"b": "1"}, "coefficients": {}}),
      "a number, or 2 numbers", "the state 'b'", "Got '1' instead")  # fmt: skip
entry("softmax without rows of a configuration", E_, lambda w: softly("y <- x, d", schema={"d": ["u", "v", "w"]},
      rows={"x": [1.0, 2, 3, 2, 1, 2, 3, 2], "y": list("abaababa"), "d": list("uuuuvvvv"), "z": [0.0] * 8}), "'y'",
      "d='w'", "unseen_parents='uniform'")  # fmt: skip
entry("softmax too large", E_, lambda w: softmax_within(w, 30), "'y'", "32 B", "30 B may be used", "fewer")
entry("softmax of infinities", E_, lambda w: KIND.mle(SOFT, Rows.of_rows((X, Y), ([1.0, math.inf], [0, 1]))), "'y'",
      "'x' holds infinite values", "Remove these rows")  # fmt: skip
entry("softmax of collinear parents", E_, lambda w: softly("y <- x, z"), "'y': 2·x − z does not vary",
      "4 different inputs", "sf.Gaussian(10)")  # fmt: skip
entry("softmax of a constant parent", E_, lambda w: softly("y <- x, d", {"x": [1.0, 1.0, 1.0, 2.5]}),
      "'y', d='u': column 'x' does not vary there", "Leave a parent out")  # fmt: skip
entry("softmax of separated states", E_, lambda w: softly(rows={"y": list("abbb")}),
      "'y': column 'x' separates 'b' from 'a' without fail", "no maximum", "sf.Gaussian(10)")  # fmt: skip
entry("softmax that does not converge", E_, lambda w: with_limit("softmax_search.TOLERANCE", -1.0, softly),
      "'y': no maximum of the likelihood was found", "sf.Gaussian(10)")  # fmt: skip

# Noisy-OR -----------------------------------------------------------------------------------------------------

entry("noisy-OR setting", S, lambda w: noisily(leak="no"), "'leak' setting", "True or False", "Got 'no' instead")
entry("noisy-OR of three outcomes", S, lambda w: noisily({"E": list("nymyn")}), "'E' has 3 states", "two")
entry("noisy-OR of a number", S, lambda w: noisily({"C": [0.5, 1.5, 0.5, 1.5, 2.5]}), "'C' is continuous",
      "sf.categorical()")  # fmt: skip
entry("noisy-OR, strengths", M, lambda w: NoisyOrCPD(FEVER, 0.0, np.zeros(2)), "'E' needs 3 strengths", "Got 2")
entry("noisy-OR, no probability", M, lambda w: NoisyOrCPD(FEVER, 0.0, np.array([0, 0, 1.5])), "G=s",
      "must be a probability", "Got 1.5 instead")  # fmt: skip
entry("noisy-OR given a number", A, lambda w: noisily(fixed={"E": 3}), "'E'", "mapping", "Got 3 instead")
entry("noisy-OR given something else", A, lambda w: noisily(fixed={"E": {"leek": 0.5}}), "'strengths'", "'leak'",
      "Got ['leek'] instead")  # fmt: skip
entry("noisy-OR given other parents", A, lambda w: noisily(fixed={"E": {"strengths": {"C": 0.5}}}), "['C', 'D']",
      "Got ['C'] instead")  # fmt: skip
entry("noisy-OR given no probability", A, lambda w: noisily(fixed={"E": {"strengths": {"C": 0.5, "D": 2}}}),
      "a probability for D=y", "Got 2 instead")  # fmt: skip
entry("noisy-OR given one number for two states", A,
      lambda w: NoisyOrCPD.from_given(FEVER, {"strengths": {"C": 0.5, "G": 0.5}}), "G=m",
      "every state of the parent")  # fmt: skip
entry("strength of no parent", A, lambda w: NoisyOrCPD.unknown_of(FEVER).strength("Gg", "m"), "no parent 'Gg'",
      "['C', 'G']", "Did you mean 'G'?")  # fmt: skip
entry("noisy-OR of unknown strengths", M,
      lambda w: NoisyOrCPD.unknown_of(FEVER).sample({"C": np.array([1]), "G": np.array([1])}, np.zeros(1)),
      "'E'", "['C=y', 'G=m', 'G=s']", "unseen_parents='uniform'")  # fmt: skip
entry("noisy-OR as a table too large", M, lambda w: w.within(10, NoisyOrCPD(FEVER, 0.0, np.zeros(3)).to_tabular),
      "whole table of 'E'", "96 B", "10 B", "fewer parents")  # fmt: skip
entry("noisy-OR, which cause is certain", E_, lambda w: noisily({"C": list("nnyyn"), "E": list("nnyyn")}),
      "'E': ['C=y', 'D=y'] occur together", "Leave one out")  # fmt: skip
entry("noisy-OR, causes exchanged", E_, lambda w: noisily({"C": list("nnyyn"), "E": list("nnynn")}),
      "'E': the strengths of ['C=y', 'D=y'] can be exchanged", "fixed={…}")  # fmt: skip
entry("noisy-OR without a cause", E_, lambda w: noisily({"E": list("yynyn")}, leak=False), "'E'", "occurs 1 time",
      "'leak': True")  # fmt: skip
entry("noisy-OR, cause never seen", E_, lambda w: noisily(schema={"D": ["n", "y", "z"]}), "'E'", "['D=z']",
      "unseen_parents='uniform'")  # fmt: skip
entry("noisy-OR that does not converge", E_,
      lambda w: with_limit("noisy_or_search.MOST_STEPS", 0, noisily), "'E': no maximum", "fixed={…}")  # fmt: skip
entry("node asked for as another kind", M,
      lambda w: sf.BayesianNetwork(sf.DAG("A"), {"A": [0.5, 0.5]}, schema={"A": ["n", "y"]}).cpd("A", NoisyOrCPD),
      "'A' is a TabularCPD, not a NoisyOrCPD", "leave 'kind' out")  # fmt: skip
