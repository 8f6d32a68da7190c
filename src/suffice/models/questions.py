"""What a discrete model is asked first: distributions given evidence, for one case or for the rows of a table.

A model says what its tables are; how they are summed is the business of `suffice.inference`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.errors import ArgumentError, ModelError, listing
from suffice.inference.inquiry import Given, Inquiry
from suffice.inference.product import Product
from suffice.models.evidence import describe, given_of, targets_of
from suffice.models.incomplete_rows import DiscreteGaps, Gaps
from suffice.models.prediction import GapPrediction
from suffice.models.row_answers import RowAnswers
from suffice.stats.source import BlockSource


class Questions(GapPrediction, ABC):
    """Distributions of some variables given others; a model provides ``schema``, ``variables`` and `_product`."""

    if TYPE_CHECKING:

        @property
        def schema(self) -> Schema:
            """The variables with their states."""

    @abstractmethod
    def _product(self) -> Product:
        """Return the tables of the model."""

    def _check_known(self, wanted: tuple[int, ...] | None, given: Given) -> None:
        """Raise where an unknown number would enter the answer about ``wanted``, None meaning all variables."""

    @cached_property
    def _inquiry(self) -> Inquiry:
        return Inquiry(self._product())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_inquiry", "_gaps")}

    # One table ------------------------------------------------------------------------------------------------

    def query(self, targets: Any, given: Mapping[str, Any] | None = None, *, interval: float | None = None) -> Any:
        """Return p(targets | given), exactly.

        Parameters
        ----------
        targets : str or sequence of str
            The variables asked for. Several give their joint distribution, wherever in the graph they are.
        given : mapping, optional
            What was seen, by variable: a state; a list of states, of which it is one; or a mapping from states to
            likelihoods, soft evidence, p(what was seen | state) up to a common factor; states left out have none.
        interval : float, optional
            Not here: a model's numbers are certain. Ask a Bayesian fit, ``fit.query(…, interval=0.95)``.

        Returns
        -------
        LabelledTable
            One axis a target, in the order asked for.

        Raises
        ------
        ModelError
            When the evidence is impossible, or the tables would not fit the memory that `suffice.config` allows.

        Examples
        --------
        >>> import suffice as sf
        >>> yes_no = ["yes", "no"]
        >>> model = sf.BayesianNetwork(
        ...     sf.DAG("rain -> wet <- sprinkler"),
        ...     {
        ...         "rain": [0.2, 0.8],
        ...         "sprinkler": [0.1, 0.9],
        ...         "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.8, 0.2], [0.0, 1.0]]],
        ...     },
        ...     schema={"rain": yes_no, "sprinkler": yes_no, "wet": yes_no},
        ... )
        >>> print(model.query("rain", given={"wet": "yes"}))
        rain       p
        ----  ------
        yes   0.7396
        no    0.2604
        >>> print(model.query(["rain", "sprinkler"], given={"wet": {"yes": 0.9, "no": 0.2}}))
              sprinkler
        rain     yes      no
        ----  ------  ------
        yes   0.0480  0.4015
        no    0.1634  0.3870
        """
        if interval is not None:
            raise ArgumentError(
                "A model's numbers are certain, so an answer has no interval. Fit with a prior, and ask the fit: "
                "fit.query(…, interval=0.95)."
            )
        wanted = targets_of(self.schema, targets)
        evidence = given_of(self.schema, given, wanted)
        self._check_known(wanted, evidence)
        values = self._inquiry.posterior(wanted, evidence)
        if not values.any():
            raise self._impossible(evidence)
        return LabelledTable(tuple(self.schema.variables[target] for target in wanted), values)

    def marginal(self, scope: Any) -> LabelledTable:
        """Return p(scope), one axis a variable."""
        table: LabelledTable = self.query(scope)
        return table

    def query_rows(self, targets: Any, data: Any, *, unknown_states: str = "error") -> RowAnswers:
        """Return p(targets | row) for every row of a table of evidence.

        Parameters
        ----------
        targets : str or sequence of str
        data : table
            Its columns are what was seen; columns that are no variables of the model are an error, missing values were
            not seen. Columns of the targets are ignored.
        unknown_states : {"error", "missing"}
            What to do with values that are no states of the model.

        Returns
        -------
        RowAnswers
            The answers as an array or a frame, with log p(row). Rows that are impossible have NaN.

        Examples
        --------
        >>> import suffice as sf
        >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
        >>> print(fit.model.query_rows("A", {"B": ["u", None]}))
        row       x       y
        ---  ------  ------
        1         1       0
        2    0.5000  0.5000
        """
        wanted = targets_of(self.schema, targets)
        codes = self._codes(wanted, data, unknown_states)
        self._require_possible()
        seen = codes.max(axis=0, initial=-1)
        same = {int(v): int(seen[v]) for v in np.flatnonzero((codes == seen).all(axis=0) & (seen >= 0))}
        others = tuple(int(v) for v in np.flatnonzero(seen >= 0) if int(v) not in same)
        self._check_known((*wanted, *others), Given(same))
        values, log_p = self._inquiry.rows(wanted, codes)
        values[log_p == -math.inf] = np.nan
        return RowAnswers(
            tuple(self.schema.variables[target] for target in wanted), values, log_p - self._inquiry.log_z
        )

    def _codes(self, wanted: tuple[int, ...], data: Any, unknown_states: str) -> NDArray[np.int64]:
        """Return the codes of every row and variable, −1 where nothing was seen; shape (n_rows, n_variables)."""
        from suffice.data.readers import open_raw

        asked = {self.schema.variables[target].name for target in wanted}
        columns = open_raw(data).names
        unknown = [name for name in columns if name not in self.schema]
        if unknown:
            raise ArgumentError(
                f"The columns {listing(unknown)} are no variables of the model, which has {listing(self.schema, 12)}. "
                "Remove or rename them."
            )
        names = [name for name in columns if name not in asked]
        if not names:
            raise ArgumentError("The table has no column of evidence. Ask query for the answer without evidence.")
        table = open_table(data, names, schema=self.schema.select(names), missing=KEEP, unknown_states=unknown_states)
        place = self.schema.positions
        parts = []
        for block in BlockSource(table).each(lambda block: block):
            codes = np.full((block.n_rows, len(self.schema)), -1, np.int64)
            for name in names:
                codes[:, place[name]] = block.columns[name]
            parts.append(codes)
        return np.concatenate(parts)

    # Gaps -----------------------------------------------------------------------------------------------------

    def _gap_solver(self) -> Gaps:
        self._require_possible()
        return DiscreteGaps.of(self._inquiry)

    def _not_filled(self, codes: NDArray[np.int64], values: NDArray[np.float64]) -> ModelError:
        evidence = Given({variable: int(code) for variable, code in enumerate(codes) if code >= 0})
        try:
            self._check_known(None, evidence)
        except ModelError as error:
            return error
        return self._impossible(evidence)

    def _require_possible(self) -> None:
        """Raise when the tables leave nothing possible, so that there is no distribution."""
        if self._inquiry.log_z == -math.inf:
            raise self._impossible(Given())

    def _impossible(self, evidence: Given) -> ModelError:
        """Return the error, which names the piece of evidence that goes too far."""
        seen = describe(self.schema, evidence)
        if not seen:
            return ModelError("The model gives probability zero to everything: its tables leave no configuration.")
        pieces = list(evidence.hard.items())
        if self._inquiry.log_evidence(Given(dict(pieces))) > -math.inf:
            return ModelError(
                f"The evidence is impossible: the model gives {_together(seen)} the probability zero. Correct it."
            )
        possible, impossible = 0, len(pieces)  # how many of the first pieces are
        while impossible - possible > 1:
            middle = (possible + impossible) // 2
            if self._inquiry.log_evidence(Given(dict(pieces[:middle]))) == -math.inf:
                impossible = middle
            else:
                possible = middle
        before = f" together with {_together(seen[:possible])}" if possible else " by itself"
        return ModelError(
            f"The evidence is impossible: the model gives {seen[possible]}{before} the probability zero. Correct it, "
            "or fit with a prior, so that what was not seen stays possible."
        )


def _together(pieces: list[str]) -> str:
    more = f" and {len(pieces) - 12} more" if len(pieces) > 12 else ""
    return ", ".join(pieces[:12]) + more
