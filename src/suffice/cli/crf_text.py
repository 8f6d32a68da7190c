"""Files of sentences: the features that a tagger takes, the labels, and the lines as they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suffice.data.column_text import ColumnText, read_columns
from suffice.data.crfsuite_text import read_attributes
from suffice.errors import ArgumentError, DataError
from suffice.io.chain_file import TextLayout
from suffice.text import plural


@dataclass(frozen=True, eq=False)
class Sentences:
    """The sentences of a file.

    Attributes
    ----------
    path : str
    inputs : ColumnText, or list of list of positions
        What a tagger takes.
    columns : tuple of list of str
        What stands on the lines, labels and all; of a file with attributes only the labels.
    lengths : list of int
        Those of the sentences.
    labels : list of list of str, or None
        None where the file has none.
    weights : list of float or None
        How often each sentence counts.
    layout : TextLayout
    """

    path: str
    inputs: Any
    columns: tuple[list[str], ...]
    lengths: Sequence[int]
    labels: list[list[str]] | None
    weights: list[float] | None
    layout: TextLayout

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all sentences."""
        return sum(self.lengths)

    def said(self) -> str:
        """Say how much there is."""
        return f"{plural(len(self.lengths), 'sentence')}, {plural(self.n_tokens, 'token')}"

    def true_labels(self) -> list[list[str]]:
        """Return the labels, which must be there."""
        if self.labels is None:
            raise DataError(
                f"{self.path!r} has {plural(self.layout.n_columns, 'column')}, as many as the features that the model "
                "was learnt from, so that there are no labels to compare with. Add them as in the file learnt from."
            )
        return self.labels


def read_training(path: str, attributes: bool, label_column: int, separator: str | None, encoding: str) -> Sentences:
    """Read a file that has labels."""
    if attributes:
        found = _of_attributes(path, encoding)
    else:
        text = read_columns(path, separator=separator, encoding=encoding)
        width = len(text.columns)
        if text.n_tokens and width < 2:
            raise DataError(
                f"{path!r} has one column, where a token and its label are needed. Put blanks or a tabulator between "
                "columns, and say which by --separator if it is something else."
            )
        if text.n_tokens and not -width <= label_column < width:
            raise ArgumentError(
                f"The option --label-column names column {label_column}, but {path!r} has {width}: 0 to {width - 1}, "
                "or -1 for the last."
            )
        at = label_column % max(width, 1)
        found = _of_columns(path, text, TextLayout("columns", max(width - 1, 0), at, separator), has_labels=True)
    if not found.n_tokens:
        raise DataError(f"{path!r} has no tokens, so that there is nothing to learn from.")
    _require_labels(found)
    return found


def read_like(path: str, layout: TextLayout, separator: str | None, encoding: str) -> Sentences:
    """Read a file like the one that a model was learnt from, with labels or without."""
    if layout.kind == "attributes":
        return _of_attributes(path, encoding)
    text = read_columns(path, separator=layout.separator if separator is None else separator, encoding=encoding)
    width, n = len(text.columns), layout.n_columns
    if text.n_tokens and width not in (n, n + 1):
        raise DataError(
            f"{path!r} has {plural(width, 'column')}, but the model was learnt from {n}, and the labels at column "
            f"{layout.label_column}, counted from 0. Give the same columns, with labels or without."
        )
    return _of_columns(path, text, layout, has_labels=width == n + 1)


def read_tagged(path: str, separator: str | None, encoding: str) -> tuple[list[list[str]], list[list[str]]]:
    """Read true and predicted labels, the last two columns."""
    if path.lower().endswith(".crf"):
        raise ArgumentError(f"{path!r} is a model. Say what it is to tag, too: suffice crf eval MODEL FILE.")
    text = read_columns(path, separator=separator, encoding=encoding)
    if text.n_tokens and len(text.columns) < 2:
        raise DataError(
            f"{path!r} has one column, where the true and the predicted label are needed as the last two. With a "
            "model, give both: suffice crf eval MODEL FILE."
        )
    return (text.sentences(-2), text.sentences(-1)) if text.n_tokens else ([], [])


def _of_columns(path: str, text: ColumnText, layout: TextLayout, has_labels: bool) -> Sentences:
    columns, labels = text.columns, None
    if has_labels and columns:
        labels = text.sentences(layout.label_column)
        columns = columns[: layout.label_column] + columns[layout.label_column + 1 :]
    inputs = ColumnText(columns, text.offsets, text.line_numbers)
    lengths = (text.offsets[1:] - text.offsets[:-1]).tolist()
    return Sentences(path, inputs, text.columns, lengths, labels, None, layout)


def _of_attributes(path: str, encoding: str) -> Sentences:
    text = read_attributes(path, encoding=encoding)
    lengths = [len(labels) for labels in text.labels]
    labels = None if not any(map(any, text.labels)) else text.labels
    flat = [label for labels in text.labels for label in labels]
    return Sentences(
        path, text.features, (flat,) if labels else (), lengths, labels, text.weights, TextLayout("attributes")
    )


def _require_labels(found: Sentences) -> None:
    """Refuse a token without a label, which a separator such as a tabulator lets happen."""
    for number, labels in enumerate(found.labels or (), 1):
        if not all(labels):
            raise DataError(
                f"{found.path!r}, sentence {number:,}: token {labels.index('') + 1} has no label. Give every token one."
            )
    if found.labels is None:
        raise DataError(f"{found.path!r} has no labels: every line begins with a tabulator. Put them before it.")
