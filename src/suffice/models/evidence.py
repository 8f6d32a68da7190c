"""Evidence as users write it, with labels, and as the engine takes it, with codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, is_number, listing, require_mapping, shown
from suffice.inference.inquiry import Given


def targets_of(schema: Schema, targets: Any) -> tuple[int, ...]:
    """Return the positions of the variables asked for: one name, or several."""
    names = [targets] if isinstance(targets, str) else targets
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise ArgumentError(f"The targets must be a name or a list of names. Got {shown(targets)} instead.")
    found = [schema[name].name for name in names]
    if not found:
        raise ArgumentError("No target was named. Say which variables are asked for; marginals answers for all.")
    if len(set(found)) < len(found):
        raise ArgumentError(f"The targets {listing(found)} name a variable twice. Name each once.")
    return tuple(schema.positions[name] for name in found)


def given_of(schema: Schema, given: Any, targets: Iterable[int] = ()) -> Given:
    """Return the evidence in codes.

    A label is a state that was seen; a mapping from labels to likelihoods is soft evidence; a list of labels says that
    the state is one of these.
    """
    if given is None:
        return Given()
    place = schema.positions
    hard: dict[int, int] = {}
    soft: dict[int, NDArray[np.float64]] = {}
    for name, seen in require_mapping("given", given, "{'A': 'yes'}").items():
        variable = schema[name]
        if isinstance(seen, Mapping):
            soft[place[name]] = _weights(variable, seen.items())
        elif isinstance(seen, list | tuple | set | frozenset):
            soft[place[name]] = _weights(variable, [(label, 1.0) for label in seen])
        else:
            hard[place[name]] = variable.code(seen)
    for target in targets:
        if target in hard:
            name = schema.variables[target].name
            raise ArgumentError(f"Variable {name!r} is asked for and given at once. Leave it out of one of them.")
    return Given(hard, soft)


def _weights(variable: Variable, seen: Iterable[tuple[Any, Any]]) -> NDArray[np.float64]:
    weights = np.zeros(variable.n_states)
    for label, weight in seen:
        if not is_number(weight) or not 0 <= weight < np.inf:
            raise ArgumentError(
                f"The soft evidence on {variable.name!r} must give each state a likelihood, a number that is not "
                f"negative. Got {shown(weight)} for {label!r} instead."
            )
        weights[variable.code(label)] = weight
    if not weights.any():
        raise ArgumentError(
            f"The soft evidence on {variable.name!r} leaves no state possible. Give at least one of "
            f"{listing(variable.labels)} a positive likelihood."
        )
    return weights


def describe(schema: Schema, given: Given) -> list[str]:
    """Say each piece of evidence, ``A='yes'``."""
    variables = schema.variables
    hard = [f"{variables[v].name}={variables[v].labels[code]!r}" for v, code in given.hard.items()]
    return hard + [f"soft evidence on {variables[v].name}" for v in given.soft]
