"""Graphs as users write them, and what they are in codes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.inference.graph_twin import coded, graph_lists

import suffice as sf
from suffice.data.attributes import no_attributes
from suffice.data.graph_codes import GraphTable, LabelledGraphs
from suffice.data.graph_reading import graph_list, read_graphs
from suffice.data.variable import Variable


def dense(read: Any, kind: int = -1) -> list[list[float]]:
    graphs = read.graphs
    held = graphs.states if kind < 0 else graphs.cliques[kind].attributes
    return held.matrix().toarray().tolist()


class TestCommonGraphs:
    def test_a_chain_joins_neighbours(self) -> None:
        graph = sf.Graph.chain([["a"], ["b"], ["c"]])
        assert graph.cliques == {"step": [((0, 1), None), ((1, 2), None)]}
        assert sf.Graph.chain([["a"]]).cliques == {"step": []}
        assert sf.Graph.chain([]).n_nodes == 0

    def test_skips_may_have_features(self) -> None:
        graph = sf.Graph.skip_chain([["a"], ["b"], ["a"]], {(0, 2): ["same"]})
        assert graph.cliques["skip"] == [((0, 2), ["same"])]
        assert "skip" not in sf.Graph.skip_chain([["a"]], []).cliques

    def test_a_forest_has_several_roots(self) -> None:
        graph = sf.Graph.tree([["a"]] * 4, [None, 0, -1, 2])
        assert graph.cliques == {"branch": [((0, 1), None), ((2, 3), None)]}

    @given(st.integers(1, 8).flatmap(lambda n: st.lists(st.integers(-1, n - 1), min_size=n, max_size=n)))
    def test_trees_lead_every_node_to_a_root(self, parents: list[int]) -> None:
        def depth(node: int) -> int:
            """Return the number of steps to a root, at most as many as there are nodes."""
            steps = 0
            while node >= 0 and steps <= len(parents):
                node, steps = parents[node], steps + 1
            return steps

        nodes = [["a"]] * len(parents)
        if all(depth(node) <= len(parents) for node in range(len(parents))):
            assert len(sf.Graph.tree(nodes, parents).cliques["branch"]) == sum(p >= 0 for p in parents)
            return
        with pytest.raises(sf.ArgumentError, match=r"circle|different whole numbers"):
            sf.Graph.tree(nodes, parents)

    def test_a_long_circle_is_named_in_few_words(self) -> None:
        with pytest.raises(sf.ArgumentError, match=r"circle of 5,000 nodes instead: \[0, 4999, 4998.*more\]") as caught:
            sf.Graph.tree([[]] * 5000, [4999, *range(4999)])
        assert len(str(caught.value)) < 400

    def test_a_grid_knows_its_shape(self) -> None:
        assert sf.Graph.grid(np.zeros((2, 3))).shape == (2, 3)
        assert sf.Graph.grid([]).shape == (0, 0)
        assert sf.Graph([[]] * 6).shape is None
        assert sf.Graph([[]] * 6, shape=(3, 2)).shape == (3, 2)

    @pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 2), (5, 5)])
    def test_a_grid_joins_pixels_beside_and_below_each_other(self, shape: tuple[int, int]) -> None:
        graph = sf.Graph.grid(np.arange(1.0, shape[0] * shape[1] + 1).reshape(shape))
        rows, columns = shape
        at = [(node // columns, node % columns) for node in range(rows * columns)]
        right = [(at[a], at[b]) for (a, b), _ in graph.cliques["right"]]
        down = [(at[a], at[b]) for (a, b), _ in graph.cliques["down"]]
        assert set(right) == {((r, c), (r, c + 1)) for r in range(rows) for c in range(columns - 1)}
        assert set(down) == {((r, c), (r + 1, c)) for r in range(rows - 1) for c in range(columns)}
        assert [node["pixel"] for node in graph.nodes] == list(range(1, rows * columns + 1))

    def test_a_grid_of_one_kind_has_the_same_edges(self) -> None:
        two, one = (sf.Graph.grid(np.zeros((3, 4)), directed=directed).cliques for directed in (True, False))
        assert one == {"edge": two["right"] + two["down"]}

    def test_pixels_may_have_channels_texts_or_features(self) -> None:
        assert sf.Graph.grid(np.ones((1, 1, 2))).nodes == [{"constant": 1.0, "pixel:0": 1.0, "pixel:1": 1.0}]
        assert sf.Graph.grid([["dark", "light"]]).nodes == [{"pixel": "dark"}, {"pixel": "light"}]
        assert sf.Graph.grid([[{"red": 0.5}], [["green"]]]).nodes == [{"red": 0.5}, ["green"]]
        assert sf.Graph.grid(np.array([[True, False]])).nodes[0] == {"constant": 1.0, "pixel": 1.0}
        assert sf.Graph.grid([]).n_nodes == 0

    def test_a_generator_of_nodes_is_read_once(self) -> None:
        graph = sf.Graph(({"a": i} for i in range(1, 3)), edges=[(0, 1)])
        assert graph.nodes == [{"a": 1}, {"a": 2}]
        assert repr(graph) == "Graph(2 nodes, 1 clique of the kind 'edge')"


class TestEdges:
    @pytest.mark.parametrize(
        "edges",
        [
            [(0, 1), (2, 1)],
            [[0, 1], np.array([2, 1])],
            {(0, 1): None, (2, 1): None},
            {"edge": [(0, 1), (2, 1)]},
            {"edge": {(0, 1): None, (2, 1): None}},
            {"edge": [((0, 1), None), ((2, 1), None)]},
        ],
    )
    def test_all_ways_of_writing_edges_are_read_alike(self, edges: Any) -> None:
        assert sf.Graph([["a"]] * 3, edges).cliques == {"edge": [((0, 1), None), ((2, 1), None)]}

    def test_kinds_have_sizes_and_features_of_their_own(self) -> None:
        graph = sf.Graph([["a"]] * 3, {"three": [(2, 0, 1)], "one": [((1,), ["x"])], "two": {(0, 1): {"d": 2.0}}})
        assert graph.cliques == {"three": [((2, 0, 1), None)], "one": [((1,), ["x"])], "two": [((0, 1), {"d": 2.0})]}


class TestReading:
    def test_attributes_get_codes_and_cliques_without_features_a_constant(self) -> None:
        read = read_graphs([sf.Graph.chain([["a"], ["b", "a"]]), {"nodes": [{"b": 2.0}]}])
        assert read.words.nodes.names == ("a", "b")
        assert dense(read) == [[1, 0], [1, 1], [0, 2]]
        assert read.graphs.cliques[0].members.tolist() == [[0, 1]]
        assert read.words.kinds["step"][1].names == ("constant",)
        assert dense(read, 0) == [[1.0]]

    def test_none_among_features_is_the_constant(self) -> None:
        read = read_graphs([sf.Graph([["a"]] * 3, {(0, 1): ["near"], (1, 2): None})])
        assert read.words.kinds["edge"][1].names == ("near", "constant")
        assert dense(read, 0) == [[1, 0], [0, 1]]

    def test_matrices_are_nodes_by_row(self) -> None:
        for matrix in (np.eye(2), csr_array(np.eye(2))):
            read = read_graphs([sf.Graph(matrix, [(0, 1)])])
            assert dense(read) == [[1, 0], [0, 1]]

    def test_unknown_attributes_are_left_out_and_counted(self) -> None:
        words = read_graphs([sf.Graph([["a"], ["b"]], {(0, 1): ["near"]})]).words
        again = read_graphs([sf.Graph([["c", "b"], []], {(0, 1): ["far"]}), sf.Graph([["a"]])], words)
        assert dense(again) == [[0, 1], [0, 0], [1, 0]]
        assert dense(again, 0) == [[0]]
        assert again.n_unknown == 2

    def test_a_constant_that_was_not_learnt_is_left_out(self) -> None:
        words = read_graphs([sf.Graph([["a"], ["b"]], {(0, 1): ["near"]})]).words
        assert dense(read_graphs([sf.Graph([["a"], ["b"]], [(0, 1)])], words), 0) == [[0]]

    def test_names_may_be_hashed(self) -> None:
        read = read_graphs([sf.Graph.chain([["a"], ["b"]])], n_buckets=16)
        assert read.graphs.states.n_attributes == 16
        assert read.graphs.cliques[0].attributes.n_attributes == 16
        assert dense(read_graphs([sf.Graph.chain([["a"], ["b"]])], read.words)) == dense(read)

    def test_no_graphs_at_all(self) -> None:
        assert read_graphs([]).graphs.n_graphs == 0
        assert graph_list([]) == []

    @pytest.mark.parametrize(
        ("graphs", "says"),
        [
            ([sf.Graph.chain([["a"]] * 2), sf.Graph([["a"]] * 3, {"step": [(0, 1, 2)]})], "Graph 2 of 'X'"),
            ([{"nodes": [["a"]], "edges": [(0, 1)]}], "Graph 1 of 'X': The clique"),
        ],
    )
    def test_errors_name_the_graph(self, graphs: Any, says: str) -> None:
        with pytest.raises(sf.DataError, match=says):
            read_graphs(graphs)


class TestCodes:
    @given(graph_lists(), st.data())
    def test_chosen_graphs_are_those_cut_out_one_by_one(self, graphs: Any, data: Any) -> None:
        whole = coded(graphs, np.random.default_rng(0))
        whole = whole.labelled(np.arange(whole.n_nodes))
        which = data.draw(st.permutations(range(whole.n_graphs)))[: data.draw(st.integers(0, whole.n_graphs))]
        found = whole.chosen(np.array(which, np.int64))
        assert found.n_graphs == len(which)
        for number, graph in enumerate(which):
            one, wanted = found.part(number, number + 1), whole.part(graph, graph + 1)
            assert one.labels is not None
            assert wanted.labels is not None
            assert one.labels.tolist() == wanted.labels.tolist()
            assert one.states.codes.tolist() == wanted.states.codes.tolist()
            for kind, expected in zip(one.cliques, wanted.cliques, strict=True):
                assert kind.members.tolist() == expected.members.tolist()
                assert kind.attributes.codes.tolist() == expected.attributes.codes.tolist()

    @given(graph_lists())
    def test_every_graph_is_in_one_group_of_those_like_it(self, graphs: Any) -> None:
        whole = coded(graphs, np.random.default_rng(0))
        groups = [sorted(group.graphs.tolist()) for group in whole.alike]
        assert sorted(graph for group in groups for graph in group) == list(range(whole.n_graphs))
        for group in groups:
            assert all(graphs[graph] == graphs[group[0]] for graph in group)
        assert len(groups) == len({repr(graph) for graph in graphs})

    def test_blocks_never_cut_a_graph(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("suffice.data.graph_codes.BLOCK_NODES", 4)
        rng = np.random.default_rng(0)
        graphs = coded([(n, [[], [], []]) for n in (3, 0, 2, 9, 1, 1, 0)], rng)
        table = GraphTable(graphs.labelled(np.zeros(16)), Variable("y", ("a", "b")), np.arange(7), ("said",), 2)
        blocks = list(table.blocks())
        assert [block.n_rows for block in blocks] == [3, 2, 9, 2]
        assert [block.start for block in blocks] == [0, 3, 5, 14]
        assert [block.n_dropped for block in blocks] == [2, 0, 0, 0]
        assert blocks[1].weights is not None
        assert blocks[1].weights.tolist() == [2, 2]
        assert table.n_expected == 18
        assert sum(block.n_bytes for block in blocks) > 0
        assert dict(blocks[0].columns)["y"].tolist() == [0, 0, 0]
        assert next(iter(table.blocks())).columns.graphs is blocks[0].columns.graphs  # type: ignore[attr-defined]

    def test_a_table_without_graphs_has_one_empty_block(self) -> None:
        none = LabelledGraphs(np.zeros(1, np.int64), no_attributes(0), (), np.zeros(0, np.int32))
        assert [block.n_rows for block in GraphTable(none, Variable("y", ("a",))).blocks()] == [0]

    def test_what_was_worked_out_is_not_pickled(self) -> None:
        graphs = coded([(2, [[(0, 1)], [], []])], np.random.default_rng(0)).labelled([0, 1])
        table = GraphTable(graphs, Variable("y", ("a", "b")))
        before = pickle.dumps(table)
        assert len(table.parts) == len(graphs.alike) == 1
        assert graphs.matrix.shape == (2, 3)
        assert graphs.cliques[0].matrix.shape == (1, 2)
        assert pickle.dumps(table) == before
        assert pickle.loads(before).graphs.alike[0].nodes.tolist() == [[0, 1]]
