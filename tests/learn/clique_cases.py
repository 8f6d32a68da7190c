"""Random Markov random fields with random tables, and what follows from them by plain sums over the joint table."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests import naive

import suffice as sf

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Case:
    """Cliques over variables with some states, and a table of counts, one axis a variable."""

    cliques: tuple[tuple[str, ...], ...]
    states: dict[str, tuple[str, ...]]
    table: Floats

    @property
    def structure(self) -> sf.Cliques:
        return sf.Cliques(list(self.cliques))

    @property
    def names(self) -> list[str]:
        return list(self.states)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(states) for states in self.states.values())

    @property
    def data(self) -> sf.Contingency:
        return sf.Contingency(self.table, {name: list(states) for name, states in self.states.items()})

    @property
    def scopes(self) -> list[tuple[int, ...]]:
        return [tuple(self.names.index(name) for name in clique) for clique in self.cliques]

    def fit(self, **keywords: Any) -> sf.Fit:
        return sf.fit(self.structure, self.data, **keywords)

    def joint(self, model: sf.MarkovNetwork) -> Floats:
        """Return p of every cell: the product of the model's tables over its sum."""
        return self.product(model) / self.product(model).sum()

    def product(self, model: sf.MarkovNetwork) -> Floats:
        total = np.ones(self.sizes)
        for factor in model.factors:
            places = [self.names.index(name) for name in factor.names]
            shape = [size if v in places else 1 for v, size in enumerate(self.sizes)]
            total = total * factor.values.transpose(np.argsort(places)).reshape(shape)
        return total

    def margin(self, joint: Floats, clique: tuple[str, ...]) -> Floats:
        places = [self.names.index(name) for name in clique]
        summed = joint.sum(axis=tuple(v for v in range(joint.ndim) if v not in places))
        return np.asarray(summed.transpose(np.argsort(np.argsort(places))))

    def gap(self, joint: Floats, table: Floats | None = None) -> float:
        """Return the largest distance between the margins of a distribution and those of the counts."""
        wanted = (self.table if table is None else table) / (self.table if table is None else table).sum()
        return max(float(np.abs(self.margin(joint, c) - self.margin(wanted, c)).max()) for c in self.cliques)

    @cached_property
    def optimum(self) -> Floats:
        """p by proportional fitting, cell by cell."""
        return self.fitted(self.table)

    def fitted(self, table: Floats) -> Floats:
        cells = {x: float(table[x]) for x in itertools.product(*map(range, self.sizes))}
        p, _ = naive.proportionally_fitted(self.sizes, self.scopes, cells)
        return np.array(list(p.values())).reshape(self.sizes)

    def log_likelihood(self, joint: Floats) -> float:
        seen = self.table > 0
        return math.fsum(self.table[seen] * np.log(joint[seen]))

    @cached_property
    def design(self) -> Floats:
        """One row a cell of a clique's margin, one column a cell of the joint table."""
        columns = []
        for x in itertools.product(*map(range, self.sizes)):
            units = [np.eye(math.prod(self.sizes[v] for v in s))[self._place(x, s)] for s in self.scopes]
            columns.append(np.concatenate(units))
        return np.array(columns).T

    def _place(self, x: tuple[int, ...], scope: tuple[int, ...]) -> int:
        return int(np.ravel_multi_index([x[v] for v in scope], [self.sizes[v] for v in scope]))

    @cached_property
    def facial_set(self) -> NDArray[np.bool_]:
        """The cells that some table with these margins fills: max Σ v with A (v + w) = λ t, 0 ≤ v ≤ 1, 0 ≤ w."""
        from scipy.optimize import linprog

        a, n = self.design, self.table.size
        t = a @ self.table.ravel()
        found = linprog(
            np.concatenate([-np.ones(n), np.zeros(n + 1)]),
            A_eq=np.hstack([a, a, -t[:, None]]),
            b_eq=np.zeros(len(t)),
            bounds=[(0, 1)] * n + [(0, None)] * (n + 1),
        )
        assert found.status == 0
        inside: NDArray[np.bool_] = (found.x[:n] > 0.5).reshape(self.sizes)
        return inside


@st.composite
def cases(draw: st.DrawFn, zeros: float = 0.0, max_variables: int = 4, decomposable: bool = False) -> Case:
    """Draw cliques over 1–4 variables of 1–3 states, nested ones among them, and counts without or with zeros."""
    n = draw(st.integers(1, max_variables))
    order = draw(st.permutations([f"V{i}" for i in range(n)]))
    states = {name: tuple(draw(st.permutations("abc"[: draw(st.integers(1, 3))]))) for name in order}
    scope = st.lists(st.sampled_from(order), min_size=1, max_size=3, unique=True).map(tuple)
    drawn = draw(st.lists(scope, min_size=1, max_size=4, unique_by=frozenset))
    left = [(name,) for name in order if not any(name in clique for clique in drawn)]
    cliques = (*drawn, *left)
    if decomposable and not sf.Cliques(list(cliques)).is_decomposable:
        cliques = sf.Cliques({name: sorted(near) for name, near in _filled(cliques, order).items()}).cliques
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.integers(1, 20, [len(s) for s in states.values()]) * 1.0
    if zeros:
        table *= rng.random(table.shape) > zeros
        if not table.any():
            table.flat[0] = 1.0
    return Case(cliques, states, table)


def _filled(cliques: tuple[tuple[str, ...], ...], order: list[str]) -> dict[str, set[str]]:
    """Return a chordal graph that holds the cliques: variables are eliminated in order, their neighbours joined."""
    near: dict[str, set[str]] = {name: set() for name in order}
    for clique in cliques:
        for name in clique:
            near[name] |= set(clique) - {name}
    for place, name in enumerate(order):
        later = near[name] & set(order[place + 1 :])
        for other in later:
            near[other] |= later - {other}
    return near


def grid(n: int, m: int) -> sf.Cliques:
    """Return the pairs of a grid."""
    right = [(f"v{i}_{j}", f"v{i}_{j + 1}") for i in range(n) for j in range(m - 1)]
    down = [(f"v{i}_{j}", f"v{i + 1}_{j}") for i in range(n - 1) for j in range(m)]
    return sf.Cliques(right + down)


def grid_data(n: int, m: int, n_rows: int, seed: int = 0) -> dict[str, Any]:
    """Return rows of 0 and 1 in which neighbours agree more often than not, without an exact model of them."""
    rng = np.random.default_rng(seed)
    x = np.zeros((n, m, n_rows), np.int64)
    for i in range(n):
        for j in range(m):
            x[i, j] = rng.random(n_rows) < 0.45
            for other in ([x[i - 1, j]] if i else []) + ([x[i, j - 1]] if j else []):
                x[i, j] = np.where(rng.random(n_rows) < 0.3, other, x[i, j])
    return {f"v{i}_{j}": x[i, j] for i in range(n) for j in range(m)}
