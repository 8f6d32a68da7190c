"""Softmax distributions: what they say, what they compute, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds.kind import NodeFamily
from suffice.models.cpds.softmax import SoftmaxCPD
from suffice.models.cpds.softmax_search import NodeObjective, WeightedCases
from suffice.stats.rows import Rows

Y, D, X, Z = Variable("y", ("a", "b", "c")), Variable("d", ("u", "v")), Variable("x"), Variable("z")
FAMILY = NodeFamily(Y, (X, D, Z))
NUMBERS = st.floats(-3, 3, allow_subnormal=False)


@st.composite
def distributions(draw: st.DrawFn) -> SoftmaxCPD:
    intercept = draw(arrays(np.float64, (2, 3), elements=NUMBERS | st.just(-math.inf)))
    intercept[:, draw(st.integers(0, 2))] = 0.5
    return SoftmaxCPD(FAMILY, intercept, draw(arrays(np.float64, (2, 3, 2), elements=NUMBERS)))


COLUMNS = {"x": np.array([0.0, 1.5, -2.0, 0.25]), "d": np.array([0, 1, 1, 0]), "z": np.array([1.0, -1.0, 0.5, 3.0])}


@given(distributions())
def test_probabilities_are_exponentials_over_their_sum(cpd: SoftmaxCPD) -> None:
    expected = []
    for x, d, z in zip(*(COLUMNS[name] for name in "xdz"), strict=True):
        scores = [math.exp(cpd.intercept[d, k] + cpd.coefficients[d, k] @ [x, z]) for k in range(3)]
        expected.append(np.array(scores) / sum(scores))
    np.testing.assert_allclose(cpd.probabilities(COLUMNS), expected, rtol=1e-12)


@given(distributions(), arrays(np.float64, (2, 1), elements=NUMBERS), arrays(np.float64, (2, 1, 2), elements=NUMBERS))
def test_only_differences_between_states_matter(cpd: SoftmaxCPD, shift: np.ndarray, slant: np.ndarray) -> None:
    moved = SoftmaxCPD(FAMILY, cpd.intercept + shift, cpd.coefficients + slant)
    np.testing.assert_allclose(moved.probabilities(COLUMNS), cpd.probabilities(COLUMNS), rtol=1e-9)
    first = np.argmax(np.isfinite(moved.intercept), axis=1)
    assert (moved.intercept[[0, 1], first] == 0).all()
    assert (moved.coefficients[[0, 1], first] == 0).all()


@given(distributions())
def test_holding_the_form_twice_changes_nothing(cpd: SoftmaxCPD) -> None:
    again = SoftmaxCPD.from_dict(FAMILY, cpd.to_dict())
    np.testing.assert_array_equal(again.intercept, cpd.intercept)
    np.testing.assert_array_equal(again.coefficients, cpd.coefficients)


@given(distributions(), st.integers(0, 3), st.integers(0, 2**32))
def test_samples_follow_the_probabilities(cpd: SoftmaxCPD, row: int, seed: int) -> None:
    n = 4000
    columns = {name: np.repeat(column[row : row + 1], n) for name, column in COLUMNS.items()}
    counts = np.bincount(cpd.sample(columns, np.random.default_rng(seed).random(n)), minlength=3)
    law = stats.binom(n, np.minimum(cpd.probabilities(COLUMNS)[row], 1))  # a normal law would forbid rare states
    assert (law.cdf(counts) > 1e-9).all()
    assert (law.sf(counts - 1) > 1e-9).all()


def test_no_draw_is_of_an_impossible_state() -> None:
    cpd = SoftmaxCPD(FAMILY, [[0, 0, -math.inf], [-math.inf, 0, 0]], np.zeros((2, 3, 2)))
    columns = {"x": np.zeros(4), "d": np.array([0, 0, 1, 1]), "z": np.zeros(4)}
    assert cpd.sample(columns, np.array([0.0, 1 - 2**-53, 0.0, 1 - 2**-53])).tolist() == [0, 1, 1, 2]
    assert cpd.log_prob({**columns, "y": np.array([2, 0, 0, 2])})[0] == -math.inf


def test_far_away_probabilities_stay_probabilities() -> None:
    cpd = SoftmaxCPD(NodeFamily(Y, (X,)), [[0, 1, 2]], [[[0], [1], [-1]]])
    p = cpd.probabilities({"x": np.array([1e6, -1e6])})
    np.testing.assert_array_equal(p, [[0, 1, 0], [0, 0, 1]])


def test_log_likelihood_weighs_distinct_rows() -> None:
    cpd = SoftmaxCPD(FAMILY, np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(2, 3, 2) / 10)
    y, w = np.array([0, 1, 2, 2]), np.array([1.0, 2.5, 3.0, 0.5])
    rows = Rows.of_rows((X, D, Z, Y), (COLUMNS["x"], COLUMNS["d"], COLUMNS["z"], y), w)
    assert cpd.log_likelihood(rows) == pytest.approx(w @ cpd.log_prob({**COLUMNS, "y": y}), rel=1e-12)


def test_prints_as_a_table_of_parameters() -> None:
    cpd = SoftmaxCPD(NodeFamily(Y, (D, X)), [[0, 1, 2], [0, -math.inf, 1.5]], [[[0], [0.5], [-2]], [[0], [0], [1]]])
    assert str(cpd).splitlines() == [
        "p(y | d, x)",
        "d  y  intercept    x",
        "-  -  ---------  ---",
        "u  a          0    0",
        "u  b          1  0.5",
        "u  c          2   -2",
        "v  a          0    0",
        "v  b       -inf    0",
        "v  c        1.5    1",
    ]
    assert "<td" in cpd._repr_html_()
    frame = cpd.to_frame("pandas")
    assert list(frame.columns) == ["d", "y", "intercept", "x"]
    assert frame["x"].tolist() == [0, 0.5, -2, 0, 0, 1]


def test_a_long_table_is_cut_and_a_parent_may_be_called_intercept() -> None:
    many = Variable("d", tuple(range(40)))
    cpd = SoftmaxCPD(NodeFamily(Y, (many, Variable("intercept"))), np.zeros((40, 3)), np.zeros((40, 3, 1)))
    assert str(cpd).endswith("… 60 more rows")
    assert list(cpd.to_frame("pandas").columns) == ["d", "y", "intercept", "intercept_"]


def test_unknown_rows_answer_with_nan_and_are_not_sampled() -> None:
    cpd = SoftmaxCPD(NodeFamily(Y, (D, X)), [[0, 1, 2], [np.nan] * 3], np.zeros((2, 3, 1)))
    assert cpd.unknown.tolist() == [False, True]
    columns = {"d": np.array([0, 1]), "x": np.zeros(2)}
    assert np.isnan(cpd.log_prob({**columns, "y": np.zeros(2, int)})).tolist() == [False, True]
    assert SoftmaxCPD.unknown_of(cpd.family).unknown.all()
    with pytest.raises(sf.ModelError, match="d='v' is unknown"):
        cpd.sample(columns, np.array([0.5, 0.5]))


def test_a_person_gives_parameters_by_state() -> None:
    family = NodeFamily(Y, (D, X))
    cpd = SoftmaxCPD.from_given(
        family, {"intercept": {"b": 1, "c": [2, 3]}, "coefficients": {"b": {"x": [0.5, 0.25]}, "c": {"x": -1}}}
    )
    np.testing.assert_array_equal(cpd.intercept, [[0, 1, 2], [0, 1, 3]])
    np.testing.assert_array_equal(cpd.coefficients[:, :, 0], [[0, 0.5, -1], [0, 0.25, -1]])
    arrays_too = SoftmaxCPD.from_given(family, cpd.to_dict())
    np.testing.assert_array_equal(arrays_too.intercept, cpd.intercept)
    assert SoftmaxCPD.from_given(family, cpd) is cpd


# The search ---------------------------------------------------------------------------------------------------


def test_the_reach_of_a_newton_step_is_that_of_the_scores_one_by_one() -> None:
    rng = np.random.default_rng(3)
    row = np.repeat([0, 1], 4)
    cases = WeightedCases(row, rng.normal(size=(8, 2)), rng.integers(1, 9, (8, 3)).astype(float), np.ones((2, 3), bool))
    objective = NodeObjective(cases, np.diag(1 / cases.spread))
    for state in range(3):  # which state has the largest score differs
        p = np.where(np.arange(3) == state, 0.02, 0.49) * np.ones((8, 1))
        inverse = np.linalg.inv(objective.hessian(p))
        largest = 0.0
        parts = [objective.whole(unit) for unit in np.eye(objective.n_free)]
        derivatives = np.array([alpha[row] + objective.z @ beta.T for alpha, beta in parts])
        for place in range(8):
            for k in range(3):
                d = derivatives[:, place, k]
                largest = max(largest, float(d @ inverse @ d))
        assert objective.reach(inverse) == pytest.approx(2 * math.sqrt(largest), rel=1e-12)
