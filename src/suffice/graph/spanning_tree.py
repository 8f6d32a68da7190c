"""Spanning trees: the heaviest tree over numbered nodes, and its edges turned away from a root."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Edge = tuple[int, int]


def maximum_spanning_tree(
    n_nodes: int, edges: NDArray[np.int64], weights: NDArray[np.float64], above: float | None = None
) -> list[int]:
    """Return the positions of the edges that make up a spanning tree of largest total weight (Kruskal 1956).

    Of edges with equal weight the one that is listed first is taken first, so that the tree is determined.

    Parameters
    ----------
    n_nodes : int
    edges : array, shape (n_edges, 2)
        The nodes that each edge joins.
    weights : array, shape (n_edges,)
    above : float, optional
        Edges whose weight is not above this number are left out; what remains may be a forest.

    Returns
    -------
    list of int
        In the order of the list of edges. They are one tree for each connected part of the graph.

    Examples
    --------
    >>> edges = np.array([(0, 1), (0, 2), (1, 2)])
    >>> maximum_spanning_tree(3, edges, np.array([0.5, 0.5, 0.5]))
    [0, 1]
    >>> maximum_spanning_tree(3, edges, np.array([0.1, 0.5, 0.9]), above=0.5)
    [2]
    """
    heaviest_first = np.argsort(-weights, kind="stable")
    if above is not None:
        heaviest_first = heaviest_first[weights[heaviest_first] > above]
    leader = list(range(n_nodes))
    taken: list[int] = []
    for position, (first, second) in zip(heaviest_first.tolist(), edges[heaviest_first].tolist(), strict=True):
        one, other = _leader(leader, first), _leader(leader, second)
        if one != other:
            leader[other] = one
            taken.append(position)
            if len(taken) == n_nodes - 1:
                break
    return sorted(taken)


def _leader(leader: list[int], node: int) -> int:
    """Return the node that stands for the connected part of ``node``, shortening the way there."""
    while leader[node] != node:
        leader[node] = leader[leader[node]]
        node = leader[node]
    return node


def rooted(n_nodes: int, edges: Iterable[Edge], root: int = 0) -> list[int | None]:
    """Return the parent of every node of a forest; ``root`` and the first node of every other tree have none.

    >>> rooted(5, [(0, 1), (1, 2), (3, 4)], root=2)
    [1, 2, None, None, 3]
    """
    near: list[list[int]] = [[] for _ in range(n_nodes)]
    for first, second in edges:
        near[first].append(second)
        near[second].append(first)
    parents: list[int | None] = [None] * n_nodes
    reached = [False] * n_nodes
    for start in (root, *range(n_nodes)):
        if reached[start]:
            continue
        reached[start] = True
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for other in near[node]:
                if not reached[other]:
                    reached[other], parents[other] = True, node
                    waiting.append(other)
    return parents
