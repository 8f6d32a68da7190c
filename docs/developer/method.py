"""A skeleton for a new method: copy it to ``src/suffice/learn/`` and name it in its family's record.

The example climbs to the maximum-likelihood tables of a Bayesian network by damped steps, θ ← (1 − ρ) θ + ρ θ̂. As the
log-likelihood is concave it rises at every step. (The closed form needs one step; this shows what an iterative method
owes: a trace, progress, interruption with the best point so far, options of its own, honest results.)
"""

from __future__ import annotations

import numpy as np

from suffice.errors import ArgumentError
from suffice.learn import directed
from suffice.learn.method import Method, Problem, Solution, Step
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds.tabular import TabularCPD


def solve(problem: Problem) -> Solution:
    """Walk from uniform tables to the maximum."""
    rate = problem.options.get("rate", 0.5)
    if not 0 < rate <= 1:
        raise ArgumentError(f"The option 'rate' must lie between 0 and 1. Got {rate!r} instead.")
    target = directed.solve(problem)  # the point that the steps lead to; a real method has its own direction
    dag, statistics = problem.structure, problem.statistics
    tables = {
        node: TabularCPD(cpd.family, np.full(cpd.values.shape, 1 / cpd.family.child.n_states))
        for node, cpd in ((node, target.model.cpd(node)) for node in dag.nodes)
    }
    nodes = directed.nodes_of(dag, problem.schema)
    trace: list[Step] = []
    for step in problem.watch.steps("damped steps", problem.max_iter):
        largest = 0.0
        for node in dag.nodes:
            goal, here = target.model.cpd(node).values, tables[node].values
            largest = max(largest, float(np.abs(goal - here).max()))
            tables[node] = TabularCPD(tables[node].family, (1 - rate) * here + rate * goal)
        local = {
            node: tables[node].log_likelihood(statistics[kind.need(family)]) for node, (kind, family) in nodes.items()
        }
        trace.append(Step(step, sum(local.values())))
        if largest * (1 - rate) < problem.tol / 10:
            break
    return Solution(
        model=BayesianNetwork(dag, tables),
        log_likelihood=trace[-1].objective,
        n_free=target.n_free,
        n_free_adjusted=target.n_free_adjusted,
        local=local,
        trace=tuple(trace),
        remarks=target.remarks,
        interrupted=problem.watch.interrupted,
    )


METHOD = Method(
    refuses=directed.refuses,
    needs=directed.needs,
    solve=solve,
    check=directed.check,
    passes="one",
    exact=True,
    points=("mle",),
    options=("rate",),
)
