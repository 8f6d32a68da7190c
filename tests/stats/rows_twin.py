"""Small tables, their distinct rows by the library, and the same by a counter of tuples."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from hypothesis import strategies as st

from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.stats.needs import Distinct
from suffice.stats.rows import Rows
from suffice.stats.source import BlockSource

SCOPE = ("a", "x", "b")
NEED = Distinct(SCOPE)
A, X, B = Variable("a", ("u", "v", "w")), Variable("x"), Variable("b", (1, 2, 3))

row = st.tuples(st.sampled_from("uvw"), st.sampled_from([-2.5, -0.0, 0.0, 0.5, 1e300]), st.sampled_from([1, 2, 3]))
tables = st.lists(row, max_size=20)
eighths = st.sampled_from([0.0, 0.25, 1.0, 1.5]) | st.integers(0, 10**6).map(lambda k: k / 8)  # their sums are exact


def source_of(table, weights=None, block_rows=1 << 20, scope=SCOPE):
    columns = {name: [entry[j] for entry in table] for j, name in enumerate(SCOPE)}
    weights = None if weights is None else list(weights)
    return BlockSource(open_table(columns, scope, continuous=["x"], weights=weights), block_rows=block_rows)


def gather(table, weights=None, block_rows=1 << 20, need=NEED):
    return source_of(table, weights, block_rows).gather([need])


def collect(table, weights=None, block_rows=1 << 20):
    return gather(table, weights, block_rows)[NEED]


def as_counter(rows: Rows) -> dict:
    """Return weights by row, rows as tuples of labels and values."""
    columns = [
        column.tolist() if v.states is None else [v.states[code] for code in column.tolist()]
        for v, column in zip(rows.variables, rows.columns, strict=True)
    ]
    tuples = list(zip(*columns, strict=True)) if columns else [()] * rows.n_rows
    assert len(set(tuples)) == len(tuples)
    return dict(zip(tuples, rows.weights.tolist(), strict=True))


def counted(table, weights=None) -> dict:
    """Return what `as_counter` should: a plain counter, without rows of weight zero."""
    found: Counter = Counter()
    for entry, weight in zip(table, weights or [1] * len(table), strict=True):
        found[entry] += Fraction(weight)
    return {entry: float(weight) for entry, weight in found.items() if weight}


def same(first: Rows, second: Rows) -> bool:
    mine, other = first.to_arrays(), second.to_arrays()
    alike = all(mine[k].dtype == other[k].dtype and mine[k].tobytes() == other[k].tobytes() for k in mine)
    return first.variables == second.variables and list(mine) == list(other) and alike


def is_ordered(rows: Rows) -> bool:
    listed = list(zip(*(column.tolist() for column in rows.columns), strict=True))
    return listed == sorted(listed) and len(set(listed)) == len(listed)


def listed(rows):
    columns = [column.tolist() for column in rows.columns]
    entries = list(zip(*columns, strict=True)) if columns else [()] * rows.n_rows
    return list(zip(entries, rows.weights.tolist(), strict=True))
