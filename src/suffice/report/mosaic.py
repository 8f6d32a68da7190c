"""A mosaic: tiles as large as the counts of a table, shaded by what a model leaves of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import ArgumentError, require_choice, shown
from suffice.report.canvas import (
    COLUMN,
    INK,
    LINE,
    NOTHING,
    POINT,
    TEXT,
    Look,
    axes_for,
    legend,
    short,
    size_of,
    width_of,
    write,
)
from suffice.result.expected import RESIDUALS
from suffice.result.family_fits import LogLinearFit
from suffice.result.fit import Fit
from suffice.text import plural
from suffice.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.data.variable import Variable
    from suffice.stats.statistics import Statistics

MOST = 4  # variables
GAPS = (0.035, 0.035, 0.014, 0.014)  # between the tiles of each variable in turn, parts of the side
STEPS = (2.0, 4.0)  # residuals beyond which a tile is shaded, and shaded more (Friendly, 1994)
SHADES = ("#B2182B", "#F4A582", "#FFFFFF", "#92C5DE", "#2166AC")  # of RdBu: red for fewer, as in Friendly's and vcd's
NAMES = ("< −4", "−4 to −2", "−2 to 2", "2 to 4", "> 4")
MOST_TILES = 4000
NAME = 0.62  # room for the name of a state that stands at the side, in inches
HIGH = 3.7  # height of a new figure
OFF, BETWEEN, EDGE, KEY = 0.04, 0.05, 0.06, 0.44  # tile to state, state to variable, the edge, the key of shades
SIDE = OFF + BETWEEN + 1.4 * TEXT * POINT + 0.02  # room for the name of a variable


@dataclass(frozen=True)
class Tile:
    """A rectangle of the unit square, y growing down, and the codes of the states that it belongs to."""

    codes: tuple[int, ...]
    x: float
    y: float
    width: float
    height: float


def mosaic_plot(
    fit: Fit,
    variables: Sequence[str] | None = None,
    *,
    residuals: str = "pearson",
    statistics: Statistics | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the observed counts as areas, and shade the cells that the model does not explain.

    The variables split the square in turn, from top to bottom and from left to right: each tile's area is its count.
    Blue tiles have more rows than the model expects, red tiles fewer.

    Parameters
    ----------
    fit : Fit
        Of `Cliques`, or of `Features` over discrete variables.
    variables : sequence of str, optional
        The order in which the variables split the square; that of the structure unless given. All of them, at most 4.
    residuals : {"pearson", "deviance", "adjusted"}
        Which residuals the shades tell.
    statistics : Statistics, optional
        Where the counts of the whole table are, as in `CliquesFit.expected`.
    ax : Axes, optional
        Where to draw; a new figure of one column's width unless given.

    Returns
    -------
    Axes

    Notes
    -----
    Cells without rows are circles, on the edge where their tile would be. Names of states whose tiles leave no room for
    them are left out, and a line below says so. Needs the extra ``plot``: ``pip install 'suffice[plot]'``.

    References
    ----------
    M. Friendly (1994), "Mosaic displays for multi-way contingency tables".

    Examples
    --------
    >>> import suffice as sf
    >>> from suffice.report import mosaic_plot
    >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
    >>> ax = mosaic_plot(sf.fit(sf.Cliques("A + B"), table))
    >>> [round(float(tile.get_width() * tile.get_height()), 4) for tile in ax.patches]  # gaps take 2.3 % of the square
    [0.3256, 0.1628, 0.1954, 0.293]
    """
    require_choice("residuals", residuals, RESIDUALS)
    if not isinstance(fit, LogLinearFit):
        raise ArgumentError(
            "The first argument must be a fit of sf.Cliques or sf.Features, as sf.fit returns it. Got "
            f"{shown(fit)} instead."
        )
    found = fit.expected(residuals, statistics)
    table, left = found["observed"], found[residuals]
    order = _order(variables, table.names)
    counts = np.asarray(table.to_numpy(), np.float64).transpose(order)
    rest = np.asarray(left.to_numpy(), np.float64).transpose(order)
    if counts.size > MOST_TILES:
        raise ArgumentError(
            f"The table has {counts.size:,} cells, and a mosaic has room for {MOST_TILES:,}. Join some states, or look "
            "at fit.expected() as a table."
        )
    held = [table.variables[axis] for axis in order]
    ax, is_new = axes_for(ax, HIGH)
    if is_new:
        _make_room(ax, held)
    _draw(ax, counts, rest)
    lost = _label(ax, counts, held)
    _legend(ax, residuals, len(held), [f"{plural(lost, 'name')} of states without room"] if lost else [])
    return ax


def _order(variables: Sequence[str] | None, known: Sequence[str]) -> list[int]:
    if not 1 <= len(known) <= MOST:
        raise ArgumentError(
            f"A mosaic has room for 1 to {MOST} variables, and this fit has {len(known)}. Fit the structure of some of "
            "them, or look at fit.expected() as a table."
        )
    if variables is None:
        return list(range(len(known)))
    given = [variables] if isinstance(variables, str) else list(variables)
    if sorted(map(str, given)) != sorted(known):
        raise ArgumentError(
            f"The 'variables' argument must name each of {list(known)} once, in the order of the splits. Got "
            f"{shown(variables)} instead."
        )
    return [list(known).index(name) for name in given]


def _make_room(ax: Axes, variables: Sequence[Variable]) -> None:
    """Place the axes of a new figure so that the names at its sides have their room."""
    from matplotlib.figure import Figure

    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.set_layout_engine("none")
    sides = [EDGE, EDGE]  # left and right
    for level, variable in list(enumerate(variables))[::2]:
        sides[level // 2] = SIDE + max(width_of(short(label, NAME)) for label in variable.labels)
    above, below = (SIDE + LINE if len(variables) > level else EDGE for level in (1, 3))
    below += KEY
    ax.set_position((
        sides[0] / COLUMN, below / HIGH, 1 - (sides[0] + sides[1]) / COLUMN, 1 - (above + below) / HIGH,
    ))  # fmt: skip


# Tiles --------------------------------------------------------------------------------------------------------


def tiles(counts: Floats, depth: int | None = None) -> Iterator[Tile]:
    """Split the unit square by each variable in turn, down and across; areas are shares, but for the gaps.

    Parameters
    ----------
    counts : array of counts
        One axis a variable.
    depth : int, optional
        How many variables split it; all unless given.

    Examples
    --------
    >>> [(tile.codes, round(tile.height, 3)) for tile in tiles(np.array([3.0, 1.0]))]
    [((0,), 0.741), ((1,), 0.247)]
    """
    wanted = counts.ndim if depth is None else depth

    def split(tile: Tile) -> Iterator[Tile]:
        level = len(tile.codes)
        if level == wanted:
            yield tile
            return
        part = counts[tile.codes]
        sizes = part.reshape(len(part), -1).sum(axis=1)
        total, n = float(sizes.sum()), len(sizes)
        down = level % 2 == 0
        side = tile.height if down else tile.width
        gap = GAPS[level] * side / max(3, n - 1)
        lengths = (side - gap * (n - 1)) * (sizes / total if total > 0 else np.zeros(n))
        start = tile.y if down else tile.x
        for code, length in enumerate(lengths.tolist()):
            codes = (*tile.codes, code)
            if down:
                yield from split(Tile(codes, tile.x, start, tile.width, length))
            else:
                yield from split(Tile(codes, start, tile.y, length, tile.height))
            start += length + gap

    yield from split(Tile((), 0.0, 0.0, 1.0, 1.0))


def shade(residual: float) -> str:
    """Return the colour of a residual; grey where there is none.

    >>> shade(-5.0), shade(1.9), shade(3.0)
    ('#B2182B', '#FFFFFF', '#92C5DE')
    """
    if np.isnan(residual):
        return NOTHING
    return SHADES[int(np.searchsorted([-STEPS[1], -STEPS[0], STEPS[0], STEPS[1]], residual))]


def _draw(ax: Axes, counts: Floats, residuals: Floats) -> None:
    from matplotlib.patches import Rectangle

    for tile in tiles(counts):
        tint, line = shade(float(residuals[tile.codes])), 0.5 if counts.size < 200 else 0.2
        if counts[tile.codes] > 0:
            corner = (tile.x, tile.y)
            look: Look = {"facecolor": tint, "edgecolor": INK, "linewidth": line, "clip_on": False}
            ax.add_patch(Rectangle(corner, tile.width, tile.height, **look))
        elif counts[tile.codes[:-1]].sum() > 0:
            x, y = tile.x + tile.width / 2, tile.y + tile.height / 2
            ax.plot(x, y, "o", markersize=3.2, color=tint, markeredgecolor=INK, markeredgewidth=0.5, clip_on=False)
    ax.set(xlim=(0, 1), ylim=(1, 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


# Names --------------------------------------------------------------------------------------------------------


def _label(ax: Axes, counts: Floats, variables: Sequence[Variable]) -> int:
    """Name the states at the four sides, and the variables beside them; return how many names found no room."""
    wide, high = size_of(ax)
    lost = 0
    for level, variable in enumerate(variables):
        down = level % 2 == 0
        strip = _strip(counts, level)
        places = [(t.y + t.height / 2) if down else (t.x + t.width / 2) for t in strip]
        sizes = [t.height if down else t.width for t in strip]
        scale = high if down else wide
        limit = NAME if down else max(0.25, scale / max(1, len(strip)) - 0.04)
        names = [short(label, limit) for label in variable.labels]
        needs = [LINE if down else width_of(name) + 0.05 for name in names]
        kept = _chosen(needs, sizes, scale)
        lost += len(names) - len(kept)
        moved = apart([places[k] * scale for k in kept], [needs[k] for k in kept], scale)
        held = [(place / scale, names[k]) for k, place in zip(kept, moved, strict=True)]
        _side(ax, level, variable.name, held, (wide, high))
    return lost


def _strip(counts: Floats, level: int) -> list[Tile]:
    """Return the tiles along one side: those of the first states of the variables before, or of the last."""
    every = list(tiles(counts, level + 1))
    if level == 0:
        return every
    last = [size - 1 for size in counts.shape]
    above = {1: (0,), 2: (0, last[1])}.get(level) or (last[0], 0, last[2])
    return [tile for tile in every if tile.codes[:level] == above]


def _chosen(needs: Sequence[float], sizes: Sequence[float], room: float) -> list[int]:
    """Choose the names that have room beside each other, those of the largest tiles first."""
    kept: list[int] = []
    left = room
    for k in sorted(range(len(needs)), key=lambda k: -sizes[k]):
        if needs[k] <= left:
            kept.append(k)
            left -= needs[k]
    return sorted(kept)


def apart(places: Sequence[float], needs: Sequence[float], room: float) -> list[float]:
    """Move the middles of texts as little as possible, so that none touches another or leaves the room.

    Least squares under an order: texts that touch move together, by the mean of their moves.

    >>> apart([0.2, 1.0, 1.1], [0.4, 0.4, 0.4], 3.0)
    [0.2, 0.85, 1.25]
    """
    shift = np.concatenate([[0.0], np.cumsum([(a + b) / 2 for a, b in itertools.pairwise(needs)])])
    groups: list[tuple[float, int]] = []  # the mean of what is wanted, less the texts before; how many texts
    for wanted in (np.array(places) - shift[: len(places)]).tolist():
        groups.append((wanted, 1))
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            (a, n), (b, m) = groups[-2:]
            groups[-2:] = [((a * n + b * m) / (n + m), n + m)]
    free = [mean for mean, n in groups for _ in range(n)]
    if not free:
        return []
    low, high = needs[0] / 2, room - needs[-1] / 2 - float(shift[len(places) - 1])
    return [round(float(np.clip(at, low, max(low, high)) + s), 9) for at, s in zip(free, shift.tolist(), strict=True)]


def _side(ax: Axes, level: int, name: str, states: list[tuple[float, str]], room: tuple[float, float]) -> None:
    """Write names at the left, above, at the right or below."""
    wide, high = room
    widest = max((width_of(text) for _, text in states), default=0.0)
    if level % 2 == 0:
        right = level == 2
        edge, sign = (1.0, 1) if right else (0.0, -1)
        for place, text in states:
            write(ax, edge + sign * OFF / wide, place, text, ha="left" if right else "right", va="center")
        at = edge + sign * (OFF + widest + BETWEEN + 0.65 * TEXT * POINT) / wide
        look: Look = {"ha": "center", "va": "center", "rotation": 90, "fontsize": TEXT}
        write(ax, at, 0.5, short(name, high, TEXT), **look)
        return
    top = level == 1
    edge, sign = (0.0, -1) if top else (1.0, 1)
    for place, text in states:
        write(ax, place, edge + sign * OFF / high, text, ha="center", va="bottom" if top else "top")
    at = edge + sign * (OFF + LINE + BETWEEN / 2) / high
    write(ax, 0.5, at, short(name, wide, TEXT), ha="center", va="bottom" if top else "top", fontsize=TEXT)


def _legend(ax: Axes, residuals: str, n_variables: int, remarks: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=tint, edgecolor=INK, linewidth=0.5) for tint in SHADES]
    below = (SIDE + LINE if n_variables > 3 else 0.0) + BETWEEN
    title = f"{'Pearson' if residuals == 'pearson' else residuals} residual"
    look: Look = {"loc": "upper center", "bbox_to_anchor": (0.5, -below / size_of(ax)[1]), "ncols": 5}
    key = legend(
        ax, handles, list(NAMES), title="; ".join([title, *remarks]), frameon=False, handlelength=1.0,
        columnspacing=0.7, handletextpad=0.3, borderaxespad=0.0, **look,
    )  # fmt: skip
    key.get_title().set_multialignment("center")
