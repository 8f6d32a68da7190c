"""Classes with one joint table of all inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import class_subject, classifier_facts, column_facts
from suffice.structures.joint_classes import JointClasses

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.models.joint_classes import JointClassModel
    from suffice.report.page.entries import ReportParts
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[JointClasses, JointClassModel]]:
    from suffice.learn import joint_classes

    return {
        "closed_form": joint_classes.METHOD,
    }


def _certify(claim: Claim[JointClasses, JointClassModel]) -> Certificate:
    from suffice.certify.joint_classes import certify

    return certify(claim)


def _model() -> type[JointClassModel]:
    from suffice.models.joint_classes import JointClassModel

    return JointClassModel


def _parts(model: JointClassModel, fit: Fit[JointClassModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.classes import joint_parts

    return joint_parts(model, fit)


def _structure_of(model: JointClassModel, structure: object) -> object:
    """Return a structure of the table's columns; which class probabilities were wanted, a model does not say."""
    fits = isinstance(structure, JointClasses) and model.variables == structure.columns
    return structure if fits else model


FAMILY = Family(
    structures=(JointClasses,),
    methods=_methods,
    certify=_certify,
    models=(
        ModelEntry(
            "JointClassModel",
            "classifier by joint tables",
            _model,
            _parts,
            describe=classifier_facts,
            subject=class_subject,
            structure_of=_structure_of,
        ),
    ),
    files=lambda: {"JointClasses": StructureForm(JointClasses.from_dict)},
    describe=column_facts,
)
