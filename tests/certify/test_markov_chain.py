"""The certificate of a Markov chain finds what is wrong with a chain, and nothing where nothing is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.markov_chain import MarkovChainModel

SEQUENCES = ["abcabbacab", "cabba", "b"]


def claim_of(fit: sf.Fit, **changes: Any) -> Claim:
    claim = Claim(fit.structure, fit.model, fit.statistics, fit.log_likelihood, fit.point, fit.prior, fit.posterior)
    return replace(claim, **changes)


def with_row(model: MarkovChainModel, known: int, row: int, values: list[float]) -> MarkovChainModel:
    """Return the chain with another row in one of its tables."""
    tables = list(model.tables)
    rows = np.array(tables[known].values)
    rows[row] = values
    tables[known] = TabularCPD(tables[known].family, rows)
    return MarkovChainModel(model.structure, model.variable, tuple(tables))


@pytest.mark.parametrize(("order", "known"), [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)])
def test_finds_a_wrong_row_wherever_it_is(order: int, known: int) -> None:
    fit = sf.fit(sf.MarkovChain(order), SEQUENCES)
    assert certify(claim_of(fit)).ok
    row = int(np.argmax(~np.isnan(fit.model.tables[known].values).any(axis=1)))
    wrong = certify(claim_of(fit, model=with_row(fit.model, known, row, [0.3, 0.3, 0.4])))
    assert not wrong.ok
    assert wrong.gradient_norm > 0.01
    assert "p(x" in wrong.worst


def test_finds_a_row_without_data_that_misses_its_total() -> None:
    fit = sf.fit(sf.MarkovChain(1), ["aab"], unseen_parents="uniform")
    model = with_row(fit.model, 1, 1, [0.5, 0.5])
    object.__setattr__(model.tables[1], "values", np.array([[0.5, 0.5], [0.5, 0.5 + 1e-6]]))  # which no one could build
    found = certify(claim_of(fit, model=model))
    assert found.gradient_norm == 0
    assert not found.ok
    assert "misses its total of one" in found.verdict


def test_finds_a_wrong_log_likelihood_and_a_wrong_point() -> None:
    fit = sf.fit(sf.MarkovChain(1), SEQUENCES)
    assert "log-likelihood" in certify(claim_of(fit, log_likelihood=fit.log_likelihood + 1e-3)).verdict
    smooth = sf.fit(sf.MarkovChain(1), SEQUENCES, prior=sf.Dirichlet(1.0))
    assert certify(claim_of(smooth)).ok
    assert not certify(claim_of(smooth, prior=sf.Dirichlet(1.1))).ok
    assert not certify(claim_of(smooth, prior=None, point="mle")).ok


def test_finds_a_chain_over_other_states() -> None:
    fit = sf.fit(sf.MarkovChain(1), SEQUENCES)
    other = sf.fit(sf.MarkovChain(1), [s.replace("c", "d") for s in SEQUENCES])
    found = certify(claim_of(fit, model=other.model))
    assert not found.ok
    assert "states are not those of the statistics" in found.verdict


def test_second_count_finds_other_data() -> None:
    chain = sf.MarkovChain(1)
    statistics = sf.collect(chain, SEQUENCES)
    right = sf.estimate(chain, statistics, data=SEQUENCES, certify="data")
    assert right.certificate.ok
    assert right.certificate.data_gap == 0
    wrong = sf.estimate(chain, statistics, data=[*SEQUENCES[:2], "c"], certify="data")
    assert not wrong.certificate.ok
    assert "second count" in wrong.certificate.verdict
