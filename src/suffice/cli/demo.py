"""``suffice demo``: the main job on a published table."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Annotated

import typer

from suffice.cli.shared import reported

STRUCTURE = "Gender -> Dept; Gender -> Admit; Dept -> Admit"


def demo(
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="Where to write the fitted model.")
    ] = "berkeley.json",
) -> None:
    """Fit a small network to the Berkeley admissions of 1973, and show what a result looks like."""
    with reported(False):
        import suffice
        from suffice.cli.show import show_fit

        print("Graduate admissions at Berkeley, autumn 1973, six departments (Bickel, Hammel and O'Connell 1975).")
        print(f"Structure: {STRUCTURE}\n")
        with as_file(files("suffice.examples") / "berkeley.csv") as path:
            fit = suffice.fit(suffice.DAG(STRUCTURE), path, weights="Freq", certify="data")
        suffice.write(fit.model, out)
        show_fit(fit, ["Admit"])
        print(f"\nWrote the model to {out}")
        print(f"Next: suffice sample {out} -n 5 --seed 1")
    if not fit.certificate.ok:
        raise typer.Exit(1)
