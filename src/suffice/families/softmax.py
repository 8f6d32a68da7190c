"""Softmax regression of a class on inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import class_subject, classifier_facts, column_facts
from suffice.structures.softmax_regression import SoftmaxClasses

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.learn.family import Plot
    from suffice.models.softmax_model import SoftmaxModel
    from suffice.report.page.entries import ReportParts
    from suffice.result.family_fits import SoftmaxFit
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[SoftmaxClasses, SoftmaxModel]]:
    from suffice.learn import softmax_regression

    return {
        "newton": softmax_regression.NEWTON,
        "lbfgs": softmax_regression.LBFGS,
        "proximal": softmax_regression.PROXIMAL,
    }


def _certify(claim: Claim[SoftmaxClasses, SoftmaxModel]) -> Certificate:
    from suffice.certify.softmax_regression import certify

    return certify(claim)


def _model() -> type[SoftmaxModel]:
    from suffice.models.softmax_model import SoftmaxModel

    return SoftmaxModel


def _parts(model: SoftmaxModel, fit: Fit[SoftmaxModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.classes import softmax_parts

    return softmax_parts(model, fit)


def _plots() -> tuple[Plot, ...]:
    from suffice.report.page import plots

    return (plots.LARGEST,)


def _result() -> type[SoftmaxFit]:
    from suffice.result.family_fits import SoftmaxFit

    return SoftmaxFit


FAMILY = Family(
    structures=(SoftmaxClasses,),
    methods=_methods,
    certify=_certify,
    result=_result,
    models=(
        ModelEntry(
            "SoftmaxModel",
            "softmax regression",
            _model,
            _parts,
            _plots,
            describe=classifier_facts,
            subject=class_subject,
            structure_of=lambda model, structure: model.structure,
            conditional=True,
        ),
    ),
    files=lambda: {"SoftmaxClasses": StructureForm(SoftmaxClasses.from_dict)},
    describe=column_facts,
)
