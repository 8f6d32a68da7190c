"""u-terms: the logarithm of a Markov random field term by term; and the two forms of a decomposable one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.models.cpds.tabular import TabularCPD

STATES = {"A": ["x", "y"], "B": [1, 2, 3], "C": ["no", "yes"], "D": ["p", "q"]}
SCOPES = (("A",), ("B",), ("B", "A"), ("C", "B"), ("A", "C"), ("C", "A", "B"), ("D", "B"), ())


def grid() -> dict[str, list[Any]]:
    cells = list(itertools.product(*STATES.values()))
    return {name: [cell[axis] for cell in cells] for axis, name in enumerate(STATES)}


@st.composite
def networks(draw: st.DrawFn) -> sf.MarkovNetwork:
    scopes = draw(st.lists(st.sampled_from(SCOPES), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    factors = [(scope, np.exp(rng.normal(0, 2, [len(STATES[name]) for name in scope]))) for scope in scopes]
    return sf.MarkovNetwork(factors, schema=STATES)


def naive_terms(log_p: np.ndarray, constraint: str) -> dict[tuple[int, ...], np.ndarray]:
    """Take the terms of a joint table by inclusion and exclusion, from its definition."""

    def level(kept: tuple[int, ...]) -> np.ndarray:
        others = tuple(axis for axis in range(log_p.ndim) if axis not in kept)
        if constraint == "sum":
            return log_p.mean(axis=others, keepdims=True)
        index = tuple(slice(None) if axis in kept else slice(0, 1) for axis in range(log_p.ndim))
        return log_p[index]

    found = {}
    for n in range(log_p.ndim + 1):
        for term in itertools.combinations(range(log_p.ndim), n):
            parts = [(-1) ** (n - k) * level(part) for k in range(n + 1) for part in itertools.combinations(term, k)]
            found[term] = sum(parts)
    return found


@pytest.mark.parametrize("constraint", ["sum", "corner"])
@given(network=networks(), total=st.sampled_from([1.0, 250.0]))
def test_terms_are_those_of_the_joint_table(constraint: str, network: sf.MarkovNetwork, total: float) -> None:
    terms = network.u_terms(constraint, total=total)
    log_p = (network.log_prob(grid()) + math.log(total)).reshape([len(states) for states in STATES.values()])
    names = tuple(STATES)
    expected = naive_terms(log_p, constraint)
    assert len(expected) == 2 ** len(names)
    for axes, table in expected.items():
        term = tuple(names[axis] for axis in axes)
        if not term:
            assert terms.constant == pytest.approx(float(table.item()), abs=1e-9)
        elif term in terms:
            np.testing.assert_allclose(terms[term].values, table.reshape(terms[term].values.shape), atol=1e-9)
        else:
            assert np.abs(table).max() < 1e-9


def test_terms_are_the_subsets_of_scopes_in_the_order_of_the_schema() -> None:
    network = sf.MarkovNetwork([(("C", "A"), np.ones((2, 2)))], schema=STATES)
    assert list(network.u_terms()) == [("A",), ("B",), ("C",), ("D",), ("A", "C")]
    assert network.u_terms()["C", "A"].names == ("A", "C")
    assert not network.u_terms()["B"].values.any()  # a variable in no factor is uniform


def test_terms_are_a_mapping_by_names() -> None:
    network = sf.MarkovNetwork([(("A", "C"), [[1, 2], [3, 4]])], schema=STATES)
    terms = network.u_terms()
    assert len(terms) == len(dict(terms)) == 5
    assert terms["A"] is terms["A",]
    assert ("A", "B") not in terms
    assert 3 not in terms
    for wrong in (3, "E", ("A", "A"), ("A", "B"), (), ("A", ["C"])):
        with pytest.raises(sf.UnknownNameError, match="There is no term"):
            terms[wrong]  # type: ignore[index]


def test_a_frame_has_every_number_once() -> None:
    network = sf.MarkovNetwork([(("A", "C"), [[1, 2], [3, 4]])], schema={"A": STATES["A"], "C": STATES["C"]})
    frame = network.u_terms("corner", total=10).to_frame("pandas")
    assert frame["term"].tolist() == ["(constant)"] + ["A"] * 2 + ["C"] * 2 + ["A:C"] * 4
    assert frame["states"].tolist() == ["", "x", "y", "no", "yes", "x:no", "x:yes", "y:no", "y:yes"]
    expected = [0, 0, math.log(3), 0, math.log(2), 0, 0, 0, math.log(4 / 6)]
    assert frame["u"].tolist() == pytest.approx(expected, abs=1e-12)


def test_print_shows_terms_and_cuts_many() -> None:
    small = sf.MarkovNetwork([(("A", "C"), [[1, 2], [3, 4]])], schema=STATES)
    assert "u(A, C)" in str(small.u_terms())
    assert "log(100 p)" in str(small.u_terms(total=100))
    names = [f"v{n}" for n in range(30)]
    many = sf.MarkovNetwork([((name,), [1, 2]) for name in names], schema={name: [0, 1] for name in names})
    assert "… 10 more terms" in str(many.u_terms())
    assert "… 10 more terms" in many.u_terms()._repr_html_()


def test_terms_of_many_variables_need_no_joint_table() -> None:
    names = [f"v{n}" for n in range(200)]
    agree = [[2.0, 1.0], [1.0, 2.0]]
    chain = sf.MarkovNetwork(
        [(pair, agree) for pair in itertools.pairwise(names)], schema={name: [0, 1] for name in names}
    )
    terms = chain.u_terms("corner")
    assert terms["v7", "v8"].values[1, 1] == pytest.approx(2 * math.log(2))
    assert terms.constant == pytest.approx(float(chain.log_prob({name: [0] for name in names})[0]))


def test_zero_potentials_have_no_terms() -> None:
    network = sf.MarkovNetwork([(("A", "C"), [[1, 0], [3, 0]]), (("C",), [1, 1])], schema=STATES)
    with pytest.raises(sf.ModelError, match=r"\['A', 'C'\] is zero at A='x', C='yes' and 1 other cells.*infinite"):
        network.u_terms()


@pytest.mark.parametrize("total", [0, -1, math.inf, math.nan, "x", True])
def test_totals_are_positive_numbers(total: Any) -> None:
    with pytest.raises(sf.ArgumentError, match="'total'"):
        sf.MarkovNetwork([(("A",), [1, 1])], schema=STATES).u_terms(total=total)


# Two forms ----------------------------------------------------------------------------------------------------


def decomposable(seed: int, zeros: float = 0.0) -> sf.MarkovNetwork:
    rng = np.random.default_rng(seed)
    factors = []
    for scope in (("B", "A", "C"), ("C", "D"), ("D",)):
        table = rng.gamma(1.0, size=[len(STATES[name]) for name in scope])
        factors.append((scope, np.where(rng.random(table.shape) < zeros, 0.0, table)))
    return sf.MarkovNetwork(factors, schema=STATES)


@given(seed=st.integers(0, 2**20))
def test_a_decomposable_network_is_a_bayesian_network(seed: int) -> None:
    network = decomposable(seed)
    directed = network.to_bayesian_network()
    assert directed.notes == ()
    np.testing.assert_allclose(directed.log_prob(grid()), network.log_prob(grid()), rtol=0, atol=1e-10)
    back = directed.to_markov_network()
    np.testing.assert_allclose(back.log_prob(grid()), network.log_prob(grid()), rtol=0, atol=1e-10)
    assert back.log_z == pytest.approx(0, abs=1e-10)


@given(seed=st.integers(0, 2**20))
def test_impossible_parents_have_unknown_or_uniform_rows(seed: int) -> None:
    network = decomposable(seed, zeros=0.3)
    try:
        log_p = network.log_prob(grid())
    except sf.ModelError:  # all of it is impossible
        return
    uniform, unknown = network.to_bayesian_network("uniform"), network.to_bayesian_network()
    np.testing.assert_allclose(uniform.log_prob(grid()), log_p, rtol=0, atol=1e-10)
    np.testing.assert_allclose(uniform.to_markov_network().log_prob(grid()), log_p, rtol=0, atol=1e-10)
    possible = log_p > -np.inf
    np.testing.assert_allclose(unknown.log_prob(grid())[possible], log_p[possible], rtol=0, atol=1e-10)
    lost = sum(int(np.isnan(cpd.values).any(axis=1).sum()) for cpd in unknown.cpds if isinstance(cpd, TabularCPD))
    assert (lost > 0) == bool(unknown.notes) == bool(uniform.notes)
    if lost:
        assert "probability zero" in unknown.notes[-1]
        with pytest.raises(sf.ModelError, match=r"unknown row.*\(NaN\)"):
            unknown.to_markov_network()


def test_what_is_not_decomposable_is_no_bayesian_network() -> None:
    around = [(("A", "C"), np.ones((2, 2))), (("C", "D"), np.ones((2, 2))), (("A", "D"), np.ones((2, 2)))]
    with pytest.raises(sf.StructureError, match="no clique holds all of them"):
        sf.MarkovNetwork(around, schema=STATES).to_bayesian_network()


@given(seed=st.integers(0, 2**20))
def test_a_bayesian_network_is_a_product_of_its_families(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = {
        "A": rng.dirichlet(np.ones(2)),
        "B": rng.dirichlet(np.ones(3)),
        "C": rng.dirichlet(np.ones(2), size=(2, 3)),
        "D": rng.dirichlet(np.ones(2), size=2),
    }
    network = sf.BayesianNetwork(sf.DAG("A -> C <- B; C -> D"), tables, schema=STATES)
    found = network.to_markov_network()
    assert set(found.scopes) == {("A",), ("B",), ("A", "B", "C"), ("C", "D")}
    order = network.log_prob(grid())
    np.testing.assert_allclose(found.log_prob(grid()), order, rtol=0, atol=1e-12)


def test_fits_of_both_forms_agree() -> None:
    """The closed-form fit of a decomposable model is the fit of its DAG."""
    rng = np.random.default_rng(5)
    data = {name: rng.choice(states, 300) for name, states in STATES.items()}
    cliques = sf.Cliques("A:B:C + C:D")
    by_cliques = sf.fit(cliques, data, schema=STATES).model.to_bayesian_network()
    by_dag = sf.fit(cliques.to_dag(), data, schema=STATES).model
    for node in STATES:
        np.testing.assert_allclose(by_cliques.cpd(node).values, by_dag.cpd(node).values, atol=1e-13)
