"""LogLinear: a Markov random field with weights; its answers are those of brute force, in files and after pickling."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.feature_cases import Case, cases, softmax

import suffice as sf
from suffice.data.schema import Schema
from suffice.models.log_linear import Weights

SCHEMA = Schema((sf.Variable("A", ("x", "y")), sf.Variable("B", ("u", "v", "w"))))
TWO = sf.Features([sf.indicator(A="x"), sf.indicator(A="x", B="u")])


def model_of(case: Case, seed: int) -> tuple[sf.LogLinear, Any]:
    schema = Schema(tuple(sf.Variable(name, states) for name, states in case.states.items()))
    weights = np.random.default_rng(seed).normal(size=len(case.names))
    return sf.LogLinear(case.structure, weights, schema=schema), weights


def joint(model: Any, *names: str) -> Any:
    return model.query(list(names)).values


# Answers ------------------------------------------------------------------------------------------------------


@given(cases(), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_probabilities_are_those_of_the_weights(case: Case, seed: int) -> None:
    model, weights = model_of(case, seed)
    p = softmax(case.values @ weights)
    np.testing.assert_allclose(case.joint(model), p, rtol=1e-9, atol=1e-14)
    sizes = [len(states) for states in case.states.values()]
    for axis, name in enumerate(case.states):
        others = tuple(v for v in range(len(sizes)) if v != axis)
        np.testing.assert_allclose(model.query(name).values, p.reshape(sizes).sum(axis=others), rtol=1e-9)


@given(cases(max_variables=3), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_models_survive_files_and_pickle_where_functions_allow(case: Case, seed: int) -> None:
    model, weights = model_of(case, seed)
    entry = json.loads(json.dumps(model.to_dict(), default=lambda array: array.tolist()))
    again = sf.LogLinear.from_dict(entry)
    assert tuple(again.weights) == tuple(case.names)
    np.testing.assert_array_equal(again.weights.to_numpy(), weights)
    np.testing.assert_allclose(case.joint(again), case.joint(model), rtol=1e-12)


def test_a_fit_survives_a_file(tmp_path: Path) -> None:
    rows = {"A": list("xxyyx"), "B": list("uvuww")}
    for structure in (sf.Features([sf.feature(lambda a, b: (a == "x") - (b == "w"), over=("A", "B"), name="f")]), TWO):
        fit = sf.fit(structure, rows)
        sf.write(fit, tmp_path / "fit.json")
        again = sf.read(tmp_path / "fit.json")
        assert dict(again.model.weights) == dict(fit.model.weights)
        np.testing.assert_array_equal(again.model.log_prob(rows), fit.model.log_prob(rows))
        assert again.certificate == fit.certificate


def test_a_model_can_be_sampled() -> None:
    model = sf.LogLinear(TWO, [0.5, 1.0], schema=SCHEMA)
    drawn = model.sample(20_000, seed=0, backend="pandas")
    share = (drawn["A"] == "x").mean()
    assert share == pytest.approx(joint(model, "A")[0], abs=4 * 0.5 / math.sqrt(20_000))


def test_a_refit_of_a_models_own_sample_comes_near_its_weights() -> None:
    model = sf.LogLinear(TWO, {"A=x": 0.5, "A=x & B=u": -1.0}, schema=SCHEMA)
    fit = sf.fit(TWO, model.sample(50_000, seed=1))
    np.testing.assert_allclose(fit.model.weights.to_numpy(), [0.5, -1.0], atol=0.05)


# Weights ------------------------------------------------------------------------------------------------------


def test_weights_are_a_mapping_in_the_order_of_the_features() -> None:
    weights = sf.LogLinear(TWO, {"A=x & B=u": -1.0, "A=x": 0.5}, schema=SCHEMA).weights
    assert list(weights.items()) == [("A=x", 0.5), ("A=x & B=u", -1.0)]
    assert len(weights) == 2
    assert "A=y" not in weights
    assert weights.get("A=y") is None
    with pytest.raises(sf.UnknownNameError, match="no feature 'A=z'"):
        weights["A=z"]
    with pytest.raises(ValueError, match="read-only"):
        weights.to_numpy()[0] = 1.0


def test_weights_are_frozen_copies() -> None:
    values = np.array([0.5, -1.0])
    model = sf.LogLinear(TWO, values, schema=SCHEMA)
    values[0] = 9.0
    assert model.weights["A=x"] == 0.5
    assert joint(model, "A")[0] != pytest.approx(0.999, abs=1e-3)


def test_many_weights_are_shown_in_part() -> None:
    text = str(Weights(tuple(f"f{i}" for i in range(100)), np.arange(100.0)))
    assert "40 more features" in text
    assert "f59" in text
    assert "f60" not in text
    assert "f59" in Weights(tuple(f"f{i}" for i in range(100)), np.arange(100.0))._repr_html_()


@pytest.mark.parametrize(
    ("weights", "error", "says"),
    [
        ([1.0], sf.ModelError, "2 features"),
        ([1.0, math.nan], sf.ModelError, "one number each"),
        (["a", "b"], sf.ModelError, "one number each"),
        (None, sf.ModelError, "one number each"),
        ({"A=x": 1.0}, sf.ModelError, "no weight for the feature 'A=x & B=u'"),
        ({"A=x": 1.0, "A=x & B=u": 1.0, "C": 2.0}, sf.UnknownNameError, "'C'"),
    ],
)
def test_bad_weights_are_refused(weights: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        sf.LogLinear(TWO, weights, schema=SCHEMA)


# Base measures and supports -----------------------------------------------------------------------------------


def test_base_measure_and_support_multiply() -> None:
    base = sf.LabelledTable((SCHEMA["B"],), np.array([1.0, 2.0, 4.0]), "h")
    support = sf.LabelledTable((SCHEMA["A"], SCHEMA["B"]), np.array([[1.0, 1, 1], [1, 0, 1]]), "h")
    model = sf.LogLinear(TWO, [1.0, -0.5], schema=SCHEMA, base=[base], support=[support])
    wanted = np.exp([[0.5, 1.0, 1.0], [0, 0, 0]]) * [1, 2, 4] * [[1, 1, 1], [1, 0, 1]]
    np.testing.assert_allclose(joint(model, "A", "B"), wanted / wanted.sum())
    again = sf.LogLinear.from_dict(json.loads(json.dumps(model.to_dict(), default=lambda array: array.tolist())))
    np.testing.assert_allclose(joint(again, "A", "B"), joint(model, "A", "B"))


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_large_weights_do_not_overflow(scale: float) -> None:
    model = sf.LogLinear(TWO, [scale, -scale], schema=SCHEMA)
    np.testing.assert_allclose(joint(model, "A", "B"), [[0, 0.5, 0.5], [0, 0, 0]], atol=1e-12)


def test_large_weights_that_cancel_do_not_overflow() -> None:
    specs = [sf.feature(lambda a: 1000.0, over="A", name="up"), sf.feature(lambda b: -1000.0, over="B", name="down")]
    model = sf.LogLinear(sf.Features([*specs, sf.indicator(A="x")]), [1.0, 1.0, math.log(3)], schema=SCHEMA)
    assert joint(model, "A") == pytest.approx([0.75, 0.25])


def test_wide_scores_over_several_scopes_keep_their_ratios() -> None:
    """Scopes whose log-potentials span more than a float's exponents, but whose sums do not."""
    specs = [sf.product("n", name="up"), sf.feature(lambda n, m: -n, over=("n", "m"), name="down")]
    schema = Schema((sf.Variable("n", (0, 1000)), sf.Variable("m", (0, 1))))
    model = sf.LogLinear(sf.Features(specs), [1.0, 0.999], schema=schema)
    assert joint(model, "n")[1] == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-9)


# Words --------------------------------------------------------------------------------------------------------


def test_sliding_windows_share_their_weight_over_positions() -> None:
    letters = [f"c{i}" for i in range(4)]
    schema = Schema(tuple(sf.Variable(name, ("a", "b")) for name in letters))
    model = sf.LogLinear(sf.Features([sf.windows(["ab"], over=letters)]), [0.7], schema=schema)
    words = ["".join(word) for word in itertools.product("ab", repeat=4)]
    weights = np.array([math.exp(0.7 * sum(word[i : i + 2] == "ab" for i in range(3))) for word in words])
    found = np.exp(model.log_prob({name: [word[i] for word in words] for i, name in enumerate(letters)}))
    np.testing.assert_allclose(found, weights / weights.sum())
