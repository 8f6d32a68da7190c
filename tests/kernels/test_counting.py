"""Counting kernels: each one equals plain loops, adds to what is there, and looks at no row beyond the last."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import naive

from suffice.kernels.counting import build_masks, count_histogram, count_keys, count_masks, count_weighted
from suffice.stats import counting

N_ROWS = [0, 1, 2, 63, 64, 65, 127, 128, 129, 200]
GOLDEN = 0x9E3779B97F4A7C15


def codes_of(sizes, n_rows, seed, n_stored=None):
    """Return a tile of codes, with other valid codes beyond the rows that count."""
    generator = np.random.default_rng(seed)
    return np.stack([generator.integers(0, size, n_stored or n_rows) for size in sizes])


def layout_of(scopes, sizes):
    """Return members, starts, sizes and offsets as the kernels take them."""
    tables = [math.prod(sizes[c] for c in scope) for scope in scopes]
    return (
        np.array([c for scope in scopes for c in scope], np.int64),
        np.cumsum([0, *map(len, scopes)], dtype=np.int64),
        np.array(sizes, np.int64),
        np.cumsum([0, *tables], dtype=np.int64),
    )


def expected(codes, n_rows, scopes, sizes, weights=None):
    """Return the flat buffer of counts, by plain loops."""
    columns = {c: codes[c, :n_rows].tolist() for c in range(len(sizes))}
    weights = None if weights is None else weights[:n_rows].tolist()
    flat = []
    for scope in scopes:
        table = np.zeros([sizes[c] for c in scope], object)
        for cell, m in naive.counts(columns, scope, weights).items():
            table[cell] = m
        flat += table.reshape(-1).tolist()
    return flat


@st.composite
def tiles(draw, most_states=3, most_columns=12):
    """Return sizes, scopes, a number of rows and a seed."""
    sizes = draw(st.lists(st.integers(1, most_states), min_size=1, max_size=most_columns))
    columns = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=6, unique=True)
    scopes = draw(st.lists(columns, min_size=1, max_size=4))
    return sizes, scopes, draw(st.sampled_from(N_ROWS)), draw(st.integers(0, 2**32))


# Bit masks ----------------------------------------------------------------------------------------------------


def masks_of(codes, n_rows, sizes, n_words):
    tile = np.zeros((len(sizes), 64 * n_words), np.int8)
    tile[:, : codes.shape[1]] = codes
    first = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
    masks = np.full((sum(sizes), n_words), 0xDEADBEEF, np.uint64)  # nothing of what was there before may stay
    build_masks(tile.view(np.uint64), n_rows, np.array(sizes, np.int64), first, masks)
    return masks, first


@pytest.mark.parametrize("n_rows", [*N_ROWS, 255, 256])
@pytest.mark.parametrize("sizes", [[1], [2], [3, 1, 2], [96], [127], [128], [5, 128, 2]])
def test_masks_have_one_bit_a_row_in_the_mask_of_its_state(n_rows, sizes):
    codes = codes_of(sizes, n_rows, 7, 256)
    masks, first = masks_of(codes, n_rows, sizes, 4)
    bits = [[int(words[i // 64]) >> (i % 64) & 1 for i in range(256)] for words in masks]
    for c, size in enumerate(sizes):
        expected = [[int(i < n_rows and codes[c, i] == state) for i in range(256)] for state in range(size)]
        assert bits[first[c] : first[c] + size] == expected


def test_every_pair_of_code_and_state_within_a_word_is_told_apart():
    """Bytes next to each other must not carry into one another."""
    codes = np.stack([np.arange(128), np.arange(127, -1, -1), np.repeat(np.arange(64), 2)])
    sizes = [128, 128, 64]
    masks, first = masks_of(codes, 128, sizes, 2)
    rows = [[i for i in range(128) if int(words[i // 64]) >> (i % 64) & 1] for words in masks]
    for c, size in enumerate(sizes):
        expected = [np.flatnonzero(codes[c] == state).tolist() for state in range(size)]
        assert rows[first[c] : first[c] + size] == expected


def by_masks(codes, n_rows, scopes, sizes, times=1):
    n_words = max(1, -(-codes.shape[1] // 64))
    masks, first = masks_of(codes, n_rows, sizes, n_words)
    members, starts, states, offsets = layout_of(scopes, sizes)
    out = np.zeros(offsets[-1], np.int64)
    for _ in range(times):
        count_masks(masks, first, members, starts, states, out, offsets, np.zeros(n_words, np.uint64))
    return out


@settings(max_examples=60)
@given(tiles())
def test_mask_counts_are_those_of_plain_loops(case):
    sizes, scopes, n_rows, seed = case
    codes = codes_of(sizes, n_rows, seed, 256)
    assert by_masks(codes, n_rows, scopes, sizes).tolist() == expected(codes, n_rows, scopes, sizes)


@pytest.mark.parametrize("n_columns", range(1, 13))
def test_mask_counts_of_families_with_any_number_of_members(n_columns):
    sizes = [2, 1, 2, 1, 2, 3, 1, 2, 1, 1, 1, 2][:n_columns]
    codes = codes_of(sizes, 130, n_columns)
    scopes = [list(range(n_columns)), list(range(n_columns))[::-1]]
    assert by_masks(codes, 130, scopes, sizes).tolist() == expected(codes, 130, scopes, sizes)


def test_mask_counts_are_added_to_what_is_there():
    codes, scopes, sizes = codes_of([2, 3], 100, 0), [[0, 1], [1]], [2, 3]
    assert np.array_equal(by_masks(codes, 100, scopes, sizes, times=3), 3 * by_masks(codes, 100, scopes, sizes))


# Histograms ---------------------------------------------------------------------------------------------------


def by_histogram(codes, n_rows, scopes, sizes, weights=None, out=None):
    members, starts, states, offsets = layout_of(scopes, sizes)
    dtype = np.int64 if weights is None else weights.dtype
    out = np.zeros(offsets[-1], dtype) if out is None else out
    if weights is None:
        count_histogram(codes.astype(np.int32), n_rows, members, starts, states, out, offsets)
    else:
        count_weighted(codes.astype(np.int32), n_rows, weights, members, starts, states, out, offsets)
    return out


@settings(max_examples=60)
@given(tiles())
def test_histograms_are_those_of_plain_loops(case):
    sizes, scopes, n_rows, seed = case
    codes = codes_of(sizes, n_rows, seed, 256)
    assert by_histogram(codes, n_rows, scopes, sizes).tolist() == expected(codes, n_rows, scopes, sizes)


@pytest.mark.parametrize("n_columns", range(1, 13))
def test_histograms_of_families_with_any_number_of_members(n_columns):
    sizes = [2, 3, 1, 2, 2, 1, 3, 2, 1, 2, 2, 2][:n_columns]
    codes = codes_of(sizes, 150, n_columns)
    scopes = [list(range(n_columns)), list(range(n_columns))[::-1]]
    assert by_histogram(codes, 150, scopes, sizes).tolist() == expected(codes, 150, scopes, sizes)


@pytest.mark.parametrize("n_states", [255, 256, 257, 32767, 32768, 65_537])
def test_histograms_of_variables_with_many_states(n_states):
    sizes = [n_states, 2, 3]
    codes = codes_of(sizes, 300, n_states)
    codes[0, :2] = 0, n_states - 1
    scopes = [[0], [0, 1], [1, 0], [1, 0, 2], [2, 1, 0]]
    assert by_histogram(codes, 300, scopes, sizes).tolist() == expected(codes, 300, scopes, sizes)


@settings(max_examples=40)
@given(tiles(), st.sampled_from([np.int64, np.float64]))
def test_weighted_histograms_are_those_of_plain_loops(case, dtype):
    sizes, scopes, n_rows, seed = case
    codes = codes_of(sizes, n_rows, seed, 256)
    weights = np.random.default_rng(seed).integers(0, 2**40, 256).astype(dtype)
    weights = weights if dtype is np.int64 else weights / 8  # sums of eighths are exact
    counted = by_histogram(codes, n_rows, scopes, sizes, weights)
    assert counted.dtype == dtype
    assert counted.tolist() == expected(codes, n_rows, scopes, sizes, weights)


def test_weights_may_be_read_only_and_whole_ones_are_exact_beyond_floats():
    codes, weights = np.zeros((1, 3), np.int64), np.array([2**53, 1, 1])
    weights.flags.writeable = False
    assert by_histogram(codes, 3, [[0]], [2], weights).tolist() == [2**53 + 2, 0]


@pytest.mark.parametrize("weights", [None, np.arange(90), np.arange(90) / 4])
def test_histograms_are_added_to_what_is_there(weights):
    codes, scopes, sizes = codes_of([2, 3, 2, 2], 90, 0), [[0], [0, 1], [0, 1, 2], [3, 2, 1, 0]], [2, 3, 2, 2]
    once = by_histogram(codes, 90, scopes, sizes, weights)
    twice = by_histogram(codes, 90, scopes, sizes, weights, once.copy())
    assert np.array_equal(twice, 2 * once)


# Hash tables --------------------------------------------------------------------------------------------------


def slot_of(key, n_slots):
    """Return where a key belongs, in plain Python."""
    mixed = key * GOLDEN % 2**64
    return (mixed ^ mixed >> 32) % n_slots


def tables_of(n_slots, dtype=np.int64):
    return np.full(n_slots, -1, np.int64), np.zeros(n_slots, dtype)


def as_dict(table, values):
    assert len(set(table[table >= 0].tolist())) == (table >= 0).sum()
    assert not values[table < 0].any()
    return {key: value for key, value in zip(table.tolist(), values.tolist(), strict=True) if key >= 0}


NO_WEIGHTS = np.zeros(0, np.int64)
wide_keys = (
    st.integers(0, 20) | st.integers(2**62 - 20, 2**62 - 1) | st.integers(2**63 - 5, 2**63 - 1) | st.integers(0, 2**62)
)


@settings(max_examples=80)
@given(st.lists(wide_keys, max_size=15))
def test_keys_are_counted_like_a_dict(keys):
    table, values = tables_of(64)
    went_in, used = count_keys(np.array(keys, np.int64), NO_WEIGHTS, table, values, 0)
    assert went_in == len(keys)
    assert used == len(set(keys))
    assert as_dict(table, values) == {key: keys.count(key) for key in keys}


@settings(max_examples=40)
@given(st.lists(st.tuples(wide_keys, st.integers(0, 2**40)), max_size=15), st.sampled_from([np.int64, np.float64]))
def test_weights_of_keys_are_added_up(pairs, dtype):
    table, values = tables_of(64, dtype)
    keys, weights = [key for key, _ in pairs], [weight for _, weight in pairs]
    count_keys(np.array(keys, np.int64), np.array(weights, dtype), table, values, 0)
    exact = naive.counts({"key": keys}, ["key"], weights)
    assert as_dict(table, values) == {key: m for (key,), m in exact.items()}


def test_keys_that_want_the_same_slot_stay_apart():
    n_slots = 16
    wanted = [key for key in range(10_000) if slot_of(key, n_slots) == n_slots - 1][:7]  # they go on at slot 0
    keys = np.array(wanted * 3, np.int64)
    table, values = tables_of(n_slots)
    assert count_keys(keys, NO_WEIGHTS, table, values, 0) == (21, 7)
    assert as_dict(table, values) == dict.fromkeys(wanted, 3)
    assert set(np.flatnonzero(table >= 0).tolist()) == {15, 0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize("n_slots", [2, 4, 8, 4096])
def test_counting_stops_when_half_of_the_slots_are_used_and_can_go_on_elsewhere(n_slots):
    keys = np.arange(n_slots, dtype=np.int64) * 977
    table, values = tables_of(n_slots)
    went_in, used = count_keys(keys, NO_WEIGHTS, table, values, 0)
    assert went_in == used == n_slots // 2
    assert as_dict(table, values) == dict.fromkeys(keys[:went_in].tolist(), 1)
    assert count_keys(keys[went_in:], NO_WEIGHTS, table, values, used) == (0, used)
    assert as_dict(table, values) == dict.fromkeys(keys[:went_in].tolist(), 1)


def test_the_last_key_may_fill_half_of_the_slots():
    table, values = tables_of(8)
    assert count_keys(np.arange(4), NO_WEIGHTS, table, values, 0) == (4, 4)


def test_a_table_that_is_enlarged_keeps_its_sums():
    table, values = tables_of(8, np.float64)
    keys = np.array([2**62 - 1, 5, 2**62 - 2, 0])
    _, used = count_keys(keys, np.array([0.5, 1.5, 2.0, 0.0]), table, values, 0)
    larger, sums, still_used = counting._enlarged(table, values)
    assert len(larger) == 32
    assert still_used == used == 4
    assert sums.dtype == values.dtype
    assert as_dict(larger, sums) == as_dict(table, values) == {2**62 - 1: 0.5, 5: 1.5, 2**62 - 2: 2.0, 0: 0.0}


@pytest.mark.parametrize("n_distinct", [0, 1, 2047, 2048, 2049, 8191, 8192, 8193, 50_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_distinct_keys_come_sorted_whatever_the_number_of_enlargements(n_distinct, weighted):
    generator = np.random.default_rng(n_distinct)
    distinct = 2**62 - 1 - np.arange(n_distinct, dtype=np.int64) * 91_572_877
    keys = generator.permutation(np.concatenate([distinct, distinct[::3]]))
    weights = generator.integers(0, 1000, len(keys)) / 8 if weighted else None
    found, values = counting._count_keys(keys, weights)
    each = np.ones(len(keys), np.int64) if weights is None else weights
    order, position = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(order), each.dtype)
    np.add.at(sums, position, each)
    assert np.array_equal(found, order)
    assert np.array_equal(values, sums)
    assert values.dtype == each.dtype


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 400))
@example(0, 1)
def test_keys_fed_in_pieces_give_the_same_table(seed, n_rows):
    keys = np.random.default_rng(seed).integers(0, 60, n_rows)
    whole, whole_values = tables_of(256)
    count_keys(keys, NO_WEIGHTS, whole, whole_values, 0)
    parts, part_values, used = *tables_of(256), 0
    for piece in np.array_split(keys, 5):
        _, used = count_keys(piece, NO_WEIGHTS, parts, part_values, used)
    assert np.array_equal(parts, whole)
    assert np.array_equal(part_values, whole_values)
