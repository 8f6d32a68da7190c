"""Where answers come to their limits: sizes, lengths, models that leave nothing possible, states hardly apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import suffice as sf

YES_NO = ["yes", "no"]


@pytest.fixture
def little_memory() -> Iterator[None]:
    sf.config(memory="10MB")
    yield
    sf.config(memory="4GB")


def chain(n: int) -> sf.BayesianNetwork:
    names = [f"X{i}" for i in range(n)]
    dag = sf.DAG({name: ([names[i - 1]] if i else []) for i, name in enumerate(names)})
    tables = {name: ([[0.9, 0.1], [0.2, 0.8]] if i else [0.3, 0.7]) for i, name in enumerate(names)}
    return sf.BayesianNetwork(dag, tables, schema=dict.fromkeys(names, YES_NO))


def along_chain(steps: int, start: int) -> np.ndarray:
    return np.linalg.matrix_power(np.array([[0.9, 0.1], [0.2, 0.8]]), steps)[start]


def loose(n: int) -> sf.BayesianNetwork:
    names = [f"v{i}" for i in range(n)]
    return sf.BayesianNetwork(sf.DAG(names), {key: [0.25, 0.75] for key in names}, schema=dict.fromkeys(names, YES_NO))


@pytest.mark.usefixtures("little_memory")
def test_joint_answer_that_would_not_fit_is_refused_with_its_size() -> None:
    model = loose(40)
    with pytest.raises(
        sf.ModelError, match=r"26 variables with 67,108,864 cells, would need 1.61 GB, and may use 10 MB"
    ):
        model.query(list(model.variables[:26]))
    with pytest.raises(sf.ModelError, match="40 variables has more axes than the 32"):
        model.query(list(model.variables))
    with pytest.raises(sf.ModelError, match="cells for 3 rows of evidence"):
        model.query_rows(list(model.variables[:20]), {"v39": ["yes", "no", "yes"]})


def test_long_chain_is_answered_from_its_tree() -> None:
    model = chain(1000)
    for _ in range(20):  # beyond the first questions
        model.query("X3")
    found = model.query("X999", given={"X0": "yes"})
    np.testing.assert_allclose(found.values, along_chain(999, 0), atol=1e-12)
    asker = model._tables.inquiry.asker
    assert asker is not None
    answered = asker.ask((900,), {0: 1}, {})
    assert answered is not None
    np.testing.assert_allclose(answered[0], along_chain(900, 1), atol=1e-12)
    rows = model.query_rows("X400", {"X0": ["yes", "no"]})
    np.testing.assert_allclose(rows.values, [along_chain(400, 0), along_chain(400, 1)], atol=1e-12)


def test_model_that_leaves_nothing_possible_says_so() -> None:
    schema = {"A": YES_NO, "B": YES_NO}
    nothing = sf.MarkovNetwork([(("A", "B"), np.zeros((2, 2)))], schema=schema)
    anything = sf.MarkovNetwork([], schema=schema)
    assert nothing.log_z == -np.inf
    for call in (
        lambda: anything.kl(nothing),
        lambda: nothing.kl(anything),
        lambda: nothing.log_evidence({"A": "yes"}),
        lambda: nothing.log_prob({"A": ["yes"], "B": ["no"]}),
        lambda: nothing.query_rows("A", {"B": ["no"]}),
        lambda: nothing.query("A"),
        nothing.map,
    ):
        with pytest.raises(sf.ModelError, match="probability zero to everything"):
            call()


def test_states_hardly_apart_are_named_as_tied_but_the_greater_is_taken() -> None:
    n = 500
    names = [f"v{i}" for i in range(n)]
    factors = [((name,), [1.0, 1.0 + 9e-10]) for name in names]
    best = sf.MarkovNetwork(factors, schema=dict.fromkeys(names, YES_NO)).map()
    assert set(best.states.values()) == {"no"}
    assert set(best.ties) == set(names)
    assert best.log_prob == pytest.approx(best.log_posterior, abs=1e-12)


def test_single_states_make_no_axes() -> None:
    names = [f"v{i}" for i in range(70)]
    factors = [((names[i], names[j]), [[2.0]]) for i in range(70) for j in range(i)]
    model = sf.MarkovNetwork(factors, schema={key: ["only"] for key in names})
    assert model.log_z == pytest.approx(len(factors) * np.log(2))
    assert model.query("v0").to_numpy().tolist() == [1.0]


def test_impossible_piece_of_much_evidence_is_found_and_the_message_stays_short() -> None:
    model = chain(300)
    tables = {name: model.cpd(name).table for name in model.variables}
    tables["X299"] = [[1.0, 0.0], [1.0, 0.0]]
    model = sf.BayesianNetwork(model.dag, tables, schema=model.schema)
    with pytest.raises(sf.ModelError, match=r"X299='no' together with X0='yes', .* and 286 more") as caught:
        model.query("X5", given={name: "no" if name == "X299" else "yes" for name in model.variables if name != "X5"})
    assert len(str(caught.value)) < 600


def test_no_rows_of_evidence() -> None:
    answers = chain(3).query_rows(["X0", "X1"], {"X2": np.array([], dtype=str)})
    assert len(answers) == 0
    assert answers.to_numpy().shape == (0, 2, 2)
    assert answers.to_frame("pyarrow").shape == (0, 4)
    assert "X0=yes, X1=no" in str(answers)


def test_rows_meet_unknown_rows_only_where_they_matter() -> None:
    fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x"], "B": ["u", "v"]}, schema={"A": ["x", "y"]}, unseen_parents="nan")
    assert fit.model.query_rows("B", {"A": ["x", "x"]}).to_numpy().tolist() == [[0.5, 0.5]] * 2
    with pytest.raises(sf.ModelError, match="unknown rows"):
        fit.model.query_rows("B", {"A": ["x", "y"]})


def test_rows_may_have_unknown_states() -> None:
    model = chain(2)
    with pytest.raises(sf.SufficeError, match="unknown_states='missing'"):
        model.query_rows("X1", {"X0": ["yes", "perhaps"]})
    found = model.query_rows("X1", {"X0": ["yes", "perhaps"]}, unknown_states="missing")
    np.testing.assert_allclose(found.values[1], model.query("X1").values)


def test_extreme_soft_evidence_under_strict_floating_point() -> None:
    model = chain(4)
    with np.errstate(all="raise"):
        found = model.query("X3", given={"X0": {"yes": 1e-300, "no": 1e-301}, "X1": {"yes": 1e300, "no": 1.0}})
    assert found.values.sum() == pytest.approx(1)
