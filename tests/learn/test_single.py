"""Fits of single variables and of multivariate normals, against the formulas written out."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import multivariate_normal, norm
from tests.conformance.copies import check_copies

import suffice as sf

NUMBERS = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))


@st.composite
def tables(draw) -> np.ndarray:
    """Rows whose covariance matrix is far from singular."""
    p = draw(st.integers(1, 4))
    n = draw(st.integers(p + 2, 12))
    x = draw(arrays(float, (n, p), elements=NUMBERS))
    return x + 500 * np.random.default_rng(draw(st.integers(0, 99))).normal(size=(n, p))


def columns(x: np.ndarray) -> dict[str, np.ndarray]:
    return {f"v{place}": column for place, column in enumerate(x.T)}


def normal_of(x: np.ndarray, **options) -> sf.MultivariateNormal:
    return sf.MultivariateNormal(list(columns(x)), **options)


# Normal -------------------------------------------------------------------------------------------------------


@given(x=tables(), divisor=st.sampled_from(["n", "n-1"]))
def test_the_estimate_is_mean_and_covariance_with_the_divisor(x: np.ndarray, divisor: str) -> None:
    fit = sf.fit(normal_of(x, divisor=divisor), columns(x), certify="data")
    wanted = np.atleast_2d(np.cov(x.T, bias=divisor == "n"))
    np.testing.assert_allclose(fit.model.mean, x.mean(axis=0), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(fit.model.covariance, wanted, rtol=1e-7, atol=1e-7 * np.abs(wanted).max())
    rows = multivariate_normal(fit.model.mean, fit.model.covariance).logpdf(x)
    assert fit.log_likelihood == pytest.approx(np.sum(rows), rel=1e-9, abs=1e-9)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.n_free == 2 * x.shape[1] + x.shape[1] * (x.shape[1] - 1) // 2


@given(x=tables())
def test_a_multivariate_normal_is_the_field_of_a_complete_graph(x: np.ndarray) -> None:
    ours, field = sf.fit(normal_of(x), columns(x)), sf.fit(sf.GaussianMarkov([tuple(columns(x))]), columns(x))
    assert ours.log_likelihood == pytest.approx(field.log_likelihood, rel=1e-12)
    assert ours.n_free == field.n_free
    np.testing.assert_array_equal(ours.model.covariance, field.model.covariance)


@given(x=tables())
def test_no_other_normal_is_likelier(x: np.ndarray) -> None:
    best = sf.fit(normal_of(x), columns(x))
    unbiased = sf.fit(normal_of(x, divisor="n-1"), columns(x))
    assert unbiased.log_likelihood < best.log_likelihood
    rng = np.random.default_rng(0)
    for size in (1e-2, 1e-1):
        shift = size * rng.normal(size=x.shape[1]) * best.model.sd
        moved = sf.JointNormal(best.model.names, best.model.mean + shift, covariance=best.model.covariance * (1 + size))
        assert moved.log_prob(columns(x)).sum() < best.log_likelihood


def test_the_unbiased_estimate_says_what_it_is() -> None:
    data = {"x": [1.0, 2.0, 6.0]}
    fit = sf.fit(sf.Normal("x", divisor="n-1"), data)
    assert fit.model.covariance[0, 0] == pytest.approx(7.0, rel=1e-14)
    assert "unbiased" in fit.certificate.claim
    assert "no optimum" in fit.certificate.verdict
    assert fit.certificate.moment_gap is None
    assert any("divisor n - 1" in str(note) for note in fit.notes)
    assert sf.fit(sf.Normal("x"), data).certificate.claim == "maximum likelihood"
    assert sf.fit(sf.Normal("x"), data).notes == ()


def test_a_wrong_divisor_is_not_certified() -> None:
    """A certificate for one divisor refuses the other's estimate."""
    from suffice.certify.claim import Claim
    from suffice.families.proof import certify

    data = {"x": [1.0, 2.0, 6.0], "y": [0.0, 1.0, -1.0]}
    for mine, other in (("n", "n-1"), ("n-1", "n")):
        structure = sf.MultivariateNormal(["x", "y"], divisor=mine)
        fit = sf.fit(sf.MultivariateNormal(["x", "y"], divisor=other), data)
        claim = Claim(structure, fit.model, fit.statistics, fit.log_likelihood, "mle")
        assert not certify(claim).ok


def test_weights_are_frequencies() -> None:
    data, weights = {"x": [1.0, 2.0, 6.0]}, [2, 1, 3]
    rows = {"x": np.repeat(data["x"], weights)}
    for divisor in ("n", "n-1"):
        structure = sf.Normal("x", divisor=divisor)
        ours, whole = sf.fit(structure, data, weights=weights), sf.fit(structure, rows)
        assert ours.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-13)
        assert ours.model.covariance[0, 0] == pytest.approx(whole.model.covariance[0, 0], rel=1e-13)


@pytest.mark.parametrize("divisor", ["n", "n-1"])
def test_large_means_and_mixed_scales_lose_no_digits(divisor: str) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(500, 3)) @ np.array([[1.0, 0.5, 0.2], [0, 1, -0.3], [0, 0, 1]])
    near = sf.fit(normal_of(x, divisor=divisor), columns(x)).model
    far = sf.fit(normal_of(x, divisor=divisor), columns(x * [1.0, 1e-6, 1e6] + [1e9, 0, 1e12])).model
    np.testing.assert_allclose(far.correlations, near.correlations, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(far.sd / [1.0, 1e-6, 1e6], near.sd, rtol=1e-6)


@settings(max_examples=20)
@given(x=tables(), cut=st.integers(1, 3))
def test_parts_collected_apart_give_the_same_fit(x: np.ndarray, cut: int) -> None:
    structure = normal_of(x, divisor="n-1")
    parts = sf.collect(structure, columns(x[:cut])) + sf.collect(structure, columns(x[cut:]))
    ours, whole = sf.estimate(structure, parts), sf.fit(structure, columns(x))
    assert ours.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9, abs=1e-9)
    assert ours.certificate.ok


@pytest.mark.parametrize(
    ("structure", "data", "error", "match"),
    [
        (sf.Normal("x"), {"x": [2.0, 2.0, 2.0]}, sf.EstimationError, "Column 'x' is constant"),
        (sf.Normal("x"), {"x": [2.0]}, sf.EstimationError, "Column 'x' is constant"),
        (sf.Normal("x", divisor="n-1"), {"x": [2.0]}, sf.EstimationError, "more than one row, and there is 1 row"),
        (sf.Normal("x"), {"x": np.zeros(0)}, sf.DataError, "nothing to learn from"),
        (sf.Normal("x"), {"x": ["a", "b"]}, sf.DataError, "'a' is not a number"),
        (sf.Normal("x"), {"x": [1.0, math.inf]}, sf.DataError, "not finite"),
        (sf.Normal("x"), {"x": [1.0, math.nan]}, sf.DataError, "row 2: the value is missing"),
        (sf.MultivariateNormal(["x", "y"]), {"x": [1.0, 2], "y": [3.0, 5]}, sf.EstimationError, "singular"),
        (sf.MultivariateNormal(["x", "y"]), {"x": [1.0, 2, 4], "y": [2.0, 4, 8]}, sf.EstimationError, "singular"),
    ],
)
def test_data_without_an_estimate_is_refused(structure, data, error, match: str) -> None:
    with pytest.raises(error, match=match):
        sf.fit(structure, data)


def test_only_its_own_method_is_known() -> None:
    with pytest.raises(sf.UnknownNameError, match=r"no method 'newton' for sf\.Normal"):
        sf.fit(sf.Normal("x"), {"x": [1.0, 2.0]}, method="newton")
    with pytest.raises(sf.ArgumentError, match="NormalInverseWishart"):
        sf.fit(sf.Normal("x"), {"x": [1.0, 2.0]}, prior=sf.K2())
    with pytest.raises(sf.EstimationError, match="is discrete"):
        sf.fit(sf.Normal("x"), {"x": [1, 2]}, schema={"x": sf.categorical()})


@given(mean=st.floats(-5, 5), sd=st.floats(0.01, 10), values=arrays(float, 4, elements=st.floats(-9, 9)))
def test_distribution_function_quantiles_and_intervals_of_one_variable(mean: float, sd: float, values) -> None:
    model = sf.JointNormal(["x"], [mean], covariance=[[sd**2]])
    np.testing.assert_allclose(model.cdf(values), norm(mean, sd).cdf(values), rtol=1e-9, atol=1e-300)
    p = norm(0, 4).cdf(values)
    np.testing.assert_allclose(model.quantile(p), norm(mean, sd).ppf(p), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.cdf(model.quantile(p)), p, rtol=1e-6)
    low, high = model.interval(0.9)[0]
    assert model.cdf(high) - model.cdf(low) == pytest.approx(0.9, rel=1e-9)
    assert (low + high) / 2 == pytest.approx(mean, abs=1e-9 * max(1, sd))


def test_intervals_of_several_variables_and_what_is_refused() -> None:
    model = sf.JointNormal(["x", "y"], [0, 10], covariance=[[1, 0.5], [0.5, 4]])
    np.testing.assert_allclose(model.interval(), [[-1.959964, 1.959964], [6.080072, 13.919928]], atol=1e-6)
    for call in (lambda: model.cdf(0.0), lambda: model.quantile(0.5)):
        with pytest.raises(sf.ArgumentError, match=r"model.marginal\('x'\)"):
            call()
    one = model.marginal("x")
    assert one.quantile([0, 1]).tolist() == [-math.inf, math.inf]
    for call in (lambda: one.quantile(1.5), lambda: one.quantile("x"), lambda: one.cdf(None), lambda: one.interval(1)):
        with pytest.raises(sf.ArgumentError, match="Got"):
            call()
    assert str(one).splitlines()[0] == "variable  mean  sd"
    assert "partial" not in str(one) + one._repr_html_()


# Bernoulli and Categorical ------------------------------------------------------------------------------------


@given(counts=st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any), alpha=st.floats(0.1, 5))
def test_a_categorical_variable_has_relative_frequencies(counts: list[int], alpha: float) -> None:
    data = {"x": [state for state, count in enumerate(counts) for _ in range(count)]}
    structure = sf.Categorical("x", range(len(counts)))
    n, k = sum(counts), len(counts)
    mle = sf.fit(structure, data, certify="data")
    np.testing.assert_allclose(mle.model.query("x").values, np.array(counts) / n, rtol=1e-13)
    mean = sf.fit(structure, data, prior=sf.Dirichlet(alpha))
    np.testing.assert_allclose(mean.model.query("x").values, (np.array(counts) + alpha) / (n + k * alpha), rtol=1e-12)
    assert mle.certificate.ok
    assert mean.certificate.ok
    assert mean.posterior["x"].mean().values.tolist() == mean.model.cpd("x").values.tolist()


def test_it_is_the_fit_of_a_lone_node() -> None:
    data = {"x": [3, 1, 1, 2]}
    ours, node = sf.fit(sf.Categorical("x"), data, prior=sf.BDeu(2)), sf.fit(sf.DAG("x"), data, prior=sf.BDeu(2))
    assert ours.log_likelihood == node.log_likelihood
    assert ours.log_marginal_likelihood == node.log_marginal_likelihood
    assert type(ours.model.dag) is sf.DAG
    assert (
        ours.query("x", interval=0.9, seed=1).lower.values.tolist()
        == node.query("x", interval=0.9, seed=1).lower.values.tolist()
    )


def test_numbers_are_read_as_states_whatever_they_look_like() -> None:
    many = {"x": list(range(50))}
    with pytest.raises(sf.SufficeError):
        sf.fit(sf.DAG("x"), many)
    assert sf.fit(sf.Categorical("x"), many).model.schema["x"].n_states == 50
    assert sf.fit(sf.Bernoulli("x"), {"x": [0.0, 1.0, 1.0]}).model.query("x").values.tolist() == pytest.approx(
        [1 / 3, 2 / 3]
    )


def test_a_schema_goes_before_the_structure() -> None:
    fit = sf.fit(sf.Bernoulli("x"), {"x": ["n", "n"]}, schema={"x": ["y", "n"]})
    assert fit.model.schema["x"].states == ("y", "n")
    assert fit.model.query("x")[{"x": "n"}] == 1


@pytest.mark.parametrize("values", [["a", "b", "c"], ["a"], ["a", "a"]])
def test_a_bernoulli_variable_has_two_states(values: list[str]) -> None:
    with pytest.raises(sf.StructureError, match="two states, and 'x' has"):
        sf.fit(sf.Bernoulli("x"), {"x": values})
    with pytest.raises(sf.SufficeError):
        sf.fit(sf.Bernoulli("x"), {"x": values}, schema={"x": sf.continuous()})


def test_parts_need_not_show_both_states() -> None:
    structure = sf.Bernoulli("x")
    parts = sf.collect(structure, {"x": ["no", "no"]}) + sf.collect(structure, {"x": ["yes"]})
    assert sf.estimate(structure, parts).model.query("x")[{"x": "yes"}] == pytest.approx(1 / 3)


def test_a_stream_is_judged_by_all_of_its_pieces(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.data.readers.csv_file.PIECE_BYTES", 32)
    path = tmp_path / "rows.csv"
    path.write_text("x\n" + "no\n" * 40 + "yes\n" * 10, encoding="utf-8")
    assert sf.fit(sf.Bernoulli("x"), path).model.query("x")[{"x": "yes"}] == pytest.approx(0.2)
    path.write_text("x\n" + "no\n" * 20 + "yes\n" * 20 + "maybe\n", encoding="utf-8")
    with pytest.raises(sf.StructureError, match=r"'maybe', 'no', 'yes'.*sf.Categorical\('x'\)"):
        sf.fit(sf.Bernoulli("x"), path)


def test_no_rows_are_enough_under_a_prior() -> None:
    fit = sf.fit(sf.Bernoulli("x", ["no", "yes"]), {"x": np.array([], object)}, prior=sf.Jeffreys())
    assert fit.model.query("x").values.tolist() == [0.5, 0.5]
    with pytest.raises(sf.SchemaError, match="Declare them"):
        sf.fit(sf.Bernoulli("x"), {"x": np.array([], object)}, prior=sf.Jeffreys())


# Files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("structure", "data", "options"),
    [
        (sf.Normal("x", divisor="n-1"), {"x": [1.0, 2.5, 7.0]}, {}),
        (sf.MultivariateNormal(["x", "y"]), {"x": [1.0, 2.5, 7.0], "y": [0.0, 2.0, 1.0]}, {}),
        (sf.Bernoulli("x"), {"x": [True, False, True]}, {"prior": sf.K2()}),
        (sf.Bernoulli("x", [1, 0]), {"x": [1, 1]}, {"prior": sf.K2()}),
        (sf.Categorical("x"), {"x": ["a", "b", "c"]}, {}),
    ],
)
def test_fits_can_be_copied_and_saved(structure, data, options, tmp_path) -> None:
    check_copies(sf.fit(structure, data, **options), data, tmp_path)


def test_a_fit_of_another_structure_is_refused(tmp_path) -> None:
    path = tmp_path / "fit.json"
    sf.write(sf.fit(sf.Bernoulli("x"), {"x": [0, 1]}), path)
    entry = json.loads(path.read_text(encoding="utf-8"))
    other = sf.Bernoulli("y").to_dict()
    entry["content"]["structure"] = other
    path.write_text(json.dumps(entry), encoding="utf-8")
    with pytest.raises(sf.FileFormatError, match="another structure"):
        sf.read(path)
