"""Target expectations: what features shall have in the mean, given by hand or taken from data or a model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.data.schema import Schema, SchemaLike, declarations
from suffice.data.variable import Variable
from suffice.errors import ArgumentError, Mention, SchemaError, UnknownNameError, listing, shown, suggestion
from suffice.fitting import collect
from suffice.max_entropy.base import Posed, base_tables, labelled_variables, require_states
from suffice.models.feature_base import BaseTerm
from suffice.models.feature_design import design_of
from suffice.models.log_linear_density import LogLinearDensity
from suffice.models.queries import AnyQueries, Queries
from suffice.stats.statistics import Statistics
from suffice.stats.sums import Sums
from suffice.structures.feature_functions import FunctionSpec, feature
from suffice.structures.feature_rules import Called
from suffice.structures.features import Features
from suffice.types import Floats

MOST_CELLS = 1 << 20
"""A function as base measure is tabulated up to so many configurations."""


def problem_of(structure: Features, targets: Any, over: SchemaLike | None, base: Any) -> Posed:
    """Return structure, statistics and base measure."""
    if structure.given:
        raise ArgumentError(
            "Maximum entropy given inputs needs their data: sf.fit(structure, data) is the conditional max-ent model. "
            "Leave the inputs out, or fit."
        )
    statistics = targets if isinstance(targets, Statistics) else None
    if statistics is None and _is_data(targets):
        statistics = collect(structure, targets, schema=over)
    if statistics is not None:
        return Posed(structure, statistics, _base(base, structure, statistics.schema))
    schema = _schema(structure, targets, over, base)
    names = tuple(feature.name for feature in structure.resolved(schema))
    values = _values(structure, targets, names, schema)
    remark = "The expectations are targets given by hand; AIC and BIC mean little here."
    found = Statistics(schema, {Sums("features", values).need: Sums("features", values)}, 1.0, remarks=(remark,))
    return Posed(structure, found, _base(base, structure, schema))


def _is_data(targets: Any) -> bool:
    if isinstance(targets, Mapping):
        return bool(targets) and all(not isinstance(v, str) and isinstance(v, Sequence | np.ndarray) and np.ndim(v) == 1
                                     for v in targets.values())  # fmt: skip
    if isinstance(targets, Number | np.ndarray | list | tuple | Queries | LogLinearDensity):
        return False
    return targets is not None


def _schema(structure: Features, targets: Any, over: SchemaLike | None, base: Any) -> Schema:
    """Return the variables with their states, from whatever tells them."""
    known: dict[str, Variable] = {}
    for thing in (base, targets):
        for variable in labelled_variables(thing):
            known.setdefault(variable.name, variable)
    for name, declaration in declarations(over).items():
        if declaration.states is not None and name in structure.continuous:
            raise SchemaError(
                f"The variable {name!r} has states and a support. Leave it out of over=, or out of the support."
            )
        if declaration.states is not None:
            known[name] = Variable(name, declaration.states, True)
        elif name not in structure.continuous:
            raise SchemaError(
                f"The states of {name!r} are not known. List them, over={{{name!r}: ['no', 'yes']}}, or give it a "
                "support, ",
                Mention("support", f"sf.Features(…, support={{{name!r}: (0, 1)}})"),
                ".",
            )
    for name in structure.continuous:
        known[name] = Variable(name)
    for name in structure.variables:
        if name not in known:
            raise SchemaError(
                f"The states of {name!r} are not known. Pass over={{{name!r}: ['no', 'yes'], …}}, a base that has "
                "them, or a support for a continuous variable, ",
                Mention("support", f"sf.Features(…, support={{{name!r}: (0, 1)}})"),
                ".",
            )
    return Schema(tuple(known[name] for name in structure.variables))


def _values(structure: Features, targets: Any, names: Sequence[str], schema: Schema) -> Floats:
    if isinstance(targets, LogLinearDensity):
        require_states("The model", targets.schema.variables, schema)
        return targets.means_of(structure.resolved(targets.schema))
    if isinstance(targets, Queries):
        return _expectations(structure, targets, schema)
    if isinstance(targets, Mapping):
        for name in targets:
            if name not in names:
                raise UnknownNameError(
                    f"There is a target for {name!r}, which is no feature. The features are {listing(names, 12)}."
                    + suggestion(name, names)
                )
        for name in names:
            if name not in targets:
                raise ArgumentError(
                    f"There is no target for the feature {name!r}. The targets are for {listing(targets, 8)}."
                )
        targets = [targets[name] for name in names]
    try:
        found = np.array(targets, np.float64)
    except (TypeError, ValueError):
        found = np.full(0, np.nan)
    if found.ndim == 0 and len(names) == 1:
        found = found.reshape(1)
    if found.shape != (len(names),) or not np.isfinite(found).all():
        raise ArgumentError(
            f"The 'targets' argument must hold {len(names)} finite numbers, one for each of {listing(names, 6)}; or be "
            f"a mapping from features' names, a model, or data. Got {shown(targets)} instead."
        )
    return found


def _expectations(structure: Features, model: AnyQueries, schema: Schema) -> Floats:
    """Return the expectations of the features under a model."""
    if structure.continuous:
        raise ArgumentError(
            f"The targets are those of a model with discrete variables only; {listing(sorted(structure.continuous))} "
            "here are continuous. Give the targets as numbers."
        )
    design = design_of(structure, schema)
    require_states("The model", model.schema.variables, schema)
    tables: list[Any] = [model._table([design.names[v] for v in scope]).values for scope in design.layout.scopes]
    return design.moments(design.layout.flat(tables))


def _base(base: Any, structure: Features, schema: Schema) -> tuple[Any, ...]:
    """Return the base measure as tables, and functions where variables are continuous."""
    bare = isinstance(base, np.ndarray | list | tuple) and not labelled_variables(base)
    if isinstance(base, LogLinearDensity) or (structure.continuous and bare):
        raise ArgumentError(
            f"The base measure over {listing(structure.variables)}, continuous variables among them, must be a "
            "function of these, such as lambda x: math.exp(-x), or a table of discrete ones. Got "
            f"{shown(base)} instead."
        )
    if not callable(base) or isinstance(base, Queries | type):
        return _possible(base_tables(base, structure.variables, schema, "these features"))
    spec: FunctionSpec = feature(base, over=structure.variables, name="base")
    rule = spec.resolved(schema)[0].terms[0].rule
    assert isinstance(rule, Called)
    if structure.continuous:
        return (BaseTerm(structure.variables, rule),)
    sizes = tuple(variable.n_states for variable in schema.variables)
    if math.prod(sizes) > MOST_CELLS:
        raise ArgumentError(
            f"A function as base measure is tabulated over all variables, here {math.prod(sizes):,} configurations, "
            f"and at most {MOST_CELLS:,} are allowed. Pass tables over fewer variables, base=[…]."
        )
    table = np.zeros(math.prod(sizes))
    places, values = rule.cells(sizes)
    table[places] = values
    whole = LabelledTable(schema.variables, table.reshape(sizes), "h")
    return _possible(base_tables(whole, structure.variables, schema, "these features"))


def _possible(tables: tuple[LabelledTable, ...]) -> tuple[LabelledTable, ...]:
    for table in tables:
        if not table.values.any():
            raise ArgumentError(f"The base measure over {listing(table.names)} is zero everywhere. Allow some cells.")
    return tables
