"""``suffice classify predict``."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.mushrooms import MODELS, TABLE, write_table
from tests.command_line import bad, good, run, strict

import suffice as sf
from suffice.structures.joint_classes import JointClasses


def rows_of(text: str) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return header, rows


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a table and a classifier of each kind."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "t.csv", TABLE)
    for name, model in MODELS.items():
        sf.write(model, f"{name}.json")
    return tmp_path


@pytest.mark.parametrize("kind", MODELS)
def test_predictions_are_those_of_the_model(folder: Path, kind: str) -> None:
    result = run("classify", "predict", f"{kind}.json", "t.csv", "--probabilities", "--keep", "id")
    assert result.exit_code == 0
    header, rows = rows_of(result.stdout)
    assert header == ["id", "predicted", "p_no", "p_yes"]
    assert [row[0] for row in rows] == TABLE["id"]
    wanted = MODELS[kind].query_rows("edible", TABLE).to_numpy()
    np.testing.assert_allclose([[float(p) for p in row[2:]] for row in rows], wanted, rtol=1e-12)
    predicted = [["no", "yes"][place] for place in wanted.argmax(axis=1)]
    assert [row[1] for row in rows] == predicted
    wrong = sum(one != other for one, other in zip(predicted, TABLE["edible"], strict=True))
    assert f"errors             {wrong}\n" in result.stderr
    assert "rows               60\n" in result.stderr


def test_predictions_go_to_files_and_the_summary_to_standard_output(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    call = ["classify", "predict", "naive.json", "t.csv", "--keep", "id", "--keep", "spots", "--probabilities"]
    rows = run(*call).stdout
    text = good(*call, "--out", "p.csv")
    assert text.startswith("Wrote 60 rows to p.csv\n\nrows               60\n")
    assert (folder / "p.csv").read_text() == rows
    good(*call, "--out", "p.parquet")
    table = parquet.read_table("p.parquet")
    assert table.schema.field("predicted").type == pa.string()
    header, cells = rows_of(rows)
    assert table.column_names == header
    found = [[row["id"], row["spots"], row["predicted"]] for row in table.to_pylist()]
    assert found == [row[:3] for row in cells]


def test_json_holds_rows_and_summary(folder: Path) -> None:
    call = ["classify", "predict", "joint.json", "t.csv", "--json"]
    found = strict(good(*call))
    assert found["columns"] == ["predicted"]
    assert len(found["rows"]) == 60
    assert strict(good(*call, "--out", "p.csv")) == found["summary"]


def test_rule_and_class_probabilities_change_the_decision(folder: Path) -> None:
    model = MODELS["joint"]
    codes = {v.name: np.array([v.code(x) for x in TABLE[v.name]]) for v in model.inputs}

    def predicted(*options: str) -> list[str]:
        return [row[0] for row in rows_of(run("classify", "predict", "joint.json", "t.csv", *options).stdout)[1]]

    def labels(scores: Any) -> list[str]:
        return [["no", "yes"][place] for place in scores.argmax(axis=1)]

    likelihoods = model.log_likelihoods_of(codes, 60)
    assert predicted("--rule", "ml") == labels(likelihoods)
    rare = predicted("--class-prior", "yes=0.01,no=0.99")
    assert rare == labels(likelihoods + np.log([0.99, 0.01]))
    assert predicted("--class-prior", "uniform") == predicted("--rule", "ml")
    assert rare != predicted()


def test_gaps_are_summed_out_and_refused_where_they_cannot_be(folder: Path) -> None:
    (folder / "new.csv").write_text("cap,odor,height,width\nflat,,0.5,\n,none,0.1,0.2\n")
    for kind in ("naive", "joint", "gaussian"):
        result = run("classify", "predict", f"{kind}.json", "new.csv", "--probabilities")
        wanted = MODELS[kind].query_rows("edible", "new.csv").to_numpy()
        found = [[float(p) for p in row[1:]] for row in rows_of(result.stdout)[1]]
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert "with missing inputs, which were summed or integrated out" in result.stderr
        assert "There is no column 'edible' to compare with" in result.stderr
    says = bad("classify", "predict", "softmax.json", "new.csv", "--out", "p.csv")
    assert "Column 'odor', row 1: the value is missing" in says
    assert "--model naive, joint or gaussian" in says
    assert not (folder / "p.csv").exists()


def test_classes_that_are_not_known_are_counted_and_left_out(folder: Path) -> None:
    (folder / "new.csv").write_text("cap,odor,edible\nflat,none,yes\nbell,none,\ncone,foul,hot\ncone,none,mild\n")
    found = strict(good("classify", "predict", "joint.json", "new.csv", "--out", "p.csv", "--json"))
    assert found["observed"]["n"] == 1
    assert found["notes"] == [
        "1 row without 'edible' left out of the errors.",
        "2 rows of classes that the model does not know, such as 'hot', left out of the errors.",
    ]


def test_classes_of_another_column_are_compared_with(folder: Path) -> None:
    table = {("truth" if name == "edible" else name): list(values) for name, values in TABLE.items()}
    write_table(folder / "other.csv", table | {"edible": ["?"] * 60})
    call = ["classify", "predict", "joint.json", "--out", "p.csv", "--json"]
    wanted = strict(good(*call, "t.csv"))
    assert wanted["observed"]["n"] == 60
    assert strict(good(*call, "other.csv", "--target", "truth")) == wanted
    assert strict(good(*call, "other.csv"))["notes"] == ["60 rows without 'edible' left out of the errors."]
    table["truth"][3] = ""
    write_table(folder / "other.csv", table)
    assert strict(good(*call, "other.csv", "-t", "truth"))["notes"] == ["1 row without 'truth' left out of the errors."]


def test_a_folder_without_files_that_could_be_written_is_read(folder: Path) -> None:
    (folder / "in").mkdir()
    (folder / "t.csv").rename(folder / "in" / "t.txt")
    (folder / "in" / "t.tsv").write_text((folder / "in" / "t.txt").read_text().replace(",", "\t").replace("m\t", "m,"))
    good("classify", "predict", "joint.json", "in", "--out", "p.csv")
    assert len((folder / "p.csv").read_text().splitlines()) == 61


def test_states_that_are_not_known_are_refused_or_missing(folder: Path) -> None:
    (folder / "new.csv").write_text("cap,odor\nflat,musty\n")
    says = bad("classify", "predict", "joint.json", "new.csv", "--out", "p.csv")
    assert "Correct it, declare it where the model is fitted, --categorical COL=a,b, or pass --unknown-states" in says
    result = run("classify", "predict", "joint.json", "new.csv", "--unknown-states", "missing", "--probabilities")
    wanted = MODELS["joint"].query("edible", {"cap": "flat"}).to_numpy()
    np.testing.assert_allclose([float(p) for p in rows_of(result.stdout)[1][0][1:]], wanted, rtol=1e-12)
    assert "1 value outside the declared states taken as missing (first: 'musty')" in result.stderr


def test_rows_that_no_class_allows_have_no_prediction(folder: Path) -> None:
    data = {"x": ["a", "b", "a"], "z": ["u", "v", "u"], "y": [0, 1, 0]}
    sf.write(sf.fit(JointClasses("y", ("x", "z")), data).model, "mle.json")
    (folder / "new.csv").write_text("x,z,y\na,u,0\nb,u,1\n")
    result = run("classify", "predict", "mle.json", "new.csv", "--probabilities")
    assert result.stdout == "predicted,p_0,p_1\n0,1,0\n,,\n"
    assert "1 row impossible under every class, for which no class is predicted." in result.stderr
    assert "of them impossible under every class  1\n" in result.stderr


def test_file_without_rows_gives_a_header(folder: Path) -> None:
    (folder / "empty.csv").write_text("cap,odor,edible,id\n")
    call = ["classify", "predict", "joint.json", "empty.csv", "--keep", "id"]
    assert run(*call).stdout == "id,predicted\n"
    assert strict(good(*call, "--json"))["rows"] == []
    good(*call, "--out", "p.parquet")
    assert good(*call, "--out", "p.csv").startswith("Wrote 0 rows to p.csv")


def test_failure_leaves_the_output_as_it_was(folder: Path) -> None:
    (folder / "part1.csv").write_text("cap,odor\nflat,none\n")
    (folder / "part2.csv").write_text("cap,odor\nflat,musty\n")
    (folder / "p.csv").write_text("precious\n")
    before = sorted(path.name for path in folder.iterdir())
    assert "row 2: state 'musty'" in bad("classify", "predict", "joint.json", "part*.csv", "--out", "p.csv")
    assert (folder / "p.csv").read_text() == "precious\n"
    assert sorted(path.name for path in folder.iterdir()) == before


PREDICT_REFUSED: dict[str, tuple[list[str], str]] = {
    "no classifier": (
        ["net.json", "t.csv"],
        "holds a BayesianNetwork, which is no classifier. Fit one: suffice classify",
    ),
    "no model": (["t.csv", "t.csv"], "names no format"),
    "statistics": (["s.stats", "t.csv"], "holds a Statistics, which is no classifier"),
    "no such file": (["absent.json", "t.csv"], "absent.json"),
    "no column of an input": (
        ["joint.json", "net.csv"],
        "The classifier needs the column 'cap', which is not in the CSV file 'net.csv'. Its columns are ['a', 'b']. "
        "Add the column, empty where",
    ),
    "no gaps in a softmax": (["softmax.json", "net.csv"], "Its columns are ['a', 'b']."),
    "out is the data": (["joint.json", "t.csv", "--out", "./t.csv"], "--out names './t.csv', which is read as DATA"),
    "out is one of the data": (["joint.json", "*.csv", "--out", "t.csv"], "--out names 't.csv', which is read as DATA"),
    "target that is an input": (["joint.json", "t.csv", "--target", "cap"], "'cap' is an input of the classifier"),
    "target that is not there": (["joint.json", "t.csv", "--target", "edibel"], "Did you mean 'edible'?"),
    "weights that are text": (["joint.json", "t.csv", "--weights", "cap"], "--weights names the column 'cap', which h"),
    "no column to keep": (["joint.json", "t.csv", "--keep", "ID"], "no column 'ID' to keep"),
    "no ending": (["joint.json", "t.csv", "--out", "p.txt"], ".csv or .parquet"),
    "no such rule": (["joint.json", "t.csv", "--rule", "best"], "one of ['map', 'ml']"),
    "counted": (["joint.json", "t.csv", "--class-prior", "counted"], "the classifier's own"),
    "class without probability": (["joint.json", "t.csv", "--class-prior", "yes=1"], "no probability for ['no']"),
    "rule of a softmax": (["softmax.json", "t.csv", "--rule", "ml"], "Leave out --rule ml"),
    "class prior of a softmax": (["softmax.json", "t.csv", "--class-prior", "uniform"], "Leave out --class-prior"),
}


@pytest.mark.parametrize("name", PREDICT_REFUSED)
def test_prediction_that_makes_no_sense_is_refused(folder: Path, name: str) -> None:
    given, says = PREDICT_REFUSED[name]
    dag = sf.DAG("a -> b")
    sf.write(sf.fit(dag, {"a": [1, 2], "b": [1, 1]}).model, "net.json")
    sf.write(sf.collect(dag, {"a": [1, 2], "b": [1, 1]}), "s.stats")
    (folder / "net.csv").write_text("a,b\n1,1\n")
    assert says in bad("classify", "predict", *given)
