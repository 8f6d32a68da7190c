"""Rules for continuous variables against integrals in closed form, and draws against known distribution functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats

from suffice.errors import ArgumentError, ModelError
from suffice.inference.quadrature import QuadratureRule, rule_for
from suffice.inference.quadrature_draws import PIECES, draws

Floats = NDArray[np.float64]
Log = Callable[[Floats], Floats]
INF = math.inf
VARIANTS = pytest.mark.parametrize("variant", [0, 1])
SCALES = st.floats(math.log(0.05), math.log(50)).map(math.exp)


def errors(rule: QuadratureRule, density: Any) -> float:
    """The largest error of the integral, the mean and the variance of a distribution of SciPy."""
    masses = np.exp(rule.log_weights + density.logpdf(rule.nodes))
    mean, deviation = density.mean(), density.std()
    standard = (rule.nodes - mean) / deviation
    return float(max(abs(masses.sum() - 1), abs(masses @ standard), abs(masses @ standard**2 - 1)))


def integral(rule: QuadratureRule, log_density: Log) -> float:
    return float(np.exp(rule.log_weights + log_density(rule.nodes)).sum())


# The shape of a rule ------------------------------------------------------------------------------------------


def check_shape(rule: QuadratureRule, low: float, high: float) -> None:
    nodes, edges = rule.nodes, rule.edges
    assert nodes.shape == rule.log_weights.shape == (len(edges) - 1,)
    assert (edges[0], edges[-1]) == (low, high) == (rule.low, rule.high)
    assert (np.diff(nodes) > 0).all()
    assert (np.diff(edges) > 0).all()
    assert (edges[:-1] <= nodes).all()
    assert (nodes <= edges[1:]).all()
    assert low < nodes[0]
    assert nodes[-1] < high
    assert np.isfinite(rule.log_weights).all()
    assert np.isfinite(nodes).all()


@VARIANTS
@given(
    low=st.floats(-1e3, 1e3),
    log_width=st.floats(-1, 9),
    size=st.integers(20, 1000),
    at=st.floats(-0.5, 1.5),
    log_scale=st.floats(-15, 15),
)
def test_bounded_rules_are_well_formed(
    variant: int, low: float, log_width: float, size: int, at: float, log_scale: float
) -> None:
    high = low + math.exp(log_width)
    rule = rule_for(low, high, size=size, centre=low + at * (high - low), scale=math.exp(log_scale), variant=variant)
    check_shape(rule, low, high)
    assert np.isclose(np.exp(rule.log_weights).sum(), high - low, rtol=1e-12)


@VARIANTS
@given(
    ends=st.sampled_from([(-INF, INF), (0.0, INF), (-7.5, INF), (123.0, INF), (-INF, 0.0), (-INF, -20.0), (-INF, 9.0)]),
    size=st.integers(20, 501),
    centre=st.floats(-1e3, 1e3),
    log_scale=st.floats(-6, 9),
)
def test_unbounded_rules_are_well_formed(
    variant: int, ends: tuple[float, float], size: int, centre: float, log_scale: float
) -> None:
    rule = rule_for(*ends, size=size, centre=centre, scale=math.exp(log_scale), variant=variant)
    check_shape(rule, *ends)


def test_nodes_stay_apart_where_numbers_are_large() -> None:
    for low, high in [(1e6, 1e6 + 2), (-2000.0, -1990.0), (1e-300, 2e-300), (-1e299, 1e299)]:
        for size in (20, 200, 20_000):
            check_shape(rule_for(low, high, size=size), low, high)


def test_arrays_are_read_only() -> None:
    for rule in (rule_for(0, 1), rule_for(0, INF), rule_for(-INF, 0), rule_for(-INF, INF), rule_for(0, INF, centre=3)):
        for array in (rule.nodes, rule.log_weights, rule.edges):
            with pytest.raises(ValueError):
                array[0] = 0.0


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.0, INF), (-INF, INF), (-INF, 3.0), (-3.0, INF)])
def test_variants_share_no_node(low: float, high: float) -> None:
    first, second = (rule_for(low, high, variant=variant) for variant in (0, 1))
    assert not set(first.nodes) & set(second.nodes)
    assert len(second.nodes) > 1.4 * len(first.nodes)


def test_half_lines_mirror_each_other() -> None:
    right, left = rule_for(-2, INF, centre=5, scale=3), rule_for(-INF, 2, centre=-5, scale=3)
    assert np.array_equal(left.nodes, -right.nodes[::-1])
    assert np.array_equal(left.edges, -right.edges[::-1])
    assert np.array_equal(left.log_weights, right.log_weights[::-1])


def test_centre_outside_a_half_line_is_ignored() -> None:
    assert np.array_equal(rule_for(4, INF, centre=-30).nodes, rule_for(4, INF, centre=4).nodes)


# Bounded supports: the numbers of the docstring ----------------------------------------------------------------


@VARIANTS
@given(low=st.floats(-100, 100), width=st.floats(1, 1e3))
def test_uniform(variant: int, low: float, width: float) -> None:
    assert errors(rule_for(low, low + width, variant=variant), stats.uniform(low, width)) < 1e-11


@VARIANTS
@given(steepness=st.floats(-500, 500), width=SCALES)
def test_truncated_exponential(variant: int, steepness: float, width: float) -> None:
    rule = rule_for(0.0, width, variant=variant)
    found = integral(rule, lambda x: steepness * (x / width - (steepness > 0)))
    exact = -math.expm1(-abs(steepness)) / abs(steepness) if steepness else 1.0
    assert abs(found / (exact * width) - 1) < 1e-11


@VARIANTS
@given(steepness=st.floats(1, 500), width=SCALES)
def test_moments_of_a_truncated_exponential(variant: int, steepness: float, width: float) -> None:
    density = stats.truncexpon(steepness, 0, width / steepness)
    assert errors(rule_for(0, width, variant=variant), density) < 1e-11


@VARIANTS
@given(mean=st.floats(0, 1), deviation=st.floats(0.02, 3), width=SCALES)
def test_normal_anywhere_in_an_interval(variant: int, mean: float, deviation: float, width: float) -> None:
    density = stats.truncnorm(-mean / deviation, (1 - mean) / deviation, mean * width, deviation * width)
    assert abs(integral(rule_for(0, width, scale=1e9, variant=variant), density.logpdf) - 1) < 1e-11


@VARIANTS
@given(mean=st.floats(0, 1), log_scale=st.floats(math.log(1 / 5000), 0), ratio=st.floats(1, 4))
@example(mean=0.525, log_scale=math.log(0.05 / 32), ratio=4.0)  # in the middle of a panel, four deviations wide
@example(mean=0.875, log_scale=-5.75, ratio=2.0)
def test_narrow_normal_at_the_centre_of_an_interval(variant: int, mean: float, log_scale: float, ratio: float) -> None:
    scale = math.exp(log_scale)
    deviation = ratio * scale
    density = stats.truncnorm(-mean / deviation, (1 - mean) / deviation, mean, deviation)
    rule = rule_for(0, 1, centre=mean, scale=scale, variant=variant)
    assert abs(integral(rule, density.logpdf) - 1) < 1e-10


@VARIANTS
@given(concentration=st.floats(0, 50))
def test_von_mises(variant: int, concentration: float) -> None:
    rule = rule_for(-math.pi, math.pi, variant=variant)
    masses = np.exp(rule.log_weights + concentration * (np.cos(rule.nodes) - 1))
    exact = 2 * math.pi * special.ive(0, concentration)
    assert abs(masses.sum() / exact - 1) < 1e-12
    assert (
        abs(masses @ np.cos(rule.nodes) / exact - special.ive(1, concentration) / special.ive(0, concentration)) < 1e-12
    )


@VARIANTS
@given(shape=st.one_of(st.just(0.5), st.floats(0.7, 30)))
def test_beta(variant: int, shape: float) -> None:
    assert errors(rule_for(0, 1, variant=variant), stats.beta(shape, shape)) < 1e-8


@VARIANTS
@pytest.mark.parametrize("place", [k / 20 for k in range(1, 20)])
def test_jumps_and_kinks_at_simple_places_cost_nothing(variant: int, place: float) -> None:
    rule = rule_for(-3, 7, variant=variant)
    weights, x = np.exp(rule.log_weights), (rule.nodes + 3) / 10
    assert abs(weights @ (x > place) - 10 * (1 - place)) < 1e-12
    assert abs(weights @ np.abs(x - place) - 5 * (place**2 + (1 - place) ** 2)) < 1e-12


@given(place=st.floats(0.001, 0.999))
def test_a_jump_elsewhere_costs_at_most_its_cell(place: float) -> None:
    rule = rule_for(0, 1)
    cell = np.diff(rule.edges)[np.searchsorted(rule.edges, place) - 1]
    # The nodes of an end panel stand for slightly more or less than their cells.
    assert abs(np.exp(rule.log_weights) @ (rule.nodes > place) - (1 - place)) < 1.1 * cell + 1e-12


# Unbounded supports -------------------------------------------------------------------------------------------


@VARIANTS
@given(deviation=SCALES, scale=SCALES, centre=st.sampled_from([0.0, 3.0, -40.0]))
def test_densities_at_the_centre_of_the_real_line(variant: int, deviation: float, scale: float, centre: float) -> None:
    rule = rule_for(-INF, INF, centre=centre, scale=scale, variant=variant)
    width = deviation * scale
    assert errors(rule, stats.norm(centre, width)) < 1e-10
    assert errors(rule, stats.laplace(centre, width)) < 1e-10
    assert errors(rule, stats.gennorm(1.5, centre, width)) < 1e-10


@VARIANTS
@given(deviation=SCALES, away=st.floats(-5, 5))
def test_normal_away_from_the_centre(variant: int, deviation: float, away: float) -> None:
    found = errors(rule_for(-INF, INF, variant=variant), stats.norm(away * deviation, deviation))
    assert found < (1e-8 if abs(away) <= 3 else 1e-5)


@VARIANTS
@given(width=SCALES, shape=st.floats(0.15, 20), low=st.sampled_from([0.0, -30.0]))
def test_densities_on_a_half_line(variant: int, width: float, shape: float, low: float) -> None:
    rule = rule_for(low, INF, centre=low, variant=variant)
    assert errors(rule, stats.expon(low, width)) < 1e-8
    assert errors(rule, stats.halfnorm(low, width)) < 1e-8
    if low == 0:
        assert errors(rule, stats.gamma(shape, scale=width)) < 1e-8


@VARIANTS
@given(deviation=SCALES, away=st.floats(0.5, 1000))
def test_normal_far_inside_a_half_line(variant: int, deviation: float, away: float) -> None:
    density = stats.truncnorm(-away / deviation, INF, away, deviation)
    assert abs(integral(rule_for(0, INF, centre=away, variant=variant), density.logpdf) - 1) < 1e-10


@VARIANTS
def test_gamma_of_small_shape_around_its_mean(variant: int) -> None:
    density = stats.gamma(0.2)
    assert errors(rule_for(0, INF, centre=0.2, scale=0.45, variant=variant), density) < 1e-10


def test_more_nodes_help() -> None:
    found = [errors(rule_for(-INF, INF, size=size), stats.norm(0, 1)) for size in (50, 100, 200)]
    assert found[0] > 100 * found[1] > 100 * 100 * found[2]


def test_the_other_variant_reveals_a_rule_that_is_too_coarse() -> None:
    density = stats.norm(12, 1)
    first, second = (integral(rule_for(-INF, INF, variant=variant), density.logpdf) for variant in (0, 1))
    assert abs(first - second) > abs(first - 1) / 2 > 1e-6


# Draws --------------------------------------------------------------------------------------------------------

LEVELS = np.linspace(0, 1, 20_001)[1:-1]
LINE, HALF, UNIT, CIRCLE = (-INF, INF), (0.0, INF), (0.0, 1.0), (-math.pi, math.pi)
DRAWN: dict[str, tuple[tuple[float, float], Any, float, float]] = {
    "normal": (LINE, stats.norm(0, 1), 1e-6, 1e-6),
    "wide normal": (LINE, stats.norm(0, 50), 1e-6, 1e-6),
    "narrow Laplace": (LINE, stats.laplace(0, 0.05), 1e-6, 1e-6),
    "exponential": (HALF, stats.expon(0, 3), 1e-6, 1e-6),
    "gamma 0.5": (HALF, stats.gamma(0.5), 2e-6, 2e-4),
    "gamma 3": (HALF, stats.gamma(3), 2e-6, 2e-4),
    "gamma 20": (HALF, stats.gamma(20), 2e-6, 2e-4),
    "uniform": (UNIT, stats.uniform(), 1e-12, 1e-12),
    "beta 0.5": (UNIT, stats.beta(0.5, 0.5), 5e-6, 2e-3),
    "beta 2, 5": (UNIT, stats.beta(2, 5), 5e-6, 2e-3),
    "truncated exponential": (UNIT, stats.truncexpon(100, 0, 0.01), 1e-6, 1e-6),
    "von Mises 1": (CIRCLE, stats.vonmises(1), 1e-6, 1e-5),
    "von Mises 40": (CIRCLE, stats.vonmises(40), 1e-6, 1e-5),
}


@VARIANTS
@pytest.mark.parametrize("name", DRAWN)
def test_draws_are_quantiles(name: str, variant: int) -> None:
    support, density, close, near = DRAWN[name]
    rule = rule_for(*support, variant=variant)
    for log_density, tolerance in ((density.logpdf, close), (density.logpdf(rule.nodes), near)):
        x = draws(rule, log_density, LEVELS)
        assert (np.diff(x) >= -1e-12).all()
        assert np.abs(density.cdf(x) - LEVELS).max() < tolerance


@given(
    heights=st.lists(st.one_of(st.just(-INF), st.floats(-30, 30)), min_size=20, max_size=20),
    levels=st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_draws_of_steps_are_those_of_a_histogram(heights: list[float], levels: list[float]) -> None:
    assume(max(heights) > -INF)
    steps = np.array(heights)
    masses = np.exp(steps - steps.max())
    reached = np.concatenate(([0.0], np.cumsum(masses) / masses.sum()))
    for x, level in zip(
        draws(rule_for(0, 1), lambda x: steps[(20 * x).astype(int)], np.array(levels)), levels, strict=True
    ):
        assert abs(np.interp(x, np.linspace(0, 1, 21), reached) - level) < 1e-9


def test_values_at_the_nodes_keep_jumps_sharp() -> None:
    rule = rule_for(0, 1)
    log_density = np.where(rule.nodes < 0.25, -INF, np.where(rule.nodes < 0.5, 0.0, 20.0))
    x = draws(rule, log_density, LEVELS)
    assert x.min() >= 0.25
    assert np.abs(x - (0.5 + LEVELS / 2)).max() < 0.005


def test_draws_keep_their_shape_and_the_support() -> None:
    for rule in (rule_for(0, 1), rule_for(2, INF), rule_for(-INF, INF), rule_for(-INF, -1, centre=-4)):
        x = draws(rule, lambda x: -np.abs(x), np.array([[0.0, 0.5], [0.9, 1.0]]))
        assert x.shape == (2, 2)
        assert np.isfinite(x).all()
        assert ((rule.low <= x) & (x <= rule.high)).all()


def test_nothing_is_drawn_where_nothing_is_possible() -> None:
    rule = rule_for(0, 1)

    def gap(x: Floats) -> Floats:
        return np.where((x < 0.2) | ((x > 0.4) & (x < 0.7)) | (x > 0.9), -INF, 0.0)

    x = draws(rule, gap, LEVELS)
    assert np.isfinite(gap(x)).all()
    assert np.abs(x - np.where(LEVELS < 0.5, 0.2, 0.5) - 0.4 * LEVELS)[LEVELS != 0.5].max() < 1e-9


def test_a_jump_inside_a_piece_spoils_that_piece_only() -> None:
    rule = rule_for(0, 1)
    x = draws(rule, lambda x: np.where(x < 1 / 3, -INF, 0.0), LEVELS)
    piece = np.diff(rule.edges).max() / PIECES
    assert x.min() > 1 / 3 - piece
    assert np.abs(x - (1 + 2 * LEVELS) / 3).max() < piece


# Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        ((1, 0), {}, "larger than 'low' = 1.0. Got 0.0"),
        ((2, 2), {}, "Exchange the two"),
        ((math.nan, 1), {}, "larger than 'low' = nan"),
        ((INF, INF), {}, "larger than 'low' = inf"),
        (("a", 1), {}, "'low' argument must be a number"),
        ((0, 1), {"size": 10}, "at least 20"),
        ((0, 1), {"scale": 0.0}, "such as the standard deviation"),
        ((0, 1), {"scale": INF}, "'scale' argument"),
        ((0, 1), {"scale": math.nan}, "'scale' argument"),
        ((0, INF), {"centre": INF}, "such as the mean"),
        ((0, 1), {"variant": 2}, "0, for fitting, or 1, for checking"),
        ((1e9, 1e9 + 1), {}, "Subtract a typical value"),
        ((1e9, INF), {}, "'scale' argument must be a millionth"),
        ((-INF, INF), {"centre": 1e9}, "Subtract a typical value"),
        ((-1e305, 1e305), {}, "change its unit"),
    ],
)
def test_bad_arguments_are_refused(arguments: Any, options: Any, says: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        rule_for(*arguments, **options)
    assert says in str(caught.value)


def test_bad_densities_are_refused() -> None:
    rule, level = rule_for(0, 1), np.array([0.5])
    with pytest.raises(ArgumentError, match=r"one number for each of 228 points.*\(3,\)"):
        draws(rule, np.zeros(3), level)
    with pytest.raises(ArgumentError, match=r"Got the shape \(\) instead"):
        draws(rule, lambda x: np.zeros(()), level)
    for bad in (math.nan, INF):
        with pytest.raises(ArgumentError, match=f"Got {bad} instead"):
            draws(rule, np.where(rule.nodes < 0.5, bad, 0.0), level)
    with pytest.raises(ArgumentError, match="division by zero"):
        draws(rule, lambda x: np.where(x < 0.5, INF, 0.0), level)
    with pytest.raises(ModelError, match=r"everywhere between 0\.0 and 1\.0"):
        draws(rule, np.full(228, -INF), level)
