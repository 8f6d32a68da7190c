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
from suffice.optimise.decrement import BLURRED, Decrement, decrement_at_kinks, decrement_by_products
from suffice.stats.needs import Count, Sum
from suffice.stats.sums import Sums
from suffice.text import plural

Floats = NDArray[np.float64]
NAME = "graph proof"
PSEUDO = "pseudo_likelihood"
DIFFERENCE, ROUNDING = 1e-3, 1e-16
"""The step of differences of gradients, and the relative error of a gradient."""
MANY_WEIGHTS, FEW_NATS, FEWER_NATS = 2000, 1e-7, 1e-9
"""Nats that are not looked into, weight by weight: of so many weights the first, which saves passes, else the other."""
STEP, CLOSE = 1e-4, 1e-5
"""The step of differences of gradients, and how close, relatively, the information must come to them."""
WORDS = {"yes": "", "no": ", which does not exist", "undecided": ", if there is one, which is undecided"}


class Found(NamedTuple):
    """Sums over all graphs.

    ``gap``, ``seen`` and ``variance`` are by weight: features expected minus those of the data, the latter alone, and
    the variances of the former, as if nodes and cliques were independent. ``positive``, ``negative``, ``spread``,
    ``squares`` and ``number`` are by attribute: the sums of positive and of negative values, the most that the sizes of
    its values in one graph add up to, the sum of their squares, and how many are not zero. ``counts`` are by label.
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
class Recount:
    """The task that adds up `Found` of a model, its weights perhaps moved."""

    model: GraphModel
    weights: Floats
    is_pseudo: bool

    @property
    def sizes(self) -> list[int]:
        """The lengths of the arrays of `Found`."""
        attributes = sum(rows for rows, _ in self.model.layout.shapes)
        return [self.model.layout.size] * 3 + [attributes] * 5 + [self.model.label.n_states]

    def __call__(self, block: Block) -> dict[Any, Any]:
        """Return the sums of one block as one array."""
        columns = block.columns
        assert isinstance(columns, GraphColumns)
        graphs, k = columns.graphs, self.model.label.n_states
        by_graph = np.ones(graphs.n_graphs) if columns.weights is None else np.asarray(columns.weights, np.float64)
        log_p, gaps, varied, off = self._measured(graphs)
        gap = features_of(self.model, graphs, gaps, by_graph)
        variance = features_of(self.model, graphs, varied, by_graph, 2)
        seen = features_of(self.model, graphs, observed(graphs, k), by_graph)
        counts = np.bincount(np.asarray(graphs.labels), np.repeat(by_graph, graphs.lengths), minlength=k)
        # the largest of all blocks is at most the sum of those of each, which is small where each is
        by_attribute = spreads(graphs)
        sums = Sums(NAME, np.concatenate([[float(log_p @ by_graph), off], gap, seen, variance, *by_attribute, counts]))
        return {sums.need: sums}

    def _measured(self, graphs: LabelledGraphs) -> tuple[Floats, list[Floats], list[Floats], float]:
        """Return log p of every graph, expected minus observed labels, variances, and how far totals are from one."""
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
        gaps = [share - one for share, one in zip(shares, ones, strict=True)]
        return log_p, gaps, [share * (1 - share) for share in shares], off

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
    slopes, units = _slopes(claim, found), found.units(model)
    residual, worst = _residual(model, slopes, units, total)
    decrement = _decrement(claim, found, slopes, units)
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
    return certificate if exists != "no" or not certificate.ok else replace(certificate, verdict=_without(certificate))


def _without(certificate: Certificate) -> str:
    """Say first that there is no maximum, then what holds where the search ended."""
    kind = certificate.claim.removesuffix(WORDS["no"])
    return (
        f"The {kind} does not exist: {certificate.boundary}. Where the search ended, the first-order condition holds "
        f"within {certificate.gradient_norm:.2g} (tolerance {certificate.tol:g}), so that little is left to gain."
    )


def _slopes(claim: Claim, found: Found) -> Floats:
    """Return the derivatives of −Σ log p and the penalty by every weight; at a kink, what is beyond its reach."""
    weights, slopes = claim.model.weights, found.gap
    if claim.prior is None:
        return slopes
    slopes = slopes + 2 * claim.prior.c2 * weights
    at_zero = np.sign(slopes) * np.maximum(np.abs(slopes) - claim.prior.c1, 0.0)
    return np.asarray(np.where(weights == 0, at_zero, slopes + claim.prior.c1 * np.sign(weights)))


def _residual(model: GraphModel, slopes: Floats, units: Floats, total: float) -> tuple[float, str]:
    """Return the largest slope a node, in units of its attribute, and where it is."""
    sizes = np.abs(slopes) / units / total
    sizes = np.where(np.isnan(sizes), np.inf, sizes)
    if not len(sizes):
        return 0.0, "no weight"
    return float(sizes.max()), str(model.name(int(np.argmax(sizes))))


def _decrement(claim: Claim, found: Found, slopes: Floats, units: Floats) -> Decrement:
    """Return how much a Newton step would gain, weights at a kink that nothing pulls off being held there."""
    model, prior, is_pseudo = claim.model, claim.prior, claim.method == PSEUDO
    c1, c2 = (0.0, 0.0) if prior is None else (prior.c1, prior.c2)
    at_kink = (model.weights == 0) & (c1 > 0)
    seen = np.abs(found.seen) + np.abs(found.gap) + found.variance / units
    noise = ROUNDING * seen * max(1.0, float(np.abs(model.weights * units).max(initial=0.0)))

    added = 2 * c2 + noise * units / DIFFERENCE
    diagonal = found.variance + added

    def product(direction: Floats) -> Floats:
        largest = float(np.abs(direction * units).max(initial=0.0))
        if not largest:
            return np.zeros(len(direction))
        step = DIFFERENCE / largest
        ends = [model.weights + sign * step * direction for sign in (1, -1)]
        sides = [Recount(model, weights, is_pseudo).over(claim).gap for weights in ends]
        return np.asarray((sides[0] - sides[1]) / (2 * step) + added * direction)

    def solve(gradient: Floats, kept: NDArray[np.intp]) -> Decrement:
        def along(part: Floats) -> Floats:
            direction = np.zeros(len(slopes))
            direction[kept] = part
            return product(direction)[kept]

        return decrement_by_products(
            gradient,
            along,
            diagonal[kept],
            noise=noise[kept],
            least=2 * c2,
            little=BLURRED,
            negligible=FEW_NATS if len(kept) > MANY_WEIGHTS else FEWER_NATS,
        )

    smooth = np.where(at_kink, found.gap, slopes)
    return decrement_at_kinks(smooth, np.full(len(slopes), c1), at_kink, solve, product, diagonal)


def _existence(claim: Claim, found: Found, units: Floats) -> tuple[str, str]:
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
    v = covariance(model.information, units) @ found.gap
    reach = float(np.abs(v) @ model.layout.by_weight(found.spread))
    return ("yes", "") if reach < 0.5 else ("undecided", "")


def _gaps_of_data(claim: Claim, found: Found, units: Floats, total: float) -> tuple[float, str]:
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
    sides = [Recount(model, model.weights + step * direction, False).over(claim).gap for step in (STEP, -STEP)]
    found_slope, told = (sides[0] - sides[1]) / (2 * STEP), model.information @ direction
    largest = float(np.abs(found_slope).max())
    off = float(np.abs(found_slope - told).max()) / largest if largest > 0 else float(np.abs(told).max())
    return (off, "the information, which standard errors are made of") if off > CLOSE else (gap, worst)
