"""Counting blocks: every path gives the bits of the naive twin, for any threads, ranges, tiles and blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive

import suffice as sf
import suffice.stats.counts as counts_module
from suffice.data.block import Block, code_dtype
from suffice.settings import config
from suffice.stats import counting
from suffice.stats.counting import count_block
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.stats.statistics import STATISTICS

N_ROWS = [1, 63, 64, 65, 129, 300]


@pytest.fixture
def patch():
    """Patch modules for one test, and restore the threads."""
    before = config()
    with pytest.MonkeyPatch.context() as context:
        yield context
    config(threads=before.threads, memory=before.memory)


def cut_small(patch, range_rows=None, tile_rows=None):
    """Let small blocks have several ranges and tiles, and threads."""
    patch.setattr(counting, "THREAD_WORK", 1)
    if range_rows:
        patch.setattr(counting, "RANGE_ROWS", range_rows)
    if tile_rows:
        patch.setattr(counting, "_tile_rows", lambda layout, item_bytes, most=0: tile_rows)


def block_of(sizes, n_rows, seed=0, weights=None):
    generator = np.random.default_rng(seed)
    schema = sf.Schema(tuple(sf.Variable(f"v{j}", tuple(range(size)), True) for j, size in enumerate(sizes)))
    columns = {}
    for j, size in enumerate(sizes):
        codes = generator.integers(0, size, n_rows).astype(code_dtype(size))
        codes[: min(n_rows, 2)] = [0, size - 1][: min(n_rows, 2)]
        columns[f"v{j}"] = codes
    row_weights = None
    if weights == "whole":
        row_weights = generator.integers(0, 2**30, n_rows)
    elif weights == "real":
        row_weights = generator.integers(0, 2**30, n_rows) / 8 + 0.125  # sums of eighths are exact
    return Block(schema, columns, row_weights, n_rows)


def needs_of(*scopes):
    return [Count(tuple(f"v{j}" for j in scope)) for scope in scopes]


def same_bits(first, second):
    assert first.variables == second.variables
    assert first.values.dtype == second.values.dtype
    assert np.array_equal(first.values, second.values)
    assert (first.cells is None) == (second.cells is None)
    if first.cells is not None:
        assert np.array_equal(first.cells, second.cells)


def same_as_plain_loops(counted, block):
    """Assert that counts are exactly those of plain loops, with the dtype and storage of the small path."""
    assert counted
    for need, found in counted.items():
        assert found.need == need
        columns = {name: block.columns[name].tolist() for name in need.scope}
        weights = None if block.weights is None else block.weights.tolist()
        same_bits(found, Counts.of_block(need, block))
        if not need.scope:
            assert found.table() == block.weight
            continue
        exact = naive.counts(columns, need.scope, weights)
        cells, values = found.nonzero()
        listed = dict(zip(map(tuple, cells.tolist()), values.tolist(), strict=True))
        assert listed == {cell: m for cell, m in exact.items() if m}


@st.composite
def jobs(draw):
    """Return sizes, scopes, rows, a seed and a kind of weights."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 7, 96, 97, 127, 128, 255, 256, 257]), min_size=1, max_size=6))
    some = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=3, unique=True)
    scopes = draw(st.lists(some, min_size=1, max_size=5))
    n_rows, seed = draw(st.sampled_from(N_ROWS)), draw(st.integers(0, 2**32))
    return sizes, scopes, n_rows, seed, draw(st.sampled_from([None, "whole", "real"]))


# Against plain loops ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("range_rows", [None, 50, 64, 100])
@settings(max_examples=25)
@given(job=jobs())
def test_counts_are_those_of_plain_loops(range_rows, job):
    sizes, scopes, n_rows, seed, weights = job
    block, needs = block_of(sizes, n_rows, seed, weights), list(dict.fromkeys(needs_of(*scopes)))
    with pytest.MonkeyPatch.context() as patch:
        cut_small(patch, range_rows, tile_rows=64)
        same_as_plain_loops(count_block(needs, block), block)


@settings(max_examples=25)
@given(job=jobs())
def test_sparse_counts_are_those_of_plain_loops(job):
    sizes, scopes, n_rows, seed, weights = job
    block, needs = block_of(sizes, n_rows, seed, weights), list(dict.fromkeys(needs_of(*scopes)))
    with pytest.MonkeyPatch.context() as patch:
        cut_small(patch)
        patch.setattr(counts_module, "DENSE_CELLS", 50)
        same_as_plain_loops(count_block(needs, block), block)


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("n_rows", [1, 1023, 1024, 1025, 2047, 2048, 2049, 16_383, 16_384, 16_385])
def test_counts_at_tile_boundaries(patch, n_rows, weights):
    patch.setattr(counting, "TILE_BYTES", 1)  # the smallest tiles there are
    block, needs = block_of([3, 2, 50, 1], n_rows, 1, weights), needs_of([0, 1], [2, 0], [3], [3, 1, 0, 2])
    found = count_block(needs, block)
    assert set(found) == set(needs)
    for need, counted in found.items():
        same_bits(counted, Counts.of_block(need, block))
        assert counted.total == block.weight


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("scope", [[0], [0, 1], [2], [0, 2, 3], [3, 2]])
def test_counts_of_no_rows_are_zero(scope, weights):
    block = block_of([3, 2, 200, 8000], 0, 0, weights)
    counted = count_block(needs_of(scope), block)
    same_as_plain_loops(counted, block)
    assert counted[needs_of(scope)[0]].total == 0


@pytest.mark.parametrize("n_states", [255, 256, 257, 65_537])
@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_counts_of_variables_with_many_states(n_states, weights):
    block = block_of([n_states, 2], 500, n_states, weights)
    same_as_plain_loops(count_block(needs_of([0], [0, 1], [1, 0], [1]), block), block)


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("n_parents", range(1, 13))
def test_counts_of_families_with_one_to_twelve_parents(n_parents, weights):
    block = block_of([2, 3, 2, 1, 2, 2, 1, 3, 2, 2, 2, 2, 2], 200, n_parents, weights)
    family = range(n_parents + 1)
    same_as_plain_loops(count_block(needs_of(family, list(family)[::-1]), block), block)


@pytest.mark.parametrize("n_cells", [counting.MASK_CELLS - 1, counting.MASK_CELLS, counting.MASK_CELLS + 1])
@pytest.mark.parametrize("weights", [None, "whole"])
def test_counts_around_the_largest_table_of_masks(patch, n_cells, weights):
    used = []
    for name in ("_by_masks", "_by_histogram"):
        original = getattr(counting, name)
        patch.setattr(counting, name, lambda *a, n=name, f=original: used.append(n) or f(*a))
    block = block_of([n_cells, n_cells // 2, 2], 300, 3, weights)
    needs = needs_of([0]) if n_cells % 2 else needs_of([0], [1, 2], [2, 1])
    same_as_plain_loops(count_block(needs, block), block)
    assert set(used) == {"_by_masks" if n_cells <= counting.MASK_CELLS and weights is None else "_by_histogram"}


@pytest.mark.parametrize(
    "sizes", [[2**10 - 1, 2**10], [2**10, 2**10], [2**10 + 1, 2**10], [2**20], [2**20 + 1], [2**20, 1]]
)
@pytest.mark.parametrize("weights", [None, "real"])
def test_counts_around_the_largest_full_table(sizes, weights):
    block = block_of(sizes, 300, 4, weights)
    need = needs_of(range(len(sizes)))
    counted = count_block(need, block)
    assert (counted[need[0]].cells is None) == (math.prod(sizes) <= counts_module.DENSE_CELLS)
    same_as_plain_loops(counted, block)


@pytest.mark.parametrize("n_states", [1, 2, 100])
def test_constant_columns_have_all_rows_in_one_cell(n_states):
    block = block_of([n_states, 1], 200)
    constant = Block(block.schema, {"v0": np.full(200, n_states - 1, np.int8), "v1": np.zeros(200, np.int8)}, None, 200)
    counted = count_block(needs_of([0], [0, 1], [1, 0]), constant)
    same_as_plain_loops(counted, constant)
    assert all(found.values.max() == 200 for found in counted.values())


def test_masks_histograms_hash_tables_and_sorting_in_one_block_answer_in_order():
    sizes = [2, 3, 100, 1000, 2000, *[60_000] * 5]
    block = block_of(sizes, 400, 5)
    needs = needs_of([3, 4], [0, 1], [], [2, 1], [5, 6, 7, 8, 9], [0], [5, 6, 7], [4])
    assert math.prod(sizes[5:]) > 2**62 > math.prod(sizes[5:8]) > counts_module.DENSE_CELLS
    counted = count_block(needs, block)
    assert list(counted) == needs
    same_as_plain_loops(counted, block)


def test_no_needs_are_answered_by_nothing():
    assert count_block([], block_of([2], 10)) == {}


def test_the_rows_are_left_alone():
    block = block_of([2, 300], 100, 0, "whole")
    before = {name: codes.copy() for name, codes in block.columns.items()}
    for array in (*block.columns.values(), block.weights):
        array.flags.writeable = False
    count_block(needs_of([0, 1], [0]), block)
    assert all(np.array_equal(block.columns[name], codes) for name, codes in before.items())


def test_columns_that_are_views_with_strides_are_counted():
    plain = block_of([2, 200], 300, 1)
    doubled = {name: np.repeat(codes, 2) for name, codes in plain.columns.items()}
    block = Block(plain.schema, {name: codes[::2] for name, codes in doubled.items()}, None, 300)
    found = count_block(needs_of([0], [0, 1], [1]), block)
    assert len(found) == 3
    for need, counted in found.items():
        same_bits(counted, Counts.of_block(need, plain))


@pytest.mark.parametrize("over", [-1, 0, 1])
@pytest.mark.parametrize("weights", [None, "real"])
def test_keys_up_to_the_limit_of_the_hash_table(over, weights):
    sizes = [2**14] * 4 + [2**6]  # 2**62 cells
    sizes[-1] += over
    block = block_of(sizes, 300, 6, weights)
    for codes, size in zip(block.columns.values(), sizes, strict=True):
        codes[-3:] = size - 1  # the last configuration of all
    same_as_plain_loops(count_block(needs_of(range(5)), block), block)


@pytest.mark.parametrize("n_rows", [5000, 40_000])
def test_sparse_counts_of_many_configurations_enlarge_the_table(n_rows):
    block = block_of([30_000, 30_000], n_rows, 7)
    need = needs_of([0, 1])[0]
    counted = count_block([need], block)[need]
    assert len(counted.values) > n_rows - 100
    same_bits(counted, Counts.of_block(need, block))


def test_zero_weights_leave_no_cells_in_sparse_counts():
    plain = block_of([3000, 3000], 100, 8)
    block = Block(plain.schema, plain.columns, np.zeros(100, np.int64), 100)
    need = needs_of([0, 1])[0]
    counted = count_block([need], block)[need]
    assert counted.total == 0
    same_bits(counted, Counts.of_block(need, block))


@pytest.mark.parametrize("weights", [np.random.default_rng(5).random(40), np.array([2**53 - 1] + [1] * 39)])
def test_repeated_configurations_add_up_as_in_full_tables(patch, weights):
    """Reals are added one after another, and whole numbers exactly, before a sum of 2⁵³ or more is rounded."""
    variables = (sf.Variable("x", ("a", "b")),)
    wanted = float(sum(weights.tolist()))
    for limit in (10, -1):
        patch.setattr(counts_module, "DENSE_CELLS", limit)
        counted = Counts.sparse(variables, np.ones((40, 1), np.int8), weights)
        assert counted.table().tolist() == [0.0, wanted]


def test_real_weights_that_add_up_to_whole_numbers_are_whole_counts():
    plain = block_of([2, 150], 100, 9)
    block = Block(plain.schema, plain.columns, np.full(100, 0.5), 100)
    even = Block(plain.schema, {name: np.zeros(100, np.int8) for name in plain.columns}, np.full(100, 0.5), 100)
    for some in (block, even):
        for need, counted in count_block(needs_of([0], [0, 1]), some).items():
            same_bits(counted, Counts.of_block(need, some))
    assert count_block(needs_of([0]), even)[needs_of([0])[0]].values.tolist() == [50, 0]


# Threads, ranges, tiles and blocks ----------------------------------------------------------------------------


def all_counts(n_rows, weights, split=None):
    """Count a mixed job, in blocks of some size."""
    block = block_of([2, 3, 40, 300, 5000], n_rows, 11, weights)
    needs = needs_of([0, 1], [1], [2, 3], [0, 2], [3, 4], [4], [])
    total = None
    for part in block.split(split or max(n_rows, 1)):
        counted = count_block(needs, part)
        total = counted if total is None else {need: total[need] + counted[need] for need in needs}
    return total


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("range_rows", "tile_rows"), [(64, 64), (100, 128), (777, 64), (10_000, 1024)])
def test_counts_do_not_depend_on_threads_ranges_or_tiles(patch, weights, threads, range_rows, tile_rows):
    expected = all_counts(3000, weights)
    cut_small(patch, range_rows, tile_rows)
    config(threads=threads)
    found = all_counts(3000, weights)
    assert len(found) == 7
    for need, counted in found.items():
        same_bits(counted, expected[need])


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("split", [1, 64, 999, 1000, 1001])
def test_counts_do_not_depend_on_the_size_of_blocks(patch, weights, split):
    expected = all_counts(1000, weights)
    cut_small(patch, 300)
    n_rows = 1000 if split > 1 else 30
    expected = expected if split > 1 else all_counts(n_rows, weights)
    found = all_counts(n_rows, weights, split)
    assert len(found) == 7
    for need, counted in found.items():
        same_bits(counted, expected[need])


@pytest.mark.parametrize("threads", [2, 5])
def test_sums_of_inexact_weights_have_the_same_bits_for_any_number_of_threads(patch, threads):
    plain = block_of([2, 150], 2000, 12)
    block = Block(plain.schema, plain.columns, np.random.default_rng(0).random(2000), 2000)
    needs = needs_of([0], [0, 1], [1])
    cut_small(patch, 70)
    config(threads=1)
    expected = count_block(needs, block)
    config(threads=threads)
    found = count_block(needs, block)
    assert set(found) == set(expected) == set(needs)
    for need, counted in found.items():
        same_bits(counted, expected[need])
        assert counted.table() == pytest.approx(Counts.of_block(need, block).table(), rel=1e-12)


def test_no_more_threads_run_than_were_asked_for(patch):
    asked = []
    pool = counting.ThreadPoolExecutor
    patch.setattr(counting, "ThreadPoolExecutor", lambda n: asked.append(n) or pool(n))
    cut_small(patch, 100)
    block, needs = block_of([2], 1000), needs_of([0])
    for threads in (1, 2, 5, 50):
        config(threads=threads)
        count_block(needs, block)
    assert asked == [2, 5, 10]


def test_errors_in_a_thread_come_out(patch):
    def fail(*arguments):
        raise MemoryError("no more")

    cut_small(patch, 10)
    config(threads=2)
    patch.setattr(counting, "_by_masks", fail)
    with pytest.raises(MemoryError, match="no more"):
        count_block(needs_of([0]), block_of([2], 100))


# Through the public calls -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_family_of_a_million_million_cells_is_fitted_from_what_occurs(weighted):
    generator = np.random.default_rng(0)
    data = {f"v{j}": generator.integers(0, 10, 500) for j in range(12)}
    for column in data.values():
        column[400:] = column[:100]  # some configurations occur more than once
    data["v11"][450:] = (data["v11"][450:] + 1) % 10
    weights = generator.integers(1, 9, 500) if weighted else None
    *parents, child = data
    dag = sf.DAG({name: [] for name in parents} | {child: parents})
    schema = {name: list(range(10)) for name in data}
    fit = sf.fit(dag, data, weights=weights, schema=schema, unseen_parents="nan", certify="data")
    assert fit.statistics[Count(tuple(data))].n_cells == 10**12
    assert fit.certificate.ok
    exact = naive.mle({k: v.tolist() for k, v in data.items()}, child, parents, None if weights is None else weights)
    found = {(*above, s): p for above, row in fit.model.cpd(child).rows() for s, p in enumerate(row.tolist()) if p}
    assert found == pytest.approx({cell: float(p) for cell, p in exact.items()}, rel=1e-14)
    assert np.isnan(fit.model.log_prob({**{name: [0] for name in data}})).all()


def test_fits_do_not_depend_on_ranges_and_tiles(patch):
    generator = np.random.default_rng(1)
    data = {name: generator.choice(list("xyz"), 500) for name in "ABCD"}
    dag = sf.DAG("A -> B -> D; A -> C -> D")
    plain = sf.fit(dag, data)
    cut_small(patch, 64, 64)
    fast = sf.fit(dag, data)
    assert fast.log_likelihood == plain.log_likelihood
    for node in dag.nodes:
        assert np.array_equal(fast.model.cpd(node).values, plain.model.cpd(node).values)
    assert fast.certificate.ok


def test_counts_are_counted_by_the_registry():
    assert STATISTICS["count"].collect is count_block
