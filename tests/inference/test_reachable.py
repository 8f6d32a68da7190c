"""What single moves reach: against a search through all configurations, and where that would be too large."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.inference import reachable
from suffice.inference.gibbs import Gibbs
from suffice.inference.product import Factor
from suffice.inference.reachable import Barrier, find_barrier, require_reachable

EQUAL = np.eye(2)
NOT_BOTH = np.array([[1.0, 1.0], [1.0, 0.0]])
UNEQUAL = 1 - np.eye(3)


def pieces(factors: list[Factor], sizes: tuple[int, ...]) -> list[set[tuple[int, ...]]]:
    """Return the possible configurations, grouped by a search that changes one variable at a time."""
    left = {
        x
        for x in itertools.product(*map(range, sizes))
        if all(factor.values[tuple(x[v] for v in factor.scope)] > 0 for factor in factors)
    }
    found = []
    while left:
        stack, group = [left.pop()], set()
        while stack:
            x = stack.pop()
            group.add(x)
            near = {(*x[:v], code, *x[v + 1 :]) for v in range(len(sizes)) for code in range(sizes[v])} & left
            left -= near
            stack += near
        found.append(group)
    return found


@st.composite
def limits(draw: st.DrawFn) -> tuple[list[Factor], tuple[int, ...]]:
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    most = min(3, len(sizes))
    scope = st.lists(st.integers(0, len(sizes) - 1), min_size=0, max_size=most, unique=True).map(tuple)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0.1, 0.3, 0.5, 0.7]))
    scopes = draw(st.lists(scope, max_size=5))
    tables = [(rng.random([sizes[v] for v in scope]) >= (share if scope else 0)).astype(float) for scope in scopes]
    return [Factor(scope, table) for scope, table in zip(scopes, tables, strict=True)], sizes


@given(limits())
@settings(max_examples=400)
def test_a_barrier_is_found_exactly_where_a_search_finds_one(case: tuple[list[Factor], tuple[int, ...]]) -> None:
    factors, sizes = case
    found = pieces(factors, sizes)
    barrier = find_barrier(factors)
    if not found:
        return  # starts are refused where nothing is possible
    assert (barrier is not None) == (len(found) > 1)
    if barrier is not None:
        assert barrier.sure
        assert len(barrier.variables) > 1
        differences = {
            tuple(v for v in range(len(sizes)) if x[v] != y[v])
            for one, other in itertools.combinations(found, 2)
            for x in one
            for y in other
        }
        assert barrier.variables in differences


@given(limits(), st.sampled_from([0, 4, 12]))
@settings(max_examples=200)
def test_what_is_said_without_enumeration_is_true(case: Any, largest: int) -> None:
    factors, sizes = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reachable, "LARGEST", largest)
        patch.setattr(reachable, "MOST_ROWS", 2)
        barrier = find_barrier(factors)
    found = pieces(factors, sizes)
    assume(found and (barrier is None or barrier.sure))
    assert (barrier is None) == (len(found) == 1)


def grid_edges(side: int) -> list[tuple[int, int]]:
    across = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    return across + [(r * side + c, (r + 1) * side + c) for r in range(side - 1) for c in range(side)]


def test_large_grids_whose_zeros_point_one_way_are_in_one_piece() -> None:
    assert find_barrier([Factor(edge, NOT_BOTH) for edge in grid_edges(30)]) is None


def test_chains_of_any_length_are_decided() -> None:
    edges = [(v, v + 1) for v in range(500)]
    assert find_barrier([Factor(edge, np.tri(3, k=1)) for edge in edges]) is None
    assert find_barrier([Factor(edge, EQUAL) for edge in edges]) == Barrier(tuple(range(501)), sure=False)


def test_a_sure_barrier_is_told_before_one_that_is_not() -> None:
    large = [Factor(edge, UNEQUAL) for edge in grid_edges(5)]
    assert find_barrier(large) == Barrier(tuple(range(25)), sure=False)
    assert find_barrier([*large, Factor((30, 31), EQUAL)]) == Barrier((30, 31), sure=True)


def test_zeros_of_single_variables_can_open_and_close_ways() -> None:
    way = Factor((0, 1), np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]))
    assert find_barrier([way]) is None
    assert find_barrier([way, Factor((1,), np.array([1.0, 0.0, 1.0]))]) == Barrier((0, 1), sure=True)
    assert find_barrier([Factor((0, 1), EQUAL), Factor((1,), np.array([1.0, 0.0]))]) is None


def test_nothing_possible_is_no_barrier() -> None:
    assert find_barrier([Factor((0, 1), np.zeros((2, 2)))]) is None
    assert find_barrier([]) is None
    assert find_barrier([Factor((), np.zeros(()))]) is None


def test_many_states_are_compared_in_little_memory() -> None:
    rng = np.random.default_rng(1)
    wide = (rng.random((100_000, 3)) < 0.8).astype(float)
    assert find_barrier([Factor((0, 1), wide)]) is None
    assert find_barrier([Factor((0, 1), EQUAL.repeat(50_000, axis=0))]) == Barrier((0, 1), sure=True)


def test_evidence_is_folded_in() -> None:
    theta = np.where(EQUAL > 0, 0.0, -np.inf).reshape(-1)
    assert find_barrier(Gibbs((2, 2), [(0, 1)], theta).limits()) == Barrier((0, 1), sure=True)
    assert find_barrier(Gibbs((2, 2), [(0, 1)], theta, {0: 1}).limits()) is None


def test_messages_name_few_variables() -> None:
    names = [f"x{v}" for v in range(25)]
    with pytest.raises(
        sf.ModelError, match=r"could not be decided.*'x0', 'x1', 'x2', 'x3' and 21 more\. Use method='ex"
    ):
        require_reachable([Factor(edge, UNEQUAL) for edge in grid_edges(5)], names)
    with pytest.raises(sf.ModelError, match=r"possible states: 'x3', 'x4' would have to change together\. Use method="):
        require_reachable([Factor((3, 4), EQUAL)], names)
    require_reachable([Factor((3, 4), NOT_BOTH)], names)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "expected"), [("alarm", None), ("pigs", None), ("asia", True), ("win95pts", True), ("water", False)]
)
def test_published_networks(data_folder: Path, name: str, expected: bool | None) -> None:
    """In Asia, an 'or' cannot change without its only cause, nor that without it; Alarm's zeros have a way round."""
    model = sf.read(data_folder / "networks_bif" / f"{name}.bif.gz")
    barrier = find_barrier(Gibbs.of_product(model._tables.inquiry.product).limits())
    assert (barrier and barrier.sure) == expected
