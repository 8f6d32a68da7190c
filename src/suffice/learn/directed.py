"""Bayesian networks from complete data: every node by itself, from its own family's statistic.

ℓ(θ) = Σ_v ℓ_v(θ_v): the likelihood falls apart into one term a family. Tables and regressions have their maximum in
closed form; other kinds of nodes search for it. Tied nodes add their statistics first and share the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import reduce
from operator import add
from typing import Any

from suffice.data.schema import Schema
from suffice.errors import (
    ArgumentError,
    EstimationError,
    Mention,
    Passed,
    StatisticsError,
    StructureError,
    UnknownNameError,
    listing,
    made,
    shown,
    suggestion,
    the_argument,
)
from suffice.learn.method import Method, Problem, Solution
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds import CPD, AnyKind, NodeFamily, Nodes, given_in, nodes_of
from suffice.priors.binding import bound, prior_of, without_prior
from suffice.priors.network_posterior import NetworkPosterior
from suffice.priors.penalty import Penalty
from suffice.priors.prior import ConjugatePrior, NodePrior, Prior
from suffice.priors.several import remedies
from suffice.stats.available import is_of_fewer_rows, lack_rows, require_states, weight_of
from suffice.stats.needs import Need
from suffice.stats.statistics import Statistics
from suffice.structures.dag import DAG
from suffice.structures.structure import changed_fields
from suffice.text import number, plural

PRIORS_ON = {"tabular": "tables", "linear_gaussian": "regressions", "softmax": "softmax weights"}
"""What the priors on each kind of node are about."""
SHOWN = 4
"""So many families are named one by one."""


def refuses(dag: DAG, schema: Schema) -> str | None:
    """Refuse latent variables, which have no counts, and nodes without a formula."""
    if dag.latent:
        return f"{dag.latent[0][0]!r} is latent, and the closed form needs every variable observed."
    for node, (kind, _) in nodes_of(dag, schema).items():
        if not kind.is_closed_form():
            return f"node {node!r} is of kind {kind.name!r}, which has no formula; 'newton' can fit it."
    return None


def refuses_latent(dag: DAG, schema: Schema) -> str | None:
    """Refuse latent variables, which have no counts."""
    return f"{dag.latent[0][0]!r} is latent, and this method needs every variable observed." if dag.latent else None


def needs(dag: DAG, schema: Schema) -> tuple[Need, ...]:
    """Return what every node's kind asks for."""
    return tuple(kind.need(family) for kind, family in nodes_of(dag, schema).values())


@dataclass(frozen=True)
class NodeFit:
    """What is found for one node, or for several that are tied: of these, the first stands for all."""

    cpd: CPD
    posterior: Any
    n_free: int
    n_free_adjusted: int
    remarks: tuple[str, ...]


def solve(problem: Problem[DAG]) -> Solution[BayesianNetwork]:
    """Fit every group of tied nodes, and put the network together."""
    if not all(v.n_states for v in problem.schema.variables if v.is_discrete) and lack_rows(problem.statistics):
        require_states(problem.schema)
    dag, statistics = problem.structure, problem.statistics
    nodes = nodes_of(dag, problem.schema)
    prior = bound(problem.prior, dag, statistics)
    _require_apt(prior, dag, nodes)
    fits = {group: _fit_group(problem, prior, nodes, group) for group in dag.groups}
    cpds: dict[str, CPD] = {}
    posteriors: dict[str, Any] = {}
    local: dict[str, float] = {}
    for group, found in fits.items():
        for node in group:
            kind, family = nodes[node]
            cpds[node] = found.cpd.renamed(family)
            posteriors[node] = found.posterior and found.posterior.renamed(family)
            local[node] = kind.log_likelihood(cpds[node], statistics[kind.need(family)])
    posterior = None
    if all(found.posterior is not None for found in fits.values()):
        parts = [found.posterior.log_marginal_likelihood for found in fits.values()]
        evidence = None if None in parts else sum(parts)  # an improper prior has none
        posterior = NetworkPosterior(dag, tuple(posteriors[node] for node in dag.nodes), evidence)
    return Solution(
        model=BayesianNetwork(dag, cpds),
        log_likelihood=sum(local.values()),  # eq bn-log-likelihood
        n_free=sum(found.n_free for found in fits.values()),
        n_free_adjusted=sum(found.n_free_adjusted for found in fits.values()),
        local={node: local[node] for node in dag.nodes},
        posterior=posterior,
        log_marginal_likelihood=None if posterior is None else posterior.log_marginal_likelihood,
        remarks=(
            *(remark for found in fits.values() for remark in found.remarks),
            *_impossible(local),
            *_said(nodes),
            *_bare(without_prior(prior, dag, nodes)),
            *(prior.remarks if prior is not None else ()),
        ),
    )


def _impossible(local: Mapping[str, float]) -> tuple[str, ...]:
    """Remark on data that the given rows rule out; free rows never do."""
    nodes = [node for node, value in local.items() if value == -math.inf]
    exact = [node for node, value in local.items() if value == math.inf]
    said = [f"{', '.join(nodes)}: the given rows rule out some of the data, so its likelihood is zero."] * bool(nodes)
    said += [f"{', '.join(exact)}: given without spread, and exactly so; the likelihood is infinite."] * bool(exact)
    return tuple(said)


def _said(nodes: Nodes) -> tuple[str, ...]:
    """Remark on the nodes whose settings depart from maximum likelihood."""
    ways: dict[str, list[str]] = {}
    for node, (kind, _) in nodes.items():
        if departure := kind.departs():
            ways.setdefault(departure, []).append(node)
    return tuple(f"{_some(members)}: {departure}." for departure, members in ways.items())


def _bare(nodes: list[str]) -> tuple[str, ...]:
    """Remark on nodes without a prior, where others have one."""
    return (f"{_some(nodes)}: fitted by maximum likelihood, having no prior.",) if nodes else ()


def _some(names: list[str], most: int = 4) -> str:
    """Name a few nodes, and say how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _fit_group(problem: Problem[DAG], prior: Prior | None, nodes: Nodes, group: tuple[str, ...]) -> NodeFit:
    kind, family = nodes[group[0]]
    statistic = reduce(add, in_terms_of_lead(problem.statistics, nodes, group))  # eq tied-statistics
    given = given_in(group, problem.fixed, nodes)
    mine = prior_of(prior, kind, family)
    posterior: Any = None
    whole = given if given is not None and isinstance(given, CPD) and given.kind == kind.name != "tabular" else None
    if whole is not None and (mine is None or isinstance(mine, Penalty)):
        cpd = whole.renamed(family)  # nothing is left to be estimated
    elif mine is None:
        cpd = kind.mle(family, statistic)
    elif isinstance(mine, Penalty):
        cpd = _penalised(kind, family, statistic, mine)
    else:
        assert isinstance(mine, ConjugatePrior)
        _require_plain(kind, family)
        posterior = mine.posterior(kind.name, family, statistic, given)
        cpd = posterior.mode() if problem.point == "map" else posterior.mean()
    fixed: Any = None
    remarks: tuple[str, ...] = ()
    if given is not None:
        cpd, fixed = kind.fix(cpd, given)
        remarks = (f"{', '.join(group)}: {plural(len(fixed), 'row')} given and left alone.",)
    cpd, more = kind.complete(cpd, problem.unseen_parents)
    n_free = kind.n_free(family, 0 if fixed is None else len(fixed))
    return NodeFit(cpd, posterior, n_free, kind.n_free_adjusted(family, statistic, fixed), (*remarks, *more))


def in_terms_of_lead(statistics: Statistics, nodes: Nodes, group: tuple[str, ...]) -> Iterator[Any]:
    """Yield the statistics of tied nodes, expressed in the first one's variables."""
    lead_kind, lead = nodes[group[0]]
    yield statistics[lead_kind.need(lead)]
    for node in group[1:]:
        kind, family = nodes[node]
        if kind != lead_kind:
            differ = "kinds" if kind.name != lead_kind.name else f"settings of the kind {kind.name!r}"
            raise StructureError(
                f"Tied nodes {group[0]!r} and {node!r} are of different {differ}. Give them the same: ",
                Mention("kinds", "kinds={…}"),
                ".",
            )
        for mine, other in zip(lead.variables, family.variables, strict=True):
            if mine.is_discrete != other.is_discrete:
                raise StructureError(
                    f"The parents of tied nodes correspond in their order, but {mine.name!r} of {group[0]!r} and "
                    f"{other.name!r} of {node!r} are discrete and continuous. Say which correspond: "
                    f"tie=[{{{group[0]!r}: […], {node!r}: […]}}]."
                )
            if not mine.has_states_of(other):
                raise StatisticsError(
                    f"Nodes {group[0]!r} and {node!r} are tied, but {mine.name!r} has the states "
                    f"{listing(mine.labels)} and {other.name!r} has {listing(other.labels)}. Declare equal states: "
                    f"schema={{{mine.name!r}: […], {other.name!r}: […]}}."
                )
        yield statistics[kind.need(family)].renamed(dict(zip(family.scope, lead.variables, strict=True)))


def _require_plain(kind: AnyKind, family: NodeFamily) -> None:
    """Refuse settings that a conjugate prior has no use for."""
    settings: dict[str, Any] = changed_fields(kind) if is_dataclass(kind) else {}
    for setting, value in settings.items():
        raise EstimationError(
            f"Node {family.child.name!r} has the setting ",
            Passed(setting, value),
            ", which is for estimates without a prior: a conjugate prior gives every configuration a regression of its "
            "own. Leave one of them out.",
        )


def _penalised(kind: Any, family: NodeFamily, statistic: Any, penalty: Penalty) -> CPD:
    main = penalty.width if penalty.main is None else penalty.main
    cpd: CPD = kind.penalised(family, statistic, penalty.width, main)
    return cpd


def _require_apt(prior: Prior | None, dag: DAG, nodes: Nodes) -> None:
    """Refuse priors on nodes of another kind, and on none of the nodes, with what fits all kinds of the network."""
    if prior is None:
        return
    kinds = {kind.name for kind, _ in nodes.values()}
    for group in dag.groups:
        kind, family = nodes[group[0]]
        mine = prior_of(prior, kind, family)
        if mine is not None and kind.name not in mine.kinds:
            on = mine.kinds[0]
            raise EstimationError(
                f"{mine.describe()} is a prior on {PRIORS_ON.get(on, on)}, but node {group[0]!r} is of kind "
                f"{kind.name!r}. ",
                remedies(kinds, on),
            )
    if len(without_prior(prior, dag, nodes)) == len(nodes):
        raise EstimationError(
            f"The prior speaks of none of the nodes, which are of kind {listing(sorted(kinds))}: {prior.describe()}. "
            "Leave it out for maximum likelihood."
        )


def check(dag: DAG, prior: Prior | None, fixed: Mapping[str, Any]) -> None:
    """Refuse what is no prior on a network's parameters, and names that are no nodes."""
    if prior is not None and not (isinstance(prior, NodePrior) and (prior.kinds or prior.nodes)):
        raise ArgumentError(
            the_argument("prior"),
            " of a Bayesian network must be a prior such as ",
            made("BDeu", 10),
            ", ",
            made("Dirichlet", 1.0),
            " or ",
            made("K2"),
            " on tables, ",
            made("NormalInverseGamma", 2, 1.0),
            " on regressions, ",
            made("Gaussian", 1.0),
            f" on softmax weights, a list of them, or a mapping from nodes to priors. Got {shown(prior)} instead.",
        )
    named = () if prior is None else prior.nodes
    for node in named:
        if node not in dag.nodes:
            raise UnknownNameError(
                f"The prior speaks of {node!r}, which is not a node. The nodes are "
                f"{listing(dag.nodes, 12)}.{suggestion(node, dag.nodes)}"
            )
    for node in fixed:
        if node not in dag.nodes:
            raise UnknownNameError(
                f"The 'fixed' argument names {node!r}, which is not a node. The nodes are {listing(dag.nodes, 12)}."
                + suggestion(node, dag.nodes)
            )
    for group in dag.tie:
        later = [node for node in group[1:] if node in named]
        if later:
            raise StructureError(
                f"The tied nodes {group} share one table, so the prior must be given under the first of them, "
                f"{group[0]!r}, and not under {later[0]!r}."
            )
        if sum(node in fixed for node in group) > 1:
            raise StructureError(
                f"The tied nodes {group} share one table, so 'fixed' can give it for one of them only."
            )


def remarks_on_rows(dag: DAG, statistics: Statistics) -> tuple[str, ...]:
    """Say how many rows each family was learnt from, where some lack values."""
    found: dict[str, float] = {}
    for node, (kind, family) in nodes_of(dag, statistics.schema).items():
        held = statistics[kind.need(family)]
        if is_of_fewer_rows(held, statistics.weight):
            found[node] = weight_of(held) or 0.0
    if not found:
        return ()
    each = ", ".join(f"{node} {number(weight, 10)}" for node, weight in list(found.items())[:SHOWN])
    more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    return (
        "Values are missing: each family is learnt from the rows that have all of it (of "
        f"{number(statistics.weight, 10)} rows: {each}{more}). The log-likelihood, AIC, BIC and the marginal "
        "likelihood of a Bayesian fit add up the families, each over its own rows; they do not compare with those of "
        "other structures, or of other ways to treat missing values.",
    )


METHOD: Method[DAG, BayesianNetwork] = Method(
    refuses=refuses, needs=needs, solve=solve, passes="one", exact=True, check=check, remarks=remarks_on_rows
)
NEWTON: Method[DAG, BayesianNetwork] = Method(
    refuses=refuses_latent, needs=needs, solve=solve, passes="one", exact=True, check=check, remarks=remarks_on_rows
)
