"""Counting kernels: each one equals plain loops, adds to what is there, and looks at no row beyond the last."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive

from suffice.native.counting import Families, build_masks, count_histogram, count_keys, count_masks, count_weighted
from suffice.stats import counting

N_ROWS = [0, 1, 2, 63, 64, 65, 127, 128, 129, 200]
GOLDEN = 0x9E3779B97F4A7C15
ROOT = Path(__file__).parents[2]


def codes_of(sizes, n_rows, seed, n_stored=None):
    """Return a tile of codes, with other valid codes beyond the rows that count."""
    generator = np.random.default_rng(seed)
    return np.stack([generator.integers(0, size, n_stored or n_rows) for size in sizes])


def families_of(scopes, sizes):
    """Return families as the kernels take them."""
    found = Families(
        np.array([c for scope in scopes for c in scope], np.int64),
        np.cumsum([0, *map(len, scopes)], dtype=np.int64),
        np.array(sizes, np.int64),
    )
    assert found.n_cells == sum(math.prod(sizes[c] for c in scope) for scope in scopes)
    assert found.n_masks == sum(sizes)
    return found


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
    masks = np.full((sum(sizes), n_words), 0xDEADBEEF, np.uint64)  # nothing of what was there before may stay
    build_masks(families_of([], sizes), tile, n_rows, masks)
    return masks, np.cumsum([0, *sizes[:-1]], dtype=np.int64)


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
    masks, _ = masks_of(codes, n_rows, sizes, n_words)
    families = families_of(scopes, sizes)
    out = np.zeros(families.n_cells, np.int64)
    for _ in range(times):
        count_masks(families, masks, n_rows, out)
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
    families = families_of(scopes, sizes)
    dtype = np.int64 if weights is None else weights.dtype
    out = np.zeros(families.n_cells, dtype) if out is None else out
    if weights is None:
        count_histogram(families, codes.astype(np.int32), n_rows, out)
    else:
        count_weighted(families, codes.astype(np.int32), weights[:n_rows], out)
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


def as_dict(keys, sums):
    assert len(set(keys.tolist())) == len(keys)
    return dict(zip(keys.tolist(), sums.tolist(), strict=True))


wide_keys = (
    st.integers(0, 20) | st.integers(2**62 - 20, 2**62 - 1) | st.integers(2**63 - 5, 2**63 - 1) | st.integers(0, 2**62)
)


@settings(max_examples=80)
@given(st.lists(wide_keys, max_size=300))
def test_keys_are_counted_like_a_dict(keys):
    found, counts = count_keys(np.array(keys, np.int64))
    assert as_dict(found, counts) == Counter(keys)
    assert counts.dtype == np.int64


@settings(max_examples=40)
@given(st.lists(st.tuples(wide_keys, st.integers(0, 2**40)), max_size=15), st.sampled_from([np.int64, np.float64]))
def test_weights_of_keys_are_added_up(pairs, dtype):
    keys, weights = [key for key, _ in pairs], [weight for _, weight in pairs]
    found, sums = count_keys(np.array(keys, np.int64), np.array(weights, dtype))
    exact = naive.counts({"key": keys}, ["key"], weights)
    assert as_dict(found, sums) == {key: m for (key,), m in exact.items()}
    assert sums.dtype == dtype


def test_keys_that_want_the_same_slot_stay_apart():
    """The first table has 4096 slots, and keys that want the last one go on at the first."""
    mixed = np.arange(10_000_000, dtype=np.uint64) * np.uint64(GOLDEN)
    wanted = np.flatnonzero((mixed ^ mixed >> np.uint64(32)) % np.uint64(4096) == 4095)[:200]
    assert len(wanted) == 200
    assert as_dict(*count_keys(np.tile(wanted, 3))) == dict.fromkeys(wanted.tolist(), 3)


def test_real_weights_are_added_in_the_order_of_the_keys():
    weights = np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(500)[::-1].astype(float) ** 0.5
    total = 0.0
    for weight in weights.tolist():
        total += weight
    assert count_keys(np.full(500, 7), weights)[1].tolist() == [total]


@pytest.mark.parametrize("n_distinct", [0, 1, 1919, 1920, 1921, 2047, 2048, 2049, 8191, 8192, 8193, 50_000])
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


# Levels of instructions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["baseline", "avx2"])
def test_lower_levels_of_instructions_return_the_same(wanted):
    lines = [
        "from suffice.native import counting",
        "from tests.native.fuzzing import differences",
        "print(counting.level())",
        "print(list(differences('counting', lambda n: range(min(n, 2)))))",
        "print(list(differences('codes', lambda n: range(min(n, 2)))))",
    ]
    environment = {**os.environ, "SUFFICE_NATIVE_LEVEL": wanted}
    run = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    level, *different = run.stdout.split("\n")[:-1]
    assert level in ("baseline", wanted)  # not every processor has AVX2
    assert different == ["[]", "[]"]
