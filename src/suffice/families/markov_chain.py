"""Markov chains and hidden Markov models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import setting_facts
from suffice.structures.markov_chain import MarkovChain

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.certify.observed_discrete import Observed
    from suffice.data.schema import Schema
    from suffice.learn.family import Facts, Plot, PosteriorForm
    from suffice.models.hidden_markov import HiddenMarkovModel
    from suffice.models.markov_chain import MarkovChainModel
    from suffice.report.page.entries import ReportParts
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure
    from suffice.types import Json

FEW_CONTEXTS = 10_000
"""Up to so many contexts the long run of a Markov chain is looked at."""


def _methods() -> dict[str, Method[MarkovChain, MarkovChainModel | HiddenMarkovModel]]:
    from suffice.learn import hidden_markov, markov_chain

    return {
        "closed_form": markov_chain.METHOD,
        "em": hidden_markov.METHOD,
    }


def _certify(claim: Claim[MarkovChain, MarkovChainModel | HiddenMarkovModel]) -> Certificate:
    from suffice.certify.claim import is_of
    from suffice.certify.markov_chain import certify
    from suffice.models.markov_chain import MarkovChainModel

    assert is_of(claim, MarkovChainModel)
    return certify(claim)


def _measure_observed(claim: Claim[MarkovChain, MarkovChainModel | HiddenMarkovModel]) -> Observed:
    from suffice.certify.claim import is_of
    from suffice.certify.observed_hidden_markov import measured
    from suffice.models.hidden_markov import HiddenMarkovModel

    assert is_of(claim, HiddenMarkovModel)
    return measured(claim)


def _model() -> type[MarkovChainModel]:
    from suffice.models.markov_chain import MarkovChainModel

    return MarkovChainModel


def _hidden_model() -> type[HiddenMarkovModel]:
    from suffice.models.hidden_markov import HiddenMarkovModel

    return HiddenMarkovModel


def _parts(model: MarkovChainModel, fit: Fit[MarkovChainModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.sequences import markov_parts

    return markov_parts(model, fit)


def _hidden_parts(model: HiddenMarkovModel, fit: Fit[HiddenMarkovModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.sequences import hidden_parts

    return hidden_parts(model, fit)


def _plots() -> tuple[Plot, ...]:
    from suffice.report.page import plots

    return (plots.STEPS,)


def _describe(model: MarkovChainModel) -> Facts:
    """Say what a Markov chain knows: its symbols and contexts, and where it goes in the long run."""
    import numpy as np

    from suffice.errors import ModelError

    last, size = model.tables[-1], model.variable.n_states
    contexts = size**model.order
    known = int((~np.isnan(last.values).any(axis=-1)).sum())
    if last.configurations is not None and last.default_row is not None and not np.isnan(last.default_row).any():
        known = contexts
    facts: dict[str, Json] = {"model": type(model).__name__, "order": model.order, "variable": model.variable.name}
    facts |= {"symbols": size, "contexts": contexts, "contexts known": known}
    if not model.order or known > FEW_CONTEXTS:
        return facts
    try:
        facts["irreducible"] = "yes" if model.is_irreducible else "no"
        facts |= {"period": model.period} if model.is_irreducible else {"classes": len(model.classes)}
    except ModelError:  # too large, after all
        return facts
    return facts


def _describe_hidden(model: HiddenMarkovModel) -> Facts:
    return {
        "model": type(model).__name__,
        "latent": model.state.name,
        "states": model.state.n_states,
        "variables": ", ".join(model.variables),
        "free parameters": model.n_free,
    }


def _posteriors() -> dict[str, PosteriorForm]:
    from suffice.io.posterior_content import MARKOV_CHAIN

    return MARKOV_CHAIN


def _measure(structure: MarkovChain, schema: Schema) -> Facts:
    """Count the parameters of a chain, observed or hidden."""
    if structure.latent:
        k = structure.state[1]
        shown = sum(variable.n_states - 1 if variable.is_discrete else 2 for variable in schema.variables)
        return {"free parameters": k - 1 + k * (k - 1) + k * shown}
    size = schema.variables[-1].n_states
    contexts = size**structure.order
    return {"symbols": size, "contexts": contexts, "free parameters": size * contexts - 1}


FAMILY = Family(
    structures=(MarkovChain,),
    methods=_methods,
    certify=_certify,
    measure_observed=_measure_observed,
    models=(
        ModelEntry(
            "MarkovChainModel",
            "Markov chain",
            _model,
            _parts,
            _plots,
            _describe,
            lambda model, structure: model.structure,
        ),
        ModelEntry(
            "HiddenMarkovModel",
            "hidden Markov model",
            _hidden_model,
            _hidden_parts,
            describe=_describe_hidden,
            structure_of=lambda model, structure: model.structure,
        ),
    ),
    files=lambda: {
        "MarkovChain": StructureForm(
            MarkovChain.from_dict,
            MarkovChain,
            ("order",),
            ("variable", "id", "time", "level", "letters", "latent"),
            "a Markov chain",
        )
    },
    posteriors=_posteriors,
    describe=setting_facts,
    measure=_measure,
)
