"""Conditional log-linear models: p(y | x) ∝ exp(w·f(x, y)), whose weights maximise Σ log p(yₙ | xₙ)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.errors import Remedy, Text, made
from suffice.inference.dependence import Dependence, Relation, combination, dependence
from suffice.inference.feature_family import ConditionalFamily
from suffice.inference.feature_rank import MOST_WEIGHTS
from suffice.inference.moment_hull import face
from suffice.learn.feature_matching import FeatureMatching
from suffice.learn.method import Problem, Solution
from suffice.learn.weight_remarks import SHOWN, related, sent_away, steps_of, unfinished, with_limits
from suffice.learn.weights import WeightSearch, quietly
from suffice.models.conditional_design import ConditionalDesign, conditional_design
from suffice.models.conditional_log_linear import ConditionalLogLinear
from suffice.stats.needs import Distinct
from suffice.structures.feature_rules import main_effects
from suffice.types import Array, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from suffice.structures.features import Features

EXTREME = 1e-12
LARGE = 15.0
SEPARATION_NUMBERS = 2_000_000
DENSE_NUMBERS = 10_000_000
"""Features of all inputs and outputs are written out up to so many numbers."""


@dataclass(frozen=True, eq=False)
class ConditionalSetting:
    """A problem with inputs: the features of every distinct input and every output.

    ``allowed`` are the outputs that may have mass, ``limits`` −inf or inf for weights that run away.
    """

    problem: Problem[Features]
    design: ConditionalDesign
    matrix: csr_array
    observed: Floats
    allowed: NDArray[np.bool_]
    limits: Floats

    @classmethod
    def of(cls, problem: Problem[Features]) -> ConditionalSetting:
        """Evaluate the features on the distinct rows."""
        structure = problem.structure
        design = conditional_design(structure, problem.schema)
        rows = problem.statistics[Distinct(structure.columns)]
        held = {variable.name: column for variable, column in zip(rows.variables, rows.columns, strict=True)}
        inputs, of_row = distinct_inputs([held[name] for name in structure.given])
        n = len(inputs[0])
        places = np.ravel_multi_index([held[name].astype(np.int64) for name in design.outputs], design.sizes)
        observed = np.zeros((n, design.n_outputs))
        np.add.at(observed, (of_row, places), rows.weights)
        matrix = design.at(dict(zip(structure.given, inputs, strict=True)), n)
        allowed = np.ones((n, design.n_outputs), bool)
        return cls(problem, design, matrix, observed, allowed, np.zeros(len(design.features)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the weights."""
        return tuple(feature.name for feature in self.design.features)

    @cached_property
    def total(self) -> float:
        """N."""
        return float(self.observed.sum()) or 1.0

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """The mean of every feature over the data, and about its variance given the input."""
        shares = self.observed.sum(axis=1) / self.total
        alpha = self.matrix.T @ (self.observed / self.total).reshape(-1)
        flat = (np.ones_like(self.observed) / self.design.n_outputs * shares[:, None]).reshape(-1)
        squares = np.asarray(self.matrix.power(2).T @ flat, np.float64)
        return np.asarray(alpha, np.float64), np.maximum(squares, 1e-12)

    @cached_property
    def extent(self) -> tuple[Floats, Floats]:
        """The least and the largest mean that each feature can have, given the inputs: by output for every input."""
        shares, m = self.observed.sum(axis=1) / self.total, self.design.n_outputs
        if not self.allowed.all():
            return self._extent_of_allowed(shares)
        low = high = self.matrix[::m]
        for output in range(1, m):
            block = self.matrix[output::m]
            low, high = low.minimum(block), high.maximum(block)
        return np.asarray(low.T @ shares, np.float64), np.asarray(high.T @ shares, np.float64)

    def _extent_of_allowed(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the same where some outputs are ruled out."""
        low, high = np.zeros(len(self.names)), np.zeros(len(self.names))
        columns, m = self.matrix.tocsc(), self.design.n_outputs
        for weight in range(len(self.names)):
            part = slice(columns.indptr[weight], columns.indptr[weight + 1])
            touched, where = np.unique(columns.indices[part] // m, return_inverse=True)
            values = np.zeros((len(touched), m))
            values[where, columns.indices[part] % m] = columns.data[part]
            mask = self.allowed[touched]
            low[weight] = float(shares[touched].dot(np.where(mask, values, np.inf).min(axis=1, initial=np.inf)))
            high[weight] = float(shares[touched].dot(np.where(mask, values, -np.inf).max(axis=1, initial=-np.inf)))
        return low, high

    @cached_property
    def family(self) -> ConditionalFamily:
        """The conditional distributions that weights reach."""
        offset = None if self.allowed.all() else np.where(self.allowed, 0.0, -np.inf)
        shares = self.observed.sum(axis=1) / self.total
        return ConditionalFamily(self.matrix, shares, self.design.n_outputs, offset)

    def matching(self) -> FeatureMatching:
        """Return the problem of the weights."""
        alpha, squares = self.moments
        low, high = self.extent
        return FeatureMatching(
            problem=self.problem,
            names=self.names,
            family=self.family,
            targets=alpha,
            squares=squares,
            spread=np.asarray(high - low, np.float64),
            total=self.total,
            free=(self.limits == 0) & (high > low),
            main=main_effects(self.design.features, self.problem.structure.given),
            reach=self,
            root_of=lambda: self.root,
        )

    @cached_property
    def root(self) -> Floats | None:
        """R with Rᵀ R the covariance of the features given the input, all outputs being equally likely.

        It comes from the deviations themselves, not from their squares: an input far from zero, such as a date, makes a
        feature that is nearly a multiple of another, and still is told from it.
        """
        n, m, k = len(self.observed), self.design.n_outputs, len(self.names)
        if not 0 < n * m * k <= DENSE_NUMBERS or k > MOST_WEIGHTS:
            return None
        allowed = self.allowed[:, :, None]
        values = self.matrix.toarray().reshape(n, m, k)
        mean = (values * allowed).sum(axis=1, keepdims=True) / allowed.sum(axis=1, keepdims=True)
        shares = self.observed.sum(axis=1) / self.total / allowed.sum(axis=(1, 2))
        rows = ((values - mean) * allowed * np.sqrt(shares)[:, None, None]).reshape(n * m, k)
        if len(rows) < k:
            rows = np.vstack([rows, np.zeros((k - len(rows), k))])
        return np.asarray(np.linalg.qr(rows, mode="r"), np.float64)

    def is_exact(self, relation: Relation) -> bool:
        """Whether a combination of features is quite the same for all outputs of an input, and not only nearly so."""
        indices, coefficients = list(relation.indices), np.array(relation.coefficients)
        part = self.matrix[:, indices]
        values = (part @ coefficients).reshape(len(self.observed), self.design.n_outputs)
        size = (abs(part) @ np.abs(coefficients)).reshape(values.shape)
        return bool((np.ptp(values, axis=1) <= 1e-14 * size.max(axis=1)).all())

    @cached_property
    def low(self) -> Floats:
        """The least value of every feature."""
        if not self.matrix.shape[0]:
            return np.zeros(len(self.names))
        least = np.asarray(self.matrix.min(axis=0).todense()).reshape(-1)
        return np.asarray(least, np.float64)

    @cached_property
    def unit(self) -> Floats:
        """The range of every feature."""
        if not self.matrix.shape[0]:
            return np.ones(len(self.names))
        most = np.asarray(self.matrix.max(axis=0).todense()).reshape(-1)
        return np.where(most > self.low, most - self.low, 1.0)

    def largest_sum(self, coefficients: Floats) -> tuple[float, str]:
        """Return the largest value of Σ c_i (f_i − low_i) among the inputs and outputs."""
        sums = self.matrix @ coefficients - float(coefficients.dot(self.low))
        return float(sums.max(initial=0.0)), "the largest sum of features among the inputs"

    def on_extremes(self) -> ConditionalSetting:
        """Return the setting without the outputs that features at the end of their range rule out."""
        alpha, (low, high) = self.moments[0], self.extent
        reach = EXTREME * np.maximum(high - low, 1e-300)
        varies = high > low
        sides = np.where(varies & (alpha <= low + reach), -1.0, np.where(varies & (alpha >= high - reach), 1.0, 0.0))
        return self._without(sides) if sides.any() else self

    def _without(self, sides: Floats) -> ConditionalSetting:
        allowed, limits, m = self.allowed.copy(), self.limits.copy(), self.design.n_outputs
        columns = self.matrix.tocsc()
        for weight in np.flatnonzero(sides):
            limits[weight] = sides[weight] * math.inf
            values = np.asarray(columns[:, [weight]].todense()).reshape(-1, m) * sides[weight]
            best = np.where(allowed, values, -np.inf).max(axis=1, keepdims=True)
            allowed &= values >= best
        return ConditionalSetting(self.problem, self.design, self.matrix, self.observed, allowed, limits)


def distinct_inputs(columns: list[Array]) -> tuple[list[Array], NDArray[np.int64]]:
    """Return the distinct rows of some columns, and for each row the place of its own among them."""
    order = np.lexsort(columns[::-1])
    changes = np.zeros(len(order), bool)
    for column in columns:
        ranked = column[order]
        changes[1:] |= ranked[1:] != ranked[:-1]
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(changes)
    first = order[np.flatnonzero(np.concatenate([[True], changes[1:]]))] if len(order) else order
    return [column[first] for column in columns], group


def separating(setting: ConditionalSetting) -> Floats | None:
    """Return a combination of features that is never less for the outputs seen than for others, and more for some."""
    m = setting.design.n_outputs
    seen = np.argwhere(setting.observed > 0)
    if len(seen) * m * len(setting.names) > SEPARATION_NUMBERS:
        return None
    rows = (seen[:, :1] * m + np.arange(m)).reshape(-1)
    own = np.repeat(seen[:, 0] * m + seen[:, 1], m)
    kept = setting.allowed.reshape(-1)[rows]
    gains = (setting.matrix[rows[kept]] - setting.matrix[own[kept]]).toarray()
    found = face(gains, np.zeros(len(setting.names)))
    return found.direction if found.exists == "no" else None


def solve_conditional(problem: Problem[Features], search: WeightSearch) -> Solution[ConditionalLogLinear]:
    """Find the weights of a structure with inputs."""
    setting = ConditionalSetting.of(problem)
    if problem.prior is None:
        setting = setting.on_extremes()
    found = quietly(search, setting.matching())
    point = setting.family.at(found.weights)
    n_weights, remarks = len(setting.names), list(found.remarks)
    ran_away = np.flatnonzero(setting.limits)
    rank = n_weights
    if n_weights <= MOST_WEIGHTS:
        even = ConditionalFamily(setting.matrix, setting.family.shares, setting.design.n_outputs)
        held = dependence(even.covariance(np.zeros(n_weights)), scale=setting.unit)
        exact = [relation for relation in held.relations if setting.is_exact(relation)]
        rank = n_weights - len(exact)
        remarks += related(setting.names, Dependence(rank, tuple(exact)), given=True)
    if len(ran_away):
        named = sent_away(setting.names, setting.limits, ran_away)
        remarks.append(
            "The maximum-likelihood estimate does not exist: inputs tell outputs apart without fail. The model is its "
            f"limit. Weights that run away: {named}."
        )
    suspect = float(np.abs(found.weights * setting.unit).max(initial=0.0)) > LARGE
    direction = separating(setting) if problem.prior is None and suspect else None
    if direction is not None:
        which = np.flatnonzero(direction)
        said = combination([(float(direction[w]), f"[{setting.names[w]}]") for w in which[:SHOWN]])
        remarks.append(
            Text(
                f"The maximum-likelihood estimate does not exist: {said}{' + …' if len(which) > SHOWN else ''} is "
                "never less for the output seen than for another, and its weight runs to +∞. Use a prior, such as ",
                Remedy("prior", made("Gaussian", 10)),
                ".",
            )
        )
    hint = Text(
        " Inputs may tell outputs apart without fail, so that weights run away: try ",
        Remedy("prior", made("Gaussian", 10)),
        ".",
    )
    remarks += unfinished(problem, found, hint if problem.prior is None else "")
    model = ConditionalLogLinear(
        problem.structure,
        with_limits(setting.limits, found.weights),
        schema=problem.schema.select(problem.structure.columns),
    )
    return Solution(
        model=model,
        log_likelihood=setting.total * (float(found.weights.dot(setting.moments[0])) - point.log_z),
        n_free=rank,
        n_free_adjusted=max(rank - len(ran_away), 0),
        trace=steps_of(found),
        stop=found.stop,
        remarks=tuple(remarks),
        interrupted=problem.watch.interrupted,
        explains_boundary=bool(len(ran_away)) or direction is not None,
    )
