"""ChainCounts: how often attributes and labels meet in labelled sequences, and labels follow one another.

These are the empirical expectations of a chain's features: all that its labels say, given the attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.attributes import Attributes, ends_of
from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.sequence_positions import SequenceColumns
from suffice.data.variable import Variable, unite
from suffice.errors import StatisticsError
from suffice.stats.counts import require_factor
from suffice.stats.needs import NeedFor
from suffice.stats.notebook import chain_cells
from suffice.text import html_table
from suffice.types import Array, Bools, Codes, Entry, Floats, Ints, JsonObject

MANY = 4
"""Where there are at most so many possible keys for one that is counted, all of them have a place in a table."""


@dataclass(frozen=True)
class ChainCount(NeedFor["ChainCounts"]):
    """Counts of the features of labelled sequences over a vocabulary of ``n_attributes``.

    ``names`` tells vocabularies of one size apart.

    >>> ChainCount("label", 3)
    ChainCount(label='label', n_attributes=3, n_step_attributes=0, names='')
    """

    kind: ClassVar[str] = "chain"
    label: str
    n_attributes: int
    n_step_attributes: int = 0
    names: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The labels."""
        return (self.label,)

    def to_dict(self) -> JsonObject:
        """Return the need as JSON-able data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Entry) -> ChainCount:
        """Rebuild the need from `to_dict`'s data."""
        sizes = int(entry["n_attributes"]), int(entry["n_step_attributes"])
        return cls(str(entry["label"]), *sizes, str(entry["names"]))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sums of values by pairs of codes (attribute, label), of those that occur, in order.

    ``keys`` are attribute · n + label; ``sizes`` are the sums of absolute values, and ``sums`` those of the values.
    """

    n: int
    keys: NDArray[np.int64]
    sums: Floats = field(repr=False)
    sizes: Floats = field(repr=False)

    def __post_init__(self) -> None:
        _freeze(self, keys=self.keys, sums=self.sums, sizes=self.sizes)

    @classmethod
    def of(cls, n: int, keys: Codes, sums: Floats | None, sizes: Floats | None) -> Pairs:
        """Add up what has the same key; without values, count."""
        if len(keys) and int(keys.max()) < MANY * len(keys):  # a table of all keys, many of them in use, is quick
            counts = np.bincount(keys)
            distinct = np.flatnonzero(counts)
            if sums is None:
                whole = counts[distinct].astype(np.float64)
                return cls(n, distinct, whole, whole)
            added = (np.bincount(keys, values)[distinct].astype(np.float64) for values in (sums, sizes))
            return cls(n, distinct, *added)
        distinct, where = np.unique(keys.astype(np.int64), return_inverse=True)
        summed = np.bincount(where, sums, minlength=len(distinct)).astype(np.float64)
        sized = summed if sums is None else np.bincount(where, sizes, minlength=len(distinct)).astype(np.float64)
        return cls(n, distinct, summed, sized)

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs.of(
            self.n,
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.sums, other.sums]),
            np.concatenate([self.sizes, other.sizes]),
        )

    def scaled(self, factor: float) -> Pairs:
        """Return the sums multiplied by a factor; times zero, none are left."""
        if not factor:
            return no_pairs(self.n)
        return Pairs(self.n, self.keys, self.sums * factor, self.sizes * factor)

    def recoded(self, n: int, codes: NDArray[np.int64]) -> Pairs:
        """Return the same sums with second codes replaced, of which there are now ``n``."""
        return Pairs.of(n, self.keys // self.n * n + codes[self.keys % self.n], self.sums, self.sizes)


def no_pairs(n: int) -> Pairs:
    """Return the sums of nothing."""
    return Pairs(n, np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class ChainCounts:
    """What labelled sequences say of a chain's features.

    Attributes
    ----------
    need : ChainCount
    variable : Variable
        The labels, K of them.
    states : Pairs
        Of attribute and label.
    steps : Pairs
        Of step attribute and two labels, as previous · K + current.
    transitions : array, shape (K, K)
    first, last : array, shape (K,)
        How often sequences begin, and end, with each label.
    """

    need: ChainCount
    variable: Variable
    states: Pairs
    steps: Pairs
    transitions: Floats
    first: Floats
    last: Floats

    def __post_init__(self) -> None:
        _freeze(self, transitions=self.transitions, first=self.first, last=self.last)

    def _repr_html_(self) -> str:
        return html_table(*chain_cells(self))

    def __add__(self, other: ChainCounts) -> ChainCounts:
        if not isinstance(other, ChainCounts):
            return NotImplemented
        if self.need != other.need:
            raise StatisticsError(
                f"The counts {self.need} and {other.need} cannot be added. Count both over one vocabulary and "
                "one name of the labels."
            )
        if self.variable != other.variable:
            schema = Schema((unite(self.variable, other.variable),))
            return self.reindexed(schema) + other.reindexed(schema)
        return ChainCounts(
            self.need,
            self.variable,
            self.states + other.states,
            self.steps + other.steps,
            self.transitions + other.transitions,
            self.first + other.first,
            self.last + other.last,
        )

    def scaled(self, factor: float) -> ChainCounts:
        """Return the counts multiplied by ``factor`` ≥ 0."""
        by = require_factor(factor)
        arrays = (self.transitions * by, self.first * by, self.last * by)
        return ChainCounts(self.need, self.variable, self.states.scaled(by), self.steps.scaled(by), *arrays)

    def reindexed(self, schema: Schema) -> ChainCounts:
        """Return the counts over a schema with at least these labels."""
        new = schema[self.variable.name]
        if new == self.variable:
            return self
        return self._moved(new, np.array([new.code(state) for state in self.variable.states or ()], np.int64))

    def recoded(self, schema: Schema, recoding: Mapping[str, Codes]) -> ChainCounts:
        """Return the counts with labels in another order."""
        new = schema[self.variable.name]
        codes = recoding.get(self.variable.name)
        return self.reindexed(schema) if codes is None else self._moved(new, np.asarray(codes, np.int64))

    def _moved(self, new: Variable, codes: NDArray[np.int64]) -> ChainCounts:
        k, old = new.n_states, self.variable.n_states
        transitions, first, last = np.zeros((k, k)), np.zeros(k), np.zeros(k)
        transitions[np.ix_(codes, codes)] = self.transitions
        first[codes], last[codes] = self.first, self.last
        pairs = np.arange(old * old)
        steps = self.steps.recoded(k * k, codes[pairs // max(old, 1)] * k + codes[pairs % max(old, 1)])
        return ChainCounts(self.need, new, self.states.recoded(k, codes), steps, transitions, first, last)

    def renamed(self, variables: Mapping[str, Variable]) -> ChainCounts:
        """Return the same counts under another name of the labels."""
        new = variables.get(self.variable.name, self.variable)
        need = replace(self.need, label=new.name)
        return ChainCounts(need, new, self.states, self.steps, self.transitions, self.first, self.last)

    def to_arrays(self) -> dict[str, Array]:
        """Return the numbers as named arrays."""
        arrays: dict[str, Array] = {"transitions": self.transitions, "first": self.first, "last": self.last}
        for name, pairs, n_labels in (("states", self.states, 1), ("steps", self.steps, 2)):
            codes = _apart(pairs.keys, self.variable.n_states, n_labels)
            arrays |= {f"{name}_codes": codes, f"{name}_sums": pairs.sums, f"{name}_sizes": pairs.sizes}
        return arrays

    @classmethod
    def from_arrays(cls, need: ChainCount, schema: Schema, arrays: Mapping[str, Array]) -> ChainCounts:
        """Rebuild from `to_arrays`."""
        variable = schema[need.label]
        k = variable.n_states

        def pairs(name: str, n: int) -> Pairs:
            sums = (np.asarray(arrays[f"{name}_{part}"], np.float64) for part in ("sums", "sizes"))
            return Pairs(n, _together(arrays[f"{name}_codes"], k), *sums)

        parts = (np.asarray(arrays[name], np.float64) for name in ("transitions", "first", "last"))
        return cls(need, variable, pairs("states", k), pairs("steps", k * k), *parts)

    @classmethod
    def zero(cls, need: ChainCount, schema: Schema) -> ChainCounts:
        """Return the counts of no sequences."""
        k = schema[need.label].n_states
        return cls(need, schema[need.label], no_pairs(k), no_pairs(k * k), np.zeros((k, k)), np.zeros(k), np.zeros(k))


def _freeze(holder: Pairs | ChainCounts, **arrays: Array) -> None:
    """Replace arrays by views that cannot be written to."""
    for name, array in arrays.items():
        view = array.view()
        view.flags.writeable = False
        object.__setattr__(holder, name, view)


def _apart(keys: NDArray[np.int64], k: int, n_labels: int) -> NDArray[np.int64]:
    """Return the attribute, and one label or two, that a key stands for: what does not depend on how many there are."""
    codes: list[NDArray[np.int64]] = []
    for _ in range(n_labels):
        keys, label = np.divmod(keys, max(k, 1))
        codes.insert(0, label)
    return np.stack([keys, *codes])


def _together(codes: Codes, k: int) -> NDArray[np.int64]:
    rows: list[NDArray[np.int64]] = list(np.asarray(codes, np.int64))
    keys = rows[0]
    for label in rows[1:]:
        keys = keys * k + label
    return keys


def count_chains(needs: Sequence[ChainCount], block: Block) -> dict[ChainCount, ChainCounts]:
    """Count the features of one block of sequences."""
    return {need: _counted(need, block) for need in needs}


def _counted(need: ChainCount, block: Block) -> ChainCounts:
    assert isinstance(block.columns, SequenceColumns)
    sequences = block.columns.sequences
    variable = block.schema[need.label]
    k, labels = variable.n_states, np.asarray(sequences.labels, np.int64)
    weights = None if block.weights is None else np.asarray(block.weights, np.float64)
    begins, ends = ends_of(sequences.offsets)
    inner = np.ones(len(labels), bool)
    inner[begins] = False
    pairs = np.zeros(len(labels), np.int64)
    pairs[1:] = labels[:-1] * k + labels[1:]

    def count(codes: NDArray[np.int64], which: Ints | Bools, size: int) -> Floats:
        picked = None if weights is None else weights[which]
        return np.bincount(codes[which], picked, minlength=size).astype(np.float64)

    steps = sequences.steps
    of_steps = no_pairs(k * k)
    if steps is not None:
        of_steps = _pairs(k * k, steps, pairs, inner.astype(np.float64) if weights is None else inner * weights)
    return ChainCounts(
        need,
        variable,
        _pairs(k, sequences.states, labels, weights),
        of_steps,
        count(pairs, inner, k * k).reshape(k, k),
        count(labels, begins, k),
        count(labels, ends, k),
    )


def _pairs(n: int, rows: Attributes, second: NDArray[np.int64], weights: Floats | None) -> Pairs:
    lengths = np.diff(rows.starts)
    kind = np.int32 if rows.n_attributes * n < 2**31 else np.int64  # half of the memory, where that is enough
    keys: Codes = rows.codes.astype(kind)
    keys *= n
    keys += np.repeat(second.astype(kind), lengths)
    if weights is None:
        return Pairs.of(n, keys, rows.values, None if rows.values is None else np.abs(rows.values))
    repeated = np.repeat(weights, lengths)
    some = repeated > 0
    values: Floats = (repeated if rows.values is None else rows.values * repeated)[some]
    return Pairs.of(n, keys[some], values, np.abs(values))
