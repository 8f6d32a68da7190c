"""Errors of hidden Markov models."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, D, M, S, U, entry

import suffice as sf
from suffice.certify.observed_hidden_markov import LogPass

CHAIN = sf.MarkovChain(latent={"z": 2}, variable="x")
HALF = np.full((2, 2), 0.5)


def model(states: str = "ab", chain: sf.MarkovChain = CHAIN, **emissions: Any) -> sf.HiddenMarkovModel:
    """Return a model whose states are sure of what they show."""
    given: dict[str, Any] = {"x": np.eye(2)} | emissions
    schema = {name: list(states) if name == "x" else None for name in given}
    return sf.HiddenMarkovModel.of(chain, schema, [1, 0], np.eye(2), given)


def hidden(data: Any = ("abab", "ba"), chain: sf.MarkovChain = CHAIN, **options: Any) -> sf.Fit:
    return sf.fit(chain, list(data), seed=0, restarts=1, **options)


def numbers(sd: Any) -> sf.HiddenMarkovModel:
    given = {"x": {"mean": [0, 1], "sd": sd}}
    return sf.HiddenMarkovModel.of(CHAIN, {"x": None}, [1, 0], HALF, given)


def cramped() -> Any:
    """Prove with hardly any memory."""
    one = model()
    block = next(one.open(["abab"]).blocks())
    before = sf.config().memory
    try:
        sf.config(memory=64)
        return LogPass(one)(block)
    finally:
        sf.config(memory=before)


# Structures ----------------------------------------------------------------------------------------------------

entry("hidden chain of order 2", S, lambda w: sf.MarkovChain(2, latent={"z": 2}), "'z'", "order 1", "Got the order 2")
entry("hidden chain, observed latent", S, lambda w: sf.MarkovChain(latent={"x": 2}, variable="x"), "'x' is a column",
      "name of its own")  # fmt: skip
entry("hidden chain, two latents", S, lambda w: sf.MarkovChain(latent={"z": 2, "u": 2}), "one column", "'u'")
entry("hidden chain, no states", S, lambda w: sf.MarkovChain(latent={"z": 0}), "'z'", "at least 1", "Got 0")
entry("hidden chain, a name twice", S, lambda w: sf.MarkovChain(latent={"z": 2}, variable=["x", "x"]), "each once")
entry("chain with gaps", A, lambda w: sf.fit(sf.MarkovChain(1), ["ab"], missing="em"), "latent={'state': 3}", "fill")

# Data ----------------------------------------------------------------------------------------------------------

entry("hidden chain, drop", A, lambda w: hidden(missing="drop"), "neighbours", "missing='em'")
entry("hidden chain, gap", D, lambda w: hidden([["a", None]]), "sequence 1, position 2", "missing='em'")

# Fits ----------------------------------------------------------------------------------------------------------

entry("hidden chain, nothing to see", E_, lambda w: hidden([[None, None]], missing="em",
      schema={"x": sf.continuous()}), "'x' has no value", "Leave")  # fmt: skip
entry("hidden chain, constant", E_, lambda w: hidden([[1.5, 1.5]]), "'x' is the same everywhere", "Leave it out")
entry("hidden chain, init=3", A, lambda w: hidden(init=3), "'init'", "Got 3")
entry("hidden chain, init of others", A, lambda w: hidden(chain=sf.MarkovChain(latent={"z": 3}, variable="x"),
      init=model(chain=sf.MarkovChain(latent={"u": 2}, variable="x"))), "other columns", "same structure")  # fmt: skip
entry("hidden chain, init of other states", A, lambda w: hidden(init=model("ac")), "states of 'x'", "schema")
entry("hidden chain, impossible init", E_, lambda w: hidden(init=model()), "Sequence 1 is impossible", "'init'")
entry("hidden chain, available", A, lambda w: hidden(options={"start": "available"}), "Nothing is observed of 'z'",
      "init=…")  # fmt: skip
entry("hidden chain that collapses", E_, lambda w: sf.fit(CHAIN, [[0.0, 1.5, 2.5, 100.25], [0.5, 1.0]], restarts=1,
      init=sf.HiddenMarkovModel.of(CHAIN, {"x": None}, [0.5, 0.5], HALF, {"x": {"mean": [1, 100.25], "sd": 0.5}})),
      "State 1 of 'z'", "100.25", "fewer states")  # fmt: skip

# Models --------------------------------------------------------------------------------------------------------

entry("hidden model of a chain", A, lambda w: model(chain=sf.MarkovChain(1)), "latent=…")
entry("hidden model without a column", A, lambda w: sf.HiddenMarkovModel.of(CHAIN, {}, [1, 0], HALF, {}), "'x'",
      "'schema'")  # fmt: skip
entry("hidden model of other tables", M, lambda w: sf.HiddenMarkovModel(CHAIN, model().step, model().step, ()), "'z'",
      "of other variables")  # fmt: skip
entry("hidden model of other columns", M, lambda w: sf.HiddenMarkovModel(sf.MarkovChain(latent={"z": 2}, variable="y"),
      model().start, model().step, model().shows), "['y']", "['x']")  # fmt: skip
entry("hidden model, emission", U, lambda w: model().emission("y"), "no column 'y'", "['x']")
entry("hidden model without spread", M, lambda w: numbers([1, 0]).log_prob([[0.5, 1.5]]), "'x' is zero", "Give it some")
entry("hidden model, no room to prove", M, lambda w: cramped(), "states at 4 positions", "sf.config")
