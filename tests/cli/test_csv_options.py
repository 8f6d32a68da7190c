"""Files without a header and with loose lines, in all commands that read tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import bad, good

LOOSE = "# a survey\n x, 1 ,u\n y, 2,v\nx,1 , v\n ?, 2,u\n"
TIDY = "A,B,C\nx,1,u\ny,2,v\nx,1,v\n?,2,u\n"
OPTIONS = ("--names", "A,B,C", "--skip", "1", "--trim")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work beside one table, written loosely and tidily."""
    monkeypatch.chdir(tmp_path)
    Path("loose.csv").write_text(LOOSE)
    Path("tidy.csv").write_text(TIDY)
    return tmp_path


def both(*call: str) -> tuple[str, str]:
    """Run a command on both tables, in place of TABLE."""
    loose = [text.replace("TABLE", "loose.csv") for text in call]
    tidy = [text.replace("TABLE", "tidy.csv") for text in call]
    return good(*loose, *OPTIONS), good(*tidy)


def test_models_of_both_files_are_the_same() -> None:
    good("fit", "A -> B", "loose.csv", "--missing", "drop", *OPTIONS, "--out", "loose.json")
    good("fit", "A -> B", "tidy.csv", "--missing", "drop", "--out", "tidy.json")
    assert json.loads(Path("loose.json").read_text()) == json.loads(Path("tidy.json").read_text())
    loose, tidy = both("score", "tidy.json", "TABLE", "--missing", "drop")
    assert loose == tidy


def test_plans_of_both_files_are_the_same() -> None:
    loose, tidy = both("info", "B -> C", "TABLE")
    assert loose == tidy
    assert "free parameters" in loose


def test_classifiers_of_both_files_are_the_same() -> None:
    call = ["--target", "C", "--missing", "available"]
    good("classify", "fit", "loose.csv", *call, *OPTIONS, "--out", "loose.json")
    good("classify", "fit", "tidy.csv", *call, "--out", "tidy.json")
    assert json.loads(Path("loose.json").read_text()) == json.loads(Path("tidy.json").read_text())
    loose, tidy = both("classify", "predict", "tidy.json", "TABLE", "--json")
    assert loose == tidy


def test_options_go_with_a_separator() -> None:
    Path("semicolons.csv").write_text(LOOSE.replace(",", ";"))
    said = good("fit", "B", "semicolons.csv", "--separator", ";", *OPTIONS)
    assert said == good("fit", "B", "loose.csv", *OPTIONS).replace("loose.csv", "semicolons.csv")


@pytest.mark.parametrize("names", ["", "A,,C", "A\nB"])
def test_names_that_cannot_be_read_are_refused(names: str) -> None:
    assert "--names 'a,\"b,c\"'" in bad("fit", "A", "loose.csv", "--names", names)


def test_remedies_are_said_as_options() -> None:
    assert "leave it out: --skip 1." in bad("fit", "B", "loose.csv", "--names", "A,B,C")
    assert "so --skip 9 is more than there are" in bad("fit", "B", "loose.csv", "--skip", "9")
    assert "column 'A' occurs more than once in --names" in bad("fit", "A", "loose.csv", "--names", "A,A,C")
    assert "must be a whole number, at least 0. Got -1" in bad("fit", "A", "loose.csv", "--skip", "-1")
