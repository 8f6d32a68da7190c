"""Linear-Gaussian distributions: densities, draws, printing, files, and networks by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.stats.moments import Moments

X, Z, Y = sf.Variable("x"), sf.Variable("z"), sf.Variable("y")
G, H = sf.Variable("g", ("a", "b")), sf.Variable("h", (0, 1, 2))
FAMILY = NodeFamily(Y, (X, G, Z, H))


def some_cpd(seed: int = 0) -> LinearGaussianCPD:
    rng = np.random.default_rng(seed)
    return LinearGaussianCPD(FAMILY, rng.normal(size=6), rng.normal(size=(6, 2)), rng.uniform(0.5, 2, 6))


def some_rows(n: int = 50, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    numbers = {name: rng.normal(size=n) for name in "xzy"}
    return {**numbers, "g": rng.integers(0, 2, n), "h": rng.integers(0, 3, n)}


class TestDensity:
    def test_is_the_normal_density_around_the_line(self) -> None:
        cpd, rows = some_cpd(), some_rows()
        expected = []
        for g, h, x, z, y in zip(*(rows[name] for name in "ghxzy"), strict=True):
            row = g * 3 + h
            line = cpd.intercept[row] + cpd.coefficients[row] @ [x, z]
            expected.append(stats.norm.logpdf(y, line, math.sqrt(cpd.variance[row])))
        assert cpd.log_prob(rows) == pytest.approx(np.array(expected))

    @given(st.integers(0, 1000))
    def test_log_likelihood_from_moments_is_the_sum_over_rows(self, seed: int) -> None:
        cpd, rows = some_cpd(seed), some_rows(seed=seed)
        weights = np.random.default_rng(seed).integers(0, 3, 50)
        parts = []
        for code in range(6):
            mine = (rows["g"] * 3 + rows["h"]) == code
            stacked = np.stack([rows[name][mine] for name in "xzy"], axis=1)
            parts.append(Moments.of_rows((X, Z, Y), stacked, weights[mine]))
        arrays = [np.stack([getattr(part, name) for part in parts]) for name in ("weight", "mean", "rest", "scatter")]
        shapes = [(2, 3), (2, 3, 3), (2, 3, 3), (2, 3, 3, 3)]
        moments = Moments((X, Z, Y), (G, H), *(a.reshape(s) for a, s in zip(arrays, shapes, strict=True)))
        assert cpd.log_likelihood(moments) == pytest.approx(float(weights @ cpd.log_prob(rows)), rel=1e-10, abs=1e-10)

    def test_without_spread_only_the_line_is_possible(self) -> None:
        cpd = LinearGaussianCPD(NodeFamily(Y, (X,)), [1.0], [[2.0]], [0.0])
        assert cpd.degenerate
        found = cpd.log_prob({"x": np.array([1.0, 1.0]), "y": np.array([3.0, 3.5])})
        assert found.tolist() == [math.inf, -math.inf]
        assert cpd.sample({"x": np.array([1.0])}, np.array([0.3])).tolist() == [3.0]

    def test_draws_have_the_right_distribution(self) -> None:
        cpd = LinearGaussianCPD(NodeFamily(Y, (X,)), [1.0], [[2.0]], [9.0])
        uniform = np.random.default_rng(0).random(20_000)
        x = np.random.default_rng(1).normal(size=20_000)
        z = (cpd.sample({"x": x}, uniform) - 1 - 2 * x) / 3
        assert stats.kstest(z, "norm").pvalue > 0.001
        assert np.isfinite(cpd.sample({"x": np.zeros(1)}, np.zeros(1))).all()

    def test_mean_of_every_case(self) -> None:
        cpd, rows = some_cpd(), some_rows(4)
        assert cpd.mean_of(rows).shape == (4,)
        assert LinearGaussianCPD(NodeFamily(Y), [1.5], [], [1.0]).mean_of({}).tolist() == [1.5]


class TestForms:
    def test_prints_with_labels(self) -> None:
        cpd = LinearGaussianCPD(NodeFamily(Y, (X, G)), [1.0, 2.5], [[0.5], [-1.0]], [4.0, 0.25])
        lines = str(cpd).splitlines()
        assert lines[0] == "p(y | x, g)"
        assert lines[1].split() == ["g", "intercept", "x", "sd"]
        assert [line.split() for line in lines[3:]] == [["a", "1", "0.5", "2"], ["b", "2.5", "-1", "0.5"]]
        assert "<table>" in cpd._repr_html_()
        assert list(cpd.to_frame("pyarrow").column("sd").to_pylist()) == [2.0, 0.5]

    def test_names_that_meet_stay_apart(self) -> None:
        cpd = LinearGaussianCPD(NodeFamily(Y, (sf.Variable("sd"),)), [1.0], [[2.0]], [9.0])
        assert list(cpd.to_frame("pyarrow").column_names) == ["intercept", "sd", "sd_"]

    def test_survives_a_file(self, tmp_path) -> None:
        cpd = some_cpd()
        dag = sf.DAG({"y": ["x", "g", "z", "h"]})
        tables = {"y": cpd, "x": {"intercept": 0, "sd": 1}, "z": {"intercept": 0, "variance": 4.0}}
        tables |= {"g": [0.5, 0.5], "h": [0.2, 0.3, 0.5]}
        model = sf.BayesianNetwork(dag, tables, schema={"g": ["a", "b"], "h": [0, 1, 2]})
        sf.write(model, tmp_path / "m.json")
        again = sf.read(tmp_path / "m.json")
        for node in dag.nodes:
            assert str(again.cpd(node)) == str(model.cpd(node))
        data = model.sample(100, seed=1)
        np.testing.assert_array_equal(again.log_prob(data), model.log_prob(data))

    @pytest.mark.parametrize("ending", [".bif", ".xmlbif", ".net", ".dsl", ".xdsl", ".uai"])
    def test_other_formats_refuse_numbers_and_leave_nothing(self, ending: str, tmp_path) -> None:
        model = sf.BayesianNetwork(sf.DAG("y"), {"y": {"intercept": 0, "sd": 1}})
        with pytest.raises(sf.ArgumentError, match="'y'"):
            sf.write(model, tmp_path / f"m{ending}")
        assert not list(tmp_path.iterdir())

    def test_settings_survive_a_file(self, tmp_path) -> None:
        dag = sf.DAG("x -> y; g -> y", kinds={"y": {"tied": "variance"}}, divisor="n-p")
        fit = sf.fit(
            dag, {"x": [0.0, 1.0, 2.0, 4.0, 5.0, 5.5], "y": [1.0, 0.5, 2.0, 2.5, 0.0, 1.0], "g": list("aabbab")}
        )
        sf.write(fit, tmp_path / "fit.json")
        again = sf.read(tmp_path / "fit.json")
        assert again.structure == dag
        assert str(again) == str(fit)
        assert sf.DAG(dag) == dag
        assert hash(sf.DAG(dag)) == hash(dag)


class TestByHand:
    def test_one_entry_for_each_configuration(self) -> None:
        dag = sf.DAG("x -> y; g -> y")
        rows = {
            "a": {"intercept": 1, "coefficients": {"x": 2}, "sd": 3},
            "b": {"intercept": 4, "coefficients": [5], "variance": 36},
        }
        model = sf.BayesianNetwork(
            dag, {"x": {"intercept": 0, "sd": 1}, "g": [0.5, 0.5], "y": rows}, schema={"g": ["a", "b"]}
        )
        listed = {"intercept": [1, 4], "coefficients": {"x": [2, 5]}, "sd": [3, 6]}
        other = sf.BayesianNetwork(
            dag, {"x": {"intercept": 0, "sd": 1}, "g": [0.5, 0.5], "y": listed}, schema={"g": ["a", "b"]}
        )
        assert str(model.cpd("y")) == str(other.cpd("y"))

    def test_given_nodes_are_left_alone(self) -> None:
        data = {"x": [0.0, 1.0, 2.0, 4.0], "y": [1.0, 0.5, 2.0, 2.5]}
        given_line = {"intercept": 1, "coefficients": {"x": 0.5}, "sd": 2}
        fit = sf.fit(sf.DAG("x -> y"), data, fixed={"y": given_line})
        assert fit.model.cpd("y").coefficients.tolist() == [[0.5]]
        assert fit.n_free == 2
        assert fit.certificate.ok, fit.certificate.verdict
        assert fit.log_likelihood == pytest.approx(fit.model.log_prob(data).sum())
