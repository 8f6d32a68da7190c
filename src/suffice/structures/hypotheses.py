"""Hypotheses: a finite list of sets, one of which the data was drawn from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from suffice.data.schema import Declaration
from suffice.data.variable import Label, Variable, sort_labels
from suffice.errors import StructureError, UnknownNameError, listing, require_mapping, require_text, shown, suggestion
from suffice.text import html_table, plain_table, shorten


@dataclass(frozen=True, init=False)
class Hypotheses:
    """A finite hypothesis space under strong sampling.

    Each hypothesis h is a set of outcomes. If it is true, every observation is drawn uniformly from it, so that
    p(D | h) = (1 / size of h)^N when all of the data lies in h, and 0 otherwise.

    Parameters
    ----------
    sets : mapping from str to iterable of labels
        The outcomes of each hypothesis.
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
    """

    names: tuple[str, ...]
    sets: tuple[tuple[Label, ...], ...]
    over: str

    def __init__(self, sets: Mapping[str, Iterable[Label]], over: str = "x") -> None:
        given = require_mapping("sets", sets, "{'even': [2, 4, 6], …}")
        listed = {require_text("hypothesis", name, "name"): _outcomes(name, labels) for name, labels in given.items()}
        if not listed:
            raise StructureError("There are no hypotheses. Name at least one, with its outcomes.")
        object.__setattr__(self, "names", tuple(listed))
        object.__setattr__(self, "sets", tuple(listed.values()))
        object.__setattr__(self, "over", require_text("over", over))
        _ = self.variable  # outcomes that cannot stand together are refused now

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

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column that is observed."""
        return (self.over,)

    @property
    def continuous(self) -> frozenset[str]:
        """No column is continuous."""
        return frozenset()

    @property
    def declared(self) -> dict[str, Declaration]:
        """The outcomes are declared by the hypotheses."""
        return {self.over: Declaration("discrete", self.variable.labels)}

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[name, str(len(s)), shorten(listing(s, 6), 60)] for name, s in zip(self.names, self.sets, strict=True)]
        return ["hypothesis", "size", "outcomes"], rows, "<><"

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())

    def __repr__(self) -> str:
        return f"Hypotheses({listing(self.names, 6)}, over={self.over!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the structure as JSON-able data."""
        sets = [[name, list(outcomes)] for name, outcomes in zip(self.names, self.sets, strict=True)]
        return {"type": "Hypotheses", "sets": sets, "over": self.over}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Hypotheses:
        """Rebuild the structure from `to_dict`'s data."""
        return cls(dict(entry["sets"]), entry["over"])


def _outcomes(name: str, outcomes: Any) -> tuple[Label, ...]:
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
