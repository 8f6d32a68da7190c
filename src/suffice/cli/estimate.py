"""``suffice estimate STRUCTURE STATISTICS``: the fit, from statistics that were collected before."""

from __future__ import annotations

from typing import Annotated

import typer

from suffice.cli.fit import read_options, show_result, with_divisor
from suffice.cli.priors import PriorOption, read_priors
from suffice.cli.shared import (
    DivisorOption,
    JsonOption,
    MaxIterOption,
    MethodOption,
    OutFitOption,
    OutModelOption,
    OwnOption,
    PointOption,
    QuietOption,
    SeedOption,
    ShowOption,
    StructureArgument,
    TolOption,
    UnseenOption,
    bar,
    reported,
)
from suffice.errors import require_choice
from suffice.values import ESTIMATES_UNDER_PRIOR, MISSING, UNSEEN_PARENTS


def estimate(
    structure: StructureArgument,
    statistics: Annotated[
        str, typer.Argument(metavar="STATISTICS", help="What suffice collect or suffice merge wrote.")
    ],
    prior: PriorOption = None,
    point: PointOption = None,
    divisor: DivisorOption = None,
    method: MethodOption = "auto",
    option: OwnOption = None,
    tol: TolOption = 1e-8,
    max_iter: MaxIterOption = 1000,
    seed: SeedOption = None,
    unseen_parents: UnseenOption = "error",
    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            help="How rows with missing values were collected: error, drop, or available, which learns each family of "
            "a network from the rows that have it.",
        ),
    ] = "error",
    show: ShowOption = None,
    out: OutModelOption = None,
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
            point=None if point is None else require_choice("point", point, ESTIMATES_UNDER_PRIOR),
            method=method,
            options=read_options(option or []),
            tol=tol,
            max_iter=max_iter,
            seed=seed,
            unseen_parents=require_choice("unseen_parents", unseen_parents, UNSEEN_PARENTS),
            missing=require_choice("missing", missing, MISSING),
            progress=bar(quiet),
        )
        show_result(result, show or [], out, out_fit, as_json)
    if not result.certificate.ok:
        raise typer.Exit(1)
