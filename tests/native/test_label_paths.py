"""Kernels for paths of labels: the same as NumPy, position by position, on inputs too large to enumerate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.native import label_paths_twin as plain

from suffice.native import label_paths as kernels


def made(n_labels: int, lengths: list[int], shared: bool, forbidden: float, scale: float, seed: int) -> Any:
    """Offsets, scores and steps; the first label may always follow itself, so that some path is possible."""
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *lengths]).astype(np.int64)
    shape = (1 if shared else max(int(offsets[-1]), 1), n_labels, n_labels)
    scores, steps = rng.normal(size=(int(offsets[-1]), n_labels)) * scale, rng.normal(size=shape) * scale
    scores[rng.random(scores.shape) < forbidden] = -np.inf
    steps[rng.random(steps.shape) < forbidden] = -np.inf
    scores[:, 0], steps[:, 0, 0] = -scale, 0.5
    for values in (offsets, scores, steps):
        values.flags.writeable = False
    return offsets, scores, steps


chains = st.builds(
    made,
    st.integers(1, 23),
    st.lists(st.integers(0, 40), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.sampled_from([1.0, 30.0, 1e4]),
    st.integers(0, 10_000),
)


@settings(max_examples=60)
@given(chains)
def test_best_paths(chain: Any) -> None:
    offsets, scores, steps = chain
    found = []
    for run in (plain, kernels):
        labels, totals = np.zeros(len(scores), np.int32), np.zeros(len(offsets) - 1)
        assert run.best_paths(offsets, 0, len(offsets) - 1, scores, steps, labels, totals) == -1
        found.append((labels, totals))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@settings(max_examples=60)
@given(chains, st.integers(1, 6))
def test_n_best(chain: Any, n: int) -> None:
    offsets, scores, steps = chain
    n_sequences = len(offsets) - 1
    listed = []
    for run in (plain, kernels):
        paths, totals = np.zeros((n, len(scores)), np.int32), np.zeros((n_sequences, n))
        found = np.zeros(n_sequences, np.int64)
        assert run.n_best(offsets, 0, n_sequences, scores, steps, n, paths, totals, found) == -1
        listed.append(
            [
                [(paths[r, offsets[s] : offsets[s + 1]].tolist(), totals[s, r]) for r in range(found[s])]
                for s in range(n_sequences)
            ]
        )
    assert listed[0] == listed[1]
    labels, best = np.zeros(len(scores), np.int32), np.zeros(n_sequences)
    kernels.best_paths(offsets, 0, n_sequences, scores, steps, labels, best)
    for s, paths_of_one in enumerate(listed[1]):
        assert paths_of_one[0] == (labels[offsets[s] : offsets[s + 1]].tolist(), best[s])


@settings(max_examples=60)
@given(chains)
def test_sums_and_probabilities(chain: Any) -> None:
    offsets, scores, steps = chain
    n_sequences, n_labels = len(offsets) - 1, scores.shape[1]
    found = []
    for run in (plain, kernels):
        sums, chances = np.zeros(n_sequences), np.zeros_like(scores)
        pairs = np.full((len(scores), n_labels, n_labels), np.nan)
        assert run.forward(offsets, 0, n_sequences, scores, steps, chances, sums) == -1
        assert run.backward(offsets, 0, n_sequences, steps, chances, pairs) == -1
        np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-12)
        for s in range(n_sequences):
            inner = slice(offsets[s] + 1, max(offsets[s + 1], offsets[s] + 1))
            np.testing.assert_allclose(pairs[inner].sum(axis=1), chances[inner], rtol=0, atol=1e-12)
        found.append((sums, chances, pairs))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-13, atol=1e-11)
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(found[1][2], found[0][2], rtol=0, atol=1e-11)


@pytest.mark.parametrize("run", [plain, kernels])
@pytest.mark.parametrize("shared", [True, False])
def test_a_range_fills_its_own_sequences_only(run: Any, shared: bool) -> None:
    offsets, scores, steps = made(5, [3, 4, 0, 2, 6], shared, 0.0, 1.0, 2)
    whole, part = np.full(15, -7, np.int32), np.full(15, -7, np.int32)
    totals, sums, reach = np.full(5, np.nan), np.full(5, np.nan), np.full((15, 5), np.nan)
    run.best_paths(offsets, 0, 5, scores, steps, whole, np.zeros(5))
    run.best_paths(offsets, 1, 4, scores, steps, part, totals)
    run.forward(offsets, 1, 4, scores, steps, reach, sums)
    np.testing.assert_array_equal(part[3:9], whole[3:9])
    assert (part[:3] == -7).all()
    assert (part[9:] == -7).all()
    for filled in (totals, sums):
        np.testing.assert_array_equal(np.isnan(filled), [True, False, False, False, True])
    np.testing.assert_array_equal(np.isnan(reach[:, 0]), np.repeat([True, False, True], [3, 6, 6]))
    paths, ranked, found = np.full((2, 6), -7, np.int32), np.zeros((3, 2)), np.zeros(3, np.int64)
    assert run.n_best(offsets, 1, 4, scores, steps, 2, paths, ranked, found) == -1
    np.testing.assert_array_equal(paths[0], whole[3:9])
    np.testing.assert_array_equal(found, [2, 1, 2])
    np.testing.assert_array_equal(ranked[:, 0], totals[1:4])


@pytest.mark.parametrize("run", [plain, kernels])
def test_rounding_carries_no_draw_to_an_impossible_label(run: Any) -> None:
    offsets, _, steps = made(3, [2], True, 0.0, 0.0, 1)
    reach = np.array([[0.0, -0.1, -np.inf], [-np.inf, 0.0, -np.inf]])
    labels = np.zeros(2, np.int32)
    uniform = np.array([1.0, 1.0])  # beyond what a generator gives, as rounding might
    run.draw_paths(offsets, 0, 1, steps, reach, uniform, labels)
    np.testing.assert_array_equal(labels, [1, 1])
