"""Softmax (multinomial logistic) regression: the weights that maximise Σ log p(y | x), or that under a prior.

ML          no prior; slopes and intercepts by Newton's method with conjugate gradients, or L-BFGS
L2          sf.Gaussian(σ): Σ w² / (2 σ²) over the slopes of all K classes, which then sum to zero
L1          sf.Laplace(b): Σ |w| / b over the same, some of them exactly zero, by proximal and Newton steps

Intercepts have no prior. Slopes are those of the inputs as they are, not standardised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import (
    ArgumentError,
    Mention,
    NotFor,
    Remedy,
    Text,
    UnknownNameError,
    listing,
    made,
    shown,
    the_argument,
)
from suffice.learn.method import Method, Problem, Solution, Step
from suffice.learn.softmax_design import SoftmaxDesign, held, terms_of
from suffice.learn.softmax_l1 import sparse_search
from suffice.learn.softmax_objective import SoftmaxObjective
from suffice.learn.softmax_passes import SoftmaxPoint
from suffice.learn.softmax_search import newton, quasi_newton
from suffice.learn.softmax_summary import centre_of, inputs_of, needs, summary_of
from suffice.learn.softmax_trouble import accurate_root, require_classes
from suffice.models.softmax_model import SoftmaxModel
from suffice.optimise.outcome import Outcome, not_converged
from suffice.priors.penalty import Gaussian, Laplace, Penalty
from suffice.stats.needs import Count
from suffice.structures.softmax_regression import SoftmaxClasses
from suffice.types import Floats

MARGIN = 0.5
"""The part of the tolerance at which searches stop, so that the certificate, which adds up otherwise, agrees."""
WEAK, LONG = 100.0, 4.0
"""Tolerances that a prior's pull should be at least; slopes, in units of their terms, from which on that matters."""
MOST_PRODUCTS = 5e8
"""Multiplications up to which the information is written out at the end of a fit."""


def refuses(structure: SoftmaxClasses, schema: Schema) -> str | None:
    """Refuse a class that is continuous."""
    if not schema[structure.target].is_discrete:
        name = structure.target
        return Text(
            f"the class {name!r} is continuous. Declare it: ", Remedy("schema", {name: made("categorical")}), "."
        )
    return None


def refuses_prior(structure: SoftmaxClasses, prior: Any) -> str | None:
    """Refuse priors that are not on weights, and those with kinks."""
    if isinstance(prior, Laplace):
        return Text(
            Mention("Laplace", "sf.Laplace(…)"),
            " has a kink at zero, for which there is ",
            Remedy("method", "proximal"),
            ".",
        )
    return _refuses_other(prior)


def refuses_smooth(structure: SoftmaxClasses, prior: Any) -> str | None:
    """Refuse priors without kinks."""
    if not isinstance(prior, Laplace):
        return NotFor(
            "it is for ",
            Mention("priors with a kink", "priors with a kink"),
            " at zero, ",
            Mention("Laplace", "prior=sf.Laplace(…)"),
            ". Use ",
            Remedy("method", "newton"),
            ".",
        )
    return _refuses_other(prior)


def _refuses_other(prior: Any) -> str | None:
    if prior is not None and not isinstance(prior, Gaussian | Laplace):
        return Text(
            "a prior on the weights is ",
            made("Gaussian", 10),
            " or ",
            made("Laplace", 1.0),
            f". Got {shown(prior)} instead.",
        )
    if isinstance(prior, Penalty) and prior.main is not None and prior.main != math.inf:
        return "intercepts of a softmax regression have no prior; leave 'main' out of it."
    return None


def check(structure: SoftmaxClasses, prior: Any, fixed: Mapping[str, Any]) -> None:
    """Refuse given parameters, and on reading a file priors that are no penalty."""
    if fixed:
        raise ArgumentError(
            f"Weights of a softmax regression are learnt all together, so the 'fixed' argument must be left out. Got "
            f"{shown(fixed)} instead."
        )
    reason = _refuses_other(prior)
    if reason is not None:
        raise ArgumentError(the_argument("prior"), " does not fit a softmax regression: ", reason)


def _by(
    search: Callable[..., tuple[SoftmaxPoint, Outcome]], label: str
) -> Callable[[Problem[SoftmaxClasses]], Solution[SoftmaxModel]]:
    """Return the solver that a smooth search makes."""

    def solve(problem: Problem[SoftmaxClasses]) -> Solution[SoftmaxModel]:
        objective = objective_of(problem)
        root = accurate_root(objective) if problem.prior is None else None
        steps = problem.watch.steps(label, problem.max_iter)
        return _solution(problem, objective, *search(objective, root, MARGIN * problem.tol, steps))

    return solve


def _by_proximal(problem: Problem[SoftmaxClasses]) -> Solution[SoftmaxModel]:
    objective = objective_of(problem)
    steps = problem.watch.steps("proximal", problem.max_iter)
    return _solution(problem, objective, *sparse_search(objective, problem.prior.width, MARGIN * problem.tol, steps))


def objective_of(problem: Problem[SoftmaxClasses]) -> SoftmaxObjective:
    """Return the function to be minimised, its rows in memory where they fit."""
    structure, statistics = problem.structure, problem.statistics
    target = problem.schema[structure.target]
    require_classes(target, np.asarray(statistics[Count((structure.target,))].table(), np.float64))
    if structure.reference is not None and target.find(structure.reference) is None:
        raise UnknownNameError(
            the_argument("reference"),
            f" names the class {structure.reference!r}, but the classes are {listing(target.labels)}.",
        )
    assert problem.source is not None
    variables = {name: problem.schema[name] for name in structure.inputs}
    known = inputs_of(structure, statistics)
    design = SoftmaxDesign(terms_of(structure, variables), target, variables, centre_of(structure, known))
    source = held(problem.source, design, statistics.n_read - statistics.n_dropped)
    summary = summary_of(structure, design, known, source)
    ridge = 1 / problem.prior.width**2 if isinstance(problem.prior, Gaussian) else 0.0
    return SoftmaxObjective(source, design, summary, statistics.weight, structure.intercept, ridge)


def _solution(
    problem: Problem[SoftmaxClasses], objective: SoftmaxObjective, found: SoftmaxPoint, outcome: Outcome
) -> Solution[SoftmaxModel]:
    point, design = _centred(found, problem.prior), objective.design
    penalty = _penalty(problem.prior, point) / objective.total
    n_free = _n_free(problem.prior, point) + (design.n_classes - 1) * int(objective.intercept)
    model = SoftmaxModel(
        design.target,
        tuple(design.variables.values()),
        design.terms,
        point.slopes.T,
        point.intercept,
        design.centre,
        problem.structure,
        _information(problem, objective, point),
    )
    return Solution(
        model=model,
        log_likelihood=-objective.total * (outcome.value - penalty),
        n_free=n_free,
        n_free_adjusted=n_free,
        trace=tuple(Step(number, -objective.total * value) for number, value in enumerate(outcome.values, 1)),
        stop=outcome.stop,
        remarks=_remarks(problem, objective, point, outcome),
        interrupted=problem.watch.interrupted,
    )


def _centred(point: SoftmaxPoint, prior: Any) -> SoftmaxPoint:
    """Return the same model with intercepts, and slopes unless zeros among them matter, that sum to zero."""
    slopes = point.slopes if isinstance(prior, Laplace) else point.slopes - point.slopes.mean(axis=0)
    return SoftmaxPoint(slopes, point.intercept - point.intercept.mean())


def _n_free(prior: Any, point: SoftmaxPoint) -> int:
    """Return how many slopes are free: those of all classes but one, of a prior with a kink only those it leaves."""
    most, n_terms = len(point.slopes) - 1, point.slopes.shape[1]
    if isinstance(prior, Laplace):
        return int(np.minimum((point.slopes != 0).sum(axis=0), most).sum())
    return int(most * n_terms)


def _penalty(prior: Any, point: SoftmaxPoint) -> float:
    """Return −log p(weights), but for a constant."""
    if isinstance(prior, Gaussian):
        return float((point.slopes**2).sum()) / (2 * prior.width**2)
    return float(np.abs(point.slopes).sum()) / prior.width if isinstance(prior, Laplace) else 0.0


def _information(problem: Problem[SoftmaxClasses], objective: SoftmaxObjective, point: SoftmaxPoint) -> Floats | None:
    """Return the second derivatives of −Σ log p at a maximum-likelihood estimate, where that takes little time."""
    design = objective.design
    size = design.n_classes * (1 + design.n_terms)
    table = objective.held
    if problem.prior is not None or table is None or table.n_expected * float(size) ** 2 > MOST_PRODUCTS:
        return None
    return objective.total * objective.hessian(point)


def _remarks(
    problem: Problem[SoftmaxClasses], objective: SoftmaxObjective, point: SoftmaxPoint, outcome: Outcome
) -> tuple[str, ...]:
    remarks: list[str] = []
    if problem.prior is not None:
        with_intercept = "; the intercepts have none" if objective.intercept else ""
        slopes = f" is on the slopes of the inputs as they are, not standardised{with_intercept}."
        remarks.append(Text(Mention("The prior", "The prior"), slopes))
        remarks += _weakness(problem, objective, point)
        if isinstance(problem.prior, Laplace):
            remarks.append(f"{int((point.slopes == 0).sum()):,} of {point.slopes.size:,} slopes are zero.")
    if not outcome.converged and not problem.watch.interrupted:
        hint = (
            ""
            if problem.prior is not None
            else Text(" If classes are separated, try ", Remedy("prior", made("Gaussian", 10)), ".")
        )
        remarks.append(not_converged(outcome.n_steps, outcome.reason, hint))
    if problem.prior is None and objective.summary.correlations is None:
        remarks.append("With so many terms it was not looked at whether some are combinations of others.")
    return tuple(remarks)


def _weakness(problem: Problem[SoftmaxClasses], objective: SoftmaxObjective, point: SoftmaxPoint) -> list[str]:
    """Say that a prior pulls less than the tolerance lets pass, where it alone keeps slopes from running away."""
    units = objective.summary.units
    reach = float(np.abs(point.slopes * units).max(initial=0.0))
    width = problem.prior.width
    pulls = np.abs(point.slopes) / width**2 if isinstance(problem.prior, Gaussian) else 1 / width
    pull = float((pulls / units).max(initial=0.0)) / objective.total
    if pull >= WEAK * problem.tol or reach <= LONG:
        return []
    return [
        f"The prior pulls slopes by at most {pull:.1g} a row, about as much as the tolerance of {problem.tol:g} lets "
        "pass, so that large slopes are not exact. Pass a smaller tol, or a stronger prior."
    ]


NEWTON: Method[SoftmaxClasses, SoftmaxModel] = Method(
    refuses,
    needs,
    _by(newton, "Newton"),
    passes="many",
    check=check,
    refuses_prior=refuses_prior,
    points=("mle", "map"),
)
LBFGS: Method[SoftmaxClasses, SoftmaxModel] = Method(
    refuses,
    needs,
    _by(quasi_newton, "L-BFGS"),
    passes="many",
    check=check,
    refuses_prior=refuses_prior,
    points=("mle", "map"),
)
PROXIMAL: Method[SoftmaxClasses, SoftmaxModel] = Method(
    refuses, needs, _by_proximal, passes="many", check=check, refuses_prior=refuses_smooth, points=("map",)
)
