"""predict: the distribution of one variable given each row, whatever the row lacks, against slow twins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from tests.models.gap_twin import columns_of, completions, discrete_networks, markov_networks, rows_of
from tests.models.mixed_twin import Twin, networks

import suffice as sf
from suffice.inference import row_marginals
from suffice.inference.blanket import Blanket

SLOW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
WAYS = ("groups", "tree")


@contextmanager
def answered_by(way: str) -> Iterator[None]:
    """Have rows answered group by group, or by the calibrated tree."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_marginals, "FEW_GROUPS", 10**9 if way == "groups" else -1)
        yield


def twin(model: Any, row: dict[str, Any], target: str) -> list[float]:
    """Return p(target | rest of the row) by all completions; NaN where there is none."""
    cases = completions(model, {**row, target: None})
    p = np.array([sum(q for case, q in cases if case[target] == label) for label in model.schema[target].labels])
    return (p / p.sum()).tolist() if p.sum() > 0 else [np.nan] * len(p)


# Discrete models ----------------------------------------------------------------------------------------------


@SLOW
@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), model=st.one_of(discrete_networks(), markov_networks()))
def test_rows_are_answered_as_by_all_completions(way: str, data: st.DataObject, model: Any) -> None:
    rows = data.draw(rows_of(model))
    target = data.draw(st.sampled_from(list(model.schema)))
    with answered_by(way):
        found = model.predict(target, columns_of(rows), impossible="nan")
    expected = [twin(model, row, target) for row in rows]
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-10)
    assert found.states == model.schema[target].labels
    for label, p in zip(found.labels, expected, strict=True):
        assert label is None if np.isnan(p[0]) else p[found.states.index(label)] == pytest.approx(max(p))


@SLOW
@given(data=st.data(), model=st.one_of(discrete_networks(), markov_networks()))
def test_rows_are_answered_as_by_query(data: st.DataObject, model: Any) -> None:
    rows = data.draw(rows_of(model, n=3))
    target = data.draw(st.sampled_from(list(model.schema)))
    assert rows
    for row in rows:
        seen = {name: value for name, value in row.items() if value is not None and name != target}
        try:
            expected = model.query(target, seen).values
        except sf.ModelError as error:
            with pytest.raises(sf.ModelError, match=f"Row 1: {re.escape(str(error))}"):
                model.predict(target, columns_of([row]))
        else:
            found = model.predict(target, columns_of([row])).probabilities[0]
            np.testing.assert_allclose(found, expected, atol=1e-10)


@SLOW
@given(data=st.data(), model=st.one_of(discrete_networks(), markov_networks()))
def test_neither_row_order_nor_absent_columns_matter(data: st.DataObject, model: Any) -> None:
    rows = data.draw(rows_of(model))
    target = data.draw(st.sampled_from(list(model.schema)))
    order = data.draw(st.permutations(range(len(rows))))
    whole = model.predict(target, columns_of(rows), impossible="nan")
    other = model.predict(target, columns_of([rows[place] for place in order]), impossible="nan")
    np.testing.assert_allclose(other.probabilities, whole.probabilities[order], atol=1e-12)
    name = data.draw(st.sampled_from(list(model.schema)))
    assume(len(model.schema) > 1)
    gone = [{key: value for key, value in row.items() if key != name} for row in rows]
    empty = [{**row, name: None} for row in rows]
    absent, missing = (model.predict(target, columns_of(table), impossible="nan") for table in (gone, empty))
    np.testing.assert_allclose(absent.probabilities, missing.probabilities, atol=1e-12)


def test_evidence_that_is_impossible_far_from_the_target_counts() -> None:
    tables = {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]], "C": [0.5, 0.5], "D": [[1.0, 0.0], [0.3, 0.7]]}
    schema = {name: ["no", "yes"] for name in tables}
    model = sf.BayesianNetwork(sf.DAG("A -> B; C -> D"), tables, schema=schema)
    rows = {"B": ["no", "no", "no"], "C": ["no", "no", "yes"], "D": ["yes", "no", "yes"]}
    for way in WAYS:
        with answered_by(way):
            found = model.predict("A", rows, impossible="nan")
        assert np.isnan(found.probabilities).all(axis=1).tolist() == [True, False, False]
        with answered_by(way), pytest.raises(sf.ModelError, match=r"Row 1: .*D='yes' together with B='no', C='no'"):
            model.predict("A", rows)


def test_unknown_tables_matter_only_where_the_answer_depends_on_them() -> None:
    tables = {"A": [0.5, 0.5], "B": [[0.9, 0.1], [np.nan, np.nan]], "C": [[0.5, 0.5], [0.1, 0.9]]}
    schema = {name: ["no", "yes"] for name in tables}
    model = sf.BayesianNetwork(sf.DAG("A -> B; A -> C"), tables, schema=schema)
    found = model.predict("C", {"A": ["no", "yes", None, None], "B": [None, None, None, "no"]}, impossible="nan")
    np.testing.assert_allclose(found.probabilities[:3], [[0.5, 0.5], [0.1, 0.9], [0.3, 0.7]])
    assert np.isnan(found.probabilities[3]).all()
    with pytest.raises(sf.ModelError, match=r"Row 4: .*'B'.*NaN"):
        model.predict("C", {"A": [None] * 4, "B": [None, None, None, "no"]})


def test_the_tree_is_used_where_many_sets_of_values_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    names = [f"v{i:02}" for i in range(14)]
    schema = {name: ["a", "b", "c"] for name in names}
    parents = {name: [names[j] for j in (i - 1, i - 3) if j >= 0] for i, name in enumerate(names)}
    tables = {name: random.dirichlet(np.ones(3), [3] * len(parents[name])) for name in names}
    model = sf.BayesianNetwork(sf.DAG(parents), tables, schema=schema)
    frame = model.sample(6000, seed=1, backend="pandas")
    gaps = frame.mask(random.random(frame.shape) < 0.5)
    asked = []
    own = row_marginals.RowMarginals._asked
    monkeypatch.setattr(row_marginals.RowMarginals, "_asked", lambda *a: asked.append(len(a[3])) or own(*a))
    by_tree = model.predict("v05", gaps)
    assert asked == [max(asked)]
    assert asked[0] > 4096
    with answered_by("groups"):
        np.testing.assert_allclose(
            by_tree.probabilities[:300], model.predict("v05", gaps[:300]).probabilities, atol=1e-12
        )
    assert len(asked) == 1


def test_log_linear_models_predict() -> None:
    structure = sf.Features([sf.indicator(A="yes"), sf.indicator(A="yes", B="yes"), sf.indicator(B="yes", C="yes")])
    rows = {"A": ["yes", "no", "no", "yes"], "B": ["yes", "no", "yes", "no"], "C": ["no", "no", "yes", "yes"]}
    model = sf.fit(structure, rows, prior=sf.Gaussian(1.0)).model
    found = model.predict("A", {"B": ["yes", None], "C": [None, "yes"]})
    for row, seen in enumerate(({"B": "yes"}, {"C": "yes"})):
        np.testing.assert_allclose(found.probabilities[row], model.query("A", seen).values)


# What matters -------------------------------------------------------------------------------------------------


@SLOW
@given(model=discrete_networks(n=6), data=st.data())
def test_what_is_not_reached_is_separated(model: sf.BayesianNetwork, data: st.DataObject) -> None:
    """Whatever the search leaves out is d-separated, by paths followed one by one."""
    n = len(model.schema)
    known = np.array(data.draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=4)))
    target = data.draw(st.integers(0, n - 1))
    blanket = Blanket.of(model._tables.inquiry.product)
    reached = blanket.reached(target, known)
    names = model.dag.nodes
    assert len(reached) == len(known) > 0
    for row, held in zip(reached, known, strict=True):
        seen = {names[v] for v in np.flatnonzero(held) if v != target}
        joined = {name for name in seen if _joined(model.dag, names[target], name, seen - {name})}
        assert joined == {names[v] for v in np.flatnonzero(row)} & seen


def _joined(dag: sf.DAG, start: str, end: str, seen: set[str]) -> bool:
    """Whether a path joins two nodes given others: by moral graph of their ancestors."""
    above, stack = set[str](), [start, end, *seen]
    while stack:
        node = stack.pop()
        if node not in above:
            above.add(node)
            stack += dag.parents[node]
    joined = {node: set[str]() for node in above}
    for node in above:
        family = [node, *dag.parents[node]]
        for a in family:
            joined[a] |= set(family) - {a}
    reached, stack = set[str](), [start]
    while stack:
        node = stack.pop()
        if node not in reached and node not in seen:
            reached.add(node)
            stack += joined[node]
    return end in reached


# Continuous variables -----------------------------------------------------------------------------------------


@SLOW
@given(data=st.data(), model=networks())
def test_networks_of_both_sorts(data: st.DataObject, model: sf.BayesianNetwork) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    whole = model.sample(4, seed=int(random.integers(2**32)), backend="pandas").astype(object)
    gaps = random.random(whole.shape) < data.draw(st.sampled_from([0.0, 0.4, 0.8]))
    rows = {name: [None if gap else value for value, gap in zip(whole[name], gaps[:, place], strict=True)]
            for place, name in enumerate(whole)}  # fmt: skip
    target = data.draw(st.sampled_from(list(model.schema)))
    found = model.predict(target, rows, level=0.8)
    for row in range(4):
        seen = {name: column[row] for name, column in rows.items() if column[row] is not None and name != target}
        other = Twin(model, seen)
        if model.schema[target].is_discrete:
            np.testing.assert_allclose(found.probabilities[row], other.table([target]), rtol=1e-7, atol=1e-9)
            continue
        mean, covariance = other.moments([target])
        assert found.mean[row] == pytest.approx(mean[0], rel=1e-6, abs=1e-6)
        assert found.sd[row] == pytest.approx(np.sqrt(covariance[0, 0]), rel=1e-6)
        at = other.rest.index(target)
        for end, p in ((found.lower[row], 0.1), (found.upper[row], 0.9)):
            below = [norm.cdf(end, case[2][at], np.sqrt(case[3][at, at])) for case in other.cases]
            assert float(np.dot(other.weights(), below)) == pytest.approx(p, abs=1e-7)


@SLOW
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.0, 0.5, 1.0]), sparse=st.booleans())
def test_normal_distributions_by_the_closed_formula(seed: int, share: float, sparse: bool) -> None:
    random = np.random.default_rng(seed)
    p = int(random.integers(1, 6))
    root = random.normal(size=(p, p)) * (random.random((p, p)) < 0.4 if sparse else 1)
    precision = root @ root.T + np.diag(random.uniform(0.1, 1, p))
    names = [f"x{i}" for i in range(p)]
    scale = 10.0 ** random.integers(-3, 4, p)
    model = sf.JointNormal(names, random.normal(size=p), precision=precision / scale[:, None] / scale)
    rows = random.normal(size=(5, p)) * scale
    rows[random.random(rows.shape) < share] = np.nan
    target = int(random.integers(p))
    found = model.predict(names[target], dict(zip(names, rows.T, strict=True)), level=0.9)
    sigma = model.covariance
    for row in range(5):
        seen = [j for j in range(p) if j != target and not np.isnan(rows[row, j])]
        unit = np.sqrt(np.diag(sigma))
        gain = (
            sigma[target, seen]
            / unit[seen]
            @ np.linalg.inv(sigma[np.ix_(seen, seen)] / np.outer(unit[seen], unit[seen]))
        )
        mean = model.mean[target] + gain @ ((rows[row, seen] - model.mean[seen]) / unit[seen])
        sd = np.sqrt(sigma[target, target] - gain @ (sigma[seen, target] / unit[seen]))
        assert found.mean[row] == pytest.approx(mean, rel=1e-6, abs=1e-6 * unit[target])
        assert found.sd[row] == pytest.approx(sd, rel=1e-6)
        assert found.upper[row] == pytest.approx(found.mean[row] + norm.ppf(0.95) * found.sd[row])
        assert found.lower[row] == pytest.approx(found.mean[row] - norm.ppf(0.95) * found.sd[row])


def test_a_hidden_parent_of_a_softmax_is_refused_only_where_it_matters() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=300)
    data = {
        "x": x,
        "s": np.where(random.random(300) < 1 / (1 + np.exp(-x)), "hi", "lo"),
        "y": x + random.normal(size=300),
    }
    model = sf.fit(sf.DAG("x -> s; x -> y"), data).model
    assert model.predict("s", {"x": [2.0]}).labels.tolist() == ["hi"]
    np.testing.assert_allclose(model.predict("y", {"x": [0.5]}).mean, model.query("y", {"x": 0.5}).mean)
    with pytest.raises(sf.ModelError, match="softmax of the continuous"):
        model.predict("s", {"y": [2.0]})


# Classifiers --------------------------------------------------------------------------------------------------


def test_classifiers_predict_their_class() -> None:
    data = {"y": ["a", "a", "b", "b"], "x": [1.0, 2.0, 5.0, 6.5], "z": ["u", "v", "v", "v"]}
    model = sf.fit(sf.DAG("y -> x; y -> z"), data, prior=[sf.K2(), sf.NormalInverseGamma(2, 1.0)]).model
    import pandas as pd

    frame = pd.DataFrame(data)
    shell = sf.NaiveBayes().fit(frame[["x", "z"]], frame["y"])
    own = shell.fit_.model
    target = own.target.name
    rows = {"x": [1.5, None, 6.0], "z": ["u", "v", None]}
    found = own.predict(target, rows)
    np.testing.assert_allclose(found.probabilities, own.query_rows(target, rows).values)
    absent = own.predict(target, {"x": [1.5, 6.0]})
    np.testing.assert_allclose(
        absent.probabilities, own.query_rows(target, {"x": [1.5, 6.0], "z": [None, None]}).values
    )
    assert model.predict("y", rows).labels.tolist() == found.labels.tolist()
