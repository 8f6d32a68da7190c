"""Errors of learning chains of labels from batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, entry

from suffice.data.attributes import Attributes, LabelledSequences, Vocabulary
from suffice.data.sequence_positions import PositionTable
from suffice.data.variable import Variable
from suffice.fitting import fit
from suffice.learn.chain_batches import _in_memory
from suffice.structures.label_chain import LabelChain

ROWS = Attributes(np.arange(4), np.array([0, 1, 0], np.int32), None, 2)
TABLE = PositionTable(
    LabelledSequences(np.array([0, 2, 3]), ROWS, np.array([0, 1, 1], np.int32)), Variable("label", ("a", "b"))
)


def _with(**options: Any) -> Any:
    return fit(LabelChain(Vocabulary(("x", "z"))), TABLE, method="adagrad", options=options)


entry("batch of no positions", A, lambda w: _with(batch=0), "'batch' option", "Got 0 instead")
entry("rate of zero", A, lambda w: _with(rate=0.0), "'rate' option", "positive number", "None", "Got 0.0 instead")
entry("fall of one", A, lambda w: _with(fall=1), "'fall' option", "less than 1", "Got 1 instead")
entry("batches of data elsewhere", E_, lambda w: _in_memory(object()),  # type: ignore[arg-type]
      "sequences in memory", "'lbfgs'", "'owlqn'")  # fmt: skip
