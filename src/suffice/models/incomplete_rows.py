"""What a model does with rows that lack values: it sums out what they lack, or fills it in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import DataError, Remedy, Text, listing
from suffice.inference.gap_rows import MissingTableValues
from suffice.inference.inquiry import Inquiry
from suffice.inference.row_marginals import RowMarginals
from suffice.types import Columns, Floats, Ints

Filled = tuple[Ints, Floats, Floats]
MARGINALISE = "marginalise"
POLICIES = ("error", MARGINALISE)
IF_ABSENT = Text("To score rows by the variables that they have, pass ", Remedy("missing", "marginalise"), ".")
IF_MISSING = Text("pass ", Remedy("missing", "marginalise", "to sum out what they lack"))
RANGE = 2**22
"""Values that are laid out as rows at a time."""


class MissingValues(Protocol):
    """How one kind of model sums out and fills the gaps of rows of codes, −1 in gaps, and of values, NaN in gaps.

    Rows that are filled come with a logarithm each: −inf where the row is impossible, NaN where it is not known.
    """

    def log_sum(self, codes: Ints, values: Floats) -> Floats:
        """Return log p of what was seen in each row."""

    def most_likely(self, codes: Ints, values: Floats) -> Filled:
        """Fill all gaps of a row at once by what is most likely."""

    def each_alone(self, codes: Ints, values: Floats) -> Filled:
        """Fill each gap by what is most likely, or expected, there."""

    def draw(self, codes: Ints, values: Floats, uniform: Floats) -> Filled:
        """Fill gaps by draws, from one uniform number a value."""

    def marginal(self, target: int, codes: Ints, values: Floats, level: float) -> Floats:
        """Return what each row says about one variable, whatever it has of that one.

        Of a discrete variable the probabilities of its states, shape (n_rows, n_states). Of a continuous one the mean,
        the standard deviation and the ends of the central interval of probability ``level``, shape (n_rows, 4). NaN
        where the row is impossible, or the answer not known.
        """


@dataclass(frozen=True, eq=False)
class DiscreteGaps:
    """The gaps of rows of codes alone."""

    rows: MissingTableValues
    marginals: RowMarginals
    log_z: float

    @classmethod
    def of(cls, inquiry: Inquiry) -> DiscreteGaps:
        """Prepare a product of tables."""
        rows = MissingTableValues(inquiry.product)
        return cls(rows, RowMarginals(inquiry, rows), inquiry.log_z)

    def log_sum(self, codes: Ints, values: Floats) -> Floats:
        """Return log p of what was seen in each row."""
        return self.rows.log_sum(codes) - self.log_z

    def most_likely(self, codes: Ints, values: Floats) -> Filled:
        """Fill all gaps of a row at once by what is most likely."""
        found, log_p = self.rows.most_likely(codes)
        return found, values, log_p

    def each_alone(self, codes: Ints, values: Floats) -> Filled:
        """Fill each gap by what is most likely there."""
        found, log_p = self.rows.each_alone(codes)
        return found, values, log_p

    def draw(self, codes: Ints, values: Floats, uniform: Floats) -> Filled:
        """Fill gaps by draws, from one uniform number a value."""
        found, log_p = self.rows.draw(codes, uniform)
        return found, values, log_p

    def marginal(self, target: int, codes: Ints, values: Floats, level: float) -> Floats:
        """Return the probabilities of one variable's states given each row."""
        return self.marginals.marginal(target, codes)


def no_variable(schema: Schema, names: Sequence[str], description: str) -> DataError:
    """Say that a table has nothing to do with a model."""
    return DataError(
        f"The {description} has no column that is a variable of the model, {listing(schema, 12)}. Its columns are "
        f"{listing(names, 12)}."
    )


def rows_of(schema: Schema, columns: Columns, rows: Ints) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield some rows of columns laid out as codes and values, a range at a time, with their numbers."""
    step = max(1, RANGE // len(schema))
    for start in range(0, len(rows), step):
        here = rows[start : start + step]
        codes = np.full((len(here), len(schema)), -1, np.int64)
        values = np.full((len(here), len(schema)), np.nan)
        for place, variable in enumerate(schema.variables):
            if variable.name in columns:
                (codes if variable.is_discrete else values)[:, place] = columns[variable.name][here]
        yield here, codes, values
