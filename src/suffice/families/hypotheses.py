"""Hypotheses of which one is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import first_few
from suffice.structures.hypotheses import Hypotheses

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.learn.family import Facts, PosteriorForm
    from suffice.models.hypothesis_mixture import HypothesisMixture
    from suffice.report.page.entries import ReportParts
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[Hypotheses, HypothesisMixture]]:
    from suffice.learn import enumeration

    return {
        "enumeration": enumeration.METHOD,
    }


def _certify(claim: Claim[Hypotheses, HypothesisMixture]) -> Certificate:
    from suffice.certify.enumeration import certify

    return certify(claim)


def _model() -> type[HypothesisMixture]:
    from suffice.models.hypothesis_mixture import HypothesisMixture

    return HypothesisMixture


def _parts(model: HypothesisMixture, fit: Fit[HypothesisMixture, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.hypotheses import mixture_parts

    return mixture_parts(model, fit)


def _describe(model: HypothesisMixture) -> Facts:
    """Say what the hypotheses are about, and how likely the likeliest of them are."""
    from suffice.text import probability, shorten

    pairs = sorted(zip(model.weights.tolist(), model.hypotheses.names, strict=True), key=lambda pair: -pair[0])
    return {
        "model": type(model).__name__,
        "variable": model.hypotheses.over,
        "outcomes": model.schema[model.hypotheses.over].n_states,
        "hypotheses": len(pairs),
        "weights": first_few([f"{shorten(name)} {probability(weight)}" for weight, name in pairs]),
    }


def _posteriors() -> dict[str, PosteriorForm]:
    from suffice.io.posterior_content import HYPOTHESES

    return HYPOTHESES


FAMILY = Family(
    structures=(Hypotheses,),
    methods=_methods,
    certify=_certify,
    models=(
        ModelEntry(
            "HypothesisMixture",
            "mixture of hypotheses",
            _model,
            _parts,
            describe=_describe,
            structure_of=lambda model, structure: model.hypotheses,
        ),
    ),
    files=lambda: {"Hypotheses": StructureForm(Hypotheses.from_dict, Hypotheses, ("sets",), ("over",), "a Hypotheses")},
    posteriors=_posteriors,
)
