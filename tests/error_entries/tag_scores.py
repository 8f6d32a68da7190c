"""Errors of scores of tags, and of tables and pictures of the weights of chains."""

from __future__ import annotations

import numpy as np
from tests.error_catalogue import A, D, U, entry

from suffice.data.attributes import Vocabulary
from suffice.data.variable import Variable
from suffice.models.chain_layout import ChainLayout
from suffice.models.chain_model import ChainModel
from suffice.report.chain_weights import chain_weights_plot
from suffice.result.chain_weights import state_table, transition_table
from suffice.result.tag_scores import spans, tag_scores
from suffice.structures.label_chain import LabelChain


def _chain() -> ChainModel:
    layout = ChainLayout(
        2, np.array([0, 2]), np.array([0, 1], np.int32), np.arange(4, dtype=np.int32), False, False,
        np.zeros(1, np.int64), np.zeros(0, np.int32),
    )  # fmt: skip
    return ChainModel(LabelChain(Vocabulary(("the",))), Variable("tag", ("A", "B")), layout, np.linspace(-2, 3, 6))


# Scores -------------------------------------------------------------------------------------------------------

entry("tags of no list", D, lambda w: tag_scores(3, [["O"]]), "'y_true' argument", "[['B-NP', 'O'], …]", "Got 3")
entry("tags as text", D, lambda w: tag_scores([["O"]], "O"), "'y_pred' argument", "list of lists", "Got 'O'")
entry("tags of one sequence", D, lambda w: tag_scores(["B-NP", "O"], ["B-NP", "O"]), "Sequence 1 of 'y_true'",
      "Got 'B-NP'", "a list of their own")  # fmt: skip
entry("tags of different sequences", D, lambda w: tag_scores([["O"]], [["O"], ["O"]]), "1 sequence,", "has 2",
      "same sequences")  # fmt: skip
entry("tags of different lengths", D, lambda w: tag_scores([["O"], ["O", "O"]], [["O"], ["O"]]), "Sequence 2",
      "2 tags in 'y_true'", "1 in 'y_pred'", "one tag a token")  # fmt: skip
entry("tag without a letter", D, lambda w: tag_scores([["O"], ["O", "NP"]], [["O"], ["O", "O"]]),
      "Sequence 2 of 'y_true': tag 2 is 'NP'", "B-, I-", "scheme='none'")  # fmt: skip
entry("predicted tag of another scheme", D, lambda w: tag_scores([["O"]], [["E-NP"]], scheme="iob2"),
      "Sequence 1 of 'y_pred': tag 1 is 'E-NP'", "scheme='iob2'", "another scheme")  # fmt: skip
entry("tag that is no text", D, lambda w: tag_scores([["O", 3]], [["O", "O"]]), "tag 2 is 3", "scheme='none'")
entry("tag that is a list", D, lambda w: tag_scores([["O", ["O"]]], [["O", "O"]]), "tag 2 is ['O']", "text or a number")
entry("missing tag", D, lambda w: tag_scores([["O", None]], [["O", "O"]]), "Sequence 1 of 'y_true': tag 2 is missing",
      "Leave")  # fmt: skip
entry("tag NaN", D, lambda w: tag_scores([[1.0]], [[float("nan")]], scheme="none"), "'y_pred': tag 1 is missing")
entry("unknown scheme", A, lambda w: tag_scores([], [], scheme="bio"), "'scheme' argument", "'iob2'", "Got 'bio'")
entry("spans without a scheme", A, lambda w: spans(["O"], "none"), "'scheme' argument", "'conll'", "Got 'none'")
entry("scores of two schemes", A, lambda w: tag_scores([], []) + tag_scores([], [], scheme="none"),
      "'conll' and 'none'", "one scheme")  # fmt: skip
entry("score of no type", U, lambda w: tag_scores([["B-NP"]], [["B-NP"]]).by_type["NPP"], "no type 'NPP'", "['NP']",
      "Did you mean 'NP'?")  # fmt: skip

# Weights of chains --------------------------------------------------------------------------------------------

entry("weights of no chain", A, lambda w: state_table(w.dag), "'model' argument", "sf.ChainCRF", "sf.MEMM", "after fit")
entry("weights of no label", U, lambda w: state_table(_chain(), label="C"), "no state 'C'", "['A', 'B']")
entry("no weights", A, lambda w: state_table(_chain(), 0), "'n' argument", "at least 1", "Got 0")
entry("unknown choice of weights", A, lambda w: transition_table(_chain(), largest="top"), "'largest' argument",
      "'positive'", "Got 'top'")  # fmt: skip
entry("too many bars", A, lambda w: chain_weights_plot(_chain(), 1000), "'n' argument", "at most 200", "Got 1,000",
      "state_table")  # fmt: skip
entry("picture of no kind", A, lambda w: chain_weights_plot(_chain(), path=w.folder / "a.txt"), "'path' argument",
      "'png'", "a.txt")  # fmt: skip
