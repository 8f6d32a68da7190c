"""The answers of the page are those of the library."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import published_networks
from tests.explore import small_models
from tests.explore.small_models import bayesian_fit, field, incomplete, linear, mixed, normal, softmax, sprinkler

import suffice as sf
from suffice.explore import Answering
from suffice.explore.insights import integrated_information
from suffice.explore.question import RequestError
from suffice.explore.solvers import Density

CLOSE = {"rtol": 0, "atol": 1e-12}
MODELS = {make.__name__: make for make in (sprinkler, field, normal, mixed, linear)}


def given(answering: Answering, question: dict[str, dict[int, Any]]) -> dict[str, Any]:
    """Write evidence as users do."""
    labels = [variable.labels if variable.is_discrete else () for variable in answering.variables]
    names = answering.names
    hard = {names[node]: labels[node][code] for node, code in question.get("hard", {}).items()}
    soft = {
        names[node]: dict(zip(labels[node], weights, strict=True)) for node, weights in question.get("soft", {}).items()
    }
    return hard | soft | {names[node]: value for node, value in question.get("values", {}).items()}


def random_question(answering: Answering, rng: np.random.Generator) -> dict[str, dict[int, Any]]:
    question: dict[str, dict[int, Any]] = {"hard": {}, "soft": {}, "values": {}}
    for node, variable in enumerate(answering.variables):
        kind = rng.integers(4)
        if not variable.is_discrete:
            if kind == 0:
                prior = answering.answer({})["marginals"][node]
                question["values"][node] = float(prior["m"][0] + rng.normal() * prior["s"][0])
        elif kind == 0:
            question["hard"][node] = int(rng.integers(variable.n_states))
        elif kind == 1:
            question["soft"][node] = rng.uniform(0.1, 1.0, variable.n_states).tolist()
    return question


def assert_like(marginal: Any, answer: Any) -> None:
    """Compare with a table, a normal distribution or a mixture."""
    if isinstance(marginal, list):
        np.testing.assert_allclose(marginal, answer.to_numpy(), **CLOSE)
        return
    weights, means, sds = (np.array(marginal[key]) for key in "wms")
    mean, sd = weights @ means, math.sqrt(weights @ (sds**2 + means**2) - (weights @ means) ** 2)
    scale = max(1.0, abs(float(answer.mean[0])))
    assert mean == pytest.approx(float(answer.mean[0]), abs=1e-10 * scale)
    assert sd == pytest.approx(float(answer.sd[0]), rel=1e-8)
    at = float(answer.mean[0]) + 0.7 * float(answer.sd[0])
    density = weights @ (np.exp(-0.5 * ((at - means) / sds) ** 2) / sds) / math.sqrt(2 * math.pi)
    expected = float(np.exp(answer.log_prob_of({answer.names[0]: np.array([at])}, 1))[0])
    assert density == pytest.approx(expected, rel=1e-10)


def check_answer(answering: Answering, question: dict[str, dict[int, Any]]) -> None:
    model, found = answering.model, answering.answer(json.loads(json.dumps(question)))
    seen = given(answering, question)
    assert "refusal" not in found
    if hasattr(model, "log_evidence"):
        assert found["logEvidence"] == pytest.approx(model.log_evidence(seen), abs=1e-12, rel=1e-12)
    for node, (name, marginal) in enumerate(zip(answering.names, found["marginals"], strict=True)):
        if node in question.get("hard", {}):
            assert marginal == np.eye(len(marginal))[question["hard"][node]].tolist()
        elif node in question.get("values", {}):
            assert marginal == {"w": [1.0], "m": [question["values"][node]], "s": [0.0]}
        else:
            assert_like(marginal, model.query(name, seen))


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_query(name: str) -> None:
    answering, rng = Answering(MODELS[name]()), np.random.default_rng(7)
    check_answer(answering, {})
    n_answered = 0
    for _ in range(40):
        question = random_question(answering, rng)
        if answering.answer(question)["logEvidence"] is not None:
            check_answer(answering, question)
            n_answered += 1
    assert n_answered >= 20


@pytest.mark.data
@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_answers_of_published_networks_are_those_of_the_library(data_folder: Path, name: str) -> None:
    answering, rng = Answering(sf.read(data_folder / "networks_bif" / f"{name}.bif.gz")), np.random.default_rng(8)
    possible = 0
    for _ in range(20):
        question = random_question(answering, rng)
        if answering.answer(question)["logEvidence"] is not None:
            check_answer(answering, question)
            check_insights(answering, question, int(rng.integers(len(answering.names))))
            possible += 1
    assert possible >= 10


@pytest.mark.data
def test_answers_of_a_conditional_gaussian_network_are_those_of_query(data_folder: Path) -> None:
    answering, rng = Answering(published_networks.network(data_folder, "sangiovese")), np.random.default_rng(9)
    for _ in range(3):
        check_answer(answering, random_question(answering, rng))


# Insights -----------------------------------------------------------------------------------------------------


def check_insights(answering: Answering, question: dict[str, dict[int, Any]], node: int) -> None:
    model, seen = answering.model, given(answering, question)
    found = answering.insights(question, {"node": node, "state": 0})
    best, names = model.map(seen), answering.names
    for place, name in enumerate(names):
        if name in best:
            assert found["explanation"]["states"][place] == answering.variables[place].code(best[name])
    assert found["explanation"]["logGiven"] == pytest.approx(best.log_posterior, abs=1e-12)
    assert {names[place] for place in found["explanation"]["ties"]} == set(best.ties)
    if node in question["hard"]:
        assert found["gains"] is None
        assert found["slopes"] is None
        return
    sensitivity = model.sensitivity({names[node]: answering.variables[node].labels[0]}, seen)
    expected = [abs(slope) for _, _, slope in sensitivity.ranked()[:10]]
    np.testing.assert_allclose([abs(slope["slope"]) for slope in found["slopes"]], expected, **CLOSE)
    for slope in found["slopes"]:
        codes = (*slope["parents"], slope["state"])
        assert slope["slope"] == pytest.approx(sensitivity.derivatives[names[slope["node"]]][codes], abs=1e-12)
        assert (
            slope["entry"]
            == model.cpd(names[slope["node"]]).values.reshape(sensitivity.entries[names[slope["node"]]].shape)[codes]
        )
    for other, gain in found["gains"][:3]:
        joint = model.query([names[node], names[other]], seen).to_numpy()
        outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            information = np.where(joint > 0, joint * np.log(joint / outer), 0.0).sum()
        assert gain == pytest.approx(information, abs=1e-12)
    assert [gain for _, gain in found["gains"]] == sorted((gain for _, gain in found["gains"]), reverse=True)


def test_insights_are_those_of_the_library() -> None:
    answering, rng = Answering(sprinkler()), np.random.default_rng(3)
    possible = 0
    for _ in range(30):
        question = random_question(answering, rng)
        if answering.answer(question)["logEvidence"] is not None:
            check_insights(answering, question, int(rng.integers(4)))
            possible += 1
    assert possible >= 10


@pytest.mark.parametrize("name", MODELS)
def test_conflict_is_that_of_single_findings(name: str) -> None:
    answering, rng = Answering(MODELS[name]()), np.random.default_rng(4)
    for _ in range(10):
        question = random_question(answering, rng)
        found = answering.answer(question)["logEvidence"]
        if found is None:
            continue
        findings = [(part, node, known) for part, held in question.items() for node, known in held.items()]
        conflict = answering.insights(question)["conflict"]
        if len(findings) < 2:
            assert conflict is None
            continue
        alone = sum(answering.answer({part: {node: known}})["logEvidence"] for part, node, known in findings)
        assert conflict == pytest.approx(alone - found, abs=1e-11)


def test_ties_are_named() -> None:
    coin = {"A": ["x", "y"], "B": ["u", "v"]}
    model = sf.BayesianNetwork(sf.DAG("A -> B"), {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.1, 0.9]]}, schema=coin)
    found = Answering(model).insights({})["explanation"]
    assert found["ties"] == {0: [0, 1], 1: [0, 1]}
    assert found["logGiven"] == pytest.approx(math.log(0.45))


def test_explanation_of_a_normal_distribution_is_the_conditional_mean() -> None:
    model = normal()
    found = Answering(model).insights({"values": {1: 3.0}})["explanation"]
    assert found["states"] == pytest.approx([model.map({"y": 3.0})["x"], 3.0, model.map({"y": 3.0})["z"]])
    assert Answering(model).insights({"values": {0: 1.0, 1: 2.0, 2: 3.0}})["explanation"]["logGiven"] == 0.0


def test_gains_of_normal_models_are_those_of_correlations() -> None:
    for model in (normal(), linear()):
        joint = model if isinstance(model, sf.JointNormal) else model.to_joint_normal()
        found = dict(Answering(model).insights({}, {"node": 0, "state": 0})["gains"])
        expected = {
            node: -0.5 * math.log(1 - joint.correlations[0, node] ** 2) for node in range(1, len(joint.variables))
        }
        assert found == pytest.approx(expected, abs=1e-12)


def test_gains_of_mixed_networks_do_not_depend_on_which_of_two_is_the_target() -> None:
    answering = Answering(mixed())
    place = {name: node for node, name in enumerate(answering.names)}
    for discrete in ("sex", "drug"):
        for number in ("weight", "effect"):
            first = answering.insights({}, {"node": place[discrete], "state": 0})
            second = answering.insights({}, {"node": place[number], "state": 0})
            assert dict(first["gains"])[place[number]] == pytest.approx(
                dict(second["gains"])[place[discrete]], abs=1e-11
            )
            assert "continuous variable" in second["remarks"]["gains"]


def test_information_of_a_mixture_is_that_of_its_draws() -> None:
    p = np.array([0.3, 0.7])
    densities = [
        Density(np.array([0.4, 0.6]), np.array([0.0, 2.0]), np.array([1.0, 0.05])),
        Density(np.ones(1), np.array([1.0]), np.array([3.0])),
    ]
    rng = np.random.default_rng(0)
    total = 0.0
    for t in range(2):
        held = densities[t]
        at = rng.choice(len(held.weights), 200_000, p=held.weights)
        x = held.means[at] + held.sds[at] * rng.normal(size=len(at))
        f = [(d.weights * np.exp(-0.5 * ((x[:, None] - d.means) / d.sds) ** 2) / d.sds).sum(axis=1) for d in densities]
        total += p[t] * float(np.log(f[t] / (p[0] * f[0] + p[1] * f[1])).mean())
    assert integrated_information(p, densities) == pytest.approx(total, abs=0.005)
    assert integrated_information(p, [densities[0], densities[0]]) == pytest.approx(0, abs=1e-12)


# Refusals -----------------------------------------------------------------------------------------------------


def test_impossible_evidence_names_findings_that_exclude_each_other() -> None:
    answering = Answering(sprinkler())
    place = {name: node for node, name in enumerate(answering.names)}
    question = {"hard": {place["rain"]: 1, place["sprinkler"]: 1, place["wet"]: 0, place["slippery"]: 1}}
    found = answering.answer(question)
    assert found["logEvidence"] is None
    assert found["marginals"] == [None] * 4
    assert found["clash"] == sorted(place[name] for name in ("rain", "sprinkler", "wet"))
    assert answering.insights(question)["refusal"] == "The evidence is impossible."
    assert answering.intervals(question) is None


@pytest.mark.parametrize("make", [sprinkler, field, mixed])
def test_a_node_whose_states_are_all_ruled_out_is_impossible(make: Callable[[], Any]) -> None:
    found = Answering(make()).answer({"soft": {0: [0, 0]}})
    assert found["logEvidence"] is None
    assert found["clash"] == [0]


@pytest.mark.data
def test_clashes_cannot_be_made_smaller(data_folder: Path) -> None:
    model = sf.read(data_folder / "networks_bif" / "asia.bif.gz")
    answering = Answering(model)
    place = {name: node for node, name in enumerate(answering.names)}
    question = {"hard": {place["lung"]: 0, place["either"]: 1, place["smoke"]: 0, place["xray"]: 0}}
    assert answering.answer(question)["clash"] == sorted([place["lung"], place["either"]])


def test_values_beyond_all_floats_are_impossible() -> None:
    found = Answering(normal()).answer({"values": {0: 1e200, 1: 1.0}})
    assert found["logEvidence"] is None
    assert found["clash"] == [0]


def test_distributions_without_a_closed_form_are_left_out_with_a_note() -> None:
    answering = Answering(softmax())
    found = answering.answer({})
    assert [marginal is None for marginal in found["marginals"]] == [name == "y" for name in answering.names]
    assert "no closed form" in found["note"]
    assert found["logEvidence"] == 0.0
    y = answering.names.index("y")
    refused = answering.answer({"hard": {y: 0}})
    assert "no closed form" in refused["refusal"]
    assert refused["logEvidence"] is None
    assert "clash" not in refused
    x = answering.names.index("x")
    known = answering.answer({"values": {x: 0.5}})
    assert "note" not in known
    assert sum(known["marginals"][y]) == pytest.approx(1.0)


@pytest.mark.parametrize("given", [{}, {"A": "x"}, {"A": "y"}, {"C": "0"}, {"A": "x", "C": "0"}, {"E": "1"}])
def test_unknown_rows_leave_out_what_they_enter_and_nothing_else(given: dict[str, str]) -> None:
    model = incomplete()
    answering = Answering(model)
    place = {name: node for node, name in enumerate(answering.names)}
    hard = {str(place[name]): model.schema[name].labels.index(state) for name, state in given.items()}
    found = answering.answer({"hard": hard})
    assert "refusal" not in found
    left_out = [name for name, node in place.items() if found["marginals"][node] is None]
    for name, node in place.items():
        if name in given:
            assert found["marginals"][node] == np.eye(2)[hard[str(node)]].tolist()
        elif name in left_out:
            with pytest.raises(sf.ModelError, match="depends on 'B'"):
                model.query(name, given)
        else:
            np.testing.assert_allclose(found["marginals"][node], model.query(name, given).values, atol=1e-12)
    # Its table has no row for A = y and C = 1.
    assert left_out == ([] if given.get("A") == "x" or given.get("C") == "0" else ["B", "D"])
    assert found.get("note", "").startswith("Not known: ['B', 'D']. The answer depends on 'B'") == bool(left_out)
    insights = answering.insights({"hard": hard}, {"node": place["C" if "C" not in given else "E"], "state": 0})
    json.dumps(insights, allow_nan=False)
    assert (insights["explanation"] is None) == bool(left_out)


def test_evidence_whose_probability_is_not_known_is_refused_with_the_reason() -> None:
    answering = Answering(incomplete())
    assert "answer depends on 'B'" in answering.answer({"hard": {answering.names.index("D"): 1}})["refusal"]


def test_findings_that_exclude_each_other_are_named_beside_unknown_rows() -> None:
    model = incomplete()
    answering = Answering(model)
    place = {name: node for node, name in enumerate(answering.names)}
    found = answering.answer({"hard": {place["A"]: 0, place["C"]: 0, place["B"]: 1, place["E"]: 1}})
    assert found["logEvidence"] is None
    assert sorted(found["clash"]) == sorted([place["A"], place["C"], place["B"]])


@pytest.mark.parametrize(
    "question",
    [
        None, [], 3, {"nope": {}}, {"hard": []}, {"hard": {"a": 0}}, {"hard": {"-1": 0}}, {"hard": {"9": 0}},
        {"hard": {"0": 2}}, {"hard": {"0": True}}, {"hard": {"0": 0.5}}, {"hard": {"0": None}}, {"values": {"0": 1.0}},
        {"soft": {"0": [1.0]}}, {"soft": {"0": [1.0, -1.0]}}, {"soft": {"0": [1.0, "x"]}}, {"soft": {"0": 1.0}},
        {"soft": {"0": [1.0, float("inf")]}}, {"hard": {"0": 0}, "soft": {"0": [1, 1]}}, {"hard": {"1" * 400: 0}},
        {"soft": {"0": [10**400, 1]}},
    ],
)  # fmt: skip
def test_malformed_questions_are_refused(question: Any) -> None:
    with pytest.raises(RequestError):
        Answering(sprinkler()).answer(question)


@pytest.mark.parametrize("question", [{"hard": {"0": 0}}, {"values": {"0": "1"}}, {"values": {"0": float("nan")}}])
def test_malformed_questions_about_numbers_are_refused(question: Any) -> None:
    with pytest.raises(RequestError):
        Answering(normal()).answer(question)


@pytest.mark.parametrize("target", [3, {"node": 9}, {"node": 0, "state": 2}, {"node": 0, "state": "0"}, {}])
def test_malformed_targets_are_refused(target: Any) -> None:
    with pytest.raises(RequestError):
        Answering(sprinkler()).insights({}, target)


# Intervals ----------------------------------------------------------------------------------------------------


def test_intervals_are_those_of_the_fit() -> None:
    fit = bayesian_fit()
    answering = Answering(fit.model, fit)
    for question in ({}, {"hard": {2: 1}}, {"soft": {2: [0.9, 0.2]}}):
        found = answering.intervals(question)
        assert found is not None
        for node, name in enumerate(answering.names):
            if node in question.get("hard", {}):
                assert found[node] is None
                continue
            expected = fit.query(name, given(answering, question), interval=0.95)
            ends = np.stack([expected.lower.to_numpy(), expected.upper.to_numpy()], axis=1)
            np.testing.assert_allclose(found[node], ends, **CLOSE)


def test_models_without_a_posterior_have_no_intervals() -> None:
    assert Answering(sprinkler()).intervals({}) is None
    assert not Answering(normal()).has_intervals


def test_intervals_end_when_they_are_superseded() -> None:
    fit = bayesian_fit()
    answering = Answering(fit.model, fit)
    calls = []

    def check() -> None:
        calls.append(None)
        if len(calls) > 5:
            raise RequestError("enough", 409)

    with pytest.raises(RequestError, match="enough"):
        answering.intervals({}, check)


# Parts of the page --------------------------------------------------------------------------------------------


def test_neighbourhoods_reach_as_far_as_asked() -> None:
    answering = Answering(sf.fit(sf.DAG("A -> B -> C -> D"), {name: ["x", "y"] for name in "ABCD"}).model)
    assert answering.neighbourhood(0, 1)["nodes"] == [0, 1]
    assert answering.neighbourhood(0, 3)["nodes"] == [0, 1, 2, 3]
    assert len(answering.neighbourhood(1, 2)["edges"]) == 3
    for node, radius in ((9, 1), (0, 0), (0, 4), (0, 1.0), ("x", 1)):
        with pytest.raises(RequestError):
            answering.neighbourhood(node, radius)


def test_entries_hold_tables() -> None:
    answering = Answering(sprinkler())
    entry = answering.entry(1)
    assert entry["n"] == answering.names[1]
    assert entry["t"][0]["v"]
    with pytest.raises(RequestError):
        answering.entry(99)


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_json(name: str) -> None:
    answering = Answering(getattr(small_models, name)())
    found = [answering.answer({}), answering.insights({}, {"node": 0, "state": 0}), answering.entry(0), answering.size]
    whole = [*found, answering.neighbourhood(0), answering.rows()]
    assert len(json.loads(json.dumps(whole, allow_nan=False))) == 6


def test_the_prior_travels_with_the_page_unless_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.explore.answers.AT_ONCE", 0.05)
    answering = Answering(sprinkler())
    with answering._lock:
        assert answering.prior() is None
    answering.prepare()
    with answering._lock:
        assert answering.prior() == answering.answer({})
    nothing = sf.MarkovNetwork(
        [(("a", "b"), np.eye(2)), (("a", "b"), 1 - np.eye(2))], schema={"a": ["0", "1"], "b": ["0", "1"]}
    )
    assert Answering(nothing).prior() is None


def test_what_takes_long_is_not_begun_when_something_newer_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.explore.answers.SLOW", -1.0)
    answering = Answering(sprinkler())
    answering.answer({})
    monkeypatch.setattr(answering.solver, "explain", lambda _: pytest.fail("begun"))
    calls = []

    def check() -> None:
        calls.append(None)
        if len(calls) > 3:
            raise RequestError("enough", 409)

    with pytest.raises(RequestError, match="enough"):
        answering.insights({}, None, check)
