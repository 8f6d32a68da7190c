"""Rows with gaps under a network of tables: log p of what was seen, and the counts that are expected of what was not.

Small joint tables are written out whole. Otherwise every row is evidence in one junction tree of the whole network,
whose tables are cut down to what the row leaves open; rows whose values lie too far apart for linear space are done
again in logarithms. The fitter does neither: it takes a row's gaps apart into pieces and enumerates these.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.variable import Variable
from suffice.errors import ModelError
from suffice.inference.brute_force import log_joint
from suffice.inference.calibration import calibrate
from suffice.inference.plan import Plan
from suffice.inference.product import Factor, Product
from suffice.native import evidence_rows
from suffice.settings import more_memory, settings
from suffice.stats.rows import Rows
from suffice.text import in_bytes
from suffice.types import Array, Floats

Codes = NDArray[np.int32]
JOINT_CELLS = 1 << 14
"""Joint tables up to this size are written out."""
JOINT_WORK = 1 << 23
"""So many cells may be looked at in written-out tables, one table for each pattern of gaps."""
RANGES = 16
"""Rows are cut into so many ranges at most, whatever the number of threads."""
RANGE = 256
"""The fewest rows of a range."""


@dataclass(frozen=True, eq=False)
class ObservedCodes:
    """Distinct rows of codes with their weights; −1 is a value that was not seen.

    Attributes
    ----------
    codes : array, shape (n_rows, n_variables)
    weights : array, shape (n_rows,)
    """

    codes: Codes
    weights: Floats

    @classmethod
    def of_block(cls, variables: Sequence[Variable], block: Block) -> ObservedCodes:
        """Read the rows of a block in terms of the variables' states, and make one of those that are equal."""
        columns = [_codes(variable, block) + 1 for variable in variables]
        with_gap = [Variable(v.name, tuple(range(v.n_states + 1)), True) for v in variables]
        weights = np.ones(block.n_rows) if block.weights is None else block.weights
        rows = Rows.of_rows(with_gap, columns, weights)
        stacked = [np.asarray(column, np.int32) - 1 for column in rows.columns]
        return cls(np.stack(stacked, axis=1) if stacked else np.zeros((rows.n_rows, 0), np.int32), rows.weights)

    @classmethod
    def joined(cls, parts: Iterable[ObservedCodes]) -> ObservedCodes:
        """Return the rows of several blocks one after another."""
        held = list(parts)
        return cls(np.concatenate([part.codes for part in held]), np.concatenate([part.weights for part in held]))

    @cached_property
    def is_whole(self) -> NDArray[np.bool_]:
        """Which rows lack nothing."""
        return np.asarray((self.codes >= 0).all(axis=1))

    def part(self, rows: Array) -> ObservedCodes:
        """Return some of the rows."""
        return ObservedCodes(np.ascontiguousarray(self.codes[rows]), self.weights[rows])


def _codes(variable: Variable, block: Block) -> Array:
    """Return a column's codes in terms of a variable's states; −1 where nothing was seen, or the column is latent."""
    if variable.name not in block.columns:
        return np.full(block.n_rows, -1, np.int64)
    column = np.asarray(block.columns[variable.name], np.int64)
    own = block.schema[variable.name]
    if own.has_states_of(variable) and own.labels == variable.labels:
        return column
    recode = np.array([*(variable.code(label) for label in own.labels), -1], np.int64)
    return recode[column]  # −1 is the last place


@dataclass(frozen=True, eq=False)
class ObservedRows:
    """Exact inference for rows with gaps.

    Attributes
    ----------
    names : tuple of str
    sizes : tuple of int
    scopes : tuple of tuple of int
        The scopes of the tables, every variable in at least one.

    Examples
    --------
    >>> network = ObservedRows(("A", "B"), (2, 2), ((0,), (0, 1)))
    >>> tables = np.array([0.25, 0.75, 0.5, 0.5, 0.1, 0.9])  # p(A), then p(B | A)
    >>> rows = ObservedCodes(np.array([[-1, 1], [0, 0]], np.int32), np.array([8.0, 1.0]))
    >>> log_p, expected = network.run(tables, rows)
    >>> np.exp(log_p).round(6).tolist(), expected.round(6).tolist()
    ([0.8, 0.125], [2.25, 6.75, 1.0, 1.25, 0.0, 6.75])
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each table begins in the vector of all, and where the last ends."""
        lengths = [math.prod(self.sizes[v] for v in scope) for scope in self.scopes]
        return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])

    def table(self, values: Floats, number: int) -> Floats:
        """Return one table of a vector of all, a view."""
        shape = [self.sizes[v] for v in self.scopes[number]]
        return values[self.starts[number] : self.starts[number + 1]].reshape(shape)

    def product(self, values: Floats) -> Product:
        """Return the tables as a product."""
        factors = tuple(Factor(scope, self.table(values, n)) for n, scope in enumerate(self.scopes))
        return Product(self.names, self.sizes, factors)

    def run(self, values: Floats, rows: ObservedCodes) -> tuple[Floats, Floats]:
        """Return log p of every row, and the expected counts of all tables, in the layout of ``values``.

        Rows that are impossible have −inf, and add nothing to the counts.

        Raises
        ------
        ModelError
            When the tables that a row leaves open do not fit the memory that may be used.
        """
        log_p, expected = np.empty(len(rows.weights)), np.zeros(len(values))
        whole = rows.is_whole
        log_p[whole] = self._whole(values, rows.part(whole), expected)
        open_rows = rows.part(~whole)
        if len(open_rows.weights):
            n_patterns = len(np.unique(open_rows.codes < 0, axis=0)) if self._is_small else 0
            small = self._is_small and n_patterns * math.prod(self.sizes) <= JOINT_WORK
            log_p[~whole] = (self._by_joint if small else self._by_tree)(values, open_rows, expected)
        return log_p, expected

    @property
    def _is_small(self) -> bool:
        return len(self.sizes) <= 30 and math.prod(self.sizes) <= JOINT_CELLS

    def _whole(self, values: Floats, rows: ObservedCodes, expected: Floats) -> Floats:
        """Score complete rows, and count them."""
        log_p = np.zeros(len(rows.weights))
        cells = []
        for number, scope in enumerate(self.scopes):
            at = np.full(len(log_p), self.starts[number])
            for variable, stride in zip(scope, self._strides[number], strict=True):
                at += rows.codes[:, variable].astype(np.int64) * stride
            with np.errstate(divide="ignore"):
                log_p += np.log(values[at])
            cells.append(at)
        weights = np.where(log_p > -np.inf, rows.weights, 0.0)
        for at in cells:
            expected += np.bincount(at, weights, len(expected)) if len(at) else 0.0
        return log_p

    @cached_property
    def _strides(self) -> list[list[int]]:
        return [
            [math.prod(self.sizes[v] for v in scope[place + 1 :]) for place in range(len(scope))]
            for scope in self.scopes
        ]

    # The joint table ------------------------------------------------------------------------------------------

    def _by_joint(self, values: Floats, rows: ObservedCodes, expected: Floats) -> Floats:
        """Write out the joint table, in logarithms, and divide it by what each pattern of gaps sums it to."""
        joint = log_joint(self.product(values))
        counts, log_p = np.zeros(self.sizes), np.empty(len(rows.weights))
        patterns, of_row = np.unique(rows.codes < 0, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            mine = np.flatnonzero(of_row.reshape(-1) == number)
            lacking = tuple(np.flatnonzero(pattern).tolist())
            top = joint.max(axis=lacking, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.where(top > -np.inf, np.exp(joint - np.where(top > -np.inf, top, 0.0)), 0.0)
                total = share.sum(axis=lacking, keepdims=True)
                log_seen = top + np.log(total)
            cells = np.zeros(len(mine), np.int64)
            for variable in np.flatnonzero(~pattern).tolist():
                cells = cells * self.sizes[variable] + rows.codes[mine, variable]
            log_p[mine] = log_seen.reshape(-1)[cells]
            weights = np.bincount(cells, rows.weights[mine], total.size).reshape(total.shape)
            counts += share * np.where(total > 0, weights / np.where(total > 0, total, 1.0), 0.0)
        for number, scope in enumerate(self.scopes):
            others = tuple(v for v in range(len(self.sizes)) if v not in scope)
            ranked = sorted(scope)
            margin = counts.sum(axis=others).transpose([ranked.index(v) for v in scope])
            self.table(expected, number)[...] += margin
        return log_p

    # The junction tree ----------------------------------------------------------------------------------------

    @cached_property
    def _plan(self) -> Plan:
        """The junction tree of the whole network, along an order that the fitter has no use for."""
        empty = np.zeros(0)
        product = Product(self.names, self.sizes, tuple(Factor(scope, empty) for scope in self.scopes))
        return Plan.of(product, rule="min_degree").rooted_at(0)

    @cached_property
    def _tree(self) -> evidence_rows.SlicedTree:
        plan, tree = self._plan, self._plan.tree
        n = len(tree.cliques)
        children: list[list[int]] = [[] for _ in range(n)]
        for clique, parent in enumerate(tree.parents[:-1]):
            children[parent].append(clique)
        held: list[list[int]] = [[] for _ in range(n)]
        for factor, home in enumerate(plan.homes):
            held[home].append(factor)
        lists = [*_ragged(tree.cliques), *_ragged(tree.separators), np.array(tree.parents, np.int64)]
        lists += [*_ragged(children), *_ragged(held), *_ragged(self.scopes), _ragged(self._strides)[1], self.starts]
        return evidence_rows.SlicedTree(np.array(self.sizes, np.int64), *lists)

    def _by_tree(self, values: Floats, rows: ObservedCodes, expected: Floats) -> Floats:
        """Send every row through the junction tree; ranges of rows are added up in their order."""
        n, tree = len(rows.weights), self._tree
        cells, messages = np.empty(n), np.empty(n)
        evidence_rows.count_cells(tree, rows.codes, cells, messages)
        fits = 8 * (cells + 2 * messages) * settings().threads <= settings().memory
        ordinary = np.flatnonzero(fits)
        if not len(ordinary):
            return self._one_by_one(values, rows, expected)
        log_p, status = np.full(n, -np.inf), np.full(n, evidence_rows.LOST)

        def part(mine: Array) -> Floats:
            counts, found, how = np.zeros(len(values)), np.empty(len(mine)), np.empty(len(mine), np.int64)
            evidence_rows.add_expected_counts(tree, rows.codes[mine], rows.weights[mine], values, found, how, counts)
            log_p[mine], status[mine] = found, how
            return counts

        most = max(1, int(settings().memory // 64 // max(len(values), 1)))
        ranges = np.array_split(ordinary, min(most, RANGES, -(-len(ordinary) // RANGE)))
        if len(ranges) > 1 and settings().threads > 1:
            with ThreadPoolExecutor(settings().threads) as pool:
                for counts in pool.map(part, ranges):
                    expected += counts
        else:
            for mine in ranges:
                expected += part(mine)
        again = np.flatnonzero(status == evidence_rows.LOST)
        if len(again):
            log_p[again] = self._one_by_one(values, rows.part(again), expected)
        return log_p

    def _one_by_one(self, values: Floats, rows: ObservedCodes, expected: Floats) -> Floats:
        """Calibrate a tree for each pattern of gaps, in logarithms where need be."""
        product, log_p = self.product(values), np.empty(len(rows.weights))
        for mine, lacking in _patterns(rows):
            plan = Plan.of(product, [v for v in range(len(self.sizes)) if v not in lacking], rule="min_fill")
            packed = plan.packed(product.factors)
            for row in mine:
                codes = rows.codes[row].astype(np.int64)
                found = calibrate(plan, packed, codes)
                log_p[row] = found.log_z
                if found.log_z > -np.inf:
                    self._add(found, codes, float(rows.weights[row]), expected)
        return log_p

    def _add(self, found: Any, codes: NDArray[np.int64], weight: float, expected: Floats) -> None:
        """Add the marginals of one row."""
        for number, scope in enumerate(self.scopes):
            lacking = [v for v in scope if codes[v] < 0]
            at: tuple[Any, ...] = tuple(slice(None) if codes[v] < 0 else int(codes[v]) for v in scope)
            self.table(expected, number)[at] += weight * (found.marginal(lacking) if lacking else 1.0)

    def require_room(self) -> None:
        """Raise when the tables themselves, held several times, do not fit the memory that may be used."""
        need = 8 * 4 * int(self.starts[-1])
        if need > settings().memory:
            raise ModelError(
                f"The tables and their expected counts would need {in_bytes(need)}, and may use "
                f"{in_bytes(settings().memory)}. Give nodes fewer parents, or allow more: ",
                more_memory(need),
                ".",
            )


def _patterns(rows: ObservedCodes) -> Iterator[tuple[Array, frozenset[int]]]:
    """Yield the rows that lack the same variables, and these."""
    patterns, of_row = np.unique(rows.codes < 0, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        yield np.flatnonzero(of_row.reshape(-1) == number), frozenset(np.flatnonzero(pattern).tolist())


def _ragged(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each list begins in their concatenation (and where the last ends), and the concatenation."""
    starts = np.concatenate([[0], np.cumsum([len(entries) for entries in lists], dtype=np.int64)])
    return starts, np.array([entry for entries in lists for entry in entries], np.int64)
