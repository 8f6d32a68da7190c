"""Four data sets of bnlearn, fitted by bnlearn 4.9 under R 4.2.2, and by this library twice: by call and by command.

M. Scutari (2010), "Learning Bayesian networks with the bnlearn R package", Journal of Statistical Software 35(3). The
reference numbers were computed with ``bn.fit`` and ``score`` (see ``bnlearn_reference/SOURCE.txt``). bnlearn's BIC and
AIC are −1/2 times ours, and it prints 15 significant digits.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import run, run_process, strict
from tests.conftest import DATA

import suffice as sf

pytestmark = pytest.mark.data

NAMES = ("learning.test", "asia", "alarm", "lizards")
TABLES = {"mle": "fit_mle", "bdeu:1": "fit_bayes_iss1", "bdeu:10": "fit_bayes_iss10"}
PRIORS = {"mle": None, "bdeu:1": sf.BDeu(1), "bdeu:10": sf.BDeu(10), "k2": sf.K2()}
UNSEEN = {"alarm": "nan"}
RELATIVE = 1e-9

Cells = dict[frozenset[tuple[str, str]], float]


def close(value: float) -> Any:
    return pytest.approx(value, rel=RELATIVE, abs=1e-12)


@functools.cache
def reference(name: str) -> dict[str, Any]:
    return json.loads((DATA / "bnlearn_reference" / f"{name}.json").read_text())


def table_path(name: str) -> Path:
    return DATA / "bnlearn_data" / f"{name}.csv.gz"


@functools.cache
def by_call(name: str, how: str) -> sf.Fit:
    return sf.fit(
        sf.DAG(reference(name)["modelstring"]),
        str(table_path(name)),
        prior=PRIORS[how],
        unseen_parents=UNSEEN.get(name, "error"),
    )


@functools.cache
def by_command(name: str, how: str) -> dict[str, Any]:
    options = [] if how == "mle" else ["--prior", how]
    options += ["--unseen-parents", UNSEEN[name]] if name in UNSEEN else []
    start = run_process if (name, how) == ("asia", "bdeu:1") else run
    done = start("fit", reference(name)["modelstring"], str(table_path(name)), "--json", *options)
    assert (done.exit_code, done.stderr) == (0, "")
    document = strict(done.stdout)
    assert (document["format"], document["kind"]) == ("suffice", "fit")
    return document["content"]


def cells_of_reference(cpt: dict[str, Any]) -> Cells:
    """Read a table whose first axis, the child, runs fastest."""
    axes = [[(name, str(level)) for level in cpt["levels"][name]] for name in cpt["dim_names"]]
    cells = [frozenset(reversed(cell)) for cell in itertools.product(*reversed(axes))]
    values = [math.nan if value == "NA" else float(value) for value in cpt["values_fortran_order"]]
    return dict(zip(cells, values, strict=True))


def cells_of_model(model: sf.BayesianNetwork, node: str) -> Cells:
    table = model.cpd(node).table
    names = table.names
    axes = [[(variable.name, str(label)) for label in variable.labels] for variable in table.variables]
    return {frozenset(cell): table[dict(zip(names, (label for _, label in cell), strict=True))]
            for cell in itertools.product(*axes)}  # fmt: skip


def cells_of_document(model: dict[str, Any], node: str) -> Cells:
    """Read a table from the command's output, with nothing but the documented layout."""
    states = {entry["name"]: [str(state) for state in entry["states"]] for entry in model["schema"]}
    parents = dict(map(tuple, model["dag"]["parents"]))
    position = list(parents).index(node)
    axes = [[(name, state) for state in states[name]] for name in parents[node]]
    rows = model["cpds"][position]["values"]
    cells: Cells = {}
    for above, row in zip(itertools.product(*axes), rows, strict=True):
        for state, p in zip(states[node], row, strict=True):
            cells[frozenset((*above, (node, state)))] = math.nan if p is None else p
    return cells


def assert_same_table(found: Cells, expected: Cells, node: str) -> None:
    assert found.keys() == expected.keys()
    for cell, p in expected.items():
        assert found[cell] == pytest.approx(p, rel=RELATIVE, abs=1e-14, nan_ok=True), (node, sorted(cell))


@pytest.mark.parametrize("name", NAMES)
def test_reference_agrees_with_itself(name: str) -> None:
    """The readers of this file understand the layout: every conditional distribution sums to one, or is unknown."""
    entries = reference(name)["fit_mle"]
    assert len(entries) >= 3
    for node, entry in entries.items():
        sums: dict[frozenset[tuple[str, str]], float] = {}
        for cell, p in cells_of_reference(entry["cpt"]).items():
            above = frozenset(pair for pair in cell if pair[0] != node)
            sums[above] = sums.get(above, 0.0) + p
        assert all(math.isnan(total) or abs(total - 1) < 1e-12 for total in sums.values())


@pytest.mark.parametrize("how", TABLES)
@pytest.mark.parametrize("name", NAMES)
def test_tables_by_call(name: str, how: str) -> None:
    fit = by_call(name, how)
    expected = reference(name)[TABLES[how]]
    assert set(fit.model.variables) == set(expected)
    for node, entry in expected.items():
        assert_same_table(cells_of_model(fit.model, node), cells_of_reference(entry["cpt"]), node)


@pytest.mark.parametrize("how", TABLES)
@pytest.mark.parametrize("name", NAMES)
def test_tables_by_command(name: str, how: str) -> None:
    model = by_command(name, how)["model"]
    expected = reference(name)[TABLES[how]]
    assert {node for node, _ in model["dag"]["parents"]} == set(expected)
    for node, entry in expected.items():
        assert_same_table(cells_of_document(model, node), cells_of_reference(entry["cpt"]), node)


def test_alarm_has_rows_without_data_exactly_where_bnlearn_has_them() -> None:
    unknown = {
        node: sum(map(math.isnan, cells_of_model(by_call("alarm", "mle").model, node).values()))
        for node in by_call("alarm", "mle").model.variables
    }
    assert {node: count for node, count in unknown.items() if count} == {"CCHL": 8, "ECO2": 4, "PRSS": 4, "VLNG": 4}


def test_alarm_without_a_policy_names_the_rows_without_data() -> None:
    with pytest.raises(sf.EstimationError, match="without data"):
        sf.fit(sf.DAG(reference("alarm")["modelstring"]), str(table_path("alarm")))


@pytest.mark.parametrize("name", NAMES)
def test_scores_by_call(name: str) -> None:
    expected, fit = reference(name), by_call(name, "mle")
    assert fit.n == expected["n"]
    assert fit.n_free == expected["nparams"]
    assert fit.log_likelihood == close(expected["scores"]["loglik"])
    assert fit.aic == close(-2 * expected["scores"]["aic"])
    assert fit.bic == close(-2 * expected["scores"]["bic"])
    assert dict(fit.local) == {node: close(value) for node, value in expected["loglik_by_node"].items()}
    assert by_call(name, "bdeu:1").log_marginal_likelihood == close(expected["scores"]["bde_iss1"])
    assert by_call(name, "bdeu:10").log_marginal_likelihood == close(expected["scores"]["bde_iss10"])
    assert by_call(name, "k2").log_marginal_likelihood == close(expected["scores"]["k2"])
    by_node = {node: entry.log_marginal_likelihood for node, entry in by_call(name, "bdeu:1").posterior.items()}
    assert by_node == {node: close(value) for node, value in expected["bde_iss1_by_node"].items()}


@pytest.mark.parametrize("name", NAMES)
def test_scores_by_command(name: str) -> None:
    expected, fit = reference(name), by_command(name, "mle")
    assert fit["n"] == expected["n"]
    assert fit["n_free"] == expected["nparams"]
    assert fit["log_likelihood"] == close(expected["scores"]["loglik"])
    assert fit["aic"] == close(-2 * expected["scores"]["aic"])
    assert fit["bic"] == close(-2 * expected["scores"]["bic"])
    assert fit["local"] == {node: close(value) for node, value in expected["loglik_by_node"].items()}
    scores = {"bdeu:1": "bde_iss1", "bdeu:10": "bde_iss10", "k2": "k2"}
    for how, score in scores.items():
        assert by_command(name, how)["log_marginal_likelihood"] == close(expected["scores"][score])
    nodes = [node for node, _ in by_command(name, "bdeu:1")["structure"]["parents"]]
    values = [entry["log_marginal_likelihood"] for entry in by_command(name, "bdeu:1")["posterior"]["nodes"]]
    assert dict(zip(nodes, values, strict=True)) == {
        node: close(value) for node, value in expected["bde_iss1_by_node"].items()
    }


@pytest.mark.parametrize("how", PRIORS)
@pytest.mark.parametrize("name", NAMES)
def test_every_fit_is_certified(name: str, how: str) -> None:
    assert by_call(name, how).certificate.ok
    assert by_command(name, how)["certificate"]["ok"] is True


@pytest.mark.parametrize("name", NAMES)
def test_second_count_of_the_data_agrees(name: str) -> None:
    fit = sf.fit(sf.DAG(reference(name)["modelstring"]), str(table_path(name)), prior=sf.BDeu(1), certify="data")
    assert fit.certificate.ok
    assert fit.certificate.data_gap == 0
