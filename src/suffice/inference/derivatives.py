"""How an answer changes with the entries of the tables: exact derivatives of p(x_targets | evidence)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from suffice.graph.elimination import bits
from suffice.inference import elimination
from suffice.inference.calibration import Calibrated, calibrate
from suffice.inference.inquiry import Given
from suffice.inference.plan import Plan
from suffice.inference.product import Factor, Product
from suffice.types import Floats


def gradients(product: Product, event: Mapping[int, int], given: Given) -> tuple[float, dict[int, Floats]] | None:
    """Return p(event | evidence) and its derivative to every entry of the tables that matter.

    Entries are free here: that rows sum to one is left to whoever changes them. With Q = p(event, evidence) and
    E = p(evidence), the derivative of Q/E is (∂Q − (Q/E) ∂E) / E, and ∂E to an entry is the sum over everything that
    agrees with the entry and the evidence, of the product of all other tables. None when the evidence is impossible.
    """
    seen, both = dict(given.hard), {**given.hard, **event}
    mask = 0
    for variable in (*both, *given.soft):
        mask |= product.above[variable]
    whole = _without(product, mask).with_factors(given.factors())
    below, above = _DerivativeSums(whole, seen), _DerivativeSums(whole, both)
    if below.log_total == -math.inf:
        return None
    value = math.exp(above.log_total - below.log_total)
    return value, {
        node: above.relative(node, below.log_total) - value * below.relative(node, below.log_total)
        for node in bits(mask)
    }


def _without(product: Product, mask: int) -> Product:
    """Return the product with the tables of barren nodes, those outside ``mask``, cut off: they sum to one anyway."""
    factors = [
        factor if mask >> node & 1 else Factor((node,), np.full(product.sizes[node], 1 / product.sizes[node]))
        for node, factor in enumerate(product.factors)
    ]
    return replace(product, factors=tuple(factors))


class _DerivativeSums:
    """The sums that derivatives consist of, for one set of evidence."""

    def __init__(self, product: Product, evidence: Mapping[int, int]) -> None:
        self.product, self.evidence = product, evidence
        plan = Plan.of(product, evidence)
        self._found: Calibrated = calibrate(
            plan, plan.packed(product.factors), Given(evidence).codes(len(product.sizes))
        )
        self.log_total = self._found.log_z

    def relative(self, node: int, log_unit: float) -> Floats:
        """Return ∂p(evidence)/∂θ of a node's table over exp(log_unit); zero where an entry contradicts the evidence."""
        factor = self.product.factors[node]
        slices = tuple(self.evidence.get(variable, slice(None)) for variable in factor.scope)
        free = tuple(variable for variable in factor.scope if variable not in self.evidence)
        table = factor.values[slices]
        marginal = self._found.marginal(free) if (table > 0).all() and self.log_total > -math.inf else None
        result = np.zeros(factor.values.shape)
        if marginal is not None:
            result[slices] = marginal / table * math.exp(self.log_total - log_unit)
        else:  # where the table has zeros, it cannot be divided out: sum without it
            others = list(self.product.factors)
            others[node] = Factor((node,), np.ones(self.product.sizes[node]))
            rest, log_scale = elimination.joint(replace(self.product, factors=tuple(others)), free, dict(self.evidence))
            result[slices] = rest * math.exp(log_scale - log_unit) if log_scale > -math.inf else 0.0
        return result
