"""Equations of the pages and the lines of the source that compute them name each other, in both directions."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

from equations import ENDINGS, TAG, tagged_lines  # noqa: E402

PAGES = sorted((ROOT / "docs").rglob("*.md"))
LABEL = re.compile(r"^\$\$ \((eq-[^)]*)\)$", re.MULTILINE)
NAME = re.compile(r"eq-[a-z0-9]+(-[a-z0-9]+)*")
COMMENT = re.compile(r"(?:#|//) *eq\b")


def labels() -> list[str]:
    return [label for page in PAGES for label in LABEL.findall(page.read_text())]


def test_labels_are_names_and_occur_once() -> None:
    found = Counter(labels())
    assert found
    assert [label for label in found if not NAME.fullmatch(label)] == []
    assert [label for label, times in found.items() if times > 1] == []


def test_every_label_is_written_as_one() -> None:
    """Anything that looks like a label of an equation is one, so that none is overlooked."""
    texts = {page: page.read_text() for page in PAGES}
    looks_like_one = {page: len(re.findall(r"\(eq-", text)) for page, text in texts.items()}
    assert looks_like_one == {page: len(LABEL.findall(text)) for page, text in texts.items()}
    assert any(looks_like_one.values())


def test_every_equation_is_computed_somewhere() -> None:
    assert {label.removeprefix("eq-") for label in labels()} - set(tagged_lines()) == set()


def test_every_tag_has_an_equation() -> None:
    assert set(tagged_lines()) - {label.removeprefix("eq-") for label in labels()} == set()


def test_tags_are_written_as_tags() -> None:
    """A comment that begins like a tag is one."""
    found = {
        f"{path}:{number}": line
        for path in sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in ENDINGS)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if COMMENT.search(line)
    }
    assert found
    assert [place for place, line in found.items() if not TAG.search(line)] == []


def test_tags_stand_at_lines_that_compute() -> None:
    assert tagged_lines()
    for lines in tagged_lines().values():
        for path, number in lines:
            line = (ROOT / "src" / path).read_text().splitlines()[number - 1]
            code = re.split(r"  (?:#|//) eq ", line)[0].strip()
            assert code
            assert not code.startswith(("#", "//", "def ", "class ", "import ")), f"{path}:{number}"


@pytest.mark.parametrize(
    "text",
    ["x = 1  # eq bn-mle", "    # eq bn-mle", "f(  # eq bn-mle", "x = 1;  // eq bn-mle", "    // eq bn-mle"],
)
def test_a_tag_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "file.cpp").write_text(f"first\n{text}\nlast\n")
    ((path, number),) = tagged_lines(tmp_path)["bn-mle"]
    assert path == "file.cpp"
    assert number == (3 if text.lstrip().startswith(("#", "//")) else 2)
