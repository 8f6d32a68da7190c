"""Credible intervals of answers: what the posterior of the tables leaves open about p(targets | evidence)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.errors import (
    ArgumentError,
    Mention,
    ModelError,
    Remedy,
    Text,
    made,
    require_choice,
    require_fraction,
    require_seed,
    require_whole,
)
from suffice.graph.elimination import bits
from suffice.inference.derivatives import gradients
from suffice.inference.inquiry import Given, Inquiry
from suffice.inference.product import Factor, Product
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds.rows import all_configurations
from suffice.models.evidence import given_of, targets_of
from suffice.models.interval_table import IntervalTable
from suffice.priors.dirichlet_rows import DirichletRows
from suffice.priors.network_posterior import NetworkPosterior
from suffice.priors.posterior import Posterior
from suffice.types import Floats

METHODS = ("draws", "delta")
BLOCK_CELLS = 2**18


def credible(
    model: BayesianNetwork,
    posterior: Posterior[Any] | None,
    targets: Any,
    given: Mapping[str, Any] | None,
    level: float,
    method: str = "draws",
    draws: int = 1000,
    seed: int | None = 0,
    absence: str = "",
) -> IntervalTable:
    """Return the model's answer with credible intervals; see `suffice.Fit.query`.

    Where there is no posterior, ``absence`` says why, and what to do about it.
    """
    if isinstance(model, BayesianNetwork):
        _require_tables(model, posterior)
    if not isinstance(posterior, NetworkPosterior):
        raise ArgumentError(
            "Intervals on an answer come from the posterior of a Bayesian network's tables, and this fit has none. "
            + (
                absence
                or Text(
                    "Fit a network with a prior, such as ",
                    made("BDeu", 10),
                    "; a Markov random field's margins have them in fit.posterior.intervals(0.9, margin=['A', 'B']).",
                )
            )
        )
    require_fraction("interval", level)
    require_choice("interval_method", method, METHODS)
    table = model._tables.table(targets, given)
    wanted = targets_of(model.schema, targets)
    evidence = given_of(model.schema, given, wanted)
    product = model._tables.inquiry.product
    if method == "draws":
        lower, upper = _by_draws(posterior, product, wanted, evidence, level, require_whole("draws", draws, 2), seed)
    else:
        lower, upper = _by_delta(posterior, product, wanted, evidence, level)
    return IntervalTable(
        table, LabelledTable(table.variables, lower), LabelledTable(table.variables, upper), level, method
    )


def _require_tables(model: BayesianNetwork, posterior: Posterior[Any] | None) -> None:
    """Refuse networks with nodes of other kinds, whose answers are no functions of tables alone."""
    for node in model.dag.nodes:
        if (kind := model.cpd(node).kind) != "tabular":
            raise ModelError(
                f"Credible intervals of answers are for networks of tables, but node {node!r} is of kind {kind!r}. "
                + (
                    Text("Leave ", Mention("interval", "'interval'"), " out.")
                    if posterior is None
                    else Text(
                        Mention("Those of parameters", "Those of parameters are in"),
                        " fit.posterior.intervals(); or draw networks from the posterior, fit.posterior.sample(n, ",
                        Mention("seed", "seed=…"),
                        "), and query each.",
                    )
                )
            )


def _relevant(product: Product, wanted: tuple[int, ...], given: Given) -> list[int]:
    """Return the nodes whose tables matter."""
    mask = 0
    for variable in (*wanted, *given.hard, *given.soft):
        mask |= product.above[variable]
    return list(bits(mask))


# Draws --------------------------------------------------------------------------------------------------------


def _by_draws(
    posterior: NetworkPosterior,
    product: Product,
    wanted: tuple[int, ...],
    given: Given,
    level: float,
    draws: int,
    seed: int | None,
) -> tuple[Floats, Floats]:
    base, products = _products(posterior, product, _relevant(product, wanted, given), draws, seed)
    answers = Inquiry(base).many(wanted, given, products)
    _require_positive(answers)
    return _quantiles(answers, level)


def credible_marginals(
    model: BayesianNetwork,
    posterior: NetworkPosterior,
    given: Given,
    level: float = 0.95,
    draws: int = 1000,
    seed: int | None = 0,
    before_each: Callable[[], object] = lambda: None,
) -> dict[int, tuple[Floats, Floats]]:
    """Return the ends of the credible intervals of every marginal, from one calibration per draw.

    Parameters
    ----------
    model : BayesianNetwork
        Of tables.
    posterior : NetworkPosterior
    given : Given
        Evidence that is possible.
    level, draws, seed
        As in `suffice.Fit.query`, whose intervals these are, up to rounding.
    before_each : callable
        Called before each draw; it may raise to end the computation.

    Returns
    -------
    dict of int to pair of array, shape (n_states,)
        By variable, without those observed.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}, prior=sf.K2())
    >>> lower, upper = credible_marginals(fit.model, fit.posterior, Given({1: 1}), 0.9)[0]
    >>> same = fit.query("A", {"B": "v"}, interval=0.9)
    >>> bool(np.allclose(lower, same.lower.to_numpy(), rtol=0, atol=1e-12))
    True
    """
    _require_tables(model, posterior)
    product = model._tables.inquiry.product
    base, products = _products(posterior, product, list(range(len(product.sizes))), draws, seed)

    def watched() -> Iterator[Product]:
        for drawn in products:
            before_each()
            yield drawn

    found = Inquiry(base).many_marginals(given, watched())
    for answers in found.values():
        _require_positive(answers)
    return {variable: _quantiles(answers, level) for variable, answers in found.items()}


def _products(
    posterior: NetworkPosterior, product: Product, nodes: list[int], draws: int, seed: int | None
) -> tuple[Product, Iterator[Product]]:
    """Return the tables of some nodes, and the same with numbers drawn from the posterior, again and again."""
    tables = _drawn(posterior, [posterior.dag.nodes[node] for node in nodes], draws, seed)
    base = replace(product, factors=tuple(product.factors[node] for node in nodes), parents=None)

    def with_tables(drawn: Mapping[str, Floats]) -> Product:
        factors = []
        for node, factor in zip(nodes, base.factors, strict=True):
            values = drawn[posterior.dag.nodes[node]]
            factors.append(Factor(factor.scope, values.reshape(factor.values.shape)))
        return replace(base, factors=tuple(factors))

    return base, map(with_tables, tables)


def _require_positive(answers: Floats) -> None:
    """Refuse answers that vanished; draws are the first axis."""
    draws = len(answers)
    vanished = int((~answers.reshape(draws, -1).any(axis=1)).sum())
    if vanished:  # rows that are drawn are positive, as the model's are; floats may not hold it
        raise ModelError(
            f"Under {vanished:,} of {draws:,} tables drawn from the posterior the evidence has a probability too small "
            "for floats, since some pseudo-counts are close to zero. Fit with a prior of larger ones, or use ",
            Remedy("interval_method", "delta"),
            ".",
        )


def _quantiles(answers: Floats, level: float) -> tuple[Floats, Floats]:
    tail = (1 - level) / 2
    return np.quantile(answers, tail, axis=0), np.quantile(answers, 1 - tail, axis=0)


def _drawn(
    posterior: NetworkPosterior, names: Collection[str], draws: int, seed: int | None
) -> Iterator[dict[str, Floats]]:
    """Draw whole tables of some nodes again and again, each of shape (n_rows, n_states); tied nodes share them."""
    groups = posterior.dag.groups
    seeds = np.random.SeedSequence(require_seed(seed)).generate_state(len(groups), np.uint64)
    needed = set(names)
    streams = [
        ([node for node in group if node in needed], _draws_of(posterior[group[0]].whole(), draws, int(group_seed)))
        for group, group_seed in zip(groups, seeds, strict=True)
        if not needed.isdisjoint(group)
    ]
    for _ in range(draws):
        tables: dict[str, Floats] = {}
        for members, stream in streams:
            tables |= dict.fromkeys(members, next(stream))
        yield tables


def _draws_of(rows: DirichletRows, draws: int, seed: int) -> Iterator[Floats]:
    """Yield tables drawn from one posterior, a block of them at a time, so that large tables fit in memory."""
    size = max(1, BLOCK_CELLS // rows.concentration.size)
    more = np.random.SeedSequence(seed).generate_state((draws - 1) // size, np.uint64)
    for start, block_seed in zip(range(0, draws, size), (seed, *more), strict=True):
        yield from rows.draws(min(size, draws - start), seed=int(block_seed))


# The delta method ---------------------------------------------------------------------------------------------


def _by_delta(
    posterior: NetworkPosterior, product: Product, wanted: tuple[int, ...], given: Given, level: float
) -> tuple[Floats, Floats]:
    from scipy.special import ndtri

    shape = [product.sizes[variable] for variable in wanted]
    p, sd = np.zeros(shape), np.zeros(shape)
    for codes in all_configurations(shape):
        found = gradients(product, dict(zip(wanted, map(int, codes), strict=True)), given)
        assert found is not None  # the model answered before
        p[tuple(codes)] = found[0]
        sd[tuple(codes)] = math.sqrt(_variance(posterior, found[1]))
    width = float(ndtri((1 + level) / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        odds, spread = np.log(p / (1 - p)), sd / (p * (1 - p))
        lower, upper = (1 / (1 + np.exp(-(odds + sign * width * spread))) for sign in (-1, 1))
    certain = (p <= 0) | (p >= 1) | (sd == 0)
    return np.where(certain, p, lower), np.where(certain, p, upper)


def _variance(posterior: NetworkPosterior, gradient: Mapping[int, Floats]) -> float:
    """Return gᵀ Cov[θ] g, rows being independent and tied nodes the same."""
    total, dag = 0.0, posterior.dag
    place = {node: position for position, node in enumerate(dag.nodes)}
    for group in dag.groups:
        tables = [gradient[place[node]] for node in group if place[node] in gradient]
        if not tables:
            continue
        rows: DirichletRows = posterior[group[0]].whole()
        g = np.sum([table.reshape(rows.concentration.shape) for table in tables], axis=0)
        size = rows.concentration.sum(axis=1, keepdims=True)
        mean = rows.concentration / size
        centred = (mean * g * g).sum(axis=1) - (mean * g).sum(axis=1) ** 2
        spread = centred / (size[:, 0] + 1)
        total += float(spread.sum() if rows.given is None else spread[~rows.given].sum())
    return max(total, 0.0)
