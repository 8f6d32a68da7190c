"""Parametric bootstrap: how far tables that the fitted model draws lie from its own independences.

The statistic estimates afresh what it needs from every table, so that no table has to be fitted, and its law needs no
large samples:

======  ===============================================================================================
D       the sum of the deviances of all tests, and f that of their degrees of freedom, table by table
z       (D − f)/√(2f)
======  ===============================================================================================

D alone would not do: a fitted model never draws what the data lack, so that its tables have fewer cells that occur, and
smaller deviances, than the data would have had again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.checking.ways import Way
from suffice.data.block import Block, code_dtype
from suffice.models.model import Generative
from suffice.progress import Watch
from suffice.stats.needs import Need
from suffice.stats.statistics import Statistics, add_up, collect_block

USUAL = 200
LEAST = 40
"""Fewer tables than this tell too little, and are left out unless they are asked for."""
SECONDS = 10.0
JOINT_CELLS = 1 << 14
"""Discrete models with no more cells draw whole tables at once."""
STREAM = 1
"""The second half of the key of random numbers that draw whole tables."""


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The data's distance from the implied independences, against that of tables drawn from the fitted model.

    Attributes
    ----------
    deviance, df : float
        The sum over all tests.
    statistic : float
        By how much the deviance exceeds its degrees of freedom, in standard deviations: (deviance − df)/√(2 df).
    drawn : array, shape (n_tables,)
        The same for each table.
    p_value : float
        (1 + tables at least as far) / (1 + tables).
    """

    deviance: float
    df: int
    statistic: float
    drawn: NDArray[np.float64] = field(repr=False)
    p_value: float

    @property
    def n_tables(self) -> int:
        """How many tables were drawn."""
        return len(self.drawn)


def affordable(model: Generative, ways: Sequence[Way], n: float) -> int:
    """Return how many tables are drawn unless one says: as many as take seconds, and none where that is too few."""
    rows = min(n, _joint_size(model)) if _draws_tables(model, n) else n
    columns = len(model.schema)
    each = rows * columns * 4e-8 + sum(rows * len(way.claim.scope) * 4e-9 + 2e-4 for way in ways)
    found = min(USUAL, int(SECONDS / max(each, 1e-9)))
    return found if found >= LEAST else 0


def bootstrapped(
    model: Generative, ways: Sequence[Way], observed: Statistics, n_tables: int, seed: int | None, watch: Watch
) -> Bootstrap:
    """Draw tables of as many rows as the data from a model, and measure all of them alike."""
    total, df = _total(ways, observed)
    statistic = _excess(total, df)
    n = max(1, round(observed.weight))
    needs: list[Need] = list(dict.fromkeys(way.need for way in ways))
    found = []
    with watch.work("drawing tables", n_tables, "tables"):
        for drawn in _tables(model, needs, n, n_tables, seed):
            found.append(_excess(*_total(ways, drawn)))
            watch.advance(1)
    values = np.array(found)
    at_least = int((values >= statistic - 1e-9 * max(1.0, abs(statistic))).sum())
    return Bootstrap(total, df, statistic, values, (1 + at_least) / (1 + len(values)))


def _total(ways: Sequence[Way], statistics: Statistics) -> tuple[float, int]:
    departures = [way.departure(statistics) for way in ways]
    return math.fsum(deviance for deviance, _ in departures), sum(df for _, df in departures)


def _excess(deviance: float, df: int) -> float:
    return (deviance - df) / math.sqrt(2 * df) if df else 0.0


# Drawing ------------------------------------------------------------------------------------------------------


def _joint_size(model: Generative) -> float:
    variables = model.schema.variables
    if not all(variable.is_discrete for variable in variables):
        return math.inf
    return float(math.prod(variable.n_states for variable in variables))


def _draws_tables(model: Generative, n: float) -> bool:
    return _joint_size(model) <= min(JOINT_CELLS, max(n, 1024.0))


def _tables(model: Generative, needs: list[Need], n: int, n_tables: int, seed: int | None) -> Iterator[Statistics]:
    """Yield the statistics of one drawn table after another."""
    if not _draws_tables(model, n):
        yield from _of_rows(model, needs, n, n_tables, seed)
        return
    cells = np.indices([variable.n_states for variable in model.schema.variables]).reshape(len(model.schema), -1)
    columns = {
        variable.name: codes.astype(code_dtype(variable.n_states))
        for variable, codes in zip(model.schema.variables, cells, strict=True)
    }
    p = np.exp(model.log_prob_of(columns, cells.shape[1]))
    key = np.array(
        [np.random.SeedSequence().generate_state(1, np.uint64)[0] if seed is None else seed, STREAM], np.uint64
    )
    stream = np.random.Generator(np.random.Philox(key=key))
    for _ in range(n_tables):
        counts = stream.multinomial(n, p / p.sum())
        kept = np.flatnonzero(counts)
        part = {name: codes[kept] for name, codes in columns.items()}
        yield _counted(needs, Block(model.schema, part, counts[kept], len(kept)))


def _of_rows(model: Generative, needs: list[Need], n: int, n_tables: int, seed: int | None) -> Iterator[Statistics]:
    """Cut one stream of drawn rows into tables."""
    parts: list[Statistics] = []
    lacking = n
    for whole in model.sample_blocks(n * n_tables, seed=seed):
        start = 0
        while start < whole.n_rows:
            stop = min(whole.n_rows, start + lacking)
            columns = {name: values[start:stop] for name, values in whole.columns.items()}
            parts.append(_counted(needs, Block(whole.schema, columns, None, stop - start)))
            lacking, start = lacking - (stop - start), stop
            if not lacking:
                yield add_up(parts)
                parts, lacking = [], n


def _counted(needs: list[Need], block: Block) -> Statistics:
    return Statistics(block.schema, collect_block(needs, block), block.weight, block.n_rows)
