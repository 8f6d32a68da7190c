"""Gaussian Markov random fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.structures.gaussian_markov import GaussianMarkov

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.certify.observed_discrete import Observed
    from suffice.checking.questions import Claims
    from suffice.data.schema import Schema
    from suffice.learn.family import Facts, Plot, PosteriorForm
    from suffice.models.joint_normal import JointNormal
    from suffice.report.page.entries import ReportParts
    from suffice.report.static_graph import Drawing
    from suffice.result.family_fits import GaussianMarkovFit
    from suffice.result.fit import Fit
    from suffice.result.goodness import Goodness
    from suffice.stats.statistics import Statistics
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[GaussianMarkov, JointNormal]]:
    from suffice.learn import gaussian_markov, normal_expectation

    return {
        "closed_form": gaussian_markov.CLOSED_FORM,
        "newton": gaussian_markov.NEWTON,
        "ipf": gaussian_markov.SCALING,
        "em": normal_expectation.METHOD,
    }


def _certify(claim: Claim[GaussianMarkov, JointNormal]) -> Certificate:
    from suffice.certify.gaussian_markov import certify

    return certify(claim)


def _measure_observed(claim: Claim[GaussianMarkov, JointNormal]) -> Observed:
    from suffice.certify.observed_normal import measured

    return measured(claim)


def _model() -> type[JointNormal]:
    from suffice.models.joint_normal import JointNormal

    return JointNormal


def _parts(model: JointNormal, fit: Fit[JointNormal, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.undirected import normal_parts

    return normal_parts(model, fit)


def _plots() -> tuple[Plot, ...]:
    from suffice.report.page import plots

    return (plots.MATCH,)


def _describe(model: JointNormal) -> Facts:
    """Count the variables, and the pairs of them that depend on each other given all others."""
    import numpy as np

    n_edges = int(np.triu(np.abs(model.partial_correlations) > 1e-12, 1).sum())
    return {"model": type(model).__name__, "variables": len(model.variables), "edges": n_edges}


def _structure_of(model: JointNormal, structure: GaussianMarkov) -> object:
    """Return a structure of the model's variables; a distribution does not say which graph it is of."""
    return structure if model.names == structure.columns else model


def _posteriors() -> dict[str, PosteriorForm]:
    from suffice.io.posterior_content import GAUSSIAN

    return GAUSSIAN


def _goodness(fit: Fit[JointNormal, GaussianMarkov], statistics: Statistics) -> Goodness:
    from suffice.result.goodness import goodness_of_normal

    return goodness_of_normal(fit, statistics)


def _claims(structure: GaussianMarkov, schema: Schema, most: int) -> Claims:
    from suffice.checking.questions import claims_of_normal

    return claims_of_normal(structure, schema, most)


def _draw(model: JointNormal) -> Drawing:
    from suffice.report.static_graph import draw_normal

    return draw_normal(model)


def _describe_graph(structure: GaussianMarkov) -> Facts:
    return {
        "variables": len(structure.variables),
        "cliques": len(structure.cliques),
        "largest clique": max(map(len, structure.cliques)),
        "edges": len(structure.edges),
        "chordal": "yes" if structure.is_chordal else "no",
        "free parameters": structure.n_free,
    }


def _result() -> type[GaussianMarkovFit]:
    from suffice.result.family_fits import GaussianMarkovFit

    return GaussianMarkovFit


FAMILY = Family(
    structures=(GaussianMarkov,),
    methods=_methods,
    certify=_certify,
    result=_result,
    measure_observed=_measure_observed,
    models=(ModelEntry("JointNormal", "normal distribution", _model, _parts, _plots, _describe, _structure_of, _draw),),
    files=lambda: {
        "GaussianMarkov": StructureForm(GaussianMarkov.from_dict, GaussianMarkov, ("graph",), (), "a GaussianMarkov")
    },
    posteriors=_posteriors,
    goodness=_goodness,
    claims=_claims,
    describe=_describe_graph,
)
