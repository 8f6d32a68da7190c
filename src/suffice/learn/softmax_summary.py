"""What is known of the terms of a softmax regression before the search: how often, where and how wide they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.data.schema import Schema
from suffice.learn.softmax_design import SoftmaxDesign
from suffice.learn.softmax_passes import TermMoments, run
from suffice.models.basis import Linear
from suffice.stats.moments import Moments
from suffice.stats.needs import Count, Moment, Need
from suffice.stats.source import Source
from suffice.stats.statistics import Statistics
from suffice.structures.softmax_regression import SoftmaxClasses
from suffice.types import Floats

MOST_MOMENTS = 500
"""Terms up to which all of their products are collected."""
FAR_FROM_ZERO = 1e3
"""A column whose mean is so many spreads from zero is centred before its rows are multiplied, to keep its digits."""
CONSTANT = 64 * float(np.finfo(float).eps)
"""A column whose spread is less than this part of its mean does not vary but for rounding."""


@dataclass(frozen=True, eq=False)
class Summary:
    """What one pass tells of the terms.

    Attributes
    ----------
    counts : array, shape (K,)
        Rows of each class.
    means : array, shape (K, T)
        Means of the terms in each class.
    centre : array, shape (T,)
        Their means over all rows; zero when there is no intercept to take them up.
    scatter : array, shape (T, T) or (T,)
        Mean squares and products around ``centre``, or the squares alone where there are too many terms.
    """

    counts: Floats
    means: Floats
    centre: Floats
    scatter: Floats

    @property
    def shares(self) -> Floats:
        """The share of each class; shape (K,)."""
        return np.asarray(self.counts / self.counts.sum())

    @cached_property
    def squares(self) -> Floats:
        """Mean squares around the centre; shape (T,)."""
        return np.asarray(np.diag(self.scatter) if self.scatter.ndim == 2 else self.scatter)

    @cached_property
    def units(self) -> Floats:
        """The spread of every term, one for a term that is constant; shape (T,)."""
        return np.where(self.squares > 0, np.sqrt(np.maximum(self.squares, 0.0)), 1.0)

    @cached_property
    def correlations(self) -> Floats | None:
        """The scatter in the units of the terms; None where only squares are known; shape (T, T)."""
        return None if self.scatter.ndim == 1 else np.asarray(self.scatter / self.units / self.units[:, None])


def moment_need(structure: SoftmaxClasses, schema: Schema) -> Moment | None:
    """Return the request for the moments of continuous inputs in each class; None where there are none or too many."""
    xs = tuple(name for name in structure.inputs if not schema[name].is_discrete)
    return Moment(xs, (structure.target,)) if 0 < len(xs) <= MOST_MOMENTS else None


def needs(structure: SoftmaxClasses, schema: Schema) -> tuple[Need, ...]:
    """Return the counts of the classes, and the moments of the continuous inputs in each."""
    moments = moment_need(structure, schema)
    return (Count((structure.target,)),) if moments is None else (Count((structure.target,)), moments)


@dataclass(frozen=True, eq=False)
class InputMoments:
    """The moments of the continuous inputs, in each class and over all rows."""

    by_class: Moments
    together: Moments


def inputs_of(structure: SoftmaxClasses, statistics: Statistics) -> InputMoments | None:
    """Return the moments of the continuous inputs; None where they were not collected."""
    need = moment_need(structure, statistics.schema)
    return None if need is None else InputMoments(statistics[need], statistics[need].marginal(need.xs))


def centre_of(structure: SoftmaxClasses, known: InputMoments | None) -> dict[str, float]:
    """Return what inputs far from zero are taken less; nothing without an intercept, which would have to take it up."""
    if known is None or not structure.intercept:
        return {}
    moments = known.together
    spread = np.sqrt(np.diag(moments.scatter) / moments.weight)
    far = np.abs(moments.mean) > FAR_FROM_ZERO * spread
    return {name: float(m) for name, m, is_far in zip(moments.need.xs, moments.mean, far, strict=True) if is_far}


def summary_of(structure: SoftmaxClasses, design: SoftmaxDesign, known: InputMoments | None, source: Source) -> Summary:
    """Return the summary: from the moments where every term is an input, else by a pass over the terms."""
    if known is not None and all(isinstance(term, Linear) for term in design.terms):
        return _from_moments(structure, design, known)
    return _from_pass(structure, design, source)


def _from_moments(structure: SoftmaxClasses, design: SoftmaxDesign, known: InputMoments) -> Summary:
    by_class, together = known.by_class, known.together
    shift = np.array([design.centre.get(name, 0.0) for name in together.need.xs])
    mean, scatter = together.mean - shift, together.scatter / together.weight
    scatter = _without_rounding(scatter, together.mean)
    if not structure.intercept:
        mean, scatter = np.zeros_like(mean), scatter + np.outer(mean, mean)
    return Summary(np.asarray(by_class.weight), by_class.mean - shift, mean, scatter)


def _without_rounding(scatter: Floats, mean: Floats) -> Floats:
    """Return the scatter with columns that vary by rounding error only at zero."""
    constant = np.diag(scatter) <= (CONSTANT * np.abs(mean)) ** 2
    return np.where(constant | constant[:, None], 0.0, scatter)


def _from_pass(structure: SoftmaxClasses, design: SoftmaxDesign, source: Source) -> Summary:
    whole = design.n_terms <= MOST_MOMENTS
    counts, by_class, squares = run(source, TermMoments(design, whole))
    total = counts.sum()
    mean = by_class.sum(axis=0) / total
    means = by_class / np.where(counts > 0, counts, 1.0)[:, None]
    squares = squares / total
    if not structure.intercept:
        return Summary(counts, means, np.zeros(design.n_terms), squares)
    if not whole:
        around = squares - mean**2
        return Summary(counts, means, mean, np.where(around <= 1e-14 * squares, 0.0, around))
    around = squares - np.outer(mean, mean)
    constant = np.diag(around) <= 1e-14 * np.diag(squares)
    return Summary(counts, means, mean, np.where(constant | constant[:, None], 0.0, around))
