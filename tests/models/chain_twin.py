"""A slow, obvious twin of chains of labels: every labelling is written out, and features are entries of a dict."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.data.attributes import Attributes, LabelledSequences, Vocabulary, offsets_of
from suffice.data.sequence_positions import PositionTable
from suffice.data.variable import Variable
from suffice.models.chain_layout import ChainLayout, layout_of
from suffice.models.chain_model import ChainModel
from suffice.stats.chain_counts import ChainCount, ChainCounts
from suffice.stats.source import BlockSource
from suffice.structures.label_chain import LabelChain, LocalChain

Position = list[tuple[int, float]]
Feature = tuple[Any, ...]


@dataclass(frozen=True)
class Toy:
    """Sequences as lists of positions, each a list of attributes with values; the same for steps."""

    k: int
    states: list[list[Position]]
    labels: list[list[int]]
    steps: list[list[Position]] | None = None
    weights: list[float] | None = None
    n_attributes: int = 4
    n_step_attributes: int = 2
    unit: bool = False

    @property
    def variable(self) -> Variable:
        return Variable("label", tuple("abcdefghijklmnopqrstuvwxyz"[: self.k]))

    @property
    def sequences(self) -> LabelledSequences:
        codes = np.array([y for own in self.labels for y in own], np.int32)
        steps = None if self.steps is None else attributes(self.steps, self.n_step_attributes, self.unit)
        states = attributes(self.states, self.n_attributes, self.unit)
        return LabelledSequences(offsets_of(map(len, self.labels)), states, codes, steps)

    @property
    def table(self) -> PositionTable:
        return PositionTable(
            self.sequences, self.variable, None if self.weights is None else np.array(self.weights, float)
        )

    def structure(self, kind: type[LabelChain] = LabelChain, **options: Any) -> LabelChain:
        names = Vocabulary(tuple(f"x{a}" for a in range(self.n_attributes)))
        steps = None if self.steps is None else Vocabulary(tuple(f"z{a}" for a in range(self.n_step_attributes)))
        return kind(names, steps, **options)

    def counts(self, structure: LabelChain) -> ChainCounts:
        need = need_of(structure)
        counts: ChainCounts = BlockSource(self.table).gather([need])[need]
        return counts

    def layout(self, structure: LabelChain) -> ChainLayout:
        return layout_of(structure, self.counts(structure))

    def model(self, structure: LabelChain, seed: int = 0, size: float = 1.0) -> ChainModel:
        layout = self.layout(structure)
        weights = size * np.random.default_rng(seed).normal(size=layout.size)
        return ChainModel(structure, self.variable, layout, weights)

    def without_labels(self) -> LabelledSequences:
        return replace(self.sequences, labels=None)

    def weight(self, s: int) -> float:
        return 1.0 if self.weights is None else self.weights[s]


def attributes(rows: list[list[Position]], n: int, unit: bool) -> Attributes:
    flat = [position for own in rows for position in own]
    codes = np.array([code for position in flat for code, _ in position], np.int32)
    values = None if unit else np.array([value for position in flat for _, value in position], float)
    return Attributes(offsets_of(map(len, flat)), codes, values, n)


def need_of(structure: LabelChain) -> ChainCount:
    return ChainCount("label", len(structure.vocabulary), len(structure.step_vocabulary or ()))


# Features of a labelling --------------------------------------------------------------------------------------


def features_at(toy: Toy, s: int, t: int, before: int, now: int) -> Iterator[tuple[Feature, float]]:
    """Yield the features that a position has with its label and the one before it."""
    for a, value in toy.states[s][t]:
        yield ("state", a, now), value
    if t == 0:
        yield ("first", now), 1.0
    else:
        yield ("move", before, now), 1.0
        for a, value in toy.steps[s][t] if toy.steps else ():
            yield ("step", a, before, now), value
    if t == len(toy.states[s]) - 1:
        yield ("last", now), 1.0


def added_up(found: Iterable[tuple[Feature, float]]) -> dict[Feature, float]:
    """Return the sum of each feature's values."""
    total: Counter[Feature] = Counter()
    for key, value in found:
        total[key] += value  # type: ignore[assignment]
    return total


def features(toy: Toy, s: int, path: tuple[int, ...] | list[int]) -> dict[Feature, float]:
    steps = ((t, path[t - 1] if t else -1, now) for t, now in enumerate(path))
    return added_up(found for t, before, now in steps for found in features_at(toy, s, t, before, now))


def empirical(toy: Toy) -> dict[Feature, float]:
    total: Counter[Feature] = Counter()
    for s, path in enumerate(toy.labels):
        for key, value in features(toy, s, path).items():
            total[key] += value * toy.weight(s)  # type: ignore[assignment]
    return total


def named(layout: ChainLayout) -> list[Feature]:
    """Return the feature that each weight belongs to."""
    k = layout.n_labels
    keys: list[Feature] = []
    for a, (low, high) in enumerate(itertools.pairwise(layout.starts.tolist())):
        keys += [("state", a, int(y)) for y in layout.labels[low:high]]
    keys += [("move", int(pair) // k, int(pair) % k) for pair in layout.pairs]
    keys += [("first", y) for y in range(k)] if layout.has_start else []
    keys += [("last", y) for y in range(k)] if layout.has_end else []
    for a, (low, high) in enumerate(itertools.pairwise(layout.step_starts.tolist())):
        keys += [("step", a, int(pair) // k, int(pair) % k) for pair in layout.step_pairs[low:high]]
    return keys


# Probabilities ------------------------------------------------------------------------------------------------


def paths(toy: Toy, s: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(toy.k), repeat=len(toy.states[s])))


def log_probs(toy: Toy, s: int, weights: dict[Feature, float], local: bool) -> dict[tuple[int, ...], float]:
    """Return log p of every labelling of a sequence."""
    if local:
        return {path: local_log_prob(toy, s, path, weights) for path in paths(toy, s)}
    scores = {
        path: sum(weights.get(key, 0.0) * value for key, value in features(toy, s, path).items())
        for path in paths(toy, s)
    }
    total = log_sum(scores.values())
    return {path: score - total for path, score in scores.items()}


def local_log_prob(toy: Toy, s: int, path: tuple[int, ...] | list[int], weights: dict[Feature, float]) -> float:
    total = 0.0
    for t, now in enumerate(path):
        scores = [local_score(toy, s, t, path[t - 1] if t else -1, y, weights) for y in range(toy.k)]
        total += scores[now] - log_sum(scores)
    return total


def local_score(toy: Toy, s: int, t: int, before: int, now: int, weights: dict[Feature, float]) -> float:
    return sum(weights.get(key, 0.0) * value for key, value in features_at(toy, s, t, before, now))


def log_sum(scores: Any) -> float:
    values = list(scores)
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))


def expected(toy: Toy, weights: dict[Feature, float], local: bool) -> dict[Feature, float]:
    """Return the expected features, of a MEMM those given the labels before."""
    total: Counter[Feature] = Counter()
    for s, truth in enumerate(toy.labels):
        if local:
            for t in range(len(truth)):
                before = truth[t - 1] if t else -1
                scores = [local_score(toy, s, t, before, y, weights) for y in range(toy.k)]
                for y in range(toy.k):
                    p = math.exp(scores[y] - log_sum(scores)) * toy.weight(s)
                    for key, value in features_at(toy, s, t, before, y):
                        total[key] += value * p  # type: ignore[assignment]
            continue
        for path, log_p in log_probs(toy, s, weights, False).items():
            for key, value in features(toy, s, path).items():
                total[key] += value * math.exp(log_p) * toy.weight(s)  # type: ignore[assignment]
    return total


def loss(toy: Toy, layout: ChainLayout, weights: NDArray[np.float64], local: bool) -> tuple[float, Any]:
    """Return −Σ log p(y | x), and its derivatives by the weights of a layout."""
    keys = named(layout)
    held = dict(zip(keys, weights.tolist(), strict=True))
    value = -sum(toy.weight(s) * log_probs(toy, s, held, local)[tuple(y)] for s, y in enumerate(toy.labels))
    model, data = expected(toy, held, local), empirical(toy)
    return value, np.array([model.get(key, 0.0) - data.get(key, 0.0) for key in keys])


# Generated sequences ------------------------------------------------------------------------------------------


@st.composite
def toys(draw: Any, most: int = 4, longest: int = 5, *, weighted: bool | None = None) -> Toy:
    """Draw sequences, some of them empty or of one position, with attributes that may stand in a position twice."""
    k = draw(st.integers(1, most))
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=4))
    unit, stepped = draw(st.booleans()), draw(st.booleans())
    weighted = draw(st.booleans()) if weighted is None else weighted
    seed = draw(st.integers(0, 10_000))
    return toy_of(seed, k, lengths, unit=unit, stepped=stepped, weighted=weighted)


def toy_of(
    seed: int,
    k: int,
    lengths: list[int],
    *,
    unit: bool = True,
    stepped: bool = False,
    weighted: bool = False,
    n: int = 4,
) -> Toy:
    """Return random sequences of some lengths."""
    rng = np.random.default_rng(seed)

    def position(size: int) -> Position:
        found = rng.integers(0, size, rng.integers(0, 4))
        return [(int(a), 1.0 if unit else float(rng.choice([-1.5, 0.5, 1.0, 2.0]))) for a in found]

    states = [[position(n) for _ in range(length)] for length in lengths]
    steps = [[position(2) for _ in range(length)] for length in lengths] if stepped else None
    labels = [[int(y) for y in rng.integers(0, k, length)] for length in lengths]
    weights = [float(w) for w in rng.choice([0.0, 0.5, 1.0, 3.0], len(lengths))] if weighted else None
    return Toy(k, states, labels, steps, weights, n, 2, unit)


KINDS = st.sampled_from([LabelChain, LocalChain])
OPTIONS = st.fixed_dictionaries(
    {
        "states": st.sampled_from(["observed", "all"]),
        "transitions": st.sampled_from(["observed", "all"]),
        "boundaries": st.booleans(),
    }
)
