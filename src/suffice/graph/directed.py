"""Directed graphs given as ``{node: parents}``: order and cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def topological_order(parents: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Return the nodes with parents before children, or None when there is a cycle.

    Among the nodes that may come next, the one listed first comes first, so that the order is stable.

    >>> topological_order({"B": ["A"], "A": [], "C": ["B"]})
    ['A', 'B', 'C']
    """
    import heapq

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
    return order if len(order) == len(names) else None


def find_cycle(parents: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Return the nodes of one cycle, the first repeated at the end, along the edges; None when there is none.

    >>> find_cycle({"A": ["C"], "B": ["A"], "C": ["B"]})
    ['A', 'B', 'C', 'A']
    """
    left = set(parents)
    while True:  # peel off what has no parent left; what stays lies on or below a cycle
        free = [node for node in left if not any(parent in left for parent in parents[node])]
        if not free:
            break
        left.difference_update(free)
    if not left:
        return None
    path = [next(node for node in parents if node in left)]
    while True:  # climbing from parent to parent must come back
        above = next(parent for parent in parents[path[-1]] if parent in left)
        if above in path:
            loop = path[path.index(above) :][::-1]
            start = loop.index(min(loop, key=list(parents).index))
            loop = loop[start:] + loop[:start]
            return [*loop, loop[0]]
        path.append(above)
