"""Models of pgmpy: ``DiscreteBayesianNetwork`` with a ``TabularCPD`` a node, ``DiscreteMarkovNetwork`` with factors.

A ``TabularCPD`` has the child's states as rows and the parents' configurations as columns, the last parent varying
fastest. Names, states with their types, the order of parents and every number survive in both directions, and so does
which variables are latent.

Handing over   Constants of a Markov network are multiplied into its first factor, and variables outside all factors get
               a factor of ones, since pgmpy knows neither.
Taking         Labels are kept where they are text, numbers or bools, all of one sort; others become text, with a note,
               and so do names. Where a table lists a variable's states in another order than the variable's own
               table, or the first factor that names it, its numbers are put in that order.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from suffice.errors import ArgumentError, ModelError, listing
from suffice.io.interop import (
    Array,
    ForeignNode,
    bayes_net,
    is_of,
    network_in,
    package,
    proper_factors,
    variables_of,
    whole_tables,
)
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.result.fit import Fit
from suffice.values import Label

CONTINUOUS = ("LinearGaussianBayesianNetwork", "FunctionalBayesianNetwork", "SEM", "SEMGraph", "SEMAlg")


# Handing over -------------------------------------------------------------------------------------------------


def to_pgmpy(thing: Model | Fit) -> Any:
    """Return a network as a model of pgmpy, which must be installed.

    Parameters
    ----------
    thing : BayesianNetwork, MarkovNetwork or Fit

    Returns
    -------
    pgmpy.models.DiscreteBayesianNetwork or pgmpy.models.DiscreteMarkovNetwork
    """
    model = network_in(thing, "pgmpy")
    states = {variable.name: list(variable.labels) for variable in model.schema.variables}
    if isinstance(model, MarkovNetwork):
        return _undirected_to(model, states)
    return _directed_to(model, states)


def _directed_to(model: BayesianNetwork, states: dict[str, list[Label]]) -> Any:
    tables = whole_tables(model, "pgmpy")
    table_of = package("pgmpy", "pgmpy.factors.discrete", "TabularCPD")
    found = package("pgmpy", "pgmpy.models", "DiscreteBayesianNetwork")()
    found.add_nodes_from(model.dag.nodes)
    found.add_edges_from(model.dag.edges)
    found.latents = set(dict(model.dag.latent))
    for (*parents, node), values in tables.items():
        cpd = table_of(
            node,
            len(states[node]),
            values.reshape(-1, len(states[node])).T,
            evidence=parents or None,
            evidence_card=[len(states[parent]) for parent in parents] or None,
            state_names={name: states[name] for name in (node, *parents)},
        )
        found.add_cpds(cpd)
    return found


def _undirected_to(model: MarkovNetwork, states: dict[str, list[Label]]) -> Any:
    factors = proper_factors(model, "pgmpy", once=False)
    factor_of = package("pgmpy", "pgmpy.factors.discrete", "DiscreteFactor")
    found = package("pgmpy", "pgmpy.models", "DiscreteMarkovNetwork")()
    found.add_nodes_from(model.variables)
    for names, values in factors:
        found.add_edges_from(itertools.combinations(names, 2))
        labels = {name: states[name] for name in names}
        found.add_factors(factor_of(list(names), list(values.shape), values, state_names=labels))
    return found


# Taking -------------------------------------------------------------------------------------------------------


def from_pgmpy(model: Any) -> BayesianNetwork | MarkovNetwork:
    """Return a model of pgmpy as a network.

    Parameters
    ----------
    model : pgmpy.models.DiscreteBayesianNetwork or pgmpy.models.DiscreteMarkovNetwork

    Returns
    -------
    BayesianNetwork or MarkovNetwork
        With notes on whatever was changed on the way.
    """
    if any(is_of(model, "pgmpy", kind) for kind in CONTINUOUS):
        raise ArgumentError(
            f"The {type(model).__name__} of pgmpy has continuous variables; networks of discrete ones can be taken."
        )
    if is_of(model, "pgmpy", "DiscreteBayesianNetwork"):
        return _directed(model)
    if is_of(model, "pgmpy", "DiscreteMarkovNetwork"):
        return _undirected(model)
    raise ArgumentError(
        "What can be taken from pgmpy is a DiscreteBayesianNetwork or a DiscreteMarkovNetwork. "
        f"Got {type(model).__name__} instead."
    )


def _directed(model: Any) -> BayesianNetwork:
    names, notes = _names(model.nodes())
    cpds = {cpd.variable: cpd for cpd in model.get_cpds()}
    for node in names:
        if node not in cpds:
            raise ModelError(f"Node {node!r} has no table. Give the pgmpy model one for every node, by add_cpds.")
        above, said = set(model.predecessors(node)), cpds[node].variables[1:]
        if above != set(said):
            raise ModelError(
                f"The table of {node!r} is given {listing(said)}, but the parents in the graph are "
                f"{listing(sorted(above, key=str))}. They must be the same."
            )
    states = {node: _states(cpd, node) for node, cpd in cpds.items()}
    nodes = {}
    for node, name in names.items():
        cpd = cpds[node]
        values = np.moveaxis(_in_order(cpd, states, f"The table of {node!r}"), 0, -1)
        nodes[name] = ForeignNode(states[node], tuple(names[parent] for parent in cpd.variables[1:]), values)
    latent = [name for node, name in names.items() if node in model.latents]
    return bayes_net(nodes, latent=latent, notes=notes)


def _undirected(model: Any) -> MarkovNetwork:
    names, notes = _names(model.nodes())
    states: dict[Any, Sequence[Label]] = {}
    for factor in model.get_factors():
        for node in factor.variables:
            states.setdefault(node, _states(factor, node))
    for node in names:
        if node not in states:
            raise ModelError(
                f"No factor is over {node!r}, so its states are not known. Give the pgmpy model a factor of ones."
            )
    variables, changed = variables_of({name: states[node] for node, name in names.items()})
    factors = []
    for number, factor in enumerate(model.get_factors()):
        scope = tuple(names[node] for node in factor.variables)
        factors.append((scope, _in_order(factor, states, f"Factor {number}")))
    schema = {name: variable.labels for name, variable in variables.items()}
    return MarkovNetwork(factors, schema=schema, notes=(*notes, *changed))


def _names(nodes: Iterable[Hashable]) -> tuple[dict[Any, str], list[str]]:
    """Return the text that names each node, and a note where that is new."""
    names = {node: str(node) for node in nodes}
    changed = [node for node in names if not isinstance(node, str)]
    if len(set(names.values())) < len(names):
        raise ModelError(f"Names must be text, and as text some of {listing(names, 12)} are the same. Rename them.")
    return names, [f"The names {listing(changed, 12)} became text."] if changed else []


def _states(table: Any, node: Any) -> Sequence[Label]:
    """Return the states that a table gives a variable; pgmpy counts them where it was told none."""
    size = int(table.cardinality[table.variables.index(node)])
    return list(table.state_names.get(node, range(size)))


def _in_order(table: Any, states: dict[Any, Sequence[Label]], what: str) -> Array:
    """Return the numbers of a table with every axis in the order of the variable's own states."""
    values = np.array(table.values, np.float64)
    for axis, node in enumerate(table.variables):
        said, own = _states(table, node), states[node]
        if len(said) != values.shape[axis] or set(said) != set(own):
            raise ModelError(
                f"{what} has the states {listing(said)} of {node!r}, elsewhere they are {listing(own)}. "
                "They must be the same."
            )
        if said != own:
            values = np.take(values, [said.index(label) for label in own], axis=axis)
    return values
