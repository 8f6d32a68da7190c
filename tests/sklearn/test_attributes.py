"""Attributes that a classifier does not have, or not yet: hasattr says so, and pictures in notebooks are drawn."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from tests.sklearn.shell_cases import blobs, classifiers

import suffice as sf
from suffice.sklearn.base import UnavailableError


def early() -> Any:
    x, y = blobs()
    return sf.GaussianBayes().partial_fit(x[:2], y[:2])


MADE: dict[str, Any] = {
    "early part": early,
    "softmax form": lambda: sf.GaussianBayes().fit(*blobs()).to_softmax(),
    "penalty": lambda: sf.SoftmaxRegression("l2").fit(*blobs()),
    "rows gone": lambda: sf.GaussianBayes(shrinkage="ledoit_wolf").fit(*blobs()).with_class_priors("uniform"),
    **{f"new {name}": (lambda shell=shell: shell) for name, (shell, _) in classifiers().items()},
}


@pytest.mark.parametrize("name", MADE)
def test_every_attribute_can_be_asked_for(name: str) -> None:
    clf = MADE[name]()
    for attribute in dir(type(clf)):
        hasattr(clf, attribute)
    assert type(clf).__name__ in clf._repr_html_()


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("early part", "fit_"),
        ("early part", "model_"),
        ("softmax form", "fit_"),
        ("softmax form", "deviance_"),
        ("penalty", "coefficients_"),
        ("rows gone", "fit_"),
    ],
)
def test_attributes_that_are_not_there_say_why(name: str, attribute: str) -> None:
    clf = MADE[name]()
    assert not hasattr(clf, attribute)
    with pytest.raises(UnavailableError) as caught:
        getattr(clf, attribute)
    assert isinstance(caught.value, AttributeError)
    assert isinstance(caught.value, sf.EstimationError)
    assert len(str(caught.value)) > 40
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_calls_keep_the_kind_of_their_errors() -> None:
    x, y = blobs()
    with pytest.raises(sf.EstimationError) as caught:
        early().predict(x)
    assert not isinstance(caught.value, AttributeError)
    with pytest.raises(sf.ArgumentError):
        sf.GaussianBayes(shrinkage="ledoit_wolf").partial_fit(x, y).predict(x)
