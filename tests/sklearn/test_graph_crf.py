"""GraphCRF as users call it: graphs and labels in, labels and probabilities out."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import suffice as sf


def images(n: int, seed: int) -> tuple[list[sf.Graph], list[np.ndarray]]:
    """Return small pictures of two halves, blurred, and which half each pixel is in."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for _ in range(n):
        labels = np.where(np.add.outer(np.zeros(3), np.arange(4)) < rng.integers(1, 4), "left", "right")
        x.append(sf.Graph.grid(np.where(labels == "left", -0.5, 0.5) + rng.normal(size=(3, 4))))
        y.append(labels)
    return x, y


def noise(x: list[sf.Graph]) -> list[list[str]]:
    """Return labels that have nothing to do with the graphs."""
    rng = np.random.default_rng(0)
    return [[("left", "right")[label] for label in rng.integers(0, 2, graph.n_nodes)] for graph in x]


@pytest.fixture(scope="module")
def fitted() -> sf.GraphCRF:
    return sf.GraphCRF(c2=0.1).fit(*images(40, 1))


class TestAnswers:
    def test_labels_of_a_grid_may_be_an_array(self, fitted: sf.GraphCRF) -> None:
        x, y = images(40, 1)
        flat = sf.GraphCRF(c2=0.1).fit(x, [labels.reshape(-1).tolist() for labels in y])
        assert flat.fit_.log_likelihood == fitted.fit_.log_likelihood

    def test_an_array_of_labels_has_the_shape_of_its_grid(self, fitted: sf.GraphCRF) -> None:
        x, y = images(2, 1)
        turned = [y[0], np.ascontiguousarray(y[1].T)]
        for call in (sf.GraphCRF().fit, fitted.score, fitted.log_likelihood, fitted.evaluate):
            with pytest.raises(sf.DataError, match=r"Graph 2 of 'y' .*\(4, 3\).*\(3, 4\)"):
                call(x, turned)
        with pytest.raises(sf.DataError, match=r"\(1, 12\)"):
            fitted.score(x, [own.reshape(1, 12) for own in y])
        rows = [own.reshape(-1) for own in y]
        wanted = fitted.log_likelihood(x, y).tolist()
        assert fitted.log_likelihood(x, rows).tolist() == wanted
        assert fitted.log_likelihood(x, np.array(y)).tolist() == wanted
        # Graphs that are no grids say nothing of rows and columns.
        bare = [sf.Graph(graph.nodes, graph.edges) for graph in x]
        assert fitted.log_likelihood(bare, y).tolist() == wanted

    @pytest.mark.parametrize("labels", [{"p": 1}, np.array("p"), "pq", 3])
    def test_labels_that_are_no_list_are_refused(self, fitted: sf.GraphCRF, labels: Any) -> None:
        with pytest.raises(sf.DataError, match="'y' argument must be a list of graphs of labels"):
            fitted.score(images(1, 1)[0], labels)

    def test_scores_come_label_by_label(self, fitted: sf.GraphCRF) -> None:
        x, y = images(30, 2)
        scores = fitted.evaluate(x, y)
        true, found = np.concatenate(y).reshape(-1), np.array(fitted.predict(x)).reshape(-1)
        assert scores.accuracy == fitted.score(x, y) == (true == found).mean()
        for label in ("left", "right"):
            assert scores.by_tag[label].recall == (found == label)[true == label].mean()
            assert scores.by_tag[label].precision == (true == label)[found == label].mean()
        assert not scores.by_type
        assert fitted.evaluate(x[:1], [["up"] * 12]).by_tag["up"].n_true == 12

    def test_labels_may_mark_spans(self) -> None:
        x = [sf.Graph.chain([["a"], ["b"], ["c"]])]
        y = [["B-NP", "I-NP", "O"]]
        crf = sf.GraphCRF(c2=0.01).fit(x, y)
        for scheme in ("auto", "iob2"):
            assert crf.evaluate(x, y, scheme=scheme).by_type["NP"].n_right == 1
        assert not crf.evaluate(x, y, scheme="none").by_type

    def test_the_largest_marginals_get_more_nodes_right_on_average(self, fitted: sf.GraphCRF) -> None:
        x = images(40, 12)[0]
        together, alone = fitted.predict(x), [fitted.classes_[own.argmax(axis=1)] for own in fitted.predict_proba(x)]
        marginals = [node for graph in fitted.predict_marginals(x) for node in graph]

        def expected(labels: Any) -> float:
            return sum(node[label] for node, label in zip(marginals, np.concatenate(labels), strict=True))

        assert expected(together) < expected(alone)
        assert (fitted.log_likelihood(x, together) >= fitted.log_likelihood(x, alone) - 1e-12).all()

    def test_neighbours_help(self, fitted: sf.GraphCRF) -> None:
        x, y = images(100, 2)
        alone = sf.GraphCRF(c2=0.1).fit([sf.Graph(graph.nodes) for graph in images(40, 1)[0]], images(40, 1)[1])
        assert fitted.score(x, y) > alone.score([sf.Graph(graph.nodes) for graph in x], y) + 0.05

    def test_marginals_are_probabilities_by_label(self, fitted: sf.GraphCRF) -> None:
        x = images(3, 3)[0]
        found = fitted.predict_marginals(x)
        assert [len(own) for own in found] == [12, 12, 12]
        assert list(found[0][0]) == ["left", "right"]
        arrays = fitted.predict_proba(x)
        assert arrays[1].sum(axis=1) == pytest.approx(1.0)
        assert found[1][4]["right"] == arrays[1][4, 1]

    def test_the_best_labels_are_more_probable_than_drawn_ones(self, fitted: sf.GraphCRF) -> None:
        x = images(5, 4)[0]
        best = fitted.log_likelihood(x, fitted.predict(x))
        for seed in range(5):
            assert (fitted.log_likelihood(x, fitted.sample(x, seed=seed)) <= best + 1e-12).all()
        local = fitted.log_likelihood(x, fitted.predict(x, method="icm"))
        assert (local <= best + 1e-12).all()

    def test_draws_follow_the_seed(self, fitted: sf.GraphCRF) -> None:
        x = images(5, 4)[0]
        assert fitted.sample(x, seed=1) == fitted.sample(x, seed=1)
        assert fitted.sample(x, seed=1) != fitted.sample(x, seed=2)

    def test_graphs_without_nodes_edges_or_known_features(self, fitted: sf.GraphCRF) -> None:
        x = [sf.Graph([]), sf.Graph([{"pixel": 0.2}]), {"nodes": [["unheard of"], []]}]
        assert [len(own) for own in fitted.predict(x)] == [0, 1, 2]
        assert fitted.predict_marginals(x)[2][0] == {"left": 0.5, "right": 0.5}
        assert fitted.log_likelihood(x, [[], ["left"], ["left", "right"]])[0] == 0.0
        assert fitted.predict([]) == []
        assert fitted.log_likelihood([], []).tolist() == []

    def test_labels_that_training_did_not_have_are_wrong(self, fitted: sf.GraphCRF) -> None:
        x = images(1, 5)[0]
        assert fitted.score(x, [["up"] * 12]) == 0.0
        with pytest.raises(sf.DataError, match=r"Graph 1, node 1 of 'y'.*'up'"):
            fitted.log_likelihood(x, [["up"] * 12])

    def test_scores_may_be_weighted(self, fitted: sf.GraphCRF) -> None:
        x, y = images(2, 6)
        scores = [fitted.score(x[i : i + 1], y[i : i + 1]) for i in range(2)]
        assert fitted.score(x, y, sample_weight=[3, 1]) == pytest.approx(0.75 * scores[0] + 0.25 * scores[1])

    @pytest.mark.parametrize("labels", [[True, False, True], [3, 1, 3]])
    def test_labels_keep_their_type(self, labels: list[Any]) -> None:
        x = [sf.Graph.chain([["a"], ["b"], ["a"]])]
        found = sf.GraphCRF(c2=0.01).fit(x, [labels]).predict(x)[0]
        assert found == labels
        assert type(found[0]) is type(labels[0])


class TestCliques:
    def test_three_nodes_together_learn_what_pairs_cannot(self) -> None:
        rng = np.random.default_rng(0)
        x, y = [], []
        for _ in range(60):
            a, b = rng.integers(0, 2, 2)
            x.append(sf.Graph([[f"a{a}"], [f"b{b}"], []], {"odd": [(0, 1, 2)]}))
            y.append([int(a), int(b), int(a ^ b)])
        crf = sf.GraphCRF(c2=0.01).fit(x, y)
        assert crf.predict(x) == y
        pairs = [sf.Graph(graph.nodes, {"near": [(0, 2), (1, 2)]}) for graph in x]
        assert sf.GraphCRF(c2=0.01).fit(pairs, y).score(pairs, y) < 0.9

    def test_features_of_edges_have_weights_of_their_own(self) -> None:
        x = [sf.Graph([["a"], []], {(0, 1): ["same"]}), sf.Graph([["a"], []], {(0, 1): ["other"]})] * 5
        x += [sf.Graph([["b"], []], {(0, 1): ["same"]}), sf.Graph([["b"], []], {(0, 1): ["other"]})] * 5
        y = [["p", "p"], ["p", "q"]] * 5 + [["q", "q"], ["q", "p"]] * 5
        crf = sf.GraphCRF(c2=0.05).fit(x, y)
        assert crf.predict(x) == y

    def test_symmetric_weights_do_not_depend_on_the_order_of_members(self) -> None:
        x, y = images(20, 7)
        turned = [
            sf.Graph(g.nodes, {kind: [(b, a) for (a, b), _ in edges] for kind, edges in g.cliques.items()}) for g in x
        ]
        crf = sf.GraphCRF(symmetric=True).fit(x, y)
        assert crf.log_likelihood(turned, y) == pytest.approx(crf.log_likelihood(x, y))
        plain = sf.GraphCRF().fit(x, y)
        assert np.abs(plain.log_likelihood(turned, y) - plain.log_likelihood(x, y)).max() > 1e-3

    def test_trees_and_skip_chains(self) -> None:
        rng = np.random.default_rng(1)
        for make in (
            lambda nodes: sf.Graph.tree(nodes, [None, 0, 0, 1, 1]),
            lambda nodes: sf.Graph.skip_chain(nodes, [(0, 4), (1, 3)]),
        ):
            x = [make([[f"w{rng.integers(4)}"] for _ in range(5)]) for _ in range(20)]
            y = [["uv"[rng.integers(2)] for _ in range(5)] for _ in x]
            crf = sf.GraphCRF(c2=0.5).fit(x, y)
            assert crf.fit_.certificate.ok
            assert crf.log_likelihood(x, y).sum() == pytest.approx(crf.fit_.log_likelihood)


class TestLearning:
    def test_graphs_that_lack_a_label_are_left_out_by_choice(self) -> None:
        x, y = images(6, 8)
        lacking = [*y[:5], [None] * 12]
        with pytest.raises(sf.DataError, match=r"Graph 6, node 1 of 'y'.*missing='drop'"):
            sf.GraphCRF().fit(x, lacking)
        crf = sf.GraphCRF(missing="drop").fit(x, lacking, sample_weight=np.arange(1, 7))
        wanted = sf.GraphCRF().fit(x[:5], y[:5], sample_weight=np.arange(1, 6))
        assert crf.fit_.log_likelihood == pytest.approx(wanted.fit_.log_likelihood)
        assert any("1 graph left out" in note.text for note in crf.fit_.notes)

    def test_wide_graphs_are_refused_and_learnt_by_name(self) -> None:
        rng = np.random.default_rng(2)
        pixels = rng.normal(size=(32, 32))
        x, y = [sf.Graph.grid(pixels, directed=False)], [np.where(pixels + rng.normal(size=(32, 32)) > 0, "p", "q")]
        with pytest.raises(sf.EstimationError, match=r"Graph 1: .*method='pseudo_likelihood'"):
            sf.GraphCRF().fit(x, y)
        crf = sf.GraphCRF(method="pseudo_likelihood").fit(x, y)
        assert crf.fit_.certificate.ok
        for answer in (crf.predict, lambda x: crf.score(x, y), lambda x: crf.evaluate(x, y)):
            with pytest.raises(sf.ModelError, match=r"Graph 1: .*predict\(X, method='icm'\)") as caught:
                answer(x)
            assert len(str(caught.value)) < 450  # no list of nodes
        found = np.reshape(crf.predict(x, method="icm")[0], (32, 32))
        assert found.size == 1024
        assert crf.score(x, y, method="icm") == (found == y[0]).mean() == crf.evaluate(x, y, method="icm").accuracy

    def test_steps_that_do_not_suffice_are_warned_of(self) -> None:
        with pytest.warns(ConvergenceWarning, match="Not certified"):
            early = sf.GraphCRF(max_iter=1, c2=0.01).fit(*images(10, 1))
        (said,) = [note.text for note in early.fit_.notes if note.text.startswith("Not converged")]
        assert "allow more by max_iter=…." in said
        assert "start from this point" not in said

    def test_errors_are_known_after_maximum_likelihood_only(self, fitted: sf.GraphCRF) -> None:
        x = images(40, 1)[0]
        y = noise(x)
        crf = sf.GraphCRF(c2=0.0).fit(x, y)
        assert crf.standard_errors().shape == crf.model_.weights.shape
        assert (crf.standard_errors() > 0).all()
        np.testing.assert_array_equal(crf.weights_table().se, crf.standard_errors())
        with pytest.raises(sf.EstimationError, match="Fit with c2=0"):
            fitted.standard_errors()

    def test_there_are_none_where_there_is_no_maximum(self) -> None:
        crf = sf.GraphCRF(c2=0.0).fit(*images(40, 1))
        assert crf.weights_table().errors is None
        with pytest.raises(sf.EstimationError, match=r"does not exist: .*'constant' of a right with 'right', 'left'"):
            crf.standard_errors()

    def test_errors_of_many_weights_take_the_graphs_once_more(self, monkeypatch: pytest.MonkeyPatch) -> None:
        x = images(40, 1)[0]
        y = noise(x)
        often = np.arange(40) % 3
        kept = sf.GraphCRF(c2=0.0).fit(x, y, often).standard_errors()
        monkeypatch.setattr("suffice.learn.graph_crf.MOST_WRITTEN", 0)
        crf = sf.GraphCRF(c2=0.0).fit(x, y, often)
        with pytest.raises(sf.EstimationError, match=r"standard_errors\(X\)"):
            crf.standard_errors()
        assert crf.standard_errors(x, often) == pytest.approx(kept, rel=1e-9)

    def test_hashed_features_are_learnt_from(self) -> None:
        x, y = images(20, 1)
        crf = sf.GraphCRF(n_buckets=32).fit(x, y)
        assert crf.fit_.certificate.ok
        assert crf.score(x, y) > 0.7
        assert crf.weights_table().names[0].attribute == "#0"

    def test_fewer_weights_by_choice(self) -> None:
        x, y = images(20, 1)
        sizes = [
            sf.GraphCRF(**options).fit(x, y).model_.layout.size
            for options in ({}, {"cliques": "observed"}, {"symmetric": True}, {"min_freq": 100})
        ]
        assert sizes[0] == 4 + 8
        assert sizes[1] == 4 + 3 + 2  # no left is to the right of a right; what is below is the same
        assert sizes[2] == 4 + 6
        assert sizes[3] < sizes[1]


class TestProtocol:
    def test_parameters_can_be_cloned_and_models_pickled(self, fitted: sf.GraphCRF) -> None:
        assert clone(fitted).get_params() == fitted.get_params()
        x = images(2, 9)[0]
        assert pickle.loads(pickle.dumps(fitted)).predict(x) == fitted.predict(x)

    def test_nothing_is_answered_before_a_fit(self) -> None:
        with pytest.raises(NotFittedError):
            sf.GraphCRF().predict([])
        with pytest.raises(NotFittedError):
            sf.GraphCRF().weights_table()

    def test_nothing_left_to_learn_is_a_coin(self) -> None:
        x, y = images(3, 1)
        crf = sf.GraphCRF(c2=0.0, min_freq=1e6).fit(x, y)
        assert crf.model_.layout.size == len(crf.standard_errors()) == 0
        assert crf.fit_.certificate.ok
        assert crf.fit_.log_likelihood == pytest.approx(-36 * np.log(2))
