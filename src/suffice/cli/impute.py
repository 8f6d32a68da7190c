"""``suffice impute MODEL DATA``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.shared import (
    DATA,
    JsonOption,
    NamesOption,
    NaOption,
    SeparatorOption,
    SkipOption,
    TrimOption,
    UnknownOption,
    read_model,
    reported,
    table,
    unable,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.data.raw import RawStream
    from suffice.models.imputation import Imputer


def impute(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help=DATA)],
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="A .csv or .parquet file to write.")],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="mode: the jointly most likely values of a row. marginal: the most likely, or expected, value of each "
            "gap. sample: draws.",
        ),
    ] = "mode",
    n: Annotated[
        int | None,
        typer.Option(
            "-n", "--tables", help="sample: how many tables; several go to FILE-1, FILE-2 and so on.", show_default="1"
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="sample: the same seed gives the same values.")] = None,
    latent: Annotated[
        bool, typer.Option("--latent", help="Add a column for each variable that has none, such as latent ones.")
    ] = False,
    unknown_states: UnknownOption = "error",
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    as_json: JsonOption = False,
) -> None:
    """Fill the gaps of the table DATA by what MODEL knows; all else stays as it is."""
    with reported(as_json):
        from suffice.data.raw import RawStream
        from suffice.data.readers import open_raw
        from suffice.io.rows_file import require_ending
        from suffice.models.imputation import Imputer
        from suffice.models.row_model import RowModel

        network = read_model(model)
        if not isinstance(network, RowModel):
            raise unable(network, "impute")
        require_ending(out)
        imputer = Imputer.checked(network, method, n, seed, latent, unknown_states)
        stream = open_raw(table(data, separator, na, names, skip, trim))
        assert isinstance(stream, RawStream)  # as files are
        paths = [out] if n is None else _numbered(out, n)
        counts, n_rows = _write(imputer, stream, paths)
        _report(counts, n_rows, paths, method, seed, as_json)


def _numbered(out: str, n: int) -> list[str]:
    """Return a path for each of several tables.

    >>> _numbered("filled.csv", 2)
    ['filled-1.csv', 'filled-2.csv']
    """
    path = Path(out)
    return [str(path.with_name(f"{path.stem}-{number}{path.suffix}")) for number in range(1, n + 1)]


def _write(imputer: Imputer, stream: RawStream, paths: list[str]) -> tuple[dict[str, int], int]:
    """Write the tables, and return how many values were filled in each column, and how many rows there are."""
    from suffice.io.tables_file import write_tables

    counts: Counter[str] = Counter()
    n_rows = 0

    typed = paths[0].lower().endswith(".parquet")

    def pieces(number: int) -> Iterator[pa.Table]:
        nonlocal n_rows
        for piece, filled in imputer.pieces(stream, number, typed):
            if number == 0:
                counts.update(filled)
                n_rows += piece.num_rows
            yield piece

    schema = imputer.model.schema
    header = [*stream.names, *(name for name in schema if imputer.latent and name not in stream.names)]
    for number, path in enumerate(paths):
        write_tables(header, pieces(number), path)
    return {name: counts[name] for name in stream.names if name in schema}, n_rows


def _report(
    counts: dict[str, int], n_rows: int, paths: list[str], method: str, seed: int | None, as_json: bool
) -> None:
    from suffice.cli.show import show_table

    if as_json:
        total = sum(counts.values())
        said = {"rows": n_rows, "filled": counts, "total": total, "method": method, "seed": seed, "out": paths}
        print(json.dumps(said, ensure_ascii=False))
        return
    filled = [[name, f"{count:,}"] for name, count in counts.items() if count]
    if filled:
        show_table((["variable", "values filled"], filled, "<>"))
    else:
        print(f"None of the {n_rows:,} rows has a gap.")
    where = paths[0] if len(paths) == 1 else f"{paths[0]} … {paths[-1]}"
    print(f"\nWrote {n_rows:,} rows to {where}")
