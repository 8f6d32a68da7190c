"""A log-linear model looked at anew: by all its configurations while these are few, else along another tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.claim import Claim
from suffice.certify.cliques import other_tree
from suffice.certify.feature_values import data_moments, matrix_at, on_grid, sparse_values
from suffice.errors import ModelError
from suffice.inference.clique_family import FamilyPoint, Layout
from suffice.inference.feature_extents import extents, variances, widest
from suffice.models.clique_layout import factors_over
from suffice.stats.needs import Count
from suffice.structures.feature_rules import Feature
from suffice.types import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from suffice.models.log_linear import LogLinear
    from suffice.structures.features import Features

MOST_NUMBERS = 20_000_000
"""Tables of all features at all configurations are written out up to this size."""


def member_of(claim: Claim[Features, LogLinear], features: Sequence[Feature], weights: Floats) -> Enumerated | ByTree:
    """Return the model in the form that its size allows."""
    sizes = tuple(claim.statistics.schema[name].n_states for name in claim.structure.variables)
    small = math.prod(sizes) * max(len(features), len(sizes), 1) <= MOST_NUMBERS and len(sizes) <= 60
    return (Enumerated if small else ByTree)(claim, tuple(features), sizes, weights)


class Enumerated:
    """A model by all its configurations."""

    def __init__(
        self, claim: Claim[Features, LogLinear], features: tuple[Feature, ...], sizes: tuple[int, ...], weights: Floats
    ) -> None:
        self.claim, self.features, self.sizes, self.weights = claim, features, sizes, weights
        self.names: tuple[str, ...] = claim.structure.variables

    @cached_property
    def values(self) -> Floats:
        """f(x) of every configuration; shape (configurations, n_weights)."""
        return matrix_at(self.features, on_grid(self.names, self.sizes))

    def log_tables(self, tables: Sequence[Any]) -> Floats:
        """Return the logarithm of a product of tables at every configuration."""
        index, place = np.unravel_index(np.arange(math.prod(self.sizes)), self.sizes), list(self.names)
        total = np.zeros(math.prod(self.sizes))
        with np.errstate(divide="ignore"):
            for table in tables:
                total += np.log(table.values[tuple(index[place.index(name)] for name in table.names)])
        return total

    @cached_property
    def log_base(self) -> Floats:
        """Log h of every configuration, supports included."""
        return self.log_tables((*self.claim.model.base, *self.claim.model.support))

    @cached_property
    def possible(self) -> NDArray[np.intp]:
        """The configurations that the base measure allows."""
        return np.flatnonzero(np.isfinite(self.log_tables(self.claim.base)))

    @cached_property
    def joint(self) -> tuple[Floats, float]:
        """p(x) of every configuration, and log Z."""
        log_p = self.values @ self.weights + self.log_base
        top = float(log_p.max())
        p = np.exp(log_p - top)
        return p / p.sum(), top + math.log(float(p.sum()))

    @property
    def log_z(self) -> float:
        """The logarithm of Z."""
        return self.joint[1]

    @cached_property
    def expected(self) -> Floats:
        """The expectations of the features."""
        return np.asarray(self.joint[0] @ self.values, np.float64)

    @property
    def size(self) -> Floats:
        """The expectations of the features' absolute values."""
        return np.asarray(self.joint[0] @ np.abs(self.values), np.float64)

    @cached_property
    def spread(self) -> Floats:
        """The largest minus the least value of each feature."""
        return np.asarray(self.values.max(axis=0) - self.values.min(axis=0), np.float64)

    @property
    def unit(self) -> Floats:
        """The range of each feature."""
        return self.spread

    @cached_property
    def normalisation(self) -> float:
        """How far the model's own probabilities of the first configurations are from those found here."""
        rows = np.arange(min(len(self.values), 4096))
        columns = on_grid(self.names, self.sizes)
        try:
            own = self.claim.model.log_prob_of({name: column[rows] for name, column in columns.items()}, len(rows))
        except ModelError:  # its tables left the range of floats
            return math.inf
        return float(np.abs(np.exp(own) - self.joint[0][rows]).max(initial=0.0))

    def curvature(self, direction: Floats) -> Floats:
        """Return Cov(f) · direction."""
        along, p = self.values @ direction, self.joint[0]
        return np.asarray((p * (along - float(p.dot(along)))) @ self.values, np.float64)

    def moments(self) -> tuple[Floats, Floats]:
        """Return the means of the features over the data, and about their variances."""
        return data_moments(self.claim, self.features)

    @property
    def log_base_total(self) -> float | None:
        """The logarithm of Σ h."""
        held = self.log_tables(self.claim.base)
        top = float(held.max())
        return top + math.log(float(np.exp(held - top).sum()))

    @property
    def entropy(self) -> float | None:
        """−Σ p log p."""
        held = self.joint[0][self.joint[0] > 0]
        return -float((held * np.log(held)).sum())


class ByTree:
    """A model along an elimination order that the fitter did not use."""

    def __init__(
        self, claim: Claim[Features, LogLinear], features: tuple[Feature, ...], sizes: tuple[int, ...], weights: Floats
    ) -> None:
        self.claim, self.features, self.sizes, self.weights = claim, features, sizes, weights
        self.names: tuple[str, ...] = claim.structure.variables

    @cached_property
    def layout(self) -> Layout:
        """The scopes of the features' terms, as tables."""
        place = {name: position for position, name in enumerate(self.names)}
        scopes = dict.fromkeys(tuple(place[n] for n in term.scope) for f in self.features for term in f.terms)
        return Layout(self.sizes, tuple(scopes))

    @cached_property
    def matrix(self) -> csr_array:
        """From weights to the log-potentials of all scopes, every value by its rule."""
        from scipy.sparse import coo_array

        place = {name: position for position, name in enumerate(self.names)}
        number = {scope: position for position, scope in enumerate(self.layout.scopes)}
        sizes = dict(zip(self.names, self.sizes, strict=True))
        rows, columns, values = [], [], []
        for weight, feature in enumerate(self.features):
            for term in feature.terms:
                places, found = sparse_values(term, sizes)
                rows.append(places + self.layout.starts[number[tuple(place[n] for n in term.scope)]])
                columns.append(np.full(len(places), weight))
                values.append(found)
        where = (np.concatenate(rows), np.concatenate(columns))
        return coo_array((np.concatenate(values), where), shape=(self.layout.n, len(self.features))).tocsr()

    @cached_property
    def point(self) -> FamilyPoint:
        """The model as a member of a family of tables."""
        extra = factors_over((*self.claim.model.base, *self.claim.model.support), self.names)
        family = other_tree(list(self.names), self.sizes, self.layout.scopes, extra)
        return family.at(self.matrix @ self.weights)

    @property
    def log_z(self) -> float:
        """The logarithm of Z."""
        return self.point.log_z

    @cached_property
    def expected(self) -> Floats:
        """The expectations of the features."""
        return np.asarray(self.matrix.T @ self.point.expected, np.float64)

    @property
    def size(self) -> Floats:
        """Bounds of the expectations of the features' absolute values, term by term."""
        return np.asarray(abs(self.matrix).T @ self.point.expected, np.float64)

    @cached_property
    def spread(self) -> Floats:
        """A bound on the largest minus the least value of each feature, scope by scope."""
        low, high = extents(self.layout, self.matrix.tocsc())
        return high - low

    @cached_property
    def unit(self) -> Floats:
        """The range of each feature within its widest scope."""
        return widest(self.layout, self.matrix.tocsc())

    @property
    def normalisation(self) -> float:
        """How far the total of a marginal is from one."""
        return abs(float(self.layout.tables(self.point.expected)[0].sum()) - 1)

    def curvature(self, direction: Floats) -> Floats:
        """Return Cov(f) · direction."""
        return np.asarray(self.matrix.T @ self.point.curvature(self.matrix @ direction), np.float64)

    def moments(self) -> tuple[Floats, Floats]:
        """Return the means of the features over the data, and about their variances, term by term."""
        statistics = self.claim.statistics
        scopes = [tuple(self.names[v] for v in scope) for scope in self.layout.scopes]
        if not statistics.n_read or not statistics.weight:
            return data_moments(self.claim, self.features)
        shares = self.layout.flat([statistics[Count(scope)].table() for scope in scopes]) / statistics.weight
        return np.asarray(self.matrix.T @ shares, np.float64), variances(self.layout, self.matrix.tocsc(), shares)

    @property
    def log_base_total(self) -> float | None:
        """The logarithm of Σ h; not known with a base measure."""
        return None if self.claim.base else float(np.log(np.array(self.sizes, np.float64)).sum())

    @property
    def entropy(self) -> float | None:
        """Not known here."""
        return None
