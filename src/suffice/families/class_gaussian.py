"""Classes with normal distributions of the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.structures.class_gaussian import ClassGaussian

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.learn.family import Facts
    from suffice.models.class_gaussian import ClassGaussianModel
    from suffice.report.page.entries import ReportParts
    from suffice.result.fit import Fit


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


def _parts(model: ClassGaussianModel, fit: Fit | None) -> ReportParts:
    from suffice.report.page.classes import gaussian_parts

    return gaussian_parts(model, fit)


def _subject(model: ClassGaussianModel) -> str:
    from suffice.families.facts import class_subject

    return class_subject(model)


def _describe(model: ClassGaussianModel) -> Facts:
    from suffice.families.facts import classifier_facts

    return classifier_facts(model)


def _describe_columns(structure: ClassGaussian) -> Facts:
    from suffice.families.facts import column_facts

    return column_facts(structure)


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
            describe=_describe,
            subject=_subject,
            structure_of=lambda model, structure: model.structure,
        ),
    ),
    files=lambda: {"ClassGaussian": StructureForm(ClassGaussian.from_dict, takes=("divisor",))},
    describe=_describe_columns,
)
