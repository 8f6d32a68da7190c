"""``suffice compare STRUCTURE… DATA``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.priors import PriorOption, read_priors
from suffice.cli.shared import (
    DATA,
    CategoricalOption,
    ContinuousOption,
    JsonOption,
    MaxIterOption,
    MethodOption,
    MissingOption,
    NamesOption,
    NaOption,
    PointOption,
    QuietOption,
    SeparatorOption,
    SkipOption,
    TolOption,
    TrimOption,
    UnknownOption,
    UnseenOption,
    WeightsOption,
    bar,
    reported,
    schema_from,
    show_json,
    table,
)
from suffice.errors import ArgumentError
from suffice.text import visible

if TYPE_CHECKING:
    from suffice.comparison.comparison import Comparison
    from suffice.structures.structure import Structure


def compare(
    structures: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]STRUCTURE...",
            help="The models, each with a name if wanted: 'chain=A -> B -> C', 'A:B + B:C', free=model.json.",
            show_default=False,
        ),
    ],
    data: Annotated[str, typer.Argument(metavar="DATA", help=DATA)],
    folds: Annotated[
        int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation; 0 leaves it out.")
    ] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Decides which row is in which fold.")] = 0,
    prior: PriorOption = None,
    point: PointOption = None,
    method: MethodOption = "auto",
    tol: TolOption = 1e-8,
    max_iter: MaxIterOption = 1000,
    restarts: Annotated[int | None, typer.Option("--restarts", help="em: how often to begin.")] = None,
    weights: WeightsOption = None,
    unseen_parents: UnseenOption = "error",
    missing: MissingOption = "error",
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
    """Compare models of the same variables on the table DATA: criteria, cross-validation and likelihood-ratio tests."""
    with reported(as_json):
        import suffice

        found = suffice.compare(
            models_in(structures),
            table(data, separator, na, names, skip, trim),
            folds=folds or None,
            seed=seed,
            prior=read_priors(prior),
            point=point,
            method=method,
            tol=tol,
            max_iter=max_iter,
            restarts=restarts,
            weights=weights,
            schema=schema_from(categorical, continuous),
            missing=missing,
            unknown_states=unknown_states,
            unseen_parents=unseen_parents,
            progress=bar(quiet),
        )
        if as_json:
            show_json(found.to_dict())
        else:
            _show(found)
    if not all(row.fit.certificate.ok for row in found):
        raise typer.Exit(1)


def models_in(texts: list[str]) -> dict[str, Structure]:
    """Read ``NAME=STRUCTURE``, or a structure that is its own name."""
    from suffice.io.structure_file import read_structure

    found: dict[str, Structure] = {}
    for text in texts:
        name, sign, structure = text.partition("=")
        if not sign or os.path.exists(text):  # a path may have the sign in it
            name, structure = text, text
        name = name.strip()
        if not name or not structure.strip():
            raise ArgumentError(f"A model is written NAME=STRUCTURE, such as 'chain=A -> B'. Got {text!r} instead.")
        if name in found:
            raise ArgumentError(f"Two models have the name {name!r}. Give each a name of its own: 'first=A -> B'.")
        found[name] = read_structure(structure.strip())
    return found


def _show(found: Comparison) -> None:
    if not sys.stdout.isatty():
        print(found)
        return
    from rich.console import Console
    from rich.text import Text

    from suffice.cli.show import show_table

    console = Console()
    console.print(Text(found.heading, style="dim"))
    for cells in found.tables():
        show_table(cells)
    verdict, *notes = found.lines
    console.print(Text(visible(verdict), style="bold"))
    for note in notes:
        console.print(Text(visible(note), style="yellow"))
