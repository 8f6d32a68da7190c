"""Labels of graphs: conditional random fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry
from suffice.learn.method import Method
from suffice.models.facts import label_subject
from suffice.structures.label_graph import LabelGraph

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.models.graph_crf import GraphModel
    from suffice.report.page.entries import ReportParts
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[LabelGraph, GraphModel]]:
    from suffice.learn import graph_crf

    return {
        "exact": graph_crf.EXACT,
        "pseudo_likelihood": graph_crf.PSEUDO_LIKELIHOOD,
    }


def _certify(claim: Claim[LabelGraph, GraphModel]) -> Certificate:
    from suffice.certify.graph_crf import certify

    return certify(claim)


def _model() -> type[GraphModel]:
    from suffice.models.graph_crf import GraphModel

    return GraphModel


def _parts(model: GraphModel, fit: Fit[GraphModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.sequences import labelled_graph_parts

    return labelled_graph_parts(model, fit)


FAMILY = Family(
    structures=(LabelGraph,),
    methods=_methods,
    certify=_certify,
    models=(ModelEntry("GraphModel", "conditional random field on graphs", _model, _parts, subject=label_subject),),
)
