"""maxent: what cannot be done is refused, by names and numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.learn.clique_cases import grid
from tests.test_max_entropy import AB, YES_NO, labelled

import suffice as sf

HALF = [[0.0, 0.5], [0.5, 0.0]]


@pytest.mark.parametrize(
    ("structure", "targets", "keywords", "error", "words"),
    [
        ("A:B + C", [AB, [1, 1]], {}, sf.EstimationError, "A:B and C have different totals, 1.0 and 2.0"),
        ("A:B + B:C", [AB, AB], {}, sf.EstimationError, "A:B and B:C contradict .* B='no' one gives 0.4 and .* 0.3"),
        ("A:B + B:C + A:C", [HALF] * 3, {}, sf.EstimationError, "'A:B', 'B:C', 'A:C'.* misses them by 2 "),
        ("A + B", {"A": [0.5, 0.5], "B": [0.7, 0.3]}, {"base": np.eye(2)}, sf.EstimationError, "'A', 'B'.* by 0.4 "),
        ("A:B", {"A:B": AB}, {"base": [[1, 0], [1, 1]]}, sf.EstimationError, "A:B.* base"),
        ("A:B", {"A:B": [[0.1, math.nan], [0, 1]]}, {}, sf.ArgumentError, r"A:B must hold finite .* nan at \(0, 1\)"),
        ("A:B", {"A:B": [[0.1, math.inf], [0, 1]]}, {}, sf.ArgumentError, r"inf at \(0, 1\)"),
        ("A:B", {"A:B": [[0.1, 0.9], [-0.5, 1]]}, {}, sf.ArgumentError, r"-0.5 at \(1, 0\)"),
        ("A:B", {"A:B": np.zeros((2, 2))}, {}, sf.ArgumentError, "A:B is zero everywhere"),
        ("A:B", {"A:B": [0.5, 0.5]}, {}, sf.ArgumentError, r"shape \(2, 2\).*\(2,\)"),
        ("A:B", {"A:B": [[0.5], [0.2, 0.3]]}, {}, sf.ArgumentError, r"shape \(2, 2\)"),
        ("A:B", {"A:B": "half"}, {}, sf.ArgumentError, r"shape \(2, 2\)"),
        ("A:B", {"A:B": None}, {}, sf.ArgumentError, r"shape \(2, 2\)"),
        ("A:B", {"A:B": AB, "A:C": AB}, {}, sf.UnknownNameError, "target for A:C, .* none of the cliques A:B"),
        ("A:B + C", {"A:B": AB}, {}, sf.ArgumentError, "no target for the clique C. The targets are for .*'A:B'"),
        ("A:B + C", {}, {}, sf.ArgumentError, "no target for the clique A:B"),
        ("A:B + C", [AB], {}, sf.ArgumentError, "2 cliques and 1 targets"),
        ("A:B", None, {}, sf.ArgumentError, "Got None"),
        ("A:B", 3, {}, sf.ArgumentError, "Got 3"),
        ("A:B", "A:B", {}, sf.ArgumentError, "Got 'A:B'"),
        ("A:B", {frozenset("AB"): AB}, {}, sf.ArgumentError, "named by its clique"),
        ("A:B", {3: AB}, {}, sf.ArgumentError, "named by its clique.* Got 3"),
        ("A:B", {("A", 3): AB}, {}, sf.ArgumentError, "named by its clique"),
        ("A:D", {"A:D": AB}, {}, sf.SchemaError, "states of 'D' are not known"),
        ("A:B", [labelled("AB", AB)], {"over": {"B": ["yes", "no"]}}, sf.ArgumentError, "'B'; .* order included"),
        ("A:C", sf.MarkovNetwork([(("A", "B"), AB)], schema=YES_NO | {"C": ["u"]}).query(["A", "B"]), {},
         sf.ArgumentError, "targets"),
        ("A:B", {"A:B": AB}, {"base": [[1, -1], [1, 1]]}, sf.ArgumentError, r"base table .* -1.0 at \(0, 1\)"),
        ("A:B", {"A:B": AB}, {"base": [1, 1]}, sf.ArgumentError, r"base table must have the shape \(2, 2\)"),
        ("A:B", {"A:B": AB}, {"base": "uniform"}, sf.ArgumentError, "base"),
        ("A:B", {"A:B": AB}, {"base": labelled("AC", np.ones((2, 2)))}, sf.UnknownNameError, "'C', which is in no"),
        ("A:B", {"A:B": AB}, {"base": labelled("A", [1, 2, 3], {"A": ["no", "yes", "?"]}), "over": YES_NO},
         sf.ArgumentError, "base measure has the states .*'A'"),
        ("A:B", {"A:B": AB}, {"base": np.ones((2, 2)), "method": "closed_form"}, sf.EstimationError, "no base measure"),
        ("A:B", {"A:B": AB}, {"method": "proximal"}, sf.SufficeError, "proximal"),
        ("A:B", {"A:B": AB}, {"tol": 0}, sf.ArgumentError, "tol"),
        ("A:B", {"A:B": AB}, {"options": {"rate": 1}}, sf.ArgumentError, "no option 'rate'"),
    ],
)  # fmt: skip
def test_refusals_name_what_is_wrong(
    structure: str, targets: Any, keywords: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sf.maxent(structure, targets, **{"over": YES_NO, **keywords})


def test_a_large_base_that_rules_out_what_a_margin_gives_is_refused_by_the_cell() -> None:
    structure = grid(4, 4)
    schema = {name: ["no", "yes"] for name in structure.variables}
    pair = structure.cliques[5]
    even = {clique: np.full((2, 2), 0.25) for clique in structure.cliques}
    with pytest.raises(sf.EstimationError, match=f"rules out {pair[0]}='yes', {pair[1]}='no'"):
        sf.maxent(structure, even, over=schema, base=[labelled(pair, [[1, 1], [0, 1]], schema)])  # type: ignore[arg-type]


def test_a_cell_ruled_out_is_named_only_where_the_target_gives_it_mass() -> None:
    target = {"A:B": np.array([[0.5, 0.0], [0.25, 0.25]])}
    with pytest.raises(sf.EstimationError, match="rules out A='yes', B='no', but"):
        sf.maxent("A:B", target, over=YES_NO, base=np.array([[1.0, 0.0], [0.0, 1.0]]))


def test_a_base_of_zeros_is_refused_as_such() -> None:
    with pytest.raises(sf.SufficeError, match="base"):
        sf.maxent("A:B", {"A:B": AB}, over=YES_NO, base=np.zeros((2, 2)))


@pytest.mark.filterwarnings("error")
def test_a_total_beyond_floats_is_refused() -> None:
    with pytest.raises(sf.ArgumentError, match="A:B"):
        sf.maxent("A:B", {"A:B": np.full((2, 2), 1e308)}, over=YES_NO)


def test_two_targets_for_one_clique_are_refused() -> None:
    with pytest.raises(sf.ArgumentError, match="two targets"):
        sf.maxent("A:B", {"A:B": AB, ("B", "A"): AB.T + 0.1}, over=YES_NO)


def test_two_labelled_tables_for_one_clique_are_refused() -> None:
    with pytest.raises(sf.ArgumentError):
        sf.maxent("A:B", [labelled("AB", AB), labelled("BA", AB + 0.1)], over=YES_NO)


def test_a_key_is_one_clique() -> None:
    with pytest.raises(sf.SufficeError):
        sf.maxent("A:B", {"A + B": AB}, over=YES_NO)


@pytest.mark.parametrize("names", ["AC", "ABC", "A"])
def test_a_labelled_table_under_another_cliques_key_is_refused(names: str) -> None:
    with pytest.raises(sf.SufficeError):
        sf.maxent("A:B", {"A:B": labelled(names, np.ones((2,) * len(names)))}, over=YES_NO)


@pytest.mark.parametrize("states", [["yes", "no"], ["f", "m"]], ids=str)
def test_a_model_with_other_states_than_declared_is_refused(states: list[str]) -> None:
    model = sf.MarkovNetwork([(("A",), [0.2, 0.8])], schema={"A": states})
    with pytest.raises(sf.ArgumentError, match="order included"):
        sf.maxent("A", model, over={"A": ["no", "yes"]})


def test_a_key_that_names_a_variable_twice_is_refused() -> None:
    with pytest.raises(sf.SufficeError):
        sf.maxent("A", {("A", "A"): AB}, over=YES_NO)
