"""Conditional random fields on graphs: the weights that maximise Σ log p(y | x), or that less a penalty.

exact               log p(y | x) by the junction tree of every graph
pseudo_likelihood   Σ_v log p(y_v | all other labels, x) in its place, for graphs of any width; by name only

Both minimise −Σ log p + c1 ‖w‖₁ + c2 ‖w‖²: by L-BFGS, orthant-wise where c1 is not zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from suffice.data.graph_codes import GraphTable
from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, ModelError, Remedy, Text, listing, shown
from suffice.inference.label_graphs import require_room
from suffice.learn.graph_crf_objective import GraphObjective, smooth_search, sparse_search
from suffice.learn.graph_crf_passes import Counted, run
from suffice.learn.method import Method, Problem, Solution, Step
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_information import noticed
from suffice.models.graph_layout import layout_of, shapes_of
from suffice.optimise.outcome import Outcome, not_converged
from suffice.priors.elastic import Elastic
from suffice.stats.needs import Count, Need
from suffice.stats.source import BlockSource
from suffice.structures.label_graph import LabelGraph
from suffice.types import Floats

MARGIN = 0.5
"""The part of the tolerance at which searches stop, so that the certificate, which adds up otherwise, agrees."""
MOST_WRITTEN = 300
"""Weights up to which the information is written out at the end of a fit."""


def refuses(structure: LabelGraph, schema: Schema) -> str | None:
    """Refuse labels that are continuous."""
    name = structure.label
    return None if schema[name].is_discrete else f"the labels {name!r} are continuous."


def needs(structure: LabelGraph, schema: Schema) -> tuple[Need, ...]:
    """Ask for the counts of the labels."""
    return (Count((structure.label,)),)


def refuses_prior(structure: LabelGraph, prior: Any) -> str | None:
    """Refuse priors that are no penalty on weights."""
    if prior is None or isinstance(prior, Elastic):
        return None
    return f"its prior is a penalty, Elastic(c1, c2). Got {shown(prior)} instead."


def check(structure: LabelGraph, prior: Any, fixed: Mapping[str, Any]) -> None:
    """Refuse given parameters."""
    if fixed:
        raise ArgumentError(
            "Weights of a conditional random field are learnt all together, so the 'fixed' argument must be left out. "
            f"Got {shown(fixed)} instead."
        )


def _by(is_pseudo: bool) -> Callable[[Problem[LabelGraph]], Solution[GraphModel]]:
    """Return the solver of the likelihood, or of the pseudo-likelihood."""

    def solve(problem: Problem[LabelGraph]) -> Solution[GraphModel]:
        _require_labels(problem)
        if not is_pseudo:
            _require_room(problem)
        objective = _objective(problem, is_pseudo)
        c1 = problem.prior.c1 if problem.prior is not None else 0.0
        steps = problem.watch.steps("OWL-QN" if c1 else "L-BFGS", problem.max_iter)
        enough = MARGIN * problem.tol
        outcome = sparse_search(objective, c1, enough, steps) if c1 else smooth_search(objective, enough, steps)
        return _solution(problem, objective, outcome)

    return solve


def _require_labels(problem: Problem[LabelGraph]) -> None:
    label = problem.schema[problem.structure.label]
    counts = np.asarray(problem.statistics[Count((label.name,))].table(), np.float64)
    seen = [state for state, count in zip(label.labels, counts, strict=True) if count > 0]
    if len(seen) < 2:
        raise EstimationError(
            f"All nodes have the same label, {listing(seen)}, and there is nothing to tell apart. Pass graphs of at "
            "least two labels."
        )


def _require_room(problem: Problem[LabelGraph]) -> None:
    """Refuse graphs that are too wide before anything is allocated for them."""
    source = problem.source
    if not isinstance(source, BlockSource) or not isinstance(source.table, GraphTable):
        return
    try:
        require_room(source.table.graphs, problem.schema[problem.structure.label].n_states)
    except ModelError as error:
        raise EstimationError(
            error.message,
            " Or name ",
            Remedy("method", "pseudo_likelihood"),
            ", which learns from graphs of any width without such tables; "
            "it is another estimate, of each node's label given all others.",
        ) from None


def _objective(problem: Problem[LabelGraph], is_pseudo: bool) -> GraphObjective:
    """Return the function to be minimised."""
    structure, source = problem.structure, problem.source
    assert source is not None
    n_labels = problem.schema[structure.label].n_states
    task = Counted(shapes_of(structure, n_labels))
    _, sizes, by_attribute = task.apart(run(source, task))
    layout = layout_of(structure, n_labels, sizes)
    units = layout.by_weight(by_attribute)
    c2 = problem.prior.c2 if problem.prior is not None else 0.0
    return GraphObjective(source, layout, units, problem.statistics.weight, c2, is_pseudo)


def _solution(problem: Problem[LabelGraph], objective: GraphObjective, outcome: Outcome) -> Solution[GraphModel]:
    weights = outcome.x / objective.units
    label = problem.schema[problem.structure.label]
    information = _information(problem, objective, outcome.x)
    model = GraphModel(problem.structure, label, objective.layout, weights, objective.units, information)
    penalty = problem.prior.value(weights) if problem.prior is not None else 0.0
    n_free = _n_free(problem, model)
    return Solution(
        model=model,
        log_likelihood=penalty - objective.total * outcome.value,
        n_free=n_free,
        n_free_adjusted=n_free,
        trace=tuple(Step(number, -objective.total * value) for number, value in enumerate(outcome.values, 1)),
        stop=outcome.stop,
        remarks=_remarks(problem, objective, outcome),
        interrupted=problem.watch.interrupted,
    )


def _information(problem: Problem[LabelGraph], objective: GraphObjective, vector: Floats) -> Floats | None:
    """Return the second derivatives of −Σ log p at a maximum-likelihood estimate, where they are few."""
    size = objective.layout.size
    if problem.prior is not None or objective.is_pseudo or size > MOST_WRITTEN or problem.watch.interrupted:
        return None
    columns = [objective.product(vector, unit) for unit in np.eye(size)]
    scaled = np.array(columns).reshape(size, size) * objective.total
    return np.asarray((scaled + scaled.T) / 2 * objective.units[:, None] * objective.units)


def _n_free(problem: Problem[LabelGraph], model: GraphModel) -> int:
    """Return how many weights are free: those that a penalty leaves, or less those that no labelling notices."""
    if model.information is None:
        return (
            int(np.count_nonzero(model.weights))
            if problem.prior is not None and problem.prior.c1
            else model.layout.size
        )
    return len(noticed(model.information, model.units)[0])


def _remarks(problem: Problem[LabelGraph], objective: GraphObjective, outcome: Outcome) -> tuple[str, ...]:
    remarks = []
    if objective.is_pseudo:
        remarks.append(
            "The weights maximise the pseudo-likelihood, each node's label given all others, not the likelihood; the "
            "log-likelihood of this fit is that of the former."
        )
    if problem.prior is None:
        remarks.append(
            "Weights are known up to changes that no labelling notices; these are the shortest, in units of their "
            "attributes."
        )
    elif problem.prior.c1:
        remarks.append(f"{int((outcome.x == 0).sum()):,} of {outcome.x.size:,} weights are zero.")
    if not outcome.converged and not problem.watch.interrupted:
        hint = (
            ""
            if problem.prior is not None
            else Text(" If labels follow from attributes, weights run away; try ", Remedy("c2", 1.0), ".")
        )
        remarks.append(not_converged(outcome.n_steps, outcome.reason, hint))
    return tuple(remarks)


EXACT: Method[LabelGraph, GraphModel] = Method(
    refuses, needs, _by(False), passes="many", check=check, refuses_prior=refuses_prior, points=("mle", "map")
)
PSEUDO_LIKELIHOOD: Method[LabelGraph, GraphModel] = Method(
    refuses,
    needs,
    _by(True),
    passes="many",
    exact=False,
    check=check,
    refuses_prior=refuses_prior,
    points=("mle", "map"),
)
