"""EM for Markov random fields and log-linear models: the M-step is the estimator that complete rows have.

Every search for parameters begins where the last one ended, since expected counts change less and less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, Remedy, Text, listing, shown
from suffice.learn import clique_start, cliques, decomposable, feature_methods, feature_start, features, ipf, laplace
from suffice.learn.em import EM, OPTIONS
from suffice.learn.em_walk import WarmStart
from suffice.learn.feature_needs import require_supports
from suffice.learn.likelihood import LBFGS, NEWTON
from suffice.learn.method import Method, Problem
from suffice.learn.potential_priors import clique_prior, weight_prior
from suffice.learn.undirected_expectation import Scopes, UndirectedExpectation
from suffice.models.clique_layout import layout_of
from suffice.models.feature_design import design_of
from suffice.models.log_linear import LogLinear
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import M
from suffice.stats.needs import Count, Gap, Need
from suffice.structures.cliques import Cliques
from suffice.structures.features import Features
from suffice.structures.structure import S
from suffice.types import Floats

STEPS = 100
"""Steps of one search for parameters, from whose end the next one goes on; extrapolated counts may have none at all."""
FAR = 50.0
"""Potentials whose logarithms reach further are no place to begin the next search at."""


# The M-step ---------------------------------------------------------------------------------------------------


class _Warm(WarmStart):
    """Begins each search where the last one ended, and leaves long ones to the next.

    Parameters
    ----------
    begin : callable
        From a model to where the next search begins, as a vector; None where that is nowhere in particular.
    init_of : callable
        From such a vector to the argument ``init`` of a method.
    """

    steps = STEPS

    def __init__(self, begin: Callable[[Any], Floats | None], init_of: Callable[[Floats], Any]) -> None:
        self._begin, self._init_of = begin, init_of
        self._last: Floats | None = None

    @property
    def init(self) -> Any:
        """Where the next search begins."""
        return None if self._last is None else self._init_of(self._last)

    def learn(self, model: Any) -> None:
        """Take note of what the last M-step found."""
        self._last = self._begin(model)

    def to_arrays(self) -> dict[str, Floats]:
        """Return what was noted."""
        return {} if self._last is None else {"warm": self._last}

    def restore(self, arrays: Mapping[str, Floats]) -> None:
        """Note what `to_arrays` returned; without it, begin anew."""
        self._last = arrays.get("warm")


def _inner(methods: Mapping[str, Method[S, M]]) -> Callable[[Problem[S]], Method[S, M]]:
    """Return what chooses the method of the M-step: the one that was named, or the first that does not refuse."""

    def chosen(problem: Problem[S]) -> Method[S, M]:
        name = problem.options.get("inner")
        if name is not None and (not isinstance(name, str) or name not in methods):
            raise ArgumentError(f"The 'inner' option must be one of {list(methods)}. Got {shown(name)} instead.")
        reason = ""
        for candidate in methods if name is None else (name,):
            method = methods[candidate]
            said = method.refuses(problem.structure, problem.schema)
            said = said or method.refuses_prior(problem.structure, problem.prior)
            if said is None:
                return method
            reason = reason or Text(f"The method {candidate!r} cannot estimate from expected counts: ", said)
        raise EstimationError(reason)

    return chosen


def _clique_warm(problem: Problem[Cliques]) -> WarmStart:
    """Begin searches for potentials at the last ones; zeros are found again from the counts."""
    layout, scopes = layout_of(problem.structure, problem.schema), problem.structure.cliques

    def begin(model: MarkovNetwork) -> Floats | None:
        tables = {factor.names: np.where(factor.values > 0, factor.values, 1.0) for factor in model.factors}
        if model.properties.get("base") or set(tables) != set(scopes) or len(model.factors) != len(scopes):
            return None
        if any(np.abs(np.log(table)).max() > FAR for table in tables.values()):
            return None
        return layout.flat([tables[scope] for scope in scopes])

    return _Warm(begin, lambda flat: dict(zip(scopes, layout.tables(flat), strict=True)))


def _weight_warm(problem: Problem[Features]) -> WarmStart:
    """Begin searches for weights at the last ones."""

    def begin(model: LogLinear) -> Floats | None:
        weights = np.array(model.weights.to_numpy(), np.float64)
        if model.support or (np.abs(weights[np.isfinite(weights)]) > FAR).any():
            return None
        return np.where(np.isfinite(weights), weights, 0.0)

    return _Warm(begin, lambda weights: weights)


# Cliques ------------------------------------------------------------------------------------------------------


def _with_gaps(scopes: Scopes) -> tuple[Need, ...]:
    """Return the needs: counts of scopes, what is missing in them, and the margins that EM begins from."""
    gap = Gap(scopes)
    counts: list[Need] = [*map(Count, scopes), *(Count((name,)) for name in gap.columns), gap]
    return tuple(dict.fromkeys(counts))


def _clique_needs(structure: Cliques, schema: Schema) -> tuple[Need, ...]:
    return _with_gaps(structure.cliques)


def _clique_expectation(problem: Problem[Cliques]) -> UndirectedExpectation:
    structure = problem.structure
    layout = layout_of(structure, problem.schema)

    def given() -> MarkovNetwork:
        theta = clique_start.start_of(problem, layout)
        tables = zip(structure.cliques, layout.tables(np.exp(theta)), strict=True)
        return MarkovNetwork(list(tables), schema=problem.schema.select(structure.variables))

    return UndirectedExpectation(problem, structure.cliques, clique_prior(problem), given)


CLIQUES = EM(
    expectation=_clique_expectation,
    inner=_inner(
        {
            "closed_form": decomposable.METHOD,
            "newton": NEWTON,
            "adaptive": ipf.ADAPTIVE,
            "lbfgs": LBFGS,
            "proximal": laplace.METHOD,
        }
    ),
    refuses=cliques.refuses_nothing,
    needs=_clique_needs,
    check=cliques.check,
    warm=_clique_warm,
    options=("inner", *OPTIONS),
).method()


# Features -----------------------------------------------------------------------------------------------------


def _feature_scopes(structure: Features) -> Scopes:
    """Return the widest scopes of the features, and every variable in none of them by itself."""
    inside = {name for scope in structure.scopes for name in scope}
    return (*structure.scopes, *((name,) for name in structure.variables if name not in inside))


def _feature_needs(structure: Features, schema: Schema) -> tuple[Need, ...]:
    require_supports(structure, schema)
    return _with_gaps(_feature_scopes(structure))


def _refuses_features(structure: Features, schema: Schema) -> str | None:
    """Refuse inputs, which have no distribution, and continuous variables, which have no counts."""
    if structure.given:
        return Text(
            f"its inputs {listing(structure.given, 6)} have no distribution, so that nothing is expected of rows that "
            "lack values. Pass ",
            Remedy("missing", "drop"),
            ", or model all variables together, without given=.",
        )
    continuous = [name for name in structure.variables if name in structure.continuous or not schema[name].is_discrete]
    if continuous:
        return Text(
            f"it expects counts, and continuous variables, {listing(continuous, 6)}, have none. Pass ",
            Remedy("missing", "drop"),
            ", cut them into classes, or use sf.DAG or sf.MultivariateNormal.",
        )
    return None


def _feature_expectation(problem: Problem[Features]) -> UndirectedExpectation:
    structure = problem.structure
    design = design_of(structure, problem.schema)

    def given() -> MarkovNetwork:
        weights = feature_start.start_of(problem, [feature.name for feature in design.features])
        return LogLinear(structure, weights, schema=problem.schema.select(structure.variables), design=design)

    return UndirectedExpectation(problem, _feature_scopes(structure), weight_prior(problem, design), given)


FEATURES = EM(
    expectation=_feature_expectation,
    inner=_inner(
        {"lbfgs": feature_methods.LBFGS, "newton": feature_methods.NEWTON, "proximal": feature_methods.PROXIMAL}
    ),
    refuses=_refuses_features,
    needs=_feature_needs,
    check=features.check,
    warm=_weight_warm,
    options=("inner", *OPTIONS),
).method()
