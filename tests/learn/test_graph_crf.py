"""Learning conditional random fields on graphs: against brute force, chains, and the optimality conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inference.graph_twin import SIZES, coded, graph_lists, labellings

import suffice as sf
from suffice.data.attributes import Vocabulary
from suffice.data.graph_codes import GraphTable
from suffice.data.variable import Variable
from suffice.learn.graph_crf_objective import GraphObjective
from suffice.learn.graph_crf_passes import Counted, GraphGradient, run
from suffice.models.graph_crf import GraphModel
from suffice.models.graph_layout import layout_of, shapes_of
from suffice.priors.elastic import Elastic
from suffice.stats.needs import Sum
from suffice.stats.source import BlockSource
from suffice.structures.label_graph import CliqueKind, LabelGraph

KINDS = tuple(
    CliqueKind(name, size, Vocabulary(("c0", "c1")))
    for name, size in zip(("pair", "triple", "one"), SIZES, strict=True)
)
STRUCTURE = LabelGraph(Vocabulary(("a", "b", "c")), KINDS)
LABEL = Variable("label", ("x", "y"))
RINGS = [(4, [[(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1, 2)], [(3,)]]), (1, [[], [], []]), (0, [[], [], []])]


def table_of(graphs: list[Any], seed: int, weights: Any = None) -> GraphTable:
    """Return graphs with attributes and labels at random."""
    rng = np.random.default_rng(seed)
    held = coded(graphs, rng)
    return GraphTable(held.labelled(rng.integers(0, 2, held.n_nodes)), LABEL, weights)


def objective(table: GraphTable, is_pseudo: bool, c2: float = 0.0, structure: LabelGraph = STRUCTURE) -> GraphObjective:
    task = Counted(shapes_of(structure, 2))
    source = BlockSource(table)
    _, sizes, units = task.apart(run(source, task))
    layout = layout_of(structure, 2, sizes)
    return GraphObjective(source, layout, layout.by_weight(units), float(table.graphs.n_nodes), c2, is_pseudo)


def brute_loss(table: GraphTable, layout: Any, weights: np.ndarray) -> float:
    """Return −Σ log p(y | x), all labellings written down."""
    total, graphs = 0.0, table.graphs
    assert graphs.labels is not None
    for graph in range(graphs.n_graphs):
        every, scores = labellings(layout.potentials(graphs, weights), graph)
        own = tuple(graphs.labels[graphs.offsets[graph] : graphs.offsets[graph + 1]].tolist())
        often = 1.0 if table.weights is None else table.weights[graph]
        total += often * (np.logaddexp.reduce(scores) - scores[every.index(own)])
    return float(total)


class TestObjective:
    @settings(max_examples=40)
    @given(graph_lists(), st.integers(0, 99), st.booleans())
    def test_value_and_gradient_equal_brute_force(self, graphs: Any, seed: int, weighted: bool) -> None:
        rng = np.random.default_rng(seed)
        table = table_of(graphs, seed, rng.integers(0, 4, len(graphs)) if weighted else None)
        layout = layout_of(STRUCTURE, 2, np.ones(3 * 2 + 2 * (4 + 8 + 2)))
        weights = rng.normal(size=layout.size)
        found = run(BlockSource(table), GraphGradient(layout, weights))
        assert found[0] == pytest.approx(brute_loss(table, layout, weights), abs=1e-9)
        direction, step = rng.normal(size=layout.size), 1e-5
        above, below = (brute_loss(table, layout, weights + sign * step * direction) for sign in (1, -1))
        assert found[1:] @ direction == pytest.approx((above - below) / (2 * step), abs=1e-5)

    @pytest.mark.parametrize("is_pseudo", [False, True])
    def test_gradient_and_products_are_those_of_differences(self, is_pseudo: bool) -> None:
        made = objective(table_of(RINGS * 3, 1), is_pseudo, c2=0.3)
        rng = np.random.default_rng(0)
        at, direction, step = rng.normal(size=made.layout.size), rng.normal(size=made.layout.size), 1e-5
        above, below = made.at(at + step * direction), made.at(at - step * direction)
        value, gradient = made.at(at)
        assert gradient @ direction == pytest.approx((above[0] - below[0]) / (2 * step), abs=1e-8)
        np.testing.assert_allclose(made.product(at, direction), (above[1] - below[1]) / (2 * step), atol=1e-7)
        assert made.twice_at(at)[0] == value

    def test_passes_through_a_source_are_those_over_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("suffice.data.graph_codes.BLOCK_NODES", 5)
        table = table_of(RINGS * 4, 2, np.arange(12) % 3)
        made = objective(table, False)
        task = GraphGradient(made.layout, np.linspace(-1, 1, made.layout.size))
        assert len(table.parts) > 3
        reduced = BlockSource(table).reduce(task)[Sum(task.name, task.size)].values
        np.testing.assert_allclose(run(BlockSource(table), task), reduced, rtol=1e-13)
        assert task.size == len(reduced)

    def test_counts_of_features_are_those_of_single_nodes_and_cliques(self) -> None:
        table = table_of(RINGS, 3)
        task = Counted(shapes_of(STRUCTURE, 2))
        sums, sizes, units = task.apart(run(BlockSource(table), task))
        assert task.size == len(run(BlockSource(table), task))
        graphs = table.graphs
        assert graphs.labels is not None
        dense = graphs.states.matrix().toarray()
        wanted = np.array([[dense[graphs.labels == k, a].sum() for k in range(2)] for a in range(3)])
        np.testing.assert_allclose(sums[:6].reshape(3, 2), wanted, atol=1e-12)
        assert (sizes >= np.abs(sums) - 1e-12).all()
        assert (units > 0).all()


class TestFits:
    @pytest.mark.parametrize("method", ["exact", "pseudo_likelihood"])
    @pytest.mark.parametrize("prior", [Elastic(0.0, 0.5), Elastic(0.3, 0.0), Elastic(0.2, 0.1)])
    def test_no_other_point_is_better(self, method: str, prior: Elastic) -> None:
        table = table_of(RINGS * 6, 4)
        fit = sf.fit(STRUCTURE, table, prior=prior, method=method, tol=1e-9)
        assert fit.certificate.ok, fit.certificate.verdict
        made = objective(table, method != "exact")

        def total(weights: np.ndarray) -> float:
            return made.total * made.at(weights * made.units)[0] + prior.value(weights)

        least = total(fit.model.weights)
        assert fit.log_likelihood == pytest.approx(prior.value(fit.model.weights) - least)
        rng = np.random.default_rng(0)
        for size in (1e-3, 1e-1, 1.0):
            for _ in range(10):
                assert total(fit.model.weights + size * rng.normal(size=made.layout.size)) >= least - 1e-9
        if prior.c1:
            assert (fit.model.weights == 0).any()
            assert fit.n_free == np.count_nonzero(fit.model.weights)

    def test_a_chain_is_fitted_as_by_a_chain_crf(self) -> None:
        rng = np.random.default_rng(5)
        features = [
            [{"w": "uvw"[rng.integers(3)], "s": float(rng.normal())} for _ in range(n)] for n in (1, 4, 0, 6, 3, 5)
        ]
        y = [["xyz"[rng.integers(3)] for _ in sequence] for sequence in features]
        chain = sf.ChainCRF(c2=0.3, states="all", tol=1e-9).fit(features, y)
        graph = sf.GraphCRF(c2=0.3, tol=1e-9).fit([sf.Graph.chain(nodes) for nodes in features], y)
        assert graph.fit_.log_likelihood == pytest.approx(chain.fit_.log_likelihood, abs=1e-7)
        held = [sf.Graph.chain(nodes) for nodes in features]
        assert graph.log_likelihood(held, y) == pytest.approx(chain.log_likelihood(features, y), abs=1e-6)
        assert graph.predict(held) == chain.predict(features)
        by_name = {
            (n.kind, n.attribute, n.labels): w for n, w in zip(graph.model_.names(), graph.model_.weights, strict=True)
        }
        steps = chain.model_.layout.transition_matrix(chain.model_.weights)
        for i, a in enumerate("xyz"):
            for j, b in enumerate("xyz"):
                assert by_name["step", "constant", (a, b)] == pytest.approx(steps[i, j], abs=1e-5)

    def test_without_cliques_it_is_a_softmax_regression(self) -> None:
        rng = np.random.default_rng(6)
        x = rng.normal(size=(60, 2))
        y = np.where(x[:, 0] + rng.normal(size=60) > 0, "p", "q")
        crf = sf.GraphCRF(c2=0.0, tol=1e-9).fit(
            [sf.Graph([{"one": 1.0, "u": u, "v": v}]) for u, v in x], [[label] for label in y]
        )
        softmax = sf.SoftmaxRegression().fit(x, y)
        assert crf.fit_.log_likelihood == pytest.approx(-softmax.deviance_ / 2, abs=1e-8)
        assert crf.fit_.n_free == 3
        assert crf.fit_.certificate.exists == "yes"
        table = softmax.coefficients_
        weights, errors = crf.model_.weights.reshape(3, 2), crf.standard_errors().reshape(3, 2)
        # half the difference of the two labels' weights is each of the shortest ones
        assert 2 * weights[1:, 1] == pytest.approx(softmax.coef_[0], abs=1e-6)
        assert 2 * errors[:, 1] == pytest.approx(table.se.reshape(-1), rel=1e-5)

    def test_frequencies_count_graphs_as_often_as_copies(self) -> None:
        graphs = RINGS * 4
        table = table_of(graphs, 7)
        often = np.array([1, 2, 0, 3] * 3)
        which = np.repeat(np.arange(12), often)
        copies = GraphTable(table.graphs.chosen(which), LABEL)
        weighted = GraphTable(table.graphs, LABEL, often)
        fits = [sf.fit(STRUCTURE, data, prior=Elastic(0.0, 0.2), tol=1e-9) for data in (copies, weighted)]
        assert fits[0].log_likelihood == pytest.approx(fits[1].log_likelihood)
        assert fits[0].n == fits[1].n
        np.testing.assert_allclose(fits[0].model.weights, fits[1].model.weights, atol=1e-6)

    def test_units_of_an_attribute_do_not_matter_without_a_penalty(self) -> None:
        rng = np.random.default_rng(8)
        y = [[str(label) for label in rng.integers(0, 2, 5)] for _ in range(30)]
        x = rng.normal(size=(30, 5))
        fits = []
        for scale in (1.0, 1e4):
            features = [sf.Graph.chain([{"one": 1.0, "x": scale * value} for value in row]) for row in x]
            fits.append(sf.GraphCRF(c2=0.0, tol=1e-9).fit(features, y))
        assert fits[0].fit_.log_likelihood == pytest.approx(fits[1].fit_.log_likelihood, abs=1e-7)
        assert fits[0].model_.weights[2:4] == pytest.approx(1e4 * fits[1].model_.weights[2:4], rel=1e-5)
        assert fits[0].standard_errors()[2:4] == pytest.approx(1e4 * fits[1].standard_errors()[2:4], rel=1e-5)

    def test_maximum_likelihood_weights_are_the_shortest(self) -> None:
        fit = sf.fit(STRUCTURE, table_of(RINGS * 30, 9), tol=1e-9)
        from suffice.models.graph_information import shortest

        model = fit.model
        assert model.information is not None
        np.testing.assert_allclose(shortest(model.information, model.units, model.weights), model.weights, atol=1e-9)
        assert fit.n_free < model.layout.size

    def test_too_few_steps_are_said(self) -> None:
        fit = sf.fit(STRUCTURE, table_of(RINGS * 6, 4), prior=Elastic(0.0, 1e-3), max_iter=2)
        assert not fit.certificate.ok
        assert any("Not converged after 2 steps" in note.text for note in fit.notes)

    def test_the_pseudo_likelihood_says_that_it_is_one(self) -> None:
        fit = sf.fit(STRUCTURE, table_of(RINGS * 6, 4), prior=Elastic(0.0, 0.1), method="pseudo_likelihood")
        assert "pseudo-likelihood" in fit.certificate.claim
        assert any("not the likelihood" in note.text for note in fit.notes)
        assert fit.model.information is None

    def test_blocks_do_not_change_the_fit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        data = table_of(RINGS * 6, 4)
        whole = sf.fit(STRUCTURE, data, prior=Elastic(0.0, 0.2), tol=1e-9)
        monkeypatch.setattr("suffice.data.graph_codes.BLOCK_NODES", 6)
        apart = sf.fit(STRUCTURE, GraphTable(data.graphs, LABEL), prior=Elastic(0.0, 0.2), tol=1e-9)
        np.testing.assert_allclose(apart.model.weights, whole.model.weights, atol=1e-7)
        assert apart.certificate.ok


class TestCertificate:
    """A model that is not what it claims to be is refused."""

    def claims(self, fit: sf.Fit, table: GraphTable, model: GraphModel, **changes: Any) -> Any:
        from suffice.certify.claim import Claim
        from suffice.families.proof import certify

        claim = Claim(
            structure=fit.structure,
            model=model,
            statistics=fit.statistics,
            log_likelihood=changes.get("log_likelihood", fit.log_likelihood),
            point=fit.point,
            prior=fit.prior,
            source=BlockSource(table),
            method=fit.method,
        )
        return certify(claim)

    def moved(self, model: GraphModel, by: float, information: Any = None) -> GraphModel:
        weights = model.weights.copy()
        weights[1] += by
        return GraphModel(model.structure, model.label, model.layout, weights, model.units, information)

    @pytest.mark.parametrize("method", ["exact", "pseudo_likelihood"])
    def test_weights_beside_the_optimum_are_refused(self, method: str) -> None:
        table = table_of(RINGS * 6, 4)
        fit = sf.fit(STRUCTURE, table, prior=Elastic(0.0, 0.5), method=method)
        certificate = self.claims(fit, table, self.moved(fit.model, 1e-4))
        assert not certificate.ok
        assert "'a' of a node with 'y'" in certificate.verdict

    def test_a_weight_that_is_not_a_number_is_refused(self) -> None:
        table = table_of(RINGS * 6, 4)
        fit = sf.fit(STRUCTURE, table, prior=Elastic(0.0, 0.5))
        model = self.moved(fit.model, 0.0)
        object.__setattr__(model, "weights", np.append(np.nan, model.weights[1:]))  # which no one could build
        certificate = self.claims(fit, table, model)
        assert not certificate.ok
        assert certificate.gradient_norm == np.inf

    def test_other_labels_and_another_likelihood_are_refused(self) -> None:
        table = table_of(RINGS * 6, 4)
        fit = sf.fit(STRUCTURE, table, prior=Elastic(0.0, 0.5))
        assert self.claims(fit, table, fit.model).ok
        assert not self.claims(fit, table, fit.model, log_likelihood=fit.log_likelihood + 1e-3).ok
        graphs = table.graphs
        assert graphs.labels is not None
        other = GraphTable(graphs.labelled(1 - graphs.labels), LABEL)
        assert not self.claims(fit, other, fit.model).ok

    def test_wrong_information_is_refused(self) -> None:
        table = table_of(RINGS * 30, 9)
        fit = sf.fit(STRUCTURE, table)
        assert fit.certificate.ok
        assert fit.model.information is not None
        certificate = self.claims(fit, table, self.moved(fit.model, 0.0, 1.01 * fit.model.information))
        assert not certificate.ok
        assert "information" in certificate.verdict

    def test_large_graphs_are_measured_as_small_ones(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = table_of(RINGS * 5, 4)
        fit = sf.fit(STRUCTURE, table, prior=Elastic(0.0, 0.5))
        small = self.claims(fit, table, self.moved(fit.model, 0.1))
        monkeypatch.setattr("suffice.certify.graph_crf_twin.MOST_LABELLINGS", 0)
        large = self.claims(fit, table, self.moved(fit.model, 0.1))
        assert large.gradient_norm == pytest.approx(small.gradient_norm, rel=1e-10)
        assert large.log_likelihood == pytest.approx(small.log_likelihood, rel=1e-12)

    def test_a_feature_that_never_occurs_has_no_maximum(self) -> None:
        features = [sf.Graph.chain([["u"], ["v"], ["u"]]), sf.Graph.chain([["v"], ["u"]])]
        y = [["p", "q", "p"], ["p", "p"]]
        crf = sf.GraphCRF(c2=0.0).fit(features, y)
        assert crf.fit_.certificate.exists == "no"
        assert "'u' of a node with 'q'" in crf.fit_.certificate.boundary
        assert crf.fit_.certificate.verdict.startswith("The maximum conditional likelihood does not exist")
        assert any("cliques='observed'" in note.text for note in crf.fit_.notes)
        assert sf.GraphCRF(c2=0.1).fit(features, y).fit_.certificate.exists == "yes"
