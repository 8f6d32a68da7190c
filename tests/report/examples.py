"""Models that explorers are looked at with, one of each kind, and their pages: reports on disk or served."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.report.pages import Explorer

import suffice as sf
from suffice.report.page import write_report


def network(data: Path, name: str) -> sf.BayesianNetwork:
    model = sf.read(data / "networks_bif" / f"{name}.bif.gz")
    assert isinstance(model, sf.BayesianNetwork)
    return model


def network_fit(data: Path, name: str, **how: Any) -> sf.Fit:
    model = network(data, name)
    return sf.fit(model.dag, model.sample(2000, seed=1), schema=model.schema, **how)


def gaussian_fit(data: Path) -> sf.Fit:
    table = pd.read_csv(data / "bnlearn_data" / "gaussian.test.csv.gz")
    return sf.fit(sf.DAG("[A][B][E][G][C|A:B][D|B][F|A:D:E:G]"), table)


def ising(data: Path) -> Any:
    """Return a Markov random field on a grid of 6 × 6."""
    rng = np.random.default_rng(3)
    names = [[f"s{i}{j}" for j in range(6)] for i in range(6)]
    edges = [
        (names[i][j], names[i + a][j + b])
        for i in range(6)
        for j in range(6)
        for a, b in ((0, 1), (1, 0))
        if i + a < 6 and j + b < 6
    ]
    rows = rng.integers(0, 2, (400, 36))
    rows[:, 1:] = np.where(rng.random((400, 35)) < 0.6, rows[:, :-1], rows[:, 1:])
    table = {name: np.array(["down", "up"])[rows[:, k]] for k, name in enumerate(np.array(names).ravel().tolist())}
    return sf.fit(sf.Cliques([list(edge) for edge in edges]), table, prior=sf.Gaussian(1.0)).model


def em_fit(data: Path) -> sf.Fit:
    """Return a fit to rows of which 15 percent of the values are missing."""
    table = pd.read_csv(data / "em_missing" / "asia_mcar15.csv", dtype=str)
    return sf.fit(
        sf.DAG("[A][S][T|A][L|S][B|S][E|T:L][X|E][D|B:E]"), table, missing="em", max_iter=60, prior=sf.BDeu(1)
    )


def long_names(data: Path) -> sf.BayesianNetwork:
    """Return a network whose names and states are too long for any box, some without a place to break."""
    names = [
        "how often the patient was seen in the outpatient department",
        "W" * 80,
        "short",
        "Donaudampfschifffahrt" * 4,
    ]
    states = {
        names[0]: ["never in the last twelve months", "once or twice", "x" * 70],
        names[1]: [f"{'state-' * 12}{k}" for k in range(14)],
        names[2]: ["a", "b"],
        names[3]: ["Donaudampfschifffahrtsgesellschaft" * 2, "no"],
    }
    dag = sf.DAG([(names[0], names[2]), (names[1], names[2]), (names[2], names[3])])
    rng = np.random.default_rng(1)
    shapes = {names[0]: (), names[1]: (), names[2]: (14, 3), names[3]: (2,)}
    tables = {name: rng.dirichlet(np.ones(len(states[name])), size=shapes[name]) for name in names}
    tables[names[2]] = np.moveaxis(tables[names[2]], 0, 0 if next(iter(dag.parents[names[2]])) == names[1] else 1)
    return sf.BayesianNetwork(dag, tables, schema=states)


EXAMPLES: dict[str, tuple[Callable[[Path], Any], str]] = {
    # A fit or a model, and whether its page is a report or served.
    "asia": (lambda data: network_fit(data, "asia", prior=sf.BDeu(10)), "report"),
    "alarm": (lambda data: network_fit(data, "alarm", prior=sf.BDeu(10)), "report"),
    "munin": (lambda data: network(data, "munin"), "served"),
    "Gaussian": (gaussian_fit, "report"),
    "Markov random field": (ising, "report"),
    "EM": (em_fit, "report"),
    "long names": (long_names, "report"),
}


@contextmanager
def paged(thing: Any, how: str, folder: Path, plots: bool = False) -> Iterator[Callable[..., None]]:
    """Write a report or serve a page, and give what opens it in a browser at some size."""
    if how == "report":
        path = folder / "page.html"
        write_report(thing, path, plots=plots)
        yield lambda browser, *size: browser.open(path, *size)
        return
    with thing.explore(browser=False, wait=False) as served:
        yield lambda browser, *size: browser.visit(served.url, *size)


def set_scheme(browser: Any, scheme: str) -> None:
    """Let the browser prefer light or dark pages; blank for neither."""
    features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def observe_last(page: Explorer, count: int) -> None:
    """Observe the first state, or a value, of the last nodes; pin the first node, and wait for what is said of it."""
    script = """
        for (const group of [...document.querySelectorAll('#graph .node')].slice(-arguments[0])) {
          group.focus();
          const press = (element, key) => element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
          press(group, 'Enter');
          const field = document.querySelector('.value-form input');
          if (field) { field.value = '1.5'; field.form.requestSubmit(); } else press(document.activeElement, 'Enter');
          await new Promise((done) => setTimeout(done, 200));
        }
        const first = document.querySelector('#graph .node');
        first.dispatchEvent(new KeyboardEvent('keydown', { key: 'p', bubbles: true }));
    """
    page.browser.driver.execute_async_script(
        f"(async () => {{{script}}})().then(arguments[arguments.length - 1])", count
    )
    page.settle()
    page.wait("return !document.querySelector('.thinking') && document.querySelectorAll('.chip.seen').length > 0")
