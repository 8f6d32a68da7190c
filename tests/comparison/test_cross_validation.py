"""Cross-validation equals the loop that it replaces: fit the other folds, score the fold, one after another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.comparison.cross_validation import CrossValidation
from suffice.comparison.folds import FoldedTable
from suffice.data.table import open_table

STATES = {"A": ["a0", "a1", "a2"], "B": ["b0", "b1"], "C": ["a0", "a1", "a2"]}
FEATURES = sf.Features(
    [
        *(sf.indicators(name) for name in STATES),
        sf.indicator(A="a0", B="b1"),
        sf.indicator(B="b0", C="a2"),
        sf.indicator(A="a1", C="a1"),
    ]
)
DISCRETE: dict[str, Any] = {
    "chain": sf.DAG("A -> B -> C"),
    "collider": sf.DAG("A -> C <- B"),
    "tied": sf.DAG("A; C; B", tie=[("A", "C")]),
    "bdeu": {"structure": sf.DAG("A -> C <- B"), "prior": sf.BDeu(3)},
    "map": {"structure": sf.DAG("A -> B; C"), "prior": sf.Dirichlet(2.0), "point": "map"},
    "decomposable": sf.Cliques("A:B + B:C"),
    "ring": {"structure": sf.Cliques("A:B + B:C + A:C"), "tol": 1e-12},
    "pseudo-counts": {"structure": sf.Cliques("A:B + B:C + A:C"), "prior": sf.BDeu(2), "tol": 1e-12},
    "features": {"structure": FEATURES, "tol": 1e-12},
    "ridge": {"structure": FEATURES, "prior": sf.Gaussian(1.0), "tol": 1e-12},
}
CONTINUOUS: dict[str, Any] = {
    "regressions": sf.DAG("x -> y -> z"),
    "all": sf.DAG("x -> y; x -> z; y -> z"),
    "unbiased": sf.DAG("x -> y -> z", divisor="n-p"),
    "bayes": {"structure": sf.DAG("x -> y; z"), "prior": sf.NormalInverseGamma(shape=3.0, scale=1.0, precision=1.0)},
    "graph": sf.GaussianMarkov("x:y + y:z"),
    "normal": sf.MultivariateNormal(["x", "y", "z"]),
}
MIXED: dict[str, Any] = {
    "network": sf.DAG("A -> x -> y; A -> y"),
    "softmax": {"structure": sf.DAG("x -> y; x -> A", kinds={"A": "softmax"}), "prior": None},
}


def discrete_rows(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    a, noise = rng.integers(0, 3, n), rng.random((2, n)) < 0.3
    b = np.where(noise[0], rng.integers(0, 2, n), a == 0).astype(int)
    c = np.where(noise[1], rng.integers(0, 3, n), (a + b) % 3)
    codes = dict(zip(STATES, (a, b, c), strict=True))
    return {name: [STATES[name][code] for code in codes[name]] for name in STATES}


def continuous_rows(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(1e3, 2.0, n)
    y = 0.5 * x + rng.normal(size=n)
    return {"x": x, "y": y, "z": -y + rng.normal(0.0, 0.1, n)}


def mixed_rows(n: int, seed: int) -> dict[str, Any]:
    rows = continuous_rows(n, seed)
    high = np.random.default_rng(seed + 1).normal(rows["x"] - 1e3) > 0
    return {"A": np.where(high, "high", "low").tolist(), "x": rows["x"] - 1e3, "y": rows["y"] - 500}


def naive(
    model: Any, data: dict[str, Any], n_folds: int, seed: int, weights: Any = None, **options: Any
) -> list[float]:
    """Fit the rows of all other folds, and add up log p of the rows of the fold; the folds are those of the library."""
    own = dict(model) if isinstance(model, dict) else {"structure": model}
    structure = own.pop("structure")
    table = open_table({**data, "row": np.arange(len(data[next(iter(data))]), dtype=float)}, [*data, "row"],
                       weights=weights, schema={"row": sf.continuous()})  # fmt: skip
    schema = {v.name: sf.continuous() if v.states is None else sf.categorical(v.states) for v in table.schema.variables}
    shares = np.zeros((n_folds, table.n_rows))
    for block in FoldedTable(table, n_folds, seed).blocks():
        shares[block.fold, block.columns["row"].astype(int)] = 1 if block.weights is None else block.weights
    options["schema"] = {name: schema[name] for name in data}
    totals = []
    for fold in range(n_folds):
        rest = shares.sum(axis=0) - shares[fold]
        train = {name: np.asarray(values)[rest > 0] for name, values in data.items()}
        test = {name: np.asarray(values)[shares[fold] > 0] for name, values in data.items()}
        fitted = sf.fit(structure, train, weights=rest[rest > 0], **{**options, **own})
        totals.append(float(np.dot(shares[fold][shares[fold] > 0], fitted.model.log_prob(test))))
    return totals


def assert_equal(found: sf.Comparison, models: dict[str, Any], *arguments: Any, **options: Any) -> None:
    for name, model in models.items():
        expected = naive(model, *arguments, **options)
        validated = found[name].cross_validation
        assert validated is not None
        np.testing.assert_allclose(validated.folds, expected, rtol=1e-9, atol=1e-9, err_msg=name)
        assert found[name].cv == pytest.approx(sum(expected), rel=1e-9)


@pytest.mark.parametrize("name", DISCRETE)
@settings(max_examples=2)
@given(st.integers(60, 200), st.integers(2, 4), st.integers(0, 99))
def test_discrete_models_equal_the_loop(name: str, n: int, n_folds: int, seed: int) -> None:
    data, models = discrete_rows(n, seed), {name: DISCRETE[name], "other": sf.DAG("B -> A; B -> C")}
    found = sf.compare(models, data, folds=n_folds, seed=seed, unseen_parents="uniform")
    assert_equal(found, {name: models[name]}, data, n_folds, seed, unseen_parents="uniform")


@pytest.mark.parametrize("name", CONTINUOUS)
@settings(max_examples=2)
@given(st.integers(40, 200), st.integers(2, 4), st.integers(0, 99))
def test_continuous_models_equal_the_loop(name: str, n: int, n_folds: int, seed: int) -> None:
    data, models = continuous_rows(n, seed), {name: CONTINUOUS[name], "other": sf.DAG("z -> y; x")}
    found = sf.compare(models, data, folds=n_folds, seed=seed)
    assert_equal(found, {name: models[name]}, data, n_folds, seed)


def test_ten_folds_of_all_models_together_equal_the_loop() -> None:
    data, models = discrete_rows(150, 0), {name: DISCRETE[name] for name in ("collider", "decomposable", "bdeu")}
    found = sf.compare(models, data, unseen_parents="uniform")
    assert_equal(found, models, data, 10, 0, unseen_parents="uniform")


def test_mixed_models_equal_the_loop() -> None:
    data = mixed_rows(150, 3)
    assert_equal(sf.compare(MIXED, data, folds=5), MIXED, data, 5, 0)


@pytest.mark.parametrize("kind", ["whole", "fractional"])
def test_weighted_rows_equal_the_loop(kind: str) -> None:
    data = discrete_rows(40, 1)
    weights = np.random.default_rng(2).integers(0, 12, 40) / (1 if kind == "whole" else 4)
    models = {name: DISCRETE[name] for name in ("chain", "bdeu", "ring", "features")}
    found = sf.compare(models, data, folds=4, weights=weights, unseen_parents="uniform")
    assert_equal(found, models, data, 4, 0, weights, unseen_parents="uniform")
    assert any("not whole numbers" in note.text for note in found.notes) == (kind == "fractional")


def test_conditional_models_equal_the_loop() -> None:
    data = discrete_rows(120, 4)
    models = {
        "with": sf.Features([sf.indicator(B="b0", A="a0"), sf.indicator(B="b0", C="a1"), sf.indicators("B")],
                            given=["A", "C"]),
        "less": sf.Features([sf.indicator(B="b0", A="a0"), sf.indicators("B")], given=["A"]),
        "none": sf.Features([sf.indicators("B")]),
    }  # fmt: skip
    found = sf.compare(models, data, folds=5, tol=1e-12)
    for name, model in models.items():
        columns = {column: data[column] for column in model.columns}
        assert_equal(found, {name: model}, columns, 5, 0, tol=1e-12)
    assert [(one.small, one.large, one.df) for one in found.tests] == [
        ("less", "with", 1),
        ("none", "with", 2),
        ("none", "less", 1),
    ]


def test_models_that_statistics_do_not_score_are_scored_row_by_row() -> None:
    rng = np.random.default_rng(5)
    data = {"u": rng.beta(2, 3, 80), "v": rng.beta(2, 2, 80)}
    support = {"u": (0, 1), "v": (0, 1)}
    models = {
        "apart": sf.Features([sf.product("u"), sf.product("v")], support=support),
        "joined": sf.Features([sf.product("u"), sf.product("v"), sf.product("u", "v")], support=support),
    }
    found = sf.compare(models, data, folds=4, tol=1e-10)
    assert_equal(found, models, data, 4, 0, tol=1e-10)


def test_hypotheses_are_scored_row_by_row() -> None:
    data = {"n": [2, 4, 8, 2, 16, 4, 2, 8]}
    models = {
        "two": sf.Hypotheses({"powers": [2, 4, 8, 16], "even": [2, 4, 6, 8, 10, 12, 14, 16]}, over="n"),
        "one": sf.Hypotheses({"even": [2, 4, 6, 8, 10, 12, 14, 16]}, over="n"),
    }
    found = sf.compare(models, data, folds=4, prior="uniform")
    assert found.best("cv") == "two"
    assert found["one"].cv == pytest.approx(8 * math.log(1 / 8))


# Gaps ---------------------------------------------------------------------------------------------------------


def test_rows_with_gaps_are_scored_by_what_they_have() -> None:
    data = discrete_rows(90, 6)
    rng = np.random.default_rng(0)
    for column in data.values():
        for row in np.flatnonzero(rng.random(90) < 0.1):
            column[row] = None
    models = {"chain": sf.DAG("A -> B -> C"), "free": sf.DAG("A; B; C")}
    found = sf.compare(models, data, folds=3, missing="em", prior=sf.BDeu(1), tol=1e-9)
    codes = FoldedTable(open_table({"row": np.arange(90.0)}, ["row"]), 3, 0)
    folds = [block.columns["row"].astype(int) for block in codes.blocks()]
    schema = {name: sf.categorical(STATES[name]) for name in STATES}
    assert len(folds) == 3
    for name, structure in models.items():
        for fold, rows in enumerate(folds):
            rest = np.setdiff1d(np.arange(90), rows)
            train, test = ({k: [v[i] for i in part] for k, v in data.items()} for part in (rest, rows))
            fitted = sf.fit(structure, train, missing="em", schema=schema, prior=sf.BDeu(1), tol=1e-9, seed=0)
            expected = fitted.model.log_prob(test, missing="marginalise").sum()
            assert found[name].cross_validation.folds[fold] == pytest.approx(expected, rel=1e-9)  # type: ignore[union-attr]


def test_latent_variables_are_summed_out() -> None:
    data = discrete_rows(60, 7)
    models = {"hidden": sf.DAG("H -> A; H -> B; H -> C", latent={"H": 2}), "chain": sf.DAG("A -> B -> C")}
    found = sf.compare(
        {"hidden": {"structure": models["hidden"], "restarts": 1}, "chain": models["chain"]}, data, folds=2
    )
    assert math.isfinite(found["hidden"].cv or math.nan)
    assert found.tests == ()


def test_the_rows_that_are_dropped_are_the_same_for_all() -> None:
    data = {"A": ["x", "y", None, "x", "y", "x"], "B": ["u", None, "u", "v", "v", "u"]}
    features = sf.Features([sf.indicators("B")]), sf.Features([sf.indicator(B="u", A="x")], given=["A"])
    found = sf.compare({"without": features[0], "with": features[1]}, data, missing="drop", folds=None)
    assert found.n == 4
    assert [row.fit.n for row in found] == [4, 4]


# Rows without a chance ----------------------------------------------------------------------------------------


def test_an_impossible_row_makes_the_score_minus_infinity_and_is_counted() -> None:
    data = {"A": ["x"] * 10 + ["y"], "B": ["u", "v"] * 5 + ["u"]}
    found = sf.compare(
        {"free": sf.DAG("A; B"), "bayes": {"structure": sf.DAG("A; B"), "prior": sf.K2()}}, data, folds=3
    )
    assert found["free"].cv == -math.inf
    assert math.isnan(found["free"].cv_standard_error or 0.0)
    assert found.best("cv") == "bayes"
    assert found.to_frame()["cv_difference"].tolist() == [-math.inf, 0.0]
    assert "free: at least 1 held-out row has probability zero" in str(found)


def test_a_configuration_of_parents_that_only_one_fold_has_is_an_error_unless_a_policy_answers() -> None:
    data = {"A": ["x"] * 10 + ["y"], "B": ["u", "v"] * 5 + ["u"], "C": ["k", "l"] * 5 + ["k"]}
    models = {"m": sf.DAG("A -> B; C")}
    with pytest.raises(sf.EstimationError, match=r"1 row of a fold cannot be scored.*'B'"):
        sf.compare(models, data, folds=3)
    found = sf.compare(models, data, folds=3, unseen_parents="nan")
    assert math.isnan(found["m"].cv or 0.0)
    assert "unknown (NaN)" in str(found)
    assert sf.compare(models, data, folds=3, unseen_parents="uniform")["m"].cv == -math.inf  # A = y itself is new


def test_a_configuration_that_no_held_out_row_meets_does_no_harm() -> None:
    data = {"A": ["x"] * 8 + ["y"] * 8, "B": ["u", "v"] * 8}
    assert math.isfinite(sf.compare({"m": sf.DAG("A -> B")}, data, folds=4)["m"].cv or math.nan)


# The standard error -------------------------------------------------------------------------------------------


def test_standard_error_is_that_of_the_fold_means() -> None:
    totals, sizes = (-20.0, -33.0, -24.0), (10.0, 15.0, 12.0)
    means = np.array([-2.0, -2.2, -2.0])
    expected = 37 * math.sqrt(((means - means.mean()) ** 2).sum() / 2) / math.sqrt(3)
    assert CrossValidation(totals, sizes).standard_error == pytest.approx(expected, rel=1e-12)


def test_standard_error_of_a_difference_is_that_of_the_differences() -> None:
    data = discrete_rows(200, 8)
    found = sf.compare({"chain": sf.DAG("A -> B -> C"), "free": sf.DAG("A; B; C")}, data)
    chain, free = (found[name].cross_validation for name in ("chain", "free"))
    assert chain is not None
    assert free is not None
    gaps = (np.array(free.folds) - np.array(chain.folds)) / np.array(chain.sizes)
    frame = found.to_frame()
    assert frame["cv_difference_standard_error"][1] == pytest.approx(200 * gaps.std(ddof=1) / math.sqrt(10))
    assert frame["cv_difference"].tolist() == pytest.approx([0.0, sum(free.folds) - sum(chain.folds)])
