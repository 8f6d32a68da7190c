"""GaussianMarkov: a graph, and what it says of the precision matrix."""

from __future__ import annotations

import json

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.io.structure_file import read_structure
from suffice.structures.structure import Structure

RING = "A:B + B:C + C:D + D:A"


@st.composite
def graphs(draw) -> nx.Graph:
    p = draw(st.integers(1, 7))
    graph = nx.empty_graph(p)
    pairs = [(a, b) for a in range(p) for b in range(a)]
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    return nx.relabel_nodes(graph, {node: f"v{node}" for node in graph})


def test_it_is_a_structure_over_continuous_columns() -> None:
    structure = sf.GaussianMarkov("A:B + C")
    assert isinstance(structure, Structure)
    assert structure.columns == ("A", "B", "C")
    assert structure.continuous == {"A", "B", "C"}
    assert structure.declared == {}


def test_only_edges_count() -> None:
    triangle = sf.GaussianMarkov("A:B:C")
    assert sf.GaussianMarkov("A:B + B:C + C:A") == triangle
    assert hash(sf.GaussianMarkov("A:B + B:C + C:A")) == hash(triangle)
    assert sf.GaussianMarkov("A:B + B:C") != triangle
    assert sf.GaussianMarkov(triangle) == triangle
    assert sf.GaussianMarkov(sf.Cliques("A:B:C")) == triangle
    assert sf.GaussianMarkov(sf.DAG("A -> C <- B")).edges == (("A", "C"), ("A", "B"), ("C", "B"))


def test_edges_are_listed_in_one_order() -> None:
    assert sf.GaussianMarkov([("A",), ("B",), ("C",), ("C", "B"), ("B", "A")]).edges == (("A", "B"), ("B", "C"))


@given(graph=graphs())
def test_the_graph_is_read_as_networkx_says(graph: nx.Graph) -> None:
    structure = sf.GaussianMarkov(graph)
    assert nx.utils.graphs_equal(structure.to_networkx(), graph)
    assert {frozenset(clique) for clique in structure.cliques} == set(map(frozenset, nx.find_cliques(graph)))
    assert structure.is_chordal == nx.is_chordal(graph)
    assert structure.n_free == 2 * len(graph) + graph.number_of_edges()


@given(graph=graphs())
def test_regressions_have_joined_neighbours_and_each_edge_once(graph: nx.Graph) -> None:
    structure = sf.GaussianMarkov(graph)
    if structure.regressions is None:
        return
    seen = []
    for name, later in structure.regressions:
        assert all(graph.has_edge(a, b) for a in later for b in later if a != b)
        seen += [frozenset((name, near)) for near in later]
    assert sorted(map(sorted, seen)) == sorted(map(sorted, graph.edges))
    assert sorted(name for name, _ in structure.regressions) == sorted(graph)


@given(graph=graphs())
def test_it_survives_json(graph: nx.Graph) -> None:
    structure = sf.GaussianMarkov(graph)
    again = sf.GaussianMarkov.from_dict(json.loads(json.dumps(structure.to_dict())))
    assert again == structure
    assert again.variables == structure.variables


def test_edges_outside_the_variables_are_refused() -> None:
    with pytest.raises(sf.StructureError, match=r"\['C'\], which the entry 'variables' does not"):
        sf.GaussianMarkov.from_dict({"variables": ["A", "B"], "edges": [["A", "C"]]})


def test_it_prints_as_its_maximal_cliques() -> None:
    structure = sf.GaussianMarkov("A:B + B:C + C:A + 'two words'")
    assert repr(structure) == "GaussianMarkov(\"A:B:C + 'two words'\")"
    assert str(structure) == "A:B:C + 'two words'"
    assert "<b>" not in sf.GaussianMarkov([("<b>", "x")])._repr_html_()


def test_a_structure_file_can_name_it(tmp_path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f'type = "GaussianMarkov"\ngraph = "{RING}"\n')
    assert read_structure(str(path)) == sf.GaussianMarkov(RING)


@pytest.mark.parametrize("bad", ["", [], 3, [("A", "A")], "A -> B"])
def test_what_is_no_graph_is_refused(bad) -> None:
    with pytest.raises(sf.StructureError):
        sf.GaussianMarkov(bad)
