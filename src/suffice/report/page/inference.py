"""Models as a page can compute with them: a junction tree, or a normal distribution, as plain values.

``report/web/types.js`` says what the values are, and ``report/web/local_engine.js`` answers with them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.errors import SufficeError
from suffice.inference.product import Product
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.joint_normal import JointNormal
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.models.queries import AnyQueries
from suffice.report.page.entries import Spec

MOST_CELLS = 50_000  # of all cliques of a discrete model
MOST_NORMAL = 100  # variables of a normal distribution


def tree_spec(model: Model, nodes: Sequence[str]) -> Spec | None:
    """Return a discrete model as a junction tree, or None where it has none that is small.

    Parameters
    ----------
    model : BayesianNetwork, MarkovNetwork or LogLinear
    nodes : sequence of str
        The nodes of the graph, in the order of the page's entries. Every index in the result is a place in it.

    Examples
    --------
    >>> import suffice as sf
    >>> tables = {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]}
    >>> model = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": ["x", "y"], "B": ["u", "v"]})
    >>> spec = tree_spec(model, ["B", "A"])
    >>> spec["factors"]
    [{'scope': [1, 0], 'values': [0.9, 0.1, 0.2, 0.8]}, {'scope': [1], 'values': [0.5, 0.5]}]
    >>> spec["cliques"], spec["above"], spec["directed"]
    ([[1, 0]], [-1], True)
    """
    if not isinstance(model, BayesianNetwork | MarkovNetwork):
        return None
    try:
        small = model.complexity().cells <= MOST_CELLS
        product = model._tables.inquiry.product if small else None
    except SufficeError:  # continuous variables, or nodes without tables
        return None
    if product is None or sorted(product.names) != sorted(nodes) or not _possible(model, product):
        return None
    place = {name: position for position, name in enumerate(nodes)}
    known = [place[name] for name in product.names]
    sizes = dict(zip(known, product.sizes, strict=True))
    tree = model._tables.inquiry.plan(frozenset()).tree
    directed = isinstance(model, BayesianNetwork)
    factors = [(tuple(known[v] for v in factor.scope), factor.values) for factor in product.factors]
    if directed:  # factor v is that of node v
        factors.sort(key=lambda factor: factor[0][-1])
    return {
        "sizes": [sizes[node] for node in range(len(nodes))],
        "factors": [{"scope": list(scope), "values": values.reshape(-1).tolist()} for scope, values in factors],
        "cliques": [[known[v] for v in clique] for clique in tree.cliques],
        "above": list(tree.parents),
        "directed": directed,
    }


def _possible(model: AnyQueries, product: Product) -> bool:
    """Whether all numbers are known, and leave something possible."""
    return all(np.isfinite(factor.values).all() for factor in product.factors) and np.isfinite(model.log_z)


def normal_spec(model: Model, nodes: Sequence[str]) -> Spec | None:
    """Return a normal distribution, that of a network of continuous variables included, or None where there is none.

    Parameters
    ----------
    model : JointNormal or BayesianNetwork
    nodes : sequence of str
        As for `tree_spec`.

    Examples
    --------
    >>> normal_spec(JointNormal(["x", "y"], [0, 1], covariance=[[1, 0.5], [0.5, 2]]), ["y", "x"])
    {'mean': [1.0, 0.0], 'covariance': [[2.0, 0.5], [0.5, 1.0]]}
    """
    if not isinstance(model, BayesianNetwork | JointNormal) or len(nodes) > MOST_NORMAL:
        return None
    if sorted(model.variables) != sorted(nodes):
        return None
    try:
        joint = model if isinstance(model, JointNormal) else model.to_joint_normal()
    except SufficeError:  # discrete variables, or one that is a combination of others
        return None
    places = [joint.names.index(name) for name in nodes]
    return {"mean": joint.mean[places].tolist(), "covariance": joint.covariance[np.ix_(places, places)].tolist()}
