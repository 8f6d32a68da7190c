"""The BGe score of bnlearn's gaussian.test, computed by bnlearn 4.9 under R 4.2.2 (see ``bnlearn_reference``).

D. Geiger and D. Heckerman (2002), "Parameter priors for directed acyclic graphical models and the characterization of
several probability distributions", Annals of Statistics 30(5); J. Kuipers, G. Moffa and D. Heckerman (2014), "Addendum
on the scoring of Gaussian directed acyclic graphical models", Annals of Statistics 42(4).
"""

from __future__ import annotations

import functools
import json

import pytest
from tests.conftest import DATA

import suffice as sf

pytestmark = pytest.mark.data


@functools.cache
def reference() -> dict:
    return json.loads((DATA / "bnlearn_reference" / "gaussian.test.json").read_text())


@functools.cache
def fitted(graph: str) -> sf.Fit:
    return sf.fit(sf.DAG(graph), str(DATA / "bnlearn_data" / "gaussian.test.csv.gz"), prior=sf.BGe())


def test_score_is_that_of_bnlearn() -> None:
    fit = fitted(reference()["modelstring"])
    assert fit.log_marginal_likelihood == pytest.approx(reference()["scores"]["bge"], rel=1e-12)
    assert fit.log_marginal_likelihood == pytest.approx(-53258.9416181405, rel=1e-12)
    assert fit.certificate.ok, fit.certificate.verdict


def test_an_equivalent_graph_has_the_same_score_and_another_has_not() -> None:
    """B -> D can be turned without changing what the graph says; A -> C cannot."""
    score = fitted(reference()["modelstring"]).log_marginal_likelihood
    turned = fitted("[A][D][E][G][B|D][C|A:B][F|A:D:E:G]").log_marginal_likelihood
    assert turned == pytest.approx(score, rel=1e-12)
    other = fitted("[C][B|C][A|B:C][E][G][D|B][F|A:D:E:G]").log_marginal_likelihood
    assert abs(other - score) > 1


def test_scatter_of_the_data_dominates_the_estimates() -> None:
    model = fitted(reference()["modelstring"]).model
    assert set(reference()["fit_mle"]) == set(model.dag.nodes)
    for node, entry in reference()["fit_mle"].items():
        cpd = model.cpd(node)
        assert cpd.intercept[0] == pytest.approx(entry["coefficients"]["(Intercept)"], rel=2e-3, abs=2e-3)
        for parent, slope in zip(entry["parents"], cpd.coefficients[0], strict=True):
            assert slope == pytest.approx(entry["coefficients"][parent], rel=1e-3)
