"""The priors by name, for files and the command line. A prior is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.models.bayes_net import BayesianNetwork
from suffice.priors.dirichlet import K2, BDeu, Dirichlet, DirichletPrior, Jeffreys
from suffice.priors.expert import Expert
from suffice.priors.penalty import Gaussian, Laplace, Penalty

PRIORS: dict[str, type[DirichletPrior | Penalty]] = {
    "Dirichlet": Dirichlet,
    "K2": K2,
    "Jeffreys": Jeffreys,
    "BDeu": BDeu,
    "Expert": Expert,
    "Gaussian": Gaussian,
    "Laplace": Laplace,
}


def prior_from_dict(entry: Mapping[str, Any]) -> Any:
    """Rebuild a prior from `to_dict`'s data."""
    arguments = {name: value for name, value in entry.items() if name != "type"}
    if "network" in arguments:
        arguments["network"] = BayesianNetwork.from_dict(arguments["network"])
    return PRIORS[entry["type"]](**arguments)
