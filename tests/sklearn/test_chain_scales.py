"""Chains of labels: features in any unit, sequences of any weight, maxima that do not exist, Ctrl-C in the proof."""

from __future__ import annotations

import signal
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.models.chain_twin import toy_of

import suffice as sf
from suffice.certify import chain as proof
from suffice.data.attributes import Vocabulary
from suffice.stats.chain_counts import ChainCount
from suffice.structures.label_chain import LabelChain

SHELLS = [sf.ChainCRF, sf.MEMM]


def noisy(scale: float = 1.0) -> tuple[list[Any], list[list[str]]]:
    rng = np.random.default_rng(1)
    values = [rng.normal(size=5) for _ in range(40)]
    labels = [["A" if value + rng.normal() * 0.7 > 0 else "B" for value in own] for own in values]
    return [[{"a": float(value) * scale} for value in own] for own in values], labels


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e6])
def test_the_unit_of_a_feature_has_no_say(shell: Any, scale: float) -> None:
    x, y = noisy()
    scaled = noisy(scale)[0]
    one, other = shell(c2=0).fit(x, y), shell(c2=0).fit(scaled, y)
    assert other.fit_.certificate.ok
    assert other.fit_.log_likelihood == pytest.approx(one.fit_.log_likelihood, rel=1e-6)
    np.testing.assert_allclose(other.model_.weights[:2] * scale, one.model_.weights[:2], rtol=1e-3)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_model_that_is_off_is_refused_whatever_the_unit(shell: Any) -> None:
    x, y = noisy(1e-6)
    early = shell(c2=0, max_iter=1)
    with pytest.warns(ConvergenceWarning):
        early.fit(x, y)
    assert not early.fit_.certificate.ok


@pytest.mark.parametrize("shell", SHELLS)
def test_small_weights_of_sequences_are_weights_too(shell: Any) -> None:
    x, y = noisy()
    one, other = shell(c2=0).fit(x, y), shell(c2=0).fit(x, y, sample_weight=np.full(40, 1e-8))
    np.testing.assert_allclose(other.model_.weights, one.model_.weights, atol=1e-4)


@pytest.mark.parametrize("shell", SHELLS)
def test_without_a_penalty_an_attribute_that_lacks_a_label_has_no_maximum(shell: Any) -> None:
    found = shell(c2=0).fit([[["a"], ["b"]], [["b"], ["b"]]], [["x", "y"], ["x", "y"]]).fit_.certificate
    assert found.exists == "no"
    assert found.verdict.startswith("The maximum conditional likelihood does not exist: 'a' never stands with 'y'")
    assert "c2 > 0" in found.verdict


def test_an_attribute_of_both_signs_may_lack_a_label() -> None:
    x = [[{"v": 1.0, "one": 1.0}, {"v": -1.0, "one": 1.0}, {"v": 0.5, "one": 1.0}, {"one": 1.0}, {"one": 1.0}]]
    found = sf.ChainCRF(c2=0).fit(x * 3, [["x", "x", "x", "y", "x"]] * 3).fit_.certificate
    assert found.exists != "no"


def test_ctrl_c_during_the_proof_keeps_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = noisy()
    whole = sf.ChainCRF().fit(x, y)
    monkeypatch.setattr(proof.SequenceBatch, "measured", lambda batch: signal.raise_signal(signal.SIGINT))
    with pytest.warns(ConvergenceWarning, match="the proof was interrupted"):
        kept = sf.ChainCRF().fit(x, y)
    np.testing.assert_array_equal(kept.model_.weights, whole.model_.weights)
    assert not kept.fit_.certificate.ok
    assert kept.predict(x) == whole.predict(x)
    assert "interrupted" in str(kept.fit_)


def test_counts_of_other_names_are_other_counts() -> None:
    toy = toy_of(0, 3, [3, 2])
    structure = toy.structure()
    other = LabelChain(Vocabulary(tuple(f"other {name}" for name in structure.vocabulary.names)))
    one, two = (sf.collect(each, toy.table) for each in (structure, other))
    needs = [next(need for need in held if isinstance(need, ChainCount)) for held in (one, two)]
    assert needs[0] != needs[1]
    with pytest.raises(sf.StatisticsError, match="different structures"):
        one + two


def test_the_end_of_steps_is_said_though_something_is_held_out() -> None:
    x, y = noisy()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        crf = sf.ChainCRF(c2=1e-4, max_iter=2, patience=100).fit(x, y, X_dev=x[:5], y_dev=y[:5])
    assert any("Not converged after 2 steps" in note.text for note in crf.fit_.notes)
    assert [each.category for each in caught] == [ConvergenceWarning]
