"""``suffice estimate STRUCTURE STATISTICS``: the fit, from statistics that were collected before."""

from __future__ import annotations

from typing import Annotated

import typer

from suffice.cli.collect import STRUCTURE
from suffice.cli.fit import read_options, show_result, with_divisor
from suffice.cli.priors import PriorOption, read_priors
from suffice.cli.shared import (
    JsonOption,
    MaxIterOption,
    MethodOption,
    OutFitOption,
    QuietOption,
    TolOption,
    bar,
    reported,
)


def estimate(
    structure: Annotated[str, typer.Argument(metavar="STRUCTURE", help=STRUCTURE)],
    statistics: Annotated[
        str, typer.Argument(metavar="STATISTICS", help="What suffice collect or suffice merge wrote.")
    ],
    prior: PriorOption = None,
    point: Annotated[str | None, typer.Option("--point", help="The estimate under a prior: mean or map.")] = None,
    divisor: Annotated[
        str | None,
        typer.Option("--divisor", metavar="n|n-p|n-1", help="What squares are divided by.", show_default="n"),
    ] = None,
    method: MethodOption = "auto",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="A setting of the method's own; may be repeated."),
    ] = None,
    tol: TolOption = 1e-8,
    max_iter: MaxIterOption = 1000,
    seed: Annotated[int | None, typer.Option("--seed", help="The seed of a random start.")] = None,
    unseen_parents: Annotated[
        str, typer.Option("--unseen-parents", help="Parent configurations without data: error, uniform or nan.")
    ] = "error",
    show: Annotated[
        list[str] | None, typer.Option("--show", metavar="NODE", help="Also print a node's table; may be repeated.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write the model alone (.json, .bif, .uai, …).")
    ] = None,
    out_fit: OutFitOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Learn the parameters of STRUCTURE from statistics that were collected before, and prove the result."""
    with reported(as_json):
        import suffice
        from suffice.io.structure_file import read_structure
        from suffice.stats.statistics import Statistics

        result = suffice.estimate(
            with_divisor(read_structure(structure), divisor),
            Statistics.load(statistics),
            prior=read_priors(prior),
            point=point,
            method=method,
            options=read_options(option or []),
            tol=tol,
            max_iter=max_iter,
            seed=seed,
            unseen_parents=unseen_parents,
            progress=bar(quiet),
        )
        show_result(result, show or [], out, out_fit, as_json)
    if not result.certificate.ok:
        raise typer.Exit(1)
