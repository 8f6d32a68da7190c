"""Answers by likelihood weighting: against exact answers, with errors that can be believed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy import integrate
from tests.models.mixed_twin import Twin, questions

import suffice as sf


@given(questions(max_discrete=2, max_continuous=3))
@settings(max_examples=30, deadline=None)
def test_estimates_lie_within_their_errors(question: Any) -> None:
    network, evidence, free = question
    twin = Twin(network, evidence)
    assume(free and twin.log_evidence() > -np.inf)
    try:
        found = network.query(free, evidence, method="sampling", draws=20_000, seed=7)
    except sf.ModelError as refusal:
        assert "draws" in str(refusal)  # noqa: PT017
        return
    assume(found.effective_size > 500)
    discrete = [name for name in free if name.startswith("d")]
    continuous = [name for name in free if name.startswith("x")]
    if discrete:
        gap = np.abs(found.table.values - twin.table(discrete))
        assert (gap <= 7 * found.table_error.values + 1e-3).all()
        assert found.table.values.sum() == pytest.approx(1)
    if continuous:
        assert (np.abs(found.mean - twin.moments(continuous)[0]) <= 7 * found.mean_error).all()
    assert abs(found.log_evidence - twin.log_evidence()) <= 7 * found.log_evidence_error + 1e-9


def test_errors_are_the_spread_of_repeated_answers() -> None:
    tables = {"A": [0.3, 0.7], "x": {"intercept": [0.0, 1.0], "sd": 1.0}, "y": {"intercept": 0.0,
              "coefficients": {"x": 1.0}, "sd": 0.7}}  # fmt: skip
    network = sf.BayesianNetwork(sf.DAG("A -> x -> y"), tables, schema={"A": ["u", "v"]})
    answers = [network.query(["A", "x"], {"y": 1.5}, method="sampling", draws=500, seed=s) for s in range(300)]
    means, errors = np.array([a.mean[0] for a in answers]), np.array([a.mean_error[0] for a in answers])
    assert means.std() == pytest.approx(errors.mean(), rel=0.15)
    p, p_errors = [a.table[{"A": "u"}] for a in answers], [a.table_error[{"A": "u"}] for a in answers]
    assert np.std(p) == pytest.approx(np.mean(p_errors), rel=0.15)
    logs = [a.log_evidence for a in answers]
    assert np.std(logs) == pytest.approx(np.mean([a.log_evidence_error for a in answers]), rel=0.15)


@pytest.mark.parametrize("seed", range(5))
def test_a_certain_state_has_a_standard_error_of_about_zero(seed: int) -> None:
    tables = {"A": [0.0, 1.0], "x": {"intercept": [0.0, 1.0], "sd": 1.0}, "y": {"intercept": 0.0,
              "coefficients": {"x": 1.0}, "sd": 0.7}}  # fmt: skip
    network = sf.BayesianNetwork(sf.DAG("A -> x -> y"), tables, schema={"A": ["u", "v"]})
    errors = network.query(["A"], {"y": 1.5}, method="sampling", draws=500, seed=seed).table_error.values
    assert errors == pytest.approx([0, 0], abs=1e-8)


def test_parts_of_an_answer_condition_on_states() -> None:
    tables = {"A": [0.3, 0.7], "x": {"intercept": [0.0, 5.0], "sd": [1.0, 2.0]}}
    network = sf.BayesianNetwork(sf.DAG("A -> x"), tables, schema={"A": ["u", "v"]})
    found = network.query(["x", "A"], method="sampling", seed=2)
    part = found[{"A": "v"}]
    assert part.mean[0] == pytest.approx(5.0, abs=7 * part.mean_error[0])
    assert part.sd[0] == pytest.approx(2.0, abs=0.05)
    assert part.quantile(0.5) == pytest.approx(5.0, abs=0.1)
    assert "worth 100,000 of equal weight" in str(found)
    assert set(found.to_frame("pandas").columns) == {"x", "A", "weight"}
    assert "<table>" in found._repr_html_()


def test_the_same_seed_gives_the_same_answer() -> None:
    network = sf.BayesianNetwork(sf.DAG("x"), {"x": {"intercept": 0.0, "sd": 1.0}})
    first, second = (network.query("x", method="sampling", draws=70_000, seed=4) for _ in range(2))
    assert np.array_equal(first.mean, second.mean)
    assert first.draws == 70_000
    few = network.query("x", method="sampling", draws=100, seed=4)
    assert np.array_equal(few.columns["x"], first.columns["x"][:100])


def test_discrete_networks_can_be_sampled_too() -> None:
    tables = {"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.2, 0.8]]}
    network = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": ["u", "v"], "B": ["p", "q"]})
    exact, found = network.query("A", {"B": "q"}), network.query("A", {"B": "q"}, method="sampling", seed=0)
    assert np.abs(found.table.values - exact.values).max() < 7 * found.table_error.values.max()


def test_softmax_nodes_are_answered_by_sampling_and_exactly_where_their_parents_are_seen() -> None:
    softmax = pytest.importorskip("suffice.models.cpds.softmax")
    from suffice.models.cpds import NodeFamily

    y, x, a = sf.Variable("Y", ("lo", "hi"), True), sf.Variable("x"), sf.Variable("A", ("u", "v"), True)
    cpd = softmax.SoftmaxCPD(NodeFamily(y, (x, a)), [[0.0, -1.0], [0.0, 0.5]], [[[0.0], [2.0]], [[0.0], [-1.0]]])
    tables = {"A": [0.4, 0.6], "x": {"intercept": [0.0, 1.0], "sd": 1.0}, "Y": cpd}
    network = sf.BayesianNetwork(sf.DAG("A -> x; x -> Y; A -> Y"), tables, schema={"A": a})

    def p_hi(value: float, code: int) -> float:
        return float(np.exp(cpd.log_prob({"x": np.array([value]), "A": np.array([code]), "Y": np.array([1])}))[0])

    def normal(value: float, code: int) -> float:
        return math.exp(-0.5 * (value - code) ** 2) / math.sqrt(2 * math.pi)

    # observed: a table over A
    joint = np.array([0.4 * normal(0.7, 0) * p_hi(0.7, 0), 0.6 * normal(0.7, 1) * p_hi(0.7, 1)])
    assert np.allclose(network.query("A", {"x": 0.7, "Y": "hi"}).values, joint / joint.sum())
    assert network.log_evidence({"x": 0.7, "Y": "hi"}) == pytest.approx(math.log(joint.sum()))
    rows = network.query_rows("A", {"x": [0.7, -0.2], "Y": ["hi", "hi"]})
    assert np.allclose(rows.values[0], joint / joint.sum())
    assert np.allclose(rows.values[1], network.query("A", {"x": -0.2, "Y": "hi"}).values)
    assert network.query("A").values.tolist() == pytest.approx([0.4, 0.6])  # Y is barren
    # not observed: no closed form
    with pytest.raises(sf.ModelError, match=r"softmax of the continuous \['x'\].*method='sampling'"):
        network.query("A", {"Y": "hi"})
    parts = [w * integrate.quad(lambda v, c=c: normal(v, c) * p_hi(v, c), -12, 12)[0] for c, w in enumerate((0.4, 0.6))]
    found = network.query("A", {"Y": "hi"}, method="sampling", seed=1)
    assert abs(found.table.values[0] - parts[0] / sum(parts)) < 7 * found.table_error.values[0]


def test_answers_that_rest_on_too_few_draws_are_refused() -> None:
    tables = {"A": [1.0, 0.0], "x": {"intercept": [0.0, 9.0], "sd": 1.0}}
    network = sf.BayesianNetwork(sf.DAG("A -> x"), tables, schema={"A": ["u", "v"]})
    with pytest.raises(sf.ModelError, match=r"given A='v', all have the weight zero.*impossible or very rare"):
        network.query("x", {"A": "v"}, method="sampling", draws=1000, seed=0)
    vague = {"x": {"intercept": 0.0, "sd": 100.0}, "y": {"intercept": 0.0, "coefficients": {"x": 1.0}, "sd": 1e-3}}
    sharp = sf.BayesianNetwork(sf.DAG("x -> y"), vague)
    with pytest.raises(sf.ModelError, match=r"few carry all the weight.*draws=10000"):
        sharp.query("x", {"y": 3.0}, method="sampling", draws=1000, seed=0)


def test_a_degenerate_node_may_be_drawn_but_not_observed() -> None:
    tables = {"x": {"intercept": 1.0, "sd": 0.0}, "y": {"intercept": 0.0, "coefficients": {"x": 1.0}, "sd": 0.0}}
    network = sf.BayesianNetwork(sf.DAG("x -> y"), tables)
    assert network.query("y", method="sampling", draws=100, seed=0).mean.tolist() == pytest.approx([1.0])
    with pytest.raises(sf.ModelError, match="degenerate"):
        network.query("x", {"y": 1.0}, method="sampling", draws=100, seed=0)


def test_only_a_query_advises_its_own_sampling() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    c = ["u" if value > 0 else "v" for value in x + rng.normal(size=60)]
    d = [state if same else "u" for state, same in zip(c, rng.random(60) < 0.8, strict=True)]
    priors = [sf.BDeu(20), sf.NormalInverseGamma(2, 1.0), sf.Gaussian(10)]
    model = sf.fit(sf.DAG("x -> c; c -> d"), {"x": x, "c": c, "d": d}, prior=priors).model
    rows: dict[str, Any] = {"x": [None], "c": [None], "d": ["u"]}
    by_query = "or estimate the answer by query(targets, given, method='sampling')."
    asked: dict[str, tuple[Any, str]] = {
        "query": (lambda: model.query("x", {"d": "u"}), "Observe ['x'], or pass method='sampling'."),
        "marginal": (lambda: model.marginal("c"), f"Observe ['x'], {by_query}"),
        "marginals": (lambda: model.marginals({"d": "u"}), f"Observe ['x'], {by_query}"),
        "query_rows": (lambda: model.query_rows("c", {"d": ["u"]}), f"Observe ['x'], {by_query}"),
        "predict": (lambda: model.predict("c", {"d": ["u"]}), "Observe ['x']."),
        "map": (lambda: model.map({"d": "u"}), "Observe ['x']."),
        "impute": (lambda: model.impute(rows), "Observe ['x']."),
        "log_prob": (lambda: model.log_prob(rows, missing="marginalise"), "Observe ['x']."),
        "log_evidence": (lambda: model.log_evidence({"d": "u"}), "Observe ['x']."),
        "sample": (lambda: model.sample(3, given={"d": "u"}), "Observe ['x']."),
    }
    for name, (call, advice) in asked.items():
        with pytest.raises(sf.ModelError) as caught:
            call()
        assert str(caught.value).endswith(f"no closed form. {advice}"), name
