"""Markov random fields on the command line: fitted, written, asked and converted, in one process."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.test_commands import names
from tests.command_line import bad, good, run

import suffice as sf

COUNTS = {"xup": 5, "xuq": 3, "xvp": 8, "xvq": 4, "yup": 6, "yuq": 9, "yvp": 2, "yvq": 7}
TRIANGLE = "A:B + B:C + A:C"
TABLE = ("table.csv", "--weights", "Freq")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a contingency table and a table of measurements in it."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{','.join(cell)},{count}" for cell, count in COUNTS.items()]
    (tmp_path / "table.csv").write_text("\n".join(["A,B,C,Freq", *rows, ""]))
    x = np.random.default_rng(0).normal(size=(12, 3)).round(3)
    (tmp_path / "x.csv").write_text("\n".join(["a,b,c", *(",".join(map(str, row)) for row in x), ""]))
    return tmp_path


def api(**keywords: Any) -> sf.Fit:
    return sf.fit(sf.Cliques(TRIANGLE), "table.csv", weights="Freq", **keywords)


# fit ----------------------------------------------------------------------------------------------------------


def test_fit_prints_the_summary(folder: Path) -> None:
    text = good("fit", TRIANGLE, *TABLE, "--method", "ipf")
    assert text.rstrip("\n") == str(api(method="ipf"))
    assert "8 rows, total weight 44" in text
    assert "on 1 df" in text
    assert "✓ Certified: maximum likelihood" in text


OPTIONS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "auto": ([], {}),
    "method": (["--method", "newton"], {"method": "newton"}),
    "step": (["--method", "gradient", "--option", "step=0.1", "--max-iter", "20000"],
             {"method": "gradient", "options": {"step": 0.1}, "max_iter": 20_000}),
    "simultaneous": (["--method", "ipf", "--option", "simultaneous=true"],
                     {"method": "ipf", "options": {"simultaneous": True}}),
    "not simultaneous": (["--method", "ipf", "--option", "simultaneous=False"],
                         {"method": "ipf", "options": {"simultaneous": False}}),
    "text option": (["--method", "gradient", "--option", "space=psi", "--tol", "1e-3"],
                    {"method": "gradient", "options": {"space": "psi"}, "tol": 1e-3}),
    "two options": (["--method", "gradient", "--option", "step=0.05", "--option", "space=log", "--tol", "1e-3"],
                    {"method": "gradient", "options": {"step": 0.05, "space": "log"}, "tol": 1e-3}),
    "gaussian": (["--prior", "gaussian:1"], {"prior": sf.Gaussian(1.0)}),
    "laplace": (["--prior", "laplace:0.5"], {"prior": sf.Laplace(0.5)}),
    "laplace default": (["--prior", "laplace"], {"prior": sf.Laplace()}),
    "bdeu": (["--prior", "bdeu:4"], {"prior": sf.BDeu(4.0)}),
    "bdeu map": (["--prior", "bdeu:4", "--point", "map"], {"prior": sf.BDeu(4.0), "point": "map"}),
    "random start": (["--init", "random", "--seed", "1", "--method", "lbfgs"],
                     {"init": "random", "seed": 1, "method": "lbfgs"}),
    "tol": (["--tol", "0.01", "--method", "ipf"], {"tol": 0.01, "method": "ipf"}),
    "certify": (["--certify", "data"], {"certify": "data"}),
    "states": (["--categorical", "A=y,x"], {"schema": {"A": ["y", "x"]}}),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_fit_option_does_what_the_argument_does(folder: Path, name: str) -> None:
    given, wanted = OPTIONS[name]
    good("fit", TRIANGLE, *TABLE, *given, "--out-fit", "cli.json")
    sf.write(api(**wanted), "api.json")
    assert (folder / "cli.json").read_bytes() == (folder / "api.json").read_bytes()


@pytest.mark.parametrize("written", ["model", "fit"])
def test_fit_begins_at_a_model_file(folder: Path, written: str) -> None:
    fit = api(tol=1e-12)
    sf.write(fit if written == "fit" else fit.model, "start.json")
    entry = json.loads(good("fit", TRIANGLE, *TABLE, "--method", "ipf", "--init", "start.json", "--json"))
    assert len(entry["content"]["trace"]) < len(api(method="ipf").trace)
    assert entry["content"]["log_likelihood"] == pytest.approx(fit.log_likelihood)


def test_fit_under_an_experts_prior_from_a_markov_model(folder: Path) -> None:
    sf.write(api(prior=sf.BDeu(8)).model, "expert.json")
    text = good("fit", TRIANGLE, *TABLE, "--prior", "expert:expert.json:10")
    assert "✓ Certified: posterior mode" in text


def said(text: str) -> str:
    """Return text in one line."""
    return " ".join(text.split())


def test_fit_that_ran_out_of_steps_has_exit_code_1_and_is_written(folder: Path) -> None:
    result = run("fit", TRIANGLE, *TABLE, "--method", "ipf", "--max-iter", "1", "--out", "m.json")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "✗ Not certified" in result.stdout
    assert "Not converged after 1 step: allow more by --max-iter, or use --method newton." in said(result.stdout)
    other = run("fit", TRIANGLE, *TABLE, "--method", "lbfgs", "--max-iter", "1")
    assert "the gradient was small enough; allow more by --max-iter." in said(other.stdout)
    assert isinstance(sf.read("m.json"), sf.MarkovNetwork)


def test_fit_json_can_be_saved_and_read_back(folder: Path) -> None:
    text = good("fit", TRIANGLE, *TABLE, "--json")
    (folder / "saved.json").write_text(text, encoding="utf-8")
    assert str(sf.read("saved.json")) == str(api())


def test_fit_writes_the_model_and_the_fit(folder: Path) -> None:
    text = good("fit", TRIANGLE, *TABLE, "--out", "m.uai", "--out-fit", "f.json")
    assert "Wrote the model to m.uai" in text
    assert names(folder) == {"table.csv", "x.csv", "m.uai", "f.json"}
    found, model = sf.read("m.uai"), sf.read("f.json").model
    for written, factor in zip(found.factors, model.factors, strict=True):
        np.testing.assert_array_equal(written.values, factor.values)


@pytest.mark.parametrize("ending", ["bif", "xmlbif", "xdsl", "net", "dsl", "bif.gz"])
def test_formats_of_bayesian_networks_refuse_markov_models_and_name_those_that_do_not(
    folder: Path, ending: str
) -> None:
    assert "Write it as .uai or .json" in bad("fit", TRIANGLE, *TABLE, "--out", f"m.{ending}", "--out-fit", "f.json")
    assert names(folder) == {"table.csv", "x.csv"}


# Structures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        'type = "Cliques"\ngraph = "A:B + B:C + A:C"\n',
        'type = "Cliques"\ngraph = { A = ["B", "C"], B = ["C"] }\ntake = "pairwise"\n',
    ],
    ids=["text", "graph"],
)
def test_structure_may_be_a_file(folder: Path, content: str) -> None:
    (folder / "s.toml").write_text(content)
    entry = json.loads(good("fit", "s.toml", *TABLE, "--json"))
    assert entry["content"]["log_likelihood"] == pytest.approx(api().log_likelihood)
    assert entry["content"]["structure"]["type"] == "Cliques"


@pytest.mark.parametrize("written", ["model", "fit"])
def test_structure_may_be_that_of_a_file_written_before(folder: Path, written: str) -> None:
    sf.write(api() if written == "fit" else api().model, "f.json")
    assert good("fit", "f.json", *TABLE).rstrip("\n") == str(api())


def test_gaussian_markov_field_from_a_structure_file(folder: Path) -> None:
    (folder / "g.toml").write_text('type = "GaussianMarkov"\ngraph = "a:b + b:c"\n')
    fit = sf.fit(sf.GaussianMarkov("a:b + b:c"), "x.csv")
    assert good("fit", "g.toml", "x.csv").rstrip("\n") == str(fit)
    good("fit", "g.toml", "x.csv", "--out", "m.json", "--out-fit", "f.json")
    found = sf.read("m.json")
    assert isinstance(found, sf.JointNormal)
    np.testing.assert_array_equal(found.covariance, fit.model.covariance)
    score = json.loads(good("score", "m.json", "x.csv", "--json"))
    assert score["log_likelihood"] == pytest.approx(fit.log_likelihood)
    assert good("fit", "f.json", "x.csv").rstrip("\n") == str(fit)


@pytest.mark.parametrize(
    "arguments",
    [("sample", "-n", "3", "--seed", "1"), ("info",), ("query", "a"), ("query", "a", "--given", "b=1.5")],
    ids=["sample", "info", "query", "given"],
)
def test_a_normal_model_is_asked_by_the_other_commands(folder: Path, arguments: tuple[str, ...]) -> None:
    sf.write(sf.fit(sf.GaussianMarkov("a:b + b:c"), "x.csv").model, "m.json")
    command, *rest = arguments
    assert "a" in good(command, "m.json", *rest)


def test_gaussian_markov_field_refuses_text(folder: Path) -> None:
    (folder / "g.toml").write_text('type = "GaussianMarkov"\ngraph = "A:B"\n')
    assert "'A'" in bad("fit", "g.toml", "table.csv")


# Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((TRIANGLE, *TABLE, "--method", "ipf", "--option", "steps=1"), "'ipf' has no option 'steps'"),
        ((TRIANGLE, *TABLE, "--method", "ipf", "--option", "simultaneous"), "NAME=VALUE"),
        ((TRIANGLE, *TABLE, "--method", "ipf", "--option", "=1"), "NAME=VALUE"),
        ((TRIANGLE, *TABLE, "--method", "ipf", "--option", "simultaneous=3"), "must be True or False. Got 3.0"),
        ((TRIANGLE, *TABLE, "--method", "gradient", "--option", "step=fast"), "'step'"),
        ((TRIANGLE, *TABLE, "--method", "gradient", "--option", "step=-1"), "'step'"),
        ((TRIANGLE, *TABLE, "--method", "gis"), "no method 'gis' for sf.Cliques"),
        ((TRIANGLE, *TABLE, "--method", "closed_form"), "not decomposable"),
        ((TRIANGLE, *TABLE, "--prior", "gaussian:0"), "'width'"),
        ((TRIANGLE, *TABLE, "--prior", "gaussian:wide"), "must end in a number"),
        ((TRIANGLE, *TABLE, "--prior", "k2"), "Markov random field"),
        ((TRIANGLE, *TABLE, "--prior", "uniform"), "Markov random field"),
        ((TRIANGLE, *TABLE, "--prior", "laplace:1", "--method", "newton"), "Use 'proximal'"),
        ((TRIANGLE, *TABLE, "--prior", "laplace:1", "--point", "mean"), "mean"),
        ((TRIANGLE, *TABLE, "--init", "nope.json"), "nope.json"),
        ((TRIANGLE, *TABLE, "--init", "table.csv"), "table.csv"),
        ((TRIANGLE, *TABLE, "--seed", "-1", "--init", "random"), "--seed"),
        ((TRIANGLE, *TABLE, "--tol", "0"), "--tol"),
        ((TRIANGLE, *TABLE, "--max-iter", "-1"), "--max-iter must be"),
        ((TRIANGLE, *TABLE, "--show", "A"), "no tables of nodes"),
        (("A:B + B:Z", *TABLE), "'Z', but there is no such column"),
        (("A:B + ", *TABLE), "where a name must follow"),
        (("A:B:A", *TABLE), "'A'"),
    ],
)  # fmt: skip
def test_refusals_are_one_line_with_exit_code_2(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    assert words in bad("fit", *arguments)


def test_init_of_other_cliques_is_refused(folder: Path) -> None:
    sf.write(sf.fit(sf.Cliques("A:B"), "table.csv", weights="Freq").model, "m.json")
    assert "no table for the clique B:C" in bad("fit", TRIANGLE, *TABLE, "--init", "m.json")


def test_a_graph_that_is_too_wide_is_refused_with_advice(folder: Path) -> None:
    cells = [(f"v{i}_{j}", near) for i in range(30) for j in range(30)
             for near in ([f"v{i}_{j + 1}"] if j < 29 else []) + ([f"v{i + 1}_{j}"] if i < 29 else [])]  # fmt: skip
    columns = sorted({name for pair in cells for name in pair})
    (folder / "g.json").write_text(json.dumps({"type": "Cliques", "graph": [list(pair) for pair in cells]}))
    lines = [",".join(columns), ",".join(["0"] * len(columns)), ",".join(["1"] * len(columns))]
    (folder / "wide.csv").write_text("\n".join([*lines, ""]))
    message = bad("fit", "g.json", "wide.csv")
    assert "too wide" in message
    assert "leave out cliques" in message


# The fitted model ---------------------------------------------------------------------------------------------


@pytest.fixture
def model(folder: Path) -> sf.MarkovNetwork:
    fit = api()
    sf.write(fit.model, "m.json")
    sf.write(fit, "f.json")
    assert isinstance(fit.model, sf.MarkovNetwork)
    return fit.model


@pytest.mark.parametrize("path", ["m.json", "f.json"])
def test_query(folder: Path, model: sf.MarkovNetwork, path: str) -> None:
    assert good("query", path, "A", "--given", "B=u").rstrip("\n") == str(model.query("A", {"B": "u"}))
    assert "'Z'" in bad("query", path, "Z")
    assert "'w'" in bad("query", path, "A", "--given", "B=w")


def test_sample(folder: Path, model: sf.MarkovNetwork) -> None:
    lines = good("sample", "m.json", "-n", "50", "--seed", "1").splitlines()
    assert lines[0] == "A,B,C"
    assert len(lines) == 51
    assert {line.replace(",", "") for line in lines[1:]} <= set(COUNTS)
    assert good("sample", "m.json", "-n", "50", "--seed", "1").splitlines() == lines


def test_score(folder: Path, model: sf.MarkovNetwork) -> None:
    entry = json.loads(good("score", "m.json", *TABLE, "--json"))
    wanted = sum(
        count * float(model.log_prob(dict(zip("ABC", map(list, cell), strict=True)))[0])
        for cell, count in COUNTS.items()
    )
    assert entry["log_likelihood"] == pytest.approx(wanted)
    assert math.isclose(wanted, api().log_likelihood, rel_tol=1e-12)


@pytest.mark.parametrize("path", ["m.json", "f.json"])
def test_info(folder: Path, model: sf.MarkovNetwork, path: str) -> None:
    text = good("info", path)
    lines = {line.rsplit("  ", 1)[0].strip(): line.rsplit("  ", 1)[1] for line in text.splitlines() if "  " in line}
    assert lines["model"] == "MarkovNetwork"
    assert (lines["variables"], lines["factors"], lines["cells"], lines["width"]) == ("3", "3", "12", "2")


def test_convert_there_and_back_keeps_the_distribution(folder: Path, model: sf.MarkovNetwork) -> None:
    good("convert", "m.json", "m.uai")
    good("convert", "m.uai", "back.json")
    found = sf.read("back.json")
    assert isinstance(found, sf.MarkovNetwork)
    np.testing.assert_allclose(found.query(["x0", "x1", "x2"]).values, model.query(list("ABC")).values, rtol=1e-12)
    assert "Write it as .uai or .json" in bad("convert", "m.json", "m.bif")
