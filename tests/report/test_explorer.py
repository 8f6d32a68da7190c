"""The explorer in a real browser: clicks give the posteriors of the library, in a report and in a served page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.examples import ising, network
from tests.report.pages import Explorer

from suffice.report.page import write_report

pytestmark = [pytest.mark.chromium, pytest.mark.data]
SIZE = (5000, 3600)  # pixels that show a whole graph at a scale at which its bars can be clicked


MODELS: dict[str, Callable[[Path], Any]] = {
    "asia": lambda data: network(data, "asia"),
    "alarm": lambda data: network(data, "alarm"),
    "hailfinder": lambda data: network(data, "hailfinder"),
    "ising": ising,
}


@contextmanager
def opened(browser: Any, model: Any, how: str, folder: Path) -> Iterator[Explorer]:
    """Open a model's explorer, in a report or served."""
    if how == "report":
        path = folder / "model.html"
        write_report(model, path, plots=False)
        browser.open(path, *SIZE)
        page = Explorer(browser)
        page.show_all()
        yield page
        return
    with model.explore(browser=False, wait=False) as served:
        browser.visit(served.url, *SIZE)
        page = Explorer(browser)
        page.show_all()
        yield page


def given_of(model: Any, names: list[str], seen: dict[int, Any]) -> dict[str, Any]:
    """Return evidence as `model.query` takes it; a set holds the states that were ruled out."""
    given: dict[str, Any] = {}
    for node, finding in seen.items():
        labels = model.schema[names[node]].labels
        out = finding if isinstance(finding, set) else None
        given[names[node]] = labels[finding] if out is None else [x for k, x in enumerate(labels) if k not in out]
    return given


def click_at_random(page: Explorer, model: Any, rng: np.random.Generator) -> tuple[int, int]:
    """Click a few states, compare every bar with the library's answer, and withdraw what was observed.

    Returns
    -------
    tuple of int
        How many answers were compared, and how many findings were refused.
    """
    names = [
        entry["n"]
        for entry in page.browser.run("return JSON.parse(document.getElementById('content').textContent).entries")
    ]
    names = names[: len(model.variables)]
    seen: dict[int, Any] = {}
    compared = refused = 0
    for _ in range(int(rng.integers(1, 5))):
        node = int(rng.integers(len(names)))
        labels = model.schema[names[node]].labels
        code = int(rng.integers(min(len(labels), 11)))
        shift = bool(rng.random() < 0.25)
        before = seen.get(node)
        wanted = {**seen}
        if shift:
            out = {*before} if isinstance(before, set) else set()
            out ^= {code}
            if len(out) == len(labels):
                continue
            wanted[node] = out
        else:
            wanted[node] = code
        if wanted[node] == before or wanted[node] == set():
            wanted.pop(node)
        page.click(node, code, shift)
        given = given_of(model, names, wanted)
        if model.log_evidence(given) == -np.inf:
            assert "xclude each other" in page.message() or "probability zero" in page.message()
            refused += 1
        else:
            assert page.message() == ""
            seen = wanted
        answers = model.marginals(given_of(model, names, seen))
        for place, shown in page.bars().items():
            name = names[place]
            seen_state = np.eye(model.schema[name].n_states)[seen[place]] if name not in answers else None
            expected = answers[name].values if seen_state is None else seen_state
            np.testing.assert_allclose(shown, expected[: len(shown)], rtol=0, atol=1e-9)
        compared += 1
    page.browser.run("[...document.querySelectorAll('.tools button')].find((b) => b.textContent === 'Reset').click()")
    page.settle()
    return compared, refused


@pytest.mark.parametrize("how", ["report", "served"])
@pytest.mark.parametrize("name", MODELS)
def test_clicks_give_the_posteriors_of_the_library(
    browser: Any, data_folder: Path, tmp_path: Path, name: str, how: str
) -> None:
    model = MODELS[name](data_folder)
    rng = np.random.default_rng(28)
    with opened(browser, model, how, tmp_path) as page:
        total = sum(click_at_random(page, model, rng)[0] for _ in range(10))
        assert total >= 10


@pytest.mark.slow
@pytest.mark.parametrize("how", ["report", "served"])
@pytest.mark.parametrize("name", MODELS)
def test_two_hundred_sequences_of_clicks_give_the_posteriors_of_the_library(
    browser: Any, data_folder: Path, tmp_path: Path, name: str, how: str
) -> None:
    model = MODELS[name](data_folder)
    rng = np.random.default_rng(2028)
    with opened(browser, model, how, tmp_path) as page:
        counts = [click_at_random(page, model, rng) for _ in range(200)]
        assert sum(compared for compared, _ in counts) >= 300
