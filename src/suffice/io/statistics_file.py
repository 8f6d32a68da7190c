"""Statistics in the checksummed array container of `suffice.files`."""

from __future__ import annotations

from typing import Any

from suffice.errors import ArgumentError
from suffice.stats.statistics import Statistics


def read(path: str) -> Statistics:
    """Read statistics."""
    return Statistics.load(path)


def write(thing: Any, path: str) -> None:
    """Write statistics."""
    if not isinstance(thing, Statistics):
        raise ArgumentError(f"A .stats file holds statistics, from sf.collect(…). Got {type(thing).__name__} instead.")
    thing.save(path)
