"""Names and states that try to be markup, script or keys of objects are shown as text, and answered about."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.examples import paged
from tests.report.pages import Explorer

import suffice as sf

pytestmark = pytest.mark.chromium
NAMES = (
    "<img src=x onerror=\"window.hacked='an image'\">",
    "</script><script>window.hacked='a script'</script>",
    '"><svg onload="window.hacked=\'a picture\'">',
    "__proto__",
    "constructor",
    "long " * 60,
    "x" * 300,
    "\u202eright to left\u202c שלום",
    "zero\u200bwidth",
    "👩‍👩‍👧‍👦 🦜",
    "'; rm -rf ~; echo \\\"$(id)`id` #",
    "${window.hacked='a template'}{{constructor.constructor('window.hacked=1')()}}",
    "two\nlines\tand\u2028more\x07",
    "javascript:window.hacked='an address'",
    "pin=is.a&b=#c%20+",
)
STATES = (
    ("__proto__", "constructor"),
    (NAMES[0], NAMES[1], "🦜"),
    (NAMES[2], "\u202egood"),
    ('it\'s "so"\\', "x" * 200),
)


def hostile_model() -> sf.BayesianNetwork:
    """Return a tree whose variables and states all try something."""
    rng = np.random.default_rng(4)
    states = {name: STATES[k % len(STATES)] for k, name in enumerate(NAMES)}
    edges = [(NAMES[(k - 1) // 2], NAMES[k]) for k in range(1, len(NAMES))]
    tables = {
        name: rng.dirichlet(np.full(len(states[name]), 3.0), size=len(states[NAMES[(k - 1) // 2]]) if k else ())
        for k, name in enumerate(NAMES)
    }
    return sf.BayesianNetwork(sf.DAG(edges), tables, schema=states)


@pytest.fixture(scope="module")
def model() -> sf.BayesianNetwork:
    return hostile_model()


@pytest.fixture(params=["report", "served"])
def page(request: pytest.FixtureRequest, browser: Any, model: sf.BayesianNetwork, tmp_path: Path) -> Iterator[Explorer]:
    with paged(model, request.param, tmp_path) as open_page:
        open_page(browser, 3000, 2400)
        shown = Explorer(browser)
        shown.show_all()
        yield shown
        assert browser.run("return window.hacked") is None
        assert browser.run("return document.querySelectorAll('main script, main img, svg svg').length") == 0
        assert browser.run("return document.scripts.length") == 2
        assert browser.driver.get_log("browser") == []


def names_of(page: Explorer) -> list[str]:
    script = "return JSON.parse(document.getElementById('content').textContent).entries.map((entry) => entry.n)"
    return list(page.browser.run(script))[: len(NAMES)]


def check(page: Explorer, model: sf.BayesianNetwork, given: dict[str, Any]) -> None:
    """Compare every bar with the library's answers."""
    names = names_of(page)
    answers = model.marginals(given)
    for node, shown in page.bars().items():
        if names[node] in answers:
            np.testing.assert_allclose(shown, answers[names[node]].values, rtol=0, atol=1e-9)


def test_names_and_states_are_shown_as_text(page: Explorer, model: sf.BayesianNetwork) -> None:
    browser = page.browser
    titles = browser.run("""
        return [...document.querySelectorAll('#graph .node')].map((node) =>
          [...node.querySelectorAll('title')].map((title) => title.textContent));
    """)
    assert {title[0]: tuple(title[1:]) for title in titles} == {name: model.schema[name].labels for name in NAMES}
    names = names_of(page)
    assert sorted(names) == sorted(NAMES)
    for node, name in enumerate(names):
        press = "document.querySelector(arguments[0]).dispatchEvent(new KeyboardEvent('keydown', arguments[1]))"
        browser.run(press, f".node[data-i='{node}']", {"key": "i", "bubbles": True})
        assert browser.text("#card-node h2") == name
        shown = browser.run("return [...document.querySelectorAll('.states .visit')].map((e) => e.textContent)")
        assert tuple(shown) == model.schema[name].labels
        browser.run(press, f".node[data-i='{node}']", {"key": "p", "bubbles": True})
        page.settle()
    browser.run("document.querySelectorAll('button.entry').forEach((button) => button.click())")
    page.wait("return !document.querySelector('.thinking')")
    shown = browser.run("return [...document.querySelectorAll('#card-explanation dt')].map((e) => e.textContent)")
    assert shown == names[:10]


def test_questions_about_them_have_the_right_answers(page: Explorer, model: sf.BayesianNetwork) -> None:
    names = names_of(page)
    given: dict[str, Any] = {}
    for node in (names.index("__proto__"), names.index("constructor"), names.index(NAMES[1]), names.index(NAMES[12])):
        page.click(node, 0)
        given[names[node]] = model.schema[names[node]].labels[0]
        check(page, model, given)
    node = names.index(NAMES[5])
    page.click(node, 0, shift=True)
    given[names[node]] = list(model.schema[names[node]].labels[1:])
    check(page, model, given)
    chips = page.browser.run("return [...document.querySelectorAll('.chip.seen')].map((chip) => chip.title)")
    assert '__proto__ = it\'s "so"\\' in chips
    labels = page.browser.run("return [...document.querySelectorAll('#graph text')].map((text) => text.textContent)")
    assert "␣good" in labels  # not turned around
    assert len(chips) == 5


@pytest.mark.parametrize("target", range(len(NAMES)))
def test_the_question_as_code_asks_the_same(page: Explorer, model: sf.BayesianNetwork, target: int) -> None:
    names = names_of(page)
    others = [(target + 1) % len(NAMES), (target + 5) % len(NAMES)]
    given = {}
    for other in others:
        page.click(names.index(NAMES[other]), 1)
        given[NAMES[other]] = model.schema[NAMES[other]].labels[1]
    press = "document.querySelector(arguments[0]).dispatchEvent(new KeyboardEvent('keydown', arguments[1]))"
    page.browser.run(press, f".node[data-i='{names.index(NAMES[target])}']", {"key": "p", "bubbles": True})
    page.settle()
    python, shell = page.browser.run(
        "return [...document.querySelectorAll('#card-code code')].map((e) => e.textContent)"
    )
    expected = model.query(NAMES[target], given).values
    np.testing.assert_allclose(eval(python, {"model": model}).values, expected, rtol=1e-12)
    np.testing.assert_allclose(page.bars()[names.index(NAMES[target])], expected, rtol=0, atol=1e-9)
    words = shlex.split(shell)
    assert words[:2] == ["suffice", "query"]
    assert words[3] == NAMES[target]
    assert set(words[5::2]) == {f"{name}={state}" for name, state in given.items()}


def test_they_travel_through_the_address_and_the_saved_case(page: Explorer, model: sf.BayesianNetwork) -> None:
    names = names_of(page)
    given = {}
    for name in NAMES[:3] + NAMES[7:]:
        page.click(names.index(name), 0)
        if page.message():
            continue
        given[name] = model.schema[name].labels[0]
    page.browser.run("""
        URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return 'data:,'; };
        [...document.querySelectorAll('.choices button')].find((b) => b.textContent === 'Case (JSON)').click();
    """)
    page.wait("return window.saved !== undefined")
    saved = json.loads(page.browser.run("return window.saved"))
    assert saved["given"] == given
    assert set(saved["marginals"]) == set(NAMES)
    expected = model.query("__proto__", given)
    shown = [saved["marginals"]["__proto__"][label] for label in model.schema["__proto__"].labels]
    np.testing.assert_allclose(shown, expected.values, rtol=0, atol=1e-9)
    page.browser.driver.refresh()
    page.wait("return document.documentElement.classList.contains('ready')")
    page.settle()
    errors = [entry["message"] for entry in page.browser.driver.get_log("browser")]
    assert all("403" in error for error in errors)  # until the tab shows the token that it remembers
    chips = page.browser.run("return [...document.querySelectorAll('.chip.seen')].map((chip) => chip.title)")
    assert sorted(chips) == sorted(f"{name} = {state}" for name, state in given.items())
    check(page, model, given)
