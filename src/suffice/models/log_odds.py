"""LogOdds: how much likelier one class is than another, as a function of the inputs.

For two classes k and j, log p(k | x) − log p(j | x) = c + Σ_t v_t term_t(x). With linear terms it is a plane in x, with
products a quadric; its zero is where the classes are equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.models.basis import Centre, InputProduct, Linear, Term, evaluate
from suffice.stats.source import BlockSource
from suffice.text import html_table, number, plain_table, plural
from suffice.types import Columns, Floats
from suffice.values import Label

SHOWN_TERMS = 60


def applied(values: Floats, weights: Floats) -> Floats:
    """Return values @ weights, where an infinite weight times a value of zero counts as zero.

    >>> applied(np.array([[0.0, 2.0]]), np.array([[-np.inf], [3.0]]))
    array([[6.]])
    """
    infinite = ~np.isfinite(weights)
    if not infinite.any():
        return np.asarray(values @ weights, np.float64)
    found = np.asarray(values @ np.where(infinite, 0.0, weights), np.float64)
    for row in np.flatnonzero(infinite.reshape(len(weights), -1).any(axis=1)):
        here = np.flatnonzero(values[:, row])
        with np.errstate(invalid="ignore"):
            extra = values[here, row].reshape(-1, *[1] * (weights.ndim - 1)) * weights[row]
            found[here] += np.where(infinite[row], extra, 0.0)
    return found


@dataclass(frozen=True, eq=False)
class LogOdds:
    """log p(y = k | x) − log p(y = j | x), x less its centre entering the terms.

    Attributes
    ----------
    k, j : label
        The class in question, and the one that it is compared with.
    constant : float
        The log-odds at the centre.
    terms : tuple of Term
    weights : array, shape (n_terms,)
        ±inf where a state is impossible under one of the classes, NaN under both.
    centre : mapping of str to float
    inputs : tuple of Variable

    Examples
    --------
    >>> odds = LogOdds("b", "a", 1.0, (Linear("x"), InputProduct("x", "x")), np.array([2.0, 1.0]), {"x": 3.0},
    ...                (Variable("x"),))
    >>> print(odds)
    log p(b | x) − log p(a | x)
    term      weight
    --------  ------
    constant       4
    x             -4
    x²             1
    >>> odds.at({"x": [3.0, 5.0]})
    array([1., 9.])
    >>> odds.is_linear, odds.matrix, odds.vector, odds.offset
    (False, array([[1.]]), array([-4.]), 4.0)
    """

    k: Label
    j: Label
    constant: float
    terms: tuple[Term, ...]
    weights: Floats = field(repr=False)
    centre: Centre = field(default_factory=dict)
    inputs: tuple[Variable, ...] = ()

    def __post_init__(self) -> None:
        frozen = np.array(self.weights, np.float64)
        frozen.flags.writeable = False
        object.__setattr__(self, "weights", frozen)

    @property
    def is_linear(self) -> bool:
        """Whether no product of inputs has a weight."""
        pairs = zip(self.terms, self.weights, strict=True)
        return not any(isinstance(term, InputProduct) and weight != 0 for term, weight in pairs)

    def at(self, data: Any) -> Floats:
        """Return the log-odds of every row of a table of inputs; shape (n_rows,)."""
        names = [variable.name for variable in self.inputs]
        table = open_table(data, names, schema=Schema(self.inputs))
        return np.concatenate(list(BlockSource(table).each(self._of_block)))

    def _of_block(self, block: Block) -> Floats:
        return self.at_columns(block.columns, block.n_rows)

    def at_columns(self, columns: Columns, n_rows: int) -> Floats:
        """Return the log-odds of rows of codes and numbers; shape (n_rows,)."""
        known = {variable.name: variable for variable in self.inputs}
        values = evaluate(self.terms, columns, n_rows, known, self.centre)
        return np.asarray(applied(values, self.weights) + self.constant, np.float64)  # eq log-odds

    # Without centres ------------------------------------------------------------------------------------------

    @cached_property
    def expanded(self) -> tuple[float, dict[Term, float]]:
        """The constant and the weight of every term as a function of x itself, not of x less its centre."""
        constant, weights = self.constant, dict.fromkeys(self._plain_terms, 0.0)
        for term, value in zip(self.terms, self.weights.tolist(), strict=True):
            weights[term] += value
            if isinstance(term, Linear) and self.centre.get(term.name):
                constant -= value * self.centre[term.name]
            elif isinstance(term, InputProduct):  # (x − a)(z − b) = xz − bx − az + ab
                a, b = self.centre.get(term.first, 0.0), self.centre.get(term.second, 0.0)
                for name, other in ((term.first, b), (term.second, a)):
                    if other:
                        weights[Linear(name)] -= value * other
                constant += value * a * b if a and b else 0.0
        return constant, weights

    @property
    def _plain_terms(self) -> list[Term]:
        """The terms, and those of one input that products of centred ones bring along; linear ones first."""
        moved = [
            Linear(name) for term in self.terms if isinstance(term, InputProduct) for name in term.names if self.centre
        ]
        found = dict.fromkeys([*self.terms, *moved])
        return sorted(found, key=lambda term: isinstance(term, InputProduct))

    @property
    def offset(self) -> float:
        """The constant of the log-odds as a function of x itself."""
        return self.expanded[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The continuous inputs, in the order of `vector` and `matrix`."""
        return tuple(variable.name for variable in self.inputs if not variable.is_discrete)

    @property
    def vector(self) -> Floats:
        """The weights b of offset + b · x + xᵀ A x, x the continuous inputs; shape (n_names,)."""
        weights = self.expanded[1]
        return np.array([weights.get(Linear(name), 0.0) for name in self.names])

    @property
    def matrix(self) -> Floats:
        """The symmetric A of offset + b · x + xᵀ A x, where indicators come on top; shape (n_names, n_names)."""
        place = {name: number for number, name in enumerate(self.names)}
        found = np.zeros((len(place), len(place)))
        for term, value in self.expanded[1].items():
            if isinstance(term, InputProduct):
                found[place[term.first], place[term.second]] += value / 2
                found[place[term.second], place[term.first]] += value / 2
        return found

    # Rendering ------------------------------------------------------------------------------------------------

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        constant, weights = self.expanded
        rows = [["constant", number(constant)]]
        rows += [[str(term), number(weight)] for term, weight in list(weights.items())[:SHOWN_TERMS]]
        if len(weights) > SHOWN_TERMS:
            rows.append([f"… {plural(len(weights) - SHOWN_TERMS, 'more term')}", ""])
        return ["term", "weight"], rows, "<>"

    @property
    def _title(self) -> str:
        return f"log p({self.k} | x) − log p({self.j} | x)"

    def __str__(self) -> str:
        return f"{self._title}\n{plain_table(*self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self._title)
