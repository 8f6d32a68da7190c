"""``suffice collect STRUCTURE DATA… --out FILE``: the statistics of a part of the data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.shared import (
    CategoricalOption,
    ContinuousOption,
    JsonOption,
    MethodOption,
    MissingOption,
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
    require_other_file,
    schema_from,
    table,
)
from suffice.errors import require_choice
from suffice.text import in_bytes, plain_facts, plural
from suffice.values import DAMAGED, MISSING, UNKNOWN_STATES

if TYPE_CHECKING:
    from suffice.stats.statistics import Statistics

StatisticsOut = Annotated[str, typer.Option("--out", metavar="FILE", help="Where to write the statistics (.stats).")]


def collect(
    structure: StructureArgument,
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA…", help="CSV or Parquet files, globs or folders; all are one table."),
    ],
    out: StatisticsOut,
    method: MethodOption = "auto",
    weights: WeightsOption = None,
    missing: MissingOption = "error",
    unknown_states: UnknownOption = "error",
    categorical: CategoricalOption = None,
    continuous: ContinuousOption = None,
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Parquet: keep what is collected so far here; a pass that was ended goes on from it.",
        ),
    ] = None,
    damaged: Annotated[
        str, typer.Option("--damaged", help="Parquet files that cannot be read: error, or skip, which reports them.")
    ] = "error",
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Collect the statistics that STRUCTURE needs from a part of the data; suffice merge adds parts."""
    with reported(as_json):
        import suffice
        from suffice.io.structure_file import read_structure

        for part in data:
            require_other_file(out, part)
        path: Any = data[0] if len(data) == 1 else tuple(data)
        found = suffice.collect(
            read_structure(structure),
            table(path, separator, na, names, skip, trim),
            method=method,
            weights=weights,
            schema=schema_from(categorical, continuous),
            missing=require_choice("missing", missing, MISSING),
            unknown_states=require_choice("unknown_states", unknown_states, UNKNOWN_STATES),
            checkpoint=checkpoint,
            damaged=require_choice("damaged", damaged, DAMAGED),
            progress=bar(quiet),
        )
        found.save(out)
        show_statistics(found, out, as_json)


def show_statistics(statistics: Statistics, out: str, as_json: bool) -> None:
    """Say what was written."""
    facts = {
        "rows": statistics.n_read - statistics.n_dropped,
        "dropped": statistics.n_dropped,
        "weight": statistics.weight,
        "statistics": len(statistics),
        "variables": len(statistics.schema),
        "bytes": statistics.n_bytes,
    }
    if as_json:
        print(json.dumps({**facts, "notes": list(statistics.remarks), "out": out}, ensure_ascii=False, indent=1))
        return
    rows = f"{facts['rows']:,}" + (f" ({facts['dropped']:,} more were dropped)" if facts["dropped"] else "")
    shown = [("rows", rows), ("total weight", f"{statistics.weight:,.10g}")]
    shown.append(("statistics", f"{facts['statistics']:,} over {plural(facts['variables'], 'variable')}"))
    shown.append(("memory", in_bytes(statistics.n_bytes)))
    print(plain_facts(shown))
    for remark in statistics.remarks:
        print(f"note: {remark}")
    print(f"\nWrote the statistics to {out}")
