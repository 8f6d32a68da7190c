"""Finite hypothesis spaces against brute force in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import suffice as sf


@st.composite
def problems(draw: st.DrawFn) -> tuple[dict[str, list[int]], list[int], dict[str, int]]:
    """Draw hypotheses over small numbers, data inside one of them, and whole prior weights."""
    outcomes = st.sets(st.integers(0, 7), min_size=1, max_size=8)
    sets = {f"h{i}": sorted(draw(outcomes)) for i in range(draw(st.integers(1, 5)))}
    true = draw(st.sampled_from(sorted(sets)))
    data = draw(st.lists(st.sampled_from(sets[true]), min_size=1, max_size=8))
    prior = {name: draw(st.integers(0, 5)) for name in sets}
    assume(prior[true] > 0)
    return sets, data, prior


def joint(sets: dict[str, list[int]], data: list[int], prior: dict[str, Any]) -> dict[str, Fraction]:
    """p(h) · p(D | h) for every hypothesis, one observation at a time."""
    total = sum(Fraction(weight) for weight in prior.values())
    result = {}
    for name, outcomes in sets.items():
        p = Fraction(prior[name]) / total
        for x in data:
            p *= Fraction(1, len(outcomes)) if x in outcomes else 0
        result[name] = p
    return result


@given(problems())
@settings(max_examples=80)
def test_posterior_predictive_and_evidence_equal_brute_force(
    problem: tuple[dict[str, list[int]], list[int], dict[str, int]],
) -> None:
    sets, data, prior = problem
    fit = sf.fit(sf.Hypotheses(sets, over="x"), {"x": data}, prior=prior)
    exact = joint(sets, data, prior)
    evidence = sum(exact.values())
    assert dict(fit.posterior) == {name: pytest.approx(float(p / evidence), rel=1e-11) for name, p in exact.items()}
    log_evidence = math.log(evidence.numerator) - math.log(evidence.denominator)
    assert fit.log_marginal_likelihood == pytest.approx(log_evidence, rel=1e-12, abs=1e-12)
    for x in sorted({x for outcomes in sets.values() for x in outcomes}):
        predictive = sum(p / evidence / len(sets[name]) for name, p in exact.items() if x in sets[name])
        assert fit.model.table[{"x": x}] == pytest.approx(float(predictive), rel=1e-11)
        assert math.exp(fit.model.log_prob({"x": [x]})[0]) == pytest.approx(float(predictive), rel=1e-11)
    assert fit.certificate.ok
    assert fit.n_free == 0


@given(problems())
@settings(max_examples=80)
def test_map_is_the_first_of_the_most_probable(
    problem: tuple[dict[str, list[int]], list[int], dict[str, int]],
) -> None:
    sets, data, prior = problem
    fit = sf.fit(sf.Hypotheses(sets, over="x"), {"x": data}, prior=prior, point="map")
    exact = joint(sets, data, prior)
    top = [name for name, p in exact.items() if p == max(exact.values())]
    assert fit.model.weights.tolist() == [float(name == top[0]) for name in sets]
    assert fit.certificate.ok, fit.certificate.verdict
    assert any("equal posterior" in str(note) for note in fit.notes) == (len(top) > 1)
    assert fit.posterior.most_probable == top[0]


@given(problems())
@settings(max_examples=60)
def test_mle_is_the_smallest_consistent_hypothesis(
    problem: tuple[dict[str, list[int]], list[int], dict[str, int]],
) -> None:
    sets, data, _ = problem
    fit = sf.fit(sf.Hypotheses(sets, over="x"), {"x": data})
    sizes = {name: len(outcomes) for name, outcomes in sets.items() if set(data) <= set(outcomes)}
    smallest = [name for name, size in sizes.items() if size == min(sizes.values())]
    assert fit.model.weights.tolist() == [float(name == smallest[0]) for name in sets]
    assert fit.log_likelihood == pytest.approx(-len(data) * math.log(min(sizes.values())), rel=1e-13, abs=1e-13)
    assert any("equal likelihood" in str(note) for note in fit.notes) == (len(smallest) > 1)
    assert fit.posterior is None
    assert fit.log_marginal_likelihood is None


DICE = sf.Hypotheses({"coin": [1, 2], "die": [1, 2, 3, 4, 5, 6]}, over="face")


def test_data_overwhelm_the_prior() -> None:
    prior = {"coin": 1e-6, "die": 1 - 1e-6}
    seen = [sf.fit(DICE, {"face": [1] * n}, prior=prior).posterior["coin"] for n in (1, 5, 10, 15, 30)]
    assert seen == sorted(seen)
    assert seen[0] < 1e-5
    assert seen[-1] > 1 - 1e-7


def test_posterior_after_very_much_data_neither_overflows_nor_loses_the_winner() -> None:
    fit = sf.fit(DICE, {"face": [1]}, weights=[10**6], prior={"coin": 1e-300, "die": 1})
    assert fit.posterior["coin"] == 1
    assert fit.posterior["die"] == 0
    assert fit.log_marginal_likelihood == pytest.approx(math.log(1e-300) - 10**6 * math.log(2), rel=1e-12)
    assert fit.certificate.ok


def test_ties_of_the_likelihood_are_noted_and_the_first_is_taken() -> None:
    space = sf.Hypotheses({"b": [1, 2], "a": [2, 3], "c": [2, 3, 4]}, over="x")
    fit = sf.fit(space, {"x": [2]})
    assert fit.model.weights.tolist() == [1, 0, 0]
    assert [str(note) for note in fit.notes] == [
        "The hypotheses ['b', 'a'] have equal likelihood; the first was taken."
    ]


def test_inconsistent_data_is_an_error_that_names_what_is_lacking() -> None:
    space = sf.Hypotheses({"odd": [1, 3, 5], "even": [2, 4, 6]}, over="x")
    with pytest.raises(sf.EstimationError, match="'odd' lacks 2; 'even' lacks 1"):
        sf.fit(space, {"x": [1, 2]})
    with pytest.raises(sf.DataError, match="7"):
        sf.fit(space, {"x": [7]})
    with pytest.raises(sf.EstimationError, match="weight zero"):
        sf.fit(space, {"x": [1]}, prior={"odd": 0, "even": 1})


def test_an_impossible_observation_of_weight_zero_rules_nothing_out() -> None:
    fit = sf.fit(DICE, {"face": [1, 6]}, weights=[2, 0], prior="uniform")
    assert fit.posterior["coin"] == pytest.approx(0.9, rel=1e-12)


def test_prior_forms() -> None:
    data = {"face": [1, 2]}
    uniform = sf.fit(DICE, data, prior="uniform")
    scaled = sf.fit(DICE, data, prior={"die": 3, "coin": 3})
    assert dict(uniform.posterior) == pytest.approx(dict(scaled.posterior), rel=1e-14)
    assert uniform.log_marginal_likelihood == pytest.approx(math.log((1 / 4 + 1 / 36) / 2), rel=1e-13)
    zero = sf.fit(DICE, data, prior={"coin": 0, "die": 1})
    assert dict(zero.posterior) == {"coin": 0, "die": 1}
    assert zero.certificate.ok


@pytest.mark.parametrize(
    "prior",
    [
        {"coin": 1},
        {"coin": 1, "die": 1, "card": 1},
        {"coin": -1, "die": 2},
        {"coin": 0, "die": 0},
        {"coin": math.nan, "die": 1},
        {"coin": math.inf, "die": 1},
        {"coin": "much", "die": 1},
        {"coin": None, "die": 1},
        "flat",
        [0.5, 0.5],
        1.0,
        sf.BDeu(1),
    ],
)
def test_bad_priors_are_explained(prior: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="prior"):
        sf.fit(DICE, {"face": [1]}, prior=prior)


def test_what_a_hypothesis_space_has_no_use_for_is_refused() -> None:
    with pytest.raises(sf.SufficeError, match="fixed"):
        sf.fit(DICE, {"face": [1]}, prior="uniform", fixed={"face": [1, 0, 0, 0, 0, 0]})


def test_parts_add_up() -> None:
    stats = sf.collect(DICE, {"face": [1, 2]}) + sf.collect(DICE, {"face": [2]})
    apart, whole = sf.estimate(DICE, stats, prior="uniform"), sf.fit(DICE, {"face": [1, 2, 2]}, prior="uniform")
    assert np.array_equal(apart.model.weights, whole.model.weights)
    assert apart.n == 3


def test_malformed_spaces_are_refused() -> None:
    for sets in ({}, {"none": []}, {"word": "abc"}):
        with pytest.raises(sf.StructureError):
            sf.Hypotheses(sets)
    with pytest.raises(sf.UnknownNameError, match="'card'"):
        sf.fit(DICE, {"face": [1]}, prior="uniform").posterior["card"]


def test_text_outcomes_and_printing() -> None:
    space = sf.Hypotheses({"<b>cats</b>": ["lynx", "puma"], "animals": ["lynx", "puma", "wolf"]}, over="animal")
    fit = sf.fit(space, {"animal": ["puma"]}, prior="uniform")
    assert fit.model.table[{"animal": "wolf"}] == pytest.approx(0.4 / 3)
    assert "0.6000" in str(fit.posterior)
    assert "<b>" not in fit.posterior._repr_html_()
    assert "uniform" in str(fit)
    assert fit.model.sample(1000, seed=0)["animal"].isin(["lynx", "puma", "wolf"]).all()


# Hypotheses that are distributions ----------------------------------------------------------------------------


@st.composite
def mixed_problems(draw: st.DrawFn) -> tuple[dict[str, Any], list[int], dict[str, int]]:
    """Draw sets and distributions over small numbers, in eighths, data possible under one, and prior weights."""
    sets, data, prior = draw(problems())
    spaces: dict[str, Any] = dict(sets)
    for i in range(draw(st.integers(1, 3))):
        eighths = draw(st.lists(st.sampled_from(range(8)), min_size=8, max_size=8))
        spaces[f"d{i}"] = {x: eighths.count(x) / 8 for x in draw(st.permutations(range(8)))}
        prior[f"d{i}"] = draw(st.integers(0, 5))
    return spaces, data, prior


def under(space: Any, x: int) -> Fraction:
    if isinstance(space, dict):
        return Fraction(space.get(x, 0))
    return Fraction(1, len(space)) if x in space else Fraction(0)


@given(mixed_problems())
@settings(max_examples=80)
def test_distributions_beside_sets_equal_brute_force(
    problem: tuple[dict[str, Any], list[int], dict[str, int]],
) -> None:
    spaces, data, prior = problem
    fit = sf.fit(sf.Hypotheses(spaces, over="x"), {"x": data}, prior=prior)
    exact = {name: Fraction(prior[name], sum(prior.values())) for name in spaces}
    for name, space in spaces.items():
        exact[name] *= math.prod((under(space, x) for x in data), start=Fraction(1))
    evidence = sum(exact.values())
    assert dict(fit.posterior) == {name: pytest.approx(float(p / evidence), rel=1e-11) for name, p in exact.items()}
    for x in range(8):
        if x in fit.model.hypotheses.variable.labels:
            predictive = sum(p / evidence * under(spaces[name], x) for name, p in exact.items())
            assert fit.model.table[{"x": x}] == pytest.approx(float(predictive), rel=1e-11)
    assert fit.certificate.ok


def test_the_probabilities_of_a_loaded_die_are_used() -> None:
    dice = sf.Hypotheses({"fair": {1: 0.5, 2: 0.5}, "loaded": {1: 0.9, 2: 0.1}})
    seen = [1] * 9 + [2]
    fit = sf.fit(dice, {"x": seen}, prior="uniform")
    fair, loaded = 0.5**10, 0.9**9 * 0.1
    assert fit.posterior["loaded"] == pytest.approx(loaded / (fair + loaded), rel=1e-12)
    assert fit.model.query("x")[{"x": 1}] == pytest.approx((0.5 * fair + 0.9 * loaded) / (fair + loaded), rel=1e-12)
    best = sf.fit(dice, {"x": seen})
    assert best.log_likelihood == pytest.approx(math.log(loaded), rel=1e-12)
    assert best.certificate.ok
    assert fit.certificate.ok


@pytest.mark.parametrize("weights", [[3000.0, 400.0], [2.5, 1.25]])
def test_distributions_are_certified_for_large_and_real_weights(weights: list[float]) -> None:
    dice = sf.Hypotheses({"fair": [1, 2], "loaded": {1: 0.9, 2: 0.1}, "sure": {1: 1.0, 2: 0.0}})
    for options in ({}, {"prior": "uniform"}, {"prior": "uniform", "point": "map"}):
        fit = sf.fit(dice, {"x": [1, 2]}, weights=weights, **options)
        assert fit.certificate.ok, fit.certificate.verdict


def test_an_outcome_of_probability_zero_rules_a_distribution_out() -> None:
    with pytest.raises(sf.EstimationError, match=r"'a' lacks 2"):
        sf.fit(sf.Hypotheses({"a": {1: 1.0, 2: 0.0}}), {"x": [1, 2]})
