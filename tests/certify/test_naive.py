"""The proof of naive Bayes fails when anything is other than claimed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.linear_gaussian_kind import LinearGaussianKind
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.cpds.tabular_kind import TabularKind
from suffice.structures.naive import Naive

DATA = {
    "c": ["s", "t", "t", "s", None, "t"],
    "x": [1.0, 2.0, None, 5.0, 7.0, 8.5],
    "u": [3, 1, 0, 0, 2, 1],
    "v": [0, 2, 4, 1, 0, 1],
    "y": ["a", "a", "a", "b", "b", "b"],
}
NAIVE = Naive("y", ["c", "x", "u", "v"], kinds={"u": "multinomial", "v": "multinomial"})
FITS = {
    "mle": sf.fit(NAIVE, DATA, missing="available"),
    "mean": sf.fit(NAIVE, DATA, missing="available", prior=[sf.Dirichlet(1.0), sf.NormalInverseGamma(2, 1.0)]),
    "map": sf.fit(
        NAIVE, DATA, missing="available", point="map", prior=[sf.Dirichlet(2.0), sf.NormalInverseGamma(2, 1.0)]
    ),
}


def examined(fit: sf.Fit, **changed: Any) -> Any:
    claim = Claim(
        structure=changed.get("structure", fit.structure),
        model=changed.get("model", fit.model),
        statistics=fit.statistics,
        log_likelihood=changed.get("log_likelihood", fit.log_likelihood),
        point=fit.point,
        prior=changed.get("prior", fit.prior),
    )
    return certify(claim)


def moved(model: Any, name: str) -> Any:
    """Return the model with one distribution a little off."""

    def off(cpd: Any) -> Any:
        if isinstance(cpd, LinearGaussianCPD):
            return LinearGaussianCPD(cpd.family, cpd.intercept + 1e-3, cpd.coefficients, cpd.variance)
        values = np.array(cpd.values)
        values[0] = values[0] + np.array([1e-3, -1e-3])
        return TabularCPD(cpd.family, values)

    if name == "y":
        return replace(model, class_prior=model.class_prior + np.array([1e-3, -1e-3]))
    if name == "column":
        return replace(model, counts=off(model.counts))
    return replace(model, cpds=tuple(off(cpd) if cpd.family.child.name == name else cpd for cpd in model.cpds))


@pytest.mark.parametrize("point", FITS)
def test_fit_is_certified(point: str) -> None:
    fit = FITS[point]
    assert fit.point == point
    assert fit.certificate.ok, fit.certificate
    assert fit.certificate.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-13)


@pytest.mark.parametrize("kind", [TabularKind, LinearGaussianKind])
def test_a_residual_that_is_not_a_number_is_found(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    unknown, measure = {TabularKind: "c", LinearGaussianKind: "x"}[kind], kind.residual

    def residual(self: Any, cpd: Any, *more: Any) -> float:
        return math.nan if cpd.family.child.name == unknown else measure(self, cpd, *more)

    monkeypatch.setattr(kind, "residual", residual)
    found = examined(FITS["mean"])
    assert not found.ok
    assert (found.gradient_norm, found.worst) == (math.inf, f"column {unknown!r}")


def test_a_mean_that_is_not_a_number_is_found() -> None:
    fit = FITS["mle"]
    cpd = fit.model.cpd("x")
    unknown = LinearGaussianCPD(cpd.family, cpd.intercept, cpd.coefficients, cpd.variance)
    object.__setattr__(unknown, "intercept", np.append(np.nan, cpd.intercept[1:]))
    cpds = tuple(unknown if cpd.family.child.name == "x" else cpd for cpd in fit.model.cpds)
    found = examined(fit, model=replace(fit.model, cpds=cpds))
    assert not found.ok
    assert (found.gradient_norm, found.worst) == (math.inf, "column 'x'")


@pytest.mark.parametrize("point", FITS)
@pytest.mark.parametrize("name", ["y", "c", "x", "column"])
def test_parameters_off_by_a_thousandth_are_found_and_named(point: str, name: str) -> None:
    fit = FITS[point]
    found = examined(fit, model=moved(fit.model, name))
    assert not found.ok
    assert found.gradient_norm > 1e-5
    assert found.worst == ("the class probabilities" if name == "y" else f"column {name!r}")


@pytest.mark.parametrize("kind", ["gaussian", "tied_gaussian"])
@pytest.mark.parametrize("divisor", ["n", "n-1"])
def test_variances_are_proven_under_either_divisor(kind: str, divisor: str) -> None:
    other = {"n": "n-1", "n-1": "n"}[divisor]
    fit, wrong = (
        sf.fit(Naive("y", ["x"], kinds={"x": kind}, divisor=by), DATA, missing="available") for by in (divisor, other)
    )
    assert fit.certificate.ok
    found = examined(fit, model=wrong.model)
    assert not found.ok
    ratio = float(wrong.model.cpd("x").variance[0] / fit.model.cpd("x").variance[0])
    worst = {"tied_gaussian": 1 / ratio - 1, "gaussian": {"n": -0.5, "n-1": 1.0}[divisor]}[kind]
    assert found.gradient_norm == pytest.approx(abs(worst), rel=1e-12)


def test_variances_that_differ_where_they_are_shared_are_found() -> None:
    fit = sf.fit(Naive("y", ["x"], kinds={"x": "tied_gaussian"}), DATA, missing="available")
    apart = sf.fit(Naive("y", ["x"]), DATA, missing="available")
    assert not examined(fit, model=replace(apart.model, structure=fit.structure)).ok


def test_wrong_log_likelihood_is_found() -> None:
    found = examined(FITS["mle"], log_likelihood=FITS["mle"].log_likelihood + 1e-3)
    assert not found.ok
    assert "recomputed" in found.verdict


def test_maximum_likelihood_is_no_posterior_mean() -> None:
    assert not examined(FITS["mean"], model=FITS["mle"].model, prior=sf.Dirichlet(3.0)).ok


@pytest.mark.parametrize("spec", ["uniform", 1.0, {"a": 0.3, "b": 0.7}])
def test_class_probabilities_are_proven_as_the_structure_says(spec: Any) -> None:
    structure = Naive("y", ["c"], class_prior=spec)
    fit = sf.fit(structure, DATA, missing="available")
    assert fit.certificate.ok
    assert "class probabilities" in fit.certificate.claim
    skewed = replace(fit.model, class_prior=np.array([0.4, 0.6]))
    assert not examined(fit, model=skewed).ok


def test_states_other_than_those_of_the_statistics_are_found() -> None:
    fit = sf.fit(Naive("y", ["c"]), {"c": ["s", "t"], "y": ["a", "a"]})
    other = sf.fit(Naive("y", ["c"]), {"c": ["s", "r"], "y": ["a", "a"]})
    found = examined(fit, model=other.model)
    assert found.gradient_norm == math.inf
    assert "whose states" in found.worst


def test_second_pass_finds_statistics_of_other_data() -> None:
    other = {**DATA, "x": [1.0, 2.0, 3.0, 5.0, 7.0, 8.5]}
    fit = sf.estimate(NAIVE, FITS["mle"].statistics, data=other, missing="available", certify="data")
    assert not fit.certificate.ok
    assert "second count" in fit.certificate.verdict
    same = sf.estimate(NAIVE, FITS["mle"].statistics, data=DATA, missing="available", certify="data")
    assert same.certificate.ok


def test_free_parameters_are_counted() -> None:
    fit = FITS["mle"]
    assert fit.n_free == 1 + 2 * 1 + 2 * 2 + 2 * 1  # the class, a table, means and variances, shares of two columns
    given = sf.fit(replace_prior("uniform"), DATA, missing="available")
    assert given.n_free == fit.n_free - 1


def replace_prior(spec: Any) -> Naive:
    return Naive("y", NAIVE.inputs, kinds=dict(NAIVE.kinds), class_prior=spec)
