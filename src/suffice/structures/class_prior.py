"""ClassPrior: where the probabilities of the classes come from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.data.variable import Variable
from suffice.errors import ArgumentError, EstimationError, Mention, Remedy, is_number, listing, shown, the_argument
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.types import Array, Entry, Json

ClassPriorLike: TypeAlias = "ClassPrior | str | float | Mapping[Label, float]"
"""What says how probabilities of classes are learnt, or gives them."""
NEAR_ONE = 1e-9
ROUNDINGS = 8
"""Probabilities in fewer digits than a float has may miss one by so many of their roundings."""


@dataclass(frozen=True)
class ClassPrior:
    """How a classifier's class probabilities π are found.

    Attributes
    ----------
    kind : {"counted", "smoothed", "uniform", "given"}
        Relative frequencies; the posterior mean under a Dirichlet prior; all equal; or as told.
    pseudo : float
        The pseudo-count of every class, when smoothed.
    given : tuple of (label, probability)

    Examples
    --------
    >>> spam = Variable("spam", ("no", "yes"))
    >>> ClassPrior.of("counted").probabilities(spam, np.array([3.0, 1.0]))
    array([0.75, 0.25])
    >>> ClassPrior.of(1.0).probabilities(spam, np.array([3.0, 1.0])).round(4)
    array([0.6667, 0.3333])
    >>> ClassPrior.of({"yes": 0.9, "no": 0.1}).probabilities(spam, np.array([3.0, 1.0]))
    array([0.1, 0.9])
    """

    kind: str = "counted"
    pseudo: float = 0.0
    given: tuple[tuple[Label, float], ...] = ()

    @classmethod
    def of(cls, spec: object) -> ClassPrior:
        """Read ``"counted"``, ``"uniform"``, a pseudo-count of every class, or a mapping from classes to π."""
        if isinstance(spec, ClassPrior):
            return spec
        if isinstance(spec, str) and spec in ("counted", "uniform"):
            return cls(spec)
        if isinstance(spec, Mapping):
            return cls("given", 0.0, _proper(spec))
        if is_number(spec) and 0 <= spec < math.inf:
            return cls("smoothed", float(spec)) if spec else cls("counted")
        raise ArgumentError(
            the_argument("class_prior"),
            " must be 'counted', 'uniform', a pseudo-count of every class such as 1.0, or a ",
            Mention("probabilities", "mapping from classes to probabilities"),
            f". Got {shown(spec)} instead.",
        )

    def probabilities(self, target: Variable, counts: Array) -> NDArray[np.float64]:
        """Return π of every class, shape (n_classes,), from how often each was seen."""
        k = target.n_states
        if self.kind == "uniform":
            return np.full(k, 1 / k)
        if self.kind == "given":
            return self._told(target)
        m = np.asarray(counts, np.float64) + self.pseudo
        if not m.sum() > 0:
            raise EstimationError(
                f"No row says how frequent the classes of {target.name!r} are. Pass ",
                Remedy("class_prior", "uniform"),
                ".",
            )
        return np.asarray(m / m.sum(), np.float64)

    def _told(self, target: Variable) -> NDArray[np.float64]:
        found = np.full(target.n_states, np.nan)
        for label, p in self.given:
            code = target.find(label)
            if code is None:
                raise ArgumentError(
                    the_argument("class_prior"),
                    f" names the class {shown(label)}, but the classes are {listing(target.labels)}.",
                )
            found[code] = p
        absent = [label for label, p in zip(target.labels, found, strict=True) if np.isnan(p)]
        if absent:
            raise ArgumentError(the_argument("class_prior"), f" gives no probability for {listing(absent)}. Add it.")
        return found

    def n_free(self, target: Variable) -> int:
        """Return how many of the probabilities are learnt."""
        return max(target.n_states - 1, 0) if self.kind in ("counted", "smoothed") else 0

    def to_dict(self) -> dict[str, Json]:
        """Return the choice as JSON-able data."""
        return {"kind": self.kind, "pseudo": self.pseudo, "given": [list(pair) for pair in self.given]}

    @classmethod
    def from_dict(cls, entry: Entry) -> ClassPrior:
        """Rebuild the choice from `to_dict`'s data."""
        given = tuple((label, float(p)) for label, p in entry["given"])
        return cls(str(entry["kind"]), float(entry["pseudo"]), given)


def _proper(spec: Mapping[Label, float]) -> tuple[tuple[Label, float], ...]:
    for label, p in spec.items():
        if not is_number(p) or not 0 <= p <= 1:
            raise ArgumentError(
                the_argument("class_prior"),
                f" must give each class a probability from 0 to 1. Got {shown(p)} for {shown(label)} instead.",
            )
    total, slack = math.fsum(spec.values()), _slack(spec.values())
    if abs(total - 1) > slack:
        raise ArgumentError(the_argument("class_prior"), f" must sum to one. Its probabilities sum to {total:.12g}.")
    scale = total if slack > NEAR_ONE else 1.0
    return tuple((label, float(p) / scale) for label, p in spec.items())


def _slack(probabilities: Iterable[object]) -> float:
    """Return how far from one a sum of probabilities may be: a float32, for instance, has 7 digits."""
    steps = [float(np.finfo(p.dtype).eps) for p in probabilities if isinstance(p, np.floating)]
    return max(NEAR_ONE, ROUNDINGS * max(steps, default=0.0))
