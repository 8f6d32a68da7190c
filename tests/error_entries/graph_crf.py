"""Errors of conditional random fields on graphs: graphs, their codes, structures, fits and models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.error_catalogue import E_, A, D, M, entry

import suffice as sf
from suffice.data.attributes import Vocabulary, no_attributes
from suffice.data.graph_codes import LabelledGraphs
from suffice.data.graph_reading import GraphRead, GraphWords
from suffice.data.variable import Variable
from suffice.learn.graph_crf import check
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_layout import layout_of
from suffice.structures.label_graph import CliqueKind, LabelGraph

G: Any = sf.Graph
CRF: Any = sf.GraphCRF
NODES = [["a"], ["b"]]
X = [sf.Graph.chain(NODES)]
Y = [["p", "q"]]
PLAIN = LabelGraph(Vocabulary(("a",)))


def _model(**changes: Any) -> GraphModel:
    layout = layout_of(PLAIN, 2, np.ones(2))
    parts: dict[str, Any] = {"weights": np.zeros(2), "units": np.ones(2), "label": Variable("y", ("p", "q")), **changes}
    return GraphModel(PLAIN, parts["label"], layout, parts["weights"], parts["units"])


def _complete(n: int) -> list[Any]:
    return [G([[]] * n, [(i, j) for i in range(n) for j in range(i)])]


def _errors(**options: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.learn.graph_crf.MOST_WRITTEN", 0)
        patch.setattr("suffice.sklearn.graph_crf.MOST_WEIGHTS", options.pop("most", 2000))
        graphs = [G([["a"]]), G([["a"]])]
        return CRF(**{"c2": 0.0, **options}).fit(graphs, [["p"], ["q"]]).standard_errors()


def _narrow(answer: Callable[[Any], Any]) -> Any:
    def call(world: Any) -> Any:
        crf = CRF(c2=1.0).fit(X, Y)
        return world.within(100, lambda: answer(crf))

    return call


entry("graph, nodes as text", A, lambda w: G("ab"), "'nodes'", "[{'word': 'the'}", "Got 'ab'")
entry("graph, no graph", A, lambda w: G.of(3), "sf.Graph(nodes, edges)", "Got 3")
entry("graph, parents of another length", A, lambda w: G.tree(NODES, [None]), "'parents'", "2 in all", "Got 1")
entry("graph, parents in a circle", A, lambda w: G.tree([[]] * 3, [None, 2, 1]), "'parents'", "to a root",
      "circle of 2 nodes", "[1, 2, 1]", "sf.Graph")  # fmt: skip
entry("graph, another shape", A, lambda w: G([[]] * 6, shape=(2, 2)), "'shape'", "6 nodes", "Got (2, 2)")
entry("grid, a number", A, lambda w: G.grid(3), "'pixels'", "rows and columns", "Got 3")
entry("grid, one dimension", A, lambda w: G.grid([1.0, 2.0]), "'pixels'", "two dimensions", "1.0")
entry("grid, ragged", D, lambda w: G.grid([[1.0], [1.0, 2.0]]), "one length", "[1, 2]")
entry("grid, an object", D, lambda w: G.grid([[object()]]), "pixel", "number, text", "object")
entry("graph, edges a number", A, lambda w: G(NODES, 3), "'edge'", "[(0, 1), (1, 2)]", "Got 3")
entry("graph, a clique that is no tuple", A, lambda w: G(NODES, [3]), "'edge'", "(0, 1)", "Got 3")
entry("graph, a clique of text", A, lambda w: G(NODES, [("a", "b", "c")]), "'edge'", "whole numbers", "'a'")
entry("graph, a node twice", A, lambda w: G(NODES, [(1, 1)]), "different", "(1, 1)")
entry("graph, sizes mixed", D, lambda w: G([[]] * 3, [(0, 1), (0, 1, 2)]), "'edge'", "[2, 3]", "a kind of its own")
entry("graph, a node that is not there", D, lambda w: G(NODES, [(0, 2)]), "(0, 2)", "0 to 1")
entry("graph, a clique without nodes", D, lambda w: G([], [(0, 1)]), "without nodes", "Leave it out")
entry("graphs, one alone", D, lambda w: CRF().fit(X[0], Y), "'X'", "one graph alone is [graph]")
entry("graphs, no graph among them", A, lambda w: CRF().fit([X[0], 3], [*Y, ["p"]]), "Graph 2 of 'X'", "Got 3")
entry(
    "graphs, a kind of two sizes",
    D,
    lambda w: CRF().fit([X[0], G([[]] * 3, {"step": [(0, 1, 2)]})], [*Y, ["p"] * 3]),
    "Graph 2 of 'X'",
    "3 members, others have 2",
)
entry(
    "graphs, features of a clique",
    D,
    lambda w: CRF().fit([G(NODES, {(0, 1): ["near", 3]})], Y),
    "Among the cliques of the kind 'edge'",
)
entry(
    "graphs, an unknown kind",
    D,
    lambda w: CRF().fit(X, Y).predict([G(NODES, {"stepp": [(0, 1)]})]),
    "'stepp'",
    "['step']",
    "Did you mean 'step'?",
)
entry(
    "graphs, a known kind of another size",
    D,
    lambda w: CRF().fit(X, Y).predict([G([[]] * 3, {"step": [(0, 1, 2)]})]),
    "3 members, others have 2",
)
entry(
    "graphs, attributes of too few nodes",
    D,
    lambda w: LabelledGraphs(np.array([0, 2]), no_attributes(1)),
    "2 nodes",
    "given for 1",
)
entry(
    "graphs, labels of too few nodes",
    D,
    lambda w: LabelledGraphs(np.array([0, 2]), no_attributes(2), (), np.zeros(1, np.int32)),
    "2 nodes",
    "1 labels",
)
entry("graph CRF, symmetric", A, lambda w: CRF(symmetric="yes").fit(X, Y), "'symmetric'", "True or False", "'yes'")
entry("graph CRF, min_freq", A, lambda w: CRF(min_freq=-1).fit(X, Y), "'min_freq'", "at least 0", "Got -1")
entry("graph CRF, rows as data", A, lambda w: sf.fit(PLAIN, {"label": ["p"]}), "sf.GraphCRF", "{'label'")
entry("graph CRF, one label", E_, lambda w: CRF().fit(X, [["p", "p"]]), "same label", "['p']", "two labels")
entry("graph CRF, weights given", A, lambda w: check(PLAIN, None, {"w": 1}), "'fixed'", "{'w': 1}")
entry("graph CRF, no graphs", D, lambda w: CRF().fit([], []), "nothing to learn from", "0 graphs")
entry("graph CRF, weights of zero", D, lambda w: CRF().fit(X, Y, [0]), "nothing to learn from", "1 graph none")
entry("graph CRF, sample weights", D, lambda w: CRF().fit(X, Y, [1, 2]), "'sample_weight'", "2 weights", "1 graph")
entry(
    "graph CRF, too wide",
    E_,
    lambda w: CRF().fit(_complete(40), [["p", "q"] * 20]),
    "Graph 1",
    "width 39",
    "1,099,511,627,776 cells",
    "method='pseudo_likelihood'",
)
entry("graph CRF, too wide to label", M, _narrow(lambda crf: crf.predict(X)), "Graph 1", "may use 100 B",
      "sf.config(memory=…)", "over 2 nodes together", "predict(X, method='icm')")  # fmt: skip
entry("graph CRF, too wide to score", M, _narrow(lambda crf: crf.score(X, Y)), "Graph 1", "predict(X, method='icm')")
entry("graph CRF, too wide for probabilities", M, _narrow(lambda crf: crf.predict_proba(X)), "Graph 1",
      "sf.config(memory=…)")  # fmt: skip
entry(
    "graph CRF, a way of no name", A, lambda w: CRF().fit(X, Y).score(X, Y, method="map"), "'method'", "'icm'", "'map'"
)
entry("graph CRF, labels of another shape", D, lambda w: CRF().fit([G.grid(np.ones((2, 3)))], [np.ones((3, 2), int)]),
      "Graph 1 of 'y'", "(3, 2)", "(2, 3)", "row by row")  # fmt: skip
entry(
    "graph CRF, too many weights",
    E_,
    lambda w: w.within(10**6, lambda: CRF().fit([G([[]] * 14, {"all": [tuple(range(14))]})], [["p", "q"] * 7])),
    "'all'",
    "16,384 combinations",
    "sf.config(memory=…)",
)
entry("graph CRF, weights of another number", M, lambda w: _model(weights=np.zeros(3)), "'weights'", "2 finite", "(3,)")
entry("graph CRF, another number of labels", M, lambda w: _model(label=Variable("y", ("p",))), "2 labels", "are 1")
entry("graph CRF, errors under a penalty", E_, lambda w: _errors(c2=1.0), "Fit with c2=0")
entry("graph CRF, errors under two penalties", E_, lambda w: _errors(c1=0.1, c2=1.0), "Fit with c1=0 and c2=0.")
entry("graph CRF, errors of too many", E_, lambda w: _errors(most=1), "2 weights", "up to 1")
entry("graph CRF, errors not kept", E_, lambda w: _errors(), "2 weights were not kept", "standard_errors(X)")
entry(
    "graph CRF, errors without a maximum",
    E_,
    lambda w: CRF(c2=0.0).fit(X, Y).standard_errors(),
    "does not exist",
    "never occurs",
    "c2=1.0",
)
entry("clique kind, no name", A, lambda w: CliqueKind("", 2, Vocabulary()), "'name'", "not empty")
entry(
    "graph CRF, another prior",
    E_,
    lambda w: sf.fit(PLAIN, CRF()._table(_held(), [["p"], ["q"]], None), prior=sf.BDeu(1)),
    "Elastic(c1, c2)",
    "BDeu",
)


def _held() -> GraphRead:
    return GraphRead(LabelledGraphs(np.array([0, 1, 2]), no_attributes(2, 1)), GraphWords(Vocabulary(("a",)), {}))
