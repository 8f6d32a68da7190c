"""Facial sets, against a linear program for each cell; dimensions, against exact elimination."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import suffice as sf
from suffice.inference import facial, facial_cone
from suffice.inference.facial import Face, facial_set
from suffice.inference.facial_conflict import infeasibility
from suffice.inference.facial_design import MAX_TABLE, design_of
from suffice.inference.facial_dimension import PRIMES, dimension, rank_modulo

PAIRS = [(0, 1), (0, 2), (1, 2)]

Table = Any


def lost_of(face: Face) -> list[tuple[int, ...]] | None:
    return None if face.lost is None else [codes for _, codes in face.lost]


def running_of(face: Face) -> list[tuple[int, tuple[int, ...], float]]:
    return [(number, codes, face.pace(number, codes)) for number, codes in face.running]


def margins_of(table: Table, scopes: Sequence[Sequence[int]]) -> list[Table]:
    """Margins cell by cell, the axes in the order of the scope."""
    found = []
    for scope in scopes:
        margin = np.zeros([table.shape[v] for v in scope])
        for codes in np.ndindex(table.shape):
            margin[tuple(codes[v] for v in scope)] += table[codes]
        found.append(margin)
    return found


def indicators(shape: Sequence[int], scopes: Sequence[Sequence[int]]) -> Table:
    """One row for each cell of each margin, one column for each cell of the joint table."""
    rows = []
    for scope in scopes:
        for wanted in np.ndindex(*(shape[v] for v in scope)):
            rows.append([float(tuple(codes[v] for v in scope) == wanted) for codes in np.ndindex(*shape)])
    return np.array(rows)


def naive_support(
    shape: Sequence[int], scopes: Sequence[Sequence[int]], margins: Sequence[Table], allowed: Table | None
) -> Table:
    """For every cell, the most mass that a table with these margins can have there."""
    design = indicators(shape, scopes)
    target = np.concatenate([np.ravel(margin) for margin in margins])
    free = np.ones(shape, dtype=bool) if allowed is None else allowed
    bounds = [(0, None if cell else 0) for cell in free.ravel()]
    support = np.zeros(math.prod(shape), dtype=bool)
    for cell in np.flatnonzero(free):
        goal = np.zeros(support.size)
        goal[cell] = -1
        answer = linprog(goal, A_eq=design, b_eq=target, bounds=bounds)
        assert answer.status == 0
        support[cell] = answer.fun < -1e-6
    return support.reshape(shape)


def exact_rank(matrix: Table) -> int:
    rows = [[Fraction(int(value)) for value in row] for row in matrix]
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((at for at in range(rank, len(rows)) if rows[at][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for at in range(rank + 1, len(rows)):
            factor = rows[at][column] / rows[rank][column]
            if factor:
                rows[at] = [value - factor * base for value, base in zip(rows[at], rows[rank], strict=True)]
        rank += 1
    return rank


def check(face: Face, counts: Table, margins: Sequence[Table], allowed: Table | None = None) -> None:
    """The direction proves that the cells off the support are out."""
    free = np.ones(counts.shape, dtype=bool) if allowed is None else allowed
    assert face.support is not None
    assert (face.exists == "yes") == (face.support == free).all()
    assert (face.direction is None) == (face.exists == "yes")
    assert set(lost_of(face) or ()) == {codes for codes in np.ndindex(counts.shape) if (free & ~face.support)[codes]}
    assert face.support[counts > 0].all()
    for number, codes in face.zero_margins:
        assert margins[number][codes] == 0
    if face.direction is None:
        assert running_of(face) == []
        return
    heights = np.zeros(counts.shape)
    for codes in np.ndindex(counts.shape):
        for scope, table in zip(face.scopes, face.direction, strict=True):
            heights[codes] += table[tuple(codes[v] for v in scope)]
    assert np.abs(heights[face.support]).max(initial=0) < 1e-5
    assert heights[free & ~face.support].min() > 1 - 1e-5
    flat = sum(float((margin * table).sum()) for margin, table in zip(margins, face.direction, strict=True))
    assert abs(flat) < 1e-6 * max(1, counts.sum())
    assert {(number, codes): pace for number, codes, pace in running_of(face)} == {
        (number, codes): -table[codes]
        for number, table in enumerate(face.direction)
        for codes in np.ndindex(table.shape)
        if table[codes]
    }


@st.composite
def scopes_over(draw: Any, n: int) -> list[tuple[int, ...]]:
    found = draw(st.lists(st.permutations(range(n)).flatmap(lambda order: st.integers(0, n).map(
        lambda k: tuple(order[:k]))), min_size=1, max_size=5))  # fmt: skip
    pairs = list(itertools.combinations(range(n), 2))
    return draw(st.sampled_from([found, pairs, [*pairs, *found]]))


@st.composite
def cases(draw: Any) -> tuple[Table, list[tuple[int, ...]]]:
    shape = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    assume(math.prod(shape) <= 54)
    entry = draw(st.sampled_from([st.sampled_from([0, 0, 1]), st.sampled_from([0, 1, 5]), st.integers(0, 3)]))
    counts = draw(st.lists(entry, min_size=math.prod(shape), max_size=math.prod(shape)))
    return np.array(counts, dtype=np.int64).reshape(shape), draw(scopes_over(len(shape)))


# The facial set -----------------------------------------------------------------------------------------------


@given(cases(), st.sampled_from([1, 1e-7, 1 / 3, 1000]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_support_is_that_of_one_program_a_cell(
    case: tuple[Table, list[tuple[int, ...]]], scale: float, tell: bool
) -> None:
    counts, scopes = case
    margins = margins_of(counts, scopes)
    observed = counts > 0 if tell and counts.any() else None
    face = facial_set(counts.shape, scopes, [margin * scale for margin in margins], observed=observed)
    check(face, counts, margins)
    np.testing.assert_array_equal(face.support, naive_support(counts.shape, scopes, margins, None))


@given(cases(), st.data())
@settings(max_examples=100, deadline=None)
def test_support_with_structural_zeros_and_some_observed_cells(
    case: tuple[Table, list[tuple[int, ...]]], data: st.DataObject
) -> None:
    counts, scopes = case
    n = counts.size
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))).reshape(counts.shape)
    counts = np.where(allowed, counts, 0)
    assume(counts.any())
    some = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))).reshape(counts.shape) & (counts > 0)
    margins = margins_of(counts, scopes)
    face = facial_set(counts.shape, scopes, margins, allowed, some if some.any() else None)
    check(face, counts, margins, allowed)
    np.testing.assert_array_equal(face.support, naive_support(counts.shape, scopes, margins, allowed))


@given(cases())
@settings(max_examples=60, deadline=None)
def test_every_way_to_the_answer_agrees(case: tuple[Table, list[tuple[int, ...]]]) -> None:
    """Without Newton's steps the known cells come from a linear program; without a dense basis, a sparse one splits."""
    counts, scopes = case
    margins = margins_of(counts, scopes)
    expected = facial_set(counts.shape, scopes, margins)
    for changes in ({"N_STEPS": 0}, {"MAX_DENSE": -1}, {"N_STEPS": 0, "MAX_DENSE": -1}):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in changes.items():
                patch.setattr(facial_cone, name, value)
            found = facial_set(counts.shape, scopes, margins)
        check(found, counts, margins)
        np.testing.assert_array_equal(found.support, expected.support)


@given(cases())
@settings(max_examples=60, deadline=None)
def test_decomposable_models_exist_exactly_when_all_margins_are_positive(
    case: tuple[Table, list[tuple[int, ...]]],
) -> None:
    counts, _ = case
    chain = [(v, v - 1) for v in range(1, counts.ndim)]
    margins = margins_of(counts, chain)
    face = facial_set(counts.shape, chain, margins)
    positive = all((margin > 0).all() for margin in margins)
    assert face.exists == ("yes" if positive else "no")
    assert bool(len(face.zero_margins)) != positive


def test_haberman() -> None:
    """Haberman (1974): all margins positive, and no estimate without a three-way interaction."""
    counts = np.array([[[0, 3], [2, 4]], [[5, 1], [2, 0]]])
    margins = margins_of(counts, PAIRS)
    face = facial_set((2, 2, 2), PAIRS, margins)
    assert (face.exists, lost_of(face), list(face.zero_margins)) == ("no", [(0, 0, 0), (1, 1, 1)], [])
    assert "whole numbers" in face.proof
    check(face, counts, margins)
    assert facial_set((2, 2, 2), PAIRS, margins_of(counts + (counts == 0), PAIRS)).exists == "yes"


@pytest.mark.parametrize("n", [10, 10**6, 10**8])
def test_one_count_in_very_many_is_seen(n: int) -> None:
    counts = np.array([[[0, n], [n, n]], [[n, n], [n, 0]]])
    assert facial_set((2, 2, 2), PAIRS, margins_of(counts, PAIRS)).exists == "no"
    counts[0, 0, 0] = 1
    assert facial_set((2, 2, 2), PAIRS, margins_of(counts, PAIRS)).exists == "yes"


def test_what_is_too_small_to_tell_is_undecided_unless_it_was_observed() -> None:
    counts = np.array([[[1, 10**13], [10**13] * 2], [[10**13] * 2, [10**13, 0]]])
    margins = margins_of(counts, PAIRS)
    assert facial_set((2, 2, 2), PAIRS, margins, observed=counts > 0).exists == "yes"
    assert facial_set((2, 2, 2), PAIRS, margins).exists == "undecided"
    few = np.array([1, 10**15])
    assert facial_set((2,), [(0,)], [few]).exists == "yes"  # one count is one count
    assert facial_set((2,), [(0,)], [few / (few.sum() + 0.5)]).exists == "no"  # and 1e-15 is a rounding error


def test_three_by_three_by_three_with_positive_margins() -> None:
    """Haberman's pattern with states taken together, as in the 3×3×3 tables of Fienberg and Rinaldo (2012)."""
    groups = [[0], [2], [0, 1]]
    rng = np.random.default_rng(0)
    for chosen in itertools.product(groups, repeat=3):
        first = np.zeros((3, 3, 3), dtype=bool)
        first[np.ix_(*chosen)] = True
        second = np.zeros((3, 3, 3), dtype=bool)
        second[np.ix_(*(np.setdiff1d(range(3), group) for group in chosen))] = True
        counts = np.where(first | second, 0, rng.integers(1, 20, size=(3, 3, 3)))
        margins = margins_of(counts, PAIRS)
        face = facial_set((3, 3, 3), PAIRS, margins)
        check(face, counts, margins)
        assert (face.exists, list(face.zero_margins)) == ("no", [])
        np.testing.assert_array_equal(~face.support, first | second)
        counts[np.unravel_index(np.argmax(first), first.shape)] = 1
        assert facial_set((3, 3, 3), PAIRS, margins_of(counts, PAIRS)).exists == "yes"


def test_nested_and_turned_scopes_change_nothing() -> None:
    counts = np.array([[[0, 3], [2, 4]], [[5, 1], [2, 0]]])
    scopes = [(1, 0), (2,), (2, 0), (), (1, 2), (0, 1), (1,)]
    margins = margins_of(counts, scopes)
    face = facial_set((2, 2, 2), scopes, margins)
    check(face, counts, margins)
    assert lost_of(face) == [(0, 0, 0), (1, 1, 1)]


def test_zero_margin_that_is_structural_is_no_reason() -> None:
    allowed = np.array([[True, True], [False, False]])
    face = facial_set((2, 2), [(0,), (1,)], [[5, 0], [2, 3]], allowed)
    assert (face.exists, list(face.zero_margins)) == ("yes", [])
    face = facial_set((2, 2), [(0,), (1,)], [[5, 0], [2, 3]])
    assert (face.exists, list(face.zero_margins), lost_of(face)) == ("no", [(0, (1,))], [(1, 0), (1, 1)])
    assert running_of(face) == [(0, (1,), -1.0)]


def test_no_data_at_all() -> None:
    face = facial_set((2, 2, 2), PAIRS, [np.zeros((2, 2))] * 3)
    assert face.exists == "no"
    assert face.support is not None
    assert not face.support.any()


def test_huge_tables_are_answered_by_zero_margins_and_decomposability() -> None:
    n = MAX_TABLE.bit_length()
    sizes = (2,) * n
    chain = [(v, v + 1) for v in range(n - 1)]
    ring = [*chain, (0, n - 1)]
    full, zero = np.full((2, 2), 5), np.array([[5, 0], [5, 10]])
    assert facial_set(sizes, chain, [full] * len(chain)).exists == "yes"
    face = facial_set(sizes, ring, [full] * len(ring))
    assert (face.exists, face.support, lost_of(face), face.direction) == ("undecided", None, None, None)
    face = facial_set(sizes, [(0, 1), (2, 3), (3, 4), (2, 4)], [zero, full * 1, full, full])
    assert (face.exists, list(face.zero_margins), face.support) == ("no", [(0, (0, 1))], None)
    assert running_of(face) == [(0, (0, 1), -1.0)]


def test_huge_tables_with_structural_zeros_are_not_decided_by_margins_alone() -> None:
    sizes = (1024, 1025)
    allowed = np.ones(sizes, dtype=bool)
    allowed[0] = False
    first = np.r_[0.0, np.ones(1023)]
    face = facial_set(sizes, [(0,), (1,)], [first, np.full(1025, 1023 / 1025)], allowed)
    assert (face.exists, list(face.zero_margins)) == ("undecided", [])
    face = facial_set(sizes, [(0,), (1,)], [first, np.full(1025, 1023 / 1025)], allowed, allowed)
    assert face.exists == "yes"


def test_too_many_cells_are_undecided_unless_a_margin_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.array([[[0, 3], [2, 4]], [[5, 1], [2, 0]]])
    for name in ("MAX_CELLS", "MAX_PARAMETERS", "MAX_ENTRIES"):
        with monkeypatch.context() as patch:
            patch.setattr(facial, name, 1)
            assert facial_set((2, 2, 2), PAIRS, margins_of(counts, PAIRS)).exists == "undecided"
            assert facial_set((2, 2, 2), PAIRS, margins_of(counts + 1, PAIRS), None, counts > -1).exists == "yes"
            none = np.where(np.arange(2)[:, None, None] == 0, counts, 0)
            face = facial_set((2, 2, 2), PAIRS, margins_of(none, PAIRS))
            assert (face.exists, face.support) == ("no", None)


def test_answers_cannot_be_changed_and_inputs_are_not() -> None:
    allowed = np.ones((2, 2, 2), dtype=bool)
    allowed[0, 0, 0] = False
    margins = margins_of(np.arange(8).reshape(2, 2, 2), PAIRS)
    before = [margin.copy() for margin in margins]
    face = facial_set((2, 2, 2), PAIRS, margins, allowed)
    assert face.support is not None
    with pytest.raises(ValueError, match="read-only"):
        face.support[0] = True
    allowed[:] = False
    assert face.allowed is not None
    assert face.allowed.sum() == 7
    for margin, old in zip(margins, before, strict=True):
        np.testing.assert_array_equal(margin, old)


@given(cases(), st.data())
@settings(max_examples=60, deadline=None)
def test_margins_that_the_allowed_cells_cannot_have_are_refused(
    case: tuple[Table, list[tuple[int, ...]]], data: st.DataObject
) -> None:
    counts, scopes = case
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=counts.size, max_size=counts.size)))
    allowed[0] = True
    allowed = allowed.reshape(counts.shape)
    margins = margins_of(counts, scopes)
    if infeasibility(counts.shape, scopes, margins, allowed) is None:
        assert facial_set(counts.shape, scopes, margins, allowed).exists in ("yes", "no")
    else:
        with pytest.raises(sf.StatisticsError, match="No table has these margins"):
            facial_set(counts.shape, scopes, margins, allowed)


def test_margins_of_no_table_are_refused() -> None:
    opposite = np.array([[0.0, 0.5], [0.5, 0.0]])
    with pytest.raises(sf.StatisticsError, match="No table has these margins"):
        facial_set((2, 2, 2), PAIRS, [opposite] * 3)
    nearly = np.array([[0.1, 0.4], [0.4, 0.1]])
    with pytest.raises(sf.StatisticsError, match="not all together"):
        facial_set((2, 2, 2), PAIRS, [nearly] * 3)
    with pytest.raises(sf.StatisticsError, match=r"\(0, 1\), \(0, 2\).*do not agree"):
        facial_set((2, 2, 2), PAIRS, [nearly, np.array([[0.1, 0.3], [0.3, 0.3]]), nearly])


# Dimensions ---------------------------------------------------------------------------------------------------


@given(cases())
@settings(max_examples=100, deadline=None)
def test_dimension_is_the_exact_rank(case: tuple[Table, list[tuple[int, ...]]]) -> None:
    counts, scopes = case
    design = indicators(counts.shape, scopes)
    assert dimension(counts.shape, scopes) == exact_rank(design) - 1
    if counts.any():
        part = design[:, counts.ravel() > 0]
        assert dimension(counts.shape, scopes, counts > 0) == exact_rank(part) - 1 == np.linalg.matrix_rank(part) - 1


@pytest.mark.parametrize("rank", [0, 1, 63, 64, 65, 150, 200])
def test_rank_modulo_of_products(rank: int) -> None:
    rng = np.random.default_rng(rank)
    left, right = rng.integers(-3, 4, size=(200, rank)), rng.integers(-3, 4, size=(rank, 230))
    product = (left @ right).astype(float)
    assert {rank_modulo(product, prime) for prime in PRIMES} == {np.linalg.matrix_rank(product)} == {rank}


def test_primes_are_prime() -> None:
    assert PRIMES
    for prime in PRIMES:
        assert prime < 2**23
        assert all(prime % factor for factor in range(2, math.isqrt(prime) + 1))


def test_dimension_on_larger_supports_is_the_rank_in_floats() -> None:
    rng = np.random.default_rng(0)
    scopes = list(itertools.combinations(range(5), 3))
    for share in (0.02, 0.1, 0.4):
        support = rng.random((4,) * 5) < share
        design = design_of(support.shape, scopes).matrix(np.flatnonzero(support)).toarray()
        assert dimension(support.shape, scopes, support) == np.linalg.matrix_rank(design) - 1
