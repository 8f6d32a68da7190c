"""Proof: the first-order condition of what a fit claims, computed by a path that the fitter did not use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suffice.certify import (
    autoregression,
    chain,
    class_gaussian,
    cliques,
    directed,
    enumeration,
    features,
    gaussian_markov,
    graph_crf,
    joint_classes,
    markov_chain,
    naive,
    observed,
    softmax_regression,
)
from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim
from suffice.structures.autoregression import Autoregression
from suffice.structures.class_gaussian import ClassGaussian
from suffice.structures.cliques import Cliques
from suffice.structures.dag import DAG
from suffice.structures.features import Features
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.hypotheses import Hypotheses
from suffice.structures.joint_classes import JointClasses
from suffice.structures.label_chain import LabelChain
from suffice.structures.label_graph import LabelGraph
from suffice.structures.markov_chain import MarkovChain
from suffice.structures.naive import Naive
from suffice.structures.single import Bernoulli, Categorical, MultivariateNormal, Normal
from suffice.structures.softmax_regression import SoftmaxClasses

CERTIFIERS: dict[type[Any], Callable[[Claim], Certificate]] = {
    DAG: directed.certify,
    Autoregression: autoregression.certify,
    Bernoulli: directed.certify,
    Categorical: directed.certify,
    ClassGaussian: class_gaussian.certify,
    Hypotheses: enumeration.certify,
    JointClasses: joint_classes.certify,
    LabelChain: chain.certify,
    LabelGraph: graph_crf.certify,
    MarkovChain: markov_chain.certify,
    Naive: naive.certify,
    SoftmaxClasses: softmax_regression.certify,
    Cliques: cliques.certify,
    Features: features.certify,
    GaussianMarkov: gaussian_markov.certify,
    Normal: gaussian_markov.certify,
    MultivariateNormal: gaussian_markov.certify,
}


def examined(claim: Claim, *, keep: bool) -> Certificate:
    """Examine what a fit claims; ``keep`` says that what was learnt is not thrown away if Ctrl-C ends the proof."""
    try:
        return certify(claim)
    except KeyboardInterrupt:
        if not keep:
            raise
        return _unproven(claim)


def _unproven(claim: Claim) -> Certificate:
    """Return the certificate of a fit whose proof was interrupted: nothing was measured."""
    nan = float("nan")
    return Certificate(
        ok=False,
        claim="unproven",
        gradient_norm=nan,
        worst="",
        log_likelihood=nan,
        log_likelihood_gap=nan,
        normalisation=nan,
        exists="undecided",
        verdict="Not certified: the proof was interrupted, after learning had ended. Fit once more to have it proven.",
        tol=claim.tol,
    )


def certify(claim: Claim) -> Certificate:
    """Examine what a fit claims."""
    if claim.incomplete:
        return observed.certify(claim)
    kind = next(kind for kind in type(claim.structure).__mro__ if kind in CERTIFIERS)
    return CERTIFIERS[kind](claim)


__all__ = ["CERTIFIERS", "Certificate", "Claim", "certify"]
