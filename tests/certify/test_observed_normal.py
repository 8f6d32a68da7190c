"""Certificates of continuous models that were fitted to rows with gaps: derivatives, and models that are wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.certify import observed_mixed, observed_normal
from suffice.certify.claim import Claim
from suffice.certify.observed_discrete import Observed
from suffice.certify.observed_scores import worst_of
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.stats.available import CheckedSource

STRUCTURES = {
    "normal": sf.MultivariateNormal(["x", "y"]),
    "regressions": sf.DAG("x -> y"),
    "mixed": sf.DAG("A -> x; A -> y; x -> y"),
}


def table(n: int = 80) -> dict[str, list[Any]]:
    chance = np.random.default_rng(0)
    a = chance.integers(0, 2, n)
    x = chance.normal(size=n) + 2 * a
    y = 0.5 * x - a + chance.normal(size=n)
    columns = {"A": ["ab"[i] for i in a], "x": list(x), "y": list(y)}
    return {
        name: [None if gone else value for value, gone in zip(column, chance.random(n) < 0.3, strict=True)]
        for name, column in columns.items()
    }


def claim_of(structure: Any) -> Claim:
    fit = sf.fit(structure, table(), missing="em")
    source = CheckedSource(open_table(table(), structure.columns, missing=KEEP, continuous=structure.continuous))
    wanted = [sf.Moment((name,)) for name in ("x", "y")]
    return Claim(structure, fit.model, source.gather(wanted), fit.log_likelihood, source=source, incomplete=True)


def measured(claim: Claim) -> Observed:
    """Measure a network as such, and a normal distribution without a direction in its own way."""
    return observed_mixed.measured(claim) if isinstance(claim.structure, sf.DAG) else observed_normal.measured(claim)


def moved(model: Any, shift: float) -> Any:
    """The same model with the level of y moved."""
    if hasattr(model, "covariance"):
        return type(model)(model.names, model.mean + np.array([0.0, shift]), covariance=model.covariance)
    y = model.cpd("y")
    other = LinearGaussianCPD(y.family, y.intercept + shift, y.coefficients, y.variance)
    return sf.BayesianNetwork(model.dag, {node: other if node == "y" else model.cpd(node) for node in model.dag.nodes})


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_end_of_em_has_no_slope_and_a_moved_model_has(name: str) -> None:
    claim = claim_of(STRUCTURES[name])
    log_likelihood, residual, *_ = measured(claim)
    assert log_likelihood == pytest.approx(claim.log_likelihood, rel=1e-10)
    assert residual < 1e-8
    lower, slope, where, *_ = measured(replace(claim, model=moved(claim.model, 0.1)))
    assert lower < log_likelihood
    assert slope > 1e-3
    assert "y" in where


def test_the_slope_of_a_mean_is_that_of_the_likelihood() -> None:
    claim = claim_of(STRUCTURES["regressions"])
    model = moved(claim.model, 0.3)
    up, down = (measured(replace(claim, model=moved(model, h)))[0] for h in (1e-5, -1e-5))
    _, slope, where, *_ = measured(replace(claim, model=model))
    assert where == "the intercept of y"
    wanted = abs(up - down) / 2e-5 * float(model.cpd("y").sd[0]) / 80
    assert slope == pytest.approx(wanted, rel=1e-6)


def test_both_ways_of_asking_agree(monkeypatch: Any) -> None:
    claim = claim_of(STRUCTURES["mixed"])
    moved_claim = replace(claim, model=moved(claim.model, 0.2))
    listed = measured(moved_claim)
    monkeypatch.setattr(observed_mixed, "MOST", 1)
    asked = measured(moved_claim)
    assert asked[0] == pytest.approx(listed[0], rel=1e-10)
    assert asked[1] == pytest.approx(listed[1], rel=1e-8)


@pytest.mark.parametrize(
    ("node", "where"), [("A", "the table of A"), ("x", "the intercept of x"), ("y", "the intercept of y")]
)
def test_expected_statistics_that_are_not_numbers_are_noticed(node: str, where: str) -> None:
    claim = claim_of(STRUCTURES["mixed"])
    expected = {"A": np.array([30.0, 50.0]), "x": np.array([np.eye(2)] * 2), "y": np.array([np.eye(3)] * 2)}
    centres, spreads = {"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}
    assert np.isfinite(worst_of(claim, expected, centres, spreads, 80.0)[0].size)
    expected[node][(0,) if node == "A" else (0, 0, 1)] = np.nan
    found, _ = worst_of(claim, expected, centres, spreads, 80.0)
    assert (found.size, found.where) == (np.inf, where)
