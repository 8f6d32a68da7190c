"""``suffice classify`` as people meet it: pipes, terminals, Ctrl-C, files larger than a piece."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import ANSI, on_terminal
from tests.command_line import COMMAND, run

import suffice as sf
from suffice.cli import classify_answers, classify_cases
from suffice.structures.joint_classes import JointClasses

ROWS = [("grey", "yes", "rain"), ("grey", "no", "dry"), ("blue", "no", "dry"), ("grey", "yes", "rain")] * 5
TEXT = "\n".join(["sky,wind,weather", *map(",".join, ROWS), ""])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TEXT)
    sf.write(sf.fit(JointClasses("weather", ("sky", "wind")), "t.csv").model, "c.json")
    return tmp_path


def test_rows_go_to_a_pipe_and_the_summary_elsewhere(folder: Path) -> None:
    done = run("classify", "predict", "c.json", "t.csv", "--keep", "sky")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == ["sky,predicted", *(f"{sky},{weather}" for sky, _, weather in ROWS)]
    assert "error rate         0.0000" in done.stderr


def test_reader_that_goes_away_is_no_error(folder: Path) -> None:
    (folder / "long.csv").write_text("sky,wind\n" + "grey,yes\n" * 200_000)
    command = [*COMMAND, "classify", "predict", "c.json", "long.csv"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"predicted\n"
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait() == 0, said
    assert b"Traceback" not in said


def test_predictions_do_not_depend_on_the_size_of_pieces(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = ["classify", "predict", "c.json", "t.csv", "--keep", "wind", "--probabilities"]
    whole = run(*call)
    monkeypatch.setattr(classify_cases, "PIECE_ROWS", 3)
    pieces = run(*call)
    assert (pieces.stdout, pieces.stderr) == (whole.stdout, whole.stderr)
    assert whole.stdout.count("\n") == 21


@pytest.mark.parametrize("out", ["p.csv", "p.parquet"])
def test_interrupt_leaves_the_output_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    (folder / out).write_text("precious")
    before = sorted(path.name for path in folder.iterdir())
    decide, calls = classify_answers.decide, []

    def third_time_interrupted(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return decide(*arguments)

    monkeypatch.setattr(classify_cases, "PIECE_ROWS", 5)
    monkeypatch.setattr(classify_answers, "decide", third_time_interrupted)
    result = run("classify", "predict", "c.json", "t.csv", "--out", out)
    assert result.exit_code == 130
    assert "Interrupted; nothing was written." in result.stderr
    assert (folder / out).read_text() == "precious"
    assert sorted(path.name for path in folder.iterdir()) == before


def test_screens_fit_eighty_columns(folder: Path) -> None:
    for arguments in (
        ["fit", "t.csv", "-t", "weather", "--inputs", "sky,wind"],
        ["predict", "c.json", "t.csv", "--out", "p.csv"],
    ):
        shown = on_terminal("classify", *arguments, columns=80)
        text = ANSI.sub("", shown.stdout)
        assert shown.exit_code == 0
        assert max(map(len, text.splitlines())) <= 80
        assert "Observed classes down, predicted classes across" in text


def test_rows_on_a_screen_are_not_run_through_by_a_bar(folder: Path) -> None:
    shown = on_terminal("classify", "predict", "c.json", "t.csv")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("predicted\nrain\n")
    assert "reading" not in shown.stderr
