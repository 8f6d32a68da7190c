"""One discrete variable alone: a Bayesian network of one node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import graph_facts, node_facts
from suffice.structures.single import Bernoulli, Categorical

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.checking.questions import Claims
    from suffice.data.schema import Schema
    from suffice.learn.family import PosteriorForm
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.result.family_fits import NetworkFit
    from suffice.structures.dag import DAG


def _methods() -> dict[str, Method[Categorical, BayesianNetwork]]:
    from suffice.learn import single

    return {
        "closed_form": single.METHOD,
    }


def _certify(claim: Claim[Categorical, BayesianNetwork]) -> Certificate:
    from suffice.certify.directed import certify

    return certify(claim)


def _posteriors() -> dict[str, PosteriorForm]:
    from suffice.io.posterior_content import NETWORK

    return NETWORK


def _claims(structure: DAG, schema: Schema, most: int) -> Claims:
    from suffice.checking.questions import claims_of_dag

    return claims_of_dag(structure, schema, most)


def _result() -> type[NetworkFit]:
    from suffice.result.family_fits import NetworkFit

    return NetworkFit


FAMILY = Family(
    structures=(Bernoulli, Categorical),
    methods=_methods,
    certify=_certify,
    result=_result,
    files=lambda: {
        "Bernoulli": StructureForm(Bernoulli.from_dict, Bernoulli, ("variable",), ("states",), "a Bernoulli variable"),
        "Categorical": StructureForm(
            Categorical.from_dict, Categorical, ("variable",), ("states",), "a categorical variable"
        ),
    },
    posteriors=_posteriors,
    claims=_claims,
    describe=graph_facts,
    measure=node_facts,
)
