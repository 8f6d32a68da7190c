"""Fits that the audit found refused although their searches had ended: these go on by the certificate's measure."""

from __future__ import annotations

import numpy as np
import pytest
from tests.audit.families import FAMILIES


@pytest.mark.parametrize(
    ("name", "seed", "number"),
    [
        ("EM, tables with a prior", 202, 22),
        ("cliques, Laplace prior", 202, 2),
        ("features, Laplace prior", 202, 8),
        ("features, Laplace prior", 202, 23),
        ("features, Laplace prior", 202, 35),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_search_ends_where_the_certificate_sees_nothing_left(name: str, seed: int, number: int) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    fit = family.draw(np.random.default_rng([seed, number, *name.encode()]))()
    assert fit.certificate.ok
    assert fit.certificate.decrement < 1e-4
    assert not any("Not converged" in note.text for note in fit.notes)
