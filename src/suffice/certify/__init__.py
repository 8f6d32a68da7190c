"""Proof: the first-order condition of what a fit claims, computed by a path that the fitter did not use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suffice.certify import directed, enumeration
from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim
from suffice.structures.dag import DAG
from suffice.structures.hypotheses import Hypotheses

CERTIFIERS: dict[type[Any], Callable[[Claim], Certificate]] = {
    DAG: directed.certify,
    Hypotheses: enumeration.certify,
}


def certify(claim: Claim) -> Certificate:
    """Examine what a fit claims."""
    return CERTIFIERS[type(claim.structure)](claim)


__all__ = ["CERTIFIERS", "Certificate", "Claim", "certify"]
