"""Reports as files: every kind of model, what the page says, and texts that try to be markup."""

from __future__ import annotations

import functools
import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.conformance.cases import IN_CODES, STRUCTURES

import suffice as sf
from suffice.families import each_model
from suffice.priors.elastic import Elastic
from suffice.report.page import plots, report_html, write_report
from suffice.report.page.bundle import MODULES, STYLES
from suffice.report.page.chart import convergence_chart
from suffice.report.page.networks import network_parts

VOID = {"meta", "br", "img", "input"}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'&amp;<b>",
    "🦜 家 ñ",
    "x" * 300,
    "</script><!--",
    "a\u2028b\x00\x1b[31m",
    "]]>",
]


class Elements(HTMLParser):
    """All elements of a page, checked to be closed in order, with the text inside."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))


def parsed(page: str) -> Elements:
    elements = Elements()
    elements.feed(page)
    elements.close()
    assert elements.open == []
    return elements


def content(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="content" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def text_of(page: str) -> str:
    return " ".join(text for tag, text in parsed(page).texts if tag not in ("script", "style"))


@functools.cache
def fit_of(case: str) -> sf.Fit:
    structure, data = {**STRUCTURES, **IN_CODES}[case]
    more = {} if case in STRUCTURES else {"prior": Elastic(0.0, 1.0)}
    return sf.fit(structure, data, unseen_parents="uniform", **more)


@pytest.mark.parametrize("case", [*STRUCTURES, *IN_CODES])
def test_every_kind_of_fit_and_its_model_alone_has_a_page(case: str) -> None:
    fit = fit_of(case)
    page = report_html(fit, plots=False)
    said = content(page)
    assert html.unescape(text_of(page)).count(fit.certificate.verdict) == 1
    assert said["entries"]
    assert all(any(entry.get(key) for key in ("t", "s", "d", "u", "f")) for entry in said["entries"])
    assert next(attrs["class"] for tag, attrs in parsed(page).found if tag == "details") in ("badge ok", "badge no")
    alone = report_html(fit.model)
    assert "no certificate" in text_of(alone)
    assert (content(alone)["graph"] is None) == (said["graph"] is None)
    if said["graph"] is not None:
        assert len(said["graph"]["layout"]["boxes"]) == said["graph"]["n"] == content(alone)["graph"]["n"]


def test_every_model_that_cases_fit_is_known_to_its_family() -> None:
    known = {entry.load(): entry for entry in each_model()}
    assert {kind.__name__ for kind in known} == {entry.name for entry in each_model()}
    assert {type(fit_of(case).model) for case in [*STRUCTURES, *IN_CODES]} <= set(known)
    assert len({entry.title for entry in known.values()}) == len(known)


def test_rows_of_tables_are_as_wide_as_their_heads() -> None:
    for case in [*STRUCTURES, *IN_CODES]:
        for entry in content(report_html(fit_of(case), plots=False))["entries"]:
            for table in entry.get("t", ()):
                if "h" in table:
                    assert {len(row) for row in table["r"]} <= {len(table["h"])}
                else:
                    assert {len(row) for row in table["v"]} == {len(entry["s"])}


def test_tables_of_a_network_are_its_own_with_its_posterior_intervals() -> None:
    data = {"A": list("xxyyzzxyzx"), "B": list("uuvvuvuvuu"), "C": list("stststsstt")}
    fit = sf.fit(sf.DAG("A -> C <- B"), data, prior=sf.BDeu(3))
    said = content(report_html(fit, plots=False))
    entry = next(entry for entry in said["entries"] if entry["n"] == "C")
    (table,) = entry["t"]
    assert [said["entries"][place]["n"] for place in entry["u"]] == list(fit.model.dag.parents["C"])
    assert np.array(table["v"]) == pytest.approx(fit.model.cpd("C").values, rel=1e-5)
    lower, upper = fit.posterior["C"].bounds(0.95)
    assert np.array(table["lo"]) == pytest.approx(lower, rel=1e-5)
    assert np.array(table["hi"]) == pytest.approx(upper, rel=1e-5)
    assert entry["l"] == pytest.approx(fit.local["C"], abs=1e-5)


def test_coefficients_of_a_regression_stand_with_their_standard_errors() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    fit = sf.fit(sf.DAG("x -> y"), {"x": x, "y": 2 * x + rng.normal(size=50)})
    entry = next(e for e in content(report_html(fit, plots=False))["entries"] if e["n"] == "y")
    table = entry["t"][1]
    assert table["h"] == ["term", "estimate", "std. error", "z", "p", "95 % from", "to", "df"]
    assert [row[0] for row in table["r"]] == ["(intercept)", "x"]
    assert [row[2] for row in table["r"]] == pytest.approx(fit.coefficients("y").se, rel=1e-5)


def test_u_terms_belong_to_variables_whatever_their_names() -> None:
    data = {"a:b": list("xyxyxyxx"), "c": list("uuvvuvuv")}
    said = content(report_html(sf.fit(sf.Cliques([("a:b", "c")]), data), plots=False))
    names = {entry["n"]: entry for entry in said["entries"]}
    assert {row[0] for row in names["a:b"]["t"][-1]["r"]} == {"a:b", "a:b:c"}
    assert {row[0] for row in names["c"]["t"][-1]["r"]} == {"c", "a:b:c"}


def test_data_are_scored_by_family_under_a_model_alone() -> None:
    data = {"A": list("xxyy"), "B": list("uvvv")}
    fit = sf.fit(sf.DAG("A -> B"), data)
    said = content(report_html(fit.model, data=data))
    assert {name: value for name, value, _ in said["families"]} == pytest.approx(fit.local, abs=1e-5)
    assert f"{fit.log_likelihood:,.4f}" in text_of(report_html(fit.model, data=data))
    weighted = {"A": list("xyy"), "B": list("uvv"), "n": [2, 1, 0]}
    assert content(report_html(fit.model, data=weighted, weights="n"))["rows"] == 3


def test_data_show_which_classes_a_classifier_finds() -> None:
    fit = fit_of("naive Bayes of states")
    data = STRUCTURES["naive Bayes of states"][1]
    (entry,) = [e for e in content(report_html(fit, data=data, plots=False))["entries"] if "these data" in e["n"]]
    found = fit.model.query_rows("C", data).to_numpy().argmax(axis=1)
    right = np.mean(np.array(fit.model.target.labels)[found] == np.array(data["C"]))
    assert f"{1 - right:.4f}" in text_of(report_html(fit, data=data, plots=False))
    assert [row[0] for row in entry["t"][0]["r"]] == ["u", "v"]


def test_the_strongest_edge_is_the_widest() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    noise = rng.random(400)
    data = {"A": a, "B": b, "C": np.where(noise < 0.8, a, np.where(noise < 0.85, b, 1 - a))}
    graph = network_parts(sf.fit(sf.DAG("A -> C <- B"), data).model, None).graph
    assert graph is not None
    assert graph.strengths is not None
    assert dict(zip(graph.edges, graph.strengths, strict=True))[0, 1] == 1.0
    assert min(graph.strengths) < 0.5
    assert "mutual information" in graph.what


def test_a_model_whose_answers_take_long_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = fit_of("ring of cliques")
    asked = content(report_html(fit, plots=False))
    assert asked["entries"][0]["t"][0]["c"] == "under the model"
    monkeypatch.setattr("suffice.report.page.entries.QUICK_CELLS", 0)
    monkeypatch.setattr(type(fit.model), "query", lambda *_: pytest.fail("a question that may take long"))
    spared = content(report_html(fit))
    assert len(spared["entries"][0]["t"]) == len(asked["entries"][0]["t"]) - 1


def test_the_title_is_the_callers_and_texts_are_escaped() -> None:
    fit = sf.fit(sf.DAG("A"), {"A": ["x", "y"]})
    page = report_html(fit, title="<i>Mine</i> & yours", plots=False)
    assert [text for tag, text in parsed(page).texts if tag in ("h1", "title")][:2] == ["<i>Mine</i> & yours"] * 2


def hostile_fit(kind: str) -> sf.Fit:
    """A fit in which every name and state tries something."""
    names = HOSTILE[:4]
    rng = np.random.default_rng(3)
    states = {name: [HOSTILE[k] for k in rng.integers(0, 3, 40)] for name in names}
    numbers = {name: rng.normal(size=40) for name in names}
    x = [[{name: 1.0} for name in names] for _ in range(6)]
    y = [[HOSTILE[(i + j) % 3] for j in range(4)] for i in range(6)]
    made: dict[str, Callable[[], sf.Fit]] = {
        "network": lambda: sf.fit(
            sf.DAG([(names[0], names[1]), (names[1], names[2]), (names[0], names[3])]), states, prior=sf.BDeu(1)
        ),
        "gaussian": lambda: sf.fit(sf.DAG([(names[0], names[1]), (names[1], names[2]), names[3]]), numbers),
        "cliques": lambda: sf.fit(sf.Cliques([names[:2], names[1:3]]), states, prior=sf.BDeu(1)),
        "classifier": lambda: sf.NaiveBayes().fit(pd.DataFrame(states)[names[:3]], states[names[3]]).fit_,
        "crf": lambda: sf.ChainCRF().fit(x, y).fit_,
    }
    return made[kind]()


KINDS = ["network", "gaussian", "cliques", "classifier", "crf"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_from_data_becomes_markup(kind: str) -> None:
    page = report_html(hostile_fit(kind), title=HOSTILE[0])
    elements = parsed(page)
    tags = {tag for tag, _ in elements.found}
    assert "b" not in tags
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert not re.search(r"\son\w+=", page.partition("<script id=")[0])  # no handlers
    names = [entry["n"] for entry in content(page)["entries"]]
    assert any(name in names for name in HOSTILE)


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    page = report_html(fit_of("chain"))
    policy = next(a["content"] for tag, a in parsed(page).found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    links = [a.get("src") or a.get("href") for _, a in parsed(page).found if a.get("src") or a.get("href")]
    assert links
    assert all(link.startswith(("#", "data:image/svg+xml,")) for link in links if link)
    assert not any(attrs.get("style") for _, attrs in parsed(page).found)


def test_script_and_style_are_files_of_the_package() -> None:
    names = (*MODULES, *STYLES)
    assert len(names) > 10
    for name in names:
        text = resources.files("suffice.report").joinpath("web", name).read_text(encoding="utf-8")
        assert "</" not in text  # which would end the element they stand in
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")  # the name of a kind of element
        assert "innerHTML" not in text
        assert "eval(" not in text


def test_the_page_says_which_extra_brings_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots.importlib.util, "find_spec", lambda name: None)
    assert "suffice[plot]" in text_of(report_html(fit_of("chain")))
    assert "suffice[plot]" not in text_of(report_html(fit_of("chain"), plots=False))


def test_plots_are_few_and_the_same_each_time() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxyyx"), "B": list("uvvvu")}, prior=sf.BDeu(1))
    first, second = plots.figures(fit), plots.figures(fit)
    assert first == second
    assert first is not None
    assert [svg[:5] for _, svg in first] == ["<svg "] * 2


def test_a_long_table_says_how_many_rows_were_left_out() -> None:
    rng = np.random.default_rng(0)
    names = [f"P{k}" for k in range(12)]
    data = {name: rng.integers(0, 2, 300).astype(str) for name in [*names, "C"]}
    fit = sf.fit(sf.DAG([(name, "C") for name in names]), data, unseen_parents="uniform")
    table = next(e for e in content(report_html(fit, plots=False))["entries"] if e["n"] == "C")["t"][0]
    assert table["n"] == fit.model.cpd("C").values.shape[0]
    assert len(table["v"]) == min(table["n"], 2000)


def test_the_chart_of_steps_falls_from_left_to_right() -> None:
    points = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', convergence_chart([-4.0, -2.0, -1.1, -1.0], [1, 2, 3, 4]))
    assert len(points) == 3
    assert sorted(points, key=lambda p: float(p[0])) == points
    assert sorted(points, key=lambda p: float(p[1])) == points
    assert convergence_chart([], []) == ""


def test_a_failed_report_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    path.write_text("old", encoding="utf-8")
    fit = sf.fit(sf.DAG("A"), {"A": ["x", "y"]})
    with pytest.raises(sf.DataError):
        fit.report(path, data={"A": ["z"]})
    assert path.read_text(encoding="utf-8") == "old"
    fit.report(path, plots=False)
    assert path.read_text(encoding="utf-8") == report_html(fit, plots=False)
    write_report(fit.model, path)
    assert "no certificate" in text_of(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["x.html.gz", "x.json"])
def test_a_page_is_an_html_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(sf.ArgumentError, match=r"\.html or \.htm, such as '.*x.*\.html'"):
        fit_of("chain").report(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x", "x.htm", "x.HTML", ".page"])
def test_names_of_pages(name: str, tmp_path: Path) -> None:
    fit_of("chain").report(tmp_path / name, plots=False)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
