"""maxent with features of discrete variables: textbook answers, base measures, targets of any kind, contradictions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.learn.feature_cases import Case, cases, matched, softmax

import suffice as sf

Floats = NDArray[np.float64]
DIE = {"points": [1, 2, 3, 4, 5, 6]}
POINTS = sf.Features([sf.product("points")])
BITS = {name: [0, 1] for name in "ABC"}
PAIRS = [sf.indicator({a: 1, b: 1}) for a, b in (("A", "B"), ("B", "C"), ("A", "C"))]


def table_of(model: Any) -> Floats:
    """Return p of every configuration, in the order of the schema."""
    rows = list(itertools.product(*(variable.states for variable in model.schema.variables)))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(model.schema)}
    shape = [variable.n_states for variable in model.schema.variables]
    return np.asarray(np.exp(model.log_prob(columns)), np.float64).reshape(shape)


def divergence(p: Floats, h: Floats) -> float:
    """KL(p‖h), h scaled to a distribution."""
    p, h = p.ravel(), h.ravel() / h.sum()
    return math.fsum(p[p > 0] * np.log(p[p > 0] / h[p > 0]))


# Dice ---------------------------------------------------------------------------------------------------------


def test_brandeis_dice() -> None:
    # Jaynes, Information theory and statistical mechanics, Brandeis lectures 1962 (1963), section 2.
    fit = sf.maxent(POINTS, [4.5], over=DIE)
    p = fit.model.query("points").values
    np.testing.assert_allclose(p, [0.05435, 0.07877, 0.11416, 0.16545, 0.23977, 0.34749], atol=6e-6)
    assert math.exp(fit.model.weights["points"]) == pytest.approx(1.44925, abs=1e-5)
    assert -float((p * np.log(p)).sum()) == pytest.approx(1.61358, abs=1e-5)
    assert fit.certificate.ok
    assert fit.certificate.dual == pytest.approx(math.log(6) - 1.61358, abs=1e-5)
    assert fit.certificate.duality_gap == pytest.approx(0, abs=1e-10)


def test_a_fair_mean_says_nothing() -> None:
    fit = sf.maxent(POINTS, 3.5, over=DIE)
    np.testing.assert_allclose(fit.model.query("points").values, np.full(6, 1 / 6), atol=1e-12)
    assert fit.certificate.dual == pytest.approx(0, abs=1e-12)


@given(st.floats(1.0001, 5.9999))
def test_any_mean_of_a_die_is_reached_by_a_geometric_law(mean: float) -> None:
    fit = sf.maxent(POINTS, mean, over=DIE, tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    p = fit.model.query("points").values
    assert p @ np.arange(1, 7) == pytest.approx(mean, abs=1e-9)
    ratios = p[1:] / p[:-1]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-8)


def test_a_die_that_always_shows_six() -> None:
    fit = sf.maxent(POINTS, 6, over=DIE)
    np.testing.assert_array_equal(fit.model.query("points").values, [0, 0, 0, 0, 0, 1])
    assert fit.certificate.ok
    assert fit.certificate.exists == "no"
    assert fit.certificate.dual == pytest.approx(math.log(6))
    assert any("limit" in note.text and "points to +∞" in note.text for note in fit.notes)


@pytest.mark.parametrize("mean", [0.99, 7, 6.0001, -1e9])
def test_a_mean_no_die_has_is_refused(mean: float) -> None:
    with pytest.raises(sf.EstimationError, match=r"'points' is out of reach: its values are between 1 and 6"):
        sf.maxent(POINTS, mean, over=DIE)


# Any features, any base ---------------------------------------------------------------------------------------


def bases(case: Case, h: Floats) -> dict[str, Any]:
    """The same base measure in every form."""
    variables = tuple(sf.Variable(name, tuple(states), True) for name, states in case.states.items())
    table = sf.LabelledTable(variables, h.reshape([len(s) for s in case.states.values()]))
    held = {tuple(row.values()): value for row, value in zip(case.rows, h, strict=True)}
    return {
        "table": table,
        "tables": [table],
        "array": np.array(table.values),
        "list": table.values.tolist(),
        "function": lambda *labels: held[labels],
        "model": sf.MarkovNetwork([(table.names, table.values)], schema={n: list(s) for n, s in case.states.items()}),
    }


@given(cases(max_variables=3), st.integers(0, 999), st.sampled_from(["table", "tables", "array", "list", "function",
                                                                       "model"]))  # fmt: skip
@settings(max_examples=60)
def test_least_divergence_from_a_base_is_that_of_newton_on_the_table(case: Case, seed: int, form: str) -> None:
    h = np.random.default_rng(seed).uniform(0.2, 5.0, len(case.rows))
    base = bases(case, h)[form]
    over = {name: list(states) for name, states in case.states.items()}
    fit = sf.maxent(case.structure, case.targets.tolist(), over=over, base=base, tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    p = case.joint(fit.model)
    np.testing.assert_allclose(case.values.T @ p, case.targets, atol=1e-8)
    expected = naive(case.values, case.targets, h)
    np.testing.assert_allclose(p, expected, rtol=1e-5, atol=1e-8)
    kl = divergence(p, h)
    assert fit.certificate.dual == pytest.approx(kl, abs=1e-7)
    assert fit.certificate.duality_gap == pytest.approx(0, abs=1e-7)
    assert fit.certificate.claim == "least divergence from the base measure"


def naive(values: Floats, targets: Floats, h: Floats) -> Floats:
    """Return argmin KL(p‖h) with the targets: the base measure as one more feature, whose weight stays at one."""
    w = np.zeros(values.shape[1])
    for _ in range(300):
        p = softmax(values @ w + np.log(h))
        mean = p @ values
        hessian = (values - mean).T @ (p[:, None] * (values - mean))
        step = np.linalg.lstsq(hessian, mean - targets, rcond=1e-12)[0]
        w = w - step * min(1.0, 1.0 / max(1e-300, float(np.abs(values @ step).max(initial=0.0))))
    return softmax(values @ w + np.log(h))


def test_naive_newton_agrees_with_the_other_twin_without_a_base() -> None:
    values, targets = np.arange(1.0, 7)[:, None], np.array([4.5])
    p = naive(values, targets, np.ones(6))
    np.testing.assert_allclose(p, softmax(values @ matched(values, targets)), atol=1e-12)


def test_a_bayesian_network_is_a_base() -> None:
    network = sf.BayesianNetwork(
        sf.DAG("A -> B; A -> C"),
        {"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.4, 0.6]], "C": [[0.5, 0.5], [0.2, 0.8]]},
        schema=BITS,
    )
    structure = sf.Features([sf.indicator(A=1), sf.indicator(B=1, C=1)])
    fit = sf.maxent(structure, {"A=1": 0.4, "B=1 & C=1": 0.5}, base=network)
    assert fit.certificate.ok, fit.certificate.verdict
    rows = list(itertools.product([0, 1], repeat=3))
    columns = {name: [row[i] for row in rows] for i, name in enumerate("ABC")}
    h, p = np.exp(network.log_prob(columns)), np.exp(fit.model.log_prob(columns))
    values = np.array([[a == 1, b == 1 and c == 1] for a, b, c in rows], float)
    np.testing.assert_allclose(p, naive(values, np.array([0.4, 0.5]), h), atol=1e-8)


@pytest.mark.parametrize("targets", [[0.4, 0.25], [0.9, 0.05]])
def test_targets_that_a_base_has_already_leave_it_alone(targets: list[float]) -> None:
    a, b = targets
    h = np.outer([1 - a, a], [1 - b, b])
    fit = sf.maxent(sf.Features([sf.indicator(A=1), sf.indicator(B=1)]), targets, base=h, over={"A": [0, 1],
                    "B": [0, 1]})  # fmt: skip
    np.testing.assert_allclose(table_of(fit.model), h, atol=1e-9)
    assert fit.certificate.dual == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 9999))
@settings(max_examples=20)
def test_indicators_of_all_margins_rake_as_cliques_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    h, wanted = rng.uniform(0.1, 3.0, (2, 3, 2)), rng.dirichlet(np.full(12, 2.0)).reshape(2, 3, 2)
    over = {"A": ["x", "y"], "B": ["u", "v", "w"], "C": ["s", "t"]}
    margins = {("A", "B"): wanted.sum(axis=2), ("B", "C"): wanted.sum(axis=0)}
    cliques = sf.maxent(sf.Cliques("A:B + B:C"), margins, base=h, over=over, tol=1e-10)
    structure = sf.Features([sf.indicators("A", "B"), sf.indicators("B", "C")])
    targets = np.concatenate([table.ravel() for table in margins.values()])
    fit = sf.maxent(structure, targets, base=h, over=over, tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(table_of(fit.model), table_of(cliques.model), atol=1e-8)


# Targets ------------------------------------------------------------------------------------------------------


def test_targets_in_every_form_give_the_same_model() -> None:
    data = {"points": [4, 5, 6, 1, 1, 6]}
    mean = sum(data["points"]) / 6
    source = sf.fit(POINTS, data, schema=DIE)
    forms = [mean, np.float64(mean), np.array(mean), np.array([mean]), (mean,), {"points": mean}, data,
             sf.collect(POINTS, data, schema=DIE), source.model]  # fmt: skip
    for targets in forms:
        fit = sf.maxent(POINTS, targets, over=DIE)
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.model.weights["points"] == pytest.approx(source.model.weights["points"], abs=1e-7), targets


def test_a_whole_number_of_numpy_is_a_target() -> None:
    assert sf.maxent(POINTS, np.int64(4), over=DIE).certificate.ok


def test_a_mapping_is_read_by_name_and_not_by_order() -> None:
    structure = sf.Features([sf.product("points"), sf.indicator(points=6)])
    fit = sf.maxent(structure, {"points=6": 0.1, "points": 4.0}, over=DIE)
    p = fit.model.query("points").values
    assert p[-1] == pytest.approx(0.1, abs=1e-8)
    assert p @ np.arange(1, 7) == pytest.approx(4.0, abs=1e-7)


def test_a_model_tells_states_and_targets() -> None:
    truth = sf.MarkovNetwork([(("A", "B"), [[1, 2], [3, 4]]), (("B", "C"), [[2, 1], [1, 5]])], schema=BITS)
    structure = sf.Features([sf.indicators("A", "B"), sf.indicators("B", "C")])
    fit = sf.maxent(structure, truth)
    rows = truth.sample(30, seed=1)
    np.testing.assert_allclose(fit.model.log_prob(rows), truth.log_prob(rows), atol=1e-6)


def test_a_model_with_states_in_another_order_is_refused() -> None:
    truth = sf.MarkovNetwork([(("A",), [1, 3])], schema={"A": ["x", "y"]})
    with pytest.raises(sf.ArgumentError, match="order included"):
        sf.maxent(sf.Features([sf.indicator(A="x")]), truth, over={"A": ["y", "x"]})


@given(st.floats(-5, 12), st.floats(0.2, 5))
@settings(max_examples=30)
def test_a_prior_relaxes_targets_even_those_out_of_reach(mean: float, width: float) -> None:
    fit = sf.maxent(POINTS, mean, over=DIE, prior=sf.Gaussian(width), tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    values = np.arange(1.0, 7)[:, None]
    w = matched(values, np.array([mean]), 1 / width**2)
    assert fit.model.weights["points"] == pytest.approx(w[0], abs=1e-6)
    reached = float(fit.model.query("points").values @ values[:, 0])
    assert min(3.5, mean) - 1e-9 <= reached <= max(3.5, mean) + 1e-9
    assert fit.certificate.dual is None


# What no distribution has -------------------------------------------------------------------------------------


def test_a_contradiction_names_the_combination() -> None:
    structure = sf.Features([sf.indicator(A=1), sf.indicator(B=1), sf.indicator(A=1, B=1)])
    with pytest.raises(sf.EstimationError) as caught:
        sf.maxent(structure, [0.9, 0.9, 0.5], over=BITS)
    message = str(caught.value)
    # P(A) + P(B) − P(A, B) is P(A or B), at most one.
    assert "[A=1] + [B=1] − [A=1 & B=1] is at most 1 for every configuration, but the targets give 1.3" in message


def test_three_pairs_that_contradict_each_other_though_any_two_do_not() -> None:
    singles = [sf.indicator({name: 1}) for name in "ABC"]
    structure = sf.Features([*singles, *PAIRS])
    targets = [0.5, 0.5, 0.5, 0.0, 0.0, 0.0]
    for gone in (3, 4, 5):
        kept = [spec for i, spec in enumerate(structure.specs) if i != gone]
        fit = sf.maxent(
            sf.Features(kept, variables=list("ABC")), [t for i, t in enumerate(targets) if i != gone], over=BITS
        )
        assert fit.certificate.ok
    with pytest.raises(sf.EstimationError, match=r"is at most 1 for every configuration, but the targets give 1\.5"):
        sf.maxent(structure, targets, over=BITS)


@given(cases(max_variables=3, ties=False), st.integers(0, 9999))
@settings(max_examples=60)
def test_targets_of_a_distribution_are_never_refused_and_others_always_are(case: Case, seed: int) -> None:
    from scipy.optimize import linprog

    targets = case.targets + np.random.default_rng(seed).normal(size=len(case.targets)) * 0.3
    a = np.vstack([case.values.T, np.ones(len(case.values))])
    gap = linprog(  # the least Σ |slack|: zero exactly when some distribution has the targets
        np.concatenate([np.zeros(len(case.values)), np.ones(2 * len(a))]),
        A_eq=np.hstack([a, np.eye(len(a)), -np.eye(len(a))]),
        b_eq=np.append(targets, 1.0),
    ).fun
    over = {name: list(states) for name, states in case.states.items()}
    assume(not 1e-12 <= gap <= 1e-6)
    if gap > 1e-6:
        with pytest.raises(sf.EstimationError, match=r"No distribution has these expectations|out of reach"):
            sf.maxent(case.structure, targets.tolist(), over=over)
    else:
        p = case.joint(sf.maxent(case.structure, targets.tolist(), over=over).model)
        np.testing.assert_allclose(case.values.T @ p, targets, atol=1e-6)


def test_targets_outside_what_the_base_leaves_are_refused() -> None:
    with pytest.raises(sf.EstimationError, match=r"\[points\] is at most 4 .* but the targets give 4\.5"):
        sf.maxent(POINTS, 4.5, over=DIE, base=[1, 1, 1, 1, 0, 0])


def test_targets_at_the_end_of_what_the_base_leaves_are_a_limit() -> None:
    fit = sf.maxent(POINTS, 4, over=DIE, base=[1, 1, 1, 2, 0, 0])
    np.testing.assert_allclose(fit.model.query("points").values, [0, 0, 0, 1, 0, 0], atol=1e-12)
    assert fit.certificate.ok
    assert fit.certificate.exists == "no"
    assert fit.certificate.dual == pytest.approx(-math.log(2 / 5))


def test_a_face_across_two_features_is_found() -> None:
    # P(A) + P(B) = 1 without (1, 1) leaves (0, 1) and (1, 0), though neither mean is extreme.
    structure = sf.Features([sf.product("A"), sf.product("B")])
    fit = sf.maxent(structure, [0.3, 0.7], over={"A": [0, 1], "B": [0, 1]}, base=[[1, 1], [1, 0]])
    np.testing.assert_allclose(table_of(fit.model), [[0, 0.7], [0.3, 0]], atol=1e-12)
    assert fit.certificate.ok
    assert fit.certificate.exists == "no"
    assert any("A + B" in note.text for note in fit.notes)
    h = np.array([[1, 1], [1, 0]]) / 3
    assert fit.certificate.dual == pytest.approx(divergence(np.array([[0, 0.7], [0.3, 0]]), h))


def spins(size: int) -> tuple[sf.Features, dict[str, float], dict[str, list[int]]]:
    """Spins on a grid: all fields and couplings, with targets of zero."""
    names = [[f"s{i}{j}" for j in range(size)] for i in range(size)]
    pairs = [(names[i][j], names[i][j + 1]) for i in range(size) for j in range(size - 1)]
    pairs += [(names[i][j], names[i + 1][j]) for i in range(size - 1) for j in range(size)]
    specs = [sf.product(name) for row in names for name in row] + [sf.product(*pair) for pair in pairs]
    over = {name: [-1, 1] for row in names for name in row}
    targets = dict.fromkeys([*over, *("·".join(pair) for pair in pairs)], 0.0)
    return sf.Features(specs), targets, over


FRUSTRATED = {"s00·s01": 0.9, "s01·s11": 0.9, "s10·s11": 0.9, "s00·s10": -0.9}
"""Around a square, the product of the four spins' pairs is one: three cannot agree while the fourth does not."""


def test_a_contradiction_on_a_graph_too_large_to_tabulate_is_named() -> None:
    structure, targets, over = spins(6)
    with pytest.raises(sf.EstimationError, match="No distribution has these expectations") as caught:
        sf.maxent(structure, targets | FRUSTRATED, over=over)
    assert all(f"[{name}]" in str(caught.value) for name in FRUSTRATED)


def test_the_same_graph_without_the_contradiction_is_fitted() -> None:
    structure, targets, over = spins(6)
    wanted = targets | FRUSTRATED | {"s00·s10": 0.8}
    fit = sf.maxent(structure, wanted, over=over)
    assert fit.certificate.ok, fit.certificate.verdict
    p = fit.model.query(["s00", "s10"]).values
    assert p[0, 0] + p[1, 1] - p[0, 1] - p[1, 0] == pytest.approx(0.8, abs=1e-7)


def test_the_dual_value_of_a_large_graph_is_its_entropy_below_the_uniform() -> None:
    structure, targets, over = spins(3)
    fit = sf.maxent(structure, targets | {"s00·s01": 0.5, "s01·s02": -0.4, "s11": 0.3}, over=over)
    p = table_of(fit.model)
    assert fit.certificate.dual == pytest.approx(divergence(p, np.ones(p.shape)), abs=1e-8)
