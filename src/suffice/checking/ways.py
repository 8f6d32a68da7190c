"""Ways: how an independence is put to the data, by the kinds of its variables.

A way names the statistic that it needs, and finds the outcome of the test from it. So all independences are tested
from one pass over the data, wherever the data is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from suffice.checking.independences import Independence
from suffice.checking.outcome import IndependenceOutcome
from suffice.checking.regressions import partial_correlation, regressed
from suffice.checking.tables import degrees, deviance, outcome_in, strata
from suffice.data.schema import Schema
from suffice.stats.counts import n_cells
from suffice.stats.needs import Count, Moment
from suffice.stats.statistics import Statistics
from suffice.text import shorten

MOST_CELLS = 1 << 22
"""Cells of the tables, and numbers of the moments, that one test may look at."""


class Way(Protocol):
    """How one independence is tested."""

    @property
    def claim(self) -> Independence:
        """What is tested."""

    @property
    def need(self) -> Count | Moment:
        """The statistic that the test is made from."""

    def outcome(self, statistics: Statistics, stream: np.random.Generator, most: int) -> IndependenceOutcome | str:
        """Return what the test found, drawing ``most`` tables at most, or why there is nothing to test."""

    def departure(self, statistics: Statistics) -> tuple[float, int]:
        """Return twice the log-likelihood ratio and its degrees of freedom, alone."""


@dataclass(frozen=True)
class InTable:
    """Discrete variables: G² in a table of counts."""

    claim: Independence
    need: Count

    def outcome(self, statistics: Statistics, stream: np.random.Generator, most: int) -> IndependenceOutcome | str:
        """Return what the test found, or why there is nothing to test."""
        counts = statistics[self.need]
        if counts.cells is not None:
            sizes = {variable.name: variable.n_states for variable in counts.variables}
            size = sizes[self.claim.first] * sizes[self.claim.second] * len(counts.values)
            if size > MOST_CELLS:
                return f"its tables may take {size:,} cells, more than {MOST_CELLS:,}"
        table = strata(counts, self.claim.first, self.claim.second)
        if not table.size:
            return "in no stratum of what is given do both of them vary" if self.claim.given else "one does not vary"
        return outcome_in(table, stream, most)

    def departure(self, statistics: Statistics) -> tuple[float, int]:
        """Return G² and its degrees of freedom."""
        table = strata(statistics[self.need], self.claim.first, self.claim.second)
        return deviance(table), degrees(table)


@dataclass(frozen=True)
class InNormal:
    """Jointly normal variables: a partial correlation."""

    claim: Independence
    need: Moment

    def outcome(self, statistics: Statistics, stream: np.random.Generator, most: int) -> IndependenceOutcome | str:
        """Return what the test found, or why there is nothing to test."""
        found = partial_correlation(statistics[self.need], self.claim.first, self.claim.second, self.claim.given)
        return found or "a variable is constant or a linear function of others, or there are too few rows"

    def departure(self, statistics: Statistics) -> tuple[float, int]:
        """Return −N log(1 − r²) and one."""
        found = partial_correlation(statistics[self.need], self.claim.first, self.claim.second, self.claim.given)
        return (0.0, 0) if found is None else (found.deviance, found.deviance_df)


@dataclass(frozen=True)
class InStrata:
    """A continuous response: what adds to its regression within the strata of the discrete variables that are given."""

    claim: Independence
    need: Moment
    n_strata_axes: int

    def outcome(self, statistics: Statistics, stream: np.random.Generator, most: int) -> IndependenceOutcome | str:
        """Return what the test found, or why there is nothing to test."""
        found = regressed(statistics[self.need], self.n_strata_axes)
        return found or "no stratum of what is given has rows enough in which both vary"

    def departure(self, statistics: Statistics) -> tuple[float, int]:
        """Return the sum over strata of n log(RSS₀/RSS₁), and of the parameters that were added."""
        found = regressed(statistics[self.need], self.n_strata_axes)
        return (0.0, 0) if found is None else (found.deviance, found.deviance_df)


def way_for(claim: Independence, schema: Schema, place: Mapping[str, int], normal: Collection[str] = ()) -> Way | str:
    """Return how an independence is tested, or why it cannot be.

    Parameters
    ----------
    claim : Independence
    schema : Schema
    place : mapping from str to int
        The order of the variables in statistics.
    normal : collection of str
        All variables of a structure that are jointly normal; one statistic then serves all tests.
    """
    is_discrete = {name: schema[name].is_discrete for name in claim.scope}
    if all(is_discrete.values()):
        return _in_table(claim, schema, place)
    if normal:
        return InNormal(claim, Moment(tuple(normal)))
    first, second = claim.first, claim.second
    given = [name for name in claim.given if not is_discrete[name]]
    by = tuple(name for name in claim.given if is_discrete[name])
    if is_discrete[first] and given:
        return (
            f"{shorten(first)} is discrete and {shorten(given[0])} is continuous; a test would need every row of the "
            "data again"
        )
    response, other = (second, first) if is_discrete[first] else (first, second)
    shifts = Moment((response, *given), (*by, other))
    need = shifts if is_discrete[other] else Moment((response, *given, other), by)
    size = _known_size(schema, need.by) * len(need.xs) ** 2
    if size > MOST_CELLS:
        return f"its moments would take {size:,} numbers, more than {MOST_CELLS:,}"
    return InStrata(claim, need, len(by))


def _in_table(claim: Independence, schema: Schema, place: Mapping[str, int]) -> Way | str:
    need = Count(tuple(sorted(claim.scope, key=place.__getitem__)))
    pair = _known_size(schema, (claim.first, claim.second))
    if pair > MOST_CELLS:
        return f"the two have {pair:,} pairs of states, more than {MOST_CELLS:,}"
    return InTable(claim, need)


def _known_size(schema: Schema, names: tuple[str, ...]) -> int:
    """Return the size of a joint state space, as far as it is known before a pass."""
    variables = [schema[name] for name in names]
    return n_cells(variables) if all(variable.n_states for variable in variables) else 1


def n_bytes(need: Count | Moment, schema: Schema) -> int:
    """Return what a statistic takes, as far as it is known before a pass; tables of many cells are held sparse."""
    from suffice.stats.plan import plan

    if isinstance(need, Count):
        return plan([need], schema).n_bytes if _known_size(schema, need.scope) > 1 else 0
    return 8 * math.prod((_known_size(schema, need.by), len(need.xs) + 1, len(need.xs) + 1))
