"""Proof of a conditional log-linear fit: the gradient of Σ log p(y | x), features evaluated anew row by row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.judgement import judged, unfit
from suffice.certify.near_interior import is_near_interior
from suffice.certify.weight_decrement import WeightCurvature, decrement_at
from suffice.certify.weight_residual import newton_distance, prior_slopes, residual_of
from suffice.inference.moment_hull import face
from suffice.priors.penalty import Laplace
from suffice.stats.needs import Distinct
from suffice.structures.feature_rules import main_effects
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.conditional_log_linear import ConditionalLogLinear
    from suffice.structures.features import Features

BLOCK = 1 << 22
"""So many numbers are held at once."""
LITTLE = 1e-9
"""Directions of less curvature than this, relatively, are looked at twice."""
LEAST = 1e-3
"""Where an output is less probable than this, weights may be running away, and a linear program is asked."""
MOST_COVARIANCE, MOST_PRODUCTS = 500, 5_000_000_000
"""Covariances of up to so many features, made of up to so many products, are written out."""


def certify(claim: Claim[Features, ConditionalLogLinear]) -> Certificate:
    """Measure the gradient of the conditional likelihood."""
    structure, schema, model = claim.structure, claim.statistics.schema, claim.model
    features = structure.resolved(schema)
    names = tuple(feature.name for feature in features)
    words = _claim(claim, bool(np.isinf(model.weights.to_numpy()).any()))
    if names != tuple(model.weights):
        return unfit(claim, words, "the weights, which are not those of the features")
    seen = _RowSums(claim, features)
    limits = ~np.isfinite(model.weights.to_numpy())
    weights = np.where(limits, 0.0, model.weights.to_numpy())
    main = main_effects(features, structure.given)
    residual, worst = residual_of(claim, names, weights, seen.gaps, seen.spread, seen.variance, main)
    distance = 0.0 if isinstance(claim.prior, Laplace) else seen.distance(claim, weights, limits, main)
    if distance > residual:
        residual, worst = distance, "a combination of features that vary little"
    curvature = WeightCurvature(seen.reach, seen.covariance, seen.curvature, seen.variance)
    decrement, decrement_worst = decrement_at(claim, names, weights, limits, seen.gaps, main, curvature)
    exists = "no" if limits.any() else "yes" if claim.prior is not None else "undecided"
    if exists == "undecided" and residual <= claim.tol:
        is_plain = seen.least > LEAST and seen.is_near_interior()
        exists = "yes" if is_plain else _separation(claim, features)
    named = "; ".join(name for name, runs in zip(names, limits, strict=True) if runs)
    return judged(
        claim,
        Measured(
            claim=words if exists != "no" or limits.any() else f"{words}, approached: it does not exist",
            residual=residual,
            worst=worst,
            log_likelihood=seen.log_likelihood,
            normalisation=seen.normalisation,
            exists=exists,
            condition="the first-order condition" if claim.prior is not None else "the match of expectations",
            moment_gap=None if claim.prior is not None else float(np.abs(seen.gaps).max(initial=0.0)),
            descent=_fall(claim) if claim.method == "gis" else None,
            boundary=f"weights run away: {named}" if named else "",
            rounding=1e-13 * claim.statistics.weight,
            decrement=decrement,
            decrement_worst=decrement_worst,
        ),
    )


def _separation(claim: Claim[Features, ConditionalLogLinear], features: Any) -> str:
    """Say "no" where a combination of features is never less for the outputs seen than for others, and more for some.

    That is a linear program, which is asked where it is quick.
    """
    structure, schema = claim.structure, claim.statistics.schema
    rows = claim.statistics[Distinct(structure.columns)]
    sizes = tuple(schema[name].n_states for name in structure.variables)
    m = math.prod(sizes)
    if rows.n_rows * m * len(features) > 2_000_000:
        return "undecided"
    held = {v.name: column for v, column in zip(rows.variables, rows.columns, strict=True)}
    columns = {name: np.repeat(held[name], m) for name in structure.columns}
    own = np.column_stack([feature.at(columns) for feature in features])
    for name, codes in zip(structure.variables, np.unravel_index(np.arange(m), sizes), strict=True):
        columns[name] = np.tile(codes, rows.n_rows)
    other = np.column_stack([feature.at(columns) for feature in features])
    return str(face(other - own, np.zeros(len(features))).exists)


def _fall(claim: Claim[Features, ConditionalLogLinear]) -> float:
    from suffice.certify.cliques import largest_fall

    return largest_fall(claim.trace, 1e-13 * claim.statistics.weight)


def _claim(claim: Claim[Features, ConditionalLogLinear], on_boundary: bool) -> str:
    if claim.point != "mle":
        return "posterior mode of the weights, given the inputs"
    limit = ", in the limit on the boundary" if on_boundary else ""
    return f"maximum conditional likelihood{limit}"


class _RowSums:
    """Expectations and likelihood over the distinct rows, a block of rows at a time."""

    def __init__(self, claim: Claim[Features, ConditionalLogLinear], features: Any) -> None:
        structure, rows = claim.structure, claim.statistics[Distinct(claim.structure.columns)]
        m, k = math.prod(claim.statistics.schema[name].n_states for name in structure.variables), len(features)
        total = claim.statistics.weight or 1.0
        self.claim, self.features = claim, features
        self.log_likelihood, self.normalisation = 0.0, 0.0
        work = rows.n_rows * m * k**2
        self.covariance = np.zeros((k, k)) if k <= MOST_COVARIANCE and work <= MOST_PRODUCTS else None
        self._rows: list[Floats] = []
        self.gaps, least, most, second = np.zeros(k), np.full(k, np.inf), np.full(k, -np.inf), np.zeros(k)
        self.reach, self.least = np.zeros(k), 1.0
        for shares, values, p, chosen in self._blocks():
            n = len(shares)
            own = values[np.arange(n), chosen]
            self.normalisation = max(self.normalisation, float(np.abs(p.sum(axis=1) - 1).max(initial=0.0)))
            log_p = _log_probabilities(claim.model.weights.to_numpy(), values)
            self.normalisation = max(self.normalisation, float(np.abs(np.exp(log_p) - p).max(initial=0.0)))
            self.log_likelihood += total * float(shares.dot(log_p[np.arange(n), chosen]))
            self.least = min(self.least, float(p.min(initial=1.0)))
            mean = np.einsum("ny,nyk->nk", p, values)
            self.gaps += shares @ (mean - own)
            self.reach += shares @ np.einsum("ny,nyk->nk", p, np.abs(values))
            second += shares @ (np.einsum("ny,nyk->nk", p, values**2) - mean**2)
            if self.covariance is not None:
                centred = (values - mean[:, None]) * np.sqrt(p * shares[:, None])[:, :, None]
                flat = centred.reshape(-1, k)
                self.covariance += flat.T @ flat
                self._rows.append(flat)
            least = np.minimum(least, values.min(axis=(0, 1), initial=np.inf))
            most = np.maximum(most, values.max(axis=(0, 1), initial=-np.inf))
        self.spread = np.where(np.isfinite(most - least), most - least, 0.0)
        self.size = np.where(np.isfinite(most), np.maximum(np.abs(most), np.abs(least)), 0.0)
        self.variance = np.maximum(second, 0.0)

    def _blocks(self) -> Iterator[tuple[Floats, Floats, Floats, NDArray[np.int64]]]:
        """Yield of some rows: shares, features by output, the model's probabilities of outputs, and the one seen."""
        claim, features, structure = self.claim, self.features, self.claim.structure
        rows = claim.statistics[Distinct(structure.columns)]
        held = {v.name: column for v, column in zip(rows.variables, rows.columns, strict=True)}
        sizes = tuple(claim.statistics.schema[name].n_states for name in structure.variables)
        m = math.prod(sizes)
        outputs = np.unravel_index(np.arange(m), sizes)
        step = max(1, BLOCK // (m * max(len(features), 1)))
        total = claim.statistics.weight or 1.0
        for start in range(0, rows.n_rows, step):
            part = {name: column[start : start + step] for name, column in held.items()}
            shares = rows.weights[start : start + step] / total
            n = len(shares)
            columns = {name: np.repeat(part[name], m) for name in structure.given}
            columns |= {name: np.tile(codes, n) for name, codes in zip(structure.variables, outputs, strict=True)}
            values = np.stack([feature.at(columns).reshape(n, m) for feature in features], axis=2)
            p = claim.model.probabilities({name: part[name] for name in structure.given}, n)
            chosen = np.ravel_multi_index([part[name].astype(np.int64) for name in structure.variables], sizes)
            yield shares, values, p, chosen

    def curvature(self, direction: Floats) -> Floats:
        """Return the mean covariance of the features times a direction, by another pass over the rows."""
        found = np.zeros(len(direction))
        for shares, values, p, _ in self._blocks():
            along = values @ direction
            change = p * (along - (p * along).sum(axis=1, keepdims=True)) * shares[:, None]
            found += np.einsum("ny,nyk->k", change, values)
        return found

    def distance(
        self,
        claim: Claim[Features, ConditionalLogLinear],
        weights: Floats,
        limits: NDArray[np.bool_],
        main: NDArray[np.bool_],
    ) -> float:
        """Return how far the optimum is, in whatever direction; see `newton_distance`."""
        if self.covariance is None:
            return 0.0
        slopes, added = prior_slopes(claim, weights, main)
        free, total = ~limits, claim.statistics.weight or 1.0
        gaps, size = (self.gaps + slopes)[free], self.size[free]
        rows = np.vstack([_factor(self.covariance) if self._is_flat(free) else self._root(), added])
        return newton_distance(rows[:, free], gaps, total, size)

    def _is_flat(self, free: NDArray[np.bool_]) -> bool:
        """Whether directions of little curvature have none at all, as combinations of them show."""
        assert self.covariance is not None
        sizes = np.sqrt(np.maximum(np.diag(self.covariance), 1e-300))
        values, vectors = np.linalg.eigh(self.covariance / sizes[:, None] / sizes)
        little = vectors[:, values <= LITTLE * max(float(values[-1]), 1e-300)]
        if not little.shape[1]:
            return True
        mixed = little @ np.random.default_rng(0).standard_normal((little.shape[1], 4)) / sizes[:, None]
        return all(float((part @ mixed).max(initial=0.0)) <= 1e-13 * math.sqrt(len(sizes)) for part in self._rows)

    def _root(self) -> Floats:
        """Return R with Rᵀ R the covariance, made of the deviations themselves."""
        root = np.zeros((0, len(self.gaps)))
        for part in self._rows:
            root = np.asarray(np.linalg.qr(np.vstack([root, part]), mode="r"), np.float64)
        return root

    def is_near_interior(self) -> bool:
        """Whether a small change of the probabilities has the expectations wanted: then the estimate exists."""
        covariance = self.covariance
        if covariance is None:
            return False
        variance = np.maximum(np.diag(covariance), 1e-300)
        return is_near_interior(-self.gaps, lambda v: covariance @ v, lambda gap: gap / variance, self.spread)


def _log_probabilities(weights: Floats, values: Floats) -> Floats:
    """Return log p of every output from the weights, which may be infinite; shape (n_rows, n_outputs).

    The likelihood is a sum of these logarithms: a probability may be less than the smallest float.
    """
    scores = values @ np.where(np.isfinite(weights), weights, 0.0)
    for number in np.flatnonzero(np.isinf(weights)):
        side = values[:, :, number] * np.sign(weights[number])
        best = np.where(scores > -np.inf, side, -np.inf).max(axis=1, keepdims=True)
        scores = np.where(side >= best, scores, -np.inf)
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)), np.float64)


def _factor(covariance: Floats) -> Floats:
    """Return R with Rᵀ R the covariance, directions without curvature left out."""
    sizes = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / sizes[:, None] / sizes)
    kept = values > LITTLE * max(float(values[-1]), 1e-300)
    return np.asarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T * sizes, np.float64)
