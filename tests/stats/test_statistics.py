"""Statistics: what one pass collected; parts add, and parts that do not belong together are refused."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.data.table import open_table
from suffice.errors import StatisticsError
from suffice.stats.source import BlockSource
from suffice.stats.statistics import Statistics, add_up
from suffice.stats.sums import Sums

DAG = sf.DAG("a -> b")
rows = st.lists(st.tuples(st.sampled_from("uvw"), st.sampled_from("xy")), max_size=12)


def collect(table_rows, **options):
    return sf.collect(DAG, {"a": [a for a, _ in table_rows], "b": [b for _, b in table_rows]}, **options)


# Adding -------------------------------------------------------------------------------------------------------


@given(rows, rows)
def test_facts_about_the_parts_add_up(first, second):
    total = collect(first) + collect(second)
    assert total.weight == total.n_read == len(first) + len(second)
    assert total.n_dropped == 0


def test_dropped_rows_and_remarks_of_the_parts_are_kept():
    first = sf.collect(sf.DAG("x"), {"x": ["a", None], "other": [1, 2]}, missing="drop")
    second = sf.collect(sf.DAG("x"), {"x": ["a", None, None], "more": [1, 2, 3]}, missing="drop")
    total = first + second
    assert (total.n_read, total.n_dropped) == (5, 3)
    assert [remark for remark in total.remarks if "other" in remark]
    assert [remark for remark in total.remarks if "more" in remark]


def test_same_remark_of_two_parts_is_kept_once():
    part = sf.collect(sf.DAG("x"), {"x": [1, 2]})
    assert len((part + part).remarks) == len(part.remarks) == 1


def test_parts_with_different_states_unite():
    total = collect([("u", "x")]) + collect([("w", "y"), ("u", "x")])
    assert total.schema["a"].states == ("u", "w")
    assert total[sf.Count(("a", "b"))].values.tolist() == [[2, 0], [0, 1]]


@pytest.mark.parametrize("other", [sf.DAG("b -> a"), sf.DAG("a; b")])
def test_statistics_for_different_structures_are_refused_in_words(other):
    data = {"a": ["u"], "b": ["x"]}
    with pytest.raises(StatisticsError, match=r"different structures: Count.*Collect both with the same structure"):
        _ = sf.collect(DAG, data) + sf.collect(other, data)


def test_statistics_over_different_variables_are_refused():
    with pytest.raises(StatisticsError, match="different structures"):
        _ = sf.collect(sf.DAG("a"), {"a": ["u"]}) + sf.collect(sf.DAG("b"), {"b": ["u"]})


def test_declared_schemas_that_differ_are_refused_with_both_lists():
    first = collect([("u", "x")], schema={"a": ["u", "v"]})
    second = collect([("u", "x")], schema={"a": ["v", "u"]})
    with pytest.raises(StatisticsError, match=r"cannot be added.*'a'.*\['u', 'v'\].*\['v', 'u'\].*same schema"):
        _ = first + second


def test_levels_that_differ_are_refused():
    first = sf.collect(sf.DAG("x"), pd.DataFrame({"x": pd.Categorical(["a"], categories=["a", "b"])}))
    second = sf.collect(sf.DAG("x"), pd.DataFrame({"x": pd.Categorical(["a"], categories=["a"])}))
    with pytest.raises(StatisticsError, match="'x' is declared"):
        _ = first + second


def test_state_outside_the_declared_ones_is_refused():
    declared, inferred = collect([("u", "x")], schema={"a": ["u", "v"]}), collect([("w", "x")])
    for pair in ((declared, inferred), (inferred, declared)):
        with pytest.raises(StatisticsError, match=r"'a'.*\['w'\]"):
            _ = pair[0] + pair[1]


def test_statistics_are_not_added_to_anything_else():
    with pytest.raises(TypeError):
        _ = collect([("u", "x")]) + 1


@settings(max_examples=30)
@given(st.lists(rows, min_size=1, max_size=4))
def test_add_up_is_repeated_addition(parts):
    total = add_up(collect(part) for part in parts)
    whole = collect([row for part in parts for row in part])
    assert total.schema == whole.schema
    for need in whole:
        assert np.array_equal(total[need].values, whole[need].values)


# Scaling ------------------------------------------------------------------------------------------------------


@given(rows, st.integers(0, 40).map(lambda k: k / 8))
def test_scaling_multiplies_weight_and_counts(table_rows, factor):
    statistics = collect(table_rows, schema={"a": list("uvw"), "b": list("xy")})
    for scaled in (statistics * factor, factor * statistics):
        assert scaled.weight == statistics.weight * factor
        for need in statistics:
            assert np.array_equal(scaled[need].values, statistics[need].values * factor)


@pytest.mark.parametrize("factor", [-1, -0.5, float("nan"), float("inf")])
def test_scaling_by_what_is_no_weight_is_refused(factor):
    with pytest.raises(StatisticsError, match="scaled"):
        _ = collect([("u", "x")], schema={"a": ["u", "v"]}) * factor


# Looking ------------------------------------------------------------------------------------------------------


def test_statistics_are_a_mapping_by_need():
    statistics = collect([("u", "x")])
    assert set(statistics) == {sf.Count(("a",)), sf.Count(("a", "b"))}
    assert len(statistics) == 2
    assert sf.Count(("a",)) in statistics
    assert sf.Count(("b",)) not in statistics


def test_missing_need_is_named_with_the_call_that_collects_it():
    with pytest.raises(StatisticsError, match=r"Count\(scope=\('b', 'c'\)\).*sf\.collect\("):
        collect([("u", "x")])[sf.Count(("b", "c"))]


def test_what_is_a_margin_of_another_statistic_is_there():
    found = collect([("u", "x"), ("v", "x"), ("u", "y")])
    assert sf.Count(("b", "a")) not in found
    assert found[sf.Count(("b", "a"))].table().tolist() == found[sf.Count(("a", "b"))].table().T.tolist()
    assert found[sf.Count(("b",))].table().tolist() == [2, 1]


def test_repr_tells_rows_weight_and_size():
    statistics = sf.collect(DAG, {"a": ["u", "v"], "b": ["x", "x"]}, weights=[1.5, 2])
    assert repr(statistics) == "Statistics(2 rows, weight 3.5, 2 statistics over 2 variables)"


# The loop over data -------------------------------------------------------------------------------------------


class Recorder:
    """A display that keeps what it is told."""

    def __init__(self):
        self.events = []

    def begin(self, label, total, unit):
        self.events.append(("begin", total, unit))

    def update(self, done, info):
        self.events.append(("update", done))
        self.info = info

    def end(self):
        self.events.append(("end",))


def test_collecting_reports_progress_in_rows():
    recorder = Recorder()
    sf.collect(DAG, {"a": ["u", "v"], "b": ["x", "x"]}, progress=recorder)
    assert recorder.events == [("begin", 2, "rows"), ("update", 2.0), ("end",)]


def test_collecting_reports_the_speed_in_rows_and_bytes(monkeypatch):
    monkeypatch.setattr("suffice.stats.source.time.monotonic", itertools.count().__next__)  # each look takes a second
    recorder = Recorder()
    source = BlockSource(open_table({"a": np.zeros(2_000_000, np.int8)}, ["a"]), block_rows=1_000_000)
    source.watch.display = recorder
    source.gather([sf.Count(("a",))])
    assert recorder.info == "1,000,000 rows/s, 1 MB/s"


def test_repeated_needs_are_collected_once():
    source = BlockSource(open_table({"a": ["u"]}, ["a"]))
    assert list(source.gather([sf.Count(("a",))] * 3)) == [sf.Count(("a",))]


@settings(max_examples=30)
@given(rows, st.integers(1, 15))
def test_reduce_adds_what_a_task_returns_for_every_block(table_rows, block_rows):
    data = {"a": [a for a, _ in table_rows], "b": [b for _, b in table_rows]}
    source = BlockSource(open_table(data, ["a", "b"]), block_rows=block_rows)

    def task(block):
        return {sf.Sum("rows", 2): Sums("rows", np.array([block.n_rows, block.columns["a"].sum()], float))}

    total = source.reduce(task)
    states = sorted({a for a, _ in table_rows})
    expected = [len(table_rows), sum(states.index(a) for a, _ in table_rows)]
    assert total[sf.Sum("rows", 2)].values.tolist() == expected
    assert total.n_read == len(table_rows)


def test_error_within_a_task_closes_the_display():
    recorder = Recorder()
    source = BlockSource(open_table({"a": ["u"]}, ["a"]))
    source.watch.display = recorder

    def task(block):
        raise RuntimeError("broken task")

    with pytest.raises(RuntimeError, match="broken task"):
        source.reduce(task)
    assert recorder.events[-1] == ("end",)


# Sums ---------------------------------------------------------------------------------------------------------

vectors = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4)


@given(vectors, st.floats(0, 100))
def test_sums_add_and_scale_by_element(values, factor):
    array = np.array(values)
    sums = Sums("s", array.copy())
    assert np.array_equal((sums + sums).values, array * 2)
    assert np.array_equal(sums.scaled(factor).values, array * factor)
    assert np.array_equal((sums + Sums.zero(sums.need, sf.Schema(()))).values, array)
    assert sums.reindexed(sf.Schema(())) is sums
    assert sums.renamed({}) is sums


@pytest.mark.parametrize("other", [Sums("t", np.zeros(2)), Sums("s", np.zeros(3))])
def test_sums_of_another_name_or_size_are_not_added(other):
    with pytest.raises(StatisticsError, match="cannot be added"):
        _ = Sums("s", np.zeros(2)) + other


def test_sums_are_not_a_function_of_rows_alone():
    source = BlockSource(open_table({"a": ["u"]}, ["a"]))
    with pytest.raises(StatisticsError, match=r"'s'.*reduce\(\)"):
        source.gather([sf.Sum("s", 1)])


def test_sums_leave_the_callers_array_alone():
    values = np.array([1.0, 2.0])
    sums = Sums("s", values)
    values[0] = 9.0
    assert sums.values.tolist() == [1.0, 2.0]


def test_sums_round_trip_through_parts():
    schema = sf.Schema((sf.Variable("a", ("u",)),))
    statistics = Statistics(schema, {sf.Sum("s", 2): Sums("s", np.array([0.1, -3.0]))}, 0.1)
    again = Statistics.from_parts(*statistics.to_parts())
    assert again[sf.Sum("s", 2)].values.tolist() == [0.1, -3.0]
    assert again.weight == 0.1


@pytest.mark.parametrize("need", [sf.Count(("a", "b")), sf.Sum("s", 3)])
def test_needs_round_trip_and_are_hashable(need):
    assert type(need).from_dict(need.to_dict()) == need
    assert {need: 1}[type(need).from_dict(need.to_dict())] == 1


def test_statistics_can_be_summed():
    parts = [sf.collect(sf.DAG("A"), {"A": [label]}) for label in "xyx"]
    assert sum(parts)[sf.Count(("A",))].values.tolist() == [2, 1]
