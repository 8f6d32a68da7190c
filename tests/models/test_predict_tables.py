"""Predictions as an object, and the tables that predict reads: kinds, pieces, notes, policies."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyarrow.parquet import write_table

import suffice as sf
from suffice.data.readers import open_raw
from suffice.models.prediction import PredictedRows, Predictor
from suffice.models.prediction_scores import NumberScores, StateScores

ROWS: dict[str, list[Any]] = {"A": ["x", None, "y", "x"], "B": ["u", "v", None, "v"], "n": [1, 2, 1, None]}


@pytest.fixture(scope="module")
def model() -> sf.BayesianNetwork:
    tables = {"A": [0.4, 0.6], "B": [[0.9, 0.1], [0.25, 0.75]], "n": [[0.5, 0.5], [0.2, 0.8]]}
    return sf.BayesianNetwork(sf.DAG("A -> B; A -> n"), tables, schema={"A": ["x", "y"], "B": ["u", "v"], "n": [1, 2]})


@pytest.fixture(scope="module")
def gaussian() -> sf.BayesianNetwork:
    data = {"dose": [0.0, 1.0, 2.0, 3.0], "effect": [1.0, 3.5, 4.5, 7.0]}
    return sf.fit(sf.DAG("dose -> effect"), data).model


# The object ---------------------------------------------------------------------------------------------------


def test_labels_probabilities_and_frames(model: sf.BayesianNetwork) -> None:
    found = model.predict("A", ROWS)
    expected = [
        model.query("A", given).values for given in ({"B": "u", "n": 1}, {"B": "v", "n": 2}, {"n": 1}, {"B": "v"})
    ]
    np.testing.assert_allclose(found.probabilities, expected)
    assert found.labels.tolist() == ["x", "y", "x", "y"]
    assert found.states == ("x", "y")
    assert len(found) == 4
    np.testing.assert_allclose(found.confidence, np.max(expected, axis=1))
    frame = found.to_frame("pandas")
    assert list(frame) == ["predicted", "p_x", "p_y"]
    assert frame["predicted"].tolist() == ["x", "y", "x", "y"]
    assert list(frame["predicted"].cat.categories) == ["x", "y"]
    np.testing.assert_array_equal(frame[["p_x", "p_y"]].to_numpy(), found.to_numpy())
    assert found.to_frame("polars").columns == ["predicted", "p_x", "p_y"]
    assert repr(found) == "Predictions('A', 4 rows)"


def test_predictions_are_frozen(model: sf.BayesianNetwork) -> None:
    found = model.predict("A", ROWS)
    with pytest.raises(FrozenInstanceError):
        found.target = None
    for array in (found.probabilities, found.codes, found.observed):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    own = found.to_numpy()
    own[0] = 0
    assert found.probabilities[0].sum() == pytest.approx(1)


def test_print_shows_the_first_rows(model: sf.BayesianNetwork) -> None:
    text = str(model.predict("A", {"B": ["u"] * 25}))
    assert text.splitlines()[0].split() == ["row", "predicted", "p(x)", "p(y)"]
    assert text.splitlines()[2].split() == ["1", "x", "0.7059", "0.2941"]
    assert text.splitlines()[-1] == "… 15 more rows"
    many = sf.BayesianNetwork(sf.DAG("A"), {"A": np.full(12, 1 / 12)}, schema={"A": list(range(12))})
    assert str(many.predict("A", {"A": [3]})).splitlines()[0].split() == ["row", "predicted", "p", "observed"]


def test_scores_by_hand(model: sf.BayesianNetwork) -> None:
    found = model.predict("A", ROWS)
    score = found.score()
    p = found.probabilities
    own = np.array([p[0, 0], p[2, 1], p[3, 0]])  # the second row has no A
    truth = np.array([[1, 0], [0, 1], [1, 0]])
    brier = ((p[[0, 2, 3]] - truth) ** 2).sum(axis=1).mean()
    log_loss = -np.log(own).mean()
    assert score == StateScores(3, 0, pytest.approx(1 / 3), pytest.approx(log_loss), pytest.approx(brier))
    assert found.score(["x", "y", "x", "y"]).accuracy == 1
    assert found.score(pd.Series(["x", None, np.nan, "x"])).n == 2
    assert StateScores.total([score, found.score(["x", "y", "x", "y"])]).accuracy == pytest.approx(5 / 7)


def test_rows_without_an_answer_are_errors_of_accuracy_alone() -> None:
    certain = sf.BayesianNetwork(sf.DAG("A -> B"), {"A": [0.5, 0.5], "B": [[1.0, 0.0], [1.0, 0.0]]},
                                 schema={"A": ["x", "y"], "B": ["u", "v"]})  # fmt: skip
    found = certain.predict("A", {"A": ["x", "x"], "B": ["u", "v"]}, impossible="nan")
    assert found.labels.tolist() == ["x", None]
    assert found.codes.tolist() == [0, -1]
    assert found.score() == StateScores(2, 1, 0.5, pytest.approx(np.log(2)), pytest.approx(0.5))
    assert found.to_frame("pandas")["predicted"].isna().tolist() == [False, True]
    assert found.notes[-1] == "1 row impossible under the model, without an answer."
    assert "-" in str(found).splitlines()[3].split()


def test_numbers_have_means_and_intervals(gaussian: sf.BayesianNetwork) -> None:
    found = gaussian.predict("effect", {"dose": [1.0, None], "effect": [3.0, 100.0]}, level=0.5)
    one = gaussian.query("effect", {"dose": 1.0})
    assert (found.mean[0], found.sd[0]) == (pytest.approx(one.mean[0]), pytest.approx(one.sd[0]))
    np.testing.assert_allclose([found.lower[0], found.upper[0]], one.interval(0.5)[0])
    assert found.to_frame("pandas").columns.tolist() == ["predicted", "sd", "lower", "upper"]
    score = found.score()
    gaps = found.mean - [3.0, 100.0]
    assert score == NumberScores(
        2, 0, pytest.approx(np.sqrt((gaps**2).mean())), pytest.approx(abs(gaps).mean()), 0.5, 0.5
    )
    assert NumberScores.total([score, score]) == NumberScores(
        4, 0, pytest.approx(score.rmse), pytest.approx(score.mae), 0.5, 0.5
    )
    assert found.score([None, 4.0]).n == 1
    assert repr(found) == "NumericPredictions('effect', 2 rows)"


# Tables -------------------------------------------------------------------------------------------------------


def test_all_kinds_of_tables_say_the_same(model: sf.BayesianNetwork, tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS).convert_dtypes()
    frame.to_csv(tmp_path / "t.csv", index=False)
    arrow = pa.table({"A": ROWS["A"], "B": ROWS["B"], "n": pa.array(ROWS["n"], pa.int64())})
    write_table(arrow, tmp_path / "t.parquet")
    expected = model.predict("A", ROWS).probabilities
    tables = [frame, pl.from_arrow(arrow), arrow, pl.from_arrow(arrow).lazy(), ds.dataset(arrow),
              str(tmp_path / "t.csv"), tmp_path / "t.parquet"]  # fmt: skip
    for table in tables:
        found = model.predict("A", table)
        np.testing.assert_allclose(found.probabilities, expected, err_msg=str(type(table)))
        assert found.observed.tolist() == [0, -1, 1, 0]


def test_pieces_of_a_stream_say_what_the_whole_does(gaussian: sf.BayesianNetwork, model: sf.BayesianNetwork) -> None:
    frame = model.sample(1000, seed=1, backend="pyarrow")
    pieces = ds.dataset(
        [frame.slice(start, 7).combine_chunks().to_batches()[0] for start in range(0, 1000, 7)], frame.schema
    )
    rows = PredictedRows(Predictor.checked(model, "A", 0.95, "error", "error"), open_raw(pieces))
    parts = [part.found["A"] for part in rows]
    assert len(parts) > 1
    whole = model.predict("A", frame)
    np.testing.assert_allclose(np.concatenate(parts), whole.probabilities, atol=1e-12)
    assert rows.notes() == whole.notes
    drawn = gaussian.sample(100, seed=1, backend="pyarrow")
    cut = ds.dataset([drawn.slice(start, 30).to_batches()[0] for start in range(0, 100, 30)], drawn.schema)
    np.testing.assert_allclose(gaussian.predict("dose", cut).mean, gaussian.predict("dose", drawn).mean)


def test_row_numbers_in_errors_count_from_the_top_of_a_stream(model: sf.BayesianNetwork) -> None:
    good = pa.record_batch({"B": ["u"] * 5})
    cut = ds.dataset([good, pa.record_batch({"B": ["u", "w", "u", "u", "u"]})], good.schema)
    with pytest.raises(sf.DataError, match="Column 'B', row 7: state 'w'"):
        model.predict("A", cut)


def test_several_targets_are_answered_each_by_itself(model: sf.BayesianNetwork) -> None:
    found = model.predict(["A", "B"], ROWS)
    assert list(found) == ["A", "B"]
    without = {"n": ROWS["n"]}
    for name, one in found.items():
        np.testing.assert_allclose(one.probabilities, model.predict(name, without).probabilities)
    assert list(model.predict(["A"], ROWS)) == ["A"]


def test_notes_say_what_was_ignored_and_summed_out(model: sf.BayesianNetwork) -> None:
    found = model.predict("A", {"A": ["x", "z"], "B": ["u", None], "id": [1, 2]}, unknown_states="missing")
    assert found.notes == (
        "Ignored, being no variables of the model: ['id'].",
        "Summed or integrated out in all rows, having no column: ['n'].",
        "1 row with missing values, which were summed or integrated out.",
        "No evidence, being what is predicted: ['A']; score() compares with it.",
        "A: 1 value outside the declared states taken as missing (first: 'z').",
    )
    assert model.predict("A", {"B": ["u"], "n": [1]}).notes == ()


def test_unknown_states_of_the_target_itself_are_no_error(model: sf.BayesianNetwork) -> None:
    found = model.predict("A", {"A": ["z"], "B": ["u"]})
    assert found.observed.tolist() == [-1]
    with pytest.raises(sf.DataError, match="Column 'B', row 1: state 'w'"):
        model.predict("A", {"B": ["w"]})
    np.testing.assert_allclose(
        model.predict("A", {"B": ["w"]}, unknown_states="missing").probabilities[0], model.query("A").values
    )


def test_a_table_of_the_target_alone_has_no_evidence(model: sf.BayesianNetwork) -> None:
    found = model.predict("A", {"A": ["x", "y", None]})
    np.testing.assert_allclose(found.probabilities, np.tile(model.query("A").values, (3, 1)))


def test_a_table_without_rows(model: sf.BayesianNetwork, gaussian: sf.BayesianNetwork) -> None:
    found = model.predict("A", {"B": pa.array([], pa.string())})
    assert found.probabilities.shape == (0, 2)
    assert found.labels.tolist() == []
    assert gaussian.predict("dose", {"effect": np.zeros(0)}).mean.shape == (0,)


def test_bool_and_number_states_stay_what_they_are() -> None:
    rows = {"f": [True, False, True, False], "k": [1, 2, 1, 2]}
    model = sf.fit(sf.DAG("f -> k"), rows).model
    assert model.predict("f", {"k": [1, 2]}).labels.tolist() == [True, False]
    assert model.predict("f", {"k": [1, 2]}).to_frame("pandas")["predicted"].tolist() == [True, False]
    assert model.predict("k", {"f": [False]}).labels.tolist() == [2]


def test_latent_variables_are_predicted() -> None:
    tables = {"H": [0.5, 0.5], "A": [[0.9, 0.1], [0.1, 0.9]]}
    model = sf.BayesianNetwork(sf.DAG("H -> A", latent={"H": 2}), tables, schema={"H": [0, 1], "A": ["x", "y"]})
    np.testing.assert_allclose(model.predict("H", {"A": ["x", "y"]}).probabilities, [[0.9, 0.1], [0.1, 0.9]])


@pytest.mark.data
def test_alarm_with_gaps_as_by_query(data_folder: Path) -> None:
    model = sf.read(data_folder / "networks_bif" / "alarm.bif.gz")
    frame = model.sample(400, seed=2, backend="pandas")
    gaps = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.4)
    for target in ("HR", "LVFAILURE", "PVSAT"):
        found = model.predict(target, gaps)
        for row in range(0, 400, 40):
            seen = gaps.iloc[row].drop(target).dropna().to_dict()
            np.testing.assert_allclose(found.probabilities[row], model.query(target, seen).values, atol=1e-12)
