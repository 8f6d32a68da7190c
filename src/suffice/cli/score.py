"""``suffice score MODEL DATA``."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.remedies import option_of
from suffice.cli.scored_sequences import Facts, SequencePolicies, score_autoregression, score_chain, score_hidden
from suffice.cli.shared import (
    DATA,
    Document,
    JsonOption,
    NamesOption,
    NaOption,
    QuietOption,
    ScoreMissingOption,
    SeparatorOption,
    SkipOption,
    TrimOption,
    UnknownOption,
    WeightsOption,
    bar,
    read_model,
    reported,
    table,
    unable,
)
from suffice.errors import Made, Mention, Part, Passed, Remedy, require_choice

if TYPE_CHECKING:
    from suffice.models.model import Model
    from suffice.types import TableLike


def score(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help=DATA)],
    weights: WeightsOption = None,
    missing: ScoreMissingOption = "error",
    unknown_states: UnknownOption = "error",
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print the log-likelihood of the table or sequences DATA under MODEL."""
    with reported(as_json, of_scores):
        from suffice.cli.show import show_facts
        from suffice.models.autoregression import AutoregressiveModel
        from suffice.models.hidden_markov import HiddenMarkovModel
        from suffice.models.incomplete_rows import MARGINALISE
        from suffice.models.markov_chain import MarkovChainModel
        from suffice.models.row_model import RowModel

        network = read_model(model)
        rows = table(data, separator, na, names, skip, trim)
        require_choice("missing", missing, ("error", "drop", MARGINALISE))
        policies = SequencePolicies(weights=weights, missing=missing, unknown_states=unknown_states)
        if missing == MARGINALISE and not isinstance(network, HiddenMarkovModel | RowModel):
            raise unable(network, "log_observed_of")
        if isinstance(network, MarkovChainModel):
            found, facts = score_chain(network, rows, policies, bar(quiet))
        elif isinstance(network, AutoregressiveModel):
            found, facts = score_autoregression(network, rows, policies)
        elif isinstance(network, HiddenMarkovModel):
            found, facts = score_hidden(network, rows, policies)
        else:
            found, facts = _score_rows(network, rows, policies, bar(quiet))
        if as_json:
            from suffice.io.own_json import plain

            print(json.dumps(plain(found), indent=1))
            return
        show_facts(facts)


def of_scores(part: Remedy | Passed | Mention | Made) -> Part | None:
    """Return a part as an option of scores, which sum missing values out where fits learn from incomplete rows."""
    if isinstance(part, Remedy) and part.argument == "missing" and part.value == "em":
        return option_of(replace(part, value="marginalise", why=""))
    return option_of(replace(part, call="") if isinstance(part, Remedy) else part)


def _score_rows(network: Model, data: TableLike, policies: SequencePolicies, progress: bool) -> tuple[Document, Facts]:
    """Return the log-likelihood of the rows of a table, and how it is printed."""
    from suffice.families import entry_of
    from suffice.models.score import log_likelihood, open_rows
    from suffice.progress import watch_for
    from suffice.stats.source import BlockSource
    from suffice.text import fixed, number

    encoded, observed = open_rows(network, data, **policies)
    total, statistics = log_likelihood(network, BlockSource(encoded, watch_for(progress)), observed)
    n, dropped = statistics.weight, statistics.n_dropped
    mean = total / n if n else float("nan")
    entry = entry_of(network)
    kind = "conditional " if entry is not None and entry.conditional else ""
    facts = [
        ("rows, with their weights", number(n, 12)),
        ("rows dropped", number(dropped)),
        (f"{kind}log-likelihood", fixed(total)),
        (f"mean {kind}log-likelihood of a row", fixed(mean, 6)),
    ]
    return {"n": n, "n_dropped": dropped, "log_likelihood": total, "mean_log_likelihood": mean}, facts
