"""From statistics to a fit: checked settings, a problem that a method solves, and a solution that is examined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim
from suffice.data.encode import remark_on_numbers
from suffice.errors import (
    ArgumentError,
    DataError,
    Mention,
    Passed,
    Remedy,
    SchemaError,
    Text,
    made,
    require_choice,
    require_fraction,
    require_mapping,
    require_seed,
    require_whole,
    shown,
)
from suffice.families.proof import examined
from suffice.learn.method import Method, Problem, Solution, check_options
from suffice.models.model import M
from suffice.optimise.outcome import Stop
from suffice.priors.prior import Prior
from suffice.priors.several import Priors
from suffice.progress import Watch
from suffice.result.fit import Fit, fit_type
from suffice.result.notes import Note, notes_on
from suffice.settings import one_blas_thread
from suffice.stats.missing import missing_values
from suffice.stats.source import Source
from suffice.stats.statistics import Statistics
from suffice.structures.structure import S, Structure
from suffice.text import plural

FEW = 4
"""So many columns are named one by one in notes."""


def checked_settings(
    structure: S,
    name: str,
    method: Method[S, M],
    *,
    prior: Any,
    point: str | None,
    options: Any,
    certify: str,
    **rest: Any,
) -> dict[str, Any]:
    """Check the arguments that do not depend on the data."""
    require_choice("certify", certify, ("statistics", "data"))
    require_choice("unseen_parents", rest["unseen_parents"], ("error", "uniform", "nan"))
    if point is not None and prior is None:
        raise ArgumentError(
            Passed("point", point),
            " asks for an estimate under a prior; pass one, such as ",
            Remedy("prior", made("BDeu", 10)),
            ".",
        )
    points = prior.points if isinstance(prior, Prior) else ("mean", "map")  # weights of hypotheses give both
    if point is not None and point not in points:
        raise ArgumentError(f"The prior {prior.describe()} gives {list(points)}, not {point!r}.")
    under_prior = [candidate for candidate in method.points if candidate in points]
    chosen = "mle" if prior is None else point or next(iter(under_prior), "mean")
    if chosen not in method.points:
        raise ArgumentError(f"The method {name!r} gives {list(method.points)}, not {chosen!r}.")
    if rest["init"] is not None and not method.takes_init:
        raise ArgumentError(
            f"The method {name!r} begins nowhere, so the 'init' argument must be left out. Got {shown(rest['init'])}; "
            "name an iterative method to begin there."
        )
    rest["tol"] = require_fraction("tol", rest["tol"])
    rest["max_iter"] = require_whole("max_iter", rest["max_iter"])
    rest["seed"] = require_seed(rest["seed"])
    for argument in ("restarts", "checkpoint"):
        if rest.setdefault(argument, None) is not None and not method.incomplete:
            raise ArgumentError(
                f"The method {name!r} has one optimum, so the {argument!r} argument must be left out. Got "
                f"{shown(rest[argument])}; it is for methods that learn from incomplete rows."
            )
    rest["restarts"] = None if rest["restarts"] is None else require_whole("restarts", rest["restarts"], 1)
    rest["options"] = {} if options is None else options
    check_options(name, method, rest["options"])
    rest["fixed"] = {} if rest["fixed"] is None else require_mapping("fixed", rest["fixed"], "{'A': [0.5, 0.5]}")
    method.check(structure, prior, rest["fixed"])
    return {**rest, "prior": prior, "point": chosen, "certify": certify}


def finish(
    structure: S,
    statistics: Statistics,
    source: Source | None,
    name: str,
    method: Method[S, M],
    watch: Watch,
    settings: dict[str, Any],
) -> Fit[M, S]:
    """Solve the problem, have the solution examined, and put the fit together."""
    certify_by = settings.pop("certify")
    _require_rows(structure, statistics, settings["prior"])
    _check_origin(settings["prior"], structure, statistics)
    problem = Problem(structure, statistics, source=source, watch=watch, **settings)
    with one_blas_thread():
        solution = method.solve(problem)
    claim = Claim(
        structure=structure,
        model=solution.model,
        statistics=statistics,
        log_likelihood=solution.log_likelihood,
        point=problem.point,
        prior=problem.prior,
        posterior=solution.posterior,
        fixed=problem.fixed,
        source=source if certify_by == "data" or method.passes == "many" else None,
        tol=problem.tol,
        interrupted=solution.interrupted,
        base=problem.base,
        method=name,
        trace=solution.trace,
        diagnostics=solution.diagnostics,
        incomplete=method.incomplete,
        starts=solution.starts,
        undetermined=solution.undetermined,
    )
    with one_blas_thread():
        certificate = examined(claim, keep=method.passes == "many")
    return fit_type(structure)(
        model=solution.model,
        structure=structure,
        statistics=_kept(solution.statistics or statistics, statistics, method.incomplete),
        method=name,
        point=problem.point,
        prior=problem.prior,
        log_likelihood=solution.log_likelihood,
        local=solution.local,
        n_free=solution.n_free,
        n_free_adjusted=solution.n_free_adjusted,
        posterior=solution.posterior,
        log_marginal_likelihood=solution.log_marginal_likelihood,
        certificate=certificate,
        trace=solution.trace,
        notes=_notes(statistics, solution, certificate, method.remarks(structure, statistics)),
        starts=solution.starts,
        stop=Stop.INTERRUPTED if solution.interrupted else solution.stop,
    )


def _kept(kept: Statistics, seen: Statistics, incomplete: bool) -> Statistics:
    """Add to the statistics that a fit keeps how many values of each variable were missing."""
    missing = missing_values(seen) if incomplete and kept.schema == seen.schema else None
    return kept if missing is None else replace(kept, items_={**kept.items_, missing.need: missing})


def _check_origin(prior: Any, structure: Structure[object], statistics: Statistics) -> None:
    """Refuse a posterior of earlier data, or of one node, that was learnt from other variables, states or parents."""
    if isinstance(prior, Prior):
        for one in (prior, *(prior.parts if isinstance(prior, Priors) else ())):
            if one.origin is not None:
                one.origin.check(structure, statistics.schema)


def _require_rows(structure: Structure[object], statistics: Statistics, prior: Any) -> None:
    if statistics.weight > 0:
        return
    empty = [
        variable.name for variable in statistics.schema.variables if variable.is_discrete and not variable.n_states
    ]
    if prior is None:
        raise DataError(
            f"There is nothing to learn from: the table has {plural(statistics.n_read, 'row')}, "
            f"{statistics.n_dropped:,} of them dropped, and a total weight of zero. Pass data with at least one row, "
            "or a prior and ",
            Mention("states", "a schema with states"),
            ".",
        )
    if empty:
        raise SchemaError(
            f"The table has no rows, so the states of {empty[0]!r} are not known. ",
            Mention("declare", "Declare them in the schema"),
            ".",
        )


def _together(statistics: Statistics) -> list[str]:
    """Say in one remark what would be said of many columns alike."""
    column_of = {remark_on_numbers(name): name for name in statistics.schema}
    names = [column_of[remark] for remark in statistics.remarks if remark in column_of]
    if len(names) <= FEW:
        return list(statistics.remarks)
    others = [remark for remark in statistics.remarks if remark not in column_of]
    first, more = ", ".join(names[:FEW]), len(names) - FEW
    return [f"{first} and {more:,} more: whole numbers read as discrete variables.", *others]


def _notes(
    statistics: Statistics, solution: Solution, certificate: Certificate, of_rows: tuple[str, ...]
) -> tuple[Note, ...]:
    notes = list(notes_on("data", [*_together(statistics), *of_rows]))
    if statistics.n_dropped:
        notes.append(
            Note(
                "data",
                f"{plural(statistics.n_dropped, 'row')} of {statistics.n_read:,} dropped, for missing values.",
            )
        )
    notes += notes_on("estimate", solution.remarks)
    if certificate.exists == "no" and not solution.explains_boundary:
        said = "The maximum-likelihood estimate does not exist"
        if certificate.boundary:
            said += Text(
                f": {certificate.boundary}. Pass ",
                Mention("such a prior", "a prior such as "),
                Remedy("prior", made("Gaussian", 10)),
                Mention("leave an input out", ", or leave an input out"),
            )
        notes.append(Note("estimate", Text(said, ".")))
    if certificate.exists != "no" and certificate.boundary:
        notes.append(Note("estimate", f"The data leave open: {certificate.boundary}."))
    if solution.interrupted:
        notes.append(Note("estimate", "Interrupted: this is the best point so far, not the optimum."))
    return tuple(notes)
