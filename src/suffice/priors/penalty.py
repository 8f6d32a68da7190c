"""Penalties: priors on the u-terms of a log-linear model, each of them independent and centred at zero."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, require_number, shown
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.softmax import SoftmaxPenalty
from suffice.priors.prior import NodePrior, Prior
from suffice.types import Floats
from suffice.values import Estimate

NARROWEST, WIDEST = 1e-4, 1e6
"""Widths beyond these hold terms at zero, or leave them free, to rounding error."""


@dataclass(frozen=True)
class Penalty(Prior):
    """What penalties share: how wide the prior is.

    A term of one variable is a main effect; ``main`` is the width of its prior where it differs, ``inf`` leaving main
    effects free.
    """

    width: float = 1.0
    main: float | None = None
    points: ClassVar[tuple[Estimate, ...]] = ("map",)

    def __post_init__(self) -> None:
        for name, value in (("width", self.width), ("main", self.main)):
            if (name == "width" or value is not None) and not require_number(name, value) > 0:
                raise ArgumentError(f"The '{name}' of a penalty must be a positive number. Got {shown(value)} instead.")
        for name, value in (("width", self.width), ("main", self.main)):
            if value is not None and not NARROWEST <= value <= WIDEST and not (name == "main" and value == math.inf):
                raise ArgumentError(
                    f"The '{name}' of a penalty must lie between {NARROWEST:g} and {WIDEST:g}. Got {shown(value)} "
                    "instead; leave the prior out for maximum likelihood."
                )

    def widths(self, terms: Sequence[Floats]) -> list[float]:
        """Return the width of every term's prior."""
        return [float(width) for width in self.widths_of(np.array([term.ndim == 1 for term in terms], bool))]

    def widths_of(self, main: NDArray[np.bool_]) -> Floats:
        """Return the width of every weight's prior, ``main`` telling which are main effects."""
        return np.where(main, self.width if self.main is None else self.main, self.width)

    @abstractmethod
    def value(self, terms: Sequence[Floats]) -> float:
        """Return −log p(u), but for a constant."""

    @abstractmethod
    def slope(self, terms: Sequence[Floats]) -> list[Floats]:
        """Return the derivative of `value` by every term."""

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as JSON-able data."""
        return {"type": type(self).__name__, "width": self.width, "main": self.main}


@dataclass(frozen=True)
class Gaussian(Penalty, NodePrior):
    """Normal prior on every u-term under sum-to-zero constraints: a penalty of Σ u² / (2 width²).

    Parameters
    ----------
    width : float
        The standard deviation σ.
    main : float, optional
        That of main effects, the terms of one variable; ``math.inf`` leaves them free.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"]}
    >>> fit = sf.fit(sf.Cliques("A:B"), data, prior=sf.Gaussian(1.0))
    >>> fit.point, fit.certificate.ok
    ('map', True)
    """

    kinds: ClassVar[tuple[str, ...]] = ("softmax",)

    def pseudo(self, family: NodeFamily, point: str) -> SoftmaxPenalty:
        """Return the penalty on the parameters of a softmax node, the intercepts being its main effects."""
        return SoftmaxPenalty(self.width, self.width if self.main is None else self.main)

    def value(self, terms: Sequence[Floats]) -> float:
        """Return Σ u² / (2 width²)."""
        return sum(float((u**2).sum()) / (2 * w**2) for u, w in zip(terms, self.widths(terms), strict=True))

    def slope(self, terms: Sequence[Floats]) -> list[Floats]:
        """Return u / width²."""
        return [u / w**2 for u, w in zip(terms, self.widths(terms), strict=True)]


@dataclass(frozen=True)
class Laplace(Penalty):
    """Double-exponential prior on every u-term under sum-to-zero constraints: a penalty of ``Σ |u| / width``.

    Some terms become zero: the estimate selects interactions.

    Parameters
    ----------
    width : float
        The scale b.
    main : float, optional
        That of main effects, the terms of one variable; ``math.inf`` leaves them free.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"A": ["x", "x", "y", "y", "y"], "B": ["u", "v", "u", "v", "v"]}
    >>> fit = sf.fit(sf.Cliques("A:B"), data, prior=sf.Laplace(0.5, main=float("inf")))
    >>> bool(abs(fit.model.u_terms()["A", "B"].values).max() < 1e-12)
    True
    """

    def value(self, terms: Sequence[Floats]) -> float:
        """Return ``Σ |u| / width``."""
        return sum(float(np.abs(u).sum()) / w for u, w in zip(terms, self.widths(terms), strict=True))

    def slope(self, terms: Sequence[Floats]) -> list[Floats]:
        """Return sign(u) / width, one of the subgradients."""
        return [np.sign(u) / w for u, w in zip(terms, self.widths(terms), strict=True)]
