"""The independences of a basis hold in the graph, and imply all others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checking import twins

from suffice.checking.independences import Independence, between, of_directed, of_undirected
from suffice.graph.separation import separated

NODES = "ABCDE"
SEED = st.integers(0, 2**32 - 1)


@st.composite
def directed(draw: st.DrawFn) -> dict[str, list[str]]:
    names = draw(st.permutations(NODES))
    return {node: [other for other in names[:position] if draw(st.booleans())] for position, node in enumerate(names)}


@st.composite
def undirected(draw: st.DrawFn) -> dict[str, list[str]]:
    joined = {pair for pair in itertools.combinations(NODES, 2) if draw(st.booleans())}
    return {node: [other for other in NODES if {(node, other), (other, node)} & joined] for node in NODES}


@given(directed())
def test_every_pair_that_is_not_joined_has_one_true_independence(parents: dict[str, list[str]]) -> None:
    found, left_out = of_directed(parents, most=100)
    pairs = [{claim.first, claim.second} for claim in found]
    missing = [{a, b} for a, b in itertools.combinations(NODES, 2) if a not in parents[b] and b not in parents[a]]
    assert sorted(map(sorted, pairs)) == sorted(map(sorted, missing))
    assert left_out == 0
    for claim in found:
        assert set(claim.given) <= set(parents[claim.first])
        assert twins.d_separated(parents, claim.first, claim.second, claim.given)


@given(directed(), SEED)
@settings(max_examples=40)
def test_partial_correlations_of_the_basis_imply_all_others(parents: dict[str, list[str]], seed: int) -> None:
    """A normal distribution that fulfils the basis, found from it alone, is Markov to the whole graph."""
    found, _ = of_directed(parents, most=100)
    order = list(parents)
    covariance = _fulfilling(found, order, seed)
    partial = []
    for first, second in itertools.combinations(NODES, 2):
        rest = [node for node in NODES if node not in (first, second)]
        for known in itertools.chain.from_iterable(itertools.combinations(rest, n) for n in range(len(rest) + 1)):
            if twins.d_separated(parents, first, second, known):
                places = [order.index(name) for name in (first, second, *known)]
                partial.append(np.linalg.inv(covariance[np.ix_(places, places)])[0, 1])
    assert len(partial) >= len(found)
    assert np.abs(partial).max(initial=0) < 1e-7


def _fulfilling(claims: list[Independence], order: list[str], seed: int) -> np.ndarray:
    """Build covariances node by node: free where nothing is claimed, and what the claims leave where something is."""
    rng = np.random.default_rng(seed)
    n = len(order)
    covariance = np.eye(n)
    for place, node in enumerate(order):
        mine = {claim.second: claim.given for claim in claims if claim.first == node}
        # Linear conditions on the covariances with earlier nodes: c_u = Σ_gu Σ_gg⁻¹ c_g for u ⊥ node | g.
        conditions = []
        for second, known in mine.items():
            row = np.zeros(place)
            u, g = order.index(second), [order.index(name) for name in known]
            row[u] = 1.0
            row[g] -= np.linalg.solve(covariance[np.ix_(g, g)], covariance[g, u])
            conditions.append(row)
        free = rng.normal(size=place)
        if conditions:
            a = np.array(conditions)
            free = free - np.linalg.pinv(a) @ (a @ free)
        covariance[place, :place] = covariance[:place, place] = free
        explained = free @ np.linalg.solve(covariance[:place, :place], free) if place else 0.0
        covariance[place, place] = explained + 1.0
    return covariance


@given(undirected())
def test_separators_of_an_undirected_graph_separate(graph: dict[str, list[str]]) -> None:
    found, left_out = of_undirected(graph, most=100)
    assert left_out == 0
    assert len(found) == 10 - sum(map(len, graph.values())) // 2
    for claim in found:
        assert separated(graph, claim.first, claim.second, claim.given)


def test_a_ring_is_conditioned_on_both_neighbours() -> None:
    ring = {"A": ["B", "D"], "B": ["A", "C"], "C": ["B", "D"], "D": ["A", "C"]}
    assert [str(claim) for claim in of_undirected(ring, most=9)[0]] == ["C ⊥ A | B, D", "D ⊥ B | A, C"]
    assert between(ring, "A", "B") in (("D",), ("C",))


def test_near_pairs_go_first_where_there_are_too_many() -> None:
    chain = {"A": [], "B": ["A"], "C": ["B"], "D": ["C"], "E": ["D"]}
    found, left_out = of_directed(chain, most=3)
    assert [str(claim) for claim in found] == ["C ⊥ A | B", "D ⊥ B | C", "E ⊥ C | D"]
    assert left_out == 3


@pytest.mark.parametrize(
    ("parents", "hidden", "expected"),
    [
        ({"H": [], "A": ["H"], "B": ["H"]}, ["H"], []),
        ({"A": [], "H": ["A"], "B": ["H"], "C": ["A", "B"]}, ["H"], []),
        ({"A": [], "B": ["A"], "H": ["B"], "C": ["H"]}, ["H"], ["C ⊥ A | B"]),
        ({"A": [], "B": [], "H": ["A"], "C": ["H", "B"]}, ["H"], ["B ⊥ A"]),
    ],
)
def test_what_only_latent_variables_hold_apart_is_left_out(
    parents: dict[str, list[str]], hidden: list[str], expected: list[str]
) -> None:
    assert [str(claim) for claim in of_directed(parents, most=9, hidden=hidden)[0]] == expected


def test_a_latent_variable_of_cliques_holds_apart_nothing_that_is_seen() -> None:
    graph = {"A": ["H"], "B": ["H"], "H": ["A", "B", "C"], "C": ["H", "D"], "D": ["C"]}
    assert [str(claim) for claim in of_undirected(graph, most=9, hidden=["H"])[0]] == ["D ⊥ A | C", "D ⊥ B | C"]
