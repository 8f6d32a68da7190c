"""Where the texts of an explorer are: none lies on another or leaves its box, on screens from a phone's to a desk's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.examples import EXAMPLES, observe_last, paged, set_scheme
from tests.report.pages import Explorer

pytestmark = [pytest.mark.chromium, pytest.mark.data]
# Every line of text that is seen, cut by what cuts it on the screen: [element, text, left, top, right, bottom].
TEXTS = """
const cuts = new Map();
const common = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
function cutOf(element) { // the part of the window in which an element can be seen
  if (!element) return [-Infinity, -Infinity, Infinity, Infinity];
  if (cuts.has(element)) return cuts.get(element);
  const style = getComputedStyle(element);
  let cut = style.position === 'fixed' ? cutOf(null) : cutOf(element.parentElement);
  const isSvg = element instanceof SVGElement && !(element instanceof SVGSVGElement);
  if (!isSvg && style.overflow !== 'visible' && element !== document.documentElement && element !== document.body) {
    const box = element.getBoundingClientRect();
    cut = common(cut, [box.left, box.top, box.right, box.bottom]);
  }
  cuts.set(element, cut);
  return cut;
}
const found = [];
const elements = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  const parent = node.parentElement;
  if (!node.data.trim() || parent.closest('script, style, title, .sr')) continue;
  if (!parent.checkVisibility({ visibilityProperty: true })) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const cut = cutOf(parent);
  const number = elements.push(parent) - 1;
  for (const box of range.getClientRects()) {
    const seen = common(cut, [box.left, box.top, box.right, box.bottom]);
    if (seen[2] - seen[0] > 1 && seen[3] - seen[1] > 1) found.push([number, ...seen]);
  }
}
found.sort((a, b) => a[2] - b[2]);
const said = (number) => JSON.stringify(elements[number].textContent.slice(0, 50));
const faults = [];
found.forEach(([one, left, top, right, bottom], k) => {
  for (let j = k + 1; j < found.length && found[j][2] < bottom - 1; j += 1) {
    const [other, a, b, c, d] = found[j];
    const across = Math.min(right, c) - Math.max(left, a);
    const down = Math.min(bottom, d) - b;
    if (elements[one] !== elements[other] && across > 1 && down > 1) {
      faults.push(`${said(one)} and ${said(other)} overlap by ${across.toFixed(1)} × ${down.toFixed(1)} pixels`);
    }
  }
});
for (const group of document.querySelectorAll('#graph .node')) {
  const box = group.querySelector('.box').getBoundingClientRect();
  for (const text of group.querySelectorAll('text')) {
    const inner = text.getBoundingClientRect();
    if (!inner.width) continue;
    const [low, high] = [inner.top, inner.bottom];
    const out = Math.max(box.left - inner.left, inner.right - box.right, box.top - low, high - box.bottom);
    if (out > 0.5) faults.push(`${JSON.stringify(text.textContent)} leaves its box by ${out.toFixed(1)} pixels`);
    if (text.textContent === '…') faults.push(`nothing of a text is seen in ${group.getAttribute('aria-label')}`);
  }
}
const wide = document.documentElement.scrollWidth;
if (wide > arguments[0]) faults.push(`the page is ${wide} pixels wide`);
if (found.length < 40) faults.push(`only ${found.length} texts are seen`);
return faults;
"""
OPEN = """
document.querySelectorAll('details:not(.menu)').forEach((part) => { part.open = true; });
[...document.querySelectorAll('button.entry')].slice(0, 5).forEach((button) => button.click());
"""


@pytest.fixture(scope="module", params=EXAMPLES)
def open_page(
    request: pytest.FixtureRequest, data_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., None]]:
    make, how = EXAMPLES[request.param]
    with paged(make(data_folder), how, tmp_path_factory.mktemp("page")) as opener:
        yield opener


def faults(browser: Any, width: int) -> list[str]:
    """Return what is wrong, with the page scrolled to its top and its picture redrawn."""
    wait = "scrollTo(0, 0); requestAnimationFrame(() => setTimeout(arguments[0], 50))"
    browser.driver.execute_async_script(wait)
    return list(browser.run(TEXTS, width))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_no_texts_overlap_and_none_leaves_its_box(
    browser: Any, open_page: Callable[..., None], width: int, scheme: str
) -> None:
    set_scheme(browser, scheme)
    try:
        open_page(browser, width, 900)
        page = Explorer(browser)
        page.settle()
        page.wait("return !document.querySelector('.thinking')", 60)
        assert faults(browser, width) == []
        observe_last(page, 2)
        browser.run(OPEN)
        assert faults(browser, width) == []
        browser.run("[...document.querySelectorAll('.tools button')].find((b) => b.textContent === 'Compare').click()")
        browser.run("document.getElementById('zoom-fit').click()")
        assert faults(browser, width) == []
    finally:
        set_scheme(browser, "")
