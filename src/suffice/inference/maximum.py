"""The most likely configuration: max-marginals over a junction tree, and the path back down."""

from __future__ import annotations

import math

import numpy as np

from suffice.inference.calibration import Calibrated, Calibrator
from suffice.inference.plan import Plan
from suffice.inference.product import Product
from suffice.types import Ints

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


def _ties(found: Calibrated, best: float) -> dict[int, tuple[int, ...]]:
    equal = {v: np.flatnonzero(values >= best - TIED) for v, values in found.singles(greatest=True).items()}
    return {variable: tuple(map(int, codes)) for variable, codes in equal.items() if len(codes) > 1}
