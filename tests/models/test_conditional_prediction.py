"""Conditional log-linear models predict what they model, and know what their features are at states they never saw."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.command_line import bad, good

import suffice as sf
from suffice.data.schema import Schema
from suffice.data.variable import Variable

RNG = np.random.default_rng(3)
N = 120
DEPT, GENDER, SCORE = RNG.choice(list("ABC"), N), RNG.choice(["f", "m"], N), RNG.normal(size=N).round(2)
ADMIT = np.where(SCORE + (DEPT == "A") + RNG.normal(size=N) > 0, "yes", "no")
DATA = {"dept": DEPT, "gender": GENDER, "score": SCORE, "admit": ADMIT}
YES = sf.indicator(admit="yes")
WOMEN = sf.indicator(gender="f", admit="yes")
STRUCTURE = sf.Features(
    [YES, sf.product(sf.indicators("dept"), YES), WOMEN, sf.product("score", YES)], given=["dept", "gender", "score"]
)
FIT = sf.fit(STRUCTURE, DATA, prior=sf.Gaussian(3.0))
MODEL = FIT.model
ROWS = {"dept": ["A", "B", "C"], "gender": ["f", "m", "f"], "score": [0.5, -1.0, 2.0]}
TWO = sf.fit(sf.Features([YES, sf.indicator(gender="f"), WOMEN, sf.product("score", YES)], given=["score"]), DATA).model


def test_predictions_are_those_of_query() -> None:
    found = MODEL.predict("admit", {**ROWS, "admit": ["yes", "no", "no"]})
    assert isinstance(found, sf.Predictions)
    for row in range(3):
        given = {name: column[row] for name, column in ROWS.items()}
        np.testing.assert_allclose(found.probabilities[row], MODEL.query("admit", given).values)
        assert found.labels[row] == MODEL.map(given)["admit"]
    assert found.score().n == 3
    assert list(found.to_frame("pandas").columns) == ["predicted", "p_no", "p_yes"]
    assert any("being what is predicted: ['admit']" in note for note in found.notes)


def test_other_outputs_are_evidence_where_a_row_has_them() -> None:
    given = {"score": [0.5, 0.5], "gender": ["f", None]}
    found = TWO.predict("admit", given)
    np.testing.assert_allclose(found.probabilities[0], TWO.query("admit", {"score": 0.5, "gender": "f"}).values)
    np.testing.assert_allclose(found.probabilities[1], TWO.query("admit", {"score": 0.5}).values)
    both = TWO.predict(["admit", "gender"], {"score": [0.5]})
    np.testing.assert_allclose(both["gender"].probabilities[0], TWO.query("gender", {"score": 0.5}).values)


def test_impossible_outputs_have_no_answer() -> None:
    schema = Schema((Variable("a", ("n", "y")), Variable("b", ("n", "y")), Variable("x", ("u", "v"))))
    features = sf.Features([sf.indicator(b="y"), sf.indicator(a="n", x="u")], given=["x"])
    model = sf.ConditionalLogLinear(features, [-np.inf, 2.0], schema=schema)
    with pytest.raises(sf.ModelError, match=r"Row 2: .*impossible='nan'"):
        model.predict("a", {"x": ["u", "u"], "b": ["n", "y"]})
    found = model.predict("a", {"x": ["u", "u"], "b": ["n", "y"]}, impossible="nan")
    assert found.labels.tolist() == ["n", None]
    assert found.notes[-1] == "1 row impossible under the model, without an answer."


@pytest.mark.parametrize(
    ("target", "rows", "match"),
    [
        ("dept", ROWS, r"predicts what it models, \['admit'\], and not \['dept'\]"),
        ("admit", {**ROWS, "dept": ["A", None, "B"]}, r"Column 'dept', row 2: the input is missing"),
        ("admit", {**ROWS, "score": [0.5, 1.0, np.nan]}, r"Column 'score', row 3: the input is missing"),
        ("admit", {name: ROWS[name] for name in ("dept", "score")}, r"Column 'gender', row 1: the input is missing"),
        ("admit", {**ROWS, "dept": ["A", "Z", "B"]}, r"Column 'dept', row 2: state 'Z'.*unknown_states='missing'"),
    ],
)
def test_what_it_cannot_predict_is_refused(target: str, rows: Any, match: str) -> None:
    with pytest.raises(sf.SufficeError, match=match):
        MODEL.predict(target, rows)


UNKNOWN = {**ROWS, "dept": ["A", "Z", "Y"]}


def test_indicators_are_zero_at_a_state_that_they_do_not_name() -> None:
    found = MODEL.predict("admit", UNKNOWN, unknown_states="missing")
    weights = dict(zip(MODEL.weights, MODEL.weights.to_numpy(), strict=True))
    score = weights["admit=yes"] + weights["score·(admit=yes)"] * -1.0
    assert found.probabilities[1, 1] == pytest.approx(1 / (1 + np.exp(-score)))
    score = weights["admit=yes"] + weights["score·(admit=yes)"] * 2.0 + weights["gender=f & admit=yes"]
    assert found.probabilities[2, 1] == pytest.approx(1 / (1 + np.exp(-score)))
    assert "dept: 2 values outside the model's states (first: 'Z'); indicators of 'dept' are zero there." in found.notes
    assert not any("summed" in note for note in found.notes)
    with pytest.raises(sf.DataError, match="Column 'dept', row 3: the input is missing"):
        MODEL.predict("admit", {**UNKNOWN, "dept": ["A", "Z", None]}, unknown_states="missing")


def test_that_is_what_declaring_the_state_says_under_a_prior() -> None:
    schema = {"dept": sf.categorical(list("ABCZ"))}
    declared = sf.fit(STRUCTURE, DATA, prior=sf.Gaussian(3.0), schema=schema).model
    rows = {**ROWS, "dept": ["A", "Z", "Z"]}
    np.testing.assert_allclose(
        MODEL.predict("admit", rows, unknown_states="missing").probabilities,
        declared.predict("admit", rows).probabilities,
        atol=1e-6,
    )


def test_all_questions_of_rows_take_the_policy() -> None:
    p = MODEL.predict("admit", UNKNOWN, unknown_states="missing").probabilities
    np.testing.assert_allclose(MODEL.query_rows("admit", UNKNOWN, unknown_states="missing").values, p)
    rows = {**UNKNOWN, "admit": ["yes", "no", "yes"]}
    np.testing.assert_allclose(MODEL.log_prob(rows, unknown_states="missing"), np.log([p[0, 1], p[1, 0], p[2, 1]]))
    assert len(MODEL.sample(UNKNOWN, seed=1, unknown_states="missing")) == 3
    for ask in (
        lambda: MODEL.query_rows("admit", UNKNOWN),
        lambda: MODEL.log_prob(rows),
        lambda: MODEL.sample(UNKNOWN),
    ):
        with pytest.raises(sf.DataError, match="unknown_states='missing'"):
            ask()
    with pytest.raises(sf.DataError, match=r"Column 'admit', row 2: .*no state of the model"):
        MODEL.log_prob({**UNKNOWN, "admit": ["yes", "perhaps", "yes"]}, unknown_states="missing")
    with pytest.raises(sf.DataError, match="Column 'gender', row 1: the input is missing"):
        MODEL.query_rows("admit", {**UNKNOWN, "gender": [None, "f", "m"]}, unknown_states="missing")


@pytest.mark.parametrize(
    "feature",
    [
        sf.product("level", YES),
        sf.feature(lambda level, admit: level > 1 and admit == "yes", over=["level", "admit"]),
        sf.product("level", "score", YES),
    ],
)
def test_features_that_are_no_indicators_are_not_made_up(feature: Any) -> None:
    data = {**DATA, "level": RNG.integers(0, 3, N)}
    features = sf.Features([YES, feature, sf.product("score", YES)], given=["level", "score"])
    model = sf.fit(features, data, prior=sf.Gaussian(3.0)).model
    rows = {"level": [1, 7], "score": [0.0, 0.0]}
    with pytest.raises(sf.DataError, match=r"Column 'level'.*is no indicator.*schema={'level': "):
        model.predict("admit", rows, unknown_states="missing")
    assert model.predict("admit", {"level": [1, 2], "score": [0.0, 0.0]}, unknown_states="missing").labels.all()


def test_an_indicator_times_a_number_is_zero_where_the_indicator_is() -> None:
    features = sf.Features([YES, sf.product("score", sf.indicator(dept="A", admit="yes"))], given=["dept", "score"])
    model = sf.fit(features, DATA, prior=sf.Gaussian(3.0)).model
    rows = {"dept": ["Z", "B"], "score": [5.0, 5.0]}
    p = model.predict("admit", rows, unknown_states="missing").probabilities
    np.testing.assert_allclose(p[0], p[1])


def test_the_command_line_predicts(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sf.write(FIT, "fit.json")
    lines = ["name,dept,gender,score", "Ann,A,f,0.5", "Bob,Z,m,-1.0"]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "--unknown-states missing" in bad("predict", "fit.json", "admit", "rows.csv")
    p = MODEL.predict("admit", {**{n: c[:2] for n, c in UNKNOWN.items()}}, unknown_states="missing").probabilities
    text = good("predict", "fit.json", "admit", "rows.csv", "--unknown-states", "missing", "--keep", "name", "--json",
                "--probabilities")  # fmt: skip
    document = json.loads(text)
    assert document["columns"] == ["name", "predicted", "p_no", "p_yes"]
    assert [row[0] for row in document["rows"]] == ["Ann", "Bob"]
    np.testing.assert_allclose([row[2:] for row in document["rows"]], p)
    assert document["summary"]["states"] == ["no", "yes"]
