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
from suffice.errors import EstimationError, Remedy, Text, Value, joined, listing
from suffice.models.gaussian_regressions import SINGULAR
from suffice.stats.moments import Moments
from suffice.structures.class_gaussian import ClassGaussian
from suffice.text import number, plural
from suffice.types import Floats
from suffice.values import Label

CONSTANT = 4 * np.finfo(float).eps
"""A standard deviation below this, relative to the mean, is what rounding leaves of zero."""


@dataclass(frozen=True)
class Scatter:
    """The moments that covariances are made of: of every class, or of all together where they are tied.

    Attributes
    ----------
    structure : ClassGaussian
    target : Variable
    seen : array, shape (K,)
        Which classes have rows; the others are left out of all groups.
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
    seen: NDArray[np.bool_]
    n: Floats
    lost: Floats
    scatter: Floats
    size: Floats

    @classmethod
    def of(cls, structure: ClassGaussian, moments: Moments) -> Scatter:
        """Group the moments as the structure says."""
        target = moments.by[0]
        seen: NDArray[np.bool_] = np.asarray(moments.weight > 0)
        n, scatter, size = moments.weight[seen], moments.scatter[seen], np.abs(moments.mean[seen])
        if structure.is_tied:
            # eq pooled-covariance
            n, scatter, size = n.sum(keepdims=True), scatter.sum(axis=0, keepdims=True), size.max(0, keepdims=True)
        lost = np.full(len(n), float(seen.sum()) if structure.is_tied else 1.0)
        return cls(structure, target, seen, n, lost, scatter, size)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes that have rows."""
        return tuple(label for label, there in zip(self.target.labels, self.seen, strict=True) if there)

    def who(self, group: int) -> str:
        """Name a group."""
        return "all classes together" if self.structure.is_tied else f"class {self.labels[group]!r}"

    def by_class(self, values: Floats) -> Floats:
        """Return an array of groups as one of classes, NaN of those without rows; where tied it stays as it is."""
        return values if self.structure.is_tied else of_all_classes(values, self.seen)

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
        found = self.scatter / divisor[:, None, None]  # eq class-covariance
        if self.structure.form == "matrix":
            return np.asarray(found, np.float64)
        variances = np.diagonal(found, axis1=1, axis2=2)
        return np.array(variances if self.structure.form == "diagonal" else variances.mean(axis=1, keepdims=True))

    def _require_freedom(self) -> None:
        short = [group for group in range(len(self.n)) if not self.freedom[group] > 0]
        if short:
            needed = "more rows than there are classes" if self.structure.is_tied else "more than one row a class"
            raise EstimationError(
                f"Unbiased divisors need {needed}, and {self.has_rows(short)}. Collect more, or pass ",
                Remedy("divisor", "n"),
                ".",
            )

    def has_rows(self, groups: Sequence[int]) -> str:
        """Say how many rows some groups have."""
        if self.structure.is_tied:
            return f"all classes together have {plural(float(self.n[0]), 'row')}"
        said = ", ".join(f"{self.who(group)} has {number(float(self.n[group]))}" for group in groups[:6])
        return said + (f" and {len(groups) - 6} more have too few" if len(groups) > 6 else "")


def of_all_classes(values: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Return an array of the classes that have rows as one of all classes, NaN for the others."""
    found = np.full((len(seen), *values.shape[1:]), np.nan)
    found[seen] = values
    return found


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
    return np.asarray((1 - rho) * found + rho * variances[:, None, :] * np.eye(d), np.float64)  # eq shrinkage


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
    still = _constant(scatter.scatter, scatter.n, scatter.size)
    if scatter.structure.form == "spherical":
        still = np.asarray(still.all(axis=1, keepdims=True))
    elif intensities is not None and scatter.structure.towards == "identity":
        still = np.asarray(still.all(axis=1, keepdims=True) | (still & (intensities[:, None] == 0)))
    if not still.any():
        return
    group = int(np.argmax(still.any(axis=1)))
    mine = np.broadcast_to(still[group], len(scatter.structure.inputs))
    others = int(still.any(axis=1).sum()) - 1
    also = f" The same holds for {'one more class' if others == 1 else f'{others} more classes'}." if others else ""
    if mine.all():
        raise EstimationError(f"{_alike(scatter, group)}{also} ", listed(_remedies_of_class(scatter, others)), ".")
    names = [name for name, lies in zip(scatter.structure.inputs, mine, strict=True) if lies]
    where = "within each class" if scatter.structure.is_tied else f"in {scatter.who(group)}"
    more = f" So {'is' if len(names) == 2 else 'are'} {listing(names[1:], 4)}." if len(names) > 1 else ""
    raise EstimationError(
        f"Column {names[0]!r} is constant {where}, so that its variance is zero and the estimate does not exist."
        f"{more}{also} ",
        listed(_remedies_of_columns(scatter, mine)),
        ".",
    )


def _constant(scatter: Floats, n: Floats, size: Floats) -> NDArray[np.bool_]:
    """Return which columns do not vary; shape (G, d)."""
    variances = np.diagonal(scatter, axis1=1, axis2=2) / n[:, None]
    return np.asarray(~(np.sqrt(variances) > CONSTANT * size))


def _varies_in_all(scatter: Scatter) -> NDArray[np.bool_]:
    """Return which columns vary within some class, so that sharing variances gives them one; shape (d,)."""
    pooled, n = scatter.scatter.sum(axis=0, keepdims=True), scatter.n.sum(keepdims=True)
    return np.asarray(~_constant(pooled, n, scatter.size.max(axis=0, keepdims=True))[0])


def _alike(scatter: Scatter, group: int) -> str:
    """Say that no column varies within a class."""
    n, who = float(scatter.n[group]), scatter.who(group)
    if scatter.structure.is_tied:
        return "Within each class all rows are alike, so that no variance can be estimated."
    what = "only one row" if n == 1 else f"only {plural(n, 'row')}" if n < 1 else "rows that are all alike"
    return f"C{who[1:]} has {what}, so that no variance can be estimated there."


def _remedies_of_class(scatter: Scatter, others: int) -> list[str]:
    """Say what to do about classes that do not vary."""
    if scatter.structure.is_tied:
        return ["Collect more rows"]
    remedies = ["Collect more rows", "leave such classes out" if others else "leave the class out"]
    varies = _varies_in_all(scatter)
    helps = varies.any() if scatter.structure.form == "spherical" else varies.all()
    return remedies + (
        [Text("share variances by ", Remedy("covariance", tied_twin(scatter.structure)))] if helps else []
    )


def _remedies_of_columns(scatter: Scatter, mine: NDArray[np.bool_]) -> list[str]:
    """Say what to do about columns with variances of zero."""
    structure = scatter.structure
    beside: list[tuple[str, Value]] = [("bayes", False)] if structure.bayes else []
    beside += [] if structure.towards == "identity" else [("towards", "identity")]
    remedies = ["Leave it out" if mine.sum() == 1 else "Leave them out"]
    remedies.append(Text("pass ", Remedy("shrinkage", 0.1, beside=tuple(beside))))
    if not structure.is_tied and structure.covariance != "sparse" and _varies_in_all(scatter)[mine].all():
        remedies.append(Text("share variances by ", Remedy("covariance", tied_twin(structure))))
    return remedies


def listed(remedies: Sequence[str]) -> str:
    """Join what may be done to a sentence, without its full stop."""
    return remedies[0] if len(remedies) == 1 else Text(joined(", ", remedies[:-1]), ", or ", remedies[-1])


def tied_twin(structure: ClassGaussian) -> str:
    """Return the covariance of the same form that all classes share."""
    return "tied" if structure.form == "matrix" else f"tied_{structure.form}"


def require_rank(scatter: Scatter, covariances: Floats) -> None:
    """Refuse singular matrices: by the classes that have too few rows, or by the column that follows from others."""
    singular = {group: place for group, place in enumerate(map(_dependent, covariances)) if place is not None}
    if not singular:
        return
    structure, d = scatter.structure, len(scatter.structure.inputs)
    few = [group for group in singular if not scatter.freedom[group] >= d]
    beside: tuple[tuple[str, Value], ...] = (("bayes", False),) if structure.bayes else ()
    values: list[Value] = [0.1] if structure.towards == "diagonal" else ["oas", 0.1]
    shrink = Text("pass ", joined(" or ", [Text(Remedy("shrinkage", value, beside=beside)) for value in values]))
    alone = Text(Remedy("covariance", "tied_diagonal")) if structure.is_tied else Text(Remedy("covariance", "diagonal"))
    if few:
        pooled = not structure.is_tied and float(scatter.n.sum()) - len(scatter.labels) >= d
        other = Text(Remedy("covariance", "tied"), " or ", Remedy("covariance", "diagonal")) if pooled else alone
        shared = f" that {len(scatter.labels)} classes share" if structure.is_tied else ""
        least = d + (len(scatter.labels) if structure.is_tied else 1)
        raise EstimationError(
            f"A covariance matrix of {plural(d, 'column')}{shared} needs at least {least} rows, and "
            f"{scatter.has_rows(few)}: it is singular. Collect more, ",
            shrink,
            ", or ",
            other,
            ".",
        )
    group, place = next(iter(singular.items()))
    raise EstimationError(
        f"The covariance matrix of {scatter.who(group)} is singular, or so to rounding error: column "
        f"{structure.inputs[place]!r} is a combination of the columns before it. Leave it out, ",
        shrink,
        ", or ",
        alone,
        ".",
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
