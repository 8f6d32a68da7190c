"""GraphCRF: labels of the nodes of graphs by a conditional random field with features over any cliques."""

from __future__ import annotations

import os
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from suffice.data.graph_codes import GraphTable, LabelledGraphs
from suffice.data.graph_reading import GraphRead, GraphWords, read_graphs
from suffice.data.label_codes import LabelRead, read_labels
from suffice.errors import DataError, EstimationError, ModelError, Remedy, Text, Value, require_choice, require_whole
from suffice.fitting import fit as fit_structure
from suffice.io.chain_file import Proof
from suffice.io.graph_file import load_graph, save_graph
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_information import covariance, information
from suffice.priors.elastic import elastic
from suffice.progress import Display
from suffice.result.fit import Fit
from suffice.result.graph_weights import GraphWeights, graph_weights
from suffice.result.tag_scores import TagScores, tag_scores
from suffice.result.tag_spans import scheme_of
from suffice.sklearn.base import UnavailableError
from suffice.sklearn.graph_inputs import WORDS, GraphsLike, LabelsInRows, labels_in_rows, weights_of
from suffice.sklearn.graph_store import restored, stored
from suffice.sklearn.words import SEARCH, Words, advised, renamed
from suffice.structures.label_graph import CliqueKind, LabelGraph
from suffice.text import plural
from suffice.types import Array, Floats
from suffice.values import Label

NOTES = Words(
    {"prior": lambda value: ("c2", 1.0)},
    {
        **SEARCH,
        "such a prior": "a penalty such as ",
        "leave an input out": Text(
            ", or leave out what never occurs: ", Remedy("states", "observed", beside=(("cliques", "observed"),))
        ),
    },
)
MOST_WEIGHTS = 2000
"""Weights up to which standard errors are given: their covariances are inverted."""
WAYS = ("exact", "icm")
LEARNT = ("model_", "fit_", "classes_", "_proof")


class GraphCRF(BaseEstimator):
    """Conditional random field on graphs: p(y | x) ∝ exp (Σ_v w[x_v, y_v] + Σ_C w[x_C, y_C]), C going over cliques.

    Minimises −Σ log p(y | x) + c1 ‖w‖₁ + c2 ‖w‖². Every graph has nodes and cliques of its own, of any size; those of
    one kind share their weights. Sums over labellings are exact, by a junction tree of every graph.

    Parameters
    ----------
    c1, c2 : float
        Strengths of the penalties; c1 > 0 makes some weights exactly zero. Both zero is maximum likelihood.
    states : {"all", "observed"}
        Which pairs of a node's feature and label have a weight: all, or those that the data has.
    cliques : {"all", "observed"}
        Which combinations of a clique's feature and labels have one.
    symmetric : bool
        Whether the order of a clique's members has no effect, as in images without up and down.
    min_freq : float
        A combination has a weight only if it occurs so often.
    n_buckets : int
        Hash the names of features into so many buckets, instead of keeping them; 0 keeps them.
    method : {"auto", "exact", "pseudo_likelihood"}
        ``"auto"`` is ``"exact"``. The last maximises the probability of each node's label given all others, for graphs
        whose junction trees are too large.
    tol : float
        The largest part of the gradient, a node and in units of its feature, at which the search ends, and which the
        certificate allows.
    max_iter : int
        The most steps.
    missing : {"error", "drop"}
        What to do with graphs that lack a label.
    progress : bool or Display
        Show a progress bar.

    Attributes
    ----------
    classes_ : array, shape (n_labels,)
    model_ : GraphModel
    fit_ : Fit
        With certificate, trace and notes.

    Notes
    -----
    Features that training did not have are left out when graphs are labelled; kinds of cliques that it did not have are
    refused. Labellings do not notice some changes of the weights; without a penalty those found are the shortest.

    Examples
    --------
    >>> import suffice as sf
    >>> dark, light = [[0.1, 0.2], [0.0, 0.7]], [[0.9, 0.8], [0.3, 1.0]]
    >>> X = [sf.Graph.grid(pixels, directed=False) for pixels in (dark, light)]
    >>> y = [["ink"] * 4, ["paper"] * 4]
    >>> crf = sf.GraphCRF(c2=0.1, symmetric=True, tol=1e-9).fit(X, y)
    >>> crf.predict([sf.Graph.grid([[0.9, 0.4], [0.8, 0.9]], directed=False)])
    [['paper', 'paper', 'paper', 'paper']]
    >>> crf.fit_.certificate.ok
    True
    >>> print(crf.weights_table())
    kind  attribute  labels         weight
    ----  ---------  ------------  -------
    node  constant   ink            0.2596
    node  constant   paper         -0.2596
    node  pixel      ink           -1.0541
    node  pixel      paper          1.0541
    edge  constant   ink, ink       0.9556
    edge  constant   ink, paper    -1.3921
    edge  constant   paper, paper   0.4365
    """

    model_: GraphModel
    fit_: Fit
    classes_: Array
    _proof: Proof | None = None

    def __init__(
        self,
        *,
        c1: float = 0.0,
        c2: float = 1.0,
        states: str = "all",
        cliques: str = "all",
        symmetric: bool = False,
        min_freq: float = 0,
        n_buckets: int = 0,
        method: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        missing: str = "error",
        progress: bool | Display = False,
    ) -> None:
        self.c1 = c1
        self.c2 = c2
        self.states = states
        self.cliques = cliques
        self.symmetric = symmetric
        self.min_freq = min_freq
        self.n_buckets = n_buckets
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.missing = missing
        self.progress = progress

    # Learning -------------------------------------------------------------------------------------------------

    def fit(self, X: GraphsLike, y: LabelsInRows, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from graphs X and the labels y of their nodes, and warn if the search did not end at the optimum.

        Parameters
        ----------
        X : list of Graph, or of dicts {"nodes": …, "edges": …}
        y : list of lists of labels
            One a node, in the order of the nodes; the labels of a grid may be an array of its rows and columns.
        sample_weight : array, shape (n_graphs,), optional
            How often each graph counts.
        """
        with renamed(WORDS):
            read = read_graphs(X, n_buckets=require_whole("n_buckets", self.n_buckets))
            table = self._table(read, y, sample_weight)
        structure = LabelGraph(
            read.words.nodes,
            tuple(CliqueKind(kind, size, names) for kind, (size, names) in read.words.kinds.items()),
            states=self.states,
            cliques=self.cliques,
            symmetric=self.symmetric,
            min_freq=self.min_freq,
        )
        found = fit_structure(
            structure,
            table,
            prior=elastic(self.c1, self.c2),
            method=self.method,
            tol=self.tol,
            max_iter=self.max_iter,
            progress=self.progress,
        )
        self._take(found.model)
        self.fit_ = advised(found, NOTES)
        if not found.certificate.ok:
            warnings.warn(f"{found.certificate.verdict} See fit_.notes.", ConvergenceWarning, stacklevel=2)
        return self

    def _take(self, model: GraphModel) -> None:
        for name in LEARNT:
            self.__dict__.pop(name, None)
        self.model_, labels = model, model.label.labels
        self.classes_ = np.array(labels, object if isinstance(labels[0], str) else None)

    def _table(self, found: GraphRead, y: LabelsInRows, sample_weight: ArrayLike | None) -> GraphTable:
        """Return labelled graphs; those that lack a label may be left out."""
        graphs = found.graphs
        read = read_labels(labels_in_rows(y, found.shapes), graphs.offsets, missing=self.missing)
        weights = weights_of(sample_weight, graphs)
        counted = np.ones(graphs.n_graphs, bool) if weights is None else weights > 0
        if read.dropped is not None:
            counted = counted & ~read.dropped
        if not graphs.lengths[counted].any():
            raise DataError(
                f"There is nothing to learn from: of {plural(graphs.n_graphs, 'graph')} none has a node, labels and a "
                "weight above zero. Pass at least one."
            )
        whole = graphs.labelled(read.codes)
        if read.dropped is None or not read.dropped.any():
            return GraphTable(whole, read.label, weights)
        kept = whole.chosen(np.flatnonzero(~read.dropped))
        remark = f"{plural(int(read.dropped.sum()), 'graph')} left out, with labels missing."
        weights = None if weights is None else weights[~read.dropped]
        return GraphTable(kept, read.label, weights, (remark,), whole.n_nodes - kept.n_nodes)

    # Answers --------------------------------------------------------------------------------------------------

    def _read_all(self, X: GraphsLike) -> GraphRead:
        check_is_fitted(self, "model_")
        structure = self.model_.structure
        known = GraphWords(structure.vocabulary, {kind.name: (kind.size, kind.vocabulary) for kind in structure.kinds})
        with renamed(WORDS):
            return read_graphs(X, known)

    def _read(self, X: GraphsLike) -> LabelledGraphs:
        return self._read_all(X).graphs

    def _read_labelled(
        self, X: GraphsLike, y: LabelsInRows, unknown: str = "error"
    ) -> tuple[LabelledGraphs, LabelRead, LabelsInRows]:
        """Return graphs, the codes of their labels, and these as they were given, in one row a graph."""
        found = self._read_all(X)
        with renamed(WORDS):
            rows = labels_in_rows(y, found.shapes)
            return found.graphs, read_labels(rows, found.graphs.offsets, self.model_.label, unknown=unknown), rows

    def _codes(self, graphs: LabelledGraphs, method: str) -> NDArray[np.int32]:
        require_choice("method", method, WAYS)
        if method == "icm":
            return self.model_.locally_best(graphs)
        try:
            return self.model_.best(graphs)
        except ModelError as error:
            raise ModelError(
                error.message,
                " Or pass ",
                Remedy("method", "icm"),
                ", as in predict(X, ",
                Remedy("method", "icm"),
                "): it finds labels that no change of a single node makes more probable, in graphs of any width.",
            ) from None

    def predict(self, X: GraphsLike, *, method: str = "exact") -> list[list[Label]]:
        """Return the labels of every graph's nodes.

        Parameters
        ----------
        X : list of graphs
        method : {"exact", "icm"}
            The most probable labels of all nodes together; or labels that no change of a single node makes more
            probable (iterated conditional modes), which takes no junction tree, for graphs of any width.

        Notes
        -----
        ``"exact"`` makes it most probable that a graph is right as a whole, and its labels fit together: it suits
        segments, parses, or whatever one wrong node spoils. The most probable label of each node by itself, the largest
        entry of each row of `predict_proba`, makes the expected number of right nodes largest: it suits `score`, and
        counts of nodes; all labels together may then be improbable, or impossible.
        """
        graphs = self._read(X)
        return graphs.apart(self.classes_[self._codes(graphs, method)].tolist())

    def predict_proba(self, X: GraphsLike) -> list[Floats]:
        """Return the probabilities of the nodes' labels, one array a graph, of shape (n_nodes, n_labels)."""
        graphs = self._read(X)
        return graphs.apart(self.model_.marginals(graphs))

    def predict_marginals(self, X: GraphsLike) -> list[list[dict[Label, float]]]:
        """Return the probabilities of the nodes' labels, as dicts."""
        probabilities = self.predict_proba(X)
        labels = self.model_.label.labels
        return [[dict(zip(labels, row, strict=True)) for row in own.tolist()] for own in probabilities]

    def log_likelihood(self, X: GraphsLike, y: LabelsInRows) -> Floats:
        """Return log p(y | x) of every graph; shape (n_graphs,)."""
        graphs, read, _ = self._read_labelled(X, y)
        return self.model_.log_prob(graphs.labelled(read.codes))

    def sample(self, X: GraphsLike, *, seed: int | None = None) -> list[list[Label]]:
        """Draw labels of every graph's nodes from p(y | x)."""
        graphs = self._read(X)
        return graphs.apart(self.classes_[self.model_.sample(graphs, seed=seed)[0]].tolist())

    def evaluate(self, X: GraphsLike, y: LabelsInRows, *, scheme: str = "auto", method: str = "exact") -> TagScores:
        """Compare predicted labels with true ones, by label and by span; graphs are its sequences, nodes its tokens.

        Parameters
        ----------
        X : list of graphs
        y : list of lists of labels
        scheme : {"auto", "conll", "iob1", "iob2", "iobes", "bilou", "none"}
            How labels mark spans of nodes that follow each other, as in `sf.tag_scores`; ``"none"`` where they do not.
        method : {"exact", "icm"}
            That of `predict`.

        Examples
        --------
        >>> import suffice as sf
        >>> X, y = [sf.Graph.chain([["a"], ["b"]])] * 3, [["p", "q"], ["p", "q"], ["p", "p"]]
        >>> sf.GraphCRF().fit(X, y).evaluate(X, y).by_tag["q"].precision
        0.6666666666666666
        """
        graphs, _, rows = self._read_labelled(X, y, "code")
        found = graphs.apart(self.classes_[self._codes(graphs, method)].tolist())
        scheme = "none" if scheme_of(scheme, self.classes_.tolist()) == "none" else scheme
        with renamed(WORDS):
            return tag_scores(rows, found, scheme=scheme)

    def score(
        self, X: GraphsLike, y: LabelsInRows, sample_weight: ArrayLike | None = None, *, method: str = "exact"
    ) -> float:
        """Return the share of nodes whose label is predicted rightly, by the method of `predict`."""
        graphs, read, _ = self._read_labelled(X, y, "code")
        right = self._codes(graphs, method) == read.codes
        weights = weights_of(sample_weight, graphs)
        by_node = None if weights is None else np.repeat(weights, graphs.lengths)
        return float(np.average(right, weights=by_node)) if len(right) else float("nan")

    # What was learnt ------------------------------------------------------------------------------------------

    def weights_table(self, *, level: float = 0.95) -> GraphWeights:
        """Return the weights, each with its feature and labels; with standard errors after maximum likelihood."""
        check_is_fitted(self, "model_")
        fit = self.__dict__.get("fit_")
        held = None if fit is not None and fit.certificate.exists == "no" else self.model_.information
        return graph_weights(self.model_, None if held is None else self._errors(held), level)

    def standard_errors(self, X: GraphsLike | None = None, sample_weight: ArrayLike | None = None) -> Floats:
        """Return the standard errors of the weights in the order of `weights_table`; after maximum likelihood only.

        They are those of the shortest weights, in units of their features, of all with the same probabilities.

        Parameters
        ----------
        X, sample_weight : optional
            The graphs of `fit` once more. They are needed for many weights, whose covariances are not kept.
        """
        check_is_fitted(self, "model_")
        if "fit_" not in self.__dict__ and self.model_.information is not None:
            return self._errors(self.model_.information)  # a file holds it where there are errors
        if self.fit_.prior is not None or self.fit_.method != "exact":
            needed: list[tuple[str, Value]] = [(name, 0) for name in ("c1", "c2") if getattr(self, name)]
            needed += [("method", "exact")] if self.fit_.method != "exact" else []
            raise EstimationError(
                "Standard errors come from the curvature of the likelihood at its maximum. Fit with ",
                Remedy(*needed[0], beside=tuple(needed[1:])) if needed else "neither a prior nor another method",
                ".",
            )
        if self.fit_.certificate.exists == "no":
            raise EstimationError(
                f"The maximum-likelihood estimate does not exist: {self.fit_.certificate.boundary}. Fit with a "
                "penalty, such as ",
                Remedy("c2", 1.0),
                ", or leave out such weights: ",
                Remedy("states", "observed", beside=(("cliques", "observed"),)),
                ".",
            )
        size = self.model_.layout.size
        if size > MOST_WEIGHTS:
            raise EstimationError(
                f"The model has {size:,} weights, and standard errors are given for up to {MOST_WEIGHTS:,}."
            )
        held = self.model_.information
        if held is None:
            if X is None:
                raise EstimationError(
                    f"The covariances of {size:,} weights were not kept. Pass the graphs once more: standard_errors(X)."
                )
            graphs = self._read(X)
            held = information(self.model_, graphs, weights_of(sample_weight, graphs))
        return self._errors(held)

    def _errors(self, held: Floats) -> Floats:
        return np.asarray(np.sqrt(covariance(held, self.model_.units).diagonal()))

    # Files ----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator to a file, without weights that are zero: nothing in it is executable.

        It holds the model, the parameters, and what the certificate said.
        """
        check_is_fitted(self, "model_")
        save_graph(stored(self), os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GraphCRF:
        """Return the estimator that `save` wrote."""
        return restored(load_graph(os.fspath(path)))

    def __getattr__(self, name: str) -> Any:
        if name == "fit_" and "model_" in self.__dict__:
            said = "" if self._proof is None else f" It said: {self._proof.verdict}"
            raise UnavailableError(
                f"There is no fit_: this GraphCRF was read from a file, which does not hold its fit.{said} Learn anew "
                "by fit(X, y) to have it."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__
