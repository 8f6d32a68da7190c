"""Tables for naive Bayes with and without gaps, and its twin in plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from suffice.structures.naive import Naive

KINDS = {"colour": "categorical", "wet": "bernoulli", "size": "gaussian", "age": "tied_gaussian"}
NAMES = tuple(KINDS)
CLASSES = ("a", "b", "c")
COLOURS = ("blue", "green", "red")
SCHEMA = {"colour": COLOURS, "wet": ("no", "yes"), "y": CLASSES}
Row = dict[str, Any]


@st.composite
def tables(draw: st.DrawFn, gaps: bool = False, most: int = 20) -> list[Row]:
    """Rows in which every class has two different values of every column of numbers, and one of every other."""
    numbers = st.integers(-20, 20).map(lambda value: value / 4)
    cells = {
        "colour": st.sampled_from(COLOURS),
        "wet": st.sampled_from(("no", "yes")),
        "size": numbers,
        "age": numbers,
    }
    one = {name: st.none() | values if gaps else values for name, values in cells.items()}
    rows = draw(st.lists(st.fixed_dictionaries({**one, "y": st.sampled_from(CLASSES)}), max_size=most))
    for label in CLASSES:
        low, high = draw(numbers), draw(st.integers(1, 9))
        rows.append({"colour": "red", "wet": "no", "size": low, "age": low, "y": label})
        rows.append({"colour": "blue", "wet": "yes", "size": low + high, "age": low + high, "y": label})
    return draw(st.permutations(rows))


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return rows as a dict of columns."""
    return {name: [row[name] for row in rows] for name in (*NAMES, "y")}


def structure(**options: Any) -> Naive:
    """Return naive Bayes of these tables."""
    return Naive("y", NAMES, kinds=KINDS, **options)


# The twin -----------------------------------------------------------------------------------------------------


def twin(rows: Sequence[Row], weights: Sequence[float] | None = None, pseudo: float = 0.0) -> dict[str, Any]:
    """Fit by loops over rows, each column from the rows that have it."""
    w = [1.0] * len(rows) if weights is None else list(weights)
    total = {label: sum(v for row, v in zip(rows, w, strict=True) if row["y"] == label) for label in CLASSES}
    found: dict[str, Any] = {"y": {label: total[label] / sum(w) for label in CLASSES}}
    for name in NAMES:
        has = [(row, v) for row, v in zip(rows, w, strict=True) if row[name] is not None]
        if name in SCHEMA:
            found[name] = _table(has, name, pseudo)
        else:
            found[name] = _normal(has, name, KINDS[name] == "tied_gaussian")
    return found


def _table(has: list[tuple[Row, float]], name: str, pseudo: float) -> dict[Any, float]:
    cells: dict[Any, float] = {}
    for label in CLASSES:
        seen = {
            state: pseudo + sum(v for row, v in has if (row["y"], row[name]) == (label, state))
            for state in SCHEMA[name]
        }
        cells |= {(label, state): m / sum(seen.values()) for state, m in seen.items()}
    return cells


def _normal(has: list[tuple[Row, float]], name: str, tied: bool) -> dict[str, tuple[float, float]]:
    squares, weight, mean = {}, {}, {}
    for label in CLASSES:
        mine = [(row[name], v) for row, v in has if row["y"] == label]
        weight[label] = math.fsum(v for _, v in mine)
        mean[label] = math.fsum(v * x for x, v in mine) / weight[label]
        squares[label] = math.fsum(v * (x - mean[label]) ** 2 for x, v in mine)
    if tied:
        shared = sum(squares.values()) / sum(weight.values())
        return {label: (mean[label], shared) for label in CLASSES}
    return {label: (mean[label], squares[label] / weight[label]) for label in CLASSES}


def log_joint(model: Mapping[str, Any], row: Row, label: str) -> float:
    """Return log p(y, x) of one row, missing inputs left out."""
    total = math.log(model["y"][label]) if model["y"][label] > 0 else -math.inf
    for name in NAMES:
        if row.get(name) is None:
            continue
        if name in SCHEMA:
            p = model[name][label, row[name]]
            total += math.log(p) if p > 0 else -math.inf
        else:
            mean, v = model[name][label]
            total -= 0.5 * (math.log(2 * math.pi * v) + (row[name] - mean) ** 2 / v)
    return total


def posterior(model: Mapping[str, Any], row: Row) -> list[float]:
    """Return p(y | x) of one row."""
    scores = [log_joint(model, row, label) for label in CLASSES]
    top = max(scores)
    terms = [math.exp(score - top) for score in scores]
    return [term / math.fsum(terms) for term in terms]
