"""The command line as a process: pipes, terminals, exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import suffice as sf

COMMAND = [sys.executable, "-m", "suffice"]
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("A,B\nx,u\nx,v\ny,v\n")
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )


class Terminal:
    """A pseudo-terminal; `text` is all that was written to it."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self._parts: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self.master, 65536)
            except OSError:  # Linux says EIO when the other side is closed
                return
            if not part:
                return
            self._parts.append(part)

    def close(self) -> str:
        os.close(self.slave)
        self._reader.join()
        os.close(self.master)
        return b"".join(self._parts).decode("utf-8").replace("\r\n", "\n")


def on_terminal(folder: Path, *arguments: str, columns: int = 200) -> tuple[int, str, str]:
    """Run with standard output and standard error on a terminal each; return exit code and both texts."""
    out, err = Terminal(), Terminal()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "50"}
    environment.pop("NO_COLOR", None)
    try:
        code = subprocess.run(
            [*COMMAND, *arguments], cwd=folder, stdout=out.slave, stderr=err.slave, env=environment, check=False
        ).returncode
    finally:
        texts = out.close(), err.close()
    return code, *texts


def test_whole_round_from_fit_to_score(folder: Path) -> None:
    fitted = run(folder, "fit", "A -> B", "t.csv", "--out-fit", "f.json", "--json")
    assert (fitted.returncode, fitted.stderr) == (0, "")
    wanted = sf.fit(sf.DAG("A -> B"), folder / "t.csv")
    assert json.loads(fitted.stdout)["content"]["log_likelihood"] == wanted.log_likelihood
    assert sf.read(folder / "f.json").log_likelihood == wanted.log_likelihood
    scored = run(folder, "score", "f.json", "t.csv", "--json")
    assert json.loads(scored.stdout)["log_likelihood"] == pytest.approx(wanted.log_likelihood, rel=1e-12)
    failed = run(folder, "fit", "A -> Q", "t.csv")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("error: ")


def test_output_is_utf8_whatever_the_locale(folder: Path) -> None:
    (folder / "u.csv").write_text("Größe,B\n漢,u\n😀,v\n", encoding="utf-8")
    (folder / "s.json").write_text('{"type": "DAG", "graph": {"B": ["Größe"]}}', encoding="utf-8")
    done = run(folder, "fit", "s.json", "u.csv", "--show", "B", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "漢" in done.stdout
    assert "✓" in done.stdout


def test_reader_that_stops_reading_is_no_error(folder: Path) -> None:
    sf.write(sf.fit(sf.DAG("A -> B"), folder / "t.csv").model, folder / "m.json")
    process = subprocess.Popen(
        [*COMMAND, "sample", "m.json", "-n", "200000"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"A,B\n"
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert complaint == b""


@pytest.mark.parametrize("arguments", [["fit", "A -> B", "t.csv"], ["fit", "A -> B", "t.csv", "--json"], ["demo"]])
def test_reader_that_is_gone_is_no_error(folder: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([*COMMAND, *arguments], cwd=folder, stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_device_is_an_error_and_no_traceback(folder: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "fit", "A -> B", "t.csv"], cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr
    assert done.returncode == 2


# Terminals ----------------------------------------------------------------------------------------------------


def test_state_names_are_never_markup_on_a_terminal(folder: Path) -> None:
    (folder / "m.csv").write_text("[bold]A,B\n[red]x[/red],[/]\n[link=x]y,:smile:\n[red]x[/red],u\n")
    (folder / "s.json").write_text('{"type": "DAG", "graph": {"B": ["[bold]A"]}}')
    code, out, _ = on_terminal(folder, "fit", "s.json", "m.csv", "--show", "B", "--show", "[bold]A")
    assert code == 0
    text = ANSI.sub("", out)
    for word in ("[red]x[/red]", "[/]", ":smile:", "[link=x]y", "[bold]A", "p(B | [bold]A)"):
        assert word in text
    assert "\x1b[" in out, "a terminal gets colours"
    assert "✓" in text


def test_error_on_a_terminal_is_not_markup(folder: Path) -> None:
    code, out, err = on_terminal(folder, "fit", "'[red]x[/red]'", "t.csv")
    assert code == 2
    assert out == ""
    assert "'[red]x[/red]'" in ANSI.sub("", err).replace("\n", " ")


@pytest.mark.parametrize("columns", [20, 80, 200])
@pytest.mark.parametrize("letter", ["n", "漢"], ids=["narrow", "wide"])
def test_names_of_300_characters_fit_on_a_terminal(folder: Path, letter: str, columns: int) -> None:
    name = 300 * letter
    (folder / "long.csv").write_text(f"{name},B\n{name},u\ny,v\n", encoding="utf-8")
    (folder / "s.json").write_text(json.dumps({"type": "DAG", "graph": {"B": [name]}}))
    code, out, _ = on_terminal(folder, "fit", "s.json", "long.csv", "--show", "B", "--show", name, columns=columns)
    assert code == 0
    assert letter in out
    assert "Traceback" not in out


def test_terminal_and_pipe_say_the_same(folder: Path) -> None:
    _, out, _ = on_terminal(folder, "fit", "A -> B", "t.csv", "--show", "B")
    piped = run(folder, "fit", "A -> B", "t.csv", "--show", "B").stdout
    on_screen = set(ANSI.sub("", out).split())
    missing = {word for word in piped.split() if word.strip("-") and word not in on_screen}
    assert missing <= {"Notes"}


def test_score_and_demo_work_on_a_terminal(folder: Path) -> None:
    code, out, _ = on_terminal(folder, "demo")
    assert code == 0
    assert "berkeley.json" in out
    (folder / "b.csv").write_text("Gender,Dept,Admit\nMale,A,Admitted\n")
    code, out, _ = on_terminal(folder, "score", "berkeley.json", "b.csv")
    assert code == 0
    assert "log-likelihood" in out


def test_json_on_a_terminal_is_plain(folder: Path) -> None:
    code, out, _ = on_terminal(folder, "fit", "A -> B", "t.csv", "--json")
    assert code == 0
    assert json.loads(out)["kind"] == "fit"


# Progress -----------------------------------------------------------------------------------------------------


def with_terminal_for_errors(folder: Path, *arguments: str) -> tuple[str, str]:
    err = Terminal()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200", "LINES": "50"}
    try:
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=err.slave, env=environment, check=False
        )
    finally:
        complaint = err.close()
    assert done.returncode == 0, complaint
    return done.stdout.decode("utf-8"), complaint


def test_progress_goes_to_standard_error_only(folder: Path) -> None:
    plain = run(folder, "fit", "A -> B", "t.csv").stdout
    out, err = with_terminal_for_errors(folder, "fit", "A -> B", "t.csv")
    assert out == plain
    assert "reading" in ANSI.sub("", err)
    out, err = with_terminal_for_errors(folder, "fit", "A -> B", "t.csv", "--quiet")
    assert out == plain
    assert err == ""


def test_progress_is_silent_in_a_pipe(folder: Path) -> None:
    assert run(folder, "fit", "A -> B", "t.csv").stderr == ""


def test_progress_does_not_take_the_name_of_a_file_for_markup(folder: Path) -> None:
    (folder / "[red]t.csv").write_bytes((folder / "t.csv").read_bytes())
    _, err = with_terminal_for_errors(folder, "fit", "A -> B", "[red]t.csv")
    assert "[red]t.csv" in ANSI.sub("", err)
