"""Graphs as users have them, in codes: the attributes of their nodes and cliques, and the kinds of cliques."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.attributes import Attributes, Vocabulary, offsets_of
from suffice.data.graph_codes import CliqueRows, LabelledGraphs
from suffice.data.labelled_graphs import CONSTANT, Graph
from suffice.data.position_features import read_features
from suffice.errors import DataError, SufficeError, Text, listing, shown, suggestion


@dataclass(frozen=True)
class GraphWords:
    """The names that the graphs of a model use.

    Attributes
    ----------
    nodes : Vocabulary
        The attributes of nodes.
    kinds : dict of str to (int, Vocabulary)
        The size of the cliques of each kind, and their attributes.
    """

    nodes: Vocabulary
    kinds: Mapping[str, tuple[int, Vocabulary]]


@dataclass(frozen=True, eq=False)
class GraphRead:
    """Graphs in codes, the names that they use, the shapes of grids, and how many attributes are not known."""

    graphs: LabelledGraphs
    words: GraphWords
    shapes: tuple[tuple[int, ...] | None, ...] = ()
    n_unknown: int = 0


def read_graphs(graphs: Any, words: GraphWords | None = None, *, n_buckets: int = 0, name: str = "X") -> GraphRead:
    """Read graphs.

    Parameters
    ----------
    graphs : iterable of Graph, or of dicts {"nodes": …, "edges": …}
    words : GraphWords, optional
        Attributes that are not in it are left out; a kind of cliques that is not in it is refused. None makes one.
    n_buckets : int
        Where it is not zero, the vocabularies that are made hash names into so many buckets.
    name : str
        What errors call the graphs.

    Examples
    --------
    >>> read = read_graphs([Graph.chain([["the"], ["cat"]]), Graph.chain([["a"]])])
    >>> read.words.nodes.names, list(read.words.kinds)
    (('the', 'cat', 'a'), ['step'])
    >>> read.graphs.n_nodes, read.graphs.cliques[0].n_cliques
    (3, 1)
    """
    listed = graph_list(graphs, name)
    known = None if words is None else words.nodes
    nodes = read_features([graph.nodes for graph in listed], known, n_buckets=n_buckets, name=name)
    sizes = _sizes(listed, name) if words is None else {kind: size for kind, (size, _) in words.kinds.items()}
    if words is not None:
        _require_kinds(listed, sizes, name)
    rows, kinds, n_unknown = [], {}, nodes.n_unknown
    for kind, size in sizes.items():
        found, vocabulary, more = _read_kind(
            listed, kind, size, None if words is None else words.kinds[kind][1], n_buckets, name
        )
        rows.append(found)
        kinds[kind] = size, vocabulary
        n_unknown += more
    whole = LabelledGraphs(nodes.offsets, nodes.states, tuple(rows))
    return GraphRead(whole, GraphWords(nodes.vocabulary, kinds), tuple(graph.shape for graph in listed), n_unknown)


def graph_list(graphs: Any, name: str = "X") -> list[Graph]:
    """Return a list of graphs, made of dicts where they are not graphs yet."""
    if isinstance(graphs, str | bytes | Mapping | Graph) or not isinstance(graphs, Iterable):
        raise DataError(
            f"The {name!r} argument must be a list of graphs, such as [sf.Graph.chain(features)]. Got {shown(graphs)} "
            "instead; one graph alone is [graph]."
        )
    found = []
    for number, graph in enumerate(graphs, 1):
        try:
            found.append(Graph.of(graph))
        except SufficeError as error:
            error.args = (Text(f"Graph {number:,} of {name!r}: ", error.message),)
            raise
    return found


def _sizes(graphs: Sequence[Graph], name: str) -> dict[str, int]:
    """Return the size of the cliques of each kind, in the order in which kinds first occur."""
    sizes: dict[str, int] = {}
    for number, graph in enumerate(graphs, 1):
        for kind, cliques in graph.cliques.items():
            if cliques and sizes.setdefault(kind, len(cliques[0][0])) != len(cliques[0][0]):
                raise DataError(_other_size(number, name, kind, len(cliques[0][0]), sizes[kind]))
    return sizes


def _require_kinds(graphs: Sequence[Graph], sizes: Mapping[str, int], name: str) -> None:
    """Refuse kinds of cliques that are not known, and known ones of another size."""
    for number, graph in enumerate(graphs, 1):
        for kind, cliques in graph.cliques.items():
            if cliques and kind not in sizes:
                raise DataError(
                    f"Graph {number:,} of {name!r} has cliques of the kind {kind!r}, which no graph had in training; "
                    f"the kinds are {listing(sizes)}.{suggestion(kind, sizes)} Leave them out, or learn from graphs "
                    "that have them."
                )
            if cliques and len(cliques[0][0]) != sizes[kind]:
                raise DataError(_other_size(number, name, kind, len(cliques[0][0]), sizes[kind]))


def _other_size(number: int, name: str, kind: str, size: int, expected: int) -> str:
    return (
        f"Graph {number:,} of {name!r} has cliques of the kind {kind!r} with {size} members, others have {expected}. "
        "Cliques of a kind share their weights; give each size a kind of its own."
    )


def _read_kind(
    graphs: Sequence[Graph], kind: str, size: int, known: Vocabulary | None, n_buckets: int, name: str
) -> tuple[CliqueRows, Vocabulary, int]:
    """Return the cliques of one kind, their vocabulary, and how many attributes were left out."""
    held = [graph.cliques.get(kind, []) for graph in graphs]
    members = np.array([clique for cliques in held for clique, _ in cliques], np.int64).reshape(-1, size)
    features = [[{CONSTANT: 1.0} if f is None else f for _, f in cliques] for cliques in held]
    if known is None and not n_buckets and all(f is None for cliques in held for _, f in cliques):
        n = len(members)  # most often cliques have no features, and nothing is to be looked up
        plain = Attributes(np.arange(n + 1), np.zeros(n, np.int32), None, 1)
        return CliqueRows(offsets_of(map(len, held)), members, plain), Vocabulary((CONSTANT,)), 0
    try:
        read = read_features(features, known, n_buckets=n_buckets, name=name)
    except SufficeError as error:
        error.args = (Text(f"Among the cliques of the kind {kind!r}: ", error.message),)
        raise
    return CliqueRows(read.offsets, members, read.states), read.vocabulary, read.n_unknown
