"""The verdict on what was measured: too large a number, and what is not a number at all, is never certified."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from suffice.certify.certificate import Measured, verdict
from suffice.certify.violation import Violation

PROPER = Measured("an estimate", 0.0, "no node", -10.0, 0.0, data_gap=0.0, descent=0.0, z_drift=0.0)
SAMPLED = replace(PROPER, residual=0.5, z=1.0, z_limit=3.0)
FAULTS = {
    "residual": "the first-order condition is violated by",
    "normalisation": "misses its total of one by",
    "log_likelihood": "the log-likelihood, recomputed, differs by",
    "data_gap": "a second count of the data differs by",
    "descent": "a step lowered the objective by",
    "z_drift": "log Z changed by",
}


def test_proper_numbers_are_certified() -> None:
    assert verdict(PROPER, -10.0, 1e-8).ok
    assert verdict(SAMPLED, -10.0, 1e-8).ok


@pytest.mark.parametrize("number", [math.nan, math.inf, 1e-6])
@pytest.mark.parametrize("name", FAULTS)
def test_each_number_counts(name: str, number: float) -> None:
    found = verdict(replace(PROPER, **{name: number}), -10.0, 1e-8)
    assert not found.ok
    assert found.verdict.startswith("Not certified as an estimate: ")
    assert FAULTS[name] in found.verdict
    assert ";" not in found.verdict  # nothing else is wrong


@pytest.mark.parametrize("changes", [{"z": math.nan}, {"z": math.inf}, {"z": 3.5}, {"z_limit": math.nan}])
def test_monte_carlo_errors_count(changes: dict[str, float]) -> None:
    found = verdict(replace(SAMPLED, **changes), -10.0, 1e-8)
    assert not found.ok
    assert "Monte-Carlo errors" in found.verdict


def test_a_log_likelihood_that_is_not_a_number_is_rejected_unless_that_is_what_was_claimed() -> None:
    assert not verdict(PROPER, math.nan, 1e-8).ok
    assert verdict(replace(PROPER, log_likelihood=math.nan), math.nan, 1e-8).ok


def test_a_violation_that_is_not_a_number_is_the_largest() -> None:
    found = Violation().or_larger(0.5, "x").or_larger(math.nan, "y")
    assert found == Violation(math.inf, "y")
    assert found.or_larger(0.0, "z") == found
    assert found.or_larger(1e300, "z") == found
