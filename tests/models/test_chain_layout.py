"""Which weights a chain has, and where: against dicts of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.chain_twin import KINDS, OPTIONS, Toy, empirical, named, toy_of, toys

import suffice as sf
from suffice.models.chain_design import made_ready, table_of
from suffice.models.chain_layout import ChainLayout, layout_of
from suffice.models.chain_scores import scores_of
from suffice.structures.label_chain import LabelChain, LocalChain


def wanted(toy: Toy, structure: LabelChain) -> set[tuple[Any, ...]]:
    """Return the features that should have a weight."""
    k, found = toy.k, {key for key, value in sizes(toy).items() if value > 0}
    states = {key for key in found if key[0] == "state"}
    steps = {key for key in found if key[0] == "step"}
    moves = {key for key in found if key[0] == "move"}
    if structure.states == "all":
        states = {("state", a, y) for a in range(toy.n_attributes) for y in range(k)}
        steps = {("step", a, i, j) for a in range(2) for i in range(k) for j in range(k)} if toy.steps else set()
    if structure.transitions == "all":
        moves = {("move", i, j) for i in range(k) for j in range(k)}
    ends = {("first", y) for y in range(k)} if structure.boundaries else set()
    if not structure.is_local:
        ends |= {("last", y) for _, y in ends}
    return states | steps | moves | ends


def sizes(toy: Toy) -> dict[tuple[Any, ...], float]:
    """Return the sum of absolute values of every feature."""

    def positive(rows: Any) -> Any:
        return rows and [[[(a, abs(value)) for a, value in position] for position in own] for own in rows]

    return empirical(Toy(toy.k, positive(toy.states), toy.labels, positive(toy.steps), toy.weights))


@given(toys(), KINDS, OPTIONS)
def test_weights_are_those_that_the_options_ask_for(toy: Toy, kind: type[LabelChain], options: dict[str, Any]) -> None:
    structure = toy.structure(kind, **options)
    layout = toy.layout(structure)
    keys = named(layout)
    assert set(keys) == wanted(toy, structure)
    assert len(set(keys)) == len(keys) == layout.size
    counts = empirical(toy)
    np.testing.assert_allclose(
        layout.gathered(toy.counts(structure)), [counts.get(key, 0.0) for key in keys], atol=1e-12
    )


@given(toys(), KINDS, OPTIONS)
def test_parts_of_the_vector_are_where_their_names_say(toy: Toy, kind: Any, options: dict[str, Any]) -> None:
    layout = toy.layout(toy.structure(kind, **options))
    weights = np.arange(1.0, layout.size + 1)
    held = dict(zip(named(layout), weights.tolist(), strict=True))
    k = toy.k
    for (a, y), value in np.ndenumerate(layout.state_matrix(weights).toarray()):
        assert value == held.get(("state", a, y), 0.0)
    for (i, j), value in np.ndenumerate(layout.transition_matrix(weights)):
        assert value == held.get(("move", i, j), 0.0)
    for (a, pair), value in np.ndenumerate(layout.step_matrix(weights).toarray()):
        assert value == held.get(("step", a, pair // k, pair % k), 0.0)
    assert layout.start(weights).tolist() == [held.get(("first", y), 0.0) for y in range(k)]
    assert layout.end(weights).tolist() == [held.get(("last", y), 0.0) for y in range(k)]


@given(toys(), OPTIONS)
def test_arrays_carry_the_layout(toy: Toy, options: dict[str, Any]) -> None:
    layout = toy.layout(toy.structure(**options))
    again = ChainLayout.from_arrays(layout.to_arrays())
    assert named(again) == named(layout)
    assert (again.has_start, again.has_end, again.n_labels) == (layout.has_start, layout.has_end, layout.n_labels)


def test_every_weight_has_a_name_in_words() -> None:
    toy = toy_of(1, 3, [4, 3], stepped=True)
    structure = toy.structure(boundaries=True)
    layout = toy.layout(structure)
    words = {
        "state": lambda a, y: f"'x{a}' with {'abc'[y]!r}",
        "move": lambda i, j: f"the step {'abc'[i]!r} → {'abc'[j]!r}",
        "first": lambda y: f"the first label {'abc'[y]!r}",
        "last": lambda y: f"the last label {'abc'[y]!r}",
        "step": lambda a, i, j: f"'z{a}' with the step {'abc'[i]!r} → {'abc'[j]!r}",
    }
    features = named(layout)
    assert {kind for kind, *_ in features} == set(words)
    for index, (kind, *rest) in enumerate(features):
        assert layout.names(index, structure, ("a", "b", "c")) == words[kind](*rest)


@given(toys(), st.sampled_from([0.75, 1.0, 2.0]), st.sampled_from(["observed", "all"]))
def test_rare_features_have_no_weight(toy: Toy, least: float, states: str) -> None:
    structure = toy.structure(min_freq=least, states=states)
    keys = {key for key in named(toy.layout(structure)) if key[0] in ("state", "step")}
    found: dict[Any, float] = {}
    for key, value in sizes(toy).items():
        if key[0] in ("state", "step"):
            name = key if states == "observed" else key[:2]
            found[name] = found.get(name, 0.0) + value
    assert {key if states == "observed" else key[:2] for key in keys} == {
        key for key, value in found.items() if value >= least
    }


def test_weights_for_all_pairs_that_do_not_fit_are_refused() -> None:
    toy = toy_of(0, 3, [3])
    structure = toy.structure(states="all")
    before = sf.config().memory
    sf.config(memory=1000)
    try:
        with pytest.raises(sf.EstimationError, match="4 attributes and 3 labels"):
            layout_of(structure, toy.counts(structure))
        assert toy.layout(toy.structure()).size
    finally:
        sf.config(memory=before)


@pytest.mark.parametrize("k", [1, 2, 5, 8, 12])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("kind", [LabelChain, LocalChain])
def test_scores_are_products_of_matrices_whatever_the_table_holds(k: int, unit: bool, kind: type[LabelChain]) -> None:
    toy = toy_of(k, k, [40, 0, 1, 30], unit=unit)
    layout = toy.layout(toy.structure(kind))
    table = table_of(layout)
    assert (table.n_rows > 0) == (k >= 8)
    weights = np.random.default_rng(0).normal(size=layout.size)
    own = layout.state_weights(weights)
    scores = scores_of(made_ready(toy.sequences, layout, table), table.filled(own), own)
    expected = toy.sequences.states.matrix() @ layout.state_matrix(weights).toarray()
    np.testing.assert_allclose(scores[:, :k], expected, atol=1e-12)
    assert not scores[:, k:].any()
