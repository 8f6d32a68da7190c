"""What else there is to say about evidence: its conflict, what to observe next, and which entries matter."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.errors import SufficeError
from suffice.explore.question import Question
from suffice.explore.solvers import (
    Density,
    DiscreteSolver,
    Marginal,
    MixedSolver,
    NormalSolver,
    SolvedQuestion,
)
from suffice.models.bayes_net import BayesianNetwork
from suffice.report.page.entries import Spec
from suffice.text import plural
from suffice.types import Floats

PATIENCE = 5.0
"""Seconds that gains or slopes may take."""
STEEPEST = 10
REACH = 9
"""Standard deviations from the mean of a component beyond which its density is not integrated."""
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(12)
MOST_INTEGRATED = 300
"""Components of mixtures whose information is integrated."""
CHUNK = 4_000
Gains = list[tuple[int, float]]
Remarks = list[str]


def conflict(prior: Sequence[Marginal], question: Question, log_evidence: float) -> float | None:
    """Return Σ log p(finding) − log p(all findings) (Jensen); None with fewer than two findings.

    Above zero, findings contradict each other.
    """
    if len(question.nodes) < 2:
        return None
    total = 0.0
    for node in question.nodes:
        held = prior[node]
        if held is None:
            return None
        if isinstance(held, Density):
            total += held.log_at(question.values[node])
            continue
        p = held[question.hard[node]] if node in question.hard else float(held @ np.array(question.soft[node]))
        total += math.log(p) if p > 0 else -math.inf
    found = total - log_evidence  # eq conflict
    return found if math.isfinite(found) else None


# Information --------------------------------------------------------------------------------------------------


def expected_gains(
    solver: DiscreteSolver | MixedSolver | NormalSolver,
    question: Question,
    target: int,
    base: SolvedQuestion,
    solve: Callable[[Question], SolvedQuestion],
    remarks: Remarks,
) -> Gains | None:
    """Return I(target; X | evidence) of every node X that is not known, in nats, the largest first.

    Parameters
    ----------
    solver : DiscreteSolver, MixedSolver or NormalSolver
    question : Question
    target : int
    base : SolvedQuestion
        That of the question.
    solve : callable
        Solves another question; it may raise when the answer is no longer wanted.
    remarks : list of str
        Sentences on what is not known are added here.
    """
    nodes = [
        node
        for node, held in enumerate(base.marginals)
        if node != target and held is not None and node not in question.hard and node not in question.values
    ]
    joint = solver if isinstance(solver, NormalSolver) else solver.joint if isinstance(solver, MixedSolver) else None
    if joint is not None:
        found: Gains | None = _normal_gains(joint, question, target, nodes)
    elif isinstance(base.marginals[target], Density) and isinstance(solver, MixedSolver):
        found = _gains_of_number(solver, question, target, nodes, solve, remarks)
    else:
        found = _gains_of_states(question, target, nodes, base, solve, remarks)
    return None if found is None else sorted(found, key=lambda gain: -gain[1])


def _normal_gains(solver: NormalSolver, question: Question, target: int, nodes: Sequence[int]) -> Gains:
    """Return −½ log(1 − ρ²), ρ being the correlation given the evidence."""
    found = solver.conditioned(question)
    if found is None:
        return []
    place = {name: at for at, name in enumerate(found.names)}
    row = found.correlations[place[solver.names[target]]]
    return [(node, _information(float(row[place[solver.names[node]]]))) for node in nodes]


def _information(correlation: float) -> float:
    return -0.5 * math.log1p(-min(correlation * correlation, 1 - 1e-16))


def _gains_of_states(
    question: Question,
    target: int,
    nodes: Sequence[int],
    base: SolvedQuestion,
    solve: Callable[[Question], SolvedQuestion],
    remarks: Remarks,
) -> Gains | None:
    """Solve the question once more for every state of the target."""
    p = np.asarray(base.marginals[target])
    states = np.flatnonzero(p > 0)
    if base.seconds * len(states) > PATIENCE:
        remarks.append(
            f"What each observation would tell of this target takes {plural(len(states), 'calibration')} of "
            f"{base.seconds:.1f} s, more than {PATIENCE:g} s together."
        )
        return None
    given = [solve(question.with_state(target, int(state))) for state in states]
    gains = []
    for node in nodes:
        parts, whole = [found.marginals[node] for found in given], base.marginals[node]
        if any(part is None for part in parts):
            continue
        if isinstance(whole, Density):
            found = integrated_information(p[states], [part for part in parts if isinstance(part, Density)])
            if found is None:
                remarks.append(TOO_LONG)
                continue
        else:
            found = information(p[states], np.stack([np.asarray(part) for part in parts]))
        gains.append((node, found))
    return gains


TOO_LONG = f"Mixtures of more than {MOST_INTEGRATED} normal distributions are not integrated."
TWO_NUMBERS = (
    "What one continuous variable tells of another has no closed form while discrete variables are uncertain; these "
    "gains are left out."
)


def _gains_of_number(
    solver: MixedSolver,
    question: Question,
    target: int,
    nodes: Sequence[int],
    solve: Callable[[Question], SolvedQuestion],
    remarks: Remarks,
) -> Gains | None:
    """Ask for the joint distribution of a continuous target and every other node."""
    began, gains = time.perf_counter(), Gains()
    for node in nodes:
        if time.perf_counter() - began > PATIENCE:
            remarks.append(f"What each observation would tell of this target takes more than {PATIENCE:g} s.")
            return None
        solve(question)  # kept from before; it raises when the answer is no longer wanted
        found: float | None
        try:
            found = (
                _state_about_number(solver, question, target, node)
                if solver.variables[node].is_discrete
                else _number_about_number(solver, question, target, node, remarks)
            )
        except SufficeError as error:
            remarks.append(str(error))
            continue
        if found is not None:
            gains.append((node, found))
    return gains


def _state_about_number(solver: MixedSolver, question: Question, target: int, node: int) -> float | None:
    mixture = solver.together(question, [node], [target])
    weights = mixture.weights[0].reshape(solver.sizes[node], -1)
    p = weights.sum(axis=1)
    held = np.flatnonzero(p > 0)
    mean = mixture.mean[0, :, 0].reshape(weights.shape)
    sd = np.sqrt(mixture.covariance[:, 0, 0]).reshape(weights.shape)
    return integrated_information(p[held], [Density(weights[x] / p[x], mean[x], sd[x]) for x in held])


def _number_about_number(
    solver: MixedSolver, question: Question, target: int, node: int, remarks: Remarks
) -> float | None:
    mixture = solver.together(question, [], [target, node])
    held = np.flatnonzero(mixture.weights[0] > 0)
    if len(held) > 1:
        if TWO_NUMBERS not in remarks:
            remarks.append(TWO_NUMBERS)
        return None
    covariance = mixture.covariance[held[0]]
    size = math.sqrt(float(covariance[0, 0] * covariance[1, 1]))
    return _information(float(covariance[0, 1]) / size) if size > 0 else None


def information(p: Floats, rows: Floats) -> float:
    """Return Σ_t p(t) KL(p(x | t) ‖ p(x)), the mutual information.

    Parameters
    ----------
    p : array, shape (t,)
    rows : array, shape (t, x)
        p(x | t).

    Examples
    --------
    >>> round(information(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.0, 1.0]])), 12) == round(math.log(2), 12)
    True
    """
    whole = p @ rows
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0, rows * np.log(rows / whole), 0.0)
    return max(0.0, float(p @ terms.sum(axis=1)))  # eq expected-gain


def integrated_information(p: Floats, densities: Sequence[Density]) -> float | None:
    """Return Σ_t p(t) ∫ f_t log(f_t / f), f being Σ_t p(t) f_t, by Gauss and Legendre's rule between all deviations.

    None where there are too many components, or one without a width.

    Examples
    --------
    >>> apart = [Density(np.ones(1), np.array([mean]), np.ones(1)) for mean in (-30.0, 30.0)]
    >>> round(integrated_information(np.array([0.5, 0.5]), apart), 9) == round(math.log(2), 9)
    True
    """
    moments = np.concatenate([np.stack([held.means, held.sds]) for held in densities], axis=1)
    distinct, back = np.unique(moments, axis=1, return_inverse=True)
    means, sds = distinct
    if len(means) > MOST_INTEGRATED or not (sds > 0).all():
        return None
    weights = np.zeros((len(densities), len(means)))
    rows = np.repeat(np.arange(len(densities)), [len(held.weights) for held in densities])
    np.add.at(weights, (rows, back.reshape(-1)), np.concatenate([held.weights for held in densities]))
    ends = np.unique(means[:, None] + sds[:, None] * np.arange(-REACH, REACH + 1))
    half, middle = np.diff(ends) / 2, (ends[1:] + ends[:-1]) / 2
    total = 0.0
    for start in range(0, len(half), CHUNK // len(POINTS)):
        held = slice(start, start + CHUNK // len(POINTS))
        x = (middle[held, None] + half[held, None] * POINTS).reshape(-1)
        area = (half[held, None] * WEIGHTS).reshape(-1)
        total += float(area @ _terms(p, weights, means, sds, x))
    return max(0.0, total)


def _terms(p: Floats, weights: Floats, means: Floats, sds: Floats, x: Floats) -> NDArray[np.float64]:
    """Return Σ_t p(t) f_t(x) log(f_t(x) / f(x)); shape (len(x),)."""
    z = (x[:, None] - means) / sds
    with np.errstate(under="ignore", divide="ignore", invalid="ignore"):
        parts = (np.exp(-0.5 * z * z) / (sds * math.sqrt(2 * math.pi))) @ weights.T
        whole = parts @ p
        terms = np.where(parts > 0, parts * np.log(parts / whole[:, None]), 0.0)
    return np.asarray(terms @ p, np.float64)


# Sensitivity --------------------------------------------------------------------------------------------------


def steepest(
    solver: DiscreteSolver, question: Question, target: int, state: int, seconds: float, remarks: Remarks
) -> list[Spec] | None:
    """Return the entries of tables in which p(target = state | evidence) is steepest, ten at most.

    Parameters
    ----------
    solver : DiscreteSolver
        Of a Bayesian network.
    question : Question
    target, state : int
    seconds : float
        How long one calibration takes.
    remarks : list of str
        Sentences on what is not known are added here.
    """
    if 3 * seconds > PATIENCE:
        remarks.append(f"The sensitivity to entries of tables would take more than {PATIENCE:g} s.")
        return None
    event = {solver.names[target]: solver.variables[target].labels[state]}
    model = solver.model
    assert isinstance(model, BayesianNetwork)
    found = model.sensitivity(event, solver.labelled(question))
    node = {name: place for place, name in enumerate(solver.names)}
    return [
        {
            "node": node[name],
            "parents": list(codes[:-1]),
            "state": codes[-1],
            "entry": float(found.entries[name][codes]),
            "slope": slope,
        }
        for name, codes, slope in found.ranked()[:STEEPEST]
    ]
