"""Moments: how many rows, their mean and their scatter around it, for continuous columns.

Parts are added by the pairwise formula of Chan, Golub and LeVeque (1979), so a mean of 10⁸ with a spread of one keeps
its digits. What rounding cuts off a mean is carried along, so the result does not depend on how the rows were cut.

======  =====================================================
W       total weight of the rows
m       their mean
T       their scatter, Σ w (x − m)(x − m)ᵀ
======  =====================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.variable import Variable, unite
from suffice.errors import DataError, StatisticsError
from suffice.stats.counts import n_cells, require_factor
from suffice.stats.needs import Moment

MAX_NUMBERS = 1 << 27
"""Moments by configuration are full tables, of at most so many numbers."""
PIECE_ROWS = 1 << 15

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """First and second moments of some continuous variables, for every configuration of some discrete ones.

    Attributes
    ----------
    variables : tuple of Variable
        The p continuous variables, in the order of the need.
    by : tuple of Variable
        The discrete variables, one leading axis each; often none.
    weight : array, shape (n_states_1, …)
        Total weight of the rows of each configuration.
    mean : array, shape (n_states_1, …, p)
        Zero where there are no rows.
    rest : array, shape (n_states_1, …, p)
        What rounding cut off the mean.
    scatter : array, shape (n_states_1, …, p, p)
        Σ w (x − mean)(x − mean)ᵀ.

    Examples
    --------
    >>> x = Variable("x")
    >>> first = Moments.of_rows((x,), np.array([[1.0], [3.0]]))
    >>> both = first + Moments.of_rows((x,), np.array([[8.0]]))
    >>> float(both.weight), both.mean.tolist(), both.scatter.tolist()
    (3.0, [4.0], [[26.0]])
    """

    variables: tuple[Variable, ...]
    by: tuple[Variable, ...]
    weight: Floats = field(repr=False)
    mean: Floats = field(repr=False)
    rest: Floats = field(repr=False)
    scatter: Floats = field(repr=False)

    def __post_init__(self) -> None:
        shapes = _shapes(self.variables, self.by)
        for name, shape in shapes.items():
            frozen = np.array(getattr(self, name), np.float64)
            if frozen.shape != shape:
                raise StatisticsError(
                    f"The moments' array {name!r} has shape {frozen.shape}, but the variables give {shape}."
                )
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)

    # Building -------------------------------------------------------------------------------------------------

    @classmethod
    def of_rows(cls, variables: Sequence[Variable], rows: NDArray[Any], weights: NDArray[Any] | None = None) -> Moments:
        """Return the moments of rows, shape (n_rows, p), each with its weight."""
        x = np.asarray(rows, np.float64)
        w = None if weights is None else np.asarray(weights, np.float64)
        pieces = [slice(low, low + PIECE_ROWS) for low in range(0, max(len(x), 1), PIECE_ROWS)]
        parts = (_of_rows(x[piece], None if w is None else w[piece]) for piece in pieces)
        return reduce(add, (cls(tuple(variables), (), *part) for part in parts))

    @classmethod
    def of_block(cls, need: Moment, block: Block) -> Moments:
        """Return the moments of one block of rows."""
        variables = tuple(block.schema[name] for name in need.xs)
        by = tuple(block.schema[name] for name in need.by)
        _require_room(variables, by)
        columns = [np.asarray(block.columns[name], np.float64) for name in need.xs]
        for name, column in zip(need.xs, columns, strict=True):
            _require_finite(name, column, block)
        rows = np.stack(columns, axis=1) if columns else np.zeros((block.n_rows, 0))
        found = _by_configuration(variables, by, rows, block) if by else cls.of_rows(variables, rows, block.weights)
        for axis, name in enumerate(need.xs):
            if not np.isfinite(found.scatter[..., axis, axis]).all():
                raise DataError(
                    f"Column {name!r} holds numbers so large that their squares overflow. Divide it by a common factor."
                )
        return found

    @classmethod
    def zero(cls, need: Moment, schema: Schema) -> Moments:
        """Return the moments of no rows."""
        variables, by = tuple(schema[name] for name in need.xs), tuple(schema[name] for name in need.by)
        _require_room(variables, by)
        return cls(variables, by, *(np.zeros(shape) for shape in _shapes(variables, by).values()))

    # The monoid -----------------------------------------------------------------------------------------------

    @property
    def need(self) -> Moment:
        """The request that these moments answer."""
        return Moment(tuple(v.name for v in self.variables), tuple(v.name for v in self.by))

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if self.need != other.need:
            raise StatisticsError(f"The moments {self.need} and {other.need} cannot be added.")
        if self.by != other.by:
            united = (unite(a, b) for a, b in zip(self.by, other.by, strict=True))
            schema = Schema((*self.variables, *united))
            return self.reindexed(schema) + other.reindexed(schema)
        return Moments(self.variables, self.by, *_added(self._arrays(), other._arrays()))

    def _arrays(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.weight, self.mean, self.rest, self.scatter

    def scaled(self, factor: float) -> Moments:
        """Return the moments with every row's weight multiplied by ``factor`` ≥ 0."""
        number = require_factor(factor)
        if number == 0:
            return Moments.zero(self.need, Schema((*self.variables, *self.by)))
        return Moments(self.variables, self.by, self.weight * number, self.mean, self.rest, self.scatter * number)

    def reindexed(self, schema: Schema) -> Moments:
        """Return the moments over a schema with at least these states."""
        variables = tuple(schema[v.name] for v in self.variables)
        by = tuple(schema[v.name] for v in self.by)
        if by == self.by:
            return self if variables == self.variables else Moments(variables, by, *self._arrays())
        recoding = {
            old.name: np.array([new.code(state) for state in old.labels], np.int64)
            for old, new in zip(self.by, by, strict=True)
        }
        return self.recoded(schema, recoding)

    def recoded(self, schema: Schema, recoding: Mapping[str, NDArray[Any]]) -> Moments:
        """Return the moments with code c of a discrete variable replaced by ``recoding[variable][c]``."""
        variables = tuple(schema[v.name] for v in self.variables)
        by = tuple(schema[v.name] for v in self.by)
        if not by:
            return Moments(variables, by, *self._arrays())
        moved, parts = self._occupied()
        for axis, variable in enumerate(self.by):
            if variable.name in recoding:
                moved[:, axis] = recoding[variable.name][moved[:, axis]]
        return _gathered(variables, by, moved, parts)

    def _occupied(self) -> tuple[NDArray[np.int64], list[Floats]]:
        """Return the configurations that have rows, shape (k, d), and their numbers, the first axis of length k."""
        shape = self.weight.shape
        flat = np.flatnonzero(self.weight.reshape(-1) > 0)
        cells = np.stack(np.unravel_index(flat, shape), axis=1) if shape else np.zeros((len(flat), 0), np.int64)
        return cells, [array.reshape(-1, *array.shape[len(shape) :])[flat] for array in self._arrays()]

    def renamed(self, variables: Mapping[str, Variable]) -> Moments:
        """Return the same moments for other variables; those that are not named keep their names."""
        return Moments(
            tuple(variables.get(v.name, v) for v in self.variables),
            tuple(variables.get(v.name, v) for v in self.by),
            *self._arrays(),
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return ``weight``, ``mean``, ``rest`` and ``scatter``."""
        return dict(zip(("weight", "mean", "rest", "scatter"), self._arrays(), strict=True))

    @classmethod
    def from_arrays(cls, need: Moment, schema: Schema, arrays: Mapping[str, NDArray[Any]]) -> Moments:
        """Rebuild from `to_arrays`."""
        variables, by = tuple(schema[name] for name in need.xs), tuple(schema[name] for name in need.by)
        names = _shapes(variables, by)
        values = [np.asarray(arrays[name], np.float64).reshape(names[name]) for name in names]
        weight, _, _, scatter = values
        diagonal = np.diagonal(scatter, axis1=-2, axis2=-1)
        if not (all(np.isfinite(array).all() for array in values) and (weight >= 0).all() and (diagonal >= 0).all()):
            raise StatisticsError(
                f"The moments of {need.xs} are not proper: numbers must be finite, weights and variances not negative."
            )
        return cls(variables, by, *values)

    # Looking --------------------------------------------------------------------------------------------------

    @property
    def covariance(self) -> Floats:
        """The covariance matrices with divisor W, shape (n_states_1, …, p, p); NaN where there are no rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = self.scatter / self.weight[..., None, None]
        return found

    def marginal(self, xs: Sequence[str], by: Sequence[str] = ()) -> Moments:
        """Return the moments of some of the variables, in the order asked for; other configurations are added up."""
        for name in (*xs, *by):
            if name not in (self.need.xs if name in xs else self.need.by):
                raise StatisticsError(f"The moments are {self.need}, so they have no marginal over {name!r}.")
        columns = [self.need.xs.index(name) for name in xs]
        axes = [self.need.by.index(name) for name in by]
        cells, (weight, mean, rest, scatter) = self._occupied()
        parts = [weight, mean[:, columns], rest[:, columns], scatter[:, columns][:, :, columns]]
        return _gathered(
            tuple(self.variables[i] for i in columns), tuple(self.by[i] for i in axes), cells[:, axes], parts
        )


def collect_moments(needs: Sequence[Moment], block: Block) -> dict[Moment, Moments]:
    """Collect the moments that answer ``needs`` from one block of rows."""
    return {need: Moments.of_block(need, block) for need in needs}


def _shapes(variables: Sequence[Variable], by: Sequence[Variable]) -> dict[str, tuple[int, ...]]:
    cells, p = tuple(v.n_states for v in by), len(variables)
    return {"weight": cells, "mean": (*cells, p), "rest": (*cells, p), "scatter": (*cells, p, p)}


def _require_room(variables: Sequence[Variable], by: Sequence[Variable]) -> None:
    size = n_cells(by) * max(len(variables), 1) ** 2
    if size > MAX_NUMBERS:
        raise StatisticsError(
            f"Moments of {len(variables)} variables for each of {n_cells(by):,} configurations of "
            f"{tuple(v.name for v in by)} are {size:,} numbers, which is too many. Use fewer discrete variables."
        )


def _require_finite(name: str, column: Floats, block: Block) -> None:
    if np.isfinite(column).all():
        return
    row = int(np.argmin(np.isfinite(column)))
    where = "" if block.n_dropped else f", row {block.start + row + 1}"  # rows left out shift the numbers
    raise DataError(
        f"Column {name!r}{where}: the value {column[row]} is not finite, so the column has no mean. "
        "Correct it, or replace it by a missing value."
    )


def _of_rows(x: Floats, w: Floats | None) -> tuple[Floats, Floats, Floats, Floats]:
    """Return weight, mean, rest and scatter of some rows, in two passes over them."""
    total = np.float64(len(x)) if w is None else w.sum()
    if not total > 0:
        p = x.shape[1]
        return np.zeros(()), np.zeros(p), np.zeros(p), np.zeros((p, p))
    with np.errstate(over="ignore", invalid="ignore"):
        first = (x.sum(axis=0) if w is None else w @ x) / total
        centred = x - first
        rest = (centred.sum(axis=0) if w is None else w @ centred) / total
        centred -= rest
        if w is not None:
            centred *= np.sqrt(w)[:, None]
        scatter = centred.T @ centred
        mean, rest = _split(first, rest)
    return np.asarray(total, np.float64), mean, rest, (scatter + scatter.T) / 2


def _split(large: Floats, small: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and what rounding cut off it."""
    total = large + small
    return total, small - (total - large)


def _added(
    first: tuple[Floats, Floats, Floats, Floats], second: tuple[Floats, Floats, Floats, Floats]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Add moments, cell by cell; the same bits whichever comes first."""
    (w1, m1, r1, t1), (w2, m2, r2, t2) = first, second
    weight = w1 + w2
    safe = np.where(weight > 0, weight, 1.0)
    p1, p2 = (w1 / safe)[..., None], (w2 / safe)[..., None]
    # A part without rows has no mean; the other's takes its place, so that nothing is pulled towards zero.
    m1, m2 = np.where(p1 > 0, m1, m2), np.where(p2 > 0, m2, m1)
    r1, r2 = np.where(p1 > 0, r1, r2), np.where(p2 > 0, r2, r1)
    gap = (m2 - m1) + (r2 - r1)
    centre = np.where(p1 >= p2, m1, m2)
    centre = np.where(p1 == p2, np.minimum(m1, m2), centre)
    rest = p1 * ((m1 - centre) + r1) + p2 * ((m2 - centre) + r2)
    mean, rest = _split(centre, rest)
    cross = (w1 * w2 / safe)[..., None, None] * (gap[..., :, None] * gap[..., None, :])  # Chan et al., eq 2.1b
    return weight, mean, rest, t1 + t2 + cross


def _by_configuration(variables: tuple[Variable, ...], by: tuple[Variable, ...], rows: Floats, block: Block) -> Moments:
    """Return the moments of the rows of each configuration."""
    shape = tuple(v.n_states for v in by)
    flat = np.zeros(block.n_rows, np.int64)
    for variable in by:
        flat = flat * variable.n_states + block.columns[variable.name]
    order = np.argsort(flat, kind="stable")
    cells, starts = np.unique(flat[order], return_index=True)
    arrays = [np.zeros(s) for s in _shapes(variables, by).values()]
    for cell, low, high in zip(cells, starts, [*starts[1:], len(flat)], strict=True):
        mine = order[low:high]
        found = Moments.of_rows(variables, rows[mine], None if block.weights is None else block.weights[mine])
        where = tuple(int(code) for code in np.unravel_index(int(cell), shape))
        for array, part in zip(arrays, found._arrays(), strict=True):
            array[where] = part
    return Moments(variables, by, *arrays)


def _gathered(
    variables: tuple[Variable, ...], by: tuple[Variable, ...], cells: NDArray[Any], parts: Sequence[Floats]
) -> Moments:
    """Put parts into their cells; parts that meet in one cell are added up."""
    arrays = [np.zeros(shape) for shape in _shapes(variables, by).values()]
    for row, cell in enumerate(map(tuple, cells.tolist())):
        here = tuple(array[cell] for array in arrays)
        one = tuple(np.asarray(part[row]) for part in parts)
        for array, value in zip(arrays, _added(here, one), strict=True):  # type: ignore[arg-type]
            array[cell] = value
    return Moments(variables, by, *arrays)
