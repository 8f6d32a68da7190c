"""Categorical and Bernoulli variables by themselves: a network of one node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suffice.data.variable import Variable
from suffice.errors import Mention, StructureError, Text, listing
from suffice.learn import directed
from suffice.learn.method import Method, Problem, Solution
from suffice.structures.dag import DAG
from suffice.structures.single import Bernoulli, Categorical

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork


def solve(problem: Problem[Categorical]) -> Solution[BayesianNetwork]:
    """Fit the variable as a network of one node, which is what the model is."""
    structure = problem.structure
    if isinstance(structure, Bernoulli):
        _require_two(problem.schema[structure.variable])
    return directed.solve(problem.about(DAG(structure)))


def _require_two(variable: Variable) -> None:
    """Refuse a variable that has not two states; only all of the data tells, no part of it."""
    if variable.n_states == 2:
        return
    other = (
        "" if variable.n_states < 2 else Text(", or fit ", Mention("Categorical", f"sf.Categorical({variable.name!r})"))
    )
    raise StructureError(
        f"A Bernoulli variable has two states, and {variable.name!r} has {listing(variable.labels)}. Name both in "
        "order, ",
        Mention("Bernoulli", f"sf.Bernoulli({variable.name!r}, [failure, success])"),
        other,
        ".",
    )


NETWORKS: Method[Categorical, BayesianNetwork] = directed.METHOD
METHOD = replace(NETWORKS, solve=solve)
