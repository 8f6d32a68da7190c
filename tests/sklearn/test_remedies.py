"""What messages of the shells of counts advise exists there, and helps."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffice as sf

Y = np.array([0, 0, 1, 1])
GAPS = pd.DataFrame({"x": [np.nan, np.nan, 3.0, 4.5], "z": [1.0, 2.0, 4.0, 0.5]})
STATES = pd.DataFrame({"c": [None, None, "u", "v"], "d": list("abab")})
MIXED = pd.DataFrame({"x": [np.nan, np.nan, 3.0, 4.5], "d": list("abab")})
FULL = STATES.fillna("u")
NUMBERS = np.array([[1.0, 0.0], [2.0, 3.0], [3.0, 1.0], [4.0, 2.5]])
COUNTS = np.array([[0, 0], [0, 0], [1, 1], [3, 2]])
ODD = ("unseen_parents", "prior=", "Node ", "schema=", "sf.BDeu")
"""What the shells have no parameter for, or call otherwise."""


def third(clf: Any, x: Any) -> Any:
    """Learn from two classes where three are announced."""
    return clf.partial_fit(x, Y, classes=[0, 1, 2]).fit_


CASES: dict[str, Any] = {
    "no number in a class": lambda **way: sf.NaiveBayes(**way).fit(GAPS, Y),
    "no state in a class": lambda **way: sf.NaiveBayes(**{"smoothing": 0.0, **way}).fit(STATES, Y),
    "no number beside states": lambda **way: sf.NaiveBayes(**way).fit(MIXED, Y),
    "no count in a class": lambda **way: sf.NaiveBayes("multinomial", **{"smoothing": 0.0, **way}).fit(COUNTS, Y),
    "shared variance": lambda **way: sf.NaiveBayes(
        **{"kinds": {"x": "tied_gaussian"}, **way}, class_prior="uniform"
    ).fit(GAPS, Y),
    "unbiased variance": lambda **way: sf.NaiveBayes(**{"divisor": "n-1", **way}).fit(GAPS, Y),
    "class without numbers": lambda **way: third(sf.NaiveBayes(**{"class_prior": 1.0, **way}), NUMBERS),
    "class without states": lambda **way: third(sf.NaiveBayes(**{"class_prior": 1.0, "smoothing": 0.0, **way}), FULL),
    "class without counts": lambda **way: third(
        sf.NaiveBayes("multinomial", **{"class_prior": "uniform", "smoothing": 0.0, **way}), COUNTS[::-1] + 1
    ),
    "class without a table": lambda **way: third(sf.JointBayes(**{"class_prior": 1.0, "smoothing": 0.0, **way}), FULL),
    "class that gets a probability": lambda **way: (
        sf.NaiveBayes(**way).partial_fit(NUMBERS, Y, classes=[0, 1, 2]).with_class_priors("uniform")
    ),
    "class with a table that gets one": lambda **way: (
        sf.JointBayes(**{"smoothing": 0.0, **way}).partial_fit(FULL, Y, classes=[0, 1, 2]).with_class_priors("uniform")
    ),
    "column constant in a class": lambda **way: sf.NaiveBayes(**way).fit(GAPS.fillna(1.0), Y),
    "column constant everywhere": lambda **way: sf.NaiveBayes(**way).fit(GAPS.assign(x=[1.0, 1.0, 2.0, 2.0]), Y),
    "shared variance of constants": lambda **way: sf.NaiveBayes(**{"kinds": {"x": "tied_gaussian"}, **way}).fit(
        GAPS.assign(x=1.0), Y
    ),
}
WAY = re.compile(
    r"(?<!\w)(smoothing|class_prior|kinds|divisor)=(\[[^]]*\]|\{[^}]*\}|'[^']*'|sf\.\w+\([^)]*\)|[\d.]*\d)"
)


@pytest.mark.parametrize("name", CASES)
def test_remedies_are_parameters_and_help(name: str) -> None:
    with pytest.raises(sf.SufficeError) as error:
        CASES[name]()
    message = str(error.value)
    assert not any(odd in message.replace("class_prior=", "") for odd in ODD), message
    shell = sf.JointBayes if "table" in name else sf.NaiveBayes
    said = error.value.remedies
    assert said
    assert {argument for remedy in said for argument in (remedy.argument, *dict(remedy.beside))} <= {
        *shell().get_params()
    }
    found = [(key, eval(value, {"sf": sf})) for key, value in WAY.findall(message)]
    assert found, message
    joint = any(remedy.beside for remedy in said)
    ways = [dict(found)] if joint else [{key: value} for key, value in found]
    for way in ways:
        CASES[name](**way)


def test_one_class_is_told() -> None:
    fit = sf.NaiveBayes().fit(NUMBERS, np.zeros(4, int)).fit_
    assert "There is one class only, 0: every row is in it." in str(fit)


@pytest.mark.parametrize("smoothing", [[1, 2], [], "1", [sf.Dirichlet(1.0), 2]])
def test_smoothing_that_is_none_is_refused_by_its_name(smoothing: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="The 'smoothing' argument must be a pseudo-count"):
        sf.NaiveBayes(smoothing=smoothing).fit(FULL, Y)


def test_kinds_that_are_none_are_refused_by_their_name() -> None:
    with pytest.raises(sf.ArgumentError, match=r"kinds\['c'\].* must be one of .*'categorical'.* Got 'cat' instead"):
        sf.NaiveBayes({"c": "cat"}).fit(FULL, Y)
    with pytest.raises(sf.UnknownNameError, match=r"'kinds' argument names 'zz', which is none of the inputs"):
        sf.NaiveBayes({"zz": "gaussian"}).fit(FULL, Y)


@pytest.mark.parametrize("value", [1e200, -1e308])
@pytest.mark.parametrize("clf", [sf.NaiveBayes(), sf.NaiveBayes("tied_gaussian"), sf.GaussianBayes("diagonal")])
def test_numbers_too_far_out_are_named(clf: Any, value: float) -> None:
    fitted = clf.fit(NUMBERS, Y)
    for ask in (fitted.predict, fitted.predict_proba):
        with pytest.raises(sf.DataError, match=r"Column 'x1', row 2: .*e\+.* is too far from all classes") as error:
            ask([[1.0, 2.0], [3.0, value]])
        assert "smoothing" not in str(error.value)


def test_far_numbers_that_have_a_density_keep_probabilities_that_sum_to_one() -> None:
    clf = sf.NaiveBayes("tied_gaussian").fit(NUMBERS, Y)
    for far in (1e10, 1e50, 1e150):
        np.testing.assert_allclose(clf.predict_proba([[far, 1.0]]).sum(), 1.0)
        np.testing.assert_allclose(clf.model_.query("class", {"x0": far}).values.sum(), 1.0)
        np.testing.assert_allclose(clf.model_.query_rows("class", {"x0": [far], "x1": [1.0]}).values.sum(), 1.0)
