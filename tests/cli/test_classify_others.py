"""What the other commands do with classifiers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from tests.cli.mushrooms import MODELS, TABLE, write_table
from tests.command_line import bad, document, good

import suffice as sf


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
def test_query_answers_for_the_class(folder: Path, kind: str) -> None:
    model = MODELS[kind]
    held = {v.name: "none" if v.name == "odor" else "flat" if v.is_discrete else 0.5 for v in model.inputs}
    given = [part for name, value in held.items() for part in ("--given", f"{name}={value}")]
    wanted = str(model.query("edible", held))
    assert good("query", f"{kind}.json", "edible", *given).rstrip("\n") == wanted
    assert good("query", f"{kind}.json", *given).rstrip("\n") == wanted
    assert model.map(held)["edible"] in good("query", f"{kind}.json", "--map", *given)
    if kind == "softmax":
        assert "'cap' is not given" in bad("query", "softmax.json", "edible", *given[2:])
    else:
        assert good("query", f"{kind}.json", "edible").rstrip("\n") == str(model.query("edible"))


def test_query_refuses_what_a_classifier_does_not_know(folder: Path) -> None:
    assert "answers for its class, 'edible'" in bad("query", "joint.json", "cap")
    assert "one state of each input, as in --given odor=foul" in bad("query", "joint.json", "-g", "odor=none,foul")
    assert "'edible' is none of the inputs" in bad("query", "joint.json", "edible", "-g", "edible=no")
    assert "leave out --method" in bad("query", "joint.json", "edible", "--method", "sampling")
    assert "JointClassModel" in bad("query", "joint.json", "--sensitivity", "edible=no")


@pytest.mark.parametrize("kind", ["naive", "joint", "gaussian"])
def test_sample_draws_what_the_model_draws(folder: Path, kind: str) -> None:
    header, rows = rows_of(good("sample", f"{kind}.json", "-n", "7", "--seed", "3"))
    frame = MODELS[kind].sample(7, seed=3, backend="pandas")
    assert header == list(frame.columns)
    assert [[str(cell) for cell in row] for row in frame.itertuples(index=False)] == rows
    for option in (["--given", "edible=no"], ["--method", "gibbs"], ["--length", "3"]):
        assert "eave" in bad("sample", f"{kind}.json", *option)


def test_sample_is_the_same_however_long_it_is() -> None:
    model = MODELS["joint"]
    long = model.sample(70_000, seed=5, backend="pandas")
    short = model.sample(66_000, seed=5, backend="pandas")
    assert long[: 1 << 16].equals(short[: 1 << 16])
    assert len(long) == 70_000
    assert not long[1 << 16 :].reset_index(drop=True).equals(long[: 70_000 - (1 << 16)])


def test_softmax_is_not_sampled(folder: Path) -> None:
    assert "A SoftmaxModel cannot be sampled" in bad("sample", "softmax.json")


@pytest.mark.parametrize("kind", MODELS)
def test_score_adds_up_log_probabilities(folder: Path, kind: str) -> None:
    found = document("score", f"{kind}.json", "t.csv")
    assert found["log_likelihood"] == pytest.approx(MODELS[kind].log_prob(TABLE).sum(), rel=1e-12)
    assert ("conditional log-likelihood" in good("score", f"{kind}.json", "t.csv")) == (kind == "softmax")


@pytest.mark.parametrize("kind", MODELS)
def test_info_names_class_and_inputs(folder: Path, kind: str) -> None:
    found = document("info", f"{kind}.json")
    assert (found["class"], found["classes"]) == ("edible", "no, yes")
    assert found["inputs"] == ", ".join(MODELS[kind].variables[:-1])
    assert ("class probabilities" in found) == (kind != "softmax")


def test_info_plans_the_fit_of_a_classifier(folder: Path) -> None:
    good("classify", "fit", "t.csv", "-t", "edible", "-m", "joint", "--inputs", "cap,odor", "--out-fit", "f.json")
    found = document("info", "f.json", "t.csv")
    assert (found["structure"], found["class"], found["inputs"]) == ("JointClasses", "edible", "cap, odor")
    assert found["cells"] == 12


@pytest.mark.parametrize("kind", MODELS)
def test_convert_writes_classifiers_as_json_only(folder: Path, kind: str) -> None:
    good("convert", f"{kind}.json", "copy.json")
    assert (folder / "copy.json").read_bytes() == (folder / f"{kind}.json").read_bytes()
    assert "Write it as .json" in bad("convert", f"{kind}.json", "copy.bif")
