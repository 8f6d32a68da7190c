"""What commands show on a terminal: names are never markup, lines fit, and documents stay plain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.terminal import ANSI, on_terminal
from tests.command_line import good, run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("A,B\nx,u\nx,v\ny,v\n")
    return tmp_path


def test_state_names_are_never_markup_on_a_terminal(folder: Path) -> None:
    (folder / "m.csv").write_text("[bold]A,B\n[red]x[/red],[/]\n[link=x]y,:smile:\n[red]x[/red],u\n")
    (folder / "s.json").write_text('{"type": "DAG", "graph": {"B": ["[bold]A"]}}')
    shown = on_terminal("fit", "s.json", "m.csv", "--show", "B", "--show", "[bold]A")
    assert shown.exit_code == 0
    text = ANSI.sub("", shown.stdout)
    for word in ("[red]x[/red]", "[/]", ":smile:", "[link=x]y", "[bold]A", "p(B | [bold]A)"):
        assert word in text
    assert "\x1b[" in shown.stdout, "a terminal gets colours"
    assert "✓" in text


def test_error_on_a_terminal_is_not_markup(folder: Path) -> None:
    shown = on_terminal("fit", "'[red]x[/red]'", "t.csv")
    assert shown.exit_code == 2
    assert shown.stdout == ""
    assert "'[red]x[/red]'" in ANSI.sub("", shown.stderr).replace("\n", " ")


@pytest.mark.parametrize("columns", [20, 80, 200])
@pytest.mark.parametrize("letter", ["n", "漢"], ids=["narrow", "wide"])
def test_names_of_300_characters_fit_on_a_terminal(folder: Path, letter: str, columns: int) -> None:
    name = 300 * letter
    (folder / "long.csv").write_text(f"{name},B\n{name},u\ny,v\n", encoding="utf-8")
    (folder / "s.json").write_text(json.dumps({"type": "DAG", "graph": {"B": [name]}}))
    shown = on_terminal("fit", "s.json", "long.csv", "--show", "B", "--show", name, columns=columns)
    assert shown.exit_code == 0
    assert letter in shown.stdout
    assert "Traceback" not in shown.stdout


def test_terminal_and_pipe_say_the_same(folder: Path) -> None:
    shown = on_terminal("fit", "A -> B", "t.csv", "--show", "B")
    piped = good("fit", "A -> B", "t.csv", "--show", "B")
    on_screen = set(ANSI.sub("", shown.stdout).split())
    assert "log-likelihood" in on_screen
    missing = {word for word in piped.split() if word.strip("-") and word not in on_screen}
    assert missing <= {"Notes"}


def test_json_on_a_terminal_is_plain(folder: Path) -> None:
    shown = on_terminal("fit", "A -> B", "t.csv", "--json")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["kind"] == "fit"


def test_score_is_shown(folder: Path) -> None:
    good("fit", "A -> B", "t.csv", "--out", "m.json")
    shown = on_terminal("score", "m.json", "t.csv")
    assert shown.exit_code == 0
    assert "log-likelihood" in shown.stdout


def test_progress_is_shown_unless_it_is_unwanted(folder: Path) -> None:
    assert "reading" in ANSI.sub("", on_terminal("fit", "A -> B", "t.csv").stderr)
    assert on_terminal("fit", "A -> B", "t.csv", "--quiet").stderr == ""
    assert run("fit", "A -> B", "t.csv").stderr == ""


def test_progress_does_not_take_the_name_of_a_file_for_markup(folder: Path) -> None:
    (folder / "[red]t.csv").write_bytes((folder / "t.csv").read_bytes())
    shown = on_terminal("fit", "A -> B", "[red]t.csv")
    assert "[red]t.csv" in ANSI.sub("", shown.stderr)
