"""Features of sequences for the shells: as they are, or made from columns of text by templates."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.data.attributes import Attributes, LabelledSequences, Vocabulary, offsets_of
from suffice.data.column_text import ColumnText, text_lines
from suffice.data.position_features import read_features
from suffice.data.position_matrices import SparseMatrix
from suffice.data.stream import checked_weights
from suffice.data.window_templates import Templates
from suffice.errors import ArgumentError, DataError, Mention, Text, listing, shown
from suffice.sklearn.tables import has_columns
from suffice.sklearn.words import Words, in_words, no_parameter
from suffice.text import plural
from suffice.types import Array, Floats, Json, PathLike

ALL = "all"
Position: TypeAlias = Mapping[str, Json] | Iterable[str]
"""Features with their values, names of features, or a row of texts for templates."""
SequencesLike: TypeAlias = Iterable[Iterable[Position] | Array | SparseMatrix] | ColumnText
"""Sequences of positions, or matrices with one row per position."""
StepFeatures: TypeAlias = str | Iterable[str] | None


@dataclass(frozen=True, eq=False)
class SequenceInputs:
    """Sequences in codes, with the vocabularies that the codes are of.

    Attributes
    ----------
    sequences : LabelledSequences
        Without labels.
    vocabulary : Vocabulary
    step_vocabulary : Vocabulary or None
    n_unknown : int
        Attributes that were left out, since they are not in the vocabulary.
    unknown : str
        The name of one of them.
    """

    sequences: LabelledSequences
    vocabulary: Vocabulary
    step_vocabulary: Vocabulary | None
    n_unknown: int = 0
    unknown: str = ""

    @property
    def are_strange(self) -> bool:
        """Whether there are attributes, and not one of them is in the vocabularies."""
        steps = self.sequences.steps
        n_known = len(self.sequences.states.codes) + (0 if steps is None else len(steps.codes))
        return self.n_unknown > 0 and not n_known

    def require_known(self, name: str, stacklevel: int) -> SequenceInputs:
        """Return these inputs, and warn if they are strange: most likely their names are made in another way."""
        known = self.vocabulary.names or (() if self.step_vocabulary is None else self.step_vocabulary.names)
        if not self.are_strange or not known:
            return self
        if known == tuple(map(str, range(len(known)))):
            raise DataError(
                f"The tagger learnt from matrices of {plural(len(known), 'column')}, and the {name!r} argument has "
                f"positions with names, such as {shown(self.unknown)}. Give matrices with the same columns."
            )
        warnings.warn(
            Text(
                "Not one attribute of ",
                Mention(name, name),
                " is known to the model, so that labels follow from transitions alone: ",
                Mention(name, name),
                f" has names such as {shown(self.unknown)}, and the model such as {shown(known[0])}. Make "
                "features as for training.",
            ),
            UserWarning,
            stacklevel=stacklevel,
        )
        return self


@dataclass(frozen=True)
class SequenceReader:
    """How X is read.

    Attributes
    ----------
    templates : Templates or None
        Those that make features from columns of text.
    step_features : None, "all", or tuple of str
        The features that are also attributes of steps, by name.
    n_buckets : int
        Zero unless names are hashed.
    """

    templates: Templates | None = None
    step_features: str | tuple[str, ...] | None = None
    n_buckets: int = 0

    def read(
        self, X: SequencesLike, vocabulary: Vocabulary | None = None, step_vocabulary: Vocabulary | None = None
    ) -> SequenceInputs:
        """Return X in codes of the vocabularies; without them, they are made."""
        if self.templates is not None:
            offsets, columns = _columns(X)
            found = self.templates.expand(columns, offsets, vocabulary, step_vocabulary, self.n_buckets)
            sequences = LabelledSequences(offsets, found.states, None, found.steps)
            return SequenceInputs(sequences, found.vocabulary, found.step_vocabulary, found.n_unknown, found.unknown)
        if isinstance(X, ColumnText):
            raise ArgumentError("Columns of text have no features by themselves. Pass templates=… that make some.")
        read = read_features(X, vocabulary, n_buckets=self.n_buckets)
        steps = self._steps(read.states, read.vocabulary, step_vocabulary)
        sequences = LabelledSequences(read.offsets, read.states, None, steps[0])
        return SequenceInputs(sequences, read.vocabulary, steps[1], read.n_unknown, read.unknown)

    def _steps(
        self, states: Attributes, vocabulary: Vocabulary, known: Vocabulary | None
    ) -> tuple[Attributes | None, Vocabulary | None]:
        """Return the attributes of positions that are attributes of steps too."""
        if self.step_features is None:
            return None, None
        if self.step_features == ALL or vocabulary.is_hashed:
            if self.step_features != ALL:
                raise ArgumentError("Hashed names cannot be told apart. Pass step_features='all', or n_buckets=0.")
            return states, vocabulary
        chosen = self._chosen(vocabulary) if known is None else known
        code = np.array([chosen.index.get(name, -1) for name in vocabulary.names], np.int32)
        keep = code[states.codes] >= 0
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
        values = None if states.values is None else states.values[keep]
        return Attributes(ends[states.starts], code[states.codes[keep]], values, len(chosen)), chosen

    def _chosen(self, vocabulary: Vocabulary) -> Vocabulary:
        """Return the names of features that steps have."""
        names = set(self.step_features or ())
        chosen = tuple(n for n in vocabulary.names if n in names or n.partition(":")[0] in names)
        if not chosen:
            raise DataError(
                f"The 'step_features' argument names {listing(self.step_features or ())}, which no position has. The "
                f"features include {listing(vocabulary.names[:5])}."
            )
        return Vocabulary(chosen)


def reader_of(
    templates: str | PathLike | Templates | None, step_features: StepFeatures, n_buckets: int
) -> SequenceReader:
    """Return the reader that the parameters of a shell ask for."""
    made = _templates(templates)
    steps: str | tuple[str, ...] | None
    if step_features is None or (isinstance(step_features, str) and step_features == ALL):
        steps = step_features
    elif isinstance(step_features, str) or not isinstance(step_features, Iterable):
        raise ArgumentError(
            "The 'step_features' argument must be a list of names of features, 'all', or None. Got "
            f"{shown(step_features)} instead."
        )
    else:
        steps = tuple(step_features)
    if made is not None and steps is not None:
        raise ArgumentError(
            "Templates say themselves which features steps have, by lines that begin with B. Leave 'step_features' out."
        )
    return SequenceReader(made, steps, n_buckets)


def _templates(given: str | PathLike | Templates | None) -> Templates | None:
    """Return templates, from their text or from the file that a path names."""
    if given is None or isinstance(given, Templates):
        return given
    if isinstance(given, os.PathLike) or (isinstance(given, str) and "\n" not in given and os.path.isfile(given)):
        return _of_file(os.fsdecode(given))
    if not isinstance(given, str) or _is_path(given):
        neither = ", and there is no file of that name" if isinstance(given, str) else ""
        raise ArgumentError(
            "The 'templates' argument must be the text of CRF++ templates, such as 'U00:%x[0,0]', the path of a file "
            f"that holds it, or None. Got {shown(given)} instead{neither}."
        )
    return Templates.parse(given)


def _of_file(path: str) -> Templates:
    with in_words(Words({"encoding": no_parameter}, {"its encoding": "Write it in UTF-8"})):
        lines, _ = text_lines(path, "utf-8")
    return Templates.parse("\n".join(lines), path=path)


def _is_path(text: str) -> bool:
    """Whether a text is rather a path than a template.

    >>> _is_path("chunks.template"), _is_path("U0:%x[0,0]"), _is_path("U0")
    (True, False, False)
    """
    if not text.strip() or "\n" in text or "%" in text or text.startswith("#"):
        return False
    return text.lstrip()[0] not in "UB" or any(mark in text for mark in "./\\")


def _columns(X: SequencesLike) -> tuple[NDArray[np.int64], tuple[list[str], ...]]:
    """Return the columns of text that X is: as they were read, or sentences of rows."""
    if isinstance(X, ColumnText):
        return X.offsets, X.columns
    given = _listed(X, "The 'X' argument", "sequences")
    sentences = [_listed(own, f"Sequence {number:,} of 'X'", "positions") for number, own in enumerate(given, 1)]
    rows = [row for sentence in sentences for row in sentence]
    offsets = offsets_of(map(len, sentences))
    width = next((len(row) for row in rows if _is_row(row)), 0)
    for at, row in enumerate(rows):
        if not _is_row(row) or len(row) != width:
            number = int(np.searchsorted(offsets, at, "right"))
            raise DataError(
                f"X, sequence {number}, position {at - int(offsets[number - 1]) + 1}: with templates, a position is a "
                f"row of {width or 'some'} texts, one a column. Got {shown(row)} instead."
            )
    return offsets, tuple([row[column] for row in rows] for column in range(width))


def _listed(value: Any, what: str, parts: str) -> list[Any]:
    if has_columns(value) and hasattr(value, "to_numpy"):
        raise DataError(
            f"{what} must be a list of {parts}. Got a table instead. A table of texts with a row a position is a "
            "sequence by table.to_numpy()."
        )
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise DataError(
            f"{what} must be a list of {parts}, each position a row of texts, since there are templates. Got "
            f"{shown(value)} instead. One sequence alone is [[…]]."
        )
    return list(value)


def _is_row(row: Position) -> TypeGuard[Sequence[str]]:
    """Whether a position is a row of texts."""
    listed = isinstance(row, Collection) and not isinstance(row, str | Mapping | Set)
    return listed and all(isinstance(cell, str) for cell in row)


def _has_features(sample_weight: ArrayLike) -> bool:
    """Whether weights are sequences of features, which were meant to be held out."""
    if not isinstance(sample_weight, list | tuple):
        return isinstance(sample_weight, ColumnText)
    first = next((own[0] for own in sample_weight if isinstance(own, list | tuple) and own), None)
    return isinstance(first, Mapping | list | tuple | set | frozenset)


def sequence_weights(sample_weight: ArrayLike, n_sequences: int) -> Floats:
    """Return how often each sequence counts, after a look at the numbers."""
    if _has_features(sample_weight):
        raise ArgumentError(
            "The third argument of fit is 'sample_weight', and it holds features of sequences. Sequences that are held "
            "out are named: fit(X, y, X_dev=…, y_dev=…)."
        )
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        weights = np.empty((0, 0))
    weights = np.full(n_sequences, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n_sequences,):
        raise DataError(
            f"The 'sample_weight' argument must hold one number a sequence, {n_sequences:,} in all. Got "
            f"{shown(sample_weight)} instead."
        )
    if n_sequences and not weights.any():
        raise DataError("The 'sample_weight' argument must have a weight that is not zero. Got zeros only.")
    return checked_weights(weights, "'sample_weight'")
