"""Coordinates of nodes in ordered layers: long edges straight, nodes near the middle of their neighbours.

Notes
-----
Four alignments of nodes into vertical blocks, from above and from below, to the left and to the right, whose medians
are averaged (Brandes and Köpf, 2002). Each order statistic of placements that keep nodes apart keeps them apart, and
so does its average. Straight edges take room: graphs that would become much wider than their widest layer needs are
relaxed instead (`relaxation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from suffice.report.crossings import Layers
from suffice.report.layering import Near
from suffice.report.relaxation import relax_layers
from suffice.types import Floats

ROOMY = 1.5  # how much wider than its widest layer a picture with straight edges may be


def place_layers(layers: Layers, above: Near, below: Near, widths: Sequence[float], n_real: int, gap: float) -> Floats:
    """Return the horizontal centre of every node.

    Parameters
    ----------
    layers : list of list of int
        The nodes of each layer, from left to right.
    above, below : list of list of int
        The neighbours of each node in the layer above and below it.
    widths : sequence of float
    n_real : int
        Nodes from this number on are bends of long edges.
    gap : float
        What is left free between two nodes; half of it beside a bend.

    Returns
    -------
    array, shape (n_nodes,)

    Examples
    --------
    >>> place_layers([[0], [1, 2]], [[], [0], [0]], [[1, 2], [], []], [10, 10, 10], 3, 5).tolist()
    [7.5, 0.0, 15.0]
    """
    apart = [[_apart(left, right, widths, n_real, gap) for left, right in pairwise(layer)] for layer in layers]
    straight = _straight(layers, above, below, apart, n_real)
    if np.ptp(straight) > ROOMY * max(sum(free) for free in apart):
        return relax_layers(layers, above, below, apart, n_real)
    return straight


def _apart(left: int, right: int, widths: Sequence[float], n_real: int, gap: float) -> float:
    """Return the least distance of the centres of two nodes side by side."""
    return (widths[left] + widths[right]) / 2 + (gap if left < n_real and right < n_real else gap / 2)


def _straight(layers: Layers, above: Near, below: Near, apart: list[list[float]], n_real: int) -> Floats:
    """Average the medians of the four alignments."""
    crossed = _crossed(layers, above, n_real)
    found = []
    for from_above in (True, False):
        for to_left in (True, False):
            turned, free = (layers, apart) if from_above else (layers[::-1], apart[::-1])
            if not to_left:
                turned, free = [layer[::-1] for layer in turned], [row[::-1] for row in free]
            root = _blocks(turned, above if from_above else below, crossed)
            x = _compact(turned, root, free)
            found.append(x if to_left else -x)
    narrow = min(found, key=lambda x: float(np.ptp(x)))
    sides = (np.min, np.max, np.min, np.max)
    shifted = [x + (side(narrow) - side(x)) for x, side in zip(found, sides, strict=True)]
    return np.asarray(np.sort(np.stack(shifted), axis=0)[1:3].mean(axis=0))


def _crossed(layers: Layers, above: Near, n_real: int) -> set[tuple[int, int]]:
    """Return the pieces of edges, (upper, lower), that cross the inside of a long edge, which stays straight."""
    crossed: set[tuple[int, int]] = set()
    for upper, lower in pairwise(layers):
        place = {node: index for index, node in enumerate(upper)}
        begun, least = 0, 0
        for index, node in enumerate(lower):
            inside = node >= n_real and above[node][0] >= n_real
            if not inside and index < len(lower) - 1:
                continue
            most = place[above[node][0]] if inside else len(upper) - 1
            for other in lower[begun : index + 1]:
                for near in above[other]:
                    if not least <= place[near] <= most and not (other >= n_real and near >= n_real):
                        crossed.add((near, other))
            begun, least = index + 1, most
    return crossed


def _blocks(layers: Layers, before: Near, crossed: set[tuple[int, int]]) -> list[int]:
    """Align each node with the median of its neighbours in the layer before; return the first node of its block."""
    root = list(range(len(before)))
    place = [0] * len(before)
    for layer in layers:
        for index, node in enumerate(layer):
            place[node] = index
    for layer in layers[1:]:
        last = -1
        for node in layer:
            near = sorted(before[node], key=place.__getitem__)
            for middle in dict.fromkeys(((len(near) - 1) // 2, len(near) // 2)) if near else ():
                other = near[middle]
                free = (other, node) not in crossed and (node, other) not in crossed
                if root[node] == node and free and place[other] > last:
                    root[node] = root[other]
                    last = place[other]
    return root


def _compact(layers: Layers, root: list[int], apart: list[list[float]]) -> Floats:
    """Place the blocks as far left as they go, then close gaps to the right."""
    ways: dict[int, dict[int, float]] = {}
    count: dict[int, int] = {}
    for layer in layers:
        for node in layer:
            if root[node] == node:
                ways[node] = {}
                count[node] = 0
    for layer, row in zip(layers, apart, strict=True):
        for left, right, free in zip(layer[:-1], layer[1:], row, strict=True):
            known = ways[root[left]]
            count[root[right]] += root[right] not in known
            known[root[right]] = max(known.get(root[right], 0.0), free)
    order = [block for block in ways if count[block] == 0]
    x = dict.fromkeys(ways, 0.0)
    for block in order:  # grows while it is walked
        for other, free in ways[block].items():
            x[other] = max(x[other], x[block] + free)
            count[other] -= 1
            if count[other] == 0:
                order.append(other)
    for block in reversed(order):
        if ways[block]:
            x[block] = max(x[block], min(x[other] - free for other, free in ways[block].items()))
    return np.array([x[root[node]] for node in range(len(root))])
