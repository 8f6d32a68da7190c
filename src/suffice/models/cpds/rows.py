"""Rows of a conditional table by parent configuration: finding them, reading an expert's, putting them in place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError
from suffice.models.cpds.kind import Family
from suffice.stats.counts import unique_rows


def find_rows(
    wanted: NDArray[Any], sizes: Sequence[int], configurations: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return the row number of each wanted parent configuration, −1 where there is none.

    Parameters
    ----------
    wanted : array, shape (n, n_parents)
    sizes : sequence of int
        Numbers of states of the parents.
    configurations : array, shape (k, n_parents), or None
        The configurations that have rows, in lexicographic order; None when all of them do.
    """
    if configurations is None:
        position = np.zeros(len(wanted), np.int64)
        for axis, size in enumerate(sizes):
            position = position * size + wanted[:, axis]
        return position
    both = np.concatenate([configurations, wanted.astype(np.int64)])
    distinct, identity = unique_rows(both)
    row_of = np.full(len(distinct), -1, np.int64)
    row_of[identity[: len(configurations)]] = np.arange(len(configurations))
    return row_of[identity[len(configurations) :]]


def all_configurations(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return every parent configuration in lexicographic order; shape (Π sizes, n_parents), one row without parents.

    >>> all_configurations([2, 2]).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> all_configurations([]).shape
    (1, 0)
    """
    return np.indices(sizes).reshape(len(sizes), math.prod(sizes)).T.astype(np.int64)


def put_rows(
    values: NDArray[np.float64],
    stored: NDArray[np.int64] | None,
    sizes: Sequence[int],
    configurations: NDArray[np.int64],
    rows: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Replace or add rows; return the new values and stored configurations."""
    position = find_rows(configurations, sizes, stored)
    changed = np.array(values)
    known = position >= 0
    changed[position[known]] = rows[known]
    if stored is None or known.all():
        return changed, stored
    all_rows = np.concatenate([changed, rows[~known]])
    distinct, identity = unique_rows(np.concatenate([stored, configurations[~known]]))
    ordered = np.empty_like(all_rows)
    ordered[identity] = all_rows
    return ordered, distinct


def given_rows(family: Family, given: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Read what an expert gives for a node: parent configurations, shape (g, n_parents), and rows, shape (g, n_states).

    A whole table is an array of shape (…parents' states, child's states). Single rows are a mapping from the parents'
    states, a label for one parent or a tuple for several, to a row: probabilities in order, or by state.
    """
    name = family.child.name
    if isinstance(given, Mapping) and not family.parents:
        given = [given[state] if state in given else _absent(name, state) for state in family.child.labels]
    if isinstance(given, Mapping):
        keys = [key if isinstance(key, tuple) else (key,) for key in given]
        for key in keys:
            if len(key) != len(family.parents):
                raise ArgumentError(
                    f"fixed[{name!r}]: the key {key!r} must name one state for each of the parents {family.scope[:-1]}."
                )
        codes = [[parent.code(label) for parent, label in zip(family.parents, key, strict=True)] for key in keys]
        rows = [_row(family, row) for row in given.values()]
        return np.array(codes, np.int64).reshape(-1, len(family.parents)), _proper(family, np.array(rows))
    table = np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given, np.float64)
    shape = tuple(variable.n_states for variable in family.variables)
    if table.shape != shape:
        raise ArgumentError(
            f"fixed[{name!r}] must have shape {shape}: the parents {family.scope[:-1]} in order, then the states of "
            f"{name!r}. Got shape {table.shape} instead. Single rows are given as a mapping from the parents' states."
        )
    return all_configurations(shape[:-1]), _proper(family, table.reshape(-1, shape[-1]))


def _row(family: Family, row: Any) -> list[float]:
    child = family.child
    if isinstance(row, Mapping):
        by_code = {child.code(label): float(p) for label, p in row.items()}
        row = [
            by_code[code] if code in by_code else _absent(child.name, child.labels[code])
            for code in range(child.n_states)
        ]
    if len(row) != child.n_states:
        raise ArgumentError(f"fixed[{child.name!r}]: a row needs {child.n_states} probabilities. Got {row!r} instead.")
    return [float(p) for p in row]


def _absent(name: str, state: object) -> float:
    raise ArgumentError(f"fixed[{name!r}]: the state {state!r} has no probability. Give one for every state.")


def _proper(family: Family, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    bad = ~((rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) <= 1e-9))
    if bad.any():
        row = rows[int(np.argmax(bad))]
        raise ArgumentError(
            f"fixed[{family.child.name!r}]: the row {row.tolist()} is not a distribution (its sum is {row.sum():.12g})."
        )
    return rows
