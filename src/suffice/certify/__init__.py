"""Proof: the first-order condition of what a fit claims, computed by a path that the fitter did not use."""

from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim

__all__ = ["Certificate", "Claim"]
