"""Class probabilities of a fitted classifier: by label, in few digits, exchanged, and kept by later parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.sklearn.shell_cases import blobs, people, states

import suffice as sf

SHELLS: dict[str, tuple[Any, Any]] = {
    "gaussian": (sf.GaussianBayes("tied"), blobs()),
    "sparse": (sf.GaussianBayes("sparse", alpha=0.1), blobs()),
    "bayes": (sf.GaussianBayes(bayes=True), blobs()),
    "naive": (sf.NaiveBayes(), people()),
    "joint": (sf.JointBayes(), states()),
}
PI = {0: 0.7, 1: 0.1, 2: 0.2}


# By label -----------------------------------------------------------------------------------------------------


@given(st.permutations([0, 1, 2]))
@settings(max_examples=6, deadline=None)
def test_a_series_gives_probabilities_by_its_index(order: list[int]) -> None:
    x, y = blobs()
    series = pd.Series([PI[label] for label in order], index=order)
    for clf in (sf.GaussianBayes(class_prior=series).fit(x, y), sf.GaussianBayes().fit(x, y).with_class_priors(series)):
        assert clf.model_.class_prior.tolist() == [0.7, 0.1, 0.2]
    words = np.array(["c", "a", "b"])[y]
    named = pd.Series([PI[label] for label in order], index=[["c", "a", "b"][label] for label in order])
    assert sf.NaiveBayes(class_prior=named).fit(x, words).model_.class_prior.tolist() == [0.1, 0.2, 0.7]


def test_a_series_that_is_only_numbered_is_in_the_order_of_the_classes() -> None:
    x, y = blobs()
    clf = sf.GaussianBayes(class_prior=pd.Series([0.7, 0.1, 0.2])).fit(x, np.array(["c", "a", "b"])[y])
    assert clf.model_.class_prior.tolist() == [0.7, 0.1, 0.2]


@pytest.mark.parametrize("index", [[0, 1, 2], [1, 2, 4], [1, 1, 2], ["1", "2", "3"]], ids=str)
def test_a_series_of_other_labels_is_refused(index: list[Any]) -> None:
    x, y = blobs()
    prior = pd.Series([0.7, 0.1, 0.2], index=index)
    with pytest.raises(sf.ArgumentError, match=r"index must be the classes, \[1, 2, 3\]. Got the index \["):
        sf.GaussianBayes(class_prior=prior).fit(x, y + 1)
    with pytest.raises(sf.ArgumentError, match=r"index must be the classes"):
        sf.GaussianBayes().fit(x, y + 1).with_class_priors(prior)


# Digits -------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), st.sampled_from([np.float16, np.float32]), st.booleans())
@settings(max_examples=20, deadline=None)
def test_probabilities_in_few_digits_are_scaled_to_sum_to_one(values: list[float], kind: Any, mapped: bool) -> None:
    x, y = blobs()
    p = np.array(values)
    rounded = (p / p.sum()).astype(kind)
    prior = dict(enumerate(rounded)) if mapped else rounded
    found = sf.GaussianBayes(class_prior=prior).fit(x, y).model_.class_prior
    assert found.sum() == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(found, rounded.astype(float) / rounded.astype(float).sum(), rtol=1e-15)


@pytest.mark.parametrize("prior", [[0.3333333433] * 3, np.array([0.5, 0.25, 0.2500011], np.float32)], ids=str)
def test_other_sums_are_refused_with_their_digits(prior: Any) -> None:
    with pytest.raises(sf.ArgumentError, match=r"must sum to one. Its probabilities sum to 1\.0000\d+\."):
        sf.GaussianBayes(class_prior=prior).fit(*blobs())


# Exchanged ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHELLS)
def test_other_class_probabilities_give_the_fit_that_they_would_have_given(name: str, tmp_path: Path) -> None:
    shell, (x, y) = SHELLS[name]
    before = clone(shell).fit(x, y)
    k = len(before.classes_)
    prior = dict(zip(before.classes_.tolist(), (np.arange(k) + 1) / (k * (k + 1) / 2), strict=True))
    after = before.with_class_priors(prior)
    told = clone(shell).set_params(class_prior=prior).fit(x, y)
    assert after.fit_.certificate.ok
    assert after.fit_.structure == told.fit_.structure == after.structure_
    assert after.fit_.log_likelihood == pytest.approx(told.fit_.log_likelihood, rel=1e-12, nan_ok=True)
    np.testing.assert_allclose(after.predict_log_proba(x), told.predict_log_proba(x), rtol=1e-12, atol=1e-12)
    sf.write(after.fit_, tmp_path / "fit.json")
    np.testing.assert_allclose(sf.read(tmp_path / "fit.json").model.class_prior, list(prior.values()), rtol=1e-15)
    assert before.fit_.structure.class_prior.kind == "counted"


def test_what_goes_through_the_rows_again_has_a_model_and_no_fit() -> None:
    clf = sf.GaussianBayes(shrinkage="ledoit_wolf").fit(*blobs()).with_class_priors(PI)
    assert clf.model_.class_prior.tolist() == [0.7, 0.1, 0.2]
    assert not hasattr(clf, "fit_")
    with pytest.raises(AttributeError, match="goes through the rows once more, which are not kept: use fit"):
        _ = clf.fit_


def test_other_class_probabilities_do_not_follow_parameters_that_were_set_since() -> None:
    x, y = blobs()
    clf = sf.GaussianBayes("tied").fit(x, y).set_params(covariance="full", divisor="n-1")
    assert clf.with_class_priors("uniform").fit_.structure.covariance == "tied"


# Later parts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHELLS)
def test_later_parts_keep_other_class_probabilities(name: str) -> None:
    shell, (x, y) = SHELLS[name]
    k = len(np.unique(y))
    pi = (np.arange(k) + 1) / (k * (k + 1) / 2)
    clf = clone(shell).fit(x, y).with_class_priors(pi).partial_fit(x[:1], y[:1])
    np.testing.assert_allclose(clf.model_.class_prior, pi, rtol=1e-15)
    np.testing.assert_allclose(clf.fit_.model.class_prior, pi, rtol=1e-15)


CHANGES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "uniform": (sf.GaussianBayes("tied"), blobs(), {"class_prior": "uniform"}),
    "covariance": (sf.GaussianBayes("tied"), blobs(), {"covariance": "full", "divisor": "n-1", "shrinkage": 0.2}),
    "smoothing": (sf.NaiveBayes(), states(), {"smoothing": 0.25, "class_prior": 3.0}),
    "tied": (sf.NaiveBayes("gaussian"), blobs(), {"kinds": "tied_gaussian"}),
    "joint": (sf.JointBayes(), states(), {"smoothing": 0.25, "class_prior": [0.25, 0.75]}),
}


@pytest.mark.parametrize("name", CHANGES)
@given(cut=st.integers(20, 40))
@settings(max_examples=5, deadline=None)
def test_later_parts_follow_parameters_that_were_set(name: str, cut: int) -> None:
    shell, (x, y), changed = CHANGES[name]
    parts = clone(shell).partial_fit(x[:cut], y[:cut])
    parts.predict(x)
    parts.set_params(**changed).partial_fit(x[cut:], y[cut:])
    whole = clone(shell).set_params(**changed).fit(x, y)
    assert parts.structure_ == whole.structure_
    assert parts.fit_.certificate.ok
    np.testing.assert_allclose(parts.predict_log_proba(x), whole.predict_log_proba(x), rtol=1e-9, atol=1e-9)


def test_the_estimate_is_that_of_the_last_part_whenever_it_is_asked_for() -> None:
    x, y = states()
    clf = sf.NaiveBayes(smoothing=2.0).partial_fit(x, y).set_params(smoothing=0.5, class_prior="uniform")
    np.testing.assert_allclose(clf.predict_proba(x), sf.NaiveBayes(smoothing=2.0).fit(x, y).predict_proba(x))


@pytest.mark.parametrize(("before", "now"), [("gaussian", "multinomial"), ("gaussian", "categorical")])
def test_kinds_that_rows_are_kept_by_cannot_change(before: str, now: str) -> None:
    x, y = blobs()
    clf = sf.NaiveBayes(before).fit(x, y).set_params(kinds=now)
    p = clf.predict_proba(x)
    with pytest.raises(sf.ArgumentError, match=rf"'x0' was {before!r} in the parts before.* says {now!r}.*use fit"):
        clf.partial_fit(np.abs(x).round(), y)
    np.testing.assert_array_equal(clf.predict_proba(x), p)  # a part that is refused changes nothing
    assert clf.kinds_["x0"] == before
    assert clf.fit_.n == 60


def test_a_fit_that_failed_leaves_nothing_to_later_parts() -> None:
    x, y = np.abs(blobs()[0]).round(), blobs()[1]
    clf = sf.NaiveBayes("gaussian", smoothing=-1)
    with pytest.raises(sf.ArgumentError, match="'smoothing'"):
        clf.fit(x, y)
    clf.set_params(kinds="multinomial", smoothing=1.0).partial_fit(x, y)
    np.testing.assert_allclose(clf.predict_proba(x), sf.NaiveBayes("multinomial").fit(x, y).predict_proba(x))


def test_a_part_with_few_of_the_classes_does_not_shorten_a_list_of_probabilities() -> None:
    x, y = blobs()
    clf = sf.GaussianBayes(class_prior=[0.7, 0.1, 0.2]).fit(x, y).partial_fit(x[y == 1], y[y == 1])
    assert clf.model_.class_prior.tolist() == [0.7, 0.1, 0.2]
    with pytest.raises(sf.ArgumentError, match="each of the 4 classes"):
        clf.partial_fit(x[:1], [3])
    assert clf.classes_.tolist() == [0, 1, 2]
