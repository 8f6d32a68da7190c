"""Where iterative methods for cliques begin: any positive potentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.labelled import LabelledTable
from suffice.errors import ArgumentError, listing, shown
from suffice.inference.clique_family import Layout
from suffice.learn.method import Problem
from suffice.models.markov_net import MarkovNetwork
from suffice.types import Floats

if TYPE_CHECKING:
    from suffice.structures.cliques import Cliques


def start_of(problem: Problem[Cliques], layout: Layout) -> Floats:
    """Return θ = log ψ at the start, flat, from the argument ``init``.

    None is the uniform distribution, ``"random"`` standard normal θ from the seed; or a `MarkovNetwork`, or tables by
    clique.
    """
    init = problem.init
    if init is None:
        return np.zeros(layout.n)
    if isinstance(init, str):
        if init != "random":
            raise ArgumentError(
                f"The 'init' argument must be 'random', a MarkovNetwork or tables. Got {init!r} instead."
            )
        return np.random.Generator(np.random.Philox(problem.seed)).standard_normal(layout.n)
    tables = _by_clique(init)
    found = []
    for clique, shape in zip(problem.structure.cliques, layout.shapes, strict=True):
        if clique not in tables:
            raise ArgumentError(
                f"The 'init' argument has no table for the clique {':'.join(clique)}; it has "
                f"{listing([':'.join(names) for names in _by_clique(init)], 6)}. Give one a clique, its axes in that "
                "order."
            )
        found.append(_log_table(tables.pop(clique), ":".join(clique), shape))
    if tables:
        raise ArgumentError(
            f"The 'init' argument has a table for {':'.join(next(iter(tables)))}, which is none of the cliques, "
            f"{listing([':'.join(names) for names in problem.structure.cliques], 6)}. Leave it out."
        )
    return layout.flat(found)


def _by_clique(init: Any) -> dict[tuple[str, ...], Any]:
    if isinstance(init, MarkovNetwork):
        tables: dict[tuple[str, ...], Any] = {}
        for factor in init.factors:
            before = tables.get(factor.names)
            tables[factor.names] = factor.values if before is None else before * factor.values
        return tables
    if isinstance(init, Mapping):
        return {_names(key): table for key, table in init.items()}
    raise ArgumentError(
        "The 'init' argument must be 'random', a MarkovNetwork, or tables by clique, {('A', 'B'): [[1, 2], [3, 4]]}. "
        f"Got {shown(init)} instead."
    )


def _names(key: Any) -> tuple[str, ...]:
    return tuple(map(str, key)) if isinstance(key, tuple) else tuple(str(key).split(":"))


def _log_table(table: Any, name: str, shape: tuple[int, ...]) -> Floats:
    try:
        values = np.array(table.values if isinstance(table, LabelledTable) else table, np.float64)
    except (TypeError, ValueError):
        values = np.full(0, np.nan)
    if values.shape != shape or not ((values > 0) & (values < np.inf)).all():
        raise ArgumentError(
            f"The 'init' table of {name} must hold positive finite numbers, in the shape {shape}. "
            f"Got {shown(table)} instead."
        )
    log_values: Floats = np.log(values)
    return log_values
