"""Laplace's penalty: its proximal map, the optimum against general optimisers, and what becomes exactly zero."""

from __future__ import annotations

import dataclasses
import itertools
import math
import signal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space
from scipy.optimize import linprog, lsq_linear, minimize
from tests.learn.clique_cases import Case, Floats, cases, grid, grid_data

import suffice as sf
from suffice.certify.claim import Claim
from suffice.data.labelled import LabelledTable
from suffice.families.proof import certify
from suffice.inference.interactions import centred
from suffice.learn import laplace
from suffice.learn.laplace import shrunk
from suffice.learn.method import Problem

TRIANGLE = (("A", "B"), ("B", "C"), ("A", "C"))
COUNTS = [[[9.0, 4], [2, 7], [1, 3]], [[5, 5], [8, 1], [2, 6]], [[3, 0], [4, 9], [7, 2]]]
WIDE = Case(TRIANGLE, {"A": ("a", "b", "c"), "B": ("a", "b", "c"), "C": ("a", "b")}, np.array(COUNTS))
PAIR = Case((("A", "B"),), {"A": ("x", "y"), "B": ("u", "v")}, np.array([[20.0, 10], [12, 18]]))


def sums_of(shape: tuple[int, ...]) -> Floats:
    """One row a sum over an axis that must be zero."""
    units = np.eye(math.prod(shape)).reshape(*shape, -1)
    return np.concatenate([units.sum(axis=axis).reshape(-1, math.prod(shape)) for axis in range(len(shape))])


# The proximal map ---------------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3).filter(lambda shape: math.prod(shape) <= 18),
    st.integers(0, 10**6),
    st.sampled_from([0.01, 0.3, 1.0, 3.0, 100.0]),
    st.sampled_from([None, 0, 1]),
)
@settings(max_examples=150)
def test_proximal_map_is_that_of_the_dual_problem(
    shape: list[int], seed: int, threshold: float, digits: int | None
) -> None:
    z = np.random.default_rng(seed).normal(size=shape)
    z = z if digits is None else z.round(digits)  # with ties and exact kinks
    found = shrunk(z, threshold)
    basis = null_space(sums_of(tuple(shape)))
    if basis.shape[1] == 0:
        np.testing.assert_allclose(found, 0, atol=1e-12)
        return
    # Moreau: u = P (z − s), where s is the nearest to z, among slopes between ± threshold, as P sees it.
    s = lsq_linear(basis.T, basis.T @ z.ravel(), bounds=(-threshold, threshold), method="bvls", tol=1e-15).x
    np.testing.assert_allclose(found.ravel(), basis @ (basis.T @ (z.ravel() - s)), atol=1e-8)
    assert np.abs(sums_of(tuple(shape)) @ found.ravel()).max() < 1e-12


@pytest.mark.parametrize("threshold", [1e-12, 1e-10, 1e-9])
def test_tables_sum_to_zero_under_a_tiny_threshold(threshold: float) -> None:
    found = shrunk(np.random.default_rng(0).normal(size=3), threshold)
    assert abs(found.sum()) < 1e-15


@pytest.mark.parametrize("shape", [(2,), (3,), (2, 2), (3, 2), (3, 3, 2), (4, 5)])
def test_proximal_map_at_its_ends(shape: tuple[int, ...]) -> None:
    z = np.random.default_rng(1).normal(size=shape)
    np.testing.assert_array_equal(shrunk(z, 0.0), centred(z))
    assert (shrunk(z, 100.0) == 0).all()
    assert (shrunk(np.ones(shape), 0.1) == 0).all()
    np.testing.assert_allclose(shrunk(-z, 0.2), -shrunk(z, 0.2), atol=1e-12)
    np.testing.assert_allclose(shrunk(z + 7.0, 0.2), shrunk(z, 0.2), atol=1e-12)
    np.testing.assert_allclose(shrunk(1e6 * z, 0.2e6), 1e6 * shrunk(z, 0.2), rtol=1e-9, atol=1e-6)


# The optimum --------------------------------------------------------------------------------------------------


def terms_of(case: Case) -> list[tuple[int, ...]]:
    inside = [itertools.combinations(sorted(s), n) for s in case.scopes for n in range(1, len(s) + 1)]
    return sorted({term for terms in inside for term in terms}, key=lambda term: (len(term), term))


def u_terms(case: Case, joint: Floats) -> dict[tuple[int, ...], Floats]:
    """Return the terms of log p by the definition: alternating sums of means."""
    found, everything = {}, range(len(case.sizes))
    for term in terms_of(case):
        kept = np.log(joint).mean(axis=tuple(v for v in everything if v not in term), keepdims=True)
        found[term] = centred(kept.reshape([case.sizes[v] for v in term]))
    return found


def penalised(case: Case, joint: Floats, width: float, main: float | None = None) -> float:
    """Return the log-likelihood less the penalty."""
    widths = {term: main if main is not None and len(term) == 1 else width for term in terms_of(case)}
    return case.log_likelihood(joint) - sum(
        float(np.abs(u).sum()) / widths[term] for term, u in u_terms(case, joint).items()
    )


def violation(case: Case, joint: Floats, width: float, main: float | None = None) -> float:
    """Return the smallest slope that any choice of subgradients leaves: a linear program for every term."""
    worst, everything = 0.0, range(len(case.sizes))
    for term, u in u_terms(case, joint).items():
        weight = 1 / (main if main is not None and len(term) == 1 else width)
        outside = tuple(v for v in everything if v not in term)
        slope = (case.table.sum() * joint - case.table).sum(axis=outside).ravel()
        basis = null_space(sums_of(u.shape))
        n, k = basis.shape
        if k == 0:
            continue
        a = np.hstack([np.vstack([basis.T, -basis.T]) * weight, -np.ones((2 * k, 1))])
        bounds = [(np.sign(x), np.sign(x)) if abs(x) > 1e-7 else (-1, 1) for x in u.ravel()]
        b = -np.concatenate([basis.T @ slope, -basis.T @ slope])
        left = linprog(np.r_[np.zeros(n), 1.0], A_ub=a, b_ub=b, bounds=[*bounds, (0, None)])
        assert left.status == 0
        worst = max(worst, float(left.fun))
    return float(worst / case.table.sum())


@given(
    cases(zeros=0.2, max_variables=3), st.sampled_from([(0.02, None), (0.2, None), (1.0, None), (0.3, 2.0), (4.0, 0.1)])
)
@settings(max_examples=40)
def test_no_choice_of_subgradients_leaves_a_slope(case: Case, widths: tuple[float, float | None]) -> None:
    fit = case.fit(prior=sf.Laplace(*widths))
    assert (fit.method, fit.point) == ("proximal", "map")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.moment_gap is None
    p = case.joint(fit.model)
    assert violation(case, p, *widths) < 1e-6
    assert fit.log_likelihood == pytest.approx(case.log_likelihood(p), rel=1e-9, abs=1e-9)
    if fit.trace:
        assert fit.trace[-1].objective == pytest.approx(penalised(case, p, *widths), rel=1e-8, abs=1e-6)


def test_the_linear_program_above_tells_optima_from_other_points() -> None:
    p = WIDE.joint(WIDE.fit(prior=sf.Laplace(0.4)).model)
    assert violation(WIDE, p, 0.4) < 1e-8
    assert violation(WIDE, p, 0.44) > 1e-3
    assert violation(WIDE, WIDE.joint(WIDE.fit().model), 0.4) > 1e-3


@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.3, 2.0]), st.sampled_from([TRIANGLE, (("A", "B", "C"),)]))
@settings(max_examples=25)
def test_binary_models_equal_the_lasso_in_signs(seed: int, width: float, cliques: Any) -> None:
    rng = np.random.default_rng(seed)
    case = Case(cliques, dict.fromkeys("ABC", ("x", "y")), rng.integers(0, 15, (2, 2, 2)) + np.eye(2)[None])
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=3)))
    design = np.stack([signs[:, list(term)].prod(axis=1) for term in terms_of(case)], axis=1)
    weights = np.array([2.0 ** len(term) / width for term in terms_of(case)])  # a term of k signs has 2ᵏ cells
    m, n = case.table.ravel(), case.table.sum()

    def loss(split: Floats) -> tuple[float, Floats]:
        plus, minus = np.split(split, 2)
        scores = design @ (plus - minus)
        log_z = float(np.logaddexp.reduce(scores))
        slope = design.T @ (n * np.exp(scores - log_z) - m)
        value = n * log_z - m @ scores + weights @ (plus + minus)
        return value / n, np.concatenate([slope + weights, -slope + weights]) / n

    k = len(weights)
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 50_000}
    best = minimize(loss, np.zeros(2 * k), jac=True, method="L-BFGS-B", bounds=[(0, None)] * 2 * k, options=options)
    fit = case.fit(prior=sf.Laplace(width))
    assert fit.certificate.ok, fit.certificate.verdict
    plus, minus = np.split(best.x, 2)
    scores = design @ (plus - minus)
    np.testing.assert_allclose(case.joint(fit.model).ravel(), np.exp(scores - np.logaddexp.reduce(scores)), atol=1e-5)
    assert penalised(case, case.joint(fit.model), width) >= -n * best.fun - 1e-6


def test_nothing_near_the_fit_is_better() -> None:
    fit, rng = WIDE.fit(prior=sf.Laplace(0.4)), np.random.default_rng(2)
    p = WIDE.joint(fit.model)
    best = penalised(WIDE, p, 0.4)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(30):
            scores = np.log(p)
            for term, u in u_terms(WIDE, p).items():
                change = size * centred(rng.normal(size=u.shape)) * (rng.random() < 0.5)
                scores = scores + change.reshape([s if v in term else 1 for v, s in enumerate(WIDE.sizes)])
            other = np.exp(scores) / np.exp(scores).sum()
            assert penalised(WIDE, other, 0.4) <= best + 1e-7


def test_a_wide_prior_gives_maximum_likelihood() -> None:
    case = dataclasses.replace(WIDE, table=WIDE.table + 1)
    fit = case.fit(prior=sf.Laplace(1e6))
    np.testing.assert_allclose(case.joint(fit.model), case.optimum, atol=1e-5)


def test_a_narrow_prior_gives_the_uniform_distribution() -> None:
    np.testing.assert_array_equal(WIDE.joint(WIDE.fit(prior=sf.Laplace(1e-4)).model), np.full((3, 3, 2), 1 / 18))


def test_free_main_effects_under_a_narrow_prior_give_independence() -> None:
    fit = WIDE.fit(prior=sf.Laplace(1e-4, main=math.inf), tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    alone = dataclasses.replace(WIDE, cliques=(("A",), ("B",), ("C",)))
    np.testing.assert_allclose(WIDE.joint(fit.model), alone.optimum, atol=1e-8)
    pairs = [table for term, table in fit.model.u_terms().items() if len(term) == 2]
    assert len(pairs) == 3
    assert max(float(np.abs(table.values).max()) for table in pairs) < 1e-14


def test_narrower_priors_make_more_terms_zero() -> None:
    kept = []
    for width in (0.05, 0.1, 0.2, 0.5, 5.0):
        terms = WIDE.fit(prior=sf.Laplace(width)).model.u_terms()
        kept.append(sum(int((np.abs(table.values) > 1e-9).sum()) for table in terms.values()))
    assert kept == sorted(kept)
    assert kept[0] < 10
    assert kept[-1] > 25


def test_a_grid_too_large_for_its_joint_table_is_certified() -> None:
    data = {name: np.array(["no", "yes"])[column] for name, column in grid_data(5, 5, 400).items()}
    fit = sf.fit(grid(5, 5), data, prior=sf.Laplace(0.15))
    assert fit.certificate.ok, fit.certificate.verdict
    zero = [term for term, table in fit.model.u_terms().items() if np.abs(table.values).max() < 1e-12]
    assert 3 <= len(zero) < 65


def test_starts_do_not_matter() -> None:
    one = WIDE.joint(WIDE.fit(prior=sf.Laplace(0.4), tol=1e-10).model)
    for init in ("random", WIDE.fit().model):
        other = WIDE.joint(WIDE.fit(prior=sf.Laplace(0.4), init=init, seed=5, tol=1e-10).model)
        np.testing.assert_allclose(other, one, atol=1e-8)


def test_a_base_measure_goes_with_the_penalty() -> None:
    statistics = sf.collect(PAIR.structure, PAIR.data)
    base = np.array([[1.0, 5.0], [2.0, 1.0]])
    table = LabelledTable(tuple(statistics.schema[name] for name in "AB"), base, "h")
    problem = Problem(PAIR.structure, statistics, prior=sf.Laplace(0.2), point="map", base=(table,))
    model = laplace.METHOD.solve(problem).model
    p = PAIR.joint(model)

    def objective(scores: Floats) -> float:
        q = base * np.exp(scores) / (base * np.exp(scores)).sum()
        penalty = sum(float(np.abs(u).sum()) for u in u_terms(PAIR, np.exp(scores)).values())
        return PAIR.log_likelihood(q) - penalty / 0.2

    rng, best = np.random.default_rng(0), objective(np.log(p / base))
    assert all(objective(np.log(p / base) + size * rng.normal(size=(2, 2))) <= best + 1e-8
               for size in (1.0, 0.1, 0.01, 0.001) for _ in range(50))  # fmt: skip


# The certificate ----------------------------------------------------------------------------------------------


def verdict(case: Case, fit: sf.Fit, log_p: Floats) -> Any:
    """Have another table examined in place of a saturated fit's."""
    p = np.exp(log_p) / np.exp(log_p).sum()
    model = sf.MarkovNetwork([(("A", "B"), p)], schema=fit.model.schema)
    return certify(
        Claim(structure=fit.structure, model=model, statistics=fit.statistics, log_likelihood=case.log_likelihood(p),
              point="map", prior=fit.prior, posterior=None, method="proximal", trace=())
    )  # fmt: skip


@pytest.mark.parametrize("width", [0.02, 0.3], ids=["at the kink", "off the kink"])
@pytest.mark.parametrize("direction", [[[1, -1], [-1, 1]], [[1, 1], [-1, -1]]], ids=["A:B", "A"])
def test_a_perturbed_solution_is_not_certified(width: float, direction: Any) -> None:
    fit = PAIR.fit(prior=sf.Laplace(width))
    log_p = np.log(PAIR.joint(fit.model))
    zero = np.abs(fit.model.u_terms()["A", "B"].values).max() < 1e-12
    assert zero == (width == 0.02)
    assert verdict(PAIR, fit, log_p).ok
    for size in (1e-5, -1e-5, 1e-3):
        assert not verdict(PAIR, fit, log_p + size * np.array(direction)).ok


# Methods ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["closed_form", "adaptive", "ipf", "newton", "lbfgs", "cg", "gradient"])
def test_other_methods_refuse_kinks_and_name_the_one_that_does_not(method: str) -> None:
    with pytest.raises(sf.EstimationError, match=f"'{method}' cannot .*Use 'proximal'"):
        PAIR.fit(prior=sf.Laplace(1.0), method=method)


@pytest.mark.parametrize("prior", [sf.Gaussian(1.0), sf.BDeu(2)], ids=repr)
def test_proximal_refuses_smooth_priors(prior: Any) -> None:
    with pytest.raises(sf.EstimationError, match=r"'proximal' cannot .*sf\.Laplace.*Use method='auto'"):
        PAIR.fit(prior=prior, method="proximal")


def test_proximal_refuses_to_do_without_a_prior() -> None:
    with pytest.raises(sf.SufficeError, match=r"'proximal'.*sf\.Laplace"):
        PAIR.fit(method="proximal")


def test_laplace_gives_no_mean() -> None:
    for method in ("auto", "proximal"):
        with pytest.raises(sf.SufficeError, match="mean"):
            PAIR.fit(prior=sf.Laplace(1.0), point="mean", method=method)


# A problem of many steps: the third state of A never occurs, and the prior is too wide to keep it from running away.
LONG = Case((("A", "B"),), {"A": ("a", "b", "c"), "B": ("a", "b")}, np.array([[19.0, 18], [14, 5], [0, 0]]))


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_no_more_steps_than_allowed(limit: int) -> None:
    fit = LONG.fit(prior=sf.Laplace(700.0), max_iter=limit)
    assert len(fit.trace) <= limit


def test_too_few_steps_are_noted_and_not_certified() -> None:
    fit = LONG.fit(prior=sf.Laplace(700.0), max_iter=50)
    assert not fit.certificate.ok
    assert any("Not converged after" in note.text for note in fit.notes)


def interrupted_after(n: int, monkeypatch: pytest.MonkeyPatch) -> sf.Fit:
    """Fit a problem of many steps, with Ctrl-C during the n-th evaluation."""
    calls, evaluate = itertools.count(1), laplace.Terms.evaluate

    def counted(terms: laplace.Terms, x: Floats) -> tuple[float, Floats]:
        if next(calls) == n:
            signal.raise_signal(signal.SIGINT)
        return evaluate(terms, x)

    monkeypatch.setattr(laplace.Terms, "evaluate", counted)
    return LONG.fit(prior=sf.Laplace(700.0))


def test_an_interrupt_ends_it_with_a_point_that_is_not_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    fit = interrupted_after(10, monkeypatch)
    assert signal.getsignal(signal.SIGINT) is before
    assert not fit.certificate.ok
    assert "interrupted" in fit.certificate.verdict
    assert any("Interrupted" in note.text for note in fit.notes)
    assert not any("Not converged" in note.text for note in fit.notes)


def test_an_interrupt_ends_it_after_the_current_step(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(interrupted_after(10, monkeypatch).trace) <= 10


def test_a_wide_prior_on_a_state_that_never_occurs() -> None:
    case = dataclasses.replace(LONG, cliques=(("A",), ("A", "B"), ("B",)))
    assert case.fit(prior=sf.Laplace(750.0)).certificate.ok


@pytest.mark.parametrize("prior", [sf.Laplace(1.0, main=math.inf), sf.Gaussian(1.0, main=math.inf)], ids=repr)
def test_free_main_effects_of_a_state_that_never_occurs_do_not_exist(prior: Any) -> None:
    with pytest.raises(sf.EstimationError, match=r"State 'c' of 'A' never occurs.*main=10"):
        LONG.fit(prior=prior)
