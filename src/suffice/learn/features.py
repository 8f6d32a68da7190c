"""Log-linear models by iteration: what all searches for weights share, from the statistics to the solution."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.labelled import LabelledTable
from suffice.errors import ArgumentError, EstimationError, NotFor, Passed, Remedy, Text, made, shown, the_argument
from suffice.inference.clique_family import TableFamily, TablePoint
from suffice.inference.dependence import Dependence, combination
from suffice.inference.feature_family import joint_features
from suffice.inference.feature_rank import MOST_WEIGHTS, rank_of_rows, relations, uniform_covariance
from suffice.inference.moment_hull import HullFace, face, separation
from suffice.inference.product import possible_cells
from suffice.learn.conditional import solve_conditional
from suffice.learn.feature_density import density_solution
from suffice.learn.feature_setting import FeatureSetting, labelled_base
from suffice.learn.largest_sum import largest_sum
from suffice.learn.method import Problem, Solution
from suffice.learn.weight_remarks import SHOWN, related, sent_away, steps_of, unfinished, with_limits
from suffice.learn.weights import FoundWeights, WeightSearch, quietly
from suffice.models.feature_design import FeatureModel
from suffice.models.log_linear import LogLinear
from suffice.priors.penalty import Laplace, Penalty
from suffice.structures.pairwise import SpinsSpec, spin_values
from suffice.text import plural
from suffice.types import Array, Floats

if TYPE_CHECKING:
    from suffice.priors.prior import Prior
    from suffice.structures.features import Features

LARGE = 16.0
"""Probabilities of less than exp(−LARGE) of the uniform one, and weights that reach as far, are looked at twice."""
FACE_CELLS = 1 << 12
HULL_NUMBERS = 4_000_000
"""Hulls of more numbers than this are not looked into before the fit."""


def solve_by(search: WeightSearch) -> Callable[[Problem[Features]], Solution[FeatureModel]]:
    """Return the ``solve`` of a method from its search."""

    def solve(problem: Problem[Features]) -> Solution[FeatureModel]:
        if problem.structure.given:
            return solve_conditional(problem, search)
        setting = FeatureSetting.of(problem)
        require_bounded(setting)
        if problem.prior is None:
            require_feasible(setting)
            setting = setting.on_extremes()
        found = quietly(search, setting.matching())
        if problem.prior is None and not found.converged:
            require_no_ray(setting, found.weights)
        if problem.structure.continuous:
            return density_solution(setting, found)
        on_face = None
        if problem.prior is None and not problem.watch.interrupted and _is_suspect(setting, found):
            on_face = joint_face(setting)
            if on_face is not None and on_face.exists == "no" and on_face.support is not None:
                support = _spread_out(setting, on_face.support)
                setting = setting.on(support)
                found = quietly(search, setting.matching())
            if (on_face is None or on_face.exists == "undecided") and _is_far(setting, found):
                found = replace(found, remarks=(*found.remarks, _maybe_far(setting, found)))
        return solution(setting, found, on_face)

    return solve


def require_bounded(setting: FeatureSetting) -> None:
    """Refuse weights that a penalty leaves free and that would run away."""
    penalty = setting.problem.prior
    if not isinstance(penalty, Penalty) or penalty.main != math.inf or setting.nodes:
        return
    alone = setting.on_extremes()
    for weight in np.flatnonzero(alone.limits):
        if len(setting.design.features[weight].variables) == 1:
            raise EstimationError(
                f"The mean of the feature {setting.names[weight]!r} is at the end of its range, and "
                f"{penalty.describe()} leaves its weight free: it would run away. Give such weights a prior, main=10, "
                "or leave the feature out."
            )


def require_feasible(setting: FeatureSetting) -> None:
    """Refuse targets that no distribution has, which only hands can write; name the combination that shows it."""
    if setting.problem.statistics.n_read:
        return
    require_reachable(setting)
    layout = setting.design.layout
    if math.prod(layout.sizes) * setting.design.n_weights > HULL_NUMBERS:
        return
    found = separation(_joint_values(setting), setting.moments[0])
    if found is not None:
        raise EstimationError(_contradiction(setting, found.direction, found.bound, found.reached))


def require_no_ray(setting: FeatureSetting, weights: Floats) -> None:
    """Refuse targets by hand that the weights, having run away, separate from what any distribution can have."""
    if setting.problem.statistics.n_read or setting.nodes or not np.isfinite(weights).all() or not weights.any():
        return
    direction = weights / np.abs(weights * np.maximum(setting.spread, 1e-300)).max()
    bound, _ = largest_sum(setting.design, direction, setting.allowed, 0.0)
    reached = float(direction.dot(setting.moments[0]))
    if reached > bound + 1e-9 * max(1.0, abs(bound)):
        raise EstimationError(_contradiction(setting, direction, bound, reached))


def _contradiction(setting: FeatureSetting, direction: Floats, bound: float, reached: float) -> str:
    held = np.flatnonzero(direction)
    held = held[np.argsort(-np.abs(direction[held]), kind="stable")]
    said = combination([(float(direction[w]), f"[{setting.names[w]}]") for w in held[:SHOWN]])
    more = f" + … ({len(held) - SHOWN} more)" if len(held) > SHOWN else ""
    most, given = f"{bound:.6g}", f"{reached:.6g}"
    given = f"{reached - bound:.3g} more" if most == given else given
    return (
        f"No distribution has these expectations: {said}{more} is at most {most} for every configuration, but the "
        f"targets give {given}. Change one of them, or allow more in the base measure."
    )


def _joint_values(setting: FeatureSetting) -> Any:
    """Return f(x) of every possible configuration."""
    layout = setting.design.layout
    family = TableFamily(list(setting.design.names), layout.sizes, layout.scopes)
    return joint_features(family, setting.design.matrix)[np.flatnonzero(possible_in(setting))]


def require_reachable(setting: FeatureSetting) -> None:
    """Refuse targets outside the range of their feature."""
    alpha = setting.moments[0]
    low, high = setting.design.bounds()
    reach = 1e-9 * np.maximum(high - low, 1e-300) + 1e-12 * np.abs(alpha)
    for weight in np.flatnonzero((alpha < low - reach) | (alpha > high + reach)):
        raise EstimationError(
            f"The target {alpha[weight]:g} of the feature {setting.names[weight]!r} is out of reach: its values are "
            f"between {low[weight]:g} and {high[weight]:g}. Correct the target."
        )


# The boundary -------------------------------------------------------------------------------------------------


def _is_far(setting: FeatureSetting, found: FoundWeights) -> bool:
    """Whether a weight by itself makes a feature's range count for more than data can show."""
    return float((np.abs(found.weights) * setting.spread).max(initial=0.0)) > LARGE


def _maybe_far(setting: FeatureSetting, found: FoundWeights) -> str:
    """Say that weights may be running away, where that cannot be decided."""
    farthest = int(np.argmax(np.abs(found.weights) * setting.spread))
    return Text(
        f"The weight of {setting.names[farthest]!r} is {found.weights[farthest]:.3g}: it may be running away, the "
        "estimate lying on the boundary, where it does not exist; that could not be decided here. A prior, such as ",
        Remedy("prior", made("Gaussian", 10)),
        ", keeps weights finite.",
    )


def _is_suspect(setting: FeatureSetting, found: FoundWeights) -> bool:
    """Whether the weights look as if they ran away."""
    if not found.converged:
        return True
    inner = setting.family.at(found.weights).inner
    if isinstance(inner, TablePoint):
        p = inner.p.reshape(-1)[possible_in(setting)]
        return not float(p.min(initial=1.0)) * p.size > math.exp(-LARGE)
    return _is_far(setting, found)


def joint_face(setting: FeatureSetting) -> HullFace | None:
    """Return the face of the moments' hull that holds the targets, where the joint table is small enough."""
    if math.prod(setting.design.layout.sizes) > FACE_CELLS:
        return None
    return face(_joint_values(setting), setting.moments[0])


def possible_in(setting: FeatureSetting) -> NDArray[np.bool_]:
    """Return which configurations the base measure and weights at infinity leave, flat."""
    layout = setting.design.layout
    possible = possible_cells(setting.base, layout.sizes)
    for scope, table in zip(layout.scopes, layout.tables(setting.allowed), strict=True):
        ranked = sorted(range(len(scope)), key=scope.__getitem__)
        shape = [size if v in scope else 1 for v, size in enumerate(layout.sizes)]
        possible = possible & table.transpose(ranked).reshape(shape)
    return np.broadcast_to(possible, layout.sizes).reshape(-1)


def _spread_out(setting: FeatureSetting, support: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the support over the whole joint table, from that among the possible configurations."""
    whole = possible_in(setting).copy()
    whole[whole] = support
    return whole.reshape(setting.design.layout.sizes)


# The solution -------------------------------------------------------------------------------------------------


def solution(setting: FeatureSetting, found: FoundWeights, on_face: HullFace | None) -> Solution[LogLinear]:
    """Put the model together, and say what there is to say."""
    problem, design = setting.problem, setting.design
    point = setting.family.at(found.weights)
    total = problem.statistics.weight
    rank, remarks = rank_of(setting)
    ran_away = np.flatnonzero(setting.limits)
    adjusted = rank_left(setting, rank)
    is_on_face = on_face is not None and on_face.exists == "no" and on_face.direction is not None
    if len(ran_away):
        remarks.append(_run_away(setting, ran_away))
    if on_face is not None and is_on_face:
        remarks.append(_combination(setting, on_face))
    remarks += [*unfinished(problem, found), *spin_remarks(problem)]
    if isinstance(problem.prior, Laplace):
        zeros = int((found.weights == 0).sum())
        remarks += [f"{plural(zeros, 'weight')} of {design.n_weights:,} {'is' if zeros == 1 else 'are'} exactly zero."]
    return Solution(
        model=model_of(setting, found.weights, labelled_base(problem.base)),
        log_likelihood=total * (float(found.weights.dot(setting.moments[0])) - point.log_z) + 0.0,
        n_free=rank,
        n_free_adjusted=max(adjusted, 0),
        trace=steps_of(found),
        stop=found.stop,
        remarks=(*found.remarks, *remarks),
        interrupted=problem.watch.interrupted,
        explains_boundary=bool(len(ran_away)) or is_on_face,
    )


def model_of(setting: FeatureSetting, weights: Floats, base: Sequence[LabelledTable] = ()) -> LogLinear:
    """Put the model together from the weights that were found."""
    problem = setting.problem
    schema = problem.schema.select(problem.structure.variables)
    return LogLinear(
        problem.structure,
        with_limits(setting.limits, weights),
        schema=schema,
        base=base,
        support=supports(setting, schema),
        design=setting.design,
    )


def rank_of(setting: FeatureSetting) -> tuple[int, list[str]]:
    """Return how many weights the features determine, and a remark where they depend on each other."""
    design = setting.design
    covariance = uniform_covariance(design.layout, design.matrix)
    if covariance is None:
        return design.n_weights, ["Whether features depend on each other was not looked into: they are too many."]
    found = relations(covariance, setting.spread)
    if setting.has_root and found.relations:
        rank = rank_of_rows(setting.joint_values - setting.joint_values.mean(axis=0))
        found = found if rank == found.rank else Dependence(rank, ())  # all but multiples of each other
    return found.rank, related(setting.names, found)


def rank_left(setting: FeatureSetting, rank: int) -> int:
    """Return how many weights the features determine on what weights at infinity leave."""
    layout, n_base = setting.design.layout, len(setting.nodes) + len(setting.problem.base)
    if not setting.limits.any() and len(setting.base) == n_base:
        return rank
    if math.prod(layout.sizes) > FACE_CELLS or setting.design.n_weights > MOST_WEIGHTS:
        return max(rank - int((setting.limits != 0).sum()), 0)
    values = _joint_values(setting)
    mean = np.asarray(values.sum(axis=0)).reshape(-1) / max(values.shape[0], 1)
    second = (values.T @ values).toarray() / max(values.shape[0], 1)
    return relations(second - np.outer(mean, mean), setting.spread).rank


def spin_remarks(problem: Problem[Features]) -> list[str]:
    """Say what text counts as, where spins are made of it."""
    spec = problem.structure.specs[0]
    if not isinstance(spec, SpinsSpec):
        return []
    said = {}
    for name in spec.nodes:
        variable = problem.schema[name]
        if isinstance(variable.labels[0], str):
            low, high = sorted(zip(spin_values(variable, spec.values), variable.labels, strict=True))
            said[f"{low[1]!r} counts as {low[0]:g} and {high[1]!r} as {high[0]:g}"] = name
    return [f"{'; '.join(list(said)[:SHOWN])}{'; …' if len(said) > SHOWN else ''}."] if said else []


def supports(setting: FeatureSetting, schema: Any) -> list[LabelledTable]:
    """Return tables of zeros and ones: what is left by weights at infinity, and by a face."""
    layout, names = setting.design.layout, setting.design.names
    found = []
    for scope, table in zip(layout.scopes, layout.tables(setting.allowed), strict=True):
        if not table.all():
            variables = tuple(schema[names[v]] for v in scope)
            found.append(LabelledTable(variables, table.astype(np.float64), "h"))
    for factor in setting.base[len(setting.nodes) + len(setting.problem.base) :]:
        found.append(LabelledTable(tuple(schema[names[v]] for v in factor.scope), factor.values, "h"))
    return found


def _run_away(setting: FeatureSetting, which: Array) -> str:
    named = sent_away(setting.names, setting.limits, which)
    return f"{_no_estimate(setting)} The mean of a feature is at the end of its range: {named}."


def _combination(setting: FeatureSetting, on_face: HullFace) -> str:
    assert on_face.direction is not None
    assert on_face.support is not None
    held = np.flatnonzero(on_face.direction)
    said = combination([(float(on_face.direction[w]), setting.names[w]) for w in held[:SHOWN]])
    more = " + …" if len(held) > SHOWN else ""
    lost, by_data = int((~on_face.support).sum()), bool(setting.problem.statistics.n_read)
    return (
        f"{_no_estimate(setting)} {'The data reach' if by_data else 'They are at'} the largest value of {said}{more}: "
        f"its weight runs to +∞; {plural(lost, 'configuration')} {'gets' if lost == 1 else 'get'} the probability zero."
    )


def _no_estimate(setting: FeatureSetting) -> str:
    if not setting.problem.statistics.n_read:
        return "The targets leave no distribution with finite weights: the model is the limit of such."
    return "The maximum-likelihood estimate does not exist: it lies on the boundary, and the model is its limit."


# What the methods refuse --------------------------------------------------------------------------------------


def refuses_kinks(structure: Any, prior: Prior | None) -> str | None:
    """Refuse penalties that have no derivative at zero."""
    if isinstance(prior, Laplace):
        return "it needs derivatives, and Laplace's penalty has none at zero. Use 'proximal'."
    return None


def refuses_smooth(structure: Any, prior: Prior | None) -> str | None:
    """Refuse everything but penalties with kinks."""
    if not isinstance(prior, Laplace):
        return NotFor(
            "it is for ",
            Passed("prior", made("Laplace", 1.0)),
            "; all else has faster methods. Use ",
            Remedy("method", "auto"),
            ".",
        )
    return None


def refuses_penalties(structure: Any, prior: Prior | None) -> str | None:
    """Refuse penalties."""
    if isinstance(prior, Penalty):
        other = "'proximal'" if isinstance(prior, Laplace) else "'lbfgs' or 'newton'"
        return f"it matches expectations, and {prior.describe()} is a penalty. Use {other}."
    return None


def check(structure: Any, prior: Prior | None, fixed: Mapping[str, Any]) -> None:
    """Refuse what is no prior on weights, and given parameters."""
    if prior is not None and not isinstance(prior, Penalty):
        raise ArgumentError(
            the_argument("prior"),
            " of a log-linear model must be a penalty on its weights, ",
            made("Gaussian", 1.0),
            " or ",
            made("Laplace", 1.0),
            f". Got {shown(prior)} instead.",
        )
    if fixed:
        raise ArgumentError(
            f"The 'fixed' argument gives tables of a Bayesian network's nodes; features have none. Got {shown(fixed)} "
            "instead; a base measure in sf.maxent holds what is fixed of a log-linear model."
        )
