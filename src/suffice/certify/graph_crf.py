"""Proof of a conditional random field on graphs: expected features against those of the data, by another path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.graph_crf_twin import conditional, expected, features_of, observed, scores_of, spreads
from suffice.data.block import Block
from suffice.data.graph_codes import GraphColumns, LabelledGraphs
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_information import covariance
from suffice.stats.needs import Count, Sum
from suffice.stats.sums import Sums
from suffice.text import plural

Floats = NDArray[np.float64]
NAME = "graph proof"
PSEUDO = "pseudo_likelihood"
STEP, CLOSE = 1e-4, 1e-5
"""The step of differences of gradients, and how close, relatively, the information must come to them."""
WORDS = {"yes": "", "no": ", which does not exist", "undecided": ", if there is one, which is undecided"}


class Found(NamedTuple):
    """Sums over all graphs.

    ``gap`` and ``seen`` are by weight: features expected minus those of the data, and the latter alone. ``positive``,
    ``negative`` and ``spread`` are by attribute: the sums of positive and of negative values, and the most that the
    sizes of its values in one graph add up to. ``counts`` are by label.
    """

    log_likelihood: float
    off: float
    gap: Floats
    seen: Floats
    positive: Floats
    negative: Floats
    spread: Floats
    counts: Floats


@dataclass(frozen=True, eq=False)
class Recount:
    """The task that adds up `Found` of a model, its weights perhaps moved."""

    model: GraphModel
    weights: Floats
    is_pseudo: bool

    @property
    def sizes(self) -> list[int]:
        """The lengths of the arrays of `Found`."""
        attributes = sum(rows for rows, _ in self.model.layout.shapes)
        return [self.model.layout.size] * 2 + [attributes] * 3 + [self.model.label.n_states]

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        columns = block.columns
        assert isinstance(columns, GraphColumns)
        graphs, k = columns.graphs, self.model.label.n_states
        by_graph = np.ones(graphs.n_graphs) if columns.weights is None else np.asarray(columns.weights, np.float64)
        log_p, gaps, off = self._measured(graphs)
        gap = features_of(self.model, graphs, gaps, by_graph)
        seen = features_of(self.model, graphs, observed(graphs, k), by_graph)
        counts = np.bincount(np.asarray(graphs.labels), np.repeat(by_graph, graphs.lengths), minlength=k)
        # the largest of all blocks is at most the sum of those of each, which is small where each is
        sums = Sums(NAME, np.concatenate([[float(log_p @ by_graph), off], gap, seen, *spreads(graphs), counts]))
        return {sums.need: sums}

    def _measured(self, graphs: LabelledGraphs) -> tuple[Floats, list[Floats], float]:
        """Return log p of every graph, expected minus observed labels, and how far totals are from one."""
        scores = scores_of(self.model, graphs, self.weights)
        if self.is_pseudo:
            return (*conditional(graphs, scores), 0.0)
        log_z, shares = expected(graphs, scores)
        ones, log_p = observed(graphs, self.model.label.n_states), -log_z
        offsets = [graphs.offsets, *(kind.offsets for kind in graphs.cliques)]
        for score, one, at in zip(scores, ones, offsets, strict=True):
            owners = np.repeat(np.arange(graphs.n_graphs), np.diff(at))
            np.add.at(log_p, owners, (score * one).sum(axis=1))
        off = max(float(np.abs(part.sum(axis=1) - 1).max(initial=0.0)) for part in shares)
        return log_p, [share - one for share, one in zip(shares, ones, strict=True)], off

    def over(self, claim: Claim) -> Found:
        """Return the sums over the data of a claim."""
        assert claim.source is not None
        sizes = self.sizes
        flat = claim.source.reduce(self)[Sum(NAME, 2 + sum(sizes))].values
        return Found(float(flat[0]), float(flat[1]), *np.split(flat[2:], np.cumsum(sizes)[:-1]))


def certify(claim: Claim) -> Certificate:
    """Measure the gradient of the conditional likelihood, or of the pseudo-likelihood, and of the penalty."""
    model: GraphModel = claim.model
    is_pseudo = claim.method == PSEUDO
    found = Recount(model, model.weights, is_pseudo).over(claim)
    total = max(claim.statistics.weight, 1.0)
    residual, worst = _residual(claim, found, total)
    exists, boundary = _existence(claim, found, total)
    data_gap, data_worst = _gaps_of_data(claim, found, total)
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
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )
    return certificate if exists != "no" or not certificate.ok else replace(certificate, verdict=_without(certificate))


def _without(certificate: Certificate) -> str:
    """Say first that there is no maximum, then what holds where the search ended."""
    kind = certificate.claim.removesuffix(WORDS["no"])
    return (
        f"The {kind} does not exist: {certificate.boundary}. Where the search ended, the first-order condition holds "
        f"within {certificate.gradient_norm:.2g} (tolerance {certificate.tol:g}), so that little is left to gain."
    )


def _residual(claim: Claim, found: Found, total: float) -> tuple[float, str]:
    """Return the largest slope a node, in units of its attribute, that the penalty leaves, and where it is."""
    model: GraphModel = claim.model
    weights, slopes = model.weights, found.gap
    if claim.prior is not None:
        slopes = slopes + 2 * claim.prior.c2 * weights
        at_zero = np.maximum(np.abs(slopes) - claim.prior.c1, 0.0)
        slopes = np.where(weights == 0, at_zero, slopes + claim.prior.c1 * np.sign(weights))
    sizes = np.abs(slopes) / model.units / total
    sizes = np.where(np.isnan(sizes), np.inf, sizes)
    if not len(sizes):
        return 0.0, "no weight"
    return float(sizes.max()), str(model.name(int(np.argmax(sizes))))


def _existence(claim: Claim, found: Found, total: float) -> tuple[str, str]:
    """Return whether the estimate exists, and what runs away if it does not.

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
        more = f", and {plural(len(away) - 1, 'other weight')} run" if len(away) > 1 else ", runs"
        return "no", f"the weight of {model.name(int(away[0]))}, which never occurs{more} away"
    if model.information is None:
        return "undecided", ""
    v = covariance(model.information, model.units) @ found.gap
    reach = float(np.abs(v) @ model.layout.by_weight(found.spread))
    return ("yes", "") if reach < 0.5 else ("undecided", "")


def _gaps_of_data(claim: Claim, found: Found, total: float) -> tuple[float, str]:
    """Return how far a second count of the labels, and of the information, is from those of the fit."""
    model: GraphModel = claim.model
    counted = np.asarray(claim.statistics[Count((model.label.name,))].table(), np.float64)
    apart = np.abs(found.counts - counted)
    gap, worst = float(apart.max()) / total, f"the label {model.label.labels[int(np.argmax(apart))]!r}"
    if model.information is None or not model.layout.size:
        return gap, worst
    direction = np.cos(np.arange(model.layout.size)) / model.units  # one that has a part of every weight
    sides = [Recount(model, model.weights + step * direction, False).over(claim).gap for step in (STEP, -STEP)]
    found_slope, told = (sides[0] - sides[1]) / (2 * STEP), model.information @ direction
    largest = float(np.abs(found_slope).max())
    off = float(np.abs(found_slope - told).max()) / largest if largest > 0 else float(np.abs(told).max())
    return (off, "the information, which standard errors are made of") if off > CLOSE else (gap, worst)
