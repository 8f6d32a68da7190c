"""The priors by name, for files and the command line. A prior is one file and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.models.bayes_net import BayesianNetwork
from suffice.models.markov_net import MarkovNetwork
from suffice.priors.bge import BGe
from suffice.priors.dirichlet import K2, BDeu, Dirichlet, Jeffreys
from suffice.priors.elastic import Elastic
from suffice.priors.expert import Expert
from suffice.priors.hyper_inverse_wishart import HyperInverseWishart
from suffice.priors.markov_posterior import ChainDirichlet
from suffice.priors.normal_inverse_gamma import NormalInverseGamma, NormalInverseGammaRows
from suffice.priors.normal_inverse_wishart import NormalInverseWishart
from suffice.priors.penalty import Gaussian, Laplace
from suffice.priors.point_posterior import GivenNode
from suffice.priors.prior import Prior
from suffice.priors.several import Priors

if TYPE_CHECKING:
    from suffice.types import Entry

PRIORS: dict[str, type[Prior]] = {
    "Dirichlet": Dirichlet,
    "K2": K2,
    "Jeffreys": Jeffreys,
    "BDeu": BDeu,
    "Elastic": Elastic,
    "Expert": Expert,
    "Gaussian": Gaussian,
    "Laplace": Laplace,
    "HyperInverseWishart": HyperInverseWishart,
    "NormalInverseWishart": NormalInverseWishart,
    "NormalInverseGamma": NormalInverseGamma,
    "BGe": BGe,
    "Priors": Priors,
    "NormalInverseGammaRows": NormalInverseGammaRows,
    "ChainDirichlet": ChainDirichlet,
    "GivenNode": GivenNode,
}
NETWORKS: dict[str, type[BayesianNetwork | MarkovNetwork]] = {
    "BayesianNetwork": BayesianNetwork,
    "MarkovNetwork": MarkovNetwork,
}


def prior_from_dict(entry: Entry) -> Prior:
    """Rebuild a prior from `to_dict`'s data."""
    if entry["type"] == "Priors":
        return Priors.from_dict(entry, prior_from_dict)
    arguments: dict[str, Any] = {name: value for name, value in entry.items() if name != "type"}
    if arguments.get("main") == "inf":
        arguments["main"] = float("inf")
    if "network" in arguments:
        arguments["network"] = NETWORKS[arguments["network"]["type"]].from_dict(arguments["network"])
    return PRIORS[entry["type"]](**arguments)
