"""The whole page by keyboard alone: every test begins with a page that just opened, and uses nothing but keys."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.examples import gaussian_fit, network, network_fit, paged
from tests.report.pages import Explorer

import suffice as sf

with contextlib.suppress(ImportError):  # without it these tests are skipped
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

pytestmark = [pytest.mark.chromium, pytest.mark.data]

STOPS = """
return [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
  .filter((stop) => stop.checkVisibility() && !stop.matches(':disabled'))
  .map((stop) => stop.outerHTML.slice(0, 150));
"""
FOCUS = """
const at = document.activeElement;
const node = at.closest('.node');
const row = at.closest('.state');
const card = at.closest('.card');
return {
  tag: at.tagName.toLowerCase(), id: at.id, text: at.textContent, label: at.getAttribute('aria-label') || '',
  html: at.outerHTML.slice(0, 150), node: node ? Number(node.dataset.i) : -1, code: row ? Number(row.dataset.code) : -1,
  card: card ? card.id : '',
};
"""
# How an element and what is drawn in it look with the focus, and without.
SHOWN = """
const at = document.activeElement;
const parts = [at, ...at.querySelectorAll('.hit, .box')];
const look = () => parts.map((part) => {
  const style = getComputedStyle(part);
  return [style.outlineStyle, style.outlineWidth, style.stroke, style.strokeWidth].join();
}).join(';');
const before = look();
at.blur();
const after = look();
at.focus({ preventScroll: true });
const box = at.getBoundingClientRect();
const isInside = box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
return before !== after && box.width > 0 && isInside;
"""


@dataclass
class Keyboard:
    """A page under a keyboard.

    Attributes
    ----------
    page : Explorer
    names : list of str
        The variables, in the order of the nodes.
    """

    page: Explorer
    names: list[str]

    def press(self, *keys: str) -> dict[str, Any]:
        """Press keys one after the other, wait for the answer, and return what has the focus, which must be seen."""
        for key in keys:
            ActionChains(self.page.browser.driver).send_keys(key).perform()
            self.page.settle()
        focus = self.focus()
        assert focus["tag"] != "body", f"the focus is lost after {keys}"
        assert self.page.browser.run(SHOWN), f"the focus is not seen after {keys}: {focus}"
        return focus

    def chord(self, *keys: str) -> dict[str, Any]:
        """Press keys together."""
        together = ActionChains(self.page.browser.driver)
        for key in keys[:-1]:
            together.key_down(key)
        together.send_keys(keys[-1])
        for key in keys[:-1]:
            together.key_up(key)
        together.perform()
        self.page.settle()
        return self.press()

    def focus(self) -> dict[str, Any]:
        """Return what has the focus."""
        return dict(self.page.browser.run(FOCUS))

    def tab_to(self, wanted: str, back: bool = False) -> dict[str, Any]:
        """Press Tab until the focus is on what a selector finds, and return it."""
        for _ in range(80):
            focus = self.chord(Keys.SHIFT, Keys.TAB) if back else self.press(Keys.TAB)
            if self.page.browser.run("return document.activeElement.matches(arguments[0])", wanted):
                return focus
        pytest.fail(f"Tab does not reach {wanted}")

    def go(self, name: str) -> None:
        """Find a variable, and go to its node."""
        assert self.press("/")["id"] == "find"
        self.press(*name, Keys.ENTER)
        node = self.names.index(name)
        self.page.wait(f"return document.activeElement.matches('.node[data-i=\"{node}\"]')")  # once it is shown
        assert self.press()["node"] == node

    def chips(self, card: str = "evidence") -> list[str]:
        """Return the findings, or the pinned targets."""
        script = "return [...document.querySelectorAll(`#card-${arguments[0]} .chip`)].map((e) => e.textContent)"
        return [text.removesuffix(" ✕").removeprefix("★ ") for text in self.page.browser.run(script, card)]

    def panel(self) -> str:
        """Return the name of the node whose panel is shown, if one is."""
        script = (
            "const card = document.getElementById('card-node'); return card.hidden ? '' : card.firstChild.textContent"
        )
        return str(self.page.browser.run(script))

    def agrees(self, model: Any, given: dict[str, Any]) -> None:
        """Compare every bar with the library's answers."""
        answers = model.marginals(given)
        for node, shown in self.page.bars().items():
            name = self.names[node]
            if name in answers:
                expected = answers[name].values
            else:
                expected = np.array([label == given[name] for label in model.schema[name].labels], np.float64)
            np.testing.assert_allclose(shown, expected, rtol=0, atol=1e-9)


def keyboard(browser: Any, model: Any) -> Keyboard:
    script = "return JSON.parse(document.getElementById('content').textContent).entries.map((entry) => entry.n)"
    return Keyboard(Explorer(browser), list(browser.run(script))[: len(model.variables)])


@pytest.fixture(params=["report", "served"])
def asia(request: pytest.FixtureRequest, browser: Any, data_folder: Path, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    model = network(data_folder, "asia")
    with paged(model, request.param, tmp_path) as open_page:
        open_page(browser)
        yield keyboard(browser, model), model


def walk(keys: Keyboard) -> list[dict[str, Any]]:
    """Press Tab all the way around the page, and return the stops in its order; each shows that it has the focus."""
    stops: list[dict[str, Any]] = []
    for _ in range(200):
        ActionChains(keys.page.browser.driver).send_keys(Keys.TAB).perform()
        focus = keys.focus()
        if stops and focus["html"] == stops[0]["html"]:
            first = keys.page.browser.run(STOPS)[0]
            start = [stop["html"] for stop in stops].index(first)
            return stops[start:] + stops[:start]
        if focus["tag"] not in ("body", "html"):  # between the end and the beginning
            assert keys.page.browser.run(SHOWN), f"the focus is not seen: {focus}"
            stops.append(focus)
    pytest.fail("Tab does not come around")


def test_tab_reaches_all_there_is_and_the_graph_is_one_stop(asia: tuple[Keyboard, Any]) -> None:
    keys, _ = asia
    stops = walk(keys)
    assert [stop["html"] for stop in stops] == keys.page.browser.run(STOPS)
    assert sum(stop["node"] >= 0 for stop in stops) == 1
    assert {"card-find", "card-code"} <= {stop["card"] for stop in stops}
    assert {"Compare", "Export", "Dark"} <= {stop["text"] for stop in stops}
    keys.press("/", *"dysp", Keys.ENTER, Keys.ENTER, Keys.ENTER, "p")
    stops = walk(keys)
    assert [stop["html"] for stop in stops] == keys.page.browser.run(STOPS)
    assert {"Undo", "Reset"} <= {stop["text"] for stop in stops}
    assert {"card-evidence", "card-targets", "card-node", "card-moved"} <= {stop["card"] for stop in stops}


def test_states_are_observed_ruled_out_and_weighed_by_keys(asia: tuple[Keyboard, Any]) -> None:
    keys, model = asia
    names = keys.names
    first = keys.tab_to("#graph .node")
    assert first["code"] == -1
    keys.go("asia")
    assert keys.press(Keys.ARROW_DOWN)["node"] == names.index("tub")
    assert keys.press(Keys.ARROW_RIGHT)["node"] == names.index("lung")
    assert keys.press(Keys.ARROW_UP)["node"] == names.index("smoke")
    assert keys.press(Keys.ENTER)["code"] == 0
    assert keys.press(Keys.ARROW_DOWN)["code"] == 1
    keys.press(Keys.ENTER)
    assert keys.chips() == ["smoke = no"]
    keys.agrees(model, {"smoke": "no"})
    keys.press(Keys.ARROW_UP, "x")
    assert keys.chips() == ["smoke ≠ yes"]
    keys.agrees(model, {"smoke": ["no"]})
    keys.press("X")  # takes it back
    keys.agrees(model, {})
    focus = keys.press("-", "-", "-")
    assert (focus["node"], focus["code"]) == (names.index("smoke"), 0)
    assert keys.chips() == ["smoke ~ yes 0.7, no 1"]
    keys.agrees(model, {"smoke": {"yes": 0.7, "no": 1.0}})
    keys.press("+")
    keys.agrees(model, {"smoke": {"yes": 0.8, "no": 1.0}})
    focus = keys.press(Keys.ESCAPE)
    assert (focus["node"], focus["code"]) == (names.index("smoke"), -1)
    keys.go("dysp")
    keys.press(Keys.SPACE, " ")
    keys.agrees(model, {"smoke": {"yes": 0.8, "no": 1.0}, "dysp": "yes"})
    keys.press(Keys.DELETE)
    keys.agrees(model, {"smoke": {"yes": 0.8, "no": 1.0}})
    keys.chord(Keys.SHIFT, Keys.ENTER)
    keys.agrees(model, {"smoke": {"yes": 0.8, "no": 1.0}, "dysp": ["no"]})


def test_undo_redo_and_reset_by_keys(asia: tuple[Keyboard, Any]) -> None:
    keys, model = asia
    keys.go("xray")
    keys.press(Keys.ENTER, Keys.ENTER)
    keys.go("smoke")
    keys.press(Keys.ENTER, Keys.ENTER)
    keys.agrees(model, {"xray": "yes", "smoke": "yes"})
    assert keys.chord(Keys.CONTROL, "z")["code"] == 0
    keys.agrees(model, {"xray": "yes"})
    keys.chord(Keys.CONTROL, Keys.SHIFT, "z")
    keys.agrees(model, {"xray": "yes", "smoke": "yes"})
    assert keys.tab_to(".tools button", back=True)["text"] == "Dark"
    while keys.focus()["text"] != "Reset":
        keys.chord(Keys.SHIFT, Keys.TAB)
    keys.press(Keys.ENTER)  # after which there is nothing to reset, and the button is disabled
    assert keys.focus()["text"] == "Compare"
    keys.agrees(model, {})
    while keys.focus()["text"] != "Undo":
        keys.chord(Keys.SHIFT, Keys.TAB)
    keys.press(Keys.ENTER, Keys.ENTER, Keys.ENTER)
    assert keys.focus()["text"] == "Redo"
    keys.agrees(model, {})
    assert keys.chips() == []


def test_chips_are_withdrawn_by_keys_and_the_focus_goes_to_the_next(asia: tuple[Keyboard, Any]) -> None:
    keys, model = asia
    for name in ("asia", "xray"):
        keys.go(name)
        keys.press(Keys.ENTER, Keys.ENTER, "p")
    assert keys.chips() == ["asia = yes", "xray = yes"]
    assert keys.chips("targets") == ["xray", "asia"]
    keys.tab_to("#card-targets .chip", back=True)
    assert keys.press(Keys.ENTER)["label"] == "Unpin xray"
    assert keys.press(Keys.ENTER)["id"] == "head-targets"
    assert keys.chips("targets") == []
    keys.tab_to("#card-evidence .chip", back=True)
    keys.tab_to("#card-evidence .chip", back=True)
    assert keys.press(Keys.SPACE)["label"] == "Withdraw xray = yes"
    keys.agrees(model, {"xray": "yes"})
    assert keys.press(Keys.ENTER)["id"] == "head-evidence"
    keys.agrees(model, {})


def test_the_panel_of_a_node_by_keys(asia: tuple[Keyboard, Any]) -> None:
    keys, model = asia
    keys.go("tub")
    keys.press(Keys.ARROW_DOWN, "i")
    assert keys.panel() == "either"
    assert keys.focus()["node"] == keys.names.index("either")
    keys.tab_to("#card-node button")
    assert keys.focus()["text"] == "☆ Pin"
    assert keys.press(Keys.SPACE)["text"] == "★ Unpin"
    assert keys.chips("targets") == ["either"]
    assert keys.press(Keys.SPACE)["text"] == "☆ Pin"
    assert keys.tab_to("#card-node .pair button")["label"] == "Observe either = yes"
    assert keys.press(Keys.ENTER)["label"] == "Observe either = yes"
    keys.agrees(model, {"either": "yes"})
    assert keys.press(Keys.TAB)["label"] == "Rule out either = yes"
    keys.press(Keys.ENTER)
    assert keys.press(Keys.ENTER)["label"] == "Rule out either = yes"
    keys.agrees(model, {})
    assert keys.press(Keys.TAB)["label"] == "Likelihood of either = yes"
    assert keys.press(Keys.DELETE, *"0.25", Keys.ENTER)["label"] == "Likelihood of either = yes"
    keys.agrees(model, {"either": {"yes": 0.25, "no": 1.0}})
    keys.tab_to("#card-node td .visit")  # the other state, which the sensitivity is then about
    assert keys.press(Keys.ENTER)["text"] == "no"
    assert keys.page.browser.text("#head-slopes") == "Sensitivity of p(either = no)"
    assert keys.tab_to("#card-node .chip")["text"] == "lung"
    assert keys.press(Keys.ENTER)["id"] == "head-node"
    assert keys.panel() == "lung"
    keys.tab_to("#card-node .close")
    assert keys.press(Keys.ENTER)["node"] == keys.names.index("lung")
    assert keys.panel() == ""
    keys.press("i")
    keys.tab_to("#card-node .pair button")
    assert keys.press(Keys.ESCAPE)["node"] == keys.names.index("lung")
    assert keys.panel() == ""


def test_refused_evidence_is_answered_and_its_message_closed_by_keys(asia: tuple[Keyboard, Any]) -> None:
    keys, model = asia
    keys.go("tub")
    keys.press(Keys.ENTER, Keys.ENTER)
    keys.go("either")
    keys.press(Keys.ENTER, Keys.ARROW_DOWN, Keys.ENTER)
    assert "exclude each other" in keys.page.message()
    keys.agrees(model, {"tub": "yes"})
    keys.tab_to(".message .close", back=True)
    assert keys.press(Keys.ENTER)["node"] == keys.names.index("either")
    assert keys.page.message() == ""


def test_the_export_menu_and_other_tools_by_keys(asia: tuple[Keyboard, Any]) -> None:
    keys, _ = asia
    is_open = "return document.querySelector('.menu').open"
    assert keys.tab_to(".menu summary")["text"] == "Export"
    keys.press(Keys.ENTER)
    assert keys.page.browser.run(is_open)
    assert keys.press(Keys.TAB)["text"] == "Picture (PNG)"
    assert keys.press(Keys.ESCAPE)["text"] == "Export"
    assert not keys.page.browser.run(is_open)
    keys.press(Keys.SPACE)
    assert keys.press(Keys.TAB, Keys.TAB, Keys.TAB)["text"] == "Case (JSON)"
    assert keys.press(Keys.ENTER)["text"] == "Export"
    assert not keys.page.browser.run(is_open)
    keys.press(Keys.ENTER)
    assert keys.tab_to(".tools > button")["text"] in ("Dark", "Light")
    assert not keys.page.browser.run(is_open)  # it does not stay open behind
    theme = "return document.documentElement.dataset.theme"
    before = keys.press(Keys.ENTER)["text"]
    assert keys.page.browser.run(theme) == {"Dark": "light", "Light": "dark"}[before]
    keys.press(Keys.ENTER)
    keys.tab_to(".copy")
    keys.press(Keys.ENTER)
    keys.tab_to("#zoom-in")
    wide = "return document.querySelector('.node .box').getBoundingClientRect().width"
    before = keys.page.browser.run(wide)
    keys.press(Keys.ENTER)
    assert keys.page.browser.run(wide) > 1.2 * before


def test_keys_find_by_state_and_leave_the_field_empty(asia: tuple[Keyboard, Any]) -> None:
    keys, _ = asia
    keys.press("/", *"yes")
    assert len(keys.page.browser.all("#card-find .visit")) == 8
    assert keys.press(Keys.ESCAPE)["id"] == "find"
    assert keys.page.browser.all("#card-find .visit") == []
    keys.press(*"lun")
    keys.tab_to("#card-find .visit")
    assert keys.press(Keys.ENTER)["node"] == keys.names.index("lung")
    assert keys.panel() == "lung"
    assert keys.page.browser.run("return document.getElementById('find').value") == ""


def test_values_of_continuous_variables_are_typed(browser: Any, data_folder: Path, tmp_path: Path) -> None:
    model = gaussian_fit(data_folder).model
    with paged(model, "report", tmp_path) as open_page:
        open_page(browser)
        keys = keyboard(browser, model)
        keys.go("C")
        assert keys.press(Keys.ENTER)["label"] == "Observed value of C"
        assert keys.press(*"9.5", Keys.ENTER)["label"] == "Observed value of C"
        assert keys.chips() == ["C = 9.5"]
        shown = keys.page.browser.text(f"#graph .node[data-i='{keys.names.index('A')}'] .moments")
        answer = model.query("A", {"C": 9.5})
        assert shown == f"mean {float(answer.mean[0]):.4g}, sd {float(answer.sd[0]):.4g}".replace("-", "−")
        assert keys.press(Keys.TAB, Keys.TAB)["text"] == "Withdraw"
        assert keys.press(Keys.ENTER)["label"] == "Observed value of C"
        assert keys.chips() == []
        assert keys.press(Keys.ESCAPE)["node"] == keys.names.index("C")


def test_the_sections_below_by_keys(browser: Any, data_folder: Path, tmp_path: Path) -> None:
    fit = network_fit(data_folder, "alarm", prior=sf.BDeu(10))
    with paged(fit, "report", tmp_path) as open_page:
        open_page(browser)
        keys = keyboard(browser, fit.model)
        browser.run("document.getElementById('search').focus()")  # 50 stops further
        keys.press(*"ventlung")
        assert keys.press(Keys.ENTER)["node"] == keys.names.index("VENTLUNG")
        assert keys.panel() == "VENTLUNG"
        browser.run("document.querySelector('#families .more').focus()")
        assert keys.press(Keys.ENTER)["tag"] == "button"  # the first of the families that were not shown before
        shown = [name.text for name in browser.all("#bars .name")]
        assert len(shown) == 37
        assert keys.focus()["text"] == shown[25]
        assert keys.press(Keys.ENTER)["node"] == keys.names.index(shown[25])
        assert keys.panel() == shown[25]
        browser.run("document.querySelector('#card-explanation .more').focus()")
        keys.press(Keys.ENTER)
        assert len(browser.all("#card-explanation dt")) == 37


def test_large_graphs_are_walked_through_by_neighbourhoods(browser: Any, data_folder: Path, tmp_path: Path) -> None:
    model = network(data_folder, "win95pts")
    with paged(model, "served", tmp_path) as open_page:
        open_page(browser)
        keys = keyboard(browser, model)
        assert keys.tab_to("#graph .node")["node"] >= 0
        for name in ("Problem1", "DskLocal"):
            keys.go(name)
            assert keys.panel() == name
            assert len(browser.all("#graph .node")) < 60
        keys.press(Keys.ENTER, Keys.ENTER)
        keys.agrees(model, {"DskLocal": model.schema["DskLocal"].labels[0]})
        keys.tab_to("#card-node .chip")
        neighbour = keys.focus()["text"]
        assert keys.press(Keys.ENTER)["id"] == "head-node"
        assert keys.panel() == neighbour
        keys.tab_to("#card-node button")
        assert keys.press(Keys.TAB)["text"] == "Neighbourhood"
        assert keys.press(Keys.ENTER)["text"] == "Neighbourhood"
        assert keys.press(Keys.ESCAPE)["node"] == keys.names.index(neighbour)
