"""One family of models in the audit, and how its fits are drawn, changed and judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

import suffice.solving
from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim
from suffice.families.proof import certify, examined
from suffice.result.fit import Fit, fit_type
from suffice.structures.structure import Structure

NATS, SDS = 1e-3, 0.1
"""What a certified fit may cost at most: nats of its objective, or standard deviations of its posterior."""


@dataclass(frozen=True)
class AuditFamily:
    """A family of models.

    Attributes
    ----------
    name : str
    draw : callable
        From a random generator to a function without arguments that makes a fit, such as
        ``partial(sf.fit, structure, data, weights=…)``.
    perturb : callable
        From a random generator and a claim to a model with one parameter changed and a description of the change; None
        where nothing could be changed. The claim has the structure, the statistics and the fitted model.
    cost : callable
        From a claim and a changed model to what the change costs, computed without the certifier: in nats of the
        objective, or in posterior standard deviations where the claim is a posterior mean (see `limit_of`).
    """

    name: str
    draw: Callable[[np.random.Generator], Callable[[], Any]]
    perturb: Callable[[np.random.Generator, Claim], tuple[Any, str] | None]
    cost: Callable[[Claim, Any], float]


@dataclass
class Tally:
    """What came out for one family.

    Attributes
    ----------
    fits : int
    refused : int
        Correct fits that were not certified although their search had converged: a fault.
    unfinished : int
        Fits that were not certified, and say themselves that their search did not converge.
    tried, costly, certified : int
        Changes, those that cost more than they may, and those among them that were certified: a fault.
    faults, remarks : list of str
        What was wrong; and which fits were unfinished.
    """

    fits: int = 0
    refused: int = 0
    unfinished: int = 0
    tried: int = 0
    costly: int = 0
    certified: int = 0
    faults: list[str] = dataclasses.field(default_factory=list)
    remarks: list[str] = dataclasses.field(default_factory=list)


@contextmanager
def fits_kept() -> Iterator[list[tuple[Claim, Fit]]]:
    """Keep fits and the claims that they make of themselves, also where an estimator returns itself."""
    claims: list[Claim] = []
    held: list[tuple[Claim, Fit]] = []

    def examine(claim: Claim, *, keep: bool) -> Certificate:
        claims.append(claim)
        return examined(claim, keep=keep)

    def maker(structure: Structure) -> Callable[..., Fit]:
        def make(**parts: Any) -> Fit:
            held.append((claims[-1], fit_type(structure)(**parts)))
            return held[-1][1]

        return make

    with mock.patch.object(suffice.solving, "examined", examine), mock.patch.object(suffice.solving, "fit_type", maker):
        yield held


def has_converged(fit: Fit) -> bool:
    """Whether no note of a fit says that its search did not converge."""
    return not any("Not converged" in note.text for note in fit.notes)


def drawn(family: AuditFamily, seed: int, number: int) -> tuple[Claim, Fit, np.random.Generator]:
    """Return a fit, which is drawn from the seed, the family's name and its number; and the generator after that."""
    rng = np.random.default_rng([seed, number, *family.name.encode()])
    with fits_kept() as held:
        family.draw(rng)()
    return *held[-1], rng


def limit_of(claim: Claim) -> float:
    """Return what a certified model may cost at most, in the units of its family's ``cost``."""
    return SDS if claim.point == "mean" and not claim.incomplete else NATS


def certify_as_claimed(claim: Claim, model: Any) -> Certificate:
    """Certify a model that claims its own log-likelihood."""
    first = certify(dataclasses.replace(claim, model=model, trace=(), starts=()))
    return certify(dataclasses.replace(claim, model=model, trace=(), starts=(), log_likelihood=first.log_likelihood))


def audit_family(family: AuditFamily, n_fits: int, n_perturbations: int, seed: int) -> Tally:
    """Draw fits and change them."""
    tally = Tally()
    for number in range(n_fits):
        where = f"{family.name}, seed {seed}, fit {number}"
        claim, fit, rng = drawn(family, seed, number)
        tally.fits += 1
        found = certify(claim)
        if not found.ok and has_converged(fit):
            tally.refused += 1
            tally.faults.append(f"{where}: refused. {found.verdict}")
            continue
        if not found.ok:
            tally.unfinished += 1
            tally.remarks.append(f"{where}: did not converge, and says so. {found.verdict}")
            continue
        for _ in range(n_perturbations):
            changed = family.perturb(rng, claim)
            if changed is None:
                continue
            model, said = changed
            cost = family.cost(claim, model)
            tally.tried += 1
            if cost <= limit_of(claim):
                continue
            tally.costly += 1
            if certify_as_claimed(claim, model).ok:
                tally.certified += 1
                tally.faults.append(f"{where}: certified although it costs {cost:.4g}. {said}")
    return tally
