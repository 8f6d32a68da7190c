"""Where EM begins in networks of discrete and normal variables: from the rows that have each family, or by chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from suffice.inference.gaussian_parts import Regression
from suffice.learn.mixed_gaps import Numbers
from suffice.learn.mixed_plan import Shape
from suffice.types import Array, Floats

SHARE = 0.01
"""What an unseen cell may get: so much of a table is that of independent variables."""
SAMPLE = 4096
"""Rows that chance centres are chosen from."""
SINGULAR = 1e-6
"""Least eigenvalue of correlations that regressions are begun from."""
LEAST = 1e-3
"""Least variance to begin with, of a spread."""


@dataclass(frozen=True, eq=False)
class Available:
    """What rows tell of families that they have: flat counts, and Σ z zᵀ in centres and spreads.

    Attributes
    ----------
    shape : Shape
    counts : mapping from int to array
        Of every discrete node, flat.
    products : mapping from int to array, shape (n_rows, 1 + p, 1 + p)
        Of every continuous node.
    alone : mapping from int to array, shape (n_states,)
        How often each state was seen.
    n : float
        Weight of all rows.
    latent : frozenset of int
        Variables that no column carries.
    """

    shape: Shape
    counts: Mapping[int, Floats]
    products: Mapping[int, Floats]
    alone: Mapping[int, Floats]
    n: float
    latent: frozenset[int] = field(default=frozenset())

    def has_gaps(self, node: int) -> bool:
        """Whether some row lacks a variable of a node's family."""
        held = self.counts[node].sum() if node in self.counts else self.products[node][:, 0, 0].sum()
        return bool(held < self.n * (1 - 1e-12))

    def share(self, variable: int) -> Floats:
        """Return the probabilities of a variable's states, a little drawn to equal ones; equal where none was seen."""
        seen, size = self.alone[variable], self.shape.sizes[variable]
        total = float(seen.sum())
        equal = np.full(size, 1 / size)
        return (1 - SHARE) * seen / total + SHARE * equal if total > 0 else equal

    def independent(self, variables: Sequence[int]) -> Floats:
        """Return the flat table of some variables were they independent."""
        table = np.ones(1)
        for variable in variables:
            table = (table[:, None] * self.share(variable)).reshape(-1)
        return table

    def filled(self) -> tuple[dict[int, Floats], dict[int, Floats]]:
        """Return counts and products that parameters can be estimated from; those without gaps are left as they are."""
        counts, products = {}, {}
        for node, seen in self.counts.items():
            apart = self.n * self.independent(self.shape.scopes[node])
            total = float(seen.sum())
            if not self.has_gaps(node):
                counts[node] = seen
            else:
                counts[node] = (1 - SHARE) * seen * (self.n / total) + SHARE * apart if total > 0 else apart
        for node, own in self.products.items():
            products[node] = self._regression(node, own) if self.has_gaps(node) else own
        return counts, products

    def _regression(self, node: int, seen: Floats) -> Floats:
        size = seen.shape[1]
        weights = self.n * self.independent(self.shape.regressions[node].discrete)
        total = float(seen[:, 0, 0].sum())
        found = weights[:, None, None] * np.eye(size)  # means at the centres, and spreads of one
        for row in range(len(found)):
            if seen[row, 0, 0] > size and _is_regular(seen[row]):
                found[row] = seen[row] * (self.n / total)
        return found


def _is_regular(products: Floats) -> bool:
    mean = products[0, 1:] / products[0, 0]
    covariance = products[1:, 1:] / products[0, 0] - np.outer(mean, mean)
    roots = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if not (roots > math.sqrt(LEAST) / 10).all():
        return False
    return bool(np.linalg.eigvalsh(covariance / roots[:, None] / roots)[0] > SINGULAR)


# By chance ----------------------------------------------------------------------------------------------------


def chance_numbers(available: Available, columns: Sequence[Array], chance: np.random.Generator) -> Numbers:
    """Return parameters to begin at: tables are drawn around what was seen, and latent states sit at chance rows.

    Rows far from those that were chosen before are chosen rather, as in k-means++ (Arthur and Vassilvitskii, 2007).
    """
    shape = available.shape
    counts, products = available.filled()
    tables = {}
    for node, flat in counts.items():
        rows = flat.reshape(-1, shape.sizes[node])
        rows = rows / np.where(rows.sum(axis=1, keepdims=True) > 0, rows.sum(axis=1, keepdims=True), 1.0)
        rows = np.where(rows.sum(axis=1, keepdims=True) > 0, rows, 1 / shape.sizes[node])
        if available.has_gaps(node):
            spread = 20.0 if shape.scopes[node] == (node,) else 4.0
            drawn = chance.standard_gamma(spread * shape.sizes[node] * rows + 0.1) + 1e-9
            rows = drawn / drawn.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            tables[node] = np.log(rows).reshape(-1)
    centres = {h: _chosen(available, h, columns, chance) for h in sorted(available.latent)}
    regressions = {}
    for node, own in products.items():
        latent = [h for h in shape.regressions[node].discrete if h in available.latent]
        if latent:
            regressions[node] = _around(shape, node, [centres[h] for h in latent], latent)
        else:
            regressions[node] = _perturbed(shape, node, own, chance if available.has_gaps(node) else None)
    return Numbers(tables, regressions)


@dataclass(frozen=True, eq=False)
class _Centres:
    """Rows that the states of a latent variable sit at, (k, n_variables), and the variance around them."""

    rows: Floats
    variance: float


def _chosen(available: Available, latent: int, columns: Sequence[Array], chance: np.random.Generator) -> _Centres:
    shape, k = available.shape, available.shape.sizes[latent]
    below = [node for node, held in shape.regressions.items() if latent in held.discrete]
    n = len(columns[0])
    some = chance.choice(n, min(n, SAMPLE), replace=False) if n else np.zeros(0, np.int64)
    points = np.zeros((len(some), len(shape.names)))
    for node in below:
        values = np.asarray(columns[node], np.float64)[some]
        points[:, node] = np.where(np.isnan(values), chance.standard_normal(len(some)), values)
    if not below or not len(some):
        return _Centres(chance.standard_normal((k, len(shape.names))), 1.0)
    at = [int(chance.integers(len(some)))]
    near = ((points - points[at[0]]) ** 2).sum(axis=1)
    for _ in range(k - 1):
        total = float(near.sum())
        at.append(int(chance.choice(len(some), p=near / total)) if total > 0 else int(chance.integers(len(some))))
        near = np.minimum(near, ((points - points[at[-1]]) ** 2).sum(axis=1))
    return _Centres(points[at], min(1.0, max(LEAST, float(near.mean()) / len(below))))


def _around(shape: Shape, node: int, centres: Sequence[_Centres], latent: Sequence[int]) -> Regression:
    """Return a regression without slopes, whose configurations sit at the centres of their latent parents."""
    held = shape.regressions[node]
    sizes = [shape.sizes[parent] for parent in held.discrete]
    codes = np.unravel_index(np.arange(shape.n_rows(node)), sizes)
    at = dict(zip(held.discrete, codes, strict=True))
    means = np.mean([c.rows[at[h], node] for c, h in zip(centres, latent, strict=True)], axis=0)
    variance = np.full(len(means), float(np.mean([c.variance for c in centres])))
    return Regression(held.discrete, held.continuous, means, np.zeros((len(means), len(held.continuous))), variance)


def _perturbed(shape: Shape, node: int, products: Floats, chance: np.random.Generator | None) -> Regression:
    """Return the regressions that products tell, moved a little by chance."""
    held = shape.regressions[node]
    n, q = len(products), len(held.continuous)
    intercept, slopes, variance = np.zeros(n), np.zeros((n, q)), np.ones(n)
    for row, own in enumerate(products):
        if not own[0, 0] > 0:
            continue
        solution = np.linalg.lstsq(own[:-1, :-1], own[:-1, -1], rcond=None)[0]
        intercept[row], slopes[row] = solution[0], solution[1:]
        variance[row] = max(LEAST, float(own[-1, -1] - own[:-1, -1] @ solution) / own[0, 0])
    if chance is not None:
        intercept = intercept + np.sqrt(variance) * chance.standard_normal(n) / 2
        variance = variance * np.exp(chance.standard_normal(n) / 4)
    return Regression(held.discrete, held.continuous, intercept, slopes, variance)
