"""How far a member of a family is from matching its margins exactly: the proof that a match exists nearby."""

from __future__ import annotations

import numpy as np

from suffice.inference.clique_family import Floats, Layout, Point

MAX_STEPS = 400


def distance_to_match(point: Point, layout: Layout, targets: Floats, rest: float = 1e-2) -> float:
    """Return a bound of max |λ(x)| for the correction p(x) (1 + λ(x)) that has exactly the margins ``targets``.

    Below one, the corrected table is positive wherever p is, so that the maximum-likelihood estimate exists among
    tables with that support. On the way to a boundary it is about one, however closely the margins match: there the
    Newton step does not shrink.

    Notes
    -----
    λ(x) = Σ_C λ_C(x_C) − E[Σ λ_C] with Cov(f) λ = t − E[f], solved by conjugate gradients; what they leave, the part
    ``rest`` of the gap, would be corrected in the same way again.
    """
    gap = np.where(targets > 0, targets - point.expected, 0.0)
    scale = 1 / np.maximum(point.expected * (1 - point.expected), 1e-30)  # zero for variables of one state
    solution, residual = np.zeros(layout.n), gap
    limit = max(rest * float(np.abs(gap).max(initial=0.0)), 1e-15)
    step = scale * residual
    slope = float(residual.dot(step))
    for _ in range(MAX_STEPS):
        if np.abs(residual).max(initial=0.0) <= limit or slope <= 0:
            break
        image = point.curvature(step)
        bend = float(step.dot(image))
        if not bend > 0:
            return np.inf
        solution = solution + slope / bend * step
        residual = residual - slope / bend * image
        scaled = scale * residual
        before, slope = slope, float(residual.dot(scaled))
        step = scaled + slope / before * step
    if np.abs(residual).max(initial=0.0) > limit:
        return np.inf
    tables = layout.tables(np.where(targets > 0, solution, 0.0))
    return float(sum(table.max(initial=0.0) - table.min(initial=0.0) for table in tables))
