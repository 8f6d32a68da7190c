"""Normal distributions without a graph, of one variable or several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, StructureForm
from suffice.learn.method import Method
from suffice.structures.single import MultivariateNormal, Normal

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.certify.observed_discrete import Observed
    from suffice.checking.questions import Claims
    from suffice.data.schema import Schema
    from suffice.learn.family import Facts, PosteriorForm
    from suffice.models.joint_normal import JointNormal
    from suffice.result.family_fits import GaussianMarkovFit
    from suffice.result.fit import Fit
    from suffice.result.goodness import Goodness
    from suffice.stats.statistics import Statistics


def _methods() -> dict[str, Method[MultivariateNormal, JointNormal]]:
    from suffice.learn import gaussian_markov, normal_expectation

    return {
        "closed_form": gaussian_markov.CLOSED_FORM,
        "em": normal_expectation.METHOD,
    }


def _certify(claim: Claim[MultivariateNormal, JointNormal]) -> Certificate:
    from suffice.certify.gaussian_markov import certify

    return certify(claim)


def _measure_observed(claim: Claim[MultivariateNormal, JointNormal]) -> Observed:
    from suffice.certify.observed_normal import measured

    return measured(claim)


def _posteriors() -> dict[str, PosteriorForm]:
    from suffice.io.posterior_content import GAUSSIAN

    return GAUSSIAN


def _goodness(fit: Fit[JointNormal, MultivariateNormal], statistics: Statistics) -> Goodness:
    from suffice.result.goodness import goodness_of_normal

    return goodness_of_normal(fit, statistics)


def _claims(structure: MultivariateNormal, schema: Schema, most: int) -> Claims:
    from suffice.checking.questions import claims_of_normal

    return claims_of_normal(structure, schema, most)


def _describe(structure: MultivariateNormal) -> Facts:
    n_free = structure.n_free
    return {"variables": len(structure.variables), "divisor": structure.divisor, "free parameters": n_free}


def _result() -> type[GaussianMarkovFit]:
    from suffice.result.family_fits import GaussianMarkovFit

    return GaussianMarkovFit


FAMILY = Family(
    structures=(MultivariateNormal, Normal),
    methods=_methods,
    certify=_certify,
    result=_result,
    measure_observed=_measure_observed,
    files=lambda: {
        "MultivariateNormal": StructureForm(
            MultivariateNormal.from_dict, MultivariateNormal, ("variables",), ("divisor",), "a multivariate normal"
        ),
        "Normal": StructureForm(Normal.from_dict, Normal, ("variable",), ("divisor",), "a normal distribution"),
    },
    posteriors=_posteriors,
    goodness=_goodness,
    claims=_claims,
    describe=_describe,
)
