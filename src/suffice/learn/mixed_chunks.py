"""Rows with gaps cut into chunks that are looked at together: of one component of missing variables each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.errors import EstimationError, listing
from suffice.inference.gaussian_parts import Part
from suffice.learn.mixed_plan import Component, Shape, components_of
from suffice.settings import more_memory, settings
from suffice.stats.gap_moments import patterns_of
from suffice.stats.ordering import unique_rows
from suffice.types import Array, Floats, Ints

CHUNK = 2**19
"""Numbers that the configurations of some rows hold at once."""
ROWS = 2**14
"""Most rows that are looked at together."""
LISTED = 512
"""So many configurations are listed; of more, each family's are summed out for."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows that lack the same variables, as far as one component of these is concerned.

    Attributes
    ----------
    component : Component
    weights : array, shape (n,)
    codes, values : mapping from int to array, shape (n,)
        What was observed around the component; values are in centres and spreads.
    contexts : mapping from Part to list of (rows, codes)
        Rows that agree in the observed discrete parents of a part, for parts with missing continuous variables.
    """

    component: Component
    weights: Floats = field(repr=False)
    codes: Mapping[int, Ints] = field(repr=False)
    values: Mapping[int, Floats] = field(repr=False)
    contexts: Mapping[Part, list[tuple[Ints, dict[int, int]]]] = field(repr=False)


class Planner:
    """Cuts rows with gaps into chunks; it remembers what hangs together for each pattern of gaps."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._known: dict[bytes, list[Component]] = {}

    def chunks(self, columns: Sequence[Array], weights: Floats) -> Iterator[Chunk]:
        """Yield the chunks of rows: codes, −1 where they are missing, and standardised values, NaN where they are."""
        discrete = [at in self.shape.scopes for at in range(len(columns))]
        gone = np.stack([c < 0 if d else np.isnan(c) for c, d in zip(columns, discrete, strict=True)], axis=1)
        patterns, position = patterns_of(gone)
        order = np.argsort(position, kind="stable")
        counts = np.bincount(position, minlength=len(patterns))
        ends = np.cumsum(counts)
        for pattern, start, end in zip(patterns, (ends - counts).tolist(), ends.tolist(), strict=True):
            rows = order[start:end]
            for component in self._components(pattern):
                yield from self._cut(component, columns, weights, rows)

    def _components(self, pattern: NDArray[np.bool_]) -> list[Component]:
        key = pattern.tobytes()
        if key not in self._known:
            missing = frozenset(np.flatnonzero(pattern).tolist())
            self._known[key] = components_of(self.shape, missing)
        return self._known[key]

    def _cut(self, component: Component, columns: Sequence[Array], weights: Floats, rows: Ints) -> Iterator[Chunk]:
        codes = np.stack([columns[v][rows] for v in component.codes] or [np.zeros(len(rows))], axis=1).astype(np.int64)
        held = weights[rows]
        if not component.parts:  # rows that agree in what matters are one
            codes, back = unique_rows(codes)
            held, rows = np.asarray(np.bincount(back, held, minlength=len(codes)), np.float64), rows[:0]
        size = min(ROWS, max(1, CHUNK // _width(self.shape, component)))
        for low in range(0, len(held), size):
            part = slice(low, min(low + size, len(held)))
            own = {v: np.ascontiguousarray(codes[part, at]) for at, v in enumerate(component.codes)}
            values = {v: np.asarray(columns[v][rows[part]], np.float64) for v in component.values}
            contexts = {piece: self._contexts(piece, own, len(held[part])) for piece in component.parts if piece.free}
            yield Chunk(component, held[part], own, values, contexts)

    def _contexts(self, part: Part, codes: Mapping[int, Ints], n: int) -> list[tuple[Ints, dict[int, int]]]:
        parents = {parent for node in part.members for parent in self.shape.regressions[node].discrete}
        known = sorted(parents & codes.keys())
        if not known:
            return [(np.arange(n), {})]
        distinct, back = unique_rows(np.stack([codes[v] for v in known], axis=1))
        order = np.argsort(back, kind="stable")
        cut = np.split(order, np.cumsum(np.bincount(back, minlength=len(distinct)))[:-1])
        return [(rows, dict(zip(known, map(int, row), strict=True))) for rows, row in zip(cut, distinct, strict=True)]


def _width(shape: Shape, component: Component) -> int:
    """Return how many numbers a row takes, about; raise where one row's are too many."""
    widths = [math.prod(shape.sizes[v] for v in component.hidden)]
    if widths[0] > LISTED:
        scopes = [[v for v in shape.scopes[node] if v in component.hidden] for node in component.tables]
        widths = [math.prod(shape.sizes[v] for v in scope) for scope in [*scopes, *(p.by for p in component.parts)]]
    sizes = [math.prod(shape.sizes[v] for v in p.by) * len(p.members) * (1 + len(p.free)) for p in component.parts]
    width = max([*widths, *sizes, 1])
    if 8 * 8 * width > settings().memory:
        raise EstimationError(
            f"What is missing in some rows has {width:,} configurations: {listing(names_of(shape, component), 12)} "
            "hang together. Leave out rows that lack so many of these, give some of them fewer parents or states, or "
            "allow more memory: ",
            more_memory(8 * 8 * width),
            ".",
        )
    return width


def names_of(shape: Shape, component: Component) -> list[str]:
    """Return the names of the missing variables of a component."""
    free = [v for part in component.parts for v in part.free]
    return [shape.names[v] for v in (*component.hidden, *free)]
