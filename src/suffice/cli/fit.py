"""``suffice fit STRUCTURE DATA``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.priors import PriorOption, is_number, read_priors
from suffice.cli.report import require_page
from suffice.cli.shared import (
    DATA,
    CategoricalOption,
    CertifyOption,
    ContinuousOption,
    DivisorOption,
    JsonOption,
    MaxIterOption,
    MethodOption,
    MissingOption,
    NamesOption,
    NaOption,
    OutFitOption,
    OutModelOption,
    OwnOption,
    PointOption,
    QuietOption,
    SeedOption,
    SeparatorOption,
    ShowOption,
    SkipOption,
    StructureArgument,
    TolOption,
    TrimOption,
    UnknownOption,
    UnseenOption,
    WeightsOption,
    bar,
    reported,
    require_two_paths,
    schema_from,
    table,
    write_fit,
)
from suffice.errors import ArgumentError, require_choice
from suffice.values import CERTIFY_BY, ESTIMATES_UNDER_PRIOR, MISSING, UNKNOWN_STATES, UNSEEN_PARENTS

if TYPE_CHECKING:
    from suffice.models.model import Model
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure
    from suffice.types import Json


def fit(
    structure: StructureArgument,
    data: Annotated[str, typer.Argument(metavar="DATA", help=DATA)],
    prior: PriorOption = None,
    point: PointOption = None,
    divisor: DivisorOption = None,
    method: MethodOption = "auto",
    option: OwnOption = None,
    tol: TolOption = 1e-8,
    max_iter: MaxIterOption = 1000,
    seed: SeedOption = None,
    init: Annotated[
        str | None, typer.Option("--init", metavar="random|MODEL", help="Where an iterative method begins.")
    ] = None,
    weights: WeightsOption = None,
    unseen_parents: UnseenOption = "error",
    missing: MissingOption = "error",
    latent: Annotated[
        list[str] | None,
        typer.Option(
            "--latent", metavar="NODE=N", help="A variable without a column, and its number of states; may be repeated."
        ),
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(
            "--restarts",
            help="em: how often to begin; the best end is kept.",
            show_default="1; 5 with latent variables",
        ),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", metavar="FILE", help="em: keep what is found so far here, and go on from it."),
    ] = None,
    unknown_states: UnknownOption = "error",
    categorical: CategoricalOption = None,
    continuous: ContinuousOption = None,
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    certify: CertifyOption = "statistics",
    show: ShowOption = None,
    out: OutModelOption = None,
    out_fit: OutFitOption = None,
    page: Annotated[
        str | None, typer.Option("--report", metavar="FILE", help="Write a page about the fit for people (.html).")
    ] = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Learn the parameters of STRUCTURE from the table DATA, and prove the result."""
    with reported(as_json):
        import suffice
        from suffice.io.structure_file import read_structure

        if page:
            require_page(page)
        result = suffice.fit(
            with_latent(with_divisor(read_structure(structure), divisor), latent or []),
            table(data, separator, na, names, skip, trim),
            prior=read_priors(prior),
            point=None if point is None else require_choice("point", point, ESTIMATES_UNDER_PRIOR),
            method=method,
            options=read_options(option or []),
            tol=tol,
            max_iter=max_iter,
            seed=seed,
            restarts=restarts,
            checkpoint=checkpoint,
            init=_init(init),
            weights=weights,
            schema=schema_from(categorical, continuous),
            missing=require_choice("missing", missing, MISSING),
            unknown_states=require_choice("unknown_states", unknown_states, UNKNOWN_STATES),
            unseen_parents=require_choice("unseen_parents", unseen_parents, UNSEEN_PARENTS),
            certify=require_choice("certify", certify, CERTIFY_BY),
            progress=bar(quiet),
        )
        show_result(result, show or [], out, out_fit, as_json, page)
    if not result.certificate.ok:
        raise typer.Exit(1)


def show_result(
    result: Fit, show: list[str], out: str | None, out_fit: str | None, as_json: bool, page: str | None = None
) -> None:
    """Write and print a fit; ``page`` is where its report goes."""
    from suffice.cli.show import show_document, show_fit, show_written

    _check_shown(result.model, show)
    require_two_paths(out, out_fit)
    write_fit(result, out, out_fit)
    if page:
        result.report(page)
    if as_json:
        show_document(result)
        return
    show_fit(result, show)
    show_written({"model": out, "fit": out_fit, "report": page})


def _check_shown(model: Model, show: list[str]) -> None:
    """Find names that cannot be shown before anything is written."""
    from suffice.models.capabilities import HasNodes

    for node in show:
        if not isinstance(model, HasNodes):
            raise ArgumentError(f"A {type(model).__name__} has no tables of nodes to show. Leave --show out.")
        model.cpd(node)


def read_options(texts: list[str]) -> dict[str, str | float | bool]:
    """Read ``NAME=VALUE``: numbers, true and false are what they look like, all else is text."""
    options: dict[str, str | float | bool] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise ArgumentError(f"An option is written NAME=VALUE, such as --option step=0.1. Got {text!r} instead.")
        words = {"true": True, "false": False}
        options[name] = words[value.lower()] if value.lower() in words else float(value) if is_number(value) else value
    return options


def with_divisor(structure: Structure, divisor: str | None) -> Structure:
    """Return the structure with another divisor of its variances."""
    if divisor is None:
        return structure
    if not _takes(structure, "divisor"):
        raise ArgumentError(
            "The option --divisor is for networks with regressions, normal distributions and autoregressions. The "
            f"structure is a {type(structure).__name__}; leave it out."
        )
    return _changed(structure, "divisor", divisor)


def with_latent(structure: Structure, texts: list[str]) -> Structure:
    """Return the structure with variables that no column carries, from ``NODE=N``."""
    if not texts:
        return structure
    found: dict[str, int] = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        if not sign or not name or not number.isdecimal():
            raise ArgumentError(
                f"A latent variable is written NODE=N, with its number of states: --latent H=3. Got {text!r} instead."
            )
        found[name] = int(number)
    if not _takes(structure, "latent"):
        raise ArgumentError(
            "The option --latent is for networks, cliques and features. The structure is a "
            f"{type(structure).__name__}; leave it out."
        )
    return _changed(structure, "latent", {**dict(structure.latent), **found})


def _takes(structure: Structure, setting: str) -> bool:
    """Whether a structure has a setting, by the record of its family."""
    from suffice.families import structure_forms

    form = structure_forms().get(str(structure.to_dict()["type"]))
    return form is not None and setting in form.takes


def _changed(structure: Structure, setting: str, value: Json) -> Structure:
    from suffice.families import structure_forms

    entry = structure.to_dict()
    changed: Structure = structure_forms()[str(entry["type"])].read({**entry, setting: value})
    return changed


def _init(text: str | None) -> str | Model | None:
    if text is None or text == "random":
        return text
    from suffice.cli.shared import read_model

    return read_model(text)
