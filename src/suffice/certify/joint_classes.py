"""Proof of classes with a joint table: every number of it looked up as users look it up, against the counts anew."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.directed import CLAIMS
from suffice.certify.judgement import judged, unfit
from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.rows import all_configurations
from suffice.models.joint_classes import JointClassModel
from suffice.optimise.distance import Distance, table_deviations, table_losses
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.stats.ordering import unique_rows
from suffice.structures.class_prior import ClassPrior

if TYPE_CHECKING:
    from suffice.structures.joint_classes import JointClasses

NATURAL = {"mle": "counted", "mean": "smoothed", "map": "counted"}
"""Class probabilities that are the same estimate as the tables are."""


def certify(claim: Claim[JointClasses, JointClassModel]) -> Certificate:
    """Measure the residual of the class probabilities and of every class's table."""
    model: JointClassModel = claim.model
    counts: Counts = claim.statistics[Count(claim.structure.columns)]
    said, kind = CLAIMS[claim.point], claim.structure.class_prior.kind
    said += "" if kind == NATURAL[claim.point] else f", with {kind} class probabilities"
    if not all(mine.has_states_of(model.schema[mine.name]) for mine in counts.variables):
        worst = "the variables, whose states are not those of the statistics"
        return unfit(claim, said, worst, normalisation=0.0)
    cells, m = counts.nonzero()
    columns = {variable.name: cells[:, axis] for axis, variable in enumerate(counts.variables)}
    occurs = np.bincount(cells[:, -1], m, model.target.n_states).astype(np.float64)
    classes = claim.structure.class_prior
    residual, worst = class_prior_gap(classes, model.target, occurs, model.class_prior), "the classes"
    expected, p, labels = _tables(claim, cells, m, occurs)
    repeats = np.ones(len(p))
    repeats[-1:] += model.n_configurations - len(p)  # of the configurations that do not occur, one stands for all
    found, where = _table_gap(expected, repeats @ expected, p, labels)
    if not found <= residual:
        residual, worst = found, where
    of_mean = claim.prior is not None and claim.point == "mean"
    measure = table_deviations if of_mean else table_losses
    wanted = wanted_classes(classes, model.target, occurs)
    distance = class_distance(classes, wanted, occurs, model.class_prior)
    distance += Distance.of_rows(measure(expected.T, p.T, repeats), lambda row: f"class {labels[row]!r}", of_mean)
    return judged(
        claim,
        Measured(
            claim=said,
            residual=residual,
            worst=worst,
            log_likelihood=float((m * model.log_prob_of(columns, len(m))).sum(dtype=np.longdouble)),
            normalisation=_normalisation(model),
            condition="the conjugate formula" if claim.point == "mean" else "the first-order condition",
            **distance.as_measured(),
        ),
    )


def wanted_classes(spec: ClassPrior, target: Variable, m: NDArray[np.float64]) -> list[Fraction]:
    """Return the class probabilities that were asked for, in fractions."""
    told, k = dict(spec.given), target.n_states
    if spec.kind == "uniform":
        return [Fraction(1, k)] * k
    if spec.kind == "given":
        by_code = {target.code(label): Fraction(p) for label, p in told.items()}
        return [by_code[code] for code in range(k)]
    counts = [Fraction(float(n)) + Fraction(spec.pseudo) for n in m]
    return [n / sum(counts) for n in counts]


def class_prior_gap(spec: ClassPrior, target: Variable, m: NDArray[np.float64], found: NDArray[np.float64]) -> float:
    """Return how far class probabilities are from what was asked for, computed in fractions."""
    wanted = wanted_classes(spec, target, m)
    gaps = [abs(float(p) - float(q)) for p, q in zip(wanted, found, strict=True)]
    return max((math.inf if math.isnan(gap) else gap for gap in gaps), default=0.0)


def class_distance(spec: ClassPrior, wanted: Sequence[Fraction], m: Iterable[Any], found: Any) -> Distance:
    """Return how far class probabilities are from what was asked for: smoothed ones in posterior standard deviations.

    Counted ones are a maximum of the likelihood. Those that were given are compared in nats, too, as if that many rows
    were distributed so.
    """
    place, n = "the class probabilities", math.fsum(map(float, m))
    if spec.kind == "smoothed":
        counts = np.array([[float(one) + spec.pseudo for one in m]])
        return Distance.in_sds(table_deviations(counts, np.array([found]))[0], place)
    expected = np.array([[float(p) * max(n, 1.0) for p in wanted]])
    return Distance.in_nats(table_losses(expected, np.array([found]))[0], place)


def _tables(
    claim: Claim[JointClasses, JointClassModel],
    cells: NDArray[np.int64],
    m: NDArray[np.float64],
    occurs: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[Any]]:
    """Return (pseudo-)counts of inputs and their probabilities, both by configuration and class, and the classes.

    Where not all configurations are stored, the last row is one that does not occur.
    """
    model: JointClassModel = claim.model
    size = model.n_configurations
    extra = 0.0
    if claim.prior is not None and size > 1:
        family = NodeFamily(model.target, model.inputs)
        extra = float(claim.prior.pseudo(family, claim.point)(np.zeros((1, len(model.inputs)), np.int64))[0, 0])
    above, position = _looked_up(model, cells)
    expected = np.full((len(above), model.target.n_states), extra)
    np.add.at(expected, (position, cells[:, -1]), m)
    is_free = occurs + extra * size > 0  # a class without rows is left to the policy
    columns = {variable.name: above[:, axis] for axis, variable in enumerate(model.inputs)}
    found = np.exp(model.log_likelihoods_of(columns, len(above)))
    labels = [label for label, free in zip(model.target.labels, is_free, strict=True) if free]
    return expected[:, is_free], found[:, is_free], labels


def _table_gap(
    expected: NDArray[np.float64], divisor: NDArray[np.float64], found: NDArray[np.float64], labels: list[Any]
) -> tuple[float, str]:
    """Return the largest |(m(x, y) + a)/(m(y) + C a) − p(x | y)|, and its class."""
    gaps = np.abs(expected / divisor - found).max(axis=0, initial=0.0)
    if not len(gaps):
        return 0.0, "no class"
    at = int(np.argmax(gaps))  # NaN where any is
    widest = float(gaps[at])
    return math.inf if math.isnan(widest) else widest, f"class {labels[at]!r}"


def _looked_up(model: JointClassModel, cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the inputs' configurations to look up, and which of them each cell has.

    All of them, where all are stored; otherwise those that occur, and one that does not.
    """
    sizes = [variable.n_states for variable in model.inputs]
    if model.configurations is None:
        above = all_configurations(sizes)
        _, position = unique_rows(np.concatenate([above, cells[:, :-1]]))
        return above, position[len(above) :]
    above, position = unique_rows(cells[:, :-1])
    if len(above) == model.n_configurations:
        return above, position
    return np.concatenate([above, _absent(above, sizes)[None, :]]), position


def _absent(above: NDArray[np.int64], sizes: list[int]) -> NDArray[np.int64]:
    """Return the first configuration that is not among some, which are in order and not all."""
    strides = np.array([math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))], np.int64)
    jumps = np.flatnonzero(above @ strides != np.arange(len(above)))
    first = int(jumps[0]) if len(jumps) else len(above)
    return np.asarray(first // strides % np.array(sizes), np.int64)


def _normalisation(model: JointClassModel) -> float:
    """Return how far p(x | y) with all inputs summed out, or the sum of the class probabilities, is from one."""
    nothing = {variable.name: np.array([-1]) for variable in model.inputs}
    totals = np.exp(model.log_likelihoods_of(nothing, 1))[0][~model.is_unknown]
    return max(float(np.abs(totals - 1).max(initial=0.0)), abs(math.fsum(model.class_prior.tolist()) - 1))
