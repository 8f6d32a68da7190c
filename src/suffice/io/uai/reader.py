"""Reading UAI: the tables of a file become a network, and whatever does not fit becomes an error with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import listing
from suffice.io.network_file import TOLERANCE, FileNode, network
from suffice.io.uai.words import WordFile, load_words
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.markov_net import MarkovNetwork
from suffice.text import plural, shorten

Network = BayesianNetwork | MarkovNetwork
Join = Callable[["WordFile", list[int], list["FileTable"], list[str]], Network]

MAX_FREE_STATES = 2**12


class FileTable(NamedTuple):
    """A table as a file gives it.

    Attributes
    ----------
    scope : tuple of int
        The numbers of its variables, the last one varying fastest.
    scope_at, at : int
        The words at which the scope and the numbers begin.
    values : array, one axis a variable
    """

    scope: tuple[int, ...]
    scope_at: int
    at: int
    values: NDArray[np.float64]


def read(path: str) -> Network:
    """Read a network; see `suffice.io.uai`."""
    file = load_words(path)
    join = _kind(file)
    sizes, at = _sizes(file)
    scopes, at = _scopes(file, at, len(sizes))
    tables, at = _tables(file, at, sizes, scopes)
    return join(file, sizes, tables, _left_notes(file, at))


# The parts of a file ------------------------------------------------------------------------------------------


def _kind(file: WordFile) -> Join:
    if not file.words:
        raise file.error(0, f"The file is empty. A UAI file begins with one of {listing(KINDS)}.")
    kind = KINDS.get(file.words[0].upper())
    if kind is None:
        raise file.error(
            0,
            f"A UAI file begins with one of {listing(KINDS)}. Got {shorten(file.words[0])!r} instead. Influence "
            "diagrams and other kinds are not read.",
        )
    return kind


def _sizes(file: WordFile) -> tuple[list[int], int]:
    """Return how many states every variable has, and the word that follows."""
    n = file.whole(1, "the number of variables")
    if n == 0:
        raise file.error(1, "The network has no variables. Add at least one.")
    sizes = file.wholes(2, n, f"the numbers of states of {plural(n, 'variable')}")
    if 0 in sizes:
        number = sizes.index(0)
        raise file.error(2 + number, f"Variable {number} has no states. It needs at least one.")
    return sizes, 2 + n


def _scopes(file: WordFile, at: int, n_variables: int) -> tuple[list[tuple[int, tuple[int, ...]]], int]:
    """Return where the scope of every table stands and what it is, and the word that follows."""
    scopes = []
    n_tables = file.whole(at, "the number of tables")
    at += 1
    for number in range(n_tables):
        n = file.whole(at, f"the number of variables of table {number} of {n_tables:,}")
        scope = tuple(file.wholes(at + 1, n, f"the numbers of the variables of table {number}"))
        _check_scope(file, at, number, scope, n_variables)
        scopes.append((at, scope))
        at += 1 + n
    return scopes, at


def _check_scope(file: WordFile, at: int, number: int, scope: tuple[int, ...], n_variables: int) -> None:
    seen: set[int] = set()
    for place, variable in enumerate(scope, at + 1):
        if variable >= n_variables:
            raise file.error(
                place,
                f"Table {number} is over variable {variable}, which is none: the file declares "
                f"{plural(n_variables, 'variable')}, numbered from 0.",
            )
        if variable in seen:
            raise file.error(place, f"Table {number} names variable {variable} twice. Name it once.")
        seen.add(variable)


def _tables(
    file: WordFile, at: int, sizes: Sequence[int], scopes: Iterable[tuple[int, tuple[int, ...]]]
) -> tuple[list[FileTable], int]:
    """Return the tables, and the word that follows."""
    tables = []
    for number, (scope_at, scope) in enumerate(scopes):
        shape = [sizes[variable] for variable in scope]
        n = _n_entries(file, at, number, scope, shape)
        values = file.numbers(at + 1, n, f"the entries of table {number}")
        try:
            values = values.reshape(shape)
        except ValueError:  # more axes than an array can have: nearly all of these variables have a single state
            raise file.error(
                scope_at, f"Table {number} is over {plural(len(scope), 'variable')}, more than a table can have axes."
            ) from None
        tables.append(FileTable(scope, scope_at, at + 1, values))
        at += 1 + n
    return tables, at


def _n_entries(file: WordFile, at: int, number: int, scope: tuple[int, ...], shape: Sequence[int]) -> int:
    """Return the size of a table, which the file must both tell and have."""
    told = file.whole(at, f"the number of entries of table {number}")
    needed, limit = 1, len(file.words)
    for size in shape:
        needed *= size
        if needed > limit:
            break  # before the product fills memory
    if told != needed:
        counted = f"more than {plural(limit, 'entry')}" if needed > limit else plural(needed, "entry")
        raise file.error(
            at,
            f"Table {number}, over {listing(map(_name, scope))}, has {counted}, since its variables have "
            f"{listing(shape)} states; the file says {told:,}. Correct one of them.",
        )
    return told


def _left_notes(file: WordFile, at: int) -> list[str]:
    left = len(file.words) - at
    if not left:
        return []
    start = listing(map(shorten, file.words[at : at + 6]))
    return [
        f"After the last table the file has {plural(left, 'more word')}, beginning with {start}. They were not read."
    ]


# Networks -----------------------------------------------------------------------------------------------------


def _bayes(file: WordFile, sizes: list[int], tables: list[FileTable], notes: list[str]) -> Network:
    by_child: dict[int, FileTable] = {}
    for number, table in enumerate(tables):
        if not table.scope:
            raise file.error(
                table.scope_at, f"Table {number} has no variables. In a BAYES file the last one is the table's child."
            )
        if table.scope[-1] in by_child:
            raise file.error(
                table.scope_at + len(table.scope),
                f"Variable {table.scope[-1]} has a table already. In a BAYES file every variable is the last of one "
                "scope.",
            )
        by_child[table.scope[-1]] = table
    for child in range(len(sizes)):
        if child not in by_child:
            raise file.error(
                2 + child, f"Variable {child} has no table. In a BAYES file every variable is the last of one scope."
            )
    improper = _improper(tables)
    if improper is not None:
        said = f"The file says BAYES, but {improper}: its tables were read as the factors of a Markov network."
        return _markov(file, sizes, tables, [*notes, said])
    states = {size: _states(size) for size in set(sizes)}
    nodes = [
        FileNode(
            _name(child),
            states[size],
            tuple(map(_name, by_child[child].scope[:-1])),
            by_child[child].values.reshape(-1, size),
            by_child[child].scope_at,
        )
        for child, size in enumerate(sizes)
    ]
    return network(file, nodes, {}, notes)


def _improper(tables: list[FileTable]) -> str | None:
    """Say which row is no distribution, where tables of a BAYES file are factors; None when all are proper."""
    for number, table in enumerate(tables):
        size = table.values.shape[-1] if table.scope else 1
        with np.errstate(over="ignore"):
            sums = table.values.reshape(-1, size).sum(axis=1)
        proper = np.abs(sums - 1) <= TOLERANCE
        if not proper.all():
            return f"row {int(np.argmin(proper)) + 1} of table {number} sums to {sums[np.argmin(proper)]:.6g}"
    return None


def _markov(file: WordFile, sizes: list[int], tables: list[FileTable], notes: list[str]) -> MarkovNetwork:
    _check_free(file, sizes, {variable for table in tables for variable in table.scope})
    schema = Schema(tuple(Variable(_name(number), _states(size), True) for number, size in enumerate(sizes)))
    factors = [(tuple(map(_name, table.scope)), table.values) for table in tables]
    return MarkovNetwork(factors, schema=schema, notes=(*file.notes, *notes))


def _check_free(file: WordFile, sizes: list[int], bound: set[int]) -> None:
    """Refuse states beyond reason where no table must list them."""
    limit = max(MAX_FREE_STATES, len(file.text))
    total = 0
    for number, size in enumerate(sizes):
        total += 0 if number in bound else size
        if total > limit:
            raise file.error(
                2 + number,
                f"With variable {number}, the variables that are in no table have more than {limit:,} states in all. "
                "Correct the number, or leave the variable out.",
            )


def _name(number: int) -> str:
    return f"x{number}"


def _states(size: int) -> tuple[str, ...]:
    return tuple(map(str, range(size)))


KINDS: dict[str, Join] = {"BAYES": _bayes, "MARKOV": _markov}
