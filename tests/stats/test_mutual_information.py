"""Mutual information against the sum that defines it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from suffice.data.variable import Variable
from suffice.stats import mutual_information
from suffice.stats.counts import Counts
from suffice.stats.moments import Moments
from suffice.stats.mutual_information import counted_information, normal_information

TABLES = hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=4), elements=st.integers(0, 30))


def counts(table):
    return Counts.dense([Variable(name, tuple(range(n))) for name, n in zip("AB", table.shape, strict=True)], table)


def naive(table, alpha):
    p = (table + alpha) / (table + alpha).sum() if (table + alpha).sum() else table + alpha
    cells = [(p[i, j], p[i].sum() * p[:, j].sum()) for i in range(p.shape[0]) for j in range(p.shape[1]) if p[i, j]]
    return sum(joint * math.log(joint / apart) for joint, apart in cells)


@given(st.lists(TABLES, max_size=6), st.sampled_from([0.0, 0.25, 1.0]))
def test_information_is_the_sum_that_defines_it(tables, alpha):
    found = counted_information([counts(table) for table in tables], alpha)
    assert found == pytest.approx([naive(table, alpha) for table in tables], abs=1e-12)
    assert (found >= 0).all()


@given(TABLES, st.randoms())
def test_order_of_states_and_variables_changes_no_bit(table, random):
    rows, columns = (random.sample(range(n), n) for n in table.shape)
    again = table[rows][:, columns].T
    first, second = counted_information([counts(table), counts(again)])
    assert first == second


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=4), st.lists(st.integers(1, 10**6), min_size=1, max_size=4))
def test_exact_independence_is_exactly_zero(rows, columns):
    assert counted_information([counts(np.outer(rows, columns))])[0] == 0


def test_stacks_of_any_size_give_the_same(monkeypatch):
    tables = [counts(np.random.default_rng(n).integers(0, 9, (2 + n % 2, 3))) for n in range(20)]
    expected = counted_information(tables)
    monkeypatch.setattr(mutual_information, "STACK_CELLS", 7)
    assert np.array_equal(counted_information(tables), expected)


def moments(rows, weights=None):
    return Moments.of_rows([Variable(f"x{j}") for j in range(rows.shape[1])], rows, weights)


@given(st.integers(0, 1000), st.sampled_from([0.0, 1e8]))
def test_normal_information_is_that_of_the_correlations(seed, offset):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(30, 4)) @ generator.normal(size=(4, 4)) * [1, 1e-3, 1e3, 1] + offset
    with np.errstate(divide="ignore"):
        expected = -0.5 * np.log(1 - np.corrcoef((rows - rows.mean(axis=0)).T) ** 2)
    np.fill_diagonal(expected, 0)
    assert normal_information(moments(rows)) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e300, -3e-200])
def test_a_constant_column_informs_of_nothing(constant):
    rows = np.random.default_rng(1).normal(size=(50, 3))
    rows[:, 1] = constant
    found = normal_information(moments(rows))
    assert not found[1].any()
    assert found[0, 2] > 0


@pytest.mark.parametrize(("slope", "offset"), [(2.0, 0.0), (-1e-9, 3.0), (1e9, 0.1)])
def test_linear_functions_have_infinite_information(slope, offset):
    x = np.random.default_rng(2).normal(size=200)
    assert normal_information(moments(np.column_stack([x, slope * x]))).max() == np.inf
    almost = slope * (x + 1e-5 * np.random.default_rng(3).normal(size=200)) + offset
    assert 10 < normal_information(moments(np.column_stack([x, almost])))[0, 1] < 13
