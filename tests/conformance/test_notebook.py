"""What notebooks show: structures, fits, certificates, models, statistics and answers as HTML, whole and safe."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from tests.conformance.cases import ALL_KINDS, CLASSES, IN_CODES, METHODS, NUMBERS, STRUCTURES, default_fit

import suffice as sf
from suffice.structures.class_gaussian import ClassGaussian
from suffice.structures.joint_classes import JointClasses
from suffice.structures.naive import Naive
from suffice.structures.softmax_regression import SoftmaxClasses

EVIL = "<script>alert(\"1\")</script><evil onload='x'>&amp;"
OTHER = "'\"</td></table></pre><evil>"
STATES = [f"{OTHER}{mark}" for mark in "ab"]
EMPTY = {"br", "hr", "img", "meta", "link", "input", "path", "circle", "line", "rect"}


class Page(HTMLParser):
    """Reads HTML, and refuses tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without a beginning"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def page(thing: Any) -> Page:
    """Return the HTML of an object, which must be whole and without anything that a name brought in."""
    assert hasattr(thing, "_repr_html_"), type(thing)
    text = thing._repr_html_()
    assert text, type(thing)
    found = Page(text)
    assert not found.tags & {"evil", "script"}, type(thing)
    assert not any(name.startswith("on") for name in found.attributes), type(thing)
    return found


def parts_of(fit: sf.Fit) -> list[Any]:
    """Return what a fit holds."""
    statistics = [] if fit.statistics is None else [fit.statistics, *fit.statistics.values()]
    return [fit, fit.certificate, fit.model, fit.model.schema, *fit.notes, *statistics]


@pytest.mark.parametrize("case", [*STRUCTURES, *IN_CODES])
def test_structures_fits_models_and_statistics_have_html(case: str) -> None:
    page({**STRUCTURES, **IN_CODES}[case][0])
    for thing in parts_of(default_fit(case)):
        page(thing)


# Names that are markup ----------------------------------------------------------------------------------------

TABLE: dict[str, list[Any]] = {EVIL: STATES * 5, OTHER: [*STATES[:1] * 5, *STATES[1:] * 5], "x": CLASSES["x"]}
HOSTILE: dict[str, tuple[Any, Any]] = {
    "DAG": (sf.DAG({EVIL: [], OTHER: [EVIL], "x": [EVIL]}), TABLE),
    "cliques": (sf.Cliques([(EVIL, OTHER)]), TABLE),
    "features": (sf.Features([sf.indicators(EVIL, OTHER)]), TABLE),
    "Ising": (sf.Ising([(EVIL, OTHER)]), {EVIL: [0, 1, 1, 0, 1], OTHER: [0, 1, 0, 0, 1]}),
    "one normal": (sf.Normal(EVIL), {EVIL: NUMBERS["x"]}),
    "normals": (sf.MultivariateNormal([EVIL, OTHER]), {EVIL: NUMBERS["x"], OTHER: NUMBERS["y"]}),
    "Gaussian field": (sf.GaussianMarkov([(EVIL, OTHER)]), {EVIL: NUMBERS["x"], OTHER: NUMBERS["y"]}),
    "categorical": (sf.Categorical(EVIL), TABLE),
    "coin": (sf.Bernoulli(EVIL), TABLE),
    "chain": (sf.MarkovChain(1, variable=EVIL), TABLE),
    "autoregression": (sf.Autoregression(1, [EVIL]), {EVIL: [*NUMBERS["x"], *NUMBERS["y"]]}),
    "normal classes": (ClassGaussian(EVIL, ["x"]), TABLE),
    "joint classes": (JointClasses(EVIL, (OTHER,)), TABLE),
    "naive": (Naive(EVIL, [OTHER, "x"]), TABLE),
    "softmax": (SoftmaxClasses(EVIL, ["x"]), TABLE),
    "hypotheses": (sf.Hypotheses({EVIL: [2, 4], OTHER: [1, 2]}, over=EVIL + "n"), {EVIL + "n": [2, 2]}),
}


@cache
def hostile(case: str) -> sf.Fit:
    structure, data = HOSTILE[case]
    penalised = case in ("Ising", "softmax", "features")
    return sf.fit(structure, data, prior=sf.Gaussian(1.0)) if penalised else sf.fit(structure, data)


@pytest.mark.parametrize("case", HOSTILE)
def test_names_and_states_are_shown_as_text(case: str) -> None:
    page(HOSTILE[case][0])
    for thing in parts_of(hostile(case)):
        page(thing)
    assert EVIL in page(hostile(case).model.schema).text


def test_every_kind_of_structure_is_crossed() -> None:
    in_words = {type(structure) for structure, _ in HOSTILE.values()}
    everything = in_words | {type(structure) for structure, _ in [*STRUCTURES.values(), *IN_CODES.values()]}
    assert everything >= {kind for kind in METHODS if kind.__module__.startswith("suffice.")}


def test_answers_show_names_as_text() -> None:
    fit = hostile("DAG")
    model = fit.model
    mixture = model.query("x")
    assert EVIL in page(mixture).text
    rows = {name: column[:3] for name, column in TABLE.items()}
    for thing in (
        model.query([EVIL, OTHER]),
        model.map({OTHER: STATES[0]}),
        model.query_rows(EVIL, {OTHER: STATES}),
        model.query_rows("x", {OTHER: STATES}),
        model.predict(EVIL, rows),
        model.predict(EVIL, rows).score(),
        model.predict("x", rows),
        model.predict("x", rows).score(),
        *(model.cpd(node) for node in model.dag.nodes),
        hostile("cliques").model.complexity(),
    ):
        page(thing)
    cliques = hostile("cliques")
    for thing in (
        model.cpd(OTHER).table,
        cliques.u_terms(),
        cliques.model.u_terms(),
        sf.likelihood_ratio(sf.fit(sf.Cliques([EVIL, OTHER]), TABLE), cliques),
    ):
        assert EVIL.partition("<evil")[0] in page(thing).text or STATES[0] in page(thing).text, type(thing)
    assert EVIL in page(model.predict(EVIL, rows)).text
    assert STATES[0] in page(model.predict(EVIL, rows)).text


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_tables_of_every_kind_of_node_have_html(kind: str) -> None:
    assert hasattr(ALL_KINDS[kind].cpd_type, "_repr_html_") or kind == "noisy_copy"


def test_large_networks_show_their_first_tables() -> None:
    names = [f"v{place}" for place in range(60)]
    schema = {name: ["a", "b"] for name in names}
    network = sf.BayesianNetwork(sf.DAG(names), {name: [0.5, 0.5] for name in names}, schema=schema)
    assert "… 40 more tables; model.cpd(name) shows one" in page(network).text
    field = sf.MarkovNetwork([((name,), np.ones(2)) for name in names], schema=schema)
    assert "… 40 more tables; model.factors has all" in page(field).text
