"""A fitted joint table of classes answers as adding up every configuration would, whichever way it is stored."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.joint_twin import JointTwin, inputs_of, twins

import suffice as sf
from suffice.data.variable import Variable
from suffice.models import joint_classes_cells
from suffice.models.joint_classes import JointClassModel
from suffice.models.joint_classes_cells import Cells, keys_of
from suffice.structures.joint_classes import JointClasses

EXTRAS = st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1)])
Y, A, B = Variable("y", ("p", "q")), Variable("a", ("u", "v")), Variable("b", ("r", "s", "t"))


def model_of(twin: JointTwin, sparse: bool) -> JointClassModel:
    """Build the model by hand from its twin, with all configurations or those that occur."""
    inputs = tuple(Variable(name, mine) for name, mine in zip(twin.names, twin.states, strict=True))
    target = Variable("y", twin.classes)
    cells = sorted({x for x, _ in twin.rows}) if sparse else twin.configurations
    values = [[float(twin.likelihood(x, label)) for label in twin.classes] for x in cells]
    prior = twin.counted()
    codes = [[variable.code(state) for variable, state in zip(inputs, x, strict=True)] for x in cells]
    divisors = [twin.total(label) + len(twin.configurations) * twin.extra for label in twin.classes]
    return JointClassModel(
        target,
        inputs,
        np.array([float(prior[label]) for label in twin.classes]),
        np.array(values),
        np.array(codes, np.int64).reshape(len(cells), len(inputs)) if sparse else None,
        np.array([float(twin.extra / divisor) for divisor in divisors]) if sparse else None,
    )


class TestAnswers:
    @given(twins(), EXTRAS, st.booleans(), st.data())
    def test_gaps_are_summed_out(self, twin: JointTwin, extra: Fraction, sparse: bool, data: st.DataObject) -> None:
        twin = replace(twin, extra=extra)
        model = model_of(twin, sparse)
        rows = data.draw(st.lists(inputs_of(twin), min_size=1, max_size=6))
        columns = {
            variable.name: np.array([-1 if x[axis] is None else variable.code(x[axis]) for x in rows], np.int8)
            for axis, variable in enumerate(model.inputs)
        }
        found = model.log_likelihoods_of(columns, len(rows))
        assert found.shape == (len(rows), len(twin.classes))
        for x, row in zip(rows, found, strict=True):
            wanted = [twin.likelihood(x, label) for label in twin.classes]
            np.testing.assert_allclose(np.exp(row), [float(p) for p in wanted], rtol=1e-12)
            np.testing.assert_array_equal(row == -math.inf, [p == 0 for p in wanted])

    @given(twins(), EXTRAS, st.booleans(), st.data())
    def test_posteriors_are_bayes_rule(
        self, twin: JointTwin, extra: Fraction, sparse: bool, data: st.DataObject
    ) -> None:
        twin = replace(twin, extra=extra)
        model, x = model_of(twin, sparse), data.draw(inputs_of(twin))
        wanted = twin.posterior(x, twin.counted())
        known = {name: state for name, state in zip(twin.names, x, strict=True) if state is not None}
        rows = model.query_rows("y", {**{name: [None, x[axis]] for axis, name in enumerate(twin.names)}, "z": [0, 1]})
        assert rows.values.shape == (2, len(twin.classes))
        if wanted is None:
            assert np.isnan(rows.values[1]).all()
            assert rows.log_evidence[1] == -math.inf
            with pytest.raises(sf.ModelError, match="are impossible"):
                model.query("y", known)
            return
        np.testing.assert_allclose(model.query("y", known).to_numpy(), [float(p) for p in wanted], rtol=1e-12)
        np.testing.assert_allclose(rows.values[1], [float(p) for p in wanted], rtol=1e-12)
        evidence = sum(twin.counted()[y] * twin.likelihood(x, y) for y in twin.classes)
        assert rows.log_evidence[1] == pytest.approx(math.log(evidence), abs=1e-12)

    def test_unseen_configurations_are_impossible_without_a_prior_and_not_smoothed(self) -> None:
        data = {"a": list("uv"), "b": list("rs"), "y": list("pq")}
        model = sf.fit(JointClasses("y", ("a", "b")), data).model
        answers = model.query_rows("y", {"a": list("uuv"), "b": list("rss")})
        np.testing.assert_array_equal(np.isnan(answers.values), [[False] * 2, [True] * 2, [False] * 2])
        assert answers.log_evidence.tolist() == [math.log(0.5), -math.inf, math.log(0.5)]

    def test_unknown_states_follow_the_policy(self) -> None:
        data = {"a": list("uuvv"), "b": list("rsrs"), "y": list("ppqq")}
        model = sf.fit(JointClasses("y", ("a", "b")), data, prior=sf.K2()).model
        odd = {"a": ["u"], "b": ["zebra"]}
        with pytest.raises(sf.DataError, match="'zebra'"):
            model.query_rows("y", odd)
        answers = model.query_rows("y", odd, unknown_states="missing")
        np.testing.assert_allclose(answers.values[0], model.query("y", {"a": "u"}).to_numpy())

    def test_no_rows_have_no_answers(self) -> None:
        model = sf.fit(JointClasses("y", ("a",)), {"a": list("uv"), "y": list("pq")}).model
        assert model.query_rows("y", {"a": []}).values.shape == (0, 2)

    @given(twins(), st.booleans())
    def test_other_class_probabilities_keep_the_tables(self, twin: JointTwin, sparse: bool) -> None:
        model = model_of(twin, sparse)
        told = {label: Fraction(place + 1) for place, label in enumerate(twin.classes)}
        told = {label: p / sum(told.values()) for label, p in told.items()}
        moved = model.with_class_priors({label: float(p) for label, p in told.items()})
        np.testing.assert_array_equal(moved.values, model.values)
        x = twin.rows[0][0]
        wanted = twin.posterior(x, told)
        assert wanted is not None
        found = moved.query("y", dict(zip(twin.names, x, strict=True))).to_numpy()
        np.testing.assert_allclose(found, [float(p) for p in wanted], rtol=1e-12)

    def test_a_class_without_rows_takes_no_probability_later_either(self) -> None:
        data, schema = {"a": list("uv"), "y": list("pq")}, {"y": ["p", "q", "r"]}
        model = sf.fit(JointClasses("y", ("a",)), data, schema=schema).model
        with pytest.raises(sf.ModelError, match="Class 'r' of 'y' had no rows"):
            model.with_class_priors("uniform")
        moved = model.with_class_priors({"p": 0.9, "q": 0.1, "r": 0.0})
        np.testing.assert_array_equal(moved.class_prior, [0.9, 0.1, 0])


class TestCells:
    """The storage by itself: every way of looking up gives the same."""

    @given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(0, 10**6))
    def test_the_list_of_all_configurations_finds_what_the_search_finds(self, sizes: list[int], seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = math.prod(sizes)
        keys = np.sort(rng.choice(n, rng.integers(0, n + 1), replace=False))
        cells = Cells(tuple(sizes), keys, rng.random((len(keys), 2)), rng.random(2))
        wanted = {int(key): place for place, key in enumerate(keys)}
        every = np.arange(n)
        with pytest.MonkeyPatch.context() as patch:
            by_list = cells.find(every)
            patch.setattr(joint_classes_cells, "DIRECT_CELLS", 0)
            by_search = cells.find(every)
        assert by_list.tolist() == by_search.tolist() == [wanted.get(key, -1) for key in range(n)]

    def test_keys_count_configurations_in_order(self) -> None:
        configurations = np.array(list(itertools.product(range(2), range(3), range(2))))
        assert keys_of(list(configurations.T), [2, 3, 2], 12).tolist() == list(range(12))

    @given(st.sets(st.integers(0, 23), max_size=23), st.integers(0, 99))
    def test_what_is_not_stored_is_drawn_by_its_rank(self, stored: set[int], seed: int) -> None:
        keys = np.array(sorted(stored), np.int64)
        cells = Cells((4, 6), keys, np.zeros((len(keys), 1)), np.array([1.0]))
        others = sorted(set(range(24)) - stored)
        assert cells._unstored(np.arange(len(others))).tolist() == others
        drawn = cells.draw(0, 200, np.random.default_rng(seed))
        assert set(drawn.tolist()) <= set(others)


class TestSampling:
    @pytest.mark.parametrize("sparse", [False, True])
    def test_frequencies_are_the_model_s(self, sparse: bool) -> None:
        rows = tuple(zip([("u", "r"), ("u", "s"), ("v", "t"), ("u", "r"), ("v", "r")], "ppqqq", strict=True))
        twin = JointTwin(("a", "b"), (("u", "v"), ("r", "s", "t")), ("p", "q"), rows, extra=Fraction(1, 2))
        n = 40_000
        frame = model_of(twin, sparse).sample(n, seed=3)
        found = frame.value_counts(["a", "b", "y"]).to_dict()
        assert sum(found.values()) == n
        for x, y in itertools.product(twin.configurations, twin.classes):
            p = float(twin.counted()[y] * twin.likelihood(x, y))
            assert found.get((*x, y), 0) / n == pytest.approx(p, abs=5 * math.sqrt(p / n))

    @pytest.mark.parametrize("sparse", [False, True])
    def test_what_is_impossible_is_never_drawn(self, sparse: bool) -> None:
        rows = tuple(zip([("u", "r"), ("v", "t")], "pq", strict=True))
        twin = JointTwin(("a", "b"), (("u", "v"), ("r", "s", "t")), ("p", "q"), rows)
        frame = model_of(twin, sparse).sample(500, seed=0)
        assert set(zip(frame.a, frame.b, frame.y, strict=True)) == {("u", "r", "p"), ("v", "t", "q")}

    def test_seeds_repeat(self) -> None:
        model = model_of(JointTwin(("a",), (("u", "v"),), ("p", "q"), ((("u",), "p"), (("v",), "q"))), False)
        assert model.sample(50, seed=1).equals(model.sample(50, seed=1))
        assert not model.sample(50, seed=1).equals(model.sample(50, seed=2))

    def test_no_inputs_and_no_rows(self) -> None:
        model = sf.fit(JointClasses("y", ()), {"y": list("ppq")}).model
        assert list(model.sample(4, seed=0).columns) == ["y"]
        assert len(model.sample(0, seed=0)) == 0


class TestSoftmax:
    @given(twins(most_inputs=1), EXTRAS, st.booleans())
    def test_of_one_input_is_exact(self, twin: JointTwin, extra: Fraction, sparse: bool) -> None:
        model = model_of(replace(twin, extra=extra), sparse)
        rows = [x for x, _ in twin.rows]
        data = {
            **{name: [x[axis] for x in rows] for axis, name in enumerate(twin.names)},
            "row": list(range(len(rows))),
        }
        np.testing.assert_allclose(
            model.to_softmax().query_rows("y", data).values, model.query_rows("y", data).values, rtol=0, atol=1e-12
        )

    def test_of_several_inputs_there_is_none(self) -> None:
        model = sf.fit(JointClasses("y", ("a", "b")), {"a": list("uv"), "b": list("rs"), "y": list("pq")}).model
        with pytest.raises(sf.ModelError, match="no sum of terms of single inputs"):
            model.to_softmax()
        with pytest.raises(sf.ModelError, match=r"p\(a, b \| y\) is a joint table"):
            model.log_odds("p", "q")


def by_hand(**changed: Any) -> JointClassModel:
    parts: dict[str, Any] = {
        "target": Y,
        "inputs": (A, B),
        "class_prior": [0.5, 0.5],
        "values": [[0.5, 0.25], [0.5, 0.25]],
        "configurations": [[0, 0], [1, 2]],
        "default_row": [0.0, 0.125],
    }
    return JointClassModel(**{**parts, **changed})


class TestByHand:
    def test_is_frozen_and_keeps_no_array_of_the_caller(self) -> None:
        values = np.full((6, 2), 1 / 6)
        model = by_hand(values=values, configurations=None, default_row=None)
        values[:] = 0
        assert model.values.sum() == pytest.approx(2)
        with pytest.raises(ValueError, match="read-only"):
            model.values[0] = 0

    @pytest.mark.parametrize(
        ("changed", "says"),
        [
            ({"class_prior": [0.5, 0.6]}, "class probabilities"),
            ({"class_prior": [-0.5, 1.5]}, "class probabilities"),
            ({"class_prior": [np.nan, 1.0]}, "class probabilities"),
            ({"configurations": [[1, 2], [0, 0]]}, "in order"),
            ({"configurations": [[0, 0], [0, 0]]}, "in order"),
            ({"configurations": [[0, 0], [1, 3]]}, "within"),
            ({"default_row": [0.0, 0.25]}, "class 'q' is not a distribution: its sum is 1.5"),
            ({"values": [[0.5, 0.25], [0.5, np.nan]]}, "class 'q' is not a distribution"),
            ({"values": [[1.5, 0.25], [-0.5, 0.25]]}, "class 'p' is not a distribution"),
            ({"values": [[0.5, np.nan], [0.5, np.nan]], "default_row": [0, np.nan]}, "'q' of 'y' had no rows"),
            ({"inputs": tuple(Variable(f"x{i}", (0, 1)) for i in range(62))}, "cannot be indexed"),
        ],
    )
    def test_improper_tables_are_refused(self, changed: dict[str, Any], says: str) -> None:
        with pytest.raises(sf.ModelError, match=says):
            by_hand(**changed)

    def test_prints_what_it_is(self) -> None:
        assert repr(by_hand()) == "JointClassModel('y', 2 inputs, 2 × 6 cells, 2 stored)"
        assert str(by_hand()).splitlines() == [
            "p(a, b | y)",
            "a  b       p       q",
            "-  -  ------  ------",
            "u  r  0.5000  0.2500",
            "v  t  0.5000  0.2500",
            "each of 4 other configurations: 0, 0.125",
        ]
        assert "<caption>p(a, b | y)</caption>" in by_hand()._repr_html_()
        assert str(by_hand(inputs=(), values=[[1, 1]], configurations=None)).startswith("p(y)\n")

    def test_many_cells_are_printed_with_their_digits(self) -> None:
        wide = Variable("a", tuple(range(200)))
        values = np.full((200, 2), 1 / 200)
        values[:2] = [[1e-5, 0.005], [0.00999, 0.005]]
        model = by_hand(inputs=(wide,), values=values, configurations=None, default_row=None)
        assert "1e-05" in str(model)
