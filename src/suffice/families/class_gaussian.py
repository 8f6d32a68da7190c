"""Classes with normal distributions of the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import class_subject, classifier_facts, column_facts
from suffice.structures.class_gaussian import ClassGaussian

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.models.class_gaussian import ClassGaussianModel
    from suffice.report.page.entries import ReportParts
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[ClassGaussian, ClassGaussianModel]]:
    from suffice.learn import class_gaussian

    return {
        "closed_form": class_gaussian.CLOSED_FORM,
        "ledoit_wolf": class_gaussian.LEDOIT_WOLF,
    }


def _certify(claim: Claim[ClassGaussian, ClassGaussianModel]) -> Certificate:
    from suffice.certify.class_gaussian import certify

    return certify(claim)


def _model() -> type[ClassGaussianModel]:
    from suffice.models.class_gaussian import ClassGaussianModel

    return ClassGaussianModel


def _parts(model: ClassGaussianModel, fit: Fit[ClassGaussianModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.classes import gaussian_parts

    return gaussian_parts(model, fit)


FAMILY = Family(
    structures=(ClassGaussian,),
    methods=_methods,
    certify=_certify,
    models=(
        ModelEntry(
            "ClassGaussianModel",
            "Gaussian classifier",
            _model,
            _parts,
            describe=classifier_facts,
            subject=class_subject,
            structure_of=lambda model, structure: model.structure,
        ),
    ),
    files=lambda: {"ClassGaussian": StructureForm(ClassGaussian.from_dict, takes=("divisor",))},
    describe=column_facts,
)
