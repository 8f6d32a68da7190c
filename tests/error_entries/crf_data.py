"""Errors of features, labels, text in columns and templates of windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.error_catalogue import A, D, World, X, entry

from suffice.data.attributes import Vocabulary
from suffice.data.column_text import read_columns
from suffice.data.label_codes import read_labels
from suffice.data.position_features import read_features
from suffice.data.variable import Variable
from suffice.data.window_templates import Templates

TAGS = Variable("tag", ("noun", "verb"))


def labels(*sequences: Any, **options: Any) -> Any:
    """Read the labels of two sequences, of two positions and one."""
    return read_labels(sequences, np.array([0, 2, 3]), **options)


def expanded(text: str, *columns: list[str]) -> Any:
    return Templates.parse(text).expand(columns, np.array([0, 2]))


def columns(world: World, content: bytes, name: str = "text.txt", **options: Any) -> Any:
    return read_columns(world.file(name, content), **options)


# Features -------------------------------------------------------------------------------------------------------

entry(
    "features that are no list", D, lambda w: read_features({"a": 1}), "'X' argument", "Got {'a': 1} instead", "[[…]]"
)
entry("features of one sequence", D, lambda w: read_features([{"a": 1}]), "Sequence 1 of 'X'", "list of positions",
      "[[…]]")  # fmt: skip
entry("a position that is a text", D, lambda w: read_features([["a"]]), "Sequence 1, position 1 of 'X'",
      "Write ['a'] for one feature")  # fmt: skip
entry("a feature that is None", D, lambda w: read_features([[{}, {"a": None}]]), "Sequence 1, position 2 of 'X'",
      "'a' is None", "Leave the name out")  # fmt: skip
entry("buckets of features", A, lambda w: read_features([], n_buckets=-1), "'n_buckets' argument", "Got -1 instead")
entry("a list among matrices", D, lambda w: read_features([np.eye(2), [["a"]]]), "Sequence 2 of 'X'", "as others are",
      "in one way")  # fmt: skip
entry("matrices of two widths", D, lambda w: read_features([np.eye(2), np.eye(3)]), "Sequence 2 of 'X' has 3 columns",
      "those before have 2")  # fmt: skip
entry("a matrix of features with a gap", D, lambda w: read_features([np.eye(2), np.array([[0, np.nan]])]),
      "Sequence 2, position 1 of 'X': column 1 holds nan", "write 0")  # fmt: skip
entry("a matrix beside its vocabulary", D, lambda w: read_features([np.eye(2)], Vocabulary(("a",))), "have 2 columns",
      "the vocabulary has 1", "in training")  # fmt: skip

# Labels ---------------------------------------------------------------------------------------------------------

entry("labels that are no list", D, lambda w: read_labels("NV", np.array([0, 2])), "'y' argument", "Got 'NV'", "[[…]]")
entry("labels in one flat list", D, lambda w: labels("N", "V", "N"), "Sequence 1 of 'y'", "Got 'N' instead", "[[…]]")
entry("labels of too few sequences", D, lambda w: labels(["N", "V"]), "labels of 2 sequences", "Got those of 1")
entry("too many labels in a sequence", D, lambda w: labels(["N", "V"], ["N", "V"]), "Sequence 2 of 'y' has 2 labels",
      "1 position", "one label a position")  # fmt: skip
entry("a label of an odd kind", D, lambda w: labels(["N", 0.5], ["V"]), "Sequence 1, position 2 of 'y'", "Got 0.5")
entry("labels of two kinds", D, lambda w: labels(["N", "V"], [3]), "Sequence 2, position 1 of 'y'",
      "3 stands among texts", "as text")  # fmt: skip
entry("a label that is missing", D, lambda w: labels(["N", None], ["V"]), "Sequence 1, position 2 of 'y'",
      "1 missing label", "missing='drop'")  # fmt: skip
entry("a label that is unknown", D, lambda w: labels(["noun", "nuon"], ["verb"], label=TAGS), "Sequence 1, position 2",
      "'nuon' is not one of ['noun', 'verb']", "Did you mean 'noun'?")  # fmt: skip
entry("labels, missing by another name", A, lambda w: labels(missing="skip"), "'missing' argument", "['error', 'drop']")

# Text in columns ------------------------------------------------------------------------------------------------

entry("columns of no file", X, lambda w: read_columns(w.path("none.txt")), "Cannot read", "none.txt", "Check the path")
entry("columns of a folder", X, lambda w: read_columns(w.folder), "Cannot read")
entry("columns of a damaged file", D, lambda w: columns(w, b"the D", "text.txt.xz"), "text.txt.xz' is damaged",
      "Copy it again")  # fmt: skip
entry("columns of a cut-off file", D, lambda w: columns(w, b"BZh9", "text.bz2"), "is damaged or cut off")
entry("columns of another encoding", D, lambda w: columns(w, b"the D\n\xe9t\xe9 N"), "text.txt', line 2", "not utf-8",
      "encoding='latin-1'")  # fmt: skip
entry(
    "columns of no encoding", A, lambda w: columns(w, b"the D", encoding="utf-x"), "'encoding' argument", "Got 'utf-x'"
)
entry("columns that are ragged", D, lambda w: columns(w, b"the D\n\ncat N x"), "text.txt', line 3: found 3 columns",
      "line 1 has 2")  # fmt: skip
entry("columns of a text", A, lambda w: read_columns("the D\ncat N"), "path or a list of lines", "text.splitlines()")
entry("columns of no lines", A, lambda w: read_columns(["the D", b"cat N"]), "Got b'cat N' at line 2")  # type: ignore[list-item]
entry("columns, empty separator", A, lambda w: read_columns([], separator=""), "'separator' argument", "Got ''")

# Templates ------------------------------------------------------------------------------------------------------

entry(
    "template of another letter", A, lambda w: Templates.parse("U0\nX1"), "line 2", "'X1'", "neither U nor B", "# for"
)
entry("template with an unknown macro", A, lambda w: Templates.parse("U0:%t[0]"), "line 1", "'%t[0]' is no macro",
      "%x[row,column]")  # fmt: skip
entry("template that looks far", A, lambda w: Templates.parse("U0:%x[5000,0]"), "line 1", "5,000 rows", "Correct")
entry("template without lines", A, lambda w: Templates.parse("\n#"), "no line", "Add one, such as U0:%x[0,0]")
entry("template of no text", A, lambda w: Templates.parse(3), "must be a text", "Got 3 instead")  # type: ignore[arg-type]
entry("template, ends of no bool", A, lambda w: Templates.parse("U0", ends="yes"), "'ends' argument", "Got 'yes'")  # type: ignore[arg-type]
entry("template, unknown boundary", A, lambda w: Templates.parse("U0", boundary="pad"), "'boundary' argument",
      "['mark', 'omit']")  # fmt: skip
entry("template of a column that is not there", D, lambda w: expanded("U0:%x[0,3]", ["a", "b"]), "'U0:%x[0,3]'",
      "asks for column 3", "there is 1 column", "add the column")  # fmt: skip
entry("columns of two lengths", D, lambda w: expanded("U0:%x[0,0]", ["a", "b"], ["a"]), "Column 1 has 1 entry",
      "2 positions")  # fmt: skip
