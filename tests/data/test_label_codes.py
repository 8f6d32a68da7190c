"""Labels of sequences: the same codes as one would give by hand, and errors that name the place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.attributes import offsets_of
from suffice.data.label_codes import LabelRead, read_labels
from suffice.data.variable import Variable

KINDS = st.sampled_from([st.sampled_from(["B", "I", "O"]), st.integers(-3, 12), st.booleans()])
OFFSETS = np.array([0, 2, 2, 3])


def read(labels: Any, **options: Any) -> LabelRead:
    return read_labels(labels, offsets_of(map(len, labels)), **options)


@given(data=st.data(), kind=KINDS)
def test_states_are_sorted_and_codes_are_their_places(data: Any, kind: Any) -> None:
    labels = data.draw(st.lists(st.lists(kind, max_size=4), max_size=4))
    flat = [label for sequence in labels for label in sequence]
    found = read(labels)
    assert found.label == Variable("label", tuple(sorted(set(flat))))
    assert [found.label.labels[code] for code in found.codes] == flat
    assert found.codes.dtype == np.int32
    assert found.dropped is None


@given(data=st.data(), kind=KINDS)
def test_sequences_that_lack_a_label_are_dropped(data: Any, kind: Any) -> None:
    gap = st.sampled_from([None, float("nan"), np.float64("nan"), pd.NA, pd.NaT])
    labels = data.draw(st.lists(st.lists(st.one_of(kind, kind, gap), max_size=3), max_size=4))
    lacks = [any(pd.isna(label) for label in sequence) for sequence in labels]
    found = read(labels, missing="drop")
    assert ([False] * len(labels) if found.dropped is None else found.dropped.tolist()) == lacks
    kept = [label for sequence, lack in zip(labels, lacks, strict=True) for label in sequence if not lack]
    assert found.label.states == tuple(sorted(set(kept)))
    lengths = [len(sequence) for sequence in labels]
    codes = found.codes[~np.repeat(np.array(lacks, bool), lengths)]
    assert [found.label.labels[code] for code in codes] == kept
    if any(lacks):
        with pytest.raises(sf.DataError, match=rf"^Sequence {lacks.index(True) + 1}, position .*missing='drop'"):
            read(labels)
    else:
        assert read(labels).codes.tolist() == found.codes.tolist()


@pytest.mark.parametrize(
    "labels",
    [
        (["D", "N"], [], ["V"]),
        (np.array(sequence, "U1") for sequence in (["D", "N"], [], ["V"])),
        [(label for label in sequence) for sequence in (["D", "N"], [], ["V"])],
        pd.Series([["D", "N"], [], ["V"]]),
        [pd.Series(["D", "N"]), (), ["V"]],
        [np.array(["D", "N"], object), np.zeros(0), ["V"]],
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_every_container_is_read_alike(labels: Any) -> None:
    found = read_labels(labels, OFFSETS)
    assert found.codes.tolist() == [0, 1, 2]
    assert found.label == Variable("label", ("D", "N", "V"))
    assert {type(state) for state in found.label.labels} == {str}


def test_labels_of_numpy_become_labels_of_python() -> None:
    found = read_labels(np.array([[2, 10], [10, 2]]), np.array([0, 2, 4]))
    assert found.label.states == (2, 10)
    assert {type(state) for state in found.label.labels} == {int}
    assert read_labels([np.array([True, False])], np.array([0, 2])).label.states == (False, True)


def test_a_sequence_that_is_none_lacks_all_its_labels() -> None:
    found = read_labels([None, [], ["V"]], OFFSETS, missing="drop")
    assert found.dropped is not None
    assert found.dropped.tolist() == [True, False, False]
    assert found.codes.tolist() == [-1, -1, 0]


def test_labels_that_only_dropped_sequences_have_are_no_states() -> None:
    found = read_labels([["X", None], [], ["V"]], OFFSETS, missing="drop")
    assert found.label.states == ("V",)
    assert found.codes.tolist() == [-1, -1, 0]


def test_known_states_keep_their_codes() -> None:
    label = Variable("tag", ("V", "N", "D", "P"), declared=True)
    found = read_labels([["D", "N"], [], ["V"]], OFFSETS, label)
    assert found.label is label
    assert found.codes.tolist() == [2, 1, 0]


def test_numbers_written_as_text_find_their_states() -> None:
    assert read_labels([["2", "1"]], np.array([0, 2]), Variable("tag", (1, 2))).codes.tolist() == [1, 0]


def test_unknown_labels_are_refused_or_marked() -> None:
    label = Variable("tag", ("noun", "verb"))
    given = [["noun", "nuon"], [], ["verb"]]
    with pytest.raises(sf.DataError, match=r"Sequence 1, position 2 of 'y'.*'nuon'.*Did you mean 'noun'"):
        read_labels(given, OFFSETS, label)
    assert read_labels(given, OFFSETS, label, unknown="code").codes.tolist() == [0, -1, 1]


def test_unknown_labels_are_refused_even_where_others_are_missing() -> None:
    with pytest.raises(sf.DataError, match="Sequence 3, position 1"):
        read_labels([["a", None], [], ["c"]], OFFSETS, Variable("tag", ("a", "b")), missing="drop")


def test_the_variable_is_called_as_asked() -> None:
    assert read_labels([["a"]], np.array([0, 1]), variable="tag").label.name == "tag"


def test_no_sequences_have_no_states() -> None:
    assert read_labels([], np.array([0])).label.states == ()


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ("DNV", "'y' argument must be a list of sequences of labels. Got 'DNV'"),
        (None, "'y' argument must be a list"),
        (["D", "N", "V"], "Sequence 1 of 'y' must be a list of labels, one a position. Got 'D' instead"),
        ([1, 2, 3], "Sequence 1 of 'y' must be a list of labels, one a position. Got 1 instead"),
        (np.array(["D", "N", "V"]), "Sequence 1 of 'y' must be a list"),
        ([["D", "N"], {}, ["V"]], "Sequence 2 of 'y' must be a list of labels"),
        ([["D", "N"], ["V"]], "the labels of 3 sequences, as many as there are of features. Got those of 2"),
        ([["D", "N"], [], ["V", "V"]], "Sequence 3 of 'y' has 2 labels, but its features have 1 position."),
        ([["D"], [], ["V"]], "Sequence 1 of 'y' has 1 label, but its features have 2 positions."),
        ([["D", 3], [], ["V"]], "Sequence 1, position 2 of 'y': the label 3 stands among texts"),
        ([[1, 0], [], [True]], "Sequence 3, position 1 of 'y': the label True stands among whole numbers"),
        ([[True, 0], [], [True]], "Sequence 1, position 2 of 'y': the label 0 stands among bools"),
        (
            [[1, 0.5], [], [1]],
            "Sequence 1, position 2 of 'y': a label must be a text, a whole number or a bool. Got 0.5",
        ),
        ([["D", b"N"], [], ["V"]], "Got b'N'"),
        ([["D", ["N"]], [], ["V"]], "a label must be a text, a whole number or a bool. Got ['N']"),
        ([["D", "N"], [], [None]], "Sequence 3, position 1 of 'y': the label is missing (1 missing label in all)"),
    ],
)
def test_faults_name_the_place(labels: Any, words: str) -> None:
    with pytest.raises(sf.DataError) as caught:
        read_labels(labels, OFFSETS)
    assert words in str(caught.value)


def test_choices_are_checked() -> None:
    for option in ("missing", "unknown"):
        with pytest.raises(sf.ArgumentError, match=f"'{option}' argument must be one of"):
            read_labels([["a"]], np.array([0, 1]), **{option: "ignore"})
