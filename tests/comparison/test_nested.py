"""Which models include which, found by what they say and by what they can fit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.comparison.nested import _includes, nested_tests

NAMES = "ABCD"


@st.composite
def dags(draw: st.DrawFn) -> sf.DAG:
    order = draw(st.permutations(NAMES))
    chosen = {pair for pair in itertools.combinations(order, 2) if draw(st.booleans())}
    return sf.DAG({child: [parent for parent in order if (parent, child) in chosen] for child in NAMES})


@st.composite
def cliques(draw: st.DrawFn) -> sf.Cliques:
    pairs = [pair for pair in itertools.combinations(NAMES, 2) if draw(st.booleans())]
    return sf.Cliques({name: [b if a == name else a for a, b in pairs if name in (a, b)] for name in NAMES})


def population(structure: Any, seed: int) -> sf.Contingency:
    """The probabilities of all cells, as weights, of a distribution that the structure allows and no smaller one."""
    rng = np.random.default_rng(seed)
    states = {name: ["0", "1"] for name in NAMES}
    if isinstance(structure, sf.DAG):
        rows = {name: rng.uniform(0.1, 0.9, [2] * len(structure.parents[name])) for name in NAMES}
        model: Any = sf.BayesianNetwork(
            structure, {name: np.stack([p, 1 - p], axis=-1) for name, p in rows.items()}, schema=states
        )
    else:
        tables = [(clique, rng.uniform(0.2, 2.0, [2] * len(clique))) for clique in structure.cliques]
        model = sf.MarkovNetwork(tables, schema=states)
    return sf.Contingency(1e4 * model.query(list(NAMES)).values, states)


def fits_exactly(structure: Any, table: sf.Contingency) -> bool:
    """Whether a structure can be every bit of a population."""
    whole = sf.fit(sf.Cliques([tuple(NAMES)]), table)
    found = sf.fit(structure, table, tol=1e-10, max_iter=5000)
    return whole.log_likelihood - found.log_likelihood < 1e-5


@settings(max_examples=60)
@given(dags(), dags(), st.integers(0, 9))
def test_networks_include_those_whose_distributions_they_can_be(small: sf.DAG, large: sf.DAG, seed: int) -> None:
    table = population(small, seed)
    assert _includes(sf.fit(small, table), sf.fit(large, table)) == fits_exactly(large, table)


@settings(max_examples=30)
@given(cliques(), dags(), st.integers(0, 9))
def test_networks_include_cliques_whose_distributions_they_can_be(small: sf.Cliques, large: sf.DAG, seed: int) -> None:
    table = population(small, seed)
    assert _includes(sf.fit(small, table), sf.fit(large, table)) == fits_exactly(large, table)


@settings(max_examples=30)
@given(dags(), cliques(), st.integers(0, 9))
def test_cliques_include_networks_whose_distributions_they_can_be(small: sf.DAG, large: sf.Cliques, seed: int) -> None:
    table = population(small, seed)
    assert _includes(sf.fit(small, table), sf.fit(large, table)) == fits_exactly(large, table)


@settings(max_examples=20)
@given(dags(), dags())
def test_tests_of_networks_are_those_of_the_cliques_that_say_the_same(small: sf.DAG, large: sf.DAG) -> None:
    def perfect(dag: sf.DAG) -> bool:
        near = {frozenset(edge) for edge in dag.edges}
        return all({frozenset(p) for p in itertools.combinations(above, 2)} <= near for above in dag.parents.values())

    assume(perfect(small) and perfect(large))
    table = sf.Contingency(np.random.default_rng(0).integers(5, 40, [2] * 4), {name: ["0", "1"] for name in NAMES})
    found, _ = nested_tests({"small": sf.fit(small, table), "large": sf.fit(large, table)})
    undirected = {"small": sf.fit(sf.Cliques(small), table), "large": sf.fit(sf.Cliques(large), table)}
    expected, _ = nested_tests(undirected)
    assert [(t.small, t.large, t.df) for t in found] == [(t.small, t.large, t.df) for t in expected]
    np.testing.assert_allclose([t.test.G2 for t in found], [t.test.G2 for t in expected], rtol=1e-6, atol=1e-6)


def rows(n: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    return {"x": x, "y": x + rng.normal(size=n), "z": rng.normal(size=n)}


def test_normal_models_directed_and_undirected_are_nested() -> None:
    models = {
        "collider": sf.DAG("x -> y <- z"),
        "chain": sf.DAG("x -> y -> z"),
        "graph": sf.GaussianMarkov("x:y + y:z"),
        "one edge": sf.GaussianMarkov({"x": ["y"], "y": ["x"], "z": []}),
        "all": sf.MultivariateNormal(["x", "y", "z"]),
    }
    found = sf.compare(models, rows(), folds=None)
    assert {(t.small, t.large): t.df for t in found.tests} == {
        ("collider", "all"): 1,
        ("chain", "all"): 1,
        ("graph", "all"): 1,
        ("one edge", "collider"): 1,
        ("one edge", "chain"): 1,
        ("one edge", "graph"): 1,
        ("one edge", "all"): 2,
    }
    assert "'chain' and 'graph' say the same" in str(found)


def test_the_test_of_one_regression_is_that_of_its_correlation() -> None:
    data = rows()
    found = sf.compare({"free": sf.DAG("x; y; z"), "edge": sf.DAG("x -> y; z")}, data, folds=None)
    r = np.corrcoef(data["x"], data["y"])[0, 1]
    assert found.tests[0].test.G2 == pytest.approx(-300 * np.log(1 - r**2), rel=1e-9)  # noqa: SIM300


def test_mixed_networks_are_nested_by_their_parents_only() -> None:
    data = {**rows(), "A": np.where(rows()["x"] > 0, "h", "l").tolist()}
    models = {
        "free": sf.DAG("A; x; y; z"),
        "edge": sf.DAG("A -> x; y; z"),
        "two": sf.DAG("A -> x; A -> y; z"),
        "other": sf.DAG("A; z -> y; x"),
    }
    found = sf.compare(models, data, folds=None)
    assert [(t.small, t.large, t.df) for t in found.tests] == [
        ("free", "edge", 2),
        ("free", "two", 4),
        ("free", "other", 1),
        ("edge", "two", 2),
    ]


def test_what_is_no_maximum_of_a_likelihood_is_not_tested() -> None:
    data = rows()
    small, large = sf.DAG("x; y; z"), sf.DAG("x -> y; z")
    for settings_ in (
        {"prior": sf.NormalInverseGamma(3.0, 1.0)},
        {"fixed": {"z": {"intercept": 0.0, "coefficients": [], "sd": 1.0}}},
    ):
        models = {"small": small, "large": {"structure": large, **settings_}}
        assert sf.compare(models, data, folds=None).tests == ()
    for structure in (sf.DAG("x -> y; z", divisor="n-p"), sf.DAG("x -> y; z", tie=[("x", "z")])):
        assert sf.compare({"small": small, "large": structure}, data, folds=None).tests == ()


def test_zeros_leave_fewer_degrees_of_freedom_and_are_noted() -> None:
    table = sf.Contingency([[[9, 0], [5, 7]], [[0, 0], [8, 6]]], {"A": ["0", "1"], "B": ["0", "1"], "C": ["0", "1"]})
    models = {"collider": sf.DAG("A -> C <- B"), "free": sf.DAG("A; B; C"), "all": sf.Cliques("A:B:C")}
    found = sf.compare(models, table, folds=None, unseen_parents="nan")
    test = next(t for t in found.tests if (t.small, t.large) == ("free", "collider"))
    assert (test.df, test.test.df) == (3, found["collider"].n_free_adjusted - 3)
    assert "Zeros in the counts leave other degrees of freedom" in str(found)
    assert f"3 ({test.test.df})" in str(found)
