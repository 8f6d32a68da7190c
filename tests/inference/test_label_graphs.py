"""Labels of graphs by junction trees: against all labellings written down."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.inference.graph_twin import SIZES, cases, coded, enumerated, labellings, potentials

import suffice as sf
from suffice.data.graph_codes import LabelledGraphs
from suffice.inference.graph_plan import plan_of
from suffice.inference.graph_pseudo import conditionals, locally_best, pseudo_gradient, pseudo_gradient_along
from suffice.inference.label_graphs import (
    GraphPotentials,
    best_labels,
    draw_labels,
    labelling_scores,
    log_z,
    marginals,
    marginals_along,
    require_room,
)


def moved(p: GraphPotentials, direction: GraphPotentials, step: float) -> GraphPotentials:
    pairs = zip(p.cliques, direction.cliques, strict=True)
    return GraphPotentials(p.graphs, p.nodes + step * direction.nodes, tuple(a + step * b for a, b in pairs))


def some_direction(p: GraphPotentials, seed: int = 5) -> GraphPotentials:
    return potentials(p.graphs, p.n_labels, np.random.default_rng(seed), 1.0)


def labels_of(p: GraphPotentials, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, p.n_labels, p.graphs.n_nodes).astype(np.int32)


def parts(p: GraphPotentials) -> list[np.ndarray]:
    return [p.nodes, *p.cliques]


class TestSums:
    @given(cases())
    def test_log_z_and_marginals_equal_those_of_all_labellings(self, p: GraphPotentials) -> None:
        want_z, want = enumerated(p)
        found_z, found = marginals(p)
        np.testing.assert_allclose(found_z, want_z, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(log_z(p), want_z, rtol=1e-12, atol=1e-10)
        for part, wanted in zip(parts(found), parts(want), strict=True):
            np.testing.assert_allclose(part, wanted, atol=1e-10)

    @given(cases(3.0))
    def test_derivatives_are_those_of_differences(self, p: GraphPotentials) -> None:
        direction, step = some_direction(p), 1e-5
        above, below = (marginals(moved(p, direction, sign * step))[1] for sign in (1, -1))
        found = marginals_along(p, direction)
        for part, high, low in zip(parts(found), parts(above), parts(below), strict=True):
            np.testing.assert_allclose(part, (high - low) / (2 * step), atol=1e-7)

    @given(cases())
    def test_marginals_are_derivatives_of_log_z(self, p: GraphPotentials) -> None:
        direction, step = some_direction(p), 1e-5
        slopes = (log_z(moved(p, direction, step)) - log_z(moved(p, direction, -step))) / (2 * step)
        found = marginals(p)[1]
        inner = sum(float((a * b).sum()) for a, b in zip(parts(found), parts(direction), strict=True))
        assert inner == pytest.approx(slopes.sum(), abs=1e-5)

    def test_very_large_factors_lose_nothing(self) -> None:
        graphs = coded([(2, [[(0, 1)], [], []])], np.random.default_rng(0))
        p = GraphPotentials(graphs, np.array([[1e5, -1e5], [0.0, 0.0]]), (np.array([[0.0, 1e4, 9e4, 0.0]]), *empty(2)))
        assert log_z(p) == pytest.approx(1.1e5)
        assert marginals(p)[1].nodes.tolist() == [[1.0, 0.0], [0.0, 1.0]]

    def test_results_do_not_depend_on_how_many_graphs_go_together(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(3)
        p = potentials(coded([(4, [[(0, 1), (1, 2), (2, 3), (3, 0)], [], []])] * 7, rng), 3, rng, 2.0)
        whole = marginals(p)
        monkeypatch.setattr("suffice.inference.graph_plan.PIECE_CELLS", 60)
        assert p.graphs.alike[0].plans[3].n_together == 2
        apart = marginals(p)
        np.testing.assert_allclose(apart[0], whole[0], rtol=1e-14)
        np.testing.assert_allclose(apart[1].nodes, whole[1].nodes, rtol=1e-13)


def empty(k: int) -> tuple[np.ndarray, ...]:
    return tuple(np.zeros((0, k**size)) for size in SIZES[1:])


class TestLabellings:
    @given(cases(), st.integers(0, 99))
    def test_scores_equal_sums_of_factors(self, p: GraphPotentials, seed: int) -> None:
        labels = labels_of(p, seed)
        expected = []
        for graph in range(p.graphs.n_graphs):
            every, scores = labellings(p, graph)
            own = tuple(labels[p.graphs.offsets[graph] : p.graphs.offsets[graph + 1]].tolist())
            expected.append(scores[every.index(own)])
        assert labelling_scores(p, labels) == pytest.approx(np.array(expected), abs=1e-9)

    @given(cases())
    def test_best_labels_have_the_largest_score(self, p: GraphPotentials) -> None:
        labels, scores = best_labels(p)
        np.testing.assert_allclose(scores, [labellings(p, g)[1].max() for g in range(p.graphs.n_graphs)], atol=1e-9)
        np.testing.assert_allclose(labelling_scores(p, labels), scores, atol=1e-9)

    def test_of_equal_labellings_the_same_is_taken_again(self) -> None:
        graphs = coded([(3, [[(0, 1), (1, 2)], [], []])], np.random.default_rng(0))
        p = GraphPotentials(graphs, np.zeros((3, 2)), (np.zeros((2, 4)), *empty(2)))
        assert best_labels(p)[0].tolist() == best_labels(p)[0].tolist() == [0, 0, 0]

    def test_draws_have_the_probabilities_of_labellings(self) -> None:
        rng = np.random.default_rng(8)
        graphs = coded([(3, [[(0, 1), (1, 2), (2, 0)], [], []]), (1, [[], [], []])] * 2, rng)
        p = potentials(graphs, 2, rng, 1.0)
        n = 40_000
        drawn = draw_labels(p, np.random.default_rng(1), n)
        every, scores = labellings(p, 2)
        shares = np.exp(scores - np.logaddexp.reduce(scores))
        place = drawn[:, 4:7] @ [4, 2, 1]
        counts = np.bincount(place, minlength=8)
        assert [tuple(labels) for labels in every][3] == (0, 1, 1)
        z = (counts - n * shares) / np.sqrt(n * shares * (1 - shares))
        assert np.abs(z).max() < 4.5
        assert not np.array_equal(drawn[:, :3], drawn[:, 4:7])  # graphs that are alike are drawn independently

    def test_a_graph_without_nodes_has_one_labelling(self) -> None:
        graphs = coded([(0, [[], [], []])], np.random.default_rng(0))
        p = GraphPotentials(graphs, np.zeros((0, 2)), (np.zeros((0, 4)), *empty(2)))
        assert log_z(p).tolist() == [0.0]
        labels, scores = best_labels(p)
        assert labels.tolist() == []
        assert scores.tolist() == [0.0]
        assert draw_labels(p, np.random.default_rng(0), 2).shape == (2, 0)


class TestRoom:
    def clique(self, n: int) -> LabelledGraphs:
        pairs = [(i, j) for i in range(n) for j in range(i)]
        return coded([(1, [[], [], []]), (n, [pairs, [], []])], np.random.default_rng(0))

    def test_wide_graphs_are_refused_with_numbers_before_memory_is_taken(self) -> None:
        with pytest.raises(sf.ModelError, match=r"Graph 2: .*width 59.*3\^60 cells.*config\(memory"):
            require_room(self.clique(60), 3)

    def test_what_fits_is_not_refused(self) -> None:
        graphs = self.clique(8)
        require_room(graphs, 3)
        assert [plan_of(group, 3).tree.width for group in graphs.alike] == [0, 7]

    def test_even_absurd_widths_have_a_message(self) -> None:
        with pytest.raises(sf.ModelError, match="exact inference would need"):
            require_room(self.clique(110), 1000)  # more cells than a float can count

    def test_a_refused_plan_is_made_once_and_does_once_there_is_room(self) -> None:
        group = self.clique(12).alike[1]
        sf.config(memory="1MB")
        try:
            for _ in range(2):
                with pytest.raises(sf.ModelError, match="exact inference would need"):
                    plan_of(group, 3)
            refused = group.plans[3]
        finally:
            sf.config(memory="4GB")
        assert plan_of(group, 3) is refused
        assert sum(map(len, refused.places)) == 12 + 66

    def test_the_plan_is_made_once(self) -> None:
        graphs = self.clique(4)
        assert plan_of(graphs.alike[1], 2) is plan_of(graphs.alike[1], 2)


class TestPseudoLikelihood:
    def naive(self, p: GraphPotentials, labels: np.ndarray) -> float:
        """Return Σ log p(y_v | all others), each from the scores of whole labellings."""
        total = 0.0
        for node in range(p.graphs.n_nodes):
            scores = []
            for label in range(p.n_labels):
                other = labels.copy()
                other[node] = label
                scores.append(labelling_scores(p, other).sum())
            total += scores[labels[node]] - np.logaddexp.reduce(scores)
        return float(total)

    @given(cases(), st.integers(0, 99))
    def test_value_equals_that_of_whole_labellings(self, p: GraphPotentials, seed: int) -> None:
        labels = labels_of(p, seed)
        value = pseudo_gradient(p, labels, np.ones(p.graphs.n_nodes))[0]
        assert -value == pytest.approx(self.naive(p, labels), rel=1e-9, abs=1e-8)
        assert conditionals(p, labels)[1].sum(axis=1) == pytest.approx(1.0)

    @given(cases(3.0), st.integers(0, 99))
    def test_derivatives_are_those_of_differences(self, p: GraphPotentials, seed: int) -> None:
        labels, direction, step = labels_of(p, seed), some_direction(p), 1e-5
        weights = np.random.default_rng(seed).random(p.graphs.n_nodes)
        above, below = (pseudo_gradient(moved(p, direction, sign * step), labels, weights) for sign in (1, -1))
        slopes = pseudo_gradient(p, labels, weights)[1]
        inner = sum(float((a * b).sum()) for a, b in zip(parts(slopes), parts(direction), strict=True))
        assert inner == pytest.approx((above[0] - below[0]) / (2 * step), abs=1e-6)
        curved = pseudo_gradient_along(p, direction, labels, weights)
        for part, high, low in zip(parts(curved), parts(above[1]), parts(below[1]), strict=True):
            np.testing.assert_allclose(part, (high - low) / (2 * step), atol=1e-7)

    @given(cases())
    def test_no_single_change_betters_what_is_locally_best(self, p: GraphPotentials) -> None:
        labels = locally_best(p)
        score = labelling_scores(p, labels).sum()
        others = []
        for node in range(p.graphs.n_nodes):
            for label in range(p.n_labels):
                other = labels.copy()
                other[node] = label
                others.append(labelling_scores(p, other).sum())
        assert len(others) == p.nodes.size
        assert max(others, default=score) <= score + 1e-9
