"""The largest value of a combination of features: on the joint table, by max-product, or a bound."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ModelError
from suffice.inference.clique_family import TABLE_CELLS, TableFamily
from suffice.inference.inquiry import Given, Inquiry
from suffice.inference.product import Factor, Product
from suffice.models.feature_design import FeatureDesign
from suffice.types import Floats

LARGEST_EXPONENT = 200.0


def largest_sum(design: FeatureDesign, weights: Floats, allowed: NDArray[np.bool_], low: float) -> tuple[float, str]:
    """Return max_x Σ_i weights_i f_i(x) − low over the cells that are allowed, and how it was found."""
    layout = design.layout
    theta = np.where(allowed, design.theta(weights), -math.inf)
    if math.prod(layout.sizes) <= TABLE_CELLS and len(layout.sizes) <= 30:
        family = TableFamily(list(design.names), layout.sizes, layout.scopes)
        return float(family.spread(theta).max()) - low, "the largest sum of features"
    tables = layout.tables(theta)
    tops = [float(table.max()) for table in tables]
    bound = sum(tops) - low
    depth = max((top - float(t[np.isfinite(t)].min()) for t, top in zip(tables, tops, strict=True)), default=0.0)
    factor = min(1.0, LARGEST_EXPONENT / depth) if depth > 0 else 1.0
    factors = [
        Factor(scope, np.exp(factor * (table - top)))
        for scope, table, top in zip(layout.scopes, tables, tops, strict=True)
    ]
    try:
        found = Inquiry(Product(design.names, layout.sizes, tuple(factors))).most_likely(Given())
    except ModelError:
        return bound, "a bound on the sum of features"
    if found is None:
        return bound, "a bound on the sum of features"
    codes = found[0]
    reached = sum(
        float(table[tuple(codes.get(v, 0) for v in scope)]) for scope, table in zip(layout.scopes, tables, strict=True)
    )
    nearly = reached - low + 1e-9 * max(1.0, abs(reached), abs(low))  # near-ties may hide the very largest
    return min(bound, nearly), "the largest sum of features, by max-product"
