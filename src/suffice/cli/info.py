"""``suffice info STRUCTURE [DATA]``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.shared import (
    JsonOption,
    NamesOption,
    NaOption,
    SeparatorOption,
    SkipOption,
    TrimOption,
    WeightsOption,
    reported,
    table,
)

if TYPE_CHECKING:
    from suffice.data.schema import Schema
    from suffice.learn.family import Facts
    from suffice.models.model import Model
    from suffice.stats.needs import Need
    from suffice.stats.plan import CountPlan
    from suffice.structures.structure import Structure
    from suffice.types import Json, TableLike


def info(
    structure: Annotated[
        str,
        typer.Argument(
            metavar="STRUCTURE", help="'A -> B', '[A][B|A]', 'A:B + B:C', a model file, or a structure file."
        ),
    ],
    data: Annotated[str | None, typer.Argument(metavar="DATA", help="A table, to plan a fit of it.")] = None,
    weights: WeightsOption = None,
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    as_json: JsonOption = False,
) -> None:
    """Describe a structure or model: its size and, with DATA, what its statistics would take."""
    with reported(as_json):
        from suffice.families import entry_of, family_of
        from suffice.families.choice import choose
        from suffice.io.structure_file import read_structure
        from suffice.stats.plan import plan as make_plan

        model = None if data is not None else _model(structure)
        plan = None
        entry = None if model is None else entry_of(model)
        if entry is not None and entry.describe is not None:
            facts = dict(entry.describe(model))
        else:
            found = read_structure(structure)
            rows = None if data is None else table(data, separator, na, names, skip, trim)
            schema = _schema(structure, found, rows, weights)
            family = family_of(found)
            facts = {"structure": type(found).__name__, **family.describe(found)}
            if schema is not None:
                needs = choose(found, "auto", schema)[1].needs(found, schema)
                plan = make_plan(needs, schema)
                facts |= _planned(family.measure(found, schema), needs, schema, plan)
        facts |= _inference(model)
        if as_json:
            tables = [] if plan is None else [vars(storage) for storage in plan.tables]
            print(json.dumps({**facts, "tables": tables}, ensure_ascii=False, indent=1))
            return
        _show(facts, plan)


def _schema(text: str, structure: Structure, data: TableLike | None, weights: str | None) -> Schema | None:
    """Return the variables with their states: from the data, or from a model file."""
    if data is not None:
        from suffice.fitting import collect

        return collect(structure, data, weights=weights).schema
    model = _model(text)
    return None if model is None else model.schema


def _model(text: str) -> Model | None:
    """Return the model of a file; None for text, or a structure file, of which no states are known."""
    from suffice.errors import SufficeError
    from suffice.io import read
    from suffice.models.capabilities import model_of

    try:
        model: Model = model_of(read(text))
    except SufficeError:
        return None
    return model


def _inference(model: Model | None) -> Facts:
    """Say how large exact inference would be, among discrete variables."""
    from suffice.models.capabilities import HasComplexity

    if model is None or not all(variable.is_discrete for variable in model.schema.variables):
        return {}
    if not isinstance(model, HasComplexity):
        return {}
    size = model.complexity()
    return {"width": size.width, "cells of all cliques": size.cells, "memory of exact inference": size.memory}


def _planned(facts: Facts, needs: Iterable[Need], schema: Schema, plan: CountPlan) -> Facts:
    """Return what follows from the variables of a table: parameters, and the sizes of statistics."""
    facts = {**facts, **_moments(needs, schema)}
    if plan.tables:
        return {**facts, "cells": plan.n_cells, "memory of dense tables": plan.n_bytes}
    return facts if "moments" in facts else {**facts, "statistics": "distinct rows"}


def _moments(needs: Iterable[Need], schema: Schema) -> dict[str, str]:
    """Say how many matrices of moments there are, one for each configuration of what they are taken by."""
    from suffice.stats.needs import Moment
    from suffice.text import plural

    found = [need for need in needs if isinstance(need, Moment)]
    if not found:
        return {}
    number = sum(math.prod(schema[name].n_states for name in need.by) for need in found)
    matrices = "1 matrix" if number == 1 else f"{number:,} matrices"
    largest = max(len(need.xs) for need in found)
    return {"moments": f"{matrices} of {'' if len(found) == 1 else 'up to '}{plural(largest, 'column')}"}


def _show(facts: Facts, plan: CountPlan | None) -> None:
    from suffice.cli.show import show_facts, show_table
    from suffice.text import in_bytes

    def words(name: str, value: Json) -> str:
        if not isinstance(value, int):
            return str(value)
        return in_bytes(value) if name.startswith("memory") else f"{value:,}"

    show_facts([(name, words(name, value)) for name, value in facts.items()])
    if plan is not None and plan.tables:
        print()
        show_table(plan.cells())
