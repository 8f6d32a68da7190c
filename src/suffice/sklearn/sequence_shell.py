"""SequenceShell: what ChainCRF and MEMM do the same way, from features and labels of sequences to tagged ones."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Never, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from suffice.data.attributes import LabelledSequences
from suffice.data.label_codes import read_labels
from suffice.data.sequence_positions import PositionTable
from suffice.data.variable import Variable
from suffice.data.window_templates import Templates
from suffice.engines.parts import Parts, workers_of
from suffice.errors import ArgumentError, DataError, Mention, Part, Text, require_whole, shown
from suffice.fitting import fit as fit_structure
from suffice.io.chain_file import Proof, load_chain, save_chain
from suffice.models.chain_model import ChainModel
from suffice.optimise.outcome import MORE_STEPS, Stop
from suffice.priors.elastic import elastic
from suffice.progress import Display
from suffice.result.chain_weights import TopWeights, state_dict, state_table, transition_dict, transition_table
from suffice.result.fit import Fit
from suffice.result.notes import Note
from suffice.result.tag_scores import TagScores, tag_scores
from suffice.result.tag_spans import scheme_of
from suffice.sklearn.base import UnavailableError
from suffice.sklearn.graph_inputs import LabelsInRows
from suffice.sklearn.sequence_file import restored, stored
from suffice.sklearn.sequence_inputs import (
    Position,
    SequenceInputs,
    SequenceReader,
    SequencesLike,
    StepFeatures,
    reader_of,
    sequence_weights,
)
from suffice.sklearn.sequence_keywords import KeywordError, require_none
from suffice.sklearn.words import SEARCH, Words, advised
from suffice.structures.label_chain import LabelChain
from suffice.text import plural
from suffice.types import Array, Floats, PathLike
from suffice.values import Label

LEARNT = ("model_", "fit_", "classes_", "_proof")
DERIVED = ("state_features_", "transition_features_")
GO_ON = Mention("warm_start", ", or go on from these weights by warm_start=True")
WORDS: dict[str, Part] = {
    "exact from here": Text("an exact method is faster from here", Mention("warm_start", ", by warm_start=True")),
    "from these weights": Mention("warm_start", ", from these weights by warm_start=True"),
    **SEARCH,
    "max_iter epochs": Text(Mention("max_iter", "max_iter=…"), GO_ON),
    "more steps": Text(MORE_STEPS, GO_ON),
}
"""Advice of notes, which is for `suffice.fit`, in the parameters of a shell."""


class SequenceShell(BaseEstimator):
    """A tagger of sequences in scikit-learn's protocol."""

    _structure: ClassVar[type[LabelChain]]
    model_: ChainModel
    fit_: Fit
    classes_: Array
    _proof: Proof | None = None

    def __init__(
        self,
        *,
        c1: float = 0.0,
        c2: float = 1.0,
        states: str = "observed",
        transitions: str = "all",
        boundaries: bool = False,
        min_freq: float = 0,
        step_features: StepFeatures = None,
        templates: str | PathLike | Templates | None = None,
        n_buckets: int = 0,
        method: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        patience: int = 10,
        missing: str = "error",
        warm_start: bool = False,
        seed: int | None = None,
        progress: bool | Display = False,
        **unknown: Never,
    ) -> None:
        if unknown:
            require_none(type(self).__name__, unknown, self._get_param_names())
        self.c1 = c1
        self.c2 = c2
        self.states = states
        self.transitions = transitions
        self.boundaries = boundaries
        self.min_freq = min_freq
        self.step_features = step_features
        self.templates = templates
        self.n_buckets = n_buckets
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.patience = patience
        self.missing = missing
        self.warm_start = warm_start
        self.seed = seed
        self.progress = progress

    # Learning -------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: SequencesLike,
        y: LabelsInRows,
        sample_weight: ArrayLike | None = None,
        *others: Never,
        X_dev: SequencesLike | None = None,
        y_dev: LabelsInRows | None = None,
        engine: Any = None,
    ) -> Self:
        """Learn from sequences X and their labels y, and warn if the search did not end at the optimum.

        Parameters
        ----------
        X : list of sequences
            A sequence is a list of positions, each a dict of feature names and values or a list of names; or a matrix
            with a row a position. With ``templates``, a position is a row of texts.
        y : list of lists of labels
        sample_weight : array, shape (n_sequences,), optional
            How often each sequence counts.
        X_dev, y_dev : optional
            Sequences that are held out: learning stops when their loss no longer falls, and keeps the weights with
            which it was least.
        engine : SparkSession or distributed.Client, optional
            Where passes over the sequences are worked on: their codes travel to its workers once, and every step of
            the search sends weights there and brings sums back.
        """
        if others:
            raise KeywordError(
                "fit takes X, y and sample_weight. Sequences that are held out are named: fit(X, y, X_dev=…, y_dev=…)."
            )
        if not isinstance(self.warm_start, bool | np.bool_):
            raise ArgumentError(
                f"The 'warm_start' argument must be True or False. Got {shown(self.warm_start)} instead; True begins "
                "at the weights of the last fit."
            )
        before = self.model_ if self.warm_start and self.__sklearn_is_fitted__() else None
        reader = reader_of(self.templates, self.step_features, require_whole("n_buckets", self.n_buckets))
        inputs = reader.read(X)
        label, table = self._table(inputs, y, None, sample_weight)
        structure = self._structure(
            inputs.vocabulary,
            inputs.step_vocabulary,
            states=self.states,
            transitions=self.transitions,
            boundaries=self.boundaries,
            min_freq=self.min_freq,
        )
        options: dict[str, Any] = {}
        if (X_dev is None) != (y_dev is None):
            raise ArgumentError("X_dev and y_dev are the features and the labels of one set. Pass both, or neither.")
        if X_dev is not None:
            held = reader.read(X_dev, inputs.vocabulary, inputs.step_vocabulary).require_known("X_dev", 3)
            options = {"held_out": self._table(held, y_dev, label, None, "y_dev")[1], "patience": self.patience}
        data = table if engine is None else Parts(tuple(table.parts(workers_of(engine))), engine)
        found = fit_structure(
            structure,
            data,
            prior=elastic(self.c1, self.c2),
            method=self.method,
            tol=self.tol,
            max_iter=self.max_iter,
            init=before,
            seed=self.seed,
            progress=self.progress,
            options=options,
        )
        found = advised(found, Words(phrases=WORDS))
        if idle := self._idle(found.model):
            found = replace(found, notes=(*found.notes, Note("estimate", idle)))
            warnings.warn(idle, UserWarning, stacklevel=2)
        self._take(found.model, reader)
        self.fit_ = found
        if not found.certificate.ok and found.stop is not Stop.HELD_OUT:
            warnings.warn(f"{found.certificate.verdict} See fit_.notes.", ConvergenceWarning, stacklevel=2)
        return self

    def _idle(self, model: ChainModel) -> str:
        """Say that no attribute has a weight, and why; nothing where one has."""
        if len(model.layout.labels) or len(model.layout.step_pairs):
            return ""
        said = "No attribute has a weight, so that labels follow from transitions alone: "
        if not len(model.structure.vocabulary):
            return said + "no position of X has an attribute other than zero."
        if self.min_freq > 0:
            return said + Text(
                f"no attribute occurs {self.min_freq:g} times with a label. Pass ",
                Mention("min_freq", "min_freq=…"),
                " with a smaller number.",
            )
        return said + "none occurs in a sequence that counts."

    def _take(self, model: ChainModel, reader: SequenceReader) -> None:
        for name in LEARNT:
            self.__dict__.pop(name, None)
        self.model_, self._reader = model, reader
        states = model.label.states or ()
        self.classes_ = np.array(states, object if isinstance(next(iter(states), ""), str) else None)

    def _table(
        self,
        inputs: SequenceInputs,
        y: LabelsInRows | None,
        label: Variable | None,
        sample_weight: ArrayLike | None,
        name: str = "y",
    ) -> tuple[Variable, PositionTable]:
        """Return the labels, and the table of labelled sequences; those that lack one may be left out."""
        found = inputs.sequences
        read = read_labels(y, found.offsets, label, name=name, missing=self.missing)
        weights = None if sample_weight is None else sequence_weights(sample_weight, found.n_sequences)
        whole = LabelledSequences(found.offsets, found.states, read.codes, found.steps)
        if read.dropped is None or not read.dropped.any():
            return read.label, PositionTable(whole, read.label, weights)
        kept = whole.chosen(np.flatnonzero(~read.dropped))
        remark = f"{plural(int(read.dropped.sum()), 'sequence')} left out, with labels missing."
        weights = None if weights is None else weights[~read.dropped]
        n_dropped = whole.n_positions - kept.n_positions
        return read.label, PositionTable(kept, read.label, weights, (remark,), n_dropped)

    # Answers --------------------------------------------------------------------------------------------------

    def _read(self, X: SequencesLike) -> LabelledSequences:
        check_is_fitted(self, "model_")
        structure = self.model_.structure
        inputs = self._reader.read(X, structure.vocabulary, structure.step_vocabulary)
        return inputs.require_known("X", 4).sequences

    def predict(self, X: SequencesLike) -> list[list[Label]]:
        """Return the most probable labels of every sequence, all of them together (Viterbi)."""
        sequences = self._read(X)
        names = self.classes_[self.model_.best(sequences)].tolist()
        return sequences.apart(names)

    def predict_single(self, x: Iterable[Position]) -> list[Label]:
        """Return the most probable labels of one sequence."""
        return self.predict([x])[0]

    def predict_proba(self, X: SequencesLike) -> list[Floats]:
        """Return the probabilities of labels at positions, one array a sequence, of shape (length, n_labels)."""
        sequences = self._read(X)
        return sequences.apart(self.model_.marginals(sequences))

    def predict_marginals(self, X: SequencesLike) -> list[list[dict[Label, float]]]:
        """Return the probabilities of labels at positions, as dicts."""
        found = self.predict_proba(X)
        states = self.model_.label.states or ()
        return [[dict(zip(states, row, strict=True)) for row in own.tolist()] for own in found]

    def predict_marginals_single(self, x: Iterable[Position]) -> list[dict[Label, float]]:
        """Return the probabilities of labels at the positions of one sequence, as dicts."""
        return self.predict_marginals([x])[0]

    def log_likelihood(self, X: SequencesLike, y: LabelsInRows) -> Floats:
        """Return log p(y | x) of every sequence; shape (n_sequences,)."""
        found = self._read(X)
        read = read_labels(y, found.offsets, self.model_.label)
        return self.model_.log_prob(LabelledSequences(found.offsets, found.states, read.codes, found.steps))

    def n_best(self, X: SequencesLike, n: int) -> list[list[tuple[list[Label], float]]]:
        """Return the n most probable labellings of every sequence, each with its log-probability, the best first."""
        sequences, count = self._read(X), require_whole("n", n, 1)
        found = self.model_.n_best(sequences, count)
        return [[(self.classes_[path].tolist(), score) for path, score in own] for own in found]

    def sample(self, X: SequencesLike, *, seed: int | None = None) -> list[list[Label]]:
        """Draw labels of every sequence from p(y | x)."""
        sequences = self._read(X)
        return sequences.apart(self.classes_[self.model_.sample(sequences, seed=seed)].tolist())

    def evaluate(self, X: SequencesLike, y: LabelsInRows, *, scheme: str = "auto") -> TagScores:
        """Compare predicted labels with true ones: by label, and by span as ``conlleval`` defines it.

        Parameters
        ----------
        X, y
        scheme : {"auto", "conll", "iob1", "iob2", "iobes", "bilou", "none"}
            How labels mark spans; ``"auto"`` is ``"conll"`` where they look like ``B-NP``, ``I-NP`` and ``O``, and
            ``"none"`` where they are only labels.
        """
        check_is_fitted(self, "model_")
        # The labels learnt speak, too: of those here, perhaps few are left.
        scheme = "none" if scheme_of(scheme, self.classes_.tolist()) == "none" else scheme
        return tag_scores(y, self.predict(X), scheme=scheme)

    def score(self, X: SequencesLike, y: LabelsInRows) -> float:
        """Return the share of positions whose label is predicted rightly."""
        found = self.evaluate(X, y, scheme="none")
        if not found.n_tokens:
            raise DataError("There is no label to score. Pass sequences that have positions.")
        return found.accuracy

    # What was learnt ------------------------------------------------------------------------------------------

    @property
    def state_features_(self) -> dict[tuple[str, Label], float]:
        """The weights other than zero of attributes with labels, by (attribute, label)."""
        check_is_fitted(self, "model_")
        return state_dict(self.model_)

    @property
    def transition_features_(self) -> dict[tuple[Label, Label], float]:
        """The weights other than zero of transitions, by (label, next label)."""
        check_is_fitted(self, "model_")
        return transition_dict(self.model_)

    def top_features(self, n: int = 20, *, label: Label | None = None) -> TopWeights:
        """Return the largest and the smallest weights of features, as a labelled table."""
        check_is_fitted(self, "model_")
        return state_table(self.model_, n, label=label)

    def top_transitions(self, n: int = 20) -> TopWeights:
        """Return the largest and the smallest weights of transitions, as a labelled table."""
        check_is_fitted(self, "model_")
        return transition_table(self.model_, n)

    def plot(self, n: int = 15, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the top features and the matrix of transitions."""
        from suffice.report.chain_weights import chain_weights_plot

        check_is_fitted(self, "model_")
        return chain_weights_plot(self.model_, n, path)

    # Files ----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tagger to a file, without weights that are zero: nothing in it is executable.

        It holds the model, how features are read, the parameters, and what the certificate said. Files end in ``.crf``
        by custom; `sf.read` reads the model of such a file alone.
        """
        check_is_fitted(self, "model_")
        save_chain(stored(self), os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SequenceShell:
        """Return the tagger that `save` wrote: a `ChainCRF` or a `MEMM`, as the file says."""
        return restored(load_chain(os.fspath(path)), os.fspath(path))

    def __getattr__(self, name: str) -> Any:
        if name == "fit_" and "model_" in self.__dict__:
            said = "" if self._proof is None else f" It said: {self._proof.verdict}"
            raise UnavailableError(
                f"There is no fit_: this tagger was read from a file, which does not hold its fit.{said} Learn anew by "
                "fit(X, y) to have it."
            )
        if name in DERIVED:
            check_is_fitted(self, "model_")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__
