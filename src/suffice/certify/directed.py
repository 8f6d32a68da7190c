"""Proof of a Bayesian network's fit: the score residual of every table.

The marginals of the parents are no part of it: a DAG's model marginals need not equal the empirical ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from suffice.certify.certificate import Certificate, Measured
from suffice.certify.claim import Claim
from suffice.certify.judgement import judged
from suffice.models.cpds import CPD, Family, NodeKind, given_in, kind_named, nodes_of
from suffice.priors.binding import bound, prior_of

CLAIMS = {
    "mle": "maximum likelihood",
    "mean": "posterior mean, which is no optimum",
    "map": "posterior mode",
}


def certify(claim: Claim) -> Certificate:
    """Measure every node's residual, through the distribution that users see."""
    residual, worst, normalisation = 0.0, "no node", 0.0
    terms: list[float] = []
    nodes = nodes_of(claim.structure, claim.statistics.schema)
    prior = bound(claim.prior, claim.structure, claim.statistics)
    for group in claim.structure.groups:
        statistic, fixed = _together(claim, group), None
        for node in group:
            cpd, (kind, _) = claim.model.cpd(node), nodes[node]
            if not all(v.has_states_of(claim.statistics.schema[v.name]) for v in cpd.family.variables):
                residual, worst = math.inf, f"node {node!r}, whose states are not those of the statistics"
            given = given_in(group, claim.fixed, nodes)
            if given is not None:
                with_given, fixed = kind.fix(cpd, given)
                if not _equal(with_given, cpd):
                    residual, worst = math.inf, f"{node!r}, where a given row was changed"
            lead = claim.model.cpd(group[0]).family
            mine_of = prior_of(prior, kind, lead)
            pseudo = None if mine_of is None else mine_of.pseudo(lead, claim.point)
            mine = statistic if node == group[0] else statistic.renamed(_renaming(claim, group[0], node))
            found = kind.residual(cpd, mine, pseudo, fixed)
            if not found <= residual:
                residual, worst = found, f"node {node!r}"
            normalisation = max(normalisation, kind.normalisation(cpd))
            terms += kind.log_likelihood_terms(cpd, claim.statistics[kind.need(cpd.family)])
    return judged(
        claim,
        Measured(
            claim=CLAIMS[claim.point] + _departures(nodes, claim.point),
            residual=residual,
            worst=worst,
            log_likelihood=-math.inf if -math.inf in terms else math.fsum(terms),
            normalisation=normalisation,
            condition="the conjugate formula" if claim.point == "mean" else "the first-order condition",
        ),
    )


def _renaming(claim: Claim, old: str, new: str) -> dict[str, Any]:
    before, after = claim.model.cpd(old).family, claim.model.cpd(new).family
    return dict(zip(before.scope, after.variables, strict=True))


def _together(claim: Claim, group: tuple[str, ...]) -> Any:
    parts = []
    for node in group:
        cpd = claim.model.cpd(node)
        statistic = claim.statistics[kind_named(cpd.kind).need(cpd.family)]
        parts.append(statistic if node == group[0] else statistic.renamed(_renaming(claim, node, group[0])))
    return reduce(add, parts)


def _departures(nodes: Mapping[str, tuple[NodeKind, Family]], point: str) -> str:
    """Say in which ways the estimate is not the maximum of the likelihood."""
    ways = dict.fromkeys(kind.departs() for kind, _ in nodes.values()) if point == "mle" else {}
    said = [way for way in ways if way]
    return f", but for {' and '.join(said)}" if said else ""


def _equal(first: CPD, second: CPD) -> bool:
    mine, other = first.to_dict(), second.to_dict()
    return all(
        np.array_equal(np.asarray(mine[key], float), np.asarray(other[key], float), equal_nan=True) for key in mine
    )
