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
    for known, table in enumerate(model.tables):
        pseudo = None if claim.prior is None else claim.prior.pseudo(table.family, claim.point)
        found = KIND.residual(table, _part(windows, m, known, table.family.variables), pseudo)
        if not found <= residual:
            residual, worst = found, table.title
        totals = table._rows.sum(axis=1)
        normalisation = max(normalisation, float(np.abs(totals[~np.isnan(totals)] - 1).max(initial=0.0)))
    columns = {name: windows[:, axis] for axis, name in enumerate(model.variables)}
    terms = (m * model.log_prob_of(columns, len(m))).tolist()
    data_gap, data_worst = (None, "") if claim.source is None else recount_gap(claim.source, claim.statistics)
    return verdict(
        Measured(
            claim=CLAIMS[claim.point],
            residual=residual,
            worst=worst,
            log_likelihood=math.fsum(terms),
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


def _part(windows: NDArray[np.int64], m: NDArray[Any], known: int, variables: tuple[Variable, ...]) -> Counts:
    """Return the counts of windows with so many predecessors: zeros, and then no zero any more."""
    width = windows.shape[1] - 1
    before = windows[:, :width]
    here = (before[:, : width - known] == 0).all(axis=1) & (before[:, width - known :] > 0).all(axis=1)
    cells = windows[here][:, width - known :].copy()
    cells[:, :-1] -= 1
    return Counts.sparse(variables, cells, m[here])
