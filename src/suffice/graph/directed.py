"""Directed graphs given as ``{node: parents}``: order and cycles."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence


def topological_order(parents: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Return the nodes with parents before children, or None when there is a cycle.

    Among the nodes that may come next, the one listed first comes first, so that the order is stable.

    >>> topological_order({"B": ["A"], "A": [], "C": ["B"]})
    ['A', 'B', 'C']
    """
    order = _peeled(parents)
    return order if len(order) == len(parents) else None


def _peeled(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the nodes in order, parents first, as far as that goes; nodes on or below a cycle are left out."""
    position = {node: index for index, node in enumerate(parents)}
    children: dict[str, list[str]] = {node: [] for node in parents}
    for node, above in parents.items():
        for parent in above:
            children[parent].append(node)
    waiting = {node: len(above) for node, above in parents.items()}
    ready = [position[node] for node, count in waiting.items() if count == 0]
    names, order = list(parents), []
    while ready:
        node = names[heapq.heappop(ready)]
        order.append(node)
        for child in children[node]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, position[child])
    return order


def find_cycle(parents: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Return the nodes of one cycle, the first repeated at the end, along the edges; None when there is none.

    >>> find_cycle({"A": ["C"], "B": ["A"], "C": ["B"]})
    ['A', 'B', 'C', 'A']
    """
    left = set(parents).difference(_peeled(parents))  # what cannot be peeled off lies on or below a cycle
    if not left:
        return None
    path = {next(node for node in parents if node in left): 0}
    node = next(iter(path))
    while True:  # climbing from parent to parent must come back
        node = next(parent for parent in parents[node] if parent in left)
        if node in path:
            break
        path[node] = len(path)
    loop = list(path)[path[node] :][::-1]
    position = {name: index for index, name in enumerate(parents)}
    start = loop.index(min(loop, key=position.__getitem__))
    loop = loop[start:] + loop[:start]
    return [*loop, loop[0]]
