"""Coordinates of nodes in ordered layers of large graphs: short edges in little room.

Each layer in turn is moved to where the edges to both its neighbours pull it, as far as its boxes leave each other
room: a least-squares problem with an order, solved exactly by pooling neighbours (Ayer et al., 1955). Pieces of long
edges pull the harder, so that they become straight (weights of Gansner et al., 1993).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.report.crossings import Layers
from suffice.report.layering import Near
from suffice.types import Floats

ROUNDS = 14
BOTH, ONE, NONE = 8.0, 2.0, 1.0  # the pull of a piece between two bends, with one bend, with none
IDLE = 0.1  # of a node without edges towards where it is


def relax_layers(layers: Layers, above: Near, below: Near, apart: Sequence[Sequence[float]], n_real: int) -> Floats:
    """Return the horizontal centre of every node, from layers that are packed tightly around one middle.

    Parameters
    ----------
    layers : list of list of int
        The nodes of each layer, from left to right.
    above, below : list of list of int
        The neighbours of each node in the layer above and below it.
    apart : sequence of sequence of float
        The least distance of the centres of the nodes side by side in each layer.
    n_real : int
        Nodes from this number on are bends of long edges.

    Returns
    -------
    array, shape (n_nodes,)

    Examples
    --------
    >>> relax_layers([[0], [1, 2]], [[], [0], [0]], [[1, 2], [], []], [[], [20]], 3).tolist()
    [0.0, -10.0, 10.0]
    """
    near = [upper + lower for upper, lower in zip(above, below, strict=True)]
    pull = [
        [(BOTH, ONE, NONE)[(node < n_real) + (other < n_real)] for other in others] for node, others in enumerate(near)
    ]
    x = [0.0] * len(near)
    for layer, free in zip(layers, apart, strict=True):
        start = -sum(free) / 2
        for node, place in zip(layer, np.cumsum([start, *free]).tolist(), strict=True):
            x[node] = place
    for turn in range(ROUNDS):
        numbers = range(len(layers)) if turn % 2 == 0 else range(len(layers) - 1, -1, -1)
        for number in numbers:
            layer = layers[number]
            weights = [sum(pull[node]) for node in layer]
            wanted = [
                sum(force * x[other] for force, other in zip(pull[node], near[node], strict=True)) / weight
                if weight
                else x[node]
                for node, weight in zip(layer, weights, strict=True)
            ]
            placed = in_order(wanted, [weight or IDLE for weight in weights], apart[number])
            for node, place in zip(layer, placed, strict=True):
                x[node] = place
    return np.array(x)


def in_order(wanted: Sequence[float], weights: Sequence[float], apart: Sequence[float]) -> list[float]:
    """Return the places nearest to the wanted ones, in weighted squares, that keep the distances.

    >>> in_order([0.0, 0.0, 50.0], [1.0, 1.0, 1.0], [10.0, 10.0])
    [-5.0, 5.0, 50.0]
    """
    shift = np.cumsum([0.0, *apart])
    means: list[float] = []
    pooled: list[float] = []
    counts: list[int] = []
    for place, pull in zip((np.asarray(wanted) - shift).tolist(), weights, strict=True):
        mean, weight, count = place, pull, 1
        while means and means[-1] >= mean:
            total = pooled[-1] + weight
            mean = (means.pop() * pooled[-1] + mean * weight) / total
            weight, count = total, count + counts.pop()
            pooled.pop()
        means.append(mean)
        pooled.append(weight)
        counts.append(count)
    placed: list[float] = (np.repeat(means, counts) + shift).tolist()
    return placed
