"""``suffice report``, and ``suffice fit --report``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.test_commands import names
from tests.command_line import bad, good, run
from tests.report.test_page import content, text_of

import suffice as sf


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a table, a whole fit and its model alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("A,B,n\nx,u,3\nx,v,1\ny,v,4\n")
    fit = sf.fit(sf.DAG("A -> B"), "t.csv", weights="n")
    sf.write(fit, "fit.json")
    sf.write(fit.model, "m.bif")
    return tmp_path


def read(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")


def test_a_whole_fit_has_its_certificate_in_the_report(folder: Path) -> None:
    assert good("report", "fit.json", "--out", "out.html", "--no-plots") == "\nWrote the report to out.html\n"
    fit = sf.read("fit.json")
    assert fit.certificate.verdict in text_of(read("out.html"))
    assert names(folder) == {"t.csv", "fit.json", "m.bif", "out.html"}


def test_a_model_file_has_none_and_says_so(folder: Path) -> None:
    good("report", "m.bif", "--title", "Mine & <yours>")
    page = read("report.html")
    assert "no certificate" in text_of(page)
    assert "Mine & <yours>" in text_of(page)
    assert content(page)["families"] == []


def test_data_give_log_likelihoods(folder: Path) -> None:
    good("report", "m.bif", "t.csv", "--weights", "n", "--out", "out.html")
    families = {name: value for name, value, _ in content(read("out.html"))["families"]}
    assert families == pytest.approx(dict(sf.read("fit.json").local), abs=1e-5)
    assert "8 rows" in text_of(read("out.html"))


def test_a_fit_writes_its_report(folder: Path) -> None:
    text = good("fit", "A -> B", "t.csv", "--weights", "n", "--report", "new.html", "--out", "new.json")
    assert text.endswith("Wrote the model to new.json\n\nWrote the report to new.html\n")
    fit = sf.read("fit.json")
    assert fit.certificate.verdict in text_of(read("new.html"))
    document = json.loads(good("fit", "A -> B", "t.csv", "--weights", "n", "--report", "again.html", "--json"))
    assert document
    assert content(read("again.html")) == content(read("new.html"))


def test_the_answer_for_machines(folder: Path) -> None:
    said = json.loads(good("report", "fit.json", "t.csv", "--weights", "n", "--out", "out.html", "--json"))
    assert said == {"model": "fit.json", "data": "t.csv", "out": "out.html"}


def test_nothing_is_written_over_or_by_a_command_that_fails(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert "HTML file" in bad("report", "fit.json", "--out", "fit.json")
    assert "HTML file" in bad("fit", "A -> B", "t.csv", "--report", "m.bif")
    assert "no.json" in bad("report", "no.json", "--out", "x.html")
    (folder / "bad.csv").write_text("A,B\nq,u\n")
    assert "'q'" in bad("report", "m.bif", "bad.csv", "--out", "x.html")
    (folder / "bad.csv").unlink()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_chain_of_labels_has_a_report_too(folder: Path) -> None:
    crf = sf.ChainCRF().fit([[{"w": 1.0}, {"v": 1.0}]] * 3, [["a", "b"]] * 3)
    sf.write(crf.fit_.model, "m.crf")
    good("report", "m.crf", "--out", "crf.html")
    assert [entry["n"] for entry in content(read("crf.html"))["entries"]][:2] == ["a", "b"]
    assert "sequences" in bad("report", "m.crf", "t.csv", "--out", "x.html")
    assert run("report", "--help").exit_code == 0


def test_a_folder_that_is_not_there_is_found_before_anything_is_written(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,u\ny,v\n")
    page = str(tmp_path / "none" / "page.html")
    said = bad("fit", "a -> b", str(tmp_path / "t.csv"), "--out-fit", str(tmp_path / "fit.json"), "--report", page)
    assert "there is no folder" in said
    assert not (tmp_path / "fit.json").exists()


def test_the_report_of_a_chain_repeats_what_its_fit_proved(folder: Path) -> None:
    crf = sf.ChainCRF().fit([[{"w": 1.0}, {"v": 1.0}]] * 3, [["a", "b"]] * 3)
    crf.save("m.crf")
    good("report", "m.crf", "--out", "crf.html", "--no-plots")
    said = text_of(read("crf.html"))
    assert crf.fit_.certificate.verdict in said
    assert "no certificate" not in said
    assert "sequences" in bad("report", "m.crf", "t.csv", "--out", "x.html")
    sf.write(crf.fit_.model, "alone.crf")
    good("report", "alone.crf", "--out", "alone.html", "--no-plots")
    assert "no certificate" in text_of(read("alone.html"))


@pytest.fixture
def hidden(folder: Path) -> sf.Fit:
    """A fit with a latent variable, which no column of its table carries, and another table that lacks values."""
    rows = "0,0,0\n1,1,1\n0,0,1\n1,1,1\n0,1,0\n1,1,0\n0,0,0\n1,0,1\n"
    Path("h.csv").write_text("A,B,C\n" + rows)
    Path("gaps.csv").write_text("A,B,C\n0,,1\n1,1,1\n")
    fit = sf.fit(sf.DAG("L -> A; L -> B; L -> C", latent={"L": 2}), "h.csv", seed=0, restarts=1)
    sf.write(fit, "hidden.json")
    return fit


def test_data_without_latent_variables_are_scored(hidden: sf.Fit) -> None:
    good("report", "hidden.json", "h.csv", "--out", "out.html", "--no-plots")
    said = text_of(read("out.html"))
    assert f"{hidden.log_likelihood:,.4f}" in said
    assert "observed log-likelihood of these data" in said


def test_missing_values_of_the_data_are_summed_out(hidden: sf.Fit) -> None:
    good("report", "hidden.json", "gaps.csv", "--missing", "marginalise", "--out", "out.html", "--no-plots")
    total = float(hidden.model.log_prob("gaps.csv", missing="marginalise").sum())
    assert f"{total:,.4f}" in text_of(read("out.html"))
    assert "--missing marginalise" in bad("report", "hidden.json", "gaps.csv", "--out", "out.html")


def test_a_field_on_graphs_has_a_report_under_either_ending(folder: Path) -> None:
    graphs = [{"nodes": [{"a": 1.0}, {"b": 1.0}, {"a": 1.0}], "edges": [(0, 1), (1, 2)]}] * 4
    field = sf.GraphCRF().fit(graphs, [["p", "q", "p"], ["p", "q", "q"], ["q", "p", "p"], ["p", "q", "p"]])
    for name in ("field.graph", "field.crf"):
        field.save(name)
        good("report", name, "--no-plots")
        assert field.fit_.certificate.verdict in text_of(read("report.html"))
