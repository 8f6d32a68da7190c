"""What the next M-step of a network would still add to the likelihood, in nats, as its certificate measures it."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from suffice.learn.directed import in_terms_of_lead
from suffice.learn.method import Problem
from suffice.models.cpds import Nodes, given_in
from suffice.priors.binding import bound, prior_of
from suffice.stats.statistics import Statistics

if TYPE_CHECKING:
    from suffice.structures.dag import DAG


def network_gain(problem: Problem[DAG], nodes: Nodes, model: Any, expected: Statistics) -> float:
    """Return the distance of every node from its optimum at expected statistics, added up.

    Under a prior the objective of EM has a mode, whatever point of the posterior was asked for: there is no conjugate
    formula for the mean.
    """
    prior, total = bound(problem.prior, problem.structure, problem.statistics), 0.0
    for group in problem.structure.groups:
        kind, family = nodes[group[0]]
        cpd, given = model.cpd(group[0]), given_in(group, problem.fixed, nodes)
        fixed = None if given is None else kind.fix(cpd, given)[1]
        mine = prior_of(prior, kind, family)
        pseudo = None if mine is None else mine.pseudo(family, problem.point)
        statistic = reduce(add, in_terms_of_lead(expected, nodes, group))
        total += kind.distance(cpd, statistic, pseudo, fixed, "map").nats or 0.0
    return total
