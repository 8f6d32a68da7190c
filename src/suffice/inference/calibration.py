"""Calibration: the marginals of all cliques and separators, and log Z, by two sweeps over a junction tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from suffice.inference.plan import TINY, Packed, Plan
from suffice.native import trees
from suffice.native.trees import Outcome, Semiring
from suffice.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Calibrated:
    """The marginals of a product.

    Attributes
    ----------
    plan : Plan
    tables : array
        p(x_C | evidence) of all cliques, one after another; zeros when the evidence is impossible.
    separators : array
        p(x_S | evidence) of what every clique shares with its parent, one after another.
    log_z : float
        log Σ Π φ over the configurations that agree with the evidence; −inf when there are none.
    floors : array
        For every clique a bound from below of its positive values; zero where some were too small for a float.
    in_logarithms : bool
        Whether small values would have been lost, so that it was calculated in logarithms.
    """

    plan: Plan
    tables: Floats = field(repr=False)
    separators: Floats = field(repr=False)
    log_z: float
    floors: Floats = field(repr=False)
    in_logarithms: bool = False

    def clique(self, number: int) -> Floats:
        """Return the marginal of one clique; one axis a variable, in the order of the plan's clique."""
        at, plan = self.plan.arrays.table_at, self.plan
        shape = [plan.sizes[variable] for variable in plan.tree.cliques[number]]
        return self.tables[at[number] : at[number + 1]].reshape(shape)

    def separator(self, number: int) -> Floats:
        """Return the marginal of what a clique shares with its parent."""
        at, plan = self.plan.arrays.message_at, self.plan
        shape = [plan.sizes[variable] for variable in plan.tree.separators[number]]
        return self.separators[at[number] : at[number + 1]].reshape(shape)

    def marginal(self, scope: Sequence[int]) -> Floats | None:
        """Return p(x_scope | evidence), in the order asked for, or None when no clique covers the scope."""
        number = self.plan.tree.covering(scope, self.plan.sizes)
        return None if number is None else self.shrunk(number, scope)

    def shrunk(self, number: int, scope: Sequence[int], greatest: bool = False) -> Floats:
        """Return the sum of a clique's table, or the greatest, over all variables but some; in the order asked for."""
        plan = self.plan
        ordered = sorted(scope, key=plan.position.__getitem__)
        part = np.empty([plan.sizes[variable] for variable in ordered])
        wanted = np.array(ordered, np.int64)
        semiring = Semiring.MAX if greatest else Semiring.SUM
        trees.marginalise_clique(plan.arrays, semiring, number, wanted, self.tables, part.reshape(-1))
        return part.transpose([ordered.index(variable) for variable in scope])

    def singles(self, greatest: bool = False) -> dict[int, Floats]:
        """Return what the smallest clique of every variable says of it, the sum or the greatest."""
        return {variable: self.shrunk(clique, (variable,), greatest) for variable, clique in self.plan.smallest.items()}

    @cached_property
    def entropy(self) -> float:
        """−Σ p log p in nats: what the cliques have, less what the separators have twice."""
        return _entropy(self.tables) - _entropy(self.separators)


def _entropy(p: Floats) -> float:
    total = 0.0
    for start in range(0, len(p), 1 << 20):
        held = p[start : start + (1 << 20)]
        held = held[held > 0]
        total -= float((held * np.log(held)).sum())
    return total


class Calibrator:
    """Room for one plan's tables, to be calibrated again and again with other numbers.

    Examples
    --------
    >>> from suffice.inference.product import Factor, Product
    >>> agree = np.array([[3.0, 1.0], [1.0, 3.0]])
    >>> product = Product(("A", "B", "C"), (2, 2, 2), (Factor((0, 1), agree), Factor((1, 2), agree)))
    >>> plan = Plan.of(product)
    >>> found = Calibrator(plan).run(plan.packed(product.factors))
    >>> round(math.exp(found.log_z), 12), found.marginal((0, 2)), found.marginal((0, 1)).tolist()
    (32.0, None, [[0.375, 0.125], [0.125, 0.375]])
    """

    def __init__(self, plan: Plan) -> None:
        plan.require_room()
        self.plan = plan
        tree = plan.arrays
        self._tables = np.empty(tree.table_at[-1])
        self._messages = np.empty(tree.message_at[-1])
        self._floors = np.empty(tree.n_cliques)

    def run(self, packed: Packed, codes: Ints | None = None) -> Calibrated:
        """Return all marginals. They live in this calibrator's room until it runs again."""
        log_z, outcome = self._propagate(Semiring.SUM, packed.values, packed, codes)
        in_logarithms = outcome == Outcome.LOST
        root = self.plan.arrays.message_at[-2]  # which has no separator
        if in_logarithms:
            log_z = self._run_in_logarithms(packed, codes)
        if log_z == -math.inf:
            self._tables[:], self._messages[:] = 0.0, 0.0
        else:
            self._messages[root:] = 1.0
        return Calibrated(
            self.plan, self._tables, self._messages, log_z + packed.log_scale, self._floors, in_logarithms
        )

    def _run_in_logarithms(self, packed: Packed, codes: Ints | None) -> float:
        log_z, _ = self._propagate(Semiring.LOG, packed.logarithms(), packed, codes)
        if log_z == -math.inf:
            return log_z
        tree = self.plan.arrays
        for values in (self._tables, self._messages[: tree.message_at[-2]]):
            np.subtract(values, log_z, out=values)
        held = np.where(self._tables > -np.inf, self._tables, 0.0)
        lowest = np.exp(np.minimum.reduceat(held, tree.table_at[:-1]))
        self._floors[:] = np.where(lowest < TINY, 0.0, np.minimum(lowest, 1.0))
        for values in (self._tables, self._messages[: tree.message_at[-2]]):
            np.exp(values, out=values)
        return log_z

    def _propagate(
        self, semiring: Semiring, values: Floats, packed: Packed, codes: Ints | None
    ) -> tuple[float, Outcome]:
        room = (self._tables, self._messages, self._floors)
        return trees.propagate(self.plan.arrays, semiring, values, packed.at(codes), packed.floors, *room)

    def maximise(self, packed: Packed, codes: Ints | None = None) -> Calibrated:
        """Return the logarithms of the max-marginals, max Π φ over all other variables, in place of marginals."""
        best, _ = self._propagate(Semiring.MAX, packed.logarithms(), packed, codes)
        return Calibrated(self.plan, self._tables, self._messages, best + packed.log_scale, self._floors, True)


def calibrate(plan: Plan, packed: Packed, codes: Ints | None = None) -> Calibrated:
    """Return all marginals of a product, once."""
    return Calibrator(plan).run(packed, codes)


class Focus:
    """Marginals that follow changes of single factors: what iterative proportional fitting needs.

    After a factor was multiplied by something, the marginals of its own clique are right at once, and those of another
    clique after messages along the path to it, instead of all over the tree.
    """

    def __init__(self, calibrated: Calibrated) -> None:
        self.plan = calibrated.plan
        self._tree = self.plan.arrays
        self._tables, self._messages = calibrated.tables.copy(), calibrated.separators.copy()
        self.clique = self._tree.n_cliques - 1
        self._depths = _depths(self.plan.tree.parents)

    def move(self, clique: int) -> None:
        """Make the marginals of a clique right."""
        if clique != self.clique:
            path = np.array(self.path(self.clique, clique), np.int64)
            trees.follow(self._tree, path, self._tables, self._messages)
            self.clique = clique

    def path(self, start: int, end: int) -> list[int]:
        """Return the cliques from one to another, both included."""
        up, down = [start], [end]
        parents, depths = self.plan.tree.parents, self._depths
        while up[-1] != down[-1]:
            longer = up if depths[up[-1]] >= depths[down[-1]] else down
            longer.append(parents[longer[-1]])
        return up + down[-2::-1]

    def marginal(self, factor: int) -> Floats:
        """Return Σ Π φ over all variables outside a factor's scope, relative to the start; in the common order."""
        self.move(self.plan.homes[factor])
        scope = self.plan.free_scopes[factor]
        part = np.empty(math.prod(self.plan.sizes[variable] for variable in scope))
        trees.marginalise_factor(self._tree, factor, self._tables, part)
        return part.reshape([self.plan.sizes[variable] for variable in scope])

    def multiply(self, factor: int, ratio: Floats) -> None:
        """Multiply a factor, and the marginals of its clique; ``ratio`` is in the common order."""
        self.move(self.plan.homes[factor])
        flat = np.ascontiguousarray(ratio, np.float64).reshape(-1)
        trees.multiply_factor(self._tree, factor, self._tables, flat)

    def fit_in_turn(
        self, visits: Ints, path_at: Ints, path: Ints, targets: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Fit factors to their target marginals one after another, moving along given paths.

        Parameters
        ----------
        visits : array, shape (n_visits,)
            The factors in the order of their turns.
        path_at, path : arrays
            The cliques on the way to each visit: ``path[path_at[i] : path_at[i + 1]]``, from that of the visit before.
        targets : array
            The marginals wanted of all factors, in the plan's layout.

        Returns
        -------
        ratios : array
            What the factors were multiplied by, in the plan's layout.
        gains, totals, gaps : arrays, shape (n_visits,)
            Σ t log(t/p), Σ p and max |t − p| of every visit, before its step.
        """
        self.move(int(path[0]))
        starts, n = self.plan.starts, len(visits)
        gains, totals, gaps, ratios = np.empty(n), np.empty(n), np.empty(n), np.ones(starts[-1])
        marginals = (self._tables, self._messages)
        trees.fit_in_turn(self._tree, visits, path_at, path, starts, targets, ratios, *marginals, gains, totals, gaps)
        self.clique = int(path[-1])
        return ratios, gains, totals, gaps


def _depths(parents: Sequence[int]) -> list[int]:
    depths = [0] * len(parents)
    for clique in range(len(parents) - 2, -1, -1):
        depths[clique] = depths[parents[clique]] + 1
    return depths
