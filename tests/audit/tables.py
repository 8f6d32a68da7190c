"""Networks of tables, chains and classifiers of tables: maximum likelihood, posterior modes and means."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tests.audit.exact import row_cost, row_deviation
from tests.audit.family import AuditFamily

import suffice as sf
from suffice.certify.claim import Claim
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.tabular import TabularCPD
from suffice.stats.needs import Count

STATES = {"A": "xyz", "B": "uv", "C": "pq", "D": "pq"}
DAGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("A -> B; A -> C; B -> C; A -> D", {}),
    ("A -> B; B -> C; C -> D", {}),
    ("A; B; C -> D", {}),
    ("A; B; C; D", {"tie": [("C", "D")]}),
)


def weights_of(rng: np.random.Generator, n: int) -> Any:
    """Draw frequencies between one and 10¹², a few of them at a time far apart."""
    return 10.0 ** rng.uniform(0, rng.choice([1, 6, 12]), n).round(rng.integers(0, 3))


def draw_table(rng: np.random.Generator, **more: Any) -> Callable[[], Any]:
    """Draw rows over four variables with weights of very different sizes, and a network of tables over them."""
    n = int(rng.integers(8, 40))
    data = {name: rng.choice(list(states), n).tolist() for name, states in STATES.items()}
    text, options = DAGS[rng.integers(len(DAGS))]
    keywords: dict[str, Any] = {"unseen_parents": "uniform", **more}
    if rng.random() < 0.3:
        keywords["fixed"] = {"A": [0.5, 0.25, 0.25]}
    schema = {name: list(states) for name, states in STATES.items()}
    return partial(sf.fit, sf.DAG(text, **options), data, weights=weights_of(rng, n), schema=schema, **keywords)


def move_row(rng: np.random.Generator, row: Any) -> Any:
    """Multiply one probability of a row by a random factor, sometimes by zero, and normalise the row."""
    moved, state = np.array(row), int(rng.integers(len(row)))
    moved[state] *= 0.0 if rng.random() < 0.05 else np.exp(rng.normal() * 10.0 ** rng.uniform(-7, 1))
    return moved / moved.sum() if moved.sum() > 0 else None


def perturb_table(rng: np.random.Generator, claim: Claim) -> tuple[Any, str] | None:
    """Change one probability of one row of one node; of tied nodes, of all of them."""
    names = list(claim.model.variables)
    node = names[rng.integers(len(names))]
    cpd = claim.model.cpd(node)
    row = int(rng.integers(len(cpd.values)))
    moved = move_row(rng, cpd.values[row])
    if moved is None or np.isnan(moved).any():
        return None
    values = np.array(cpd.values)
    values[row] = moved
    group = next(group for group in claim.structure.groups if node in group)
    changed = {n: TabularCPD(claim.model.cpd(n).family, values, cpd.configurations, cpd.default_row) for n in group}
    cpds = {name: changed.get(name, claim.model.cpd(name)) for name in names}
    return sf.BayesianNetwork(claim.model.dag, cpds), f"{node}, row {row}: {cpd.values[row]} to {moved}"


def counts_of(claim: Claim, family: NodeFamily) -> Any:
    """Return the counts of a family as an array of rows."""
    return np.asarray(claim.statistics[Count(family.scope)].table(), np.float64).reshape(-1, family.child.n_states)


def cost_of_tables(claim: Claim, model: Any) -> float:
    """Return the nats, or the standard deviations, that the tables of a network miss; given rows must be as given."""
    nats, sds = 0.0, 0.0
    for group in claim.structure.groups:
        lead = model.cpd(group[0])
        if set(group) & set(claim.fixed):
            nats += 0.0 if np.array_equal(lead.values, claim.model.cpd(group[0]).values) else np.inf
            continue
        counts = sum(counts_of(claim, model.cpd(node).family) for node in group)
        if claim.prior is not None:
            alpha = np.asarray(claim.prior.alpha(lead.family), np.float64)
            counts = counts + np.broadcast_to(alpha, counts.shape) - (claim.point == "map")
        for m, theta in zip(counts, lead.values, strict=True):
            if claim.point == "mean":
                sds = max(sds, row_deviation(m, theta))
            else:
                nats += row_cost(m, theta)
    return max(sds, nats) if claim.point == "mean" else nats


def under_prior(rng: np.random.Generator, point: str) -> Callable[[], Any]:
    """Draw a network of tables with pseudo-counts."""
    priors = [sf.Dirichlet(1.0 + rng.integers(1, 4)), sf.Dirichlet(1.5)]
    if point == "mean":
        priors += [sf.BDeu(float(10 ** rng.uniform(-3, 3))), sf.K2(), sf.Jeffreys()]
    return draw_table(rng, prior=priors[rng.integers(len(priors))], point=point)


TABLES = (
    AuditFamily("tables", draw_table, perturb_table, cost_of_tables),
    AuditFamily("tables, posterior mode", partial(under_prior, point="map"), perturb_table, cost_of_tables),
    AuditFamily("tables, posterior mean", partial(under_prior, point="mean"), perturb_table, cost_of_tables),
)
