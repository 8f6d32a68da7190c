"""Names of nodes in every reader of graphs: text, or whole numbers, which become text; and R's leading ~."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import suffice as sf
from suffice.io.structure_file import read_structure
from suffice.structures.cliques_text import parse, quoted

DIRECTED: dict[str, Any] = {
    "edges": [(1, 2), (1, 3)],
    "lists": [[1, 2], [1, 3]],
    "mixed": [(1, "2"), ("1", 3)],
    "numpy": [tuple(edge) for edge in np.array([[1, 2], [1, 3]])],
    "lone": [1, (1, 2), (1, 3)],
    "parents": {1: [], 2: [1], 3: [1]},
    "networkx": nx.DiGraph([(1, 2), (1, 3)]),
}
UNDIRECTED: dict[str, Any] = {
    "edges": [(1, 2), (1, 3)],
    "neighbours": {1: [2, 3]},
    "networkx": nx.Graph([(1, 2), (1, 3)]),
    "networkx, directed": nx.DiGraph([(1, 2), (1, 3)]),
}


@pytest.mark.parametrize("graph", DIRECTED.values(), ids=list(DIRECTED))
def test_directed_graphs_take_whole_numbers(graph: Any) -> None:
    assert sf.DAG(graph) == sf.DAG("1 -> 2; 1 -> 3")


@pytest.mark.parametrize("kind", [sf.Cliques, sf.GaussianMarkov, sf.Ising, sf.Potts, sf.Boltzmann])
@pytest.mark.parametrize("graph", UNDIRECTED.values(), ids=list(UNDIRECTED))
def test_undirected_graphs_take_whole_numbers(kind: Any, graph: Any) -> None:
    assert kind(graph) == kind("1:2 + 1:3")


def test_what_is_said_of_nodes_takes_whole_numbers() -> None:
    dag = sf.DAG([(1, 2), (1, 3)], latent={1: 2}, kinds={2: "tabular"}, tie=[(2, 3)])
    assert dag == sf.DAG("1 -> 2; 1 -> 3", latent={"1": 2}, kinds={"2": "tabular"}, tie=[("2", "3")])
    assert sf.DAG([(1, 2), (1, 3)], tie=[{2: [1], 3: [1]}]) == sf.DAG("1 -> 2; 1 -> 3", tie=[("2", "3")])
    assert sf.Cliques([(1, 2)], latent={1: 2}) == sf.Cliques("1:2", latent={"1": 2})
    assert sf.Boltzmann([1, 2, 3]) == sf.Boltzmann(["1", "2", "3"])


def test_columns_that_are_numbered_are_found() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (30, 3)))
    assert sf.fit(sf.DAG([(0, 1), (1, 2)]), frame).certificate.ok
    assert sf.fit(sf.Cliques([(0, 1), (1, 2)]), frame).certificate.ok


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("d.json", '{"type": "DAG", "graph": [[1, 2]]}', sf.DAG("1 -> 2")),
        ("d.toml", 'type = "DAG"\ngraph = { 2 = [1] }', sf.DAG([("1", "2")])),
        ("c.toml", 'type = "Cliques"\ngraph = [[1, 2], [2, 3]]', sf.Cliques("1:2 + 2:3")),
        ("i.toml", 'type = "Ising"\nedges = [[1, 2]]\nnodes = [1, 2, 3]', sf.Ising([("1", "2"), ("3",)])),
        ("b.toml", 'type = "Boltzmann"\nnodes = [1, 2]', sf.Boltzmann(["1", "2"])),
        ("g.toml", 'type = "GaussianMarkov"\ngraph = "~ a:b + b:c"', sf.GaussianMarkov("a:b + b:c")),
    ],
)
def test_structure_files_take_whole_numbers(name: str, text: str, wanted: Any, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    found = read_structure(str(tmp_path / name))
    assert set(map(frozenset, found.edges)) == set(map(frozenset, wanted.edges))
    assert set(found.columns) == set(wanted.columns)


@pytest.mark.parametrize("graph", [{1: [], "1": ["a"]}, nx.DiGraph([(1, "a"), ("1", "a")])])
def test_a_number_and_its_text_are_no_two_nodes(graph: Any) -> None:
    with pytest.raises(sf.StructureError, match=r"1 and '1' .* same name as text"):
        sf.DAG(graph)


@pytest.mark.parametrize("name", [1.5, True, None, (1, 2)])
def test_other_names_are_refused(name: Any) -> None:
    for make in (lambda: sf.DAG({name: ["a"]}), lambda: sf.Cliques([("a", name)]), lambda: sf.Ising({"a": [name]})):
        with pytest.raises(sf.StructureError, match="must be text"):
            make()


@pytest.mark.parametrize("text", ["~ a:b + b:c", "~a:b + b:c", " ~\n a:b + b:c", "# R's way\n~ a:b + b:c"])
def test_a_formula_may_begin_with_a_tilde(text: str) -> None:
    assert sf.Cliques(text) == sf.Cliques("a:b + b:c")
    assert read_structure(text) == sf.Cliques("a:b + b:c")
    assert sf.GaussianMarkov(text) == sf.GaussianMarkov("a:b + b:c")
    assert sf.Ising(text) == sf.Ising("a:b + b:c")


def test_names_that_begin_with_a_tilde_are_quoted() -> None:
    assert quoted("~a") == "'~a'"
    assert parse("'~a':b + ~c") == [("~a", "b"), ("~c",)]
    assert read_structure("~ a") == sf.Cliques("a")
