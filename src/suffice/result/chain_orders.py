"""Markov chains of several orders side by side: which one describes the sequences best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from suffice.data.schema import SchemaLike
from suffice.data.table import Weights
from suffice.errors import ArgumentError, require_whole
from suffice.learn import markov_chain
from suffice.learn.method import Problem
from suffice.settings import one_blas_thread
from suffice.stats.source import BlockSource
from suffice.structures.markov_chain import MarkovChain
from suffice.text import fixed, html_table, plain_table
from suffice.types import TableLike


@dataclass(frozen=True)
class ChainOrder:
    """One order: its log-likelihood, free parameters, criteria and, under a prior, the log marginal likelihood."""

    order: int
    log_likelihood: float
    n_free: int
    aic: float
    bic: float
    log_marginal_likelihood: float | None = None


@dataclass(frozen=True)
class ChainOrders:
    """Markov chains of the orders 0, 1, … on the same symbols.

    ``best`` is the order of least BIC or, under a prior, of largest log marginal likelihood.
    """

    orders: tuple[ChainOrder, ...]
    n: float

    @property
    def best(self) -> int:
        """The order that describes the sequences best."""
        if self.orders[0].log_marginal_likelihood is not None:
            return max(self.orders, key=lambda one: one.log_marginal_likelihood or -math.inf).order
        return min(self.orders, key=lambda one: one.bic).order

    def __getitem__(self, order: int) -> ChainOrder:
        return self.orders[order]

    def __len__(self) -> int:
        return len(self.orders)

    def __iter__(self) -> Iterator[ChainOrder]:
        return iter(self.orders)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        marginal = self.orders[0].log_marginal_likelihood is not None
        rows = [
            [
                f"{one.order}",
                fixed(one.log_likelihood),
                f"{one.n_free:,}",
                fixed(one.aic),
                fixed(one.bic),
                *([fixed(one.log_marginal_likelihood)] if marginal else []),
                "best" if one.order == self.best else "",
            ]
            for one in self.orders
        ]
        head = ["order", "log-likelihood", "parameters", "AIC", "BIC", *(["log marginal"] if marginal else []), ""]
        return head, rows, ">" * (len(head) - 1) + "<"

    def __str__(self) -> str:
        return plain_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())


def chain_orders(
    data: TableLike,
    up_to: int = 3,
    *,
    prior: Any = None,
    variable: str | None = None,
    id: str | None = None,
    time: str | None = None,
    schema: SchemaLike | None = None,
    weights: Weights = None,
) -> ChainOrders:
    """Compare Markov chains of the orders 0 to ``up_to``, from one pass over the sequences.

    All orders are scored on all symbols, a sequence's first ones included, so that their likelihoods can be compared.

    Parameters
    ----------
    data : Sequences, or what makes them
    up_to : int
        The highest order.
    prior : Prior, optional
        Such as ``sf.Dirichlet(1.0)``; orders are then also compared by their log marginal likelihood.
    variable, id, time
        As in `suffice.MarkovChain`.
    schema, weights
        As in `suffice.fit`.

    Examples
    --------
    >>> import suffice as sf
    >>> print(sf.chain_orders(["abcabcabcabcacb", "bcabcabacbc"], up_to=2))
    order  log-likelihood  parameters      AIC      BIC
    -----  --------------  ----------  -------  -------  ----
        0        -28.5249           2  61.0499  63.5661
        1        -13.3978           8  42.7956  52.8604  best
        2         -6.7930          26  65.5861  98.2966
    """
    highest = MarkovChain(require_whole("up_to", up_to), variable=variable, id=id, time=time)
    markov_chain.check(highest, prior, {})
    source = BlockSource(highest.open(data, schema=schema, weights=weights))
    statistics = source.gather(markov_chain.needs(highest, source.schema))
    n = statistics.weight
    if not n > 0:
        raise ArgumentError("There are no symbols to compare orders by. Pass sequences with some.")
    name = markov_chain.symbol_name(highest, statistics.schema)
    found = []
    for order in range(up_to + 1):
        problem = Problem(
            MarkovChain(order, variable=name), statistics, prior=prior, point="mle" if prior is None else "mean"
        )
        with one_blas_thread():
            solution = markov_chain.solve(problem)
        deviance, size = -2 * solution.log_likelihood, solution.n_free
        found.append(
            ChainOrder(
                order,
                solution.log_likelihood,
                size,
                deviance + 2 * size,
                deviance + size * math.log(n),
                solution.log_marginal_likelihood,
            )
        )
    return ChainOrders(tuple(found), n)
