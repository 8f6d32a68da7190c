"""Priors on Markov random fields: pseudo-counts, the hyper-Dirichlet law, and penalties on u-terms."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import beta
from tests.learn.clique_cases import Case, cases
from tests.learn.test_cliques import RING, joint, ring_data

import suffice as sf

SMOOTH = ["newton", "lbfgs", "cg", "gradient"]
MATCHING = ["adaptive", "ipf", "newton", "lbfgs", "cg", "gradient"]


def network_over(case: Case, seed: int) -> sf.BayesianNetwork:
    """Return a positive network over a case's variables, in another order than theirs."""
    rng, names = np.random.default_rng(seed), list(reversed(case.names))
    size = {name: len(case.states[name]) for name in names}
    first, rest = names[0], names[1:]
    dag = sf.DAG({name: [first] if name in rest else [] for name in names})
    tables = {first: rng.dirichlet(np.ones(size[first]))}
    tables |= {name: rng.dirichlet(np.ones(size[name]) * 2, size[first]) for name in rest}
    schema = {name: list(reversed(case.states[name])) for name in names}
    return sf.BayesianNetwork(dag, tables, schema=schema)


def belief(case: Case, network: sf.BayesianNetwork) -> Any:
    """Return the network's joint table in the order of the case."""
    rows = list(itertools.product(*case.states.values()))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(case.names)}
    return np.exp(network.log_prob(columns)).reshape(case.sizes)


# Pseudo-counts ------------------------------------------------------------------------------------------------


@given(cases(zeros=0.3), st.sampled_from(MATCHING), st.sampled_from([0.5, 4.0, 100.0]))
@settings(max_examples=40)
def test_bdeu_is_maximum_likelihood_of_the_counts_with_pseudo_counts(case: Case, method: str, ess: float) -> None:
    smoothed = case.table + ess / case.table.size
    fit = case.fit(prior=sf.BDeu(ess), method=method, max_iter=20_000, tol=1e-9)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.point == "map"
    assert fit.certificate.exists == "yes"
    p = case.joint(fit.model)
    assert case.gap(p, smoothed) < 1e-9
    np.testing.assert_allclose(p, case.fitted(smoothed), rtol=1e-5, atol=1e-8)
    assert fit.log_likelihood == pytest.approx(case.log_likelihood(p), rel=1e-9, abs=1e-9)


@given(cases(zeros=0.3), st.integers(0, 99))
@settings(max_examples=30)
def test_an_experts_network_adds_its_own_margins(case: Case, seed: int) -> None:
    network = network_over(case, seed)
    smoothed = case.table + 7.0 * belief(case, network)
    for method in ("auto", "newton"):
        fit = case.fit(prior=sf.Expert(network, 7.0), method=method, tol=1e-10)
        assert fit.certificate.ok, fit.certificate.verdict
        np.testing.assert_allclose(case.joint(fit.model), case.fitted(smoothed), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("prior", [sf.Gaussian(1.0), sf.Laplace(1.0)])
def test_a_penalty_alone_gives_the_uniform_distribution(prior: Any) -> None:
    nothing = {name: np.array([], dtype=str) for name in "ABCD"}
    fit = sf.fit(sf.Cliques(RING), nothing, schema=dict.fromkeys("ABCD", sf.categorical(["0", "1"])), prior=prior)
    assert fit.certificate.ok
    np.testing.assert_allclose(fit.model.log_prob({name: ["0"] for name in "ABCD"}), -math.log(16))


def test_a_prior_alone_gives_the_expert_back() -> None:
    case = Case((("A", "B"), ("B", "C"), ("A", "C")), dict.fromkeys("ABC", ("0", "1")), np.ones((2, 2, 2)))
    network = network_over(case, 3)
    nothing = {name: np.array([], dtype=str) for name in "ABC"}
    fit = sf.fit(case.structure, nothing, schema=case.states, prior=sf.Expert(network, 5))
    assert fit.certificate.ok
    np.testing.assert_allclose(case.gap(case.joint(fit.model), belief(case, network)), 0, atol=1e-8)


# The hyper-Dirichlet law --------------------------------------------------------------------------------------


@given(cases(decomposable=True, zeros=0.3), st.sampled_from([0.5, 3.0, 20.0]))
@settings(max_examples=40)
def test_decomposable_posterior_equals_that_of_the_same_dag(case: Case, ess: float) -> None:
    fit = case.fit(prior=sf.BDeu(ess))
    dag = sf.fit(case.structure.to_dag(), case.data, prior=sf.BDeu(ess))
    assert (fit.method, fit.point) == ("closed_form", "mean")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_marginal_likelihood == pytest.approx(dag.log_marginal_likelihood, rel=1e-10, abs=1e-9)
    rows = list(itertools.product(*case.states.values()))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(case.names)}
    np.testing.assert_allclose(case.joint(fit.model).ravel(), np.exp(dag.model.log_prob(columns)), rtol=1e-10)
    smoothed = case.table + ess / case.table.size
    assert case.gap(case.joint(fit.model), smoothed) < 1e-13
    np.testing.assert_allclose(case.joint(fit.posterior.mean()), case.joint(fit.model), rtol=1e-12)


@given(cases(decomposable=True), st.integers(0, 9))
@settings(max_examples=15)
def test_evidence_under_an_experts_prior_equals_that_of_the_dag_where_both_know_it(case: Case, seed: int) -> None:
    prior = sf.Expert(network_over(case, seed), 6.0)
    fit, dag = case.fit(prior=prior), sf.fit(case.structure.to_dag(), case.data, prior=prior)
    assert fit.log_marginal_likelihood == pytest.approx(dag.log_marginal_likelihood, rel=1e-9, abs=1e-8)


def test_evidence_of_one_clique_is_the_dirichlet_multinomial() -> None:
    m = np.array([[3, 0, 2], [1, 5, 4]])
    fit = sf.fit(sf.Cliques("A:B"), sf.Contingency(m, {"A": ["x", "y"], "B": ["u", "v", "w"]}), prior=sf.BDeu(6))
    wanted = gammaln(6) - gammaln(21) + (gammaln(1 + m) - gammaln(1)).sum()
    assert fit.log_marginal_likelihood == pytest.approx(wanted, rel=1e-12)


def test_posterior_draws_have_the_mean_and_the_margins_of_the_law() -> None:
    data = {k: ring_data(40)[k] for k in "ABC"}
    fit = sf.fit(sf.Cliques("A:B + B:C"), data, prior=sf.BDeu(4))
    states = {name: tuple(sorted(set(values))) for name, values in data.items()}
    case = Case((("A", "B"), ("B", "C")), states, np.ones([len(s) for s in states.values()]))
    draws = np.array([case.joint(model) for model in fit.posterior.sample(4000, seed=1)])
    np.testing.assert_allclose(draws.sum(axis=(1, 2, 3)), 1.0)
    np.testing.assert_allclose(draws.mean(axis=0), case.joint(fit.model), atol=5 * 0.1 / math.sqrt(4000))
    for clique in (("A", "B"), ("B", "C"), ("B",), ("C", "B")):
        alpha = fit.posterior.concentration(clique).values
        margins = np.array([case.margin(draw, clique) for draw in draws])
        mean = alpha / alpha.sum()
        spread = np.sqrt(mean * (1 - mean) / (alpha.sum() + 1))
        np.testing.assert_allclose(margins.mean(axis=0), mean, atol=0.01)
        np.testing.assert_allclose(margins.std(axis=0), spread, rtol=0.08)


def test_intervals_are_those_of_beta_distributions() -> None:
    posterior = sf.fit(sf.Cliques("A:B + B:C"), {k: ring_data(40)[k] for k in "ABC"}, prior=sf.BDeu(4)).posterior
    for names in (["B"], ["A", "B"], ["C", "B"]):
        alpha = posterior.concentration(names).values
        _, lower, upper = posterior.intervals(0.8, margin=names).numbers.T
        np.testing.assert_allclose(lower, beta.ppf(0.1, alpha, alpha.sum() - alpha).ravel(), rtol=1e-9)
        np.testing.assert_allclose(upper, beta.ppf(0.9, alpha, alpha.sum() - alpha).ravel(), rtol=1e-9)
    with pytest.raises(sf.ArgumentError, match=r"No clique holds \['A', 'C'\] together"):
        posterior.intervals(margin=["A", "C"])


def test_interval_of_a_variable_with_one_state_is_one() -> None:
    posterior = sf.fit(sf.Cliques("A:B"), {"A": ["k", "k"], "B": ["u", "v"]}, prior=sf.BDeu(2)).posterior
    assert posterior.intervals(margin=["A"]).numbers.tolist() == [[1.0, 1.0, 1.0]]


def test_posterior_mode_of_a_decomposable_model_matches_the_same_margins() -> None:
    data = {k: ring_data()[k] for k in "ABC"}
    mean = sf.fit(sf.Cliques("A:B + B:C"), data, prior=sf.BDeu(4))
    mode = sf.fit(sf.Cliques("A:B + B:C"), data, prior=sf.BDeu(4), point="map")
    assert (mode.method, mode.point) == ("adaptive", "map")
    np.testing.assert_allclose(joint(mode, data), joint(mean, data), atol=1e-7)


# Penalties ----------------------------------------------------------------------------------------------------


def contrasts(size: int) -> Any:
    """Return an orthonormal basis of the vectors that sum to zero."""
    return np.linalg.qr(np.eye(size)[:, 1:] - 1 / size)[0]


def terms_of(case: Case) -> list[tuple[int, ...]]:
    return sorted({t for c in case.scopes for n in range(1, len(c) + 1) for t in itertools.combinations(sorted(c), n)})


def basis_of(case: Case) -> tuple[Any, list[int]]:
    """Return one column a free u-parameter over the joint table, and the number of variables of its term.

    Over the joint table a term's cell occurs several times; columns are as long as within the term's own table.
    """
    terms = terms_of(case)
    columns, orders = [np.zeros((case.table.size, 0))], list[int]()
    for term in terms:
        basis = np.ones((1, 1))
        for v, size in enumerate(case.sizes):
            basis = np.kron(basis, contrasts(size) if v in term else np.ones((size, 1)))
        columns.append(basis)
        orders += [len(term)] * basis.shape[1]
    return np.hstack(columns), orders


def penalised(case: Case, width: float, main: float | None) -> Any:
    """Return p of the posterior mode under normal u-parameters, by a general optimiser."""
    basis, orders = basis_of(case)
    widths = np.array([main if main is not None and order == 1 else width for order in orders])
    m, n = case.table.ravel(), case.table.sum()
    if not orders:
        return np.full(case.sizes, 1.0)

    def loss(b: Any) -> tuple[float, Any]:
        scores = basis @ b
        log_z = np.logaddexp.reduce(scores)
        p = np.exp(scores - log_z)
        return n * log_z - m @ scores + (b**2 / (2 * widths**2)).sum(), basis.T @ (n * p - m) + b / widths**2

    found = minimize(
        loss, np.zeros(basis.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10 * n, "maxiter": 5000}
    )
    scores = basis @ found.x
    return np.exp(scores - np.logaddexp.reduce(scores)).reshape(case.sizes)


@given(
    cases(zeros=0.3, max_variables=3),
    st.sampled_from(SMOOTH),
    st.sampled_from([(0.3, None), (1.0, None), (1.0, 3.0), (0.5, math.inf)]),
)
@settings(max_examples=40)
def test_gaussian_prior_equals_the_explicit_penalised_likelihood(
    case: Case, method: str, widths: tuple[float, float | None]
) -> None:
    if widths[1] == math.inf:
        case = dataclasses.replace(
            case, table=case.table + 1
        )  # main effects without a prior need margins without zeros
    fit = case.fit(prior=sf.Gaussian(*widths), method=method, max_iter=20_000, tol=1e-9)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.moment_gap is None
    np.testing.assert_allclose(case.joint(fit.model), penalised(case, *widths), atol=1e-6)
    assert fit.log_likelihood == pytest.approx(case.log_likelihood(case.joint(fit.model)), rel=1e-9, abs=1e-9)


def test_plain_gradients_get_through_flat_directions() -> None:
    case = Case((("A", "B"),), {"A": ("x", "y"), "B": ("u", "v")}, np.array([[0.0, 0], [10, 6]]))
    fit = case.fit(prior=sf.Gaussian(1.0, main=3.0), method="gradient", tol=1e-9)
    assert fit.certificate.ok, fit.certificate.verdict


def test_free_main_effects_match_the_single_margins() -> None:
    fit = sf.fit(sf.Cliques(RING), ring_data(), prior=sf.Gaussian(0.1, main=math.inf), tol=1e-10)
    for name in "ABCD":
        values, counts = np.unique(ring_data()[name], return_counts=True)
        found = fit.model.query([name])
        np.testing.assert_allclose([found[{name: value}] for value in values], counts / 300, atol=1e-8)


def test_mode_tends_to_maximum_likelihood_as_the_prior_widens_or_the_data_grow() -> None:
    mle = joint(sf.fit(sf.Cliques(RING), ring_data(), tol=1e-11))
    distances = []
    for width in (0.1, 1.0, 10.0, 1000.0):
        fit = sf.fit(sf.Cliques(RING), ring_data(), prior=sf.Gaussian(width), tol=1e-11)
        distances.append(float(np.abs(joint(fit) - mle).max()))
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-5
    distances = []
    for times in (1.0, 100.0, 1e6):
        weights = np.full(300, times)
        for prior in (sf.Gaussian(0.5), sf.BDeu(50)):
            fit = sf.fit(sf.Cliques(RING), ring_data(), weights=weights, prior=prior, tol=1e-11)
            distances.append(float(np.abs(joint(fit) - mle).max()))
    assert distances[0] > distances[2] > distances[4]
    assert distances[1] > distances[3] > distances[5]
    assert max(distances[4:]) < 1e-4


def test_a_penalty_keeps_potentials_finite_where_nothing_was_counted() -> None:
    data = sf.Contingency([[0, 0, 3], [4, 5, 6]], {"A": ["x", "y"], "B": ["u", "v", "w"]})
    fit = sf.fit(sf.Cliques("A:B"), data, prior=sf.Gaussian(1.0))
    assert fit.certificate.ok
    assert fit.certificate.exists == "yes"
    assert all((factor.values > 0).all() for factor in fit.model.factors)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "wide", None])
def test_widths_must_be_positive(bad: Any) -> None:
    for prior in (sf.Gaussian, sf.Laplace):
        with pytest.raises(sf.ArgumentError, match="width"):
            prior(bad)
        if bad not in (None, math.inf):
            with pytest.raises(sf.ArgumentError, match="main"):
                prior(1.0, main=bad)


def test_penalties_give_no_mean() -> None:
    with pytest.raises(sf.SufficeError, match="mean"):
        sf.fit(sf.Cliques(RING), ring_data(), prior=sf.Gaussian(1.0), point="mean")
    with pytest.raises(sf.ArgumentError, match="'space': 'log'"):
        sf.fit(sf.Cliques(RING), ring_data(), prior=sf.Gaussian(1.0), method="gradient", options={"space": "psi"})


def test_penalties_are_not_for_bayesian_networks() -> None:
    with pytest.raises(sf.SufficeError, match="Gaussian"):
        sf.fit(sf.DAG("A -> B"), {k: ring_data()[k] for k in "AB"}, prior=sf.Gaussian(1.0))


@given(cases(max_variables=3), st.sampled_from([0.05, 0.3, 2.0]))
@settings(max_examples=15)
def test_laplace_prior_is_certified_and_beats_its_neighbours(case: Case, width: float) -> None:
    fit = case.fit(prior=sf.Laplace(width))
    assert fit.method == "proximal"
    assert fit.certificate.ok, fit.certificate.verdict
    m, n = case.table.ravel(), case.table.sum()
    basis, _ = basis_of(case)
    widths = [math.prod(case.sizes[v] - 1 for v in term) for term in terms_of(case)]
    # A cell of a term's own table stands in so many cells of the joint table.
    repeats = [case.table.size / math.prod(case.sizes[v] for v in term) for term in terms_of(case)]

    def objective(b: Any) -> float:
        scores, penalty, start = basis @ b, 0.0, 0
        for wide, times in zip(widths, repeats, strict=True):
            part = slice(start, start + wide)
            penalty += float(np.abs(basis[:, part] @ b[part]).sum()) / times
            start += wide
        return float(n * np.logaddexp.reduce(scores) - m @ scores + penalty / width)

    log_p = np.log(case.joint(fit.model)).ravel()
    best = np.linalg.lstsq(basis, log_p - log_p.mean(), rcond=None)[0]
    rng, lowest = np.random.default_rng(0), objective(best)
    for size in (1e-2, 1e-3, 1e-4):
        for _ in range(20):
            assert objective(best + size * rng.normal(size=len(best))) >= lowest - 1e-6
