"""Incomplete tables as R's cat fits them, and asia with 15 % of its values removed.

``crimes``: victimisation in two periods (Kadane, 1985; R package cat, Schafer 1997), its saturated and independence
models by em.cat and ecm.cat. ``asia_mcar15``: the first 2,000 rows of bnlearn's asia, fitted by plain EM to 1e-15.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest
from tests.conftest import DATA
from tests.learn.em_cases import tables_of

import suffice as sf

pytestmark = pytest.mark.data
FOLDER = DATA / "em_missing"


@functools.cache
def reference() -> dict[str, Any]:
    return json.loads((FOLDER / "reference.json").read_text())


@functools.cache
def asia() -> dict[str, Any]:
    return json.loads((FOLDER / "asia_em_reference.json").read_text())


@pytest.mark.parametrize(("graph", "name"), [("V1 -> V2", "crimes_saturated"), ("V1; V2", "crimes_independence")])
def test_crimes(graph: str, name: str) -> None:
    fit = sf.fit(sf.DAG(graph), FOLDER / "crimes.csv", weights="N", missing="em")
    expected = reference()[name]
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.n == expected["N"]
    assert fit.log_likelihood == pytest.approx(expected["loglik"], abs=1e-7)
    joint = fit.model.query(["V1", "V2"]).to_numpy()
    wanted = np.reshape(expected["theta"]["values_fortran_order"], expected["theta"]["dim"], order="F")
    np.testing.assert_allclose(joint, wanted, atol=1e-6)


def test_asia_reaches_its_reference() -> None:
    expected = asia()
    fit = sf.fit(sf.DAG(expected["structure"]), FOLDER / "asia_mcar15.csv", missing="em")
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.log_likelihood == pytest.approx(expected["best_observed_loglik"], abs=1e-6)
    for node, table in tables_of(fit.model).items():
        np.testing.assert_allclose(table, expected["cpts"][node]["table"], atol=1e-5)


def test_asia_from_every_start() -> None:
    expected = asia()
    fit = sf.fit(sf.DAG(expected["structure"]), FOLDER / "asia_mcar15.csv", missing="em", restarts=4, seed=0)
    assert fit.log_likelihood == pytest.approx(expected["best_observed_loglik"], abs=1e-6)
    assert len(fit.starts) == 4
