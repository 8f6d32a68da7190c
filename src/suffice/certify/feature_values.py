"""Features evaluated anew: on rows and on whole tables, by their rules and never by the fitter's matrix."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.stats.needs import Count, Distinct, Sum
from suffice.stats.rows import Rows
from suffice.structures.feature_rules import Feature, Term
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.feature_design import FeatureModel
    from suffice.structures.features import Features

PROBES = 256
"""Tables of up to so many cells are evaluated everywhere."""


def data_moments(claim: Claim[Features, FeatureModel], features: Sequence[Feature]) -> tuple[Floats, Floats]:
    """Return the mean of every feature over the data, or as given by hand, and about its variance, term by term."""
    statistics = claim.statistics
    by_hand = Sum("features", len(features))
    if by_hand in statistics:
        means = np.asarray(statistics[by_hand].values, np.float64) / statistics.weight
        return means, np.abs(means)
    means, variance = np.zeros(len(features)), np.zeros(len(features))
    if not statistics.weight:
        return means, variance
    seen: dict[tuple[str, ...], tuple[dict[str, Any], Floats]] = {}
    for number, feature in enumerate(features):
        for term in feature.terms:
            if term.scope not in seen:
                seen[term.scope] = _rows(claim, term.scope)
            columns, weights = seen[term.scope]
            values = term.at(columns)
            mean = float(weights.dot(values)) / statistics.weight
            means[number] += mean
            variance[number] += float(weights.dot((values - mean) ** 2)) / statistics.weight
    return means, variance


def _rows(claim: Claim[Features, FeatureModel], scope: tuple[str, ...]) -> tuple[dict[str, Any], Floats]:
    """Return the configurations of a scope that occur, and how often."""
    statistics = claim.statistics
    if any(not statistics.schema[name].is_discrete for name in scope) or claim.structure.given:
        ordered = tuple(name for name in claim.structure.columns if name in scope)
        rows: Rows = statistics[Distinct(ordered)]
        return {v.name: column for v, column in zip(rows.variables, rows.columns, strict=True)}, rows.weights
    codes, counts = statistics[Count(scope)].nonzero()
    return dict(zip(scope, codes.T, strict=True)), np.asarray(counts, np.float64)


def on_grid(names: Sequence[str], sizes: Sequence[int], nodes: Mapping[str, Floats] | None = None) -> dict[str, Any]:
    """Return every configuration as columns: codes, or nodes of continuous variables."""
    index = np.unravel_index(np.arange(math.prod(sizes)), tuple(sizes))
    held = nodes or {}
    return {name: held[name][axis] if name in held else axis for name, axis in zip(names, index, strict=True)}


def term_table(term: Term, sizes: Mapping[str, int]) -> Floats:
    """Return a term's values over its own scope, as a table."""
    shape = tuple(sizes[name] for name in term.scope)
    return term.at(on_grid(term.scope, shape)).reshape(shape)


def sparse_values(term: Term, sizes: Mapping[str, int]) -> tuple[NDArray[np.int64], Floats]:
    """Return where a term is not zero, and its values there as its rule gives them on rows.

    Where it says it is not zero is looked up elsewhere, too, at some cells.
    """
    shape = tuple(sizes[name] for name in term.scope)
    n_cells = math.prod(shape)
    if n_cells <= PROBES:
        table = term_table(term, sizes).reshape(-1)
        places = np.flatnonzero(table)
        return places, table[places]
    places = np.sort(term.rule.cells(shape)[0])
    probes = np.linspace(0, n_cells - 1, PROBES).astype(np.int64)
    everywhere = np.union1d(places, probes)
    columns = np.unravel_index(everywhere, shape)
    values = term.at(dict(zip(term.scope, columns, strict=True)))
    held = values != 0
    return everywhere[held], values[held]


def matrix_at(features: Iterable[Feature], columns: Mapping[str, Any]) -> Floats:
    """Return f of every row; shape (n_rows, n_weights)."""
    return np.column_stack([feature.at(columns) for feature in features])
