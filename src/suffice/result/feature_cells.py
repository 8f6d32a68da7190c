"""Features on the cells of a table: how many of them are independent there, and whether some lie in others' span.

Distributions exp(w·f) / Z of some features include those of others when every one of these is a linear combination of
the first, but for a constant: when they add nothing to the rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from suffice.data.schema import Schema
from suffice.inference.clique_family import Layout, TableFamily
from suffice.inference.dependence import dependence
from suffice.inference.feature_family import ConditionalFamily, joint_features
from suffice.inference.feature_rank import JOINT_CELLS, MOST_NUMBERS, MOST_WEIGHTS, uniform_covariance
from suffice.inference.quadrature import QuadratureRule
from suffice.learn.conditional import ConditionalSetting, distinct_inputs
from suffice.learn.feature_nodes import nodes_of
from suffice.learn.method import Problem
from suffice.models.conditional_design import conditional_design
from suffice.models.feature_design import matrix_of, sizes_of
from suffice.stats.needs import Distinct
from suffice.structures.cliques import Cliques
from suffice.structures.feature_products import indicators
from suffice.structures.feature_rules import Feature
from suffice.structures.features import Features
from suffice.types import Bools, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from suffice.result.fit import Fit


def features_of(structure: Cliques | Features, schema: Schema) -> tuple[Feature, ...]:
    """Return the features of a structure; those of cliques are the indicators of all their cells."""
    if isinstance(structure, Features):
        return structure.resolved(schema)
    return Features([indicators(*clique) for clique in structure.cliques]).resolved(schema)


def tables_of(
    features: Sequence[Feature], names: Sequence[str], schema: Schema, nodes: Mapping[str, QuadratureRule]
) -> tuple[Layout, csr_array]:
    """Return features as tables over variables that are positions among ``names``."""
    place = {name: position for position, name in enumerate(names)}
    terms = [(number, term) for number, feature in enumerate(features) for term in feature.terms]
    scopes: dict[tuple[int, ...], int] = {}
    for _, term in terms:
        scopes.setdefault(tuple(sorted(place[name] for name in term.scope)), len(scopes))
    layout = Layout(sizes_of(schema, names, nodes), tuple(scopes))
    return layout, matrix_of(terms, len(features), layout, scopes, place, nodes)


def values_on_cells(features: Sequence[Feature], names: Sequence[str], schema: Schema) -> csr_array:
    """Return f(x) of every cell of the joint table; shape (n_cells, n_features)."""
    layout, matrix = tables_of(features, names, schema, {})
    return joint_features(TableFamily(list(names), layout.sizes, layout.scopes), matrix)


def rank_on(features: Sequence[Feature], names: Sequence[str], schema: Schema, support: Bools) -> int | None:
    """Return how many features are independent on some cells of the joint table; None where these are too many."""
    if support.size > JOINT_CELLS or len(features) > MOST_WEIGHTS or support.size * len(features) > MOST_NUMBERS:
        return None
    values = values_on_cells(features, names, schema)[np.flatnonzero(support)]
    mean = np.asarray(values.sum(axis=0)).reshape(-1) / values.shape[0]
    return dependence((values.T @ values).toarray() / values.shape[0] - np.outer(mean, mean)).rank


# Nesting ------------------------------------------------------------------------------------------------------


def is_inside(small: Fit, large: Fit) -> bool | None:
    """Whether the model of one fit includes that of another over the same variables; None where that is undecided."""
    schema = large.model.schema
    if isinstance(large.structure, Features) and large.structure.given:
        among = _are_among(small.structure.resolved(schema), large.structure.resolved(schema))
        return among or _is_inside_given(small, large)
    few, many = features_of(small.structure, schema), features_of(large.structure, schema)
    if _are_among(few, many) or _fill_no_more(few, large.structure):
        return True
    nodes = nodes_of(large.structure, large.statistics) if large.structure.continuous else {}
    layout, matrix = tables_of((*many, *few), large.structure.variables, schema, nodes)
    covariance = uniform_covariance(layout, matrix)
    if covariance is None:
        return None
    return dependence(covariance).rank == dependence(covariance[: len(many), : len(many)]).rank


def _are_among(few: Sequence[Feature], many: Sequence[Feature]) -> bool:
    held = {feature.terms for feature in many}
    return all(feature.terms in held for feature in few)


def _fill_no_more(features: Sequence[Feature], structure: Cliques | Features) -> bool:
    """Whether every feature looks at cliques only, whose tables hold any function."""
    if not isinstance(structure, Cliques):
        return False
    scopes = {frozenset(term.scope) for feature in features for term in feature.terms}
    return all(any(scope <= set(clique) for clique in structure.cliques) for scope in scopes)


def ranks_given_inputs(small: Fit, large: Fit) -> tuple[int | None, int | None]:
    """Return how many features of two fits are independent on the outputs that the large one leaves possible."""
    few, many, setting = _at_inputs(small, large)
    held = setting.on_extremes().family
    first, second = (_rank(part, held, held.offset) for part in (few, many))
    return first, second


def _is_inside_given(small: Fit, large: Fit) -> bool | None:
    from scipy.sparse import hstack

    few, many, setting = _at_inputs(small, large)
    both = _rank(hstack([many, few], format="csr"), setting.family)
    return None if both is None else both == _rank(many, setting.family)


def _rank(matrix: csr_array, like: ConditionalFamily, offset: Floats | None = None) -> int | None:
    """Return how many features are independent, for the inputs of a family."""
    n_weights = matrix.shape[1]
    if n_weights > MOST_WEIGHTS:
        return None
    even = ConditionalFamily(matrix, like.shares, like.n_outputs, offset)
    return dependence(even.covariance(np.zeros(n_weights))).rank


def _at_inputs(small: Fit, large: Fit) -> tuple[csr_array, csr_array, ConditionalSetting]:
    """Return the features of two fits at all inputs of the large one and all outputs, in the large one's order."""
    setting = ConditionalSetting.of(Problem(large.structure, large.statistics))
    rows = large.statistics[Distinct(large.structure.columns)]
    held = {variable.name: column for variable, column in zip(rows.variables, rows.columns, strict=True)}
    names = large.structure.given
    inputs = dict(zip(names, distinct_inputs([held[name] for name in names])[0], strict=True))
    design = conditional_design(small.structure, large.model.schema)
    listed = setting.design.output_codes()
    order = np.ravel_multi_index([listed[name] for name in design.outputs], design.sizes)
    n = len(setting.observed)
    few = design.at({name: inputs[name] for name in small.structure.given}, n)
    return few[(np.arange(n)[:, None] * len(order) + order).reshape(-1)], setting.matrix, setting
