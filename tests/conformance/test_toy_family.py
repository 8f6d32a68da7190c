"""A family outside the library: one small package and one record are all that it needs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run
from tests.conformance.toy.waiting import Exponential, WaitingTime

import suffice as sf
from suffice import families

DATA = {"minutes": [0.5, 2.0, 1.5, 4.0]}
WAITING = WaitingTime("minutes")


@pytest.fixture(autouse=True)
def with_the_family(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(families, "FAMILIES", (*families.FAMILIES, "tests.conformance.toy.family"))
    monkeypatch.chdir(tmp_path)


def test_it_is_fitted_and_certified() -> None:
    fit = sf.fit(WAITING, DATA, certify="data")
    assert fit.model == Exponential(WAITING, 0.5)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.data_gap == 0
    assert fit.log_likelihood == pytest.approx(fit.model.log_prob(DATA).sum())
    assert "certified" in str(fit).lower()


def test_its_certificate_refuses_another_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.conformance.toy.waiting.Exponential", lambda structure, rate: Exponential(WAITING, 0.6))
    assert not sf.fit(WAITING, DATA).certificate.ok


def test_statistics_of_parts_are_added_up() -> None:
    parts = [sf.collect(WAITING, {"minutes": DATA["minutes"][start : start + 2]}) for start in (0, 2)]
    assert sf.estimate(WAITING, parts[0] + parts[1]).model == sf.fit(WAITING, DATA).model


def test_fit_and_model_are_saved_and_loaded() -> None:
    fit = sf.fit(WAITING, DATA)
    sf.write(fit, "fit.json")
    sf.write(fit.model, "model.json")
    again = sf.read("fit.json")
    assert (again.structure, again.model, again.certificate) == (fit.structure, fit.model, fit.certificate)
    np.testing.assert_array_equal(sf.read("model.json").log_prob(DATA), fit.model.log_prob(DATA))


def test_a_file_of_another_structure_is_refused() -> None:
    sf.write(sf.fit(WAITING, DATA), "fit.json")
    text = Path("fit.json").read_text(encoding="utf-8")
    entry = json.loads(text)
    entry["content"]["structure"]["variable"] = "hours"
    Path("fit.json").write_text(json.dumps(entry), encoding="utf-8")
    with pytest.raises(sf.FileFormatError, match="another structure"):
        sf.read("fit.json")


def test_it_has_a_report() -> None:
    sf.fit(WAITING, DATA).report("report.html")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Exponential distribution: minutes" in page


def test_the_command_line_fits_and_describes_it() -> None:
    Path("waiting.toml").write_text('type = "WaitingTime"\nvariable = "minutes"\n', encoding="utf-8")
    Path("rows.csv").write_text("minutes\n0.5\n2.0\n1.5\n4.0\n", encoding="utf-8")
    fitted = run("fit", "waiting.toml", "rows.csv", "--out", "model.json", "--quiet")
    assert fitted.exit_code == 0, fitted.stderr
    assert sf.read("model.json") == Exponential(WAITING, 0.5)
    assert "WaitingTime" in run("info", "waiting.toml").stdout
    assert "0.5" in run("info", "model.json").stdout
    planned = run("info", "waiting.toml", "rows.csv")
    assert planned.exit_code == 0, planned.stderr
    written = run("report", "model.json", "--out", "page.html")
    assert written.exit_code == 0, written.stderr
    refused = run("query", "model.json")
    assert "cannot be asked on the command line" in refused.stderr


def test_it_is_unknown_without_its_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.raises(sf.ArgumentError, match="Got WaitingTime"):
        sf.fit(WAITING, DATA)
