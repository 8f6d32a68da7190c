"""NaiveBayes: inputs that are independent of each other within each class, each of its own kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.position_matrices import is_sparse
from suffice.data.schema import Declaration, Schema
from suffice.data.table import UNKNOWN_POLICIES
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, DataError, Made, Value, is_number, require_choice, shown, the_argument
from suffice.models.naive import NaiveModel
from suffice.sklearn.cases import Cases
from suffice.sklearn.generative import GenerativeShell, PriorOfClasses
from suffice.sklearn.inputs import (
    Inputs,
    compared,
    names_of,
    open_columns,
    origins_of,
    read_columns,
    read_numbers,
)
from suffice.sklearn.states import Smoothing, counting_prior, read_further, read_known
from suffice.sklearn.tables import MatrixLike
from suffice.sklearn.words import OF_STATES, SMOOTHED, Words
from suffice.stats.available import AVAILABLE
from suffice.structures.naive import CONTINUOUS, DISCRETE, KINDS, Naive, kinds_of, threshold_of

if TYPE_CHECKING:
    from sklearn.utils import Tags

NUMBERS = ("integer", "float", "bool")
ALIKE = (DISCRETE, ("gaussian", "tied_gaussian"))
COUNTED = (*DISCRETE, "multinomial")
STORED = ("bernoulli", "multinomial")
"""The kinds that a sparse matrix may be of."""
KINDS_OF = {"categorical": "categorical", "continuous": "gaussian"}
"""What columns are that a schema declares so."""


def _kinds(schema: Value) -> tuple[str, Value] | None:
    """Return the parameter of a schema."""
    made = schema.values() if isinstance(schema, Mapping) else ()
    names = [kind.name for kind in made if isinstance(kind, Made)]
    if not isinstance(schema, Mapping) or len(names) < len(schema):
        return None
    return "kinds", dict(zip(schema, map(KINDS_OF.__getitem__, names), strict=True))


WORDS = Words(
    {**OF_STATES.arguments, "schema": _kinds},
    {**OF_STATES.phrases, "declare them": "make it a pandas Categorical of both"},
)


class NaiveBayes(GenerativeShell[Naive, NaiveModel]):
    """A Bayes classifier whose inputs are independent of each other within each class.

    Parameters
    ----------
    kinds : str, list, mapping or None
        What columns are, all of them, one by one, or by name: ``"categorical"``, ``"bernoulli"`` (two states; numbers
        are compared with ``binarize``), ``"gaussian"``, ``"tied_gaussian"`` (one variance for all classes) or
        ``"multinomial"`` (counts, which for all such columns together are draws from one distribution). Other columns
        are told by their values: text, bools and categoricals are categorical, floats Gaussian, whole numbers
        categorical while they have at most 20 distinct values; with more, say which.
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
    binarize : float or None
        The threshold of Bernoulli columns that hold numbers: a number above it is the state 1, any other the state 0,
        and both states are known even where training had one of them only. With None the two numbers that a column
        holds are its states.

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
    counts must be complete, there as in training. With ``kinds="multinomial"`` and ``kinds="bernoulli"`` X may be a
    sparse matrix.

    Examples
    --------
    >>> import pandas as pd
    >>> import suffice as sf
    >>> mails = pd.DataFrame({"free": ["no", "yes", "yes", "no"], "length": [9.0, 2.0, 3.0, 5.0]})
    >>> clf = sf.NaiveBayes().fit(mails, ["ham", "spam", "spam", "ham"])
    >>> clf.predict_proba(pd.DataFrame({"free": ["yes"], "length": [None]})).round(4)
    array([[0.25, 0.75]])
    """

    binarize: float | None = 0.0  # of estimators that an earlier version pickled
    kinds_: dict[str, str]
    _words = WORDS
    _if_impossible = SMOOTHED
    _if_text = "Leave them out, or say in kinds that they are 'categorical'."

    def __init__(
        self,
        kinds: str | Sequence[str | None] | Mapping[str, str] | None = None,
        *,
        smoothing: Smoothing = 1.0,
        divisor: str = "n",
        class_prior: PriorOfClasses = "counted",
        rule: str = "map",
        unknown_states: str = "error",
        binarize: float | None = 0.0,
    ) -> None:
        self.kinds = kinds
        self.smoothing = smoothing
        self.divisor = divisor
        self.class_prior = class_prior
        self.rule = rule
        self.unknown_states = unknown_states
        self.binarize = binarize

    # Reading --------------------------------------------------------------------------------------------------

    def _read_more(self, X: MatrixLike, *, first: bool) -> Inputs:
        require_choice("unknown_states", self.unknown_states, UNKNOWN_POLICIES)
        if is_sparse(X):
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
        return read_columns(table, names, {name: self._declared(kind) for name, kind in said.items()}, "error")

    def _declared(self, kind: str) -> Declaration:
        if kind == "bernoulli":
            return Declaration("discrete", None, threshold_of(self.binarize))
        return Declaration("discrete" if kind in DISCRETE else "continuous")

    def _read_sparse(self, X: MatrixLike, *, first: bool) -> Inputs:
        kinds = {self.kinds} if first and isinstance(self.kinds, str) else set(() if first else self.kinds_.values())
        if len(kinds) != 1 or not kinds <= set(STORED):
            raise DataError(
                "X is a sparse matrix, which NaiveBayes takes as counts or bits only. Pass kinds='multinomial' or "
                "kinds='bernoulli', or a dense array: X.toarray()."
            )
        found = read_numbers(self, X, first=first, sparse=True)
        return found if kinds == {"multinomial"} else self._compared(found, first=first)

    def _compared(self, inputs: Inputs, *, first: bool) -> Inputs:
        """Return the codes of a sparse matrix of numbers, each compared with the threshold of its column."""
        known = None if first else self._known_inputs()
        threshold = threshold_of(self.binarize) if known is None else known[0].threshold
        if threshold is None or threshold < 0 or (known and any(one.threshold != threshold for one in known)):
            raise DataError(
                "X is a sparse matrix, whose Bernoulli columns need one threshold of 0.0 or more, so that what is not "
                "stored is the state 0. ",
                the_argument("binarize"),
                f" is {self.binarize!r}; change it, or pass a dense array: X.toarray().",
            )
        variables = known or tuple(Variable.binary(name, threshold) for name in inputs.names)
        return compared(inputs, variables, threshold)

    def _known_inputs(self) -> tuple[Variable, ...]:
        return tuple(self.statistics_.schema.select(names_of(self)).variables)

    def _read(self, X: MatrixLike) -> Inputs:
        if is_sparse(X):
            return self._read_sparse(X, first=False)
        return read_numbers(self, X, first=False) if self._only_numbers else read_known(self, X)

    @property
    def _only_numbers(self) -> bool:
        return all(kind in CONTINUOUS for kind in self.kinds_.values())

    def _says_numbers(self, X: MatrixLike) -> bool:
        """Whether all columns are numbers without a look at them."""
        if isinstance(self.kinds, str):
            return self.kinds in CONTINUOUS
        return self.kinds is None and isinstance(X, np.ndarray) and X.dtype.kind == "f"

    def _said(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return what the parameters say of columns, by name."""
        kinds = self.kinds
        if kinds is None or isinstance(kinds, Mapping):
            return dict(kinds_of(names, kinds or {}))
        one_each = not isinstance(kinds, str) and np.asarray(kinds, object).ndim == 1
        listed = [kinds] * len(names) if isinstance(kinds, str) else list(kinds) if one_each else []
        if len(listed) != len(names) or not all(kind is None or kind in KINDS for kind in listed):
            raise ArgumentError(
                the_argument("kinds"),
                f" must be one of {list(KINDS)}, a list of one for each of the {len(names)} "
                f"columns, or a mapping by column. Got {shown(kinds)} instead.",
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
            binarize=self.binarize,
        )
        kinds = structure.kinds_in(Schema((*held.variables, cases.target)))
        before = structure.binarize
        if "structure_" in self.__dict__:  # parts were learnt from before
            _require_alike(self.kinds_, kinds)
            before = self.structure_.binarize
        if "bernoulli" in kinds.values() and before != structure.binarize:
            raise ArgumentError(
                the_argument("binarize"),
                f" was {before!r} in the parts before, and is {structure.binarize!r} now. Change it back, or use fit.",
            )
        self.kinds_ = kinds
        return structure

    def _settings(self, n_classes: int) -> dict[str, Any]:
        prior = counting_prior(self.smoothing)
        if is_number(self.smoothing) and not any(kind in COUNTED for kind in self.kinds_.values()):
            prior = None  # which would be a prior on nothing
        return {"prior": prior, "missing": AVAILABLE}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        counts = isinstance(self.kinds, str) and self.kinds == "multinomial"
        tags.input_tags.sparse = isinstance(self.kinds, str) and self.kinds in STORED
        tags.input_tags.positive_only = counts
        tags.input_tags.allow_nan = not counts
        tags.classifier_tags.poor_score = tags.input_tags.sparse  # scikit-learn scores them on measurements
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
