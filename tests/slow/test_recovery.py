"""Published networks are recovered: rows drawn from them, counted and fitted, err as sampling must make them err."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import suffice as sf

pytestmark = [pytest.mark.slow, pytest.mark.data]

NETWORKS = [
    *("alarm", "asia", "barley", "cancer", "earthquake", "hailfinder", "hepar2", "insurance", "mildew"),
    *("sachs", "survey", "water", "win95pts"),
]
N_ROWS = 1_000_000
LEVEL = 0.001
"""Chance that any cell of any network is refused although all is well."""
MIN_EXPECTED = 5
"""Cells that are expected less often are left out: whatever their count is, it says next to nothing."""


@pytest.fixture(scope="module")
def drawn(data_folder):
    """Return a function from a network's name to the network and a fit of rows that were drawn from it."""
    kept: dict[str, tuple] = {}

    def draw(name):
        if name not in kept:
            network = sf.read(data_folder / "networks_bif" / f"{name}.bif.gz")
            data = network.sample(N_ROWS, seed=20261115)
            kept[name] = network, sf.fit(network.dag, data, unseen_parents="nan")
        return kept[name]

    return draw


def cells_of(network, fit, node):
    """Return the true probability, the count, the row's count and the estimate of every cell of the rows with data."""
    cpd, fitted = network.cpd(node), fit.model.cpd(node)
    configurations, m = fit.statistics[sf.Count(cpd.family.scope)].rows()
    if configurations is None:
        configurations = np.argwhere(np.ones([parent.n_states for parent in cpd.family.parents], bool))
    n = m.sum(axis=1)
    seen = n > 0
    theta, estimate = (table.probabilities(configurations[seen]) for table in (cpd, fitted))
    return theta, m[seen], np.repeat(n[seen], m.shape[1]).reshape(theta.shape), estimate


def p_values(theta, m, n):
    """Return the chance of a count at least as far from its expectation, on both sides: exact binomial tails."""
    lower, upper = stats.binom.cdf(m, n, theta), stats.binom.sf(m - 1, n, theta)
    return np.minimum(1.0, 2 * np.minimum(lower, upper))


def is_tested(theta, n):
    """Return which cells are tested; conditionally on the parents' counts that is known before the child's."""
    return (n * theta >= MIN_EXPECTED) & (theta < 1)


def n_tested(network, fit):
    """Return how many cells of a network are tested."""
    cells = (cells_of(network, fit, node) for node in network.dag.nodes)
    return sum(int(is_tested(theta, n).sum()) for theta, _, n, _ in cells)


@pytest.fixture(scope="module")
def threshold(drawn):
    """Bonferroni: the level of the family, divided by the number of cells that are tested in all networks together."""
    return LEVEL / sum(n_tested(*drawn(name)) for name in NETWORKS)


def recovers(network, fit, threshold):
    """Whether every cell's count is one that sampling explains."""
    for node in network.dag.nodes:
        theta, m, n, estimate = cells_of(network, fit, node)
        assert np.array_equal(estimate, m / n)
        tested = is_tested(theta, n)
        smallest = p_values(theta[tested], m[tested], n[tested]).min(initial=1.0)
        if m[theta == 0].any() or smallest < threshold:
            return False
    return True


def test_the_list_is_that_of_all_networks_with_at_most_a_hundred_nodes(data_folder):
    found = []
    for path in sorted((data_folder / "networks_bif").glob("*.bif.gz")):
        if len(sf.read(path).dag.nodes) <= 100:
            found.append(path.name.removesuffix(".bif.gz"))
    assert found == NETWORKS


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_recovered_from_its_rows(drawn, threshold, name):
    network, fit = drawn(name)
    assert fit.certificate.ok
    assert fit.statistics.n_read == N_ROWS
    for node in network.dag.nodes:
        assert fit.model.schema[node].states == network.schema[node].states
    assert n_tested(network, fit) >= len(network.dag.nodes)
    assert recovers(network, fit, threshold)


@pytest.mark.parametrize("name", NETWORKS)
def test_errors_have_the_spread_of_sampling_and_no_less(drawn, name):
    """Fits that are too good, as of a table that was never sampled, would pass the test above and fail this one."""
    network, fit = drawn(name)
    z = []
    for node in network.dag.nodes:
        theta, m, n, _ = cells_of(network, fit, node)
        first = np.argmax(n * theta * (1 - theta), axis=1)  # one cell a row: the cells of one row depend on each other
        theta, m, n = (array[np.arange(len(first)), first] for array in (theta, m, n))
        usual = n * theta * (1 - theta) >= 25
        z.append(((m - n * theta) / np.sqrt(n * theta * (1 - theta), where=usual, out=np.ones_like(theta)))[usual])
    z = np.concatenate(z)
    assert len(z) >= 5
    low, high = stats.chi2.ppf([LEVEL / 100, 1 - LEVEL / 100], len(z)) / len(z)
    assert 0.95 * low < np.mean(z**2) < 1.05 * high


@pytest.mark.parametrize("name", NETWORKS)
def test_one_parameter_moved_by_six_standard_errors_is_noticed(drawn, threshold, name):
    """The truth is moved at the cell that its row's count determines best, away from the estimate.

    Towards the estimate, the cell's own error would count against the six: with some 46,000 tests the bound itself
    lies at 5.6 standard errors. Where n θ (1 − θ) is small, the move would change the standard error, too.
    """
    network, fit = drawn(name)
    cells = {node: cells_of(network, fit, node) for node in network.dag.nodes}
    information = {node: n * theta * (1 - theta) for node, (theta, _, n, _) in cells.items()}
    node = max(information, key=lambda node: information[node].max())
    theta, m, n, _ = cells[node]
    row, state = np.unravel_index(np.argmax(information[node]), theta.shape)
    error = np.sqrt(theta[row, state] * (1 - theta[row, state]) / n[row, state])
    sign = 1 if m[row, state] / n[row, state] <= theta[row, state] else -1
    assert recovers(network, fit, threshold)
    assert not recovers(moved(network, fit, node, row, state, 6 * sign * error), fit, threshold)
    assert recovers(moved(network, fit, node, row, state, sign * error), fit, threshold)


def moved(network, fit, node, row, state, shift):
    """Return the network with one parameter of one row with data shifted, the rest of its row scaled to make room."""
    cpd = network.cpd(node)
    table = np.array(cpd.values)
    _, m = fit.statistics[sf.Count(cpd.family.scope)].rows()
    position = np.flatnonzero(m.sum(axis=1) > 0)[row]
    theta = table[position]
    wrong = theta * (1 - theta[state] - shift) / (1 - theta[state])
    wrong[state] = theta[state] + shift
    table[position] = wrong
    shape = [variable.n_states for variable in cpd.family.variables]
    tables = {other.family.child.name: other for other in network.cpds}
    tables[node] = sf.BayesianNetwork(
        sf.DAG({parent.name: [] for parent in cpd.family.parents} | {node: [p.name for p in cpd.family.parents]}),
        {p.name: np.full(p.n_states, 1 / p.n_states) for p in cpd.family.parents} | {node: table.reshape(shape)},
        schema={variable.name: variable for variable in cpd.family.variables},
    ).cpd(node)
    return sf.BayesianNetwork(network.dag, tables)


def test_a_state_that_cannot_occur_is_noticed_when_it_does(drawn, threshold):
    network, fit = drawn("asia")
    theta, m, _, _ = cells_of(network, fit, "either")
    assert (theta == 0).any()
    assert not m[theta == 0].any()
    asia = network.cpd("asia").values[0]
    impossible = moved(network, fit, "asia", 0, 0, -asia[0])
    assert impossible.cpd("asia").values[0, 0] == 0
    assert not recovers(impossible, fit, threshold)
