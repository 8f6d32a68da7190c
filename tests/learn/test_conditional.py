"""Conditional log-linear models: logistic regressions as R gives them, brute force for all else, and separation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.learn.conditional import distinct_inputs

SLOW = 50_000
METHODS = ["lbfgs", "newton", "cg", "gradient", "gis"]
HAIR, EYE, SEX = ["Black", "Brown", "Red", "Blond"], ["Brown", "Blue", "Hazel", "Green"], ["Male", "Female"]
HAIR_EYE_SEX = np.array([
    32, 53, 10, 3, 11, 50, 10, 30, 10, 25, 7, 5, 3, 15, 7, 8,
    36, 66, 16, 4, 9, 34, 7, 64, 5, 29, 7, 5, 2, 14, 7, 8,
]).reshape(4, 4, 2, order="F")  # fmt: skip
ADMISSIONS = np.array([
    512, 313, 89, 19, 353, 207, 17, 8, 120, 205, 202, 391, 138, 279, 131, 244, 53, 138, 94, 299, 22, 351, 24, 317,
]).reshape(2, 2, 6, order="F")  # fmt: skip


def numbers(n: int = 150, seed: int = 0) -> dict[str, Any]:
    """Return three classes that two numbers and a group tell apart a little."""
    rng = np.random.default_rng(seed)
    x, z, g = rng.normal(size=n), rng.normal(size=n) * 3 + 1, rng.integers(0, 3, n)
    scores = np.column_stack([np.zeros(n), 0.8 * x - 0.2 * z, 0.5 * g - 0.4])
    y = np.argmax(scores + rng.gumbel(size=(n, 3)), axis=1)
    return {"x": x, "z": z, "g": g, "y": np.array(["a", "b", "c"])[y]}


def classes(*inputs: str, given: Any = None) -> sf.Features:
    """Return a multinomial regression of y, whose first class is the reference."""
    specs = [sf.indicators("y", reference=True)]
    specs += [sf.product(name, sf.indicators("y", reference=True)) for name in inputs]
    return sf.Features(specs, given=inputs if given is None else given)


# R ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_berkeley_admissions_as_glm_gives_them(method: str) -> None:
    # glm((Admit == "Admitted") ~ Gender + Dept, weights = Freq, data = UCBAdmissions, family = binomial), R 4.2.2
    table = sf.Contingency(ADMISSIONS, {"admit": ["yes", "no"], "gender": ["Male", "Female"], "dept": list("ABCDEF")})
    yes = sf.indicator(admit="yes")
    specs = [yes, *(sf.product(sf.indicators(name, reference=True), yes) for name in ("gender", "dept"))]
    fit = sf.fit(sf.Features(specs, given=["gender", "dept"]), table, method=method, max_iter=SLOW, tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    wanted = [0.5820513952760, 0.0998700881593, -0.0433979312092, -1.2625980223792, -1.2946064687482, -1.7393057378155,
              -3.3064800558869]  # fmt: skip
    np.testing.assert_allclose(fit.model.weights.to_numpy(), wanted, atol=1e-7)
    assert fit.log_likelihood == pytest.approx(-2593.74424709, rel=1e-11)
    assert fit.n_free == 7


def test_eye_colour_as_a_poisson_regression_gives_it() -> None:
    # glm(Freq ~ Hair*Sex + Eye + Eye:Hair + Eye:Sex, data = HairEyeColor, family = poisson), R 4.2.2: the terms of Eye
    table = sf.Contingency(HAIR_EYE_SEX, {"hair": HAIR, "eye": EYE, "sex": SEX})
    eye = sf.indicators("eye", reference=True)
    specs = [eye, *(sf.product(sf.indicators(name, reference=True), eye) for name in ("hair", "sex"))]
    fit = sf.fit(sf.Features(specs, given=["hair", "sex"]), table, tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    found = fit.model.weights
    assert [found[f"eye={colour}"] for colour in EYE[1:]] == pytest.approx(
        [-1.026824575702, -1.356673693720, -2.385398316511], abs=1e-7
    )
    wanted = {
        "Brown": [0.892807872292, 0.734625578679, 1.218335112383],
        "Red": [0.828071626325, 0.914782091317, 2.024876403495],
        "Blond": [3.912241210427, 1.937427771731, 3.542936468333],
    }
    for hair, row in wanted.items():
        assert [found[f"(hair={hair})·(eye={eye})"] for eye in EYE[1:]] == pytest.approx(row, abs=1e-7)
    assert [found[f"(sex=Female)·(eye={eye})"] for eye in EYE[1:]] == pytest.approx(
        [-0.423540089245, -0.324294302170, -0.492068819797], abs=1e-7
    )
    assert fit.log_likelihood == pytest.approx(146.358865832 - 592 * math.log(4), rel=1e-10)


def test_a_saturated_regression_is_the_conditional_table() -> None:
    table = sf.Contingency(HAIR_EYE_SEX, {"hair": HAIR, "eye": EYE, "sex": SEX})
    fit = sf.fit(sf.Features([sf.indicators("hair", "eye", "sex")], given=["hair", "sex"]), table, tol=1e-10)
    shares = HAIR_EYE_SEX / HAIR_EYE_SEX.sum(axis=1, keepdims=True)
    for (h, hair), (s, sex) in itertools.product(enumerate(HAIR), enumerate(SEX)):
        found = fit.model.query("eye", given={"hair": hair, "sex": sex}).values
        np.testing.assert_allclose(found, shares[h, :, s], atol=1e-7)
    assert fit.n_free == 24


# Brute force --------------------------------------------------------------------------------------------------


def explicit(values: Any, chosen: Any, shares: Any, precision: float = 0.0, price: float = 0.0) -> Any:
    """Return the weights that minimise −Σ log p(y | x), row by row; shape of values (n, outputs, weights)."""
    from scipy.optimize import minimize

    k = values.shape[2]
    own = values[np.arange(len(values)), chosen]

    def loss(w: Any) -> tuple[float, Any]:
        scores = values @ w
        log_z = np.logaddexp.reduce(scores, axis=1)
        p = np.exp(scores - log_z[:, None])
        value = float(shares @ (log_z - own @ w)) + 0.5 * precision * float(w @ w)
        return value, shares @ (np.einsum("ny,nyk->nk", p, values) - own) + precision * w

    def split(uv: Any) -> tuple[float, Any]:
        value, slope = loss(uv[:k] - uv[k:])
        return value + price * float(uv.sum()), np.concatenate([slope + price, price - slope])

    if not price:
        return minimize(loss, np.zeros(k), jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 5000}).x
    options = {"ftol": 1e-16, "gtol": 1e-11, "maxiter": 20_000, "maxfun": 10**6}
    bounds = [(0, None)] * (2 * k)
    best = minimize(split, np.zeros(2 * k), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return best[:k] - best[k:]


def values_of(rows: dict[str, Any], functions: list[Any], labels: list[Any]) -> tuple[Any, Any]:
    n = len(rows["y"])
    at = [{name: column[i] for name, column in rows.items() if name != "y"} for i in range(n)]
    values = np.array([[[float(f(row, y)) for f in functions] for y in labels] for row in at])
    return values, np.array([labels.index(y) for y in rows["y"]])


PLAIN = [
    lambda row, y: y == "b",
    lambda row, y: y == "c",
    lambda row, y: row["x"] * (y == "b"),
    lambda row, y: row["x"] * row["z"] * (y != "a"),
    lambda row, y: (row["g"] == 2) * (y == "c"),
    lambda row, y: abs(row["z"]) * (y == "a") * (row["g"] != 1),
]
SPECS = [
    sf.indicators("y", reference=True),
    sf.product("x", sf.indicator(y="b")),
    sf.feature(lambda x, z, y: x * z * (y != "a"), over=("x", "z", "y"), name="xz"),
    sf.indicator(g=2, y="c"),
    sf.feature(lambda y, g, z: np.abs(z) * (y == "a") * (g != 1), over=("y", "g", "z"), name="ygz", vectorised=True),
]
STRUCTURE = sf.Features(SPECS, given=["x", "z", "g"])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", METHODS)
def test_weights_are_those_of_the_explicit_likelihood(method: str, seed: int) -> None:
    rows = numbers(seed=seed)
    fit = sf.fit(STRUCTURE, rows, method=method, max_iter=SLOW, tol=1e-9)
    values, chosen = values_of(rows, PLAIN, ["a", "b", "c"])
    wanted = explicit(values, chosen, np.full(150, 1 / 150))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "yes"
    np.testing.assert_allclose(fit.model.weights.to_numpy(), wanted, rtol=1e-4, atol=1e-5)
    scores = values @ wanted
    log_p = scores[np.arange(150), chosen] - np.logaddexp.reduce(scores, axis=1)
    assert fit.log_likelihood == pytest.approx(math.fsum(log_p), rel=1e-8)
    np.testing.assert_allclose(fit.model.log_prob(rows), log_p, atol=1e-5)


@pytest.mark.parametrize("width", [0.1, 1.0])
def test_penalties_are_those_of_the_explicit_likelihood(width: float) -> None:
    rows = numbers(100)
    values, chosen = values_of(rows, PLAIN, ["a", "b", "c"])
    shares = np.full(100, 0.01)
    gauss = sf.fit(STRUCTURE, rows, prior=sf.Gaussian(width), tol=1e-9)
    wanted = explicit(values, chosen, shares, precision=1 / width**2 / 100)
    np.testing.assert_allclose(gauss.model.weights.to_numpy(), wanted, atol=1e-5)
    laplace = sf.fit(STRUCTURE, rows, prior=sf.Laplace(width), tol=1e-9)
    wanted = explicit(values, chosen, shares, price=1 / width / 100)
    np.testing.assert_allclose(laplace.model.weights.to_numpy(), wanted, atol=1e-4)
    assert gauss.certificate.ok, gauss.certificate.verdict
    assert laplace.certificate.ok, laplace.certificate.verdict
    assert (laplace.model.weights.to_numpy()[np.abs(wanted) < 1e-8] == 0).all()


@pytest.mark.parametrize("width", [0.1, 1.0, 55.5, 1e3])
def test_a_penalised_slope_comes_back_from_where_no_probability_is_in_doubt(width: float) -> None:
    seldom, often = [17458, 470379, 3051, 28, 1616, 1], [39374, 3692956, 16734479, 257851772, 565503853e3, 84904060e3]
    rows = {"x": [0.51] * 6 + [0.14] * 6, "B": list("uuuvvv") * 2, "C": list("pqr") * 4}
    specs = [
        sf.indicator(B="u"),
        sf.product("x", sf.indicator(B="u")),
        sf.indicator(C="p"),
        sf.indicator(B="u", C="q"),
    ]
    fit = sf.fit(sf.Features(specs, given=["x"]), rows, weights=[*seldom, *often], prior=sf.Laplace(width))
    assert fit.certificate.ok, fit.certificate.verdict
    share = sum(seldom[:3]) / sum(seldom)
    assert fit.model.query("B", given={"x": 0.51}).values[0] == pytest.approx(share, abs=1e-3)


def test_a_penalty_s_main_is_for_features_of_one_output_alone() -> None:
    rows = numbers(100)
    fit = sf.fit(classes("x"), rows, prior=sf.Gaussian(0.05, main=1e5), tol=1e-9)
    assert fit.certificate.ok, fit.certificate.verdict
    free = sf.fit(classes("x", given=("x",)), rows, prior=sf.Gaussian(0.05), tol=1e-9)
    assert abs(fit.model.weights["y=b"]) > abs(free.model.weights["y=b"])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_several_outputs_are_modelled_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = {"x": rng.normal(size=80), "u": rng.integers(0, 2, 80), "v": rng.integers(0, 3, 80)}
    specs = [sf.product("u"), sf.product("v"), sf.product("u", "v"), sf.product("x", "u"), sf.product("x", "v")]
    fit = sf.fit(sf.Features(specs, given="x"), rows, tol=1e-9)
    outputs = list(itertools.product((0, 1), (0, 1, 2)))
    values = np.array([[[u, v, u * v, x * u, x * v] for u, v in outputs] for x in rows["x"]], float)
    chosen = np.array([outputs.index(pair) for pair in zip(rows["u"], rows["v"], strict=True)])
    wanted = explicit(values, chosen, np.full(80, 1 / 80))
    assert fit.certificate.ok, fit.certificate.verdict
    np.testing.assert_allclose(fit.model.weights.to_numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_a_conditional_model_of_all_pairs_is_that_of_the_joint_one() -> None:
    """With a saturated distribution of the inputs, the joint log-linear model has the same conditional."""
    rng = np.random.default_rng(3)
    rows = {name: rng.integers(0, 2, 300) for name in "abyz"}
    pairs = [sf.indicators("y", "z"), sf.indicators("a", "y"), sf.indicators("b", "y"), sf.indicators("b", "z")]
    joint = sf.fit(sf.Features([*pairs, sf.indicators("a", "b")]), rows, tol=1e-10)
    conditional = sf.fit(sf.Features(pairs, given=["a", "b"]), rows, tol=1e-10)
    for a, b in itertools.product((0, 1), repeat=2):
        np.testing.assert_allclose(
            conditional.model.query(["z", "y"], given={"b": b, "a": a}).values,
            joint.model.query(["z", "y"], given={"b": b, "a": a}).values,
            atol=1e-7,
        )


# What changes nothing -----------------------------------------------------------------------------------------


def test_repeated_rows_weights_and_order_are_the_same_data() -> None:
    rows, counts = numbers(60), np.random.default_rng(1).integers(1, 4, 60)
    fit = sf.fit(STRUCTURE, rows, weights=counts)
    repeated = {name: np.repeat(column, counts) for name, column in rows.items()}
    order = np.random.default_rng(2).permutation(int(counts.sum()))
    other = sf.fit(STRUCTURE, {name: column[order] for name, column in repeated.items()})
    assert other.n == fit.n
    assert other.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(other.model.weights.to_numpy(), fit.model.weights.to_numpy(), atol=1e-7)


@pytest.mark.parametrize("scale", [1e-6, 0.3, 1e10])
def test_scaling_all_weights_of_rows_leaves_the_estimate(scale: float) -> None:
    rows = numbers(80)
    a, b = sf.fit(STRUCTURE, rows, tol=1e-10), sf.fit(STRUCTURE, rows, weights=np.full(80, scale))
    assert b.certificate.ok, b.certificate.verdict
    np.testing.assert_allclose(b.model.weights.to_numpy(), a.model.weights.to_numpy(), atol=1e-5)


def test_parts_can_be_collected_anywhere() -> None:
    rows = numbers(90)
    parts = [sf.collect(STRUCTURE, {n: c[at::2] for n, c in rows.items()}, schema={"g": [0, 1, 2]}) for at in (0, 1)]
    fit, whole = sf.estimate(STRUCTURE, parts[1] + parts[0]), sf.fit(STRUCTURE, rows, certify="data")
    assert whole.certificate.ok
    assert fit.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(fit.model.weights.to_numpy(), whole.model.weights.to_numpy(), atol=1e-8)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.5, -1.0, 2.0])), max_size=30))
def test_distinct_inputs_are_found_with_their_places(rows: list[tuple[int, float]]) -> None:
    columns = [np.array([a for a, _ in rows], np.int64), np.array([x for _, x in rows], np.float64)]
    found, place = distinct_inputs(columns)
    listed = list(zip(*(column.tolist() for column in found), strict=True))
    assert sorted(listed) == sorted(set(rows))
    assert [listed[p] for p in place] == rows


# Separation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lbfgs", "newton", "gis"])
def test_inputs_that_tell_outputs_apart_let_the_weight_run_away(method: str) -> None:
    rows = {"x": [-2.0, -1.0, -0.5, 0.5, 1.5, 3.0], "y": list("aaabbb")}
    fit = sf.fit(sf.Features([sf.product("x", sf.indicator(y="b"))], given=["x"]), rows, method=method)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"
    assert fit.model.weights["x·(y=b)"] == math.inf
    assert fit.log_likelihood == 0
    assert any("tell outputs apart" in note.text for note in fit.notes)
    assert fit.model.query("y", given={"x": 0.1}).values.tolist() == [0, 1]


def test_a_group_with_one_outcome_lets_its_weight_run_away_and_leaves_the_others() -> None:
    rows = {"g": [0] * 5 + [1] * 4 + [2] * 4, "y": list("bbbbbababaaab")}
    fit = sf.fit(sf.Features([sf.product(sf.indicators("g"), sf.indicator(y="b"))], given=["g"]), rows)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"
    assert fit.model.weights.to_numpy() == pytest.approx([math.inf, 0, -math.log(3)], abs=1e-7)
    assert (fit.n_free, fit.n_free_adjusted) == (3, 2)


def test_a_combination_that_tells_outputs_apart_is_noticed() -> None:
    rows = {"g": [0] * 5 + [1] * 4 + [2] * 4, "y": list("bbbbbababaaab")}
    specs = [sf.indicator(y="b"), sf.product(sf.indicators("g", reference=True), sf.indicator(y="b"))]
    fit = sf.fit(sf.Features(specs, given=["g"]), rows)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "no"
    assert any("does not exist" in note.text for note in fit.notes)
    for g, wanted in enumerate([1, 1 / 2, 1 / 4]):
        assert fit.model.query("y", given={"g": g}).values[1] == pytest.approx(wanted, abs=1e-7)


def test_a_prior_keeps_weights_finite_under_separation() -> None:
    rows = {"x": [-2.0, -1.0, 0.5, 1.5], "y": list("aabb")}
    fit = sf.fit(sf.Features([sf.product("x", sf.indicator(y="b"))], given=["x"]), rows, prior=sf.Gaussian(3.0))
    assert fit.certificate.ok, fit.certificate.verdict
    assert 0 < fit.model.weights["x·(y=b)"] < 10


def test_features_of_inputs_alone_say_nothing() -> None:
    with pytest.raises(sf.StructureError, match="inputs alone"):
        sf.Features([sf.product("x"), sf.indicator(y="b")], given=["x"])


@pytest.mark.parametrize("far", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("method", ["lbfgs", "newton", "cg"])
def test_inputs_far_from_zero_are_told_from_the_intercept(far: float, method: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, 300)
    y = np.where(x + rng.logistic(size=300) > 0, "a", "b")
    structure = sf.Features([sf.indicator(y="a"), sf.product("x", sf.indicator(y="a"))], given=["x"])
    near, fit = (sf.fit(structure, {"x": x + shift, "y": y}, method=method) for shift in (0.0, far))
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.n_free == 2
    assert fit.model.weights["x·(y=a)"] == pytest.approx(near.model.weights["x·(y=a)"], rel=1e-6)


def test_a_slope_that_is_missed_is_not_certified() -> None:
    """Iterative scaling hardly moves the slope of an input far from zero; its gaps are small all the same."""
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, 300)
    y = np.where(x + rng.logistic(size=300) > 0, "a", "b")
    structure = sf.Features([sf.indicator(y="a"), sf.product("x", sf.indicator(y="a"))], given=["x"])
    fit = sf.fit(structure, {"x": x + 1e6, "y": y}, method="gis")
    assert not fit.certificate.ok
    assert "vary little" in fit.certificate.verdict


# Errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("structure", "rows", "options", "says"),
    [
        (classes("x"), {"x": [0.5, 1.5], "y": [0.25, 1.5]}, {}, "continuous"),
        (sf.Features([sf.product("x", f"v{i}") for i in range(15)], given="x"),
         {"x": [0.5, 1.5], **{f"v{i}": [0, 1] for i in range(15)}}, {}, "32,768 configurations"),
        (sf.Features([sf.feature(lambda x, y: 1 / x, over=("x", "y"))], given="x"), {"x": [0.0, 1.5], "y": [0, 1]}, {},
         "raised ZeroDivisionError at x=0.0"),
        (classes("x"), {"x": [0.5, 1.5], "y": ["a", "b"]}, {"method": "ipf"}, "without inputs"),
        (classes("x"), {"x": [0.5, 1.5], "y": ["a", "b"]}, {"method": "pseudo_likelihood"}, "without inputs"),
        (classes("x"), {"x": [0.5, math.nan], "y": ["a", "b"]}, {}, "row 2"),
        (classes("x"), {"x": [0.5, math.inf], "y": ["a", "b"]}, {}, "x=inf.*less than 1e100"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted_is_refused(structure: Any, rows: Any, options: Any, says: str) -> None:
    with pytest.raises(sf.SufficeError, match=says):
        sf.fit(structure, rows, **options)


def test_a_prior_without_rows_leaves_every_weight_at_zero() -> None:
    schema = {"x": sf.continuous(), "y": ["a", "b"]}
    fit = sf.fit(classes("x"), {"x": [], "y": []}, prior=sf.Gaussian(1.0), schema=schema)
    assert not fit.model.weights.to_numpy().any()
