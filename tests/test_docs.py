"""What README and docs show is run here: Python blocks as doctests, console blocks by the command line."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.command_line import Finished, run, run_process
from tests.from_readme import BLOCK, NAMED

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FILES = ("toml", "columns", "csv")
PROCESSES = {
    'suffice fit "Gender -> Dept -> Admit; Gender -> Admit" berkeley.csv --weights Freq --prior bdeu:1 '
    "--out admissions.json",
    "suffice query model.json bronchitis --given cough=yes",
    "suffice merge monday.stats tuesday.stats --out week.stats",
    "suffice classify fit berkeley.csv --target Admit --weights Freq --smoothing 1 --out admit.json",
}
"""Commands that run as processes of their own; the others run in this process."""
SLOW = {"docs/spelling.md"}
VARYING = re.compile(r"^time +[0-9.]+ s$|(?<=within )[0-9.e-]+", re.MULTILINE)


def blocks(page: Path, language: str) -> str:
    return "\n".join(body for name, body in BLOCK.findall(page.read_text()) if name == language)


def write_files(page: Path, folder: Path) -> None:
    """Write the files that a page shows; a file's name is its first line, a comment, or stands right before it."""
    shutil.copy(ROOT / "src" / "suffice" / "examples" / "berkeley.csv", folder)
    for name, content in NAMED.findall(page.read_text()):
        (folder / name).write_text(content)
    for language, content in BLOCK.findall(page.read_text()):
        if language in FILES and content.startswith("# "):
            name, rest = content.split("\n", 1)
            (folder / name.removeprefix("# ")).write_text(rest)


def steady(output: str) -> list[str]:
    """Return the words of an output, without how long something took and how closely a search came to its end."""
    return VARYING.sub("", output).split()


def commands(page: Path) -> list[tuple[str, str]]:
    """Return the commands of a page, and what it shows after each."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", blocks(page, "console"), re.MULTILINE)


def run_as_process(*arguments: str) -> Finished:
    """Run a command where the locale knows ASCII alone: what is printed is UTF-8 all the same."""
    return run_process(*arguments, LC_ALL="C", PYTHONIOENCODING="ascii")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name_of(page), marks=[pytest.mark.slow] if name_of(page) in SLOW else [])
        for page in PAGES
        if blocks(page, "python")
    ],
)
def test_python_blocks_show_what_they_print(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(blocks(page, "python"), {}, page.name, str(page), 0)
    lines: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=lines.append)
    assert result.failed == 0, "".join(lines)
    assert result.attempted > 0


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=name_of)
def test_console_blocks_show_what_they_print(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert commands(page)
    for command, expected in commands(page):
        program, *arguments = shlex.split(command)
        assert program == "suffice"
        done = (run_as_process if command in PROCESSES else run)(*arguments)
        assert done.exit_code == 0, done.stderr
        assert steady(done.stdout) == steady(expected), f"{command}\n{done.stdout}"


def test_readme_shows_python_and_console() -> None:
    assert ">>> fit = sf.fit(" in blocks(ROOT / "README.md", "python")
    assert "$ suffice fit" in blocks(ROOT / "README.md", "console")


def test_whatever_looks_like_a_session_is_run() -> None:
    """Prompts stand in blocks that are run; the commands in sequences.md are run by a test of their own."""
    for prompt, language in ((">>> ", "python"), ("$ suffice ", "console")):
        beginning = re.compile(f"^{re.escape(prompt)}", re.MULTILINE)
        overlooked = {
            page.name for page in PAGES
            if len(beginning.findall(page.read_text())) != len(beginning.findall(blocks(page, language)))
        }  # fmt: skip
        assert overlooked == ({"sequences.md"} if language == "console" else set())


def test_commands_that_are_processes_are_on_the_pages() -> None:
    assert {command for page in PAGES for command, _ in commands(page)} >= PROCESSES


def test_readme_begins_with_the_explorer_and_holds_no_binary() -> None:
    first = re.search(r"!\[([^\]]+)\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert first is not None
    assert first[2] == "docs/images/explorer.svg"
    picture = (ROOT / first[2]).read_text(encoding="utf-8")
    assert picture.startswith("<svg ")
    assert 'href="data:image/png;base64,' in picture
    assert len(picture) < 200_000
