"""Layers of a directed graph: edges point down, and are together as short as can be.

Nodes are whole numbers 0, 1, …; an edge is a pair (upper, lower).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Edge = tuple[int, int]
Near = list[list[int]]


def neighbours(n_nodes: int, edges: Sequence[Edge]) -> tuple[Near, Near]:
    """Return who is above and who is below each node, in the order of the edges.

    >>> neighbours(3, [(0, 2), (1, 2)])
    ([[], [], [0, 1]], [[2], [2], []])
    """
    above: Near = [[] for _ in range(n_nodes)]
    below: Near = [[] for _ in range(n_nodes)]
    for upper, lower in edges:
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


def breadth_first_edges(n_nodes: int, edges: Sequence[Edge]) -> list[Edge]:
    """Orient the edges of an undirected graph away from the middle of each connected part, without cycles.

    Parameters
    ----------
    n_nodes : int
    edges : sequence of pair of int
        In any direction.

    Returns
    -------
    list of pair of int
        The same edges, each from the node that is nearer to the middle.

    Examples
    --------
    >>> breadth_first_edges(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    [(1, 0), (2, 1), (2, 3), (3, 4)]
    """
    above, below = neighbours(n_nodes, edges)
    near = [above[node] + below[node] for node in range(n_nodes)]
    rank = np.full(n_nodes, -1)
    begun = 0
    for node in range(n_nodes):
        if rank[node] < 0:
            far, _ = _walk(near, _walk(near, node)[0][-1])
            other, before = _walk(near, far[0])
            middle, steps = other[-1], 0
            while before[middle] >= 0:  # how long the way is from one end to the other
                middle, steps = before[middle], steps + 1
            middle = other[-1]
            for _ in range(steps // 2):
                middle = before[middle]
            for place in _walk(near, middle)[0]:
                rank[place] = begun
                begun += 1
    return [(u, v) if rank[u] < rank[v] else (v, u) for u, v in edges]


def _walk(near: Near, start: int) -> tuple[list[int], dict[int, int]]:
    """Visit all that is joined with ``start``, the nearest first; return the order, and who came before each."""
    before = {start: -1}
    order = [start]
    for node in order:  # grows while it is walked
        for other in near[node]:
            if other not in before:
                before[other] = node
                order.append(other)
    return order, before


def without_cycles(n_nodes: int, edges: Sequence[Edge]) -> tuple[list[Edge], list[bool]]:
    """Turn round the edges that lead back to where a walk is still under way, so that no cycle is left.

    Returns
    -------
    edges : list of pair of int
    turned : list of bool

    Examples
    --------
    >>> without_cycles(3, [(0, 1), (1, 2), (2, 0)])
    ([(0, 1), (1, 2), (0, 2)], [False, False, True])
    """
    ways: list[list[tuple[int, int]]] = [[] for _ in range(n_nodes)]
    for number, (upper, lower) in enumerate(edges):
        ways[upper].append((lower, number))
    turned = [False] * len(edges)
    state = [0] * n_nodes  # 0: not seen; 1: on the way; 2: done
    for start in range(n_nodes):
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(ways[start]))]
        while stack:
            node, rest = stack[-1]
            for lower, number in rest:
                if state[lower] == 1:
                    turned[number] = True
                elif state[lower] == 0:
                    state[lower] = 1
                    stack.append((lower, iter(ways[lower])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return [(b, a) if back else (a, b) for (a, b), back in zip(edges, turned, strict=True)], turned


def layers_of(n_nodes: int, edges: Sequence[Edge]) -> list[int]:
    """Return the layer of every node, 0 above, for which the edges span the fewest layers in all.

    Parameters
    ----------
    n_nodes : int
    edges : sequence of pair of int
        Without cycles.

    Examples
    --------
    >>> layers_of(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 1]

    Notes
    -----
    The linear programme min Σ (y_v − y_u) subject to y_v − y_u ≥ 1 (Gansner, Koutsofios, North and Vo, 1993), whose
    corners are whole numbers. Nodes that cost nothing to move go to the layer with the fewest nodes.
    """
    if not edges:
        return [0] * n_nodes
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    pairs = np.array(edges, np.int64)
    rows = np.repeat(np.arange(len(pairs)), 2)
    signs = np.tile([1.0, -1.0], len(pairs))
    lengths = coo_array((signs, (rows, pairs.ravel())), shape=(len(pairs), n_nodes)).tocsr()
    cost = np.bincount(pairs[:, 1], minlength=n_nodes) - np.bincount(pairs[:, 0], minlength=n_nodes)
    found = linprog(cost, A_ub=lengths, b_ub=-np.ones(len(pairs)), bounds=(0, None), method="highs-ds")
    layer = [round(y) for y in found.x]
    _balance(n_nodes, edges, layer)
    return layer


def _balance(n_nodes: int, edges: Sequence[Edge], layer: list[int]) -> None:
    """Move nodes with as many edges above as below to where there is room, in place."""
    above, below = neighbours(n_nodes, edges)
    filled = np.bincount(layer, minlength=max(layer) + 1).tolist()
    for node in range(n_nodes):
        if above[node] and len(above[node]) == len(below[node]):
            first = max(layer[upper] for upper in above[node]) + 1
            last = min(layer[lower] for lower in below[node]) - 1
            best = min(range(first, last + 1), key=lambda place: (filled[place], place))
            if filled[best] + 1 < filled[layer[node]]:
                filled[layer[node]] -= 1
                filled[best] += 1
                layer[node] = best
