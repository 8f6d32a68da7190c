"""Which prior a node has: some priors settle on the network as a whole first, some speak of some nodes only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.models.cpds import AnyKind, NodeFamily, Nodes
from suffice.priors.prior import NodePrior, Prior
from suffice.priors.several import Priors
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG


def one_prior(prior: Any) -> Any:
    """Return the prior; a list of priors, or a mapping from nodes to priors, as one that has these as parts.

    >>> import suffice as sf
    >>> one_prior({"A": sf.BDeu(1)})
    Priors({'A': BDeu(ess=1.0)}, None)
    """
    if isinstance(prior, list | tuple):
        return Priors(*prior)
    if isinstance(prior, Mapping) and any(isinstance(one, Prior | type) for one in prior.values()):
        return Priors(prior, None)  # mappings to numbers are priors on hypotheses
    return prior


def bound(prior: Prior | None, dag: DAG, statistics: Statistics) -> Prior | None:
    """Return the prior with what it takes from the whole network, such as its number of variables."""
    return None if prior is None else prior.bound(dag, statistics)


def prior_of(prior: Prior | None, kind: AnyKind, family: NodeFamily) -> NodePrior | None:
    """Return the prior of one node: itself, or the one of several that is for the node or its kind; None for none."""
    return None if prior is None else prior.of_kind(kind.name, family)


def without_prior(prior: Prior | None, dag: DAG, nodes: Nodes) -> list[str]:
    """Return the nodes that have no prior though others have one; tied nodes have the prior of the first."""
    if prior is None:
        return []
    bare = [group for group in dag.groups if prior_of(prior, *nodes[group[0]]) is None]
    return [node for group in bare for node in group]
