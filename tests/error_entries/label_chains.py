"""Errors of inference on chains of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import A, M, entry

import suffice as sf
from suffice.inference.label_chains import Potentials, best_paths, n_best, path_scores, step_marginals
from suffice.settings import settings

TWO = np.zeros((2, 2))


def chain(scores: Any = TWO, steps: Any = TWO, offsets: Any = (0, 2)) -> Potentials:
    return Potentials(np.array(offsets), scores, steps)


def cramped(call: Any) -> Any:
    before = settings().memory
    sf.config(memory=100)
    try:
        return call(chain(np.zeros((9, 2)), TWO, [0, 9]))
    finally:
        sf.config(memory=before)


entry("scores without labels", A, lambda w: chain(np.zeros((2, 0))), "'scores' argument", "one column a label",
      "shape (2, 0)")  # fmt: skip
entry("steps of other labels", A, lambda w: chain(steps=np.zeros((3, 3))), "'steps' argument", "(2, 2)", "(2, 2, 2)",
      "Got (3, 3) instead")  # fmt: skip
entry("offsets of other positions", A, lambda w: chain(offsets=[0, 3]), "'offsets' argument", "from 0 to", "2",
      "Got [0, 3] instead")  # fmt: skip
entry("offsets that fall", A, lambda w: chain(offsets=[0, 2, 1, 2]), "'offsets' argument", "rise", "[0, 2, 1, 2]")
entry("potential that is no number", A, lambda w: chain(np.array([[0, 0], [np.nan, 0]])), "'scores' argument",
      "−inf for what is impossible", "Got nan at (1, 0) instead")  # fmt: skip
entry("potential without bound", A, lambda w: chain(steps=np.array([[0, np.inf], [0, 0]])), "'steps' argument",
      "Got inf at (0, 1) instead")  # fmt: skip
entry("labels of other positions", A, lambda w: path_scores(chain(), [0]), "'labels' argument", "2 positions",
      "shape (1,)")  # fmt: skip
entry("labels in words", A, lambda w: path_scores(chain(), ["B", "I"]), "'labels' argument", "one whole number")
entry("label beyond the last", A, lambda w: path_scores(chain(), [0, 2]), "'labels' argument", "from 0 to 1",
      "Got 2 at position 1 instead")  # fmt: skip
entry("no possible path", M, lambda w: best_paths(chain(np.array([[0, 0], [-np.inf, -np.inf]]))), "Sequence 0",
      "all paths of labels are impossible", "−inf", "Make one path possible")  # fmt: skip
entry("pairs that do not fit", M, lambda w: cramped(step_marginals), "2 labels at 9 positions", "288 B",
      "fewer sequences at a time", "sf.config(memory=…)")  # fmt: skip
entry("no paths asked for", A, lambda w: n_best(chain(), 0), "'n' argument", "at least 1", "Got 0 instead")
entry("paths that do not fit", A, lambda w: cramped(lambda p: n_best(p, 100)), "'n' argument", "100 paths",
      "Ask for fewer", "sf.config(memory=…)")  # fmt: skip
