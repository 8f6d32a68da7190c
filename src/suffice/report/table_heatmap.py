"""A conditional table as a map of colours: one row a configuration of the parents, one column a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ArgumentError, require_text, shown
from suffice.models.capabilities import HasNodes, model_of
from suffice.models.cpds.tabular import TabularCPD
from suffice.report.canvas import SHARES
from suffice.report.matrix import Matrix, draw_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.result.fit import Fit
    from suffice.types import Floats
    from suffice.values import Label


def cpt_heatmap(source: Fit | HasNodes | TabularCPD, node: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw p(node | parents) as a map of colours.

    Parameters
    ----------
    source : Fit, BayesianNetwork or table
        Where the table is: a fit, its model, or ``model.cpd(node)`` itself.
    node : str, optional
        Which node's table; left out for a table.
    ax : Axes, optional
        Where to draw; a new figure of one column's width unless given.

    Returns
    -------
    Axes

    Notes
    -----
    Rows that are unknown, ``unseen_parents="nan"``, are grey. Of many rows, some are named, and a line below says
    which. Needs the extra ``plot``: ``pip install 'suffice[plot]'``.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.report import cpt_heatmap
    >>> fit = sf.fit(sf.DAG("rain -> wet"), {"rain": ["no", "no", "yes"], "wet": ["no", "yes", "yes"]})
    >>> ax = cpt_heatmap(fit, "wet")
    >>> ax.images[0].get_array().tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    cpd = table_of(source, node)
    parents, child = cpd.family.parents, cpd.family.child
    remarks = []
    if np.isnan(cpd.values).any():
        remarks.append("grey: not known, for want of data")
    if cpd.configurations is not None:
        remarks.append("other configurations of the parents have no rows of their own")
    matrix = Matrix(
        values=cpd.values,
        rows=row_names(cpd),
        columns=child.labels,
        limits=(0.0, upper_limit(cpd.values)),
        colours=SHARES,
        of="probability",
        numbers=np.vectorize(share_text, otypes=[object])(cpd.values),
        across=child.name,
        down=", ".join(parent.name for parent in parents),
        noun="configuration",
    )
    return draw_matrix(matrix, ax, remarks)


def table_of(source: Fit | HasNodes | TabularCPD, node: str | None) -> TabularCPD:
    """Return the table of a node, from a fit, a network, or the table itself."""
    if isinstance(source, TabularCPD) and node is None:
        return source
    model = model_of(source)
    if not isinstance(model, HasNodes):
        raise ArgumentError(
            "The first argument must be a fit of a Bayesian network, the network, or a table as model.cpd('A') is. Got "
            f"{shown(source)} instead."
        )
    found = model.cpd(require_text("node", node))
    if not isinstance(found, TabularCPD):
        raise ArgumentError(
            f"Node {node!r} is of kind {found.kind!r}, and a picture of a table needs one of kind 'tabular'. "
            "posterior_plot and weights_plot draw the parameters of other kinds."
        )
    return found


def row_names(cpd: TabularCPD) -> list[tuple[Label, ...]]:
    """Return the states of the parents in every row; of one row without parents, nothing."""
    return [labels for labels, _ in cpd.rows()]


def upper_limit(values: Floats) -> float:
    """Return where a scale of probabilities ends: at 1, or a little above the largest where all are small.

    >>> upper_limit(np.array([0.6, 0.4])), upper_limit(np.array([0.21, 0.02]))
    (1.0, 0.25)
    """
    top = float(np.nanmax(values, initial=0.0))
    return 1.0 if top > 0.5 or top <= 0 else float(np.ceil(20 * top) / 20)


def share_text(value: float) -> str:
    """Write a probability in three digits at most.

    >>> share_text(0.25), share_text(0.001), share_text(1.0), share_text(float("nan"))
    ('.25', '<.01', '1', '')
    """
    if np.isnan(value):
        return ""
    if value in (0.0, 1.0):
        return str(int(value))
    if value < 0.005:
        return "<.01"
    return ">.99" if value >= 0.995 else f"{value:.2f}"[1:]
