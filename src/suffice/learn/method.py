"""Problem, Solution and Method: the three types that every way of learning shares."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, listing, require_mapping, suggestion
from suffice.models.model import M, M_co
from suffice.optimise.outcome import Stop
from suffice.progress import Watch
from suffice.stats.needs import Need
from suffice.stats.source import Source
from suffice.stats.statistics import Statistics
from suffice.structures.structure import S, S_co, S_contra
from suffice.values import Estimate, UnseenParents


@dataclass(frozen=True)
class Problem(Generic[S_co]):
    """Everything a method may look at.

    Attributes
    ----------
    structure : Structure
    statistics : Statistics
        At least what the method's ``needs`` asked for.
    prior : Prior or None
        None means maximum likelihood.
    point : {"mle", "mean", "map"}
        Which estimate is wanted.
    unseen_parents : {"error", "uniform", "nan"}
    fixed : mapping
        Parameters that an expert gave, by node.
    base : tuple of LabelledTable
        The base measure of a max-ent problem, as tables to be multiplied; empty for the uniform one.
    source : Source or None
        The data itself, for methods of many passes.
    init, tol, max_iter, seed, options
        Settings of iterative methods; ``options`` are the method's own.
    restarts : int or None
        How often a method that may end in a local optimum begins; None leaves it to the method.
    checkpoint : path or None
        Where such a method keeps what it has found so far.
    watch : Watch
        Progress and interruption.
    """

    structure: S_co
    statistics: Statistics
    prior: Any = None
    point: Estimate = "mle"
    unseen_parents: UnseenParents = "error"
    fixed: Mapping[str, Any] = field(default_factory=dict)
    base: tuple[Any, ...] = ()
    source: Source | None = None
    init: Any = None
    tol: float = 1e-8
    max_iter: int = 1000
    seed: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    restarts: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    watch: Watch = field(default_factory=Watch)

    @property
    def schema(self) -> Schema:
        """The variables with their states."""
        return self.statistics.schema

    def about(self, structure: S) -> Problem[S]:
        """Return the same problem of another structure over the same variables."""
        return Problem(**{**vars(self), "structure": structure})


@dataclass(frozen=True)
class Step:
    """One step of an iterative method: its number and the objective after it."""

    number: int
    objective: float


@dataclass(frozen=True)
class Start:
    """Where a search began, and what came of it.

    Attributes
    ----------
    name : str
        ``available``, ``given`` or ``random``.
    objective : float
        The objective at its end.
    n_steps : int
    converged : bool
    """

    name: str
    objective: float
    n_steps: int
    converged: bool


@dataclass(frozen=True)
class Solution(Generic[M_co]):
    """What a method returns.

    Attributes
    ----------
    model : Model
    log_likelihood : float
    local : dict of str to float
        Local log-likelihood of each family; they add up to the whole for directed models.
    n_free, n_free_adjusted : int
        Free parameters of the structure, and those that the data's zeros leave.
    posterior : object or None
    log_marginal_likelihood : float or None
    trace : tuple of Step
    remarks : tuple of str
    interrupted : bool
        The best point so far, after Ctrl-C.
    diagnostics : mapping
        Numbers of the way there that the certificate looks at.
    starts : tuple of Start
        All searches, where there were several; the model is the end of the best.
    statistics : Statistics or None
        Those that the model was estimated from, where they are not the ones that were collected: expected statistics.
    undetermined : tuple of str
        Parameters along which a search found its objective flat.
    stop : Stop or None
        How its search ended, where there was one.
    explains_boundary : bool
        Whether the remarks say already that the estimate lies on the boundary, and what runs away there.
    """

    model: M_co
    log_likelihood: float
    n_free: int
    n_free_adjusted: int
    local: Mapping[str, float] = field(default_factory=dict)
    posterior: Any = None
    log_marginal_likelihood: float | None = None
    trace: tuple[Step, ...] = ()
    remarks: tuple[str, ...] = ()
    interrupted: bool = False
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    starts: tuple[Start, ...] = ()
    statistics: Statistics | None = None
    undetermined: tuple[str, ...] = ()
    stop: Stop | None = None
    explains_boundary: bool = False


@dataclass(frozen=True)
class Method(Generic[S_contra, M_co]):
    """One way of learning, named in the record of its family.

    Attributes
    ----------
    refuses : callable
        ``refuses(structure, schema)`` returns the reason, or None.
    needs : callable
        ``needs(structure, schema)`` returns the statistics to collect.
    solve : callable
        ``solve(problem)`` returns a `Solution`.
    passes : {"one", "many"}
        Whether statistics suffice, or the source goes along.
    exact : bool
        Whether the result is the optimum of the stated objective; ``method="auto"`` takes no other.
    check : callable
        ``check(structure, prior, fixed)`` raises when it has no use for a prior or for given parameters; it is called
        before the data is read.
    refuses_prior : callable
        ``refuses_prior(structure, prior)`` returns the reason why it cannot use a prior, or None.
    points : tuple of str
        The estimates that it can give; of those under a prior the first is the default.
    options : tuple of str
        The names of its own settings.
    takes_base : bool
        Whether it knows base measures.
    takes_init : bool
        Whether it begins somewhere.
    instead : str
        What to do where a method of many passes has no data to read again.
    incomplete : bool
        Whether it learns from rows that lack values, by their observed likelihood. Such a method may have several
        optima, so it takes restarts and checkpoints.
    expectation : callable or None
        Of such a method: from a problem to its E-step, an `Expectation`.
    remarks : callable
        ``remarks(structure, statistics)`` says what is to be said of the rows that the statistics are of.
    """

    refuses: Callable[[S_contra, Schema], str | None]
    needs: Callable[[S_contra, Schema], tuple[Need, ...]]
    solve: Callable[[Problem[S_contra]], Solution[M_co]]
    passes: Literal["one", "many"] = "one"
    exact: bool = True
    check: Callable[[S_contra, Any, Mapping[str, Any]], None] = lambda structure, prior, fixed: None
    refuses_prior: Callable[[S_contra, Any], str | None] = lambda structure, prior: None
    points: tuple[Estimate, ...] = ("mle", "mean", "map")
    options: tuple[str, ...] = ()
    takes_base: bool = False
    takes_init: bool = False
    instead: str = ""
    incomplete: bool = False
    expectation: Callable[[Problem[S_contra]], Any] | None = None
    remarks: Callable[[S_contra, Statistics], tuple[str, ...]] = lambda structure, statistics: ()


def check_options(name: str, method: Method[S, M], options: object) -> None:
    """Refuse settings that a method does not have."""
    for option in require_mapping("options", options, "{'rate': 0.5}"):
        if option not in method.options:
            known = f"It takes {listing(method.options)}." if method.options else "It has none."
            raise ArgumentError(
                f"The method {name!r} has no option {option!r}. {known}{suggestion(option, method.options)}"
            )
