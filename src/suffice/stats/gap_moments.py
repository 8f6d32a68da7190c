"""GapMoments: the moments of continuous columns with gaps, one set for each pattern of missing values.

Of rows that lack the same columns, a normal distribution asks for the weight, the mean and the scatter of the other
columns, and for nothing else. So these are sufficient for its observed likelihood; they are collected once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.block import Block
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import StatisticsError
from suffice.settings import more_memory, settings
from suffice.stats.counts import require_factor
from suffice.stats.moment_passes import added
from suffice.stats.needs import Need, NeedFor
from suffice.text import in_bytes, plural
from suffice.types import Array, Codes, Entry, Floats, JsonObject

ARRAYS = ("missing", "weight", "mean", "rest", "scatter")


@dataclass(frozen=True)
class GapMoment(NeedFor["GapMoments"]):
    """The moments of the continuous columns ``xs`` for each pattern of missing values.

    >>> GapMoment(("x", "y"))
    GapMoment(xs=('x', 'y'))
    """

    kind: ClassVar[str] = "gap_moment"
    takes_gaps = True
    xs: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The continuous columns."""
        return self.xs

    def to_dict(self) -> JsonObject:
        """Return ``{"xs": […]}``."""
        return {"xs": list(self.xs)}

    @classmethod
    def from_dict(cls, entry: Entry) -> GapMoment:
        """Rebuild the need from `to_dict`'s data."""
        return cls(tuple(entry["xs"]))

    def __call__(self, block: Block) -> Mapping[Need, GapMoments]:
        """Return the moments of one block: the need is a task for `Source.reduce`."""
        return {self: GapMoments.of_block(self, block)}


@dataclass(frozen=True, eq=False)
class GapMoments:
    """Moments of p continuous variables for each of k patterns of missing values.

    Attributes
    ----------
    variables : tuple of Variable
    missing : array, shape (k, p), of bool
        The patterns that occur, each once, in lexicographic order.
    weight : array, shape (k,)
        Total weight of the rows of each pattern.
    mean, rest : array, shape (k, p)
        Their means, and what rounding cut off them; zero where values are missing.
    scatter : array, shape (k, p, p)
        Σ w (x − mean)(x − mean)ᵀ; zero where values are missing.

    Examples
    --------
    >>> x, y = Variable("x"), Variable("y")
    >>> rows = np.array([[1.0, 5.0], [3.0, 9.0], [4.0, np.nan]])
    >>> found = GapMoments.of_rows((x, y), rows)
    >>> found.missing.tolist(), found.weight.tolist(), found.mean.tolist()
    ([[False, False], [False, True]], [2.0, 1.0], [[2.0, 7.0], [4.0, 0.0]])
    """

    variables: tuple[Variable, ...]
    missing: NDArray[np.bool_] = field(repr=False)
    weight: Floats = field(repr=False)
    mean: Floats = field(repr=False)
    rest: Floats = field(repr=False)
    scatter: Floats = field(repr=False)

    def __post_init__(self) -> None:
        p, k = len(self.variables), len(self.weight)
        shapes = dict(zip(ARRAYS, ((k, p), (k,), (k, p), (k, p), (k, p, p)), strict=True))
        for name, array in self.to_arrays().items():
            shape, frozen = shapes[name], np.array(array, bool if name == "missing" else np.float64)
            if frozen.shape != shape:
                raise StatisticsError(
                    f"The array {name!r} of moments with gaps has shape {frozen.shape}; it must have {shape}."
                )
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)

    # Building -------------------------------------------------------------------------------------------------

    @classmethod
    def of_rows(cls, variables: tuple[Variable, ...], rows: Array, weights: Array | None = None) -> GapMoments:
        """Return the moments of rows, shape (n, p), NaN where a value is missing, each with its weight."""
        x = np.asarray(rows, np.float64)
        w = np.ones(len(x)) if weights is None else np.asarray(weights, np.float64)
        if not (w > 0).all():
            x, w = x[w > 0], w[w > 0]
        missing, position = patterns_of(np.isnan(x))
        _require_room(len(missing), x.shape[1])
        order = np.argsort(position, kind="stable")
        x, w = x[order], w[order]
        counts = np.bincount(position, minlength=len(missing))
        ends = np.cumsum(counts)
        arrays = [np.zeros((len(missing), *shape)) for shape in _shapes(x.shape[1])]
        weight, mean, rest, scatter = arrays
        for k, (start, end) in enumerate(zip((ends - counts).tolist(), ends.tolist(), strict=True)):
            seen = np.flatnonzero(~missing[k])
            part, own = x[start:end][:, seen], w[start:end]
            weight[k] = own.sum()
            mean[k, seen] = part[0] + own @ (part - part[0]) / weight[k]
            apart = part - mean[k, seen]
            rest[k, seen] = left = own @ apart / weight[k]
            scatter[k, seen[:, None], seen] = (apart * own[:, None]).T @ apart - weight[k] * np.outer(left, left)
        return cls(tuple(variables), missing, weight, mean, rest, scatter)

    @classmethod
    def of_block(cls, need: GapMoment, block: Block) -> GapMoments:
        """Return the moments of one block of rows."""
        rows = np.empty((block.n_rows, len(need.xs)))
        for place, name in enumerate(need.xs):
            rows[:, place] = block.columns[name]
        return cls.of_rows(tuple(block.schema[name] for name in need.xs), rows, block.weights)

    @classmethod
    def zero(cls, need: GapMoment, schema: Schema) -> GapMoments:
        """Return the moments of no rows."""
        return cls.of_rows(tuple(schema[name] for name in need.xs), np.zeros((0, len(need.xs))))

    # The monoid -----------------------------------------------------------------------------------------------

    @property
    def need(self) -> GapMoment:
        """The request that these moments answer."""
        return GapMoment(tuple(variable.name for variable in self.variables))

    def __add__(self, other: GapMoments) -> GapMoments:
        if not isinstance(other, GapMoments):
            return NotImplemented
        if self.need != other.need:
            raise StatisticsError(f"The moments {self.need} and {other.need} cannot be added.")
        missing, position = patterns_of(np.concatenate([self.missing, other.missing]))
        _require_room(len(missing), len(self.variables))
        n = len(self.weight)
        first, second = self._placed(position[:n], len(missing)), other._placed(position[n:], len(missing))
        return GapMoments(self.variables, missing, *added(first, second))

    def _placed(self, position: NDArray[np.int64], k: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the arrays with the patterns at other places, among k."""
        held = (self.weight, self.mean, self.rest, self.scatter)
        placed = tuple(np.zeros((k, *array.shape[1:])) for array in held)
        for to, array in zip(placed, held, strict=True):
            to[position] = array
        return placed  # type: ignore[return-value]

    def scaled(self, factor: float) -> GapMoments:
        """Return the moments with every row's weight multiplied by ``factor`` ≥ 0."""
        number = require_factor(factor)
        if number == 0:
            return GapMoments.zero(self.need, Schema(self.variables))
        weight, scatter = self.weight * number, self.scatter * number
        return GapMoments(self.variables, self.missing, weight, self.mean, self.rest, scatter)

    def reindexed(self, schema: Schema) -> GapMoments:
        """Return the same moments: they do not depend on states."""
        return self

    def recoded(self, schema: Schema, recoding: Mapping[str, Codes]) -> GapMoments:
        """Return the same moments: they do not depend on states."""
        return self

    def renamed(self, variables: Mapping[str, Variable]) -> GapMoments:
        """Return the same moments for other variables."""
        named = tuple(variables.get(v.name, v) for v in self.variables)
        return GapMoments(named, self.missing, self.weight, self.mean, self.rest, self.scatter)

    def to_arrays(self) -> dict[str, Array]:
        """Return ``missing``, ``weight``, ``mean``, ``rest`` and ``scatter``."""
        return {
            "missing": self.missing,
            "weight": self.weight,
            "mean": self.mean,
            "rest": self.rest,
            "scatter": self.scatter,
        }

    @classmethod
    def from_arrays(cls, need: GapMoment, schema: Schema, arrays: Mapping[str, Array]) -> GapMoments:
        """Rebuild from `to_arrays`."""
        if not all(np.isfinite(arrays[name]).all() for name in ARRAYS) or not (arrays["weight"] >= 0).all():
            raise StatisticsError(
                f"The moments of {need.xs} are not proper: numbers must be finite, and weights not negative."
            )
        return cls(tuple(schema[name] for name in need.xs), *(arrays[name] for name in ARRAYS))


def patterns_of(missing: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the distinct rows of gaps in lexicographic order, and the position of each row among them."""
    n, p = missing.shape
    if not p or not n:
        return missing[: min(n, 1)], np.zeros(n, np.int64)
    if p <= 62:
        keys = missing @ (1 << np.arange(p - 1, -1, -1, dtype=np.int64))
        _, first, position = np.unique(keys, return_index=True, return_inverse=True)
    else:
        packed = np.packbits(missing, axis=1)
        _, first, position = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return missing[first], position.reshape(-1)


def _shapes(p: int) -> tuple[tuple[int, ...], ...]:
    return (), (p,), (p,), (p, p)


def _require_room(k: int, p: int) -> None:
    need, allowed = 3 * 8 * k * p * p, settings().memory
    if need > allowed:
        raise StatisticsError(
            f"Values are missing in {plural(k, 'different way')}; the moments of {plural(p, 'column')} for each of "
            f"them would take {in_bytes(need)}, and {in_bytes(allowed)} may be used. Use fewer columns, leave out rows "
            "that lack most of them, or allow more: ",
            more_memory(need),
            ".",
        )
