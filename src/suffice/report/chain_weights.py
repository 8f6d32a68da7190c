"""A picture of a chain of labels: its largest weights of attributes, and the matrix of its transitions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import ArgumentError, listing, require_whole, shown
from suffice.files import atomic_write
from suffice.report.canvas import INK, NEGATIVE, POSITIVE, SIGNED, Look, pyplot
from suffice.result.chain_weights import TopWeights, chain_of, state_table, transition_matrix
from suffice.text import shorten
from suffice.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, CELL = 0.2, 0.28  # height of a bar and side of a cell, in inches
BARS = 5.8  # width of all that belongs to the bars
LEAST, MOST = 4.2, 14.0  # height of the picture, and what a map of very many labels may take of it
MOST_BARS = 200  # of either sign
FEW_BARS, FEW_LABELS = 8, 12  # fewer bars leave room below; more labels have no numbers in their cells
NAMED = 45  # labels that have room for their names
LONGEST, LONGEST_LABEL = 32, 14  # characters of a name


def chain_weights_plot(model: Any, n: int = 15, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the largest weights of attributes as bars, and the weights of transitions as a map of colours.

    Parameters
    ----------
    model : ChainModel, or a fit or estimator that has one
    n : int
        So many positive and so many negative weights of attributes.
    path : str or path, optional
        Where to write the picture; its ending says how: ``.png``, ``.pdf``, ``.svg``.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Needs the extra ``plot``: ``pip install 'suffice[plot]'``.
    """
    chain, n = chain_of(model), require_whole("n", n, 1)
    if n > MOST_BARS:
        raise ArgumentError(
            f"The 'n' argument must be at most {MOST_BARS}, which a picture has room for. Got {n:,} instead; "
            "state_table(model, n) lists more."
        )
    plt, ending = pyplot(), "" if path is None else _ending(path)
    top, matrix = state_table(chain, n), transition_matrix(chain)
    side = min(max(CELL * chain.layout.n_labels, LEAST - 1.2), MOST - 1.6)
    height = max(ROW * len(top) + 0.8, side + 1.2, LEAST)
    widths = (BARS, side + 2.0)
    figure: Figure = plt.figure(figsize=(sum(widths), height), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=widths)
    _bars(left, top)
    _map(figure, right, matrix.to_numpy(), [str(label) for label in chain.label.labels])
    if path is not None:
        with atomic_write(path, binary=True) as file:
            figure.savefig(file, format=ending, dpi=150)
    return figure


def _bars(ax: Axes, top: TopWeights) -> None:
    """Draw one bar a weight, the largest above."""
    places = np.arange(len(top))
    colours = [POSITIVE if weight > 0 else NEGATIVE for weight in top.weights]
    ax.barh(places, top.weights, color=colours, height=0.75)
    names = [f"{shorten(str(name), LONGEST)} → {shorten(str(label), LONGEST_LABEL)}" for name, label in top.keys]
    ax.set_yticks(places, names, fontsize=7.5, parse_math=False)
    ax.set_ylim(max(len(top), FEW_BARS) - 0.4, -0.6)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set(xlabel="weight", title="Largest weights of attributes")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    if not len(top):
        ax.text(0.5, 0.5, "no weight differs from zero", transform=ax.transAxes, ha="center", color=INK)


def _map(figure: Figure, ax: Axes, weights: Floats, labels: list[str]) -> None:
    """Draw the matrix, white at zero and as strong for either sign."""
    bound = float(np.abs(weights).max(initial=0.0)) or 1.0
    image = ax.imshow(weights, cmap=SIGNED, vmin=-bound, vmax=bound)
    places = np.arange(0, len(labels), -(-len(labels) // NAMED))
    names = [shorten(labels[place], LONGEST_LABEL) for place in places]
    look: Look = {"fontsize": 9 if len(labels) <= FEW_LABELS else 7.5, "parse_math": False}
    ax.set_xticks(places, names, rotation=0 if max(map(len, names)) * len(names) <= 24 else 90, **look)
    ax.set_yticks(places, names, **look)
    ax.tick_params(which="both", length=0)
    ax.set(xlabel="to", ylabel="from", title="Weights of transitions", anchor="N")
    if len(labels) <= NAMED:
        edges = np.arange(1, len(labels)) - 0.5
        ax.hlines(edges, -0.5, len(labels) - 0.5, color="#E4E4E4", linewidth=0.5)
        ax.vlines(edges, -0.5, len(labels) - 0.5, color="#E4E4E4", linewidth=0.5)
    if len(labels) <= FEW_LABELS:
        _numbers(ax, weights, bound)
    figure.colorbar(image, cax=ax.inset_axes((1.04, 0.0, 0.045, 1.0)), label="weight")


def _numbers(ax: Axes, weights: Floats, bound: float) -> None:
    decimals = int(np.clip(2 - np.ceil(np.log10(bound)), 0, 4))
    for (row, column), weight in np.ndenumerate(np.round(weights, decimals) + 0.0):  # which makes −0 a zero
        colour = "white" if abs(weight) > 0.65 * bound else INK
        text = f"{weight:.{decimals}f}".replace("-", "−")
        ax.text(column, row, text, ha="center", va="center", fontsize=7.5, color=colour)


def _ending(path: Any) -> str:
    """Return the kind of picture that a path names."""
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    ending = Path(path).suffix[1:].lower() if isinstance(path, str | os.PathLike) else ""
    if ending not in known:
        raise ArgumentError(
            f"The 'path' argument must end in a kind of picture, one of {listing(known, 20)}. Got "
            f"{shown(path, 300)} instead."
        )
    return ending
