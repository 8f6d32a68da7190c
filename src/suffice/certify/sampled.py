"""Proof of a fit by sampling: expectations from fresh chains, with their Monte-Carlo errors."""

from __future__ import annotations

from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim


def certify(claim: Claim) -> Certificate:
    """Estimate the expectations anew."""
    raise NotImplementedError
