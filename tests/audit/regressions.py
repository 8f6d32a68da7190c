"""Networks with normal nodes and noisy-ORs: maximum likelihood, posterior modes and means."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from tests.audit.exact import decimal, difference, exact, inverse_and_determinant, log_of
from tests.audit.family import AuditFamily
from tests.audit.tables import weights_of

import suffice as sf
from suffice.certify.claim import Claim
from suffice.models.cpds import nodes_of
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.noisy_or import NoisyOrCPD

KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"y": {"tied": "variance"}},
    {"y": {"tied": "both"}},
    {"y": {"tied": "slopes"}},
    {"y": {"divisor": "n-p"}},
)


def numbers(rng: np.random.Generator, n: int, furthest: float = 1e7) -> tuple[Any, float]:
    """Draw a column with a mean near zero or far from it, and return it with its standard deviation."""
    spread = 10.0 ** rng.uniform(-3, 3)
    return spread * (rng.choice([0.0, 1.0, 1e4, furthest]) * rng.normal() + rng.normal(size=n)), spread


def draw_regression(rng: np.random.Generator, **more: Any) -> Callable[[], Any]:
    """Draw rows of a class and three columns, the last a regression on the others."""
    n = int(rng.integers(20, 60))
    a = rng.permutation(np.array(list("uv" * n)[:n])) if rng.random() < 0.5 else np.array(["u"] * (n - 5) + ["v"] * 5)
    furthest = 1e4 if "prior" in more else 1e7  # a prior around zero and data far from it leave few digits
    (x, spread), (z, _) = numbers(rng, n, furthest), numbers(rng, n, furthest)
    level, noise = numbers(rng, n, furthest)
    y = level + 10.0 ** rng.uniform(-2, 2) * noise * ((x - x.mean()) / spread * rng.normal() + (a == "u"))
    text = "a -> x; a -> y; x -> y; z"
    structure = sf.DAG(text, kinds=KINDS[rng.integers(len(KINDS))] if "prior" not in more else {})
    weights = weights_of(rng, n) if rng.random() < 0.7 else np.full(n, 10.0 ** rng.integers(0, 10))
    return partial(sf.fit, structure, {"a": a.tolist(), "x": x, "y": y, "z": z}, weights=weights, **more)


def draw_with_prior(rng: np.random.Generator, point: str) -> Callable[[], Any]:
    """Draw a regression under a normal inverse gamma prior."""
    prior = [
        sf.Dirichlet(2.0),
        sf.NormalInverseGamma(
            float(rng.uniform(1, 5)), float(10 ** rng.uniform(-3, 3)), precision=float(10 ** rng.uniform(-6, 1))
        ),
    ]
    return draw_regression(rng, prior=prior, point=point)


def shifted(rng: np.random.Generator, value: float, scale: float) -> float:
    """Move a number by something between far less than its scale and a few times that, but by more than rounding."""
    size = max(scale * 10.0 ** rng.uniform(-9, 1), 32 * np.finfo(np.float64).eps * abs(value))
    return float(value + rng.choice([-1, 1]) * size)


def perturb_regression(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change an intercept, a slope or a variance of one configuration of a normal node; tied ones all together."""
    node = str(rng.choice([name for name in claim.model.variables if claim.model.cpd(name).kind == "linear_gaussian"]))
    cpd = claim.model.cpd(node)
    tied = getattr(nodes_of(claim.structure, claim.statistics.schema)[node][0], "tied", "none")
    a, b, v = np.array(cpd.intercept), np.array(cpd.coefficients), np.array(cpd.variance)
    row, which = int(rng.integers(len(a))), int(rng.integers(3))
    sd = math.sqrt(v[row])
    if which == 0:
        a[row] = shifted(rng, a[row], sd)
    elif which == 1 and b.size:
        place = int(rng.integers(b.shape[1]))
        rows: Any = slice(None) if tied in ("slopes", "both") else row
        moments = claim.statistics[nodes_of(claim.structure, claim.statistics.schema)[node][0].need(cpd.family)]
        spread = math.sqrt(float(np.asarray(moments.covariance)[..., place, place].max()))
        b[rows, place] = shifted(rng, float(b[row, place]), sd / spread)
        if rng.random() < 0.5:  # around the mean of the parents, where the level is not changed
            mean = moments.mean.reshape(len(a), -1)
            a = a + ((cpd.coefficients - b) * mean[:, :-1]).sum(axis=1)
    else:
        rows = slice(None) if tied in ("variance", "both") else row
        v[rows] = v[row] * math.exp(shifted(rng, 0.0, 1.0))
    cpds = {name: claim.model.cpd(name) for name in claim.model.variables}
    cpds[node] = LinearGaussianCPD(cpd.family, a, b, v)
    return sf.BayesianNetwork(claim.model.dag, cpds), f"{node}: {cpd.to_dict()} to {cpds[node].to_dict()}"


def squares_of(cpd: LinearGaussianCPD, moments: Any) -> list[tuple[int, Fraction, Fraction]]:
    """Return weight and Σ w e² of every configuration with rows, in fractions."""
    p = len(moments.variables)
    weight = moments.weight.reshape(-1)
    found = []
    for row in np.flatnonzero(weight > 0).tolist():
        n = Fraction(float(weight[row]))
        mean = exact(moments.mean.reshape(-1, p)[row]) + exact(moments.rest.reshape(-1, p)[row])
        scatter = exact(moments.scatter.reshape(-1, p, p)[row])
        along = np.append(-exact(cpd.coefficients[row]), Fraction(1))
        off = (along * mean).sum() - Fraction(float(cpd.intercept[row]))
        found.append((row, n, along.dot(scatter.dot(along)) + n * off * off))
    return found


def objective_of(claim: Claim, node: str) -> Callable[[LinearGaussianCPD], Decimal]:
    """Return the log-likelihood, or log-posterior density, of a normal node."""
    kind, family = nodes_of(claim.structure, claim.statistics.schema)[node]
    moments = claim.statistics[kind.need(family)]
    pseudo = None
    if claim.prior is not None:
        pseudo = next(p for p in claim.prior.priors if "linear_gaussian" in p.kinds).regression(family)

    def objective(cpd: LinearGaussianCPD) -> Decimal:
        rows, total = squares_of(cpd, moments), Decimal(0)
        spent = Fraction(1 + len(family.continuous)) if getattr(kind, "divisor", "n") == "n-p" else Fraction(0)
        for row, n, seen in rows:
            v = Fraction(float(cpd.variance[row]))
            power, squares = (n - spent) / 2, seen
            if pseudo is not None:
                b, k = exact(cpd.coefficients[row]), len(family.continuous) + (pseudo.weight > 0)
                level = Fraction(float(cpd.intercept[row])) + (b * exact(pseudo.centre)).sum()
                level -= Fraction(float(pseudo.level))
                apart = b - exact(pseudo.slopes)
                squares += Fraction(float(pseudo.weight)) * level * level + apart.dot(exact(pseudo.scatter).dot(apart))
                squares += 2 * Fraction(float(pseudo.scale))
                power += Fraction(float(pseudo.shape)) + 1 + Fraction(k, 2)
            total -= decimal(power) * log_of(v) + decimal(squares / v) / 2
        return total

    return objective


def deviation_of(claim: Claim, node: str, cpd: LinearGaussianCPD) -> float:
    """Return the largest distance of a parameter from its posterior mean in posterior standard deviations."""
    kind, family = nodes_of(claim.structure, claim.statistics.schema)[node]
    moments = claim.statistics[kind.need(family)]
    pseudo = next(p for p in claim.prior.priors if "linear_gaussian" in p.kinds).regression(family)
    p, worst = len(moments.variables), 0.0
    for row in np.flatnonzero(moments.weight.reshape(-1) > 0).tolist():
        n = Fraction(float(moments.weight.reshape(-1)[row]))
        mean = exact(moments.mean.reshape(-1, p)[row]) + exact(moments.rest.reshape(-1, p)[row])
        scatter = exact(moments.scatter.reshape(-1, p, p)[row])
        ones = np.append(Fraction(1), mean)
        products = n * np.outer(ones, ones)
        products[1:, 1:] += scatter
        level = np.concatenate([[Fraction(1)], exact(pseudo.centre), [Fraction(float(pseudo.level))]])
        products = products + Fraction(float(pseudo.weight)) * np.outer(level, level)
        along = np.concatenate([exact(np.eye(p - 1)), exact(pseudo.slopes)[None, :]]).reshape(p, p - 1)
        products[1:, 1:] += along.dot(exact(pseudo.scatter)).dot(along.T) if p > 1 else Fraction(0)
        inverse, _ = inverse_and_determinant(products[:-1, :-1])
        beta = inverse.dot(products[:-1, -1])
        left = products[-1, -1] - products[:-1, -1].dot(beta)
        shape = Fraction(float(pseudo.shape)) + (n - (pseudo.weight == 0)) / 2
        variance = (Fraction(float(pseudo.scale)) + left / 2) / (shape - 1)
        found = np.append(Fraction(float(cpd.intercept[row])), exact(cpd.coefficients[row]))
        for place in range(p):
            off = found[place] - beta[place]
            worst = max(worst, math.sqrt(float(off * off / (variance * inverse[place, place]))))
        if shape > 2:
            off = Fraction(float(cpd.variance[row])) / variance - 1
            worst = max(worst, math.sqrt(float(off * off * (shape - 2))))
    return worst


def cost_of_regressions(claim: Claim, model: Any) -> float:
    """Return what the normal nodes of a network miss; their objectives are added up in sixty digits."""
    nodes = [name for name in model.variables if model.cpd(name).kind == "linear_gaussian"]
    if claim.point == "mean":
        return max(deviation_of(claim, node, model.cpd(node)) for node in nodes)
    return sum(difference(objective_of(claim, node), claim.model.cpd(node), model.cpd(node)) for node in nodes)


# Noisy-OR -----------------------------------------------------------------------------------------------------


def draw_noisy_or(rng: np.random.Generator) -> Callable[[], Any]:
    """Draw rows of two causes and an effect that every combination of them has and lacks."""
    cells = [(a, b, e) for a in "ny" for b in "nms" for e in "ny"]
    data = {name: [cell[place] for cell in cells] for place, name in enumerate("abe")}
    strengths = {"n": 0.0, "y": rng.uniform(0.1, 0.9), "m": rng.uniform(0.1, 0.5), "s": rng.uniform(0.5, 0.9)}
    size = 10.0 ** rng.integers(1, 11)
    leak, weights = rng.uniform(0.05, 0.3), []
    for a, b, e in cells:
        absent = (1 - leak) * (1 - strengths[a]) * (1 - strengths[b])
        m = size * rng.choice([1.0, 1e-3]) * (absent if e == "n" else 1 - absent) * rng.uniform(0.8, 1.2)
        weights.append(max(1.0, round(m)))
    schema = {"a": ["n", "y"], "b": ["n", "m", "s"], "e": ["n", "y"]}
    structure = sf.DAG("a -> e; b -> e", kinds={"e": "noisy_or"})
    return partial(sf.fit, structure, data, weights=weights, schema=schema)


def perturb_noisy_or(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change the leak or one strength."""
    cpd = claim.model.cpd("e")
    values = np.append(cpd.leak, cpd.strengths)
    place = int(rng.integers(len(values)))
    with np.errstate(divide="ignore"):
        moved = -math.expm1(math.log1p(-values[place]) * math.exp(shifted(rng, 0.0, 1.0))) if values[place] < 1 else 0.9
    values[place] = min(max(moved if values[place] > 0 else 10.0 ** rng.uniform(-9, -1), 0.0), 1.0)
    other = NoisyOrCPD(cpd.family, float(values[0]), values[1:])
    cpds = {name: claim.model.cpd(name) for name in claim.model.variables} | {"e": other}
    return sf.BayesianNetwork(claim.model.dag, cpds), f"{cpd.to_dict()} to {other.to_dict()}"


def cost_of_noisy_or(claim: Claim, model: Any) -> float:
    """Return the fall of Σ m log p, with probabilities in sixty digits."""
    counts = claim.statistics[sf.Count(("a", "b", "e"))].table()

    def objective(cpd: NoisyOrCPD) -> Decimal:
        total, fails = Decimal(0), [1 - Decimal(float(s)) for s in cpd.strengths]
        for (a, b, e), m in np.ndenumerate(np.asarray(counts, np.float64)):
            absent = 1 - Decimal(cpd.leak)
            absent *= (fails[0] if a else 1) * (fails[b] if b else 1)
            p = 1 - absent if e else absent
            total += Decimal(float(m)) * p.ln() if m and p > 0 else Decimal("-Infinity") if m else Decimal(0)
        return total

    return difference(objective, claim.model.cpd("e"), model.cpd("e"))


REGRESSIONS = (
    AuditFamily("regressions", draw_regression, perturb_regression, cost_of_regressions),
    AuditFamily(
        "regressions, posterior mode", partial(draw_with_prior, point="map"), perturb_regression, cost_of_regressions
    ),
    AuditFamily(
        "regressions, posterior mean", partial(draw_with_prior, point="mean"), perturb_regression, cost_of_regressions
    ),
    AuditFamily("noisy-OR", draw_noisy_or, perturb_noisy_or, cost_of_noisy_or),
)
