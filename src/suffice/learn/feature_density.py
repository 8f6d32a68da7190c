"""The solution of a log-linear model with continuous variables: weights, and where the quadrature has to lie for them.

A search runs on nodes that were placed before the density was known. Where it ends, the nodes are placed anew, around
the density that was found, and Newton's method finishes there: on the joint table of all nodes, because quadratic
features reach 1e50 at the outermost ones, which is too much for the messages of a tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.errors import EstimationError
from suffice.inference.dependence import dependence, describe
from suffice.learn.feature_matching import FeatureMatching
from suffice.learn.feature_nodes import placement_of, reference, require_inside
from suffice.learn.feature_setting import FeatureSetting
from suffice.learn.method import Solution, Step
from suffice.learn.weights import FoundWeights
from suffice.models.log_linear_density import LogLinearDensity
from suffice.optimise.outcome import Stop, not_converged
from suffice.priors.penalty import Laplace
from suffice.text import plural
from suffice.types import Floats

Placement = dict[str, tuple[float, float]]
ROUNDS = 12
"""So often the nodes are placed anew."""
STEPS = 60
"""So many Newton steps are taken on the same nodes."""
MOST_NUMBERS = 1 << 25
"""Tables of more numbers, nodes times features, are left as the search found them."""
NARROWEST = 2e-6
"""Nodes of a density that is narrower than this part of its values would merge."""
LEAST, ROUNDING = 1e-14, 1e-13
"""Slopes in standard deviations, and differences of the objective, that are rounding error."""
NOTHING = 1e-9
"""Weights that change the logarithm of a density by less, within a standard deviation, are zero."""
FAR_MASS = 1e-9
"""So much probability at the last node of a support without end means that the integral does not exist."""


def density_solution(setting: FeatureSetting, found: FoundWeights) -> Solution[LogLinearDensity]:
    """Put the density together."""
    problem = setting.problem
    if problem.prior is None:
        require_inside(problem.structure, problem.statistics, setting.nodes)
    search = setting.matching()
    placement = placement_of(problem.structure, problem.statistics)
    spent = len(found.objectives) >= problem.max_iter and not found.converged
    numbers = math.prod(setting.design.layout.sizes) * setting.design.n_weights
    weights, finished = found.weights, found.converged
    if not problem.watch.interrupted and not spent and numbers <= MOST_NUMBERS:
        weights, placement, finished = _finished(setting, search, weights, placement)
    model = _density(setting, weights, placement)
    _require_end(model)
    stop = Stop.CONVERGED if finished else found.stop if not found.converged else Stop.NO_BETTER
    remarks = list(found.remarks)
    if not finished and not problem.watch.interrupted:
        remarks.append(_unfinished(setting, found))
    rank, more = setting.design.n_weights, list[str]()
    if numbers <= MOST_NUMBERS:
        first = placement_of(problem.structure, problem.statistics)
        rank, more = _rank(Nodes(_density(setting, weights, first), search))
    sizes = math.prod(setting.design.layout.sizes)
    return Solution(
        model=model,
        log_likelihood=search.total * (float(weights.dot(search.targets)) - model.log_z),
        n_free=rank,
        n_free_adjusted=rank,
        trace=tuple(Step(number, value) for number, value in enumerate(found.objectives, 1)),
        stop=stop,
        remarks=(*remarks, *more, f"Integrals by quadrature, on {sizes:,} nodes."),
        interrupted=problem.watch.interrupted,
    )


def _density(setting: FeatureSetting, weights: Floats, placement: Placement) -> LogLinearDensity:
    problem = setting.problem
    schema = problem.schema.select(problem.structure.columns)
    return LogLinearDensity(problem.structure, np.array(weights), schema=schema, base=problem.base, placement=placement)


def _unfinished(setting: FeatureSetting, found: FoundWeights) -> str:
    n_steps = len(found.objectives)
    if n_steps >= setting.problem.max_iter:
        return not_converged(n_steps, found.reason)
    ends = [end for _, pair in setting.problem.structure.support for end in pair]
    if all(map(math.isfinite, ends)):
        return not_converged(
            n_steps,
            "no better point was found. Expectations at the end of what is possible leave no density with finite "
            "weights: it shrinks to a point, or to a part of the support. Change them, or give a prior.",
        )
    return not_converged(
        n_steps,
        "no better point was found. On a support without end there may be no density of this form with these "
        "expectations: weights then stop where it can no longer be normalised, or it shrinks to a point. Bound the "
        "support, change the features, or give a prior.",
    )


def _require_end(model: LogLinearDensity) -> None:
    """Refuse a density whose mass lies where the nodes of a support without end happen to stop."""
    for name, (low, high) in model.features.support:
        p = model.along(name)
        for end, mass in ((low, p[0]), (high, p[-1])):
            if math.isinf(end) and mass > FAR_MASS:
                raise EstimationError(
                    f"There is no density of this form: towards {name!r} = {'−∞' if end < 0 else '∞'} it does not fall "
                    f"off, so that it cannot be normalised. Bound the support of {name!r}, or add a feature that "
                    f"grows faster on both sides, such as sf.product({name!r}, {name!r}), with its expectation."
                )


# Newton's method on all nodes ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Nodes:
    """The problem of the weights on the nodes of a density."""

    model: LogLinearDensity
    search: FeatureMatching

    @cached_property
    def values(self) -> Floats:
        """What f − α is at every configuration of nodes and states; shape (configurations, n_weights)."""
        features = self.model.features.resolved(self.model.schema)
        found = np.column_stack([feature.at(self.model.grid.columns) for feature in features])
        return np.asarray(found - self.search.targets, np.float64)

    @cached_property
    def log_h(self) -> Floats:
        """The base measure, the weights of the quadrature included."""
        return self.model.log_base(self.model.grid.columns) + self.model.grid.log_volume

    @cached_property
    def reference(self) -> Floats:
        """The probabilities under a wide density: uniform, exponential or normal, as supports allow."""
        grid = self.model.grid
        log_q = np.array(grid.log_volume)
        for name, ends in self.model.features.support:
            log_q += reference(grid.columns[name], ends, self.model.placement[name])
        return np.asarray(np.exp(log_q - np.logaddexp.reduce(log_q)), np.float64)

    def loss(self, weights: Floats) -> tuple[float, Floats]:
        """Return the objective, with the penalty at the signs that weights have, and the probabilities."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.values @ weights + self.log_h
            top = float(scores.max())
            if not math.isfinite(top):
                return math.inf, np.zeros(len(scores))
            p = np.exp(scores - top)
        total = float(p.sum())
        return top + math.log(total) + self._penalty(weights), p / total

    def _penalty(self, weights: Floats) -> float:
        if isinstance(self.search.penalty, Laplace):
            return float((np.abs(weights) / self.search.widths).sum()) / self.search.total
        return 0.5 * float(((weights / self.search.widths) ** 2).sum()) / self.search.total

    def derivatives(self, weights: Floats, p: Floats, moving: NDArray[np.bool_]) -> tuple[Floats, Floats, float]:
        """Return gradient and Hessian, and the largest slope of a weight that may move, in standard deviations."""
        mean = p @ self.values
        centred = np.sqrt(p)[:, None] * (self.values - mean)
        gradient, hessian = mean, centred.T @ centred
        unit = np.sqrt(np.maximum(np.diag(hessian), 1e-300))
        if isinstance(self.search.penalty, Laplace):
            gradient = gradient + np.sign(weights) / self.search.widths / self.search.total
        else:
            precision = 1 / self.search.widths**2 / self.search.total
            gradient, hessian = gradient + precision * weights, hessian + np.diag(precision)
        return gradient, hessian, float((np.abs(gradient) / unit)[moving].max(initial=0.0))


def _finished(
    setting: FeatureSetting, search: FeatureMatching, weights: Floats, placement: Placement
) -> tuple[Floats, Placement, bool]:
    """Return the weights, where the nodes lie, and whether the gradient is gone where they can follow the density."""
    gone = False
    for _ in range(ROUNDS):
        nodes = Nodes(_density(setting, weights, placement), search)
        weights, gone = _newton(nodes, min(_starts(nodes, weights), key=lambda start: nodes.loss(start)[0]))
        better = _placed(_density(setting, weights, placement), placement) if gone else None
        if better is None:
            break
        gone = better != placement
        if not gone:
            break
        placement = better
    return weights, placement, gone


def _starts(nodes: Nodes, weights: Floats) -> list[Floats]:
    """Return where Newton's method may begin: at what a search found, or where it began if that did not go well.

    Weights there that are zero but for rounding are zero, or else a normal density with 1e-17 x⁴ would have no end.
    """
    origin = nodes.search.origin
    if origin is None:
        return [weights]
    q = nodes.reference
    size = np.sqrt(q @ (nodes.values - q @ nodes.values) ** 2)
    return [weights, origin, np.where(np.abs(origin) * size < NOTHING, 0.0, origin)]


def _newton(nodes: Nodes, start: Floats) -> tuple[Floats, bool]:
    """Return the weights after Newton's steps, each shortened until it descends, and whether the gradient is gone."""
    weights = np.array(start, np.float64)
    moving = nodes.search.free.copy()
    if isinstance(nodes.search.penalty, Laplace):
        moving &= weights != 0
    value, p = nodes.loss(weights)
    gradient, hessian, gap = nodes.derivatives(weights, p, moving)
    for _ in range(STEPS):
        if gap <= LEAST:
            break
        unit = np.sqrt(np.maximum(np.diag(hessian), 1e-300))
        scaled = (hessian / unit[:, None] / unit)[np.ix_(moving, moving)]
        step = np.zeros(len(weights))
        # Features that depend on each other leave directions without a slope; the shortest step is as good as any.
        step[moving] = np.linalg.lstsq(scaled, (gradient / unit)[moving], rcond=1e-13)[0] / unit[moving]
        length = 1.0
        while length > 1e-9:
            trial, q = nodes.loss(weights - length * step)
            after = nodes.derivatives(weights - length * step, q, moving) if trial <= value + ROUNDING else None
            # Near the optimum, the objective no longer shows what the gradient still does.
            if after is not None and (trial < value - ROUNDING or after[2] < gap):
                break
            length /= 2
        else:
            break
        weights, value, p = weights - length * step, min(trial, value), q
        gradient, hessian, gap = after
    return weights, gap <= nodes.search.problem.tol / 2


def _placed(model: LogLinearDensity, placement: Placement) -> Placement | None:
    """Return a better place for the nodes, around the median of every variable; None where they lie well already.

    It is the old place where the density is narrower than nodes can be.
    """
    found, well = dict(placement), True
    for name, (low, high) in model.features.support:
        nodes, p = model.grid.rules[name].nodes, model.along(name)
        left, centre, right = nodes[np.minimum(np.searchsorted(np.cumsum(p), (0.16, 0.5, 0.84)), len(p) - 1)]
        before, scale = placement[name]
        width = max(float(right - left) / 2, scale / 64)  # narrower than the nodes can tell: look closer
        wide = math.isfinite(low) and math.isfinite(high) and width > (high - low) / 20
        if wide or (scale / 8 <= width <= 8 * scale and abs(centre - before) <= 2 * width):
            continue
        well = False
        if width > NARROWEST * abs(centre):
            found[name] = float(centre), width
    return None if well else found


# Dependence ---------------------------------------------------------------------------------------------------


def _rank(nodes: Nodes) -> tuple[int, list[str]]:
    """Return how many weights the features determine, and a remark where they depend on each other."""
    q = nodes.reference
    mean = q @ nodes.values
    centred = np.sqrt(q)[:, None] * (nodes.values - mean)
    covariance = centred.T @ centred
    found = dependence(
        covariance, scale=np.sqrt(np.diag(covariance)) + 1e-6 * np.abs(mean + nodes.search.targets) + 1e-300
    )
    if not found.relations:
        return found.rank, []
    said = "; ".join(describe(relation, [f"[{name}]" for name in nodes.search.names]) for relation in found.relations)
    return found.rank, [
        f"{plural(len(found.relations), 'relation')} between the features: {said}. The density is unique all the same, "
        f"of its {len(mean)} weights only {found.rank} are."
    ]
