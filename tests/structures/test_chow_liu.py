"""Chow–Liu trees against all trees, by their likelihoods; what the tree knows, and where it goes."""

from __future__ import annotations

import itertools
import json
import pickle

import networkx as nx
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.structures import chow_liu as module

NAMES = ("A", "B", "C", "D")


def trees_over(names):
    """Yield every tree over the names, its edges pointing away from the first one."""
    for edges in itertools.combinations(itertools.combinations(names, 2), len(names) - 1):
        graph = nx.Graph(edges)
        graph.add_nodes_from(names)
        if nx.is_tree(graph):
            directed = nx.DiGraph()
            directed.add_nodes_from(names)
            directed.add_edges_from(nx.bfs_edges(graph, names[0]))
            yield directed


def discrete(seed, n=60, names=NAMES, sizes=(2, 3, 2, 2)):
    generator = np.random.default_rng(seed)
    columns, last = {}, np.zeros(n, np.int64)
    for name, size in zip(names, sizes, strict=True):
        last = np.where(generator.random(n) < 0.5, last, generator.integers(0, size, n)) % size
        columns[name] = last.astype(str)
    return columns


def normal(seed, n=50, p=4):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n, p)) @ generator.normal(size=(p, p))
    return {f"x{j}": rows[:, j] for j in range(p)}


def log_likelihood(dag, data, **options):
    return sf.fit(dag, data, unseen_parents="nan", **options).log_likelihood


# The best tree ------------------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_no_tree_has_a_larger_likelihood(seed):
    data = discrete(seed)
    tree = sf.chow_liu(data)
    best = max(log_likelihood(sf.DAG(other), data) for other in trees_over(NAMES))
    found = log_likelihood(tree, data)
    assert found == pytest.approx(best, abs=1e-9)
    independent = log_likelihood(sf.DAG(list(NAMES)), data)
    assert found - independent == pytest.approx(60 * tree.total_information, abs=1e-9)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_no_tree_of_normal_variables_has_a_larger_likelihood(seed):
    data = normal(seed)
    tree = sf.chow_liu(data)
    fit = sf.fit(tree, data)
    best = max(log_likelihood(sf.DAG(other), data) for other in trees_over(tuple(data)))
    assert fit.log_likelihood == pytest.approx(best, abs=1e-8)
    independent = log_likelihood(sf.DAG(list(data)), data)
    assert fit.log_likelihood - independent == pytest.approx(50 * tree.total_information, abs=1e-8)


def test_a_normal_tree_is_the_gaussian_field_of_its_edges():
    data = normal(7, p=6)
    tree = sf.chow_liu(data, root="x3")
    field = sf.fit(sf.GaussianMarkov(tree.edges), data)
    fit = sf.fit(tree, data)
    assert len(field.structure.edges) == 5
    assert fit.log_likelihood == pytest.approx(field.log_likelihood, abs=1e-8)
    assert fit.certificate.ok


@given(st.integers(0, 10**6), st.sampled_from(NAMES))
@settings(max_examples=10, deadline=None)
def test_the_root_changes_directions_only(seed, root):
    data = discrete(seed)
    tree, turned = sf.chow_liu(data), sf.chow_liu(data, root=root)
    assert turned.roots == (root,)
    assert {frozenset(e): v for e, v in tree.information.items()} == {
        frozenset(e): v for e, v in turned.information.items()
    }
    assert log_likelihood(turned, data) == pytest.approx(log_likelihood(tree, data), abs=1e-9)


def test_equal_information_goes_by_the_order_of_columns():
    same = list("xyxyxxyy")
    assert sf.chow_liu(dict.fromkeys("PQRS", same)).edges == [("P", "Q"), ("P", "R"), ("P", "S")]
    flipped = {"P": same, "Q": [{"x": "u", "y": "t"}[state] for state in same], "R": same}
    assert sf.chow_liu(flipped).edges == [("P", "Q"), ("P", "R")]
    assert sf.chow_liu(flipped, ["R", "Q", "P"]).edges == [("R", "Q"), ("R", "P")]


def test_constant_columns_are_joined_with_zero_information():
    tree = sf.chow_liu({"A": ["x"] * 4, "B": list("uvuv"), "C": list("uvvv")})
    assert tree.information["A", "B"] == 0
    assert tree.information["B", "C"] > 0
    numbers = sf.chow_liu({"x": [0.1] * 5, "y": [1.0, 2.0, 4.0, 3.0, 5.5], "z": [1.0, 2.5, 4.0, 3.5, 5.0]})
    assert numbers.information["x", "y"] == 0


def test_linear_functions_of_each_other_are_joined_first():
    x = np.random.default_rng(0).normal(size=40)
    noise = np.random.default_rng(1).normal(size=40)
    tree = sf.chow_liu({"x": x, "z": x + noise, "y": 2 * x - 1})
    assert tree.information["x", "y"] == np.inf
    assert tree.total_information == np.inf


def test_one_variable_is_a_tree_without_edges():
    tree = sf.chow_liu({"A": ["x", "y"]})
    assert (tree.edges, tree.root, tree.total_information, tree.pseudo_counts(1)) == ([], "A", 0, {"A": 1.0})
    assert sf.chow_liu({"x": [0.5, 1.5]}).edges == []


# Forests ------------------------------------------------------------------------------------------------------


def test_edges_of_little_information_are_left_out():
    data = {"A": list("xxyy") * 2, "B": list("uvuv") * 2, "C": list("rrss") * 2, "D": list("pqpp") * 2}
    tree = sf.chow_liu(data)
    assert len(tree.edges) == 3
    forest = sf.chow_liu(data, min_information=0, root="C")
    assert {frozenset(edge) for edge in forest.edges} >= {frozenset("AC")}
    assert ("A", "B") not in forest.information
    assert all(nats > 0 for nats in forest.nats)
    cut = sorted(tree.nats)[1]
    assert sorted(sf.chow_liu(data, min_information=cut).nats) == [nats for nats in sorted(tree.nats) if nats > cut]
    apart = sf.chow_liu(data, min_information=9, root="C")
    assert (apart.edges, apart.roots, apart.root) == ([], NAMES, "A")
    assert sf.fit(apart, data).certificate.ok
    assert str(apart).splitlines()[2:] == [f"{name}               -" for name in NAMES]


# Smoothing ----------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from([0.25, 1.0, 20.0]))
@settings(max_examples=10, deadline=None)
def test_smoothing_is_alpha_in_every_cell_of_each_pair(seed, alpha):
    data = discrete(seed, sizes=(2, 2, 2, 2))
    tree = sf.chow_liu(data, alpha=alpha)
    model = sf.fit(tree, data, prior=sf.Dirichlet(tree.pseudo_counts(alpha)), point="mean").model
    assert len(tree.edges) == 3
    for parent, child in tree.edges:
        m = np.zeros((2, 2))
        np.add.at(m, (data[parent].astype(int), data[child].astype(int)), 1)
        joint = (m + alpha) / (m + alpha).sum()
        nats = (joint * np.log(joint / joint.sum(1, keepdims=True) / joint.sum(0))).sum()
        assert tree.information[parent, child] == pytest.approx(nats, abs=1e-12)
        assert np.asarray(model.query([parent, child]).to_numpy()) == pytest.approx(joint, abs=1e-12)


def test_pseudo_counts_of_a_root_are_the_margin_of_its_first_edge():
    tree = sf.DependenceTree({"A": "B", "B": None, "C": "B", "D": None}, [0.1, 0.2], [5, 2, 3, 4])
    assert tree.pseudo_counts(0.5) == {"A": 0.5, "B": 2.5, "C": 0.5, "D": 0.5}


# Tables of all kinds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["polars", "arrow", "csv", "parquet", "reader", "lazy"])
def test_streams_and_frames_give_the_same_tree(tmp_path, shape, monkeypatch):
    data = discrete(3, n=500, sizes=(3, 4, 2, 3))
    table = pa.table({name: column.astype(object) for name, column in data.items()})
    frame = pl.from_arrow(table)
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=100)
    given_as = {
        "polars": frame,
        "arrow": table,
        "csv": tmp_path / "t.csv",
        "parquet": tmp_path / "t.parquet",
        "reader": table.to_reader(max_chunksize=64),
        "lazy": frame.lazy(),
    }
    expected = sf.chow_liu({name: column.tolist() for name, column in data.items()})
    monkeypatch.setattr(module, "PAIRS_A_PASS", 2)
    found = sf.chow_liu(given_as[shape])
    assert found == expected
    assert found.nats == expected.nats
    assert found.n_states == expected.n_states == (3, 4, 2, 3)


def test_passes_over_a_stream_agree_when_late_rows_bring_new_states(tmp_path, monkeypatch):
    data = discrete(4, n=400)
    data["B"] = np.concatenate([data["B"][:-1], ["!"]])
    pl.DataFrame(data).write_parquet(tmp_path / "t.parquet", row_group_size=50)
    expected = sf.chow_liu(data)
    monkeypatch.setattr(module, "PAIRS_A_PASS", 1)
    assert sf.chow_liu(tmp_path / "t.parquet").nats == expected.nats


def test_weights_are_frequencies(tmp_path):
    data = discrete(5)
    weights = np.random.default_rng(5).integers(0, 4, 60)
    repeated = {name: np.repeat(column, weights) for name, column in data.items()}
    expected = sf.chow_liu(repeated)
    schema = {name: sorted(set(column)) for name, column in data.items()}
    assert sf.chow_liu(data, weights=weights, schema=schema).nats == expected.nats
    named = sf.chow_liu({**data, "w": weights}, weights="w", schema=schema)
    assert named.nodes == NAMES
    assert named.nats == expected.nats


def test_gaps_are_refused_or_dropped():
    data = {"A": ["x", None, "y", "x"], "B": ["u", "v", "v", "u"]}
    with pytest.raises(sf.DataError, match="missing"):
        sf.chow_liu(data)
    assert sf.chow_liu(data, missing="drop").total_information == pytest.approx(0.6365, abs=1e-4)


def test_many_variables_at_once_are_those_of_each_pair():
    generator = np.random.default_rng(6)
    data = {f"v{j}": generator.integers(0, 2 + j % 2, 40) for j in range(40)}
    tree = sf.chow_liu(data)
    assert len(tree.information) == 39
    for (parent, child), nats in tree.information.items():
        pair = sf.chow_liu({parent: data[parent], child: data[child]})
        assert nats == pair.total_information


# A tree is a DAG ----------------------------------------------------------------------------------------------


def test_a_tree_is_a_dag_wherever_one_is_wanted(tmp_path):
    data = discrete(8)
    tree = sf.chow_liu(data)
    plain = sf.DAG(tree)
    assert type(plain) is sf.DAG
    assert tree == plain
    assert plain == tree
    assert hash(tree) == hash(plain)
    assert tree != sf.DAG("A -> B")
    assert tree != "A"
    assert repr(tree) == repr(plain)
    assert sf.DAG.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree
    assert sf.DependenceTree.from_dict(tree.to_dict()) == tree
    assert pickle.loads(pickle.dumps(tree)).information == tree.information
    assert sf.Cliques(tree).variables == tree.nodes
    fit = sf.fit(tree, data, prior=sf.Dirichlet(tree.pseudo_counts(1.0)))
    sf.write(fit, tmp_path / "fit.json")
    again = sf.read(tmp_path / "fit.json")
    assert again.structure == tree
    assert again.log_likelihood == fit.log_likelihood
    assert sf.estimate(tree, sf.collect(plain, data), unseen_parents="nan").structure == tree


def test_a_tree_of_numbers_is_linear_gaussian_and_comes_back_from_a_file(tmp_path):
    data = {"a": [1, 2, 3, 4, 6, 9], "b": [2, 1, 3, 5, 5, 8]}
    tree = sf.chow_liu(data, schema={name: sf.continuous() for name in data})
    fit = sf.fit(tree, data)
    assert fit.model.cpd("b").coefficients.shape == (1, 1)
    sf.write(fit, tmp_path / "fit.json")
    assert sf.read(tmp_path / "fit.json").structure == tree


def test_names_that_need_quotes_are_quoted():
    assert "'M. Work' -> B" in str(sf.chow_liu({"M. Work": list("xyxy"), "B": list("uvuv")}))
