"""The model that EM is asked to begin at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from suffice.errors import ArgumentError, Mention, shown
from suffice.learn.method import Problem
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import nodes_of
from suffice.models.joint_normal import JointNormal

if TYPE_CHECKING:
    from suffice.structures.dag import DAG
    from suffice.structures.gaussian_markov import GaussianMarkov


def require_network(problem: Problem[DAG]) -> None:
    """Refuse to begin anywhere but at a network of the same families and states."""
    init = problem.init
    if init is None:
        return
    _require_model(init, BayesianNetwork)
    families = {node: family for node, (_, family) in nodes_of(problem.structure, problem.schema).items()}
    _require_same([families[node].scope for node in families], [cpd.family.scope for cpd in init.cpds], init)
    for cpd in init.cpds:
        own, other = families[cpd.family.child.name].child, cpd.family.child
        if own.is_discrete != other.is_discrete or not own.has_states_of(other):
            raise ArgumentError(
                f"The states of {own.name!r} are others in the model to begin at than in the data. Declare the states "
                "of both alike, ",
                Mention("in the schema", "in the schema"),
                ".",
            )


def require_normal(problem: Problem[GaussianMarkov]) -> None:
    """Refuse to begin anywhere but at a normal distribution of the same variables, in the same order."""
    if problem.init is not None:
        _require_model(problem.init, JointNormal)
        _require_same(problem.structure.variables, problem.init.variables, problem.init)


def _require_model(init: Any, kind: type[Any]) -> None:
    if not isinstance(init, kind):
        raise ArgumentError(
            f"The 'init' argument must be a model to begin at, such as that of another fit. Got {shown(init)}."
        )


def _require_same(mine: Sequence[Any], theirs: Sequence[Any], init: Any) -> None:
    if list(mine) != list(theirs):
        raise ArgumentError(f"The model to begin at is of other columns: {init!r}. Give one of the same structure.")
