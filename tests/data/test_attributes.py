"""Attributes of positions, vocabularies and sequences: cut, chosen and joined as lists are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.chain_twin import Toy, attributes, toys

import suffice as sf
from suffice.data.attributes import Attributes, LabelledSequences, Vocabulary, bucket, no_attributes, offsets_of

NAMES = st.lists(st.text(max_size=5), unique=True, max_size=6)


def dense(rows: list[list[tuple[int, float]]], n: int) -> np.ndarray:
    """Return a matrix of rows, cell by cell."""
    found = np.zeros((len(rows), n))
    for at, position in enumerate(rows):
        for code, value in position:
            found[at, code] += value
    return found


def flat(toy: Toy) -> list[list[tuple[int, float]]]:
    return [position for own in toy.states for position in own]


@given(toys())
def test_the_matrix_adds_up_what_stands_twice(toy: Toy) -> None:
    rows = attributes(toy.states, 4, toy.unit)
    np.testing.assert_array_equal(rows.matrix().toarray(), dense(flat(toy), 4))
    np.testing.assert_array_equal(rows.totals(), np.abs(dense([[pair] for own in flat(toy) for pair in own], 4)).sum(0))
    assert rows.n_rows == len(flat(toy))


@given(toys(), st.data())
def test_rows_are_those_of_the_list(toy: Toy, data: st.DataObject) -> None:
    rows = attributes(toy.states, 4, toy.unit)
    low = data.draw(st.integers(0, rows.n_rows))
    high = data.draw(st.integers(low, rows.n_rows))
    part = rows.rows(low, high)
    np.testing.assert_array_equal(part.matrix().toarray(), dense(flat(toy)[low:high], 4))
    assert part.starts[0] == 0
    which = data.draw(st.lists(st.integers(0, rows.n_rows - 1), max_size=6)) if rows.n_rows else []
    chosen = rows.chosen(np.array(which, np.int64))
    np.testing.assert_array_equal(chosen.matrix().toarray(), dense([flat(toy)[at] for at in which], 4))
    assert (chosen.values is None) == toy.unit


@given(toys(), st.data())
def test_sequences_are_those_of_the_list(toy: Toy, data: st.DataObject) -> None:
    whole = toy.sequences
    low = data.draw(st.integers(0, whole.n_sequences))
    high = data.draw(st.integers(low, whole.n_sequences))
    which = data.draw(st.lists(st.integers(0, whole.n_sequences - 1), max_size=5))
    for part, numbers in ((whole.part(low, high), range(low, high)), (whole.chosen(np.array(which, np.int64)), which)):
        assert part.lengths.tolist() == [len(toy.labels[s]) for s in numbers]
        assert [own.tolist() for own in part.apart(part.labels)] == [toy.labels[s] for s in numbers]
        expected = [position for s in numbers for position in toy.states[s]]
        np.testing.assert_array_equal(part.states.matrix().toarray(), dense(expected, 4))
        assert (part.steps is None) == (toy.steps is None)
        if part.steps is not None and toy.steps is not None:
            expected = [position for s in numbers for position in toy.steps[s]]
            np.testing.assert_array_equal(part.steps.matrix().toarray(), dense(expected, 2))


def test_sequences_without_labels_stay_without() -> None:
    rows = no_attributes(3, 2)
    plain = LabelledSequences(np.array([0, 1, 3]), rows)
    assert plain.part(0, 1).labels is None
    assert plain.chosen(np.array([1, 1])).labels is None
    assert plain.chosen(np.array([1, 1])).n_positions == 4
    assert plain.n_bytes == rows.n_bytes + plain.offsets.nbytes


def test_bytes_are_those_of_all_arrays() -> None:
    rows = Attributes(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1), 1)
    whole = LabelledSequences(np.array([0, 1]), rows, np.zeros(1, np.int32), rows)
    assert whole.n_bytes == 2 * (16 + 4 + 8) + 4 + 16


@given(NAMES, st.text(max_size=5))
def test_codes_and_names_of_a_vocabulary_are_inverse(names: list[str], other: str) -> None:
    words = Vocabulary(tuple(names))
    assert [words.name(words.code(name)) for name in names] == names  # type: ignore[arg-type]
    assert words.code(other) == (names.index(other) if other in names else None)
    again = Vocabulary.from_dict(words.to_dict())
    assert again == words
    assert hash(again) == hash(words)
    assert pickle.loads(pickle.dumps(words)) == words
    assert len(words) == len(names)


def test_vocabularies_that_differ_in_one_late_name_differ() -> None:
    names = tuple(f"w{i}" for i in range(50))
    assert Vocabulary(names) != Vocabulary((*names[:-1], "other"))
    assert Vocabulary(names) != names
    assert Vocabulary((), 8) != Vocabulary(())


@given(st.text(st.characters(), max_size=8), st.integers(1, 1000))
def test_hashed_names_always_have_a_bucket(name: str, n: int) -> None:
    words = Vocabulary((), n)
    assert words.code(name) == bucket(name, n)
    assert 0 <= bucket(name, n) < n
    assert words.name(bucket(name, n)) == f"#{bucket(name, n)}"
    assert len(Vocabulary.from_dict(words.to_dict())) == n


def test_buckets_are_the_same_on_every_machine() -> None:
    assert bucket("123456789", 1 << 20) == 0xCBF43926 % (1 << 20)  # the check value of CRC-32


def test_a_vocabulary_says_its_size() -> None:
    assert repr(Vocabulary((), 1 << 20)) == "Vocabulary(1,048,576 buckets)"
    assert repr(Vocabulary(("a",))) == "Vocabulary(1 names)"


def test_offsets_of_nothing_are_zero() -> None:
    assert offsets_of([]).tolist() == [0]
    assert offsets_of(np.array([3, 0])).tolist() == [0, 3, 3]


@pytest.mark.parametrize(("rows", "labels", "says"), [(3, 2, "3"), (2, 1, "1 labels")])
def test_sequences_that_do_not_fit_are_refused(rows: int, labels: int, says: str) -> None:
    with pytest.raises(sf.DataError, match=f"2 positions, but .*{says}"):
        LabelledSequences(np.array([0, 2]), no_attributes(rows), np.zeros(labels, np.int32))
