"""Hypotheses: a finite list of sets or distributions, one of which the data was drawn from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from suffice.data.schema import Declaration
from suffice.data.variable import Variable, plain_label, sort_labels
from suffice.errors import (
    StructureError,
    UnknownNameError,
    is_number,
    listing,
    require_mapping,
    require_text,
    shown,
    suggestion,
)
from suffice.structures.structure import Structure
from suffice.text import html_table, plain_table, shorten
from suffice.values import Label

if TYPE_CHECKING:
    from suffice.models.hypothesis_mixture import HypothesisMixture
    from suffice.result.fit import Fit
    from suffice.types import Entry, Json


NEAR_ONE = 1e-9
"""How far the sum of a hypothesis' probabilities may be from one."""


@dataclass(frozen=True, init=False)
class Hypotheses(Structure["Fit[HypothesisMixture, Hypotheses]"]):
    """A finite hypothesis space: sets under strong sampling, or distributions.

    A hypothesis h that is a set says that every observation is drawn uniformly from it, so that
    p(D | h) = (1 / size of h)^N when all of the data lies in h, and 0 otherwise. A hypothesis that is a distribution
    gives each outcome a probability of its own: p(D | h) = Π p(x | h) over the observations x.

    Parameters
    ----------
    sets : mapping from str to iterable of labels, or to mapping from label to probability
        The outcomes of each hypothesis, or its probabilities, which sum to one.
    over : str
        The column that holds the outcomes.

    Examples
    --------
    >>> import suffice as sf
    >>> numbers = sf.Hypotheses({"even": range(2, 101, 2), "powers of two": [2, 4, 8, 16, 32, 64]}, over="number")
    >>> fit = sf.fit(numbers, {"number": [16, 8, 2, 64]}, prior={"even": 0.5, "powers of two": 0.5})
    >>> fit.posterior.most_probable
    'powers of two'
    >>> round(fit.posterior["even"], 6)
    0.000207
    >>> coins = sf.Hypotheses({"fair": {"heads": 0.5, "tails": 0.5}, "bent": {"heads": 0.9, "tails": 0.1}}, over="toss")
    >>> fit = sf.fit(coins, {"toss": ["heads", "heads", "tails"]}, prior="uniform")
    >>> round(fit.posterior["fair"], 6)
    0.606796
    """

    names: tuple[str, ...]
    sets: tuple[tuple[Label, ...], ...]
    over: str
    probabilities: tuple[tuple[float, ...] | None, ...]

    def __init__(self, sets: Mapping[str, Iterable[Label] | Mapping[Label, float]], over: str = "x") -> None:
        given = require_mapping("sets", sets, "{'even': [2, 4, 6], …}")
        listed = {require_text("hypothesis", name, "name"): _outcomes(name, labels) for name, labels in given.items()}
        if not listed:
            raise StructureError("There are no hypotheses. Name at least one, with its outcomes.")
        object.__setattr__(self, "names", tuple(listed))
        object.__setattr__(self, "sets", tuple(listed.values()))
        object.__setattr__(self, "over", require_text("over", over))
        each = [_probabilities(name, given[name], outcomes) for name, outcomes in listed.items()]
        object.__setattr__(self, "probabilities", tuple(each))
        _ = self.variable  # outcomes that cannot stand together are refused now

    def __setstate__(self, state: Entry) -> None:
        """Take what a pickle holds; in those of the first version every hypothesis is a set."""
        self.__dict__.update({"probabilities": (None,) * len(state["names"]), **state})

    @cached_property
    def variable(self) -> Variable:
        """The observed variable; its states are all outcomes that some hypothesis knows."""
        outcomes = dict.fromkeys(label for labels in self.sets for label in labels)
        return Variable(self.over, sort_labels(outcomes), True)

    def outcomes(self, name: str) -> tuple[Label, ...]:
        """Return the outcomes of one hypothesis."""
        if name not in self.names:
            raise UnknownNameError(
                f"There is no hypothesis {name!r}. The hypotheses are {listing(self.names)}."
                + suggestion(name, self.names)
            )
        return self.sets[self.names.index(name)]

    def distribution(self, name: str) -> dict[Label, float]:
        """Return the probability of each outcome under one hypothesis; of a set, one divided by its size."""
        outcomes = self.outcomes(name)
        given = self.probabilities[self.names.index(name)]
        return dict(zip(outcomes, given or [1 / len(outcomes)] * len(outcomes), strict=True))

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column that is observed."""
        return (self.over,)

    @property
    def declared(self) -> dict[str, Declaration]:
        """The outcomes are declared by the hypotheses."""
        return {self.over: Declaration("discrete", self.variable.labels)}

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for name, outcomes, given in zip(self.names, self.sets, self.probabilities, strict=True):
            each: Iterable[object] = outcomes
            if given is not None:
                each = [f"{label}: {p:g}" for label, p in zip(outcomes, given, strict=True)]
            rows.append([name, str(len(outcomes)), shorten(listing(each, 6), 60)])
        return ["hypothesis", "size", "outcomes"], rows, "<><"

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())

    def __repr__(self) -> str:
        return f"Hypotheses({listing(self.names, 6)}, over={self.over!r})"

    def to_dict(self) -> dict[str, Json]:
        """Return the structure as JSON-able data; the probabilities of a distribution stand after its outcomes."""
        each = zip(self.names, self.sets, self.probabilities, strict=True)
        sets = [[name, list(outcomes), *([] if p is None else [list(p)])] for name, outcomes, p in each]
        return {"type": "Hypotheses", "sets": sets, "over": self.over}

    @classmethod
    def from_dict(cls, entry: Entry) -> Hypotheses:
        """Rebuild the structure from `to_dict`'s data."""
        sets = {}
        for name, outcomes, *given in entry["sets"]:
            (p,) = given or (None,)
            sets[name] = outcomes if p is None else dict(zip(outcomes, p, strict=True))
        return cls(sets, entry["over"])


def _outcomes(name: str, outcomes: object) -> tuple[Label, ...]:
    """Return the outcomes of one hypothesis, sorted, each once."""
    if isinstance(outcomes, str) or not isinstance(outcomes, Iterable):
        raise StructureError(f"Hypothesis {name!r} must be a set of outcomes. Got {shown(outcomes)} instead.")
    labels = list(outcomes)
    if not labels:
        raise StructureError(
            f"Hypothesis {name!r} has no outcomes, so nothing could be drawn from it. Give it one, or leave it out."
        )
    for label in labels:
        if isinstance(label, float) and not math.isfinite(label):
            raise StructureError(f"Hypothesis {name!r}: the outcome {label} is not finite. Leave it out.")
    distinct = dict.fromkeys(Variable(name, (label,)).labels[0] for label in labels)
    return Variable(name, sort_labels(distinct)).labels


def _probabilities(name: str, given: object, outcomes: tuple[Label, ...]) -> tuple[float, ...] | None:
    """Return the probabilities of a hypothesis that is a distribution, in the order of its outcomes; None for a set."""
    if not isinstance(given, Mapping):
        return None
    by_label = {plain_label(label): p for label, p in given.items()}
    for label in outcomes:
        if not is_number(by_label[label]) or not 0 <= by_label[label] < math.inf:
            raise StructureError(
                f"Hypothesis {name!r}: the probability of {label!r} must be a number of at least 0. Got "
                f"{shown(by_label[label])} instead. A hypothesis without probabilities is a list of outcomes: "
                f"{listing(outcomes, 6)}."
            )
    found = tuple(float(by_label[label]) for label in outcomes)
    if not abs(math.fsum(found) - 1) <= NEAR_ONE:
        raise StructureError(
            f"Hypothesis {name!r}: its probabilities must sum to one. They sum to {math.fsum(found):.12g}. Correct "
            f"them, or give the outcomes alone, which are then equally likely: {listing(outcomes, 6)}."
        )
    return found
