"""Sums over what is missing: enumerated, by trees of their own, by a forest of these, and by one tree for all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.data.variable import Variable
from suffice.errors import ModelError
from suffice.inference import gap_sums, gap_trees
from suffice.inference.gap_sums import GapSums
from suffice.stats.gaps import Gaps

WAYS = {
    "enumerated": (2048, 64, 0),
    "own trees": (0, 64, 0),
    "forest": (0, 0, 10**6),
    "one tree": (0, 0, 0),
}


@pytest.fixture(params=WAYS, scope="module")
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        limit, own, planned = WAYS[request.param]
        patch.setattr(gap_sums, "ENUMERATED", limit or 0.5)
        patch.setattr(gap_trees, "OWN_TREES", own)
        patch.setattr(gap_trees, "PLANNED", planned)
        yield request.param


def brute_force(
    sizes: list[int], scopes: list[list[int]], tables: list[np.ndarray], row: list[int]
) -> tuple[float, list[np.ndarray]]:
    gaps = [v for v, code in enumerate(row) if code < 0]
    touched = [f for f, scope in enumerate(scopes) if set(scope) & set(gaps)]
    expected, total = [np.zeros(table.shape) for table in tables], 0.0
    for states in itertools.product(*(range(sizes[v]) for v in gaps)):
        whole = list(row)
        for v, state in zip(gaps, states, strict=True):
            whole[v] = state
        cells = {f: tuple(whole[v] for v in scopes[f]) for f in touched}
        p = math.prod(tables[f][cell] for f, cell in cells.items())
        total += p
        for f, cell in cells.items():
            expected[f][cell] += p
    return math.log(total) if total else -math.inf, [one / (total or 1.0) for one in expected]


def made(seed: int) -> tuple[list[int], list[list[int]], list[np.ndarray], np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    n = int(chance.integers(1, 7))
    sizes = chance.integers(1, 4, n).tolist()
    scopes = [[*chance.choice(v, int(chance.integers(0, min(v, 2) + 1)), replace=False).tolist(), v] for v in range(n)]
    tables = [chance.random([sizes[v] for v in scope]) * 10 ** chance.uniform(-2, 2) for scope in scopes]
    m = int(chance.integers(1, 40))
    rows = np.stack([chance.integers(0, size, m) for size in sizes], axis=1)
    rows[chance.random(rows.shape) < 0.4] = -1
    return sizes, scopes, tables, rows, chance.random(m)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_equal_brute_force(way: str, seed: int) -> None:
    sizes, scopes, tables, rows, weights = made(seed)
    variables = [Variable(f"v{i}", tuple(range(size))) for i, size in enumerate(sizes)]
    gaps = Gaps.of_rows(variables, [[f"v{v}" for v in scope] for scope in scopes], rows, weights)
    sums = GapSums(sizes, scopes, gaps)
    found = sums.run(np.concatenate([table.reshape(-1) for table in tables]))
    wanted, expected = 0.0, np.zeros(sums.n_cells)
    for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
        log_sum, counts = brute_force(sizes, scopes, tables, row)
        wanted += weight * log_sum
        expected += weight * np.concatenate([one.reshape(-1) for one in counts])
    assert sums.total(found) == pytest.approx(wanted, rel=1e-10, abs=1e-10), way
    np.testing.assert_allclose(found.expected, expected, atol=1e-10)


def chain(n: int) -> tuple[list[int], list[list[int]], Gaps]:
    """A chain whose variables are all missing but the last."""
    scopes = [[0], *([v - 1, v] for v in range(1, n))]
    variables = [Variable(f"v{v}", (0, 1)) for v in range(n)]
    rows = np.array([[-1] * (n - 1) + [1]])
    return [2] * n, scopes, Gaps.of_rows(variables, [[f"v{v}" for v in scope] for scope in scopes], rows)


def test_tiny_products_are_not_lost(way: str) -> None:
    sizes, scopes, gaps = chain(8)
    sums = GapSums(sizes, scopes, gaps)
    step = np.array([[3e-200, 1e-200], [1e-200, 5e-200]])
    tables = np.concatenate([np.array([1e-200, 2e-200]), *[step.reshape(-1)] * 7])
    found = sums.run(tables)
    vector = np.array([1.0, 2.0])
    for _ in range(7):
        vector = vector @ (step * 1e200)
    assert found.log_sums[0] == pytest.approx(math.log(vector[1]) - 8 * 200 * math.log(10), rel=1e-13), way
    assert found.expected[:2].sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("first", "second"), [([1.0, 3e-160], [7e-161, 5e-161]), ([1e150, 3e-170], [7.0, 5.0])])
def test_digits_of_tiny_products_are_not_lost(way: str, first: list[float], second: list[float]) -> None:
    # The last table leaves only the second state of v0: its share, about 1e-320, has few digits as a float.
    scopes = [[0], [0, 1], [1, 2], [0, 3]]
    tables = [first, [1.0, 1.0, *second], [2.0, 1.0, 3.0, 1.0], [0.0, 1.0, 1.0, 1.0]]
    variables = [Variable(f"v{v}", (0, 1)) for v in range(4)]
    gaps = Gaps.of_rows(variables, [[f"v{v}" for v in scope] for scope in scopes], np.array([[-1, -1, 0, 0]]))
    found = GapSums([2] * 4, scopes, gaps).run(np.concatenate(tables))
    wanted = math.log(first[1]) + math.log(2 * second[0] + 3 * second[1])
    assert found.log_sums[0] == pytest.approx(wanted, rel=1e-13), way
    np.testing.assert_allclose(found.expected[:6], [0, 1, 0, 0, 14 / 29, 15 / 29], atol=1e-12)


def test_impossible_situations_are_told(way: str) -> None:
    sizes, scopes, gaps = chain(3)
    tables = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    found = GapSums(sizes, scopes, gaps).run(tables)
    assert found.log_sums.tolist() == [-math.inf], way
    assert not found.expected.any()


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gap_sums, "FEW", 64)
    chance = np.random.default_rng(1)
    sizes, scopes = [3] * 8, [[0], *([v - 1, v] for v in range(1, 8))]
    rows = chance.integers(0, 3, (20_000, 8))
    rows[chance.random(rows.shape) < 0.3] = -1
    variables = [Variable(f"v{v}", (0, 1, 2)) for v in range(8)]
    gaps = Gaps.of_rows(variables, [[f"v{v}" for v in scope] for scope in scopes], rows)
    tables = chance.random(3 + 7 * 9)
    before = sf.config().threads
    try:
        found = []
        for threads in (1, 2):
            sf.config(threads=threads)
            found.append(GapSums(sizes, scopes, gaps).run(tables))
    finally:
        sf.config(threads=before)
    assert gaps.n > gap_sums.FEW  # enough to be shared out
    np.testing.assert_array_equal(found[0].expected, found[1].expected)
    np.testing.assert_array_equal(found[0].log_sums, found[1].log_sums)


def test_sums_that_need_too_much_memory_are_refused() -> None:
    n = 14
    scopes = [[v] for v in range(n)] + [list(pair) for pair in itertools.combinations(range(n), 2)]
    variables = [Variable(f"v{v}", tuple(range(4))) for v in range(n)]
    gaps = Gaps.of_rows(variables, [[f"v{v}" for v in scope] for scope in scopes], np.full((1, n), -1))
    before = sf.config().memory
    try:
        sf.config(memory="10MB")
        with pytest.raises(ModelError, match=r"MB|GB"):
            GapSums([4] * n, scopes, gaps)
    finally:
        sf.config(memory=before)
