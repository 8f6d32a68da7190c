"""Covariances of normal classes from their moments: divisors, shrinkage, and what makes them degenerate.

======  ==========================================================
n_k     weight of the rows of class k; N their sum, K classes
S_k     scatter Σ w (x − x̄_k)(x − x̄_k)ᵀ of class k
ρ, T    shrinkage and what is shrunk to, (1 − ρ) Σ̂ + ρ T
======  ==========================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.data.variable import Variable
from suffice.errors import EstimationError, listing
from suffice.models.gaussian_regressions import SINGULAR
from suffice.stats.moments import Moments
from suffice.structures.class_gaussian import ClassGaussian
from suffice.text import number, plural

Floats = NDArray[np.float64]
CONSTANT = 4 * np.finfo(float).eps
"""A standard deviation below this, relative to the mean, is what rounding leaves of zero."""


@dataclass(frozen=True)
class Scatter:
    """The moments that covariances are made of: of every class, or of all together where they are tied.

    Attributes
    ----------
    structure : ClassGaussian
    target : Variable
    n : array, shape (G,)
        Rows of each group, G = K or 1.
    lost : array, shape (G,)
        Degrees of freedom that the means took: one, or K.
    scatter : array, shape (G, d, d)
    size : array, shape (G, d)
        How large the numbers of a column are.
    """

    structure: ClassGaussian
    target: Variable
    n: Floats
    lost: Floats
    scatter: Floats
    size: Floats

    @classmethod
    def of(cls, structure: ClassGaussian, moments: Moments) -> Scatter:
        """Group the moments as the structure says."""
        target = moments.by[0]
        n, scatter, size = moments.weight, moments.scatter, np.abs(moments.mean)
        if structure.is_tied:
            n, scatter, size = n.sum(keepdims=True), scatter.sum(axis=0, keepdims=True), size.max(0, keepdims=True)
        lost = np.full(len(n), float(target.n_states) if structure.is_tied else 1.0)
        return cls(structure, target, n, lost, scatter, size)

    def who(self, group: int) -> str:
        """Name a group."""
        return "all classes together" if self.structure.is_tied else f"class {self.target.labels[group]!r}"

    @property
    def freedom(self) -> Floats:
        """What the scatter is divided by for an unbiased covariance: n − 1 of a class, N − K of all; shape (G,)."""
        return self.n - self.lost

    def covariances(self) -> Floats:
        """Return Σ̂ with the divisor asked for, in the structure's form; shape (G, d, d), (G, d) or (G, 1)."""
        divisor = self.n
        if self.structure.divisor == "n-1":
            divisor = self.freedom
            self._require_freedom()
        found = self.scatter / divisor[:, None, None]
        if self.structure.form == "matrix":
            return np.asarray(found, np.float64)
        variances = np.diagonal(found, axis1=1, axis2=2)
        return np.array(variances if self.structure.form == "diagonal" else variances.mean(axis=1, keepdims=True))

    def _require_freedom(self) -> None:
        short = [group for group in range(len(self.n)) if not self.freedom[group] > 0]
        if short:
            lost = "the number of classes" if self.structure.is_tied else "1"
            raise EstimationError(
                f"Unbiased divisors need more rows than {lost}, and there {_are(self.n[short[0]])} in "
                f"{self.who(short[0])}. Collect more, or pass divisor='n'."
            )


def _are(n: float) -> str:
    return f"is {plural(n, 'row')}" if n == 1 else f"are {plural(n, 'row')}"


# Shrinkage ----------------------------------------------------------------------------------------------------


def oas_intensity(covariance: Floats, n: float) -> float:
    """Return ρ of oracle approximating shrinkage from a covariance with divisor n (Chen et al., 2010, eq. 23).

    ρ = (tr Σ² + tr² Σ) / ((n + 1)(tr Σ² − tr² Σ / d)), at most 1; as in scikit-learn, terms of order 1/d are left out.
    """
    d = len(covariance)
    if d == 1:
        return 0.0  # there is nothing to shrink to
    squares, trace = float((covariance * covariance).sum()), float(np.trace(covariance))
    above, below = squares + trace**2, (n + 1) * (squares - trace**2 / d)
    return min(above / below, 1.0) if below > 0 else 1.0


def ledoit_wolf_intensity(covariance: Floats, n: float, fourth: float) -> float:
    """Return ρ of Ledoit and Wolf (2004) from a covariance with divisor n and Σ w ‖x − x̄‖⁴.

    ρ = b² / d², of d² = ‖Σ̂ − (tr Σ̂/d) I‖² and b² = Σ ‖x xᵀ − Σ̂‖² / n², at most d².
    """
    d = len(covariance)
    squares, mean = float((covariance * covariance).sum()), float(np.trace(covariance)) / d
    apart = squares - d * mean**2
    noise = min((fourth / n - squares) / n, apart)
    return noise / apart if noise > 0 else 0.0


def shrunk(found: Floats, intensities: Floats, structure: ClassGaussian) -> Floats:
    """Return (1 − ρ) Σ̂ + ρ T for every group, in the structure's form."""
    if structure.form == "diagonal":
        rho = intensities[:, None]
        return np.asarray((1 - rho) * found + rho * found.mean(axis=1, keepdims=True), np.float64)
    rho = intensities[:, None, None]
    d = found.shape[1]
    variances = np.diagonal(found, axis1=1, axis2=2)
    if structure.towards == "identity":
        variances = np.broadcast_to(variances.mean(axis=1, keepdims=True), variances.shape)
    return np.asarray((1 - rho) * found + rho * variances[:, None, :] * np.eye(d), np.float64)


def shrinkage_remarks(scatter: Scatter, intensities: Floats) -> tuple[str, ...]:
    """Say how many pseudo-observations the shrinkage amounts to."""
    parts = []
    for group, rho in enumerate(intensities.tolist()):
        n = float(scatter.n[group])
        rows = number(n * rho / (1 - rho), 4) if rho < 1 else "infinitely many"
        parts.append(f"{scatter.who(group)} {number(rho, 4)} ({rows})")
    shown = "; ".join(parts[:6]) + (f"; … {len(parts) - 6} more" if len(parts) > 6 else "")
    target = "the identity times the mean variance" if scatter.structure.towards == "identity" else "the diagonal"
    return (
        f"Covariances are shrunk towards {target}: the mode under a Wishart prior. Shrinkage, and the "
        f"pseudo-observations that it counts for: {shown}.",
    )


# Degenerate covariances ---------------------------------------------------------------------------------------


def require_spread(scatter: Scatter, intensities: Floats | None) -> None:
    """Refuse columns that do not vary within a class, by name, unless shrinkage gives them a variance."""
    variances = np.diagonal(scatter.scatter, axis1=1, axis2=2) / scatter.n[:, None]
    still: NDArray[np.bool_] = np.asarray(~(np.sqrt(variances) > CONSTANT * scatter.size))
    if scatter.structure.form == "spherical":
        still = np.asarray(still.all(axis=1, keepdims=True))
    elif intensities is not None and scatter.structure.towards == "identity":
        still = np.asarray(still.all(axis=1, keepdims=True) | (still & (intensities[:, None] == 0)))
    if not still.any():
        return
    group = int(np.argmax(still.any(axis=1)))
    mine = still[group]
    others = int(still.any(axis=1).sum()) - 1
    more = f" (and of {others} more classes)" if others > 1 else " (and of one more class)" if others else ""
    n, who = float(scatter.n[group]), scatter.who(group)
    if mine.all():
        what = "are all alike" if n > 1 else "is only one"
        remedy = "collect more rows" if scatter.structure.is_tied else "collect more rows, or share variances: 'tied'"
        raise EstimationError(
            f"The rows of {who}{more}: there {what}, so that no variance can be estimated. Leave the class out, "
            f"{remedy}."
        )
    names = [name for name, lies in zip(scatter.structure.inputs, mine, strict=True) if lies]
    raise EstimationError(
        f"Column {names[0]!r} is constant in {who}{more}, so that its variance there is zero and the estimate does not "
        f"exist.{_also(names)} {_remedies(scatter.structure)}"
    )


def _also(names: Sequence[str]) -> str:
    return f" So are {listing(names[1:], 4)}." if len(names) > 1 else ""


def _remedies(structure: ClassGaussian) -> str:
    """Say what to do about variances of zero."""
    remedies = ["Leave it out", "shrink: shrinkage=0.1" + ("" if structure.towards == "identity" else
                                                          " with towards='identity'")]  # fmt: skip
    if not structure.is_tied and structure.covariance != "sparse":
        remedies.append(f"or share variances: covariance={_tied_twin(structure)!r}")
    return ", ".join(remedies) + "."


def _tied_twin(structure: ClassGaussian) -> str:
    return "tied" if structure.covariance == "full" else f"tied_{structure.covariance}"


def require_rank(scatter: Scatter, covariances: Floats) -> None:
    """Refuse singular matrices: by the classes that have too few rows, or by the column that follows from others."""
    singular = {group: place for group, place in enumerate(map(_dependent, covariances)) if place is not None}
    if not singular:
        return
    structure, d = scatter.structure, len(scatter.structure.inputs)
    few = [group for group in singular if not scatter.freedom[group] >= d]
    other = "'tied_diagonal'" if structure.is_tied else "'tied' or 'diagonal'"
    remedy = f"pass shrinkage='oas' or 0.1, or covariance={other}."
    if few:
        rows = ", ".join(f"{scatter.who(group)} has {number(float(scatter.n[group]))}" for group in few[:6])
        least = d + (scatter.target.n_states if structure.is_tied else 1)
        more = f" and {len(few) - 6} more" if len(few) > 6 else ""
        raise EstimationError(
            f"A covariance matrix of {plural(d, 'column')} needs at least {least} rows, and {rows}{more}: it is "
            f"singular. Collect more, {remedy}"
        )
    group, place = next(iter(singular.items()))
    raise EstimationError(
        f"The covariance matrix of {scatter.who(group)} is singular, or so to rounding error: column "
        f"{structure.inputs[place]!r} is a combination of the columns before it. Leave it out, {remedy}"
    )


def _dependent(matrix: Floats) -> int | None:
    """Return the first column that follows from those before it, in terms of correlations; None when none does."""
    roots = np.sqrt(np.diag(matrix))
    scaled = matrix / roots[:, None] / roots
    try:
        lower = np.linalg.cholesky(scaled)
        fine = np.diag(lower) ** 2 > SINGULAR
        return None if fine.all() else int(np.argmin(fine))
    except np.linalg.LinAlgError:
        pass
    for place in range(1, len(scaled)):
        if not np.linalg.eigvalsh(scaled[: place + 1, : place + 1])[0] > SINGULAR:
            return place
    return len(scaled) - 1
