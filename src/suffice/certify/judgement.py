"""Judging a claim: what was measured of it, with a second count of the data where that is at hand."""

from __future__ import annotations

import math
from dataclasses import replace

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.recount import recount_gap


def judged(claim: Claim, measured: Measured) -> Certificate:
    """Count the data again if the claim brings it, and judge all that was measured."""
    if claim.source is not None:
        gap, worst = recount_gap(claim.source, claim.statistics)
        measured = replace(measured, data_gap=gap, data_worst=worst)
    return verdict(measured, claim.log_likelihood, claim.tol, claim.interrupted)


def unfit(claim: Claim, words: str, fault: str, normalisation: float = math.nan) -> Certificate:
    """Judge a model of which nothing can be measured, since it is not one of the structure or of the statistics."""
    return verdict(Measured(words, math.inf, fault, math.nan, normalisation), claim.log_likelihood, claim.tol)
