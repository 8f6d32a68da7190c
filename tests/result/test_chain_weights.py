"""Tables of the weights of chains: a naive choice of rows, ties, zeros, ends, steps, the matrix."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.attributes import Vocabulary
from suffice.data.variable import Variable
from suffice.models.chain_layout import ChainLayout
from suffice.models.chain_model import ChainModel
from suffice.result.chain_weights import TopWeights, state_table, step_table, transition_matrix, transition_table
from suffice.structures.label_chain import LabelChain

Cells = dict[tuple[Any, ...], float]


def chain(
    states: Cells, steps: Cells, labels: Sequence[Any], start: Any = None, end: Any = None, on_steps: Any = None
) -> ChainModel:
    """Build a model from weights by (attribute, label), by (from, to), and by (attribute, from, to)."""
    k, place = len(labels), {label: code for code, label in enumerate(labels)}
    names = tuple(dict.fromkeys(name for name, _ in states))
    step_names = tuple(dict.fromkeys(name for name, *_ in on_steps or ()))
    own = sorted((names.index(name), place[label], weight) for (name, label), weight in states.items())
    pairs = sorted((place[a] * k + place[b], weight) for (a, b), weight in steps.items())
    more = sorted((step_names.index(n), place[a] * k + place[b], w) for (n, a, b), w in (on_steps or {}).items())
    layout = ChainLayout(
        k,
        np.searchsorted([row[0] for row in own], np.arange(len(names) + 1)),
        np.array([row[1] for row in own], np.int32),
        np.array([row[0] for row in pairs], np.int32),
        start is not None,
        end is not None,
        np.searchsorted([row[0] for row in more], np.arange(len(step_names) + 1)),
        np.array([row[1] for row in more], np.int32),
    )
    parts = [[row[-1] for row in own], [row[-1] for row in pairs], start or [], end or [], [row[-1] for row in more]]
    structure = LabelChain(Vocabulary(names), Vocabulary(step_names) if on_steps else None, boundaries=bool(start))
    return ChainModel(structure, Variable("tag", tuple(labels)), layout, np.concatenate(parts).astype(float))


WEIGHTS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
LABELS = ("A", "B", "C")
STATES = st.dictionaries(st.tuples(st.sampled_from("wxyz"), st.sampled_from(LABELS)), WEIGHTS, min_size=1)
STEPS = st.dictionaries(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), WEIGHTS)


def naive_top(rows: list[tuple[Any, ...]], n: int, largest: str) -> list[tuple[Any, ...]]:
    """Choose rows, each (…, weight), one sign after the other; earlier rows win ties."""
    up = sorted((row for row in rows if row[-1] > 0), key=lambda row: -row[-1])[:n]
    down = sorted((row for row in rows if row[-1] < 0), key=lambda row: row[-1])[:n]
    large = sorted((row for row in rows if row[-1] != 0), key=lambda row: -abs(row[-1]))[:n]
    chosen = {"both": up + down, "positive": up, "negative": down, "size": large}[largest]
    return sorted(chosen, key=lambda row: (-row[-1], rows.index(row)))


@pytest.mark.parametrize("largest", ["both", "positive", "negative", "size"])
@given(states=STATES, n=st.integers(1, 6), label=st.sampled_from([None, *LABELS]))
def test_rows_are_those_of_a_naive_choice(largest: str, states: Cells, n: int, label: str | None) -> None:
    model = chain(states, {}, LABELS)
    names = model.structure.vocabulary.names
    ordered = sorted(states, key=lambda key: (names.index(key[0]), key[1]))
    rows = [(*key, states[key]) for key in ordered if label in (None, key[1])]
    found = state_table(model, n, label, largest=largest)
    assert list(found) == naive_top(rows, n, largest)
    assert (found.n_weights, found.n_zero) == (len(rows), sum(row[-1] == 0 for row in rows))


@given(steps=STEPS, n=st.integers(1, 6), ends=st.booleans())
def test_transitions_are_those_of_a_naive_choice(steps: Cells, n: int, ends: bool) -> None:
    first, last = ([0.5, -1.0, 0.0], [3.0, 0.0, -0.5]) if ends else (None, None)
    model = chain({("x", "A"): 1.0}, steps, LABELS, first, last)
    rows = [(*key, steps[key]) for key in sorted(steps)]
    if first and last:
        rows += [("(start)", label, weight) for label, weight in zip(LABELS, first, strict=True)]
        rows += [(label, "(end)", weight) for label, weight in zip(LABELS, last, strict=True)]
    found = transition_table(model, n)
    assert list(found) == naive_top(rows, n, "both")
    assert found.n_weights == len(rows)


@given(steps=STEPS)
def test_the_matrix_has_every_transition_and_zero_elsewhere(steps: Cells) -> None:
    matrix = transition_matrix(chain({("x", "A"): 1.0}, steps, LABELS))
    assert matrix.names == ("previous tag", "tag")
    for a in LABELS:
        for b in LABELS:
            assert matrix[{"previous tag": a, "tag": b}] == steps.get((a, b), 0.0)


def test_weights_of_steps_name_both_labels() -> None:
    told = {("far", "A", "B"): -2.0, ("near", "C", "A"): 1.5, ("near", "A", "A"): 0.0}
    model = chain({("x", "A"): 1.0}, {("A", "B"): 7.0}, LABELS, on_steps=told)
    assert list(step_table(model)) == [("near", "C", "A", 1.5), ("far", "A", "B", -2.0)]
    assert len(step_table(chain({("x", "A"): 1.0}, {}, LABELS))) == 0


def test_attributes_that_have_no_weight_do_not_shift_names() -> None:
    layout = ChainLayout(
        2, np.array([0, 0, 1, 1, 2]), np.array([1, 0], np.int32), np.zeros(0, np.int32), False, False,
        np.zeros(1, np.int64), np.zeros(0, np.int32),
    )  # fmt: skip
    structure = LabelChain(Vocabulary(("none", "one", "gone", "two")))
    model = ChainModel(structure, Variable("tag", ("A", "B")), layout, np.array([1.0, -1.0]))
    assert list(state_table(model)) == [("one", "B", 1.0), ("two", "A", -1.0)]
    hashed = ChainModel(LabelChain(Vocabulary(n_buckets=4)), model.label, layout, np.array([1.0, -1.0]))
    assert [row[0] for row in state_table(hashed)] == ["#1", "#3"]


def test_fits_and_estimators_are_taken_for_their_model() -> None:
    estimator = sf.ChainCRF(c2=0.1).fit([[["x"], ["y"]], [["y"]]], [["A", "B"], ["B"]])
    wanted = list(state_table(estimator.fit_.model))
    assert len(wanted) > 1
    for source in (estimator.fit_, estimator):
        assert list(state_table(source)) == wanted
        assert list(transition_table(source)) == list(transition_table(estimator.fit_.model))
    with pytest.raises(sf.ArgumentError, match="after fit"):
        transition_matrix(sf.ChainCRF())


def test_tables_print_and_leave_as_data() -> None:
    table = state_table(chain({("the <b>", "A"): 1.25, ("the <b>", "B"): -3.0, ("a", "C"): 0.0}, {}, LABELS))
    assert str(table).splitlines()[2:] == [
        "the <b>    A       1.2500",
        "the <b>    B      -3.0000",
        "2 of 3 weights, 1 of which are zero",
    ]
    assert "<b>" not in table._repr_html_()
    told = json.loads(json.dumps(table.to_dict()))
    assert told["weights"][1] == {"attribute": "the <b>", "label": "B", "weight": -3.0}
    assert table.to_frame("pandas").to_dict("list") == {
        "attribute": ["the <b>"] * 2, "label": ["A", "B"], "weight": [1.25, -3.0],
    }  # fmt: skip
    with pytest.raises(ValueError, match="read-only"):
        table.weights[0] = 5.0


def test_labels_keep_their_type() -> None:
    model = chain({("x", 3): 1.0, ("x", 10): -1.0}, {(3, 10): 2.0}, (3, 10))
    assert list(state_table(model, label=10)) == [("x", 10, -1.0)]
    assert transition_table(model).to_frame("polars")["to"].to_list() == [10]


def test_long_tables_are_cut_in_print_only() -> None:
    table = TopWeights(("attribute",), tuple((f"x{i}",) for i in range(250)), np.arange(250.0), 250, 1)
    assert "… 50 more rows" in str(table)
    assert len(list(table)) == 250
