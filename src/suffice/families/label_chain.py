"""Labels of sequences: conditional random fields on chains, and maximum-entropy Markov models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.learn.family import Family, ModelEntry
from suffice.learn.method import Method
from suffice.models.facts import chain_facts, label_subject
from suffice.structures.label_chain import LabelChain

if TYPE_CHECKING:
    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.learn.family import Facts, Plot
    from suffice.models.chain_model import ChainModel
    from suffice.report.page.entries import ReportParts
    from suffice.report.static_graph import Drawing
    from suffice.result.fit import Fit
    from suffice.structures.structure import Structure


def _methods() -> dict[str, Method[LabelChain, ChainModel]]:
    from suffice.learn import chain, chain_stochastic

    return {
        "lbfgs": chain.LBFGS,
        "owlqn": chain.OWLQN,
        "sgd": chain_stochastic.SGD,
        "adagrad": chain_stochastic.ADAGRAD,
    }


def _certify(claim: Claim[LabelChain, ChainModel]) -> Certificate:
    from suffice.certify.chain import certify

    return certify(claim)


def _model() -> type[ChainModel]:
    from suffice.models.chain_model import ChainModel

    return ChainModel


def _parts(model: ChainModel, fit: Fit[ChainModel, Structure[object]] | None) -> ReportParts:
    from suffice.report.page.sequences import chain_parts

    return chain_parts(model, fit)


def _plots() -> tuple[Plot, ...]:
    from suffice.report.page import plots

    return (plots.LARGEST, plots.STEPS)


def _describe(model: ChainModel) -> Facts:
    return dict(chain_facts(model))


def _draw(model: ChainModel) -> Drawing:
    from suffice.report.static_graph import draw_chain

    return draw_chain(model)


FAMILY = Family(
    structures=(LabelChain,),
    methods=_methods,
    certify=_certify,
    models=(
        ModelEntry(
            "ChainModel",
            "conditional random field on sequences",
            _model,
            _parts,
            _plots,
            _describe,
            draw=_draw,
            subject=label_subject,
        ),
    ),
)
