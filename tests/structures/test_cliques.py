"""Cliques: every way of writing them, what their graph says and how many parameters they have, by definition."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.errors import StructureError
from suffice.graph.undirected import moral_graph
from suffice.structures.cliques_text import is_written_as_cliques, parse
from suffice.structures.structure import Structure

NAMES = ["A", "B", "M. Work", "é", "x:y"]
nasty = st.text("aB :+-<>'\"#|*,;[]→\n\\é", min_size=1, max_size=5)


def cliques_over(names: st.SearchStrategy[str], max_cliques: int = 6) -> st.SearchStrategy[list[tuple[str, ...]]]:
    clique = st.lists(names, min_size=1, max_size=4, unique=True).map(tuple)
    return st.lists(clique, min_size=1, max_size=max_cliques, unique_by=frozenset)


anything = cliques_over(st.sampled_from("ABCDEF"))


def frozen(cliques: Iterable[Iterable[str]]) -> set[frozenset[str]]:
    return set(map(frozenset, cliques))


def schema_of(**sizes: int) -> sf.Schema:
    return sf.Schema(tuple(sf.Variable(name, tuple(range(n))) for name, n in sizes.items()))


# Ways of writing ----------------------------------------------------------------------------------------------


@given(cliques_over(nasty))
@settings(max_examples=300)
def test_text_is_read_back_whatever_the_names(given_cliques: list[tuple[str, ...]]) -> None:
    cliques = sf.Cliques(given_cliques)
    assert cliques.cliques == tuple(given_cliques)
    assert parse(str(cliques)) == given_cliques
    assert sf.Cliques(str(cliques)) == cliques
    assert eval(repr(cliques), {"Cliques": sf.Cliques}) == cliques
    assert is_written_as_cliques(str(cliques)) == (len(given_cliques) > 1 or len(given_cliques[0]) > 1)


@given(cliques_over(st.sampled_from(NAMES)))
def test_every_way_of_listing_is_the_same(listed: list[tuple[str, ...]]) -> None:
    cliques = sf.Cliques(listed)
    assert sf.Cliques(map(list, listed)) == cliques
    assert sf.Cliques([c[0] if len(c) == 1 else c for c in listed]) == cliques
    assert sf.Cliques(cliques) == cliques
    assert hash(sf.Cliques(cliques)) == hash(cliques)
    assert cliques.variables == cliques.columns == tuple(dict.fromkeys(itertools.chain(*listed)))
    assert sf.Cliques([set(c) for c in listed]).cliques == tuple(tuple(sorted(c)) for c in listed)
    assert sf.Cliques(frozen(listed)).cliques == tuple(sorted(tuple(sorted(c)) for c in listed))


def test_blanks_line_breaks_and_comments_mean_nothing() -> None:
    assert sf.Cliques('\n# one\nA :B # \'two + x\n + "M. ""W"""\n+\'it\'\'s\'\n').cliques == (
        ("A", "B"),
        ('M. "W"',),
        ("it's",),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A ->B", "'->' at character 3"),
        ("A <- B", "sf.DAG"),
        ("A*B", "'*' at character 2 of the structure has no meaning among cliques. Write A:B"),
        ("A:B|C", "'|' at character 4"),
        ("A, B", "',' at character 2"),
        ("A; B", "';' at character 2"),
        ("A:B\nC", "Two names without a sign between them, before 'C' at character 5"),
        ("A:'B", "character 3"),
        ("'A''", "character 4"),
        ("A::B", "missing before ':' at character 3"),
        ("+A", "missing before '+' at character 1"),
        ("A + + B", "missing before '+' at character 5"),
        ("A:B + ", "after '+'"),
        ("A:", "after ':'"),
        ('A:""', "empty name at character 3"),
        ("A + B:C:B", "'B' at character 9 of the structure is already in its clique, B:C"),
        ("A:B + C + B:A", "B:A is given twice, first as A:B"),
        ("", "no cliques"),
        (" # A:B\n", "no cliques"),
    ],
)
def test_text_that_cannot_be_read_is_answered_with_the_place(text: str, says: str) -> None:
    with pytest.raises(StructureError) as caught:
        sf.Cliques(text)
    assert says in str(caught.value)


@pytest.mark.parametrize("graph", [[], (), {}, nx.Graph(), [()], [[]], [3.5], [("A", 3.5)], [("A", "")], [""], None, 3,
                                   [("A", "A")], [("A", "B"), ("B", "A")], ["A", ("A",)], {"A": "B"}, {"A": 3},
                                   {"A": ["A"]}, {1.5: []}, [{"A": "B"}], b"ab"])  # fmt: skip
@pytest.mark.parametrize("take", ["maximal", "pairwise"])
def test_what_is_no_structure_is_refused(graph: Any, take: str) -> None:
    with pytest.raises(StructureError):
        sf.Cliques(graph, take=take)


def test_nested_cliques_are_kept_as_they_are() -> None:
    cliques = sf.Cliques("A + A:B + B + C:B:A + D")
    assert str(cliques) == "A + A:B + B + C:B:A + D"
    assert cliques.maximal == (("C", "B", "A"), ("D",))


@given(anything)
def test_maximal_cliques_lie_in_no_other(listed: list[tuple[str, ...]]) -> None:
    expected = [c for c in listed if not any(set(c) < set(other) for other in listed)]
    assert list(sf.Cliques(listed).maximal) == expected


# Graphs -------------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn) -> nx.Graph:
    nodes = draw(st.lists(st.sampled_from("ABCDEF"), min_size=1, unique=True))
    pairs = list(itertools.combinations(nodes, 2))
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    return graph


@given(graphs())
def test_graphs_give_their_maximal_cliques_or_their_edges(graph: nx.Graph) -> None:
    whole, pairwise = sf.Cliques(graph), sf.Cliques(graph, take="pairwise")
    assert frozen(whole.cliques) == frozen(nx.find_cliques(graph))
    assert frozen(pairwise.cliques) == frozen(graph.edges) | frozen((node,) for node in nx.isolates(graph))
    for cliques in (whole, pairwise):
        assert cliques.variables == tuple(graph.nodes)
        assert frozen(cliques.edges) == frozen(graph.edges)
        assert nx.utils.graphs_equal(cliques.to_networkx(), graph)
        place = {node: at for at, node in enumerate(graph.nodes)}
        assert all(list(c) == sorted(c, key=place.__getitem__) for c in cliques.cliques)
    assert whole.is_graphical
    assert sf.Cliques({node: list(graph[node]) for node in graph}) == whole
    assert sf.Cliques({node: set(graph[node]) for node in graph}, take="pairwise") == pairwise


@given(graphs())
def test_neighbours_named_on_one_side_are_neighbours(graph: nx.Graph) -> None:
    place = {node: at for at, node in enumerate(graph.nodes)}
    half = {node: [other for other in graph[node] if place[other] > place[node]] for node in graph}
    assert sf.Cliques(half) == sf.Cliques(graph)


def test_names_of_networkx_become_text() -> None:
    assert sf.Cliques(nx.path_graph(3)).cliques == (("0", "1"), ("1", "2"))
    with pytest.raises(StructureError, match="same name"):
        sf.Cliques(nx.Graph([(1, "1")]))
    with pytest.raises(StructureError, match="own neighbour"):
        sf.Cliques(nx.Graph([("A", "A")]))


@pytest.mark.parametrize("make", [sf.DAG, lambda text: sf.DAG(text).to_networkx()], ids=["DAG", "networkx"])
def test_directed_graphs_are_moralised(make: Any) -> None:
    graph = make("A -> C <- B; C -> D; E")
    assert sf.Cliques(graph).cliques == (("A", "C", "B"), ("C", "D"), ("E",))
    assert sf.Cliques(graph, take="pairwise").cliques == (("A", "C"), ("A", "B"), ("C", "B"), ("C", "D"), ("E",))


@pytest.mark.parametrize("more", [{"latent": {"A": 2}}, {"kinds": {"A": "noisy-or"}}, {"tie": [("A", "C")]}])
def test_what_a_markov_random_field_cannot_say_is_refused(more: Any) -> None:
    with pytest.raises(StructureError, match=r"sf\.DAG\(dag\.parents\)"):
        sf.Cliques(sf.DAG("A -> B; C -> D", **more))
    assert sf.Cliques(sf.DAG("A -> B", kinds={"A": "tabular"})).cliques == (("A", "B"),)


def test_take_is_one_of_two_words_and_for_graphs_only() -> None:
    with pytest.raises(sf.ArgumentError, match=r"\['maximal', 'pairwise'\]"):
        sf.Cliques({"A": ["B"]}, take="edges")
    for cliques in ("A:B", [("A", "B")], sf.Cliques("A:B")):
        with pytest.raises(StructureError, match="'take' argument"):
            sf.Cliques(cliques, take="pairwise")


# What they say ------------------------------------------------------------------------------------------------


def running_intersections(sequence: Iterable[tuple[str, ...]]) -> bool:
    before: list[set[str]] = []
    for clique in map(set, sequence):
        shared = clique & set().union(*before)
        if before and not any(shared <= other for other in before):
            return False
        before.append(clique)
    return True


@given(anything)
@settings(max_examples=400)
def test_decomposable_means_some_order_has_running_intersections(listed: list[tuple[str, ...]]) -> None:
    cliques = sf.Cliques(listed)
    exists = any(map(running_intersections, itertools.permutations(cliques.maximal)))
    assert cliques.is_decomposable == exists
    graph = cliques.to_networkx()
    assert cliques.is_graphical == (frozen(nx.find_cliques(graph)) <= frozen(listed))
    assert cliques.is_decomposable == (nx.is_chordal(graph) and cliques.is_graphical)


@given(graphs())
@settings(max_examples=300)
def test_perfect_sequence_has_running_intersections(graph: nx.Graph) -> None:
    cliques = sf.Cliques(graph)
    sequence = cliques.perfect_sequence
    assert (sequence is not None) == nx.is_chordal(graph)
    if sequence is None:
        return
    assert sorted(clique for clique, _ in sequence) == sorted(cliques.maximal)
    assert running_intersections(clique for clique, _ in sequence)
    seen: set[str] = set()
    for clique, separator in sequence:
        assert separator == tuple(name for name in clique if name in seen)
        seen |= set(clique)


def test_perfect_sequence_is_the_same_in_every_session() -> None:
    code = """
import suffice as sf
cliques = sf.Cliques("a:b:c + c:d + d:e:f + c:g + g:h + b:i + x:y + z")
print(cliques.perfect_sequence, cliques.edges, cliques.terms, cliques.to_dag().parents)
"""
    command = [sys.executable, "-c", code]
    sessions = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "123"]
    found = {subprocess.run(command, env=session, capture_output=True, check=True).stdout for session in sessions}
    assert len(found) == 1


@given(anything)
@settings(max_examples=200)
def test_terms_are_all_subsets(listed: list[tuple[str, ...]]) -> None:
    cliques = sf.Cliques(listed)
    subsets = {frozenset(s) for c in listed for n in range(1, len(c) + 1) for s in itertools.combinations(c, n)}
    place = {name: at for at, name in enumerate(cliques.variables)}
    ordered = sorted((len(s), sorted(place[name] for name in s)) for s in subsets)
    assert cliques.terms == tuple(tuple(cliques.variables[at] for at in places) for _, places in ordered)


@given(anything, anything)
@settings(max_examples=200)
def test_nested_models_have_fewer_terms(one: list[tuple[str, ...]], two: list[tuple[str, ...]]) -> None:
    terms = [set(map(frozenset, sf.Cliques(listed).terms)) for listed in (one, two)]
    assert sf.Cliques(one).is_nested_in(sf.Cliques(two)) == (terms[0] <= terms[1])
    assert sf.Cliques(one).is_nested_in([*two, *(c for c in one if set(c) not in map(set, two))])


# Parameters ---------------------------------------------------------------------------------------------------


def rank_of_design(listed: list[tuple[str, ...]], sizes: dict[str, int]) -> int:
    """The rank of the 0/1 matrix whose columns say which cell of each clique a joint state falls into."""
    names = list(dict.fromkeys(itertools.chain(*listed)))
    joint = list(itertools.product(*(range(sizes[name]) for name in names)))
    columns = []
    for clique in listed:
        at = [names.index(name) for name in clique]
        for cell in itertools.product(*(range(sizes[name]) for name in clique)):
            columns.append([tuple(state[i] for i in at) == cell for state in joint])
    return int(np.linalg.matrix_rank(np.array(columns, float)))


@given(cliques_over(st.sampled_from("ABCDE")), st.lists(st.integers(1, 3), min_size=5, max_size=5))
@settings(max_examples=80, deadline=None)
def test_free_parameters_are_the_rank_of_the_design(listed: list[tuple[str, ...]], n_states: list[int]) -> None:
    sizes = dict(zip("ABCDE", n_states, strict=True))
    assert sf.Cliques(listed).n_free(schema_of(**sizes)) == rank_of_design(listed, sizes) - 1


@given(cliques_over(st.sampled_from("ABCDEFGH"), 12), st.lists(st.integers(1, 50), min_size=8, max_size=8))
@settings(max_examples=300)
def test_free_parameters_are_the_sum_over_terms(listed: list[tuple[str, ...]], n_states: list[int]) -> None:
    sizes = dict(zip("ABCDEFGH", n_states, strict=True))
    cliques = sf.Cliques(listed)
    expected = sum(int(np.prod([sizes[name] - 1 for name in term])) for term in cliques.terms)
    assert cliques.n_free(schema_of(**sizes)) == expected


def test_parameters_of_large_cliques_are_counted_without_listing_them() -> None:
    names = [f"x{i}" for i in range(90)]
    schema = schema_of(**dict.fromkeys(names, 10))
    assert sf.Cliques([names]).n_free(schema) == 10**90 - 1
    three = sf.Cliques([names[:60], names[30:], names[:30] + names[60:]])
    assert not three.is_decomposable
    assert three.n_free(schema) == 3 * 10**60 - 3 * 10**30  # inclusion and exclusion
    with pytest.raises(StructureError, match=r"60 variables.*2\^60 − 1 terms"):
        _ = three.terms
    with pytest.raises(StructureError, match="2 cliques have more than 100,000"):
        _ = sf.Cliques([names[:16], names[16:32]]).terms


def test_large_grids_are_quick() -> None:
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(60, 60))
    cliques = sf.Cliques(grid)
    assert not cliques.is_decomposable
    assert cliques.is_graphical
    schema = schema_of(**dict.fromkeys(cliques.variables, 3))
    assert cliques.n_free(schema) == 2 * 3600 + 4 * grid.number_of_edges()
    assert cliques.is_nested_in(cliques)


def test_parameters_need_the_states_of_every_variable() -> None:
    with pytest.raises(sf.UnknownNameError, match="'B'"):
        sf.Cliques("A:B").n_free(schema_of(A=2))
    with pytest.raises(sf.SchemaError, match="continuous"):
        sf.Cliques("A").n_free(sf.Schema((sf.Variable("A"),)))
    with pytest.raises(sf.SchemaError, match="'schema' argument"):
        sf.Cliques("A").n_free({"A": [0, 1]})  # type: ignore[arg-type]


# Other forms --------------------------------------------------------------------------------------------------


@given(anything)
@settings(max_examples=300)
def test_dag_of_decomposable_cliques_has_their_graph_and_no_immoralities(listed: list[tuple[str, ...]]) -> None:
    cliques = sf.Cliques(listed)
    if not cliques.is_decomposable:
        with pytest.raises(StructureError, match="No DAG says the same"):
            cliques.to_dag()
        return
    dag = cliques.to_dag()
    assert dag.nodes == cliques.variables
    assert moral_graph(dag.parents) == cliques.graph
    assert frozen(dag.edges) == frozen(cliques.edges)  # morals add no edge: both have the same independences
    assert frozen(sf.Cliques(dag).cliques) == frozen(cliques.maximal)


@given(graphs().filter(nx.is_chordal))
@settings(max_examples=50, deadline=None)
def test_dag_separates_what_the_graph_separates(graph: nx.Graph) -> None:
    dag = sf.Cliques(graph).to_dag().to_networkx()
    assert set(dag) == set(graph)
    for a, b in itertools.combinations(graph.nodes, 2):
        rest = [node for node in graph.nodes if node not in (a, b)]
        for size in range(len(rest) + 1):
            for between in itertools.combinations(rest, size):
                cut = graph.subgraph([node for node in graph if node not in between])
                assert nx.is_d_separator(dag, {a}, {b}, set(between)) == (not nx.has_path(cut, a, b))


def test_message_names_the_cycle_or_the_clique() -> None:
    with pytest.raises(StructureError, match=r"cycle A - B - 'M\. W' - D - A has no chord"):
        sf.Cliques("A:B + B:'M. W' + 'M. W':D + D:A + E:A:B").to_dag()
    with pytest.raises(StructureError, match=r"\['A', 'B', 'C'\].*Add the clique A:B:C"):
        sf.Cliques("A:B + B:C + C:A + C:D").to_dag()


@given(cliques_over(nasty), st.randoms(use_true_random=False))
def test_data_of_the_structure_rebuilds_it(listed: list[tuple[str, ...]], chance: Any) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(chance.sample(sorted(set().union(*listed)), len(set().union(*listed))))
    for cliques in (sf.Cliques(listed), sf.Cliques(graph)):
        entry = json.loads(json.dumps(cliques.to_dict()))
        assert entry["type"] == "Cliques"
        assert sf.Cliques.from_dict(entry) == cliques
        assert pickle.loads(pickle.dumps(cliques)) == cliques


def test_order_of_the_nodes_of_a_graph_is_rebuilt() -> None:
    cliques = sf.Cliques({"A": ["C"], "B": [], "C": []})
    assert cliques.variables == ("A", "B", "C")
    assert sf.Cliques.from_dict(cliques.to_dict()).variables == ("A", "B", "C")
    assert sf.Cliques(cliques).variables == ("A", "B", "C")
    for variables in (["A", "B"], ["A", "B", "C", "C"], ["A", "B", "D"]):
        with pytest.raises(StructureError, match="must name"):
            sf.Cliques.from_dict({**cliques.to_dict(), "variables": variables})


def test_structure_is_one_of_the_protocol_and_frozen() -> None:
    cliques = sf.Cliques("A:B")
    assert isinstance(cliques, Structure)
    assert cliques.continuous == frozenset()
    assert cliques.declared == {}
    with pytest.raises(AttributeError):
        cliques.cliques = ()  # type: ignore[misc]


def test_pictures_escape_names() -> None:
    cliques = sf.Cliques([('a"b', "<c>")])
    assert cliques.to_dot() == 'graph {\n  "a\\"b";\n  "<c>";\n  "a\\"b" -- "<c>";\n}'
    assert cliques._repr_html_() == "<pre>&#x27;a&quot;b&#x27;:&lt;c&gt;</pre>"
