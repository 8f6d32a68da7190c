"""Fits that the audit found refused although their searches had ended: these go on by the certificate's measure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.audit.families import FAMILIES
from tests.audit.family import audit_family, certify_as_claimed, drawn, has_converged, limit_of


@pytest.mark.parametrize(
    ("name", "seed", "number"),
    [
        ("EM, tables with a prior", 202, 22),
        ("cliques, Laplace prior", 202, 2),
        ("features, Laplace prior", 202, 8),
        ("features, Laplace prior", 202, 23),
        ("features, Laplace prior", 202, 35),
        ("softmax regression, L1", 303, 116),  # a direction that 132 of 10¹¹ rows determine
        ("features given inputs, normal prior", 303, 74),  # a combination of features that vary little
        ("features given inputs, normal prior", 303, 108),  # probabilities less than the smallest float
        ("MEMM", 303, 55),
        ("chain CRF, L1", 303, 42),
        ("graph CRF, L1", 303, 86),
        ("features, Laplace prior", 404, 95),  # along a relation between features only the prior changes
        ("features, Laplace prior", 404, 110),
        ("features, Laplace prior", 303, 145),  # of which one Newton step does not see the end
        ("softmax regression, L1", 404, 236),
        ("softmax regression, L1", 505, 56),
        ("graph CRF, L1", 404, 7),
        ("graph CRF, L1", 404, 51),
        ("graph CRF, L1", 606, 21),
        ("graph CRF, L1", 606, 65),
        ("chain CRF, L1", 606, 107),
        ("chain CRF, L1", 909, 30),  # values that are differences of much larger numbers
        ("chain CRF, L1", 1011, 181),  # relations that only exact products with the Hessian show
        ("features given inputs, Laplace prior", 2027, 83),  # features that vary little, given the inputs
        ("Gaussian Markov", 2027, 69),  # 2·10¹² rows make nats of correlations that agree within 10⁻⁹
        ("chain CRF, L1", 7001, 202),  # values of both signs, whose rounding errors are larger than their sums say
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_search_ends_where_the_certificate_sees_nothing_left(name: str, seed: int, number: int) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    _, fit, _ = drawn(family, seed, number)
    assert fit.certificate.ok
    assert fit.certificate.decrement is not None
    assert fit.certificate.decrement < 1e-4
    assert has_converged(fit)


@pytest.mark.filterwarnings("ignore")
def test_a_shift_of_the_weights_of_all_classes_is_seen_among_very_many_rows() -> None:
    family = next(family for family in FAMILIES if family.name == "softmax regression, L1")
    claim, fit, rng = drawn(family, 2027, 92)
    assert fit.certificate.ok
    family.perturb(rng, claim)
    changed = family.perturb(rng, claim)
    assert changed is not None
    model, text = changed
    assert "along a relation" in text
    cost, found = family.cost(claim, model), certify_as_claimed(claim, model)
    assert cost > limit_of(claim)
    assert found.decrement == pytest.approx(cost)
    assert not found.ok


@pytest.mark.parametrize(("method", "number"), [("cg", 6), ("cg", 4), ("gradient", 2), ("gradient", 5)])
@pytest.mark.filterwarnings("ignore")
def test_searches_along_the_gradient_end_there_too(method: str, number: int) -> None:
    name = "features given inputs"
    family = next(family for family in FAMILIES if family.name == name)
    fit = partial(family.draw(np.random.default_rng([1, number, *name.encode()])), method=method)()
    assert fit.certificate.ok
    assert has_converged(fit)


def test_fits_that_say_that_they_did_not_converge_are_counted_apart() -> None:
    family = next(family for family in FAMILIES if family.name == "cliques")
    short = replace(family, draw=lambda rng: partial(family.draw(rng), method="gradient", max_iter=2))
    tally = audit_family(short, 2, 1, seed=1)
    assert (tally.fits, tally.refused, tally.unfinished, tally.faults) == (2, 0, 2, [])
    assert all("says so" in remark for remark in tally.remarks)
