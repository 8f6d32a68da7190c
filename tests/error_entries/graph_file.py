"""Errors of files of labels of graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from tests.error_catalogue import F, World, entry

import suffice as sf
from suffice.files import read_arrays, write_arrays
from suffice.io.graph_file import KIND, VERSION
from suffice.sklearn.base import UnavailableError


@cache
def _fitted() -> sf.GraphCRF:
    graph = sf.Graph([["a"], ["b"]], {"near": [(0, 1)], "far": [(0, 1)]})
    return sf.GraphCRF().fit([graph], [["p", "q"]])


def _loaded(w: World) -> sf.GraphCRF:
    _fitted().save(w.path("m.graph"))
    return sf.GraphCRF.load(w.path("m.graph"))


def _edited(name: str, change: Callable[[dict[str, Any], dict[str, Any]], Any], *says: str) -> None:
    def call(w: World) -> Any:
        _fitted().save(w.path("m.graph"))
        meta, arrays = read_arrays(w.path("m.graph"), KIND, VERSION)
        change(meta, arrays)
        write_arrays(w.path("m.graph"), KIND, VERSION, meta, arrays)
        return sf.GraphCRF.load(w.path("m.graph"))

    entry(name, F, call, "m.graph", "no proper graph model", "Write or copy it again", *says)


def _chain(w: World) -> Any:
    sf.ChainCRF().fit([[["a"], ["b"]]], [["p", "q"]]).save(w.path("m.crf"))
    return sf.GraphCRF.load(w.path("m.crf"))


entry("fit of a graph CRF from a file", UnavailableError, lambda w: _loaded(w).fit_, "no fit_", "read from a file",
      "It said: Certified", "fit(X, y)")  # fmt: skip
entry("errors of a graph CRF from a file", UnavailableError, lambda w: _loaded(w).standard_errors(), "read from a file")
entry("graph CRF from a file of a chain", F, _chain, "m.crf", "'chain model'", "'graph model' was expected")
_edited("graph model without an entry", lambda meta, arrays: meta.pop("proof"), "no entry 'proof'")
_edited("graph model without labels", lambda meta, arrays: meta["schema"][0].update(states=[]), "labels")
_edited("graph model of labels without names", lambda meta, arrays: meta["schema"][0].update(states=None), "names")
_edited("graph model of odd units", lambda meta, arrays: arrays.update(units=-arrays["units"]), "'units'", "above zero")
_edited("graph model of odd weights", lambda meta, arrays: arrays.update(weights=arrays["weights"] + np.nan),
        "'weights'", "finite")  # fmt: skip
_edited("graph model of large cliques", lambda meta, arrays: meta["tables"][1].update(size=65), "1 to 64", "not 65")
_edited("graph model of huge tables", lambda meta, arrays: meta["tables"][1].update(size=60), "Its tables would need",
        "sf.config(memory=…)")  # fmt: skip
_edited("graph model of kinds of one name", lambda meta, arrays: meta["tables"][1].update(name="far"), "same name")
_edited("graph model of too many names", lambda meta, arrays: meta["tables"][0].update(n_attributes=999),
        "999 attributes")  # fmt: skip
_edited("graph model of other bits", lambda meta, arrays: arrays.update(kept=arrays["kept"][1:]), "'kept'", "bits")
