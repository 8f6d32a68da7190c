"""Errors of files of chains of labels, and of CRFsuite's text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from tests.error_catalogue import A, D, F, World, entry

import suffice as sf
from suffice.data.crfsuite_text import read_attributes
from suffice.files import read_arrays, write_arrays
from suffice.io.chain_file import KIND, VERSION
from suffice.sklearn.base import UnavailableError

X, Y = [[{"w": "the"}, {"w": "cat"}]], [["D", "N"]]


@cache
def _tagger() -> sf.ChainCRF:
    return sf.ChainCRF(step_features=["w"]).fit(X, Y)


def _loaded(w: World) -> Any:
    _tagger().save(w.path("m.crf"))
    return sf.ChainCRF.load(w.path("m.crf"))


def _alone(w: World) -> Any:
    sf.write(_tagger().model_, w.path("m.crf"))
    return sf.ChainCRF.load(w.path("m.crf"))


def _edited(name: str, change: Callable[[dict[str, Any], dict[str, Any]], Any], *says: str) -> None:
    def call(w: World) -> Any:
        _tagger().save(w.path("m.crf"))
        meta, arrays = read_arrays(w.path("m.crf"), KIND, VERSION)
        change(meta, arrays)
        write_arrays(w.path("m.crf"), KIND, VERSION, meta, arrays)
        return sf.read(w.path("m.crf"))

    entry(name, F, call, "m.crf", "no proper chain of labels", "Write or copy it again", *says)


entry("fit of a tagger from a file", UnavailableError, lambda w: _loaded(w).fit_, "no fit_", "read from a file",
      "It said: Certified", "fit(X, y)")  # fmt: skip
entry("tagger from a model alone", F, _alone, "holds a model alone", "sf.read", "save(path)")
entry("network in a .crf file", A, lambda w: sf.write(w.network(), w.path("m.crf")), ".crf file",
      "Got BayesianNetwork", "save(path)")  # fmt: skip
entry("tagger in a .crf file", A, lambda w: sf.write(_tagger(), w.path("m.crf")), "Got ChainCRF", "save(path)")
entry("fit of labels in a .json file", A, lambda w: sf.write(_tagger().fit_, w.path("m.json")),
      "a fit of ChainModel", ".crf file")  # fmt: skip
_edited("chain without an entry", lambda meta, arrays: meta.pop("proof"), "no entry 'proof'")
_edited("chain of negative codes", lambda meta, arrays: arrays.update(labels=-arrays["labels"].astype(np.int8)),
        "'labels'", "whole numbers")  # fmt: skip
_edited("chain of codes too large", lambda meta, arrays: arrays.update(pairs=arrays["pairs"] + np.uint8(4)),
        "'pairs'", "below 4")  # fmt: skip
_edited("chain of too few codes", lambda meta, arrays: arrays.update(labels=arrays["labels"][1:]), "'labels'", "It has")
_edited("chain without names of steps", lambda meta, arrays: meta.update(step_vocabulary=None), "attributes of steps")
_edited("chain of odd weights", lambda meta, arrays: arrays.update(weights=arrays["weights"][None]), "'weights'",
        "list of numbers")  # fmt: skip
_edited("chain of other labels", lambda meta, arrays: arrays.update(layout=arrays["layout"] + [1, 0, 0]), "3 labels",
        "2 are named")  # fmt: skip
_edited("chain of names of no kind", lambda meta, arrays: meta.update(vocabulary="odd"), "no kind 'odd'")
_edited(
    "chain of names as numbers", lambda meta, arrays: arrays.update(names=arrays["names"] * 1.0), "'names'", "bytes"
)
_edited("chain of names not packed", lambda meta, arrays: arrays.update(names=arrays["names"] * 0), "unpacked")
_edited("chain of names cut", lambda meta, arrays: arrays.update(names_lengths=arrays["names_lengths"] + np.uint8(1)),
        "not as long as is told")  # fmt: skip
_edited("chain of too few names", lambda meta, arrays: arrays.update(start_sizes=np.append(arrays["start_sizes"], [0])),
        "3 attributes have weights", "2 different names")  # fmt: skip
_edited("chain of other buckets", lambda meta, arrays: meta["reading"].update(n_buckets=8), "8 buckets")
_edited("chain of labels beside the columns",
        lambda meta, arrays: meta.update(
            layout={"kind": "columns", "n_columns": 1, "label_column": 2, "separator": None}
        ), "column 2", "1 others")  # fmt: skip
entry("attribute with a word for a value", D, lambda w: read_attributes(["X\ta", "Y\tb:c"]), "line 2", "'b:c'",
      "no finite number", r"\:")  # fmt: skip
