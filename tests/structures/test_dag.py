"""DAG: every way of writing a graph is the same graph, and what is no DAG is refused with the reason."""

from __future__ import annotations

import itertools
import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.errors import StructureError, SufficeError, UnknownNameError
from suffice.structures.structure import Structure

NAMES = ["A", "B", "M. Work", "é", "x;y"]
pairs = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]
edge_lists = st.lists(st.sampled_from(pairs), unique=True)


# Ways of writing ----------------------------------------------------------------------------------------------


@given(edge_lists, st.permutations(NAMES))
def test_every_way_of_writing_is_the_same_graph(edges, nodes):
    by_edges = sf.DAG([*nodes, *edges])
    parents = {node: [parent for parent, child in edges if child == node] for node in nodes}
    assert sf.DAG(parents) == by_edges
    assert sf.DAG(by_edges) == by_edges
    assert sf.DAG(iter([*nodes, *map(list, edges)])) == by_edges
    assert sf.DAG(by_edges.to_bnlearn()) == by_edges
    assert by_edges.nodes == tuple(nodes)
    assert by_edges.parents == {node: tuple(above) for node, above in parents.items()}
    assert set(by_edges.edges) == set(edges)


@given(edge_lists)
def test_networkx_graphs_come_and_go(edges):
    graph = nx.DiGraph()
    graph.add_nodes_from(NAMES)
    graph.add_edges_from(edges)
    dag = sf.DAG(graph)
    assert set(dag.edges) == set(edges)
    assert dag.nodes == tuple(NAMES)
    back = dag.to_networkx()
    assert set(back.nodes) == set(NAMES)
    assert set(back.edges) == set(edges)


def test_parents_named_only_as_parents_are_nodes():
    assert sf.DAG({"B": ["A"]}).nodes == ("B", "A")


def test_order_of_parents_is_the_order_given():
    assert sf.DAG("C -> X; A -> X; B -> X").parents["X"] == ("C", "A", "B")
    assert sf.DAG({"X": ["C", "A", "B"]}).parents["X"] == ("C", "A", "B")


@given(edge_lists, st.permutations(NAMES))
def test_order_puts_parents_before_children(edges, nodes):
    order = sf.DAG([*nodes, *edges]).order
    assert sorted(order) == sorted(nodes)
    assert all(order.index(parent) < order.index(child) for parent, child in edges)


@pytest.mark.parametrize("graph", [None, 5, object()])
def test_what_is_no_graph_is_answered_with_the_ways_of_writing(graph):
    with pytest.raises(StructureError, match=r"'A -> B'.*list of edges.*networkx"):
        sf.DAG(graph)


@pytest.mark.parametrize("item", [("A",), ("A", "B", "C"), (1.5, 2), 3.5, None])
def test_what_is_no_edge_is_shown(item):
    with pytest.raises(StructureError, match="pair of names"):
        sf.DAG([item])


@pytest.mark.parametrize("graph", [{1.5: [2]}, {"A": [2.5]}, {True: []}, {"A": b"ab"}])
def test_names_must_be_text(graph):
    with pytest.raises(StructureError):
        sf.DAG(graph)


@pytest.mark.parametrize("graph", [[("", "A")], {"": []}, [""]])
def test_names_must_not_be_empty(graph):
    with pytest.raises(StructureError, match="name"):
        sf.DAG(graph)


def test_parents_given_as_one_text_are_refused_with_the_line_to_write():
    with pytest.raises(StructureError, match=r"\{'B': \['A'\]\}"):
        sf.DAG({"B": "A"})


def test_undirected_networkx_graph_is_refused():
    with pytest.raises(StructureError, match="undirected"):
        sf.DAG(nx.Graph([("A", "B")]))


def test_networkx_graph_with_several_edges_between_nodes_is_an_error_of_ours_or_read():
    try:
        dag = sf.DAG(nx.MultiDiGraph([("A", "B")]))
    except StructureError:
        return
    assert dag.edges == [("A", "B")]


def test_empty_graph_is_refused():
    for graph in ([], {}, nx.DiGraph()):
        with pytest.raises(StructureError, match="no nodes"):
            sf.DAG(graph)


@pytest.mark.parametrize("graph", ["A -> B; A -> B", [("A", "B"), ("A", "B")], {"B": ["A", "A"]}, "A, A -> B"])
def test_edge_given_twice_is_named(graph):
    with pytest.raises(StructureError, match="A -> B is given twice"):
        sf.DAG(graph)


# Cycles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "cycle"),
    [
        ("A -> A", "A -> A"),
        ("A -> B -> A", "A -> B -> A"),
        ("X -> A -> B -> C -> A; C -> Y", "A -> B -> C -> A"),
        ([("M. Work", "x"), ("x", "M. Work")], "'M. Work' -> x -> 'M. Work'"),
    ],
)
def test_cycle_is_shown(graph, cycle):
    with pytest.raises(StructureError) as caught:
        sf.DAG(graph)
    assert f"cycle: {cycle}." in str(caught.value)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("ABCDE"), st.sampled_from("ABCDE")), unique=True, min_size=1))
def test_graph_is_refused_exactly_when_networkx_finds_a_cycle(edges):
    acyclic = nx.is_directed_acyclic_graph(nx.DiGraph(edges))
    try:
        sf.DAG(edges)
    except StructureError as error:
        assert not acyclic
        shown = str(error).split("cycle: ")[1].split(". ")[0].split(" -> ")
        assert shown[0] == shown[-1]
        assert set(itertools.pairwise(shown)) <= set(edges)
    else:
        assert acyclic


# Latent variables, kinds and ties -----------------------------------------------------------------------------


def test_latent_variables_are_no_columns():
    dag = sf.DAG("H -> A; H -> B", latent={"H": 3})
    assert dag.columns == ("A", "B")
    assert dag.latent == (("H", 3),)


@pytest.mark.parametrize("n_states", [0, -1, True, 2.5, "3", None])
def test_latent_variable_needs_a_number_of_states(n_states):
    with pytest.raises(StructureError, match="'H' needs its number of states"):
        sf.DAG("H -> A", latent={"H": n_states})


def test_latent_number_of_states_may_be_a_numpy_integer():
    assert sf.DAG("H -> A", latent={"H": np.int64(3)}).latent == (("H", 3),)


@pytest.mark.parametrize("options", [{"latent": {"Hh": 2}}, {"kinds": {"Hh": "table"}}, {"tie": [("Hh", "A")]}])
def test_name_outside_the_graph_is_answered_with_the_nodes(options):
    with pytest.raises(UnknownNameError, match=r"no node 'Hh'.*\['H', 'A'\]"):
        sf.DAG("H -> A", **options)


@pytest.mark.parametrize("tie", [[("B",)], [()], [("B", "B")], [("B", "C"), ("C", "D")], [("B", "C", "B")]], ids=str)
def test_tie_must_name_different_nodes_once(tie):
    with pytest.raises(StructureError, match="must name two or more different nodes"):
        sf.DAG("A -> B; A -> C; A -> D", tie=tie)


def test_tied_nodes_need_as_many_parents():
    with pytest.raises(StructureError, match=r"same number of parents.*'A': 0.*'B': 1"):
        sf.DAG("A -> B", tie=[("A", "B")])


def test_tie_given_as_one_text_is_refused():
    with pytest.raises(SufficeError):
        sf.DAG("A; B", tie=["AB"])


def test_groups_are_the_ties_and_every_other_node_by_itself():
    dag = sf.DAG("A -> B; A -> C; A -> D; E", tie=[("D", "B")])
    assert dag.groups == (("A",), ("C",), ("D", "B"), ("E",))
    assert sorted(node for group in dag.groups for node in group) == sorted(dag.nodes)


# Values -------------------------------------------------------------------------------------------------------

FULL = sf.DAG("H -> A; H -> B; H -> 'M. Work'", latent={"H": 3}, kinds={"A": "tabular"}, tie=[("A", "B")])


@given(edge_lists, st.permutations(NAMES))
def test_plain_graphs_round_trip_through_json(edges, nodes):
    dag = sf.DAG([*nodes, *edges])
    assert sf.DAG.from_dict(json.loads(json.dumps(dag.to_dict()))) == dag


def test_copy_of_a_graph_keeps_or_replaces_what_it_declares():
    assert sf.DAG(FULL) == FULL
    assert sf.DAG(FULL, tie=()).tie == ()
    assert sf.DAG(FULL, tie=()).latent == FULL.latent


def test_graphs_are_hashable_values():
    assert len({sf.DAG("A -> B"), sf.DAG({"A": [], "B": ["A"]}), sf.DAG("A; B")}) == 2
    assert sf.DAG("A -> B") != sf.DAG("A -> B", latent={"A": 2})
    with pytest.raises(AttributeError):
        FULL.nodes = ("Z",)


def test_graph_is_a_structure():
    assert isinstance(FULL, Structure)
    assert FULL.continuous == frozenset()
    assert FULL.declared == {}


# Rendering ----------------------------------------------------------------------------------------------------


def test_dot_escapes_quotes_backslashes_and_line_breaks():
    dot = sf.DAG([('say "hi"', "back\\slash"), "two\nlines"]).to_dot()
    assert '"say \\"hi\\"" -> "back\\\\slash";' in dot
    assert '"two\\nlines";' in dot
    assert dot.count("\n") == 5  # digraph, three nodes, one edge and the end


def test_dot_cannot_be_broken_out_of():
    dot = sf.DAG(['a\\"; evil [label="x']).to_dot()
    assert dot == 'digraph {\n  "a\\\\\\"; evil [label=\\"x";\n}'


def test_dot_marks_latent_variables():
    assert '"H" [style=dashed];' in sf.DAG("H -> A", latent={"H": 2}).to_dot()


def test_bnlearn_string_lists_families():
    assert sf.DAG("A -> B <- C").to_bnlearn() == "[A][B|A:C][C]"


@pytest.mark.parametrize("name", ["a[b", "a]b", "a|b", "a:b"])
def test_name_that_bnlearn_cannot_write_is_refused(name):
    with pytest.raises(StructureError, match="bnlearn"):
        sf.DAG([name]).to_bnlearn()
