"""Features, the structure: names of weights, scopes, ties, files; and every way to write it wrongly."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.feature_cases import Case, cases

import suffice as sf
from suffice.data.schema import Schema
from suffice.structures.feature_structures import features_from_dict

SCHEMA = Schema((
    sf.Variable("A", ("no", "yes")), sf.Variable("B", ("u", "v", "w")), sf.Variable("n", (0, 1, 5)),
    sf.Variable("s", (-1, 1)), sf.Variable("x"), *(sf.Variable(f"c{i}", ("a", "b")) for i in range(4)),
))  # fmt: skip
LETTERS = [f"c{i}" for i in range(4)]


def names_of(*specs: Any, **keywords: Any) -> list[str]:
    return [feature.name for feature in sf.Features(list(specs), **keywords).resolved(SCHEMA)]


def schema_of(case: Case) -> Schema:
    return Schema(tuple(sf.Variable(name, states) for name, states in case.states.items()))


def values_of(structure: sf.Features, case: Case) -> Any:
    codes = np.indices([len(states) for states in case.states.values()]).reshape(len(case.states), -1)
    columns = dict(zip(case.states, codes, strict=True))
    return np.column_stack([feature.at(columns) for feature in structure.resolved(schema_of(case))])


# What features are --------------------------------------------------------------------------------------------


@given(cases())
def test_every_specification_says_what_a_plain_function_of_the_row_says(case: Case) -> None:
    assert [feature.name for feature in case.structure.resolved(schema_of(case))] == case.names
    np.testing.assert_allclose(values_of(case.structure, case), case.values, rtol=1e-12, atol=1e-12)


@given(cases())
def test_scopes_hold_every_term_and_none_lies_in_another(case: Case) -> None:
    scopes = [set(scope) for scope in case.structure.scopes]
    for feature in case.structure.resolved(schema_of(case)):
        for term in feature.terms:
            assert any(set(term.scope) <= scope for scope in scopes)
    assert not any(a < b or (a == b and i != j) for i, a in enumerate(scopes) for j, b in enumerate(scopes))


@pytest.mark.parametrize(
    ("specs", "names"),
    [
        ([sf.indicator(A="yes", B="u")], ["A=yes & B=u"]),
        ([sf.indicator({"A": "yes"}, B="u", name="both")], ["both"]),
        ([sf.indicators("A", "B")], [f"A={a} & B={b}" for a in ("no", "yes") for b in "uvw"]),
        ([sf.indicators(["A", "B"], reference=True)], ["A=yes & B=v", "A=yes & B=w"]),
        ([sf.product("n", "n", "s")], ["n·n·s"]),
        ([sf.product("n", name="mean")], ["mean"]),
        ([sf.product("x", sf.indicators("A"))], ["x·(A=no)", "x·(A=yes)"]),
        ([sf.feature(lambda a: 1, over="A")], ["f(A)"]),
        ([sf.feature(max, over=("n", "s"))], ["max(n, s)"]),
        ([sf.feature({"yes": 2.0}, over="A")], ["table(A)"]),
        ([sf.windows(["ab", "b"], over=LETTERS)], ["ab", "b"]),
        ([sf.windows(over=LETTERS, width=2)], ["aa", "ab", "ba", "bb"]),
        ([sf.windows(lambda a, b: a == b, over=LETTERS, width=2, name="pairs")], ["pairs"]),
        ([sf.windows([("yes",)], over=["A"])], ["yes"]),
    ],
)  # fmt: skip
def test_every_weight_has_a_name(specs: list[Any], names: list[str]) -> None:
    assert names_of(*specs) == names


@pytest.mark.parametrize("pattern", [(1, 2), [1, 2], (1.0, 2.0), "12", (np.int64(1), np.int8(2))])
def test_patterns_find_numbers_however_they_are_written(pattern: Any) -> None:
    schema = Schema(tuple(sf.Variable(f"d{i}", (1, 2)) for i in range(2)))
    (feature,) = sf.windows([pattern], over=["d0", "d1"]).resolved(schema)
    assert feature.at({"d0": np.array([0, 0]), "d1": np.array([1, 0])}).tolist() == [1.0, 0.0]


def test_a_pattern_skips_positions_that_lack_its_state() -> None:
    schema = Schema((sf.Variable("p", ("a", "b")), sf.Variable("q", ("b", "c")), sf.Variable("r", ("a", "b"))))
    (feature,) = sf.windows(["ab"], over=["p", "q", "r"]).resolved(schema)
    assert [term.scope for term in feature.terms] == [("p", "q")]


def test_a_wide_feature_is_not_tabulated_before_it_must_be() -> None:
    many = [f"v{i}" for i in range(60)]
    schema = Schema(tuple(sf.Variable(name, ("a", "b")) for name in many))
    (feature,) = sf.indicator(dict.fromkeys(many, "a")).resolved(schema)
    assert feature.at({name: np.zeros(3, int) for name in many}).tolist() == [1.0, 1.0, 1.0]


# The structure ------------------------------------------------------------------------------------------------


def test_variables_come_in_order_of_appearance_or_as_told() -> None:
    specs = [sf.indicator(B="u"), sf.indicator(A="yes", B="v")]
    assert sf.Features(specs).variables == ("B", "A")
    assert sf.Features(specs, variables=["A", "C", "B"]).variables == ("A", "C", "B")
    assert sf.Features(specs, variables=["C"]).variables == ("C", "B", "A")


def test_inputs_come_last_and_are_not_modelled() -> None:
    structure = sf.Features([sf.product("x", sf.indicator(A="yes"))], given="x")
    assert (structure.variables, structure.given, structure.columns) == (("A",), ("x",), ("A", "x"))
    assert "A given x" in str(structure)
    assert "given=['x']" in repr(structure)


def test_tied_features_are_the_sum_of_their_members_at_the_place_of_the_first() -> None:
    specs = [sf.indicator(A="no"), sf.indicators("B"), sf.product("s")]
    structure = sf.Features(specs, tie={"either": ["B=v", "B=u"]})
    assert [f.name for f in structure.resolved(SCHEMA)] == ["A=no", "either", "B=w", "s"]
    common = structure.resolved(SCHEMA)[1]
    assert common.at({"B": np.array([0, 1, 2])}).tolist() == [1.0, 1.0, 0.0]
    assert names_of(*specs, tie=[["B=v", "B=u"]]) == ["A=no", "B=v = B=u", "B=w", "s"]


def test_the_name_of_a_tie_may_be_that_of_a_member() -> None:
    assert names_of(sf.indicators("B"), tie={"B=u": ["B=u", "B=v"]}) == ["B=u", "B=w"]


def test_the_name_of_a_tie_is_that_of_no_other_feature() -> None:
    with pytest.raises(sf.StructureError, match="'B=w'"):
        names_of(sf.indicators("B"), tie={"B=w": ["B=u", "B=v"]})


def test_specifications_are_values() -> None:
    assert sf.indicator(A="yes") == sf.indicator({"A": "yes"})
    assert hash(sf.indicators("A", "B")) == hash(sf.indicators(["A", "B"]))
    assert sf.Features([sf.product("n")]) == sf.Features(sf.product("n"))
    assert sf.Features([sf.product("n")]) != sf.Features([sf.product("s")])
    held = {("yes",): 1.0}
    assert hash(sf.Features([sf.feature(held, over="A")])) is not None
    assert sf.windows(["ab"], over=LETTERS) == sf.windows([("a", "b")], over=LETTERS)


def test_a_table_is_not_changed_when_the_users_mapping_changes() -> None:
    held: dict[Any, float] = {"yes": 2.0}
    spec = sf.feature(held, over="A", name="f")
    held["yes"] = 7.0
    assert spec.resolved(SCHEMA)[0].at({"A": np.array([1])}).tolist() == [2.0]


# Files --------------------------------------------------------------------------------------------------------


@given(cases())
@settings(max_examples=60)
def test_structures_survive_json_with_functions_as_tables(case: Case) -> None:
    written = case.structure.tabulated(schema_of(case))
    again = features_from_dict(json.loads(json.dumps(written.to_dict())))
    assert again.variables == case.structure.variables
    assert [feature.name for feature in again.resolved(schema_of(case))] == case.names
    np.testing.assert_allclose(values_of(again, case), case.values, rtol=1e-12, atol=1e-12)
    assert again.to_dict() == written.to_dict()


def test_supports_ties_and_inputs_survive_json() -> None:
    structure = sf.Features(
        [sf.product("x"), sf.product("x", "x"), sf.indicators("A")],
        support={"x": (0, math.inf)},
        tie={"t": ["A=no", "A=yes"]},
        variables=["A", "x"],
    )
    assert features_from_dict(json.loads(json.dumps(structure.to_dict()))) == structure
    inputs = sf.Features([sf.product("x", sf.indicators("A"))], given=["x"])
    assert features_from_dict(json.loads(json.dumps(inputs.to_dict()))) == inputs


# What is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: sf.Features([]), sf.StructureError, "There are no features"),
        (lambda: sf.Features({}), sf.StructureError, "Features are a list"),
        (lambda: sf.Features(3), sf.StructureError, "Features are a list"),
        (lambda: sf.Features("A"), sf.StructureError, "Features are a list"),
        (lambda: sf.Features(["A"]), sf.StructureError, r"A feature is made by sf\.indicator"),
        (lambda: sf.Features([sf.indicator(A="yes")], given=["B"]), sf.UnknownNameError, "'B' is in no feature"),
        (lambda: sf.Features([sf.indicator(A="yes")], given=["A"]), sf.StructureError, "inputs alone"),
        (lambda: sf.Features([sf.indicator(A="yes")], given=3), sf.SufficeError, "given"),
        (lambda: sf.Features([sf.indicator(A="yes")], variables=3), sf.SufficeError, "'variables'"),
        (lambda: sf.Features([sf.indicator(A="yes")], support=3), sf.SufficeError, "support"),
        (lambda: sf.Features([sf.indicator(A="yes")], tie=3), sf.SufficeError, "tie"),
        (lambda: sf.feature(len, over=3), sf.SufficeError, "over"),
        (lambda: sf.windows(["ab"], over=3), sf.SufficeError, "list of names"),
        (lambda: sf.indicators(["A", 3]), sf.StructureError, "named by text"),
        (lambda: sf.indicators("A", "A"), sf.StructureError, "twice"),
        (lambda: sf.indicator("A"), sf.StructureError, "An indicator is written"),
        (sf.indicator, sf.StructureError, "at least one state"),
        (sf.product, sf.StructureError, "at least one variable"),
        (lambda: sf.product("a", 3), sf.StructureError, "named by text"),
        (lambda: sf.windows(["abc"], over=["c1", "c2"]), sf.StructureError, "1 to 2 states"),
        (lambda: sf.windows(["ab", "a"], over=LETTERS, width=2), sf.StructureError, "2 states"),
        (lambda: sf.windows([], over=LETTERS), sf.StructureError, "at least one pattern"),
        (lambda: sf.windows(over=LETTERS), sf.StructureError, "'width'"),
        (lambda: sf.windows("ab", over=LETTERS), sf.StructureError, r"a list such as \['ing'"),
    ],
)  # fmt: skip
def test_bad_structures_are_refused(call: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize(
    ("spec", "error", "says"),
    [
        (sf.indicator(Z="yes"), sf.UnknownNameError, "'Z'"),
        (sf.indicator(A="maybe"), sf.UnknownNameError, "'maybe'"),
        (sf.indicator(x=1), sf.StructureError, "'x' is continuous"),
        (sf.product("A"), sf.StructureError, "multiplies numbers"),
        (sf.feature({("yes", "no"): 1.0}, over="A"), sf.StructureError, "one state for each of"),
        (sf.feature({"maybe": 1.0}, over="A"), sf.UnknownNameError, "'maybe'"),
        (sf.windows(["xx"], over=LETTERS), sf.UnknownNameError, "fits nowhere"),
        (sf.windows(over=["A", "B"], width=2), sf.StructureError, "same states"),
    ],
)  # fmt: skip
def test_unknown_names_and_states_are_refused(spec: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        sf.Features([spec]).resolved(SCHEMA)


def test_two_features_of_one_name_are_refused() -> None:
    with pytest.raises(sf.StructureError, match="Two features are called 'A=yes'"):
        names_of(sf.indicator(A="yes"), sf.indicators("A"))


@given(st.sampled_from([(1, 0), (0, 0), (0,), "ab", (math.nan, 1), 3, None]))
def test_supports_are_intervals(ends: Any) -> None:
    with pytest.raises(sf.StructureError, match="must be an interval"):
        sf.Features([sf.product("x")], support={"x": ends})
