"""Target margins: counts of a table that nobody has seen, for which maxent is the fit of a Markov random field.

Scaling a table to new margins, raking, is the case where the base measure is the old table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema, SchemaLike, declarations
from suffice.data.variable import Variable
from suffice.errors import (
    ArgumentError,
    EstimationError,
    Remedy,
    SchemaError,
    Text,
    UnknownNameError,
    listing,
    made,
    shown,
    suggestion,
)
from suffice.inference.clique_family import Layout
from suffice.inference.facial_conflict import MAX_CELLS, Conflict, infeasibility
from suffice.inference.interactions import Interactions
from suffice.inference.product import possible_cells
from suffice.learn.matching import require_few_terms
from suffice.max_entropy.base import Posed, base_tables, labelled_variables, numbers_of, require_states
from suffice.models.clique_layout import factors_over, layout_of
from suffice.models.cpds.tabular import describe_configuration
from suffice.models.queries import Queries
from suffice.priors.penalty import Penalty
from suffice.stats.counts import Counts
from suffice.stats.needs import Count
from suffice.stats.statistics import Statistics
from suffice.structures.cliques import Cliques

LARGEST = 1e100
"""Numbers beyond this could overflow in sums."""


def problem_of(structure: Any, targets: Any, over: SchemaLike | None, base: Any, prior: Any = None) -> Posed:
    """Return cliques, statistics and base measure, checked for contradictions, which a penalty allows."""
    cliques = structure if isinstance(structure, Cliques) else Cliques(structure)
    schema = _schema(cliques, targets, over, base)
    tables = _tables(cliques, targets, schema)
    factors = base_tables(base, cliques.variables, schema, str(cliques))
    conflict = _conflict(cliques, schema, tables, factors)
    if conflict is None:
        return Posed(cliques, _statistics(cliques, schema, tables), factors)
    if conflict.kind == "totals" or not isinstance(prior, Penalty):
        raise EstimationError(_describe(conflict, cliques, schema))
    remark = f"{_contradiction(conflict, cliques, schema)} Under the penalty they are met approximately."
    require_few_terms(cliques)
    tables = _reconciled(layout_of(cliques, schema), tables)
    return Posed(cliques, _statistics(cliques, schema, tables, remark), factors)


# Reading the arguments ----------------------------------------------------------------------------------------


def _schema(cliques: Cliques, targets: Any, over: SchemaLike | None, base: Any) -> Schema:
    """Return the variables with their states, from whatever tells them."""
    known: dict[str, Variable] = {}
    for thing in (base, targets):
        for variable in labelled_variables(thing):
            known.setdefault(variable.name, variable)
    for name, declaration in declarations(over).items():
        if declaration.states is not None:
            known[name] = Variable(name, declaration.states, True)
    for name in cliques.variables:
        if name not in known:
            raise SchemaError(
                f"The states of {name!r} are not known. Pass over={{{name!r}: ['no', 'yes'], …}}, or labelled tables."
            )
    return Schema(tuple(known[name] for name in cliques.variables))


def _tables(cliques: Cliques, targets: Any, schema: Schema) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """Return one table a clique, its axes in the clique's order."""
    if isinstance(targets, Queries):
        require_states("The model of the targets", targets.schema.variables, schema)
        return [np.asarray(targets.query(list(clique)).values, np.float64) for clique in cliques.cliques]
    if isinstance(targets, Mapping):
        given = _by_names(list(targets.items()))
    elif isinstance(targets, list | tuple):
        if len(targets) != len(cliques.cliques) and not all(isinstance(table, LabelledTable) for table in targets):
            raise ArgumentError(
                f"There are {len(cliques.cliques)} cliques and {len(targets)} targets. Give one table a clique, in "
                "order, or a mapping from cliques to tables."
            )
        places = [*cliques.cliques, *[()] * len(targets)]
        named = [(t.names if isinstance(t, LabelledTable) else c, t) for t, c in zip(targets, places, strict=False)]
        given = _by_names(named)
    else:
        raise ArgumentError(
            "The 'targets' argument must be tables by clique, {('A', 'B'): [[0.1, 0.4], [0.3, 0.2]]}, a list of "
            f"tables, or a model. Got {shown(targets)} instead."
        )
    found, listed = [], [":".join(sorted(names)) for names in given]
    for clique in cliques.cliques:
        if frozenset(clique) not in given:
            raise ArgumentError(
                f"There is no target for the clique {':'.join(clique)}. The targets are for {listing(listed, 8)}."
            )
        found.append(_table(given.pop(frozenset(clique)), clique, schema))
    if given:
        name = ":".join(sorted(next(iter(given))))
        raise UnknownNameError(
            f"There is a target for {name}, which is none of the cliques {cliques}."
            + suggestion(name, [":".join(clique) for clique in cliques.cliques])
        )
    return found


def _by_names(targets: Sequence[tuple[Any, Any]]) -> dict[frozenset[str], Any]:
    """Return the targets by their sets of names; those of tables without labels say the order of the axes."""
    given: dict[frozenset[str], Any] = {}
    for key, table in targets:
        names = tuple(Cliques(key).variables) if isinstance(key, str) else key
        is_clique = isinstance(names, tuple) and names and all(isinstance(name, str) for name in names)
        if not is_clique or len(set(names)) < len(names) or (isinstance(key, str) and len(Cliques(key).cliques) > 1):
            raise ArgumentError(f"A target is named by its clique, ('A', 'B') or 'A:B'. Got {shown(key)} instead.")
        if frozenset(names) in given:
            raise ArgumentError(f"There are two targets for {listing(sorted(names))}. Give one of them.")
        given[frozenset(names)] = table if isinstance(table, LabelledTable) else Ordered(names, table)
    return given


class Ordered(NamedTuple):
    """A table and the names of its axes."""

    names: tuple[str, ...]
    values: Any


def _table(table: Any, clique: tuple[str, ...], schema: Schema) -> np.ndarray[Any, np.dtype[np.float64]]:
    what = f"The target of {':'.join(clique)}"
    if isinstance(table, LabelledTable):
        require_states(what, table.variables, schema)
    if isinstance(table, LabelledTable | Ordered):
        if frozenset(table.names) != frozenset(clique):
            raise ArgumentError(f"{what} is a table over {listing(table.names)}. Give one over its own variables.")
        shape = tuple(schema[name].n_states for name in table.names)
        table = numbers_of(what, table.values, shape).transpose([table.names.index(name) for name in clique])
    shape = tuple(schema[name].n_states for name in clique)
    values = numbers_of(what, table, shape)
    if not values.any() or not values.max() < LARGEST:
        fault = "too large" if values.any() else "zero everywhere"
        raise ArgumentError(f"{what} is {fault}. Give a margin with a positive, finite total.")
    return values


# The targets as statistics ------------------------------------------------------------------------------------


def _statistics(cliques: Cliques, schema: Schema, tables: Sequence[Any], *remarks: str) -> Statistics:
    total = float(tables[0].sum())
    items: dict[Any, Any] = {
        Count(clique): Counts.dense(tuple(schema[name] for name in clique), table)
        for clique, table in zip(cliques.cliques, tables, strict=True)
    }
    remark = f"The margins are targets given by hand, with the total {total:g}; AIC and BIC mean little here."
    return Statistics(schema, items, total, remarks=(remark, *remarks))


def _reconciled(layout: Layout, tables: Sequence[Any]) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """Return margins that agree on what they share: of every term's margins in the tables, the mean.

    Only the margins of terms are part of the objective, so that its value is that of the mean of all ways to take
    them from the tables. A cell of what is returned may be negative.
    """
    words = Interactions(layout)
    means = []
    for term in words.terms:
        told = []
        for scope, table in zip(layout.scopes, tables, strict=True):
            if set(term) <= set(scope):
                kept = table.sum(axis=tuple(axis for axis, v in enumerate(scope) if v not in term))
                named = [v for v in scope if v in term]
                told.append(kept.transpose([named.index(v) for v in term]))
        means.append(np.mean(told, axis=0))
    flat = words.adjoint(means)
    total = float(tables[0].sum())
    return [table + total / table.size for table in layout.tables(flat)]


def _conflict(
    cliques: Cliques, schema: Schema, tables: Sequence[Any], base: Sequence[LabelledTable]
) -> Conflict | None:
    """Return what no table can have together; refuse mass where the base measure leaves none."""
    layout = layout_of(cliques, schema)
    allowed = None
    if math.prod(layout.sizes) <= MAX_CELLS:
        allowed = possible_cells(factors_over(base, cliques.variables), layout.sizes)
        if not allowed.any():
            raise ArgumentError("The base measure is zero everywhere. Allow some cells.")
        _require_mass(cliques, schema, tables, allowed)
    return infeasibility(layout.sizes, layout.scopes, tables, allowed)


def _require_mass(cliques: Cliques, schema: Schema, tables: Sequence[Any], allowed: Any) -> None:
    """Refuse targets that give mass to what the base measure rules out."""
    place = {name: axis for axis, name in enumerate(cliques.variables)}
    for clique, table in zip(cliques.cliques, tables, strict=True):
        outside = tuple(axis for name, axis in place.items() if name not in clique)
        ranked = sorted(clique, key=place.__getitem__)
        left = allowed.any(axis=outside).transpose([ranked.index(name) for name in clique])
        if (~left & (table > 0)).any():
            cell = describe_configuration(tuple(schema[name] for name in clique), np.argwhere(~left & (table > 0))[0])
            raise EstimationError(
                f"The base measure rules out {cell}, but the target of {':'.join(clique)} gives it mass. Change the "
                "target, or allow some of these cells in the base."
            )


def _describe(conflict: Conflict, cliques: Cliques, schema: Schema) -> str:
    """Say what contradicts each other, and what to do about it."""
    remedy = "Change one of them, allow more cells in the base, or"
    if conflict.kind == "totals":
        names = [":".join(cliques.cliques[number]) for number in conflict.scopes]
        first, second = conflict.values
        return (
            f"The targets of {names[0]} and {names[1]} have different totals, {first!r} and {second!r}. "
            "Give all margins as probabilities, or as counts of the same rows."
        )
    if conflict.kind == "overlap":
        remedy = "Correct one of them, or"
    approximately = Text("meet all of them approximately, by a penalty: ", Remedy("prior", made("Gaussian", 1.0)), ".")
    return Text(f"{_contradiction(conflict, cliques, schema)} {remedy} ", approximately)


def _contradiction(conflict: Conflict, cliques: Cliques, schema: Schema) -> str:
    """Say which margins contradict each other, and by how much."""
    names = [":".join(cliques.cliques[number]) for number in conflict.scopes]
    if conflict.kind == "overlap":
        first, second = conflict.values
        where = describe_configuration(tuple(schema.variables[v] for v in conflict.variables), conflict.cell)
        return (
            f"The targets of {names[0]} and {names[1]} contradict each other: at {where} one gives {first!r} and the "
            f"other {second!r}."
        )
    return (
        f"No distribution has the targets of {listing(names, 8)} together, though they agree two by two: the nearest "
        f"one misses them by {conflict.discrepancy:.3g} in all."
    )
