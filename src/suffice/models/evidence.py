"""Evidence as users write it, with labels, and as the engine takes it, with codes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

import numpy as np

from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, is_number, listing, require_mapping, shown
from suffice.inference.conditional_gaussian import Seen
from suffice.inference.inquiry import Given
from suffice.text import number
from suffice.types import Floats
from suffice.values import Label

Targets: TypeAlias = "str | Iterable[str]"
"""The variables asked for: one name, or several."""
Likelihoods: TypeAlias = "Mapping[str, float] | Mapping[int, float] | Mapping[float, float] | Mapping[bool, float]"
Observation: TypeAlias = "Label | np.generic | Collection[Label] | Likelihoods"
"""What was seen of a variable: a state or a number, some states of which it is one, or likelihoods of states."""
Evidence: TypeAlias = "Mapping[str, Observation]"
"""What was seen, by variable."""


def targets_of(schema: Schema, targets: Targets) -> tuple[int, ...]:
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


def given_of(schema: Schema, given: Evidence | None, targets: Iterable[int] = ()) -> Given:
    """Return the evidence in codes.

    A label is a state that was seen; a mapping from labels to likelihoods is soft evidence; a list of labels says that
    the state is one of these.
    """
    if given is None:
        return Given()
    place = schema.positions
    hard: dict[int, int] = {}
    soft: dict[int, Floats] = {}
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


def seen_of(schema: Schema, given: Evidence | None, targets: Iterable[int] = ()) -> Seen:
    """Return the evidence on discrete variables in codes, as `given_of` does, and on continuous ones as numbers."""
    known = {} if given is None else require_mapping("given", given, "{'A': 'yes', 'x': 1.2}")
    discrete = {name: value for name, value in known.items() if schema[name].is_discrete}
    values: dict[int, Floats] = {}
    for name, value in known.items():
        if name in discrete:
            continue
        if not is_number(value) or not math.isfinite(value):
            raise ArgumentError(
                f"The value given for {name!r} must be a finite number, since the variable is continuous. "
                f"Got {shown(value)} instead."
            )
        values[schema.positions[name]] = np.array([float(value)])
    for target in targets:
        if target in values:
            name = schema.variables[target].name
            raise ArgumentError(f"Variable {name!r} is asked for and given at once. Leave it out of one of them.")
    coded = given_of(schema, discrete, targets)
    return Seen(coded.hard, coded.soft, values)


def _weights(variable: Variable, seen: Iterable[tuple[Label, float]]) -> Floats:
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


def describe(schema: Schema, given: Given | Seen) -> list[str]:
    """Say each piece of evidence, ``A='yes'``."""
    variables = schema.variables
    hard = [f"{variables[v].name}={variables[v].labels[code]!r}" for v, code in given.hard.items()]
    values = given.values if isinstance(given, Seen) else {}
    hard += [f"{variables[v].name}={number(float(value[0]))}" for v, value in values.items()]
    return hard + [f"soft evidence on {variables[v].name}" for v in given.soft]
