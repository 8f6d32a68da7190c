"""Distinct rows: a commutative monoid that agrees with a counter of tuples, whatever the cuts, orders and words."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.stats.rows_twin import (
    NEED,
    SCOPE,
    A,
    B,
    X,
    as_counter,
    collect,
    counted,
    eighths,
    gather,
    is_ordered,
    listed,
    same,
    source_of,
    tables,
)

import suffice as sf
import suffice.stats.rows as rows_module
from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.stats import ordering
from suffice.stats.needs import Distinct
from suffice.stats.rows import Rows
from suffice.stats.source import BlockSource
from suffice.stats.statistics import add_up

# Collecting ---------------------------------------------------------------------------------------------------


@given(st.data(), tables, st.integers(1, 21))
def test_rows_are_what_a_counter_finds(data, table, block_rows):
    weights = data.draw(st.none() | st.lists(eighths, min_size=len(table), max_size=len(table)))
    rows = collect(table, weights, block_rows)
    assert as_counter(rows) == counted(table, weights)
    assert is_ordered(rows)
    assert (rows.weights > 0).all()
    assert rows.n_rows == len(rows.weights)
    assert rows.weight == sum(counted(table, weights).values())


@given(st.data(), tables, st.integers(1, 21))
def test_the_bits_depend_neither_on_cuts_nor_on_the_order_of_rows(data, table, block_rows):
    weights = data.draw(st.lists(st.integers(0, 10**12), min_size=len(table), max_size=len(table)))
    order = data.draw(st.permutations(range(len(table))))
    whole = collect(table, weights)
    moved = collect([table[i] for i in order], [weights[i] for i in order], block_rows)
    assert same(moved, whole)


@given(st.data(), tables)
def test_real_weights_add_up_but_for_rounding(data, table):
    weights = data.draw(st.lists(st.floats(0, 1e6), min_size=len(table), max_size=len(table)))
    found, expected = as_counter(collect(table, weights, 3)), counted(table, weights)
    assert set(found) == set(expected)
    for entry, weight in expected.items():
        assert found[entry] == pytest.approx(weight, rel=1e-13)


def test_zero_and_minus_zero_are_one_value_with_one_spelling():
    rows = Rows.of_rows((X,), ([-0.0, 0.0, -0.0],))
    assert rows.weights.tolist() == [3]
    assert not np.signbit(rows.values("x")).any()
    assert not np.signbit(Rows.of_rows((X,), ([-0.0],)).values("x")).any()


def test_streams_whose_states_grow_end_as_the_whole_table(tmp_path, monkeypatch):
    table = [("w", 0.5, 3), ("v", -1.5, 1), ("w", 0.5, 3), ("u", 2.5, 2), ("v", 0.25, 1), ("u", 0.25, 3)]
    lines = ["a,x,b", *(",".join(map(str, entry)) for entry in table)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole = BlockSource(open_table(tmp_path / "t.csv", SCOPE)).gather([NEED])
    monkeypatch.setattr("suffice.data.readers.csv_file.PIECE_BYTES", 12)
    source = BlockSource(open_table(tmp_path / "t.csv", SCOPE))
    assert len(list(source.table.blocks())) > 2
    assert same(source.gather([NEED])[NEED], whole[NEED])
    assert as_counter(whole[NEED]) == counted(table)


def test_no_columns_are_one_row_of_all_the_weight():
    table = [("u", 0.5, 1), ("v", 0.5, 2)]
    for weights, total in ((None, [2.0]), ([0.5, 1], [1.5]), ([0, 0], [])):
        found = source_of(table, weights).gather([Distinct(())])[Distinct(())]
        assert found.columns == ()
        assert found.weights.tolist() == total


def test_no_rows_are_the_zero():
    empty = Block(Schema((A, X, B)), {"a": np.zeros(0, np.int8), "x": np.zeros(0), "b": np.zeros(0, np.int8)}, None, 0)
    assert same(Rows.of_block(NEED, empty), Rows.zero(NEED, empty.schema))


# Words --------------------------------------------------------------------------------------------------------

SIZES = st.lists(st.sampled_from([None, 1, 2, 3, 127, 128, 40_000]), max_size=8)


def random_columns(variables, n_rows, seed):
    """Return columns in which rows repeat, since few values are drawn from."""
    rng = np.random.default_rng(seed)
    pools = [rng.normal(size=2) if v.states is None else rng.integers(0, v.n_states, 2) for v in variables]
    return [rng.choice(pool, n_rows) for pool in pools]


def brute_force(columns, weights):
    found: Counter = Counter()
    for *entry, weight in zip(*(column.tolist() for column in columns), weights, strict=True):
        found[tuple(entry)] += weight
    return sorted((entry, weight) for entry, weight in found.items() if weight)


@given(SIZES, st.integers(0, 40), st.integers(0, 10**6), st.sampled_from([2, 5, 300, 2**63]))
@example([2, None, None, 3, 128], 40, 0, 2)
@example([], 5, 0, 2**63)
def test_any_kinds_of_columns_and_any_size_of_words_agree_with_brute_force(sizes, n_rows, seed, word):
    variables = [Variable(f"v{i}", None if size is None else tuple(range(size))) for i, size in enumerate(sizes)]
    columns = random_columns(variables, n_rows, seed)
    weights = np.random.default_rng(seed).integers(0, 3, n_rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "WORD", word)
        found = Rows.of_rows(variables, columns, weights)
    assert listed(found) == brute_force(columns, weights.tolist())
    assert [column.dtype for column in found.columns] == [
        np.float64 if size is None else np.int8 if size <= 127 else np.int16 if size <= 32767 else np.int32
        for size in sizes
    ]


@pytest.mark.parametrize("n_variables", [62, 63, 64, 65, 200])
def test_many_variables_make_several_words(n_variables):
    variables = [Variable(f"v{i}", (0, 1)) for i in range(n_variables)]
    columns = list(np.random.default_rng(n_variables).integers(0, 2, (n_variables, 30)))
    columns = [np.concatenate([column, column[:7]]) for column in columns]
    assert listed(Rows.of_rows(variables, columns)) == brute_force(columns, [1] * 37)


def test_few_and_many_rows_of_one_space_agree():
    variables = [Variable(f"v{i}", tuple(range(4))) for i in range(4)]  # 256 cells: a histogram from 128 rows on
    columns = list(np.random.default_rng(1).integers(0, 4, (4, 1000)))
    parts = [Rows.of_rows(variables, [column[i : i + 50] for column in columns]) for i in range(0, 1000, 50)]
    whole = Rows.of_rows(variables, columns)
    assert same(reduce(add, parts), whole)
    assert listed(whole) == brute_force(columns, [1] * 1000)


# Adding and scaling -------------------------------------------------------------------------------------------


@given(tables, tables, tables)
def test_addition_commutes_and_associates_bit_by_bit_and_zero_is_neutral(first, second, third):
    a, b, c = (collect(table) for table in (first, second, third))
    assert same(a + b, b + a)
    assert same((a + b) + c, a + (b + c))
    zero = Rows.zero(NEED, Schema(a.variables))
    assert same(a + zero, a)
    assert same(zero + a, a)


@given(tables, tables)
def test_parts_with_different_states_unite_to_the_whole(first, second):
    total = gather(first) + gather(second)
    whole = gather(first + second)
    assert total.schema == whole.schema
    assert same(total[NEED], whole[NEED])
    assert same(gather(first)[NEED] + gather(second)[NEED], whole[NEED])


def test_a_part_without_rows_adds_nothing():
    nothing = Rows.zero(Distinct(("a", "x")), Schema((Variable("a", ()), Variable("x", ()))))
    some = Rows.of_rows((A, X), ([2, 0], [0.5, 1.5]))
    assert same(nothing + some, some)
    assert same(some + nothing, some)


@given(tables, eighths)
def test_scaling_multiplies_weights(table, factor):
    rows = collect(table)
    assert as_counter(rows.scaled(factor)) == ({k: v * factor for k, v in as_counter(rows).items()} if factor else {})
    assert same(rows.scaled(2), rows + rows)
    assert same(rows.scaled(0), Rows.zero(NEED, Schema(rows.variables)))


def test_a_weight_that_rounds_to_nothing_takes_its_row_along():
    rows = Rows.of_rows((A,), ([0, 1],), [1e-200, 1.0])
    assert as_counter(rows.scaled(1e-200)) == {("v",): 1e-200}


def test_rows_of_other_columns_cannot_be_added():
    with pytest.raises(sf.StatisticsError, match=r"\('a',\) and over \('b',\) cannot be added"):
        Rows.of_rows((A,), ([0],)) + Rows.of_rows((B,), ([0],))
    with pytest.raises(TypeError):
        Rows.of_rows((A,), ([0],)) + 1


@settings(max_examples=25)
@given(st.lists(tables, min_size=1, max_size=9))
def test_adding_up_many_parts_is_repeated_addition(parts):
    statistics = [gather(part) for part in parts]
    assert same(add_up(statistics)[NEED], reduce(add, statistics)[NEED])
    assert add_up(statistics).weight == sum(map(len, parts))


def test_adding_many_small_parts_does_not_sort_the_sum_every_time(monkeypatch):
    handled = []
    plain = rows_module._distinct
    monkeypatch.setattr(
        rows_module,
        "_distinct",
        lambda variables, columns, weights: handled.append(len(columns[0])) or plain(variables, columns, weights),
    )
    table = [("u", float(i), 1) for i in range(2048)]
    rows = collect(table, block_rows=4)
    assert rows.n_rows == 2048
    assert len(handled) > 512
    assert sum(handled) <= 2048 * 12  # one addition after the other would handle 526,000


# Other schemas ------------------------------------------------------------------------------------------------


def test_codes_that_become_one_are_added():
    rows = Rows.of_rows((A, X), ([0, 1, 2, 2], [0.5, 0.5, 0.5, 1.5]), [1, 2, 4, 8])
    merged = rows.recoded(Schema((Variable("a", ("n", "m")), X)), {"a": np.array([1, 0, 1])})
    assert listed(merged) == [((0, 0.5), 2.0), ((1, 0.5), 5.0), ((1, 1.5), 8.0)]


@given(tables, st.permutations("uvwz"))
def test_a_larger_schema_in_another_order_holds_the_same_rows(table, states):
    rows = collect(table)
    larger = Schema((Variable("b", tuple(range(300))), Variable("a", tuple(states)), X))
    moved = rows.reindexed(larger)
    assert as_counter(moved) == as_counter(rows)
    assert is_ordered(moved)
    assert moved.variables == (larger["a"], X, larger["b"])
    assert moved.columns[2].dtype == np.int16
    assert rows.reindexed(Schema(rows.variables)) is rows


@pytest.mark.parametrize(("old", "new"), [(A, Variable("a")), (Variable("a"), A)])
def test_discrete_and_continuous_columns_are_not_exchanged(old, new):
    with pytest.raises(sf.SchemaError, match="'a' is continuous"):
        Rows.of_rows((old,), ([0],)).reindexed(Schema((new,)))


def test_renamed_rows_are_the_same_numbers():
    rows = Rows.of_rows((A, X), ([0, 2], [0.5, 1.5]))
    renamed = rows.renamed({"a": Variable("z", A.states)})
    assert renamed.need == Distinct(("z", "x"))
    assert listed(renamed) == listed(rows)
