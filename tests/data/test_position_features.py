"""Features of positions: read as python-crfsuite reads them, by a fast way that agrees with the obvious one."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, OrderedDict, UserDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import suffice as sf
from suffice.data import attribute_names
from suffice.data.attribute_names import distinct_keys, first_seen, numbered
from suffice.data.attributes import Vocabulary, bucket
from suffice.data.position_features import FeatureRead, read_features

WORDS = st.sampled_from(["a", "b", "a:b", "c", "é", ""])
NUMBERS = st.one_of(st.booleans(), st.integers(-2, 2), st.sampled_from([0.0, 0.5, 1.0, -1.5]))
LEAVES = st.one_of(WORDS, NUMBERS, st.lists(WORDS, max_size=3), st.sets(WORDS, max_size=3))
DICTS = st.dictionaries(WORDS, st.one_of(LEAVES, st.dictionaries(WORDS, LEAVES, max_size=2)), max_size=4)
PLAIN = st.dictionaries(WORDS, st.one_of(WORDS, NUMBERS), max_size=4)
NAMES = st.one_of(st.lists(WORDS, max_size=4), st.sets(WORDS, max_size=4), st.lists(WORDS, max_size=2).map(tuple))
TEXTS = st.dictionaries(WORDS, WORDS, max_size=4)


def sequences(position: st.SearchStrategy[Any]) -> st.SearchStrategy[list[list[Any]]]:
    return st.lists(st.lists(position, max_size=4), max_size=4)


ANY = st.one_of(*map(sequences, (DICTS, PLAIN, TEXTS, NAMES, st.one_of(DICTS, NAMES))))


def naive_items(position: Any) -> list[tuple[str, float]]:
    """The attributes of one position and their values, one at a time."""
    if not isinstance(position, Mapping):
        return [(name, 1.0) for name in (sorted(position) if isinstance(position, set) else position)]
    found: list[tuple[str, float]] = []
    for name, value in position.items():
        if isinstance(value, str):
            found.append((f"{name}:{value}", 1.0))
        elif isinstance(value, Mapping | list | set):
            found += [(f"{name}:{inner}", number) for inner, number in naive_items(value)]
        elif value != 0:
            found.append((name, float(value)))
    return found


def naive(data: list[list[Any]]) -> tuple[list[str], list[list[tuple[str, float]]]]:
    """Names in the order of their first occurrence, and the attributes of each position."""
    rows = [naive_items(position) for sequence in data for position in sequence]
    return list(dict.fromkeys(name for row in rows for name, _ in row)), rows


def said(read: FeatureRead) -> list[list[tuple[str, float]]]:
    """The attributes of each position, by name."""
    states = read.states
    values = np.ones(len(states.codes)) if states.values is None else states.values
    pairs = [(read.vocabulary.name(code), value) for code, value in zip(states.codes, values, strict=True)]
    return [pairs[low:high] for low, high in zip(states.starts, states.starts[1:], strict=False)]


@given(data=ANY)
def test_features_are_read_as_one_would_read_them_by_hand(data: list[list[Any]]) -> None:
    names, rows = naive(data)
    read = read_features(data)
    assert list(read.vocabulary.names) == names
    assert said(read) == rows
    assert np.diff(read.offsets).tolist() == [len(sequence) for sequence in data]
    assert read.n_unknown == 0
    assert (read.states.values is None) == all(value == 1 for row in rows for _, value in row)
    assert read.states.n_attributes == len(names)


@given(data=ANY, known=st.lists(st.sampled_from(["a", "b", "a:b", "b:c", "a:b:c", "x"]), unique=True))
def test_names_outside_a_vocabulary_are_left_out_and_counted(data: list[list[Any]], known: list[str]) -> None:
    _, rows = naive(data)
    read = read_features(data, Vocabulary(tuple(known)))
    assert said(read) == [[pair for pair in row if pair[0] in known] for row in rows]
    assert read.n_unknown == sum(name not in known for row in rows for name, _ in row)
    assert read.vocabulary.names == tuple(known)


@given(data=ANY, n_buckets=st.integers(1, 9))
def test_hashed_names_fall_into_their_buckets(data: list[list[Any]], n_buckets: int) -> None:
    _, rows = naive(data)
    read = read_features(data, n_buckets=n_buckets)
    assert read.vocabulary == Vocabulary(n_buckets=n_buckets)
    assert said(read) == [[(f"#{bucket(name, n_buckets)}", value) for name, value in row] for row in rows]
    again = read_features(data, read.vocabulary)
    assert again.states.codes.tolist() == read.states.codes.tolist()


@given(data=sequences(DICTS))
def test_what_was_read_is_found_again(data: list[list[Any]]) -> None:
    read = read_features(data)
    again = read_features(data, read.vocabulary)
    assert again.n_unknown == 0
    assert said(again) == said(read)


@given(data=sequences(st.one_of(DICTS, NAMES)))
def test_reading_changes_nothing_that_was_given(data: list[list[Any]]) -> None:
    before = repr(data)
    read_features(data)
    assert repr(data) == before


# Kinds of containers --------------------------------------------------------------------------------------------

TWO = [[["a", "b"], ["a"]], [["c"]]]


class Items:
    """What python-crfsuite calls an ItemSequence."""

    def __init__(self, positions: list[Any]) -> None:
        self.positions = positions

    def items(self) -> list[Any]:
        return self.positions

    def __len__(self) -> int:
        return len(self.positions)


def objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    "data",
    [
        tuple(TWO),
        (sequence for sequence in TWO),
        [(position for position in sequence) for sequence in TWO],
        [[iter(position) for position in sequence] for sequence in TWO],
        [[np.array(position) for position in sequence] for sequence in TWO],
        [[dict.fromkeys(position, True) for position in sequence] for sequence in TWO],
        [[dict.fromkeys(position, 1) for position in sequence] for sequence in TWO],
        [[dict.fromkeys(position, np.float32(1)) for position in sequence] for sequence in TWO],
        [[dict.fromkeys(position, np.bool_(True)) for position in sequence] for sequence in TWO],
        [[Counter(position) for position in sequence] for sequence in TWO],
        [[OrderedDict.fromkeys(position, 1.0) for position in sequence] for sequence in TWO],
        [[UserDict(dict.fromkeys(position, 1.0)) for position in sequence] for sequence in TWO],
        [[MappingProxyType(dict.fromkeys(position, 1.0)) for position in sequence] for sequence in TWO],
        [[frozenset(position) for position in sequence] for sequence in TWO],
        [Items(sequence) for sequence in TWO],
        [objects(sequence) for sequence in TWO],
        objects(TWO),
        pd.Series(TWO),
        [pd.Series(sequence) for sequence in TWO],
        [TWO[0], tuple(TWO[1])],
        [[["a", "b"], {"a": 1}], [{"c": True, "b": False}]],
    ],
    ids=lambda data: type(data).__name__,
)
def test_every_container_is_read_alike(data: Any) -> None:
    read = read_features(data)
    assert read.vocabulary.names == ("a", "b", "c")
    assert read.states.matrix().toarray().tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert read.offsets.tolist() == [0, 2, 3]
    assert read.states.values is None
    assert {type(name) for name in read.vocabulary.names} == {str}


def test_a_table_of_texts_has_a_row_a_position() -> None:
    read = read_features([np.array([["a", "b"], ["c", "b"]])])
    assert said(read) == [[("a", 1), ("b", 1)], [("c", 1), ("b", 1)]]


def test_an_attribute_may_stand_twice_in_a_position() -> None:
    assert read_features([[["a", "a"]]]).states.matrix().toarray().tolist() == [[2.0]]


def test_different_pairs_may_make_one_attribute() -> None:
    read = read_features([[{"a:b": "c", "a": "b:c", "x": 2.5}]])
    assert read.vocabulary.names == ("a:b:c", "x")
    assert read.states.matrix().toarray().tolist() == [[2.0, 2.5]]


def test_names_that_only_have_the_value_zero_are_in_no_vocabulary() -> None:
    read = read_features([[{"a": 0, "b": False, "c": 0.0, "d": 2}]])
    assert read.vocabulary.names == ("d",)
    assert read.n_unknown == 0


@pytest.mark.parametrize("data", [[], [[]], [[], []], [[[]]], [[{}], []], [[{"a": []}, {"b": {}}]]])
def test_nothing_is_read_as_nothing(data: Any) -> None:
    read = read_features(data)
    assert len(read.vocabulary) == 0
    assert read.states.n_rows == sum(map(len, data)) == read.offsets[-1]
    assert len(read.states.codes) == 0


def test_sets_are_read_alike_in_every_run() -> None:
    code = (
        "from suffice.data.position_features import read_features\n"
        "words = {f'w{i}' for i in range(30)}\n"
        "print(read_features([[words, {'x': words}]]).vocabulary.names)\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


# Matrices -------------------------------------------------------------------------------------------------------


@given(
    lengths=st.lists(st.integers(0, 3), min_size=1, max_size=4),
    width=st.integers(1, 4),
    seed=st.integers(0, 99),
    kind=st.sampled_from(["dense", "bool", "csr", "coo", "mixed"]),
)
def test_matrices_are_read_as_dicts_of_their_columns(lengths: list[int], width: int, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    dense = [rng.choice([0.0, 0.0, 1.0, -2.5], (length, width)) for length in lengths]
    if kind == "bool":
        dense = [matrix.astype(bool) for matrix in dense]
    makers = {"csr": [sparse.csr_array], "coo": [sparse.coo_matrix], "mixed": [sparse.csc_matrix, np.asarray]}
    makers = makers.get(kind, [np.asarray])
    read = read_features([makers[number % len(makers)](matrix) for number, matrix in enumerate(dense)])
    assert read.vocabulary.names == tuple(map(str, range(width)))
    np.testing.assert_array_equal(read.states.matrix().toarray(), np.concatenate(dense))
    assert len(read.states.codes) == np.count_nonzero(np.concatenate(dense))
    dicts = [[{str(j): value for j, value in enumerate(row)} for row in matrix.tolist()] for matrix in dense]
    twin = read_features(dicts, read.vocabulary)
    np.testing.assert_array_equal(read.states.matrix().toarray(), twin.states.matrix().toarray())
    np.testing.assert_array_equal(read.offsets, twin.offsets)
    hashed, hashed_twin = (read_features(given, n_buckets=3).states.matrix().toarray() for given in (dense, dicts))
    np.testing.assert_array_equal(hashed, hashed_twin)


def test_explicit_zeros_of_a_sparse_matrix_are_left_out() -> None:
    matrix = sparse.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    read = read_features([matrix])
    assert read.states.codes.tolist() == [1]
    assert read.states.values is None


def test_an_empty_list_stands_among_matrices_for_an_empty_sequence() -> None:
    read = read_features([np.eye(2), [], np.ones((1, 2))])
    assert read.offsets.tolist() == [0, 2, 2, 3]


def test_columns_of_matrices_are_named_by_the_vocabulary() -> None:
    read = read_features([np.array([[0, 2]])], Vocabulary(("height", "weight")))
    assert said(read) == [[("weight", 2.0)]]


def test_three_dimensions_are_sequences_of_positions() -> None:
    assert read_features(np.ones((2, 3, 4))).offsets.tolist() == [0, 3, 6]


# Faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "words"),
    [
        ("the", "Write ['the'] for one feature"),
        (None, "without any, write []"),
        (3, "NumPy arrays with a row a position"),
        ([3], "Got 3 instead. Write str(…) around it"),
        ([("a", 1)], "a dict {'name': value}"),
        ([["a"]], "must be texts. Got ['a']"),
        ([None], "must be texts. Got None"),
        ({"a", 3}, "must be texts. Got 3"),
        ({1: "a"}, "must be texts. Got 1 instead. Write '1'"),
        ({1: 2.0}, "must be texts. Got 1 instead"),
        ({"a": {1: 2.0}}, "must be texts. Got 1 instead"),
        ({"a": None}, "the feature 'a' is None. Leave the name out"),
        ({"a": {"b": None}}, "the feature 'a:b' is None. Leave the name out"),
        ({"a": float("nan")}, "the feature 'a' is nan. Values must be finite"),
        ({"a": -np.inf}, "the feature 'a' is -inf. Values must be finite"),
        ({"a": 10**400}, "a huge whole number. Values must be finite"),
        ({"a": b"x"}, "must be a text, a number, a bool"),
        ({"a": 1j}, "must be a text, a number, a bool"),
        ({"a": np.ones(2)}, "must be a text, a number, a bool"),
        ({"a": [1.0]}, "is a list, whose items must be texts. Got 1.0"),
        ({"a": {"b": ["x", None]}}, "the feature 'a:b' is a list, whose items must be texts. Got None"),
        ({"a": {2, "x"}}, "whose items must be texts. Got 2"),
        (np.ones(2), "must be texts. Got np.float64(1.0)"),
        (np.ones((2, 2)), "must be texts"),
        (iter([3]), "must be texts. Got 3"),
    ],
)
def test_faults_are_named_with_sequence_and_position(position: Any, words: str) -> None:
    before = [[["a"], {"b": 1.0}], []]
    with pytest.raises(sf.DataError) as caught:
        read_features([*before, [["x"], position]])
    assert "Sequence 3, position 2 of 'X': " in str(caught.value)
    assert words in str(caught.value)


@given(
    data=sequences(DICTS),
    bad=st.sampled_from([None, {"a": None}, {"a": float("inf")}, {3: "a"}, {"a": [3]}, ["a", 3], "a", 7]),
    at=st.integers(0, 5),
)
def test_one_fault_is_found_wherever_it_stands(data: list[list[Any]], bad: Any, at: int) -> None:
    sequence = data[0] if data else []
    place = min(at, len(sequence))
    spoilt = [[*sequence[:place], bad, *sequence[place:]], *data[1:]]
    for vocabulary in (None, Vocabulary(("a",)), Vocabulary(n_buckets=4)):
        with pytest.raises(sf.DataError, match=rf"^Sequence 1, position {place + 1} of 'sentences': "):
            read_features(spoilt, vocabulary, name="sentences")


# Names ----------------------------------------------------------------------------------------------------------


@given(keys=st.lists(st.integers(0, 40)), dense=st.sampled_from([0, 1, 100]))
def test_distinct_keys_are_those_of_unique(keys: list[int], dense: int) -> None:
    array = np.array(keys, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribute_names, "DENSE", dense)
        distinct, places = distinct_keys(array, 41)
    expected, inverse = np.unique(array, return_inverse=True)
    assert (distinct.tolist(), places.tolist()) == (expected.tolist(), inverse.tolist())


@given(names=st.lists(WORDS, max_size=6), data=st.data())
def test_vocabularies_follow_the_order_of_first_use(names: list[str], data: Any) -> None:
    places = data.draw(st.lists(st.integers(-1, len(names) - 1), max_size=12))
    used = [names[place] if place >= 0 else None for place in places]
    block = data.draw(st.sampled_from([1, 2, 5, 100]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribute_names, "BLOCK", block)
        codes, vocabulary = numbered(names, np.array(places, np.int32), None, 0)
    assert list(vocabulary.names) == [name for name in dict.fromkeys(used) if name is not None]
    assert [vocabulary.names[code] if code >= 0 else None for code in codes] == used
    assert codes.dtype == np.int32


@given(items=st.lists(WORDS))
def test_first_seen_tells_items_apart(items: list[str]) -> None:
    distinct, codes = first_seen(iter(items))
    assert distinct == list(dict.fromkeys(items))
    assert [distinct[code] for code in codes] == items
