"""Statistics in the checksummed array container of `suffice.files`."""

from __future__ import annotations

from suffice.errors import ArgumentError
from suffice.stats.statistics import Statistics


def read(path: str) -> Statistics:
    """Read statistics."""
    return Statistics.load(path)


def write(thing: Statistics, path: str) -> None:
    """Write statistics."""
    if not isinstance(thing, Statistics):
        raise ArgumentError(f"A .stats file holds statistics, from sf.collect(…). Got {type(thing).__name__} instead.")
    thing.save(path)
