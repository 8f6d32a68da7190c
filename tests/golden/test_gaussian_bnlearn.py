"""bnlearn's gaussian.test, fitted by bnlearn 4.9 under R 4.2.2, by call and by command.

M. Scutari (2010), "Learning Bayesian networks with the bnlearn R package", Journal of Statistical Software 35(3). The
reference numbers were computed with ``bn.fit`` and ``score`` (see ``bnlearn_reference/SOURCE.txt``): bnlearn divides
residual squares by n − p, and evaluates log-likelihood, AIC and BIC there.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from tests.conftest import DATA

import suffice as sf

pytestmark = pytest.mark.data

TABLE = str(DATA / "bnlearn_data" / "gaussian.test.csv.gz")


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    return json.loads((DATA / "bnlearn_reference" / "gaussian.test.json").read_text())


@pytest.fixture(scope="module")
def fits(reference: dict[str, Any]) -> dict[str, sf.Fit]:
    return {divisor: sf.fit(sf.DAG(reference["modelstring"], divisor=divisor), TABLE) for divisor in ("n", "n-p")}


@pytest.mark.parametrize("divisor", ["n", "n-p"])
def test_coefficients_and_spread(reference: dict[str, Any], fits: dict[str, sf.Fit], divisor: str) -> None:
    fit = fits[divisor]
    assert fit.certificate.ok
    for node, entry in reference["fit_mle"].items():
        cpd = fit.model.cpd(node)
        expected = dict(entry["coefficients"])
        assert cpd.intercept[0] == pytest.approx(expected.pop("(Intercept)"), abs=1e-8)
        for place, parent in enumerate(cpd.family.continuous):
            assert cpd.coefficients[0, place] == pytest.approx(expected.pop(parent.name), abs=1e-8)
        assert not expected
        p, n = 1 + len(cpd.family.continuous), reference["n"]
        theirs = entry["sd"] * (1 if divisor == "n-p" else math.sqrt((n - p) / n))
        assert cpd.sd[0] == pytest.approx(theirs, rel=1e-9)


def test_scores_with_the_unbiased_divisor(reference: dict[str, Any], fits: dict[str, sf.Fit]) -> None:
    fit, scores = fits["n-p"], reference["scores"]
    assert fit.log_likelihood == pytest.approx(scores["loglik_g"], rel=1e-9)
    assert fit.aic == pytest.approx(-2 * scores["aic_g"], rel=1e-9)
    assert fit.bic == pytest.approx(-2 * scores["bic_g"], rel=1e-9)
    assert fit.n_free == reference["nparams"]
    assert fits["n"].log_likelihood > fit.log_likelihood


def test_the_joint_normal(reference: dict[str, Any], fits: dict[str, sf.Fit]) -> None:
    joint, expected = fits["n-p"].model.query(reference["mvnorm"]["order"]), reference["mvnorm"]
    assert set(expected["order"]) == set(fits["n-p"].model.dag.nodes)
    for place, name in enumerate(expected["order"]):
        assert joint.mean[place] == pytest.approx(expected["mu"][name], rel=1e-9)
        row = [expected["sigma"][place][other] for other in expected["order"]]
        assert joint.covariance[place].tolist() == pytest.approx(row, rel=1e-9, abs=1e-9)


def test_bge(reference: dict[str, Any]) -> None:
    """bnlearn's hyper-parameters: iss.mu = 1, iss.w = d + 2, ν the sample means, T = ½ I."""
    fit = sf.fit(sf.DAG(reference["modelstring"]), TABLE, prior=sf.BGe())
    assert fit.log_marginal_likelihood == pytest.approx(reference["scores"]["bge"], rel=1e-9)
    assert fit.certificate.ok, fit.certificate.verdict
