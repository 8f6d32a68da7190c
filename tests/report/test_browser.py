"""Reports in a real browser: no errors, no requests, nodes that answer, a search that finds, and room on a phone."""

from __future__ import annotations

import itertools
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.report.examples import gaussian_fit, network_fit
from tests.report.test_page import HOSTILE, KINDS, hostile_fit

import suffice as sf
from suffice.report.page import write_report

pytestmark = [pytest.mark.chromium, pytest.mark.data]


def log_linear_fit(data: Path) -> sf.Fit:
    table = pd.read_csv(data / "loglinear_tables" / "HairEyeColor.csv")
    return sf.fit(sf.Cliques("Hair:Eye + Eye:Sex + Hair:Sex"), table, weights="Freq")


def classifier_fit(data: Path) -> sf.Fit:
    table = pd.read_csv(data / "classification" / "HouseVotes84.csv").astype(object)
    return sf.NaiveBayes().fit(table.drop(columns=["Class"]), table["Class"]).fit_


def crf_fit(data: Path) -> sf.Fit:
    with lzma.open(data / "seq_conll2000" / "train.txt.xz", "rt", encoding="utf-8") as file:
        lines = [line.split() for line in itertools.islice(file, 1200)]
    groups = [list(rows) for some, rows in itertools.groupby(lines, key=bool) if some]
    words = [[{"word": word.lower(), "pos": pos} for word, pos, _ in rows] for rows in groups]
    return sf.ChainCRF().fit(words, [[label for *_, label in rows] for rows in groups]).fit_


REPORTS: dict[str, tuple[Callable[[Path], sf.Fit], str, str, str]] = {
    # A fit; a node; a text of its table; and a name that the search finds by "query" (a name or a state).
    "asia": (lambda data: network_fit(data, "asia", prior=sf.BDeu(10)), "either", "0.99", "xray"),
    "alarm": (lambda data: network_fit(data, "alarm", prior=sf.BDeu(10)), "CATECHOL", "INSUFFANESTH", "VENTTUBE"),
    "log-linear": (log_linear_fit, "Hair", "Blond:Blue", "Sex"),
    "Gaussian": (gaussian_fit, "F", "(intercept)", "D"),
    "classifier": (classifier_fit, "V4", "republican", "V12"),
    "CRF": (crf_fit, "B-NP", "pos:DT", "B-VP"),
}


@pytest.fixture(scope="module")
def written(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write each report once."""
    folder = tmp_path_factory.mktemp("reports")

    def write(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            REPORTS[name][0](data_folder).report(path)
        return path

    return write


def click_node(browser: Any, name: str) -> None:
    """Show the whole graph and click on the name of a node, as a hand would."""
    from selenium.webdriver import ActionChains

    browser.run("document.getElementById('graph').scrollIntoView({block: 'nearest'})")
    browser.run("document.getElementById('zoom-fit').click()")
    browser.driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 20))")
    x, y = browser.run(
        """
        const node = [...document.querySelectorAll('#graph .node')]
          .find((node) => node.querySelector('title').textContent === arguments[0]);
        const high = node.querySelector('.box').getAttribute('height');
        const box = node.querySelector('.box').getBoundingClientRect();
        return [box.left + box.width / 3, box.top + (14 * box.height) / high];
        """,
        name,
    )
    mouse = ActionChains(browser.driver)
    mouse.w3c_actions.pointer_action.move_to_location(round(x), round(y))
    mouse.click().perform()


def panel(browser: Any) -> str:
    """Return the name of the node whose panel is shown."""
    assert browser.find("#card-node").is_displayed()
    return str(browser.text("#card-node h2"))


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_opens_and_its_nodes_and_its_search_answer(
    browser: Any, written: Callable[[str], Path], name: str
) -> None:
    _, node, inside, sought = REPORTS[name]
    browser.open(written(name))
    assert browser.find(".badge.ok summary").is_displayed()
    browser.find(".badge.ok summary").click()
    assert browser.find(".verdict.ok").is_displayed()
    click_node(browser, node)
    assert panel(browser) == node
    assert inside in browser.text("#card-node")
    assert browser.text(".node.chosen title") == node
    found = browser.search(sought.lower())
    assert found[0] == sought
    assert sought in browser.run("return [...document.querySelectorAll('.node.match title')].map((e) => e.textContent)")
    assert browser.search("there is no such name") == []
    assert len(browser.search("")) > 1
    assert browser.driver.get_log("browser") == []
    assert browser.requests() == []


@pytest.mark.parametrize("name", REPORTS)
def test_the_panel_of_a_clicked_node_is_in_view(browser: Any, written: Callable[[str], Path], name: str) -> None:
    browser.open(written(name), 1280, 900)
    click_node(browser, REPORTS[name][1])
    assert panel(browser) == REPORTS[name][1]
    assert browser.run("return scrollY") == 0
    script = "const box = arguments[0].getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]"
    left, top, right, bottom = browser.run(script, browser.find("#card-node"))
    assert 0 <= left < right <= 1280
    assert 0 <= top < bottom <= 900
    _, top, _, bottom = browser.run(script, browser.find("#card-node table"))
    assert 0 < top < 900 - 40  # of long tables the first rows


def test_chosen_nodes_lead_to_their_neighbours(browser: Any, written: Callable[[str], Path]) -> None:
    browser.open(written("asia"))
    click_node(browser, "dysp")
    labels = [label.text for label in browser.all("#card-node .chip")]
    assert sorted(labels) == ["bronc", "either"]
    assert len(browser.all(".edge.in")) == 2
    assert len(browser.all(".edge.out")) == 0
    browser.all("#card-node .chip")[labels.index("bronc")].click()
    assert panel(browser) == "bronc"
    assert len(browser.all(".edge.in")) == 1
    assert len(browser.all(".edge.out")) == 1


def test_the_search_finds_states_and_enter_opens_a_node(browser: Any, written: Callable[[str], Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(written("alarm"))
    assert "INTUBATION" in browser.search("onesided")
    browser.find("#search").clear()
    browser.find("#search").send_keys("ventlung", Keys.ENTER)
    assert panel(browser) == "VENTLUNG"
    browser.all("#entries button.entry")[0].click()
    assert browser.all("#entries table")


def test_tables_and_bars_are_sorted_on_request(browser: Any, written: Callable[[str], Path]) -> None:
    from selenium.webdriver.support.ui import Select

    browser.open(written("log-linear"))
    browser.run("document.querySelectorAll('#entries button.sort')[2].click()")
    column = [cell.text for cell in browser.all("#entries li:first-child tbody tr td:nth-child(3)")]
    numbers = [float(text.replace("−", "-")) for text in column]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) > 10
    browser.open(written("asia"))
    values = [float(bar.text.split(" ")[0].replace("−", "-").replace(",", "")) for bar in browser.all("#bars .value")]
    assert values == sorted(values)
    assert len(values) == 8
    Select(browser.find("#bar-order")).select_by_value("name")
    names = [name.text for name in browser.all("#bars .name")]
    assert names == sorted(names)


def test_the_graph_is_moved_and_zoomed(browser: Any, written: Callable[[str], Path]) -> None:
    from selenium.webdriver import ActionChains

    browser.open(written("asia"))
    place = "return document.querySelector('.node').getBoundingClientRect().left"
    width = "return document.querySelector('.node rect').getBoundingClientRect().width"
    before, wide = browser.run(place), browser.run(width)
    browser.run("document.getElementById('graph').scrollIntoView({block: 'center'})")
    corner = ActionChains(browser.driver).move_to_element_with_offset(browser.find("#graph"), -250, 180)
    corner.click_and_hold().move_by_offset(60, -20).release().perform()
    assert browser.run(place) == pytest.approx(before + 60, abs=3)
    browser.find("#zoom-in").click()
    assert browser.run(width) == pytest.approx(1.4 * wide, rel=0.02)
    browser.find("#zoom-fit").click()
    assert browser.run(place) == pytest.approx(before, abs=1)


@pytest.mark.parametrize("name", REPORTS)
def test_a_phone_needs_no_scrolling_to_the_side(browser: Any, written: Callable[[str], Path], name: str) -> None:
    browser.open(written(name), width=390, height=800)
    widest = """
        document.querySelectorAll('button.entry').forEach((button) => button.click());
        return document.documentElement.scrollWidth;
    """
    assert browser.run(widest) <= 390
    click_node(browser, REPORTS[name][1])
    assert panel(browser) == REPORTS[name][1]
    assert browser.run("return document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("name", REPORTS)
def test_on_paper_every_table_is_printed(browser: Any, written: Callable[[str], Path], name: str) -> None:
    browser.open(written(name))
    rows = browser.run("""
        const entries = JSON.parse(document.getElementById('content').textContent).entries;
        return entries.map((entry) => (entry.t || [])
          .map((table) => (table.p && !table.p.length ? entry.s.length : (table.v || table.r).length)));
    """)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.run("dispatchEvent(new Event('beforeprint'))")
    try:
        printed = browser.run("""
            return [...document.querySelectorAll('.printed')].filter((box) => box.checkVisibility())
              .map((box) => [...box.querySelectorAll('table')].map((table) => table.tBodies[0].rows.length));
        """)
        assert printed == rows
        assert not browser.find("nav").is_displayed()
        assert not browser.find(".tools").is_displayed()
    finally:
        browser.run("dispatchEvent(new Event('afterprint'))")
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert browser.all(".printed") == []


def test_dark_and_light_differ(browser: Any, written: Callable[[str], Path]) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.open(written("asia"))
        colours.add(browser.run("return getComputedStyle(document.body).backgroundColor"))
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(colours) == 2


def test_munin_opens_within_three_seconds(browser: Any, data_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "munin.html"
    write_report(sf.read(data_folder / "networks_bif" / "munin.bif.gz"), path)
    assert path.stat().st_size < 15e6
    browser.open(path)
    timing = browser.run("return performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert 0 < timing < 3000
    assert browser.run("return JSON.parse(document.getElementById('content').textContent).graph.n") == 1041
    assert 0 < len(browser.all(".node")) < 1041  # those in view
    name = "R_MEDD2_DISP_EWD"
    assert browser.search(name)[0] == name
    assert len(browser.search("")) == 40  # the first ones; the rest on request
    browser.find("#entries + .more, #entries ~ .more").click()
    assert len(browser.all("#entries > li")) == 80


@pytest.mark.parametrize("kind", KINDS)
def test_names_and_states_that_try_to_be_markup_are_shown_as_text(browser: Any, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "hostile.html"
    hostile_fit(kind).report(path, title=HOSTILE[0])
    browser.open(path)
    assert browser.driver.title == HOSTILE[0]
    assert browser.text("h1") == HOSTILE[0]
    browser.run("document.querySelectorAll('button.entry').forEach((button) => button.click())")
    assert browser.run("return document.querySelectorAll('main script, main b, main img:not([src^=data])').length") == 0
    shown = browser.text("main")
    assert HOSTILE[0] in shown
    assert HOSTILE[1] in shown
    assert HOSTILE[2] in shown
    names = browser.run("return [...document.querySelectorAll('.node title:first-child')].map((e) => e.textContent)")
    for place, name in enumerate(names):
        script = (
            "document.querySelectorAll('.node')[arguments[0]].dispatchEvent(new KeyboardEvent('keydown', arguments[1]))"
        )
        browser.run(script, place, {"key": "i", "bubbles": True})
        assert panel(browser) == name
    assert browser.search("alert(1)")[0] == HOSTILE[0]
    assert browser.driver.get_log("browser") == []
    browser.open(path, width=390)
    assert browser.run("return document.documentElement.scrollWidth") <= 390
