"""Independence in tables of counts: G², its degrees of freedom where cells cannot occur, and its law in small samples.

======  ===============================================================================================
m       counts m(x, y, z) of two variables, x and y, in each stratum z of what is given
G²      2 Σ m log(m m(z) / (m(x, z) m(y, z))), with 0 log 0 = 0
df      Σ_z (rows of z that occur − 1)(columns of z that occur − 1): states that a stratum lacks count for nothing
======  ===============================================================================================

Where expected counts are small G² is far from χ². Then tables are drawn that have the margins of every stratum, all of
them as likely as independence makes them, and G² is compared with theirs (Besag and Clifford, 1991).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from suffice.checking.outcome import IndependenceOutcome
from suffice.stats.counts import Counts
from suffice.stats.ordering import unique_rows
from suffice.types import Array

SMALL = 5.0
"""Expected counts below this call for drawn tables."""
MOST_DRAWS = 1999
ENOUGH = 20
"""Draws stop when so many tables were as far from independence as the data's."""
DRAWN_NUMBERS = 1 << 21
"""Numbers that are drawn for a test at most, unless the least number of draws takes more."""
LEAST_DRAWS = 499
FIRST_BATCH, BATCH_NUMBERS = 64, 1 << 18
LARGEST = 10**9
"""Strata with more rows than this are not drawn."""
ROUNDING = 1e-9


def strata(counts: Counts, first: str, second: str) -> Array:
    """Return the counts with one stratum a configuration of the other variables, shape (n_first, n_second, n_strata).

    Strata in which one of the two does not vary tell nothing, and are left out; then so are states that do not occur.
    """
    names = counts.need.scope
    x, y = names.index(first), names.index(second)
    others = [axis for axis in range(len(names)) if axis not in (x, y)]
    shape = counts.variables[x].n_states, counts.variables[y].n_states
    if counts.cells is None:
        table: Array = np.transpose(counts.values, (x, y, *others)).reshape(*shape, -1)
    else:
        cells, _ = counts.nonzero()
        found, stratum = unique_rows(cells[:, others])
        flat = (cells[:, x] * shape[1] + cells[:, y]) * len(found) + stratum
        table = np.zeros(shape[0] * shape[1] * len(found), counts.values.dtype)
        table[flat] = counts.values
        table = table.reshape(*shape, len(found))
    varies = ((table.sum(axis=1) > 0).sum(axis=0) > 1) & ((table.sum(axis=0) > 0).sum(axis=0) > 1)
    table = table[:, :, varies]
    rows, columns = (np.flatnonzero(table.any(axis=(other, 2))) for other in (1, 0))
    return np.ascontiguousarray(table[np.ix_(rows, columns)])


def deviance(table: Array) -> float:
    """Return G² of a table of strata.

    >>> round(deviance(np.array([[[20], [10]], [[12], [18]]])), 4)
    4.3392
    """
    m = table.astype(np.float64)
    rows, columns, total = _margins(m)
    # One fraction and no difference of logarithms: exact independence has ratios of one.
    ratio = np.divide(m * total, rows * columns, out=np.ones_like(m), where=m > 0)
    return max(0.0, 2.0 * float((m * np.log(ratio)).sum()))  # eq independence-g2


def degrees(table: Array) -> int:
    """Return the degrees of freedom on the states that occur in each stratum.

    >>> degrees(np.array([[[3, 5], [2, 1]], [[4, 0], [6, 0]]]))
    1
    """
    rows = (table.sum(axis=1) > 0).sum(axis=0)
    columns = (table.sum(axis=0) > 0).sum(axis=0)
    return int((np.maximum(rows - 1, 0) * np.maximum(columns - 1, 0)).sum())


def outcome_in(table: Array, stream: np.random.Generator, most: int = MOST_DRAWS) -> IndependenceOutcome:
    """Test independence in a table of strata, by χ² or, where expected counts are small, by ``most`` drawn tables."""
    from scipy.special import chdtrc

    g2, df = deviance(table), degrees(table)
    p = float(chdtrc(df, g2))
    rows, columns, total = _margins(table.astype(np.float64))
    expected = rows * columns / total
    is_small = bool((expected[expected > 0] < SMALL).any())
    if not is_small or table.dtype.kind != "i" or float(total.max()) >= LARGEST:
        return IndependenceOutcome("G²", g2, df, None, g2, df, p, is_rough=is_small)
    drawn, n_draws = _drawn_p(table, p, stream, most)
    return IndependenceOutcome("G², drawn", g2, df, None, g2, df, drawn, n_draws)


def _margins(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    return rows, columns, rows.sum(axis=0, keepdims=True)


# Drawn tables -------------------------------------------------------------------------------------------------


def _drawn_p(table: Array, asymptotic: float, stream: np.random.Generator, most: int) -> tuple[float, int]:
    """Return the share of drawn tables that are as far from independence, and how many were drawn.

    Draws stop when enough of them are; the share is then a proper p-value as well. Where none is, the p-value is below
    what draws can tell, and is that of a χ² law with their mean, variance and skewness or, if larger, of the usual one.
    """
    each = max((table.shape[0] - 1) * (table.shape[1] - 1) * table.shape[2], 1)
    most = min(most, max(LEAST_DRAWS, DRAWN_NUMBERS // each))
    observed = float(_entropy_sum(table[None])[0])
    limit = observed - ROUNDING * max(1.0, abs(observed))
    n_draws, n_far, size, sums = 0, 0, FIRST_BATCH // 2, []
    while n_draws < most:
        size = max(1, min(2 * size, most - n_draws, BATCH_NUMBERS // table.size or 1))
        values = _entropy_sum(drawn_tables(table, size, stream))
        far = np.cumsum(values >= limit) + n_far
        if far[-1] >= ENOUGH:
            n_draws += int(np.searchsorted(far, ENOUGH)) + 1
            return ENOUGH / n_draws, n_draws
        n_draws, n_far = n_draws + size, int(far[-1])
        sums.append(values)
    if n_far:
        return (n_far + 1) / (n_draws + 1), n_draws
    return min(1 / (n_draws + 1), max(asymptotic, _matched(np.concatenate(sums), observed))), n_draws


def _matched(values: NDArray[np.float64], observed: float) -> float:
    """Return the tail of the scaled and shifted χ² law that has the mean, variance and skewness of drawn values."""
    from scipy.special import gammaincc

    centred = values - values.mean()
    spread = float(np.sqrt((centred**2).mean()))
    if spread <= 0:
        return 0.0
    skew = max(float((centred**3).mean()) / spread**3, 1e-3)
    shape = 4.0 / skew**2
    at = shape + (observed - float(values.mean())) / spread * math.sqrt(shape)
    return float(gammaincc(shape, max(at, 0.0)))


def _entropy_sum(tables: Array) -> NDArray[np.float64]:
    """Return Σ m log m of each table; with the margins fixed it differs from half of G² by a constant."""
    from scipy.special import xlogy

    flat = tables.reshape(len(tables), -1).astype(np.float64)
    found: NDArray[np.float64] = xlogy(flat, flat).sum(axis=1)
    return found


def drawn_tables(table: Array, size: int, stream: np.random.Generator) -> NDArray[np.int64]:
    """Draw tables with the margins of every stratum, as independence makes them likely; shape (size, *table.shape).

    >>> drawn = drawn_tables(np.array([[[3], [2]], [[1], [4]]]), 5, np.random.default_rng(0))
    >>> drawn.sum(axis=1)[:, :, 0].tolist() == [[4, 6]] * 5, drawn.sum(axis=2)[:, :, 0].tolist() == [[5, 5]] * 5
    (True, True)
    """
    n_rows, n_columns, n_strata = table.shape
    found = np.zeros((size, *table.shape), np.int64)
    left = np.broadcast_to(table.sum(axis=0), (size, n_columns, n_strata)).copy()
    wanted = table.sum(axis=1)
    for row in range(n_rows - 1):
        lacking = np.broadcast_to(wanted[row], (size, n_strata)).copy()
        rest = left.sum(axis=1)
        for column in range(n_columns - 1):
            rest -= left[:, column]
            got = stream.hypergeometric(left[:, column], rest, lacking)
            found[:, row, column] = got
            lacking -= got
        found[:, row, -1] = lacking
        left -= found[:, row]
    found[:, -1] = left
    return found
