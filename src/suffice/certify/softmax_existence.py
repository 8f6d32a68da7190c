"""Whether a softmax regression has a maximum of its likelihood: a proof that it has, or a direction without an end.

Along a direction v the third derivative of the objective is at most D(v) times the second, D(v) the largest range of
v · f over the classes of one row; a function without a minimum would have |g · v| D(v) ≥ vᵀHv for some v. For
probabilities p of the K classes, diag p − ppᵀ is at least min p times the matrix that takes out the mean, so that
H ≥ A ⊗ (I − 11ᵀ/K) with A = Σ w min(p) f fᵀ / N, from any of the rows. Hence √(Σ_k g_kᵀA⁻¹g_k) · √2 · max √(fᵀA⁻¹f) < 1
rules that out. Where probabilities next to zero make A too small, H itself is written out, without the last class:
√(gᵀH⁻¹g) · 2 max √(fᵀ(H⁻¹)_kk f) < 1 does the same.

There is no maximum where some v has v · (f(x, y) − f(x, k)) ≥ 0 for every row (x, y) and class k, above zero for some.
Weights that run away do so along such directions, in which the likelihood hardly curves any more: their part there is
tried, on all rows, before a linear program is asked.

References
----------
Albert and Anderson (1984), On the existence of maximum likelihood estimates in logistic regression models,
Biometrika 71, 1–10.
Bach (2010), Self-concordant analysis for logistic regression, EJS 4, 384–414.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.certify.claim import Claim
from suffice.certify.softmax_rows import Recomputed, cases_of, leverage, margins, second_derivatives
from suffice.inference.dependence import combination
from suffice.models.cpds.softmax_trouble import separated
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.softmax_model import SoftmaxModel
    from suffice.structures.softmax_regression import SoftmaxClasses

PROVEN = 0.9
"""Below one by so much that rounding error could not matter."""
LARGEST_ROOT = 1e6
"""Numbers in the root of an inverse from which on rounding error is as large as the matrix is small."""
MOST_SIDE, MOST_PRODUCTS = 1500, 1e10
"""Parameters, and products, up to which second derivatives are written out."""
KEPT, FELT = 1e-7, 1e-6
"""Parts of the largest margin that may be missing from another, and of the largest weight that are taken for zero."""
SHOWN, SEEN = 8, 1e-3
"""Terms that are named, and the part of the largest from which on they are."""


class Existence(NamedTuple):
    """``"yes"``, ``"no"`` or ``"undecided"``, and in the second case what separates the classes."""

    exists: str
    boundary: str = ""


def existence(claim: Claim[SoftmaxClasses, SoftmaxModel], found: Recomputed) -> Existence:
    """Look for a proof, and else for a direction in which the likelihood grows for ever."""
    if found.curvature is not None and _is_proven(claim, found):
        return Existence("yes")
    directions = [_of_weights(claim)]
    side = (claim.model.target.n_states - 1) * len(found.extents)
    if side <= MOST_SIDE and claim.statistics.n_read * float(side) ** 2 <= MOST_PRODUCTS:
        hessian = second_derivatives(claim, claim.model.target.n_states - 1, np.zeros(len(found.units))) / found.total
        if _is_proven_in_full(hessian, found):
            return Existence("yes")
        directions.append(_without_curvature(hessian, directions[0], found))
    for direction in directions:
        if _separates(claim, direction):
            return Existence("no", _named_by_program(claim) or _named(claim, direction, found))
    said = _named_by_program(claim, small=False)
    return Existence("no", said) if said else Existence("undecided")


# Proofs -------------------------------------------------------------------------------------------------------


def _is_proven(claim: Claim[SoftmaxClasses, SoftmaxModel], found: Recomputed) -> bool:
    """Whether the gradient is too small for the curvature to leave room for a direction of escape."""
    assert found.curvature is not None
    root = _inverse_root(found.curvature)
    if root is None:
        return False
    decrement = math.sqrt(2) * float(np.linalg.norm(root @ found.raw))
    if decrement * float(np.linalg.norm(root, axis=0).dot(found.extents)) < PROVEN:
        return True
    return decrement * leverage(claim, root) < PROVEN


def _is_proven_in_full(hessian: Floats, found: Recomputed) -> bool:
    """Whether the same follows from all second derivatives."""
    root = _inverse_root(hessian)
    if root is None:
        return False
    decrement = float(np.linalg.norm(root @ found.raw[:, :-1].T.reshape(-1)))
    by_class = np.linalg.norm(root, axis=0).reshape(-1, len(found.extents))
    return 2 * decrement * float((by_class @ found.extents).max()) < PROVEN


def _inverse_root(matrix: Floats) -> Floats | None:
    """Return R with RᵀR the inverse; None where the matrix is not positive but for rounding error."""
    size = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    if not (size > 0).all():
        return None
    try:
        root = np.linalg.inv(np.linalg.cholesky(matrix / size / size[:, None]))
    except np.linalg.LinAlgError:
        return None
    return np.asarray(root / size) if np.abs(root).max() < LARGEST_ROOT else None


# Directions, shape (K − 1, T + 1) or (K − 1, T), the last class being at zero ------------------------------------


def _of_weights(claim: Claim[SoftmaxClasses, SoftmaxModel]) -> Floats:
    """Return the weights themselves."""
    model = claim.model
    whole = np.concatenate([model.intercept[None], model.weights]) if claim.structure.intercept else model.weights
    return np.asarray((whole[:, :-1] - whole[:, -1:]).T)


def _without_curvature(hessian: Floats, weights: Floats, found: Recomputed) -> Floats:
    """Return the part of the weights in directions along which so small a gradient leaves room to run away."""
    k, t = weights.shape
    first = t - len(found.units)
    to_raw = np.diag(np.concatenate([np.ones(first), 1 / found.units]))  # from terms around their means, in their units
    from_raw = np.diag(np.concatenate([np.ones(first), found.units]))
    if first:
        to_raw[0, 1:], from_raw[0, 1:] = -found.mean / found.units, found.mean
    blocks = hessian.reshape(k, t, k, t)
    inner = np.einsum("ab,iajc,cd->ibjd", to_raw, blocks, to_raw, optimize=True).reshape(k * t, k * t)
    values, vectors = np.linalg.eigh(inner)
    slopes = (to_raw.T @ found.raw[:, :-1]).T.reshape(-1)
    around = found.extents[first:] + np.abs(found.mean) * first
    reach = 2 * math.sqrt(first + float(((around / found.units) ** 2).sum()))
    flat = vectors[:, values <= max(reach * float(np.linalg.norm(slopes)), 1e-12 * float(values[-1]))]
    part = (flat @ (flat.T @ (weights @ from_raw.T).reshape(-1))).reshape(k, t)
    part[np.abs(part) <= FELT * np.abs(part).max(initial=0.0)] = 0.0
    return np.asarray(part @ to_raw.T)


def _separates(claim: Claim[SoftmaxClasses, SoftmaxModel], direction: Floats) -> bool:
    """Whether no row has less of the direction for its own class than for another, and some have more."""
    if not direction.any():
        return False
    least, most = margins(claim, np.concatenate([direction, np.zeros((1, direction.shape[1]))]))
    return most > 0 and least >= -KEPT * most


def _named_by_program(claim: Claim[SoftmaxClasses, SoftmaxModel], *, small: bool = True) -> str:
    """Say what separates the classes as a linear program finds it; empty where it finds nothing, or is not asked."""
    cases = cases_of(claim, small=small) if claim.structure.intercept else None
    found = None if cases is None else separated(cases)
    return "" if found is None else _said(claim, found.state, found.other, found.coefficients)


def _named(claim: Claim[SoftmaxClasses, SoftmaxModel], direction: Floats, found: Recomputed) -> str:
    slopes = np.concatenate([direction, np.zeros((1, direction.shape[1]))])[:, direction.shape[1] - len(found.units) :]
    gaps = np.abs((slopes[:, None] - slopes[None]) * found.units).max(axis=2)
    one, other = sorted(np.unravel_index(int(np.argmax(gaps)), gaps.shape))
    apart = slopes[other] - slopes[one]
    felt = np.abs(apart * found.units)
    shown = np.where(felt > SEEN * felt.max(), apart / np.abs(apart[np.argmax(felt)]), 0.0)
    return _said(claim, int(other), int(one), shown, bool((felt[shown == 0] > 0).any()))


def _said(
    claim: Claim[SoftmaxClasses, SoftmaxModel], state: int, other: int, coefficients: Floats, more_terms: bool = False
) -> str:
    labels, names = claim.model.target.labels, [str(term) for term in claim.model.terms]
    terms = [(float(c), name) for c, name in zip(coefficients, names, strict=True) if c]
    more = " + …" if more_terms or len(terms) > SHOWN else ""
    if len(terms) == 1 and more:
        return f"{terms[0][1]}{more} separates {labels[state]!r} from {labels[other]!r} without fail"
    said = repr(terms[0][1]) if len(terms) == 1 else combination(terms[:SHOWN]) + more
    return f"{said} separates {labels[state]!r} from {labels[other]!r} without fail"
