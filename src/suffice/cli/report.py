"""``suffice report MODEL [DATA] --out out.html``."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.score import of_scores
from suffice.cli.shared import (
    DATA,
    JsonOption,
    NamesOption,
    NaOption,
    ScoreMissingOption,
    SeparatorOption,
    SkipOption,
    TrimOption,
    UnknownOption,
    WeightsOption,
    reported,
    require_other_file,
    table,
)
from suffice.errors import ArgumentError, FileAccessError

if TYPE_CHECKING:
    from suffice.report.page.content import Reported
    from suffice.report.page.scores import ReadingOptions


def report(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A whole fit (.json), or a model file.")],
    data: Annotated[str | None, typer.Argument(metavar="DATA", help=f"Rows to score. {DATA}")] = None,
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="The HTML file to write, or a PDF file.")
    ] = "report.html",
    title: Annotated[str | None, typer.Option("--title", help="The title of the page.")] = None,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Whether to draw plots.")] = True,
    weights: WeightsOption = None,
    missing: ScoreMissingOption = "error",
    unknown_states: UnknownOption = "error",
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a page about MODEL for people: what was fitted, its certificate, its graph and its tables.

    A model file has no certificate, and the page says so; `suffice fit --out-fit` writes whole fits, which have one.
    Files of `suffice crf fit`, and those of ChainCRF.save and GraphCRF.save, keep the verdict of their fit. A PDF file
    is printed by Chromium, Chrome or Edge, which must be installed.
    """
    with reported(as_json, of_scores):
        from suffice.report.page import write_report

        require_page(out)
        rows = None
        policies: ReadingOptions = {}
        if data is not None:
            require_other_file(out, data)
            rows = table(data, separator, na, names, skip, trim)
            policies = {"weights": weights, "missing": missing, "unknown_states": unknown_states}
        write_report(_read(model), out, data=rows, title=title, plots=plots, **policies)
        if as_json:
            print(json.dumps({"model": model, "data": data, "out": out}, ensure_ascii=False))
            return
        from suffice.cli.show import show_written

        show_written({"report": out})


def _read(path: str) -> Reported:
    """Return the fit or model of a file; of labels of sequences and graphs also what their fit proved."""
    from suffice.files import kind_of
    from suffice.io import read
    from suffice.io.chain_file import load_chain
    from suffice.io.graph_file import KIND, load_graph

    if path.lower().endswith(".graph"):
        return load_graph(path)
    if path.lower().endswith(".crf"):
        return load_graph(path) if kind_of(path) == KIND else load_chain(path)
    thing: Reported = read(path)
    return thing


def require_page(path: str) -> None:
    """Refuse a file that is no page, one that no program prints, and a folder that is not there, before all else."""
    if not path.lower().endswith((".html", ".htm", ".pdf")):
        raise ArgumentError(
            f"A report is an HTML file, such as report.html, or a PDF file, such as report.pdf. Got {path!r} instead."
        )
    if path.lower().endswith(".pdf"):
        from suffice.report.page.paper import find_browser

        find_browser(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileAccessError(f"Cannot write {path!r}: there is no folder {folder!r}. Make it, or choose another.")
