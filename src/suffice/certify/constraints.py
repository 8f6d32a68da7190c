"""What a network must keep whatever the data: distributions that an expert gave, and equal ones of tied nodes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from suffice.certify.claim import Claim
from suffice.certify.violation import Violation
from suffice.models.cpds import CPD, Nodes, given_in

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.structures.dag import DAG


def constraint_violation(claim: Claim[DAG, BayesianNetwork], group: tuple[str, ...], nodes: Nodes) -> Violation | None:
    """Return where nodes that share one distribution break what was given or tied; None where they keep all of it."""
    given = given_in(group, claim.fixed, nodes)
    lead = claim.model.cpd(group[0])
    for node in group:
        cpd, (kind, _) = claim.model.cpd(node), nodes[node]
        if given is not None and not _equal(kind.fix(cpd, given)[0], cpd):
            return Violation(math.inf, f"{node!r}, where a given row was changed")
        if not _equal(cpd, lead):
            return Violation(math.inf, f"node {node!r}, which is tied and differs")
    return None


def _equal(first: CPD, second: CPD) -> bool:
    mine, other = first.to_dict(), second.to_dict()
    return mine.keys() == other.keys() and all(
        np.array_equal(np.asarray(mine[key], float), np.asarray(other[key], float), equal_nan=True) for key in mine
    )
