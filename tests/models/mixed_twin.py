"""A slow twin of exact inference with continuous variables: all discrete configurations, plain normal formulas.

And random networks, with evidence and targets, to compare it with.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import suffice as sf
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD

LOG_2PI = float(np.log(2 * np.pi))


def log_normal(x: Any, mean: Any, covariance: Any) -> float:
    """Return log N(x; mean, covariance), by the determinant and the inverse."""
    if not len(x):
        return 0.0
    gap = np.asarray(x) - mean
    return float(-0.5 * (gap @ np.linalg.inv(covariance) @ gap + np.linalg.slogdet(covariance)[1] + len(x) * LOG_2PI))


class Twin:
    """Enumerates every configuration of every discrete variable of a network."""

    def __init__(self, network: sf.BayesianNetwork, given: Mapping[str, Any] | None = None) -> None:
        self.network = network
        self.discrete = [v for v in network.schema.variables if v.is_discrete]
        self.names = [v.name for v in network.schema.variables if not v.is_discrete]
        given = dict(given or {})
        self.values = {name: value for name, value in given.items() if name in self.names}
        self.states = {name: value for name, value in given.items() if name not in self.names}
        self.rest = [name for name in self.names if name not in self.values]
        self.cases = [self._case(labels) for labels in itertools.product(*(v.labels for v in self.discrete))]
        self.cases = [case for case in self.cases if case[1] > -np.inf]

    def _case(self, labels: Sequence[Any]) -> tuple[dict[str, Any], float, Any, Any]:
        """Return the states, log p(states, evidence), and mean and covariance of what was not observed."""
        states = {v.name: label for v, label in zip(self.discrete, labels, strict=True)}
        log_p = 0.0
        for name, seen in self.states.items():
            if isinstance(seen, Mapping):
                log_p += np.log(seen.get(states[name], 0.0)) if seen.get(states[name], 0.0) else -np.inf
            elif isinstance(seen, list):
                log_p += 0.0 if states[name] in seen else -np.inf
            else:
                log_p += 0.0 if states[name] == seen else -np.inf
        codes = {v.name: np.array([v.code(states[v.name])]) for v in self.discrete}
        for v in self.discrete:
            columns = dict(codes)
            cpd = self.network.cpd(v.name)
            columns |= {parent.name: np.array([self.values[parent.name]]) for parent in cpd.family.continuous}
            log_p += float(cpd.log_prob(columns)[0])
        mean, covariance = self._joint(codes)
        seen_at = [self.names.index(name) for name in self.values]
        rest_at = [self.names.index(name) for name in self.rest]
        observed = np.array(list(self.values.values()))
        inner = covariance[np.ix_(seen_at, seen_at)]
        log_p += log_normal(observed, mean[seen_at], inner)
        if not seen_at:
            return states, log_p, mean[rest_at], covariance[np.ix_(rest_at, rest_at)]
        gain = covariance[np.ix_(rest_at, seen_at)] @ np.linalg.inv(inner)
        moved = mean[rest_at] + gain @ (observed - mean[seen_at])
        return states, log_p, moved, covariance[np.ix_(rest_at, rest_at)] - gain @ covariance[np.ix_(seen_at, rest_at)]

    def _joint(self, codes: Mapping[str, Any]) -> tuple[Any, Any]:
        n = len(self.names)
        slopes, intercept, variance = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        for place, name in enumerate(self.names):
            cpd = self.network.cpd(name)
            row = 0
            for parent in cpd.family.discrete:
                row = row * parent.n_states + int(codes[parent.name][0])
            intercept[place], variance[place] = cpd.intercept[row], cpd.variance[row]
            for axis, parent in enumerate(cpd.family.continuous):
                slopes[place, self.names.index(parent.name)] = cpd.coefficients[row, axis]
        through = np.linalg.inv(np.eye(n) - slopes)
        return through @ intercept, through @ np.diag(variance) @ through.T

    # Answers --------------------------------------------------------------------------------------------------

    def log_evidence(self) -> float:
        return float(np.logaddexp.reduce([case[1] for case in self.cases])) if self.cases else -np.inf

    def weights(self) -> Any:
        return np.exp(np.array([case[1] for case in self.cases]) - self.log_evidence())

    def table(self, targets: Sequence[str]) -> Any:
        held = [next(v for v in self.discrete if v.name == name) for name in targets]
        table = np.zeros([v.n_states for v in held])
        for case, weight in zip(self.cases, self.weights(), strict=True):
            table[tuple(v.code(case[0][v.name]) for v in held)] += weight
        return table

    def moments(self, targets: Sequence[str], where: Mapping[str, Any] | None = None) -> tuple[Any, Any]:
        at = [self.rest.index(name) for name in targets]
        fits = [all(case[0][name] == label for name, label in (where or {}).items()) for case in self.cases]
        weights = self.weights() * fits
        weights = weights / weights.sum()
        mean = sum(w * case[2][at] for w, case in zip(weights, self.cases, strict=True))
        covariance = sum(
            w * (case[3][np.ix_(at, at)] + np.outer(case[2][at] - mean, case[2][at] - mean))
            for w, case in zip(weights, self.cases, strict=True)
        )
        return mean, covariance

    def log_density(self, targets: Sequence[str], x: Any) -> float:
        at = [self.rest.index(name) for name in targets]
        logs = [
            np.log(w) + log_normal(x, case[2][at], case[3][np.ix_(at, at)])
            for w, case in zip(self.weights(), self.cases, strict=True)
            if w > 0
        ]
        return float(np.logaddexp.reduce(logs))

    def greatest(self) -> tuple[float, dict[str, Any], Any]:
        """Return the greatest log-density, the states and the values that have it."""
        found = [(log_p + log_normal(mean, mean, cov), states, mean) for states, log_p, mean, cov in self.cases]
        return max(found, key=lambda case: case[0])


# Random networks ----------------------------------------------------------------------------------------------


@st.composite
def networks(draw: Any, max_discrete: int = 3, max_continuous: int = 4, zeros: bool = True) -> sf.BayesianNetwork:
    """Draw a small network: discrete nodes among themselves, continuous ones below both; names in a shuffled order."""
    n_discrete = draw(st.integers(0, max_discrete))
    n_continuous = draw(st.integers(1, max_continuous))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    states = {f"d{i}": [f"s{j}" for j in range(random.integers(2, 4))] for i in range(n_discrete)}
    names = [*states, *(f"x{i}" for i in range(n_continuous))]
    parents: dict[str, list[str]] = {}
    for place, name in enumerate(names):
        candidates = names[:place] if name.startswith("x") else names[: min(place, n_discrete)]
        parents[name] = [other for other in candidates if random.random() < 0.5][:4]
        random.shuffle(parents[name])
    shuffled = list(names)
    random.shuffle(shuffled)
    dag = sf.DAG({name: parents[name] for name in shuffled})
    variables = {n: sf.Variable(n, tuple(states[n]), True) if n in states else sf.Variable(n) for n in names}
    tables: dict[str, Any] = {}
    for name in names:
        family = sf_family(variables, name, parents[name])
        sizes = [variable.n_states for variable in family.discrete]
        if name in states:
            table = random.dirichlet(np.ones(len(states[name])), sizes)
            if zeros and random.random() < 0.3:
                table[..., 0] = 0.0
                table /= table.sum(axis=-1, keepdims=True)
            tables[name] = table
        else:
            n_rows = int(np.prod(sizes))
            tables[name] = LinearGaussianCPD(
                family,
                random.normal(0, 2, n_rows),
                random.normal(0, 1, (n_rows, len(family.continuous))),
                np.exp(random.normal(0, 1, n_rows)),
            )
    return sf.BayesianNetwork(dag, tables, schema={name: variables[name] for name in names})


def sf_family(variables: Mapping[str, sf.Variable], name: str, parents: Sequence[str]) -> Any:
    from suffice.models.cpds import NodeFamily

    return NodeFamily(variables[name], tuple(variables[parent] for parent in parents))


@st.composite
def questions(draw: Any, **options: Any) -> tuple[sf.BayesianNetwork, dict[str, Any], list[str]]:
    """Draw a network, evidence on some of its variables, and the variables without any, shuffled."""
    network = draw(networks(**options))
    given: dict[str, Any] = {}
    for variable in network.schema.variables:
        kind = draw(st.sampled_from(["none", "none", "hard", "soft"]))
        if kind == "none":
            continue
        if not variable.is_discrete:
            given[variable.name] = draw(st.floats(-4, 4))
        elif kind == "hard":
            given[variable.name] = draw(st.sampled_from(variable.labels))
        elif draw(st.booleans()):
            given[variable.name] = list(variable.labels[1:])
        else:
            weights = draw(st.lists(st.floats(0.1, 1), min_size=variable.n_states, max_size=variable.n_states))
            given[variable.name] = dict(zip(variable.labels, weights, strict=True))
    free = [v.name for v in network.schema.variables if v.name not in given]
    return network, given, draw(st.permutations(free))
