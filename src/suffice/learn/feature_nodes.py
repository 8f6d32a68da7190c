"""Where the quadrature of continuous variables lies: where their data are, or where targets say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.errors import EstimationError
from suffice.inference.quadrature import QuadratureRule, rule_for
from suffice.models.feature_base import quadrature_of
from suffice.stats.needs import Distinct, Sum
from suffice.structures.feature_rules import Feature
from suffice.structures.features import Features
from suffice.types import Floats

NARROWEST, WIDEST = 1e-70, 1e70
"""Widths between which numbers neither underflow nor overflow."""
LOOKS = 8
"""So often the nodes move closer to where a feature comes near its target."""


def targets_need(n_weights: int) -> Sum:
    """Return the need that targets by hand answer."""
    return Sum("features", n_weights)


def nodes_of(structure: Features, statistics: Any) -> dict[str, QuadratureRule]:
    """Return the quadrature of every continuous variable, placed where the data are, or where targets say."""
    if not structure.support:
        return {}
    return quadrature_of(structure, placement_of(structure, statistics), statistics.schema)


def placement_of(structure: Features, statistics: Any) -> dict[str, tuple[float, float]]:
    """Return where the data of every continuous variable are: mean and standard deviation."""
    found = {}
    for name, (low, high) in structure.support:
        held = [need for need in statistics if isinstance(need, Distinct) and name in need.scope]
        if not held:
            found[name] = _by_targets(structure, statistics, name, low, high)
            continue
        rows = statistics[held[0]]
        total = rows.weights.sum()
        x, weights = rows.values(name), rows.weights / (total or 1.0)
        outside = (x < low) | (x > high)
        if outside.any():
            raise EstimationError(
                f"The column {name!r} has the value {x[outside][0]:g}, outside its support from {low:g} to {high:g}. "
                "Widen the support, or leave such rows out."
            )
        if not total:
            found[name] = _anywhere(low, high)
            continue
        centre = float(weights.dot(x))
        spread = math.sqrt(float(weights.dot((x - centre) ** 2)))
        # Values all alike say nothing of a width, but nodes must stay apart.
        found[name] = centre, spread if spread > 1e-6 * abs(centre) else max(abs(centre), 1.0)
    return found


# By hand ------------------------------------------------------------------------------------------------------


def _targets(statistics: Any, n_weights: int) -> Floats:
    return np.asarray(statistics[targets_need(n_weights)].values / statistics.weight, np.float64)


def _by_targets(structure: Features, statistics: Any, name: str, low: float, high: float) -> tuple[float, float]:
    """Return where targets by hand say that a variable lies, by its mean and its mean square if these are among them.

    Where a target is not among the values that its feature takes at the nodes, these are too far apart: they move to
    where it comes nearest.
    """
    features = structure.resolved(statistics.schema)
    targets = _targets(statistics, len(features))
    centre, scale = _by_moments(features, targets, name, low, high)
    alone = [(f, t) for f, t in zip(features, targets, strict=True) if f.variables == (name,)]
    for _ in range(LOOKS):
        x = rule_for(low, high, centre=centre, scale=scale).nodes
        nearest = [_nearest(feature.at({name: x}), float(target)) for feature, target in alone]
        at = next((place for place in nearest if place is not None and 0 < place < len(x) - 1), None)
        if at is None:
            break
        centre, scale = float(x[at]), max(float(x[at + 1] - x[at - 1]) / 4, 2e-6 * abs(float(x[at])))
    return centre, scale


def _nearest(values: Floats, target: float) -> int | None:
    """Return where values come nearest to a target that lies beyond all of them."""
    if values.min() < target < values.max() or values.min() == values.max():
        return None
    return int(np.argmin(values) if target <= values.min() else np.argmax(values))


def _by_moments(
    features: Sequence[Feature], targets: Floats, name: str, low: float, high: float
) -> tuple[float, float]:
    mean, square = _two_moments(features, targets, name, low, high)
    if mean is None or not low < mean < high:
        mean = _anywhere(low, high)[0]
    spread = 0.0 if square is None else square - mean**2
    if spread > 1e-12 * mean**2:
        return mean, _usable(math.sqrt(spread))
    away = min(abs(mean - low), abs(high - mean))
    return mean, _usable(away if 0 < away < math.inf else max(abs(mean), 1.0))


def _usable(scale: float) -> float:
    """Return a width that quadrature can work with."""
    return min(max(scale, NARROWEST), WIDEST)


def _anywhere(low: float, high: float) -> tuple[float, float]:
    """Return a place and a width where nothing is known but the support."""
    if math.isfinite(low) and math.isfinite(high):
        return (low + high) / 2, high - low
    centre = 0.0 if low < 0.0 < high else low if math.isfinite(low) else high
    return centre, max(abs(centre), 1.0)


def _two_moments(
    features: Sequence[Feature], targets: Floats, name: str, low: float, high: float
) -> tuple[float | None, float | None]:
    """Return the targets of x and of x², where features are these functions; told by their values at some points."""
    left = low if math.isfinite(low) else min(high, 0.0) - 10.0
    right = high if math.isfinite(high) else max(left, 0.0) + 10.0
    probes = left + (right - left) * np.array([0.21, 0.5, 0.83])
    mean, square = None, None
    for feature, target in zip(features, targets, strict=True):
        if feature.variables == (name,):
            values = feature.at({name: probes})
            mean = float(target) if np.array_equal(values, probes) else mean
            square = float(target) if np.array_equal(values, probes * probes) else square
    return mean, square


def require_inside(structure: Features, statistics: Any, nodes: dict[str, QuadratureRule]) -> None:
    """Refuse targets that no density has: at the end of a feature's range or beyond, or without any variance."""
    features = structure.resolved(statistics.schema)
    if targets_need(len(features)) not in statistics:
        return
    targets = _targets(statistics, len(features))
    for feature, target in zip(features, targets, strict=True):
        if len(feature.variables) == 1 and feature.variables[0] in nodes:
            name = feature.variables[0]
            values = feature.at({name: nodes[name].nodes})
            least, most = float(values.min()), float(values.max())
            if least < most and not least < target < most:
                ends = _ends(least, most, nodes[name])
                raise EstimationError(
                    f"The target {target:g} of the feature {feature.name!r} is out of reach: over the support of "
                    f"{name!r} it takes values between {ends}, and no density has the mean of an end. Correct the "
                    "target, or change the support."
                )
    for name, (low, high) in structure.support:
        mean, square = _two_moments(features, targets, name, low, high)
        if mean is not None and square is not None and not square > mean**2:
            raise EstimationError(
                f"No density has these expectations: the targets give {name!r} the mean {mean:g} and the mean square "
                f"{square:g}, which is not more than {mean:g}² = {mean**2:g}, so that no variance is left. Correct one "
                "of them."
            )


def _ends(least: float, most: float, rule: QuadratureRule) -> str:
    """Say between which values a feature lies; what only the last of many nodes reaches is without end."""
    far = 1e20 * max(1.0, abs(rule.nodes[len(rule.nodes) // 2]))
    said = [f"{end:.6g}" if abs(end) < far else "−∞" if end < 0 else "∞" for end in (least, most)]
    return f"{said[0]} and {said[1]}"


# Where supports have no end -----------------------------------------------------------------------------------


def reference(x: Floats, ends: tuple[float, float], placement: tuple[float, float]) -> Floats:
    """Return the log-density, but for a constant, of a normal on the whole line, or an exponential on half of it."""
    (low, high), (centre, scale) = ends, placement
    if math.isfinite(low) and not math.isfinite(high):
        return -(x - low) / max(centre - low, 1e-3 * scale)
    if math.isfinite(high) and not math.isfinite(low):
        return -(high - x) / max(high - centre, 1e-3 * scale)
    if math.isfinite(low):
        return np.zeros(len(x))
    return np.asarray(-(((x - centre) / scale) ** 2) / 2, np.float64)
