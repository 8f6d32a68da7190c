"""suffice predict: rows, summaries and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.command_line import bad, good, run

import suffice as sf

ROWS = 'A,B,v,id\nx,u,1.5,"a,b"\nx,,0.7,c\n,v,-1,d\ny,v,?,e\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a table that has gaps and a model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(ROWS)
    data = {"A": ["x", "x", "y", "y", "x"], "B": ["u", "v", "v", "v", "u"], "v": [1.0, 0.5, -1.0, -2.0, 1.5]}
    sf.write(sf.fit(sf.DAG("A -> B; A -> v"), data, prior=[sf.K2(), sf.NormalInverseGamma(2, 1.0)]).model, "m.json")
    return tmp_path


def test_rows_go_to_a_file_and_the_summary_to_the_screen(folder: Path) -> None:
    text = good("predict", "m.json", "A", "t.csv", "--out", "p.csv", "--probabilities", "--keep", "id")
    assert text.splitlines()[0] == "Wrote 4 rows to p.csv"
    assert "accuracy" in text
    assert "score()" not in text
    frame = pd.read_csv("p.csv")
    found = sf.read("m.json").predict("A", "t.csv")
    assert list(frame) == ["id", "predicted", "p_x", "p_y"]
    assert frame["id"].tolist() == ["a,b", "c", "d", "e"]
    assert frame["predicted"].tolist() == found.labels.tolist()
    np.testing.assert_array_equal(frame[["p_x", "p_y"]].to_numpy(), found.probabilities)
    assert {path.name for path in folder.iterdir()} == {"t.csv", "m.json", "p.csv"}


def test_parquet_holds_the_same(folder: Path) -> None:
    good("predict", "m.json", "A", "t.csv", "--out", "p.parquet", "--probabilities")
    good("predict", "m.json", "A", "t.csv", "--out", "p.csv", "--probabilities")
    pd.testing.assert_frame_equal(pd.read_parquet("p.parquet").astype({"predicted": object}), pd.read_csv("p.csv"),
                                  check_dtype=False)  # fmt: skip


def test_without_a_file_rows_are_csv_on_standard_output(folder: Path) -> None:
    done = run("predict", "m.json", "B", "t.csv")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == ["predicted", *sf.read("m.json").predict("B", "t.csv").labels.tolist()]
    assert "accuracy" in done.stderr


def test_json_has_rows_and_summary(folder: Path) -> None:
    found = json.loads(good("predict", "m.json", "A", "t.csv", "--json"))
    python = sf.read("m.json").predict("A", "t.csv")
    assert found["columns"] == ["predicted"]
    assert [row[0] for row in found["rows"]] == python.labels.tolist()
    summary = found["summary"]
    assert (summary["rows"], summary["target"], summary["states"]) == (4, "A", ["x", "y"])
    assert sum(summary["predicted"]) == 4
    assert summary["score"]["accuracy"] == python.score().accuracy
    assert summary["notes"] == list(python.notes)
    alone = json.loads(good("predict", "m.json", "A", "t.csv", "--json", "--out", "p.csv"))
    assert alone == summary


def test_numbers_have_intervals(folder: Path) -> None:
    good("predict", "m.json", "v", "t.csv", "--out", "p.csv", "--probabilities", "--level", "0.8")
    found = sf.read("m.json").predict("v", "t.csv", level=0.8)
    pd.testing.assert_frame_equal(pd.read_csv("p.csv"), found.to_frame("pandas"))


def test_names_that_are_taken_get_underscores(folder: Path) -> None:
    (folder / "q.csv").write_text("B,predicted\nu,1\n")
    good("predict", "m.json", "A", "q.csv", "--keep", "predicted", "--out", "p.csv")
    assert list(pd.read_csv("p.csv")) == ["predicted", "predicted_"]


def test_a_table_without_rows(folder: Path) -> None:
    (folder / "e.csv").write_text("B\n")
    assert json.loads(good("predict", "m.json", "A", "e.csv", "--json"))["summary"]["predicted"] == [0, 0]
    good("predict", "m.json", "A", "e.csv", "--out", "p.csv")
    assert (folder / "p.csv").read_text() == "predicted\n"


def test_impossible_rows(folder: Path) -> None:
    tables = {"A": [0.5, 0.5], "B": [[1.0, 0.0], [1.0, 0.0]]}
    sf.write(sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": ["x", "y"], "B": ["u", "v"]}), "c.json")
    assert "Row 3: " in bad("predict", "c.json", "A", "t.csv", "--out", "p.csv")
    assert "--impossible nan" in bad("predict", "c.json", "A", "t.csv", "--out", "p.csv")
    assert not (folder / "p.csv").exists()
    text = good("predict", "c.json", "A", "t.csv", "--out", "p.csv", "--impossible", "nan")
    assert "2 rows impossible under the model" in text
    assert pd.read_csv("p.csv", skip_blank_lines=False)["predicted"].isna().tolist() == [False, False, True, True]


def test_refusals(folder: Path) -> None:
    assert "'Q'" in bad("predict", "m.json", "Q", "t.csv")
    assert "is read as DATA" in bad("predict", "m.json", "A", "t.csv", "--out", "t.csv")
    assert ".csv or .parquet" in bad("predict", "m.json", "A", "t.csv", "--out", "p.xls")
    assert "no column 'nowhere' to keep" in bad("predict", "m.json", "A", "t.csv", "--keep", "nowhere")
    (folder / "u.csv").write_text("B\nw\n")
    assert "--unknown-states missing" in bad("predict", "m.json", "A", "u.csv")
    sf.write(sf.fit(sf.MarkovChain(order=1), sf.Sequences([["a", "b", "a"]])).model, "chain.json")
    assert "cannot be used to predict" in bad("predict", "chain.json", "A", "t.csv")
