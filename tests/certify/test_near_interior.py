"""Steps towards targets near the moments of a distribution: their size is that of the solution of Cov v = gap."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.certify.near_interior import is_near_interior


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("reach", "near"), [(0.4, True), (0.6, False)])
def test_targets_are_near_where_the_step_is_short(reach: float, near: bool, exact: bool) -> None:
    """The rough inverse guides the steps, and does not change their end."""
    rng = np.random.default_rng(4)
    root = rng.normal(size=(5, 5))
    covariance, spread = root @ root.T / 50 + np.eye(5) / 100, rng.uniform(1, 3, 5)
    v = rng.normal(size=5)
    v *= reach / np.abs(v).dot(spread)
    rough = np.linalg.inv(covariance) if exact else np.diag(1 / np.diag(covariance)) * 7
    found = is_near_interior(covariance @ v, lambda way: covariance @ way, lambda gap: rough @ gap, spread)
    assert found is near
