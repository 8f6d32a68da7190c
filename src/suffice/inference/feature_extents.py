"""How far features reach: the least and the largest value of each, scope by scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.inference.clique_family import Layout
from suffice.types import Floats

if TYPE_CHECKING:
    from scipy.sparse import csc_array


def extents(layout: Layout, columns: csc_array, allowed: NDArray[np.bool_] | None = None) -> tuple[Floats, Floats]:
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
    n_weights = columns.shape[1]
    low, high = np.zeros(n_weights), np.zeros(n_weights)
    weight, least, most = _by_scope(layout, columns, allowed)
    np.add.at(low, weight, least)
    np.add.at(high, weight, most)
    return low, high


def widest(layout: Layout, columns: csc_array) -> Floats:
    """Return the range of each feature within the scope where it is largest."""
    found = np.zeros(columns.shape[1])
    weight, least, most = _by_scope(layout, columns, None)
    np.maximum.at(found, weight, most - least)
    return found


def _by_scope(
    layout: Layout, columns: csc_array, allowed: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return, for every feature and scope where it is not zero, the feature, its least and its largest value there."""
    n_weights, n_scopes = columns.shape[1], max(len(layout.scopes), 1)
    scope_of = np.repeat(np.arange(len(layout.scopes)), np.diff(layout.starts))
    places, values = np.asarray(columns.indices, np.int64), np.asarray(columns.data, np.float64)
    weights = np.repeat(np.arange(n_weights), np.diff(columns.indptr))
    room = np.diff(layout.starts)
    if allowed is not None:
        keep = allowed[places]
        places, values, weights = places[keep], values[keep], weights[keep]
        room = np.bincount(scope_of[allowed], minlength=n_scopes)
    groups = weights * n_scopes + scope_of[places]
    order = np.argsort(groups, kind="stable")
    groups, values = groups[order], values[order]
    heads = np.flatnonzero(np.diff(groups, prepend=-1))
    if not len(heads):
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    least, most = np.minimum.reduceat(values, heads), np.maximum.reduceat(values, heads)
    weight, scope = np.divmod(groups[heads], n_scopes)
    # Cells that are not listed are zero, if there are any left.
    partly = np.diff(np.append(heads, len(groups))) < room[scope]
    return weight, np.where(partly, np.minimum(least, 0.0), least), np.where(partly, np.maximum(most, 0.0), most)


def variances(layout: Layout, columns: csc_array, shares: Floats) -> Floats:
    """Return Σ over scopes of each feature's variance within it, the cells having these shares.

    Deviations are taken before they are squared, so that features that hardly vary keep their digits. What scopes have
    in common is left out.

    >>> from scipy.sparse import csc_array
    >>> one = csc_array([[-1.0], [1.0]])
    >>> float(variances(Layout((2,), ((0,),)), one, np.array([1e-12, 1 - 1e-12]))[0].round(15))
    4e-12
    """
    n_weights, n_scopes = columns.shape[1], max(len(layout.scopes), 1)
    scope_of = np.repeat(np.arange(len(layout.scopes)), np.diff(layout.starts))
    places, values = np.asarray(columns.indices, np.int64), np.asarray(columns.data, np.float64)
    groups = np.repeat(np.arange(n_weights), np.diff(columns.indptr)) * n_scopes + scope_of[places]
    present, which = np.unique(groups, return_inverse=True)
    held = shares[places]
    mean = np.bincount(which, held * values, len(present))
    inside = np.bincount(which, held, len(present))
    within = np.bincount(which, held * (values - mean[which]) ** 2, len(present)).astype(np.float64)
    partly = np.bincount(which, minlength=len(present)) < _cells(layout, present)  # other cells are zero
    within += np.where(partly, np.maximum(1 - inside, 0.0) * mean**2, 0.0)
    found = np.zeros(n_weights)
    np.add.at(found, present // n_scopes, within)
    return found


def _cells(layout: Layout, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of cells of each group's scope."""
    found: NDArray[np.int64] = np.diff(layout.starts)[groups % max(len(layout.scopes), 1)]
    return found
