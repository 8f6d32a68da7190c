"""Posteriors in the library's own JSON: one kind, one writer, one reader, one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from suffice.io.json_values import number
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.hyper_dirichlet import HyperDirichlet
from suffice.priors.hyper_inverse_wishart import HyperInverseWishartPosterior
from suffice.priors.hypothesis_weights import HypothesisPosterior
from suffice.priors.network_posterior import NetworkPosterior
from suffice.stats.needs import Moment


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
    nodes = [node.to_dict() for node in posterior.nodes]
    return {"nodes": nodes, "log_marginal_likelihood": posterior.log_marginal_likelihood}


def _read_network(entry: Mapping[str, Any], fit: Any) -> NetworkPosterior:
    nodes = tuple(
        DirichletRows.from_dict(fit.model.cpd(node).family, values)
        for node, values in zip(fit.structure.nodes, entry["nodes"], strict=True)
    )
    return NetworkPosterior(fit.structure, nodes, number(entry, "log_marginal_likelihood"))


def _read_hypotheses(entry: Mapping[str, Any], fit: Any) -> HypothesisPosterior:
    log_weights = np.array(entry["log_weights"], np.float64).reshape(len(fit.structure.names))
    return HypothesisPosterior(fit.structure, log_weights, number(entry, "log_marginal_likelihood"))


def _read_cliques(entry: Mapping[str, Any], fit: Any) -> HyperDirichlet:
    number(entry, "log_marginal_likelihood")
    return HyperDirichlet.from_dict(fit.structure, fit.model.schema, entry)


def _read_gaussian(entry: Mapping[str, Any], fit: Any) -> HyperInverseWishartPosterior:
    """Form the posterior anew: it is prior and statistics, both of which the file has."""
    found: HyperInverseWishartPosterior = fit.prior.posterior(
        fit.structure, fit.statistics[Moment(fit.structure.variables)]
    )
    return found


POSTERIORS: dict[str, Kind] = {
    "network": Kind(NetworkPosterior, _write_network, _read_network),
    "hypotheses": Kind(HypothesisPosterior, HypothesisPosterior.to_dict, _read_hypotheses),
    "hyper_dirichlet": Kind(HyperDirichlet, HyperDirichlet.to_dict, _read_cliques),
    "hyper_inverse_wishart": Kind(HyperInverseWishartPosterior, lambda posterior: {}, _read_gaussian),
}
