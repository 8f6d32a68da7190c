"""The weights of a chain of labels as tables: the largest of attributes and of transitions, and the whole matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np

from suffice.data.attributes import Vocabulary
from suffice.data.frame import to_native
from suffice.data.labelled import LabelledTable
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, require_choice, require_whole, shown
from suffice.models.chain_model import ChainModel
from suffice.result.fit import Fit
from suffice.text import fixed, html_table, plain_table, plural
from suffice.types import Array, Floats, Frame, Ints, Json
from suffice.values import Label

START, END = "(start)", "(end)"
"""What stands for the place before a sequence and for the one behind it."""
LARGEST = ("both", "positive", "negative", "size")
SHOWN_ROWS = 200


class ChainEstimator(Protocol):
    """An estimator that has the model of a chain of labels: `suffice.ChainCRF` or `suffice.MEMM`."""

    @property
    def model_(self) -> ChainModel:
        """The model, once it is fitted."""


ChainSource: TypeAlias = "ChainModel | ChainEstimator | Fit"


@dataclass(frozen=True, eq=False)
class TopWeights:
    """Some weights of a model, each with what it belongs to, from the largest to the smallest.

    Attributes
    ----------
    columns : tuple of str
        What a weight belongs to, such as ``("attribute", "label")``.
    keys : tuple of tuple
        These of every row.
    weights : array, shape (n_rows,)
    n_weights, n_zero : int
        How many weights the rows were chosen from, and how many of them are zero, which no row shows.

    Examples
    --------
    >>> print(TopWeights(("attribute", "label"), (("the", "NP"), ("ran", "NP")), np.array([1.5, -2.0]), 9, 4))
    attribute  label   weight
    ---------  -----  -------
    the        NP      1.5000
    ran        NP     -2.0000
    2 of 9 weights, 4 of which are zero
    """

    columns: tuple[str, ...]
    keys: tuple[tuple[Label, ...], ...] = field(repr=False)
    weights: Floats = field(repr=False)
    n_weights: int
    n_zero: int

    def __post_init__(self) -> None:
        weights = np.array(self.weights, np.float64)
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[Label, ...]]:
        """Go through the rows, each what a weight belongs to and the weight."""
        for key, weight in zip(self.keys, self.weights.tolist(), strict=True):
            yield (*key, weight)

    def to_dict(self) -> dict[str, Json]:
        """Return the rows as JSON-able data."""
        names = (*self.columns, "weight")
        rows = [dict(zip(names, row, strict=True)) for row in self]
        return {"weights": rows, "n_weights": self.n_weights, "n_zero": self.n_zero}

    def to_frame(self, backend: str | None = None) -> Frame:
        """Return a frame with one row a weight.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of them that is installed, unless named.
        """
        columns: dict[str, Array | Sequence[Label]] = {
            name: [key[j] for key in self.keys] for j, name in enumerate(self.columns)
        }
        return to_native({**columns, "weight": self.weights}, backend)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[*map(str, key), fixed(weight)] for key, weight in zip(self.keys, self.weights.tolist(), strict=True)]
        if len(rows) > SHOWN_ROWS:
            rows = [*rows[:SHOWN_ROWS], [f"… {len(rows) - SHOWN_ROWS:,} more rows", *[""] * len(self.columns)]]
        return [*self.columns, "weight"], rows, "<" * len(self.columns) + ">"

    @property
    def _foot(self) -> str:
        zero = f", {self.n_zero:,} of which are zero" if self.n_zero else ""
        return f"{len(self):,} of {plural(self.n_weights, 'weight')}{zero}"

    def __str__(self) -> str:
        return f"{plain_table(*self._cells())}\n{self._foot}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self._foot)


def state_table(model: ChainSource, n: int = 20, label: Label | None = None, *, largest: str = "both") -> TopWeights:
    """Return the largest weights of attributes with labels.

    Parameters
    ----------
    model : ChainModel, or a fit or estimator that has one
    n : int
        So many rows, or so many of either sign.
    label : label, optional
        Only weights of this label.
    largest : {"both", "positive", "negative", "size"}
        The ``n`` most positive and the ``n`` most negative weights, those of one sign, or the ``n`` largest in size.
        Weights that are zero are never among them.

    Returns
    -------
    TopWeights
        With the columns attribute, label and weight.
    """
    chain = chain_of(model)
    layout, labels = chain.layout, chain.label.labels
    weights = layout.state_weights(chain.weights)
    among = None if label is None else np.flatnonzero(layout.labels == chain.label.code(label))
    attributes = _named_by(layout.starts, chain.structure.vocabulary)
    return _top(
        ("attribute", "label"), weights, lambda at: (attributes(at), labels[layout.labels[at]]), n, largest, among
    )


def step_table(model: ChainSource, n: int = 20, *, largest: str = "both") -> TopWeights:
    """Return the largest weights of attributes of steps, which belong to both labels of a step.

    The parameters are those of `state_table`; the columns are attribute, from, to and weight.
    """
    chain = chain_of(model)
    layout, labels, k = chain.layout, chain.label.labels, chain.layout.n_labels
    attributes = _named_by(layout.step_starts, chain.structure.step_vocabulary or Vocabulary())

    def key(at: int) -> tuple[Label, ...]:
        pair = int(layout.step_pairs[at])
        return attributes(at), labels[pair // k], labels[pair % k]

    return _top(("attribute", "from", "to"), layout.step_weights(chain.weights), key, n, largest)


def transition_table(model: ChainSource, n: int = 20, *, largest: str = "both") -> TopWeights:
    """Return the largest weights of transitions, among them those of a sequence's ends where the model has them.

    The parameters are those of `state_table`; the columns are from, to and weight.
    """
    chain = chain_of(model)
    layout, k = chain.layout, chain.layout.n_labels
    labels = [*chain.label.labels, START, END]
    before, after = layout.pairs // k, layout.pairs % k
    weights = layout.transition_matrix(chain.weights)[before, after]
    every = np.arange(k)
    if layout.has_start:
        before, after = np.append(before, np.full(k, k)), np.append(after, every)
        weights = np.append(weights, layout.start(chain.weights))
    if layout.has_end:
        before, after = np.append(before, every), np.append(after, np.full(k, k + 1))
        weights = np.append(weights, layout.end(chain.weights))
    return _top(("from", "to"), weights, lambda at: (labels[before[at]], labels[after[at]]), n, largest)


def state_dict(model: ChainSource) -> dict[tuple[str, Label], float]:
    """Return the weights other than zero of attributes with labels, by (attribute, label)."""
    chain = chain_of(model)
    layout, labels, vocabulary = chain.layout, chain.label.labels, chain.structure.vocabulary
    attributes = np.repeat(np.arange(len(layout.starts) - 1), np.diff(layout.starts))
    weights = layout.state_weights(chain.weights)
    held = np.flatnonzero(weights)
    rows = zip(attributes[held].tolist(), layout.labels[held].tolist(), weights[held].tolist(), strict=True)
    return {(vocabulary.name(attribute), labels[label]): weight for attribute, label, weight in rows}


def transition_dict(model: ChainSource) -> dict[tuple[Label, Label], float]:
    """Return the weights other than zero of transitions, by (label, next label)."""
    chain = chain_of(model)
    labels, k = chain.label.labels, chain.layout.n_labels
    rows = zip(chain.layout.pairs.tolist(), chain.layout.transition_weights(chain.weights).tolist(), strict=True)
    return {(labels[pair // k], labels[pair % k]): weight for pair, weight in rows if weight}


def transition_matrix(model: ChainSource) -> LabelledTable:
    """Return the weights of all transitions, previous label by label; zero where there is none."""
    chain = chain_of(model)
    previous = Variable(f"previous {chain.label.name}", chain.label.states)
    return LabelledTable((previous, chain.label), chain.layout.transition_matrix(chain.weights), "weight")


def chain_of(source: ChainSource) -> ChainModel:
    """Return the model of a chain of labels, from itself, from a fit, or from an estimator."""
    found = source.model if isinstance(source, Fit) else getattr(source, "model_", source)
    if isinstance(found, ChainModel):
        return found
    raise ArgumentError(
        f"The 'model' argument must be a fitted chain of labels, as sf.ChainCRF and sf.MEMM are after fit(X, y). Got "
        f"{shown(source)} instead."
    )


def _named_by(starts: Ints, vocabulary: Vocabulary) -> Callable[[int], str]:
    """Return what says the attribute of a weight."""
    return lambda at: vocabulary.name(int(np.searchsorted(starts, at, "right")) - 1)


def _top(
    columns: tuple[str, ...],
    weights: Floats,
    key: Callable[[int], tuple[Label, ...]],
    n: int,
    largest: str,
    among: Ints | None = None,
) -> TopWeights:
    """Choose rows; of equal weights, those that come first."""
    n = require_whole("n", n, 1)
    require_choice("largest", largest, LARGEST)
    places = np.arange(len(weights)) if among is None else among
    values = weights[places]
    n_positive, n_negative = int((values > 0).sum()), int((values < 0).sum())
    parts = {
        "positive": _smallest(-values, min(n, n_positive)),
        "negative": _smallest(values, min(n, n_negative)),
        "size": _smallest(-np.abs(values), min(n, n_positive + n_negative)),
    }
    chosen = np.concatenate([parts["positive"], parts["negative"]]) if largest == "both" else parts[largest]
    picked = places[chosen[np.lexsort((chosen, -values[chosen]))]]
    keys = tuple(key(int(at)) for at in picked)
    return TopWeights(columns, keys, weights[picked], len(values), len(values) - n_positive - n_negative)


def _smallest(values: Floats, n: int) -> Ints:
    return np.argsort(values, kind="stable")[:n]
