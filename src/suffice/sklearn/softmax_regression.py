"""SoftmaxRegression: the classes' probabilities as a softmax of linear scores, fitted to p(y | x) itself."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from suffice.data.schema import Declaration
from suffice.errors import ArgumentError, DataError, Made, Passed, Remedy, Value, is_number, shown, the_argument
from suffice.models.softmax_model import SoftmaxModel
from suffice.priors.penalty import NARROWEST, WIDEST, Gaussian, Laplace
from suffice.result.softmax_coefficients import SoftmaxCoefficients, softmax_coefficients
from suffice.sklearn.base import S, Shell, attribute
from suffice.sklearn.cases import Cases, read_cases
from suffice.sklearn.inputs import (
    Inputs,
    first_gap,
    names_of,
    open_columns,
    origins_of,
    read_columns,
    read_numbers,
)
from suffice.sklearn.tables import LabelsLike, MatrixLike, may_have_states
from suffice.sklearn.words import SEARCH, Words, in_words, no_parameter
from suffice.stats.needs import Count
from suffice.structures.softmax_regression import SoftmaxClasses
from suffice.types import Floats
from suffice.values import Label

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from suffice.sklearn.generative import G, GenerativeShell

PENALTIES = ("l2", "l1")
FACTORS = ("text", "levels", "bool")


def _penalty(prior: Value) -> tuple[str, Value]:
    """Return the parameter of a prior."""
    return "penalty", "l1" if isinstance(prior, Made) and prior.name == "Laplace" else "l2"


WORDS = Words(
    {"prior": _penalty, "unknown_states": no_parameter},
    {
        **SEARCH,
        "such a prior": "",
        "Laplace": Remedy("penalty", "l1"),
        "The prior": "The penalty",
        "the data once more": "Call coefficients(X, y) with the rows once more",
        "data of the fit": "X and y must be the rows of the fit",
        "under a prior": "under a penalty",
        "priors with a kink": "penalties with a kink",
        "without a prior": "Fit with penalty=None",
        "fit.model.weights": "coef_",
        "unknown state": (
            "No class had it in training, so that it has no weight. Learn from rows that have it, or leave such rows "
            "out"
        ),
    },
)


class SoftmaxRegression(Shell[SoftmaxClasses, SoftmaxModel]):
    """Softmax regression, also called multinomial logistic regression; of two classes, logistic regression.

    Minimises −Σ log p(y | x), plus ½ strength ‖w‖² under ``penalty="l2"`` or strength ‖w‖₁ under ``"l1"``. Intercepts
    are not penalised. Of two classes w is the difference of their weights, which is ``coef_``; of more, there is one w
    a class. So strength is 1/C of scikit-learn's `LogisticRegression`, and 1/σ² of ``sf.Gaussian(σ)``, 2/σ² of two
    classes.

    Parameters
    ----------
    penalty : {"l2", "l1"} or None
        None is maximum likelihood.
    strength : float
        That of the penalty; without a penalty it has no effect.
    intercept : bool
        Whether scores have intercepts.
    method : str
        How the optimum is found; ``"auto"`` takes the first that can.
    tol : float
        The largest part of the gradient, a row, at which the search ends, and which the certificate allows.
    max_iter : int
        The most steps.
    reference : label, optional
        The class that the others are compared with in ``coefficients_``; the first unless named.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
    coef_ : array, shape (1, n_terms) of two classes, else (n_classes, n_terms)
        Of two classes, the weights of the second against the first. Of more, the weights sum to zero over the classes,
        except under ``"l1"``, where they stay as the penalty leaves them, with its zeros.
    intercept_ : array, shape (1,) or (n_classes,)
    terms_ : list of str
        What the weights belong to: a column of numbers is a term; text, bools and categoricals have an indicator of
        every state but their first (treatment contrasts); levels that no row has are left out.
    coefficients_ : table
        Weights against the reference with standard errors and Wald tests; without a penalty only. After large fits it
        takes the rows once more: ``coefficients(X, y)``.
    deviance_, null_deviance_ : float
        −2 log-likelihood of the fit, and of class probabilities that do not depend on x.
    n_iter_ : int
        The number of steps.
    fit_, model_, statistics_, n_features_in_, feature_names_in_
        As in `GaussianBayes`.

    Notes
    -----
    X may be sparse. Missing values are refused, in training and in rows to classify: p(y | x) alone says nothing of how
    inputs are distributed, so nothing can stand for one that is missing. Generative classifiers know that.

    Examples
    --------
    >>> import suffice as sf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sf.SoftmaxRegression().fit(X, y)
    >>> round(clf.deviance_, 3), clf.fit_.certificate.ok
    (11.899, True)
    """

    _words = WORDS

    def __init__(
        self,
        penalty: str | None = None,
        *,
        strength: float = 1.0,
        intercept: bool = True,
        method: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        reference: Label | None = None,
    ) -> None:
        self.penalty = penalty
        self.strength = strength
        self.intercept = intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.reference = reference

    # Learning -------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X and their classes y, and warn if the search did not end at the optimum.

        Parameters
        ----------
        X : array, sparse matrix, frame or list, shape (n_rows, n_features)
        y : array, shape (n_rows,)
            Text, bools or whole numbers.
        sample_weight : array, shape (n_rows,), optional
            Frequencies of the rows; a row of weight zero counts as absent.
        """
        super().fit(X, y, sample_weight)
        certificate = self._fitted().certificate
        if not certificate.ok:
            warnings.warn(f"{certificate.verdict} See fit_.notes.", ConvergenceWarning, stacklevel=2)
        return self

    def _read_more(self, X: MatrixLike, *, first: bool) -> Inputs:
        if not may_have_states(X):
            return _complete(read_numbers(self, X, first=first, sparse=True))
        table = open_columns(self, X, first=first)
        origins = origins_of(table, names_of(self))
        factors = [name for name, origin in origins.items() if origin in FACTORS]
        if not factors:
            return _complete(read_numbers(self, X, first=first))
        schema = {name: Declaration("continuous") for name in origins if name not in factors}
        found = _complete(read_columns(table, names_of(self), schema, "error"))
        return found.as_if_alone(declared=True)  # nothing could tell the weight of a state that no row has

    def _read(self, X: MatrixLike) -> Inputs:
        known = {variable.name: variable for variable in self.model_.inputs}
        if not any(variable.is_discrete for variable in known.values()):
            return _complete(read_numbers(self, X, first=False, sparse=True))
        return _complete(read_columns(open_columns(self, X, first=False), names_of(self), known, "error"))

    def _make_structure(self, cases: Cases) -> SoftmaxClasses:
        return SoftmaxClasses(cases.target.name, cases.inputs.names, intercept=self.intercept, reference=self.reference)

    def _settings(self, n_classes: int) -> dict[str, Any]:
        prior = self._prior(n_classes)
        return {"prior": prior, "method": self.method, "tol": self.tol, "max_iter": self.max_iter}

    def _prior(self, n_classes: int) -> Gaussian | Laplace | None:
        if not is_number(self.strength) or not 0 <= self.strength < math.inf:
            raise ArgumentError(
                the_argument("strength"),
                f" must be a number of at least 0, such as 1.0. Got {shown(self.strength)} instead.",
            )
        if self.penalty is None or not self.strength:
            return None
        if not isinstance(self.penalty, str) or self.penalty not in PENALTIES:
            raise ArgumentError(
                the_argument("penalty"), f" must be 'l2', 'l1' or None. Got {shown(self.penalty)} instead."
            )
        if self.penalty == "l1":
            return Laplace(self._width(1 / self.strength, lambda width: 1 / width))
        # w₂ = −w₁ = w/2 of two classes, whose squares sum to half of ‖w‖²
        more = 2 if n_classes == 2 else 1
        return Gaussian(self._width(1 / math.sqrt(more * self.strength), lambda width: 1 / (more * width**2)))

    def _width(self, width: float, strength_of: Callable[[float], float]) -> float:
        """Return the width of a prior, if it is not beyond what makes a difference."""
        if not NARROWEST <= width <= WIDEST:
            raise ArgumentError(
                the_argument("strength"),
                f" must lie between {strength_of(WIDEST):.3g} and {strength_of(NARROWEST):.3g} under ",
                Passed("penalty", self.penalty),
                f". Got {shown(self.strength)} instead; penalty=None is none at all.",
            )
        return width

    # What was learnt ------------------------------------------------------------------------------------------

    @property
    def terms_(self) -> list[str]:
        """What the weights belong to."""
        return [str(term) for term in self.model_.terms]

    @property
    def coef_(self) -> Floats:
        """The weights; shape (1, n_terms) of two classes, else (n_classes, n_terms)."""
        return self._shaped(self.model_.weights.T)

    @property
    def intercept_(self) -> Floats:
        """The intercepts; shape (1,) of two classes, else (n_classes,)."""
        return self._shaped(self.model_.uncentred_intercept)

    def _shaped(self, values: Floats) -> Floats:
        if len(self.classes_) == 2:
            return np.asarray(values[1:] - values[:1])
        return values.copy() if self.penalty == "l1" else np.asarray(values - values.mean(axis=0))

    @property
    def n_iter_(self) -> int:
        """The number of steps."""
        return max(len(self.fit_.trace), 1)

    @property
    def deviance_(self) -> float:
        """−2 log-likelihood."""
        return -2 * self.fit_.log_likelihood

    @property
    def null_deviance_(self) -> float:
        """−2 log-likelihood of class probabilities that do not depend on x; equal ones without an intercept."""
        m = np.asarray(self._learnt()[Count((self.target_name_,))].table(), np.float64)
        p = m / m.sum() if self.structure_.intercept else np.full(len(m), 1 / len(m))
        return float(-2 * (m * np.log(p)).sum())

    @property
    def coefficients_(self) -> SoftmaxCoefficients:
        """Weights against the reference class, with standard errors and Wald tests."""
        with attribute():
            return self.coefficients()

    def coefficients(
        self,
        X: MatrixLike | None = None,
        y: LabelsLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        level: float = 0.95,
        reference: Label | None = None,
    ) -> SoftmaxCoefficients:
        """Return weights against a class, with standard errors, Wald tests and intervals; without a penalty only.

        Parameters
        ----------
        X, y, sample_weight
            The rows of `fit` once more. They are needed after large fits, which do not write the information out.
        level : float
            That of the intervals.
        reference : label, optional
            The class to compare with; that of the classifier unless named.
        """
        fit = self._fitted()
        with in_words(self._words):
            if X is None:
                return softmax_coefficients(fit, level=level, reference=reference)
            cases = read_cases(self._inputs_of(X), y, sample_weight, name=self.target_name_, classes=self.classes_)
            return softmax_coefficients(fit, level=level, reference=reference, data=cases.table())

    def to_softmax(self) -> Self:
        """Return the classifier itself."""
        check_is_fitted(self)
        return self

    @classmethod
    def _around(cls, model: SoftmaxModel, shell: GenerativeShell[S, G]) -> SoftmaxRegression:
        """Return the softmax form of another classifier, fitted to the same X."""
        made = cls()
        held = ("n_features_in_", "feature_names_in_", "classes_", "target_name_")
        made.__dict__.update({name: value for name, value in shell.__dict__.items() if name in held})
        made._model, made._found = model, None
        return made

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _complete(inputs: Inputs) -> Inputs:
    gap = first_gap(inputs)
    if gap is None:
        return inputs
    raise DataError(
        f"Column {gap[0]!r}, row {gap[1]}: the value is missing (NaN). SoftmaxRegression learns p(y | x), and nothing "
        "of how inputs are distributed that could stand for one. Fill it in, or use a classifier that models inputs: "
        "GaussianBayes, NaiveBayes and JointBayes classify rows with gaps, and NaiveBayes learns from them."
    )
