"""Counts of a chain's features: against a counter of features, and as a monoid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.chain_twin import Toy, empirical, need_of, toy_of, toys

import suffice as sf
from suffice.data import sequence_positions
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.stats.chain_counts import ChainCount, ChainCounts
from suffice.stats.needs import Count
from suffice.stats.source import BlockSource


def as_dict(counts: ChainCounts, states: Any = None) -> dict[tuple[Any, ...], float]:
    """Return the counts by feature, those that are not zero; labels as codes, or as the codes of some states."""
    own, k = counts.variable.states or (), counts.variable.n_states
    code = [y if states is None else states.index(own[y]) for y in range(k)]
    found: dict[tuple[Any, ...], float] = {}
    for key, value in zip(counts.states.keys.tolist(), counts.states.sums.tolist(), strict=True):
        found["state", key // k, code[key % k]] = value
    for key, value in zip(counts.steps.keys.tolist(), counts.steps.sums.tolist(), strict=True):
        found["step", key // k**2, code[key % k**2 // k], code[key % k]] = value
    for (a, b), value in np.ndenumerate(counts.transitions):
        found["move", code[a], code[b]] = value
    for name, values in (("first", counts.first), ("last", counts.last)):
        found |= {(name, code[y]): value for y, value in enumerate(values.tolist())}
    return {key: value for key, value in found.items() if value}


def close(found: dict[Any, float], wanted: dict[Any, float]) -> None:
    wanted = {key: value for key, value in wanted.items() if abs(value) > 1e-12}
    found = {key: value for key, value in found.items() if abs(value) > 1e-12}
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def part(toy: Toy, low: int, high: int) -> Toy:
    cut = {name: getattr(toy, name) for name in ("states", "labels", "steps", "weights")}
    return replace(toy, **{name: None if value is None else value[low:high] for name, value in cut.items()})


@given(toys())
def test_counts_are_those_of_a_counter(toy: Toy) -> None:
    counts = toy.counts(toy.structure())
    close(as_dict(counts), empirical(toy))
    assert (np.diff(counts.states.keys) > 0).all()
    assert (counts.states.sizes >= np.abs(counts.states.sums)).all()
    assert counts.need == need_of(toy.structure())


@given(toys())
def test_sizes_are_sums_of_absolute_values(toy: Toy) -> None:
    counts = toy.counts(toy.structure())
    alike = [[[(a, abs(value)) for a, value in position] for position in own] for own in toy.states]
    positive = replace(toy, states=alike).counts(toy.structure())
    np.testing.assert_array_equal(counts.states.keys, positive.states.keys)
    np.testing.assert_allclose(counts.states.sizes, positive.states.sums, rtol=1e-12)


@given(toys(), st.integers(0, 4), st.integers(0, 4))
def test_parts_add_up_to_the_whole_in_any_order(toy: Toy, one: int, two: int) -> None:
    low, high = sorted((one, two))
    parts = [part(toy, *bounds).counts(toy.structure()) for bounds in ((0, low), (low, high), (high, 9))]
    whole = as_dict(toy.counts(toy.structure()))
    close(as_dict(parts[0] + (parts[1] + parts[2])), whole)
    close(as_dict((parts[2] + parts[0]) + parts[1]), whole)
    zero = ChainCounts.zero(need_of(toy.structure()), toy.table.schema)
    close(as_dict(zero + toy.counts(toy.structure()) + zero), whole)


@given(toys(weighted=False), st.sampled_from([0.0, 0.25, 3.0]))
def test_scaling_is_the_weight_of_every_sequence(toy: Toy, factor: float) -> None:
    weighted = replace(toy, weights=[factor] * len(toy.labels))
    close(as_dict(toy.counts(toy.structure()).scaled(factor)), as_dict(weighted.counts(toy.structure())))


def test_a_whole_weight_is_so_many_copies() -> None:
    toy = toy_of(3, 3, [4, 2], unit=False, stepped=True)
    twice = Toy(
        3, toy.states[:1] * 3 + toy.states[1:], toy.labels[:1] * 3 + toy.labels[1:], toy.steps[:1] * 3 + toy.steps[1:]
    )
    close(as_dict(replace(toy, weights=[3, 1]).counts(toy.structure())), as_dict(twice.counts(toy.structure())))


def test_a_sequence_of_weight_zero_has_no_features() -> None:
    toy = replace(toy_of(3, 3, [4, 2], stepped=True), weights=[0.0, 1.0])
    alone = part(toy, 1, 2).counts(toy.structure())
    np.testing.assert_array_equal(toy.counts(toy.structure()).states.keys, alone.states.keys)
    np.testing.assert_array_equal(toy.counts(toy.structure()).steps.keys, alone.steps.keys)


@given(toys(most=3), st.permutations(range(4)))
def test_labels_in_another_order_and_more_of_them(toy: Toy, order: list[int]) -> None:
    counts, wanted = toy.counts(toy.structure()), empirical(toy)
    new = Variable("label", tuple("abcd"[i] for i in order))
    moved = counts.reindexed(Schema((new,)))
    assert moved.variable == new
    close(as_dict(moved, "abcd"), wanted)
    assert (np.diff(moved.states.keys) > 0).all()
    assert (np.diff(moved.steps.keys) > 0).all()
    codes = np.array([order.index(y) for y in range(toy.k)])
    close(as_dict(counts.recoded(Schema((new,)), {"label": codes}), "abcd"), wanted)
    close(as_dict(counts.recoded(Schema((new,)), {}), "abcd"), wanted)
    assert counts.reindexed(toy.table.schema) is counts


@given(toys())
def test_arrays_and_dicts_carry_everything(toy: Toy) -> None:
    counts = toy.counts(toy.structure())
    need = ChainCount.from_dict(counts.need.to_dict())
    assert need == counts.need
    again = ChainCounts.from_arrays(need, toy.table.schema, counts.to_arrays())
    assert as_dict(again) == as_dict(counts)
    np.testing.assert_array_equal(again.states.sizes, counts.states.sizes)
    assert again.states.n == counts.states.n
    assert again.steps.n == counts.steps.n


def test_a_file_of_statistics_carries_them(tmp_path: Any) -> None:
    toy = toy_of(1, 3, [3, 0, 2], unit=False, stepped=True, weighted=True)
    need = need_of(toy.structure())
    statistics = BlockSource(toy.table).gather([need, Count(("label",))])
    sf.write(statistics, tmp_path / "chains.stats")
    again = sf.read(tmp_path / "chains.stats")
    assert as_dict(again[need]) == as_dict(statistics[need])
    assert again.weight == statistics.weight


@given(toys(), st.integers(1, 6))
def test_blocks_of_any_size_count_the_same(toy: Toy, most: int) -> None:
    need = need_of(toy.structure())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence_positions, "BLOCK_POSITIONS", most)
        counts = BlockSource(toy.table).gather([need])[need]
    close(as_dict(counts), empirical(toy))


def test_labels_of_one_part_alone_are_united() -> None:
    one, two = toy_of(0, 2, [5]), toy_of(1, 2, [5])
    other = two.counts(two.structure()).renamed({"label": Variable("label", ("b", "z"))})
    both = one.counts(one.structure()) + other
    assert both.variable.states == ("a", "b", "z")
    wanted = as_dict(one.counts(one.structure()))
    for key, value in as_dict(other, "abz").items():
        wanted[key] = wanted.get(key, 0.0) + value
    close(as_dict(both), wanted)


def test_counts_take_another_name() -> None:
    counts = toy_of(0, 2, [3]).counts(toy_of(0, 2, [3]).structure())
    new = counts.renamed({"label": Variable("tag", ("a", "b"))})
    assert new.need == ChainCount("tag", 4, 0)
    assert as_dict(new) == as_dict(counts)
    assert counts.renamed({}).need == counts.need


def test_counts_over_other_vocabularies_do_not_add_up() -> None:
    one, two = toy_of(0, 2, [3]), toy_of(0, 2, [3], n=5)
    with pytest.raises(sf.StatisticsError, match="vocabular"):
        one.counts(one.structure()) + two.counts(two.structure())
