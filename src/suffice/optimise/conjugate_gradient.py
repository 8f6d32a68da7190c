"""Nonlinear conjugate gradients."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from suffice.optimise.descent import Confirm, Done, descend
from suffice.optimise.line_search import Evaluate, Point
from suffice.optimise.outcome import Outcome, start_of
from suffice.optimise.vectors import dot
from suffice.types import Floats


def conjugate_gradient(
    evaluate: Evaluate,
    start: ArrayLike,
    *,
    done: Done,
    steps: Iterable[int],
    scale: Floats | None = None,
    confirm: Confirm | None = None,
) -> Outcome:
    """Minimise a smooth function by nonlinear conjugate gradients.

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
    scale : ndarray of shape (n,), optional
        Positive, the preconditioner P: about the diagonal of the inverse Hessian.
    confirm : callable, optional
        Asked of a point at which ``done`` holds: whether the search may end there.

    Returns
    -------
    Outcome

    Notes
    -----
    With g the new gradient, y its change and d the last direction, the next one is −P g + β d, where (Hager and Zhang)
    β = (yᵀP g − 2 (yᵀP y) (dᵀg) / dᵀy) / dᵀy, from below bounded by 0.4 dᵀg₀ / dᵀP⁻¹d, with g₀ the gradient before.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.progress import Watch
    >>> valley = lambda x: (x[0] ** 2 + 100 * x[1] ** 2, np.array([2 * x[0], 200 * x[1]]))
    >>> small = lambda x, value, gradient: bool(abs(gradient).max() < 1e-10)
    >>> found = conjugate_gradient(valley, [3.0, 1.0], done=small, steps=Watch().steps("gradients", 100))
    >>> found.converged, found.value < 1e-20
    (True, True)
    """
    start = start_of(start)
    return descend(evaluate, start, _Conjugate(start.size, scale), done, steps, confirm=confirm)


class _Conjugate:
    """The last direction, and how much of it goes into the next."""

    # Directions stay conjugate only when lines are searched well, and the second secant does it most of the time.
    sigma = 0.005

    def __init__(self, n: int, scale: Floats | None) -> None:
        self.scale = scale
        self._most_turns = max(6 * n, 100)
        self._last: Floats | None = None  # the last direction; None makes the next one the plain gradient
        self._next: Floats | None = None
        self._turns = 0
        self._progress = 0.0  # step times slope of the last line

    def direction(self, gradient: Floats) -> Floats:
        """Return the direction worked out by `learn`, or the plain gradient's."""
        if self._next is None:
            self._turns = 0
            self._last = -self._scaled(gradient)
        else:
            self._last, self._next = self._next, None
        return self._last

    def first_step(self, direction: Floats, slope: float) -> float:
        """Return the step that promises as much as the last one did."""
        if self._progress < 0:
            return self._progress / slope
        if self.scale is not None:
            return 1.0
        return 1 / max(1.0, math.sqrt(dot(direction, direction)))

    def learn(self, before: Point, after: Point) -> None:
        """Work out the next direction."""
        last, gradient = self._last, after.gradient
        assert last is not None
        slope_before = dot(last, before.gradient)
        self._progress = after.step * slope_before
        self._turns += 1
        change = gradient - before.gradient
        curvature = dot(last, change)
        if not curvature > 0 or self._turns >= self._most_turns:
            return
        scaled = self._scaled(change)
        beta = (dot(scaled, gradient) - 2 * dot(scaled, change) * after.slope / curvature) / curvature
        least = 0.4 * slope_before / dot(last, last if self.scale is None else last / self.scale)
        direction = last * max(beta, least)
        direction -= self._scaled(gradient)
        self._next = direction

    def forget(self) -> bool:
        """Make the next direction the plain gradient; False when the last one was."""
        self._progress, self._next = 0.0, None
        return self._turns > 0

    def _scaled(self, vector: Floats) -> Floats:
        return vector if self.scale is None else np.multiply(vector, self.scale)
