"""A matrix as a map of colours: named rows and columns, numbers in the cells where they have room, a bar of colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.report.canvas import (
    COLUMN,
    FAINT_LINE,
    INK,
    LINE,
    NOTHING,
    POINT,
    SMALL,
    TEXT,
    Look,
    axes_for,
    entitle,
    every,
    ordinal,
    short,
    short_list,
    size_of,
    widest,
    width_of,
    write,
)
from suffice.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from suffice.types import Array
    from suffice.values import Label

CELL, LEAST, TALLEST = 0.2, 0.9, 5.0  # height of a row; of all rows, at least and at most; in inches
NAME = 0.95  # room for the name of a row or column
BAR = 0.62  # room for the bar of colours with its numbers
FRAME = 0.42  # room for what names the rows, and for the gaps
THICK = 0.11  # the bar itself
MOST, MANY, RULED = 2000, 10_000, 60  # rows or columns drawn; cells that may blur; rows with lines between them


@dataclass(frozen=True, eq=False)
class Matrix:
    """What to draw.

    Attributes
    ----------
    values : array, shape (n_rows, n_columns)
        NaN where there is nothing.
    rows : sequence of sequence of names
        Each row may have several, with commas between them.
    columns : sequence of names
    limits : (float, float)
        The values at the ends of the bar of colours.
    colours : str
        A map of colours of matplotlib.
    of : str
        What the bar of colours tells.
    numbers : array of str, shape (n_rows, n_columns)
        What stands in the cells.
    across, down, title : str
        What the columns and the rows are, and what stands above.
    noun : str
        What a row is called in remarks.
    """

    values: Floats
    rows: Sequence[Sequence[Label]]
    columns: Sequence[Label]
    limits: tuple[float, float]
    colours: str
    of: str
    numbers: Array
    across: str = ""
    down: str = ""
    title: str = ""
    noun: str = "row"


def draw_matrix(matrix: Matrix, ax: Axes | None = None, remarks: Sequence[str] = ()) -> Axes:
    """Draw a matrix, names thinned out where there are too many for their lines."""
    n_rows, n_columns = (min(n, MOST) for n in matrix.values.shape)
    values = matrix.values[:n_rows, :n_columns]
    width = widest(_row_names(matrix, n_rows, every(n_rows, TALLEST)))
    room = _room(n_rows, n_columns, COLUMN - width - BAR - FRAME)
    below = widest(_column_names(matrix, n_columns, room[0])[1])
    lines = 2 * len(remarks) * TEXT * POINT
    ax, is_new = axes_for(ax, room[1] + max(below if _upright(matrix, n_columns, room[0]) else 0, LINE) + 0.75 + lines)
    room = room if is_new else size_of(ax)
    said = list(remarks)
    if values.shape != matrix.values.shape:
        whole = " × ".join(f"{n:,}" for n in matrix.values.shape)
        said.append(f"of {whole} cells, those of the first {n_rows:,} rows and {n_columns:,} columns")
    look: Look = {"vmin": matrix.limits[0], "vmax": matrix.limits[1], "cmap": matrix.colours}
    smooth = "nearest" if values.size < MANY else "auto"
    image = ax.imshow(np.ma.masked_invalid(values), aspect="auto", interpolation=smooth, **look)
    ax.set_facecolor(NOTHING)
    said += _name(ax, matrix, (n_rows, n_columns), room)
    _cells(ax, matrix, values, room)
    _bar(ax, image, matrix.of)
    entitle(ax, is_new, x=matrix.across, y=matrix.down, title=matrix.title, remarks=said)
    return ax


def _room(n_rows: int, n_columns: int, wide: float) -> tuple[float, float]:
    """Return the width and the height of the cells together; as many rows as columns make a square."""
    most = max(wide, LEAST) if n_rows == n_columns else TALLEST
    return wide, float(np.clip(CELL * n_rows, LEAST, most))


# Names --------------------------------------------------------------------------------------------------------


def _row_names(matrix: Matrix, n_rows: int, step: int) -> list[str]:
    return [short_list(states, NAME) for states in matrix.rows[:n_rows:step]]


def _upright(matrix: Matrix, n_columns: int, wide: float) -> bool:
    """Whether the names of columns have no room beside each other."""
    if n_columns * 2 * LINE / 3 > wide:
        return True
    return n_columns * (widest([short(name, NAME) for name in matrix.columns]) + 0.06) > wide


def _column_names(matrix: Matrix, n_columns: int, wide: float) -> tuple[int, list[str]]:
    """Return k and every k-th name."""
    step = every(n_columns, wide) if _upright(matrix, n_columns, wide) else 1
    return step, [short(name, NAME) for name in matrix.columns[:n_columns:step]]


def _name(ax: Axes, matrix: Matrix, shape: tuple[int, int], room: tuple[float, float]) -> list[str]:
    """Name rows and columns; return what to say of those left out."""
    said, (n_rows, n_columns) = [], shape
    look: Look = {"fontsize": SMALL, "parse_math": False}
    step, names = _column_names(matrix, n_columns, room[0])
    turned = 90 if _upright(matrix, n_columns, room[0]) else 0
    ax.set_xticks(range(0, n_columns, step), names, rotation=turned, **look)
    if step > 1:
        said.append(f"every {ordinal(step)} column is named")
    step = every(n_rows, room[1])
    ax.set_yticks(range(0, n_rows, step), _row_names(matrix, n_rows, step), **look)
    if step > 1:
        said.append(f"every {ordinal(step)} {matrix.noun} is named")
    ax.tick_params(which="both", length=0)
    if max(shape) <= RULED:
        ax.hlines(np.arange(1, n_rows) - 0.5, -0.5, n_columns - 0.5, color=FAINT_LINE, linewidth=0.5)
        ax.vlines(np.arange(1, n_columns) - 0.5, -0.5, n_rows - 0.5, color=FAINT_LINE, linewidth=0.5)
    ax.spines[:].set_visible(False)
    return said


# Cells --------------------------------------------------------------------------------------------------------


def _cells(ax: Axes, matrix: Matrix, values: Floats, room: tuple[float, float]) -> None:
    """Write the numbers where every cell has room for its own."""
    n_rows, n_columns = values.shape
    if n_rows * n_columns > 900 or n_rows * LINE > room[1]:
        return
    texts = [[str(text) for text in row] for row in matrix.numbers[:n_rows, :n_columns]]
    if max(widest(row) for row in texts) + 0.03 > 0.94 * room[0] / n_columns:
        return
    from matplotlib import colormaps

    low, high = matrix.limits
    tints = colormaps[matrix.colours](np.clip((np.nan_to_num(values) - low) / ((high - low) or 1.0), 0, 1))
    luminance = tints[..., :3] ** 2.2 @ np.array([0.2126, 0.7152, 0.0722])
    for row in range(n_rows):
        for column in range(n_columns):
            dark = luminance[row, column] < 0.3 and not np.isnan(values[row, column])
            look: Look = {"ha": "center", "va": "center", "color": "white" if dark else INK}
            write(ax, column, row, texts[row][column], **look)


def _bar(ax: Axes, image: AxesImage, of: str) -> None:
    tall = size_of(ax)[1]
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.06, pad=0.03, aspect=max(10.0, tall / THICK))
    bar.ax.tick_params(labelsize=SMALL, length=2)
    bar.outline.set_visible(False)
    bar.set_label(of if width_of(of, TEXT) <= tall else short(of, tall, SMALL), fontsize=TEXT, parse_math=False)
    from matplotlib.ticker import MaxNLocator

    steps = [1, 5, 10] if tall < 1.8 else [1, 2, 2.5, 5, 10]
    bar.locator = MaxNLocator(nbins=min(5, max(2, int(tall / 0.3))), steps=steps, min_n_ticks=2)
    bar.update_ticks()
