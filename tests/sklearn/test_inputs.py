"""What X and y may be: arrays of any kind, lists, frames of three libraries, sparse matrices where they make sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from tests.sklearn.shell_cases import blobs, people, states

import suffice as sf

NUMBERS = [sf.GaussianBayes("tied"), sf.NaiveBayes("gaussian"), sf.SoftmaxRegression("l2")]
GENERATIVE = [sf.GaussianBayes(), sf.NaiveBayes(), sf.JointBayes()]


# X of numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", NUMBERS, ids=str)
@pytest.mark.parametrize(
    "made",
    [
        np.asfortranarray,
        np.ndarray.tolist,
        lambda x: x.astype(object),
        lambda x: x[::-1][::-1],
        pd.DataFrame,
        lambda x: pd.DataFrame(x, columns=["a", "b", "c"]),
        lambda x: pl.DataFrame(x, schema=["a", "b", "c"]),
        lambda x: pa.table({name: x[:, place] for place, name in enumerate("abc")}),
    ],
)
def test_numbers_in_any_form_are_the_same_numbers(shell: Any, made: Any) -> None:
    x, y = blobs()
    expected = shell.fit(x, y).predict_proba(x)
    found = shell.fit(made(x), y).predict_proba(made(x))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("shell", NUMBERS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
def test_numbers_of_any_type_are_read_as_they_are(shell: Any, dtype: Any) -> None:
    x, y = blobs()
    x = (10 * x).astype(dtype)
    np.testing.assert_array_equal(shell.fit(x, y).predict_proba(x), shell.fit(x.astype(float), y).predict_proba(x))


def test_infinities_are_refused_with_their_place() -> None:
    x, y = blobs()
    x[3, 1] = -np.inf
    for shell in (*NUMBERS, sf.JointBayes()):
        with pytest.raises(sf.DataError, match=r"'x1'.*row 4.*-?inf"):
            shell.fit(x, y)
    for shell in NUMBERS:
        with pytest.raises(sf.DataError, match=r"'x1', row 1: -inf is not a finite number"):
            shell.fit(np.delete(x, 3, 0), np.delete(y, 3)).predict(x[3:4])


def test_a_column_of_text_is_refused_where_numbers_are_wanted() -> None:
    frame, y = people()
    with pytest.raises(sf.DataError, match=r"\['town'\] hold text.*NaiveBayes and SoftmaxRegression"):
        sf.GaussianBayes().fit(frame[["age", "town"]], y)


def test_sparse_matrices_are_for_softmax_regression() -> None:
    x, y = states(d=3)
    made = sparse.csr_array(x.astype(float))
    dense = sf.SoftmaxRegression("l2").fit(x, y)
    for matrix in (made, made.tocsc(), sparse.csr_matrix(made)):
        found = sf.SoftmaxRegression("l2").fit(matrix, y)
        np.testing.assert_allclose(found.predict_proba(matrix), dense.predict_proba(x), atol=1e-6)
        np.testing.assert_allclose(found.predict_proba(x), found.predict_proba(matrix), atol=1e-12)
    for shell in GENERATIVE:
        with pytest.raises((TypeError, sf.DataError), match=r"[Ss]parse"):
            shell.fit(made, y)


# X of states --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", [sf.NaiveBayes(), sf.JointBayes()], ids=str)
@pytest.mark.parametrize(
    "made",
    [
        np.asfortranarray,
        np.ndarray.tolist,
        lambda x: x.astype(np.int8),
        lambda x: np.array(["a", "b", "c"])[x],
        lambda x: np.array(["a", "b", "c"], object)[x],
        pd.DataFrame,
        lambda x: pd.DataFrame(np.array(["a", "b", "c"])[x], columns=["u", "v"]),
        lambda x: pl.DataFrame(np.array(["a", "b", "c"])[x], schema=["u", "v"]),
        lambda x: pa.table({name: x[:, place] for place, name in enumerate("uv")}),
        lambda x: pd.DataFrame(x, columns=["u", "v"]).astype("category"),
    ],
)
def test_states_in_any_form_are_the_same_states(shell: Any, made: Any) -> None:
    x, y = states()
    expected = shell.fit(x, y).predict_proba(x)
    np.testing.assert_allclose(shell.fit(made(x), y).predict_proba(made(x)), expected, rtol=1e-12)


def test_columns_of_a_list_keep_their_types() -> None:
    clf = sf.NaiveBayes().fit([["a", 1.5], ["b", 2.5], ["a", 2.0], ["b", 4.0]], [0, 1, 0, 1])
    assert clf.kinds_ == {"x0": "categorical", "x1": "gaussian"}


def test_kinds_follow_the_values_unless_they_are_said() -> None:
    frame, y = people()
    told = {"age": "gaussian", "town": "categorical", "smokes": "categorical", "grade": "categorical"}
    clf = sf.NaiveBayes().fit(frame, y)
    assert clf.kinds_ == {**told, "visits": "categorical"}
    assert clf.model_.schema["grade"].states == ("a", "b", "c")
    assert sf.NaiveBayes({"visits": "tied_gaussian"}).fit(frame, y).kinds_ == {**told, "visits": "tied_gaussian"}
    listed = sf.NaiveBayes(["tied_gaussian", None, "bernoulli", None, "multinomial"]).fit(frame, y)
    assert list(listed.kinds_.values()) == ["tied_gaussian", "categorical", "bernoulli", "categorical", "multinomial"]


def test_whole_numbers_of_many_values_must_be_said() -> None:
    x, y = np.arange(60)[:, None], np.arange(60) % 2
    with pytest.raises(sf.SchemaError, match=r"kinds=\{'x0': 'categorical'\} or kinds=\{'x0': 'gaussian'\}"):
        sf.NaiveBayes().fit(x, y)
    assert sf.NaiveBayes({"x0": "gaussian"}).fit(x, y).kinds_ == {"x0": "gaussian"}
    assert sf.NaiveBayes({"x0": "categorical"}).fit(x, y).model_.schema["x0"].n_states == 60
    assert sf.JointBayes().fit(x, y).model_.schema["x0"].n_states == 60


def test_numbers_with_fractions_as_states_are_remarked_on() -> None:
    x, y = blobs(d=1)
    notes = sf.JointBayes().fit(x, y).fit_.notes
    assert any("x0: numbers with fractions, each of them read as a state." in note.text for note in notes)


@pytest.mark.parametrize("shell", [sf.NaiveBayes(), sf.JointBayes()], ids=str)
def test_states_that_training_had_not_follow_the_policy(shell: Any) -> None:
    clf = shell.fit([["a", "u"], ["b", "v"], ["a", "v"]], [0, 1, 0])
    with pytest.raises(sf.DataError, match=r"'x0', row 2: state 'z' is not one of \['a', 'b'\]. No class had it"):
        clf.predict([["a", "u"], ["z", "u"]])
    clf.set_params(unknown_states="missing")
    np.testing.assert_allclose(clf.predict_proba([["z", "u"]]), clf.predict_proba([[None, "u"]]), rtol=1e-14)
    clf.set_params(unknown_states="error")


# Missing values -----------------------------------------------------------------------------------------------


def test_naive_bayes_learns_from_the_values_there_are() -> None:
    x, y = blobs()
    x[::4, 1] = np.nan
    clf = sf.NaiveBayes().fit(x, y)
    there = ~np.isnan(x[:, 1])
    mean = [x[there & (y == k), 1].mean() for k in range(3)]
    np.testing.assert_allclose(clf.model_.cpd("x1").intercept, mean, rtol=1e-12)
    np.testing.assert_allclose(clf.model_.cpd("x0").intercept, [x[y == k, 0].mean() for k in range(3)], rtol=1e-12)


@pytest.mark.parametrize("shell", [sf.GaussianBayes(), sf.GaussianBayes("tied"), sf.NaiveBayes()], ids=str)
def test_missing_numbers_of_a_row_are_integrated_out(shell: Any) -> None:
    x, y = blobs(d=2)
    rows = np.column_stack([x[:, 0], np.full(60, np.nan)])
    one = shell.fit(x[:, :1], y).predict_log_proba(x[:, :1])  # the margin of a normal law is that of its own column
    both = shell.fit(x, y)
    np.testing.assert_allclose(both.predict_log_proba(rows), one, atol=1e-10)
    prior = both.predict_proba(np.full((1, 2), np.nan))
    np.testing.assert_allclose(prior, both.model_.class_prior[None], rtol=1e-12)


def test_missing_states_of_a_row_are_summed_out() -> None:
    x, y = states()
    clf = sf.JointBayes().fit(x, y)
    table = np.array([[[((x == (i, j)).all(1) & (y == k)).sum() + 1.0 for j in range(3)] for i in range(3)]
                      for k in range(2)])  # fmt: skip
    table /= table.sum((1, 2), keepdims=True)
    expected = table.sum(2).T * clf.model_.class_prior
    rows = np.column_stack([np.arange(3.0), np.full(3, np.nan)])
    np.testing.assert_allclose(clf.predict_proba(rows), expected / expected.sum(1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("shell", [sf.GaussianBayes(), sf.JointBayes()], ids=str)
def test_rows_with_gaps_are_refused_in_training_or_left_out(shell: Any) -> None:
    x, y = states(d=3)
    x = x + np.random.default_rng(0).normal(size=x.shape).round(0)
    gaps = x.copy()
    gaps[7, 2] = np.nan
    with pytest.raises(sf.DataError, match=r"'x2', row 8: the value is missing"):
        shell.fit(gaps, y)
    shell.set_params(missing="drop")
    left = shell.fit(gaps, y).predict_proba(x[:7])
    assert any("1 row of 60 dropped" in note.text for note in shell.fit_.notes)
    np.testing.assert_allclose(left, shell.fit(np.delete(x, 7, 0), np.delete(y, 7)).predict_proba(x[:7]), rtol=1e-10)
    shell.set_params(missing="error")


def test_softmax_regression_refuses_gaps_and_says_why() -> None:
    x, y = blobs()
    clf = sf.SoftmaxRegression("l2").fit(x, y)
    x[4, 0] = np.nan
    for call in (lambda: clf.predict(x), lambda: sf.SoftmaxRegression().fit(x, y)):
        with pytest.raises(sf.DataError, match=r"'x0', row 5: .*\(NaN\).*nothing of how inputs are distributed"):
            call()
    with pytest.raises(sf.DataError, match=r"'x0', row 5"):
        clf.predict(sparse.csr_array(x))
    frame, health = people()
    frame.loc[2, "town"] = None
    with pytest.raises(sf.DataError, match=r"'town', row 3"):
        sf.SoftmaxRegression().fit(frame, health)


# y ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", [sf.GaussianBayes(), sf.NaiveBayes(), sf.SoftmaxRegression("l2")], ids=str)
@pytest.mark.parametrize(
    "labels",
    [["c", "a", "b"], np.array(["c", "a", "b"], object), [2.0, -1.0, 0.0], [30, 10, 20], [10**12, -5, 7],
     np.array([3, 1, 2], np.uint8)],
    ids=str,
)  # fmt: skip
def test_classes_are_given_back_as_they_came(shell: Any, labels: Any) -> None:
    x, codes = blobs()
    y = np.asarray(labels)[codes]
    clf = shell.fit(x, y)
    np.testing.assert_array_equal(clf.classes_, np.unique(y))
    assert clf.classes_.dtype == y.dtype
    found = clf.predict(x)
    assert found.dtype == y.dtype
    order = np.argsort(np.asarray(labels))
    np.testing.assert_allclose(clf.predict_proba(x), shell.fit(x, codes).predict_proba(x)[:, order], atol=1e-6)


def test_classes_may_be_bools() -> None:
    x, y = blobs(k=2)
    clf = sf.GaussianBayes().fit(x, y == 1)
    assert clf.classes_.tolist() == [False, True]
    assert clf.predict(x).dtype == bool


@pytest.mark.parametrize(
    ("made", "classes"),
    [
        (lambda y: np.array(y == 1, object), [False, True]),
        (lambda y: pd.Series(y == 1, dtype="boolean"), [False, True]),
        (lambda y: pd.Series(y, dtype="Int64"), [0, 1]),
        (lambda y: y.astype(object), [0, 1]),
        (lambda y: pl.Series(y == 1), [False, True]),
        (lambda y: pa.array(np.array(["no", "yes"])[y].tolist()), ["no", "yes"]),
    ],
)
def test_classes_in_any_wrapping_are_what_they_are(made: Any, classes: list[Any]) -> None:
    x, y = blobs(k=2)
    clf = sf.GaussianBayes().fit(x, made(y))
    assert clf.classes_.tolist() == classes
    assert [type(label) for label in clf.classes_.tolist()] == [type(label) for label in classes]
    np.testing.assert_array_equal(clf.predict_proba(x), sf.GaussianBayes().fit(x, y).predict_proba(x))


@pytest.mark.parametrize(
    "shell", [sf.GaussianBayes(), sf.NaiveBayes(), sf.JointBayes(), sf.SoftmaxRegression()], ids=str
)
@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", "b", None, "a"], object),
        np.array(["a", "b", np.nan, "a"], object),
        ["a", "b", float("nan"), "a"],
        ("a", "b", None, "a"),
        np.array([0, 1, np.nan, 1]),
        np.array([True, False, None, True], object),
        pd.Series(["a", "b", None, "a"], dtype="string"),
        pd.Series([0, 1, None, 1], dtype="Int64"),
        pd.Categorical(["a", "b", None, "a"]),
        pl.Series(["a", "b", None, "a"]),
        pa.array(["a", "b", None, "a"]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_rows_without_a_class_are_refused_with_their_place(shell: Any, y: Any) -> None:
    with pytest.raises(sf.DataError, match=r"y, row 3: the class is missing.*expectation maximisation"):
        shell.fit([[0.0], [1.0], [2.0], [3.0]], y)


@pytest.mark.parametrize("made", [pd.Series, pl.Series, pa.array, list])
def test_y_may_be_any_column(made: Any) -> None:
    x, y = states()
    clf = sf.NaiveBayes().fit(x, made(y.tolist()))
    np.testing.assert_array_equal(clf.predict(x), sf.NaiveBayes().fit(x, y).predict(x))


def test_the_class_is_called_as_y_is_unless_an_input_is() -> None:
    frame, health = people()
    assert sf.NaiveBayes().fit(frame, health).model_.target.name == "health"
    assert sf.NaiveBayes().fit(frame, health.rename("town")).model_.target.name == "town_"
    assert sf.NaiveBayes().fit(frame, health.to_list()).model_.target.name == "class"


def test_one_class_is_certain() -> None:
    x, _ = blobs()
    assert (sf.GaussianBayes().fit(x, ["a"] * 60).predict_proba(x) == 1).all()
