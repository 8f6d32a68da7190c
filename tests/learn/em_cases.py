"""Generated networks with gaps, and the slow twins of what EM computes on them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import suffice as sf
from suffice.models.cpds.tabular import whole_values


@dataclass(frozen=True)
class Case:
    """A discrete network, tables for it, and weighted rows with gaps."""

    dag: sf.DAG
    sizes: dict[str, int]
    tables: dict[str, np.ndarray]
    rows: np.ndarray
    weights: np.ndarray

    @property
    def names(self) -> list[str]:
        return list(self.dag.nodes)

    @property
    def schema(self) -> dict[str, Any]:
        return {name: sf.categorical([f"{name}{i}" for i in range(self.sizes[name])]) for name in self.dag.columns}

    @property
    def data(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            name: [None if code < 0 else f"{name}{code}" for code in self.rows[:, i].tolist()]
            for i, name in enumerate(self.names)
            if name in self.dag.columns
        }
        return {**columns, "w": self.weights.tolist()}

    @property
    def model(self) -> sf.BayesianNetwork:
        latent = dict(self.dag.latent)
        states: dict[str, Any] = {
            name: list(range(size)) if name in latent else [f"{name}{i}" for i in range(size)]
            for name, size in self.sizes.items()
        }
        return sf.BayesianNetwork(self.dag, self.tables, schema=states)

    def fit(self, **more: Any) -> sf.Fit:
        settings = {"missing": "em", "weights": "w", "schema": self.schema, "unseen_parents": "uniform", **more}
        return sf.fit(self.dag, self.data, **settings)


@st.composite
def cases(draw: st.DrawFn, latent: bool = False, most: int = 5, rows: int = 30) -> Case:
    """Draw a network of up to ``most`` variables, tables, and rows of which some values are missing."""
    n = draw(st.integers(2, most))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [f"V{i}" for i in range(n)]
    parents = {
        name: chance.choice(i, size=chance.integers(0, min(i, 2) + 1), replace=False).tolist() if i else []
        for i, name in enumerate(names)
    }
    sizes = {name: int(chance.integers(2, 4)) for name in names}
    hidden = {names[0]: sizes[names[0]]} if latent else None
    dag = sf.DAG({name: [names[p] for p in above] for name, above in parents.items()}, latent=hidden)
    tables = {
        name: chance.dirichlet(np.ones(sizes[name]), [sizes[parent] for parent in dag.parents[name]]) for name in names
    }
    m = draw(st.integers(3, rows))
    codes = np.stack([chance.integers(0, sizes[name], m) for name in names], axis=1)
    codes[chance.random(codes.shape) < draw(st.sampled_from([0.1, 0.4, 0.8]))] = -1
    if latent:
        codes[:, 0] = -1
    return Case(dag, sizes, tables, codes, chance.integers(1, 4, m).astype(float))


def brute_force(case: Case, tables: dict[str, np.ndarray]) -> tuple[float, dict[str, np.ndarray]]:
    """Return the observed log-likelihood and the expected counts of every family, completion by completion."""
    names, expected = case.names, {node: np.zeros(tables[node].shape) for node in case.names}
    scopes = {node: [names.index(v) for v in (*case.dag.parents[node], node)] for node in names}
    log_likelihood = 0.0
    for row, weight in zip(case.rows.tolist(), case.weights.tolist(), strict=True):
        gaps = [v for v, code in enumerate(row) if code < 0]
        found = []
        for states in itertools.product(*(range(case.sizes[names[v]]) for v in gaps)):
            whole = list(row)
            for v, state in zip(gaps, states, strict=True):
                whole[v] = state
            cells = {node: tuple(whole[v] for v in scope) for node, scope in scopes.items()}
            found.append((cells, math.prod(tables[node][cell] for node, cell in cells.items())))
        total = sum(p for _, p in found)
        log_likelihood += weight * math.log(total)
        for cells, p in found:
            for node, cell in cells.items():
                expected[node][cell] += weight * p / total
    return log_likelihood, expected


def tables_of(model: sf.BayesianNetwork) -> dict[str, np.ndarray]:
    return {node: whole_values(model.cpd(node)) for node in model.dag.nodes}


def gradient(case: Case, model: sf.BayesianNetwork) -> float:
    """Return the largest derivative of the observed log-likelihood, a row, in the log-odds of the tables."""
    tables = tables_of(model)
    _, expected = brute_force(case, tables)
    return max(
        float(np.abs(m - m.sum(axis=-1, keepdims=True) * tables[node]).max()) / case.weights.sum()
        for node, m in expected.items()
    )
