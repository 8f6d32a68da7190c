"""The page's own inference, run by Node, gives the answers of the library."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import published_networks
from tests.conftest import without_sanitizers

import suffice as sf
from suffice.report.page.inference import MOST_CELLS, MOST_NORMAL, normal_spec, tree_spec

SCRIPT = Path(__file__).parent.parent / "web" / "answer.mjs"
TOLERANCE = 1e-9
N_QUESTIONS = 200
N_EXPLAINED = 60  # of the questions
NO_YES = ["no", "yes"]


# Models -------------------------------------------------------------------------------------------------------


def ising_grid(side: int, seed: int) -> sf.LogLinear:
    cells = list(itertools.product(range(side), repeat=2))
    steps = [((i, j), (i + a, j + b)) for i, j in cells for a, b in ((0, 1), (1, 0))]
    edges = [(f"s{i}_{j}", f"s{k}_{m}") for (i, j), (k, m) in steps if (k, m) in cells]
    structure = sf.Ising(" + ".join(f"{a}:{b}" for a, b in edges))
    schema = {f"s{i}_{j}": [-1, 1] for i, j in cells}
    rng = np.random.default_rng(seed)
    return sf.LogLinear(structure, rng.normal(0, 0.5, len(structure.resolved(_schema(schema)))), schema=schema)


def _schema(states: dict[str, list[Any]]) -> Any:
    return sf.MarkovNetwork([], schema=states).schema


def deterministic_network() -> sf.BayesianNetwork:
    """Tables of zeros and ones, where derivatives cannot be had by division."""
    either = [[[1, 0], [0, 1]], [[0, 1], [0, 1]]]
    tables = {"a": [0.9, 0.1], "b": [1, 0], "either": either, "seen": [[0.95, 0.05], [0.02, 0.98]]}
    return sf.BayesianNetwork(
        sf.DAG("a -> either; b -> either; either -> seen"), tables, schema=dict.fromkeys(tables, NO_YES)
    )


def bif(name: str) -> Callable[[Path], Any]:
    return lambda data: sf.read(data / "networks_bif" / f"{name}.bif.gz")


DISCRETE = {
    "ising": lambda data: ising_grid(6, 1),
    "deterministic": lambda data: deterministic_network(),
    **{name: bif(name) for name in ("asia", "alarm", "hailfinder")},
}


# Questions ----------------------------------------------------------------------------------------------------


def question_of(model: Any, row: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Return evidence on a few variables, mostly what was drawn together: states, likelihoods, and states ruled out."""
    given: dict[str, Any] = {}
    for name in rng.choice(list(model.variables), rng.integers(0, min(8, len(model.variables))), replace=False):
        labels = list(model.schema[name].labels)
        how = rng.random()
        if how < 0.65:
            given[name] = row[name]
        elif how < 0.75:
            given[name] = labels[rng.integers(len(labels))]
        elif how < 0.9:
            given[name] = dict(zip(labels, (0.01 + rng.random(len(labels))).tolist(), strict=True))
        else:
            given[name] = [label for label in labels if label == row[name] or rng.random() < 0.5]
    return given


def coded(model: Any, nodes: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Return evidence as the page has it."""
    hard, soft = {}, {}
    for name, seen in given.items():
        labels = list(model.schema[name].labels)
        if isinstance(seen, dict):
            soft[nodes.index(name)] = [seen[label] for label in labels]
        elif isinstance(seen, list):
            soft[nodes.index(name)] = [float(label in seen) for label in labels]
        else:
            hard[nodes.index(name)] = labels.index(seen)
    return {"hard": hard, "soft": soft, "values": {}}


def ask_node(**request: Any) -> Any:
    asked = json.dumps(request, allow_nan=False)
    found = subprocess.run(
        ["node", SCRIPT], input=asked, capture_output=True, text=True, check=False, env=without_sanitizers()
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def draw(model: Any, n: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = model.sample(n, seed=3, backend="pandas").to_dict("records")
    return rows


# Answers ------------------------------------------------------------------------------------------------------


@pytest.mark.node
@pytest.mark.data
@pytest.mark.parametrize("name", DISCRETE)
def test_answers_of_the_page_are_those_of_the_model(name: str, data_folder: Path) -> None:
    model = DISCRETE[name](data_folder)
    rng = np.random.default_rng(7)
    nodes = [str(node) for node in rng.permutation(list(model.variables))]
    givens = [question_of(model, row, rng) for row in draw(model, N_QUESTIONS)]
    targets = [target_of(model, given, rng) for given in givens]
    coded_targets = [
        {"node": nodes.index(target), "state": state} if number < N_EXPLAINED else None
        for number, (target, state) in enumerate(targets)
    ]
    questions = [[coded(model, nodes, given), at] for given, at in zip(givens, coded_targets, strict=True)]
    found = ask_node(tree=tree_spec(model, nodes), questions=questions)
    n_impossible = 0
    for given, target, (answer, insights) in zip(givens, targets, found, strict=True):
        if answer["logEvidence"] == "-inf":
            n_impossible += 1
            check_clash(model, given, [nodes[node] for node in answer["clash"]])
            continue
        assert answer["logEvidence"] == pytest.approx(model.log_evidence(given), abs=TOLERANCE, rel=TOLERANCE)
        marginals = model.marginals(given)
        for node, values in zip(nodes, answer["marginals"], strict=True):
            if node in marginals:
                np.testing.assert_allclose(values, marginals[node].values, atol=TOLERANCE, rtol=0)
            else:
                labels = model.schema[node].labels
                assert values == [float(label == given[node]) for label in labels]
        if insights is not None:
            check_explanation(model, nodes, given, insights["explanation"])
            check_gains(model, nodes, given, target[0], insights["gains"])
            check_slopes(model, nodes, given, target, insights["slopes"])
    assert n_impossible < N_QUESTIONS / 2


def target_of(model: Any, given: dict[str, Any], rng: np.random.Generator) -> tuple[str, int]:
    free = [name for name in model.variables if name not in given or isinstance(given[name], dict | list)]
    target = free[rng.integers(len(free))]
    return target, int(rng.integers(model.schema[target].n_states))


def check_clash(model: Any, given: dict[str, Any], clash: list[str]) -> None:
    def log_evidence(names: Any) -> float:
        value: float = model.log_evidence({name: given[name] for name in names})
        return value

    assert log_evidence(clash) == -math.inf
    assert all(log_evidence(set(clash) - {name}) > -math.inf for name in clash)


def check_explanation(model: Any, nodes: list[str], given: dict[str, Any], found: dict[str, Any]) -> None:
    best = model.map(given)
    assert found["logGiven"] == pytest.approx(best.log_posterior, abs=TOLERANCE)
    hard = {name for name, seen in given.items() if not isinstance(seen, dict | list)}
    states = {name: model.schema[name].labels[code] for name, code in zip(nodes, found["states"], strict=True)}
    assert all(states[name] == given[name] for name in hard)
    ties = {
        nodes[int(node)]: tuple(model.schema[nodes[int(node)]].labels[code] for code in codes)
        for node, codes in found["ties"].items()
    }
    assert ties == dict(best.ties)
    for name in nodes:  # of tied states another may be taken: trees differ
        if name not in hard and name not in ties:
            assert states[name] == best[name]


def check_gains(model: Any, nodes: list[str], given: dict[str, Any], target: str, gains: list[Any]) -> None:
    hard = {name for name, seen in given.items() if not isinstance(seen, dict | list)}
    assert {nodes[node] for node, _ in gains} == set(nodes) - hard - {target}
    assert [gain for _, gain in gains] == sorted((gain for _, gain in gains), reverse=True)
    for node, gain in gains[:2]:
        joint = model.query([target, nodes[node]], given).values
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        seen = joint > 0
        expected = float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())
        assert gain == pytest.approx(expected, abs=TOLERANCE)


def check_slopes(model: Any, nodes: list[str], given: dict[str, Any], target: tuple[str, int], slopes: Any) -> None:
    if not isinstance(model, sf.BayesianNetwork):
        assert slopes is None
        return
    name, state = target
    expected = model.sensitivity({name: model.schema[name].labels[state]}, given)
    steepest = [abs(slope) for *_, slope in expected.ranked()[:10]]
    np.testing.assert_allclose([abs(slope["slope"]) for slope in slopes], steepest, atol=TOLERANCE, rtol=TOLERANCE)
    for slope in slopes:
        node, codes = nodes[slope["node"]], (*slope["parents"], slope["state"])
        derivative = expected.derivatives[node][codes]
        assert slope["slope"] == pytest.approx(derivative, abs=TOLERANCE, rel=TOLERANCE)
        assert slope["entry"] == expected.entries[node][codes]


@pytest.mark.node
@pytest.mark.data
@pytest.mark.parametrize("joint", [False, True], ids=["network", "joint normal"])
def test_answers_of_a_normal_distribution(joint: bool, data_folder: Path) -> None:
    network = published_networks.network(data_folder, "ecoli70")
    model = network.to_joint_normal()
    rng = np.random.default_rng(11)
    nodes = [str(node) for node in rng.permutation(list(network.variables))]
    givens = []
    for row in draw(network, N_QUESTIONS):
        some = rng.choice(nodes, rng.integers(0, 12), replace=False)
        givens.append({str(name): float(row[name]) + rng.normal(0, 0.1) for name in some})
    targets = [next(name for name in nodes if name not in given) for given in givens]
    questions = [
        [
            {"hard": {}, "soft": {}, "values": {nodes.index(name): value for name, value in given.items()}},
            {"node": nodes.index(target), "state": 0},
        ]
        for given, target in zip(givens, targets, strict=True)
    ]
    found = ask_node(normal=normal_spec(model if joint else network, nodes), questions=questions)
    for given, target, (answer, insights) in zip(givens, targets, found, strict=True):
        after = model.condition(given)
        place = {name: i for i, name in enumerate(after.names)}
        free = [node for node in nodes if node not in given]
        at = [place[name] for name in free]
        densities = dict(zip(nodes, answer["marginals"], strict=True))
        np.testing.assert_allclose([densities[name]["m"][0] for name in free], after.mean[at], atol=TOLERANCE)
        np.testing.assert_allclose([densities[name]["s"][0] for name in free], after.sd[at], atol=TOLERANCE)
        assert all(densities[name] == {"w": [1], "m": [value], "s": [0]} for name, value in given.items())
        assert answer["logEvidence"] == pytest.approx(network.log_evidence(given), abs=1e-8)
        best = network.map(given)
        assert insights["explanation"]["logGiven"] == pytest.approx(best.log_posterior, abs=1e-8)
        for node, value in zip(nodes, insights["explanation"]["states"], strict=True):
            assert value == pytest.approx(given[node] if node in given else best[node], abs=TOLERANCE)
        for node, gain in insights["gains"]:
            correlation = after.correlations[place[target], place[nodes[node]]]
            assert gain == pytest.approx(-0.5 * math.log1p(-(correlation**2)), abs=TOLERANCE)


# What a page cannot compute with --------------------------------------------------------------------------------


def test_only_small_discrete_models_have_a_tree() -> None:
    pair = {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]}
    states = {"A": ["x", "y"], "B": ["u", "v"]}
    known = sf.BayesianNetwork(sf.DAG("A -> B"), pair, schema=states)
    assert tree_spec(known, ["A", "B"]) is not None
    assert tree_spec(known, ["A"]) is None
    assert tree_spec(known, ["A", "C"]) is None
    unknown = sf.fit(sf.DAG("A -> B"), {"A": ["x"], "B": ["u"]}, schema=states, unseen_parents="nan").model
    assert tree_spec(unknown, ["A", "B"]) is None
    numbers = sf.fit(sf.DAG("a -> b"), {"a": [0.0, 1.0, 3.0], "b": [1.0, 2.5, 2.0]}).model
    assert tree_spec(numbers, ["a", "b"]) is None
    assert tree_spec(numbers.to_joint_normal(), ["a", "b"]) is None
    nothing = sf.MarkovNetwork([(("A",), [0.0, 1.0]), (("A",), [1.0, 0.0])], schema={"A": ["x", "y"]})
    assert tree_spec(nothing, ["A"]) is None
    grid = ising_grid(15, 2)
    assert grid.complexity().cells > MOST_CELLS
    assert tree_spec(grid, list(grid.variables)) is None


def test_only_normal_models_have_moments() -> None:
    pair = {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]}
    discrete = sf.BayesianNetwork(sf.DAG("A -> B"), pair, schema={"A": ["x", "y"], "B": ["u", "v"]})
    assert normal_spec(discrete, ["A", "B"]) is None
    names = [f"x{i}" for i in range(MOST_NORMAL + 1)]
    wide = sf.JointNormal(names, np.zeros(len(names)), covariance=np.eye(len(names)))
    assert normal_spec(wide, names) is None
    assert normal_spec(wide.marginal(names[1:]), names[1:]) is not None
    assert normal_spec(wide.marginal(names[:3]), names[:2]) is None


def test_numbers_survive_the_way_into_the_page() -> None:
    rng = np.random.default_rng(5)
    rows = rng.dirichlet([0.01, 1.0, 1.0], 2)
    tables = {"A": [1 / 3, 2 / 3], "B": rows}
    model = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": ["x", "y"], "B": ["u", "v", "w"]})
    spec = json.loads(json.dumps(tree_spec(model, ["A", "B"])))
    assert spec["factors"][1] == {"scope": [0, 1], "values": model.cpd("B").values.reshape(-1).tolist()}
