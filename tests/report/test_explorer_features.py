"""What the explorer does beside bars: values, clashes, undo, comparison, rows of data, addresses and exports."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.explore.small_models import incomplete
from tests.report.pages import Explorer

import suffice as sf
from suffice.report.page import write_report

pytestmark = [pytest.mark.chromium]
YES_NO = ["yes", "no"]
ENTRIES = "return JSON.parse(document.getElementById('content').textContent).entries"
RECORD = """
const asked = window.fetch;
window.answers = [];
window.fetch = async (path, request) => {
  const response = await asked(path, request);
  if (path === '/answer') window.answers.push([JSON.parse(request.body), await response.clone().json()]);
  return response;
};
"""


def sprinkler() -> sf.BayesianNetwork:
    return sf.BayesianNetwork(
        sf.DAG("rain -> wet <- sprinkler"),
        {"rain": [0.2, 0.8], "sprinkler": [0.1, 0.9], "wet": [[[1, 0], [0.9, 0.1]], [[0.8, 0.2], [0.0, 1.0]]]},
        schema={"rain": YES_NO, "sprinkler": YES_NO, "wet": YES_NO},
    )


def mixed() -> Any:
    """Fit a network of discrete and continuous variables: sort → size → price ← sort."""
    rng = np.random.default_rng(5)
    sort = rng.integers(0, 3, 600)
    size = rng.normal(sort * 1.5, 0.5 + 0.2 * sort)
    table = {"sort": np.array(["a", "b", "c"])[sort], "size": size, "price": 2 * size - sort + rng.normal(0, 0.7, 600)}
    return sf.fit(sf.DAG([("sort", "size"), ("sort", "price"), ("size", "price")]), table).model


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Explorer:
    path = tmp_path / "rain.html"
    write_report(sprinkler(), path, plots=False)
    browser.open(path)
    return Explorer(browser)


def node(page: Explorer, name: str) -> int:
    """Return the place of a variable."""
    return int(page.browser.run(f"{ENTRIES}.findIndex((entry) => entry.n === arguments[0])", name))


def press(page: Explorer, text: str) -> None:
    """Press a button of the tool bar."""
    page.browser.run(
        "[...document.querySelectorAll('.tools button')].find((b) => b.textContent === arguments[0]).click()", text
    )
    page.settle()


def evidence(page: Explorer) -> list[str]:
    """Return the findings."""
    return sorted(chip.get_attribute("title") for chip in page.browser.all("#card-evidence .chip"))


def test_impossible_evidence_is_refused_and_the_clashing_findings_are_named(page: Explorer) -> None:
    page.click(node(page, "sprinkler"), 0)
    page.click(node(page, "rain"), 0)
    before = page.bars()
    page.click(node(page, "wet"), 1)
    said = page.message()
    assert all(name in said for name in ("rain = yes", "sprinkler = yes", "wet = no"))
    assert evidence(page) == ["rain = yes", "sprinkler = yes"]
    for place, values in page.bars().items():
        np.testing.assert_array_equal(values, before[place])
    page.click(node(page, "rain"), 0)  # which withdraws it
    assert page.message() == ""


def test_undo_and_redo_go_through_the_questions(page: Explorer) -> None:
    wet, rain = node(page, "wet"), node(page, "rain")
    page.click(wet, 0)
    page.click(rain, 1, shift=True)
    assert evidence(page) == ["rain ≠ no", "wet = yes"]
    press(page, "Undo")
    assert evidence(page) == ["wet = yes"]
    press(page, "Redo")
    assert evidence(page) == ["rain ≠ no", "wet = yes"]
    press(page, "Undo")
    press(page, "Undo")
    assert evidence(page) == []
    press(page, "Redo")
    page.click(wet, 0)
    assert page.browser.run(
        "return [...document.querySelectorAll('.tools button')].find((b) => b.textContent === 'Redo').disabled"
    )


def test_undo_twice_and_redo_lead_to_the_state_between_and_keep_pins(page: Explorer) -> None:
    wet, rain = node(page, "wet"), node(page, "rain")
    page.click(wet, 0)
    page.click(rain, 0)
    page.browser.find("#find").send_keys("sprinkler\n")
    page.browser.find("#card-node .node-tools button").click()
    page.settle()
    undo = "const b = [...document.querySelectorAll('.tools button')].find((b) => b.textContent === 'Undo');"
    page.browser.run(f"{undo} b.click(); b.click();")
    page.settle()
    assert evidence(page) == []
    press(page, "Redo")
    assert evidence(page) == ["wet = yes"]
    assert "sprinkler" in page.browser.text("#card-targets")
    press(page, "Redo")
    assert evidence(page) == ["rain = yes", "wet = yes"]


def test_a_page_that_opens_with_impossible_evidence_begins_without_any(page: Explorer) -> None:
    address = page.browser.driver.current_url.split("#")[0] + "#is.wet=no&is.rain=yes&is.sprinkler=yes"
    page.browser.driver.get("about:blank")
    page.browser.driver.get(address)
    page.wait("return document.querySelector('#card-explanation dl') !== null")
    assert "exclude each other" in page.message()
    assert evidence(page) == []


def test_a_drag_sets_a_likelihood_in_one_step(page: Explorer) -> None:
    wet = node(page, "wet")
    track = f"document.querySelector('.node[data-i=\"{wet}\"] .state .track').getBoundingClientRect()"
    left, width, y = page.browser.run(f"const t = {track}; return [t.left, t.width, t.top + t.height / 2]")
    for kind, part in (("mousePressed", 0.9), ("mouseMoved", 0.7), ("mouseMoved", 0.4), ("mouseReleased", 0.4)):
        where = {"type": kind, "x": left + part * width, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        page.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", where)
    page.settle()
    said = evidence(page)[0]
    likelihood = float(said.split(" ")[3].rstrip(","))
    assert 0.35 < likelihood < 0.45
    expected = sprinkler().query("rain", {"wet": {"yes": likelihood, "no": 1.0}}).values
    np.testing.assert_allclose(page.bars()[node(page, "rain")], expected, atol=1e-9)
    press(page, "Undo")
    assert evidence(page) == []


def test_a_case_is_compared_with_the_one_that_was_kept(page: Explorer) -> None:
    wet, rain = node(page, "wet"), node(page, "rain")
    page.click(wet, 0)
    press(page, "Compare")
    page.click(wet, 1)
    kept = sprinkler().query("rain", {"wet": "yes"}).values
    now = sprinkler().query("rain", {"wet": "no"}).values
    np.testing.assert_allclose(page.bars("before")[rain], kept, atol=1e-9)
    np.testing.assert_allclose(page.bars()[rain], now, atol=1e-9)
    moved = float((now * np.log(now / kept)).sum())
    assert f"Δ {moved:.3f}" in page.browser.text(f".node[data-i='{rain}'] .moved")
    press(page, "Stop comparing")
    prior = sprinkler().query("rain").values
    moved = float((now * np.log(now / prior)).sum())
    assert f"Δ {moved:.3f}" in page.browser.text(f".node[data-i='{rain}'] .moved")


def test_the_address_keeps_the_case(page: Explorer) -> None:
    page.click(node(page, "wet"), 0)
    page.click(node(page, "sprinkler"), 0, shift=True)
    bars = page.bars()
    address = page.browser.driver.current_url
    page.browser.driver.get("about:blank")
    page.browser.driver.get(address)
    page.wait("return document.documentElement.classList.contains('ready')")
    assert evidence(page) == ["sprinkler ≠ yes", "wet = yes"]
    for place, values in page.bars().items():
        np.testing.assert_array_equal(values, bars[place])


def test_the_panels_say_what_the_library_says(page: Explorer) -> None:
    model = sprinkler()
    page.click(node(page, "wet"), 0)
    address = page.browser.driver.current_url.split("#")[0] + "#is.wet=yes&pin=rain"
    page.browser.driver.get("about:blank")
    page.browser.driver.get(address)
    page.wait("return document.querySelector('#card-slopes table') !== null")
    p = model.query("rain", {"wet": "yes"}).values
    pair = model.query(["rain", "sprinkler"], {"wet": "yes"}).values
    gain = float((pair[pair > 0] * np.log((pair / np.outer(p, pair.sum(axis=0)))[pair > 0])).sum())
    assert f"{gain:.3f}" in page.browser.text("#card-gains")
    best = model.map({"wet": "yes"})
    assert f"rain{best['rain']}" in page.browser.text("#card-explanation")
    assert f"sprinkler{best['sprinkler']}" in page.browser.text("#card-explanation")
    assert f"1 case in {1 / np.exp(model.log_evidence({'wet': 'yes'})):.1f}" in page.browser.text(".evidence-p")
    steepest = model.sensitivity({"rain": "yes"}, {"wet": "yes"}).ranked()[0]
    assert page.browser.text("#card-slopes tbody tr button").startswith(steepest[0])
    code = page.browser.text("#card-code code")
    found = eval(code, {"model": model})  # the page's own words
    np.testing.assert_allclose(found.values, p, atol=1e-12)
    assert page.browser.text("#card-code .code:nth-child(2) code") == "suffice query model.json rain -g wet=yes"


def test_pictures_and_the_case_are_exported(page: Explorer, tmp_path: Path) -> None:
    page.click(node(page, "wet"), 0)
    how = {"behavior": "allow", "downloadPath": str(tmp_path / "saved")}
    page.browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", how)
    for label in ("Picture (PNG)", "Picture (SVG)", "Case (JSON)"):
        page.browser.run(
            "[...document.querySelectorAll('.choices button')].find((b) => b.textContent === arguments[0]).click()",
            label,
        )
    wanted = [tmp_path / "saved" / f"model.{ending}" for ending in ("png", "svg", "json")]
    end = time.monotonic() + 20
    while not all(path.exists() and path.stat().st_size for path in wanted) and time.monotonic() < end:
        time.sleep(0.05)
    assert wanted[0].read_bytes().startswith(b"\x89PNG")
    drawn = ElementTree.fromstring(wanted[1].read_text(encoding="utf-8"))
    texts = ["".join(element.itertext()) for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"rain", "wet", "sprinkler"} <= set(texts)
    case = json.loads(wanted[2].read_text(encoding="utf-8"))
    assert case["given"] == {"wet": "yes"}
    expected = sprinkler().query("rain", {"wet": "yes"}).values
    np.testing.assert_allclose(list(case["marginals"]["rain"].values()), expected, atol=1e-12)


@pytest.fixture
def served_mixed(browser: Any) -> Iterator[tuple[Explorer, Any]]:
    model = mixed()
    rows = {"sort": ["a", None, "c"], "size": [1.5, 2.25, None], "price": [None, 3.0, 5.5]}
    with model.explore(rows, browser=False, wait=False) as served:
        browser.visit(served.url)
        browser.run(RECORD)
        yield Explorer(browser), model


def last_answer(page: Explorer) -> tuple[dict[str, Any], dict[str, Any]]:
    asked, answer = page.browser.run("return window.answers.at(-1)")
    return asked, answer


def check_mixed(page: Explorer, model: Any) -> None:
    """Compare the last answer of the server, and what the page shows of it, with the library."""
    asked, answer = last_answer(page)
    names = [entry["n"] for entry in page.browser.run(ENTRIES)[:3]]
    question = asked.get("question", asked)
    given: dict[str, Any] = {
        names[int(k)]: model.schema[names[int(k)]].labels[code] for k, code in question["hard"].items()
    }
    given |= {names[int(k)]: value for k, value in question["values"].items()}
    for place, name in enumerate(names):
        found = answer["marginals"][place]
        if name in given:
            continue
        expected = model.query(name, given)
        if name == "sort":
            np.testing.assert_allclose(found, expected.values, atol=1e-9)
            np.testing.assert_allclose(page.bars()[place], expected.values, atol=1e-9)
            continue
        w, m, s = (np.array(found[key]) for key in "wms")
        mean = float(w @ m)
        sd = float(np.sqrt(w @ (s**2 + (m - mean) ** 2)))
        np.testing.assert_allclose([mean, sd], [float(expected.mean[0]), float(np.ravel(expected.sd)[0])], rtol=1e-9)
        shown = page.browser.find(f".node[data-i='{place}']").get_attribute("aria-label")
        assert shown.startswith(f"{name}: mean {mean:.4g}".replace("-", "−"))


def test_conditional_gaussian_networks_are_asked(served_mixed: tuple[Explorer, Any]) -> None:
    page, model = served_mixed
    sort = node(page, "sort")
    for code in (0, 2, 2, 1):
        page.click(sort, code)
        check_mixed(page, model)
    size = node(page, "size")
    field = f"document.querySelector('.node[data-i=\"{size}\"] .field').getBoundingClientRect()"
    left, width, y = page.browser.run(f"const t = {field}; return [t.left, t.width, t.top + t.height / 2]")
    for part in (0.3, 0.6, 0.8):
        where = {"x": left + part * width, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            page.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, **where})
        page.settle()
        assert "values" in last_answer(page)[0].get("question", last_answer(page)[0])
        check_mixed(page, model)


def test_rows_of_the_data_become_the_evidence(served_mixed: tuple[Explorer, Any]) -> None:
    page, model = served_mixed
    for expected in (["size = 1.5", "sort = a"], ["price = 3", "size = 2.25"], ["price = 5.5", "sort = c"]):
        page.browser.run("document.querySelector('#card-rows [aria-label=\"Next row\"]').click()")
        page.wait(
            f"return [...document.querySelectorAll('#card-evidence .chip')].some((c) => c.title === '{expected[0]}')"
        )
        assert evidence(page) == expected
        check_mixed(page, model)


def test_values_of_rows_that_the_model_does_not_know_are_named(browser: Any) -> None:
    rows = {"rain": ["maybe", "no"], "wet": ["yes", "no"], "colour": ["red", "blue"]}
    with sprinkler().explore(rows, browser=False, wait=False) as served:
        browser.visit(served.url)
        page = Explorer(browser)
        browser.run("document.querySelector('#card-rows [aria-label=\"Next row\"]').click()")
        page.wait("return document.querySelectorAll('#card-evidence .chip').length === 1")
        assert evidence(page) == ["wet = yes"]
        assert "Row 1: the value of rain is no state" in browser.text("#card-rows")
        assert "colour" in browser.text("#card-rows")


def test_a_row_sets_what_it_has_and_says_what_is_missing_and_what_it_says_of_the_target(browser: Any) -> None:
    rows = {"rain": [None, "yes", None], "wet": ["yes", "no", None], "sprinkler": ["no", "yes", None]}
    with sprinkler().explore(rows, browser=False, wait=False) as served:
        browser.visit(f"{served.url}#pin=wet")
        page = Explorer(browser)

        def take(row: int) -> str:
            browser.run("document.querySelector('#card-rows [aria-label=\"Next row\"]').click()")
            page.wait(f"return document.querySelector('#card-rows [role=status]').textContent.startsWith('Row {row}')")
            page.settle()
            return str(browser.text("#card-rows [role=status]"))

        assert take(1) == "Row 1 says: wet = yes. Row 1 has no value of rain."
        assert evidence(page) == ["sprinkler = no"]
        assert take(2) == "Row 2 says: wet = no."
        assert evidence(page) == ["rain = yes", "sprinkler = yes"]
        assert sorted(take(3).removeprefix("Row 3 has no value of ").removesuffix(".").split(", ")) == sorted(rows)
        assert evidence(page) == []


def test_a_row_that_is_impossible_leaves_the_evidence_as_it_was(browser: Any) -> None:
    rows = {"rain": ["no", "yes"], "wet": ["no", "no"], "sprinkler": ["no", "yes"]}
    with sprinkler().explore(rows, browser=False, wait=False) as served:
        browser.visit(served.url)
        page = Explorer(browser)
        for _ in rows["rain"]:
            browser.run("document.querySelector('#card-rows [aria-label=\"Next row\"]').click()")
            page.wait("return document.querySelectorAll('#card-evidence .chip').length === 3")
        page.wait("return !document.querySelector('.message').hidden")
        assert "exclude each other. The evidence stays as it was." in page.message()
        assert evidence(page) == ["rain = no", "sprinkler = no", "wet = no"]


def test_monitors_of_what_is_not_known_say_so_and_show_no_bars_of_before(browser: Any) -> None:
    with incomplete().explore(browser=False, wait=False) as served:
        browser.visit(served.url)
        page = Explorer(browser)

        def shown(name: str) -> tuple[str, str, float]:
            box = f"#graph .node[data-i='{node(page, name)}']"
            return browser.text(f"{box} .moved"), browser.text(f"{box} .percent"), page.bars()[node(page, name)].sum()

        assert shown("B") == ("not known", "–", 0.0)
        assert "Not known: ['B', 'D']. The answer depends on 'B'" in page.message()
        assert shown("A")[2] == pytest.approx(1.0)
        page.click(node(page, "A"), 0)
        assert page.message() == ""
        assert shown("B")[2] == pytest.approx(1.0)
        page.click(node(page, "A"), 1)
        assert shown("B") == ("not known", "–", 0.0)
        assert "table has unknown rows" in browser.text("#card-explanation")


def test_the_token_leaves_the_address_and_a_reload_works(browser: Any) -> None:
    with sprinkler().explore(browser=False, wait=False) as served:
        browser.visit(served.url)
        assert "token" not in browser.driver.current_url
        page = Explorer(browser)
        page.click(node(page, "wet"), 0)
        browser.driver.refresh()
        page.wait("return document.documentElement.classList.contains('ready')")
        assert evidence(page) == ["wet = yes"]
    page.click(node(page, "rain"), 0)
    assert "server has ended" in page.message()
    assert evidence(page) == ["wet = yes"]
