"""Exact answers of networks with continuous variables: against full enumeration, quadrature and published numbers."""

from __future__ import annotations

import itertools
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.models.mixed_twin import Twin, log_normal, networks, questions

import suffice as sf
from suffice.models.normal_mixture import NormalMixture
from suffice.models.row_answers import RowAnswers
from suffice.models.row_moments import RowMoments

DATA = Path(os.environ.get("SUFFICE_DATA", "../shared/data"))


def close(found: Any, expected: Any, rtol: float = 1e-8, atol: float = 1e-9) -> bool:
    return bool(np.allclose(found, expected, rtol=rtol, atol=atol))


@pytest.fixture
def plant() -> sf.BayesianNetwork:
    """A fault changes a pressure and how a gauge reads it; an alarm may sound by the fault alone."""
    return sf.BayesianNetwork(
        sf.DAG("fault -> pressure; fault -> alarm; pressure -> gauge <- fault; gauge -> log"),
        {
            "fault": [0.9, 0.1],
            "alarm": [[0.99, 0.01], [0.2, 0.8]],
            "pressure": {"intercept": [1.0, 3.0], "sd": [0.5, 1.0]},
            "gauge": {"intercept": [0.0, 0.5], "coefficients": {"pressure": [1.0, 0.8]}, "sd": [0.1, 0.3]},
            "log": {"intercept": 0.0, "coefficients": {"gauge": 2.0}, "sd": 0.2},
        },
        schema={"fault": ["no", "yes"], "alarm": ["off", "on"]},
    )


# Against the twin ---------------------------------------------------------------------------------------------


@given(questions())
@settings(max_examples=150, deadline=None)
def test_all_answers_equal_full_enumeration(question: Any) -> None:
    network, evidence, free = question
    twin = Twin(network, evidence)
    if twin.log_evidence() == -np.inf:
        assert network.log_evidence(evidence) == -np.inf
        with pytest.raises(sf.ModelError, match="impossible"):
            network.marginals(evidence)
        return
    assert close(network.log_evidence(evidence), twin.log_evidence())
    discrete = [name for name in free if name.startswith("d")]
    continuous = [name for name in free if name.startswith("x")]
    if discrete:
        assert close(network.query(discrete, evidence).values, twin.table(discrete))
    for targets in (continuous, free):
        if not set(targets) & set(continuous):
            continue
        answer = network.query(targets, evidence)
        mean, covariance = twin.moments(continuous)
        assert answer.names == tuple(continuous)
        assert close(answer.mean, mean)
        assert close(answer.covariance, covariance)
    if discrete and continuous:
        both = network.query(free, evidence)
        assert close(both.table.values, twin.table(discrete))
        for labels in both.to_frame("pyarrow").select(discrete).to_pylist():
            mean, covariance = twin.moments(continuous, labels)
            assert close(both[labels].mean, mean)
            assert close(both[labels].covariance, covariance)


@given(questions())
@settings(max_examples=80, deadline=None)
def test_marginals_are_the_single_queries(question: Any) -> None:
    network, evidence, free = question
    twin = Twin(network, evidence)
    assume(twin.log_evidence() > -np.inf)
    found = network.marginals(evidence)
    assert [name for name in found if name in free] == [name for name in network.schema if name in free]
    for name in free:
        if name.startswith("d"):
            assert close(found[name].values, twin.table([name]))
        else:
            assert close(found[name].mean, twin.moments([name])[0])
            assert close(found[name].covariance, twin.moments([name])[1])


@given(questions())
@settings(max_examples=60, deadline=None)
def test_marginals_one_by_one_equal_those_solved_together(question: Any) -> None:
    network, evidence, _ = question
    assume(network.log_evidence(evidence) > -np.inf)
    together = network.marginals(evidence)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.inference.conditional_gaussian.CHUNK", 0)
        apart = network.marginals(evidence)
    assert list(together) == list(apart)
    for name, answer in together.items():
        if name.startswith("d"):
            assert close(answer.values, apart[name].values)
        else:
            assert close(answer.mean, apart[name].mean)
            assert close(answer.covariance, apart[name].covariance)


@given(questions())
@settings(max_examples=100, deadline=None)
def test_the_most_likely_assignment_has_the_greatest_density(question: Any) -> None:
    network, evidence, _ = question
    twin = Twin(network, evidence)
    assume(twin.log_evidence() > -np.inf)
    best = network.map(evidence)
    greatest, states, values = twin.greatest()
    assert set(best) == {name for name in network.schema if not isinstance(evidence.get(name), str | float)}
    assert close(best.log_prob, greatest)
    assert close(best.log_posterior, greatest - twin.log_evidence())
    if not best.ties:
        assert {name: label for name, label in best.items() if name.startswith("d")} == {
            name: label for name, label in states.items() if name in best
        }
        assert close([best[name] for name in twin.rest], values)


@given(questions(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_the_most_likely_assignment_of_targets_has_the_greatest_marginal_density(question: Any, random: Any) -> None:
    network, evidence, _ = question
    twin = Twin(network, evidence)
    assume(twin.log_evidence() > -np.inf)
    free = [name for name in network.schema if not isinstance(evidence.get(name), str | float)]
    assume(free)
    targets = random.sample(free, random.randint(1, len(free)))
    values = [name for name in targets if name in twin.rest]
    if values:  # their density is normal given all states, and otherwise a mixture
        targets += [name for name in free if name.startswith("d") and name not in targets]
    states = [v for v in network.schema.variables if v.name in targets and v.is_discrete]
    best = network.map(evidence, targets=targets)
    assert list(best) == targets
    tops = []
    for labels in itertools.product(*(v.labels for v in states)):
        where = dict(zip([v.name for v in states], labels, strict=True))
        held = Twin(network, evidence)
        held.cases = [case for case in twin.cases if all(case[0][name] == label for name, label in where.items())]
        if held.cases:
            mean, covariance = held.moments(values) if values else (np.zeros(0), np.zeros((0, 0)))
            tops.append((held.log_evidence() + log_normal(mean, mean, covariance), where, mean))
    greatest, where, mean = max(tops, key=lambda top: top[0])
    assert close(best.log_prob, greatest)
    assert close(best.log_posterior, greatest - twin.log_evidence())
    if not best.ties:
        assert {name: best[name] for name in where} == where
        assert close([best[name] for name in values], mean)


def test_values_whose_mode_has_no_closed_form_are_refused() -> None:
    rows = {"group": ["a", "a", "b", "b"] * 5, "size": [0.0, 1.0, 9.0, 10.0] * 5, "age": [1.0, 2.0, 3.0, 4.0] * 5}
    network = sf.fit(sf.DAG("group -> size; age"), rows).model
    with pytest.raises(sf.ModelError, match=r"'size' has no closed form with \['group'\] summed out"):
        network.map(targets="size")
    assert dict(network.map(targets=["age"])) == pytest.approx({"age": 2.5})
    assert network.map({"group": "b"}, targets="size")["size"] == pytest.approx(9.5)
    assert dict(network.map({"size": 8.0}, targets="group")) == {"group": "b"}
    assert list(network.map(targets=["size", "group"])) == ["size", "group"]


@given(questions(max_discrete=2, max_continuous=3))
@settings(max_examples=60, deadline=None)
def test_answers_about_rows_are_the_answers_about_each(question: Any) -> None:
    network, evidence, free = question
    assume(free)
    random = np.random.default_rng(1)
    columns: dict[str, list[Any]] = {}
    for variable in network.schema.variables:
        if variable.name in evidence:
            drawn = (
                random.choice(variable.labels, 6).tolist() if variable.is_discrete else random.normal(size=6).tolist()
            )
            columns[variable.name] = [None if random.random() < 0.2 else value for value in drawn]
    assume(columns)
    schema_free = {name: values for name, values in columns.items() if any(value is not None for value in values)}
    assume(schema_free)
    targets = free[:2]
    assert targets
    for target in targets:
        found = network.query_rows(target, schema_free)
        assert isinstance(found, RowAnswers if target.startswith("d") else RowMoments)
        for row in range(6):
            seen = {name: values[row] for name, values in schema_free.items() if values[row] is not None}
            twin = Twin(network, seen)
            assert close(found.log_evidence[row], twin.log_evidence())
            if twin.log_evidence() == -np.inf:
                assert np.isnan(found.values[row] if target.startswith("d") else found.mean[row]).all()
            elif target.startswith("d"):
                assert close(found.values[row], twin.table([target]))
            else:
                assert close(found.mean[row], twin.moments([target])[0])
                assert close(found.covariance[row], twin.moments([target])[1])


@given(questions())
@settings(max_examples=40, deadline=None)
def test_log_prob_of_an_answer_is_that_of_the_enumerated_mixture(question: Any) -> None:
    network, evidence, free = question
    twin = Twin(network, evidence)
    continuous = [name for name in free if name.startswith("x")]
    assume(continuous and twin.log_evidence() > -np.inf)
    answer = network.query(continuous, evidence)
    x = np.linspace(-1, 2, len(continuous))
    assert close(answer.log_prob({name: [value] for name, value in zip(continuous, x, strict=True)}),
                 twin.log_density(continuous, x), rtol=1e-7)  # fmt: skip


# Against integration ------------------------------------------------------------------------------------------


def test_evidence_and_means_equal_numerical_integration(plant: sf.BayesianNetwork) -> None:
    """Sums over a fine grid, which are exact for smooth densities that vanish at its ends."""
    pressure, gauge = (axis.reshape(-1) for axis in np.meshgrid(np.linspace(-4, 9, 521), np.linspace(-1, 4, 401)))
    n, cell = len(pressure), 13 / 520 * 5 / 400
    density = np.zeros(n)
    for fault in (0, 1):
        codes = {"fault": np.full(n, fault), "alarm": np.ones(n, np.int64)}
        density += np.exp(plant.log_prob_of({**codes, "pressure": pressure, "gauge": gauge, "log": np.full(n, 3.0)}, n))
    total, mean = density.sum() * cell, (density * pressure).sum() / density.sum()
    variance = (density * (pressure - mean) ** 2).sum() / density.sum()
    seen = {"alarm": "on", "log": 3.0}
    assert plant.log_evidence(seen) == pytest.approx(math.log(total), abs=1e-9)
    assert plant.query("pressure", seen).mean[0] == pytest.approx(mean, abs=1e-9)
    assert plant.query("pressure", seen).covariance[0, 0] == pytest.approx(variance, rel=1e-9)


def test_a_joint_normal_equals_the_published_one() -> None:
    path = DATA / "bnlearn_reference" / "gaussian.test.json"
    if not path.exists():
        assert "data" not in os.environ.get("SUFFICE_REQUIRE", "")
        pytest.skip("the shared data is not there")
    reference = json.loads(path.read_text(encoding="utf-8"))
    tables = {}
    for name, node in reference["fit_mle"].items():
        slopes = {parent: node["coefficients"][parent] for parent in node["parents"]}
        tables[name] = {"intercept": node["coefficients"]["(Intercept)"], "coefficients": slopes, "sd": node["sd"]}
    joint = sf.BayesianNetwork(sf.DAG(reference["modelstring"]), tables).to_joint_normal()
    order = reference["mvnorm"]["order"]
    joint = joint.marginal(order)
    assert close(joint.mean, [reference["mvnorm"]["mu"][name] for name in order], rtol=1e-9, atol=1e-9)
    sigma = [[row[name] for name in order] for row in reference["mvnorm"]["sigma"]]
    assert close(joint.covariance, sigma, rtol=1e-9, atol=1e-9)


# Kinds of answers ---------------------------------------------------------------------------------------------


def test_the_kind_of_answer_follows_the_question(plant: sf.BayesianNetwork) -> None:
    assert isinstance(plant.query("fault", {"log": 3.0}), sf.LabelledTable)
    assert isinstance(plant.query("pressure", {"fault": "no"}), sf.JointNormal)
    assert isinstance(plant.query("pressure", {"gauge": 1.0}), NormalMixture)
    both = plant.query(["pressure", "alarm"], {"gauge": 1.0})
    assert [variable.name for variable in both.targets] == ["alarm"]
    assert [variable.name for variable in both.hidden] == ["fault"]
    assert both.variables == ("alarm", "pressure")
    assert isinstance(plant.marginal("alarm"), sf.LabelledTable)
    assert isinstance(plant.marginal("gauge"), NormalMixture)


def test_a_gaussian_network_answers_as_its_joint_normal() -> None:
    tables = {
        "a": {"intercept": 1.0, "sd": 2.0},
        "b": {"intercept": 0.0, "coefficients": {"a": -1.5}, "sd": 0.5},
        "c": {"intercept": 3.0, "coefficients": {"a": 1.0, "b": 2.0}, "variance": 1.0},
    }
    network = sf.BayesianNetwork(sf.DAG("a -> b; a -> c <- b"), tables)
    joint = network.to_joint_normal()
    seen = {"c": 1.0}
    assert close(network.query(["b", "a"], seen).mean, joint.query(["b", "a"], seen).mean)
    assert close(network.query(["b", "a"], seen).covariance, joint.query(["b", "a"], seen).covariance)
    assert dict(network.map(seen)) == pytest.approx(joint.map(seen))
    assert network.entropy(seen) == pytest.approx(joint.entropy(seen))
    assert network.log_evidence(seen) == pytest.approx(float(joint.marginal("c").log_prob({"c": [1.0]})[0]))
    other = sf.BayesianNetwork(network.dag, {**tables, "a": {"intercept": 0.0, "sd": 1.0}})
    assert network.kl(other) == pytest.approx(joint.kl(other.to_joint_normal()))
    assert network.kl(other) == pytest.approx(network.kl(other.to_joint_normal()))
    assert network.kl(network) == pytest.approx(0.0, abs=1e-12)
    assert network.log_z == 0.0


def test_ties_of_symmetric_states_are_named() -> None:
    tables = {"A": [0.5, 0.5], "x": {"intercept": [-1.0, 1.0], "sd": 1.0}}
    network = sf.BayesianNetwork(sf.DAG("A -> x"), tables, schema={"A": ["u", "v"]})
    best = network.map()
    assert best.ties == {"A": ("u", "v")}
    assert best["x"] == {"u": -1.0, "v": 1.0}[best["A"]]


# Draws --------------------------------------------------------------------------------------------------------


@given(questions(max_discrete=2, max_continuous=3))
@settings(max_examples=25, deadline=None)
def test_draws_given_evidence_have_the_posterior_moments(question: Any) -> None:
    network, evidence, free = question
    twin = Twin(network, evidence)
    assume(free and twin.log_evidence() > -np.inf)
    n = 20_000
    rows = network.sample(n, given=evidence, seed=3, backend="pyarrow").to_pydict()
    assert {name: len(column) for name, column in rows.items()} == dict.fromkeys(network.schema, n)
    for name in free:
        if name.startswith("d"):
            for label, p in zip(network.schema[name].labels, twin.table([name]), strict=True):
                share = rows[name].count(label) / n
                assert abs(share - p) <= 6 * math.sqrt(p * max(1 - p, 0.0) / n) + 10 / n  # p may exceed 1 by rounding
        else:
            mean, variance = twin.moments([name])
            assert abs(np.mean(rows[name]) - mean[0]) <= 6 * math.sqrt(variance[0, 0] / n)
    for name, value in evidence.items():
        if isinstance(value, str | float):
            assert set(rows[name]) == {value}
        elif isinstance(value, list):
            assert set(rows[name]) <= set(value)


def test_draws_keep_the_dependence_between_variables(plant: sf.BayesianNetwork) -> None:
    rows = plant.sample(100_000, given={"log": 4.0, "alarm": "on"}, seed=1)
    twin = Twin(plant, {"log": 4.0, "alarm": "on"})
    mean, covariance = twin.moments(["pressure", "gauge"])
    assert np.allclose(rows[["pressure", "gauge"]].cov().to_numpy(), covariance, rtol=0.05)
    assert np.allclose(rows[["pressure", "gauge"]].mean().to_numpy(), mean, atol=0.01)
    for label in ("no", "yes"):
        part = rows[rows["fault"] == label]
        assert part["pressure"].mean() == pytest.approx(twin.moments(["pressure"], {"fault": label})[0][0], abs=0.02)


def test_the_first_draws_do_not_depend_on_how_many_there_are(plant: sf.BayesianNetwork) -> None:
    seen = {"log": 4.0}
    few, many = plant.sample(10, given=seen, seed=5), plant.sample(70_000, given=seen, seed=5)
    assert few.equals(many.head(10))
    assert list(many.columns) == list(plant.schema)


# Sizes and extremes -------------------------------------------------------------------------------------------


def test_naive_bayes_with_many_features_enumerates_the_classes_only() -> None:
    random = np.random.default_rng(0)
    n, k = 30, 10
    tables: dict[str, Any] = {"class": random.dirichlet(np.ones(k))}
    for i in range(n):
        tables[f"x{i}"] = {"intercept": random.normal(size=k).tolist(), "sd": random.uniform(0.5, 2, k).tolist()}
    dag = sf.DAG({"class": [], **{f"x{i}": ["class"] for i in range(n)}})
    network = sf.BayesianNetwork(dag, tables, schema={"class": [f"c{j}" for j in range(k)]})
    before = sf.config().memory
    sf.config(memory=100_000)
    try:
        seen = {f"x{i}": float(value) for i, value in enumerate(random.normal(size=n))}
        found = network.query("class", seen).values
    finally:
        sf.config(memory=before)
    log_p = np.log(tables["class"])
    for i in range(n):
        mean, sd = np.array(tables[f"x{i}"]["intercept"]), np.array(tables[f"x{i}"]["sd"])
        log_p = log_p - 0.5 * ((seen[f"x{i}"] - mean) / sd) ** 2 - np.log(sd)
    assert close(found, np.exp(log_p - np.logaddexp.reduce(log_p)))


def test_a_long_gaussian_chain_is_exact() -> None:
    n = 300
    tables: dict[str, Any] = {"x0": {"intercept": 0.0, "sd": 1.0}}
    tables |= {f"x{i}": {"intercept": 0.1, "coefficients": {f"x{i - 1}": 0.9}, "sd": 0.5} for i in range(1, n)}
    network = sf.BayesianNetwork(sf.DAG({f"x{i}": [f"x{i - 1}"] if i else [] for i in range(n)}), tables)
    joint = network.to_joint_normal()
    seen = {"x0": 2.0, "x150": -1.0, "x299": 3.0}
    answers = network.marginals(seen)
    expected = joint.condition(seen)
    assert close([answers[name].mean[0] for name in expected.names], expected.mean, rtol=1e-7, atol=1e-8)
    assert close([answers[name].sd[0] for name in expected.names], expected.sd, rtol=1e-7)


def test_features_that_contradict_each_other_by_thousands_of_nats_do_not_vanish() -> None:
    """Each feature alone leaves a state with a probability that no float holds; together they decide."""
    tables = {
        "A": [0.5, 0.3, 0.2],
        "B": np.eye(3),
        "x": {"intercept": [0.0, 50.0, 40.0], "sd": 1.0},
        "y": {"intercept": [70.0, 0.0, 40.0], "sd": 1.0},
    }
    states = {"A": ["p", "q", "r"], "B": ["p", "q", "r"]}
    network = sf.BayesianNetwork(sf.DAG("A -> B; A -> x; B -> y"), tables, schema=states)
    twin = Twin(network, {"x": 0.0, "y": 0.0})
    found = network.query(["A", "B"], {"x": 0.0, "y": 0.0})
    assert close(found.values, twin.table(["A", "B"]))
    assert found[{"A": "q", "B": "q"}] == pytest.approx(1.0)
    assert set(network.sample(100, given={"x": 0.0, "y": 0.0}, seed=0)["A"]) == {"q"}


def test_means_of_a_thousand_million_keep_their_digits() -> None:
    far = 1e9
    tables = {
        "A": [0.4, 0.6],
        "x": {"intercept": [far, far + 2], "sd": 1.0},
        "y": {"intercept": 0.5, "coefficients": {"x": 1.0}, "sd": 0.5},
    }
    shifted = {**tables, "x": {"intercept": [0.0, 2.0], "sd": 1.0}}
    dag, states = sf.DAG("A -> x -> y"), {"A": ["u", "v"]}
    near = sf.BayesianNetwork(dag, shifted, schema=states)
    network = sf.BayesianNetwork(dag, tables, schema=states)
    assert close(network.query("A", {"y": far + 1.25}).values, near.query("A", {"y": 1.25}).values, rtol=1e-6)
    answer, twin = network.query("x", {"y": far + 1.25}), near.query("x", {"y": 1.25})
    assert close(answer.mean - far, twin.mean, atol=1e-6)
    assert close(answer.covariance, twin.covariance, rtol=1e-6)


def test_a_sharp_observation_of_a_vague_variable_keeps_its_variance() -> None:
    """By subtraction the covariance would be lost: 1e12 − 1e12."""
    tables = {"x": {"intercept": 0.0, "sd": 1e6}, "y": {"intercept": 0.0, "coefficients": {"x": 1.0}, "sd": 1e-3}}
    answer = sf.BayesianNetwork(sf.DAG("x -> y"), tables).query("x", {"y": 5.0})
    assert answer.sd[0] == pytest.approx(1e-3, rel=1e-9)
    assert answer.mean[0] == pytest.approx(5.0, rel=1e-12)


def test_a_network_with_many_switches_is_refused_with_its_size() -> None:
    n = 40
    parents: dict[str, list[str]] = {f"s{i}": [] for i in range(n)}
    parents |= {f"x{i}": [f"s{i}", *([f"x{i - 1}"] if i else [])] for i in range(n)}
    tables: dict[str, Any] = {f"s{i}": [0.5, 0.5] for i in range(n)}
    for i in range(n):
        slope = {"coefficients": {f"x{i - 1}": [1.0, 1.0]}} if i else {}
        tables[f"x{i}"] = {"intercept": [0.0, 1.0], "sd": 1.0, **slope}
    network = sf.BayesianNetwork(sf.DAG(parents), tables, schema={f"s{i}": ["n", "y"] for i in range(n)})
    with pytest.raises(sf.ModelError, match=r"1,099,511,627,776 configurations.*method='sampling'"):
        network.query("x39")
    # what lies below the question does not matter, and observed nodes cut the rest off
    assert len(network.query("x3")) == 16
    assert len(network.query("x39", {"x37": 0.0})) == 4
    found = network.query("x39", method="sampling", draws=20_000, seed=1)
    assert abs(found.mean[0] - 20.0) < 6 * found.mean_error[0]


# Refusals -----------------------------------------------------------------------------------------------------


def test_degenerate_and_unknown_rows_matter_only_where_the_answer_depends_on_them() -> None:
    tables = {
        "A": [0.5, 0.5],
        "x": {"intercept": [0.0, 1.0], "sd": [0.0, 1.0]},
        "y": {"intercept": 0.0, "coefficients": {"x": 1.0}, "sd": 1.0},
    }
    network = sf.BayesianNetwork(sf.DAG("A -> x -> y"), tables, schema={"A": ["u", "v"]})
    with pytest.raises(sf.ModelError, match="'x', which is degenerate for A='u'"):
        network.query("A", {"y": 1.0})
    assert network.query("A").values.tolist() == [0.5, 0.5]
    assert network.query("y", {"A": "v"}).mean.tolist() == [1.0]
    assert network.query("y", {"A": "v"}).covariance.tolist() == [[2.0]]


def test_impossible_evidence_names_the_piece(plant: sf.BayesianNetwork) -> None:
    tables = {"A": [1.0, 0.0], "B": [[0.5, 0.5], [0.5, 0.5]], "x": {"intercept": [0.0, 1.0], "sd": 1.0}}
    network = sf.BayesianNetwork(sf.DAG("A -> B; A -> x"), tables, schema={"A": ["u", "v"], "B": ["p", "q"]})
    with pytest.raises(sf.ModelError, match="gives A='v' together with B='p' the probability zero"):
        network.query("x", {"B": "p", "A": "v"})
    for ask in (network.map, network.marginals, lambda seen: network.sample(2, given=seen)):
        with pytest.raises(sf.ModelError, match="A='v' by itself"):
            ask({"A": "v", "x": 1.0})
    assert network.log_evidence({"A": "v", "x": 1.0}) == -math.inf
    with pytest.raises(sf.ModelError, match="Check the values and their units"):
        plant.query("fault", {"pressure": 1e200})


@pytest.mark.parametrize("value", [math.nan, math.inf, "high", True, None, [1.0]])
def test_values_of_continuous_variables_must_be_finite_numbers(plant: sf.BayesianNetwork, value: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="'gauge' must be a finite number"):
        plant.query("fault", {"gauge": value})


@given(networks())
@settings(max_examples=20, deadline=None)
def test_what_has_no_answer_says_so(network: sf.BayesianNetwork) -> None:
    for ask in (network.complexity, network.to_markov_network, lambda: network.sample(3, method="gibbs")):
        with pytest.raises(sf.ModelError, match="the network has continuous ones"):
            ask()
    if any(name.startswith("d") for name in network.schema):
        for ask in (network.entropy, network.to_joint_normal, lambda: network.kl(network)):
            with pytest.raises(sf.ModelError, match="no closed form"):
                ask()


@given(st.integers(0, 3))
@settings(max_examples=4, deadline=None)
def test_discrete_networks_answer_as_before(seed: int) -> None:
    random = np.random.default_rng(seed)
    tables = {"A": random.dirichlet([1, 1]), "B": random.dirichlet([1, 1, 1], 2)}
    network = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": ["x", "y"], "B": [1, 2, 3]})
    joint = tables["A"][:, None] * tables["B"]
    assert close(network.query("A", {"B": 2}).values, joint[:, 1] / joint[:, 1].sum(), rtol=1e-14)
    with pytest.raises(sf.ArgumentError, match="'draws' and 'seed' arguments are for sampling"):
        network.query("A", draws=10)


def test_the_most_likely_states_and_draws_where_a_softmax_node_is_a_table() -> None:
    """Its continuous parent is observed, so that the node is a table like any other."""
    rng = np.random.default_rng(0)
    g = rng.integers(0, 2, 300)
    x = rng.normal(g, 1)
    c = np.array(["a", "b", "c"])[(x + rng.normal(size=300) > 0).astype(int) + (x + rng.normal(size=300) > 1)]
    data = {"g": np.array(["u", "v"])[g], "x": x, "c": c, "y": 2 * x + rng.normal(size=300)}
    model = sf.fit(sf.DAG("g -> x -> c; x -> y"), data).model
    best = model.map({"x": 0.25})
    y = float(model.cpd("y").mean_of({"x": np.array([0.25])})[0])
    rows = [(one, other) for one in "uv" for other in "abc"]
    columns = {"g": [row[0] for row in rows], "c": [row[1] for row in rows], "x": [0.25] * 6, "y": [y] * 6}
    log_p = model.log_prob(columns)
    assert (best["g"], best["c"]) == rows[int(np.argmax(log_p))]
    assert best.log_prob == pytest.approx(float(log_p.max()))
    drawn = model.sample(4000, given={"x": 0.25}, seed=3, backend="pandas")
    expected = model.query("c", given={"x": 0.25}).values
    np.testing.assert_allclose([(drawn["c"] == state).mean() for state in "abc"], expected, atol=0.04)
