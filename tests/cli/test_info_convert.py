"""``suffice info`` and ``suffice convert``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import run

import suffice as sf

NETWORK = sf.BayesianNetwork(
    sf.DAG("A -> B"), {"A": [0.5, 0.5], "B": [[0.1, 0.9], [0.3, 0.7]]}, schema={"A": ["x", "y"], "B": ["u", "v"]}
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    sf.write(NETWORK, tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.mark.parametrize("ending", [".bif", ".bif.gz", ".json"])
def test_convert_keeps_the_model(model: Path, tmp_path: Path, ending: str) -> None:
    done = run("convert", model, tmp_path / f"out{ending}")
    assert done.exit_code == 0, done.stderr
    again = sf.read(tmp_path / f"out{ending}")
    assert again.cpd("B").values.tolist() == NETWORK.cpd("B").values.tolist()
    assert again.schema["B"].states == ("u", "v")


def test_convert_to_an_unknown_format_writes_nothing(model: Path, tmp_path: Path) -> None:
    done = run("convert", model, tmp_path / "out.xyz")
    assert done.exit_code == 2
    assert "names no format" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"model.json"}


def test_info_describes_a_model(model: Path) -> None:
    done = run("info", model, "--json")
    facts = json.loads(done.stdout)
    assert (facts["nodes"], facts["edges"], facts["free parameters"], facts["cells"]) == (2, 1, 3, 6)
    assert [table["scope"] for table in facts["tables"]] == [["A"], ["A", "B"]]
    assert "free parameters" in run("info", model).stdout


def test_info_of_text_alone_knows_no_sizes() -> None:
    facts = json.loads(run("info", "A -> B; A -> C", "--json").stdout)
    assert facts == {"structure": "DAG", "nodes": 3, "edges": 2, "most parents": 1, "tables": []}


def test_info_plans_a_fit_of_data(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("A,B\nx,u\ny,v\nz,v\n")
    facts = json.loads(run("info", "A -> B", tmp_path / "t.csv", "--json").stdout)
    assert facts["free parameters"] == 2 + 3
    assert facts["cells"] == 3 + 6


def test_info_of_a_missing_file_is_an_error() -> None:
    done = run("info", "A -> B", "absent.csv")
    assert done.exit_code == 2
    assert "absent.csv" in done.stderr


def test_info_describes_hypotheses(tmp_path: Path) -> None:
    dice = sf.Hypotheses({"coin": [1, 2], "die": [1, 2, 3, 4, 5, 6]}, over="face")
    fit = sf.fit(dice, {"face": [1, 2, 1]})
    for thing, name in ((fit, "fit.json"), (fit.model, "model.json")):
        sf.write(thing, tmp_path / name)
        done = run("info", tmp_path / name)
        assert done.exit_code == 0, done.stderr
        assert [line.split() for line in done.stdout.splitlines()[:4]] == [
            ["model", "HypothesisMixture"],
            ["variable", "face"],
            ["outcomes", "6"],
            ["hypotheses", "2"],
        ]
        found = json.loads(run("info", tmp_path / name, "--json").stdout)
        assert found["weights"].startswith(("coin 0.9", "coin 1"))
    assert run("info", tmp_path / "fit.json").stdout == run("info", tmp_path / "model.json").stdout
