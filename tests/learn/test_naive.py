"""Naive Bayes learnt: against a twin in plain Python, from parts, with weights, gaps and priors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.naive_cases import CLASSES, COLOURS, KINDS, NAMES, SCHEMA, columns, log_joint, structure, tables, twin

import suffice as sf
from suffice.data.matrix import MatrixTable
from suffice.data.variable import Variable
from suffice.structures.naive import Naive

QUICK = settings(max_examples=40, deadline=None)


def agrees(model: Any, wanted: dict[str, Any], tol: float = 1e-12) -> None:
    for place, label in enumerate(CLASSES):
        assert model.class_prior[place] == pytest.approx(wanted["y"][label], abs=tol)
        for name in NAMES:
            cpd = model.cpd(name)
            if name in SCHEMA:
                expected = [wanted[name][label, state] for state in cpd.family.child.labels]
                np.testing.assert_allclose(cpd.values[place], expected, atol=tol)
            else:
                mean, variance = wanted[name][label]
                assert cpd.intercept[place] == pytest.approx(mean, rel=tol, abs=tol)
                assert cpd.variance[place] == pytest.approx(variance, rel=1e-9)


# Maximum likelihood -------------------------------------------------------------------------------------------


@QUICK
@given(tables())
def test_estimate_equals_the_twin_and_is_certified(rows: list[dict[str, Any]]) -> None:
    fit = sf.fit(structure(), columns(rows), schema=SCHEMA, certify="data")
    wanted = twin(rows)
    agrees(fit.model, wanted)
    assert fit.certificate.ok, fit.certificate
    expected = math.fsum(log_joint(wanted, row, row["y"]) for row in rows)
    assert fit.log_likelihood == pytest.approx(expected, rel=1e-10)
    assert sum(fit.local.values()) == pytest.approx(fit.log_likelihood)
    assert fit.model.log_prob(columns(rows)).sum() == pytest.approx(expected, rel=1e-9)


@QUICK
@given(tables(gaps=True))
def test_gaps_leave_each_column_with_the_values_that_it_has(rows: list[dict[str, Any]]) -> None:
    fit = sf.fit(structure(), columns(rows), schema=SCHEMA, missing="available", certify="data")
    wanted = twin(rows)
    agrees(fit.model, wanted)
    assert fit.certificate.ok, fit.certificate
    assert fit.certificate.data_gap == pytest.approx(0, abs=1e-12)
    expected = math.fsum(log_joint(wanted, row, row["y"]) for row in rows)
    assert fit.log_likelihood == pytest.approx(expected, rel=1e-10)
    lacking = {name: sum(row[name] is None for row in rows) for name in NAMES}
    said = [str(note) for note in fit.notes if "Values missing" in str(note)]
    assert bool(said) == any(lacking.values())
    for name, gap in lacking.items():
        assert not gap or f"{name} {gap}" in said[0]


@QUICK
@given(tables(gaps=True), st.data())
def test_no_other_parameters_are_more_likely_given_gaps(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    """The estimate is the maximum of the likelihood of what was observed, not only some average."""
    best = twin(rows)
    fit = sf.fit(structure(), columns(rows), schema=SCHEMA, missing="available")
    other = {**best, "size": dict(best["size"])}
    label = data.draw(st.sampled_from(CLASSES))
    mean, variance = best["size"][label]
    other["size"][label] = (
        mean + data.draw(st.floats(-1, 1)),
        variance * data.draw(st.floats(0.5, 2)),
    )
    assert math.fsum(log_joint(other, row, row["y"]) for row in rows) <= fit.log_likelihood + 1e-9


@QUICK
@given(tables(gaps=True), st.data())
def test_weights_are_repeated_rows(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    repeated = [row for row, n in zip(rows, times, strict=True) for _ in range(n)]
    weighted = sf.fit(structure(), columns(rows), schema=SCHEMA, weights=times, missing="available")
    long = sf.fit(structure(), columns(repeated), schema=SCHEMA, missing="available")
    agrees(weighted.model, twin(rows, times))
    assert weighted.log_likelihood == pytest.approx(long.log_likelihood, rel=1e-12)
    assert weighted.n == long.n == sum(times)


@QUICK
@given(tables(gaps=True), st.data())
def test_any_split_adds_up_to_the_whole(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(rows) - 1))
    collect: dict[str, Any] = {"schema": SCHEMA, "missing": "available"}
    parts = [sf.collect(structure(), columns(part), **collect) for part in (rows[:cut], rows[cut:])]
    both, whole = sf.estimate(structure(), parts[0] + parts[1]), sf.fit(structure(), columns(rows), **collect)
    agrees(both.model, twin(rows))
    assert both.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    assert [str(note) for note in both.notes] == [str(note) for note in whole.notes]


def test_streamed_file_with_gaps_equals_the_frame(tmp_path: Any) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"c": rng.choice(["u", "v"], 300), "x": rng.normal(size=300), "y": rng.choice(["a", "b"], 300)}
    )
    frame.loc[::7, "c"] = None
    frame.loc[::5, "x"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    naive = Naive("y", ["c", "x"])
    streamed = sf.fit(naive, str(tmp_path / "t.csv"), missing="available", certify="data")
    held = sf.fit(naive, frame, missing="available")
    assert streamed.certificate.ok
    assert streamed.log_likelihood == pytest.approx(held.log_likelihood, rel=1e-12)
    assert streamed.statistics[sf.Count(("y", "c"))].total == frame["c"].notna().sum()


@pytest.mark.parametrize("discrete", [False, True])
def test_matrix_with_gaps_equals_its_columns(discrete: bool) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200).astype(np.int8)
    target = Variable("y", ("a", "b", "c"), True)
    if discrete:
        matrix: Any = rng.integers(-1, 3, (200, 4)).astype(np.int8)
        inputs = tuple(Variable(name, ("u", "v", "w"), True) for name in "pqrs")
        held = {name: [None if code < 0 else "uvw"[code] for code in matrix[:, j]] for j, name in enumerate("pqrs")}
    else:
        matrix = np.where(rng.random((200, 4)) < 0.2, np.nan, rng.normal(size=(200, 4)) + y[:, None])
        inputs = tuple(Variable(name) for name in "pqrs")
        held = {name: matrix[:, j] for j, name in enumerate("pqrs")}
    naive = Naive("y", list("pqrs"))
    schema = {"y": ["a", "b", "c"], **({name: ["u", "v", "w"] for name in "pqrs"} if discrete else {})}
    by_matrix = sf.fit(naive, MatrixTable(matrix, inputs, {"y": y}, (target,)), missing="available", certify="data")
    by_columns = sf.fit(naive, {**held, "y": ["abc"[k] for k in y]}, schema=schema, missing="available")
    assert by_matrix.certificate.ok
    assert by_matrix.log_likelihood == pytest.approx(by_columns.log_likelihood, rel=1e-12)
    with pytest.raises(sf.DataError, match="missing"):
        sf.fit(naive, MatrixTable(matrix, inputs, {"y": y}, (target,)))


# Counts -------------------------------------------------------------------------------------------------------

COUNTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), st.sampled_from("ab")), max_size=9)


@QUICK
@given(COUNTS, st.sampled_from([0.0, 0.5, 1.0]))
def test_counts_are_shares_of_the_class_sums(rows: list[tuple[int, int, int, str]], pseudo: float) -> None:
    rows = [*rows, (1, 0, 2, "a"), (0, 3, 0, "b")]
    data = {name: [row[j] for row in rows] for j, name in enumerate(("u", "v", "w", "y"))}
    naive = Naive("y", ["u", "v", "w"], kinds=dict.fromkeys("uvw", "multinomial"))
    prior = sf.Dirichlet(pseudo) if pseudo else None
    fit = sf.fit(naive, data, prior=prior, certify="data")
    expected = np.array([[sum(r[j] for r in rows if r[3] == k) for j in range(3)] for k in "ab"], float) + pseudo
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fit.model.counts.values, expected, atol=1e-14)
    assert fit.certificate.ok
    assert fit.n_free == 1 + 2 * 2
    with np.errstate(divide="ignore"):
        logs = np.log(expected)
    draws = sum(x * logs["ab".index(r[3]), j] for r in rows for j, x in enumerate(r[:3]) if x)
    assert fit.local["column"] == pytest.approx(draws)


def test_counts_stay_exact_after_adding_many_parts() -> None:
    rng = np.random.default_rng(5)
    counts, y = rng.integers(0, 1000, (300, 2)), rng.choice(["a", "b"], 300)
    naive = Naive("y", ["u", "v"], kinds={"u": "multinomial", "v": "multinomial"})
    parts = [
        sf.collect(naive, {"u": counts[i : i + 7, 0], "v": counts[i : i + 7, 1], "y": y[i : i + 7]})
        for i in range(0, 300, 7)
    ]
    fit = sf.estimate(naive, sum(parts))
    sums = np.array([counts[y == k].sum(axis=0) for k in "ab"])
    assert np.array_equal(fit.model.counts.values, sums / sums.sum(axis=1, keepdims=True))


# Priors -------------------------------------------------------------------------------------------------------


@QUICK
@given(tables(gaps=True), st.sampled_from([0.5, 1.0, 3.0]))
def test_dirichlet_adds_its_pseudo_count_to_every_cell(rows: list[dict[str, Any]], pseudo: float) -> None:
    fit = sf.fit(structure(), columns(rows), schema=SCHEMA, missing="available", prior=sf.Dirichlet(pseudo))
    agrees(fit.model, twin(rows, pseudo=pseudo))
    assert fit.certificate.ok
    assert "maximum likelihood where there is no prior" in fit.certificate.claim
    assert any("size, age: fitted without a prior; the one given says nothing of normal" in str(n) for n in fit.notes)


@QUICK
@given(tables())
def test_priors_of_both_kinds_equal_those_of_the_network(rows: list[dict[str, Any]]) -> None:
    kinds = {**KINDS, "age": "gaussian"}
    prior = [sf.Dirichlet(1.0), sf.NormalInverseGamma(2, 1.0)]
    fit = sf.fit(Naive("y", NAMES, kinds=kinds), columns(rows), schema=SCHEMA, prior=prior)
    network = sf.fit(sf.DAG({name: ["y"] for name in NAMES}), columns(rows), schema=SCHEMA, prior=prior)
    assert fit.certificate.ok
    for name in NAMES:
        assert fit.local[name] == pytest.approx(network.local[name], rel=1e-12)


def test_mode_under_a_flat_prior_is_maximum_likelihood() -> None:
    data = {"c": ["u", "v", "v", "u"], "y": ["a", "a", "b", "b"]}
    mode = sf.fit(Naive("y", ["c"]), data, prior=sf.K2(), point="map")
    assert np.array_equal(mode.model.cpd("c").values, sf.fit(Naive("y", ["c"]), data).model.cpd("c").values)
    assert mode.certificate.ok


def test_pseudo_counts_of_one_column_leave_the_others_at_the_rest() -> None:
    data = {"c": ["u", "v", "v"], "d": ["s", "s", "t"], "y": ["a", "a", "b"]}
    prior = sf.Dirichlet({"c": 1.0}, rest=3.0)
    fit = sf.fit(Naive("y", ["c", "d"]), data, prior=prior)
    assert fit.model.cpd("c").values[1] == pytest.approx([1 / 3, 2 / 3])
    assert fit.model.cpd("d").values[1] == pytest.approx([3 / 7, 4 / 7])


# Classes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("counted", [0.75, 0.25]),
        ("uniform", [0.5, 0.5]),
        (1.0, [4 / 6, 2 / 6]),
        ({"a": 0.1, "b": 0.9}, [0.1, 0.9]),
    ],
)
def test_class_probabilities_are_as_the_structure_says(spec: Any, wanted: list[float]) -> None:
    data = {"c": ["u", "v", "v", "u"], "y": ["a", "a", "a", "b"]}
    fit = sf.fit(Naive("y", ["c"], class_prior=spec), data)
    assert fit.model.class_prior == pytest.approx(wanted)
    assert fit.certificate.ok
    assert fit.n_free == (1 if spec in ("counted", 1.0) else 0) + 2
    assert fit.local["y"] == pytest.approx(3 * math.log(wanted[0]) + math.log(wanted[1]))


def test_classes_given_as_text_find_numbers() -> None:
    fit = sf.fit(Naive("y", ["c"], class_prior={"0": 0.25, "1": 0.75}), {"c": ["u", "v"], "y": [0, 1]})
    assert fit.model.class_prior.tolist() == [0.25, 0.75]
    assert fit.certificate.ok


def test_given_zero_of_a_class_that_occurs_makes_the_data_impossible() -> None:
    fit = sf.fit(Naive("y", ["c"], class_prior={"a": 0, "b": 1}), {"c": ["u", "v"], "y": ["a", "b"]})
    assert fit.log_likelihood == -math.inf
    assert any("rule out" in str(note) for note in fit.notes)
    assert fit.certificate.ok


def test_class_that_never_occurs_is_never_chosen() -> None:
    data = {"c": ["u", "v", "u"], "x": [1.0, 2.0, 4.0], "y": ["a", "a", "a"]}
    fit = sf.fit(Naive("y", ["c", "x"]), data, schema={"y": ["a", "b"]})
    assert fit.certificate.ok
    assert fit.model.class_prior.tolist() == [1, 0]
    assert fit.model.query("y", {"c": "u", "x": 3.0}).values.tolist() == [1, 0]
    assert any("['b'] never occur" in str(note) for note in fit.notes)
    assert fit.n_free_adjusted == 0 + 1 + 2
    scores = fit.model.scores_of({"c": np.array([0]), "x": np.array([1.0])}, 1, "ml")
    assert scores[0, 1] == -math.inf
    np.testing.assert_allclose(fit.model.to_softmax().query("y", {"c": "u", "x": 3.0}).values, [1, 0])


def test_class_that_never_occurs_needs_a_prior_when_it_has_a_probability() -> None:
    data = {"c": ["u", "v", "u"], "y": ["a", "a", "a"]}
    naive, schema = Naive("y", ["c"], class_prior=1.0), {"y": ["a", "b"]}
    with pytest.raises(sf.EstimationError, match="class 'b' of 'y' has no rows"):
        sf.fit(naive, data, schema=schema)
    smoothed = sf.fit(naive, data, schema=schema, prior=sf.Dirichlet(1.0))
    assert smoothed.model.cpd("c").values[1].tolist() == [0.5, 0.5]
    flat = sf.fit(naive, data, schema=schema, unseen_parents="uniform")
    assert flat.model.cpd("c").values[1].tolist() == [0.5, 0.5]
    assert flat.certificate.ok


def test_class_without_a_value_of_a_column_follows_unseen_parents() -> None:
    data = {"c": ["u", None, "v"], "y": ["a", "b", "a"]}
    with pytest.raises(sf.EstimationError, match="Column 'c' has no values in the class 'b'"):
        sf.fit(Naive("y", ["c"]), data, missing="available")
    fit = sf.fit(Naive("y", ["c"]), data, missing="available", unseen_parents="uniform")
    assert fit.model.cpd("c").values.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    unknown = sf.fit(Naive("y", ["c"]), data, missing="available", unseen_parents="nan")
    assert np.isnan(unknown.model.query_rows("y", {"c": ["u"]}).values).all()


def test_one_class_only_is_certain() -> None:
    fit = sf.fit(Naive("y", ["c"]), {"c": ["u", "v"], "y": ["a", "a"]})
    assert fit.certificate.ok
    assert fit.model.query("y", {"c": "u"}).values.tolist() == [1]
    assert any("one class only, 'a'" in str(note) for note in fit.notes)


# Variances ----------------------------------------------------------------------------------------------------


def test_divisor_is_one_less_or_one_a_class_less() -> None:
    data = {"x": [1.0, 2.0, 6.0, 1.0, 3.0], "y": ["a", "a", "a", "b", "b"]}
    own = sf.fit(Naive("y", ["x"], divisor="n-1"), data)
    assert own.model.cpd("x").variance == pytest.approx([7.0, 2.0])
    tied = sf.fit(Naive("y", ["x"], kinds={"x": "tied_gaussian"}, divisor="n-1"), data)
    assert tied.model.cpd("x").variance == pytest.approx([16 / 3, 16 / 3])
    for fit in (own, tied):
        assert fit.certificate.ok
        assert "n − p" in fit.certificate.claim
        assert "divisor n − 1" in str(fit)


def test_shared_variance_takes_a_column_that_is_constant_in_a_class() -> None:
    data = {"x": [1.0, 1.0, 2.0, 4.0], "y": ["a", "a", "b", "b"]}
    fit = sf.fit(Naive("y", ["x"], kinds={"x": "tied_gaussian"}), data)
    assert fit.model.cpd("x").variance == pytest.approx([0.5, 0.5])
    assert fit.certificate.ok
    assert fit.n_free == 1 + 2 + 1


@QUICK
@given(tables(), st.floats(1e3, 1e9))
def test_numbers_far_from_zero_keep_their_digits(rows: list[dict[str, Any]], far: float) -> None:
    moved = [{**row, "size": row["size"] + round(far)} for row in rows]
    here, there = (sf.fit(structure(), columns(part), schema=SCHEMA) for part in (rows, moved))
    np.testing.assert_allclose(there.model.cpd("size").variance, here.model.cpd("size").variance, rtol=1e-9)
    assert there.certificate.ok


# Reading ------------------------------------------------------------------------------------------------------


def test_kinds_follow_the_schema() -> None:
    data = {"c": ["u", "v", "u", "v"], "n": [1, 2, 3, 1], "x": [0.5, 1.5, 2.5, 0.5], "y": [0.5, 0.5, 1.5, 1.5]}
    fit = sf.fit(Naive("y", ["c", "n", "x"]), data, schema={"n": sf.continuous()})
    assert [fit.model.cpd(name).kind for name in ("c", "n", "x")] == ["tabular", "linear_gaussian", "linear_gaussian"]
    assert fit.model.target.labels == (0.5, 1.5)


def test_dropping_rows_is_another_choice() -> None:
    data = {"c": ["u", None, "v"], "d": ["s", "t", "t"], "y": ["a", "b", "b"]}
    fit = sf.fit(Naive("y", ["c", "d"]), data, missing="drop")
    assert (fit.n, fit.statistics.n_dropped) == (2, 1)
    with pytest.raises(sf.DataError, match="'c', row 2"):
        sf.fit(Naive("y", ["c", "d"]), data)


def test_log_likelihood_is_told_part_by_part() -> None:
    data = {"c": ["u", "v"], "n": [2, 0], "m": [1, 3], "y": ["a", "b"]}
    fit = sf.fit(Naive("y", ["c", "n", "m"], kinds={"n": "multinomial", "m": "multinomial"}), data)
    assert list(fit.local) == ["y", "c", "column"]
    assert "NaiveModel(y -> 3 inputs)" in str(fit)


@pytest.mark.parametrize("prior", [None, sf.Dirichlet(0.5)])
def test_columns_of_very_many_states_are_no_exception(prior: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    data = {"c": rng.integers(0, 9, 40).astype(str), "y": rng.choice(["a", "b"], 40)}
    schema = {"c": [str(i) for i in range(12)], "y": ["a", "b", "z"]}
    usual = sf.fit(Naive("y", ["c"]), data, schema=schema, prior=prior)
    monkeypatch.setattr("suffice.stats.counts.DENSE_CELLS", 8)
    sparse = sf.fit(Naive("y", ["c"]), data, schema=schema, prior=prior)
    assert sparse.statistics[sf.Count(("y", "c"))].cells is not None
    np.testing.assert_allclose(sparse.model.cpd("c").values, usual.model.cpd("c").values)
    assert sparse.certificate.ok
    assert sparse.log_likelihood == pytest.approx(usual.log_likelihood)


def test_colours_are_those_of_the_schema() -> None:
    fit = sf.fit(Naive("y", ["colour"]), {"colour": ["red"], "y": ["a"]}, schema={"colour": COLOURS})
    assert fit.model.cpd("colour").values.tolist() == [[0, 0, 1]]
