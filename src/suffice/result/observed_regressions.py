"""Free coordinates of regressions: their value at the parents' mean, their slopes and the logarithm of the variance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from suffice.models.cpds.kind import CPD
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD, rows_of_moments
from suffice.models.cpds.rows import all_configurations
from suffice.models.cpds.tabular import describe_configuration
from suffice.result.observed_tables import NOTHING, Parameter
from suffice.stats.moments import Moments
from suffice.stats.needs import Moment
from suffice.stats.statistics import Statistics
from suffice.types import Floats


@dataclass(eq=False)
class Regressions:
    """The regressions of one linear-Gaussian node, or of several that are tied; the first stands for all.

    A configuration d of the discrete parents has the coordinates c_d, the value at the parents' mean x̄_d, in standard
    deviations; the slopes, in standard deviations over those of the parents; and log v_d. ``place`` says which free
    coordinate each of them is, so that some may share one.
    """

    names: tuple[str, ...]
    cpds: tuple[LinearGaussianCPD, ...]
    needs: tuple[Moment, ...]
    tied: str
    moments: Moments
    is_given: bool

    def __post_init__(self) -> None:
        cpd: LinearGaussianCPD = self.cpds[0]
        weight, means, scatter = rows_of_moments(self.moments)
        self._q = len(cpd.family.continuous)
        self._centre = np.where(weight[:, None] > 0, means[:, :-1].astype(np.float64), 0.0)
        diagonal = np.diagonal(scatter, axis1=1, axis2=2)[:, :-1] / np.maximum(weight, NOTHING)[:, None]
        self._spread = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        self._seen = (weight > NOTHING) & ~cpd.unknown & (cpd.variance > 0)
        self._weight, self._now = weight, cpd

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The free coordinate of value, slopes and log-variance of every configuration; −1 for none."""
        n, q = len(self._weight), self._q
        place = np.full((n, q + 2), -1, np.int64)
        at = 0
        shared: dict[int, int] = {}
        for row in np.flatnonzero(self._seen & (not self.is_given)).tolist():
            for column in range(q + 2):
                slope, spread = 0 < column <= q, column == q + 1
                common = self.tied in (("slopes", "both") if slope else ("variance", "both") if spread else ())
                if common and column in shared:
                    place[row, column] = shared[column]
                    continue
                place[row, column] = at
                if common:
                    shared[column] = at
                at += 1
        return place

    @property
    def size(self) -> int:
        """The number of free coordinates."""
        return int(self.place.max(initial=-1)) + 1

    @cached_property
    def _units(self) -> Floats:
        """What a unit of each coordinate is: value and slopes in standard deviations, log-variance as it is."""
        sd, spread = np.sqrt(self.cpds[0].variance), self._spread
        if self.tied in ("slopes", "both"):
            sd, spread = np.full_like(sd, np.nanmax(sd)), np.broadcast_to(spread.max(axis=0), spread.shape)
        return np.column_stack([sd, sd[:, None] / spread, np.ones(len(sd))])

    def moved(self, step: Floats) -> dict[str, CPD]:
        """Return the regressions after a step."""
        cpd: LinearGaussianCPD = self.cpds[0]
        steps = np.where(self.place >= 0, np.append(step, 0.0)[self.place] * np.nan_to_num(self._units), 0.0)
        slopes = cpd.coefficients + steps[:, 1:-1]
        intercept = cpd.intercept + steps[:, 0] - (steps[:, 1:-1] * self._centre).sum(axis=1)
        self._now = LinearGaussianCPD(cpd.family, intercept, slopes, cpd.variance * np.exp(steps[:, -1]))
        return {name: self._now.renamed(own.family) for name, own in zip(self.names, self.cpds, strict=True)}

    def score(self, statistics: Statistics) -> Floats:
        """Return Σe/v, Σe(x − x̄)/v and Σe²/2v − m/2, in the units of the coordinates."""
        moments = together(statistics, self.needs, self.cpds)
        weight, means, scatter = rows_of_moments(moments)
        cpd, found = self._now, np.zeros(self.size)
        for row in np.flatnonzero(self.place[:, 0] >= 0).tolist():
            b, v = cpd.coefficients[row], cpd.variance[row]
            x, y = means[row, :-1].astype(np.float64), float(means[row, -1])
            e = weight[row] * (y - float(cpd.intercept[row]) - float(b @ x))
            inner, cross = scatter[row, :-1, :-1], scatter[row, :-1, -1]
            slopes = cross - inner @ b + (x - self._centre[row]) * e
            squares = scatter[row, -1, -1] - 2 * b @ cross + b @ inner @ b + e * e / max(weight[row], 1e-300)
            mine = np.array([e / v, *(slopes / v), (squares / v - weight[row]) / 2])
            np.add.at(found, self.place[row], mine * self._units[row])
        return found

    @cached_property
    def _reported(self) -> list[tuple[int, int]]:
        """The configuration and the column of every number that is reported; shared ones once."""
        kept, shared = [], set[int]()
        for row in range(len(self._weight)):
            for column in range(self._q + 2):
                at = int(self.place[row, column])
                if at < 0 or at not in shared:
                    kept.append((row, column))
                shared.add(at)
        return kept

    @cached_property
    def parameters(self) -> list[Parameter]:
        """Intercepts, slopes and variances."""
        cpd: LinearGaussianCPD = self.cpds[0]
        names = ["(intercept)", *(parent.name for parent in cpd.family.continuous), "(variance)"]
        values = np.column_stack([cpd.intercept, cpd.coefficients, cpd.variance])
        above = all_configurations([parent.n_states for parent in cpd.family.discrete])
        often = np.bincount(self.place[self.place >= 0].reshape(-1), minlength=self.size)
        found = []
        for row, column in self._reported:
            at = int(self.place[row, column])
            said = describe_configuration(cpd.family.discrete, above[row]) if cpd.family.discrete else ""
            said = "all configurations" if at >= 0 and often[at] > 1 else said
            why = "" if at >= 0 else "given" if self.is_given else "no data" if not self._weight[row] > NOTHING else (
                "without spread, on the boundary"
            )  # fmt: skip
            scale = "log" if column == self._q + 1 else "plain"
            found.append(Parameter(self.names[0], said, names[column], float(values[row, column]), scale, why))
        return found

    @cached_property
    def jacobian(self) -> Floats:
        """Their derivatives: a = c − b x̄, and v by its logarithm."""
        found = np.zeros((len(self._reported), self.size))
        for line, (row, column) in enumerate(self._reported):
            if self.place[row, column] < 0:
                continue
            units = self._units[row]
            if column == 0:
                found[line, self.place[row, 0]] = units[0]
                for j in range(self._q):
                    found[line, self.place[row, 1 + j]] -= units[1 + j] * self._centre[row, j]
            else:
                scale = self.cpds[0].variance[row] if column == self._q + 1 else units[column]
                found[line, self.place[row, column]] = scale
        return found


def together(statistics: Statistics, needs: tuple[Moment, ...], cpds: tuple[LinearGaussianCPD, ...]) -> Moments:
    """Add the statistics of tied nodes, in the first one's variables."""
    lead, parts = cpds[0].family, []
    for need, cpd in zip(needs, cpds, strict=True):
        renaming = dict(zip(cpd.family.scope, lead.variables, strict=True))
        parts.append(statistics[need] if cpd is cpds[0] else statistics[need].renamed(renaming))
    return reduce(add, parts)
