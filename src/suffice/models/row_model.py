"""RowModel: what a model of whole rows answers for rows that lack values, through its engine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.encode import missing_in
from suffice.data.matrix import MatrixTable
from suffice.data.readers import open_raw
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.data.variable import Variable
from suffice.errors import ModelError, require_choice
from suffice.models.imputation import Imputer, imputed
from suffice.models.incomplete_rows import (
    IF_ABSENT,
    IF_MISSING,
    MARGINALISE,
    POLICIES,
    no_variable,
    rows_of,
)
from suffice.models.prediction import n_numbers
from suffice.models.row_pieces import require_finite
from suffice.stats.source import BlockSource
from suffice.types import Columns, Floats, TableLike

if TYPE_CHECKING:
    from suffice.data.schema import Schema
    from suffice.models.engine import RowEngine


class RowModel:
    """A model of whole rows; it provides ``schema``, ``log_prob_of`` and its engine."""

    if TYPE_CHECKING:

        @property
        def schema(self) -> Schema:
            """The variables with their states."""

        @property
        def _engine(self) -> RowEngine:
            """What answers; made once."""

        @property
        def variables(self) -> tuple[str, ...]:
            """The names of the variables."""

        def log_prob_of(self, columns: Columns, n_rows: int) -> Floats:
            """Return log p(x) of every row of codes and values; shape (n_rows,)."""

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_engine"}

    @property
    def _latent(self) -> tuple[str, ...]:
        """The variables that no column carries, unless one does."""
        return ()

    # Log-probabilities ----------------------------------------------------------------------------------------

    def log_prob(self, data: TableLike | MatrixTable, *, missing: str = "error") -> Floats:
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
        schema = self.schema.select(names)
        table = open_table(data, names, schema=schema, missing=policy, if_absent=IF_ABSENT, if_missing=IF_MISSING)
        whole = missing != MARGINALISE and len(names) == len(self.schema)
        log_of = self.log_prob_of if whole else self.log_observed_of
        return np.concatenate(list(BlockSource(table).each(lambda block: log_of(block.columns, block.n_rows))))

    def columns_in(self, data: TableLike | MatrixTable, missing: str) -> list[str]:
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
            log_p[rows[~nowhere]] = self._engine.missing.log_sum(codes[~nowhere], values[~nowhere])
        return log_p

    # Tables with gaps -----------------------------------------------------------------------------------------

    def impute(
        self,
        data: TableLike,
        *,
        method: str = "mode",
        n: int | None = None,
        seed: int | None = None,
        latent: bool = False,
        unknown_states: str = "error",
    ) -> Any:
        """Return a table with its gaps filled, exactly by what the model knows.

        Parameters
        ----------
        data : table
            Columns that are no variables of the model stay as they are.
        method : {"mode", "marginal", "sample"}
            What gaps are filled with. ``"mode"``: the states that are *jointly* most likely given what the row has,
            those of variables without a column among them. Continuous variables get their means given the row and
            these states; how narrow their distributions are does not sway the choice of states, as it does in `map`,
            so that it does not depend on units. ``"marginal"``: each gap by itself gets its own most likely state given
            what the row has, or its mean. ``"sample"``: a draw from p(gaps | row).
        n : int, optional
            For draws: so many tables, for multiple imputation. Without it there is one.
        seed : int, optional
            For draws: the same seed gives the same values. What is drawn in a row depends on seed, row number and row
            only, and the first tables do not depend on ``n``.
        latent : bool
            Add a column for each variable that has none, such as latent ones.
        unknown_states : {"error", "missing"}
            What to do with values that are no states of the model; those taken as missing are filled too.

        Returns
        -------
        table, or list of tables
            Of the kind that was passed: a frame, or a dict of columns. Files give a frame as `sample` does, with
            categorical columns for discrete variables. Values that were there, the order of columns and their types
            stay as they were; a type changes only where it cannot hold what is filled in, as that of whole numbers
            cannot hold a mean. With ``n``, a list of such tables.

        Raises
        ------
        ModelError
            When a row is impossible under the model, so that nothing can be said about its gaps.

        See Also
        --------
        query_rows : The probabilities of the states, or means and covariances, row by row.

        Examples
        --------
        >>> import suffice as sf
        >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"]})
        >>> fit.model.impute({"A": ["x", None], "B": [None, "v"], "note": ["first", "second"]})
        {'A': ['x', 'y'], 'B': ['u', 'v'], 'note': ['first', 'second']}
        >>> tables = fit.model.impute({"A": [None, None, None], "B": [None, None, "v"]}, method="sample", n=2, seed=4)
        >>> [table["A"] for table in tables]
        [['x', 'y', 'y'], ['x', 'x', 'y']]
        """
        return imputed(Imputer.checked(self, method, n, seed, latent, unknown_states), data, n)

    def _predicted(
        self, targets: tuple[Variable, ...], columns: Columns, n_rows: int, start: int, level: float
    ) -> list[Floats]:
        schema, missing = self.schema, self._engine.missing
        found = [np.empty((n_rows, n_numbers(target))) for target in targets]
        for rows, codes, values in rows_of(schema, columns, np.arange(n_rows)):
            require_finite(schema.variables, values, rows + start)
            for target, answers in zip(targets, found, strict=True):
                answers[rows] = missing.marginal(schema.positions[target.name], codes, values, level)
        return found

    def _unanswered(self, columns: Columns, row: int, start: int) -> ModelError:
        _, codes, values = next(rows_of(self.schema, columns, np.array([row])))
        return self._engine.refusal(codes[0], values[0])

    # Pages ----------------------------------------------------------------------------------------------------

    def explore(
        self, data: TableLike | None = None, *, browser: bool = True, port: int = 0, wait: bool | None = None
    ) -> Any:
        """Serve a page on which the model is asked by clicking, and open it in the browser.

        Arguments and result are those of `Fit.explore`.
        """
        from suffice.explore import explore

        return explore(self, data, browser=browser, port=port, wait=wait)
