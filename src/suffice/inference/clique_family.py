"""The exponential family of a set of cliques: p(x) = h(x) exp(Σ_C θ_C(x_C)) / Z, its expectations and their slopes.

Parameters and expectations are flat: the tables of all cliques, one after another. θ may be −inf, a zero potential.
Two ways to calculate have the same interface: on the joint table while that is small, and through a junction tree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.inference.product import Factor
from suffice.types import Floats

TABLE_CELLS = 1 << 12
"""Joint tables up to this size are written out."""
MAX_AXES = 30

Scalar = TypeVar("Scalar", np.float64, np.int64, np.bool_)


@dataclass(frozen=True)
class Layout:
    """How the tables of several scopes lie in one flat array.

    Examples
    --------
    >>> layout = Layout((2, 3), ((0,), (1, 0)))
    >>> layout.n, [table.shape for table in layout.tables(np.zeros(8))]
    (8, [(2,), (3, 2)])
    """

    sizes: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each table."""
        return [tuple(self.sizes[variable] for variable in scope) for scope in self.scopes]

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each table begins, and where the last one ends."""
        return np.concatenate([[0], np.cumsum([math.prod(shape) for shape in self.shapes])]).astype(np.int64)

    @property
    def n(self) -> int:
        """The number of cells of all tables."""
        return int(self.starts[-1])

    def tables(self, flat: NDArray[Scalar]) -> list[NDArray[Scalar]]:
        """Return the tables, views of the flat array."""
        ends = zip(self.starts[:-1], self.starts[1:], self.shapes, strict=True)
        return [flat[start:end].reshape(shape) for start, end, shape in ends]

    def flat(self, tables: Sequence[ArrayLike]) -> Floats:
        """Return the tables one after another."""
        return np.concatenate([*(np.asarray(table, np.float64).reshape(-1) for table in tables), np.zeros(0)])


class FamilyPoint(Protocol):
    """A member of the family."""

    @property
    def log_z(self) -> float:
        """The logarithm of Z; −inf when nothing is possible."""

    @property
    def expected(self) -> Floats:
        """The marginals p(x_C) of all cliques, flat."""

    def curvature(self, direction: Floats) -> Floats:
        """Return the derivative of ``expected`` in a direction of θ: Cov(f) · direction, flat."""

    def least(self) -> list[tuple[tuple[int, ...], float]]:
        """Return the cliques of a junction tree, each with the least probability of a configuration."""


class Scaling(Protocol):
    """Iterative proportional fitting at work on one point."""

    theta: Floats

    def cycle(self) -> tuple[Floats, Floats, Floats]:
        """Fit every clique once; return each one's gain Σ t log(t/p), Σ p, and max |t − p| before its step."""


class CliqueFamily(ABC):
    """The family over the cliques ``scopes``, with the base measure h = Π base.

    Parameters
    ----------
    names, sizes : sequences
        The variables.
    scopes : sequence of sequence of int
        The cliques; nested ones are allowed, and each has its own table.
    base : sequence of Factor
        Tables that are multiplied in and never change; zeros are impossible configurations.
    """

    def __init__(self, names: Sequence[str], sizes: Sequence[int], scopes: Sequence[Sequence[int]],
                 base: Sequence[Factor] = ()) -> None:  # fmt: skip
        self.names, self.sizes = tuple(names), tuple(sizes)
        self.layout = Layout(self.sizes, tuple(map(tuple, scopes)))
        self.base = tuple(base)

    @abstractmethod
    def at(self, theta: Floats) -> FamilyPoint:
        """Return the member with the parameters θ; it may be used until the next call, or after it more slowly."""

    @abstractmethod
    def scaling(self, theta: Floats, targets: Floats) -> Scaling:
        """Begin proportional fitting of the marginals ``targets``, which sum to one each, at θ."""


def family_of(names: Sequence[str], sizes: Sequence[int], scopes: Sequence[Sequence[int]],
              base: Sequence[Factor] = ()) -> CliqueFamily:  # fmt: skip
    """Return the family in the form that is faster for its size.

    >>> family = family_of("ABC", (2, 2, 2), [(0, 1), (1, 2), (0, 2)])
    >>> point = family.at(np.zeros(family.layout.n))
    >>> round(math.exp(point.log_z), 9), point.expected[:4].tolist()
    (8.0, [0.25, 0.25, 0.25, 0.25])
    """
    from suffice.inference.tree_family import TreeFamily

    small = math.prod(sizes) <= TABLE_CELLS and len(sizes) <= MAX_AXES
    return (TableFamily if small else TreeFamily)(names, sizes, scopes, base)


# On the joint table -------------------------------------------------------------------------------------------


class TableFamily(CliqueFamily):
    """The family with its joint table written out."""

    @cached_property
    def _broadcast(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """For each clique, the order of its axes in the joint table, and its shape there."""
        found = []
        for scope in self.layout.scopes:
            inside = set(scope)
            shape = tuple(size if variable in inside else 1 for variable, size in enumerate(self.sizes))
            found.append((tuple(sorted(range(len(scope)), key=scope.__getitem__)), shape))
        return found

    @cached_property
    def _reduce(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """For each clique, the axes that are summed out, and the order of those that stay."""
        found = []
        for scope in self.layout.scopes:
            outside = tuple(variable for variable in range(len(self.sizes)) if variable not in scope)
            ranked = sorted(scope)
            found.append((outside, tuple(ranked.index(variable) for variable in scope)))
        return found

    @cached_property
    def _log_base(self) -> Floats:
        total = np.zeros(self.sizes)
        for factor in self.base:
            with np.errstate(divide="ignore"):
                total = total + np.log(factor.over(self.sizes))
        return total

    def spread(self, flat: Floats, start: Floats | float = 0.0) -> Floats:
        """Return Σ_C of the tables, over the joint state space."""
        total = np.array(np.broadcast_to(start, self.sizes))
        for table, (order, shape) in zip(self.layout.tables(flat), self._broadcast, strict=True):
            total += table.transpose(order).reshape(shape)
        return total

    def sums(self, joint: Floats) -> Floats:
        """Return the marginals of all cliques, flat."""
        return self.layout.flat([self._sum(joint, number) for number in range(len(self.layout.scopes))])

    def _sum(self, joint: Floats, number: int) -> Floats:
        outside, order = self._reduce[number]
        summed: Floats = joint.sum(axis=outside).transpose(order)
        return summed

    def at(self, theta: Floats) -> TablePoint:
        """Return the member with the parameters θ."""
        return TablePoint(self, *_normalised(self.spread(theta, self._log_base)))

    def scaling(self, theta: Floats, targets: Floats) -> TableScaling:
        """Begin proportional fitting at θ."""
        return TableScaling(self, theta, targets)


@dataclass(frozen=True, eq=False)
class TablePoint:
    """A member of a `TableFamily`: its joint table."""

    family: TableFamily
    p: Floats
    log_z: float

    @cached_property
    def expected(self) -> Floats:
        """The marginals of all cliques, flat."""
        return self.family.sums(self.p)  # eq clique-marginals

    def curvature(self, direction: Floats) -> Floats:
        """Return Cov(f) · direction, flat."""
        along = self.family.spread(direction)
        return self.family.sums(self.p * (along - float((self.p * along).sum())))  # eq hessian

    def least(self) -> list[tuple[tuple[int, ...], float]]:
        """Return all variables as one clique, with the least probability of a configuration."""
        return [(tuple(range(self.p.ndim)), float(self.p.min()))]


class TableScaling:
    """Proportional fitting of the joint table itself."""

    def __init__(self, family: TableFamily, theta: Floats, targets: Floats) -> None:
        self.family = family
        self.theta = np.array(theta)
        self._targets = family.layout.tables(targets)
        self._p = np.array(family.at(theta).p)

    def cycle(self) -> tuple[Floats, Floats, Floats]:
        """Fit every clique once."""
        layout, rows = self.family.layout, []
        thetas = layout.tables(self.theta)
        for number in range(len(thetas)):
            target, found = self._targets[number], self.family._sum(self._p, number)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(target > 0, target / found, 0.0)
                step = np.log(ratio)
                thetas[number] += step
                order, shape = self.family._broadcast[number]
                self._p *= ratio.transpose(order).reshape(shape)  # eq ipf-step
            gain = float((target[target > 0] * step[target > 0]).sum())
            rows.append((gain, float(found.sum()), float(np.abs(target - found).max(initial=0.0))))
        columns = np.array(rows).reshape(-1, 3).T
        return columns[0], columns[1], columns[2]


def _normalised(log_p: Floats) -> tuple[Floats, float]:
    top = float(log_p.max())
    if top == -math.inf:
        return np.zeros_like(log_p), -math.inf
    log_p -= top
    np.exp(log_p, out=log_p)
    total = float(log_p.sum())
    log_p /= total
    return log_p, top + math.log(total)
