"""A few fits of every family: correct ones are certified, and none that costs more than it may."""

from __future__ import annotations

import pytest
from tests.audit.families import FAMILIES
from tests.audit.family import AuditFamily, audit_family

FITS, PERTURBATIONS = 2, 6


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.filterwarnings("ignore")
def test_correct_fits_are_certified_and_costly_changes_are_not(family: AuditFamily) -> None:
    tally = audit_family(family, FITS, PERTURBATIONS, seed=1)
    assert tally.fits == FITS
    assert tally.faults == []
