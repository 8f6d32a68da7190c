"""``suffice predict MODEL TARGET DATA``."""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.remedies import as_options
from suffice.cli.shared import (
    DATA,
    JsonOption,
    KeepOption,
    NamesOption,
    NaOption,
    OutRowsOption,
    SeparatorOption,
    SkipOption,
    TrimOption,
    UnknownOption,
    as_read,
    read_model,
    reported,
    require_other_file,
    table,
    unable,
)
from suffice.text import plural, visible

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.data.variable import Variable
    from suffice.models.numeric_predictions import NumericPredictions
    from suffice.models.prediction import PredictedRows
    from suffice.models.prediction_scores import NumberScores, StateScores
    from suffice.models.predictions import Predictions
    from suffice.types import Ints

WIDTH = 100


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The variable to predict.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help=DATA)],
    out: OutRowsOption = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Also write p(state | row), a column a state; of a continuous variable sd and interval.",
        ),
    ] = False,
    keep: KeepOption = None,
    level: Annotated[
        float, typer.Option("--level", metavar="P", help="The probability of intervals of a continuous variable.")
    ] = 0.95,
    impossible: Annotated[
        str, typer.Option("--impossible", help="Rows of probability zero: error, or nan, which leaves them empty.")
    ] = "error",
    unknown_states: UnknownOption = "error",
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write what MODEL predicts of TARGET in every row of DATA; where DATA has it, say how good that is.

    What a row lacks is summed or integrated out, and its own TARGET is no evidence. The rows are read, answered and
    written a piece at a time. Without --out they go to standard output and the summary to standard error.
    """
    with reported(as_json):
        from suffice.data.readers import open_raw
        from suffice.io.rows_file import require_ending
        from suffice.models.prediction import PredictedRows, Prediction, Predictor

        if out is not None:
            require_ending(out)
            require_other_file(out, data)
        network = read_model(model)
        if not isinstance(network, Prediction):
            raise unable(network, "predict")
        predictor = Predictor.checked(network, target, level, impossible, unknown_states)
        kept = tuple(dict.fromkeys(keep or ()))
        rows = PredictedRows(predictor, open_raw(table(data, separator, na, names, skip, trim)), kept)
        survey = PredictionSurvey(rows, kept, probabilities)
        _write(survey, out, as_json)
        _report(survey, out, as_json)


def _none() -> Ints:
    import numpy as np

    return np.zeros(1, np.int64)


@dataclass
class PredictionSurvey:
    """Lays out the answers as tables, and adds up what they say while they pass by.

    Attributes
    ----------
    rows : PredictedRows
    keep : tuple of str
    probabilities : bool
    counts : array, shape (n_states + 1,)
        How many rows were given each state; the last are those without an answer.
    scores : list
        Of each piece, where the table has the target.
    """

    rows: PredictedRows
    keep: tuple[str, ...]
    probabilities: bool
    counts: Ints = field(default_factory=_none)
    scores: list[StateScores | NumberScores] = field(default_factory=list)

    @property
    def target(self) -> Variable:
        """The variable that is predicted."""
        return self.rows.predictor.targets[0]

    @property
    def header(self) -> list[str]:
        """The names of the columns; underscores are added where a column that is kept has the name."""
        names = list(self.keep)
        for name in self.rows.predictor.result(self.target, []).columns(self.probabilities):
            free = name
            while free in names:
                free += "_"
            names.append(free)
        return names

    def tables(self) -> Iterator[pa.Table]:
        """Yield the rows as Arrow tables, in order; nothing stands for what cannot be said."""
        import pyarrow as pa

        from suffice.data.filling import decoded

        header = self.header
        for part in self.rows:
            found = self.rows.predictor.result(self.target, [part])
            self._count(found)
            arrays = [decoded(as_read(part.piece.column(name))) for name in self.keep]
            arrays += [pa.array(column, from_pandas=True) for column in found.columns(self.probabilities).values()]
            yield pa.table(arrays, names=header)

    def _count(self, found: Predictions | NumericPredictions) -> None:
        import numpy as np

        from suffice.models.predictions import Predictions

        if isinstance(found, Predictions):
            n = self.target.n_states + 1
            self.counts = self.counts + np.bincount(found.codes % n, minlength=n)
        if found.observed is not None:
            self.scores.append(found.score())

    @property
    def score(self) -> StateScores | NumberScores | None:
        """How the answers compare with what was observed; None where nothing was."""
        from suffice.models.prediction_scores import NumberScores, StateScores

        if not self.scores:
            return None
        of_states = [score for score in self.scores if isinstance(score, StateScores)]
        of_numbers = [score for score in self.scores if isinstance(score, NumberScores)]
        found = StateScores.total(of_states) if of_states else NumberScores.total(of_numbers)
        return found if found.n else None

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as JSON-able data."""
        from dataclasses import asdict

        score, target = self.score, self.target
        counts = self.counts.tolist() if target.is_discrete and self.rows.n_rows else [0]
        found: dict[str, Any] = {"rows": self.rows.n_rows, "target": target.name}
        if target.is_discrete:
            found |= {"states": list(target.labels), "predicted": counts[:-1] or [0] * target.n_states}
        found |= {"impossible": self.rows.n_unanswered, "score": None if score is None else asdict(score)}
        return found | {"notes": list(self.rows.notes())}

    def show(self) -> None:
        """Print the summary for people."""
        from suffice.cli.show import show_facts, show_table

        if self.score is not None:
            show_facts(self.score.facts())
        elif self.target.is_discrete and self.rows.n_rows:
            labels = [*map(str, self.target.labels), "none"]
            cells = [[label, f"{n:,}"] for label, n in zip(labels, self.counts.tolist(), strict=True)]
            show_table((["predicted", "rows"], cells if self.rows.n_unanswered else cells[:-1], "<>"))
        notes = [
            textwrap.fill(f"- {visible(note)}", WIDTH, subsequent_indent="  ")
            for note in map(as_options, self.rows.notes())
        ]
        if notes:
            print("\n" + "\n".join(notes))


def _write(survey: PredictionSurvey, out: str | None, as_json: bool) -> None:
    from suffice.io.tables_file import write_csv, write_tables

    tables = survey.tables()
    if out is not None:
        write_tables(survey.header, tables, out)
        return
    begun = list(itertools.islice(tables, 1))  # what is refused is refused before anything is printed
    if as_json:
        _write_json(survey.header, itertools.chain(begun, tables))
    else:
        sys.stdout.flush()
        write_csv(survey.header, itertools.chain(begun, tables), sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _write_json(header: list[str], tables: Iterator[pa.Table]) -> None:
    """Print the beginning of a JSON document, the names of the columns and the rows, a row a line."""
    from suffice.io.own_json import plain

    sys.stdout.write(f'{{"columns": {json.dumps(header, ensure_ascii=False)},\n"rows": [')
    between = "\n"
    for part in tables:
        for row in zip(*(column.to_pylist() for column in part.columns), strict=True):
            sys.stdout.write(between + json.dumps(plain(row), ensure_ascii=False, default=str))
            between = ",\n"
    sys.stdout.write("]")


def _report(survey: PredictionSurvey, out: str | None, as_json: bool) -> None:
    from suffice.io.own_json import plain

    if as_json:
        summary = json.dumps(plain(survey.to_dict()), ensure_ascii=False, indent=1, allow_nan=False)
        print(f',\n"summary": {summary}}}' if out is None else summary)
        return
    # Rows in a pipe stay rows: what people read goes elsewhere.
    with contextlib.redirect_stdout(sys.stderr) if out is None else contextlib.nullcontext():
        if out is not None:
            print(f"Wrote {plural(survey.rows.n_rows, 'row')} to {visible(out)}\n")
        survey.show()
