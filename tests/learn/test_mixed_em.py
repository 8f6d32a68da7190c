"""EM of networks with discrete and continuous nodes: gaps, latent classes, mixtures of normals."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import invgamma, multivariate_normal, norm

import suffice as sf
from suffice.data.stream import KEEP
from suffice.data.table import open_table
from suffice.errors import EstimationError, SchemaError
from suffice.inference.conditional_gaussian import Conditioned, Seen
from suffice.learn import mixed_chunks, mixed_expectation
from suffice.learn.method import Problem
from suffice.learn.mixed_expectation import MixedExpectation
from suffice.learn.mixed_priors import regression_log_prior
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.linear_gaussian_prior import RegressionPseudo
from suffice.models.mixed_network import mixed_network
from suffice.settings import settings as of_library
from suffice.stats.available import CheckedSource

Data = dict[str, list[Any]]
NETWORK = "A -> B; A -> x; A -> y; x -> y; B -> y; y -> z"


def drawn(seed: int, n: int, share: float) -> Data:
    """Rows of a network with two discrete and three continuous nodes, each value missing with some probability."""
    chance = np.random.default_rng(seed)
    a = chance.integers(0, 2, n)
    b = (chance.random(n) < np.where(a == 1, 0.7, 0.2)).astype(int)
    x = chance.normal(size=n) + 2 * a
    y = 1 + 0.5 * x * (1 + a) - b + 0.7 * chance.normal(size=n)
    z = y + chance.normal(size=n)
    columns: Data = {"A": ["ab"[i] for i in a], "B": ["uv"[i] for i in b], "x": list(x), "y": list(y), "z": list(z)}
    return {
        name: [None if gone else value for value, gone in zip(column, chance.random(n) < share, strict=True)]
        for name, column in columns.items()
    }


def bound(dag: sf.DAG, data: Data) -> MixedExpectation:
    """The E-step of a fit, its data bound."""
    table = open_table(data, dag.columns, missing=KEEP)
    source = CheckedSource(table)
    statistics = source.gather(mixed_expectation.needs(dag, source.schema))
    problem = Problem(dag, statistics, source=source.settled(statistics.schema))
    found = mixed_expectation.expectation(problem)
    assert isinstance(found, MixedExpectation)
    return found


# What is expected ---------------------------------------------------------------------------------------------


def row_by_row(model: Any, data: Data) -> tuple[float, dict[str, NDArray[np.float64]]]:
    """The slow twin: exact inference for every row and family; log-likelihood, and counts or Σ w (1, x)(1, x)ᵀ."""
    network, place = mixed_network(model), model.schema.positions
    total, sums = 0.0, {}
    for cpd in model.cpds:
        p = 2 + len(cpd.family.continuous)
        shape = [v.n_states for v in cpd.family.discrete]
        sums[cpd.family.child.name] = np.zeros(
            [*shape, cpd.family.child.n_states] if cpd.family.child.is_discrete else [*shape, p, p]
        )
    for i in range(len(next(iter(data.values())))):
        row = {name: column[i] for name, column in data.items() if column[i] is not None}
        hard = {place[k]: model.schema[k].code(v) for k, v in row.items() if model.schema[k].is_discrete}
        values = {place[k]: np.array([v]) for k, v in row.items() if not model.schema[k].is_discrete}
        asked = Conditioned(network, Seen(hard, {}, values, 1), [v for k, v in place.items() if k not in row])
        total += float(asked.log_evidence()[0])
        for cpd in model.cpds:
            family = cpd.family
            discrete = [v for v in (*family.discrete, family.child) if v.is_discrete]
            columns = [v.name for v in (*family.continuous, family.child) if not v.is_discrete]
            gone, lack = [v for v in discrete if v.name not in row], [name for name in columns if name not in row]
            mixture = asked.mixture([place[v.name] for v in gone], [place[name] for name in lack])[0]
            for k, weight in enumerate(mixture.weights[0]):
                codes = np.unravel_index(k, [network.sizes[v] for v in mixture.by]) if mixture.by else ()
                at = tuple(
                    int(codes[gone.index(v)]) if v in gone else model.schema[v.name].code(row[v.name]) for v in discrete
                )
                if not columns:
                    sums[family.child.name][at] += weight
                    continue
                means = [mixture.mean[0, k, lack.index(name)] if name in lack else row[name] for name in columns]
                z = np.array([1.0, *means])
                products = np.outer(z, z)
                where = [1 + columns.index(name) for name in lack]
                products[np.ix_(where, where)] += mixture.covariance[k]
                sums[family.child.name][at] += weight * products
    return total, sums


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.6]), st.sampled_from([1, 512]))
def test_expected_statistics_are_those_of_single_rows(seed: int, share: float, listed: int) -> None:
    dag, data = sf.DAG(NETWORK), drawn(seed, 12, share)
    whole = drawn(seed + 1, 400, 0.0)
    model = sf.fit(dag, whole).model
    mixed_chunks.LISTED, before = listed, mixed_chunks.LISTED
    try:
        data = {name: column + whole[name][:20] for name, column in data.items()}  # every state occurs
        step = bound(dag, data)
        log_likelihood, vector = step.at(model)
    finally:
        mixed_chunks.LISTED = before
    wanted, sums = row_by_row(model, data)
    assert log_likelihood == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    found = step.layout.items(vector)
    for node, need in step.needs.items():
        name = step.shape.names[node]
        statistic = found[need]
        if name in "AB":
            np.testing.assert_allclose(statistic.table(), sums[name], rtol=1e-8, atol=1e-10)
            continue
        np.testing.assert_allclose(statistic.weight, sums[name][..., 0, 0], rtol=1e-8, atol=1e-10)
        raw = statistic.weight[..., None] * statistic.mean
        np.testing.assert_allclose(raw, sums[name][..., 0, 1:], rtol=1e-7, atol=1e-8)
        second = statistic.scatter + raw[..., None] * statistic.mean[..., None, :]
        np.testing.assert_allclose(second, sums[name][..., 1:, 1:], rtol=1e-7, atol=1e-7)


# Where the steps lead -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_every_step_rises_to_a_certified_end(share: float) -> None:
    data = drawn(3, 150, share)
    fit = sf.fit(sf.DAG(NETWORK), data, missing="em")
    objectives = [step.objective for step in fit.trace]
    assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(objectives))
    assert fit.certificate.ok, fit.certificate
    assert row_by_row(fit.model, data)[0] == pytest.approx(fit.log_likelihood, rel=1e-9)
    if share == 0:
        assert len(fit.trace) == 1
        assert fit.log_likelihood == pytest.approx(sf.fit(sf.DAG(NETWORK), data).log_likelihood, rel=1e-10)


def test_a_missing_discrete_parent_agrees_with_a_numerical_optimiser() -> None:
    chance = np.random.default_rng(5)
    a = chance.integers(0, 2, 60)
    x = chance.normal(size=60) + 2.5 * a
    known = chance.random(60) < 0.4
    data = {"A": ["ab"[i] if k else None for i, k in zip(a, known, strict=True)], "x": list(x)}
    fit = sf.fit(sf.DAG("A -> x"), data, missing="em")

    def cost(theta: NDArray[np.float64]) -> float:
        p = 1 / (1 + math.exp(-theta[0]))
        joint = np.stack([
            math.log(1 - p) + norm(theta[1], math.exp(theta[3])).logpdf(x),
            math.log(p) + norm(theta[2], math.exp(theta[4])).logpdf(x),
        ])  # fmt: skip
        return -float(np.where(known, joint[a, np.arange(60)], np.logaddexp(*joint)).sum())

    found = minimize(cost, [0.0, 0.0, 2.0, 0.0, 0.0], method="BFGS", options={"gtol": 1e-6})
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-6)
    np.testing.assert_allclose(fit.model.cpd("x").intercept, found.x[1:3], atol=1e-3)


def test_a_mixture_agrees_with_scikit_learn_from_the_same_start() -> None:
    mixture = pytest.importorskip("sklearn.mixture")
    chance = np.random.default_rng(2)
    rows = np.concatenate([chance.normal(size=(120, 2)), chance.normal(size=(80, 2)) * 0.7 + [3.0, 2.0]])
    means = np.array([[0.5, 0.0], [2.5, 2.5]])
    theirs = mixture.GaussianMixture(
        2, covariance_type="diag", means_init=means, weights_init=[0.5, 0.5], precisions_init=np.ones((2, 2)),
        reg_covar=0.0, tol=1e-12, max_iter=5000,
    ).fit(rows)  # fmt: skip
    dag = sf.DAG("H -> x; H -> y", latent={"H": 2})
    data = {"x": rows[:, 0], "y": rows[:, 1]}
    rough = sf.fit(dag, data, seed=0, restarts=1, max_iter=1)
    given_ = sf.BayesianNetwork(
        rough.model.dag,
        {
            "H": [0.5, 0.5],
            "x": {0: {"intercept": means[0, 0], "sd": 1.0}, 1: {"intercept": means[1, 0], "sd": 1.0}},
            "y": {0: {"intercept": means[0, 1], "sd": 1.0}, 1: {"intercept": means[1, 1], "sd": 1.0}},
        },
        schema=rough.model.schema,
    )
    ours = sf.fit(dag, data, init=given_)
    assert ours.certificate.ok, ours.certificate
    assert ours.log_likelihood == pytest.approx(float(theirs.score(rows)) * len(rows), abs=1e-6)


def test_random_starts_find_three_clusters_and_are_reproducible() -> None:
    chance = np.random.default_rng(0)
    h = chance.choice(3, 600, p=[0.5, 0.3, 0.2])
    centres = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]])
    rows = centres[h] + chance.normal(size=(600, 2))
    dag, data = sf.DAG("H -> x; H -> y; x -> y", latent={"H": 3}), {"x": rows[:, 0], "y": rows[:, 1]}
    first, second = (sf.fit(dag, data, seed=3, restarts=3) for _ in range(2))
    assert [start.objective for start in first.starts] == [start.objective for start in second.starts]
    assert first.certificate.ok
    np.testing.assert_allclose(np.sort(first.model.query("H").to_numpy()), [0.2, 0.3, 0.5], atol=0.05)


def test_an_unrolled_hidden_chain_is_summed_out_not_listed() -> None:
    chance = np.random.default_rng(1)
    states = chance.integers(0, 2, (40, 10))
    rows = 4.0 * states + chance.normal(size=states.shape)
    steps = range(10)
    edges = [f"H{t} -> x{t}" for t in steps] + [f"H{t - 1} -> H{t}" for t in steps[1:]]
    dag = sf.DAG(
        "; ".join(edges),
        latent={f"H{t}": 2 for t in steps},
        tie=[[f"x{t}" for t in steps], [f"H{t}" for t in steps[1:]]],
    )
    fit = sf.fit(dag, {f"x{t}": rows[:, t] for t in steps}, restarts=1, seed=0, max_iter=200)
    assert fit.certificate.ok, fit.certificate
    np.testing.assert_allclose(np.sort(fit.model.cpd("x0").intercept), [0.0, 4.0], atol=0.4)


def test_neither_chunks_nor_threads_nor_reading_again_change_the_end(tmp_path: Path, monkeypatch: Any) -> None:
    data = drawn(8, 120, 0.25)
    dag = sf.DAG(NETWORK)
    wanted = sf.fit(dag, data, missing="em")
    held = of_library()
    try:
        sf.config(threads=1)
        monkeypatch.setattr(mixed_chunks, "CHUNK", 16)
        chunked = sf.fit(dag, data, missing="em")
        sf.config(threads=3)
        threaded = sf.fit(dag, data, missing="em")
    finally:
        sf.config(threads=held.threads)
    monkeypatch.setattr(mixed_expectation, "HELD", 1)
    path = tmp_path / "rows.csv"
    rows = [["" if value is None else str(value) for value in row] for row in zip(*data.values(), strict=True)]
    path.write_text("\n".join(",".join(row) for row in [list(data), *rows]) + "\n")
    streamed = sf.fit(dag, str(path), missing="em")
    for other in (chunked, threaded, streamed):
        assert other.log_likelihood == pytest.approx(wanted.log_likelihood, abs=1e-6)
        assert other.certificate.ok


@pytest.mark.parametrize("tied", ["variance", "slopes", "both"])
def test_ties_are_honoured(tied: str) -> None:
    fit = sf.fit(sf.DAG(NETWORK, kinds={"y": {"tied": tied}}), drawn(9, 150, 0.2), missing="em")
    assert fit.certificate.ok, fit.certificate


def test_tied_nodes_share_what_is_expected_of_both() -> None:
    data = {name: column for name, column in drawn(9, 150, 0.2).items() if name in "Axz"}
    fit = sf.fit(sf.DAG("A -> x; A -> z", tie=[("x", "z")]), data, missing="em")
    assert fit.certificate.ok, fit.certificate


def test_given_regressions_do_not_keep_em_from_ending() -> None:
    rng = np.random.default_rng(7)
    b = rng.integers(0, 2, 200)
    columns = {
        "b": [None if row % 7 == 0 else str(state) for row, state in enumerate(b)],
        "x": b + rng.normal(size=200),
        "c": [str(state) for state in (b + rng.integers(0, 2, 200)) // 2],
    }
    given_regression = {"intercept": [0.0, 1.0], "variance": [1.0, 1.0]}
    fit = sf.fit(sf.DAG("b -> x; b -> c"), columns, missing="em", fixed={"x": given_regression})
    assert fit.certificate.ok
    assert len(fit.trace) < 50


def test_priors_are_part_of_the_objective() -> None:
    data = drawn(10, 100, 0.3)
    fit = sf.fit(
        sf.DAG(NETWORK), data, prior=[sf.Dirichlet(2.0), sf.NormalInverseGamma(2, 1.0)], point="map", missing="em"
    )
    objectives = [step.objective for step in fit.trace]
    assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(objectives))
    assert fit.certificate.ok, fit.certificate
    with pytest.raises(EstimationError, match="Pass point='map'"):
        sf.fit(sf.DAG(NETWORK), data, prior=[sf.Dirichlet(2.0), sf.NormalInverseGamma(2, 1.0)], missing="em")
    with pytest.raises(EstimationError, match="not BGe"):
        sf.fit(sf.DAG(NETWORK), data, prior=[sf.Dirichlet(2.0), sf.BGe()], missing="em")


# What cannot be -----------------------------------------------------------------------------------------------


def test_the_prior_of_a_regression_is_its_normal_inverse_gamma_density() -> None:
    precision, mean = np.array([[2.0, 1.0], [1.0, 5.0]]), np.array([0.5, -1.0])
    pseudo = RegressionPseudo.from_precision(precision, mean, shape=2.5, scale=1.5)
    family = sf.fit(sf.DAG("x -> y"), {"x": [0.0, 1.0, 2.0], "y": [0.0, 2.0, 1.0]}).model.cpd("y").family
    gaps = []
    for intercept, slope, variance in [(1.0, 2.0, 0.7), (-0.3, 0.4, 1.9), (2.0, -3.0, 0.1)]:
        cpd = LinearGaussianCPD(family, np.array([intercept]), np.array([[slope]]), np.array([variance]))
        density = multivariate_normal.logpdf([intercept, slope], mean, variance * np.linalg.inv(precision))
        density += invgamma.logpdf(variance, 2.5, scale=1.5)
        gaps.append(regression_log_prior(cpd, pseudo) - density)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-12)


def test_a_softmax_needs_its_family_observed() -> None:
    chance = np.random.default_rng(3)
    x = chance.normal(size=100)
    c = np.where(chance.random(100) < 1 / (1 + np.exp(-x)), "p", "q")
    y = x + chance.normal(size=100)
    y[:20] = np.nan
    dag = sf.DAG("x -> c; x -> y")
    fit = sf.fit(dag, {"x": x, "c": c, "y": y}, missing="em")
    assert fit.certificate.ok
    x[:5] = np.nan
    with pytest.raises(EstimationError, match=r"Node 'c' is a softmax .* \['x'\] of its family is missing"):
        sf.fit(dag, {"x": x, "c": c, "y": y}, missing="em")


def test_a_component_that_collapses_is_named() -> None:
    rows = np.concatenate([np.zeros(1), np.linspace(5, 6, 6)])
    dag = sf.DAG("H -> x", latent={"H": 3})
    alone = sf.BayesianNetwork(
        dag,
        {
            "H": [0.2, 0.4, 0.4],
            "x": {
                0: {"intercept": 0.0, "sd": 0.1},
                1: {"intercept": 5.2, "sd": 0.3},
                2: {"intercept": 5.8, "sd": 0.3},
            },
        },
        schema={"H": sf.categorical([0, 1, 2]), "x": sf.continuous()},
    )
    with pytest.raises(EstimationError, match=r"Node 'x', H=0.*variance"):
        sf.fit(dag, {"x": rows}, init=alone)
    fit = sf.fit(dag, {"x": rows}, prior=[sf.Dirichlet(2.0), sf.NormalInverseGamma(2, 1.0)], point="map", seed=0)
    assert fit.certificate.ok, fit.certificate


def test_columns_without_values_are_named() -> None:
    data = drawn(1, 40, 0.1)
    with pytest.raises(EstimationError, match="Column 'z' has no values at all"):
        sf.fit(sf.DAG(NETWORK), {**data, "z": [math.nan] * 40}, missing="em", schema={"z": sf.continuous()})
    with pytest.raises(SchemaError, match="No row has a value of 'A'"):
        sf.fit(sf.DAG("A -> x"), {"A": [None] * 40, "x": data["x"]}, missing="em")
    schema = {"A": sf.categorical(["p", "q"])}
    fit = sf.fit(sf.DAG("A -> x"), {"A": [None] * 40, "x": data["x"]}, missing="em", schema=schema, max_iter=50)
    assert fit.model.cpd("x").intercept[0] != pytest.approx(fit.model.cpd("x").intercept[1])


def test_settings_that_depart_from_the_likelihood_are_refused() -> None:
    with pytest.raises(EstimationError, match="divisor='n-p'"):
        sf.fit(sf.DAG(NETWORK, divisor="n-p"), drawn(1, 40, 0.1), missing="em")
    with pytest.raises(EstimationError, match="ridge=1"):
        sf.fit(sf.DAG(NETWORK, kinds={"y": {"ridge": 1.0}}), drawn(1, 40, 0.1), missing="em")
