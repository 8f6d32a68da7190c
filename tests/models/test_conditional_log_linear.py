"""ConditionalLogLinear: p(y | x) as the weights say, for single questions, rows, and weights at infinity."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.learn.feature_cases import softmax

import suffice as sf
from suffice.data.schema import Schema

SCHEMA = Schema((
    sf.Variable("u", ("a", "b")), sf.Variable("v", (0, 1, 2)), sf.Variable("x"), sf.Variable("g", ("r", "s")),
))  # fmt: skip
STRUCTURE = sf.Features(
    [sf.indicator(u="b"), sf.product("x", "v"), sf.indicator(u="b", v=2), sf.product("v", sf.indicator(g="s"))],
    given=["x", "g"],
)
OUTPUTS = list(itertools.product("ab", (0, 1, 2)))


def model(*weights: float) -> sf.ConditionalLogLinear:
    return sf.ConditionalLogLinear(STRUCTURE, list(weights) or [0.5, -0.3, 1.0, 0.2], schema=SCHEMA)


def plain(weights: Any, x: float, g: str) -> Any:
    """Return p(u, v | x, g), one configuration at a time."""
    scores = [np.dot(weights, [u == "b", x * v, (u == "b") * (v == 2), v * (g == "s")]) for u, v in OUTPUTS]
    return softmax(np.array(scores, float)).reshape(2, 3)


weights_drawn = st.lists(st.floats(-5, 5), min_size=4, max_size=4)


@given(weights_drawn, st.floats(-10, 10), st.sampled_from("rs"))
def test_answers_are_those_of_the_weights(weights: list[float], x: float, g: str) -> None:
    p, found = plain(weights, x, g), model(*weights)
    given_ = {"x": x, "g": g}
    np.testing.assert_allclose(found.query(["u", "v"], given=given_).values, p, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.query(["v", "u"], given=given_).values, p.T, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.query("v", given=given_).values, p.sum(axis=0), rtol=1e-9, atol=1e-15)
    by_u = found.query("v", given={**given_, "u": "b"}).values
    np.testing.assert_allclose(by_u, p[1] / p[1].sum(), rtol=1e-9, atol=1e-15)
    best = found.map(given_)
    assert p[int(best["u"] == "b"), best["v"]] == pytest.approx(p.max())
    assert p.sum(axis=0)[found.map(given_, targets="v")["v"]] == pytest.approx(p.sum(axis=0).max())
    assert found.map(given_, targets=["v", "u"]) == best


def test_rows_are_answered_as_single_questions_are() -> None:
    rows = {"x": [0.5, -2.0, 0.5], "g": ["r", "s", "s"]}
    answers = model().query_rows(["v", "u"], rows)
    for at, (x, g) in enumerate(zip(rows["x"], rows["g"], strict=True)):
        np.testing.assert_allclose(answers.values[at], model().query(["v", "u"], given={"x": x, "g": g}).values)
    np.testing.assert_allclose(model().query_rows("u", rows).values.sum(axis=1), 1)


def test_log_probabilities_are_those_of_rows() -> None:
    rows = {"u": ["a", "b"], "v": [2, 0], "x": [1.5, -1.0], "g": ["s", "r"]}
    found = model().log_prob(rows)
    wanted = [
        math.log(model().query(["u", "v"], given={"x": x, "g": g})[{"u": u, "v": v}])
        for u, v, x, g in zip(*rows.values(), strict=True)
    ]
    np.testing.assert_allclose(found, wanted)


def test_weights_at_infinity_leave_the_outputs_that_their_feature_likes_most() -> None:
    at = {"x": 1.0, "g": "r"}
    up = model(math.inf, 0.0, 0.0, 0.0).query(["u", "v"], given=at).values
    np.testing.assert_allclose(up, [[0, 0, 0], [1 / 3] * 3])
    down = model(-math.inf, 0.0, 0.0, 0.0).query(["u", "v"], given=at).values
    np.testing.assert_allclose(down, [[1 / 3] * 3, [0, 0, 0]])
    by_sign = model(0.0, math.inf, 0.0, 0.0)
    assert by_sign.map({**at, "x": 2.0})["v"] == 2
    assert by_sign.map({**at, "x": -2.0})["v"] == 0
    np.testing.assert_allclose(by_sign.query("v", given={**at, "x": 0.0}).values, [1 / 3] * 3)


def test_several_weights_at_infinity_leave_something() -> None:
    found = model(math.inf, -math.inf, math.inf, 0.0).query(["u", "v"], given={"x": 1.0, "g": "r"}).values
    assert found.sum() == pytest.approx(1)
    assert (found[0] == 0).all()


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_large_weights_do_not_overflow(scale: float) -> None:
    found = model(scale, -scale, 0.0, 0.0).query(["u", "v"], given={"x": 1.0, "g": "r"}).values
    np.testing.assert_allclose(found, [[0, 0, 0], [1, 0, 0]], atol=1e-12)


def test_log_probabilities_are_finite_where_probabilities_are_less_than_any_float() -> None:
    found = model(-1000.0, 0.0, 0.0, 0.0).log_prob({"u": ["a", "b"], "v": [0, 0], "x": [0.0, 0.0], "g": ["r", "r"]})
    np.testing.assert_allclose(found, [-math.log(3), -1000 - math.log(3)])


# Text ---------------------------------------------------------------------------------------------------------


def test_text_shows_the_weights() -> None:
    assert "x·v" in str(model())
    assert repr(model()).startswith("ConditionalLogLinear(u, v given 2 inputs")
    assert "x·v" in model()._repr_html_()
    assert model().variables == ("u", "v", "x", "g")


# What is refused ----------------------------------------------------------------------------------------------


AT = {"x": 1.0, "g": "r"}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: m.query("z", given=AT), "no variable 'z'"),
        (lambda m: m.query("u", given={**AT, "z": 1}), "no variable 'z'"),
        (lambda m: m.query("x", given=AT), "'x' is given"),
        (lambda m: m.query("u", given={**AT, "u": "a"}), "'u' is given"),
        (lambda m: m.query("u", given={"x": 1.0}), "'g' is not given"),
        (lambda m: m.query("u"), "'x' is not given"),
        (lambda m: m.query("u", given={"x": math.nan, "g": "r"}), "finite number"),
        (lambda m: m.query("u", given={"x": "much", "g": "r"}), "finite number"),
        (lambda m: m.query("u", given={"x": 1.0, "g": "q"}), "'q'"),
        (lambda m: m.query_rows("x", {"x": [1.0], "g": ["r"]}), "none of the variables modelled"),
        (lambda m: m.query_rows("u", {"x": [1.0]}), "'g'"),
        (lambda m: m.log_prob({"x": [1.0], "g": ["r"]}), "'u'"),
        (lambda m: m.query("u", given=3), "given"),
        (lambda m: m.query(None, given=AT), "'targets'"),
        (lambda m: m.query(["u", "u"], given=AT), "different names"),
        (lambda m: m.query_rows(["u", "u"], {"x": [1.0], "g": ["r"]}), "different names"),
    ],
)  # fmt: skip
def test_bad_questions_are_refused(call: Any, says: str) -> None:
    with pytest.raises(sf.SufficeError, match=says):
        call(model())


def test_impossible_evidence_is_refused() -> None:
    with pytest.raises(sf.ModelError, match="impossible"):
        model(math.inf, 0.0, 0.0, 0.0).query("v", given={**AT, "u": "a"})


def test_no_rows_have_no_answers() -> None:
    assert model().log_prob({"u": [], "v": [], "x": [], "g": []}).shape == (0,)
    assert model().query_rows("u", {"x": [], "g": []}).values.shape == (0, 2)
