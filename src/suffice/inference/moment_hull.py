"""Which moments a log-linear model can have: the convex hull of its feature vectors, and where targets lie in it.

p(x) ∝ h(x) exp(w·f(x)) has moments E[f] that lie in the relative interior of the convex hull of the vectors f(x) over
all cells x with h(x) > 0, and each point there belongs to one such p. Targets on the boundary are the limit of such p,
on a face of the hull; targets outside belong to no distribution at all.

References
----------
Wainwright and Jordan (2008), Graphical models, exponential families, and variational inference, section 3.
Geyer (2009), Likelihood inference in exponential families and directions of recession, EJS 3, 259–289.

Symbols
-------
f(x), α    feature vectors of the cells, shape (cells, k); targets, shape (k,)
c          a direction of the hull, shape (k,)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import ArgumentError, require_fraction
from suffice.inference.moment_cloud import Cloud, cloud_of, nearest
from suffice.inference.moment_face import smallest_face
from suffice.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_COEFFICIENT = 12
MAX_TRIALS = 60
MAX_TRIED = 200_000
"""Directions of more features, or with more numbers in their vectors, are not searched for one of fewer features."""

MAX_REACH = 0.9
"""Below one by more than the round-off of a covariance could matter."""

ROUNDING = 2e-15
"""Moments and covariances are known to this part of the spread of their features, or of their own size."""

Answer = Literal["yes", "no", "undecided"]


@dataclass(frozen=True, eq=False)
class Separation:
    """The proof that no distribution has the targets: direction · f(x) ≤ bound for every cell, and targets beyond.

    Attributes
    ----------
    direction : array, shape (k,)
        Zero for features that have no part in the conflict; small whole numbers where that is possible.
    bound : float
        The largest value of direction · f(x).
    reached : float
        direction · targets, which is larger.
    """

    direction: Floats
    bound: float
    reached: float


@dataclass(frozen=True, eq=False)
class HullFace:
    """The smallest face of the hull that holds the targets.

    Attributes
    ----------
    exists : {"yes", "no", "undecided"}
        Whether the targets lie in the relative interior of the hull, so that a log-linear model has them.
    support : array of bool, shape (cells,), or None
        The cells on the face: those to which the limit of the likelihood gives mass. No cell at all when the targets
        lie outside the hull; None when undecided.
    direction : array, shape (k,), or None
        direction · (α − f(x)) is zero on the support, up to the round-off of α, and positive in all other cells: the
        weights run to infinity this way. All zero when `exists` is "yes"; None when undecided.
    """

    exists: Answer
    support: Bools | None = field(repr=False)
    direction: Floats | None = field(repr=False)

    @property
    def feasible(self) -> Answer:
        """Whether any distribution has the targets."""
        if self.support is None:
            return "undecided"
        return "yes" if self.support.any() else "no"


def separation(features: ArrayLike | csr_array, targets: ArrayLike, tol: float = 1e-9) -> Separation | None:
    """Find a combination of features that no distribution can bring to its target.

    Parameters
    ----------
    features : array or sparse array, shape (cells, k)
        f(x) of every cell with a positive base measure.
    targets : array, shape (k,)
    tol : float
        How far outside the targets must be, as a part of the spread Σ |c_j| (max f_j − min f_j). The solver sees no
        distances below 1e-10.

    Returns
    -------
    Separation or None
        What is returned was checked, cell by cell, beyond round-off. None means that nothing was found: the targets
        are in the hull or within `tol` of it, the solver failed, or there are more than `moment_cloud.MAX_CELLS`
        different vectors, or `MAX_ENTRIES` numbers in them, when only single features are looked at.
        `HullFace.feasible` tells these apart.

    Notes
    -----
    Features are first tried alone. Then

        max c·α − max_x c·f(x)   such that   Σ |c_j| (max f_j − min f_j) ≤ 1

    is a linear program, whose dual looks for the distribution with moments nearest to the targets. Features are left
    out of c, one by one, as long as those that remain are in conflict: without any one of the rest, there is none.

    Examples
    --------
    The three pairs of three coins cannot all differ most of the time:

    >>> coins = np.array(list(np.ndindex(2, 2, 2)))
    >>> differ = (coins != np.roll(coins, 1, axis=1)).astype(float)
    >>> found = separation(differ, [0.8, 0.7, 0.9])
    >>> found.direction.tolist(), found.bound, round(found.reached, 12)
    ([1.0, 1.0, 1.0], 2.0, 2.4)
    """
    return _separation(_cloud(features, targets, tol), tol)


def face(features: ArrayLike | csr_array, targets: ArrayLike, tol: float = 1e-9) -> HullFace:
    """Find the smallest face of the hull that holds the targets.

    Parameters
    ----------
    features : array or sparse array, shape (cells, k)
        f(x) of every cell with a positive base measure.
    targets : array, shape (k,)
    tol : float
        Distances above this part of the spread of the features are positive, those below a thousandth of it are zero,
        and those between are undecided. One count among N is a distance of about 1/N.

    Returns
    -------
    HullFace
        Undecided, too, when there are more than `moment_cloud.MAX_CELLS` different vectors, or an answer fails a check.

    Notes
    -----
    A linear program finds some cells whose vectors have a positive mixture equal to α. They lie on the face, and from
    here on stand for α, which is known to round-off only. The other cells follow from the homogeneous program

        max Σ v   such that   Σ (v_x + w_x) (1, f(x)) + Σ_known y_x (1, f(x)) = 0,   0 ≤ v ≤ 1,   0 ≤ w,

    where v is one on the face and zero off it; its multipliers are the direction. With whole features the direction is
    mostly one of whole numbers, and the check that it singles out just these cells is exact.

    Examples
    --------
    A die with the mean 6 shows nothing but sixes; of a die with the mean 5, a model exists.

    >>> die = np.arange(1.0, 7.0)[:, None]
    >>> certain = face(die, [6.0])
    >>> certain.exists, certain.support.tolist(), certain.direction.tolist()
    ('no', [False, False, False, False, False, True], [1.0])
    >>> face(die, [5.0]).exists, face(die, [7.0]).feasible
    ('yes', 'no')
    """
    cloud = _cloud(features, targets, tol)
    apart = _single(cloud, tol)
    if apart is None and not cloud.is_large:
        moved = cloud.spread > 0
        within = cloud.of(moved)
        found = nearest(within)
        parts = None if found is None or found.distance > tol else smallest_face(within, found, tol)
        if parts is not None:
            direction = np.zeros(len(moved))
            direction[moved] = parts.direction
            return HullFace("yes" if parts.members.all() else "no", parts.members[within.place], direction)
        if found is not None and found.distance > tol:
            apart = _separation(cloud, tol)
    if apart is None:
        return HullFace("undecided", None, None)
    return HullFace("no", np.zeros(len(cloud.place), dtype=np.bool_), apart.direction)


def interior_proof(
    expected: ArrayLike,
    covariance: ArrayLike,
    targets: ArrayLike,
    spread: ArrayLike,
    rank: int | None = None,
    tol: float = 1e-9,
) -> bool:
    """Whether the targets are certainly in the relative interior of the hull; False may mean unknown.

    Parameters
    ----------
    expected : array, shape (k,)
        E = E[f] under some p that is positive in every cell.
    covariance : array, shape (k, k)
        Of f under the same p.
    targets : array, shape (k,)
    spread : array, shape (k,)
        max_x f_j − min_x f_j, or more; zero only for a feature that is constant.
    rank : int, optional
        The number of independent features, as `dependence` finds it; by default, of all that are not constant. It is
        not taken from this covariance, where a direction in which p hardly varies looks like one in which nothing can
        vary: just the case of targets on the boundary.
    tol : float
        How far the targets may be from the affine hull, as a part of the spread: their round-off.

    Notes
    -----
    Let v solve cov v = α − E. Then p'(x) = p(x) (1 + v·(f(x) − E)) sums to one, since E[f − E] = 0, and has the moments
    E + cov v = α. As E lies between the least and the largest f, |v·(f(x) − E)| ≤ Σ |v_j| spread_j everywhere. Where
    this is below one, p' is positive in every cell. α is then a mixture of all vectors f(x) with positive weights,
    which is what a point of the relative interior is.

    The range of cov spans the affine hull of the vectors, taken at E. If α − E has a part outside the range, α is not
    in the affine hull, no v exists and nothing is proved. The bound on Σ |v_j| spread_j is kept below one by more than
    round-off in E and cov can amount to.

    Examples
    --------
    Targets near the moments of a fair coin and a fair die:

    >>> bool(interior_proof([0.5, 3.5], np.diag([0.25, 35 / 12]), [0.51, 3.6], [1.0, 5.0]))
    True
    >>> bool(interior_proof([0.5, 3.5], np.diag([0.25, 35 / 12]), [0.51, 6.0], [1.0, 5.0]))
    False
    """
    mean, wanted, width = (np.asarray(array, dtype=np.float64) for array in (expected, targets, spread))
    matrix = np.asarray(covariance, dtype=np.float64)
    shapes = [array.shape for array in (mean, wanted, width, matrix)]
    if mean.ndim != 1 or shapes != [mean.shape] * 3 + [mean.shape * 2]:
        raise ArgumentError(
            "The 'expected', 'targets' and 'spread' arguments must have the shape (k,), and 'covariance' (k, k). "
            f"Got {', '.join(map(str, shapes))} instead."
        )
    moved = width > 0
    if not all(np.isfinite(array).all() for array in (mean, wanted, width, matrix)):
        return False
    if (np.abs(wanted - mean)[~moved] > tol * np.maximum(np.abs(mean[~moved]), 1.0)).any():
        return False
    size = width[moved]
    gap = (wanted - mean)[moved] / size
    n_free = len(gap) if rank is None else min(rank, len(gap))
    if n_free == 0:
        return bool((np.abs(gap) <= tol).all())
    values, vectors = np.linalg.eigh(matrix[np.ix_(moved, moved)] / size[:, None] / size)
    values, vectors = values[-n_free:], vectors[:, -n_free:]
    parts = vectors.T @ gap
    if (np.abs(gap - vectors @ parts) > tol).any():
        return False
    doubt = ROUNDING * (1 + (np.abs(mean) + np.abs(wanted))[moved] / size)
    # Σ |cov⁺ e| ≤ √k ‖e‖ / λ, λ the smallest eigenvalue that counts: by so much can round-off move the sum.
    slack = np.sqrt(len(gap)) * np.linalg.norm(doubt)
    if not values[0] * (1 - MAX_REACH) > slack:
        return False
    reach = np.abs(vectors @ (parts / values)).sum()
    return bool(reach < MAX_REACH)


# Separations --------------------------------------------------------------------------------------------------


def _cloud(features: ArrayLike | csr_array, targets: ArrayLike, tol: float) -> Cloud:
    require_fraction("tol", tol)
    return cloud_of(features, targets)


def _separation(cloud: Cloud, tol: float) -> Separation | None:
    alone = _single(cloud, tol)
    if alone is not None or cloud.is_large:
        return alone
    direction = _jointly(cloud, np.flatnonzero(cloud.spread > 0), tol)
    if direction is None:
        return None
    direction = _fewest(cloud, direction, tol)
    return _claim(cloud, _simplest(cloud, direction, tol))


def _claim(cloud: Cloud, direction: Floats) -> Separation:
    return Separation(direction, cloud.highest(direction), float(direction @ cloud.targets))


def _single(cloud: Cloud, tol: float) -> Separation | None:
    """Return the feature whose target is farthest from the values it can have."""
    above, below = cloud.targets - cloud.high, cloud.low - cloud.targets
    beyond = np.maximum(above, below) - cloud.rounding
    # A feature that is constant has no spread to measure with.
    share = beyond / np.where(cloud.spread > 0, cloud.spread, np.maximum(np.abs(cloud.high), 1.0))
    if not (share > tol).any():
        return None
    worst = int(share.argmax())
    sign = 1.0 if above[worst] > below[worst] else -1.0
    direction = np.zeros(len(share))
    direction[worst] = sign
    bound = cloud.high[worst] if sign > 0 else -cloud.low[worst]
    return Separation(direction, float(bound), float(sign * cloud.targets[worst]))


def _jointly(cloud: Cloud, chosen: Ints, tol: float) -> Floats | None:
    """Return the direction in which the targets of some features are farthest outside; None when they are not."""
    found = nearest(cloud.of(chosen)) if len(chosen) else None
    if found is None:
        return None
    direction = np.zeros(len(cloud.targets))
    direction[chosen] = found.direction
    return direction if cloud.excess(direction) > tol else None


def _fewest(cloud: Cloud, direction: Floats, tol: float) -> Floats:
    """Return a direction with a conflict of features none of which can be left out."""
    sizes = np.abs(direction) * cloud.spread
    left = sorted(map(int, np.flatnonzero(sizes)), key=lambda j: float(sizes[j]))
    if len(left) > MAX_TRIALS or cloud.of(left).vectors.size > MAX_TRIED:
        return direction
    for number in list(left):
        fewer = [j for j in left if j != number]
        found = _jointly(cloud, np.array(fewer), tol) if number in left else None
        if found is not None:
            left, direction = [j for j in fewer if found[j]], found
    return direction


def _simplest(cloud: Cloud, direction: Floats, tol: float) -> Floats:
    """Return small whole numbers, or numbers of few digits, that separate nearly as well; else the direction itself."""
    sizes = np.abs(direction)
    scaled = direction / sizes.max(), direction / sizes[sizes > 0].min()
    whole = (np.rint(factor * unit) for factor in range(1, MAX_COEFFICIENT + 1) for unit in scaled)
    short = (_digits(scaled[1], digits) for digits in (1, 2, 3, 6))
    enough = max(tol, cloud.excess(direction) / 2)
    for simple in chain(whole, short):
        if cloud.excess(simple) > enough:
            return np.asarray(simple + 0.0)
    return direction


def _digits(values: Floats, digits: int) -> Floats:
    return np.array([float(f"{value:.{digits}g}") for value in values])
