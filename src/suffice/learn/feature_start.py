"""Where iterative methods for weights begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import ArgumentError, listing, shown, suggestion
from suffice.learn.method import Problem
from suffice.models.conditional_log_linear import ConditionalLogLinear
from suffice.models.log_linear import LogLinear
from suffice.models.log_linear_density import LogLinearDensity
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.structures.features import Features


def start_of(problem: Problem[Features], names: Sequence[str]) -> Floats:
    """Return the weights at the start from the argument ``init``.

    None is zero, the base measure itself; ``"random"`` standard normal weights from the seed; weights by name; or one
    number a weight.
    """
    init = problem.init
    if isinstance(init, LogLinear | LogLinearDensity | ConditionalLogLinear):
        init = init.weights
    if init is None:
        return np.zeros(len(names))
    if isinstance(init, str):
        if init != "random":
            raise ArgumentError(f"The 'init' argument must be 'random' or weights. Got {init!r} instead.")
        return np.random.Generator(np.random.Philox(problem.seed)).standard_normal(len(names))
    if isinstance(init, Mapping):
        return _by_name(init, names)
    try:
        found = np.array(init, np.float64)
    except (TypeError, ValueError):
        found = np.full(0, np.nan)
    if found.shape != (len(names),) or not np.isfinite(found).all():
        raise ArgumentError(
            f"The 'init' argument must hold {len(names)} finite numbers, one a weight, or weights by name. "
            f"Got {shown(problem.init)} instead."
        )
    return found


def _by_name(init: Mapping[Any, Any], names: Sequence[str]) -> Floats:
    found = np.zeros(len(names))
    place = {name: position for position, name in enumerate(names)}
    for name, value in init.items():
        if name not in place:
            raise ArgumentError(
                f"The 'init' argument has the weight {name!r}, which is none of {listing(names, 12)}."
                f"{suggestion(name, names)}"
            )
        number = float(value) if isinstance(value, int | float | np.number) else float("nan")
        if np.isnan(number):
            raise ArgumentError(f"The 'init' weight of {name!r} must be a finite number. Got {shown(value)} instead.")
        found[place[name]] = number if np.isfinite(number) else 0.0  # an infinite weight of a limit begins at zero
    return found
