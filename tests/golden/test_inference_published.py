"""Exact inference against published numbers: competition instances, reference posteriors, textbooks."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.inference import elimination, inquiry
from suffice.inference.calibration import calibrate
from suffice.inference.inquiry import Given
from suffice.inference.plan import Plan

YES_NO = ["yes", "no"]

# UAI 2014 -----------------------------------------------------------------------------------------------------
# Instances of the UAI 2014 inference competition, with log10 Z (PR) and marginals (MAR) as published there.

INSTANCES = [
    "DBN_11", "Grids_12", "Pedigree_12", "Promedus_15", "Promedus_21", "Promedus_22", "Promedus_24", "Promedus_27",
    "Promedus_29", "Promedus_31", "Promedus_32", "Promedus_34", "Promedus_35", "Segmentation_11", "Segmentation_14",
    "Segmentation_16",
]  # fmt: skip


@pytest.mark.data
def test_every_competition_instance_is_tested(data_folder: Path) -> None:
    assert sorted(path.stem for path in (data_folder / "uai2014").glob("*.uai")) == sorted(INSTANCES)


@pytest.mark.data
@pytest.mark.parametrize("name", INSTANCES)
def test_competition_instances(data_folder: Path, name: str) -> None:
    path = data_folder / "uai2014" / f"{name}.uai"
    model = sf.read(path)
    evidence = sf.read(f"{path}.evid")
    reference = json.loads((path.parent / "reference_lnZ.json").read_text())["instances"][path.name]
    log_z = model._tables.inquiry.log_evidence(given_of(model, evidence))
    assert log_z == pytest.approx(reference["lnZ"], rel=1e-8)
    published = Path(f"{path}.PR").read_text().split()[1]
    assert f"{log_z / math.log(10):.6g}" == f"{float(published):.6g}"
    assert_marginals(model, evidence, Path(f"{path}.MAR").read_text().split()[1:])


def given_of(model: Any, evidence: dict[str, str]) -> Given:
    place = {name: position for position, name in enumerate(model.schema)}
    return Given({place[name]: model.schema[name].code(state) for name, state in evidence.items()})


def assert_marginals(model: Any, evidence: dict[str, str], words: list[str]) -> None:
    """Compare with a MAR file: the number of variables, then the number of states and p of each."""
    found = model.marginals(evidence)
    assert int(words[0]) == len(model.schema)
    at = 1
    for variable in model.schema.variables:
        n = int(words[at])
        published = np.array(words[at + 1 : at + 1 + n], np.float64)
        at += 1 + n
        if variable.name in evidence:
            expected = np.arange(n) == variable.code(evidence[variable.name])
            np.testing.assert_allclose(published, expected, atol=1e-6)
        else:
            np.testing.assert_allclose(found[variable.name].values, published, atol=1e-6)
    assert at == len(words)


# Reference posteriors -----------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("name", ["alarm", "asia", "cancer", "earthquake", "sachs", "survey"])
def test_reference_posteriors(data_folder: Path, name: str) -> None:
    """Variable elimination by an independent program, on tables as written; here rows are scaled to sum to one."""
    model = sf.read(data_folder / "networks_bif" / f"{name}.bif.gz")
    reference = json.loads((data_folder / "inference_reference" / f"{name}.json").read_text())
    assert len(reference["cases"]) == 4
    for case in reference["cases"]:
        evidence = case["evidence"]
        assert model.log_evidence(evidence) == pytest.approx(case["log_p_evidence"], abs=1e-7)
        found = model.marginals(evidence)
        for variable, expected in case["marginals"].items():
            if variable in evidence:
                continue
            single = model.query(variable, given=evidence)
            for label, p in expected.items():
                assert found[variable][{variable: label}] == pytest.approx(p, abs=1e-7)
                assert single[{variable: label}] == pytest.approx(p, abs=1e-7)


# The bnlearn repository ---------------------------------------------------------------------------------------

NETWORKS = [
    "alarm", "andes", "asia", "barley", "cancer", "diabetes", "earthquake", "hailfinder", "hepar2", "insurance", "link",
    "mildew", "munin", "munin1", "munin2", "munin3", "munin4", "pathfinder", "pigs", "sachs", "survey", "water",
    "win95pts",
]  # fmt: skip
LARGE = {"diabetes", "link", "munin", "munin2", "munin3", "munin4"}  # many nodes: seconds each
TOO_LARGE = {"munin1"}  # what is asked is answered by elimination; all marginals take more memory than is allowed here


@pytest.fixture
def four_gigabytes() -> Any:
    before = sf.config().memory
    sf.config(memory="4GB")
    yield
    sf.config(memory=before)


def questions(model: Any, n: int, seed: int) -> list[tuple[list[str], dict[str, Any]]]:
    """Random targets, and evidence that is taken from a drawn row, so that it is possible."""
    rng = np.random.default_rng(seed)
    rows = model.sample(n, seed=seed, backend="pandas")
    asked = []
    for row in range(n):
        names = [model.variables[place] for place in rng.permutation(len(model.variables))]
        n_targets = 1 if row % 2 == 0 else 2
        n_seen = min(len(names) - n_targets, 1 + row)
        asked.append((names[:n_targets], {name: rows[name][row] for name in names[n_targets : n_targets + n_seen]}))
    return asked


@pytest.mark.data
def test_every_network_is_asked(data_folder: Path) -> None:
    assert sorted(path.name.split(".")[0] for path in (data_folder / "networks_bif").glob("*.bif.gz")) == NETWORKS


def by_two_rules(model: Any, targets: list[str], evidence: dict[str, Any]) -> list[Any]:
    """The same by calibrating trees of two elimination rules, over the ancestors of what is asked."""
    product = model._tables.inquiry.product
    place = {name: position for position, name in enumerate(model.schema)}
    hard = {place[name]: model.schema[name].code(state) for name, state in evidence.items()}
    wanted = tuple(place[name] for name in targets)
    needed, waiting = set(), [*wanted, *hard]
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += product.parents[node]
    factors = [factor.given(hard) for node, factor in enumerate(product.factors) if node in needed]
    kept = sorted(needed - set(hard))
    new = {node: index for index, node in enumerate(kept)}
    small = type(product)(
        tuple(product.names[node] for node in kept),
        tuple(product.sizes[node] for node in kept),
        tuple(type(f)(tuple(new[v] for v in f.scope), f.values) for f in factors),
    )
    answers = []
    for rule in ("min_fill", "min_degree"):
        plan = Plan.of(small, (), [[new[v] for v in wanted]], rule)
        if plan.cells > 2**24:
            continue
        found = calibrate(plan, plan.packed(small.factors)).marginal([new[v] for v in wanted])
        assert found is not None
        answers.append(found.copy())
    return answers


def check_network(data_folder: Path, name: str, n: int) -> None:
    model = sf.read(data_folder / "networks_bif" / f"{name}.bif.gz")
    checked = 0
    for targets, evidence in questions(model, n, seed=len(name)):
        answer = model.query(targets, given=evidence).values
        assert answer.sum() == pytest.approx(1, abs=1e-12)
        for other in by_two_rules(model, targets, evidence):
            np.testing.assert_allclose(answer, other, atol=1e-10)
            checked += 1
    assert checked >= n
    product = model._tables.inquiry.product
    targets, evidence = questions(model, 1, seed=99)[0]
    given = given_of(model, evidence)
    wanted = tuple(list(model.schema).index(target) for target in targets)
    answer = model._tables.inquiry.posterior(
        wanted, given
    )  # after PATIENCE questions: from the tree, where one is kept
    np.testing.assert_allclose(answer, elimination.posterior(product, wanted, given.hard), atol=1e-10)
    assert model._tables.inquiry._asked > inquiry.PATIENCE


@pytest.mark.data
@pytest.mark.usefixtures("four_gigabytes")
@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in LARGE])
def test_networks_answer_random_questions(data_folder: Path, name: str) -> None:
    check_network(data_folder, name, 4)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.usefixtures("four_gigabytes")
@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_networks_answer_random_questions(data_folder: Path, name: str) -> None:
    check_network(data_folder, name, 4)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.usefixtures("four_gigabytes")
@pytest.mark.parametrize("name", sorted(set(NETWORKS) - TOO_LARGE))
def test_all_marginals_agree_with_single_questions(data_folder: Path, name: str) -> None:
    model = sf.read(data_folder / "networks_bif" / f"{name}.bif.gz")
    _, evidence = questions(model, 3, seed=7)[2]
    given = given_of(model, evidence)
    found = model.marginals(evidence)
    free = list(found)
    assert set(free) == set(model.schema) - set(evidence)
    for target in free[:: max(1, len(free) // 5)]:
        wanted = (list(model.schema).index(target),)
        single = elimination.posterior(model._tables.inquiry.product, wanted, given.hard)
        np.testing.assert_allclose(found[target].values, single, atol=1e-10)


@pytest.mark.data
@pytest.mark.usefixtures("four_gigabytes")
def test_munin1_is_answered_or_refused_with_numbers(data_folder: Path) -> None:
    sf.config(memory="1GB")
    model = sf.read(data_folder / "networks_bif" / "munin1.bif.gz")
    with pytest.raises(sf.ModelError, match=r"may use 1 GB.*width \d+.*cells"):
        model.marginals()


# Textbooks ----------------------------------------------------------------------------------------------------


def chest_clinic() -> sf.BayesianNetwork:
    """S. L. Lauritzen & D. J. Spiegelhalter (1988), J. R. Statist. Soc. B 50(2), 157-224, table 1."""
    either = [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]
    nodes = ["asia", "smoking", "tuberculosis", "cancer", "bronchitis", "either", "xray", "dyspnoea"]
    return sf.BayesianNetwork(
        sf.DAG(
            "asia -> tuberculosis; smoking -> cancer; smoking -> bronchitis; tuberculosis -> either <- cancer; "
            "either -> xray; either -> dyspnoea <- bronchitis"
        ),
        {
            "asia": [0.01, 0.99],
            "smoking": [0.5, 0.5],
            "tuberculosis": [[0.05, 0.95], [0.01, 0.99]],
            "cancer": [[0.1, 0.9], [0.01, 0.99]],
            "bronchitis": [[0.6, 0.4], [0.3, 0.7]],
            "either": either,
            "xray": [[0.98, 0.02], [0.05, 0.95]],
            "dyspnoea": [[[0.9, 0.1], [0.7, 0.3]], [[0.8, 0.2], [0.1, 0.9]]],
        },
        schema=dict.fromkeys(nodes, YES_NO),
    )


def p_yes(model: sf.BayesianNetwork, target: str, **evidence: str) -> float:
    return float(model.query(target, given=evidence)[{target: "yes"}])


def test_chest_clinic() -> None:
    """Their example: a visit to Asia and dyspnoea. The beliefs from their tables, in fractions, by enumeration."""
    model = chest_clinic()
    tables = {node: model.cpd(node).table for node in model.variables}
    joint: dict[tuple[str, ...], Fraction] = {}
    for states in itertools.product(YES_NO, repeat=8):
        row = dict(zip(model.variables, states, strict=True))
        cells = (table[{name: row[name] for name in table.names}] for table in tables.values())
        joint[states] = math.prod((Fraction(str(p)) for p in cells), start=Fraction(1))
    assert sum(joint.values()) == 1
    for evidence in ({}, {"asia": "yes", "dyspnoea": "yes"}, {"asia": "yes", "dyspnoea": "yes", "xray": "no"}):
        seen = {model.variables.index(name): state for name, state in evidence.items()}
        kept = {states: p for states, p in joint.items() if all(states[i] == state for i, state in seen.items())}
        total = sum(kept.values())
        assert math.exp(model.log_evidence(evidence)) == pytest.approx(float(total), rel=1e-12)
        for place, target in enumerate(model.variables):
            if target not in evidence:
                exact = sum(p for states, p in kept.items() if states[place] == "yes") / total
                assert p_yes(model, target, **evidence) == pytest.approx(float(exact), rel=1e-12)


def test_burglary() -> None:
    """S. Russell & P. Norvig, "Artificial Intelligence: A Modern Approach", figure 14.2 and section 14.4.

    P(Burglary | JohnCalls, MaryCalls) ≈ ⟨0.284, 0.716⟩; and P(j, m, a, ¬b, ¬e) = 0.000628 in section 14.2.
    """
    nodes = ["burglary", "earthquake", "alarm", "john", "mary"]
    model = sf.BayesianNetwork(
        sf.DAG("burglary -> alarm <- earthquake; alarm -> john; alarm -> mary"),
        {
            "burglary": [0.001, 0.999],
            "earthquake": [0.002, 0.998],
            "alarm": [[[0.95, 0.05], [0.94, 0.06]], [[0.29, 0.71], [0.001, 0.999]]],
            "john": [[0.9, 0.1], [0.05, 0.95]],
            "mary": [[0.7, 0.3], [0.01, 0.99]],
        },
        schema=dict.fromkeys(nodes, YES_NO),
    )
    assert round(p_yes(model, "burglary", john="yes", mary="yes"), 3) == 0.284
    seen = {"john": "yes", "mary": "yes", "alarm": "yes", "burglary": "no", "earthquake": "no"}
    assert round(math.exp(model.log_evidence(seen)), 6) == 0.000628


def test_sprinkler() -> None:
    """K. Murphy (1998), "A brief introduction to graphical models and Bayesian networks".

    Pr(S=1 | W=1) = 0.2781/0.6471 = 0.430, Pr(R=1 | W=1) = 0.4581/0.6471 = 0.708, and explaining away,
    Pr(S=1 | W=1, R=1) = 0.1945.
    """
    nodes = ["cloudy", "sprinkler", "rain", "wet"]
    model = sf.BayesianNetwork(
        sf.DAG("cloudy -> sprinkler; cloudy -> rain; sprinkler -> wet <- rain"),
        {
            "cloudy": [0.5, 0.5],
            "sprinkler": [[0.1, 0.9], [0.5, 0.5]],
            "rain": [[0.8, 0.2], [0.2, 0.8]],
            "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.9, 0.1], [0.0, 1.0]]],
        },
        schema=dict.fromkeys(nodes, YES_NO),
    )
    assert math.exp(model.log_evidence({"wet": "yes"})) == pytest.approx(0.6471, abs=1e-12)
    assert p_yes(model, "sprinkler", wet="yes") == pytest.approx(0.2781 / 0.6471, abs=1e-12)
    assert p_yes(model, "rain", wet="yes") == pytest.approx(0.4581 / 0.6471, abs=1e-12)
    assert round(p_yes(model, "sprinkler", wet="yes", rain="yes"), 4) == 0.1945
