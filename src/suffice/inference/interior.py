"""The proof that a positive table with given margins exists, from a member of the family that nearly has them."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from suffice.inference.clique_family import Layout
from suffice.types import Floats

ROUNDING = 1e-13
"""Margins of distributions are known better than this."""


class Near(Protocol):
    """A distribution near a match."""

    @property
    def expected(self) -> Floats:
        """Its margins, flat."""

    def least(self) -> list[tuple[tuple[int, ...], float]]:
        """Return the cliques of a junction tree, each with the least probability of a configuration."""


def has_positive_match(point: Near, layout: Layout, targets: Floats) -> bool:
    """Whether some table that is positive everywhere certainly has the margins ``targets``; False may mean unknown.

    Then the maximum-likelihood estimate exists. The point must give every configuration a positive probability, and
    the margins must be those of one table.

    Notes
    -----
    The gaps δ_C between targets and margins are spread over the joint table as q(x) = Σ_A D_A(x_A) / cells, the sum of
    their sum-to-zero parts, whose margins are just the gaps. On a clique K of a junction tree, |q_K| · cells_K is at
    most Σ_C (3^|C ∩ K| − 1) cells_C max |δ_C|. Where p_K is larger everywhere, p_K + q_K are positive and agree with
    each other, so that their junction tree is a positive distribution with the margins wanted.
    """
    gaps = [
        (float(np.abs(gap).max(initial=0.0)) + ROUNDING) * gap.size for gap in layout.tables(targets - point.expected)
    ]
    holding: list[list[int]] = [[] for _ in layout.sizes]
    for number, scope in enumerate(layout.scopes):
        for variable in scope:
            holding[variable].append(number)
    for clique, least in point.least():
        shared: dict[int, int] = {}
        for variable in clique:
            for number in holding[variable]:
                shared[number] = shared.get(number, 0) + 1
        reach = sum((3.0**n - 1) * gaps[number] for number, n in shared.items())
        if not least * math.prod(layout.sizes[variable] for variable in clique) > reach:
            return False
    return True
