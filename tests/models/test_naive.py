"""What a naive Bayes model answers: against a twin, against exact inference in its network, and in other forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import multinomial, norm
from tests.conformance.copies import check_copies
from tests.learn.naive_cases import (
    CLASSES,
    KINDS,
    NAMES,
    SCHEMA,
    columns,
    log_joint,
    posterior,
    structure,
    tables,
    twin,
)

import suffice as sf
from suffice.data.matrix import MatrixColumns
from suffice.data.variable import Variable
from suffice.models.cpds import NodeFamily
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.naive import NaiveModel
from suffice.structures.naive import Naive

QUICK = settings(max_examples=40, deadline=None)
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "colour": st.sampled_from(["blue", "red"]),
    "wet": st.sampled_from(["no", "yes"]),
    "size": st.integers(-20, 20).map(float),
    "age": st.integers(-20, 20).map(float),
}
COMPLETE = st.fixed_dictionaries(CELLS)
CASES = st.fixed_dictionaries({name: st.none() | values for name, values in CELLS.items()})


def given_of(case: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in case.items() if value is not None}


def model_of(rows: list[dict[str, Any]], **options: Any) -> NaiveModel:
    model: NaiveModel = sf.fit(structure(), columns(rows), schema=SCHEMA, **options).model
    return model


# Posteriors ---------------------------------------------------------------------------------------------------


@QUICK
@given(tables(), CASES)
def test_posterior_equals_the_twin_with_missing_inputs(rows: list[dict[str, Any]], case: dict[str, Any]) -> None:
    model = model_of(rows)
    wanted = posterior(twin(rows), case)
    np.testing.assert_allclose(model.query("y", given_of(case)).values, wanted, atol=1e-10)
    assert model.map(given_of(case)) == {"y": CLASSES[int(np.argmax(model.query("y", given_of(case)).values))]}


@QUICK
@given(tables(), CASES)
def test_posterior_equals_exact_inference_in_the_network(rows: list[dict[str, Any]], case: dict[str, Any]) -> None:
    model = model_of(rows)
    kinds = {"age": {"tied": "variance"}}
    by_itself = sf.fit(sf.DAG({name: ["y"] for name in NAMES}, kinds=kinds), columns(rows), schema=SCHEMA).model
    for network in (model.network, by_itself):
        wanted = network.query("y", given_of(case))
        np.testing.assert_allclose(model.query("y", given_of(case)).values, wanted.values, atol=1e-9)


@QUICK
@given(tables(), st.sampled_from(["colour", "wet"]), CASES)
def test_missing_state_is_the_sum_over_all_states(rows: list[dict[str, Any]], name: str, case: dict[str, Any]) -> None:
    """Brute force: p(y, the rest) = Σ p(y, the rest, state)."""
    model = model_of(rows)
    without = {**case, name: None}
    frame = {other: [without[other]] * len(SCHEMA[name]) for other in NAMES if other != name}
    every = model.query_rows("y", {**frame, name: list(SCHEMA[name])})
    one = model.query_rows("y", {other: [without[other]] for other in NAMES})
    joint = np.exp(every.log_evidence)[:, None] * np.nan_to_num(every.values)
    np.testing.assert_allclose(joint.sum(axis=0), np.exp(one.log_evidence[0]) * one.values[0], rtol=1e-9)


def test_missing_number_is_integrated_out() -> None:
    rows = [
        {"x": x, "c": c, "y": y} for x, c, y in [(1.0, "u", "a"), (2.5, "v", "a"), (4.0, "u", "b"), (7.0, "u", "b")]
    ]
    data = {name: [row[name] for row in rows] for name in ("x", "c", "y")}
    model = sf.fit(Naive("y", ["x", "c"]), data).model
    grid = np.linspace(-60, 60, 24_001)
    on_grid = np.exp(model.log_scores_of({"x": grid, "c": np.zeros(len(grid), int)}, len(grid)))
    left_out = np.exp(model.log_scores_of({"x": np.array([np.nan]), "c": np.array([0])}, 1)[0])
    np.testing.assert_allclose(np.trapezoid(on_grid, grid, axis=0), left_out, rtol=1e-6)


def test_nothing_known_leaves_the_class_probabilities() -> None:
    model = sf.fit(Naive("y", ["c"]), {"c": ["u", "v", "v"], "y": ["a", "b", "b"]}).model
    np.testing.assert_allclose(model.query("y").values, [1 / 3, 2 / 3])


@QUICK
@given(tables(), CASES, st.lists(st.floats(0.05, 1), min_size=3, max_size=3))
def test_other_class_probabilities_shift_log_odds_by_a_constant(
    rows: list[dict[str, Any]], case: dict[str, Any], levels: list[float]
) -> None:
    model = model_of(rows, prior=sf.Dirichlet(1.0))
    pi = np.array(levels) / sum(levels)
    other = model.with_class_priors(dict(zip(CLASSES, pi.tolist(), strict=True)))
    coded = {"colour": ["blue", "green", "red"], "wet": ["no", "yes"]}
    columns_ = {name: np.array([-1 if case[name] is None else coded[name].index(case[name])]) for name in coded}
    columns_ |= {name: np.array([np.nan if case[name] is None else case[name]]) for name in ("size", "age")}
    before, after = (one.log_posteriors_of(columns_, 1)[0] for one in (model, other))
    shift = np.log(pi) - np.log(model.class_prior)
    np.testing.assert_allclose(after - after[0], before - before[0] + shift - shift[0], rtol=1e-9, atol=1e-8)


# Fast and slow ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", ["matrix", "columns"])
def test_scores_are_those_of_scipy(held: str) -> None:
    rng = np.random.default_rng(2)
    y, names = Variable("y", tuple("abcd")), ("p", "q", "r")
    mean, variance = rng.normal(size=(4, 3)), rng.uniform(0.5, 2, (4, 3))
    x = np.where(rng.random((500, 3)) < 0.2, np.nan, rng.normal(size=(500, 3)))
    codes = rng.integers(-1, 3, (500, 3)).astype(np.int8)
    theta = rng.dirichlet(np.ones(3), (3, 4))
    theta[0, 1] = [0, 0.25, 0.75]

    def scores(cpds: list[Any], array: Any) -> Any:
        inputs = tuple(cpd.family.child for cpd in cpds)
        model = NaiveModel(Naive("y", names), y, inputs, np.full(4, 0.25), tuple(cpds))
        columns_ = MatrixColumns(array, names, {}) if held == "matrix" else dict(zip(names, array.T, strict=True))
        return model.log_likelihoods_of(columns_, 500)

    normal = [
        LinearGaussianCPD(NodeFamily(Variable(name), (y,)), mean[:, j], np.zeros((4, 0)), variance[:, j])
        for j, name in enumerate(names)
    ]
    wanted = np.nansum(norm.logpdf(x[:, None, :], mean, np.sqrt(variance)), axis=2)
    np.testing.assert_allclose(scores(normal, x), wanted, atol=1e-12)
    tabular = [TabularCPD(NodeFamily(Variable(name, ("u", "v", "w")), (y,)), theta[j]) for j, name in enumerate(names)]
    with np.errstate(divide="ignore"):
        each = [np.vstack([np.log(theta[j]).T, np.zeros(4)])[codes[:, j]] for j in range(3)]
    np.testing.assert_allclose(scores(tabular, codes), sum(each), atol=1e-12)


def test_number_far_beyond_all_others_is_impossible() -> None:
    model = sf.fit(Naive("y", ["x"]), {"x": [1.0, 2.0, 4.0, 7.0], "y": list("aabb")}).model
    assert model.log_scores_of({"x": np.array([1e200])}, 1).tolist() == [[-math.inf, -math.inf]]


def test_no_rows_have_no_scores() -> None:
    model = sf.fit(Naive("y", ["c", "x"]), {"c": ["u", "v"] * 2, "x": [1.0, 2.0, 3.0, 5.0], "y": list("aabb")}).model
    assert model.log_scores_of({"c": np.zeros(0, int), "x": np.zeros(0)}, 0).shape == (0, 2)


# Zeros and policies -------------------------------------------------------------------------------------------

ZEROS = {"c": ["u", "u", "v", "v"], "d": ["s", "t", "s", "s"], "y": ["a", "a", "b", "b"]}


def test_state_never_seen_with_a_class_rules_it_out() -> None:
    model = sf.fit(Naive("y", ["c", "d"]), ZEROS).model
    assert model.query("y", {"c": "u"}).values.tolist() == [1, 0]


def test_inputs_impossible_under_every_class_are_an_error_or_nan() -> None:
    model = sf.fit(Naive("y", ["c", "d"]), ZEROS).model
    for ask in (lambda given: model.query("y", given), model.map):
        with pytest.raises(sf.ModelError, match="impossible"):
            ask({"c": "v", "d": "t"})
    both = model.log_posteriors_of({"c": np.array([0, 1]), "d": np.array([0, 1])}, 2)
    assert np.isnan(both).all(axis=1).tolist() == [False, True]
    answers = model.query_rows("y", {"c": ["u", "v"], "d": ["s", "t"]})
    assert answers.values[0].tolist() == [1, 0]
    assert np.isnan(answers.values[1]).all()
    assert answers.log_evidence[1] == -math.inf
    smoothed = sf.fit(Naive("y", ["c", "d"]), ZEROS, prior=sf.Dirichlet(1.0)).model
    assert np.isfinite(smoothed.query("y", {"c": "v", "d": "t"}).values).all()


def test_unknown_states_are_an_error_or_left_out() -> None:
    model = sf.fit(Naive("y", ["c", "d"]), ZEROS, prior=sf.Dirichlet(1.0)).model
    with pytest.raises(sf.DataError, match="unknown_states='missing'"):
        model.query_rows("y", {"c": ["new"], "d": ["s"]})
    found = model.query_rows("y", {"c": ["new"], "d": ["s"]}, unknown_states="missing")
    np.testing.assert_allclose(found.values[0], model.query("y", {"d": "s"}).values)


# Counts -------------------------------------------------------------------------------------------------------

WORDS = {"u": [3, 1, 0, 0], "v": [0, 2, 4, 1], "w": [1, 1, 2, 5], "y": ["a", "a", "b", "b"]}
OF_WORDS = Naive("y", ["u", "v", "w"], kinds=dict.fromkeys("uvw", "multinomial"))


def test_posterior_of_counts_is_that_of_multinomial_draws() -> None:
    model = sf.fit(OF_WORDS, WORDS, prior=sf.Dirichlet(1.0)).model
    theta = model.counts.values
    case = {"u": 2, "v": 1, "w": 3}
    p = model.class_prior * [multinomial.pmf([2, 1, 3], 6, row) for row in theta]
    np.testing.assert_allclose(model.query("y", case).values, p / p.sum(), rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("row", [2, 9000])
def test_counts_that_are_missing_in_a_row_are_refused_by_row_and_column(form: Any, row: int) -> None:
    x = np.tile(np.array([[3.0, 0.0, 1.0], [1.0, 2.0, 1.0], [0.0, 4.0, 2.0]]), (4000, 1))
    clf = sf.NaiveBayes("multinomial").fit(form(x), np.tile(["a", "a", "b"], 4000))
    x[row, 1] = np.nan
    for ask in (clf.predict, clf.predict_proba, clf.predict_log_proba):
        with pytest.raises(sf.DataError, match=f"Column 'x1', row {row + 1}: the count is missing"):
            ask(form(x))


def test_counts_that_are_missing_in_a_table_are_refused_by_row_and_column() -> None:
    model = sf.fit(OF_WORDS, WORDS, prior=sf.Dirichlet(1.0)).model
    data = {"u": [1.0, 2.0], "v": [1.0, np.nan], "w": [0.0, 1.0]}
    for ask in (
        lambda: model.query_rows("y", data),
        lambda: model.log_prob({**data, "y": ["a", "b"]}),
        lambda: model.predict("y", data),
        lambda: model.predict("y", {"u": [1.0], "w": [1.0]}),
    ):
        with pytest.raises(sf.DataError, match=r"Column 'v', row [12]: the count is missing"):
            ask()


def test_counts_of_which_only_some_are_given_are_judged_given_their_total() -> None:
    model = sf.fit(OF_WORDS, WORDS, prior=sf.Dirichlet(1.0)).model
    theta = model.counts.values[:, :2] / model.counts.values[:, :2].sum(axis=1, keepdims=True)
    p = model.class_prior * [multinomial.pmf([2, 1], 3, row) for row in theta]
    np.testing.assert_allclose(model.query("y", {"u": 2, "v": 1}).values, p / p.sum(), rtol=1e-12)
    np.testing.assert_allclose(model.query("y").values, model.class_prior)


def test_zero_times_an_impossible_column_is_zero() -> None:
    model = sf.fit(OF_WORDS, WORDS).model
    assert model.counts.values[1, 0] == 0
    assert (model.query("y", {"u": 0, "v": 1, "w": 1}).values > 0).all()
    assert model.query("y", {"u": 1, "v": 1, "w": 1}).values.tolist() == [1, 0]
    assert model.query("y", {"u": 1}).values.tolist() == [1, 0]
    assert model.query("y", {"u": 0}).values.tolist() == [0.5, 0.5]


def test_empty_rows_of_counts_leave_the_class_probabilities() -> None:
    model = sf.fit(OF_WORDS, WORDS).model
    np.testing.assert_allclose(model.query("y", {"u": 0, "v": 0, "w": 0}).values, model.class_prior)


# Other forms --------------------------------------------------------------------------------------------------


@QUICK
@given(tables(), st.lists(COMPLETE, min_size=1, max_size=5))
def test_softmax_form_has_the_same_posteriors(rows: list[dict[str, Any]], cases: list[dict[str, Any]]) -> None:
    model = model_of(rows)
    data = {name: [case[name] for case in cases] for name in NAMES}
    mine, theirs = (one.query_rows("y", data).values for one in (model, model.to_softmax()))
    np.testing.assert_allclose(theirs, mine, atol=1e-10)


def test_softmax_form_of_counts_and_of_shared_variances_is_linear() -> None:
    model = sf.fit(OF_WORDS, WORDS).model
    softmax = model.to_softmax()
    assert [str(term) for term in softmax.terms] == ["u", "v", "w"]
    assert softmax.weights[0, 1] == -math.inf
    cases = {"u": [0.0, 2.0, 0.0], "v": [0.0, 1.0, 3.0], "w": [0.0, 0.0, 1.0]}
    np.testing.assert_allclose(softmax.query_rows("y", cases).values, model.query_rows("y", cases).values, atol=1e-12)
    tied = sf.fit(Naive("y", ["x"], kinds={"x": "tied_gaussian"}), {"x": [1.0, 2.0, 5.0, 7.0], "y": list("aabb")}).model
    assert [str(term) for term in tied.to_softmax().terms] == ["x"]
    np.testing.assert_allclose(tied.to_softmax().query("y", {"x": 3.0}).values, tied.query("y", {"x": 3.0}).values)


@QUICK
@given(tables(), COMPLETE)
def test_weights_add_up_to_the_joint_log_probability(rows: list[dict[str, Any]], case: dict[str, Any]) -> None:
    model = model_of(rows, prior=sf.Dirichlet(1.0))
    values = {"(constant)": 1.0, "size": case["size"], "size²": case["size"] ** 2, "age": case["age"]}
    values |= {"age²": case["age"] ** 2, f"colour={case['colour']}": 1.0, f"wet={case['wet']}": 1.0}
    for label in CLASSES:
        terms = [x * model.weights[{"term": term, "y": label}] for term, x in values.items()]
        wanted = log_joint(twin(rows, pseudo=1.0), case, label)
        assert math.fsum(terms) == pytest.approx(wanted, rel=1e-8, abs=1e-6)


def test_weights_of_discrete_inputs_are_log_probabilities() -> None:
    model = sf.fit(Naive("y", ["c"]), {"c": ["u", "v", "v"], "y": ["a", "a", "b"]}).model
    assert [str(label) for label in model.weights.variables[0].labels] == ["c=u", "c=v", "(constant)"]
    np.testing.assert_allclose(
        model.weights.values, [[math.log(0.5), -math.inf], [math.log(0.5), 0], [math.log(2 / 3), math.log(1 / 3)]]
    )


def test_weights_of_equal_names_stay_apart() -> None:
    data = {"a": ["b", "c"], "a=b": [1.0, 2.0], "term": ["s", "t"]}
    fit = sf.fit(Naive("term", ["a", "a=b"], kinds={"a=b": "multinomial"}), data)
    assert fit.model.weights.variables[0].labels == ("a=b", "a=c", "a=b_", "(constant)")
    assert fit.model.weights.names == ("term_", "term")


def test_draws_follow_the_model() -> None:
    model = model_of([{**row, "y": label} for label in CLASSES for row in _varied(label)])
    frame = model.sample(40_000, seed=1)
    again = sf.fit(structure(), frame, schema=SCHEMA).model
    np.testing.assert_allclose(again.class_prior, model.class_prior, atol=0.01)
    for name in KINDS:
        if name in SCHEMA:
            np.testing.assert_allclose(again.cpd(name).values, model.cpd(name).values, atol=0.02)
        else:
            np.testing.assert_allclose(again.cpd(name).intercept, model.cpd(name).intercept, atol=0.1)
            np.testing.assert_allclose(again.cpd(name).variance, model.cpd(name).variance, rtol=0.05)
    assert list(frame.columns) == [*NAMES, "y"]


def _varied(label: str) -> list[dict[str, Any]]:
    shift = CLASSES.index(label)
    colours = [*["red", "red", "blue", "green"][shift:], "blue"]
    return [
        {"colour": colour, "wet": wet, "size": shift + step * 1.0, "age": 2.0 * step - shift}
        for step, (colour, wet) in enumerate(zip(colours, ["no", "yes", "no", "no"], strict=False))
    ]


# Names and files ----------------------------------------------------------------------------------------------


def test_distributions_by_name() -> None:
    data = {**WORDS, "c": ["s", "s", "t", "t"], "column": [1.0, 2.0, 3.0, 5.0]}
    naive = Naive("y", ["c", "u", "v", "w", "column"], kinds=dict.fromkeys("uvw", "multinomial"))
    model = sf.fit(naive, data).model
    assert model.parts == ("y", "c", "column", "column_")
    assert model.cpd("u") is model.cpd("column_") is model.counts
    assert model.cpd("column").kind == "linear_gaussian"
    assert model.cpd("y").values.tolist() == [[0.5, 0.5]]
    assert str(model).count("p(") == 4
    assert "NaiveModel(y -> 5 inputs)" in repr(model)


@pytest.mark.parametrize("with_counts", [False, True])
def test_fits_can_be_copied_and_saved(tmp_path: Any, with_counts: bool) -> None:
    data: dict[str, Any] = {"c": ["s", None, "t", "t"], "x": [1.0, 2.0, 4.0, 5.0], "y": [0, 0, 1, 1]}
    naive: Naive = Naive("y", ["c", "x"], class_prior={0: 0.25, 1: 0.75}, divisor="n-1")
    if with_counts:
        data |= {"u": [3, 1, 0, 0], "v": [0, 2, 4, 1]}
        kinds = {"u": "multinomial", "v": "multinomial"}
        naive = Naive("y", ["u", "c", "x", "v"], kinds=kinds, class_prior="uniform")
    fit = sf.fit(naive, data, missing="available", prior=None if not with_counts else sf.Dirichlet(0.5))
    check_copies(fit, {"c": ["t"], "x": [3.0], "y": [1], "u": [2], "v": [0]}, tmp_path)
    again = sf.read(tmp_path / "fit.json")
    assert sf.estimate(again.structure, again.statistics, prior=again.prior).log_likelihood == fit.log_likelihood


def test_file_keeps_classes_that_never_occurred(tmp_path: Any) -> None:
    fit = sf.fit(Naive("y", ["c", "x"]), {"c": ["u", "v"], "x": [1.0, 2.0], "y": ["a", "a"]}, schema={"y": ["a", "b"]})
    sf.write(fit.model, tmp_path / "model.json")
    again = sf.read(tmp_path / "model.json")
    assert again.unknown.tolist() == [False, True]
    assert again.query("y", {"c": "u"}).values.tolist() == [1, 0]


def test_model_is_frozen_and_keeps_its_arrays() -> None:
    y, c = Variable("y", ("a", "b")), Variable("c", ("u", "v"))
    prior = np.array([0.5, 0.5])
    model = NaiveModel(Naive("y", ["c"]), y, (c,), prior, (TabularCPD(NodeFamily(c, (y,)), np.full((2, 2), 0.5)),))
    prior[0] = 0.9
    assert model.class_prior.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        model.class_prior[0] = 1.0
