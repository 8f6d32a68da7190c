"""scikit-learn's protocol: cloning, pickling, pipelines, searches, names of columns."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from tests.sklearn.shell_cases import blobs, classifiers, people, states

import suffice as sf

NAMES = list(classifiers())


@pytest.mark.parametrize("name", NAMES)
def test_clones_have_the_parameters_and_nothing_else(name: str) -> None:
    shell, (x, y) = classifiers()[name]
    twin = clone(shell.fit(x, y))
    assert twin.get_params() == shell.get_params()
    assert is_classifier(twin)
    assert not hasattr(twin, "classes_")
    with pytest.raises(NotFittedError):
        twin.predict(x)
    for attribute in ("fit_", "model_"):
        assert not hasattr(twin, attribute)


@pytest.mark.parametrize("name", NAMES)
def test_pickled_classifiers_answer_the_same(name: str) -> None:
    shell, (x, y) = classifiers()[name]
    twin = pickle.loads(pickle.dumps(shell.fit(x, y)))
    np.testing.assert_array_equal(twin.predict_log_proba(x), shell.predict_log_proba(x))
    assert twin.fit_.certificate.ok


@pytest.mark.parametrize("name", NAMES)
def test_answers_agree_with_each_other(name: str) -> None:
    shell, (x, y) = classifiers()[name]
    shell.fit(x, y)
    p = shell.predict_proba(x)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-12)
    np.testing.assert_allclose(p, np.exp(shell.predict_log_proba(x)), rtol=1e-12)
    np.testing.assert_array_equal(shell.predict(x), shell.classes_[p.argmax(1)])
    scores = shell.decision_function(x)
    expected = np.log(p[:, 1] / p[:, 0]) if len(shell.classes_) == 2 else np.log(p)
    np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-7)
    assert shell.score(x, y) == (shell.predict(x) == y).mean()


@pytest.mark.parametrize("name", NAMES)
def test_the_fit_is_the_librarys_own(name: str) -> None:
    shell, (x, y) = classifiers()[name]
    shell.fit(x, y)
    assert isinstance(shell.fit_, sf.Fit)
    assert shell.fit_.certificate.ok
    assert shell.fit_.model is shell.model_
    assert shell.statistics_ is shell.fit_.statistics
    assert "Certified" in str(shell.fit_)
    assert shell.n_features_in_ == x.shape[1]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_given_is_not_changed(name: str) -> None:
    shell, (x, y) = classifiers()[name]
    before = x.copy(), y.copy()
    shell.fit(x, y).predict(x)
    assert np.asarray(x == before[0]).all()
    assert np.asarray(y == before[1]).all()


def test_scaled_numbers_have_the_same_posteriors() -> None:
    x, y = blobs()
    for shell in (sf.GaussianBayes(), sf.NaiveBayes(), sf.SoftmaxRegression()):
        scaled = make_pipeline(StandardScaler(), clone(shell)).fit(x, y)
        np.testing.assert_allclose(scaled.predict_proba(x), shell.fit(x, y).predict_proba(x), atol=1e-6)


def test_columns_can_be_transformed_before() -> None:
    frame, y = people()
    columns = ColumnTransformer(
        [("numbers", "passthrough", ["age"]), ("states", OneHotEncoder(drop="first"), ["town", "grade"])]
    )
    encoded = make_pipeline(columns, sf.SoftmaxRegression("l2", strength=0.01)).fit(frame, y)
    names = ["age", "town", "grade"]
    own = sf.SoftmaxRegression("l2", strength=0.01).fit(frame[names].astype({"grade": str}), y)
    np.testing.assert_allclose(encoded.predict_proba(frame), own.predict_proba(frame[names]), atol=1e-6)
    cut = make_pipeline(KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"), sf.JointBayes())
    x, classes = blobs()
    assert cut.fit(x, classes).score(x, classes) > 0.7


def test_parameters_can_be_searched() -> None:
    x, y = blobs(90)
    search = GridSearchCV(sf.GaussianBayes(), {"covariance": ["full", "tied", "diagonal"], "rule": ["map", "ml"]}, cv=3)
    assert search.fit(x, y).best_score_ > 0.6
    best = GridSearchCV(sf.SoftmaxRegression("l2"), {"strength": [0.1, 10.0]}, scoring="neg_log_loss", cv=3).fit(x, y)
    assert best.best_params_["strength"] in (0.1, 10.0)


@pytest.mark.parametrize("name", NAMES)
def test_classifiers_can_be_cross_validated(name: str) -> None:
    shell, (x, y) = classifiers()[name]
    assert (cross_val_score(shell, x, y, cv=3, error_score="raise") > 0.3).all()


def test_classifiers_can_be_calibrated() -> None:
    x, y = states()
    found = CalibratedClassifierCV(sf.NaiveBayes(), cv=3).fit(x, y)
    np.testing.assert_allclose(found.predict_proba(x).sum(1), 1)


# Names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gaussian", "naive", "naive mixed", "joint", "softmax"])
def test_columns_must_be_those_of_the_fit(name: str) -> None:
    shell, (x, y) = classifiers()[name]
    frame = x if isinstance(x, pd.DataFrame) else pd.DataFrame(x, columns=[f"c{j}" for j in range(x.shape[1])])
    shell.fit(frame, y)
    assert shell.feature_names_in_.tolist() == list(frame.columns)
    assert [variable.name for variable in shell.model_.inputs] == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        shell.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        shell.predict(frame.rename(columns={frame.columns[0]: "other"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(shell.predict(frame.to_numpy()), shell.predict(frame))


@pytest.mark.parametrize("name", ["gaussian", "naive", "naive states", "joint", "softmax"])
def test_columns_of_arrays_are_counted(name: str) -> None:
    shell, (x, y) = classifiers()[name]
    shell.fit(x, y)
    with pytest.raises(ValueError, match=f"expecting {x.shape[1]} features"):
        shell.predict(x[:, :1])
    assert shell.fit(x[:, :1], y).predict(x[:, :1]).shape == y.shape


# Parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shell", "said"),
    [
        (sf.GaussianBayes("round"), "'covariance' argument must be one of"),
        (sf.GaussianBayes(shrinkage=2), "'shrinkage' argument must be a number from 0 to 1"),
        (sf.GaussianBayes(rule="best"), "'rule' argument must be one of"),
        (sf.GaussianBayes(missing="em"), "sf.GaussianBayes has no method"),
        (sf.GaussianBayes(missing="fill"), "'missing' argument must be one of"),
        (sf.GaussianBayes(class_prior=[0.5, 0.5]), "one probability of each of the 3 classes"),
        (sf.NaiveBayes("normal"), "'kinds' argument must be one of"),
        (sf.NaiveBayes(["gaussian"]), "a list of one for each of the 3 columns"),
        (sf.NaiveBayes({"x9": "gaussian"}), "'x9', which is none of the inputs"),
        (sf.NaiveBayes(smoothing=-1), "'smoothing' argument must be a pseudo-count of at least 0"),
        (sf.NaiveBayes(unknown_states="drop"), "'unknown_states' argument must be one of"),
        (sf.NaiveBayes(class_prior="equal"), "'class_prior' argument must be 'counted', 'uniform'"),
        (sf.JointBayes(smoothing="some"), "'smoothing' argument must be a pseudo-count"),
        (sf.JointBayes(unknown_states=None), "'unknown_states' argument must be one of"),
        (sf.SoftmaxRegression("l3"), "'penalty' argument must be 'l2', 'l1' or None"),
        (sf.SoftmaxRegression("l2", strength=-1), "'strength' argument must be a number of at least 0"),
        (sf.SoftmaxRegression(intercept=1), "'intercept' argument must be True or False"),
        (sf.SoftmaxRegression(tol=0), "'tol' argument must lie between 0 and 1"),
        (sf.SoftmaxRegression(max_iter=0.5), "'max_iter' argument must be a whole number"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named_when_fitted(shell: Any, said: str) -> None:
    with pytest.raises(sf.SufficeError, match=said):
        shell.fit(*blobs())
    assert not hasattr(shell, "classes_")
