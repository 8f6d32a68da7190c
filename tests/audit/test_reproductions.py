"""Reproductions of defects that were mended, those that are quick; `python -m tests.audit.reproductions` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.cases import Case, sizes_and_files, wrong_with
from tests.audit.reproductions import chosen, run_apart

import suffice as sf

SLOW = ("60,000", "10^4 latent", "order 1000", "3^16 cliques", "CSV file of 10^5")
QUICK = [case for case in sizes_and_files.CASES if not case.name.startswith(SLOW) and not case.name.endswith(SLOW)]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in QUICK])
def test_quick_case_is_as_wanted(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert wrong_with(case) is None


def test_case_is_run_in_a_process_of_its_own() -> None:
    (case,) = chosen("feature of 10^400")
    assert run_apart(case, seconds=60, gigabytes=3.0) is None


@pytest.mark.parametrize(
    ("case", "found"),
    [
        (Case("returns", lambda: 1, 1), None),
        (Case("returns another", lambda: 2, 1), "returned 2, where 1 was wanted"),
        (Case("does not raise", lambda: 2, sf.DataError), "returned 2, where DataError was wanted"),
        (Case("raises", lambda: sf.SQL(""), sf.ArgumentError, ("query",)), None),
        (Case("raises other words", lambda: sf.SQL(""), sf.ArgumentError, ("quarry",)), "the message lacks 'quarry'"),
        (Case("raises another", lambda: 1 / 0, sf.SufficeError), "raised ZeroDivisionError"),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else "",
)
def test_what_is_not_as_wanted_is_told(case: Case, found: str | None) -> None:
    wrong = wrong_with(case)
    assert (wrong or "").startswith(found or "")
    assert (wrong is None) == (found is None)
