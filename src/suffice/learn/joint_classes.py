"""Classes with the joint table of their inputs: one table of counts m(x, y), divided by its classes' totals.

ℓ(π, θ) = Σ_y m(y) log π(y) + Σ_y Σ_x m(x, y) log θ(x | y), with π̂ as `ClassPrior` says, and of C configurations

θ̂(x | y) = (m(x, y) + a) / (m(y) + C a)

where a is 0 under maximum likelihood, α for the posterior mean under Dirichlet(α), and α − 1 for its mode.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import (
    ArgumentError,
    EstimationError,
    Mention,
    Remedy,
    Text,
    also,
    listing,
    made,
    shown,
    the_argument,
)
from suffice.learn.method import Method, Problem, Solution
from suffice.models.cpds import NodeFamily
from suffice.models.joint_classes import JointClassModel
from suffice.models.joint_classes_cells import MOST_CELLS
from suffice.priors.dirichlet import Dirichlet, DirichletPrior
from suffice.priors.dirichlet_rows import log_rising
from suffice.priors.expert import Expert
from suffice.settings import more_memory, settings
from suffice.stats.counts import Counts, n_cells
from suffice.stats.needs import Count
from suffice.structures.class_prior import ClassPrior
from suffice.structures.joint_classes import JointClasses
from suffice.text import in_bytes, plural
from suffice.types import Array, Floats

MOST_INPUTS = 62
"""So many columns of two states each reach `MOST_CELLS`."""


def refuses(structure: JointClasses, schema: Schema) -> str | None:
    """Refuse continuous columns, and tables that one whole number cannot index."""
    for name in structure.columns:
        if not schema[name].is_discrete:
            return Text(
                f"{name!r} is continuous, and a joint table needs discrete columns. If it is discrete, declare it: ",
                Remedy("schema", {name: made("categorical")}),
                "; otherwise cut it into classes, or use ",
                Mention("GaussianBayes", "sf.GaussianBayes"),
                " or ",
                Mention("NaiveBayes", "sf.NaiveBayes"),
                ".",
            )
    cells = n_cells([schema[name] for name in structure.columns])
    if len(structure.inputs) > MOST_INPUTS or cells >= MOST_CELLS:
        size = f"about 10^{math.log10(cells):.0f}" if cells >= MOST_CELLS else f"{cells:,}"
        return Text(
            f"its joint table of {plural(len(structure.inputs), 'input')} has {size} cells; it can be indexed up to "
            f"2^62 cells and {MOST_INPUTS} inputs. Use fewer inputs, or ",
            Mention("NaiveBayes", "sf.NaiveBayes"),
            ", which needs no joint table.",
        )
    return None


def needs(structure: JointClasses, schema: Schema) -> tuple[Count, ...]:
    """Return the one table of counts, the class last."""
    return (Count(structure.columns),)


def solve(problem: Problem[JointClasses]) -> Solution[JointClassModel]:
    """Divide the counts of every class by their total."""
    structure: JointClasses = problem.structure
    reason = refuses(structure, problem.schema)  # all states of a stream are known only now
    if reason is not None:
        raise EstimationError("This structure cannot be fitted: ", reason)
    counts: Counts = problem.statistics[Count(structure.columns)]
    *inputs, target = counts.variables
    _require_memory(counts, target)
    configurations, m = counts.rows()
    totals = m.sum(axis=0)
    prior = structure.class_prior.probabilities(target, totals)
    alpha = 0.0 if problem.prior is None else pseudo_count(problem.prior, tuple(inputs), target)
    table = _estimated(m, totals, alpha, problem.point, n_cells(inputs), target)
    table, remarks = _settled(table, prior, problem.unseen_parents, target)
    default = None if configurations is None else table.default_row
    model = JointClassModel(target, tuple(inputs), prior, table.values, configurations, default)
    local = {"classes": _log_likelihood(totals, prior), "inputs": _log_likelihood(m, table.values)}
    is_learnt = structure.class_prior.n_free(target) > 0
    n_seen = int(np.count_nonzero(totals))
    return Solution(
        model=model,
        log_likelihood=sum(local.values()),
        local=local,
        n_free=target.n_states * (table.n_configurations - 1) + structure.class_prior.n_free(target),
        n_free_adjusted=int(np.count_nonzero(m)) - n_seen + max(n_seen - 1, 0) * is_learnt,
        log_marginal_likelihood=None
        if problem.prior is None
        else _log_marginal(m, totals, alpha, table.n_configurations, structure.class_prior, prior),
        remarks=(_size(model, m), *remarks, *_without_marginal(structure, problem.prior)),
    )


def pseudo_count(prior: DirichletPrior, inputs: tuple[Variable, ...], target: Variable) -> float:
    """Return the pseudo-count α of every cell, the same for all."""
    return float(prior.alpha(NodeFamily(target, inputs))[0])


# The table ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassTable:
    """An estimate: p(x | y) of stored configurations, shape (n_stored, K), and of each other one, shape (K,)."""

    values: Floats
    default_row: Floats
    n_configurations: int


def _estimated(m: Array, totals: Array, alpha: float, point: str, size: int, target: Variable) -> ClassTable:
    """Return (m + a) / (m(y) + C a); NaN where nothing determines a class's table."""
    k = target.n_states
    if size == 1:
        return ClassTable(np.ones((len(m), k)), np.ones(k), size)  # one configuration has all of the probability
    extra = alpha - 1 if point == "map" else alpha
    if point == "map":
        _require_mode(m, alpha, size, target)
    rest = extra if len(m) < size else 0.0
    divisor = totals + extra * size
    with np.errstate(invalid="ignore", divide="ignore"):
        return ClassTable((m + extra) / divisor, np.where(divisor > 0, rest, np.nan) / divisor, size)  # eq joint-bayes


def _require_mode(m: Array, alpha: float, size: int, target: Variable) -> None:
    """Refuse pseudo-counts below one where a cell has no count that makes up for it."""
    least = np.zeros(target.n_states) if len(m) < size else m.min(axis=0)
    if (alpha + least < 1).any():
        label = target.labels[int(np.argmax(alpha + least < 1))]
        raise EstimationError(
            f"Class {label!r} of {target.name!r} has no interior posterior mode: the smallest α + m of its table is "
            f"{alpha + least.min():g}, below 1. Use ",
            Remedy("point", "mean"),
            ", or a prior with pseudo-counts of at least 1.",
        )


def _settled(table: ClassTable, prior: Floats, policy: str, target: Variable) -> tuple[ClassTable, tuple[str, ...]]:
    """Deal with classes that have no rows: unknown while they have no probability, else uniform if that is wanted."""
    unknown = np.isnan(table.default_row)
    if not unknown.any():
        return table, ()
    labels = listing([label for label, lost in zip(target.labels, unknown, strict=True) if lost])
    if policy == "uniform":
        flat = 1 / table.n_configurations
        values = np.where(unknown, flat, table.values)
        settled = ClassTable(values, np.where(unknown, flat, table.default_row), table.n_configurations)
        return settled, (f"{target.name}: the classes {labels} have no rows; their tables were set uniform.",)
    if (prior[unknown] > 0).any():
        raise EstimationError(
            f"The classes {labels} of {target.name!r} have no rows, so that their tables are not determined, and yet "
            "they have a probability. Leave them out, by ",
            Remedy("class_prior", "counted"),
            ", or pass a prior: ",
            Remedy("prior", made("Dirichlet", 1.0)),
            also(", or ", Remedy("unseen_parents", "uniform")),
            ".",
        )
    return table, (f"{target.name}: the classes {labels} have no rows; they have no probability, and no known table.",)


def _require_memory(counts: Counts, target: Variable) -> None:
    """Refuse, with numbers, a table of the seen configurations by classes that memory does not hold."""
    n_rows = n_cells(counts.variables[:-1]) if counts.cells is None else len(counts.cells)
    size = 8 * n_rows * target.n_states
    if size > settings().memory:
        raise EstimationError(
            f"The joint table would take up to {in_bytes(size)}: {n_rows:,} configurations of the inputs times "
            f"{target.n_states:,} classes. Allow more, with ",
            more_memory(size),
            ", or use fewer inputs.",
        )


# What is said of it ---------------------------------------------------------------------------------------------


def _log_likelihood(m: Array, p: Floats) -> float:
    """Return Σ m log p over what occurs."""
    occurs = m > 0
    with np.errstate(divide="ignore"):
        return float((m[occurs] * np.log(p[occurs])).sum(dtype=np.longdouble))


def _log_marginal(m: Array, totals: Array, alpha: float, size: int, spec: ClassPrior, prior: Floats) -> float | None:
    """Return log p(data), θ integrated out, and π where it has a prior; None where π is counted and has none."""
    if spec.kind == "counted":
        return None
    if size == 1:
        tables = 0.0
    else:
        cells = log_rising(np.full(m.shape, alpha), m).sum(axis=0)
        tables = float((cells - log_rising(np.full(totals.shape, alpha * size), totals)).sum())
    if spec.kind == "smoothed":
        pseudo = np.full(len(totals), spec.pseudo)
        whole = log_rising(np.array([pseudo.sum()]), np.array([totals.sum()]))[0]
        return tables + float(log_rising(pseudo, totals).sum() - whole)
    return tables + _log_likelihood(totals, prior)


def _size(model: JointClassModel, m: Array) -> str:
    """Say how large the table is, and how much of it occurs."""
    k = model.target.n_states
    said = (
        f"The joint table has {plural(model.n_configurations, 'configuration')} of the inputs times {k:,} "
        f"{'class' if k == 1 else 'classes'}, {plural(k * model.n_configurations, 'cell')}, of which "
        f"{int(np.count_nonzero(m)):,} occur"
    )
    if model.configurations is None:
        return f"{said}."
    return f"{said}; {plural(len(m), 'configuration')} {'is' if len(m) == 1 else 'are'} stored."


def _without_marginal(structure: JointClasses, prior: Any) -> tuple[str, ...]:
    if prior is None or structure.class_prior.kind != "counted":
        return ()
    return (
        Text(
            "The class probabilities are counted and have no prior, so that there is no marginal likelihood; ",
            Remedy("class_prior", 1.0),
            " smooths them.",
        ),
    )


def check(structure: JointClasses, prior: Any, fixed: Mapping[str, Any]) -> None:
    """Refuse what is no prior on all cells alike, and given tables."""
    is_alike = isinstance(prior, DirichletPrior) and not isinstance(prior, Expert)
    if prior is not None and (not is_alike or (isinstance(prior, Dirichlet) and prior.nodes)):
        raise ArgumentError(
            the_argument("prior"),
            " of a joint table of classes must be the same for all cells, such as ",
            made("Dirichlet", 1.0),
            ", ",
            made("Jeffreys"),
            " or ",
            made("BDeu", 10),
            f". Got {shown(prior)} instead.",
        )
    if fixed:
        raise ArgumentError(
            f"The 'fixed' argument must be left out: the joint table of classes is all learnt. Got {listing(fixed)}."
        )


METHOD: Method[JointClasses, JointClassModel] = Method(
    refuses=refuses, needs=needs, solve=solve, passes="one", exact=True, check=check
)
