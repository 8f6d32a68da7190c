"""Columns of floats nobody declared: continuous, unless they hold whole numbers and missing values, which is refused.

Integers with missing values become floats in many programs, so such a column could hold codes as well as measurements.
What tells is a trait of the whole column, and rows come in pieces: each piece adds what it shows.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import EXACT
from suffice.errors import Remedy, SchemaError, listing, made

MISSING, WHOLE, FRACTION = "missing", "whole", "fraction"
KINDS = ("categorical", "continuous")
SAMPLE_ROWS = 1000
Trait = tuple[str, str]
"""A column, and what some of its values are: missing, whole numbers, or other numbers."""


def traits_of(values: NDArray[np.float64]) -> set[str]:
    """Return what the values of a column, or of a piece of it, are; one other number settles it.

    >>> sorted(traits_of(np.array([1.0, np.nan]))), sorted(traits_of(np.array([1.0, 2.5, np.nan])))
    (['missing', 'whole'], ['fraction'])
    """
    for part in (values[:SAMPLE_ROWS], values):  # most columns of measurements are settled at a glance
        missing = np.isnan(part)
        present = part[~missing] if missing.any() else part
        if not (np.abs(present) < EXACT).all() or not (present == np.trunc(present)).all():
            return {FRACTION}
    return {name for name, is_there in ((MISSING, missing.any()), (WHOLE, present.size > 0)) if is_there}


def unclear_in(traits: Iterable[Trait]) -> list[str]:
    """Return the columns that could be discrete or continuous, in order of their names."""
    held = frozenset(traits)
    return sorted(
        name for name, trait in held if trait == MISSING and (name, WHOLE) in held and (name, FRACTION) not in held
    )


def refuse_unclear(traits: Iterable[Trait]) -> None:
    """Refuse all columns of whole numbers as floats that lack values, with the schemas to choose from."""
    names = unclear_in(traits)
    if not names:
        return
    what = f"Column {names[0]!r} holds" if len(names) == 1 else f"The columns {listing(names, len(names))} hold"
    each = "it" if len(names) == 1 else "each"
    lines = [Remedy("schema", {name: made(kind) for name in names}) for kind in KINDS]
    raise SchemaError(
        f"{what} whole numbers as floats, with values missing, so {each} could be discrete or continuous (integers "
        f"with missing values become floats in many programs). Say which: ",
        lines[0],
        " or ",
        lines[1],
        ".",
    )
