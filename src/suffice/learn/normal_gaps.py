r"""The E-step of a normal distribution, from the moments of each pattern of missing values.

Of rows that lack the columns m and have the columns o, with weight W, mean x̄ and scatter T, and with d = x̄ − μ_o,

    ℓ = −½ (W log |2π Σ_oo| + tr Σ_oo⁻¹ (T + W d dᵀ)),
    E[x_m] = μ_m + B d,   Σ w E[x x']_(mm) = B T Bᵀ + W E[x_m] E[x_m]ᵀ + W (Σ_mm − B Σ_om),   B = Σ_mo Σ_oo⁻¹,

so one factorisation a pattern does it (Little and Rubin, 2002, section 11.2). Patterns that lack equally many columns
are solved together. Everything is measured from centres, in spreads: columns far from zero keep their digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from suffice.errors import EstimationError
from suffice.settings import settings
from suffice.stats.gap_moments import GapMoments
from suffice.types import Floats, Ints

CHUNK = 2**19
"""Numbers that the matrices of some patterns hold at once."""
MANY = 512
"""Patterns from which on threads share them."""


@dataclass(frozen=True, eq=False)
class _PatternGroup:
    """Patterns that lack equally many columns: the columns seen, (g, o), and those missing, (g, m), and the moments."""

    seen: Ints
    gone: Ints
    weight: Floats
    mean: Floats
    scatter: Floats


class NormalGaps:
    """Rows with gaps, as a normal distribution sees them.

    Parameters
    ----------
    moments : GapMoments
    centres, spreads : array, shape (p,)
        What columns are measured from, and in.
    """

    def __init__(self, moments: GapMoments, centres: Floats, spreads: Floats) -> None:
        self.weight, self.p = float(moments.weight.sum()), len(spreads)
        self._groups = list(_grouped(moments, centres, spreads))
        self._log_units = float((moments.weight[:, None] * ~moments.missing * np.log(spreads)).sum())

    def at(self, mean: Floats, covariance: Floats) -> tuple[float, Floats, Floats]:
        """Return the observed log-likelihood, and the expected Σ w z, shape (p,), and Σ w z zᵀ, shape (p, p).

        All but the log-likelihood, which is that of the columns themselves, is in centres and spreads.
        """
        log_likelihood, sums, products = -self._log_units, np.zeros(self.p), np.zeros((self.p, self.p))
        for found in self._each(mean, covariance):
            log_likelihood += found[0]
            sums += found[1]
            products += found[2]
        return log_likelihood, sums, (products + products.T) / 2

    def _each(self, mean: Floats, covariance: Floats) -> Iterator[tuple[float, Floats, Floats]]:
        """Yield what each group is expected to add, in order, whatever the number of threads."""
        threads = min(settings().threads, len(self._groups))
        if threads <= 1 or sum(len(group.weight) for group in self._groups) < MANY:
            yield from (_expected(group, mean, covariance) for group in self._groups)
            return
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(lambda group: _expected(group, mean, covariance), self._groups)


def _grouped(moments: GapMoments, centres: Floats, spreads: Floats) -> Iterator[_PatternGroup]:
    means = ((moments.mean - centres) + moments.rest) / spreads
    p, n_gone = len(spreads), moments.missing.sum(axis=1)
    for m in np.unique(n_gone).tolist():
        chosen = np.flatnonzero(n_gone == m)
        size = max(1, CHUNK // max(1, p * p))
        for low in range(0, len(chosen), size):
            held = chosen[low : low + size]
            order = np.argsort(moments.missing[held], axis=1, kind="stable")
            seen, gone = order[:, : p - m], order[:, p - m :]
            at = np.arange(len(held))[:, None, None]
            scatter = moments.scatter[held][at, seen[:, :, None], seen[:, None, :]]
            scatter = scatter / spreads[seen][:, :, None] / spreads[seen][:, None, :]
            mean = np.take_along_axis(means[held], seen, axis=1)
            yield _PatternGroup(seen, gone, moments.weight[held], mean, scatter)


def _expected(group: _PatternGroup, mean: Floats, covariance: Floats) -> tuple[float, Floats, Floats]:
    weight, (g, o), m = group.weight, group.seen.shape, group.gone.shape[1]
    rows, columns = group.seen[:, :, None], group.seen[:, None, :]
    across = covariance[rows, group.gone[:, None, :]]  # (g, o, m)
    half = _half_inverse(covariance[rows, columns])
    apart = group.mean - mean[group.seen]
    seen = group.scatter + weight[:, None, None] * apart[:, :, None] * apart[:, None, :]
    log_det = -2 * np.log(np.diagonal(half, axis1=1, axis2=2)).sum(axis=1)
    squares = ((half @ seen) * half).sum(axis=(1, 2))
    log_likelihood = -0.5 * float((weight * (o * math.log(2 * math.pi) + log_det) + squares).sum())
    back = (half @ across).transpose(0, 2, 1)  # (g, m, o): Σ_mo L⁻ᵀ
    slopes = back @ half
    filled = np.concatenate([group.mean, mean[group.gone] + (slopes @ apart[:, :, None])[:, :, 0]], axis=1)
    products = weight[:, None, None] * filled[:, :, None] * filled[:, None, :]
    products[:, :o, :o] += group.scatter
    if m:
        moved = slopes @ group.scatter
        left = covariance[group.gone[:, :, None], group.gone[:, None, :]] - back @ back.transpose(0, 2, 1)
        products[:, o:, :o] += moved
        products[:, :o, o:] += moved.transpose(0, 2, 1)
        products[:, o:, o:] += moved @ slopes.transpose(0, 2, 1) + weight[:, None, None] * left  # eq gaussian-em
    place = np.argsort(np.concatenate([group.seen, group.gone], axis=1), axis=1)
    sums = weight @ np.take_along_axis(filled, place, axis=1)
    at = np.arange(g)[:, None, None]
    return log_likelihood, sums, products[at, place[:, :, None], place[:, None, :]].sum(axis=0)


def _half_inverse(matrices: Floats) -> Floats:
    """Return L⁻¹ of matrices L Lᵀ; shape (g, o, o)."""
    roots = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    eye = np.broadcast_to(np.eye(matrices.shape[1]), matrices.shape)
    try:
        lower = np.linalg.cholesky(matrices / roots[:, :, None] / roots[:, None, :])
        found: Floats = np.linalg.solve(lower, eye) / roots[:, None, :]
    except np.linalg.LinAlgError:
        raise EstimationError(
            "The covariance matrix becomes singular: some columns are combinations of others in the rows that have "
            "them. Leave one of these columns out, or pass a prior."
        ) from None
    return found
