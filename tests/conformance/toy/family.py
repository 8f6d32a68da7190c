"""The record of the family."""

from __future__ import annotations

from tests.conformance.toy.waiting import METHOD, Exponential, WaitingTime, certify

from suffice.learn.family import Family, ModelEntry, StructureForm
from suffice.report.page.entries import Entry, ReportParts


def _parts(model: Exponential, fit: object) -> ReportParts:
    return ReportParts([Entry(model.structure.variable, "waiting time", facts=[("rate", f"{model.rate:g}")])])


FAMILY = Family(
    structures=(WaitingTime,),
    methods=lambda: {"closed_form": METHOD},
    certify=certify,
    models=(
        ModelEntry(
            "Exponential",
            "exponential distribution",
            load=lambda: Exponential,
            parts=_parts,
            describe=lambda model: {"model": "Exponential", "rate": f"{model.rate:g}"},
            structure_of=lambda model, structure: model.structure,
        ),
    ),
    files=lambda: {
        "WaitingTime": StructureForm(WaitingTime.from_dict, WaitingTime, ("variable",), (), "a waiting time")
    },
)
