"""Other class probabilities, the softmax form, log-odds, samples, pictures: what a fitted classifier turns into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.sklearn.shell_cases import COVARIANCES, blobs, people, states

import suffice as sf

GENERATIVE: dict[str, tuple[Any, Any]] = {
    **{covariance: (sf.GaussianBayes(covariance), blobs()) for covariance in COVARIANCES},
    "naive numbers": (sf.NaiveBayes(), blobs()),
    "naive states": (sf.NaiveBayes(), states()),
    "naive mixed": (sf.NaiveBayes(), people()),
    "joint": (sf.JointBayes(), states()),
}


SUMS = [name for name in GENERATIVE if name != "joint"]


@pytest.mark.parametrize("name", SUMS)
def test_the_softmax_form_has_the_same_posteriors(name: str) -> None:
    shell, (x, y) = GENERATIVE[name]
    clf = shell.fit(x, y)
    form = clf.to_softmax()
    assert isinstance(form, sf.SoftmaxRegression)
    np.testing.assert_allclose(form.predict_proba(x), clf.predict_proba(x), atol=1e-10)
    np.testing.assert_array_equal(form.predict(x), clf.predict(x))
    assert form.to_softmax() is form
    with pytest.raises(AttributeError, match=r"not fitted to data but made from another classifier"):
        _ = form.fit_


def test_the_softmax_form_of_fishers_discriminant_is_linear() -> None:
    x, y = blobs(k=2)
    clf = sf.GaussianBayes("tied").fit(x, y)
    form = clf.to_softmax()
    means = np.array([x[y == k].mean(0) for k in range(2)])
    within = sum((x[y == k] - means[k]).T @ (x[y == k] - means[k]) for k in range(2)) / len(x)
    slope = np.linalg.solve(within, means[1] - means[0])
    np.testing.assert_allclose(form.coef_, slope[None], rtol=1e-9)
    np.testing.assert_allclose(form.intercept_, [-slope @ means.sum(0) / 2], rtol=1e-9, atol=1e-9)
    assert form.terms_ == ["x0", "x1", "x2"]


def test_a_graph_over_the_columns_gives_zeros_to_the_precision_matrices() -> None:
    x, y = blobs()
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    clf = sf.GaussianBayes("sparse", graph="a:b + c").fit(frame, y)
    precision = np.linalg.inv(clf.model_.covariance(1))
    np.testing.assert_allclose(precision[[0, 1], 2], 0, atol=1e-10)
    assert abs(precision[0, 1]) > 1e-3
    assert clf.fit_.certificate.ok


def test_a_joint_table_is_no_sum_of_terms() -> None:
    clf = sf.JointBayes().fit(*states())
    for ask in (clf.to_softmax, lambda: clf.log_odds(0, 1)):
        with pytest.raises(sf.ModelError, match="no softmax form"):
            ask()


@pytest.mark.parametrize("name", SUMS)
def test_log_odds_are_the_difference_of_log_posteriors(name: str) -> None:
    shell, (x, y) = GENERATIVE[name]
    clf = shell.fit(x, y)
    frame = x if isinstance(x, pd.DataFrame) else pd.DataFrame(x, columns=[f"x{j}" for j in range(x.shape[1])])
    log_p = clf.predict_log_proba(x)
    odds = clf.log_odds(clf.classes_[1], clf.classes_[0])
    np.testing.assert_allclose(odds.at(frame), log_p[:, 1] - log_p[:, 0], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", GENERATIVE)
def test_other_class_probabilities_move_log_odds_by_a_constant(name: str) -> None:
    shell, (x, y) = GENERATIVE[name]
    clf = shell.fit(x, y)
    k = len(clf.classes_)
    pi = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    other = clf.with_class_priors(pi)
    moved = other.predict_log_proba(x) - clf.predict_log_proba(x)
    shift = np.log(pi) - np.log(clf.model_.class_prior)
    np.testing.assert_allclose(moved - moved[:, :1], np.tile(shift - shift[0], (len(x), 1)), atol=1e-9)
    np.testing.assert_array_equal(
        clf.with_class_priors(dict(zip(clf.classes_.tolist(), pi.tolist(), strict=True))).predict_proba(x),
        other.predict_proba(x),
    )
    np.testing.assert_allclose(other.fit_.model.class_prior, pi, rtol=1e-15)
    assert other.fit_.certificate.ok
    assert clf.fit_.model is clf.model_
    assert type(other) is type(clf)
    np.testing.assert_allclose(other.fit(x, y).model_.class_prior, pi, rtol=1e-12)  # its parameter is changed, too


@pytest.mark.parametrize("name", GENERATIVE)
def test_the_maximum_likelihood_rule_is_that_of_equal_class_probabilities(name: str) -> None:
    shell, (x, y) = GENERATIVE[name]
    equal = shell.fit(x, y).with_class_priors("uniform").predict_proba(x)
    np.testing.assert_allclose(shell.set_params(rule="ml").fit(x, y).predict_proba(x), equal, rtol=1e-9, atol=1e-12)
    shell.set_params(rule="map")


def test_class_probabilities_are_counted_smoothed_equal_or_given() -> None:
    x, y = states(k=2)
    y = np.where(np.arange(60) < 45, 0, 1)
    found = {
        str(spec): sf.NaiveBayes(class_prior=spec).fit(x, y).model_.class_prior.tolist()
        for spec in ("counted", 15.0, "uniform", [0.9, 0.1], {1: 0.2, 0: 0.8})
    }
    assert found == {
        "counted": [0.75, 0.25],
        "15.0": [60 / 90, 30 / 90],
        "uniform": [0.5, 0.5],
        "[0.9, 0.1]": [0.9, 0.1],
        "{1: 0.2, 0: 0.8}": [0.8, 0.2],
    }


def test_samples_are_frames_of_inputs_and_classes() -> None:
    frame, y = people()
    clf = sf.NaiveBayes().fit(frame, y)
    drawn = clf.sample(500, seed=1)
    assert list(drawn.columns) == [*frame.columns, "health"]
    pd.testing.assert_frame_equal(drawn, clf.sample(500, seed=1))
    assert abs((drawn["health"] == "ill").mean() - (y == "ill").mean()) < 0.1


def test_impossible_rows_are_named_with_the_remedy() -> None:
    clf = sf.JointBayes(0.0).fit([["a", "u"], ["b", "v"]], [0, 1])
    with pytest.raises(sf.ModelError, match=r"Row 2 of X is impossible under every class.*smoothing=1.0"):
        clf.predict([["a", "u"], ["a", "v"]])
    smoothed = sf.JointBayes().fit([["a", "u"], ["b", "v"]], [0, 1]).predict_proba([["a", "v"]])
    np.testing.assert_allclose(smoothed, [[0.5, 0.5]], rtol=1e-12)


def test_decision_surfaces_are_drawn_from_a_classifier() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    x, y = blobs(d=2)
    axes = sf.NaiveBayes().fit(x, y).decision_surface(x, y)
    assert axes.get_xlabel() == "x0"
    plt.close(axes.figure)
