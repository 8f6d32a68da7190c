"""Rows of a table as evidence."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.explore.small_models import mixed, sprinkler

import suffice as sf
from suffice.explore import Answering
from suffice.explore import rows as rows_module
from suffice.explore.question import RequestError

TABLE = {"slippery": ["yes", None, "maybe"], "rain": ["no", "yes", "yes"], "colour": ["r", "g", "b"]}


def test_rows_are_evidence_by_node() -> None:
    answering = Answering(sprinkler(), data=TABLE)
    rain, slippery = answering.names.index("rain"), answering.names.index("slippery")
    found = answering.rows(0, 10)
    assert found["total"] == 3
    assert found["rows"][0] == {"hard": {rain: 1, slippery: 0}, "values": {}}
    assert found["rows"][1] == {"hard": {rain: 0}, "values": {}, "missing": [slippery]}
    assert found["rows"][2] == {"hard": {rain: 0}, "values": {}, "unknown": [slippery]}
    assert found["notes"] == ["Columns that are no variables of the model are left out: ['colour']."]
    assert answering.rows(1, 1)["rows"] == found["rows"][1:2]
    assert answering.rows(3, 1)["rows"] == []
    for row in found["rows"]:
        question = {"hard": row["hard"], "values": row["values"]}
        assert answering.answer(question)["logEvidence"] is not None


def test_rows_of_numbers_are_values() -> None:
    data = {"sex": ["f", None], "weight": [61.5, float("nan")], "effect": [None, 7.25]}
    answering = Answering(mixed(), data=data)
    place = {name: node for node, name in enumerate(answering.names)}
    first, second = answering.rows(0, 2)["rows"]
    assert first == {"hard": {place["sex"]: 0}, "values": {place["weight"]: 61.5}, "missing": [place["effect"]]}
    missing = second.pop("missing")
    assert second == {"hard": {}, "values": {place["effect"]: 7.25}}
    assert sorted(missing) == sorted([place["sex"], place["weight"]])


def test_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("rain,wet\nyes,no\n,yes\n")
    answering = Answering(sprinkler(), data=str(tmp_path / "t.csv"))
    rows = answering.rows(0, 5)["rows"]
    rain, wet = answering.names.index("rain"), answering.names.index("wet")
    assert [row["hard"] for row in rows] == [{rain: 0, wet: 1}, {wet: 0}]


def test_tables_are_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rows_module, "MOST_ROWS", 5)
    (tmp_path / "t.csv").write_text("rain\n" + "yes\n" * 9)
    for data in ({"rain": ["yes"] * 9}, str(tmp_path / "t.csv")):
        found = Answering(sprinkler(), data=data).rows(0, 100)
        assert len(found["rows"]) == found["total"] == 5
        assert found["notes"] == ["Only the first 5 rows are here."]
    exactly = Answering(sprinkler(), data={"rain": ["yes"] * 5}).rows(0, 100)
    assert exactly["total"] == 5
    assert exactly["notes"] == []


def test_a_table_without_variables_is_refused() -> None:
    with pytest.raises(sf.ArgumentError, match="no column of evidence"):
        Answering(sprinkler(), data={"colour": ["r"]})


def test_a_table_without_rows_has_none(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("rain\n")
    assert Answering(sprinkler(), data=str(tmp_path / "t.csv")).rows(0, 1)["total"] == 0


@pytest.mark.parametrize(("start", "count"), [(-1, 1), (0, 0), (0.0, 1), ("0", 1), (True, 1)])
def test_malformed_requests_are_refused(start: object, count: object) -> None:
    with pytest.raises(RequestError):
        Answering(sprinkler(), data=TABLE).rows(start, count)
