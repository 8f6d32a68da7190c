"""Posteriors in the library's own JSON: one kind, one writer, one reader, one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from suffice.io.json_values import number, number_or_none
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.hyper_dirichlet import HyperDirichlet
from suffice.priors.hyper_inverse_wishart import HyperInverseWishartPosterior
from suffice.priors.hypothesis_weights import HypothesisPosterior
from suffice.priors.markov_posterior import MarkovChainPosterior
from suffice.priors.network_posterior import NetworkPosterior
from suffice.priors.niw_posterior import NormalInverseWishartPosterior
from suffice.priors.point_posterior import PointPosterior
from suffice.priors.regression_posterior import RegressionPosterior
from suffice.stats.needs import Moment

NODES: dict[str, Any] = {"dirichlet": DirichletRows, "regression": RegressionPosterior, "point": PointPosterior}
"""The posteriors of single nodes."""


class Kind(NamedTuple):
    """How one type of posterior is written, and read back given the rest of its fit."""

    type: type[Any]
    write: Callable[[Any], Mapping[str, Any]]
    read: Callable[[Mapping[str, Any], Any], Any]


def written(posterior: Any) -> dict[str, Any] | None:
    """Return the JSON-able content of a posterior."""
    for name, kind in POSTERIORS.items():
        if isinstance(posterior, kind.type):
            return {"type": name, **kind.write(posterior)}
    return None


def read(entry: Mapping[str, Any] | None, fit: Any) -> Any:
    """Rebuild a posterior; ``fit`` holds structure, model, prior and statistics."""
    return None if entry is None else POSTERIORS[entry["type"]].read(entry, fit)


def _write_network(posterior: NetworkPosterior) -> dict[str, Any]:
    nodes = [_written_node(node) for node in posterior.nodes]
    return {"nodes": nodes, "log_marginal_likelihood": posterior.log_marginal_likelihood}


def _written_node(node: Any) -> dict[str, Any]:
    """Return a node's posterior with the name of its type, which tables go without."""
    name = next(name for name, kind in NODES.items() if isinstance(node, kind))
    return node.to_dict() if name == "dirichlet" else {"type": name, **node.to_dict()}


def _read_network(entry: Mapping[str, Any], fit: Any) -> NetworkPosterior:
    nodes = tuple(
        NODES[values.get("type", "dirichlet")].from_dict(fit.model.cpd(node).family, values)
        for node, values in zip(fit.structure.nodes, entry["nodes"], strict=True)
    )
    return NetworkPosterior(fit.model.dag, nodes, number_or_none(entry, "log_marginal_likelihood"))


def _read_hypotheses(entry: Mapping[str, Any], fit: Any) -> HypothesisPosterior:
    log_weights = np.array(entry["log_weights"], np.float64).reshape(len(fit.structure.names))
    return HypothesisPosterior(fit.structure, log_weights, number(entry, "log_marginal_likelihood"))


def _read_cliques(entry: Mapping[str, Any], fit: Any) -> HyperDirichlet:
    number(entry, "log_marginal_likelihood")
    return HyperDirichlet.from_dict(fit.structure, fit.model.schema, entry)


def _read_gaussian(entry: Mapping[str, Any], fit: Any) -> Any:
    """Form the posterior anew: it is prior and statistics, both of which the file has."""
    return fit.prior.posterior(fit.structure, fit.statistics[Moment(fit.structure.variables)])


def _read_regression(entry: Mapping[str, Any], fit: Any) -> Any:
    """Form the posterior of an autoregression anew, from prior and statistics."""
    from suffice.models.autoregression_node import node_family

    family = node_family(fit.model.variables[0], fit.structure.order)
    return fit.prior.posterior("linear_gaussian", family, fit.structure.moments(fit.statistics)[0])


def _read_chain(entry: Mapping[str, Any], fit: Any) -> MarkovChainPosterior:
    return MarkovChainPosterior.from_dict(fit.model, entry)


POSTERIORS: dict[str, Kind] = {
    "network": Kind(NetworkPosterior, _write_network, _read_network),
    "markov_chain": Kind(MarkovChainPosterior, MarkovChainPosterior.to_dict, _read_chain),
    "hypotheses": Kind(HypothesisPosterior, HypothesisPosterior.to_dict, _read_hypotheses),
    "hyper_dirichlet": Kind(HyperDirichlet, HyperDirichlet.to_dict, _read_cliques),
    "regression": Kind(RegressionPosterior, lambda posterior: {}, _read_regression),
    "hyper_inverse_wishart": Kind(HyperInverseWishartPosterior, lambda posterior: {}, _read_gaussian),
    "normal_inverse_wishart": Kind(NormalInverseWishartPosterior, lambda posterior: {}, _read_gaussian),
}
