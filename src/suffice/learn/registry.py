"""The methods, by structure type and name. ``method="auto"`` takes the first exact one that does not refuse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.data.schema import Schema
from suffice.errors import ArgumentError, EstimationError, UnknownNameError, listing, require_choice, shown, suggestion
from suffice.learn import (
    autoregression,
    chain,
    chain_stochastic,
    class_gaussian,
    decomposable,
    directed,
    directed_em,
    enumeration,
    feature_methods,
    gaussian_markov,
    graph_crf,
    hidden_markov,
    ipf,
    joint_classes,
    laplace,
    likelihood,
    markov_chain,
    naive,
    normal_expectation,
    single,
    softmax_regression,
    undirected_em,
)
from suffice.learn.method import Method
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
from suffice.structures.structure import SHELLS, public_name

METHODS: dict[type[Any], dict[str, Method]] = {
    DAG: {
        "closed_form": directed.METHOD,
        "newton": directed.NEWTON,
        "em": directed_em.METHOD,
        "observed_lbfgs": directed_em.LBFGS,
    },
    Autoregression: {"closed_form": autoregression.METHOD},
    Bernoulli: {"closed_form": single.METHOD},
    Categorical: {"closed_form": single.METHOD},
    ClassGaussian: {"closed_form": class_gaussian.CLOSED_FORM, "ledoit_wolf": class_gaussian.LEDOIT_WOLF},
    Hypotheses: {"enumeration": enumeration.METHOD},
    JointClasses: {"closed_form": joint_classes.METHOD},
    LabelChain: {
        "lbfgs": chain.LBFGS,
        "owlqn": chain.OWLQN,
        "sgd": chain_stochastic.SGD,
        "adagrad": chain_stochastic.ADAGRAD,
    },
    LabelGraph: {"exact": graph_crf.EXACT, "pseudo_likelihood": graph_crf.PSEUDO_LIKELIHOOD},
    MarkovChain: {"closed_form": markov_chain.METHOD, "em": hidden_markov.METHOD},
    Naive: {"closed_form": naive.METHOD},
    SoftmaxClasses: {
        "newton": softmax_regression.NEWTON,
        "lbfgs": softmax_regression.LBFGS,
        "proximal": softmax_regression.PROXIMAL,
    },
    Normal: {"closed_form": gaussian_markov.CLOSED_FORM, "em": normal_expectation.METHOD},
    MultivariateNormal: {"closed_form": gaussian_markov.CLOSED_FORM, "em": normal_expectation.METHOD},
    GaussianMarkov: {
        "closed_form": gaussian_markov.CLOSED_FORM,
        "newton": gaussian_markov.NEWTON,
        "ipf": gaussian_markov.SCALING,
        "em": normal_expectation.METHOD,
    },
    Cliques: {
        "closed_form": decomposable.METHOD,
        "adaptive": ipf.ADAPTIVE,
        "newton": likelihood.NEWTON,
        "lbfgs": likelihood.LBFGS,
        "cg": likelihood.CG,
        "ipf": ipf.METHOD,
        "gradient": likelihood.GRADIENT,
        "proximal": laplace.METHOD,
        "em": undirected_em.CLIQUES,
    },
    Features: {
        "lbfgs": feature_methods.LBFGS,
        "newton": feature_methods.NEWTON,
        "cg": feature_methods.CG,
        "gradient": feature_methods.GRADIENT,
        "gis": feature_methods.GIS,
        "ipf": feature_methods.IPF,
        "proximal": feature_methods.PROXIMAL,
        "pseudo_likelihood": feature_methods.PSEUDO_LIKELIHOOD,
        "stochastic": feature_methods.STOCHASTIC,
        "em": undirected_em.FEATURES,
    },
}


def methods_for(structure: object) -> dict[str, Method]:
    """Return the methods that know a structure."""
    for kind in type(structure).__mro__:  # sf.Ising is a kind of sf.Features
        if kind in METHODS:
            return METHODS[kind]
    known = ", ".join(public_name(kind) for kind in METHODS if kind.__name__ not in SHELLS)
    raise ArgumentError(f"A structure is one of {known}. Got {type(structure).__name__} {structure!r} instead.")


def choose(
    structure: object,
    name: str,
    schema: Schema,
    *,
    prior: object = None,
    point: str | None = None,
    base: tuple[Any, ...] = (),
    gaps: bool = False,
) -> tuple[str, Method]:
    """Return the method by its name, or by itself under ``"auto"``, with its name.

    With ``gaps``, rows may lack values, and only methods that learn from such rows will do.
    """
    methods = methods_for(structure)
    latent = getattr(structure, "latent", ())
    hides = gaps or bool(latent)
    if point is not None:
        require_choice("point", point, ("mean", "map"))

    def reason_against(method: Method) -> str | None:
        reason = method.refuses(structure, schema)
        if reason is None:
            reason = method.refuses_prior(structure, prior)
        if reason is None and base and not method.takes_base:
            reason = "it knows no base measure."
        if reason is None and latent and not method.incomplete:
            reason = f"{latent[0][0]!r} is latent, and this method needs every variable observed."
        if reason is None and gaps and not method.incomplete:
            reason = "it needs complete rows; with missing='em' leave the method out, or name one for incomplete rows."
        return reason

    if isinstance(name, str) and name == "auto":
        reasons: dict[str, str | None] = {}
        for candidate, method in methods.items():
            if method.exact and method.incomplete == hides:
                reasons[candidate] = reason_against(method)
                if reasons[candidate] is None and point is not None and point not in method.points:
                    reasons[candidate] = f"it does not give {point!r}."
                if reasons[candidate] is None:
                    return candidate, method
        raise EstimationError(_refusal(reasons))
    if not isinstance(name, str) or name not in methods:
        raise UnknownNameError(
            f"There is no method {shown(name)} for {public_name(type(structure))}. The methods are "
            f"{listing(['auto', *methods])}.{suggestion(name, methods)}"
        )
    reason = reason_against(methods[name])
    if reason:
        raise EstimationError(f"The method {name!r} cannot fit this structure: {reason}")
    return name, methods[name]


def _refusal(reasons: Mapping[str, str | None]) -> str:
    """Return why no method can do it: one reason alone where all other methods are for something else."""
    apt = {name: reason for name, reason in reasons.items() if reason and not reason.startswith("it is for ")}
    if len(set(apt.values())) == 1:
        name, reason = next(iter(apt.items()))
        if reason.startswith(("it ", "its ")):
            return f"The method {name!r} cannot fit this structure: {reason}"
        return reason[0].upper() + reason[1:]
    listed = " ".join(f"{name!r}: {reason}" for name, reason in reasons.items())
    return f"No exact method can fit this structure. {listed}"
