"""Published sequences: Darwin's text by n-grams, and the rainfall of Alofi as R's markovchain fits it.

Darwin's *Origin of Species* (``markov_text``): log-likelihoods and counts of n-grams, counted independently.
Alofi island's daily rain (``markov_chains``; Avery and Henderson, 1999), fitted by R's markovchain 0.9.1.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest
from tests.conftest import DATA

import suffice as sf

pytestmark = pytest.mark.data
DARWIN = sf.Sequences(text=DATA / "markov_text" / "darwin_origin.txt.xz", letters=True)
ALOFI = DATA / "markov_chains" / "alofi_rain.csv"
RAIN = sf.MarkovChain(1, variable="rain")


@functools.cache
def darwin_reference() -> dict[str, Any]:
    return json.loads((DATA / "markov_text" / "reference_markov_orders.json").read_text())


@functools.cache
def alofi_reference() -> dict[str, Any]:
    return json.loads((DATA / "markov_chains" / "reference.json").read_text())


@functools.cache
def darwin(order: int) -> sf.Fit:
    return sf.fit(sf.MarkovChain(order), DARWIN)


class TestDarwin:
    @pytest.mark.parametrize("order", [0, 1, 2])
    def test_log_likelihood_and_counts(self, order: int) -> None:
        fit, expected = darwin(order), darwin_reference()[f"order{order}"]
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.local["transitions"] == pytest.approx(expected["conditional_loglik_nats"], rel=1e-9)
        assert fit.n == darwin_reference()["n_chars"]
        assert "".join(map(str, fit.model.variable.labels)) == darwin_reference()["alphabet"]
        counts = fit.statistics[next(iter(fit.statistics))].table()
        transitions = counts[(slice(1, None),) * order]
        assert transitions.sum() == expected["n_transitions"]
        assert (transitions > 0).sum() == expected["n_distinct_grams"]
        assert (transitions.sum(axis=-1) > 0).sum() == expected["n_contexts"]
        bits = -fit.local["transitions"] / expected["n_transitions"] / np.log(2)
        assert bits == pytest.approx(expected["bits_per_char"], rel=1e-9)

    def test_some_transitions(self) -> None:
        model, examples = darwin(2).model, darwin_reference()["order2_examples"]
        assert examples
        for gram, (_, _, p) in examples.items():
            assert model.transition(gram[:2])[{"x": gram[2]}] == pytest.approx(p, rel=1e-12)


class TestAlofi:
    def table(self, name: str) -> np.ndarray:
        return np.array(alofi_reference()[name]["values"])

    def test_maximum_likelihood(self) -> None:
        fit = sf.fit(RAIN, ALOFI, certify="data")
        assert fit.certificate.ok
        assert list(fit.model.variable.labels) == alofi_reference()["alofi_mle"]["rows"]
        np.testing.assert_allclose(fit.model.transitions.values, self.table("alofi_mle"), atol=1e-9)
        counts = fit.statistics[sf.Count(("rain[-1]", "rain"))].table()
        np.testing.assert_array_equal(counts[1:], self.table("alofi_counts"))
        assert fit.local["transitions"] == pytest.approx(alofi_reference()["alofi_loglik"], abs=1e-9)

    def test_laplace_smoothing_is_the_posterior_mean_under_one_pseudo_count(self) -> None:
        fit = sf.fit(RAIN, ALOFI, prior=sf.Dirichlet(1.0))
        np.testing.assert_allclose(fit.model.transitions.values, self.table("alofi_laplace1"), atol=1e-9)

    def test_mode_under_two_pseudo_counts(self) -> None:
        fit = sf.fit(RAIN, ALOFI, prior=sf.Dirichlet(2.0), point="map")
        np.testing.assert_allclose(fit.model.transitions.values, self.table("alofi_map_dirichlet2"), atol=1e-9)
