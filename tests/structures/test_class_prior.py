"""Where the probabilities of the classes come from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.variable import Variable
from suffice.structures.class_prior import ClassPrior

SPAM = Variable("spam", ("no", "yes", "maybe"))
COUNTS = st.lists(st.integers(0, 9), min_size=3, max_size=3)


@given(COUNTS.filter(any), st.sampled_from([0, 0.5, 1, 2.25]))
def test_counts_and_pseudo_counts_are_divided_by_their_sum(counts: list[int], pseudo: float) -> None:
    found = ClassPrior.of(pseudo).probabilities(SPAM, np.array(counts))
    wanted = [(n + Fraction(pseudo)) / (sum(counts) + 3 * Fraction(pseudo)) for n in counts]
    np.testing.assert_allclose(found, [float(p) for p in wanted], rtol=1e-15)


@given(COUNTS)
def test_what_is_told_does_not_depend_on_the_counts(counts: list[int]) -> None:
    told = ClassPrior.of({"maybe": 0.5, "no": 0.25, "yes": 0.25})
    np.testing.assert_array_equal(told.probabilities(SPAM, np.array(counts)), [0.25, 0.25, 0.5])
    np.testing.assert_array_equal(ClassPrior.of("uniform").probabilities(SPAM, np.array(counts)), [1 / 3] * 3)


def test_smoothed_probabilities_need_no_rows_and_counted_ones_do() -> None:
    np.testing.assert_array_equal(ClassPrior.of(2.0).probabilities(SPAM, np.zeros(3)), [1 / 3] * 3)
    with pytest.raises(sf.EstimationError, match="No row says how frequent"):
        ClassPrior.of("counted").probabilities(SPAM, np.zeros(3))


def test_zero_pseudo_counts_are_counting() -> None:
    assert ClassPrior.of(0) == ClassPrior.of(0.0) == ClassPrior.of("counted") == ClassPrior()


def test_reading_one_again_changes_nothing() -> None:
    spec = ClassPrior.of({"no": 1.0, "yes": 0})
    assert ClassPrior.of(spec) is spec


@pytest.mark.parametrize("spec", ["counted", "uniform", 0.5, {"no": 0.25, "yes": 0.75}, {True: 0.5, False: 0.5}])
def test_survives_a_round_trip(spec: object) -> None:
    prior = ClassPrior.of(spec)
    again = ClassPrior.from_dict(prior.to_dict())
    assert again == prior
    assert hash(again) == hash(prior)


def test_classes_are_named_as_the_data_names_them_or_as_text() -> None:
    grade = Variable("grade", (1, 2))
    np.testing.assert_array_equal(ClassPrior.of({"1": 0.25, 2: 0.75}).probabilities(grade, np.zeros(2)), [0.25, 0.75])


@pytest.mark.parametrize(("spec", "free"), [("counted", 2), (1.0, 2), ("uniform", 0), ({"no": 1.0}, 0)])
def test_only_what_is_learnt_is_free(spec: object, free: int) -> None:
    assert ClassPrior.of(spec).n_free(SPAM) == free
    assert ClassPrior.of(spec).n_free(Variable("y", ("one",))) == 0


@pytest.mark.parametrize("spec", [True, -1, float("inf"), float("nan"), "even", None, [0.5, 0.5]])
def test_nothing_else_is_a_class_prior(spec: object) -> None:
    with pytest.raises(sf.ArgumentError, match="must be 'counted', 'uniform'"):
        ClassPrior.of(spec)


@pytest.mark.parametrize("p", [-0.5, 1.5, True, "half", float("nan")])
def test_probabilities_lie_between_zero_and_one(p: object) -> None:
    with pytest.raises(sf.ArgumentError, match="from 0 to 1"):
        ClassPrior.of({"no": p, "yes": 0.5})


def test_probabilities_sum_to_one() -> None:
    with pytest.raises(sf.ArgumentError, match=r"sum to 0\.9"):
        ClassPrior.of({"no": 0.4, "yes": 0.5})
    with pytest.raises(sf.ArgumentError, match="sum to 0"):
        ClassPrior.of({})


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_few_digits_may_miss_one_by_their_rounding(kind: type[np.floating]) -> None:
    third, step = kind(1 / 3), float(np.finfo(kind).eps)
    found = ClassPrior.of(dict.fromkeys(SPAM.labels, third)).probabilities(SPAM, np.ones(3))
    np.testing.assert_allclose(found, 1 / 3, rtol=1e-15)
    ClassPrior.of({"no": kind(0.5), "yes": kind(0.5 + 6 * step)})
    with pytest.raises(sf.ArgumentError, match=r"sum to 1\.0"):
        ClassPrior.of({"no": kind(0.5), "yes": kind(0.5 + 10 * step)})
    with pytest.raises(sf.ArgumentError, match=r"sum to 1\.00000003"):
        ClassPrior.of({"no": 0.5, "yes": 0.50000003})


def test_every_class_must_be_named_and_no_other() -> None:
    with pytest.raises(sf.ArgumentError, match=r"no probability for \['maybe'\]"):
        ClassPrior.of({"no": 0.5, "yes": 0.5}).probabilities(SPAM, np.ones(3))
    with pytest.raises(sf.ArgumentError, match="names the class 'perhaps'"):
        ClassPrior.of({"no": 0.5, "yes": 0.4, "perhaps": 0.1}).probabilities(SPAM, np.ones(3))
