"""The search for softmax parameters: Newton's method on a convex function, with a proof that its minimum exists.

The function is the mean of −log p(y | x, d) over the rows, plus a quadratic penalty if there is one. Along a direction
v its third derivative is at most D(v) times the second, D(v) the largest range of v · f over the states of one input.
Hence the slope along v falls by at least h/D from a point of curvature h, and a function without a minimum, whose slope
keeps its sign along some v, has |g · v| D(v) ≥ vᵀHv everywhere. Where Newton's decrement √(gᵀH⁻¹g) times the largest
D(v) of all v with vᵀHv = 1 is below one there is no such v: the minimum exists and is unique.

References
----------
Bach (2010), Self-concordant analysis for logistic regression, EJS 4, 384–414.

Symbols
-------
α (G, r), β (r, q)    intercepts at the mean of each configuration, slopes of the transformed columns
g, H                  gradient and Hessian of the mean, in the free ones of (α, β)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.optimise.newton_cg import newton_cg
from suffice.types import Bools, Floats

PROVEN = 1e-3
"""Below one by so much that rounding error in H could not matter."""

SUSPECT = 20
"""So many steps without a proof, and a linear program is asked whether there is a minimum."""

MOST_STEPS = 300
MOST_PARAMETERS = 4000
"""Beyond so many the Hessian is not written out."""

MUCH = 2e9
"""Where writing it out takes more multiplications, products with it find the neighbourhood of the minimum first."""

CLOSE = 1e-6
"""A decrement from which pure Newton steps converge."""

TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class WeightedCases:
    """Inputs with the weight of every state.

    Attributes
    ----------
    row : array, shape (n,)
        The configuration of each input, in ascending order; of G, each of which occurs.
    x : array, shape (n, q)
    weights : array, shape (n, r)
    allowed : array of bool, shape (G, r)
        The states that may have mass, by configuration.
    """

    row: NDArray[np.int64]
    x: Floats
    weights: Floats
    allowed: Bools

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the inputs of each configuration begin; shape (G,)."""
        return np.searchsorted(self.row, np.arange(len(self.allowed)))

    @cached_property
    def per_input(self) -> Floats:
        """The weight of each input; shape (n,)."""
        return np.asarray(self.weights.sum(axis=1))

    @cached_property
    def total(self) -> float:
        """The weight of all."""
        return float(self.per_input.sum())

    def by_configuration(self, values: Floats) -> Floats:
        """Add up over the inputs of every configuration; shape (G, …)."""
        if len(self.allowed) == 1:
            return np.asarray(values.sum(axis=0))[None]
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))

    @cached_property
    def centre(self) -> Floats:
        """The mean of the inputs of every configuration; shape (G, q)."""
        w = self.per_input
        return self.by_configuration((w / self.by_configuration(w)[self.row])[:, None] * self.x)

    @cached_property
    def centred(self) -> Floats:
        """The inputs less the mean of their configuration; shape (n, q)."""
        return np.asarray(self.x - self.centre[self.row])

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation around the configurations' means, one for a column that is constant; shape (q,)."""
        largest = np.abs(self.centred).max(axis=0, initial=0.0)
        largest[~(largest > 8 * np.finfo(float).eps * np.abs(self.x).max(axis=0, initial=0.0))] = 0.0
        unit = np.where(largest > 0, largest, 1.0)
        share = (self.per_input / self.total)[:, None]
        return np.where(largest > 0, unit * np.sqrt((share * (self.centred / unit) ** 2).sum(axis=0)), 1.0)

    @cached_property
    def linked(self) -> NDArray[np.int64]:
        """For each state the first one of those it is compared with, through any configurations; shape (r,).

        Slopes are determined up to one vector for each set of states that are linked.
        """
        first = np.arange(self.allowed.shape[1])
        for states in self.allowed:
            here = first[states]
            for other in np.unique(here):
                first[first == other] = here.min()
        return first

    @cached_property
    def sloped(self) -> Bools:
        """The states whose slopes are free, all but the first of those that are linked; shape (r,)."""
        return np.asarray(self.linked != np.arange(len(self.linked)))

    @property
    def has_slopes(self) -> bool:
        """Whether any configuration has two states to compare."""
        return bool(self.sloped.any())


@dataclass(frozen=True, eq=False)
class SoftmaxParameters:
    """Parameters on the columns' own scale, of every configuration; shapes (G, r) and (r, q)."""

    intercept: Floats
    slopes: Floats
    converged: bool


class NodeObjective:
    """The mean of −log p with its derivatives, on transformed columns.

    Parameters
    ----------
    cases : WeightedCases
    transform : array, shape (q, q)
        Columns are centred and multiplied by it; slopes on their own scale are transform · β.
    width, main : float
        Of the penalty; inf for none.
    """

    def __init__(
        self, cases: WeightedCases, transform: Floats, width: float = math.inf, main: float = math.inf
    ) -> None:
        self.cases, self.transform = cases, transform
        self.z: Floats = cases.centred @ transform
        self.share: Floats = cases.per_input / cases.total
        self.observed: Floats = cases.weights / cases.total
        groups, r = cases.allowed.shape
        q = self.z.shape[1]
        self.shape = (groups, r, q)
        first = np.argmax(cases.allowed, axis=1)
        self.free: Bools = np.concatenate(
            [
                (cases.allowed & (np.arange(r) != first[:, None])).reshape(-1),
                np.repeat(cases.sloped, q),
            ]
        )
        self.offset: Floats = np.where(cases.allowed, 0.0, -np.inf)[cases.row]
        self.quadratic = self._quadratic(width, main) if math.isfinite(width) else None

    def _quadratic(self, width: float, main: float) -> Floats:
        """Return Q with θᵀQθ/2 the penalty over the total weight, in the free parameters."""
        groups, r, q = self.shape
        cases, size = self.cases, len(self.free)
        deviations = []
        for state in range(r):
            alike = cases.linked == cases.linked[state]
            part = np.zeros((q, size))
            inner = part[:, groups * r :].reshape(q, r, q)
            inner[:, state] += self.transform / width
            inner[:, alike] -= self.transform[:, None] / width / np.count_nonzero(alike)
            deviations.append(part)
        for group in range(groups) if math.isfinite(main) else ():
            part = np.zeros((r, size))
            here = np.flatnonzero(cases.allowed[group]).tolist()
            moved = -cases.centre[group] @ self.transform  # a = α − b · mean
            for state in here:
                for other, factor in ((state, 1.0), *((other, -1 / len(here)) for other in here)):
                    part[state, group * r + other] += factor / main
                    start = groups * r + other * q
                    part[state, start : start + q] += factor * moved / main
            deviations.append(part)
        whole = np.concatenate(deviations)[:, self.free]
        return np.asarray(whole.T @ whole / cases.total)

    @property
    def n_free(self) -> int:
        """The number of parameters."""
        return int(np.count_nonzero(self.free))

    def whole(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return α and β with what is zero by convention."""
        groups, r, q = self.shape
        both = np.zeros(len(self.free))
        both[self.free] = theta
        return both[: groups * r].reshape(groups, r), both[groups * r :].reshape(r, q)

    def at(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return value, gradient and the probabilities of every input, shape (n, r)."""
        alpha, beta = self.whole(theta)
        scores = alpha[self.cases.row] + self.z @ beta.T + self.offset
        top = scores.max(axis=1, keepdims=True)
        p = np.exp(scores - top)
        totals = p.sum(axis=1, keepdims=True)
        p /= totals
        own = np.where(self.observed > 0, scores, 0.0)
        value = float(self.share @ (top + np.log(totals))[:, 0] - (self.observed * own).sum())
        gradient = self._gathered(self.share[:, None] * p - self.observed)  # eq softmax-node-gradient
        if self.quadratic is not None:
            pull = self.quadratic @ theta
            value, gradient = value + float(theta @ pull) / 2, gradient + pull
        return value, gradient, p

    def _gathered(self, gaps: Floats) -> Floats:
        """Return Σ gap · feature of the free parameters, from one number an input and state."""
        both = np.concatenate([self.cases.by_configuration(gaps).reshape(-1), (gaps.T @ self.z).reshape(-1)])
        return np.asarray(both[self.free])

    def product(self, p: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies by the Hessian."""

        def multiply(direction: Floats) -> Floats:
            alpha, beta = self.whole(direction)
            change = alpha[self.cases.row] + self.z @ beta.T
            change = p * (change - (p * change).sum(axis=1, keepdims=True))
            found = self._gathered(self.share[:, None] * change)
            return found if self.quadratic is None else found + self.quadratic @ direction

        return multiply

    def hessian(self, p: Floats) -> Floats:
        """Return the Hessian; shape (n_free, n_free)."""
        groups, r, q = self.shape
        whole = np.zeros((len(self.free), len(self.free)))
        at = groups * r + np.arange(r * q).reshape(r, q)
        places = np.arange(groups * r).reshape(groups, r)
        for k in range(r):
            for other in range(k + 1):
                c = self.share * p[:, k] * ((k == other) - p[:, other])
                cz = c[:, None] * self.z
                crossed = self.cases.by_configuration(cz)
                whole[places[:, k], places[:, other]] = self.cases.by_configuration(c)
                whole[at[other][:, None], places[:, k]] = crossed.T
                whole[at[k][:, None], places[:, other]] = crossed.T
                whole[np.ix_(at[k], at[other])] = self.z.T @ cz
        kept = whole[np.ix_(self.free, self.free)]
        kept = np.tril(kept) + np.tril(kept, -1).T
        return kept if self.quadratic is None else kept + self.quadratic

    def reach(self, inverse: Floats) -> float:
        """Return a bound of D(v) for all v with vᵀHv = 1, from the inverse of H."""
        groups, r, q = self.shape
        whole = np.zeros((len(self.free), len(self.free)))
        whole[np.ix_(self.free, self.free)] = inverse
        largest = 0.0
        for k in range(r):
            at = groups * r + k * q + np.arange(q)
            places = np.arange(groups) * r + k
            squares = whole[places, places][self.cases.row] + 2 * (
                self.z * whole[places[:, None], at][self.cases.row]
            ).sum(axis=1)
            squares += ((self.z @ whole[np.ix_(at, at)]) * self.z).sum(axis=1)
            largest = max(largest, float(squares.max(initial=0.0)))
        return 2 * math.sqrt(largest)

    def original(self, theta: Floats, converged: bool) -> SoftmaxParameters:
        """Return the parameters on the columns' own scale."""
        alpha, beta = self.whole(theta)
        slopes = beta @ self.transform.T
        intercept = np.where(self.cases.allowed, alpha - self.cases.centre @ slopes.T, -np.inf)
        return SoftmaxParameters(intercept, slopes, converged)


def minimise(objective: NodeObjective, doubt: Callable[[], None]) -> SoftmaxParameters:
    """Return the parameters of least value.

    Parameters
    ----------
    objective : NodeObjective
    doubt : callable
        Called once when there is no proof of a minimum after some steps; raises when there is none.
    """
    theta = np.zeros(objective.n_free)
    if not objective.n_free:
        return objective.original(theta, True)
    large = objective.n_free > MOST_PARAMETERS
    if large or len(objective.z) * float(objective.n_free) ** 2 > MUCH:
        theta = _neighbourhood(objective, 1e-11 if large else 1e-9)
    if large:
        if np.abs(objective.at(theta)[1]).max() > TOLERANCE:
            doubt()
        return objective.original(theta, bool(np.abs(objective.at(theta)[1]).max() <= TOLERANCE))
    theta, root = _newton(objective, theta, doubt)
    theta = _polished(objective, theta, root)
    return objective.original(theta, bool(np.abs(objective.at(theta)[1]).max() <= TOLERANCE))


def _neighbourhood(objective: NodeObjective, enough: float) -> Floats:
    """Return a point of small gradient, found through products with the Hessian."""

    def evaluate(theta: Floats) -> tuple[float, Floats, Callable[[Floats], Floats]]:
        value, gradient, p = objective.at(theta)
        return value, gradient, objective.product(p)

    found = newton_cg(
        evaluate,
        np.zeros(objective.n_free),
        done=lambda x, value, gradient: bool(np.abs(gradient).max() <= enough),
        steps=range(200),
    )
    return np.asarray(found.x)


def _newton(objective: NodeObjective, theta: Floats, doubt: Callable[[], None]) -> tuple[Floats, Floats]:
    """Return a point close to the minimum, which is proven to exist, and L⁻¹ there, where H = L Lᵀ."""
    penalised, asked = objective.quadratic is not None, False
    value, gradient, p = objective.at(theta)
    for number in range(MOST_STEPS):
        root, regular = _inverse_root(objective.hessian(p))
        half = root @ gradient
        step, decrement = root.T @ half, float(np.linalg.norm(half))
        if decrement <= CLOSE and (penalised or (regular and decrement * objective.reach(root.T @ root) < PROVEN)):
            return theta, root
        if not penalised and not asked and (number >= SUSPECT or not regular):
            doubt()
            asked = True
        for cut in range(60):
            trial = theta - step * 0.5**cut
            after = objective.at(trial)
            if after[0] <= value - 1e-4 * 0.5**cut * decrement**2 or decrement**2 <= 1e-12 * abs(value):
                break
        else:
            break
        theta, (value, gradient, p) = trial, after
    return theta, root


def _inverse_root(hessian: Floats) -> tuple[Floats, bool]:
    """Return L⁻¹, where H = L Lᵀ, and whether H is regular; if not, a little is added to its diagonal."""
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(hessian))), True
    except np.linalg.LinAlgError:
        size = max(float(np.abs(hessian).max()), 1e-300)
        return np.asarray(np.linalg.inv(np.linalg.cholesky(hessian + 1e-10 * size * np.eye(len(hessian))))), False


def _polished(objective: NodeObjective, theta: Floats, root: Floats) -> Floats:
    """Take steps with the Hessian of a point close by, as long as they make the gradient smaller."""
    gradient = objective.at(theta)[1]
    for _ in range(20):
        trial = theta - root.T @ (root @ gradient)
        after = objective.at(trial)[1]
        if not np.abs(after).max() < np.abs(gradient).max():
            break
        theta, gradient = trial, after
    return theta
