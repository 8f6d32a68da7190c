"""The reference oracle: everything by writing out the whole joint table, in logarithms. Slow, small, and right."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ModelError
from suffice.inference.product import Evidence, Product

MAX_CELLS = 2**22


def log_joint(product: Product, evidence: Evidence | None = None) -> NDArray[np.float64]:
    """Return log Π φ(x) of every configuration, −inf where it contradicts the evidence; one axis a variable."""
    if math.prod(product.sizes) > MAX_CELLS:
        raise ModelError(
            f"The joint table of {len(product.sizes)} variables has {math.prod(product.sizes):,} cells; brute force is "
            f"for at most {MAX_CELLS:,}. Use query."
        )
    table = np.zeros(product.sizes)
    with np.errstate(divide="ignore"):
        for factor in product.factors:
            table = table + np.log(factor.over(product.sizes))
    for variable, code in (evidence or {}).items():
        other = np.arange(product.sizes[variable]) != code
        table[(slice(None),) * variable + (other,)] = -np.inf
    return table


def log_sum(values: NDArray[np.float64]) -> float:
    """Return log Σ exp of all values."""
    top = float(values.max())
    return top if top == -np.inf else top + math.log(float(np.exp(values - top).sum()))


def log_evidence(product: Product, evidence: Evidence | None = None) -> float:
    """Return log Σ Π φ(x) over the configurations that agree with the evidence; without any, log Z."""
    return log_sum(log_joint(product, evidence))


def marginal(product: Product, targets: Sequence[int], evidence: Evidence | None = None) -> NDArray[np.float64]:
    """Return p(x_targets | evidence); one axis a target, in the order asked for."""
    joint = log_joint(product, evidence)
    total = log_sum(joint)
    if total == -np.inf:
        raise ModelError("The evidence is impossible: no configuration agrees with it.")
    probability = np.exp(joint - total)
    kept = probability.sum(axis=tuple(axis for axis in range(probability.ndim) if axis not in targets))
    place = {variable: axis for axis, variable in enumerate(sorted(targets))}
    return np.asarray(kept.transpose([place[variable] for variable in targets]))


def most_likely(product: Product, evidence: Evidence | None = None) -> tuple[list[tuple[int, ...]], float]:
    """Return all configurations of greatest probability, to round-off, and their log Π φ."""
    joint = log_joint(product, evidence)
    best = float(joint.max())
    if best == -np.inf:
        raise ModelError("The evidence is impossible: no configuration agrees with it.")
    return [tuple(map(int, row)) for row in np.argwhere(joint >= best - 1e-9)], best


def entropy(product: Product) -> float:
    """Return −Σ p log p, in nats."""
    joint = log_joint(product)
    log_p = joint - log_sum(joint)
    held = log_p > -np.inf
    return -float((np.exp(log_p[held]) * log_p[held]).sum())


def divergence(product: Product, other: Product) -> float:
    """Return Σ p log p/q, in nats."""
    first, second = log_joint(product), log_joint(other)
    first, second = first - log_sum(first), second - log_sum(second)
    held = first > -np.inf
    return float((np.exp(first[held]) * (first[held] - second[held])).sum())
