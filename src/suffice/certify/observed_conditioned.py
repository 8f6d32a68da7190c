"""Expected statistics of rows that lack many discrete variables, asked of exact inference one family at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from suffice.inference.conditional_gaussian import Conditioned, MixedNetwork, Seen
from suffice.types import Floats, Ints

Units = Mapping[str, float]
STEP = 4096
"""Rows of evidence that are asked about together."""


def add_conditioned(
    model: Any,
    network: MixedNetwork,
    seen: Mapping[str, Any],
    lacking: Sequence[str],
    weights: Floats,
    units: tuple[Units, Units],
    found: Mapping[str, Floats],
) -> float:
    """Add what rows are expected to count, which lack the same columns; return their log-likelihood.

    ``seen`` holds codes, and values in the centres and spreads of ``units``; ``lacking`` are the other columns, but
    for those that sum to one.
    """
    place, names = model.schema.positions, list(seen)
    discrete = [name for name in names if model.schema[name].is_discrete]
    total = 0.0
    for rows, codes in _situations(seen, discrete, len(weights)):
        values = {
            place[name]: seen[name][rows] * units[1][name] + units[0][name] for name in names if name not in discrete
        }
        hidden = [place[name] for name in model.schema if name in lacking]
        hard = {place[name]: code for name, code in codes.items()}
        asked = Conditioned(network, Seen(hard, {}, values, len(rows)), hidden)
        total += float(weights[rows] @ asked.log_evidence())
        for node, array in found.items():
            cpd = model.cpd(node)
            if model.schema[node].is_discrete:
                _add_table(cpd, asked, codes, weights[rows], place, array)
            else:
                own = {name: seen[name][rows] for name in seen}
                _add_products(cpd, asked, codes, own, weights[rows], place, units, array)
    return total


def _situations(seen: Mapping[str, Any], discrete: Sequence[str], n: int) -> Iterator[tuple[Ints, dict[str, int]]]:
    """Yield rows with the same codes, some at a time."""
    back = np.zeros(n, np.int64)
    if discrete:
        _, back = np.unique(np.stack([seen[name] for name in discrete], axis=1), axis=0, return_inverse=True)
    order = np.argsort(back.reshape(-1), kind="stable")
    for group in np.split(order, np.cumsum(np.bincount(back.reshape(-1)))[:-1]):
        codes = {name: int(seen[name][group[0]]) for name in discrete}
        for low in range(0, len(group), STEP):
            yield group[low : low + STEP], codes


def _add_table(cpd: Any, asked: Conditioned, codes: Mapping[str, int], weights: Floats, place: Any, to: Floats) -> None:
    scope = cpd.family.scope
    gone = [name for name in scope if name not in codes]
    at = tuple(slice(None) if name in gone else codes[name] for name in scope)
    shares = asked.posterior([place[name] for name in gone])[0] if gone else np.ones(len(weights))
    to[at] += np.tensordot(weights, shares, axes=1)


def _add_products(
    cpd: Any,
    asked: Conditioned,
    codes: Mapping[str, int],
    seen: Mapping[str, Any],
    weights: Floats,
    place: Any,
    units: tuple[Units, Units],
    to: Floats,
) -> None:
    columns = [*(parent.name for parent in cpd.family.continuous), cpd.family.child.name]
    above = [parent.name for parent in cpd.family.discrete]
    gone, lacking = [name for name in above if name not in codes], [name for name in columns if name not in seen]
    mixture = asked.mixture([place[name] for name in gone], [place[name] for name in lacking])[0]
    sizes = [asked.network.sizes[v] for v in mixture.by]
    k = math.prod(sizes)
    spots = dict(zip(gone, np.unravel_index(np.arange(k), sizes) if sizes else (), strict=False))
    centre, spread = (np.array([unit[name] for name in lacking]) for unit in units)
    z = np.ones((k, len(weights), 1 + len(columns)))
    for at, name in enumerate(columns, 1):
        if name in seen:
            z[:, :, at] = seen[name]
        else:
            j = lacking.index(name)
            z[:, :, at] = ((mixture.mean[:, :, j] - centre[j]) / spread[j]).T
    shares = (weights[:, None] * mixture.weights).T
    products = (z * shares[:, :, None]).transpose(0, 2, 1) @ z
    if lacking:
        inside = mixture.covariance / spread[:, None] / spread * shares.sum(axis=1)[:, None, None]
        where = np.array([1 + columns.index(name) for name in lacking])
        products[:, where[:, None], where] += inside
    row: Any = np.zeros(k, np.int64)
    for parent in cpd.family.discrete:
        row = row * parent.n_states + (codes[parent.name] if parent.name in codes else spots[parent.name])
    np.add.at(to, row, products)
