"""The most likely configuration: max-marginals over a junction tree, and the path back down."""

from __future__ import annotations

import math

import numpy as np

from suffice.inference.calibration import Calibrated, Calibrator
from suffice.inference.elimination import joint, log_greatest
from suffice.inference.plan import Ints, Plan
from suffice.inference.product import Evidence, Product

TIED = 1e-9
"""Log-probabilities closer than this are named as tied: they are equal, as far as round-off lets one tell."""
ROUNDING = 1e-12
"""Of states closer than this the first is taken, so that the choice does not hang on the last bit."""


def most_likely(
    product: Product, plan: Plan, codes: Ints
) -> tuple[dict[int, int], float, dict[int, tuple[int, ...]]] | None:
    """Return the codes of all variables that are not observed, log Π φ, and the ties; None if nothing is possible.

    Ties are the variables that have several states among the configurations of greatest probability, with these.
    """
    packed = plan.packed(product.factors)
    found = Calibrator(plan).maximise(packed, codes)
    if found.log_z == -math.inf:
        return None
    best = found.log_z - packed.log_scale
    chosen: dict[int, int] = {}
    for clique in range(len(plan.tree.cliques) - 1, -1, -1):  # from the root down
        members = plan.tree.cliques[clique]
        free = [variable for variable in members if variable not in chosen]
        table = found.clique(clique)[tuple(chosen.get(variable, slice(None)) for variable in members)]
        first = np.unravel_index(int(np.argmax(table >= table.max() - ROUNDING)), table.shape)
        chosen.update(zip(free, map(int, first), strict=True))
    return chosen, found.log_z, _ties(found, best)


def most_likely_one_by_one(
    product: Product, evidence: Evidence
) -> tuple[dict[int, int], float, dict[int, tuple[int, ...]]] | None:
    """Return the same by elimination, a variable at a time: for small products, without any kernel."""
    chosen: dict[int, int] = {}
    ties: dict[int, tuple[int, ...]] = {}
    best = 0.0
    free = [variable for variable in range(len(product.sizes)) if variable not in evidence]
    for variable in free:
        greatest = log_greatest(product, variable, evidence)
        best = float(greatest.max())
        if best == -math.inf:
            return None
        equal = np.flatnonzero(greatest >= best - TIED)
        if len(equal) > 1:
            ties[variable] = tuple(map(int, equal))
            greatest = log_greatest(product, variable, {**evidence, **chosen})
        chosen[variable] = int(np.argmax(greatest >= greatest.max() - ROUNDING))
    if not free:
        best = joint(product, (), evidence)[1]
        return None if best == -math.inf else ({}, best, {})
    return chosen, best, ties


def _ties(found: Calibrated, best: float) -> dict[int, tuple[int, ...]]:
    equal = {v: np.flatnonzero(values >= best - TIED) for v, values in found.singles(greatest=True).items()}
    return {variable: tuple(map(int, codes)) for variable, codes in equal.items() if len(codes) > 1}
