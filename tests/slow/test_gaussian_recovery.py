"""Published Gaussian and mixed networks are recovered: streams drawn from them err as sampling must make them err.

Given the parents' values, least squares is exactly normal around the true coefficients, and residual squares over the
true variance are exactly chi-squared; so every parameter has an exact test, whatever the network.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests import published_networks
from tests.conftest import DATA

import suffice as sf

pytestmark = [pytest.mark.slow, pytest.mark.data]

NETWORKS = published_networks.names(DATA)
N_ROWS = 1_000_000
LEVEL = 0.001
"""Chance that any parameter of any network is refused although all is well."""


def stream(model, n, seed):
    """Return rows drawn from a model, as a stream that is read once."""
    import pyarrow as pa

    def batches():
        for block in model.sample_blocks(n, seed=seed):
            columns = {}
            for variable in model.schema.variables:
                values = pa.array(block.columns[variable.name])
                if variable.is_discrete:
                    values = pa.DictionaryArray.from_arrays(values.cast(pa.int32()), pa.array(list(variable.labels)))
                columns[variable.name] = values
            yield pa.record_batch(columns)

    first = next(model.sample_blocks(1, seed=seed))
    assert first.n_rows == 1
    rows = batches()
    head = next(rows)
    return pa.RecordBatchReader.from_batches(head.schema, (batch for part in ([head], rows) for batch in part))


@pytest.fixture(scope="module")
def drawn():
    """Return a function from a network's name to the network and a fit of rows that were drawn from it."""
    kept: dict[str, tuple] = {}

    def draw(name):
        if name not in kept:
            network = published_networks.network(DATA, name)
            kept[name] = network, sf.fit(network.dag, stream(network, N_ROWS, seed=20261116))
        return kept[name]

    return draw


def p_values(truth, fit):
    """Return the p-value of every parameter of a network, by (node, what, row, place)."""
    found = {}
    for node in truth.dag.nodes:
        true, cpd = truth.cpd(node), fit.model.cpd(node)
        if cpd.kind == "tabular":
            (m,) = (fit.statistics[sf.Count(cpd.family.scope)].table(),)
            n = m.sum(axis=-1, keepdims=True)
            theta = true.values.reshape(m.shape)
            tail = np.minimum(stats.binom.cdf(m, n, theta), stats.binom.sf(m - 1, n, theta))
            found |= {(node, "p", 0, k): min(1.0, 2 * p) for k, p in enumerate(tail.reshape(-1))}
            continue
        xs = [*(v.name for v in cpd.family.continuous), node]
        moments = fit.statistics[sf.Moment(tuple(xs), tuple(v.name for v in cpd.family.discrete))]
        p = len(xs)
        for row in range(len(cpd.variance)):
            n = float(moments.weight.reshape(-1)[row])
            scatter = moments.scatter.reshape(-1, p, p)[row][:-1, :-1]
            mean = moments.mean.reshape(-1, p)[row][:-1]
            inverse = np.linalg.inv(scatter) if p > 1 else np.zeros((0, 0))
            v = true.variance[row]
            errors = np.sqrt(v * np.append(1 / n + mean @ inverse @ mean, np.diag(inverse)))
            gaps = np.append(cpd.intercept[row], cpd.coefficients[row])
            gaps = gaps - np.append(true.intercept[row], true.coefficients[row])
            for place, p_value in enumerate(2 * stats.norm.sf(np.abs(gaps / errors))):
                found[node, "coefficient", row, place] = float(p_value)
            squares = n * cpd.variance[row] / v
            tails = stats.chi2.cdf(squares, n - p), stats.chi2.sf(squares, n - p)
            found[node, "variance", row, 0] = 2 * float(min(tails))
    return found


@pytest.fixture(scope="module")
def threshold(drawn):
    """Bonferroni: the level of the family, divided by the number of parameters of all networks together."""
    return LEVEL / sum(len(p_values(*drawn(name))) for name in NETWORKS)


def test_all_networks_are_there():
    assert len(NETWORKS) >= 20


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_recovered_from_its_stream(drawn, threshold, name):
    network, fit = drawn(name)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.statistics.n_read == N_ROWS
    assert len(p_values(network, fit)) >= fit.n_free
    assert min(p_values(network, fit).values()) > threshold


def test_errors_are_no_smaller_than_sampling_makes_them(drawn):
    """Parameters copied from the truth would pass the test above; p-values must be uniform, so some are small."""
    values = np.concatenate([list(p_values(*drawn(name)).values()) for name in NETWORKS])
    low, high = stats.binom.ppf([LEVEL, 1 - LEVEL], len(values), 0.5) / len(values)
    assert low - 0.05 < np.mean(values < 0.5) < high + 0.05
    assert values.min() < 0.05


@pytest.mark.parametrize("what", ["coefficients", "variance"])
@pytest.mark.parametrize("name", NETWORKS)
def test_one_parameter_moved_by_six_standard_errors_is_noticed(drawn, threshold, name, what):
    """The truth of one parameter of the last node is moved, away from its estimate."""
    network, fit = drawn(name)
    node = max(network.dag.nodes, key=lambda node: len(network.dag.parents[node]))
    true, cpd = network.cpd(node), fit.model.cpd(node)
    xs = [*(v.name for v in cpd.family.continuous), node]
    moments = fit.statistics[sf.Moment(tuple(xs), tuple(v.name for v in cpd.family.discrete))]
    p, v, n = len(xs), true.variance[0], float(moments.weight.reshape(-1)[0])
    if what == "coefficients":
        error = np.sqrt(v * np.linalg.inv(moments.scatter.reshape(-1, p, p)[0][:-1, :-1])[0, 0])
    else:
        error = v * np.sqrt(2 / (n - p))
    values = np.array(getattr(true, what))
    flat = values.reshape(-1)
    sign = 1 if getattr(cpd, what).reshape(-1)[0] <= flat[0] else -1
    flat[0] += 6 * sign * error
    tables = {name: network.cpd(name) for name in network.dag.nodes} | {node: replace(true, **{what: values})}
    moved = sf.BayesianNetwork(network.dag, tables)
    assert min(p_values(network, fit).values()) > threshold
    assert min(p_values(moved, fit).values()) < threshold
