"""Linear-Gaussian nodes against least squares on explicit design matrices, row by row."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import suffice as sf
from suffice.certify.claim import Claim
from suffice.families.proof import certify
from suffice.models.cpds import nodes_of


def some_data(seed: int, n: int = 60, offset: float = 0.0) -> dict[str, Any]:
    """Return two groups, two continuous parents and a child that depends on all of them."""
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 2, n)
    g[:2] = [0, 1]
    h = rng.integers(0, 3, n)
    h[:6] = [0, 1, 2, 0, 1, 2]
    u = rng.normal(offset, 1 + rng.random(), n)
    v = 0.5 * (u - offset) + rng.normal(size=n)
    y = (1 + g) * (u - offset) - v + h + rng.normal(0, 0.5 + g, n) + offset
    return {"g": np.array(["a", "b"])[g], "h": h, "u": u, "v": v, "y": y}


def naive(data: dict[str, Any], rows: Any, parents: list[str], weights: Any = None) -> tuple[Any, float, float]:
    """Return coefficients (intercept first), the residual squares and the weight, by a design matrix."""
    w = np.ones(len(data["y"])) if weights is None else np.asarray(weights, float)
    design = np.stack([np.ones(len(data["y"])), *(data[name] for name in parents)], axis=1)[rows]
    root = np.sqrt(w[rows])
    beta = np.linalg.lstsq(design * root[:, None], data["y"][rows] * root, rcond=None)[0]
    left = data["y"][rows] - design @ beta
    return beta, float((w[rows] * left**2).sum()), float(w[rows].sum())


class TestMaximumLikelihood:
    @given(st.integers(0, 10_000), st.sampled_from([[], ["u"], ["u", "v"]]), st.booleans(), st.booleans())
    def test_is_least_squares_in_every_configuration(
        self, seed: int, parents: list[str], grouped: bool, weighted: bool
    ) -> None:
        data = some_data(seed)
        weights = np.random.default_rng(seed).integers(1, 4, 60) if weighted else None
        edges = [(parent, "y") for parent in (*parents, *(["g"] if grouped else []))]
        fit = sf.fit(sf.DAG([*edges, "y"]), data, weights=weights)
        cpd = fit.model.cpd("y")
        groups = ["a", "b"] if grouped else [None]
        total = 0.0
        for row, group in enumerate(groups):
            mine = np.ones(60, bool) if group is None else data["g"] == group
            beta, squares, w = naive(data, mine, parents, weights)
            np.testing.assert_allclose([cpd.intercept[row], *cpd.coefficients[row]], beta, rtol=1e-8, atol=1e-9)
            assert cpd.variance[row] == pytest.approx(squares / w, rel=1e-9)
            total += -0.5 * w * (math.log(2 * math.pi * squares / w) + 1)
        assert fit.local["y"] == pytest.approx(total, rel=1e-10, abs=1e-10)
        assert fit.certificate.ok, fit.certificate.verdict

    def test_log_likelihood_is_the_sum_over_rows(self) -> None:
        data = some_data(3)
        fit = sf.fit(sf.DAG("g -> y; u -> y; h"), data)
        assert fit.log_likelihood == pytest.approx(fit.model.log_prob(data).sum(), rel=1e-12)

    @pytest.mark.parametrize("offset", [1e6, 1e9])
    def test_keeps_its_digits_far_from_zero(self, offset: float) -> None:
        near, far = some_data(5), some_data(5, offset=offset)
        fits = [sf.fit(sf.DAG("u -> y; v -> y"), data) for data in (near, far)]
        first, second = (fit.model.cpd("y") for fit in fits)
        # Rounding of the data itself, relative to its spread, is all that may differ.
        rounding = 20 * offset * np.finfo(float).eps
        np.testing.assert_allclose(second.coefficients, first.coefficients, atol=rounding)
        np.testing.assert_allclose(second.variance, first.variance, rtol=rounding)
        assert all(fit.certificate.ok for fit in fits)

    def test_unbiased_divisor_by_name(self) -> None:
        data = some_data(7)
        fit = sf.fit(sf.DAG("g -> y; u -> y", divisor="n-p"), data)
        for row, group in enumerate("ab"):
            _, squares, w = naive(data, data["g"] == group, ["u"])
            assert fit.model.cpd("y").variance[row] == pytest.approx(squares / (w - 2), rel=1e-12)
        assert "n − p" in fit.certificate.verdict
        assert any("n − p" in note.text for note in fit.notes)
        assert fit.certificate.ok

    def test_the_divisor_is_proven_too(self) -> None:
        """A claim of one divisor is refused when the variances have another."""
        data = some_data(7)
        fit = sf.fit(sf.DAG("u -> y"), data)
        claim = Claim(fit.structure, fit.model, fit.statistics, fit.log_likelihood)
        assert certify(claim).ok
        assert not certify(replace(claim, structure=sf.DAG("u -> y", divisor="n-p"))).ok

    @pytest.mark.parametrize("what", ["intercept", "coefficients", "variance"])
    def test_a_moved_parameter_is_refused(self, what: str) -> None:
        fit = sf.fit(sf.DAG("g -> y; u -> y"), some_data(8))
        cpd = fit.model.cpd("y")
        moved = replace(cpd, **{what: getattr(cpd, what) * (1 + 1e-6)})
        model = sf.BayesianNetwork(fit.structure, {"y": moved, "u": fit.model.cpd("u"), "g": fit.model.cpd("g")})
        certificate = certify(Claim(fit.structure, model, fit.statistics, model.cpd("y").log_likelihood(
            fit.statistics[sf.Moment(("u", "y"), ("g",))]) + fit.local["u"] + fit.local["g"]))  # fmt: skip
        assert not certificate.ok
        assert "'y'" in certificate.verdict

    def test_n_free(self) -> None:
        data = some_data(1)
        for tied, expected in (("none", 2 * 3), ("variance", 2 * 2 + 1), ("slopes", 2 + 1 + 2), ("both", 2 + 1 + 1)):
            dag = sf.DAG("g -> y; u -> y", kinds={"y": {"tied": tied}})
            assert sf.fit(dag, data).n_free == expected + 2 + 1  # and u's mean and variance, and g's one probability


class TestTies:
    def test_a_shared_variance_pools_squares(self) -> None:
        data = some_data(11)
        fit = sf.fit(sf.DAG("g -> y; u -> y", kinds={"y": {"tied": "variance"}}), data)
        squares = [naive(data, data["g"] == group, ["u"])[1] for group in "ab"]
        np.testing.assert_allclose(fit.model.cpd("y").variance, sum(squares) / 60, rtol=1e-12)
        assert fit.certificate.ok

    @pytest.mark.parametrize("divisor", ["n", "n-p"])
    def test_shared_slopes_and_variance_are_a_regression_with_dummies(self, divisor: str) -> None:
        data = some_data(12)
        kinds = {"y": {"tied": "both", "divisor": divisor}}
        fit = sf.fit(sf.DAG("g -> y; u -> y; v -> y", kinds=kinds), data)
        design = np.stack([data["g"] == "a", data["g"] == "b", data["u"], data["v"]], axis=1).astype(float)
        beta = np.linalg.lstsq(design, data["y"], rcond=None)[0]
        squares = ((data["y"] - design @ beta) ** 2).sum()
        cpd = fit.model.cpd("y")
        np.testing.assert_allclose(cpd.intercept, beta[:2], rtol=1e-10)
        np.testing.assert_allclose(cpd.coefficients, [beta[2:]] * 2, rtol=1e-10)
        np.testing.assert_allclose(cpd.variance, squares / (60 - (4 if divisor == "n-p" else 0)), rtol=1e-12)
        assert fit.certificate.ok

    @pytest.mark.parametrize("seed", range(5))
    def test_shared_slopes_with_variances_of_their_own_are_the_maximum(self, seed: int) -> None:
        data = some_data(seed + 20)
        dag = sf.DAG("g -> y; u -> y; v -> y", kinds={"y": {"tied": "slopes"}})
        fit = sf.fit(dag, data)
        assert fit.method == "newton"  # there is no formula
        assert fit.certificate.ok, fit.certificate.verdict

        def minus(beta: Any) -> float:
            line = np.where(data["g"] == "a", beta[0], beta[1]) + beta[2] * data["u"] + beta[3] * data["v"]
            sd = np.where(data["g"] == "a", math.exp(beta[4]), math.exp(beta[5]))
            return -float(stats.norm.logpdf(data["y"], line, sd).sum())

        best = min(optimize.minimize(minus, start).fun for start in (np.zeros(6), np.ones(6)))
        assert -fit.local["y"] <= best + 1e-6

    def test_nodes_share_one_regression(self) -> None:
        rng = np.random.default_rng(0)
        x1, x2 = rng.normal(size=30), rng.normal(size=30)
        data = {"x1": x1, "x2": x2, "y1": 2 * x1 + rng.normal(size=30), "y2": 2 * x2 + rng.normal(size=30)}
        fit = sf.fit(sf.DAG("x1 -> y1; x2 -> y2", tie=[("y1", "y2")]), data)
        both = {"x": np.concatenate([x1, x2]), "y": np.concatenate([data["y1"], data["y2"]])}
        once = sf.fit(sf.DAG("x -> y"), both).model.cpd("y")
        for node in ("y1", "y2"):
            np.testing.assert_allclose(fit.model.cpd(node).coefficients, once.coefficients, rtol=1e-12)
            np.testing.assert_allclose(fit.model.cpd(node).variance, once.variance, rtol=1e-12)
        assert fit.certificate.ok
        assert fit.n_free == 3 + 2 * 2

    def test_a_mapping_says_which_parents_correspond(self) -> None:
        rng = np.random.default_rng(1)
        a, b, c, d = rng.normal(size=(4, 40))
        data = {"a": a, "b": b, "c": c, "d": d, "y": a + 3 * b, "z": 3 * c + d}
        data = {name: column + rng.normal(0, 0.1, 40) for name, column in data.items()}
        graph = {"y": ["a", "b"], "z": ["c", "d"]}
        tied = sf.DAG(graph, tie=[{"y": ["a", "b"], "z": ["d", "c"]}])
        assert tied.parents["z"] == ("d", "c")
        fit = sf.fit(tied, data)
        assert fit.certificate.ok
        assert fit.model.cpd("z").coefficients[0].tolist() == fit.model.cpd("y").coefficients[0].tolist()
        np.testing.assert_allclose(fit.model.cpd("y").coefficients[0], [1, 3], atol=0.1)
        crossed = sf.fit(sf.DAG(graph, tie=[("y", "z")]), data)
        assert crossed.log_likelihood < fit.log_likelihood - 50


class TestTrouble:
    def test_a_combination_of_parents_is_named(self) -> None:
        data = some_data(2)
        data["w"] = 2 * data["u"] - data["v"]
        with pytest.raises(sf.EstimationError, match=r"'w' is a combination of \['u', 'v'\]"):
            sf.fit(sf.DAG("u -> y; v -> y; w -> y"), data)

    def test_a_constant_parent_is_named_with_its_configuration(self) -> None:
        data = some_data(2)
        data["u"] = np.where(data["g"] == "b", 7.5, data["u"])
        with pytest.raises(sf.EstimationError, match="Node 'y', g='b': its parent 'u' is constant"):
            sf.fit(sf.DAG("g -> y; u -> y"), data)

    def test_too_few_rows_of_a_configuration_are_named(self) -> None:
        data = some_data(2, n=40)
        data["g"] = np.array(["a"] * 38 + ["b"] * 2)
        with pytest.raises(sf.EstimationError, match=r"g='b'.*only 2 rows"):
            sf.fit(sf.DAG("g -> y; u -> y"), data)

    def test_a_constant_child_is_named(self) -> None:
        with pytest.raises(sf.EstimationError, match="'y': the column is constant"):
            sf.fit(sf.DAG("y"), {"y": [2.5] * 7})

    def test_an_exact_function_is_named(self) -> None:
        data = some_data(2)
        with pytest.raises(sf.EstimationError, match="exact function"):
            sf.fit(sf.DAG("u -> w"), {"u": data["u"], "w": 3 * data["u"] - 1})

    def test_configurations_without_rows_follow_the_policy(self) -> None:
        data = some_data(2)
        schema = {"g": sf.categorical(["a", "b", "c"])}
        with pytest.raises(sf.EstimationError, match="g='c'"):
            sf.fit(sf.DAG("g -> y"), data, schema=schema)
        with pytest.raises(sf.EstimationError, match="no uniform distribution"):
            sf.fit(sf.DAG("g -> y"), data, schema=schema, unseen_parents="uniform")
        fit = sf.fit(sf.DAG("g -> y"), data, schema=schema, unseen_parents="nan")
        assert np.isnan(fit.model.cpd("y").intercept).tolist() == [False, False, True]
        assert fit.certificate.ok
        assert any("NaN" in note.text for note in fit.notes)

    def test_nothing_left_to_divide_by(self) -> None:
        data = {"u": [0.0, 1.0, 2.0], "v": [1.0, 0.0, 0.5], "y": [1.0, 2.0, 4.0]}
        with pytest.raises(sf.EstimationError, match=r"(only 3 rows|n-p)"):
            sf.fit(sf.DAG("u -> y; v -> y", divisor="n-p"), data)

    def test_minimum_norm_when_asked_for(self) -> None:
        data = some_data(2)
        data["w"] = 2 * data["u"] - data["v"]
        data["k"] = np.full(60, 3.0)
        dag = sf.DAG({"y": ["u", "v", "w", "k"]}, kinds={"y": {"singular": "minimum_norm"}})
        statistics = sf.collect(dag, data)
        moments = statistics[sf.Moment(("u", "v", "w", "k", "y"))]
        kind, family = nodes_of(dag, statistics.schema)["y"]
        cpd = kind.mle(family, moments)
        columns = np.stack([data[name] - np.mean(data[name]) for name in "uvwk"], axis=1)
        shortest = np.linalg.lstsq(columns, data["y"] - np.mean(data["y"]), rcond=1e-10)[0]
        np.testing.assert_allclose(cpd.coefficients[0], shortest, atol=1e-8)
        assert kind.residual(cpd, moments) < 1e-8

    @given(st.floats(0.01, 100.0), st.integers(0, 1000))
    def test_ridge_when_asked_for(self, ridge: float, seed: int) -> None:
        data = some_data(seed)
        fit = sf.fit(sf.DAG("u -> y; v -> y", kinds={"y": {"ridge": ridge}}), data)
        x = np.stack([data["u"] - data["u"].mean(), data["v"] - data["v"].mean()], axis=1)
        expected = np.linalg.solve(x.T @ x + ridge * np.eye(2), x.T @ (data["y"] - data["y"].mean()))
        np.testing.assert_allclose(fit.model.cpd("y").coefficients[0], expected, rtol=1e-8, atol=1e-10)
        assert fit.certificate.ok, fit.certificate.verdict
        assert "ridge" in fit.certificate.verdict

    def test_the_decrement_under_a_ridge_is_what_the_penalty_grows_by(self) -> None:
        """On the other side of the slope of least squares, as far from it, the squares are the same."""
        data, ridge = some_data(4), 20.0
        fit = sf.fit(sf.DAG("u -> y", kinds={"y": {"ridge": ridge}}), data)
        cpd, u = fit.model.cpd("y"), fit.model.cpd("u")
        slope, other = cpd.coefficients, 2 * naive(data, slice(None), ["u"])[0][1] - cpd.coefficients
        moved = replace(cpd, coefficients=other, intercept=cpd.intercept + (slope - other)[:, 0] * data["u"].mean())
        model = sf.BayesianNetwork(fit.structure, {"u": u, "y": moved})
        found = certify(Claim(fit.structure, model, fit.statistics, fit.log_likelihood)).decrement
        assert found == pytest.approx(ridge * ((other**2 - slope**2) / cpd.variance).item() / 2, rel=1e-9)

    def test_nearly_collinear_parents_keep_their_digits(self) -> None:
        rng = np.random.default_rng(0)
        u = rng.normal(size=200)
        v = u + 1e-4 * rng.normal(size=200)
        y = u + v + rng.normal(size=200)
        fit = sf.fit(sf.DAG("u -> y; v -> y"), {"u": u, "v": v, "y": y})
        assert fit.certificate.ok, fit.certificate.verdict
        wide = [column.astype(np.longdouble) for column in (u, v, y)]
        u, v, y = (column - column.mean() for column in wide)
        det = (u @ u) * (v @ v) - (u @ v) ** 2
        slope = ((v @ v) * (u @ y) - (u @ v) * (v @ y)) / det
        assert fit.model.cpd("y").coefficients[0][0] == pytest.approx(float(slope), rel=1e-6)


@pytest.mark.parametrize("missing_group", [False, True])
def test_parts_add_up(missing_group: bool) -> None:
    data = some_data(4)
    order = np.argsort(data["g"], kind="stable") if missing_group else np.arange(60)
    data = {name: np.asarray(column)[order] for name, column in data.items()}
    dag = sf.DAG("g -> y; u -> y; h")
    cuts = [slice(0, 25), slice(25, 60)]
    schema = {"g": sf.categorical(["a", "b"]), "h": sf.categorical([0, 1, 2])}
    parts = [sf.collect(dag, {n: c[cut] for n, c in data.items()}, schema=schema) for cut in cuts]
    whole, added = sf.fit(dag, data, schema=schema), sf.estimate(dag, parts[0] + parts[1])
    np.testing.assert_allclose(added.model.cpd("y").coefficients, whole.model.cpd("y").coefficients, rtol=1e-12)
    assert added.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-13)


def test_equivalent_graphs_have_equal_likelihoods() -> None:
    data = {"y": some_data(1)["y"], "z": some_data(1)["u"]}
    first, second = (sf.fit(sf.DAG(graph), data).log_likelihood for graph in ("y -> z", "z -> y"))
    assert first == pytest.approx(second, rel=1e-12)


def test_a_complete_graph_is_the_multivariate_normal() -> None:
    data = {name: some_data(1)[name] for name in "uvy"}
    directed = sf.fit(sf.DAG("u -> v; u -> y; v -> y"), data)
    joint = sf.fit(sf.GaussianMarkov("u:v:y"), data)
    assert directed.log_likelihood == pytest.approx(joint.log_likelihood, rel=1e-12)
    assert directed.n_free == joint.n_free


class TestGiven:
    LINE = {"intercept": 0, "coefficients": {"x": 1}, "sd": 1}  # noqa: RUF012

    @pytest.mark.parametrize("y", [[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
    def test_a_given_node_needs_no_estimate_of_its_own(self, y: list[float]) -> None:
        data = {"x": [1.0, 2.0, 3.0], "y": y}
        fit = sf.fit(sf.DAG("x -> y"), data, fixed={"y": self.LINE})
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.log_likelihood == pytest.approx(fit.model.log_prob(data).sum())

    def test_data_off_a_line_without_spread_is_impossible(self) -> None:
        given_line = {**self.LINE, "sd": 0}
        fit = sf.fit(sf.DAG("x -> y"), {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.5]}, fixed={"y": given_line})
        assert fit.log_likelihood == -math.inf
        assert any("rule out" in note.text for note in fit.notes)
        assert fit.certificate.log_likelihood == -math.inf

    @pytest.mark.parametrize("named", ["b", "d"])
    def test_tied_nodes_take_what_was_given_for_one_of_them(self, named: str) -> None:
        data = {name: np.random.default_rng(3).normal(size=20) for name in "abcd"}
        parent = {"b": "a", "d": "c"}[named]
        fixed = {named: {"intercept": 0, "coefficients": {parent: 1}, "sd": 2}}
        fit = sf.fit(sf.DAG("a -> b; c -> d", tie=[("b", "d")]), data, fixed=fixed)
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.model.cpd("b").sd.tolist() == fit.model.cpd("d").sd.tolist() == [2.0]


@pytest.mark.parametrize("divisor", ["n", "n-p"])
def test_tied_slopes_are_certified_under_both_divisors(divisor: str) -> None:
    dag = sf.DAG("g -> y; u -> y; v -> y", kinds={"y": {"tied": "slopes", "divisor": divisor}})
    fit = sf.fit(dag, some_data(31))
    assert fit.certificate.ok, fit.certificate.verdict


def test_tied_slopes_without_any_rows_are_certified() -> None:
    data = {**some_data(31), "y": [None] * 60}
    dag = sf.DAG("g -> y; u -> y", kinds={"y": {"tied": "slopes"}})
    fit = sf.fit(dag, data, schema={"y": sf.continuous()}, missing="available", unseen_parents="nan")
    assert np.isnan(fit.model.cpd("y").coefficients).all()
    assert fit.certificate.ok, fit.certificate.verdict


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_units_do_not_matter(unit: float) -> None:
    data = {name: column * unit for name, column in some_data(31).items() if name in "uvy"}
    fit = sf.fit(sf.DAG("u -> y; v -> y"), data)
    assert fit.certificate.ok, fit.certificate.verdict
    plain = sf.fit(sf.DAG("u -> y; v -> y"), some_data(31))
    np.testing.assert_allclose(fit.model.cpd("y").coefficients, plain.model.cpd("y").coefficients, rtol=1e-10)


def test_of_several_maxima_of_tied_slopes_the_best_is_taken() -> None:
    """The slope of all rows together leads to the lower one of two maxima."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=40), rng.normal(size=60)
    y = np.concatenate([a + 0.05 * rng.normal(size=40), -b + 0.3 * rng.normal(size=60)])
    data = {"x": np.concatenate([a, b]), "y": y, "g": ["a"] * 40 + ["b"] * 60}
    fit = sf.fit(sf.DAG("x -> y; g -> y", kinds={"y": {"tied": "slopes"}}), data)
    profile = []
    for slope in np.linspace(-2, 2, 401):
        left = [y[rows] - slope * data["x"][rows] for rows in (slice(0, 40), slice(40, 100))]
        profile.append(sum(-0.5 * len(e) * (math.log(2 * math.pi * e.var()) + 1) for e in left))
    assert fit.local["y"] >= max(profile) - 1e-9
    assert "several maxima" in fit.certificate.verdict


def test_ties_may_come_from_a_generator() -> None:
    tie = ({"b": ["a", "p"], "d": ["c", "q"]} for _ in range(1))
    assert sf.DAG("p -> b; a -> b; c -> d; q -> d", tie=tie).parents["b"] == ("a", "p")
