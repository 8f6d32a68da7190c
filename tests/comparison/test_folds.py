"""Folds: every row in one of them, as many in one as in another, whatever the table looks like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.comparison.fold_statistics import Gathered, OneBlock, gather_folds
from suffice.comparison.folds import FoldedTable
from suffice.data.table import open_table
from suffice.progress import Watch
from suffice.stats.needs import Count, Distinct, Moment
from suffice.stats.source import BlockSource

SCHEMA = {"row": sf.continuous()}


def folds_of(data: Any, n_folds: int, seed: int = 0, **policies: Any) -> list[dict[float, float]]:
    """Return the weight that every row has in each fold, by the number in its column ``row``."""
    table = FoldedTable(open_table(data, ["row"], schema=SCHEMA, **policies), n_folds, seed)
    found: list[dict[float, float]] = [{} for _ in range(n_folds)]
    for block in table.blocks():
        weights = np.ones(block.n_rows) if block.weights is None else block.weights
        found[block.fold] |= dict(zip(block.columns["row"].tolist(), weights.tolist(), strict=True))
    return found


def in_batches(n: int, sizes: list[int], weights: np.ndarray | None = None) -> pa.RecordBatchReader:
    """The rows 0, …, n − 1, in batches of some sizes, repeated."""

    def pieces() -> Iterator[pa.RecordBatch]:
        low, turn = 0, 0
        while low < n:
            high = min(low + sizes[turn % len(sizes)], n)
            columns = {"row": np.arange(low, high, dtype=float)}
            if weights is not None:
                columns["w"] = weights[low:high]
            yield pa.RecordBatch.from_pydict(columns)
            low, turn = high, turn + 1

    names = {"row": pa.float64()} | ({} if weights is None else {"w": pa.from_numpy_dtype(weights.dtype)})
    return pa.RecordBatchReader.from_batches(pa.schema(names), pieces())


@given(st.integers(1, 200), st.integers(2, 12), st.integers(0, 2**64 - 1))
def test_folds_divide_the_rows_evenly(n: int, n_folds: int, seed: int) -> None:
    found = folds_of({"row": np.arange(n, dtype=float)}, n_folds, seed)
    assert sorted(row for fold in found for row in fold) == list(range(n))
    sizes = [len(fold) for fold in found]
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(1, 100), st.integers(2, 6), st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_folds_do_not_depend_on_the_pieces_of_a_table(n: int, n_folds: int, sizes: list[int]) -> None:
    assert folds_of(in_batches(n, sizes), n_folds) == folds_of({"row": np.arange(n, dtype=float)}, n_folds)


@given(
    st.integers(30, 100),
    st.integers(2, 6),
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.sampled_from([None, "whole", "fractional"]),
)
def test_long_tables_are_drawn_row_by_row_whatever_their_pieces(
    n: int, n_folds: int, sizes: list[int], kind: str | None
) -> None:
    weights = None if kind is None else np.random.default_rng(n).integers(0, 9, n) / (1 if kind == "whole" else 2)
    options = {} if weights is None else {"weights": "w"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.comparison.folds.LONG", 20)
        found = folds_of(in_batches(n, sizes, weights), n_folds, **options)
        assert found == folds_of(in_batches(n, [n], weights), n_folds, **options)
    total = {row: sum(fold.get(row, 0.0) for fold in found) for row in range(n)}
    assert total == {row: 1.0 if weights is None else weights[row] for row in range(n)}


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.integers(2, 8), st.integers(0, 1000))
def test_whole_weights_are_rows_and_divided_evenly(weights: list[int], n_folds: int, seed: int) -> None:
    data = {"row": np.arange(len(weights), dtype=float)}
    found = folds_of(data, n_folds, seed, weights=weights)
    assert [sum(fold.get(row, 0) for fold in found) for row in range(len(weights))] == weights
    sizes = [sum(fold.values()) for fold in found]
    assert max(sizes) - min(sizes) <= 1


def test_weights_are_divided_at_random_and_not_in_equal_shares() -> None:
    # Two cells of 500 rows in two folds: the share of a cell is hypergeometric.
    data = {"row": np.arange(2.0)}
    shares = np.array([folds_of(data, 2, seed, weights=[500, 500])[0].get(0.0, 0.0) for seed in range(400)])
    assert abs(shares.mean() - 250) < 4 * 7.91 / 20
    assert shares.std() == pytest.approx(np.sqrt(500**4 / (1000**2 * 999)), rel=0.2)


def test_rows_that_are_sorted_are_dealt_out_at_random() -> None:
    n = 1000
    counts = [sum(row < 500 for row in folds_of({"row": np.arange(float(n))}, 2, seed)[0]) for seed in range(300)]
    assert np.std(counts) == pytest.approx(np.sqrt(500**4 / (1000**2 * 999)), rel=0.2)


def test_rows_with_other_weights_stay_together() -> None:
    weights = [0.5, 3.0, 2.25, 1.0]
    found = folds_of({"row": np.arange(4.0)}, 2, 1, weights=weights)
    for row in (0, 2):
        assert sorted(fold.get(row, 0.0) for fold in found) == [0.0, weights[row]]
    assert sum(fold.get(1.0, 0.0) for fold in found) == 3.0


def test_seeds_give_other_folds() -> None:
    data = {"row": np.arange(50.0)}
    assert folds_of(data, 5, 0) != folds_of(data, 5, 1)


def test_the_rest_of_a_fold_is_all_other_folds() -> None:
    table = open_table({"row": np.arange(23.0)}, ["row"], schema=SCHEMA)
    for without in range(4):
        blocks = FoldedTable(table, 4, 7, without).blocks()
        rest = {row for block in blocks for row in block.columns["row"].tolist()}
        held_out = folds_of({"row": np.arange(23.0)}, 4, 7)[without]
        assert rest == set(range(23)) - set(held_out)


NEEDS = (Count(("A", "B")), Moment(("x",), ("A",)), Distinct(("B", "x")))


def gathered(n: int, n_folds: int, weights: Any = None) -> tuple[Gathered, Any]:
    rng = np.random.default_rng(n)
    data = {"A": rng.choice(["u", "v"], n), "B": rng.choice(["k", "l", "m"], n), "x": rng.normal(size=n)}
    table = open_table(data, ["A", "B", "x"], weights=weights)
    (found,) = gather_folds(FoldedTable(table, n_folds, 3), [(BlockSource, NEEDS)], Watch())
    return found, table


@pytest.mark.parametrize("n_folds", [2, 3, 10])
@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_of_folds_add_up(n_folds: int, weighted: bool) -> None:
    weights = np.random.default_rng(1).integers(0, 5, 60) if weighted else None
    found, table = gathered(60, n_folds, weights)
    whole = BlockSource(table).gather(NEEDS)
    assert found.whole.weight == whole.weight
    assert (found.whole.n_read, found.whole.n_dropped) == (whole.n_read, whole.n_dropped)
    for need in NEEDS:
        for name, array in whole[need].to_arrays().items():
            if name != "rest":  # which is what rounding cut off, and depends on the order of additions
                np.testing.assert_allclose(found.whole[need].to_arrays()[name], array, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_folds", [2, 3, 7])
def test_training_statistics_are_those_of_the_rows_that_are_left(n_folds: int) -> None:
    found, table = gathered(40, n_folds)
    training = list(found.training())
    assert len(training) == n_folds
    for without, statistics in enumerate(training):
        rest = BlockSource(FoldedTable(table, n_folds, 3, without)).gather(NEEDS)
        assert statistics.weight == rest.weight
        assert np.array_equal(statistics[NEEDS[0]].table(), rest[NEEDS[0]].table())
        np.testing.assert_allclose(statistics[NEEDS[1]].scatter, rest[NEEDS[1]].scatter, rtol=1e-12)


def test_a_block_is_a_table() -> None:
    table = open_table({"A": ["x", "y"]}, ["A"])
    (block,) = table.blocks()
    one = OneBlock(block)
    assert BlockSource(one).gather([Count(("A",))])[Count(("A",))].table().tolist() == [1, 1]
    assert one.with_schema(table.schema) is one
    assert (one.schema, one.n_expected) == (table.schema, 2)


@pytest.mark.parametrize("n_folds", [2, 5])
def test_slices_of_what_was_counted_are_the_statistics_of_the_folds(n_folds: int) -> None:
    rng = np.random.default_rng(n_folds)
    data = {"fold": rng.choice(["u", "v"], 50), "B": rng.choice(["k", "l", "m"], 50), "x": rng.normal(size=50)}
    needs = (Count(("B", "fold")), Count(("B",)), Moment(("x",)), Moment(("x",), ("B", "fold")))
    table = FoldedTable(open_table(data, list(data)), n_folds, 1)
    (sliced,) = gather_folds(table, [(BlockSource, needs)], Watch())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.comparison.fold_statistics._can_be_sliced", lambda needs, block: False)
        (cut,) = gather_folds(table, [(BlockSource, needs)], Watch())
    assert len(cut.folds) == n_folds
    for one, other in zip(sliced.folds, cut.folds, strict=True):
        assert (one.weight, one.n_read, list(one.schema)) == (other.weight, other.n_read, list(other.schema))
        for need in needs:
            for name, array in other[need].to_arrays().items():
                np.testing.assert_allclose(one[need].to_arrays()[name], array, rtol=1e-12, atol=1e-12)
