"""Chains of labels as distributions: against all labellings, written out."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.chain_twin import KINDS, OPTIONS, Toy, log_probs, named, toy_of, toys

import suffice as sf
from suffice.data.attributes import LabelledSequences, Vocabulary, no_attributes
from suffice.data.variable import Variable
from suffice.models import chain_model
from suffice.models.chain_carry import carried
from suffice.models.chain_model import ChainModel
from suffice.structures.label_chain import LabelChain, LocalChain

BOTH = [LabelChain, LocalChain]


def twin(toy: Toy, model: ChainModel, s: int) -> dict[tuple[int, ...], float]:
    weights = dict(zip(named(model.layout), model.weights.tolist(), strict=True))
    return log_probs(toy, s, weights, model.structure.is_local)


def others(toy: Toy) -> Toy:
    """Return sequences of the same kind with other attributes, some of them without a weight, and other labels."""
    new = toy_of(77, toy.k, [3, 0, 1, 2], unit=toy.unit, stepped=toy.steps is not None)
    return replace(new, n_attributes=toy.n_attributes)


@given(toys(longest=3), KINDS, OPTIONS, st.integers(0, 99))
def test_log_prob_is_that_of_all_labellings(toy: Toy, kind: Any, options: dict[str, Any], seed: int) -> None:
    model = toy.model(toy.structure(kind, **options), seed)
    for own in (toy, others(toy)):
        assert len(own.labels)
        for s in range(len(own.labels)):
            expected = twin(own, model, s)
            alone = own.sequences.part(s, s + 1)
            found = {path: model.log_prob(replace(alone, labels=np.array(path, np.int32))).item() for path in expected}
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert math.fsum(map(math.exp, found.values())) == pytest.approx(1)


@given(toys(), KINDS, OPTIONS, st.integers(0, 99))
def test_marginals_and_best_labels_are_those_of_all_labellings(
    toy: Toy, kind: Any, options: dict[str, Any], seed: int
) -> None:
    model = toy.model(toy.structure(kind, **options), seed)
    sequences = toy.without_labels()
    marginals = sequences.apart(model.marginals(sequences))
    best, several = sequences.apart(model.best(sequences)), model.n_best(sequences, 5)
    assert len(marginals) == len(best) == len(several) == len(toy.labels) > 0
    for s in range(len(toy.labels)):
        expected = twin(toy, model, s)
        ranked = sorted(expected.values(), reverse=True)
        assert expected[tuple(best[s].tolist())] == pytest.approx(ranked[0], abs=1e-9)
        assert [score for _, score in several[s]] == pytest.approx(ranked[:5], abs=1e-9)
        for path, score in several[s]:
            assert expected[tuple(path.tolist())] == pytest.approx(score, abs=1e-9)
        assert len({tuple(path.tolist()) for path, _ in several[s]}) == len(several[s])
        table = np.zeros((len(toy.labels[s]), toy.k))
        for path, log_p in expected.items():
            table[np.arange(len(path)), list(path)] += math.exp(log_p)
        np.testing.assert_allclose(marginals[s], table, atol=1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_an_empty_sequence_has_one_labelling(kind: type[LabelChain]) -> None:
    model = toy_of(0, 3, [4]).model(toy_of(0, 3, [4]).structure(kind, boundaries=True))
    none = LabelledSequences(np.array([0, 0, 0]), no_attributes(0, 4), np.zeros(0, np.int32))
    assert model.log_prob(none).tolist() == [0.0, 0.0]
    assert model.best(none).tolist() == []
    assert model.marginals(none).shape == (0, 3)
    assert [[(path.tolist(), score) for path, score in own] for own in model.n_best(none, 3)] == [[([], 0.0)]] * 2
    assert model.sample(none, seed=0).tolist() == []
    nothing = LabelledSequences(np.zeros(1, np.int64), no_attributes(0, 4), np.zeros(0, np.int32))
    assert model.log_prob(nothing).shape == (0,)
    assert model.n_best(nothing, 2) == []
    assert model.best(nothing).dtype == np.int32


@pytest.mark.parametrize("kind", BOTH)
def test_weights_of_boundaries_meet_in_a_sequence_of_one_position(kind: type[LabelChain]) -> None:
    toy = toy_of(2, 2, [4, 1])
    model = toy.model(toy.structure(kind, boundaries=True), 5)
    one = LabelledSequences(np.array([0, 1]), no_attributes(1, 4), np.zeros(1, np.int32))
    scores = model.layout.start(model.weights) + model.layout.end(model.weights)
    assert model.log_prob(one).item() == pytest.approx(scores[0] - np.logaddexp(*scores))
    assert model.layout.end(model.weights).any() == (kind is LabelChain)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("stepped", [False, True])
def test_pieces_of_any_size_say_the_same(
    monkeypatch: pytest.MonkeyPatch, kind: type[LabelChain], stepped: bool
) -> None:
    toy = toy_of(4, 3, [5, 0, 2, 4, 1], stepped=stepped)
    model, sequences = toy.model(toy.structure(kind)), toy.sequences
    whole = [f(sequences) for f in (model.log_prob, model.best, model.marginals)]
    paths = model.n_best(sequences, 3)
    monkeypatch.setattr(chain_model, "PIECE_CELLS", 20)
    for one, many in zip(whole, (model.log_prob, model.best, model.marginals), strict=True):
        np.testing.assert_allclose(many(sequences), one, atol=1e-12)
    for one, many in zip(itertools.chain(*paths), itertools.chain(*model.n_best(sequences, 3)), strict=True):
        assert one[0].tolist() == many[0].tolist()


@pytest.mark.parametrize("kind", BOTH)
def test_draws_have_the_probabilities_of_labellings(kind: type[LabelChain]) -> None:
    toy = toy_of(6, 3, [3])
    model, n = toy.model(toy.structure(kind, boundaries=True)), 4000
    many = toy.sequences.chosen(np.zeros(n, np.int64))
    drawn = model.sample(many, seed=1).reshape(n, 3)
    np.testing.assert_array_equal(drawn, model.sample(many, seed=1).reshape(n, 3))
    for path, log_p in twin(toy, model, 0).items():
        p = math.exp(log_p)
        assert abs((drawn == path).all(axis=1).mean() - p) < 4.5 * math.sqrt(p * (1 - p) / n) + 1e-3


@pytest.mark.parametrize("kind", BOTH)
def test_large_scores_do_not_overflow(kind: type[LabelChain]) -> None:
    toy = toy_of(4, 3, [5, 3], unit=False, stepped=True)
    model = toy.model(toy.structure(kind, boundaries=True), size=3000.0)
    found = model.log_prob(toy.sequences)
    expected = [twin(toy, model, s)[tuple(path)] for s, path in enumerate(toy.labels)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.marginals(toy.sequences).sum(axis=1), 1, atol=1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_parts_carry_the_model(kind: type[LabelChain]) -> None:
    toy = toy_of(4, 3, [5, 3], stepped=True)
    model = toy.model(toy.structure(kind, boundaries=True, label="label"))
    again = ChainModel.from_parts(
        *model.to_parts(), vocabulary=model.structure.vocabulary, step_vocabulary=model.structure.step_vocabulary
    )
    assert again.structure == model.structure
    assert type(again.structure) is kind
    assert again.label == model.label
    np.testing.assert_array_equal(again.log_prob(toy.sequences), model.log_prob(toy.sequences))
    assert type(model.structure).from_dict(model.structure.to_dict()) == model.structure


def test_a_model_keeps_its_weights_and_leaves_those_of_others_alone() -> None:
    toy = toy_of(4, 3, [5])
    layout = toy.layout(toy.structure())
    mine = np.zeros(layout.size)
    model = ChainModel(toy.structure(), toy.variable, layout, mine)
    assert mine.flags.writeable
    assert not model.weights.flags.writeable
    assert "3 labels" in repr(model)
    assert repr(toy.model(toy.structure(LocalChain))).startswith("MEMM")
    assert (model.variables, model.schema["label"]) == (("label",), toy.variable)


@pytest.mark.parametrize(("spoil", "says"), [(lambda w: w[1:], "shape"), (lambda w: w * np.nan, "nan for")])
def test_weights_that_do_not_fit_are_refused(spoil: Any, says: str) -> None:
    toy = toy_of(4, 3, [5])
    layout = toy.layout(toy.structure())
    with pytest.raises(sf.ModelError, match=f"{layout.size} finite weights.*{says}"):
        ChainModel(toy.structure(), toy.variable, layout, spoil(np.zeros(layout.size)))


# Weights carried over -----------------------------------------------------------------------------------------


@given(toys(), KINDS, OPTIONS)
def test_weights_carried_to_the_same_layout_are_the_same(toy: Toy, kind: Any, options: dict[str, Any]) -> None:
    model = toy.model(toy.structure(kind, **options))
    structure = toy.structure(kind, **options)  # another vocabulary with the same names
    np.testing.assert_array_equal(carried(model, structure, toy.variable, model.layout), model.weights)


@given(toys(most=3), toys(most=3), KINDS, OPTIONS, st.permutations(range(5)), st.permutations("abcz"))
def test_weights_are_carried_by_name(
    one: Toy, two: Toy, kind: Any, options: dict[str, Any], order: list[int], labels: list[str]
) -> None:
    model = one.model(one.structure(kind, **options))
    two = replace(two, n_attributes=5)
    names = Vocabulary(tuple(f"x{a}" for a in order))
    steps = None if two.steps is None else Vocabulary(("z1", "y"))
    structure = kind(names, steps, **options)
    label = Variable("label", tuple(labels[: two.k]))
    layout = two.layout(structure)
    old = dict(zip(named(model.layout), model.weights.tolist(), strict=True))

    def of_old(key: tuple[Any, ...]) -> tuple[Any, ...]:
        place = one.variable.states.index if one.variable.states else None
        state = [place(labels[y]) if labels[y] in (one.variable.states or ()) else None for y in range(two.k)]
        if key[0] == "state":
            return ("state", order[key[1]], state[key[2]])
        if key[0] == "step":
            return ("step", {0: 1, 1: None}[key[1]], state[key[2]], state[key[3]])
        return (key[0], *(state[y] for y in key[1:]))

    expected = [old.get(of_old(key), 0.0) for key in named(layout)]
    assert carried(model, structure, label, layout).tolist() == expected


def test_hashed_names_are_carried_by_bucket() -> None:
    toy = toy_of(4, 3, [5, 5])
    hashed = LabelChain(Vocabulary((), 4))
    model = toy.model(hashed)
    same, other = LabelChain(Vocabulary((), 4)), LabelChain(Vocabulary((), 5))
    np.testing.assert_array_equal(carried(model, same, toy.variable, model.layout), model.weights)
    wider = replace(toy, n_attributes=5)
    layout = wider.layout(other)
    found = carried(model, other, toy.variable, layout)
    assert not layout.state_weights(found).any()
    np.testing.assert_array_equal(layout.transition_weights(found), model.layout.transition_weights(model.weights))
