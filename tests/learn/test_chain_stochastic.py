"""Learning chains of labels from batches: their sum is the objective, and small steps come close to its optimum."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.learn.chain_cases import InterruptsAt
from tests.models.chain_twin import KINDS, OPTIONS, Toy, loss, toy_of, toys

import suffice as sf
from suffice.data import sequence_positions
from suffice.learn.chain_batches import Batches, batches_of
from suffice.learn.chain_objective import ChainObjective
from suffice.learn.chain_stochastic import AdaptiveRates, Average, Dues, PlainRates, calibrated, take_step
from suffice.priors.elastic import Elastic
from suffice.stats.source import BlockSource
from suffice.structures.label_chain import LabelChain, LocalChain

Floats = NDArray[np.float64]
METHODS = ["sgd", "adagrad"]
BOTH = [LabelChain, LocalChain]
RIDGE = Elastic(c2=0.3)


def stream(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def dealt(toy: Toy, structure: LabelChain, penalty: Elastic = RIDGE, positions: int = 5) -> Batches:
    layout = toy.layout(structure)
    counts = layout.gathered(toy.counts(structure))
    return batches_of(
        ChainObjective(BlockSource(toy.table), structure, layout, counts, penalty.c2), penalty, positions, stream()
    )


def fitted(toy: Toy, structure: LabelChain, method: str, prior: Any = RIDGE, **rest: Any) -> sf.Fit:
    return sf.fit(structure, toy.table, method=method, prior=prior, **{"seed": 1, **rest})


def objective(fit: sf.Fit) -> float:
    return -fit.log_likelihood + (fit.prior.value(fit.model.weights) if fit.prior else 0.0)


def large(seed: int = 3, n: int = 60, n_attributes: int = 12, **rest: Any) -> Toy:
    """Return sequences with something to learn: labels follow from attributes, most of the time."""
    toy = toy_of(seed, 3, [6] * n, n=n_attributes, **rest)
    rng = np.random.default_rng(seed)
    labels = [
        [own[t][0][0] % 3 if own[t] and rng.random() < 0.8 else int(rng.integers(3)) for t in range(6)]
        for own in toy.states
    ]
    return replace(toy, labels=labels)


@pytest.fixture
def threads() -> Iterator[Any]:
    before = sf.config().threads
    yield lambda n: sf.config(threads=n)
    sf.config(threads=before)


# Batches ------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    toy=toys(),
    kind=KINDS,
    options=OPTIONS,
    positions=st.integers(1, 12),
    seed=st.integers(0, 99),
    c1=st.sampled_from([0.0, 0.7]),
)
def test_the_sum_over_batches_is_the_objective(
    toy: Toy, kind: Any, options: dict[str, Any], positions: int, seed: int, c1: float
) -> None:
    structure, penalty = toy.structure(kind, **options), Elastic(c1, 0.2)
    batches = dealt(toy, structure, penalty, positions)
    layout = toy.layout(structure)
    w = np.random.default_rng(seed).normal(size=layout.size)
    value, gradient = batches.whole(w)
    by_hand, slopes = loss(toy, layout, w, kind is LocalChain)
    assert value == pytest.approx(by_hand + penalty.value(w), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(gradient, slopes + 0.4 * w, atol=1e-9)
    n = np.zeros(layout.size)
    for batch in batches.each:
        assert len(np.unique(batch.where)) == len(batch.where) == batch.layout.size
        n[batch.where] += 1
    np.testing.assert_array_equal(batches.heard, n > 0)
    np.testing.assert_allclose((batches.c1 * n)[n > 0], c1)
    np.testing.assert_allclose((batches.c2 * n)[n > 0], 0.2)


@pytest.mark.parametrize("positions", [1, 7, 20, 1000])
def test_every_sequence_is_dealt_once_and_batches_are_about_as_long_as_told(positions: int) -> None:
    toy = toy_of(4, 3, [3, 0, 7, 1, 1, 9, 2, 0, 5] * 4)
    sizes = [batch.ready.sequences.n_positions for batch in dealt(toy, toy.structure(), positions=positions).each]
    lengths = [
        int(n) for batch in dealt(toy, toy.structure(), positions=positions).each for n in batch.ready.sequences.lengths
    ]
    assert sorted(lengths) == sorted(len(own) for own in toy.labels)
    assert max(sizes) < positions + 9
    assert len(sizes) <= -(-sum(sizes) // positions)


def test_the_order_of_sequences_is_mixed() -> None:
    toy = toy_of(4, 3, [*range(1, 40)])
    (batch,) = dealt(toy, toy.structure(), positions=10_000).each
    assert batch.ready.sequences.lengths.tolist() != [*range(1, 40)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_blocks_of_the_data_change_nothing(monkeypatch: pytest.MonkeyPatch, weighted: bool, unit: bool) -> None:
    toy = toy_of(8, 4, [3, 0, 7, 1, 1, 9], unit=unit, stepped=True, weighted=weighted)
    structure = toy.structure(boundaries=True)
    w = np.random.default_rng(0).normal(size=toy.layout(structure).size)
    value, gradient = dealt(toy, structure).whole(w)
    monkeypatch.setattr(sequence_positions, "BLOCK_POSITIONS", 4)
    assert len(list(toy.table.blocks())) > 2
    other, slopes = dealt(toy, structure).whole(w)
    assert other == value
    np.testing.assert_array_equal(slopes, gradient)


# Steps --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c1", [0.0, 0.4])
@pytest.mark.parametrize("adaptive", [False, True])
def test_a_step_is_the_proximal_one_of_its_batch(c1: float, adaptive: bool) -> None:
    toy = toy_of(6, 3, [4, 3, 5, 2], unit=False)
    batches = dealt(toy, toy.structure(), Elastic(c1, 0.3))
    batch, w = batches.each[0], np.random.default_rng(1).normal(size=batches.c1.size)
    w[::3] = 0.0
    after = w.copy()
    rates = AdaptiveRates(0.3, w.size) if adaptive else PlainRates(0.05, 0.0)
    take_step(batches, batch, after, rates, Dues(w.size) if c1 else None)
    _, slopes = batches.likelihood(batch, w[batch.where])
    untouched = np.setdiff1d(np.arange(w.size), batch.where)
    assert untouched.size
    np.testing.assert_array_equal(after[untouched], w[untouched])
    for at, slope in zip(batch.where, slopes, strict=True):
        share1, share2 = batches.c1[at], batches.c2[at]
        whole = slope + 2 * share2 * w[at] + share1 * np.sign(w[at])
        rate = (0.3 / abs(whole) if whole else 0.0) if adaptive else 0.05
        z = w[at] - rate * slope
        best = np.sign(z) * max(abs(z) - rate * share1, 0.0) / (1 + 2 * rate * share2)
        assert after[at] == pytest.approx(best, abs=1e-9)


def test_adaptive_rates_divide_by_the_root_of_all_squares() -> None:
    rates = AdaptiveRates(0.5, 4)
    where = np.array([1, 3])
    np.testing.assert_allclose(rates.of(where, np.array([3.0, -1.0])), [0.5 / 3, 0.5])
    np.testing.assert_allclose(rates.of(where, np.array([4.0, 0.0])), [0.5 / 5, 0.5])
    np.testing.assert_allclose(rates.of(np.array([0]), np.array([2.0])), [0.25])


def test_plain_rates_fall_as_one_over_the_steps() -> None:
    rates = PlainRates(0.5, 0.1)
    found = [rates.of(np.zeros(0, np.int64), np.zeros(0)) for _ in range(3)]
    assert found == pytest.approx([0.5, 0.5 / 1.05, 0.5 / 1.1])


@given(st.integers(1, 6), st.lists(st.lists(st.booleans(), min_size=6, max_size=6), max_size=8), st.integers(0, 99))
def test_the_average_is_that_of_all_weights_on_the_way(n: int, changes: list[list[bool]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, average = rng.normal(size=n), Average(n)
    seen = [weights.copy()]
    for change in changes:
        where = np.flatnonzero(change[:n])
        average.add(weights, where)
        weights[where] = rng.normal(size=len(where))
        seen.append(weights.copy())
    np.testing.assert_allclose(average.value(weights), np.mean(seen, axis=0), atol=1e-12)


def test_a_weight_pays_what_it_owes_as_far_as_zero() -> None:
    dues, where = Dues(3), np.array([0, 2])

    def pay(weights: list[float], price: float) -> list[float]:
        return [round(w, 9) for w in dues.paid(where, np.array(weights), np.full(2, price)).tolist()]

    assert pay([1.0, -0.05], 0.1) == [0.9, 0.0]  # the second pays half, and goes on owing the rest
    assert pay([0.9, -1.0], 0.1) == [0.8, -0.85]
    assert pay([0.0, -0.85], 0.1) == [0.0, -0.75]
    assert pay([0.25, 0.1], 0.0) == [0.15, 0.0]  # what was paid below zero is owed above it, too


def test_the_calibrated_rate_lowers_the_loss_and_fits_the_size_of_batches() -> None:
    toy = large()
    small, whole = (dealt(toy, toy.structure(), positions=n) for n in (6, 10_000))
    start = np.zeros(small.c1.size)
    assert calibrated(whole, start) < calibrated(small, start)
    for batches in (small, whole):
        rates, w = PlainRates(calibrated(batches, start), 0.0), start.copy()
        for batch in batches.each:
            take_step(batches, batch, w, rates, None)
        assert batches.whole(w)[0] < batches.whole(start)[0]


# Fits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("stepped", [False, True])
def test_the_loss_comes_close_to_its_least(method: str, kind: type[LabelChain], stepped: bool) -> None:
    toy = large(stepped=stepped, n=40)
    structure = toy.structure(kind, boundaries=True)
    best, zero = objective(fitted(toy, structure, "lbfgs")), 40 * 6 * np.log(3)
    fit = fitted(toy, structure, method, options={"batch": 20, "fall": 1e-5}, max_iter=60)
    assert best < objective(fit) < best + 0.01 * (zero - best)
    assert fit.method == method
    assert any("approximate" in note.text for note in fit.notes)
    assert not fit.certificate.ok
    assert fit.log_likelihood == pytest.approx(fit.model.log_prob(toy.sequences).sum())


@pytest.mark.parametrize("method", METHODS)
def test_absolute_values_make_exact_zeros(method: str) -> None:
    toy, prior = large(n=80), Elastic(c1=2.0, c2=0.01)
    exact = fitted(toy, toy.structure(states="all"), "owlqn", prior)
    options = {"batch": 30, "fall": 1e-5}
    fit = fitted(toy, toy.structure(states="all"), method, prior, options=options, max_iter=100)
    zeros, wanted = fit.model.weights == 0, exact.model.weights == 0
    assert 5 < wanted.sum() < wanted.size - 5
    assert (zeros == wanted).mean() > 0.7
    assert zeros.sum() > 0.5 * wanted.sum()
    assert objective(fit) < 1.02 * objective(exact)
    assert not fitted(toy, toy.structure(), method, Elastic(c1=1e4), max_iter=3).model.weights.any()


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(method: str, threads: Any) -> None:
    toy, found = large(), []
    for n in (1, 2, 3):
        threads(n)
        found.append(fitted(toy, toy.structure(), method, options={"batch": 20}, max_iter=3).model.weights)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    other = fitted(toy, toy.structure(), method, options={"batch": 20}, max_iter=3, seed=2)
    assert (other.model.weights != found[0]).any()


@pytest.mark.parametrize("method", METHODS)
def test_without_a_prior_the_likelihood_rises(method: str) -> None:
    toy = large()
    fit = fitted(toy, toy.structure(), method, None, max_iter=5)
    assert fit.log_likelihood > -0.9 * 60 * 6 * np.log(3)
    assert fit.prior is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate", [30.0, 1e9, 1e200])
def test_a_rate_that_is_too_large_is_found_out(method: str, rate: float) -> None:
    toy = large(n=20)
    fit = fitted(toy, toy.structure(), method, options={"rate": rate, "batch": 20}, max_iter=400)
    assert np.isfinite(fit.model.weights).all()
    assert fit.log_likelihood >= -20 * 6 * np.log(3) - 1e-6


def test_epochs_end_when_the_loss_hardly_falls_and_say_so() -> None:
    toy = large()
    fit = fitted(toy, toy.structure(), "adagrad", options={"fall": 0.05})
    assert 2 <= len(fit.trace) < 20
    assert any("hardly falls" in note.text for note in fit.notes)
    more = fitted(toy, toy.structure(), "adagrad", options={"fall": 1e-4})
    assert len(more.trace) > len(fit.trace)
    few = fitted(toy, toy.structure(), "adagrad", max_iter=2)
    assert len(few.trace) == 2
    assert any("still falling" in note.text for note in few.notes)


@pytest.mark.parametrize("method", METHODS)
def test_a_loose_tolerance_is_met_and_ends_the_epochs(method: str) -> None:
    toy = large()
    fit = fitted(toy, toy.structure(), method, tol=0.1)
    assert len(fit.trace) <= 4
    assert not any("Not converged" in note.text for note in fit.notes)


def test_the_best_epoch_is_kept() -> None:
    toy = large()
    options = {"rate": 3.0, "fall": 0.0, "batch": 10}
    fit = fitted(toy, toy.structure(), "adagrad", Elastic(c1=0.5), options=options, max_iter=30)
    objectives = [step.objective for step in fit.trace]
    assert objectives[-1] < max(objectives)
    assert -objective(fit) == pytest.approx(max(objectives))


@pytest.mark.parametrize("method", METHODS)
def test_a_warm_start_at_the_optimum_stays_near_it(method: str) -> None:
    toy = large()
    best = fitted(toy, toy.structure(), "lbfgs")
    fit = fitted(toy, toy.structure(), method, init=best.model, max_iter=30)
    assert objective(fit) <= objective(best) * (1 + 1e-6)
    cold = fitted(toy, toy.structure(), method, max_iter=5)
    exact = fitted(toy, toy.structure(), "lbfgs", init=cold.model)
    assert exact.certificate.ok
    assert objective(exact) == pytest.approx(objective(best), rel=1e-8)


def test_weights_that_no_sequence_speaks_of_are_what_the_penalty_wants() -> None:
    toy = replace(toy_of(5, 3, [4, 4, 4], n=6), n_attributes=7)  # nothing has the last attribute
    structure = toy.structure(states="all")
    model = toy.model(structure)
    low, high = model.layout.starts[6:8]
    assert model.weights[low:high].all()
    fit = fitted(toy, structure, "adagrad", init=model, max_iter=2)
    assert not fit.model.weights[low:high].any()


@pytest.mark.parametrize("kind", BOTH)
def test_sequences_that_were_held_out_end_the_epochs(kind: type[LabelChain]) -> None:
    train, other = large(1, 12, 40), large(2, 12, 40)
    options = {"held_out": other.table, "patience": 3, "batch": 10, "rate": 1.0, "fall": 0.0}
    fit = fitted(train, train.structure(kind), "adagrad", Elastic(c2=1e-4), options=options)
    assert any(note.text.startswith("Stopped early") for note in fit.notes)
    losses = []
    for n in range(1, len(fit.trace) + 1):
        few = fitted(
            train, train.structure(kind), "adagrad", Elastic(c2=1e-4), max_iter=n,
            options={"batch": 10, "rate": 1.0, "fall": 0.0},
        )  # fmt: skip
        losses.append(-few.model.log_prob(other.sequences).sum())
    assert -fit.model.log_prob(other.sequences).sum() == pytest.approx(min(losses), rel=1e-9)
    assert len(losses) - 1 - int(np.argmin(losses)) == 3


@pytest.mark.parametrize("method", METHODS)
def test_an_interrupt_keeps_the_best_epoch_and_marks_it(method: str) -> None:
    toy, display = large(), InterruptsAt(3)
    fit = fitted(toy, toy.structure(), method, progress=display, options={"fall": 0.0})
    shorter = fitted(toy, toy.structure(), method, max_iter=3, options={"fall": 0.0})
    np.testing.assert_array_equal(fit.model.weights, shorter.model.weights)
    assert "interrupted" in fit.certificate.verdict
    assert all(info.startswith("loss ") and "a position" in info for info in display.infos)


def test_an_interrupt_within_an_epoch_ends_it_at_the_next_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    toy, calls = large(), list[int]()
    plain = AdaptiveRates.of

    def interrupted(self: AdaptiveRates, where: Any, slopes: Floats) -> Floats:
        calls.append(1)
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)
        return plain(self, where, slopes)

    monkeypatch.setattr(AdaptiveRates, "of", interrupted)
    fit = fitted(toy, toy.structure(), "adagrad", options={"batch": 12})
    assert len(calls) == 4
    assert fit.model.weights.any()
    assert "interrupted" in fit.certificate.verdict


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lengths", [[0, 0], [1], [0, 3, 0]])
def test_short_and_empty_sequences_are_no_trouble(method: str, lengths: list[int]) -> None:
    toy = toy_of(3, 2, lengths)
    fit = fitted(toy, toy.structure(boundaries=True), method, max_iter=20)
    assert fit.log_likelihood >= -sum(lengths) * np.log(2) - 1e-9


def test_auto_never_takes_an_approximate_method() -> None:
    toy = large(n=10)
    assert sf.fit(toy.structure(), toy.table, prior=RIDGE).method == "lbfgs"
    assert sf.fit(toy.structure(), toy.table, prior=Elastic(c1=1.0)).method == "owlqn"
