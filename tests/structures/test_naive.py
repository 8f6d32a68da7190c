"""Naive: what the structure of naive Bayes tells of columns, and how it is written."""

from __future__ import annotations

import pytest

import suffice as sf
from suffice.data.schema import Declaration, Schema
from suffice.data.variable import Variable
from suffice.structures.class_prior import ClassPrior
from suffice.structures.naive import KINDS, Naive

WHOLE = Naive(
    "y",
    ["a", "b", "c", "d", "e"],
    kinds=dict(zip("abcde", KINDS, strict=True)),
    class_prior={"p": 0.25, "q": 0.75},
    divisor="n-1",
)


def test_columns_are_inputs_and_then_the_class() -> None:
    assert WHOLE.columns == ("a", "b", "c", "d", "e", "y")


def test_kinds_give_columns_their_roles() -> None:
    assert WHOLE.continuous == {"c", "d", "e"}
    assert WHOLE.declared == {"b": Declaration("discrete", None, 0.0), **dict.fromkeys("ay", Declaration("discrete"))}
    assert WHOLE.multinomial == ("e",)
    plain = Naive("y", ["a"])
    assert (plain.continuous, plain.declared) == (frozenset(), {"y": Declaration("discrete")})


def test_kinds_default_from_the_schema() -> None:
    schema = Schema((Variable("a", ("u", "v")), Variable("b"), Variable("c"), Variable("y", (0, 1))))
    naive = Naive("y", ["b", "a", "c"], kinds={"c": "tied_gaussian"})
    assert naive.kinds_in(schema) == {"b": "gaussian", "a": "categorical", "c": "tied_gaussian"}


def test_order_of_kinds_means_nothing() -> None:
    one = Naive("y", ["a", "b"], kinds={"a": "bernoulli", "b": "gaussian"})
    other = Naive("y", ["a", "b"], kinds={"b": "gaussian", "a": "bernoulli"})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Naive("y", ["a", "b"], kinds={"a": "bernoulli"})
    assert one != Naive("y", ["b", "a"], kinds={"a": "bernoulli", "b": "gaussian"})


def test_text_is_what_builds_it() -> None:
    assert repr(Naive("y", ["a"])) == "Naive('y', ['a'])"
    assert eval(repr(WHOLE), {"Naive": Naive, "ClassPrior": ClassPrior}) == WHOLE
    assert str(WHOLE) == "y -> a, b, c, d, e"
    assert str(Naive("y", [f"x{i}" for i in range(9)])) == "y -> x0, x1, x2, x3, x4, x5, …"
    assert Naive("y", ["<b>"])._repr_html_() == "<pre>y -&gt; &lt;b&gt;</pre>"


def test_column_of_a_count_gets_a_free_name() -> None:
    assert Naive("y", ["a"]).column_name == "column"
    assert Naive("column", ["a", "column_"]).column_name == "column__"


def test_frozen() -> None:
    with pytest.raises(AttributeError):
        WHOLE.target = "z"  # type: ignore[misc]


@pytest.mark.parametrize("labels", [[0, 1, 1, 0], [0.5, 1.5, 1.5, 0.5], [True, False, False, True], list("abba")])
def test_classes_are_read_as_discrete_whatever_they_look_like(labels: list[object]) -> None:
    fit = sf.fit(Naive("y", ["x"]), {"x": [1.0, 2.0, 4.0, 5.0], "y": labels})
    assert set(fit.model.target.labels) == set(labels)
