"""The site that `make docs` built: every page is reachable, every link leads somewhere, nothing is fetched."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import suffice as sf

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "docs"
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}
"""What a browser fetches by itself, unlike the ``href`` of an anchor."""
STYLES = re.compile(r"@import|url\(\s*['\"]?(?:https?:)?//")
pytestmark = pytest.mark.site
TAG = re.compile(r"(?:#|//) eq [a-z0-9-]+")
EQUATION = re.compile(r'<p class="computed-in">(.*?)</p>', re.DOTALL)


class Page(HTMLParser):
    """What a page fetches, where it leads to, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.fetched, self.links, self.anchors = path, list[str](), list[str](), set[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        self.fetched += [value for name, value in attrs if (tag, name) in LOADED and value]
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    found = {path: Page(path) for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts}
    assert found, f"The site is not in {SITE}: make docs builds it, and runs these tests."
    return found


def target(page: Page, link: str) -> tuple[Path, str]:
    address, anchor = urldefrag(link)
    address = address.partition("?")[0]  # what browsers cache by
    return ((page.path.parent / unquote(address)).resolve() if address else page.path), unquote(anchor)


def is_elsewhere(link: str) -> bool:
    return re.match(r"[a-z]+:|//", link) is not None


def test_the_index_leads_to_every_source(pages: dict[Path, Page]) -> None:
    reached, waiting = set[Path](), [SITE / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in reached or path not in pages:
            continue
        reached.add(path)
        waiting += [target(pages[path], link)[0] for link in pages[path].links if not is_elsewhere(link)]
    sources = {
        SITE / source.relative_to(ROOT / "docs").with_suffix(".html") for source in (ROOT / "docs").rglob("*.md")
    }
    assert sources <= reached


def test_links_lead_to_pages_and_anchors(pages: dict[Path, Page]) -> None:
    broken = []
    for page in pages.values():
        for link in page.links:
            if is_elsewhere(link):
                continue
            path, anchor = target(page, link)
            if not path.exists() or (anchor and path in pages and anchor not in pages[path].anchors):
                broken.append((page.path.name, link))
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, Page]) -> None:
    for page in pages.values():
        for address in page.fetched:
            assert not is_elsewhere(address) or address.startswith("data:"), (page.path.name, address)
            assert address.startswith("data:") or target(page, address)[0].exists(), (page.path.name, address)
    sheets = list(SITE.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        assert not STYLES.search(sheet.read_text(encoding="utf-8")), sheet.name


def test_mathematics_is_in_the_page(pages: dict[Path, Page]) -> None:
    text = (SITE / "bayesian_networks.html").read_text(encoding="utf-8")
    assert text.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') >= 5
    assert "$$" not in text
    assert "MathJax" not in text


def test_equations_lead_to_the_lines_that_compute_them(pages: dict[Path, Page]) -> None:
    n_lines = 0
    for page in pages.values():
        for found in EQUATION.findall(page.path.read_text(encoding="utf-8")):
            named = re.findall(r'href="([^"]*)"><code[^>]*><span class="pre">([^<:]*):(\d+)</span>', found)
            assert named, found
            for link, file, number in named:
                path, anchor = target(page, link)
                line = (ROOT / "src" / "suffice" / file).read_text().splitlines()[int(number) - 2 : int(number)]
                assert path == SITE / "source" / "suffice" / f"{file.removesuffix('.py')}.html"
                assert anchor == f"L-{number}"
                assert TAG.search("".join(line)) or TAG.search(line[0])
                n_lines += 1
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".cpp", ".hpp")]
    tags = [line for path in sources for line in path.read_text().splitlines() if TAG.search(line)]
    assert n_lines == len(tags) > 0


def test_the_reference_has_every_public_name(pages: dict[Path, Page]) -> None:
    anchors = set().union(*(page.anchors for path, page in pages.items() if path.parent == SITE / "api"))
    assert {f"suffice.{name}" for name in sf.__all__ if name != "__version__"} <= anchors
