"""Kernels of chains of labels: exponentials to the last digits, and passes against all labellings and log space."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.native import label_chains as kernels

ULPS = 2


def exponentials(x: Any) -> np.ndarray:
    found = np.array(x, float)
    kernels.exponentiate(found)
    return found


def ulps_apart(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    return np.abs(found.view(np.int64) - wanted.view(np.int64))


@given(st.lists(st.floats(-708, 0), min_size=1, max_size=50))
def test_exponentials_are_right_to_the_last_digits(x: list[float]) -> None:
    assert ulps_apart(exponentials(x), np.exp(x)).max() <= ULPS


@pytest.mark.parametrize("low", [-708.0, -50.0, -1.0, -1e-8])
def test_exponentials_of_many_numbers(low: float) -> None:
    x = np.random.default_rng(0).uniform(low, 0, 200_000)
    assert ulps_apart(exponentials(x), np.exp(x)).max() <= ULPS


def test_exponentials_at_the_edges() -> None:
    halves = -np.log(2) * np.arange(0.5, 1021)  # where the number of doublings changes
    near = np.concatenate([np.nextafter(halves, 0), halves, np.nextafter(halves, -1000)])
    x = np.concatenate([near, -np.log(2) * np.arange(1021), [0.0, -0.0, -5e-324, -708.0]])
    assert ulps_apart(exponentials(x), np.exp(x)).max() <= ULPS
    assert exponentials([0.0, -0.0]).tolist() == [1.0, 1.0]
    floor = np.exp(-708.0)
    np.testing.assert_allclose(exponentials([-709.0, -1e6, -1e300, -np.inf]), floor, rtol=1e-15)


# Passes -------------------------------------------------------------------------------------------------------


class Passes:
    """Scores and steps of sequences, padded and passed over as a learner does."""

    def __init__(self, seed: int, k: int, lengths: list[int], size: float = 1.0, weights: Any = ()) -> None:
        rng = np.random.default_rng(seed)
        self.k, self.width, n = k, -(-k // 4) * 4, sum(lengths)
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.scores, self.steps = size * rng.normal(size=(n, k)), size * rng.normal(size=(k, k))
        self.weights = np.array(weights, float)
        psi = np.zeros((n, self.width))
        psi[:, :k] = self.scores
        step = np.zeros((self.width, self.width))
        step[:k, :k] = np.exp(self.steps)
        self.tops, self.totals = np.empty(n), np.empty(n)
        self.alpha, self.p = np.empty_like(psi), np.empty_like(psi)
        kernels.shift_scores(psi, k, self.tops)
        kernels.exponentiate(psi)
        kernels.forward(psi, step, self.offsets, k, self.alpha, self.totals)
        turned = np.ascontiguousarray(step.T)
        kernels.backward(psi, turned, self.offsets, self.alpha, self.totals, self.weights, self.p)
        self.psi, self.step = psi, step
        self.pairs = np.zeros((n, k, k))
        if n > 1:
            self.pairs[1:] = (self.alpha[:-1, :, None] * step * psi[1:, None, :])[:, :k, :k]

    @property
    def log_z(self) -> np.ndarray:
        logs = np.log(self.totals) + self.tops
        return np.array([logs[a:b].sum() for a, b in itertools.pairwise(self.offsets)])

    def by_hand(self, s: int) -> tuple[float, np.ndarray, np.ndarray]:
        """Return log Z and the probabilities of labels and steps, from all labellings."""
        low, high = self.offsets[s : s + 2]
        scores = self.scores[low:high]
        paths = list(itertools.product(range(self.k), repeat=high - low))
        values = np.array([self.score(scores, path) for path in paths])
        log_z = values.max() + np.log(np.exp(values - values.max()).sum())
        singles, pairs = np.zeros_like(scores), np.zeros((high - low, self.k, self.k))
        for path, p in zip(paths, np.exp(values - log_z), strict=True):
            for t, y in enumerate(path):
                singles[t, y] += p
                if t:
                    pairs[t, path[t - 1], y] += p
        return log_z, singles, pairs

    def score(self, scores: np.ndarray, path: tuple[int, ...]) -> float:
        moves = sum(self.steps[a, b] for a, b in itertools.pairwise(path))
        return float(sum(scores[t, y] for t, y in enumerate(path)) + moves)

    def in_log_space(self, s: int) -> tuple[float, np.ndarray]:
        """Return log Z and the probabilities of labels, position by position, of numbers that stay logarithms."""
        low, high = self.offsets[s : s + 2]
        scores = self.scores[low:high]
        alpha, beta, tops = scores.copy(), np.zeros_like(scores), np.zeros(len(scores))
        for t in range(len(scores)):
            if t:
                alpha[t] += np.logaddexp.reduce(alpha[t - 1][:, None] + self.steps, axis=0)
            tops[t] = alpha[t].max()  # sums of many thousands would lose digits
            alpha[t] -= tops[t]
        for t in range(len(scores) - 2, -1, -1):
            beta[t] = np.logaddexp.reduce(self.steps + scores[t + 1] + beta[t + 1], axis=1) - tops[t + 1]
        last = np.logaddexp.reduce(alpha[-1])
        return float(tops.sum() + last), np.exp(alpha + beta - last)


@given(st.integers(0, 999), st.integers(1, 4), st.lists(st.integers(0, 4), min_size=1, max_size=4), st.floats(0.1, 30))
def test_passes_are_sums_over_all_labellings(seed: int, k: int, lengths: list[int], size: float) -> None:
    found = Passes(seed, k, lengths, size)
    for s, length in enumerate(lengths):
        low, high = found.offsets[s : s + 2]
        if not length:
            continue
        log_z, singles, pairs = found.by_hand(s)
        assert found.log_z[s] == pytest.approx(log_z, rel=1e-11, abs=1e-11)
        np.testing.assert_allclose(found.p[low:high, :k], singles, atol=1e-10)
        np.testing.assert_allclose(found.pairs[low:high], pairs, atol=1e-10)
        assert not found.pairs[low].any()


@pytest.mark.parametrize("k", [1, 3, 4, 5, 23])
def test_passes_agree_with_log_space_for_any_number_of_labels(k: int) -> None:
    found = Passes(k, k, [7, 0, 1, 30], 2.0)
    for s in (0, 2, 3):
        low, high = found.offsets[s : s + 2]
        log_z, singles = found.in_log_space(s)
        assert found.log_z[s] == pytest.approx(log_z, rel=1e-12)
        np.testing.assert_allclose(found.p[low:high, :k], singles, rtol=1e-9, atol=1e-12)
        assert not found.p[low:high, k:].any()
    np.testing.assert_allclose(found.alpha.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("k", [2, 5])
def test_a_sequence_of_many_positions_loses_no_digits(k: int) -> None:
    found = Passes(1, k, [100_000], 3.0)
    log_z, singles = found.in_log_space(0)
    assert found.log_z[0] == pytest.approx(log_z, rel=1e-11)
    np.testing.assert_allclose(found.p[:, :k], singles, atol=1e-10)
    np.testing.assert_allclose(found.p.sum(axis=1), 1, atol=1e-10)


def test_weights_of_sequences_multiply_probabilities() -> None:
    plain, weighted = Passes(3, 3, [3, 0, 2]), Passes(3, 3, [3, 0, 2], weights=[2.5, 7.0, 0.0])
    factors = np.repeat([2.5, 0.0], [3, 2])
    np.testing.assert_allclose(weighted.p, plain.p * factors[:, None], rtol=1e-14)
    np.testing.assert_allclose(weighted.pairs, plain.pairs * factors[:, None, None], rtol=1e-14)
    np.testing.assert_array_equal(weighted.log_z, plain.log_z)


def test_totals_that_underflow_are_zero_and_not_nan() -> None:
    psi = np.ones((2, 4))
    alpha, totals, p = np.empty((2, 4)), np.empty(2), np.empty((2, 4))
    step = np.zeros((4, 4))
    offsets = np.array([0, 2])
    kernels.forward(psi, step, offsets, 2, alpha, totals)
    kernels.backward(psi, step, offsets, alpha, totals, np.zeros(0), p)
    assert totals.tolist() == [2.0, 0.0]
    assert np.isfinite(p).all()


# Derivatives --------------------------------------------------------------------------------------------------


def derivatives_by_hand(found: Passes, s: int, gains: Any, steps: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return P(path) · (gain − mean gain), added up by label and by step, from all labellings of a sequence."""
    low, high = found.offsets[s : s + 2]
    paths = list(itertools.product(range(found.k), repeat=high - low))
    values = np.array([found.score(found.scores[low:high], path) for path in paths])
    gained = np.array(
        [
            sum(gains[low + t, y] + (steps[low + t][path[t - 1], y] if t else 0.0) for t, y in enumerate(path))
            for path in paths
        ]
    )
    p = np.exp(values - values.max())
    p /= p.sum()
    moved = p * (gained - p @ gained)
    singles, pairs = np.zeros((high - low, found.k)), np.zeros((high - low, found.k, found.k))
    for path, own in zip(paths, moved, strict=True):
        for t, y in enumerate(path):
            singles[t, y] += own
            if t:
                pairs[t, path[t - 1], y] += own
    return singles, pairs


@given(st.integers(0, 999), st.integers(1, 4), st.lists(st.integers(0, 4), min_size=1, max_size=4), st.booleans())
def test_derivatives_are_sums_over_all_labellings(seed: int, k: int, lengths: list[int], alike: bool) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(lengths)).astype(float)
    found = Passes(seed, k, lengths, 2.0, weights)
    n = sum(lengths)
    gains, steps = rng.normal(size=(n, found.width)), rng.normal(size=(1 if alike else n, k, k))
    p, pairs = found.p.copy(), found.pairs.copy()
    kernels.along(found.offsets, p, pairs, gains, steps)
    each = np.broadcast_to(steps, (n, k, k))
    for s, (low, high) in enumerate(itertools.pairwise(found.offsets)):
        if low < high:
            singles, taken = derivatives_by_hand(found, s, gains, each)
            np.testing.assert_allclose(p[low:high, :k], weights[s] * singles, atol=1e-11)
            np.testing.assert_allclose(pairs[low:high], weights[s] * taken, atol=1e-11)
    assert not p[:, k:].any()
    if alike:
        sums, scaled = np.ones((k, k)), found.p.copy()
        kernels.along_scaled(found.offsets, found.alpha, found.step, found.psi, scaled, gains, steps[0], sums)
        np.testing.assert_allclose(scaled, p, atol=1e-12)
        np.testing.assert_allclose(sums, 1 + pairs.sum(axis=0), atol=1e-12)


# Attributes ---------------------------------------------------------------------------------------------------


@given(st.integers(0, 999), st.booleans())
def test_rows_and_single_weights_add_up_like_matrices(seed: int, unit: bool) -> None:
    rng = np.random.default_rng(seed)
    n, width, n_rows = 6, 4, 5
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))])
    codes = rng.integers(0, n_rows, starts[-1]).astype(np.int32)
    labels = rng.integers(0, width, starts[-1]).astype(np.uint8)
    values = np.zeros(0) if unit else rng.normal(size=len(codes))
    sizes = np.ones(len(codes)) if unit else values
    table, weights, p = rng.normal(size=(n_rows, width)), rng.normal(size=n_rows), rng.normal(size=(n, width))
    lo, hi = sorted(rng.integers(0, n + 1, 2).tolist())
    scores, few = np.zeros((hi - lo, width)), np.zeros((hi - lo, width))
    back, singles = np.zeros((n_rows, width)), np.zeros(n_rows)
    kernels.add_scores(starts, codes, values, table, lo, hi, scores)
    kernels.add_few_scores(starts, codes, labels, values, weights, lo, hi, few)
    kernels.add_rows(starts, codes, values, lo, hi, p[lo:hi], back)
    kernels.add_few(starts, codes, labels, values, lo, hi, p[lo:hi], singles)
    for name, found in (("scores", scores), ("few", few), ("back", back), ("singles", singles)):
        wanted = np.zeros_like(found)
        for t in range(lo, hi):
            for at in range(starts[t], starts[t + 1]):
                code, label, value = codes[at], labels[at], sizes[at]
                if name == "scores":
                    wanted[t - lo] += value * table[code]
                elif name == "few":
                    wanted[t - lo, label] += value * weights[code]
                elif name == "back":
                    wanted[code] += value * p[t]
                else:
                    wanted[code] += value * p[t, label]
        np.testing.assert_allclose(found, wanted, atol=1e-12, err_msg=name)


def test_rows_of_the_label_before_are_added_and_added_to() -> None:
    labels, offsets = np.array([1, 0, 1, 1], np.int32), np.array([0, 3, 3, 4])
    matrix = np.array([[1.0, 2.0], [10.0, 20.0]])
    scores = np.zeros((4, 4))
    kernels.add_before(scores, labels, offsets, matrix)
    assert scores[:, :2].tolist() == [[0, 0], [10, 20], [1, 2], [0, 0]]
    assert not scores[:, 2:].any()
    sums, p = np.zeros((2, 2)), np.arange(16.0).reshape(4, 4)
    kernels.add_to_before(p, labels, offsets, sums)
    assert sums.tolist() == [[8, 9], [4, 5]]


@pytest.mark.parametrize("k", [1, 3, 4, 5, 23])
def test_scores_become_probabilities(k: int) -> None:
    rng = np.random.default_rng(k)
    width = -(-k // 4) * 4
    psi, totals, weights = rng.uniform(0.1, 1, (6, width)), np.empty(6), rng.uniform(0, 2, 6)
    expected = psi[:, :k] / psi[:, :k].sum(axis=1, keepdims=True)
    sums = psi[:, :k].sum(axis=1)
    plain, weighted = psi.copy(), psi.copy()
    kernels.normalise(plain, k, totals, np.zeros(0))
    np.testing.assert_allclose(totals, sums, rtol=1e-14)
    np.testing.assert_allclose(plain[:, :k], expected, rtol=1e-14)
    kernels.normalise(weighted, k, totals, weights)
    np.testing.assert_allclose(weighted[:, :k], expected * weights[:, None], rtol=1e-14)
    assert not plain[:, k:].any()
