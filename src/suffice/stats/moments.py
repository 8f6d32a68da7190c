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

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.matrix import side_by_side
from suffice.data.schema import Schema
from suffice.data.sparse_matrix import sparse_part
from suffice.data.variable import Variable, unite
from suffice.errors import DataError, StatisticsError, listing
from suffice.settings import more_memory, settings
from suffice.stats.counts import n_cells, require_factor
from suffice.stats.moment_passes import Arrays, Job, Products, added, pass_over
from suffice.stats.needs import Moment
from suffice.stats.notebook import moments_cells
from suffice.stats.sparse_moments import moments_by_cell
from suffice.text import html_table, in_bytes, plural
from suffice.types import Array, Codes, Floats, Ints

NUMBER_BYTES = 8
ROUNDING = 1e-9
"""Rounding errors of a covariance are at most so much of the products of the means, and far less as it is collected."""
MAX_COLUMNS = 4096
"""Most columns that needs share a pass over; a piece of so many already outgrows the cache."""
SMALL, UNDERFLOW = 1e-140, 1e-270
"""Columns that vary, but less than the first, would have squares below the second, and lose their digits there."""


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
        for name, array in self.to_arrays().items():
            shape, frozen = shapes[name], np.array(array, np.float64)
            if frozen.shape != shape:
                raise StatisticsError(
                    f"The moments' array {name!r} has shape {frozen.shape}, but the variables give {shape}."
                )
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)

    # Building -------------------------------------------------------------------------------------------------

    @classmethod
    def of_rows(cls, variables: Sequence[Variable], rows: Array, weights: Array | None = None) -> Moments:
        """Return the moments of rows, shape (n_rows, p), each with its weight."""
        x = np.asarray(rows, np.float64)
        everything = range(x.shape[1])
        products = Products.within([everything], len(everything))
        found = pass_over(Job(tuple(x.T), products, (), None if weights is None else np.asarray(weights), len(x)))
        return cls(tuple(variables), (), *_cut(found, products, everything))

    @classmethod
    def of_block(cls, need: Moment, block: Block) -> Moments:
        """Return the moments of one block of rows."""
        return collect_moments([need], block)[need]

    @classmethod
    def zero(cls, need: Moment, schema: Schema) -> Moments:
        """Return the moments of no rows."""
        _require_room([need], schema)
        variables, by = tuple(schema[name] for name in need.xs), tuple(schema[name] for name in need.by)
        return cls(variables, by, *(np.zeros(shape) for shape in _shapes(variables, by).values()))

    # The monoid -----------------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        return html_table(*moments_cells(self))

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
        return Moments(self.variables, self.by, *added(self._arrays(), other._arrays()))

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

    def recoded(self, schema: Schema, recoding: Mapping[str, Codes]) -> Moments:
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

    def to_arrays(self) -> dict[str, Array]:
        """Return ``weight``, ``mean``, ``rest`` and ``scatter``."""
        return dict(zip(("weight", "mean", "rest", "scatter"), self._arrays(), strict=True))

    @classmethod
    def from_arrays(cls, need: Moment, schema: Schema, arrays: Mapping[str, Array]) -> Moments:
        """Rebuild from `to_arrays`."""
        variables, by = tuple(schema[name] for name in need.xs), tuple(schema[name] for name in need.by)
        names = _shapes(variables, by)
        values = [np.asarray(arrays[name], np.float64).reshape(names[name]) for name in names]
        if not _are_proper(*values):
            raise StatisticsError(
                f"The moments of {need.xs} are not proper: numbers must be finite, weights and variances not negative, "
                "and covariances within what the variances allow."
            )
        return cls(variables, by, *values)

    # Looking --------------------------------------------------------------------------------------------------

    @property
    def covariance(self) -> Floats:
        """The covariance matrices with divisor W, shape (n_states_1, …, p, p); NaN where there are no rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = self.scatter / self.weight[..., None, None]  # eq covariance
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


# Collecting ---------------------------------------------------------------------------------------------------


def collect_moments(needs: Sequence[Moment], block: Block) -> dict[Moment, Moments]:
    """Collect the moments that answer ``needs`` from one block of rows.

    Needs with the same discrete variables share one pass over the rows, and a product of two columns is formed once.
    """
    _require_room(needs, block.schema)
    found: dict[Moment, Moments] = {}
    for group in _groups(needs):
        found |= _together(group, block)
    return {need: found[need] for need in needs}


def _groups(needs: Sequence[Moment]) -> list[list[Moment]]:
    """Return the needs that share a pass: the same discrete variables, and not too many continuous ones."""
    groups: dict[frozenset[str], list[list[Moment]]] = {}
    columns: dict[frozenset[str], set[str]] = {}
    for need in needs:
        by = frozenset(need.by)
        held = columns.setdefault(by, set())
        if not held or len(held) + sum(name not in held for name in need.xs) > MAX_COLUMNS:
            groups.setdefault(by, []).append([])
            held.clear()
        groups[by][-1].append(need)
        held.update(need.xs)
    return [group for several in groups.values() for group in several]


def _together(needs: Sequence[Moment], block: Block) -> dict[Moment, Moments]:
    """Collect needs over the same discrete variables in one pass."""
    by = needs[0].by
    names = tuple(dict.fromkeys(name for need in needs for name in need.xs))
    place = {name: j for j, name in enumerate(names)}
    scopes = {need: [place[name] for name in need.xs] for need in needs}
    products = Products.within(scopes.values(), len(names))
    codes = tuple((block.columns[name], block.schema[name].n_states) for name in by)
    found = _passed(names, products, codes, block)
    answers = {}
    for need, scope in scopes.items():
        variables, cells = (tuple(block.schema[name] for name in names) for names in (need.xs, need.by))
        whole = tuple(block.schema[name].n_states for name in by)
        arrays = _cut(found, products, scope, whole, [by.index(name) for name in need.by])
        answers[need] = Moments(variables, cells, *arrays)
    return answers


def _passed(names: tuple[str, ...], products: Products, by: tuple[tuple[Codes, int], ...], block: Block) -> Arrays:
    """Pass over the rows for the moments of all cells; sparse columns whose squares are all that is wanted stay so."""
    sparse = sparse_part(block.columns, names) if len(products.first) == len(names) else None
    if sparse is not None:
        job = Job((), products, by, block.weights, block.n_rows)
        found = moments_by_cell(sparse, job.cells_of(slice(0, block.n_rows)), job.n_cells, block.weights)
    else:
        columns, matrix = tuple(block.columns[name] for name in names), side_by_side(block.columns, names)
        found = pass_over(Job(columns, products, by, block.weights, block.n_rows, matrix))
        _require_apart(names, found, products, block)
    _require_proper(names, found, products, block)
    return found


def _cut(
    found: Arrays, products: Products, columns: Sequence[int], shape: tuple[int, ...] = (), axes: Sequence[int] = ()
) -> Arrays:
    """Cut the moments of some columns out of those of all, and give the cells their axes, in the order wanted."""
    weight, mean, rest, scatter = found
    chosen = list(columns)
    parts = (weight, mean[:, chosen], rest[:, chosen], scatter[:, products.places(chosen)])
    d = len(shape)
    first, second, third, fourth = (
        array.reshape((*shape, *array.shape[1:])).transpose((*axes, *range(d, d + array.ndim - 1))) for array in parts
    )
    return first, second, third, fourth


def _shapes(variables: Sequence[Variable], by: Sequence[Variable]) -> dict[str, tuple[int, ...]]:
    cells, p = tuple(v.n_states for v in by), len(variables)
    return {"weight": cells, "mean": (*cells, p), "rest": (*cells, p), "scatter": (*cells, p, p)}


def _require_room(needs: Sequence[Moment], schema: Schema) -> None:
    sizes = {need: NUMBER_BYTES * _n_cells(need, schema) * max(len(need.xs), 1) ** 2 for need in needs}
    total, allowed = sum(sizes.values()), settings().memory
    if total > allowed:
        largest = max(sizes, key=sizes.__getitem__)
        raise StatisticsError(
            f"The moments would take {in_bytes(total)}, too many for the {in_bytes(allowed)} that are allowed. The "
            f"largest are those of {plural(len(largest.xs), 'variable')} for each of {_n_cells(largest, schema):,} "
            f"configurations of {listing(largest.by)}. Use fewer variables or states, or allow more, with ",
            more_memory(total),
            ".",
        )


def _are_proper(weight: Floats, mean: Floats, rest: Floats, scatter: Floats) -> bool:
    """Whether rows could have such moments: |T_ij| ≤ √(T_ii T_jj), up to the rounding errors of products of means."""
    diagonal = np.diagonal(scatter, axis1=-2, axis2=-1)
    finite = all(np.isfinite(array).all() for array in (weight, mean, rest, scatter))
    if not (finite and (weight >= 0).all() and (diagonal >= 0).all()):
        return False
    roots, levels = np.sqrt(diagonal), np.sqrt(weight)[..., None] * np.abs(mean + rest)
    with np.errstate(over="ignore"):
        most = (
            1.001 * roots[..., :, None] * roots[..., None, :] + ROUNDING * levels[..., :, None] * levels[..., None, :]
        )
    return bool((np.abs(scatter) <= most).all())


def _n_cells(need: Moment, schema: Schema) -> int:
    return n_cells([schema[name] for name in need.by])


def _require_apart(names: Sequence[str], found: Arrays, products: Products, block: Block) -> None:
    """Refuse, by the column, numbers whose squares are lost."""
    scatter = found[3]
    largest = scatter[:, products.squares].max(axis=0, initial=0.0)
    for name in (name for name, size in zip(names, largest, strict=True) if size < UNDERFLOW):
        column = np.asarray(block.columns[name], np.float64)
        if block.n_rows and np.isfinite(column).all() and 0 < np.ptp(column) < SMALL:
            raise DataError(
                f"Column {name!r} holds numbers so close to each other that their squares underflow. Multiply it by a "
                "common factor."
            )


def _require_proper(names: Sequence[str], found: Arrays, products: Products, block: Block) -> None:
    """Refuse, by the column, numbers that are not finite or whose squares are not."""
    _, mean, _, scatter = found
    proper = np.logical_and.reduce(np.isfinite(mean) & np.isfinite(scatter[:, products.squares]), axis=0)
    for name in (name for name, fine in zip(names, proper, strict=True) if not fine):
        column = np.asarray(block.columns[name], np.float64)
        finite = np.isfinite(column)
        if finite.all():
            raise DataError(
                f"Column {name!r} holds numbers so large that their squares overflow. Divide it by a common factor."
            )
        row = int(np.argmin(finite))
        where = "" if block.n_dropped else f", row {block.start + row + 1}"  # rows left out shift the numbers
        raise DataError(
            f"Column {name!r}{where}: the value {column[row]} is not finite, so the column has no mean. "
            "Correct it, or replace it by a missing value."
        )


def _gathered(
    variables: tuple[Variable, ...], by: tuple[Variable, ...], cells: Ints, parts: Sequence[Floats]
) -> Moments:
    """Put parts into their cells; parts that meet in one cell are added up."""
    arrays = [np.zeros(shape) for shape in _shapes(variables, by).values()]
    for row, cell in enumerate(map(tuple, cells.tolist())):
        here = tuple(array[cell] for array in arrays)
        one = tuple(np.asarray(part[row]) for part in parts)
        for array, value in zip(arrays, added(here, one), strict=True):  # type: ignore[arg-type]
            array[cell] = value
    return Moments(variables, by, *arrays)
