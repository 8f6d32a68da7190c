"""Graphs as text: arrows, bnlearn's brackets, and messages that point at the place."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.errors import StructureError
from suffice.structures.dag_text import parse, quoted

any_name = st.text(min_size=1, max_size=8) | st.text("-<>→←[]|:;,'\"# \n\tab", min_size=1, max_size=6)


# Names --------------------------------------------------------------------------------------------------------


@given(any_name)
def test_quoted_name_is_read_back(name):
    assert parse(quoted(name)) == ([name], [])


@given(any_name, any_name)
def test_quoted_names_are_read_back_on_both_sides_of_an_arrow(parent, child):
    for text in (
        f"{quoted(parent)} -> {quoted(child)}",
        f"{quoted(child)} <- {quoted(parent)}",
        f"{quoted(parent)} → {quoted(child)};",
        f"# a comment\n {quoted(child)}\t←\r{quoted(parent)} # ; and -> another",
    ):
        nodes, edges = parse(text)
        assert set(nodes) == {parent, child}
        assert edges == [(parent, child)]


@given(st.lists(any_name, unique=True, min_size=1, max_size=5), st.data())
def test_printed_graph_is_read_back(nodes, data):
    pairs = [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :]]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    dag = sf.DAG([*nodes, *edges])
    assert sf.DAG(str(dag)).parents == dag.parents


@given(st.lists(any_name, unique=True, min_size=1, max_size=4))
def test_repr_of_a_graph_is_the_line_that_builds_it(nodes):
    dag = sf.DAG([*nodes, *itertools.pairwise(nodes)])
    assert eval(repr(dag), {"DAG": sf.DAG}).parents == dag.parents


@given(st.lists(st.text("ab .→#'\"é-<>;,", min_size=1, max_size=5), unique=True, min_size=1, max_size=4))
def test_bnlearn_string_is_read_back(nodes):
    dag = sf.DAG([*nodes, *((nodes[0], node) for node in nodes[1:])])
    assert sf.DAG(dag.to_bnlearn()) == dag


@pytest.mark.parametrize("name", ["Cancer", "a-b", "x.1", "é", "日本", "😀", "a:b", "p(x)", ">", "x>y", "A[1]"])
def test_plain_names_need_no_quotes(name):
    assert quoted(name) == name


@pytest.mark.parametrize("text", ["'M. Work' -> Family", '"M. Work" -> Family', "'M. Work'->Family"])
def test_names_with_blanks_are_quoted(text):
    assert parse(text) == (["M. Work", "Family"], [("M. Work", "Family")])


def test_quotes_are_doubled_within_quotes():
    assert parse('\'it\'\'s\' -> "say ""hi"""')[0] == ["it's", 'say "hi"']
    assert parse('"it\'s"')[0] == ["it's"]


@pytest.mark.parametrize("text", ["'' -> A", '"" -> A', "A -> ''"])
def test_empty_name_is_refused(text):
    with pytest.raises(StructureError, match="name"):
        sf.DAG(text)


# Arrows -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("A -> B -> C", [("A", "B"), ("B", "C")]),
        ("A -> B <- C", [("A", "B"), ("C", "B")]),
        ("A <- B <- C", [("B", "A"), ("C", "B")]),
        ("A->B<-C", [("A", "B"), ("C", "B")]),
        ("A --> B <--- C", [("A", "B"), ("C", "B")]),
        ("A → B ← C", [("A", "B"), ("C", "B")]),
        ("A→B←C", [("A", "B"), ("C", "B")]),
        ("A, B -> C", [("A", "C"), ("B", "C")]),
        ("A -> B, C", [("A", "B"), ("A", "C")]),
        ("A, B -> C, D", [("A", "C"), ("B", "C"), ("A", "D"), ("B", "D")]),
        ("A -> B, C -> D", [("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")]),
        ("A -> B; C -> D", [("A", "B"), ("C", "D")]),
        ("A -> B\nC -> D", [("A", "B"), ("C", "D")]),
        ("A -> B\r\nC -> D\r\n", [("A", "B"), ("C", "D")]),
        (";;A -> B;;\n\n;", [("A", "B")]),
        ("A -> B # -> C\nD", [("A", "B")]),
        ("# only\nA -> B", [("A", "B")]),
        ("A-1 -> B-2", [("A-1", "B-2")]),
    ],
)
def test_arrows_are_edges(text, edges):
    assert parse(text)[1] == edges


def test_nodes_come_in_order_of_appearance():
    assert parse("C; B -> A; D, C")[0] == ["C", "B", "A", "D"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A B", r"Two names without an arrow between them, before 'B' at character 3.*quotes"),
        ("A -> M. Work", r"before 'Work' at character 9.*'M. Work' -> Family"),
        ("A -- B", "Two names without an arrow"),
        ("A => B", "Two names without an arrow"),
        ("A ->", "ends after '->', where a name must follow"),
        ("A -> B,", "ends after ','"),
        ("A ->; B", "ends after '->'"),
        ("A ->\nB", "ends after '->'"),
        ("-> A", "A name is missing before '->' at character 1"),
        ("A -> -> B", "A name is missing before '->' at character 6"),
        ("A,,B", "A name is missing before ',' at character 3"),
        ("'A -> B", "character 1.*quote left open"),
        ('A -> "B', "character 6.*quote left open"),
        ("it's -> B", "character 3.*quote left open"),
        ("'A'B -> C", "Two names without an arrow"),
    ],
)
def test_misprints_are_pointed_at(text, message):
    with pytest.raises(StructureError, match=message):
        sf.DAG(text)


@pytest.mark.parametrize("text", ["A<->B", "A <-> B", "A->>B", "A<<-B", "A<-->B", "A <- > B"])
def test_other_kinds_of_arrows_are_refused(text):
    with pytest.raises(StructureError):
        sf.DAG(text)


@pytest.mark.parametrize("text", ["", "  ", "\n;\n", "# nothing"])
def test_text_without_names_has_no_nodes(text):
    with pytest.raises(StructureError, match="no nodes"):
        sf.DAG(text)


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\x0c", "\x0b"])
def test_every_kind_of_blank_separates(blank):
    assert parse(f"A{blank}->{blank}B")[1] == [("A", "B")]


# Brackets -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "nodes", "edges"),
    [
        ("[A]", ["A"], []),
        ("[A][B|A]", ["A", "B"], [("A", "B")]),
        ("[A][C][B|A:C]", ["A", "C", "B"], [("A", "B"), ("C", "B")]),
        ("[B|A:C][A][C]", ["B", "A", "C"], [("A", "B"), ("C", "B")]),
        ("  [A]\n [B|A]\n", ["A", "B"], [("A", "B")]),
        ("[M. Work][Family|M. Work]", ["M. Work", "Family"], [("M. Work", "Family")]),
        ("[a->b]['x'|a->b]", ["a->b", "'x'"], [("a->b", "'x'")]),
    ],
)
def test_brackets_are_families(text, nodes, edges):
    assert parse(text) == (nodes, edges)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[A][B|C]", r"parent 'C', which has no brackets of its own; add \[C\]"),
        ("[A][A]", "'A' is described twice"),
        ("[A][]", "empty name.*character 4"),
        ("[A|]", "empty name"),
        ("[A][B|A:]", "empty name"),
        ("[|A]", "empty name"),
        ("[A", "character 1"),
        ("[A]x[B]", "character 4.*'x"),
        ("[A][B|A] -> C", "character 10"),
        ("[A][B|A:A]", "A -> B is given twice"),
        ("[A|B][B|A]", "cycle: A -> B -> A"),
    ],
)
def test_misprints_in_brackets_are_pointed_at(text, message):
    with pytest.raises(StructureError, match=message):
        sf.DAG(text)


def test_brackets_may_follow_a_comment_or_are_refused():
    try:
        dag = sf.DAG("# from bnlearn\n[A][B|A]")
    except StructureError:
        return
    assert dag.edges == [("A", "B")]
