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
    is_classifier,
    reported,
    table,
)
from suffice.errors import ModelError

FEW_CONTEXTS = 10_000
"""Up to so many contexts the long run of a Markov chain is looked at."""


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
        from suffice.cli.crf_report import model_facts
        from suffice.io.structure_file import read_structure
        from suffice.learn.registry import choose
        from suffice.stats.plan import plan as make_plan

        model = None if data is not None else _model(structure)
        plan = None
        if is_classifier(model):
            facts = _classifier_facts(model)
        elif hasattr(model, "layout"):
            facts = dict(model_facts(model))
        elif hasattr(model, "factors"):
            facts = _factor_facts(model)
        elif model is not None and hasattr(model, "hypotheses"):
            facts = _hypothesis_facts(model)
        elif model is not None and hasattr(model, "weights"):
            facts = {"model": type(model).__name__, **_feature_facts(model.features), "weights": len(model.weights)}
        elif model is not None and hasattr(model, "transition"):
            facts = _chain_facts(model)
        elif model is not None and hasattr(model, "forecast"):
            facts = _autoregression_facts(model)
        elif model is not None and hasattr(model, "decode"):
            facts = _hidden_facts(model)
        elif model is not None and hasattr(model, "precision"):
            facts = {"model": type(model).__name__, "variables": len(model.variables), "edges": _n_edges(model)}
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


def _factor_facts(model: Any) -> dict[str, Any]:
    return {
        "model": type(model).__name__,
        "variables": len(model.variables),
        **({"weights": len(model.weights)} if hasattr(model, "weights") else {}),
        "factors": len(model.factors),
        "cells": sum(factor.values.size for factor in model.factors),
    }


def _hypothesis_facts(model: Any) -> dict[str, Any]:
    """Say what the hypotheses are about, and how likely the likeliest of them are."""
    from suffice.text import probability, shorten

    pairs = sorted(zip(model.weights.tolist(), model.hypotheses.names, strict=True), key=lambda pair: -pair[0])
    return {
        "model": type(model).__name__,
        "variable": model.hypotheses.over,
        "outcomes": model.schema[model.hypotheses.over].n_states,
        "hypotheses": len(pairs),
        "weights": _named([f"{shorten(name)} {probability(weight)}" for weight, name in pairs]),
    }


def _chain_facts(model: Any) -> dict[str, Any]:
    """Say what a Markov chain knows: its symbols and contexts, and where it goes in the long run."""
    import numpy as np

    last, size = model.tables[-1], model.variable.n_states
    contexts = size**model.order
    known = int((~np.isnan(last.values).any(axis=-1)).sum())
    if last.configurations is not None and last.default_row is not None and not np.isnan(last.default_row).any():
        known = contexts
    facts = {"model": type(model).__name__, "order": model.order, "variable": model.variable.name, "symbols": size}
    facts |= {"contexts": contexts, "contexts known": known}
    if not model.order or known > FEW_CONTEXTS:
        return facts
    try:
        facts["irreducible"] = "yes" if model.is_irreducible else "no"
        facts |= {"period": model.period} if model.is_irreducible else {"classes": len(model.classes)}
    except ModelError:  # too large, after all
        return facts
    return facts


def _autoregression_facts(model: Any) -> dict[str, Any]:
    return {
        "model": type(model).__name__,
        "order": model.order,
        "variables": ", ".join(model.variables),
        "coefficients": model.coefficients.size,
        "spectral radius": f"{model.spectral_radius:.6g}",
        "stationary": "yes" if model.is_stationary else "no",
    }


def _hidden_facts(model: Any) -> dict[str, Any]:
    """Say what a hidden Markov model is of."""
    return {
        "model": type(model).__name__,
        "latent": model.state.name,
        "states": model.state.n_states,
        "variables": ", ".join(model.variables),
        "free parameters": model.n_free,
    }


def _classifier_facts(model: Any) -> dict[str, Any]:
    """Say which class a classifier finds from which inputs."""
    from suffice.text import probability, shorten

    target, inputs = model.target, model.inputs
    discrete = sum(variable.is_discrete for variable in inputs)
    kinds = {"discrete inputs": discrete, "continuous inputs": len(inputs) - discrete}
    facts = {"model": type(model).__name__, "class": target.name, "classes": _named(list(map(str, target.labels)))}
    facts |= {"inputs": _named([variable.name for variable in inputs])} | {k: n for k, n in kinds.items() if n}
    if hasattr(model, "class_prior"):
        pairs = zip(target.labels, model.class_prior.tolist(), strict=True)
        facts["class probabilities"] = _named([f"{shorten(str(label))} {probability(p)}" for label, p in pairs])
    return facts


def _named(texts: list[str], limit: int = 8) -> str:
    """List texts, the first few of many."""
    more = [f"… {len(texts) - limit:,} more"] if len(texts) > limit else []
    return ", ".join([*texts[:limit], *more])


def _n_edges(model: Any) -> int:
    """Count the pairs of variables that depend on each other given all others."""
    import numpy as np

    return int(np.triu(np.abs(model.partial_correlations) > 1e-12, 1).sum())


def _is_discrete(model: Any) -> bool:
    return model is not None and all(variable.is_discrete for variable in model.schema.variables)


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
        facts |= _feature_facts(structure)
    elif hasattr(structure, "order"):
        facts |= _settings(structure)
    elif hasattr(structure, "inputs"):
        facts |= {"class": structure.target, "inputs": _named(list(structure.inputs))}
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
