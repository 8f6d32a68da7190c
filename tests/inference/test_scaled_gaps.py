"""Gaps are measured in units that the scale of a feature does not change."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.inference.scaled_gaps import feature_gaps


@pytest.mark.parametrize("total", [100.0, 1e12])
@pytest.mark.parametrize("scale", [1e-6, 0.5, 1e6])
def test_the_scale_of_a_feature_changes_no_gap(scale: float, total: float) -> None:
    gaps, spread, variance = np.array([1e-9, -3e-7]), np.array([1.0, 4.0]), np.array([0.2, 1e-3])
    plain = feature_gaps(gaps, spread, variance, total)
    np.testing.assert_allclose(feature_gaps(scale * gaps, scale * spread, scale**2 * variance, total), plain)


def test_a_feature_that_is_constant_has_its_gap_as_it_is() -> None:
    assert feature_gaps(np.array([1e-9]), np.zeros(1), np.zeros(1), 100.0).tolist() == [1e-9]
