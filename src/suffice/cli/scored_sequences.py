"""What ``suffice score`` says of sequences under a Markov chain, observed or hidden, or an autoregression."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypedDict

from suffice.text import fixed, number

if TYPE_CHECKING:
    from suffice.cli.shared import Document
    from suffice.models.autoregression import AutoregressiveModel
    from suffice.models.hidden_markov import HiddenMarkovModel
    from suffice.models.markov_chain import MarkovChainModel
    from suffice.types import TableLike

Facts = list[tuple[str, str]]
LARGEST = 709.0
"""The exponential of more is no float."""


class SequencePolicies(TypedDict):
    """What is done with the rows of a table, as its options say."""

    weights: str | None
    missing: str
    unknown_states: str


def score_chain(
    model: MarkovChainModel, data: TableLike, policies: SequencePolicies, progress: bool
) -> tuple[Document, Facts]:
    """Return the numbers that say how well a chain predicts sequences, and how they are printed."""
    from suffice.models.score import log_likelihood
    from suffice.progress import watch_for
    from suffice.stats.source import BlockSource

    total, statistics = log_likelihood(model, BlockSource(model.open(data, **policies), watch_for(progress)))
    n = statistics.weight
    mean = total / n if n else math.nan
    perplexity = math.inf if -mean > LARGEST else math.exp(-mean)
    found = {"n": n, "log_likelihood": total, "mean_log_likelihood": mean, "perplexity": perplexity}
    unknown = "not known: the data of the fit did not have all contexts"
    said = [fixed(total), fixed(mean, 6), number(perplexity)] if not math.isnan(total) else [unknown, "-", "-"]
    names = ("log-likelihood", "mean log-likelihood of a symbol", "perplexity")
    return found, [("symbols, with their weights", number(n, 12)), *zip(names, said, strict=True)]


def score_hidden(model: HiddenMarkovModel, data: TableLike, policies: SequencePolicies) -> tuple[Document, Facts]:
    """Return the log-probability of what sequences show, their states summed out, and how it is printed."""
    from suffice.data.stream import KEEP
    from suffice.models.incomplete_rows import MARGINALISE

    policies = {**policies, "missing": KEEP if policies["missing"] == MARGINALISE else policies["missing"]}
    table = model.open(data, **policies)
    lengths, weights = table.lengths, table.symbols.weights
    n = float(lengths.sum() if weights is None else (weights * lengths).sum())
    total = float(model.log_likelihood(table))
    mean = total / n if n else math.nan
    found = {"sequences": len(lengths), "n": n, "log_likelihood": total, "mean_log_likelihood": mean}
    return found, [
        ("sequences", f"{len(lengths):,}"),
        ("symbols, with their weights", number(n, 12)),
        ("log-likelihood", fixed(total)),
        ("mean log-likelihood of a symbol", fixed(mean, 6)),
    ]


def score_autoregression(
    model: AutoregressiveModel, data: TableLike, policies: SequencePolicies
) -> tuple[Document, Facts]:
    """Return the log-density of sequences, and how it is printed."""
    import numpy as np

    from suffice.data.held_symbols import HeldSymbols

    sequences = model.structure.sequences(data)
    symbols = model.structure.open(sequences, **policies).table.symbols
    assert isinstance(symbols, HeldSymbols)  # as numbers are
    lengths = symbols.lengths
    n = int(lengths.sum() if model.start is not None else np.maximum(lengths - model.order, 0).sum())
    total = float(model.log_prob(sequences).sum())
    mean = total / n if n else math.nan
    found = {"sequences": len(lengths), "n": n, "log_likelihood": total, "mean_log_likelihood": mean}
    given = "" if model.start is not None or not model.order else ", given the first of each sequence"
    return found, [
        ("sequences", f"{len(lengths):,}"),
        ("times", f"{n:,}{given}"),
        ("log-likelihood", fixed(total)),
        ("mean log-likelihood of a time", fixed(mean, 6)),
    ]
