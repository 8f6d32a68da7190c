"""Separation in directed and undirected graphs, against walks along every path."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from tests.checking import twins

from suffice.graph.separation import d_separated, distances, moral_above, separated, thinned

NODES = "ABCDE"


@st.composite
def directed(draw: st.DrawFn) -> dict[str, list[str]]:
    return {node: [parent for parent in NODES[:position] if draw(st.booleans())] for position, node in enumerate(NODES)}


@given(directed(), st.permutations(NODES), st.integers(0, 3))
def test_d_separation_is_that_of_all_paths(parents: dict[str, list[str]], order: list[str], n_given: int) -> None:
    first, second, *others = order
    known = others[:n_given]
    assert d_separated(parents, first, second, known) == twins.d_separated(parents, first, second, known)


@given(directed())
def test_a_thinned_set_still_separates_and_can_spare_nothing(parents: dict[str, list[str]]) -> None:
    for first, second in itertools.combinations(NODES, 2):
        if first in parents[second]:
            continue
        near = moral_above(parents, [first, second])
        kept = thinned(parents[second], lambda held: separated(near, first, second, held))  # noqa: B023
        assert kept is not None
        assert d_separated(parents, first, second, kept)
        assert not any(d_separated(parents, first, second, [k for k in kept if k != one]) for one in kept)


def test_a_set_that_does_not_separate_is_none() -> None:
    assert thinned([], lambda held: separated({"A": ["B"], "B": ["A"]}, "A", "B", held)) is None


def test_distances_count_edges() -> None:
    assert distances({1: [2], 2: [1, 3], 3: [2], 4: []}, 3) == {3: 0, 2: 1, 1: 2}
