"""Matrices as tables: the same statistics as of their columns, gaps and infinities found, codes within their states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.block import Block
from suffice.data.matrix import MatrixColumns, MatrixTable, matrix_of, side_by_side
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.stats.needs import Count, Moment
from suffice.stats.source import BlockSource

A = Variable("A", ("u", "v", "w"))
NAMES = ("x", "z", "t")


def numbers(n: int = 20, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3))


def table_of(matrix: np.ndarray, **more: Any) -> MatrixTable:
    codes = np.arange(len(matrix)) % 3
    return MatrixTable(matrix, tuple(map(Variable, NAMES)), {"A": codes.astype(np.int8)}, (A,), **more)


def _locked(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


FORMS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda x: np.repeat(np.repeat(x, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "read-only": _locked,
    "integers": lambda x: (10 * x).astype(np.int32),
    "single": lambda x: x.astype(np.float32),
    "bool": lambda x: x > 0,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_are_those_of_the_columns_one_by_one(form: str, weighted: bool) -> None:
    matrix = FORMS[form](numbers())
    weights = np.arange(20) % 4 if weighted else None
    table = table_of(matrix, weights=weights)
    data = {name: matrix[:, j].astype(float) for j, name in enumerate(NAMES)} | {"A": ["u", "v", "w"] * 6 + ["u", "v"]}
    twin = open_table(data, (*NAMES, "A"), continuous=NAMES, weights=weights)
    needs = [Moment(NAMES, ("A",)), Moment(("z", "x")), Count(("A",))]
    found, expected = BlockSource(table).gather(needs), BlockSource(twin).gather(needs)
    assert found.weight == expected.weight
    for need in needs:
        for name, array in expected[need].to_arrays().items():
            np.testing.assert_allclose(found[need].to_arrays()[name], array, rtol=1e-12, atol=1e-12)


def test_pieces_of_a_block_keep_the_matrix() -> None:
    (block,) = table_of(numbers()).blocks()
    pieces = list(block.split(7))
    assert [piece.n_rows for piece in pieces] == [7, 7, 6]
    for piece in pieces:
        assert isinstance(piece.columns, MatrixColumns)
        part = side_by_side(piece.columns, NAMES)
        assert part is not None
        assert np.shares_memory(part, block.columns.matrix)
        np.testing.assert_array_equal(piece.columns["A"], block.columns["A"][piece.start : piece.start + piece.n_rows])


def test_other_columns_are_still_split_one_by_one() -> None:
    block = Block(table_of(numbers()).schema, {"A": np.arange(5)}, None, 5)
    assert [piece.columns["A"].tolist() for piece in block.split(3)] == [[0, 1, 2], [3, 4]]


def test_neighbours_are_a_view_and_others_a_copy() -> None:
    x = numbers()
    columns = MatrixColumns(x, NAMES, {"A": np.zeros(20, np.int8)})
    for names in (NAMES, ("z", "t"), ("z",)):
        part = side_by_side(columns, names)
        assert part is not None
        np.testing.assert_array_equal(part, np.stack([columns[name] for name in names], axis=1))
    for names in (("z", "x"), ("x", "t"), ("x", "A"), ("A",), ()):
        assert side_by_side(columns, names) is None
    np.testing.assert_array_equal(matrix_of(columns, ("t", "x"), 20), x[:, [2, 0]])
    assert matrix_of(columns, NAMES, 20) is x
    assert matrix_of({"x": np.arange(2)}, ("x",), 2).dtype == np.float64
    assert side_by_side({"x": x[:, 0]}, ("x",)) is None


# Gaps and infinities ------------------------------------------------------------------------------------------


@given(row=st.integers(0, 19), place=st.integers(0, 2), form=st.sampled_from(["C", "F", "strided", "single"]))
def test_a_gap_is_named_dropped_or_kept(row: int, place: int, form: str) -> None:
    x = numbers()
    x[row, place] = np.nan
    table = table_of(FORMS[form](x), weights=np.arange(1, 21))
    assert table.has_gaps
    with pytest.raises(sf.DataError, match=rf"Column '{NAMES[place]}', row {row + 1}: the value is missing, NaN \(1 "):
        open_table(table, (*NAMES, "A"))
    kept = [i for i in range(20) if i != row]
    dropped = open_table(table, (*NAMES, "A"), missing="drop")
    assert (dropped.n_dropped, dropped.n_expected, dropped.has_gaps) == (1, 20, False)
    np.testing.assert_array_equal(dropped.matrix, table.matrix[kept])
    assert dropped.weights.tolist() == [i + 1 for i in kept]
    found = BlockSource(dropped).gather([Moment(NAMES)])
    assert (found.n_read, found.n_dropped, found.weight) == (20, 1, 210 - (row + 1))
    others = tuple(name for name in NAMES if name != NAMES[place])
    assert open_table(table, others) is table, "a gap in a column that nobody asks for is no gap"
    assert open_table(table, NAMES, missing="keep") is table


@given(row=st.integers(0, 19), place=st.integers(0, 2), sign=st.sampled_from([1, -1]), also=st.booleans())
def test_an_infinite_value_is_refused_by_its_place(row: int, place: int, sign: int, also: bool) -> None:
    x = numbers()
    if also:
        x[0, 0] = np.nan
    x[row, place] = sign * np.inf
    with pytest.raises(sf.DataError, match=rf"Column '{NAMES[place]}', row {row + 1}: the value -?inf is not finite"):
        table_of(x)


def test_infinities_of_both_signs_do_not_hide_each_other() -> None:
    x = numbers()
    x[3, 1], x[5, 1] = -np.inf, np.inf
    with pytest.raises(sf.DataError, match="Column 'z', row 4"):
        table_of(x)


def test_a_sum_that_overflows_is_no_infinite_value() -> None:
    x = np.full((20, 3), 1.7e308)
    assert not table_of(x).has_gaps
    x[::2] *= -1
    assert not table_of(x).has_gaps


def test_a_missing_code_is_a_gap_in_the_matrix_and_beside_it() -> None:
    matrix = np.array([[0, 1], [2, -1]], np.int8)
    variables = (Variable("B", (0, 1, 2)), Variable("C", (0, 1)))
    assert MatrixTable(matrix, variables).has_gaps
    with pytest.raises(sf.DataError, match="Column 'C', row 2: the value is missing"):
        open_table(MatrixTable(matrix, variables), ("B", "C"))
    beside = MatrixTable(matrix[:1], variables, {"A": np.array([-1])}, (A,))
    with pytest.raises(sf.DataError, match="Column 'A', row 1"):
        open_table(beside, ("B", "C", "A"))
    assert open_table(beside, ("B", "C")) is beside


def test_no_rows_are_a_table() -> None:
    table = table_of(np.zeros((0, 3)))
    (block,) = table.blocks()
    assert (block.n_rows, table.has_gaps) == (0, False)
    assert BlockSource(table).gather([Moment(NAMES, ("A",))]).weight == 0
    codes = MatrixTable(np.zeros((0, 1), np.int8), (A,))
    assert BlockSource(codes).gather([Count(("A",))])[Count(("A",))].total == 0


# Weights ------------------------------------------------------------------------------------------------------


def test_weights_come_with_the_table_or_with_the_fit() -> None:
    x, weights = numbers(), np.linspace(0, 2, 20)
    own = BlockSource(table_of(x, weights=weights)).gather([Moment(NAMES)])
    later = BlockSource(open_table(table_of(x), NAMES, weights=list(weights))).gather([Moment(NAMES)])
    np.testing.assert_array_equal(own[Moment(NAMES)].scatter, later[Moment(NAMES)].scatter)
    assert own.weight == pytest.approx(20)


@pytest.mark.parametrize("weights", [np.ones(3), ["a"] * 20, "w", np.ones((20, 1))])
def test_weights_of_another_shape_are_refused(weights: Any) -> None:
    with pytest.raises(sf.DataError, match="one number a row"):
        open_table(table_of(numbers()), NAMES, weights=weights)


@pytest.mark.parametrize("odd", [-1.0, np.inf, np.nan])
def test_weights_that_are_no_frequencies_are_refused(odd: float) -> None:
    with pytest.raises(sf.DataError, match=r"row 3, is not a frequency"):
        table_of(numbers(), weights=np.where(np.arange(20) == 2, odd, 1.0))


def test_a_table_is_weighted_once() -> None:
    with pytest.raises(sf.DataError, match="carries its own weights"):
        open_table(table_of(numbers(), weights=np.ones(20)), NAMES, weights=np.ones(20))


# What is no table ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matrix", [np.zeros(3), np.zeros((4, 2)), np.full((4, 3), "a"), np.zeros((4, 3), complex)])
def test_a_matrix_has_one_column_of_numbers_a_variable(matrix: np.ndarray) -> None:
    with pytest.raises(sf.DataError, match="must hold numbers in 3 columns"):
        MatrixTable(matrix, tuple(map(Variable, NAMES)))


def test_codes_are_signed_whole_numbers_within_the_states() -> None:
    with pytest.raises(sf.DataError, match="must hold codes"):
        MatrixTable(np.zeros((2, 1)), (A,))
    with pytest.raises(sf.DataError, match="all continuous or all discrete"):
        MatrixTable(np.zeros((2, 2)), (A, Variable("x")))
    with pytest.raises(sf.DataError, match="Column 'A' holds the code 3, but the variable has 3 states"):
        MatrixTable(np.array([[0, 2], [1, 3]]), (Variable("B", tuple(range(9))), A))
    with pytest.raises(sf.DataError, match="Column 'A' holds the code 3"):
        MatrixTable(np.zeros((1, 1)), (Variable("x"),), {"A": np.array([3])}, (A,))


@pytest.mark.parametrize("beside", [{}, {"A": np.zeros(2, int)}, {"A": np.zeros(20)}])
def test_columns_beside_a_matrix_have_its_rows(beside: Any) -> None:
    with pytest.raises(sf.DataError, match="The column 'A' beside a matrix must hold 20 codes"):
        MatrixTable(numbers(), tuple(map(Variable, NAMES)), beside, (A,))


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(sf.DataError, match=r"names the variable 'zz'.*Did you mean 'z'"):
        open_table(table_of(numbers()), ("x", "zz"))
