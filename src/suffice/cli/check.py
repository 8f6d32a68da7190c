"""``suffice check STRUCTURE DATA``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.shared import (
    DATA,
    CategoricalOption,
    ContinuousOption,
    JsonOption,
    MethodOption,
    NamesOption,
    NaOption,
    QuietOption,
    SeparatorOption,
    SkipOption,
    StructureArgument,
    TrimOption,
    UnknownOption,
    WeightsOption,
    bar,
    reported,
    schema_from,
    show_json,
    table,
)

if TYPE_CHECKING:
    from suffice.checking.result import StructureCheck


def check(
    structure: StructureArgument,
    data: Annotated[str, typer.Argument(metavar="DATA", help=DATA)],
    level: Annotated[
        float, typer.Option("--level", help="The chance of contradicting a structure that is right.")
    ] = 0.05,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            "--bootstrap",
            metavar="N",
            help="How many tables to draw from the fitted model; 0 draws none.",
            show_default="200, fewer where that takes long",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The seed of random numbers.")] = 0,
    max_tests: Annotated[
        int, typer.Option("--max-tests", help="The most independences to test, those of near variables first.")
    ] = 10_000,
    method: MethodOption = "auto",
    weights: WeightsOption = None,
    missing: Annotated[str, typer.Option("--missing", help="Rows with missing values: error or drop.")] = "error",
    unknown_states: UnknownOption = "error",
    categorical: CategoricalOption = None,
    continuous: ContinuousOption = None,
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Test whether the table DATA contradicts what STRUCTURE implies; exit code 1 if it does."""
    with reported(as_json):
        import suffice
        from suffice.io.structure_file import read_structure

        found = suffice.check(
            read_structure(structure),
            table(data, separator, na, names, skip, trim),
            level=level,
            bootstrap=bootstrap,
            seed=seed,
            max_tests=max_tests,
            method=method,
            weights=weights,
            schema=schema_from(categorical, continuous),
            missing=missing,
            unknown_states=unknown_states,
            progress=bar(quiet),
        )
        if as_json:
            show_json(found.to_dict())
        else:
            show_check(found)
    if not found.ok or not found.certificate.ok:
        raise typer.Exit(1)


def show_check(found: StructureCheck) -> None:
    """Print a check: in colours on a terminal, plain in a pipe."""
    if not sys.stdout.isatty():
        print(found)
        return
    from rich.console import Console
    from rich.text import Text

    from suffice.cli.show import show_table
    from suffice.text import visible

    console = Console()
    for ok, said in ((found.ok, found.verdict), (found.certificate.ok, found.certificate.verdict)):
        mark, colour = ("✓", "green") if ok else ("✗", "bold red")
        console.print(Text(f"{mark} {visible(said)}", style=colour))
    console.print()
    for title, cells in found.parts():
        show_table(cells, title)
    for line in found.lines():
        console.print(Text(visible(line), style="yellow"))
