"""L-BFGS: quasi-Newton steps from the last few changes of the gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from suffice.native.vectors import add_then_dot
from suffice.optimise.descent import Confirm, Done, descend
from suffice.optimise.line_search import EASY, Evaluate, Point
from suffice.optimise.outcome import Outcome, start_of
from suffice.optimise.vectors import dot
from suffice.types import Floats

LONG = 1 << 17
"""Pairs of longer vectors are kept in single precision."""


def lbfgs(
    evaluate: Evaluate,
    start: ArrayLike,
    *,
    done: Done,
    steps: Iterable[int],
    memory: int = 10,
    scale: Floats | None = None,
    gain: float = math.inf,
    confirm: Confirm | None = None,
) -> Outcome:
    """Minimise a smooth function by L-BFGS.

    Parameters
    ----------
    evaluate : callable
        Returns value and gradient at a point; a value that is not finite lies outside the domain. The gradient must
        be a new array, or one that is not written to again.
    start : array_like of shape (n,)
    done : callable
        Whether a point, the value and the gradient there are good enough; called at the start and after every step.
    steps : iterable of int
        The numbers of the steps; when it ends, so does the search.
    memory : int
        How many pairs of changes are remembered.
    scale : ndarray of shape (n,), optional
        Positive: about the diagonal of the inverse Hessian.
    gain : float
        The search goes on after ``done`` while the next step promises to lower the value by more than this.
    confirm : callable, optional
        Asked of a point at which ``done`` holds: whether the search may end there.

    Returns
    -------
    Outcome

    Notes
    -----
    The direction is −H g, where H follows from H₀ = γ diag(scale) by the pairs (s, y) of changes of point and gradient
    (Nocedal and Wright, algorithm 7.4). Here γ = sᵀy / yᵀ diag(scale) y of the last pair: the usual factor without a
    scale, and one when the scale is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.progress import Watch
    >>> valley = lambda x: (x[0] ** 2 + 100 * x[1] ** 2, np.array([2 * x[0], 200 * x[1]]))
    >>> small = lambda x, value, gradient: bool(abs(gradient).max() < 1e-10)
    >>> found = lbfgs(valley, [3.0, 1.0], done=small, steps=Watch().steps("L-BFGS", 100))
    >>> found.converged, found.value < 1e-20
    (True, True)
    """
    start = start_of(start)
    return descend(evaluate, start, PairMemory(start.size, memory, scale), done, steps, gain, confirm)


class PairMemory:
    """The last pairs of changes, and the inverse Hessian they tell of."""

    sigma = EASY

    def __init__(self, n: int, size: int, scale: Floats | None) -> None:
        self.scale = scale
        # Each pair is a row of its own, kept as a list of views: indexing an array costs more than a short product.
        # Long ones are in single precision, which halves their memory. They only tell of curvature: gradients, values
        # and steps keep all their digits.
        kind = np.float64 if n <= LONG else np.float32
        self._moves = list(np.empty((size + 1, n), kind))
        self._changes = list(np.empty((size + 1, n), kind))
        self._curvatures = [0.0] * (size + 1)
        self._alphas = [0.0] * (size + 1)
        self._order: list[int] = []  # rows in use, the oldest first
        self._free = 0  # the one that the next pair is written to
        self._gamma = 1.0
        self._work = np.empty(n)

    def direction(self, gradient: Floats) -> Floats:
        """Return −H g by the two loops of algorithm 7.4."""
        moves, changes, alphas, order, last = (
            self._moves,
            self._changes,
            self._alphas,
            self._order,
            len(self._order) - 1,
        )
        result = np.negative(gradient)
        product = dot(moves[order[last]], result) if order else 0.0
        for i in range(last, -1, -1):
            row = order[i]
            alphas[row] = alpha = product / self._curvatures[row]
            product = add_then_dot(result, -alpha, changes[row], moves[order[i - 1]])
        if self._gamma != 1:
            result *= self._gamma
        if self.scale is not None:
            result *= self.scale
        product = dot(changes[order[0]], result) if order else 0.0
        for i, row in enumerate(order):
            beta = product / self._curvatures[row]
            product = add_then_dot(result, alphas[row] - beta, moves[row], changes[order[i - last]])
        return result

    def first_step(self, direction: Floats, slope: float) -> float:
        """Return one, or a move of length one at most while nothing is known of the curvature."""
        if self._order or self.scale is not None:
            return 1.0
        return 1 / max(1.0, math.sqrt(dot(direction, direction)))

    def learn(self, before: Point, after: Point) -> None:
        """Put the newest pair in the place of the oldest, unless its curvature is lost in rounding error."""
        move, change = self._moves[self._free], self._changes[self._free]
        # The difference of points, not step times direction: that is what the gradient has seen, digit for digit.
        np.subtract(after.x, before.x, out=move)
        work = np.subtract(after.gradient, before.gradient, out=self._work)
        change[:] = work
        curvature, length = dot(move, work), dot(work, work)
        if not curvature > 1e-14 * math.sqrt(dot(move, move) * length):
            return
        if self.scale is not None:
            work *= self.scale
            length = dot(change, work)
        self._gamma = curvature / length
        self._curvatures[self._free] = curvature
        self._order.append(self._free)
        self._free = len(self._order) if len(self._order) < len(self._moves) else self._order.pop(0)

    def to_arrays(self) -> dict[str, Floats]:
        """Return the pairs, the oldest first, and what belongs to them: all that `restore` needs."""
        n = len(self._work)
        held = {"moves": self._moves, "changes": self._changes}
        found = {
            name: np.array([rows[i] for i in self._order], np.float64).reshape(-1, n) for name, rows in held.items()
        }
        curvatures = np.array([self._curvatures[i] for i in self._order])
        return {**found, "curvatures": curvatures, "gamma": np.array([self._gamma])}

    def restore(self, arrays: Mapping[str, Floats]) -> None:
        """Remember the pairs that `to_arrays` returned."""
        n = len(arrays["curvatures"])
        for i in range(n):
            self._moves[i][:], self._changes[i][:] = arrays["moves"][i], arrays["changes"][i]
            self._curvatures[i] = float(arrays["curvatures"][i])
        self._order, self._free, self._gamma = list(range(n)), n, float(arrays["gamma"][0])

    def forget(self) -> bool:
        """Drop all pairs; False when there were none."""
        if not self._order:
            return False
        self._order, self._free, self._gamma = [], 0, 1.0
        return True
