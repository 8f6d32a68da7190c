"""Sums over products of tables that are kept as logarithms, from the first factor to the answer.

Densities of what was observed differ between configurations by thousands of nats without being impossible anywhere; a
float cannot hold their ratio, but it holds the logarithm. Variables are summed out one after another, and the table
that each was summed out of is kept: going back through them gives marginals, draws, or the most likely configuration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.graph.elimination import BitGraph, bits, eliminate
from suffice.inference.budget import require_answer, require_room
from suffice.inference.product import Product
from suffice.types import Floats

Codes = dict[int, NDArray[np.int64]]
Over = Callable[[Floats, int], Floats]
"""How one axis of a table goes: `log_sum`, `greatest_of`."""
ROUNDING = 1e-12
"""Of states whose logarithms are closer than this the first is taken, so that no choice hangs on the last bit."""


@dataclass(frozen=True, eq=False)
class LogFactor:
    """A table of logarithms over some variables: −inf where something is impossible, never NaN or +inf."""

    scope: tuple[int, ...]
    values: Floats = field(repr=False)


@dataclass(frozen=True, eq=False)
class Summed:
    """A product of tables with all variables summed out, or maximised out, but those that were to be kept.

    Attributes
    ----------
    steps : tuple of (int, LogFactor)
        The variables in the order in which they went, each with the table that it went out of.
    rest : LogFactor
        What is left, over the variables kept.
    """

    steps: tuple[tuple[int, LogFactor], ...]
    rest: LogFactor

    def marginals(self, scopes: Sequence[Sequence[int]]) -> list[Floats]:
        """Return p(x_scope | what was kept) of each scope, which some factor must have covered.

        The axes are those of what was kept, of length one where it makes no difference, and then the scope's.

        >>> coin = LogFactor((0,), np.log([0.25, 0.75]))
        >>> same = LogFactor((0, 1), np.log([[0.9, 0.1], [0.2, 0.8]]))
        >>> summed_out(("A", "B"), (2, 2), [coin, same]).marginals([(1,)])[0].round(4).tolist()
        [0.375, 0.625]
        """
        place, kept = {variable: step for step, (variable, _) in enumerate(self.steps)}, self.rest.scope
        beliefs = self._beliefs(log_sum)
        found = []
        for scope in scopes:
            if not scope:
                found.append(np.ones([1] * len(kept)))
                continue
            whole = _reduced(beliefs[min(scope, key=place.__getitem__)], (*kept, *scope), log_sum)
            found.append(np.exp(_spread(whole, (*kept, *scope))))
        return found

    def _beliefs(self, over: Over) -> dict[int, LogFactor]:
        """Return the log-marginals of the table that each variable went out of, given what was kept."""
        place, kept = {variable: step for step, (variable, _) in enumerate(self.steps)}, self.rest.scope
        beliefs: dict[int, LogFactor] = {}
        for variable, whole in reversed(self.steps):
            above = tuple(other for other in whole.scope if other in place and other != variable)
            held = _conditional(whole, variable, over)
            if above:
                home = beliefs[min(above, key=place.__getitem__)]
                held = _added([held, _reduced(home, (*above, *kept), over)])
            beliefs[variable] = held
        return beliefs

    def ties(self, within: float) -> dict[int, tuple[int, ...]]:
        """Return the states of each variable that lead to the maximum, where it has several; none was kept."""
        found = {}
        for variable, belief in self._beliefs(greatest_of).items():
            equal = np.flatnonzero(_reduced(belief, (variable,), greatest_of).values >= -within)
            if len(equal) > 1:
                found[variable] = tuple(map(int, equal))
        return found

    def draw(self, sizes: Sequence[int], uniform: Callable[[], Floats], given: Codes | None = None) -> Codes:
        """Draw the codes of all variables; ``uniform`` gives one number a row, once a variable.

        The variables go in the order opposite to that of `steps`; ``given`` are the codes of those that were kept.
        """
        drawn: Codes = dict(given or {})
        for variable, whole in reversed(self.steps):
            above = tuple(other for other in whole.scope if other != variable)
            table = np.exp(_spread(_conditional(whole, variable), (*above, variable))).reshape(-1, sizes[variable])
            numbers = uniform()
            at = np.zeros(len(numbers), np.int64)
            for other in above:
                at = at * sizes[other] + drawn[other]
            drawn[variable] = inverted(table, at, numbers)
        return {variable: drawn[variable] for variable, _ in self.steps}

    def greatest(self) -> dict[int, int]:
        """Return the codes that lead to the maximum, when variables were maximised out and none was kept."""
        return {variable: int(code) for variable, code in self.greatest_given({}).items()}

    def greatest_given(self, kept: Codes) -> Codes:
        """Return the codes that lead to the maximum for each row of codes of the variables that were kept."""
        chosen: Codes = dict(kept)
        for variable, whole in reversed(self.steps):
            above = tuple(other for other in whole.scope if other != variable)
            columns = _spread(whole, (*above, variable))[tuple(chosen[other] for other in above)]
            chosen[variable] = first_of_greatest(columns)
        return {variable: chosen[variable] for variable, _ in self.steps}


def summed_out(names: Sequence[str], sizes: Sequence[int], factors: Sequence[LogFactor], kept: Sequence[int] = (),
               over: Over | None = None, rows: int | None = None) -> Summed:  # fmt: skip
    """Sum the product of some tables over all variables but a few.

    Parameters
    ----------
    names, sizes : sequences
        The name, for messages, and the number of states of every variable.
    factors : sequence of LogFactor
    kept : sequence of int
        The axes of what is left, in this order.
    over : callable, optional
        How a variable goes: `log_sum` unless another is given, such as `greatest_of`.
    rows : int, optional
        One of those kept that stands for rows. The order in which variables go, and with it what is drawn in a row,
        does not depend on how many there are.
    """
    space = Product(tuple(names), tuple(sizes), ())
    require_answer(space, kept)
    scopes = [factor.scope for factor in factors]
    order, cliques = _order(space, [*scopes, tuple(kept)], kept, rows)
    require_room(space, cliques)
    unit = [LogFactor((variable,), np.zeros(sizes[variable])) for variable in kept]
    steps, rest = _eliminated(factors, order, over or log_sum)
    return Summed(tuple(steps), LogFactor(tuple(kept), _spread(_added([*unit, *rest]), kept)))


def maximised(
    names: Sequence[str], sizes: Sequence[int], factors: Sequence[LogFactor], targets: Sequence[int]
) -> Summed:
    """Sum the product of some tables over all variables but the targets, and then maximise it over these.

    Sums come before maxima, which do not commute with them, so the tables that arise may be larger than those of a sum
    or of a maximum over all variables.
    """
    space = Product(tuple(names), tuple(sizes), ())
    scopes = [*(factor.scope for factor in factors), *((target,) for target in targets)]
    first, summed = _order(space, scopes, targets)
    summed = summed[: len(first)]
    left = [scope for scope in (*scopes, *(clique[1:] for clique in summed)) if set(scope) <= set(targets)]
    then, cliques = _order(space, left)
    require_room(space, [*summed, *cliques])
    unit = [LogFactor((target,), np.zeros(sizes[target])) for target in targets]
    _, rest = _eliminated(factors, first, log_sum)
    steps, rest = _eliminated([*rest, *unit], then, greatest_of)
    return Summed(tuple(steps), _added(rest))


def _eliminated(
    factors: Sequence[LogFactor], order: Sequence[int], over: Over
) -> tuple[list[tuple[int, LogFactor]], list[LogFactor]]:
    """Return each variable with the table that it went out of, and the tables that are left."""
    position = {variable: step for step, variable in enumerate(order)}
    waiting: dict[int, list[LogFactor]] = {variable: [] for variable in order}
    rest: list[LogFactor] = []

    def put(table: LogFactor) -> None:
        held = [variable for variable in table.scope if variable in position]
        (waiting[min(held, key=position.__getitem__)] if held else rest).append(table)

    for factor in factors:
        put(factor)
    steps = []
    for variable in order:
        whole = _added(waiting.pop(variable))
        steps.append((variable, whole))
        axis = whole.scope.index(variable)
        put(LogFactor(whole.scope[:axis] + whole.scope[axis + 1 :], over(whole.values, axis)))
    return steps, rest


def _order(
    space: Product, scopes: Sequence[Sequence[int]], kept: Sequence[int] = (), rows: int | None = None
) -> tuple[list[int], list[list[int]]]:
    """Return the variables to be summed out, in order, and the scopes of the tables that they go out of."""
    variables = sorted({variable for scope in scopes for variable in scope})
    place = {variable: index for index, variable in enumerate(variables)}
    sizes = [1 if variable == rows else space.sizes[variable] for variable in variables]
    inside = sum(1 << place[variable] for variable in kept)
    graph = BitGraph.of_scopes([[place[variable] for variable in scope] for scope in scopes], sizes)
    found = eliminate(graph, keep=inside)
    cliques = [[node, *bits(mask)] for node, mask in zip(found.order, found.later, strict=True)]
    n = len(variables) - len(kept)
    return [variables[at] for at in found.order[:n]], [[variables[at] for at in clique] for clique in cliques]


# Tables of logarithms -----------------------------------------------------------------------------------------


def log_sum(values: Floats, axis: int) -> Floats:
    """Return log Σ exp over one axis."""
    top = values.max(axis=axis, keepdims=True)
    safe = np.where(top > -math.inf, top, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        return np.asarray(np.log(np.exp(values - safe).sum(axis=axis)) + np.squeeze(safe, axis))


def greatest_of(values: Floats, axis: int) -> Floats:
    """Return the maximum over one axis."""
    return np.asarray(values.max(axis=axis))


def first_of_greatest(values: Floats) -> NDArray[np.int64]:
    """Return the place of the maximum over the last axis: the first place, where several are equal but for rounding."""
    return np.asarray(np.argmax(values >= values.max(axis=-1, keepdims=True) - ROUNDING, axis=-1), np.int64)


def log_of(table: Floats) -> Floats:
    """Return the logarithms of a table of probabilities."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(table))


def sliced(factor: LogFactor, seen: Mapping[int, int]) -> LogFactor:
    """Return the part of a table at what was seen."""
    index = tuple(seen.get(variable, slice(None)) for variable in factor.scope)
    return LogFactor(tuple(variable for variable in factor.scope if variable not in seen), factor.values[index])


def _added(tables: Sequence[LogFactor]) -> LogFactor:
    scope = tuple(sorted({variable for table in tables for variable in table.scope}))
    whole = np.zeros(())
    for table in tables:
        whole = whole + _spread(table, scope)
    return LogFactor(scope, whole)


def _spread(table: LogFactor, scope: Sequence[int]) -> Floats:
    """Return a table with its axes in the order of a larger scope, of length one where it has none."""
    order = sorted(range(len(table.scope)), key=lambda axis: scope.index(table.scope[axis]))
    shape = dict(zip(table.scope, table.values.shape, strict=True))
    return table.values.transpose(order).reshape([shape.get(variable, 1) for variable in scope])


def _reduced(table: LogFactor, scope: tuple[int, ...], over: Over) -> LogFactor:
    """Return a table without the variables that are not in a scope."""
    held, values = list(table.scope), table.values
    for variable in table.scope:
        if variable not in scope:
            values = over(values, held.index(variable))
            held.remove(variable)
    return LogFactor(tuple(held), values)


def _conditional(whole: LogFactor, variable: int, over: Over | None = None) -> LogFactor:
    """Return log p(variable | the rest of a table's scope), −inf where the rest is impossible."""
    axis = whole.scope.index(variable)
    total = np.expand_dims((over or log_sum)(whole.values, axis), axis)
    return LogFactor(whole.scope, whole.values - np.where(total > -math.inf, total, 0.0))


def inverted(rows: Floats, at: NDArray[np.int64], uniform: Floats) -> NDArray[np.int64]:
    """Return the column drawn in row ``at[i]`` by inverting its distribution function at ``uniform[i]``."""
    reached = np.cumsum(rows, axis=1)
    last = rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)  # rounding carries no draw past what is possible
    level = uniform * reached[at, -1]
    drawn = np.zeros(len(at), np.int64)
    for column in range(rows.shape[1] - 1):
        drawn += level >= reached[at, column]
    return np.asarray(np.minimum(drawn, last[at]), np.int64)
