"""``suffice info STRUCTURE [DATA]``."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Annotated, Any

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
        from suffice.families import entry_of
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
            facts = _facts(found)
            if schema is not None:
                needs = choose(found, "auto", schema)[1].needs(found, schema)
                plan = make_plan(needs, schema)
                facts |= _planned(found, schema, needs, plan)
        facts |= _inference(model) if _is_discrete(model) else {}
        if as_json:
            tables = [] if plan is None else [vars(storage) for storage in plan.tables]
            print(json.dumps({**facts, "tables": tables}, ensure_ascii=False, indent=1))
            return
        _show(facts, plan)


def _schema(text: str, structure: Any, data: Any, weights: str | None) -> Any:
    """Return the variables with their states: from the data, or from a model file."""
    if data is not None:
        from suffice.fitting import collect

        return collect(structure, data, weights=weights).schema
    model = _model(text)
    return None if model is None else model.schema


def _model(text: str) -> Any:
    """Return the model of a file; None for text, or a structure file, of which no states are known."""
    from suffice.errors import SufficeError
    from suffice.io import read

    try:
        thing = read(text)
    except SufficeError:
        return None
    return getattr(thing, "model", thing)


def _is_discrete(model: Any) -> bool:
    return model is not None and all(variable.is_discrete for variable in model.schema.variables)


def _inference(model: Any) -> dict[str, Any]:
    """Say how large exact inference would be."""
    if not hasattr(model, "complexity"):
        return {}
    size = model.complexity()
    return {"width": size.width, "cells of all cliques": size.cells, "memory of exact inference": size.memory}


def _facts(structure: Any) -> dict[str, Any]:
    from suffice.families.facts import feature_facts, first_few

    facts: dict[str, Any] = {"structure": type(structure).__name__}
    if hasattr(structure, "nodes"):
        sizes = [len(above) for above in structure.parents.values()]
        facts |= {"nodes": len(structure.nodes), "edges": len(structure.edges), "most parents": max(sizes)}
    elif hasattr(structure, "divisor") and hasattr(structure, "cliques"):  # a normal distribution, without a graph
        n_free = structure.n_free
        return {**facts, "variables": len(structure.variables), "divisor": structure.divisor, "free parameters": n_free}
    elif hasattr(structure, "cliques"):
        facts |= {
            "variables": len(structure.variables),
            "cliques": len(structure.cliques),
            "largest clique": max(map(len, structure.cliques)),
            "edges": len(structure.edges),
        }
    elif hasattr(structure, "specs"):
        facts |= feature_facts(structure)
    elif hasattr(structure, "order"):
        facts |= _settings(structure)
    elif hasattr(structure, "inputs"):
        facts |= {"class": structure.target, "inputs": first_few(list(structure.inputs))}
    for name, fact in (("is_decomposable", "decomposable"), ("is_chordal", "chordal")):
        if hasattr(structure, name):
            facts[fact] = "yes" if getattr(structure, name) else "no"
    if isinstance(getattr(structure, "n_free", None), int):  # which does not depend on the data
        facts["free parameters"] = structure.n_free
    return facts


def _settings(structure: Any) -> dict[str, Any]:
    """Return what was said of a structure of sequences."""
    said = {name: value for name, value in structure.to_dict().items() if name != "type" and value is not None}
    written = {True: "yes", False: "no"}
    return {
        name: written[value] if isinstance(value, bool) else ", ".join(value) if isinstance(value, list) else value
        for name, value in said.items()
    }


def _planned(structure: Any, schema: Any, needs: Any, plan: Any) -> dict[str, Any]:
    """Return what follows from the variables of a table: parameters, and the sizes of statistics."""
    facts: dict[str, Any] = {}
    if hasattr(structure, "groups"):
        facts = _node_facts(structure, schema)
    elif hasattr(structure, "is_decomposable"):
        facts["free parameters"] = structure.n_free(schema)
    elif hasattr(structure, "specs"):
        facts["weights"] = len(structure.resolved(schema))
    elif hasattr(structure, "names_in"):
        names = structure.names_in(schema)
        facts |= {"variables": ", ".join(names), "free parameters": structure.n_free(len(names))}
    elif getattr(structure, "latent", ()) and hasattr(structure, "letters"):
        k = structure.state[1]
        shown = sum(variable.n_states - 1 if variable.is_discrete else 2 for variable in schema.variables)
        facts |= {"free parameters": k - 1 + k * (k - 1) + k * shown}
    elif hasattr(structure, "letters"):
        size = schema.variables[-1].n_states
        contexts = size**structure.order
        facts |= {"symbols": size, "contexts": contexts, "free parameters": size * contexts - 1}
    facts |= _moments(needs, schema)
    if plan.tables:
        return {**facts, "cells": plan.n_cells, "memory of dense tables": plan.n_bytes}
    return facts if "moments" in facts else {**facts, "statistics": "distinct rows"}


def _node_facts(structure: Any, schema: Any) -> dict[str, Any]:
    """Count parameters, and nodes by their kinds where these are not all tables."""
    from suffice.models.cpds import nodes_of

    nodes = nodes_of(structure, schema)
    leads = [nodes[group[0]] for group in structure.groups]
    kinds = Counter(kind.name.replace("_", "-") for kind, _ in nodes.values())
    said = {} if set(kinds) == {"tabular"} else {"kinds": ", ".join(f"{n:,} {name}" for name, n in kinds.items())}
    return {**said, "free parameters": sum(kind.n_free(family) for kind, family in leads)}


def _moments(needs: Any, schema: Any) -> dict[str, str]:
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


def _show(facts: dict[str, Any], plan: Any) -> None:
    from suffice.cli.show import show_facts, show_table
    from suffice.text import in_bytes

    shown = {name: in_bytes(value) if name.startswith("memory") else value for name, value in facts.items()}
    show_facts([(name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in shown.items()])
    if plan is not None and plan.tables:
        print()
        show_table(plan.cells())
