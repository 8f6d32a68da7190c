"""What README and docs show is run here: Python blocks as doctests, console blocks against the real command line."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.from_readme import BLOCK, NAMED

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FILES = ("toml", "columns", "csv")
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_show_what_they_print(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(blocks(page, "python"), {}, page.name, str(page), 0)
    lines: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=lines.append)
    assert result.failed == 0, "".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_console_blocks_show_what_they_print(page: Path, tmp_path: Path) -> None:
    write_files(page, tmp_path)
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", blocks(page, "console"), re.MULTILINE):
        program, *arguments = shlex.split(command)
        assert program == "suffice"
        done = subprocess.run(
            [sys.executable, "-m", "suffice", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert steady(done.stdout) == steady(expected), f"{command}\n{done.stdout}"


def test_readme_shows_python_and_console() -> None:
    assert ">>> fit = sf.fit(" in blocks(ROOT / "README.md", "python")
    assert "$ suffice fit" in blocks(ROOT / "README.md", "console")
