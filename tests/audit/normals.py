"""Joint normal distributions: free, with a graph, under priors, and as autoregressions."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from tests.audit.exact import decimal, difference, exact, inverse_and_determinant, log_of, normal_objective
from tests.audit.family import AuditFamily
from tests.audit.regressions import shifted
from tests.audit.tables import weights_of

import suffice as sf
from suffice.certify.claim import Claim
from suffice.models.autoregression import AutoregressiveModel
from suffice.models.joint_normal import JointNormal
from suffice.stats.needs import Moment

NAMES = tuple("abcd")


def rows_of(rng: np.random.Generator, n: int) -> Any:
    """Draw correlated columns of different units, which may lie far from zero: up to 10⁶ standard deviations.

    With a weight of 10¹³ the rounding of means further away would cost more than a thousandth of a nat.
    """
    x = rng.normal(size=(n, 4)) @ (rng.normal(size=(4, 4)) + np.eye(4))
    return (x + rng.choice([0.0, 1e3, 1e6]) * rng.normal(size=4)) * 10.0 ** rng.uniform(-3, 3, 4)


def draw_normal(rng: np.random.Generator, graph: bool) -> Callable[[], Any]:
    """Draw weighted rows, and a normal distribution with or without a graph."""
    n = int(rng.integers(20, 60))
    data = dict(zip(NAMES, rows_of(rng, n).T, strict=True))
    structure: Any = sf.MultivariateNormal(NAMES, divisor=str(rng.choice(["n", "n-1"])))
    if graph:
        structure = sf.GaussianMarkov(str(rng.choice(["a:b + b:c + c:d", "a:b + b:c + c:d + d:a", "a:b:c + d"])))
    return partial(sf.fit, structure, data, weights=weights_of(rng, n))


def draw_under_prior(rng: np.random.Generator, point: str) -> Callable[[], Any]:
    """Draw weighted rows and a normal inverse Wishart prior."""
    n = int(rng.integers(20, 60))
    x = rows_of(rng, n)
    prior = sf.NormalInverseWishart(
        dof=float(rng.uniform(6, 20)),
        scale=np.diag(x.var(axis=0) * 5),
        mean=x.mean(axis=0) + x.std(axis=0),
        mean_weight=float(rng.uniform(0.1, 5)),
    )
    data = dict(zip(NAMES, x.T, strict=True))
    structure = sf.MultivariateNormal(NAMES)
    return partial(sf.fit, structure, data, weights=weights_of(rng, n), prior=prior, point=point)


def perturb_normal(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change a mean, or an entry of the precision matrix where the graph has it (of the covariance without one)."""
    model: JointNormal = claim.model
    if rng.random() < 0.4:
        mean, at = np.array(model.mean), int(rng.integers(4))
        mean[at] = shifted(rng, mean[at], math.sqrt(model.covariance[at, at]))
        held = {model._given: model._matrix}
        return JointNormal(model.names, mean, **held), f"mean {at}: {model.mean[at]} to {mean[at]}"
    places = [*((name, name) for name in model.names), *claim.structure.edges]
    first, second = (model.names.index(name) for name in places[rng.integers(len(places))])
    matrix = np.array(model._matrix)
    size = math.sqrt(matrix[first, first] * matrix[second, second])
    if model._given == "covariance" and len(places) < 10:
        return None  # a change of one covariance would change zeros of the precision matrix
    matrix[first, second] = matrix[second, first] = shifted(rng, matrix[first, second], size)
    roots = np.sqrt(np.abs(np.diag(matrix))) + 1e-300
    if np.linalg.eigvalsh(matrix / np.outer(roots, roots))[0] <= 1e-6:
        return None
    said = f"{model._given} {first, second}: {model._matrix[first, second]} to {matrix[first, second]}"
    return JointNormal(model.names, model.mean, **{model._given: matrix}), said


def covariance_of(model: JointNormal) -> Any:
    """Return the covariance matrix in fractions, from whichever matrix the model holds."""
    return exact(model._matrix) if model._given == "covariance" else inverse_and_determinant(exact(model._matrix))[0]


def cost_of_normal(claim: Claim, model: JointNormal) -> float:
    """Return the fall of the log-likelihood or log-posterior density, or the distance from the posterior mean."""
    moments = claim.statistics[Moment(claim.structure.variables)]
    n, seen = Fraction(float(moments.weight)), exact(moments.mean) + exact(moments.rest)
    if claim.point == "mean":
        return deviation_of_normal(claim, model, n, seen, exact(moments.scatter))

    def objective(one: JointNormal) -> Decimal:
        off = seen - exact(one.mean)
        squares, power = exact(moments.scatter) + n * np.outer(off, off), n
        if getattr(claim.structure, "divisor", "n") == "n-1":
            power -= 1
        if claim.prior is not None:
            kappa, before = Fraction(float(claim.prior.mean_weight)), exact(claim.prior.mean_of(claim.structure))
            apart = exact(one.mean) - before
            squares = squares + exact(claim.prior.scale_of(claim.structure)) + kappa * np.outer(apart, apart)
            power += Fraction(float(claim.prior.dof)) + len(seen) + 2
        return normal_objective(power, squares, covariance_of(one))

    return difference(objective, claim.model, model)


def deviation_of_normal(claim: Claim, model: JointNormal, n: Fraction, seen: Any, scatter: Any) -> float:
    """Return the largest distance of a mean or covariance from its posterior mean in standard deviations."""
    prior, p = claim.prior, len(seen)
    kappa, before = Fraction(float(prior.mean_weight)), exact(prior.mean_of(claim.structure))
    centre, nu = (kappa * before + n * seen) / (kappa + n), Fraction(float(prior.dof)) + n
    apart = seen - before
    psi = exact(prior.scale_of(claim.structure)) + scatter + kappa * n / (kappa + n) * np.outer(apart, apart)
    wanted, found, worst = psi / (nu - p - 1), covariance_of(model), 0.0
    for i in range(p):
        off = exact(model.mean)[i] - centre[i]
        worst = max(worst, math.sqrt(float(off * off / (wanted[i, i] / (kappa + n)))))
        for j in range(p):
            variance = (nu - p + 1) * psi[i, j] ** 2 + (nu - p - 1) * psi[i, i] * psi[j, j]
            variance /= (nu - p) * (nu - p - 1) ** 2 * (nu - p - 3)
            off = found[i, j] - wanted[i, j]
            worst = max(worst, math.sqrt(float(off * off / variance)))
    return worst


# Autoregressions ----------------------------------------------------------------------------------------------


def draw_autoregression(rng: np.random.Generator) -> Callable[[], Any]:
    """Draw sequences of two columns that follow their own past."""
    sequences = []
    level = rng.choice([0.0, 1e3]) * rng.normal(size=2)
    for _ in range(int(rng.integers(2, 5))):
        rows = [rng.normal(size=2)]
        for _ in range(int(rng.integers(20, 60))):
            rows.append(rows[-1] @ np.array([[0.5, 0.2], [-0.3, 0.6]]) + rng.normal(size=2))
        sequences.append(np.array(rows) + level)
    structure = sf.Autoregression(int(rng.integers(1, 3)), divisor=str(rng.choice(["n", "n-p"])))
    return partial(sf.fit, structure, sequences, weights=weights_of(rng, len(sequences)))


def perturb_autoregression(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change an intercept, a coefficient or a covariance of the errors."""
    model: AutoregressiveModel = claim.model
    parts = {"intercept": model.intercept, "coefficients": model.coefficients, "covariance": model.covariance}
    name = str(rng.choice(list(parts)))
    values = np.array(parts[name])
    at = tuple(int(rng.integers(size)) for size in values.shape)
    values[at] = shifted(rng, values[at], math.sqrt(float(model.covariance.max())))
    if name == "covariance":
        values[at[::-1]] = values[at]
        if np.linalg.eigvalsh(values)[0] <= 1e-6:
            return None
    said = f"{name} {at}: {parts[name][at]} to {values[at]}"
    more = {"start": model.start, "id": model.id, "time": model.time}
    return AutoregressiveModel(model.variables, **{**parts, name: values}, **more), said


def cost_of_autoregression(claim: Claim, model: AutoregressiveModel) -> float:
    """Return the fall of the log-likelihood; of n less the coefficients where covariances are unbiased."""
    windows, _ = claim.structure.moments(claim.statistics)
    n, q = Fraction(float(windows.weight)), len(model.lag_names)
    means, scatter = exact(windows.mean) + exact(windows.rest), exact(windows.scatter)

    def objective(one: AutoregressiveModel) -> Decimal:
        across = np.concatenate([-exact(one.flat_coefficients), exact(np.eye(2))], axis=1)
        off = across.dot(means) - exact(one.intercept)
        squares = across.dot(scatter).dot(across.T) + n * np.outer(off, off)
        power = n - (q + 1 if claim.structure.divisor == "n-p" else 0)
        inverse, determinant = inverse_and_determinant(exact(one.covariance))
        trace = sum((inverse[i] * squares[:, i]).sum() for i in range(2))
        return -(decimal(power) * log_of(determinant) + decimal(trace)) / 2

    return difference(objective, claim.model, model)


NORMALS = (
    AuditFamily("multivariate normal", partial(draw_normal, graph=False), perturb_normal, cost_of_normal),
    AuditFamily("Gaussian Markov", partial(draw_normal, graph=True), perturb_normal, cost_of_normal),
    AuditFamily("normal, posterior mode", partial(draw_under_prior, point="map"), perturb_normal, cost_of_normal),
    AuditFamily("normal, posterior mean", partial(draw_under_prior, point="mean"), perturb_normal, cost_of_normal),
    AuditFamily("autoregressions", draw_autoregression, perturb_autoregression, cost_of_autoregression),
)
