"""Naive: a class, and inputs that are independent of each other given the class."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from suffice.data.block import Block
from suffice.data.encode import missing_in
from suffice.data.schema import Declaration, Schema
from suffice.data.sparse_matrix import sparse_part
from suffice.errors import (
    ArgumentError,
    DataError,
    Remedy,
    UnknownNameError,
    also,
    is_number,
    listing,
    require_choice,
    require_mapping,
    shown,
    suggestion,
    the_argument,
)
from suffice.structures.class_columns import ClassColumns, input_names
from suffice.structures.class_prior import ClassPrior, ClassPriorLike

if TYPE_CHECKING:
    from suffice.models.naive import NaiveModel
    from suffice.result.fit import Fit
    from suffice.types import Bools, Entry, Json


DISCRETE, CONTINUOUS = ("categorical", "bernoulli"), ("gaussian", "tied_gaussian", "multinomial")
KINDS = (*DISCRETE, *CONTINUOUS)
DIVISORS = ("n", "n-1")


@dataclass(frozen=True, init=False)
class Naive(ClassColumns["Fit[NaiveModel, Naive]"]):
    """p(y) Π p(x_d | y): naive Bayes.

    Parameters
    ----------
    target : str
        The column of the class; it is read as discrete, whatever its values look like.
    inputs : sequence of str
        The other columns.
    kinds : mapping from str to str, optional
        What an input is, where its column does not tell: ``"categorical"`` (the default of discrete columns);
        ``"bernoulli"``, of two states, see ``binarize``; ``"gaussian"`` (the default of continuous ones), with a
        variance in each class; ``"tied_gaussian"``, whose variance all classes share; or ``"multinomial"``: counts of
        zero and more, which for all such columns together are draws from one distribution over these columns.
    class_prior : str, number or mapping
        ``"counted"``, ``"uniform"``, a pseudo-count of every class, or a probability of each.
    divisor : {"n", "n-1"}
        That of variances without a prior: ``"n"`` is maximum likelihood, ``"n-1"`` unbiased; of a shared variance it
        is the rows less one a class.
    binarize : float or None
        The threshold of Bernoulli columns that hold numbers: a number above it is the state 1, any other the state 0,
        and both states are known whatever the training data hold, as in scikit-learn's ``BernoulliNB``. With None the
        two numbers that a column holds are its states. Text, bools and categories are states themselves.

    Notes
    -----
    Values of inputs may be missing when ``missing="available"``: each column is learnt from the values that it has.
    With the class always there the likelihood is a product of one factor a column, so that this is the exact maximum,
    as long as values are missing at random. Counts of multinomial columns must be complete: with one of them missing,
    the total of the row is not known.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"free": ["no", "yes", "yes", "no"], "length": [9.0, 2.0, 3.0, 5.0], "spam": [0, 1, 1, 0]}
    >>> fit = sf.fit(Naive("spam", ["free", "length"]), data, prior=sf.Dirichlet(1.0))
    >>> print(fit.model.query("spam", {"free": "yes"}))
    spam       p
    ----  ------
    0     0.2500
    1     0.7500
    >>> Naive("spam", ["free", "length"])
    Naive('spam', ['free', 'length'])
    """

    learns_available: ClassVar[bool] = True
    checks_rows: ClassVar[bool] = True
    target: str
    inputs: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]
    class_prior: ClassPrior
    divisor: str
    binarize: float | None = 0.0

    def __init__(
        self,
        target: str,
        inputs: Iterable[str],
        *,
        kinds: Mapping[str, str] | None = None,
        class_prior: ClassPriorLike = "counted",
        divisor: str = "n",
        binarize: float | None = 0.0,
    ) -> None:
        names = input_names(target, inputs)
        named = kinds_of(names, {} if kinds is None else kinds)
        require_choice("divisor", divisor, DIVISORS)
        values = (target, names, named, ClassPrior.of(class_prior), divisor, threshold_of(binarize))
        fields = ("target", "inputs", "kinds", "class_prior", "divisor", "binarize")
        for name, value in zip(fields, values, strict=True):
            object.__setattr__(self, name, value)

    # What it tells --------------------------------------------------------------------------------------------

    @property
    def continuous(self) -> frozenset[str]:
        """The inputs that are said to be numbers."""
        return frozenset(name for name, kind in self.kinds if kind in CONTINUOUS)

    @property
    def declared(self) -> dict[str, Declaration]:
        """The class, and the inputs that are said to have states, are discrete."""
        thresholds = {"categorical": None, "bernoulli": self.binarize}
        named = {name: thresholds[kind] for name, kind in self.kinds if kind in DISCRETE}
        return {
            name: Declaration("discrete", None, threshold) for name, threshold in (named | {self.target: None}).items()
        }

    @cached_property
    def multinomial(self) -> tuple[str, ...]:
        """The columns of counts."""
        return tuple(name for name, kind in self.kinds if kind == "multinomial")

    @cached_property
    def column_name(self) -> str:
        """What the column that a count is of is called as a variable: ``column``, or longer where that is taken."""
        name = "column"
        while name in self.columns:
            name += "_"
        return name

    def kinds_in(self, schema: Schema) -> dict[str, str]:
        """Return the kind of every input, in order."""
        named = dict(self.kinds)
        usual = {name: DISCRETE[0] if schema[name].is_discrete else CONTINUOUS[0] for name in self.inputs}
        return {name: named.get(name, kind) for name, kind in usual.items()}

    def check_rows(self, block: Block) -> None:
        """Refuse rows without a class, and counts that are missing or negative."""
        gaps = missing_in(np.asarray(block.columns[self.target]))
        if gaps.any():
            raise DataError(
                f"Column {self.target!r}{_row(block, gaps)}: the class is missing. Leave such rows out",
                also(", or all incomplete ones by ", Remedy("missing", "drop")),
                ": to learn from them, too, takes expectation maximisation (EM), which is not there yet.",
            )
        stored = sparse_part(block.columns, self.multinomial)
        if stored is not None and not stored.data.min(initial=0.0) < 0:
            return
        for name in self.multinomial:
            values = np.asarray(block.columns[name], np.float64)
            bad = ~(values >= 0)
            if bad.any():
                value = values[int(np.argmax(bad))]
                what = "is missing (NaN)" if np.isnan(value) else f"is {value:g}"
                why = "Counts must not be missing" if np.isnan(value) else "Negative values in data are no counts"
                raise DataError(
                    f"Column {name!r}{_row(block, bad)}: the count {what}. {why}: multinomial columns hold numbers of "
                    f"zero and more. Correct it, or choose another kind: ",
                    Remedy("kinds", {name: "gaussian"}),
                    ".",
                )

    # Rendering ------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        shown_inputs = ", ".join(self.inputs[:6]) + (", …" if len(self.inputs) > 6 else "")
        return f"{self.target} -> {shown_inputs}"

    def __repr__(self) -> str:
        said = [repr(self.target), listing(self.inputs, 12)]
        if self.kinds:
            said.append(f"kinds={shown(dict(self.kinds), 200)}")
        if self.class_prior != ClassPrior():
            said.append(f"class_prior={self.class_prior!r}")
        if self.divisor != DIVISORS[0]:
            said.append(f"divisor={self.divisor!r}")
        if self.binarize != 0:
            said.append(f"binarize={self.binarize!r}")
        return f"Naive({', '.join(said)})"

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data."""
        return {
            "type": "Naive",
            "target": self.target,
            "inputs": list(self.inputs),
            "kinds": dict(self.kinds),
            "class_prior": self.class_prior.to_dict(),
            "divisor": self.divisor,
            **({} if self.binarize == 0 else {"binarize": self.binarize}),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> Naive:
        """Rebuild the structure from `to_dict`'s data."""
        class_prior = ClassPrior.from_dict(entry["class_prior"])
        return cls(
            entry["target"],
            entry["inputs"],
            kinds=entry["kinds"],
            class_prior=class_prior,
            divisor=entry["divisor"],
            binarize=entry.get("binarize", 0.0),
        )


def kinds_of(inputs: tuple[str, ...], kinds: object) -> tuple[tuple[str, str], ...]:
    """Return what is said of inputs, in their order; refuse names that are no inputs, and kinds that are none."""
    named, known = require_mapping("kinds", kinds, "{'age': 'tied_gaussian'}"), frozenset(inputs)
    for name, kind in named.items():
        if name not in known:
            raise UnknownNameError(
                the_argument("kinds"),
                f" names {shown(name)}, which is none of the inputs, {listing(inputs, 12)}.{suggestion(name, inputs)}",
            )
        require_choice(f"kinds[{name!r}]", kind, KINDS)
    return tuple((name, named[name]) for name in inputs if name in named)


def threshold_of(binarize: object) -> float | None:
    """Return the threshold of Bernoulli columns; None stands for none."""
    if binarize is None:
        return None
    if not is_number(binarize) or not math.isfinite(binarize):
        raise ArgumentError(
            the_argument("binarize"),
            " must be a finite number, above which a value of a Bernoulli column is the state 1, or None. Got "
            f"{shown(binarize)} instead.",
        )
    return float(binarize)


def _row(block: Block, bad: Bools) -> str:
    """Say which row is the first bad one; rows left out shift the numbers."""
    return "" if block.n_dropped else f", row {block.start + int(np.argmax(bad)) + 1}"
