"""Mutual information of pairs of variables, in nats, from counts or from moments.

======  =====================================================
m       counts m(x, y) of a pair, and T their total
I       Σ m/T · log(m T / (m(x) m(y))); 0 log 0 = 0
ρ       correlation; for two normal variables I = −½ log(1 − ρ²)
======  =====================================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.stats.counts import Counts
from suffice.stats.moments import Moments

STACK_CELLS = 1 << 21
"""Cells of the tables that are worked on at once."""


def counted_information(tables: Sequence[Counts], alpha: float = 0.0) -> NDArray[np.float64]:
    """Return the mutual information of each table of two variables.

    Parameters
    ----------
    tables : sequence of Counts
        Each over two variables; their states may differ in number.
    alpha : float
        Added to every cell of every table.

    Returns
    -------
    array, shape (n_tables,)
        Never negative. Tables that are the same but for the order of their variables or states have the same bits.

    Examples
    --------
    >>> from suffice.data.variable import Variable
    >>> pair = Variable("A", ("x", "y")), Variable("B", ("u", "v"))
    >>> same, free = Counts.dense(pair, np.array([[2, 0], [0, 2]])), Counts.dense(pair, np.array([[1, 1], [1, 1]]))
    >>> counted_information([same, free]).round(4).tolist()
    [0.6931, 0.0]
    """
    found = np.zeros(len(tables))
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for position, counts in enumerate(tables):
        by_shape.setdefault(tuple(variable.n_states for variable in counts.variables), []).append(position)
    for (n_rows, n_columns), positions in by_shape.items():
        at_once = max(1, STACK_CELLS // max(n_rows * n_columns, 1))
        for start in range(0, len(positions), at_once):
            some = positions[start : start + at_once]
            found[some] = _information(np.stack([tables[position].table() for position in some]) + alpha)
    return found


def _information(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mutual information of tables of one shape, (n_tables, n_rows, n_columns)."""
    rows, columns = tables.sum(axis=2, keepdims=True), tables.sum(axis=1, keepdims=True)
    total = rows.sum(axis=1, keepdims=True)
    # One fraction and no difference of logarithms: a table of exact independence has ratios of one, and a sum of zero.
    ratio = np.divide(tables * total, rows * columns, out=np.ones_like(tables), where=tables > 0)
    terms = (tables * np.log(ratio)).reshape(len(tables), -1)  # eq mutual-information
    # In order of size, so that the sum does not depend on the order of states and variables, and ties are ties.
    terms.sort(axis=1)
    total = total[:, 0, 0]
    found: NDArray[np.float64] = np.divide(terms.sum(axis=1), total, out=np.zeros(len(total)), where=total > 0)
    return np.maximum(found, 0.0)


def normal_information(moments: Moments) -> NDArray[np.float64]:
    """Return −½ log(1 − ρ²) for every pair of variables, shape (p, p), with zeros on the diagonal.

    A constant column informs of nothing. Columns that are linear functions of each other, as far as rounding lets one
    see, have infinite information.

    Examples
    --------
    >>> from suffice.data.variable import Variable
    >>> rows = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [3.0, 6.0, 1.0]])
    >>> normal_information(Moments.of_rows((Variable("x"), Variable("y"), Variable("z")), rows)).round(4)
    array([[0.    ,    inf, 0.0345],
           [   inf, 0.    , 0.0345],
           [0.0345, 0.0345, 0.    ]])
    """
    eps = np.finfo(np.float64).eps
    spread = np.sqrt(np.diagonal(moments.scatter) / max(float(moments.weight), np.finfo(np.float64).tiny))
    constant = spread <= 2 * eps * np.abs(moments.mean)
    size = np.sqrt(np.where(constant, 1.0, np.diagonal(moments.scatter)))
    correlation = np.where(constant | constant[:, None], 0.0, moments.scatter / size / size[:, None])
    unexplained = (1.0 - np.abs(correlation)) * (1.0 + np.abs(correlation))
    exact = unexplained <= 16 * eps
    found = np.where(exact, np.inf, -0.5 * np.log(np.where(exact, 1.0, unexplained)))  # eq gaussian-information
    np.fill_diagonal(found, 0.0)
    return np.maximum(found, 0.0)
