"""Four log-linear models of one published table, compared as R compares them.

Student admissions at Berkeley (Bickel, Hammel and O'Connell, 1975), R's ``UCBAdmissions``; lizards on their perches
(Bishop, Fienberg and Holland, 1975); hair and eye colours of students (Snee, 1974), R's ``HairEyeColor``. G², df and
the multinomial log-likelihood are from ``loglin(eps = 1e-12)`` under R 4.2.2 (see ``loglinear_reference/SOURCE.txt``).
"""

# ruff: noqa: SIM300 (G2 is the name of a statistic, not a constant)

from __future__ import annotations

import pytest
from tests.golden.test_loglinear import reference, table_of

import suffice as sf

FOUR = {
    "UCBAdmissions": ("independence", "AG_D", "AD_GD", "all_two_way"),
    "lizard": ("independence", "D_HS", "DS_HS", "all_two_way"),
    "HairEyeColor": ("independence", "HE_S", "HE_HS", "all_two_way"),
}
DIRECTED = {"independence": "Admit; Gender; Dept", "AG_D": "Gender -> Admit; Dept", "AD_GD": "Admit <- Dept -> Gender"}


def models_of(name: str) -> dict[str, sf.Cliques]:
    entries = reference(name)["models"]
    cliques = {model: sf.Cliques([tuple(g) for g in entries[model]["generators"]]) for model in FOUR[name]}
    return {**cliques, "saturated": sf.Cliques([tuple(reference(name)["counts"]["names"])])}


@pytest.mark.data
@pytest.mark.parametrize("name", FOUR)
def test_deviances_degrees_of_freedom_and_criteria_are_those_of_r(name: str) -> None:
    expected = reference(name)["models"]
    found = sf.compare(models_of(name), table_of(name), folds=None, tol=1e-12)
    assert found.n == reference(name)["N"]
    tests = {(one.small, one.large): one for one in found.tests}
    for model in FOUR[name]:
        against = tests[model, "saturated"]
        assert against.test.G2 == pytest.approx(expected[model]["G2"], rel=1e-8), model
        assert against.df == against.test.df == expected[model]["df"], model
        assert found[model].log_likelihood == pytest.approx(expected[model]["multinomial_loglik"], rel=1e-10)
    # AIC = G² − 2 df but for a constant that all models share.
    wanted = {model: expected[model]["G2"] - 2 * expected[model]["df"] for model in FOUR[name]} | {"saturated": 0.0}
    best = min(wanted, key=wanted.__getitem__)
    assert found.best("aic") == best
    frame = found.to_frame().set_index("model")
    for model, aic in wanted.items():
        assert frame.loc[model, "aic_difference"] == pytest.approx(aic - wanted[best], rel=1e-8, abs=1e-7), model


@pytest.mark.data
@pytest.mark.parametrize("name", FOUR)
def test_differences_of_nested_models_are_those_of_their_deviances(name: str) -> None:
    expected = reference(name)["models"]
    tests = sf.compare(models_of(name), table_of(name), folds=None, tol=1e-12).tests
    between = {(one.small, one.large): one for one in tests if one.large != "saturated"}
    assert ("independence", "all_two_way") in between
    assert len(between) >= 5
    for (small, large), one in between.items():
        assert one.test.G2 == pytest.approx(expected[small]["G2"] - expected[large]["G2"], rel=1e-7, abs=1e-7)
        assert one.df == expected[small]["df"] - expected[large]["df"]


@pytest.mark.data
def test_networks_that_say_the_same_as_cliques_have_their_numbers() -> None:
    expected = reference("UCBAdmissions")["models"]
    models = {model: sf.DAG(text) for model, text in DIRECTED.items()}
    models["saturated"] = sf.Cliques("Admit:Gender:Dept")  # type: ignore[assignment]
    found = sf.compare(models, table_of("UCBAdmissions"), folds=None)
    tests = {(one.small, one.large): one for one in found.tests}
    for model in DIRECTED:
        assert tests[model, "saturated"].test.G2 == pytest.approx(expected[model]["G2"], rel=1e-8)
        assert tests[model, "saturated"].df == expected[model]["df"]
    assert tests["independence", "AG_D"].df == 1
    assert ("AG_D", "AD_GD") not in tests
