"""What the commands share: their common options, error reports and exit codes.

Exit codes: 0 when all went well; 1 when a fit could not be certified (its model is written all the same); 2 for any
error, with the message on standard error; 130 after Ctrl-C.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer.core import TyperGroup

from suffice.cli.remedies import CURRENT, Scope, option_of
from suffice.errors import ArgumentError, Change, FileAccessError, SufficeError
from suffice.text import visible, with_article

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.data.raw import RawColumn
    from suffice.data.readers.csv_file import CSV
    from suffice.data.schema import Declaration
    from suffice.models.model import Model
    from suffice.result.fit import Fit

DATA = "A CSV or Parquet file, glob or folder; for a Markov chain also a text file."
STRUCTURE = "'A -> B <- C', '[A][B|A]', 'A:B + B:C', a model file, or a structure file (.toml, .json)."
StructureArgument = Annotated[str, typer.Argument(metavar="STRUCTURE", help=STRUCTURE)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
WeightsOption = Annotated[
    str | None, typer.Option("--weights", metavar="COL", help="Column with the rows' frequencies.")
]
MissingOption = Annotated[
    str,
    typer.Option(
        "--missing",
        help="Rows with missing values: error; drop; available, which learns each family of a network from the rows "
        "that have it; or em, which maximises the likelihood of what was observed.",
    ),
]
ScoreMissingOption = Annotated[
    str,
    typer.Option(
        "--missing", help="Rows with missing values: error, drop, or marginalise, which sums out what they lack."
    ),
]
UnknownOption = Annotated[
    str, typer.Option("--unknown-states", help="Values outside the declared states: error or missing.")
]
SeparatorOption = Annotated[str | None, typer.Option("--separator", help="Character between the fields of a CSV file.")]
NaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--na", metavar="TEXT", help="A field that means a missing value; besides empty fields and ?; may be repeated."
    ),
]
NamesOption = Annotated[
    str | None,
    typer.Option("--names", metavar="A,B,C", help="Names of all columns, for a CSV file whose first line is data."),
]
SkipOption = Annotated[int, typer.Option("--skip", metavar="N", help="Lines to leave out at the top of a CSV file.")]
TrimOption = Annotated[
    bool, typer.Option("--trim", help="Take spaces and tabs off both ends of the fields of a CSV file.")
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option("--categorical", metavar="COL[=a,b,c]", help="Declare a column discrete; may be repeated."),
]
ContinuousOption = Annotated[
    list[str] | None,
    typer.Option("--continuous", metavar="COL", help="Declare a column continuous; may be repeated."),
]
PointOption = Annotated[str | None, typer.Option("--point", help="The estimate under a prior: mean or map.")]
DivisorOption = Annotated[
    str | None,
    typer.Option(
        "--divisor",
        metavar="n|n-p|n-1",
        help="What squares are divided by: n, or n-p in regressions and n-1 in normal distributions.",
        show_default="n",
    ),
]
OwnOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="A setting of the method's own; may be repeated."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="The seed of a random start.")]
UnseenOption = Annotated[
    str, typer.Option("--unseen-parents", help="Parent configurations without data: error, uniform or nan.")
]
ShowOption = Annotated[
    list[str] | None, typer.Option("--show", metavar="NODE", help="Also print a node's table; may be repeated.")
]
OutModelOption = Annotated[
    str | None, typer.Option("--out", metavar="FILE", help="Write the model alone (.json, .bif, .uai, …).")
]
MethodOption = Annotated[str, typer.Option("--method", help="The method of estimation.")]
TolOption = Annotated[float, typer.Option("--tol", help="How closely the first-order condition must hold.")]
MaxIterOption = Annotated[int, typer.Option("--max-iter", help="The most steps of an iterative method.")]
CertifyOption = Annotated[str, typer.Option("--certify", help="statistics, or data to repeat the pass over the data.")]
OutFitOption = Annotated[
    str | None,
    typer.Option("--out-fit", metavar="FILE", help="Write the whole fit with its certificate and notes (.json)."),
]
OutRowsOption = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="FILE", help="A .csv or .parquet file to write; standard output, as CSV, without it."
    ),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep", metavar="COL", help="A column of DATA to write beside what is predicted, as it is; may be repeated."
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]


class Commands(TyperGroup):
    """A group of commands that notes which of them runs, so that errors name its options."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        before = CURRENT.set(None)
        try:
            return super().invoke(ctx)
        finally:
            CURRENT.reset(before)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command, and note it."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            CURRENT.set(Scope.of_command(command, self.commands.get("fit"), ctx.command_path))
        return name, command, rest


@contextmanager
def reported(as_json: bool, say: Change = option_of) -> Iterator[None]:
    """Turn errors into a message on standard error, with remedies as ``say`` says them, and exit code 2."""
    try:
        yield
        sys.stdout.flush()
    except SufficeError as error:
        _complain(str(error) if as_json else error.worded(say), type(error).__name__, as_json)
        raise typer.Exit(2) from None
    except (MemoryError, RecursionError) as error:
        _complain(f"{type(error).__name__}: {error}", type(error).__name__, as_json)
        raise typer.Exit(2) from None
    except BrokenPipeError:
        _abandon_output()
        raise typer.Exit(0) from None
    except OSError as error:  # of standard output: files have errors of their own
        _abandon_output()
        _complain(f"Cannot print: {error.strerror or error}.", type(error).__name__, as_json)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        _complain("Interrupted; nothing was written.", "KeyboardInterrupt", as_json)
        raise typer.Exit(130) from None


def _abandon_output() -> None:
    """Keep Python from writing again, as it ends, to an output that failed."""
    with suppress(OSError, ValueError):  # an output of tests is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str, kind: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": {"type": kind, "message": message}}, ensure_ascii=False), file=sys.stderr)
    else:
        print(f"error: {visible(message)}", file=sys.stderr)


def table(
    path: str,
    separator: str | None = None,
    na: list[str] | None = None,
    names: str | None = None,
    skip: int = 0,
    trim: bool = False,
) -> str | CSV:
    """Return the data argument: a path as it is, or a CSV file with its options."""
    if separator is None and not na and names is None and not skip and not trim:
        return path
    from suffice.data.readers.csv_file import CSV

    separator = {"tab": "\t", "\\t": "\t"}.get(separator or "", separator)
    columns = None if names is None else split_names(names, "--names")
    return CSV(path, separator, ("", "?", *(na or ())), columns, skip=skip, trim=trim)


def split_names(text: str, option: str) -> list[str]:
    """Split ``a,b,c``; a name with a comma stands in quotes.

    >>> split_names('a,"b,c"', "--inputs")
    ['a', 'b,c']
    """
    import csv
    import io

    try:
        (names,) = csv.reader(io.StringIO(text, newline=""))
    except (ValueError, csv.Error):  # no line, or several
        names = []
    if not names or not all(names):
        raise ArgumentError(
            f"The option {option} takes names with commas between them, and quotes around one that has a comma: "
            f"{option} 'a,\"b,c\"'. Got {text!r} instead."
        )
    return names


ABLE = {
    "sample_blocks": "sampled on the command line; ask it by suffice query, or score data by suffice score",
    "log_observed_of": "scored on incomplete rows; pass --missing drop to leave them out",
    "impute": "used to fill gaps; suffice fit gives models that can, of networks and normal distributions",
    "predict": "used to predict a variable of tables; suffice fit gives models that can, of networks and normal "
    "distributions",
    "query": "asked on the command line; in Python it has decode and marginals of sequences",
    "map": "asked for its most likely states; leave --map out",
}
"""What a model may lack, and how that is said."""

Document: TypeAlias = "Mapping[str, Any]"
"""What is printed as JSON: numbers, texts, arrays and whatever holds them."""


def read_model(path: str) -> Model:
    """Read a model, alone or from a whole fit."""
    from suffice.io import read
    from suffice.models.capabilities import model_of
    from suffice.models.model import Model

    loaded = read(path)
    model = model_of(loaded)
    if type(model).__name__ == "ChainModel":
        raise ArgumentError(f"{path!r} labels the tokens of sentences: see suffice crf tag, crf eval and crf show.")
    if not isinstance(model, Model):
        raise ArgumentError(
            f"{path!r} holds {type(loaded).__name__}, where a model is needed. Fit one: suffice fit STRUCTURE DATA "
            "--out model.json."
        )
    return model


def unable(model: Model, lacks: str) -> ArgumentError:
    """Return the error about a model that cannot do what a command asks."""
    return ArgumentError(f"{with_article(type(model).__name__)} cannot be {ABLE[lacks]}.")


def as_read(column: RawColumn) -> pa.ChunkedArray:
    """Return a column of a file as Arrow holds it."""
    from suffice.data.raw import ArrowColumn

    assert isinstance(column, ArrowColumn)
    return column.column


def show_json(document: Document) -> None:
    """Print one document for machines."""
    from suffice.io.own_json import plain

    print(json.dumps(plain(document), ensure_ascii=False, indent=1))


def bar(quiet: bool) -> bool:
    """Whether to show a progress bar: on a terminal, unless told not to."""
    return not quiet and sys.stderr.isatty()


def require_two_paths(out: str | None, out_fit: str | None) -> None:
    """Refuse to write the model and the whole fit to the same file."""
    if out and out_fit and os.path.realpath(out) == os.path.realpath(out_fit):
        raise ArgumentError(f"--out and --out-fit name the same file, {out!r}. Give each a path of its own.")


def require_other_file(out: str, data: str) -> None:
    """Refuse to write over the rows that are read."""
    from suffice.data.readers.paths import expand
    from suffice.io.rows_file import ENDINGS

    with suppress(FileAccessError):  # without files that could be written, no harm is done
        if os.path.realpath(out) in map(os.path.realpath, expand(data, ENDINGS)):
            raise ArgumentError(f"--out names {out!r}, which is read as DATA. Give it a path of its own.")


def write_fit(fit: Fit, out: str | None, out_fit: str | None) -> None:
    """Write the model alone and the whole fit, where that is asked for: both, or neither."""
    from suffice.io import write_together

    write_together({path: thing for path, thing in ((out, fit.model), (out_fit, fit)) if path})


def schema_from(categorical: list[str] | None, continuous: list[str] | None) -> dict[str, Declaration] | None:
    """Read ``--categorical COL`` or ``COL=a,b,c`` and ``--continuous COL``."""
    from suffice.data import schema

    found: dict[str, Declaration] = {name: schema.continuous() for name in continuous or ()}
    for entry in categorical or ():
        name, sign, states = entry.partition("=")
        if name in found:
            raise ArgumentError(f"The column {name!r} is declared more than once.")
        found[name] = schema.categorical(_states(states) if sign else None)
    return found or None


def _states(text: str) -> list[str | int]:
    """Split ``a,b,c``; states are whole numbers when all of them look so, as in a CSV file."""
    import csv
    import io

    from suffice.data.encode import CANONICAL_INTEGER

    try:
        (states,) = csv.reader(io.StringIO(text, newline=""))
    except (ValueError, csv.Error):  # no line, or several
        raise ArgumentError(
            f"The states {text!r} cannot be read. Separate them by commas, and put one with a comma or a line break in "
            "quotes: --categorical 'A=\"a,b\",c'."
        ) from None
    return [int(state) for state in states] if all(map(CANONICAL_INTEGER.fullmatch, states)) else list(states)
