"""Slow statistical tests: posteriors are calibrated, and estimates have the sampling distribution they should have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import suffice as sf

pytestmark = pytest.mark.slow

REPLICATES = 600
DAG = sf.DAG("A -> B")
SCHEMA = {"A": ["x", "y"], "B": ["u", "v", "w"]}


def ranks(posterior_prior: sf.Dirichlet, truth_prior: float) -> np.ndarray:
    """Return the posterior distribution function at the true p(B=u | A=x), truth drawn from the prior."""
    draw = np.random.default_rng(20261115)
    values = []
    for replicate in range(REPLICATES):
        tables = {"A": draw.dirichlet([truth_prior] * 2), "B": draw.dirichlet([truth_prior] * 3, size=2)}
        network = sf.BayesianNetwork(DAG, tables, schema=SCHEMA)
        data = network.sample(40, seed=replicate)
        posterior = sf.fit(DAG, data, prior=posterior_prior, schema=SCHEMA).posterior["B"]
        a = posterior.concentration[0, 0]
        values.append(stats.beta.cdf(tables["B"][0, 0], a, posterior.concentration[0].sum() - a))
    return np.array(values)


def test_posterior_ranks_are_uniform() -> None:
    assert stats.kstest(ranks(sf.Dirichlet(1.5), 1.5), "uniform").pvalue > 0.001


def test_posterior_ranks_reveal_a_wrong_scale() -> None:
    """The test above would notice a posterior that is too sure of itself."""
    u = ranks(sf.Dirichlet(15.0), 1.5)
    assert stats.kstest(u, "uniform").pvalue < 0.001


def test_mle_errors_have_their_sampling_distribution() -> None:
    network = sf.BayesianNetwork(DAG, {"A": [0.3, 0.7], "B": [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]}, schema=SCHEMA)
    z = []
    for replicate in range(REPLICATES):
        fit = sf.fit(DAG, network.sample(400, seed=replicate), schema=SCHEMA)
        n_x = fit.statistics[sf.Count(("A", "B"))].table()[0].sum()
        z.append((fit.model.cpd("B").values[0, 0] - 0.2) / np.sqrt(0.2 * 0.8 / n_x))
    assert abs(np.mean(z)) < 4.5 / np.sqrt(REPLICATES)
    assert 0.85 < np.std(z) < 1.15
