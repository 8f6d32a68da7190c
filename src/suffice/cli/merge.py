"""``suffice merge PART… --out FILE``: the sum of statistics that were collected anywhere."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.collect import StatisticsOut, show_statistics
from suffice.cli.shared import JsonOption, reported
from suffice.errors import ArgumentError, FileAccessError, StatisticsError

if TYPE_CHECKING:
    from suffice.stats.statistics import Statistics


def merge(
    parts: Annotated[list[str], typer.Argument(metavar="PART…", help="Files that suffice collect wrote; globs, too.")],
    out: StatisticsOut,
    as_json: JsonOption = False,
) -> None:
    """Add up statistics; the parts must be of one structure, method and declared schema."""
    with reported(as_json):
        from suffice.stats.statistics import add_up

        paths = [path for part in parts for path in _expanded(part)]
        _require_once(paths, out)
        show_statistics(_saved(add_up(_read(paths)), out), out, as_json)


def _saved(total: Statistics, out: str) -> Statistics:
    total.save(out)
    return total


def _expanded(part: str) -> list[str]:
    if not glob.has_magic(part) or os.path.exists(part):
        return [part]
    found = sorted(glob.glob(part))
    if not found:
        raise FileAccessError(f"No file matches {part!r}.")
    return found


def _require_once(paths: list[str], out: str) -> None:
    """Refuse to count a part twice, now or when the sum, in the place of a part, is merged again."""
    seen: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            raise ArgumentError(f"The part {path!r} is named twice, and would count twice. Name it once.")
        seen[real] = path
    if os.path.realpath(out) in seen:
        raise ArgumentError(f"--out names {out!r}, which is one of the parts. Give it a path of its own.")


def _read(paths: list[str]) -> Iterator[Statistics]:
    from suffice.stats.statistics import Statistics

    first: tuple[str, Statistics] | None = None
    for path in paths:
        found = Statistics.load(path)
        if first is not None:
            try:
                first[1].require_like(found)
            except StatisticsError as error:
                raise StatisticsError(f"{path!r} does not go with {first[0]!r}. {error}") from None
        first = first or (path, found)
        yield found
