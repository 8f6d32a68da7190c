"""Slow statistical tests: sweeps leave exact distributions as they are, and long chains find them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import suffice as sf
from suffice.inference.chains import effective_size, r_hat
from suffice.inference.clique_family import family_of
from suffice.inference.gibbs import Gibbs
from suffice.native.gibbs import draw_words

pytestmark = pytest.mark.slow

ALPHA = 1e-4
"""The chance that a test fails by bad luck, all its cells together; seeds are fixed."""


def limit(n_cells: int) -> float:
    return float(stats.norm.isf(ALPHA / (2 * n_cells)))


def grid(side: int, scale: float, seed: int) -> tuple[tuple[int, ...], list[tuple[int, int]], Any]:
    edges = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    edges += [(r * side + c, (r + 1) * side + c) for r in range(side - 1) for c in range(side)]
    return (2,) * side**2, edges, np.random.default_rng(seed).normal(0, scale, 4 * len(edges))


def test_long_chains_on_a_grid_agree_with_the_junction_tree() -> None:
    """720 cells; 2048 chains × 1000 sweeps, worth more than 100,000 independent draws of every spin."""
    sizes, edges, theta = grid(10, 0.5, 1)
    expected = family_of([f"x{v}" for v in range(100)], sizes, edges).at(theta).expected
    chains = Gibbs(sizes, edges, theta)
    states = chains.start(2048, 5)
    chains.run(states, 1000, 5)
    shares = chains.visits(states, 1000, 5, first=1000) / 1000
    errors = np.sqrt(shares.var(axis=0, ddof=1) / len(shares))
    worth = expected * (1 - expected) / errors**2
    assert worth.min() > 100_000
    assert (np.abs(shares.mean(axis=0) - expected) / errors).max() < limit(len(expected))


def shares_after(model: sf.BayesianNetwork, n: int, sweeps: int, change: float) -> tuple[Any, Any]:
    """Draw rows exactly, sweep them, and return the counts of all cells, and what is expected of them."""
    chains = Gibbs.of_product(model._tables.inquiry.product)
    if change:
        chains = chains.with_theta(chains.theta * (1 + change))
    codes = [block.columns for block in model.sample_blocks(n, seed=7)]
    columns = [np.concatenate([columns[name] for columns in codes]) for name in model.variables]
    states = np.ascontiguousarray(np.stack(columns, axis=1).astype(chains.dtype))
    chains.run(states, sweeps, 11)
    counts, expected = [], []
    for factor in model._tables.inquiry.product.factors:
        table = np.zeros(factor.values.shape)
        np.add.at(table, tuple(states[:, v] for v in factor.scope), 1)
        counts.append(table.reshape(-1))
        expected.append(model.query([model.variables[v] for v in factor.scope]).values.reshape(-1))
    return np.concatenate(counts), np.concatenate(expected)


@pytest.mark.data
@pytest.mark.parametrize("change", [0.0, 0.05], ids=["as it is", "tables raised to the power 1.05"])
def test_sweeps_leave_the_distribution_of_alarm_as_it_is(data_folder: Path, change: float) -> None:
    """Rows drawn exactly stay independent rows of the same distribution; no burning in, hence plain binomial errors.

    With tables that are a little off, the same test fails: it would notice.
    """
    n, model = 200_000, sf.read(data_folder / "networks_bif" / "alarm.bif.gz")
    counts, p = shares_after(model, n, 3, change)
    common = (n * p > 25) & (n * (1 - p) > 25)  # where a binomial count is nearly normal
    assert common.sum() > 300
    z = (counts - n * p)[common] / np.sqrt(n * p * (1 - p))[common]
    assert not counts[p == 0].any()
    if change:
        assert np.abs(z).max() > 2 * limit(int(common.sum()))
    else:
        assert np.abs(z).max() < limit(int(common.sum()))


def test_chains_at_low_temperature_are_told_to_be_worth_little() -> None:
    """Strong couplings: magnetisation changes its sign rarely, and the diagnostics say so."""
    sizes, edges, _ = grid(16, 0.0, 1)
    found = {}
    for coupling in (0.1, 0.6):
        theta = np.tile(coupling * np.array([1.0, -1.0, -1.0, 1.0]), len(edges))
        chains = Gibbs(sizes, edges, theta)
        states = chains.start(16, 3)
        draws = np.empty((16, 2000))
        for sweep in range(2000):
            chains.run(states, 1, 3, sweep)
            draws[:, sweep] = states.mean(axis=1)
        found[coupling] = effective_size(draws), r_hat(draws)
    assert found[0.1][0] > 8000
    assert found[0.1][1] < 1.01
    assert found[0.6][0] < 200
    assert found[0.6][1] > 1.1


@pytest.mark.parametrize("axis", ["chain", "sweep", "variable", "key"])
def test_words_of_neighbouring_counters_look_independent(axis: str) -> None:
    """Bits are even, bytes uniform, consecutive words uncorrelated, and few equal."""
    words = np.empty((1 << 16, 4), np.uint32)
    for i, row in enumerate(words):
        at = {"chain": 0, "sweep": 0, "variable": 0, "key": 0, axis: 4 * i if axis == "chain" else i}
        draw_words(row, **at, lower=False)
    bits = np.unpackbits(words.view(np.uint8))
    assert abs(bits.mean() - 0.5) < 4.5 * 0.5 / np.sqrt(bits.size)
    assert stats.chisquare(np.bincount(words.view(np.uint8).reshape(-1), minlength=256)).pvalue > 1e-5
    u = words / 2.0**32 - 0.5
    for first, second in ((u[:-1], u[1:]), (u[:, :-1], u[:, 1:])):
        assert abs((first * second).mean() * 12) < 4.5 / np.sqrt(first.size)
    assert words.size - len(np.unique(words)) < 40  # 8 pairs are expected to be equal by chance
