"""Posteriors in the library's own JSON: how each type is written and read, for the records of families."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.families import family_of
from suffice.io.json_values import number, number_or_none
from suffice.learn.family import PosteriorForm
from suffice.priors.autoregression_posterior import AutoregressionPosterior
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.hyper_dirichlet import HyperDirichlet
from suffice.priors.hyper_inverse_wishart import HyperInverseWishart, HyperInverseWishartPosterior
from suffice.priors.hypothesis_weights import HypothesisPosterior
from suffice.priors.markov_posterior import MarkovChainPosterior
from suffice.priors.network_posterior import NetworkPosterior
from suffice.priors.niw_posterior import NormalInverseWishartPosterior
from suffice.priors.normal_inverse_wishart import NormalInverseWishart
from suffice.priors.point_posterior import PointPosterior
from suffice.priors.posterior import Posterior
from suffice.priors.prior import NodePosterior
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.stats.needs import Moment

if TYPE_CHECKING:
    from suffice.result.fit import Fit
    from suffice.types import Entry

NODES: dict[str, type[DirichletRows | RegressionPosterior | PointPosterior]] = {
    "dirichlet": DirichletRows,
    "regression": RegressionPosterior,
    "point": PointPosterior,
}
"""The posteriors of single nodes."""


def written(fit: Fit) -> dict[str, Any] | None:
    """Return the JSON-able content of a fit's posterior."""
    posterior = fit.posterior
    for name, kind in family_of(fit.structure).posteriors().items():
        if isinstance(posterior, kind.type):
            return {"type": name, **kind.write(posterior)}
    return None


def read(entry: Entry | None, fit: Fit) -> Posterior[Any] | None:
    """Rebuild a posterior; ``fit`` holds structure, model, prior and statistics."""
    return None if entry is None else family_of(fit.structure).posteriors()[entry["type"]].read(entry, fit)


def _write_network(posterior: NetworkPosterior) -> dict[str, Any]:
    nodes = [_written_node(node) for node in posterior.nodes]
    return {"nodes": nodes, "log_marginal_likelihood": posterior.log_marginal_likelihood}


def _written_node(node: NodePosterior) -> dict[str, Any]:
    """Return a node's posterior with the name of its type, which tables go without."""
    name = next(name for name, kind in NODES.items() if isinstance(node, kind))
    return node.to_dict() if name == "dirichlet" else {"type": name, **node.to_dict()}


def _read_network(entry: Entry, fit: Fit) -> NetworkPosterior:
    nodes = tuple(
        NODES[values.get("type", "dirichlet")].from_dict(fit.model.cpd(node).family, values)
        for node, values in zip(fit.structure.nodes, entry["nodes"], strict=True)
    )
    return NetworkPosterior(fit.model.dag, nodes, number_or_none(entry, "log_marginal_likelihood"))


def _read_hypotheses(entry: Entry, fit: Fit) -> HypothesisPosterior:
    log_weights = np.array(entry["log_weights"], np.float64).reshape(len(fit.structure.names))
    return HypothesisPosterior(fit.structure, log_weights, number(entry, "log_marginal_likelihood"))


def _read_cliques(entry: Entry, fit: Fit) -> HyperDirichlet:
    number(entry, "log_marginal_likelihood")
    return HyperDirichlet.from_dict(fit.structure, fit.model.schema, entry)


def _read_gaussian(entry: Entry, fit: Fit) -> HyperInverseWishartPosterior | NormalInverseWishartPosterior:
    """Form the posterior anew: it is prior and statistics, both of which the file has."""
    prior: HyperInverseWishart | NormalInverseWishart = fit.prior
    return prior.posterior(fit.structure, fit.statistics[Moment(fit.structure.variables)])


def _read_regression(entry: Entry, fit: Fit) -> AutoregressionPosterior:
    """Form the posterior of an autoregression anew, from prior and statistics."""
    from suffice.models.autoregression_node import node_family

    family = node_family(fit.model.variables[0], fit.structure.order)
    moments = fit.structure.moments(fit.statistics)[0]
    return AutoregressionPosterior(fit.structure, fit.prior.posterior("linear_gaussian", family, moments))


def _read_chain(entry: Entry, fit: Fit) -> MarkovChainPosterior:
    return MarkovChainPosterior.from_dict(fit.model, entry)


NETWORK = {"network": PosteriorForm(NetworkPosterior, _write_network, _read_network)}
MARKOV_CHAIN = {"markov_chain": PosteriorForm(MarkovChainPosterior, MarkovChainPosterior.to_dict, _read_chain)}
HYPOTHESES = {"hypotheses": PosteriorForm(HypothesisPosterior, HypothesisPosterior.to_dict, _read_hypotheses)}
CLIQUES = {"hyper_dirichlet": PosteriorForm(HyperDirichlet, HyperDirichlet.to_dict, _read_cliques)}
REGRESSION = {"regression": PosteriorForm(AutoregressionPosterior, lambda posterior: {}, _read_regression)}
GAUSSIAN = {
    "hyper_inverse_wishart": PosteriorForm(HyperInverseWishartPosterior, lambda posterior: {}, _read_gaussian),
    "normal_inverse_wishart": PosteriorForm(NormalInverseWishartPosterior, lambda posterior: {}, _read_gaussian),
}
