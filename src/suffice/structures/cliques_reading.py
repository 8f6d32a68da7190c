"""Reading cliques from whatever describes them: text, lists of names, undirected graphs, DAGs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from suffice.errors import StructureError, shown
from suffice.graph.undirected import interaction_graph, moral_graph
from suffice.structures.cliques_text import parse, written
from suffice.structures.dag import DAG
from suffice.structures.names import as_name, different_names, is_networkx, node_name

Clique = tuple[str, ...]


def listed(graph: object) -> tuple[list[Clique], list[str]]:
    """Return cliques and variables of text or of a list of cliques.

    >>> listed([("A", "B"), "C"])
    ([('A', 'B'), ('C',)], ['A', 'B', 'C'])
    """
    if isinstance(graph, str):
        cliques = parse(graph)
    elif isinstance(graph, Iterable) and not isinstance(graph, bytes | bytearray):
        cliques = list(map(_clique, graph))
        cliques = sorted(cliques) if isinstance(graph, Set) else cliques
    else:
        raise StructureError(
            "Cliques are text such as 'A:B + B:C', a list of tuples of names, a dict of neighbours by name, a "
            f"networkx.Graph or a DAG. Got {type(graph).__name__} instead."
        )
    seen: dict[frozenset[str], Clique] = {}
    for clique in cliques:
        members = frozenset(clique)
        if members in seen:
            raise StructureError(
                f"The clique {written(clique)} is given twice, first as {written(seen[members])}. Give it once."
            )
        seen[members] = clique
    return cliques, list(dict.fromkeys(name for clique in cliques for name in clique))


def _clique(item: object) -> Clique:
    if isinstance(as_name(item), str):
        return (_name(item),)
    if not isinstance(item, tuple | list | Set) or not item:
        raise StructureError(f"A clique is a tuple of names, ('A', 'B'), or a lone name. Got {shown(item)} instead.")
    names = tuple(map(_name, item))
    if len(set(names)) < len(names):
        raise StructureError(f"The clique {shown(item)} names a variable twice. Name it once.")
    return tuple(sorted(names)) if isinstance(item, Set) else names  # the order of a set differs between sessions


def _name(name: object) -> str:
    return node_name(name, "a variable")


def neighbours(graph: object) -> dict[str, list[str]] | None:
    """Return the neighbours of every node in order, or None for what is no graph.

    >>> neighbours({"B": ["A"], "C": []})
    {'B': ['A'], 'C': [], 'A': ['B']}
    """
    if is_networkx(graph):
        nodes = list(map(_name, different_names(graph.nodes, "networkx graph")))
        if graph.is_directed():
            return _ordered(moral_graph(DAG(graph).parents))
        edges = [(str(a), str(b)) for a, b in graph.edges()]
    elif isinstance(graph, DAG):
        _require_plain(graph)
        return _ordered(moral_graph(graph.parents))
    elif isinstance(graph, Mapping):
        edges = [(_name(name), other) for name, near in graph.items() for other in _near(name, near)]
        nodes = list(dict.fromkeys([*map(_name, graph), *(other for _, other in edges)]))
    else:
        return None
    for a, b in edges:
        if a == b:
            raise StructureError(f"Node {a!r} is its own neighbour. Leave out that edge.")
    return _ordered(interaction_graph(edges, nodes))


def _near(name: object, near: object) -> list[str]:
    if isinstance(near, str):
        raise StructureError(f"The neighbours of {name!r} must be a list. Write {{{name!r}: [{near!r}]}}.")
    if isinstance(near, bytes | bytearray) or not isinstance(near, Iterable):
        raise StructureError(f"The neighbours of {name!r} must be a list of names. Got {shown(near)} instead.")
    names = list(map(_name, near))
    return sorted(names) if isinstance(near, Set) else names


def _require_plain(dag: DAG) -> None:
    """Refuse what a Markov random field of tables cannot say."""
    others = {node: kind for node, kind in dag.kinds if kind != "tabular"}
    if dag.latent:
        raise StructureError(
            f"The DAG has the latent variables {shown(dict(dag.latent))}. Pass sf.DAG(dag.parents), the graph alone, "
            "and name them anew: sf.Cliques(…, latent={…})."
        )
    for what, found in (("kinds", others), ("ties", list(dag.tie))):
        if found:
            raise StructureError(
                f"Cliques have no {what}; the DAG has {shown(found)}. Pass sf.DAG(dag.parents), the graph alone."
            )


def _ordered(graph: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    position = {name: place for place, name in enumerate(graph)}
    return {name: sorted(near, key=position.__getitem__) for name, near in graph.items()}


def pairs(graph: Mapping[str, list[str]]) -> list[Clique]:
    """Return the edges of a graph with ordered neighbours, and the nodes without any.

    >>> pairs({"A": ["B"], "B": ["A"], "C": []})
    [('A', 'B'), ('C',)]
    """
    position = {name: place for place, name in enumerate(graph)}
    found: list[Clique] = []
    for name, near in graph.items():
        found += [(name, other) for other in near if position[other] > position[name]] if near else [(name,)]
    return found
