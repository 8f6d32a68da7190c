"""Incomplete contingency tables as R's package cat fits them (Schafer 1997), here as Markov random fields.

The reference numbers are those of ``em.cat`` and ``ecm.cat``; see ``em_missing/SOURCE.txt``.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.conftest import DATA

import suffice as sf

CASES = {"crimes_saturated": "V1:V2", "crimes_independence": "V1 + V2"}


def crimes(structure: Any, **settings: Any) -> sf.Fit:
    path = str(DATA / "em_missing" / "crimes.csv")
    return sf.fit(structure, path, weights="N", missing="em", **settings)


@pytest.mark.data
@pytest.mark.parametrize("name", CASES)
def test_crimes_as_em_cat_fits_them(name: str) -> None:
    entry = json.loads((DATA / "em_missing" / "reference.json").read_text())[name]
    fit = crimes(sf.Cliques(CASES[name]))
    theta = np.array(entry["theta"]["values_fortran_order"]).reshape(entry["theta"]["dim"], order="F")
    assert fit.log_likelihood == pytest.approx(entry["observed_loglik_independent_check"], abs=1e-7)
    assert np.abs(fit.model.query(["V1", "V2"]).values - theta).max() < 1e-6
    assert fit.n == entry["N"]
    assert fit.certificate.ok


@pytest.mark.data
def test_crimes_as_features_are_the_same_model() -> None:
    entry = json.loads((DATA / "em_missing" / "reference.json").read_text())["crimes_saturated"]
    fit = crimes(sf.Ising("V1:V2"))
    theta = np.array(entry["theta"]["values_fortran_order"]).reshape(entry["theta"]["dim"], order="F")
    assert fit.log_likelihood == pytest.approx(entry["observed_loglik_independent_check"], abs=1e-7)
    assert np.abs(fit.model.query(["V1", "V2"]).values - theta).max() < 1e-6
    assert fit.certificate.ok
