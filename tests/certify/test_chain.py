"""The certificate of a chain of labels notices wrong answers of every kind, and does not lean on the fitter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.chain_twin import KINDS, OPTIONS, Toy, loss, toy_of, toys

import suffice as sf
from suffice.certify import chain_recursions
from suffice.certify.certificate import Certificate
from suffice.certify.chain import NAME, ChainRecount
from suffice.certify.claim import Claim
from suffice.data import sequence_positions
from suffice.families.proof import certify
from suffice.native import label_chains as kernels
from suffice.priors.elastic import Elastic
from suffice.stats.needs import Count, Sum
from suffice.stats.source import BlockSource
from suffice.structures.label_chain import LabelChain, LocalChain

BOTH = [LabelChain, LocalChain]
CASES = [(LabelChain, False), (LabelChain, True), (LocalChain, False), (LocalChain, True)]
TOY = toy_of(6, 3, [4, 3, 5, 0, 1], unit=False, stepped=True, weighted=True)
PLAIN = replace(TOY, steps=None)


def fitted(toy: Toy, kind: type[LabelChain] = LabelChain, prior: Any = Elastic(c2=0.2), **options: Any) -> sf.Fit:  # noqa: B008
    return sf.fit(toy.structure(kind, boundaries=True), toy.table, prior=prior, **options)


def claim(fit: sf.Fit, toy: Toy, **changes: Any) -> Certificate:
    made: dict[str, Any] = {"model": fit.model, "log_likelihood": fit.log_likelihood, "prior": fit.prior, **changes}
    source = BlockSource(toy.table)
    return certify(Claim(fit.structure, statistics=fit.statistics, point=fit.point, source=source, **made))


def moved(fit: sf.Fit, at: int, by: float) -> Any:
    weights = fit.model.weights.copy()
    weights[at] += by
    return replace(fit.model, weights=weights)


def recounted(toy: Toy, model: Any) -> np.ndarray:
    k, size = model.label.n_states, model.layout.size
    return np.array(BlockSource(toy.table).reduce(ChainRecount(model))[Sum(NAME, 2 + 2 * size + k)].values)


def test_a_weight_that_is_not_a_number_is_noticed() -> None:
    fit = fitted(TOY)
    model = moved(fit, 0, 0.0)
    object.__setattr__(model, "weights", np.append(np.nan, model.weights[1:]))  # which no one could build
    found = claim(fit, TOY, model=model)
    assert not found.ok
    assert found.gradient_norm == np.inf


@settings(max_examples=60)
@given(toys(), KINDS, OPTIONS, st.integers(0, 99))
def test_what_is_measured_is_that_of_all_labellings(toy: Toy, kind: Any, options: dict[str, Any], seed: int) -> None:
    model = toy.model(toy.structure(kind, **options), seed)
    sums = recounted(toy, model)
    value, slopes = loss(toy, model.layout, model.weights, kind is LocalChain)
    size = model.layout.size
    assert sums[0] == pytest.approx(-value, rel=1e-9, abs=1e-9)
    assert abs(sums[1]) < 1e-12
    np.testing.assert_allclose(sums[2 : 2 + size], -slopes, atol=1e-9)
    counts = np.zeros(toy.k)
    for s, own in enumerate(toy.labels):
        np.add.at(counts, own, toy.weight(s))
    np.testing.assert_allclose(sums[2 + 2 * size :], counts, atol=1e-12)


@pytest.mark.parametrize(("kind", "stepped"), CASES)
def test_sizes_of_batches_and_blocks_change_nothing(
    monkeypatch: pytest.MonkeyPatch, kind: type[LabelChain], stepped: bool
) -> None:
    toy = toy_of(6, 3, [4, 3, 0, 5, 1, 1, 9, 0, 2], unit=False, stepped=stepped, weighted=True)
    model = toy.model(toy.structure(kind, boundaries=True))
    whole = recounted(toy, model)
    for cells, block in ((1, 1), (60, 4), (200, 1 << 20)):
        monkeypatch.setattr(chain_recursions, "CELLS", cells)
        monkeypatch.setattr(sequence_positions, "BLOCK_POSITIONS", block)
        np.testing.assert_allclose(recounted(toy, model), whole, atol=1e-12)


@pytest.mark.parametrize(("kind", "stepped"), CASES)
@pytest.mark.parametrize("prior", [Elastic(c2=0.2), sf.Gaussian(1.0)])
def test_moved_weights_are_noticed(kind: type[LabelChain], stepped: bool, prior: Any) -> None:
    toy = TOY if stepped else PLAIN
    fit = fitted(toy, kind, prior)
    assert claim(fit, toy).ok, claim(fit, toy).verdict
    for at in range(fit.model.layout.size):
        found = claim(fit, toy, model=moved(fit, at, 1e-4), prior=fit.prior)
        assert not found.ok
        assert found.gradient_norm > found.tol
        assert "violated by" in found.verdict


def test_the_worst_weight_is_named() -> None:
    fit = fitted(PLAIN, prior=Elastic(c2=50.0))  # so stiff that every gap stays where it is made
    layout = fit.model.layout
    assert layout.size
    for at in range(layout.size):
        found = claim(fit, PLAIN, model=moved(fit, at, 1.0))
        assert found.worst == layout.names(at, fit.structure, fit.model.label.labels)
        assert found.worst in found.verdict


def test_the_penalty_that_is_claimed_must_be_the_one() -> None:
    fit = fitted(PLAIN)
    assert not claim(fit, PLAIN, prior=Elastic(c2=0.21)).ok
    assert not claim(fit, PLAIN, prior=Elastic(c1=1e-3, c2=0.2)).ok
    assert not claim(fit, PLAIN, prior=None).ok


@pytest.mark.parametrize("prior", [Elastic(c1=0.8), Elastic(c1=0.5, c2=0.1), sf.Laplace(1.5)])
@pytest.mark.parametrize("kind", BOTH)
def test_a_weight_that_should_not_be_zero_and_one_that_should_are_noticed(prior: Any, kind: type[LabelChain]) -> None:
    fit = fitted(PLAIN, kind, prior)
    assert claim(fit, PLAIN).ok
    zeros = np.flatnonzero(fit.model.weights == 0)
    others = np.flatnonzero(fit.model.weights)
    assert len(zeros)
    assert len(others)
    for at in zeros:
        assert not claim(fit, PLAIN, model=moved(fit, at, 1e-3)).ok
        assert not claim(fit, PLAIN, model=moved(fit, at, -1e-3)).ok
    largest = others[np.argmax(np.abs(fit.model.weights[others]))]
    assert not claim(fit, PLAIN, model=moved(fit, largest, -fit.model.weights[largest])).ok


@pytest.mark.parametrize("kind", BOTH)
def test_a_wrong_log_likelihood_and_other_data_are_noticed(kind: type[LabelChain]) -> None:
    fit = fitted(TOY, kind)
    assert "log-likelihood" in claim(fit, TOY, log_likelihood=fit.log_likelihood + 1e-3).verdict
    assert not claim(fit, TOY, log_likelihood=float("nan")).ok
    found = claim(fit, replace(TOY, weights=[1.0] * 5))
    assert not found.ok
    assert "second count of the data" in found.verdict
    fewer = {name: getattr(TOY, name)[1:] for name in ("states", "labels", "steps", "weights")}
    assert not claim(fit, replace(TOY, **fewer)).ok


def test_labels_in_another_order_are_noticed() -> None:
    toy = replace(PLAIN, weights=None)
    fit = fitted(toy)
    turned = [own[::-1] for own in toy.labels]  # the same counts of labels
    assert turned != toy.labels
    assert not claim(fit, replace(toy, labels=turned)).ok


def test_a_penalty_of_nothing_does_not_make_an_optimum_exist() -> None:
    fit = fitted(PLAIN, prior=Elastic(), tol=1e-4)
    assert fit.certificate.exists == "undecided"
    assert "if there is one" in fit.certificate.claim
    assert fitted(PLAIN, prior=Elastic(c1=0.1)).certificate.exists == "yes"


def test_an_interrupt_and_the_claim_are_in_the_verdict() -> None:
    fit = fitted(PLAIN)
    assert "interrupted" in claim(fit, PLAIN, interrupted=True).verdict
    assert "posterior mode" in claim(fit, PLAIN).claim
    assert claim(fit, PLAIN).exists == "yes"
    assert claim(fit, PLAIN, prior=None).exists == "undecided"
    assert claim(fit, PLAIN, prior=None).moment_gap is not None


# Independence -------------------------------------------------------------------------------------------------


def spoilt(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, change: Any) -> None:
    right = getattr(module, name)

    def wrong(*args: Any) -> Any:
        result = right(*args)
        change(*args)
        return result

    monkeypatch.setattr(module, name, wrong)


def slightly(at: int) -> Any:
    """Return what changes an argument of a kernel by a ten-thousandth."""

    def change(*args: Any) -> None:
        args[at][...] *= 1.0001

    return change


FAULTS = {
    "exponentials": (LabelChain, kernels, "exponentiate", slightly(0)),
    "forward": (LabelChain, kernels, "forward", slightly(4)),
    "backward": (LabelChain, kernels, "backward", slightly(6)),
    "normalise": (LocalChain, kernels, "normalise", slightly(0)),
    "sums of single weights": (LabelChain, kernels, "add_few", slightly(7)),
    "scores": (LabelChain, kernels, "add_few_scores", slightly(7)),
    "scores of a MEMM": (LocalChain, kernels, "add_few_scores", slightly(7)),
    "steps of a MEMM": (LocalChain, kernels, "add_before", slightly(0)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_fitter_are_found(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    kind, module, name, change = FAULTS[fault]
    with monkeypatch.context() as patch:
        spoilt(patch, module, name, change)
        found = fitted(replace(PLAIN, weights=None), kind, max_iter=200)
    assert not found.certificate.ok, fault


def test_a_fitter_that_overlooks_the_weights_of_sequences_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "suffice.models.chain_design._by_sequence", lambda sequences, weights: np.ones(sequences.n_sequences)
    )
    assert not fitted(PLAIN).certificate.ok


def test_counts_of_the_statistics_are_counted_again() -> None:
    fit = fitted(PLAIN)
    need = Count(("label",))
    wrong = replace(fit.statistics, items_={**fit.statistics.items_, need: fit.statistics[need].scaled(1.5)})
    source = BlockSource(PLAIN.table)
    found = certify(
        Claim(fit.structure, fit.model, wrong, fit.log_likelihood, prior=fit.prior, point=fit.point, source=source)
    )
    assert not found.ok
    assert "second count of the data" in found.verdict


def test_a_long_sequence_loses_no_digits() -> None:
    toy = toy_of(1, 3, [20_000])
    fit = fitted(toy, prior=Elastic(c2=1.0), tol=1e-8)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.normalisation < 1e-11
