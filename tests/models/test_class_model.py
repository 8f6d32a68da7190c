"""What every classifier answers: through a tiny model whose numbers can be worked out by hand, and a joint table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import suffice as sf
from suffice.data.matrix import MatrixTable
from suffice.data.variable import Variable
from suffice.models.class_model import ClassModel, Posteriors, log_sum
from suffice.models.prediction import Prediction
from suffice.structures.joint_classes import JointClasses
from suffice.structures.naive import Naive

Y = Variable("y", ("p", "q"))
X, A = Variable("x"), Variable("a", ("u", "v"))
RATES = np.array([1.0, 3.0])
TABLE = np.array([[0.5, 0.0], [0.5, 1.0]])


@dataclass(frozen=True, eq=False)
class Waiting(ClassModel, Posteriors, Prediction):
    """Given the class, a waiting time x is exponential with its own rate, and a is drawn from a table."""

    class_prior: NDArray[np.float64]
    target: Variable = Y
    inputs: tuple[Variable, ...] = (X, A)

    def log_likelihoods_of(self, columns: Mapping[str, NDArray[Any]], n_rows: int) -> NDArray[np.float64]:
        x = np.asarray(columns["x"], float)[:, None]
        times = np.where(np.isnan(x), 0.0, np.where(x < 0, -np.inf, np.log(RATES) - RATES * np.nan_to_num(x)))
        with np.errstate(divide="ignore"):
            states = np.vstack([np.log(TABLE), np.zeros(2)])
        return times + states[np.asarray(columns["a"], int)]

    def draw_inputs(self, classes: NDArray[np.int64], stream: np.random.Generator) -> dict[str, NDArray[Any]]:
        times = stream.exponential(size=len(classes)) / RATES[classes]
        return {"x": times, "a": (stream.random(len(classes)) >= TABLE[0, classes]).astype(np.int8)}

    def to_softmax(self) -> Any:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Deciding(Posteriors, Prediction):
    """p(y | x) alone: the second class with the probability x."""

    target: Variable = Y
    inputs: tuple[Variable, ...] = (X,)

    def log_scores_of(self, columns: Mapping[str, NDArray[Any]], n_rows: int) -> NDArray[np.float64]:
        x = np.asarray(columns["x"], float)
        return np.log(np.stack([1 - x, x], axis=1))

    def to_softmax(self) -> Any:
        raise NotImplementedError


MODEL = Waiting(np.array([0.25, 0.75]))


def bayes(x: float | None, a: str | None) -> list[float]:
    """Return p(y | x) by hand."""
    joint = []
    for place, prior in enumerate(MODEL.class_prior):
        time = 1.0 if x is None else RATES[place] * math.exp(-RATES[place] * x)
        joint.append(prior * time * (1.0 if a is None else TABLE[A.code(a), place]))
    return [p / sum(joint) for p in joint]


class TestLogSum:
    @given(st.lists(st.floats(-700, 700) | st.just(-math.inf), min_size=1, max_size=5))
    def test_is_the_logarithm_of_the_sum(self, scores: list[float]) -> None:
        total = math.fsum(math.exp(score) for score in scores)
        wanted = math.log(total) if total else -math.inf
        assert log_sum(np.array([scores]))[0] == pytest.approx(wanted, rel=1e-12, abs=1e-12)

    def test_of_large_and_of_tiny_numbers(self) -> None:
        np.testing.assert_allclose(
            log_sum(np.array([[5000.0, 5000.0], [-5000.0, -5000.0]])), np.array([5000, -5000]) + np.log(2)
        )

    def test_of_nothing(self) -> None:
        assert log_sum(np.zeros((2, 0))).tolist() == [-math.inf] * 2


class TestAnswers:
    @pytest.mark.parametrize("x", [None, 0.0, 0.5, 4])
    @pytest.mark.parametrize("a", [None, "u", "v"])
    def test_one_case(self, x: float | None, a: str | None) -> None:
        known = {name: value for name, value in (("x", x), ("a", a)) if value is not None}
        found = MODEL.query("y", known)
        np.testing.assert_allclose(found.to_numpy(), bayes(x, a), rtol=1e-13)
        assert found.variables == (Y,)
        assert MODEL.map(known) == {"y": Y.labels[int(np.argmax(bayes(x, a)))]}
        assert MODEL.map(known, targets="y") == MODEL.map(known)
        with pytest.raises(sf.ArgumentError, match="answers for its class"):
            MODEL.map(known, targets="x")

    def test_target_may_stand_in_a_list(self) -> None:
        for targets in (["y"], ("y",)):
            np.testing.assert_array_equal(MODEL.query(targets).to_numpy(), MODEL.query("y").to_numpy())
            assert len(MODEL.query_rows(targets, {"x": [1.0], "a": ["u"]})) == 1

    @given(st.lists(st.tuples(st.none() | st.floats(0, 9), st.sampled_from([None, "u", "v"])), min_size=1, max_size=5))
    def test_many_cases_are_each_case(self, rows: list[tuple[float | None, str | None]]) -> None:
        columns = {"x": np.array([np.nan if x is None else x for x, _ in rows]), "a": [a for _, a in rows]}
        found = MODEL.query_rows("y", columns)
        np.testing.assert_allclose(found.values, [bayes(x, a) for x, a in rows], rtol=1e-12, atol=1e-300)

    def test_a_matrix_is_a_table_of_inputs(self) -> None:
        matrix = MatrixTable(np.array([[0.25], [np.nan]]), (X,), {"a": np.array([1, -1])}, (A,))
        np.testing.assert_allclose(MODEL.query_rows("y", matrix).values, [bayes(0.25, "v"), bayes(None, None)])

    def test_impossible_inputs_are_named_and_rows_of_them_have_no_answer(self) -> None:
        with pytest.raises(sf.ModelError, match=r"\{'x': -1.0\} are impossible.*sf.Dirichlet"):
            MODEL.query("y", {"x": -1.0})
        with pytest.raises(sf.ModelError, match="are impossible"):
            MODEL.map({"x": -1.0})
        found = MODEL.query_rows("y", {"x": [-1.0, 1.0], "a": ["u", "u"]})
        assert np.isnan(found.values[0]).all()
        assert found.log_evidence[0] == -math.inf
        assert np.isfinite(found.values[1]).all()

    def test_unknown_states_follow_the_policy(self) -> None:
        rows = {"x": [1.0], "a": ["w"]}
        with pytest.raises(sf.DataError, match="'w'"):
            MODEL.query_rows("y", rows)
        found = MODEL.query_rows("y", rows, unknown_states="missing")
        np.testing.assert_allclose(found.values[0], bayes(1.0, None))

    def test_questions_that_are_none(self) -> None:
        for ask in (lambda: MODEL.query("x"), lambda: MODEL.query_rows("x", {"x": [1.0], "a": ["u"]})):
            with pytest.raises(sf.ArgumentError, match="answers for its class, 'y'"):
                ask()
        with pytest.raises(sf.UnknownNameError, match="'z' is none of the inputs"):
            MODEL.query("y", {"z": 1})
        with pytest.raises(sf.UnknownNameError, match="no state 'w'"):
            MODEL.query("y", {"a": "w"})
        for odd in ("far", math.inf, None):
            with pytest.raises(sf.ArgumentError, match="'x' must be a finite number"):
                MODEL.query("y", {"x": odd})


COLUMNS = {"x": np.array([0.1, 2.0]), "a": np.array([1, 1])}
DATA = {"x": [0.5, 1.0], "a": ["u", "v"], "y": ["p", "q"]}


class TestRules:
    def test_the_rule_says_whether_class_probabilities_count(self) -> None:
        ml, joint = (MODEL.scores_of(COLUMNS, 2, rule) for rule in ("ml", "map"))
        np.testing.assert_allclose(joint - ml, np.log([[0.25, 0.75]] * 2))
        with pytest.raises(sf.ArgumentError, match=r"'rule'.*\['map', 'ml'\]"):
            MODEL.scores_of(COLUMNS, 2, "bayes")

    def test_uniform_class_probabilities_make_the_rules_one(self) -> None:
        model = MODEL.with_class_priors("uniform")
        ml, joint = (model.scores_of(COLUMNS, 2, rule) for rule in ("ml", "map"))
        np.testing.assert_array_equal(ml.argmax(axis=1), joint.argmax(axis=1))
        np.testing.assert_allclose(np.diff(ml), np.diff(joint), rtol=1e-12)

    def test_posteriors_sum_to_one(self) -> None:
        np.testing.assert_allclose(np.exp(MODEL.log_posteriors_of(COLUMNS, 2)).sum(axis=1), 1)


class TestClassPriors:
    def test_are_exchanged_and_nothing_else_is(self) -> None:
        moved = MODEL.with_class_priors({"q": 0.125, "p": 0.875})
        np.testing.assert_array_equal(moved.class_prior, [0.875, 0.125])
        np.testing.assert_array_equal(MODEL.class_prior, [0.25, 0.75])
        assert isinstance(moved, Waiting)

    def test_only_shift_the_log_odds(self) -> None:
        columns = {"x": np.array([0.1, 0.5, 3.0]), "a": np.array([1, 1, 1])}
        moved = MODEL.with_class_priors({"p": 0.5, "q": 0.5})
        odds = [np.diff(model.log_posteriors_of(columns, 3))[:, 0] for model in (MODEL, moved)]
        np.testing.assert_allclose(odds[0] - odds[1], np.log(3), rtol=1e-12)

    def test_of_zero_make_a_class_impossible(self) -> None:
        moved = MODEL.with_class_priors({"p": 0.0, "q": 1.0})
        assert moved.log_prior.tolist() == [-math.inf, 0]
        np.testing.assert_array_equal(moved.query("y", {"a": "v"}).to_numpy(), [0, 1])
        with pytest.raises(sf.ModelError, match="are impossible"):
            moved.query("y", {"a": "u"})

    @pytest.mark.parametrize("spec", ["counted", 1.0, "even"])
    def test_cannot_be_counted_afterwards(self, spec: Any) -> None:
        with pytest.raises(sf.ArgumentError):
            MODEL.with_class_priors(spec)


class TestJoint:
    def test_log_prob_is_that_of_inputs_and_class(self) -> None:
        wanted = [math.log(0.25 * math.exp(-0.5) * 0.5), math.log(0.75 * 3 * math.exp(-3))]
        np.testing.assert_allclose(MODEL.log_prob(DATA), wanted)

    def test_a_missing_class_is_summed_out(self) -> None:
        found = MODEL.log_prob({**DATA, "y": [None, "q"]})
        evidence = MODEL.query_rows("y", DATA).log_evidence
        np.testing.assert_allclose(found, [evidence[0], MODEL.log_prob(DATA)[1]])

    def test_samples_are_of_the_model(self) -> None:
        n = 20_000
        frame = MODEL.sample(n, seed=4)
        assert list(frame.columns) == ["x", "a", "y"]
        share = (frame.y == "q").mean()
        assert share == pytest.approx(0.75, abs=5 * math.sqrt(0.75 * 0.25 / n))
        for place, label in enumerate(Y.labels):
            mine = frame[frame.y == label]
            assert mine.x.mean() == pytest.approx(1 / RATES[place], rel=5 / math.sqrt(len(mine)))
        assert set(frame[frame.y == "q"].a) == {"v"}
        assert frame.equals(MODEL.sample(n, seed=4))

    def test_samples_of_no_rows_and_of_a_class_alone(self) -> None:
        assert len(MODEL.sample(0, seed=0)) == 0
        frame = MODEL.with_class_priors({"p": 1.0, "q": 0.0}).sample(200, seed=0)
        assert set(frame.y) == {"p"}
        with pytest.raises(sf.ArgumentError, match="'n'"):
            MODEL.sample(-1)


class TestWithoutAModelOfTheInputs:
    def test_answers(self) -> None:
        np.testing.assert_allclose(Deciding().query("y", {"x": 0.25}).to_numpy(), [0.75, 0.25])
        assert Deciding().map({"x": 0.75}) == {"y": "q"}
        np.testing.assert_allclose(Deciding().query_rows("y", {"x": [0.25, 0.5]}).values, [[0.75, 0.25], [0.5, 0.5]])

    def test_missing_inputs_are_refused(self) -> None:
        assert not Deciding().takes_gaps
        with pytest.raises(sf.ArgumentError, match="'x' is not given, and this model says nothing of how"):
            Deciding().query("y")
        with pytest.raises(sf.DataError, match="missing"):
            Deciding().query_rows("y", {"x": [0.5, np.nan]})


def test_a_joint_table_is_a_class_model() -> None:
    model = sf.fit(JointClasses("y", ("a",)), {"a": list("uvv"), "y": list("ppq")}).model
    assert isinstance(model, ClassModel)
    assert model.takes_gaps
    assert model.variables == ("a", "y")
    np.testing.assert_allclose(model.log_prob({"a": list("uv"), "y": list("pq")}), np.log([1 / 3, 1 / 3]))
    assert model.log_prob({"a": ["u"], "y": ["q"]}).tolist() == [-math.inf]


def test_an_absent_input_may_be_a_column_of_missing_values() -> None:
    data = {"a": ["u", "v", "v", "u"], "b": ["p", "q", "p", "p"], "y": [0, 1, 1, 0]}
    model = sf.fit(Naive("y", ["a", "b"]), data, prior=sf.Dirichlet(1.0)).model
    rows = {"a": data["a"], "y": data["y"]}
    with pytest.raises(sf.DataError, match=r"'b'.* may be a column of missing values\."):
        model.log_prob(rows)
    alone = sf.fit(Naive("y", ["a"]), data, prior=sf.Dirichlet(1.0)).model
    np.testing.assert_allclose(model.log_prob({**rows, "b": [None] * 4}), alone.log_prob(rows), rtol=1e-12)
