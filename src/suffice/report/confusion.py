"""A confusion matrix: which classes were taken for which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.variable import Variable
from suffice.errors import ArgumentError, DataError, shown
from suffice.report.canvas import SHARES
from suffice.report.matrix import Matrix, draw_matrix
from suffice.result.confusion import Confusion
from suffice.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def confusion_plot(observed: Any, predicted: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw observed classes down and predicted classes across.

    Colours are shares of the observed class, so that rare classes are as visible as frequent ones; the numbers in the
    cells are rows.

    Parameters
    ----------
    observed : array of labels, shape (n_rows,), or Confusion
        The classes of the data, or all that is to be drawn.
    predicted : array of labels, shape (n_rows,), optional
        The classes that a classifier found; left out with a `Confusion`.
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
    >>> from suffice.report import confusion_plot
    >>> ax = confusion_plot(["a", "a", "a", "b"], ["a", "a", "b", "b"])
    >>> [text.get_text() for text in ax.texts]
    ['2', '1', '0', '1']
    """
    names, counts = _counts(observed, predicted)
    labels = [str(label) for label in names]
    totals = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(totals > 0, counts / totals, np.nan)
    wrong = float(counts.sum() - np.trace(counts))
    matrix = Matrix(
        values=shares,
        rows=[(label,) for label in labels],
        columns=[*labels, "none"][: counts.shape[1]],
        limits=(0.0, 1.0),
        colours=SHARES,
        of="share of the class",
        numbers=np.vectorize(lambda n: number(n, 4), otypes=[object])(counts),
        across="predicted",
        down="observed",
        title=f"{number(wrong, 6)} of {number(float(counts.sum()), 6)} rows wrong",
        noun="class",
    )
    return draw_matrix(matrix, ax)


def _counts(observed: Any, predicted: Any) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    """Return the classes and how many rows of each were taken for which; a last column is for rows without answer."""
    if isinstance(observed, Confusion):
        if predicted is not None:
            raise ArgumentError("A Confusion has the predicted classes already. Leave 'predicted' out.")
        held = observed.counts
        counts = np.column_stack([held, observed.unanswered]) if observed.unanswered.any() else held
        return observed.target.labels, counts
    if predicted is None:
        raise ArgumentError(
            "The 'predicted' argument must be the classes that a classifier found, one a row; only a Confusion does "
            f"without. Got {shown(observed)} as 'observed' alone."
        )
    first, second = (np.asarray(values, object).reshape(-1).tolist() for values in (observed, predicted))
    if len(first) != len(second) or not first:
        raise DataError(
            f"'observed' and 'predicted' must have one class a row, of the same rows. Got {len(first)} and "
            f"{len(second)} classes."
        )
    classes = sorted(set(first) | set(second), key=lambda label: (isinstance(label, str), label))
    target = Variable("class", tuple(classes))
    place = {label: code for code, label in enumerate(classes)}
    codes = [np.array([place[label] for label in labels], np.int64) for labels in (first, second)]
    found = Confusion.of(target, codes[0], codes[1], np.zeros((len(first), len(classes))))
    return tuple(classes), found.counts
