"""The labels of sequences as codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.attribute_names import first_seen
from suffice.data.frame import has_columns
from suffice.data.variable import Variable, plain_label, sort_labels
from suffice.errors import DataError, Remedy, listing, require_choice, shown, suggestion
from suffice.text import plural

MISSING = ("error", "drop")
UNKNOWN = ("error", "code")
KINDS = {str: "texts", int: "whole numbers", bool: "bools"}


@dataclass(frozen=True, eq=False)
class LabelRead:
    """Labels in codes.

    Attributes
    ----------
    codes : array of int32, shape (n_positions,)
        -1 for a label that is missing, or that is not among the states.
    label : Variable
        What the codes stand for.
    dropped : array of bool, shape (n_sequences,), or None
        Which sequences lack a label and are to be left out; None where all are whole.
    """

    codes: NDArray[np.int32]
    label: Variable
    dropped: NDArray[np.bool_] | None = None


def read_labels(
    labels: Any,
    offsets: NDArray[np.int64],
    label: Variable | None = None,
    *,
    name: str = "y",
    missing: str = "error",
    unknown: str = "error",
    variable: str = "label",
) -> LabelRead:
    """Read the labels of sequences: texts, whole numbers or bools, all of one kind.

    Parameters
    ----------
    labels : iterable of sequences of labels
        One label a position. None in place of a sequence says that all its labels are missing.
    offsets : array of int64, shape (n_sequences + 1,)
        Where each sequence of features begins.
    label : Variable, optional
        The states that are known. None takes those that occur in whole sequences, sorted.
    name : str
        What errors call the labels.
    missing : {"error", "drop"}
        What to do about labels that are None or NaN: refuse them, or mark their sequences as dropped.
    unknown : {"error", "code"}
        What to do about labels that are no state of ``label``: refuse them, or give them the code -1.
    variable : str
        The name of the variable that is made.

    Examples
    --------
    >>> read = read_labels([["D", "N"], ["V"]], np.array([0, 2, 3]))
    >>> read.codes.tolist(), read.label.states
    ([0, 1, 2], ('D', 'N', 'V'))
    >>> read_labels([["D", None], ["V"]], np.array([0, 2, 3]), missing="drop").dropped.tolist()
    [True, False]
    """
    require_choice("missing", missing, MISSING)
    require_choice("unknown", unknown, UNKNOWN)
    sequences = _sequences(labels, offsets, name)
    place = _Place(offsets, name)
    distinct, codes = _distinct(list(chain.from_iterable(sequences)), place)
    gaps = _table(_is_missing(value) for value in distinct)[codes]
    dropped = _dropped(gaps, place, missing)
    kept = ~gaps if dropped is None else np.repeat(~dropped, np.diff(offsets))
    if label is None:
        used = np.zeros(len(distinct), bool)
        used[codes[kept]] = True
        states = [value for value, is_used in zip(distinct, used.tolist(), strict=True) if is_used]
        label = Variable(variable, sort_labels(states))
        unknown = "code"  # what only dropped sequences have
    found = (None if _is_missing(value) else label.find(value) for value in distinct)
    known = np.fromiter((-1 if code is None else code for code in found), np.int32, len(distinct))[codes]
    odd = (known < 0) & ~gaps
    if unknown == "error" and odd.any():
        at = int(np.flatnonzero(odd)[0])
        value = distinct[codes[at]]
        raise DataError(
            f"{place.of(at)}: the label {shown(value)} is not one of {listing(label.labels)}."
            f"{suggestion(value, label.labels)} Correct it, or learn from data that has it."
        )
    return LabelRead(known, label, dropped)


@dataclass(frozen=True)
class _Place:
    """Where positions are, for errors."""

    offsets: NDArray[np.int64]
    name: str

    def of(self, at: int) -> str:
        sequence = int(np.searchsorted(self.offsets, at, "right")) - 1
        return f"Sequence {sequence + 1:,}, position {at - int(self.offsets[sequence]) + 1:,} of {self.name!r}"


# Sequences ----------------------------------------------------------------------------------------------------


def _sequences(labels: Any, offsets: NDArray[np.int64], name: str) -> list[Any]:
    """Return the labels as one list a sequence, as long as the sequence."""
    if not _is_list(labels):
        raise DataError(
            f"The {name!r} argument must be a list of sequences of labels. Got {shown(labels)} instead. One sequence "
            "alone is [[…]]."
        )
    given, lengths = list(labels), np.diff(offsets).tolist()
    for number, sequence in enumerate(given, 1):
        if sequence is not None and not _is_list(sequence):
            raise DataError(
                f"Sequence {number:,} of {name!r} must be a list of labels, one a position. Got {shown(sequence)} "
                "instead. One sequence alone is [[…]]."
            )
    if len(given) != len(lengths):
        raise DataError(
            f"The {name!r} argument must hold the labels of {plural(len(lengths), 'sequence')}, as many as there are "
            f"of features. Got those of {len(given):,} instead."
        )
    sequences = [
        [None] * length if sequence is None else sequence if isinstance(sequence, Sized) else list(sequence)
        for sequence, length in zip(given, lengths, strict=True)
    ]
    for number, (sequence, length) in enumerate(zip(sequences, lengths, strict=True), 1):
        if len(sequence) != length:
            raise DataError(
                f"Sequence {number:,} of {name!r} has {plural(len(sequence), 'label')}, but its features have "
                f"{plural(length, 'position')}. Give one label a position."
            )
    return sequences


def _is_list(value: Any) -> bool:
    """Whether a value can be a list of things: no text, no dict, no single array element."""
    return (
        isinstance(value, Iterable)
        and not isinstance(value, str | bytes | Mapping)
        and getattr(value, "ndim", 1) > 0
        and not has_columns(value)
    )


# Values -------------------------------------------------------------------------------------------------------


def _distinct(values: list[Any], place: _Place) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the distinct labels, as Python's own, and which of them each value is."""
    kinds = set(map(type, values))
    if not kinds <= {str}:
        values = [plain_label(value) for value in values]
        _require_one_kind(values, place)
    return first_seen(values, len(values))


def _require_one_kind(values: list[Any], place: _Place) -> None:
    first: type | None = None
    for at, value in enumerate(values):
        if _is_missing(value):
            continue
        kind = next((kind for kind in (str, bool, int) if isinstance(value, kind)), None)
        if kind is None:
            raise DataError(
                f"{place.of(at)}: a label must be a text, a whole number or a bool. Got {shown(value)} instead."
            )
        if first not in (None, kind):
            raise DataError(
                f"{place.of(at)}: the label {shown(value)} stands among {KINDS[first]}. Labels must be of one kind; "
                "write all of them as text."
            )
        first = kind


def _is_missing(value: object) -> bool:
    """Whether a label is None, NaN, or what pandas has for it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value  # noqa: PLR0124


def _table(flags: Iterable[bool]) -> NDArray[np.bool_]:
    return np.fromiter(flags, bool)


def _dropped(gaps: NDArray[np.bool_], place: _Place, missing: str) -> NDArray[np.bool_] | None:
    """Return the sequences that have gaps; None where there are none."""
    if not gaps.any():
        return None
    at = np.flatnonzero(gaps)
    if missing == "error":
        raise DataError(
            f"{place.of(int(at[0]))}: the label is missing ({plural(len(at), 'missing label')} in all). Pass ",
            Remedy("missing", "drop"),
            " to leave out such sequences.",
        )
    dropped = np.zeros(len(place.offsets) - 1, bool)
    dropped[np.searchsorted(place.offsets, at, "right") - 1] = True
    return dropped
