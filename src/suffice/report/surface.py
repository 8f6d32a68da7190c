"""Decision surfaces: which class a classifier finds most likely where, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import ArgumentError, DataError, listing, shown
from suffice.models.capabilities import FittedEstimator
from suffice.report.canvas import (
    INK,
    LINE,
    MARKERS,
    SMALL,
    Look,
    axes_for,
    blank,
    colour,
    entitle,
    legend,
    short,
    size_of,
    widest,
)
from suffice.report.class_inputs import Classifier, has, inputs_of
from suffice.report.class_plane import ClassPlane, Features, Held, class_plane, require_levels
from suffice.types import Array, Floats, Ints
from suffice.values import Label

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from suffice.models.naive import NaiveModel
    from suffice.sklearn.tables import LabelsLike, MatrixLike

Normal = tuple[int, Floats, Floats | None]  # a class, its mean and its covariance

FAINT, STRONG = 0.08, 0.55  # opacity of a region where all classes are alike, and where one is certain
MANY_POINTS, MANY_CLASSES = 5000, 6  # where looking for the best place of a legend is slow; where it stands outside
MANY_STATES = 20  # beside each other, whose names have room
CLASS, STATE = 1.0, 0.7  # room for the name of a class and of a state, in inches


def decision_surface(
    classifier: Classifier,
    X: MatrixLike,  # noqa: N803 - the name that scikit-learn gives it
    y: LabelsLike | None = None,
    *,
    features: Features = None,
    at: Held = None,
    grid: int = 200,
    ax: Axes | None = None,
    levels: float | Sequence[float] = (0.9,),
) -> Axes:
    """Draw the regions where each class is the most likely one, over two of the inputs.

    Colours are stronger where the class is more probable. Lines are the boundaries, where the two most likely classes
    have the same probability; thin dotted lines are where the most likely one has a probability of ``levels``. For a
    classifier with normal classes there are the means, as crosses, and the ellipses of one standard deviation, both of
    the two inputs alone, as the points are.

    Parameters
    ----------
    classifier : object with ``classes_`` and ``predict_proba``
        A fitted classifier of this library or of scikit-learn; a pipeline, too.
    X : array or frame, shape (n_rows, n_features)
        Inputs, of which the points are drawn.
    y : array, shape (n_rows,), optional
        Their classes.
    features : pair of int or str, optional
        The columns that become the axes, by position or by name; the first two columns of numbers unless given, or
        the first two of all where there are fewer. Of text, and of inputs that the classifier counts, the states
        stand side by side, and points are moved a little, that they do not hide each other.
    at : mapping, "marginal" or None
        Values of the other columns. Those that are not given are held at their mean, whole numbers at their median,
        other values at the most frequent one. ``"marginal"`` leaves all of them out: a generative classifier
        integrates over them.
    grid : int
        Places on each axis.
    ax : Axes, optional
        Where to draw; a new figure unless given.
    levels : sequence of float
        Probabilities of the most likely class.

    Returns
    -------
    Axes

    Notes
    -----
    Needs the extra ``plot``: ``pip install 'suffice[plot]'``.
    """
    _require_classifier(classifier)
    inputs, steps = inputs_of(X, classifier), require_levels(levels)
    labels = list(classifier.classes_)
    codes = _codes(y, labels, inputs.n_rows)
    plane = class_plane(classifier, inputs, features, at, grid)
    ax, is_new = axes_for(ax, 2.9)
    _regions(ax, plane, len(labels))
    _boundaries(ax, plane, len(labels), steps)
    handles = _points(ax, plane, codes, len(labels))
    _ellipses(ax, plane, classifier)
    _dress(ax, is_new, plane, handles, labels)
    return ax


def _require_classifier(classifier: Classifier) -> None:
    if not has(classifier, "predict_proba"):
        raise ArgumentError(
            "The 'classifier' argument must have a method predict_proba, as classifiers of this library and of "
            f"scikit-learn do. Got {shown(classifier)} instead."
        )
    if not has(classifier, "classes_"):
        raise ArgumentError(f"The 'classifier' argument is not fitted: call its fit(X, y) first. Got {classifier!r}.")


def _codes(y: LabelsLike | None, labels: list[Label], n_rows: int) -> Ints | None:
    if y is None:
        return None
    values = np.asarray(y).tolist()
    if len(values) != n_rows:
        raise DataError(f"The 'y' argument must have one class a row. Got {len(values)} classes of {n_rows} rows.")
    place = {label: k for k, label in enumerate(np.asarray(labels).tolist())}
    for row, value in enumerate(values):
        if value not in place:
            raise DataError(f"Row {row} of 'y' is {shown(value)}, but the classifier's classes are {listing(place)}.")
    return np.array([place[value] for value in values], np.int64)


# Layers of the picture ----------------------------------------------------------------------------------------


def _regions(ax: Axes, plane: ClassPlane, n_classes: int) -> None:
    """Fill every place with the colour of its class, as opaque as it is certain."""
    from matplotlib.colors import to_rgb

    winners = plane.winners
    palette = np.array([to_rgb(colour(k)) for k in range(n_classes)])
    p = np.exp(np.where(winners < 0, 0.0, plane.log_p.max(axis=-1)))
    # From 0 where all classes are alike to 1 where one is certain.
    surety = (p - 1 / n_classes) / (1 - 1 / n_classes) if n_classes > 1 else p
    opacity = np.where(winners < 0, 0.0, FAINT + (STRONG - FAINT) * surety)
    image = np.concatenate([palette[winners], opacity[..., None]], axis=-1)
    between = "nearest" if plane.has_states else "bilinear"
    extent = (*plane.across.limits, *plane.up.limits)
    ax.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation=between, zorder=0)


def _boundaries(ax: Axes, plane: ClassPlane, n_classes: int, levels: list[float]) -> None:
    """Draw p_k = p_j between the two most likely classes; of K regions, K − 1 have every boundary."""
    if n_classes < 2:
        return
    if plane.has_states:
        surety = np.exp(plane.log_p.max(axis=-1))
        _steps(
            ax, plane, np.add.reduce([surety >= level for level in levels], axis=0), linestyles="dotted", linewidths=0.9
        )
        _steps(ax, plane, plane.winners, linestyles="solid", linewidths=1.2)
        return
    for k in range(n_classes - 1):
        _line(ax, plane, plane.lead(k), [0.0], linestyles="solid", linewidths=1.2)
    steps = [float(np.log(level / (1 - level))) for level in levels]
    if steps:
        _line(ax, plane, plane.log_odds(), steps, linestyles="dotted", linewidths=0.9)


def _line(ax: Axes, plane: ClassPlane, heights: Floats, steps: list[float], **look: Any) -> None:
    # A height that the plane never reaches has no contour, which matplotlib would warn of.
    known = heights[np.isfinite(heights)]
    reached = [step for step in steps if len(known) and known.min() < step < known.max()]
    if reached:
        ax.contour(
            plane.across.ticks, plane.up.ticks, np.ma.masked_invalid(heights), reached, colors=INK, zorder=2, **look
        )


def _steps(ax: Axes, plane: ClassPlane, values: Array, **look: Any) -> None:
    """Draw the sides between cells of different values; between states there are no contours."""
    from matplotlib.collections import LineCollection

    x, y = plane.across.edges, plane.up.edges
    sides = [[(x[j + 1], y[i]), (x[j + 1], y[i + 1])] for i, j in np.argwhere(values[:, 1:] != values[:, :-1])]
    sides += [[(x[j], y[i + 1]), (x[j + 1], y[i + 1])] for i, j in np.argwhere(values[1:] != values[:-1])]
    if sides:
        ax.add_collection(LineCollection(sides, colors=INK, zorder=2, **look))


def _points(ax: Axes, plane: ClassPlane, codes: Ints | None, n_classes: int) -> list[Artist]:
    """Draw the points, and return one thing a class that stands for it in the legend."""
    look: Look = {"s": 16, "linewidths": 0.5, "edgecolors": INK, "zorder": 3}
    if codes is None:
        from matplotlib.patches import Patch

        ax.scatter(*plane.points.T, color=INK, **look)
        return [Patch(facecolor=colour(k), alpha=STRONG) for k in range(n_classes)]
    drawn: list[Artist] = []
    for k in range(n_classes):
        x, y = plane.points[codes == k].T
        drawn.append(ax.scatter(x, y, color=colour(k), marker=MARKERS[k % len(MARKERS)], **look))
    return drawn


def _ellipses(ax: Axes, plane: ClassPlane, classifier: Classifier) -> None:
    """Draw the mean and one standard deviation of every class, of a model that says them."""
    from matplotlib.patches import Ellipse
    from matplotlib.patheffects import withStroke

    for k, mean, covariance in _normals(classifier, plane.axes):
        ax.plot(*mean, marker="+", markersize=8, markeredgewidth=1.6, color=INK, linestyle="none", zorder=5)
        if covariance is None:
            continue
        sizes, directions = np.linalg.eigh(covariance)
        angle = float(np.degrees(np.arctan2(directions[1, 1], directions[0, 1])))
        width, height = 2 * np.sqrt(np.maximum(sizes[::-1], 0.0))
        ellipse = Ellipse((mean[0], mean[1]), width, height, angle=angle, fill=False, zorder=4)
        halo = withStroke(linewidth=2.8, foreground="white")
        ellipse.set(edgecolor=colour(k), linewidth=1.5, path_effects=[halo])
        ax.add_patch(ellipse)


def _normals(classifier: Classifier, axes: tuple[int, int]) -> list[Normal]:
    """Return what the two axes are in each class, where a classifier of this library says that they are normal."""
    from suffice.models.class_gaussian import ClassGaussianModel
    from suffice.models.naive import NaiveModel

    model = classifier.model_ if isinstance(classifier, FittedEstimator) else None
    if isinstance(model, NaiveModel):
        return _independent(model, [model.inputs[place].name for place in axes])
    if not isinstance(model, ClassGaussianModel):
        return []
    found: list[Normal] = []
    for code, label in enumerate(model.target.labels):
        exists = model.dof is None or model.dof[code] > 2  # Student's t need not have a covariance
        covariance = model.covariance(label)[np.ix_(axes, axes)] if exists else None
        found.append((code, model.means[code, list(axes)], covariance))
    return found


def _independent(model: NaiveModel, names: list[str]) -> list[Normal]:
    from suffice.models.cpds.linear_gaussian import LinearGaussianCPD

    cpds = [cpd for cpd in map(model.cpd, names) if isinstance(cpd, LinearGaussianCPD)]
    if len(cpds) < len(names):
        return []
    means = np.stack([cpd.intercept for cpd in cpds], 1)
    variances = np.stack([cpd.variance for cpd in cpds], 1)
    return [(k, means[k], np.diag(variances[k])) for k in np.flatnonzero(~model.unknown).tolist()]


def _dress(ax: Axes, is_new: bool, plane: ClassPlane, handles: list[Artist], labels: list[Label]) -> None:
    ax.set(xlim=plane.across.limits, ylim=plane.up.limits)
    ax.tick_params(labelsize=SMALL)
    room = size_of(ax)
    for axis, side, free in ((plane.across, ax.xaxis, room[0]), (plane.up, ax.yaxis, room[1])):
        if axis.states:
            chosen = slice(None, None, -(-len(axis.states) // MANY_STATES))  # so that the texts have room
            names = [short(state, STATE) for state in axis.states[chosen]]
            upright = side is ax.xaxis and len(names) * (widest(names) + 0.05) > 0.7 * free
            side.set_ticks(axis.ticks[chosen], names, parse_math=False, rotation=90 if upright else 0)
    look: Look = {"loc": "best" if len(plane.points) < MANY_POINTS else "upper right"}
    if len(labels) > MANY_CLASSES:
        look = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}  # it would hide much of the picture
    most = max(1, int(room[1] / (1.1 * LINE)) - 2)
    names = [short(label, CLASS) for label in labels[:most]]
    if len(labels) > most:
        handles, names = [*handles[:most], blank()], [*names, f"… {len(labels) - most} more"]
    legend(ax, handles, names, framealpha=0.9, labelspacing=0.3, handlelength=1.2, borderpad=0.3, **look)
    entitle(ax, is_new, x=plane.across.name, y=plane.up.name)
