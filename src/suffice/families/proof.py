"""Proof of what a fit claims, by the certifier of its family."""

from __future__ import annotations

from suffice.certify import observed
from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim
from suffice.families import family_of


def examined(claim: Claim, *, keep: bool) -> Certificate:
    """Examine what a fit claims; ``keep`` says that what was learnt is not thrown away if Ctrl-C ends the proof."""
    try:
        return certify(claim)
    except KeyboardInterrupt:
        if not keep:
            raise
        return _unproven(claim)


def _unproven(claim: Claim) -> Certificate:
    """Return the certificate of a fit whose proof was interrupted: nothing was measured."""
    nan = float("nan")
    return Certificate(
        ok=False,
        claim="unproven",
        gradient_norm=nan,
        worst="",
        log_likelihood=nan,
        log_likelihood_gap=nan,
        normalisation=nan,
        exists="undecided",
        verdict="Not certified: the proof was interrupted, after learning had ended. Fit once more to have it proven.",
        tol=claim.tol,
    )


def certify(claim: Claim) -> Certificate:
    """Examine what a fit claims."""
    family = family_of(claim.structure)
    if not claim.incomplete:
        return family.certify(claim)
    assert family.measure_observed is not None
    return observed.certify(claim, family.measure_observed)
