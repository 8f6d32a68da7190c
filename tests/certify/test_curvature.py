"""Second derivatives of conditional random fields, which their certificates take, are exact and keep their digits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.audit.families import FAMILIES
from tests.audit.family import certify_as_claimed, drawn
from tests.audit.multinomial import second_derivatives
from tests.audit.sequences import chain_cases
from tests.inference.graph_twin import graph_lists
from tests.learn.test_graph_crf import LABEL, STRUCTURE, table_of
from tests.models.chain_twin import KINDS, OPTIONS, Toy, named, toys

from suffice.certify import chain as chains
from suffice.certify import chain_recursions, graph_crf_twin
from suffice.certify import graph_crf as graphs
from suffice.certify.elastic_decrement import ElasticCurvature
from suffice.families.proof import certify
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_layout import layout_of
from suffice.stats.needs import Sum
from suffice.stats.source import BlockSource
from suffice.structures.label_chain import LocalChain

STEP = 1e-5


def chain_gap(toy: Toy, model: Any) -> Any:
    size, k = model.layout.size, model.label.n_states
    sums = BlockSource(toy.table).reduce(chains.ChainRecount(model))[Sum(chains.NAME, 2 + 2 * size + k)].values
    return -sums[2 : 2 + size]


def chain_products(toy: Toy, model: Any, directions: Any) -> Any:
    task = chains.ChainRecountAlong(model, directions)
    return np.array(BlockSource(toy.table).reduce(task)[Sum(task.name, directions.size)].values).reshape(
        directions.shape
    )


@settings(max_examples=60)
@given(toys(), KINDS, OPTIONS, st.integers(0, 99))
def test_products_of_a_chain_are_those_of_differences(toy: Toy, kind: Any, options: dict[str, Any], seed: int) -> None:
    model = toy.model(toy.structure(kind, **options), seed)
    directions = np.random.default_rng(seed).normal(size=(model.layout.size, 3))
    sides = [
        [chain_gap(toy, dataclasses.replace(model, weights=model.weights + sign * STEP * d)) for d in directions.T]
        for sign in (1, -1)
    ]
    differences = (np.array(sides[0]) - np.array(sides[1])).T / (2 * STEP)
    np.testing.assert_allclose(chain_products(toy, model, directions), differences, atol=1e-6)


@settings(max_examples=60)
@given(toys(), KINDS, OPTIONS, st.integers(0, 99), st.sampled_from([0.1, 3.0, 10.0]))
def test_second_derivatives_of_a_chain_keep_their_digits(
    toy: Toy, kind: Any, options: dict[str, Any], seed: int, scale: float
) -> None:
    """Also where labels are all but certain, and second derivatives a tiny part of the features' squares."""
    model = toy.model(toy.structure(kind, **options), seed, scale)
    size = model.layout.size
    found = ElasticCurvature(lambda along: chain_products(toy, model, along), np.zeros(size), 1.0).matrix
    wanted = np.zeros((size, size))
    for features, counts in chain_cases(toy, named(model.layout), kind is LocalChain):
        wanted += second_derivatives(features, model.weights, counts.sum())
    units = np.sqrt(np.diag(wanted))
    assert (np.abs(found - wanted) <= 1e-12 * np.outer(units, units) + 1e-300).all()


def test_batches_and_blocks_change_no_product(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    lengths = [4, 3, 0, 5, 1, 1, 9]
    states = [[[(int(rng.integers(4)), 1.0)] for _ in range(n)] for n in lengths]
    steps = [[[(int(rng.integers(2)), float(rng.normal()))] for _ in range(n)] for n in lengths]
    toy = Toy(3, states, [rng.integers(0, 3, n).tolist() for n in lengths], steps)
    model = toy.model(toy.structure(boundaries=True))
    directions = rng.normal(size=(model.layout.size, 5))
    whole = chain_products(toy, model, directions)
    for cells in (1, 200, 2000):
        monkeypatch.setattr(chain_recursions, "CELLS", cells)
        monkeypatch.setattr(chains, "CELLS", cells)
        np.testing.assert_allclose(chain_products(toy, model, directions), whole, atol=1e-12)


@settings(max_examples=60)
@given(graph_lists(), st.integers(0, 99), st.booleans(), st.sampled_from([0, 1 << 10]), st.booleans())
def test_products_of_a_graph_are_those_of_differences(
    drawn_graphs: Any, seed: int, is_pseudo: bool, most: int, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    table = table_of(drawn_graphs, seed, rng.integers(0, 4, len(drawn_graphs)) if weighted else None)
    layout = layout_of(STRUCTURE, 2, np.ones(3 * 2 + 2 * (4 + 8 + 2)))
    model = GraphModel(STRUCTURE, LABEL, layout, rng.normal(size=layout.size), np.ones(layout.size))
    source, directions = BlockSource(table), rng.normal(size=(layout.size, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_crf_twin, "MOST_LABELLINGS", most)
        task = graphs.GraphRecountAlong(model, directions, is_pseudo)
        found = np.array(source.reduce(task)[Sum(task.name, directions.size)].values).reshape(directions.shape)
        differences = np.zeros(directions.shape)
        for place, direction in enumerate(directions.T):
            for sign in (1, -1):
                there = dataclasses.replace(model, weights=model.weights + sign * STEP * direction)
                recount = graphs.GraphRecount(there, is_pseudo)
                sums = source.reduce(recount)[Sum(graphs.NAME, 2 + sum(recount.sizes))].values
                differences[:, place] += sign * sums[2 : 2 + layout.size] / (2 * STEP)
        np.testing.assert_allclose(found, differences, atol=1e-6)


def test_large_graphs_have_the_products_of_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where labels are all but certain, to the last digits."""
    rings = [(4, [[(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1, 2)], [(3,)]]), (3, [[(0, 1)], [], []])]
    table = table_of(rings * 3, 2)
    layout = layout_of(STRUCTURE, 2, np.ones(3 * 2 + 2 * (4 + 8 + 2)))
    weights = 20 * np.random.default_rng(0).normal(size=layout.size)
    model = GraphModel(STRUCTURE, LABEL, layout, weights, np.ones(layout.size))
    found = []

    def products(along: Any) -> Any:
        task = graphs.GraphRecountAlong(model, along, False)
        return np.array(BlockSource(table).reduce(task)[Sum(task.name, along.size)].values).reshape(along.shape)

    for most in (1 << 10, 0):
        monkeypatch.setattr(graph_crf_twin, "MOST_LABELLINGS", most)
        found.append(ElasticCurvature(products, np.zeros(layout.size), 1.0).matrix)
    units = np.sqrt(np.diag(found[0]))
    assert (np.abs(found[1] - found[0]) <= 1e-12 * np.outer(units, units) + 1e-300).all()
    assert 0 < units[units > 0].min() < 1e-5


def test_few_second_derivatives_are_written_out() -> None:
    matrix = np.diag([1.0, 2.0])
    few = ElasticCurvature(lambda along: matrix @ along, np.ones(2), 1.0)
    many = ElasticCurvature(lambda along: matrix @ along, np.ones(2), 1e9)
    assert many.matrix is None
    np.testing.assert_array_equal(few.matrix, matrix)
    for curvature in (few, many):
        assert curvature.times(np.array([1.0, 1.0])).tolist() == [1.0, 2.0]


@pytest.mark.filterwarnings("ignore")
def test_a_small_price_along_a_nearly_flat_direction_is_seen() -> None:
    """The curvature is less than 10⁻⁶ of the diagonal: the audit with seed 1011 found this change certified."""
    family = next(family for family in FAMILIES if family.name == "chain CRF, L1")
    claim, fit, _ = drawn(family, 1011, 59)
    assert fit.certificate.ok
    weights = np.array(claim.model.weights)
    assert weights[16] == 0
    weights[16] = 2.6494e-05
    model = dataclasses.replace(claim.model, weights=weights)
    found, cost = certify_as_claimed(claim, model), family.cost(claim, model)
    assert cost > 0.05
    assert not found.ok
    assert found.decrement == pytest.approx(cost, rel=1e-2)
    assert certify(claim).ok
