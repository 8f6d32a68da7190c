"""Kernels of hidden chains: passes against all paths, pieces against whole sequences, and numbers at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.hidden_twin import Paths

import suffice as sf
from suffice.inference import hidden_chains
from suffice.inference.hidden_chains import HiddenChain, NormalEmission, TableEmission


def some_chain(seed: int, k: int, zeros: bool = False, normal: bool = False) -> HiddenChain:
    rng = np.random.default_rng(seed)
    step = rng.dirichlet(np.ones(k), k)
    if zeros and k > 1:
        step[0, -1] = 0.0
        step /= step.sum(axis=1, keepdims=True)
    emissions: tuple = (TableEmission("x", rng.dirichlet(np.ones(3), k)),)
    if normal:
        emissions += (NormalEmission("y", rng.normal(size=k), rng.uniform(0.3, 3, k), 0.7),)
    return HiddenChain(rng.dirichlet(np.ones(k)), step, emissions)


def some_columns(seed: int, n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    y[rng.random(n) < 0.2] = np.nan
    return {"x": rng.integers(-1, 3, n).astype(np.int8), "y": y}


def shown(chain: HiddenChain, columns: dict[str, np.ndarray], low: int, high: int) -> np.ndarray:
    found = np.ones((high - low, chain.n_states))
    for emission in chain.emissions:
        for t, value in enumerate(columns[emission.name][low:high]):
            if isinstance(emission, TableEmission) and value >= 0:
                found[t] *= emission.rows[:, value]
            if isinstance(emission, NormalEmission) and not np.isnan(value):
                gap = (value - emission.mean) ** 2 / emission.variance
                found[t] *= np.exp(-0.5 * gap) / np.sqrt(2 * np.pi * emission.variance)
    return found


def starts_of(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.integers(1, 3),
    st.lists(st.integers(0, 5), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_passes_equal_sums_over_all_paths(seed: int, k: int, lengths: list[int], zeros: bool, normal: bool) -> None:
    chain, offsets = some_chain(seed, k, zeros, normal), starts_of(lengths)
    columns, weights = some_columns(seed, int(offsets[-1])), np.arange(1.0, len(lengths) + 1)
    found = chain.expected(columns, offsets, weights)
    worth, gamma = chain.log_likelihoods(columns, offsets), chain.posteriors(columns, offsets)
    best = chain.paths(columns, offsets)
    first, pairs, total = np.zeros(k), np.zeros((k, k)), 0.0
    counts, sums = np.zeros((3, k)), np.zeros((k, 3))
    for s, weight in enumerate(weights):
        low, high = int(offsets[s]), int(offsets[s + 1])
        if low == high:
            assert worth[s] == 0
            continue
        twin = Paths(chain.initial, chain.transitions, shown(chain, columns, low, high))
        assert worth[s] == pytest.approx(twin.log_prob, rel=1e-12)
        own = twin.posteriors()
        np.testing.assert_allclose(gamma[low:high], own, atol=1e-12)
        at = twin.paths.index(tuple(best[low:high].tolist()))
        assert twin.p[at] == pytest.approx(twin.p.max(), rel=1e-12)
        total += weight * twin.log_prob
        first += weight * own[0]
        pairs += weight * twin.pairs()
        for t in range(low, high):
            if columns["x"][t] >= 0:
                counts[columns["x"][t]] += weight * own[t - low]
            if normal and not np.isnan(columns["y"][t]):
                y = columns["y"][t] - 0.7
                sums += weight * own[t - low][:, None] * np.array([1.0, y, y * y])
    assert found.log_likelihood == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(found.first, first, atol=1e-12)
    np.testing.assert_allclose(found.pairs, pairs, atol=1e-12)
    np.testing.assert_allclose(found.sums[0], counts, atol=1e-12)
    if normal:
        np.testing.assert_allclose(found.sums[1], sums, atol=1e-11)


@pytest.mark.parametrize("normal", [False, True])
def test_sequences_of_many_pieces_equal_those_of_one(normal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    chain, offsets = some_chain(5, 3, zeros=True, normal=normal), starts_of([300, 0, 65, 64, 1, 200])
    columns, weights = some_columns(5, int(offsets[-1])), np.array([1.0, 1.0, 2.0, 1.0, 0.5, 1.0])

    def all_of_it() -> tuple:
        found = chain.expected(columns, offsets, weights)
        return (
            found.log_likelihood, found.first, found.pairs, *found.sums, chain.log_likelihoods(columns, offsets),
            chain.posteriors(columns, offsets), chain.paths(columns, offsets),
        )  # fmt: skip

    whole = all_of_it()
    monkeypatch.setattr(hidden_chains, "PIECE_CELLS", 1)
    assert chain.piece == 64
    for one, other in zip(all_of_it(), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_results_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, offsets = some_chain(1, 3, normal=True), starts_of([40] * 50)
    columns, weights = some_columns(1, int(offsets[-1])), np.ones(50)
    monkeypatch.setattr(hidden_chains, "RANGE_POSITIONS", 100)
    found = []
    before = sf.config().threads
    try:
        for threads in (1, 2, 4):
            sf.config(threads=threads)
            found.append(chain.expected(columns, offsets, weights))
    finally:
        sf.config(threads=before)
    alone, *others = found
    assert [other.log_likelihood for other in others] == [alone.log_likelihood] * 2
    for other in others:
        np.testing.assert_array_equal(other.pairs, alone.pairs)
        np.testing.assert_array_equal(other.sums[1], alone.sums[1])


def test_no_sequences_at_all() -> None:
    found = some_chain(1, 2).expected({"x": np.zeros(0, np.int8)}, np.zeros(1, np.int64), np.zeros(0))
    assert (found.log_likelihood, found.impossible, found.pairs.sum()) == (0.0, -1, 0.0)


def test_an_outlier_in_a_state_that_cannot_be_left_is_improbable_and_not_impossible() -> None:
    chain = HiddenChain(
        np.array([1.0, 0.0]), np.eye(2), (NormalEmission("y", np.array([0.0, 100.0]), np.array([1.0, 1.0])),)
    )
    y, offsets = {"y": np.array([0.0, 100.0, 0.0])}, starts_of([3])
    wanted = -1.5 * math.log(2 * math.pi) - 5000
    assert chain.log_likelihoods(y, offsets)[0] == pytest.approx(wanted, rel=1e-14)
    found = chain.expected(y, offsets, np.ones(1))
    assert found.log_likelihood == pytest.approx(wanted, rel=1e-14)
    np.testing.assert_allclose(found.pairs, [[2, 0], [0, 0]], atol=1e-12)
    np.testing.assert_allclose(found.sums[0], [[3, 100, 10_000], [0, 0, 0]], atol=1e-12)


def test_a_state_that_is_never_reached_may_explain_everything_better() -> None:
    rows = np.array([[1e-6, 1 - 1e-6], [1 - 1e-6, 1e-6]])
    chain = HiddenChain(np.array([1.0, 0.0]), np.eye(2), (TableEmission("x", rows),))
    offsets = starts_of([5000])
    found = chain.expected({"x": np.zeros(5000, np.int8)}, offsets, np.ones(1))
    assert found.log_likelihood == pytest.approx(5000 * math.log(1e-6), rel=1e-12)
    np.testing.assert_allclose(found.pairs, [[4999, 0], [0, 0]], rtol=1e-12)


def test_impossible_sequences_are_named() -> None:
    chain = HiddenChain(np.array([1.0]), np.array([[1.0]]), (TableEmission("x", np.array([[1.0, 0.0]])),))
    columns, offsets = {"x": np.array([0, 0, 1, 0], np.int8)}, starts_of([2, 2])
    found = chain.expected(columns, offsets, np.ones(2))
    assert found.impossible == 1
    assert chain.log_likelihoods(columns, offsets).tolist() == [0.0, -math.inf]
    assert np.isnan(chain.posteriors(columns, offsets)[2:]).all()
