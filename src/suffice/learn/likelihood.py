"""The likelihood of a Markov random field climbed by its gradient: plain, conjugate, L-BFGS, Newton.

∂ℓ/∂θ_C = N (t_C − p_C), and the Hessian is −N Cov(f): both come from a junction tree, never from the joint table.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ArgumentError, Remedy, require_choice, require_number, shown
from suffice.learn.cliques import CliqueEstimate, check, found_by, refuses_kinks, refuses_nothing, solve_by
from suffice.learn.matching import Matching, needs
from suffice.learn.method import Method
from suffice.optimise.conjugate_gradient import conjugate_gradient
from suffice.optimise.decrement import LEFT
from suffice.optimise.gradient import gradient_descent
from suffice.optimise.lbfgs import lbfgs as minimise_by_lbfgs
from suffice.optimise.newton_cg import newton_cg
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.markov_net import MarkovNetwork
    from suffice.structures.cliques import Cliques


def lbfgs(matching: Matching) -> CliqueEstimate:
    """Climb by L-BFGS."""
    problem = matching.problem
    steps = problem.watch.steps("L-BFGS", problem.max_iter)
    x, gain = matching.start[matching.free], LEFT / matching.total
    return found_by(
        matching,
        minimise_by_lbfgs(matching.evaluate, x, done=matching.done, steps=steps, scale=matching.scale, gain=gain),
    )


def conjugate(matching: Matching) -> CliqueEstimate:
    """Climb by conjugate gradients."""
    problem = matching.problem
    steps = problem.watch.steps("conjugate gradients", problem.max_iter)
    x = matching.start[matching.free]
    return found_by(
        matching,
        conjugate_gradient(
            matching.evaluate, x, done=matching.done, steps=steps, scale=matching.scale, confirm=matching.is_near
        ),
    )


def newton(matching: Matching, start: Floats | None = None, max_iter: int | None = None) -> CliqueEstimate:
    """Climb by Newton's method, its systems solved by conjugate gradients."""
    problem = matching.problem
    steps = problem.watch.steps("Newton's method", max_iter or problem.max_iter)
    x, gain = (matching.start if start is None else start)[matching.free], LEFT / matching.total
    return found_by(
        matching,
        newton_cg(matching.evaluate_twice, x, done=matching.done, steps=steps, scale=matching.scale, gain=gain),
    )


def gradient(matching: Matching) -> CliqueEstimate:
    """Climb along the gradient, in θ = log ψ or in ψ itself, with a given step size or one that is found."""
    problem, options = matching.problem, matching.problem.options
    space = options.get("space", "log")
    require_choice("space", space, ("log", "psi"), "option")
    step = options.get("step")
    if step is not None and not 0 < require_number("step", step) < math.inf:
        raise ArgumentError(f"The option 'step' must be a positive number. Got {shown(step)} instead.")
    steps = problem.watch.steps("gradient ascent", problem.max_iter)
    x = matching.start[matching.free]
    if space == "log":
        return found_by(
            matching,
            gradient_descent(
                matching.evaluate, x, done=matching.done, steps=steps, step=step, confirm=matching.is_near
            ),
        )
    if matching.penalty is not None:
        raise ArgumentError(
            "A penalty is on u-terms, sums of log ψ. Use ", Remedy("options", {"space": "log"}), " with it."
        )

    def in_psi(psi: Floats) -> tuple[float, Floats]:
        if not (psi > 0).all():
            return math.inf, np.zeros_like(psi)
        value, slope = matching.evaluate(np.log(psi))
        return value, slope / psi  # eq psi-gradient

    def done(psi: Floats, value: float, slope: Floats) -> bool:
        return matching.matches(psi * slope)

    def is_near(psi: Floats) -> bool:
        return matching.is_near(np.log(psi))

    outcome = gradient_descent(in_psi, np.exp(x), done=done, steps=steps, step=step, confirm=is_near)
    objectives = tuple(matching.gain(value) for value in outcome.values)
    return CliqueEstimate(matching.theta(np.log(outcome.x)), objectives, outcome.stop, outcome.advice)


NEWTON: Method[Cliques, MarkovNetwork] = Method(
    solve=solve_by(newton),
    refuses=refuses_nothing,
    needs=needs,
    check=check,
    refuses_prior=refuses_kinks,
    points=("mle", "map"),
    takes_base=True,
    takes_init=True,
)
LBFGS = replace(NEWTON, solve=solve_by(lbfgs))
CG = replace(NEWTON, solve=solve_by(conjugate))
GRADIENT = replace(NEWTON, solve=solve_by(gradient), options=("step", "space"))
