"""How far softmax parameters are from their optimum, in nats: the Newton decrement of the regressions of a node.

Regressions that share nothing are blocks of their own, whose decrements add up. In a block there are the intercepts of
its configurations at the means of their rows, and the slopes of all states; what all states share is flat.

Symbols
-------
G, r, q    configurations of a block, states, continuous parents
V (r, G + q)    a direction: intercepts by configuration, then slopes
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.models.cpds.softmax import SoftmaxCPD, SoftmaxPenalty
from suffice.models.cpds.softmax_proof import shared_slopes
from suffice.optimise.decrement import Decrement, decrement_by_products, decrement_of
from suffice.optimise.distance import Distance
from suffice.stats.rows import Rows
from suffice.types import Floats, Ints

MOST_SIDE, MOST_PRODUCTS = 400, 3e8
"""Parameters, and products, up to which second derivatives are written out."""
ROUNDING = 4e-16


def distance_of(cpd: SoftmaxCPD, statistic: Rows, penalty: SoftmaxPenalty | None, tied: bool) -> Distance:
    """Return the decrements of all regressions, added up."""
    columns = {v.name: column for v, column in zip(statistic.variables, statistic.columns, strict=True)}
    row, y = cpd.rows_of(columns, statistic.n_rows), np.asarray(columns[cpd.family.child.name], np.int64)
    x = np.stack([np.asarray(columns[parent.name], np.float64) for parent in cpd.family.continuous], axis=1)
    p, seen = cpd.probabilities(columns), np.unique(row)
    total = Distance.in_nats(0.0, "")
    for rows in [seen] if tied and len(seen) else seen[:, None]:
        here = np.isin(row, rows)
        block = _Block(cpd, rows, np.searchsorted(rows, row[here]), x[here], y[here], p[here], statistic.weights[here])
        found = block.decrement(penalty)
        total += Distance.in_nats(found.size, block.named(found.place))
    return total


@dataclass(frozen=True, eq=False)
class _Block:
    """The rows of the configurations that share slopes, or of one."""

    cpd: SoftmaxCPD
    rows: Ints
    group: Ints
    x: Floats
    y: Ints
    p: Floats
    w: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """States, and intercepts and slopes of each."""
        return self.p.shape[1], len(self.rows) + self.x.shape[1]

    def named(self, place: int) -> str:
        """Name a parameter by its place."""
        state, term = divmod(place, self.shape[1])
        label, n, family = self.cpd.family.child.labels[state], len(self.rows), self.cpd.family
        where, what = "", "the intercept" if term < n else f"the coefficient of {family.continuous[term - n].name!r}"
        if family.discrete and (term < n or n == 1):
            where = f"{self.cpd.describe_row(int(self.rows[min(term, n - 1)]))}, "
        return f"{where}{what} for {label!r}"

    def decrement(self, penalty: SoftmaxPenalty | None) -> Decrement:
        """Return the decrement."""
        totals = np.bincount(self.group, self.w)
        mean = np.stack([np.bincount(self.group, self.w * column) for column in self.x.T], axis=1) / totals[:, None]
        around = self.x - mean[self.group]
        gaps = self.w[:, None] * self.p
        expected = gaps.sum(axis=0)
        np.subtract.at(gaps, (np.arange(len(self.y)), self.y), self.w)
        extent = np.concatenate([np.ones(len(totals)), np.abs(self.x).max(axis=0, initial=0.0)])
        noise = (ROUNDING * np.outer(expected, extent)).reshape(-1)
        prior = None if penalty is None else _Pull(self.cpd, self.rows, mean, penalty)
        gradient = self._gathered(gaps, around)
        if prior is not None:
            gradient = gradient + prior.along(prior.parameters())
        flat, side = gradient.reshape(-1), gradient.size
        if not np.isfinite(flat).all():
            return Decrement(math.inf, int(np.argmin(np.isfinite(flat))))

        def product(vector: Floats) -> Floats:
            v = vector.reshape(self.shape)
            change = v.T[self.group] + around @ v[:, len(totals) :].T
            change = self.p * (change - (self.p * change).sum(axis=1, keepdims=True)) * self.w[:, None]
            found = self._gathered(change, around)
            return np.asarray(found if prior is None else found + prior.along(v)).reshape(-1)

        if side <= MOST_SIDE and len(self.w) * float(side) ** 2 <= MOST_PRODUCTS:
            return decrement_of(flat, np.stack([product(unit) for unit in np.eye(side)], axis=1), noise)
        share = self.w[:, None] * self.p * (1 - self.p)
        diagonal = self._gathered(share, around**2) + (0.0 if penalty is None else _own(penalty, self.shape, mean))
        return decrement_by_products(flat, product, diagonal.reshape(-1), noise=noise)

    def _gathered(self, values: Floats, terms: Floats) -> Floats:
        """Return Σ value by configuration, and Σ value · term; shape (r, G + q)."""
        by_group = np.stack([np.bincount(self.group, column, len(self.rows)) for column in values.T])
        return np.concatenate([by_group, values.T @ terms], axis=1)


@dataclass(frozen=True, eq=False)
class _Pull:
    """The second derivatives of the prior, which is on parameters that sum to zero over the possible states."""

    cpd: SoftmaxCPD
    rows: Ints
    mean: Floats
    penalty: SoftmaxPenalty

    @property
    def possible(self) -> NDArray[np.bool_]:
        """The possible states by configuration; shape (G, r)."""
        return np.isfinite(self.cpd.intercept[self.rows])

    def parameters(self) -> Floats:
        """Return the parameters, intercepts at the means and slopes that sum to zero; shape (r, G + q)."""
        slopes = shared_slopes(self.cpd, self.rows)[0]
        intercept = np.where(self.possible, self.cpd.intercept[self.rows], 0.0) + self.mean @ slopes.T
        return np.concatenate([intercept.T, slopes], axis=1)

    def along(self, v: Floats) -> Floats:
        """Return the second derivatives times a direction, in which the prior is linear."""
        g = len(self.rows)
        found = np.zeros_like(v)
        slopes = v[:, g:]
        if math.isfinite(self.penalty.width):
            found[:, g:] += slopes / self.penalty.width**2  # what all states share has no part in gradients
        if math.isfinite(self.penalty.main):
            for number, possible in enumerate(self.possible):
                raw = v[:, number] - slopes @ self.mean[number]
                kept = np.where(possible, raw, 0.0)
                pull = np.where(possible, kept - kept.sum() / np.count_nonzero(possible), 0.0) / self.penalty.main**2
                found[:, number] += pull
                found[:, g:] -= np.outer(pull, self.mean[number])
        return found


def _own(penalty: SoftmaxPenalty, shape: tuple[int, int], mean: Floats) -> Floats:
    """Return about the prior's second derivative by every parameter alone."""
    found = np.zeros(shape)
    found[:, : len(mean)] = 1 / penalty.main**2
    found[:, len(mean) :] = 1 / penalty.width**2 + (mean**2).sum(axis=0) / penalty.main**2
    return found
