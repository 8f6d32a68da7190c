"""Shell: what every classifier here does the same way, from X and y to the class that is most likely."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from suffice.errors import DataError, EstimationError, ModelError, SufficeError
from suffice.fitting import estimate
from suffice.fitting import fit as fit_structure
from suffice.models.class_model import Posteriors, log_normalised, refuse_far
from suffice.models.class_scoring import best_class
from suffice.models.log_odds import LogOdds
from suffice.result.fit import Fit
from suffice.sklearn.cases import Cases, name_of, read_cases
from suffice.sklearn.inputs import Inputs
from suffice.sklearn.tables import LabelsLike, MatrixLike, as_table
from suffice.sklearn.words import Words, advised, in_words
from suffice.stats.statistics import Statistics
from suffice.structures.class_columns import ClassColumns
from suffice.types import Array, Floats
from suffice.values import Label

S = TypeVar("S", bound=ClassColumns)
M = TypeVar("M", bound=Posteriors)

PIECE_ROWS = 1 << 15
"""Rows that are classified at a time, so that what is computed on the way stays small."""
LEARNT = ("classes_", "statistics_", "structure_", "target_name_", "kinds_", "_asked", "_found", "_model")


class UnavailableError(EstimationError, AttributeError):
    """A classifier does not have this attribute, or not yet, so that `hasattr` answers no."""


@contextmanager
def attribute() -> Iterator[None]:
    """Let a property fail as attributes do: errors of the library become an `UnavailableError` of the same words.

    The body of every property of a shell that can fail belongs in ``with attribute():``. Otherwise `hasattr` raises,
    and with it whatever looks through the attributes of an estimator, such as its picture in a notebook.
    """
    try:
        yield
    except AttributeError:
        raise
    except SufficeError as error:
        raise UnavailableError(error.message) from error


class Shell(ClassifierMixin, BaseEstimator, ABC, Generic[S, M]):
    """A classifier of scikit-learn's protocol around a structure of this library.

    A subclass says how X is read (`_read_more`, `_read`), which structure that makes (`_make_structure`) and how it is
    fitted (`_settings`). Nothing is computed here that the library could not do without scikit-learn.
    """

    classes_: Array
    structure_: S
    statistics_: Statistics
    target_name_: str
    n_features_in_: int
    _found: Fit | None
    _model: M | None
    _asked: dict[str, Any]
    _words: ClassVar[Words] = Words()
    """Phrases of the library's messages, and what they are called here."""
    _if_text: ClassVar[str] = (
        "Leave them out or encode them; NaiveBayes and SoftmaxRegression take text beside numbers."
    )
    """What to do about text where numbers are wanted."""
    _if_impossible: ClassVar[str] = "Correct it."
    """What to do about a row that no class can have."""

    @abstractmethod
    def _read_more(self, X: MatrixLike, *, first: bool) -> Inputs:
        """Read X to learn from it; the first X tells what the columns are."""

    @abstractmethod
    def _read(self, X: MatrixLike) -> Inputs:
        """Read X to classify it."""

    @abstractmethod
    def _make_structure(self, cases: Cases) -> S:
        """Return what is known before the data, from the parameters."""

    def _settings(self, n_classes: int) -> dict[str, Any]:
        """Return further keywords of `suffice.fit`, from the parameters."""
        return {}

    def _read_cases(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None,
        *,
        first: bool,
        classes: LabelsLike | None = None,
    ) -> Cases:
        with in_words(self._words):
            inputs = self._read_more(as_table(X), first=first)
        if first:
            self.target_name_ = name_of(y, inputs.names)
        return read_cases(inputs, y, sample_weight, name=self.target_name_, classes=classes)

    # Learning -------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X and their classes y.

        Parameters
        ----------
        X : array, frame or list, shape (n_rows, n_features)
        y : array, shape (n_rows,)
            Text, bools or whole numbers.
        sample_weight : array, shape (n_rows,), optional
            Frequencies of the rows; a row of weight zero counts as absent.
        """
        self._forget()
        cases = self._read_cases(X, y, sample_weight, first=True)
        self.structure_ = self._make_structure(cases)
        self._asked = self._settings(len(cases.classes))
        with in_words(self._words, cases):
            found = fit_structure(self.structure_, cases.table(), **self._asked)
        found = advised(found, self._words)
        self._found, self._model, self.statistics_ = found, found.model, found.statistics
        self.classes_ = cases.classes
        return self

    def _forget(self) -> None:
        for name in LEARNT:
            self.__dict__.pop(name, None)

    def __sklearn_is_fitted__(self) -> bool:
        return "classes_" in self.__dict__

    @property
    def fit_(self) -> Fit:
        """The library's fit, with its certificate; after ``partial_fit`` it is made when first asked for."""
        with attribute():
            return self._fitted()

    def _fitted(self) -> Fit:
        check_is_fitted(self)
        if self._found is None:
            learnt = self._learnt()
            with in_words(self._words):
                found = estimate(self.structure_, learnt, **self._asked)
            self._found = advised(found, self._words)
        return self._found

    @property
    def model_(self) -> M:
        """The model: a distribution of the classes given the inputs, or of both."""
        with attribute():
            return self._learnt_model()

    def _learnt_model(self) -> M:
        check_is_fitted(self)
        if self._model is not None:
            return self._model
        model: M = self._fitted().model
        return model

    def _learnt(self) -> Statistics:
        if "statistics_" not in self.__dict__:
            raise UnavailableError(
                f"This {type(self).__name__} was not fitted to data but made from another classifier, so it has a "
                "model_ and no fit_."
            )
        return self.statistics_

    # Answers --------------------------------------------------------------------------------------------------

    def predict(self, X: MatrixLike) -> Array:
        """Return the most likely class of every row; shape (n_rows,)."""
        inputs = self._inputs_of(X)
        winners = np.empty(inputs.n_rows, np.int64)
        for low, scores in self._scored(inputs):
            winners[low : low + len(scores)] = best_class(scores)
        return np.asarray(self.classes_.take(winners))

    def predict_log_proba(self, X: MatrixLike) -> Floats:
        """Return log p(y | x) of every row and class, in the order of ``classes_``; shape (n_rows, n_classes)."""
        return log_normalised(self._scores(X))

    def predict_proba(self, X: MatrixLike) -> Floats:
        """Return p(y | x) of every row and class, in the order of ``classes_``; shape (n_rows, n_classes)."""
        log_p = self.predict_log_proba(X)
        return np.asarray(np.exp(log_p, out=log_p))

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the log-odds of the second of two classes, shape (n_rows,); of more classes, log p(y | x)."""
        log_p = self.predict_log_proba(X)
        if len(self.classes_) != 2:
            return log_p
        with np.errstate(invalid="ignore"):
            return np.asarray(log_p[:, 1] - log_p[:, 0])

    def _scores(self, X: MatrixLike) -> Floats:
        """Return a score of every row and class, of which the largest wins; shape (n_rows, n_classes)."""
        inputs = self._inputs_of(X)
        found = np.empty((inputs.n_rows, len(self.classes_)))
        for low, scores in self._scored(inputs):
            found[low : low + len(scores)] = scores
        return found

    def _inputs_of(self, X: MatrixLike) -> Inputs:
        check_is_fitted(self)
        with in_words(self._words):
            return self._read(as_table(X))

    def _scored(self, inputs: Inputs) -> Iterator[tuple[int, Floats]]:
        """Yield where a piece of rows begins, and their scores, in pieces that stay in the cache."""
        for low in range(0, inputs.n_rows, PIECE_ROWS):
            piece = inputs.rows(slice(low, min(low + PIECE_ROWS, inputs.n_rows)))
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows has no score, and is refused
                scores = self._scores_in(piece, low)
            self._require_possible(scores, piece, low)
            yield low, scores

    def _require_possible(self, scores: Floats, inputs: Inputs, low: int) -> None:
        """Refuse rows without a class, row ``low`` of X the first; most often no score at all is −∞."""
        if not scores.size or scores.min() > -np.inf:
            return
        possible = scores.max(axis=1) > -np.inf
        if possible.all():
            return
        row = int(np.argmin(possible))
        refuse_far(inputs.variables, inputs.columns, row, f", row {low + row + 1}")
        raise ModelError(
            f"Row {low + row + 1} of X is impossible under every class, so no class is more likely than another. "
            f"{self._if_impossible}"
        )

    def _scores_in(self, piece: Inputs, low: int) -> Floats:
        """Return the scores of a piece; what is refused is named by its row in X."""
        try:
            return self._scores_of(piece)
        except DataError:
            self._learnt_model().refuse(piece.columns, piece.n_rows, low)
            raise

    def _scores_of(self, inputs: Inputs) -> Floats:
        return np.asarray(self._learnt_model().log_scores_of(inputs.columns, inputs.n_rows), np.float64)

    def log_odds(self, k: Label, j: Label) -> LogOdds:
        """Return log p(y = k | x) / p(y = j | x) as a function of x: a constant and weights of terms."""
        with in_words(self._words):
            return self._learnt_model().log_odds(k, j)

    def decision_surface(self, X: MatrixLike, y: LabelsLike | None = None, **options: Any) -> Any:
        """Draw which class is most likely where, over two inputs; see `suffice.report.decision_surface`."""
        from suffice.report import decision_surface

        check_is_fitted(self)
        return decision_surface(self, X, y, **options)
