"""Graph: one instance of a conditional random field, nodes with features and cliques of nodes that belong together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.errors import ArgumentError, DataError, is_whole, listing, shown
from suffice.text import plural

EDGE = "edge"
"""The kind of cliques to which no other name is given."""
CONSTANT = "constant"
"""The attribute of cliques without features, and of pixels beside their values."""
Members = tuple[int, ...]
Cliques = dict[str, list[tuple[Members, Any]]]


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes with features, and cliques of nodes whose labels depend on each other.

    Parameters
    ----------
    nodes : list or array
        The features of every node: a dict of name to value, or a list of names; or the rows of a 2-D array or of a
        sparse matrix.
    edges : list or mapping
        Pairs of nodes, ``[(0, 1), (1, 2)]``; with features, ``{(0, 1): {"distance": 0.5}}``; or several kinds of
        cliques, each of any size and with weights of its own: ``{"triple": [(0, 1, 2)], "edge": {(0, 3): ["far"]}}``.
        A clique without features, or with None in their place, has the attribute ``"constant"``.
    shape : tuple of int, optional
        The rows and columns of a grid, whose nodes go row by row: labels in an array must have the same.

    Notes
    -----
    The order of a clique's members matters: its weights belong to the labels of the first, the second and so on, unless
    a model takes them as symmetric.

    Examples
    --------
    >>> triangle = Graph([["a"], ["b"], ["c"]], edges=[(0, 1), (1, 2), (0, 2)])
    >>> triangle
    Graph(3 nodes, 3 cliques of the kind 'edge')
    >>> triangle.cliques["edge"][0]
    ((0, 1), None)
    >>> Graph.grid(np.zeros((2, 3)))
    Graph(6 nodes, 4 cliques of the kind 'right', 3 cliques of the kind 'down')
    """

    nodes: Any
    edges: Any = ()
    shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not _has_rows(self.nodes):
            if not isinstance(self.nodes, Iterable) or isinstance(self.nodes, str | bytes | Mapping):
                raise ArgumentError(
                    "The 'nodes' argument must be the features of every node, such as [{'word': 'the'}, {'word': "
                    f"'cat'}}]. Got {shown(self.nodes)} instead."
                )
            object.__setattr__(self, "nodes", list(self.nodes))
        if self.shape is not None and not _is_shape(self.shape, self.n_nodes):
            raise ArgumentError(
                f"The 'shape' argument must be the rows and columns of a grid of {plural(self.n_nodes, 'node')}. Got "
                f"{shown(self.shape)} instead."
            )
        _ = self.cliques  # checked now, where the graph is made

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return int(self.nodes.shape[0]) if _has_rows(self.nodes) else len(self.nodes)

    @cached_property
    def cliques(self) -> Cliques:
        """The members and features of all cliques, by kind."""
        kinds = self.edges if _has_kinds(self.edges) else {EDGE: self.edges}
        return {kind: _read_cliques(kind, cliques, self.n_nodes) for kind, cliques in kinds.items()}

    def __repr__(self) -> str:
        said = [f"{plural(len(c), 'clique')} of the kind {kind!r}" for kind, c in self.cliques.items() if c]
        return f"Graph({', '.join([plural(self.n_nodes, 'node'), *said])})"

    # Common graphs --------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, value: Any) -> Graph:
        """Return a graph, or one made of ``{"nodes": […], "edges": […]}``."""
        if isinstance(value, Graph):
            return value
        if not isinstance(value, Mapping) or "nodes" not in value or not {"nodes", "edges"}.issuperset(value):
            raise ArgumentError(
                "A graph is sf.Graph(nodes, edges), or a dict {'nodes': […], 'edges': […]}. Got "
                f"{shown(value)} instead."
            )
        return cls(value["nodes"], value.get("edges", ()))

    @classmethod
    def chain(cls, nodes: Any) -> Graph:
        """Return a sequence: each node and the one after it are a clique of the kind ``"step"``.

        >>> Graph.chain([["the"], ["cat"]]).cliques
        {'step': [((0, 1), None)]}
        """
        return cls.skip_chain(nodes)

    @classmethod
    def skip_chain(cls, nodes: Any, skips: Iterable[Members] | Mapping[Members, Any] = ()) -> Graph:
        """Return a sequence with further pairs of nodes, such as the places of one word, of the kind ``"skip"``.

        >>> Graph.skip_chain([["Ann"], ["saw"], ["Ann"]], [(0, 2)]).cliques
        {'step': [((0, 1), None), ((1, 2), None)], 'skip': [((0, 2), None)]}
        """
        bare = cls(nodes)
        further = skips if isinstance(skips, Mapping) else list(skips)
        edges: dict[str, Any] = {"step": [(i, i + 1) for i in range(bare.n_nodes - 1)]}
        return cls(bare.nodes, {**edges, "skip": further} if further else edges)

    @classmethod
    def tree(cls, nodes: Any, parents: Sequence[int | None]) -> Graph:
        """Return a tree, or several: each node and its parent, the parent first, are a clique of the kind ``"branch"``.

        Parameters
        ----------
        nodes : list or array
        parents : sequence of int or None
            That of each node; None, or −1, for roots.

        Examples
        --------
        >>> Graph.tree([["s"], ["np"], ["vp"]], [None, 0, 0]).cliques
        {'branch': [((0, 1), None), ((0, 2), None)]}
        """
        bare, above = cls(nodes), list(parents)
        if len(above) != bare.n_nodes:
            raise ArgumentError(
                f"The 'parents' argument must have one entry a node, {bare.n_nodes:,} in all. Got {len(above):,} "
                "instead."
            )
        is_root = [p is None or (is_whole(p) and p == -1) for p in above]
        found = cls(bare.nodes, {"branch": [(p, node) for node, p in enumerate(above) if not is_root[node]]})
        _require_roots([-1 if root else p for root, p in zip(is_root, above, strict=True)])
        return found

    @classmethod
    def grid(cls, pixels: Any, *, directed: bool = True) -> Graph:
        """Return a grid of pixels, each joined with those beside it and below it; nodes go row by row.

        Parameters
        ----------
        pixels : array, shape (rows, columns) or (rows, columns, channels), or rows of features
            Numbers become the attributes ``"pixel"``, or ``"pixel:0"`` and so on of several channels, beside a
            ``"constant"``; texts become attributes such as ``"pixel:dark"``. Rows of dicts or of lists of names are
            features as they stand.
        directed : bool
            Whether there are two kinds of edges, ``"right"`` and ``"down"``, or one, ``"edge"``.

        Examples
        --------
        >>> grid = Graph.grid([[0.5, 2.0]], directed=False)
        >>> grid.nodes
        [{'constant': 1.0, 'pixel': 0.5}, {'constant': 1.0, 'pixel': 2.0}]
        >>> grid.cliques
        {'edge': [((0, 1), None)]}
        """
        rows = _rows_of_pixels(pixels)
        n_columns = len(rows[0]) if rows else 0
        at = np.arange(len(rows) * n_columns).reshape(len(rows), n_columns)
        right = _pairs(at[:, :-1], at[:, 1:])
        down = _pairs(at[:-1], at[1:])
        edges = {"right": right, "down": down} if directed else {EDGE: right + down}
        return cls([pixel for row in rows for pixel in row], edges, (len(rows), n_columns))


def _has_rows(nodes: Any) -> bool:
    """Whether nodes are the rows of a matrix, dense or sparse."""
    return hasattr(nodes, "shape")


def _is_shape(shape: Any, n_nodes: int) -> bool:
    return isinstance(shape, tuple) and all(map(is_whole, shape)) and math.prod(shape) == n_nodes


def _require_roots(parents: Sequence[Any]) -> None:
    """Refuse parents that lead round in a circle."""
    seen_from = [-1] * len(parents)
    for start in range(len(parents)):
        node = start
        while node >= 0 and seen_from[node] < 0:
            seen_from[node] = start
            node = int(parents[node])
        if node >= 0 and seen_from[node] == start:
            circle = [node]
            while int(parents[circle[-1]]) != node:
                circle.append(int(parents[circle[-1]]))
            raise ArgumentError(
                "The 'parents' argument must lead from every node to a root, whose parent is None. Got a circle of "
                f"{len(circle):,} nodes instead: {listing([*circle, node])}. Take one of its edges away, or pass the "
                "edges to sf.Graph, which may have circles."
            )


def _pairs(first: Any, second: Any) -> list[Members]:
    return list(zip(first.reshape(-1).tolist(), second.reshape(-1).tolist(), strict=True))


def _rows_of_pixels(pixels: Any) -> list[list[Any]]:
    """Return the features of every pixel, row by row."""
    if isinstance(pixels, str | bytes | Mapping) or not isinstance(pixels, Iterable):
        raise ArgumentError(
            f"The 'pixels' argument must be an array of rows and columns, or rows of features. Got {shown(pixels)} "
            "instead."
        )
    rows = list(pixels)
    for row in rows:
        if isinstance(row, str | bytes | Mapping) or not isinstance(row, Iterable):
            raise ArgumentError(
                "The 'pixels' argument must have two dimensions, or three: rows, columns, channels. Got the row "
                f"{shown(row)} instead."
            )
    whole = [[_features(pixel) for pixel in row] for row in rows]
    lengths = sorted({len(row) for row in whole})
    if len(lengths) > 1:
        raise DataError(f"The rows of a grid must be of one length. Got rows of {listing(lengths)} pixels.")
    return whole


def _features(pixel: Any) -> Any:
    if isinstance(pixel, str):
        return {"pixel": str(pixel)}
    if isinstance(pixel, np.ndarray) and pixel.ndim == 1 and pixel.dtype.kind in "fiub":
        return {CONSTANT: 1.0, **{f"pixel:{channel}": float(value) for channel, value in enumerate(pixel)}}
    if isinstance(pixel, Iterable):
        return pixel
    try:
        return {CONSTANT: 1.0, "pixel": float(pixel)}
    except (TypeError, ValueError):
        raise DataError(
            "A pixel must be a number, text, a row of channels, or features such as {'red': 0.5}. Got "
            f"{shown(pixel)} instead."
        ) from None


# Cliques ------------------------------------------------------------------------------------------------------


def _has_kinds(edges: Any) -> bool:
    return isinstance(edges, Mapping) and all(isinstance(kind, str) for kind in edges)


def _read_cliques(kind: str, cliques: Any, n_nodes: int) -> list[tuple[Members, Any]]:
    if isinstance(cliques, Mapping):
        found = [(members, features) for members, features in cliques.items()]
    elif isinstance(cliques, Iterable) and not isinstance(cliques, str | bytes):
        found = [_with_features(clique) for clique in cliques]
    else:
        raise ArgumentError(
            f"The cliques of the kind {kind!r} must be a list such as [(0, 1), (1, 2)], or a mapping of such tuples to "
            f"features. Got {shown(cliques)} instead."
        )
    read = [(_members(kind, members, n_nodes), features) for members, features in found]
    sizes = sorted({len(members) for members, _ in read})
    if len(sizes) > 1:
        raise DataError(
            f"The cliques of the kind {kind!r} must all be of one size, since they share their weights. Got sizes "
            f"{listing(sizes)}; give each size a kind of its own."
        )
    return read


def _with_features(clique: Any) -> tuple[Any, Any]:
    """Return members and features of ``(0, 1)`` or of ``((0, 1), features)``."""
    if isinstance(clique, tuple | list) and len(clique) == 2 and not is_whole(clique[0]):
        return clique[0], clique[1]
    return clique, None


def _members(kind: str, members: Any, n_nodes: int) -> Members:
    if not isinstance(members, Iterable) or isinstance(members, str | bytes):
        raise ArgumentError(
            f"A clique of the kind {kind!r} must be a tuple of nodes such as (0, 1). Got {shown(members)} instead."
        )
    listed = tuple(members)
    if not listed or not all(is_whole(node) for node in listed) or len(set(listed)) < len(listed):
        raise ArgumentError(
            f"A clique of the kind {kind!r} must be a tuple of different whole numbers such as (0, 1), the nodes that "
            f"are its members. Got {shown(listed)} instead."
        )
    nodes = tuple(int(node) for node in listed)
    if min(nodes) < 0 or max(nodes) >= n_nodes:
        raise DataError(
            f"The clique {nodes} of the kind {kind!r} names a node that the graph does not have: its nodes are 0 to "
            f"{n_nodes - 1}."
            if n_nodes
            else f"The clique {nodes} of the kind {kind!r} is in a graph without nodes. Leave it out."
        )
    return nodes
