"""Variable elimination: one table over a few variables, by summing out all others one after another.

For a single question. Only the tables that matter are touched, in NumPy, so that small questions are answered at
once; what is asked again and again is answered by calibration instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.graph.elimination import BitGraph, Elimination, bits, eliminate
from suffice.inference.budget import require_answer, require_room
from suffice.inference.product import Evidence, Factor, Product, connected, relevant

TINY = 1e-280


class _Scoped(Protocol):
    """A table over some variables."""

    @property
    def scope(self) -> tuple[int, ...]:
        """The variable of each axis."""


T = TypeVar("T", bound=_Scoped)


class _Lost(Exception):  # noqa: N818
    """Products would lose values that are too small for a float."""


@dataclass(frozen=True, eq=False)
class ScaledTable:
    """A table with an unspoken factor: what it stands for is values · exp(log_scale).

    ``floor`` is a bound from below of its positive values, by which products prove that they lose none of them.
    """

    scope: tuple[int, ...]
    values: NDArray[np.float64]
    log_scale: float
    floor: float


def joint(product: Product, targets: Sequence[int], evidence: Evidence) -> tuple[NDArray[np.float64], float]:
    """Return Σ Π φ(x_targets, rest, evidence) up to a factor, and the logarithm of that factor.

    The table has one axis a target, in the order asked for, and sums to one unless the evidence is impossible: then
    it is all zeros.
    """
    require_answer(product, targets)
    result, log_scale = np.ones([product.sizes[variable] for variable in targets]), 0.0
    asked = set(targets)
    for group in _parts(product, targets, evidence):
        table = _summed(product, group, asked)
        result = result * _aligned(table, targets)
        log_scale += table.log_scale
    total = float(result.sum())
    return (result / total, log_scale + math.log(total)) if total > 0 else (result, -math.inf)


def posterior(product: Product, targets: Sequence[int], evidence: Evidence) -> NDArray[np.float64]:
    """Return p(x_targets | evidence), all zeros when the evidence is impossible.

    Parts of the network that the evidence separates from the targets are only looked at as far as it takes to know
    that they are possible.
    """
    require_answer(product, targets)
    asked = set(targets)
    result = np.ones([product.sizes[variable] for variable in targets])
    for group in _parts(product, targets, evidence):
        if any(variable in asked for factor in group for variable in factor.scope):
            result = result * _aligned(_summed(product, group, asked), targets)
        elif not all((factor.values > 0).all() for factor in group):
            result = result * (_summed(product, group, asked).values > 0)
    total = float(result.sum())
    return result / total if total > 0 else result


def _parts(product: Product, targets: Sequence[int], evidence: Evidence) -> list[list[Factor]]:
    """Return the factors that matter, with the evidence sliced away, in parts that do not depend on each other."""
    seen = {**{v: 0 for v, size in enumerate(product.sizes) if size == 1 and v not in targets}, **evidence}
    factors = [factor.given(seen) for factor in relevant(product, [*targets, *evidence])]
    return connected([*factors, *(product.unit(variable) for variable in targets)])


def _aligned(table: ScaledTable, targets: Sequence[int]) -> NDArray[np.float64]:
    order = sorted(range(len(table.scope)), key=lambda axis: targets.index(table.scope[axis]))
    held = dict(zip(table.scope, table.values.shape, strict=True))
    return table.values.transpose(order).reshape([held.get(variable, 1) for variable in targets])


def _summed(product: Product, factors: Sequence[Factor], kept: set[int]) -> ScaledTable:
    """Return the product of connected factors with all variables summed out but those to keep."""
    order = _order(product, factors, kept)
    try:
        return _run([_started(factor) for factor in factors], order)
    except _Lost:
        whole = _in_logarithms(factors, order)
    top = float(whole.values.max())
    if top == -math.inf:
        return ScaledTable(whole.scope, np.zeros(whole.values.shape), 0.0, 1.0)
    with np.errstate(under="ignore"):
        return ScaledTable(whole.scope, np.exp(whole.values - top), top, 1.0)


def _order(product: Product, factors: Sequence[Factor], kept: set[int]) -> list[int]:
    """Return the variables to be summed out, in order; raise where the tables that arise do not fit."""
    variables = sorted({variable for factor in factors for variable in factor.scope})
    place = {variable: index for index, variable in enumerate(variables)}
    sizes = [product.sizes[variable] for variable in variables]
    scopes = [[place[variable] for variable in factor.scope] for factor in factors]
    inside = [place[variable] for variable in variables if variable in kept]
    found = eliminate(BitGraph.of_scopes([*scopes, inside], sizes), keep=sum(1 << index for index in inside))
    cliques = [[node, *bits(mask)] for node, mask in zip(found.order, found.later, strict=True)]
    peak = _peak(found, sizes)
    require_room(product, [[variables[index] for index in clique] for clique in cliques], peak)
    return [variables[index] for index in found.order[: len(variables) - len(inside)]]


def _peak(found: Elimination, sizes: Sequence[int]) -> int:
    """Return the most cells that are held at a time: a product in the making, and the tables that wait."""
    position = {node: place for place, node in enumerate(found.order)}
    waiting = [0] * (len(found.order) + 1)
    live = peak = 0
    for place, (node, mask) in enumerate(zip(found.order, found.later, strict=True)):
        cells = math.prod(sizes[other] for other in bits(mask))
        peak = max(peak, live + 2 * cells * sizes[node])
        live += cells - waiting[place]
        waiting[min((position[other] for other in bits(mask)), default=-1)] += cells
    return peak


# In linear space ----------------------------------------------------------------------------------------------


def _started(factor: Factor) -> ScaledTable:
    return _scaled(factor.scope, factor.values, 0.0)


def _scaled(scope: tuple[int, ...], values: NDArray[np.float64], log_scale: float) -> ScaledTable:
    """Divide by the largest value, and find the smallest positive one."""
    top = float(values.max())
    if top <= 0:
        return ScaledTable(scope, values, log_scale, 1.0)
    lowest = float(np.min(values, where=values > 0, initial=top))
    if lowest / top < TINY:
        raise _Lost
    return ScaledTable(scope, values / top, log_scale + math.log(top), lowest / top)


def _times(first: ScaledTable, second: ScaledTable) -> ScaledTable:
    if first.floor * second.floor < TINY:
        first = _scaled(first.scope, first.values, first.log_scale)
        second = _scaled(second.scope, second.values, second.log_scale)
        if first.floor * second.floor < TINY:
            raise _Lost
    scope = tuple(sorted({*first.scope, *second.scope}))
    values = _spread(first.scope, first.values, scope) * _spread(second.scope, second.values, scope)
    return ScaledTable(scope, values, first.log_scale + second.log_scale, first.floor * second.floor)


def _spread(held: tuple[int, ...], values: NDArray[np.float64], scope: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the table with its axes in the order of a larger scope, of length one where it has none."""
    order = sorted(range(len(held)), key=held.__getitem__)
    shape = dict(zip(held, values.shape, strict=True))
    return values.transpose(order).reshape([shape.get(variable, 1) for variable in scope])


def _run(tables: Sequence[ScaledTable], order: Sequence[int]) -> ScaledTable:
    buckets = _Buckets(order, tables)
    for variable in order:
        whole = _multiplied(buckets.take(variable))
        axis = whole.scope.index(variable)
        summed = whole.values.sum(axis=axis)
        scope = whole.scope[:axis] + whole.scope[axis + 1 :]
        top = float(summed.max())
        if top > 0:
            buckets.put(ScaledTable(scope, summed / top, whole.log_scale + math.log(top), whole.floor / top))
        else:
            buckets.put(ScaledTable(scope, summed, 0.0, 1.0))
    return _multiplied(buckets.rest)


def _multiplied(tables: Sequence[ScaledTable]) -> ScaledTable:
    whole = ScaledTable((), np.ones(()), 0.0, 1.0)
    for table in sorted(tables, key=lambda table: table.values.size):
        whole = _times(whole, table)
    return whole


class _Buckets(Generic[T]):
    """Tables by the first of their variables to go; ``rest`` are those that stay."""

    def __init__(self, order: Sequence[int], tables: Sequence[T]) -> None:
        self._position = {variable: place for place, variable in enumerate(order)}
        self._waiting: dict[int, list[T]] = {variable: [] for variable in order}
        self.rest: list[T] = []
        for table in tables:
            self.put(table)

    def put(self, table: T) -> None:
        held = [variable for variable in table.scope if variable in self._position]
        home = self._waiting[min(held, key=self._position.__getitem__)] if held else self.rest
        home.append(table)

    def take(self, variable: int) -> list[T]:
        return self._waiting.pop(variable)


# In logarithms: for products in which values would be lost ----------------------------------------------------


def _in_logarithms(factors: Sequence[Factor], order: Sequence[int]) -> Factor:
    """Return the logarithm of the product, summed over the variables in order."""
    with np.errstate(divide="ignore"):
        buckets = _Buckets(order, [Factor(factor.scope, np.log(factor.values)) for factor in factors])
    for variable in order:
        whole = _added(buckets.take(variable))
        axis = whole.scope.index(variable)
        buckets.put(Factor(whole.scope[:axis] + whole.scope[axis + 1 :], _log_sum(whole.values, axis)))
    return _added(buckets.rest)


def _added(tables: Sequence[Factor]) -> Factor:
    scope = tuple(sorted({variable for table in tables for variable in table.scope}))
    whole = np.zeros(())
    for table in tables:
        whole = whole + _spread(table.scope, table.values, scope)
    return Factor(scope, whole)


def _log_sum(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    top = values.max(axis=axis, keepdims=True)
    safe = np.where(top > -np.inf, top, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        return np.asarray(np.log(np.exp(values - safe).sum(axis=axis)) + np.squeeze(safe, axis))
