"""Which prior a node has: some priors settle on the network as a whole first, some speak of one kind of node only."""

from __future__ import annotations

from typing import Any

from suffice.models.cpds import Family, NodeKind
from suffice.priors.several import Priors
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG


def one_prior(prior: Any) -> Any:
    """Return the prior; a list of priors as one, that has a part for each kind of node."""
    return Priors(*prior) if isinstance(prior, list | tuple) else prior


def bound(prior: Any, dag: DAG, statistics: Statistics) -> Any:
    """Return the prior with what it takes from the whole network, such as its number of variables."""
    return prior.bound(dag, statistics) if hasattr(prior, "bound") else prior


def prior_of(prior: Any, kind: NodeKind, family: Family) -> Any:
    """Return the prior of one node: itself, or the one of several that speaks of the node's kind."""
    return prior.of_kind(kind.name, family) if hasattr(prior, "of_kind") else prior
