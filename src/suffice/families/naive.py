"""Naive Bayes: inputs that are independent given the class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.learn.method import Method
from suffice.models.facts import class_subject, classifier_facts, column_facts
from suffice.structures.naive import Naive

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.models.naive import NaiveModel
    from suffice.report.page.entries import ReportParts
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[Naive, NaiveModel]]:
    from suffice.learn import naive

    return {
        "closed_form": naive.METHOD,
    }


def _certify(claim: Claim[Naive, NaiveModel]) -> Certificate:
    from suffice.certify.naive import certify

    return certify(claim)


def _model() -> type[NaiveModel]:
    from suffice.models.naive import NaiveModel

    return NaiveModel


def _parts(model: NaiveModel, fit: Fit[NaiveModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.classes import naive_parts

    return naive_parts(model, fit)


FAMILY = Family(
    structures=(Naive,),
    methods=_methods,
    certify=_certify,
    models=(
        ModelEntry(
            "NaiveModel",
            "naive Bayes classifier",
            _model,
            _parts,
            describe=classifier_facts,
            subject=class_subject,
            structure_of=lambda model, structure: model.structure,
        ),
    ),
    files=lambda: {"Naive": StructureForm(Naive.from_dict, takes=("divisor",))},
    describe=column_facts,
)
