"""``suffice demo``: the main job on a published table."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.shared import JsonOption, reported
from suffice.text import visible

if TYPE_CHECKING:
    from suffice.result.fit import Fit

STRUCTURE = "Gender -> Dept; Gender -> Admit; Dept -> Admit"


def demo(
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="Where to write the fitted model.")
    ] = "berkeley.json",
    as_json: JsonOption = False,
) -> None:
    """Fit a small network to the Berkeley admissions of 1973, and show what a result looks like."""
    with reported(as_json):
        import suffice

        with as_file(files("suffice.examples") / "berkeley.csv") as path:
            fit = suffice.fit(suffice.DAG(STRUCTURE), path, weights="Freq", certify="data")
        suffice.write(fit.model, out)
        _show(fit, out, as_json)
    if not fit.certificate.ok:
        raise typer.Exit(1)


def _show(fit: Fit, out: str, as_json: bool) -> None:
    from suffice.cli.show import show_document, show_fit

    if as_json:
        show_document(fit)
        return
    print("Graduate admissions at Berkeley, autumn 1973, six departments (Bickel, Hammel and O'Connell 1975).")
    print(f"Structure: {STRUCTURE}\n")
    show_fit(fit, ["Admit"])
    print(f"\nWrote the model to {visible(out)}")
    print(f"Next: suffice sample {visible(out)} -n 5 --seed 1")
