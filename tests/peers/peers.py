"""What the tests against other libraries share: the libraries, networks to hand over, and what must be the same."""

from __future__ import annotations

import importlib
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import suffice as sf

NETWORKS = ("asia", "sachs", "alarm", "insurance")
IN_FILES = "abcdefgh"  # every format and every reader takes such names
ANYTHING = "ab é|,'{0-"


def peer(module: str, *attributes: str) -> Any:
    """Return a library, or skip the tests of a file that need it; ``SUFFICE_REQUIRE=peers`` makes that an error."""
    try:
        with warnings.catch_warnings():  # pyAgrum ends the process where its own warnings are turned into errors
            warnings.simplefilter("ignore")
            found = importlib.import_module(module)
            for attribute in attributes:  # which pyAgrum loads when they are first used
                getattr(found, attribute)
            return found
    except ImportError:
        if "peers" in os.environ.get("SUFFICE_REQUIRE", "").split(","):
            raise
        pytest.skip(f"{module} is not installed: run make test-peers", allow_module_level=True)


def network(folder: Path, name: str) -> sf.BayesianNetwork:
    return sf.read(folder / "networks_bif" / f"{name}.bif.gz")


# Networks that hypothesis makes up ----------------------------------------------------------------------------


def _labels(draw: st.DrawFn, alphabet: str, kinds: tuple[str, ...]) -> list[Any]:
    n = draw(st.integers(1 if alphabet is ANYTHING else 2, 4))
    kind = draw(st.sampled_from(kinds))
    if kind == "bool":
        return [True, False]
    values = st.integers(-50, 50) if kind == "int" else st.text(alphabet, min_size=1, max_size=5)
    return draw(st.lists(values, min_size=n, max_size=n, unique=True))


def _names(draw: st.DrawFn, alphabet: str) -> list[str]:
    return draw(st.lists(st.text(alphabet, min_size=1, max_size=5), min_size=1, max_size=6, unique=True))


@st.composite
def bayes_nets(
    draw: st.DrawFn, alphabet: str = ANYTHING, kinds: tuple[str, ...] = ("text", "int", "bool"), most_parents: int = 3
) -> sf.BayesianNetwork:
    names = _names(draw, alphabet)
    schema = {name: _labels(draw, alphabet, kinds) for name in names}
    order = draw(st.permutations(names))
    parents = {}
    for name in names:
        above = order[: order.index(name)]
        parents[name] = draw(st.lists(st.sampled_from(above), max_size=most_parents, unique=True)) if above else []
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = {}
    for name, above in parents.items():
        sizes = [len(schema[parent]) for parent in above]
        table = random.dirichlet(np.ones(len(schema[name])), size=sizes)
        tables[name] = table
    return sf.BayesianNetwork(sf.DAG(parents), tables, schema=schema)


@st.composite
def markov_nets(draw: st.DrawFn, kinds: tuple[str, ...] = ("text", "int")) -> sf.MarkovNetwork:
    names = _names(draw, ANYTHING)
    schema = {name: _labels(draw, ANYTHING, kinds) for name in names}
    scopes = draw(st.lists(st.lists(st.sampled_from(names), max_size=3, unique=True), max_size=6))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    factors = [(scope, 0.1 + random.random([len(schema[name]) for name in scope])) for scope in scopes]
    return sf.MarkovNetwork(factors, schema=schema)


# What must be the same ----------------------------------------------------------------------------------------


def assert_equal(found: sf.BayesianNetwork, model: sf.BayesianNetwork) -> None:
    """The same graph with parents in the same order, the same states, and numbers equal to the bit."""
    assert found.dag == model.dag
    assert found.schema == model.schema
    for ours, theirs in zip(model.cpds, found.cpds, strict=True):
        assert np.array_equal(ours.values, theirs.values)


def assert_close(
    found: sf.BayesianNetwork, model: sf.BayesianNetwork, atol: float, nodes: list[str] | None = None
) -> None:
    """The same graph and states, in any order, and the same numbers by name, of some nodes or of all."""
    assert set(found.variables) == set(model.variables)
    for node in model.variables if nodes is None else nodes:
        ours, theirs = model.cpd(node).table, found.cpd(node).table
        assert set(theirs.names) == set(ours.names)
        values = np.transpose(theirs.values, [theirs.names.index(name) for name in ours.names])
        for axis, variable in enumerate(ours.variables):
            labels = list(map(str, found.schema[variable.name].labels))
            assert sorted(labels) == sorted(map(str, variable.labels))
            values = np.take(values, [labels.index(str(label)) for label in variable.labels], axis=axis)
        np.testing.assert_allclose(values, ours.values, rtol=0, atol=atol)


def numbered(model: Any, names: list[str] | None = None) -> Any:
    """Return a network as a UAI file holds it, its variables and states by their numbers; ``names`` are in order."""
    new = {name: f"x{number}" for number, name in enumerate(names or model.variables)}
    schema = {new[name]: list(map(str, range(model.schema[name].n_states))) for name in new}
    if isinstance(model, sf.MarkovNetwork):
        factors = [([new[name] for name in factor.names], factor.values) for factor in model.factors]
        return sf.MarkovNetwork(factors, schema=schema)
    dag = sf.DAG({new[name]: [new[parent] for parent in model.dag.parents[name]] for name in new})
    return sf.BayesianNetwork(dag, {new[name]: model.cpd(name).table.values for name in new}, schema=schema)


def evidence(model: Any, n: int, seed: int) -> dict[str, Any]:
    """Return the states of a few variables in one drawn row, which is therefore possible."""
    [row] = model.sample(1, seed=seed, backend="pyarrow").to_pylist()
    seen = np.random.default_rng(seed).permutation(len(model.variables))[:n]
    return {model.variables[place]: row[model.variables[place]] for place in seen}
