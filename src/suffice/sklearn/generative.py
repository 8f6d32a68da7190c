"""GenerativeShell: what classifiers that model their inputs share.

Their statistics add, their class probabilities can be exchanged, and values that are missing in a row to be classified
are summed or integrated out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from suffice.errors import ArgumentError, listing, require_choice, shown, the_argument
from suffice.fitting import collect
from suffice.models.class_model import RULES
from suffice.sklearn.base import S, Shell
from suffice.sklearn.cases import Cases
from suffice.sklearn.inputs import Inputs
from suffice.sklearn.tables import LabelsLike, MatrixLike
from suffice.sklearn.words import in_words
from suffice.structures.class_prior import ClassPrior
from suffice.types import Array, Floats, Frame
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.models.class_gaussian import ClassGaussianModel
    from suffice.models.joint_classes import JointClassModel
    from suffice.models.naive import NaiveModel
    from suffice.sklearn.softmax_regression import SoftmaxRegression


ByClass: TypeAlias = str | float | Mapping[Label, float]
"""What `ClassPrior.of` reads."""
PriorOfClasses: TypeAlias = ByClass | ArrayLike
"""Where class probabilities come from; an array is in the order of the classes."""
G = TypeVar("G", "NaiveModel", "ClassGaussianModel", "JointClassModel")


class GenerativeShell(Shell[S, G]):
    """A classifier by p(y) p(x | y)."""

    class_prior: PriorOfClasses
    rule: str

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
        require_choice("rule", self.rule, RULES)
        return super().fit(X, y, sample_weight)

    def partial_fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        classes: LabelsLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows to those learnt from before; the parts together give what one `fit` would.

        Only statistics are kept and added. The estimate is made from them when it is first asked for, so that early
        parts need not determine it, with the parameters that the classifier had at the last part. A part that is
        refused changes nothing.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All classes there will be. Without them, classes join as they appear.
        """
        grown = copy.copy(self)
        grown._add(X, y, classes, sample_weight)
        self.__dict__.update(grown.__dict__)
        return self

    def _add(self, X: MatrixLike, y: LabelsLike, classes: LabelsLike | None, sample_weight: ArrayLike | None) -> None:
        require_choice("rule", self.rule, RULES)
        first = not self.__sklearn_is_fitted__()
        if first:
            self._forget()  # what a fit that failed may have left
        declared = classes if first or classes is not None else self._declared_classes()
        cases = self._read_cases(X, y, sample_weight, first=first, classes=declared)
        self.classes_ = cases.classes if first else np.union1d(self.classes_, cases.classes)
        self.structure_ = self._make_structure(replace(cases, classes=self.classes_))
        self._asked = self._settings(len(self.classes_))
        with in_words(self._words):
            collecting = {name: value for name, value in self._asked.items() if name in ("method", "missing")}
            found = collect(self.structure_, cases.table(), **collecting)
            self.statistics_ = found if first else self._learnt() + found
        self._found = self._model = None

    def _declared_classes(self) -> Array | None:
        target = self._learnt().schema[self.target_name_]
        return self.classes_ if target.declared else None

    def _scores_of(self, inputs: Inputs) -> Floats:
        return np.asarray(self._learnt_model().scores_of(inputs.columns, inputs.n_rows, self.rule), np.float64)

    # Class probabilities --------------------------------------------------------------------------------------

    def _prior_spec(self, cases: Cases) -> ByClass:
        """Return what `ClassPrior.of` reads; probabilities in a list are those of the classes in order."""
        return by_class(self.class_prior, cases.classes)

    def with_class_priors(self, class_prior: PriorOfClasses) -> Self:
        """Return the fitted classifier with other class probabilities.

        It is what `fit` with this ``class_prior`` would give: the distributions of the inputs stay as they are, and
        ``fit_`` is made anew from the statistics when it is asked for.

        Parameters
        ----------
        class_prior : "uniform", mapping, Series or array
            By class; an array is in the order of ``classes_``.
        """
        check_is_fitted(self)
        spec = by_class(class_prior, self.classes_)
        twin = copy.copy(self)
        with in_words(self._words):
            twin._model = self._learnt_model().with_class_priors(spec)
        twin.class_prior, twin._found = spec, None
        known: Any = self.structure_
        twin.structure_ = type(known).from_dict({**known.to_dict(), "class_prior": ClassPrior.of(spec).to_dict()})
        return twin

    # Forms ----------------------------------------------------------------------------------------------------

    def to_softmax(self) -> SoftmaxRegression:
        """Return a `SoftmaxRegression` with the same p(y | x): its ``model_`` has the weights of all terms of x."""
        from suffice.sklearn.softmax_regression import SoftmaxRegression

        with in_words(self._words):
            return SoftmaxRegression._around(self._learnt_model().to_softmax(), self)

    def sample(self, n: int, *, seed: int | None = None, backend: str | None = None) -> Frame:
        """Draw n cases, inputs and class, as a frame."""
        drawn: Frame = self._learnt_model().sample(n, seed=seed, backend=backend)
        return drawn


def by_class(class_prior: PriorOfClasses, classes: Array) -> ByClass:
    """Return class probabilities as a mapping, those in a list in the order of the classes; others as they are.

    >>> by_class([0.2, 0.8], np.array(["no", "yes"]))
    {'no': 0.2, 'yes': 0.8}
    """
    if isinstance(class_prior, str | Mapping):
        return class_prior
    values = np.asarray(class_prior)
    if not values.ndim:
        single: Any = class_prior  # checked by `ClassPrior.of`
        spec: ByClass = single
        return spec
    if values.shape != (len(classes),) or values.dtype.kind not in "iuf":
        raise ArgumentError(
            the_argument("class_prior"),
            f" must have one probability of each of the {len(classes)} classes, in their "
            f"order. Got {shown(class_prior)} instead.",
        )
    labels = _labelled(class_prior, classes.tolist())
    told = list(values) if values.dtype in (np.float16, np.float32) else values.tolist()  # whose sum may miss one
    return dict(zip(labels, told, strict=True))


def _labelled(class_prior: Any, classes: list[Label]) -> list[Label]:
    """Return the classes that a list of probabilities speaks of: the index of a pandas Series, else all in order."""
    if not (hasattr(class_prior, "index") and hasattr(class_prior, "to_dict")):
        return classes
    named: list[Label] = class_prior.index.tolist()
    if len(set(named)) == len(named) and set(named) == set(classes):
        return named
    if named == list(range(len(named))) and not set(named) & set(classes):
        return classes  # rows that are numbered name no class
    raise ArgumentError(
        the_argument("class_prior"),
        f" is a Series whose index must be the classes, {listing(classes)}. Got the index "
        f"{listing(named)} instead. Probabilities in the order of the classes can be passed as an array.",
    )
