"""Variables: what a state is, how a label finds it, and when two lists of states unite."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.data.schema import Schema
from suffice.data.variable import Variable, sort_labels, unite
from suffice.errors import SchemaError, SufficeError, UnknownNameError

texts = st.text(max_size=6)
homogeneous = st.one_of(
    st.lists(texts, unique=True, max_size=6),
    st.lists(st.integers(-(10**9), 10**9), unique=True, max_size=6),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True, max_size=6),
    st.sampled_from([[False, True], [True, False], [True]]),
)


@given(homogeneous)
def test_every_state_is_found_at_its_own_position(states):
    variable = Variable("x", tuple(states), True)
    assert [variable.code(state) for state in states] == list(range(len(states)))
    assert variable.n_states == len(states)


@given(homogeneous, homogeneous)
def test_variables_are_equal_exactly_when_name_and_typed_states_are(first, second):
    same = [(type(s), s) for s in first] == [(type(s), s) for s in second]
    one, other = Variable("x", tuple(first)), Variable("x", tuple(second))
    assert (one == other) is same
    if same:
        assert hash(one) == hash(other)


def test_bools_are_not_the_numbers_zero_and_one():
    assert Variable("x", (False, True)) != Variable("x", (0, 1))
    assert Variable("x", (False, True)) != Variable("x", ("False", "True"))
    assert Variable("x", (0, 1)).find(True) is None
    assert Variable("x", (False, True)).find(1) is None


def test_whole_numbers_are_not_floats_of_the_same_value_as_variables():
    assert Variable("x", (1, 2)) != Variable("x", (1.0, 2.0))


@pytest.mark.parametrize("spelling", ["TRUE", "True", "true"])
def test_text_spellings_of_true_find_the_bool(spelling):
    assert Variable("x", (False, True)).code(spelling) == 1
    assert Variable("x", (spelling, "other")).code(True) == 0


@pytest.mark.parametrize("spelling", ["FALSE", "False", "false"])
def test_text_spellings_of_false_find_the_bool(spelling):
    assert Variable("x", (True, False)).code(spelling) == 1
    assert Variable("x", ("other", spelling)).code(False) == 1


def test_text_and_numbers_find_each_other():
    assert Variable("x", (1, 2)).code("2") == 1
    assert Variable("x", ("1", "2")).code(2) == 1
    assert Variable("x", ("1", "2")).code(2.0) == 1
    assert Variable("x", (1, 2)).code(2.0) == 1
    assert Variable("x", (1.0, 2.5)).code("2.5") == 1
    assert Variable("x", (1.0, 2.5)).code("1") == 0


def test_the_label_itself_goes_before_a_loose_match():
    assert Variable("x", ("TRUE", "true", "True")).code("true") == 1
    assert Variable("x", ("1", "01")).code("01") == 1


def test_loose_match_is_refused_where_two_states_are_spelled_alike():
    variable = Variable("x", ("TRUE", "true"))
    assert variable.find(True) is None
    with pytest.raises(UnknownNameError):
        variable.code(True)


def test_text_is_never_matched_loosely_with_other_text():
    assert Variable("x", ("true", "false")).find("TRUE") is None
    assert Variable("x", ("1", "2")).find("1.0") is None
    assert Variable("x", ("a", "b")).find("A") is None


@pytest.mark.parametrize("label", [None, [1], {}, float("nan"), 3, "maybe"])
def test_what_is_no_state_is_not_found(label):
    assert Variable("x", ("no", "yes")).find(label) is None


def test_none_does_not_find_the_state_spelled_none():
    assert Variable("x", ("None", "Some")).find(None) is None


def test_unknown_state_lists_the_states_and_suggests_the_closest():
    with pytest.raises(UnknownNameError, match=r"'smoker' has no state 'yess'.*\['no', 'yes'\].*Did you mean 'yes'"):
        Variable("smoker", ("no", "yes")).code("yess")


def test_numpy_scalars_find_the_states_they_are_equal_to():
    assert Variable("x", ("no", "yes")).code(np.str_("yes")) == 1
    assert Variable("x", (1, 2)).code(np.int64(2)) == 1
    assert Variable("x", (1.5, 2.5)).code(np.float64(2.5)) == 1
    assert Variable("x", (False, True)).code(np.bool_(True)) == 1


def test_states_may_come_from_a_numpy_array_of_text():
    states = tuple(np.unique(np.array(["no", "yes", "no"])))
    assert Variable("x", states, True).code("yes") == 1


@pytest.mark.parametrize("states", [("a", 1), (True, 1), ("True", False)])
def test_states_of_different_sorts_are_refused(states):
    with pytest.raises(SchemaError, match=r"'x'.*mix"):
        Variable("x", states)


@pytest.mark.parametrize("states", [("a", "b", "a"), (1, 2, 1), (True, True)])
def test_repeated_state_is_refused_and_named(states):
    with pytest.raises(SchemaError, match=f"{states[-1]!r} is listed more than once"):
        Variable("x", states)


@pytest.mark.parametrize("state", [None, ("a",), b"a", object()])
def test_state_of_another_type_is_refused_with_its_type(state):
    with pytest.raises(SchemaError, match=f"'x'.*{type(state).__name__}"):
        Variable("x", (state,))


@pytest.mark.parametrize("name", ["", None, 3])
def test_name_must_be_text_that_is_not_empty(name):
    with pytest.raises(SchemaError, match="name"):
        Variable(name)


def test_states_of_a_continuous_variable_are_an_error_that_names_it():
    variable = Variable("age")
    assert not variable.is_discrete
    with pytest.raises(SchemaError, match="'age' is continuous"):
        _ = variable.n_states
    with pytest.raises(SchemaError, match="'age' is continuous"):
        variable.code(3)


@given(st.lists(st.one_of(st.integers(), st.floats(allow_nan=False)), max_size=8))
def test_numbers_sort_by_value(labels):
    assert list(sort_labels(labels)) == sorted(labels)


def test_numbers_sort_before_text():
    assert sort_labels(["b", 2, "a", 1]) == (1, 2, "a", "b")


# Uniting ------------------------------------------------------------------------------------------------------


@given(st.lists(texts, unique=True), st.lists(texts, unique=True))
def test_inferred_states_unite_sorted_in_either_order(first, second):
    one, other = Variable("x", sort_labels(first)), Variable("x", sort_labels(second))
    united = unite(one, other)
    assert united.states == tuple(sorted({*first, *second}))
    assert not united.declared
    assert unite(other, one) == united


@given(*[st.lists(st.integers(0, 9), unique=True).map(lambda s: Variable("x", sort_labels(s)))] * 3)
def test_uniting_inferred_states_is_associative(a, b, c):
    assert unite(unite(a, b), c) == unite(a, unite(b, c))


def test_declared_states_stay_as_they_are_when_an_inferred_list_lies_within():
    declared = Variable("x", ("c", "a", "b"), True)
    inferred = Variable("x", ("a", "b"))
    assert unite(declared, inferred) == declared == unite(inferred, declared)


def test_inferred_state_outside_a_declared_list_is_refused_and_shown():
    declared, inferred = Variable("x", ("a", "b"), True), Variable("x", ("a", "z"))
    for pair in ((declared, inferred), (inferred, declared)):
        with pytest.raises(SchemaError, match=r"'x'.*\['a', 'b'\].*\['z'\]"):
            unite(*pair)


def test_declared_lists_must_agree_in_order():
    with pytest.raises(SchemaError, match="order included"):
        unite(Variable("x", ("a", "b"), True), Variable("x", ("b", "a"), True))


def test_text_spelled_as_bools_lies_within_declared_bools():
    declared, inferred = Variable("x", (False, True), True), Variable("x", ("FALSE", "TRUE"))
    assert unite(declared, inferred) == declared


def test_inferred_text_and_numbers_do_not_unite():
    with pytest.raises(SchemaError, match=r"'x'.*mix"):
        unite(Variable("x", (1, 2)), Variable("x", ("a",)))


def test_continuous_and_discrete_do_not_unite():
    with pytest.raises(SchemaError, match=r"'x' is continuous in one part and discrete in the other.*schema="):
        unite(Variable("x"), Variable("x", ("a",)))


def test_continuous_parts_unite():
    assert unite(Variable("x"), Variable("x", None, True)) == Variable("x", None, True)


@pytest.mark.parametrize("other", [Variable("x"), Variable("x", ("b", "a"), True), Variable("x", (1, 2))])
def test_part_without_any_value_unites_with_everything(other):
    assert unite(Variable("x", ()), other) == other == unite(other, Variable("x", ()))


def test_variables_of_different_names_do_not_unite():
    with pytest.raises(SchemaError, match="'x' and 'y'"):
        unite(Variable("x", ("a",)), Variable("y", ("a",)))


# Schemas ------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.dictionaries(st.text(min_size=1, max_size=5), st.tuples(st.none() | homogeneous, st.booleans()), max_size=4))
def test_schema_round_trips_through_plain_data(entries):
    schema = Schema(
        tuple(Variable(n, None if s is None else tuple(s), declared) for n, (s, declared) in entries.items())
    )
    assert Schema.from_dict(schema.to_dict()) == schema


def test_schema_is_a_mapping_in_order():
    schema = Schema((Variable("b", ("x",)), Variable("a")))
    assert list(schema) == ["b", "a"]
    assert len(schema) == 2
    assert "a" in schema
    assert "c" not in schema
    assert schema.select(["a"]).variables == (Variable("a"),)


def test_schema_names_the_variables_it_has_and_the_closest():
    with pytest.raises(UnknownNameError, match=r"no variable 'smokng'.*\['smoking', 'age'\].*Did you mean 'smoking'"):
        Schema((Variable("smoking"), Variable("age")))["smokng"]


def test_schema_refuses_a_variable_twice():
    with pytest.raises(SchemaError, match="'a' occurs twice"):
        Schema((Variable("a"), Variable("b"), Variable("a")))


def test_schemas_over_different_variables_do_not_unite():
    with pytest.raises(SchemaError, match=r"\['a', 'b'\] are in one of them only"):
        Schema((Variable("a"), Variable("c"))).unite(Schema((Variable("b"), Variable("c"))))


def test_schema_shows_kinds_and_escapes_html():
    schema = Schema((Variable("<b>", ("x&y",)), Variable("age")))
    assert "continuous" in str(schema)
    assert "&lt;b&gt;" in schema._repr_html_()
    assert "<b>" not in schema._repr_html_()


def test_every_schema_error_is_one_of_ours():
    with pytest.raises(SufficeError):
        Variable("x", (object(),))


# Thresholds ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.5, 1.0, 7.5])
def test_numbers_are_compared_and_states_found(threshold):
    variable = Variable.binary("n", threshold)
    for number in (-3, -0.5, 0, 0.7, 1, 2.5, 8, "8", "-3.5"):
        assert variable.find(number) == int(float(number) > threshold)
    assert [variable.code(state) for state in variable.labels] == [0, 1]
    assert variable.find("x") is None
    assert variable.find(float("nan")) is None
    assert variable.find(None) is None


def test_a_threshold_is_part_of_a_variable():
    plain, cut = Variable("n", (0, 1), True), Variable.binary("n", 0.0)
    assert plain != cut
    assert cut == Variable.binary("n", 0.0)
    assert Schema.from_dict(Schema((cut, Variable("m"))).to_dict())["n"].threshold == 0.0
    assert "[0, 1]: up to 0, and above" in str(Schema((cut,)))
    with pytest.raises(SchemaError, match=r"the threshold 0\.0 in one part, and with 1.0"):
        unite(cut, Variable.binary("n", 1.0))
