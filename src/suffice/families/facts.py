"""Facts that ``suffice info`` shows of models of several families."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.text import probability, shorten

if TYPE_CHECKING:
    from suffice.models.chain_model import ChainModel
    from suffice.models.class_model import Posteriors
    from suffice.models.markov_net import MarkovNetwork
    from suffice.structures.features import Features


def first_few(texts: list[str], limit: int = 8) -> str:
    """List texts, the first few of many.

    >>> first_few(["a", "b", "c"], 2)
    'a, b, … 1 more'
    """
    more = [f"… {len(texts) - limit:,} more"] if len(texts) > limit else []
    return ", ".join([*texts[:limit], *more])


def classifier_facts(model: Posteriors) -> dict[str, object]:
    """Say which class a classifier finds from which inputs."""
    from suffice.models.class_model import ClassModel

    target, inputs = model.target, model.inputs
    discrete = sum(variable.is_discrete for variable in inputs)
    kinds = {"discrete inputs": discrete, "continuous inputs": len(inputs) - discrete}
    facts: dict[str, object] = {"model": type(model).__name__, "class": target.name}
    facts |= {"classes": first_few(list(map(str, target.labels)))}
    facts |= {"inputs": first_few([variable.name for variable in inputs])} | {k: n for k, n in kinds.items() if n}
    if isinstance(model, ClassModel):
        pairs = zip(target.labels, model.class_prior.tolist(), strict=True)
        facts["class probabilities"] = first_few([f"{shorten(str(label))} {probability(p)}" for label, p in pairs])
    return facts


def factor_facts(model: MarkovNetwork) -> dict[str, object]:
    """Say how large the tables of a product of factors are."""
    return {
        "model": type(model).__name__,
        "variables": len(model.variables),
        **({"weights": len(model.weights)} if hasattr(model, "weights") else {}),
        "factors": len(model.factors),
        "cells": sum(factor.values.size for factor in model.factors),
    }


def feature_facts(structure: Features) -> dict[str, object]:
    """Say of what a structure of features is made."""
    facts: dict[str, object] = {"variables": len(structure.variables)}
    if structure.given:
        facts["inputs"] = len(structure.given)
    if structure.continuous:
        facts["continuous variables"] = len(structure.continuous)
    if hasattr(structure, "edges"):
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
