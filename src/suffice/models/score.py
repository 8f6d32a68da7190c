"""Scoring data under a model: the log-likelihood of a source, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.block import Block, Table
from suffice.data.stream import DROP, KEEP
from suffice.data.table import open_table
from suffice.errors import Text
from suffice.models.incomplete_rows import IF_ABSENT, IF_MISSING, MARGINALISE
from suffice.models.model import Model, RowLikelihood
from suffice.models.row_model import RowModel
from suffice.stats.needs import Need, Sum
from suffice.stats.source import Source
from suffice.stats.statistics import Statistics
from suffice.stats.sums import Sums
from suffice.types import TableLike

LOG_LIKELIHOOD = Sum("log_likelihood", 1)


@dataclass(frozen=True)
class Score:
    """The task of adding up log p(x) over rows, each with its weight.

    Attributes
    ----------
    model : model
    observed : bool
        Whether rows may have gaps, which are summed out.
    """

    model: RowLikelihood
    observed: bool = False

    def __call__(self, block: Block) -> dict[Need, Sums]:
        """Return the log-likelihood of one block."""
        log_of = (
            self.model.log_observed_of if self.observed and isinstance(self.model, RowModel) else self.model.log_prob_of
        )
        log_p = log_of(block.columns, block.n_rows)
        if block.weights is not None:
            with np.errstate(invalid="ignore"):  # an impossible row of weight zero costs nothing
                log_p = np.where(block.weights > 0, log_p * block.weights, 0.0)
        return {LOG_LIKELIHOOD: Sums("log_likelihood", np.array([log_p.sum()]))}


def open_rows(model: Model, data: TableLike, *, missing: str = "error", **policies: Any) -> tuple[Table, bool]:
    """Open a table to score it, and return whether its rows may lack variables of the model.

    Latent variables need no column. With ``missing="marginalise"`` values and whole columns may be missing.
    """
    names, observed, if_absent, if_missing = list(model.variables), False, "", DROP
    if isinstance(model, RowModel):
        if_absent, if_missing = IF_ABSENT, Text(DROP, ", or ", IF_MISSING)
        names = model.columns_in(data, missing)
        observed = missing == MARGINALISE or len(names) < len(model.schema)
    how = KEEP if missing == MARGINALISE else missing
    schema = model.schema.select(names)
    policies = {"unknown_states": "error", **policies}
    table = open_table(data, names, schema=schema, missing=how, if_absent=if_absent, if_missing=if_missing, **policies)
    return table, observed


def log_likelihood(model: Any, source: Source, observed: bool = False) -> tuple[float, Statistics]:
    """Return Σ w · log p(x) over the rows of a source, and the statistics that say how many rows there were.

    With ``observed``, p is that of what each row has.
    """
    statistics = source.reduce(Score(model, observed))
    return float(statistics[LOG_LIKELIHOOD].values[0]), statistics
