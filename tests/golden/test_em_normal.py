"""Schafer's EM for incomplete normal data, as in the R package ``norm`` (``em.norm``), on its data set ``mdata``.

J. L. Schafer (1997), *Analysis of Incomplete Multivariate Data*, chapter 5. The reference numbers were computed under R
(see ``em_missing/SOURCE.txt``); the observed log-likelihood was recomputed there without the package's constants.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.conftest import DATA

import suffice as sf

pytestmark = pytest.mark.data

TABLE = str(DATA / "em_missing" / "mdata.csv")
NAMES = ["ageh", "agew", "edu", "inc", "kid"]


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    found = json.loads((DATA / "em_missing" / "reference.json").read_text())
    return dict(found["mdata_mvn"])


@pytest.mark.parametrize(
    "structure",
    [
        sf.MultivariateNormal(NAMES),
        sf.GaussianMarkov([tuple(NAMES)]),
        sf.DAG([(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]),
    ],
    ids=["multivariate normal", "complete graph", "complete network"],
)
def test_mdata_agrees_with_r(reference: dict[str, Any], structure: Any) -> None:
    schema = dict.fromkeys(NAMES, sf.continuous())
    fit = sf.fit(structure, TABLE, schema=schema, missing="em")
    assert fit.certificate.ok
    assert fit.log_likelihood == pytest.approx(reference["observed_loglik_independent_check"], abs=1e-7)
    assert fit.log_likelihood == pytest.approx(-463.910999, abs=1e-6)
    joint = fit.model if hasattr(fit.model, "covariance") else fit.model.query(NAMES)
    np.testing.assert_allclose(joint.mean, reference["mu"], rtol=1e-6)
    np.testing.assert_allclose(joint.covariance, reference["sigma"], rtol=1e-6)
