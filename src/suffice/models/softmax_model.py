"""SoftmaxModel: p(y | x) as a softmax of scores that are linear in terms of the inputs.

It is what softmax regression fits, and what every generative classifier of this library becomes by ``to_softmax()``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.block import Block, code_dtype
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, ModelError, UnknownNameError, listing
from suffice.models.basis import (
    Centre,
    Indicator,
    InputProduct,
    Term,
    evaluate,
    from_entries,
    in_pieces,
    require_no_gaps,
    sparse_terms,
    to_entries,
)
from suffice.models.class_model import Posteriors, log_sum
from suffice.models.log_odds import LogOdds, applied
from suffice.models.prediction import Prediction
from suffice.models.sampling import stream_key, to_frame
from suffice.structures.softmax_regression import SoftmaxClasses
from suffice.text import html_table, number, plain_table, plural
from suffice.types import Columns, Floats, Frame, Json

if TYPE_CHECKING:
    from suffice.types import Entry

PIECE_NUMBERS = 1 << 17
"""Values of terms that are written out at a time; a megabyte stays in the cache."""
SHOWN_TERMS, SHOWN_CLASSES = 60, 8
__all__ = ["LogOdds", "SoftmaxModel"]


@dataclass(frozen=True, eq=False)
class SoftmaxModel(Posteriors, Prediction):
    """log p(y = k | x) = intercept_k + Σ_t weights_tk term_t(x) − log Σ.

    Attributes
    ----------
    target : Variable
        The class.
    inputs : tuple of Variable
    terms : tuple of Term
        Functions of the inputs, continuous ones less their centre.
    weights : array, shape (n_terms, n_classes)
        −inf makes a class impossible where its term is not zero; −inf times zero counts as zero.
    intercept : array, shape (n_classes,)
    centre : mapping of str to float
        What continuous inputs are taken less in the terms; zero unless named.
    structure : SoftmaxClasses or None
        What was fitted; None for the softmax form of another classifier.
    information : array, shape (K (T + 1),) * 2, or None
        Second derivatives of −Σ log p(y | x) at a maximum-likelihood estimate, the intercept of every class before its
        weights, where they were written out; standard errors come from it.

    Examples
    --------
    >>> from suffice.models.basis import Linear
    >>> y, x = Variable("y", ("no", "yes")), Variable("x")
    >>> model = SoftmaxModel(y, (x,), (Linear("x"),), np.array([[0.0, 2.0]]), np.array([0.0, -1.0]))
    >>> print(model.query("y", given={"x": 0.5}))
    y         p
    ---  ------
    no   0.5000
    yes  0.5000
    >>> print(model)
    term         no  yes
    -----------  --  ---
    (intercept)   0   -1
    x             0    2
    """

    target: Variable
    inputs: tuple[Variable, ...]
    terms: tuple[Term, ...]
    weights: Floats = field(repr=False)
    intercept: Floats = field(repr=False)
    centre: Centre = field(default_factory=dict)
    structure: SoftmaxClasses | None = None
    information: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        arrays: dict[str, tuple[Floats, tuple[int, ...]]] = {
            "weights": (self.weights, (len(self.terms), self.target.n_states)),
            "intercept": (self.intercept, (self.target.n_states,)),
        }
        for name, (given, shape) in arrays.items():
            frozen = np.array(given, np.float64)
            if frozen.shape != shape:
                raise ModelError(
                    f"The {name!r} of a softmax model must have the shape {shape}, a column a class. Got "
                    f"{frozen.shape} instead."
                )
            if np.isnan(frozen).any() or (frozen == np.inf).any():
                raise ModelError(f"The {name!r} of a softmax model must be numbers or −inf, not NaN or +inf.")
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)
        object.__setattr__(self, "centre", {name: float(c) for name, c in self.centre.items() if c})
        known = {variable.name for variable in self.inputs}
        for term in self.terms:
            if not known.issuperset(term.names):
                raise ModelError(
                    f"The term {str(term)!r} reads a variable that is none of {listing(sorted(known), 12)}."
                )

    def __repr__(self) -> str:
        of = f"{self.target.name} given {plural(len(self.inputs), 'input')}"
        return f"SoftmaxModel({of}, {plural(len(self.terms), 'term')}, {self.target.n_states} classes)"

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        labels = [str(label) for label in self.target.labels[:SHOWN_CLASSES]]
        more = ["…"] if self.target.n_states > SHOWN_CLASSES else []
        numbers = np.vstack([self.uncentred_intercept, self.weights[:SHOWN_TERMS]])[:, :SHOWN_CLASSES]
        first = "(at the centre)" if self.centre and self._has_products else "(intercept)"
        names = [first, *(str(term) for term in self.terms[:SHOWN_TERMS])]
        rows = [[name, *map(number, row.tolist()), *more] for name, row in zip(names, numbers, strict=True)]
        if len(self.terms) > SHOWN_TERMS:
            rows.append([f"… {len(self.terms) - SHOWN_TERMS:,} more terms", *[""] * (len(labels) + len(more))])
        return ["term", *labels, *more], rows, "<" + ">" * (len(labels) + len(more))

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())

    # Scores ---------------------------------------------------------------------------------------------------

    @cached_property
    def _has_products(self) -> bool:
        return any(isinstance(term, InputProduct) for term in self.terms)

    @cached_property
    def uncentred_intercept(self) -> Floats:
        """The intercepts as those of inputs that are not centred, where no term is a product; else as they are."""
        if not self.centre or self._has_products:
            return self.intercept
        shift = np.array([0.0 if isinstance(t, Indicator) else self.centre.get(t.names[0], 0.0) for t in self.terms])
        moved: Floats = self.intercept - applied(shift[None], self.weights)[0]
        return moved

    def log_scores_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(y | x) up to a number that is the same for all classes; shape (n_rows, K)."""
        sparse = sparse_terms(self.terms, columns)
        if sparse is not None and np.isfinite(self.weights).all():
            scores = np.asarray(sparse @ self.weights, np.float64) + self.uncentred_intercept
        else:
            scores = np.empty((n_rows, self.target.n_states))
            step = max(256, PIECE_NUMBERS // max(len(self.terms), 1))
            for low, high, part in in_pieces(columns, self._variables, n_rows, step):
                values = evaluate(self.terms, part, high - low, self._variables, self.centre)
                scores[low:high] = applied(values, self.weights)
            scores += self.intercept
        if np.isnan(scores).any():
            require_no_gaps({name: np.asarray(columns[name]) for name in self._variables})
        return scores

    @cached_property
    def _variables(self) -> dict[str, Variable]:
        return {variable.name: variable for variable in self.inputs}

    # Answers that need the class, or draw it ------------------------------------------------------------------

    def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(y | x) of every row of codes and numbers; shape (n_rows,)."""
        scores = self.log_scores_of(columns, n_rows)
        own = scores[np.arange(n_rows), np.asarray(columns[self.target.name], np.int64)]
        return np.asarray(own - log_sum(scores), np.float64)

    def log_prob(self, data: Any) -> Floats:
        """Return log p(y | x) of every row of a table with the inputs and the class; shape (n_rows,)."""
        source = self.open(data, with_target=True)
        return np.concatenate(list(source.each(lambda block: self.log_prob_of(block.columns, block.n_rows))))

    def sample(self, given: Any, *, seed: int | None = None, backend: str | None = None) -> Frame:
        """Draw the class once for every row of a table of inputs; a frame of one column."""
        stream = np.random.Generator(np.random.Philox(key=np.array([stream_key(seed), 0], np.uint64)))
        parts = []
        for scores in self.open(given).each(lambda block: self.log_posteriors_of(block.columns, block.n_rows)):
            reached = np.cumsum(np.exp(scores), axis=1)
            level = stream.random(len(scores)) * reached[:, -1]
            parts.append(np.minimum((reached <= level[:, None]).sum(axis=1), self.target.n_states - 1))
        codes = np.concatenate(parts).astype(code_dtype(self.target.n_states))
        schema = Schema((self.target,))
        return to_frame(schema, iter([Block(schema, {self.target.name: codes}, None, len(codes), 0)]), backend)

    # Forms ----------------------------------------------------------------------------------------------------

    def to_softmax(self) -> SoftmaxModel:
        """Return the model itself."""
        return self

    def log_odds(self, k: Any, j: Any) -> LogOdds:
        """Return log p(y = k | x) / p(y = j | x) as a function of x: a constant and weights of terms."""
        one, other = (self._class(label) for label in (k, j))
        if one == other:
            raise ArgumentError(
                f"Log-odds compare two different classes. Got {k!r} twice; the classes are "
                f"{listing(self.target.labels)}."
            )
        with np.errstate(invalid="ignore"):  # −inf less −inf: x is impossible under both
            constant = float(self.intercept[one] - self.intercept[other])
            weights = self.weights[:, one] - self.weights[:, other]
        labels = self.target.labels
        return LogOdds(labels[one], labels[other], constant, self.terms, weights, self.centre, self.inputs)

    def _class(self, label: Any) -> int:
        code = self.target.find(label)
        if code is None:
            raise UnknownNameError(
                f"There is no class {label!r} of {self.target.name!r}. The classes are {listing(self.target.labels)}."
            )
        return code

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {
            "type": "SoftmaxModel",
            "schema": self.schema.to_dict(),
            "terms": to_entries(self.terms, self._variables),
            "weights": self.weights,
            "intercept": self.intercept,
            "centre": dict(self.centre),
            "structure": None if self.structure is None else self.structure.to_dict(),
            "information": self.information,
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> SoftmaxModel:
        """Rebuild the model from `to_dict`'s data."""
        schema = Schema.from_dict(entry["schema"])
        *inputs, target = schema.variables
        weights = np.array([[float(w) for w in row] for row in entry["weights"]])
        return cls(
            target,
            tuple(inputs),
            from_entries(entry["terms"], schema),
            weights.reshape(len(entry["terms"]), target.n_states),
            np.array([float(b) for b in entry["intercept"]]),
            {str(name): float(c) for name, c in entry["centre"].items()},
            None if entry["structure"] is None else SoftmaxClasses.from_dict(entry["structure"]),
            None if entry["information"] is None else np.array(entry["information"], np.float64),
        )
