"""The order of nodes within layers: few crossings of edges.

Every edge joins neighbouring layers here; long ones were cut into pieces by nodes of their own.
"""

from __future__ import annotations

from bisect import bisect_right, insort

from suffice.report.layering import Near

ROUNDS = 24  # sweeps down and up at most
PATIENCE = 4  # sweeps without fewer crossings, after which the search ends
EXCHANGES = 12  # passes of exchanging neighbours at most
SMALL = 400  # nodes up to which neighbours are exchanged after every sweep

Layers = list[list[int]]


def order_layers(layers: Layers, above: Near, below: Near) -> Layers:
    """Return the layers in an order with few crossings.

    Parameters
    ----------
    layers : list of list of int
        The nodes of each layer, the uppermost first.
    above, below : list of list of int
        The neighbours of each node in the layer above and below it.

    Notes
    -----
    Sweeps down and up put each node at the mean place of its neighbours (Sugiyama, Tagawa and Toda, 1981), and
    exchanges of two nodes side by side remove what the means leave (Gansner et al., 1993). The best order is kept.

    Examples
    --------
    >>> order_layers([[0, 1], [2, 3]], [[], [], [1], [0]], [[3], [2], [], []])
    [[0, 1], [3, 2]]
    """
    best = _first_order(layers, above, below)
    place = _places(best, len(above))
    fewest = crossings(best, below, place)
    order, idle = [layer[:] for layer in best], 0
    small = len(above) <= SMALL
    for turn in range(ROUNDS):
        if fewest == 0 or idle >= PATIENCE:
            break
        _sweep(order, above if turn % 2 == 0 else below, place, turn)
        if small:
            _exchange(order, above, below, place)
        found = crossings(order, below, place)
        idle = 0 if found < fewest else idle + 1
        if found < fewest:
            fewest, best = found, [layer[:] for layer in order]
    place = _places(best, len(above))
    if fewest:
        _exchange(best, above, below, place)
    return best


def crossings(layers: Layers, below: Near, place: list[int]) -> int:
    """Count the pairs of edges that cross.

    >>> crossings([[0, 1], [2, 3]], [[3], [2], [], []], [0, 1, 0, 1])
    1
    """
    total = 0
    for layer in layers[:-1]:
        ends: list[int] = []
        for node in layer:
            near = sorted(place[lower] for lower in below[node])
            total += sum(len(ends) - bisect_right(ends, end) for end in near)
            for end in near:
                insort(ends, end)
    return total


def _places(layers: Layers, n_nodes: int) -> list[int]:
    place = [0] * n_nodes
    for layer in layers:
        for index, node in enumerate(layer):
            place[node] = index
    return place


def _first_order(layers: Layers, above: Near, below: Near) -> Layers:
    """Walk along the edges as far as they lead before turning back, which leaves trees without a crossing."""
    which = {node: number for number, layer in enumerate(layers) for node in layer}
    order: Layers = [[] for _ in layers]
    seen = set()
    for start in which:
        stack = [start]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                order[which[node]].append(node)
                stack.extend(reversed(above[node]))
                stack.extend(reversed(below[node]))
    return order


def _sweep(order: Layers, fixed: Near, place: list[int], turn: int) -> None:
    """Put the nodes of each layer at the mean place of their neighbours on one side, layer after layer, in place."""
    down = turn % 2 == 0
    numbers = range(1, len(order)) if down else range(len(order) - 2, -1, -1)
    for number in numbers:
        layer = order[number]
        scale = len(order[number + (-1 if down else 1)]) / len(layer)
        means = {}
        for index, node in enumerate(layer):
            near = fixed[node]
            means[node] = sum(place[other] for other in near) / len(near) if near else index * scale
        if turn % 4 >= 2:  # equals change sides now and then
            layer.reverse()
        layer.sort(key=means.__getitem__)
        for index, node in enumerate(layer):
            place[node] = index


def _exchange(order: Layers, above: Near, below: Near, place: list[int]) -> None:
    """Exchange nodes side by side as long as that removes crossings, in place."""
    waiting = set(range(len(order)))
    for _ in range(EXCHANGES):
        if not waiting:
            break
        again: set[int] = set()
        for number in sorted(waiting):
            if _exchange_layer(order[number], above, below, place):
                again.update((number - 1, number, number + 1))
        waiting = again & set(range(len(order)))


def _exchange_layer(layer: list[int], above: Near, below: Near, place: list[int]) -> bool:
    """Go along a layer once; return whether anything changed."""
    changed = False
    for index in range(len(layer) - 1):
        left, right = layer[index], layer[index + 1]
        gain = _gain(above[left], above[right], place) + _gain(below[left], below[right], place)
        if gain > 0:
            layer[index], layer[index + 1] = right, left
            place[left], place[right] = index + 1, index
            changed = True
    return changed


def _gain(left: list[int], right: list[int], place: list[int]) -> int:
    """Return how many crossings of two nodes' edges an exchange of the nodes would remove."""
    if not left or not right:
        return 0
    ends = [place[other] for other in right]
    total = 0
    for other in left:
        here = place[other]
        for end in ends:
            total += (end < here) - (end > here)
    return total
