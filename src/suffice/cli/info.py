"""``suffice info STRUCTURE [DATA]``."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from suffice.cli.shared import JsonOption, NaOption, SeparatorOption, WeightsOption, reported, table


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
    as_json: JsonOption = False,
) -> None:
    """Describe a structure or model: its size and, with DATA, what its statistics would take."""
    with reported(as_json):
        from suffice.io.structure_file import read_structure

        model = None if data is not None else _model(structure)
        plan = None
        if hasattr(model, "factors"):
            facts = _factor_facts(model)
        elif model is not None and hasattr(model, "weights"):
            facts = {"model": type(model).__name__, **_feature_facts(model.features), "weights": len(model.weights)}
        elif model is not None and hasattr(model, "precision"):
            facts = {"model": type(model).__name__, "variables": len(model.variables), "edges": _n_edges(model)}
        else:
            found = read_structure(structure)
            schema = _schema(structure, found, data, weights, separator, na)
            facts = _facts(found)
            plan = None if schema is None else _plan(found, schema)
            if plan is not None:
                facts |= _planned(found, schema, plan)
        facts |= _inference(model)
        if as_json:
            tables = [] if plan is None else [vars(storage) for storage in plan.tables]
            print(json.dumps({**facts, "tables": tables}, ensure_ascii=False, indent=1))
            return
        _show(facts, plan)


def _schema(text: str, structure: Any, data: str | None, weights: str | None, separator: Any, na: Any) -> Any:
    """Return the variables with their states: from the data, or from a model file."""
    if data is not None:
        from suffice.fitting import collect

        return collect(structure, table(data, separator, na), weights=weights).schema
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


def _factor_facts(model: Any) -> dict[str, Any]:
    return {
        "model": type(model).__name__,
        "variables": len(model.variables),
        **({"weights": len(model.weights)} if hasattr(model, "weights") else {}),
        "factors": len(model.factors),
        "cells": sum(factor.values.size for factor in model.factors),
    }


def _n_edges(model: Any) -> int:
    """Count the pairs of variables that depend on each other given all others."""
    import numpy as np

    return int(np.triu(np.abs(model.partial_correlations) > 1e-12, 1).sum())


def _inference(model: Any) -> dict[str, Any]:
    """Say how large exact inference would be."""
    if not hasattr(model, "complexity"):
        return {}
    size = model.complexity()
    return {"width": size.width, "cells of all cliques": size.cells, "memory of exact inference": size.memory}


def _facts(structure: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"structure": type(structure).__name__}
    if hasattr(structure, "nodes"):
        sizes = [len(above) for above in structure.parents.values()]
        facts |= {"nodes": len(structure.nodes), "edges": len(structure.edges), "most parents": max(sizes)}
    elif hasattr(structure, "cliques"):
        facts |= {
            "variables": len(structure.variables),
            "cliques": len(structure.cliques),
            "largest clique": max(map(len, structure.cliques)),
            "edges": len(structure.edges),
        }
    elif hasattr(structure, "specs"):
        facts |= _feature_facts(structure)
    for name, fact in (("is_decomposable", "decomposable"), ("is_chordal", "chordal")):
        if hasattr(structure, name):
            facts[fact] = "yes" if getattr(structure, name) else "no"
    return facts


def _feature_facts(structure: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"variables": len(structure.variables)}
    if structure.given:
        facts["inputs"] = len(structure.given)
    if structure.continuous:
        facts["continuous variables"] = len(structure.continuous)
    if hasattr(structure, "edges"):
        facts["edges"] = len(structure.edges)
    else:
        facts["feature specifications"] = len(structure.specs)
    return {**facts, "scopes": len(structure.scopes), "largest scope": max(map(len, structure.scopes))}


def _plan(structure: Any, schema: Any) -> Any:
    from suffice.learn.registry import choose
    from suffice.stats.plan import plan

    return plan(choose(structure, "auto", schema)[1].needs(structure, schema), schema)


def _planned(structure: Any, schema: Any, plan: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if hasattr(structure, "groups"):
        from suffice.learn.directed import nodes_of

        nodes = nodes_of(structure, schema)
        leads = [nodes[group[0]] for group in structure.groups]
        facts["free parameters"] = sum(kind.n_free(family) for kind, family in leads)
    elif hasattr(structure, "is_decomposable"):
        facts["free parameters"] = structure.n_free(schema)
    elif hasattr(structure, "specs"):
        facts["weights"] = len(structure.resolved(schema))
    if not plan.tables:
        return {**facts, "statistics": "distinct rows"}
    return {**facts, "cells": plan.n_cells, "memory of dense tables": plan.n_bytes}


def _show(facts: dict[str, Any], plan: Any) -> None:
    from suffice.cli.show import show_facts, show_table
    from suffice.text import in_bytes

    shown = {name: in_bytes(value) if name.startswith("memory") else value for name, value in facts.items()}
    show_facts([(name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in shown.items()])
    if plan is not None and plan.tables:
        print()
        show_table(plan.cells())
