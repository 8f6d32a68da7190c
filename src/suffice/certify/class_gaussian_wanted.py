"""What the covariances of normal classes have to be, computed anew from the moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.certify.claim import Claim
from suffice.data.block import Block
from suffice.data.variable import Variable
from suffice.stats.moments import Moments
from suffice.stats.needs import Need, Sum
from suffice.stats.sums import Sums
from suffice.structures.class_gaussian import ClassGaussian
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.class_gaussian import ClassGaussianModel


def wanted_spread(
    claim: Claim[ClassGaussian, ClassGaussianModel], moments: Moments
) -> tuple[list[Floats], list[float] | None]:
    """Return the matrix of every class, or the one of all, and the shrinkage of each where there is some."""
    structure: ClassGaussian = claim.structure
    groups = _groups(structure, moments)
    fourth = _fourth_powers(claim, moments) if structure.shrinkage == "ledoit_wolf" else None
    found, intensities = [], []
    for group, (n, lost, scatter) in enumerate(groups):
        plain = _in_form(structure, scatter / (n - lost if structure.divisor == "n-1" else n))
        if structure.shrinkage is None:
            found.append(plain)
            continue
        rho = structure.shrinkage
        if isinstance(rho, str):
            rho = _intensity(scatter / n, n, None if fourth is None else fourth[group])
        target = np.diag(np.diag(plain))
        if structure.towards == "identity":
            target = np.eye(len(plain)) * (math.fsum(np.diag(plain)) / len(plain))
        intensities.append(rho)
        found.append(plain + rho * (target - plain))
    return found, None if structure.shrinkage is None else intensities


def _groups(structure: ClassGaussian, moments: Moments) -> list[tuple[float, float, Floats]]:
    """Return weight, degrees of freedom lost to means, and scatter: of classes with rows, or of all where tied."""
    seen = np.flatnonzero(moments.weight > 0)
    if not structure.is_tied:
        return [(float(moments.weight[code]), 1.0, moments.scatter[code]) for code in seen]
    total = moments.scatter[seen].sum(axis=0, dtype=np.longdouble).astype(np.float64)
    return [(math.fsum(moments.weight), float(len(seen)), total)]


def _in_form(structure: ClassGaussian, matrix: Floats) -> Floats:
    """Return the nearest matrix of the structure's form, in the likelihood's sense: the projection of moments."""
    if structure.form == "matrix":
        return matrix
    variances = np.diag(matrix)
    if structure.form == "spherical":
        variances = np.full(len(matrix), math.fsum(variances) / len(matrix))
    return np.diag(variances)


def _intensity(covariance: Floats, n: float, fourth: float | None) -> float:
    """Return the shrinkage by OAS, or by Ledoit and Wolf where fourth powers are given, from eigenvalues."""
    values = np.linalg.eigvalsh(covariance)
    d = len(values)
    mean = math.fsum(values) / d
    apart = math.fsum((values - mean) ** 2)  # ‖Σ̂ − (tr Σ̂ / d) I‖²
    squares = math.fsum(values**2)
    if fourth is None:
        if d == 1:
            return 0.0
        below = (n + 1) * apart
        return min((squares + (d * mean) ** 2) / below, 1.0) if below > 0 else 1.0
    noise = min((fourth / n - squares) / n, apart)
    return noise / apart if noise > 0 else 0.0


# Student's t --------------------------------------------------------------------------------------------------


def wanted_t(structure: ClassGaussian, moments: Moments, code: int) -> tuple[float, Floats]:
    """Return degrees of freedom and scale matrix of a class's predictive, by the conjugate posterior.

    The reference prior is the limit κ → 0, ν → 0, Ψ → 0 of the conjugate one, less a degree of freedom for each mean:
    the posterior is inverse Wishart with ν = n − 1 (N − K where tied) and Ψ the scatter, the mean counting for κ = n_k
    rows. The predictive then has δ = ν − d + 1 degrees of freedom and the scale Ψ (κ + 1) / (κ δ). One variance for
    m numbers a row is inverse gamma with m ν / 2 and Ψ the sum of their squares.
    """
    kappa = float(moments.weight[code])
    groups = _groups(structure, moments)
    n, lost, scatter = groups[0 if structure.is_tied else int((moments.weight[:code] > 0).sum())]
    nu, d = n - lost, len(scatter)
    if structure.form == "matrix":
        delta, psi = nu - d + 1, scatter
    elif structure.form == "diagonal":
        delta, psi = nu, np.diag(np.diag(scatter))
    else:
        delta, psi = nu * d, np.eye(d) * math.fsum(np.diag(scatter))
    return delta, psi * (kappa + 1) / (kappa * delta)


# Fourth powers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _FourthPowers:
    """The task of adding up w ‖x − x̄_y‖⁴ by class in the longest floating-point numbers there are."""

    inputs: tuple[str, ...]
    target: Variable
    means: Floats

    def __call__(self, block: Block) -> dict[Need, Any]:
        classes = np.array([self.target.code(label) for label in block.schema[self.target.name].labels], np.int64)
        codes = classes[np.asarray(block.columns[self.target.name], np.int64)]
        squares = np.zeros(block.n_rows, np.longdouble)
        for place, name in enumerate(self.inputs):
            squares += (block.columns[name] - self.means[codes, place].astype(np.longdouble)) ** 2
        weighted = squares**2 * (1 if block.weights is None else block.weights)
        sums = Sums("powers", np.array([float(weighted[codes == code].sum()) for code in range(len(self.means))]))
        return {sums.need: sums}


def _fourth_powers(claim: Claim[ClassGaussian, ClassGaussianModel], moments: Moments) -> list[float]:
    """Return Σ w ‖x − x̄_k‖⁴ of every group: from the data where it is at hand, otherwise as the fitter found them."""
    target, tied, seen = moments.by[0], claim.structure.is_tied, moments.weight > 0
    if claim.source is not None:
        found = claim.source.reduce(_FourthPowers(claim.structure.inputs, target, moments.mean))
        values = found[Sum("powers", target.n_states)].values[seen].tolist()
        return [math.fsum(values)] if tied else values
    n_groups = 1 if tied else int(seen.sum())
    return [float(claim.diagnostics.get(f"fourth powers {group}", math.nan)) for group in range(n_groups)]
