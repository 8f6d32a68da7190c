"""What the fingerprint is made of: pairs of options, records, comparisons in bits and to a tolerance, the summary."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import pytest
from tests.fingerprint import compare, summary
from tests.fingerprint.families import FAMILIES
from tests.fingerprint.family import Family
from tests.fingerprint.pairs import Choice, pairwise
from tests.fingerprint.record import Record

OPTIONS = {"a": ("1", "2", "3"), "b": ("x", "y"), "c": ("p", "q", "r", "s")}


def pairs_of(choices: list[Choice]) -> set[tuple[tuple[str, str], ...]]:
    return {pair for choice in choices for pair in combinations(choice.items(), 2)}


def test_every_two_options_meet_in_few_combinations() -> None:
    chosen = pairwise(OPTIONS, lambda choice: True)
    assert len(pairs_of(chosen)) == 3 * 2 + 3 * 4 + 2 * 4
    assert len(chosen) < 3 * 2 * 4
    assert chosen == pairwise(OPTIONS, lambda choice: True)


def test_options_that_do_not_go_together_never_meet() -> None:
    def allows(choice: Choice) -> bool:
        return not (choice["a"] == "1" and choice["c"] == "q")

    chosen = pairwise(OPTIONS, allows)
    assert all(map(allows, chosen))
    assert len(pairs_of(chosen)) == 25


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_option_of_a_family_occurs(family: Family) -> None:
    occurring = {kind: {choice[kind] for choice in family.cases.values()} for kind in family.options}
    assert occurring == {kind: set(options) for kind, options in family.options.items()}


def fields_of(value: Any) -> dict[str, Any]:
    record = Record()
    record.add("it", value)
    return record.fields


def test_a_record_takes_values_apart() -> None:
    found = fields_of({"m": [[1.0, 2.0], [3.0, math.nan]], "t": "of <f at 0x7f12ab>", "h": "0x1.8p+1", "n": None})
    assert found["it.m"]["shape"] == [2, 2]
    assert found["it.t"] == "of <f at an address>"
    assert found["it.h"] == 3.0
    assert found["it.n"] is None


CHANGES = [
    ([0.1, 0.2], [0.1, math.nextafter(0.2, 1)], None, True),
    ([0.1, 0.2], [0.1, math.nextafter(0.2, 1)], 1e-9, False),
    ([0.1, 0.2], [0.1, 0.2000001], 1e-9, True),
    ([1e-15, 1.0], [3e-15, 1.0], 1e-9, False),
    (0.0, -0.0, None, True),
    (math.nan, math.nan, None, False),
    (math.inf, 1.0, 1e-9, True),
    ([1.0, 2.0], [1.0, 2.0, 3.0], 1e-9, True),
    ("a\nb", "a\nc", 1e-9, True),
    (True, False, 1e-9, True),
    (1, 1.0, None, True),
    ({"a": 1.0}, {"b": 1.0}, 1e-9, True),
]


@pytest.mark.parametrize(("old", "new", "tol", "differs"), CHANGES)
def test_what_differs_is_seen(old: Any, new: Any, tol: float | None, differs: bool) -> None:
    found = compare.differences({"case": fields_of(old)}, {"case": fields_of(new)}, tol)
    assert bool(found) is differs
    assert ("case" in compare.report(found, 1).splitlines()) is differs


def test_a_difference_is_shown_with_both_values() -> None:
    found = compare.differences({"case": fields_of("a\nb")}, {"case": fields_of("a\nc")})
    assert compare.report(found, 7).splitlines()[2:5] == ["  it, line 2", "    - b", "    + c"]
    assert "1 of 7 cases differ" in compare.report(found, 7)


def summarised(value: Any) -> list[str]:
    return summary.lines_of(fields_of(value))


SUMMARIES = [
    ([0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.2, 0.3, 0.4, 0.5 + 1e-12], False),
    ([0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.2, 0.3, 0.4, 0.5 + 1e-8], True),
    ([0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.2, 0.3, 0.5, 0.4], True),
    ([0.1, 0.2], [0.1, math.inf], True),
    ("holds within 3.1e-12 (tolerance 1e-08)", "holds to rounding error (tolerance 1e-08)", False),
    ("holds within 3.1e-12", "holds around 3.1e-12", True),
    (True, False, True),
]


@pytest.mark.parametrize(("old", "new", "differs"), SUMMARIES)
def test_the_summary_sees_changes_above_the_tolerance(old: Any, new: Any, differs: bool) -> None:
    assert bool(summary.unlike(summarised(old), summarised(new))) is differs
