"""Errors of chains of labels that concern memory, what is held out, and statistics of other names."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import E_, A, M, T, entry
from tests.error_entries.chain import fit, toy

import suffice as sf
from suffice.data.attributes import Vocabulary
from suffice.data.graph_codes import GraphTable
from suffice.data.graph_reading import read_graphs
from suffice.data.variable import Variable
from suffice.structures.label_chain import LabelChain
from suffice.structures.label_graph import LabelGraph

X = [[["a", "b"], ["a"]] * 40]
Y = [["u", "v"] * 40]


def of_other_names() -> Any:
    table, other = toy().table, LabelChain(Vocabulary(("w", "x", "y", "z")))
    return sf.estimate(other, sf.collect(toy().structure(), table), data=table)


def graphs(states: tuple[str, str], **options: Any) -> Any:
    read = read_graphs([sf.Graph([["a"], ["b"]])])
    codes = read.graphs.labelled(np.array([0, 1], np.int32))
    structure, table = LabelGraph(read.words.nodes), GraphTable(codes, Variable("label", ("p", "q")))
    if options:
        return sf.fit(structure, table, **options)
    return sf.estimate(structure, sf.collect(structure, table), data=GraphTable(codes, Variable("label", states)))


entry("weights beside graphs in codes", A, lambda w: graphs(("p", "q"), weights=[1.0, 2.0]), "weights of their own",
      "Leave 'schema' and 'weights' out")  # fmt: skip
entry("graphs whose labels are in another order", A, lambda w: graphs(("q", "p")), "labels and weights of their own",
      "Leave 'schema' and 'weights' out")  # fmt: skip
entry("text in place of what is held out", A, lambda w: fit(options={"held_out": "dev.txt"}), "'held_out' option",
      "over the labels of the data", "Got 'dev.txt' instead")  # fmt: skip
entry("a long sequence with features of steps", E_,
      lambda w: w.within(5_000, lambda: sf.ChainCRF(step_features="all").fit(X, Y)), "80 positions", "2 × 2 labels",
      "sf.config(memory=…)", "leave the features of steps out")  # fmt: skip
entry("a long sequence to tag by a MEMM", M, lambda w: w.within(5_000, lambda: sf.MEMM().fit(X, Y).predict(X)),
      "80 positions", "2 × 2 labels", "sf.config(memory=…)", "shorter")  # fmt: skip
entry("statistics of another vocabulary", T, lambda w: of_other_names(), "do not contain", "Collect again")
