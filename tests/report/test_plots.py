"""What the plots draw: the numbers in them are the numbers of the fits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from scipy import stats
from scipy.integrate import trapezoid
from tests.result.test_chain_weights import chain

import suffice as sf
from suffice.data.variable import Variable
from suffice.learn.method import Start
from suffice.report import (
    confusion_plot,
    convergence_plot,
    cpt_bars,
    cpt_heatmap,
    learning_curves_plot,
    moments_plot,
    posterior_plot,
    transitions_plot,
    weights_plot,
)
from suffice.report.canvas import NEGATIVE, POSITIVE, literal, short, short_list, width_of
from suffice.report.posterior import curves_of
from suffice.result.confusion import Confusion
from suffice.structures.softmax_regression import SoftmaxClasses

RNG = np.random.default_rng(7)
N = 120
ROWS = {
    "A": RNG.choice(["x", "y"], N),
    "B": RNG.choice(["u", "v", "w"], N),
    "C": RNG.choice(["p", "q"], N),
}
NORMAL = {"dose": RNG.normal(2.0, 3.0, N), "group": RNG.choice(["a", "b"], N)}
NORMAL["effect"] = 0.5 * NORMAL["dose"] + RNG.normal(size=N)


@pytest.fixture(autouse=True)
def _without_a_screen() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")


def network(**settings: Any) -> Any:
    return sf.fit(sf.DAG("A -> C <- B"), ROWS, **settings)


def tick_texts(labels: Any) -> list[str]:
    return [label.get_text() for label in labels]


def drawn(ax: Any, kind: type) -> list[Any]:
    return [artist for artist in ax.collections if isinstance(artist, kind)]


def ends(lines: Any) -> np.ndarray:
    """Return where horizontal lines begin and end; shape (n, 2)."""
    return np.array([segment[:, 0] for segment in lines.get_segments()])


# Tables -------------------------------------------------------------------------------------------------------


def test_a_heat_map_holds_the_table_one_row_a_configuration() -> None:
    fit = network()
    ax = cpt_heatmap(fit, "C")
    np.testing.assert_array_equal(ax.images[0].get_array(), fit.model.cpd("C").values)
    assert tick_texts(ax.get_xticklabels()) == ["p", "q"]
    assert tick_texts(ax.get_yticklabels()) == [f"{a}, {b}" for a, b in itertools.product("xy", "uvw")]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("C", "A, B")
    first = fit.model.cpd("C").values[0]
    assert [float(text.get_text()) for text in ax.texts[:2]] == pytest.approx(first, abs=0.005)


def test_a_heat_map_shows_what_is_not_known() -> None:
    data = {"A": ["x", "x", "y"], "B": ["u", "v", "u"], "C": ["p", "q", "q"]}
    fit = sf.fit(sf.DAG("A -> C <- B"), data, unseen_parents="nan")
    ax = cpt_heatmap(fit.model.cpd("C"))
    assert ax.images[0].get_array().mask.any(axis=1).tolist() == [False, False, False, True]
    assert "grey" in ax.get_xlabel()


def test_a_heat_map_of_small_probabilities_uses_all_colours() -> None:
    states = [f"s{i}" for i in range(30)]
    fit = sf.fit(sf.DAG("A"), {"A": states})
    assert cpt_heatmap(fit, "A").images[0].get_clim() == (0.0, 0.05)
    assert cpt_heatmap(network(), "C").images[0].get_clim() == (0.0, 1.0)


def test_bars_are_the_estimate_and_lines_the_credible_intervals() -> None:
    fit = network(prior=sf.BDeu(3))
    ax = cpt_bars(fit, "C", level=0.9)
    bars: Any = ax.patches
    np.testing.assert_allclose([bar.get_width() for bar in bars], fit.model.cpd("C").values.reshape(-1))
    lower, upper = fit.posterior["C"].bounds(0.9)
    np.testing.assert_allclose(ends(ax.collections[0]), np.column_stack([lower.reshape(-1), upper.reshape(-1)]))
    assert "90 % credible" in ax.get_xlabel()
    assert ax.texts[0].get_text() == "A=x, B=u"
    low, high = ax.get_ylim()
    assert low > high  # the first row is the upper one


def test_bars_of_a_large_table_are_the_first_ones_and_it_is_said() -> None:
    states = {"A": [f"a{i}" for i in range(50)], "B": ["u", "v"]}
    fit = sf.fit(sf.DAG("A -> B"), sf.Contingency(np.ones((50, 2)), states), prior=sf.K2())
    ax = cpt_bars(fit, "B")
    assert len(ax.patches) == 60
    assert "the first 30 of 50 configurations" in ax.get_xlabel().replace("\n", " ")


def test_bars_of_a_markov_chain_are_its_transitions() -> None:
    fit = sf.fit(sf.MarkovChain(order=1), ["aab", "abb"], prior=sf.Dirichlet(1.0))
    bars: Any = cpt_bars(fit).patches
    assert [bar.get_width() for bar in bars] == pytest.approx([0.4, 0.6, 1 / 3, 2 / 3])


# Convergence --------------------------------------------------------------------------------------------------


def iterated(**more: Any) -> Any:
    from dataclasses import replace

    table = sf.Contingency(RNG.integers(5, 40, (3, 3, 2)), {"A": list("xyz"), "B": list("uvw"), "C": ["p", "q"]})
    return replace(sf.fit(sf.Cliques("A:B + B:C + C:A"), table), **more)


def test_convergence_is_the_trace() -> None:
    fit = iterated()
    assert len(fit.trace) > 3
    x, y = convergence_plot(fit).lines[0].get_data()
    assert x.tolist() == [step.number for step in fit.trace]
    assert y.tolist() == [step.objective for step in fit.trace]
    assert convergence_plot(fit).get_ylabel() == "log-likelihood"


def test_the_gap_is_the_distance_from_the_best() -> None:
    fit = iterated()
    ax = convergence_plot(fit, gap=True)
    values = np.array([step.objective for step in fit.trace])
    np.testing.assert_allclose(ax.lines[0].get_ydata()[:3], values.max() - values[:3])
    assert ax.get_yscale() == "log"


def test_ends_of_other_searches_are_marked_by_whether_they_converged() -> None:
    starts = (Start("random", -300.0, 4, True), Start("random", -310.0, 9, False), Start("given", -305.0, 2, True))
    ax = convergence_plot(iterated(starts=starts))
    ended, cut = drawn(ax, PathCollection)
    assert ended.get_offsets().tolist() == [[4, -300], [2, -305]]
    assert cut.get_offsets().tolist() == [[9, -310]]
    assert tick_texts(ax.get_legend().get_texts())[1:] == ["end of a search", "end without convergence"]


# Moments ------------------------------------------------------------------------------------------------------


def test_moments_of_cliques_are_the_margins_counted_by_hand() -> None:
    fit = sf.fit(sf.Cliques("A:B + C"), ROWS)
    points = np.asarray(moments_plot(fit).collections[0].get_offsets())
    pairs = [np.mean((ROWS["A"] == a) & (ROWS["B"] == b)) for a, b in itertools.product("xy", "uvw")]
    wanted = [*pairs, *(np.mean(ROWS["C"] == c) for c in "pq")]
    np.testing.assert_allclose(points, np.column_stack([wanted, wanted]), atol=1e-9)


def test_moments_of_parents_that_are_not_joined_leave_the_line() -> None:
    fit = network()
    assert fit.structure.nodes == ("A", "C", "B")
    points = np.asarray(moments_plot(fit).collections[0].get_offsets())
    data = [
        [[np.mean((ROWS["A"] == a) & (ROWS["B"] == b) & (ROWS["C"] == c)) for c in "pq"] for b in "uvw"] for a in "xy"
    ]
    np.testing.assert_allclose(points[2:-3, 0], np.reshape(data, -1))
    np.testing.assert_allclose(points[2:-3, 1], fit.model.query(["A", "B", "C"]).to_numpy().reshape(-1))
    assert np.abs(points[:, 0] - points[:, 1]).max() > 1e-3


def test_moments_of_features_are_their_averages() -> None:
    features = sf.Features([sf.indicator(A="x"), sf.indicator(A="x", B="v")])
    fit = sf.fit(features, ROWS, prior=sf.Gaussian(0.5))
    points = np.asarray(moments_plot(fit).collections[0].get_offsets())
    model = [fit.model.query("A").to_numpy()[0], fit.model.query(["A", "B"]).to_numpy()[0, 1]]
    data = [np.mean(ROWS["A"] == "x"), np.mean((ROWS["A"] == "x") & (ROWS["B"] == "v"))]
    np.testing.assert_allclose(points, np.column_stack([data, model]))


def test_moments_of_normal_distributions_are_in_standard_deviations() -> None:
    data = {"x": NORMAL["dose"], "y": NORMAL["effect"], "z": RNG.normal(size=N)}
    expected = np.corrcoef(np.array(list(data.values())))
    graph = np.asarray(moments_plot(sf.fit(sf.GaussianMarkov("x:y + z"), data)).collections[0].get_offsets())
    assert sorted(np.round(graph[:, 0], 9)) == sorted(np.round([0, 0, 0, *expected[np.tril_indices(3)]], 9))
    gap = np.abs(graph[:, 0] - graph[:, 1])
    assert np.sum(gap > 1e-9) == 2  # the two pairs that are not joined
    chain_ = np.asarray(moments_plot(sf.fit(sf.DAG("x -> y"), data)).collections[0].get_offsets())
    np.testing.assert_allclose(chain_[:, 0], chain_[:, 1], atol=1e-12)
    assert len(chain_) == 5


# Posteriors ---------------------------------------------------------------------------------------------------


def test_densities_of_a_table_are_beta() -> None:
    fit = network(prior=sf.BDeu(3))
    ax = posterior_plot(fit, "C", given={"A": "y", "B": "v"}, level=0.8)
    alpha = fit.posterior["C"].concentration[4]
    assert tick_texts(ax.get_legend().get_texts()) == ["p", "q"]
    for line, a, b in zip(ax.lines, alpha, alpha[::-1], strict=True):
        x, y = line.get_data()
        np.testing.assert_allclose(y, stats.beta(a, b).pdf(x), rtol=1e-9)
    filled = ax.collections[0].get_paths()[0].vertices[:, 0]
    lower, upper = fit.posterior["C"].bounds(0.8)
    assert (filled.min(), filled.max()) == pytest.approx((lower[4, 0], upper[4, 0]))


def test_densities_of_one_state_are_one_for_each_configuration() -> None:
    fit = network(prior=sf.BDeu(3))
    found = curves_of(fit, "C", None, "p", None)
    assert found.parameter == "p(C=p | A, B)"
    assert [curve.name for curve in found.curves] == [f"A={a}, B={b}" for a, b in itertools.product("xy", "uvw")]
    alpha = fit.posterior["C"].concentration
    x = np.linspace(0.1, 0.9, 9)
    for curve, (a, b) in zip(found.curves, alpha, strict=True):
        np.testing.assert_allclose(curve.density(x), stats.beta(a, b).pdf(x))


@pytest.mark.parametrize("parameter", ["intercept", "slope of dose", "sd"])
def test_densities_of_regressions_integrate_to_one_and_have_the_posteriors_quantiles(parameter: str) -> None:
    fit = sf.fit(sf.DAG("dose -> effect <- group"), NORMAL, prior=sf.Priors(sf.BDeu(1), sf.NormalInverseGamma(2, 1.0)))
    found = curves_of(fit, "effect", None, None, parameter)
    intervals = fit.posterior["effect"].intervals(0.9)
    for curve, group in zip(found.curves, "ab", strict=True):
        x = np.linspace(curve.quantile(1e-7), curve.quantile(1 - 1e-7), 20_001)
        assert trapezoid(curve.density(x), x) == pytest.approx(1.0, abs=1e-5)
        inside = x[(x >= curve.quantile(0.05)) & (x <= curve.quantile(0.95))]
        assert trapezoid(curve.density(inside), inside) == pytest.approx(0.9, abs=1e-3)
        known = intervals[f"{parameter} | group={group!r}"]
        assert (curve.quantile(0.5), curve.quantile(0.05), curve.quantile(0.95)) == pytest.approx(known)
    x, y = posterior_plot(fit, "effect", parameter=parameter).lines[0].get_data()
    np.testing.assert_allclose(y, found.curves[0].density(x))


def test_densities_of_a_normal_distribution_have_the_posteriors_quantiles() -> None:
    prior = sf.NormalInverseWishart(mean=0.0, mean_weight=1, dof=4, scale=1.0)
    fit = sf.fit(sf.MultivariateNormal(["dose", "effect"]), NORMAL, prior=prior)
    intervals = fit.posterior.intervals(0.9)
    for parameter in ("mean of effect", "sd of dose"):
        (curve,) = curves_of(fit, "", None, None, parameter).curves
        x = np.linspace(curve.quantile(1e-7), curve.quantile(1 - 1e-7), 20_001)
        assert trapezoid(curve.density(x), x) == pytest.approx(1.0, abs=1e-5)
        assert (curve.quantile(0.5), curve.quantile(0.05), curve.quantile(0.95)) == pytest.approx(intervals[parameter])


def test_densities_without_bound_do_not_flatten_the_others() -> None:
    data = sf.Contingency([[30, 0], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
    ax = posterior_plot(sf.fit(sf.DAG("A -> B"), data, prior=sf.BDeu(1)), "B")
    tops = [float(line.get_ydata().max()) for line in ax.lines]
    assert tops[0] > 10 * ax.get_ylim()[1]
    assert tops[1] == pytest.approx(ax.get_ylim()[1] / 1.1, rel=1e-3)


# Weights ------------------------------------------------------------------------------------------------------


def log_linear(**settings: Any) -> Any:
    features = sf.Features([sf.indicator(A="x"), sf.indicator(B="v"), sf.indicator(A="x", B="v"), sf.indicator(C="q")])
    return sf.fit(features, ROWS, **settings)


def test_weights_are_points_on_their_intervals_the_largest_first() -> None:
    fit = log_linear()
    ax = weights_plot(fit, n=3, level=0.8)
    table = fit.weights(0.8)
    order = np.argsort(-np.abs(table.estimate))[:3]
    assert tick_texts(ax.get_yticklabels()) == [table.names[k] for k in order]
    assert "the largest 3 of 4" in ax.get_xlabel()
    for points, lines, tint, positive in zip(
        drawn(ax, PathCollection), drawn(ax, LineCollection), (POSITIVE, NEGATIVE), (True, False), strict=True
    ):
        rows = [i for i, k in enumerate(order) if (table.estimate[k] > 0) == positive]
        np.testing.assert_allclose(points.get_offsets(), [[table.estimate[order[i]], i] for i in rows])
        np.testing.assert_allclose(ends(lines), [[table.lower[order[i]], table.upper[order[i]]] for i in rows])
        hollow = [table.lower[order[i]] <= 0 <= table.upper[order[i]] for i in rows]
        faces = [to_hex(face).upper() for face in points.get_facecolors()]
        assert faces == ["#FFFFFF" if empty else tint for empty in hollow]


def test_weights_without_standard_errors_have_no_intervals_and_it_is_said() -> None:
    ax = weights_plot(log_linear(prior=sf.Laplace(1.0)))
    assert all(not len(lines.get_segments()) for lines in drawn(ax, LineCollection))
    assert "without intervals" in ax.get_xlabel()
    assert "without intervals" in weights_plot(log_linear().model).get_xlabel()


def test_weights_of_a_softmax_regression_are_log_odds_against_the_reference() -> None:
    fit = sf.fit(SoftmaxClasses("group", ["dose", "effect"]), NORMAL)
    ax = weights_plot(fit)
    table = fit.coefficients()
    found = np.concatenate([points.get_offsets() for points in drawn(ax, PathCollection)])
    assert sorted(found[:, 0]) == pytest.approx(sorted(table.estimate))
    assert "log-odds against group=a" in ax.get_xlabel()
    turned = weights_plot(fit, reference="b")
    found = np.concatenate([points.get_offsets() for points in drawn(turned, PathCollection)])
    assert sorted(found[:, 0]) == pytest.approx(sorted(-table.estimate))
    ridge = sf.fit(SoftmaxClasses("group", ["dose", "effect"]), NORMAL, prior=sf.Gaussian(1.0))
    assert "without intervals" in weights_plot(ridge).get_xlabel()


def test_weights_of_a_regression_are_its_coefficients() -> None:
    fit = sf.fit(sf.DAG("dose -> effect"), NORMAL)
    ax = weights_plot(fit, "effect")
    table = fit.coefficients("effect")
    assert set(tick_texts(ax.get_yticklabels())) == {"(intercept)", "dose"}
    found = np.concatenate([points.get_offsets() for points in drawn(ax, PathCollection)])
    assert sorted(found[:, 0]) == pytest.approx(sorted(table.estimate))


def test_weights_of_a_chain_are_those_of_its_attributes() -> None:
    model = chain({("the", "A"): 2.0, ("ran", "A"): -3.0, ("cat", "B"): 0.5}, {}, ("A", "B"))
    ax = weights_plot(model, n=2)
    assert tick_texts(ax.get_yticklabels()) == ["ran → A", "the → A"]
    found = [points.get_offsets().tolist() for points in drawn(ax, PathCollection)]
    assert found == [[[2.0, 1]], [[-3.0, 0]]]


# Scores -------------------------------------------------------------------------------------------------------


def test_learning_curves_are_averages_with_two_standard_errors() -> None:
    scores = RNG.random((3, 8))
    ax = learning_curves_plot([10, 100, 1000], {"a": scores, "b": [0.1, 0.2, 0.3]}, errors={"b": [0.01] * 3})
    np.testing.assert_allclose(ax.lines[0].get_ydata(), scores.mean(axis=1))
    error = stats.sem(scores, axis=1)
    for band, mean, se in zip(ax.collections, (scores.mean(axis=1), [0.1, 0.2, 0.3]), (error, [0.01] * 3), strict=True):
        heights = band.get_paths()[0].vertices[:, 1]
        wanted = np.concatenate([mean - 2 * np.array(se), mean + 2 * np.array(se)])
        for value in wanted:
            assert np.abs(heights - value).min() < 1e-12
    assert tick_texts(ax.get_xticklabels()) == ["10", "100", "1,000"]
    assert not learning_curves_plot([1, 2], {"a": [1.0, 2.0]}).collections


def test_a_confusion_matrix_counts_rows_and_colours_shares() -> None:
    observed, predicted = RNG.choice(list("abc"), 200), RNG.choice(list("abc"), 200)
    ax = confusion_plot(observed, predicted)
    counts = np.array([[np.sum((observed == a) & (predicted == b)) for b in "abc"] for a in "abc"])
    assert [int(text.get_text()) for text in ax.texts] == counts.reshape(-1).tolist()
    np.testing.assert_allclose(ax.images[0].get_array(), counts / counts.sum(axis=1, keepdims=True))
    assert ax.get_title() == f"{200 - np.trace(counts)} of 200 rows wrong"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "observed")


def test_rows_without_an_answer_have_a_column() -> None:
    found = Confusion(Variable("y", ("a", "b")), np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([1.0, 0.0]))
    ax = confusion_plot(found)
    assert tick_texts(ax.get_xticklabels()) == ["a", "b", "none"]
    assert ax.images[0].get_array().mask[1].all()  # a class without rows has no shares
    assert ax.get_title() == "2 of 5 rows wrong"


def test_transitions_are_the_weights_from_row_to_column() -> None:
    model = chain({("x", "A"): 1.0}, {("A", "B"): 3.0, ("B", "B"): -1.25}, ("A", "B"))
    ax = transitions_plot(model)
    np.testing.assert_array_equal(ax.images[0].get_array(), [[0.0, 3.0], [0.0, -1.25]])
    assert ax.images[0].get_clim() == (-3.0, 3.0)
    assert tick_texts(ax.texts) == ["0.0", "3.0", "0.0", "−1.2"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("to", "from")


# Texts --------------------------------------------------------------------------------------------------------


def test_texts_are_cut_to_the_width_they_have() -> None:
    for text in ("W" * 300, "i" * 300, "🦜" * 300, "name", "漢字" * 40):
        for inches in (0.3, 0.8, 2.0):
            assert width_of(short(text, inches)) <= inches
            assert width_of(short_list([text, "b", text], inches)) <= max(inches, width_of("i…, b, i…"))
    assert short("name", 2.0) == "name"
    assert short("name one, of a long list", 0.8) != short("name two, of a long lisp", 0.8)


def test_characters_that_the_font_lacks_are_boxes_and_marks_upon_them_nothing() -> None:
    assert literal("a\U0001f468$_漢\u1ab0") == "a□$_□"
    assert literal("é ← −\u202e") == "é ← −\\u202e"
