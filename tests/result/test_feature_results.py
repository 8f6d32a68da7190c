"""Goodness of fit, residuals, likelihood ratios and summaries of log-linear fits."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.result import feature_cells

EXACT: dict[str, Any] = {"tol": 1e-11, "max_iter": 20_000}
STATES = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": ["no", "yes"]}
counts_ = st.lists(st.integers(1, 60), min_size=12, max_size=12)
HAIR_EYE_SEX = [32, 53, 10, 3, 11, 50, 10, 30, 10, 25, 7, 5, 3, 15, 7, 8,
                36, 66, 16, 4, 9, 34, 7, 64, 5, 29, 7, 5, 2, 14, 7, 8]  # fmt: skip
UCB = [512, 313, 89, 19, 353, 207, 17, 8, 120, 205, 202, 391, 138, 279, 131, 244, 53, 138, 94, 299, 22, 351, 24, 317]


def table(counts: Any) -> sf.Contingency:
    return sf.Contingency(np.array(counts).reshape(2, 3, 2), STATES)


def hair() -> sf.Contingency:
    counts = np.array(HAIR_EYE_SEX).reshape(2, 4, 4).transpose(2, 1, 0)
    states = {"Hair": ["Black", "Brown", "Red", "Blond"], "Eye": ["Brown", "Blue", "Hazel", "Green"],
              "Sex": ["Male", "Female"]}  # fmt: skip
    return sf.Contingency(counts, states)


def of_reference(*scopes: str) -> sf.Features:
    return sf.Features([sf.indicators(*scope.split(":"), reference=True) for scope in scopes])


MAIN = of_reference("A", "B", "C")
SOME = of_reference("A", "B", "C", "A:B")
ORDERED = sf.Features([*MAIN.specs, sf.feature(lambda a, b: "xy".index(a) * "uvw".index(b), over=("A", "B"))])


# Goodness of fit ----------------------------------------------------------------------------------------------


def test_goodness_is_that_of_a_poisson_regression() -> None:
    """R: glm(Freq ~ (Hair+Eye+Sex)^2, poisson, …); deviance, df.residual, sum(residuals(…, "pearson")^2)."""
    fit = sf.fit(of_reference("Hair", "Eye", "Sex", "Hair:Eye", "Hair:Sex", "Eye:Sex"), hair(), **EXACT)
    assert pytest.approx(6.76125041877, abs=1e-7) == fit.goodness.G2
    assert pytest.approx(6.86902723864, abs=1e-6) == fit.goodness.X2
    assert (fit.goodness.df, fit.goodness.df_adjusted) == (9, 9)
    # R: rstandard(…, type = "pearson"), for black and brown hair, brown eyes, male.
    adjusted = fit.expected("adjusted")["adjusted"]
    assert adjusted[{"Hair": "Black", "Eye": "Brown", "Sex": "Male"}] == pytest.approx(-0.360141460430, abs=1e-6)
    assert adjusted[{"Hair": "Brown", "Eye": "Brown", "Sex": "Male"}] == pytest.approx(0.182109724590, abs=1e-6)


@settings(max_examples=15)
@given(counts=counts_)
def test_indicators_of_cliques_are_those_cliques(counts: list[int]) -> None:
    """The same model, written as redundant features and as cliques."""
    features = sf.fit(sf.Features([sf.indicators("A", "B"), sf.indicators("B", "C")]), table(counts), **EXACT)
    cliques = sf.fit(sf.Cliques("A:B + B:C"), table(counts))
    assert pytest.approx(cliques.goodness.G2, abs=1e-6) == features.goodness.G2
    assert pytest.approx(cliques.goodness.X2, abs=1e-6) == features.goodness.X2
    assert features.goodness.df == cliques.goodness.df == 3
    residuals = ("pearson", "deviance", "adjusted")
    ours, theirs = features.expected(residuals), cliques.expected(residuals)
    for name in ("observed", "expected", *residuals):
        np.testing.assert_allclose(ours[name].values, theirs[name].values, atol=1e-5)


@pytest.mark.parametrize("zeros", [[0], [0, 1], [0, 1, 2, 3], [0, 6]])
def test_on_the_boundary_parameters_are_counted_on_the_cells_that_are_left(zeros: list[int]) -> None:
    counts = np.arange(3, 15)
    counts[zeros] = 0
    scopes = [("A", "B"), ("B", "C"), ("A",), ("B",)]
    features = sf.fit(sf.Features([sf.indicators(*scope) for scope in scopes]), table(counts))
    cliques = sf.fit(sf.Cliques("A:B + B:C"), table(counts))
    ours, theirs = features.goodness, cliques.goodness
    assert (ours.n_possible, ours.df_adjusted) == (theirs.n_possible, theirs.df_adjusted)
    assert pytest.approx(theirs.G2, abs=1e-5) == ours.G2


def test_inputs_and_densities_have_no_goodness() -> None:
    given_x = sf.fit(sf.Features([sf.product("x", sf.indicator(y="b"))], given=["x"]),
                     {"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "a", "b"]})  # fmt: skip
    with pytest.raises(sf.ArgumentError, match=r"sf\.Features with inputs"):
        given_x.goodness  # noqa: B018
    with pytest.raises(sf.ArgumentError, match=r"sf\.Features with inputs"):
        given_x.expected()
    density = sf.fit(sf.Features([sf.product("x")], support={"x": (0, 1)}), {"x": [0.2, 0.4]})
    with pytest.raises(sf.ArgumentError, match="with continuous variables"):
        density.goodness  # noqa: B018


def test_pseudo_likelihood_is_no_basis_of_tests() -> None:
    fit = sf.fit(SOME, table(range(1, 13)), method="pseudo_likelihood")
    assert any("not by maximum likelihood" in remark for remark in fit.goodness.remarks)
    with pytest.raises(sf.ArgumentError, match="this fit is by 'pseudo_likelihood'"):
        fit.expected("adjusted")
    assert fit.expected("pearson")["expected"].values.sum() == pytest.approx(78)


# Likelihood ratios --------------------------------------------------------------------------------------------


def test_the_ratio_of_joint_models_is_that_of_poisson_regressions() -> None:
    """R: anova(glm(Freq ~ Hair*Eye + Sex), glm(Freq ~ (Hair+Eye+Sex)^2), test = "LRT"), both poisson."""
    small = sf.fit(of_reference("Hair", "Eye", "Sex", "Hair:Eye"), hair(), **EXACT)
    large = sf.fit(of_reference("Hair", "Eye", "Sex", "Hair:Eye", "Hair:Sex", "Eye:Sex"), hair(), **EXACT)
    found = sf.likelihood_ratio(small, large)
    assert (found.G2, found.df) == (pytest.approx(13.09531062, abs=1e-6), 6)
    assert found.p_value == pytest.approx(0.041547, abs=1e-6)


def test_the_ratio_of_conditional_models_is_that_of_logistic_regressions() -> None:
    """R: anova(glm(Admit ~ 1), glm(Admit ~ Dept), glm(Admit ~ Gender + Dept), test = "LRT"), all binomial."""
    states = {"Admit": ["Admitted", "Rejected"], "Gender": ["Male", "Female"], "Dept": list("ABCDEF")}
    data = sf.Contingency(np.array(UCB).reshape(6, 2, 2).transpose(2, 1, 0), states)
    dept = [sf.indicator(Admit="Admitted", Dept=one) for one in "ABCDEF"]
    gender = [sf.indicator(Admit="Admitted", Gender="Female")]
    nothing = sf.fit(sf.Features([sf.indicator(Admit="Admitted")]), data, **EXACT)
    middle = sf.fit(sf.Features(dept, given=["Dept"]), data, **EXACT)
    both = sf.fit(sf.Features([*gender, *dept], given=["Gender", "Dept"]), data, **EXACT)
    first, second = sf.likelihood_ratio(nothing, middle), sf.likelihood_ratio(middle, both)
    assert (first.G2, first.df) == (pytest.approx(855.3209064, abs=1e-5), 5)
    assert (second.G2, second.df) == (pytest.approx(1.5312315, abs=1e-6), 1)
    assert second.p_value == pytest.approx(0.21593, abs=1e-5)
    with pytest.raises(sf.ArgumentError, match="The reverse is true"):
        sf.likelihood_ratio(both, middle)


@pytest.mark.parametrize(
    ("small", "large", "nested"),
    [
        (MAIN, SOME, True),
        (SOME, MAIN, False),
        (ORDERED, SOME, True),  # a product of numbers is a combination of indicators
        (SOME, ORDERED, False),
        (sf.Features([sf.indicators("A"), sf.indicators("B"), sf.indicators("C")]), SOME, True),
        (sf.Cliques("A + B + C"), ORDERED, True),
        (sf.Cliques("A:B + C"), ORDERED, False),
        (ORDERED, sf.Cliques("A:B + C"), True),
        (ORDERED, sf.Cliques("A + B:C"), False),
        (sf.Cliques("A:B + C"), SOME, True),
    ],
)
def test_models_are_inside_others_by_the_span_of_their_features(small: Any, large: Any, nested: bool) -> None:
    first, second = (sf.fit(structure, table(range(5, 17)), tol=1e-10) for structure in (small, large))
    if not nested:
        with pytest.raises(sf.ArgumentError, match="is not inside"):
            sf.likelihood_ratio(first, second)
        return
    found = sf.likelihood_ratio(first, second)
    assert found.df == second.n_free - first.n_free
    assert pytest.approx(max(0.0, 2 * (second.log_likelihood - first.log_likelihood))) == found.G2


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_combinations_of_features_are_inside_and_others_are_not(seed: int) -> None:
    """Tables of random numbers over A and B: three of them, and combinations of these with a constant."""
    rng = np.random.default_rng(seed)
    tables = rng.integers(-3, 4, (3, 2, 3)).astype(float)
    mixed = np.tensordot(rng.integers(-2, 3, (2, 3)), tables, axes=1) + 5.0
    outside = rng.normal(size=(2, 3))

    def structure(values: Any) -> sf.Features:
        held = [{(a, b): float(one[i, j]) for i, a in enumerate("xy") for j, b in enumerate("uvw")} for one in values]
        specs = [sf.feature(each, over=("A", "B"), name=f"f{n}") for n, each in enumerate(held)]
        return sf.Features(specs, variables=["A", "B", "C"])

    base = sf.fit(MAIN, table(range(1, 13)))

    def fake(values: Any) -> Any:
        model = sf.LogLinear(structure(values), np.zeros(len(values)), schema=base.model.schema)
        return dataclasses.replace(base, structure=model.features, model=model)

    design = np.concatenate([tables.reshape(3, 6), np.ones((1, 6))])
    adds = np.linalg.matrix_rank(np.vstack([design, outside.reshape(1, 6)])) > np.linalg.matrix_rank(design)
    assert feature_cells.is_inside(fake(mixed), fake(tables)) is True
    assert feature_cells.is_inside(fake([outside]), fake(tables)) is not adds


def test_orders_of_states_and_variables_do_not_matter() -> None:
    counts = np.arange(5, 17).reshape(2, 3, 2)
    turned = sf.Contingency(counts.transpose(2, 0, 1)[:, :, ::-1], {"C": ["no", "yes"], "A": ["x", "y"],
                                                                   "B": ["w", "v", "u"]})  # fmt: skip
    small = sf.fit(of_reference("C", "A", "B"), turned, tol=1e-10)
    found = sf.likelihood_ratio(small, sf.fit(SOME, table(counts), tol=1e-10))
    straight = sf.likelihood_ratio(sf.fit(MAIN, table(counts), tol=1e-10), sf.fit(SOME, table(counts), tol=1e-10))
    assert (found.G2, found.df) == (pytest.approx(straight.G2, abs=1e-7), straight.df)


def test_many_variables_need_no_joint_table() -> None:
    names = [f"v{n:02}" for n in range(30)]
    rng = np.random.default_rng(3)
    data = {name: rng.integers(0, 2, 200) for name in names}
    edges = list(itertools.pairwise(names))
    chain = sf.fit(sf.Ising(edges), data)
    tied = sf.fit(sf.Ising(edges, tie="couplings"), data)  # the sum of all couplings: a combination
    units = sf.fit(sf.Boltzmann([*edges, ("v00", "v29")]), data)  # counted as 0 and 1 instead of −1 and 1
    assert sf.likelihood_ratio(tied, chain).df == 28
    assert sf.likelihood_ratio(chain, units).df == 1
    with pytest.raises(sf.ArgumentError, match="is not inside"):
        sf.likelihood_ratio(units, chain)


def test_the_boundary_counts_what_the_large_model_leaves() -> None:
    counts = np.arange(3, 15)
    counts[[0, 1]] = 0
    pairs = [sf.fit(one, table(counts)) for one in (sf.Cliques("A + B + C"), sf.Cliques("A:B + C"))]
    redundant = sf.Features([sf.indicators("A", "B"), sf.indicators("C"), sf.indicators("A")])
    ours = sf.likelihood_ratio(sf.fit(MAIN, table(counts)), sf.fit(redundant, table(counts)))
    theirs = sf.likelihood_ratio(*pairs)
    assert (ours.df, ours.G2) == (theirs.df, pytest.approx(theirs.G2, abs=1e-5))
    assert ours.remarks == theirs.remarks


def test_conditional_boundaries_count_what_is_left() -> None:
    """Given x=p the output is always a: its weight ran away, and one degree of freedom with it."""
    rows = {"x": ["p"] * 5 + ["q"] * 6 + ["r"] * 7, "y": ["a"] * 5 + ["a", "b"] * 3 + ["a", "b", "b"] * 2 + ["a"]}
    yes = sf.indicator(y="b")
    states = [sf.indicator(y="b", x=one) for one in "pqr"]
    small, large = sf.fit(sf.Features([yes]), rows), sf.fit(sf.Features(states, given=["x"]), rows)
    found = sf.likelihood_ratio(small, large)
    assert found.df == 1
    assert "without regard to that there are 2 degrees of freedom" in found.remarks[0]


def test_densities_are_compared_on_their_nodes() -> None:
    x = np.random.default_rng(0).beta(2, 3, 200)
    whole = {"support": {"x": (0, 1)}}
    one, two = sf.Features([sf.product("x")], **whole), sf.Features([sf.product("x"), sf.product("x", "x")], **whole)
    small, large = sf.fit(one, {"x": x}), sf.fit(two, {"x": x})
    found = sf.likelihood_ratio(small, large)
    assert found.df == 1
    assert pytest.approx(2 * float((large.model.log_prob({"x": x}) - small.model.log_prob({"x": x})).sum())) == found.G2
    wider = sf.fit(sf.Features([sf.product("x")], support={"x": (0, 2)}), {"x": x})
    with pytest.raises(sf.ArgumentError, match="same support"):
        sf.likelihood_ratio(wider, large)


def test_what_is_no_likelihood_is_refused_with_the_reason() -> None:
    pseudo = sf.fit(MAIN, table(range(1, 13)), method="pseudo_likelihood")
    with pytest.raises(sf.EstimationError, match="'small' fit is by 'pseudo_likelihood', whose value is no likelihood"):
        sf.likelihood_ratio(pseudo, sf.fit(SOME, table(range(1, 13))))
    sampled = dataclasses.replace(pseudo, method="stochastic")
    with pytest.raises(sf.EstimationError, match="'large' fit is by 'stochastic'"):
        sf.likelihood_ratio(sf.fit(MAIN, table(range(1, 13))), sampled)


def test_other_data_are_refused() -> None:
    yes = sf.indicator(y="b")
    one = {"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "a", "b"]}
    small = sf.fit(sf.Features([yes]), {"y": ["a", "b", "b", "b"]})
    large = sf.fit(sf.Features([yes, sf.product("x", yes)], given=["x"]), one)
    with pytest.raises(sf.ArgumentError, match=r"same data.*\['y'\] differ"):
        sf.likelihood_ratio(small, large)
    moved = sf.fit(sf.Features([sf.product("x", yes)], given=["x"]), {**one, "x": [0.0, 1.0, 2.0, 4.0]})
    with pytest.raises(sf.ArgumentError, match="same data"):
        sf.likelihood_ratio(moved, large)


def test_other_base_measures_are_refused() -> None:
    fit = sf.fit(MAIN, table(range(1, 13)))
    held = sf.LabelledTable((fit.model.schema["A"],), np.array([1.0, 2.0]), "h")
    other = sf.LogLinear(SOME, np.zeros(6), schema=fit.model.schema, base=[held])
    large = dataclasses.replace(fit, structure=SOME, model=other)
    with pytest.raises(sf.ArgumentError, match="same base measure"):
        sf.likelihood_ratio(fit, large)


def test_too_many_features_leave_nesting_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = sf.fit(ORDERED, table(range(5, 17))), sf.fit(SOME, table(range(5, 17)))
    monkeypatch.setattr(feature_cells, "uniform_covariance", lambda layout, matrix: None)
    assert sf.likelihood_ratio(sf.fit(MAIN, table(range(5, 17))), large).df == 2  # known by their terms
    with pytest.raises(sf.ArgumentError, match="could not be decided"):
        sf.likelihood_ratio(small, large)


# Summaries ----------------------------------------------------------------------------------------------------


def test_a_summary_lists_the_first_weights() -> None:
    text = str(sf.fit(SOME, table(range(1, 13))))
    assert "LogLinear(3 variables, 6 features)" in text
    assert "A=y & B=v" in text
    assert "G²" in text
    many = str(sf.fit(of_reference("Hair", "Eye", "Sex", "Hair:Eye", "Hair:Sex", "Eye:Sex"), hair()))
    assert "… 2 more features" in many
    assert "Eye=Green & Sex=Female" not in many


def test_a_large_machine_is_counted() -> None:
    names = [f"v{n}" for n in range(7)]
    rng = np.random.default_rng(4)
    data = {name: rng.integers(0, 2, 300) for name in names}
    fit = sf.fit(sf.Boltzmann(names), data)
    lines = str(fit).splitlines()
    least, largest = (f"{pick(fit.model.weights.to_numpy()[7:]):.6g}" for pick in (np.min, np.max))
    assert ["couplings", "21", least, largest] in [line.split() for line in lines]
    assert "fields" in fit._repr_html_()
    tied = str(sf.fit(sf.Ising(list(itertools.pairwise(f"v{n}" for n in range(25))), tie="fields"),
                      {f"v{n}": rng.integers(0, 2, 300) for n in range(25)}))  # fmt: skip
    assert ["fields", "1"] in [line.split()[:2] for line in tied.splitlines()]


def test_a_pseudo_likelihood_is_called_one() -> None:
    lines = str(sf.fit(MAIN, table(range(1, 13)), method="pseudo_likelihood")).splitlines()
    assert any(line.startswith("estimate") and "maximum pseudo-likelihood" in line for line in lines)
    assert any(line.startswith("pseudo-log-likelihood") for line in lines)
    assert not any(line.startswith("G²") for line in lines)


def test_targets_by_hand_are_called_so() -> None:
    text = str(sf.maxent(sf.Features([sf.product("n")]), [4.5], over={"n": [1, 2, 3, 4, 5, 6]}))
    assert "target expectations" in text
    assert math.isfinite(float(text.split("log-likelihood")[1].split(maxsplit=1)[0]))
