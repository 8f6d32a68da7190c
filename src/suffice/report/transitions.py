"""The transitions of a chain as a map of colours: from each label to each, or from each state to each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.capabilities import model_of
from suffice.models.markov_chain import MarkovChainModel
from suffice.report.canvas import SHARES, SIGNED
from suffice.report.matrix import Matrix, draw_matrix
from suffice.report.table_heatmap import row_names, share_text, upper_limit
from suffice.result.chain_weights import chain_of, transition_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def transitions_plot(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the weights of transitions between labels, or the transition probabilities of a Markov chain.

    Weights are white at zero and as strong for either sign.

    Parameters
    ----------
    model : ChainCRF, MEMM, MarkovChainModel, or a fit of one
    ax : Axes, optional
        Where to draw; a new figure of one column's width unless given.

    Returns
    -------
    Axes

    Notes
    -----
    Needs the extra ``plot``: ``pip install 'suffice[plot]'``.

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.report import transitions_plot
    >>> fit = sf.fit(sf.MarkovChain(order=1), ["aab", "abb"], prior=sf.Dirichlet(1.0))
    >>> transitions_plot(fit).images[0].get_array().round(2).tolist()
    [[0.4, 0.6], [0.33, 0.67]]
    """
    held = model_of(model)
    matrix = _of_markov(held) if isinstance(held, MarkovChainModel) else _of_labels(model)
    return draw_matrix(matrix, ax)


def _of_markov(model: MarkovChainModel) -> Matrix:
    table = model.tables[-1]
    return Matrix(
        values=table.values,
        rows=row_names(table),
        columns=table.family.child.labels,
        limits=(0.0, upper_limit(table.values)),
        colours=SHARES,
        of="probability",
        numbers=np.vectorize(share_text, otypes=[object])(table.values),
        across="to",
        down="from",
        noun="state",
    )


def _of_labels(model: Any) -> Matrix:
    chain = chain_of(model)
    weights = transition_matrix(chain).to_numpy()
    labels = [str(label) for label in chain.label.labels]
    bound = float(np.abs(weights).max(initial=0.0)) or 1.0
    decimals = int(np.clip(1 - np.floor(np.log10(bound)), 0, 4))
    return Matrix(
        values=weights,
        rows=[(label,) for label in labels],
        columns=labels,
        limits=(-bound, bound),
        colours=SIGNED,
        of="weight",
        numbers=np.vectorize(lambda x: signed(x, decimals), otypes=[object])(weights),
        across="to",
        down="from",
        noun="label",
    )


def signed(value: float, decimals: int) -> str:
    """Write a number with a proper minus sign, and zero without any.

    >>> signed(-1.25, 1), signed(-0.01, 1)
    ('−1.2', '0.0')
    """
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")
