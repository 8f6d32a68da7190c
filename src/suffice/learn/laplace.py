"""Markov random fields under Laplace's penalty, whose kinks make some u-terms exactly zero.

The parameters are the u-terms themselves, tables that sum to zero over each axis. Proximal steps find which cells are
zero; on the cells that are not, the problem is smooth, and Newton's method finishes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.inference.interactions import Interactions, centred
from suffice.learn.cliques import CliqueEstimate, check, refuses_nothing, refuses_smooth, solve_by
from suffice.learn.matching import Matching, needs
from suffice.learn.method import Method
from suffice.optimise.decrement import LEFT, decrement_by_products
from suffice.optimise.kinks import up_to_zero
from suffice.optimise.newton_cg import newton_cg
from suffice.optimise.outcome import MORE_STEPS, Stop
from suffice.optimise.proximal import proximal
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.markov_net import MarkovNetwork
    from suffice.structures.cliques import Cliques

ROUND, SMOOTH = 40, 50
"""Proximal steps between attempts to finish on the cells that are not zero, and steps of such an attempt."""


def search(matching: Matching) -> CliqueEstimate:
    """Alternate between proximal steps and smooth ones."""
    terms = Terms(matching)
    x, objectives = terms.start, list[float]()
    steps = matching.problem.watch.steps("proximal steps", matching.problem.max_iter)
    while True:
        outcome = proximal(terms.evaluate, terms.kinks, terms.prox, x, done=terms.done, steps=islice(steps, ROUND))
        objectives += [matching.gain(value) for value in outcome.values]
        x = outcome.x
        if outcome.converged:
            return CliqueEstimate(terms.theta(x), tuple(objectives), Stop.CONVERGED)
        x = terms.finished(x, steps)
        if len(objectives) < matching.problem.max_iter:
            objectives.append(matching.gain(terms.evaluate(x)[0] + terms.kinks(x)))
        if terms.done(x, terms.evaluate(x)[1]):
            return CliqueEstimate(terms.theta(x), tuple(objectives), Stop.CONVERGED)
        if next(steps, None) is None:
            return CliqueEstimate(terms.theta(x), tuple(objectives), Stop.OUT_OF_STEPS, MORE_STEPS)


class Terms:
    """The u-terms as one vector, and the objective in them."""

    def __init__(self, matching: Matching) -> None:
        self.matching = matching
        self.words: Interactions = matching.interactions
        self.shapes = [self.words.shape(term) for term in self.words.terms]
        self._cuts = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        penalty = matching.penalty
        assert penalty is not None
        widths = penalty.widths([np.zeros(shape) for shape in self.shapes])
        self.weights = [1 / (width * matching.total) for width in widths]
        margins = self.words.margins(matching.targets)
        self._targets = [centred(table) for table in margins]
        self._curvature = np.maximum(self.join(margins), 1 / max(matching.total, 1.0))

    @cached_property
    def start(self) -> Floats:
        """The u-terms of the start."""
        return self.join(self.words.of(self.matching.start)[1])

    def split(self, x: Floats) -> list[Floats]:
        """Return the tables of the terms."""
        return [part.reshape(shape) for part, shape in zip(np.split(x, self._cuts), self.shapes, strict=True)]

    def join(self, tables: list[Floats]) -> Floats:
        """Return the tables as one vector."""
        return np.concatenate([table.reshape(-1) for table in tables])

    def theta(self, x: Floats) -> Floats:
        """Return log ψ of the cliques."""
        return self.words.put(self.split(x))

    def evaluate(self, x: Floats) -> tuple[float, Floats]:
        """Return log Z − ⟨t, u⟩ and its gradient among tables that sum to zero."""
        theta = self.theta(x)
        point = self.matching.family.at(theta)
        value = point.log_z - float(self.matching.targets.dot(theta))
        slopes = [centred(p) - t for p, t in zip(self.words.margins(point.expected), self._targets, strict=True)]
        return value, self.join(slopes)

    def evaluate_twice(self, x: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        """Return what `evaluate` does, and products with the Hessian."""
        value, gradient = self.evaluate(x)
        point = self.matching.family.at(self.theta(x))

        def product(v: Floats) -> Floats:
            slopes = self.words.margins(point.curvature(self.theta(v)))
            return self.join([centred(slope) for slope in slopes])

        return value, gradient, product

    def kinks(self, x: Floats) -> float:
        """Return Σ |u| / (width N)."""
        return sum(w * float(np.abs(u).sum()) for u, w in zip(self.split(x), self.weights, strict=True))

    def prox(self, z: Floats, step: float) -> Floats:
        """Shrink every term towards zero."""
        return self.join([shrunk(u, step * w) for u, w in zip(self.split(z), self.weights, strict=True)])

    def done(self, x: Floats, gradient: Floats) -> bool:
        """Whether a proximal step of size one would move nothing, and little is left to gain, cell by cell."""
        moved, tol = x - self.prox(x - gradient, 1.0), self.matching.problem.tol
        left = self.matching.total * float((moved**2 / self._curvature).sum()) / 2
        if not (np.abs(moved).max(initial=0.0) <= tol / 10 and left <= LEFT):
            return False
        return self._gap(moved) <= tol / 2 and self._decrement(x, moved) <= LEFT

    def _decrement(self, x: Floats, slopes: Floats) -> float:
        """Return what a Newton step along what is left of the slopes would gain, in nats, as if there were no kinks."""
        total, product = self.matching.total, self.evaluate_twice(x)[2]
        return decrement_by_products(total * slopes, lambda v: total * product(v), total * self._curvature).size

    def _gap(self, slopes: Floats) -> float:
        """Return slopes by u-terms as the certificate measures them: where cells are rare, in standard errors."""
        return self.matching.gap(self.words.put(self.split(slopes)))

    def finished(self, x: Floats, steps: Iterator[int]) -> Floats:
        """Return the optimum among terms with zeros and signs like those of x.

        Cells that meet zero on the way there stay at zero, one after another.
        """
        while True:
            y, held = self._on_support(x, islice(steps, SMOOTH))
            x = up_to_zero(x, y, held)
            if np.array_equal(x, y):
                return x

    def _on_support(self, x: Floats, steps: Iterable[int]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the optimum with the zeros of x and the slopes that its signs have, and which cells have such."""
        pieces, slopes = [], []
        for u, weight in zip(self.split(x), self.weights, strict=True):
            pieces.append(_free_directions((u != 0) | (weight == 0)))  # what has no penalty is free
            slopes.append(weight * np.sign(u).reshape(-1))
        widths = np.cumsum([basis.shape[1] for basis in pieces])[:-1]

        def place(c: Floats) -> Floats:
            parts = np.split(c, widths)
            return np.concatenate([basis @ part for basis, part in zip(pieces, parts, strict=True)])

        def back(g: Floats) -> Floats:
            parts = np.split(g, self._cuts)
            return np.concatenate([basis.T @ part for basis, part in zip(pieces, parts, strict=True)])

        def evaluate(c: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
            value, gradient, product = self.evaluate_twice(place(c))
            signs = np.concatenate(slopes)
            return value + float(signs.dot(place(c))), back(gradient + signs), lambda v: back(product(place(v)))

        tol = self.matching.problem.tol

        def done(c: Floats, value: float, g: Floats) -> bool:
            return float(np.abs(g).max(initial=0.0)) <= tol / 100 and self._gap(place(g)) <= tol / 20

        gain = LEFT / self.matching.total / 10
        found = newton_cg(evaluate, back(x), done=done, steps=steps, gain=gain)
        return place(found.x), np.concatenate(slopes) != 0


def shrunk(z: Floats, threshold: float) -> Floats:
    """Return the table u that sums to zero over each axis and minimises ½‖u − z‖² + threshold · Σ |u|.

    Between yes-no variables a table is one number with signs, shrunk as such. Otherwise u = soft(z − Bᵀν, threshold),
    where B takes the sums over all axes and ν solves B u = 0 by Newton steps; these sums are piecewise linear in ν.
    """
    z = centred(z)
    if threshold == 0:
        return z
    if all(size == 2 for size in z.shape):
        return np.sign(z) * np.maximum(np.abs(z) - threshold, 0.0)
    if np.abs(z).max(initial=0.0) == 0:
        return z
    sums = _sums(z.shape)
    flat, nu = z.reshape(-1), np.zeros(len(sums))

    def soft(nu: Floats) -> Floats:
        moved = flat - sums.T @ nu
        return np.sign(moved) * np.maximum(np.abs(moved) - threshold, 0.0)

    u = soft(nu)
    for _ in range(200):
        left = sums @ u
        if np.abs(left).max() <= 1e-15 * max(1.0, float(np.abs(flat).max())):
            break
        active = (u != 0).astype(np.float64)
        move = np.linalg.lstsq((sums * active) @ sums.T + 1e-12 * np.eye(len(sums)), left, rcond=None)[0]
        # Along the step the dual objective ½‖soft(z − Bᵀν)‖² must still fall, or not rise by much; its slope tells.
        size, slope = 1.0, float(left @ move)
        while size > 1e-10 and not float((sums @ (trial := soft(nu + size * move))) @ move) >= -0.9 * slope:
            size /= 2
        if size <= 1e-10:
            break
        nu, u = nu + size * move, trial
    return np.asarray(u.reshape(z.shape), np.float64)


def _sums(shape: tuple[int, ...]) -> Floats:
    """Return the matrix of sums over each axis; shape (sums, cells)."""
    cells = np.arange(int(np.prod(shape))).reshape(shape)
    rows = []
    for axis in range(len(shape)):
        for line in np.moveaxis(cells, axis, -1).reshape(-1, shape[axis]):
            row = np.zeros(cells.size)
            row[line] = 1.0
            rows.append(row)
    return np.array(rows)


def _free_directions(held: NDArray[np.bool_]) -> Floats:
    """Return an orthonormal basis of the tables that sum to zero and vanish outside ``held``; shape (cells, width)."""
    places = np.flatnonzero(held)
    basis = np.zeros((held.size, 0))
    if len(places):
        _, sizes, rows = np.linalg.svd(_sums(held.shape)[:, places])
        rank = int((sizes > 1e-10).sum())
        basis = np.zeros((held.size, len(places) - rank))
        basis[places] = rows[rank:].T
    return basis


METHOD: Method[Cliques, MarkovNetwork] = Method(
    refuses=refuses_nothing,
    needs=needs,
    solve=solve_by(search),
    check=check,
    refuses_prior=refuses_smooth,
    points=("map",),
    takes_base=True,
    takes_init=True,
)
