"""The slow, obvious twin of hidden Markov chains: all paths of states, one by one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import suffice as sf
from suffice.models.cpds.tabular import TabularCPD


class Paths:
    """All paths through one sequence, with their probabilities; ``shown`` is p(x_t | k), shape (n, K)."""

    def __init__(self, initial: np.ndarray, transitions: np.ndarray, shown: np.ndarray) -> None:
        n, k = shown.shape
        self.n, self.k = n, k
        self.paths = list(itertools.product(range(k), repeat=n))
        self.p = np.array([self._joint(path, initial, transitions, shown) for path in self.paths])

    @staticmethod
    def _joint(path: tuple[int, ...], initial: np.ndarray, transitions: np.ndarray, shown: np.ndarray) -> float:
        p = 1.0
        for t, state in enumerate(path):
            p *= (initial[state] if t == 0 else transitions[path[t - 1], state]) * shown[t, state]
        return p

    @property
    def log_prob(self) -> float:
        with np.errstate(divide="ignore"):
            return float(np.log(self.p.sum()))

    def posteriors(self) -> np.ndarray:
        found = np.zeros((self.n, self.k))
        for path, p in zip(self.paths, self.p / self.p.sum(), strict=True):
            found[np.arange(self.n), list(path)] += p
        return found

    def pairs(self) -> np.ndarray:
        found = np.zeros((self.k, self.k))
        for path, p in zip(self.paths, self.p / self.p.sum(), strict=True):
            for i, j in itertools.pairwise(path):
                found[i, j] += p
        return found

    def best(self) -> list[int]:
        return list(self.paths[int(np.argmax(self.p))])


def shown_by(model: sf.HiddenMarkovModel, columns: dict[str, list[Any]], n: int) -> np.ndarray:
    """Return p(what each position shows | state) from the distributions' own numbers; None is missing."""
    found = np.ones((n, model.state.n_states))
    for name, values in columns.items():
        cpd = model.emission(name)
        for t, value in enumerate(values):
            if value is None:
                continue
            if isinstance(cpd, TabularCPD):
                found[t] *= cpd.values[:, cpd.family.child.code(value)]
            else:
                found[t] *= np.exp(-0.5 * ((value - cpd.intercept) / cpd.sd) ** 2) / (cpd.sd * np.sqrt(2 * np.pi))
    return found


def paths_of(model: sf.HiddenMarkovModel, columns: dict[str, list[Any]]) -> Paths:
    """Return all paths through one sequence under a model."""
    n = len(next(iter(columns.values())))
    return Paths(model.start.values[0], model.step.values, shown_by(model, columns, n))


def some_model(seed: int, k: int = 2, normal: bool = True) -> sf.HiddenMarkovModel:
    """Return a model at random: a discrete column x, and a continuous one y if wanted."""
    rng = np.random.default_rng(seed)
    schema: dict[str, Any] = {"x": ["a", "b", "c"]}
    emissions: dict[str, Any] = {"x": rng.dirichlet(np.ones(3), k)}
    if normal:
        schema["y"], emissions["y"] = None, {"mean": 2 * rng.normal(size=k), "sd": rng.uniform(0.5, 2, k)}
    chain = sf.MarkovChain(latent={"z": k}, variable=list(schema))
    return sf.HiddenMarkovModel.of(chain, schema, rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), k), emissions)
