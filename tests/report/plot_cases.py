"""A small, a large and an awkward case for every plot: what the conformance test crosses with the boxes of texts."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB
from tests.result.test_chain_weights import chain

import suffice as sf
from suffice import report
from suffice.learn.method import Start, Step

AWKWARD = (
    "<script>alert(1)</script>", "$\\alpha_1$ and $", "🦜🦜 parrots", "W" * 300, "_hidden", "tab\tand\nline",
    "漢字 \"quoted\"", "e\u0301 \u202e backwards",
)  # fmt: skip
"""Names that mean something to HTML, to mathtext, to legends or to terminals, that the font lacks, or that run long."""


def names(n: int, stem: str = "s") -> list[str]:
    return [f"{stem}{i}" for i in range(n)]


def awkward(n: int, stem: str = "") -> list[str]:
    """Return different awkward names, the short ones first."""
    return [f"{AWKWARD[i % len(AWKWARD)]}{stem}{i if i >= len(AWKWARD) else ''}" for i in range(n)]


def table(
    shape: tuple[int, ...], states: Callable[[int], list[str]] = names, variables: Any = "ABCD", seed: int = 0
) -> Any:
    counts = np.random.default_rng(seed).integers(1, 60, shape)
    held = dict(zip(list(variables)[: len(shape)], map(states, shape), strict=True))
    return sf.Contingency(counts, held)


def named_dag(parents: list[str], child: str) -> sf.DAG:
    return sf.DAG({child: parents})


@functools.cache
def network(case: str) -> Any:
    """Return a fit of a node with two parents under a prior."""
    if case == "small":
        return sf.fit(named_dag(["A", "B"], "C"), table((2, 3, 2)), prior=sf.BDeu(4))
    if case == "many":
        return sf.fit(named_dag(["A", "B"], "C"), table((9, 40, 25)), prior=sf.BDeu(4))
    odd = awkward(3, "!")
    return sf.fit(named_dag(odd[:2], odd[2]), table((3, 8, 5), awkward, odd), prior=sf.BDeu(4))


NODE = {"small": "C", "many": "C", "awkward": awkward(3, "!")[2]}


@functools.cache
def field(case: str) -> Any:
    if case == "small":
        return sf.fit(sf.Cliques("A + B"), table((2, 3)))
    if case == "many":
        return sf.fit(sf.Cliques("A + B + C + D"), table((6, 9, 4, 3)))
    odd = awkward(3, "!")
    return sf.fit(sf.Cliques([(name,) for name in odd]), table((5, 8, 3), awkward, odd))


@functools.cache
def features(case: str) -> Any:
    if case == "small":
        return sf.fit(sf.Features([sf.indicators("A"), sf.indicators("A", "B")]), table((2, 2)), prior=sf.Gaussian(1.0))
    if case == "many":
        return sf.fit(sf.Features([sf.indicators("A", "B")]), table((8, 9)), prior=sf.Gaussian(1.0))
    odd = awkward(2, "!")
    return sf.fit(sf.Features([sf.indicators(*odd)]), table((3, 5), awkward, odd), prior=sf.Gaussian(1.0))


@functools.cache
def iterated(case: str) -> Any:
    """Return a fit with a trace: of a few steps, of many and of many searches, of numbers with many digits."""
    fit = sf.fit(sf.Cliques("A:B + B:C + C:A"), table((2, 2, 2)))
    if case == "small":
        return fit
    steps, largest = (300, -1e3) if case == "many" else (3, -123_456_789.0)
    trace = tuple(Step(n, largest * (1 + 0.5**n)) for n in range(1, steps))
    starts = [Start("random", largest * (1 + 0.01 * n), 10 + 7 * n, n % 3 > 0) for n in range(8)]
    return dataclasses.replace(fit, trace=trace, starts=tuple(starts))


def graph(case: str) -> Any:
    if case == "small":
        return network("small")
    if case == "many":
        rng = np.random.default_rng(0)
        nodes = names(40, "node")
        return sf.DAG({node: [nodes[k] for k in rng.choice(i, min(i, 2), False)] for i, node in enumerate(nodes)})
    return network("awkward")


def labels(case: str) -> Any:
    states = {"small": names(3, "N"), "many": names(60, "B-CHUNK"), "awkward": awkward(8)}[case]
    rng = np.random.default_rng(0)
    steps = {(a, b): float(rng.normal()) for a in states for b in states}
    return chain({(f"w={s}", s): float(rng.normal()) for s in states}, steps, states)


def classes(case: str) -> tuple[list[str], list[str]]:
    states = {"small": names(3, "class "), "many": names(70, "class "), "awkward": awkward(8)}[case]
    rng = np.random.default_rng(0)
    return states + rng.choice(states, 900).tolist(), states + rng.choice(states, 900).tolist()


def surface(case: str) -> Any:
    n = {"small": 3, "many": 26, "awkward": 8}[case]
    held = {"small": names(3), "many": names(26, "class "), "awkward": awkward(8)}[case]
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal((k % 5 * 3, k // 5 * 3), 0.6, (6, 2)) for k in range(n)])
    y = np.repeat(held, 6)
    import pandas as pd

    frame = pd.DataFrame(x, columns=["a", "b"] if case != "awkward" else awkward(2, "!"))
    return report.decision_surface(GaussianNB().fit(frame, y), frame, y, grid=30)


def learning(case: str) -> Any:
    held = {"small": ["one"], "many": names(10, "classifier number "), "awkward": awkward(8)}[case]
    sizes = {"small": [10, 100], "many": list(range(10, 400, 10)), "awkward": [1, 2, 1_000_000]}[case]
    rng = np.random.default_rng(0)
    scores = {name: rng.random((len(sizes), 4)) + 0.1 for name in held}
    return report.learning_curves_plot(sizes, scores, scale="log" if case == "many" else "linear")


def regression(case: str) -> Any:
    rng = np.random.default_rng(0)
    name = {"small": "x", "many": "a parent with quite a long name", "awkward": AWKWARD[1]}[case]
    data = {name: rng.normal(size=60) * 1e6, "y": rng.normal(size=60)}
    return sf.fit(sf.DAG([(name, "y")]), data, prior=sf.NormalInverseGamma(2, 1.0))


PLOTS: dict[str, Callable[[str], Any]] = {
    "graph_plot": lambda case: report.graph_plot(graph(case)),
    "cpt_heatmap": lambda case: report.cpt_heatmap(network(case), NODE[case]),
    "cpt_bars": lambda case: report.cpt_bars(network(case), NODE[case]),
    "convergence_plot": lambda case: report.convergence_plot(iterated(case), gap=case == "awkward"),
    "moments_plot": lambda case: report.moments_plot(field(case)),
    "mosaic_plot": lambda case: report.mosaic_plot(field(case)),
    "posterior_plot": lambda case: report.posterior_plot(network(case), NODE[case]),
    "weights_plot": lambda case: report.weights_plot(features(case)),
    "learning_curves_plot": learning,
    "confusion_plot": lambda case: report.confusion_plot(*classes(case)),
    "decision_surface": surface,
    "transitions_plot": lambda case: report.transitions_plot(labels(case)),
}
"""Every plot as a function of the case."""

MORE: dict[str, Callable[[str], Any]] = {
    "posterior_plot, regression": lambda case: report.posterior_plot(regression(case), "y"),
    "posterior_plot, states": lambda case: report.posterior_plot(network(case), NODE[case], given=first(case)),
    "weights_plot, chain": lambda case: report.weights_plot(labels(case)),
    "graph_plot, field": lambda case: report.graph_plot(field("small") if case == "many" else features(case)),
    "convergence_plot, gap": lambda case: report.convergence_plot(iterated(case), gap=case != "awkward"),
}


def first(case: str) -> dict[str, Any]:
    parents = network(case).model.cpd(NODE[case]).family.parents
    return {parent.name: parent.labels[0] for parent in parents}


CASES = ("small", "many", "awkward")
