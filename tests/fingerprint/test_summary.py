"""The committed summary of the fingerprint holds: every case gives what it gave, to 1e-9."""

from __future__ import annotations

import pytest
from tests.fingerprint import summary
from tests.fingerprint.families import FAMILIES
from tests.fingerprint.family import Family
from tests.fingerprint.run import run_all

EXPECTED = summary.parsed(summary.PATH.read_text(encoding="utf-8"))
FEW = 2
"""Cases of each family that every run of the tests takes: spread evenly over its cases."""


def check(names: list[str]) -> None:
    """Run cases as `make fingerprint` does, in a process of their own, and compare what they gave with the summary."""
    found = run_all(names, threads=1, processes=1)
    wrong = {name: summary.unlike(EXPECTED[name], summary.lines_of(found[name])) for name in names}
    told = "\n".join(f"{name}\n" + "\n".join(lines) for name, lines in wrong.items() if lines)
    assert not told, f"{told}\n\nmake fingerprint-check BASE=… shows it in full; make fingerprint UPDATE=1 accepts it."


def test_every_case_is_in_the_summary() -> None:
    names = [name for family in FAMILIES for name in family.cases]
    assert len(names) >= 600
    assert names == list(EXPECTED)


def test_a_few_cases() -> None:
    by_family = [list(family.cases) for family in FAMILIES]
    check([name for names in by_family for name in names[1 :: max(1, len(names) // FEW)][:FEW]])


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_all_cases(family: Family) -> None:
    check(list(family.cases))
