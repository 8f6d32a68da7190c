"""Log-linear models of cliques: Markov networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import factor_facts
from suffice.structures.cliques import Cliques

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.certify.observed_discrete import Observed
    from suffice.checking.questions import Claims
    from suffice.data.schema import Schema
    from suffice.learn.family import Facts, Plot, PosteriorForm
    from suffice.models.markov_net import MarkovNetwork
    from suffice.report.page.entries import ReportParts
    from suffice.report.static_graph import Drawing
    from suffice.result.family_fits import CliquesFit
    from suffice.result.fit import Fit
    from suffice.result.goodness import Goodness
    from suffice.stats.statistics import Statistics
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[Cliques, MarkovNetwork]]:
    from suffice.learn import decomposable, ipf, laplace, likelihood, undirected_em

    return {
        "closed_form": decomposable.METHOD,
        "adaptive": ipf.ADAPTIVE,
        "newton": likelihood.NEWTON,
        "lbfgs": likelihood.LBFGS,
        "cg": likelihood.CG,
        "ipf": ipf.METHOD,
        "gradient": likelihood.GRADIENT,
        "proximal": laplace.METHOD,
        "em": undirected_em.CLIQUES,
    }


def _certify(claim: Claim[Cliques, MarkovNetwork]) -> Certificate:
    from suffice.certify.cliques import certify

    return certify(claim)


def _measure_observed(claim: Claim[Cliques, MarkovNetwork]) -> Observed:
    from suffice.certify.observed_undirected import measured_cliques

    return measured_cliques(claim)


def _model() -> type[MarkovNetwork]:
    from suffice.models.markov_net import MarkovNetwork

    return MarkovNetwork


def _parts(model: MarkovNetwork, fit: Fit[MarkovNetwork, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.undirected import field_parts

    return field_parts(model, fit)


def _plots() -> tuple[Plot, ...]:
    from suffice.report.page import plots

    return (plots.MATCH, plots.MOSAIC)


def _structure_of(model: MarkovNetwork, structure: object) -> object:
    """Return the cliques whose factors come first; a base measure and a support may follow."""
    if not isinstance(structure, Cliques) or set(structure.variables) != set(model.variables):
        return model.cliques
    n = len(model.scopes) - int(model.properties.get("base", 0))
    return structure if model.scopes[:n] == structure.cliques else model.cliques


def _posteriors() -> dict[str, PosteriorForm]:
    from suffice.io.posterior_content import CLIQUES

    return CLIQUES


def _goodness(fit: Fit[MarkovNetwork, Cliques], statistics: Statistics) -> Goodness:
    from suffice.result.goodness import goodness_of_table

    return goodness_of_table(fit, statistics)


def _claims(structure: Cliques, schema: Schema, most: int) -> Claims:
    from suffice.checking.questions import claims_of_scopes

    return claims_of_scopes(structure, schema, most)


def _draw(model: MarkovNetwork) -> Drawing:
    from suffice.report.static_graph import draw_field

    return draw_field(model)


def _describe_cliques(structure: Cliques) -> Facts:
    return {
        "variables": len(structure.variables),
        "cliques": len(structure.cliques),
        "largest clique": max(map(len, structure.cliques)),
        "edges": len(structure.edges),
        "decomposable": "yes" if structure.is_decomposable else "no",
    }


def _measure(structure: Cliques, schema: Schema) -> Facts:
    return {"free parameters": structure.n_free(schema)}


def _result() -> type[CliquesFit]:
    from suffice.result.family_fits import CliquesFit

    return CliquesFit


FAMILY = Family(
    structures=(Cliques,),
    methods=_methods,
    certify=_certify,
    result=_result,
    measure_observed=_measure_observed,
    models=(
        ModelEntry("MarkovNetwork", "Markov random field", _model, _parts, _plots, factor_facts, _structure_of, _draw),
    ),
    files=lambda: {"Cliques": StructureForm(Cliques.from_dict, Cliques, ("graph",), ("take", "latent"), "a Cliques")},
    posteriors=_posteriors,
    goodness=_goodness,
    claims=_claims,
    describe=_describe_cliques,
    measure=_measure,
)
