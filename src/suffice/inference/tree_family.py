"""The exponential family of a set of cliques through a junction tree, never through the joint table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from suffice.inference.calibration import Calibrated, Calibrator, Focus
from suffice.inference.clique_family import CliqueFamily, Layout
from suffice.inference.plan import TINY, Packed, Plan
from suffice.inference.product import Factor, Product
from suffice.native import trees
from suffice.types import Floats, Ints


class TreeFamily(CliqueFamily):
    """The family over cliques of any graph whose junction tree fits the memory; see `CliqueFamily`.

    ``plan`` is the junction tree to use, of `plan_of`; without it the best that is found.
    """

    def __init__(
        self,
        names: Sequence[str],
        sizes: Sequence[int],
        scopes: Sequence[Sequence[int]],
        base: Sequence[Factor] = (),
        plan: Plan | None = None,
    ) -> None:
        super().__init__(names, sizes, scopes, base)
        self.plan = plan or self.plan_of(names, sizes, scopes, base)
        self.plan.require_room(copies=3)  # calibrated, for slopes, and for proportional fitting
        self.calibrator = Calibrator(self.plan)
        packed = self.plan.packed([*_units(self.layout), *self.base])
        self._base_logs, self._base_scale = packed.logarithms()[self.layout.n :], packed.log_scale
        self._held: TreePoint | None = None  # whose marginals the calibrator's room holds

    @staticmethod
    def plan_of(
        names: Sequence[str],
        sizes: Sequence[int],
        scopes: Sequence[Sequence[int]],
        base: Sequence[Factor] = (),
        rule: str = "best",
    ) -> Plan:
        """Return a junction tree for the family; ``rule`` chooses the elimination order."""
        units = _units(Layout(tuple(sizes), tuple(map(tuple, scopes))))
        return Plan.of(Product(tuple(names), tuple(sizes), (*units, *base)), rule=rule)

    @cached_property
    def order(self) -> Ints:
        """The place in θ of every cell, in the plan's order."""
        parts = []
        for start, scope, shape, free in zip(
            self.layout.starts[:-1], self.layout.scopes, self.layout.shapes, self.plan.free_scopes, strict=False
        ):
            places = np.arange(start, start + math.prod(shape)).reshape(shape)
            parts.append(places.transpose([scope.index(variable) for variable in free]).reshape(-1))
        return np.concatenate([*parts, np.zeros(0, np.int64)])

    def natural(self, packed: Floats) -> Floats:
        """Return in the order of θ what is in the plan's."""
        flat = np.empty(self.layout.n)
        flat[self.order] = packed[: self.layout.n]
        return flat

    def packed(self, theta: Floats) -> Packed:
        """Return the potentials in the layout of the plan, each divided by its largest value."""
        starts = self.plan.starts
        logs = np.concatenate([theta[self.order], self._base_logs])
        if len(starts) == 1:
            return Packed(self.plan, logs, np.ones(0), 0.0)
        tops = np.maximum.reduceat(logs, starts[:-1])
        tops[tops == -np.inf] = 0.0
        logs -= np.repeat(tops, np.diff(starts))
        floors = np.exp(np.minimum.reduceat(np.where(logs > -np.inf, logs, 0.0), starts[:-1]))
        floors[floors < TINY] = 0.0
        return Packed(self.plan, np.exp(logs), floors, float(tops.sum()) + self._base_scale, logs)

    def at(self, theta: Floats) -> TreePoint:
        """Return the member with the parameters θ."""
        if self._held is not None and np.array_equal(self._held.theta, theta):
            return self._held
        return TreePoint(self, theta)

    def calibrated(self, point: TreePoint) -> Calibrated:
        """Return the marginals of a point; those of the last one are kept."""
        if self._held is not point:
            self._calibrated = self.calibrator.run(self.packed(point.theta))
            self._held = point
        return self._calibrated

    @cached_property
    def room(self) -> tuple[Floats, Floats, Floats]:
        """Room for slopes: of the cliques, and twice of the separators."""
        tree = self.plan.arrays
        return np.empty(tree.table_at[-1]), np.empty(tree.message_at[-1]), np.empty(tree.message_at[-1])

    def scaling(self, theta: Floats, targets: Floats) -> TreeScaling:
        """Begin proportional fitting at θ."""
        return TreeScaling(self, theta, targets)


def _units(layout: Layout) -> list[Factor]:
    """Return factors that say nothing over the cliques."""
    return [Factor(s, np.broadcast_to(1.0, shape)) for s, shape in zip(layout.scopes, layout.shapes, strict=True)]


class TreePoint:
    """A member of a `TreeFamily`."""

    def __init__(self, family: TreeFamily, theta: Floats) -> None:
        self.family, self.theta = family, np.array(theta)
        found, plan = family.calibrated(self), family.plan
        self.log_z = found.log_z
        sums = np.empty(plan.starts[-1])
        trees.marginalise_factors(plan.arrays, found.tables, plan.starts, sums)  # eq clique-marginals
        self.expected = family.natural(sums)

    def curvature(self, direction: Floats) -> Floats:
        """Return Cov(f) · direction, flat."""
        family, plan = self.family, self.family.plan
        found = family.calibrated(self)
        along, out = np.zeros(plan.starts[-1]), np.empty(plan.starts[-1])
        along[: family.layout.n] = direction[family.order]
        trees.multiply_covariance(plan.arrays, found.tables, found.separators, plan.starts, along, *family.room, out)
        return family.natural(out)

    def least(self) -> list[tuple[tuple[int, ...], float]]:
        """Return the cliques of the tree, each with the least probability of a configuration."""
        found, plan = self.family.calibrated(self), self.family.plan
        lowest = np.minimum.reduceat(found.tables, plan.arrays.table_at[:-1])
        return [(clique, float(value)) for clique, value in zip(plan.tree.cliques, lowest, strict=True)]


REFRESH = 25
"""After so many cycles the marginals are calibrated anew, so that rounding errors do not add up."""


class TreeScaling:
    """Proportional fitting through the tree: after each step messages go only to the clique that is next."""

    def __init__(self, family: TreeFamily, theta: Floats, targets: Floats) -> None:
        self.family, self.theta = family, np.array(theta)
        self._targets = np.concatenate([targets[family.order], np.zeros(len(family._base_logs))])
        self._cycles = 0

    def cycle(self) -> tuple[Floats, Floats, Floats]:
        """Fit every clique once."""
        if self._cycles % REFRESH == 0:
            self._focus = Focus(self.family.calibrated(self.family.at(self.theta)))
            if self._cycles == 0:
                self._visits, self._path_at, self._path = _tour(self._focus, len(self.family.layout.scopes))
        ratios, gains, totals, gaps = self._focus.fit_in_turn(self._visits, self._path_at, self._path, self._targets)
        with np.errstate(divide="ignore"):
            self.theta += self.family.natural(np.log(ratios))
        self._cycles += 1
        return gains, totals, gaps


def _tour(focus: Focus, n_cliques: int) -> tuple[Ints, Ints, Ints]:
    """Return an order of the factors that walks the tree from its root, and the path to each from the one before.

    Parents come before their children, so that one cycle suffices for a decomposable model. The first path begins
    where the last one ends.
    """
    plan, held = focus.plan, dict[int, list[int]]()
    for factor in range(n_cliques):
        held.setdefault(plan.homes[factor], []).append(factor)
    children: list[list[int]] = [[] for _ in plan.tree.cliques]
    for clique, parent in enumerate(plan.tree.parents[:-1]):
        children[parent].append(clique)
    walk, stack = list[int](), [len(children) - 1]
    while stack:
        walk.append(stack.pop())
        stack += children[walk[-1]]
    cliques = [clique for clique in walk if clique in held]
    visits, paths = list[int](), list[list[int]]()
    for before, clique in zip([cliques[-1], *cliques], cliques, strict=False):
        visits += held[clique]
        paths += [focus.path(before, clique), *([clique] for _ in held[clique][1:])]
    ends = np.cumsum([len(path) for path in paths])
    return (
        np.array(visits, np.int64),
        np.concatenate([[0], ends]).astype(np.int64),
        np.array([clique for path in paths for clique in path], np.int64),
    )
