"""How strong each edge of a fitted graph is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.errors import ArgumentError, ModelError, shown
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.capabilities import model_of
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.joint_normal import JointNormal
from suffice.models.log_linear import LogLinear
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.result.fit import Fit
from suffice.structures.cliques import Cliques
from suffice.structures.dag import DAG
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.pairwise import Pairwise
from suffice.structures.structure import Structure
from suffice.types import Floats

Edge = tuple[str, str]
MOST_CELLS = 1 << 20
"""Larger families are not asked for."""


@dataclass(frozen=True, eq=False)
class Strengths:
    """A graph, and the strength of every edge.

    Attributes
    ----------
    nodes : tuple of str
    edges : tuple of pair of str
    directed : bool
    values : array, shape (n_edges,), or None
        NaN where a strength is not known; None for a structure without numbers.
    measure : str
        What a strength is.
    signed : bool
        Whether strengths below zero mean something.
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    directed: bool
    values: Floats | None = None
    measure: str = ""
    signed: bool = False


def strengths_of(source: Fit | Model | Structure) -> Strengths:
    """Return the graph of a fit, a model or a structure with the strengths of its edges.

    Of discrete nodes of a network, a strength is the mutual information of child and parent given the other parents;
    of continuous ones, the change of the child in standard deviations for one standard deviation of the parent. Of
    Markov random fields it is the mutual information of two neighbours, of `Ising` and the like their coupling, and of
    normal distributions the partial correlation.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"]}
    >>> found = strengths_of(sf.fit(sf.DAG("A -> B"), data))
    >>> found.edges, found.values.round(4).tolist(), found.measure
    ((('A', 'B'),), [0.6931], 'mutual information given other parents (nats)')
    """
    model = model_of(source)
    structure = source.structure if isinstance(source, Fit) else None
    if isinstance(model, DAG):
        return Strengths(model.nodes, tuple(model.edges), True)
    if isinstance(model, Cliques | GaussianMarkov | Pairwise):
        return Strengths(model.variables, tuple(model.edges), False)
    if isinstance(model, BayesianNetwork):
        return _of_network(model)
    if isinstance(model, LogLinear) and isinstance(model.features, Pairwise):
        return _of_couplings(model)
    if isinstance(model, MarkovNetwork):
        return _of_field(model, structure if isinstance(structure, Cliques) else model.cliques)
    if isinstance(model, JointNormal):
        return _of_normal(model, structure if isinstance(structure, GaussianMarkov) else None)
    raise ArgumentError(
        "The first argument must have a graph: a fit of sf.DAG, sf.Cliques, sf.Features, sf.Ising or "
        f"sf.GaussianMarkov, its model, or such a structure. Got {shown(source)} instead."
    )


# Networks -----------------------------------------------------------------------------------------------------


def _of_network(model: BayesianNetwork) -> Strengths:
    dag, schema = model.dag, model.schema
    edges = tuple(dag.edges)
    if edges and not any(variable.is_discrete for variable in schema.variables):
        held = _standardised(model, edges)
        return Strengths(dag.nodes, edges, True, held, "standardised coefficient", True)
    values = np.full(len(edges), np.nan)
    place = {edge: number for number, edge in enumerate(edges)}
    for child in dag.nodes:
        family = (*dag.parents[child], child)
        sizes = [schema[name].n_states if schema[name].is_discrete else 0 for name in family]
        if len(family) == 1 or not 0 < math.prod(sizes) <= MOST_CELLS:
            continue
        try:
            joint = model._table(family).to_numpy()
        except ModelError:  # rows that are not known, or tables too large to be multiplied
            continue
        for axis, parent in enumerate(dag.parents[child]):
            values[place[parent, child]] = conditional_information(joint, axis, joint.ndim - 1)
    return Strengths(dag.nodes, edges, True, values, "mutual information given other parents (nats)")


def _standardised(model: BayesianNetwork, edges: Sequence[Edge]) -> Floats:
    joint = model.to_joint_normal()
    sd = dict(zip(joint.variables, joint.sd.tolist(), strict=True))
    found = []
    for parent, child in edges:
        cpd = model.cpd(child, LinearGaussianCPD)
        slope = float(cpd.coefficients.reshape(-1)[model.dag.parents[child].index(parent)])
        found.append(slope * sd[parent] / sd[child])
    return np.array(found)


def conditional_information(joint: Floats, first: int, second: int) -> float:
    """Return I(a; b | all others) of a table of probabilities, in nats.

    >>> round(conditional_information(np.array([[0.5, 0.0], [0.0, 0.5]]), 0, 1), 4)
    0.6931
    """

    def entropy(*summed: int) -> float:
        p = joint.sum(axis=summed).reshape(-1)
        held = p[p > 0]
        return -float((held * np.log(held)).sum())

    return max(0.0, entropy(first) + entropy(second) - entropy() - entropy(first, second))


# Graphs without directions ------------------------------------------------------------------------------------


def _of_field(model: MarkovNetwork, cliques: Cliques) -> Strengths:
    found = []
    for edge in cliques.edges:
        found.append(conditional_information(model.query(list(edge)).to_numpy(), 0, 1))
    return Strengths(
        cliques.variables, tuple(cliques.edges), False, np.array(found), "mutual information of neighbours (nats)"
    )


def _of_couplings(model: LogLinear) -> Strengths:
    structure = model.features
    assert isinstance(structure, Pairwise)
    place = {name: position for position, name in enumerate(structure.variables)}
    table = model.couplings.to_numpy()
    values = np.array([table[place[a], place[b]] for a, b in structure.edges], np.float64)
    return Strengths(structure.variables, tuple(structure.edges), False, values, "coupling", True)


def _of_normal(model: JointNormal, structure: GaussianMarkov | None) -> Strengths:
    partial, names = model.partial_correlations, model.variables
    place = {name: position for position, name in enumerate(names)}
    if structure is None:
        pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names)) if partial[i, j]]
        edges = tuple((names[i], names[j]) for i, j in pairs)
    else:
        edges = tuple(structure.edges)
    values = np.array([partial[place[a], place[b]] for a, b in edges], np.float64)
    return Strengths(names, edges, False, values, "partial correlation", True)
