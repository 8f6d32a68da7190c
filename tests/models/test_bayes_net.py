"""Bayesian networks as distributions: built by hand, evaluated, sampled, pickled and printed."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.learn.test_directed import Case, cases, cells_of

import suffice as sf
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD

BLOCK = 1 << 16
STATES = {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "wet": ["no", "damp", "yes"]}
DAG = sf.DAG("rain -> sprinkler; rain -> wet <- sprinkler")
TABLES: dict[str, Any] = {
    "rain": [0.75, 0.25],
    "sprinkler": [[0.5, 0.5], [0.9, 0.1]],
    "wet": [[[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]], [[0.1, 0.2, 0.7], [0.0, 0.05, 0.95]]],
}


@pytest.fixture
def lawn() -> sf.BayesianNetwork:
    return sf.BayesianNetwork(DAG, TABLES, schema=STATES)


def joint() -> dict[tuple[str, str, str], float]:
    """p(rain, sprinkler, wet), multiplied out."""
    result = {}
    for (i, rain), (j, on), (k, wet) in itertools.product(*(enumerate(states) for states in STATES.values())):
        result[rain, on, wet] = TABLES["rain"][i] * TABLES["sprinkler"][i][j] * TABLES["wet"][i][j][k]
    return result


# Building -----------------------------------------------------------------------------------------------------


def test_network_says_what_it_is(lawn: sf.BayesianNetwork) -> None:
    assert lawn.variables == ("rain", "sprinkler", "wet")
    assert lawn.schema["wet"].states == ("no", "damp", "yes")
    assert lawn.dag.parents["wet"] == ("rain", "sprinkler")
    assert lawn.cpd("wet").table[{"rain": "yes", "sprinkler": "off", "wet": "damp"}] == 0.2
    assert repr(lawn) == "BayesianNetwork(3 nodes, 3 edges)"


def test_network_keeps_its_own_numbers() -> None:
    given_table = np.array([0.75, 0.25])
    network = sf.BayesianNetwork(sf.DAG("rain"), {"rain": given_table}, schema=STATES | {"rain": ["no", "yes"]})
    given_table[:] = 0
    assert network.cpd("rain").values.tolist() == [[0.75, 0.25]]
    with pytest.raises(ValueError, match="read-only"):
        network.cpd("rain").values[0, 0] = 1
    with pytest.raises(AttributeError):
        network.dag = DAG  # type: ignore[misc]


@pytest.mark.parametrize(
    ("tables", "schema", "complaint"),
    [
        ({**TABLES, "snow": [1.0]}, STATES, "'snow', which is not a node"),
        ({"rain": TABLES["rain"], "wet": TABLES["wet"]}, STATES, "'sprinkler' has no table"),
        (TABLES, {"rain": ["no", "yes"], "wet": ["no", "damp", "yes"]}, "states of 'sprinkler' are not known"),
        ({**TABLES, "rain": [0.7, 0.2]}, STATES, "'rain'.*not a distribution"),
        ({**TABLES, "rain": [1.5, -0.5]}, STATES, "'rain'.*not a distribution"),
        ({**TABLES, "rain": [math.inf, 0.0]}, STATES, "'rain'.*not a distribution"),
        ({**TABLES, "rain": [math.nan, 1.0]}, STATES, "'rain'.*not a distribution"),
        ({**TABLES, "sprinkler": [[0.5, 0.5], [0.9, 0.2]]}, STATES, "rain='yes'.*not a distribution"),
        ({**TABLES, "rain": [[0.75, 0.25]]}, STATES, r"shape \(2,\).*Got shape \(1, 2\)"),
        ({**TABLES, "sprinkler": [0.5, 0.5]}, STATES, r"shape \(2, 2\)"),
    ],
)
def test_malformed_networks_are_explained(tables: Any, schema: Any, complaint: str) -> None:
    with pytest.raises(sf.SufficeError, match=complaint):
        sf.BayesianNetwork(DAG, tables, schema=schema)


def test_unknown_node_is_explained(lawn: sf.BayesianNetwork) -> None:
    with pytest.raises(sf.UnknownNameError, match="Did you mean 'rain'"):
        lawn.cpd("rains")


def test_a_distribution_can_be_asked_for_by_its_class(lawn: sf.BayesianNetwork) -> None:
    assert lawn.cpd("rain", TabularCPD) is lawn.cpd("rain")
    with pytest.raises(sf.ModelError, match="'rain' is a TabularCPD, not a LinearGaussianCPD"):
        lawn.cpd("rain", LinearGaussianCPD)


def test_tables_of_other_families_are_refused(lawn: sf.BayesianNetwork) -> None:
    tables = {node: lawn.cpd(node) for node in lawn.variables}
    with pytest.raises(sf.ModelError, match="'wet'"):
        sf.BayesianNetwork(sf.DAG({"rain": [], "sprinkler": ["rain"], "wet": ["sprinkler", "rain"]}), tables)
    other = TabularCPD(NodeFamily(sf.Variable("rain", ("maybe", "surely"))), np.array([[0.5, 0.5]]))
    with pytest.raises(sf.ModelError, match="states that differ"):
        sf.BayesianNetwork(DAG, {**tables, "rain": other})


def test_a_fitted_distribution_and_an_array_make_a_network() -> None:
    """The states are the same, whether they were found in the data or written down."""
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxyy"), "B": list("uvuu")})
    network = sf.BayesianNetwork(
        sf.DAG("A -> B"), {"A": [0.25, 0.75], "B": fit.model.cpd("B")}, schema={"A": ["x", "y"]}
    )
    assert network.cpd("B").table[{"A": "y", "B": "u"}] == 1


# Evaluating ---------------------------------------------------------------------------------------------------


def test_log_prob_multiplies_the_tables(lawn: sf.BayesianNetwork) -> None:
    expected = joint()
    columns = {name: [cell[i] for cell in expected] for i, name in enumerate(STATES)}
    found = lawn.log_prob(columns)
    assert np.exp(found).tolist() == pytest.approx(list(expected.values()), rel=1e-13, abs=0)
    assert found[list(expected).index(("no", "off", "yes"))] == -math.inf
    assert math.fsum(np.exp(found)) == pytest.approx(1, rel=1e-13)


@given(cases(weighted=False))
@settings(max_examples=40)
def test_log_prob_equals_the_product_of_cells_row_by_row(case: Case) -> None:
    fit = case.fit(prior=sf.Jeffreys())
    tables = {node: cells_of(fit.model.cpd(node)) for node in case.parents}
    rows = case.all_rows()
    found = fit.model.log_prob(rows)
    for i, value in enumerate(found):
        cells = [tables[v][*(rows[p][i] for p in above), rows[v][i]] for v, above in case.parents.items()]
        assert value == pytest.approx(math.fsum(map(math.log, cells)), rel=1e-12, abs=1e-12)
    assert math.fsum(np.exp(found)) == pytest.approx(1, rel=1e-11)


def test_log_prob_of_frames_in_any_column_order(lawn: sf.BayesianNetwork) -> None:
    import pandas
    import polars

    columns = {"wet": ["yes", "damp"], "sprinkler": ["on", "off"], "rain": ["no", "yes"], "other": [1, 2]}
    expected = [joint()["no", "on", "yes"], joint()["yes", "off", "damp"]]
    for frame in (columns, pandas.DataFrame(columns), polars.DataFrame(columns)):
        assert np.exp(lawn.log_prob(frame)).tolist() == pytest.approx(expected, rel=1e-13)


def test_log_prob_checks_its_data(lawn: sf.BayesianNetwork) -> None:
    with pytest.raises(sf.DataError, match="'wet'"):
        lawn.log_prob({"rain": ["no"], "sprinkler": ["on"]})
    with pytest.raises(sf.DataError, match="soaked"):
        lawn.log_prob({"rain": ["no"], "sprinkler": ["on"], "wet": ["soaked"]})
    with pytest.raises(sf.DataError, match="missing"):
        lawn.log_prob({"rain": ["no"], "sprinkler": ["on"], "wet": [None]})


def test_log_prob_is_nan_where_a_row_is_unknown() -> None:
    data = {"A": list("xy"), "B": list("uv"), "C": list("pq")}
    fit = sf.fit(sf.DAG("A -> C <- B"), data, unseen_parents="nan")
    found = fit.model.log_prob({"A": ["x", "x"], "B": ["v", "u"], "C": ["p", "q"]})
    assert math.isnan(found[0])
    assert found[1] == -math.inf


# Sampling -----------------------------------------------------------------------------------------------------


def test_samples_are_reproducible_by_seed_and_differ_without(lawn: sf.BayesianNetwork) -> None:
    first = lawn.sample(200, seed=5)
    assert first.equals(lawn.sample(200, seed=5))
    assert not first.equals(lawn.sample(200, seed=6))
    assert not lawn.sample(200).equals(lawn.sample(200))


@pytest.mark.parametrize("n", [1, 10, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 7])
def test_first_rows_do_not_depend_on_how_many_are_drawn(lawn: sf.BayesianNetwork, n: int) -> None:
    longest = lawn.sample(2 * BLOCK + 100, seed=3, backend="pandas")
    found = lawn.sample(n, seed=3, backend="pandas")
    assert len(found) == n
    assert found.equals(longest.head(n))


def test_blocks_are_not_copies_of_each_other(lawn: sf.BayesianNetwork) -> None:
    rows = lawn.sample(2 * BLOCK, seed=3, backend="pandas")
    head, tail = rows.head(BLOCK).reset_index(drop=True), rows.tail(BLOCK).reset_index(drop=True)
    assert 0.15 < (head == tail).all(axis=1).mean() < 0.25  # Σ p² = 0.197


def test_samples_follow_the_joint_distribution_across_blocks(lawn: sf.BayesianNetwork) -> None:
    """Pearson's X² over the 11 cells with probability, 10 degrees of freedom; 40 is exceeded once in 60,000 seeds."""
    n = 150_000
    rows = lawn.sample(n, seed=1, backend="pandas")
    counts = rows.groupby(list(STATES), observed=False).size().to_dict()
    expected = joint()
    assert sum(counts.values()) == n
    assert all(counts[cell] == 0 for cell, p in expected.items() if p == 0)
    x2 = sum((counts[cell] - n * p) ** 2 / (n * p) for cell, p in expected.items() if p > 0)
    assert x2 < 40


def test_a_network_is_recovered_from_its_samples(lawn: sf.BayesianNetwork) -> None:
    fit = sf.fit(DAG, lawn.sample(100_000, seed=2))
    assert fit.model.schema["wet"].states == ("no", "damp", "yes")
    for node in lawn.variables:
        assert np.abs(fit.model.cpd(node).values - lawn.cpd(node).values).max() < 0.02


def test_sampling_order_follows_the_graph_not_the_list_of_nodes() -> None:
    dag = sf.DAG({"C": ["B"], "B": ["A"], "A": []})
    tables = {"A": [0.5, 0.5], "B": [[1, 0], [0, 1]], "C": [[0, 1], [1, 0]]}
    rows = sf.BayesianNetwork(dag, tables, schema=dict.fromkeys("ABC", ("x", "y"))).sample(500, seed=0)
    assert list(rows.columns) == ["C", "B", "A"]
    assert (rows["A"] == rows["B"]).all()
    assert (rows["B"] != rows["C"]).all()
    assert rows["A"].nunique() == 2


def test_impossible_states_are_never_drawn() -> None:
    table = [0.0, 0.1, 0.0, 0.2, 0.7, 0.0]
    network = sf.BayesianNetwork(sf.DAG("A"), {"A": table}, schema={"A": list("abcdef")})
    assert set(network.sample(100_000, seed=0)["A"]) == {"b", "d", "e"}


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2**-53])
def test_ends_of_the_unit_interval_draw_possible_states(uniform: float) -> None:
    family = NodeFamily(sf.Variable("A", tuple("abcd")))
    for row in ([0.0, 0.1, 0.9, 0.0], [0, 1, 0, 0], [0.1] * 3 + [0.7], [1 - 1e-12, 1e-12, 0, 0]):
        cpd = TabularCPD(family, np.array([row]))
        drawn = int(cpd.sample({}, np.array([uniform]))[0])
        assert row[drawn] > 0


def test_unknown_rows_cannot_be_sampled_only_when_they_are_met() -> None:
    data = {"A": list("xy"), "B": list("uv")}
    schema = {"A": ["x", "y", "z"]}
    fit = sf.fit(sf.DAG("A -> B"), data, schema=schema, unseen_parents="nan")
    assert set(fit.model.sample(100, seed=0)["A"]) == {"x", "y"}
    fit = sf.fit(sf.DAG("A -> B"), data, schema=schema, unseen_parents="nan", fixed={"A": [0, 0, 1]})
    with pytest.raises(sf.ModelError, match=r"sample 'B'.*A='z'.*NaN.*unseen_parents"):
        fit.model.sample(10, seed=0)


def test_no_rows_can_be_drawn(lawn: sf.BayesianNetwork) -> None:
    rows = lawn.sample(0, seed=0)
    assert rows.shape == (0, 3)
    assert list(rows["wet"].cat.categories) == ["no", "damp", "yes"]


@pytest.mark.parametrize("n", [-1, 1.5, "ten", None, True])
def test_number_of_rows_is_checked(lawn: sf.BayesianNetwork, n: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="number of rows"):
        lawn.sample(n)


@pytest.mark.parametrize("seed", [-1, 1.5, "ten", True, 2**64])
def test_seed_is_checked(lawn: sf.BayesianNetwork, seed: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="seed"):
        lawn.sample(3, seed=seed)


@pytest.mark.parametrize("seed", [-1, 1.5, "ten"])
def test_seed_of_posterior_draws_is_checked(seed: Any) -> None:
    posterior = sf.fit(sf.DAG("A"), {"A": list("xy")}, prior=sf.K2()).posterior
    with pytest.raises(sf.ArgumentError, match="seed"):
        posterior.sample(1, seed=seed)
    with pytest.raises(sf.ArgumentError, match="seed"):
        posterior["A"].sample(3, seed=seed)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("states", [["no", "yes"], [3, 1], [False, True], [0.5, 1.5]])
def test_samples_come_in_every_kind_of_frame_and_go_back_in(backend: str, states: list[Any]) -> None:
    network = sf.BayesianNetwork(sf.DAG("A"), {"A": [0.25, 0.75]}, schema={"A": states})
    frame = network.sample(400, seed=0, backend=backend)
    assert type(frame).__module__.split(".")[0] == backend
    column = (
        frame["A"].to_list()
        if backend == "polars"
        else frame["A"].tolist()
        if backend == "pandas"
        else frame["A"].to_pylist()
    )
    assert set(column) == set(states)
    assert 60 < column.count(states[0]) < 140
    fit = sf.fit(sf.DAG("A"), frame, schema={"A": states})
    assert fit.n == 400
    assert fit.model.cpd("A").values[0, 0] == pytest.approx(column.count(states[0]) / 400)


def test_unknown_backend_is_explained(lawn: sf.BayesianNetwork) -> None:
    with pytest.raises(sf.ArgumentError, match="backend"):
        lawn.sample(3, backend="excel")


# Printing -----------------------------------------------------------------------------------------------------


def test_network_prints_every_table(lawn: sf.BayesianNetwork) -> None:
    printed = str(lawn)
    for title in ("p(rain)", "p(sprinkler | rain)", "p(wet | rain, sprinkler)"):
        assert title in printed
    assert "0.9500" in printed


def test_long_tables_are_cut_and_say_so() -> None:
    names = [f"P{i}" for i in range(7)]
    tables: dict[str, Any] = {name: [0.5, 0.5] for name in names}
    tables["Y"] = np.full((2,) * 8, 0.5)
    network = sf.BayesianNetwork(sf.DAG({"Y": names}), tables, schema=dict.fromkeys([*names, "Y"], ("a", "b")))
    printed = str(network.cpd("Y"))
    assert "… 68 more rows" in printed
    assert len(printed.splitlines()) == 1 + 2 + 60 + 1
    assert "… 68 more rows" in network.cpd("Y")._repr_html_()
    assert "more rows" not in str(network.cpd("P0"))


def test_a_child_of_many_states_goes_down_and_is_cut() -> None:
    states = [f"s{i:03}" for i in range(100)]
    tables = {"A": [0.5, 0.5], "B": np.full((2, 100), 0.01)}
    network = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": ["x", "y"], "B": states})
    printed = str(network.cpd("B"))
    assert "… 140 more rows" in printed
    assert max(map(len, printed.splitlines())) < 60


def test_probabilities_near_the_ends_are_not_printed_as_certain() -> None:
    network = sf.BayesianNetwork(sf.DAG("A"), {"A": [1e-9, 1 - 1e-9, 0.0]}, schema={"A": list("xyz")})
    assert [line.split()[-1] for line in str(network).splitlines()[-3:]] == ["<0.0001", ">0.9999", "0"]
