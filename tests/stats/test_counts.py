"""Counts: a commutative monoid, exact for whole weights, the same dense and sparse."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive

import suffice as sf
import suffice.stats.counts as counts_module
from suffice.data.table import open_table
from suffice.errors import StatisticsError, SufficeError
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.stats.ordering import grouped, unique_rows, words_of
from suffice.stats.source import BlockSource

SCOPE = ("a", "b", "c")
NEED = Count(SCOPE)

row = st.tuples(st.sampled_from("uvw"), st.sampled_from([1, 2, 3]), st.sampled_from("xyz"))
rows = st.lists(row, max_size=20)
whole_weights = st.integers(0, 10**12)
# Sums of eighths are exact, so that bits can be compared; small ones often add up to whole numbers.
eighths = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 1.5]) | st.integers(0, 10**6).map(lambda k: k / 8)
reals = st.floats(0, 1e6)


def table_of(table_rows, weights=None, schema=None):
    columns = {name: [row[j] for row in table_rows] for j, name in enumerate(SCOPE)}
    return open_table(columns, SCOPE, weights=weights, schema=schema)


def count(table_rows, weights=None, need=NEED, block_rows=1 << 16, schema=None):
    table = table_of(table_rows, None if weights is None else list(weights), schema)
    return BlockSource(table, block_rows=block_rows).gather([need])[need]


def as_dict(counts):
    cells, values = counts.nonzero()
    labels = [tuple(v.states[code] for v, code in zip(counts.variables, cell, strict=True)) for cell in cells]
    return dict(zip(labels, values.tolist(), strict=True))


def same_bits(first, second):
    assert first.variables == second.variables
    assert first.values.dtype == second.values.dtype
    assert np.array_equal(first.values, second.values)
    assert (first.cells is None) == (second.cells is None)
    if first.cells is not None:
        assert np.array_equal(first.cells, second.cells)


@pytest.fixture(params=["dense", "sparse"])
def storage(request, monkeypatch):
    """Run a test with full tables and with lists of cells."""
    if request.param == "sparse":
        monkeypatch.setattr(counts_module, "DENSE_CELLS", -1)
    return request.param


def weighted(weight):
    return st.lists(st.tuples(row, weight), max_size=8)


# Against plain loops ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("storage")
class TestAgainstPlainLoops:
    @settings(max_examples=40)
    @given(table_rows=rows)
    def test_counts_are_those_of_a_plain_loop(self, table_rows):
        columns = {name: [row[j] for row in table_rows] for j, name in enumerate(SCOPE)}
        assert as_dict(count(table_rows)) == naive.counts(columns, SCOPE)

    @settings(max_examples=40)
    @given(pairs=weighted(whole_weights))
    def test_whole_weights_are_added_exactly(self, pairs):
        table_rows, weights = [row for row, _ in pairs], [weight for _, weight in pairs]
        columns = {name: [row[j] for row in table_rows] for j, name in enumerate(SCOPE)}
        expected = {cell: value for cell, value in naive.counts(columns, SCOPE, weights).items() if value}
        counted = count(table_rows, weights)
        assert as_dict(counted) == expected
        assert counted.values.dtype == np.int64

    @settings(max_examples=40)
    @given(pairs=weighted(reals))
    def test_real_weights_are_added_to_round_off(self, pairs):
        table_rows, weights = [row for row, _ in pairs], [weight for _, weight in pairs]
        columns = {name: [row[j] for row in table_rows] for j, name in enumerate(SCOPE)}
        expected = {cell: float(value) for cell, value in naive.counts(columns, SCOPE, weights).items() if value}
        assert as_dict(count(table_rows, weights)) == pytest.approx(expected, rel=1e-12)

    @settings(max_examples=40)
    @given(table_rows=rows, scope=st.lists(st.sampled_from(SCOPE), unique=True, min_size=1))
    def test_marginal_is_the_count_of_fewer_columns_in_the_order_asked_for(self, table_rows, scope):
        columns = {name: [row[j] for row in table_rows] for j, name in enumerate(SCOPE)}
        marginal = count(table_rows).marginal(scope)
        assert marginal.need == Count(tuple(scope))
        assert as_dict(marginal) == naive.counts(columns, scope)
        same_bits(marginal, count(table_rows, need=Count(tuple(scope))))

    @settings(max_examples=40)
    @given(table_rows=rows)
    def test_rows_hold_every_count_once(self, table_rows):
        counted = count(table_rows)
        configurations, values = counted.rows()
        *above, last = counted.variables
        if configurations is None:
            configurations = np.array(list(itertools.product(*(range(v.n_states) for v in above))), np.int64)
        found = {}
        assert len(configurations) == len(values)
        for configuration, row in zip(configurations.reshape(len(values), len(above)), values, strict=True):
            labels = tuple(v.states[code] for v, code in zip(above, configuration, strict=True))
            found.update({(*labels, state): n for state, n in zip(last.states, row.tolist(), strict=True) if n})
        assert found == as_dict(counted)

    @settings(max_examples=40)
    @given(table_rows=rows)
    def test_cells_are_in_lexicographic_order_and_table_total_and_labels_agree(self, table_rows):
        counted = count(table_rows)
        cells, values = counted.nonzero()
        assert cells.tolist() == sorted(cells.tolist())
        assert counted.total == len(table_rows) == values.sum()
        assert counted.table().shape == tuple(v.n_states for v in counted.variables)
        assert counted.n_cells == counted.table().size
        assert np.array_equal(counted.labelled().values, counted.table())


# The monoid ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("storage")
class TestMonoid:
    @settings(max_examples=40)
    @given(first=rows, second=rows)
    def test_counts_of_two_parts_are_the_counts_of_both(self, first, second):
        same_bits(count(first) + count(second), count(first + second))

    @settings(max_examples=40)
    @given(first=weighted(eighths), second=weighted(whole_weights))
    def test_addition_is_commutative_also_for_real_weights(self, first, second):
        one = count(*zip(*first, strict=True)) if first else count([])
        other = count(*zip(*second, strict=True)) if second else count([])
        same_bits(one + other, other + one)

    @settings(max_examples=40)
    @given(parts=st.tuples(*[weighted(eighths)] * 3))
    def test_addition_is_associative_with_different_states_in_the_parts(self, parts):
        a, b, c = (count(*zip(*part, strict=True)) if part else count([]) for part in parts)
        same_bits((a + b) + c, a + (b + c))

    @settings(max_examples=40)
    @given(pairs=weighted(eighths).filter(bool), data=st.data())
    def test_parts_add_up_to_the_bits_of_the_whole_for_real_weights(self, pairs, data):
        cut = data.draw(st.integers(0, len(pairs)))
        schema = {"a": list("uvw"), "b": [1, 2, 3], "c": list("xyz")}
        parts = [count([r for r, _ in p], [w for _, w in p], schema=schema) for p in (pairs[:cut], pairs[cut:])]
        same_bits(parts[0] + parts[1], count([r for r, _ in pairs], [w for _, w in pairs], schema=schema))

    @settings(max_examples=30)
    @given(table_rows=rows)
    def test_counts_of_no_rows_change_nothing(self, table_rows):
        counted = count(table_rows)
        nothing = Counts.zero(NEED, sf.Schema(counted.variables))
        same_bits(counted + nothing, counted)
        same_bits(nothing + counted, counted)

    @settings(max_examples=30)
    @given(pairs=weighted(eighths), factor=st.integers(0, 64).map(lambda k: k / 16))
    def test_scaling_multiplies_every_count(self, pairs, factor):
        counted = count(*zip(*pairs, strict=True)) if pairs else count([])
        scaled = counted.scaled(factor)
        assert as_dict(scaled) == {cell: n * factor for cell, n in as_dict(counted).items() if n * factor}
        same_bits(scaled + scaled, counted.scaled(2 * factor))

    @settings(max_examples=30)
    @given(table_rows=rows)
    def test_reindexing_moves_counts_to_their_labels(self, table_rows):
        counted = count(table_rows)
        schema = sf.Schema(
            (
                sf.Variable("a", ("w", "new", "v", "u"), True),
                sf.Variable("b", (3, 2, 1, 0), True),
                sf.Variable("c", ("z", "y", "x"), True),
            )
        )
        moved = counted.reindexed(schema)
        assert as_dict(moved) == as_dict(counted)
        assert moved.variables == schema.variables

    @settings(max_examples=30)
    @given(pairs=weighted(eighths))
    def test_counts_come_back_from_arrays(self, pairs):
        counted = count(*zip(*pairs, strict=True)) if pairs else count([])
        same_bits(Counts.from_arrays(NEED, sf.Schema(counted.variables), counted.to_arrays()), counted)
        same_bits(pickle.loads(pickle.dumps(counted)), counted)

    def test_values_and_cells_are_read_only(self):
        counted = count([("u", 1, "x"), ("v", 2, "y")])
        with pytest.raises(ValueError, match="read-only"):
            counted.values[...] = 7
        if counted.cells is not None:
            with pytest.raises(ValueError, match="read-only"):
                counted.cells[0, 0] = 1
        assert counted.nonzero()[1].tolist() == [1, 1]

    def test_nothing_is_left_of_counts_scaled_by_zero(self):
        nothing = count([("u", 1, "x"), ("v", 2, "y")]).scaled(0)
        cells, values = nothing.nonzero()
        assert cells.shape == (0, 3)
        assert values.shape == (0,)


def test_renaming_keeps_the_numbers():
    counted = count([("u", 1, "x"), ("v", 1, "x")])
    others = {"a": sf.Variable("A", ("u", "v")), "b": sf.Variable("B", (1,)), "c": sf.Variable("C", ("x",))}
    renamed = counted.renamed(others)
    assert renamed.need == Count(("A", "B", "C"))
    assert np.array_equal(renamed.values, counted.values)


def test_counts_over_different_scopes_are_not_added():
    one, other = count([("u", 1, "x")]), count([("u", 1, "x")], need=Count(("a", "b")))
    with pytest.raises(StatisticsError, match=r"\('a', 'b', 'c'\).*\('a', 'b'\).*cannot be added"):
        _ = one + other


def test_counts_are_not_added_to_numbers():
    with pytest.raises(TypeError):
        _ = count([("u", 1, "x")]) + 1


# Blocks and storage -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("storage")
class TestBlocks:
    @settings(max_examples=40)
    @given(table_rows=rows, block_rows=st.integers(1, 25), random=st.randoms(use_true_random=False))
    def test_counts_do_not_depend_on_row_order_or_block_size(self, table_rows, block_rows, random):
        whole = count(table_rows)
        shuffled = list(table_rows)
        random.shuffle(shuffled)
        same_bits(count(shuffled, block_rows=block_rows), whole)

    @settings(max_examples=40)
    @given(pairs=weighted(eighths).filter(bool), block_rows=st.integers(1, 20))
    def test_exactly_added_real_weights_do_not_depend_on_block_size(self, pairs, block_rows):
        table_rows, weights = zip(*pairs, strict=True)
        same_bits(count(table_rows, weights, block_rows=block_rows), count(table_rows, weights))

    def test_halves_in_one_block_and_in_two_are_the_same_bits(self):
        table_rows = [("u", 1, "x")] * 2
        same_bits(count(table_rows, [0.5, 0.5], block_rows=1), count(table_rows, [0.5, 0.5]))


@settings(max_examples=40)
@given(weighted(eighths), st.lists(st.sampled_from(SCOPE), unique=True, min_size=1))
def test_sparse_counts_equal_dense_ones(pairs, scope):
    arguments = zip(*pairs, strict=True) if pairs else ([],)
    table_rows, *weights = arguments
    dense = count(table_rows, *weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts_module, "DENSE_CELLS", -1)
        sparse = count(table_rows, *weights)
        assert sparse.cells is not None
        assert sparse.values.dtype == dense.values.dtype
        assert np.array_equal(sparse.table(), dense.table())
        assert sparse.marginal(scope).table().tolist() == dense.marginal(scope).table().tolist()
        both = sparse + sparse
        assert both.table().tolist() == (dense + dense).table().tolist()
    assert dense.cells is None


@pytest.mark.parametrize("limit", [26, 27])
def test_storage_changes_exactly_at_the_limit(monkeypatch, limit):
    monkeypatch.setattr(counts_module, "DENSE_CELLS", limit)
    everything = list(itertools.product("uvw", [1, 2, 3], "xyz"))
    assert (count(everything).cells is None) is (limit == 27)
    assert count(everything).table().tolist() == np.ones((3, 3, 3)).tolist()


def test_parts_that_are_dense_may_unite_to_something_sparse(monkeypatch):
    monkeypatch.setattr(counts_module, "DENSE_CELLS", 4)
    first, second = count([("u", 1, "x"), ("v", 2, "x")]), count([("w", 3, "y")])
    assert first.cells is None
    total = first + second
    assert total.cells is not None
    assert as_dict(total) == {("u", 1, "x"): 1, ("v", 2, "x"): 1, ("w", 3, "y"): 1}


def test_family_of_a_million_million_cells_is_counted_sparsely():
    n_variables, n_rows = 12, 200
    generator = np.random.default_rng(0)
    columns = {f"v{j}": generator.integers(0, 10, n_rows) for j in range(n_variables)}
    schema = {name: list(range(10)) for name in columns}
    *parents, child = columns
    dag = sf.DAG({name: [] for name in parents} | {child: parents})
    counted = sf.collect(dag, columns, schema=schema)[Count((*parents, child))]
    assert counted.n_cells == 10**12
    assert as_dict(counted) == naive.counts({k: v.tolist() for k, v in columns.items()}, (*parents, child))
    with pytest.raises(StatisticsError, match=r"1,000,000,000,000 cells.*nonzero\(\)"):
        counted.table()
    both = counted + counted
    assert both.total == 2 * n_rows
    configurations, values = counted.rows()
    assert values.sum() == n_rows
    assert len(configurations) == len(set(map(tuple, configurations.tolist())))


def test_family_beyond_the_range_of_integers_is_counted_sparsely():
    columns = {f"v{j}": [0, 9, 0, 5] for j in range(25)}
    schema = {name: list(range(10)) for name in columns}
    *parents, child = columns
    dag = sf.DAG({name: [] for name in parents} | {child: parents})
    counted = sf.collect(dag, columns, schema=schema)[Count((*parents, child))]
    assert counted.n_cells == 10**25
    assert counted.cells.tolist() == [[0] * 25, [5] * 25, [9] * 25]
    assert counted.values.tolist() == [2, 1, 1]


def test_marginal_over_nothing_is_the_total():
    assert count([("u", 1, "x"), ("v", 2, "y")]).marginal(()).total == 2


def test_marginal_over_an_unknown_variable_is_an_error_of_ours():
    with pytest.raises(SufficeError, match="zz"):
        count([("u", 1, "x")]).marginal(("zz",))


def test_table_of_the_wrong_shape_is_refused():
    with pytest.raises(StatisticsError, match=r"shape \(3,\).*\(2,\)"):
        Counts.dense((sf.Variable("x", ("a", "b")),), np.array([1, 2, 3]))


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_arrays_that_are_no_counts_are_refused(bad):
    schema = sf.Schema((sf.Variable("x", ("a", "b")),))
    with pytest.raises(StatisticsError, match="finite and at least zero"):
        Counts.from_arrays(Count(("x",)), schema, {"values": np.array([1.0, bad])})


def test_building_counts_leaves_the_callers_arrays_alone():
    variables = (sf.Variable("x", ("a", "b")),)
    table, cells, values = np.array([1, 2]), np.array([[0], [1]]), np.array([3, 4])
    dense, sparse = Counts.dense(variables, table), Counts.sparse(variables, cells, values)
    table[0] = 100
    cells[0, 0] = 1
    values[0] = 100
    assert dense.values.tolist() == [1, 2]
    assert sparse.values.tolist() == [3, 4]


def test_the_constructor_leaves_the_callers_array_writable():
    table = np.array([1, 2])
    counted = Counts((sf.Variable("x", ("a", "b")),), None, table)
    table[0] = 100
    assert counted.values.tolist() == [1, 2]


def test_repeated_cells_are_added_up(monkeypatch):
    variables = (sf.Variable("x", ("a", "b")),)
    for limit in (10, -1):
        monkeypatch.setattr(counts_module, "DENSE_CELLS", limit)
        counted = Counts.sparse(variables, np.array([[1], [0], [1]]), np.array([1, 2, 3]))
        assert counted.table().tolist() == [2, 4]


def test_configurations_are_held_in_the_shortest_type_and_grow_with_the_states():
    """A hundred states take a byte each; united with a hundred others they need two, and no code wraps around."""
    names = [f"v{j}" for j in range(4)]
    first = [sf.Variable(name, tuple(range(100))) for name in names]
    second = [sf.Variable(name, tuple(range(100, 200))) for name in names]
    cells = np.array([[99, 0, 99, 5], [0, 1, 2, 3]])
    one, two = (Counts.sparse(variables, cells, np.array([2, 3])) for variables in (first, second))
    assert one.cells.dtype == np.int8
    assert one.nonzero()[0].dtype == np.int64
    both = one + two
    assert both.cells.dtype == np.int16
    assert both.cells.tolist() == [[0, 1, 2, 3], [99, 0, 99, 5], [100, 101, 102, 103], [199, 100, 199, 105]]
    assert both.values.tolist() == [3, 2, 3, 2]
    assert both.rows()[0].dtype == np.int64


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ([0, 128], "'y'.*Got 128"),
        ([-1, 0], "'x'.*Got -1"),
        ([2000, 0], "'x'.*Got 2000"),
        ([0.5, 0.0], "'x'.*Got 0.5"),
        (["a", 0], "'x'.*Got '1'"),
        ([np.nan, 0], "'x'.*Got nan"),
    ],
)
@pytest.mark.parametrize("limit", [10**6, -1])
def test_arrays_that_are_no_configurations_are_refused(cell, said, limit, monkeypatch):
    monkeypatch.setattr(counts_module, "DENSE_CELLS", limit)
    schema = sf.Schema((sf.Variable("x", tuple(range(2000))), sf.Variable("y", tuple(range(128)))))
    with pytest.raises(StatisticsError, match=said):
        Counts.from_arrays(Count(("x", "y")), schema, {"cells": np.array([[1, 2], cell]), "values": np.array([1, 1])})


def test_configurations_of_other_types_are_read_as_codes_and_none_wraps_around():
    variables = tuple(sf.Variable(name, tuple(range(2000))) for name in "xy")
    for cells in ([[0.0, 1.0]], [[False, True]], np.array([[0, 1]], object), np.array([[0, 1]], np.uint64)):
        assert Counts.sparse(variables, np.array(cells), np.array([2])).cells.tolist() == [[0, 1]]
    with pytest.raises(StatisticsError, match=r"'x'.*Got 40000"):
        Counts(variables, np.array([[40_000, 70_000]]), np.array([1]))


def test_sparse_counts_do_not_look_into_the_callers_memory():
    variables = tuple(sf.Variable(name, tuple(range(2000))) for name in "xy")
    cells, values = np.array([[0, 1], [3, 4]], np.int16), np.array([1, 2])
    views = cells.view(), values.view()
    for view in views:
        view.flags.writeable = False
    counted = Counts.sparse(variables, *views)
    cells[0, 0], values[0] = 999, 77
    assert counted.cells.tolist() == [[0, 1], [3, 4]]
    assert counted.values.tolist() == [1, 2]


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_many_configurations_add_up_in_any_order(kind):
    """Enough of them for every way of sorting: sorted parts, parts in disorder, and all of them at once."""
    generator = np.random.default_rng(5)
    variables = tuple(sf.Variable(f"v{j}", tuple(range(30))) for j in range(6))
    cells = generator.integers(0, 30, (4000, 6)) * (generator.random((4000, 6)) < 0.3)
    values = generator.integers(1, 9, 4000).astype(kind) / (1 if kind is np.int64 else 8)
    known: dict[tuple[int, ...], float] = {}
    for cell, value in zip(map(tuple, cells.tolist()), values.tolist(), strict=True):
        known[cell] = known.get(cell, 0) + value
    at_once = Counts.sparse(variables, cells, values)
    in_parts = sum(
        (Counts.sparse(variables, cells[i : i + 500], values[i : i + 500]) for i in range(500, 4000, 500)),
        Counts.sparse(variables, cells[:500], values[:500]),
    )
    for counted in (at_once, in_parts):
        assert [tuple(cell) for cell in counted.cells.tolist()] == sorted(known)
        assert counted.values.tolist() == [known[cell] for cell in sorted(known)]


# Ordering -----------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, -0.5, 7.25]), st.integers(0, 2**40)), max_size=30),
    st.booleans(),
)
def test_rows_are_grouped_by_codes_and_numbers(table, stable):
    """One pair of codes makes a word of more than 64 bits with its neighbour, so that words of all kinds occur."""
    columns = [np.array(column) for column in zip(*table, strict=True)] or [np.zeros(0)] * 3
    columns = [
        columns[0].astype(np.int8),
        columns[1].astype(float),
        columns[2].astype(np.int64),
        columns[2].astype(np.int64),
    ]
    words, span = words_of(columns, [4, None, 2**40 + 1, 2**40 + 1], len(table))
    assert len(words) == 4
    assert span is None
    order, starts = grouped(words, stable)
    order = np.arange(len(table)) if order is None else order
    assert [table[row] for row in order] == sorted(table)
    assert [table[row] for row in order[starts]] == sorted(set(table))
    if stable:
        assert order.tolist() == sorted(range(len(table)), key=lambda row: table[row])


# unique_rows --------------------------------------------------------------------------------------------------


@given(
    st.integers(1, 4).flatmap(
        lambda d: st.lists(
            st.tuples(*[st.integers(0, 2) | st.sampled_from([2**20, 2**31, 2**61, 2**62 - 1])] * d), max_size=12
        ).map(lambda r: np.array(r, np.int64).reshape(-1, d))
    )
)
def test_unique_rows_are_sorted_distinct_and_give_the_rows_back(array):
    distinct, position = unique_rows(array)
    assert distinct.tolist() == [list(row) for row in sorted(set(map(tuple, array.tolist())))]
    assert np.array_equal(distinct[position], array)


def test_unique_rows_of_key_spaces_beyond_the_range_of_integers():
    array = np.array([[2**40, 2**40], [0, 2**40], [2**40, 2**40], [2**40, 0]], np.int64)
    assert math.prod(int(n) + 1 for n in array.max(axis=0)) > 2**62
    distinct, position = unique_rows(array)
    assert distinct.tolist() == [[0, 2**40], [2**40, 0], [2**40, 2**40]]
    assert position.tolist() == [2, 0, 2, 1]


def test_unique_rows_without_columns_are_one_row():
    distinct, position = unique_rows(np.zeros((3, 0), np.int64))
    assert distinct.shape == (1, 0)
    assert position.tolist() == [0, 0, 0]
