"""Log-linear models of features: Ising models, Boltzmann machines, Potts models, densities, conditional models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import factor_facts, feature_facts
from suffice.structures.features import Features

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.certify.observed_discrete import Observed
    from suffice.checking.questions import Claims
    from suffice.data.schema import Schema
    from suffice.learn.family import Facts, Plot
    from suffice.models.conditional_log_linear import ConditionalLogLinear
    from suffice.models.feature_design import FeatureModel
    from suffice.models.log_linear import LogLinear
    from suffice.models.log_linear_density import LogLinearDensity
    from suffice.report.page.entries import ReportParts
    from suffice.report.static_graph import Drawing
    from suffice.result.family_fits import FeaturesFit
    from suffice.result.fit import Fit
    from suffice.result.goodness import Goodness
    from suffice.stats.statistics import Statistics
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[Features, FeatureModel]]:
    from suffice.learn import feature_methods, undirected_em

    return {
        "lbfgs": feature_methods.LBFGS,
        "newton": feature_methods.NEWTON,
        "cg": feature_methods.CG,
        "gradient": feature_methods.GRADIENT,
        "gis": feature_methods.GIS,
        "ipf": feature_methods.IPF,
        "proximal": feature_methods.PROXIMAL,
        "pseudo_likelihood": feature_methods.PSEUDO_LIKELIHOOD,
        "stochastic": feature_methods.STOCHASTIC,
        "em": undirected_em.FEATURES,
    }


def _certify(claim: Claim[Features, FeatureModel]) -> Certificate:
    from suffice.certify.features import certify

    return certify(claim)


def _measure_observed(claim: Claim[Features, FeatureModel]) -> Observed:
    from suffice.certify.claim import is_of
    from suffice.certify.observed_undirected import measured_features
    from suffice.models.log_linear import LogLinear

    assert is_of(claim, LogLinear)
    return measured_features(claim)


def _joint() -> type[LogLinear]:
    from suffice.models.log_linear import LogLinear

    return LogLinear


def _density() -> type[LogLinearDensity]:
    from suffice.models.log_linear_density import LogLinearDensity

    return LogLinearDensity


def _conditional() -> type[ConditionalLogLinear]:
    from suffice.models.conditional_log_linear import ConditionalLogLinear

    return ConditionalLogLinear


def _parts(model: FeatureModel, fit: Fit[FeatureModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.undirected import feature_parts

    return feature_parts(model, fit)


def _plots() -> tuple[Plot, ...]:
    from suffice.report.page import plots

    return (plots.MATCH, plots.LARGEST)


def _describe(model: LogLinearDensity | ConditionalLogLinear) -> Facts:
    return {"model": type(model).__name__, **feature_facts(model.features), "weights": len(model.weights)}


def _structure_of(model: FeatureModel, structure: object) -> Features:
    return model.features


def _files() -> dict[str, StructureForm[Features]]:
    from suffice.io.structure_file import make_features, maker_of
    from suffice.structures.pairwise import Boltzmann, Ising, Potts

    settings = ("values", "tie", "fields", "latent")
    return {
        "Features": StructureForm(
            Features.from_dict,
            make_features,
            ("features",),
            ("given", "support", "tie", "variables", "latent"),
            "Features",
        ),
        "Boltzmann": StructureForm(
            Boltzmann.from_dict, maker_of(Boltzmann), ("graph", "nodes", "edges"), settings, "a Boltzmann machine"
        ),
        "Ising": StructureForm(
            Ising.from_dict, maker_of(Ising), ("graph", "edges"), ("nodes", *settings), "an Ising model"
        ),
        "Potts": StructureForm(
            Potts.from_dict, maker_of(Potts), ("graph", "edges"), ("nodes", *settings[1:]), "a Potts model"
        ),
    }


def _goodness(fit: Fit[FeatureModel, Features], statistics: Statistics) -> Goodness:
    from suffice.result.goodness import goodness_of_table

    return goodness_of_table(fit, statistics)


def _claims(structure: Features, schema: Schema, most: int) -> Claims:
    from suffice.checking.questions import claims_of_scopes

    return claims_of_scopes(structure, schema, most)


def _draw(model: LogLinear) -> Drawing:
    from suffice.report.static_graph import draw_field

    return draw_field(model)


def _measure(structure: Features, schema: Schema) -> Facts:
    return {"weights": len(structure.resolved(schema))}


def _result() -> type[FeaturesFit]:
    from suffice.result.family_fits import FeaturesFit

    return FeaturesFit


FAMILY = Family(
    structures=(Features,),
    methods=_methods,
    certify=_certify,
    result=_result,
    measure_observed=_measure_observed,
    models=(
        ModelEntry("LogLinear", "log-linear model", _joint, _parts, _plots, factor_facts, _structure_of, _draw),
        ModelEntry(
            "LogLinearDensity", "log-linear density", _density, _parts, describe=_describe, structure_of=_structure_of
        ),
        ModelEntry(
            "ConditionalLogLinear",
            "conditional log-linear model",
            _conditional,
            _parts,
            describe=_describe,
            structure_of=_structure_of,
            conditional=True,
        ),
    ),
    files=_files,
    goodness=_goodness,
    claims=_claims,
    describe=feature_facts,
    measure=_measure,
)
