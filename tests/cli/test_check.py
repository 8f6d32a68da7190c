"""suffice check: verdicts, tables, documents and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import bad, good, run

import suffice as sf
from suffice.cli.check import show_check

WRONG = ("A -> B; C", "t.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a table of a chain."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2, 500)
    b = np.where(rng.random(500) < 0.8, a, 1 - a)
    c = np.where(rng.random(500) < 0.8, b, 1 - b)
    rows = [f"{'xy'[i]},{'uv'[j]},{'st'[k]},{n}" for i, j, k, n in zip(a, b, c, 1 + a, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["A,B,C,w", *rows]) + "\n")
    return tmp_path


def test_what_is_printed_is_the_check_itself() -> None:
    assert good("check", "A -> B -> C", "t.csv", "--bootstrap", "30").rstrip("\n") == str(
        sf.check(sf.DAG("A -> B -> C"), "t.csv", bootstrap=30)
    )


def test_a_contradicted_structure_is_exit_code_one() -> None:
    result = run("check", *WRONG, "--bootstrap", "0")
    assert result.exit_code == 1
    assert result.stdout.startswith("The structure is contradicted: C is not independent of B (p < 0.0001")


def test_options_reach_the_check() -> None:
    options = ("--level", "0.01", "--seed", "3", "--weights", "w", "--max-tests", "1", "--bootstrap", "20")
    found = json.loads(good("check", "A:B + B:C", "t.csv", *options, "--json"))
    python = sf.check(sf.Cliques("A:B + B:C"), "t.csv", level=0.01, seed=3, weights="w", max_tests=1, bootstrap=20)
    assert found == json.loads(json.dumps(python.to_dict()))
    assert (found["ok"], found["level"], found["n_tests"]) == (True, 0.01, 1)


def test_the_structure_of_a_model_file_is_checked() -> None:
    good("fit", "A -> B -> C", "t.csv", "--out", "m.json")
    assert "No implied independence is contradicted" in good("check", "m.json", "t.csv", "--bootstrap", "0")


def test_errors_speak_of_options() -> None:
    assert "The option --level must lie between 0 and 1. Got 2.0 instead." in bad("check", *WRONG, "--level", "2")
    assert "--missing" in bad("check", *WRONG, "--missing", "em")


def test_a_terminal_shows_marks_and_tables(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = sf.check(sf.DAG("A -> B; C"), "t.csv", bootstrap=20)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    show_check(found)
    text = capsys.readouterr().out
    assert "✗ The structure is contradicted" in text
    assert "✓ Certified" in text
    assert "edges, least needed first" in text
    assert "Bootstrap: " in text
