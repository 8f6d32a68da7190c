"""FeatureSetting: a problem with features as tables, and what the data say of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.labelled import LabelledTable
from suffice.errors import EstimationError, Made, Mention, ModelError, Part, Passed, Remedy, Text
from suffice.inference.clique_family import CliqueFamily, TableFamily, family_of
from suffice.inference.feature_extents import variances, widest
from suffice.inference.feature_family import FeatureFamily, joint_features
from suffice.inference.product import Factor
from suffice.inference.quadrature import QuadratureRule
from suffice.learn.feature_matching import FeatureMatching
from suffice.learn.feature_nodes import nodes_of, placement_of, reference, targets_need
from suffice.learn.largest_sum import largest_sum
from suffice.learn.method import Problem
from suffice.models.feature_base import BaseTerm, base_factors
from suffice.models.feature_design import PSEUDO_ROWS, FeatureDesign, data_covariance, design_of
from suffice.stats.needs import Count, Distinct
from suffice.structures.feature_rules import main_effects
from suffice.types import Array, Floats

if TYPE_CHECKING:
    from suffice.structures.features import Features

MOST_METRIC, METRIC_NUMBERS = 1000, 600_000
"""Covariances of the features in the data are made of up to so many weights, and of about so many numbers."""
SMALL_TABLE = 1 << 12
MOST_PRODUCTS = 100_000_000
"""Up to so many products, covariances are made of deviations instead of squares."""
EXTREME = 1e-12
"""Targets this near to a feature's bound, in its spread, are at it."""


@dataclass(frozen=True, eq=False)
class FeatureSetting:
    """A problem without inputs, its features tabulated.

    Attributes
    ----------
    problem : Problem
    design : FeatureDesign
    nodes : dict of QuadratureRule
        The quadrature of continuous variables.
    base : tuple of Factor
        The base measure, weights of nodes included; and a support, once a face is known.
    allowed : array of bool
        The cells of the scopes that may have mass.
    limits : array
        −inf or inf for weights that run away, zero for others.
    """

    problem: Problem[Features]
    design: FeatureDesign
    nodes: dict[str, QuadratureRule]
    base: tuple[Factor, ...]
    allowed: NDArray[np.bool_]
    limits: Floats

    @classmethod
    def of(cls, problem: Problem[Features]) -> FeatureSetting:
        """Tabulate the features of a problem."""
        structure = problem.structure
        nodes = nodes_of(structure, problem.statistics)
        design = design_of(structure, problem.schema, nodes)
        base = base_factors(problem.base, design.names, problem.schema, nodes)
        allowed = np.ones(design.layout.n, bool)
        return cls(problem, design, nodes, base, allowed, np.zeros(design.n_weights))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the weights."""
        return tuple(feature.name for feature in self.design.features)

    @cached_property
    def counts(self) -> Floats | None:
        """The counts of all scopes, flat; None where targets were given by hand, or variables are continuous."""
        statistics = self.problem.statistics
        if targets_need(self.design.n_weights) in statistics or self.problem.structure.continuous:
            return None
        scopes = [tuple(self.design.names[v] for v in scope) for scope in self.design.layout.scopes]
        return self.design.layout.flat([statistics[Count(scope)].table() for scope in scopes])

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """The targets α, and about the variance of each feature."""
        statistics, design = self.problem.statistics, self.design
        total = statistics.weight
        if self.counts is not None:
            if total == 0:  # a penalty alone: no target is better than the base measure's own
                point = self.family_at_zero
                return point, np.maximum(np.abs(point), 1e-3)
            cells = self.counts / total
            alpha = design.moments(cells)
            return alpha, variances(design.layout, design.by_column, cells)
        need = targets_need(design.n_weights)
        if need in statistics:
            alpha = np.asarray(statistics[need].values, np.float64) / total
            if self.origin is not None:
                cells = FeatureFamily(self.cells_family, design.matrix).at(self.origin).inner.expected
                squares = np.asarray(design.matrix.power(2).T @ cells, np.float64)
                return alpha, np.maximum(squares - design.moments(cells) ** 2, squares / 1000)
            low, high = design.bounds(self.allowed)
            inside = np.maximum((alpha - low) * (high - alpha), 0.0)  # the largest variance with this mean
            return alpha, np.maximum(inside, 1e-6 * (high - low) ** 2)
        if total == 0:
            raise EstimationError("A density cannot be placed without rows. Pass at least one row.")
        means, seconds = np.zeros(design.n_weights), np.zeros(design.n_weights)
        for weight, feature in enumerate(design.features):
            for term in feature.terms:
                columns, counts = self._rows_of(term.scope)
                values = term.at(columns)
                means[weight] += float(counts.dot(values)) / total
                seconds[weight] += float(counts.dot(values**2)) / total
        return means, np.maximum(seconds - means**2, seconds / 1000)

    def _rows_of(self, scope: tuple[str, ...]) -> tuple[dict[str, Any], Floats]:
        """Return the configurations of a scope that occur, and how often each does."""
        statistics = self.problem.statistics
        ordered = tuple(name for name in self.problem.structure.columns if name in scope)
        if any(name in self.nodes for name in scope):
            rows = statistics[Distinct(ordered)]
            return {v.name: column for v, column in zip(rows.variables, rows.columns, strict=True)}, rows.weights
        codes, counts = statistics[Count(ordered)].nonzero()
        return dict(zip(ordered, codes.T, strict=True)), np.asarray(counts, np.float64)

    @property
    def family_at_zero(self) -> Floats:
        """The expectations of the features under the base measure."""
        return FeatureFamily(self.cells_family, self.design.matrix).at(np.zeros(self.design.n_weights)).expected

    @cached_property
    def cells_family(self) -> CliqueFamily:
        """The tables' own family, of which weights reach a part."""
        layout = self.design.layout
        if self.nodes:  # all tables are added before they are exponentiated: those of single scopes may reach far
            return TableFamily(list(self.design.names), layout.sizes, layout.scopes, self.base)
        try:
            return family_of(list(self.design.names), layout.sizes, layout.scopes, self.base)
        except ModelError as error:
            raise EstimationError(
                "These features make a graph that is too wide for exact expectations. ",
                Text(error.message).change(_to_a_fit),
                " Or pass ",
                Remedy("method", "pseudo_likelihood"),
                " or ",
                Remedy("method", "stochastic"),
                ", which do without these tables; or use features of fewer variables.",
            ) from None

    @cached_property
    def family(self) -> FeatureFamily:
        """The distributions that weights reach, on the cells that are allowed."""
        offset = None if self.allowed.all() else np.where(self.allowed, 0.0, -np.inf)
        return FeatureFamily(self.cells_family, self.design.matrix, offset)

    @cached_property
    def spread(self) -> Floats:
        """The largest minus the least value of every feature, the unit of its gaps; what is usual, without bounds.

        Where a feature has several scopes and the joint table is large, it is that of its widest scope.
        """
        if not self.nodes:
            return self._ranges
        unbounded = {name for name, ends in self.problem.structure.support if not np.isfinite(ends).all()}
        low, high = self.design.bounds()
        usual = np.sqrt(self.moments[1]) + np.abs(self.moments[0])
        far = np.array([bool(unbounded & set(feature.variables)) for feature in self.design.features])
        return np.where(far, np.where(usual > 0, usual, 1.0), high - low)

    @property
    def _ranges(self) -> Floats:
        design, layout = self.design, self.design.layout
        low, high = design.bounds()
        several = design.n_terms > 1
        if not several.any():
            return np.asarray(high - low, np.float64)
        if math.prod(layout.sizes) <= SMALL_TABLE and len(layout.sizes) <= 30:
            values = joint_features(TableFamily(list(design.names), layout.sizes, layout.scopes), design.matrix)
            most, least = values.max(axis=0).todense(), values.min(axis=0).todense()
            return np.asarray(most, np.float64).reshape(-1) - np.asarray(least, np.float64).reshape(-1)
        return np.where(several, widest(layout, design.by_column), high - low)

    @cached_property
    def root(self) -> Floats | None:
        """R with Rᵀ R about the covariance of the features, from their deviations; for small joint tables.

        It tells features apart that are nearly multiples of each other, as powers of a year are. To the data a few rows
        are added that are spread evenly over the table.
        """
        if not self.has_root:
            return None
        layout, k = self.design.layout, self.design.n_weights
        cells = math.prod(layout.sizes)
        even = self.joint_values - self.joint_values.mean(axis=0)
        part = PSEUDO_ROWS / (PSEUDO_ROWS + self.problem.statistics.weight)
        rows = [even * math.sqrt(part / cells)]
        if self.whole_rows is not None and len(self.whole_rows[1]):
            codes, shares = self.whole_rows
            seen = self.joint_values[np.ravel_multi_index(tuple(codes.T), layout.sizes)]
            rows.append((seen - shares @ seen) * np.sqrt((1 - part) * shares)[:, None])
        stacked = np.vstack([*rows, np.zeros((max(0, k - cells), k))])
        return np.asarray(np.linalg.qr(stacked, mode="r"), np.float64)

    @property
    def has_root(self) -> bool:
        """Whether the joint table is small enough for that."""
        sizes, k = self.design.layout.sizes, self.design.n_weights
        return not self.nodes and len(sizes) <= 30 and k > 1 and math.prod(sizes) * k**2 <= MOST_PRODUCTS

    @cached_property
    def joint_values(self) -> Floats:
        """f(x) of every configuration, for small joint tables; shape (configurations, n_weights)."""
        layout = self.design.layout
        family = TableFamily(list(self.design.names), layout.sizes, layout.scopes)
        return np.asarray(joint_features(family, self.design.matrix).toarray(), np.float64)

    @cached_property
    def metric(self) -> Floats | None:
        """The covariance of the features in the data, where whole rows were counted and weights are not too many."""
        return self.data_metric

    @cached_property
    def data_metric(self) -> Floats | None:
        """The covariance of the features in the data, a little of it replaced by its diagonal."""
        if self.whole_rows is None or not 1 < self.design.n_weights <= MOST_METRIC:
            return None
        codes, shares = self.whole_rows
        every = 1 + len(shares) * len(self.design.layout.scopes) // METRIC_NUMBERS  # some of the rows will do
        codes, shares = codes[::every], shares[::every]
        if not len(shares):
            return None
        return data_covariance(self.design, codes, shares / shares.sum(), self.problem.statistics.weight)

    @cached_property
    def whole_rows(self) -> tuple[Array, Floats] | None:
        """The distinct rows as codes, with the share of each; None where they were not collected."""
        structure, statistics = self.problem.structure, self.problem.statistics
        if self.nodes:
            return None
        if Distinct(structure.columns) in statistics:
            rows = statistics[Distinct(structure.columns)]
            return rows.codes(list(self.design.names)), rows.weights / rows.weights.sum()
        if Count(structure.variables) in statistics:
            codes, counts = statistics[Count(structure.variables)].nonzero()
            return codes, counts / counts.sum()
        return None

    @cached_property
    def origin(self) -> Floats | None:
        """Weights that come near a normal or an exponential density where supports have no end; None elsewhere."""
        ends = dict(self.problem.structure.support)
        if all(math.isfinite(low) and math.isfinite(high) for low, high in ends.values()):
            return None
        placement = placement_of(self.problem.structure, self.problem.statistics)
        layout, names = self.design.layout, self.design.names
        log_q, volume = np.zeros(layout.sizes), np.zeros(layout.sizes)
        for axis, name in enumerate(names):
            if name in self.nodes:
                shape = [-1 if other == axis else 1 for other in range(len(names))]
                log_q = log_q + reference(self.nodes[name].nodes, ends[name], placement[name]).reshape(shape)
        for factor in self.base:
            with np.errstate(divide="ignore"):
                volume = volume + np.log(factor.over(layout.sizes))
        weights = np.exp(log_q + volume - (log_q + volume).max()).reshape(-1)
        near = weights > 1e-12
        wanted = log_q - volume + sum(_node_logs(self, names))
        values = joint_features(TableFamily(list(names), layout.sizes, layout.scopes), self.design.matrix)
        root = np.sqrt(weights[near])
        design = np.column_stack([values[np.flatnonzero(near)].toarray(), np.ones(int(near.sum()))]) * root[:, None]
        size = np.maximum(np.abs(design).max(axis=0), 1e-300)
        found = np.linalg.lstsq(design / size, wanted.reshape(-1)[near] * root, rcond=1e-10)[0] / size
        reach = np.abs(found[:-1] * size[:-1])
        return np.where(reach > 1e-9 * max(float(reach.max(initial=0.0)), 1e-300), found[:-1], 0.0)  # less is rounding

    def matching(self) -> FeatureMatching:
        """Return the problem of the weights."""
        alpha, squares = self.moments
        return FeatureMatching(
            problem=self.problem,
            names=self.names,
            family=self.family,
            targets=alpha,
            squares=squares,
            spread=self.spread,
            total=self.problem.statistics.weight or 1.0,
            free=(self.limits == 0) & (self.spread > 0),
            main=main_effects(self.design.features),
            reach=self,
            origin=self.origin,
            metric=None if self.has_root else self.metric,
            root_of=lambda: self.root,
        )

    @property
    def low(self) -> Floats:
        """A lower bound of every feature."""
        return self.design.bounds(self.allowed)[0]

    @property
    def unit(self) -> Floats:
        """The range of every feature."""
        return np.where(self.spread > 0, self.spread, 1.0)

    def largest_sum(self, coefficients: Floats) -> tuple[float, str]:
        """Return max_x Σ c_i (f_i(x) − low_i)."""
        return largest_sum(self.design, coefficients, self.allowed, float(coefficients.dot(self.low)))

    # The boundary ---------------------------------------------------------------------------------------------

    def on_extremes(self) -> FeatureSetting:
        """Return the setting on the cells that targets at the end of their range leave.

        Where the mean of a feature is its least value, all mass lies on cells with that value: its weight runs to −∞.
        Ruling cells out can bring other features to their ends.
        """
        setting = self
        while True:
            found = setting._one_round()
            if found is None:
                return setting
            setting = found

    @property
    def _extreme(self) -> float:
        """How near to a bound, in its spread, a target is at it: less than the least that a row can make."""
        return EXTREME if self.counts is None else min(EXTREME, 1e-3 / max(self.problem.statistics.weight, 1.0))

    def _one_round(self) -> FeatureSetting | None:
        alpha = self.moments[0]
        low, high = self.design.bounds(self.allowed)
        reach = self._extreme * np.maximum(high - low, 1e-300)
        at_low = (alpha <= low + reach) & (self.limits == 0) & (high > low)
        at_high = (alpha >= high - reach) & (self.limits == 0) & (high > low)
        if self.nodes or not (at_low | at_high).any():
            return None
        allowed, limits = self.allowed.copy(), self.limits.copy()
        for weight in np.flatnonzero(at_low | at_high):
            side = -1.0 if at_low[weight] else 1.0
            limits[weight] = side * math.inf
            allowed &= self._extreme_cells(int(weight), side)
        return replace(self, allowed=allowed, limits=limits)

    def _extreme_cells(self, weight: int, side: float) -> NDArray[np.bool_]:
        """Return the cells at which each of a feature's tables is at its least, or its largest, value."""
        layout, columns = self.design.layout, self.design.by_column
        values = np.zeros(layout.n)
        part = slice(columns.indptr[weight], columns.indptr[weight + 1])
        values[columns.indices[part]] = columns.data[part] * side
        keep = np.ones(layout.n, bool)
        for start, end in zip(layout.starts[:-1], layout.starts[1:], strict=True):
            inside = values[start:end]
            best = inside[self.allowed[start:end]].max(initial=-math.inf)
            if inside.any():
                keep[start:end] = inside >= best
        return keep

    def on(self, support: NDArray[np.bool_]) -> FeatureSetting:
        """Return the setting on some cells of the joint table only."""
        scope = tuple(range(len(self.design.names)))
        return replace(self, base=(*self.base, Factor(scope, support.astype(np.float64))))


def _to_a_fit(part: Remedy | Passed | Mention | Made) -> Part:
    """Return a part of an answer's error as a fit says it, which cannot observe more variables."""
    return "Allow more: " if isinstance(part, Mention) and part.what == "observe" else part


def _node_logs(setting: FeatureSetting, names: tuple[str, ...]) -> list[Floats]:
    """Return the logarithms of the quadrature's weights, each along its axis: they are no part of the density."""
    found = [np.zeros(setting.design.layout.sizes)]
    for axis, name in enumerate(names):
        if name in setting.nodes:
            found.append(setting.nodes[name].log_weights.reshape([-1 if o == axis else 1 for o in range(len(names))]))
    return found


def labelled_base(entries: tuple[Any, ...]) -> tuple[LabelledTable, ...]:
    """Return the tables of a base measure; functions of continuous variables are none."""
    return tuple(entry for entry in entries if not isinstance(entry, BaseTerm))
