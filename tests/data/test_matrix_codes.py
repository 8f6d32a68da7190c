"""Matrices of whole numbers as codes: the same variables and codes as column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.matrix_codes import encoded_matrix, have_whole_states, known_matrix, states_of_matrix, suits_codes
from suffice.data.schema import Declaration
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.data.variable import Variable

NAMES = ("x", "z")


@st.composite
def matrices(draw: Any) -> np.ndarray:
    dtype = draw(st.sampled_from([np.int64, np.int8, np.uint8, np.int32, np.uint32, np.bool_]))
    least = draw(st.sampled_from([0, 0, 3, -5, -128, 100]))
    factor = draw(st.sampled_from([1, 2, 30, 5000]))
    found = least + factor * np.array(draw(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=1, max_size=20)))
    found = found.astype(dtype)
    return draw(st.sampled_from([found, np.asfortranarray(found), np.repeat(found, 2, axis=0)[::2]]))


def by_columns(matrix: np.ndarray, schema: Any = None, **more: Any) -> Any:
    data = {name: matrix[:, place] for place, name in enumerate(NAMES)}
    return open_table(data, NAMES, schema=schema, missing=KEEP, **more)


@given(matrix=matrices(), declare=st.booleans())
def test_states_and_codes_are_those_of_the_columns(matrix: np.ndarray, declare: bool) -> None:
    schema = dict.fromkeys(NAMES, Declaration("discrete")) if declare else None
    codes, variables, remarks = states_of_matrix(matrix, NAMES, schema)
    twin = by_columns(matrix, schema)
    assert variables == twin.schema.variables
    assert remarks == twin.remarks
    for place, name in enumerate(NAMES):
        np.testing.assert_array_equal(codes[:, place], twin.columns[name])
    assert codes.dtype.kind == "i"


@given(matrix=matrices(), other=matrices(), shuffle=st.randoms())
def test_known_states_are_found_in_any_order_and_others_are_missing(matrix, other, shuffle) -> None:
    variables = []
    for variable in encoded_matrix(matrix, NAMES)[1]:
        states = [int(state) for state in variable.labels]
        shuffle.shuffle(states)
        variables.append(Variable(variable.name, tuple(states), True))
    own, codes = (known_matrix(x, variables, "missing") for x in (matrix, other))
    assert len(variables) == own.shape[1] == codes.shape[1] == len(NAMES)
    for place, variable in enumerate(variables):
        states = np.array(variable.labels)
        np.testing.assert_array_equal(states[own[:, place]], matrix[:, place].astype(int))
        expected = [variable.find_exactly(int(value)) for value in other[:, place]]
        assert codes[:, place].tolist() == [-1 if code is None else code for code in expected]
    if (codes < 0).any():
        row, place = np.argwhere(codes < 0)[0]
        with pytest.raises(sf.DataError, match=rf"Column '{NAMES[place]}', row {row + 1}: state .* is not one of"):
            known_matrix(other, variables)


def test_an_unknown_state_is_refused_in_the_words_of_a_column() -> None:
    schema = {"x": [0, 1], "z": [0, 1]}
    matrix = np.array([[0, 1], [0, 7]])
    with pytest.raises(sf.DataError) as mine:
        states_of_matrix(matrix, NAMES, schema)
    with pytest.raises(sf.DataError) as theirs:
        by_columns(matrix, schema)
    assert str(mine.value) == str(theirs.value)


def test_many_states_take_wider_codes() -> None:
    matrix = np.arange(600).reshape(300, 2) * 7
    codes, variables = encoded_matrix(matrix, NAMES)
    assert codes.dtype == np.int16
    assert codes[:, 1].tolist() == list(range(300))
    np.testing.assert_array_equal(known_matrix(matrix, variables), codes)


@pytest.mark.parametrize("value", [126, 127, -1])
def test_the_edge_of_small_numbers(value: int) -> None:
    codes, (x, z) = encoded_matrix(np.array([[0, value], [1, 0]]), NAMES)
    assert (x.states, z.states) == ((0, 1), tuple(sorted([0, value])))
    assert codes.tolist() == [[0, int(value > 0)], [1, int(value < 0)]]


def test_extreme_numbers_do_not_wrap_around() -> None:
    low, high = -(2**63), 2**63 - 1
    codes = known_matrix(
        np.array([[low, high], [high, low]]), [Variable("x", (-1, 0)), Variable("z", (0, 1))], "missing"
    )
    assert (codes == -1).all()


def test_columns_of_several_kinds_are_read_one_by_one() -> None:
    matrix = np.array([[0, 1], [2, 3]])
    assert states_of_matrix(matrix, NAMES, {"x": Declaration("continuous")}) is None
    assert states_of_matrix(matrix, NAMES, {"x": [0, 2]}) is None
    assert states_of_matrix(matrix, NAMES, {"x": ["0", "2"], "z": [1, 3]}) is None
    assert states_of_matrix(matrix + 0.5, NAMES) is None
    many = np.arange(42).reshape(21, 2)
    assert states_of_matrix(many, NAMES) is None, "so many whole numbers may be a quantity"
    assert states_of_matrix(many, NAMES, dict.fromkeys(NAMES, Declaration("discrete"))) is not None


def test_what_suits() -> None:
    assert suits_codes(np.zeros((2, 2), np.int16))
    for odd in (np.zeros(2, int), np.zeros((2, 2)), np.zeros((2, 2), np.uint64), np.zeros((2, 2), ">i4"), [[1]]):
        assert not suits_codes(odd)
    assert have_whole_states([Variable("x", (1, 2)), Variable("z", (False, True))])
    for odd in (("a",), (0.5, 1.5), (2**60,), None):
        assert not have_whole_states([Variable("x", odd)])
