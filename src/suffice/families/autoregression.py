"""Autoregressions of numbers in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import setting_facts
from suffice.structures.autoregression import Autoregression

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.data.schema import Schema
    from suffice.learn.family import Facts, PosteriorForm
    from suffice.models.autoregression import AutoregressiveModel
    from suffice.report.page.entries import ReportParts
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[Autoregression, AutoregressiveModel]]:
    from suffice.learn import autoregression

    return {
        "closed_form": autoregression.METHOD,
    }


def _certify(claim: Claim[Autoregression, AutoregressiveModel]) -> Certificate:
    from suffice.certify.autoregression import certify

    return certify(claim)


def _model() -> type[AutoregressiveModel]:
    from suffice.models.autoregression import AutoregressiveModel

    return AutoregressiveModel


def _parts(model: AutoregressiveModel, fit: Fit[AutoregressiveModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.sequences import regression_parts

    return regression_parts(model, fit)


def _describe(model: AutoregressiveModel) -> Facts:
    return {
        "model": type(model).__name__,
        "order": model.order,
        "variables": ", ".join(model.variables),
        "coefficients": model.coefficients.size,
        "spectral radius": f"{model.spectral_radius:.6g}",
        "stationary": "yes" if model.is_stationary else "no",
    }


def _posteriors() -> dict[str, PosteriorForm]:
    from suffice.io.posterior_content import REGRESSION

    return REGRESSION


def _measure(structure: Autoregression, schema: Schema) -> Facts:
    names = structure.names_in(schema)
    return {"variables": ", ".join(names), "free parameters": structure.n_free(len(names))}


FAMILY = Family(
    structures=(Autoregression,),
    methods=_methods,
    certify=_certify,
    models=(
        ModelEntry(
            "AutoregressiveModel",
            "autoregression",
            _model,
            _parts,
            describe=_describe,
            structure_of=lambda model, structure: model.structure_like(structure),
        ),
    ),
    files=lambda: {
        "Autoregression": StructureForm(
            Autoregression.from_dict,
            Autoregression,
            ("order",),
            ("variables", "intercept", "divisor", "initial", "id", "time"),
            "an autoregression",
        )
    },
    posteriors=_posteriors,
    describe=setting_facts,
    measure=_measure,
)
