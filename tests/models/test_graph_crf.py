"""Conditional random fields on graphs as models: which weights there are, and what they make of graphs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.inference.graph_twin import SIZES, attributes, coded, enumerated, graph_lists, labellings

from suffice.data.attributes import Vocabulary
from suffice.data.graph_codes import CliqueRows, GraphTable, LabelledGraphs
from suffice.data.variable import Variable
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_information import covariance, information, shortest
from suffice.models.graph_layout import GraphLayout, layout_of
from suffice.result.graph_weights import graph_weights
from suffice.structures.label_graph import CliqueKind, LabelGraph

KINDS = tuple(
    CliqueKind(name, size, Vocabulary(("c0", "c1")))
    for name, size in zip(("pair", "triple", "one"), SIZES, strict=True)
)
NODES = Vocabulary(("a", "b", "c"))


def structure(**options: Any) -> LabelGraph:
    return LabelGraph(NODES, KINDS, **options)


def n_cells(k: int) -> int:
    return 3 * k + sum(2 * k**size for size in SIZES)


def some_model(k: int, seed: int, sizes: Any = None, **options: Any) -> GraphModel:
    made = structure(**options)
    layout = layout_of(made, k, np.ones(n_cells(k)) if sizes is None else sizes)
    weights = np.random.default_rng(seed).normal(size=layout.size)
    return GraphModel(made, Variable("label", tuple("xyz"[:k])), layout, weights, np.ones(layout.size))


def naive_factors(model: GraphModel, graphs: LabelledGraphs) -> list[np.ndarray]:
    """Return the factors, each weight looked up by what it belongs to."""
    held = {(name.kind, name.attribute, name.labels): w for name, w in zip(model.names(), model.weights, strict=True)}
    parts = [("node", 1, NODES, graphs.states)]
    parts += [
        (kind.name, kind.size, kind.vocabulary, rows.attributes)
        for kind, rows in zip(KINDS, graphs.cliques, strict=True)
    ]
    found = []
    for name, size, vocabulary, rows in parts:
        table = np.zeros((rows.n_rows, *(model.label.n_states,) * size))
        for row in range(rows.n_rows):
            for entry in range(rows.starts[row], rows.starts[row + 1]):
                for codes in np.ndindex(table.shape[1:]):
                    labels = tuple(model.label.labels[code] for code in codes)
                    if model.structure.symmetric:
                        labels = tuple(sorted(labels))
                    weight = held.get((name, vocabulary.name(int(rows.codes[entry])), labels), 0.0)
                    table[(row, *codes)] += weight * (1.0 if rows.values is None else rows.values[entry])
        found.append(table.reshape(rows.n_rows, model.label.n_states**size))
    return found


class TestLayout:
    @given(graph_lists(), st.integers(2, 3), st.booleans(), st.integers(0, 99))
    def test_factors_are_sums_of_weights_by_name(self, graphs: Any, k: int, symmetric: bool, seed: int) -> None:
        rng = np.random.default_rng(seed)
        model = some_model(k, seed, rng.integers(0, 3, n_cells(k)), symmetric=symmetric, cliques="observed", min_freq=1)
        held = coded(graphs, rng)
        p = model.potentials(held)
        for part, wanted in zip((p.nodes, *p.cliques), naive_factors(model, held), strict=True):
            np.testing.assert_allclose(part, wanted, atol=1e-12)

    @given(graph_lists(), st.booleans(), st.integers(0, 99))
    def test_sums_of_features_are_the_transpose(self, graphs: Any, symmetric: bool, seed: int) -> None:
        rng = np.random.default_rng(seed)
        model = some_model(2, seed, rng.integers(0, 2, n_cells(2)), symmetric=symmetric, states="observed")
        held = coded(graphs, rng)
        some = model.layout.potentials(held, rng.normal(size=model.layout.size))
        p = model.potentials(held)
        inner = sum(
            float((a * b).sum()) for a, b in zip((p.nodes, *p.cliques), (some.nodes, *some.cliques), strict=True)
        )
        assert model.layout.pulled(some) @ model.weights == pytest.approx(inner, abs=1e-9)

    def test_only_what_occurs_often_enough_has_a_weight(self) -> None:
        sizes = np.arange(float(n_cells(2)))
        assert layout_of(structure(), 2, sizes).size == n_cells(2)
        assert layout_of(structure(states="observed"), 2, sizes).size == n_cells(2) - 1
        assert layout_of(structure(min_freq=3), 2, sizes).size == n_cells(2) - 3
        layout = layout_of(structure(states="observed", min_freq=5), 2, sizes)
        assert (layout.index >= 0).tolist() == (sizes >= 5).tolist()

    def test_symmetric_cells_share_a_weight_and_their_counts(self) -> None:
        sizes = np.zeros(n_cells(2))
        sizes[7] = 1.0  # of c0 of a pair with (x, y)
        layout = layout_of(structure(symmetric=True, cliques="observed"), 2, sizes)
        assert layout.index[6:10].tolist() == [-1, 6, 6, -1]

    def test_arrays_bring_the_layout_back(self) -> None:
        layout = layout_of(structure(symmetric=True, cliques="observed"), 2, np.arange(n_cells(2)) % 3)
        again = GraphLayout.from_arrays(layout.to_arrays())
        assert again.shapes == layout.shapes
        assert again.size == layout.size
        assert again.index.tolist() == layout.index.tolist()


class TestModel:
    @given(graph_lists(), st.integers(0, 99))
    def test_log_probabilities_are_those_of_all_labellings(self, graphs: Any, seed: int) -> None:
        rng = np.random.default_rng(seed)
        model, held = some_model(2, seed), coded(graphs, rng)
        held = held.labelled(rng.integers(0, 2, held.n_nodes))
        log_z, shares = enumerated(model.potentials(held))
        assert held.labels is not None
        for graph, found in enumerate(model.log_prob(held)):
            every, scores = labellings(model.potentials(held), graph)
            own = tuple(held.labels[held.offsets[graph] : held.offsets[graph + 1]].tolist())
            assert found == pytest.approx(scores[every.index(own)] - log_z[graph], abs=1e-9)
        np.testing.assert_allclose(model.marginals(held), shares.nodes, atol=1e-10)
        np.testing.assert_array_equal(model.log_prob(GraphTable(held, model.label)), model.log_prob(held))

    def test_parts_bring_the_model_back(self) -> None:
        rng = np.random.default_rng(0)
        model, held = some_model(3, 1, symmetric=True), coded([(3, [[(0, 1)], [(0, 1, 2)], []])], rng)
        meta, arrays = model.to_parts()
        again = GraphModel.from_parts(json.loads(json.dumps(meta)), arrays)
        assert again.structure == model.structure
        np.testing.assert_array_equal(again.marginals(held), model.marginals(held))
        assert again.names() == model.names()

    def test_draws_are_reproducible_by_seed(self) -> None:
        model, held = some_model(2, 1), coded([(4, [[(0, 1)], [], []])] * 3, np.random.default_rng(0))
        assert model.sample(held, 2, seed=4).tolist() == model.sample(held, 2, seed=4).tolist()
        assert model.sample(held, 9, seed=4).shape == (9, 12)

    def test_weights_say_what_they_belong_to(self) -> None:
        model = some_model(2, 1, symmetric=True)
        names = [str(name) for name in model.names()]
        assert names[0] == "'a' of a node with 'x'"
        assert names[7] == "'c0' of a pair with 'x', 'y'"
        assert repr(model) == f"GraphCRF(2 labels, {len(names)} weights)"


class TestInformation:
    def test_it_is_the_covariance_of_the_features(self) -> None:
        rng = np.random.default_rng(2)
        held = coded([(3, [[(0, 1), (1, 2)], [(0, 1, 2)], [(2,)]]), (2, [[(1, 0)], [], []])], rng)
        model = some_model(2, 3)
        by_graph = np.array([2.0, 0.5])
        wanted = np.zeros((model.layout.size,) * 2)
        for graph in range(2):
            one = held.part(graph, graph + 1)
            every, scores = labellings(model.potentials(one), 0)
            shares = np.exp(scores - np.logaddexp.reduce(scores))
            features = np.array([self.features(model, one, labels) for labels in every])
            around = features - shares @ features
            wanted += by_graph[graph] * (around.T * shares) @ around
        np.testing.assert_allclose(information(model, held, by_graph), wanted, atol=1e-10)

    def features(self, model: GraphModel, graph: LabelledGraphs, labels: tuple[int, ...]) -> np.ndarray:
        """Return the features of one labelling: how its score changes with every weight."""
        found = []
        for unit in np.eye(model.layout.size):
            every, scores = labellings(model.layout.potentials(graph, unit), 0)
            found.append(scores[every.index(labels)])
        return np.array(found)

    def test_shortest_weights_have_the_same_probabilities(self) -> None:
        rng = np.random.default_rng(2)
        held = coded([(3, [[(0, 1), (1, 2)], [(0, 1, 2)], [(2,)]])] * 2, rng)
        model = some_model(2, 3)
        known, units = information(model, held), rng.random(model.layout.size) + 0.5
        short = shortest(known, units, model.weights)
        other = GraphModel(model.structure, model.label, model.layout, short, units)
        np.testing.assert_allclose(other.marginals(held), model.marginals(held), atol=1e-10)
        assert np.linalg.norm(short * units) < np.linalg.norm(model.weights * units)
        np.testing.assert_allclose(known @ covariance(known, units) @ known, known, atol=1e-8)

    def test_a_table_has_errors_only_where_they_are_known(self) -> None:
        model = some_model(2, 3)
        plain = graph_weights(model)
        assert "std. error" not in str(plain)
        assert list(plain.to_frame("pandas").columns) == ["kind", "attribute", "labels", "estimate"]
        errors = np.full(model.layout.size, 0.5)
        errors[0] = 0.0
        table = graph_weights(model, errors, 0.9)
        assert "90 % from" in str(table)
        assert table.z[1] == pytest.approx(model.weights[1] / 0.5)
        assert table.upper[1] == pytest.approx(model.weights[1] + 1.6448536 * 0.5)
        assert len(table.to_frame("pandas")) == len(table) == model.layout.size
        assert table._repr_html_().count("<tr>") == model.layout.size + 1

    def test_long_tables_are_cut_where_they_are_printed(self) -> None:
        many = LabelGraph(Vocabulary(tuple(f"a{i}" for i in range(100))))
        layout = layout_of(many, 2, np.ones(200))
        model = GraphModel(many, Variable("y", ("u", "v")), layout, np.zeros(200), np.ones(200))
        assert "… 140 more rows" in str(graph_weights(model))


class TestStructure:
    def test_dicts_bring_the_structure_back(self) -> None:
        made = structure(symmetric=True, states="observed", min_freq=2.0)
        assert LabelGraph.from_dict(json.loads(json.dumps(made.to_dict()))) == made
        assert repr(made).startswith(
            "LabelGraph(Vocabulary(3 names), kinds=['pair', 'triple', 'one'], states='observed'"
        )
        assert str(made) == "conditional random field of label over 3 attributes; pair, triple, one"
        assert made.columns == ("label",)


def test_repeated_attributes_of_a_row_add_up() -> None:
    rows = CliqueRows(np.array([0, 1]), np.array([[0, 1]]), attributes(np.random.default_rng(1), 1, 2))
    assert rows.matrix.toarray().sum() == pytest.approx(np.sum(rows.attributes.values))
