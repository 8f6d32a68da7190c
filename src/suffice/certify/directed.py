"""Proof of a Bayesian network's fit: the score residual of every table.

The marginals of the parents are no part of it: a DAG's model marginals need not equal the empirical ones.
"""

from __future__ import annotations

import math
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.constraints import constraint_violation
from suffice.certify.judgement import judged
from suffice.certify.violation import Violation
from suffice.models.cpds import Nodes, given_in, kind_named, nodes_of
from suffice.optimise.distance import Distance
from suffice.priors.binding import bound, prior_of, without_prior
from suffice.stats.available import lack_rows

if TYPE_CHECKING:
    from suffice.models.bayes_net import BayesianNetwork
    from suffice.structures.dag import DAG

CLAIMS = {
    "mle": "maximum likelihood",
    "mean": "posterior mean, which is no optimum",
    "map": "posterior mode",
}
FEW = 4
"""So many nodes are named one by one."""


def certify(claim: Claim[DAG, BayesianNetwork]) -> Certificate:
    """Measure every node's residual, through the distribution that users see."""
    found, normalisation, distance = Violation(0.0, "no node"), 0.0, Distance()
    terms: list[float] = []
    nodes = nodes_of(claim.structure, claim.statistics.schema)
    prior = bound(claim.prior, claim.structure, claim.statistics)
    for group in claim.structure.groups:
        statistic, fixed = _together(claim, group), None
        parts: list[Distance] = []
        given = given_in(group, claim.fixed, nodes)
        if given is not None:
            fixed = nodes[group[0]][0].fix(claim.model.cpd(group[0]), given)[1]
        if (broken := constraint_violation(claim, group, nodes)) is not None:
            found = broken
        for node in group:
            cpd, (kind, _) = claim.model.cpd(node), nodes[node]
            if not all(v.has_states_of(claim.statistics.schema[v.name]) for v in cpd.family.variables):
                found = Violation(math.inf, f"node {node!r}, whose states are not those of the statistics")
            lead = claim.model.cpd(group[0]).family
            mine_of = prior_of(prior, kind, lead)
            pseudo = None if mine_of is None else mine_of.pseudo(lead, claim.point)
            mine = statistic if node == group[0] else statistic.renamed(_renaming(claim, group[0], node))
            found = found.or_larger(kind.residual(cpd, mine, pseudo, fixed), f"node {node!r}")
            parts.append(kind.distance(cpd, mine, pseudo, fixed, claim.point).inside(f"node {node!r}"))
            normalisation = max(normalisation, kind.normalisation(cpd))
            terms += kind.log_likelihood_terms(cpd, claim.statistics[kind.need(cpd.family)])
        distance += max(parts, key=lambda part: (part.nats or 0.0, part.sds or 0.0))  # each is of all rows of the tie
    bare = without_prior(prior, claim.structure, nodes)
    return judged(
        claim,
        Measured(
            claim=CLAIMS[claim.point] + _departures(nodes, claim.point) + _rows(claim) + _bare(bare),
            residual=found.size,
            worst=found.where,
            log_likelihood=-math.inf if -math.inf in terms else math.fsum(terms),
            normalisation=normalisation,
            condition=_condition(claim.point, bool(bare)),
            **distance.as_measured(),
        ),
    )


def _rows(claim: Claim[DAG, BayesianNetwork]) -> str:
    """Say that families are of rows of their own, where some rows lack values."""
    return ", each family from the rows that have it" if lack_rows(claim.statistics) else ""


def _bare(nodes: list[str]) -> str:
    """Say which nodes have no prior, where others have one."""
    if not nodes:
        return ""
    named = ", ".join(map(repr, nodes[:FEW])) + (f" and {len(nodes) - FEW:,} more" if len(nodes) > FEW else "")
    return f"; maximum likelihood of {named}, which {'has' if len(nodes) == 1 else 'have'} no prior"


def _condition(point: str, is_bare: bool) -> str:
    """Name what was measured: posterior means have a formula, all else is an optimum."""
    if point != "mean":
        return "the first-order condition"
    return "the conjugate formula, or the first-order condition," if is_bare else "the conjugate formula"


def _renaming(claim: Claim[DAG, BayesianNetwork], old: str, new: str) -> dict[str, Any]:
    before, after = claim.model.cpd(old).family, claim.model.cpd(new).family
    return dict(zip(before.scope, after.variables, strict=True))


def _together(claim: Claim[DAG, BayesianNetwork], group: tuple[str, ...]) -> Any:
    parts = []
    for node in group:
        cpd = claim.model.cpd(node)
        statistic = claim.statistics[kind_named(cpd.kind).need(cpd.family)]
        parts.append(statistic if node == group[0] else statistic.renamed(_renaming(claim, node, group[0])))
    return reduce(add, parts)


def _departures(nodes: Nodes, point: str) -> str:
    """Say in which ways the estimate is not the maximum of the likelihood."""
    ways = dict.fromkeys(kind.departs() for kind, _ in nodes.values()) if point == "mle" else {}
    said = [way for way in ways if way]
    return f", but for {' and '.join(said)}" if said else ""
