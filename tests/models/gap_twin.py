"""A slow twin of what models do with incomplete rows: every completion, one by one.

And random models to compare it with.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

import suffice as sf

Row = dict[str, Any]


@st.composite
def discrete_networks(draw: Any, n: int = 5) -> sf.BayesianNetwork:
    """Draw a network of discrete variables, with a few zeros, its nodes in a shuffled order."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [f"v{i}" for i in range(random.integers(1, n + 1))]
    states = {name: [f"s{j}" for j in range(random.integers(1, 4))] for name in names}
    parents = {name: [other for other in names[:place] if random.random() < 0.5] for place, name in enumerate(names)}
    tables = {}
    for name in names:
        table = random.dirichlet(np.ones(len(states[name])), [len(states[parent]) for parent in parents[name]])
        if len(states[name]) > 1 and random.random() < 0.3:
            table[..., 0] = 0.0
            table /= table.sum(axis=-1, keepdims=True)
        tables[name] = table
    shuffled = list(names)
    random.shuffle(shuffled)
    return sf.BayesianNetwork(sf.DAG({name: parents[name] for name in shuffled}), tables, schema=states)


@st.composite
def markov_networks(draw: Any, n: int = 5) -> sf.MarkovNetwork:
    """Draw a product of tables, which need not cover all variables, with a few zeros."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [f"v{i}" for i in range(random.integers(1, n + 1))]
    states = {name: [f"s{j}" for j in range(random.integers(1, 4))] for name in names}
    factors: list[Any] = [((), 0.5)]
    for _ in range(random.integers(0, 5)):
        scope = random.choice(names, random.integers(1, min(3, len(names)) + 1), replace=False).tolist()
        table = random.gamma(1.0, size=[len(states[name]) for name in scope])
        table.reshape(-1)[0] *= random.random() < 0.9
        factors.append((tuple(scope), table))
    if all(np.any(np.asarray(table) > 0) for _, table in factors):
        model = sf.MarkovNetwork(factors, schema=states)
        if any(np.isfinite(model.log_prob(row_of(case)))[0] for case in configurations(model)):
            return model
    return sf.MarkovNetwork([((names[0],), np.ones(len(states[names[0]])))], schema=states)


def row_of(case: Row) -> dict[str, list[Any]]:
    return {name: [value] for name, value in case.items()}


def configurations(model: Any) -> list[Row]:
    """Return all configurations of a discrete model."""
    variables = model.schema.variables
    product = itertools.product(*(variable.labels for variable in variables))
    return [dict(zip((v.name for v in variables), labels, strict=True)) for labels in product]


def completions(model: Any, row: Row) -> list[tuple[Row, float]]:
    """Return all completions of a row with their probabilities."""
    fitting = [case for case in configurations(model) if all(v is None or case[k] == v for k, v in row.items())]
    columns = {name: [case[name] for case in fitting] for name in model.schema}
    return list(zip(fitting, np.exp(model.log_prob(columns)).tolist(), strict=True))


@st.composite
def rows_of(draw: Any, model: Any, n: int = 6) -> list[Row]:
    """Draw rows of a model with gaps."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.3, 0.6, 1.0]))
    rows = []
    for _ in range(n):
        row = {v.name: random.choice(v.labels).item() for v in model.schema.variables}
        rows.append({name: None if random.random() < share else value for name, value in row.items()})
    return rows + rows[:2]


def columns_of(rows: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def column_rows(columns: dict[str, list[Any]]) -> list[Row]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
