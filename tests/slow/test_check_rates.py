"""How often checks err: structures that are right are contradicted rarely, those that lack an edge nearly always.

Asia is the network of Lauritzen and Spiegelhalter (1988). One of its nodes is a function of its parents, and two states
are as rare as one row in a hundred, so that G² has structural zeros, and expected counts below one.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suffice as sf

pytestmark = pytest.mark.slow

TABLES = 200
WITHOUT = {"S -> B": ("smoke", "bronc"), "L -> E": ("lung", "either"), "E -> X": ("either", "xray")}
CHAIN = {"a": [], "b": ["a"], "c": ["b"], "d": ["a"], "e": ["c", "d"]}
STRENGTH = 0.3
"""The regression coefficient of every edge of the normal network, whose residuals have a variance of one."""


def without(parents: Any, edge: tuple[str, str]) -> sf.DAG:
    return sf.DAG({node: [one for one in above if (one, node) != edge] for node, above in parents.items()})


def accepted(dag: sf.DAG, tables: list[Any]) -> float:
    return float(np.mean([sf.check(dag, table, bootstrap=0).ok for table in tables]))


@cache
def asia(folder: Path) -> tuple[sf.DAG, list[Any]]:
    network = sf.read(folder / "networks_bif" / "asia.bif.gz")
    return network.dag, [network.sample(5000, seed=1000 + number) for number in range(TABLES)]


@pytest.mark.data
def test_the_structure_of_asia_is_accepted(data_folder: Path) -> None:
    dag, tables = asia(data_folder)
    assert accepted(dag, tables) >= 0.90


@pytest.mark.data
@pytest.mark.parametrize("edge", WITHOUT)
def test_asia_without_an_edge_is_rejected(edge: str, data_folder: Path) -> None:
    dag, tables = asia(data_folder)
    assert accepted(without(dag.parents, WITHOUT[edge]), tables) <= 0.05


@cache
def normal() -> list[Any]:
    tables = {
        node: {"intercept": 1.0, "coefficients": dict.fromkeys(above, STRENGTH), "sd": 1.0}
        for node, above in CHAIN.items()
    }
    network = sf.BayesianNetwork(sf.DAG(CHAIN), tables)
    return [network.sample(500, seed=number) for number in range(TABLES)]


def test_a_normal_network_is_accepted() -> None:
    assert accepted(sf.DAG(CHAIN), normal()) >= 0.90


@pytest.mark.parametrize("edge", sf.DAG(CHAIN).edges)
def test_a_normal_network_without_an_edge_is_rejected(edge: tuple[str, str]) -> None:
    assert accepted(without(CHAIN, edge), normal()) <= 0.05


def test_p_values_keep_their_level_on_generated_networks() -> None:
    """Single tests of true independences, sparse tables among them, fall below the level no more often than it says."""
    rng = np.random.default_rng(7)
    below, n_tests, contradicted = 0, 0, 0
    for number in range(100):
        names = [f"v{i}" for i in range(6)]
        parents = {name: [one for one in names[:i] if rng.random() < 0.4][:3] for i, name in enumerate(names)}
        sizes = {name: int(rng.integers(2, 4)) for name in names}
        tables = {
            name: rng.dirichlet(np.full(sizes[name], 0.7), size=tuple(sizes[one] for one in above))
            for name, above in parents.items()
        }
        schema = {name: [str(state) for state in range(size)] for name, size in sizes.items()}
        network = sf.BayesianNetwork(sf.DAG(parents), tables, schema=schema)
        found = sf.check(network.dag, network.sample(300, seed=number), schema=schema, bootstrap=0)
        contradicted += not found.ok
        below += sum(test.p_value < 0.05 for test in found.tests)
        n_tests += len(found.tests)
    assert n_tests > 500
    rate = below / n_tests
    assert 0.02 < rate < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_tests)
    assert contradicted <= 12  # a binomial of 100 at 0.05 exceeds 12 once in 700 times


def test_the_bootstrap_keeps_its_level() -> None:
    """Tables with many cells that never occur, where the sum of deviances alone would reject most right structures."""
    rng = np.random.default_rng(11)
    names = [f"v{i}" for i in range(6)]
    parents = {name: names[max(0, i - 2) : i] for i, name in enumerate(names)}
    tables = {name: rng.dirichlet(np.full(3, 0.3), size=(3,) * len(above)) for name, above in parents.items()}
    schema = {name: ["x", "y", "z"] for name in names}
    network = sf.BayesianNetwork(sf.DAG(parents), tables, schema=schema)
    p_values = []
    for number in range(60):
        rows = network.sample(400, seed=number)
        found = sf.check(network.dag, rows, schema=schema, bootstrap=40).bootstrap
        assert found is not None
        p_values.append(found.p_value)
    assert np.mean(np.array(p_values) < 0.05) <= 0.15
    assert 0.35 < np.mean(p_values) < 0.65
