"""Pages for everyone: axe-core finds no violation of WCAG 2.1, levels A and AA, in light and dark, wide and narrow."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REQUIRED, ROOT
from tests.report.examples import em_fit, gaussian_fit, network, observe_last, paged, set_scheme
from tests.report.pages import Explorer

pytestmark = [pytest.mark.chromium, pytest.mark.node, pytest.mark.data]
AXE = ROOT / "build" / "web" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """
const done = arguments[arguments.length - 1];
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];
axe.run(document, { runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] }).then(
  (found) => done([found.passes.length, found.violations.flatMap((rule) => rule.nodes.map((node) =>
    rule.id + ': ' + node.html.slice(0, 160) + ' ' + node.failureSummary.replace(/\\s+/g, ' ')))]),
  (error) => done([0, [String(error)]]));
"""
# axe-core does not know what is behind text in SVG: here it is the box of the node.
FAINT = """
const light = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
return [...document.querySelectorAll('#graph .node text')].filter((text) => text.textContent).map((text) => {
  const pair = [getComputedStyle(text).fill, getComputedStyle(text.closest('.node').querySelector('.box')).fill];
  const [low, high] = pair.map(light).sort((a, b) => a - b);
  return [(high + 0.05) / (low + 0.05), text.textContent, pair.join(' on ')];
}).filter((found) => !(found[0] >= 4.5));
"""
OPEN = """
document.querySelectorAll('details').forEach((part) => { part.open = true; });
[...document.querySelectorAll('button.entry')].slice(0, 3).forEach((button) => button.click());
"""
PAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "report": (em_fit, "report"),
    "served": (lambda data: network(data, "asia"), "served"),
    "Gaussian": (gaussian_fit, "report"),
}


@pytest.fixture(scope="module")
def axe() -> str:
    """Return the script of axe-core, which npm fetches where it is not there yet."""
    if not AXE.exists() and shutil.which("npm") and shutil.which("make"):
        AXE.parents[2].mkdir(parents=True, exist_ok=True)
        with (AXE.parents[2] / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of several workers one fetches
            subprocess.run(["make", str(AXE.relative_to(ROOT))], cwd=ROOT, capture_output=True, check=False)
    if not AXE.exists():
        (pytest.fail if "node" in REQUIRED else pytest.skip)("axe-core is not there: make web fetches it")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=PAGES)
def open_page(
    request: pytest.FixtureRequest, data_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., None]]:
    make, how = PAGES[request.param]
    with paged(make(data_folder), how, tmp_path_factory.mktemp("page"), plots=True) as opener:
        yield opener


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest, browser: Any) -> Iterator[None]:
    set_scheme(browser, request.param)
    yield
    set_scheme(browser, "")


def violations(browser: Any) -> list[Any]:
    """Return what axe-core finds, and text in the graph that is too faint."""
    passed, found = browser.driver.execute_async_script(RUN)
    assert passed > 20
    return [*found, *browser.run(FAINT)]


@pytest.mark.usefixtures("scheme")
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_no_violations(browser: Any, axe: str, open_page: Callable[..., None], width: int) -> None:
    open_page(browser, width, 900)
    browser.run(axe)
    page = Explorer(browser)
    page.settle()
    page.wait("return !document.querySelector('.thinking')")
    assert violations(browser) == []
    observe_last(page, 2)
    browser.run(
        "document.querySelectorAll('#graph .node')[0].dispatchEvent("
        "new KeyboardEvent('keydown', { key: 'i', bubbles: true }))"
    )
    browser.run(OPEN)
    assert browser.find("#card-node").is_displayed()
    assert violations(browser) == []
