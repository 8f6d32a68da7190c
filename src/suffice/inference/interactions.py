"""Interactions: what the tables of cliques say together, term by term.

A sum of tables Σ_C θ_C(x_C) can be written in many ways, since tables of cliques that overlap can hand terms to each
other. It has one form u + Σ_A u_A(x_A), A running over all subsets of the cliques, in which every u_A sums to zero
over each of its variables ("sum"), or is zero wherever one of its variables is in its first state ("corner").
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.inference.clique_family import FamilyPoint, Layout
from suffice.types import Floats

Term = tuple[int, ...]


class Interactions:
    """The terms of the tables of some cliques.

    Parameters
    ----------
    layout : Layout
        The cliques' tables.

    Examples
    --------
    >>> words = Interactions(Layout((2, 2), ((0, 1), (1,))))
    >>> words.terms
    [(0,), (1,), (0, 1)]
    >>> constant, (a, b, ab) = words.of(np.array([4.0, 0, 0, 0, 1, 3]))
    >>> constant, a.tolist(), b.tolist(), ab.tolist()
    (3.0, [1.0, -1.0], [0.0, 0.0], [[1.0, -1.0], [-1.0, 1.0]])
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._home: dict[Term, int] = {}
        by_size = sorted(range(len(layout.scopes)), key=lambda number: len(layout.scopes[number]))
        for number in by_size:  # small cliques first, so that a term's margins are cheap to take
            members = sorted(layout.scopes[number])
            for n in range(1, len(members) + 1):
                for term in itertools.combinations(members, n):
                    self._home.setdefault(term, number)
        self.terms: list[Term] = sorted(self._home, key=lambda term: (len(term), term))

    def shape(self, term: Term) -> tuple[int, ...]:
        """Return the shape of a term's table; its variables are in ascending order."""
        return tuple(self.layout.sizes[variable] for variable in term)

    # Between tables and terms ---------------------------------------------------------------------------------

    def of(self, flat: Floats, constraint: str = "sum") -> tuple[float, list[Floats]]:
        """Return the constant and the terms of the tables' sum."""
        constant, found = 0.0, {term: np.zeros(self.shape(term)) for term in self.terms}
        for scope, table in zip(self.layout.scopes, self.layout.tables(flat), strict=True):
            members = sorted(scope)
            for term, part in _parts(table.transpose(_order(scope)), members, constraint).items():
                if term:
                    found[term] += part.reshape(self.shape(term))
                else:
                    constant += float(part.reshape(()))
        return constant, list(found.values())

    def put(self, tables: Sequence[Floats]) -> Floats:
        """Return tables of cliques whose sum is that of the terms: each goes into one clique that holds it."""
        flat = np.zeros(self.layout.n)
        cliques = self.layout.tables(flat)
        for term, table in zip(self.terms, tables, strict=True):
            home = self._home[term]
            scope, target = self.layout.scopes[home], cliques[home]
            view = target.transpose(_order(scope))  # ascending
            view += table.reshape([self.layout.sizes[v] if v in term else 1 for v in sorted(scope)])
        return flat

    def margins(self, flat: Floats) -> list[Floats]:
        """Return the marginal of every term from those of the cliques: the transpose of `put`."""
        cliques = self.layout.tables(flat)
        found = []
        for term in self.terms:
            scope = self.layout.scopes[self._home[term]]
            ascending = cliques[self._home[term]].transpose(_order(scope))
            outside = tuple(axis for axis, variable in enumerate(sorted(scope)) if variable not in term)
            found.append(ascending.sum(axis=outside))
        return found

    def adjoint(self, tables: Sequence[Floats]) -> Floats:
        """Return the transpose of `of` (under "sum", the constant left out) applied to one table a term."""
        flat = np.zeros(self.layout.n)
        given = dict(zip(self.terms, tables, strict=True))
        for scope, target in zip(self.layout.scopes, self.layout.tables(flat), strict=True):
            members = sorted(scope)
            view = target.transpose(_order(scope))
            for n in range(1, len(members) + 1):
                for term in itertools.combinations(members, n):
                    shape = [self.layout.sizes[v] if v in term else 1 for v in members]
                    view += centred(given[term]).reshape(shape) * (given[term].size / max(1, target.size))
        return flat

    # Coordinates ----------------------------------------------------------------------------------------------

    @cached_property
    def widths(self) -> list[int]:
        """The number of free coordinates of every term."""
        return [math.prod(size - 1 for size in self.shape(term)) for term in self.terms]

    @property
    def n_free(self) -> int:
        """The number of free coordinates of all terms."""
        return sum(self.widths)

    @cached_property
    def bases(self) -> list[Floats]:
        """An orthonormal basis of every term's sum-to-zero tables; shape (cells, width), rows in C order."""
        found = []
        for term in self.terms:
            basis: Floats = np.ones((1, 1))
            for size in self.shape(term):
                basis = np.asarray(np.kron(basis, _contrasts(size)), np.float64)
            found.append(basis)
        return found

    def spread(self, beta: Floats) -> list[Floats]:
        """Return the terms with given coordinates."""
        parts = np.split(beta, np.cumsum(self.widths)[:-1])
        return [
            (basis @ part).reshape(self.shape(term))
            for term, basis, part in zip(self.terms, self.bases, parts, strict=True)
        ]

    def coordinates(self, tables: Sequence[Floats]) -> Floats:
        """Return the coordinates of the terms' tables, projected to those that sum to zero."""
        parts = [basis.T @ table.reshape(-1) for basis, table in zip(self.bases, tables, strict=True)]
        return np.concatenate([*parts, np.zeros(0)])

    def covariance(self, point: FamilyPoint) -> NDArray[np.float64]:
        """Return the covariance matrix of the coordinates' statistics at a point: one row's Fisher information."""
        n = self.n_free
        matrix = np.empty((n, n))
        for column in range(n):
            unit = np.zeros(n)
            unit[column] = 1.0
            slope = point.curvature(self.put(self.spread(unit)))
            matrix[column] = self.coordinates(self.margins(slope))
        return (matrix + matrix.T) / 2


def centred(table: Floats) -> Floats:
    """Return the part of a table that sums to zero over each of its axes."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def _order(scope: Sequence[int]) -> list[int]:
    return sorted(range(len(scope)), key=scope.__getitem__)


def _parts(table: Floats, members: Sequence[int], constraint: str) -> dict[Term, Floats]:
    """Split a table into its terms; axes that a term lacks have length one."""
    parts: dict[Term, Floats] = {(): table}
    for axis, variable in enumerate(members):
        split = {}
        for term, part in parts.items():
            rest = part.mean(axis=axis, keepdims=True) if constraint == "sum" else part.take([0], axis=axis)
            split[term] = rest
            split[(*term, variable)] = part - rest
        parts = split
    return parts


def _contrasts(size: int) -> Floats:
    """Return orthonormal columns that sum to zero (Helmert's); shape (size, size − 1)."""
    columns = np.zeros((size, size - 1))
    for k in range(1, size):
        columns[:k, k - 1] = 1.0
        columns[k, k - 1] = -k
        columns[:, k - 1] /= math.sqrt(k * (k + 1))
    return columns
