"""Pseudo-likelihood: Σ log p(x_v | all others) by plain loops, and where it is the likelihood itself."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.audit.family import fits_kept
from tests.learn.feature_cases import Case, cases

import suffice as sf
from suffice.families.proof import certify


def conditionals(case: Case) -> tuple[Any, Any, Any]:
    """Return, for every configuration and variable, the places of its alternatives, which it is, and its count."""
    sizes = [len(states) for states in case.states.values()]
    index = np.arange(math.prod(sizes)).reshape(sizes)
    groups, own, counts = [], [], []
    for v in range(len(sizes)):
        for x in itertools.product(*map(range, sizes)):
            groups.append([int(index[(*x[:v], k, *x[v + 1 :])]) for k in range(sizes[v])])
            own.append(x[v])
            counts.append(case.table[x])
    return groups, own, np.array(counts)


def pseudo(case: Case, w: Any) -> tuple[float, Any]:
    """Return the pseudo-log-likelihood and its gradient, one row and one variable at a time."""
    value, slope = 0.0, np.zeros(len(w))
    for places, chosen, count in zip(*conditionals(case), strict=True):
        if count:
            f = case.values[places]
            scores = f @ w
            log_z = np.logaddexp.reduce(scores)
            value += count * (scores[chosen] - log_z)
            slope += count * (f[chosen] - np.exp(scores - log_z) @ f)
    return float(value), slope


@given(cases(max_variables=3))
@settings(max_examples=30)
def test_the_gradient_by_plain_loops_is_zero_and_the_value_is_theirs(case: Case) -> None:
    fit = case.fit(method="pseudo_likelihood", tol=1e-9)
    assert fit.certificate.ok, fit.certificate.verdict
    value, slope = pseudo(case, fit.model.weights.to_numpy())
    spread = np.maximum(np.ptp(case.values, axis=0), 1.0)
    assert np.abs(slope / spread).max(initial=0.0) < 1e-5 * case.total
    assert fit.log_likelihood == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert any("pseudo" in note.text for note in fit.notes)


@given(cases(max_variables=3, zeros=0.5))
@settings(max_examples=25)
def test_gaussian_modes_have_no_gradient_either(case: Case) -> None:
    fit = case.fit(method="pseudo_likelihood", prior=sf.Gaussian(1.5), tol=1e-9)
    assert fit.certificate.ok, fit.certificate.verdict
    w = fit.model.weights.to_numpy()
    _, slope = pseudo(case, w)
    spread = np.maximum(np.ptp(case.values, axis=0), 1.0)
    assert np.abs((slope - w / 1.5**2) / spread).max(initial=0.0) < 1e-5 * case.total


@given(cases(max_variables=3, zeros=0.5))
@settings(max_examples=25)
def test_laplace_modes_have_exact_zeros(case: Case) -> None:
    fit = case.fit(method="pseudo_likelihood", prior=sf.Laplace(0.2), tol=1e-9, max_iter=20_000)
    assert fit.certificate.ok, fit.certificate.verdict
    w = fit.model.weights.to_numpy()
    _, slope = pseudo(case, w)
    spread = np.maximum(np.ptp(case.values, axis=0), 1.0)
    at_zero = w == 0
    assert (np.abs(slope[at_zero]) <= 5 + 1e-5 * spread[at_zero] * case.total).all()
    assert (np.abs(slope - 5 * np.sign(w))[~at_zero] <= 1e-5 * spread[~at_zero] * case.total).all()


def test_of_one_variable_it_is_the_likelihood() -> None:
    rows = {"A": list("xxxyyz")}
    structure = sf.Features([sf.indicator(A="x"), sf.indicator(A="y")])
    a, b = sf.fit(structure, rows, method="pseudo_likelihood", tol=1e-10), sf.fit(structure, rows, tol=1e-10)
    assert a.log_likelihood == pytest.approx(b.log_likelihood, rel=1e-10)
    np.testing.assert_allclose(a.model.weights.to_numpy(), b.model.weights.to_numpy(), atol=1e-7)


def test_with_a_saturated_model_it_finds_the_likelihood_s_estimate() -> None:
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 400) for name in "abc"}
    structure = sf.Features(
        [sf.indicators(*scope, reference=True) for k in (1, 2, 3) for scope in itertools.combinations("abc", k)]
    )
    a, b = sf.fit(structure, rows, method="pseudo_likelihood", tol=1e-10), sf.fit(structure, rows, tol=1e-10)
    np.testing.assert_allclose(a.model.weights.to_numpy(), b.model.weights.to_numpy(), atol=1e-6)


def test_it_comes_near_the_truth_where_exact_inference_is_out_of_reach() -> None:
    rng = np.random.default_rng(1)
    p, n = 34, 4000
    names = [f"v{i}" for i in range(p)]
    coupling = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < 0.5) * 0.1, 1)
    x = rng.integers(0, 2, (n, p)) * 2 - 1
    for _ in range(30):  # Gibbs sweeps
        for v in range(p):
            field = x @ (coupling[v] + coupling[:, v])
            x[:, v] = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * field)), 1, -1)
    rows = {name: x[:, v] for v, name in enumerate(names)}
    structure = sf.Ising(list(itertools.combinations(names, 2)))
    with pytest.raises(sf.EstimationError, match="too wide"):
        sf.fit(structure, rows)
    fit = sf.fit(structure, rows, method="pseudo_likelihood")
    assert fit.certificate.ok, fit.certificate.verdict
    errors = fit.model.couplings.values - (coupling + coupling.T)
    assert np.abs(errors).max() < 6 / math.sqrt(n)
    assert np.sqrt((errors**2).mean()) < 2 / math.sqrt(n)


def test_parts_order_and_weights_of_rows_change_nothing() -> None:
    rng = np.random.default_rng(2)
    rows = {name: rng.integers(0, 2, 90) for name in "abcd"}
    structure = sf.Ising("a:b + b:c + c:d + d:a")
    whole = sf.fit(structure, rows, method="pseudo_likelihood", certify="data")
    assert whole.certificate.ok
    parts = [sf.collect(structure, {n: c[at::2] for n, c in rows.items()}, method="pseudo_likelihood") for at in (0, 1)]
    halves = sf.estimate(structure, parts[1] + parts[0], method="pseudo_likelihood")
    order = rng.permutation(90)
    shuffled = sf.fit(structure, {n: c[order] for n, c in rows.items()}, method="pseudo_likelihood")
    heavy = sf.fit(structure, rows, weights=np.full(90, 1e10), method="pseudo_likelihood")
    for other in (halves, shuffled, heavy):
        assert other.certificate.ok, other.certificate.verdict
        np.testing.assert_allclose(other.model.weights.to_numpy(), whole.model.weights.to_numpy(), atol=1e-6)


def test_a_mean_at_its_end_takes_the_weight_along() -> None:
    structure = sf.Features([sf.product("n"), sf.indicator(A="x")])
    fit = sf.fit(structure, {"n": [0, 0, 0], "A": list("xxy")}, schema={"n": [0, 1, 2]}, method="pseudo_likelihood")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"
    assert fit.model.weights["n"] == -math.inf
    assert fit.model.weights["A=x"] == pytest.approx(math.log(2))


def test_probabilities_less_than_any_float_have_logarithms() -> None:
    structure = sf.Features([sf.product("n")])
    with fits_kept() as held:
        fit = sf.fit(structure, {"n": [0, 0, 0, 1000]}, schema={"n": [0, 1000]}, method="pseudo_likelihood")
    model = sf.LogLinear(fit.structure, [-1.0], schema=fit.model.schema)
    assert certify(replace(held[-1][0], model=model)).log_likelihood == pytest.approx(-1000)


def test_too_few_steps_are_said_and_not_certified() -> None:
    rows = {"a": [0, 1, 1, 0, 1], "b": [0, 1, 0, 0, 1]}
    fit = sf.fit(sf.Ising("a:b"), rows, method="pseudo_likelihood", max_iter=1)
    assert not fit.certificate.ok
    assert any("Not converged after 1 step" in note.text for note in fit.notes)


@pytest.mark.parametrize(
    "structure",
    [
        sf.Features([sf.product("x", sf.indicator(y=1))], given="x"),
        sf.Features([sf.product("x")], support={"x": (0, 1)}),
    ],
)
def test_inputs_and_continuous_variables_are_refused(structure: Any) -> None:
    with pytest.raises(sf.EstimationError, match=r"Use (method=)?'lbfgs'"):
        sf.fit(structure, {"x": [0.25, 0.5], "y": [0, 1]}, method="pseudo_likelihood")
