"""Files of sentences: the features that a tagger takes, the labels, and the lines as they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from suffice.cli.crf_source import TextOptions, TextSource, begins_with, columns_of, open_text
from suffice.cli.crf_tagged import PROBABILITY, best_alone
from suffice.data.column_text import ColumnText
from suffice.data.crfsuite_text import read_attributes
from suffice.errors import ArgumentError, DataError
from suffice.files import MAGIC
from suffice.io.chain_file import TextLayout
from suffice.text import plural


@dataclass(frozen=True, eq=False)
class Sentences:
    """The sentences of a file.

    Attributes
    ----------
    source : TextSource
    inputs : ColumnText, or list of list of positions
        What a tagger takes.
    line_numbers : list of int
        The line of each token, from 1.
    lengths : list of int
        Those of the sentences.
    labels : list of list of str, or None
        None where the file has none.
    weights : list of float or None
        How often each sentence counts.
    layout : TextLayout
    """

    source: TextSource
    inputs: Any
    line_numbers: Sequence[int]
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
                f"{self.source.name} has {plural(self.layout.n_columns, 'column')}, as many as the features that the "
                "model was learnt from, so that there are no labels to compare with. Add them as in the file "
                "learnt from."
            )
        return self.labels

    def text(self) -> tuple[list[str], Sequence[int]]:
        """Return lines to put labels on, and the number of each token's; of attributes only labels and blank ones."""
        lines = self.source.lines()
        if self.layout.kind == "columns":
            return lines, self.line_numbers
        labels = chain(*(self.labels or ([""] * length for length in self.lengths)))
        of_line = dict(zip(self.line_numbers, labels, strict=True))
        kept = [number for number, line in enumerate(lines, 1) if number in of_line or not line.strip()]
        numbers = [place for place, number in enumerate(kept, 1) if number in of_line]
        return [of_line.get(number, "") for number in kept], numbers


def read_training(path: str, attributes: bool, label_column: int, options: TextOptions) -> Sentences:
    """Read a file that has labels."""
    source = open_text(path, options.encoding)
    if attributes:
        found = _of_attributes(source, options)
        _require_attributes(found)
    else:
        text = columns_of(source, options)
        width = len(text.columns)
        if text.n_tokens and width < 2:
            raise DataError(
                f"{source.name} has one column, where a token and its label are needed. Put blanks or a tabulator "
                "between columns, and say which by --separator if it is something else."
            )
        if text.n_tokens and not -width <= label_column < width:
            raise ArgumentError(
                f"The option --label-column names column {label_column}, but {source.name} has {width}: 0 to "
                f"{width - 1}, or -1 for the last."
            )
        at = label_column % max(width, 1)
        layout = TextLayout("columns", max(width - 1, 0), at, options.separator)
        found = _of_columns(source, text, layout, has_labels=True)
    if not found.n_tokens:
        raise DataError(f"{source.name} has no tokens, so that there is nothing to learn from.")
    _require_labels(found)
    return found


def read_like(path: str, layout: TextLayout, options: TextOptions) -> Sentences:
    """Read a file like the one that a model was learnt from, with labels or without."""
    source = open_text(path, options.encoding)
    if layout.kind == "attributes":
        return _of_attributes(source, options)
    text = columns_of(source, replace(options, separator=options.separator or layout.separator))
    width, n = len(text.columns), layout.n_columns
    if text.n_tokens and width not in (n, n + 1):
        raise DataError(
            f"{source.name} has {plural(width, 'column')}, but the model was learnt from {n}, and the labels at column "
            f"{layout.label_column}, counted from 0. Give the same columns, with labels or without."
        )
    return _of_columns(source, text, layout, has_labels=width == n + 1)


def read_tagged(path: str, options: TextOptions) -> tuple[list[list[str]], list[list[str]]]:
    """Read true and predicted labels, the last two columns; of several labellings of a sentence, the best."""
    if path.lower().endswith(".crf") or begins_with(path, MAGIC):
        raise ArgumentError(f"{path!r} is a model. Say what it is to tag, too: suffice crf eval MODEL FILE.")
    source = open_text(path, options.encoding)
    text = columns_of(source, options, best_alone(source.lines(), options.comment))
    if not text.n_tokens:
        raise DataError(f"{source.name} has no tokens, so that there is nothing to compare.")
    if len(text.columns) < 2:
        raise DataError(
            f"{source.name} has one column, where the true and the predicted label are needed as the last two. With a "
            "model, give both: suffice crf eval MODEL FILE."
        )
    if all(map(PROBABILITY.fullmatch, text.columns[-1])):
        raise DataError(
            f"The last columns of {source.name} are probabilities of labels, where the true and the predicted label "
            "are needed. Tag without --marginals, or give the model: suffice crf eval MODEL FILE."
        )
    return text.sentences(-2), text.sentences(-1)


def _of_columns(source: TextSource, text: ColumnText, layout: TextLayout, has_labels: bool) -> Sentences:
    columns, labels = text.columns, None
    if has_labels and columns:
        labels = text.sentences(layout.label_column)
        columns = columns[: layout.label_column] + columns[layout.label_column + 1 :]
    inputs = ColumnText(columns, text.offsets, text.line_numbers)
    lengths = (text.offsets[1:] - text.offsets[:-1]).tolist()
    return Sentences(source, inputs, text.line_numbers.tolist(), lengths, labels, None, layout)


def _of_attributes(source: TextSource, options: TextOptions) -> Sentences:
    if options.comment is not None:
        raise ArgumentError("Files of attributes have no comments: a label comes first. Leave --comment out.")
    text = read_attributes(source.content, encoding=options.encoding, name=source.name)
    lengths = [len(labels) for labels in text.labels]
    labels = None if not any(map(any, text.labels)) else text.labels
    numbers = list(chain(*text.lines))
    return Sentences(source, text.features, numbers, lengths, labels, text.weights, TextLayout("attributes"))


def _require_attributes(found: Sentences) -> None:
    """Refuse lines of labels alone, as columns with blanks between them look."""
    if found.n_tokens and not any(chain(*found.inputs)):
        raise DataError(
            f"{found.source.name} has no attributes: there is no tabulator behind a label. Write LABEL, a tabulator, "
            "and attributes with tabulators between them; columns of words are read by --template, without "
            "--attributes."
        )


def _require_labels(found: Sentences) -> None:
    """Refuse a token without a label, which a separator such as a tabulator lets happen."""
    for number, labels in enumerate(found.labels or (), 1):
        if not all(labels):
            raise DataError(
                f"{found.source.name}, sentence {number:,}: token {labels.index('') + 1} has no label. Give every "
                "token one."
            )
    if found.labels is None:
        raise DataError(f"{found.source.name} has no labels: every line begins with a tabulator. Put them before it.")
