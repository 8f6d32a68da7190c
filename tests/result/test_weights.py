"""Weights of a fit with their standard errors, against R and against curvatures taken by brute force."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.inference.clique_family import Layout
from suffice.inference.pseudo_family import PseudoFamily
from suffice.models.feature_design import design_of
from suffice.result import weights as weights_module

EXACT: dict[str, Any] = {"tol": 1e-11, "max_iter": 20_000}
STATES = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": ["no", "yes"]}
CELLS = list(itertools.product(*STATES.values()))
counts_ = st.lists(st.integers(1, 60), min_size=12, max_size=12)


def table(counts: Any) -> sf.Contingency:
    return sf.Contingency(np.array(counts).reshape(2, 3, 2), STATES)


def numbers(a: str, b: str) -> float:
    return ("xy".index(a) * 2.5 + 1) * "uvw".index(b) ** 2 - 1


FEATURES = sf.Features(
    [
        sf.indicator(A="y"),
        sf.indicators("B", reference=True),
        sf.feature(numbers, over=("A", "B"), name="numbers"),
        sf.indicator(B="w", C="yes"),
    ]
)
ON_CELLS = np.array(
    [[a == "y", b == "v", b == "w", numbers(a, b), b == "w" and c == "yes"] for a, b, c in CELLS], float
)


def covariance_of(f: np.ndarray, p: np.ndarray) -> np.ndarray:
    gaps = f - p @ f
    return gaps.T @ (p[:, None] * gaps)


def on_cells(weights: np.ndarray, f: np.ndarray = ON_CELLS) -> np.ndarray:
    scores = np.exp(f @ weights)
    return scores / scores.sum()


# Against R ----------------------------------------------------------------------------------------------------

HAIR_EYE_SEX = [32, 53, 10, 3, 11, 50, 10, 30, 10, 25, 7, 5, 3, 15, 7, 8,
                36, 66, 16, 4, 9, 34, 7, 64, 5, 29, 7, 5, 2, 14, 7, 8]  # fmt: skip
HAIR, EYE, SEX = ["Black", "Brown", "Red", "Blond"], ["Brown", "Blue", "Hazel", "Green"], ["Male", "Female"]
UCB = [512, 313, 89, 19, 353, 207, 17, 8, 120, 205, 202, 391, 138, 279, 131, 244, 53, 138, 94, 299, 22, 351, 24, 317]
MTCARS = {
    "am": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1],
    "wt": [2.62, 2.875, 2.32, 3.215, 3.44, 3.46, 3.57, 3.19, 3.15, 3.44, 3.44, 4.07, 3.73, 3.78, 5.25, 5.424, 5.345,
           2.2, 1.615, 1.835, 2.465, 3.52, 3.435, 3.84, 3.845, 1.935, 2.14, 1.513, 3.17, 2.77, 3.57, 2.78],
    "hp": [110.0, 110, 93, 110, 175, 105, 245, 62, 95, 123, 123, 180, 180, 180, 205, 215, 230, 66, 52, 65, 97, 150,
           150, 245, 175, 66, 91, 113, 264, 175, 335, 109],
}  # fmt: skip


def of_reference(*scopes: str) -> list[Any]:
    return [sf.indicators(*scope.split(":"), reference=True) for scope in scopes]


def test_a_joint_model_has_the_errors_of_a_poisson_regression() -> None:
    """R: glm(Freq ~ (Hair+Eye+Sex)^2, poisson, as.data.frame(HairEyeColor)); estimate and standard error."""
    counts = np.array(HAIR_EYE_SEX).reshape(2, 4, 4).transpose(2, 1, 0)
    data = sf.Contingency(counts, {"Hair": HAIR, "Eye": EYE, "Sex": SEX})
    features = of_reference("Hair", "Eye", "Sex", "Hair:Eye", "Hair:Sex", "Eye:Sex")
    found = sf.fit(sf.Features(features), data, **EXACT).weights()
    published = {
        "Hair=Brown": (0.471022937693, 0.195524588174),
        "Hair=Blond": (-2.834619014852, 0.443465065698),
        "Eye=Green": (-2.385398316511, 0.479824837356),
        "Sex=Female": (0.071062795510, 0.205189190606),
        "Hair=Blond & Eye=Blue": (3.912241210427, 0.471553383627),
        "Hair=Red & Eye=Green": (2.024876403495, 0.571600162496),
        "Hair=Blond & Sex=Female": (0.897436909480, 0.297034739982),
        "Eye=Green & Sex=Female": (-0.492068819797, 0.296614206779),
    }
    for name, (estimate, se) in published.items():
        assert found[name].estimate == pytest.approx(estimate, abs=1e-7)
        assert found[name].se == pytest.approx(se, rel=1e-6)
    assert found["Hair=Blond & Sex=Female"].z == pytest.approx(3.021319693224, rel=1e-6)
    assert found.remarks == ()


def test_a_conditional_model_has_the_errors_of_a_logistic_regression() -> None:
    """R: glm(Admit == "Admitted" ~ Gender + Dept, binomial, as.data.frame(UCBAdmissions), weights = Freq)."""
    counts = np.array(UCB).reshape(6, 2, 2).transpose(2, 1, 0)
    states = {"Admit": ["Admitted", "Rejected"], "Gender": ["Male", "Female"], "Dept": list("ABCDEF")}
    admitted = sf.indicator(Admit="Admitted")
    inputs = [sf.indicator(Admit="Admitted", Gender="Female")]
    inputs += [sf.indicator(Admit="Admitted", Dept=dept) for dept in "BCDEF"]
    structure = sf.Features([admitted, *inputs], given=["Gender", "Dept"])
    found = sf.fit(structure, sf.Contingency(counts, states), **EXACT).weights()
    estimates = [0.5820513952760, 0.0998700881593, -0.0433979312092, -1.2625980223792, -1.2946064687482,
                 -1.7393057378155, -3.3064800558869]  # fmt: skip
    errors = [0.0689925968488, 0.0808464647066, 0.1098388983152, 0.1066328855044, 0.1058234234646, 0.1261134956195,
              0.1699817646229]  # fmt: skip
    np.testing.assert_allclose(found.estimate, estimates, atol=1e-7)
    np.testing.assert_allclose(found.se, errors, rtol=1e-6)


def test_continuous_inputs_have_the_covariance_of_a_logistic_regression() -> None:
    """R: vcov(glm(am ~ wt + hp, binomial, mtcars, epsilon = 1e-14))."""
    yes = sf.indicator(am=1)
    structure = sf.Features([yes, sf.product("wt", yes), sf.product("hp", yes)], given=["wt", "hp"])
    fit = sf.fit(structure, MTCARS, schema={"hp": sf.continuous()}, method="newton", tol=1e-10)
    found = fit.weights()
    np.testing.assert_allclose(found.estimate, [18.8662987172041, -8.0834751824446, 0.0362555960822], rtol=1e-5)
    expected = [
        [55.4065565956469, -22.0370575808231, 0.0778178878033],
        [-22.0370575808231, 9.4167669494813, -0.0418323880356],
        [0.0778178878033, -0.0418323880356, 0.000314500205709],
    ]
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-4)
    np.testing.assert_allclose(found.p, [0.01125819871661, 0.00843381259971, 0.04091464645903], rtol=1e-4)


def test_many_outputs_have_the_errors_of_a_multinomial_regression() -> None:
    """R: he <- as.data.frame(margin.table(HairEyeColor, 1:2)); s <- as.numeric(he$Hair) - 1.

    glm(Freq ~ Hair + Eye + I(s*(Eye=="Blue")) + I(s*(Eye=="Hazel")) + I(s*(Eye=="Green")), poisson, he) has the
    likelihood of a multinomial regression of Eye on s, the counts of Hair being fitted exactly.
    """
    counts = np.array(HAIR_EYE_SEX).reshape(2, 4, 4).sum(axis=0).T
    rows = [(s, eye, counts[s, e]) for s in range(4) for e, eye in enumerate(EYE)]
    data = {"s": [float(s) for s, _, _ in rows], "Eye": [eye for _, eye, _ in rows], "n": [n for *_, n in rows]}
    each = [sf.indicator(Eye=eye) for eye in EYE[1:]]
    structure = sf.Features([*each, *(sf.product("s", one) for one in each)], given=["s"])
    schema = {"s": sf.continuous(), "Eye": EYE}
    found = sf.fit(structure, data, weights="n", schema=schema, **EXACT).weights()
    estimates = [-1.536266912873, -1.342588305400, -2.373981992220, 1.146374468272, 0.467895030588, 0.932687034171]
    errors = [0.187803815585, 0.201747063796, 0.265294759369, 0.122864555978, 0.146166244505, 0.158823002462]
    np.testing.assert_allclose(found.estimate, estimates, atol=1e-7)
    np.testing.assert_allclose(found.se, errors, rtol=1e-6)


# Against the covariance of all cells --------------------------------------------------------------------------


@settings(max_examples=30)
@given(counts=counts_)
def test_the_covariance_is_the_inverse_of_fisher_s_information(counts: list[int]) -> None:
    found = sf.fit(FEATURES, table(counts), **EXACT).weights()
    information = sum(counts) * covariance_of(ON_CELLS, on_cells(found.estimate))
    np.testing.assert_allclose(found.covariance, np.linalg.inv(information), rtol=1e-5, atol=1e-9)


@settings(max_examples=20)
@given(counts=counts_, level=st.floats(0.01, 0.999))
def test_columns_follow_from_estimate_and_error(counts: list[int], level: float) -> None:
    found = sf.fit(FEATURES, table(counts)).weights(level)
    np.testing.assert_allclose(found.z, found.estimate / found.se)
    np.testing.assert_allclose(found.p, 2 * stats.norm.sf(np.abs(found.z)))
    low, high = stats.norm.interval(level, found.estimate, found.se)
    np.testing.assert_allclose(found.lower, low, atol=1e-12)
    np.testing.assert_allclose(found.upper, high, atol=1e-12)


@settings(max_examples=20)
@given(counts=counts_, seed=st.integers(0, 1000))
def test_weights_outside_all_relations_have_the_errors_of_the_smaller_model(counts: list[int], seed: int) -> None:
    """All states of B are dependent; whatever their order, the others' errors are those without one of them."""
    others = [sf.indicator(A="y"), sf.indicator(A="y", C="yes")]
    specs = [sf.indicators("B"), *others, sf.feature(lambda a: 7, over="A", name="seven")]
    order = np.random.default_rng(seed).permutation(len(specs))
    found = sf.fit(sf.Features([specs[i] for i in order]), table(counts), **EXACT).weights()
    small = sf.fit(sf.Features([sf.indicators("B", reference=True), *others]), table(counts), **EXACT).weights()
    for name in ("A=y", "A=y & C=yes"):
        assert found[name].se == pytest.approx(small[name].se, rel=1e-6)
    assert np.isnan([found[name].se for name in ("B=u", "B=v", "B=w", "seven")]).all()
    assert any("4 weights without standard errors: by 2 relations" in remark for remark in found.remarks)
    assert any("[B=u] + [B=v] + [B=w] = constant" in remark for remark in found.remarks)


def test_tied_weights_have_the_error_of_their_sum() -> None:
    tied = sf.Features([sf.indicator(A="y"), sf.indicator(C="yes")], tie={"both": ["A=y", "C=yes"]}, variables=["B"])
    found = sf.fit(tied, table(range(1, 13)), **EXACT).weights()
    f = np.array([[(a == "y") + (c == "yes")] for a, _, c in CELLS], float)
    variance = covariance_of(f, on_cells(found.estimate, f))[0, 0]
    assert found["both"].se == pytest.approx(1 / math.sqrt(78 * variance), rel=1e-7)


def test_a_long_chain_needs_no_joint_table() -> None:
    """Every pair of a chain saturates: a coupling's error is that of the pair's own table."""
    names = [f"v{n:02}" for n in range(40)]
    rng = np.random.default_rng(3)
    data = {name: rng.integers(0, 2, 500) for name in names}
    fit = sf.fit(sf.Ising(list(itertools.pairwise(names)), values=(0, 1)), data, tol=1e-10)
    counts = fit.statistics[sf.Count(("v07", "v08"))].table()
    assert fit.weights()["v07:v08"].se == pytest.approx(math.sqrt((1 / counts).sum()), rel=1e-6)


def test_joint_tables_and_trees_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"v{n:02}" for n in range(13)]
    rng = np.random.default_rng(5)
    data = {name: rng.integers(0, 2, 300) for name in names}
    fit = sf.fit(sf.Ising([*itertools.pairwise(names), ("v00", "v12")]), data)
    on_table = fit.weights().covariance
    monkeypatch.setattr(weights_module, "JOINT_CELLS", 0)
    np.testing.assert_allclose(fit.weights().covariance, on_table, rtol=1e-7, atol=1e-12)


def test_densities_have_the_errors_of_their_integrals() -> None:
    """A normal distribution by its features x and x²: the covariance of the weights follows from its moments."""
    x = np.random.default_rng(2).normal(1.0, 2.0, 400)
    structure = sf.Features([sf.product("x"), sf.product("x", "x")], support={"x": (-math.inf, math.inf)})
    found = sf.fit(structure, {"x": x}, tol=1e-9).weights()
    mean, variance = x.mean(), x.var()
    moments = np.array([[variance, 2 * mean * variance], [0, 4 * mean**2 * variance + 2 * variance**2]])
    moments[1, 0] = moments[0, 1]
    np.testing.assert_allclose(found.covariance, np.linalg.inv(400 * moments), rtol=1e-5)


# Under priors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "main"), [(0.7, None), (1.5, 0.4), (0.3, math.inf)])
@settings(max_examples=10)
@given(counts=counts_)
def test_a_gaussian_penalty_adds_its_curvature(width: float, main: float | None, counts: list[int]) -> None:
    found = sf.fit(FEATURES, table(counts), prior=sf.Gaussian(width, main), **EXACT).weights()
    widths = np.array([width if main is None else main] * 3 + [width] * 2)
    information = sum(counts) * covariance_of(ON_CELLS, on_cells(found.estimate)) + np.diag(1 / widths**2)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(information), rtol=1e-5, atol=1e-9)
    assert "Laplace's approximation" in found.remarks[0]


def test_a_gaussian_penalty_determines_all_weights_that_it_holds() -> None:
    structure = sf.Features([sf.indicators("B"), sf.indicators("A", "C")])
    held = sf.fit(structure, table(range(1, 13)), prior=sf.Gaussian(1.0)).weights()
    assert np.isfinite(held.se).all()
    partly = sf.fit(structure, table(range(1, 13)), prior=sf.Gaussian(1.0, main=math.inf)).weights()
    assert [name for name, se in zip(partly.names, partly.se, strict=True) if math.isnan(se)] == ["B=u", "B=v", "B=w"]


def test_a_prior_alone_has_its_own_width() -> None:
    fit = sf.fit(FEATURES, table([0] * 12), prior=sf.Gaussian(0.5), schema=STATES)
    np.testing.assert_allclose(fit.weights().se, 0.5)


# Pseudo-likelihood --------------------------------------------------------------------------------------------


def test_pseudo_likelihood_has_the_sandwich_s_errors() -> None:
    counts = np.arange(1, 13)
    fit = sf.fit(FEATURES, table(counts), method="pseudo_likelihood", tol=1e-10)
    design = design_of(FEATURES, fit.model.schema)
    codes = np.array(list(itertools.product(range(2), range(3), range(2))))
    layout = Layout((2, 3, 2), design.layout.scopes)
    sandwich = PseudoFamily(layout, design.matrix, codes, counts).sandwich(fit.model.weights.to_numpy())
    np.testing.assert_allclose(fit.weights().covariance, sandwich, rtol=1e-6)
    assert "sandwich" in fit.weights().remarks[0]


@settings(max_examples=30)
@given(counts=st.lists(st.integers(1, 60), min_size=4, max_size=4))
def test_pseudo_likelihood_of_all_pairs_is_as_good_as_likelihood(counts: list[int]) -> None:
    """With two variables and all their features, both estimates are one function of the data."""
    data = sf.Contingency(np.array(counts).reshape(2, 2), {"A": ["x", "y"], "B": ["u", "v"]})
    structure = sf.Features([sf.indicator(A="y"), sf.indicator(B="v"), sf.indicator(A="y", B="v")])
    found = sf.fit(structure, data, method="pseudo_likelihood", tol=1e-11).weights()
    m = np.array(counts, float)
    np.testing.assert_allclose(found.se**2, [1 / m[0] + 1 / m[2], 1 / m[0] + 1 / m[1], (1 / m).sum()], rtol=1e-5)


def test_pseudo_likelihood_leaves_dependent_weights_without_errors() -> None:
    structure = sf.Features([sf.indicators("B"), sf.indicator(A="y"), sf.indicator(A="y", C="yes")])
    found = sf.fit(structure, table(range(1, 13)), method="pseudo_likelihood").weights()
    assert np.isnan(found.se).tolist() == [True, True, True, False, False]


# Where there are none -----------------------------------------------------------------------------------------


def test_weights_that_ran_away_have_none_and_the_others_have_those_of_what_is_left() -> None:
    counts = np.array([[5, 0], [3, 4], [2, 6]])
    features = [sf.indicator(B="v"), sf.indicator(B="w"), sf.indicator(C="yes"), sf.indicator(B="u", C="yes")]
    fit = sf.fit(sf.Features(features), sf.Contingency(counts, {"B": STATES["B"], "C": STATES["C"]}), tol=1e-10)
    found = fit.weights()
    assert found["B=u & C=yes"].estimate == -math.inf
    assert math.isnan(found["B=u & C=yes"].se)
    f = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1]], float)
    expected = np.linalg.inv(20 * covariance_of(f, on_cells(found.estimate[:3], f)))
    np.testing.assert_allclose(found.covariance[:3, :3], expected, rtol=1e-6)
    assert found.remarks == ("no standard errors where weights ran away: B=u & C=yes",)


def test_what_the_boundary_leaves_constant_has_none() -> None:
    """Without B=u, nothing is left of the indicator of B=u and C=yes but a constant."""
    counts = np.array([[0, 0], [3, 4], [2, 6]])
    features = [sf.indicator(B="u"), sf.indicator(B="w"), sf.indicator(C="yes"), sf.indicator(B="u", C="yes")]
    data = sf.Contingency(counts, {"B": STATES["B"], "C": STATES["C"]})
    found = sf.fit(sf.Features(features), data, tol=1e-10).weights()
    assert np.isnan(found.se).tolist() == [True, False, False, True]
    assert found["B=w"].se == pytest.approx(math.sqrt(1 / 7 + 1 / 8), rel=1e-6)


def test_targets_by_hand_have_none() -> None:
    found = sf.maxent(sf.Features([sf.indicator(A="y")]), [0.3], over={"A": ["x", "y"]}).weights()
    assert found.estimate == pytest.approx([math.log(3 / 7)], abs=1e-6)
    assert np.isnan(found.se).all()
    assert "no sampling error" in str(found)


def test_a_fit_that_is_not_certified_says_so() -> None:
    fit = sf.fit(FEATURES, table(range(1, 13)), method="gis", max_iter=2)
    assert "not certified" in fit.weights().remarks[-1]


# How it looks -------------------------------------------------------------------------------------------------


def test_the_table_prints_and_converts() -> None:
    fit = sf.fit(sf.Features([sf.indicators("B"), sf.indicator(A="y")]), table(range(1, 13)))
    found = fit.weights(0.9)
    lines = str(found).splitlines()
    assert lines[0].split() == ["feature", "weight", "std.", "error", "z", "p", "90", "%", "from", "to"]
    assert (lines[2].split()[0], lines[2].split()[2:]) == ("B=u", ["-"] * 5)
    assert lines[5].split()[:3] == ["A=y", f"{math.log(57 / 21):.4f}", f"{math.sqrt(1 / 57 + 1 / 21):.4f}"]
    assert "<table>" in found._repr_html_()
    frame = found.to_frame("pandas")
    assert list(frame.columns) == ["feature", "estimate", "se", "z", "p", "lower", "upper"]
    assert list(frame["feature"]) == list(found.names) == ["B=u", "B=v", "B=w", "A=y"]
    assert len(found) == 4
    with pytest.raises(ValueError, match="read-only"):
        found.covariance[0, 0] = 1.0


def test_long_tables_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_module, "SHOWN_ROWS", 2)
    assert "… 3 more rows" in str(sf.fit(FEATURES, table(range(1, 13))).weights())


def test_an_unknown_weight_is_answered_with_those_that_exist() -> None:
    found = sf.fit(FEATURES, table(range(1, 13))).weights()
    with pytest.raises(sf.UnknownNameError, match=r"no feature 'A=x'.*'A=y'"):
        found["A=x"]


# What is refused ----------------------------------------------------------------------------------------------


def test_fits_without_weights_are_refused() -> None:
    with pytest.raises(
        sf.ArgumentError, match=r"those of sf\.Cliques are fit\.u_terms\(\)\. This fit is of sf\.Cliques"
    ):
        sf.fit(sf.Cliques("A + B + C"), table(range(1, 13))).weights()
    with pytest.raises(sf.ArgumentError, match=r"This fit is of sf\.DAG\.$"):
        sf.fit(sf.DAG("A -> B"), {"A": ["x", "y"], "B": ["u", "u"]}).weights()


def test_a_kink_is_refused() -> None:
    fit = sf.fit(FEATURES, table(range(1, 13)), prior=sf.Laplace(1.0))
    with pytest.raises(sf.EstimationError, match="kink at zero"):
        fit.weights()


def test_too_many_weights_are_refused_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_module, "MAX_WEIGHTS", 4)
    with pytest.raises(sf.EstimationError, match="5 weights, and standard errors are given for up to 4"):
        sf.fit(FEATURES, table(range(1, 13))).weights()


def test_no_rows_leave_the_information_singular() -> None:
    fit = sf.fit(FEATURES, table(range(1, 13)))
    with pytest.raises(sf.EstimationError, match="singular"):
        dataclasses.replace(fit, statistics=fit.statistics * 0).weights()


def test_a_graph_too_wide_names_what_remains() -> None:
    names = [f"v{n:02}" for n in range(36)]
    rng = np.random.default_rng(1)
    data = {name: rng.integers(0, 2, 200) for name in names}
    fit = sf.fit(sf.Boltzmann(names), data, method="pseudo_likelihood", prior=sf.Gaussian(1.0))
    assert len(fit.weights()) == 666
    wide = dataclasses.replace(fit, method="stochastic")
    with pytest.raises(sf.EstimationError, match=r"out of reach.*method='pseudo_likelihood'"):
        wide.weights()


def test_a_sampled_fit_has_the_errors_of_likelihood() -> None:
    fit = sf.fit(FEATURES, table(range(1, 13)))
    sampled = dataclasses.replace(fit, method="stochastic").weights()
    np.testing.assert_array_equal(sampled.se, fit.weights().se)
    assert "Monte-Carlo error" in sampled.remarks[0]
