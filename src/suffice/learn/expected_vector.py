"""Statistics as one vector of numbers: what EM adds, compares and extrapolates.

A table of counts enters with all its cells. Moments enter, for each configuration, as the weight, the sums and the sums
of products about a fixed centre, Σw, Σw(x − c), Σw(x − c)(x − c)ᵀ, which add up over rows as counts do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import StatisticsError
from suffice.settings import more_memory, settings
from suffice.stats.counts import Counts, n_cells
from suffice.stats.moments import Moments
from suffice.stats.needs import Count, Moment, Need
from suffice.stats.statistics import Statistics
from suffice.text import in_bytes, plural
from suffice.types import Floats

COPIES = 24
"""Vectors that EM holds at once: statistics, their images, and the steps that mixing remembers."""


class ExpectedVector:
    """The layout of some needs in one vector.

    Parameters
    ----------
    needs : sequence of Count or Moment
        What the M-step asks for, each once.
    schema : Schema
    centres, spreads : mapping from str to float
        Of every continuous variable: what moments are taken about, and the unit in which they are measured.

    Examples
    --------
    >>> from suffice.data.variable import Variable
    >>> schema = Schema((Variable("A", ("u", "v")), Variable("x")))
    >>> layout = ExpectedVector([Count(("A",)), Moment(("x",), by=("A",))], schema, {"x": 10.0}, {"x": 2.0})
    >>> layout.size, layout.units.tolist()
    (8, [1.0, 1.0, 1.0, 2.0, 4.0, 1.0, 2.0, 4.0])
    >>> vector = np.array([2.0, 1.0, 2.0, 2.0, 10.0, 1.0, -1.0, 1.0])  # x is 8 and 14 under u, and 9 under v
    >>> layout.statistics(vector, 3.0)[Moment(("x",), by=("A",))].mean.tolist()
    [[11.0], [9.0]]
    """

    def __init__(
        self,
        needs: Sequence[Need],
        schema: Schema,
        centres: Mapping[str, float] | None = None,
        spreads: Mapping[str, float] | None = None,
    ) -> None:
        self.needs, self.schema = tuple(dict.fromkeys(needs)), schema
        self.centres, self.spreads = dict(centres or {}), dict(spreads or {})
        self._slices: dict[Need, slice] = {}
        end = 0
        for need in self.needs:
            start, end = end, end + self._length(need)
            self._slices[need] = slice(start, end)
        self.size = end
        if 8 * COPIES * end > settings().memory:
            raise StatisticsError(
                f"EM would hold {plural(end, 'number')} of expected statistics some {COPIES} times, "
                f"{in_bytes(8 * COPIES * end)}, more than the {in_bytes(settings().memory)} that are allowed. Use "
                "fewer parents or states, or allow more: ",
                more_memory(8 * COPIES * end),
                ".",
            )

    def _length(self, need: Need) -> int:
        if isinstance(need, Count):
            return n_cells([self.schema[name] for name in need.scope])
        assert isinstance(need, Moment)
        p = len(need.xs)
        return n_cells([self.schema[name] for name in need.by]) * (1 + p + p * p)

    def place(self, need: Need) -> slice:
        """Return where the numbers of a need stand."""
        return self._slices[need]

    @cached_property
    def units(self) -> Floats:
        """What differences are measured in: one for weights and counts, spreads and their products for moments."""
        parts = [np.zeros(0)]
        for need in self.needs:
            if isinstance(need, Count):
                parts.append(np.ones(self._length(need)))
                continue
            assert isinstance(need, Moment)
            spread = np.array([self.spreads[name] for name in need.xs])
            one = np.concatenate([[1.0], spread, np.outer(spread, spread).reshape(-1)])
            parts.append(np.tile(one, n_cells([self.schema[name] for name in need.by])))
        return np.concatenate(parts)

    def shares(self, vector: Floats, n: float) -> dict[str, Floats]:
        """Return the numbers of every need, a row, by a name that says what they are of."""
        found = {}
        for need in self.needs:
            columns = ", ".join(need.columns)
            name = f"p({columns})" if isinstance(need, Count) else f"the means and covariances of {columns}"
            found[name] = vector[self.place(need)] / self.units[self.place(need)] / max(n, 1e-300)
        return found

    # To and from statistics -----------------------------------------------------------------------------------

    def vector(self, statistics: Mapping[Need, Any]) -> Floats:
        """Return statistics as a vector."""
        return np.concatenate([np.zeros(0), *(self._flat(need, statistics[need]) for need in self.needs)])

    def _flat(self, need: Need, statistic: Any) -> Floats:
        if isinstance(need, Count):
            return np.asarray(statistic.table(), np.float64).reshape(-1)
        assert isinstance(need, Moment)
        weight = statistic.weight.reshape(-1)
        apart = (statistic.mean + statistic.rest).reshape(len(weight), -1) - self._centre(need)
        p = apart.shape[1]
        products = statistic.scatter.reshape(-1, p, p) + weight[:, None, None] * apart[:, :, None] * apart[:, None, :]
        return np.concatenate([weight[:, None], weight[:, None] * apart, products.reshape(-1, p * p)], axis=1).reshape(
            -1
        )

    def _centre(self, need: Moment) -> Floats:
        return np.array([self.centres[name] for name in need.xs])

    def parts(self, need: Moment, vector: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the weights, sums and sums of products of moments; shapes (k,), (k, p) and (k, p, p), writable."""
        p = len(need.xs)
        block = vector[self.place(need)].reshape(-1, 1 + p + p * p)
        return block[:, 0], block[:, 1 : 1 + p], block[:, 1 + p :].reshape(-1, p, p)

    def items(self, vector: Floats) -> dict[Need, Any]:
        """Return a vector as statistics by need."""
        return {need: self._statistic(need, vector) for need in self.needs}

    def _statistic(self, need: Need, vector: Floats) -> Any:
        if isinstance(need, Count):
            variables = [self.schema[name] for name in need.scope]
            shape = [variable.n_states for variable in variables]
            return Counts.dense(variables, vector[self.place(need)].reshape(shape))
        assert isinstance(need, Moment)
        weight, sums, products = self.parts(need, vector)
        some = np.where(weight > 0, weight, 1.0)
        apart = np.where(weight[:, None] > 0, sums / some[:, None], 0.0)
        scatter = products - weight[:, None, None] * apart[:, :, None] * apart[:, None, :]
        scatter = np.where(weight[:, None, None] > 0, (scatter + scatter.transpose(0, 2, 1)) / 2, 0.0)
        mean = np.where(weight[:, None] > 0, self._centre(need) + apart, 0.0)
        by = tuple(self.schema[name] for name in need.by)
        cells, p = [variable.n_states for variable in by], len(need.xs)
        return Moments(
            tuple(self.schema[name] for name in need.xs),
            by,
            weight.reshape(cells),
            mean.reshape(*cells, p),
            np.zeros((*cells, p)),
            scatter.reshape(*cells, p, p),
        )

    def statistics(self, vector: Floats, weight: float, n_read: int = 0, n_dropped: int = 0) -> Statistics:
        """Return a vector as statistics of rows that weigh so much in all."""
        return Statistics(self.schema, self.items(vector), weight, n_read, n_dropped)
