"""The information of a conditional random field on graphs, and the standard errors that come from it.

Labellings do not notice some changes of the weights, such as one number added to those of all labels of an attribute:
the information is singular along these. The weights of a fit have no part along them, in units of their attributes, so
that their covariance is the pseudo-inverse of the information in these units.
"""

from __future__ import annotations

import numpy as np

from suffice.data.graph_codes import LabelledGraphs
from suffice.inference.label_graphs import marginals_along
from suffice.models.graph_crf import GraphModel
from suffice.types import Floats

FLAT = 1e-10
"""Directions of less information than this, relatively, are those that no labelling notices."""


def information(model: GraphModel, graphs: LabelledGraphs, by_graph: Floats | None = None) -> Floats:
    """Return the second derivatives of −Σ log p(y | x), which are the covariances of the features.

    ``by_graph`` says how often each graph counts.
    """
    weights = np.ones(graphs.n_graphs) if by_graph is None else by_graph
    at, size = model.potentials(graphs), model.layout.size
    columns = [
        model.layout.pulled(marginals_along(at, model.layout.potentials(graphs, direction)).times(weights))
        for direction in np.eye(size)
    ]
    whole = np.array(columns).reshape(size, size)
    return np.asarray((whole + whole.T) / 2)


def noticed(held: Floats, units: Floats) -> tuple[Floats, Floats]:
    """Return the information along the directions that labellings notice, and these as columns, in units."""
    if not len(units):
        return np.zeros(0), np.zeros((0, 0))
    values, vectors = np.linalg.eigh(held / units[:, None] / units)
    kept = values > FLAT * values.max()
    return values[kept], vectors[:, kept]


def covariance(held: Floats, units: Floats) -> Floats:
    """Return the covariance of the weights, of the part that labellings notice.

    >>> covariance(np.array([[2.0, -2.0], [-2.0, 2.0]]), np.ones(2)).round(9).tolist()
    [[0.125, -0.125], [-0.125, 0.125]]
    """
    values, vectors = noticed(held, units)
    return np.asarray((vectors / values) @ vectors.T / units[:, None] / units)


def shortest(held: Floats, units: Floats, weights: Floats) -> Floats:
    """Return the shortest weights, in units, of those with the same probabilities."""
    vectors = noticed(held, units)[1]
    return np.asarray(vectors @ (vectors.T @ (weights * units)) / units)
