"""Models of a thousand variables print on one screen, and answers display numbers with the names of all variables."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import suffice as sf
from suffice.models.joint_normal import JointNormal
from suffice.models.marginals import Marginals

N = 1_100
SCREEN = 70  # lines


def chain_of(n: int) -> sf.BayesianNetwork:
    names = [f"v{k}" for k in range(n)]
    tables = {name: [0.5, 0.5] if k == 0 else [[0.9, 0.1], [0.2, 0.8]] for k, name in enumerate(names)}
    dag = sf.DAG(list(itertools.pairwise(names)))
    return sf.BayesianNetwork(dag, tables, schema={name: ["no", "yes"] for name in names})


def assert_small(thing: object) -> None:
    assert len(str(thing).splitlines()) <= SCREEN
    assert len(str(thing)) < 6_000
    assert len(repr(thing)) < 6_000
    assert len(thing._repr_html_()) < 60_000  # type: ignore[attr-defined]


def test_a_network_of_a_thousand_nodes_prints_on_one_screen() -> None:
    model = chain_of(N)
    assert_small(model)
    assert str(model).splitlines()[-1].endswith("more tables; model.cpd(name) shows one")
    assert str(model).startswith("p(v0)")
    shown = str(model).count("p(v")
    assert f"… {N - shown:,} more tables" in str(model)


def test_a_small_network_prints_whole() -> None:
    assert "more table" not in str(chain_of(8))


def test_a_large_fit_prints_on_one_screen() -> None:
    rng = np.random.default_rng(0)
    names = [f"v{k}" for k in range(300)]
    data = dict(zip(names, rng.integers(0, 2, (300, 50)), strict=True))
    fit = sf.fit(sf.DAG(list(itertools.pairwise(names))), data, prior=sf.K2())
    assert len(str(fit).splitlines()) <= SCREEN + 10
    assert len(repr(fit)) < 2_000
    assert len(fit._repr_html_()) < 60_000


def test_fields_print_on_one_screen() -> None:
    names = [f"v{k}" for k in range(N)]
    schema = {name: ["no", "yes"] for name in names}
    factors = [(pair, np.ones((2, 2))) for pair in itertools.pairwise(names)]
    tables = [
        sf.LabelledTable(tuple(sf.Variable(name, ("no", "yes")) for name in pair), values) for pair, values in factors
    ]
    model = sf.MarkovNetwork(tables, schema=schema)
    assert_small(model)
    assert "model.factors has all" in str(model)


def test_normal_distributions_print_on_one_screen() -> None:
    model = JointNormal([f"v{k}" for k in range(N)], np.zeros(N), covariance=np.eye(N))
    assert_small(model)
    assert f"… {N - 40:,} more variables" in str(model)


@pytest.mark.parametrize("n", [40, 41])
def test_of_more_than_forty_variables_the_first_forty_are_shown(n: int) -> None:
    shown = str(JointNormal([f"v{k}" for k in range(n)], np.zeros(n), covariance=np.eye(n)))
    assert [f"v{k} " in shown for k in (39, 40)] == [True, False]
    assert ("… 1 more variable\n" in shown) is (n == 41)


def test_classifiers_print_on_one_screen() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (30, 400)).astype(str)
    model = sf.NaiveBayes().fit(x, np.array(["p", "q", "p"] * 10)).model_
    assert_small(model)
    assert "more tables" in model._repr_html_()


# Answers ------------------------------------------------------------------------------------------------------


def test_joint_answers_name_every_variable() -> None:
    answer = chain_of(3).query(["v0", "v2"])
    lines = str(answer).splitlines()
    assert lines[0].split() == ["v2"]
    assert lines[1].split() == ["v0", "no", "yes"]
    assert lines[0].index("v2") == len("v0   ")
    page = answer._repr_html_()
    assert '<th colspan="2" style="text-align:left">v2</th>' in page
    assert f"{100 * answer.values[0, 0]:.4g}%" in page


def test_bars_are_as_long_as_probabilities() -> None:
    page = chain_of(3).query("v1")._repr_html_()
    assert page.count("linear-gradient") == 2
    assert "55%" in page
    counts = sf.LabelledTable((sf.Variable("A", ("x", "y")),), np.array([3, 4]), "count")
    assert "linear-gradient" not in counts._repr_html_()


def test_marginals_are_a_dict_that_shows_numbers() -> None:
    found = chain_of(3).marginals()
    assert isinstance(found, dict)
    assert list(found) == ["v0", "v1", "v2"]
    assert str(found).splitlines()[2:4] == ["v0        no     0.5000", "          yes    0.5000"]
    assert repr(found) == str(found)
    assert found._repr_html_().count("<tr>") == 7
    assert pickle.loads(pickle.dumps(found))["v1"].values.tolist() == found["v1"].values.tolist()


def test_many_marginals_are_cut_and_long_ones_too() -> None:
    assert_small(chain_of(N).marginals())
    assert "… 1,070 more variables; marginals[name] shows one" in str(chain_of(N).marginals())
    wide = sf.LabelledTable((sf.Variable("A", tuple(range(100))),), np.full(100, 0.01))
    assert "… 40 more states" in str(Marginals({"A": wide, "B": wide}))
    assert "… 1 more variable;" in str(Marginals({"A": wide, "B": wide}))


def test_marginals_of_numbers_are_means_and_deviations() -> None:
    rng = np.random.default_rng(0)
    k = rng.integers(0, 2, 80)
    data = {"k": k.astype(str), "x": 3.0 * k + rng.normal(size=80)}
    found = sf.fit(sf.DAG("k -> x"), data).model.marginals()
    assert "(mixture of 2)" in str(found)
    assert f"mean {float(found['x'].mean[0]):.5g}" in str(found)


@pytest.mark.parametrize("given", [{}, {"v0": "yes"}])
def test_marginals_equal_queries(given: dict[str, str]) -> None:
    model = chain_of(4)
    found = model.marginals(given)
    assert set(found) == set(model.variables) - set(given)
    assert {name: table.values.tolist() for name, table in found.items()} == {
        name: pytest.approx(model.query(name, given).values.tolist()) for name in found
    }
