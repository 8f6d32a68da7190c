"""The way of a fit: divergences along its steps, against those of the models that fewer steps give."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.result import geometry as geometry_module

STATES = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": ["no", "yes"]}
PAIRS = [("A", "B"), ("B", "C"), ("A", "C")]
CYCLE = sf.Features([sf.indicators(*pair) for pair in PAIRS])
SOME = sf.Features([sf.indicator(A="y"), sf.indicator(A="y", B="v"), sf.feature({"u": 0, "v": 1, "w": 2}, over="B"),
                    sf.indicator(B="w", C="yes")])  # fmt: skip
counts_ = st.lists(st.integers(1, 60), min_size=12, max_size=12)


def table(counts: Any) -> sf.Contingency:
    return sf.Contingency(np.array(counts).reshape(2, 3, 2), STATES)


def kl(p: np.ndarray, q: np.ndarray) -> float:
    seen = p > 0
    return float((p[seen] * np.log(p[seen] / q[seen])).sum())


def joint(model: Any) -> np.ndarray:
    return np.asarray(model.query(list(STATES)).values)


def shares(counts: Any) -> np.ndarray:
    return np.array(counts, float).reshape(2, 3, 2) / np.sum(counts)


@pytest.mark.parametrize(
    ("structure", "method"), [(SOME, "gis"), (CYCLE, "gis"), (CYCLE, "ipf"), (sf.Cliques(PAIRS), "ipf")]
)
@settings(max_examples=15)
@given(counts=counts_)
def test_every_step_of_scaling_lowers_the_divergence(structure: Any, method: str, counts: list[int]) -> None:
    found = sf.fit(structure, table(counts), method=method, max_iter=200).geometry()
    assert (found.fall[1:] > -1e-13).all()
    assert (np.diff(found.divergence) < 1e-13).all()
    assert found.reference == "data"


@pytest.mark.parametrize("method", ["gis", "lbfgs", "newton", "gradient", "cg"])
@settings(max_examples=10)
@given(counts=counts_, step=st.integers(1, 3))
def test_divergences_are_those_of_the_models_on_the_way(method: str, counts: list[int], step: int) -> None:
    """A fit that is stopped after some steps is the point that the whole way passed then."""
    whole = sf.fit(SOME, table(counts), method=method).geometry()
    part = sf.fit(SOME, table(counts), method=method, max_iter=step)
    row = len(part.trace) - 1
    assume(row < len(whole) - 1)
    assert whole.divergence[row] == pytest.approx(kl(shares(counts), joint(part.model)), abs=1e-9)


@settings(max_examples=25)
@given(counts=counts_, weights=st.lists(st.floats(-3, 3), min_size=5, max_size=5))
def test_pythagoras_holds_for_every_member_of_the_family(counts: list[int], weights: list[float]) -> None:
    fit = sf.fit(SOME, table(counts), tol=1e-10)
    other = joint(sf.LogLinear(SOME, weights[: len(fit.model.weights)], schema=fit.model.schema))
    data, best = shares(counts), joint(fit.model)
    assert kl(data, other) == pytest.approx(kl(data, best) + kl(best, other), abs=1e-7)
    assert fit.geometry().divergence[-1] == pytest.approx(kl(data, best), abs=1e-9)


@settings(max_examples=15)
@given(counts=counts_)
def test_a_cycle_s_fall_is_the_sum_of_its_margins_divergences(counts: list[int]) -> None:
    """Proportional fitting on the whole table, one clique after another."""
    found = sf.fit(sf.Cliques(PAIRS), table(counts), method="ipf", max_iter=6).geometry()
    data, p = shares(counts), np.full((2, 3, 2), 1 / 12)
    cliques = sf.Cliques(PAIRS).cliques
    assert len(found) > 1
    for cycle in range(len(found) - 1):
        gains = 0.0
        for clique in cliques:
            others = tuple(axis for axis, name in enumerate(STATES) if name not in clique)
            wanted, have = (q.sum(axis=others, keepdims=True) for q in (data, p))
            gains += kl(wanted, have)
            p = p * wanted / have
        assert found.divergence[cycle] == pytest.approx(kl(data, p), abs=1e-9)
        if cycle:
            assert found.fall[cycle] == pytest.approx(gains, abs=1e-9)


def test_without_joint_counts_divergences_are_from_the_estimate() -> None:
    """A chain of 25 variables is counted by pairs only."""
    names = [f"v{n:02}" for n in range(25)]
    rng = np.random.default_rng(0)
    data = {name: rng.integers(0, 2, 300) for name in names}
    structure = sf.Ising(list(itertools.pairwise(names)))
    fit = sf.fit(structure, data, tol=1e-10)
    found = fit.geometry()
    assert found.reference == "estimate"
    assert found.divergence[-1] == 0
    part = sf.fit(structure, data, max_iter=2)
    # KL(p*‖p) = Σ (w* − w)·E*[f] − log Z* + log Z, both log Z from the likelihoods' own definition.
    expected = (fit.log_likelihood - part.log_likelihood) / fit.n
    assert expected > 0
    assert found.divergence[1] == pytest.approx(expected, rel=1e-9)
    assert "KL(estimate‖p)" in str(found)


def test_conditional_divergences_are_means_over_the_inputs() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=60).round(1)
    data = {"x": x, "y": np.where(rng.random(60) < 1 / (1 + np.exp(-x)), "b", "a")}
    yes = sf.indicator(y="b")
    structure = sf.Features([yes, sf.product("x", yes)], given=["x"])
    fit, part = sf.fit(structure, data, tol=1e-10), sf.fit(structure, data, max_iter=2)
    ours, theirs = (f.model.query_rows("y", {"x": x}).values for f in (fit, part))
    found = fit.geometry()
    assert found.reference == "estimate"
    assert found.divergence[1] == pytest.approx(kl(ours, theirs) / 60, abs=1e-9)


def test_targets_by_hand_have_a_way_too() -> None:
    die = sf.Features([sf.product("n")])
    fit = sf.maxent(die, [4.5], over={"n": [1, 2, 3, 4, 5, 6]}, method="newton")
    found = fit.geometry()
    assert found.reference == "estimate"
    assert (np.diff(found.divergence) <= 1e-15).all()
    assert found.divergence[-1] == 0


def test_the_boundary_has_a_way_on_what_is_left() -> None:
    counts = np.arange(12)
    for structure, method in ((CYCLE, "lbfgs"), (sf.Cliques(PAIRS), "newton"), (sf.Cliques(PAIRS), "ipf")):
        fit = sf.fit(structure, table(counts), method=method)
        found = fit.geometry()
        assert found.divergence[-1] == pytest.approx(kl(shares(counts), joint(fit.model)), abs=1e-9)
        assert found.divergence[-2] == pytest.approx(found.divergence[-1], abs=1e-9)


def test_a_start_at_the_estimate_needs_no_step() -> None:
    found = sf.fit(SOME, table([5] * 12), method="newton").geometry()
    assert found.step.tolist() == [0]
    assert found.divergence == pytest.approx([0.0], abs=1e-12)
    assert str(found).splitlines()[-1].split()[0] == "estimate"


# How it looks -------------------------------------------------------------------------------------------------


def test_long_ways_are_cut_in_the_middle() -> None:
    found = sf.fit(SOME, table(range(1, 13)), method="gis", max_iter=100).geometry()
    lines = str(found).splitlines()
    assert len(found) == 101
    assert lines[0].split() == ["step", "log-likelihood", "KL(data‖p)", "fall"]
    assert [line.split()[0] for line in lines[2:22]] == [str(n) for n in range(1, 21)]
    assert lines[22].split() == ["…", "75", "more"]
    assert [line.split()[0] for line in lines[23:29]] == ["96", "97", "98", "99", "100", "estimate"]
    assert "not certified" in lines[29]
    assert "<table>" in found._repr_html_()


def test_values_and_frames_hold_all_steps() -> None:
    found = sf.fit(SOME, table(range(1, 13)), method="gis", max_iter=100).geometry()
    assert found.values.shape == (101, 4)
    np.testing.assert_array_equal(found.values[1:, 3], found.fall[1:])
    assert math.isnan(found.fall[0])
    frame = found.to_frame("pandas")
    assert list(frame.columns) == list(geometry_module.COLUMNS)
    assert frame["step"].tolist() == [*range(1, 101), 100]


# What is refused ----------------------------------------------------------------------------------------------


def test_closed_forms_have_no_way() -> None:
    with pytest.raises(sf.EstimationError, match=r"'closed_form' takes no steps.*method='ipf'"):
        sf.fit(sf.Cliques("A:B + C"), table(range(1, 13))).geometry()


def test_other_structures_are_refused() -> None:
    with pytest.raises(sf.ArgumentError, match=r"sf\.Cliques and sf\.Features.*sf\.DAG"):
        sf.fit(sf.DAG("A -> B"), {"A": ["x", "y"], "B": ["u", "u"]}).geometry()


def test_priors_are_refused() -> None:
    with pytest.raises(sf.EstimationError, match=r"Gaussian\(.*Fit without a prior"):
        sf.fit(SOME, table(range(1, 13)), prior=sf.Gaussian(1.0)).geometry()


@pytest.mark.parametrize("method", ["pseudo_likelihood", "stochastic"])
def test_other_objectives_are_refused(method: str) -> None:
    fit = dataclasses.replace(sf.fit(SOME, table(range(1, 13))), method=method)
    with pytest.raises(sf.EstimationError, match=f"{method}.*exact method"):
        fit.geometry()
