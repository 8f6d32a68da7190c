"""Proof of a chain of labels: expected features against those of the data, by recursions in log space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.chain_existence import attribute_without_maximum
from suffice.certify.chain_recursions import CELLS, SequenceBatch, batches, has_one_matrix
from suffice.certify.claim import Claim
from suffice.certify.elastic_decrement import ElasticCurvature, decrement_under, slopes_under
from suffice.data.attributes import Attributes, LabelledSequences
from suffice.data.block import Block
from suffice.models.chain_layout import ChainLayout
from suffice.models.chain_model import ChainModel
from suffice.models.chain_units import units_of
from suffice.optimise.decrement import Decrement
from suffice.priors.elastic import penalty_of
from suffice.stats.chain_counts import ChainCounts
from suffice.stats.needs import Count, Sum
from suffice.stats.sums import Sums
from suffice.types import Floats, Ints

if TYPE_CHECKING:
    from suffice.structures.label_chain import LabelChain

NAME = "chain proof"
ROUNDING = 1e-16
"""The relative error of a gradient."""
WORDS = {"yes": "", "no": ", which does not exist", "undecided": ", if there is one, which is undecided"}


@dataclass(frozen=True, eq=False)
class ChainRecount:
    """The task: Σ log p(y | x), features of the data minus those expected, their variances, and the labels' counts.

    Variances are added up as if positions were independent.
    """

    model: ChainModel

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        sequences, weights = _rows_of(block)
        layout, k = self.model.layout, self.model.label.n_states
        sums = [_ByWeight(layout, block.n_rows, power) for power in (1, 2)]
        log_likelihood = off = 0.0
        cells = k if has_one_matrix(self.model, sequences) else k * k
        for batch in batches(sequences, cells):
            own = SequenceBatch(self.model, sequences, batch, weights)
            found = own.measured()
            for number, labels in enumerate((found.apart, found.varied)):
                sums[number].add(sequences, own, labels, found.taken[number], found.each[number])
            log_likelihood, off = log_likelihood + found.log_likelihood, max(off, found.off)
        counts = np.bincount(np.asarray(sequences.labels), weights, minlength=k)
        # the largest of all blocks is at most the sum of all, which is small where each is
        gap, variance = (part.vector(sequences) for part in sums)
        whole = Sums(NAME, np.concatenate([[log_likelihood, off], gap, variance, counts]))
        return {whole.need: whole}

    def over(self, claim: Claim[LabelChain, ChainModel]) -> Recounted:
        """Return the sums over the data of a claim."""
        assert claim.source is not None
        size, k = self.model.layout.size, self.model.label.n_states
        sums = claim.source.reduce(self)[Sum(NAME, 2 + 2 * size + k)].values
        gap, variance, counts = np.split(sums[2:], [size, 2 * size])
        return Recounted(float(sums[0]), float(sums[1]), gap, variance, counts)


@dataclass(frozen=True, eq=False)
class ChainRecountAlong:
    """The task: derivatives of the expected features along directions, which are the Hessian times these.

    ``directions`` has the shape (n_weights, D).
    """

    model: ChainModel
    directions: Floats
    name: ClassVar[str] = "chain curvature"

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        sequences, weights = _rows_of(block)
        layout, k = self.model.layout, self.model.label.n_states
        longest = int(sequences.lengths.max(initial=1))
        n = max(min(CELLS // (longest * k * k), self.directions.shape[1]), 1)
        found = np.zeros(self.directions.shape)
        for low in range(0, self.directions.shape[1], n):
            some = self.directions[:, low : low + n]
            sums = [_ByWeight(layout, block.n_rows) for _ in some.T]
            for batch in batches(sequences, k * k * n):
                own = SequenceBatch(self.model, sequences, batch, weights)
                along = own.along(some)
                for number, part in enumerate(sums):
                    part.add(sequences, own, *(values[..., number] for values in along))
            found[:, low : low + n] = np.stack([part.vector(sequences) for part in sums], axis=1)
        whole = Sums(self.name, found.reshape(-1))
        return {whole.need: whole}

    def over(self, claim: Claim[LabelChain, ChainModel]) -> Floats:
        """Return the sums over the data of a claim; shape (n_weights, D)."""
        assert claim.source is not None
        sums = claim.source.reduce(self)[Sum(self.name, self.directions.size)].values
        return np.array(sums).reshape(self.directions.shape)


def _rows_of(block: Block) -> tuple[LabelledSequences, Floats]:
    """Return the sequences of a block, and the weights of their positions."""
    weights = np.ones(block.n_rows) if block.weights is None else np.asarray(block.weights, np.float64)
    return block.columns.sequences, weights  # type: ignore[attr-defined]


class _ByWeight:
    """Sums of a block by weight, from numbers by label and by step of its batches; values are to a power."""

    def __init__(self, layout: ChainLayout, n_rows: int, power: int = 1) -> None:
        self.layout, self.power, k = layout, power, layout.n_labels
        self.labels, self.taken, self.ends = np.zeros((n_rows, k)), np.zeros(k * k), np.zeros((2, k))
        self.steps = np.zeros(len(layout.step_pairs))

    def add(
        self, sequences: LabelledSequences, own: SequenceBatch, labels: Floats, taken: Floats, each: Floats
    ) -> None:
        """Add what a batch has: by label, by step, and by position and step where steps have attributes."""
        self.labels[own.place] = labels
        self.taken += taken
        self.ends += [labels[rows].sum(axis=0) for rows in (own.at[0], own.last)]
        if own.steps is not None:
            rows = sequences.steps.chosen(own.place)  # type: ignore[union-attr]
            self.steps += _sums_at(rows, each, self.layout.step_starts, self.layout.step_pairs, self.power)

    def vector(self, sequences: LabelledSequences) -> Floats:
        """Return the sums in the order of the weights."""
        layout = self.layout
        states = _sums_at(sequences.states, self.labels, layout.starts, layout.labels, self.power)
        first, last = self.ends[: int(layout.has_start)], self.ends[1 : 1 + int(layout.has_end)]
        return np.concatenate([states, self.taken[layout.pairs], *first, *last, self.steps])


class Recounted(NamedTuple):
    """What `ChainRecount` adds up; ``gap`` and ``variance`` are by weight, ``counts`` by label."""

    log_likelihood: float
    off: float
    gap: Floats
    variance: Floats
    counts: Floats


def _sums_at(rows: Attributes, values: Floats, starts: Ints, codes: NDArray[np.int32], power: int) -> Floats:
    """Return the cells of (x^power)ᵀ values that have a weight, x having the rows; all at once would be many."""
    found, n_weights = np.zeros(len(codes)), np.diff(starts)
    if not len(rows.codes):
        return found
    n = max(CELLS * rows.n_rows // max(int(n_weights[rows.codes].sum()), 1), 1)
    for low in range(0, rows.n_rows, n):
        part = rows.rows(low, min(low + n, rows.n_rows))
        own = n_weights[part.codes]
        ends = np.cumsum(own)
        weight = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts[part.codes] - ends + own, own)
        position = np.repeat(np.repeat(np.arange(low, low + part.n_rows), np.diff(part.starts)), own)
        added = values[position, codes[weight]]
        if part.values is not None:
            added *= np.repeat(part.values**power, own)
        found += np.bincount(weight, added, minlength=len(codes))
    return found


def certify(claim: Claim[LabelChain, ChainModel]) -> Certificate:
    """Measure the gradient of the conditional likelihood, and of the penalty."""
    model: ChainModel = claim.model
    k, size = model.label.n_states, model.layout.size
    assert claim.source is not None
    found = ChainRecount(model).over(claim)
    total, units = claim.statistics.weight or 1.0, units_of(claim.source, model.layout)
    penalty = penalty_of(claim.prior)
    left = slopes_under(penalty, model.weights, -found.gap)
    sizes = np.where(np.isnan(left), np.inf, np.abs(left)) / (total * units)
    worst = int(np.argmax(sizes)) if size else -1
    counted = np.asarray(claim.statistics[Count((model.label.name,))].table(), np.float64)
    apart = np.abs(found.counts - counted)
    decrement = _decrement(claim, found, units)
    penalised = penalty.c1 > 0 or penalty.c2 > 0
    boundary = "" if penalised else attribute_without_maximum(claim, _counts_of(claim))
    exists = "yes" if penalised else "no" if boundary else "undecided"
    kind = "posterior mode of the weights, given the inputs" if claim.prior else "maximum conditional likelihood"
    certificate = verdict(
        Measured(
            claim=kind + WORDS[exists],
            residual=float(sizes[worst]) if size else 0.0,
            worst=_weight(model, worst),
            log_likelihood=found.log_likelihood,
            normalisation=found.off,
            exists=exists,
            condition="the match of expected and observed features"
            + ("" if claim.prior is None else ", less the penalty's pull,"),
            data_gap=float(apart.max(initial=0.0)) / total,
            data_worst=f"the label {model.label.labels[int(np.argmax(apart))]!r}" if k else "",
            moment_gap=float(np.abs(found.gap).max(initial=0.0)) / total if claim.prior is None else None,
            boundary=boundary,
            rounding=1e-13 * total,
            decrement=decrement.size,
            decrement_worst=_weight(model, decrement.place if size else -1),
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )
    return certificate if exists != "no" or not certificate.ok else replace(certificate, verdict=_without(certificate))


def _weight(model: ChainModel, place: int) -> str:
    return "no weight" if place < 0 else model.layout.names(place, model.structure, model.label.labels)


def _decrement(claim: Claim[LabelChain, ChainModel], found: Recounted, units: Floats) -> Decrement:
    """Return how much a Newton step would gain."""
    model: ChainModel = claim.model
    sizes = model.layout.gathered(_in_size(_counts_of(claim)))  # of values of both signs, sums would say too little
    seen = sizes + np.abs(found.gap) + found.variance / units
    noise = ROUNDING * seen * max(1.0, float(np.abs(model.weights * units).max(initial=0.0)))
    cells = float(claim.statistics.n_read) * model.label.n_states**2
    curvature = ElasticCurvature(
        lambda directions: ChainRecountAlong(model, directions).over(claim), found.variance, cells
    )
    return decrement_under(penalty_of(claim.prior), model.weights, -found.gap, curvature, noise)


def _counts_of(claim: Claim[LabelChain, ChainModel]) -> ChainCounts:
    """Return the counts of the features, of which the statistics hold one."""
    return next(held for held in claim.statistics.values() if isinstance(held, ChainCounts))


def _in_size(counts: ChainCounts) -> ChainCounts:
    """Return the counts with sums of absolute values."""
    states, steps = (replace(pairs, sums=pairs.sizes) for pairs in (counts.states, counts.steps))
    return replace(counts, states=states, steps=steps)


def _without(certificate: Certificate) -> str:
    """Say first that there is no maximum, then what holds where the search ended."""
    return (
        f"The maximum conditional likelihood does not exist: {certificate.boundary}, and weights diverge; a penalty, "
        f"c2 > 0, keeps them finite. Where the search ended, expected and observed features match within "
        f"{certificate.gradient_norm:.2g} (tolerance {certificate.tol:g}), so that little is left to gain."
    )
