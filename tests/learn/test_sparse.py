"""Tables too large to hold whole give the same results as whole ones, rows without data included."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.test_directed import Case, assert_cells, cases, cells_of

import suffice as sf

WAYS: list[dict[str, Any]] = [
    {"unseen_parents": "nan"},
    {"unseen_parents": "uniform"},
    {"prior": sf.BDeu(3)},
    {"prior": sf.Jeffreys()},
    {"prior": sf.K2(), "point": "map", "unseen_parents": "uniform"},
    {"prior": sf.K2(), "point": "map", "unseen_parents": "nan"},
    {"prior": sf.Dirichlet(2.5), "point": "map"},
]


@contextmanager
def sparse() -> Iterator[None]:
    """Hold every table as a list of the rows that occur."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.stats.counts.DENSE_CELLS", 0)
        yield


def both(case: Case, **keywords: Any) -> tuple[sf.Fit, sf.Fit]:
    dense = case.fit(**keywords)
    with sparse():
        thin = case.fit(**keywords)
    assert all(cpd.configurations is not None for cpd in thin.model.cpds)
    assert all(cpd.configurations is None for cpd in dense.model.cpds)
    return dense, thin


def assert_same_fit(dense: sf.Fit, thin: sf.Fit) -> None:
    for node in dense.model.variables:
        assert_cells(cells_of(thin.model.cpd(node)), cells_of(dense.model.cpd(node)))
    assert thin.log_likelihood == pytest.approx(dense.log_likelihood, rel=1e-12, abs=1e-12)
    assert dict(thin.local) == pytest.approx(dict(dense.local), rel=1e-12, abs=1e-12)
    assert (thin.n, thin.n_free, thin.n_free_adjusted) == (dense.n, dense.n_free, dense.n_free_adjusted)
    assert dense.certificate.ok
    assert thin.certificate.ok
    assert thin.certificate.log_likelihood == pytest.approx(dense.certificate.log_likelihood, rel=1e-12, abs=1e-12)
    assert len(thin.notes) == len(dense.notes)


@given(cases(), st.sampled_from(WAYS))
@settings(max_examples=80)
def test_sparse_fits_equal_dense_ones(case: Case, keywords: dict[str, Any]) -> None:
    dense, thin = both(case, **keywords)
    assert_same_fit(dense, thin)
    rows = case.all_rows()
    with np.errstate(all="raise"):
        assert np.allclose(thin.model.log_prob(rows), dense.model.log_prob(rows), rtol=1e-12, equal_nan=True)
    if keywords.get("unseen_parents") != "nan":
        assert thin.model.sample(50, seed=7).equals(dense.model.sample(50, seed=7))
    if "prior" in keywords:
        assert thin.log_marginal_likelihood == pytest.approx(dense.log_marginal_likelihood, rel=1e-11, abs=1e-11)
        assert np.allclose(thin.posterior.log_predictive(rows), dense.posterior.log_predictive(rows), rtol=1e-12)


@given(cases())
@settings(max_examples=25)
def test_sparse_statistics_are_certified_against_the_data(case: Case) -> None:
    with sparse():
        fit = case.fit(unseen_parents="nan", certify="data")
    assert fit.certificate.ok
    assert fit.certificate.data_gap == 0


@given(cases(weighted=False, max_rows=6))
@settings(max_examples=30)
def test_sparse_error_on_unseen_parents_equals_the_dense_one(case: Case) -> None:
    def outcome() -> str:
        try:
            case.fit()
        except sf.EstimationError as error:
            return str(error).split(" (first")[0]
        return "fitted"

    dense = outcome()
    with sparse():
        assert outcome() == dense


TIED = sf.DAG("X0 -> X1 -> X2", tie=[("X1", "X2")])
TIED_DATA = {"X0": list("aab"), "X1": list("aba"), "X2": list("bac")}
ABC = {name: list("abc") for name in ("X0", "X1", "X2")}
TIED_ROWS = {
    "X0": [a for a in "abc" for _ in range(9)],
    "X1": [b for _ in "abc" for b in "abc" for _ in range(3)],
    "X2": list("abc") * 9,
}


@pytest.mark.parametrize("keywords", WAYS)
def test_sparse_ties_equal_dense_ones(keywords: dict[str, Any]) -> None:
    dense = sf.fit(TIED, TIED_DATA, schema=ABC, **keywords)
    with sparse():
        thin = sf.fit(TIED, TIED_DATA, schema=ABC, **keywords)
    assert_same_fit(dense, thin)
    if "prior" in keywords:
        expected = dense.posterior.log_predictive(TIED_ROWS)
        assert np.allclose(thin.posterior.log_predictive(TIED_ROWS), expected, rtol=1e-12)


@pytest.mark.parametrize("keywords", WAYS)
@pytest.mark.parametrize("rows", ["seen", "unseen", "all"])
def test_sparse_fixed_rows_equal_dense_ones(keywords: dict[str, Any], rows: str) -> None:
    data = {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}
    schema = {"A": ["x", "y", "z"], "B": ["u", "v"]}
    table = {"x": [0.25, 0.75], "y": [0.5, 0.5], "z": [0.125, 0.875]}
    chosen = {"seen": ("y",), "unseen": ("z",), "all": ("x", "y", "z")}[rows]
    fixed = {"B": {name: table[name] for name in chosen}}
    dense = sf.fit(sf.DAG("A -> B"), data, schema=schema, fixed=fixed, **keywords)
    with sparse():
        thin = sf.fit(sf.DAG("A -> B"), data, schema=schema, fixed=fixed, **keywords)
    assert_same_fit(dense, thin)
    for name in chosen:
        assert [cells_of(thin.model.cpd("B"))[name, state] for state in "uv"] == table[name]


def test_sparse_mode_exists_where_every_row_has_enough_data() -> None:
    """α < 1 has no mode by itself, but α + m ≥ 1 everywhere when every cell was seen."""
    data = {"A": ["x", "x", "y", "y"], "B": ["u", "v", "u", "v"]}
    dense = sf.fit(sf.DAG("A -> B"), data, prior=sf.Dirichlet(0.5), point="map")
    with sparse():
        thin = sf.fit(sf.DAG("A -> B"), data, prior=sf.Dirichlet(0.5), point="map")
    assert_same_fit(dense, thin)


def test_sparse_prior_alone_can_be_evaluated() -> None:
    data = {"A": ["x", "y"], "B": ["u", "v"]}
    with sparse():
        fit = sf.fit(sf.DAG("A -> B"), data, weights=[0, 0], prior=sf.K2())
        assert fit.certificate.ok
        assert fit.model.log_prob(data).tolist() == [math.log(0.5) * 2] * 2
        assert fit.model.sample(4, seed=0).shape == (4, 2)


def test_sparse_prior_alone_predicts_for_ties() -> None:
    with sparse():
        fit = sf.fit(
            sf.DAG("A; B", tie=[("A", "B")]), {"A": ["x", "y"], "B": ["x", "y"]}, weights=[0, 0], prior=sf.K2()
        )
        assert fit.posterior.log_predictive({"A": ["x"], "B": ["x"]})[0] == pytest.approx(math.log(1 / 2 * 2 / 3))


def test_sparse_posterior_draws_also_vary_in_rows_without_data() -> None:
    """Of a row without data the posterior is the prior, not the prior's mean."""
    data, schema = {"A": ["x", "x"], "B": ["u", "v"]}, {"A": ["x", "y"], "B": ["u", "v"]}
    new = {"A": ["y"], "B": ["u"]}

    def conditional(fit: sf.Fit, seed: int) -> float:
        network = fit.posterior.sample(1, seed=seed)[0]
        return cells_of(network.cpd("B"))["y", "u"]

    dense = sf.fit(sf.DAG("A -> B"), data, schema=schema, prior=sf.K2())
    with sparse():
        thin = sf.fit(sf.DAG("A -> B"), data, schema=schema, prior=sf.K2())
        assert thin.posterior.log_predictive(new)[0] == pytest.approx(dense.posterior.log_predictive(new)[0])
        assert len({conditional(dense, seed) for seed in range(20)}) == 20
        assert len({conditional(thin, seed) for seed in range(20)}) == 20


def test_a_node_of_seventy_parents_is_fitted_from_the_rows_that_occur() -> None:
    """2⁷⁰ configurations: more than a 64-bit number can count."""
    rng = np.random.default_rng(3)
    names = [f"P{i}" for i in range(70)]
    data = {name: rng.choice(["a", "b"], 12).tolist() for name in names}
    data = {name: values + values for name, values in data.items()}  # every configuration twice
    data["Y"] = ["u"] * 12 + ["u", "v"] * 6
    dag = sf.DAG({"Y": names})
    mle = sf.fit(dag, data, unseen_parents="nan")
    assert mle.certificate.ok
    assert mle.n_free == 70 + 2**70
    assert mle.local["Y"] == pytest.approx(6 * 2 * math.log(0.5), rel=1e-12)
    ess = 10.0
    fit = sf.fit(dag, data, prior=sf.BDeu(ess))
    assert fit.certificate.ok
    alpha = ess / 2**71
    # u then v after one u: α/(2α) · α/(2α + 1); u then u: α/(2α) · (α + 1)/(2α + 1)
    expected = 6 * math.log(0.5 * alpha) + 6 * math.log(0.5)
    assert fit.posterior["Y"].log_marginal_likelihood == pytest.approx(expected, rel=1e-9)
    assert fit.model.sample(3, seed=0).shape == (3, 71)
    unseen = {name: ["a"] for name in names} | {"Y": ["u"]}
    assert fit.model.cpd("Y").log_prob({name: np.zeros(1, int) for name in unseen})[0] == pytest.approx(math.log(0.5))
