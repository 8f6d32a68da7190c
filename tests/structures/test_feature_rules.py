"""Rules of features: what a rule says on rows is what its table says, whatever its variables' order and kinds."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.structures.feature_rules import Called, Equal, Feature, Listed, Match, Outer, Rule, Term, Times

sizes_drawn = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
numbers = st.integers(-5, 5).map(float)


@st.composite
def rules(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[Rule, Any]:
    """Draw a rule over variables of some sizes, and a plain function of their codes."""
    kind = draw(st.sampled_from(["match", "outer", "equal", "listed", "called"]))
    if kind == "match":
        codes = tuple(draw(st.integers(0, size - 1)) for size in sizes)
        return Match(codes), lambda *x: float(x == codes)
    if kind == "outer":
        held = tuple(tuple(draw(st.lists(numbers, min_size=size, max_size=size))) for size in sizes)
        return Outer(held), lambda *x: math.prod(row[code] for row, code in zip(held, x, strict=True))
    if kind == "equal":
        return Equal(), lambda *x: float(len(set(x)) == 1)
    cells = list(itertools.product(*map(range, sizes)))
    values = draw(st.lists(numbers, min_size=len(cells), max_size=len(cells)))
    table = dict(zip(cells, values, strict=True))
    if kind == "listed":
        places = tuple(place for place, value in enumerate(values) if value)
        return Listed(sizes, places, tuple(values[p] for p in places)), lambda *x: table[x]
    labels = tuple(tuple(f"s{code}" for code in range(size)) for size in sizes)
    by_label = {tuple(f"s{code}" for code in cell): value for cell, value in table.items()}
    scope = tuple(f"V{v}" for v in range(len(sizes)))
    return Called(lambda *x: by_label[x], "f", scope, labels), lambda *x: table[x]


@st.composite
def rules_with_sizes(draw: st.DrawFn) -> tuple[tuple[int, ...], Rule, Any]:
    sizes = draw(sizes_drawn)
    return (sizes, *draw(rules(sizes)))


def columns_of(sizes: tuple[int, ...]) -> list[Any]:
    return [axis.reshape(-1) for axis in np.indices(sizes)]


def table_of(rule: Rule, sizes: tuple[int, ...]) -> Any:
    table = np.zeros(math.prod(sizes))
    places, values = rule.cells(sizes)
    assert len(set(places.tolist())) == len(places)
    assert (values != 0).all()
    table[places] = values
    return table


@given(rules_with_sizes())
def test_rows_and_cells_say_what_a_plain_function_says(drawn: tuple[tuple[int, ...], Rule, Any]) -> None:
    sizes, rule, plain = drawn
    wanted = [plain(*x) for x in itertools.product(*map(range, sizes))]
    np.testing.assert_array_equal(rule.at(columns_of(sizes)), wanted)
    np.testing.assert_array_equal(table_of(rule, sizes), wanted)


@given(st.data())
def test_products_of_rules_multiply_whatever_the_order_of_their_variables(data: st.DataObject) -> None:
    sizes = data.draw(sizes_drawn)
    parts, plains = [], []
    for _ in range(data.draw(st.integers(1, 3))):
        positions = tuple(data.draw(st.permutations(range(len(sizes))))[: data.draw(st.integers(1, len(sizes)))])
        rule, plain = data.draw(rules(tuple(sizes[p] for p in positions)))
        parts.append((positions, rule))
        plains.append((positions, plain))
    whole = Times(tuple(parts))
    wanted = [
        math.prod(plain(*(x[p] for p in positions)) for positions, plain in plains)
        for x in itertools.product(*map(range, sizes))
    ]
    np.testing.assert_array_equal(whole.at(columns_of(sizes)), wanted)
    np.testing.assert_array_equal(table_of(whole, sizes), wanted)


def test_a_feature_is_the_sum_of_its_terms() -> None:
    feature = Feature("f", (Term(("A", "B"), Match((1, 0))), Term(("B",), Outer(((2.0, -1.0),)))))
    assert feature.variables == ("A", "B")
    columns = {"A": np.array([0, 1, 1]), "B": np.array([0, 0, 1])}
    np.testing.assert_array_equal(feature.at(columns), [2.0, 3.0, -1.0])


def test_functions_are_called_once_a_configuration() -> None:
    seen = []
    rule = Called(lambda *x: seen.append(x) or 1.0, "f", ("A", "B"), (("a", "b"), (0, 1, 2)))
    rule.at([np.zeros(1000, int), np.ones(1000, int)])
    rule.cells((2, 3))
    assert sorted(seen) == [(a, b) for a in "ab" for b in range(3)]


def test_functions_of_continuous_variables_are_called_once_a_distinct_row() -> None:
    seen = []
    rule = Called(lambda *x: seen.append(x) or len(seen), "f", ("A", "x"), (("a", "b"), None))
    found = rule.at([np.array([0, 1, 0, 0]), np.array([0.5, 0.5, 0.5, 2.0])])
    assert seen == [("a", 0.5), ("b", 0.5), ("a", 2.0)]
    np.testing.assert_array_equal(found, [1, 2, 1, 3])


def test_vectorised_functions_see_whole_columns() -> None:
    rule = Called(lambda a, x: (a == "b") * x, "f", ("A", "x"), (("a", "b"), None), vectorised=True)
    np.testing.assert_array_equal(rule.at([np.array([0, 1]), np.array([3.0, 4.0])]), [0.0, 4.0])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "1 or 2", [1, 2]])
def test_a_value_that_is_no_finite_number_is_refused_where_it_is(value: Any) -> None:
    rule = Called(lambda a: value if a == "b" else 1.0, "odd", ("A",), (("a", "b"),))
    for call in (lambda: rule.cells((2,)), lambda: rule.at([np.array([0])])):
        with pytest.raises(sf.StructureError, match=r"'odd' must be a finite number everywhere.*at A='b'"):
            call()


def test_a_vectorised_value_that_is_not_finite_is_refused_where_it_is() -> None:
    rule = Called(np.log, "log", ("x",), (None,), vectorised=True)
    with (
        np.errstate(divide="ignore"),
        pytest.raises(sf.StructureError, match=r"'log' must be a finite number everywhere.*at x="),
    ):
        rule.at([np.array([1.0, 0.0])])


def test_booleans_count_as_numbers() -> None:
    rule = Called(lambda a, b: a == b, "same", ("A", "B"), (("a", "b"), ("a", "b")))
    np.testing.assert_array_equal(table_of(rule, (2, 2)), [1, 0, 0, 1])
