"""Wrong models that claim their own log-likelihood, and whose gaps are small beside the weight of all data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.audit.family import certify_as_claimed, fits_kept

import suffice as sf
from suffice.certify.claim import Claim
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD


def fitted(structure: Any, data: Any, **keywords: Any) -> tuple[sf.Fit, Claim]:
    """Return a certified fit and what it claims."""
    with fits_kept() as held:
        fit = sf.fit(structure, data, **keywords)
    assert fit.certificate.ok, fit.certificate.verdict
    return fit, held[-1][0]


def with_nodes(fit: sf.Fit, **cpds: Any) -> sf.BayesianNetwork:
    """Return the network with some distributions replaced."""
    model = fit.model
    return sf.BayesianNetwork(model.dag, {name: cpds.get(name, model.cpd(name)) for name in model.variables})


def table(fit: sf.Fit, node: str, values: Any) -> TabularCPD:
    return TabularCPD(fit.model.cpd(node).family, np.array(values))


def line(fit: sf.Fit, node: str, intercept: Any, variance: Any) -> LinearGaussianCPD:
    cpd = fit.model.cpd(node)
    return LinearGaussianCPD(cpd.family, intercept, cpd.coefficients, variance)


# Tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("factor", "nats"), [(2.0, 2.7616753), (0.1, 12.6232664), (0.0, math.inf)])
def test_a_rare_state_of_a_table_counts_in_nats(factor: float, nats: float) -> None:
    fit, claim = fitted(sf.DAG("A"), {"A": ["x", "y", "z"]}, weights=[1e10, 9, 2e9])
    values = np.array(fit.model.cpd("A").values) * [1, factor, 1]
    found = certify_as_claimed(claim, with_nodes(fit, A=table(fit, "A", values / values.sum())))
    assert found.gradient_norm < 1e-8
    assert found.decrement == pytest.approx(nats, rel=1e-6)
    assert not found.ok
    assert "nats at node 'A'" in found.verdict


def test_the_row_of_a_table_is_named() -> None:
    data = {"A": list("aabb"), "B": list("uvuv")}
    fit, claim = fitted(sf.DAG("A -> B"), data, weights=[1e12, 1e12, 5, 1])
    values = np.array(fit.model.cpd("B").values)
    values[1] += [1e-9, -1e-9]
    assert certify_as_claimed(claim, with_nodes(fit, B=table(fit, "B", values))).ok
    values[0] += [1e-6, -1e-6]
    found = certify_as_claimed(claim, with_nodes(fit, B=table(fit, "B", values)))
    assert "raise the objective" in found.verdict
    assert "node 'B', A='a'" in found.verdict


def test_a_posterior_mean_is_compared_in_posterior_standard_deviations() -> None:
    fit, claim = fitted(sf.DAG("A"), {"A": ["x", "y"]}, weights=[1e12, 1e2], prior=sf.Dirichlet(1))
    values = np.array(fit.model.cpd("A").values)
    assert fit.certificate.deviation == pytest.approx(0, abs=1e-2)
    assert fit.certificate.decrement is None
    off = values * [[1, 1.2]]
    found = certify_as_claimed(claim, with_nodes(fit, A=table(fit, "A", off / off.sum())))
    assert found.gradient_norm < 1e-8
    assert found.deviation == pytest.approx(0.2 * math.sqrt(101), rel=1e-3)
    assert not found.ok


# EM -----------------------------------------------------------------------------------------------------------


def test_a_rare_row_counts_under_em() -> None:
    data = {"A": ["a", "a", "b", "b", "a", None], "B": ["u", "v", "u", "v", None, "u"]}
    fit, claim = fitted(sf.DAG("A -> B"), data, weights=[5e8, 4e8, 1, 8, 1e6, 1], missing="em", seed=0)
    values = np.array(fit.model.cpd("B").values)
    values[1] = values[1][::-1]
    found = certify_as_claimed(claim, with_nodes(fit, B=table(fit, "B", values)))
    assert found.gradient_norm < 1e-8
    assert found.decrement is not None
    assert found.decrement > 5
    assert not found.ok


def mixed_data() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {"a": ["p" if t < 0.5 else "q" for t in rng.random(200)]}
    data |= {"x": rng.normal(size=200), "y": rng.normal(size=200)}
    data["a"][3] = None
    return data


def test_tied_continuous_nodes_are_checked_under_em() -> None:
    fit, claim = fitted(sf.DAG(["a", "x", "y"], tie=[("x", "y")]), mixed_data(), missing="em", seed=0)
    y = fit.model.cpd("y")
    found = certify_as_claimed(claim, with_nodes(fit, y=line(fit, "y", y.intercept + 0.5, y.variance * 3)))
    assert not found.ok
    assert "which is tied and differs" in found.verdict
    both = {node: line(fit, node, y.intercept + 0.5, y.variance * 3) for node in ("x", "y")}
    assert not certify_as_claimed(claim, with_nodes(fit, **both)).ok


@pytest.mark.parametrize("node", ["a", "y"])
def test_given_nodes_are_checked_under_em_with_continuous_nodes(node: str) -> None:
    fixed = {"y": {"intercept": 0.0, "sd": 1.0}, "a": [0.5, 0.5]}
    fit, claim = fitted(sf.DAG(["a", "x", "y"]), mixed_data(), missing="em", seed=0, fixed=fixed)
    other = table(fit, "a", [[0.9, 0.1]]) if node == "a" else line(fit, "y", [2.0], [9.0])
    found = certify_as_claimed(claim, with_nodes(fit, **{node: other}))
    assert not found.ok
    assert "where a given row was changed" in found.verdict


def test_tied_variances_are_checked_under_em() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=100), 3 + rng.normal(size=100)])
    data = {"A": ["p"] * 100 + ["q"] * 100, "x": [None, *x[1:]]}
    fit, claim = fitted(sf.DAG("A -> x", kinds={"x": {"tied": "variance"}}), data, missing="em", seed=0)
    cpd = fit.model.cpd("x")
    first, second = (((part - a) ** 2).sum() for part, a in zip((x[1:100], x[100:]), cpd.intercept, strict=True))
    v = 1.5 * cpd.variance[0]
    split = line(fit, "x", cpd.intercept, [v, second / (199 - first / v)])  # their sum of derivatives is zero
    found = certify_as_claimed(claim, with_nodes(fit, x=split))
    assert found.gradient_norm < 1e-8
    assert not found.ok


# Regressions --------------------------------------------------------------------------------------------------


def test_a_posterior_mean_far_from_zero_is_compared_with_its_spread() -> None:
    y = 1e6 + 0.01 * np.random.default_rng(0).normal(size=1000)
    prior = sf.NormalInverseGamma(2.0, 1e-4, mean=1e6)
    fit, claim = fitted(sf.DAG("y"), {"y": y}, prior=prior)
    cpd = fit.model.cpd("y")
    found = certify_as_claimed(claim, with_nodes(fit, y=line(fit, "y", cpd.intercept + cpd.sd, cpd.variance)))
    assert found.gradient_norm < 1e-8
    assert found.deviation == pytest.approx(math.sqrt(1001), rel=0.05)
    assert not found.ok


@pytest.mark.parametrize("point", ["mle", "map"])
def test_a_mean_far_from_zero_counts_in_nats(point: str) -> None:
    y = 1e6 + 0.01 * np.random.default_rng(0).normal(size=1000)
    under: dict[str, Any] = {"prior": sf.NormalInverseGamma(2.0, 1e-4, mean=1e6), "point": point}
    fit, claim = fitted(sf.DAG("y"), {"y": y}, **({} if point == "mle" else under))
    cpd = fit.model.cpd("y")
    found = certify_as_claimed(claim, with_nodes(fit, y=line(fit, "y", cpd.intercept + cpd.sd, cpd.variance)))
    assert found.decrement is not None
    assert found.decrement > 500
    assert not found.ok


@pytest.mark.parametrize("far", [0.0, 1e6, 1e9])
def test_rounding_of_means_far_from_zero_is_no_fault(far: float) -> None:
    rng = np.random.default_rng(1)
    data = {"x": far + 0.01 * rng.normal(size=50), "A": list("uv") * 25}
    data["y"] = 2 * data["x"] + 0.01 * rng.normal(size=50)
    fit, _ = fitted(sf.DAG("A -> x; x -> y"), data, weights=np.full(50, 2e10))
    assert fit.certificate.decrement is not None
    assert fit.certificate.decrement < 1e-4


@pytest.mark.parametrize("first", ["u", "v"])
def test_tied_slopes_under_a_ridge_are_certified_whichever_configuration_varies_most(first: str) -> None:
    rng = np.random.default_rng(2)
    a, x = rng.choice(["u", "v"], 100), rng.normal(size=100)
    y = 2 * x + np.where(a == first, 3.0, 0.1) * rng.normal(size=100)
    kinds = {"y": {"tied": "slopes", "ridge": 10.0}}
    fit, _ = fitted(sf.DAG("a -> y; x -> y", kinds=kinds), {"a": a, "x": x, "y": y})
    assert fit.certificate.decrement is not None
    assert fit.certificate.decrement < 1e-9


def test_the_table_of_a_certificate_shows_nats_or_standard_deviations() -> None:
    data = {"A": list("xxyyy")}
    shown = str(fitted(sf.DAG("A"), data)[0].certificate)
    assert "Newton decrement, in nats" in shown
    assert "at most 0.001" in shown
    shown = str(fitted(sf.DAG("A"), data, prior=sf.K2())[0].certificate)
    assert "in posterior standard deviations" in shown
    assert "at most 0.1" in shown
