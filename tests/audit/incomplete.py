"""Fits to incomplete rows: the observed likelihood of discrete, mixed and normal models, and of hidden Markov models.

What a change costs is the Newton decrement with complete-data curvature, as in the certificate, but of statistics that
are expected by writing out every completion of every row: what a step of EM would win back.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from tests.audit.exact import exact, inverse_and_determinant, row_cost
from tests.audit.family import AuditFamily
from tests.audit.normals import perturb_normal, rows_of
from tests.audit.regressions import shifted
from tests.audit.tables import move_row, perturb_table

import suffice as sf
from suffice.certify.claim import Claim
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD


def rows_in(claim: Claim) -> tuple[dict[str, list[Any]], list[float]]:
    """Read the rows of a claim again, None where a value is missing, and their weights."""
    data: dict[str, list[Any]] = {name: [] for name in claim.structure.columns}
    weights: list[float] = []
    for block in claim.source.each(lambda block: block):  # type: ignore[union-attr]
        weights += [1.0] * block.n_rows if block.weights is None else block.weights.tolist()
        for name, column in data.items():
            labels = block.schema[name].labels if block.schema[name].is_discrete else None
            for value in block.columns[name].tolist():
                is_missing = value < 0 if labels else math.isnan(value)
                column.append(None if is_missing else labels[value] if labels else value)
    return data, weights


def sequences_in(claim: Claim) -> tuple[list[list[float]], list[float]]:
    """Read the sequences of a claim again, and their weights."""
    sequences: list[list[float]] = []
    weights: list[float] = []
    for columns in claim.source.each(lambda block: block.columns):  # type: ignore[union-attr]
        sequences += [columns["x"][low:high].tolist() for low, high in itertools.pairwise(columns.offsets.tolist())]
        weights += columns.weights.tolist()
    return sequences, weights


def with_holes(rng: np.random.Generator, column: Any, share: float) -> list[Any]:
    """Return a column with some values missing."""
    return [None if gone else value for value, gone in zip(column, rng.random(len(column)) < share, strict=True)]


# Discrete networks --------------------------------------------------------------------------------------------


def draw_discrete(rng: np.random.Generator, prior: bool) -> Callable[[], Any]:
    """Draw all combinations of three variables with weights far apart, and some of them again with values missing."""
    cells = list(itertools.product("xyz", "uv", "pq"))
    cells += [
        tuple(None if rng.random() < 0.4 else value for value in cells[rng.integers(len(cells))]) for _ in range(6)
    ]
    weights = 10.0 ** rng.uniform(0, rng.choice([2, 6, 9]), len(cells))
    weights[12:] = np.minimum(weights[12:], 0.2 * weights[:12].min() * 10.0 ** rng.uniform(0, 1, 6))
    data = {name: [cell[place] for cell in cells] for place, name in enumerate("ABC")}
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["fixed"] = {"A": [0.5, 0.25, 0.25]}
    if prior:
        options |= {"prior": sf.Dirichlet(2.0), "point": str(rng.choice(["mean", "map"]))}
    structure = sf.DAG(str(rng.choice(["A -> B; A -> C; B -> C", "A -> B; B -> C"])))
    schema = {"A": list("xyz"), "B": list("uv"), "C": list("pq")}
    return partial(
        sf.fit, structure, data, weights=weights, schema=schema, missing="em", seed=0, max_iter=5000, **options
    )


def cost_of_discrete(claim: Claim, model: Any) -> float:
    """Return Σ m̄ log(m̄ / (n̄ θ)), m̄ being counts that are expected by writing out all completions, in fractions."""
    data, weights = rows_in(claim)
    names, schema = list(data), claim.statistics.schema
    families = {name: model.cpd(name).family for name in names}
    tables = {name: exact(model.cpd(name).values) for name in names}
    expected = {name: np.full(table.shape, Fraction(0), object) for name, table in tables.items()}
    spans = [range(schema[name].n_states) for name in names]
    for row, weight in zip(zip(*(data[name] for name in names), strict=True), weights, strict=True):
        sets = [[schema[n].code(v)] if v is not None else span for n, v, span in zip(names, row, spans, strict=True)]
        joint = []
        for codes in itertools.product(*sets):
            at, cells, p = dict(zip(names, codes, strict=True)), [], Fraction(1)
            for name in names:
                above = 0
                for parent in families[name].parents:
                    above = above * parent.n_states + at[parent.name]
                cells.append((name, above, at[name]))
                p *= tables[name][above, at[name]]
            joint.append((cells, p))
        whole = sum(p for _, p in joint)
        if not whole:
            return math.inf
        for cells, p in joint:
            for name, above, code in cells:
                expected[name][above, code] += Fraction(float(weight)) * p / whole
    total = 0.0
    for name in names:
        if name in claim.fixed:
            total += 0.0 if np.array_equal(model.cpd(name).values, claim.model.cpd(name).values) else math.inf
            continue
        counts = expected[name]
        if claim.prior is not None:
            alpha = np.asarray(claim.prior.alpha(families[name])) - (claim.point == "map")
            counts = counts + exact(np.broadcast_to(alpha, counts.shape))
        total += sum(row_cost(m, theta) for m, theta in zip(counts, model.cpd(name).values, strict=True))
    return total


# Networks with a normal node ----------------------------------------------------------------------------------

TIES: tuple[dict[str, Any], ...] = ({}, {"x": {"tied": "variance"}})


def draw_mixed(rng: np.random.Generator) -> Callable[[], Any]:
    """Draw a class, which some rows lack, and a number that depends on it and is sometimes missing."""
    n = int(rng.integers(30, 50))
    a = np.array(["u"] * (n - 10) + ["v"] * 10)
    x = (a == "v") * rng.uniform(2, 5) + rng.normal(size=n)
    data = {"a": with_holes(rng, a.tolist(), 0.1), "x": with_holes(rng, x.tolist(), 0.1)}
    for name, column in {"a": a.tolist(), "x": x.tolist()}.items():
        data[name][:3], data[name][-3:] = column[:3], column[-3:]
    weights = np.round(10.0 ** rng.uniform(0, rng.choice([1, 4]), n))
    structure = sf.DAG("a -> x", kinds=TIES[rng.integers(len(TIES))])
    return partial(sf.fit, structure, data, weights=weights, missing="em", seed=0, max_iter=5000)


def perturb_mixed(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change the table or the regression."""
    if rng.random() < 0.7:
        return perturb_level_or_variance(rng, claim)
    cpd = claim.model.cpd("a")
    moved = move_row(rng, cpd.values[0])
    if moved is None or not (moved > 0).all():
        return None
    cpds = {"a": TabularCPD(cpd.family, moved[None]), "x": claim.model.cpd("x")}
    return sf.BayesianNetwork(claim.model.dag, cpds), f"a: {cpd.values[0]} to {moved}"


def perturb_level_or_variance(rng: np.random.Generator, claim: Claim) -> tuple[Any, str]:
    """Change a mean or a variance of x; of tied variances, both."""
    cpd = claim.model.cpd("x")
    a, v, row = np.array(cpd.intercept), np.array(cpd.variance), int(rng.integers(2))
    if rng.random() < 0.5:
        a[row] = shifted(rng, a[row], math.sqrt(v[row]))
    else:
        tied = dict(claim.structure.settings_of.get("x", {})).get("tied") == "variance"
        v[slice(None) if tied and rng.random() < 0.8 else row] *= math.exp(shifted(rng, 0.0, 1.0))
    other = LinearGaussianCPD(cpd.family, a, cpd.coefficients, v)
    cpds = {"a": claim.model.cpd("a"), "x": other}
    return sf.BayesianNetwork(claim.model.dag, cpds), f"x: {cpd.to_dict()} to {other.to_dict()}"


def cost_of_mixed(claim: Claim, model: Any) -> float:
    """Return the decrement of the table, the means and the variances at expected statistics, in long floats."""
    data, weights = rows_in(claim)
    wide = np.longdouble
    p = model.cpd("a").values[0].astype(wide)
    mean, v = model.cpd("x").intercept.astype(wide), model.cpd("x").variance.astype(wide)
    labels = [str(label) for label in claim.statistics.schema["a"].labels]
    m, first, second = np.zeros(2, wide), np.zeros(2, wide), np.zeros(2, wide)
    for a, x, weight in zip(data["a"], data["x"], weights, strict=True):
        density = p.copy() if a is None else np.array([label == a for label in labels], wide)
        if x is not None and a is None:
            logs = np.log(p) - (wide(x) - mean) ** 2 / v / 2 - np.log(v) / 2
            density = np.exp(logs - logs.max())  # both may be less than any float
        share = wide(weight) * density / density.sum()
        m += share
        first += share * (0 if x is None else wide(x) - mean)
        second += share * (v if x is None else (wide(x) - mean) ** 2)
    tied = dict(claim.structure.settings_of.get("x", {})).get("tied") == "variance"
    if tied and v[0] != v[1]:
        return math.inf
    total = row_cost(m.astype(float), p.astype(float))
    total += float((first**2 / m / v / 2).sum())
    for n, q, variance in [(m.sum(), second.sum(), v[0])] if tied else zip(m, second, v, strict=True):
        off = q / n / variance - 1
        total += float(n / 2 * (off - np.log1p(off)))
    return total


# Normal distributions -----------------------------------------------------------------------------------------


def draw_normal_with_holes(rng: np.random.Generator) -> Callable[[], Any]:
    """Draw correlated columns with a tenth of the values missing."""
    n = int(rng.integers(40, 60))
    x = rows_of(rng, n)
    x = (x - x.mean(axis=0)) / x.std(axis=0) + rng.choice([0.0, 1e3])
    holes = rng.random(x.shape) < 0.08
    holes[:10] = False
    data = {name: [None if gone else float(value) for value, gone in zip(x[:, at], holes[:, at], strict=True)]
            for at, name in enumerate("abcd")}  # fmt: skip
    weights = np.round(10.0 ** rng.uniform(0, rng.choice([1, 3]), n))
    return partial(
        sf.fit, sf.MultivariateNormal(tuple("abcd")), data, weights=weights, missing="em", seed=0, max_iter=5000
    )


def cost_of_normal_with_holes(claim: Claim, model: Any) -> float:
    """Return (N/2) δᵀΣ⁻¹δ + (N/4) tr((Σ⁻¹ G)²) at expected moments, in fractions."""
    data, weights = rows_in(claim)
    held = exact(model._matrix)
    covariance = held if model._given == "covariance" else inverse_and_determinant(held)[0]
    mean, total = exact(model.mean), Fraction(0)
    first, second = np.full(4, Fraction(0), object), np.full((4, 4), Fraction(0), object)
    solved: dict[tuple[int, ...], Any] = {}
    for row, weight in zip(zip(*(data[name] for name in "abcd"), strict=True), weights, strict=True):
        have = tuple(at for at, value in enumerate(row) if value is not None)
        lack = [at for at in range(4) if at not in have]
        w, off, inside = Fraction(float(weight)), np.full(4, Fraction(0), object), np.full((4, 4), Fraction(0), object)
        if have not in solved:
            solved[have] = inverse_and_determinant(covariance[np.ix_(have, have)])[0]
        for at in have:
            off[at] = Fraction(row[at]) - mean[at]
        if lack:
            slopes = covariance[np.ix_(lack, have)].dot(solved[have])
            off[lack] = slopes.dot(off[list(have)])
            inside[np.ix_(lack, lack)] = covariance[np.ix_(lack, lack)] - slopes.dot(covariance[np.ix_(have, lack)])
        total += w
        first, second = first + w * off, second + w * (np.outer(off, off) + inside)
    inverse = inverse_and_determinant(covariance)[0]
    shift, gap = first / total, inverse.dot(second / total - covariance)
    nats = total / 2 * shift.dot(inverse).dot(shift) + total / 4 * sum(gap.dot(gap)[i, i] for i in range(4))
    return float(nats)


# Hidden Markov models -----------------------------------------------------------------------------------------


def draw_hidden(rng: np.random.Generator) -> Callable[[], Any]:
    """Draw short sequences of two hidden states that show numbers far apart."""
    sequences = []
    for _ in range(30):
        states = (np.cumsum(rng.random(6) < 0.3) + rng.integers(2)) % 2
        sequences.append(4.0 * states + rng.normal(size=6))
    weights = np.round(10.0 ** rng.uniform(0, 1, 30))
    structure = sf.MarkovChain(latent={"z": 2}, variable="x")
    return partial(sf.fit, structure, sequences, weights=weights, seed=0, restarts=1, max_iter=5000)


def perturb_hidden(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change a probability of the first state or of a step, or a mean or variance of what a state shows."""
    model, which = claim.model, int(rng.integers(4))
    if which < 2:
        name = ("start", "step")[which]
        cpd = getattr(model, name)
        values, row = np.array(cpd.values), int(rng.integers(len(cpd.values)))
        moved = move_row(rng, values[row])
        if moved is None or not (moved > 0).all():
            return None
        values[row] = moved
        return dataclasses.replace(model, **{name: TabularCPD(cpd.family, values)}), f"{name}: {cpd.values} to {values}"
    cpd = model.shows[0]
    a, v, row = np.array(cpd.intercept), np.array(cpd.variance), int(rng.integers(2))
    if which == 2:
        a[row] = shifted(rng, a[row], math.sqrt(v[row]))
    else:
        v[row] *= math.exp(shifted(rng, 0.0, 1.0))
    other = LinearGaussianCPD(cpd.family, a, cpd.coefficients, v)
    return dataclasses.replace(model, shows=(other,)), f"{cpd.to_dict()} to {other.to_dict()}"


def cost_of_hidden(claim: Claim, model: Any) -> float:
    """Write out all paths of states of every sequence, in long floats."""
    sequences, weights = sequences_in(claim)
    wide = np.longdouble
    start, step = model.start.values[0].astype(wide), model.step.values.astype(wide)
    mean, v = model.shows[0].intercept.astype(wide), model.shows[0].variance.astype(wide)
    first, pairs = np.zeros(2, wide), np.zeros((2, 2), wide)
    m, off, squares = np.zeros(2, wide), np.zeros(2, wide), np.zeros(2, wide)
    paths = np.array(list(itertools.product((0, 1), repeat=6)))
    for sequence, weight in zip(sequences, weights, strict=True):
        x = np.array(sequence, wide)
        with np.errstate(divide="ignore"):
            log_p = np.log(start)[paths[:, 0]] + np.log(step)[paths[:, :-1], paths[:, 1:]].sum(axis=1)
            log_p = log_p - ((x - mean[paths]) ** 2 / v[paths] / 2 + np.log(v[paths]) / 2).sum(axis=1)
        share = np.exp(log_p - log_p.max())
        share *= wide(weight) / share.sum()
        for state in (0, 1):
            first[state] += share[paths[:, 0] == state].sum()
            held = (paths == state) * share[:, None]
            m[state] += held.sum()
            off[state] += (held * (x - mean[state])).sum()
            squares[state] += (held * (x - mean[state]) ** 2).sum()
            for other in (0, 1):
                both = (paths[:, :-1] == state) & (paths[:, 1:] == other)
                pairs[state, other] += (both.sum(axis=1) * share).sum()
    total = row_cost(first.astype(float), start.astype(float))
    total += sum(row_cost(row.astype(float), p.astype(float)) for row, p in zip(pairs, step, strict=True))
    ratio = squares / m / v - 1
    return total + float((off**2 / m / v / 2 + m / 2 * (ratio - np.log1p(ratio))).sum())


INCOMPLETE = (
    AuditFamily("EM, tables", partial(draw_discrete, prior=False), perturb_table, cost_of_discrete),
    AuditFamily("EM, tables with a prior", partial(draw_discrete, prior=True), perturb_table, cost_of_discrete),
    AuditFamily("EM, mixed network", draw_mixed, perturb_mixed, cost_of_mixed),
    AuditFamily("EM, normal", draw_normal_with_holes, perturb_normal, cost_of_normal_with_holes),
    AuditFamily("hidden Markov models", draw_hidden, perturb_hidden, cost_of_hidden),
)
