"""Proof of a Markov chain's fit: the score residual of every table, and every window scored as users score it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.directed import CLAIMS
from suffice.certify.judgement import judged, unfit
from suffice.certify.violation import Violation
from suffice.data.variable import Variable
from suffice.data.windows import START, window_names
from suffice.models.cpds.tabular_kind import KIND
from suffice.optimise.distance import Distance
from suffice.stats.counts import Counts
from suffice.stats.needs import Count

if TYPE_CHECKING:
    from suffice.models.markov_chain import MarkovChainModel
    from suffice.structures.markov_chain import MarkovChain
    from suffice.types import Array


def certify(claim: Claim[MarkovChain, MarkovChainModel]) -> Certificate:
    """Measure every table's residual."""
    model, order = claim.model, claim.structure.order
    counts: Counts = claim.statistics[Count(window_names([model.variable.name], order))]
    if not model.variable.has_states_of(counts.variables[-1]):
        worst = "the symbols, whose states are not those of the statistics"
        return unfit(claim, CLAIMS[claim.point], worst, normalisation=0.0)
    found, normalisation, distance = Violation(0.0, "no table"), 0.0, Distance()
    windows, m = _windows(counts, model.variable)
    depth = _depths(windows[:-1], len(m))
    for known, table in enumerate(model.tables):
        pseudo = None if claim.prior is None else claim.prior.pseudo(table.family, claim.point)
        part = _part(windows, m, depth == known, known, table.family.variables)
        found = found.or_larger(KIND.residual(table, part, pseudo), table.title)
        distance += KIND.distance(table, part, pseudo, None, claim.point).inside(table.title)
        totals = table._rows.sum(axis=1)
        normalisation = max(normalisation, float(np.abs(totals[~np.isnan(totals)] - 1).max(initial=0.0)))
    terms = m * model.log_prob_of(dict(zip(model.variables, windows, strict=True)), len(m))
    return judged(
        claim,
        Measured(
            claim=CLAIMS[claim.point],
            residual=found.size,
            worst=found.where,
            log_likelihood=float(terms.sum(dtype=np.longdouble)),
            normalisation=normalisation,
            condition="the conjugate formula" if claim.point == "mean" else "the first-order condition",
            **distance.as_measured(),
        ),
    )


def _windows(counts: Counts, variable: Variable) -> tuple[list[Array], Array]:
    """Return the windows that occur as the model codes them, a column a variable, and their counts.

    Predecessors are coded from 1, the time before the start as 0.
    """
    columns, m = counts.columns()
    states = [START, *map(str, variable.labels)]
    for axis, lag in enumerate(counts.variables[:-1]):
        coded = [states.index(str(label)) for label in lag.labels]
        if coded != list(range(len(coded))):
            columns[axis] = np.array(coded, np.int64)[columns[axis]]
    return columns, m


def _depths(lags: list[Array], n: int) -> NDArray[np.int32]:
    """Return how many predecessors each window has, −1 where the time before the start follows a symbol."""
    depth = np.zeros(n, np.int32)
    for lag in lags:
        seen = lag > 0
        depth = np.where(seen, depth + (depth >= 0), np.where(depth > 0, -1, depth))
    return depth


def _run(here: NDArray[np.bool_]) -> slice | NDArray[np.bool_]:
    """Return a choice as a slice where it is one; windows come in order, so that those of one depth are neighbours."""
    n = int(np.count_nonzero(here))
    first = int(np.argmax(here)) if n else 0
    return slice(first, first + n) if here[first : first + n].all() else here


def _part(
    windows: list[Array], m: Array, here: NDArray[np.bool_], known: int, variables: tuple[Variable, ...]
) -> Counts:
    """Return the counts of windows with so many predecessors."""
    lags = windows[len(windows) - 1 - known : -1]
    at = _run(here)
    cells = np.stack([*(lag[at] - 1 for lag in lags), windows[-1][at]]).T
    mine = m[at].view()
    cells.flags.writeable = mine.flags.writeable = False  # so that they are not copied
    return Counts(variables, cells, mine)  # each window once, as the statistics have them
