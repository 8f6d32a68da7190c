"""impute: gaps filled by the most likely values or by draws, and everything else left as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.models.gap_twin import column_rows, columns_of, completions, discrete_networks, markov_networks, rows_of
from tests.models.mixed_twin import Twin, networks

import suffice as sf

SLOW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
ROWS: dict[str, list[Any]] = {
    "A": ["x", None, "y", None],
    "k": [1, 2, None, None],
    "f": [True, None, False, None],
    "v": [0.5, None, None, 1.0],
    "z": [1, 2, 3, None],
}


def possible(model: Any, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if sum(p for _, p in completions(model, row)) > 0]


# What gaps are filled with ------------------------------------------------------------------------------------


@SLOW
@given(data=st.data(), model=st.one_of(discrete_networks(), markov_networks()))
def test_mode_is_the_jointly_most_likely_completion(data: st.DataObject, model: Any) -> None:
    rows = possible(model, data.draw(rows_of(model)))
    assume(rows)
    answers = column_rows(model.impute(columns_of(rows)))
    assert len(answers) == len(rows)
    for row, filled in zip(rows, answers, strict=True):
        cases = completions(model, row)
        p = next(p for case, p in cases if case == filled)
        assert p == pytest.approx(max(p for _, p in cases), rel=1e-9)


@SLOW
@given(data=st.data(), model=st.one_of(discrete_networks(), markov_networks()))
def test_marginal_takes_each_gap_by_itself(data: st.DataObject, model: Any) -> None:
    rows = possible(model, data.draw(rows_of(model)))
    assume(rows)
    answers = column_rows(model.impute(columns_of(rows), method="marginal"))
    assert len(answers) == len(rows)
    for row, filled in zip(rows, answers, strict=True):
        cases = completions(model, row)
        for name, value in row.items():
            p = {label: sum(q for case, q in cases if case[name] == label) for label in model.schema[name].labels}
            assert filled[name] == value if value is not None else p[filled[name]] == pytest.approx(max(p.values()))


@SLOW
@given(data=st.data(), model=networks())
def test_modes_and_means_of_both_sorts(data: st.DataObject, model: sf.BayesianNetwork) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    whole = model.sample(4, seed=int(random.integers(2**32)), backend="pandas").astype(object)
    gaps = random.random(whole.shape) < data.draw(st.sampled_from([0.3, 0.7, 1.0]))
    rows = {name: [None if gap else value for value, gap in zip(whole[name], gaps[:, place], strict=True)]
            for place, name in enumerate(whole)}  # fmt: skip
    mode, alone = model.impute(rows), model.impute(rows, method="marginal")
    for number in range(4):
        seen = {name: column[number] for name, column in rows.items() if column[number] is not None}
        twin = Twin(model, seen)
        best = max(case[1] for case in twin.cases)
        states = {v.name: mode[v.name][number] for v in twin.discrete}
        case = next(case for case in twin.cases if case[0] == states)
        assert case[1] == pytest.approx(best, abs=1e-8)
        np.testing.assert_allclose([mode[name][number] for name in twin.rest], case[2], rtol=1e-6, atol=1e-6)
        mean, _ = twin.moments(twin.rest)
        np.testing.assert_allclose([alone[name][number] for name in twin.rest], mean, rtol=1e-6, atol=1e-6)
        for variable in twin.discrete:
            p = twin.table([variable.name])
            assert p[variable.code(alone[variable.name][number])] == pytest.approx(p.max())


def test_normal_gaps_get_conditional_means() -> None:
    random = np.random.default_rng(1)
    root = random.normal(size=(4, 4))
    covariance, mean = root.T @ root, np.array([1.0, -2.0, 3.0, 0.0])
    model = sf.JointNormal(["a", "b", "c", "d"], mean, covariance=covariance)
    values = random.normal(size=(30, 4))
    gaps = random.random(values.shape) < 0.5
    rows = dict(zip("abcd", np.where(gaps, np.nan, values).T, strict=True))
    filled = np.stack([model.impute(rows)[name] for name in "abcd"], axis=1)
    assert filled.shape == (30, 4)
    for row, gap, found in zip(values, gaps, filled, strict=True):
        seen, free = np.flatnonzero(~gap), np.flatnonzero(gap)
        gain = covariance[np.ix_(free, seen)] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
        np.testing.assert_allclose(found[free], mean[free] + gain @ (row[seen] - mean[seen]), atol=1e-8)
        np.testing.assert_array_equal(found[seen], row[seen])


# Draws --------------------------------------------------------------------------------------------------------


def garden() -> sf.BayesianNetwork:
    tables = {
        "rain": [0.3, 0.7],
        "sprinkler": [0.4, 0.6],
        "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.8, 0.2], [0.1, 0.9]]],
    }
    schema = {name: ["yes", "no"] for name in tables}
    return sf.BayesianNetwork(sf.DAG("rain -> wet <- sprinkler"), tables, schema=schema)


@pytest.mark.parametrize("undirected", [False, True])
def test_draws_have_the_conditional_frequencies(undirected: bool) -> None:
    model: Any = garden().to_markov_network() if undirected else garden()
    n = 40_000
    filled = model.impute({"rain": [None] * n, "sprinkler": [None] * n, "wet": ["yes"] * n}, method="sample", seed=1)
    pairs, counts = np.unique(np.char.add(filled["rain"], filled["sprinkler"]), return_counts=True)
    exact = model.query(["rain", "sprinkler"], given={"wet": "yes"}).values
    expected = dict(zip(["yesyes", "yesno", "noyes", "nono"], exact.reshape(-1), strict=True))
    assert set(filled["wet"]) == {"yes"}
    for pair, count in zip(pairs, counts, strict=True):
        assert abs(count / n - expected[pair]) < 5 * np.sqrt(0.25 / n)


def test_draws_of_both_sorts_have_the_conditional_moments() -> None:
    tables = {
        "A": [0.4, 0.6],
        "x": {"intercept": [0.0, 2.0], "sd": 1.0},
        "y": {"intercept": 1.0, "coefficients": {"x": 0.5}, "sd": 0.7},
        "z": {"intercept": 0.0, "sd": 2.0},
    }
    model = sf.BayesianNetwork(sf.DAG("A -> x -> y; z"), tables, schema={"A": ["u", "v"]})
    n = 40_000
    rows = {"A": [None] * n, "x": [None] * n, "y": [1.2] * n, "z": [None] * n}
    filled = model.impute(rows, method="sample", seed=2)
    p = model.query("A", {"y": 1.2}).values
    assert abs(np.mean(np.array(filled["A"]) == "u") - p[0]) < 0.0125
    mixture = model.query_rows(["x"], {"y": [1.2]})
    x = np.array(filled["x"])
    assert abs(x.mean() - mixture.mean[0, 0]) < 0.03
    assert abs(x.var() - mixture.covariance[0, 0, 0]) < 0.05
    assert abs(np.std(filled["z"]) - 2.0) < 0.05
    means = [x[np.array(filled["A"]) == state].mean() for state in "uv"]
    assert [model.query("x", {"y": 1.2, "A": state}).mean[0] for state in "uv"] == pytest.approx(means, abs=0.05)


def test_draws_of_a_normal_distribution_have_the_conditional_moments() -> None:
    model = sf.JointNormal(["a", "b", "c"], [0, 1, 2], covariance=[[2, 1, 0.5], [1, 3, 1], [0.5, 1, 1]])
    n = 40_000
    empty = np.full(n, np.nan)
    filled = model.impute({"a": np.full(n, 1.0), "b": empty, "c": empty}, method="sample", seed=3)
    held = model.condition({"a": 1.0})
    drawn = np.stack([filled["b"], filled["c"]])
    np.testing.assert_allclose(drawn.mean(axis=1), held.mean, atol=0.05)
    np.testing.assert_allclose(np.cov(drawn), held.covariance, atol=0.08)


def test_a_softmax_below_its_parent_is_drawn_and_has_no_mode() -> None:
    from tests.error_entries.mixed import softmax

    drawn = softmax().impute({"x": [None, 3.0], "Y": [None, None]}, method="sample", seed=1)
    assert None not in drawn["x"] + drawn["Y"]
    assert softmax().impute({"x": [3.0], "Y": [None]})["Y"] == ["hi"]
    with pytest.raises(sf.ModelError, match="no closed form"):
        softmax().impute({"x": [None], "Y": [None]})


@pytest.mark.parametrize("kind", ["discrete", "mixed"])
def test_what_is_drawn_in_a_row_depends_on_seed_and_row_alone(kind: str) -> None:
    model: Any = garden() if kind == "discrete" else mixed()
    random = np.random.default_rng(1)
    whole = model.sample(3000, seed=1, backend="pandas").astype(object)
    rows = whole.mask(random.random(whole.shape) < 0.4)
    several = model.impute(rows, method="sample", n=3, seed=7)
    assert len(several) == 3
    first = model.impute(rows, method="sample", seed=7)
    pd.testing.assert_frame_equal(first, several[0])
    assert not several[0].equals(several[1])
    pd.testing.assert_frame_equal(model.impute(rows.iloc[:1500], method="sample", seed=7), first.iloc[:1500])
    assert not first.equals(model.impute(rows, method="sample", seed=8))


def mixed() -> sf.BayesianNetwork:
    random = np.random.default_rng(1)
    data = {"A": random.choice(["x", "y"], 50).tolist(), "k": random.choice([1, 2, 3], 50).tolist(),
            "f": random.choice([False, True], 50).tolist(), "v": random.normal(size=50).tolist()}  # fmt: skip
    prior = [sf.K2(), sf.NormalInverseGamma(2, 1.0)]
    return sf.fit(sf.DAG("A -> k; A -> f; A -> v; k -> v"), data, prior=prior).model


# Tables -------------------------------------------------------------------------------------------------------


def check(filled: Any, before: Any) -> None:
    """Compare columns as lists: what was there is there, and nothing of the model is missing."""
    plain = mixed().impute(ROWS)
    for name, values in before.items():
        found = list(filled[name])
        if name == "z":
            continue
        assert all(value == old for value, old in zip(found, values, strict=True) if not pd.isna(old))
        assert found == pytest.approx(plain[name]) if name == "v" else found == plain[name]


def test_dict_of_columns() -> None:
    filled = mixed().impute(ROWS)
    assert list(filled) == list(ROWS)
    assert filled["z"] == ROWS["z"]
    assert ROWS["A"] == ["x", None, "y", None]
    check(filled, ROWS)


def test_columns_of_a_dict_keep_their_kind() -> None:
    rows = {"A": pd.Series(ROWS["A"]), "k": np.array([1.0, 2.0, np.nan, np.nan]), "f": pl.Series(ROWS["f"]),
            "v": pa.array(ROWS["v"])}  # fmt: skip
    filled = mixed().impute(rows)
    assert [type(column).__module__.partition(".")[0] for column in filled.values()] == [
        "pandas", "numpy", "polars", "pyarrow"]  # fmt: skip
    assert filled["k"].dtype == np.float64
    assert np.isnan(rows["k"]).sum() == 2
    assert filled["v"].type == pa.float64()


def test_pandas_frames_keep_dtypes_index_and_other_columns() -> None:
    frame = pd.DataFrame(ROWS, index=list("pqrs"))
    before = frame.copy()
    filled = mixed().impute(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert filled.dtypes.tolist() == frame.dtypes.tolist()
    assert list(filled.index) == list("pqrs")
    pd.testing.assert_series_equal(filled["z"], frame["z"])
    check(filled, ROWS)


@pytest.mark.parametrize("kinds", [
    {"A": "category", "k": "Int64", "f": "boolean", "v": "Float64"},
    {"A": "category", "k": pd.CategoricalDtype([1, 2, 3]), "f": "category", "v": "Float32"},
    {"A": "string", "k": "Int8", "f": "object", "v": "float32"},
    {"A": "string[pyarrow]", "k": "int64[pyarrow]", "f": "bool[pyarrow]", "v": "double[pyarrow]"},
])  # fmt: skip
def test_pandas_types(kinds: dict[str, Any]) -> None:
    frame = pd.DataFrame(ROWS).astype({"k": "Int64"}).astype(kinds)
    filled = mixed().impute(frame)
    assert filled.dtypes.tolist() == frame.dtypes.tolist()
    check(filled.astype({"v": float}), ROWS)


@pytest.mark.parametrize("kinds", [
    {}, {"A": pl.Categorical, "v": pl.Float32}, {"A": pl.Enum(["x", "y"]), "k": pl.UInt8}
])  # fmt: skip
def test_polars_types(kinds: dict[str, Any]) -> None:
    frame = pl.DataFrame(ROWS).cast(kinds) if kinds else pl.DataFrame(ROWS)
    filled = mixed().impute(frame)
    assert filled.schema == frame.schema
    assert filled["z"].to_list() == ROWS["z"]
    assert frame["A"].null_count() == 2
    check(filled.to_dict(as_series=False), ROWS)
    assert isinstance(mixed().impute(frame.lazy()), pl.DataFrame)


@pytest.mark.parametrize("batch", [False, True])
def test_arrow_types(batch: bool) -> None:
    table = pa.table({**ROWS, "A": pa.array(ROWS["A"]).dictionary_encode(), "v": pa.array(ROWS["v"], pa.float32())})
    table = pa.concat_tables([table.slice(0, 2), table.slice(2)])
    given = table.combine_chunks().to_batches()[0] if batch else table
    filled = mixed().impute(given)
    assert type(filled) is type(given)
    assert filled.schema == table.schema
    check(filled.to_pydict(), ROWS)
    reader = mixed().impute(ds.dataset(table))
    assert isinstance(reader, pa.Table)
    assert reader.to_pydict() == filled.to_pydict()


def test_states_that_a_categorical_lacks_are_added_to_it() -> None:
    model = sf.fit(sf.DAG("A"), {"A": ["x", "y", "y"]}).model
    pandas = model.impute(pd.DataFrame({"A": pd.Categorical(["x", None])}))
    assert list(pandas["A"]) == ["x", "y"]
    polars = model.impute(pl.DataFrame({"A": pl.Series(["x", None], dtype=pl.Enum(["x"]))}))
    assert polars["A"].to_list() == ["x", "y"]
    arrow = model.impute(pa.table({"A": pa.array(["x", None]).dictionary_encode()}))
    assert arrow["A"].to_pylist() == ["x", "y"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_columns_without_any_value(make: Any) -> None:
    model = mixed()
    nothing: dict[str, list[Any]] = {"A": [None, None], "k": [None, None], "f": [None, None], "v": [None, 1.0]}
    filled = model.impute(make(nothing))
    plain = model.impute(nothing)
    for name in ("A", "k", "f"):
        assert [value.as_py() if isinstance(value, pa.Scalar) else value for value in filled[name]] == plain[name]


def test_means_turn_whole_numbers_into_numbers() -> None:
    model = sf.JointNormal(["a", "b"], [0.5, 0.25], covariance=[[1, 0.5], [0.5, 1]])
    assert model.impute(pl.DataFrame({"a": [1, None], "b": [None, 1]}))["a"].to_list()[0] == 1.0
    assert model.impute(pa.table({"a": [1, None], "b": [None, 1]}))["b"].to_pylist()[0] == pytest.approx(0.5)
    frame = pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": pd.array([None, 1], "Int64")})
    assert model.impute(frame)["b"].tolist() == pytest.approx([0.5, 1.0])


def test_files_give_a_frame(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("A,k,f,v,z,name\nx,1,True,0.5,1,p\n,2,,,2,q\ny,?,False,,3,\n,,,1.0,,s\n")
    filled = mixed().impute(str(path))
    assert isinstance(filled, pd.DataFrame)
    check(filled, ROWS)
    assert list(filled["A"].cat.categories) == ["x", "y"]
    assert filled["z"].tolist()[:3] == [1, 2, 3]
    assert list(filled["name"])[:2] == ["p", "q"]
    pd.DataFrame(ROWS).to_parquet(tmp_path / "rows.parquet")
    check(mixed().impute(tmp_path / "rows.parquet"), ROWS)


def test_a_column_keeps_its_own_spelling() -> None:
    model = sf.fit(sf.DAG("A -> f"), {"A": [1, 2, 2, 2], "f": [True, False, False, False]}).model
    filled = model.impute({"A": ["1", None], "f": ["TRUE", None]})
    assert filled == {"A": ["1", "2"], "f": ["TRUE", "False"]}


def test_values_outside_the_states_are_filled_when_taken_as_missing() -> None:
    model = garden()
    rows = {"rain": ["yes", "perhaps"], "sprinkler": ["no", "no"], "wet": ["no", "yes"]}
    assert model.impute(rows, unknown_states="missing")["rain"] == ["yes", "yes"]
    with pytest.raises(sf.DataError, match="'perhaps' is not one of"):
        model.impute(rows)


# Latent variables, and what cannot be filled ------------------------------------------------------------------


def test_latent_variables_get_a_column_only_when_asked() -> None:
    tables = {"H": [0.3, 0.7], "A": [[0.9, 0.1], [0.2, 0.8]], "B": [[0.6, 0.4], [0.5, 0.5]]}
    model = sf.BayesianNetwork(
        sf.DAG("H -> A; H -> B", latent={"H": 2}), tables, schema={"H": [0, 1], "A": ["n", "y"], "B": ["n", "y"]}
    )
    rows = {"A": ["y", None, "n"], "B": ["y", "y", "n"]}
    assert model.impute(rows) == {"A": ["y", "y", "n"], "B": ["y", "y", "n"]}
    assert model.impute(rows, latent=True) == {"A": ["y", "y", "n"], "B": ["y", "y", "n"], "H": [1, 1, 0]}
    assert list(model.impute(pd.DataFrame(rows), latent=True)["H"]) == [1, 1, 0]
    assert model.impute(pl.DataFrame(rows), latent=True).columns == ["A", "B", "H"]


def test_complete_tables_come_back_as_they_are() -> None:
    frame = pd.DataFrame({"rain": ["yes"], "sprinkler": ["no"], "wet": ["no"]})
    pd.testing.assert_frame_equal(garden().impute(frame), frame)
    assert garden().impute({"rain": [], "sprinkler": [], "wet": []}) == {"rain": [], "sprinkler": [], "wet": []}


def test_an_impossible_row_is_named() -> None:
    tables = {"A": [0.5, 0.5], "B": [[1.0, 0.0], [0.5, 0.5]], "C": [0.5, 0.5]}
    schema = {"A": ["x", "y"], "B": ["u", "v"], "C": ["p", "q"]}
    model = sf.BayesianNetwork(sf.DAG("A -> B; C"), tables, schema=schema)
    rows = {"A": ["y", "x"], "B": ["v", "v"], "C": [None, None]}
    for method in ("mode", "marginal", "sample"):
        with pytest.raises(sf.ModelError, match=r"^Row 2: The evidence is impossible: the model gives B='v' together"):
            model.impute(rows, method=method)


def test_an_unknown_table_is_named() -> None:
    tables = {"A": [0.5, 0.5], "B": [[0.2, 0.8], [np.nan, np.nan]]}
    model = sf.BayesianNetwork(sf.DAG("A -> B"), tables, schema={"A": ["x", "y"], "B": ["u", "v"]})
    assert model.impute({"A": ["x"], "B": [None]})["B"] == ["v"]
    with pytest.raises(sf.ModelError, match=r"^Row 2: The answer depends on 'B', whose table has unknown rows"):
        model.impute({"A": ["x", None], "B": [None, "u"]})


def test_endless_values_say_nothing_about_gaps() -> None:
    with pytest.raises(sf.DataError, match=r"Column 'v', row 2: evidence must be finite. Got inf"):
        mixed().impute({"A": ["x", None], "k": [1, 1], "f": [True, True], "v": [1.0, np.inf]})
