"""The base measure of a max-ent problem, from whatever a user passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, UnknownNameError, listing, shown
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.log_linear_density import LogLinearDensity
from suffice.models.markov_net import MarkovNetwork
from suffice.models.queries import Queries
from suffice.stats.statistics import Statistics


@dataclass(frozen=True)
class Posed:
    """A max-ent problem: what is to be fitted, to what, and from where."""

    structure: Any
    statistics: Statistics
    base: tuple[Any, ...]


def base_tables(base: Any, variables: Sequence[str], schema: Schema, of: str) -> tuple[LabelledTable, ...]:
    """Return the base measure as labelled tables; ``of`` is what the variables are those of, for errors."""
    if base is None:
        return ()
    if isinstance(base, BayesianNetwork):
        base = base.to_markov_network()
    if isinstance(base, MarkovNetwork):
        tables: Sequence[Any] = base.factors
    elif isinstance(base, LabelledTable):
        tables = [base]
    elif isinstance(base, list | tuple) and base and all(isinstance(table, LabelledTable) for table in base):
        tables = base
    else:
        shape = tuple(variable.n_states for variable in schema.variables)
        if not isinstance(base, np.ndarray | list | tuple):
            raise ArgumentError(
                f"The 'base' argument must be a table, an array with an axis for each of {listing(variables)}, "
                f"or a model. Got {shown(base)} instead."
            )
        return (LabelledTable(schema.variables, numbers_of("The base table", base, shape), "h"),)
    found = []
    for table in tables:
        for name in table.names:
            if name not in schema:
                raise UnknownNameError(
                    f"The base measure is over {name!r}, which is in none of the targets: it is no variable of {of}. "
                    "Sum it out, or add it: as a clique, whose margin is then a target, or by "
                    "sf.Features(…, variables=…)."
                )
        require_states("The base measure", table.variables, schema)
        shape = tuple(variable.n_states for variable in table.variables)
        values = numbers_of("The base measure", table.values, shape)
        found.append(LabelledTable(tuple(schema[name] for name in table.names), values, "h"))
    return tuple(found)


def labelled_variables(thing: Any) -> list[Variable]:
    """Return the variables that a table, several of them, or a model know."""
    if isinstance(thing, LabelledTable):
        return list(thing.variables)
    if isinstance(thing, Queries | LogLinearDensity):
        return list(thing.schema.variables)
    held = thing.values() if isinstance(thing, Mapping) else thing if isinstance(thing, list | tuple) else ()
    return [variable for table in held if isinstance(table, LabelledTable) for variable in table.variables]


def numbers_of(what: str, table: Any, shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a table of finite numbers, not negative, of the right shape."""
    try:
        values = np.array(table, np.float64)
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    if values.shape != shape:
        raise ArgumentError(
            f"{what} must have the shape {shape}, one axis a variable and one place a state. "
            f"Got the shape {values.shape} instead."
        )
    bad = ~((values >= 0) & (values < np.inf))
    if bad.any():
        codes = tuple(int(code) for code in np.argwhere(bad)[0])
        raise ArgumentError(f"{what} must hold finite numbers, not negative. Got {values[codes]} at {codes}.")
    return values


def require_states(what: str, variables: Sequence[Variable], schema: Schema) -> None:
    """Refuse states that differ from those known."""
    for variable in variables:
        if variable.name in schema and not variable.has_states_of(schema[variable.name]):
            raise ArgumentError(
                f"{what} has the states {listing(variable.labels)} of {variable.name!r}; others have "
                f"{listing(schema[variable.name].labels)}. They must be equal, order included."
            )
