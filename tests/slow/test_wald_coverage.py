"""Slow statistical test: 95 % Wald intervals of u-terms hold the truth in 95 % of samples."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import suffice as sf
from suffice.stats.counts import Counts

pytestmark = pytest.mark.slow

REPLICATES, ROWS = 2000, 5000
STATES = {"A": ["x", "y", "z"], "B": ["u", "v"], "C": ["p", "q", "r"], "D": ["no", "yes"]}
CYCLE = sf.Cliques("A:B + B:C + C:D + D:A")


@cache
def truth() -> sf.MarkovNetwork:
    """Return a model on a cycle without chords, which has no closed form; no cell is rarer than 1 in 300."""
    draw = np.random.default_rng(20261116)
    shapes = [tuple(len(STATES[name]) for name in clique) for clique in CYCLE.cliques]
    factors = [(c, np.exp(draw.normal(0, 0.4, shape))) for c, shape in zip(CYCLE.cliques, shapes, strict=True)]
    return sf.MarkovNetwork(factors, schema=STATES)


def statistics_of(table: np.ndarray) -> sf.Statistics:
    """Return the statistics of a table of counts without going through rows."""
    schema = truth().schema
    whole = Counts.dense(schema.variables, table)
    needs = [sf.Count(clique) for clique in CYCLE.cliques]
    items = {need: whole.marginal(need.scope) for need in needs}
    return sf.Statistics(schema, {**items, whole.need: whole}, whole.total, ROWS)


@cache
def fits() -> list[sf.Fit]:
    """Return the fits of tables drawn from the true model."""
    p = truth().query(list(STATES)).values
    tables = np.random.default_rng(5).multinomial(ROWS, p.reshape(-1), size=REPLICATES).reshape(-1, *p.shape)
    return [sf.estimate(CYCLE, statistics_of(table)) for table in tables]


def intervals(constraint: str) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each term's interval held the truth, and its z-score; shape (replicates, terms)."""
    terms = truth().u_terms(constraint)
    held, scores, exact = [], [], np.zeros(0)
    for fit in fits():
        found = fit.u_terms(constraint)
        if not exact.size:
            keys = zip(found.terms, found.states, strict=True)
            exact = np.array([terms[term][dict(zip(term, states, strict=True))] for term, states in keys])
        held.append((found.lower <= exact) & (exact <= found.upper))
        scores.append((found.estimate - exact) / found.se)
    return np.array(held), np.array(scores)


@pytest.mark.parametrize("constraint", ["sum", "corner"])
def test_wald_intervals_have_their_level(constraint: str) -> None:
    held, scores = intervals(constraint)
    coverage = held.mean(axis=0)
    print(f"{constraint}: mean {coverage.mean():.4f}, from {coverage.min():.4f} to {coverage.max():.4f}")
    assert np.abs(coverage - 0.95).max() <= 0.02
    assert abs(coverage.mean() - 0.95) <= 0.01
    # errors that are half or twice as large would fail here too
    assert np.abs(scores.std(axis=0) - 1).max() <= 0.08
    assert np.abs(scores.mean(axis=0)).max() <= 0.15


def test_the_truth_is_not_too_easy_and_not_too_hard() -> None:
    p = truth().query(list(STATES)).values
    assert ROWS * p.min() > 10
    assert p.max() > 5 * p.min()
    assert not CYCLE.is_decomposable
