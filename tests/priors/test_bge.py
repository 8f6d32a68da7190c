"""BGe: equivalent graphs score alike, and chordal graphs as their hyper inverse Wishart law says."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import suffice as sf
from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily

SEEDS = st.integers(0, 10**4)
NAMES = ("a", "b", "c", "d")


def table(seed: int, n: int = 12) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + rng.normal(size=4)
    return dict(zip(NAMES, rows.T, strict=True))


def some_scale(seed: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(4, 5))
    return root @ root.T + 0.5 * np.eye(4)


def priors(seed: int) -> list[sf.BGe]:
    rng = np.random.default_rng(seed)
    mean = dict(zip(NAMES, rng.normal(size=4).tolist(), strict=True))
    diagonal = dict(zip(NAMES, rng.uniform(0.5, 2, 4).tolist(), strict=True))
    return [sf.BGe(), sf.BGe(0.3, 9.5, mean=1.0), sf.BGe(2, 4.5, mean=mean, scale=diagonal)]


def evidence(graph: object, data: dict, prior: sf.BGe) -> float:
    dag = sf.DAG(graph)
    value = sf.fit(dag, data, prior=prior).log_marginal_likelihood
    assert value is not None
    return value


@given(seed=SEEDS, which=st.integers(0, 2))
@settings(max_examples=15)
def test_complete_graphs_of_every_order_score_alike(seed: int, which: int) -> None:
    data, prior = table(seed), priors(seed)[which]
    scores = []
    for order in itertools.islice(itertools.permutations(NAMES), 0, 24, 5):
        scores.append(evidence({node: list(order[:place]) for place, node in enumerate(order)}, data, prior))
    np.testing.assert_allclose(scores, scores[0], rtol=1e-10, atol=1e-11)


@given(seed=SEEDS, which=st.integers(0, 2))
@settings(max_examples=15)
def test_equivalent_graphs_score_alike_and_others_do_not(seed: int, which: int) -> None:
    data, prior = table(seed), priors(seed)[which]
    chain = evidence("a -> b -> c -> d", data, prior)
    assert evidence("a <- b <- c <- d", data, prior) == pytest.approx(chain, rel=1e-10, abs=1e-11)
    assert evidence("a <- b -> c -> d", data, prior) == pytest.approx(chain, rel=1e-10, abs=1e-11)
    assert abs(evidence("a -> b <- c -> d", data, prior) - chain) > 1e-6


@given(seed=SEEDS)
@settings(max_examples=15)
def test_score_is_that_of_the_hyper_inverse_wishart_law(seed: int) -> None:
    """A graph without colliders is a chordal Markov random field, whose law has δ = α_w − d + 1 degrees of freedom."""
    data, scale = table(seed), some_scale(seed)
    mean = {"a": 0.5, "b": -1.0, "c": 0.0, "d": 2.0}
    for graph, cliques in (("a -> b; a -> c; b -> c; c -> d", "a:b:c + c:d"), ("a; b -> c; d", "a + b:c + d")):
        dag = sf.DAG(graph)
        at = [NAMES.index(name) for name in dag.nodes]
        prior = sf.BGe(1.5, 7, mean=mean, scale=scale[np.ix_(at, at)])
        structure = sf.GaussianMarkov(cliques)
        at = [NAMES.index(name) for name in structure.variables]
        law = sf.HyperInverseWishart(7 - 4 + 1, scale[np.ix_(at, at)], mean=mean, mean_weight=1.5)
        expected = sf.fit(structure, data, prior=law).log_marginal_likelihood
        assert evidence(dag, data, prior) == pytest.approx(expected, rel=1e-10, abs=1e-11)


def test_one_variable_is_student_t() -> None:
    """A single row has the density t with α_w degrees of freedom (d = 1)."""
    prior = sf.BGe(2.0, 3.5, mean=1.0, scale=2.5)
    expected = stats.t(3.5, 1.0, math.sqrt(2.5 / 3.5 * (1 + 1 / 2))).logpdf(0.3)
    assert evidence("a", {"a": np.array([0.3])}, prior) == pytest.approx(expected, rel=1e-12)


def test_defaults_are_those_of_bnlearn() -> None:
    data, dag = table(1), sf.DAG("a -> b; c; d")
    bound = sf.BGe().bound(dag, sf.collect(dag, data))
    assert (bound.mean_weight, bound.dof) == (1, 6)
    np.testing.assert_allclose(bound.scale, 0.5 * np.eye(4))
    np.testing.assert_allclose(bound.mean, [data[name].mean() for name in dag.nodes])
    stronger = sf.BGe(3, 8).bound(dag, sf.collect(dag, data))
    np.testing.assert_allclose(stronger.scale, 3 * (8 - 4 - 1) / (3 + 1) * np.eye(4))
    assert repr(bound) == repr(sf.BGe()) == "BGe(mean_weight=1, dof=d + 2, mean=that of the data)"
    assert bound.to_dict() == sf.BGe().to_dict()


def test_data_far_from_zero_changes_no_score() -> None:
    data = table(3, n=50)
    far = {name: column + 1e9 for name, column in data.items()}
    graph = "a -> b; a -> c; b -> c; c -> d"
    fit = sf.fit(sf.DAG(graph), far, prior=sf.BGe())
    assert fit.log_marginal_likelihood == pytest.approx(evidence(graph, data, sf.BGe()), rel=1e-6)
    assert fit.certificate.ok, fit.certificate.verdict


def test_families_follow_by_conditioning() -> None:
    dag = sf.DAG("a -> c <- b; d")
    scale = some_scale(2)
    bound = sf.BGe(1.5, 7, mean=0.5, scale=scale).bound(dag, sf.collect(dag, table(1)))
    at = [dag.nodes.index(name) for name in ("a", "b", "c")]
    t = scale[np.ix_(at, at)]
    found = bound.regression(NodeFamily(Variable("c"), (Variable("a"), Variable("b"))))
    np.testing.assert_allclose(found.slopes, np.linalg.solve(t[:2, :2], t[:2, 2]))
    assert 2 * found.scale == pytest.approx(1 / np.linalg.inv(t)[2, 2])
    assert found.shape == (7 - 4 + 2 + 1) / 2
    assert (found.weight, found.level, found.centre.tolist()) == (1.5, 0.5, [0.5, 0.5])


@pytest.mark.parametrize("point", ["mean", "map"])
def test_fits_are_certified_and_survive_files(point: str, tmp_path) -> None:
    for prior in priors(4):
        fit = sf.fit(sf.DAG("a -> b; a -> c; d"), table(4), prior=prior, point=point)
        assert fit.certificate.ok, fit.certificate.verdict
        sf.write(fit, tmp_path / "fit.json")
        again = sf.read(tmp_path / "fit.json")
        assert str(again) == str(fit)
        assert repr(again.prior) == repr(prior)
        assert again.posterior["b"].scale.tolist() == fit.posterior["b"].scale.tolist()


def test_a_matrix_by_names_does_not_depend_on_how_the_graph_is_written() -> None:
    rng = np.random.default_rng(5)
    data = {name: rng.normal(size=25) for name in "xyz"}
    by_name = {"x": {"x": 2, "y": 0.5, "z": 0}, "y": {"y": 1.5, "x": 0.5, "z": 0.25}, "z": {"x": 0, "y": 0.25, "z": 3}}
    prior = sf.BGe(mean=0.0, scale=by_name)
    fits = [sf.fit(sf.DAG(graph), data, prior=prior) for graph in ("x -> y -> z", "z -> y -> x")]
    assert fits[0].log_marginal_likelihood == pytest.approx(fits[1].log_marginal_likelihood, rel=1e-12)
    array = np.array([[by_name[a][b] for b in "xyz"] for a in "xyz"])
    in_order = sf.fit(sf.DAG("x -> y -> z"), data, prior=sf.BGe(mean=0.0, scale=array))
    assert in_order.log_marginal_likelihood == pytest.approx(fits[0].log_marginal_likelihood, rel=1e-12)


def test_priors_that_say_the_same_are_equal() -> None:
    by_name = {"x": {"x": 2.0, "y": 0.5}, "y": {"y": 1.5, "x": 0.5}}
    assert sf.BGe(2, scale=by_name) == sf.BGe(2, scale=dict(reversed(by_name.items())))
    assert sf.BGe() != sf.BGe(2)
    wishart = [sf.NormalInverseWishart([0.0, 1.0], 1.0, 4.0, np.eye(2)) for _ in range(2)]
    assert wishart[0] == wishart[1]
    assert hash(wishart[0]) == hash(wishart[1])
    assert wishart[0] != sf.NormalInverseWishart([0.0, 1.0], 1.0, 5.0, np.eye(2))
    assert sf.HyperInverseWishart(3, 1.0) == sf.HyperInverseWishart(3, 1.0) != sf.HyperInverseWishart(4, 1.0)
