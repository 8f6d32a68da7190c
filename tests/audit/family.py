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
from suffice.certify import Certificate, Claim, certify, examined

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
    """What came out for one family."""

    fits: int = 0
    refused: int = 0
    tried: int = 0
    costly: int = 0
    certified: int = 0
    faults: list[str] = dataclasses.field(default_factory=list)


@contextmanager
def claims_kept() -> Iterator[list[Claim]]:
    """Keep the claims that fits make of themselves."""
    held: list[Claim] = []

    def keep(claim: Claim, *, keep: bool) -> Certificate:
        held.append(claim)
        return examined(claim, keep=keep)

    with mock.patch.object(suffice.solving, "examined", keep):
        yield held


def limit_of(claim: Claim) -> float:
    """Return what a certified model may cost at most, in the units of its family's ``cost``."""
    return SDS if claim.point == "mean" and not claim.incomplete else NATS


def certify_as_claimed(claim: Claim, model: Any) -> Certificate:
    """Certify a model that claims its own log-likelihood."""
    first = certify(dataclasses.replace(claim, model=model, trace=(), starts=()))
    return certify(dataclasses.replace(claim, model=model, trace=(), starts=(), log_likelihood=first.log_likelihood))


def audit_family(family: AuditFamily, n_fits: int, n_perturbations: int, seed: int) -> Tally:
    """Draw fits and change them; every fit is drawn from the seed, the family's name and its number."""
    tally = Tally()
    for number in range(n_fits):
        rng = np.random.default_rng([seed, number, *family.name.encode()])
        where = f"{family.name}, seed {seed}, fit {number}"
        with claims_kept() as held:
            family.draw(rng)()
        claim = held[-1]
        tally.fits += 1
        found = certify(claim)
        if not found.ok:
            tally.refused += 1
            tally.faults.append(f"{where}: refused. {found.verdict}")
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
