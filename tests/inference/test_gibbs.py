"""Gibbs sampling: chains depend on their key alone, starts are possible, shares agree with exact marginals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.inference import gibbs
from suffice.inference.chains import effective_size
from suffice.inference.clique_family import Layout, family_of
from suffice.inference.gibbs import TILE, Gibbs, coloured
from suffice.inference.inquiry import Given
from suffice.inference.product import Factor, Product
from suffice.settings import settings as library_settings

ALPHA = 1e-4
"""The chance that a test against exact marginals fails by bad luck, all its cells together; seeds are fixed."""


@pytest.fixture(autouse=True)
def _same_settings() -> Iterator[None]:
    before = library_settings()
    yield
    sf.config(threads=before.threads, memory=before.memory)


def grid_edges(side: int) -> list[tuple[int, int]]:
    across = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    return across + [(r * side + c, (r + 1) * side + c) for r in range(side - 1) for c in range(side)]


def random_model(sizes: tuple[int, ...], scopes: Sequence[tuple[int, ...]], scale: float, seed: int) -> Any:
    theta = np.random.default_rng(seed).normal(0, scale, Layout(sizes, tuple(scopes)).n)
    return sizes, scopes, theta


GRID = random_model((2,) * 16, grid_edges(4), 0.6, 1)
MODELS = {
    "grid": GRID,
    "Potts, 3 states": random_model((3,) * 9, grid_edges(3), 0.5, 2),
    "tables over 3 variables": random_model((2, 3, 2, 2, 4), [(0, 1, 2), (2, 3, 4), (1, 4), (3,)], 0.7, 3),
    "more neighbours than are tabulated": random_model(
        (2,) * 10, [*itertools.combinations(range(10), 2), *((v,) for v in range(10))], 0.15, 4
    ),
    "a variable in no table": random_model((2, 3), [(0,)], 1.0, 5),
}


def exact(sizes: tuple[int, ...], scopes: list[tuple[int, ...]], theta: Any) -> Any:
    return family_of([f"x{v}" for v in range(len(sizes))], sizes, scopes).at(theta).expected


def largest_z(chains: Gibbs, expected: Any, n_chains: int = 1024, sweeps: int = 100, key: int = 2026) -> float:
    """Return the largest |z| over all cells; chains are independent, so that the spread of their means is the error."""
    states = chains.start(n_chains, key)
    chains.run(states, 100, key)
    shares = chains.visits(states, sweeps, key, first=100) / sweeps
    errors = np.sqrt(shares.var(axis=0, ddof=1) / n_chains)
    gaps = np.abs(shares.mean(axis=0) - expected)
    never = expected < 1e-300
    assert not shares[:, never].any()
    return float((gaps[~never] / np.maximum(errors[~never], 1e-12)).max())


def limit(n_cells: int) -> float:
    """Return the z that none of so many cells exceeds, but for the chance ALPHA."""
    return float(stats.norm.isf(ALPHA / (2 * n_cells)))


# Shares against exact marginals -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_shares_of_cells_agree_with_exact_marginals(name: str) -> None:
    sizes, scopes, theta = MODELS[name]
    assert largest_z(Gibbs(sizes, scopes, theta), exact(sizes, scopes, theta)) < limit(len(theta))


def test_draws_of_the_grid_are_worth_many_independent_ones() -> None:
    """What the test above rests on: at least 20,000 effective draws of every spin."""
    chains = Gibbs(*GRID)
    states = chains.start(256, 1)
    chains.run(states, 100, 1)
    draws = np.empty((400, *states.shape))
    for sweep, draw in enumerate(draws):
        chains.run(states, 1, 1, 100 + sweep)
        draw[:] = states
    assert min(effective_size(draws[:, :, v].T) for v in range(16)) > 20_000


@pytest.mark.parametrize("cell", [0, 17, 50])
def test_a_slightly_wrong_conditional_is_noticed(cell: int) -> None:
    """Power: one number of one table is off by 0.1, and the same test fails."""
    sizes, scopes, theta = GRID
    wrong = theta.copy()
    wrong[cell] += 0.1
    assert largest_z(Gibbs(sizes, scopes, wrong), exact(sizes, scopes, theta)) > 1.5 * limit(len(theta))


def test_fixed_variables_stay_and_the_others_follow_the_conditional_distribution() -> None:
    sizes, scopes, theta = MODELS["tables over 3 variables"]
    fixed = {1: 2, 3: 0}
    known = theta.copy()
    for table, scope in zip(Layout(sizes, tuple(scopes)).tables(known), scopes, strict=True):
        for v, code in fixed.items():
            if v in scope:
                np.moveaxis(table, scope.index(v), 0)[np.arange(sizes[v]) != code] = -np.inf
    chains = Gibbs(sizes, scopes, theta, fixed)
    assert largest_z(chains, exact(sizes, scopes, known)) < limit(len(theta))


def test_a_bayesian_network_with_soft_and_hard_evidence() -> None:
    rng = np.random.default_rng(8)
    parents: tuple[tuple[int, ...], ...] = ((), (0,), (0, 1), (2,))
    sizes = (2, 3, 2, 3)
    tables = [rng.dirichlet(np.ones(sizes[v]), [sizes[u] for u in above]) for v, above in enumerate(parents)]
    factors = tuple(Factor((*above, v), tables[v]) for v, above in enumerate(parents))
    product = Product(tuple("ABCD"), sizes, factors, parents)
    weights = np.array([0.9, 0.3, 0.0])
    chains = Gibbs.of_product(product, Given({0: 1}, {3: weights}))
    joint = np.einsum("a,ab,abc,cd,d->abcd", *tables, weights)
    joint[0] = 0
    joint /= joint.sum()
    scopes = [*product.scopes, (3,)]
    axes = [tuple(v for v in range(4) if v not in scope) for scope in scopes]
    expected = np.concatenate([joint.sum(axis=out).reshape(-1) for out in axes])
    assert largest_z(chains, expected) < limit(len(expected))


# Reproducibility ----------------------------------------------------------------------------------------------


def test_threads_and_tiles_and_chunks_change_nothing() -> None:
    chains, n_chains = Gibbs(*MODELS["Potts, 3 states"]), 2 * TILE + 37
    start = chains.start(n_chains, 5)
    whole = {}
    for threads in (1, 2, 3):
        sf.config(threads=threads)
        assert (chains.start(n_chains, 5) == start).all()
        whole[threads] = start.copy()
        chains.run(whole[threads], 30, 5)
    parts = start.copy()
    for first, sweeps in ((0, 1), (1, 0), (1, 16), (17, 13)):
        chains.run(parts, sweeps, 5, first)
    assert all((states == parts).all() for states in whole.values())
    assert (parts != start).any()


def test_a_chain_does_not_depend_on_the_others() -> None:
    chains = Gibbs(*GRID)
    many = chains.start(150, 5)
    few = many[:3].copy()
    chains.run(many, 20, 5)
    chains.run(few, 20, 5)
    assert (many[:3] == few).all()


def test_visits_count_the_cells_after_every_sweep() -> None:
    sizes, scopes, theta = MODELS["tables over 3 variables"]
    chains = Gibbs(sizes, scopes, theta, {4: 3})
    states = chains.start(5, 7)
    by_hand, slow = np.zeros((5, chains.layout.n)), states.copy()
    for sweep in range(10, 16):
        chains.run(slow, 1, 7, sweep)
        for counts, row in zip(by_hand, slow, strict=True):
            for scope, table in zip(scopes, chains.layout.tables(counts), strict=True):
                table[tuple(row[list(scope)])] += 1
    found = {}
    for threads in (1, 2):
        sf.config(threads=threads)
        found[threads] = chains.visits(states.copy(), 6, 7, 10)
    assert (found[1] == by_hand).all()
    assert (found[2] == by_hand).all()


def test_keys_and_chains_and_sweeps_differ() -> None:
    chains = Gibbs((2,) * 64, [], np.zeros(0))
    states = chains.start(8, 3)
    seen = {states.tobytes()}
    for key, first in ((3, 0), (3, 1), (4, 0), (3 + 2**32, 0), (3, 2**32)):
        moved = states.copy()
        chains.run(moved, 1, key, first)
        seen.add(moved.tobytes())
        assert len(np.unique(moved, axis=0)) == 8
    assert len(seen) == 6


def test_other_parameters_are_those_of_a_new_sampler() -> None:
    sizes, scopes, theta = GRID
    states = Gibbs(sizes, scopes, theta).start(8, 3)
    again = states.copy()
    Gibbs(sizes, scopes, theta).with_theta(2 * theta).run(states, 5, 3)
    Gibbs(sizes, scopes, 2 * theta).run(again, 5, 3)
    assert (states == again).all()


# Starts -------------------------------------------------------------------------------------------------------


def test_starts_are_uniform_and_independent() -> None:
    states = Gibbs((2, 3), [], np.zeros(0)).start(6000, 1)
    cells = np.bincount(states[:, 0].astype(int) * 3 + states[:, 1], minlength=6)
    assert stats.chisquare(cells).pvalue > 0.001


@given(data=st.data())
@settings(max_examples=150)
def test_a_possible_start_is_found_exactly_when_there_is_one(data: st.DataObject) -> None:
    sizes = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=5)))
    scope = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=3, unique=True).map(tuple)
    scopes = data.draw(st.lists(scope, min_size=1, max_size=5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    layout = Layout(sizes, tuple(scopes))
    theta = np.where(rng.random(layout.n) < data.draw(st.sampled_from([0.2, 0.5, 0.8])), -np.inf, 0.0)
    fixed = {v: int(rng.integers(sizes[v])) for v in data.draw(st.sets(st.integers(0, len(sizes) - 1), max_size=2))}
    tables = list(zip(scopes, layout.tables(theta), strict=True))

    def possible(x: Any) -> bool:
        return all(table[tuple(x[v] for v in scope)] == 0 for scope, table in tables)

    chains = Gibbs(sizes, scopes, theta, fixed)
    wanted = [range(size) if v not in fixed else [fixed[v]] for v, size in enumerate(sizes)]
    if any(map(possible, itertools.product(*wanted))):
        states = chains.start(9, 1)
        assert all(map(possible, states))
        assert all((states[:, v] == code).all() for v, code in fixed.items())
        chains.run(states, 10, 1)
        assert all(map(possible, states))
    else:
        with pytest.raises(sf.ModelError, match="No state of positive probability was found"):
            chains.start(9, 1)


def test_starts_where_filling_in_order_runs_into_dead_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A 7×7 grid of 3 states, neighbours unequal, variables numbered at random: choices must be taken back."""
    place = np.random.default_rng(3).permutation(49)
    edges = [(int(place[a]), int(place[b])) for a, b in grid_edges(7)]
    unequal = np.where(np.eye(3), -np.inf, 0.0).reshape(-1)
    chains = Gibbs((3,) * 49, edges, np.tile(unequal, len(edges)))
    states = chains.start(200, 4)
    assert all((states[:, a] != states[:, b]).all() for a, b in edges)
    assert len(np.unique(states, axis=0)) == 200
    monkeypatch.setattr(gibbs, "PENALTIES", ())
    assert len(np.unique(chains.start(200, 4), axis=0)) < 100  # filling in order alone


def test_chains_without_a_possible_state_take_one_of_another_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = [(0, 2), (1, 2), (0, 3), (1, 3)]
    unequal = np.where(np.eye(2), -np.inf, 0.0).reshape(-1)
    monkeypatch.setattr(gibbs, "PENALTIES", ())
    states = Gibbs((2,) * 4, edges, np.tile(unequal, 4)).start(64, 4)
    assert np.unique(states, axis=0).tolist() == [[0, 0, 1, 1], [1, 1, 0, 0]]


def test_colours_join_what_shares_no_table() -> None:
    assert coloured({0: {1, 3}, 1: {0, 2}, 2: {1, 3}, 3: {0, 2}}) == [0, 2, 1, 3]
    assert coloured({}) == []


# Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "states",
    [
        np.zeros((2, 2), np.int64),
        np.zeros((2, 3), np.uint8),
        np.zeros(2, np.uint8),
        np.full((1, 2), 3, np.uint8),
        np.zeros((2, 4), np.uint8)[:, ::2],
        [[0, 1]],
        np.array([[0, 0]], np.uint8),
    ],
    ids=["type", "columns", "axes", "codes", "order", "list", "fixed"],
)
def test_states_that_kernels_cannot_take_are_refused(states: Any) -> None:
    chains = Gibbs((2, 3), [(0, 1)], np.zeros(6), {1: 1})
    with pytest.raises(sf.ArgumentError, match=r"'states' argument must be an array of uint8.*start\(n_chains"):
        chains.run(states, 1, 0)


def test_parameters_of_another_size_are_refused() -> None:
    with pytest.raises(sf.ArgumentError, match=r"6 cells of all tables.*shape \(5,\)"):
        Gibbs((2, 3), [(0, 1)], np.zeros(5))


def test_what_would_not_fit_is_refused_before_it_is_made() -> None:
    chains = Gibbs((2, 500), [(0, 1)], np.zeros(1000))
    states = chains.start(200, 1)
    sf.config(memory="1MB")
    with pytest.raises(sf.ModelError, match=r"visited cells of 200 chains would need 1\.6 MB, and may use 1 MB"):
        chains.visits(states, 1, 1)
    with pytest.raises(sf.ModelError, match="The states of 1,000,000 chains would need 24 MB"):
        chains.start(1_000_000, 1)
