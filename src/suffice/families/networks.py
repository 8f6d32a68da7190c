"""Bayesian networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import graph_facts, node_facts
from suffice.structures.dag import DAG

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.certify.observed_discrete import Observed
    from suffice.checking.questions import Claims
    from suffice.data.schema import Schema
    from suffice.learn.family import Plot, PosteriorForm
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.report.page.entries import ReportParts
    from suffice.report.static_graph import Drawing
    from suffice.result.family_fits import NetworkFit
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[DAG, BayesianNetwork]]:
    from suffice.learn import directed, directed_em

    return {
        "closed_form": directed.METHOD,
        "newton": directed.NEWTON,
        "em": directed_em.METHOD,
        "observed_lbfgs": directed_em.LBFGS,
    }


def _certify(claim: Claim[DAG, BayesianNetwork]) -> Certificate:
    from suffice.certify.directed import certify

    return certify(claim)


def _measure_observed(claim: Claim[DAG, BayesianNetwork]) -> Observed:
    """Measure tables exactly; other networks as the joint distribution that their nodes make."""
    from suffice.certify import observed, observed_discrete, observed_mixed

    if observed.is_discrete(claim):
        return observed_discrete.measured(claim)
    return observed_mixed.measured(claim)


def _model() -> type[BayesianNetwork]:
    from suffice.models.bayes_net import BayesianNetwork

    return BayesianNetwork


def _parts(model: BayesianNetwork, fit: Fit[BayesianNetwork, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.networks import network_parts

    return network_parts(model, fit)


def _plots() -> tuple[Plot, ...]:
    from suffice.report.page import plots

    return (plots.MATCH, plots.BARS, plots.COEFFICIENTS)


def _structure_of(model: BayesianNetwork, structure: object) -> DAG:
    """Return the network's graph, or a lone variable, which is a structure in its own right."""
    from suffice.structures.single import Categorical

    return structure if isinstance(structure, Categorical) and DAG(structure) == model.dag else model.dag


def _posteriors() -> dict[str, PosteriorForm]:
    from suffice.io.posterior_content import NETWORK

    return NETWORK


def _claims(structure: DAG, schema: Schema, most: int) -> Claims:
    from suffice.checking.questions import claims_of_dag

    return claims_of_dag(structure, schema, most)


def _draw(model: BayesianNetwork) -> Drawing:
    from suffice.report.static_graph import draw_network

    return draw_network(model)


def _result() -> type[NetworkFit]:
    from suffice.result.family_fits import NetworkFit

    return NetworkFit


FAMILY = Family(
    structures=(DAG,),
    methods=_methods,
    certify=_certify,
    result=_result,
    measure_observed=_measure_observed,
    models=(
        ModelEntry(
            "BayesianNetwork", "Bayesian network", _model, _parts, _plots, structure_of=_structure_of, draw=_draw
        ),
    ),
    files=lambda: {
        "DAG": StructureForm(DAG.from_dict, DAG, ("graph",), ("latent", "kinds", "tie", "divisor"), "a DAG")
    },
    posteriors=_posteriors,
    claims=_claims,
    describe=graph_facts,
    measure=node_facts,
)
