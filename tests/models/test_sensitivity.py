"""Sensitivity: exact derivatives of an answer, against the answer itself with entries moved."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.inference import brute_force
from suffice.inference.product import Factor, Product
from suffice.models.evidence import given_of
from suffice.models.sensitivity import SHOWN, in_proportion

NAMES = ("a", "b", "c", "d")
NO_YES = ("no", "yes")


class Question(NamedTuple):
    """p(event | given) of a network, with answers in codes as well."""

    network: sf.BayesianNetwork
    event: dict[str, str]
    given: dict[str, Any]


def row_of(rng: np.random.Generator, size: int, zeros: bool) -> np.ndarray:
    """A distribution, of which some entries may be zero, or one."""
    if zeros and rng.random() < 0.5:
        kept = rng.random(size) < 0.5
        kept[rng.integers(size)] = True
        row = np.where(kept, rng.random(size) + 0.1, 0.0)
        return row / row.sum()
    return rng.dirichlet(np.full(size, 2.0)) * 0.9 + 0.1 / size


@st.composite
def questions(draw: st.DrawFn, zeros: bool = False) -> Question:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    order = [str(name) for name in rng.permutation(NAMES)]
    sizes = {name: draw(st.integers(1, 3)) for name in NAMES}
    parents = {name: [other for other in order[:at] if rng.random() < 0.5] for at, name in enumerate(order)}
    tables = {}
    for name in order:
        shape = [sizes[parent] for parent in parents[name]]
        rows = [row_of(rng, sizes[name], zeros) for _ in range(math.prod(shape))]
        tables[name] = np.array(rows).reshape(*shape, sizes[name])
    states = {name: [f"{name}{number}" for number in range(sizes[name])] for name in NAMES}
    network = sf.BayesianNetwork(sf.DAG({name: parents[name] for name in order}), tables, schema=states)
    (drawn,) = network.sample(1, seed=draw(st.integers(0, 1000)), backend="pyarrow").to_pylist()  # so it is possible
    roles = {name: draw(st.sampled_from(["target", "hard", "soft", "set", "none", "none"])) for name in order}
    targets = [name for name in order if roles[name] == "target"] or [order[0]]
    seen: dict[str, Any] = {}
    for name in order:
        if name in targets:
            continue
        if roles[name] == "hard":
            seen[name] = drawn[name]
        elif roles[name] == "soft":
            weights = rng.random(sizes[name]) * 3
            seen[name] = dict(zip(states[name], map(float, weights + 0.05), strict=True))
        elif roles[name] == "set":
            seen[name] = sorted({drawn[name], states[name][rng.integers(sizes[name])]})
    event = {name: states[name][rng.integers(sizes[name])] for name in targets}
    return Question(network, event, seen)


def answer(product: Product, question: Question) -> float:
    """p(event | given), by writing out the whole table, whatever the rows sum to."""
    schema, found = question.network.schema, given_of(question.network.schema, question.given)
    codes = {schema.positions[name]: schema[name].code(label) for name, label in question.event.items()}
    whole = product.with_factors(found.factors())
    below = brute_force.log_evidence(whole, found.hard)
    return math.exp(brute_force.log_evidence(whole, {**found.hard, **codes}) - below)


def moved(question: Question, node: str, table: np.ndarray) -> float:
    product = question.network._product()
    place = question.network.schema.positions[node]
    factors = list(product.factors)
    factors[place] = Factor(factors[place].scope, table)
    return answer(replace(product, factors=tuple(factors)), question)


def table_of(question: Question, node: str) -> np.ndarray:
    return question.network._product().factors[question.network.schema.positions[node]].values


def right_slope(at: Mapping[float, float], step: float) -> float:
    """The slope at 0 from values at 0, h, 2h and 4h: to the right, where an entry of zero cannot move to the left."""
    first = [(at[factor * step] - at[0]) / (factor * step) for factor in (1, 2, 4)]
    second = [2 * first[0] - first[1], 2 * first[1] - first[2]]
    return (4 * second[0] - second[1]) / 3


def slope(question: Question, node: str, direction: np.ndarray, step: float = 1e-3) -> float:
    """The derivative of the answer as the table moves into a direction."""
    table = table_of(question, node)
    at = {factor * step: moved(question, node, table + factor * step * direction) for factor in (0, 1, 2, 4)}
    return right_slope(at, step)


def together(rows: np.ndarray, at: tuple[int, ...]) -> np.ndarray:
    """The direction in which one entry rises and the others of its row shrink in proportion."""
    direction, row = np.zeros(rows.shape), rows[at[:-1]]
    if len(row) == 1:
        return direction
    left = 1 - row[at[-1]]
    shares = row / left if left > 1e-12 else np.full(len(row), 1 / (len(row) - 1))
    direction[at[:-1]] = -shares
    direction[at] = 1
    return direction


def check_partial(question: Question) -> None:
    found = question.network.sensitivity(question.event, question.given)
    assert found.value == pytest.approx(answer(question.network._product(), question), abs=1e-12)
    for node, partial in found.partial.items():  # nodes that are not in there count as summed out
        table = table_of(question, node)
        assert partial.shape == table.shape
        for at in np.ndindex(table.shape):
            unit = np.zeros(table.shape)
            unit[at] = 1
            assert partial[at] == pytest.approx(slope(question, node, unit), rel=1e-4, abs=1e-5), (node, at)


def check_together(question: Question) -> None:
    found = question.network.sensitivity(question.event, question.given)
    assert set(found.derivatives) <= set(question.network.variables) == set(NAMES)
    for node in question.network.variables:
        table = table_of(question, node)
        derivatives = found.derivatives.get(node, np.zeros(table.shape))
        for at in np.ndindex(table.shape):
            direction = together(table, at)
            sign = -1 if table[at] > 1 - 1e-12 else 1  # an entry of one can only fall
            expected = sign * slope(question, node, sign * direction)
            assert derivatives[at] == pytest.approx(expected, rel=1e-4, abs=1e-5), (node, at)


@given(questions())
def test_partial_is_the_slope_with_the_other_entries_left_alone(question: Question) -> None:
    check_partial(question)


@given(questions(zeros=True))
def test_partial_is_the_slope_with_zeros_and_ones_in_tables(question: Question) -> None:
    check_partial(question)


@given(questions())
def test_derivatives_are_the_slope_with_rows_kept_at_one(question: Question) -> None:
    check_together(question)


@given(questions(zeros=True))
def test_derivatives_are_the_slope_with_zeros_and_ones_in_tables(question: Question) -> None:
    check_together(question)


@given(questions(zeros=True))
def test_answer_is_that_of_query(question: Question) -> None:
    found = question.network.sensitivity(question.event, question.given)
    table = question.network.query(list(question.event), question.given)
    assert found.value == pytest.approx(float(table[question.event]), rel=1e-12, abs=1e-15)


@given(questions(zeros=True))
def test_nodes_below_everything_that_is_asked_or_seen_are_left_out(question: Question) -> None:
    network = question.network
    matters: set[str] = set()
    waiting = [*question.event, *question.given]
    while waiting:
        node = waiting.pop()
        matters.add(node)
        waiting += network.dag.parents[node]
    found = network.sensitivity(question.event, question.given)
    assert set(found.derivatives) == set(found.partial) == set(found.entries) == set(found.families) == matters


@given(questions(zeros=True))
def test_derivatives_of_all_states_of_a_target_cancel(question: Question) -> None:
    """The answers about one target sum to one, so their derivatives sum to zero."""
    name = next(iter(question.event))
    total: dict[str, np.ndarray] = {}
    for label in question.network.schema[name].labels:
        found = question.network.sensitivity({name: label}, question.given)
        for node, values in found.partial.items():
            total[node] = total.get(node, 0) + values
    assert name in total
    for values in total.values():
        np.testing.assert_allclose(values, 0, atol=1e-10)


@given(questions())
def test_derivative_is_the_coefficient_of_the_sensitivity_function(question: Question) -> None:
    """Along one entry the answer is (aθ + b)/(cθ + d); three values of it determine the slope exactly."""
    node = next(iter(question.event))
    table = table_of(question, node)
    at = (0,) * table.ndim
    unit = np.zeros(table.shape)
    unit[at] = 1
    t = np.array([0.5, 1.0, 2.0])
    f0, f = moved(question, node, table), np.array([moved(question, node, table + x * unit) for x in t])
    # (f0 + pt)/(1 + qt) = f, which is linear in p and q
    p, q = np.linalg.lstsq(np.stack([t, -f * t], axis=1), f - f0, rcond=None)[0]
    found = question.network.sensitivity(question.event, question.given)
    assert found.partial[node][at] == pytest.approx(p - f0 * q, rel=1e-6, abs=1e-8)


# By hand ------------------------------------------------------------------------------------------------------


def two() -> sf.BayesianNetwork:
    return sf.BayesianNetwork(
        sf.DAG("A -> B -> C; D"),
        {"A": [0.25, 0.75], "B": [[0.5, 0.5], [0, 1]], "C": [[0.1, 0.9], [0.2, 0.8]], "D": [0.5, 0.5]},
        schema=dict.fromkeys("ABCD", NO_YES),
    )


def test_derivative_of_a_root_and_of_its_child() -> None:
    found = two().sensitivity({"B": "yes"})
    assert found.value == 0.25 * 0.5 + 0.75
    np.testing.assert_allclose(found.partial["A"], [0.5 - 0.875, 1 - 0.875])  # of Q/E, which also falls as E rises
    np.testing.assert_allclose(found.derivatives["A"], [-0.5, 0.5])
    np.testing.assert_allclose(found.partial["B"], [[-0.25 * 0.875, 0.25 * 0.125], [-0.75 * 0.875, 0.75 * 0.125]])
    np.testing.assert_allclose(found.derivatives["B"], [[-0.25, 0.25], [-0.75, 0.75]])
    assert list(found.derivatives) == ["A", "B"]


def test_impossible_event_has_derivatives_to_the_zero_that_forbids_it() -> None:
    found = two().sensitivity({"B": "no"}, {"A": "yes"})
    assert found.value == 0
    np.testing.assert_allclose(found.partial["B"], [[0, 0], [1, 0]])
    np.testing.assert_allclose(found.derivatives["B"], [[0, 0], [1, -1]])
    np.testing.assert_allclose(found.derivatives["A"], 0, atol=1e-15)


def test_impossible_evidence_is_an_error() -> None:
    with pytest.raises(sf.ModelError, match=r"B='no' together with A='yes'"):
        two().sensitivity({"C": "no"}, {"A": "yes", "B": "no"})


def test_tables_are_not_changed() -> None:
    network = two()
    network.sensitivity({"B": "yes"}, {"C": "no"})
    assert [cpd.values.tolist() for cpd in network.cpds] == [cpd.values.tolist() for cpd in two().cpds]


def test_unknown_rows_are_an_error_only_where_they_matter() -> None:
    tables = {"A": [0.5, 0.5], "B": [[np.nan, np.nan], [0.5, 0.5]]}
    network = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema=dict.fromkeys("AB", NO_YES))
    assert network.sensitivity({"A": "no"}).value == 0.5
    with pytest.raises(sf.ModelError, match="unknown rows"):
        network.sensitivity({"B": "no"})
    found = network.sensitivity({"B": "no"}, {"A": "yes"})
    np.testing.assert_allclose(found.derivatives["B"], [[0, 0], [1, -1]])


def test_in_proportion_keeps_rows_at_one() -> None:
    rng = np.random.default_rng(4)
    rows, partial = rng.dirichlet(np.ones(4), 5), rng.normal(size=(5, 4))
    got = in_proportion(partial, rows)
    for row, state in np.ndindex(rows.shape):
        others = np.delete(np.arange(4), state)
        expected = partial[row, state] - (rows[row, others] * partial[row, others]).sum() / rows[row, others].sum()
        assert got[row, state] == pytest.approx(expected)
    assert in_proportion(np.ones((3, 1)), np.ones((3, 1))).tolist() == [[0], [0], [0]]


def test_event_is_said_with_its_evidence() -> None:
    assert two().sensitivity({"B": "yes"}).event == "p(B='yes')"
    found = two().sensitivity({"B": "yes", "A": "no"}, {"C": "no", "D": {"no": 1, "yes": 2}})
    assert found.event == "p(B='yes', A='no' | C='no', soft evidence on D)"


def test_ranked_has_every_entry_the_steepest_first() -> None:
    found = two().sensitivity({"B": "yes"}, {"C": "no"})
    ranked = found.ranked()
    assert len(ranked) == sum(table.size for table in found.derivatives.values()) == 10
    steepness = [abs(derivative) for _, _, derivative in ranked]
    assert all(one >= two - 1e-12 for one, two in itertools.pairwise(steepness))
    for node, codes, derivative in ranked:
        assert found.derivatives[node][codes] == derivative


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame_has_a_row_an_entry(backend: str) -> None:
    found = two().sensitivity({"B": "yes"}, {"C": "no"})
    frame = found.to_frame(backend)
    columns = frame.to_pydict() if backend == "pyarrow" else {name: list(frame[name]) for name in frame.columns}
    assert list(columns) == ["node", "row", "state", "entry", "derivative"]
    for (node, codes, derivative), *shown in zip(found.ranked(), *columns.values(), strict=True):
        label = "yes" if codes[-1] else "no"
        above = f"{'AB'[node == 'C']}='{'yes' if codes[0] else 'no'}'" if len(codes) > 1 else ""
        assert shown == [node, above, label, found.entries[node][codes], derivative]


def test_text_shows_the_steepest_and_counts_the_rest() -> None:
    text = str(two().sensitivity({"B": "yes", "D": "yes"}, {"C": "no"}))
    lines = text.splitlines()
    assert lines[0].startswith("p(B='yes', D='yes' | C='no') = ")
    assert len(lines) == 3 + SHOWN + 1
    assert lines[-1].startswith("… 2 more")
    assert "p(B | A)" in text
    html = two().sensitivity({"B": "yes"})._repr_html_()
    assert html.startswith("<table")
    assert "p(B=" in html


@pytest.mark.data
def test_derivatives_of_a_larger_network_are_slopes(data_folder: Any) -> None:
    network = sf.read(data_folder / "networks_bif" / "alarm.bif.gz")
    given_, event = {"BP": "LOW", "HREKG": "HIGH"}, {"LVFAILURE": "TRUE"}
    found = network.sensitivity(event, given_)
    node, codes, derivative = found.ranked()[0]
    tables = {name: network.cpd(name).table.values.copy() for name in network.variables}
    step = 1e-6
    tables[node] += step * together(tables[node], codes)
    schema = {name: network.schema[name].labels for name in network.variables}
    after = sf.BayesianNetwork(network.dag, tables, schema=schema).query("LVFAILURE", given_)[event]
    assert (float(after) - found.value) / step == pytest.approx(derivative, rel=1e-3)
