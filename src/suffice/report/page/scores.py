"""Rows scored under a model for its report: their log-likelihood, by family where the model has families."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict, Unpack

import numpy as np

from suffice.data.block import Block
from suffice.data.table import Weights
from suffice.errors import ArgumentError, require_choice
from suffice.families import entry_of
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.class_model import Posteriors
from suffice.models.incomplete_rows import MARGINALISE
from suffice.models.markov_chain import MarkovChainModel
from suffice.models.model import Model, RowLikelihood
from suffice.models.score import log_likelihood, open_rows
from suffice.result.confusion import Confusion, predicted_classes
from suffice.stats.needs import Need, Sum
from suffice.stats.source import BlockSource
from suffice.stats.sums import Sums
from suffice.types import TableLike

FAMILIES = "log-likelihood of families"


class ReadingOptions(TypedDict, total=False):
    """How rows are read that are scored."""

    weights: Weights
    missing: str
    unknown_states: str


@dataclass(frozen=True)
class DataScore:
    """The log-likelihood of some rows.

    Attributes
    ----------
    n : float
        Rows, each with its weight.
    total : float
    kind : str
        ``log-likelihood``, ``conditional log-likelihood``, or ``observed log-likelihood`` where rows lack variables.
    local : dict of str to float
        By family; empty for models without families.
    confusion : Confusion or None
        Which classes were taken for which, of a classifier.
    """

    n: float
    total: float
    kind: str
    local: dict[str, float] = field(default_factory=dict)
    confusion: Confusion | None = None


@dataclass(frozen=True)
class _Families:
    """The task of adding up log p(x_v | x_pa) of every family over rows, each with its weight."""

    model: BayesianNetwork

    def __call__(self, block: Block) -> dict[Need, Sums]:
        totals = []
        for node in self.model.dag.nodes:
            log_p = self.model.cpd(node).log_prob(block.columns)
            if block.weights is not None:
                with np.errstate(invalid="ignore"):  # an impossible row of weight zero costs nothing
                    log_p = np.where(block.weights > 0, log_p * block.weights, 0.0)
            totals.append(float(np.sum(log_p)))
        return {Sum(FAMILIES, len(totals)): Sums(FAMILIES, np.array(totals))}


def score(model: Model, data: TableLike, **policies: Unpack[ReadingOptions]) -> DataScore:
    """Return the log-likelihood of a table of rows under a model.

    Parameters
    ----------
    model : model
    data : table
    **policies
        Of reading it: ``weights``, ``missing``, ``unknown_states``.

    Raises
    ------
    ArgumentError
        For models that are not of tables.
    """
    if not isinstance(model, RowLikelihood) or isinstance(model, MarkovChainModel):
        raise ArgumentError(
            f"The 'data' argument is for models of tables, and a {type(model).__name__} is one of sequences. Leave it "
            "out; model.log_prob scores sequences."
        )
    require_choice("missing", policies.get("missing", "error"), ("error", "drop", MARGINALISE))
    table, observed = open_rows(model, data, **policies)
    source = BlockSource(table)
    if observed:
        total, statistics = log_likelihood(model, source, observed)
        return DataScore(statistics.weight, total, "observed log-likelihood")
    if isinstance(model, BayesianNetwork):
        statistics = source.reduce(_Families(model))
        values = statistics[Sum(FAMILIES, len(model.dag.nodes))].values.tolist()
        return DataScore(
            statistics.weight, sum(values), "log-likelihood", dict(zip(model.dag.nodes, values, strict=True))
        )
    total, statistics = log_likelihood(model, source)
    entry = entry_of(model)
    kind = "conditional log-likelihood" if entry is not None and entry.conditional else "log-likelihood"
    confusion = _confusion(model, source) if isinstance(model, Posteriors) else None
    return DataScore(statistics.weight, total, kind, confusion=confusion)


def _confusion(model: Posteriors, source: BlockSource) -> Confusion:
    """Compare the classes that a classifier finds with those of the rows."""

    def of_block(block: Block) -> Confusion:
        log_p = model.log_posteriors_of(block.columns, block.n_rows)
        observed = np.asarray(block.columns[model.target.name])
        return Confusion.of(model.target, observed, predicted_classes(log_p), log_p, block.weights)

    return sum(source.each(of_block), start=Confusion.empty(model.target))
