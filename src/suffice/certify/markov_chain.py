"""Proof of a Markov chain's fit: the score residual of every table, and every window scored as users score it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured, verdict
from suffice.certify.claim import Claim
from suffice.certify.directed import CLAIMS
from suffice.certify.recount import recount_gap
from suffice.data.variable import Variable
from suffice.data.windows import START, window_names
from suffice.models.cpds.tabular_kind import KIND
from suffice.stats.counts import Counts
from suffice.stats.needs import Count


def certify(claim: Claim) -> Certificate:
    """Measure every table's residual."""
    model, order = claim.model, claim.structure.order
    counts: Counts = claim.statistics[Count(window_names([model.variable.name], order))]
    if not model.variable.has_states_of(counts.variables[-1]):
        worst = "the symbols, whose states are not those of the statistics"
        return verdict(Measured(CLAIMS[claim.point], math.inf, worst, math.nan, 0.0), claim.log_likelihood, claim.tol)
    residual, worst, normalisation = 0.0, "no table", 0.0
    windows, m = _windows(counts, model.variable)
    depth = _depths(windows)
    for known, table in enumerate(model.tables):
        pseudo = None if claim.prior is None else claim.prior.pseudo(table.family, claim.point)
        found = KIND.residual(table, _part(windows, m, depth == known, known, table.family.variables), pseudo)
        if not found <= residual:
            residual, worst = found, table.title
        totals = table._rows.sum(axis=1)
        normalisation = max(normalisation, float(np.abs(totals[~np.isnan(totals)] - 1).max(initial=0.0)))
    columns = dict(zip(model.variables, np.ascontiguousarray(windows.T), strict=True))
    terms = m * model.log_prob_of(columns, len(m))
    data_gap, data_worst = (None, "") if claim.source is None else recount_gap(claim.source, claim.statistics)
    return verdict(
        Measured(
            claim=CLAIMS[claim.point],
            residual=residual,
            worst=worst,
            log_likelihood=float(terms.sum(dtype=np.longdouble)),
            normalisation=normalisation,
            condition="the conjugate formula" if claim.point == "mean" else "the first-order condition",
            data_gap=data_gap,
            data_worst=data_worst,
        ),
        claim.log_likelihood,
        claim.tol,
        claim.interrupted,
    )


def _windows(counts: Counts, variable: Variable) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the windows that occur as the model codes them, the time before the start as 0, and their counts."""
    cells, m = counts.nonzero()
    coded = cells.copy()
    states = [START, *map(str, variable.labels)]
    for axis, lag in enumerate(counts.variables[:-1]):
        coded[:, axis] = np.array([states.index(str(label)) for label in lag.labels])[cells[:, axis]]
    return coded, m


def _depths(windows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many predecessors each window has, −1 where the time before the start follows a symbol."""
    depth = np.zeros(len(windows), np.int64)
    for axis in range(windows.shape[1] - 1):
        seen = windows[:, axis] > 0
        depth = np.where(seen & (depth >= 0), depth + 1, np.where(depth > 0, -1, depth))
    return depth


def _part(
    windows: NDArray[np.int64], m: NDArray[Any], here: NDArray[np.bool_], known: int, variables: tuple[Variable, ...]
) -> Counts:
    """Return the counts of windows with so many predecessors."""
    width = windows.shape[1] - 1
    columns = [windows[here, axis] - (axis < width) for axis in range(width - known, width + 1)]
    cells, mine = np.stack(columns, axis=1), m[here]
    cells.flags.writeable = mine.flags.writeable = False  # so that they are not copied
    return Counts(variables, cells, mine)  # each window once, as the statistics have them
