"""Chains of labels: best paths, sums, probabilities and draws against the enumeration of all paths."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import suffice as sf
from suffice.inference import label_chains, label_chains_scaled
from suffice.inference.label_chains import (
    Potentials,
    best_paths,
    draw_paths,
    expectations,
    log_z,
    marginals,
    n_best,
    path_scores,
    pieces,
    step_marginals,
)
from suffice.settings import settings

RNG = np.random.default_rng(0)
WAYS = ("logarithms", "scaled")


@contextmanager
def way(name: str, **limits: int) -> Iterator[None]:
    """Let all sums be made from logarithms, or in linear space where it is safe."""
    with pytest.MonkeyPatch.context() as patch:
        if name != "scaled":
            patch.setattr(label_chains_scaled, "SPREAD", -1.0)
        for limit, value in limits.items():
            patch.setattr(label_chains, limit, value)
        yield


def chain(offsets: Any, scores: Any, steps: Any) -> Potentials:
    return Potentials(np.array(offsets), scores, steps)


# The slow twin ------------------------------------------------------------------------------------------------


def score(p: Potentials, begin: int, path: tuple[int, ...]) -> float:
    """Add up the potentials of one path, from the left."""
    total = 0.0
    for t, label in enumerate(path, begin):
        if t > begin:
            step = p.steps if p.steps.ndim == 2 else p.steps[t]
            total += float(step[path[t - 1 - begin], label])
        total += float(p.scores[t, label])
    return total


def all_paths(p: Potentials, s: int) -> list[tuple[tuple[int, ...], float]]:
    """All possible paths of a sequence and their scores, best first; of equals, by the last label, the one before …"""
    begin, end = map(int, p.offsets[s : s + 2])
    paths = itertools.product(range(p.n_labels), repeat=end - begin)
    scored = [(path, score(p, begin, path)) for path in paths]
    return sorted((pair for pair in scored if pair[1] > -math.inf), key=lambda pair: (-pair[1], pair[0][::-1]))


def chances(p: Potentials, s: int) -> dict[tuple[int, ...], float]:
    """The probability of each possible path."""
    paths = all_paths(p, s)
    weights = [math.exp(value - paths[0][1]) for _, value in paths]
    return {path: weight / math.fsum(weights) for (path, _), weight in zip(paths, weights, strict=True)}


def enumerated_log_z(p: Potentials, s: int) -> float:
    values = [value for _, value in all_paths(p, s)]
    return max(values) + math.log(math.fsum(math.exp(value - max(values)) for value in values))


# Potentials ---------------------------------------------------------------------------------------------------

MEASURES: dict[str, Callable[[np.random.Generator, Any], Any]] = {
    "plain": lambda rng, shape: rng.normal(size=shape),
    "tied": lambda rng, shape: rng.integers(-1, 2, shape).astype(float),
    "wide": lambda rng, shape: rng.choice([0.0, 1e4, -1e4, 800.0, -650.0, 3.5], shape) + rng.normal(size=shape),
    "forbidden": lambda rng, shape: np.where(rng.random(shape) < 0.4, -np.inf, rng.normal(size=shape)),
    "wide and forbidden": lambda rng, shape: rng.choice([0.0, 1e4, -1e4, -np.inf, -650.0], shape),
}


def made(lengths: list[int], n_labels: int, shared: bool, kind: str, seed: int) -> Potentials:
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *lengths])
    n = int(offsets[-1])
    scores = MEASURES[kind](rng, (n, n_labels))
    steps = MEASURES[kind](rng, (n_labels, n_labels) if shared else (n, n_labels, n_labels))
    if not shared:
        steps[offsets[:-1][np.diff(offsets) > 0]] = rng.choice([np.nan, np.inf, -np.inf, 7.0])  # without effect
    return Potentials(offsets, scores, steps)


potentials = st.builds(
    made,
    st.lists(st.integers(0, 4), max_size=4),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from(sorted(MEASURES)),
    st.integers(0, 10_000),
)


def possible(p: Potentials) -> bool:
    return all(all_paths(p, s) for s in range(p.n_sequences))


# Against the twin ---------------------------------------------------------------------------------------------


@given(potentials)
def test_best_paths_are_those_of_the_enumeration(p: Potentials) -> None:
    assume(possible(p))
    labels, scores = best_paths(p)
    assert labels.dtype == np.int32
    assert (labels.shape, scores.shape) == ((p.n_positions,), (p.n_sequences,))
    for s in range(p.n_sequences):
        path, best = all_paths(p, s)[0]
        assert scores[s] == best  # the same sums, in the same order
        assert tuple(labels[p.offsets[s] : p.offsets[s + 1]]) == path


@given(potentials, st.sampled_from([1, 2, 3, 7, 200]))
def test_n_best_lists_the_enumeration(p: Potentials, n: int) -> None:
    assume(possible(p))
    listed = n_best(p, n)
    assert len(listed) == p.n_sequences
    for s, found in enumerate(listed):
        expected = all_paths(p, s)[:n]
        assert [(tuple(labels), value) for labels, value in found] == expected
        assert all(labels.dtype == np.int32 for labels, _ in found)


@pytest.mark.parametrize("name", WAYS)
@given(potentials)
@example(chain([0, 2], np.zeros((2, 2)), np.array([[-1e4, 0.0], [-1e4, 0.0]])))
@example(chain([0, 2], np.array([[0.0, -1500.0], [0.0, 0.0]]), np.array([[-2000.0, 0.0], [0.0, -np.inf]])))
@example(chain([0, 3], np.array([[0.0, -740.0], [0.0, 0.0], [-2e3, 0.0]]), np.array([[0.0, -739.0], [0.0, 0.0]])))
def test_log_z_sums_over_the_enumeration(name: str, p: Potentials) -> None:
    assume(possible(p))
    with way(name):
        found = log_z(p)
    expected = [enumerated_log_z(p, s) for s in range(p.n_sequences)]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("name", WAYS)
@given(potentials)
@example(chain([0, 2], np.array([[0.0, -1500.0], [-9e3, 0.0]]), np.array([[-2000.0, 0.0], [0.0, -1e4]])))
@example(chain([0, 3], np.array([[0.0, 0.0], [0.0, -900.0], [-1e4, 0.0]]), np.array([[0.0, -1e4], [0.0, 0.0]])))
@example(chain([0, 3], np.array([[0.0, -740.0], [0.0, 0.0], [-2e3, 0.0]]), np.array([[0.0, -739.0], [0.0, 0.0]])))
def test_marginals_are_sums_of_the_enumeration(name: str, p: Potentials) -> None:
    assume(possible(p))
    with way(name):
        singles, pairs = marginals(p), step_marginals(p)
        together = expectations(p)
        for one, other in zip(together, (log_z(p), singles, pairs), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-11)
    expected, expected_pairs = np.zeros_like(singles), np.zeros_like(pairs)
    for s in range(p.n_sequences):
        for path, chance in chances(p, s).items():
            for t, label in enumerate(path, int(p.offsets[s])):
                expected[t, label] += chance
                if t > p.offsets[s]:
                    expected_pairs[t, path[t - 1 - p.offsets[s]], label] += chance
    np.testing.assert_allclose(singles, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(pairs, expected_pairs, rtol=0, atol=1e-11)


@given(potentials, st.integers(0, 10_000))
def test_path_scores_add_up_potentials(p: Potentials, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, p.n_labels, p.n_positions)
    cut = [tuple(labels[low:high]) for low, high in itertools.pairwise(p.offsets)]
    expected = [score(p, int(p.offsets[s]), path) for s, path in enumerate(cut)]
    np.testing.assert_allclose(path_scores(p, labels), expected, rtol=1e-13, atol=1e-9)


@given(potentials, st.integers(0, 10_000))
def test_draws_invert_conditional_distributions(p: Potentials, seed: int) -> None:
    """The last label of a sequence is drawn first, then each given those after it, by one number a position."""
    assume(possible(p))
    labels = draw_paths(p, np.random.default_rng(seed))
    assert labels.dtype == np.int32
    assert labels.shape == (p.n_positions,)
    uniform = np.random.default_rng(seed).random(p.n_positions)
    for s in range(p.n_sequences):
        begin, end = map(int, p.offsets[s : s + 2])
        path, paths = tuple(labels[begin:end]), chances(p, s)
        assert path in paths
        for t in range(end - 1, begin - 1, -1):
            after = path[t + 1 - begin :]
            shares = np.zeros(p.n_labels)
            for other, chance in paths.items():
                if other[t + 1 - begin :] == after:
                    shares[other[t - begin]] += chance
            passed = np.cumsum(shares / shares.sum())
            label = path[t - begin]
            assert passed[label] >= uniform[t] - 1e-9
            assert label == 0 or passed[label - 1] <= uniform[t] + 1e-9


# Closed forms and large inputs --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WAYS)
def test_many_positions_without_steps_are_independent(name: str) -> None:
    rng, n = np.random.default_rng(3), 300_000
    scores = rng.normal(size=(n, 3)) * 40 + 1e4
    p = chain([0, n], scores, np.full((3, 3), 2.0))
    top = scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - top)
    shares = weights / weights.sum(axis=1, keepdims=True)
    with way(name), pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_chains_scaled, "LONGEST", n)
        assert log_z(p)[0] == pytest.approx(2 * (n - 1) + math.fsum(top[:, 0] + np.log(weights.sum(axis=1))), rel=1e-13)
        np.testing.assert_allclose(marginals(p), shares, rtol=0, atol=1e-11)
    labels, total = best_paths(p)
    np.testing.assert_array_equal(labels, scores.argmax(axis=1))
    assert total[0] == pytest.approx(2 * (n - 1) + math.fsum(top[:, 0]), rel=1e-12)


@given(st.integers(1, 9), st.floats(0, 300), st.sampled_from([1.0, 300.0, 1e4]), st.integers(0, 10_000))
def test_linear_space_agrees_with_logarithms_up_to_its_limit(
    n_labels: int, spread: float, scale: float, seed: int
) -> None:
    """Also where labels that all but vanish at one position are what later ones ask for."""
    rng = np.random.default_rng(seed)
    steps = rng.choice([0.0, 0.5, 1.0], (n_labels, n_labels)) * spread
    p = chain([0, 30, 30, 47], rng.normal(size=(47, n_labels)) * scale, steps)
    assert label_chains_scaled.is_safe(p.offsets, p.scores, p.steps)
    with way("logarithms"):
        sums, shares = log_z(p), marginals(p)
    with way("scaled"):
        np.testing.assert_allclose(log_z(p), sums, rtol=1e-13, atol=1e-10)
        np.testing.assert_allclose(marginals(p), shares, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("scores", "steps", "safe"),
    [(0.0, 0.0, True), (-1e9, 0.0, True), (0.0, -300.0, True), (0.0, -301.0, False), (0.0, -np.inf, False),
     (-np.inf, 0.0, False)],
)  # fmt: skip
def test_where_linear_space_is_safe(scores: float, steps: float, safe: bool) -> None:
    some = np.array([[0.0, steps], [0.0, 0.0]])
    assert label_chains_scaled.is_safe(np.array([0, 1]), np.array([[scores, 0.0]]), some) is safe
    longest = label_chains_scaled.LONGEST
    assert not label_chains_scaled.is_safe(np.array([0, longest + 1]), np.zeros((1, 2)), np.zeros((2, 2)))


def test_locally_normalised_steps_sum_to_one() -> None:
    rng = np.random.default_rng(8)
    n, n_labels = 5000, 9
    steps = rng.normal(size=(n, n_labels, n_labels)) * 30
    steps -= np.logaddexp.reduce(steps, axis=2, keepdims=True)
    scores = np.zeros((n, n_labels))
    scores[0] = -math.log(n_labels)
    p = chain([0, n], scores, steps)
    np.testing.assert_allclose(log_z(p), [0.0], atol=1e-9)
    chance = np.full(n_labels, 1 / n_labels)
    found = marginals(p)
    for t in range(1, n):
        chance = chance @ np.exp(steps[t])
        np.testing.assert_allclose(found[t], chance, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", ["plain", "wide", "forbidden"])
def test_results_do_not_depend_on_threads_or_pieces(name: str, shared: bool, kind: str) -> None:
    lengths = [0, 3, 40, 1, 0, 200, 17, 5, 0]
    p = made(lengths, 13, shared, kind, 4)

    def everything() -> list[Any]:
        listed = n_best(p, 3)
        paths = [(labels.tolist(), value) for found in listed for labels, value in found]
        drawn = draw_paths(p, np.random.default_rng(5))
        return [*best_paths(p), log_z(p), marginals(p), step_marginals(p), drawn, np.array(repr(paths))]

    threads = settings().threads
    try:
        sf.config(threads=1)
        with way(name):
            one = everything()
        sf.config(threads=3)
        with way(name, LEAST_POSITIONS=1, MOST_POSITIONS=8, POINTER_BYTES=1):
            many = everything()
    finally:
        sf.config(threads=threads)
    assert len(one) >= 6
    for left, right in zip(one, many, strict=True):
        np.testing.assert_array_equal(left, right)


def test_draws_have_the_frequencies_of_the_enumeration() -> None:
    p, n = made([3], 3, False, "plain", 6), 20_000
    many = Potentials(np.arange(0, 3 * n + 1, 3), np.tile(p.scores, (n, 1)), np.tile(p.steps, (n, 1, 1)))
    drawn = draw_paths(many, np.random.default_rng(9)).reshape(n, 3)
    counts = np.bincount(drawn @ [9, 3, 1], minlength=27)
    expected = np.zeros(27)
    for path, chance in chances(p, 0).items():
        expected[np.dot(path, [9, 3, 1])] = n * chance
    assert ((counts - expected) ** 2 / expected).sum() < 26 + 5 * math.sqrt(2 * 26)


# Edges --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("shape", [(2, 2), (0, 2, 2)])
@pytest.mark.parametrize("offsets", [[0], [0, 0], [0, 0, 0]])
def test_sequences_without_positions(name: str, shape: tuple[int, ...], offsets: list[int]) -> None:
    n_sequences = len(offsets) - 1
    p = chain(offsets, np.zeros((0, 2)), np.zeros(shape))
    with way(name):
        assert best_paths(p)[0].shape == (0,)
        for values in (best_paths(p)[1], log_z(p), path_scores(p, [])):
            np.testing.assert_array_equal(values, np.zeros(n_sequences))
        assert [[(labels.tolist(), value) for labels, value in one] for one in n_best(p, 3)] == [
            [([], 0.0)]
        ] * n_sequences
        assert marginals(p).shape == (0, 2)
        assert step_marginals(p).shape == (0, 2, 2)
        assert draw_paths(p, np.random.default_rng(1)).shape == (0,)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize(
    "ask", [best_paths, log_z, marginals, step_marginals, lambda p: n_best(p, 2), lambda p: draw_paths(p, RNG)]
)
def test_a_sequence_without_a_possible_path_is_named(name: str, ask: Any) -> None:
    scores = np.array([[0.0, 0.0], [0.0, -np.inf], [-np.inf, 0.0], [0.0, 0.0]])
    p = chain([0, 1, 1, 3, 4], scores, np.array([[0.0, -np.inf], [0.0, 0.0]]))
    with way(name), pytest.raises(sf.ModelError, match="Sequence 2: all paths of labels are impossible"):
        ask(p)


def test_potentials_are_read_only_and_leave_the_callers_arrays_alone() -> None:
    scores, steps = np.zeros((1, 2)), np.zeros((2, 2))
    p = chain([0, 1], scores, steps)
    assert not p.scores.flags.writeable
    assert scores.flags.writeable
    assert steps.flags.writeable
    best_paths(p), marginals(p)
    np.testing.assert_array_equal(scores, 0.0)


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 20))
def test_pieces_are_whole_sequences_in_order(lengths: list[int], positions: int) -> None:
    offsets = np.cumsum([0, *lengths])
    found = list(pieces(offsets, positions))
    assert [s for low, high in found for s in range(low, high)] == list(range(len(lengths)))
    for low, high in found:
        assert high - low == 1 or offsets[high] - offsets[low] <= positions
        assert high == len(lengths) or offsets[high + 1] - offsets[low] > positions
