"""log_prob of rows that lack values: the probability, or density, of what they have."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.models.gap_twin import columns_of, completions, discrete_networks, markov_networks, rows_of
from tests.models.mixed_twin import Twin, log_normal, networks

import suffice as sf
from suffice.inference import gap_rows

SLOW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
YES_NO = ["no", "yes"]


def log_sum(model: Any, row: dict[str, Any]) -> float:
    total = sum(p for _, p in completions(model, row))
    return float(np.log(total)) if total > 0 else -np.inf


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@SLOW
@given(data=st.data(), model=st.one_of(discrete_networks(), markov_networks()))
def test_discrete_gaps_are_summed_out(data: st.DataObject, model: Any) -> None:
    rows = data.draw(rows_of(model))
    found = model.log_prob(columns_of(rows), missing="marginalise")
    same(found, [log_sum(model, row) for row in rows])


@SLOW
@given(data=st.data(), model=discrete_networks())
def test_absent_columns_are_summed_out(data: st.DataObject, model: Any) -> None:
    rows = data.draw(rows_of(model))
    kept = data.draw(st.sets(st.sampled_from(list(model.schema)), min_size=1))
    columns = {name: column for name, column in columns_of(rows).items() if name in kept}
    short = [{name: row[name] if name in kept else None for name in row} for row in rows]
    same(model.log_prob(columns, missing="marginalise"), [log_sum(model, row) for row in short])


@SLOW
@given(data=st.data(), model=networks())
def test_gaps_of_both_sorts_are_summed_and_integrated_out(data: st.DataObject, model: sf.BayesianNetwork) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    whole = model.sample(5, seed=int(random.integers(2**32)), backend="pandas").astype(object)
    gaps = random.random(whole.shape) < data.draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    rows = {name: [None if gap else value for value, gap in zip(whole[name], gaps[:, place], strict=True)]
            for place, name in enumerate(whole)}  # fmt: skip
    expected = []
    for row in range(5):
        seen = {name: column[row] for name, column in rows.items() if column[row] is not None}
        expected.append(Twin(model, seen).log_evidence())
    np.testing.assert_allclose(model.log_prob(rows, missing="marginalise"), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("given_as", ["covariance", "precision"])
def test_gaps_of_a_normal_distribution_are_integrated_out(given_as: str) -> None:
    random = np.random.default_rng(1)
    root = random.normal(size=(4, 4)) * [1, 10, 100, 1e-3]
    covariance = root.T @ root
    matrix = covariance if given_as == "covariance" else np.linalg.inv(covariance)
    mean = np.array([1.0, -20.0, 300.0, 0.004])
    model = sf.JointNormal(["a", "b", "c", "d"], mean, **{given_as: matrix})
    values = random.multivariate_normal(mean, covariance, size=40)
    values[random.random(values.shape) < 0.4] = np.nan
    values[0] = np.nan
    expected = []
    for row in values:
        seen = np.flatnonzero(~np.isnan(row))
        expected.append(log_normal(row[seen], mean[seen], covariance[np.ix_(seen, seen)]))
    found = model.log_prob(dict(zip("abcd", values.T, strict=True)), missing="marginalise")
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_log_linear_models_sum_gaps_out() -> None:
    data = {"a": [0, 0, 1, 1, 1], "b": [0, 1, 1, 1, 0], "c": [0, 1, 0, 1, 1]}
    model = sf.fit(sf.Ising("a:b + b:c", values=(0, 1)), data, prior=sf.Gaussian(1.0)).model
    rows: list[dict[str, Any]] = [{"a": None, "b": 1, "c": None}, {"a": 0, "b": None, "c": 1}]
    same(model.log_prob(columns_of(rows), missing="marginalise"), [log_sum(model, row) for row in rows])


def test_gaps_are_an_error_unless_said_otherwise() -> None:
    model = sf.fit(sf.DAG("A -> B"), {"A": ["x", "y"], "B": ["u", "v"]}).model
    with pytest.raises(sf.DataError, match=r"Column 'B', row 2: the value is missing.*missing='marginalise'"):
        model.log_prob({"A": ["x", "y"], "B": ["u", None]})
    with pytest.raises(sf.DataError, match="no such column"):
        model.log_prob({"A": ["x", "y"]})


def hidden() -> sf.BayesianNetwork:
    """H is latent, above A and B."""
    tables = {"H": [0.3, 0.7], "A": [[0.9, 0.1], [0.2, 0.8]], "B": [[0.6, 0.4], [0.5, 0.5]]}
    return sf.BayesianNetwork(
        sf.DAG("H -> A; H -> B", latent={"H": 2}), tables, schema={"H": [0, 1], "A": YES_NO, "B": YES_NO}
    )


def test_latent_variables_need_no_column() -> None:
    model = hidden()
    found = np.exp(model.log_prob({"A": ["yes", "no"], "B": ["yes", "yes"]}))
    same(found, [0.3 * 0.1 * 0.4 + 0.7 * 0.8 * 0.5, 0.3 * 0.9 * 0.4 + 0.7 * 0.2 * 0.5])
    same(np.exp(model.log_prob({"H": [0], "A": ["yes"], "B": ["yes"]})), [0.3 * 0.1 * 0.4])
    with pytest.raises(sf.DataError, match="Column 'B', row 1"):
        model.log_prob({"A": ["yes"], "B": [None]})
    with pytest.raises(sf.DataError, match="'B', but there is no such column"):
        model.log_prob({"A": ["yes"]})


def test_unknown_rows_of_tables_matter_only_where_something_below_was_seen() -> None:
    tables = {"A": [0.5, 0.5], "B": [[0.2, 0.8], [np.nan, np.nan]]}
    model = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": ["x", "y"], "B": ["u", "v"]})
    rows = {"A": ["x", "y", None, None], "B": ["u", None, None, "u"]}
    found = np.exp(model.log_prob(rows, missing="marginalise"))
    same(found[:3], [0.1, 0.5, 1.0])
    assert np.isnan(found[3])


def test_impossible_and_endless_rows() -> None:
    tables = {"A": [1.0, 0.0], "x": {"intercept": [0.0, 1.0], "sd": 1.0}, "y": {"intercept": 0.0, "sd": 2.0}}
    model = sf.BayesianNetwork(sf.DAG("A -> x; y"), tables, schema={"A": ["u", "v"]})
    rows = {"A": ["v", None, None], "x": [0.0, np.inf, None], "y": [None, 1.0, None]}
    assert model.log_prob(rows, missing="marginalise").tolist() == [-np.inf, -np.inf, 0.0]


def test_surroundings_in_batches_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    names = [f"v{i}" for i in range(9)]
    tables = {name: random.dirichlet([1, 1, 1], [3] if place else []) for place, name in enumerate(names)}
    schema = {name: ["a", "b", "c"] for name in names}
    chain = sf.BayesianNetwork(sf.DAG(list(itertools.pairwise(names))), tables, schema=schema)
    rows = chain.sample(300, seed=1, backend="pandas").astype(object)
    rows = rows.mask(random.random(rows.shape) < 0.5)
    expected = chain.log_prob(rows, missing="marginalise")
    filled = [chain.impute(rows, method=method, seed=seed) for method, seed in (("mode", None), ("sample", 1))]
    monkeypatch.setattr(gap_rows, "CHUNK", 8)
    same(chain.log_prob(rows, missing="marginalise"), expected)
    again = [chain.impute(rows, method=method, seed=seed) for method, seed in (("mode", None), ("sample", 1))]
    for before, after in zip(filled, again, strict=True):
        pd.testing.assert_frame_equal(before, after)


def test_a_model_that_was_asked_can_be_pickled() -> None:
    model = hidden()
    row = {"A": ["yes"], "B": ["no"]}
    before = model.log_prob(row)
    same(pickle.loads(pickle.dumps(model)).log_prob(row), before)
    assert "_engine" not in model.__getstate__()


@pytest.mark.parametrize("case", ["discrete", "linear", "cliques", "normal"])
def test_the_error_of_an_absent_column_names_what_works(case: str) -> None:
    numbers = {"A": [1.0, 2.5, 3.0, 4.5], "B": [2.0, 1.0, 3.5, 3.0]}
    states = {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]}
    structure, data = {
        "discrete": (sf.DAG("A -> B"), states),
        "linear": (sf.DAG("A -> B"), numbers),
        "cliques": (sf.Cliques("A:B"), states),
        "normal": (sf.GaussianMarkov("A:B"), numbers),
    }[case]
    model = sf.fit(structure, data).model
    rows = {"A": data["A"]}
    with pytest.raises(sf.DataError, match=r"'B'.* pass (missing='marginalise')\.") as caught:
        model.log_prob(rows)
    remedy = str(caught.value).rpartition("pass ")[2].rstrip(".")
    found = eval(f"model.log_prob(rows, {remedy})")
    np.testing.assert_allclose(found, model.log_prob({**data, "B": [None] * 4}, missing="marginalise"), rtol=1e-12)
