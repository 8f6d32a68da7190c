"""Rows of a conditional table by parent configuration: finding them, reading an expert's, putting them in place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, listing, shown
from suffice.models.cpds.kind import NodeFamily
from suffice.stats.ordering import grouped, unique_rows, words_of
from suffice.types import Bools, Codes, Floats, Ints
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.models.cpds.kind import Given

ROW_TOLERANCE = 1e-9
"""How far the sum of a row of probabilities may be from one."""


def find_rows(wanted: Codes, sizes: Sequence[int], configurations: Ints | None) -> Ints:
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
    stored, span = words_of(list(configurations.T), sizes, len(configurations))
    if span is not None and len(configurations):  # one number a row, in order
        (asked,), _ = words_of(list(wanted.T), sizes, len(wanted))
        place = np.minimum(np.searchsorted(stored[0], asked), len(configurations) - 1)
        found = np.where(stored[0][place] == asked, place, -1)
        if len(wanted) and ((wanted.min(axis=0) < 0).any() or (wanted.max(axis=0) >= np.asarray(sizes)).any()):
            found[((wanted < 0) | (wanted >= np.asarray(sizes))).any(axis=1)] = -1  # their numbers are those of others
        return found
    both = np.concatenate([configurations, wanted.astype(np.int64)])
    distinct, identity = unique_rows(both)
    row_of = np.full(len(distinct), -1, np.int64)
    row_of[identity[: len(configurations)]] = np.arange(len(configurations))
    return row_of[identity[len(configurations) :]]


def all_configurations(sizes: Sequence[int]) -> Ints:
    """Return every parent configuration in lexicographic order; shape (Π sizes, n_parents), one row without parents.

    >>> all_configurations([2, 2]).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> all_configurations([]).shape
    (1, 0)
    """
    return np.indices(sizes).reshape(len(sizes), math.prod(sizes)).T.astype(np.int64)


def in_order(configurations: Ints) -> bool:
    """Whether parent configurations, codes all of them, are in lexicographic order, each once."""
    if not len(configurations):
        return True
    sizes = [int(most) + 1 for most in configurations.max(axis=0)]
    order, starts = grouped(words_of(list(configurations.T), sizes, len(configurations))[0])
    return order is None and len(starts) == len(configurations)


def row_keys(configurations: Codes, sizes: list[int]) -> Codes:
    """Return one number for each configuration, equal where they are: its row, or its rank where rows are too many."""
    if not sizes:
        return np.zeros(len(configurations), np.int64)
    if math.prod(sizes) < 2**62:
        return np.asarray(np.ravel_multi_index(tuple(configurations.T), tuple(sizes)))
    return np.unique(configurations, axis=0, return_inverse=True)[1].reshape(-1)


def among(rows: Codes, chosen: Codes) -> Bools:
    """Return which configurations are among the chosen ones; shape (n_rows,)."""
    picked = {tuple(row) for row in chosen.tolist()}
    return np.array([tuple(row) in picked for row in rows.tolist()], bool)


def put_rows(
    values: Floats,
    stored: Ints | None,
    sizes: Sequence[int],
    configurations: Ints,
    rows: Floats,
) -> tuple[Floats, Ints | None]:
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


def given_rows(family: NodeFamily, given: Given) -> tuple[Ints, Floats]:
    """Read what an expert gives for a node: parent configurations, shape (g, n_parents), and rows, shape (g, n_states).

    A whole table is an array of shape (…parents' states, child's states). Single rows are a mapping from the parents'
    states, a label for one parent or a tuple for several, to a row: probabilities in order, or by state.
    """
    name = family.child.name
    if isinstance(given, Mapping) and not family.parents:
        given = [_row(family, given)]
    elif isinstance(given, Mapping):
        codes = [_configuration(family, key) for key in given]
        for key, code in zip(given, codes, strict=True):
            if codes.count(code) > 1:
                raise ArgumentError(f"fixed[{name!r}] gives the row for {key!r} twice.")
        rows = [_row(family, row) for row in given.values()]
        if not rows:
            raise ArgumentError(f"fixed[{name!r}] gives no rows. Give at least one, or leave the node out.")
        return np.array(codes, np.int64), _proper(family, np.array(rows))
    else:
        rows_instead = " Single rows are a mapping from the parents' states."
        given = whole_table(f"fixed[{name!r}]", family, given, rows_instead)
    return all_configurations([parent.n_states for parent in family.parents]), _proper(family, np.array(given))


def whole_table(what: str, family: NodeFamily, given: Given, instead: str = "") -> Floats:
    """Read a whole table, an array of shape (…parents' states, child's states); returns shape (n_rows, n_states).

    ``instead`` says what else may be given, where the shape is another.
    """
    given = getattr(given, "table", given)  # a CPD shows its table
    table = in_order_of(what, family, given) if isinstance(given, LabelledTable) else as_numbers(what, given)
    shape = tuple(variable.n_states for variable in family.variables)
    if table.shape != shape:
        raise ArgumentError(
            f"{what} must have shape {shape}: the parents {family.scope[:-1]} in order, then the states of "
            f"{family.child.name!r}. Got shape {table.shape} instead.{instead}"
        )
    return table.reshape(-1, shape[-1])


def in_order_of(what: str, family: NodeFamily, table: LabelledTable) -> Floats:
    """Return a labelled table's numbers with axes and states in the family's order."""
    if sorted(table.names) != sorted(family.scope):
        raise ArgumentError(f"{what} is over {table.names}, where {family.scope} is needed: the parents, and the node.")
    array = np.transpose(np.asarray(table.values, np.float64), [table.names.index(name) for name in family.scope])
    for axis, variable in enumerate(family.variables):
        given = table.variables[table.names.index(variable.name)]
        if {given.find(label) for label in variable.labels} != set(range(given.n_states)):
            raise ArgumentError(
                f"{what} gives {variable.name!r} the states {listing(given.labels)}, where the data has "
                f"{listing(variable.labels)}."
            )
        array = np.take(array, [given.code(label) for label in variable.labels], axis=axis)
    return array


def as_numbers(what: str, given: object) -> Floats:
    """Return an array of numbers, from nested lists, an array or a labelled table."""
    try:
        return np.array(given.to_numpy() if hasattr(given, "to_numpy") else given, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"{what} must be an array of numbers, its rows of equal length. Got {shown(given)} instead."
        ) from None


def _configuration(family: NodeFamily, key: Label | tuple[Label, ...]) -> list[int]:
    labels = key if isinstance(key, tuple) else (key,)
    if len(labels) != len(family.parents):
        raise ArgumentError(
            f"fixed[{family.child.name!r}]: the key {labels!r} must name one state for each of the parents "
            f"{family.scope[:-1]}."
        )
    return [parent.code(label) for parent, label in zip(family.parents, labels, strict=True)]


def _row(family: NodeFamily, row: Given) -> Floats:
    child = family.child
    if isinstance(row, Mapping):
        by_code = {child.code(label): p for label, p in row.items()}
        cells = [by_code[code] if code in by_code else _absent(child, code) for code in range(child.n_states)]
        numbers = as_numbers(f"fixed[{child.name!r}]", cells)
    else:
        numbers = as_numbers(f"fixed[{child.name!r}]", row)
    if numbers.shape != (child.n_states,):
        raise ArgumentError(
            f"fixed[{child.name!r}]: a row needs {child.n_states} probabilities. Got {shown(row)} instead."
        )
    return numbers


def _absent(child: Variable, code: int) -> float:
    raise ArgumentError(
        f"fixed[{child.name!r}]: the state {child.labels[code]!r} has no probability. Give one for every state."
    )


def _proper(family: NodeFamily, rows: Floats) -> Floats:
    bad = ~is_distribution(rows)
    if bad.any():
        row = rows[int(np.argmax(bad))]
        raise ArgumentError(
            f"fixed[{family.child.name!r}]: the row {row.tolist()} is not a distribution (its sum is {total(row)}). "
            "Probabilities must not be negative and must sum to 1."
        )
    return rows


def is_distribution(rows: Floats) -> Bools:
    """Return for every row whether its numbers are probabilities that sum to one; shape (n_rows,)."""
    finite: Bools = np.asarray(np.isfinite(rows).all(axis=1))
    known = np.where(finite[:, None], rows, 0.0)
    proper: Bools = finite & (known >= 0).all(axis=1) & (np.abs(known.sum(axis=1) - 1) <= ROW_TOLERANCE)
    return proper


def total(row: Floats) -> str:
    """Return the sum of a row for an error message; infinities may cancel to NaN."""
    with np.errstate(invalid="ignore"):
        return f"{row.sum():.12g}"
