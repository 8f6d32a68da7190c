"""Where the quadrature of continuous variables lies: where their data are, or where targets say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import EstimationError
from suffice.inference.quadrature import Rule, rule_for
from suffice.stats.needs import Distinct, Sum
from suffice.structures.features import Features

Floats = NDArray[np.float64]


def targets_need(n_weights: int) -> Sum:
    """Return the need that targets by hand answer."""
    return Sum("features", n_weights)


def placement_of(structure: Features, statistics: Any) -> dict[str, tuple[float, float]]:
    """Return where the data of every continuous variable are: mean and standard deviation."""
    found = {}
    for name, (low, high) in structure.support:
        held = [need for need in statistics if isinstance(need, Distinct) and name in need.scope]
        if not held:
            found[name] = _by_targets(structure, statistics, name, low, high)
            continue
        rows = statistics[held[0]]
        x, weights = rows.values(name), rows.weights / rows.weights.sum()
        outside = (x < low) | (x > high)
        if outside.any():
            raise EstimationError(
                f"The column {name!r} has the value {x[outside][0]:g}, outside its support from {low:g} to {high:g}. "
                "Widen the support, or leave such rows out."
            )
        centre = float(weights.dot(x))
        found[name] = centre, math.sqrt(float(weights.dot((x - centre) ** 2))) or 1.0
    return found


def _by_targets(structure: Features, statistics: Any, name: str, low: float, high: float) -> tuple[float, float]:
    """Return where targets by hand say that a variable lies, if its mean or its mean square is among them."""
    features = structure.resolved(statistics.schema)
    need = targets_need(len(features))
    probes, mean, square = np.array([2.0, 3.0]), None, None
    for feature, target in zip(features, statistics[need].values / statistics.weight, strict=True):
        if feature.variables == (name,):
            values = feature.at({name: probes})
            mean = float(target) if np.array_equal(values, probes) else mean
            square = float(target) if np.array_equal(values, probes**2) else square
    if mean is None or not low < mean < high:
        mean = 0.0 if low < 0.0 < high else low if math.isfinite(low) else high
    spread = 0.0 if square is None else square - mean**2
    if spread > 0:
        return mean, math.sqrt(spread)
    away = min(abs(mean - low), abs(high - mean))
    return mean, away if 0 < away < math.inf else max(abs(mean), 1.0)


def nodes_of(structure: Features, statistics: Any) -> dict[str, Rule]:
    """Return the quadrature of every continuous variable, placed where the data are."""
    found, placement = {}, placement_of(structure, statistics)
    for name, (low, high) in structure.support:
        centre, scale = placement.get(name, (0.0, 1.0))
        found[name] = rule_for(low, high, centre=centre, scale=scale)
    return found


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
