"""The commands: what they print, write and return, in one process."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import bad, good, run

import suffice as sf
from suffice.cli.app import app

ROWS = "A,B,C,w\nx,u,1,2\nx,v,2,1\ny,v,1,3\ny,u,2,1.5\nx,u,3,0\ny,v,3,2\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a table in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(ROWS)
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


# fit ----------------------------------------------------------------------------------------------------------


def test_fit_prints_the_summary(folder: Path) -> None:
    fit = sf.fit(sf.DAG("A -> B"), "t.csv")
    assert good("fit", "A -> B", "t.csv").rstrip("\n") == str(fit)


def test_fit_shows_tables_of_nodes(folder: Path) -> None:
    fit = sf.fit(sf.DAG("A -> B"), "t.csv")
    text = good("fit", "A -> B", "t.csv", "--show", "B", "--show", "A")
    assert text.index(str(fit.model.cpd("B"))) < text.index(str(fit.model.cpd("A")))


def test_fit_json_can_be_saved_and_read_back(folder: Path) -> None:
    text = good("fit", "A -> B", "t.csv", "--json", "--weights", "w", "--prior", "bdeu:3")
    (folder / "saved.json").write_text(text, encoding="utf-8")
    found = sf.read("saved.json")
    fit = sf.fit(sf.DAG("A -> B"), "t.csv", weights="w", prior=sf.BDeu(3))
    sf.write(found, "again.json")
    sf.write(fit, "fit.json")
    assert (folder / "again.json").read_bytes() == (folder / "fit.json").read_bytes()
    assert (folder / "fit.json").read_text(encoding="utf-8") == text


def test_fit_writes_the_model_and_the_fit(folder: Path) -> None:
    text = good("fit", "A -> B", "t.csv", "--out", "m.json", "--out-fit", "f.json")
    assert "Wrote the model to m.json" in text
    assert "Wrote the fit to f.json" in text
    assert isinstance(sf.read("m.json"), sf.BayesianNetwork)
    assert isinstance(sf.read("f.json"), sf.Fit)
    assert names(folder) == {"t.csv", "m.json", "f.json"}


OPTIONS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "weights": (["--weights", "w"], {"weights": "w"}),
    "bdeu": (["--prior", "bdeu:10"], {"prior": sf.BDeu(10)}),
    "bdeu default": (["--prior", "bdeu"], {"prior": sf.BDeu()}),
    "dirichlet": (["--prior", "dirichlet:0.5"], {"prior": sf.Dirichlet(0.5)}),
    "k2": (["--prior", "k2"], {"prior": sf.K2()}),
    "jeffreys": (["--prior", "jeffreys"], {"prior": sf.Jeffreys()}),
    "mean": (["--prior", "k2", "--point", "mean"], {"prior": sf.K2(), "point": "mean"}),
    "map": (["--prior", "dirichlet:2", "--point", "map"], {"prior": sf.Dirichlet(2), "point": "map"}),
    "method": (["--method", "closed_form"], {"method": "closed_form"}),
    "certify": (["--certify", "data"], {"certify": "data"}),
    "categorical": (["--categorical", "A"], {"schema": {"A": sf.categorical()}}),
    "states": (["--categorical", "A=y,x,z", "--unseen-parents", "uniform"],
               {"schema": {"A": ["y", "x", "z"]}, "unseen_parents": "uniform"}),
    "nan": (["--categorical", "A=y,x,z", "--unseen-parents", "nan"],
            {"schema": {"A": ["y", "x", "z"]}, "unseen_parents": "nan"}),
    "unknown": (["--categorical", "B=u", "--unknown-states", "missing", "--missing", "drop"],
                {"schema": {"B": ["u"]}, "unknown_states": "missing", "missing": "drop"}),
    "quiet": (["--quiet"], {}),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_fit_option_does_what_the_argument_does(folder: Path, name: str) -> None:
    given, wanted = OPTIONS[name]
    good("fit", "A -> B", "t.csv", *given, "--out-fit", "cli.json")
    sf.write(sf.fit(sf.DAG("A -> B"), "t.csv", **wanted), "api.json")
    assert (folder / "cli.json").read_bytes() == (folder / "api.json").read_bytes()


def test_whole_numbers_as_states_are_numbers(folder: Path) -> None:
    good("fit", "C", "t.csv", "--categorical", "C=3,2,1", "--out", "m.json")
    assert sf.read("m.json").schema["C"].states == (3, 2, 1)


def test_states_may_be_quoted(folder: Path) -> None:
    (folder / "q.csv").write_text('A\n"a,b"\nc\n')
    good("fit", "A", "q.csv", "--categorical", 'A="a,b",c', "--out", "m.json")
    assert sf.read("m.json").schema["A"].states == ("a,b", "c")


def test_states_with_a_line_break_do_not_crash(folder: Path) -> None:
    (folder / "q.csv").write_text('A\n"a\nb"\nc\n')
    assert run("fit", "A", "q.csv", "--categorical", "A=a\nb,c").exit_code in (0, 2)


def test_continuous_column_is_refused_by_a_table_with_the_reason(folder: Path) -> None:
    (folder / "table.toml").write_text('type = "DAG"\ngraph = "C"\nkinds = { C = "tabular" }\n')
    assert "'C' is continuous" in bad("fit", str(folder / "table.toml"), "t.csv", "--continuous", "C")


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("A;B\nx;u\ny;v\n", ["--separator", ";"]),
        ("A\tB\nx\tu\ny\tv\n", ["--separator", "tab"]),
        ("A\tB\nx\tu\ny\tv\n", ["--separator", "\\t"]),
        ("A\tB\nx\tu\ny\tv\n", ["--separator", "\t"]),
        ("A|B\nx|u\ny|v\n", ["--separator", "|"]),
    ],
    ids=["semicolon", "tab", "backslash-t", "tab-itself", "bar"],
)
def test_separator(folder: Path, content: str, options: list[str]) -> None:
    (folder / "s.txt").write_text(content)
    entry = json.loads(good("fit", "A -> B", "s.txt", "--json", *options))
    assert entry["content"]["n"] == 2


def test_na_adds_to_the_usual_marks(folder: Path) -> None:
    (folder / "n.csv").write_text("A\nx\nNA\n?\n-\n")
    kept = json.loads(good("fit", "A", "n.csv", "--na", "NA", "--na", "-", "--missing", "drop", "--json"))
    assert kept["content"]["n"] == 1
    assert kept["content"]["model"]["schema"][0]["states"] == ["x"]
    default = json.loads(good("fit", "A", "n.csv", "--missing", "drop", "--json"))
    assert default["content"]["model"]["schema"][0]["states"] == ["-", "NA", "x"]


def test_na_with_a_separator(folder: Path) -> None:
    (folder / "n.txt").write_text("A;B\nx;u\nNA;v\n")
    assert "row 2" in bad("fit", "A -> B", "n.txt", "--separator", ";", "--na", "NA")


@pytest.mark.parametrize("kind", ["toml", "json", "model", "fit", "text", "brackets"])
def test_structure_may_be_a_file_or_text(folder: Path, kind: str) -> None:
    fit = sf.fit(sf.DAG("A -> B"), "t.csv")
    (folder / "s.toml").write_text('type = "DAG"\ngraph = "A -> B"\n')
    (folder / "s.json").write_text('{"type": "DAG", "graph": {"B": ["A"], "A": []}}')
    sf.write(fit.model, "m.json")
    sf.write(fit, "f.json")
    given = {"toml": "s.toml", "json": "s.json", "model": "m.json", "fit": "f.json", "text": "A -> B",
             "brackets": "[A][B|A]"}[kind]  # fmt: skip
    entry = json.loads(good("fit", given, "t.csv", "--json"))
    assert entry["content"]["log_likelihood"] == fit.log_likelihood


def test_hypotheses_are_fitted_from_a_file(folder: Path) -> None:
    (folder / "h.toml").write_text('type = "Hypotheses"\nover = "n"\n[sets]\neven = [2, 4]\nsmall = [1, 2, 3]\n')
    (folder / "n.csv").write_text("n\n2\n2\n")
    entry = json.loads(good("fit", "h.toml", "n.csv", "--prior", "uniform", "--json"))
    space = sf.Hypotheses({"even": [2, 4], "small": [1, 2, 3]}, over="n")
    fit = sf.fit(space, {"n": [2, 2]}, prior="uniform")
    assert entry["content"]["log_marginal_likelihood"] == fit.log_marginal_likelihood
    assert "average of the hypotheses" in good("fit", "h.toml", "n.csv", "--prior", "uniform")
    good("fit", "h.toml", "n.csv", "--out", "m.json")
    assert json.loads(good("score", "m.json", "n.csv", "--json"))["log_likelihood"] == pytest.approx(2 * math.log(0.5))
    assert good("sample", "m.json", "-n", "3", "--seed", "1").splitlines()[0] == "n"


def test_table_of_a_hypothesis_space_cannot_be_shown_but_does_not_crash(folder: Path) -> None:
    (folder / "h.toml").write_text('type = "Hypotheses"\nover = "n"\n[sets]\neven = [2, 4]\n')
    (folder / "n.csv").write_text("n\n2\n")
    result = run("fit", "h.toml", "n.csv", "--show", "n", "--out", "m.json")
    assert result.exit_code in (0, 2)
    assert (folder / "m.json").exists() == (result.exit_code == 0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["A -> Q", "t.csv"], "no such column"),
        (["A -> B -> A", "t.csv"], "cycle"),
        (["A -> B", "absent.csv"], "absent.csv"),
        (["A -> B", "t.xlsx"], "names no kind of table"),
        (["absent.toml", "t.csv"], "absent.toml"),
        (["A -> B", "t.csv", "--prior", "bdu:10"], "Got 'bdu:10'"),
        (["A -> B", "t.csv", "--prior", "bdeu:ten"], "must end in a number"),
        (["A -> B", "t.csv", "--prior", "bdeu:-1"], "positive"),
        (["A -> B", "t.csv", "--prior", "bdeu:nan"], "positive"),
        (["A -> B", "t.csv", "--prior", "k2:3"], "Got 'k2:3'"),
        (["A -> B", "t.csv", "--prior", "uniform:1"], "Got 'uniform:1'"),
        (["A -> B", "t.csv", "--prior", "uniform"], "prior"),
        (["A -> B", "t.csv", "--prior", ""], "Got ''"),
        (["A -> B", "t.csv", "--point", "map"], "pass one, such as --prior bdeu:10"),
        (["A -> B", "t.csv", "--point", "x", "--prior", "k2"], "['mean', 'map']"),
        (["A -> B", "t.csv", "--method", "x"], "closed_form"),
        (["A -> B", "t.csv", "--weights", "freq"], "'freq'"),
        (["A -> B", "t.csv", "--weights", "A"], "not a number"),
        (["A -> B", "t.csv", "--missing", "x"], "'drop', 'em'"),
        (["A -> B", "t.csv", "--unknown-states", "x"], "['error', 'missing']"),
        (["A -> B", "t.csv", "--unseen-parents", "x"], "['error', 'uniform', 'nan']"),
        (["A -> B", "t.csv", "--certify", "x"], "['statistics', 'data']"),
        (["A -> B", "t.csv", "--separator", ";;"], "one ASCII character"),
        (["A -> B", "t.csv", "--separator", ""], "one ASCII character"),
        (["A -> B", "t.csv", "--categorical", "Q"], "'Q'"),
        (["A -> B", "t.csv", "--categorical", "A=x"], "'y' is not one of ['x']"),
        (["A -> B", "t.csv", "--categorical", "A=x,x,y"], "more than once"),
        (["A -> B", "t.csv", "--categorical", "A", "--categorical", "A=x,y"], "declared more than once"),
        (["A -> B", "t.csv", "--categorical", "A", "--continuous", "A"], "declared more than once"),
        (["A -> B", "t.csv", "--categorical", "A=x,y,z"], "--unseen-parents"),
        (["A -> B", "t.csv", "--show", "Q"], "no node 'Q'"),
        (["A -> B", "t.csv", "--out", "m.xyz"], ".json"),
        (["A -> B", "t.csv", "--out", "absent/m.json"], "absent/m.json"),
        (["A -> B", "t.csv", "--out-fit", "f.stats"], ".stats"),
    ],
    ids=lambda value: " ".join(value[2:]) or value[0] if isinstance(value, list) else "",
)
def test_fit_fails_with_a_message_and_writes_nothing(folder: Path, arguments: list[str], says: str) -> None:
    assert says in bad("fit", *arguments)
    assert names(folder) == {"t.csv"}


def test_errors_are_json_when_asked(folder: Path) -> None:
    result = run("fit", "A -> Q", "t.csv", "--json")
    assert result.exit_code == 2
    assert result.stdout == ""
    entry = json.loads(result.stderr)
    assert entry["error"]["type"] == "DataError"
    assert "'Q'" in entry["error"]["message"]


@pytest.mark.parametrize("command", [["score", "absent.json", "t.csv"], ["sample", "absent.json"]], ids=" ".join)
def test_errors_of_other_commands_are_json_when_asked(folder: Path, command: list[str]) -> None:
    result = run(*command, "--json")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert json.loads(result.stderr)["error"]["type"] == "FileAccessError"


def test_unknown_node_to_show_fails_before_anything_is_written(folder: Path) -> None:
    (folder / "m.json").write_text("old")
    bad("fit", "A -> B", "t.csv", "--show", "Q", "--out", "m.json", "--out-fit", "f.json")
    assert (folder / "m.json").read_text() == "old"
    assert names(folder) == {"t.csv", "m.json"}


@pytest.mark.parametrize("second", ["absent/f.json", "f.xyz", "f.stats"])
def test_second_output_that_cannot_be_written_fails_before_the_first_is(folder: Path, second: str) -> None:
    bad("fit", "A -> B", "t.csv", "--out", "m.json", "--out-fit", second)
    assert names(folder) == {"t.csv"}, "the error says that nothing was changed"


def test_one_path_for_both_outputs_is_refused(folder: Path) -> None:
    bad("fit", "A -> B", "t.csv", "--out", "x.json", "--out-fit", "x.json")
    assert names(folder) == {"t.csv"}


def uncertified(claim: Any, *, keep: bool) -> Any:
    from suffice.families.proof import certify

    assert not keep, "one pass is enough for tables"
    return replace(certify(claim), ok=False, verdict="Not certified as a test: so it was asked.")


def test_fit_that_is_not_certified_is_reported_and_written_but_exits_with_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.solving.examined", uncertified)
    result = run("fit", "A -> B", "t.csv", "--out-fit", "f.json")
    assert result.exit_code == 1
    assert "✗ Not certified as a test" in result.stdout
    assert result.stderr == ""
    assert sf.read("f.json").certificate.ok is False
    assert run("fit", "A -> B", "t.csv", "--json").exit_code == 1
    assert run("demo").exit_code == 1


# score --------------------------------------------------------------------------------------------------------


@pytest.fixture
def model(folder: Path) -> sf.Fit:
    """A fit with weights, in m.json and f.json."""
    fit = sf.fit(sf.DAG("A -> B"), "t.csv", weights="w")
    sf.write(fit.model, "m.json")
    sf.write(fit, "f.json")
    return fit


@pytest.mark.parametrize("file", ["m.json", "f.json"])
def test_score_equals_the_log_likelihood_of_the_fit(model: sf.Fit, file: str) -> None:
    entry = json.loads(good("score", file, "t.csv", "--weights", "w", "--json"))
    assert entry["log_likelihood"] == pytest.approx(model.log_likelihood, rel=1e-12)
    assert entry["n"] == model.n == 9.5
    assert entry["n_dropped"] == 0
    assert entry["mean_log_likelihood"] == pytest.approx(model.log_likelihood / 9.5, rel=1e-12)


def test_score_without_weights_adds_up_log_prob(model: sf.Fit) -> None:
    entry = json.loads(good("score", "m.json", "t.csv", "--json"))
    assert entry["log_likelihood"] == pytest.approx(model.model.log_prob("t.csv").sum(), rel=1e-12)
    assert entry["n"] == 6


def test_score_for_people_has_the_same_numbers(model: sf.Fit) -> None:
    text = good("score", "m.json", "t.csv", "--weights", "w")
    assert f"{model.log_likelihood:,.4f}" in text
    assert "9.5" in text


def test_score_drops_incomplete_rows_when_told(model: sf.Fit, folder: Path) -> None:
    (folder / "gaps.csv").write_text("A,B\nx,u\n?,v\ny,\ny,v\n")
    assert "row 2" in bad("score", "m.json", "gaps.csv")
    entry = json.loads(good("score", "m.json", "gaps.csv", "--missing", "drop", "--json"))
    assert entry["n_dropped"] == 2
    assert entry["n"] == 2
    wanted = model.model.log_prob({"A": ["x", "y"], "B": ["u", "v"]}).sum()
    assert entry["log_likelihood"] == pytest.approx(wanted, rel=1e-12)
    text = good("score", "m.json", "gaps.csv", "--missing", "drop")
    assert re.search(r"^rows, with their weights +2$", text, re.MULTILINE)
    assert re.search(r"^rows dropped +2$", text, re.MULTILINE)


def test_score_takes_unknown_states_as_missing_when_told(model: sf.Fit, folder: Path) -> None:
    (folder / "new.csv").write_text("A,B\nx,u\nz,u\n")
    assert "'z' is not one of ['x', 'y']" in bad("score", "m.json", "new.csv")
    entry = json.loads(good("score", "m.json", "new.csv", "--unknown-states", "missing", "--missing", "drop", "--json"))
    assert (entry["n"], entry["n_dropped"]) == (1, 1)


def test_score_of_an_impossible_row_is_minus_infinity_in_json(folder: Path) -> None:
    sf.write(sf.fit(sf.DAG("A"), {"A": ["x"]}, schema={"A": ["x", "y"]}), "m.json")
    (folder / "a.csv").write_text("A\ny\n")
    entry = json.loads(good("score", "m.json", "a.csv", "--json"))
    assert entry["log_likelihood"] == "-inf"
    assert "-inf" in good("score", "m.json", "a.csv")


def test_score_of_no_rows(folder: Path, model: sf.Fit) -> None:
    (folder / "none.csv").write_text("A,B\n")
    entry = json.loads(good("score", "m.json", "none.csv", "--json"))
    assert entry["n"] == 0
    assert entry["log_likelihood"] == 0
    assert entry["mean_log_likelihood"] is None
    assert "nan" in good("score", "m.json", "none.csv")


def test_score_takes_separator_and_na(folder: Path, model: sf.Fit) -> None:
    (folder / "s.txt").write_text("A;B\nx;u\n-;v\n")
    entry = json.loads(
        good("score", "m.json", "s.txt", "--separator", ";", "--na", "-", "--missing", "drop", "--json", "--quiet")
    )
    assert (entry["n"], entry["n_dropped"]) == (1, 1)


@pytest.mark.parametrize("command", [["score", "x.stats", "t.csv"], ["sample", "x.stats"]], ids=" ".join)
def test_statistics_are_no_model(folder: Path, command: list[str]) -> None:
    sf.write(sf.collect(sf.DAG("A -> B"), "t.csv"), "x.stats")
    bad(*command)


# sample -------------------------------------------------------------------------------------------------------


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_sample_prints_csv_that_depends_on_the_seed_alone(model: sf.Fit) -> None:
    first = good("sample", "m.json", "-n", "20", "--seed", "5")
    assert first == good("sample", "f.json", "--rows", "20", "--seed", "5")
    assert first != good("sample", "m.json", "-n", "20", "--seed", "6")
    assert good("sample", "m.json", "-n", "30", "--seed", "5").startswith(first)
    header, *rows = rows_of(first)
    assert header == ["A", "B"]
    frame = model.model.sample(20, seed=5)
    assert rows == [list(map(str, row)) for row in frame.itertuples(index=False)]


def test_sample_without_a_seed_differs(model: sf.Fit) -> None:
    assert good("sample", "m.json", "-n", "200") != good("sample", "m.json", "-n", "200")


def test_sample_has_a_thousand_rows_by_default(model: sf.Fit) -> None:
    assert len(good("sample", "m.json").splitlines()) == 1001


def test_sample_of_no_rows_is_the_header(model: sf.Fit) -> None:
    assert good("sample", "m.json", "-n", "0") == "A,B\n"


def test_sample_writes_a_file_that_can_be_fitted(model: sf.Fit, folder: Path) -> None:
    text = good("sample", "m.json", "-n", "50", "--seed", "1", "--out", "rows.csv")
    assert text == "Wrote 50 rows to rows.csv\n"
    assert (folder / "rows.csv").read_text() == good("sample", "m.json", "-n", "50", "--seed", "1")
    assert sf.fit(sf.DAG("A -> B"), "rows.csv").n == 50


def test_sample_json(model: sf.Fit) -> None:
    entry = json.loads(good("sample", "m.json", "-n", "5", "--seed", "1", "--out", "rows.csv", "--json"))
    assert entry == {"rows": 5, "seed": 1, "out": "rows.csv"}


def test_sample_json_without_a_file_prints_the_rows(model: sf.Fit) -> None:
    entry = json.loads(good("sample", "m.json", "-n", "5", "--seed", "1", "--json"))
    frame = model.model.sample(5, seed=1)
    assert entry == {"variables": ["A", "B"], "rows": frame.astype(str).to_numpy().tolist()}
    assert json.loads(good("sample", "m.json", "-n", "0", "--json"))["rows"] == []


def test_sample_by_gibbs_chains(model: sf.Fit) -> None:
    options = ["--method", "gibbs", "--burn-in", "20", "--thin", "2", "--chains", "5", "--seed", "1", "-n", "12"]
    header, *rows = rows_of(good("sample", "m.json", *options))
    frame = model.model.sample(12, seed=1, method="gibbs", burn_in=20, thin=2, chains=5)
    assert header == list(frame.columns)
    assert rows == frame.astype(str).to_numpy().tolist()
    given = rows_of(good("sample", "m.json", *options, "--given", "A=x"))[1:]
    assert {row[header.index("A")] for row in given} == {"x"}
    assert good("sample", "m.json", "--method", "exact", "--seed", "1") == good("sample", "m.json", "--seed", "1")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--method", "gibs"], "--method must be one of ['exact', 'gibbs']"),
        (["--burn-in", "5"], "is for Gibbs sampling"),
        (["--method", "exact", "--thin", "5"], "is for Gibbs sampling"),
        (["--method", "gibbs", "--thin", "0"], "at least 1"),
        (["--method", "gibbs", "--chains", "0"], "at least 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_sample_by_gibbs_chains_fails_with_a_message(model: sf.Fit, options: list[str], says: str) -> None:
    assert says in bad("sample", "m.json", *options)


def test_sample_of_continuous_variables_has_no_chains(folder: Path) -> None:
    (folder / "c.csv").write_text("a,b\n1,2.5\n2,4\n3,5.5\n4,9\n")
    sf.write(sf.fit(sf.GaussianMarkov("a:b"), "c.csv").model, "normal.json")
    assert "'a', are always drawn exactly. Leave out --burn-in." in bad("sample", "normal.json", "--burn-in", "5")


def test_labels_that_csv_must_quote_survive(folder: Path) -> None:
    states = ['a,b', 'say "x"', "line\nbreak", " blank ", "ä😀"]  # fmt: skip
    fit = sf.fit(sf.DAG(["n,m"]), {"n,m": states})
    sf.write(fit.model, "q.json")
    good("sample", "q.json", "-n", "200", "--seed", "1", "--out", "rows.csv")
    found = sf.fit(sf.DAG(["n,m"]), "rows.csv", schema={"n,m": states})
    assert found.n == 200


def test_an_empty_label_is_not_lost(folder: Path) -> None:
    sf.write(sf.fit(sf.DAG("A"), {"A": ["", "b"]}).model, "e.json")
    text = good("sample", "e.json", "-n", "40", "--seed", "1")
    header, *rows = rows_of(text)
    assert header == ["A"]
    assert len(rows) == 40
    assert {tuple(row) for row in rows} == {("",), ("b",)}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--out", "rows.txt"], ".csv"),
        (["--out", "rows"], ".csv"),
        (["--out", "m.json"], ".csv"),
        (["--out", "absent/rows.csv"], "absent/rows.csv"),
        (["--out", "d.csv"], "d.csv"),
        (["--out", "old.csv", "-n", "-1"], "at least 0"),
        (["--out", "old.csv", "--seed", "-1"], "--seed must be"),
        (["-n", "-1"], "at least 0"),
        (["--seed", "-1"], "--seed must be"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_sample_fails_with_a_message_and_changes_nothing(
    model: sf.Fit, folder: Path, options: list[str], says: str
) -> None:
    (folder / "d.csv").mkdir()
    (folder / "old.csv").write_text("old")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert says in bad("sample", "m.json", *options)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_sample_of_unknown_rows_fails_without_a_half_written_file(folder: Path) -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": ["x"], "B": ["u"]}, schema={"A": ["x", "y"]}, unseen_parents="nan",
                 fixed={"A": [0.999, 0.001]})  # fmt: skip
    sf.write(fit.model, "nan.json")
    assert "--unseen-parents uniform" in bad("sample", "nan.json", "-n", "99999", "--seed", "1", "--out", "rows.csv")
    assert names(folder) == {"t.csv", "nan.json"}


# demo and the rest --------------------------------------------------------------------------------------------


def test_demo_fits_berkeley(folder: Path) -> None:
    text = good("demo")
    assert "4,526" in text or "4526" in text
    assert "✓ Certified" in text
    assert "p(Admit | Gender, Dept)" in text
    assert "suffice sample berkeley.json -n 5 --seed 1" in text
    table = sf.read("berkeley.json").cpd("Admit").table
    assert table[{"Gender": "Female", "Dept": "A", "Admit": "Admitted"}] == pytest.approx(89 / 108)
    assert names(folder) == {"t.csv", "berkeley.json"}
    assert len(good("sample", "berkeley.json", "-n", "5", "--seed", "1").splitlines()) == 6


def test_demo_json_is_the_fit(folder: Path) -> None:
    (folder / "saved.json").write_text(good("demo", "--json"), encoding="utf-8")
    assert sf.read("saved.json").n == 4526


def test_demo_writes_where_it_is_told(folder: Path) -> None:
    assert "Wrote the model to here.json" in good("demo", "--out", "here.json")
    assert names(folder) == {"t.csv", "here.json"}


def test_demo_that_cannot_write_fails(folder: Path) -> None:
    result = run("demo", "--out", "absent/x.json")
    assert result.exit_code == 2
    assert "absent/x.json" in result.stderr
    assert names(folder) == {"t.csv"}


def test_version() -> None:
    assert good("--version") == f"{sf.__version__}\n"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ([], ["fit", "score", "sample", "demo"]),
        (["fit"], ["STRUCTURE", "DATA", "--prior", "--point", "--method", "--weights", "--unseen-parents", "--missing",
                   "--unknown-states", "--categorical", "--continuous", "--separator", "--na", "--certify", "--show",
                   "--out", "--out-fit", "--quiet", "--json"]),
        (["score"], ["MODEL", "DATA", "--weights", "--missing", "--unknown-states", "--separator", "--na", "--json"]),
        (["sample"], ["MODEL", "--rows", "--seed", "--out", "--json"]),
        (["demo"], ["--out"]),
    ],
    ids=["suffice", "fit", "score", "sample", "demo"],
)  # fmt: skip
def test_help_names_every_option(command: list[str], says: list[str]) -> None:
    text = good(*command, "--help")
    for words in says:
        assert words in text


@pytest.mark.parametrize("name", [command.callback.__name__ for command in app.registered_commands])  # type: ignore[union-attr]
def test_every_command_has_json_for_machines(name: str) -> None:
    assert "--json" in good(name, "--help")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nope"],
        ["fit"],
        ["fit", "A"],
        ["fit", "A", "t.csv", "--nope"],
        ["sample", "m.json", "-n", "x"],
        ["fit", "A", "t.csv", "extra"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_two(folder: Path, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage" in result.stderr


# Interruptions ------------------------------------------------------------------------------------------------


def interrupt(*arguments: Any, **options: Any) -> Any:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "arguments"),
    [
        ("suffice.opening.open_table", ["fit", "A -> B", "t.csv", "--out", "new.json"]),
        ("suffice.models.score.open_table", ["score", "m.json", "t.csv"]),
        ("suffice.models.queries.sample_blocks", ["sample", "m.json", "--out", "new.csv"]),
        ("suffice.opening.open_table", ["demo", "--out", "new.json"]),
    ],
    ids=["fit", "score", "sample", "demo"],
)
def test_interruption_exits_with_130_and_writes_nothing(
    model: sf.Fit, folder: Path, monkeypatch: pytest.MonkeyPatch, where: str, arguments: list[str]
) -> None:
    before = names(folder)
    monkeypatch.setattr(where, interrupt)
    result = run(*arguments)
    assert result.exit_code == 130
    assert result.stderr == "error: Interrupted; nothing was written.\n"
    assert names(folder) == before


def test_interruption_in_the_middle_of_writing_leaves_the_old_file(
    model: sf.Fit, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "rows.csv").write_text("old")
    before = names(folder)

    def half(schema: Any, blocks: Any, file: Any) -> None:
        file.write(b"A,B\nx,")
        raise KeyboardInterrupt

    monkeypatch.setattr("suffice.io.rows_file.write_csv", half)
    assert run("sample", "m.json", "--out", "rows.csv").exit_code == 130
    assert (folder / "rows.csv").read_text() == "old"
    assert names(folder) == before


def test_interruption_is_json_when_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.opening.open_table", interrupt)
    result = run("fit", "A -> B", "t.csv", "--json")
    assert result.exit_code == 130
    assert json.loads(result.stderr)["error"]["type"] == "KeyboardInterrupt"


@pytest.mark.parametrize("error", [MemoryError("too large"), RecursionError("too deep")], ids=["memory", "recursion"])
def test_running_out_of_room_is_an_error_and_no_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise error

    monkeypatch.setattr("suffice.opening.open_table", fail)
    result = run("fit", "A -> B", "t.csv")
    assert result.exit_code == 2
    assert result.stderr == f"error: {type(error).__name__}: {error}\n"


def test_broken_pipe_ends_quietly(model: sf.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("suffice.io.rows_file.write_csv", broken)
    result = run("sample", "m.json")
    assert result.exit_code == 0
    assert result.stderr == ""


# Odd names ----------------------------------------------------------------------------------------------------

ODD: dict[str, Callable[[], str]] = {
    "markup": lambda: "[red]x[/red]",
    "closing": lambda: "[/]",
    "long": lambda: 300 * "n",
    "wide": lambda: 300 * "漢",
    "control": lambda: "a\x1b[31mb\x07",
    "emoji": lambda: ":smile: 😀",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_printed_as_they_are(folder: Path, name: str) -> None:
    word = ODD[name]()
    with open("odd.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["p" + word, "c" + word], [word, "u"], ["v", word]])
    (folder / "s.json").write_text(json.dumps({"type": "DAG", "graph": {"c" + word: ["p" + word]}}))
    text = good("fit", "s.json", "odd.csv", "--show", "c" + word)
    assert "\x1b" not in text, "control characters are made visible"
    shown = word if len(word) <= 40 else word[:30]
    assert shown.replace("\x1b", "\\x1b").replace("\x07", "\\x07") in text
    assert np.isfinite(json.loads(good("fit", "s.json", "odd.csv", "--json"))["content"]["log_likelihood"])
