"""Markov random fields of a real size: grids, and the moral graph of ALARM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.learn.clique_cases import grid, grid_data

import suffice as sf


@pytest.mark.parametrize("side", [4, 8, 12])
def test_grids_from_many_rows_are_fitted_and_exist(side: int) -> None:
    fit = sf.fit(grid(side, side), grid_data(side, side, 100_000))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.moment_gap is not None
    assert fit.certificate.moment_gap < 1e-8
    assert fit.certificate.exists == "yes"
    assert fit.n_free == fit.n_free_adjusted == side * side + 2 * side * (side - 1)


@pytest.mark.parametrize("tol", [1e-8, 1e-12])
@pytest.mark.parametrize("method", ["adaptive", "newton", "lbfgs", "cg", "ipf"])
def test_all_methods_agree_on_a_grid_too_large_for_its_joint_table(method: str, tol: float) -> None:
    structure, data = grid(5, 6), grid_data(5, 6, 5_000, seed=1)
    fit, best = sf.fit(structure, data, method=method, tol=tol), sf.fit(structure, data, tol=1e-11)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "yes"
    rows = {name: values[:200] for name, values in data.items()}
    np.testing.assert_allclose(fit.model.log_prob(rows), best.model.log_prob(rows), atol=1e-4)
    assert fit.log_likelihood == pytest.approx(best.log_likelihood, rel=1e-9)


def test_a_large_tree_is_fitted_in_closed_form() -> None:
    rng = np.random.default_rng(0)
    edges = [(f"v{rng.integers(0, i)}", f"v{i}") for i in range(1, 400)]
    data = {f"v{i}": rng.integers(0, 3, 2_000) for i in range(400)}
    fit = sf.fit(sf.Cliques(edges), data)
    assert fit.method == "closed_form"
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "yes"
    one_cycle = sf.fit(sf.Cliques(edges), data, method="ipf", max_iter=1)
    assert one_cycle.certificate.ok, one_cycle.certificate.verdict
    assert one_cycle.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-12)


@pytest.mark.data
def test_moral_graph_of_alarm_is_fitted(data_folder: Path) -> None:
    network = sf.read(data_folder / "networks_bif" / "alarm.bif.gz")
    data = network.sample(20_000, seed=0)
    for take in ("maximal", "pairwise"):
        fit = sf.fit(sf.Cliques(network.dag, take=take), data)
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.certificate.moment_gap is not None
        assert fit.certificate.moment_gap < 1e-8
