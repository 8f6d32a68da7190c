"""``suffice classify predict CLASSIFIER DATA``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.classify_look import Look
from suffice.cli.classify_options import CASES, read_other_prior
from suffice.cli.shared import (
    JsonOption,
    KeepOption,
    NamesOption,
    NaOption,
    OutRowsOption,
    QuietOption,
    SeparatorOption,
    SkipOption,
    TrimOption,
    bar,
    reported,
    require_other_file,
    table,
)
from suffice.text import plural, visible

if TYPE_CHECKING:
    from suffice.cli.classify_answers import Survey
    from suffice.cli.classify_rows import ClassifiedRows, OutputColumns


def predict(
    classifier: Annotated[
        str, typer.Argument(metavar="CLASSIFIER", help="What suffice classify fit wrote by --out or --out-fit.")
    ],
    data: Annotated[str, typer.Argument(metavar="DATA", help=CASES)],
    out: OutRowsOption = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also write p(class | row), a column a class.")
    ] = False,
    keep: KeepOption = None,
    rule: Annotated[
        str,
        typer.Option(
            "--rule",
            metavar="map|ml",
            help="map: the class with the largest p(class | row). ml: that with the largest p(row | class).",
        ),
    ] = "map",
    class_prior: Annotated[
        str | None,
        typer.Option(
            "--class-prior",
            metavar="PRIOR",
            help="Other class probabilities than the classifier's own: uniform, or yes=0.3,no=0.7.",
        ),
    ] = None,
    unknown_states: Annotated[
        str,
        typer.Option("--unknown-states", help="States of inputs that the classifier does not know: error or missing."),
    ] = "error",
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COL",
            help="The column of the class in DATA.",
            show_default="as in the data learnt from",
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option("--weights", metavar="COL", help="Column with the rows' frequencies, for the error rate."),
    ] = None,
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the predicted class of every row of DATA; where DATA has the class, count the errors.

    The rows are read, classified and written a piece at a time. Without --out they go to standard output and the
    summary to standard error.
    """
    with reported(as_json):
        from suffice.cli.classify_answers import Survey, read_classifier, with_decisions
        from suffice.cli.classify_cases import CaseFile
        from suffice.cli.classify_rows import OutputColumns
        from suffice.io.rows_file import require_ending
        from suffice.progress import watch_for

        if out is not None:
            require_ending(out)
            require_other_file(out, data)
        model = with_decisions(read_classifier(classifier), rule, read_other_prior(class_prior))
        kept = tuple(dict.fromkeys(keep or ()))
        cases = table(data, separator, na, names, skip, trim)
        if weights is not None:
            Look(cases, {}).require_weights(weights)
        file = CaseFile.open(
            model,
            cases,
            weights=weights,
            keep=kept,
            unknown_states=unknown_states,
            target=target,
        )
        survey = Survey.of(file)
        on_screen = out is None and sys.stdout.isatty()  # where a bar would run through the rows
        answers = survey.answers(watch_for(bar(quiet or on_screen)), rule)
        _write(OutputColumns(model.target, kept, probabilities), answers, out, as_json)
        _report(survey, out, as_json)


def _write(layout: OutputColumns, answers: Iterator[ClassifiedRows], out: str | None, as_json: bool) -> None:
    from suffice.cli.classify_rows import write_csv, write_json, write_predictions

    if out is not None:
        write_predictions(layout, answers, out)
    elif as_json:
        write_json(layout, answers, sys.stdout)
    else:
        sys.stdout.flush()
        write_csv(layout, answers, sys.stdout.buffer)


def _report(survey: Survey, out: str | None, as_json: bool) -> None:
    from suffice.io.own_json import plain

    if as_json:
        summary = json.dumps(plain(survey.to_dict()), ensure_ascii=False, indent=1, allow_nan=False)
        if out is None:
            print(f',\n"summary": {summary}}}')
        else:
            print(summary)
        return
    sys.stdout.flush()
    # Rows in a pipe stay rows: what people read goes elsewhere.
    with contextlib.redirect_stdout(sys.stderr) if out is None else contextlib.nullcontext():
        if out is not None:
            print(f"Wrote {plural(survey.tally.n_rows, 'row')} to {visible(out)}\n")
        survey.show()
