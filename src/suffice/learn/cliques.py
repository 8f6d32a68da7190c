"""Markov random fields by iteration: what all such methods share, from the margins to the solution.

A method is a `Search`: it gets a `Matching` and returns the parameters it found. Around it, the existence of the
estimate is looked into, and where zeros put it on the boundary the search is repeated on the facial set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, Mention, NotFor, Passed, Remedy, made, shown, the_argument
from suffice.inference.facial import MAX_CELLS, Face, facial_set
from suffice.inference.facial_dimension import dimension
from suffice.inference.interior import has_positive_match
from suffice.inference.product import Factor, possible_cells
from suffice.learn.matching import Matching, joint_counts
from suffice.learn.method import Problem, Solution, Step
from suffice.models.cpds.tabular import describe_configuration
from suffice.models.markov_net import MarkovNetwork
from suffice.optimise.outcome import Outcome, Stop, not_converged
from suffice.priors.penalty import Laplace, Penalty
from suffice.priors.pseudo_margins import CONSISTENT
from suffice.stats.needs import Count
from suffice.structures.cliques import Cliques
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.priors.prior import Prior


@dataclass(frozen=True, eq=False)
class CliqueEstimate:
    """What a search came to.

    Attributes
    ----------
    theta : array
        log ψ of all cells, flat; −inf for zero potentials.
    objectives : tuple of float
        The log-likelihood after every step, penalty included.
    stop : Stop
        How it ended.
    advice : str
        What to try next, where the search knows better than ``stop`` does.
    remarks : tuple of str
    log_z : float or None
        That of the start, for methods that keep it.
    """

    theta: Floats
    objectives: tuple[float, ...]
    stop: Stop
    advice: str = ""
    remarks: tuple[str, ...] = ()
    log_z: float | None = None

    @property
    def converged(self) -> bool:
        """Whether the optimum was found."""
        return self.stop is Stop.CONVERGED

    @property
    def reason(self) -> str:
        """Why it stopped, and what to try when it has not converged."""
        return self.advice or self.stop.value


Search = Callable[[Matching], CliqueEstimate]
SHOWN = 6
"""So many cells and parameters are named in a remark."""


def found_by(matching: Matching, outcome: Outcome) -> CliqueEstimate:
    """Translate what an optimiser returned."""
    objectives = tuple(matching.gain(value) for value in outcome.values)
    return CliqueEstimate(matching.theta(outcome.x), objectives, outcome.stop, outcome.advice)


def solve_by(search: Search) -> Callable[[Problem[Cliques]], Solution[MarkovNetwork]]:
    """Return the ``solve`` of a method from its search."""

    def solve(problem: Problem[Cliques]) -> Solution[MarkovNetwork]:
        matching = Matching.of(problem)
        found = search(matching)
        face = None if problem.prior is not None or problem.watch.interrupted else boundary(matching, found)
        if face is not None and face.support is not None and _hides(matching, face):
            matching = matching.on(face.support)
            found = search(matching)
        return solution(matching, found, face)

    return solve


# Existence ----------------------------------------------------------------------------------------------------


def boundary(matching: Matching, found: CliqueEstimate) -> Face | None:
    """Return the face on which the estimate lies, or None when it is proven to exist."""
    layout, counts = matching.layout, joint_counts(matching.problem)
    if counts is not None and not matching.base and (counts > 0).all():
        return None  # the data itself is a positive table with these margins
    leaves_all = all((factor.values > 0).all() for factor in matching.base)
    if found.converged and leaves_all and (matching.targets > 0).all():
        point = matching.family.at(found.theta)
        if has_positive_match(point, layout, matching.targets):
            return None
    face = facial_set(
        layout.sizes,
        layout.scopes,
        [matching.problem.statistics[Count(clique)].table() for clique in matching.problem.structure.cliques],
        allowed=_allowed(matching),
        observed=None if counts is None else counts > 0,
    )
    return None if face.exists == "yes" else face


def _allowed(matching: Matching) -> NDArray[np.bool_] | None:
    """Return the cells that the base measure leaves; None for all, and where they are too many to be listed."""
    sizes = matching.layout.sizes
    if not matching.base or math.prod(sizes) > MAX_CELLS:
        return None
    return possible_cells(matching.base, sizes)


def _hides(matching: Matching, face: Face) -> bool:
    """Whether the facial set lacks cells that have no zero margin, which zero potentials do not rule out."""
    assert face.support is not None
    layout = matching.layout
    margins = map(Factor, layout.scopes, layout.tables(matching.targets))
    possible = possible_cells(margins, layout.sizes)
    if face.allowed is not None:
        possible &= face.allowed
    return bool((possible & ~face.support).any())


# The solution -------------------------------------------------------------------------------------------------


def solution(matching: Matching, found: CliqueEstimate, face: Face | None) -> Solution[MarkovNetwork]:
    """Put the model together, and say what there is to say."""
    problem, layout = matching.problem, matching.layout
    n_free = problem.structure.n_free(problem.schema)
    adjusted, remarks = n_free, list(found.remarks)
    if face is not None:
        if face.exists == "no":
            by_hand = not problem.statistics.n_read
            remarks += boundary_remarks(matching.variables, layout.scopes, face, by_hand)
        if face.support is not None:
            adjusted = dimension(layout.sizes, layout.scopes, face.support)
        elif face.exists == "no":
            large = math.prod(layout.sizes) > MAX_CELLS
            why = "the joint table is too large" if large else "other counts are too near to zero"
            remarks.append(f"The free parameters that the zeros leave are not counted: {why}.")
    if not found.converged and not problem.watch.interrupted:
        remarks.append(not_converged(len(found.objectives), found.reason))
    return Solution(
        model=network(matching, found.theta),
        log_likelihood=matching.log_likelihood(found.theta),
        n_free=n_free,
        n_free_adjusted=adjusted,
        trace=tuple(Step(number, value) for number, value in enumerate(found.objectives, 1)),
        stop=found.stop,
        remarks=tuple(remarks),
        interrupted=problem.watch.interrupted,
        explains_boundary=face is not None and face.exists == "no",
        diagnostics={} if found.log_z is None else {"log_z": found.log_z - sum(_shifts(matching, found.theta))},
    )


def _shifts(matching: Matching, theta: Floats) -> list[float]:
    """Return what the logarithms of each clique's potentials are lowered by, so that none overflows."""
    tops = [float(table.max()) for table in matching.layout.tables(theta)]
    return [top if 300 < abs(top) < math.inf else 0.0 for top in tops]


def network(matching: Matching, theta: Floats) -> MarkovNetwork:
    """Return the model with the potentials exp θ, and the base tables."""
    names = [variable.name for variable in matching.variables]
    factors: list[Any] = []
    tables = zip(matching.layout.scopes, matching.layout.tables(theta), _shifts(matching, theta), strict=True)
    for scope, table, shift in tables:
        factors.append((tuple(names[v] for v in scope), np.exp(table - shift)))
    factors += [(tuple(names[v] for v in factor.scope), factor.values) for factor in matching.base]
    schema = matching.problem.schema.select(matching.problem.structure.variables)
    # How many of the factors are no potentials, but given or a support.
    properties = {"base": len(matching.base)} if matching.base else {}
    return MarkovNetwork(factors, schema=schema, properties=properties)


def boundary_remarks(
    variables: Sequence[Any], scopes: Sequence[tuple[int, ...]], face: Face, by_hand: bool = False
) -> list[str]:
    """Say that the estimate does not exist, and which cells and parameters run away."""

    def cell(scope: Sequence[int], codes: Sequence[int]) -> str:
        return describe_configuration(tuple(variables[v] for v in scope), codes)

    lost, cells = face.lost, ""
    if lost is not None:
        named = "; ".join(cell(range(len(variables)), codes) for _, codes in lost.first(SHOWN))
        verb = "has" if len(lost) == 1 else "have"
        cells = f" {plural(len(lost), 'cell')} of the joint table {verb} the fitted probability zero: {named}"
        cells += "; …." if len(lost) > SHOWN else "."
    running = "; ".join(
        f"{cell(scopes[number], codes)} to {'−' if face.pace(number, codes) < 0 else '+'}∞"
        for number, codes in face.running.first(SHOWN)
    )
    more = f"; and {len(face.running) - SHOWN:,} more" if len(face.running) > SHOWN else ""
    said = (
        "The margins leave no distribution with finite parameters: the model is the limit of such."
        if by_hand
        else "The maximum-likelihood estimate does not exist: zeros put it on the boundary. The model is its limit, "
        "the extended estimate."
    )
    return [f"{said}{cells} Parameters that run away: {running}{more}."]


# What the methods refuse --------------------------------------------------------------------------------------


def refuses_nothing(structure: Cliques, schema: Any) -> str | None:
    """Refuse no structure: too wide ones are found when their tables are planned."""
    return None


def refuses_penalties(structure: Cliques, prior: Prior | None) -> str | None:
    """Refuse penalties, which are no pseudo-counts."""
    if isinstance(prior, Penalty):
        other = "'proximal'" if isinstance(prior, Laplace) else "'newton' or 'lbfgs'"
        return f"it matches margins, and {prior.describe()} is a penalty. Use {other}."
    return None


def refuses_kinks(structure: Cliques, prior: Prior | None) -> str | None:
    """Refuse penalties that have no derivative at zero."""
    if isinstance(prior, Laplace):
        return "it needs derivatives, and Laplace's penalty has none at zero. Use 'proximal'."
    return None


def refuses_smooth(structure: Cliques, prior: Prior | None) -> str | None:
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


def check(structure: Cliques, prior: Prior | None, fixed: Mapping[str, Any]) -> None:
    """Refuse what is no prior on cliques, and given parameters."""
    if prior is not None and (isinstance(prior, type) or not isinstance(prior, (*CONSISTENT, Penalty))):
        raise ArgumentError(
            the_argument("prior"),
            " of a Markov random field must be pseudo-counts from one joint distribution, ",
            made("BDeu", 10),
            " or ",
            Mention("Expert(network, 10)", "sf.Expert(network, 10)"),
            ", or a penalty, ",
            made("Gaussian", 1.0),
            " or ",
            made("Laplace", 1.0),
            f". Got {shown(prior)} instead.",
        )
    if fixed:
        raise ArgumentError(
            f"The 'fixed' argument gives tables of a Bayesian network's nodes; cliques have none. Got {shown(fixed)} "
            "instead; a base table in sf.maxent holds what is fixed of a Markov random field."
        )
