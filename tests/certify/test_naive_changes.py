"""Every number of a naive Bayes model or a joint table, changed a little, is found by the certificate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD
from suffice.stats import counts as dense_or_sparse
from suffice.structures.joint_classes import JointClasses
from suffice.structures.naive import Naive

RNG = np.random.default_rng(29)
N = 60
DATA = {
    "c": RNG.choice(["r", "s", "t"], N).tolist(),
    "b": RNG.choice(["no", "yes"], N).tolist(),
    "x": [None if RNG.random() < 0.2 else float(value) for value in RNG.normal(50.0, 3.0, N)],
    "z": RNG.normal(-1.0, 0.01, N).tolist(),
    "u": RNG.poisson(3.0, N).tolist(),
    "v": RNG.poisson(1.0, N).tolist(),
    "w": RNG.poisson(8.0, N).tolist(),
    "y": RNG.choice(["p", "q", "r"], N).tolist(),
}
COUNTED = dict.fromkeys("uvw", "multinomial")
KINDS = {"b": "bernoulli", "x": "gaussian", "z": "tied_gaussian", **COUNTED}
NAIVE = Naive("y", ["c", "b", "x", "z", "u", "v", "w"], kinds=KINDS)
PLAIN = Naive("y", ["c", "b", "x", "u", "v", "w"], kinds={"b": "bernoulli", "x": "gaussian", **COUNTED})
BOTH = [sf.Dirichlet(1.0), sf.NormalInverseGamma(2, 1.0)]
FITS = {
    "mle": sf.fit(NAIVE, DATA, missing="available"),
    "unbiased": sf.fit(Naive("y", NAIVE.inputs, kinds=KINDS, divisor="n-1"), DATA, missing="available"),
    "smoothed": sf.fit(NAIVE, DATA, missing="available", prior=sf.Dirichlet(1.0)),
    "mean": sf.fit(PLAIN, DATA, missing="available", prior=BOTH),
    "map": sf.fit(PLAIN, DATA, missing="available", prior=[sf.Dirichlet(2.0), BOTH[1]], point="map"),
}


def examined(fit: sf.Fit, model: Any) -> Any:
    return certify(
        Claim(
            structure=fit.structure,
            model=model,
            statistics=fit.statistics,
            log_likelihood=fit.log_likelihood,
            point=fit.point,
            prior=fit.prior,
        )
    )


def moved(cpd: Any, what: str, row: int, by: float) -> Any:
    """Return a distribution with one number changed: means by a share of the spread, variances of themselves."""
    if what == "p":
        values = np.array(cpd.values)
        values[row, 0] += by
        values[row, -1] -= by
        return TabularCPD(cpd.family, values)
    mean, variance = np.array(cpd.intercept), np.array(cpd.variance)
    if what == "mean":
        mean[row] += by * np.sqrt(variance[row])
    else:
        variance[row] *= 1 + by
    return LinearGaussianCPD(cpd.family, mean, cpd.coefficients, variance)


def changes(fit: sf.Fit, by: float) -> Iterator[tuple[str, Any]]:
    """Yield models in which one number is off, and where."""
    model = fit.model
    pi = np.array(model.class_prior)
    pi[0], pi[1] = pi[0] + by, pi[1] - by
    yield "the class probabilities", replace(model, class_prior=pi)
    for place, cpd in enumerate(model.cpds):
        for what in ("mean", "variance") if isinstance(cpd, LinearGaussianCPD) else ("p",):
            for row in range(model.target.n_states):
                others = (*model.cpds[:place], moved(cpd, what, row, by), *model.cpds[place + 1 :])
                yield f"column {cpd.family.child.name!r}", replace(model, cpds=others)
    for row in range(model.target.n_states):
        yield "column 'column'", replace(model, counts=moved(model.counts, "p", row, by))


@pytest.mark.parametrize("by", [1e-4, -1e-4, 1e-6, -1e-6])
@pytest.mark.parametrize("name", FITS)
def test_any_number_of_naive_bayes_that_is_off_is_found_and_named(name: str, by: float) -> None:
    fit = FITS[name]
    assert fit.certificate.ok
    n_changes = 0
    for where, model in changes(fit, by):
        found = examined(fit, model)
        assert not found.ok, where
        assert found.worst == where
        assert abs(by) / 30 < found.gradient_norm < 30 * abs(by)
        n_changes += 1
    assert n_changes == 1 + 3 * (2 + 2 * (len(fit.structure.inputs) - 5) + 1)


@pytest.mark.parametrize("by", [1e-4, -1e-4, 1e-6, -1e-6])
@pytest.mark.parametrize("options", [{}, {"prior": sf.Dirichlet(1.0)}, {"prior": sf.Dirichlet(2.0), "point": "map"}])
@pytest.mark.parametrize("dense", [True, False])
def test_any_cell_of_a_joint_table_that_is_off_is_found_and_named(
    dense: bool, options: dict[str, Any], by: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not dense:
        monkeypatch.setattr(dense_or_sparse, "DENSE_CELLS", 0)
    fit = sf.fit(JointClasses("y", ("c", "b")), DATA, **options)
    model = fit.model
    assert fit.certificate.ok
    n_changes = 0
    for row, k in np.ndindex(model.values.shape):
        others = [other for other in range(len(model.values)) if other != row and model.values[other, k] >= by]
        if model.values[row, k] + by < 0 or not others:
            continue  # probabilities are not negative
        values = np.array(model.values)
        values[row, k] += by
        values[others[0], k] -= by
        found = examined(fit, replace(model, values=values))
        assert not found.ok
        assert found.worst == f"class {'pqr'[k]!r}"
        assert found.gradient_norm == pytest.approx(abs(by), rel=1e-6)
        n_changes += 1
    assert n_changes > 12
