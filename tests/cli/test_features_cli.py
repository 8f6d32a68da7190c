"""Log-linear models on the command line: fitted from structure files, written, asked and scored, in one process."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.test_commands import names
from tests.command_line import bad, good, run

import suffice as sf

FEATURES = """
type = "Features"
[[features]]
indicator = { A = "yes", B = "no" }
[[features]]
indicator = { A = "yes" }
[[features]]
product = ["u", "v"]
"""
CONDITIONAL = """
type = "Features"
given = ["x", "A"]
[[features]]
indicator = { y = "b" }
[[features]]
product = ["x", { indicator = { y = "b" } }]
[[features]]
indicator = { y = "b", A = "yes" }
"""
DENSITY = """
type = "Features"
support = { x = [-inf, inf] }
[[features]]
product = ["x", { indicators = "A" }]
[[features]]
product = ["x", "x"]
[[features]]
indicators = ["A"]
reference = true
"""
ISING = 'type = "Ising"\ngraph = "A:B + B:v"\ntie = "couplings"\n'
FILES = {"f.toml": FEATURES, "c.toml": CONDITIONAL, "d.toml": DENSITY, "i.toml": ISING}

STRUCTURES: dict[str, Any] = {
    "f.toml": sf.Features([sf.indicator(A="yes", B="no"), sf.indicator(A="yes"), sf.product("u", "v")]),
    "c.toml": sf.Features(
        [sf.indicator(y="b"), sf.product("x", sf.indicator(y="b")), sf.indicator(y="b", A="yes")], given=["x", "A"]
    ),
    "d.toml": sf.Features(
        [sf.product("x", sf.indicators("A")), sf.product("x", "x"), sf.indicators("A", reference=True)],
        support={"x": (-math.inf, math.inf)},
    ),
    "i.toml": sf.Ising("A:B + B:v", tie="couplings"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a table, in two parts as well, and structure files in it."""
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def write_tables(folder: Path) -> None:
    rng = np.random.default_rng(3)
    lines = []
    for _ in range(60):
        a, b = rng.choice(["no", "yes"], 2)
        x = round(float(rng.normal()), 3)
        y = "b" if x + rng.normal() > 0 else "a"
        lines.append(f"{a},{b},{rng.choice([0, 1, 2])},{rng.choice([-1, 1])},{x},{y}")
    for name, part in (("t.csv", lines), ("t1.csv", lines[:25]), ("t2.csv", lines[25:])):
        (folder / name).write_text("\n".join(["A,B,u,v,x,y", *part, ""]))


# fit ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_fit_prints_the_summary(folder: Path, name: str) -> None:
    text = good("fit", name, "t.csv")
    assert text.rstrip("\n") == str(sf.fit(STRUCTURES[name], "t.csv"))
    assert "✓ Certified: maximum" in text


OPTIONS: dict[str, tuple[str, list[str], dict[str, Any]]] = {
    "gis": ("f.toml", ["--method", "gis"], {"method": "gis"}),
    "newton": ("f.toml", ["--method", "newton", "--tol", "1e-9"], {"method": "newton", "tol": 1e-9}),
    "gradient": ("f.toml", ["--method", "gradient", "--option", "step=0.1", "--max-iter", "20000"],
                 {"method": "gradient", "options": {"step": 0.1}, "max_iter": 20_000}),
    "gaussian": ("f.toml", ["--prior", "gaussian:1"], {"prior": sf.Gaussian(1.0)}),
    "gaussian main": ("f.toml", ["--prior", "gaussian:1:inf"], {"prior": sf.Gaussian(1.0, main=math.inf)}),
    "laplace": ("f.toml", ["--prior", "laplace:0.5"], {"prior": sf.Laplace(0.5)}),
    "states": ("f.toml", ["--categorical", "A=yes,no"], {"schema": {"A": ["yes", "no"]}}),
    "conditional gaussian": ("c.toml", ["--prior", "gaussian:2"], {"prior": sf.Gaussian(2.0)}),
    "conditional newton": ("c.toml", ["--method", "newton"], {"method": "newton"}),
    "density": ("d.toml", ["--method", "newton"], {"method": "newton"}),
    "pseudo-likelihood": ("i.toml", ["--method", "pseudo_likelihood"], {"method": "pseudo_likelihood"}),
    "certified by data": ("i.toml", ["--certify", "data"], {"certify": "data"}),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_fit_option_does_what_the_argument_does(folder: Path, name: str) -> None:
    path, given, wanted = OPTIONS[name]
    good("fit", path, "t.csv", *given, "--out-fit", "cli.json", "--out", "m.json")
    sf.write(sf.fit(STRUCTURES[path], "t.csv", **wanted), "api.json")
    assert (folder / "cli.json").read_bytes() == (folder / "api.json").read_bytes()
    assert str(sf.read("m.json")) == str(sf.read("api.json").model)


@pytest.mark.parametrize("name", FILES)
def test_fit_json_can_be_saved_and_read_back(folder: Path, name: str) -> None:
    (folder / "saved.json").write_text(good("fit", name, "t.csv", "--json"), encoding="utf-8")
    assert str(sf.read("saved.json")) == str(sf.fit(STRUCTURES[name], "t.csv"))


@pytest.mark.parametrize("name", FILES)
def test_a_fit_is_the_structure_and_the_start_of_another(folder: Path, name: str) -> None:
    good("fit", name, "t.csv", "--out", "m.json", "--out-fit", "f.json")
    for path in ("m.json", "f.json"):
        entry = json.loads(good("fit", path, "t.csv", "--init", path, "--json"))
        assert entry["content"]["log_likelihood"] == pytest.approx(sf.read("f.json").log_likelihood, rel=1e-9)
        assert entry["content"]["structure"] == json.loads((folder / "f.json").read_text())["content"]["structure"]
        assert len(entry["content"]["trace"]) <= 2


def test_fit_that_ran_out_of_steps_has_exit_code_1_and_is_written(folder: Path) -> None:
    result = run("fit", "f.toml", "t.csv", "--method", "gis", "--max-iter", "1", "--out", "m.json")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "✗ Not certified" in result.stdout
    assert sf.read("m.json").weights.names == ("A=yes & B=no", "A=yes", "u·v")


def test_a_fit_in_a_json_file_with_a_bare_model_beside_it(folder: Path) -> None:
    before = names(folder)
    good("fit", "f.toml", "t.csv", "--out", "m.uai", "--out-fit", "f.json")
    assert names(folder) - before == {"m.uai", "f.json"}
    wanted = sf.read("f.json").model.query(["A", "B", "u", "v"]).values
    np.testing.assert_allclose(sf.read("m.uai").query(["x0", "x1", "x2", "x3"]).values, wanted, rtol=1e-12)


@pytest.mark.parametrize(("name", "ending"), [("f.toml", "bif"), ("c.toml", "uai"), ("d.toml", "uai")])
def test_formats_refuse_what_they_cannot_hold_and_nothing_is_written(folder: Path, name: str, ending: str) -> None:
    before = names(folder)
    assert ".json" in bad("fit", name, "t.csv", "--out", f"m.{ending}", "--out-fit", "f.json")
    assert names(folder) == before


# Statistics ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_statistics_of_parts_are_saved_merged_and_estimated(folder: Path, name: str) -> None:
    structure = STRUCTURES[name]
    for part in ("t1", "t2"):
        sf.write(sf.collect(structure, f"{part}.csv"), f"{part}.stats")
    merged = sf.read("t1.stats") + sf.read("t2.stats")
    good("fit", name, "t.csv", "--out-fit", "f.json")
    wanted, found = sf.read("f.json"), sf.estimate(structure, merged)
    np.testing.assert_allclose(found.model.weights.to_numpy(), wanted.model.weights.to_numpy(), atol=1e-6)
    assert found.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-12)
    assert found.certificate.ok


# The fitted models --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A folder with a model and a whole fit of each structure, made once, and the models."""
    made = tmp_path_factory.mktemp("made")
    write_tables(made)
    found = {}
    for name, structure in STRUCTURES.items():
        fit = sf.fit(structure, made / "t.csv")
        sf.write(fit.model, made / f"{name[0]}.json")
        sf.write(fit, made / f"{name[0]}_fit.json")
        found[name[0]] = fit.model
    return made, found


@pytest.fixture
def models(made: tuple[Path, dict[str, Any]], folder: Path) -> dict[str, Any]:
    """The fitted models; copies of their files are in the folder to work in."""
    for path in made[0].glob("*.json"):
        shutil.copy(path, folder)
    return made[1]


@pytest.mark.parametrize("path", ["f.json", "f_fit.json"])
def test_query_of_a_joint_model(models: dict[str, Any], path: str) -> None:
    assert good("query", path, "A", "--given", "B=no").rstrip("\n") == str(models["f"].query("A", {"B": "no"}))
    assert "log p(states, evidence)" in good("query", path, "--map")
    lines = good("query", path).splitlines()
    assert len(lines) == 2 + 2 + 2 + 3 + 2


@pytest.mark.parametrize("path", ["c.json", "c_fit.json"])
def test_query_of_a_conditional_model(models: dict[str, Any], path: str) -> None:
    inputs = ("--given", "x=0.5", "--given", "A=yes")
    wanted = models["c"].query("y", {"x": 0.5, "A": "yes"})
    assert good("query", path, "y", *inputs).rstrip("\n") == str(wanted)
    assert json.loads(good("query", path, "y", *inputs, "--json"))["p"] == wanted.values.tolist()
    assert json.loads(good("query", path, *inputs, "--json"))["y"]["p"] == wanted.values.tolist()
    assert good("query", path, *inputs).splitlines()[2].split()[:2] == ["y", "a"]
    most = wanted.variables[0].labels[int(np.argmax(wanted.values))]
    assert good("query", path, "--map", *inputs).splitlines()[-1].split() == ["y", most]
    assert json.loads(good("query", path, "--map", *inputs, "--json")) == {"states": {"y": most}}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("c.json", "y"), "A conditional model answers for given inputs only: --given COL=…"),
        (("c.json",), "The input 'x' is not given"),
        (("c.json", "y", "--given", "x=0.5"), "The input 'A' is not given"),
        (("c.json", "--map", "--given", "A=no"), "The input 'x' is not given"),
        (("c.json", "A", "--given", "x=0.5", "--given", "A=no"), "'A' is given, and cannot be asked for"),
        (("c.json", "y", "--given", "x=high", "--given", "A=no"), "'x' is continuous. Got 'high'"),
        (("c.json", "y", "--given", "x=1", "--given", "A=no,yes"), "'A' must be one state, as in --given A=no"),
        (("c.json", "y", "--given", "x=1", "--given", "A=no:1,yes:2"), "'A' must be one state"),
        (("c.json", "--given", "x=1", "--given", "A=no", "--given", "y=a"), "No variable is left"),
        (("c.json", "z", "--given", "x=1", "--given", "A=no"), "no variable 'z'"),
        (("c.json", "--sensitivity", "y=a", "--given", "x=1"), "Bayesian network"),
        (("d.json", "x"), "'x' is continuous, and has a density instead of a table. Densities are what suffice score"),
        (("d.json", "A", "--given", "x=1"), "Leave --given out"),
        (("d.json", "--map"), "cannot be asked for its most likely states; leave --map out"),
        (("f.json", "A", "--interval", "0.9"), "posterior"),
        (("f_fit.json", "A", "--interval", "0.9"), "posterior"),
    ],
)  # fmt: skip
def test_queries_without_an_answer_are_refused(models: dict[str, Any], arguments: tuple[str, ...], words: str) -> None:
    assert words in bad("query", *arguments)


def test_query_of_a_density_shows_the_states(models: dict[str, Any]) -> None:
    assert good("query", "d.json", "A").rstrip("\n") == str(models["d"].query("A"))
    assert "yes" in good("query", "d.json")


@pytest.mark.parametrize("path", ["f.json", "c.json", "d.json", "i.json", "c_fit.json"])
def test_score_adds_the_log_likelihood_up(models: dict[str, Any], path: str) -> None:
    model = models[path[0]]
    wanted = float(np.sum(model.log_prob("t.csv")))
    entry = json.loads(good("score", path, "t.csv", "--json"))
    assert entry["log_likelihood"] == pytest.approx(wanted, rel=1e-12)
    assert entry["mean_log_likelihood"] == pytest.approx(wanted / 60, rel=1e-12)
    assert entry["n"] == 60
    assert ("conditional log-likelihood" in good("score", path, "t.csv")) == (path[0] == "c")


def test_score_of_unknown_states_is_refused(folder: Path, models: dict[str, Any]) -> None:
    (folder / "odd.csv").write_text("A,x,y\nno,0.5,z\n")
    assert "'z'" in bad("score", "c.json", "odd.csv")


@pytest.mark.parametrize(("path", "kind"), [("c.json", "ConditionalLogLinear"), ("d_fit.json", "LogLinearDensity")])
def test_sampling_what_cannot_be_sampled_is_refused(models: dict[str, Any], path: str, kind: str) -> None:
    assert f"A {kind} cannot be sampled on the command line" in bad("sample", path, "-n", "3")


def test_sample_of_a_joint_model(models: dict[str, Any]) -> None:
    lines = good("sample", "f.json", "-n", "20", "--seed", "1").splitlines()
    assert lines[0] == "A,B,u,v"
    assert len(lines) == 21


def test_convert_there_and_back_keeps_the_distribution(models: dict[str, Any]) -> None:
    good("convert", "f.json", "m.uai")
    wanted = models["f"].query(["A", "B", "u", "v"]).values
    np.testing.assert_allclose(sf.read("m.uai").query(["x0", "x1", "x2", "x3"]).values, wanted, rtol=1e-12)


# info ---------------------------------------------------------------------------------------------------------


def facts(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(good("info", *arguments, "--json"))
    return found


def test_info_of_structure_files(folder: Path) -> None:
    assert facts("f.toml") == {"structure": "Features", "variables": 4, "feature specifications": 3, "scopes": 2,
                               "largest scope": 2, "tables": []}  # fmt: skip
    assert facts("c.toml")["inputs"] == 2
    assert facts("d.toml")["continuous variables"] == 1
    assert facts("i.toml") == {"structure": "Ising", "variables": 3, "edges": 2, "scopes": 2, "largest scope": 2,
                               "tables": []}  # fmt: skip
    assert "feature specifications  3" in good("info", "f.toml")


def test_info_with_data_plans_the_statistics(folder: Path) -> None:
    found = facts("f.toml", "t.csv")
    assert found["weights"] == 3
    assert [table["scope"] for table in found["tables"]] == [["A", "B"], ["u", "v"], ["A", "B", "u", "v"]]
    assert found["cells"] == 4 + 6 + 24
    assert "held as" in good("info", "f.toml", "t.csv")
    text = good("info", "c.toml", "t.csv")
    assert "distinct rows" in text
    assert "held as" not in text


@pytest.mark.parametrize(
    ("path", "kind", "n_weights"),
    [("f.json", "LogLinear", 3), ("c_fit.json", "ConditionalLogLinear", 3), ("d.json", "LogLinearDensity", 4),
     ("i_fit.json", "LogLinear", 4)],
)  # fmt: skip
def test_info_of_models(models: dict[str, Any], path: str, kind: str, n_weights: int) -> None:
    found = facts(path)
    assert (found["model"], found["weights"]) == (kind, n_weights)
    assert len(good("info", path).splitlines()) == len(found) - 1


# Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        (FEATURES, ("--method", "gsi"), "Did you mean 'gis'?"),
        (FEATURES, ("--method", "gis", "--prior", "gaussian:1"), "Use 'lbfgs' or 'newton'"),
        (FEATURES, ("--prior", "bdeu:1"), "--prior gaussian:1 or --prior laplace:1. Got BDeu"),
        (FEATURES, ("--show", "A"), "no tables of nodes"),
        (FEATURES, ("--option", "steps=1"), "'steps'"),
        (FEATURES.replace("yes", "maybe"), (), "has no state 'maybe'"),
        (FEATURES.replace('"u"', '"A"'), (), "A product multiplies numbers"),
        (FEATURES.replace("A =", "AA ="), (), "'AA', but there is no such column"),
        (FEATURES.replace("product", "prodct"), (), "feature 3: A feature has exactly one of the entries"),
        (ISING.replace("B:v", "B:u"), (), "--categorical 'u'=0,1, or use type = \"Potts\" for more"),
        ('type = "Features"\n', (), "the entry 'features' is missing"),
        (CONDITIONAL.replace("given", "inputs"), (), "no entry 'inputs'"),
        (DENSITY.replace("-inf, inf", "0, 1"), (), "outside its support from 0 to 1"),
    ],
)  # fmt: skip
def test_refusals_are_one_line_with_exit_code_2(
    folder: Path, content: str, arguments: tuple[str, ...], words: str
) -> None:
    (folder / "s.toml").write_text(content, encoding="utf-8")
    assert words in bad("fit", "s.toml", "t.csv", *arguments)
