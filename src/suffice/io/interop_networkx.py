"""Graphs for networkx: of a structure, of a Bayesian and of a Markov network.

DAG, BayesianNetwork
    A ``networkx.DiGraph``. Every node has the attribute ``parents``, in their order, ``latent``, and in a network
    ``states``. `suffice.DAG` takes such a graph; networkx lists edges by their first node, so parents come back in the
    order of the nodes. Where theirs is another, ``sf.DAG({node: graph.nodes[node]["parents"] for node in graph})``
    gives the graph that it was. Kinds and ties of nodes are not handed over.
MarkovNetwork
    A ``networkx.Graph`` with an edge where two variables share a factor. Every node has the attribute ``states``, and
    ``graph.graph["factors"]`` holds the tables: nothing is lost.
"""

from __future__ import annotations

import itertools
from typing import Any

from suffice.io.interop import network_in, package
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.result.fit import Fit
from suffice.structures.dag import DAG


def to_networkx(thing: Model | Fit) -> Any:
    """Return the graph of a structure, of a network or of a fit; needs networkx.

    Parameters
    ----------
    thing : DAG, BayesianNetwork, MarkovNetwork or Fit

    Returns
    -------
    networkx.DiGraph or networkx.Graph
        Directed for a DAG or a Bayesian network, undirected for a Markov network; see `suffice.io.interop_networkx`.

    Examples
    --------
    >>> import suffice as sf
    >>> graph = sf.to_networkx(sf.DAG("rain -> wet <- sprinkler"))
    >>> list(graph.edges), graph.nodes["wet"]["parents"]
    ([('rain', 'wet'), ('sprinkler', 'wet')], ('rain', 'sprinkler'))
    >>> sf.DAG(graph) == sf.DAG("rain -> wet <- sprinkler")
    True
    """
    if isinstance(thing, DAG):
        return _directed(thing)
    model = network_in(thing, "networkx")
    if isinstance(model, MarkovNetwork):
        return _undirected(model)
    return _with_states(_directed(model.dag), model)


def _directed(dag: DAG) -> Any:
    graph = package("networkx", "networkx").DiGraph()
    hidden = dict(dag.latent)
    for node, parents in dag.parents.items():
        graph.add_node(node, parents=parents, latent=node in hidden)
    graph.add_edges_from(dag.edges)
    return graph


def _undirected(model: MarkovNetwork) -> Any:
    graph = package("networkx", "networkx").Graph(factors=model.factors)
    graph.add_nodes_from(model.schema)
    for scope in model.scopes:
        graph.add_edges_from(itertools.combinations(scope, 2))
    return _with_states(graph, model)


def _with_states(graph: Any, model: BayesianNetwork | MarkovNetwork) -> Any:
    for variable in model.schema.variables:
        graph.nodes[variable.name]["states"] = variable.states
    return graph
