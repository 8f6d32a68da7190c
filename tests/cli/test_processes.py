"""The command line as a process: pipes, terminals, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.cli.terminal import ANSI, Terminal, settings_of_a_terminal
from tests.command_line import COMMAND, document, good, run_process

import suffice as sf


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("A,B\nx,u\nx,v\ny,v\n")
    return tmp_path


def test_what_one_process_writes_another_one_reads(folder: Path) -> None:
    wanted = sf.fit(sf.DAG("A -> B"), "t.csv")
    assert (
        document("fit", "A -> B", "t.csv", "--out-fit", "f.json")["content"]["log_likelihood"] == wanted.log_likelihood
    )
    assert sf.read("f.json").log_likelihood == wanted.log_likelihood
    scored = run_process("score", "f.json", "t.csv", "--json")
    assert (scored.exit_code, scored.stderr) == (0, "")
    assert json.loads(scored.stdout)["log_likelihood"] == pytest.approx(wanted.log_likelihood, rel=1e-12)


def test_an_error_is_an_exit_code_and_a_line(folder: Path) -> None:
    failed = run_process("fit", "A -> Q", "t.csv")
    assert (failed.exit_code, failed.stdout) == (2, "")
    assert failed.stderr.startswith("error: ")


def test_output_is_utf8_whatever_the_locale(folder: Path) -> None:
    (folder / "u.csv").write_text("Größe,B\n漢,u\n😀,v\n", encoding="utf-8")
    (folder / "s.json").write_text('{"type": "DAG", "graph": {"B": ["Größe"]}}', encoding="utf-8")
    done = run_process("fit", "s.json", "u.csv", "--show", "B", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.exit_code == 0, done.stderr
    assert "漢" in done.stdout
    assert "✓" in done.stdout


def test_reader_that_stops_reading_is_no_error(folder: Path) -> None:
    sf.write(sf.fit(sf.DAG("A -> B"), folder / "t.csv").model, folder / "m.json")
    process = subprocess.Popen(
        [*COMMAND, "sample", "m.json", "-n", "200000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
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
        done = subprocess.run([*COMMAND, *arguments], stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_device_is_an_error_and_no_traceback(folder: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "fit", "A -> B", "t.csv"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr
    assert done.returncode == 2


# Terminals ----------------------------------------------------------------------------------------------------


def test_demo_works_on_a_terminal(folder: Path) -> None:
    out, err = Terminal(), Terminal()
    try:
        done = subprocess.run(
            [*COMMAND, "demo"], stdout=out.slave, stderr=err.slave, env=settings_of_a_terminal(), check=False
        )
    finally:
        shown, _ = out.close(), err.close()
    assert done.returncode == 0
    assert "berkeley.json" in shown


def test_progress_goes_to_standard_error_only(folder: Path) -> None:
    err = Terminal()
    try:
        done = subprocess.run(
            [*COMMAND, "fit", "A -> B", "t.csv"],
            stdout=subprocess.PIPE,
            stderr=err.slave,
            env=settings_of_a_terminal(),
            check=False,
        )
    finally:
        complaint = err.close()
    assert done.returncode == 0, complaint
    assert done.stdout.decode("utf-8") == good("fit", "A -> B", "t.csv")
    assert "reading" in ANSI.sub("", complaint)
