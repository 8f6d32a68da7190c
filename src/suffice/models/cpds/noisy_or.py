"""Noisy-OR distributions: causes that each produce an effect by themselves, with a strength of their own.

How they are fitted and proven stands in `suffice.models.cpds.noisy_or_kind`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from suffice.data.frame import to_native
from suffice.data.labelled import LabelledTable
from suffice.errors import ArgumentError, ModelError, Remedy, is_number, listing, require_mapping, shown, suggestion
from suffice.models.cpds.kind import Given, NodeFamily
from suffice.models.cpds.tabular import MAX_AXES, TabularCPD
from suffice.settings import settings
from suffice.stats.counts import Counts
from suffice.text import html_table, in_bytes, plain_table, probability, shorten
from suffice.types import Bools, Codes, Columns, Floats, Frame, Ints, Json, JsonObject
from suffice.values import Label


@dataclass(frozen=True, eq=False)
class NoisyOrCPD:
    """p(y = absent | x) = (1 − leak) Π (1 − strength of every cause that is present).

    The child's first state says that the effect is absent, its second that it is present. The first state of a parent
    says that it is absent, too; each further state is a cause.

    Attributes
    ----------
    family : NodeFamily
    leak : float
        The probability of the effect without any cause.
    strengths : array, shape (n_causes,)
        The probability that a cause produces the effect by itself, in the order of the parents and their states; NaN
        where it is unknown (``unseen_parents="nan"``).

    Examples
    --------
    >>> from suffice.data.variable import Variable
    >>> parents = Variable("flu", ("no", "yes")), Variable("cold", ("no", "mild", "severe"))
    >>> fever = NoisyOrCPD(NodeFamily(Variable("fever", ("no", "yes")), parents), 0.01, [0.9, 0.2, 0.5])
    >>> print(fever)
    p(fever='yes' | flu, cold), noisy-OR
    cause        strength
    -----------  --------
    (leak)         0.0100
    flu=yes        0.9000
    cold=mild      0.2000
    cold=severe    0.5000
    >>> round(fever.table[{"flu": "yes", "cold": "mild", "fever": "no"}], 6)
    0.0792
    """

    kind: ClassVar[str] = "noisy_or"
    family: NodeFamily
    leak: float
    strengths: Floats = field(repr=False)

    def __post_init__(self) -> None:
        strengths, n = np.array(self.strengths, np.float64).reshape(-1), n_causes(self.family)
        if len(strengths) != n:
            raise ModelError(
                f"Node {self.family.child.name!r} needs {n} strengths, one for each state of its parents but their "
                f"first. Got {len(strengths)} instead."
            )
        for what, value in zip(["leak", *map(_label, causes(self.family))], [self.leak, *strengths], strict=True):
            if not (0 <= value <= 1 or math.isnan(value)):
                raise ModelError(
                    f"Node {self.family.child.name!r}: the strength of {what} must be a probability. "
                    f"Got {float(value)!r} instead."
                )
        strengths.flags.writeable = False
        object.__setattr__(self, "strengths", strengths)
        object.__setattr__(self, "leak", float(self.leak))

    @classmethod
    def unknown_of(cls, family: NodeFamily) -> NoisyOrCPD:
        """Return the distribution of which nothing is known."""
        return cls(family, math.nan, np.full(n_causes(family), np.nan))

    @classmethod
    def from_given(cls, family: NodeFamily, given: Given) -> NoisyOrCPD:
        """Build from what a person writes: ``{"leak": 0.01, "strengths": {"flu": 0.9, "cold": {"mild": 0.2, …}}}``.

        Without ``"leak"`` there is none. One number serves a parent of two states; others need one for each state but
        the first.
        """
        if isinstance(given, NoisyOrCPD):
            return given.renamed(family)
        name = family.child.name
        entry = require_mapping(f"distribution of {name!r}", given, "{'leak': 0.01, 'strengths': {'A': 0.9}}")
        if not {"strengths"} <= set(entry) <= {"leak", "strengths"}:
            raise ArgumentError(
                f"The distribution of {name!r} has the parameters 'strengths' and, if it has one, 'leak'. "
                f"Got {listing(entry)} instead."
            )
        by_parent = require_mapping("strengths", entry["strengths"], "{'A': 0.9, 'B': {'mild': 0.2}}", "entry")
        known = [parent.name for parent in family.parents]
        for parent in (*by_parent, *known):
            if parent not in known or parent not in by_parent:
                raise ArgumentError(
                    f"The strengths of {name!r} must name its parents {listing(known)}, each once. "
                    f"Got {listing(by_parent)} instead." + suggestion(parent, known)
                )
        found = [_probability(name, "the leak", entry.get("leak", 0.0))]
        for parent, state in causes(family):
            cell = by_parent[parent]
            if isinstance(cell, Mapping):
                variable = next(v for v in family.parents if v.name == parent)
                codes = {variable.code(label): strength for label, strength in cell.items()}
                cell = codes.get(variable.code(state))
            elif len([other for other, _ in causes(family) if other == parent]) > 1:
                cell = None
            found.append(_probability(name, _label((parent, state)), cell))
        return cls(family, found[0], np.array(found[1:]))

    # What it says ---------------------------------------------------------------------------------------------

    @property
    def unknown(self) -> Bools:
        """Which of leak and strengths the data did not determine; shape (1 + n_causes,)."""
        return np.asarray(np.isnan(np.concatenate([[self.leak], self.strengths])))

    def strength(self, parent: str, state: Label) -> float:
        """Return the strength of one cause, zero for the state that says that it is absent."""
        variable = next((v for v in self.family.parents if v.name == parent), None)
        if variable is None:
            names = [v.name for v in self.family.parents]
            raise ArgumentError(
                f"Node {self.family.child.name!r} has no parent {parent!r}. Its parents are {listing(names)}."
                + suggestion(parent, names)
            )
        code = variable.code(state)
        return 0.0 if code == 0 else float(self.strengths[list(causes(self.family)).index((parent, state))])

    @property
    def table(self) -> LabelledTable:
        """The whole table with labels, axes the parents and then the child."""
        return self.to_tabular().table

    @property
    def title(self) -> str:
        """The name of the distribution, ``p(y='yes' | A, B), noisy-OR``."""
        child, names = self.family.child, [shorten(parent.name) for parent in self.family.parents]
        given = f" | {', '.join(names)}" if names else ""
        return f"p({shorten(child.name)}={child.labels[1]!r}{given}), noisy-OR"

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = [["(leak)", probability(self.leak)]]
        rows += [
            [_label(cause), probability(float(p))] for cause, p in zip(causes(self.family), self.strengths, strict=True)
        ]
        return ["cause", "strength"], rows, "<>"

    def __str__(self) -> str:
        return f"{self.title}\n{plain_table(*self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self.title)

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a cause: its parent, its state and its strength; the leak comes first."""
        pairs = list(causes(self.family))
        columns: dict[str, list[str] | Floats] = {
            "parent": ["(leak)", *(parent for parent, _ in pairs)],
            "state": ["", *(str(state) for _, state in pairs)],
            "strength": np.concatenate([[self.leak], self.strengths]),
        }
        found: Frame = to_native(columns, backend)
        return found

    # What it computes -----------------------------------------------------------------------------------------

    def log_absent(self, configurations: Codes) -> Floats:
        """Return log p(effect absent) of parent configurations, shape (n, n_parents); shape (n,).

        A cause that is certain rules absence out, whatever else is present, known or not.
        """
        with np.errstate(divide="ignore"):
            logs, leak = np.log1p(-self.strengths), float(np.log1p(-self.leak))
        total, certain = np.full(len(configurations), leak), np.full(len(configurations), self.leak == 1)
        start = 0
        for place, parent in enumerate(self.family.parents):
            terms = np.concatenate([[0.0], logs[start : start + parent.n_states - 1]])[configurations[:, place]]
            total, certain = total + terms, certain | np.isneginf(terms)  # eq noisy-or
            start += parent.n_states - 1
        return np.where(certain, -np.inf, total)

    def probabilities(self, configurations: Codes) -> Floats:
        """Return p of both states for parent configurations, shape (n, n_parents); shape (n, 2)."""
        log_absent = self.log_absent(configurations)
        return np.stack([np.exp(log_absent), -np.expm1(log_absent)], axis=1)

    def _above(self, columns: Columns, n_rows: int) -> Ints:
        codes = [np.asarray(columns[parent.name], np.int64) for parent in self.family.parents]
        return np.stack(codes, axis=1) if codes else np.zeros((n_rows, 0), np.int64)

    def log_prob(self, columns: Columns) -> Floats:
        """Return log p(y | parents) of every row of codes; shape (n_rows,)."""
        child = np.asarray(columns[self.family.child.name], np.int64)
        log_absent = self.log_absent(self._above(columns, len(child)))
        with np.errstate(divide="ignore"):
            log_present = np.log(-np.expm1(log_absent))
        return np.where(child == 0, log_absent, log_present)

    def sample(self, columns: Columns, uniform: Floats) -> Codes:
        """Draw the child by inverting its distribution function at ``uniform``; shape (n_rows,)."""
        p = self.probabilities(self._above(columns, len(uniform)))
        if np.isnan(p).any():
            unknown = [
                _label(cause) for cause, p in zip(causes(self.family), self.strengths, strict=True) if np.isnan(p)
            ]
            raise ModelError(
                f"Cannot sample {self.family.child.name!r}: strengths are unknown (NaN), because the data did not "
                f"determine them: {listing(unknown or ['leak'])}. Fit with ",
                Remedy("unseen_parents", "uniform"),
                ".",
            )
        return np.asarray(uniform >= p[:, 0]).astype(np.int8)

    def log_likelihood(self, statistic: Counts) -> float:
        """Return Σ m log p(y | parents) over the configurations that occur."""
        cells, m = statistic.nonzero()
        log_absent = self.log_absent(cells[:, :-1])
        with np.errstate(divide="ignore"):
            terms = m * np.where(cells[:, -1] == 0, log_absent, np.log(-np.expm1(log_absent)))
        return float(terms.sum())

    def to_tabular(self) -> TabularCPD:
        """Return the same distribution as a table."""
        return TabularCPD(self.family, self.whole_values().reshape(-1, 2))

    def whole_values(self) -> Floats:
        """Return p(child | parents) of every configuration; shape (…parents' states, 2)."""
        sizes = [parent.n_states for parent in self.family.parents]
        n_bytes = 16 * math.prod(sizes)
        if len(sizes) >= MAX_AXES or n_bytes > settings().memory:
            raise ModelError(
                f"The whole table of {self.family.child.name!r} over {len(sizes)} parents takes {in_bytes(n_bytes)}; "
                f"{in_bytes(settings().memory)} and {MAX_AXES - 1} parents are the most. Give the node fewer parents, "
                "or draw from the model instead."
            )
        with np.errstate(divide="ignore"):
            logs, leak = np.log1p(-self.strengths), float(np.log1p(-self.leak))
        total, certain = np.full((1,) * len(sizes), leak), np.full((1,) * len(sizes), self.leak == 1)
        start = 0
        for axis, size in enumerate(sizes):  # one axis after another: a sum of vectors, never a list of configurations
            terms = np.concatenate([[0.0], logs[start : start + size - 1]])
            terms = terms.reshape([size if place == axis else 1 for place in range(len(sizes))])
            total, certain = total + terms, certain | np.isneginf(terms)
            start += size - 1
        log_absent = np.where(certain, -np.inf, total)
        return np.stack([np.exp(log_absent), -np.expm1(log_absent)], axis=-1)

    def renamed(self, family: NodeFamily) -> NoisyOrCPD:
        """Return the same distribution for a tied family."""
        return self if family == self.family else NoisyOrCPD(family, self.leak, self.strengths)

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the parameters as JSON-able data."""
        return {"leak": self.leak, "strengths": self.strengths}

    @classmethod
    def from_dict(cls, family: NodeFamily, entry: JsonObject) -> NoisyOrCPD:
        """Rebuild from `to_dict`'s data."""
        return cls(family, float(np.array(entry["leak"], np.float64)), np.array(entry["strengths"], np.float64))


def causes(family: NodeFamily) -> Iterator[tuple[str, Label]]:
    """Yield the causes, parent and state, in order: every state of a parent but its first."""
    return ((parent.name, label) for parent in family.parents for label in parent.labels[1:])


def n_causes(family: NodeFamily) -> int:
    """Return the number of causes."""
    return sum(max(parent.n_states - 1, 0) for parent in family.parents)


def _label(cause: tuple[str, Label]) -> str:
    return f"{cause[0]}={cause[1]}"


def _probability(node: str, what: str, value: object) -> float:
    if not is_number(value) or not 0 <= value <= 1:
        raise ArgumentError(
            f"The distribution of {node!r} needs a probability for {what}. Got {shown(value)} instead."
            + (" Give one for every state of the parent but its first." if value is None else "")
        )
    return float(value)
