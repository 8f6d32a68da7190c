"""What X may be before it is read: names that are repeated, record batches, text where numbers are wanted, no table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.sklearn.shell_cases import blobs, people, states

import suffice as sf

ALL = [sf.GaussianBayes(), sf.NaiveBayes(), sf.JointBayes(unknown_states="missing"), sf.SoftmaxRegression("l2")]
WORDS = np.array(["a", "b", "c"])


@pytest.mark.parametrize("shell", ALL, ids=str)
def test_columns_of_one_name_are_refused(shell: Any) -> None:
    x, y = states()
    frame = pd.DataFrame(x, columns=["u", "u"])
    with pytest.raises(sf.DataError, match=r"Column 'u' occurs more than once. Rename or drop"):
        shell.fit(frame, y)
    with pytest.raises(sf.DataError, match="more than once"):
        shell.fit(frame.set_axis(["u", "v"], axis=1).astype(float), y).predict(frame)


@pytest.mark.parametrize("shell", ALL, ids=str)
def test_record_batches_are_tables(shell: Any) -> None:
    x, y = states()
    columns = {"u": x[:, 0].astype(float), "v": x[:, 1].astype(float)}
    table, batch = pa.table(columns), pa.RecordBatch.from_pydict(columns)
    expected = shell.fit(table, y).predict_proba(table)
    np.testing.assert_array_equal(shell.fit(batch, y).predict_proba(batch), expected)
    assert shell.feature_names_in_.tolist() == ["u", "v"]


@pytest.mark.parametrize("shell", [sf.NaiveBayes(), sf.JointBayes(), sf.SoftmaxRegression("l2")], ids=str)
def test_record_batches_may_hold_text(shell: Any) -> None:
    x, y = states()
    batch = pa.RecordBatch.from_pydict({"u": WORDS[x[:, 0]].tolist(), "v": WORDS[x[:, 1]].tolist()})
    expected = shell.fit(batch.to_pandas(), y).predict_proba(batch.to_pandas())
    np.testing.assert_allclose(shell.fit(batch, y).predict_proba(batch), expected, rtol=1e-12)


# Text where numbers are wanted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [
        lambda text: pd.DataFrame({"n": 1.5, "t": text}),
        lambda text: pd.DataFrame({"n": 1.5, "t": pd.Categorical(text)}),
        lambda text: pl.DataFrame({"n": np.ones(60), "t": pl.Series(text, dtype=pl.Enum(["a", "b", "c"]))}),
        lambda text: pl.DataFrame({"n": np.ones(60), "t": pl.Series(text, dtype=pl.Categorical)}),
        lambda text: pa.table({"n": np.ones(60), "t": pa.array(text).dictionary_encode()}),
    ],
)
def test_text_of_any_type_is_named_where_numbers_are_wanted(made: Any) -> None:
    x, y = states(d=1)
    frame = made(WORDS[x[:, 0]])
    with pytest.raises(sf.DataError, match=r"The columns \['t'\] hold text.*NaiveBayes and SoftmaxRegression take"):
        sf.GaussianBayes().fit(frame, y)
    with pytest.raises(sf.DataError, match=r"\['t'\] hold text, but numbers.*say in kinds that they are 'categorical'"):
        sf.NaiveBayes("gaussian").fit(frame, y)


def test_all_columns_of_text_are_named() -> None:
    frame, y = people()
    with pytest.raises(sf.DataError, match=r"\['town', 'grade'\] hold text"):
        sf.GaussianBayes().fit(frame, y)


def test_levels_that_are_numbers_are_numbers() -> None:
    x, y = states(d=2)
    x = x + np.random.default_rng(5).integers(0, 2, x.shape)
    frame = pd.DataFrame(x, columns=["u", "v"])
    found = sf.GaussianBayes("tied").fit(frame.astype("category"), y).predict_proba(frame)
    np.testing.assert_array_equal(found, sf.GaussianBayes("tied").fit(frame, y).predict_proba(frame))


@pytest.mark.parametrize("made", [np.asarray, lambda rows: np.array(rows, object), list])
def test_text_in_rows_is_named_where_numbers_are_wanted(made: Any) -> None:
    rows = made([["1", "2.5"], ["0", "red"], ["3", "1e3"]])
    with pytest.raises(sf.DataError, match=r"The columns \['x1'\] hold text"):
        sf.GaussianBayes().fit(rows, [0, 1, 0])


@pytest.mark.parametrize("shell", [sf.GaussianBayes(), sf.NaiveBayes(), sf.SoftmaxRegression("l2")], ids=str)
def test_text_where_training_had_numbers_is_named(shell: Any) -> None:
    x, y = blobs(d=2)
    frame = pd.DataFrame(x, columns=["u", "v"])
    with pytest.raises(sf.DataError, match=r"\['v'\] hold text, but held numbers in training"):
        shell.fit(frame, y).predict(frame.assign(v="many"))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-3, 3)), min_size=60, max_size=60), st.booleans())
@settings(max_examples=10, deadline=None)
def test_rows_with_text_are_the_frame_of_their_columns(rows: list[tuple[str, int]], as_array: bool) -> None:
    numbers = np.array([number for _, number in rows]) + np.random.default_rng(2).normal(size=60)
    mixed: Any = [[word, float(number)] for (word, _), number in zip(rows, numbers, strict=True)]
    frame = pd.DataFrame(mixed, columns=["x0", "x1"])
    given_rows = np.array(mixed, object) if as_array else mixed
    y = np.arange(60) % 3
    own = sf.SoftmaxRegression("l2").fit(given_rows, y)
    expected = sf.SoftmaxRegression("l2").fit(frame, y)
    assert own.terms_ == expected.terms_
    np.testing.assert_allclose(own.predict_proba(given_rows), expected.predict_proba(frame), rtol=1e-12)


# No tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ALL, ids=str)
@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda frame: pl.from_pandas(frame).lazy(), r"Got a LazyFrame instead.*X.collect\(\)"),
        (lambda frame: frame.to_dict("list"), r"Got \{'u'.*pandas.DataFrame\(X\)"),
        (lambda frame: frame.to_dict("records"), r"Got \[\{'u'.*pandas.DataFrame\(X\)"),
        (lambda frame: frame[[]], r"0 feature\(s\): a frame without columns"),
        (lambda frame: frame.to_records(index=False), r"Got a structured array instead. Make a table"),
        (lambda frame: (row for row in frame.to_numpy()), r"Got a generator instead.*list\(X\)"),
        (lambda frame: "flowers.csv", r"Got 'flowers.csv' instead. Read the file first"),
    ],
    ids=["lazy", "dict", "records", "no columns", "structured", "generator", "path"],
)
def test_what_is_no_table_is_refused_with_a_remedy(shell: Any, made: Any, said: str) -> None:
    x, y = states()
    frame = pd.DataFrame(x.astype(float), columns=["u", "v"])
    with pytest.raises(sf.DataError, match=said):
        shell.fit(made(frame), y)
    with pytest.raises(sf.DataError, match=said):
        shell.fit(frame, y).predict(made(frame))


@pytest.mark.parametrize("shell", ALL, ids=str)
@pytest.mark.parametrize("kind", [float, int, bool])
def test_sparse_columns_of_pandas_are_written_out(shell: Any, kind: Any) -> None:
    x, y = states()
    frame = pd.DataFrame(x > 0, columns=["u", "v"]).astype(kind)
    thin = frame.astype({"u": pd.SparseDtype(kind)})
    np.testing.assert_array_equal(shell.fit(thin, y).predict_proba(thin), shell.fit(frame, y).predict_proba(frame))
    assert str(thin.dtypes["u"]).startswith("Sparse")


@pytest.mark.parametrize(
    "shell",
    [sf.SoftmaxRegression("l2"), sf.GaussianBayes("tied", shrinkage=0.1), sf.NaiveBayes("tied_gaussian")],
    ids=str,
)
def test_a_mixed_frame_goes_through_a_column_transformer(shell: Any) -> None:
    frame, y = people(120)
    names = ["age", "town", "grade", "smokes"]
    coder = OneHotEncoder(sparse_output=False)
    columns = ColumnTransformer([("numbers", StandardScaler(), names[:1]), ("states", coder, names[1:])])
    by_name = make_pipeline(clone(columns), clone(shell)).set_output(transform="pandas").fit(frame, y)
    assert by_name[-1].feature_names_in_.tolist()[:3] == ["numbers__age", "states__town_Bern", "states__town_Graz"]
    by_place = make_pipeline(columns, shell).fit(frame, y)
    scaled = (frame["age"] - frame["age"].mean()) / frame["age"].std(ddof=0)
    by_hand = pd.concat([scaled, pd.get_dummies(frame[names[1:]].astype({"grade": str, "smokes": str}))], axis=1)
    expected = clone(shell).fit(by_hand.to_numpy(float), y).predict_proba(by_hand.to_numpy(float))
    for found in (by_name.predict_proba(frame), by_place.predict_proba(frame)):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


def test_sparse_dummies_go_from_a_column_transformer_to_softmax_regression() -> None:
    frame, y = people(120)
    coder = ColumnTransformer([("states", OneHotEncoder(), ["town", "grade"])], sparse_threshold=1.0)
    thin = make_pipeline(coder, sf.SoftmaxRegression("l2")).fit(frame, y)
    assert hasattr(thin[0].transform(frame), "tocsr")
    dense = make_pipeline(clone(coder).set_params(sparse_threshold=0.0), sf.SoftmaxRegression("l2")).fit(frame, y)
    np.testing.assert_allclose(thin.predict_proba(frame), dense.predict_proba(frame), atol=1e-6)
