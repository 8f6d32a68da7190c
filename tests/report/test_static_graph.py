"""Graphs in notebooks: what is drawn, what is too large, and texts that try to be markup."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.report.test_page import HOSTILE, parsed

import suffice as sf
from suffice.report.static_graph import graph_html

SVG = "{http://www.w3.org/2000/svg}"


def drawn(page: str) -> ElementTree.Element:
    """Return the picture of a display, which must be well-formed."""
    parsed(page)
    found = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert found is not None
    return ElementTree.fromstring(found[0])


def texts(page: str) -> list[str]:
    return [element.text or "" for element in drawn(page).iter(f"{SVG}text")]


def network() -> sf.BayesianNetwork:
    tables = {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]}
    return sf.BayesianNetwork(sf.DAG("rain -> wet"), tables, schema={"rain": ["no", "yes"], "wet": ["no", "yes"]})


def test_a_graph_alone_has_names_and_arrows() -> None:
    page = sf.DAG("A -> B <- C")._repr_html_()
    assert texts(page) == ["A", "B", "C"]
    assert len(list(drawn(page).iter(f"{SVG}polygon"))) == 2
    assert "2 edges" in page


def test_a_network_has_its_marginals_as_bars() -> None:
    page = network()._repr_html_()
    assert texts(page) == ["rain", "no", "80.0 %", "yes", "20.0 %", "wet", "no", "73.0 %", "yes", "27.0 %"]
    bars = [float(bar.get("width", 0)) for bar in drawn(page).iter(f"{SVG}rect") if bar.get("fill") == "#3f7fbf"]
    assert bars == pytest.approx([78 * p for p in (0.8, 0.2, 0.73, 0.27)], abs=0.06)
    assert "background:#fff" in page
    assert "p(wet | rain)" in page


def test_a_fit_shows_its_graph_and_its_summary() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": list("xxy"), "B": list("uvv")}, prior=sf.K2())
    page = fit._repr_html_()
    assert texts(page)[0] == "A"
    assert "log-likelihood" in page


def test_curves_of_numbers_and_mixtures() -> None:
    rng = np.random.default_rng(0)
    k = rng.integers(0, 2, 80)
    data = {"k": k.astype(str), "x": 3.0 * k + rng.normal(size=80), "y": rng.normal(size=80)}
    page = sf.fit(sf.DAG("k -> x -> y"), data).model._repr_html_()
    assert len([path for path in drawn(page).iter(f"{SVG}path") if path.get("fill-opacity")]) == 2
    assert sum("±" in text for text in texts(page)) == 2
    normal = sf.JointNormal(["a", "b"], [0.0, 1.0], covariance=[[1.0, 0.5], [0.5, 2.0]])
    assert texts(normal._repr_html_()) == ["a", "0 ± 1", "b", "1 ± 1.41"]
    assert not list(drawn(normal._repr_html_()).iter(f"{SVG}polygon"))


def test_fields_and_labels_of_chains() -> None:
    field = sf.fit(sf.Cliques("A:B"), {"A": list("xxyy"), "B": list("uvvv")}).model
    assert "25.0 %" in texts(field._repr_html_())
    x = [[{"w": f"a{(i + j) % 3}"} for j in range(4)] for i in range(6)]
    y = [["AB"[(i + j) % 2] for j in range(4)] for i in range(6)]
    assert texts(sf.ChainCRF().fit(x, y).model_._repr_html_()) == ["A", "B"]


def test_what_is_too_large_is_a_sentence() -> None:
    names = [f"v{k}" for k in range(61)]
    dag = sf.DAG(list(itertools.pairwise(names)))
    assert "61 nodes and 60 edges" in graph_html(dag)
    assert "<svg" not in dag._repr_html_()
    tables = {name: [0.5, 0.5] if k == 0 else [[0.5, 0.5]] * 2 for k, name in enumerate(names)}
    model = sf.BayesianNetwork(dag, tables, schema={name: ["no", "yes"] for name in names})
    assert "model.explore()" in graph_html(model)


def test_tables_that_are_not_known_leave_the_graph_without_bars() -> None:
    data = {"A": list("xx"), "B": list("uv"), "C": list("st")}
    schema = {"A": ["x", "y"], "B": ["u", "v"], "C": ["s", "t"]}
    fit = sf.fit(sf.DAG("A -> C <- B"), data, schema=schema, unseen_parents="nan")
    assert "A" in texts(fit._repr_html_())


def test_no_name_becomes_markup() -> None:
    names = HOSTILE[:4]
    rng = np.random.default_rng(3)
    data = {name: [HOSTILE[k] for k in rng.integers(0, 3, 40)] for name in names}
    fit = sf.fit(sf.DAG([(names[0], names[1]), (names[1], names[2]), (names[0], names[3])]), data, prior=sf.BDeu(1))
    for page in (fit._repr_html_(), fit.model._repr_html_(), fit.structure._repr_html_()):
        found = {tag for tag, _ in parsed(page).found}
        assert "script" not in found
        assert "b" not in found or "<b>✓</b>" in page
        drawn(page)
    assert texts(fit.structure._repr_html_())[3].endswith("…")
