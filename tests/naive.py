"""Slow, obvious twins of what the library does fast: plain loops over plain rows, exact where possible."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Columns = Mapping[str, Sequence[Any]]


def rows_of(columns: Columns, scope: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the table's rows, restricted to some columns."""
    if not scope:
        return [()] * len(next(iter(columns.values())))
    return list(zip(*(columns[name] for name in scope), strict=True))


def counts(
    columns: Columns, scope: Sequence[str], weights: Sequence[Any] | None = None
) -> dict[tuple[Any, ...], Fraction]:
    """Return m(x_C) by configuration, exactly."""
    table: dict[tuple[Any, ...], Fraction] = defaultdict(Fraction)
    rows = rows_of(columns, scope)
    for row, weight in zip(rows, weights if weights is not None else [1] * len(rows), strict=True):
        table[row] += Fraction(weight)
    return dict(table)


def mle(
    columns: Columns, child: str, parents: Sequence[str], weights: Sequence[Any] | None = None
) -> dict[tuple[Any, ...], Fraction]:
    """Return θ̂ by (…parents, child) for every configuration that occurs, exactly."""
    joint = counts(columns, [*parents, child], weights)
    above = counts(columns, parents, weights)
    return {cell: m / above[cell[:-1]] for cell, m in joint.items() if above[cell[:-1]]}


def log_likelihood(columns: Columns, parents: Mapping[str, Sequence[str]]) -> float:
    """Return the maximised log-likelihood of a DAG, one row at a time."""
    tables = {child: mle(columns, child, above) for child, above in parents.items()}
    n_rows = len(next(iter(columns.values())))
    terms = []
    for i in range(n_rows):
        for child, above in parents.items():
            cell = (*(columns[name][i] for name in above), columns[child][i])
            terms.append(math.log(tables[child][cell]))
    return math.fsum(terms)


def distinct(columns: Columns, scope: Sequence[str]) -> Counter[tuple[Any, ...]]:
    """Return how often each row occurs."""
    return Counter(rows_of(columns, scope))


def proportionally_fitted(
    sizes: Sequence[int], scopes: Sequence[Sequence[int]], table: Mapping[tuple[int, ...], float], cycles: int = 1000
) -> tuple[dict[tuple[int, ...], float], list[float]]:
    """Return p(x) of the log-linear model with the margins of a table, and Σ KL(t_C‖p_C) of every cycle's steps.

    Deming and Stephan's procedure from the uniform distribution, cell by cell, until nothing moves any more.
    """
    total = math.fsum(table.values())
    cells = list(itertools.product(*map(range, sizes)))
    p = dict.fromkeys(cells, 1 / len(cells))
    gains = []
    for _ in range(cycles):
        gain, moved = 0.0, 0.0
        for scope in scopes:
            wanted, found = defaultdict(float), defaultdict(float)
            for x in cells:
                wanted[tuple(x[v] for v in scope)] += table.get(x, 0.0) / total
                found[tuple(x[v] for v in scope)] += p[x]
            gain += math.fsum(t * math.log(t / found[cell]) for cell, t in wanted.items() if t)
            moved = max(moved, *(abs(t - found[cell]) for cell, t in wanted.items()), 0.0)
            for x in cells:
                cell = tuple(x[v] for v in scope)
                p[x] *= wanted[cell] / found[cell] if wanted[cell] else 0.0
        gains.append(gain)
        if moved < 1e-14:
            break
    return p, gains
