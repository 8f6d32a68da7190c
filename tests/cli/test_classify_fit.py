"""``suffice classify fit``."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.mushrooms import HALF, NUMBERS, STATES, TABLE, write_table
from tests.command_line import bad, document, good, run

import suffice as sf
from suffice.structures.class_gaussian import ClassGaussian
from suffice.structures.class_prior import ClassPrior
from suffice.structures.joint_classes import JointClasses
from suffice.structures.naive import Naive
from suffice.structures.softmax_regression import SoftmaxClasses
from suffice.text import plain_table

ONE = sf.Dirichlet(1.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a table."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "t.csv", TABLE)
    return tmp_path


OPTIONS: dict[str, tuple[list[str], Any, dict[str, Any]]] = {
    "naive": (["--inputs", "cap,odor,height"], Naive("edible", ("cap", "odor", "height")), {"prior": ONE}),
    "measurements are not smoothed": (["--inputs", "height,width"], Naive("edible", NUMBERS), {}),
    "no smoothing": (["--inputs", "cap", "--smoothing", "0"], Naive("edible", ("cap",)), {}),
    "kinds, divisor, class prior": (
        ["--inputs", "cap,height,spots", "--kind", "spots=multinomial", "--kind", "height=tied_gaussian", "--divisor",
         "n-1", "--class-prior", "no=0.25,yes=0.75", "--smoothing", "2"],
        Naive("edible", ("cap", "height", "spots"), kinds={"spots": "multinomial", "height": "tied_gaussian"},
              divisor="n-1", class_prior={"no": 0.25, "yes": 0.75}),
        {"prior": sf.Dirichlet(2.0)},
    ),
    "bits of counts": (["--inputs", "spots", "--kind", "spots=bernoulli", "--binarize", "1"],
                       Naive("edible", ("spots",), kinds={"spots": "bernoulli"}, binarize=1), {"prior": ONE}),
    "priors": (["--exclude", "id,n,spots", "--prior", "dirichlet:2", "--prior", "nig:2:1", "--class-prior", "uniform"],
               Naive("edible", (*STATES, *NUMBERS), class_prior="uniform"),
               {"prior": [sf.Dirichlet(2.0), sf.NormalInverseGamma(2, 1)]}),
    "joint with weights": (["--model", "joint", "--inputs", "cap,odor", "--weights", "n", "--class-prior", "1"],
                           JointClasses("edible", STATES, ClassPrior.of(1.0)), {"prior": ONE, "weights": "n"}),
    "whole numbers as states": (["-m", "joint", "--inputs", "spots,odor", "--smoothing", "0.5"],
                                JointClasses("edible", ("spots", "odor")), {"prior": HALF}),
    "gaussian": (["-m", "gaussian", "--inputs", "height,width,spots"],
                 ClassGaussian("edible", ("height", "width", "spots")), {}),
    "tied, shrunk": (["-m", "gaussian", "--inputs", "height,width", "--covariance", "tied", "--shrinkage", "0.1",
                      "--towards", "diagonal", "--divisor", "n-1"],
                     ClassGaussian("edible", NUMBERS, covariance="tied", shrinkage=0.1, towards="diagonal",
                                   divisor="n-1"), {}),
    "oas": (["-m", "gaussian", "--inputs", "height,width", "--shrinkage", "oas"],
            ClassGaussian("edible", NUMBERS, shrinkage="oas"), {}),
    "sparse": (["-m", "gaussian", "--inputs", "height,width,spots", "--covariance", "sparse", "--graph",
                "height:width + spots"],
               ClassGaussian("edible", ("height", "width", "spots"), covariance="sparse", graph="height:width + spots"),
               {}),
    "graphical lasso": (["-m", "gaussian", "--inputs", "height,width", "--covariance", "sparse", "--alpha", "0.1"],
                        ClassGaussian("edible", NUMBERS, covariance="sparse", alpha=0.1), {}),
    "student": (["-m", "gaussian", "--inputs", "height,width", "--bayes"],
                ClassGaussian("edible", NUMBERS, bayes=True), {}),
    "softmax": (["-m", "softmax", "--inputs", "odor,height,spots", "--reference", "yes"],
                SoftmaxClasses("edible", ("odor", "height", "spots"), reference="yes"),
                {"schema": {name: sf.continuous() for name in ("height", "spots")}}),
    "softmax with factors": (["-m", "softmax", "--inputs", "height,spots", "--categorical", "spots"],
                             SoftmaxClasses("edible", ("height", "spots")),
                             {"schema": {"height": sf.continuous(), "spots": sf.categorical()}}),
    "l2": (["-m", "softmax", "--inputs", "height,width", "--penalty", "l2", "--strength", "3"],
           SoftmaxClasses("edible", NUMBERS),
           {"prior": sf.Gaussian(1 / math.sqrt(6), main=math.inf), "schema": dict.fromkeys(NUMBERS, sf.continuous())}),
    "l2 of three classes": (["--target", "cap", "-m", "softmax", "--inputs", "height", "--penalty", "l2"],
                            SoftmaxClasses("cap", ("height",)),
                            {"prior": sf.Gaussian(1.0, main=math.inf), "schema": {"height": sf.continuous()}}),
    "l1": (["-m", "softmax", "--inputs", "height,width", "--penalty", "l1", "--strength", "4"],
           SoftmaxClasses("edible", NUMBERS),
           {"prior": sf.Laplace(0.25, main=math.inf), "schema": dict.fromkeys(NUMBERS, sf.continuous())}),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_fit_option_does_what_the_argument_does(folder: Path, name: str) -> None:
    given, structure, wanted = OPTIONS[name]
    target = [] if "--target" in given else ["--target", "edible"]
    good("classify", "fit", "t.csv", *target, *given, "--out-fit", "cli.json")
    sf.write(sf.fit(structure, "t.csv", **wanted), "api.json")
    assert (folder / "cli.json").read_bytes() == (folder / "api.json").read_bytes()
    assert sf.read("cli.json").structure == structure
    assert run("classify", "predict", "cli.json", "t.csv", "--out", "p.csv").exit_code == 0


def test_inputs_are_all_other_columns_but_the_weights(folder: Path) -> None:
    good("classify", "fit", "t.csv", "-t", "edible", "--exclude", "id", "--weights", "n", "--out", "m.json")
    assert sf.read("m.json").variables == ("cap", "odor", "height", "width", "spots", "edible")


def test_summary_and_errors_on_the_same_data_are_printed(folder: Path) -> None:
    text = good("classify", "fit", "t.csv", "-t", "edible", "-m", "joint", "--inputs", "cap,odor", "--weights", "n",
                "--out", "m.json", "--out-fit", "f.json")  # fmt: skip
    whole = sf.read("f.json")
    assert "class_prior=1.0 smooths them" in str(whole)
    assert str(whole).split("\nNotes\n")[0] in text
    assert "--class-prior 1 smooths them" in text.replace("\n  ", " ")
    model = sf.read("m.json")
    p = np.exp(model.log_posteriors_of({v.name: [v.code(x) for x in TABLE[v.name]] for v in model.inputs}, 60))
    observed = np.array([model.target.code(label) for label in TABLE["edible"]])
    wrong = (np.array(TABLE["n"]) * (p.argmax(axis=1) != observed)).sum()
    assert f"errors             {wrong}\n" in text
    assert f"error rate         {wrong / sum(TABLE['n']):.4f}\n" in text
    assert "resubstitution" in text
    assert text.endswith("Wrote the classifier to m.json\n\nWrote the fit to f.json\n")


def test_json_holds_the_whole_fit_and_the_errors(folder: Path) -> None:
    found = document("classify", "fit", "t.csv", "-t", "edible", "--inputs", "cap,odor")
    errors = found.pop("resubstitution")
    (folder / "f.json").write_text(json.dumps(found))
    assert sf.read("f.json").n == 60
    assert errors["observed"]["n"] == 60
    assert sum(errors["predicted"]) == 60


def test_coefficients_of_unpenalised_softmax_have_standard_errors(folder: Path) -> None:
    call = ["classify", "fit", "t.csv", "-t", "edible", "-m", "softmax", "--inputs", "height,width"]
    text = good(*call)
    api = sf.fit(SoftmaxClasses("edible", NUMBERS), TABLE).coefficients()
    assert text.count("std. error") == 1
    assert plain_table(*api._cells()) in text
    assert "\n\nLog-odds against edible=no\nDeviance " in text
    listed = document(*call)["coefficients"]
    assert [entry["term"] for entry in listed] == ["(intercept)", "height", "width"]
    np.testing.assert_allclose([entry["se"] for entry in listed], api.se, rtol=1e-9)
    penalised = good(*call, "--penalty", "l2")
    assert "std. error" not in penalised
    assert penalised.count("(intercept)") == 1
    assert document(*call, "--penalty", "l2")["coefficients"] is None


def test_coefficients_that_run_away_have_no_standard_errors(folder: Path) -> None:
    (folder / "apart.csv").write_text("x,y\n0.5,a\n1.5,a\n2.5,b\n3.5,b\n")
    result = run("classify", "fit", "apart.csv", "-t", "y", "-m", "softmax")
    assert "No standard errors: the estimate does not exist, as the note says." in result.stdout
    assert result.stdout.count("(intercept)") == 1
    flat = result.stdout.replace("\n  ", " ")
    assert "separates" in flat
    assert "--prior gaussian:10" in flat
    assert "sf." not in flat


def test_gaps_are_refused_dropped_or_left_out_column_by_column(folder: Path) -> None:
    table = {name: list(values) for name, values in TABLE.items() if name != "id"}
    table["cap"][4] = table["height"][7] = ""
    write_table(folder / "gaps.csv", table)
    call = ["classify", "fit", "gaps.csv", "-t", "edible", "--inputs", "cap,height"]
    assert "Column 'cap', row 5: the value is missing" in bad(*call, "--missing", "error")
    assert "Column 'height', row 8: the value is missing" in bad(*call[:5], "--inputs", "height", "-m", "gaussian")
    assert document(*call, "--missing", "drop")["resubstitution"]["observed"]["n"] == 58
    found = document(*call)
    assert found == document(*call, "--missing", "available")
    assert found["resubstitution"]["observed"]["n"] == 60
    assert found["resubstitution"]["notes"][0].startswith("2 rows with missing inputs")
    assert "--missing available" in bad(*call, "--model", "joint", "--missing", "available")
    table["edible"][9] = ""
    write_table(folder / "gaps.csv", table)
    assert "Column 'edible', row 10: the class is missing" in bad(*call)
    assert "--missing drop" in bad(*call)
    table["cap"][4], table["height"][7] = "flat", 1.0
    write_table(folder / "gaps.csv", table)
    assert "Column 'edible', row 10: the value is missing" in bad(*call, "--missing", "error")


REFUSED: dict[str, tuple[list[str], str]] = {
    "no such model": (["--model", "forest"], "option --model must be one of ['naive', 'gaussian', 'joint', 'softmax']"),
    "unknown target": (["--target", "edibel"], "Did you mean 'edible'?"),
    "unknown input": (["--inputs", "cap,odour"], "Did you mean 'odor'?"),
    "target as input": (["--inputs", "cap,edible"], "'edible' is the class"),
    "option of another model": (["--covariance", "tied"], "--covariance is for --model gaussian. The model is naive"),
    "option of two others": (["-m", "gaussian", "--smoothing", "1"], "--smoothing is for --model naive or joint"),
    "prior of classes that are modelled from inputs": (["-m", "softmax", "--class-prior", "uniform"],
                                                       "--class-prior is for --model naive or gaussian or joint"),
    "kind without a word": (["--kind", "cap"], "--kind is written COL=WORD, such as --kind age=gaussian"),
    "kind that is none": (["--inputs", "cap", "--kind", "cap=poisson"], "'poisson'"),
    "kind of no input": (["--inputs", "cap", "--kind", "odor=categorical"], "'odor', which is none of the inputs"),
    "negative smoothing": (["--inputs", "cap", "--smoothing", "-1"], "zero or more. Got -1"),
    "smoothing of measurements": (["--inputs", "height", "--smoothing", "1"], "every input is a measurement"),
    "smoothing and prior": (["--inputs", "cap", "--smoothing", "1", "--prior", "k2"], "Leave one of them out"),
    "strength of nothing": (["-m", "softmax", "--inputs", "height", "--strength", "2"], "Add --penalty l2 or l1"),
    "penalty that is none": (["-m", "softmax", "--inputs", "height", "--penalty", "l3"], "one of ['none', 'l2', 'l1']"),
    "negative strength": (["-m", "softmax", "--inputs", "height", "--penalty", "l2", "--strength", "-2"], "Got -2"),
    "whole numbers": (["--inputs", "id", "--target", "n", "--continuous", "id"], "is not a number"),
    "text in normal inputs": (["-m", "gaussian", "--exclude", "id"], "--exclude 'cap,odor', or use --model naive"),
    "states in normal inputs": (["-m", "gaussian", "--inputs", "height,spots", "--categorical", "spots"],
                                "'spots' was declared discrete, and --model gaussian takes numbers"),
    "weights as input": (["--inputs", "cap,n", "--weights", "n"], "'n' holds the weights of the rows"),
    "weights that are the class": (["--weights", "edible"], "'edible' is the class, so it cannot hold the weights"),
    "weights that are text": (["--inputs", "odor", "--weights", "cap"], "--weights names the column 'cap', which h"),
    "no such weights": (["--inputs", "odor", "--weights", "m"], "--weights names the column 'm', but the columns are"),
    "covariance that is none": (["-m", "gaussian", "--inputs", "height", "--covariance", "ful"],
                                "The option --covariance must be one of"),
    "graph of other columns": (["-m", "gaussian", "--inputs", "height,width", "--covariance", "sparse", "--graph",
                                "a:b"], "names ['a', 'b']"),
    "graph without an input": (["-m", "gaussian", "--inputs", "height,width", "--covariance", "sparse", "--graph",
                                "width"], "as in '… + height'."),
    "class probabilities of nothing": (["--inputs", "cap", "--class-prior", "-1"], "such as yes=0.3,no=0.7. Got -1"),
    "word about gaps": (["--inputs", "cap", "--missing", "some"], "--missing must be one of ['error', 'drop', 'avail"),
    "gaps of a joint table": (["-m", "joint", "--inputs", "cap", "--missing", "available"], "that --model joint st"),
    "method of another": (["--inputs", "cap", "--method", "newton"], "no method 'newton' for --model naive"),
    "prior on tables for slopes": (["-m", "softmax", "--inputs", "height", "--prior", "jeffreys"],
                                   "a prior on the weights is --prior gaussian:10 or --prior laplace:1. Got Jeff"),
    "measurements in a joint table": (["-m", "joint", "--inputs", "height"], "'height' is continuous, and a joint"),
    "no such class": (["--inputs", "cap", "--class-prior", "no=0.5,maybe=0.5"], "'maybe'"),
    "same file twice": (["--inputs", "cap", "--out", "x.json", "--out-fit", "./x.json"], "name the same file"),
    "shrinkage that is none": (["-m", "gaussian", "--inputs", "height", "--shrinkage", "some"],
                               "--shrinkage must be a number from 0 to 1, 'oas', 'ledoit_wolf' or None. Got 'some'"),
    "ending that names no format": (["--inputs", "cap", "--out", "model.txt"], "names no format"),
    "ending of another format": (["--inputs", "cap", "--out", "model.bif"], "Write it as .json"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_fit_that_makes_no_sense_is_refused(folder: Path, name: str) -> None:
    given, says = REFUSED[name]
    target = [] if "--target" in given else ["--target", "edible"]
    before = sorted(path.name for path in folder.iterdir())
    assert says in bad("classify", "fit", "t.csv", *target, *given)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_file_without_rows_teaches_nothing(folder: Path) -> None:
    (folder / "empty.csv").write_text("cap,height,edible\n")
    call = ["classify", "fit", "empty.csv", "-t", "edible", "--inputs", "cap"]
    for model in ("naive", "joint", "gaussian", "softmax"):
        says = bad(*call, "-m", model)
        assert says == "The CSV file 'empty.csv' has no rows, so that there is nothing to learn from."


def test_parquet_is_read_too(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(TABLE), "t.parquet")
    for file in ("t.csv", "t.parquet"):
        good("classify", "fit", file, "-t", "edible", "--inputs", "cap,height", "--out", f"{file}.json")
    assert (folder / "t.csv.json").read_bytes() == (folder / "t.parquet.json").read_bytes()
