"""What a model does with rows that lack values: it sums out what they lack, or fills it in."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.data.encode import missing_in
from suffice.data.matrix import MatrixTable
from suffice.data.readers import open_raw
from suffice.data.schema import Schema
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.errors import DataError, ModelError, listing, require_choice
from suffice.inference.gap_rows import GapRows
from suffice.inference.inquiry import Inquiry
from suffice.inference.row_marginals import RowMarginals
from suffice.stats.source import BlockSource

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Columns = Mapping[str, NDArray[Any]]
Filled = tuple[Ints, Floats, Floats]
MARGINALISE = "marginalise"
POLICIES = ("error", MARGINALISE)
IF_ABSENT = "To score rows by the variables that they have, pass missing='marginalise'."
RANGE = 2**22
"""Values that are laid out as rows at a time."""


class Gaps(Protocol):
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

    rows: GapRows
    marginals: RowMarginals
    log_z: float

    @classmethod
    def of(cls, inquiry: Inquiry) -> DiscreteGaps:
        """Prepare a product of tables."""
        rows = GapRows(inquiry.product)
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


class IncompleteRows:
    """What a model of whole rows does with incomplete ones; a model says how its gaps are solved."""

    if TYPE_CHECKING:

        @property
        def schema(self) -> Schema:
            """The variables with their states."""

        def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
            """Return log p(x) of every row of codes."""

    @abstractmethod
    def _gap_solver(self) -> Gaps:
        """Return how the gaps of rows are solved."""

    @abstractmethod
    def _not_filled(self, codes: Ints, values: Floats) -> ModelError:
        """Return the error for a row that is impossible, or whose probability is not known."""

    @property
    def _latent(self) -> tuple[str, ...]:
        """The variables that no column carries, unless one does."""
        return ()

    @cached_property
    def _gaps(self) -> Gaps:
        return self._gap_solver()

    # Log-probabilities ----------------------------------------------------------------------------------------

    def log_prob(self, data: Any, *, missing: str = "error") -> Floats:
        """Return log p(x) of every row of a table; shape (n_rows,).

        Parameters
        ----------
        data : table
            Latent variables need no column, and are summed out without one.
        missing : {"error", "marginalise"}
            What to do with rows that lack values. ``"marginalise"`` gives the probability of what was observed: missing
            values are summed out, or integrated out where they are continuous, exactly. Whole columns may then be
            absent.

        Returns
        -------
        array
            Logarithms of densities, where continuous variables were observed. Impossible rows have −inf, and rows that
            meet an unknown (NaN) row of a table NaN.

        Examples
        --------
        >>> import suffice as sf
        >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
        >>> rows = {"A": ["x", None, None], "B": ["u", "u", None]}
        >>> np.exp(fit.model.log_prob(rows, missing="marginalise")).round(4).tolist()
        [0.25, 0.25, 1.0]
        """
        require_choice("missing", missing, POLICIES)
        names = self.columns_in(data, missing)
        policy = KEEP if missing == MARGINALISE else missing
        table = open_table(data, names, schema=self.schema.select(names), missing=policy, if_absent=IF_ABSENT)
        whole = missing != MARGINALISE and len(names) == len(self.schema)
        log_of = self.log_prob_of if whole else self.log_observed_of
        return np.concatenate(list(BlockSource(table).each(lambda block: log_of(block.columns, block.n_rows))))

    def columns_in(self, data: Any, missing: str) -> list[str]:
        """Return the variables that a table must have, or has, where it may lack some."""
        if isinstance(data, MatrixTable) or (missing != MARGINALISE and not self._latent):
            return list(self.schema)
        raw = open_raw(data)
        optional = set(self.schema) if missing == MARGINALISE else set(self._latent)
        names = [name for name in self.schema if name in raw.names or name not in optional]
        if not names:
            raise no_variable(self.schema, raw.names, raw.description)
        return names

    def log_observed_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p of what was seen in every row of codes and values; shape (n_rows,).

        Codes of −1, NaN, and variables without a column were not seen.
        """
        incomplete = np.full(n_rows, any(name not in columns for name in self.schema))
        for name in self.schema:
            if name in columns:
                incomplete |= missing_in(columns[name])
        log_p = np.empty(n_rows)
        whole = np.flatnonzero(~incomplete)
        if len(whole):
            log_p[whole] = self.log_prob_of({name: columns[name][whole] for name in self.schema}, len(whole))
        for rows, codes, values in rows_of(self.schema, columns, np.flatnonzero(incomplete)):
            nowhere = np.isinf(values).any(axis=1)
            log_p[rows[nowhere]] = -math.inf
            log_p[rows[~nowhere]] = self._gaps.log_sum(codes[~nowhere], values[~nowhere])
        return log_p


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
