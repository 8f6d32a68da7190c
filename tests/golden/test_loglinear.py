"""Published contingency tables: log-linear models as R's ``loglin`` fits them, and as textbooks print them.

The reference numbers were computed by ``loglin(eps = 1e-12)`` under R 4.2.2 (see ``loglinear_reference/SOURCE.txt``);
R's X² is NaN where a fitted cell is zero. Numbers typed in below carry their own citations, and need no files.
"""

# ruff: noqa: SIM300 (G2 and X2 are names of statistics, not constants)

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest
from tests.conftest import DATA

import suffice as sf

NAMES = (
    "AOH", "Abortion", "AgrestiACM", "Bartlett", "Caesar", "HairEyeColor", "Heart", "Hospital", "Punishment",
    "UCBAdmissions", "lizard",
)  # fmt: skip
METHODS = ("ipf", "lbfgs", "newton", "auto")


@functools.cache
def reference(name: str) -> dict[str, Any]:
    return json.loads((DATA / "loglinear_reference" / f"{name}.json").read_text())


def array_of(entry: dict[str, Any]) -> np.ndarray:
    return np.array(entry["values_fortran_order"]).reshape(entry["dim"], order="F")


def table_of(name: str) -> sf.Contingency:
    counts = reference(name)["counts"]
    return sf.Contingency(array_of(counts), dict(zip(counts["names"], counts["levels"], strict=True)))


@functools.cache
def fitted(name: str, model: str, method: str) -> sf.Fit:
    cliques = sf.Cliques([tuple(generator) for generator in reference(name)["models"][model]["generators"]])
    return sf.fit(cliques, table_of(name), method=method, tol=1e-12, max_iter=100_000)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-8, abs=1e-8)


def models_of(name: str) -> dict[str, Any]:
    """Return what R says of each model of a table."""
    models = reference(name)["models"]
    assert models, name
    return models


def every_model(test: Any) -> Any:
    """Run a test with the name of every table; it goes through the models itself, which are in the files."""
    return pytest.mark.data(pytest.mark.parametrize("method", METHODS)(pytest.mark.parametrize("name", NAMES)(test)))


# R ------------------------------------------------------------------------------------------------------------


@every_model
def test_statistics_are_those_of_r(name: str, method: str) -> None:
    for model, expected in models_of(name).items():
        fit = fitted(name, model, method)
        assert fit.certificate.ok, (model, fit.certificate.verdict)
        assert fit.n == reference(name)["N"]
        assert fit.goodness.G2 == close(expected["G2"]), model
        assert fit.goodness.df == expected["df"], model
        assert fit.log_likelihood == close(expected["multinomial_loglik"]), model
        if expected["X2"] != "NaN":
            assert fit.goodness.X2 == close(expected["X2"]), model


@every_model
def test_fitted_cells_are_those_of_r(name: str, method: str) -> None:
    names, dim = reference(name)["counts"]["names"], reference(name)["counts"]["dim"]
    for model, expected in models_of(name).items():
        fit = fitted(name, model, method)
        cells = array_of({"dim": dim, "values_fortran_order": expected["fitted_fortran_order"]})
        found = fit.n * fit.model.query(names).values
        np.testing.assert_allclose(found, cells, rtol=1e-6, atol=1e-6, err_msg=model)
        by_name = fit.expected()["expected"]
        order = [by_name.names.index(variable) for variable in names]
        np.testing.assert_allclose(by_name.values.transpose(order), found, rtol=1e-9, atol=1e-9)


@every_model
def test_terms_are_those_of_r(name: str, method: str) -> None:
    names = reference(name)["counts"]["names"]
    for model, expected in models_of(name).items():
        if "param" not in expected:
            assert reference(name)["n_zero_cells"], "R leaves terms out where cells are zero"
            continue
        fit = fitted(name, model, method)
        terms = fit.model.u_terms(total=fit.n)
        params = dict(expected["param"])
        assert terms.constant == pytest.approx(params.pop("(Intercept)"), abs=1e-6)
        assert fit.u_terms().constant == pytest.approx(terms.constant, abs=1e-9)
        assert len(params) == len(terms)
        for term, entry in params.items():
            variables = tuple(entry["names"]) if isinstance(entry, dict) else (term,)
            values = array_of(entry) if isinstance(entry, dict) else np.array(entry)
            table = terms[variables]
            order = [table.names.index(variable) for variable in variables]
            assert set(variables) <= set(names)
            np.testing.assert_allclose(table.values.transpose(order), values, atol=1e-6, err_msg=f"{model}, {term}")


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_files_give_the_same_fits(name: str) -> None:
    """The table read from CSV, frequencies in a column, and the levels declared in their published order."""
    counts = reference(name)["counts"]
    columns = {variable: variable.replace(" ", ".") for variable in counts["names"]}
    schema = {columns[v]: sf.categorical(levels) for v, levels in zip(counts["names"], counts["levels"], strict=True)}
    path = str(DATA / "loglinear_tables" / f"{name}.csv")
    for model, expected in models_of(name).items():
        cliques = sf.Cliques([tuple(columns[v] for v in generator) for generator in expected["generators"]])
        fit = sf.fit(cliques, path, weights="Freq", schema=schema, tol=1e-12, max_iter=100_000)
        assert fit.goodness.G2 == close(expected["G2"]), model
        assert fit.log_likelihood == close(expected["multinomial_loglik"]), model
        found = fit.statistics[sf.Count(fit.structure.variables)]
        order = [fit.structure.variables.index(columns[variable]) for variable in counts["names"]]
        assert np.array_equal(found.table().transpose(order), array_of(counts))


@pytest.mark.data
@pytest.mark.parametrize("method", METHODS)
def test_where_r_gives_up_the_boundary_is_seen(method: str) -> None:
    """R: X² is NaN on 2 nominal degrees of freedom; of 24 cells 17 stay possible, and all of them are fitted."""
    fit = fitted("Caesar", next(m for m, e in reference("Caesar")["models"].items() if e["X2"] == "NaN"), method)
    assert fit.certificate.exists == "no"
    assert (fit.goodness.df, fit.goodness.df_adjusted, fit.goodness.n_possible) == (2, 0, 17)
    assert fit.goodness.X2 == pytest.approx(0, abs=1e-6)


# Textbooks ----------------------------------------------------------------------------------------------------

YES_NO = ["yes", "no"]
DRUGS = sf.Contingency(
    [[[911, 538], [44, 456]], [[3, 43], [2, 279]]], {"A": YES_NO, "C": YES_NO, "M": YES_NO}
)  # fmt: skip
"""Alcohol, cigarette and marijuana use of high-school seniors. Agresti (2002), Categorical Data Analysis, Table 8.3."""

DRUG_FITS = {
    # Agresti (2002), Table 8.4: fitted values, C and M running fastest
    "A + C + M": [540.0, 740.2, 282.1, 386.7, 90.6, 124.2, 47.3, 64.9],
    "A:C + M": [611.2, 837.8, 210.9, 289.1, 19.4, 26.6, 118.5, 162.5],
    "A:M + C:M": [909.24, 438.84, 45.76, 555.16, 4.76, 142.16, 0.24, 179.84],
    "A:C + A:M + C:M": [910.4, 538.6, 44.6, 455.4, 3.6, 42.4, 1.4, 279.6],
    "A:C:M": [911, 538, 44, 456, 3, 43, 2, 279],
}
DRUG_TESTS = {
    # Agresti (2002), Table 8.6: G², X², df
    "A + C + M": (1286.0, 1411.4, 4),
    "A + C:M": (534.2, 505.6, 3),
    "C + A:M": (939.6, 824.2, 3),
    "M + A:C": (843.8, 704.9, 3),
    "A:C + A:M": (497.4, 443.8, 2),
    "A:C + C:M": (92.0, 80.8, 2),
    "A:M + C:M": (187.8, 177.6, 2),
    "A:C + A:M + C:M": (0.4, 0.4, 1),
    "A:C:M": (0.0, 0.0, 0),
}


@pytest.mark.parametrize("model", DRUG_FITS)
def test_drug_use_fitted_values(model: str) -> None:
    found = sf.fit(sf.Cliques(model), DRUGS).expected(None)["expected"]
    order = [found.names.index(name) for name in "ACM"]
    digits = 0.0051 if model == "A:M + C:M" else 0.051
    np.testing.assert_allclose(found.values.transpose(order).reshape(-1), DRUG_FITS[model], atol=digits)


@pytest.mark.parametrize("model", DRUG_TESTS)
def test_drug_use_goodness_of_fit(model: str) -> None:
    g2, x2, df = DRUG_TESTS[model]
    found = sf.fit(sf.Cliques(model), DRUGS).goodness
    assert (found.G2, found.X2) == (pytest.approx(g2, abs=0.051), pytest.approx(x2, abs=0.051))
    assert found.df == found.df_adjusted == df


def test_drug_use_residuals() -> None:
    """Agresti (2007), An Introduction to Categorical Data Analysis, chapter 7: standardised residuals of two models."""
    pairs = sf.fit(sf.Cliques("A:C + A:M + C:M"), DRUGS).expected("adjusted")["adjusted"]
    assert np.round(np.abs(pairs.values), 2).tolist() == np.full((2, 2, 2), 0.63).tolist()
    without = sf.fit(sf.Cliques("A:M + C:M"), DRUGS).expected("adjusted")["adjusted"]
    for (a, c, m), expected in {
        ("yes", "yes", "yes"): 3.70, ("yes", "no", "yes"): -3.70, ("no", "yes", "yes"): -3.70,
        ("no", "no", "yes"): 3.70, ("yes", "yes", "no"): 12.80, ("yes", "no", "no"): -12.80,
        ("no", "yes", "no"): -12.80, ("no", "no", "no"): 12.80,
    }.items():  # fmt: skip
        assert without[{"A": a, "C": c, "M": m}] == pytest.approx(expected, abs=0.0051)


def test_drug_use_standard_errors() -> None:
    """Agresti (2002), chapter 8, the printout of SAS, in which the last states are the reference."""
    reverse = sf.Contingency(DRUGS.array[::-1, ::-1, ::-1], {"A": YES_NO[::-1], "C": YES_NO[::-1], "M": YES_NO[::-1]})
    found = sf.fit(sf.Cliques("A:C + A:M + C:M"), reverse).u_terms("corner")
    rows = dict(zip(found.terms, zip(found.estimate, found.se, strict=True), strict=True))
    printed = {
        ("A",): (0.4877, 0.0758),
        ("C",): (-1.8867, 0.1627),
        ("M",): (-5.3090, 0.4752),
        ("A", "C"): (2.0545, 0.1741),
        ("A", "M"): (2.9860, 0.4647),
        ("C", "M"): (2.8479, 0.1638),
    }
    assert rows.keys() == printed.keys()
    for term, pair in printed.items():
        assert rows[term] == pytest.approx(pair, abs=0.000051), term
    assert found.constant == pytest.approx(5.6334, abs=0.000051)


def test_drug_use_likelihood_ratios() -> None:
    """Agresti (2002), chapter 8: dropping a pair raises G² by 187.4 (A:C), 91.6 (A:M) and 497.0 (C:M), df = 1."""
    large = sf.fit(sf.Cliques("A:C + A:M + C:M"), DRUGS)
    for model, expected in {"A:M + C:M": 187.4, "A:C + C:M": 91.6, "A:C + A:M": 497.0}.items():
        found = sf.likelihood_ratio(sf.fit(sf.Cliques(model), DRUGS), large)
        assert found.G2 == pytest.approx(expected, abs=0.051)
        assert found.df == 1


BERKELEY = sf.Contingency(
    np.array([512, 313, 89, 19, 353, 207, 17, 8, 120, 205, 202, 391, 138, 279, 131, 244, 53, 138, 94, 299, 22, 351,
              24, 317]).reshape(6, 2, 2),
    {"Dept": list("ABCDEF"), "Gender": ["Male", "Female"], "Admit": ["Admitted", "Rejected"]},
)  # fmt: skip
"""Bickel, Hammel and O'Connell (1975), Science 187, 398-404; the six largest departments."""


def test_berkeley_admissions() -> None:
    """Agresti (2002), chapters 6 and 8: (AD, DG) has G² = 21.7 on 6, all pairs G² = 20.2 on 5."""
    without = sf.fit(sf.Cliques("Admit:Dept + Dept:Gender"), BERKELEY)
    pairs = sf.fit(sf.Cliques("Admit:Dept + Dept:Gender + Admit:Gender"), BERKELEY)
    assert (round(without.goodness.G2, 1), without.goodness.df) == (21.7, 6)
    assert (round(pairs.goodness.G2, 1), pairs.goodness.df) == (20.2, 5)
    found = sf.likelihood_ratio(without, pairs)
    assert found.G2 == pytest.approx(1.5312, abs=1e-3)
    assert found.p_value == pytest.approx(0.2159, abs=1e-3)
    # all of the misfit is in department A: adjusted residual 4.15 for its admitted women, otherwise small
    cells = without.expected("adjusted")["adjusted"]
    assert cells[{"Dept": "A", "Gender": "Female", "Admit": "Admitted"}] == pytest.approx(4.15, abs=0.0051)
    others = [cells[{"Dept": d, "Gender": "Female", "Admit": "Admitted"}] for d in "BCDEF"]
    assert others == pytest.approx([0.50, -0.87, 0.55, -1.00, 0.62], abs=0.0051)


def test_haberman_has_no_estimate() -> None:
    """Haberman (1974), The Analysis of Frequency Data: all margins are positive, but opposite corners are empty."""
    states = {"A": [1, 2], "B": [1, 2], "C": [1, 2]}
    for n in (1, 10):
        counts = np.full((2, 2, 2), n)
        counts[0, 0, 0] = counts[1, 1, 1] = 0
        fit = sf.fit(sf.Cliques("A:B + B:C + A:C"), sf.Contingency(counts, states))
        assert fit.certificate.exists == "no"
        assert fit.goodness.df_adjusted == 0
        np.testing.assert_allclose(fit.expected(None)["expected"].values, counts, atol=1e-6)


def test_melanoma_independence() -> None:
    """Dobson (2002), An Introduction to Generalized Linear Models, chapter 9, data of Roberts et al. (1981)."""
    counts = [[22, 2, 10], [16, 54, 115], [19, 33, 73], [11, 17, 28]]
    states = {
        "type": ["Hutchinson's", "superficial", "nodular", "indeterminate"],
        "site": ["head", "trunk", "extremities"],
    }
    found = sf.fit(sf.Cliques("type + site"), sf.Contingency(counts, states)).goodness
    assert (round(found.X2, 1), round(found.G2, 1), found.df) == (65.8, 51.8, 6)


@pytest.mark.data
def test_typed_tables_are_those_of_the_files() -> None:
    assert np.array_equal(array_of(reference("AgrestiACM")["counts"]), DRUGS.array)
    assert np.array_equal(array_of(reference("UCBAdmissions")["counts"]).T, BERKELEY.array)
    assert {path.stem for path in (DATA / "loglinear_reference").glob("*.json")} == set(NAMES)
    assert sum(len(reference(name)["models"]) for name in NAMES) == 42
