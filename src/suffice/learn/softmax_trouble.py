"""When a softmax regression has no answer, or no single one: absent classes, and collinear inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.data.variable import Variable
from suffice.errors import EstimationError, Mention, Remedy, listing, made
from suffice.inference.dependence import combination
from suffice.learn.softmax_objective import SoftmaxObjective
from suffice.models.cpds.softmax_trouble import SINGULAR
from suffice.stats.source import BlockSource
from suffice.text import plural
from suffice.types import Floats

SUSPECT = 1e-7
"""Least eigenvalues of the correlations from which on products of the terms do not tell whether they are collinear."""
SHOWN = 8


def require_classes(target: Variable, counts: Floats) -> None:
    """Refuse a class that never occurs, and data of one class."""
    absent = [label for label, count in zip(target.labels, counts, strict=True) if not count > 0]
    if absent and len(absent) < target.n_states - 1:
        raise EstimationError(
            f"No row has the class {listing(absent)} of {target.name!r}, so its intercept runs to −∞. Declare the "
            f"classes that occur: schema={{{target.name!r}: sf.categorical([…])}}."
        )
    if absent or target.n_states < 2:
        seen = [label for label in target.labels if label not in absent]
        raise EstimationError(
            f"All rows have the same class of {target.name!r}, {listing(seen)}, and there is nothing to tell apart. "
            "Pass rows of at least two classes."
        )


def accurate_root(objective: SoftmaxObjective) -> Floats | None:
    """Return a root of the correlations, made of the rows themselves, where products of terms are not accurate enough.

    Raises when a combination of terms does not vary, so that slopes are not determined.
    """
    summary = objective.summary
    if summary.correlations is None or not len(summary.units):
        return None
    values, vectors = np.linalg.eigh(summary.correlations)
    if values[0] > SUSPECT:
        return None
    root, limit = _qr(objective), SINGULAR
    if root is None:
        root, limit = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T, 1e-8
    _, sizes, directions = np.linalg.svd(root)
    if sizes[-1] <= limit * max(float(sizes[0]), 1e-150):
        _refuse_collinear(objective, directions[-1])
    return np.asarray(np.linalg.qr(root, mode="r"))


def _qr(objective: SoftmaxObjective) -> Floats | None:
    """Return R with RᵀR the correlations, from the rows themselves; None where they cannot be read here."""
    if not isinstance(objective.source, BlockSource):
        return None
    summary, design = objective.summary, objective.design
    root = np.zeros((0, design.n_terms))

    def of_block(block: Any) -> None:
        nonlocal root
        for _, x, _, weights in design.pieces(block):
            dense = x if isinstance(x, np.ndarray) else x.toarray()
            rows = (dense - summary.centre) / summary.units
            if weights is not None:
                rows *= np.sqrt(weights)[:, None]
            root = np.asarray(np.linalg.qr(np.concatenate([root, rows]), mode="r"))

    for _ in objective.source.each(of_block):
        pass
    short = np.zeros((max(design.n_terms - len(root), 0), design.n_terms))
    return np.asarray(np.concatenate([root, short]) / np.sqrt(objective.total))


def _refuse_collinear(objective: SoftmaxObjective, direction: Floats) -> None:
    summary, labels = objective.summary, objective.design.labels
    null = np.where(np.abs(direction) > 1e-6, direction, 0.0) / summary.units
    constant, table = summary.squares == 0, objective.held
    n_free = len(labels) + int(objective.intercept)
    if table is not None and table.n_expected < n_free:
        said = f"{plural(table.n_expected, 'row')} cannot tell {plural(n_free, 'coefficient')} of a class apart"
    elif constant.any() and objective.intercept:
        said = f"the input {labels[int(np.argmax(constant))]!r} has the same value in all rows"
    else:
        without = "" if objective.intercept else ", zero"
        null = null / np.abs(null[null != 0]).min()
        terms = [(float(c), label) for c, label in zip(null, labels, strict=True) if c]
        more = " + …" if len(terms) > SHOWN else ""
        said = f"{combination(terms[:SHOWN])}{more} has the same value in all rows{without}"
    raise EstimationError(
        f"The slopes are not determined: {said}. Leave an input out, or pass ",
        Mention("such a prior", "a prior such as "),
        Remedy("prior", made("Gaussian", 10)),
        ".",
    )
