"""Random log-linear models with random tables, and what follows from them by plain sums over all configurations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import suffice as sf

Floats = NDArray[np.float64]
Row = dict[str, Any]
Function = Callable[[Row], float]
KINDS: tuple[tuple[Any, ...], ...] = (("a", "b", "c"), (0, 1, 2), (-1, 1), (-2, 0, 3), (False, True), ("yes", "no"))


@dataclass(frozen=True, eq=False)
class Case:
    """Features, each beside a plain function of a row that does the same, and a table of counts."""

    specs: tuple[Any, ...]
    functions: dict[str, Function]
    states: dict[str, tuple[Any, ...]]
    table: Floats
    ties: dict[str, list[str]] = field(default_factory=dict)

    @property
    def structure(self) -> sf.Features:
        return sf.Features(list(self.specs), tie=self.ties, variables=list(self.states))

    @property
    def names(self) -> list[str]:
        return list(self.functions)

    @property
    def data(self) -> sf.Contingency:
        return sf.Contingency(self.table, {name: list(states) for name, states in self.states.items()})

    @property
    def total(self) -> float:
        return float(self.table.sum())

    def fit(self, **keywords: Any) -> sf.Fit:
        return sf.fit(self.structure, self.data, **keywords)

    @cached_property
    def rows(self) -> list[Row]:
        """Every configuration."""
        return [dict(zip(self.states, x, strict=True)) for x in itertools.product(*self.states.values())]

    @cached_property
    def values(self) -> Floats:
        """f of every configuration; shape (configurations, n_weights)."""
        return np.array([[float(f(row)) for f in self.functions.values()] for row in self.rows])

    @cached_property
    def targets(self) -> Floats:
        return self.values.T @ self.table.ravel() / self.total

    @cached_property
    def rank(self) -> int:
        """How many weights the features determine."""
        centred = self.values - self.values.mean(axis=0)
        return int(np.linalg.matrix_rank(centred, tol=1e-9 * max(1.0, float(np.abs(centred).max(initial=0.0)))))

    def joint_at(self, weights: Floats) -> Floats:
        return softmax(self.values @ weights)

    def joint(self, model: Any) -> Floats:
        """Return p of every configuration as the model gives it."""
        columns = {name: [row[name] for row in self.rows] for name in self.states}
        return np.asarray(np.exp(model.log_prob(columns)))

    def log_likelihood(self, p: Floats) -> float:
        seen = self.table.ravel() > 0
        return math.fsum(self.table.ravel()[seen] * np.log(p[seen]))

    @cached_property
    def support(self) -> NDArray[np.bool_]:
        """The configurations that some distribution with these means fills: max Σ v, A (v + w) = λ α, v ≤ 1."""
        from scipy.optimize import linprog

        a = np.vstack([self.values.T, np.ones(len(self.values))])
        t, n = a @ self.table.ravel() / self.total, a.shape[1]
        found = linprog(
            np.concatenate([-np.ones(n), np.zeros(n + 1)]),
            A_eq=np.hstack([a, a, -t[:, None]]),
            b_eq=np.zeros(len(t)),
            bounds=[(0, 1)] * n + [(0, None)] * (n + 1),
        )
        assert found.status == 0
        inside: NDArray[np.bool_] = found.x[:n] > 0.5
        return inside

    @cached_property
    def optimum(self) -> Floats:
        """p of the maximum-likelihood estimate, or its limit."""
        inside = self.support
        p = np.zeros(len(self.values))
        p[inside] = softmax(self.values[inside] @ matched(self.values[inside], self.targets))
        return p

    def penalised(self, prior: Any, main: NDArray[np.bool_] | None = None) -> Floats:
        """Return the weights of the posterior mode: under Laplace with the signs apart, w = u − v."""
        from scipy.optimize import minimize

        k, n = len(self.targets), self.total
        widths = np.full(k, float(prior.width))
        if main is not None and prior.main is not None:
            widths[main] = prior.main
        if isinstance(prior, sf.Gaussian):
            return matched(self.values, self.targets, 1 / widths**2 / n)

        def loss(uv: Floats) -> tuple[float, Floats]:
            w = uv[:k] - uv[k:]
            scores = self.values @ w
            log_z = float(np.logaddexp.reduce(scores))
            slope = self.values.T @ np.exp(scores - log_z) - self.targets
            price = 1 / widths / n
            return log_z - float(self.targets @ w) + float(price @ (uv[:k] + uv[k:])), np.concatenate(
                [slope + price, price - slope]
            )

        options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-11}
        best = minimize(loss, np.zeros(2 * k), jac=True, method="L-BFGS-B", bounds=[(0, None)] * 2 * k, options=options)
        return np.asarray(best.x[:k] - best.x[k:])


def softmax(scores: Floats) -> Floats:
    return np.asarray(np.exp(scores - np.logaddexp.reduce(scores)))


def matched(values: Floats, targets: Floats, precision: Floats | float = 0.0) -> Floats:
    """Return weights whose expectations are the targets, by damped Newton steps on the whole table."""

    def loss(w: Floats) -> float:
        scores = values @ w
        return float(np.logaddexp.reduce(scores) - targets @ w + 0.5 * np.sum(precision * w * w))

    w = np.zeros(values.shape[1])
    for _ in range(200):
        p = softmax(values @ w)
        mean = p @ values
        slope = mean - targets + precision * w
        if np.abs(slope).max(initial=0.0) < 1e-14:
            break
        hessian = (values - mean).T @ (p[:, None] * (values - mean)) + np.diag(np.broadcast_to(precision, w.shape))
        step = np.linalg.lstsq(hessian, slope, rcond=1e-13)[0]
        size = 1.0
        while loss(w - size * step) > loss(w) + 1e-15 and size > 1e-9:
            size /= 2
        w = w - size * step
    return w


# Drawing ------------------------------------------------------------------------------------------------------


def numeric(states: tuple[Any, ...]) -> bool:
    return not any(isinstance(state, str) for state in states)


def labels_and_types(states: tuple[Any, ...]) -> list[tuple[Any, type]]:
    """Return what makes states the same: Python holds (False,) equal to (0,)."""
    return [(state, type(state)) for state in states]


def matches(wanted: Row) -> Function:
    return lambda row: float(all(row[name] == label for name, label in wanted.items()))


def said(wanted: Row) -> str:
    return " & ".join(f"{name}={label}" for name, label in wanted.items())


@st.composite
def a_spec(draw: st.DrawFn, states: dict[str, tuple[Any, ...]]) -> tuple[Any, dict[str, Function]]:
    """Draw a specification, and the plain functions of its weights by name."""
    names = list(states)
    scope = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    numbers = [name for name in names if numeric(states[name])]
    alike = [name for name in names if labels_and_types(states[name]) == labels_and_types(states[names[0]])]
    kinds = ["indicator", "indicators", "function", "table"]
    kinds += ["product", "class product"] if numbers else []
    kinds += ["windows"] if len(alike) > 1 else []
    kind = draw(st.sampled_from(kinds))
    if kind == "indicator":
        wanted = {name: draw(st.sampled_from(states[name])) for name in scope}
        return sf.indicator(wanted), {said(wanted): matches(wanted)}
    if kind == "indicators":
        reference = draw(st.booleans())
        listed = [states[name][1 if reference else 0 :] for name in scope]
        wanteds = [dict(zip(scope, labels, strict=True)) for labels in itertools.product(*listed)]
        return sf.indicators(*scope, reference=reference), {said(w): matches(w) for w in wanteds}
    if kind in ("function", "table"):
        cells = list(itertools.product(*(states[name] for name in scope)))
        drawn = draw(st.lists(st.integers(-4, 6), min_size=len(cells), max_size=len(cells)))
        held = {cell: value / 2 for cell, value in zip(cells, drawn, strict=True)}
        name = f"g{draw(st.integers(0, 99))}"
        if kind == "table":
            held = {cell: value for cell, value in held.items() if value}
            spec = sf.feature(held, over=scope, name=name)
        else:
            spec = sf.feature(lambda *labels: held[labels], over=scope, name=name)
        return spec, {name: lambda row: held.get(tuple(row[n] for n in scope), 0.0)}
    if kind == "product":
        parts = draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=3))
        return sf.product(*parts), {"·".join(parts): lambda row: math.prod(float(row[n]) for n in parts)}
    if kind == "class product":
        number, other = draw(st.sampled_from(numbers)), draw(st.sampled_from(names))
        return sf.product(number, sf.indicators(other)), {
            f"{number}·({other}={label})": lambda row, label=label: float(row[number]) * (row[other] == label)
            for label in states[other]
        }
    return _windows(draw, alike, states[alike[0]])


def _windows(draw: st.DrawFn, over: list[str], labels: tuple[Any, ...]) -> tuple[Any, dict[str, Function]]:
    width = draw(st.integers(1, len(over)))
    if draw(st.booleans()):
        name = f"w{draw(st.integers(0, 99))}"
        return sf.windows(lambda *xs: sum(x == labels[0] for x in xs) ** 2, over=over, width=width, name=name), {
            name: lambda row: sum(
                sum(row[n] == labels[0] for n in over[at : at + width]) ** 2 for at in range(len(over) - width + 1)
            )
        }
    patterns = list(itertools.product(labels, repeat=width))
    short = all(isinstance(label, str) and len(label) == 1 for label in labels)

    def occurring(pattern: tuple[Any, ...]) -> Function:
        return lambda row: sum(
            tuple(row[n] for n in over[at : at + width]) == pattern for at in range(len(over) - width + 1)
        )

    return sf.windows(over=over, width=width), {
        ("" if short else " ").join(map(str, pattern)): occurring(pattern) for pattern in patterns
    }


@st.composite
def cases(draw: st.DrawFn, zeros: float = 0.0, max_variables: int = 4, ties: bool = True) -> Case:
    """Draw features of all kinds over 1–4 variables of 1–3 states, and counts without or with zeros."""
    n = draw(st.integers(1, max_variables))
    states = {}
    for number in range(n):
        kind = draw(st.sampled_from(KINDS))
        states[f"V{number}"] = kind[: draw(st.integers(1, len(kind)))] if draw(st.integers(0, 4)) == 0 else kind
    drawn = draw(st.lists(a_spec(states), min_size=1, max_size=4))
    specs, functions = [], dict[str, Function]()
    for spec, own in drawn:
        if own and not set(own) & set(functions):
            specs.append(spec)
            functions |= own
    if not specs:
        first = next(iter(states))
        wanted = {first: states[first][0]}
        specs, functions = [sf.indicator(wanted)], {said(wanted): matches(wanted)}
    tied: dict[str, list[str]] = {}
    if ties and len(functions) > 1 and draw(st.booleans()):
        members = draw(st.lists(st.sampled_from(list(functions)), min_size=2, max_size=3, unique=True))
        tied, functions = {"common": members}, _tied(functions, members)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.integers(1, 20, [len(s) for s in states.values()]) * 1.0
    if zeros:
        table *= rng.random(table.shape) > zeros
        if not table.any():
            table.flat[0] = 1.0
    return Case(tuple(specs), functions, states, table, tied)


def _tied(functions: dict[str, Function], members: list[str]) -> dict[str, Function]:
    held = [functions[name] for name in members]
    found: dict[str, Function] = {}
    for name, function in functions.items():
        if name == members[0]:
            found["common"] = lambda row: sum(f(row) for f in held)
        elif name not in members:
            found[name] = function
    return found
