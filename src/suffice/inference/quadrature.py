r"""QuadratureRule: a continuous variable as nodes with weights, ∫ g(x) dx ≈ Σ w_i g(x_i).

A log-linear model over continuous variables then is one over finitely many states, with the weights as base measure.

Accuracy at the usual size: the relative error of the integral of the density, and the errors of its mean and its
variance in units of the standard deviation (of normal densities that the support cuts, the integral alone).

========================  ===================================================================================  =====
support                   density                                                                              error
========================  ===================================================================================  =====
bounded, of width W       uniform; exp(λx), \|λ\|W ≤ 500; normal of deviation W/50 or more, anywhere           1e-11
bounded, of width W       normal at ``centre`` of 1 to 4 ``scale``, a scale being W/5000 or more               1e-10
[−π, π]                   exp(κ cos x), κ ≤ 50                                                                 1e-12
[0, 1]                    beta with both parameters 0.5, or both 0.7 or more                                   1e-8
half-line                 exponential, half-normal, gamma of shape 0.15 to 20; from 0.05 to 50 ``scale``       1e-8
half-line                 normal at ``centre``, up to 1000 ``scale`` from the end; from 0.05 to 50 ``scale``   1e-10
real line                 normal, Laplace, exp(−\|x\|^1.5) at ``centre``; from 0.05 to 50 ``scale``            1e-10
real line                 normal whose mean is 3 deviations from ``centre``; from 0.05 to 50 ``scale``         1e-8
real line                 the same at 5 deviations                                                             1e-5
========================  ===================================================================================  =====

Jumps and kinks cost nothing at ``low + k (high − low) / 20`` and at the centre of an unbounded support; anywhere
else a jump costs up to the mass of a cell. The other variant of a rule shows how much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from suffice.errors import ArgumentError, require_number, require_whole, shown
from suffice.types import Floats

SIZE = 200
"""The usual number of nodes in a bounded interval, or on each side of the centre of an unbounded support."""
PANEL_NODES = (10, 11)
"""Nodes of a panel of a bounded interval, in either variant."""
END_NODES = (24, 27)
"""Nodes of its first and its last panel, where the density may be singular."""
STRETCH = (3.4e-4, 6.8e-4)
"""ε in x = exp(t + ε sinh t): how soon the exponential steps turn into doubly exponential ones."""
ROUNDING = 2.0**-46
"""Numbers that differ by less, relatively, are not told apart reliably."""
INNERMOST, OUTERMOST = -230.0, 58.0
"""Logarithms of the distances from the centre, in scales, at which the nodes of an unbounded support begin and end."""


@dataclass(frozen=True, eq=False)
class QuadratureRule:
    """Nodes and weights for one variable, ∫ g(x) dx ≈ Σ exp(log_weights_i) g(nodes_i).

    Attributes
    ----------
    low, high : float
        The support; may be infinite.
    nodes : array, shape (n,)
        Rising, strictly between low and high.
    log_weights : array, shape (n,)
    edges : array, shape (n + 1,)
        Node i stands for the cell from edges[i] to edges[i + 1]; from low to high.
    """

    low: float
    high: float
    nodes: Floats = field(repr=False)
    log_weights: Floats = field(repr=False)
    edges: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.nodes, self.log_weights, self.edges):
            array.flags.writeable = False


def rule_for(
    low: float, high: float, *, size: int = SIZE, centre: float = 0.0, scale: float = 1.0, variant: int = 0
) -> QuadratureRule:
    """Return the rule for a variable between ``low`` and ``high``.

    Parameters
    ----------
    low, high : float
        The support; either may be infinite.
    size : int
        About how many nodes a bounded interval gets, and each side of the centre of an unbounded support. The error
        falls exponentially with it where the density is smooth.
    centre, scale : float
        Where the mass is thought to lie, and how far it reaches: the mean and the standard deviation, say. A centre
        outside the support is ignored.
    variant : int
        0 or 1; the other variant has other nodes, and more of them, to check what was computed with the first.

    Returns
    -------
    QuadratureRule

    Notes
    -----
    A bounded interval is cut into panels, each with a Gauss–Legendre rule; at the two ends x = h t⁴ is substituted,
    which removes singularities such as x^(−1/2). Where the scale is shorter than a panel, more panels, each twice as
    wide as the one before, surround the centre.

    An unbounded support is cut at the centre. A side without end gets the trapezoidal rule in t after
    |x − centre| = scale · exp(t + ε sinh t); a side with an end gets it after x = low + (centre − low) / (1 + exp(−t −
    ε sinh t)). Steps are thus in proportion to the distance from the centre, whatever the width of the density.

    Examples
    --------
    >>> rule = rule_for(0.0, float("inf"))
    >>> float(np.exp(rule.log_weights - 3 * rule.nodes).sum().round(12))
    0.333333333333
    >>> rule_for(0, 1).nodes.shape
    (228,)
    """
    low, high = require_number("low", low), require_number("high", high)
    if not low < high:
        raise ArgumentError(
            f"The 'high' argument must be larger than 'low' = {low}. Got {shown(high)} instead. "
            "Exchange the two, or make a variable with a single value a constant."
        )
    size, variant = require_whole("size", size, least=20), require_whole("variant", variant)
    if variant > 1:
        raise ArgumentError(
            f"The 'variant' argument must be 0, for fitting, or 1, for checking. Got {variant} instead."
        )
    centre, scale = require_number("centre", centre), require_number("scale", scale)
    if not math.isfinite(centre):
        raise ArgumentError(
            f"The 'centre' argument must be finite. Got {centre} instead. Give a typical value, such as the mean."
        )
    if not 1e-100 <= scale <= 1e100:
        raise ArgumentError(
            f"The 'scale' argument must lie between 1e-100 and 1e100. Got {scale} instead. "
            "Give a typical width, such as the standard deviation."
        )
    _require_room(low, high, centre, scale)
    if math.isfinite(low) and math.isfinite(high):
        parts = _bounded(low, high, size, centre, scale, variant)
    else:
        parts = _unbounded(low, high, size, centre, scale, variant)
    return QuadratureRule(low, high, *parts)


def _require_room(low: float, high: float, centre: float, scale: float) -> None:
    """Raise where the numbers of the support are so close to each other that rounding would merge the nodes."""
    ends = [abs(end) for end in (low, high) if math.isfinite(end)]
    bounded = len(ends) == 2
    width = high - low if bounded else scale
    where = max(ends) if ends and (bounded or not low < centre < high) else abs(centre)
    if not 1e-6 * where <= width or max([*ends, abs(centre)]) > 1e300:
        which = "'high' argument must exceed 'low' by" if bounded else "'scale' argument must be"
        raise ArgumentError(
            f"The {which} a millionth of the values at least, and no value may exceed 1e300. Got low = {low}, "
            f"high = {high}, centre = {centre}, scale = {scale} instead. "
            "Subtract a typical value from the variable first, or change its unit."
        )


# Bounded supports ---------------------------------------------------------------------------------------------


def _bounded(
    low: float, high: float, size: int, centre: float, scale: float, variant: int
) -> tuple[Floats, Floats, Floats]:
    """Return nodes, logarithms of weights and edges: Gauss–Legendre on panels."""
    n_panels = 2 * round(size / 20) * (1 + variant)  # so that the panels of either variant end at the same places
    panels = _panel_edges(low, high, n_panels, centre, scale)
    widths = np.diff(panels)
    points, weights, bounds = _unit_legendre(PANEL_NODES[variant])
    inner = slice(1, -1)
    begins, inner_widths = panels[:-1][inner, None], widths[inner, None]
    power = _power(END_NODES[variant], min(widths[0], widths[-1]), max(abs(low), abs(high)))
    ends, end_weights, end_bounds = _stretched(END_NODES[variant], power)
    nodes = [low + widths[0] * ends, (begins + inner_widths * points).ravel(), (high - widths[-1] * ends)[::-1]]
    masses = [widths[0] * end_weights, (inner_widths * weights).ravel(), (widths[-1] * end_weights)[::-1]]
    edges = [
        low + widths[0] * end_bounds[:-1],
        (begins + inner_widths * bounds[:-1]).ravel(),
        (high - widths[-1] * end_bounds)[::-1],
    ]
    return np.concatenate(nodes), np.log(np.concatenate(masses)), np.concatenate(edges)


def _panel_edges(low: float, high: float, n_panels: int, centre: float, scale: float) -> Floats:
    """Return where panels end: ``n_panels`` of one width, and finer ones around the centre where the scale is small.

    >>> _panel_edges(0.0, 8.0, 2, 4.0, 1.0).tolist()
    [0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]
    """
    even: Floats = np.linspace(low, high, n_panels + 1)
    width = (high - low) / n_panels
    if scale >= width or not low <= centre <= high:
        return even
    least = max(scale, width / 256)
    # The last step reaches beyond a whole panel: the even panel next to a centre in the middle of its own is cut too.
    steps = least * 2.0 ** np.arange(math.ceil(math.log2(width / least)) + 1)
    finer = np.concatenate((centre - steps, [centre], centre + steps))
    # A sliver beside an edge that exists already would only cost nodes.
    apart = np.abs(finer[:, None] - even).min(axis=1) >= least / 4
    return np.sort(np.concatenate((even, finer[apart & (finer > low) & (finer < high)])))


def _unit_legendre(n: int) -> tuple[Floats, Floats, Floats]:
    """Return nodes, weights and edges of the Gauss–Legendre rule on [0, 1].

    Partial sums of the weights separate the nodes (Chebyshev, Markov and Stieltjes): they are the edges.
    """
    points, weights = np.polynomial.legendre.leggauss(n)
    bounds = np.concatenate(([0.0], np.cumsum(weights) / 2))
    bounds[-1] = 1.0
    return (1 + points) / 2, weights / 2, bounds


def _power(n: int, width: float, offset: float) -> int:
    """Return the largest power of t that keeps the n nodes of an end panel apart, far from zero as they may be."""
    nearest = _unit_legendre(n)[0][0]
    return next((power for power in (4, 2) if nearest**power * width >= offset * ROUNDING), 1)


def _stretched(n: int, power: int) -> tuple[Floats, Floats, Floats]:
    """Return the rule on [0, 1] after x = t^power."""
    points, weights, bounds = _unit_legendre(n)
    return points**power, power * points ** (power - 1) * weights, bounds**power


# Unbounded supports -------------------------------------------------------------------------------------------


def _unbounded(
    low: float, high: float, size: int, centre: float, scale: float, variant: int
) -> tuple[Floats, Floats, Floats]:
    """Return nodes, logarithms of weights and edges: the trapezoidal rule on either side of the centre."""
    if math.isinf(low) and math.isfinite(high):
        nodes, log_weights, edges = _unbounded(-high, math.inf, size, -centre, scale, variant)
        return -nodes[::-1], log_weights[::-1].copy(), -edges[::-1]
    if centre - low < 1e-3 * scale:
        centre = low
    distances, log_weights, bounds = _outward(size, scale, variant, abs(centre))
    nodes, edges = centre + distances, centre + bounds
    if centre == low:
        return nodes, log_weights, edges
    if math.isinf(low):
        before, log_before, edges_before = centre - distances[::-1], log_weights[::-1], centre - bounds[::-1]
    else:
        before, log_before, edges_before = _between(size, low, centre, variant)
    return (
        np.concatenate((before, nodes)),
        np.concatenate((log_before, log_weights)),
        np.concatenate((edges_before[:-1], edges)),
    )


def _grid(size: int, ends: tuple[float, float], variant: int) -> tuple[Floats, Floats, Floats, float]:
    """Return φ(t) = t + ε sinh t on even steps of t, log φ′(t), φ halfway between them, and the step.

    φ runs between the two ``ends``. The other variant has another ε and a shorter step.
    """
    epsilon = STRETCH[variant]
    first, last = (_solved(end, epsilon) for end in ends)
    n = size + variant * (size // 2)
    n += n % 2  # so that two sides can share the grid
    step = (last - first) / n
    t = first + step * (np.arange(n) + 0.5)
    halves = first + step * np.arange(n + 1)
    return t + epsilon * np.sinh(t), np.log1p(epsilon * np.cosh(t)), halves + epsilon * np.sinh(halves), step


def _solved(value: float, epsilon: float) -> float:
    """Return t with t + ε sinh t = value, by Newton's method from outside, where it is monotone."""
    t = math.copysign(min(abs(value), math.asinh(abs(value) / epsilon)), value)
    for _ in range(50):
        t -= (t + epsilon * math.sinh(t) - value) / (1 + epsilon * math.cosh(t))
    return t


def _outward(size: int, scale: float, variant: int, offset: float) -> tuple[Floats, Floats, Floats]:
    """Return distances from the centre, logarithms of weights and edges of a side without end."""
    phi, log_slope, halves, step = _grid(size, (INNERMOST, OUTERMOST), variant)
    edges = scale * np.exp(halves)
    edges[-1] = math.inf
    return _merged(scale * np.exp(phi), math.log(scale * step) + phi + log_slope, edges, offset)


def _between(size: int, low: float, centre: float, variant: int) -> tuple[Floats, Floats, Floats]:
    """Return nodes, logarithms of weights and edges of a side with an end, which may lie far from the centre."""
    phi, log_slope, halves, step = _grid(size, (INNERMOST, -INNERMOST), variant)
    width = centre - low
    log_weights = math.log(width * step) - np.logaddexp(0, phi) - np.logaddexp(0, -phi) + log_slope
    # Each half is measured from its own end, so that neither loses digits to the other.
    middle = len(phi) // 2
    distances, bounds = (width / (1 + np.exp(np.abs(x))) for x in (phi, halves))
    rise, log_rise, rise_edges = _merged(distances[:middle], log_weights[:middle], bounds[: middle + 1], abs(low))
    fall, log_fall, fall_edges = _merged(
        distances[: middle - 1 : -1], log_weights[: middle - 1 : -1], bounds[: middle - 1 : -1], abs(centre)
    )
    return (
        np.concatenate((low + rise, (centre - fall)[::-1])),
        np.concatenate((log_rise, log_fall[::-1])),
        np.concatenate((low + rise_edges[:-1], (centre - fall_edges)[::-1])),
    )


def _merged(distances: Floats, log_weights: Floats, edges: Floats, offset: float) -> tuple[Floats, Floats, Floats]:
    """Let one node stand for all that rounding would not tell from the point ``offset`` they are measured from."""
    first = int(np.searchsorted(distances, max(offset * ROUNDING, 1e-300)))
    kept = log_weights[first:].copy()
    kept[0] = np.logaddexp.reduce(log_weights[: first + 1])
    return distances[first:], kept, np.concatenate(([0.0], edges[first + 1 :]))
