"""Generative: what classifiers that model their inputs share.

Their statistics add, their class probabilities can be exchanged, and values that are missing in a row to be classified
are summed or integrated out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice.errors import ArgumentError, require_choice, shown
from suffice.fitting import collect
from suffice.models.class_model import RULES
from suffice.sklearn.base import Floats, Shell
from suffice.sklearn.cases import Cases
from suffice.sklearn.inputs import Inputs
from suffice.sklearn.words import in_words

if TYPE_CHECKING:
    from suffice.sklearn.softmax_regression import SoftmaxRegression


class Generative(Shell):
    """A classifier by p(y) p(x | y)."""

    class_prior: Any
    rule: str

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those learnt from before; the parts together give what one `fit` would.

        Only statistics are kept and added. The estimate is made from them when it is first asked for, so that early
        parts need not determine it.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All classes there will be. Without them, classes join as they appear.
        """
        require_choice("rule", self.rule, RULES)
        first = not hasattr(self, "classes_")
        declared = classes if first or classes is not None else self._declared_classes()
        cases = self._read_cases(X, y, sample_weight, first=first, classes=declared)
        if first:
            self.structure_ = self._make_structure(cases)
        with in_words(self._words):
            found = collect(self.structure_, cases.table(), **self._collecting())
        self.statistics_ = found if first else self._learnt() + found
        self.classes_ = cases.classes if first else np.union1d(self.classes_, cases.classes)
        self._found = self._model = None
        return self

    def _declared_classes(self) -> Any:
        target = self._learnt().schema[self.target_name_]
        return self.classes_ if target.declared else None

    def _collecting(self) -> dict[str, Any]:
        """Return the keywords that `suffice.collect` takes, of those of `suffice.fit`."""
        return {name: value for name, value in self._settings(0).items() if name in ("method", "missing")}

    def _scores_of(self, inputs: Inputs) -> Floats:
        return np.asarray(self.model_.scores_of(inputs.columns, inputs.n_rows, self.rule), np.float64)

    # Class probabilities --------------------------------------------------------------------------------------

    def _prior_spec(self, cases: Cases) -> Any:
        """Return what `ClassPrior.of` reads; probabilities in a list are those of the classes in order."""
        return by_class(self.class_prior, cases.classes)

    def with_class_priors(self, class_prior: Any) -> Self:
        """Return the fitted classifier with other class probabilities.

        Its ``model_`` and its parameter ``class_prior`` are changed; ``fit_`` stays the fit that it came from.

        Parameters
        ----------
        class_prior : "uniform", array or mapping
            An array is in the order of ``classes_``.
        """
        check_is_fitted(self)
        spec = by_class(class_prior, self.classes_)
        twin = copy.copy(self)
        twin._model = self.model_.with_class_priors(spec)
        twin.class_prior = spec
        return twin

    # Forms ----------------------------------------------------------------------------------------------------

    def to_softmax(self) -> SoftmaxRegression:
        """Return a `SoftmaxRegression` with the same p(y | x): its ``model_`` has the weights of all terms of x."""
        from suffice.sklearn.softmax_regression import SoftmaxRegression

        with in_words(self._words):
            return SoftmaxRegression._around(self.model_.to_softmax(), self)

    def sample(self, n: int, *, seed: int | None = None, backend: str | None = None) -> Any:
        """Draw n cases, inputs and class, as a frame."""
        return self.model_.sample(n, seed=seed, backend=backend)


def by_class(class_prior: Any, classes: Any) -> Any:
    """Return class probabilities that are a list in the order of the classes as a mapping; others as they are."""
    if isinstance(class_prior, str | Mapping) or np.ndim(class_prior) == 0:
        return class_prior
    values = np.asarray(class_prior)
    if values.shape != (len(classes),) or values.dtype.kind not in "iuf":
        raise ArgumentError(
            f"The 'class_prior' argument must have one probability of each of the {len(classes)} classes, in their "
            f"order. Got {shown(class_prior)} instead."
        )
    return dict(zip(classes.tolist(), values.tolist(), strict=True))
