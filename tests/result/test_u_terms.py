"""u-terms of a fit with their standard errors, against a Poisson regression that knows nothing of this library."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.inference.interactions import Interactions
from suffice.models.clique_layout import layout_of
from suffice.result import wald
from suffice.result.wald import corner_jacobian

STATES = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": ["no", "yes"]}
MODELS = ("A + B + C", "A:B + C", "A:B + B:C", "A:B + B:C + A:C", "A:B:C")
CELLS = list(itertools.product(range(2), range(3), range(2)))
counts_ = st.lists(st.integers(1, 60), min_size=12, max_size=12)


def fitted(model: str, counts: Any, **options: Any) -> sf.Fit:
    table = sf.Contingency(np.array(counts).reshape(2, 3, 2), STATES)
    return sf.fit(sf.Cliques(model), table, **{"tol": 1e-11, "max_iter": 20_000, **options})


def design_of(model: str, constraint: str) -> tuple[np.ndarray, list[tuple[tuple[str, ...], tuple[Any, ...]]]]:
    """Return the design of a regression, one column a free parameter, and what each stands for.

    Under "sum", a variable's effects are coded by those of all states but the last, which is minus their sum.
    """
    columns, names = [np.ones(12)], []
    for term in sf.Cliques(model).terms:
        term = tuple(sorted(term))  # noqa: PLW2901
        axes = ["ABC".index(name) for name in term]
        sizes = [len(STATES[name]) for name in term]
        free = [range(size - 1) if constraint == "sum" else range(1, size) for size in sizes]
        for codes in itertools.product(*free):
            column = np.ones(12)
            for axis, code, size in zip(axes, codes, sizes, strict=True):
                at = np.array([cell[axis] for cell in CELLS])
                column *= (at == code) - (1.0 * (at == size - 1) if constraint == "sum" else 0.0)
            columns.append(column)
            names.append((term, tuple(STATES[n][code] for n, code in zip(term, codes, strict=True))))
    return np.array(columns).T, names


def poisson_regression(x: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit log E[m] = x β by iteratively reweighted least squares; return β and its covariance."""
    eta = np.log(m + 0.5)
    for _ in range(100):
        mu = np.exp(eta)
        weighted = x * mu[:, None]
        beta = np.linalg.solve(x.T @ weighted, weighted.T @ (eta + (m - mu) / mu))
        eta = x @ beta
    return beta, np.linalg.inv(x.T @ (x * np.exp(eta)[:, None]))


@pytest.mark.parametrize("constraint", ["sum", "corner"])
@pytest.mark.parametrize("model", MODELS)
@given(counts=counts_)
def test_standard_errors_are_those_of_a_poisson_regression(model: str, constraint: str, counts: list[int]) -> None:
    found = fitted(model, counts).u_terms(constraint)
    x, names = design_of(model, constraint)
    beta, covariance = poisson_regression(x, np.array(counts, float))
    place = {key: row for row, key in enumerate(zip(found.terms, found.states, strict=True))}
    rows = [place[key] for key in names]
    np.testing.assert_allclose(found.estimate[rows], beta[1:], atol=1e-7)
    np.testing.assert_allclose(found.se[rows], np.sqrt(np.diag(covariance))[1:], rtol=1e-6)
    np.testing.assert_allclose(found.covariance[np.ix_(rows, rows)], covariance[1:, 1:], rtol=1e-5, atol=1e-9)
    assert found.constant == pytest.approx(beta[0], abs=1e-7)


@pytest.mark.parametrize("constraint", ["sum", "corner"])
@pytest.mark.parametrize("model", MODELS)
def test_terms_are_those_of_the_model(model: str, constraint: str) -> None:
    fit = fitted(model, range(1, 13))
    found, terms = fit.u_terms(constraint), fit.model.u_terms(constraint, total=fit.n)
    assert found.constant == pytest.approx(terms.constant, abs=1e-10)
    for term, states, value in zip(found.terms, found.states, found.estimate, strict=True):
        assert terms[term][dict(zip(term, states, strict=True))] == pytest.approx(value, abs=1e-10)
    n_rows = sum(table.values.size for table in terms.values()) if constraint == "sum" else fit.n_free
    assert len(found.estimate) == n_rows


@given(counts=counts_, level=st.floats(0.01, 0.999))
def test_columns_follow_from_estimate_and_error(counts: list[int], level: float) -> None:
    found = fitted("A:B + B:C + A:C", counts).u_terms(level=level)
    np.testing.assert_allclose(found.z, found.estimate / found.se)
    np.testing.assert_allclose(found.p, 2 * stats.norm.sf(np.abs(found.z)))
    low, high = stats.norm.interval(level, found.estimate, found.se)
    np.testing.assert_allclose(found.lower, low, atol=1e-12)
    np.testing.assert_allclose(found.upper, high, atol=1e-12)


def test_a_large_clique_structure_needs_no_joint_table() -> None:
    """A chain of which every pair saturates: a term's error is that of the pair's own table."""
    names = [f"v{n:02}" for n in range(40)]
    rng = np.random.default_rng(3)
    data = {name: rng.integers(0, 2, 500) for name in names}
    fit = sf.fit(sf.Cliques(list(itertools.pairwise(names))), data)
    found = fit.u_terms("corner")
    row = found.terms.index(("v07", "v08"))
    counts = fit.statistics[sf.Count(("v07", "v08"))].table()
    assert found.se[row] == pytest.approx(math.sqrt((1 / counts).sum()), rel=1e-9)


# Under priors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "main"), [(0.7, None), (1.5, 0.4), (0.3, math.inf)])
def test_a_gaussian_penalty_adds_its_curvature(width: float, main: float | None) -> None:
    """The covariance is the inverse of the curvature of the penalised log-likelihood, taken by differences."""
    fit = fitted("A:B + B:C + A:C", range(3, 15), prior=sf.Gaussian(width, main))
    x, names = design_of("A:B + B:C + A:C", "sum")
    m, tables = np.arange(3, 15.0), sf.Cliques("A:B + B:C + A:C").terms

    def loss(beta: np.ndarray) -> float:
        eta = x[:, 1:] @ beta
        value = m.sum() * np.logaddexp.reduce(eta) - m @ eta
        for term in tables:
            mask = [name == tuple(sorted(term)) for name, _ in names]
            # One number a cell of the joint table; each cell of the term is met as often as the table is larger.
            u = x[:, 1:][:, mask] @ beta[mask]
            times = 12 / np.prod([len(STATES[name]) for name in term])
            w = main if main is not None and len(term) == 1 else width
            value += (u**2).sum() / times / (2 * w**2)
        return float(value)

    found = fit.u_terms()
    place = {key: row for row, key in enumerate(zip(found.terms, found.states, strict=True))}
    rows = [place[key] for key in names]
    at, n, h = found.estimate[rows], len(rows), 1e-3
    hessian = np.empty((n, n))
    for i, j in itertools.product(range(n), range(n)):
        e, f = h * np.eye(n)[i], h * np.eye(n)[j]
        hessian[i, j] = (loss(at + e + f) - loss(at + e - f) - loss(at - e + f) + loss(at - e - f)) / (4 * h * h)
    np.testing.assert_allclose(found.covariance[np.ix_(rows, rows)], np.linalg.inv(hessian), rtol=1e-3, atol=1e-6)
    assert "the penalty's curvature included" in " ".join(str(found).split())


def test_pseudo_counts_count_as_rows() -> None:
    """The estimate is that of the table with the pseudo-counts added, and so are its errors."""
    fit = fitted("A:B + B:C + A:C", range(1, 13), prior=sf.BDeu(6), point="map")
    added = fitted("A:B + B:C + A:C", np.arange(1, 13) + 0.5).u_terms()
    found = fit.u_terms()
    np.testing.assert_allclose(found.estimate, added.estimate, atol=1e-8)
    np.testing.assert_allclose(found.se, added.se, rtol=1e-7)
    assert found.constant == pytest.approx(added.constant - math.log(84 / 78), abs=1e-8)
    assert "N + 6 rows" in " ".join(str(found).split())


# What is refused ----------------------------------------------------------------------------------------------


def test_boundary_estimates_have_no_errors() -> None:
    states = {"A": [0, 1], "B": [0, 1], "C": [0, 1]}
    hidden = sf.Contingency([[[0, 3], [4, 5]], [[6, 2], [7, 0]]], states)
    with pytest.raises(sf.EstimationError, match=r"boundary.*infinite.*2 fitted cells are zero"):
        sf.fit(sf.Cliques("A:B + B:C + A:C"), hidden).u_terms()
    with pytest.raises(sf.EstimationError, match="boundary"):
        sf.fit(sf.Cliques("A:B"), {"A": [0, 1], "B": [0, 1]}).u_terms()


def test_other_structures_have_no_terms() -> None:
    with pytest.raises(sf.ArgumentError, match=r"sf\.DAG"):
        sf.fit(sf.DAG("A -> B"), {"A": [0, 1], "B": [0, 1]}).u_terms()


def test_penalties_with_a_kink_have_no_curvature() -> None:
    fit = dataclasses.replace(fitted("A:B", range(1, 13)), prior=sf.Laplace(1.0))
    with pytest.raises(sf.EstimationError, match="kink at zero"):
        fit.u_terms()


def test_uncertified_fits_are_marked() -> None:
    fit = fitted("A:B + B:C + A:C", range(1, 13), method="gradient", max_iter=1)
    assert not fit.certificate.ok
    assert "not certified" in str(fit.u_terms())
    assert "not certified" not in str(fitted("A:B", range(1, 13)).u_terms())


def test_many_parameters_are_refused_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = fitted("A:B + B:C + A:C", range(1, 13))
    monkeypatch.setattr(wald, "MAX_FREE", 8)
    with pytest.raises(sf.ArgumentError, match=r"9 free parameters.*up to 8"):
        fit.u_terms()
    monkeypatch.setattr(wald, "MAX_FREE", 9)
    monkeypatch.setattr(wald, "MAX_COVARIANCE", 22)
    found = fit.u_terms()
    assert len(found.se) == 23
    with pytest.raises(sf.ArgumentError, match=r"23 rows.*529 numbers"):
        _ = found.covariance


@pytest.mark.parametrize("arguments", [{"constraint": "x"}, {"level": 0}, {"level": 1.0}, {"level": "x"}])
def test_arguments_are_checked(arguments: Any) -> None:
    with pytest.raises(sf.ArgumentError, match=next(iter(arguments))):
        fitted("A:B", range(1, 13)).u_terms(**arguments)


# Rendering ----------------------------------------------------------------------------------------------------


def test_print_and_frame() -> None:
    found = fitted("A:B + C", range(1, 13)).u_terms("corner", level=0.9)
    lines = str(found).splitlines()
    assert lines[0].split("  ")[0] == "term"
    assert "90 % from" in lines[0]
    assert [line.split()[:2] for line in lines[2:8]] == [
        ["A", "y"], ["B", "v"], ["B", "w"], ["C", "yes"], ["A:B", "y:v"], ["A:B", "y:w"],
    ]  # fmt: skip
    assert max(map(len, lines)) <= 100
    frame = found.to_frame("pandas")
    assert frame.columns.tolist() == ["term", "states", "estimate", "se", "z", "p", "lower", "upper"]
    assert frame["estimate"].tolist() == found.estimate.tolist()


def test_print_is_cut_and_html_escaped() -> None:
    rng = np.random.default_rng(4)
    data = {"<b>": rng.integers(0, 9, 5000), "c": rng.integers(0, 9, 5000)}
    found = sf.fit(sf.Cliques([("<b>", "c")]), data).u_terms()
    assert "… 39 more rows" in str(found)
    assert "<b>" not in found._repr_html_()


def test_corner_jacobian_is_the_derivative_of_the_terms() -> None:
    schema = sf.Schema(tuple(sf.Variable(name, tuple(range(n))) for name, n in zip("ABCD", (2, 3, 4, 1), strict=True)))
    interactions = Interactions(layout_of(sf.Cliques("B:A:C + C:D"), schema))
    jacobian = corner_jacobian(interactions)
    assert jacobian.shape == (23, 23)
    for column, unit in enumerate(np.eye(interactions.n_free)):
        tables = interactions.of(interactions.put(interactions.spread(unit)), "corner")[1]
        free = [table[(slice(1, None),) * table.ndim].reshape(-1) for table in tables]
        np.testing.assert_allclose(jacobian[:, column], np.concatenate(free), atol=1e-12)
