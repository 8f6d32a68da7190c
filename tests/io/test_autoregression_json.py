"""Fits and models of autoregressions in the library's own JSON, and their structures in files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from tests.command_line import good
from tests.conformance.copies import check_copies

import suffice as sf
from suffice.io.structure_file import read_structure

RNG = np.random.default_rng(7)
SEQUENCES = [np.cumsum(RNG.normal(size=(n, 2)), axis=0) for n in (30, 8, 9, 7, 8, 6, 9)]
TABLE = {
    "who": np.repeat(np.arange(7), [len(rows) for rows in SEQUENCES]),
    "day": np.concatenate([np.arange(len(rows)) for rows in SEQUENCES]),
    "x": np.concatenate([rows[:, 0] for rows in SEQUENCES]),
    "y": np.concatenate([rows[:, 1] for rows in SEQUENCES]),
}
STRUCTURES = {
    "unnamed": (sf.Autoregression(2), SEQUENCES),
    "order 0": (sf.Autoregression(0, ["x", "y"]), SEQUENCES),
    "long table": (sf.Autoregression(1, ["x", "y"], id="who", time="day", divisor="n-p"), TABLE),
    "through zero": (sf.Autoregression(1, "x", id="who", time="day", intercept=False), TABLE),
    "first values": (sf.Autoregression(2, initial="normal"), SEQUENCES),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_fit_can_be_copied_and_saved(name: str, tmp_path) -> None:
    structure, data = STRUCTURES[name]
    fit = sf.fit(structure, data)
    assert fit.certificate.ok, fit.certificate.verdict
    check_copies(fit, data, tmp_path)
    again = sf.read(tmp_path / "fit.json")
    assert sf.estimate(again.structure, again.statistics).log_likelihood == fit.log_likelihood


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_model_that_was_read_can_be_fitted_anew(name: str, tmp_path) -> None:
    structure, data = STRUCTURES[name]
    model = sf.fit(structure, data).model
    sf.write(model, tmp_path / "model.json")
    again = sf.read(tmp_path / "model.json")
    assert (again.id, again.time) == (structure.id, structure.time)
    found = read_structure(str(tmp_path / "model.json"))
    assert (found.order, found.variables) == (structure.order, model.variables)
    assert sf.fit(found, data).n == sf.fit(structure, data).n


def test_a_posterior_can_be_copied_and_saved(tmp_path) -> None:
    data = [rows[:, 0] for rows in SEQUENCES]
    check_copies(sf.fit(sf.Autoregression(1), data, prior=sf.NormalInverseGamma(2, 1.0)), data, tmp_path)


DAMAGE = {
    "another order": (lambda content: content["structure"].update(order=1), "another structure"),
    "other variables": (lambda content: content["structure"].update(variables=["x", "z"]), "another structure"),
    "another id": (lambda content: content["structure"].update(id="site"), "another structure"),
    "an intercept": (lambda content: content["structure"].update(intercept=False), "another structure"),
    "first values": (lambda content: content["structure"].update(initial="normal"), "another structure"),
    "an odd divisor": (lambda content: content["structure"].update(divisor="n-1"), "divisor"),
    "an odd setting": (lambda content: content["structure"].update(lags=1), "lags"),
    "no covariance": (lambda content: content["model"].update(covariance=[[0, 0], [0, 1]]), "not positive definite"),
    "a lost coefficient": (lambda content: content["model"]["coefficients"].pop(), "another structure"),
    "a number that is none": (lambda content: content["model"].update(intercept=[None, 1]), "finite"),
    "a local likelihood of nothing": (lambda content: content["local"].update(z=1.0), "local"),
    "a prior on tables": (lambda content: content.update(prior={"type": "K2"}), "prior"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found(name: str, tmp_path) -> None:
    path = tmp_path / "fit.json"
    sf.write(sf.fit(sf.Autoregression(2, ["x", "y"]), SEQUENCES), path)
    entry = json.loads(path.read_text())
    spoil, word = DAMAGE[name]
    spoil(entry["content"])
    path.write_text(json.dumps(entry))
    with pytest.raises(sf.FileFormatError, match=word):
        sf.read(path)


def test_statistics_of_other_windows_are_found(tmp_path) -> None:
    path = tmp_path / "fit.json"
    sf.write(sf.fit(sf.Autoregression(1), SEQUENCES), path)
    entry = json.loads(path.read_text())
    sf.write(sf.fit(sf.Autoregression(2), SEQUENCES), path)
    entry["content"]["statistics"] = json.loads(path.read_text())["content"]["statistics"]
    path.write_text(json.dumps(entry))
    with pytest.raises(sf.FileFormatError):
        sf.read(path)


def test_the_command_line_fits_a_structure_file(tmp_path) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "ar.toml").write_text(
        'type = "Autoregression"\norder = 2\nvariables = ["x", "y"]\nid = "who"\ntime = "day"\n'
    )
    out = str(tmp_path / "model.json")
    assert "Certified" in good("fit", tmp_path / "ar.toml", tmp_path / "t.csv", "--out", out)
    wanted = sf.fit(sf.Autoregression(2, ["x", "y"]), SEQUENCES).model
    np.testing.assert_allclose(sf.read(out).coefficients, wanted.coefficients, rtol=1e-9)


def test_a_structure_file_in_json(tmp_path) -> None:
    path = tmp_path / "ar.json"
    path.write_text(json.dumps({"type": "Autoregression", "order": 1, "variables": ["x", "y"], "intercept": False}))
    assert read_structure(str(path)) == sf.Autoregression(1, ["x", "y"], intercept=False)
