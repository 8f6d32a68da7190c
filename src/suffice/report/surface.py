"""Decision surfaces: which class a classifier finds most likely where, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ArgumentError, DataError, listing, shown
from suffice.report.class_inputs import inputs_of
from suffice.report.class_plane import ClassPlane, class_plane, require_levels
from suffice.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.models.naive import NaiveModel

Floats = NDArray[np.float64]
Normal = tuple[int, Floats, Floats | None]  # a class, its mean and its covariance

# Okabe and Ito's colours, which differ for every kind of colour vision, and two of Tol's; in grey, neighbours differ.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#666666", "#44AA99", "#882255",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
FAINT, STRONG = 0.08, 0.55  # opacity of a region where all classes are alike, and where one is certain
INK = "#222222"
MANY_POINTS, MANY_CLASSES = 5000, 6  # where looking for the best place of a legend is slow; where it stands outside
MANY_STATES = 20  # beside each other, whose names have room


def decision_surface(
    classifier: Any,
    X: Any,  # noqa: N803 - the name that scikit-learn gives it
    y: Any = None,
    *,
    features: Any = None,
    at: Any = None,
    grid: int = 200,
    ax: Axes | None = None,
    levels: Any = (0.9,),
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
    plt = pyplot()
    inputs, steps = inputs_of(X, classifier), require_levels(levels)
    labels = list(classifier.classes_)
    codes = _codes(y, labels, inputs.n_rows)
    plane = class_plane(classifier, inputs, features, at, grid)
    if ax is None:
        ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")[1]
    _regions(ax, plane, len(labels))
    _boundaries(ax, plane, len(labels), steps)
    _points(ax, plane, codes, labels)
    _ellipses(ax, plane, classifier)
    _dress(ax, plane, codes, labels)
    return ax


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ArgumentError("Pictures need matplotlib. Install it: pip install 'suffice[plot]'.") from None
    return plt


def _require_classifier(classifier: Any) -> None:
    if not hasattr(classifier, "predict_proba"):
        raise ArgumentError(
            "The 'classifier' argument must have a method predict_proba, as classifiers of this library and of "
            f"scikit-learn do. Got {shown(classifier)} instead."
        )
    if not hasattr(classifier, "classes_"):
        raise ArgumentError(f"The 'classifier' argument is not fitted: call its fit(X, y) first. Got {classifier!r}.")


def _codes(y: Any, labels: list[Any], n_rows: int) -> NDArray[np.int64] | None:
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
    palette = np.array([to_rgb(_colour(k)) for k in range(n_classes)])
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
        _steps(ax, plane, plane.winners, linestyles="solid", linewidths=1.4)
        return
    for k in range(n_classes - 1):
        _line(ax, plane, plane.lead(k), [0.0], linestyles="solid", linewidths=1.4)
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


def _steps(ax: Axes, plane: ClassPlane, values: NDArray[Any], **look: Any) -> None:
    """Draw the sides between cells of different values; between states there are no contours."""
    from matplotlib.collections import LineCollection

    x, y = plane.across.edges, plane.up.edges
    sides = [[(x[j + 1], y[i]), (x[j + 1], y[i + 1])] for i, j in np.argwhere(values[:, 1:] != values[:, :-1])]
    sides += [[(x[j], y[i + 1]), (x[j + 1], y[i + 1])] for i, j in np.argwhere(values[1:] != values[:-1])]
    if sides:
        ax.add_collection(LineCollection(sides, colors=INK, zorder=2, **look))


def _points(ax: Axes, plane: ClassPlane, codes: NDArray[np.int64] | None, labels: list[Any]) -> None:
    look: dict[str, Any] = {"s": 26, "linewidths": 0.6, "edgecolors": INK, "zorder": 3}
    if codes is None:
        ax.scatter(*plane.points.T, color=INK, **look)
        return
    for k, label in enumerate(labels):
        marker = MARKERS[k % len(MARKERS)]
        ax.scatter(*plane.points[codes == k].T, color=_colour(k), marker=marker, label=str(label), **look)


def _ellipses(ax: Axes, plane: ClassPlane, classifier: Any) -> None:
    """Draw the mean and one standard deviation of every class, of a model that says them."""
    from matplotlib.patches import Ellipse
    from matplotlib.patheffects import withStroke

    for k, mean, covariance in _normals(classifier, plane.axes):
        ax.plot(*mean, marker="+", markersize=10, markeredgewidth=2.0, color=INK, linestyle="none", zorder=5)
        if covariance is None:
            continue
        sizes, directions = np.linalg.eigh(covariance)
        angle = float(np.degrees(np.arctan2(directions[1, 1], directions[0, 1])))
        width, height = 2 * np.sqrt(np.maximum(sizes[::-1], 0.0))
        ellipse = Ellipse((mean[0], mean[1]), width, height, angle=angle, fill=False, zorder=4)
        halo = withStroke(linewidth=3.2, foreground="white")
        ellipse.set(edgecolor=_colour(k), linewidth=1.8, path_effects=[halo])
        ax.add_patch(ellipse)


def _normals(classifier: Any, axes: tuple[int, int]) -> list[Normal]:
    """Return what the two axes are in each class, where a classifier of this library says that they are normal."""
    from suffice.models.class_gaussian import ClassGaussianModel
    from suffice.models.naive import NaiveModel

    model = getattr(classifier, "model_", None)
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

    cpds = [model.cpd(name) for name in names]
    if not all(isinstance(cpd, LinearGaussianCPD) for cpd in cpds):
        return []
    means, variances = (np.stack([getattr(cpd, name) for cpd in cpds], 1) for name in ("intercept", "variance"))
    return [(k, means[k], np.diag(variances[k])) for k in np.flatnonzero(~model.unknown).tolist()]


def _dress(ax: Axes, plane: ClassPlane, codes: NDArray[np.int64] | None, labels: list[Any]) -> None:
    from matplotlib.patches import Patch

    ax.set(xlabel=plane.across.name, ylabel=plane.up.name, xlim=plane.across.limits, ylim=plane.up.limits)
    for axis, side in ((plane.across, ax.xaxis), (plane.up, ax.yaxis)):
        if axis.states:
            chosen = slice(None, None, -(-len(axis.states) // MANY_STATES))  # so that the texts have room
            side.set_ticks(axis.ticks[chosen], [shorten(str(state), 12) for state in axis.states[chosen]])
    patches = [Patch(facecolor=_colour(k), alpha=STRONG, label=str(label)) for k, label in enumerate(labels)]
    look: dict[str, Any] = {"loc": "best" if len(plane.points) < MANY_POINTS else "upper right"}
    if len(labels) > MANY_CLASSES:
        look = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}  # it would hide much of the picture
    ax.legend(handles=patches if codes is None else None, framealpha=0.9, fontsize="small", **look)


def _colour(k: int) -> str:
    return COLOURS[k % len(COLOURS)]
