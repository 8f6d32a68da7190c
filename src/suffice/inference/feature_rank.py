"""How many weights features determine: the covariance of features when every configuration is equally likely."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.inference.clique_family import Layout, TableFamily
from suffice.inference.dependence import Dependence, Relation, dependence
from suffice.inference.feature_family import joint_features
from suffice.types import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_WEIGHTS = 2000
JOINT_CELLS = 1 << 16
RANK = 1e-13
TINY = 1e-15
"""Correlations below this are none."""
MOST_NUMBERS = 20_000_000
"""Beyond so many numbers in the way there, dependence is not looked for."""


def uniform_covariance(layout: Layout, matrix: csr_array) -> Floats | None:
    """Return Cov(f) under the uniform distribution, or None where that is too much work.

    Its null vectors are the combinations of features that are constant. Features are split into their main effects and
    interactions, which are orthogonal to each other; where scopes are wide and the joint table is of moderate size, it
    is summed over that.
    """
    n_weights = matrix.shape[1]
    if n_weights > MOST_WEIGHTS:
        return None
    found = _by_terms(layout, matrix)
    if found is not None:
        return found
    cells = math.prod(layout.sizes)
    if cells <= JOINT_CELLS and len(layout.sizes) <= 30 and cells * len(layout.scopes) <= MOST_NUMBERS:
        names = [str(v) for v in range(len(layout.sizes))]
        values = joint_features(TableFamily(names, layout.sizes, layout.scopes), matrix)
        mean = np.asarray(values.sum(axis=0)).reshape(-1) / cells
        return np.asarray((values.T @ values).toarray() / cells - np.outer(mean, mean), np.float64)
    return None


def _by_terms(layout: Layout, matrix: csr_array) -> Floats | None:
    parts: dict[tuple[int, ...], list[tuple[NDArray[np.int64], Floats]]] = {}
    spent = 0
    for start, scope, shape in zip(layout.starts[:-1], layout.scopes, layout.shapes, strict=True):
        ends = matrix.indptr[start : start + math.prod(shape) + 1]
        weights, which = np.unique(matrix.indices[ends[0] : ends[-1]], return_inverse=True)
        if not len(weights):
            continue
        spent += 2 ** len(scope) * math.prod(shape) * len(weights)
        if spent > MOST_NUMBERS:
            return None
        flat = np.zeros((math.prod(shape), len(weights)))
        flat[np.repeat(np.arange(len(flat)), np.diff(ends)), which] = matrix.data[ends[0] : ends[-1]]
        tables = flat.reshape(*shape, len(weights))
        for size in range(1, len(scope) + 1):
            for axes in itertools.combinations(range(len(scope)), size):
                table = tables
                for axis in range(len(scope)):
                    mean = table.mean(axis=axis, keepdims=True)
                    table = table - mean if axis in axes else mean
                ranked = sorted(axes, key=lambda axis: scope[axis])
                term = tuple(scope[axis] for axis in ranked)
                others = [axis for axis in range(len(scope)) if axis not in axes]
                part = table.transpose([*ranked, *others, len(scope)]).reshape(-1, len(weights))
                parts.setdefault(term, []).append((weights, part))
    return _gram(parts, matrix.shape[1])


def _gram(parts: dict[tuple[int, ...], list[tuple[NDArray[np.int64], Floats]]], n_weights: int) -> Floats:
    found = np.zeros((n_weights, n_weights))
    for held in parts.values():
        weights = np.unique(np.concatenate([which for which, _ in held]))
        whole = np.zeros((len(held[0][1]), len(weights)))
        for which, table in held:  # scopes that share a term add up in it
            whole[:, np.searchsorted(weights, which)] += table
        found[np.ix_(weights, weights)] += whole.T @ whole / len(whole)
    return found


def relations(covariance: Floats, scale: Floats) -> Dependence:
    """Return how features depend on each other, looking only at those that are correlated or constant."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    unit = np.where(scale > 0, scale, 1.0)
    linked = np.abs(covariance / unit[:, None] / unit) > TINY
    _, group = connected_components(csr_array(linked), directed=False)
    alone = (np.bincount(group)[group] == 1) & np.diag(linked)
    which = np.flatnonzero(~alone)
    if not len(which):
        return Dependence(len(covariance), ())
    found = dependence(covariance[np.ix_(which, which)], scale=unit[which])
    named = tuple(Relation(tuple(int(which[i]) for i in r.indices), r.coefficients) for r in found.relations)
    return Dependence(found.rank + int(alone.sum()), named)


def rank_of_rows(rows: Floats) -> int:
    """Return how many columns are independent, to rounding error; they should be deviations from a mean.

    >>> years = np.arange(1950.0, 1960.0)
    >>> powers = np.column_stack([years, years**2, years**3, 2 * years + 1])
    >>> rank_of_rows(powers - powers.mean(axis=0))
    3
    """
    sizes = np.sqrt((rows**2).sum(axis=0))
    values = np.linalg.svd(rows / np.where(sizes > 0, sizes, 1.0), compute_uv=False)
    return int((values > RANK * max(float(values.max(initial=0.0)), 1e-300)).sum())
