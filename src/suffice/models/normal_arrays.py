"""The names and arrays of a normal distribution, checked where they come in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from suffice.errors import ArgumentError, ModelError, listing, shown
from suffice.types import Floats

ASYMMETRY = 1e-8
"""A matrix may differ from its transpose by this, relative to its diagonal, before it is refused."""


def checked_names(names: Any) -> tuple[str, ...]:
    """Return the names of variables as a tuple."""
    listed = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else ()
    if not listed or not all(isinstance(name, str) and name for name in listed) or len(set(listed)) < len(listed):
        raise ArgumentError(
            f"The 'names' argument must list the variables, each once, as in ['x', 'y']. Got {shown(names)} instead."
        )
    return listed


def checked_array(argument: str, values: Any, shape: tuple[int, ...]) -> Floats:
    """Return finite numbers in the shape asked for, as a new array."""
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise ModelError(
            f"The {argument!r} argument is not an array of numbers. Got {shown(values)} instead."
        ) from None
    if array.shape != shape:
        raise ModelError(
            f"The {argument!r} argument must have the shape {shape}, in the order of the names. "
            f"Got {array.shape} instead."
        )
    if not np.isfinite(array).all():
        raise ModelError(f"The {argument!r} argument must hold finite numbers. Got {shown(array.tolist())} instead.")
    return array


def checked_numbers(argument: str, values: Any, least: float = -np.inf, most: float = np.inf) -> Floats:
    """Return numbers of any shape, each between two bounds."""
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if not ((array >= least) & (array <= most)).all():
        bounds = "" if least == -np.inf else f" from {least:g} to {most:g}"
        raise ArgumentError(
            f"The {argument!r} argument must be a number{bounds}, or an array of such. Got {shown(values)} instead."
        )
    return array


def alone(names: tuple[str, ...]) -> int:
    """Return the position of the only variable, 0, or refuse several."""
    if len(names) > 1:
        raise ArgumentError(
            f"Several variables have no one distribution function: {listing(names, 12)}. Pick one of them first: "
            f"model.marginal({names[0]!r})."
        )
    return 0


def symmetric(argument: str, matrix: Floats) -> Floats:
    """Return a matrix that is its own transpose, rounding aside."""
    roots = np.sqrt(np.abs(np.diag(matrix)))
    if (np.abs(matrix - matrix.T) > ASYMMETRY * np.outer(roots, roots)).any():
        raise ModelError(f"The {argument} matrix must be symmetric. Got {shown(matrix.tolist())} instead.")
    return (matrix + matrix.T) / 2


def scaled(matrix: Floats) -> Floats:
    """Return a matrix with ones on its diagonal, rows and columns divided by its roots."""
    roots = np.sqrt(np.diag(matrix))
    found: Floats = matrix / roots[:, None] / roots
    return found


def frozen(array: Floats) -> Floats:
    """Make an array read-only."""
    array.flags.writeable = False
    return array
