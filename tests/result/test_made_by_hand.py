"""Fits that are made by hand or come from the first version, and what a fit says that it does not have."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from tests.fixtures.answers import unpack

import suffice as sf
from suffice.priors.autoregression_posterior import AutoregressionPosterior
from suffice.structures.softmax_regression import SoftmaxClasses

CELLS = {"A": ["x", "x", "y", "y", "y"], "B": ["u", "v", "u", "v", "v"]}
FIXTURES = Path(__file__).parent.parent / "fixtures" / "0.1.0"


def test_a_fit_made_by_hand_has_what_its_structure_s_fits_have() -> None:
    found = sf.fit(sf.Cliques("A:B"), CELLS)
    parts = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    made = sf.Fit(**parts)
    assert type(made) is sf.CliquesFit
    assert str(made.u_terms()) == str(found.u_terms())
    assert str(made) == str(found)


def test_a_fit_of_another_family_s_type_is_refused() -> None:
    found = sf.fit(sf.DAG("A -> B"), CELLS)
    parts = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    with pytest.raises(sf.ArgumentError, match=r"A CliquesFit is no fit of sf\.DAG, .* NetworkFit\. Make a sf\.Fit"):
        sf.CliquesFit(**parts)


def test_a_type_of_fit_of_one_s_own_stays() -> None:
    class OwnFit(sf.NetworkFit):
        pass

    found = sf.fit(sf.DAG("A -> B"), CELLS)
    assert type(OwnFit(**{field.name: getattr(found, field.name) for field in dataclasses.fields(found)})) is OwnFit


def test_a_fit_answers_whether_it_has_goodness() -> None:
    assert hasattr(sf.fit(sf.Cliques("A:B"), CELLS), "goodness")
    by_em = sf.fit(sf.Cliques("A:B"), {**CELLS, "B": ["u", "v", None, "v", "v"]}, missing="em")
    assert not hasattr(by_em, "goodness")
    with pytest.raises(sf.AbsentError, match="G² and X² are known of complete rows"):
        _ = by_em.goodness
    with pytest.raises(sf.StatisticsError, match="G² and X² are known of complete rows"):  # as it was before
        _ = by_em.goodness
    assert not hasattr(sf.fit(sf.DAG("A -> B"), CELLS), "goodness")


def test_goodness_without_a_saturated_estimate_is_an_error_of_estimation_too() -> None:
    rows = np.random.default_rng(0).normal(size=(4, 6))
    data = {f"x{place}": column for place, column in enumerate(rows.T)}
    chain = " + ".join(f"x{place}:x{place + 1}" for place in range(5))
    fit = sf.fit(sf.GaussianMarkov(chain), data)
    assert not hasattr(fit, "goodness")
    with pytest.raises(sf.EstimationError) as caught:  # as it was before
        _ = fit.goodness
    assert isinstance(caught.value, sf.AbsentError)


def test_only_what_is_searched_as_a_whole_says_how_the_search_ended() -> None:
    nodes = {"x": [0.0, 1.0, 2.0, 3.0], "c": ["u", "v", "u", "v"]}
    assert (
        sf.fit(sf.DAG("x -> c"), nodes, prior=[sf.NormalInverseGamma(2, 1.0), sf.Gaussian(1)], point="map").stop is None
    )
    stop = sf.fit(SoftmaxClasses("c", ["x"]), nodes, prior=sf.Gaussian(1)).stop
    assert stop is not None
    assert stop.name == "CONVERGED"


def test_a_pickled_autoregression_of_the_first_version_keeps_its_posterior(tmp_path: Path) -> None:
    old = unpack("fits_all.pickle", FIXTURES, tmp_path)
    fit = pickle.loads(Path(old).read_bytes())["autoregression"]
    assert isinstance(fit.posterior, AutoregressionPosterior)
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert again.posterior.log_marginal_likelihood == pytest.approx(fit.posterior.log_marginal_likelihood, rel=1e-12)
    assert str(again.posterior.intervals()) == str(fit.posterior.intervals())
