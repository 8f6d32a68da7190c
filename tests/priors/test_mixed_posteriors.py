"""Posteriors of networks that mix tables and regressions: files, predictions, ties, given distributions, intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.priors.point_posterior import PointPosterior

SEEDS = st.integers(0, 10**4)


def mixed_data(seed: int, n: int = 40) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    d = rng.integers(0, 2, n)
    x = rng.normal(size=n) + d
    y = 1 + x * (1 + d) + rng.normal(size=n)
    return {"d": np.array(["no", "yes"])[d], "x": x, "y": y}


MIXED = sf.DAG("d -> x; d -> y; x -> y")
PRIOR = sf.Priors(sf.BDeu(2), sf.NormalInverseGamma(2, 1.0, mean={"x": 0.5, "y": [1.0, 0.0]}))


@pytest.mark.parametrize("point", ["mean", "map"])
def test_fits_of_mixed_networks_are_certified_and_survive_files(point: str, tmp_path) -> None:
    fit = sf.fit(
        MIXED, mixed_data(1), prior=PRIOR if point == "mean" else sf.Priors(sf.K2(), *PRIOR.priors[1:]), point=point
    )
    assert fit.certificate.ok, fit.certificate.verdict
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert str(again) == str(fit)
    assert again.prior == fit.prior
    assert str(again.posterior.intervals()) == str(fit.posterior.intervals())
    new = mixed_data(2, 5)
    np.testing.assert_array_equal(again.posterior.log_predictive(new), fit.posterior.log_predictive(new))
    assert (
        again.posterior.sample(1, seed=3)[0].log_prob(new).tolist()
        == fit.posterior.sample(1, seed=3)[0].log_prob(new).tolist()
    )


def together(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return {name: np.concatenate([first[name], second[name]]) for name in first}


@given(seed=SEEDS)
@settings(max_examples=15)
def test_predictive_density_is_what_a_row_adds_to_the_evidence(seed: int) -> None:
    data, new = mixed_data(seed), mixed_data(seed + 1, 1)
    fit, more = (sf.fit(MIXED, rows, prior=PRIOR) for rows in (data, together(data, new)))
    gain = more.log_marginal_likelihood - fit.log_marginal_likelihood
    assert fit.posterior.log_predictive(new)[0] == pytest.approx(gain, rel=1e-8, abs=1e-8)


@given(seed=SEEDS, same=st.booleans())
@settings(max_examples=15)
def test_tied_regressions_learn_from_each_other_within_a_row(seed: int, same: bool) -> None:
    """Three nodes share one regression for each state of their own switch."""
    rng = np.random.default_rng(seed)
    dag = sf.DAG("a -> x; b -> y; c -> z; u -> x; u -> y; v -> z", tie=[("x", "y", "z")])

    def rows(n: int) -> dict[str, Any]:
        switches = {name: np.where(rng.random(n) < (0.9 if same else 0.5), "on", "off") for name in "abc"}
        return {**switches, **{name: rng.normal(size=n) for name in "uvxyz"}}

    data, new = rows(20), rows(1)
    data = {**data, "a": np.where(np.arange(20) % 2, "on", "off")}
    schema = {name: ["off", "on"] for name in "abc"}
    fit, more = (sf.fit(dag, part, prior=PRIOR_TIED, schema=schema) for part in (data, together(data, new)))
    assert fit.certificate.ok, fit.certificate.verdict
    gain = more.log_marginal_likelihood - fit.log_marginal_likelihood
    assert fit.posterior.log_predictive(new)[0] == pytest.approx(gain, rel=1e-8, abs=1e-8)


PRIOR_TIED = sf.Priors(sf.BDeu(2), sf.NormalInverseGamma(2, 1.0))


def test_given_regressions_are_left_alone_and_count_with_their_likelihood(tmp_path) -> None:
    given = {"intercept": 1.0, "coefficients": {"x": [1.0, 2.0]}, "sd": 1.0}
    data = mixed_data(3)
    fit = sf.fit(MIXED, data, prior=PRIOR, fixed={"y": given})
    posterior = fit.posterior["y"]
    assert isinstance(posterior, PointPosterior)
    assert posterior.log_marginal_likelihood == pytest.approx(fit.local["y"])
    assert posterior.mode() is posterior.mean()
    new = mixed_data(4, 1)
    more = sf.fit(MIXED, together(data, new), prior=PRIOR, fixed={"y": given})
    gain = more.log_marginal_likelihood - fit.log_marginal_likelihood
    assert fit.posterior.log_predictive(new)[0] == pytest.approx(gain)
    assert fit.posterior.sample(1, seed=1)[0].cpd("y").variance.tolist() == [1.0, 1.0]
    assert not any(name.startswith("y:") for name in fit.posterior.intervals())
    assert fit.certificate.ok, fit.certificate.verdict
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json").posterior["y"]
    assert again.log_marginal_likelihood == posterior.log_marginal_likelihood
    assert again.mean().coefficients.tolist() == [[1.0], [2.0]]


def test_intervals_of_a_network_name_every_parameter() -> None:
    intervals = sf.fit(MIXED, mixed_data(1), prior=PRIOR).posterior.intervals(0.9)
    names = ["p(d='no')", "p(d='yes')", "x: intercept | d='no'", "y: slope of x | d='yes'", "y: sd | d='yes'"]
    assert set(names) < set(intervals)
    assert len(intervals) == 2 + 2 * 2 + 2 * 3
    assert "0.9 credible intervals" in str(intervals)
    assert (intervals.numbers[:, 1] < intervals.numbers[:, 0]).all()
    assert (intervals.numbers[:, 0] < intervals.numbers[:, 2]).all()


def test_credible_intervals_of_answers_are_for_tables() -> None:
    fit = sf.fit(MIXED, mixed_data(1), prior=PRIOR)
    with pytest.raises(sf.ModelError, match=r"fit\.posterior\.intervals"):
        fit.query("d", interval=0.9)
