"""Decision surfaces: what is in the picture, and where its lines are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb
from matplotlib.contour import ContourSet
from matplotlib.patches import Ellipse
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import suffice as sf
from suffice.report import decision_surface
from suffice.report.canvas import COLOURS
from suffice.report.surface import FAINT, STRONG

IRIS = load_iris(as_frame=True)
FLOWERS = IRIS.data.rename(columns=lambda name: name.removesuffix(" (cm)"))
KINDS = IRIS.target_names[IRIS.target]
TWO = FLOWERS[["petal length", "petal width"]]


@pytest.fixture(autouse=True)
def _without_a_screen() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")


def drawn(ax: Any, kind: type) -> list[Any]:
    return [artist for artist in ax.get_children() if isinstance(artist, kind)]


def lda(x: Any = TWO, y: Any = KINDS) -> LinearDiscriminantAnalysis:
    return LinearDiscriminantAnalysis().fit(x, y)


def test_a_picture_has_regions_boundaries_points_names_and_a_legend() -> None:
    ax = decision_surface(lda(), TWO, KINDS, grid=40)
    assert len(ax.images) == 1
    assert ax.images[0].get_array().shape == (40, 40, 4)
    assert len(drawn(ax, ContourSet)) == 3  # two boundaries of three classes, one set of levels
    assert [len(points.get_offsets()) for points in drawn(ax, PathCollection)] == [50, 50, 50]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("petal length", "petal width")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]
    ax.figure.canvas.draw()


def test_points_of_classes_differ_in_colour_and_in_shape() -> None:
    points = drawn(decision_surface(lda(), TWO, KINDS, grid=20), PathCollection)
    assert len({tuple(one.get_facecolor()[0]) for one in points}) == 3
    assert len({one.get_paths()[0].vertices.tobytes() for one in points}) == 3


def test_colours_differ_in_brightness_when_printed_in_grey() -> None:
    grey = [np.dot(to_rgb(colour), [0.2126, 0.7152, 0.0722]) for colour in COLOURS]
    assert min(abs(a - b) for a, b in itertools.pairwise(grey)) > 0.05


def test_the_boundary_of_two_classes_is_where_they_are_equally_likely() -> None:
    two = KINDS != "setosa"
    classifier = lda(TWO[two], KINDS[two])
    ax = decision_surface(classifier, TWO[two], KINDS[two], levels=[0.8], grid=60)
    boundary, level = drawn(ax, ContourSet)
    for contour, wanted in ((boundary, [0.5]), (level, [0.2, 0.8])):
        assert contour.get_paths()
        for line in contour.get_paths():
            p = classifier.predict_proba(pd.DataFrame(line.vertices, columns=TWO.columns))[:, 0]
            assert np.abs(p[:, None] - wanted).min(axis=1).max() < 1e-6


def test_regions_are_as_opaque_as_their_class_is_certain() -> None:
    classifier = lda()
    ax = decision_surface(classifier, TWO, KINDS, grid=30)
    image = np.asarray(ax.images[0].get_array())
    left, right, bottom, top = ax.images[0].get_extent()
    i, j = 11, 17
    place = [[np.linspace(left, right, 30)[j], np.linspace(bottom, top, 30)[i]]]
    p = classifier.predict_proba(pd.DataFrame(place, columns=TWO.columns))[0]
    assert image[i, j, :3] == pytest.approx(to_rgb(COLOURS[int(p.argmax())]))
    assert image[i, j, 3] == pytest.approx(FAINT + (STRONG - FAINT) * (p.max() - 1 / 3) / (2 / 3))


def test_without_classes_the_points_have_one_look_and_the_legend_names_the_regions() -> None:
    ax = decision_surface(lda(), TWO, grid=20)
    (points,) = drawn(ax, PathCollection)
    assert len(points.get_offsets()) == 150
    assert len(ax.get_legend().get_texts()) == 3


def test_axes_that_are_given_are_drawn_on_and_returned() -> None:
    _, ax = plt.subplots()
    assert decision_surface(lda(), TWO, KINDS, ax=ax, grid=20) is ax
    assert len(plt.get_fignums()) == 1


def test_pipelines_are_classifiers() -> None:
    pipeline = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(FLOWERS, KINDS)
    ax = decision_surface(pipeline, FLOWERS, KINDS, features=("sepal length", "petal width"), grid=20)
    assert ax.get_ylabel() == "petal width"
    assert drawn(ax, Ellipse) == []


def test_one_class_has_a_region_and_no_boundary() -> None:
    class Sure:
        classes_ = np.array(["only"])

        def predict_proba(self, x: Any) -> Any:
            return np.ones((len(x), 1))

    ax = decision_surface(Sure(), TWO, grid=5)
    assert drawn(ax, ContourSet) == []
    assert (np.asarray(ax.images[0].get_array())[..., 3] == STRONG).all()


def test_the_legend_of_many_classes_stands_beside_the_picture() -> None:
    classes = np.arange(150) % 10
    ax = decision_surface(lda(TWO, classes), TWO, classes, grid=10)
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 > ax.get_window_extent().x1
    assert len({tuple(one.get_facecolor()[0]) for one in drawn(ax, PathCollection)}) == 10


def test_places_without_a_class_are_left_empty() -> None:
    class Unsure:
        classes_ = (False, True)

        def predict_proba(self, x: Any) -> Any:
            p = np.tile([0.25, 0.75], (len(x), 1))
            p[0] = np.nan
            return p

    ax = decision_surface(Unsure(), TWO, IRIS.target == 0, grid=5)
    opacity = np.asarray(ax.images[0].get_array())[..., 3]
    assert opacity[0, 0] == 0
    assert (opacity.ravel()[1:] > FAINT).all()
    ax.figure.canvas.draw()


def test_normal_classes_show_means_and_one_standard_deviation() -> None:
    classifier = sf.GaussianBayes().fit(FLOWERS, KINDS)
    ax = decision_surface(classifier, FLOWERS, KINDS, features=(3, 0), at="marginal", grid=20)
    ellipses = drawn(ax, Ellipse)
    assert len(ellipses) == 3
    for kind, ellipse in zip(IRIS.target_names, ellipses, strict=True):
        rows = FLOWERS.to_numpy()[kind == KINDS][:, [3, 0]]
        assert ellipse.get_center() == pytest.approx(tuple(rows.mean(axis=0)))
        edge = ellipse.get_transform().transform_path(ellipse.get_path())
        apart = ax.transData.inverted().transform(edge.vertices[::3]) - rows.mean(axis=0)
        distance = np.einsum("ni,ij,nj->n", apart, np.linalg.inv(np.cov(rows.T, ddof=0)), apart)
        assert distance[:-1] == pytest.approx(1)  # where its arcs meet; the last point closes it


@pytest.mark.parametrize(("kinds", "n_ellipses"), [("gaussian", 3), ({"petal width": "categorical"}, 0)])
def test_naive_bayes_shows_ellipses_where_both_axes_are_normal(kinds: Any, n_ellipses: int) -> None:
    classifier = sf.NaiveBayes(kinds=kinds, unknown_states="missing").fit(TWO, KINDS)
    ax = decision_surface(classifier, TWO, KINDS, grid=10)
    ellipses = drawn(ax, Ellipse)
    assert len(ellipses) == n_ellipses
    for kind, ellipse in zip(IRIS.target_names, ellipses, strict=False):
        sizes = 2 * TWO[kind == KINDS].std(ddof=0).to_numpy()
        assert sorted([ellipse.width, ellipse.height]) == pytest.approx(sorted(sizes))
        assert ellipse.angle % 180 == pytest.approx(0 if sizes[0] > sizes[1] else 90)


def test_few_rows_have_means_and_no_ellipses_where_the_covariance_does_not_exist() -> None:
    rows = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [9.0, 9.0], [7.0, 9.5], [8.0, 6.0]])
    classifier = sf.GaussianBayes(bayes=True).fit(rows, [0, 0, 0, 1, 1, 1])  # Student's t of one degree of freedom
    ax = decision_surface(classifier, rows, grid=10)
    assert drawn(ax, Ellipse) == []
    assert len(ax.lines) == 2


def test_marginal_regions_are_those_of_the_classifier_of_two_columns() -> None:
    whole = decision_surface(sf.GaussianBayes().fit(FLOWERS, KINDS), FLOWERS, features=(2, 3), at="marginal", grid=25)
    two = decision_surface(sf.GaussianBayes().fit(TWO, KINDS), TWO, grid=25)
    np.testing.assert_allclose(*(np.asarray(ax.images[0].get_array()) for ax in (whole, two)), atol=1e-10)


# States -------------------------------------------------------------------------------------------------------


def sides(lines: LineCollection) -> set[tuple[tuple[float, float], ...]]:
    return {tuple(map(tuple, side.vertices.tolist())) for side in lines.get_paths()}


def test_states_stand_side_by_side_with_lines_between_classes() -> None:
    table = pd.DataFrame({"size": [0, 0, 5, 5, 9, 9] * 2, "kind": ["b", "a"] * 6})
    classes = ["no", "no", "no", "yes", "yes", "yes"] * 2
    ax = decision_surface(sf.JointBayes(smoothing=0.1).fit(table, classes), table, classes, levels=[0.999])
    assert ax.images[0].get_array().shape == (2, 3, 4)
    assert ax.images[0].get_extent() == [-0.5, 2.5, -0.5, 1.5]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "5", "9"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]
    (boundary,) = drawn(ax, LineCollection)
    # Up are a and b: of size 5, a is yes and b is no.
    assert sides(boundary) == {((0.5, -0.5), (0.5, 0.5)), ((1.5, 0.5), (1.5, 1.5)), ((0.5, 0.5), (1.5, 0.5))}
    x, y = np.vstack([points.get_offsets() for points in drawn(ax, PathCollection)]).T
    assert np.abs(x - np.round(x)).max() <= 0.3
    assert abs(np.corrcoef(x - np.round(x), y - np.round(y))[0, 1]) < 0.8  # moved both ways, not along a line
    ax.figure.canvas.draw()


def test_states_beside_numbers_have_a_boundary_each() -> None:
    table = TWO.assign(kind=np.where(np.arange(150) % 4 == 0, "u", "v"))
    classifier = sf.NaiveBayes().fit(table, KINDS == "virginica")
    ax = decision_surface(classifier, table, features=("kind", "petal width"), at="marginal", grid=400)
    boundary = drawn(ax, LineCollection)[-1]
    for code, state in enumerate("uv"):
        (height,) = {low[1] for low, high in sides(boundary) if low[0] == code - 0.5 and low[1] == high[1]}
        row = classifier.model_.query("class", {"kind": state, "petal width": height}).to_numpy()
        assert abs(row[0] - 0.5) < 0.05


def test_many_states_have_names_where_there_is_room() -> None:
    table = pd.DataFrame({"x": np.arange(100) % 50, "z": np.arange(100) % 2})
    ax = decision_surface(sf.NaiveBayes(kinds="categorical").fit(table, np.arange(100) % 3), table)
    assert [text.get_text() for text in ax.get_xticklabels()] == [str(state) for state in range(0, 50, 3)]


def test_counts_have_no_axis_below_zero() -> None:
    table = pd.DataFrame({"x": [0, 2, 3, 1], "z": [1, 0, 4, 2]})
    ax = decision_surface(sf.NaiveBayes(kinds="multinomial").fit(table, [0, 0, 1, 1]), table, grid=10)
    assert ax.get_xlim()[0] == ax.get_ylim()[0] == 0


def test_the_function_is_found_where_the_documentation_says() -> None:
    import suffice.report

    assert suffice.report.decision_surface is decision_surface
    assert callable(decision_surface)
