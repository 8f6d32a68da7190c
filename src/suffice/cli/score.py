"""``suffice score MODEL DATA``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from suffice.cli.shared import (
    JsonOption,
    MissingOption,
    NaOption,
    QuietOption,
    SeparatorOption,
    UnknownOption,
    WeightsOption,
    bar,
    read_model,
    reported,
    table,
)


def score(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="A CSV or Parquet file, glob or folder.")],
    weights: WeightsOption = None,
    missing: MissingOption = "error",
    unknown_states: UnknownOption = "error",
    separator: SeparatorOption = None,
    na: NaOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print the log-likelihood of the table DATA under MODEL."""
    with reported(as_json):
        from suffice.cli.show import show_facts
        from suffice.data.table import open_table
        from suffice.models.score import log_likelihood
        from suffice.progress import watch_for
        from suffice.stats.source import BlockSource
        from suffice.text import fixed, number

        network = read_model(model, can="log_prob_of")
        encoded = open_table(
            table(data, separator, na),
            network.variables,
            schema=network.schema,
            weights=weights,
            missing=missing,
            unknown_states=unknown_states,
        )
        total, statistics = log_likelihood(network, BlockSource(encoded, watch_for(bar(quiet))))
        n = statistics.weight
        mean = total / n if n else float("nan")
        if as_json:
            from suffice.io.own_json import plain

            facts = {"n": n, "n_dropped": statistics.n_dropped, "log_likelihood": total, "mean_log_likelihood": mean}
            print(json.dumps(plain(facts), indent=1))
            return
        inputs = getattr(getattr(network, "features", None), "given", ())
        kind = "conditional " if inputs else ""
        rows = [
            ("rows, with their weights", number(n, 12)),
            ("rows dropped", number(statistics.n_dropped)),
            (f"{kind}log-likelihood", fixed(total)),
            (f"mean {kind}log-likelihood of a row", fixed(mean, 6)),
        ]
        show_facts(rows)
