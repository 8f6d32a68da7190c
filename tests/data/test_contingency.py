"""Contingency tables: an array of counts is the table of its cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import suffice as sf
from suffice.errors import DataError, SchemaError

shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)


def states_of(shape):
    return {f"v{axis}": [f"s{i}" for i in range(size)] for axis, size in enumerate(shape)}


@given(hnp.arrays(np.int64, shapes, elements=st.integers(0, 10**12)))
def test_joint_counts_are_the_array_itself(array):
    states = states_of(array.shape)
    *parents, child = states
    dag = sf.DAG({name: [] for name in parents} | {child: parents})
    counts = sf.collect(dag, sf.Contingency(array, states))[sf.Count((*parents, child))]
    assert np.array_equal(counts.values, array)
    assert counts.values.dtype == np.int64


@given(hnp.arrays(np.float64, shapes, elements=st.integers(0, 2**20).map(lambda k: k / 8)))
def test_frequencies_are_kept_exactly(array):
    states = states_of(array.shape)
    *parents, child = states
    dag = sf.DAG({name: [] for name in parents} | {child: parents})
    statistics = sf.collect(dag, sf.Contingency(array, states))
    assert np.array_equal(statistics[sf.Count((*parents, child))].values, array)
    assert statistics.weight == array.sum()


def test_states_are_declared_in_the_order_given_also_when_their_cells_are_zero():
    table = sf.Contingency([0, 3, 0], {"x": ["c", "a", "b"]})
    statistics = sf.collect(sf.DAG("x"), table)
    assert statistics.schema["x"] == sf.Variable("x", ("c", "a", "b"), True)
    assert statistics[sf.Count(("x",))].values.tolist() == [0, 3, 0]


@pytest.mark.parametrize("labels", [[False, True], [1, 2], [0.5, 1.5], ["TRUE", "true"], [1, 2.5]])
def test_labels_keep_their_type(labels):
    states = sf.collect(sf.DAG("x"), sf.Contingency([1, 2], {"x": labels})).schema["x"].states
    assert [(type(s), s) for s in states] == [(type(s), s) for s in labels]


def test_table_of_zeros_has_no_rows():
    statistics = sf.collect(sf.DAG("x"), sf.Contingency([0, 0], {"x": ["a", "b"]}))
    assert statistics.weight == 0
    assert statistics[sf.Count(("x",))].values.tolist() == [0, 0]


def test_the_callers_array_may_change_afterwards():
    array = np.array([1, 2])
    table = sf.Contingency(array, {"x": ["a", "b"]})
    array[0] = 100
    assert sf.collect(sf.DAG("x"), table)[sf.Count(("x",))].values.tolist() == [1, 2]


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_cell_that_is_no_frequency_is_refused(bad):
    with pytest.raises(DataError, match="not a frequency"):
        sf.collect(sf.DAG("x"), sf.Contingency([1.0, bad], {"x": ["a", "b"]}))


@pytest.mark.parametrize("array", [["a", "b"], [1j, 2]])
def test_array_must_hold_numbers(array):
    with pytest.raises(DataError, match="must hold numbers"):
        sf.Contingency(array, {"x": ["a", "b"]})


@pytest.mark.parametrize("array", [[1, 2, 3], [[1, 2]], 5])
def test_shape_must_agree_with_the_states(array):
    with pytest.raises(SchemaError, match=r"shape \(2,\)"):
        sf.Contingency(array, {"x": ["a", "b"]})


def test_other_weights_are_refused():
    with pytest.raises(DataError, match="carries its own weights"):
        sf.collect(sf.DAG("x"), sf.Contingency([1, 2], {"x": ["a", "b"]}), weights=[1, 2])


def test_repr_names_the_axes_and_the_total():
    assert repr(sf.Contingency([[1, 2]], {"x": ["a"], "y": ["b", "c"]})) == "Contingency(x: 1, y: 2; total 3)"
