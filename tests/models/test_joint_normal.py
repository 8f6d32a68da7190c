"""JointNormal against SciPy's multivariate normal and against elementary formulas."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, kstest, multivariate_normal, norm

import suffice as sf
from suffice.data.table import open_table
from suffice.models.gaussian_deviance import deviance
from suffice.models.score import log_likelihood
from suffice.stats.source import BlockSource

NAMES = ["x", "y", "z", "u"]


def some_matrix(seed: int, p: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p, p + 2))
    scale = 10.0 ** rng.integers(-3, 4, p)
    return root @ root.T * np.outer(scale, scale)


def both(seed: int, p: int = 4) -> list[sf.JointNormal]:
    """The same distribution, given by its covariance and by its precision."""
    covariance, mean = some_matrix(seed, p), np.random.default_rng(seed).normal(size=p)
    precision = np.linalg.inv(covariance)
    return [
        sf.JointNormal(NAMES[:p], mean, covariance=covariance),
        sf.JointNormal(NAMES[:p], mean, precision=(precision + precision.T) / 2),
    ]


def rows_of(model: sf.JointNormal, seed: int, n: int = 5) -> dict[str, np.ndarray]:
    rows = np.random.default_rng(seed).normal(size=(n, len(model.names))) * model.sd + model.mean
    return dict(zip(model.names, rows.T, strict=True))


@given(seed=st.integers(0, 10**4))
def test_log_density_is_scipys(seed: int) -> None:
    for model in both(seed):
        data = rows_of(model, seed)
        rows = np.stack([data[name] for name in model.names], axis=1)
        roots = model.sd
        expected = multivariate_normal((model.mean - model.mean) / roots, model.correlations).logpdf(
            (rows - model.mean) / roots
        ) - math.fsum(np.log(roots))
        np.testing.assert_allclose(model.log_prob(data), expected, rtol=1e-9, atol=1e-9)


@given(seed=st.integers(0, 10**4))
def test_precision_and_covariance_are_inverses(seed: int) -> None:
    for model in both(seed):
        scaled = (model.precision @ model.covariance) * model.sd[:, None] / model.sd
        np.testing.assert_allclose(scaled, np.eye(4), atol=1e-8)


def test_one_variable_is_the_normal_distribution() -> None:
    model = sf.JointNormal(["x"], [1.0], covariance=[[4.0]])
    assert model.log_prob({"x": [2.0]})[0] == pytest.approx(norm(1, 2).logpdf(2.0))
    assert model.entropy() == pytest.approx(norm(1, 2).entropy())


@given(seed=st.integers(0, 10**4))
def test_density_factorises_into_marginal_and_conditional(seed: int) -> None:
    for model in both(seed):
        data = rows_of(model, seed, 1)
        seen = {name: float(data[name][0]) for name in ("z", "x")}
        joint = model.log_prob(data)[0]
        split = model.marginal(["z", "x"]).log_prob(data)[0] + model.condition(seen).log_prob(data)[0]
        assert joint == pytest.approx(split, rel=1e-8, abs=1e-8)


def test_marginals_are_the_queries_of_one_variable_each() -> None:
    model = sf.JointNormal(["x", "y", "z"], [0, 1, 2], precision=[[2, -1, 0], [-1, 2, -1], [0, -1, 2]])
    for seen in (None, {}, {"y": 0.5}):
        found = model.marginals(seen)
        assert list(found) == [name for name in model.names if name not in (seen or {})]
        for name, answer in found.items():
            expected = model.query(name, seen)
            assert answer.names == (name,)
            np.testing.assert_allclose([answer.mean[0], answer.sd[0]], [expected.mean[0], expected.sd[0]])
    assert model.marginals({"x": 1, "y": 2, "z": 3}) == {}


@given(seed=st.integers(0, 10**4))
def test_query_is_schurs_complement(seed: int) -> None:
    for model in both(seed):
        given_ = {"y": model.mean[1] + 2 * model.sd[1], "u": model.mean[3] - model.sd[3]}
        found = model.query(["z", "x"], given=given_)
        a, b = [2, 0], [1, 3]
        gain = np.linalg.solve(model.covariance[np.ix_(b, b)], model.covariance[np.ix_(b, a)]).T
        mean = model.mean[a] + gain @ (np.array([given_["y"], given_["u"]]) - model.mean[b])
        covariance = model.covariance[np.ix_(a, a)] - gain @ model.covariance[np.ix_(b, a)]
        assert found.names == ("z", "x")
        np.testing.assert_allclose((found.mean - mean) / model.sd[a], 0, atol=1e-7)
        np.testing.assert_allclose(found.covariance / covariance, 1, atol=1e-6)
        assert model.map(given_, targets=["z", "x"]) == dict(zip(found.names, found.mean.tolist(), strict=True))
        assert model.map(given_) == pytest.approx(dict(zip(["x", "z"], mean[::-1], strict=True)), rel=1e-6)


def test_targets_keep_the_order_asked_for_and_zeros_stay_zeros() -> None:
    model = sf.JointNormal(["x", "y", "z"], [0, 1, 2], precision=[[2, -1, 0], [-1, 2, -1], [0, -1, 3]])
    turned = model.marginal(["z", "x", "y"])
    assert turned.precision.tolist() == [[3, 0, -1], [0, 2, -1], [-1, -1, 2]]
    assert turned.mean.tolist() == [2, 0, 1]
    assert model.condition({"y": 0.0}).precision.tolist() == [[2, 0], [0, 3]]
    assert model.condition({}) is model
    assert model.marginal(["x", "y", "z"]) is model


@given(seed=st.integers(0, 10**4))
def test_divergence_is_the_expected_log_ratio(seed: int) -> None:
    p, q = both(seed)[0], both(seed + 1)[1]
    turned = q.marginal(["u", "z", "x", "y"])
    assert p.kl(q) == pytest.approx(p.kl(turned), rel=1e-6)
    assert p.kl(both(seed)[1]) == pytest.approx(0, abs=1e-6)
    # E_p[log p − log q] in closed form: −entropy − E_p[log q], by the quadratic form around q's mean.
    gap = p.mean - q.mean
    second = p.covariance + np.outer(gap, gap)
    _, log_det = np.linalg.slogdet(q.correlations)
    log_det += 2 * np.log(q.sd).sum()
    expected = -0.5 * (4 * math.log(2 * math.pi) + log_det + (q.precision * second).sum())
    assert p.kl(q) == pytest.approx(-p.entropy() - expected, rel=1e-6, abs=1e-6)


def test_entropy_given_evidence_is_that_of_the_rest() -> None:
    model = both(3)[0]
    assert model.entropy({"x": 1.0}) == pytest.approx(model.condition({"x": 1.0}).entropy())
    assert model.entropy() == pytest.approx(model.marginal("x").entropy() + model.entropy({"x": 0.0}))


def test_partial_correlations_are_correlations_given_the_rest() -> None:
    for model in both(7):
        partial = model.partial_correlations
        for a in range(4):
            for b in range(a):
                others = {name: 0.0 for place, name in enumerate(NAMES) if place not in (a, b)}
                assert partial[a, b] == pytest.approx(model.condition(others).correlations[0, 1], abs=1e-9)
        assert np.diag(partial).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("which", [0, 1])
def test_draws_have_the_distribution(which: int) -> None:
    model = both(11)[which]
    frame = model.sample(70_000, seed=4, backend="pandas")
    rows = frame.to_numpy()
    gap = rows - model.mean
    distances = np.einsum("ij,jk,ik->i", gap, model.precision, gap)
    assert kstest(distances, chi2(4).cdf).pvalue > 1e-3
    for place, name in enumerate(model.names):
        assert kstest(frame[name], norm(model.mean[place], model.sd[place]).cdf).pvalue > 1e-3
    np.testing.assert_allclose(np.corrcoef(rows.T), model.correlations, atol=0.02)


def test_draws_depend_on_seed_and_position_only() -> None:
    model = both(2)[1]
    few, many = model.sample(10, seed=3, backend="pandas"), model.sample(70_000, seed=3, backend="pandas")
    pd.testing.assert_frame_equal(few, many[:10])
    assert not few.equals(model.sample(10, seed=4, backend="pandas"))
    assert isinstance(model.sample(2, backend="polars"), pl.DataFrame)
    assert len(model.sample(0, backend="pandas")) == 0


def test_draws_given_evidence_hold_it() -> None:
    model = both(2)[0]
    frame = model.sample(40_000, given={"y": 1.5}, seed=1, backend="pandas")
    assert (frame["y"] == 1.5).all()
    rest = model.condition({"y": 1.5})
    for place, name in enumerate(rest.names):
        assert kstest(frame[name], norm(rest.mean[place], rest.sd[place]).cdf).pvalue > 1e-3
    everything = dict(zip(NAMES, [1.0, 2.0, 3.0, 4.0], strict=True))
    assert model.sample(2, given=everything, seed=1, backend="pandas").to_numpy().tolist() == [[1, 2, 3, 4]] * 2


def test_scores_add_up_with_weights() -> None:
    model = both(5)[0]
    data = rows_of(model, 1)
    table = open_table({**data, "w": [1, 0, 2, 3, 1]}, model.names, weights="w")
    total, _ = log_likelihood(model, BlockSource(table))
    assert total == pytest.approx(float(model.log_prob(data) @ [1, 0, 2, 3, 1]))


def test_infinite_values_are_impossible_and_missing_ones_an_error() -> None:
    model = sf.JointNormal(["x", "y"], [0, 0], precision=np.eye(2))
    assert model.log_prob({"x": [math.inf], "y": [1.0]}).tolist() == [-math.inf]
    with pytest.raises(sf.DataError, match="missing"):
        model.log_prob({"x": [math.nan], "y": [1.0]})
    with pytest.raises(sf.DataError, match="no such column"):
        model.log_prob({"x": [1.0]})


def test_a_printout_shows_partial_correlations() -> None:
    text = str(sf.JointNormal(["x", "<y>"], [0, 1], precision=[[2, -1], [-1, 2]]))
    assert text.splitlines()[2].split() == ["x", "0", "0.816497", "0.5"]
    band = np.eye(30) * 2 - np.eye(30, k=1) / 2 - np.eye(30, k=-1) / 2
    large = sf.JointNormal([f"v{i}" for i in range(30)], np.zeros(30), precision=band)
    assert str(large).count("0.25") == 20
    assert "the strongest partial correlations" in str(large)
    html = sf.JointNormal(["x", "<y>"], [0, 1], precision=np.eye(2))._repr_html_()
    assert "&lt;y&gt;" in html
    assert "<y>" not in html
    assert "v29" in large._repr_html_()


def test_frames_carry_the_names() -> None:
    frame = both(1)[0].to_frame("correlations", backend="pandas").set_index("variable")
    assert frame.loc["x", "x"] == pytest.approx(1)
    assert frame.loc["z", "y"] == both(1)[0].correlations[2, 1]
    with pytest.raises(sf.ArgumentError, match="'what'"):
        both(1)[0].to_frame("nonsense")


def test_arrays_cannot_be_changed() -> None:
    mean, covariance = np.zeros(2), np.eye(2)
    model = sf.JointNormal(["x", "y"], mean, covariance=covariance)
    mean[0] = covariance[0, 0] = 9
    assert model.mean[0] == 0
    assert model.covariance[0, 0] == 1
    for array in (model.mean, model.covariance, model.precision):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (sf.ArgumentError, "exactly one", {}),
        (sf.ArgumentError, "exactly one", {"precision": np.eye(2), "covariance": np.eye(2)}),
        (sf.ModelError, "not positive definite", {"precision": [[1, 2], [2, 1]]}),
        (sf.ModelError, "not positive definite", {"covariance": [[0, 0], [0, 1]]}),
        (sf.ModelError, "symmetric", {"covariance": [[1, 0.5], [0, 1]]}),
        (sf.ModelError, r"shape \(2, 2\)", {"covariance": np.eye(3)}),
        (sf.ModelError, "finite", {"covariance": [[1, math.nan], [math.nan, 1]]}),
        (sf.ModelError, "not an array of numbers", {"covariance": "eye"}),
    ],
)
def test_improper_parameters_are_refused(error, match: str, arguments: dict) -> None:
    with pytest.raises(error, match=match):
        sf.JointNormal(["x", "y"], [0, 0], **arguments)


@pytest.mark.parametrize("names", ["xy", [], ["x", "x"], ["x", 3], 7])
def test_improper_names_are_refused(names) -> None:
    with pytest.raises(sf.ArgumentError, match="'names'"):
        sf.JointNormal(names, [0, 0], covariance=np.eye(2))


def test_improper_questions_are_refused() -> None:
    model = sf.JointNormal(["x", "y"], [0, 0], covariance=np.eye(2))
    for call, error, match in (
        (lambda: model.condition({"x": "a"}), sf.ArgumentError, "finite number"),
        (lambda: model.condition({"x": math.inf}), sf.ArgumentError, "finite number"),
        (lambda: model.condition({"x": 1, "y": 2}), sf.ArgumentError, "All variables are given"),
        (lambda: model.condition(["x"]), sf.ArgumentError, "mapping"),
        (lambda: model.condition({"xx": 1}), sf.UnknownNameError, "Did you mean 'x'"),
        (lambda: model.query("x", given={"x": 1.0}), sf.ArgumentError, "asked for and given"),
        (lambda: model.query([]), sf.ArgumentError, "at least one"),
        (lambda: model.marginal(["x", "x"]), sf.ArgumentError, "each once"),
        (lambda: model.marginal(3), sf.ArgumentError, "a name or a list"),
        (lambda: model.kl(3), sf.ArgumentError, "another normal"),
        (lambda: model.kl(model.marginal("x")), sf.ModelError, r"\['y'\]"),
        (lambda: model.sample(-1), sf.ArgumentError, "'n'"),
    ):
        with pytest.raises(error, match=match):
            call()


# Deviance -----------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**4))
def test_deviance_is_twice_the_gap_to_the_saturated_model(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = (rng.normal(size=(12, 3)) + rng.normal(size=(12, 1))) * 10.0 ** rng.integers(-3, 4, 3)
    data = dict(zip(NAMES, rows.T, strict=False))
    small, large = sf.fit(sf.GaussianMarkov("x:y + z"), data), sf.fit(sf.GaussianMarkov("x:y:z"), data)
    found = deviance(small.model, small.statistics)
    assert 2 * (large.log_likelihood - small.log_likelihood) == pytest.approx(found.G2, abs=1e-6)
    assert found.df == large.n_free - small.n_free == 2
    assert found.p_value == pytest.approx(math.exp(-found.G2 / 2))
    same = deviance(large.model, large.statistics)
    assert same.G2 < 1e-6
    assert (same.df, same.p_value) == (0, 1.0)


def test_deviance_of_another_mean_counts_the_mean() -> None:
    data = {"x": [0.0, 2.0], "y": [0.0, 1.0]}
    model = sf.JointNormal(["x"], [3.0], covariance=[[1.0]])
    statistics = sf.collect(sf.GaussianMarkov("x:y"), data)
    x = [0, 2]
    ratio = 2 * (norm(1, 1).logpdf(x).sum() - norm(3, 1).logpdf(x).sum())
    assert ratio == pytest.approx(deviance(model, statistics).G2)


def test_deviance_needs_a_saturated_model_and_the_moments() -> None:
    statistics = sf.collect(sf.GaussianMarkov("x:y"), {"x": [0.0, 2.0], "y": [0.0, 1.0]})
    model = sf.JointNormal(["x", "y"], [0, 0], covariance=np.eye(2))
    with pytest.raises(sf.EstimationError, match="saturated model"):
        deviance(model, statistics)
    with pytest.raises(sf.StatisticsError, match="do not contain"):
        deviance(sf.JointNormal(["z"], [0], covariance=[[1]]), statistics)
