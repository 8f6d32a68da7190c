"""How chains of labels are searched for: steps, warm starts, interrupts, sequences held out, and refusals."""

from __future__ import annotations

import itertools
import signal
from dataclasses import replace

import numpy as np
import pytest
from tests.learn.chain_cases import BOTH, InterruptsAt, fitted
from tests.models.chain_twin import Toy, toy_of

import suffice as sf
from suffice.data.variable import Variable
from suffice.learn.chain import Follower
from suffice.optimise.outcome import Stop
from suffice.priors.elastic import Elastic
from suffice.structures.label_chain import LabelChain

# The search ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_the_trace_rises_to_the_objective(c1: float) -> None:
    toy = toy_of(6, 3, [4, 3, 5])
    prior = Elastic(c1, 0.1)
    fit = fitted(toy, toy.structure(), prior)
    values = [step.objective for step in fit.trace]
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(values))
    assert values[-1] == pytest.approx(fit.log_likelihood - prior.value(fit.model.weights))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_too_few_steps_are_not_certified_and_say_so(kind: type[LabelChain], c1: float) -> None:
    toy = toy_of(6, 3, [4, 3, 5])
    fit = fitted(toy, toy.structure(kind), Elastic(c1, 0.1), max_iter=1)
    assert not fit.certificate.ok
    assert "violated by" in fit.certificate.verdict
    assert any(note.text.startswith("Not converged after 1 step") for note in fit.notes)
    assert fit.log_likelihood == pytest.approx(fit.model.log_prob(toy.sequences).sum())


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_a_warm_start_at_the_optimum_ends_at_once(kind: type[LabelChain], c1: float) -> None:
    toy, prior = toy_of(6, 3, [4, 3, 5]), Elastic(c1, 0.1)
    cold = fitted(toy, toy.structure(kind), prior)
    warm = fitted(toy, toy.structure(kind), prior, init=cold.model)
    assert len(cold.trace) > 4
    assert len(warm.trace) <= 2
    assert warm.certificate.ok
    np.testing.assert_allclose(warm.model.weights, cold.model.weights, atol=1e-7)


def test_a_warm_start_with_other_labels_and_attributes_finds_the_same_optimum() -> None:
    toy = toy_of(6, 3, [4, 3, 5])
    cold = fitted(toy, toy.structure())
    more = replace(toy_of(9, 4, [6, 3, 5], n=5))
    fresh = fitted(more, more.structure())
    warm = fitted(more, more.structure(), init=cold.model)
    assert warm.certificate.ok
    np.testing.assert_allclose(warm.model.weights, fresh.model.weights, atol=1e-6)


@pytest.mark.parametrize("memory", [1, 30])
def test_the_memory_of_the_search_does_not_change_its_end(memory: int) -> None:
    toy = toy_of(6, 3, [4, 3, 5])
    one, two = fitted(toy, toy.structure()), fitted(toy, toy.structure(), options={"memory": memory})
    np.testing.assert_allclose(one.model.weights, two.model.weights, atol=1e-6)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_an_interrupt_keeps_the_best_so_far_and_marks_it(kind: type[LabelChain], c1: float) -> None:
    toy, display = toy_of(6, 3, [4, 3, 5]), InterruptsAt(3)
    before = signal.getsignal(signal.SIGINT)
    fit = fitted(toy, toy.structure(kind), Elastic(c1, 0.1), progress=display)
    assert signal.getsignal(signal.SIGINT) is before
    assert len(fit.trace) == 3
    assert not fit.certificate.ok
    assert "interrupted" in fit.certificate.verdict
    assert any("Interrupted" in note.text for note in fit.notes)
    shorter = fitted(toy, toy.structure(kind), Elastic(c1, 0.1), max_iter=3)
    np.testing.assert_array_equal(fit.model.weights, shorter.model.weights)
    assert all(info.startswith("loss ") and "a position" in info for info in display.infos)


# Sequences that were held out ---------------------------------------------------------------------------------


def noisy(seed: int) -> Toy:
    """Return sequences whose labels follow from their attributes but for much noise, so that learning overfits."""
    toy = toy_of(seed, 3, [6] * 12, n=12)
    rng = np.random.default_rng(seed)
    labels = [
        [own[t][0][0] % 3 if own[t] and rng.random() < 0.7 else int(rng.integers(3)) for t in range(6)]
        for own in toy.states
    ]
    return replace(toy, labels=labels)


WEAK = Elastic(c2=1e-4)


def test_the_weights_with_the_least_loss_of_others_are_kept() -> None:
    train, other = noisy(1), noisy(2)
    structure = train.structure()
    fit = fitted(train, structure, WEAK, options={"held_out": other.table, "patience": 3})
    models = [fitted(train, structure, WEAK, max_iter=n).model for n in range(1, 12)]
    losses = [-model.log_prob(other.sequences).sum() for model in models]
    best = int(np.argmin(losses)) + 1
    assert 1 < best < 8
    np.testing.assert_array_equal(fit.model.weights, models[best - 1].weights)
    (note,) = [note.text for note in fit.notes if note.text.startswith("Stopped early")]
    assert f"least, {losses[best - 1]:,.4f}, after {best} steps" in note
    assert "for 3 steps more" in note
    assert len(fit.trace) == best + 3
    assert fit.log_likelihood == pytest.approx(fit.model.log_prob(train.sequences).sum())
    assert not fit.certificate.ok
    assert fit.stop is Stop.HELD_OUT


def test_the_least_loss_counts_even_if_the_search_ends_before_patience_does() -> None:
    train, other = noisy(1), noisy(2)
    few = fitted(train, train.structure(), WEAK, options={"held_out": other.table, "patience": 3})
    patient = fitted(train, train.structure(), WEAK, options={"held_out": other.table, "patience": 10_000})
    np.testing.assert_array_equal(few.model.weights, patient.model.weights)
    assert len(patient.trace) > len(few.trace)
    assert any(note.text.startswith("The weights are those with which") for note in patient.notes)
    assert patient.stop is Stop.HELD_OUT
    short = {"held_out": other.table, "patience": 10_000}
    assert fitted(train, train.structure(), WEAK, options=short, max_iter=2).stop is Stop.OUT_OF_STEPS


@pytest.mark.parametrize(
    ("losses", "early"),
    [
        ([3.0, 2.0, 1.0], False),
        ([3.0, 2.0, 1.0, 1.0 + 1e-9], False),
        ([3.0, 2.0, 1.0, 1.1], True),
        ([3.0, 1.0, 1.0, 1.0, 1.0], True),
        ([], False),
    ],
)
def test_an_optimum_is_not_given_up_for_nothing(losses: list[float], early: bool) -> None:
    follower = Follower(None, None, patience=3)  # type: ignore[arg-type]
    follower.losses = losses
    assert follower.is_early is early


def test_the_loss_of_what_is_held_out_is_shown() -> None:
    train, other, display = noisy(1), noisy(2), InterruptsAt(10_000)
    fitted(train, train.structure(), options={"held_out": other.table}, progress=display)
    assert all(", held out " in info for info in display.infos)


# An attribute that every position has -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_a_small_c1_takes_hardly_more_steps_with_an_attribute_that_is_always_there(kind: type[LabelChain]) -> None:
    """The likelihood does not notice a constant added to its weights of all labels."""
    toy = noisy(1)
    toy = replace(toy, n_attributes=13, states=[[[*own, (12, 1.0)] for own in row] for row in toy.states])
    structure = toy.structure(kind, states="all")
    smooth, sparse = (fitted(toy, structure, Elastic(c1, 0.1)) for c1 in (0.0, 0.1))
    assert sparse.certificate.ok
    assert 0 < (sparse.model.weights == 0).sum() < sparse.model.weights.size
    assert len(sparse.trace) < 2 * len(smooth.trace)


# Refusals -----------------------------------------------------------------------------------------------------


def test_methods_refuse_the_penalties_of_each_other() -> None:
    toy = toy_of(6, 3, [4])
    with pytest.raises(sf.EstimationError, match="name 'owlqn'"):
        fitted(toy, toy.structure(), Elastic(c1=1.0), method="lbfgs")
    with pytest.raises(sf.EstimationError, match="c1 > 0"):
        fitted(toy, toy.structure(), Elastic(c2=1.0), method="owlqn")


@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_no_labels_are_refused(lengths: list[int]) -> None:
    toy = toy_of(0, 1, lengths)
    table = replace(toy.table, label=Variable("label", ()))
    with pytest.raises(sf.DataError, match="no labels to learn from"):
        sf.fit(toy.structure(), table, prior=Elastic(c2=1.0))
