"""Elastic: a penalty of absolute values and of squares, on the weights of conditional random fields."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from suffice.errors import ArgumentError, Mention, require_number, shown, the_argument
from suffice.priors.penalty import Gaussian, Laplace
from suffice.priors.prior import Prior
from suffice.types import Floats
from suffice.values import Estimate


@dataclass(frozen=True)
class Elastic(Prior):
    """A penalty of c1 Σ |w| + c2 Σ w², as makers of conditional random fields write it: the square has no ½.

    It is the negative logarithm of a prior density, up to a constant. ``sf.Gaussian(σ)`` is c2 = 1 / (2 σ²), and
    ``sf.Laplace(b)`` is c1 = 1 / b.

    Examples
    --------
    >>> penalty = Elastic(c1=1.0, c2=0.5)
    >>> penalty.value(np.array([-2.0, 0.0]))
    4.0
    """

    c1: float = 0.0
    c2: float = 0.0
    points: ClassVar[tuple[Estimate, ...]] = ("map",)

    def __post_init__(self) -> None:
        for name, given in (("c1", self.c1), ("c2", self.c2)):
            value = require_number(name, given)
            if not 0 <= value < math.inf:
                raise ArgumentError(
                    the_argument(name),
                    f" must be a number of at least 0, such as 1.0. Got {shown(given)} instead.",
                )
            object.__setattr__(self, name, value)

    def value(self, weights: Floats) -> float:
        """Return the penalty of some weights."""
        squares = self.c2 * float(weights @ weights) if self.c2 else 0.0
        return squares + (self.c1 * float(np.abs(weights).sum()) if self.c1 else 0.0)

    def describe(self) -> str:
        """Say in a few words what the penalty is."""
        return f"penalty {self.formula}"

    @property
    def formula(self) -> str:
        """The penalty as it is written: ``1 ‖w‖₁ + 0.5 ‖w‖²``."""
        parts = [f"{c:g} {norm}" for c, norm in ((self.c1, "‖w‖₁"), (self.c2, "‖w‖²")) if c]
        return " + ".join(parts) or "0"

    def to_dict(self) -> dict[str, Any]:
        """Return the penalty as JSON-able data."""
        return {"type": "Elastic", "c1": self.c1, "c2": self.c2}


def elastic(c1: float, c2: float) -> Elastic | None:
    """Return the penalty; None where both numbers are zero, which is maximum likelihood."""
    penalty = Elastic(c1, c2)
    return penalty if penalty.c1 or penalty.c2 else None


def penalty_of(prior: Prior | None) -> Elastic:
    """Return a prior as a penalty c1 ‖w‖₁ + c2 ‖w‖²; none is zero."""
    if prior is None:
        return Elastic()
    if isinstance(prior, Gaussian) and prior.main is None:
        return Elastic(c2=1 / (2 * prior.width**2))
    if isinstance(prior, Laplace) and prior.main is None:
        return Elastic(c1=1 / prior.width)
    if isinstance(prior, Elastic):
        return prior
    raise ArgumentError(
        "The prior on the weights of labels must be ",
        Mention("Gaussian", "sf.Gaussian(…)"),
        " or ",
        Mention("Laplace", "sf.Laplace(…)"),
        f", without 'main'. Got {shown(prior)} instead.",
    )
