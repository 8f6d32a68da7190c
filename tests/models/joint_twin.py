"""The slow, obvious twin of a joint table of classes: plain dicts, exact fractions, every configuration in turn."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

Cell = tuple[Any, ...]


@dataclass(frozen=True)
class JointTwin:
    """Rows of inputs and class, their weights, and pseudo-counts ``extra`` in every cell."""

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    rows: tuple[tuple[Cell, str], ...]
    weights: tuple[Fraction, ...] = ()
    extra: Fraction = Fraction(0)

    @property
    def m(self) -> Counter[tuple[Cell, str]]:
        found: Counter[tuple[Cell, str]] = Counter()
        for row, weight in zip(self.rows, self.weights or [Fraction(1)] * len(self.rows), strict=True):
            found[row] += weight
        return found

    def total(self, label: str) -> Fraction:
        return sum((n for (_, y), n in self.m.items() if y == label), Fraction(0))

    @property
    def configurations(self) -> list[Cell]:
        return list(itertools.product(*self.states))

    def likelihood(self, x: Sequence[Any], label: str) -> Fraction:
        """Return p(x | y), None standing for a missing input, by adding up all that x can be."""
        m, found = self.m, Fraction(0)
        divisor = self.total(label) + len(self.configurations) * self.extra
        for cell in self.configurations:
            if all(known is None or known == state for known, state in zip(x, cell, strict=True)):
                found += (m[cell, label] + self.extra) / divisor
        return found

    def counted(self) -> dict[str, Fraction]:
        n = sum(map(self.total, self.classes), Fraction(0))
        return {label: self.total(label) / n for label in self.classes}

    def posterior(self, x: Sequence[Any], prior: dict[str, Fraction]) -> list[Fraction] | None:
        """Return p(y | x), or None where x is impossible."""
        joint = [prior[label] * self.likelihood(x, label) if prior[label] else Fraction(0) for label in self.classes]
        return [p / sum(joint) for p in joint] if sum(joint) else None

    def log_likelihood(self, prior: dict[str, Fraction]) -> float:
        return math.fsum(
            float(n) * (math.log(prior[y]) + math.log(self.likelihood(x, y))) for (x, y), n in self.m.items()
        )

    @property
    def data(self) -> dict[str, list[Any]]:
        columns = {name: [x[axis] for x, _ in self.rows] for axis, name in enumerate(self.names)}
        return {**columns, "y": [label for _, label in self.rows]}

    @property
    def schema(self) -> dict[str, list[str]]:
        return {**{name: list(mine) for name, mine in zip(self.names, self.states, strict=True)}, "y": [*self.classes]}


@st.composite
def twins(draw: st.DrawFn, most_inputs: int = 3) -> JointTwin:
    """Draw a small table in which every class occurs."""
    sizes = draw(st.lists(st.integers(1, 3), max_size=most_inputs))
    states = tuple(tuple(f"{'uvwx'[axis]}{code}" for code in range(size)) for axis, size in enumerate(sizes))
    classes = tuple(f"k{code}" for code in range(draw(st.integers(1, 3))))
    inputs = st.tuples(*(st.sampled_from(mine) for mine in states))
    drawn = draw(st.lists(st.tuples(inputs, st.sampled_from(classes)), max_size=10))
    rows = [*((draw(inputs), label) for label in classes), *drawn]
    return JointTwin(tuple("uvwx"[: len(sizes)]), states, classes, tuple(draw(st.permutations(rows))))


def inputs_of(twin: JointTwin) -> st.SearchStrategy[list[Any]]:
    """Draw what may be known of the inputs, None for what is not."""
    return st.tuples(*(st.sampled_from([*mine, None]) for mine in twin.states)).map(list)
