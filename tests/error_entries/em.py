"""Errors of fits to incomplete rows, and with latent variables: of all structures, and of discrete ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.error_catalogue import E_, A, C, F, M, S, T, U, World, entry

import suffice as sf
from suffice.data.schema import Schema
from suffice.files import read_arrays, write_arrays
from suffice.learn.em_checkpoint import KIND, VERSION
from suffice.stats.gaps import Gaps

GAPS = {"A": ["x", "x", None, "y", "y", "x"], "B": ["u", "v", "u", None, "v", "u"]}
BITS = [sf.Variable(name, (0, 1)) for name in "ABC"]
PAIRS = (("A", "B"), ("B", "C"))
RING = sf.Cliques("A:B + B:C + C:D + D:A")
RING_ROWS = {"A": [0, 1, None, 1], "B": [0, 1, 1, None], "C": [0, 1, 0, 1], "D": [1, 1, 0, 0]}


def em(structure: Any = "A -> B", data: Any = None, **options: Any) -> sf.Fit:
    """Fit to incomplete rows."""
    chosen = sf.DAG(structure) if isinstance(structure, str) else structure
    return sf.fit(chosen, GAPS if data is None else data, missing="em", **options)


def patched(changes: dict[str, Any], call: Callable[[], Any]) -> Any:
    """Call with other limits."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in changes.items():
            patch.setattr(f"suffice.{name}", value)
        return call()


def continued(w: World) -> sf.Fit:
    """Go on from the checkpoint of another fit."""
    path = w.path("x.checkpoint")
    em(checkpoint=path)
    return em(checkpoint=path, seed=1)


def continued_elsewhere(w: World, array: str = "vector_0") -> sf.Fit:
    """Go on from a checkpoint one of whose arrays is too short."""
    path = w.path("x.checkpoint")
    em(checkpoint=path, max_iter=1)
    meta, arrays = read_arrays(path, KIND, VERSION)
    write_arrays(path, KIND, VERSION, meta, {**arrays, array: arrays[array][:-1]})
    return em(checkpoint=path)


def gaps(rows: Any = ((0, -1, 1), (-1, 0, 1)), scopes: Any = PAIRS) -> Gaps:
    return Gaps.of_rows(BITS, scopes, np.array(rows))


def damaged() -> Gaps:
    found = gaps()
    return Gaps.from_arrays(found.need, Schema(tuple(BITS)), found.to_arrays() | {"weights": [-1.0] * found.n})


def all_pairs(w: World, n_missing: int) -> sf.Fit:
    """Begin on a graph of all pairs of 14 variables, some of which the last row lacks, with little memory."""
    names = [f"v{i}" for i in range(14)]
    pairs = list(itertools.combinations(names, 2))
    rows = {name: [0, 1, None if i < n_missing else 1] for i, name in enumerate(names)}
    init = dict.fromkeys(pairs, np.ones((2, 2)))
    return w.within(100_000, lambda: em(sf.Cliques(pairs), rows, init=init, max_iter=1))


# Structures ---------------------------------------------------------------------------------------------------

entry("latent of no variable", U, lambda w: sf.Cliques("A:B", latent={"H": 2}), "latent variable 'H'", "['A', 'B']",
      "leave it out of latent=")  # fmt: skip
entry("latent clique without states", S, lambda w: sf.Cliques("A:H", latent={"H": 0}), "'H'", "at least 1", "Got 0")
entry("all latent", S, lambda w: sf.Cliques("A:B", latent={"A": 2, "B": 2}), "All variables are latent",
      "['A', 'B']", "Leave one")  # fmt: skip
entry("latent beside inputs", S, lambda w: sf.Features([sf.product("x", sf.indicators("y")), sf.indicators("z")],
      given="x", latent={"y": 2}), "['y']", "inputs, given=", "Leave one of the two out")  # fmt: skip
entry("cliques of a DAG with kinds", S, lambda w: sf.Cliques(sf.DAG("A -> B", kinds={"B": "noisy_or"})), "kinds",
      "{'B': 'noisy_or'}", "sf.DAG(dag.parents)")  # fmt: skip

# Arguments ----------------------------------------------------------------------------------------------------

entry("gaps of hypotheses", A, lambda w: w.hypothesis_fit(missing="em"), "sf.Hypotheses has no method",
      "missing='drop'", "fill them in")  # fmt: skip
entry("available rows of a latent variable", A,
      lambda w: sf.fit(sf.DAG("H -> A", latent={"H": 2}), GAPS, missing="available"), "'H' is latent",
      "missing='em'")  # fmt: skip
entry("EM of available rows", A, lambda w: sf.fit(sf.DAG("A -> B"), GAPS, missing="available", method="em"), "'em'",
      "missing='em'", "leave the method out")  # fmt: skip
entry("statistics of rows with gaps", A, lambda w: sf.estimate(w.dag, sf.collect(w.dag, GAPS, missing="em")),
      "rows that lack values", "missing='em'", "data=…")  # fmt: skip
entry("restarts of complete rows", A, lambda w: w.fit(restarts=3), "'closed_form' has one optimum", "'restarts'",
      "Got 3", "incomplete rows")  # fmt: skip
entry("unknown start", A, lambda w: em(options={"start": "nowhere"}), "'start' option", "['available', 'random']",
      "Got 'nowhere'")  # fmt: skip
entry("unknown inner method", A, lambda w: em(RING, RING_ROWS, options={"inner": "ipf2"}), "'inner' option",
      "'closed_form'", "Got 'ipf2'")  # fmt: skip
entry("gradients of given rows", A, lambda w: em(method="observed_lbfgs", fixed={"A": [0.5, 0.5]}),
      "'observed_lbfgs' moves every row", "leave 'fixed' out", "method='em'")  # fmt: skip
entry("column without a value or states", C, lambda w: em(data={**GAPS, "B": [None] * 6}), "No row has a value of 'B'",
      "schema={'B': ['no', 'yes']}")  # fmt: skip
entry("checkpoint of no path", A, lambda w: em(checkpoint=3), "'checkpoint' argument", "path of a file", "Got 3")
entry("EM, init=3", A, lambda w: em(init=3), "'init' argument", "a model to begin at", "Got 3")
entry("EM of a normal, init of others", A, lambda w: em(sf.Normal("x"), {"x": [1.0, None, 2.5]},
      init=sf.JointNormal(["y"], [0.0], covariance=[[1.0]])), "other columns", "same structure")  # fmt: skip
entry("EM, init of others", A, lambda w: em(init=sf.fit(sf.DAG("A; B"), w.data).model), "other columns",
      "same structure")  # fmt: skip
entry("EM, init of other states", A, lambda w: em(init=sf.fit(w.dag, {"A": ["x", "z"], "B": ["u", "v"]}).model),
      "states of 'A'", "schema")  # fmt: skip
entry("EM, unknown init", E_, lambda w: em(init=w.hidden()), "table of 'B'", "NaN", "leave out 'init'")
entry("statistics of incomplete rows taken for complete ones", A, lambda w: sf.estimate(sf.DAG("A -> B"), sf.collect(
    sf.DAG("A -> B"), GAPS, missing="em")), "lack values", "missing='em'", "data=")  # fmt: skip
entry("checkpoint of another fit", F, continued, "x.checkpoint", "of another fit", "seed=None", "seed=1",
      "name another file")  # fmt: skip
entry("checkpoint of another search", F, continued_elsewhere, "x.checkpoint", "'vector_0' must be", "Remove it")
entry("checkpoint with a state of another search", F, lambda w: continued_elsewhere(w, "state_0_plain"), "x.checkpoint",
      "not of this fit", "Remove it")  # fmt: skip

# Tables -------------------------------------------------------------------------------------------------------

entry("rows with gaps that given tables rule out", E_, lambda w: em(fixed={"B": [[1.0, 0.0], [1.0, 0.0]]}, data={
      "A": ["x", None, "y"], "B": ["u", "v", "u"]}), "Rows with B='v' are impossible", "'fixed' or 'init'")  # fmt: skip
entry("rows that given tables rule out", E_, lambda w: em(fixed={"A": {"x": 0.0, "y": 1.0}}, data={
      "A": ["x", "y", "y"], "B": ["u", "v", None]}), "table of 'A'", "'fixed' or 'init'")  # fmt: skip
entry("no start leads anywhere", E_, lambda w: em(fixed={"B": 2 * [[1.0, 0.0]]}, restarts=2), "None of 2 starts",
      "impossible", "Correct")  # fmt: skip
entry("density without bound", E_, lambda w: patched({"learn.directed_em.TableExpectation.log_prior":
      lambda self, model: np.inf}, em), "grows without bound", "Pass a prior")  # fmt: skip
entry("expected counts without room", T, lambda w: w.within(500, lambda: em(RING, RING_ROWS)),
      "16 numbers of expected statistics", "500 B", "sf.config(memory=")  # fmt: skip
entry("gaps of different structures", T, lambda w: gaps() + gaps(scopes=[("A", "B", "C")]), "cannot be added")
entry("damaged gaps", T, lambda w: damaged(), "['A', 'B', 'C']", "weight is out of range")
entry("gaps without room", T, lambda w: w.within(100, lambda: gaps()._within_memory()), "situations", "100 B",
      "sf.config(memory=")  # fmt: skip

# Products of potentials ---------------------------------------------------------------------------------------

entry("inner method that cannot", E_, lambda w: em(RING, RING_ROWS, options={"inner": "closed_form"}),
      "'closed_form' cannot estimate from expected counts")  # fmt: skip
entry("complete rows that a start rules out", E_, lambda w: em(sf.Ising("A:B"), {"A": [0, 1, None], "B": [0, 1, 1]},
      init={"A:B": -1000.0}), "probability zero", "leave out 'init'")  # fmt: skip
entry("rows with gaps that a start rules out", E_, lambda w: em(sf.Cliques("A:B"), {"A": ["x", "x", None],
      "B": ["u", "u", "v"]}, schema={"A": ["x", "y"]}, init={("A", "B"): 2 * [[1e200, 1e-200]]}), "1 situation: B='v'",
      "leave out 'init'")  # fmt: skip
entry("graph too wide for EM", E_, lambda w: all_pairs(w, 1), "too wide", "sf.config(memory=", "narrower")
entry("rows that lack too much", M, lambda w: all_pairs(w, 14), "['v0', 'v1', ", "16,384 cells", "sf.config(memory=",
      "rows that lack many of them")  # fmt: skip
