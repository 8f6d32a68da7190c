"""Taggers of sequences and graphs: conditional random fields and maximum-entropy Markov models."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.fingerprint.family import Family
from tests.fingerprint.pairs import Choice
from tests.fingerprint.record import Record
from tests.fingerprint.tables import bell, uniform

import suffice as sf

LENGTHS = (5, 1, 4, 6, 3, 5, 2, 6)
TOTAL = sum(LENGTHS)
WORDS = uniform(710, TOTAL, 0, 6)
SIZES = bell(711, TOTAL)
TAGS = [(word + (noise == 0)) % 3 for word, noise in zip(WORDS, uniform(712, TOTAL, 0, 4), strict=True)]


def _cut(values: list[Any]) -> list[list[Any]]:
    ends = np.cumsum(LENGTHS).tolist()
    return [values[end - length : end] for end, length in zip(ends, LENGTHS, strict=True)]


def _sentences(kind: str) -> list[Any]:
    words, sizes = _cut(WORDS), _cut(SIZES)
    if kind == "matrices":
        return [
            np.array([[float(w == 0), float(w == 1), s] for w, s in zip(*one, strict=True)])
            for one in zip(words, sizes, strict=True)
        ]
    if kind == "rows":
        return [
            [(f"w{w}", "big" if s > 0 else "small") for w, s in zip(*one, strict=True)]
            for one in zip(words, sizes, strict=True)
        ]
    if kind == "names":
        return [
            [[f"w{w}", "big" if s > 0 else "small"] for w, s in zip(*one, strict=True)]
            for one in zip(words, sizes, strict=True)
        ]
    return [[{"word": f"w{w}", "size": s} for w, s in zip(*one, strict=True)] for one in zip(words, sizes, strict=True)]


def _run_chain(record: Record, choice: Choice) -> None:
    kind = {"dicts": "dicts", "names": "names", "matrices": "matrices", "templates": "rows"}[choice["input"]]
    X, y = _sentences(kind), _cut([f"t{tag}" for tag in TAGS])  # noqa: N806
    make = sf.ChainCRF if choice["model"] == "CRF" else sf.MEMM
    tagger = make(
        c1=float(choice["c1"]),
        c2=float(choice["c2"]),
        states=choice["states"],
        transitions=choice["transitions"],
        boundaries=choice["boundaries"] == "yes",
        min_freq=float(choice["min_freq"]),
        step_features="all" if choice["steps"] == "all" else None,
        templates="U0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nB\n" if choice["input"] == "templates" else None,
        n_buckets=int(choice["buckets"]),
        method=choice["method"],
        tol=1e-8,
        max_iter=300,
        seed=4,
        missing=choice["missing"],
    )
    if choice["missing"] == "drop":
        y = [[None, *tags[1:]] if place == 2 else tags for place, tags in enumerate(y)]
    weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0] if choice["weights"] == "given" else None
    held = {"X_dev": X[6:], "y_dev": y[6:]} if choice["held out"] == "yes" else {}
    n = 6 if held else len(X)
    tagger.fit(X[:n], y[:n], None if weights is None else weights[:n], **held)
    record.add_fit(tagger.fit_)
    record.add("weights", tagger.model_.weights)
    record.ask("transitions", lambda: {f"{one} {two}": w for (one, two), w in tagger.transition_features_.items()})
    record.ask("predict", lambda: tagger.predict(X[:3]))
    record.ask("predict_proba", lambda: [one.tolist() for one in tagger.predict_proba(X[:3])])
    record.ask("log_likelihood", lambda: tagger.log_likelihood(X[3:5], y[3:5]))
    record.ask("n_best", lambda: tagger.n_best(X[:1], 3))
    record.ask("sample", lambda: tagger.sample(X[:3], seed=1))
    record.ask("top features", lambda: str(tagger.top_features(4)))
    record.ask("evaluate", lambda: str(tagger.evaluate(X[3:6], y[3:6])))


def _allows_chain(choice: Choice) -> bool:
    method, c1 = choice["method"], choice["c1"]
    if (method == "owlqn") != (c1 != "0") and method != "auto":
        return False
    if choice["input"] == "templates" and choice["steps"] == "all":
        return False
    return not (choice["model"] == "MEMM" and choice["transitions"] == "observed" and choice["steps"] == "all")


def _graphs(kind: str) -> tuple[list[Any], list[Any]]:
    """Return small graphs of nodes with features, and the labels of the nodes."""
    words, sizes, tags = _cut(WORDS), _cut(SIZES), _cut(TAGS)
    graphs: list[Any] = []
    for own_words, own_sizes in zip(words, sizes, strict=True):
        nodes = [{"word": f"w{w % 3}", "size": s} for w, s in zip(own_words, own_sizes, strict=True)]
        n = len(nodes)
        if kind == "chain":
            graphs.append(sf.Graph.chain(nodes))
        elif kind == "skip chain":
            graphs.append(sf.Graph.skip_chain(nodes, [(0, n - 1)] if n > 3 else []))
        elif kind == "tree":
            graphs.append(sf.Graph.tree(nodes, [None, *[(place - 1) // 2 for place in range(1, n)]]))
        else:
            edges = {(place, place + 1): {"distance": 0.5 + place / 4} for place in range(n - 1)}
            graphs.append(sf.Graph(nodes, edges))
    return graphs, [[f"t{tag % 2}" for tag in own] for own in tags]


def _run_graph(record: Record, choice: Choice) -> None:
    X, y = _graphs(choice["graph"])  # noqa: N806
    tagger = sf.GraphCRF(
        c1=float(choice["c1"]),
        c2=float(choice["c2"]),
        states=choice["states"],
        symmetric=choice["symmetric"] == "yes",
        method=choice["method"],
        tol=1e-8,
        max_iter=300,
    )
    weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0] if choice["weights"] == "given" else None
    tagger.fit(X, y, weights)
    record.add_fit(tagger.fit_)
    record.add("weights", tagger.model_.weights)
    record.ask("table", lambda: str(tagger.weights_table()))
    record.ask("predict", lambda: tagger.predict(X[:3]))
    record.ask("icm", lambda: tagger.predict(X[:3], method="icm"))
    record.ask("predict_proba", lambda: [one.tolist() for one in tagger.predict_proba(X[:3])])
    record.ask("log_likelihood", lambda: tagger.log_likelihood(X[:3], y[:3]))
    record.ask("sample", lambda: tagger.sample(X[:3], seed=1))


FAMILIES = [
    Family(
        "tagger",
        _run_chain,
        {
            "model": ("CRF", "MEMM"),
            "input": ("dicts", "names", "matrices", "templates"),
            "method": ("auto", "lbfgs", "owlqn", "sgd", "adagrad"),
            "c1": ("0", "0.25"),
            "c2": ("1", "0.1"),
            "states": ("observed", "all"),
            "transitions": ("all", "observed"),
            "boundaries": ("no", "yes"),
            "steps": ("none", "all"),
            "min_freq": ("0", "2"),
            "buckets": ("0", "64"),
            "missing": ("error", "drop"),
            "weights": ("none", "given"),
            "held out": ("no", "yes"),
        },
        _allows_chain,
    ),
    Family(
        "tagger of graphs",
        _run_graph,
        {
            "graph": ("chain", "skip chain", "tree", "edges with features"),
            "method": ("auto", "pseudo_likelihood"),
            "c1": ("0", "0.25"),
            "c2": ("1", "0.1"),
            "states": ("all", "observed"),
            "symmetric": ("no", "yes"),
            "weights": ("none", "given"),
        },
    ),
]
