"""Proof of a conditional random field on graphs: expected features against those of the data, by another path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.elastic_decrement import ElasticCurvature, decrement_under, slopes_under
from suffice.certify.graph_crf_twin import (
    conditional,
    conditional_along,
    expected,
    expected_along,
    features_of,
    observed,
    scores_of,
    spreads,
)
from suffice.data.block import Block
from suffice.data.graph_codes import GraphColumns, LabelledGraphs
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_information import covariance
from suffice.optimise.decrement import Decrement
from suffice.priors.elastic import penalty_of
from suffice.stats.needs import Count, Sum
from suffice.stats.sums import Sums
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.structures.label_graph import LabelGraph

NAME = "graph proof"
PSEUDO = "pseudo_likelihood"
ROUNDING = 1e-16
"""The relative error of a gradient."""
CLOSE = 1e-5
"""How close, relatively, units and information must come to what is found here."""
CELLS = 100
"""About so many numbers a node are worked on for the derivatives along one direction."""
WORDS = {"yes": "", "no": ", which does not exist", "undecided": ", if there is one, which is undecided"}


class GraphSums(NamedTuple):
    """Sums over all graphs.

    ``gap``, ``seen`` and ``variance`` are by weight: features expected minus those of the data, the sizes of the latter
    alone, and the variances of the former, as if nodes and cliques were independent. ``positive``, ``negative``,
    ``spread``, ``squares`` and ``number`` are by attribute: the sums of positive and of negative values, the most that
    the sizes of its values in one graph add up to, the sum of their squares, and how many are not zero. ``counts`` are
    by label.
    """

    log_likelihood: float
    off: float
    gap: Floats
    seen: Floats
    variance: Floats
    positive: Floats
    negative: Floats
    spread: Floats
    squares: Floats
    number: Floats
    counts: Floats

    def units(self, model: GraphModel) -> Floats:
        """Return the root mean square of each weight's attribute where it occurs, from the data."""
        held = self.number > 0
        return model.layout.by_weight(np.where(held, np.sqrt(self.squares / np.where(held, self.number, 1.0)), 1.0))


@dataclass(frozen=True, eq=False)
class GraphRecount:
    """The task that adds up `GraphSums` of a model."""

    model: GraphModel
    is_pseudo: bool

    @property
    def sizes(self) -> list[int]:
        """The lengths of the arrays of `GraphSums`."""
        attributes = sum(rows for rows, _ in self.model.layout.shapes)
        return [self.model.layout.size] * 3 + [attributes] * 5 + [self.model.label.n_states]

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        (graphs, by_graph), k = _graphs_of(block), self.model.label.n_states
        log_p, gaps, varied, off = self._measured(graphs)
        gap = features_of(self.model, graphs, gaps, by_graph)
        variance = features_of(self.model, graphs, varied, by_graph, 2)
        seen = features_of(self.model, graphs, observed(graphs, k), by_graph, in_size=True)
        counts = np.bincount(np.asarray(graphs.labels), np.repeat(by_graph, graphs.lengths), minlength=k)
        # the largest of all blocks is at most the sum of those of each, which is small where each is
        by_attribute = spreads(graphs)
        sums = Sums(NAME, np.concatenate([[float(log_p @ by_graph), off], gap, seen, variance, *by_attribute, counts]))
        return {sums.need: sums}

    def _measured(self, graphs: LabelledGraphs) -> tuple[Floats, list[Floats], list[Floats], float]:
        """Return log p of every graph, expected minus observed labels, variances, and how far totals are from one."""
        scores = scores_of(self.model, graphs, self.model.weights)
        if self.is_pseudo:
            return (*conditional(graphs, scores), 0.0)
        log_z, shares = expected(graphs, scores)
        ones, log_p = observed(graphs, self.model.label.n_states), -log_z
        offsets = [graphs.offsets, *(kind.offsets for kind in graphs.cliques)]
        for score, one, at in zip(scores, ones, offsets, strict=True):
            owners = np.repeat(np.arange(graphs.n_graphs), np.diff(at))
            np.add.at(log_p, owners, (score * one).sum(axis=1))
        off = max(float(np.abs(part.sum(axis=1) - 1).max(initial=0.0)) for part in shares)
        gaps = [share - one for share, one in zip(shares, ones, strict=True)]
        return log_p, gaps, [share * (1 - share) for share in shares], off

    def over(self, claim: Claim[LabelGraph, GraphModel]) -> GraphSums:
        """Return the sums over the data of a claim."""
        assert claim.source is not None
        sizes = self.sizes
        flat = claim.source.reduce(self)[Sum(NAME, 2 + sum(sizes))].values
        return GraphSums(float(flat[0]), float(flat[1]), *np.split(flat[2:], np.cumsum(sizes)[:-1]))


@dataclass(frozen=True, eq=False)
class GraphRecountAlong:
    """The task: derivatives of the gap along directions, which are the Hessian times these.

    ``directions`` has the shape (n_weights, D).
    """

    model: GraphModel
    directions: Floats
    is_pseudo: bool
    name: ClassVar[str] = "graph curvature proof"

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        graphs, by_graph = _graphs_of(block)
        scores = scores_of(self.model, graphs, self.model.weights)
        each = [scores_of(self.model, graphs, direction) for direction in self.directions.T]
        gains = [np.stack(parts, axis=-1) for parts in zip(*each, strict=True)]
        along = (conditional_along if self.is_pseudo else expected_along)(graphs, scores, gains)
        found = [
            features_of(self.model, graphs, [part[..., number] for part in along], by_graph)
            for number in range(self.directions.shape[1])
        ]
        sums = Sums(self.name, np.stack(found, axis=1).reshape(-1))
        return {sums.need: sums}

    def over(self, claim: Claim[LabelGraph, GraphModel]) -> Floats:
        """Return the sums over the data of a claim; shape (n_weights, D)."""
        assert claim.source is not None
        sums = claim.source.reduce(self)[Sum(self.name, self.directions.size)].values
        return np.array(sums).reshape(self.directions.shape)


def _graphs_of(block: Block) -> tuple[LabelledGraphs, Floats]:
    """Return the graphs of a block, and their weights."""
    columns = block.columns
    assert isinstance(columns, GraphColumns)
    graphs = columns.graphs
    return graphs, np.ones(graphs.n_graphs) if columns.weights is None else np.asarray(columns.weights, np.float64)


def certify(claim: Claim[LabelGraph, GraphModel]) -> Certificate:
    """Measure the gradient of the conditional likelihood, or of the pseudo-likelihood, and of the penalty."""
    model: GraphModel = claim.model
    is_pseudo = claim.method == PSEUDO
    found = GraphRecount(model, is_pseudo).over(claim)
    total = max(claim.statistics.weight, 1.0)
    slopes, units = slopes_under(penalty_of(claim.prior), model.weights, found.gap), found.units(model)
    residual, worst = _residual(model, slopes, units, total)
    decrement = _decrement(claim, found, units)
    exists, boundary = _existence(claim, found, units)
    data_gap, data_worst = _gaps_of_data(claim, found, units, total)
    kind = "maximum pseudo-likelihood" if is_pseudo else "maximum conditional likelihood"
    if claim.prior is not None:
        kind = f"posterior mode of the weights, given the inputs{', under the pseudo-likelihood' if is_pseudo else ''}"
    pull = "" if claim.prior is None else ", less the penalty's pull,"
    condition = "the first-order condition of the pseudo-likelihood"
    certificate = verdict(
        Measured(
            claim=kind + WORDS[exists],
            residual=residual,
            worst=worst,
            log_likelihood=found.log_likelihood,
            normalisation=found.off,
            exists=exists,
            condition=condition if is_pseudo else f"the match of expected and observed features{pull}",
            data_gap=data_gap,
            data_worst=data_worst,
            moment_gap=None
            if claim.prior is not None or is_pseudo
            else float(np.abs(found.gap).max(initial=0)) / total,
            boundary=boundary,
            rounding=1e-13 * total,
            decrement=decrement.size,
            decrement_worst=str(model.name(decrement.place)) if model.layout.size else "",
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )
    return (
        certificate
        if exists != "no" or not certificate.ok
        else replace(certificate, verdict=_without(kind, certificate))
    )


def _without(kind: str, certificate: Certificate) -> str:
    """Say first that there is no maximum of this kind, then what holds where the search ended."""
    return (
        f"The {kind} does not exist: {certificate.boundary}. Where the search ended, the first-order condition holds "
        f"within {certificate.gradient_norm:.2g} (tolerance {certificate.tol:g}), so that little is left to gain."
    )


def _residual(model: GraphModel, slopes: Floats, units: Floats, total: float) -> tuple[float, str]:
    """Return the largest slope per node, in units of its attribute, and where it is."""
    sizes = np.abs(slopes) / units / total
    sizes = np.where(np.isnan(sizes), np.inf, sizes)
    if not len(sizes):
        return 0.0, "no weight"
    return float(sizes.max()), str(model.name(int(np.argmax(sizes))))


def _decrement(claim: Claim[LabelGraph, GraphModel], found: GraphSums, units: Floats) -> Decrement:
    """Return how much a Newton step would gain."""
    model, is_pseudo = claim.model, claim.method == PSEUDO
    seen = found.seen + np.abs(found.gap) + found.variance / units
    noise = ROUNDING * seen * max(1.0, float(np.abs(model.weights * units).max(initial=0.0)))
    cells = CELLS * float(claim.statistics.n_read)
    curvature = ElasticCurvature(
        lambda along: GraphRecountAlong(model, along, is_pseudo).over(claim), found.variance, cells
    )
    return decrement_under(penalty_of(claim.prior), model.weights, found.gap, curvature, noise)


def _existence(claim: Claim[LabelGraph, GraphModel], found: GraphSums, units: Floats) -> tuple[str, str]:
    """Return whether the estimate exists, and which weights diverge if it does not.

    It does under a penalty. It does not if a feature of one sign is never seen though it could be: less weight on it
    is always better. It does if p(y | x) can be changed a little, staying positive, to have the features of the data:
    with v = Cov⁺ gap, p (1 − v · (f − E)) has them, and is positive where Σ |v| spread < 1.
    """
    model: GraphModel = claim.model
    if claim.prior is not None or not model.layout.size:
        return "yes", ""
    one_sign = model.layout.by_weight(np.where((found.positive > 0) != (found.negative > 0), 1.0, 0.0)) > 0
    away = np.flatnonzero(one_sign & (found.seen == 0) & (found.gap != 0))
    if len(away):
        more = f", and {plural(len(away) - 1, 'other weight')} diverge" if len(away) > 1 else ", diverges"
        return "no", f"the weight of {model.name(int(away[0]))}, which never occurs{more}"
    if model.information is None:
        return "undecided", ""
    v = covariance(model.information, units) @ found.gap
    reach = float(np.abs(v) @ model.layout.by_weight(found.spread))
    return ("yes", "") if reach < 0.5 else ("undecided", "")


def _gaps_of_data(
    claim: Claim[LabelGraph, GraphModel], found: GraphSums, units: Floats, total: float
) -> tuple[float, str]:
    """Return how far a second count of the labels, of units and of the information is from those of the fit."""
    model: GraphModel = claim.model
    counted = np.asarray(claim.statistics[Count((model.label.name,))].table(), np.float64)
    apart = np.abs(found.counts - counted)
    gap, worst = float(apart.max()) / total, f"the label {model.label.labels[int(np.argmax(apart))]!r}"
    stretched = np.abs(model.units / units - 1)
    if not (stretched <= CLOSE).all():
        return float(np.nan_to_num(stretched, nan=np.inf).max()), "the units of the attributes"
    if model.information is None or not model.layout.size:
        return gap, worst
    direction = np.cos(np.arange(model.layout.size)) / units  # one that has a part of every weight
    image = GraphRecountAlong(model, direction[:, None], is_pseudo=False).over(claim)[:, 0]
    claimed, largest = model.information @ direction, float(np.abs(image).max())
    off = float(np.abs(image - claimed).max()) / largest if largest > 0 else float(np.abs(claimed).max())
    return (off, "the information, which standard errors are made of") if off > CLOSE else (gap, worst)
