"""Driving an explorer in the browser as a hand would, and reading its bars to the last bit."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

BARS = """
const which = arguments[0];
return [...document.querySelectorAll('#graph .node')].map((node) => [
  Number(node.dataset.i),
  [...node.querySelectorAll('.state')].map((row) => {
    const width = (name) => row.querySelector(name).getAttribute('width');
    return width('.bar.' + which) / width('.track');
  }),
]);
"""
PLACE = """
const row = document.querySelector(`#graph .node[data-i="${arguments[0]}"] .state[data-code="${arguments[1]}"] .label`);
const box = row.getBoundingClientRect();
return [box.left + Math.min(box.width, 30) / 2, box.top + box.height / 2];
"""
SHIFT = 8  # in the protocol of the browser


@dataclass
class Explorer:
    """An explorer that is open in a browser.

    Attributes
    ----------
    browser : Browser
    """

    browser: Any

    def show_all(self) -> None:
        """Show the whole graph, as large as the window."""
        self.browser.run(
            "document.querySelector('main').style.maxWidth = 'none';"
            "document.getElementById('explorer').style.setProperty('--high', innerHeight - 300 + 'px')"
        )
        self.browser.find("#zoom-fit").click()
        self.wait("return document.querySelectorAll('#graph .node').length > 0")

    def wait(self, script: str, seconds: float = 20.0) -> None:
        """Wait until a script says so."""
        end = time.monotonic() + seconds
        while not self.browser.run(script):
            assert time.monotonic() < end, script
            time.sleep(0.005)

    def settle(self) -> None:
        """Wait until the last question is answered."""
        self.wait("const { asked, answered } = document.getElementById('explorer').dataset; return asked === answered")

    def click(self, node: int, code: int, shift: bool = False) -> None:
        """Click on a state."""
        x, y = self.browser.run(PLACE, node, code)
        where = {"x": x, "y": y, "button": "left", "clickCount": 1, "modifiers": SHIFT if shift else 0}
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, **where})
        self.settle()

    def bars(self, which: str = "now") -> dict[int, np.ndarray[Any, Any]]:
        """Return the probabilities that the bars show, by node: those of now, or of the case that is compared."""
        return {int(node): np.array(values, np.float64) for node, values in self.browser.run(BARS, which)}

    def message(self) -> str:
        """Return what was refused, if anything was."""
        said = "const box = document.querySelector('.message'); return box.hidden ? '' : box.firstChild.textContent"
        return str(self.browser.run(said))
