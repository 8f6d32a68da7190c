"""Free coordinates of conditional tables: the log-odds of their rows. And what every block of parameters provides."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import TabularCPD, describe_configuration, whole_values
from suffice.stats.needs import Count
from suffice.stats.statistics import Statistics
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.models.cpds import CPD

NOTHING = 1e-6
"""What is expected in less than so many rows is taken for nothing."""


class Parameter(NamedTuple):
    """One number that is reported: where it belongs, what it is, its value, and the scale of its interval.

    ``why`` says why it has no standard error; empty where it has one.
    """

    node: str
    given: str
    name: str
    value: float
    scale: str = "plain"
    why: str = ""


class ParameterBlock(Protocol):
    """Parameters that are estimated together."""

    @property
    def size(self) -> int:
        """The number of free coordinates."""

    @property
    def parameters(self) -> list[Parameter]:
        """The numbers that are reported."""

    @property
    def jacobian(self) -> Floats:
        """Their derivatives by the coordinates; shape (n_parameters, size)."""

    def moved(self, step: Floats) -> Any:
        """Return the distributions after a step in the coordinates."""

    def score(self, statistics: Statistics) -> Floats:
        """Return the score at the block's own parameters after `moved`'s step; shape (size,)."""


@dataclass(eq=False)
class Tables:
    """The rows of one conditional table, or of several that are tied; the first stands for all."""

    names: tuple[str, ...]
    cpds: tuple[TabularCPD, ...]
    needs: tuple[Count, ...]
    pseudo: Floats
    counts: Floats
    given: NDArray[np.bool_]
    theta: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.theta = np.array(whole_values(self.cpds[0]).reshape(self.pseudo.shape))
        self._now = self.theta

    @cached_property
    def _held(self) -> NDArray[np.bool_]:
        """The probabilities that can move: of rows with data that were not given, and not zero."""
        known = ~np.isnan(self.theta).any(axis=1) & ~self.given
        held = (self.counts > NOTHING) & (self.theta > 0) & known[:, None]
        return np.asarray(held & (held.sum(axis=1) > 1)[:, None])

    @cached_property
    def _moving(self) -> NDArray[np.bool_]:
        """The probabilities that have a coordinate: all that can move, but the largest of their row."""
        moving = self._held.copy()
        top = np.where(self._held, self.theta, -1.0).argmax(axis=1)
        moving[np.arange(len(moving)), top] = False
        return moving

    @property
    def size(self) -> int:
        """The number of free coordinates."""
        return int(np.count_nonzero(self._moving))

    def moved(self, step: Floats) -> dict[str, CPD]:
        """Return the tables after a step in log-odds."""
        odds = np.zeros(self.theta.shape)
        odds[self._moving] = step
        changed = odds.any(axis=1)
        now = self.theta.copy()
        raised = now[changed] * np.exp(odds[changed])
        now[changed] = raised / raised.sum(axis=1, keepdims=True)
        self._now = now
        lead = TabularCPD(self.cpds[0].family, now)
        return {name: lead.renamed(cpd.family) for name, cpd in zip(self.names, self.cpds, strict=True)}

    def score(self, statistics: Statistics) -> Floats:
        """Return m̄ − m̄(pa) θ of the coordinates, pseudo-counts included."""
        counts = self.pseudo + counted(statistics, self.needs, self.pseudo.shape)
        gaps = counts - counts.sum(axis=1, keepdims=True) * np.where(np.isnan(self._now), 0.0, self._now)
        found: Floats = gaps[self._moving]
        return found

    @cached_property
    def parameters(self) -> list[Parameter]:
        """Every probability."""
        family = self.cpds[0].family
        above = all_configurations([parent.n_states for parent in family.parents])
        totals, found = self.counts.sum(axis=1), []
        for row, configuration in enumerate(above):
            said = describe_configuration(family.parents, configuration) if family.parents else ""
            for state, label in enumerate(family.child.labels):
                why = ""
                if not self._held[row, state]:
                    edge = "zero or one, on the boundary" if totals[row] > NOTHING else "no data"
                    why = "given" if self.given[row] else edge
                value = float(self.theta[row, state])
                found.append(Parameter(self.names[0], said, str(label), value, "odds", why))
        return found

    @cached_property
    def jacobian(self) -> Floats:
        """The derivatives θ_i (1[i = j] − θ_j) of every row."""
        r = self.theta.shape[1]
        found = np.zeros((self.theta.size, self.size))
        for column, (row, state) in enumerate(np.argwhere(self._moving)):
            theta = self.theta[row]
            found[row * r : (row + 1) * r, column] = -theta * theta[state]
            found[row * r + state, column] += theta[state]
        return found


def counted(statistics: Statistics, needs: tuple[Count, ...], shape: tuple[int, ...]) -> Floats:
    """Return the counts of tied nodes together."""
    tables = [np.asarray(statistics[need].table(), np.float64).reshape(shape) for need in needs]
    return np.sum(tables, axis=0)  # type: ignore[no-any-return]
