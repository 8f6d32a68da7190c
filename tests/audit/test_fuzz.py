"""Files with broken contents, a few hundred of every kind; `python -m tests.audit.fuzz` reads as many as one likes."""

from __future__ import annotations

import pytest
from tests.audit.fuzz import READERS, fuzz

N_FILES = {"checkpoint": 120}


@pytest.mark.parametrize("name", READERS)
def test_changed_files_are_refused_or_used_without_harm(name: str) -> None:
    n_files = N_FILES.get(name, 300)
    outcome = fuzz(name, n_files, seed=1)
    assert not outcome.failures, str(outcome)
    assert outcome.used + sum(outcome.refused.values()) == n_files
    assert outcome.used >= n_files // 20, "nearly everything is refused; the changes are too rough"
    assert sum(outcome.refused.values()) >= n_files // 4, "nearly nothing is refused"
