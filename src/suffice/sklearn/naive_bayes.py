"""NaiveBayes: inputs that are independent of each other within each class, each of its own kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice.data.schema import Declaration, Schema
from suffice.data.table import UNKNOWN_POLICIES
from suffice.errors import ArgumentError, DataError, is_number, require_choice, shown
from suffice.sklearn.cases import Cases
from suffice.sklearn.generative import Generative
from suffice.sklearn.inputs import Inputs, names_of, open_columns, origins_of, read_columns, read_numbers
from suffice.sklearn.states import counting_prior, read_further, read_known
from suffice.sklearn.words import OF_STATES, SMOOTHED
from suffice.structures.naive import CONTINUOUS, DISCRETE, KINDS, Naive, kinds_of

NUMBERS = ("integer", "float", "bool")
ALIKE = (DISCRETE, ("gaussian", "tied_gaussian"))
COUNTED = (*DISCRETE, "multinomial")
WORDS = OF_STATES | {
    "schema={": "kinds={",
    "sf.categorical()": "'categorical'",
    "sf.continuous()": "'gaussian'",
    "declare them by schema=.": "make it a pandas Categorical of both.",
    "prior=sf.NormalInverseGamma": "smoothing=sf.NormalInverseGamma",
    "prior=[sf.": "smoothing=[sf.",
}


class NaiveBayes(Generative):
    """A Bayes classifier whose inputs are independent of each other within each class.

    Parameters
    ----------
    kinds : str, list, mapping or None
        What columns are, all of them, one by one, or by name: ``"categorical"``, ``"bernoulli"`` (two states),
        ``"gaussian"``, ``"tied_gaussian"`` (one variance for all classes) or ``"multinomial"`` (counts, which for all
        such columns together are draws from one distribution). Other columns are told by their values: text, bools and
        categoricals are categorical, floats Gaussian, whole numbers categorical while they have at most 20 distinct
        values; with more, say which.
    smoothing : float or prior
        The pseudo-count of every state of a column, or of every column of counts, within a class (a Dirichlet prior, of
        which the posterior mean is taken); 0.0 is maximum likelihood, under which states that a class never had are
        impossible in it. Gaussian columns are not smoothed. A prior, or a list of priors, such as
        ``[sf.Dirichlet(1.0), sf.NormalInverseGamma(2, 1.0)]``, is taken as it is.
    divisor : {"n", "n-1"}
        Of variances: maximum likelihood, or unbiased.
    class_prior : "counted", "uniform", float, mapping or array
        Where p(y) comes from: relative frequencies, all equal, a pseudo-count of every class, or given, by class or in
        the order of the classes.
    rule : {"map", "ml"}
        Decide by p(y | x), or by p(x | y) alone, which is p(y | x) under equal class probabilities.
    unknown_states : {"error", "missing"}
        What to do with states in rows to classify that training did not have.

    Attributes
    ----------
    kinds_ : dict of str to str
        What every column was taken as.
    classes_, fit_, model_, statistics_, n_features_in_, feature_names_in_
        As in `GaussianBayes`.

    Notes
    -----
    Values may be missing. In training each column is learnt from the values that it has, which is exact: the likelihood
    is a product of one factor a column. In rows to classify, missing values are summed or integrated out. Columns of
    counts must be complete. Where all columns are, X may be a sparse matrix.

    Examples
    --------
    >>> import pandas as pd
    >>> import suffice as sf
    >>> mails = pd.DataFrame({"free": ["no", "yes", "yes", "no"], "length": [9.0, 2.0, 3.0, 5.0]})
    >>> clf = sf.NaiveBayes().fit(mails, ["ham", "spam", "spam", "ham"])
    >>> clf.predict_proba(pd.DataFrame({"free": ["yes"], "length": [None]})).round(4)
    array([[0.25, 0.75]])
    """

    _words = WORDS
    _if_impossible = SMOOTHED
    _if_text = "Leave them out, or say in kinds that they are 'categorical'."

    def __init__(
        self,
        kinds: Any = None,
        *,
        smoothing: Any = 1.0,
        divisor: str = "n",
        class_prior: Any = "counted",
        rule: str = "map",
        unknown_states: str = "error",
    ) -> None:
        self.kinds = kinds
        self.smoothing = smoothing
        self.divisor = divisor
        self.class_prior = class_prior
        self.rule = rule
        self.unknown_states = unknown_states

    # Reading --------------------------------------------------------------------------------------------------

    def _read_more(self, X: Any, *, first: bool) -> Inputs:
        require_choice("unknown_states", self.unknown_states, UNKNOWN_POLICIES)
        if hasattr(X, "tocsr"):
            return self._read_sparse(X, first=first)
        if not first:
            return read_numbers(self, X, first=False, finite=False) if self._only_numbers else read_further(self, X)
        if self._says_numbers(X):
            found = read_numbers(self, X, first=True, finite=False)
            self._said(found.names)
            return found
        table = open_columns(self, X, first=True)
        names = names_of(self)
        said = self._said(names)
        origins = origins_of(table, names)
        if all(_is_number(origins[name], said.get(name)) for name in names):
            return read_numbers(self, X, first=True, finite=False)
        schema = {name: Declaration("discrete" if kind in DISCRETE else "continuous") for name, kind in said.items()}
        return read_columns(table, names, schema, "error")

    def _read_sparse(self, X: Any, *, first: bool) -> Inputs:
        kinds = {self.kinds} if first and isinstance(self.kinds, str) else set(() if first else self.kinds_.values())
        if kinds != {"multinomial"}:
            raise DataError(
                "X is a sparse matrix, which NaiveBayes takes as counts only. Pass kinds='multinomial', or a dense "
                "array: X.toarray()."
            )
        return read_numbers(self, X, first=first, sparse=True)

    def _read(self, X: Any) -> Inputs:
        if hasattr(X, "tocsr"):
            return self._read_sparse(X, first=False)
        return read_numbers(self, X, first=False) if self._only_numbers else read_known(self, X)

    @property
    def _only_numbers(self) -> bool:
        return all(kind in CONTINUOUS for kind in self.kinds_.values())

    def _says_numbers(self, X: Any) -> bool:
        """Whether all columns are numbers without a look at them."""
        if isinstance(self.kinds, str):
            return self.kinds in CONTINUOUS
        return self.kinds is None and isinstance(X, np.ndarray) and X.dtype.kind == "f"

    def _said(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return what the parameters say of columns, by name."""
        kinds = self.kinds
        if kinds is None or isinstance(kinds, Mapping):
            return dict(kinds_of(names, kinds or {}))
        listed = [kinds] * len(names) if isinstance(kinds, str) else list(kinds) if np.ndim(kinds) == 1 else []
        if len(listed) != len(names) or not all(kind is None or kind in KINDS for kind in listed):
            raise ArgumentError(
                f"The 'kinds' argument must be one of {list(KINDS)}, a list of one for each of the {len(names)} "
                f"columns, or a mapping by column. Got {shown(kinds)} instead."
            )
        return {name: kind for name, kind in zip(names, listed, strict=True) if kind is not None}

    # Learning -------------------------------------------------------------------------------------------------

    def _make_structure(self, cases: Cases) -> Naive:
        held = cases.inputs
        structure = Naive(
            cases.target.name,
            held.names,
            kinds=self._said(held.names),
            class_prior=self._prior_spec(cases),
            divisor=self.divisor,
        )
        kinds = structure.kinds_in(Schema((*held.variables, cases.target)))
        _require_alike(getattr(self, "kinds_", {}), kinds)
        self.kinds_ = kinds
        return structure

    def _settings(self, n_classes: int) -> dict[str, Any]:
        prior = counting_prior(self.smoothing)
        if is_number(self.smoothing) and not any(kind in COUNTED for kind in self.kinds_.values()):
            prior = None  # which would be a prior on nothing
        return {"prior": prior, "missing": Naive.gaps}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        counts = isinstance(self.kinds, str) and self.kinds == "multinomial"
        tags.input_tags.sparse = tags.input_tags.positive_only = counts
        tags.input_tags.allow_nan = not counts
        return tags


def _require_alike(before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Refuse kinds that later parts of the data cannot change, as their rows are kept or checked in other ways."""
    for name, kind in before.items():
        if now[name] != kind and not any({kind, now[name]} == set(pair) for pair in ALIKE):
            raise ArgumentError(
                f"Column {name!r} was {kind!r} in the parts before, and the 'kinds' argument now says {now[name]!r}. "
                "Change it back, or use fit."
            )


def _is_number(origin: str, kind: str | None) -> bool:
    return kind in CONTINUOUS and origin in NUMBERS if kind is not None else origin == "float"
