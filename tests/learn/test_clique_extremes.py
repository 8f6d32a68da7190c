"""Markov random fields where numbers are very large, very small or very many."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf

YES_NO = {"A": ["y", "n"], "B": ["y", "n"], "C": ["y", "n"]}
TRIANGLE = sf.Cliques("A:B + B:C + A:C")
RARE = sf.Contingency([[[1e10, 5000], [300, 2]], [[40, 3], [2, 7]]], YES_NO)
ONES = np.ones((2, 2))


@pytest.mark.parametrize("method", ["auto", "ipf", "newton", "lbfgs", "cg"])
def test_rare_cells_among_very_many_rows_are_fitted_as_well(method: str) -> None:
    """G² and cells by R's glm(n ~ (A + B + C)^2, poisson): a gap of 1e-8 would be a hundred rows here."""
    fit = sf.fit(TRIANGLE, RARE, method=method, max_iter=20_000)
    assert fit.certificate.ok, fit.certificate.verdict
    assert pytest.approx(13.082, abs=2e-3) == fit.goodness.G2
    expected = fit.model.query(["A", "B", "C"]).values[1] * fit.n
    np.testing.assert_allclose(expected, [[41.79, 1.2137], [0.2137, 8.786]], atol=6e-3)


def test_a_gap_of_many_standard_errors_is_not_certified() -> None:
    fit = sf.fit(TRIANGLE, RARE, method="ipf", max_iter=25)
    assert fit.certificate.moment_gap is not None
    assert fit.certificate.moment_gap < 1e-8
    assert not fit.certificate.ok


def test_counts_near_the_end_of_whole_numbers() -> None:
    fit = sf.fit(TRIANGLE, sf.Contingency([[[1e15, 1], [1, 0]], [[1, 3], [2, 7]]], YES_NO))
    assert fit.certificate.exists == "yes"
    assert fit.certificate.ok, fit.certificate.verdict
    pair = sf.fit(sf.Cliques("A:B"), sf.Contingency([[1e13, 3], [2, 5]], {"A": ["y", "n"], "B": ["y", "n"]}))
    assert pair.certificate.ok, pair.certificate.verdict


@pytest.mark.parametrize("start", [1e-300, 1e-140, 1e140, 1e300])
@pytest.mark.parametrize("method", ["auto", "ipf"])
def test_potentials_of_any_size_may_be_the_start(method: str, start: float) -> None:
    data = {name: np.random.default_rng(number).integers(0, 2, 60) for number, name in enumerate("ABC")}
    fit = sf.fit(TRIANGLE, data, init={"A:B": start * ONES, "B:C": ONES, "A:C": ONES}, method=method)
    assert fit.certificate.ok, fit.certificate.verdict


def test_auto_finds_its_way_from_a_start_where_proportional_fitting_does_not() -> None:
    data = {name: np.random.default_rng(number).integers(0, 2, 60) for number, name in enumerate("ABC")}
    start = {"A:B": [[1e-300, 1], [1, 1e300]], "B:C": ONES, "A:C": ONES}
    assert sf.fit(TRIANGLE, data, init=start).certificate.ok
    with pytest.raises(sf.EstimationError, match="left the range of floats"):
        sf.fit(TRIANGLE, data, init=start, method="ipf")


def test_one_large_clique_is_described_by_a_few_of_its_cells() -> None:
    names = [f"v{number}" for number in range(18)]
    data = {name: np.random.default_rng(number).integers(0, 2, 200) for number, name in enumerate(names)}
    fit = sf.fit(sf.Cliques([tuple(names)]), data)
    assert fit.certificate.ok
    assert fit.certificate.exists == "no"
    assert max(len(note.text) for note in fit.notes) < 3000


def test_draws_from_a_hyper_dirichlet_law_with_tiny_pseudo_counts() -> None:
    states = {name: list(range(4)) for name in "ABC"}
    one = {name: [0] for name in "ABC"}
    posterior = sf.fit(sf.Cliques("A:B + B:C"), one, schema=states, prior=sf.BDeu(1e-3)).posterior
    networks = posterior.sample(20, seed=2)
    assert len(networks) == 20
    for network in networks:
        assert network.query(["A", "B", "C"]).values.sum() == pytest.approx(1)


def test_a_normal_likelihood_without_a_maximum_is_never_called_existent() -> None:
    """A cycle of four and three rows: the likelihood may be unbounded, and rounding decides where it stops."""
    ring = sf.GaussianMarkov("a:b + b:c + c:d + d:a")
    for seed in (91, 4, 7, 12):
        rows = np.random.default_rng(seed).normal(size=(3, 4))
        fit = sf.fit(ring, dict(zip("abcd", rows.T, strict=True)))
        if np.linalg.cond(fit.model.precision) > 1e7:
            assert fit.certificate.exists != "yes"
    rows = np.random.default_rng(0).normal(size=(30, 4))
    assert sf.fit(ring, dict(zip("abcd", rows.T, strict=True))).certificate.exists == "yes"
