"""Softmax nodes are fitted to the maximum of their likelihood, or say why there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds.kind import NodeFamily
from suffice.models.cpds.softmax import SoftmaxCPD, SoftmaxPenalty
from suffice.models.cpds.softmax_kind import KIND, SoftmaxKind
from suffice.stats.rows import Rows

Y, D, X, Z = Variable("y", ("a", "b", "c")), Variable("d", ("u", "v")), Variable("x"), Variable("z")
FAMILY = NodeFamily(Y, (X, D, Z))
TIED = SoftmaxKind("slopes")


def some_rows(seed: int, n: int = 60, weights: bool = False) -> Rows:
    """Draw rows from a softmax, so that states overlap."""
    rng = np.random.default_rng(seed)
    x, z, d = rng.normal(50, 3, n).round(1), rng.normal(size=n).round(1), rng.integers(0, 2, n)
    scores = np.stack([0 * x, 0.3 * (x - 50) + z * d, 0.5 - z], axis=1)
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return Rows.of_rows((X, D, Z, Y), (x, d, z, y), rng.integers(1, 4, n) / 2 if weights else None)


def naive_loss(theta: np.ndarray, rows: Rows, tied: bool, width: float = math.inf, main: float = math.inf) -> float:
    """Add up −log p row by row; parameters are a (2, 3) and b (2, 3, 2) or (3, 2), all states with their own."""
    a, b = theta[:6].reshape(2, 3), theta[6:].reshape(3, 2) if tied else theta[6:].reshape(2, 3, 2)
    x, d, z, y = rows.columns
    total = 0.0
    for w, x1, d1, z1, y1 in zip(rows.weights, x, d, z, y, strict=True):
        scores = a[d1] + (b if tied else b[d1]) @ [x1 - 50, z1]
        total += w * (np.logaddexp.reduce(scores) - scores[y1])
    uncentred = a - (b @ [50, 0])  # the prior is on intercepts at zero
    return total + (b**2).sum() / (2 * width**2) + (uncentred**2).sum() / (2 * main**2)


def naive_fit(rows: Rows, tied: bool, width: float = math.inf, main: float = math.inf) -> float:
    start = np.zeros(12 if tied else 18)
    found = minimize(naive_loss, start, (rows, tied, width, main), method="BFGS", options={"gtol": 1e-7})
    return float(found.fun)


@pytest.mark.parametrize("kind", [KIND, TIED], ids=["untied", "tied"])
@pytest.mark.parametrize("seed", range(3))
def test_reaches_the_likelihood_of_a_naive_search(kind: SoftmaxKind, seed: int) -> None:
    rows = some_rows(seed, 100, weights=True)
    cpd = kind.mle(FAMILY, rows)
    assert -cpd.log_likelihood(rows) == pytest.approx(naive_fit(rows, kind.tied == "slopes"), abs=1e-6)
    assert kind.residual(cpd, rows) < 1e-12


@pytest.mark.parametrize("kind", [KIND, TIED], ids=["untied", "tied"])
@pytest.mark.parametrize(("width", "main"), [(1.0, math.inf), (0.5, 20.0), (3.0, 3.0)])
def test_mode_is_that_of_a_naive_search_over_all_states(kind: SoftmaxKind, width: float, main: float) -> None:
    rows = some_rows(5, 40)
    cpd = kind.penalised(FAMILY, rows, width, main)
    tied = kind.tied == "slopes"
    assert kind.residual(cpd, rows, SoftmaxPenalty(width, main)) < 1e-12
    assert kind.residual(cpd, rows) > 1e-6
    b = cpd.coefficients - cpd.coefficients.mean(axis=1, keepdims=True)
    a = cpd.intercept - cpd.intercept.mean(axis=1, keepdims=True)
    theta = np.concatenate([(a + b @ [50, 0]).reshape(-1), (b[0] if tied else b).reshape(-1)])
    ours = naive_loss(theta, rows, tied, width, main)
    assert ours <= naive_fit(rows, tied, width, main) + 1e-7 * abs(ours)


@given(st.integers(0, 10_000))
@settings(max_examples=80, deadline=None)
def test_the_gradient_vanishes_or_states_are_separated(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    x, z, y = rng.integers(0, 5, n) * 1.0, rng.integers(0, 4, n) * 1.0, rng.integers(0, 3, n)
    family, rows = NodeFamily(Y, (X, Z)), Rows.of_rows((X, Z, Y), (x, z, y))
    collinear = bool(np.linalg.matrix_rank(np.column_stack([np.ones(n), x, z])) < 3)
    if len(set(y.tolist())) > 1 and (collinear or is_separated(x, z, y)):
        with pytest.raises(sf.EstimationError, match="does not vary" if collinear else "separates"):
            KIND.mle(family, rows)
    else:
        assert KIND.residual(KIND.mle(family, rows), rows) < 1e-10


def is_separated(x: np.ndarray, z: np.ndarray, y: np.ndarray) -> bool:
    """Look for a direction of recession, each row and state by itself, over the states that occur."""
    seen = sorted(set(y.tolist()))
    gains = []
    for x1, z1, y1 in zip(x, z, y, strict=True):
        for other in seen:
            if other != y1:
                gain = np.zeros((3, 3))
                gain[y1], gain[other] = [1, x1, z1], [-1, -x1, -z1]
                gains.append(gain.reshape(-1))
    table = np.array(gains)
    return bool(linprog(-table.sum(axis=0), A_ub=-table, b_ub=np.zeros(len(table)), bounds=(-1, 1)).fun < -1e-7)


def test_scale_and_origin_of_columns_do_not_matter() -> None:
    rows = some_rows(1, 80)
    x, d, z, y = rows.columns
    moved = Rows.of_rows((X, D, Z, Y), (x * 1e6 + 1e9, d, z * 1e-7, y), rows.weights)
    first, second = KIND.mle(FAMILY, rows), KIND.mle(FAMILY, moved)
    assert second.log_likelihood(moved) == pytest.approx(first.log_likelihood(rows), rel=1e-9)
    np.testing.assert_allclose(second.coefficients * [1e6, 1e-7], first.coefficients, rtol=1e-6, atol=1e-9)
    assert KIND.residual(second, moved) < 1e-10


def test_weights_are_frequencies() -> None:
    rows = some_rows(2)
    twice = KIND.mle(FAMILY, rows + rows)
    np.testing.assert_allclose(twice.coefficients, KIND.mle(FAMILY, rows).coefficients, rtol=1e-9, atol=1e-12)


def test_one_configuration_fits_as_if_there_were_no_others() -> None:
    rows = some_rows(3)
    x, d, z, y = rows.columns
    here = d == 1
    alone = KIND.mle(NodeFamily(Y, (X, Z)), Rows.of_rows((X, Z, Y), (x[here], z[here], y[here])))
    both = KIND.mle(FAMILY, rows)
    np.testing.assert_allclose(both.coefficients[1], alone.coefficients[0], rtol=1e-9)
    np.testing.assert_allclose(both.intercept[1], alone.intercept[0], rtol=1e-9)


def test_large_problems_take_another_way_to_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = some_rows(4, 200)
    usual = KIND.mle(FAMILY, rows)
    monkeypatch.setattr("suffice.models.cpds.softmax_search.MUCH", 0.0)
    np.testing.assert_allclose(KIND.mle(FAMILY, rows).coefficients, usual.coefficients, rtol=1e-9, atol=1e-12)
    monkeypatch.setattr("suffice.models.cpds.softmax_search.MOST_PARAMETERS", 0)
    np.testing.assert_allclose(KIND.mle(FAMILY, rows).coefficients, usual.coefficients, rtol=1e-6, atol=1e-9)


# Boundaries ---------------------------------------------------------------------------------------------------


def test_states_that_do_not_occur_are_impossible_and_remarked_on() -> None:
    rows = Rows.of_rows((X, Y), ([1.0, 2.0, 3.0, 2.5], [0, 2, 2, 0]))
    cpd = KIND.mle(NodeFamily(Y, (X,)), rows)
    assert cpd.intercept[0, 1] == -math.inf
    assert cpd.probabilities({"x": np.array([1.7])})[0, 1] == 0
    assert KIND.residual(cpd, rows) < 1e-12
    assert KIND.n_free_adjusted(NodeFamily(Y, (X,)), rows) == 2
    assert KIND.complete(cpd, "error")[1] == ("y: probability zero for 1 state that did not occur (first: 'b').",)


def test_a_single_state_is_certain_even_of_a_constant_parent() -> None:
    cpd = KIND.mle(NodeFamily(Y, (X,)), Rows.of_rows((X, Y), ([1.0, 1.0], [1, 1])))
    assert cpd.intercept.tolist() == [[-math.inf, 0, -math.inf]]


def test_tied_slopes_are_shared_where_the_first_state_does_not_occur() -> None:
    rows = some_rows(7, 120)
    x, d, z, y = rows.columns
    rows = Rows.of_rows((X, D, Z, Y), (x, d, z, np.where((d == 1) & (y == 0), 1, y)), rows.weights)
    cpd = TIED.mle(FAMILY, rows)
    b = cpd.coefficients
    np.testing.assert_allclose(b[1, 2] - b[1, 1], b[0, 2] - b[0, 1], rtol=1e-12)
    assert TIED.residual(cpd, rows) < 1e-12
    assert TIED.n_free_adjusted(FAMILY, rows) == 2 + 1 + 2 * 2
    with_prior = TIED.penalised(FAMILY, rows, 2.0, math.inf)
    assert TIED.residual(with_prior, rows, SoftmaxPenalty(2.0, math.inf)) < 1e-12


def test_residual_sees_slopes_that_are_not_shared_and_small_changes() -> None:
    rows = some_rows(8, 120)
    untied, tied = KIND.mle(FAMILY, rows), TIED.mle(FAMILY, rows)
    assert TIED.residual(untied, rows) > 1e-3
    assert KIND.residual(tied, rows) > 1e-3
    moved = SoftmaxCPD(FAMILY, untied.intercept + np.array([0, 1e-6, 0]), untied.coefficients)
    assert 1e-8 < KIND.residual(moved, rows) < 1e-5
    unknown = SoftmaxCPD(FAMILY, np.full((2, 3), np.nan), untied.coefficients)
    assert KIND.residual(unknown, rows) == math.inf
    assert KIND.residual(unknown, rows, fixed=np.zeros((2, 1))) == 0


def test_configurations_without_rows_follow_the_policy() -> None:
    rows = some_rows(9, 200)
    x, d, z, y = rows.columns
    half = Rows.of_rows((X, D, Z, Y), (x[d == 0], d[d == 0], z[d == 0], y[d == 0]))
    for kind in (KIND, TIED):
        cpd = kind.mle(FAMILY, half)
        assert cpd.unknown.tolist() == [False, True]
        with pytest.raises(sf.EstimationError, match="d='v'"):
            kind.complete(cpd, "error")
        assert kind.complete(cpd, "nan")[0] is cpd
        uniform, remarks = kind.complete(cpd, "uniform")
        columns = {"x": np.array([7.0]), "d": np.array([1]), "z": np.array([2.0])}
        np.testing.assert_allclose(uniform.probabilities(columns), 1 / 3)
        assert "set uniform" in remarks[0]
        assert kind.residual(uniform, half) < 1e-12
        penalised = kind.penalised(FAMILY, half, 1.0, 1.0)
        assert not penalised.unknown.any()
        assert kind.residual(penalised, half, SoftmaxPenalty(1.0, 1.0)) < 1e-12
        other = SoftmaxCPD(FAMILY, penalised.intercept + np.array([[0, 0, 0], [0, 1, 0]]), penalised.coefficients)
        assert kind.residual(other, half, SoftmaxPenalty(1.0, 1.0)) > 0.1


def test_a_narrow_prior_brings_everything_to_zero_and_a_wide_one_nothing() -> None:
    rows = some_rows(10, 200)
    assert np.abs(KIND.penalised(FAMILY, rows, 1e-4, 1e-4).coefficients).max() < 1e-3
    wide, free = KIND.penalised(FAMILY, rows, 1e6, math.inf), KIND.mle(FAMILY, rows)
    np.testing.assert_allclose(wide.coefficients, free.coefficients, rtol=1e-6, atol=1e-8)


def test_a_prior_decides_where_states_are_separated_or_parents_collinear() -> None:
    rows = Rows.of_rows((X, Z, Y), ([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], [0, 0, 1, 2]))
    family = NodeFamily(Y, (X, Z))
    cpd = KIND.penalised(family, rows, 10.0, 10.0)
    assert KIND.residual(cpd, rows, SoftmaxPenalty(10.0, 10.0)) < 1e-12
    np.testing.assert_allclose(cpd.coefficients[..., 1], 2 * cpd.coefficients[..., 0], rtol=1e-9)


# In networks --------------------------------------------------------------------------------------------------


def data_of(rows: Rows) -> dict[str, list]:
    x, d, z, y = (np.repeat(column, rows.weights.astype(int)) for column in rows.columns)
    return {"x": x.tolist(), "d": [D.labels[c] for c in d], "z": z.tolist(), "y": [Y.labels[c] for c in y]}


def test_a_discrete_child_of_a_continuous_parent_is_a_softmax_by_itself() -> None:
    rows = some_rows(11, 150)
    fit = sf.fit(sf.DAG("x -> y <- d; y <- z"), data_of(rows))
    assert fit.certificate.ok, fit.certificate.verdict
    cpd = fit.model.cpd("y")
    assert cpd.kind == "softmax"
    assert fit.local["y"] == pytest.approx(KIND.mle(FAMILY, rows).log_likelihood(rows), rel=1e-12)
    tied = sf.fit(sf.DAG("x -> y <- d; y <- z", kinds={"y": {"tied": "slopes"}}), data_of(rows))
    assert tied.certificate.ok, tied.certificate.verdict
    assert fit.n_free - tied.n_free == 4
    assert tied.log_likelihood < fit.log_likelihood


def test_a_fit_under_a_gaussian_prior_is_certified_and_saved(tmp_path) -> None:
    data = {"x": [1.0, 2.0, 3.0, 4.0], "y": list("aabb")}
    dag = sf.DAG("x -> y")
    with pytest.raises(sf.EstimationError, match=r"sf\.Gaussian"):
        sf.fit(dag, data)
    fit = sf.fit(dag, data, prior=[sf.Gaussian(3.0), sf.NormalInverseGamma(2, 1.0)], point="map")
    assert fit.certificate.ok, fit.certificate.verdict
    sf.write(fit, tmp_path / "fit.json")
    np.testing.assert_array_equal(
        sf.read(tmp_path / "fit.json").model.cpd("y").coefficients, fit.model.cpd("y").coefficients
    )


def test_given_parameters_are_left_alone() -> None:
    given_ = {"intercept": {"b": -2.0}, "coefficients": {"b": {"x": 0.5}}}
    fit = sf.fit(sf.DAG("x -> y"), {"x": [1.0, 2.0, 2.5, 3.0], "y": list("abab")}, fixed={"y": given_})
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.model.cpd("y").intercept.tolist() == [[0.0, -2.0]]
    assert fit.n_free == 2
