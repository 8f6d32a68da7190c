"""Dirichlet priors and their posteriors, against exact arithmetic and against scipy's beta distribution."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from tests.learn.test_directed import Case, assert_cells, cases, cells_of

import suffice as sf

PRIORS = [sf.K2(), sf.Jeffreys(), sf.BDeu(1), sf.BDeu(10), sf.BDeu(0.3), sf.Dirichlet(0.25), sf.Dirichlet(3.0)]


def alpha_of(prior: Any, case: Case, node: str) -> Fraction:
    """Return the pseudo-count of one cell, by the definition of the prior."""
    if isinstance(prior, sf.BDeu):
        return Fraction(prior.ess) / math.prod(len(case.states[name]) for name in (*case.parents[node], node))
    if isinstance(prior, sf.Dirichlet):
        return Fraction(prior.alpha_)
    return Fraction(1) if isinstance(prior, sf.K2) else Fraction(1, 2)


def log_of(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


# The mean -----------------------------------------------------------------------------------------------------


@given(cases(), st.sampled_from(PRIORS))
@settings(max_examples=60)
def test_posterior_mean_is_the_conjugate_formula(case: Case, prior: Any) -> None:
    fit = case.fit(prior=prior)
    assert set(case.parents) == set(fit.model.dag.nodes)
    for node, above in case.parents.items():
        a, r = alpha_of(prior, case, node), len(case.states[node])
        m, total = case.counts((*above, node)), case.counts(above)
        expected = {
            cell: float((a + m.get(cell, 0)) / (r * a + total.get(cell[:-1], 0)))
            for cell in itertools.product(*(case.states[name] for name in (*above, node)))
        }
        assert_cells(cells_of(fit.model.cpd(node)), expected)
        assert_cells(cells_of(fit.posterior[node].mean()), expected)
        assert_cells(cells_of(fit.posterior.mean().cpd(node)), expected)


@given(cases(), st.sampled_from(PRIORS))
@settings(max_examples=40)
def test_posterior_mean_and_mode_go_to_the_mle_as_counts_grow(case: Case, prior: Any) -> None:
    mle = case.fit(unseen_parents="uniform")
    stats = sf.collect(case.dag, case.columns, weights=case.weights, schema=case.states)
    mean = sf.estimate(case.dag, stats * 1e9, prior=prior)
    assert mean.n == pytest.approx(case.n * 1e9, rel=1e-12)
    mode = sf.estimate(case.dag, stats * 1e9, prior=sf.Dirichlet(2), point="map")
    for node in case.parents:  # rows without data have nothing but the prior, which is uniform
        assert_cells(cells_of(mean.model.cpd(node)), cells_of(mle.model.cpd(node)), 1e-6)
        assert_cells(cells_of(mode.model.cpd(node)), cells_of(mle.model.cpd(node)), 1e-6)


# The mode -----------------------------------------------------------------------------------------------------


@given(cases())
@settings(max_examples=60)
def test_map_equals_mle_under_the_flat_prior(case: Case) -> None:
    mle, flat = case.fit(unseen_parents="nan"), case.fit(prior=sf.K2(), point="map", unseen_parents="nan")
    for node in case.parents:
        expected = cells_of(mle.model.cpd(node))
        if len(case.states[node]) == 1:  # a single state has probability one, with or without data
            expected = dict.fromkeys(expected, 1.0)
        assert_cells(cells_of(flat.model.cpd(node)), expected)
    assert flat.log_likelihood == pytest.approx(mle.log_likelihood, rel=1e-12, abs=1e-12)


@given(cases(), st.floats(1.25, 5))
@settings(max_examples=40)
def test_posterior_mode_is_the_formula_and_the_densitys_top(case: Case, size: float) -> None:
    fit = case.fit(prior=sf.Dirichlet(size), point="map")
    assert set(case.parents) == set(fit.model.dag.nodes)
    for node, above in case.parents.items():
        r, a = len(case.states[node]), Fraction(size)
        m, total = case.counts((*above, node)), case.counts(above)
        expected = {
            cell: float((a - 1 + m.get(cell, 0)) / (r * (a - 1) + total.get(cell[:-1], 0)))
            for cell in itertools.product(*(case.states[name] for name in (*above, node)))
        }
        assert_cells(cells_of(fit.model.cpd(node)), expected)
        if r > 1:
            concentration, mode = fit.posterior[node].concentration, fit.model.cpd(node).values
            top = np.sum((concentration - 1) * np.log(mode), axis=1)
            shifted = (mode + 1e-3) / (1 + 1e-3 * r)
            beside = np.sum((concentration - 1) * np.log(shifted), axis=1)
            assert (top >= beside - 1e-12).all()


@pytest.mark.parametrize("prior", [sf.Jeffreys(), sf.BDeu(1), sf.Dirichlet(0.9)])
def test_no_interior_mode_is_an_error_that_says_so(prior: Any) -> None:
    data = {"A": ["x", "x", "y"], "B": ["u", "u", "v"]}
    with pytest.raises(sf.EstimationError, match=r"'B' has no interior posterior mode: for A='x'.*below 1"):
        sf.fit(sf.DAG("A -> B"), data, prior=prior, point="map")


def test_flat_prior_has_no_single_mode_without_data() -> None:
    data, schema = {"A": ["x"], "B": ["u"]}, {"A": ["x", "y"], "B": ["u", "v"]}
    with pytest.raises(sf.EstimationError, match="A='y'"):
        sf.fit(sf.DAG("A -> B"), data, schema=schema, prior=sf.K2(), point="map")


# The evidence -------------------------------------------------------------------------------------------------


@given(cases(weighted=False, max_rows=15), st.sampled_from(PRIORS))
@settings(max_examples=60)
def test_log_marginal_likelihood_is_the_product_of_sequential_predictions(case: Case, prior: Any) -> None:
    fit = case.fit(prior=prior)
    product = Fraction(1)
    for node, above in case.parents.items():
        a, r = alpha_of(prior, case, node), len(case.states[node])
        of_node = Fraction(1)
        seen: dict[tuple[str, ...], int] = {}
        for row in zip(*(case.columns[name] for name in (*above, node)), strict=True):
            of_node *= (a + seen.get(row, 0)) / (r * a + seen.get(("row", *row[:-1]), 0))
            seen[row] = seen.get(row, 0) + 1
            seen["row", *row[:-1]] = seen.get(("row", *row[:-1]), 0) + 1
        product *= of_node
        assert fit.posterior[node].log_marginal_likelihood == pytest.approx(log_of(of_node), rel=1e-10, abs=1e-10)
    assert fit.log_marginal_likelihood == pytest.approx(log_of(product), rel=1e-10, abs=1e-10)
    assert fit.posterior.log_marginal_likelihood == fit.log_marginal_likelihood


@given(cases(), st.sampled_from(PRIORS))
@settings(max_examples=40)
def test_log_marginal_likelihood_with_weights_is_the_ratio_of_gamma_functions(case: Case, prior: Any) -> None:
    terms = []
    for node, above in case.parents.items():
        a, r = float(alpha_of(prior, case, node)), len(case.states[node])
        terms += [math.lgamma(r * a) - math.lgamma(r * a + float(m)) for m in case.counts(above).values()]
        terms += [math.lgamma(a + float(m)) - math.lgamma(a) for m in case.counts((*above, node)).values()]
    expected = math.fsum(terms)
    assert case.fit(prior=prior).log_marginal_likelihood == pytest.approx(expected, rel=1e-10, abs=1e-10)


def evidence(dag: sf.DAG, columns: dict[str, list[str]], schema: Any, prior: Any) -> float:
    value = sf.fit(dag, columns, schema=schema, prior=prior).log_marginal_likelihood
    assert value is not None
    return value


AB = ["a", "b"]
SHARED = [
    sf.DAG("X0 -> X1 -> X2", tie=[("X1", "X2")]),
    sf.DAG("X0; X1; X2", tie=[("X2", "X0", "X1")]),
    sf.DAG("X0 -> X1; X0 -> X2", tie=[("X1", "X2")]),
    sf.DAG("X0 -> X2 <- X1", tie=[("X0", "X1")]),
    sf.DAG("X0 -> X2 <- X1"),
]


@pytest.mark.parametrize("prior", [sf.K2(), sf.BDeu(0.5), sf.Jeffreys()])
@pytest.mark.parametrize("dag", SHARED)
@pytest.mark.parametrize("seed", [0, 1])
def test_log_predictive_is_the_gain_in_evidence(dag: sf.DAG, prior: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = {name: rng.choice(["a", "b"], 5).tolist() for name in ("X0", "X1", "X2")}
    schema = dict.fromkeys(columns, AB)
    fit = sf.fit(dag, columns, schema=schema, prior=prior)
    new = list(itertools.product("ab", repeat=3))
    found = fit.posterior.log_predictive({name: [row[i] for row in new] for i, name in enumerate(columns)})
    before = evidence(dag, columns, schema, prior)
    for row, value in zip(new, found, strict=True):
        more = {name: [*values, label] for (name, values), label in zip(columns.items(), row, strict=True)}
        assert value == pytest.approx(evidence(dag, more, schema, prior) - before, rel=1e-9), row
    assert math.fsum(np.exp(found)) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("dag", SHARED)
def test_predicting_one_row_after_another_gives_the_evidence(dag: sf.DAG) -> None:
    rng = np.random.default_rng(5)
    columns = {name: rng.choice(["a", "b"], 6).tolist() for name in ("X0", "X1", "X2")}
    schema = dict.fromkeys(columns, AB)
    total = 0.0
    for i in range(6):
        before = {name: values[: max(i, 1)] for name, values in columns.items()}
        fit = sf.fit(dag, before, schema=schema, prior=sf.BDeu(2), weights=[1 if i else 0] * max(i, 1))
        total += fit.posterior.log_predictive({name: [values[i]] for name, values in columns.items()})[0]
    assert total == pytest.approx(evidence(dag, columns, schema, sf.BDeu(2)), rel=1e-10)


def test_log_predictive_of_a_tie_with_a_fixed_row_does_not_learn_from_it() -> None:
    dag = sf.DAG("X0 -> X1 -> X2", tie=[("X1", "X2")])
    data = {"X0": list("aab"), "X1": list("aba"), "X2": list("bab")}
    fit = sf.fit(dag, data, prior=sf.K2(), fixed={"X1": {"a": [0.25, 0.75]}})
    # row a is fixed; row b has two cases b -> a, hence Dirichlet(3, 1); X0 has Dirichlet(3, 2)
    assert fit.posterior["X2"].concentration[1].tolist() == [3, 1]
    found = fit.posterior.log_predictive({"X0": ["a", "b"], "X1": ["a", "b"], "X2": ["a", "b"]})
    expected = [3 / 5 * 0.25 * 0.25, 2 / 5 * 1 / 4 * 2 / 5]
    assert np.exp(found).tolist() == pytest.approx(expected, rel=1e-12)


@given(cases(), st.sampled_from(PRIORS))
@settings(max_examples=30)
def test_without_ties_the_predictive_is_the_model_of_posterior_means(case: Case, prior: Any) -> None:
    fit = case.fit(prior=prior)
    rows = case.all_rows()
    assert np.allclose(fit.posterior.log_predictive(rows), fit.model.log_prob(rows), rtol=1e-13)
    assert math.fsum(np.exp(fit.posterior.log_predictive(rows))) == pytest.approx(1, rel=1e-11)


# Uncertainty --------------------------------------------------------------------------------------------------

SMALL = {"A": ["x", "x", "y", "y", "y", "x"], "B": ["u", "v", "w", "w", "u", "u"]}


@pytest.fixture
def posterior() -> Any:
    return sf.fit(sf.DAG("A -> B"), SMALL, prior=sf.Dirichlet(0.7)).posterior["B"]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_intervals_hold_their_probability_with_equal_tails(posterior: Any, level: float) -> None:
    a = posterior.concentration
    b = a.sum(axis=1, keepdims=True) - a
    lower, upper = posterior.bounds(level)
    assert np.allclose(scipy_stats.beta.cdf(lower, a, b), (1 - level) / 2, rtol=1e-8)
    assert np.allclose(scipy_stats.beta.sf(upper, a, b), (1 - level) / 2, rtol=1e-8)
    assert np.allclose(lower, scipy_stats.beta.ppf((1 - level) / 2, a, b), rtol=1e-8)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan])
def test_interval_level_is_checked(posterior: Any, level: float) -> None:
    with pytest.raises(sf.ArgumentError, match="level"):
        posterior.bounds(level)


def test_interval_of_a_single_state_is_one() -> None:
    found = sf.fit(sf.DAG("A"), {"A": ["x", "x"]}, prior=sf.K2()).posterior["A"]
    assert [bound.tolist() for bound in found.bounds()] == [[[1.0]], [[1.0]]]
    assert found.variance().tolist() == [[0.0]]


def test_variance_is_that_of_the_beta_marginals(posterior: Any) -> None:
    a = posterior.concentration
    b = a.sum(axis=1, keepdims=True) - a
    assert np.allclose(posterior.variance(), scipy_stats.beta.var(a, b), rtol=1e-12)


def test_posterior_draws_have_the_right_moments(posterior: Any) -> None:
    draws = posterior.draws(20_000, seed=11)
    assert draws.shape == (20_000, 2, 3)
    assert np.allclose(draws.sum(axis=2), 1, atol=1e-12)
    variance = posterior.variance()
    error = np.sqrt(variance / len(draws))
    assert (np.abs(draws.mean(axis=0) - posterior.mean().values) < 6 * error).all()
    assert np.allclose(draws.var(axis=0), variance, rtol=0.1)
    a = posterior.concentration[0]
    covariance = -a[0] * a[1] / (a.sum() ** 2 * (a.sum() + 1))
    assert np.cov(draws[:, 0, 0], draws[:, 0, 1])[0, 1] == pytest.approx(covariance, rel=0.1)


def test_posterior_draws_are_reproducible_by_seed(posterior: Any) -> None:
    assert np.array_equal(posterior.draws(5, seed=3), posterior.draws(5, seed=3))
    assert not np.array_equal(posterior.draws(5, seed=3), posterior.draws(5, seed=4))


def test_drawn_networks_are_networks_and_tied_nodes_share_their_draw() -> None:
    dag = sf.DAG("X0 -> X1 -> X2", tie=[("X1", "X2")])
    fit = sf.fit(dag, {"X0": list("aab"), "X1": list("aba"), "X2": list("bab")}, prior=sf.K2())
    first, again, other = (fit.posterior.sample(1, seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first.cpd("X1").values, first.cpd("X2").values)
    assert first.cpd("X2").family.scope == ("X1", "X2")
    for node in dag.nodes:
        assert np.array_equal(first.cpd(node).values, again.cpd(node).values)
        assert not np.array_equal(first.cpd(node).values, other.cpd(node).values)
    assert first.sample(5, seed=0).shape == (5, 3)


def test_posterior_draws_are_distributions_for_tiny_pseudo_counts() -> None:
    """BDeu spreads one case over 2048 cells: such gamma variates underflow, the proportions must not."""
    rng = np.random.default_rng(0)
    names = [f"P{i}" for i in range(10)]
    data = {name: rng.choice(["a", "b"], 50).tolist() for name in [*names, "Y"]}
    found = sf.fit(sf.DAG({"Y": names}), data, prior=sf.BDeu(1)).posterior["Y"]
    draws = found.draws(20, seed=0)
    assert np.isfinite(draws).all()
    assert np.allclose(draws.sum(axis=2), 1)
    unseen = found.concentration.sum(axis=1) < 0.01
    assert unseen.sum() > 500
    assert 0.45 < draws[:, unseen, 0].mean() < 0.55


def test_posterior_cannot_be_changed_from_outside() -> None:
    found = sf.fit(sf.DAG("A -> B"), SMALL, prior=sf.K2()).posterior["B"]
    with pytest.raises(ValueError, match="read-only"):
        found.concentration[0, 0] = 99
    assert found.mean().values[0, 0] == 0.5


def test_unknown_node_of_a_posterior_is_explained() -> None:
    found = sf.fit(sf.DAG("A -> B"), SMALL, prior=sf.K2()).posterior
    assert list(found) == ["A", "B"]
    assert len(found) == 2
    with pytest.raises(sf.UnknownNameError, match="no node 'C'"):
        found["C"]


# Writing priors down ------------------------------------------------------------------------------------------


def test_bdeu_tables_hold_the_same_equivalent_sample_size() -> None:
    fit = sf.fit(sf.DAG("A -> B"), SMALL, prior=sf.BDeu(12))
    assert fit.posterior["A"].concentration.tolist() == [[9, 9]]
    assert fit.posterior["B"].concentration.sum() == pytest.approx(6 + 12)


def test_dirichlet_by_node_with_arrays_numbers_and_a_rest() -> None:
    prior = sf.Dirichlet({"B": [[1, 2, 3], [4, 5, 6]]}, rest=2)
    fit = sf.fit(sf.DAG("A -> B"), SMALL, prior=prior)
    assert fit.posterior["A"].concentration.tolist() == [[5, 5]]
    assert fit.posterior["B"].concentration.tolist() == [[3, 3, 3], [5, 5, 8]]
    assert fit.certificate.ok
    assert sf.fit(sf.DAG("A -> B"), SMALL, prior=prior, point="map").certificate.ok
    both = sf.fit(sf.DAG("A -> B"), SMALL, prior=sf.Dirichlet({"A": 2, "B": 0.5}))
    assert both.posterior["B"].concentration[0].tolist() == [2.5, 1.5, 0.5]


def test_dirichlet_array_determines_rows_without_data() -> None:
    schema = {"A": ["x", "y", "z"]}
    prior = sf.Dirichlet({"A": 1, "B": [[1, 1, 1], [1, 1, 1], [2, 3, 5]]})
    fit = sf.fit(sf.DAG("A -> B"), SMALL, prior=prior, schema=schema)
    assert fit.model.cpd("B").values[2].tolist() == pytest.approx([0.2, 0.3, 0.5])
    assert fit.certificate.ok


def test_priors_array_is_not_shared_with_the_caller() -> None:
    alpha = np.ones((2, 3))
    prior = sf.Dirichlet({"B": alpha}, rest=1)
    alpha[:] = 100
    assert sf.fit(sf.DAG("A -> B"), SMALL, prior=prior).posterior["B"].concentration.max() == 3


@pytest.mark.parametrize("size", [0, -1, math.nan, math.inf, "one", None, [1, 2]])
def test_pseudo_counts_must_be_positive_and_finite(size: Any) -> None:
    for prior in (sf.Dirichlet, sf.BDeu):
        with pytest.raises(sf.ArgumentError, match="positive and finite"):
            prior(size)


def test_dirichlet_by_node_is_checked_against_the_network() -> None:
    dag = sf.DAG("A -> B")
    with pytest.raises(sf.ArgumentError, match="no pseudo-counts for node 'A'"):
        sf.fit(dag, SMALL, prior=sf.Dirichlet({"B": 1}))
    with pytest.raises(sf.ArgumentError, match=r"shape \(2, 3\).*Got shape \(3, 2\)"):
        sf.fit(dag, SMALL, prior=sf.Dirichlet({"B": np.ones((3, 2))}, rest=1))
    with pytest.raises(sf.ArgumentError, match="positive"):
        sf.Dirichlet({"B": [[0, 1, 1], [1, 1, 1]]})


def test_a_prior_for_a_node_that_does_not_exist_is_refused() -> None:
    with pytest.raises(sf.SufficeError, match="'b'"):
        sf.fit(sf.DAG("A -> B"), SMALL, prior=sf.Dirichlet({"b": [[9, 9, 9], [9, 9, 9]]}, rest=1))


@pytest.mark.parametrize(
    ("prior", "text"),
    [
        (sf.K2(), "K2()"),
        (sf.BDeu(10), "BDeu(ess=10.0)"),
        (sf.Dirichlet(2), "Dirichlet(2)"),
        (sf.Jeffreys(), "Jeffreys()"),
    ],
)
def test_priors_describe_themselves(prior: Any, text: str) -> None:
    assert prior.describe() == text
    assert text in str(sf.fit(sf.DAG("A"), SMALL, prior=prior))


def test_the_prior_alone_answers_when_there_are_no_rows() -> None:
    schema = {"A": ["x", "y"], "B": ["u", "v", "w"]}
    fit = sf.fit(sf.DAG("A -> B"), SMALL, weights=[0] * 6, prior=sf.BDeu(1), schema=schema)
    assert fit.n == 0
    assert fit.log_marginal_likelihood == 0
    assert fit.model.cpd("B").values.tolist() == [[pytest.approx(1 / 3)] * 3] * 2
    assert fit.certificate.ok


@pytest.mark.parametrize("empty", [[], np.array([], dtype=str)])
def test_the_prior_alone_answers_for_an_empty_table(empty: Any) -> None:
    schema = {"A": ["x", "y"], "B": ["u", "v", "w"]}
    fit = sf.fit(sf.DAG("A -> B"), {"A": empty, "B": empty}, prior=sf.K2(), schema=schema)
    assert fit.n == 0
    assert fit.model.cpd("A").values.tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("ess", [1e4, 1e8, 1e12, 1e15, 1e30])
def test_evidence_under_a_strong_prior_tends_to_that_of_fair_coins(ess):
    """log p(D) of a uniform prior that is all but certain is −N log(states), node by node."""
    data = {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}
    fit = sf.fit(sf.DAG("A -> B"), data, prior=sf.BDeu(ess))
    assert fit.log_marginal_likelihood == pytest.approx(-6 * np.log(2), abs=20 / ess + 1e-12)


def test_dirichlet_priors_are_equal_by_their_numbers():
    assert sf.Dirichlet({"A": [1, 2]}) == sf.Dirichlet({"A": [1.0, 2.0]}) != sf.Dirichlet({"A": [1, 3]})
    assert len({sf.Dirichlet(1), sf.Dirichlet(1.0), sf.Dirichlet(2)}) == 2


def test_whole_numbers_are_states_where_states_are_whole_numbers() -> None:
    prior = sf.BDeu(1)
    fit = sf.fit(sf.DAG("A -> B"), {"A": [1, 1, 2, 2, 3], "B": [1, 2, 1, 2, 2]}, prior=prior)
    node = next(node for node in fit.posterior.nodes if node.family.child.name == "B")
    by_code = node.log_predictive_of({"A": np.array([0, 1]), "B": np.array([0, 1])})
    assert node.log_predictive({"A": [1, 2], "B": [1, 2]}) == pytest.approx(by_code, rel=1e-14)
    assert node.log_predictive({"A": np.array([1, 3]), "B": np.array([1, 2])}) == pytest.approx(  # 3 is no code
        node.log_predictive_of({"A": np.array([0, 2]), "B": np.array([0, 1])}), rel=1e-14
    )
    with pytest.warns(DeprecationWarning, match="read as states"):
        found = node.log_predictive({"A": np.array([1, 2]), "B": np.array([1, 1])})
    assert found == pytest.approx(node.log_predictive_of({"A": np.array([0, 1]), "B": np.array([0, 0])}), rel=1e-14)


@pytest.mark.parametrize("states", [["u", "v"], [False, True], [0.5, 1.5], [2, 4]])
def test_whole_numbers_that_are_no_states_are_codes_for_one_more_version(states: list[Any]) -> None:
    fit = sf.fit(sf.DAG("A"), {"A": [states[0], states[1], states[1]]}, prior=sf.K2(), schema={"A": states})
    (node,) = fit.posterior.nodes
    codes = {"A": np.array([0, 1])}
    with pytest.warns(DeprecationWarning, match=r"use log_predictive_of\(columns\)"):
        found = node.log_predictive(codes)
    assert found == pytest.approx(node.log_predictive_of(codes), rel=1e-14)
    with pytest.raises(sf.DataError, match="is not one of"):
        node.log_predictive({"A": np.array([0, 5])})


def test_whole_numbers_that_are_states_of_some_columns_and_codes_of_others_are_refused() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": [1, 1, 2, 2], "B": ["u", "v", "u", "v"]}, prior=sf.BDeu(1))
    node = next(node for node in fit.posterior.nodes if node.family.child.name == "B")
    with pytest.raises(sf.ArgumentError, match=r"\['A'\] could be .* log_predictive_of\(columns\)"):
        node.log_predictive({"A": np.array([1, 1]), "B": np.array([0, 1])})
    with pytest.warns(DeprecationWarning, match="log_predictive reads states"):
        found = node.log_predictive({"A": np.array([0, 1]), "B": np.array([0, 1])})
    assert found == pytest.approx(node.log_predictive_of({"A": np.array([0, 1]), "B": np.array([0, 1])}), rel=1e-14)
