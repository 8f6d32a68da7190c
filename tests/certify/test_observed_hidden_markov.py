"""Proof of hidden Markov models: the likelihood and its slopes are those that numerical differentiation finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.models.hidden_twin import some_model

import suffice as sf
from suffice.certify import observed_hidden_markov
from suffice.certify.claim import Claim
from suffice.certify.observed_hidden_markov import LogPass, measured
from suffice.data.stream import KEEP
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD
from suffice.stats.source import BlockSource
from suffice.stats.statistics import Statistics
from suffice.stats.sums import Sums


def some_data(model: sf.HiddenMarkovModel, seed: int) -> dict[str, Any]:
    """Draw sequences of several lengths, of which values are missing."""
    drawn = next(model.open(model.sample(1, 700, seed=seed)).blocks()).columns
    rng = np.random.default_rng(seed)
    x = np.array(["a", "b", "c"], object)[drawn["x"]]
    x[rng.random(700) < 0.1] = None
    y = drawn["y"].copy()
    y[rng.random(700) < 0.1] = np.nan
    return {"id": np.repeat([0, 1, 2, 3], [600, 1, 19, 80]), "x": x.tolist(), "y": y}


def claim_of(model: sf.HiddenMarkovModel, data: Any, **more: Any) -> Claim:
    source = BlockSource(model.open(sf.Sequences(data, variable=["x", "y"], id="id"), missing=KEEP))
    return Claim(model.structure, model, Statistics(model.schema, {}, 0.0), 0.0, source=source, **more)


@pytest.mark.parametrize("short", [256, 7])
def test_likelihood_and_counts_are_those_of_the_fitter(short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed_hidden_markov, "SHORT", short)
    model = some_model(2, k=3)
    claim = claim_of(model, some_data(model, 1))
    block = next(claim.source.table.blocks())
    (found,) = LogPass(model)(block).values()
    wanted = model.chain.expected(block.columns, block.columns.offsets, block.columns.weights)
    assert found.values[0] == pytest.approx(wanted.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(found.values[1:4], wanted.first, atol=1e-10)
    np.testing.assert_allclose(found.values[4:13], wanted.pairs.reshape(-1), rtol=1e-10)
    np.testing.assert_allclose(found.values[13:22], wanted.sums[0].T.reshape(-1), rtol=1e-10)


def moved(model: sf.HiddenMarkovModel, place: int, row: int, column: int, by: float) -> sf.HiddenMarkovModel:
    """Return the model with one parameter moved, in the units in which slopes are told."""
    tables = list(model.tables)
    cpd = tables[place]
    if isinstance(cpd, LinearGaussianCPD):
        mean, sd = cpd.intercept.copy(), cpd.sd
        mean[row] += by * sd[row] * (column == 0)
        sd[row] *= np.exp(by * (column == 1))
        tables[place] = LinearGaussianCPD(cpd.family, mean, np.zeros((len(mean), 0)), sd**2)
    else:
        values = cpd.values.copy()
        values[row, column] *= np.exp(by)
        tables[place] = TabularCPD(cpd.family, values / values.sum(axis=1, keepdims=True))
    return sf.HiddenMarkovModel(model.structure, tables[0], tables[1], tuple(tables[2:]))


def test_slopes_that_are_not_numbers_are_infinite(monkeypatch: pytest.MonkeyPatch) -> None:
    model, measure = some_model(2), LogPass.__call__

    def unknown(task: LogPass, block: Any) -> Any:
        found = measure(task, block)
        values = found[task.need].values.copy()
        values[-1] = np.nan  # by the spread of a normal distribution
        return {task.need: Sums(task.need.name, values)}

    monkeypatch.setattr(LogPass, "__call__", unknown)
    _, residual, where, *_ = measured(claim_of(model, some_data(model, 1)))
    assert (residual, where) == (np.inf, "p(y | z)")


@pytest.mark.parametrize("point", ["mle", "mean", "map"])
def test_largest_slope_is_that_of_the_objective(point: str) -> None:
    model = some_model(4)
    data = some_data(model, 2)
    prior = None if point == "mle" else sf.Dirichlet(2.5)
    log_likelihood, residual, where, *_ = measured(claim_of(model, data, prior=prior, point=point))
    sequences = sf.Sequences(data, variable=["x", "y"], id="id")
    assert log_likelihood == pytest.approx(model.log_likelihood(sequences), rel=1e-12)

    def objective(at: sf.HiddenMarkovModel) -> float:
        tables = [cpd.values for cpd in at.tables if isinstance(cpd, TabularCPD)]
        alpha = {"mle": 0.0, "mean": 2.5, "map": 1.5}[point]
        return at.log_likelihood(sequences) + sum(alpha * np.log(values).sum() for values in tables)

    slopes = {}
    for place, cpd in enumerate(model.tables):
        shape = cpd.values.shape if isinstance(cpd, TabularCPD) else (2, 2)
        for row, column in np.ndindex(*shape):
            ends = [objective(moved(model, place, row, column, by)) for by in (1e-4, -1e-4)]
            slopes[place, row, column] = abs(ends[0] - ends[1]) / 2e-4 / 700
    largest = max(slopes, key=lambda at: slopes[at])
    assert residual == pytest.approx(slopes[largest], rel=1e-5)
    assert where == ["p(z)", "p(z | z[-1])", "p(x | z)", "p(y | z)"][largest[0]]


def test_a_fit_that_is_none_is_not_certified() -> None:
    model = some_model(3)
    data = some_data(model, 3)
    assert measured(claim_of(model, data))[1] > 1e-4
    fit = sf.fit(model.structure, sf.Sequences(data, variable=["x", "y"], id="id"), init=model, missing="em")
    assert fit.certificate.ok, fit.certificate.verdict
    assert measured(claim_of(fit.model, data))[1] < 1e-8


def test_a_state_that_no_sequence_enters_is_no_trouble() -> None:
    chain = sf.MarkovChain(latent={"z": 2}, variable="x")
    shows = {"x": {"mean": [0.0, 1.0], "sd": 1.0}}
    start = sf.HiddenMarkovModel.of(chain, {"x": None}, [1, 0], [[1, 0], [0.5, 0.5]], shows)
    fit = sf.fit(chain, [[0.0, 1.0, 0.4, 0.2]], init=start)
    (cpd,) = fit.model.shows
    assert np.isnan(cpd.intercept).tolist() == [False, True]
    assert fit.certificate.ok, fit.certificate.verdict
