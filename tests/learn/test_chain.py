"""Learning chains of labels: value and gradient against all labellings, optima against their conditions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.audit.multinomial import second_derivatives
from tests.audit.sequences import chain_cases
from tests.learn.chain_cases import BOTH, fitted
from tests.models.chain_twin import KINDS, OPTIONS, Toy, empirical, expected, loss, named, toy_of, toys

import suffice as sf
from suffice.data import sequence_positions
from suffice.learn.chain_objective import ChainObjective
from suffice.learn.chain_passes import ChainPass, LocalPass, StepPass, pass_of
from suffice.models import chain_design
from suffice.priors.elastic import Elastic
from suffice.stats.source import BlockSource
from suffice.structures.label_chain import LabelChain, LocalChain

PASSES = [(LabelChain, False), (LabelChain, True), (LocalChain, False), (LocalChain, True)]


def objective_of(toy: Toy, structure: LabelChain, c2: float = 0.0) -> ChainObjective:
    layout = toy.layout(structure)
    return ChainObjective(BlockSource(toy.table), structure, layout, layout.gathered(toy.counts(structure)), c2)


def weights_of(objective: ChainObjective, seed: int = 0, size: float = 1.0) -> np.ndarray:
    return size * np.random.default_rng(seed).normal(size=objective.layout.size)


@pytest.fixture
def threads() -> Iterator[Any]:
    before = sf.config().threads
    yield lambda n: sf.config(threads=n)
    sf.config(threads=before)


# The objective ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [False, True])
@settings(max_examples=50)
@given(toy=toys(), kind=KINDS, options=OPTIONS, seed=st.integers(0, 99))
def test_value_and_gradient_are_those_of_all_labellings(
    held: bool, toy: Toy, kind: Any, options: dict[str, Any], seed: int
) -> None:
    objective = objective_of(toy, toy.structure(kind, **options), c2=0.3)
    if held:
        objective = objective.held()
    w = weights_of(objective, seed)
    value, gradient = objective(w)
    by_hand, slopes = loss(toy, objective.layout, w, kind is LocalChain)
    assert value == pytest.approx(by_hand + 0.3 * w @ w, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(gradient, slopes + 0.6 * w, atol=1e-9)
    np.testing.assert_allclose(objective.likelihood(w)[1], slopes, atol=1e-9)


@pytest.mark.parametrize(("kind", "stepped"), PASSES)
@pytest.mark.parametrize("k", [2, 9])
def test_gradients_are_differences_of_values(kind: type[LabelChain], stepped: bool, k: int) -> None:
    toy = toy_of(5, k, [9, 1, 0, 12], unit=False, stepped=stepped, weighted=True)
    structure = toy.structure(kind, boundaries=True)
    objective = objective_of(toy, structure, c2=0.2)
    wanted = LocalPass if kind is LocalChain else StepPass if stepped else ChainPass
    assert pass_of(structure, objective.layout, np.zeros(objective.layout.size)) is wanted
    w, h = weights_of(objective), 1e-5
    gradient = objective(w)[1]
    for at in range(0, len(w), max(len(w) // 60, 1)):
        move = np.zeros_like(w)
        move[at] = h
        slope = (objective(w + move)[0] - objective(w - move)[0]) / (2 * h)
        assert gradient[at] == pytest.approx(slope, abs=1e-7)


@settings(max_examples=50)
@given(toy=toys(), kind=KINDS, options=OPTIONS, seed=st.integers(0, 99))
def test_products_are_differences_of_gradients(toy: Toy, kind: Any, options: dict[str, Any], seed: int) -> None:
    objective = objective_of(toy, toy.structure(kind, **options), c2=0.2)
    w, direction, h = weights_of(objective, seed), weights_of(objective, seed + 1), 1e-5
    ahead, behind = (objective(w + step * direction)[1] for step in (h, -h))
    np.testing.assert_allclose(objective.product(w, direction), (ahead - behind) / (2 * h), atol=1e-6)


@pytest.mark.parametrize(("kind", "stepped"), [*PASSES, (LabelChain, None)])
@pytest.mark.parametrize("size", [1.0, 15.0])
def test_products_keep_their_digits(kind: type[LabelChain], stepped: bool | None, size: float) -> None:
    """Also where labels are all but certain; with steps far apart in log space."""
    toy = toy_of(5, 3, [4, 1, 0, 3], unit=False, stepped=bool(stepped), weighted=True)
    structure = toy.structure(kind, boundaries=True)
    objective = objective_of(toy, structure).held()
    w, places = weights_of(objective, 3, size), range(objective.layout.size)
    if stepped is None:
        objective.layout.transition_weights(w)[0] -= 400.0
        assert pass_of(structure, objective.layout, w) is StepPass
    found = np.array([objective.product(w, np.eye(len(w))[place]) for place in places])
    wanted = np.zeros_like(found)
    for features, counts in chain_cases(toy, named(objective.layout), kind is LocalChain):
        wanted += second_derivatives(features, w, counts.sum())
    less = np.minimum.outer(np.diag(wanted), np.diag(wanted))  # errors are those of the one along which was multiplied
    along = np.where(np.diag(wanted)[:, None] <= np.diag(wanted), found, found.T)
    assert (np.abs(along - wanted) <= 1e-12 * np.sqrt(np.outer(np.diag(wanted), np.diag(wanted))) + 1e-300).all()
    assert less.min() < 1e-3 or size == 1


@pytest.mark.parametrize(("kind", "stepped"), PASSES)
def test_sizes_of_ranges_pieces_and_blocks_change_nothing(
    monkeypatch: pytest.MonkeyPatch, threads: Any, kind: type[LabelChain], stepped: bool
) -> None:
    toy = toy_of(8, 9, [3, 0, 7, 1, 1, 20, 2, 0, 9] * 4, unit=False, stepped=stepped, weighted=True)
    structure = toy.structure(kind, boundaries=True)
    w = weights_of(objective_of(toy, structure))
    threads(1)
    value, gradient = objective_of(toy, structure)(w)
    image = objective_of(toy, structure).product(w, -w)
    for positions, piece, block in itertools.product((1, 30), (1, 7), (1, 50, 1 << 20)):
        monkeypatch.setattr(chain_design, "RANGE_POSITIONS", positions)
        monkeypatch.setattr(chain_design, "PIECE_POSITIONS", piece)
        monkeypatch.setattr(chain_design.Ready.pieces, "__defaults__", (piece,))
        monkeypatch.setattr(sequence_positions, "BLOCK_POSITIONS", block)
        found = objective_of(toy, structure).held()(w)
        assert found[0] == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(found[1], gradient, atol=1e-11)
        np.testing.assert_allclose(objective_of(toy, structure).held().product(w, -w), image, atol=1e-11)


@pytest.mark.parametrize(("kind", "stepped"), PASSES)
def test_the_number_of_threads_changes_no_digit(
    monkeypatch: pytest.MonkeyPatch, threads: Any, kind: type[LabelChain], stepped: bool
) -> None:
    monkeypatch.setattr(chain_design, "RANGE_POSITIONS", 10)
    toy = toy_of(8, 5, [5] * 30, stepped=stepped)
    objective = objective_of(toy, toy.structure(kind))
    w, found = weights_of(objective), []
    for n in (1, 2, 3):
        threads(n)
        found.append(objective(w))
    (one, alone), *others = found
    assert [value for value, _ in others] == [one] * 2
    for _, gradient in others:
        np.testing.assert_array_equal(gradient, alone)


@pytest.mark.parametrize(("kind", "stepped"), PASSES)
def test_a_weight_is_so_many_copies(kind: type[LabelChain], stepped: bool) -> None:
    toy = toy_of(2, 3, [4, 5, 2], unit=False, stepped=stepped)
    steps = toy.steps and toy.steps[:1] * 3 + toy.steps[1:]
    copies = replace(
        toy, states=toy.states[:1] * 3 + toy.states[1:], labels=toy.labels[:1] * 3 + toy.labels[1:], steps=steps
    )
    structure = toy.structure(kind, boundaries=True)
    once, many = objective_of(replace(toy, weights=[3, 1, 1]), structure), objective_of(copies, structure)
    w = weights_of(once)
    assert once(w)[0] == pytest.approx(many(w)[0], rel=1e-12)
    np.testing.assert_allclose(once(w)[1], many(w)[1], atol=1e-11)


@pytest.mark.parametrize(("kind", "stepped"), PASSES)
def test_scores_of_thousands_are_no_trouble(kind: type[LabelChain], stepped: bool) -> None:
    toy = toy_of(5, 3, [4, 3], unit=False, stepped=stepped)
    objective = objective_of(toy, toy.structure(kind))
    w = weights_of(objective)
    objective.layout.state_weights(w)[:] *= 5000
    value, gradient = objective(w)
    by_hand, slopes = loss(toy, objective.layout, w, kind is LocalChain)
    assert value == pytest.approx(by_hand, rel=1e-9)
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)


@pytest.mark.parametrize("shift", [-2000.0, 2000.0])
def test_transitions_that_are_all_far_from_zero_are_no_trouble(shift: float) -> None:
    toy = toy_of(5, 3, [4, 3])
    objective = objective_of(toy, toy.structure())
    w = weights_of(objective)
    before = objective(w)
    objective.layout.transition_weights(w)[:] += shift
    after = objective(w)
    assert after[0] == pytest.approx(before[0], rel=1e-9)
    np.testing.assert_allclose(after[1], before[1], atol=1e-9)


@pytest.mark.parametrize(("kind", "stepped"), PASSES)
@pytest.mark.parametrize("size", [400.0, 1e5])
def test_steps_far_apart_lose_nothing(kind: type[LabelChain], stepped: bool, size: float) -> None:
    toy = toy_of(5, 3, [4, 3], stepped=stepped)
    objective = objective_of(toy, toy.structure(kind, boundaries=True))
    w = weights_of(objective, size=size)
    value, gradient = objective(w)
    by_hand, slopes = loss(toy, objective.layout, w, kind is LocalChain)
    assert value == pytest.approx(by_hand, rel=1e-9)
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)


# Optima -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "stepped"), PASSES)
@pytest.mark.parametrize("boundaries", [False, True])
def test_expected_features_are_those_of_the_data_less_the_pull(
    kind: type[LabelChain], stepped: bool, boundaries: bool
) -> None:
    toy = toy_of(5, 3, [4, 3, 1, 0, 5], unit=False, stepped=stepped, weighted=True)
    fit = fitted(toy, toy.structure(kind, boundaries=boundaries), Elastic(c2=0.3))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.method == "lbfgs"
    keys, w = named(fit.model.layout), fit.model.weights
    model = expected(toy, dict(zip(keys, w.tolist(), strict=True)), kind is LocalChain)
    data = empirical(toy)
    for key, weight in zip(keys, w, strict=True):
        assert model.get(key, 0.0) == pytest.approx(data.get(key, 0.0) - 2 * 0.3 * weight, abs=1e-6)
    assert fit.log_likelihood == pytest.approx(-loss(toy, fit.model.layout, w, kind is LocalChain)[0], rel=1e-9)
    lengths = [len(own) for own in toy.labels]
    assert fit.statistics.weight == pytest.approx(sum(toy.weight(s) * n for s, n in enumerate(lengths)))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("c1", [0.0, 0.4])
def test_no_other_weights_are_better(kind: type[LabelChain], c1: float) -> None:
    toy = toy_of(6, 3, [4, 3, 5, 2], unit=False)
    prior = Elastic(c1, 0.2)
    fit = fitted(toy, toy.structure(kind), prior)
    layout = fit.model.layout

    def split(both: np.ndarray) -> tuple[float, np.ndarray]:
        plus, minus = np.split(both, 2)
        value, gradient = loss(toy, layout, plus - minus, kind is LocalChain)
        gradient = gradient + 0.4 * (plus - minus)
        return value + prior.value(plus - minus), np.concatenate([gradient + c1, c1 - gradient])

    start = np.zeros(2 * layout.size)
    found = minimize(split, start, jac=True, bounds=[(0, None)] * len(start), options={"ftol": 1e-13, "gtol": 1e-8})
    assert -fit.log_likelihood + prior.value(fit.model.weights) == pytest.approx(found.fun, rel=1e-7)
    plus, minus = np.split(found.x, 2)
    np.testing.assert_allclose(fit.model.weights, plus - minus, atol=2e-4)


@pytest.mark.parametrize("kind", BOTH)
def test_absolute_values_make_exact_zeros(kind: type[LabelChain]) -> None:
    toy = toy_of(6, 4, [6, 5, 5, 3])
    fit = fitted(toy, toy.structure(kind), Elastic(c1=1.0))
    zeros = int(np.count_nonzero(fit.model.weights == 0))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.method == "owlqn"
    assert 0 < zeros < fit.model.weights.size
    assert fit.n_free == fit.model.weights.size - zeros
    assert any(f"{zeros} of {fit.model.weights.size} weights are zero" in note.text for note in fit.notes)
    assert not fitted(toy, toy.structure(kind), Elastic(c1=100.0)).model.weights.any()


def test_priors_of_other_parts_are_the_same_penalties() -> None:
    toy = toy_of(6, 3, [4, 3, 5])
    for one, two in ((Elastic(c2=0.5), sf.Gaussian(1.0)), (Elastic(c1=2.0), sf.Laplace(0.5))):
        first, second = fitted(toy, toy.structure(), one), fitted(toy, toy.structure(), two)
        assert second.certificate.ok, second.certificate.verdict
        np.testing.assert_allclose(first.model.weights, second.model.weights, atol=1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_maximum_likelihood_matches_features_where_it_exists(kind: type[LabelChain]) -> None:
    every = [list(path) for path in itertools.product(range(2), repeat=3)]
    toy = Toy(2, [[[(0, 1.0)], [], [(0, 1.0)]]] * 8, every, weights=[1.0, 2, 1, 3, 1, 1, 2, 1], unit=True)
    fit = fitted(toy, toy.structure(kind, states="all"), None)
    assert fit.certificate.ok, fit.certificate.verdict
    assert "undecided" in fit.certificate.claim
    assert fit.prior is None


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("c1", [0.0, 0.5])
def test_doubled_weights_are_repeated_sequences(kind: type[LabelChain], c1: float) -> None:
    toy = toy_of(6, 3, [4, 3, 5])
    twice = replace(toy, states=toy.states * 2, labels=toy.labels * 2)
    prior = Elastic(c1, 0.3)
    one, two = (
        fitted(replace(toy, weights=[2.0] * 3), toy.structure(kind), prior),
        fitted(twice, toy.structure(kind), prior),
    )
    assert one.log_likelihood == pytest.approx(two.log_likelihood, rel=1e-8)
    np.testing.assert_allclose(one.model.weights, two.model.weights, atol=1e-5)


def test_one_label_leaves_nothing_to_learn() -> None:
    toy = toy_of(0, 1, [3, 2])
    for kind in BOTH:
        fit = fitted(toy, toy.structure(kind))
        assert fit.log_likelihood == pytest.approx(0)
        assert fit.certificate.ok
        assert not fit.model.weights.any()


def test_attributes_without_a_weight_leave_transitions_to_learn() -> None:
    toy = replace(toy_of(4, 3, [5, 5]), states=[[[]] * 5] * 2)
    for kind in BOTH:
        fit = fitted(toy, toy.structure(kind, boundaries=True))
        assert fit.certificate.ok
        assert fit.model.layout.state_weights(fit.model.weights).size == 0
