"""Sparse precision matrices of classes: known zeros of a graph, or those of the graphical lasso."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.errors import EstimationError, Mention, Remedy, Text, listing
from suffice.learn.class_gaussian_covariance import Scatter
from suffice.learn.gaussian_steps import newton_steps
from suffice.models.gaussian_regressions import SINGULAR, precision_of, regressions_of
from suffice.optimise.graphical_lasso import ROUNDING, SparseInverse, graphical_lasso
from suffice.progress import Watch
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.types import Floats

CLOSE = 1e-11
"""Gaps between the correlations of data and model that end Newton's steps."""
PATIENCE = 10
RAISE = Mention("raise max_iter", "Raise max_iter")


@dataclass(frozen=True)
class Sparse:
    """Precision matrices with zeros.

    Attributes
    ----------
    precisions, covariances : array, shape (K, d, d)
    n_edges : int
        Pairs of inputs that are not zero, of all classes together.
    remarks : tuple of str
    """

    precisions: Floats
    covariances: Floats
    n_edges: int
    remarks: tuple[str, ...]


def sparse(scatter: Scatter, covariances: Floats, watch: Watch, max_iter: int) -> Sparse:
    """Return the sparse precision matrix of every class from its covariance."""
    structure = scatter.structure
    found: list[Floats] = []
    remarks: list[str] = []
    with watch.work("sparse precision matrices", len(covariances), "classes"):
        for group, covariance in enumerate(covariances):
            if structure.graph is not None:
                _require_cliques(scatter, group, covariance, structure.graph)
                precision, remark = _with_zeros(structure.graph, covariance, max_iter)
            else:
                lasso = graphical_lasso(covariance, float(structure.alpha or 0.0), max_iter)
                precision = lasso.precision
                remark = _lasso_remark(lasso, max_iter)
            if remark:
                remarks.append(Text(f"The precision matrix of {scatter.who(group)} stopped ", remark, "."))
            found.append(precision)
            watch.advance(1, "")
    precisions = np.array(found)
    n_edges = int(np.count_nonzero(precisions * np.triu(np.ones_like(precisions[0]), 1)))
    if structure.alpha is not None:
        pairs = precisions[0].size - len(precisions[0])
        remarks.insert(0, f"The graphical lasso kept {n_edges:,} of {len(precisions) * pairs // 2:,} pairs of inputs; "
                          "free parameters are counted by these.")  # fmt: skip
    return Sparse(precisions, _inverse(precisions), n_edges, tuple(remarks))


def _lasso_remark(lasso: SparseInverse, max_iter: int) -> str:
    if lasso.violation <= ROUNDING:
        return ""
    said = f"with conditions violated by {lasso.violation:.3g}"
    if lasso.n_steps >= max_iter:
        return Text(said, ". ", RAISE)
    return f"{said}: alpha is so small that rounding hides the optimum, as the covariance matrix is singular. Raise it"


def _inverse(precisions: Floats) -> Floats:
    roots = np.sqrt(np.diagonal(precisions, axis1=1, axis2=2))
    unit = roots[:, :, None] * roots[:, None, :]
    half = np.linalg.inv(np.linalg.cholesky(precisions / unit))
    return np.asarray(np.swapaxes(half, 1, 2) @ half / unit, np.float64)


def _with_zeros(graph: GaussianMarkov, covariance: Floats, max_iter: int) -> tuple[Floats, str]:
    """Return the precision matrix whose inverse agrees with the covariance on the diagonal and on edges."""
    d = len(covariance)
    if graph.is_chordal:
        return precision_of(d, regressions_of(graph, covariance)), ""
    roots = np.sqrt(np.diag(covariance))
    unit = roots[:, None] * roots
    points = newton_steps(covariance / unit, graph)
    best, waited = next(points), 0
    for _ in range(max_iter):
        if best.gap <= CLOSE or waited == PATIENCE:
            break
        here = next(points)
        best, waited = (here, 0) if here.gap < best.gap else (best, waited + 1)
    if best.gap <= 1e-9:
        return best.precision / unit, ""
    return best.precision / unit, Text(f"with a gap of {best.gap:.3g} between correlations. ", RAISE)


def _require_cliques(scatter: Scatter, group: int, covariance: Floats, graph: GaussianMarkov) -> None:
    """Refuse a clique whose correlations are singular: then no precision matrix with these zeros fits."""
    place = {name: position for position, name in enumerate(graph.variables)}
    roots = np.sqrt(np.diag(covariance))
    correlations = covariance / roots[:, None] / roots
    for clique in graph.cliques:
        block = [place[name] for name in clique]
        if not np.linalg.eigvalsh(correlations[np.ix_(block, block)])[0] > SINGULAR:
            raise EstimationError(
                f"The covariance matrix of {listing(clique)} in {scatter.who(group)} is singular, and the graph joins "
                "all of them, so that the estimate does not exist. Take edges out, collect more rows of the class, or "
                "shrink: ",
                Remedy("shrinkage", 0.1),
                ".",
            )
