"""How far features reach: the least and the largest value of each, scope by scope."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.inference.clique_family import Layout

Floats = NDArray[np.float64]


def extents(layout: Layout, columns: Any, allowed: NDArray[np.bool_] | None = None) -> tuple[Floats, Floats]:
    """Return Σ over scopes of each feature's least and largest value: bounds on it, exact where it has one scope.

    Parameters
    ----------
    layout : Layout
    columns : csc_array of shape (layout.n, n_weights)
        The features' values at the cells of all scopes.
    allowed : array of bool, optional
        The cells that may occur.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> low, high = extents(Layout((2, 3), ((0,), (1,))), csc_array([[0.0], [1.0], [2.0], [3.0], [5.0]]))
    >>> low.tolist(), high.tolist()
    ([2.0], [6.0])
    """
    n_weights, n_scopes = columns.shape[1], len(layout.scopes)
    low, high = np.zeros(n_weights), np.zeros(n_weights)
    scope_of = np.repeat(np.arange(n_scopes), np.diff(layout.starts))
    places, values = np.asarray(columns.indices, np.int64), np.asarray(columns.data, np.float64)
    weights = np.repeat(np.arange(n_weights), np.diff(columns.indptr))
    room = np.diff(layout.starts)
    if allowed is not None:
        keep = allowed[places]
        places, values, weights = places[keep], values[keep], weights[keep]
        room = np.bincount(scope_of[allowed], minlength=n_scopes)
    groups = weights * max(n_scopes, 1) + scope_of[places]
    order = np.argsort(groups, kind="stable")
    groups, values = groups[order], values[order]
    heads = np.flatnonzero(np.diff(groups, prepend=-1))
    if not len(heads):
        return low, high
    least, most = np.minimum.reduceat(values, heads), np.maximum.reduceat(values, heads)
    weight, scope = np.divmod(groups[heads], max(n_scopes, 1))
    # Cells that are not listed are zero, if there are any left.
    partly = np.diff(np.append(heads, len(groups))) < room[scope]
    np.add.at(low, weight, np.where(partly, np.minimum(least, 0.0), least))
    np.add.at(high, weight, np.where(partly, np.maximum(most, 0.0), most))
    return low, high
