"""Softmax models and their terms: scores by the formula, impossible states, log-odds without centres, files."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.matrix import MatrixTable
from suffice.data.sparse_matrix import SparseTable
from suffice.data.variable import Variable
from suffice.io.own_json import plain
from suffice.models import log_odds
from suffice.models.basis import Indicator, InputProduct, Linear, evaluate
from suffice.models.log_odds import LogOdds, applied
from suffice.models.softmax_model import SoftmaxModel

Y, X, Z, A = Variable("y", ("u", "v", "w")), Variable("x"), Variable("z"), Variable("a", (1, 2, 3))
TERMS = (Linear("x"), Linear("z"), InputProduct("x", "x"), InputProduct("x", "z"), Indicator("a", 2), Indicator("a", 3))


def model(seed: int = 0, centre: dict[str, float] | None = None, **changes: Any) -> SoftmaxModel:
    rng = np.random.default_rng(seed)
    values = {"weights": rng.normal(size=(len(TERMS), 3)), "intercept": rng.normal(size=3), **changes}
    return SoftmaxModel(Y, (X, Z, A), TERMS, centre=centre or {}, **values)


def by_formula(found: SoftmaxModel, x: float, z: float, a: int) -> list[float]:
    """Return p(y | x, z, a), written out term by term."""
    u, v = x - found.centre.get("x", 0.0), z - found.centre.get("z", 0.0)
    values = [u, v, u * u, u * v, float(a == 2), float(a == 3)]
    scores = []
    for k in range(3):
        score = float(found.intercept[k])
        for value, weight in zip(values, found.weights[:, k].tolist(), strict=True):
            score += weight * value if value else 0.0
        scores.append(score)
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    return [part / sum(parts) for part in parts]


@given(st.integers(0, 50), st.floats(-3, 3), st.floats(-3, 3), st.sampled_from([1, 2, 3]), st.floats(-2, 2))
def test_query_follows_the_formula(seed: int, x: float, z: float, a: int, c: float) -> None:
    found = model(seed, {"x": c, "z": -c})
    answer = found.query("y", given={"x": x, "z": z, "a": a}).values
    np.testing.assert_allclose(answer, by_formula(found, x, z, a), atol=1e-12)


def test_an_impossible_state_rules_its_class_out_and_zero_times_infinity_is_zero() -> None:
    weights = np.random.default_rng(1).normal(size=(6, 3))
    weights[4, 0] = -np.inf
    found = model(weights=weights)
    assert found.query("y", {"x": 1.0, "z": 0.5, "a": 2}).values[0] == 0.0
    np.testing.assert_allclose(
        found.query("y", {"x": 1.0, "z": 0.5, "a": 3}).values, by_formula(found, 1.0, 0.5, 3), atol=1e-13
    )
    everywhere = model(intercept=np.array([0.0, -np.inf, 1.0]))
    assert everywhere.query("y", {"x": 1.0, "z": 0.5, "a": 1}).values[1] == 0.0


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, -2.0, 0.5]), min_size=3, max_size=3), min_size=1, max_size=5))
def test_applied_equals_a_loop_that_skips_zeros(rows: list[list[float]]) -> None:
    weights = np.array([[1.0, -np.inf], [np.inf, 2.0], [-0.5, np.nan]])
    found = applied(np.array(rows), weights)
    for row, column in itertools.product(range(len(rows)), range(2)):
        terms = [v * weights[t, column] for t, v in enumerate(rows[row]) if v]
        np.testing.assert_allclose(found[row, column], sum(terms) if terms else 0.0)


def test_columns_of_a_table_of_a_matrix_and_of_a_sparse_matrix_give_the_same_scores() -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(3)
    x = rng.normal(size=(700, 2)) * (rng.random((700, 2)) < 0.5)
    plain_model = SoftmaxModel(Y, (X, Z), (Linear("x"), Linear("z")), rng.normal(size=(2, 3)), np.zeros(3), {"x": 0.25})
    expected = plain_model.query_rows("y", {"x": x[:, 0], "z": x[:, 1]}).values
    for table in (MatrixTable(x, (X, Z)), MatrixTable(x[:, ::-1], (Z, X)), SparseTable(csr_array(x), (X, Z))):
        np.testing.assert_allclose(plain_model.query_rows("y", table).values, expected, atol=1e-13)


def test_squares_far_from_zero_keep_their_digits_by_centres() -> None:
    x = 1e7 + np.array([0.0, 1.0, 2.0])
    columns = {"x": x}
    values = evaluate([InputProduct("x", "x")], columns, 3, {"x": X}, {"x": 1e7})
    assert values[:, 0].tolist() == [0.0, 1.0, 4.0]


# Gaps ---------------------------------------------------------------------------------------------------------


def test_missing_inputs_are_refused_and_the_error_says_why() -> None:
    found = model()
    gap = MatrixTable(np.array([[1.0, np.nan]]), (X, Z))
    linear = SoftmaxModel(Y, (X, Z), (Linear("x"), Linear("z")), np.ones((2, 3)), np.zeros(3))
    with pytest.raises(sf.DataError, match="missing"):
        linear.query_rows("y", gap)
    with pytest.raises(sf.DataError, match="does not say how inputs are distributed"):
        linear.log_scores_of({"x": np.array([1.0]), "z": np.array([np.nan])}, 1)
    with pytest.raises(sf.DataError, match="does not say how inputs are distributed"):
        found.log_scores_of({"x": np.ones(1), "z": np.ones(1), "a": np.array([-1])}, 1)
    with pytest.raises(sf.DataError, match="Column 'a', row 2: the input is missing"):
        found.log_scores_of({"x": np.ones(3), "z": np.ones(3), "a": np.array([1, 0, -1])}, 3)
    with pytest.raises(sf.ArgumentError, match="not given"):
        found.query("y", {"x": 1.0})


# Log-odds -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 30), st.floats(-5, 5), st.floats(-5, 5), st.floats(-4, 4))
def test_log_odds_are_differences_of_log_posteriors_with_and_without_centres(
    seed: int, x: float, z: float, c: float
) -> None:
    found = model(seed, {"x": c, "z": 2.0})
    odds = found.log_odds("v", "u")
    p = np.array(by_formula(found, x, z, 3))
    if p.min() < 1e-12:
        return
    wanted = math.log(p[1] / p[0])
    assert odds.at({"x": [x], "z": [z], "a": [3]})[0] == pytest.approx(wanted, abs=1e-9)
    constant, weights = odds.expanded
    values = {TERMS[0]: x, TERMS[1]: z, TERMS[2]: x * x, TERMS[3]: x * z, TERMS[4]: 0.0, TERMS[5]: 1.0}
    total = constant + sum(weight * values[term] for term, weight in weights.items())
    assert total == pytest.approx(wanted, abs=1e-8)
    vector = np.array([x, z])
    quadric = odds.offset + odds.vector @ vector + vector @ odds.matrix @ vector + weights[TERMS[5]]
    assert quadric == pytest.approx(wanted, abs=1e-8)


def test_products_bring_linear_terms_along_when_they_are_expanded() -> None:
    odds = LogOdds("v", "u", 1.0, (InputProduct("x", "z"),), np.array([2.0]), {"x": 3.0, "z": 5.0}, (X, Z))
    assert odds.expanded == (31.0, {Linear("x"): -10.0, Linear("z"): -6.0, InputProduct("x", "z"): 2.0})
    assert not odds.is_linear
    assert LogOdds("v", "u", 1.0, (InputProduct("x", "z"),), np.array([0.0]), {}, (X, Z)).is_linear
    assert "x·z" in str(odds)


def test_a_long_table_of_log_odds_is_cut_and_one_that_just_fits_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_odds, "SHOWN_TERMS", 2)
    odds = {n: LogOdds("v", "u", 0.0, TERMS[:n], np.arange(1.0, n + 1), {}, (X, Z)) for n in (2, 3)}
    assert "more term" not in str(odds[2])
    assert "… 1 more term" in str(odds[3])


def test_log_odds_name_unknown_and_equal_classes() -> None:
    with pytest.raises(sf.UnknownNameError, match="no class 'q'"):
        model().log_odds("q", "u")
    with pytest.raises(sf.ArgumentError, match="two different classes"):
        model().log_odds("u", "u")


# The rest -----------------------------------------------------------------------------------------------------


def test_log_prob_and_sample_follow_the_posteriors() -> None:
    found = model(4)
    rng = np.random.default_rng(5)
    rows = {"x": rng.normal(size=50), "z": rng.normal(size=50), "a": rng.integers(1, 4, 50)}
    p = found.query_rows("y", rows).values
    y = rng.integers(0, 3, 50)
    log_p = found.log_prob({**rows, "y": np.array(["u", "v", "w"])[y]})
    np.testing.assert_allclose(log_p, np.log(p[np.arange(50), y]), atol=1e-12)
    one = {"x": np.zeros(4000), "z": np.zeros(4000), "a": np.ones(4000, int)}
    drawn = found.sample(one, seed=1, backend="pandas")["y"]
    for label, share in zip("uvw", by_formula(found, 0.0, 0.0, 1), strict=True):
        assert abs((drawn == label).mean() - share) < 4 * math.sqrt(share * max(1 - share, 0.0) / 4000) + 1e-3
    assert found.to_softmax() is found
    assert found.map({"x": 0.0, "z": 0.0, "a": 1})["y"] == "uvw"[int(np.argmax(by_formula(found, 0.0, 0.0, 1)))]


def test_a_model_survives_its_file_with_infinite_weights() -> None:
    weights = np.random.default_rng(1).normal(size=(6, 3))
    weights[5, 2] = -np.inf
    found = model(centre={"x": 2.5}, weights=weights)
    again = SoftmaxModel.from_dict(json.loads(json.dumps(plain(found.to_dict()))))
    assert again.terms == found.terms
    assert dict(again.centre) == {"x": 2.5}
    assert np.array_equal(again.weights, found.weights)
    assert np.array_equal(again.intercept, found.intercept)
    assert again.target == Y
    assert again.inputs == (X, Z, A)


def test_printing_moves_intercepts_to_zero_unless_terms_are_products() -> None:
    linear = SoftmaxModel(Y, (X, A), (Linear("x"), Indicator("a", 2)), np.array([[0, 1.0, 2], [0, 0, 0]]), np.ones(3),
                          {"x": 10.0})  # fmt: skip
    assert linear.uncentred_intercept.tolist() == [1.0, -9.0, -19.0]
    assert "(intercept)" in str(linear)
    assert "(at the centre)" in str(model(centre={"x": 1.0}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"weights": np.zeros((2, 3))}, "shape"), ({"intercept": np.array([0.0, np.nan, 0.0])}, "NaN"),
     ({"weights": np.full((6, 3), np.inf)}, "inf")],
)  # fmt: skip
def test_parameters_that_are_no_parameters_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(sf.ModelError, match=said):
        model(**changes)


def test_terms_of_unknown_inputs_are_refused() -> None:
    with pytest.raises(sf.ModelError, match="'q'"):
        SoftmaxModel(Y, (X,), (Linear("q"),), np.zeros((1, 3)), np.zeros(3))
