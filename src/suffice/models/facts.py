"""Facts that ``suffice info`` shows of models of several families."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.text import plural, probability, shorten

if TYPE_CHECKING:
    from suffice.data.schema import Schema
    from suffice.models.chain_model import ChainModel
    from suffice.models.class_model import Posteriors
    from suffice.models.graph_crf import GraphModel
    from suffice.models.markov_net import MarkovNetwork
    from suffice.structures.autoregression import Autoregression
    from suffice.structures.class_columns import ClassColumns
    from suffice.structures.dag import DAG
    from suffice.structures.features import Features
    from suffice.structures.markov_chain import MarkovChain
    from suffice.types import Json


def first_few(texts: list[str], limit: int = 8) -> str:
    """List texts, the first few of many.

    >>> first_few(["a", "b", "c"], 2)
    'a, b, … 1 more'
    """
    more = [f"… {len(texts) - limit:,} more"] if len(texts) > limit else []
    return ", ".join([*texts[:limit], *more])


def graph_facts(structure: DAG) -> dict[str, Json]:
    """Count the nodes and edges of a directed graph."""
    sizes = [len(above) for above in structure.parents.values()]
    return {"nodes": len(structure.nodes), "edges": len(structure.edges), "most parents": max(sizes)}


def node_facts(structure: DAG, schema: Schema) -> dict[str, Json]:
    """Count parameters, and nodes by their kinds where these are not all tables."""
    from collections import Counter

    from suffice.models.cpds import nodes_of

    nodes = nodes_of(structure, schema)
    leads = [nodes[group[0]] for group in structure.groups]
    kinds = Counter(kind.name.replace("_", "-") for kind, _ in nodes.values())
    facts: dict[str, Json] = {}
    if set(kinds) != {"tabular"}:
        facts["kinds"] = ", ".join(f"{n:,} {name}" for name, n in kinds.items())
    return facts | {"free parameters": sum(kind.n_free(family) for kind, family in leads)}


def column_facts(structure: ClassColumns) -> dict[str, Json]:
    """Name the class and the inputs of a classifier."""
    return {"class": structure.target, "inputs": first_few(list(structure.inputs))}


def setting_facts(structure: MarkovChain | Autoregression) -> dict[str, Json]:
    """Return the settings of a structure of sequences."""
    said = {name: value for name, value in structure.to_dict().items() if name != "type" and value is not None}
    return {name: _written(value) for name, value in said.items()}


def _written(value: Json) -> Json:
    """Write a switch as a word, and names with commas between them."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def classifier_facts(model: Posteriors) -> dict[str, Json]:
    """Say which class a classifier finds from which inputs."""
    from suffice.models.class_model import ClassModel

    target, inputs = model.target, model.inputs
    discrete = sum(variable.is_discrete for variable in inputs)
    kinds = {"discrete inputs": discrete, "continuous inputs": len(inputs) - discrete}
    facts: dict[str, Json] = {"model": type(model).__name__, "class": target.name}
    facts |= {"classes": first_few(list(map(str, target.labels)))}
    facts |= {"inputs": first_few([variable.name for variable in inputs])} | {k: n for k, n in kinds.items() if n}
    if isinstance(model, ClassModel):
        pairs = zip(target.labels, model.class_prior.tolist(), strict=True)
        facts["class probabilities"] = first_few([f"{shorten(str(label))} {probability(p)}" for label, p in pairs])
    return facts


def factor_facts(model: MarkovNetwork) -> dict[str, Json]:
    """Say how large the tables of a product of factors are."""
    from suffice.models.log_linear import LogLinear

    return {
        "model": type(model).__name__,
        "variables": len(model.variables),
        **({"weights": len(model.weights)} if isinstance(model, LogLinear) else {}),
        "factors": len(model.factors),
        "cells": sum(factor.values.size for factor in model.factors),
    }


def feature_facts(structure: Features) -> dict[str, Json]:
    """Say of what a structure of features is made."""
    from suffice.structures.pairwise import Pairwise

    facts: dict[str, Json] = {"variables": len(structure.variables)}
    if structure.given:
        facts["inputs"] = len(structure.given)
    if structure.continuous:
        facts["continuous variables"] = len(structure.continuous)
    if isinstance(structure, Pairwise):
        facts["edges"] = len(structure.edges)
    else:
        facts["feature specifications"] = len(structure.specs)
    return {**facts, "scopes": len(structure.scopes), "largest scope": max(map(len, structure.scopes))}


def chain_facts(model: ChainModel) -> list[tuple[str, str]]:
    """List what a model of labels of sequences is and how large, as (name, value)."""
    import numpy as np

    structure, layout = model.structure, model.layout
    names = "buckets" if structure.vocabulary.is_hashed else "attributes"
    n_zero = int(np.count_nonzero(model.weights == 0))
    zero = f", {n_zero:,} of which are zero" if n_zero else ""
    found = [
        ("model", structure.words),
        ("labels", f"{model.label.n_states:,}"),
        (names, f"{len(structure.vocabulary):,}"),
    ]
    if structure.step_vocabulary is not None:
        found.append((f"{names} of steps", f"{len(structure.step_vocabulary):,}"))
    return [*found, ("weights", f"{layout.size:,}{zero}")]


def class_subject(model: Posteriors) -> str:
    """Say which class a classifier finds, and from how many inputs."""
    return f"{shorten(model.target.name)} from {plural(len(model.inputs), 'input')}"


def label_subject(model: ChainModel | GraphModel) -> str:
    """Say how many labels a model of labels has."""
    return plural(model.label.n_states, "label")
