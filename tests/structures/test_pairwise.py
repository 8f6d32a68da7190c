"""Ising, Boltzmann and Potts: the same distributions however they are written, and their fields and couplings."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.clique_cases import grid_data
from tests.learn.feature_cases import matched, softmax

import suffice as sf
from suffice.structures.feature_structures import features_from_dict

TIES = ["none", "couplings", "fields", "both"]
ROWS = {
    "a": [0, 0, 1, 1, 1, 0, 1, 0, 0, 1],
    "b": [0, 0, 1, 1, 0, 1, 1, 0, 1, 0],
    "c": [0, 1, 1, 0, 0, 1, 1, 0, 0, 1],
    "d": [1, 0, 1, 1, 0, 0, 1, 0, 1, 1],
}
COLOURS = {"a": list("rgbrgbrrgb"), "b": list("rgbrgbgbrg"), "c": list("rgbbgrrrgg")}
SQUARE = "a:b + b:c + c:d + d:a"


def cells(fit: sf.Fit, n: int = 2) -> Any:
    names = fit.structure.variables
    labels = fit.model.schema[names[0]].labels
    rows = list(zip(*itertools.product(labels, repeat=len(names)), strict=True))
    return np.exp(fit.model.log_prob({name: list(column) for name, column in zip(names, rows, strict=True)}))


# Distributions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("fields", [True, False])
@pytest.mark.parametrize("values", [(-1, 1), (0, 1), (2.0, 5.5)])
def test_spins_match_a_brute_force_fit(tie: str, fields: bool, values: tuple[float, float]) -> None:
    fit = sf.fit(sf.Ising(SQUARE, values=values, tie=tie, fields=fields), ROWS, tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    nodes, edges = fit.structure.variables, fit.structure.edges
    spin = np.array([[values[x] for x in row] for row in itertools.product((0, 1), repeat=len(nodes))])
    ones = [spin[:, v] for v in range(len(nodes))] if fields else []
    twos = [spin[:, nodes.index(a)] * spin[:, nodes.index(b)] for a, b in edges]
    columns = [*([sum(ones)] if tie in ("fields", "both") and ones else ones),
               *([sum(twos)] if tie in ("couplings", "both") else twos)]  # fmt: skip
    f = np.column_stack(columns)
    counts = np.zeros(len(spin))
    for row in zip(*(ROWS[name] for name in nodes), strict=True):
        counts[int("".join(map(str, row)), 2)] += 1
    w = matched(f, f.T @ counts / counts.sum())
    np.testing.assert_allclose(cells(fit), softmax(f @ w), atol=1e-8)
    np.testing.assert_allclose(fit.model.weights.to_numpy(), w, rtol=1e-5, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.floats(-3, 3), st.floats(0.1, 5))
@settings(max_examples=15)
def test_what_the_states_count_as_changes_weights_and_not_the_distribution(seed: int, low: float, width: float) -> None:
    rng = np.random.default_rng(seed)
    rows = {name: np.concatenate([rng.integers(0, 2, 40), [0, 0, 1, 1]]) for name in "abcd"}
    spins, bits = sf.fit(sf.Ising(SQUARE), rows, tol=1e-10), sf.fit(sf.Boltzmann(SQUARE), rows, tol=1e-10)
    other = sf.fit(sf.Ising(SQUARE, values=(low, low + width)), rows, tol=1e-10)
    np.testing.assert_allclose(cells(bits), cells(spins), atol=1e-8)
    np.testing.assert_allclose(cells(other), cells(spins), atol=1e-8)
    # x = (s + 1) / 2, so that θ x_i x_j holds θ s_i s_j / 4.
    np.testing.assert_allclose(bits.model.couplings.values, 4 * spins.model.couplings.values, rtol=1e-4, atol=1e-5)


def test_ising_is_the_markov_random_field_of_its_edges() -> None:
    fit = sf.fit(sf.Ising(SQUARE), ROWS, tol=1e-10)
    cliques = sf.fit(sf.Cliques(SQUARE), ROWS, tol=1e-10)
    np.testing.assert_allclose(fit.model.log_prob(ROWS), cliques.model.log_prob(ROWS), atol=1e-7)
    assert fit.n_free == cliques.n_free == 8


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("fields", [True, False])
def test_potts_matches_a_brute_force_fit(tie: str, fields: bool) -> None:
    fit = sf.fit(sf.Potts("a:b + b:c", tie=tie, fields=fields), COLOURS, tol=1e-10)
    assert fit.certificate.ok, fit.certificate.verdict
    labels = fit.model.schema["a"].labels
    rows = list(itertools.product(labels, repeat=3))
    one = [[[float(row[v] == label) for row in rows] for label in labels[1:]] for v in range(3)]
    two = [[float(row[a] == row[b]) for row in rows] for a, b in ((0, 1), (1, 2))]
    flat = [column for node in one for column in node]
    shared = [np.sum([one[v][k] for v in range(3)], axis=0) for k in range(2)]
    columns = [*((shared if tie in ("fields", "both") else flat) if fields else []),
               *([np.sum(two, axis=0)] if tie in ("couplings", "both") else two)]  # fmt: skip
    f = np.column_stack(columns)
    seen = list(zip(*(COLOURS[name] for name in "abc"), strict=True))
    w = matched(f, np.mean([f[rows.index(row)] for row in seen], axis=0))
    np.testing.assert_allclose(cells(fit), softmax(f @ w), atol=1e-8)
    np.testing.assert_allclose(fit.model.weights.to_numpy(), w, rtol=1e-5, atol=1e-6)


def test_potts_with_two_states_is_ising() -> None:
    np.testing.assert_allclose(
        cells(sf.fit(sf.Potts(SQUARE), ROWS, tol=1e-10)), cells(sf.fit(sf.Ising(SQUARE), ROWS, tol=1e-10)), atol=1e-8
    )


# Fields and couplings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tie", TIES)
def test_fields_and_couplings_are_the_weights_as_arrays(tie: str) -> None:
    fit = sf.fit(sf.Ising(SQUARE, tie=tie), ROWS)
    weights, model = fit.model.weights, fit.model
    j = model.couplings.values
    assert np.array_equal(j, j.T)
    assert not np.diag(j).any()
    assert model.couplings[{"variable": "a", "neighbour": "c"}] == 0
    for a, b in fit.structure.edges:
        name = "coupling" if tie in ("couplings", "both") else f"{a}:{b}"
        assert model.couplings[{"variable": b, "neighbour": a}] == weights[name]
    for name in "abcd":
        assert model.fields[{"variable": name}] == weights["field" if tie in ("fields", "both") else name]


@pytest.mark.parametrize("tie", TIES)
def test_fields_of_potts_are_zero_at_the_first_state(tie: str) -> None:
    fit = sf.fit(sf.Potts("a:b + b:c", tie=tie), COLOURS)
    labels = fit.model.schema["a"].labels
    assert fit.model.fields.values.shape == (3, len(labels))
    for name in "abc":
        for code, label in enumerate(labels):
            key = f"field={label}" if tie in ("fields", "both") else f"{name}={label}"
            wanted = fit.model.weights[key] if code else 0.0
            assert fit.model.fields[{"variable": name, "state": label}] == wanted


def test_a_model_without_fields_has_fields_of_zero() -> None:
    assert not sf.fit(sf.Ising(SQUARE, fields=False), ROWS).model.fields.values.any()


def test_other_features_have_no_fields() -> None:
    fit = sf.fit(sf.Features([sf.indicator(a=1), sf.indicator(b=1)]), ROWS)
    for name in ("fields", "couplings"):
        with pytest.raises(sf.ModelError, match=r"sf\.Ising"):
            getattr(fit.model, name)


# Graphs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "graph",
    [
        "a:b + b:c",
        [("a", "b"), ("b", "c")],
        {"a": ["b"], "b": ["a", "c"], "c": ["b"]},
        networkx.Graph([("a", "b"), ("b", "c")]),
        sf.Cliques("a:b + b:c"),
    ],
    ids=["text", "edges", "neighbours", "networkx", "cliques"],
)
@pytest.mark.parametrize("kind", [sf.Ising, sf.Potts, sf.Boltzmann])
def test_graphs_are_read_in_every_form(graph: Any, kind: Any) -> None:
    structure = kind(graph)
    assert structure.variables == ("a", "b", "c")
    assert set(map(frozenset, structure.edges)) == {frozenset("ab"), frozenset("bc")}


def test_isolated_nodes_have_fields() -> None:
    structure = sf.Ising("a:b + z")
    assert structure.variables == ("a", "b", "z")
    fit = sf.fit(structure, {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "z": [0, 1, 1, 1]})
    assert fit.model.query("z").values == pytest.approx([0.25, 0.75])


def test_a_boltzmann_machine_of_one_unit_is_a_coin() -> None:
    fit = sf.fit(sf.Boltzmann(["a"]), {"a": [0, 1, 1, 1]})
    assert fit.model.fields.values == pytest.approx([math.log(3)])


def test_nodes_keep_their_order_in_files() -> None:
    entry = {"type": "Ising", "nodes": ["c", "b", "a"], "edges": [["a", "b"], ["b", "c"]]}
    assert features_from_dict(entry).variables == ("c", "b", "a")
    boltzmann = sf.Boltzmann(["b", "a", "c"])
    assert features_from_dict(json.loads(json.dumps(boltzmann.to_dict()))) == boltzmann


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sf.Ising("a:b:c"), "pairs of names"),
        (lambda: sf.Ising("a:b", values=(1, 1)), "two rising numbers"),
        (lambda: sf.Ising("a:b", values=3), "two rising numbers"),
        (lambda: sf.Ising("a:b", values=(0, math.inf)), "two rising numbers"),
        (lambda: sf.Ising("a:b", tie="all"), "'tie'"),
        (lambda: sf.Boltzmann([]), "different names"),
        (lambda: sf.Boltzmann(["a", "a"]), "different names"),
        (lambda: sf.Ising(3), "Got int"),
        (lambda: sf.fit(sf.Ising("a:b"), {"a": [0, 1, 2], "b": [0, 1, 1]}), "two states"),
        (lambda: sf.fit(sf.Ising("a:b"), {"a": [0, 0], "b": [0, 1]}), "two states"),
        (lambda: sf.fit(sf.Ising("a:b"), {"a": [0.5, 1.5, 2.5], "b": [0, 1, 0]}), "'a' has"),
        (lambda: sf.fit(sf.Potts("a:b"), {"a": [0, 1, 2], "b": [0, 1, 1]}), "share their states"),
    ],
)  # fmt: skip
def test_bad_graphs_and_states_are_refused(call: Any, says: str) -> None:
    with pytest.raises(sf.SufficeError, match=says):
        call()


def test_a_large_grid_is_fitted_and_certified_along_another_order() -> None:
    data = grid_data(12, 12, 400)
    edges = [(f"v{i}_{j}", f"v{i}_{j + 1}") for i in range(12) for j in range(11)]
    edges += [(f"v{i}_{j}", f"v{i + 1}_{j}") for i in range(11) for j in range(12)]
    fit = sf.fit(sf.Ising(edges, tie="couplings"), data)
    assert fit.certificate.ok, fit.certificate.verdict
    assert fit.certificate.exists == "yes"
    assert fit.n_free == len(fit.model.weights) == 145
    assert fit.model.query("v5_5").values[1] == pytest.approx(data["v5_5"].mean(), abs=1e-7)
