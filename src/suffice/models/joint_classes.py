"""JointClassModel: classes with the joint table of their inputs.

Parameters    π(y), and p(x_1, …, x_d | y), a number a configuration and class                 class_prior, values
Asking        p(y | x); inputs that are missing are summed out exactly                         `ClassModel`
Sampling      a class, and then a configuration                                                `draw_inputs`
Storage       all configurations, or those that occurred and one row for the others            `Cells`
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.block import code_dtype
from suffice.data.labelled import row_cells
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import Mention, ModelError, Remedy, listing, made
from suffice.models.class_model import ClassModel, Posteriors
from suffice.models.cpds.rows import ROW_TOLERANCE, in_order
from suffice.models.joint_classes_cells import MOST_CELLS, Cells, keys_of, strides
from suffice.models.prediction import Prediction
from suffice.structures.joint_classes import shown_inputs
from suffice.text import html_table, plain_table, plural
from suffice.types import Array, Bools, Columns, Floats, Ints, Json
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.models.softmax_model import SoftmaxModel
    from suffice.types import Entry

MANY = 100


@dataclass(frozen=True, eq=False)
class JointClassModel(ClassModel, Posteriors, Prediction):
    """p(y) p(x_1, …, x_d | y), the inputs' joint table being free.

    Attributes
    ----------
    target : Variable
    inputs : tuple of Variable
    class_prior : array, shape (K,)
        π(y).
    values : array, shape (n_stored, K)
        p(x | y), one row a configuration of the inputs and one column a class. The column of a class without rows is
        NaN, which is unknown; such a class has no probability.
    configurations : array, shape (n_stored, d), or None
        The configurations that have a row, as codes in lexicographic order; None when all of them do.
    default_row : array, shape (K,), or None
        p(x | y) of each configuration without a row of its own, zero unless given; None when all of them have one.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.structures.joint_classes import JointClasses
    >>> data = {"a": [0, 0, 1, 1, 1, 0], "b": [0, 1, 0, 1, 1, 1], "xor": ["no", "yes", "yes", "no", "no", "yes"]}
    >>> model = sf.fit(JointClasses("xor", ("a", "b")), data, prior=sf.Dirichlet(1.0)).model
    >>> model.map({"a": 1, "b": 1})
    {'xor': 'no'}
    >>> print(model.query("xor", {"a": 1}))
    xor       p
    ---  ------
    no   0.5714
    yes  0.4286
    """

    target: Variable
    inputs: tuple[Variable, ...]
    class_prior: Floats
    values: Floats = field(repr=False)
    configurations: Ints | None = field(default=None, repr=False)
    default_row: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        k, d, n_rows = self.target.n_states, len(self.inputs), self.n_configurations
        if n_rows * k >= MOST_CELLS:
            raise ModelError(f"A table of {n_rows * k:,} cells cannot be indexed. Use fewer inputs.")
        if self.configurations is not None:
            self._keep("configurations", np.array(self.configurations, np.int64).reshape(len(self.configurations), d))
            self._check_configurations(self.configurations)
            n_rows = len(self.configurations)
            self._keep("default_row", np.array(self._default, np.float64).reshape(k))
        else:
            object.__setattr__(self, "default_row", None)
        self._keep("class_prior", np.array(self.class_prior, np.float64).reshape(k))
        self._keep("values", np.array(self.values, np.float64).reshape(n_rows, k))
        self._check_classes()

    def _keep(self, name: str, array: Array) -> None:
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    def _check_configurations(self, configurations: Ints) -> None:
        outside = ((configurations < 0) | (configurations >= self._sizes)).any(axis=1)
        if outside.any() or not in_order(configurations):
            raise ModelError(
                f"The configurations of {listing(self.variables[:-1])} must lie within their {list(self._sizes)} "
                "states and be in order, each once. Sort them."
            )

    def _check_classes(self) -> None:
        prior = self.class_prior
        if not (prior >= 0).all() or abs(float(prior.sum()) - 1) > ROW_TOLERANCE:
            raise ModelError(
                f"The class probabilities {prior.tolist()} are not a distribution: they must not be negative and must "
                "sum to 1."
            )
        default = self._default
        totals = self.values.sum(axis=0) + (self.n_configurations - len(self.values)) * default
        unknown = self.is_unknown
        negative = (self.values < 0).any(axis=0) | (default < 0)
        bad = ~unknown & (negative | ~(np.abs(totals - 1) <= ROW_TOLERANCE))
        if bad.any():
            at = int(np.argmax(bad))
            raise ModelError(
                f"The table of class {self.target.labels[at]!r} is not a distribution: its sum is {totals[at]:.12g}. "
                "Probabilities must not be negative and must sum to 1."
            )
        if (unknown & (prior > 0)).any():
            label = self.target.labels[int(np.argmax(unknown & (prior > 0)))]
            raise ModelError(
                f"Class {label!r} of {self.target.name!r} had no rows, so that its table is unknown and it cannot "
                "have a probability. Give it none, or fit with ",
                Remedy("prior", made("Dirichlet", 1.0)),
                ".",
            )

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def is_unknown(self) -> Bools:
        """Which classes have an unknown table; shape (K,)."""
        none: Bools = np.asarray(np.isnan(self.values).all(axis=0))
        return none if self.default_row is None else none & np.isnan(self.default_row)

    @property
    def _default(self) -> Floats:
        return np.zeros(self.target.n_states) if self.default_row is None else self.default_row

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(variable.n_states for variable in self.inputs)

    @property
    def n_configurations(self) -> int:
        """How many joint configurations the inputs have."""
        return math.prod(self._sizes)

    @property
    def parts(self) -> tuple[str, ...]:
        """What the log-likelihood consists of."""
        return ("classes", "inputs")

    def rows(self) -> Iterator[tuple[tuple[Label, ...], Floats]]:
        """Yield the inputs' states and p(x | y), an array over the classes, of every configuration that is stored."""
        return zip(self._row_labels(), self.values, strict=True)

    def _row_labels(self) -> Iterator[tuple[Label, ...]]:
        if self.configurations is None:
            return itertools.product(*(variable.labels for variable in self.inputs))
        return (
            tuple(variable.labels[code] for variable, code in zip(self.inputs, row, strict=True))
            for row in self.configurations
        )

    @property
    def title(self) -> str:
        """The table's name, ``p(a, b | y)``."""
        return f"p({shown_inputs(self.variables[:-1])} | {self.target.name})"

    # What it computes -----------------------------------------------------------------------------------------

    @cached_property
    def _cells(self) -> Cells:
        keys = None
        if self.configurations is not None:
            keys = keys_of(list(self.configurations.T), self._sizes, len(self.configurations))
        # A class of which nothing is known is never the answer.
        return Cells(self._sizes, keys, np.nan_to_num(self.values, nan=0.0), np.nan_to_num(self._default, nan=0.0))

    def log_likelihoods_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(x | y) of every row and class, missing inputs summed out exactly; shape (n_rows, K).

        −inf throughout where a class is unknown.
        """
        return self._cells.log_rows([np.asarray(columns[name]) for name in self.variables[:-1]], n_rows)

    def draw_inputs(self, classes: Ints, stream: np.random.Generator) -> dict[str, Array]:
        """Draw inputs of given classes: a column of codes each."""
        keys = np.zeros(len(classes), np.int64)
        for label in np.unique(classes).tolist():
            mine = np.flatnonzero(classes == label)
            keys[mine] = self._cells.draw(label, len(mine), stream)
        pairs = zip(self.inputs, strides(self._sizes), strict=True)
        return {v.name: (keys // stride % v.n_states).astype(code_dtype(v.n_states)) for v, stride in pairs}

    def to_softmax(self) -> SoftmaxModel:
        """Return p(y | x) as a softmax of one indicator a state, for a table of at most one input."""
        if len(self.inputs) > 1:
            raise ModelError(
                f"{self.title} is a joint table: its log-odds are no sum of terms of single inputs, so that it has no "
                "softmax form. Ask query or query_rows, or fit ",
                Mention("NaiveBayes", "sf.NaiveBayes"),
                ", which has one.",
            )
        from suffice.models.basis import Indicator
        from suffice.models.softmax_model import SoftmaxModel

        terms = tuple(Indicator(variable.name, label) for variable in self.inputs for label in variable.labels)
        codes = [np.arange(variable.n_states) for variable in self.inputs]
        weights = self._cells.log_rows(codes, len(terms)) if terms else np.zeros((0, self.target.n_states))
        return SoftmaxModel(self.target, self.inputs, terms, weights, self.log_prior)

    # Rendering and files --------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        stored = "" if self.configurations is None else f", {len(self.values):,} stored"
        return (
            f"JointClassModel({self.target.name!r}, {plural(len(self.inputs), 'input')}, {self.target.n_states:,} × "
            f"{self.n_configurations:,} cells{stored})"
        )

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not self.inputs:
            return row_cells((), self.target, iter(()), self.class_prior[None, :], "p")
        name = "p" if self.n_configurations <= MANY else "probability"  # many of them are small: digits, not decimals
        return row_cells(self.inputs, self.target, self._row_labels(), self.values, name)

    def __str__(self) -> str:
        title = self.title if self.inputs else f"p({self.target.name})"
        others = self.n_configurations - len(self.values)
        rest = "" if self.default_row is None else ", ".join(f"{p:.4g}" for p in self.default_row)
        said = f"\neach of {plural(others, 'other configuration')}: {rest}" if rest and others else ""
        return f"{title}\n{plain_table(*self._table())}{said}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption=str(self).partition("\n")[0])

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {
            "type": "JointClassModel",
            "schema": self.schema.to_dict(),
            "class_prior": self.class_prior,
            "values": self.values,
            "configurations": self.configurations,
            "default_row": self.default_row,
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> JointClassModel:
        """Rebuild the model from `to_dict`'s data."""
        *inputs, target = Schema.from_dict(entry["schema"]).variables
        return cls(
            target,
            tuple(inputs),
            entry["class_prior"],
            entry["values"],
            entry["configurations"],
            entry["default_row"],
        )
