"""From features to tables: the linear map from weights to the log-potentials of all scopes.

With w the weights, θ = D w holds Σ_i w_i f_i(x_S) of every scope S, one after another in a flat array; D is sparse. The
expectations of the features are Dᵀ times the flat marginals of the scopes, so that everything that is known of cliques
serves features.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import StructureError, Text, listing
from suffice.inference.clique_family import Layout
from suffice.inference.feature_extents import extents
from suffice.inference.feature_family import cells_of
from suffice.inference.quadrature import QuadratureRule
from suffice.settings import more_memory, settings
from suffice.structures.feature_rules import Feature, Term
from suffice.structures.features import Features
from suffice.text import in_bytes
from suffice.types import Array, Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from suffice.models.conditional_log_linear import ConditionalLogLinear
    from suffice.models.log_linear import LogLinear
    from suffice.models.log_linear_density import LogLinearDensity

FeatureModel: TypeAlias = "LogLinear | LogLinearDensity | ConditionalLogLinear"
"""What is learnt from features: of all variables, of continuous ones, or of some given others."""

LARGEST = 1e100
"""Squares of larger values would overflow."""
PSEUDO_ROWS = 20.0
"""So many rows of independent features are mixed into a covariance, which keep it positive definite."""
COPIES = 4
"""So many times a scope's table is held: potentials, marginals, and what optimisers remember."""


@dataclass(frozen=True, eq=False)
class FeatureDesign:
    """Features over the variables that are modelled, as tables.

    Attributes
    ----------
    features : tuple of Feature
    names : tuple of str
        The variables, in order; scopes are positions among them.
    layout : Layout
        How the scopes' tables lie in a flat array.
    matrix : csr_array of shape (layout.n, n_weights)
    """

    features: tuple[Feature, ...]
    names: tuple[str, ...]
    layout: Layout
    matrix: csr_array

    @property
    def n_weights(self) -> int:
        """The number of features."""
        return len(self.features)

    @cached_property
    def n_terms(self) -> Ints:
        """How many terms every feature adds up."""
        return np.array([max(len(feature.terms), 1) for feature in self.features], np.int64)

    def theta(self, weights: Floats) -> Floats:
        """Return the log-potentials, flat."""
        return np.asarray(self.matrix @ weights, np.float64)

    def moments(self, cells: Floats) -> Floats:
        """Return Σ cells · f: expectations from marginals, sums from counts."""
        return np.asarray(self._transposed @ cells, np.float64)

    @cached_property
    def _transposed(self) -> csr_array:
        return self.matrix.T.tocsr()

    @cached_property
    def by_column(self) -> Any:
        """The matrix with its columns at hand."""
        return self.matrix.tocsc()

    def whole_tables(self, theta: Floats) -> list[tuple[tuple[int, ...], Floats]]:
        """Return log-potentials of the scopes that lie in no other, those of scopes inside them added.

        Large weights of a scope and of one inside it may cancel; before they are exponentiated they should.
        """
        found: dict[tuple[int, ...], Floats] = {}
        tables = dict(zip(self.layout.scopes, self.layout.tables(theta), strict=True))
        for scope in sorted(tables, key=len, reverse=True):
            inside = set(scope)
            home = next((other for other in found if inside < set(other)), None)
            if home is None:
                found[scope] = np.array(tables[scope])
            else:
                shape = [self.layout.sizes[v] if v in inside else 1 for v in home]
                ranked = [scope.index(v) for v in home if v in inside]
                found[home] += tables[scope].transpose(ranked).reshape(shape)
        return [(scope, found[scope]) for scope in self.layout.scopes if scope in found]

    def bounds(self, allowed: Bools | None = None) -> tuple[Floats, Floats]:
        """Return Σ over scopes of each feature's least and largest value: bounds on it, exact where it has one scope.

        ``allowed`` are the cells that may occur, flat.
        """
        return extents(self.layout, self.by_column, allowed)


def design_of(structure: Features, schema: Schema, nodes: Mapping[str, QuadratureRule] | None = None) -> FeatureDesign:
    """Tabulate the features of a structure over the variables that it models.

    Parameters
    ----------
    structure : Features
        Without inputs; see `suffice.models.conditional_design` for those.
    schema : Schema
    nodes : mapping, optional
        The quadrature of every continuous variable.
    """
    features, nodes = structure.resolved(schema), nodes or {}
    names = structure.variables
    sizes = sizes_of(schema, names, nodes)
    place = {name: position for position, name in enumerate(names)}
    scopes: dict[tuple[int, ...], int] = {}
    for feature in features:
        for term in feature.terms:
            scope = tuple(sorted(place[name] for name in term.scope))
            if scope not in scopes:
                _require_room(feature, [names[v] for v in scope], [sizes[v] for v in scope])
                scopes[scope] = len(scopes)
    layout = Layout(sizes, tuple(scopes))
    _require_all_room(layout)
    terms = [(weight, term) for weight, feature in enumerate(features) for term in feature.terms]
    return FeatureDesign(features, names, layout, matrix_of(terms, len(features), layout, scopes, place, nodes))


def data_covariance(design: FeatureDesign, codes: Array, shares: Floats, total: float) -> Floats:
    """Return the covariance of the features over rows of codes, a little of it replaced by its diagonal."""
    from scipy.sparse import csr_array

    cells = cells_of(design.layout, list(codes.T))
    each = np.arange(0, cells.size + 1, cells.shape[1])
    values = (
        csr_array((np.ones(cells.size), cells.reshape(-1), each), shape=(len(cells), design.layout.n)) @ design.matrix
    )
    mean = np.asarray(values.T @ shares).reshape(-1)
    second = (values.T @ values.multiply(shares[:, None]).tocsr()).toarray()
    found = second - np.outer(mean, mean)
    part = PSEUDO_ROWS / (PSEUDO_ROWS + total)
    variance = np.maximum(np.diag(found), 1e-6 * np.diag(second) + 1e-12)
    return np.asarray((1 - part) * found + np.diag(part * variance), np.float64)


def sizes_of(schema: Schema, names: Sequence[str], nodes: Mapping[str, QuadratureRule]) -> tuple[int, ...]:
    """Return the numbers of states, and of nodes."""
    return tuple(len(nodes[name].nodes) if name in nodes else schema[name].n_states for name in names)


def matrix_of(
    terms: Sequence[tuple[int, Term]],
    n_weights: int,
    layout: Layout,
    scopes: Mapping[tuple[int, ...], int],
    place: Mapping[str, int],
    nodes: Mapping[str, QuadratureRule],
) -> csr_array:
    """Return the matrix from weights to cells; ``terms`` have the number of their weight beside them."""
    from scipy.sparse import coo_array

    rows, columns, values = [], [], []
    known: dict[Any, tuple[Ints, Floats]] = {}
    for weight, term in terms:
        order = tuple(place[name] for name in term.scope)
        shape = tuple(layout.sizes[v] for v in order)
        ranks = tuple(sorted(range(len(order)), key=order.__getitem__))
        key = (term.rule, shape, ranks, tuple(n for n in term.scope if n in nodes))
        if key not in known:
            known[key] = _cells(term, shape, ranks, nodes)
            if not nodes and not np.abs(known[key][1]).max(initial=0.0) < LARGEST:
                raise StructureError(
                    f"A feature over {listing(term.scope)} reaches {np.abs(known[key][1]).max():g}, and must stay "
                    "below 1e100. Scale it."
                )
        places, numbers = known[key]
        rows.append(places + layout.starts[scopes[tuple(sorted(order))]])
        columns.append(np.full(len(places), weight))
        values.append(numbers)
    triple = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return coo_array(triple, shape=(layout.n, n_weights)).tocsr()  # cells that meet are added


def _cells(
    term: Term, shape: tuple[int, ...], ranks: tuple[int, ...], nodes: Mapping[str, QuadratureRule]
) -> tuple[Ints, Floats]:
    """Return where a term is not zero, in the table whose axes are in the order of the variables."""
    if any(name in nodes for name in term.scope):
        index = np.indices(shape).reshape(len(shape), -1)
        columns = [nodes[n].nodes[axis] if n in nodes else axis for n, axis in zip(term.scope, index, strict=True)]
        table = term.rule.at(columns)
        if not np.isfinite(table).all():
            bad = int(np.argmin(np.isfinite(table)))
            at = ", ".join(f"{n}={float(c[bad]):g}" for n, c in zip(term.scope, columns, strict=True))
            raise StructureError(f"A feature over {listing(term.scope)} is {table[bad]} at {at}. It must be finite.")
        places = np.flatnonzero(table)
        values = table[places]
    else:
        places, values = term.rule.cells(shape)
    if ranks != tuple(range(len(ranks))):
        codes = np.unravel_index(places, shape)
        places = np.ravel_multi_index([codes[r] for r in ranks], [shape[r] for r in ranks]).astype(np.int64)
    return places, values


def _require_room(feature: Feature, names: Sequence[str], sizes: Sequence[int]) -> None:
    cells, allowed = math.prod(sizes), settings().memory
    if cells * 8 * COPIES > allowed:
        more = Text(", or allow more: ", more_memory(cells * 8 * COPIES)) if cells * 8 * COPIES < 1 << 40 else ""
        raise StructureError(
            f"The feature {feature.name!r} is over {len(names)} variables, {listing(names, 6)}, whose table has "
            f"{cells:,} cells and would take {in_bytes(cells * 8 * COPIES)}; {in_bytes(allowed)} are allowed. Use "
            "features of fewer variables",
            more,
            ".",
        )


def _require_all_room(layout: Layout) -> None:
    need, allowed = layout.n * 8 * COPIES, settings().memory
    if need > allowed:
        raise StructureError(
            f"The tables of all {len(layout.scopes):,} scopes have {layout.n:,} cells and would take {in_bytes(need)}; "
            f"{in_bytes(allowed)} are allowed. Use fewer or smaller scopes, or allow more: ",
            more_memory(need),
            ".",
        )


Design = FeatureDesign
"""The name in pickles of 0.1.0."""
